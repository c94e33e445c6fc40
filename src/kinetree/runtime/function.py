"""`Function`: what users call. It compiles at its first call; later calls cost as much as those of a built-in."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, Self, TypeVar

import numpy as np

from kinetree import locks
from kinetree.errors import ArgumentError
from kinetree.glue import cpython
from kinetree.lazy import cached_property, lazy_method
from kinetree.runtime import arguments, batch, outputs
from kinetree.runtime.arguments import Array, Inputs
from kinetree.runtime.batch import BatchKernel, SingleKernel
from kinetree.runtime.kernels import CallGlue, Kernels
from kinetree.runtime.spec import FunctionSpec, Variant, found_by_name


class Shown:
    """The call of a function, named by what it computes: Dask names tasks by the parts of a `functools.partial`."""

    def __init__(self, function: Any) -> None:
        self._function, self.__name__ = function, function.__name__

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the function."""
        return self._function(*args, **kwargs)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        """Return the identity of the function's results, which is part of the digest of the disk cache."""
        spec = self._function.spec
        identity = spec.identity()
        defaults = [(name, array.tobytes()) for name, array in spec.defaults.items()]
        signature = repr((spec.inputs, spec.outputs, spec.optional, spec.options, defaults))
        return spec.name, signature, self._function.__reduce__() if identity is None else identity


_K = TypeVar("_K")

transformed: Callable[[Function, str], Function] = lazy_method("kinetree.functions.derivatives", "transformed")


def _derivative(kind: str, doc: str) -> cached_property[Function]:
    made = cached_property(lambda function: transformed(function, kind))
    made.__doc__ = doc
    return made


class Function(functools.partial[Any]):
    """A compiled function of NumPy arrays.

    It takes one state or, with leading axes, many: those broadcast as NumPy's do, and the result has them too. Plain
    contiguous arrays are quickest; lists, integers, strided arrays and other byte orders are converted. The result is
    float32 only where all arrays given are float32. NaN and inf are no errors: they reach the outputs that depend on
    them. ``out=`` takes the result; it may overlap the arguments. Without it, a result of 32 to 64 MB is a view of
    memory that may be reused from a deleted result; the last two such blocks are retained.

    Each variant (which optional arguments are given, the options, the dtype, one state or many) is compiled when it is
    first used, or ahead by `warmup`, and kept in a cache on disk. Functions can be called from several threads, also
    for the first time.

    Parameters
    ----------
    spec : FunctionSpec
        What to compile.
    lanes : int, optional
        How many states of a batch are computed side by side: 1, 2, 4, 8 or 16. By default the environment variable
        ``KINETREE_LANES`` if there is one when the function is made, else what suits the processor. The results are
        the same.
    backend : str
        Which backend compiles it (`kinetree.backends.BACKENDS`).

    Raises
    ------
    ArgumentError
        When called, for wrong arguments: the message says what was given, what is expected and what to do.

    Notes
    -----
    A function is a `functools.partial` of the compiled glue, with nothing bound: Python calls those by vectorcall, so
    that no Python code runs on the way, and no tuple or dict of the arguments is made. Each is the one instance of a
    class of its own, for the documentation.
    """

    __name__: str
    func = property(Shown)

    def __new__(cls, spec: FunctionSpec, lanes: int | None = None, backend: str = "llvm") -> Self:
        """Make the instance with a class of its own."""
        members = {
            "__doc__": spec.doc,
            "__module__": cls.__module__,
            "__signature__": spec.signature(),  # of the class too: help() looks there
        }
        own: type[Self] = type(spec.name, (cls,), members)
        cpython.enable_vectorcall(own)
        return super().__new__(own, lambda: None)  # until `__init__` sets the target

    def __init__(self, spec: FunctionSpec, lanes: int | None = None, backend: str = "llvm") -> None:
        self.spec = spec
        self.__name__ = self.__qualname__ = spec.name
        if spec.wrapped is not None:
            self.__wrapped__ = spec.wrapped
            self.__module__ = getattr(spec.wrapped, "__module__", __name__)
        self._lanes = batch.forced_lanes() if lanes is None else batch.check_lanes(lanes)
        self._backend = backend
        self._bound: dict[tuple[Any, ...], Function] = {}
        self._kernels = Kernels(spec, backend, self._lanes)
        self._glue = CallGlue(spec, self._kernels, backend)
        self._targets: list[Callable[..., Any]] = []  # a thread may still be in an older one
        self._set_target(self._general)
        self._installed = 0  # kernels that are part of the call

    @property
    def __origin__(self) -> Callable[..., Any]:
        """A plain function with the same signature and text: `help` shows it in place of the class and all it has."""
        return functools.update_wrapper(lambda: None, self, updated=())

    def __repr__(self) -> str:
        return f"<kinetree function {self.spec.usage}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Support pickle: a user's function by its name in its module, others by how they are made."""
        path = getattr(self.spec.wrapped, "__qualname__", "")
        found = found_by_name(self.__module__, path)
        if found is self:
            return path
        if self.spec.reduce is None:
            raise TypeError(f"{self.__name__} cannot be pickled: it does not say where it comes from")
        return self.spec.reduce()

    def __copy__(self) -> Self:
        return self  # it cannot change

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def bind(self, **options: object) -> Function:
        """Return this function with these options fixed: its calls need not name them, and are quickest.

        Parameters
        ----------
        **options
            As in the call; those not given stay open. ArgumentError is raised for an option or value that is unknown.

        Returns
        -------
        Function
            The same one for the same values.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("panda")
        >>> J = robot.jacobian.bind(frame="panda_hand", reference="world")
        >>> J(robot.neutral()).shape
        (6, 7)
        """
        return self._with_fixed(arguments.fixed(self.spec, options))

    def _with_fixed(self, options: Mapping[str, object]) -> Function:
        """Return the function with these options fixed, by the names that they have in the spec."""
        spec = self.spec.bind(options)
        key = tuple((o.name, o.default) for o in spec.options if o not in self.spec.options)
        if not key:
            return self
        if key not in self._bound:
            self._bound.setdefault(key, Function(spec, self._lanes, self._backend))
        return self._bound[key]

    @property
    def op_count(self) -> dict[str, int]:
        """How many operations of each kind one state takes, after optimisation, with no optional arguments.

        For other options than the default ones: ``f.bind(...).op_count``.
        """
        return self._kernels.program(self._default).op_count()

    def listing(self, **options: object) -> str:
        """Return the optimised program as text, one operation a line: options as in the call, no optional arguments."""
        from kinetree.graph.listing import listing

        function = self.bind(**options)
        return listing(function._kernels.program(function._default))

    @property
    def address(self) -> int:
        """Address of the kernel for one state, for callers from C, Cython, Numba or ctypes; see docs/composition.md.

        It is a C function with one pointer to float64 for each input and then for each output (row-major, contiguous,
        aligned; no output may overlap another array), which returns 0, or -1 where there is no memory; see
        `c_signature`. It needs no GIL and may be called from several threads. The address is good as long as this
        function is alive: keep a reference to it.
        """
        address = self._single(self._default).c_entry
        if address is None:
            raise NotImplementedError(f"the backend {self._backend!r} makes no functions for callers from C")
        return address

    @property
    def c_signature(self) -> str:
        """The C prototype of what is at `address`.

        Examples
        --------
        >>> import kinetree as kt
        >>> kt.load("panda").gravity_forces.c_signature
        'int gravity_forces(const double q[7], double g[7]);'
        """
        from kinetree.backends.c.names import prototype

        spec = self.spec.of((), self._default.options)
        return f"{prototype(spec.name, spec.ports(()), spec.outputs)};"

    to_c = lazy_method("kinetree.runtime.to_c", "to_c")
    to_jax = lazy_method("kinetree.interop.jax", "to_jax")
    to_torch = lazy_method("kinetree.interop.torch", "to_torch")
    to_casadi = lazy_method("kinetree.interop.casadi", "to_casadi")
    to_sympy = lazy_method("kinetree.interop.sympy", "to_sympy")
    to_scipy = lazy_method("kinetree.interop.scipy", "to_scipy")
    sparsity = lazy_method("kinetree.functions.sparsity", "sparsity")

    derivatives = _derivative("derivatives", "The Jacobians of this function.")
    jvp = _derivative("jvp", "Products with the Jacobian.")
    vjp = _derivative("vjp", "Products with the transposed Jacobian.")
    hessian = _derivative("hessian", "Second derivatives.")

    def warmup(
        self,
        *,
        dtype: str = "float64",
        optional: tuple[str, ...] = (),
        single: bool = True,
        batch: bool = True,
        **options: object,
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
            As in the call. An ArgumentError is raised for a dtype, an argument or an option that does not exist.
        """
        variant = self._variant(dtype, optional, options)
        if single:
            self._single(variant)
        if batch:
            self._batch(variant)
        self._install(load=True)

    def _variant(self, dtype: str, optional: tuple[str, ...], options: Mapping[str, object]) -> Variant:
        """Return the variant of a call with these optional arguments and options."""
        if not isinstance(dtype, str) or dtype not in arguments.DTYPES:
            raise ArgumentError(f"{self.__name__}: dtype is {dtype!r}, it must be 'float64' or 'float32'")
        given: Mapping[str, object] = {p.name: 0.0 for p in self.spec.required}
        named = {self.spec.spelled(name): x for name, x in {**dict.fromkeys(optional, 0.0), **options}.items()}
        call = arguments.bind(self.spec, (), {**given, **named})
        return Variant(call.optional, call.options, dtype)

    @cached_property
    def _default(self) -> Variant:
        return Variant((), self.spec.chosen({}), "float64")

    def _general(self, /, *args: object, **kwargs: object) -> Any:
        """Call with arguments in any form: the general path, for all calls that the glue does not accept."""
        if self._glue.is_awaited and not sys.is_finalizing():
            self._install(load=True, wait=False)
        if self.spec.group is not None and (split := arguments.ungrouped(self.spec, args, kwargs)) is not None:
            return self(*split[0], **split[1])
        call = arguments.bind(self.spec, args, kwargs)
        spec = self.spec.of(call.optional, call.options)
        if outputs.is_part_of_trace(call.values):
            return outputs.inline_call(spec, call)
        inputs = arguments.convert(spec, call)
        given = outputs.given_outputs(spec, call.out, inputs)
        places = outputs.result_arrays(spec, given, inputs)
        if 0 not in inputs.lead:
            self._run(spec, inputs, places)
        if kwargs:
            self._glue.learn(kwargs, inputs.variant)
        if given is None:
            return outputs.returned(spec, [place if place.ndim else place[()] for place in places])
        for out, place in zip(given, places, strict=True):
            if out is not place:
                np.copyto(out, place)
        return outputs.returned(spec, given)

    def _run(self, spec: FunctionSpec, inputs: Inputs, places: list[Array]) -> None:
        ports = (*inputs.ports, *spec.outputs)
        laid_out = batch.lay_out([*inputs.arrays, *places], ports, inputs.lead, len(inputs.ports))
        if inputs.lead == ():
            self._single(inputs.variant).run(laid_out)
        else:
            self._batch(inputs.variant).run(laid_out, math.prod(inputs.lead))

    def _single(self, variant: Variant) -> SingleKernel:
        """Return the kernel of this variant for one state; a new one becomes part of the call."""
        return self._called(self._kernels.singles.get(variant) or self._kernels.single(variant))

    def _batch(self, variant: Variant) -> BatchKernel:
        """Return the kernel of this variant for many states; a new one becomes part of the call."""
        return self._called(self._kernels.batches.get(variant) or self._kernels.batch(variant))

    def _called(self, made: _K) -> _K:
        """Make new kernels part of the call, those too after which an interrupt came."""
        if self._installed != self._kernels.count:
            self._install(load=False)
        return made

    def _set_target(self, target: Callable[..., Any]) -> None:
        self._targets.append(target)
        self.__setstate__((target, (), {}, self.__dict__))  # type: ignore[attr-defined]

    def _install(self, *, load: bool, wait: bool = True) -> None:
        """Make the glue what is called (see `CallGlue`)."""
        if self.spec.truths:
            return
        self._glue.fetch(load=load, wait=wait)
        with locks.installing:
            count = self._kernels.count
            if target := self._glue.builtin(self._general):
                self._set_target(target)
            self._installed = count
