"""Shapes and motors of MuJoCo's model."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from mujoco import mjtDisableBit, mjtGeom, mjtJoint, mjtTrn

from kinetree import geometry as shapes
from kinetree.formats.mjcf.codes import FREE, given_names, names_of, transforms
from kinetree.geometry import Geometries, Geometry, HeightField, Shape, Triangles
from kinetree.model import Actuator

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
Note: TypeAlias = Callable[..., None]  # `Unread.add`


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
        kind, data, color = kinds[k], int(m.geom_dataid[k]), m.geom_rgba[k].tolist()
        made = PRIMITIVES.get(kind)
        shape = (
            made(*m.geom_size[k].tolist()) if made else heights(data) if kind == mjtGeom.mjGEOM_HFIELD else mesh(data)
        )
        if m.geom_matid[k] >= 0 and color == NO_COLOR:
            color = m.mat_rgba[m.geom_matid[k]].tolist()
        friction = tuple(m.geom_friction[k].tolist())
        masks = int(m.geom_contype[k]), int(m.geom_conaffinity[k])
        return Geometry(links[m.geom_bodyid[k]], shape, places[k], names[k], tuple(color), friction, *masks)

    geoms = {k: geometry(k) for k in range(m.ngeom) if kinds[k] in PRIMITIVES or m.geom_dataid[k] >= 0}
    seen = [k for k in geoms if m.geom_group[k] < HIDDEN] or [*geoms]
    touching = [k for k in geoms if m.geom_contype[k] or m.geom_conaffinity[k] or k in paired]
    return Geometries(tuple(geoms[k] for k in seen), tuple(geoms[k] for k in touching))


class Motor(NamedTuple):
    """An actuator by its number and name, and the joint that it drives by itself (else -1) with its gear."""

    k: int
    name: str
    joint: int
    gear: list[float]


def motors_of(m: Any) -> list[Motor]:
    """Return the actuators."""
    found, names = list[Motor](), names_of(m, "actuator")
    outputs = getattr(m, "actuator_outadr", range(len(names)))  # MuJoCo 3 has one each
    for k, name in enumerate(names):
        kind, joint, gear = (
            int(m.actuator_trntype[k]),
            int(m.actuator_trnid[k][0]),
            m.actuator_gear[outputs[k]].tolist(),
        )
        at_joint = kind in (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT)
        of = int(m.jnt_type[joint]) if at_joint else None
        if of in (mjtJoint.mjJNT_HINGE, mjtJoint.mjJNT_SLIDE):
            found.append(Motor(k, name, joint, gear[:1]))
        elif of == mjtJoint.mjJNT_BALL and kind == mjtTrn.mjTRN_JOINT:
            found.append(Motor(k, name, joint, gear[:3]))
        elif of == FREE and kind == mjtTrn.mjTRN_JOINT and not any(gear[:3]):  # a force would have the world's axes
            found.append(Motor(k, name, joint, [*gear[3:], 0.0, 0.0, 0.0]))
        else:
            found.append(Motor(k, name, -1, gear))
    return found


def actuators_of(m: Any, motors: Sequence[Motor], joints: Sequence[str], note: Note) -> tuple[Actuator, ...]:
    """Return the actuators at joints: ``τ = gear · gain · u``; where the force has a law of its own, u is the force."""
    found = []
    if motors and m.opt.disableflags & mjtDisableBit.mjDSBL_ACTUATION:
        note("switch that turns all actuators off", motors[0].name)
    controls = getattr(m, "actuator_ctrladr", range(len(motors)))
    for k, name, joint, gear in motors:
        if joint < 0:
            note("actuators at tendons, sites and bodies", name)
            continue
        gain, limits = float(m.actuator_gainprm[k][0]), (-math.inf, math.inf)
        force = _range(m.actuator_forcelimited[k], m.actuator_forcerange[k])
        if gain and m.actuator_gaintype[k] == m.actuator_biastype[k] == m.actuator_dyntype[k] == 0:
            limits = _range(m.actuator_ctrllimited[controls[k]], m.actuator_ctrlrange[controls[k]])
            gear, force = [gain * x for x in gear], (min(x / gain for x in force), max(x / gain for x in force))
        else:
            note("laws of actuators (servos, muscles, filters), so that u is the force", name)
        found.append(Actuator(name, joints[joint], tuple(gear), limits, force))
    return tuple(found)


def _range(limited: Any, ends: Any) -> tuple[float, float]:
    return (float(ends[0]), float(ends[1])) if limited else (-math.inf, math.inf)


def resistances_of(m: Any, motors: Sequence[Motor], note: Note) -> list[tuple[float, float, float]]:
    """Return armature, damping and friction of each velocity, with what actuators add by the square of their gear."""
    off, armature, damping = int(m.opt.disableflags), m.dof_armature.copy(), m.dof_damping.copy()
    for what, values in (("armature", armature), ("damping", damping)):
        own = getattr(m, f"actuator_{what}", np.zeros(0))  # MuJoCo 3 has none
        for k, name, joint, gear in motors if own.any() else ():
            if own[k] and joint >= 0 and len(gear) == 1:
                values[m.jnt_dofadr[joint]] += gear[0] ** 2 * own[k]
            elif own[k]:
                note(f"{what} of actuators at tendons and ball joints", name, fatal=what == "armature")
    damping *= not off & mjtDisableBit.mjDSBL_DAMPER
    friction = m.dof_frictionloss * (not off & (mjtDisableBit.mjDSBL_FRICTIONLOSS | mjtDisableBit.mjDSBL_CONSTRAINT))
    return [*zip(armature.tolist(), damping.tolist(), friction.tolist(), strict=True)]
