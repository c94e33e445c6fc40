"""What MuJoCo's model may have that has no place in a robot here: named, never silent."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kinetree.errors import FormatError, listed, shortened, warn_user
from kinetree.formats.mjcf.codes import names_of

FORCES: Final = {
    "gravity compensation": ("body", "body_gravcomp"),
    "polynomial springs": ("joint", "jnt_stiffnesspoly"),
    "polynomial damping": ("dof", "dof_dampingpoly"),
    "springs that yield": ("joint", "jnt_springyield"),
    "springs of tendons": ("tendon", "tendon_stiffness", "tendon_stiffnesspoly"),
    "damping of tendons": ("tendon", "tendon_damping", "tendon_dampingpoly"),
    "friction of tendons": ("tendon", "tendon_frictionloss"),
    "limits of tendons": ("tendon", "tendon_limited"),
    "polynomial damping of actuators": ("actuator", "actuator_dampingpoly"),
}
"""Forces and limits by the kind of thing that has them, and MuJoCo's arrays that are not zero there."""


class Unread:
    """What is left out, each kind of thing with the names of those."""

    def __init__(self, source: str) -> None:
        self.source, self.found, self.fatal = source, dict[str, list[str]](), dict[str, list[str]]()

    def add(self, what: str, *names: str, fatal: bool = False) -> None:
        """Note things of a kind; `fatal` are those without which even the mass matrix is another one."""
        if names:
            (self.fatal if fatal else self.found).setdefault(what, []).extend(names)

    def find(self, m: Any) -> None:
        """Note the forces that have no place here."""
        for what, (kind, *arrays) in FORCES.items():
            rows = {k for array in arrays for k in _nonzero(getattr(m, array, None))}
            if kind == "dof":
                kind, rows = "joint", {int(m.dof_jntid[k]) for k in rows}
            if rows:
                names = names_of(m, kind)
                self.add(what, *(names[k] for k in sorted(rows)))
        if _nonzero(m.tendon_armature):
            names = names_of(m, "tendon")
            self.add("armature of tendons", *(names[k] for k in _nonzero(m.tendon_armature)), fatal=True)
        fluid = {"density": m.opt.density, "viscosity": m.opt.viscosity}
        self.add("forces of a fluid", *(name for name, value in fluid.items() if value))
        self.add("flexible bodies", *names_of(m, "flex"))
        self.add("plugins", *names_of(m, "plugin"))
        if m.nmocap:
            names = names_of(m, "body")
            self.add("mocap bodies, which stand still", *(names[k] for k in np.flatnonzero(m.body_mocapid >= 0)))

    def tell(self, *, lenient: bool, strict: bool) -> None:
        """Warn of all that was found, or raise with ``strict=True``; what is fatal is an error without `lenient`."""
        if self.fatal and not lenient:
            raise FormatError(f"{self.source}: kinetree has no {_text(self.fatal)} (with lenient=True, it is left out)")
        found = {**self.fatal, **self.found}
        if found and strict:
            raise FormatError(f"{self.source}: strict=True, and kinetree has no {_text(found)}")
        if found:
            warn_user(f"{self.source}: left out, as kinetree has none: {_text(found)}")


def _text(found: dict[str, list[str]]) -> str:
    return "; ".join(f"{what} ({len(names)}: {listed([*map(shortened, names)], 3)})" for what, names in found.items())


def _nonzero(array: Any) -> list[int]:
    """Return the rows of an array, of each thing of a kind, that are not zero; MuJoCo of today may not have it."""
    if array is None or not len(array):
        return []
    return [int(k) for k in np.flatnonzero(np.any(np.reshape(array, (len(array), -1)), axis=1))]
