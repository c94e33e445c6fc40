"""From MuJoCo's compiled model to a robot: bodies, joints and sites, and the rest by the other modules of this room."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from kinetree.errors import FormatError, ModelError, listed, shortened
from kinetree.formats.load import ReadOptions, RobotFile
from kinetree.formats.mjcf.codes import (
    BALL,
    CONSTRAINT,
    FREE,
    GRAVITY,
    HINGE,
    LIMIT,
    SLIDE,
    SPRING,
    names_of,
    new_name,
    pose,
)
from kinetree.formats.mjcf.compiler import compiled
from kinetree.formats.mjcf.equality import constraints_of
from kinetree.formats.mjcf.geometry import geometries_of
from kinetree.formats.mjcf.motors import actuators_of, resistances_of
from kinetree.formats.mjcf.unread import Unread
from kinetree.formats.xml import IDENTITY, Element, quaternion_rotation
from kinetree.joints import Fixed, FreeFlyer, Joint, Prismatic, Revolute, Spherical
from kinetree.model import JointLimits, Model, ModelBuilder
from kinetree.model.builder import ROOT_JOINT
from kinetree.model.checks import TooLargeError, check_bodies
from kinetree.model.edit import with_base_pose
from kinetree.spatial import Inertia, Transform

NO_NAME: Final = "MuJoCo Model"
TO_Q: Final = {FREE: (0, 1, 2, 4, 5, 6, 3), BALL: (1, 2, 3, 0), SLIDE: (0,), HINGE: (0,)}
"""Entries of qpos in the order of q: quaternions are (w, x, y, z) there."""


def read(document: Any, root: Element | None, options: ReadOptions, constraints: bool) -> RobotFile:
    """Return what MuJoCo's compiler makes of an MJCF document, or what an MjModel or MjSpec is.

    Without `constraints`, those of the file are left out, and named in the warning about all that is.
    """
    m = compiled(document, root)
    source = f"<{type(document).__name__}>" if root is None else root.source
    unread = Unread(source)
    unread.find(m)
    tree = _Tree(m, source, options.floating_base, unread)
    try:
        tree.build()
        specs = constraints_of(m, tree.add_frame if constraints else _no_frame, tree.sites, tree.joints, unread)
    except ModelError as error:  # numbers that MuJoCo lets pass
        raise FormatError(f"{source}: {error}") from None
    if constraints and not specs:
        raise FormatError(f"{source}: there is no closed loop in this file: kinetree.load reads it")
    if not constraints:
        unread.add("equality constraints, which load_mechanism reads", *(str(spec.arguments["name"]) for spec in specs))
    model = tree.model(options)
    moving = {body.joint_name for body in model.bodies}
    actuators = tuple(actuator for actuator in actuators_of(m, tree.joints, unread) if actuator.joint in moving)
    unread.tell(lenient=options.lenient, strict=options.strict)
    return RobotFile(
        model,
        dict(tree.keyframes(model)),
        lambda: geometries_of(m, tree.links),
        actuators,
        specs if constraints else (),
        tuple(dict.fromkeys(actuator.joint for actuator in actuators)) or None,
    )


def _no_frame(name: str, body: int, placement: Transform) -> str:
    return name


class _Tree:
    """The bodies of a model: `links`, `joints` and `sites` are the names of MuJoCo's, in its order."""

    def __init__(self, m: Any, source: str, floating_base: bool | None, unread: Unread) -> None:
        self.m, self.source, self.unread, self.floating = m, source, unread, floating_base
        self.links, self.joints, self.sites = (names_of(m, kind) for kind in ("body", "joint", "site"))
        self.taken = {*self.links}
        self.types, self.first, self.count = m.jnt_type.tolist(), m.body_jntadr.tolist(), m.body_jntnum.tolist()
        self.parents = m.body_parentid.tolist()
        self.root = self._root()
        name = bytes(m.names).split(b"\0", 1)[0].decode("utf-8", "replace")
        file = os.path.basename(source) if name == NO_NAME and os.path.isfile(source) else ""
        self.builder = ModelBuilder(os.path.splitext(file)[0] or name)
        self.inertias: dict[str, Inertia] = {}

    def _root(self) -> int:
        """Return the root link: the body of the only tree that moves, if it floats or is to; else the world."""
        on_world = [i for i, parent in enumerate(self.parents) if parent == 0 and i]
        moving = sorted({*self.m.body_rootid[self.m.dof_bodyid].tolist()})
        free = [i for i in on_world if self.count[i] and self.types[self.first[i]] == FREE]
        if not self.floating:
            return free[0] if len(free) == 1 and moving == free else 0
        if free:
            name = shortened(self.joints[self.first[free[0]]])
            raise FormatError(
                f"{self.source}: the robot floats already, by joint {name!r}: leave floating_base=True out"
            )
        base = moving or on_world
        if len(base) != 1 or self.count[base[0]]:
            raise FormatError(
                f"{self.source}: floating_base=True takes one robot whose base is fixed to the world, without a joint; "
                f"on the world stand {listed([shortened(self.links[i]) for i in base])}"
            )
        return base[0]

    def build(self) -> None:
        """Put links, joints and sites into the builder; several joints of a body have massless links between."""
        m, b, off = self.m, self.builder, int(self.m.opt.disableflags)
        inertias, bodies = self._inertias(), {*self.links}
        poses = [pose(*given) for given in zip(m.body_pos.tolist(), m.body_quat.tolist(), strict=True)]
        armature, damping, friction = resistances_of(m, self.unread)
        b.add_link(self.links[0])
        fixed = {*self.joints}
        for i, link in enumerate(self.links[1:], start=1):
            parent, at = self.links[self.parents[i]], poses[i]
            joints = range(self.first[i], self.first[i] + self.count[i])
            if self.floating is False and joints and self.types[joints[0]] == FREE:
                joints = range(0)
            if joints and self.types[joints[0]] == FREE:
                at = Transform.identity()  # its pose is in q
            for k in joints:
                child = link if k == joints[-1] else self._new(f"{link}.{k - joints[0]}")
                b.add_link(child, inertias.get(child))
                joint, placement, anchor, figures = self._joint(k, off)
                d = int(m.jnt_dofadr[k])
                b.add_joint(
                    self.joints[k], parent=parent, child=child, joint=joint, placement=placement @ at,
                    child_placement=anchor, armature=armature[d], damping=damping[d], friction=friction[d], **figures,
                )  # fmt: skip
                parent, at = child, Transform.identity()
            if not joints:
                b.add_link(link, inertias.get(link))
                name, joint = new_name(f"{link}.weld", fixed), Fixed()
                if self.floating and i == self.root:
                    name, joint, at = ROOT_JOINT, FreeFlyer(), Transform.identity()
                fixed.add(name)
                b.add_joint(name, parent=parent, child=link, joint=joint, placement=at)
        places = zip(m.site_bodyid.tolist(), m.site_pos.tolist(), m.site_quat.tolist(), strict=True)
        self.sites = [
            self.add_frame(f"site:{name}" if name in bodies else name, body, pose(*place))
            for name, (body, *place) in zip(self.sites, places, strict=True)
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
        self.inertias = {link: Inertia(mass, com, J) for link, mass, com, J, turns in given if mass or turns}
        return self.inertias

    def _joint(self, k: int, off: int) -> tuple[Joint, Transform, Transform | None, dict[str, Any]]:
        """Return a joint, its placement in its body's own frame before it moves, its anchor, its limits and spring."""
        m, kind, figures = self.m, self.types[k], dict[str, Any]()
        address = int(m.jnt_qposadr[k])
        stiffness = 0.0 if off & SPRING else float(m.jnt_stiffness[k])
        limited = bool(m.jnt_limited[k]) and not off & (LIMIT | CONSTRAINT)
        if kind in (FREE, BALL):
            self.unread.add("springs of ball and free joints", *[self.joints[k]] * bool(stiffness))
            self.unread.add("limits of ball joints", *[self.joints[k]] * limited)
            if kind == FREE:
                return FreeFlyer(), Transform.identity(), None, figures
            anchor = Transform.placed(IDENTITY, m.jnt_pos[k].tolist())
            return Spherical(), anchor, anchor, figures
        joint = (Revolute if kind == HINGE else Prismatic)(m.jnt_axis[k].tolist())
        lower, upper = m.jnt_range[k].tolist() if limited else (-np.inf, np.inf)
        effort = float(abs(m.jnt_actfrcrange[k]).max()) if m.jnt_actfrclimited[k] else np.inf
        figures["limits"] = JointLimits(lower, upper, effort=effort)
        if stiffness:
            figures.update(stiffness=stiffness, rest_position=float(m.qpos_spring[address]))
        at_zero = joint.jcalc([-float(m.qpos0[address])], [0.0]).X
        if kind == SLIDE:
            return joint, at_zero, None, figures
        anchor = Transform.placed(IDENTITY, m.jnt_pos[k].tolist())
        return joint, at_zero @ anchor, anchor, figures

    def model(self, options: ReadOptions) -> Model:
        """Return the model: that of the builder, with its root and what differs between the velocities of a joint."""
        m, root = self.m, self.links[self.root]
        gravity = options.gravity
        if gravity is None:
            gravity = (0.0, 0.0, 0.0) if int(m.opt.disableflags) & GRAVITY else m.opt.gravity.tolist()
        try:
            model = replace(self.builder.assemble(gravity=gravity), root=root)
        except TooLargeError as error:
            raise FormatError(f"{self.source}: {error}") from None
        check_bodies(self.source, self.inertias.items())
        return model if options.base_pose is None else with_base_pose(model, options.base_pose)

    def keyframes(self, model: Model) -> Iterator[tuple[str, list[float]]]:
        """Yield the keyframes as configurations, and the one that MuJoCo starts from as ``qpos0``."""
        m, joints = self.m, {name: k for k, name in enumerate(self.joints)}
        for name, qpos in zip(["qpos0", *names_of(m, "keyframe")], [m.qpos0, *m.key_qpos], strict=True):
            q = np.zeros(model.nq)
            for body in model.leading:
                if (k := joints.get(body.joint_name)) is None:  # a base that floats here
                    q[[*body.q_index]] = body.joint.neutral()
                    continue
                own = qpos[m.jnt_qposadr[k] :][[*TO_Q[self.types[k]]]].tolist()
                q[[*body.q_index]] = body.joint.integrate(own, [0.0] * body.joint.nv)  # quaternions of length 1
            yield name, q.tolist()
