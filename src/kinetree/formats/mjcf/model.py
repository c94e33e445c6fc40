"""From MuJoCo's compiled model to a robot: bodies, joints and sites."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import matmul
from typing import Any, Final

import numpy as np
from mujoco import mjtDisableBit, mjtEq, mjtJoint, mjtObj

from kinetree.errors import FormatError, ModelError, listed, shortened
from kinetree.formats.graph import new_name
from kinetree.formats.load import ConstraintSpec, ReadOptions, RobotFile
from kinetree.formats.mjcf.codes import FAR, FREE, names_of, transforms
from kinetree.formats.mjcf.equipment import Unread, geometries_of, motors_of
from kinetree.joints import Fixed, FreeFlyer, Joint, Prismatic, Revolute, Spherical
from kinetree.model import NO_LIMITS, JointLimits, Model, ModelBuilder
from kinetree.model.builder import ROOT_JOINT
from kinetree.model.checks import TooLargeError, check_bodies
from kinetree.model.edit import with_base_pose
from kinetree.spatial import Inertia, Sym3, Transform
from kinetree.spatial.vector import ZERO

NO_NAME: Final = "MuJoCo Model"
TYPES: Final[tuple[type[Joint], ...]] = (FreeFlyer, Spherical, Prismatic, Revolute)  # in mjtJoint's order
BALL, HINGE = int(mjtJoint.mjJNT_BALL), int(mjtJoint.mjJNT_HINGE)
Q_ORDER: Final = ((0, 1, 2, 4, 5, 6, 3), (1, 2, 3, 0), (0,), (0,))
"""The entries of a joint's qpos in the order of q: quaternions are (w, x, y, z) there."""


def robot_of(m: Any, source: str, options: ReadOptions, constraints: bool) -> RobotFile:
    """Return what an MjModel says of a robot, see `kinetree.formats.mjcf.compiler.read`."""
    tree = _Tree(m, source, options, unread := Unread(m, source))
    try:
        motors, resistances = motors_of(m, tree.joints, unread)
        tree.build(resistances)
        specs = tree.constraints(read=constraints)
    except ModelError as error:  # numbers that MuJoCo lets pass
        raise FormatError(f"{source}: {error}") from None
    if constraints and not specs:
        raise FormatError(f"{source}: no constraint of this file closes a loop: kinetree.load reads it")
    if not constraints:
        unread.add("equality constraints (load_mechanism reads them)", *(spec.arguments["name"] for spec in specs))
    model = tree.model()
    moving = {body.joint_name for body in model.bodies}
    actuators = tuple(motor for motor in motors if motor.joint in moving)
    unread.tell(lenient=options.lenient, strict=options.strict)
    driven = tuple(dict.fromkeys(actuator.joint for actuator in actuators)) or None
    geometry = lambda: geometries_of(m, tree.links)  # noqa: E731
    return RobotFile(model, dict(tree.keyframes(model)), geometry, actuators, specs if constraints else (), driven)


class _Tree:
    """The bodies of a model: `links`, `joints` and `sites` are the names of MuJoCo's, in its order."""

    def __init__(self, m: Any, source: str, options: ReadOptions, unread: Unread) -> None:
        self.m, self.source, self.options, self.unread = m, source, options, unread
        self.links, self.joints, self.sites = (names_of(m, kind) for kind in ("body", "joint", "site"))
        self.taken, self.floating = {*self.links}, options.floating_base
        self.types, self.parents = m.jnt_type.tolist(), m.body_parentid.tolist()
        firsts = zip(m.body_jntadr.tolist(), m.body_jntnum.tolist(), strict=True)
        self.joints_of = [range(first, first + count) for first, count in firsts]
        self.root, off, self.doubtful = self._root(), int(m.opt.disableflags), list[tuple[str, Inertia]]()
        own = (0.0, 0.0, 0.0) if off & mjtDisableBit.mjDSBL_GRAVITY else m.opt.gravity.tolist()
        self.gravity = own if options.gravity is None else options.gravity
        self.springs = not off & mjtDisableBit.mjDSBL_SPRING
        unlimited = off & (mjtDisableBit.mjDSBL_LIMIT | mjtDisableBit.mjDSBL_CONSTRAINT)
        self.limited = [bool(limited) and not unlimited for limited in m.jnt_limited]
        name = bytes(m.names).split(b"\0", 1)[0].decode("utf-8", "replace")
        file = os.path.basename(source) if name == NO_NAME and os.path.isfile(source) else ""
        self.builder = ModelBuilder(os.path.splitext(file)[0] or name)

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
            by = f"by joint {shortened(self.joints[self.joints_of[free[0]][0]])!r}"
            raise FormatError(f"{self.source}: the robot floats already, {by}: leave floating_base=True out")
        base = moving or on_world
        if len(base) != 1 or self.joints_of[base[0]]:
            names = listed([shortened(self.links[i]) for i in base])
            raise FormatError(f"{self.source}: floating_base=True takes one robot fixed to the world; this has {names}")
        return base[0]

    def _floats(self, i: int) -> bool:
        return any(self.types[k] == FREE for k in self.joints_of[i])

    def build(self, resistances: Sequence[Mapping[str, float]]) -> None:
        """Put links, joints and sites into the builder; between several joints of a body are massless links.

        `resistances` are armature, damping and friction of each velocity.
        """
        m, b, links, fixed = self.m, self.builder, {*self.links}, {*self.joints}
        inertias, poses, dofs = self._inertias(), transforms(m.body_pos, m.body_quat), m.jnt_dofadr.tolist()
        b.add_link(self.links[0])
        for i, link in enumerate(self.links[1:], start=1):
            parent, joints = self.links[self.parents[i]], self.joints_of[i]
            at: Transform | None = poses[i]
            if self._floats(i) and self.floating is False:
                joints = range(0)
            elif self._floats(i):
                at = None  # its pose is in q
            for k in joints:
                child = link if k == joints[-1] else self._new(f"{link}.{k - joints[0]}")
                b.add_link(child, inertias.get(child))
                b.add_joint(self.joints[k], parent=parent, child=child, **self._joint(k, at), **resistances[dofs[k]])
                parent, at = child, None
            if not joints:
                b.add_link(link, inertias.get(link))
                if self.floating and i == self.root:
                    b.add_joint(ROOT_JOINT, parent=parent, child=link, joint=FreeFlyer())
                else:
                    fixed.add(name := new_name(f"{link}.weld", fixed))
                    b.add_joint(name, parent=parent, child=link, joint=Fixed(), placement=at)
        places = zip(m.site_bodyid.tolist(), transforms(m.site_pos, m.site_quat), strict=True)
        names = [f"site:{name}" if name in links else name for name in self.sites]
        self.sites = [self.add_frame(name, *place) for name, place in zip(names, places, strict=True)]

    def _new(self, name: str) -> str:
        self.taken.add(found := new_name(name, self.taken))
        return found

    def add_frame(self, name: str, body: int, placement: Transform) -> str:
        """Put a frame on a body; return its name, which is another one where this is taken."""
        name = self._new(name)
        self.builder.add_frame(name, link=self.links[body], placement=placement)
        return name

    def _inertias(self) -> dict[str, Inertia]:
        """Return the inertias of the links that have mass, which MuJoCo gives along their principal axes."""
        m, places, found = self.m, transforms(self.m.body_ipos, self.m.body_iquat), dict[str, Inertia]()
        for link, X, mass, (x, y, z) in zip(
            self.links, places, m.body_mass.tolist(), m.body_inertia.tolist(), strict=True
        ):
            if mass or x or y or z:
                found[link] = X.T @ Inertia.about_origin(mass, ZERO, Sym3(x, 0.0, y, 0.0, 0.0, z))
                least, _, most = sorted((x, y, z))
                if mass <= 0.0 or least <= 1e-9 * most or x + y + z <= 2.0 * most * (1.0 + 1e-9):  # else it is a body's
                    self.doubtful.append((link, found[link]))
        return found

    def _joint(self, k: int, at: Transform | None) -> dict[str, Any]:
        """Return a joint in a body that is at this place before it moves: its type, place, anchor, limits and spring.

        A reference other than zero is turned into the joint's place.
        """
        m, name, kind, point = self.m, self.joints[k], self.types[k], self.m.jnt_pos[k].tolist()
        stiffness, address = float(m.jnt_stiffness[k]) * self.springs, m.jnt_qposadr[k]
        anchor = Transform.translation(point) if kind in (HINGE, BALL) and any(point) else None
        places = [X for X in (anchor, at) if X is not None]
        own: dict[str, Any] = {"joint": TYPES[kind](), "child_placement": anchor}
        if kind in (FREE, BALL):
            self.unread.add("springs of ball and free joints", *[name] * (stiffness != 0.0))
            self.unread.add("limits of ball joints", *[name] * self.limited[k])
        else:
            own.update(joint=TYPES[kind](m.jnt_axis[k].tolist()), limits=self._limits(k), stiffness=stiffness)
            own.update(rest_position=float(m.qpos_spring[address]) if stiffness else 0.0)
            if reference := float(m.qpos0[address]):
                places.insert(0, own["joint"].jcalc([-reference], [0.0]).X)
        return {**own, "placement": reduce(matmul, places) if places else None}

    def _limits(self, k: int) -> JointLimits:
        """Return the limits of a hinge or slide."""
        m, pushes = self.m, bool(self.m.jnt_actfrclimited[k])
        ends = m.jnt_range[k].tolist() if self.limited[k] else (-math.inf, math.inf)
        lower, upper = (x if abs(x) < FAR else math.copysign(math.inf, x) for x in ends)
        low, high = m.jnt_actfrcrange[k].tolist() if pushes else (-math.inf, math.inf)
        if pushes and low + high:
            self.unread.add("efforts with a limit of its own in each direction: the larger one counts", self.joints[k])
        return JointLimits(lower, upper, effort=max(-low, high)) if pushes or self.limited[k] else NO_LIMITS

    def constraints(self, *, read: bool) -> tuple[ConstraintSpec, ...]:
        """Return the constraints: ``connect`` closes a loop at a ball joint, a linear ``joint`` is a gear.

        What is inactive or none of these is noted. Without `read`, bodies get no frames for them.
        """
        m, found, off = self.m, list[ConstraintSpec](), mjtDisableBit.mjDSBL_EQUALITY | mjtDisableBit.mjDSBL_CONSTRAINT
        for e, name in enumerate(names_of(m, "equality")):
            kind, data, pair = int(m.eq_type[e]), m.eq_data[e], (int(m.eq_obj1id[e]), int(m.eq_obj2id[e]))
            if not m.eq_active0[e] or m.opt.disableflags & off:
                self.unread.add("equality constraints that are not active", name)
            elif kind in (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD):
                at_sites = int(m.eq_objtype[e]) == mjtObj.mjOBJ_SITE
                bodies = [int(m.site_bodyid[k]) if at_sites else k for k in pair]
                if m.body_weldid[bodies[0]] == m.body_weldid[bodies[1]]:
                    self.unread.add("equality constraints within one body", name)
                    continue
                loop, joint = ("Loop", {"joint": Spherical()}) if kind == mjtEq.mjEQ_CONNECT else ("Weld", {})
                places = [Transform.translation(point) for point in data[:6].reshape(2, 3).tolist()]
                if loop == "Weld" and not at_sites:
                    places = [*transforms(data[None, 3:6], data[None, 6:10]), places[0]]
                frames = [self.sites[k] for k in pair] if at_sites else [f"{name}.body1", f"{name}.body2"]
                if read and not at_sites:
                    frames = [self.add_frame(*frame) for frame in zip(frames, bodies, places, strict=True)]
                given = {"frame": frames[0], "to": frames[1], "name": name}
                found.append(ConstraintSpec(loop, {**given, **joint}))
            elif kind == mjtEq.mjEQ_JOINT and not any(data[2:5]):
                if pair[1] < 0 or pair[0] == pair[1] or not data[1]:
                    self.unread.add("joints held at a value (robot.lock holds them)", self.joints[pair[0]])
                    continue
                start, leading = (float(m.qpos0[m.jnt_qposadr[k]]) for k in pair)
                ratios = {self.joints[pair[0]]: 1.0, self.joints[pair[1]]: -data[1]}
                offset = start + data[0] - data[1] * leading
                found.append(ConstraintSpec("Gear", {"ratios": ratios, "offset": offset, "name": name}))
            else:
                self.unread.add(
                    "equality constraints of tendons and flexible bodies, and couplings that are not linear", name
                )
        return tuple(found)

    def model(self) -> Model:
        """Return the model; warn of inertias that no body has."""
        try:
            model = replace(self.builder.assemble(gravity=self.gravity), root=self.links[self.root])
        except TooLargeError as error:
            raise FormatError(f"{self.source}: {error}") from None
        check_bodies(self.source, self.doubtful)
        return model if self.options.base_pose is None else with_base_pose(model, self.options.base_pose)

    def keyframes(self, model: Model) -> Iterator[tuple[str, list[float]]]:
        """Yield the keyframes as configurations, and as ``qpos0`` where MuJoCo starts, unless one has this name."""
        m, joints = self.m, {name: k for k, name in enumerate(self.joints)}
        qpos, columns = np.vstack([m.qpos0[None], m.key_qpos]), list[Any]()
        for body in model.bodies:
            k, joint = joints.get(body.joint_name), body.joint
            if k is None:  # it is a base that floats here only
                columns += [np.full(len(qpos), x) for x in joint.neutral()]
            else:
                own = [qpos[:, m.jnt_qposadr[k] + n] for n in Q_ORDER[self.types[k]]]
                columns += joint.integrate(own, [0.0] * joint.nv) if joint.nv > 1 else own  # quaternions of length 1
        names = ["qpos0", *names_of(m, "keyframe")]
        return zip(names, np.reshape(columns, (-1, len(qpos))).T.tolist(), strict=True)
