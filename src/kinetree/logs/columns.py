"""The columns of tables: quantities with words and units, a robot's coordinates, and how both are written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from kinetree.errors import FormatError

if TYPE_CHECKING:
    from kinetree.robot import Robot

Slot = tuple[str, int]
"""A quantity and the index of the entry."""


class Quantity(NamedTuple):
    """The words that a column's name may use, the units as `_plain` writes them, and these for people."""

    words: tuple[str, ...]
    units: tuple[str, ...]
    expected: str


_FORCES = "nm n.m n-m n newtonmeter newtonmetre newton"

QUANTITIES: Mapping[str, Quantity] = {
    name: Quantity(tuple(words.split()), tuple(units.split()), expected)
    for name, words, units, expected in (
        ("t", "t time time_s t_s timestamp __time", "s sec secs second seconds", "s"),
        (
            "q",
            "q pos position positions theta angle angles",
            "rad rads radian radians m meter meters metre metres -",
            "rad or m",
        ),
        (
            "v",
            "v qd dq vel velocity velocities qdot dotq q_dot",
            "rad/s m/s rad/sec m/sec rads-1 ms-1",
            "rad/s or m/s",
        ),
        (
            "a",
            "a qdd ddq acc accel acceleration accelerations qddot ddotq q_ddot",
            "rad/s2 m/s2 rad/sec2 m/sec2 rad/s/s m/s/s rads-2 ms-2",
            "rad/s² or m/s²",
        ),
        ("tau", "tau torque torques effort efforts eff force forces moment motor_torque tau_j", _FORCES, "N·m or N"),
        ("current", "current currents motor_current i", "a amp amps ampere amperes", "A"),
        ("wrench", "wrench wrenches ft", _FORCES, "N·m or N"),
    )
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

    @classmethod
    def of(cls, robot: Robot, wrenches: Mapping[str, str] | None = None) -> Coordinates:
        """Return those of a robot, with what the wrenches measured at some frames are called."""
        joints = (robot.joint(body.joint_name) for body in robot.model.bodies)
        followers = tuple((x.name, x.mimic[0]) for x in joints if x.mimic)
        return cls(robot.q_names, robot.v_names, followers, tuple((wrenches or {}).values()))

    def names(self, quantity: str) -> tuple[str, ...]:
        """Return the names of the entries of a quantity other than the time."""
        if quantity == "wrench":
            return tuple(f"{name}.{end}" for name in self.wrenches for end in WRENCH)
        return self.q if quantity == "q" else self.v

    def slots(self, *quantities: str) -> list[Slot]:
        """Return the slots of quantities in turn."""
        return [(x, k) for x in quantities for k in range(1 if x == "t" else len(self.names(x)))]

    def call(self, slot: Slot) -> str:
        """Return the plain name of a slot: ``t``, ``q.elbow``."""
        quantity, index = slot
        return "t" if quantity == "t" else f"{quantity}.{self.names(quantity)[index]}"

    def columns(self, *quantities: str) -> tuple[str, ...]:
        """Return the plain names of the columns of quantities."""
        return tuple(map(self.call, self.slots(*quantities)))

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


def some(names: Sequence[str], most: int = 6) -> str:
    """Return the first few names of a list, and how many there are if that is not all: "a, b, … (4 in all)"."""
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])}, … ({len(names)} in all)"


_WITH_UNIT = (
    re.compile(r"(.*?)[ _.]*[\[(]([^\[\]()]*[^\[\]()\d:, ][^\[\]()]*)[\])]"),
    re.compile(
        r"(.+?)[ _.](rad|radians|sec|seconds|ms|msec|millis|us|usec|ns|nsec|mm|cm|deg|degs|degrees|rpm|deg/s"
        r"|nm|mnm|ma|amps)",
        re.IGNORECASE,
    ),
)


def split_unit(name: str) -> tuple[str, str | None]:
    """Return a column's name without its unit, and the unit: that of "Time (s)", "q[1] [rad]" or "t_ms"."""
    match = next(filter(None, (form.fullmatch(name) for form in _WITH_UNIT)), None)
    return (match[1], match[2]) if match else (name, None)


def is_si(unit: str, quantity: str) -> bool:
    """Return whether a unit is that in which a quantity is read; none at all is."""
    return not _plain(unit) or _plain(unit) in QUANTITIES[quantity].units


def wrong_unit(name: str, unit: str, quantity: str) -> FormatError:
    """Return the error for a column whose unit is not that of its quantity."""
    for instead, units in OTHERS.items():
        if _plain(unit) in units.split():
            return FormatError(f"the column {name!r} is in {unit}: give {instead}")
    expected = QUANTITIES[quantity].expected
    return FormatError(f"the unit {unit!r} of the column {name!r} is not read: expected {expected}")


def _plain(unit: str) -> str:
    return re.sub(r"[\s^*·]", "", unit.lower().replace("²", "2").replace("⁻", "-").replace("¹", "1"))


MARKS = "._/ :"
"""What may stand between a word and a name."""

COMPONENTS = {"f": ("f", ("force",)), "n": ("ntm", ("torque", "moment"))}
"""How the forces and the moments of a wrench may be called: by letters, and by words before the axis."""

_NUMBER = r"\[?(?::, )?(?P<number>\d+)\]?"


class Number(NamedTuple):
    """What a numbered column says: of which quantity, which number, whether it counts joints, whether by a word."""

    quantity: str
    number: int
    of_joint: bool
    worded: bool = True


class Column(NamedTuple):
    """A name taken apart: what it may mean, by name or by number; of which quantity its unit is not, if it is not."""

    name: str
    unit: str | None
    found: set[Slot]
    number: Number | None
    mistaken: str | None = None


class Spellings:
    """Every spelling that is understood of some quantities, and what it may mean: one thing only if it is plain."""

    def __init__(self, coordinates: Coordinates, quantities: Sequence[str]) -> None:
        self.coordinates, self.quantities = coordinates, quantities
        self._quantity = {word: x for x in quantities for word in QUANTITIES[x].words}
        word = "|".join(sorted(self._quantity, key=len, reverse=True))
        self._numbered = re.compile(rf"(?P<joint>joint[ _]?)?(?P<word>{word})[._ ]?{_NUMBER}")
        self._numbered_joint = re.compile(
            rf"(?:(?P<before>{word})[._/: ])?(?P<joint>joint|axis|j|a)[ _]?{_NUMBER}(?:[._/: ](?P<after>{word}))?"
        )
        no_motion = "desired|target|reference|ref|command|cmd|error" + "|effort|torque|tau" * ("tau" not in quantities)
        self._not_measured = re.compile(rf"(?:^|[/._])(?:{no_motion})[/._]")
        self._plain = {coordinates.call(slot): slot for slot in coordinates.slots(*quantities)}
        self._worded: defaultdict[tuple[str, str], set[Slot]] = defaultdict(set)
        self._bare: defaultdict[str, set[Slot]] = defaultdict(set)
        for slot in self._plain.values():
            beside, alone = self._called(slot)
            for name in beside:
                self._worded[slot[0], name].add(slot)
            for name in alone:
                self._bare[name].add(slot)
        for name in QUANTITIES["t"].words:
            self._bare[name] = {("t", 0)} | (self._bare[name] if name != "t" else set())

    def _called(self, slot: Slot) -> tuple[set[str], set[str]]:
        """Return how an entry may be called beside a word for its quantity, and by itself."""
        x, index = slot
        name, base = self.coordinates.names(x)[index], self.coordinates.of_base(x)
        names, alone = {name}, set()
        if x == "wrench":
            frame, axis = name[:-3], name[-1]
            letters, words = COMPONENTS[name[-2]]
            names |= {f"{frame}{mark}{letter}{axis}" for mark, letter in product(MARKS, letters)}
            for mark, word in product(MARKS, words):
                names |= {f"{frame}{mark}{between}{word}{mark}{axis}" for between in ("", f"wrench{mark}")}
            return names, names
        if index in base:
            name = BASE[x][index - base[0]]
            names |= {f"{joint}{mark}{name}" for joint in ("base", self.coordinates.base) for mark in MARKS}
            alone = {f"{word}.{name}" for word in QUANTITIES[x].words}
        if x == "q" or (x == "v" and not names & {*self.coordinates.q}):
            alone |= {*names, name}
        return names, alone

    def known(self, slots: set[Slot]) -> list[str]:
        """Return the ways to write some entries."""
        pairs = [
            (word, name) for (x, name), held in self._worded.items() if held & slots for word in QUANTITIES[x].words
        ]
        bare = [name for name, held in self._bare.items() if held & slots]
        return bare + [mark.join(pair) for a, b in pairs for pair in ((a, b), (b, a)) for mark in MARKS]

    def column(self, name: str) -> Column:
        """Return the part of a name that matters: the whole, or all but its unit if that is the SI's."""
        found, number = self._read(name)
        bare, unit = split_unit(name)
        if found or number or unit is None:
            return Column(name, unit, found, number)
        found, number = self._read(bare)
        quantity = min(found)[0] if found else number.quantity if number else None
        mistaken = None if quantity is None or is_si(unit, quantity) else quantity
        if mistaken or not (found or number):
            found, number = set(), self._number_in(bare, unit)  # the unit says what "A1 [rad]" is
        return Column(name, unit, found, number, mistaken)

    def _read(self, name: str) -> tuple[set[Slot], Number | None]:
        """Return the possible meanings of a name, by name and by number.

        If it means nothing as a whole, that is what follows ``actual_`` or a part of a path, with a word in it.
        """
        for tail in self._tails(name):
            number = self._number_in(tail)
            if (found := self._find(tail, bare=tail == name)) or (number and (number.worded or tail == name)):
                return found, number
        return set(), None

    def _tails(self, name: str) -> Iterator[str]:
        """Yield a measured name, and its ends after each ``/``, ``.`` and ``actual_``, the longest first."""
        for start in (0, *(match.end() for match in re.finditer(r"[/.]", name))):
            if self._not_measured.search(name[:start].lower()):
                return
            yield (tail := name[start:])
            if tail.lower().startswith("actual_"):
                yield tail[len("actual_") :]

    def _find(self, name: str, *, bare: bool) -> set[Slot]:
        """Return what a name means that is plain, or has a word in it before or after an entry's; or is `bare`."""
        for spelled in (name, name.lower()):
            if spelled in self._plain:
                return {self._plain[spelled]}
            found = set(self._bare.get(spelled, ())) if bare else set()
            for k in (k for k, mark in enumerate(spelled) if mark in MARKS):
                for word, rest in ((spelled[:k], spelled[k + 1 :]), (spelled[k + 1 :], spelled[:k])):
                    found |= self._worded.get((self._quantity.get(word.lower(), ""), rest), set())
            if found:
                return found
        return set()

    def _number_in(self, name: str, unit: str | None = None) -> Number | None:
        """Return the number in a name like ``q_2``, ``vel[2]``, ``joint2``, ``joint_2.velocity``, ``J2 torque``.

        Of a single entry the word is enough. With a unit, that of an axis whose quantity it tells: ``A1``, ``axis 1``.
        """
        name = name.lower()
        if unit is None:
            x = self._quantity.get(name)
            if x is not None and len(self.coordinates.names(x)) == 1:
                return Number(x, 0, of_joint=False, worded=False)
            if match := self._numbered.fullmatch(name):
                return Number(self._quantity[match["word"]], int(match["number"]), match["joint"] is not None)
        match = self._numbered_joint.fullmatch(name)
        if match is None or (match["before"] and match["after"]):
            return None
        word = match["before"] or match["after"]
        if word:
            return None if unit is not None else Number(self._quantity[word], int(match["number"]), True)
        if unit is None:  # a letter and a number may be anything
            return Number("q", int(match["number"]), True, False) if match["joint"] == "joint" else None
        from_unit = (x for x in self.quantities if x != "wrench" and is_si(unit, x))
        return next((Number(x, int(match["number"]), True) for x in from_unit), None)
