"""`scan`: many steps of a compiled function, as one native loop for each state."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.backends.base import Steps
from kinetree.errors import ArgumentError, unknown_name
from kinetree.graph import Port
from kinetree.runtime import inline, threads
from kinetree.runtime.arguments import Array
from kinetree.runtime.batch import SHARED_SECONDS
from kinetree.runtime.function import Function
from kinetree.runtime.results import result_type
from kinetree.runtime.spec import Variant
from kinetree.runtime.steps import Run


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
        By the name of an input, the name of the output that is its next value.
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
        self.step, self._defaults = step, spec.defaults
        spec = spec.of((), spec.default_options)
        inputs, outputs = {p.name: p for p in spec.ports(())}, {p.name: p for p in spec.outputs}
        if not isinstance(carried, Mapping):
            raise ArgumentError(f"scan: carried takes a dict from inputs to outputs, not {carried!r}")
        per_step, record = _names(per_step, "per_step"), _names(record, "record")
        for name in (*carried, *per_step):
            if name not in inputs:
                raise ArgumentError(f"scan: {spec.name} has {unknown_name('input', name, inputs)}")
        for name in (*carried.values(), *record):
            if name not in outputs:
                raise ArgumentError(f"scan: {spec.name} has {unknown_name('output', name, outputs)}")
        for name, following in carried.items():
            if name in per_step:
                raise ArgumentError(f"scan: {name} is both carried and given per step")
            if inputs[name].shape != outputs[following].shape:
                raise ArgumentError(
                    f"scan: {name} has shape {inputs[name].shape}, its next value {following} has shape "
                    f"{outputs[following].shape}"
                )
        self._inputs, self._per_step = tuple(inputs.values()), frozenset(per_step)
        numbers, results = list(inputs), list(outputs)
        self._steps = Steps(
            tuple((numbers.index(a), results.index(b)) for a, b in carried.items()),
            tuple(results.index(name) for name in record),
        )
        self._carried = tuple(inputs[name] for name in carried)
        self._recorded = tuple(outputs[name] for name in record)
        self._last = result_type(f"{spec.name}_last", tuple(carried))
        self._records = result_type(f"{spec.name}_recorded", tuple(record))

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
            per step have shape (..., steps, …).
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
        arrays = self._bound(args, named)
        lead, count = self._common(arrays, steps)
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ArgumentError(f"{self!r}: every is a whole number from 1 on, not {every!r}")
        dtype = arrays[0].dtype if arrays else np.dtype(np.float64)
        last = [np.empty((*lead, *p.shape), dtype) for p in self._carried]
        recorded = [np.empty((*lead, count // every, *p.shape), dtype) for p in self._recorded]
        n = math.prod(lead)
        if n and count:
            flat = [_flat(a, lead, p, p.name in self._per_step) for a, p in zip(arrays, self._inputs, strict=True)]
            self._run(flat, last, recorded, n, count, int(every))
        elif n:
            for out, (k, _) in zip(last, self._steps.carried, strict=True):
                out[...] = arrays[k]
        return self._last(*last), self._records(*recorded)

    def _bound(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> list[Array]:
        """Return the arguments in order as arrays of one float type."""
        names = [p.name for p in self._inputs]
        if len(args) > len(names):
            raise ArgumentError(f"{self!r} takes {len(names)} arguments ({', '.join(names)}), {len(args)} were given")
        given = dict(zip(names, args, strict=False))
        for name, value in named.items():
            if name not in names:
                raise ArgumentError(f"{self!r} has {unknown_name('input', name, names)}")
            if name in given:
                raise ArgumentError(f"{self!r}: {name} is given twice")
            given[name] = value
        missing = [name for name in names if name not in given and name not in self._defaults]
        if missing:
            raise ArgumentError(f"{self!r}: {', '.join(missing)} missing; it takes {', '.join(names)}")
        values = [given.get(name, self._defaults.get(name)) for name in names]
        if inline.is_part_of_trace(values):
            raise ArgumentError(f"{self!r} cannot be part of a function that is being compiled: use kt.repeat there")
        try:
            arrays = [np.asarray(value) for value in values]
            single = bool(given) and all(np.asarray(value).dtype == np.float32 for value in given.values())
            if any(a.dtype.kind not in "fiub" for a in arrays):
                raise TypeError("they must be real numbers")
            return [np.asarray(a, np.float32 if single else np.float64) for a in arrays]
        except (TypeError, ValueError) as error:
            raise ArgumentError(f"{self!r}: the arguments are no arrays of numbers: {error}") from None

    def _common(self, arrays: Sequence[Array], steps: int | None) -> tuple[tuple[int, ...], int]:
        """Return the leading axes of all arrays together, and the number of steps."""
        leads, counts = [], {} if steps is None else {"steps": steps}
        for array, port in zip(arrays, self._inputs, strict=True):
            axes = array.ndim - len(port.shape) - (port.name in self._per_step)
            if axes < 0 or array.shape[array.ndim - len(port.shape) :] != port.shape:
                wanted = ("steps", *port.shape) if port.name in self._per_step else port.shape
                raise ArgumentError(
                    f"{self!r}: {port.name} has shape {array.shape}, it takes (..., {', '.join(map(str, wanted))})"
                    f"; {self._spec.describe(port)}"
                )
            if port.name in self._per_step:
                counts[port.name] = array.shape[axes]
            leads.append(array.shape[:axes])
        if not counts:
            raise ArgumentError(f"{self!r}: nothing is given per step, so say how many: steps=1000")
        count = next(iter(counts.values()))
        if any(other != count for other in counts.values()):
            shown = ", ".join(f"{name}: {number}" for name, number in counts.items())
            raise ArgumentError(f"{self!r}: the numbers of steps differ: {shown}")
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise ArgumentError(f"{self!r}: steps is a whole number from 0 on, not {count!r}")
        try:
            return np.broadcast_shapes(*leads), int(count)
        except ValueError:
            raise ArgumentError(f"{self!r}: the leading axes {leads} do not fit together") from None

    def _run(
        self, inputs: list[Array], last: list[Array], recorded: list[Array], n: int, count: int, every: int
    ) -> None:
        """Run all steps of n states, on as many threads as are worth it."""
        variant = Variant((), self._spec.default_options or (), str(inputs[0].dtype) if inputs else "float64")
        kernel = self.step._kernels.scan(variant, self._steps)
        finals = [a.reshape(n, -1) for a in last]
        records = [a.reshape(n, count // every, p.size) for a, p in zip(recorded, self._recorded, strict=True)]
        run = Run(kernel, self._steps, inputs, finals, records, count, every, lambda: job.cancelled)
        unit = kernel.lanes
        workers = 1 if n * count * kernel.seconds < SHARED_SECONDS else min(threads.get_num_threads(), -(-n // unit))
        part = 1 if workers == 1 else 2 * workers
        job = threads.Job(lambda: run.states, n, largest=-(-n // unit) * unit, unit=unit, part=part)
        if workers == 1 and not kernel.long:
            run.states(0, n)
        else:
            threads.pool.share(job, workers, away=kernel.long)


def _flat(array: Array, lead: tuple[int, ...], port: Port, per_step: bool) -> Array:
    """Return the array with axes of states, of steps if it has one, and of entries, which are contiguous."""
    own = array.shape[array.ndim - len(port.shape) - per_step :]
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    wide = np.broadcast_to(array, (*lead, *own))
    return wide.reshape(math.prod(lead), *own[:per_step], port.size)


def _names(names: object, what: str) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"scan: {what} takes a list of names, not {names!r}")
    if len(set(names)) < len(names):
        raise ArgumentError(f"scan: {what} has a name twice: {names!r}")
    return tuple(names)
