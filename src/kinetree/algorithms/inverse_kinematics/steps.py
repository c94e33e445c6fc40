"""One step: the damped linear least-squares problem within bounds, to the end or nearly."""

from __future__ import annotations

from kinetree.scalars.bounded import Bounds, is_within, least_within, pushed_out, within
from kinetree.scalars.factorization import solve_positive
from kinetree.scalars.functions import Scalar, select_less
from kinetree.scalars.linalg import Matrix, Vector, dot, times, transposed
from kinetree.scalars.loops import recording, repeat


def bounded_step(J: Matrix, e: Vector, damping: Scalar, bounds: Bounds, rest: Vector | None = None) -> list[Scalar]:
    """Return the step d for which ``|J d − e|² + λ|d − rest|²`` is least within bounds around zero.

    That is where it is least without bounds, or if this is beyond them, and only then computed, what an active set
    method makes of it.
    """
    n = len(bounds)
    rest = [0.0] * n if rest is None else rest
    free = least_squares(J, e, damping, [0.0] * n, rest)

    def body(d: list[Scalar]) -> list[Scalar]:
        columns = transposed(J)
        H = [[dot(a, b) + (damping if i == j else 0.0) for j, b in enumerate(columns)] for i, a in enumerate(columns)]
        c = [dot(column, e) + damping * x for column, x in zip(columns, rest, strict=True)]
        return least_within(H, c, bounds, [0.0] * n, d)

    return repeat(body, free, until=lambda d: is_within(d, bounds) > 0.5, most=1, like=recording(*e, *free))


def near_step(J: Matrix, e: Vector, damping: Scalar, bounds: Bounds) -> list[Scalar]:
    """Return a step within bounds around zero that makes ``|J d − e|² + λ|d|²`` small: cheap, where many are tried.

    Entries at a bound that they are pushed against are held. If the best values of the others are not all within their
    bounds, those that are not are held there, and what then is beyond is cut off.
    """

    def body(s: list[list[Scalar]]) -> list[list[Scalar]]:
        d, held = s
        inside = [is_within(*([x] for x in entry)) for entry in zip(d, bounds, strict=True)]
        held = [select_less(x, 0.5, 1.0, h) for x, h in zip(inside, held, strict=True)]
        ends = [select_less(0.5, h, within(x, b), 0.0) for h, x, b in zip(held, d, bounds, strict=True)]
        best = least_squares(J, e, damping, held, ends)
        return [[within(*entry) for entry in zip(best, bounds, strict=True)], held]

    held = [pushed_out(0.0, dot(column, e), b) for column, b in zip(transposed(J), bounds, strict=True)]
    d = least_squares(J, e, damping, held, [0.0] * len(bounds))
    return repeat(body, [d, held], until=lambda s: is_within(s[0], bounds) > 0.5, most=1, like=recording(*e, *d))[0]


def least_squares(J: Matrix, e: Vector, damping: Scalar, held: Vector, d: Vector) -> list[Scalar]:
    """Return d with the entries that are not held set to where the sum of squares is least.

    ``d + Jᵀ (J Jᵀ + λ)⁻¹ r`` with J without the held columns, or ``d + (JᵀJ + λ)⁻¹ Jᵀ r``, whichever is smaller;
    r is what d leaves.
    """
    m, n = len(J), len(d)
    r = [e_i - x for e_i, x in zip(e, times(J, d), strict=True)]
    free = [[x * (1.0 - h) for x, h in zip(row, held, strict=True)] for row in J]
    if m <= n:
        A = [[dot(free[i], J[k]) + (damping if i == k else 0.0) for k in range(i + 1)] for i in range(m)]
        step = times(transposed(free), solve_positive(A, r))
    else:
        columns = transposed(free)
        A = [[dot(columns[i], columns[k]) + (damping if i == k else 0.0) for k in range(i + 1)] for i in range(n)]
        step = solve_positive(A, times(columns, r))
    return [x + s for x, s in zip(d, step, strict=True)]
