"""What a joint does by itself, linear in its parameters: rotor inertia, friction, springs, offsets.

Each term has one parameter at each actuated entry of v, and a column with one entry. A term is one line of `TERMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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


def checked(terms: Sequence[str]) -> tuple[str, ...]:
    """Return names of terms, each once, in the order of `TERMS`."""
    if isinstance(terms, str):
        raise ArgumentError(f"joint terms are given as a list: [{terms!r}]")
    for term in terms:
        if term not in TERMS:
            raise ArgumentError(unknown_name("joint term", term, TERMS))
    return tuple(term for term in TERMS if term in terms)


def places(model: Model, terms: Sequence[str]) -> dict[tuple[str, int], int]:
    """Return the index of the parameter of each term at each entry of v, after the 10 nb inertial ones.

    A floating base has none; springs are in joints of one coordinate.
    """
    single = {k for body in model.bodies if body.has_one_coordinate for k in body.v_index}
    found = [(term, k) for term in terms for k in model.actuated if term != "stiffness" or k in single]
    return {key: 10 * model.nb + index for index, key in enumerate(found)}
