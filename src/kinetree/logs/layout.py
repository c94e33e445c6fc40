"""Which column of a table is which coordinate of the robot: generous in spelling, never ambiguous."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kinetree.errors import FormatError
from kinetree.lazy import cached_property
from kinetree.logs.coordinates import Coordinates, Slot, some
from kinetree.logs.messages import (
    check_decimal_commas,
    expected_columns,
    lacking,
    not_understood,
    not_whole,
    numbered_notes,
    without_base,
)
from kinetree.logs.names import FORCES, MOTION, Number, Spellings, Vocabulary
from kinetree.logs.units import is_si, quantity_of, split_unit, wrong_unit


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
    notes : tuple of str
        How columns were read that could be meant otherwise.
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
    """A name of a header taken apart: without its unit, the unit, and what is understood, by name or by number."""

    name: str
    bare: str
    unit: str | None
    found: set[Slot]
    number: Number | None


def layout_of_header(header: Sequence[str], coordinates: Coordinates, vocabulary: Vocabulary = MOTION) -> Layout:
    """Return what the names of a header mean.

    Accepted for the entry named ``elbow``, the second of the robot: ``q.elbow``, ``elbow.q``, ``q2`` (or ``q1`` if
    counted from 0), ``joint2``, and ``elbow`` alone for a position; with any word of the vocabulary, and
    ``. _ / :`` or a space between. Time is ``t`` or ``time``. A unit may follow, ``q2 [rad]``, and a path go before,
    ``/joint_states/elbow/position``. A name that means nothing is ignored and reported. `FormatError` if a name means
    two things, two columns are the same entry, a quantity is incomplete, or a unit is not that of the SI.
    """
    names = tuple(name.strip() for name in header)
    check_decimal_commas(names)
    spellings = Spellings(coordinates, vocabulary)
    columns = [_take_apart(name, spellings) for name in names]
    numbers: dict[str, Slot] = {}
    try:
        for quantity in vocabulary.words:
            numbers |= _numbered(columns, quantity, spellings)
    except FormatError:
        _check_units(columns, [None] * len(names), spellings)  # a unit may be why the others are not whole
        raise
    slots: list[Slot | None] = []
    for column in columns:
        found = column.found | ({numbers[column.name]} if column.name in numbers else set())
        if len(found) > 1:
            options = " or ".join(sorted(map(coordinates.call, found)))
            raise FormatError(f"the column {column.name!r} may mean {options}: name it so")
        slots.append(next(iter(found), None))
    _check_units(columns, slots, spellings)
    unused = [name for name, slot in zip(names, slots, strict=True) if slot is None]
    ignored = tuple(n for n in unused if n and not n.startswith("tau."))
    notes = numbered_notes(coordinates, {slot: name for name, slot in numbers.items()})
    layout = Layout(tuple(slots), names, ignored, notes)
    _check_complete(layout, spellings)
    return layout


def layout_without_header(count: int, coordinates: Coordinates, vocabulary: Vocabulary = MOTION) -> Layout:
    """Return the layout of a table without a header, known by its number of columns.

    nq + 2 nv columns are q, v, a; one more, the time before them; nq + 1 are the time and q. Of a log, the forces are
    behind them.
    """
    forces = ["tau"] * vocabulary.has_forces
    for quantities in ([*"qva", *forces], [*"tqva", *forces], [*"tq", *forces]):
        slots = coordinates.slots(quantities)
        if len(slots) == count:
            notes = numbered_notes(coordinates, {slot: f"column {k}" for k, slot in enumerate(slots, 1)})
            return Layout(tuple(slots), tuple(map(coordinates.call, slots)), notes=notes)
    nq, nv = len(coordinates.q), len(coordinates.v)
    if vocabulary.has_forces:
        raise FormatError(
            f"{count} columns without a header: expected {nq + 3 * nv} (q, v, a, tau), {1 + nq + 3 * nv} (t, q, v, a, "
            f"tau) or {1 + nq + nv} (t, q, tau) for a robot with nq = {nq} and nv = {nv}."
        )
    joints_q, joints_v = nq - len(coordinates.of_base("q")), nv - len(coordinates.of_base("v"))
    of_joints = (joints_q + 2 * joints_v, 1 + joints_q + 2 * joints_v, 1 + joints_q)
    hint = without_base(coordinates) if joints_q < nq and count in of_joints else ""
    raise FormatError(
        f"{count} columns without a header: expected {nq + 2 * nv} (q, v, a), {1 + nq + 2 * nv} (t, q, v, a) "
        f"or {1 + nq} (t, q) for a robot with nq = {nq} and nv = {nv}.{hint}"
    )


def _take_apart(name: str, spellings: Spellings) -> _Column:
    """Return what is understood of a name: the whole, or all but its unit if that is the SI's."""
    bare, unit = split_unit(name)
    core = spellings.core(name)
    if core is None and unit is not None:
        core = spellings.core(bare)
        if core is not None and not is_si(unit, _quantity(core, spellings)):
            core = None
    number = spellings.vocabulary.number_in(core or "")
    if core is None and (quantity := quantity_of(unit)) and quantity in spellings.vocabulary.words:
        number = spellings.vocabulary.axis_in(bare, quantity)  # the unit says what "A1 [rad]" is
    return _Column(name, bare, unit, spellings.find(core or ""), number)


def _quantity(core: str, spellings: Spellings) -> str:
    found, number = spellings.find(core), spellings.vocabulary.number_in(core)
    return min(found)[0] if found else number.quantity if number else "q"


def _numbered(columns: Sequence[_Column], quantity: str, spellings: Spellings) -> dict[str, Slot]:
    """Return the slots of ``q1 … qn`` or ``q0 …`` (``q`` for a single one), if the header has one whole set of them.

    A set may be all entries of the quantity, or all but those of the floating base: with ``joint1 …``, only that.
    """
    coordinates, words = spellings.coordinates, spellings.vocabulary.words[quantity]
    size = len(coordinates.names(quantity))
    fields: dict[str, Number] = {}
    for name, bare, unit, found, number in columns:
        if number and number.quantity == quantity and not (number.of_joint and found):
            fields[name] = number
        elif size == 1 and bare.lower() in words and is_si(unit, quantity):
            fields[name] = Number(quantity, 0, False)
    base = coordinates.of_base(quantity)
    joints = [k for k in range(size) if k not in base]
    sets = [joints] if any(number.of_joint for number in fields.values()) else [list(range(size)), joints]
    held = sorted(number.number for number in fields.values())
    for entries in sets:
        for first in (0, 1):
            if entries and held == list(range(first, first + len(entries))):
                return {name: (quantity, entries[number.number - first]) for name, number in fields.items()}
    astray = [column.name for column in columns if column.name in fields and not column.found]
    if astray:
        raise FormatError(not_whole(astray, words[0], size, len(joints)))
    return {}


def _check_units(columns: Sequence[_Column], slots: Sequence[Slot | None], spellings: Spellings) -> None:
    """Raise `FormatError` for a column of another unit than the SI's, unless its quantity is there without it."""
    for column, slot in zip(columns, slots, strict=True):
        if slot is not None or column.unit is None:
            continue
        core = spellings.core(column.bare)
        if (
            core is None
            and len(spellings.coordinates.q) == 1
            and column.bare.lower() in sum(spellings.vocabulary.words.values(), ())
        ):
            core = f"{column.bare}0"  # the only joint needs no number
        if core is None:
            continue
        quantity = _quantity(core, spellings)
        if not is_si(column.unit, quantity) and not set(spellings.coordinates.slots(quantity)) <= set(slots):
            raise wrong_unit(column.name, column.unit, quantity)


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
    for quantity in spellings.vocabulary.words:
        wanted = coordinates.slots([quantity])
        missing = [slot for slot in wanted if slot not in first]
        if quantity in FORCES and missing == [(quantity, k) for k in coordinates.of_base(quantity)]:
            continue  # nothing drives a floating base
        if missing and (quantity in ("q", "wrench") or len(missing) < len(wanted)):
            raise FormatError(lacking(missing, layout.ignored, spellings))
    check_quantities({quantity for quantity, _ in first}, coordinates, layout.ignored, spellings.vocabulary)


def check_quantities(
    held: set[str], coordinates: Coordinates, ignored: Sequence[str] = (), vocabulary: Vocabulary = MOTION
) -> None:
    """Raise `FormatError` unless there are q, v and a, or what gives the missing ones by differentiation.

    Of a log, joint forces or currents too, unless its base floats, which tells without them.
    """
    rest = f"{not_understood(ignored, coordinates)} {expected_columns(coordinates, vocabulary)}."
    if vocabulary.has_forces and not held & FORCES.keys() and coordinates.base is None:
        raise FormatError(f"there are neither joint forces nor currents.{rest}")
    if coordinates.wrenches and "wrench" not in held:
        raise FormatError(f"there is no wrench of {some(coordinates.wrenches)}.{rest}")
    if "a" in held and "v" not in held:
        raise FormatError(f"there are accelerations but no velocities.{rest}")
    if "a" not in held and "t" not in held:
        raise FormatError(f"without accelerations there must be a time t in s to differentiate by.{rest}")
