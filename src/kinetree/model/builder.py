"""The builder: links and joints, in any order, into a model; errors name the link or the joint."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from numbers import Real

from kinetree.errors import ModelError, unknown_name
from kinetree.joints import FreeFlyer, Joint, Mimic
from kinetree.joints._first_use import check_at_first_use
from kinetree.model.body import GRAVITY, NO_LIMITS, ONE_HAS_SPRINGS, WORLD, Body, Frame, JointLimits, JointSpring
from kinetree.model.checks import (
    Pose,
    as_floats,
    as_transform,
    as_vector,
    check_bodies,
    check_finite,
    check_not_negative,
    check_size,
)
from kinetree.model.model import Model
from kinetree.model.tree import JointSpec, entries, resolve_leaders, root_link, with_leaders_limits
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Inertia, Scalar, Transform

NOT_A_JOINT = "joint takes a joint type with its parameters, such as Revolute((0, 0, 1)) from kinetree.joints"

ROOT_JOINT = "root_joint"
"""Name of the joint that a floating base adds."""


@dataclass
class _Placed:
    """Where a link ended up: its body (or the world), and where it stands there."""

    body: int
    X: Transform


def _error(message: str, joint: JointSpec | None = None, role: str = "") -> ModelError:
    return ModelError(message if joint is None else f"joint {joint.name!r}: {message}")


@friendly_call_errors
@dataclass
class ModelBuilder:
    """Collects links and joints, and builds the model.

    Examples
    --------
    >>> from kinetree.joints import Revolute
    >>> b = ModelBuilder("pendulum")
    >>> b.add_link("world")
    >>> b.add_link("bob", Inertia.from_com(1.0, [0, 0, -0.5], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]))
    >>> b.add_joint("pivot", parent="world", child="bob", joint=Revolute((0, 1, 0)))
    >>> model = b.build()
    >>> model.nq, model.joint_names, model.frame_names
    (1, ('pivot',), ('world', 'bob'))
    >>> from kinetree import Robot
    >>> print(Robot(model).gravity_forces([0.5]).round(4))
    [2.3516]
    """

    name: str = "robot"
    _links: dict[str, Inertia] = field(default_factory=dict, init=False)
    _joints: dict[str, JointSpec] = field(default_factory=dict, init=False)
    _frames: dict[str, tuple[str, Transform]] = field(default_factory=dict, init=False)

    def add_link(self, name: str, inertia: Inertia | None = None) -> None:
        """Add a link; without an inertia it has no mass.

        Raises
        ------
        ModelError
            If the name is taken, or a number is not finite, or the mass is negative.
        """
        self._check_new_frame(name)
        if inertia is not None and not isinstance(inertia, Inertia):
            raise ModelError(
                f"link {name!r} takes Inertia(mass, com, inertia about it); {type(inertia).__name__} was given"
            )
        inertia = Inertia.zero() if inertia is None else inertia
        check_finite(f"the inertia of link {name!r}", inertia)
        if isinstance(inertia.m, Real) and inertia.m < 0:
            raise ModelError(f"link {name!r} has the mass {inertia.m}: a mass cannot be negative")
        self._links[name] = as_floats(inertia)

    def add_joint(
        self,
        name: str,
        *,
        parent: str,
        child: str,
        joint: Joint,
        placement: Pose | None = None,
        limits: JointLimits = NO_LIMITS,
        damping: float = 0.0,
        friction: float = 0.0,
        armature: float = 0.0,
        rotor_inertia: float = 0.0,
        gear_ratio: float = 1.0,
        stiffness: float = 0.0,
        rest_position: float = 0.0,
        mimic: tuple[str, float, float] | None = None,
        child_placement: Pose | None = None,
    ) -> None:
        """Add a joint between two links (which may be added later).

        Parameters
        ----------
        name, parent, child : str
            Its name, and those of its links.
        joint : Joint
            Its type with its parameters; `Fixed()` merges the child into the parent's body.
        placement : (4, 4) array-like, Transform, or SciPy's RigidTransform or Rotation, optional
            Pose of the joint's frame in the parent link.
        limits : JointLimits, optional
        damping, friction, armature : float, optional
            Viscous and Coulomb friction, which count once `Robot.with_friction` turns them on, and reflected rotor
            inertia, which counts always; at each degree of freedom.
        rotor_inertia, gear_ratio : float, optional
            The same as an armature of ``rotor_inertia · gear_ratio²``, added to it.
        stiffness, rest_position : float, optional
            Of a spring in a joint of one degree of freedom (N·m/rad, N/m), and where it is relaxed (rad, m).
        mimic : (str, float, float), optional
            The name of a joint that this one follows, a factor and an offset: it stands at ``factor · q + offset``
            and has no coordinate of its own. Its limits narrow its leader's.
        child_placement : as placement, optional
            Pose of the joint's frame, as it moves, in the child link; by default it is the child link's frame.

        Raises
        ------
        ModelError
            If the name is taken, a number is not finite, what resists motion is negative, a joint of several degrees of
            freedom has a spring, or a joint type of one's own breaks a law (`kinetree.joints.check`).
        """
        if name in self._joints:
            raise ModelError(f"there are two joints named {name!r}: names must differ")
        if not isinstance(joint, Joint):
            raise ModelError(f"joint {name!r}: {NOT_A_JOINT}; {joint!r} was given")
        try:
            check_at_first_use(joint)
        except ModelError as error:
            raise ModelError(f"joint {name!r}: {error}") from None
        if not isinstance(limits, JointLimits):
            raise ModelError(f"joint {name!r}: limits takes a JointLimits(lower, upper, …); {limits!r} was given")
        X = as_transform(placement, f"the placement of joint {name!r}")
        anchor = as_transform(child_placement, f"the child_placement of joint {name!r}")
        figures = {"armature": armature, "damping": damping, "friction": friction, "rotor_inertia": rotor_inertia}
        check_finite(f"joint {name!r}", (*figures.values(), gear_ratio, stiffness, rest_position))
        check_not_negative(name, **figures, stiffness=stiffness)
        spring = JointSpring(float(stiffness), float(rest_position))
        if spring != JointSpring() and (joint.nq, joint.nv) != (1, 1):
            raise ModelError(f"joint {name!r} has {joint.nv} degrees of freedom: {ONE_HAS_SPRINGS}")
        armature = armature + rotor_inertia * gear_ratio**2
        leader = None
        if mimic is not None:
            if not (isinstance(mimic, (tuple, list)) and len(mimic) == 3 and isinstance(mimic[0], str)):
                raise ModelError(f"joint {name!r}: mimic takes (leader, factor, offset); {mimic!r} was given")
            leader, factor, offset = mimic
            check_finite(f"joint {name!r}", (factor, offset))
            joint = Mimic(joint, float(factor), float(offset))
        self._joints[name] = JointSpec(
            name, parent, child, joint, X, limits, float(damping), float(friction), float(armature), leader, spring,
            None if child_placement is None else anchor.inverse(),
        )  # fmt: skip

    def add_frame(self, name: str, *, link: str, placement: Pose | None = None) -> None:
        """Add a named frame fixed to a link, at this pose in it."""
        self._check_new_frame(name)
        self._frames[name] = (link, as_transform(placement, f"the placement of frame {name!r}"))

    def _check_new_frame(self, name: str) -> None:
        if name in self._links or name in self._frames:
            raise ModelError(f"there are two links or frames named {name!r}: names must differ")

    def build(
        self, *, floating_base: bool = False, base_pose: Pose | None = None, gravity: Iterable[Scalar] = GRAVITY
    ) -> Model:
        """Return the model.

        Parameters
        ----------
        floating_base : bool
            Put a free-flyer, named ``root_joint``, between the world and the root link.
        base_pose : (4, 4) array-like, Transform, or SciPy's RigidTransform or Rotation, optional
            Pose of the root link in the world, for a fixed base.
        gravity : 3 scalars
            Acceleration of gravity in the world's axes (m/s²).

        Raises
        ------
        ModelError
            If the links and joints are not one tree; the message names the offenders.

        Warns
        -----
        NonPhysicalInertiaWarning
            If no body can have the inertia of a link. Point masses and thin rods are bodies.
        """
        model = self.assemble(floating_base=floating_base, base_pose=base_pose, gravity=gravity)
        check_bodies(f"robot {self.name!r}", self._links.items())
        return model

    def assemble(
        self, *, floating_base: bool = False, base_pose: Pose | None = None, gravity: Iterable[Scalar] = GRAVITY
    ) -> Model:
        """Return the model as `build` does, for readers of files, which look at the inertias as the file has them."""
        if not self._links:
            raise ModelError(f"robot {self.name!r} has no links")
        root = root_link(self._links, self._joints.values(), _error, lambda _: "")
        if floating_base and base_pose is not None:
            raise ModelError("a floating base has its pose in q: give base_pose only for a fixed base")
        joints = with_leaders_limits(resolve_leaders(self._joints))
        pose = as_transform(base_pose, "base_pose")
        if floating_base:
            if ROOT_JOINT in self._joints:
                raise ModelError(f"the robot has a joint named {ROOT_JOINT!r}, the name of the floating base's joint")
            joints.insert(0, JointSpec(ROOT_JOINT, "", root, FreeFlyer(), pose, NO_LIMITS, 0.0, 0.0, 0.0))
            placed: dict[str, _Placed] = {}
        else:
            placed = {root: _Placed(WORLD, pose)}
        bodies, order, base_inertia = self._bodies(joints, placed)
        frames = [Frame(link, placed[link].body, placed[link].X) for link in self._links]
        for name, (link, X) in self._frames.items():
            if link not in placed:
                raise ModelError(f"frame {name!r}: " + unknown_name("link", link, self._links))
            frames.append(Frame(name, placed[link].body, X @ placed[link].X))
        return Model(
            self.name,
            tuple(bodies),
            tuple(frames),
            as_vector(gravity, "gravity"),
            len({k for b in bodies for k in b.q_index}),
            len({k for b in bodies for k in b.v_index}),
            order,
            tuple(sorted({k for b in bodies if b.joint.actuated for k in b.v_index})),
            root,
            base_inertia,
        )

    def _bodies(
        self, joints: list[JointSpec], placed: dict[str, _Placed]
    ) -> tuple[list[Body], tuple[int, ...], Inertia]:
        """Return the bodies, parents first, their order, and the base's inertia; `placed` gets all links' places."""
        waiting: dict[str, list[int]] = {}
        for k, spec in enumerate(joints):
            waiting.setdefault(spec.parent, []).append(k)
        q_index, v_index = entries(joints, "nq"), entries(joints, "nv")
        bodies: list[Body] = []
        body_of_joint: dict[int, int] = {}
        base = sum((place.X.T @ self._links[link] for link, place in placed.items()), Inertia.zero())
        placed.setdefault("", _Placed(WORLD, Transform.identity()))
        ready = [k for link in placed for k in waiting.get(link, ())]
        heapq.heapify(ready)
        while ready:
            k = heapq.heappop(ready)
            spec = joints[k]
            on = placed[spec.parent]
            X, X_child, inertia = spec.X @ on.X, spec.X_child, self._links[spec.child]
            if spec.joint.rigid:
                X = X if X_child is None else X_child @ X
                placed[spec.child] = _Placed(on.body, X)
                if on.body == WORLD:
                    base = base + X.T @ inertia
                else:
                    carrier = bodies[on.body]
                    bodies[on.body] = replace(carrier, inertia=carrier.inertia + X.T @ inertia)
            else:
                placed[spec.child] = _Placed(len(bodies), X_child or Transform.identity())
                inertia = inertia if X_child is None else X_child.T @ inertia
                body_of_joint[k] = len(bodies)
                n = spec.joint.nv
                bodies.append(
                    Body(
                        spec.child, on.body, spec.name, spec.joint, X, inertia, q_index[k], v_index[k],
                        (spec.armature,) * n, (spec.damping,) * n, (spec.friction,) * n, spec.limits, spec.spring,
                    )
                )  # fmt: skip
            for child in waiting.get(spec.child, ()):
                heapq.heappush(ready, child)
        del placed[""]
        for body in bodies:
            check_size(f"the inertia or place of body {body.name!r}", (*body.inertia, *body.X_T.r))
        for link, place in placed.items():
            check_size(f"the place of link {link!r}", place.X.r)
        leading = (k for k in sorted(body_of_joint) if joints[k].leader is None)
        return bodies, tuple(body_of_joint[k] for k in leading), base
