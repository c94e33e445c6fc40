"""What a joint does by itself, linear in its parameters: rotor inertia, friction, springs, offsets.

Each term has one parameter at each actuated entry of v, and a column with one entry. A term is one line of `TERMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from kinetree.errors import ArgumentError, unknown_name
from kinetree.model import Model
from kinetree.scalars.functions import Scalar, sqrt


class JointMotion(NamedTuple):
    """The motion of one degree of freedom: position, velocity, acceleration; which way it slides; a speed of friction.

    `sign` is that of the velocity, smooth around zero, unless the samples have a direction of sliding.
    """

    q: Scalar
    v: Scalar
    a: Scalar
    sign: Scalar
    stribeck_speed: Scalar


def smooth_sign(v: Scalar, smoothing: float) -> Scalar:
    """Return the sign of a velocity as in the dynamics (`Robot.with_friction`)."""
    return v / sqrt(v * v + smoothing**2)


def _stribeck(at: JointMotion) -> Scalar:
    """Return what falls off with the speed, by Lorentz' law: ``sign(v) / (1 + (v/v_s)²)``."""
    ratio = at.v / at.stribeck_speed
    return at.sign / (ratio * ratio + 1.0)


TERMS: Mapping[str, Callable[[JointMotion], Scalar]] = {
    "armature": lambda at: at.a,
    "damping": lambda at: at.v,
    "friction": lambda at: at.sign,
    "offset": lambda at: 1.0,
    "stiffness": lambda at: at.q,
    "damping_asymmetry": lambda at: at.v * at.sign,
    "stribeck": _stribeck,
}
"""The column of each term, in the order of the parameters."""


JointTerms: TypeAlias = Sequence[str] | Mapping[str, Sequence[str] | None]
"""Names of terms, of all joints; or by name the joints that have the term, None for all."""


def checked(model: Model, terms: JointTerms) -> dict[str, tuple[str, ...] | None]:
    """Return which joints have each term, in the order of `TERMS`; None stands for all."""
    if isinstance(terms, str):
        raise ArgumentError(f"joint terms are given as a list: [{terms!r}]")
    given = terms if isinstance(terms, Mapping) else dict.fromkeys(terms)
    for term, joints in given.items():
        if term not in TERMS:
            raise ArgumentError(unknown_name("joint term", term, TERMS))
        if isinstance(joints, str):
            raise ArgumentError(f"the joints with {term} are given as a list: [{joints!r}]")
        for joint in joints or ():
            if joint not in model.joint_names:
                raise ArgumentError(unknown_name("joint", joint, model.joint_names))
    rows = {term: given[term] for term in TERMS if term in given}
    return {term: None if joints is None else tuple(joints) for term, joints in rows.items()}


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
