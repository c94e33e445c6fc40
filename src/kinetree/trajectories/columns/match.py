"""Which column of a table is which coordinate of the robot: generous in spelling, never ambiguous."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.errors import FormatError
from kinetree.trajectories.columns.messages import (
    decimal_commas,
    expected_columns,
    lacking,
    not_understood,
    not_whole,
    numbered_notes,
    without_base,
)
from kinetree.trajectories.columns.names import QUANTITIES, Number, Spellings, number_in
from kinetree.trajectories.columns.units import is_si, split_unit, wrong_unit
from kinetree.trajectories.coordinates import Coordinates, Slot


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

    def columns(self, quantity: str) -> list[int]:
        """Return the columns of a quantity, in the order of its entries; empty if the table does not have it."""
        held = [(slot[1], k) for k, slot in enumerate(self.slots) if slot is not None and slot[0] == quantity]
        return [k for _, k in sorted(held)]


def layout_of_header(header: Sequence[str], coordinates: Coordinates) -> Layout:
    """Return what the names of a header mean.

    Accepted for the entry named ``elbow``, the second of the robot: ``q.elbow``, ``elbow.q``, ``q2`` (or ``q1`` if
    counted from 0), ``joint2``, and ``elbow`` alone for a position; with any word of `QUANTITIES`, and
    ``. _ / :`` or a space between. Time is ``t`` or ``time``. A unit may follow, ``q2 [rad]``, and a path go before,
    ``/joint_states/elbow/position``. A name that means nothing is ignored and reported.

    Raises
    ------
    FormatError
        If a name means two things, two columns are the same entry, a quantity is incomplete, or a unit is not that
        of the SI.
    """
    names = [name.strip() for name in header]
    decimal_commas(names)
    spellings = Spellings(coordinates)
    cores = [_core(name, spellings) for name in names]
    numbers: dict[str, Slot] = {}
    try:
        for quantity in QUANTITIES:
            numbers |= _numbered(names, cores, quantity, spellings, coordinates)
    except FormatError:
        _check_units(names, [None] * len(names), spellings, coordinates)  # a unit may be why the others are not whole
        raise
    slots: list[Slot | None] = []
    for name, core in zip(names, cores, strict=True):
        found = (spellings.find(core) if core else set()) | ({numbers[name]} if name in numbers else set())
        if len(found) > 1:
            options = " or ".join(sorted(coordinates.call(slot) for slot in found))
            raise FormatError(f"the column {name!r} may mean {options}: name it so")
        slots.append(next(iter(found), None))
    _check_units(names, slots, spellings, coordinates)
    unused = [name for name, slot in zip(names, slots, strict=True) if slot is None]
    ignored = tuple(n for n in unused if n and not n.startswith("tau."))
    notes = numbered_notes(coordinates, {slot: name for name, slot in numbers.items()})
    layout = Layout(tuple(slots), tuple(names), ignored, notes)
    _check_complete(layout, spellings, coordinates)
    return layout


def layout_without_header(count: int, coordinates: Coordinates) -> Layout:
    """Return the layout of a table without a header, known by its number of columns.

    nq + 2 nv columns are q, v, a; one more, the time before them; nq + 1 are the time and q.
    """
    q, v, a = (coordinates.slots(x) for x in "qva")
    t = [("t", 0)]
    for slots in (q + v + a, t + q + v + a, t + q):
        if len(slots) == count:
            names = tuple(coordinates.call(slot) for slot in slots)
            notes = numbered_notes(coordinates, {slot: f"column {k + 1}" for k, slot in enumerate(slots)})
            return Layout(tuple(slots), names, notes=notes)
    nq, nv = len(q), len(v)
    base, base_v = len(coordinates.of_base("q")), len(coordinates.of_base("v"))
    joints = nq - base + 2 * (nv - base_v)
    hint = without_base(coordinates) if base and count in (joints, joints + 1, nq - base + 1) else ""
    raise FormatError(
        f"{count} columns without a header: expected {nq + 2 * nv} (q, v, a), {1 + nq + 2 * nv} (t, q, v, a) "
        f"or {1 + nq} (t, q) for a robot with nq = {nq} and nv = {nv}.{hint}"
    )


def _core(name: str, spellings: Spellings) -> str | None:
    """Return what is understood of a name whose unit, if it has any, is that of the SI."""
    bare, unit = split_unit(name)
    core = spellings.core(name)
    if core is not None or unit is None:
        return core
    core = spellings.core(bare)
    return core if core is not None and is_si(unit, _quantity(core, spellings)) else None


def _quantity(core: str, spellings: Spellings) -> str:
    found = spellings.find(core)
    number = number_in(core)
    return min(found)[0] if found else number.quantity if number else "q"


def _numbered(
    names: Sequence[str], cores: Sequence[str | None], quantity: str, spellings: Spellings, coordinates: Coordinates
) -> dict[str, Slot]:
    """Return the slots of ``q1 … qn`` or ``q0 …`` (``q`` for a single one), if the header has one whole set of them.

    A set may be all entries of the quantity, or all but those of the floating base: with ``joint1 …``, only that.
    """
    size = len(coordinates.names(quantity))
    fields: dict[str, Number] = {}
    for name, core in zip(names, cores, strict=True):
        number = number_in(core) if core else None
        if number and number.quantity == quantity and not (number.of_joint and spellings.find(core or "")):
            fields[name] = number
            continue
        bare, unit = split_unit(name)
        if size == 1 and bare.lower() in QUANTITIES[quantity] and is_si(unit, quantity):
            fields[name] = Number(quantity, 0, False)
    base = coordinates.of_base(quantity)
    joints = [k for k in range(size) if k not in base]
    sets = [joints] if any(number.of_joint for number in fields.values()) else [list(range(size)), joints]
    held = sorted(number.number for number in fields.values())
    for entries in sets:
        for first in (0, 1):
            if entries and held == list(range(first, first + len(entries))):
                return {name: (quantity, entries[number.number - first]) for name, number in fields.items()}
    astray = [
        name for name, core in zip(names, cores, strict=True) if name in fields and not spellings.find(core or "")
    ]
    if astray:
        raise FormatError(not_whole(astray, QUANTITIES[quantity][0], size, len(joints)))
    return {}


def _check_units(
    names: Sequence[str], slots: Sequence[Slot | None], spellings: Spellings, coordinates: Coordinates
) -> None:
    """Raise `FormatError` for a column of another unit than the SI's, unless its quantity is there without it."""
    held = {slot for slot in slots if slot is not None}
    for name, slot in zip(names, slots, strict=True):
        bare, unit = split_unit(name)
        if slot is not None or unit is None:
            continue
        core = spellings.core(bare)
        if core is None and len(coordinates.q) == 1 and bare.lower() in sum(QUANTITIES.values(), ()):
            core = f"{bare}0"
        if core is None:
            continue
        quantity = _quantity(core, spellings)
        wanted = {("t", 0)} if quantity == "t" else set(coordinates.slots(quantity))
        if not is_si(unit, quantity) and not wanted <= held:
            raise wrong_unit(name, unit, quantity)


def _check_complete(layout: Layout, spellings: Spellings, coordinates: Coordinates) -> None:
    first: dict[Slot, str] = {}
    for slot, name in zip(layout.slots, layout.names, strict=True):
        if slot is None:
            continue
        if slot in first:
            raise FormatError(f"the columns {first[slot]!r} and {name!r} are both {coordinates.call(slot)}")
        first[slot] = name
    for quantity in QUANTITIES:
        wanted = coordinates.slots(quantity)
        missing = [slot for slot in wanted if slot not in first]
        if missing and (quantity == "q" or len(missing) < len(wanted)):
            raise FormatError(lacking(missing, layout.ignored, spellings, coordinates))
    check_quantities({quantity for quantity, _ in first}, coordinates, layout.ignored)


def check_quantities(held: set[str], coordinates: Coordinates, ignored: Sequence[str] = ()) -> None:
    """Raise `FormatError` unless q, v, a are held, or what gives the missing ones by differentiation."""
    rest = f"{not_understood(ignored)} {expected_columns(coordinates)}."
    if "a" in held and "v" not in held:
        raise FormatError(f"there are accelerations but no velocities.{rest}")
    if "a" not in held and "t" not in held:
        raise FormatError(f"without accelerations there must be a time t in s to differentiate by.{rest}")
