"""Joint terms, and minimal regressors as compiled functions: the independent columns, as a matrix or without zeros.

A term is what a joint does by itself, linear in its parameters: rotor inertia, friction, springs, offsets. It has one
parameter at each actuated entry of v, and a column with one entry; it is one row of `TERMS`: all that dynamics,
documentation, the command line and pictures know of it. A column of the user's own has one parameter, and may have an
entry for every entry of v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.of_user import compile
from kinetree.model import WORLD, Model
from kinetree.robot import Robot
from kinetree.runtime.function import Function
from kinetree.scalars.functions import Scalar, select_less, sqrt


class JointMotion(NamedTuple):
    """The motion of one degree of freedom, as the columns of terms take it."""

    q: Scalar  # from where the robot's spring rests
    v: Scalar
    a: Scalar
    sign: Scalar  # of the velocity, smooth around zero, unless the samples have a direction of sliding
    stribeck_speed: Scalar
    load: Scalar  # the force that the robot, as it is before, needs for the motion without friction


def smooth_sign(v: Scalar, smoothing: float) -> Scalar:
    """Return the sign of a velocity as in the dynamics (`Robot.with_friction`)."""
    return v / sqrt(v * v + smoothing**2)


def _stribeck(at: JointMotion) -> Scalar:
    """Return the friction that falls off with speed, by Lorentz' law: ``sign(v) / (1 + (v/v_s)²)``."""
    ratio = at.v / at.stribeck_speed
    return at.sign / (ratio * ratio + 1.0)


def _stribeck_slope(at: JointMotion) -> Scalar:
    square = (at.v / at.stribeck_speed) ** 2
    return at.sign * (2.0 * square) / (square + 1.0) ** 2


class JointTerm(NamedTuple):
    """A row of `TERMS`: the force of a parameter of size one, and what people and programs are told of it."""

    column: Callable[[JointMotion], Scalar]
    about: str  # what it is, for the documentation
    text: str  # what such parameters are called together
    units: tuple[str, str]  # of the parameter where the joint turns, and where it slides
    not_negative: bool = False
    of_robots: bool = False  # whether robots have it, by a property of this name
    slope: Callable[[JointMotion], Scalar] | None = None  # ∂column/∂log stribeck_speed, if it depends on that


FORCE, DAMPING = ("N·m", "N"), ("N·m·s", "N·s/m")

TERMS: Mapping[str, JointTerm] = {
    "armature": JointTerm(lambda at: at.a, "rotor inertia", "rotors", ("kg·m²", "kg"), True, True),
    "damping": JointTerm(lambda at: at.v, "viscous", "damping", DAMPING, True, True),
    "friction": JointTerm(lambda at: at.sign, "Coulomb", "friction", FORCE, True, True),
    "offset": JointTerm(lambda at: 1.0, "a constant force", "offsets", FORCE),
    "stiffness": JointTerm(lambda at: at.q, "a spring", "stiffness", ("N·m", "N/m"), True, True),
    "damping_asymmetry": JointTerm(
        lambda at: at.v * at.sign,
        "another damping in the other direction, ``|v|``",
        "asymmetry of damping",
        DAMPING,
    ),
    "stribeck": JointTerm(
        _stribeck,
        "friction that falls off with speed, ``sign(v) / (1 + (v/v_s)²)``",
        "friction that falls off",
        FORCE,
        slope=_stribeck_slope,
    ),
    "load_friction": JointTerm(
        lambda at: at.sign * select_less(at.load, 0.0, -at.load, at.load),
        "``sign(v) |tau|`` with the force that this robot needs for the motion without friction",
        "friction in proportion to load",
        ("1", "1"),
        True,
    ),
}
"""All terms, in the order of the parameters."""

OF_ROBOTS = tuple(name for name, term in TERMS.items() if term.of_robots)
"""The terms that robots have, by the names of their properties."""

Column: TypeAlias = Callable[[Any, Any, Any], Any]
"""The forces (nv,) of one parameter of size one, of scalars q, v and a: a function that `Robot.compile` takes."""

JointTerms: TypeAlias = Sequence[str] | Mapping[str, Sequence[str] | Column | None]
"""Names of terms, of all joints; or by name the joints that have the term, None for all; or a column by its name."""


def checked(model: Model, terms: JointTerms) -> tuple[dict[str, tuple[str, ...] | None], dict[str, Column]]:
    """Return which joints have each term, in the order of `TERMS`, None for all; and the columns of the user's own."""
    if isinstance(terms, str):
        raise ArgumentError(f"joint terms are given as a list: [{terms!r}]")
    if not isinstance(terms, Iterable):
        raise ArgumentError(f"terms is {terms!r}: a list of joint terms is needed, [] for none")
    every = terms if isinstance(terms, Mapping) else dict.fromkeys(terms)
    own = {name: column for name, column in every.items() if callable(column)}
    given = {term: joints for term, joints in every.items() if not callable(joints)}
    for name in own.keys() & TERMS.keys():
        raise ArgumentError(f"{name!r} is a term that there is: give the column another name")
    for term, joints in given.items():
        if term not in TERMS:
            raise ArgumentError(unknown_name("joint term", term, TERMS))
        if isinstance(joints, str):
            raise ArgumentError(f"the joints with {term} are given as a list: [{joints!r}]")
        for wrong in filter(None, (_has_none(model, term, joint) for joint in joints or ())):
            raise ArgumentError(wrong)
    rows = {term: given[term] for term in TERMS if term in given}
    return {term: None if joints is None else tuple(joints) for term, joints in rows.items()}, own


def _has_none(model: Model, term: str, joint: str) -> str:
    """Return why no parameter of a joint can have this term; nothing if one can."""
    body = next((body for body in model.bodies if body.joint_name == joint), None)
    if body is None:
        return unknown_name("joint", joint, model.joint_names)
    leader = next(b.joint_name for b in model.leading if b.v_index == body.v_index)
    if leader != joint:
        return f"joint {joint!r} follows {leader!r}: give that one, whose {term} is of both"
    if not {*body.v_index} & {*model.actuated}:
        return f"joint {joint!r} is a floating base: it has no {term}"
    if term == "stiffness" and not body.has_one_coordinate:
        return f"joint {joint!r} has several degrees of freedom: springs are in joints of one"
    return ""


def places(model: Model, terms: Mapping[str, Sequence[str] | None]) -> dict[tuple[str, int], int]:
    """Return the index of the parameter of each term at each entry of v that has it, after the 10 nb inertial ones.

    A floating base has none; springs are in joints of one coordinate.
    """
    of_v = {k: body for body in model.leading for k in body.v_index}
    found = [
        (term, k)
        for term, joints in terms.items()
        for k in model.actuated
        if (joints is None or of_v[k].joint_name in joints) and (term != "stiffness" or of_v[k].has_one_coordinate)
    ]
    return {key: 10 * model.nb + index for index, key in enumerate(found)}


class Columns(NamedTuple):
    """Which columns a regressor has."""

    places: tuple[tuple[tuple[str, int], int], ...]  # the index of each joint term at each entry of v
    independent: tuple[int, ...]  # the parameters that have a column
    smoothing: float  # the speed around which Coulomb friction changes sign
    own: tuple[tuple[int, tuple[str, Column]], ...] = ()  # the index, name and function of each of the user's own


def compiled(robot: Robot, columns: Columns, name: str, *, packed: bool) -> Function:
    """Return ``regressor(q, v, a) -> (nv, n)``; packed its rows one after another, without those always zero.

    Equal robots have the same function, unless there are columns of the user's own: what these compute may have
    changed.
    """
    return (_compiled.__wrapped__ if columns.own else _compiled)(robot, columns, name, packed)


@lru_cache(maxsize=32)
def _compiled(robot: Robot, columns: Columns, name: str, packed: bool) -> Function:
    stribeck = any(term == "stribeck" for (term, _), _ in columns.places)
    page: Any = partial(_rows if stribeck else _rows_without_speeds, robot, columns, packed)
    shapes = {"direction": (robot.nv,)} | ({"stribeck_speed": (robot.nv,)} if stribeck else {})
    made: Function = compile(robot, page, name=name, shapes=shapes, fuse=True)
    return made


def _rows_without_speeds(
    robot: Robot, columns: Columns, packed: bool, q: Any, v: Any, a: Any, direction: Any = None
) -> Any:
    """Regressor of the base parameters: joint forces are its product with them."""
    return _rows(robot, columns, packed, q, v, a, [1.0] * robot.nv, direction)


def _rows(
    robot: Robot, columns: Columns, packed: bool, q: Any, v: Any, a: Any, stribeck_speed: Any, direction: Any = None
) -> Any:
    """Regressor of the base parameters: joint forces are its product with them."""
    at, nv = positions(robot.model), robot.nv
    terms = {place: key for key, place in columns.places}
    inertial = robot.joint_torque_regressor(q, v, a)
    own = {place: _own(name, column(q, v, a), nv) for place, (name, column) in columns.own}
    frictionless = robot.with_friction(damping=False, coulomb=False)
    loaded = any(term == "load_friction" for term, _ in terms.values())
    load = frictionless.inverse_dynamics(q, v, a) if loaded else [0.0] * nv
    rest = robot.rest_positions.tolist()
    rows: list[list[Any]] = [[0.0] * len(columns.independent) for _ in range(nv)]
    for j, place in enumerate(columns.independent):
        if place in terms:
            term, k = terms[place]
            sign = smooth_sign(v[k], columns.smoothing) if direction is None else direction[k]
            motion = JointMotion(q[at[k]] - rest[at[k]], v[k], a[k], sign, stribeck_speed[k], load[k])
            rows[k][j] = TERMS[term].column(motion)
        else:
            for k in range(nv):
                rows[k][j] = own[place][k] if place in own else inertial[k, place]
    return [rows[k][j] for k, row in enumerate(pattern(robot.model, columns)) for j in row] if packed else rows


def _own(name: str, column: Any, nv: int) -> list[Any]:
    """Return the entries of a column of the user's own."""
    entries = list(column) if isinstance(column, Iterable) else []
    if len(entries) != nv:
        raise ArgumentError(f"the column {name!r} has to return a force for each of the {nv} entries of v")
    return entries


def movers(model: Model) -> list[set[int]]:
    """Return which entries of v move each body."""
    found: list[set[int]] = []
    for body in model.bodies:
        found.append({*body.v_index} | (set() if body.parent == WORLD else found[body.parent]))
    return found


def pattern(model: Model, columns: Columns) -> list[list[int]]:
    """Return for each entry of v which columns can differ from zero: of bodies it moves, its own terms, the user's."""
    terms, moved = {place: k for (_, k), place in columns.places}, movers(model)
    inertial = [p for p in columns.independent if p < 10 * model.nb + len(terms)]
    of_column = [{terms[p]} if p in terms else moved[p // 10] for p in inertial]
    of_column += [set(range(model.nv)) for _ in columns.own]
    return [[j for j, ks in enumerate(of_column) if k in ks] for k in range(model.nv)]


def positions(model: Model) -> list[int]:
    """Return for each entry of v an entry of q of the same joint: the coordinate itself where there is one."""
    of_v = {k: body.q_index[j] for body in model.leading for j, k in enumerate(body.v_index)}
    return [of_v[k] for k in range(model.nv)]


@lru_cache(maxsize=32)
def regressor_of_body(robot: Robot, body: int) -> Function:
    """Return the compiled regressor of the inertial parameters of one body, the same for equal robots."""
    made: Function = compile(robot, partial(columns_of_body, robot, body), name="payload_regressor", fuse=True)
    return made


def columns_of_body(robot: Robot, body: int, q: Any, v: Any, a: Any) -> Any:
    """Regressor of the inertial parameters of one body."""
    return robot.joint_torque_regressor(q, v, a)[:, 10 * body : 10 * body + 10]


def massless(robot: Robot) -> Robot:
    """Return the robot with bodies without mass: what its joints do is left, and wrenches."""
    return robot.with_inertial_parameters([0.0] * (10 * robot.nb))
