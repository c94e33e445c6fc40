"""`scan`: many steps of a compiled function, as one native loop for each state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kinetree.backends.base import Steps
from kinetree.errors import ArgumentError, unknown_name
from kinetree.graph import Port
from kinetree.options import names_of
from kinetree.runtime import arguments, outputs
from kinetree.runtime.arguments import Array
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec, Variant, result_type
from kinetree.runtime.steps import run_steps


def scan(
    step: Function, carried: Mapping[str, str], *, per_step: Sequence[str] = (), record: Sequence[str] = ()
) -> Scan:
    """Return the function that applies a compiled function again and again, feeding its results back.

    It is ``for t in range(steps): out = step(...); x = out``, in compiled code: what is fed back stays in registers
    and cache, many states run side by side and on all threads, and each has the bits that it would have alone.

    Parameters
    ----------
    step : Function
        One step, with its options fixed (see `Function.bind`).
    carried : dict of str to str
        By the name of an input, the name of the output that is its next value; "result" where a function returns one
        array.
    per_step : sequence of str
        Inputs that differ from step to step: their arrays have an axis of steps before the axes of one value.
        All other inputs are the same at all steps.
    record : sequence of str
        Outputs to keep of every step, or of every k-th.

    Returns
    -------
    Scan
        It is called with the inputs of the step, the carried ones being the first values: see `Scan.__call__`.

    Raises
    ------
    ArgumentError
        If a name is not known, or an input and the output that is to be its next value have different shapes.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> @kt.compile(robot, shapes={"dt": ()})
    ... def step(q, v, tau, dt):
    ...     v = v + dt * robot.forward_dynamics(q, v, tau)
    ...     return {"q": q + dt * v, "v": v}
    >>> rollout = kt.scan(step, {"q": "q", "v": "v"}, record=["q"])
    >>> last, recorded = rollout([0.0] * 6, [0.0] * 6, [0.0] * 6, 1e-3, steps=1000, every=10)
    >>> last.v.shape, recorded.q.shape
    ((6,), (100, 6))
    """
    return Scan(step, carried, per_step, record)


Lead = tuple[int, ...]


class _Variant(NamedTuple):
    """A step with these optional inputs given."""

    spec: FunctionSpec
    optional: tuple[str, ...]
    inputs: tuple[Port, ...]
    carried: tuple[Port, ...]
    recorded: tuple[Port, ...]
    steps: Steps


class Scan:
    """Many steps of a compiled function: made by `scan`."""

    def __init__(
        self, step: Function, carried: Mapping[str, str], per_step: Sequence[str] = (), record: Sequence[str] = ()
    ) -> None:
        self._made = step, carried, per_step, record
        if not isinstance(step, Function):
            raise ArgumentError(f"scan takes a compiled function (kinetree.compile makes one), not {step!r}")
        spec = self._spec = step.spec
        if spec.default_options is None:
            raise ArgumentError(f"scan: {spec.name} has options that must be chosen first: use {spec.name}.bind(...)")
        self.step, self._options = step, spec.default_options
        self._called = replace(spec, name=f"scan of {spec.name}", options=(), group=None, named={})
        if not isinstance(carried, Mapping):
            raise ArgumentError(f"scan: carried takes a dict from inputs to outputs, not {carried!r}")
        per_step, record = _names(per_step, "per_step"), _names(record, "record")
        inputs = [port.name for port in spec.inputs]
        for name in (*carried, *per_step):
            if name not in inputs:
                raise ArgumentError(f"scan: {spec.name} has {unknown_name('input', name, inputs)}")
            if name in carried and name in per_step:
                raise ArgumentError(f"scan: {name} is both carried and given per step")
        self._carried, self._per_step, self._record = dict(carried), frozenset(per_step), record
        self._variants: dict[tuple[str, ...], _Variant] = {}
        self._variant(tuple(name for name in spec.optional if name in carried or name in per_step))

    def _variant(self, optional: tuple[str, ...]) -> _Variant:
        """Return the description of a call with these optional inputs, if what is carried fits."""
        if optional in self._variants:
            return self._variants[optional]
        spec = self._spec.of(optional, self._options)
        inputs, outputs = {p.name: p for p in spec.ports(optional)}, {p.name: p for p in spec.outputs}
        for name in (*self._carried.values(), *self._record):
            if name not in outputs:
                raise ArgumentError(f"scan: {spec.name} has {unknown_name('output', name, outputs)}")
        carried = [(inputs[name], outputs[following]) for name, following in self._carried.items()]
        for port, following in carried:
            if port.shape != following.shape:
                raise ArgumentError(
                    f"scan: {port.name} has shape {port.shape}, its next value {following.name} has shape "
                    f"{following.shape}"
                )
        numbers, results = list(inputs), list(outputs)
        steps = Steps(
            tuple((numbers.index(port.name), results.index(following.name)) for port, following in carried),
            tuple(results.index(name) for name in self._record),
        )
        recorded = tuple(outputs[name] for name in self._record)
        named = replace(spec, name=f"scan of {spec.name}")
        made = _Variant(named, optional, tuple(inputs.values()), tuple(p for p, _ in carried), recorded, steps)
        return self._variants.setdefault(optional, made)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickle, where the step does."""
        return Scan, self._made

    def __repr__(self) -> str:
        return f"<kinetree scan of {self._spec.name}>"

    def __call__(self, *args: Any, steps: int | None = None, every: int = 1, **named: Any) -> tuple[Any, Any]:
        """Return the carried values after the last step, and what was recorded.

        Parameters
        ----------
        *args, **named : array
            The inputs of the step function, by position or name, in one float type; leading axes are states. Those
            per step have shape (..., steps, …). Those with a default, None too, may be left out.
        steps : int, optional
            How many; needed where no input is given per step.
        every : int
            Record every step whose number, counted from one, is a multiple of this.

        Returns
        -------
        last : named tuple
            The carried values, by the names of the inputs.
        recorded : named tuple
            The recorded outputs, of shape (..., steps // every, …).

        Raises
        ------
        ArgumentError
            If an argument is missing, unknown or of a wrong shape, or the numbers of steps differ.
        """
        variant, arrays, leads = self._bound(args, named)
        lead, count = self._common(variant, leads, steps)
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ArgumentError(f"{self!r}: every is a whole number from 1 on, not {every!r}")
        dtype = arrays[0].dtype if arrays else np.dtype(np.float64)
        last = [np.empty((*lead, *p.shape), dtype) for p in variant.carried]
        recorded = [np.empty((*lead, count // every, *p.shape), dtype) for p in variant.recorded]
        n = math.prod(lead)
        if n and count:
            flat = [_flat(a, lead, p, p.name in self._per_step) for a, p in zip(arrays, variant.inputs, strict=True)]
            finals = [a.reshape(n, -1) for a in last]
            records = [a.reshape(n, count // every, p.size) for a, p in zip(recorded, variant.recorded, strict=True)]
            kernel = self.step._kernels.scan(Variant(variant.optional, self._options, str(dtype)), variant.steps, n)
            run_steps(kernel, variant.steps, flat, finals, records, count, int(every))
        elif n:
            for out, (k, _) in zip(last, variant.steps.carried, strict=True):
                out[...] = arrays[k]
        name = self._spec.name
        kinds = result_type(f"{name}_last", tuple(self._carried)), result_type(f"{name}_recorded", self._record)
        return kinds[0](*last), kinds[1](*recorded)

    def _bound(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[_Variant, list[Array], list[Lead]]:
        """Return the variant that is called, its arguments as plain arrays, and the axes before those of one value."""
        call = arguments.bind(self._called, args, named)
        missing = [name for name in self._carried if name in self._spec.optional and name not in call.optional]
        if missing or call.out is not None:
            raise ArgumentError(
                f"{self!r}: {', '.join(missing)} missing" if missing else f"{self!r} has no argument out"
            )
        if outputs.is_part_of_trace(call.values):
            raise ArgumentError(f"{self!r} cannot be part of a function that is being compiled: use kt.repeat there")
        variant = self._variant(call.optional)
        dtype, arrays, leads = arguments.read(variant.spec, call)
        return variant, arguments.as_plain(variant.spec, call, arrays, dtype), leads

    def _common(self, variant: _Variant, leads: Sequence[Lead], steps: int | None) -> tuple[Lead, int]:
        """Return the leading axes of all arrays together, and the number of steps."""
        counts, states = {} if steps is None else {"steps": steps}, []
        for lead, port in zip(leads, variant.inputs, strict=True):
            if port.name in self._per_step:
                if not lead:
                    axes = ", ".join(map(str, ("steps", *port.shape)))
                    raise ArgumentError(f"{self!r}: {port.name} has one value, it takes (..., {axes}): given per step")
                lead, counts[port.name] = lead[:-1], lead[-1]
            states.append(lead)
        if not counts:
            raise ArgumentError(f"{self!r}: nothing is given per step, so say how many: steps=1000")
        count = next(iter(counts.values()))
        if any(other != count for other in counts.values()):
            shown = ", ".join(f"{name}: {number}" for name, number in counts.items())
            raise ArgumentError(f"{self!r}: the numbers of steps differ: {shown}")
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise ArgumentError(f"{self!r}: steps is a whole number from 0 on, not {count!r}")
        try:
            return np.broadcast_shapes(*states), int(count)
        except ValueError:
            raise ArgumentError(f"{self!r}: the leading axes {states} do not fit together") from None


def _flat(array: Array, lead: tuple[int, ...], port: Port, per_step: bool) -> Array:
    """Return the array with axes of states, of steps if it has one, and of entries, which are contiguous."""
    own = array.shape[array.ndim - len(port.shape) - per_step :]
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    wide = np.broadcast_to(array, (*lead, *own))
    return wide.reshape(math.prod(lead), *own[:per_step], port.size)


def _names(given: object, what: str) -> tuple[str, ...]:
    found = names_of(f"scan: {what}", given)
    if len({*found}) < len(found):
        raise ArgumentError(f"scan: {what} has a name twice: {given!r}")
    return found
