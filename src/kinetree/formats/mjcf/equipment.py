"""What MuJoCo's model has beside bodies and joints: what is left out, which is never silent; motors; shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from mujoco import mjtDisableBit, mjtGeom, mjtJoint, mjtTrn

from kinetree import geometry as shapes
from kinetree.errors import FormatError, listed, shortened, warn_user
from kinetree.formats.mjcf.codes import FREE, given_names, names_of, transforms
from kinetree.geometry import Geometries, Geometry, HeightField, Shape, Triangles
from kinetree.model import Actuator

FORCES: Final = {
    "gravity compensation": ("body", "body_gravcomp"),
    "polynomial springs": ("joint", "jnt_stiffnesspoly"),
    "polynomial damping": ("dof", "dof_dampingpoly"),
    "springs that yield": ("joint", "jnt_springyield"),
    "springs of tendons": ("tendon", "tendon_stiffness", "tendon_stiffnesspoly"),
    "damping of tendons": ("tendon", "tendon_damping", "tendon_dampingpoly"),
    "friction of tendons": ("tendon", "tendon_frictionloss"),
    "limits of tendons": ("tendon", "tendon_limited"),
    "armature of tendons": ("tendon", "tendon_armature"),
    "polynomial damping of actuators": ("actuator", "actuator_dampingpoly"),
}
"""Forces and limits: the kind of thing that has them, and MuJoCo's arrays that are not zero there."""


class Unread:
    """What is left out, each with the names of the things that have it."""

    def __init__(self, m: Any, source: str) -> None:
        self.source, self.found, self.fatal = source, dict[str, list[str]](), dict[str, list[str]]()
        for what, (kind, *arrays) in FORCES.items():
            given = [values for array in arrays if np.any(values := np.asarray(getattr(m, array, ())))]
            rows = {k for values in given for k in np.flatnonzero(values.reshape(len(values), -1).any(1)).tolist()}
            if kind == "dof":
                kind, rows = "joint", {int(m.dof_jntid[k]) for k in rows}
            names = names_of(m, kind) if rows else []
            self.add(what, *(names[k] for k in sorted(rows)), fatal="armature" in what)
        self.add("forces of a fluid", *(what for what in ("density", "viscosity") if getattr(m.opt, what)))
        self.add("flexible bodies", *names_of(m, "flex"))
        self.add("plugins", *names_of(m, "plugin"))
        names = names_of(m, "body") if m.nmocap else []
        self.add("mocap bodies: they stand still", *(name for k, name in enumerate(names) if m.body_mocapid[k] >= 0))

    def add(self, what: str, *names: str, fatal: bool = False) -> None:
        """Note things that have something; without what is `fatal` even the mass matrix would be another one."""
        if names:
            (self.fatal if fatal else self.found).setdefault(what, []).extend(names)

    def tell(self, *, lenient: bool, strict: bool) -> None:
        """Warn of all that was noted; raise with ``strict=True``, and without `lenient` for what is fatal."""
        if self.fatal and not lenient:
            raise FormatError(f"{self.source}: kinetree has no {_text(self.fatal)}; with lenient=True, it is left out")
        found = _text({**self.fatal, **self.found})
        if found and strict:
            raise FormatError(f"{self.source}: what kinetree does not have is an error with strict=True: {found}")
        if found:
            warn_user(f"{self.source}: left out, as kinetree does not have it: {found}")


def _text(found: dict[str, list[str]]) -> str:
    return "; ".join(f"{what} ({len(names)}: {listed([*map(shortened, names)], 3)})" for what, names in found.items())


def motors_of(m: Any, joints: Sequence[str], unread: Unread) -> tuple[list[Actuator], list[dict[str, float]]]:
    """Return the actuators at joints, and armature, damping and friction of each velocity, with what they add to it.

    It is ``τ = gear · gain · u``; where the force has a law of its own, u is the force.
    """
    off, found, names = m.opt.disableflags, list[Actuator](), names_of(m, "actuator")
    resists = not off & (mjtDisableBit.mjDSBL_FRICTIONLOSS | mjtDisableBit.mjDSBL_CONSTRAINT)
    figures = {"armature": m.dof_armature.copy(), "damping": m.dof_damping.copy()}
    unread.add("switch that turns all actuators off", *names[: bool(off & mjtDisableBit.mjDSBL_ACTUATION)])
    one_each = range(len(names))  # in MuJoCo 3, whose actuators have no armature and no damping
    outputs, controls = (getattr(m, f"actuator_{what}adr", one_each) for what in ("out", "ctrl"))
    for k, name in enumerate(names):
        kind, joint, gear = (
            int(m.actuator_trntype[k]),
            int(m.actuator_trnid[k][0]),
            m.actuator_gear[outputs[k]].tolist(),
        )
        of = int(m.jnt_type[joint]) if kind in (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT) else -1
        at_joint = of in (mjtJoint.mjJNT_HINGE, mjtJoint.mjJNT_SLIDE)
        for what, values in figures.items():
            added = getattr(m, f"actuator_{what}")[k] if hasattr(m, f"actuator_{what}") else 0.0
            if added and at_joint:
                values[m.jnt_dofadr[joint]] += gear[0] ** 2 * added
            elif added:
                unread.add(f"{what} of actuators at tendons and ball joints", name, fatal=what == "armature")
        if at_joint or (of == mjtJoint.mjJNT_BALL and kind == mjtTrn.mjTRN_JOINT):
            gear = gear[: 1 if at_joint else 3]
        elif of == FREE and kind == mjtTrn.mjTRN_JOINT and not any(gear[:3]):  # a force would have the world's axes
            gear = [*gear[3:], 0.0, 0.0, 0.0]
        else:
            unread.add("actuators at tendons, sites and bodies", name)
            continue
        gain, limits = float(m.actuator_gainprm[k][0]), (-math.inf, math.inf)
        force = _range(m.actuator_forcelimited[k], m.actuator_forcerange[k])
        if gain and m.actuator_gaintype[k] == m.actuator_biastype[k] == m.actuator_dyntype[k] == 0:
            limits = _range(m.actuator_ctrllimited[controls[k]], m.actuator_ctrlrange[controls[k]])
            gear, force = [gain * x for x in gear], (min(x / gain for x in force), max(x / gain for x in force))
        else:
            unread.add("laws of actuators (servos, muscles, filters), so that u is the force", name)
        found.append(Actuator(name, joints[joint], tuple(gear), limits, force))
    figures["damping"] *= not off & mjtDisableBit.mjDSBL_DAMPER
    figures["friction"] = m.dof_frictionloss * resists
    return found, [dict(zip(figures, row, strict=True)) for row in np.array([*figures.values()]).T.tolist()]


def _range(limited: Any, ends: Any) -> tuple[float, float]:
    return (float(ends[0]), float(ends[1])) if limited else (-math.inf, math.inf)


PRIMITIVES: Final[dict[Any, Callable[[float, float, float], Shape]]] = {
    mjtGeom.mjGEOM_PLANE: lambda x, y, _: shapes.Plane((2 * x or math.inf, 2 * y or math.inf)),
    mjtGeom.mjGEOM_SPHERE: lambda r, *_: shapes.Sphere(r),
    mjtGeom.mjGEOM_CAPSULE: lambda r, half, _: shapes.Capsule(r, 2 * half),
    mjtGeom.mjGEOM_ELLIPSOID: lambda x, y, z: shapes.Ellipsoid((x, y, z)),
    mjtGeom.mjGEOM_CYLINDER: lambda r, half, _: shapes.Cylinder(r, 2 * half),
    mjtGeom.mjGEOM_BOX: lambda x, y, z: shapes.Box((2 * x, 2 * y, 2 * z)),
}
HIDDEN: Final = 3  # MuJoCo's viewer hides groups from this one on: there files put what only touches
NO_COLOR: Final = [0.5, 0.5, 0.5, 1.0]  # then that of the material counts


def geometries_of(m: Any, links: Sequence[str]) -> Geometries:
    """Return the geoms: groups 0 to 2 are seen (all, where these are empty), with a mask or in a pair they touch."""
    names, paired = given_names(m, "geom"), {*np.ravel([m.pair_geom1, m.pair_geom2]).tolist()}
    places, kinds = transforms(m.geom_pos, m.geom_quat), m.geom_type.tolist()

    @cache
    def mesh(k: int) -> Triangles:
        first, face = m.mesh_vertadr[k], m.mesh_faceadr[k]
        vertices = np.array(m.mesh_vert[first : first + m.mesh_vertnum[k]], dtype=np.float64)
        return Triangles(vertices, np.array(m.mesh_face[face : face + m.mesh_facenum[k]], dtype=np.int64))

    def heights(k: int) -> HeightField:
        x, y, top, base = m.hfield_size[k].tolist()
        first, rows, columns = m.hfield_adr[k], m.hfield_nrow[k], m.hfield_ncol[k]
        z = top * np.array(m.hfield_data[first : first + rows * columns], dtype=np.float64).reshape(rows, columns)
        return HeightField((2 * x, 2 * y), tuple(map(tuple, z.tolist())), base)

    def geometry(k: int) -> Geometry:
        data, color, made = int(m.geom_dataid[k]), m.geom_rgba[k].tolist(), PRIMITIVES.get(kinds[k])
        other = heights if kinds[k] == mjtGeom.mjGEOM_HFIELD else mesh
        shape = made(*m.geom_size[k].tolist()) if made else other(data)
        if m.geom_matid[k] >= 0 and color == NO_COLOR:
            color = m.mat_rgba[m.geom_matid[k]].tolist()
        friction = tuple(m.geom_friction[k].tolist())
        masks = int(m.geom_contype[k]), int(m.geom_conaffinity[k])
        return Geometry(links[m.geom_bodyid[k]], shape, places[k], names[k], tuple(color), friction, *masks)

    geoms = {k: geometry(k) for k in range(m.ngeom) if kinds[k] in PRIMITIVES or m.geom_dataid[k] >= 0}
    seen = [k for k in geoms if m.geom_group[k] < HIDDEN] or [*geoms]
    touching = [k for k in geoms if m.geom_contype[k] or m.geom_conaffinity[k] or k in paired]
    return Geometries(tuple(geoms[k] for k in seen), tuple(geoms[k] for k in touching))
