"""`compile`: users' own functions as kernels, and functions of a robot with further inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Protocol, TypeAlias, TypedDict, TypeVar, Unpack, overload

from kinetree.algorithms.table import table_of
from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.model_inputs import ModelInput, check_inputs, with_inputs
from kinetree.functions.parameters import Shapes
from kinetree.functions.traced import user_function
from kinetree.model import Model
from kinetree.options import text
from kinetree.runtime.function import Function

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Inputs: TypeAlias = Sequence[ModelInput]

if TYPE_CHECKING:

    class Compiled(Function, Generic[P, R]):
        """A user's function that is compiled: with its parameters and result, and `out`.

        Parameters that nobody can name in advance (`Compiled[..., R]`) are those of functions with `inputs`. No type
        says "these parameters, and `out`", so with `out` the other arguments are not checked.
        """

        @overload
        def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __call__(self, /, *args: Any, out: Any, **kwargs: Any) -> R: ...
        def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...  # noqa: D102

    class Compile(Protocol):
        """The decorator that `compile` returns; of a dict the result is a named tuple with fields nobody declared."""

        @overload
        def __call__(self, function: Callable[P, Mapping[str, object]], /) -> Compiled[P, Any]: ...
        @overload
        def __call__(self, function: Callable[P, R], /) -> Compiled[P, R]: ...

    class CompileWithInputs(Protocol):
        """The decorator that `compile` returns where numbers of the robot become arguments too."""

        @overload
        def __call__(self, function: Callable[..., Mapping[str, object]], /) -> Compiled[..., Any]: ...
        @overload
        def __call__(self, function: Callable[..., R], /) -> Compiled[..., R]: ...


class Robot(Protocol):
    """What is needed of a `kinetree.Robot` or a `kinetree.Mechanism`, which stand above this module."""

    @property
    def model(self) -> Model:
        """What it computes with."""


class How(TypedDict, total=False):
    """What more `compile` takes of a user's function."""

    shapes: Shapes | None
    name: str | None
    fuse: bool


@overload
def compile(robot: Robot, function: None = None, *, inputs: tuple[()] = (), **how: Unpack[How]) -> Compile: ...
@overload
def compile(robot: Robot, function: None = None, *, inputs: Inputs, **how: Unpack[How]) -> CompileWithInputs: ...
@overload
def compile(  # type: ignore[overload-overlap]  # a Function is callable too
    robot: Robot, function: str | Function, *, inputs: Inputs = (), name: str | None = None
) -> Function: ...
@overload
def compile(  # type: ignore[overload-overlap]  # an empty tuple is a sequence of inputs too
    robot: Robot, function: Callable[P, Mapping[str, object]], *, inputs: tuple[()] = (), **how: Unpack[How]
) -> Compiled[P, Any]: ...
@overload
def compile(  # type: ignore[overload-overlap]
    robot: Robot, function: Callable[P, R], *, inputs: tuple[()] = (), **how: Unpack[How]
) -> Compiled[P, R]: ...
@overload
def compile(
    robot: Robot, function: Callable[..., Mapping[str, object]], *, inputs: Inputs, **how: Unpack[How]
) -> Compiled[..., Any]: ...
@overload
def compile(robot: Robot, function: Callable[..., R], *, inputs: Inputs, **how: Unpack[How]) -> Compiled[..., R]: ...
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

    A function of your own is called once for each variant, with arrays of traced scalars, and may do with them what a
    formula does: arithmetic, ``@``, slices, `np.concatenate` and the like, elementary functions (`np.sin`, `np.exp`,
    …), `kinetree.where`, `minimum`, `maximum`, `abs`, `solve`, and the robot's functions with their options. It may
    branch on plain Python values but not on traced ones. Work that several of the robot's functions share is done once.
    The result is like the robot's own functions: it takes one state or, with leading axes, many, float64 or float32,
    and ``out=``.

    The arithmetic of your own lines is what is written: ``+ - * /``, `np.sqrt`, choices and comparisons have the bits
    that NumPy gives float64 arrays, entry by entry, with NaN, infinities and signs of zero, so that
    ``np.sqrt(x * x - y * y)`` of equal x and y is 0. Sums and ``@`` add from the left (NumPy adds long ones in
    another order) and whole powers multiply from the left. The robot's functions and `solve` are simplified and fused
    by themselves, as they are outside; ``fuse=True`` simplifies and fuses your lines too.

    Parameters
    ----------
    robot : Robot or Mechanism
        Gives the shapes of the arguments, and what `inputs` change.
    function : callable or str, optional
        Your function; or one of the robot's, or its name. If not given, a decorator is returned.
    shapes : dict of str to shape, optional
        Shapes of your function's arguments for one state: ``()`` for a number. Known without it: ``q`` (nq,);
        ``v``, ``a``, ``tau``, ``b`` (nv,); ``f_ext`` (nb, 6); ``t`` and ``dt``, numbers; all names that begin
        with ``q_``, ``v_``, ``a_`` or ``tau_`` likewise; arguments annotated as ``float`` or `kinetree.Number`,
        which are numbers; and those whose default is an array. Arguments may have defaults, also None for an
        array that may be missing. Those annotated ``int``, ``bool``, ``str``, `Literal` or the like, or with
        such a default, are constants of the trace: one kernel for each value that calls give.
    inputs : sequence
        Numbers of the robot that become arguments, with one value a state in a batch: `kinetree.gravity`,
        `kinetree.body_inertia`, `kinetree.payload`, `kinetree.joint_placement`, `kinetree.joint_damping`,
        `kinetree.joint_friction`, `kinetree.joint_armature`. They come after those of the function's own arguments that
        every call gives, before those with defaults: ``f(q, v, load, kp=100.0)``. They count in this robot's functions.
    name : str, optional
        Of the compiled function.
    fuse : bool
        Whether products in your lines are fused into the sums that they are terms of, each with one rounding, and
        terms that are equal in real arithmetic are simplified (``(x + y) - y`` to x). Faster where your lines are
        long; results differ from NumPy's in rounding, and by more where terms cancel.

    Returns
    -------
    Function
        With the parameters of your function, and ``out=``. Its result is an array, a NumPy scalar, or for a tuple,
        named tuple or dict a named tuple of these (of a plain tuple, ``r0``, ``r1``, …).

    Raises
    ------
    ArgumentError
        If the shape of an argument is not known, or what the function returns is not an array.
        When called, if a value that the function takes from around it (a global, an attribute, an array) has changed
        since its first trace, and a further variant would have to be traced; or if a function of the robot, named or
        given as `function`, does not depend on one of `inputs`.
    TypeError
        If the function does what cannot be traced, such as branching on a value.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> @kt.compile(robot)
    ... def computed_torque(q, v, q_des, v_des, kp: float = 100.0, kd: float = 20.0):
    ...     return robot.inverse_dynamics(q, v, kp * (q_des - q) + kd * (v_des - v))
    >>> q, v, _ = robot.random_state(seed=0)
    >>> computed_torque(q, v, q, v).shape, computed_torque(q, v, q, v, kd=5.0).shape
    ((7,), (7,))
    >>> loaded = kt.compile(robot, "gravity_forces", inputs=[kt.payload("panda_hand", name="load")])
    >>> loaded(q, [2.0, 0, 0, 0.2, 0, 0, 0, 0, 0, 0]).shape  # 2 kg, 0.1 m before the hand
    (7,)
    """
    if not isinstance(getattr(robot, "model", None), Model):
        raise ArgumentError(f"compile takes a robot first (kinetree.load makes one); {robot!r} was given")
    shapes, name = {} if shapes is None else shapes, None if name is None else text("name", name)
    if not isinstance(shapes, Mapping):
        raise ArgumentError(f"shapes takes a dict of shapes by the names of arguments: {{'s': ()}}; it is {shapes!r}")
    for argument, shape in shapes.items():
        lengths = shape if isinstance(shape, tuple) else (shape,)
        if not all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in lengths):
            raise ArgumentError(
                f"shapes[{argument!r}] must be a length or a tuple of lengths, such as (7,) or (); it is {shape!r}"
            )
    if function is None:
        return functools.partial(compile, robot, shapes=shapes, inputs=inputs, name=name, fuse=fuse)
    inputs = tuple(inputs) if isinstance(inputs, Iterable) and not isinstance(inputs, str | Mapping) else inputs
    if not isinstance(inputs, tuple) or not all(isinstance(x, ModelInput) for x in inputs):
        raise ArgumentError(
            "inputs takes a list of kt.gravity, kt.body_inertia(link), kt.payload(frame), kt.joint_placement(joint), "
            f"kt.joint_damping, kt.joint_friction and kt.joint_armature, not {inputs!r}"
        )
    check_inputs(robot.model, inputs)
    if isinstance(function, str):
        if function not in (table := table_of(robot.model)):
            raise ArgumentError(unknown_name("function", function, table))
        function = getattr(robot, function)
    if isinstance(function, Function):
        if shapes:
            raise ArgumentError(f"{function.__name__} knows the shapes of its arguments: leave shapes= out")
        return Function(with_inputs(function.spec, robot.model, inputs, name))
    if not callable(function):
        raise ArgumentError(f"compile takes a function or the name of one of the robot's, not {function!r}")
    name = name or str(getattr(function, "__name__", "")) or "function"
    return user_function(robot.model, function, dict(shapes), inputs, name, fuse)
