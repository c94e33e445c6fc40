"""Actuators of MuJoCo's model, and what they add to the joints that they drive."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.formats.mjcf.codes import (
    ACTUATION,
    BALL,
    CONSTRAINT,
    DAMPER,
    FREE,
    FRICTION,
    HINGE,
    JOINT,
    JOINT_IN_PARENT,
    SLIDE,
    names_of,
)
from kinetree.formats.mjcf.unread import Unread
from kinetree.model import Actuator


class _Motor(NamedTuple):
    """An actuator, its first control, the joint that it drives by itself (else -1), and its six gears."""

    index: int
    name: str
    control: int
    joint: int
    gear: list[float]


def _motors(m: Any) -> Iterator[_Motor]:
    names, count = names_of(m, "actuator"), range(len(m.actuator_trntype))
    controls, outputs = (getattr(m, f"actuator_{which}adr", count) for which in ("ctrl", "out"))
    for k, name in enumerate(names):
        kind, joint, gear = (
            int(m.actuator_trntype[k]),
            int(m.actuator_trnid[k][0]),
            m.actuator_gear[outputs[k]].tolist(),
        )
        at_joint = kind in (JOINT, JOINT_IN_PARENT)
        scalar = at_joint and m.jnt_type[joint] in (SLIDE, HINGE)
        # a force on a free joint has the world's axes, and a moment in the parent's would turn with the joint
        plain = scalar or (kind == JOINT and (m.jnt_type[joint] == BALL or not any(gear[:3])))
        yield _Motor(k, name, int(controls[k]), joint if plain else -1, gear)


def actuators_of(m: Any, joints: Sequence[str], unread: Unread) -> tuple[Actuator, ...]:
    """Return the actuators that drive a joint; others are named, and so are those whose force is a law of their own.

    Where the force is proportional to the control, it is that here: ``τ = gear · gain · u``. Else u is the force.
    """
    found = []
    if m.opt.disableflags & ACTUATION:
        unread.add("switch for actuators, which the file turns off", *names_of(m, "actuator")[:1])
    for k, name, control, joint, gear in _motors(m):
        if joint < 0:
            unread.add("actuators at tendons, sites, bodies and free joints", name)
            continue
        force = _range(m.actuator_forcelimited[k], m.actuator_forcerange[k])
        gain = float(m.actuator_gainprm[k][0])
        if m.actuator_gaintype[k] == m.actuator_biastype[k] == m.actuator_dyntype[k] == 0 and gain:
            limits = _range(m.actuator_ctrllimited[control], m.actuator_ctrlrange[control])
            force = tuple(sorted(x / gain for x in force))
        else:
            unread.add("laws of actuators (servos, muscles, filters), so that u is their force", name)
            gain, limits = 1.0, (-math.inf, math.inf)
        gear = {FREE: [*gear[3:], *gear[:3]], BALL: gear[:3]}.get(int(m.jnt_type[joint]), gear[:1])
        found.append(Actuator(name, joints[joint], tuple(gain * x for x in gear), limits, force))
    return tuple(found)


def resistances_of(m: Any, unread: Unread) -> tuple[list[float], list[float], list[float]]:
    """Return armature, damping and friction of each velocity, with what actuators add by the square of their gear."""
    off = int(m.opt.disableflags)
    added = {"armature": np.array(m.dof_armature), "damping": np.array(m.dof_damping)}
    for what, values in added.items():
        own = getattr(m, f"actuator_{what}", None)  # MuJoCo 3 has none
        if own is None or not np.any(own):
            continue
        for k, name, _, joint, gear in _motors(m):
            if own[k] and joint >= 0 and m.jnt_type[joint] in (SLIDE, HINGE):
                values[m.jnt_dofadr[joint]] += gear[0] ** 2 * own[k]
            elif own[k]:
                unread.add(f"{what} of actuators at others than hinges and slides", name, fatal=what == "armature")
    damping = added["damping"] * (not off & DAMPER)
    friction = m.dof_frictionloss * (not off & (FRICTION | CONSTRAINT))
    return added["armature"].tolist(), damping.tolist(), friction.tolist()


def _range(limited: Any, ends: Any) -> tuple[float, float]:
    return (float(ends[0]), float(ends[1])) if limited else (-math.inf, math.inf)
