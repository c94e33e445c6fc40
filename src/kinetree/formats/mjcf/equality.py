"""Equality constraints of MuJoCo's model, as constraints of a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kinetree.formats.load import ConstraintSpec
from kinetree.formats.mjcf.codes import CONNECT, CONSTRAINT, EQUALITY, JOINT_EQUALITY, SITE, WELD, names_of, pose
from kinetree.formats.mjcf.unread import Unread
from kinetree.formats.xml import IDENTITY
from kinetree.joints import Spherical
from kinetree.spatial import Transform


def constraints_of(
    m: Any, add_frame: Callable[[str, int, Transform], str], sites: Sequence[str], joints: Sequence[str], unread: Unread
) -> tuple[ConstraintSpec, ...]:
    """Return the constraints; what is inactive, or none that a mechanism has, is noted.

    ``connect`` is a loop that closes at a ball joint, ``weld`` a weld, and a linear ``joint`` a gear. ``add_frame(name,
    body, placement)`` returns the name under which it has put a frame on a body.
    """
    found = []
    for e, name in enumerate(names_of(m, "equality")):
        kind, data = int(m.eq_type[e]), m.eq_data[e].tolist()
        first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        if not m.eq_active0[e] or m.opt.disableflags & (EQUALITY | CONSTRAINT):
            unread.add("equality constraints that are not active", name)
        elif kind in (CONNECT, WELD):
            at_sites = m.eq_objtype[e] == SITE
            bodies = [int(m.site_bodyid[k]) for k in (first, second)] if at_sites else [first, second]
            if len({int(m.body_weldid[k]) for k in bodies}) == 1:
                unread.add("equality constraints within one body", name)
                continue
            if at_sites:
                frames = [sites[first], sites[second]]
            else:
                here, there = Transform.placed(IDENTITY, data[:3]), Transform.placed(IDENTITY, data[3:6])
                if kind == WELD:  # the second body's frame stands so in the first's
                    here, there = pose(data[3:6], data[6:10]), Transform.identity()
                sides = zip(("body1", "body2"), bodies, (here, there), strict=True)
                frames = [add_frame(f"{name}.{side}", body, placement) for side, body, placement in sides]
            closing = {"frame": frames[0], "to": frames[1], "name": name}
            if kind == CONNECT:
                found.append(ConstraintSpec("Loop", {**closing, "joint": Spherical()}))
            else:
                found.append(ConstraintSpec("Weld", closing))
        elif kind == JOINT_EQUALITY:
            offset, factor, *rest = data[:5]
            if any(rest):
                unread.add("couplings of joints that are not linear", name)
            elif second < 0 or not factor or first == second:
                unread.add("joints held at a value, which robot.lock holds too", joints[first])
            else:
                start, leading = (float(m.qpos0[m.jnt_qposadr[k]]) for k in (first, second))
                ratios = {joints[first]: 1.0, joints[second]: -factor}
                given = {"ratios": ratios, "offset": start + offset - factor * leading, "name": name}
                found.append(ConstraintSpec("Gear", given))
        else:
            unread.add("equality constraints of tendons and flexible bodies", name)
    return tuple(found)
