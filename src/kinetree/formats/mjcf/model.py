"""From MuJoCo's compiled model to a robot: bodies, joints and sites."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from mujoco import mjtDisableBit as Disable
from mujoco import mjtJoint as Kind

from kinetree.errors import FormatError, ModelError, listed, shortened
from kinetree.formats.graph import new_name
from kinetree.formats.load import ReadOptions, RobotFile
from kinetree.formats.mjcf.codes import FAR, FREE, names_of, rotations, transforms
from kinetree.formats.mjcf.equipment import actuators_of, geometries_of, motors_of, resistances_of
from kinetree.formats.mjcf.unread import Unread, constraints_of
from kinetree.joints import FreeFlyer, Joint, Prismatic, Revolute, Spherical
from kinetree.model import NO_LIMITS, WORLD, Body, Frame, JointLimits, JointSpring, Model
from kinetree.model.body import NO_SPRING
from kinetree.model.builder import ROOT_JOINT
from kinetree.model.checks import as_vector, check_bodies, check_not_negative, check_size
from kinetree.model.edit import with_base_pose
from kinetree.spatial import Inertia, Transform

HERE: Final = Transform.identity()
NO_NAME: Final = "MuJoCo Model"
Q_ORDER: Final = ((0, 1, 2, 4, 5, 6, 3), (1, 2, 3, 0), (0,), (0,))
"""The entries of the qpos of each type of joint in the order of q: quaternions are (w, x, y, z) there."""
FINITE: Final = (
    *(f"body_{what}" for what in ("pos", "quat", "ipos", "iquat", "mass", "inertia")),
    *("jnt_pos", "jnt_axis", "jnt_stiffness", "qpos0", "qpos_spring", "site_pos", "site_quat"),
    *("dof_armature", "dof_damping", "dof_frictionloss"),
)
"""The arrays whose numbers must be finite; MuJoCo lets others pass."""


def robot_of(m: Any, source: str, options: ReadOptions, constraints: bool) -> RobotFile:
    """Return what an MjModel says of a robot.

    Without `constraints`, those of the file are left out, and named in the warning about all that is.
    """
    unread = Unread(m, source)
    motors = motors_of(m)
    tree = _Tree(m, source, options, unread)
    try:
        tree.build(resistances_of(m, motors, unread.add))
        add_frame = tree.add_frame if constraints else lambda name, *_: name
        specs = constraints_of(m, tree.joints, tree.sites, add_frame, unread)
    except ModelError as error:  # numbers that MuJoCo lets pass
        raise FormatError(f"{source}: {error}") from None
    if constraints and not specs:
        raise FormatError(f"{source}: no constraint of this file closes a loop: kinetree.load reads it")
    if not constraints:
        unread.add("equality constraints (load_mechanism reads them)", *(spec.arguments["name"] for spec in specs))
    model = tree.model()
    moving = {body.joint_name for body in model.bodies}
    actuators = tuple(a for a in actuators_of(m, motors, tree.joints, unread.add) if a.joint in moving)
    unread.tell(lenient=options.lenient, strict=options.strict)
    driven = tuple(dict.fromkeys(actuator.joint for actuator in actuators)) or None
    geometry = lambda: geometries_of(m, tree.links)  # noqa: E731
    return RobotFile(model, dict(tree.keyframes()), geometry, actuators, specs if constraints else (), driven)


def _times(X: Transform, Y: Transform) -> Transform:
    return Y if X is HERE else X if Y is HERE else X @ Y


class _Tree:
    """The bodies of a model: `links`, `joints` and `sites` are the names of MuJoCo's, in its order."""

    def __init__(self, m: Any, source: str, options: ReadOptions, unread: Unread) -> None:
        self.m, self.source, self.unread, self.options = m, source, unread, options
        self.links, self.joints, self.sites = (names_of(m, kind) for kind in ("body", "joint", "site"))
        self.taken, self.off, self.floating = {*self.links}, int(m.opt.disableflags), options.floating_base
        self.types, self.parents = m.jnt_type.tolist(), m.body_parentid.tolist()
        firsts = zip(m.body_jntadr.tolist(), m.body_jntnum.tolist(), strict=True)
        self.joints_of = [range(first, first + count) for first, count in firsts]
        self.root = self._root()
        disabled = self.off & (Disable.mjDSBL_LIMIT | Disable.mjDSBL_CONSTRAINT)
        self.limited = [bool(limited) and not disabled for limited in m.jnt_limited]
        self.bodies, self.frames, self.base, self.nq, self.nv = list[Body](), list[Frame](), Inertia.zero(), 0, 0
        self.places: list[Frame] = []
        """The frames of the links that MuJoCo has, in its order."""

    def _root(self) -> int:
        """Return the root link: the body of the only tree that moves, if it floats or is to; else the world."""
        on_world = [i for i, parent in enumerate(self.parents) if parent == 0 and i]
        moving = sorted({*self.m.body_rootid[self.m.dof_bodyid].tolist()})
        free = [i for i in on_world if self._floats(i)]
        if not self.floating:
            if len(free) != 1 or moving != free or ROOT_JOINT in self.joints[1:]:
                return 0
            self.joints[self.joints_of[free[0]][0]] = ROOT_JOINT
            return free[0]
        if free:
            name = shortened(self.joints[self.joints_of[free[0]][0]])
            raise FormatError(
                f"{self.source}: the robot floats already, by joint {name!r}: leave floating_base=True out"
            )
        base = moving or on_world
        if len(base) != 1 or self.joints_of[base[0]]:
            names = listed([shortened(self.links[i]) for i in base])
            raise FormatError(f"{self.source}: floating_base=True takes one robot fixed to the world; this has {names}")
        if ROOT_JOINT in self.joints:
            raise FormatError(f"{self.source}: {ROOT_JOINT!r} is the name of the floating base's joint: rename it")
        return base[0]

    def _floats(self, i: int) -> bool:
        return any(self.types[k] == FREE for k in self.joints_of[i])

    def build(self, resistances: Sequence[Sequence[float]]) -> None:
        """Make the bodies and frames of links, joints and sites; several joints of a body have massless links between.

        `resistances` are armature, damping and friction of each velocity.
        """
        m, nothing = self.m, Inertia.zero()
        for name in FINITE:
            if not np.isfinite(values := getattr(m, name)).all():
                raise ModelError(f"{name} holds the number {values[~np.isfinite(values)][0]}: all must be finite")
        poses, inertias = transforms(m.body_pos, m.body_quat), self._inertias()
        for i, (link, at, joints) in enumerate(zip(self.links, poses, self.joints_of, strict=True)):
            frame = self.places[self.parents[i]] if i else Frame("", WORLD, HERE)
            inertia = inertias.get(i, nothing)
            if self.floating and i == self.root:
                frame = self._carried(link, frame, ROOT_JOINT, FreeFlyer(), HERE, HERE, inertia, (0.0,) * 3)
            elif not joints or (self._floats(i) and self.floating is False):
                frame = self._welded(link, frame, at, inertia)
            else:
                at = HERE if self._floats(i) else at  # its pose is in q
                for k in joints[:-1]:
                    frame = self._joint(k, self._new(f"{link}.{k - joints[0]}"), frame, at, nothing, resistances)
                    at = HERE
                frame = self._joint(joints[-1], link, frame, at, inertia, resistances)
            self.places.append(frame)
        for body in self.bodies:
            if not math.isfinite(sum((*body.inertia, *body.X_T.r))):
                check_size(f"the inertia or place of body {body.name!r}", (*body.inertia, *body.X_T.r))
        places = zip(self.sites, m.site_bodyid.tolist(), transforms(m.site_pos, m.site_quat), strict=True)
        links = {*self.links}
        self.sites = [self.add_frame(f"site:{name}" if name in links else name, *place) for name, *place in places]

    def _new(self, name: str) -> str:
        self.taken.add(found := new_name(name, self.taken))
        return found

    def add_frame(self, name: str, body: int, placement: Transform) -> str:
        """Put a frame on a body; return its name, which is another one where this is taken."""
        name, place = self._new(name), self.places[body]
        self.frames.append(Frame(name, place.body, _times(placement, place.X)))
        return name

    def _welded(self, link: str, on: Frame, at: Transform, inertia: Inertia) -> Frame:
        """Put a link on another one, at this place in it, and return its frame."""
        self.frames.append(frame := Frame(link, on.body, _times(at, on.X)))
        if on.body == WORLD:
            self.base = self.base + frame.X.T @ inertia
        else:
            body = self.bodies[on.body]
            self.bodies[on.body] = replace(body, inertia=body.inertia + frame.X.T @ inertia)
        return frame

    def _joint(
        self, k: int, link: str, on: Frame, at: Transform, inertia: Inertia, resistances: Sequence[Sequence[float]]
    ) -> Frame:
        """Put a link on another one by a joint of MuJoCo's, whose body is at this place in that, and return its frame.

        A reference other than zero is turned into the joint's place.
        """
        m, kind, name = self.m, self.types[k], self.joints[k]
        position = m.jnt_pos[k].tolist() if kind in (Kind.mjJNT_HINGE, Kind.mjJNT_BALL) else ()
        anchor = Transform.translation(position) if any(position) else HERE
        stiffness = 0.0 if self.off & Disable.mjDSBL_SPRING else float(m.jnt_stiffness[k])
        limits, spring, X = NO_LIMITS, NO_SPRING, anchor
        if kind in (Kind.mjJNT_FREE, Kind.mjJNT_BALL):
            self.unread.add("springs of ball and free joints", *[name] * (stiffness != 0.0))
            self.unread.add("limits of ball joints", *[name] * self.limited[k])
            joint: Joint = FreeFlyer() if kind == FREE else Spherical()
        else:
            joint = (Revolute if kind == Kind.mjJNT_HINGE else Prismatic)(m.jnt_axis[k].tolist())
            address = m.jnt_qposadr[k]
            limits = self._limits(k)
            spring = JointSpring(stiffness, float(m.qpos_spring[address])) if stiffness else NO_SPRING
            if reference := float(m.qpos0[address]):
                X = _times(joint.jcalc([-reference], [0.0]).X, anchor)
        own = resistances[m.jnt_dofadr[k]]
        if min(*own, stiffness) < 0.0:
            armature, damping, friction = own
            check_not_negative(name, armature=armature, damping=damping, friction=friction, stiffness=stiffness)
        return self._carried(link, on, name, joint, _times(X, at), anchor, inertia, own, limits, spring)

    def _carried(
        self, link: str, on: Frame, name: str, joint: Joint, X: Transform, anchor: Transform, inertia: Inertia,
        resistances: Sequence[float], limits: JointLimits = NO_LIMITS, spring: JointSpring = NO_SPRING,
    ) -> Frame:  # fmt: skip
        """Put a link on another one by a joint, which is at X there and at the anchor here, and return its frame."""
        entries = tuple(range(self.nq, self.nq + joint.nq)), tuple(range(self.nv, self.nv + joint.nv))
        armature, damping, friction = ((x,) * joint.nv for x in resistances)
        back, X = HERE if anchor is HERE else anchor.inverse(), _times(X, on.X)
        inertia = inertia if back is HERE else back.T @ inertia
        self.frames.append(frame := Frame(link, len(self.bodies), back))
        given = Body(link, on.body, name, joint, X, inertia, *entries, armature, damping, friction, limits, spring)
        self.bodies.append(given)
        self.nq, self.nv = self.nq + joint.nq, self.nv + joint.nv
        return frame

    def _limits(self, k: int) -> JointLimits:
        """Return the limits of a hinge or slide."""
        m, pushes = self.m, bool(self.m.jnt_actfrclimited[k])
        if not (self.limited[k] or pushes):
            return NO_LIMITS
        ends = m.jnt_range[k].tolist() if self.limited[k] else (-math.inf, math.inf)
        lower, upper = (x if abs(x) < FAR else math.copysign(math.inf, x) for x in ends)
        low, high = m.jnt_actfrcrange[k].tolist() if pushes else (-math.inf, math.inf)
        if pushes and low + high:
            self.unread.add("efforts with a limit of its own in each direction: the larger one counts", self.joints[k])
        return JointLimits(lower, upper, effort=max(-low, high))

    def _inertias(self) -> dict[int, Inertia]:
        """Return the inertias of the bodies that have mass, which MuJoCo gives along their principal axes.

        About a body's origin they are ``J + m (c·c 1 − c cᵀ)``, with J about the centre of mass c.
        """
        m, mass, moments = self.m, self.m.body_mass, self.m.body_inertia
        R = rotations(m.body_iquat).transpose(0, 2, 1)
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.einsum("bij,bj,bkj->ikb", R, moments, R)
        (cx, cy, cz), (hx, hy, hz) = m.body_ipos.T, m.body_ipos.T * mass
        x, y, z = hx * cx, hy * cy, hz * cz
        six = (xx + (y + z), xy - hx * cy, yy + (x + z), xz - hx * cz, yz - hy * cz, zz + (x + y))
        parameters = np.array([mass, hx, hy, hz, *six]).T
        small, middle, large = np.sort(moments).T  # those that are close to no body's are looked at
        doubtful = (mass <= 0.0) | (small <= 1e-9 * large) | (small + middle <= large * (1.0 + 1e-9))
        found = {i: Inertia.from_parameters(parameters[i].tolist()) for i in np.flatnonzero(parameters.any(1)).tolist()}
        check_bodies(self.source, [(self.links[i], inertia) for i, inertia in found.items() if doubtful[i]])
        return found

    # -- the robot -----------------------------------------------------------------------------------------------

    def model(self) -> Model:
        """Return the model."""
        gravity, pose, link = self.options.gravity, self.options.base_pose, self.links[self.root]
        if gravity is None:
            gravity = (0.0, 0.0, 0.0) if self.off & Disable.mjDSBL_GRAVITY else self.m.opt.gravity.tolist()
        actuated = tuple(k for body in self.bodies if body.joint.actuated for k in body.v_index)
        name = bytes(self.m.names).split(b"\0", 1)[0].decode("utf-8", "replace")
        file = os.path.basename(self.source) if name == NO_NAME and os.path.isfile(self.source) else ""
        model = Model(
            os.path.splitext(file)[0] or name, tuple(self.bodies), tuple(self.frames), as_vector(gravity, "gravity"),
            self.nq, self.nv, tuple(range(len(self.bodies))), actuated, link, self.base,
        )  # fmt: skip
        return model if pose is None else with_base_pose(model, pose)

    def keyframes(self) -> Iterator[tuple[str, list[float]]]:
        """Yield the keyframes as configurations, and as ``qpos0`` where MuJoCo starts, unless one has this name."""
        m, joints = self.m, {name: k for k, name in enumerate(self.joints)}
        qpos, columns = np.vstack([m.qpos0[None], m.key_qpos]), list[Any]()
        for body in self.bodies:
            k, joint = joints.get(body.joint_name), body.joint
            if k is None:  # it is a base that floats here only
                columns += [np.full(len(qpos), x) for x in joint.neutral()]
            else:
                own = [qpos[:, m.jnt_qposadr[k] + n] for n in Q_ORDER[self.types[k]]]
                columns += joint.integrate(own, [0.0] * joint.nv) if joint.nv > 1 else own  # quaternions of length 1
        return zip(["qpos0", *names_of(m, "keyframe")], np.reshape(columns, (-1, len(qpos))).T.tolist(), strict=True)
