"""The columns of tables: quantities with words and units, a robot's coordinates, and how both are written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

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

FORCES = ("tau", "current")  # what drives the joints; of these a log must have one

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
QUATERNION = ("qx", "qy", "qz", "qw")
WRENCH = ("nx", "ny", "nz", "fx", "fy", "fz")  # what a moment and a force add to the name of their frame

BASE = {"q": ("x", "y", "z", *QUATERNION)} | dict.fromkeys(("v", "a", *FORCES), TWIST)
"""What a floating base adds to its name."""


@dataclass(frozen=True)
class Coordinates:
    """The names of the entries of q and of v (and a, tau), and what measured wrenches are called."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    wrenches: tuple[str, ...] = ()

    @classmethod
    def of(cls, robot: Robot, wrenches: Mapping[str, str] | None = None) -> Coordinates:
        """Return those of a robot, with what the wrenches measured at some frames are called."""
        return cls(robot.q_names, robot.v_names, tuple((wrenches or {}).values()))

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


def _plain(unit: str) -> str:
    return re.sub(r"[\s^*·]", "", unit.lower().replace("²", "2").replace("⁻", "-").replace("¹", "1"))


Tokens = tuple[str, ...]
"""The words and the numbers of a name, in lower case: of "joint_2.velocity" joint, 2 and velocity."""


def tokens(name: str) -> Tokens:
    """Return the words and the numbers of a name, whatever is between them."""
    return tuple(re.findall(r"\d{1,9}|[^\W\d_]+", name.lower()))


COMPONENTS = {"f": ("f", ("force",)), "n": ("ntm", ("torque", "moment"))}
"""How the forces and the moments of a wrench may be called: by letters, and by words before the axis."""

JOINT = (("joint",), ("axis",), ("j",), ("a",))  # what may stand before the number of a joint


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
        self._words = {tokens(word): x for x in quantities for word in QUANTITIES[x].words}
        no_motion = "desired|target|reference|ref|command|cmd|error" + "|effort|torque|tau" * ("tau" not in quantities)
        self._not_measured = re.compile(rf"(?:^|[/._])(?:{no_motion})[/._]")
        self._exact: dict[str, Slot] = {}
        self._worded: defaultdict[Tokens, set[Slot]] = defaultdict(set)
        self._bare: defaultdict[Tokens, set[Slot]] = defaultdict(set)
        for slot in coordinates.slots(*quantities):
            beside, alone = self._called(slot)
            for word in (word for word, x in self._words.items() if x == slot[0]):
                for name in beside:
                    self._worded[word + name].add(slot)
                    self._worded[name + word].add(slot)
            for name in alone:
                self._bare[name].add(slot)
        for time in QUANTITIES["t"].words:
            self._bare[tokens(time)].add(("t", 0))
        self._exact |= {coordinates.call(slot): slot for slot in coordinates.slots(*quantities, "t")}

    def _called(self, slot: Slot) -> tuple[set[Tokens], set[Tokens]]:
        """Return how an entry may be called beside a word for its quantity, and by itself."""
        x, index = slot
        name, base = self.coordinates.names(x)[index], self.coordinates.of_base(x)
        names, alone = {tokens(name)}, set[Tokens]()
        if x == "wrench":
            frame, (letters, words), axis = tokens(name[:-3]), COMPONENTS[name[-2]], name[-1]
            names = {(*frame, letter + axis) for letter in letters}
            names |= {(*frame, *between, word, axis) for word in words for between in ((), ("wrench",))}
            return names, names
        if index in base:
            end = BASE[x][index - base[0]]
            names.add(("base", end))
            alone.add((end,))
            self._exact |= {f"{word}.{end}": slot for word in QUANTITIES[x].words}
        return names, alone | names if x == "q" or (x == "v" and name not in self.coordinates.q) else set()

    def known(self, slots: Iterable[Slot]) -> list[str]:
        """Return usual ways to write some entries."""
        named = [(x, self.coordinates.names(x)[k]) for x, k in slots]
        pairs = [(word, name) for x, name in named for word in QUANTITIES[x].words]
        written = [f"{a}{mark}{b}" for one, other in pairs for a, b in ((one, other), (other, one)) for mark in "._/ "]
        return [name for x, name in named if x == "q"] + written

    def column(self, name: str) -> Column:
        """Return the part of a name that matters: the whole, or all but its unit if that is the SI's."""
        found, number = self._read(name)
        bare, unit = split_unit(name)
        if found or number or unit is None:
            return Column(name, unit, found, number)
        found, number = self._read(bare)
        quantity = min(found)[0] if found else number.quantity if number else None
        mistaken = None if quantity is None or is_si(unit, quantity) else quantity
        if mistaken or not (found or number):  # the unit says what "A1 [rad]" is
            *joint, k = tokens(bare) or ("",)
            x = next((x for x in self.quantities if x != "wrench" and is_si(unit, x)), None)
            found, number = set(), Number(x, int(k), True) if x and tuple(joint) in JOINT and k.isdecimal() else None
        return Column(name, unit, found, number, mistaken)

    def _read(self, name: str) -> tuple[set[Slot], Number | None]:
        """Return the possible meanings of a name, by name and by number.

        If it means nothing as a whole, that is what follows ``actual_`` or a part of a path, with a word in it.
        """
        if name in self._exact:
            return {self._exact[name]}, self._number_in(tokens(name))
        for tail in self._tails(name):
            own, whole = tokens(tail), tail == name
            found = self._worded.get(own, set()) | (self._bare.get(own, set()) if whole else set())
            number = self._number_in(own)
            if found or (number and (number.worded or whole)):
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

    def _number_in(self, name: Tokens) -> Number | None:
        """Return the number in ``q_2``, ``vel[2]``, ``joint2``, ``joint_2.velocity``, ``J2 torque``; ``q`` for one."""
        if name in self._words and len(self.coordinates.names(self._words[name])) == 1:
            return Number(self._words[name], 0, of_joint=False, worded=False)
        at = [k for k, token in enumerate(name) if token.isdecimal()]
        if len(at) != 1:
            return None
        before, number, after = name[: at[0]], int(name[at[0]]), name[at[0] + 1 :]
        if before == ("joint",) and not after:
            return Number("q", number, of_joint=True, worded=False)  # any other letter and a number may be anything
        for joint, (word, x) in product(((), *JOINT), self._words.items()):
            if (before, after) in ((joint + word, ()), (word + joint, ()), (joint or ("",), word)):
                return Number(x, number, of_joint=bool(joint))
        return None
