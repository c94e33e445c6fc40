"""Which column of a table is which coordinate of the robot: generous in spelling, never ambiguous."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from kinetree.errors import FormatError
from kinetree.lazy import cached_property
from kinetree.logs.columns import (
    BASE,
    DECIMAL_COMMA,
    FORCES,
    MOTION,
    NO_DECIMAL_COMMAS,
    QUANTITIES,
    Coordinates,
    Slot,
    expected_columns,
    is_si,
    not_understood,
    numbered_notes,
    some,
    split_unit,
    without_base,
    wrong_unit,
)

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
        self._worded = worded.keys() | plain.keys()
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
        """Return the number in a name like ``q_2``, ``vel[2]``, ``joint2``, ``joint_2.velocity``, ``J2 torque``."""
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

    def read(self, name: str) -> tuple[set[Slot], Number | None]:
        """Return the possible meanings of a name, by name and by number.

        If it means nothing as a whole, that is what follows ``actual_`` or a part of a path, with a word in it.
        """
        if (found := self._find(name)) or self.number_in(name):
            return found, self.number_in(name)
        for tail in self._tails(name):
            number = self.number_in(tail)
            if {tail, tail.lower()} & self._worded or (number and number.worded):
                return self._find(tail), number
        return set(), None

    def _find(self, name: str) -> set[Slot]:
        return self.meanings.get(name) or self.meanings.get(name.lower(), set())

    def _tails(self, name: str) -> Iterator[str]:
        """Yield a measured name's ends after each ``/``, ``.`` and ``actual_``, the longest first."""
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


@dataclass(frozen=True)
class Layout:
    """Where a table's columns go.

    For each column its slot, None where it is not used, and what to call it in a message; which are not used, torques
    apart; and how columns were read that could be meant otherwise.
    """

    slots: tuple[Slot | None, ...]
    names: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The columns of each quantity that is there, in the order of its entries; time is the first."""
        held = dict.fromkeys(slot[0] for slot in self.slots if slot is not None)
        return {x: self.columns(x) for x in sorted(held, key=lambda x: x != "t")}

    def columns(self, quantity: str) -> list[int]:
        """Return the columns of a quantity, in the order of its entries; empty if the table does not have it."""
        held = [(slot[1], k) for k, slot in enumerate(self.slots) if slot is not None and slot[0] == quantity]
        return [k for _, k in sorted(held)]


class _Column(NamedTuple):
    """A name taken apart: what it may mean, by name or by number; of which quantity its unit is not, if it is not."""

    name: str
    bare: str
    unit: str | None
    found: set[Slot]
    number: Number | None
    mistaken: str | None


def layout_of_header(header: Sequence[str], coordinates: Coordinates, quantities: Sequence[str] = MOTION) -> Layout:
    """Return the meaning of the names of a header, in any of the `Spellings`; those without one are ignored.

    `FormatError` if a name means two things, two columns are the same entry, a quantity is incomplete, or a unit is not
    that of the SI.
    """
    names = tuple(name.strip() for name in header)
    if any(map(DECIMAL_COMMA.fullmatch, names)):
        raise FormatError(NO_DECIMAL_COMMAS)
    spellings = Spellings(coordinates, quantities)
    columns = [_taken_apart(name, spellings) for name in names]
    numbers: dict[str, Slot] = {}
    try:
        for quantity in quantities:
            numbers |= _numbered(columns, quantity, coordinates)
    except FormatError:
        _check_units(columns, [None] * len(names), coordinates)  # a unit may be why the others are not whole
        raise
    slots: list[Slot | None] = []
    for column in columns:
        found = column.found | ({numbers[column.name]} if column.name in numbers else set())
        if len(found) > 1:
            options = " or ".join(sorted(map(coordinates.call, found)))
            raise FormatError(f"the column {column.name!r} may mean {options}: name it so")
        slots.append(next(iter(found), None))
    _check_units(columns, slots, coordinates)
    unused = [name for name, slot in zip(names, slots, strict=True) if slot is None]
    ignored = tuple(n for n in unused if n and not n.startswith("tau."))
    notes = numbered_notes(coordinates, {slot: name for name, slot in numbers.items()})
    layout = Layout(tuple(slots), names, ignored, notes)
    _check_complete(layout, spellings)
    return layout


def layout_without_header(count: int, coordinates: Coordinates, quantities: Sequence[str] = MOTION) -> Layout:
    """Return the layout of a table without a header by its number of columns: (t), q, v, a or t, q; of a log tau."""
    forces = ["tau"] * ("current" in quantities)
    sets = [*"qva", *forces], [*"tqva", *forces], [*"tq", *forces]
    for each in sets:
        slots = coordinates.slots(*each)
        if len(slots) == count:
            notes = numbered_notes(coordinates, {slot: f"column {k}" for k, slot in enumerate(slots, 1)})
            return Layout(tuple(slots), tuple(map(coordinates.call, slots)), notes=notes)
    first, second, last = (f"{len(coordinates.slots(*each))} ({', '.join(each)})" for each in sets)
    q, v = (tuple(coordinates.names(x)[k] for k in coordinates.of_joints(x)) for x in "qv")
    joints = Coordinates(q, v)
    alone = not forces and len(q) < len(coordinates.q) and count in (len(joints.slots(*each)) for each in sets)
    raise FormatError(
        f"{count} columns without a header: expected {first}, {second} or {last} for a robot with "
        f"nq = {len(coordinates.q)} and nv = {len(coordinates.v)}.{without_base(coordinates) if alone else ''}"
    )


def _taken_apart(name: str, spellings: Spellings) -> _Column:
    """Return the part of a name that matters: the whole, or all but its unit if that is the SI's."""
    bare, unit = split_unit(name)
    found, number = spellings.read(name)
    mistaken = None
    if unit is not None and not (found or number):
        found, number = meant = spellings.read(bare)
        if not any(meant) and len(spellings.coordinates.q) == 1:
            meant = spellings.read(f"{bare}0")  # a single one needs no number
        quantity = min(meant[0])[0] if meant[0] else meant[1].quantity if meant[1] else None
        mistaken = None if quantity is None or is_si(unit, quantity) else quantity
        if mistaken or not (found or number):
            found, number = set(), spellings.axis_in(bare, unit)  # the unit says what "A1 [rad]" is
    return _Column(name, bare, unit, found, number, mistaken)


def _numbered(columns: Sequence[_Column], quantity: str, coordinates: Coordinates) -> dict[str, Slot]:
    """Return the slots of ``q1 … qn`` or ``q0 …`` (``q`` for a single one), if the header has one whole set of them.

    A set may be all entries of the quantity, or all but those of the floating base: with ``joint1 …``, only that.
    """
    words, size = QUANTITIES[quantity].words, len(coordinates.names(quantity))
    fields: dict[str, Number] = {}
    for column in columns:
        number = column.number
        if number and number.quantity == quantity and not (number.of_joint and column.found):
            fields[column.name] = number
        elif size == 1 and column.bare.lower() in words and is_si(column.unit, quantity):
            fields[column.name] = Number(quantity, 0, False)
    joints = coordinates.of_joints(quantity)
    sets = [joints] if any(number.of_joint for number in fields.values()) else [list(range(size)), joints]
    held = sorted(number.number for number in fields.values())
    for entries in sets:
        for first in (0, 1):
            if entries and held == list(range(first, first + len(entries))):
                return {name: (quantity, entries[number.number - first]) for name, number in fields.items()}
    astray = [column.name for column in columns if column.name in fields and not column.found]
    if astray:
        word, rest = words[0], "" if len(joints) == size else f"; or {len(joints)}, and the floating base by name"
        raise FormatError(
            f"the columns {some(astray)} are not a whole set: expected {size} of them, {word}1 … {word}{size} or "
            f"{word}0 … {word}{size - 1}{rest}"
        )
    return {}


def _check_units(columns: Sequence[_Column], slots: Sequence[Slot | None], coordinates: Coordinates) -> None:
    """Raise `FormatError` for a column of another unit than the SI's, unless its quantity is there without it."""
    for column, slot in zip(columns, slots, strict=True):
        if slot is None and column.mistaken and not set(coordinates.slots(column.mistaken)) <= set(slots):
            raise wrong_unit(column.name, str(column.unit), column.mistaken)


def _check_complete(layout: Layout, spellings: Spellings) -> None:
    """Raise `FormatError` if two columns are the same entry, or a quantity is incomplete."""
    coordinates = spellings.coordinates
    first: dict[Slot, str] = {}
    for slot, name in zip(layout.slots, layout.names, strict=True):
        if slot is None:
            continue
        if slot in first:
            raise FormatError(f"the columns {first[slot]!r} and {name!r} are both {coordinates.call(slot)}")
        first[slot] = name
    for quantity in spellings.quantities:
        wanted = coordinates.slots(quantity)
        missing = [slot for slot in wanted if slot not in first]
        if quantity in FORCES and missing == [(quantity, k) for k in coordinates.of_base(quantity)]:
            continue  # nothing drives a floating base
        if missing and (quantity in ("q", "wrench") or len(missing) < len(wanted)):
            raise FormatError(_lacking(missing, layout.ignored, spellings))
    check_quantities(set(layout.groups), coordinates, layout.ignored, spellings.quantities)


def _lacking(missing: Sequence[Slot], ignored: Sequence[str], spellings: Spellings) -> str:
    """Return the message for a header without some entries of a quantity."""
    coordinates = spellings.coordinates
    if coordinates.base and list(missing) == [("q", k) for k in coordinates.of_base("q")]:
        remedy = without_base(coordinates)
        return f"the header has no columns of the floating base.{remedy}{not_understood(ignored, coordinates)}"
    known = [spelling for spelling, slots in spellings.meanings.items() if slots & set(missing)]
    names = some(list(map(coordinates.call, missing)), 4)
    expected = expected_columns(coordinates, spellings.quantities)
    return f"the header lacks {names}.{not_understood(ignored, coordinates, known)} {expected}."


def check_quantities(
    held: set[str], coordinates: Coordinates, ignored: Sequence[str] = (), quantities: Sequence[str] = MOTION
) -> None:
    """Raise `FormatError` unless there is what gives q, v and a; of a log, forces too, unless its base floats."""
    for lacks, what in (
        (
            "current" in quantities and not held & {*FORCES} and coordinates.base is None,
            "there are neither joint forces nor currents",
        ),
        (coordinates.wrenches and "wrench" not in held, f"there is no wrench of {some(coordinates.wrenches)}"),
        ("a" in held and "v" not in held, "there are accelerations but no velocities"),
        (not held & {"a", "t"}, "without accelerations there must be a time t in s to differentiate by"),
    ):
        if lacks:
            rest = not_understood(ignored, coordinates), expected_columns(coordinates, quantities)
            raise FormatError(f"{what}.{rest[0]} {rest[1]}.")
