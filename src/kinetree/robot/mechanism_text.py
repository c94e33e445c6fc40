"""What a mechanism is made of, for people: what ``print(mech)`` and ``kinetree info`` show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from kinetree.errors import ArgumentError
from kinetree.robot.mobility import mobility
from kinetree.robot.table import plain_text, print_robot
from kinetree.tables import Cells, number

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table

    from kinetree.constraints.types import Constraint
    from kinetree.robot.mechanism import Mechanism
    from kinetree.validation import Array


MANY = 36
"""Rows up to which functions compile in a few seconds."""


def print_mechanism(out: Console, mech: Mechanism) -> None:
    """Print the tree, the constraints, and what they leave free."""
    print_robot(out, mech.tree)
    out.print(constraint_table(mech, out.width))
    if mech.nrows > MANY:
        out.print(f"[dim]{mech.nrows} rows are unrolled in compiled code: functions take seconds to compile, once[/]")
    q, residual, closed = assembled(mech)
    at = "closed from neutral on" if closed else f"neutral; from there it does not close, by {number(residual.max())}"
    title, *lines = said(mech, q).splitlines()
    out.print(f"[bold]{escape(title)}[/] [dim]({escape(at)})[/]")
    for line in lines:
        what, _, names = line.partition(": ")
        out.print(f"[dim]{escape(what)}:[/] {escape(names)}")


def said(mech: Mechanism, q: Array) -> str:
    """Return the mobility at a configuration in words."""
    try:
        return str(mobility(mech, q))
    except ArgumentError as error:
        return f"mobility unknown: {error}"


def as_text(mech: Mechanism) -> str:
    """Return the plain text that ``kinetree info`` prints of this mechanism."""
    return plain_text(lambda out: print_mechanism(out, mech), mech.tree.model)


def facts(mech: Mechanism) -> dict[str, object]:
    """Return the constraints and the mobility for JSON."""
    q, residual, closed = assembled(mech)
    found = mobility(mech, q)
    constraints = [
        {"name": name, "type": type(c).__name__.lower(), "between": list(c.of), "rows": c.size, "residual": float(r)}
        for name, c, r in zip(mech.constraint_names, mech.constraints, residual, strict=True)
    ]
    numbers = {key: getattr(found, key) for key in ("mobility", "rank", "gruebler", "nrows")}
    names = {key: list(getattr(found, key)) for key in ("dependent", "independent", "immobile")}
    redundant = {name: list(rows) for name, rows in found.redundant.items()}
    values = found.singular_values.tolist()
    return {
        "constraints": constraints,
        "closed": closed,
        "q": q.tolist(),
        "mobility": {**numbers, **names, "redundant": redundant, "singular_values": values},
    }


def constraint_table(mech: Mechanism, width: int) -> Table:
    """Return the constraints, one a line."""
    columns: dict[str, JustifyMethod] = {"constraint": "left", "type": "left", "between": "left", "rows": "right"}
    rows = [(c.label, kind(c), " – ".join(c.of), str(c.size)) for c in mech.constraints]
    return Cells(columns, rows, ("between", "type")).for_terminal(width)


def kind(constraint: Constraint) -> str:
    """Return a constraint's type: ``weld``, and of a loop with its joint's, ``loop: revolute``."""
    name, joint = type(constraint).__name__.lower(), getattr(constraint, "joint", None)
    return name if joint is None else f"{name}: {type(joint).__name__.lower()}"


def assembled(mech: Mechanism) -> tuple[Array, Array, bool]:
    """Return the configuration that closes it from neutral on, what is left open, and whether it is closed."""
    from kinetree.constraints.pages.assembly import assemble

    found: Any = assemble(mech.model, mech.tree.neutral().tolist())  # over floats: nothing is compiled for a few steps
    q, closed, residual, _ = found
    return np.array(q, dtype=float), np.array(residual, dtype=float), closed > 0.5
