"""What is given to constraints at run time, as one value, and what it makes of their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kinetree.contacts.solve import NUMBERS, ContactSolver, checked_solver, solver_of
from kinetree.errors import ArgumentError
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.groups import Group
from kinetree.options import option, value
from kinetree.scalars.functions import Scalar, is_zero, select, select_less

if TYPE_CHECKING:
    ArrayLike = Any  # and in pages the scalars that they compute with


@value
class ContactInputs:
    """What is given to the constraints of a mechanism at run time: the same value in all its functions.

    A function's documentation names the fields that it takes; another one that is given is an error. Leading axes are
    states, as those of q; in `simulate` an axis of steps may follow them.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.ContactInputs(active=[1, 0, 0, 1], solver=kt.GaussSeidel(tolerance=1e-9))
    ContactInputs(active=[1, 0, 0, 1], solver=GaussSeidel(tolerance=1e-09))
    """

    active: ArrayLike | None = option(
        default=None,
        help="1 (or True) for each constraint that acts, 0 for the others, (..., nconstraints), ordered as "
        "``mech.constraint_names``; all if not given",
    )
    friction: ArrayLike | None = option(
        default=None,
        help="Coulomb's coefficient of each contact, 0 or more, (..., nconstraints); others do not read theirs. "
        "`Contact.friction` if not given",
    )
    restitution: ArrayLike | None = option(
        default=None,
        help="number e of each constraint, 0 to 1, (..., nconstraints): the velocity along its rows becomes −e times "
        "what it was; if not given 0, and `Contact.restitution` where contacts are solved",
    )
    slots: ArrayLike | None = option(
        default=None,
        help="contact point (m), normal and gap (m) of each `ContactSlot`, (..., nslots, 7), as ``mech.slots`` makes "
        "it; empty if not given",
    )
    row_motion: ArrayLike | None = option(
        default=None,
        help="what the rows keep where anchors move, (..., 3, nrows): positions d (m, rad), velocities ḋ and "
        "accelerations d̈, with ``φ = d``, ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read "
        "where rows have none",
    )
    solver: ContactSolver | None = option(
        default=None,
        help="how contacts are solved: `GaussSeidel`, `ADMM`, or both in turns, `ContactSolver`, as if not given",
        check=checked_solver,
    )
    stick: bool = option(
        default=False,
        help="whether contacts stick in steps, as other constraints hold; if not, they push only, lift off and slide",
    )


NONE_GIVEN = ContactInputs()
"""What constraints have by themselves."""

LATE = (*NUMBERS, "row_motion")
"""Inputs that come after all others."""

RENAMED = {
    "drift": "row_motion=…",
    "method": "solver=…",
    "tolerance": "solver=kinetree.ContactSolver(tolerance=…)",
    "max_iterations": "solver=kinetree.ContactSolver(max_iterations=…)",
}
"""What to write in `ContactInputs`, by the names of arguments that have others there."""


def taking(*fields: str) -> Group:
    """Return how a function takes these fields, as its argument ``contacts``."""
    inputs = [name for name in fields if name not in ("solver", "stick")]
    inputs += NUMBERS * ("solver" in fields)
    return Group(
        name="contacts",
        kind="ContactInputs",
        fields=fields,
        inputs=tuple(name for name in inputs if name not in LATE),
        late=tuple(name for name in LATE if name in inputs),
        options=tuple(name for name in ("solver", "stick") if name in fields),
        split=_split,
        gather=gathered,
        renamed=RENAMED,
    )


def checked(contacts: object) -> ContactInputs:
    """Return the value given as ``contacts``; `ArgumentError` where it is not a `ContactInputs`."""
    if not isinstance(contacts, ContactInputs):
        field = "stick=True" if isinstance(contacts, str) and contacts == "stick" else "active=…"
        raise ArgumentError(f"contacts is {contacts!r}: write contacts=kinetree.ContactInputs({field})")
    return contacts


def _split(contacts: object) -> dict[str, Any]:
    """Return the inputs and options that are given."""
    inputs = checked(contacts)
    found = {name: x for name, x in vars(inputs).items() if x is not None and x is not False}
    if inputs.stick:
        found["stick"] = "yes"
    return found if inputs.solver is None else found | inputs.solver.arguments


def gathered(parts: Mapping[str, Any]) -> ContactInputs:
    """Return the value of which these are the inputs and options; in pages `active` is 1, 0, or NaN."""
    found = {name: x for name, x in parts.items() if name not in NUMBERS}
    if len(found) < len(parts) or "solver" in found:
        found["solver"] = solver_of(parts)
    if "stick" in found:
        found["stick"] = found["stick"] == "yes"
    if "active" in found:
        found["active"] = [select_less(0.5, x, 1.0, select(x <= 0.5, 0.0, x)) for x in found["active"]]
    return ContactInputs(**found)


def masked(on: Scalar, values: Vector) -> list[Scalar]:
    """Return values where this is 1, and zero, or NaN, where it is that."""
    return [x if is_zero(x) else select_less(0.5, on, x, on) for x in values]


def moved_anchors(row_motion: Matrix, dt: Scalar) -> Matrix:
    """Return the row_motion a time dt later, where anchors accelerate evenly."""
    d, d_dot, d_ddot = row_motion
    later = [x + dt * (y + (0.5 * dt) * z) for x, y, z in zip(d, d_dot, d_ddot, strict=True)]
    return [later, [y + dt * z for y, z in zip(d_dot, d_ddot, strict=True)], list(d_ddot)]
