"""What of MuJoCo's model is left out, which is never silent; its equality constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from mujoco import mjtDisableBit, mjtEq, mjtObj

from kinetree.errors import FormatError, listed, shortened, warn_user
from kinetree.formats.load import ConstraintSpec
from kinetree.formats.mjcf.codes import names_of, transforms
from kinetree.joints import Spherical
from kinetree.spatial import Transform

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


def constraints_of(
    m: Any, joints: Sequence[str], sites: Sequence[str], add_frame: Callable[[str, int, Transform], str], unread: Unread
) -> tuple[ConstraintSpec, ...]:
    """Return the constraints: ``connect`` closes a loop at a ball joint, a linear ``joint`` is a gear.

    ``add_frame(name, body, placement)`` puts a frame on a body and returns its name. What is inactive or none of these
    is noted.
    """
    found, off = list[ConstraintSpec](), mjtDisableBit.mjDSBL_EQUALITY | mjtDisableBit.mjDSBL_CONSTRAINT
    for e, name in enumerate(names_of(m, "equality")):
        kind, data, pair = int(m.eq_type[e]), m.eq_data[e], (int(m.eq_obj1id[e]), int(m.eq_obj2id[e]))
        if not m.eq_active0[e] or m.opt.disableflags & off:
            unread.add("equality constraints that are not active", name)
        elif kind in (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD):
            at_sites = int(m.eq_objtype[e]) == mjtObj.mjOBJ_SITE
            bodies = [int(m.site_bodyid[k]) if at_sites else k for k in pair]
            if m.body_weldid[bodies[0]] == m.body_weldid[bodies[1]]:
                unread.add("equality constraints within one body", name)
                continue
            loop, joint = ("Loop", {"joint": Spherical()}) if kind == mjtEq.mjEQ_CONNECT else ("Weld", {})
            places = [Transform.translation(point) for point in data[:6].reshape(2, 3).tolist()]
            if loop == "Weld" and not at_sites:
                places = [*transforms(data[None, 3:6], data[None, 6:10]), places[0]]
            frame, to = (
                sites[pair[k]] if at_sites else add_frame(f"{name}.body{k + 1}", bodies[k], places[k]) for k in (0, 1)
            )
            found.append(ConstraintSpec(loop, {"frame": frame, "to": to, "name": name, **joint}))
        elif kind == mjtEq.mjEQ_JOINT and not any(data[2:5]):
            if pair[1] < 0 or pair[0] == pair[1] or not data[1]:
                unread.add("joints held at a value (robot.lock holds them)", joints[pair[0]])
                continue
            start, leading = (float(m.qpos0[m.jnt_qposadr[k]]) for k in pair)
            ratios = {joints[pair[0]]: 1.0, joints[pair[1]]: -data[1]}
            offset = start + data[0] - data[1] * leading
            found.append(ConstraintSpec("Gear", {"ratios": ratios, "offset": offset, "name": name}))
        else:
            unread.add("equality constraints of tendons and flexible bodies, and couplings that are not linear", name)
    return tuple(found)
