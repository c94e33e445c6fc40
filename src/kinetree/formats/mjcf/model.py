"""From MuJoCo's compiled model to a robot: bodies, joints and sites."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from kinetree.errors import FormatError, ModelError, listed, shortened
from kinetree.formats.graph import new_name
from kinetree.formats.load import ReadOptions, RobotFile
from kinetree.formats.mjcf import codes as mj
from kinetree.formats.mjcf.compiler import compiled
from kinetree.formats.mjcf.equipment import actuators_of, geometries_of, resistances_of
from kinetree.formats.mjcf.unread import Unread, constraints_of
from kinetree.formats.xml import IDENTITY, Element, quaternion_rotation
from kinetree.joints import Fixed, FreeFlyer, Joint, Prismatic, Revolute, Spherical
from kinetree.model import JointLimits, Model, ModelBuilder
from kinetree.model.builder import ROOT_JOINT
from kinetree.model.checks import TooLargeError, check_bodies
from kinetree.model.edit import with_base_pose
from kinetree.spatial import Inertia, Transform

NO_NAME: Final = "MuJoCo Model"
Q_ORDER: Final = {mj.FREE: (0, 1, 2, 4, 5, 6, 3), mj.BALL: (1, 2, 3, 0), mj.SLIDE: (0,), mj.HINGE: (0,)}
"""The entries of a joint's qpos in the order of q: quaternions are (w, x, y, z) there."""


def read(document: Any, root: Element | None, options: ReadOptions, constraints: bool) -> RobotFile:
    """Return what MuJoCo's compiler makes of an MJCF document, or what an MjModel or MjSpec is.

    Without `constraints`, those of the file are left out, and named in the warning about all that is.
    """
    m = compiled(document, root)
    source = f"<{type(document).__name__}>" if root is None else root.source
    unread = Unread(m, source)
    tree = _Tree(m, source, options.floating_base, unread)
    try:
        tree.build()
        add_frame = tree.add_frame if constraints else lambda name, *_: name
        specs = constraints_of(m, tree.joints, tree.sites, add_frame, unread)
    except (ModelError, ZeroDivisionError) as error:  # numbers that MuJoCo lets pass
        raise FormatError(f"{source}: {error}") from None
    if constraints and not specs:
        raise FormatError(f"{source}: no constraint of this file closes a loop: kinetree.load reads it")
    if not constraints:
        unread.add("equality constraints (load_mechanism reads them)", *(spec.arguments["name"] for spec in specs))
    model = tree.model(options)
    moving = {body.joint_name for body in model.bodies}
    actuators = tuple(a for a in actuators_of(m, tree.joints, unread.add) if a.joint in moving)
    unread.tell(lenient=options.lenient, strict=options.strict)
    motors = tuple(dict.fromkeys(actuator.joint for actuator in actuators)) or None
    geometry = lambda: geometries_of(m, tree.links)  # noqa: E731
    return RobotFile(model, dict(tree.keyframes(model)), geometry, actuators, specs if constraints else (), motors)


class _Tree:
    """The bodies of a model: `links`, `joints` and `sites` are the names of MuJoCo's, in its order."""

    def __init__(self, m: Any, source: str, floating_base: bool | None, unread: Unread) -> None:
        self.m, self.source, self.unread, self.floating = m, source, unread, floating_base
        self.links, self.joints, self.sites = (mj.names_of(m, kind) for kind in ("body", "joint", "site"))
        self.taken, self.off = {*self.links}, int(m.opt.disableflags)
        self.types, self.parents = m.jnt_type.tolist(), m.body_parentid.tolist()
        firsts = zip(m.body_jntadr.tolist(), m.body_jntnum.tolist(), strict=True)
        self.joints_of = [range(first, first + count) if count else range(0) for first, count in firsts]
        self.root = self._root()
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
            name = shortened(self.joints[self.joints_of[free[0]][0]])
            raise FormatError(
                f"{self.source}: the robot floats already, by joint {name!r}: leave floating_base=True out"
            )
        base = moving or on_world
        if len(base) != 1 or self.joints_of[base[0]]:
            names = listed([shortened(self.links[i]) for i in base])
            raise FormatError(f"{self.source}: floating_base=True takes one robot fixed to the world; this has {names}")
        return base[0]

    def _floats(self, i: int) -> bool:
        return any(self.types[k] == mj.FREE for k in self.joints_of[i])

    def build(self) -> None:
        """Put links, joints and sites into the builder; between several joints of a body are massless links."""
        m, b, fixed = self.m, self.builder, {*self.joints}
        inertias = self.inertias = self._inertias()
        poses = [mj.pose(*given) for given in zip(m.body_pos.tolist(), m.body_quat.tolist(), strict=True)]
        resistances = zip(*resistances_of(m, self.unread.add), strict=True)
        figures = [dict(zip(("armature", "damping", "friction"), row, strict=True)) for row in resistances]
        b.add_link(self.links[0])
        for i, link in enumerate(self.links[1:], start=1):
            parent, at, joints = self.links[self.parents[i]], poses[i], self.joints_of[i]
            if self._floats(i):
                held = self.floating is False
                joints, at = (range(0), at) if held else (joints, Transform.identity())  # else its pose is in q
            for k in joints:
                child = link if k == joints[-1] else self._new(f"{link}.{k - joints[0]}")
                b.add_link(child, inertias.get(child))
                joint, placement, anchor, own = self._joint(k)
                own.update(figures[m.jnt_dofadr[k]], placement=placement @ at, child_placement=anchor)
                b.add_joint(self.joints[k], parent=parent, child=child, joint=joint, **own)
                parent, at = child, Transform.identity()
            if not joints:
                b.add_link(link, inertias.get(link))
                name, joint = new_name(f"{link}.weld", fixed), Fixed()
                if self.floating and i == self.root:
                    name, joint, at = ROOT_JOINT, FreeFlyer(), Transform.identity()
                fixed.add(name)
                b.add_joint(name, parent=parent, child=link, joint=joint, placement=at)
        bodies = {*self.links}
        places = zip(self.sites, m.site_bodyid.tolist(), m.site_pos.tolist(), m.site_quat.tolist(), strict=True)
        self.sites = [
            self.add_frame(f"site:{name}" if name in bodies else name, body, mj.pose(*place))
            for name, body, *place in places
        ]

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
        m = self.m
        R = np.array([quaternion_rotation((x, y, z, w)) for w, x, y, z in m.body_iquat.tolist()])
        about_com = np.einsum("bij,bj,bkj->bik", R, m.body_inertia, R).tolist()
        given = zip(
            self.links, m.body_mass.tolist(), m.body_ipos.tolist(), about_com, m.body_inertia.any(1), strict=True
        )
        return {link: Inertia(mass, com, J) for link, mass, com, J, turns in given if mass or turns}

    def _joint(self, k: int) -> tuple[Joint, Transform, Transform | None, dict[str, Any]]:
        """Return a joint, where it stands in its body before it moves, its anchor, its limits and spring."""
        m, kind, name = self.m, self.types[k], self.joints[k]
        stiffness = 0.0 if self.off & mj.SPRING else float(m.jnt_stiffness[k])
        limited = bool(m.jnt_limited[k]) and not self.off & (mj.LIMIT | mj.CONSTRAINT)
        at = Transform.placed(IDENTITY, m.jnt_pos[k].tolist())
        anchor = at if kind in (mj.HINGE, mj.BALL) and m.jnt_pos[k].any() else None
        if kind in (mj.FREE, mj.BALL):
            self.unread.add("springs of ball and free joints", *[name] * (stiffness != 0.0))
            self.unread.add("limits of ball joints", *[name] * limited)
            return FreeFlyer() if kind == mj.FREE else Spherical(), anchor or Transform.identity(), anchor, {}
        joint = (Revolute if kind == mj.HINGE else Prismatic)(m.jnt_axis[k].tolist())
        lower, upper = m.jnt_range[k].tolist() if limited else (-np.inf, np.inf)
        lower, upper = (x if abs(x) < mj.FAR else np.copysign(np.inf, x) for x in (lower, upper))
        if m.jnt_actfrclimited[k] and m.jnt_actfrcrange[k].sum():
            self.unread.add("efforts with a limit of its own in each direction: the larger one counts", name)
        effort = float(abs(m.jnt_actfrcrange[k]).max()) if m.jnt_actfrclimited[k] else np.inf
        own: dict[str, Any] = {"limits": JointLimits(lower, upper, effort=effort)}
        if stiffness:
            own.update(stiffness=stiffness, rest_position=float(m.qpos_spring[m.jnt_qposadr[k]]))
        reference = float(m.qpos0[m.jnt_qposadr[k]])
        placement = joint.jcalc([-reference], [0.0]).X if reference else Transform.identity()
        return joint, placement @ anchor if anchor else placement, anchor, own

    def model(self, options: ReadOptions) -> Model:
        """Return the model."""
        gravity = options.gravity
        if gravity is None:
            gravity = (0.0, 0.0, 0.0) if self.off & mj.GRAVITY else self.m.opt.gravity.tolist()
        try:
            model = replace(self.builder.assemble(gravity=gravity), root=self.links[self.root])
        except TooLargeError as error:
            raise FormatError(f"{self.source}: {error}") from None
        check_bodies(self.source, self.inertias.items())
        return model if options.base_pose is None else with_base_pose(model, options.base_pose)

    def keyframes(self, model: Model) -> Iterator[tuple[str, list[float]]]:
        """Yield the keyframes as configurations, and as ``qpos0`` the one in which MuJoCo starts."""
        m, joints = self.m, {name: k for k, name in enumerate(self.joints)}
        for name, qpos in zip(["qpos0", *mj.names_of(m, "keyframe")], [m.qpos0, *m.key_qpos], strict=True):
            q = [0.0] * model.nq
            for body in model.leading:
                own, k = [*body.joint.neutral()], joints.get(body.joint_name)
                if k is not None:  # else it is a base that floats here only
                    given = qpos[m.jnt_qposadr[k] + np.array(Q_ORDER[self.types[k]])].tolist()
                    own = [*body.joint.integrate(given, [0.0] * body.joint.nv)]  # quaternions of length 1
                for index, x in zip(body.q_index, own, strict=True):
                    q[index] = float(x)
            yield name, q
