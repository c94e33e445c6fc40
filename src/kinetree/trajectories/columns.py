"""Which column of a table is which coordinate of the robot: generous in spelling, never ambiguous."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kinetree.errors import FormatError

QUANTITIES: Mapping[str, tuple[str, ...]] = {
    "q": ("q", "pos", "position"),
    "v": ("v", "qd", "dq", "vel", "velocity"),
    "a": ("a", "qdd", "ddq", "acc", "acceleration"),
}
"""The words a column's name may use for positions, velocities and accelerations."""

TIME = ("t", "time", "time_s", "t_s")
_SEPARATORS = (".", "_", "/", " ", ":")
_INDEXED = re.compile(r"([a-z]+)[._ ]?\[?(\d+)\]?")

Slot = tuple[str, int]
"""A quantity ("t", "q", "v" or "a") and the index of the entry."""


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


@dataclass(frozen=True)
class Layout:
    """Where a table's columns go.

    Attributes
    ----------
    slots : tuple
        For each column its `Slot`, or None for a column that is not used.
    names : tuple of str
        For each column what to call it in a message.
    ignored : tuple of str
        The names of the columns that are not used, torques (``tau.…``) apart.
    """

    slots: tuple[Slot | None, ...]
    names: tuple[str, ...]
    ignored: tuple[str, ...] = ()

    def columns(self, quantity: str) -> list[int]:
        """Return the columns of a quantity, in the order of its entries; empty if the table does not have it."""
        held = [(slot[1], k) for k, slot in enumerate(self.slots) if slot is not None and slot[0] == quantity]
        return [k for _, k in sorted(held)]


def layout_of_header(header: Sequence[str], coordinates: Coordinates) -> Layout:
    """Return what the names of a header mean.

    Accepted for the entry named ``elbow``, the second of the robot: ``q.elbow``, ``elbow.q``, ``q2`` (or ``q1`` if
    counted from 0), and ``elbow`` alone for a position; with any word of `QUANTITIES`, and ``. _ / :`` or a
    space between. Time is ``t`` or ``time``. A name that means nothing is ignored and reported.

    Raises
    ------
    FormatError
        If a name means two things, two columns are the same entry, or a quantity is incomplete.
    """
    names = [name.strip() for name in header]
    meanings = _accepted(coordinates)
    for quantity, words in QUANTITIES.items():
        _add_indexed(meanings, names, quantity, words, len(coordinates.names(quantity)))
    slots: list[Slot | None] = []
    for name in names:
        found = meanings.get(name) or meanings.get(name.lower(), set())
        if len(found) > 1:
            options = " or ".join(sorted(_call(slot, coordinates) for slot in found))
            raise FormatError(f"the column {name!r} may mean {options}: name it so")
        slots.append(next(iter(found), None))
    unused = [name for name, slot in zip(names, slots, strict=True) if slot is None]
    layout = Layout(tuple(slots), tuple(names), tuple(n for n in unused if n and not n.startswith("tau.")))
    _check_complete(layout, coordinates)
    return layout


def layout_without_header(count: int, coordinates: Coordinates) -> Layout:
    """Return the layout of a table without a header, known by its number of columns.

    nq + 2 nv columns are q, v, a; one more, the time before them; nq + 1 are the time and q.
    """
    q, v, a, t = (
        [("q", k) for k in range(len(coordinates.q))],
        [("v", k) for k in range(len(coordinates.v))],
        [("a", k) for k in range(len(coordinates.v))],
        [("t", 0)],
    )
    for slots in (q + v + a, t + q + v + a, t + q):
        if len(slots) == count:
            return Layout(tuple(slots), tuple(_call(slot, coordinates) for slot in slots))
    nq, nv = len(q), len(v)
    raise FormatError(
        f"{count} columns without a header: expected {nq + 2 * nv} (q, v, a), {1 + nq + 2 * nv} (t, q, v, a) "
        f"or {1 + nq} (t, q) for a robot with nq = {nq} and nv = {nv}. {expected_columns(coordinates)}"
    )


def expected_columns(coordinates: Coordinates) -> str:
    """Return a sentence that lists the columns which a table should have.

    Examples
    --------
    >>> expected_columns(Coordinates(("hip", "knee"), ("hip", "knee")))
    'Expected columns: t, q.hip, q.knee, v.hip, v.knee, a.hip, a.knee (v and a may be left out if there is t)'
    """
    every = [_call(slot, coordinates) for slot in _all_slots(coordinates)]
    return f"Expected columns: {', '.join(every)} (v and a may be left out if there is t)"


def _accepted(coordinates: Coordinates) -> dict[str, set[Slot]]:
    """Return every spelling by name that is understood, and what it may mean; the plain ones mean one thing only."""
    meanings: dict[str, set[Slot]] = {}
    plain = {_call(slot, coordinates): {slot} for slot in _all_slots(coordinates)}
    for word in TIME:
        meanings.setdefault(word, set()).add(("t", 0))
    for quantity, words in QUANTITIES.items():
        for index, name in enumerate(coordinates.names(quantity)):
            spellings = [f"{a}{sep}{b}" for w in words for sep in _SEPARATORS for a, b in ((w, name), (name, w))]
            if quantity == "q":
                spellings.append(name)
            for spelling in spellings:
                meanings.setdefault(spelling, set()).add((quantity, index))
    return meanings | plain


def _all_slots(coordinates: Coordinates) -> list[Slot]:
    return [("t", 0), *((x, k) for x in QUANTITIES for k in range(len(coordinates.names(x))))]


def _add_indexed(
    meanings: dict[str, set[Slot]], names: Sequence[str], quantity: str, words: tuple[str, ...], size: int
) -> None:
    """Add the spellings ``q1 … qn`` or ``q0 …`` (``q`` for a single one), if the header has one whole set of them."""
    numbered: dict[str, int] = {}
    for name in names:
        match = _INDEXED.fullmatch(name.lower())
        if match and match[1] in words:
            numbered[name] = int(match[2])
        elif size == 1 and name.lower() in words:
            numbered[name] = 0
    for base in (0, 1):
        if size and sorted(numbered.values()) == list(range(base, size + base)):
            for name, number in numbered.items():
                meanings.setdefault(name, set()).add((quantity, number - base))
            return
    if astray := [name for name in numbered if name not in meanings]:
        raise FormatError(
            f"the columns {', '.join(astray)} are not a whole set: expected {size} of them, "
            f"{words[0]}1 … {words[0]}{size} or {words[0]}0 … {words[0]}{size - 1}"
        )


def _check_complete(layout: Layout, coordinates: Coordinates) -> None:
    first: dict[Slot, str] = {}
    for slot, name in zip(layout.slots, layout.names, strict=True):
        if slot is None:
            continue
        if slot in first:
            raise FormatError(f"the columns {first[slot]!r} and {name!r} are both {_call(slot, coordinates)}")
        first[slot] = name
    for quantity in QUANTITIES:
        wanted = [(quantity, k) for k in range(len(coordinates.names(quantity)))]
        missing = [_call(slot, coordinates) for slot in wanted if slot not in first]
        if missing and (quantity == "q" or len(missing) < len(wanted)):
            not_used = f" Not understood: {', '.join(layout.ignored)}." if layout.ignored else ""
            raise FormatError(f"the header lacks {', '.join(missing)}.{not_used} {expected_columns(coordinates)}")
    check_quantities({quantity for quantity, _ in first}, coordinates)


def check_quantities(held: set[str], coordinates: Coordinates) -> None:
    """Raise `FormatError` unless q, v, a are held, or what gives the missing ones by differentiation."""
    if "a" in held and "v" not in held:
        raise FormatError(f"there are accelerations but no velocities. {expected_columns(coordinates)}")
    if "a" not in held and "t" not in held:
        raise FormatError(
            f"without accelerations there must be a time to differentiate by. {expected_columns(coordinates)}"
        )


def _call(slot: Slot, coordinates: Coordinates) -> str:
    quantity, index = slot
    return "t" if quantity == "t" else f"{quantity}.{coordinates.names(quantity)[index]}"
