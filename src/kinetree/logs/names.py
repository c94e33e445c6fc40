"""How a column may be called: by name, by number, by the usual names of the floating base, below a path."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import NamedTuple

from kinetree.logs.coordinates import BASE, Coordinates, Slot

QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "q": ("q", "pos", "position", "positions", "theta"),
    "v": ("v", "qd", "dq", "vel", "velocity", "velocities", "qdot", "dotq", "q_dot"),
    "a": ("a", "qdd", "ddq", "acc", "accel", "acceleration", "accelerations", "qddot", "ddotq", "q_ddot"),
}
"""The words a column's name may use for positions, velocities and accelerations."""

FORCES: Mapping[str, tuple[str, ...]] = {
    "tau": (
        "tau",
        "torque",
        "torques",
        "effort",
        "efforts",
        "eff",
        "force",
        "forces",
        "moment",
        "motor_torque",
        "tau_j",
    ),
    "current": ("current", "currents", "motor_current", "i"),
}
"""Those for what drives the joints."""

TIME = ("t", "time", "time_s", "t_s", "timestamp", "__time")
SEPARATORS = (".", "_", "/", " ", ":")


class Number(NamedTuple):
    """What a numbered column says: of which quantity, which number, whether it counts joints, whether by a word."""

    quantity: str
    number: int
    of_joint: bool
    worded: bool = True


class Vocabulary:
    """The words for some quantities, and how columns are numbered by them.

    Attributes
    ----------
    words : mapping
        From a quantity ("q", "v", "a", "tau", "current") to the words that a column's name may use for it.
    has_forces : bool
        Whether joint forces are needed.
    """

    def __init__(self, words: Mapping[str, tuple[str, ...]], *, driven: bool = True) -> None:
        self.words, self.has_forces = words, driven and "tau" in words
        self._quantity_of = {word: quantity for quantity, known in words.items() for word in known}
        word = "|".join(sorted(self._quantity_of, key=len, reverse=True))
        self._numbered = re.compile(rf"(?P<joint>joint[ _]?)?(?P<word>{word})[._ ]?\[?(?P<number>\d+)\]?")
        self._numbered_joint = re.compile(
            rf"(?:(?P<before>{word})[._/: ])?(?P<joint>joint|axis|j|a)[ _]?\[?(?P<number>\d+)\]?"
            rf"(?:[._/: ](?P<after>{word}))?"
        )
        no_motion = "desired|target|reference|ref|command|cmd|error" + ("" if self.has_forces else "|effort|torque|tau")
        self.not_measured = re.compile(rf"(?:^|[/._])(?:{no_motion})[/._]")

    def number_in(self, name: str) -> Number | None:
        """Return what a name like ``q_2``, ``vel[2]``, ``joint2``, ``joint_2.velocity``, ``J2 torque`` says, or None.

        Examples
        --------
        >>> MOTION.number_in("qd[2]")
        Number(quantity='v', number=2, of_joint=False, worded=True)
        >>> MOTION.number_in("Joint_3")
        Number(quantity='q', number=3, of_joint=True, worded=False)
        >>> LOG.number_in("tau_J[0]")
        Number(quantity='tau', number=0, of_joint=False, worded=True)
        """
        low = name.lower()
        if match := self._numbered.fullmatch(low):
            return Number(self._quantity_of[match["word"]], int(match["number"]), match["joint"] is not None)
        match = self._numbered_joint.fullmatch(low)
        if match is None or (match["before"] and match["after"]):
            return None
        word = match["before"] or match["after"]
        if not word and match["joint"] != "joint":
            return None  # a letter and a number may be anything
        return Number(self._quantity_of[word] if word else "q", int(match["number"]), True, word is not None)

    def axis_in(self, name: str, quantity: str) -> Number | None:
        """Return which axis a name like ``A1``, ``J1``, ``axis 1`` without a word says, of a known quantity."""
        match = self._numbered_joint.fullmatch(name.lower())
        return (
            Number(quantity, int(match["number"]), True) if match and not (match["before"] or match["after"]) else None
        )


MOTION = Vocabulary(QUANTITIES)
LOG = Vocabulary({**QUANTITIES, **FORCES})
SAVED = Vocabulary({**QUANTITIES, "tau": ("tau",)}, driven=False)
WRENCHES = Vocabulary({**LOG.words, "wrench": ("wrench", "wrenches", "ft")})
"""What is read of motions, of recorded ones with their forces, of saved ones, and of those with measured wrenches."""

COMPONENTS = ({"f": ("force",), "n": ("torque", "moment")}, {"f": "f", "n": "ntm"})
"""How the forces and the moments of a wrench may be called: by words before the axis, and by letters."""


class Spellings:
    """Every spelling by name that is understood, and what it may mean.

    Attributes
    ----------
    coordinates : Coordinates
    meanings : dict
        The slots that a name may stand for; one only for the plain names, ``q.elbow``.
    """

    def __init__(self, coordinates: Coordinates, vocabulary: Vocabulary = MOTION) -> None:
        self.coordinates, self.vocabulary = coordinates, vocabulary
        worded: defaultdict[str, set[Slot]] = defaultdict(set)
        bare: defaultdict[str, set[Slot]] = defaultdict(set, {word: {("t", 0)} for word in TIME})
        for quantity, words in vocabulary.words.items():
            ends = dict(zip(coordinates.of_base(quantity), BASE.get(quantity, ()), strict=False))
            for slot, name in zip(coordinates.slots([quantity]), coordinates.names(quantity), strict=True):
                names, alone = {name}, set()
                if end := ends.get(slot[1]):
                    names |= {f"{joint}{mark}{end}" for joint in ("base", coordinates.base) for mark in SEPARATORS}
                    alone = {f"{word}.{end}" for word in words}
                if quantity == "q" or (quantity == "v" and name not in coordinates.q):
                    alone |= {*names, end or name}
                if quantity == "wrench":
                    names |= set(_of_wrench(name))
                    alone |= names
                for spelling in alone:
                    bare[spelling].add(slot)
                for spelling in _with_words(words, names):
                    worded[spelling].add(slot)
        plain = {coordinates.call(slot): {slot} for slot in coordinates.slots(list(vocabulary.words))}
        self._worded = worded | plain
        either = {name: bare.get(name, set()) | worded.get(name, set()) for name in bare | worded}
        self.meanings = either | plain | {"t": {("t", 0)}}

    def core(self, name: str) -> str | None:
        """Return the part of a name that is understood, by name or by number; None if there is none.

        That is the name itself; or, if it has a word for its quantity, what follows ``actual_`` or a part of a path.
        """
        if self.find(name) or self.vocabulary.number_in(name):
            return name
        for tail in self._tails(name):
            number = self.vocabulary.number_in(tail)
            if tail in self._worded or tail.lower() in self._worded or (number and number.worded):
                return tail
        return None

    def find(self, core: str) -> set[Slot]:
        """Return what a name may mean."""
        return self.meanings.get(core) or self.meanings.get(core.lower(), set())

    def _tails(self, name: str) -> Iterator[str]:
        """Yield what follows each ``/`` and ``.`` of a name, the longest first, and that without ``actual_``.

        Nothing of a name that says it is no measured motion: ``/desired/q_1``.
        """
        for start in (0, *(match.end() for match in re.finditer(r"[/.]", name))):
            if self.vocabulary.not_measured.search(name[:start].lower()):
                return
            tail = name[start:]
            yield tail
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
