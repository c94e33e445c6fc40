"""How a column may be called: by name, by number, by the usual names of the floating base, below a path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kinetree.trajectories.coordinates import BASE, Coordinates, Slot

QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "q": ("q", "pos", "position", "positions", "theta"),
    "v": ("v", "qd", "dq", "vel", "velocity", "velocities", "qdot", "dotq", "q_dot"),
    "a": ("a", "qdd", "ddq", "acc", "accel", "acceleration", "accelerations", "qddot", "ddotq", "q_ddot"),
}
"""The words a column's name may use for positions, velocities and accelerations."""

TIME = ("t", "time", "time_s", "t_s", "timestamp", "__time")
SEPARATORS = (".", "_", "/", " ", ":")

_QUANTITY_OF = {word: quantity for quantity, words in QUANTITIES.items() for word in words}
_WORD = "|".join(sorted(_QUANTITY_OF, key=len, reverse=True))
_NUMBERED = re.compile(rf"(?P<joint>joint[ _]?)?(?P<word>{_WORD})[._ ]?\[?(?P<number>\d+)\]?")
_NUMBERED_JOINT = re.compile(
    rf"(?:(?P<before>{_WORD})[._/: ])?joint[ _]?\[?(?P<number>\d+)\]?(?:[._/: ](?P<after>{_WORD}))?"
)
_NOT_MEASURED = re.compile(r"(?:^|[/._])(?:desired|target|reference|ref|command|cmd|error|effort|torque|tau)[/._]")


@dataclass(frozen=True)
class Number:
    """What a numbered column says: of which quantity, which number, whether it counts joints, whether by a word."""

    quantity: str
    number: int
    of_joint: bool
    worded: bool = True


def number_in(name: str) -> Number | None:
    """Return what a name like ``q_2``, ``vel[2]``, ``joint2`` or ``joint_2.velocity`` says; None for another.

    Examples
    --------
    >>> number_in("qd[2]")
    Number(quantity='v', number=2, of_joint=False, worded=True)
    >>> number_in("Joint_3")
    Number(quantity='q', number=3, of_joint=True, worded=False)
    """
    low = name.lower()
    if match := _NUMBERED.fullmatch(low):
        return Number(_QUANTITY_OF[match["word"]], int(match["number"]), match["joint"] is not None)
    match = _NUMBERED_JOINT.fullmatch(low)
    if match is None or (match["before"] and match["after"]):
        return None
    word = match["before"] or match["after"]
    return Number(_QUANTITY_OF[word] if word else "q", int(match["number"]), True, word is not None)


class Spellings:
    """Every spelling by name that is understood, and what it may mean.

    Attributes
    ----------
    meanings : dict
        The slots that a name may stand for; one only for the plain names, ``q.elbow``.
    """

    def __init__(self, coordinates: Coordinates) -> None:
        worded: dict[str, set[Slot]] = {}
        bare: dict[str, set[Slot]] = {word: {("t", 0)} for word in TIME}
        for quantity, words in QUANTITIES.items():
            for index, name in enumerate(coordinates.names(quantity)):
                slot = (quantity, index)
                for spelling in _with_words(words, name, SEPARATORS):
                    worded.setdefault(spelling, set()).add(slot)
                if quantity == "q" or (quantity == "v" and name not in coordinates.q):
                    bare.setdefault(name, set()).add(slot)
        _add_base(coordinates, worded, bare)
        plain = {coordinates.call(slot): {slot} for x in QUANTITIES for slot in coordinates.slots(x)}
        self._worded = worded | plain
        together = {name: bare.get(name, set()) | worded.get(name, set()) for name in bare | worded}
        self.meanings = together | plain | {"t": {("t", 0)}}

    def core(self, name: str) -> str | None:
        """Return the part of a name that is understood, by name or by number; None if there is none.

        That is the name itself; or, if it has a word for its quantity, what follows ``actual_`` or a part of a path.
        """
        if self.find(name) or number_in(name):
            return name
        for tail in _tails(name):
            number = number_in(tail)
            if tail in self._worded or tail.lower() in self._worded or (number and number.worded):
                return tail
        return None

    def find(self, core: str) -> set[Slot]:
        """Return what a name may mean."""
        return self.meanings.get(core) or self.meanings.get(core.lower(), set())


def _with_words(words: tuple[str, ...], name: str, separators: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        for mark in separators:
            yield f"{word}{mark}{name}"
            yield f"{name}{mark}{word}"


def _add_base(coordinates: Coordinates, worded: dict[str, set[Slot]], bare: dict[str, set[Slot]]) -> None:
    """Add ``base.x``, ``base_x``, ``x`` and the like for the entries of the floating base."""
    if coordinates.base is None:
        return
    for quantity, words in QUANTITIES.items():
        ends = BASE["q" if quantity == "q" else "v"]
        for index, end in zip(coordinates.of_base(quantity), ends, strict=True):
            slot = (quantity, index)
            names = {f"{joint}{mark}{end}" for joint in ("base", coordinates.base) for mark in SEPARATORS}
            for name in names:
                for spelling in _with_words(words, name, SEPARATORS):
                    worded.setdefault(spelling, set()).add(slot)
            alone = {*names, end} if quantity != "a" else set()
            for name in alone | {f"{word}.{end}" for word in words}:
                bare.setdefault(name, set()).add(slot)


def _tails(name: str) -> Iterator[str]:
    """Yield what follows each ``/`` and ``.`` of a name, the longest first, and that without ``actual_``.

    Nothing of a name that says it is no measured motion: ``/desired/q_1``.
    """
    for start in (0, *(match.end() for match in re.finditer(r"[/.]", name))):
        if _NOT_MEASURED.search(name[:start].lower()):
            return
        tail = name[start:]
        yield tail
        if tail.lower().startswith("actual_"):
            yield tail[len("actual_") :]
