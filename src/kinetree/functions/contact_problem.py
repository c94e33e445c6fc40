"""Contact problems that users have themselves, given by their matrices."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.contacts import PUSHES, SOLVERS, FrictionCone, Interval, Problem, solve
from kinetree.contacts.solve import NUMBERS, ContactSolver, checked_solver, solver_of
from kinetree.errors import ArgumentError
from kinetree.graph import Port
from kinetree.groups import Group
from kinetree.runtime.function import Function
from kinetree.runtime.options import Option
from kinetree.runtime.spec import FunctionSpec
from kinetree.signatures import friendly_call_errors
from kinetree.validation import real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

NAME = "solve_contacts"

SOLVER = Group(
    name="solver",
    kind="ContactSolver",
    fields=NUMBERS,
    inputs=NUMBERS,
    late=(),
    options=("solver",),
    split=lambda given: checked_solver("solver", given).arguments,
    gather=solver_of,
    renamed={},
)


class ContactSolution(NamedTuple):
    """What `solve_contacts` returns; arrays have the batch's axes first.

    Attributes
    ----------
    force : (..., n) array
        Within their sets.
    sigma : (..., n) array
        The motion ``(G + R) λ + g`` that they leave.
    iterations : (...) array
        Sweeps and iterations of the solver.
    primal : (...) array
        By how much a force is outside its set. This and what follows are computed from the final forces.
    dual : (...) array
        How fast something goes where it may not.
    complementarity : (...) array
        What forces do of work that they should not.
    """

    force: NDArray[Any]
    sigma: NDArray[Any]
    iterations: Any
    primal: Any
    dual: Any
    complementarity: Any


@friendly_call_errors
def solve_contacts(
    G: ArrayLike,
    g: ArrayLike,
    friction: ArrayLike = (),
    *,
    bounds: ArrayLike | None = None,
    compliance: ArrayLike | None = None,
    start: ArrayLike | None = None,
    solver: ContactSolver | None = None,
) -> ContactSolution:
    """Solve contact problems that are given by their matrices, by a function compiled for their size.

    For the motion ``σ = (G + R) λ + g`` it finds forces (impulses) λ. The rows are those of the contacts, three each:
    two along the plane and the normal one, with ``0 ≤ λ_n ⟂ σ_n ≥ 0`` (Signorini) and ``‖λ_T‖ ≤ μ λ_n`` (Coulomb),
    λ_T being against σ_T where there is any; then rows of forces that only push, ``0 ≤ λ ⟂ σ ≥ 0``, such as those of
    joint limits; and then rows of forces of a limited size, ``|λ| ≤ b``, which oppose σ, such as joint friction. Cones
    are not relaxed. Every argument takes leading batch axes, which broadcast.

    Nothing is raised where the solver does not arrive; the residuals tell. NaN stays in its state.

    Parameters
    ----------
    G : (..., n, n) array
        Delassus matrix, symmetric and positive semidefinite; it may be singular. What is above the diagonal is not
        read.
    g : (..., n) array
        The motion without these forces.
    friction : (..., k) array
        Coulomb's coefficient μ of each contact; its length is their number.
    bounds : (..., m) array, optional
        Sizes b of the last m rows. The n − 3k − m rows between are those that only push.
    compliance : (..., n) array, optional
        The diagonal R.
    start : (..., n) array, optional
        Forces to begin with, such as those of the last step; what is outside its set is brought in.
    solver : ContactSolver, optional
        Projected Gauss–Seidel sweeps, extrapolated every five, `GaussSeidel`; the alternating direction method of
        multipliers, `ADMM`; or both in turns, `ContactSolver`, as if not given. The dual residual is to be at most its
        tolerance (also an array, with batch axes) times the largest entry of g, and the complementarity that times the
        largest force.

    Returns
    -------
    ContactSolution
        ``force``, ``sigma``, ``iterations``, ``primal``, ``dual`` and ``complementarity``.

    Raises
    ------
    ArgumentError
        If shapes do not fit, a friction coefficient or bound is negative, or the solver is no `ContactSolver`.

    Examples
    --------
    A block of 2 kg on a plane with friction 0.5 is pushed along it by 4 N, and then by 20 N:

    >>> import numpy as np
    >>> import kinetree as kt
    >>> found = kt.solve_contacts(np.eye(3) / 2, np.array([[2, 0, -9.81], [10, 0, -9.81]]), [0.5])
    >>> np.round(found.force, 3) + 0.0
    array([[-4.  ,  0.  , 19.62],
           [-9.81,  0.  , 19.62]])
    >>> np.round(found.sigma[:, 0], 3) + 0.0
    array([0.   , 5.095])
    """
    given = {"G": G, "g": g, "bounds": bounds, "compliance": compliance, "start": start, "friction": friction}
    rows, contacts = _length("g", g), _length("friction", friction)
    bounded = 0 if bounds is None else _length("bounds", bounds)
    limits = rows - 3 * contacts - bounded
    if limits < 0:
        raise ArgumentError(
            f"{NAME}: {contacts} friction coefficients (three rows each) and {bounded} bounds are for "
            f"{3 * contacts + bounded} rows or more; g has {rows}"
        )
    for name, value in (("friction", friction), ("bounds", bounds)):
        if value is not None and np.any(real_array(f"{NAME}: {name}", value) < 0):
            raise ArgumentError(f"{NAME}: {name} has negative entries; give 0 or more")
    numbers = {"friction": contacts, "bounds": bounded}
    arguments = {name: x for name, x in given.items() if x is not None and numbers.get(name, True)}
    return ContactSolution(*contact_solver(contacts, limits, bounded)(**arguments, solver=solver))


def contact_solver(contacts: int, limits: int = 0, bounded: int = 0) -> Function:
    """Return the compiled function that `solve_contacts` calls for problems of this size.

    It saves the time for looking at shapes, can be part of functions that `compile` makes, and be written as C.

    Parameters
    ----------
    contacts : int
        Number of contacts, three rows each.
    limits : int
        Number of rows whose forces only push.
    bounded : int
        Number of rows whose forces have a limited size.

    Returns
    -------
    Function
        Its arguments are ``G``, ``g``, ``friction`` and ``bounds`` (as far as there are any), and by name
        ``compliance``, ``start`` and ``solver``, those of `solve_contacts`.

    Raises
    ------
    ArgumentError
        If a number is negative or no whole number, or there is no row.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> solve = kt.contact_solver(contacts=0, limits=2)
    >>> np.round(solve(np.array([[2.0, 1.0], [1.0, 2.0]]), [-2.0, 3.0]).force, 6) + 0.0
    array([1., 0.])
    """
    for name, number in (("contacts", contacts), ("limits", limits), ("bounded", bounded)):
        if isinstance(number, bool) or not isinstance(number, Integral) or number < 0:
            raise ArgumentError(f"contact_solver: {name} is {number!r}; give a whole number, 0 or more")
    if not contacts + limits + bounded:
        raise ArgumentError("contact_solver: give the number of contacts, limits or bounded forces; all are 0")
    return _made(int(contacts), int(limits), int(bounded))


@functools.cache
def _made(contacts: int, limits: int, bounded: int) -> Function:
    n = 3 * contacts + limits + bounded

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        cones = [FrictionCone(mu) for mu in given.get("friction", ())]
        intervals = [Interval(b) for b in given.get("bounds", ())]
        lower = given["G"]
        G = [[lower[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]
        problem = Problem(G, given["g"], [*cones, *[PUSHES] * limits, *intervals]).compliant(given.get("compliance"))
        numbers = {name: given[name] for name in NUMBERS if name in given}
        return solve(problem, options["solver"], start=given.get("start"), **numbers)

    inputs = {"G": (n, n), "g": (n,), "friction": (contacts,), "bounds": (bounded,)}
    optional = {"compliance": (n,), "start": (n,), "tolerance": (), "max_iterations": ()}
    outputs = {"force": (n,), "sigma": (n,), "iterations": (), "primal": (), "dual": (), "complementarity": ()}
    ports = [Port(name, shape) for name, shape in (inputs | optional).items() if shape != (0,)]
    return Function(
        FunctionSpec(
            name=NAME,
            doc=f"The contact problem of {contacts} contacts, {limits} limits and {bounded} bounded forces.\n\n"
            f"{_section(solve_contacts, 'Parameters')}\n\n{_section(ContactSolution, 'Attributes')}",
            inputs=tuple(ports),
            outputs=tuple(Port(*item) for item in outputs.items()),
            evaluate=evaluate,
            identity=lambda: repr((NAME, contacts, limits, bounded)).encode(),
            optional=tuple(optional),
            options=(Option("solver", tuple(SOLVERS)),),
            group=SOLVER,
            reduce=lambda: (contact_solver, (contacts, limits, bounded)),
        )
    )


def _length(name: str, x: ArrayLike) -> int:
    shape = np.shape(x)
    if not shape:
        raise ArgumentError(f"{NAME}: {name} has one entry for each of its rows or contacts; a number was given")
    return int(shape[-1])


def _section(documented: object, heading: str) -> str:
    """Return a section of a docstring, from its heading on."""
    text = inspect.getdoc(documented) or heading
    return text[text.index(heading) :].partition("\n\n")[0]
