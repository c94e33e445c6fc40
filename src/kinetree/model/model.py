"""The model: a frozen kinematic tree of moving bodies, over any scalar."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, NamedTuple

from kinetree.errors import ModelError, unknown_name
from kinetree.joints import Joint
from kinetree.lazy import cached_property
from kinetree.model.leaves import map_numbers, structure_and_numbers
from kinetree.spatial import Chain, Inertia, Motion, Scalar, Transform, Vec3

WORLD = -1
"""The index that stands for the fixed world as a parent or as the body of a frame."""


@dataclass(frozen=True)
class JointLimits:
    """Limits of a joint with one degree of freedom; infinite where there is none.

    Attributes
    ----------
    lower, upper : float
        Position, rad or m.
    velocity, effort : float
        Largest magnitude: rad/s or m/s, and N·m or N.

    Raises
    ------
    ModelError
        If a limit is no number, or the lower one is above the upper one.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, Real) or math.isnan(value):
                raise ModelError(f"the limit {field.name} is {value!r}: give a number, or inf for no limit")
            object.__setattr__(self, field.name, float(value))
        if self.lower > self.upper:
            raise ModelError(f"the lower limit {self.lower} is above the upper one, {self.upper}")


NO_LIMITS = JointLimits()


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


class BodyState(NamedTuple):
    """What `Model.jcalc` gives for one body: the transforms, S, vJ and cJ of its joint."""

    Xup: Chain
    X_J: Transform
    S: tuple[Motion, ...]
    vJ: Motion
    cJ: Motion


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


@dataclass(frozen=True)
class Model:
    """A kinematic tree of rigid bodies. Made by `ModelBuilder` or by a reader in `kinetree.formats`.

    Its numbers may be any scalar. Equal models are equal and hash alike; a model pickles.

    Attributes
    ----------
    name : str
    bodies : tuple of Body
        Parents before children.
    frames : tuple of Frame
        One a link, and any others that were added.
    gravity : Vec3
        Acceleration of gravity in the world's axes (m/s²).
    nq, nv : int
        Lengths of q and v.
    joint_order : tuple of int
        The bodies in the order of their joints in q and v, which is that of the file; without mimic joints.
    actuated : tuple of int
        The velocity indices that have an actuator (``τ = B u`` with B the selection of them).
    root : str
        Name of the root link, a frame.
    base_inertia : Inertia
        Of the links fixed to the world, in the world's frame: no force depends on it, unless the robot is attached to
        another one.
    friction : JointFriction
        Which friction forces count.
    """

    name: str
    bodies: tuple[Body, ...]
    frames: tuple[Frame, ...]
    gravity: Vec3
    nq: int
    nv: int
    joint_order: tuple[int, ...]
    actuated: tuple[int, ...]
    root: str
    base_inertia: Inertia
    friction: JointFriction = NO_FRICTION

    @property
    def nb(self) -> int:
        """Number of moving bodies."""
        return len(self.bodies)

    @property
    def has_mimic_joints(self) -> bool:
        """Whether some coordinate moves more than one body."""
        return len(self.joint_order) < self.nb

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, in the order of q and v."""
        return tuple(self.bodies[i].joint_name for i in self.joint_order)

    @property
    def q_names(self) -> tuple[str, ...]:
        """A name for each entry of q: the joint's, with a suffix where it has several (``root_joint.qx``)."""
        return self._entry_names("q_names", "nq")

    @property
    def v_names(self) -> tuple[str, ...]:
        """A name for each entry of v, a and tau (``root_joint.wx``)."""
        return self._entry_names("v_names", "nv")

    def _entry_names(self, suffixes: str, count: str) -> tuple[str, ...]:
        names: list[str] = []
        for body in (self.bodies[i] for i in self.joint_order):
            n = getattr(body.joint, count)
            ends = getattr(body.joint, suffixes) or tuple(map(str, range(n)))
            names.extend([body.joint_name] if n == 1 else [f"{body.joint_name}.{end}" for end in ends])
        return tuple(names)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the moving bodies, in the order of `bodies` and of f_ext."""
        return tuple(body.name for body in self.bodies)

    @property
    def frame_names(self) -> tuple[str, ...]:
        """Names of the frames."""
        return tuple(frame.name for frame in self.frames)

    @cached_property
    def _body_of_joint(self) -> dict[str, int]:
        return {body.joint_name: i for i, body in enumerate(self.bodies)}

    @cached_property
    def _frame_of_name(self) -> dict[str, Frame]:
        return {frame.name: frame for frame in self.frames}

    def body_of_joint(self, joint_name: str) -> int:
        """Return the index of the body that this joint carries; `ModelError` where there is no such joint."""
        if joint_name not in self._body_of_joint:
            raise ModelError(unknown_name("joint", joint_name, self.joint_names))
        return self._body_of_joint[joint_name]

    def frame(self, name: str) -> Frame:
        """Return the frame of this name; `ModelError` where there is none."""
        if name not in self._frame_of_name:
            raise ModelError(unknown_name("frame", name, self.frame_names))
        return self._frame_of_name[name]

    def jcalc(self, i: int, q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> BodyState:
        """Return the state of body i's joint, q and v being those of the whole robot; v is zero if not given."""
        body = self.bodies[i]
        rates = [0.0] * len(body.v_index) if v is None else [v[k] for k in body.v_index]
        joint = body.joint.jcalc([q[k] for k in body.q_index], rates)
        return BodyState(Chain(joint.X, body.X_T), joint.X, joint.S, joint.vJ, joint.cJ)

    # -- structure and numbers ---------------------------------------------------------------------------------

    @cached_property
    def _split(self) -> tuple[Hashable, tuple[Any, ...]]:
        return structure_and_numbers(self)

    @property
    def structure(self) -> Hashable:
        """Everything but the numbers: who carries whom, by which joints, and the names."""
        return self._split[0]

    @property
    def numbers(self) -> tuple[Scalar, ...]:
        """All numbers, in a fixed order: placements, inertias, axes, limits, gravity."""
        return self._split[1]

    def with_numbers(self, numbers: Sequence[Scalar]) -> Model:
        """Return the model of the same structure with these numbers, in the order of `numbers`."""
        if len(numbers) != len(self.numbers):
            raise ModelError(f"{len(numbers)} numbers given, this model has {len(self.numbers)}")
        rest = iter(numbers)
        return map_numbers(self, lambda _: next(rest))

    def with_gravity(self, gravity: Iterable[Scalar]) -> Model:
        """Return the same robot under another gravity (m/s², world axes)."""
        return replace(self, gravity=Vec3.of(gravity))

    def with_friction(self, friction: JointFriction) -> Model:
        """Return the same robot with these of its joints' friction forces."""
        return replace(self, friction=friction)

    @cached_property
    def digest(self) -> str:
        """A SHA-256 of structure and numbers (to the bit), the same in every process."""
        text = repr(self.structure) + "|" + ",".join(float(x).hex() for x in self.numbers)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def inertial_parameters(self) -> tuple[Scalar, ...]:
        """The 10 nb inertial parameters, body after body, in the order of `Inertia.from_parameters`."""
        return tuple(x for body in self.bodies for x in body.inertia)

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, tuple(getattr(self, field.name) for field in fields(self))
