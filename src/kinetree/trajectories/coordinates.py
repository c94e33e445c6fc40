"""The names of a robot's coordinates, as a table's columns are called by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Slot = tuple[str, int]
"""A quantity ("t", "q", "v" or "a") and the index of the entry."""

BASE = {"q": ("x", "y", "z", "qx", "qy", "qz", "qw"), "v": ("wx", "wy", "wz", "vx", "vy", "vz")}
"""What a floating base adds to its name in q, and in v (and a)."""

QUATERNION = BASE["q"][3:]


@dataclass(frozen=True)
class Coordinates:
    """The names of the entries of q and of v (and a, tau).

    Those of `Robot.q_names` and `Robot.v_names`: a joint of one coordinate gives it its own name, ``elbow``; one of
    several adds a suffix: a floating base has ``.x .y .z .qx .qy .qz .qw`` in q and ``.wx .wy .wz .vx .vy .vz`` in v.
    """

    q: tuple[str, ...]
    v: tuple[str, ...]

    def names(self, quantity: str) -> tuple[str, ...]:
        """Return the names of the entries of "q", or of "v" or "a"."""
        return self.q if quantity == "q" else self.v

    def call(self, slot: Slot) -> str:
        """Return the plain name of a slot: ``t``, ``q.elbow``."""
        quantity, index = slot
        return "t" if quantity == "t" else f"{quantity}.{self.names(quantity)[index]}"

    def slots(self, quantity: str) -> list[Slot]:
        """Return the slots of "q", "v" or "a"."""
        return [(quantity, k) for k in range(len(self.names(quantity)))]

    @property
    def base(self) -> str | None:
        """The joint that floats freely, if there is exactly one."""
        floating = [
            name.removesuffix(".qw")
            for k, name in enumerate(self.q)
            if self.q[k - 6 : k + 1] == tuple(f"{name.removesuffix('qw')}{x}" for x in BASE["q"])
        ]
        return floating[0] if len(floating) == 1 else None

    def of_base(self, quantity: str) -> list[int]:
        """Return the indices of the floating base's entries; none if nothing floats."""
        if self.base is None:
            return []
        first = self.names(quantity).index(f"{self.base}.{BASE['q' if quantity == 'q' else 'v'][0]}")
        return list(range(first, first + (7 if quantity == "q" else 6)))

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
