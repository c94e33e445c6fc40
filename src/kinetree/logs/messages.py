"""What to say about columns: the errors, with the likely remedy, and the notes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from kinetree.errors import FormatError
from kinetree.logs.columns import MOTION, QUANTITIES, QUATERNION, TWIST, Coordinates, Slot, some
from kinetree.logs.names import Spellings

DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
NO_DECIMAL_COMMAS = "decimal commas are not read: write 0.5, not 0,5"

_LIKE_A = re.compile(r"acc|alpha|ddot|dotdot|dd(?![a-z])", re.IGNORECASE)
_LIKE_V = re.compile(r"vel|speed|omega|dot|rate", re.IGNORECASE)


def expected_columns(coordinates: Coordinates, quantities: Sequence[str] = MOTION) -> str:
    """Return a sentence that lists the columns which a table should have, the first few of each quantity.

    Examples
    --------
    >>> expected_columns(Coordinates(("hip", "knee"), ("hip", "knee")))
    'Expected columns: t, q.hip, q.knee, v.hip, v.knee, a.hip, a.knee (v and a may be left out if there is t)'
    """
    every = ["t"]
    for quantity in quantities:
        names = coordinates.columns(quantity)
        every += names if len(names) <= 3 else [*names[:2], "…"]
    rest = "; of tau and current, one is enough" if "current" in quantities else ""
    return f"Expected columns: {', '.join(every)} (v and a may be left out if there is t{rest})"


def lacking(missing: Sequence[Slot], ignored: Sequence[str], spellings: Spellings) -> str:
    """Return the message for a header without some entries of a quantity."""
    coordinates = spellings.coordinates
    if coordinates.base and list(missing) == [("q", k) for k in coordinates.of_base("q")]:
        remedy = without_base(coordinates)
        return f"the header has no columns of the floating base.{remedy}{not_understood(ignored, coordinates)}"
    known = [spelling for spelling, slots in spellings.meanings.items() if slots & set(missing)]
    names = some(list(map(coordinates.call, missing)), 4)
    expected = expected_columns(coordinates, spellings.quantities)
    return f"the header lacks {names}.{not_understood(ignored, coordinates, known)} {expected}."


def not_understood(ignored: Sequence[str], coordinates: Coordinates, known: Sequence[str] = ()) -> str:
    """Return a sentence that names the columns which mean nothing, with the nearest known spelling; or nothing."""
    if not ignored:
        return ""
    names = list(ignored)
    for k, name in enumerate(names[:6]):
        if near := difflib.get_close_matches(name, known, n=1, cutoff=0.8):
            names[k] = f"{name} (did you mean {near[0]}?)"
    return f" Not understood: {some(names)}.{following(ignored, coordinates)}"


def following(ignored: Sequence[str], coordinates: Coordinates) -> str:
    """Return a sentence about columns of joints that follow others; or nothing.

    Examples
    --------
    >>> following(["q.left", "x"], Coordinates(("right",), ("right",), (("left", "right"),)))
    ' left follows right: such joints have no columns of their own.'
    """
    found = [
        f"{joint} follows {leader}"
        for joint, leader in coordinates.followers
        if any(re.search(rf"(^|\W|^\w{{,3}}_){re.escape(joint)}(_\w{{,3}}$|\W|$)", name) for name in ignored)
    ]
    return f" {some(found, 3)}: such joints have no columns of their own." if found else ""


def without_base(coordinates: Coordinates) -> str:
    """Return what to do about a motion of the joints alone, for a robot whose base floats."""
    add = f"add {coordinates.base}.x … {coordinates.base}.qw"
    rooted = coordinates.base == "root_joint"
    return f" Hold the base with --fixed-base, or {add}." if rooted else f" Its base floats: {add}."


def not_whole(astray: Sequence[str], word: str, size: int, joints: int) -> str:
    """Return the message for numbered columns that are not a whole set."""
    message = (
        f"the columns {some(astray)} are not a whole set: expected {size} of them, "
        f"{word}1 … {word}{size} or {word}0 … {word}{size - 1}"
    )
    return message if joints == size else f"{message}; or {joints}, and the floating base by name"


def numbered_notes(coordinates: Coordinates, called: Mapping[Slot, str]) -> tuple[str, ...]:
    """Return how quaternions and twists are read whose entries are `called` by number: that leaves their order open."""
    groups: list[tuple[str, int, tuple[str, ...]]] = [("q", k, QUATERNION) for k in coordinates.quaternions]
    groups += [(x, coordinates.of_base(x)[0], TWIST) for x in "va" if coordinates.base is not None]
    notes = []
    for quantity, first, ends in groups:
        names = [called.get((quantity, first + k)) for k in range(len(ends))]
        if all(names):
            joint = coordinates.names(quantity)[first].rpartition(".")[0]
            axes = "" if quantity == "q" else ", in its own axes"
            notes.append(f"{names[0]} … {names[-1]} are read as ({', '.join(ends)}) of {joint}{axes}")
    return tuple(notes[:3])


def unused_columns(ignored: Sequence[str], quantities: set[str], coordinates: Coordinates | None = None) -> str:
    """Return the warning about columns that are not used; it says which word to use if they look like v or a.

    Examples
    --------
    >>> unused_columns(["hip_speed"], {"t", "q"})
    'columns not used: hip_speed. Velocities (hip_speed?) go by one of the words v, qd, dq, vel, velocity, …'
    """
    said = f"columns not used: {some(ignored, 8)}"
    like_a = [name for name in ignored if _LIKE_A.search(name)]
    like_v = [name for name in ignored if _LIKE_V.search(name) and name not in like_a]
    for quantity, what, like in (("v", "Velocities", like_v), ("a", "Accelerations", like_a)):
        if like and quantity not in quantities:
            words = ", ".join(QUANTITIES[quantity].words[:5])
            said += f". {what} ({some(like, 2)}?) go by one of the words {words}, …"
    more = following(ignored, coordinates) if coordinates else ""
    return f"{said}.{more}" if more else said


def check_decimal_commas(fields: Sequence[str]) -> None:
    """Raise `FormatError` if the names of a header are numbers with decimal commas."""
    if any(DECIMAL_COMMA.fullmatch(field) for field in fields):
        raise FormatError(NO_DECIMAL_COMMAS)
