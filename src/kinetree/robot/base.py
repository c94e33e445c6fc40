"""`BaseRobot`: a model with its compiled functions and its properties, as a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar

import numpy as np

from kinetree.algorithms.table import ALGORITHMS, give_functions, table_of
from kinetree.errors import ArgumentError, ModelError, unknown_attribute, unknown_name
from kinetree.locks import importing
from kinetree.model import Actuator, Body, JointSpring, Model
from kinetree.robot.equipment import Equipment, check_actuator, check_geometry
from kinetree.robot.signatures import RobotFunctions
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array, check_finite, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.geometry import Geometries
    from kinetree.runtime import Function


class AlgorithmAttributes:
    """What `Robot` and `Mechanism` share: functions made at first use, and attributes that cannot be set."""

    if TYPE_CHECKING:
        model: Model

    def _function(self, name: str) -> Function:
        """Return the function of this algorithm, made at first use."""
        if name.startswith("_") or name not in table_of(self.model):
            if hasattr(type(self), name) or name.startswith("_"):
                return object.__getattribute__(self, name)  # type: ignore[no-any-return]  # its own error, not ours
            raise AttributeError(self._unknown(name), name=name, obj=None)  # Python adds no advice of its own
        with importing:
            from kinetree.functions.of_robot import robot_function

        return self.__dict__.setdefault(name, robot_function(self.model, name))  # type: ignore[no-any-return]

    def _unknown(self, name: str) -> str:
        """Return the message for an attribute that does not exist."""
        return unknown_attribute(name, (n for n in dir(self) if not n.startswith("_")))

    if not TYPE_CHECKING:  # type checkers have the names of all functions from `Functions`, and find misspelt ones
        __getattr__ = _function

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change, {name!r} cannot be set: {self._instead}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change, {name!r} cannot be deleted")

    _instead = "make another one"
    """What to do instead of setting an attribute."""

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *table_of(self.model)})

    def warmup(self, *names: str, batch: bool = False, **options: Any) -> Self:
        """Compile functions ahead of their first call, or load them from the disk cache; return this object.

        Parameters
        ----------
        *names : str
            Which ones; if none is named, all that need no option such as a frame (a few seconds for an arm).
        batch : bool
            Also the code for batches.
        **options
            The options of the calls to come, such as ``frame="panda_hand"``, for every function that is named.

        Raises
        ------
        ArgumentError
            If there is no function of that name, or one needs an option that is not given.
        """
        table = table_of(self.model)
        for name in names or (name for name, a in table.items() if not a.needs_option):
            if name not in table:
                raise ArgumentError(unknown_name("function", name, table))
            getattr(self, name).warmup(batch=batch, **options)
        return self


T = TypeVar("T")

OPEN_LOOPS = "_open_loops"
"""Where the tree of a mechanism has the names of what the mechanism closes."""


def named_configuration(model: Model, name: str, q: ArrayLike) -> Array:
    """Return a configuration (nq,) of this name, checked and read-only."""
    array = real_array(f"the configuration {name!r}", q, model.nq, batch=False).copy()
    check_finite(f"the configuration {name!r}", array)
    for body in model.leading:
        if body.joint.nq != body.joint.nv:  # it has a quaternion
            own = [array[k] for k in body.q_index]
            with np.errstate(all="ignore"):
                unit = np.array(body.joint.integrate(own, [0.0] * body.joint.nv), dtype=np.float64)
            if not (np.abs(own - unit) <= 1e-6).all():
                raise ArgumentError(
                    f"the configuration {name!r}: the quaternion of {body.joint_name!r} is not normalised"
                )
    array.flags.writeable = False
    return array


def combined(model: Model, body: Body) -> JointSpring:
    """Return the one spring that a joint of one degree of freedom and those that follow it are together."""
    springs = [other.spring for other in model.bodies if other.v_index == body.v_index and other.spring.stiffness]
    if len(springs) < 2:
        return springs[0] if springs else body.spring
    total = sum(s.stiffness for s in springs)
    return JointSpring(total, sum(s.stiffness * s.rest for s in springs) / total)


LIMIT_TOLERANCE = 1e-6
"""So far beyond a limit (rad, m) is no reason to warn: numbers are rounded in files and in float32."""


def beyond_limits(bodies: Iterable[Body], q: Array) -> str:
    """Return which of these bodies' joints are outside their limits, and where they are; "" if none is."""
    return "; ".join(
        f"{body.joint_name!r} at {position:.4g}, with limits {body.limits.lower:.4g} and {body.limits.upper:.4g}"
        for body in bodies
        if len(body.q_index) == 1
        for position in [q[body.q_index[0]]]
        if not body.limits.lower - LIMIT_TOLERANCE <= position <= body.limits.upper + LIMIT_TOLERANCE
    )


class of_model(property, Generic[T]):  # noqa: N801  (used like property)
    """A property of the robot's model, of the type that the function returns, computed once; an array is read-only."""

    def __init__(self, read: Callable[[Model], T], doc: str) -> None:
        self._read = read
        super().__init__(self._value)
        self.__doc__ = doc  # Python 3.11 shows the class's own if it is given to property

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def _value(self, robot: AlgorithmAttributes) -> T:
        try:
            return robot.__dict__[self._name]  # type: ignore[no-any-return]
        except KeyError:
            value = self._read(robot.model)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            return robot.__dict__.setdefault(self._name, value)  # type: ignore[no-any-return]

    if TYPE_CHECKING:

        def __get__(self, robot: object, owner: type | None = None) -> T: ...  # type: ignore[override]
        def __set__(self, robot: object, value: NoReturn) -> None: ...


def _at_joints(of: str, read: Callable[[Model, Body], Any], doc: str) -> of_model[Array]:
    """Return the property with what is read of the joints at each entry of q or of v."""

    def values(model: Model) -> Array:
        found = np.empty(model.nq if of == "q" else model.nv)
        for body in model.leading:
            found[list(body.q_index if of == "q" else body.v_index)] = read(model, body)
        return found

    return of_model(values, doc)


def _limit(field: str, of: str, doc: str) -> of_model[Array]:
    """Return the property with this limit of joints of one degree of freedom."""
    none = -np.inf if field == "lower" else np.inf
    return _at_joints(of, lambda _, body: getattr(body.limits, field) if len(body.v_index) == 1 else none, doc)


def _resistance(field: str, doc: str) -> of_model[Array]:
    """Return the property with this resistance, that of followers added to their leader's."""
    return _at_joints(
        "v", lambda m, body: np.sum([getattr(b, field) for b in m.bodies if b.v_index == body.v_index], axis=0), doc
    )


@friendly_call_errors
class BaseRobot(AlgorithmAttributes, Equipment, RobotFunctions):
    """What a robot is by itself: the other modules of this room take it and return it, and `Robot` has them as methods.

    See `kinetree.Robot`.
    """

    if TYPE_CHECKING:
        configurations: Mapping[str, Array]

    def __init__(
        self,
        model: Model,
        configurations: Mapping[str, ArrayLike] | None = None,
        *,
        geometry: Geometries | Callable[[], Geometries] | None = None,
        actuators: Iterable[Actuator] = (),
    ) -> None:
        if not isinstance(model, Model):
            raise ArgumentError(f"Robot takes a Model, {type(model).__name__} was given; kinetree.load reads files")
        if not all(isinstance(x, float) for x in model.numbers):
            raise ModelError("a Robot's model must have plain numbers; the algorithms take models over any scalar")
        checked = {name: named_configuration(model, name, q) for name, q in (configurations or {}).items()}
        own = tuple(actuators or ())
        if geometry is not None and not callable(geometry):
            check_geometry(model, geometry)
        for actuator in own:
            check_actuator(model, actuator)
        self.__dict__.update(model=model, configurations=MappingProxyType(checked), actuators=own, _geometry=geometry)

    _instead = "see with_gravity and kinetree.load"

    # -- what it is ---------------------------------------------------------------------------------------------

    name = of_model(lambda m: m.name, "The robot's name in its file.")
    nq = of_model(lambda m: m.nq, "Length of q.")
    nv = of_model(lambda m: m.nv, "Length of v, a and tau: the degrees of freedom.")
    nb = of_model(lambda m: m.nb, "Number of moving bodies: the first axis of f_ext.")
    gravity = of_model(
        lambda m: (float(m.gravity.x), float(m.gravity.y), float(m.gravity.z)), "Gravity in the world (m/s²)."
    )
    mass = of_model(lambda m: float(sum(body.inertia.m for body in m.bodies)), "Mass of all moving bodies (kg).")
    joint_names = of_model(lambda m: m.joint_names, "The joints in the order of q and v, which is that of the file.")
    q_names = of_model(lambda m: m.q_names, "A name for each entry of q: its joint's, or ``root_joint.qx`` of several.")
    v_names = of_model(lambda m: m.v_names, "A name for each entry of v, a and tau (``root_joint.wx``).")
    body_names = of_model(lambda m: m.body_names, "The moving bodies in the order of f_ext: parents before children.")
    frame_names = of_model(lambda m: m.frame_names, "The named frames: every link of the file, merged ones too.")

    armature = _resistance(
        "armature",
        "Reflected rotor inertia (nv,), followers' too (kg·m², kg): what `joint_physics_regressor` multiplies.",
    )
    damping = _resistance("damping", "Viscous friction (nv,), followers' included (N·m·s, N·s/m).")
    friction = _resistance("friction", "Coulomb friction (nv,), followers' included (N·m, N).")
    stiffness = _at_joints(
        "v",
        lambda m, body: combined(m, body).stiffness,
        "Stiffness of springs (nv,), followers' included (N·m/rad, N/m).",
    )
    rest_positions = _at_joints(
        "q",
        lambda m, body: combined(m, body).rest if body.has_one_coordinate else body.joint.neutral(),
        "Configuration (nq,) in which springs are relaxed; 0, or neutral, where there are none.",
    )
    lower_limits = _limit("lower", "q", "Lowest positions (nq,), −inf where there is no limit (rad, m).")
    upper_limits = _limit("upper", "q", "Highest positions (nq,), inf where there is no limit (rad, m).")
    velocity_limits = _limit(
        "velocity", "v", "Largest speeds (nv,), inf where there is none, 0 too is read as not given (rad/s, m/s)."
    )
    effort_limits = _limit("effort", "v", "Largest joint forces (nv,), inf where there is no limit (N·m, N).")

    inertial_parameters = of_model(
        lambda m: np.array(m.inertial_parameters, dtype=float),
        """The inertial parameters (10 nb,): for each body, in the order of `body_names`, ten about its frame's origin.

        They are (m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), in kg, kg·m and kg·m².
        """,
    )

    # -- as a value ---------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseRobot) or self.model != other.model:
            return False
        ours, theirs = self.configurations, other.configurations
        if self.actuators != other.actuators or self.geometry != other.geometry:
            return False
        return ours.keys() == theirs.keys() and all(np.array_equal(q, theirs[name]) for name, q in ours.items())

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), geometry=self.geometry, actuators=self.actuators), (
            self.model,
            dict(self.configurations),
        )

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {len(self.joint_names)} joints, nq = {self.nq}, nv = {self.nv}>"


R = TypeVar("R", bound=BaseRobot)


def changed(
    robot: R,
    model: Model,
    configurations: Mapping[str, ArrayLike] | None = None,
    *,
    geometry: Callable[[], Geometries] | None = None,
    actuators: Iterable[Actuator] | None = None,
) -> R:
    """Return the robot of another model, with the same named configurations, shapes and actuators unless given."""
    return type(robot)(
        model,
        robot.configurations if configurations is None else configurations,
        geometry=geometry or robot._geometry,
        actuators=robot.actuators if actuators is None else actuators,
    )


give_functions(BaseRobot, ALGORITHMS)
