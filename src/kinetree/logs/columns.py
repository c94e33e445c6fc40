"""The columns of tables: quantities with words and units, a robot's coordinates, and what to say of these."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.errors import FormatError

Slot = tuple[str, int]
"""A quantity and the index of the entry."""


class Quantity(NamedTuple):
    """The words that a column's name may use, the units as `_plain` writes them, and these for people."""

    words: tuple[str, ...]
    units: tuple[str, ...]
    expected: str

    @classmethod
    def of(cls, words: str, units: str, expected: str) -> Quantity:
        """Return a quantity whose words and units are separated by blanks."""
        return cls(tuple(words.split()), tuple(units.split()), expected)


QUANTITIES: Mapping[str, Quantity] = {
    "t": Quantity.of("t time time_s t_s timestamp __time", "s sec secs second seconds", "s"),
    "q": Quantity.of(
        "q pos position positions theta angle angles",
        "rad rads radian radians m meter meters metre metres -",
        "rad or m",
    ),
    "v": Quantity.of(
        "v qd dq vel velocity velocities qdot dotq q_dot",
        "rad/s m/s rad/sec m/sec rads-1 ms-1",
        "rad/s or m/s",
    ),
    "a": Quantity.of(
        "a qdd ddq acc accel acceleration accelerations qddot ddotq q_ddot",
        "rad/s2 m/s2 rad/sec2 m/sec2 rad/s/s m/s/s rads-2 ms-2",
        "rad/s² or m/s²",
    ),
    "tau": Quantity.of(
        "tau torque torques effort efforts eff force forces moment motor_torque tau_j",
        "nm n.m n-m n newtonmeter newtonmetre newton",
        "N·m or N",
    ),
    "current": Quantity.of("current currents motor_current i", "a amp amps ampere amperes", "A"),
    "wrench": Quantity.of("wrench wrenches ft", "nm n.m n-m n newtonmeter newtonmetre newton", "N·m or N"),
}
"""What a table may hold."""

MOTION = ("q", "v", "a")
SAVED = (*MOTION, "tau")
LOG = (*SAVED, "current")
WRENCHES = (*LOG, "wrench")
"""What is read beside the time: of motions, of saved ones, of recorded ones, and of those with measured wrenches."""

FORCES = ("tau", "current")
"""What drives the joints; of these a log must have one."""

OTHERS: Mapping[str, str] = {
    "seconds": "ms msec millis milliseconds us µs usec microseconds ns nsec min h",
    "radians": "deg degs degree degrees ° rev turns ticks",
    "metres": "mm cm km in inch ft",
    "rad/s": "deg/s degs/s degrees/s °/s deg/sec rpm rev/min rev/s",
    "m/s": "mm/s cm/s km/h",
    "rad/s²": "deg/s2 degrees/s2 °/s2 deg/s/s",
    "m/s²": "mm/s2 cm/s2 g",
    "N·m": "mnm ncm knm kgfm kgfcm lbft ftlb inlb",
    "A": "ma milliamp milliamps ka",
}
"""What to give instead of units that are known, and are not those of the SI."""

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
QUATERNION = ("qx", "qy", "qz", "qw")
WRENCH = ("nx", "ny", "nz", "fx", "fy", "fz")
"""What a moment and a force add to the name of their frame."""

BASE = {"q": ("x", "y", "z", *QUATERNION)} | dict.fromkeys(("v", "a", *FORCES), TWIST)
"""What a floating base adds to its name."""


@dataclass(frozen=True)
class Coordinates:
    """The names of the entries of q and of v (and a, tau); the joints that follow, with those that they do.

    And what measured wrenches are called: frames, or other names of theirs.
    """

    q: tuple[str, ...]
    v: tuple[str, ...]
    followers: tuple[tuple[str, str], ...] = ()
    wrenches: tuple[str, ...] = ()

    def names(self, quantity: str) -> tuple[str, ...]:
        """Return the names of the entries of a quantity other than the time."""
        if quantity == "wrench":
            return tuple(f"{name}.{end}" for name in self.wrenches for end in WRENCH)
        return self.q if quantity == "q" else self.v

    def call(self, slot: Slot) -> str:
        """Return the plain name of a slot: ``t``, ``q.elbow``."""
        quantity, index = slot
        return "t" if quantity == "t" else f"{quantity}.{self.names(quantity)[index]}"

    def slots(self, *quantities: str) -> list[Slot]:
        """Return the slots of quantities in turn."""
        return [(x, k) for x in quantities for k in range(1 if x == "t" else len(self.names(x)))]

    def columns(self, quantity: str) -> tuple[str, ...]:
        """Return the plain names of the columns of a quantity."""
        return tuple(map(self.call, self.slots(quantity)))

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

    def of_joints(self, quantity: str) -> list[int]:
        """Return the indices of all other entries."""
        base = self.of_base(quantity)
        return [k for k in range(len(self.names(quantity))) if k not in base]

    @property
    def quaternions(self) -> list[int]:
        """The index in q of every quaternion's first entry."""
        ends = [name.rpartition(".")[2] for name in self.q]
        return [k for k in range(len(ends)) if tuple(ends[k : k + 4]) == QUATERNION]


def some(names: Sequence[str], most: int = 6) -> str:
    """Return the first few names of a list, and how many there are if that is not all: "a, b, … (4 in all)"."""
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])}, … ({len(names)} in all)"


_BRACKETED = re.compile(r"(.*?)[ _.]*[\[(]([^\[\]()]*[^\[\]()\d][^\[\]()]*)[\])]")
_SUFFIXED = re.compile(
    r"(.+?)[ _.](rad|radians|sec|seconds|ms|msec|millis|us|usec|ns|nsec|mm|cm|deg|degs|degrees|rpm|deg/s"
    r"|nm|mnm|ma|amps)",
    re.IGNORECASE,
)


def split_unit(name: str) -> tuple[str, str | None]:
    """Return a column's name without its unit, and the unit: that of "Time (s)", "q[1] [rad]" or "t_ms"."""
    match = _BRACKETED.fullmatch(name) or _SUFFIXED.fullmatch(name)
    return (match[1], match[2]) if match else (name, None)


def is_si(unit: str | None, quantity: str) -> bool:
    """Return whether a unit is that in which a quantity is read; none at all is."""
    return not unit or not _plain(unit) or _plain(unit) in QUANTITIES[quantity].units


def wrong_unit(name: str, unit: str, quantity: str) -> FormatError:
    """Return the error for a column whose unit is not that of its quantity."""
    for instead, units in OTHERS.items():
        if _plain(unit) in units.split():
            return FormatError(f"the column {name!r} is in {unit}: give {instead}")
    expected = QUANTITIES[quantity].expected
    return FormatError(f"the unit {unit!r} of the column {name!r} is not read: expected {expected}")


def _plain(unit: str) -> str:
    return re.sub(r"[\s^*·]", "", unit.lower().replace("²", "2").replace("⁻", "-").replace("¹", "1"))


DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
NO_DECIMAL_COMMAS = "decimal commas are not read: write 0.5, not 0,5"

_LIKE_A = re.compile(r"acc|alpha|ddot|dotdot|dd(?![a-z])", re.IGNORECASE)
_LIKE_V = re.compile(r"vel|speed|omega|dot|rate", re.IGNORECASE)


def expected_columns(coordinates: Coordinates, quantities: Sequence[str] = MOTION) -> str:
    """Return a sentence that lists the columns which a table should have, the first few of each quantity."""
    every = ["t"]
    for quantity in quantities:
        names = coordinates.columns(quantity)
        every += names if len(names) <= 3 else [*names[:2], "…"]
    rest = "; of tau and current, one is enough" if "current" in quantities else ""
    return f"Expected columns: {', '.join(every)} (v and a may be left out if there is t{rest})"


def not_understood(ignored: Sequence[str], coordinates: Coordinates, known: Sequence[str] = ()) -> str:
    """Return a sentence that names the columns which mean nothing, with the nearest known spelling; or nothing."""
    if not ignored:
        return ""
    names = list(ignored)
    for k, name in enumerate(names[:6]):
        if near := difflib.get_close_matches(name, known, n=1, cutoff=0.8):
            names[k] = f"{name} (did you mean {near[0]}?)"
    return f" Not understood: {some(names)}.{following(ignored, coordinates)}"


def following(ignored: Sequence[str], coordinates: Coordinates) -> str:
    """Return a sentence about columns of joints that follow others; or nothing."""
    found = [
        f"{joint} follows {leader}"
        for joint, leader in coordinates.followers
        if any(re.search(rf"(^|\W|^\w{{,3}}_){re.escape(joint)}(_\w{{,3}}$|\W|$)", name) for name in ignored)
    ]
    return f" {some(found, 3)}: such joints have no columns of their own." if found else ""


def without_base(coordinates: Coordinates) -> str:
    """Return the advice about a motion of the joints alone, for a robot whose base floats."""
    add = f"add {coordinates.base}.x … {coordinates.base}.qw"
    rooted = coordinates.base == "root_joint"
    return f" Hold the base with --fixed-base, or {add}." if rooted else f" Its base floats: {add}."


def numbered_notes(coordinates: Coordinates, called: Mapping[Slot, str]) -> tuple[str, ...]:
    """Return how quaternions and twists are read whose entries are `called` by number: that leaves their order open."""
    groups: list[tuple[str, int, tuple[str, ...]]] = [("q", k, QUATERNION) for k in coordinates.quaternions]
    groups += [(x, coordinates.of_base(x)[0], TWIST) for x in "va" if coordinates.base is not None]
    notes = []
    for quantity, first, ends in groups:
        names = [called.get((quantity, first + k)) for k in range(len(ends))]
        if all(names):
            joint = coordinates.names(quantity)[first].rpartition(".")[0]
            axes = "" if quantity == "q" else ", in its own axes"
            notes.append(f"{names[0]} … {names[-1]} are read as ({', '.join(ends)}) of {joint}{axes}")
    return tuple(notes[:3])


def unused_columns(ignored: Sequence[str], quantities: set[str], coordinates: Coordinates | None = None) -> str:
    """Return the warning about columns that are not used; it says which word to use if they look like v or a."""
    said = f"columns not used: {some(ignored, 8)}"
    like_a = [name for name in ignored if _LIKE_A.search(name)]
    like_v = [name for name in ignored if _LIKE_V.search(name) and name not in like_a]
    for quantity, what, like in (("v", "Velocities", like_v), ("a", "Accelerations", like_a)):
        if like and quantity not in quantities:
            words = ", ".join(QUANTITIES[quantity].words[:5])
            said += f". {what} ({some(like, 2)}?) go by one of the words {words}, …"
    more = following(ignored, coordinates) if coordinates else ""
    return f"{said}.{more}" if more else said
