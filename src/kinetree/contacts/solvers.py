"""Contact solvers as values: the method, and when it has arrived."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Complex
from typing import Any, ClassVar

from kinetree.errors import ArgumentError
from kinetree.options import Check, count, option, positive, value


def _if_known(check: Check) -> Check:
    """Return a check that passes over what is not a number yet: arguments of functions that are being compiled."""

    def checked(name: str, given: Any) -> Any:
        return check(name, given) if isinstance(given, Complex | Iterable) else given

    return checked


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
        check=_if_known(positive),
    )
    max_iterations: int | None = option(
        default=None, help="sweeps and iterations; 1000 if not given", check=_if_known(count)
    )

    method: ClassVar[str] = "auto"

    @property
    def arguments(self) -> dict[str, Any]:
        """What `kinetree.contacts.solve` takes of it."""
        return {"method": self.method} | {name: x for name, x in vars(self).items() if x is not None}


@value
class GaussSeidel(ContactSolver):
    """Projected Gauss–Seidel sweeps alone."""

    method: ClassVar[str] = "pgs"


@value
class ADMM(ContactSolver):
    """The alternating direction method of multipliers alone."""

    method: ClassVar[str] = "admm"


def checked_solver(name: str, given: Any) -> ContactSolver:
    """Return what is given as a solver; `ArgumentError` where it is none."""
    if not isinstance(given, ContactSolver):
        raise ArgumentError(f"{name} is {given!r}: write kinetree.GaussSeidel(…), ADMM(…) or ContactSolver(…)")
    return given
