"""The parts of a model: bodies with their joints, limits, frames, and which friction counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from kinetree.errors import ModelError
from kinetree.joints import Joint
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Inertia, Scalar, Transform
from kinetree.validation import as_number

GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of gravity in the world's axes (m/s²), unless another is given."""

WORLD = -1
"""The index that stands for the fixed world as a parent or as the body of a frame."""


@friendly_call_errors
@dataclass(frozen=True)
class JointLimits:
    """Limits of a joint with one degree of freedom; infinite where there is none.

    Attributes
    ----------
    lower, upper : float
        Position, rad or m.
    velocity, effort : float
        Largest magnitude: rad/s or m/s, and N·m or N; 0 is what files write where it is not known.

    Raises
    ------
    ModelError
        If a limit is not a number, a magnitude is negative, or the lower limit is above the upper one.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if math.isnan(value := as_number(given)):
                raise ModelError(f"the limit {field.name} is {given!r}: give a number, or inf for no limit")
            if field.name in ("velocity", "effort") and value < 0.0:
                raise ModelError(f"the limit {field.name} is {value!r}: it is a magnitude, and cannot be negative")
            object.__setattr__(self, field.name, value)
        if self.lower > self.upper:
            raise ModelError(f"the lower limit {self.lower} is above the upper one, {self.upper}")
        if self.lower == math.inf or self.upper == -math.inf:
            raise ModelError(f"nothing is between the limits {self.lower} and {self.upper}; no limits are -inf and inf")

    @property
    def fastest(self) -> float:
        """The velocity limit, infinite where it is not known."""
        return self.velocity or math.inf


NO_LIMITS = JointLimits()


@dataclass(frozen=True)
class JointSpring:
    """A linear spring in a joint with one degree of freedom, ``τ = k (q − q_rest)`` with τ the force that overcomes it.

    Attributes
    ----------
    stiffness : scalar
        k (N·m/rad, N/m); there is no spring where it is zero.
    rest : scalar
        Where it is relaxed (rad, m).
    """

    stiffness: Scalar = 0.0
    rest: Scalar = 0.0


NO_SPRING = JointSpring()
ONE_HAS_SPRINGS = "only joints with one have springs"


@dataclass(frozen=True)
class Body:
    """A moving body, and the joint that carries it.

    Attributes
    ----------
    name : str
        Name of its link; links fixed to it are merged into it.
    parent : int
        λ(i): the index of the parent body, `WORLD` for none.
    joint_name : str
    joint : Joint
    X_T : Transform
        From the parent body's frame to the joint's frame.
    inertia : Inertia
        About the body's frame, which is the joint's frame as the joint moves it.
    q_index, v_index : tuple of int
        The joint's entries in q and v. Two joints may share them (see `Joint` on mimic joints).
    armature : tuple of scalars
        Rotor inertia reflected to the joint, one a degree of freedom (kg·m² or kg).
    damping, friction : tuple of scalars
        Viscous (N·m·s or N·s/m) and Coulomb (N·m or N) friction, one a degree of freedom.
    limits : JointLimits
    spring : JointSpring
        As its coordinate feels it: of a mimic joint, at the leader's.
    """

    name: str
    parent: int
    joint_name: str
    joint: Joint
    X_T: Transform
    inertia: Inertia
    q_index: tuple[int, ...]
    v_index: tuple[int, ...]
    armature: tuple[Scalar, ...]
    damping: tuple[Scalar, ...]
    friction: tuple[Scalar, ...]
    limits: JointLimits = NO_LIMITS
    spring: JointSpring = NO_SPRING

    @property
    def has_one_coordinate(self) -> bool:
        """Whether its joint has one degree of freedom, and so may have limits and a spring."""
        return len(self.q_index) == len(self.v_index) == 1


@dataclass(frozen=True)
class JointFriction:
    """Which of the joints' friction forces count, all off unless asked for (`Model.with_friction`).

    Attributes
    ----------
    damping : bool
        Viscous friction, ``d v``.
    coulomb : bool
        Coulomb friction, ``f v / sqrt(v² + s²)``: smooth, odd, and within 1 % of ±f where ``|v| > 7 s``. That of
        a mimic joint is smoothed at its leader's speed, so that torques stay linear in f.
    smoothing : float
        The speed s (rad/s, m/s).
    """

    damping: bool = False
    coulomb: bool = False
    smoothing: float = 1e-3


NO_FRICTION = JointFriction()


@dataclass(frozen=True)
class Frame:
    """A named frame fixed to a body (or to the world): every link is one.

    Attributes
    ----------
    name : str
    body : int
        Index of the body, or `WORLD`.
    X : Transform
        From the body's frame to this one.
    """

    name: str
    body: int
    X: Transform
