"""Which column of a table is which coordinate of the robot, and what to say of those that are none, or missing."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from kinetree.errors import FormatError
from kinetree.lazy import cached_property
from kinetree.logs.columns import (
    FORCES,
    MOTION,
    QUANTITIES,
    QUATERNION,
    TWIST,
    Column,
    Coordinates,
    Slot,
    Spellings,
    some,
)

DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
NO_DECIMAL_COMMAS = "decimal commas are not read: write 0.5, not 0,5"


def expected_columns(coordinates: Coordinates, quantities: Sequence[str] = MOTION) -> str:
    """Return a sentence that lists the columns which a table should have, the first few of each quantity."""
    every = ["t"]
    for quantity in quantities:
        names = coordinates.columns(quantity)
        every += names if len(names) <= 3 else [*names[:2], "…"]
    rest = "; of tau and current, one is enough" if "current" in quantities else ""
    return f"Expected columns: {', '.join(every)} (v and a may be left out if there is t{rest})"


def not_understood(ignored: Sequence[str], known: Sequence[str] = ()) -> str:
    """Return a sentence that names the columns which mean nothing, with the nearest known spelling; or nothing."""
    if not ignored:
        return ""
    near = [difflib.get_close_matches(name, known, n=1, cutoff=0.8) for name in ignored[:6]]
    asked = [f"{name} (did you mean {x[0]}?)" if x else name for name, x in zip(ignored, near, strict=False)]
    return f" Not understood: {some([*asked, *ignored[6:]])}."


def without_base(coordinates: Coordinates) -> str:
    """Return the advice about a motion of the joints alone, for a robot whose base floats."""
    hold = "Hold the base with --fixed-base, or" if coordinates.base == "root_joint" else "Its base floats:"
    return f" {hold} add {coordinates.base}.x … {coordinates.base}.qw."


@dataclass(frozen=True)
class Layout:
    """Where a table's columns go.

    For each column its slot, None where it is not used, and what to call it in a message; which are not used, torques
    apart; and how columns were read that could be meant otherwise.
    """

    coordinates: Coordinates
    slots: tuple[Slot | None, ...]
    names: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def of_motors(self) -> str:
        """Which forces are called those of motors and are taken as those of joints, if any."""
        pairs = zip(self.names, self.slots, strict=True)
        found = [x for x, slot in pairs if slot and slot[0] == "tau" and "motor_torque" in x.lower().replace(" ", "_")]
        return f"{some(found, 2)} are taken as forces at the joints" if found else ""

    @cached_property
    def groups(self) -> dict[str, list[int]]:
        """The columns of each quantity that is there, in the order of its entries; time is the first."""
        held = sorted((slot, k) for k, slot in enumerate(self.slots) if slot is not None)
        found = {x: [k for slot, k in held if slot[0] == x] for x in dict.fromkeys(s[0] for s in self.slots if s)}
        return {"t": found["t"]} | found if "t" in found else found

    @property
    def unused(self) -> list[str]:
        """A warning about columns that are not used, if there are any."""
        return [f"columns not used: {some(self.ignored, 8)}"] if self.ignored else []


def layout_of_header(header: Sequence[str], coordinates: Coordinates, quantities: Sequence[str] = MOTION) -> Layout:
    """Return the meaning of the names of a header, in any of the `Spellings`; those without one are ignored.

    `FormatError` if a name means two things, two columns are the same entry, a quantity is incomplete, or a unit is not
    that of the SI.
    """
    names = tuple(name.strip() for name in header)
    if any(map(DECIMAL_COMMA.fullmatch, names)):
        raise FormatError(NO_DECIMAL_COMMAS)
    spellings = Spellings(coordinates, quantities)
    columns = [spellings.column(name) for name in names]
    numbers = {name: slot for x in quantities for name, slot in _numbered(columns, x, coordinates).items()}
    slots: list[Slot | None] = []
    for column in columns:
        found = column.found | ({numbers[column.name]} if column.name in numbers else set())
        if len(found) > 1:
            options = " or ".join(sorted(map(coordinates.call, found)))
            raise FormatError(f"the column {column.name!r} may mean {options}: name it so")
        slots.append(next(iter(found), None))
    unused = (x.partition("[:")[0] for x, slot in zip(names, slots, strict=True) if slot is None)  # an array once
    ignored = tuple(x for x in dict.fromkeys(unused) if x and x.partition(".")[0] != "tau")
    notes = _notes(coordinates, {slot: name for name, slot in numbers.items()})
    layout = Layout(coordinates, tuple(slots), names, ignored, notes)
    _check(layout, columns, spellings)
    return layout


def layout_without_header(count: int, coordinates: Coordinates, quantities: Sequence[str] = MOTION) -> Layout:
    """Return the layout of a table without a header by its number of columns: (t), q, v, a or t, q; of a log tau."""
    forces = ["tau"] * ("current" in quantities)
    sets = [*"qva", *forces], [*"tqva", *forces], [*"tq", *forces]
    for each in sets:
        slots = coordinates.slots(*each)
        if len(slots) == count:
            notes = _notes(coordinates, {slot: f"column {k}" for k, slot in enumerate(slots, 1)})
            return Layout(coordinates, tuple(slots), tuple(map(coordinates.call, slots)), notes=notes)
    first, second, last = (f"{len(coordinates.slots(*each))} ({', '.join(each)})" for each in sets)
    few = not forces and coordinates.base is not None and count < len(coordinates.slots(*"tqva"))
    raise FormatError(
        f"{count} columns without a header: expected {first}, {second} or {last} for a robot with "
        f"nq = {len(coordinates.q)} and nv = {len(coordinates.v)}.{without_base(coordinates) if few else ''}"
    )


def _numbered(columns: Sequence[Column], quantity: str, coordinates: Coordinates) -> dict[str, Slot]:
    """Return the slots of ``q1 … qn`` or ``q0 …`` (``q`` for a single one), if the header has one whole set of them.

    A set may be all entries of the quantity, or all but those of the floating base: with ``joint1 …``, only that.
    """
    fields = {
        column.name: number
        for column in columns
        if (number := column.number) and number.quantity == quantity and not (number.of_joint and column.found)
    }
    joints = coordinates.of_joints(quantity)
    every = [] if any(number.of_joint for number in fields.values()) else [[*range(len(coordinates.names(quantity)))]]
    held = sorted(number.number for number in fields.values())
    for entries, first in product([*every, joints], (0, 1)):
        if entries and held == [*range(first, first + len(entries))]:
            return {name: (quantity, entries[number.number - first]) for name, number in fields.items()}
    return {}


def _notes(coordinates: Coordinates, called: Mapping[Slot, str]) -> tuple[str, ...]:
    """Return how quaternions and twists are read whose entries are `called` by number: that leaves their order open."""
    quaternions = [("q", k, QUATERNION) for k, name in enumerate(coordinates.q) if name.endswith(".qx")]
    twists = [(x, coordinates.of_base(x)[0], TWIST) for x in "va" if coordinates.base is not None]
    notes = []
    for quantity, first, ends in (*quaternions, *twists):
        names = [called.get((quantity, first + k)) for k in range(len(ends))]
        if all(names):
            joint = coordinates.names(quantity)[first].rpartition(".")[0]
            axes = "" if quantity == "q" else ", in its own axes"
            notes.append(f"{names[0]} … {names[-1]} are read as ({', '.join(ends)}) of {joint}{axes}")
    return tuple(notes[:3])


def _check(layout: Layout, columns: Sequence[Column], spellings: Spellings) -> None:
    """Raise `FormatError` for other units, two columns of the same entry, and what is incomplete."""
    coordinates, quantities, first = layout.coordinates, spellings.quantities, dict[Slot, str]()
    for column, slot in zip(columns, layout.slots, strict=True):
        if slot is None and column.mistaken and not {*coordinates.slots(column.mistaken)} <= {*layout.slots}:
            expected = f"expected {QUANTITIES[column.mistaken].expected}"
            raise FormatError(f"the unit {column.unit!r} of the column {column.name!r} is not read: {expected}")
        if slot in first:
            raise FormatError(f"the columns {first[slot]!r} and {column.name!r} are both {coordinates.call(slot)}")
        if slot is not None:
            first[slot] = column.name
    for x in quantities:
        free = [column for column, slot in zip(columns, layout.slots, strict=True) if slot is None and column.number]
        if astray := [column.name for column in free if column.number and column.number.quantity == x]:
            word, size, joints = QUANTITIES[x].words[0], len(coordinates.names(x)), len(coordinates.of_joints(x))
            rest = "" if joints == size else f"; or {joints}, and the floating base by name"
            raise FormatError(
                f"the columns {some(astray)} are not a whole set: expected {size} of them, {word}1 … {word}{size} or "
                f"{word}0 … {word}{size - 1}{rest}"
            )
    expected = expected_columns(coordinates, quantities)
    for x in quantities:
        wanted, base = coordinates.slots(x), [(x, k) for k in coordinates.of_base(x)]
        missing = [slot for slot in wanted if slot not in first]
        if not missing or (x in FORCES and missing == base) or (x not in ("q", "wrench") and missing == wanted):
            continue  # nothing drives a floating base
        if x == "q" and missing == base:
            rest = without_base(coordinates) + not_understood(layout.ignored)
            raise FormatError(f"the header has no columns of the floating base.{rest}")
        rest = not_understood(layout.ignored, spellings.known(missing))
        raise FormatError(f"the header lacks {some([*map(coordinates.call, missing)], 4)}.{rest} {expected}.")
    held = layout.groups.keys()
    for lacks, what in (
        (
            "current" in quantities and held.isdisjoint(FORCES) and coordinates.base is None,
            "there are neither joint forces nor currents",
        ),
        ("a" in held and "v" not in held, "there are accelerations but no velocities"),
        (held.isdisjoint("at"), "without accelerations there must be a time t in s to differentiate by"),
    ):
        if lacks:
            raise FormatError(f"{what}.{not_understood(layout.ignored)} {expected}.")
