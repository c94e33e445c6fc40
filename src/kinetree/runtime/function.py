"""`Function`: what a user calls. It compiles when first called, and then is as quick as a built-in function."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.expr import Program
from kinetree.runtime import arguments, batch, glue, kernels
from kinetree.runtime.arguments import Array, Inputs
from kinetree.runtime.declaration import Declaration, Variant


class Function:
    """A compiled function of NumPy arrays.

    It takes one state or, with leading axes, many: those broadcast as NumPy's do, and the result has them too. Plain
    contiguous arrays are quickest; lists, integers, strided arrays and other byte orders are converted. The result is
    float32 only where all arrays given are float32. NaN and inf are no errors: they reach the outputs that depend on
    them. ``out=`` takes the result; it may overlap the arguments.

    Each variant (which optional arguments are given, the options, the dtype, one state or many) is compiled when it is
    first used, or ahead by `warmup`, and kept in a cache on disk. Functions can be called from several threads, also
    for the first time.

    Parameters
    ----------
    declaration : Declaration
        What to compile.
    lanes : int, optional
        How many states of a batch are computed side by side: 1, 2, 4, 8 or 16. By default the environment variable
        ``KINETREE_LANES`` if there is one when the function is made, else what suits the processor. The results are
        the same.

    Raises
    ------
    ArgumentError
        When called, for wrong arguments: the message says what was given, what is expected and what to do.

    Notes
    -----
    Each function is the one instance of a class of its own, because then ``__call__`` can be a static method that *is*
    the compiled glue: Python finds it in the class and runs no Python code on the way.
    """

    __name__: str

    def __new__(cls, declaration: Declaration, lanes: int | None = None) -> Self:
        """Make the instance with a class of its own."""
        members = {"__doc__": declaration.doc, "__module__": cls.__module__}
        own: type[Self] = type(declaration.name, (cls,), members)
        return object.__new__(own)

    def __init__(self, declaration: Declaration, lanes: int | None = None) -> None:
        self.declaration = declaration
        self.__name__ = self.__qualname__ = declaration.name
        self.__signature__ = declaration.signature()
        self._lanes = batch.forced_lanes() if lanes is None else batch.check_lanes(lanes)
        self._programs: dict[tuple[Any, ...], Program] = {}
        self._singles: dict[Variant, kernels.Single] = {}
        self._batches: dict[Variant, batch.BatchKernel] = {}

    def __call__(self, /, *args: object, **kwargs: object) -> Any:
        """Call the function; once something is compiled, the glue is here instead."""
        return self._general(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<kinetree function {self.__name__}{self.__signature__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make this function again: from its robot and its name."""
        if self.declaration.reduce is None:
            raise TypeError(f"{self.__name__} cannot be pickled: it does not say where it comes from")
        return self.declaration.reduce()

    def __copy__(self) -> Self:
        """Return the function itself: it cannot change."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the function itself: it cannot change."""
        return self

    @property
    def op_count(self) -> dict[str, int]:
        """How many operations of each kind one state takes, after optimisation (no optional arguments)."""
        return self._program(self._default).op_count()

    def listing(self) -> str:
        """Return the optimised program as text, one operation a line (no optional arguments)."""
        from kinetree.expr.listing import listing

        return listing(self._program(self._default))

    def warmup(
        self,
        *,
        dtype: str = "float64",
        optional: tuple[str, ...] = (),
        single: bool = True,
        batch: bool = True,
        **options: str,
    ) -> None:
        """Compile ahead what a later call would compile.

        Parameters
        ----------
        dtype : {"float64", "float32"}
            Of the arguments.
        optional : tuple of str
            The optional arguments that will be given.
        single, batch : bool
            Whether there will be calls with one state, and with many.
        **options : str
            As in the call.

        Raises
        ------
        ArgumentError
            For a dtype, an argument or an option that there is not.
        """
        if dtype not in ("float64", "float32"):
            raise ArgumentError(f"{self.__name__}: dtype is {dtype!r}, it must be 'float64' or 'float32'")
        given: Mapping[str, object] = {p.name: 0.0 for p in self.declaration.required}
        call = arguments.bind(self.declaration, (), {**given, **dict.fromkeys(optional, 0.0), **options})
        variant = Variant(call.optional, call.options, dtype)
        if single:
            self._single(variant)
        if batch:
            self._batch(variant)

    @functools.cached_property
    def _default(self) -> Variant:
        return Variant((), self.declaration.default_options, "float64")

    def _general(self, /, *args: object, **kwargs: object) -> Any:
        """Take the arguments in any form: where all calls go that the glue does not take."""
        if (usual := self._usual_batch(args, **kwargs)) is not None:
            return usual
        declaration = self.declaration
        call = arguments.bind(declaration, args, kwargs)
        inputs = arguments.convert(declaration, call)
        outputs = declaration.outputs
        shapes = [inputs.lead + port.shape for port in outputs]
        given = self._given(call.out, shapes, inputs.variant.dtype)
        places = [self._place(k, out, shapes[k], inputs) for k, out in enumerate(given)]
        if 0 not in inputs.lead:
            self._run(inputs, places)
        if call.out is None:
            return places[0] if len(outputs) == 1 else (declaration.result or tuple)(places)
        for out, place in zip(given, places, strict=True):
            if out is not None and out is not place:
                np.copyto(out, place)
        return given[0] if len(outputs) == 1 else (declaration.result or tuple)(given)

    def _usual_batch(self, args: tuple[object, ...], /, out: object = None, **others: object) -> Array | None:
        """Return the result for plain float64 arrays of equally many states, None for any other call.

        It does what the rest of the general path does, without its generality: some microseconds less.
        """
        kernel = self._batches.get(self._default)
        required, outputs = self.declaration.required, self.declaration.outputs
        if kernel is None or others or len(args) != len(required) or len(outputs) != 1:
            return None
        ports = (*required, *outputs)
        arrays = arguments.plain_batch(ports, args if out is None else (*args, out))
        if arrays is None:
            return None
        n = len(arrays[0])
        if out is None:
            arrays.append(np.empty((n, *ports[-1].shape)))
        elif not arrays[-1].flags.writeable or any(np.may_share_memory(a, arrays[-1]) for a in arrays[:-1]):
            return None
        laid = batch.Laid(arrays, [*map(batch.address, arrays)], [a.strides[0] for a in arrays], len(args))
        kernel.run(laid, n)
        return arrays[-1]

    def _given(self, out: object, shapes: list[tuple[int, ...]], dtype: str) -> list[Array | None]:
        """Return the arrays that the user gave for the results."""
        ports = self.declaration.outputs
        if out is None:
            return [None] * len(ports)
        outs = (out,) if len(ports) == 1 else out
        if not isinstance(outs, tuple | list) or len(outs) != len(ports):
            names = ", ".join(port.name for port in ports)
            raise ArgumentError(f"{self.__name__}: out must be a tuple of {len(ports)} arrays, for {names}")
        each = zip(ports, outs, shapes, strict=True)
        return [arguments.check_out(self.declaration, port, o, shape, dtype) for port, o, shape in each]

    def _place(self, k: int, out: Array | None, shape: tuple[int, ...], inputs: Inputs) -> Array:
        """Return where to compute an output: in `out`, or in new memory if it cannot be written in place."""
        port = self.declaration.outputs[k]
        if (
            out is not None
            and batch.writable(out, inputs.lead, port)
            and not any(np.may_share_memory(out, array) for array in inputs.arrays)
        ):
            return out
        return np.empty(shape, arguments.DTYPES[inputs.variant.dtype])

    def _run(self, inputs: Inputs, places: list[Array]) -> None:
        arrays = [*inputs.arrays, *places]
        ports = (*inputs.ports, *self.declaration.outputs)
        laid = batch.lay(arrays, ports, inputs.lead, len(inputs.ports))
        if inputs.lead == ():
            self._single(inputs.variant).kernel.run(laid)
        else:
            self._batch(inputs.variant).run(laid, math.prod(inputs.lead))

    def _program(self, variant: Variant) -> Program:
        """Return the optimised program of a variant, the same for every dtype."""
        from kinetree.passes.pipeline import optimize

        key = variant[:2]
        with kernels.lock:
            if key not in self._programs:
                self._programs[key] = optimize(self.declaration.traced(variant))
            return self._programs[key]

    def _single(self, variant: Variant) -> kernels.Single:
        known = self._singles.get(variant)
        if known is not None:
            return known
        with kernels.lock:
            if variant not in self._singles:
                self._singles[variant] = kernels.single(self.declaration, variant, lambda: self._program(variant))
                self._install()
            return self._singles[variant]

    def _batch(self, variant: Variant) -> batch.BatchKernel:
        known = self._batches.get(variant)
        if known is not None:
            return known
        with kernels.lock:
            if variant not in self._batches:
                self._batches[variant] = kernels.batched(
                    self.declaration, variant, self._lanes, lambda: self._program(variant)
                )
            return self._batches[variant]

    def _install(self) -> None:
        """Make the glue of all compiled variants with default options this function's ``__call__``.

        Each takes the calls that it knows and hands the others to the next, the last one to the general path.
        """
        target: Any = self._general
        for variant, made in reversed(self._singles.items()):
            if made.glue is not None and variant.options == self.declaration.default_options:
                target = glue.builtin(self.__name__, made.glue, target, made.kernel.keep)
        if target != self._general:
            type(self).__call__ = staticmethod(target)  # type: ignore[method-assign]
