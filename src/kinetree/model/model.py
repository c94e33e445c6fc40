"""The model: a frozen kinematic tree of moving bodies, over any scalar."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from kinetree.errors import ModelError, listed, unknown_name
from kinetree.lazy import cached_property
from kinetree.locks import importing
from kinetree.model.body import NO_FRICTION, WORLD, Body, Frame, JointFriction
from kinetree.model.leaves import flatten, map_leaves
from kinetree.spatial import Chain, Inertia, Motion, Scalar, Transform, Vec3


class BodyState(NamedTuple):
    """What `Model.jcalc` gives for one body: the transforms, S, vJ and cJ of its joint."""

    Xup: Chain
    X_J: Transform
    S: tuple[Motion, ...]
    vJ: Motion
    cJ: Motion


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
    def tree(self) -> Model:
        """The tree alone, without what a mechanism adds to it: itself."""
        return self

    @property
    def constraints(self) -> tuple[Any, ...]:
        """Those of a mechanism: none."""
        return ()

    @property
    def nb(self) -> int:
        """Number of moving bodies."""
        return len(self.bodies)

    @property
    def nframes(self) -> int:
        """Number of named frames."""
        return len(self.frames)

    @property
    def has_floating_base(self) -> bool:
        """Whether the root link moves, so that its pose is in q."""
        return self.frame(self.root).body != WORLD

    @property
    def has_mimic_joints(self) -> bool:
        """Whether some coordinate moves more than one body."""
        return len(self.joint_order) < self.nb

    @property
    def leading(self) -> tuple[Body, ...]:
        """The bodies whose joints have coordinates of their own (all but mimic joints), in the order of q and v."""
        return tuple(self.bodies[i] for i in self.joint_order)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, in the order of q and v."""
        return tuple(body.joint_name for body in self.leading)

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
        for body in self.leading:
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
        if not isinstance(joint_name, str) or joint_name not in self._body_of_joint:
            raise ModelError(unknown_name("joint", joint_name, self.joint_names))
        return self._body_of_joint[joint_name]

    def leader(self, body: Body) -> Body:
        """Return the body whose joint this one's follows; the body itself where it follows none."""
        return next(other for other in self.leading if other.v_index == body.v_index)

    def frame(self, name: str) -> Frame:
        """Return the frame of this name; `ModelError` where there is none."""
        if not isinstance(name, str) or name not in self._frame_of_name:
            raise ModelError(unknown_name("frame", name, self.frame_names))
        return self._frame_of_name[name]

    def jcalc(self, i: int, q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> BodyState:
        """Return the state of body i's joint, q and v being those of the whole robot; v is zero if not given."""
        body = self.bodies[i]
        rates = [0.0] * len(body.v_index) if v is None else [v[k] for k in body.v_index]
        joint = body.joint.jcalc([q[k] for k in body.q_index], rates)
        return BodyState(Chain(joint.X, body.X_T), joint.X, joint.S, joint.vJ, joint.cJ)

    def describe(self, symbol: str) -> str:
        """Return the joints or bodies behind a symbol in an input's shape, for messages; empty if it is not known."""
        if symbol == "nb":
            return f"one wrench (n, f) for each of the nb = {self.nb} moving bodies: {listed(self.body_names, 10)}"
        if symbol in ("nq", "nv"):
            return f"this robot has {symbol} = {getattr(self, symbol)}: joints {listed(self.joint_names, 10)}"
        return ""

    # -- structure and numbers ---------------------------------------------------------------------------------

    @cached_property
    def _split(self) -> tuple[Hashable, tuple[Any, ...]]:
        return flatten(self)

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
        return map_leaves(self, lambda _: next(rest))

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
        with importing:
            from hashlib import sha256  # five milliseconds that not every program needs

        return sha256(text.encode()).hexdigest()

    @property
    def inertial_parameters(self) -> tuple[Scalar, ...]:
        """The 10 nb inertial parameters, body after body, in the order of `Inertia.from_parameters`."""
        return tuple(x for body in self.bodies for x in body.inertia)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))
