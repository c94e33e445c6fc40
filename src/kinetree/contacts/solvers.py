"""Contact solvers as values: the method, and when it has arrived."""

from __future__ import annotations

from typing import ClassVar

from kinetree.options import count, option, positive, value


@value
class ContactSolver:
    """How contact problems are solved: by Gauss–Seidel sweeps, and what they do not solve by ADMM, in turns.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.ContactSolver(tolerance=1e-9)
    ContactSolver(tolerance=1e-09)
    """

    tolerance: float | None = option(
        default=None,
        help="of the residuals: dual beside the largest motion of a contact that there would be without its forces, "
        "and complementarity beside that and the largest force; 1e-6 if not given",
        check=positive,
    )
    max_iterations: int | None = option(default=None, help="sweeps and iterations; 1000 if not given", check=count)

    method: ClassVar[str] = "auto"


@value
class GaussSeidel(ContactSolver):
    """Projected Gauss–Seidel sweeps alone."""

    method: ClassVar[str] = "pgs"


@value
class ADMM(ContactSolver):
    """The alternating direction method of multipliers alone."""

    method: ClassVar[str] = "admm"
