"""Convex quadratic functions within bounds: where they are least, by an active set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.scalars.factorization import solve_positive
from kinetree.scalars.functions import Scalar, larger, or_one, select, select_less, smaller
from kinetree.scalars.linalg import NOISE, Matrix, Vector, dot, minus, times
from kinetree.scalars.loops import recording, repeat

Bound = tuple[Scalar, Scalar] | None
"""The least and the largest value of a scalar, which may be infinite, or None."""

Bounds = Sequence[Bound]

PASSES = 8
"""Times the number of entries: the most passes. With several bounds the step of an arm takes two to four."""

EAGER = 5.0
"""The passes in which entries are let go at once, so that fewer are needed in all."""


class _State(NamedTuple):
    """What the loop carries; x is within the bounds."""

    x: list[Scalar]
    target: list[Scalar]  # where the function is least with some entries held at their bounds
    let_go: Scalar  # 1 if entries that are pushed inwards are not held, 0 if all at a bound are, -1 at the end
    passes: Scalar


def least_within(H: Matrix, c: Vector, bounds: Bounds, x: Vector, target: Vector) -> list[Scalar]:
    """Return the x within bounds for which ``½ xᵀH x − cᵀx`` is least, H being positive definite.

    A pass goes from x, which begins within the bounds, towards a target: all of the way, with what is beyond its bounds
    cut off, or straight ahead while the function falls, up to the first bound, whichever gains more (Bertsekas 1982,
    "Projected Newton methods"). Then entries at bounds are held, and the next target is where the function is least,
    the others free. In first passes only those are held that are pushed against their bounds; later all are, until
    the target is reached (Nocedal and Wright 2006, section 16.5): then the function, which falls, is never at the same
    target again, so that this ends: at the optimum but for rounding, or, cut short, no higher than where it began.

    Examples
    --------
    >>> least_within([[2.0, 1.0], [1.0, 2.0]], [3.0, 0.0], [(0.0, 1.0), None], [0.0, 0.0], [2.0, -1.0])
    [1.0, -0.5]
    """

    def body(s: _State) -> _State:
        x, gain = _nearer(H, minus(c, times(H, s.x)), bounds, s.x, s.target)
        g = minus(c, times(H, x))
        let_go: Scalar = 1.0
        for a, b in zip(x, s.target, strict=True):
            let_go = select(a == b, let_go, select_less(s.passes, EAGER, 1.0, 0.0))
        pushes = [select_less(0.5, let_go, a, 0.0) for a in g]
        held = [pushed_out(*entry) for entry in zip(x, pushes, bounds, strict=True)]
        step = _newton(H, g, held)
        target = [a + b for a, b in zip(x, step, strict=True)]
        best = _is_best(target, c, minus(g, times(H, step)), bounds, held)
        ended = select(gain > 0.0, best, select_less(0.5, s.let_go, 1.0, best))
        x = [select_less(0.5, best, a, b) for a, b in zip(target, x, strict=True)]
        return _State(x, target, select_less(0.5, ended, -1.0, let_go), s.passes + 1.0)

    state = _State(list(x), list(target), 0.0, 0.0)
    most, like = PASSES * len(c), recording(*c, *target)
    return repeat(body, state, until=lambda s: s.let_go < 0.0, most=most, like=like).x


def within(x: Scalar, bound: Bound) -> Scalar:
    """Return x, or the bound that it is beyond."""
    if bound is None:
        return x
    return smaller(bound[1], larger(x, bound[0]))


def is_within(x: Vector, bounds: Bounds) -> Scalar:
    """Return 1 if all entries are within their bounds, else 0, also for NaN."""
    found: Scalar = 1.0
    for x_k, bound in zip(x, bounds, strict=True):
        if bound is not None:
            found = select((bound[0] <= x_k) & (x_k <= bound[1]), found, 0.0)
    return found


def pushed_out(x: Scalar, push: Scalar, bound: Bound) -> Scalar:
    """Return 1 for an entry at a bound that is not pushed inwards, else 0."""
    if bound is None:
        return 0.0
    return select(((bound[1] <= x) & (push >= 0.0)) | ((x <= bound[0]) & (push <= 0.0)), 1.0, 0.0)


def _nearer(H: Matrix, g: Vector, bounds: Bounds, x: Vector, target: Vector) -> tuple[list[Scalar], Scalar]:
    """Return where the better of two steps leads (x if neither gains), and what it gains; g is ``c − H x``."""
    ends = [within(*entry) for entry in zip(target, bounds, strict=True)]
    cut = minus(ends, x)
    gain_cut = dot(cut, g) - 0.5 * dot(cut, times(H, cut))
    ahead, parts, t = [], [], 1.0  # parts of the way to the target that the bounds allow
    for a, b, end in zip(x, target, ends, strict=True):
        beyond = abs(b - end)
        part = select_less(0.0, beyond, (end - a) / select_less(0.0, beyond, b - a, 1.0), 1.0)
        ahead.append(select_less(0.0, part, b - a, 0.0))
        parts.append(part)
        t = select((part > 0.0) & (part < t), part, t)
    slope, curvature = dot(ahead, g), dot(ahead, times(H, ahead))
    best = slope / or_one(curvature)
    t = select_less(best, t, select_less(0.0, best, best, 0.0), t)
    gain_ahead = t * (slope - 0.5 * t * curvature)
    straight = [select(part <= t, end, a + t * p) for a, p, part, end in zip(x, ahead, parts, ends, strict=True)]
    gain = larger(gain_cut, gain_ahead)
    found = [select_less(gain_cut, gain_ahead, a, b) for a, b in zip(straight, ends, strict=True)]
    return [select(gain <= 0.0, a, b) for a, b in zip(x, found, strict=True)], gain  # NaN remains


def _is_best(x: Vector, c: Vector, g: Vector, bounds: Bounds, held: Vector) -> Scalar:
    """Return 1 if x is within the bounds and nothing held is pushed inwards, but for rounding; g is c − H x."""
    found = is_within(x, bounds)
    for x_k, c_k, g_k, bound, held_k in zip(x, c, g, bounds, held, strict=True):
        size = abs(c_k) + abs(c_k - g_k)
        push = select_less(size, size + NOISE * abs(g_k), g_k, 0.0)
        found = select(held_k <= pushed_out(x_k, push, bound), found, 0.0)
    return found


def _newton(H: Matrix, g: Vector, held: Vector) -> list[Scalar]:
    """Return the step of what is not held; from the last on, a tree's H gains no entries (Featherstone 2005)."""
    order, free = range(len(g))[::-1], [1.0 - x for x in held]
    A = [[H[i][j] * (free[i] * free[j]) if i != j else H[i][i] for j in order if j >= i] for i in order]
    return solve_positive(A, [g[i] * free[i] for i in order])[::-1]
