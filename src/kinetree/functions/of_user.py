"""Users' own functions as kernels: several robot functions and the arithmetic between them, traced together.

The function is called once with arrays of traced scalars. What it computes becomes one program, in which equal work
of several robot functions (the joints' sines, the transforms) is done once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Protocol

import numpy as np

from kinetree.algorithms.table import ALGORITHMS, ALIASES
from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.model_inputs import ModelInput, check_inputs, meanings, ports, substituting, with_inputs
from kinetree.functions.of_robot import describe
from kinetree.functions.wrenches import named_wrenches
from kinetree.glossary.symbols import shape_of, shape_of_name, text_of_name
from kinetree.graph import Port
from kinetree.graph.digest import digest
from kinetree.model import Model
from kinetree.runtime.function import Function
from kinetree.runtime.results import is_field
from kinetree.runtime.spec import FunctionSpec, check_names
from kinetree.tracing import context
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.condition import Condition
from kinetree.tracing.exact_expr import ExactExpr, recast
from kinetree.tracing.expr import Expr
from kinetree.tracing.tracer import Tracer, flatten

Shapes = Mapping[str, int | Sequence[int]]


class Robot(Protocol):
    """What is needed of a `kinetree.Robot`, which stands above this module."""

    model: Model


def compile(
    robot: Robot,
    function: Callable[..., Any] | str | None = None,
    *,
    shapes: Shapes | None = None,
    inputs: Sequence[ModelInput] = (),
    name: str | None = None,
    fuse: bool = False,
) -> Any:
    """Return a function as one compiled kernel: a function of your own, or one of the robot's with further inputs.

    A function of your own is called once, with arrays of traced scalars, and may do with them what a formula does:
    arithmetic, ``@``, slices, `np.concatenate` and the like, elementary functions (`np.sin`, `np.exp`, …),
    `kinetree.where`, `minimum`, `maximum`, `abs`, `solve`, and the robot's functions with their options. It may branch
    on plain Python values but not on traced ones. Work that several of the robot's functions share is done once. The
    result is like the robot's own functions: it takes one state or, with leading axes, many, float64 or float32, and
    ``out=``.

    The arithmetic of your own lines is what is written: ``+ - * /``, `np.sqrt`, choices and comparisons have the bits
    that NumPy gives float64 arrays, entry by entry, with NaN, infinities and signs of zero, so that
    ``np.sqrt(x * x - y * y)`` of equal x and y is 0. Sums and ``@`` add from the left (NumPy adds long ones in
    another order) and whole powers multiply from the left. The robot's functions and `solve` are simplified and fused
    by themselves, as they are outside; ``fuse=True`` simplifies and fuses your lines too.

    Parameters
    ----------
    robot : Robot
        Gives the shapes of the arguments, and what `inputs` change.
    function : callable or str, optional
        Your function; or one of the robot's, or its name. If not given, a decorator is returned.
    shapes : dict of str to shape, optional
        Shapes of your function's arguments for one state: ``()`` for a number. Known without it: ``q`` (nq,);
        ``v``, ``a``, ``tau``, ``b`` (nv,); ``f_ext`` (nb, 6); all names that begin with ``q_``, ``v_``, ``a_`` or
        ``tau_`` likewise; and arguments annotated as ``float``, which are numbers. An argument with a default value
        is none of the kernel's: it has its default while the function is traced.
    inputs : sequence
        Numbers of the robot that become arguments after the function's own, with one value a state in a batch:
        `kinetree.gravity`, `kinetree.body_inertia`, `kinetree.payload`. They count in this robot's functions.
    name : str, optional
        Of the compiled function.
    fuse : bool
        Whether products in your lines are fused into the sums that they are terms of, each with one rounding, and
        terms that are equal in real arithmetic are simplified (``(x + y) - y`` to x). Faster where your lines are
        long; results differ from NumPy's in rounding, and by more where terms cancel.

    Returns
    -------
    Function
        Its result is an array, a NumPy scalar, or for a tuple, named tuple or dict a named tuple of these (of a plain
        tuple, ``r0``, ``r1``, …).

    Raises
    ------
    ArgumentError
        If the shape of an argument is not known, or what the function returns is no array.
    TypeError
        If the function does what cannot be traced, such as branching on a value.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> @kt.compile(robot, shapes={"kp": (), "kd": ()})
    ... def computed_torque(q, v, q_des, v_des, kp, kd):
    ...     return robot.inverse_dynamics(q, v, kp * (q_des - q) + kd * (v_des - v))
    >>> q, v, _ = robot.random_state(seed=0)
    >>> computed_torque(q, v, q, v, 100.0, 20.0).shape
    (7,)
    >>> loaded = kt.compile(robot, "gravity_forces", inputs=[kt.payload("panda_hand", name="load")])
    >>> loaded(q, [2.0, 0, 0, 0.2, 0, 0, 0, 0, 0, 0]).shape  # 2 kg, 0.1 m before the hand
    (7,)
    """
    if not isinstance(getattr(robot, "model", None), Model):
        raise ArgumentError(f"compile takes a robot first (kinetree.load makes one); {robot!r} was given")
    if isinstance(inputs, ModelInput):
        raise ArgumentError(f"inputs takes a list: inputs=[{inputs!r}]")
    for argument, shape in (shapes or {}).items():
        lengths = (shape,) if isinstance(shape, int) else shape
        if not (isinstance(lengths, tuple) and all(isinstance(n, int) and n > 0 for n in lengths)):
            raise ArgumentError(
                f"shapes[{argument!r}] must be a length or a tuple of lengths, such as (7,) or (); it is {shape!r}"
            )
    if function is None:
        return functools.partial(compile, robot, shapes=shapes, inputs=inputs, name=name, fuse=fuse)
    inputs = tuple(inputs)
    for given in inputs:
        if not isinstance(given, ModelInput):
            raise ArgumentError(f"inputs takes kt.gravity, kt.body_inertia(link) and kt.payload(frame), not {given!r}")
    check_inputs(robot.model, inputs)
    if isinstance(function, str):
        if function not in ALGORITHMS:
            here = ALIASES.get(function)
            other = unknown_name("function", function, ALGORITHMS)
            raise ArgumentError(f"no function {function!r}; here it is {here!r}" if here else other)
        function = getattr(robot, function)
    if isinstance(function, Function):
        if shapes:
            raise ArgumentError(f"{function.__name__} knows the shapes of its arguments: leave shapes= out")
        return Function(with_inputs(function.spec, robot.model, inputs, name))
    if not callable(function):
        raise ArgumentError(f"compile takes a function or the name of one of the robot's, not {function!r}")
    name = name or str(getattr(function, "__name__", "")) or "function"
    return user_function(robot.model, function, dict(shapes or {}), inputs, name, fuse)


def user_function(
    model: Model,
    function: Callable[..., Any],
    shapes: Shapes,
    inputs: Sequence[ModelInput],
    name: str,
    fuse: bool = False,
) -> Function:
    """Return a user's function compiled. It is traced at once: only that shows what it returns."""
    own, kind = tuple(_ports(model, function, shapes, name)), Expr if fuse else ExactExpr

    def results(arguments: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        arrays = {p.name: traced_array([recast(x, kind) for x in flatten(arguments[p.name])], p.shape) for p in own}
        graph = next((entry.graph for entry in flatten(list(arguments.values())) if isinstance(entry, Expr)), None)
        with context.tracing({}, graph, exact=not fuse):
            return _outputs(function(**arrays), name)

    run = substituting(results, model, inputs, name)
    tracer, all_ports = Tracer(), (*own, *ports(inputs))
    check_names(name, [port.name for port in all_ports])
    with context.outside():
        outputs = {key: (array.shape, array) for key, array in run(tracer.arguments(all_ports), {}).items()}
    program = tracer.program(outputs, kind)
    spec = FunctionSpec(
        name=name,
        doc=inspect.getdoc(function) or "",
        inputs=all_ports,
        outputs=program.outputs,
        evaluate=lambda arguments, options: list(run(arguments, options).values()),
        identity=functools.cache(lambda: b"traced " + digest(program)),
        describe=lambda port: describe(model, port, shape_of_name(port.name) or ()),
        meanings={port.name: text_of_name(port.name) for port in (*own, *program.outputs)} | meanings(inputs),
        named={"f_ext": named_wrenches(model, name)} if Port("f_ext", (model.nb, 6)) in own else {},
        reduce=lambda: (user_function, (model, function, shapes, tuple(inputs), name, fuse)),
        program=program,
        wrapped=function,
    )
    return Function(spec)


def _ports(model: Model, function: Callable[..., Any], shapes: Shapes, name: str) -> list[Port]:
    """Return the arguments of a user's function, with their shapes."""
    parameters = inspect.signature(function).parameters
    ports = []
    for p in parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            raise ArgumentError(f"{name}: the arguments must have names, {p} has none to call it by")
        if p.name in shapes:
            given = shapes[p.name]
            ports.append(Port(p.name, (given,) if isinstance(given, int) else tuple(given)))
        elif p.default is p.empty:
            ports.append(Port(p.name, _shape(model, p, name)))
    for key in shapes:
        if key not in parameters:
            raise ArgumentError(
                f"{name}: shapes= names {key!r}; {name} has {unknown_name('argument', key, parameters)}"
            )
    return ports


def _shape(model: Model, parameter: inspect.Parameter, function: str) -> tuple[int, ...]:
    name = parameter.name
    if parameter.annotation in (float, "float"):
        return ()
    if (known := shape_of_name(name)) is not None:
        return shape_of(known, model)
    raise ArgumentError(
        f"{function}: what is the shape of {name!r} for one state? Give shapes={{{name!r}: ()}} if it is a number "
        f"(or annotate it, {name}: float), "
        f"shapes={{{name!r}: ({model.nv},)}} if it has one entry a joint; or give it a default value to make it a "
        "constant (q, v, a, tau, f_ext and names like q_des are known)"
    )


def _outputs(result: Any, function: str) -> dict[str, Any]:
    """Return what a user's function returned as arrays by name."""
    fields = getattr(result, "_fields", None)
    if isinstance(result, Mapping):
        named = dict(result)
    elif isinstance(result, tuple):
        named = dict(zip(fields or [f"r{k}" for k in range(len(result))], result, strict=True))
    else:
        named = {"result": result}
    if not named or not all(isinstance(key, str) and is_field(key) for key in named):
        raise ArgumentError(f"{function} returns {list(named) or 'nothing'}: results need names such as 'tau'")
    return {
        key: _array(entries, f"{function}: what is returned" + (f" as {key}" if len(named) > 1 else ""))
        for key, entries in named.items()
    }


def _array(entries: Any, what: str) -> Any:
    try:
        array: Any = np.asarray(entries) if not isinstance(entries, Expr) else np.asarray(entries, dtype=object)
    except ValueError:
        raise ArgumentError(f"{what} has entries of different shapes: return a tuple of several arrays") from None
    if array.dtype.kind in "fiub":
        return array.astype(np.float64).astype(object)
    for entry in array.flat:
        if not isinstance(entry, (Expr, Real)):
            kind = type(entry).__name__
            of = f"has a {kind} in it" if array.ndim else f"is a {kind}"
            advice = (
                "make numbers of conditions by kt.where" if isinstance(entry, Condition) else "give numbers or arrays"
            )
            raise ArgumentError(f"{what} {of}: {advice}")
    return array
