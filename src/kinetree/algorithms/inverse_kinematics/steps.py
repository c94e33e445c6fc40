"""One step: the damped linear least-squares problem within bounds."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.scalars.functions import Scalar, select, select_less
from kinetree.scalars.linalg import Matrix, Vector, dot, times, transposed

Bounds = Sequence[tuple[Scalar, Scalar] | None]
"""The least and the largest value of each entry of a step; None where it has no bounds."""

PASSES = 2


def bounded_step(
    J: Matrix, e: Vector, damping: Scalar, bounds: Bounds, rest: Vector | None = None, passes: int = PASSES
) -> list[Scalar]:
    """Return the step d that makes ``|J d − e|² + λ|d − rest|²`` small within bounds around zero, by an active set.

    Entries at a bound that the gradient pushes against are held at once; those that the others' best values leave
    outside are held at their bounds in the next pass, or cut off in the last.
    """
    n = len(bounds)
    rest = [0.0] * n if rest is None else rest
    columns = transposed(J)
    held: list[Scalar] = [0.0] * n
    d = list(rest)
    for j, bound in enumerate(bounds):
        if bound is not None:
            downhill = dot(columns[j], e) + damping * rest[j]
            against = ((bound[1] <= 0.0) & (downhill >= 0.0)) | ((bound[0] >= 0.0) & (downhill <= 0.0))
            held[j] = select(against, 1.0, 0.0)
            d[j] = select(against, 0.0, rest[j])
    for left in reversed(range(passes)):
        best = _least_squares(J, e, damping, held, d)
        for j, bound in enumerate(bounds):
            d[j] = best[j] if bound is None else within(best[j], bound)
            if left and bound is None:
                d[j] = rest[j]
            elif left and bound is not None:
                held[j] = select((best[j] < bound[0]) | (bound[1] < best[j]), 1.0, held[j])
                d[j] = select_less(0.5, held[j], d[j], rest[j])
    return d


def within(x: Scalar, bound: tuple[Scalar, Scalar]) -> Scalar:
    """Return x, or the bound that it is beyond."""
    low, high = bound
    x = select_less(x, low, low, x)
    return select_less(high, x, high, x)


def _least_squares(J: Matrix, e: Vector, damping: Scalar, held: Vector, d: Vector) -> list[Scalar]:
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


def solve_positive(A: Matrix, b: Vector) -> list[Scalar]:
    """Return ``A⁻¹ b`` for a positive definite A, of which the lower triangle is read: by ``A = L D Lᵀ``.

    Examples
    --------
    >>> solve_positive([[2.0], [1.0, 3.0]], [5.0, 10.0])
    [1.0, 3.0]
    """
    L: list[list[Scalar]] = []
    inverse: list[Scalar] = []
    y: list[Scalar] = []
    for i, row in enumerate(A):
        scaled: list[Scalar] = []
        for j in range(i):
            scaled.append(row[j] - dot(scaled, L[j]))
        L.append([x * d for x, d in zip(scaled, inverse, strict=True)])
        inverse.append(1.0 / (row[i] - dot(scaled, L[i])))
        y.append(b[i] - dot(L[i], y))
    x = [y_i * d for y_i, d in zip(y, inverse, strict=True)]
    for i in reversed(range(len(A))):
        for k in range(i):
            x[k] = x[k] - L[i][k] * x[i]
    return x
