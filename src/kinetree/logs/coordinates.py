"""The names of a robot's coordinates, by which the columns of a table are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Slot = tuple[str, int]
"""A quantity ("t", "q", "v", "a", "tau", "current" or "wrench") and the index of the entry."""

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
QUATERNION = ("qx", "qy", "qz", "qw")
WRENCH = ("nx", "ny", "nz", "fx", "fy", "fz")
"""What a moment and a force add to the name of their frame."""

BASE = {"q": ("x", "y", "z", *QUATERNION)} | dict.fromkeys(("v", "a", "tau", "current"), TWIST)
"""What a floating base adds to its name in q, v, a, tau and current."""


@dataclass(frozen=True)
class Coordinates:
    """The names of the entries of q and of v (and a, tau).

    Those of `Robot.q_names` and `Robot.v_names`: a joint of one coordinate gives it its own name, ``elbow``; one of
    several adds a suffix: a floating base has ``.x .y .z .qx .qy .qz .qw`` in q and ``.wx .wy .wz .vx .vy .vz`` in v.
    A joint that follows another has no entries: `followers` has each such joint, and the one that it follows.
    """

    q: tuple[str, ...]
    v: tuple[str, ...]
    followers: tuple[tuple[str, str], ...] = ()
    wrenches: tuple[str, ...] = ()
    """What measured wrenches are called: frames, or other names of theirs."""

    def names(self, quantity: str) -> tuple[str, ...]:
        """Return the names of the entries of "q", of "v", "a", "tau" or "current", or of "wrench"."""
        if quantity == "wrench":
            return tuple(f"{name}.{end}" for name in self.wrenches for end in WRENCH)
        return self.q if quantity == "q" else self.v

    def columns(self, quantity: str) -> tuple[str, ...]:
        """Return the plain names of the columns of a quantity."""
        return tuple(map(self.call, self.slots([quantity])))

    def call(self, slot: Slot) -> str:
        """Return the plain name of a slot: ``t``, ``q.elbow``."""
        quantity, index = slot
        return "t" if quantity == "t" else f"{quantity}.{self.names(quantity)[index]}"

    def slots(self, quantities: str | Sequence[str]) -> list[Slot]:
        """Return the slots of one or more quantities in turn: of "q", "qva" or ("t", "tau")."""
        return [(x, k) for x in quantities for k in range(1 if x == "t" else len(self.names(x)))]

    @property
    def base(self) -> str | None:
        """The joint that floats freely, if there is exactly one."""
        joints = [(k, name.removesuffix(".x")) for k, name in enumerate(self.q) if name.endswith(".x")]
        floating = [joint for k, joint in joints if self.q[k : k + 7] == tuple(f"{joint}.{x}" for x in BASE["q"])]
        return floating[0] if len(floating) == 1 else None

    def of_base(self, quantity: str) -> range:
        """Return the indices of the floating base's entries; none if nothing floats."""
        if self.base is None or quantity not in BASE:
            return range(0)
        first = self.names(quantity).index(f"{self.base}.{BASE[quantity][0]}")
        return range(first, first + len(BASE[quantity]))

    @property
    def quaternions(self) -> list[int]:
        """The index in q of every quaternion's first entry."""
        ends = [name.rpartition(".")[2] for name in self.q]
        return [k for k in range(len(ends)) if tuple(ends[k : k + 4]) == QUATERNION]


def some(names: Sequence[str], most: int = 6) -> str:
    """Return the first few names of a list, and how many there are if that is not all.

    Examples
    --------
    >>> some(["a", "b"]), some(["a", "b", "c", "d"], 2)
    ('a, b', 'a, b, … (4 in all)')
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])}, … ({len(names)} in all)"
