"""Joint terms: what a joint does by itself, linear in its parameters: rotor inertia, friction, springs, offsets.

A term has one parameter at each actuated entry of v, and a column with one entry; it is one row of `TERMS`: all that
dynamics, documentation, the command line and pictures know of it. A column of the user's own has one parameter, and may
have an entry for every entry of v.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kinetree.errors import ArgumentError, unknown_name
from kinetree.options import names_of
from kinetree.scalars.functions import Scalar, select_less, sqrt

if TYPE_CHECKING:
    from kinetree.model import Model


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
    every = terms if isinstance(terms, Mapping) else dict.fromkeys(names_of("terms", terms))
    own = {name: column for name, column in every.items() if callable(column)}
    given = {term: joints for term, joints in every.items() if not callable(joints)}
    for name in own.keys() & TERMS.keys():
        raise ArgumentError(f"{name!r} is a term that there is: give the column another name")
    for term, joints in given.items():
        if term not in TERMS:
            raise ArgumentError(unknown_name("joint term", term, TERMS))
        every_joint = () if joints is None else names_of(f"terms[{term!r}]", joints)
        for wrong in filter(None, (_has_none(model, term, joint) for joint in every_joint)):
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
