"""How a column may be called: by name, by number, by the usual names of the floating base, below a path."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from kinetree.logs.columns import BASE, MOTION, QUANTITIES, Coordinates, Slot, is_si

SEPARATORS = (".", "_", "/", " ", ":")

COMPONENTS = ({"f": ("force",), "n": ("torque", "moment")}, {"f": "f", "n": "ntm"})
"""How the forces and the moments of a wrench may be called: by words before the axis, and by letters."""


class Number(NamedTuple):
    """What a numbered column says: of which quantity, which number, whether it counts joints, whether by a word."""

    quantity: str
    number: int
    of_joint: bool
    worded: bool = True


class Spellings:
    """Every spelling that is understood of some quantities, and what it may mean.

    `meanings` has the slots that a name may stand for, one only for the plain names, ``q.elbow``.
    """

    def __init__(self, coordinates: Coordinates, quantities: Sequence[str] = MOTION) -> None:
        self.coordinates, self.quantities = coordinates, quantities
        self._quantity_of = {word: x for x in quantities for word in QUANTITIES[x].words}
        word = "|".join(sorted(self._quantity_of, key=len, reverse=True))
        self._numbered = re.compile(rf"(?P<joint>joint[ _]?)?(?P<word>{word})[._ ]?\[?(?P<number>\d+)\]?")
        self._numbered_joint = re.compile(
            rf"(?:(?P<before>{word})[._/: ])?(?P<joint>joint|axis|j|a)[ _]?\[?(?P<number>\d+)\]?"
            rf"(?:[._/: ](?P<after>{word}))?"
        )
        no_motion = "desired|target|reference|ref|command|cmd|error" + "|effort|torque|tau" * ("tau" not in quantities)
        self._not_measured = re.compile(rf"(?:^|[/._])(?:{no_motion})[/._]")
        worded: defaultdict[str, set[Slot]] = defaultdict(set)
        bare: defaultdict[str, set[Slot]] = defaultdict(set, {word: {("t", 0)} for word in QUANTITIES["t"].words})
        for x in quantities:
            for slot, name in zip(coordinates.slots(x), coordinates.names(x), strict=True):
                names, alone = self._called(slot, name)
                for spelling in alone:
                    bare[spelling].add(slot)
                for spelling in _with_words(QUANTITIES[x].words, names):
                    worded[spelling].add(slot)
        plain = {coordinates.call(slot): {slot} for slot in coordinates.slots(*quantities)}
        self._worded = worded | plain
        either = {name: bare.get(name, set()) | worded.get(name, set()) for name in bare | worded}
        self.meanings = either | plain | {"t": {("t", 0)}}

    def _called(self, slot: Slot, name: str) -> tuple[set[str], set[str]]:
        """Return how an entry may be called beside a word for its quantity, and by itself."""
        x, index = slot
        if x == "wrench":
            names = {name, *_of_wrench(name)}
            return names, names
        names, alone, end, base = {name}, set(), name, self.coordinates.of_base(x)
        if index in base:
            end = BASE[x][index - base[0]]
            names |= {f"{joint}{mark}{end}" for joint in ("base", self.coordinates.base) for mark in SEPARATORS}
            alone = {f"{word}.{end}" for word in QUANTITIES[x].words}
        if x == "q" or (x == "v" and name not in self.coordinates.q):
            alone |= {*names, end}
        return names, alone

    def number_in(self, name: str) -> Number | None:
        """Return what a name like ``q_2``, ``vel[2]``, ``joint2``, ``joint_2.velocity``, ``J2 torque`` says, or None.

        Examples
        --------
        >>> spellings = Spellings(Coordinates((), ()), ("q", "v", "tau"))
        >>> spellings.number_in("qd[2]")
        Number(quantity='v', number=2, of_joint=False, worded=True)
        >>> spellings.number_in("Joint_3")
        Number(quantity='q', number=3, of_joint=True, worded=False)
        >>> spellings.number_in("tau_J[0]")
        Number(quantity='tau', number=0, of_joint=False, worded=True)
        """
        if match := self._numbered.fullmatch(name.lower()):
            return Number(self._quantity_of[match["word"]], int(match["number"]), match["joint"] is not None)
        match = self._numbered_joint.fullmatch(name.lower())
        if match is None or (match["before"] and match["after"]):
            return None
        word = match["before"] or match["after"]
        if not word and match["joint"] != "joint":
            return None  # a letter and a number may be anything
        return Number(self._quantity_of[word] if word else "q", int(match["number"]), True, word is not None)

    def axis_in(self, name: str, unit: str) -> Number | None:
        """Return which axis a name like ``A1``, ``J1``, ``axis 1`` says whose unit tells the quantity."""
        match = self._numbered_joint.fullmatch(name.lower())
        if match is None or match["before"] or match["after"]:
            return None
        from_unit = (x for x in self.quantities if x != "wrench" and is_si(unit, x))
        return next((Number(x, int(match["number"]), True) for x in from_unit), None)

    def core(self, name: str) -> str | None:
        """Return the part of a name that is understood, by name or by number; None if there is none.

        That is the name itself; or, if it has a word for its quantity, what follows ``actual_`` or a part of a path.
        """
        if self.find(name) or self.number_in(name):
            return name
        for tail in self._tails(name):
            number = self.number_in(tail)
            if tail in self._worded or tail.lower() in self._worded or (number and number.worded):
                return tail
        return None

    def find(self, core: str | None) -> set[Slot]:
        """Return what a name may mean."""
        return self.meanings.get(core or "") or self.meanings.get((core or "").lower(), set())

    def quantity(self, core: str) -> str:
        """Return the quantity of what is understood."""
        found, number = self.find(core), self.number_in(core)
        return min(found)[0] if found else number.quantity if number else "q"

    def _tails(self, name: str) -> Iterator[str]:
        """Yield what follows each ``/`` and ``.`` of a name, the longest first, and that without ``actual_``.

        Nothing of a name that says it is not a measured motion: ``/desired/q_1``.
        """
        for start in (0, *(match.end() for match in re.finditer(r"[/.]", name))):
            if self._not_measured.search(name[:start].lower()):
                return
            yield (tail := name[start:])
            if tail.lower().startswith("actual_"):
                yield tail[len("actual_") :]


def _of_wrench(name: str) -> Iterator[str]:
    """Yield how one component of a wrench may be called, ``foot.fx``, without a word for the quantity."""
    frame, _, end = name.rpartition(".")
    kind, axis, (words, letters) = end[0], end[1], COMPONENTS
    for mark in SEPARATORS:
        yield from (f"{frame}{mark}{letter}{axis}" for letter in letters[kind])
        for word, between in product(words[kind], ("", "wrench" + mark)):
            yield f"{frame}{mark}{between}{word}{mark}{axis}"


def _with_words(words: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    for word, name, mark in product(words, names, SEPARATORS):
        yield f"{word}{mark}{name}"
        yield f"{name}{mark}{word}"
