"""Steps within bounds: the differential one that brings frames nearer, and descents from one start after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.inverse_kinematics.problem import Problem, Weights, not_negative
from kinetree.scalars.bounded import Bounds, is_within, least_within, pushed_out, within
from kinetree.scalars.factorization import solve_positive
from kinetree.scalars.functions import Scalar, larger, or_one, select, select_less, smaller, sqrt
from kinetree.scalars.linalg import Matrix, Vector, dot, norm, times, transposed
from kinetree.scalars.loops import recording, repeat


def bounded_step(J: Matrix, e: Vector, damping: Scalar, bounds: Bounds, rest: Vector | None = None) -> list[Scalar]:
    """Return d for which ``|J d − e|² + λ|d − rest|²`` is least within bounds, by active sets if it is not free."""
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
    """Return d within bounds that makes ``|J d − e|² + λ|d|²`` small: cheap, where many are tried.

    Entries at a bound that they are pushed against are held, then those beyond one; what is still beyond is cut off.
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

    By the smaller of two systems: ``d + Jᵀ (J Jᵀ + λ)⁻¹ r`` with J without the held columns, or ``d + (JᵀJ + λ)⁻¹ Jᵀ
    r``; r is what d leaves.
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


LEAST_DAMPING = 1e-13
"""Times ``tr JJᵀ``, what is used for a smaller damping: with it a step is nearly that of the pseudo-inverse."""

MOST_DAMPING = 1e30
"""What is used for a larger damping: nothing moves for the goals."""


POSTURE = 0.1
"""The part p of the way to the posture that a step with a gain of 1 goes."""


class Step(NamedTuple):
    """The configuration after a step, the velocity that leads there, and the largest errors before it (m, rad)."""

    q: list[Scalar]
    v: list[Scalar]
    position_error: Scalar
    orientation_error: Scalar


def step(
    problem: Problem,
    q: Sequence[Scalar],
    targets: Sequence[Any],
    dt: Scalar,
    weights: Weights | None,
    posture: Sequence[Scalar] | None,
    gain: Scalar,
    damping: Scalar,
    error_damping: Scalar,
) -> Step:
    """Return a step of damped least squares within the limits of position and, in the time dt, of velocity.

    ``min |J d − g e|² + (λ + μ) |d|²`` with ``μ = c B(g e)``, where B(x) bounds the eigenvalues of ``Σ xᵢ ∂²eᵢ/∂q²``,
    which least squares leave out. Where goals are out of reach J has lost rank, and with c below ½ steps would lead to
    and fro about the best place for ever. With a posture, to which d₀ leads, a second step keeps what the first does to
    the errors and its pushes against limits, and is otherwise near ``p g d₀``, shorter by ``1 + c B(x)`` for the forces
    x of the goals that hold it. A joint outside a limit goes back as fast as it may: J times that is taken from ``g
    e``.
    """
    q, gain = problem.unit(q), not_negative(gain)
    targets = [goal.prepared(target) for goal, target in zip(problem.goals, targets, strict=True)]
    found = problem.errors(q, targets, weights)
    J, bounds = problem.rows(found.jacobian), problem.bounds(q, dt)
    back: list[Scalar] = [within(0.0, bound) for bound in bounds]
    around = [bound and (bound[0] - x, bound[1] - x) for bound, x in zip(bounds, back, strict=True)]
    e = [gain * x - y for x, y in zip(found.weighted, times(J, back), strict=True)]
    least, part = _usable(damping, found.jacobian), not_negative(error_damping)
    most = within(least + part * found.bend(e), (least, MOST_DAMPING))
    d = bounded_step(J, e, most, around, [-x for x in back])
    if posture is not None:
        reached = times(J, d)
        left = [x - y for x, y in zip(e, reached, strict=True)]
        pushes = [dot(column, left) - most * (x + y) for column, x, y in zip(transposed(J), d, back, strict=True)]
        d0 = [POSTURE * gain * x for x in _differences(problem, q, posture)]
        remains = part * found.bend(left)
        slowed = _slowed(d0, sqrt(least), 2.0 * remains * remains / (remains + least), norm(e))
        free = least_squares(J, [0.0] * len(e), least, [0.0] * len(d), slowed)
        straight = 1.0 / (1.0 + part * found.bend([x / least for x in times(J, free)]))
        rest = [x + straight * y + push / most for x, y, push in zip(d, slowed, pushes, strict=True)]
        towards = bounded_step(J, reached, least, around, rest)
        bent = part * found.bend([(x - y) / least for x, y in zip(times(J, towards), reached, strict=True)])
        share = 1.0 / larger(bent, 1.0)
        d = [within(x + share * (y - x), bound) for x, y, bound in zip(d, towards, around, strict=True)]
    d = [x + y for x, y in zip(d, back, strict=True)]
    stays = select(dt <= 0.0, 0.0, dt)  # NaN remains
    d = [select_less(0.0, dt, x, stays) for x in d]
    v: list[Scalar] = [0.0] * problem.model.nv
    for k, x in zip(problem.entries, problem.in_units(d), strict=True):
        v[k] = select_less(0.0, dt, x / dt, stays)
    for body in problem.moving:
        fastest = body.limits.fastest
        if len(body.v_index) == 1 and math.isfinite(fastest):
            (k,) = body.v_index
            v[k] = within(v[k], (-fastest, fastest))  # of which (fastest * dt) / dt may be a bit more
    largest = problem.largest(found.squares)
    return Step(problem.moved(q, d, outside=True), v, sqrt(largest["position"]), sqrt(largest["orientation"]))


def _slowed(d0: Sequence[Scalar], width: Scalar, left: Scalar, size: Scalar) -> list[Scalar]:
    """Return the step to the posture, no longer than the width around the best place where a direction is free."""
    bound = width * size
    factor = bound / (bound + left * norm(d0))
    return [select_less(0.0, left, factor, 1.0) * x for x in d0]


def _differences(problem: Problem, q: Sequence[Scalar], posture: Sequence[Scalar]) -> list[Scalar]:
    """Return the step of the moving joints, in `problem.steps`, that leads from q to the posture."""
    return [
        x / problem.steps[k]
        for body in problem.moving
        for k, x in zip(
            body.v_index,
            body.joint.difference([q[i] for i in body.q_index], [posture[i] for i in body.q_index]),
            strict=True,
        )
    ]


def _usable(damping: Scalar, jacobian: Sequence[Scalar]) -> Scalar:
    """Return a damping that keeps the equations solvable and finite, and NaN for a negative one."""
    least = LEAST_DAMPING * or_one(dot(jacobian, jacobian))
    return within(not_negative(damping), (least, MOST_DAMPING))


RATIO = 0.1
"""What the ratio of the damping to the cost, or to ``tr JJᵀ``, begins with."""

FLOOR = 1e-13
"""The least damping, beside ``tr JJᵀ``: what keeps the equations solvable where the Jacobian loses rank."""

PATIENCE = 3
"""A descent is given up when so many steps one after another have lowered the cost by less than a hundredth."""

MOST = 10**7
"""Steps of all descents, whatever is asked for: some seconds."""


class Options(NamedTuple):
    """When the solution has been found, and when the search ends."""

    position_tolerance: Scalar  # the largest error (m)
    orientation_tolerance: Scalar  # (rad)
    max_iterations: Scalar  # steps of one descent
    restarts: Scalar  # how many other starts are tried
    seed: Scalar  # which ones
    dt: Scalar | None = None  # the time for one step (s), where velocity limits count


class Found(NamedTuple):
    """The best of all that was tried, in terms of the weighted errors, and how much was."""

    q: list[Scalar]
    converged: Scalar
    position_error: Scalar
    orientation_error: Scalar
    iterations: Scalar
    attempts: Scalar


class _State(NamedTuple):
    """What the loop carries: where the descent is, the best of all, and counts; flags are 1 or 0."""

    q: list[Scalar]
    e: list[Scalar]
    J: list[Scalar]
    squares: list[Scalar]
    cost: Scalar
    ratio: Scalar  # of the damping to the cost
    idle: Scalar  # steps one after another that gained little
    steps: Scalar  # of this descent
    iterations: Scalar  # of all
    attempt: Scalar
    best: list[Scalar]
    best_squares: list[Scalar]
    best_cost: Scalar
    done: Scalar


def solve(problem: Problem, q0: Sequence[Scalar], targets: Sequence[Any], weights: Weights | None, o: Options) -> Found:
    """Return the solution by Levenberg–Marquardt, in one loop: where a descent is given up the next start follows.

    λ is in proportion to the cost, or far away to ``tr JJᵀ``: near a target that can be reached convergence is
    quadratic (Yamashita and Fukushima 2001; Fan and Yuan 2005). A step that does not lower the cost is not taken.
    """
    start = problem.within(q0)
    targets = [goal.prepared(target) for goal, target in zip(problem.goals, targets, strict=True)]
    tolerances = [o.orientation_tolerance if turns else o.position_tolerance for turns in problem.angular]
    squared = [x * x for x in tolerances]
    movable = [any(carries) for carries in problem.carriers]

    def body(s: _State) -> _State:
        J, first = problem.rows(s.J), select_less(s.attempt, 0.5, 1.0, 0.0)
        trace = or_one(dot(s.J, s.J))
        damping = s.ratio * smaller(s.cost, trace) + FLOOR * trace
        d = near_step(J, s.e, damping, problem.bounds(s.q, o.dt))
        left = [a - b for a, b in zip(s.e, times(J, d), strict=True)]

        unmet = [select(x <= limit, 0.0, 1.0) for x, limit in zip(s.squares, squared, strict=True)]
        hope = sum((x for x, moves in zip(unmet, movable, strict=True) if moves), 0.0)
        spent = select((s.idle >= PATIENCE) | (s.steps >= o.max_iterations), 1.0 - first, 0.0)
        over = select((s.attempt <= o.restarts) & (hope > 0.5), 0.0, spent)
        begins = select_less(0.5, first, 1.0, spent)

        def chosen(flag: Scalar, new: Sequence[Scalar], old: Sequence[Scalar]) -> list[Scalar]:
            return [select_less(0.5, flag, a, b) for a, b in zip(new, old, strict=True)]

        trial = chosen(spent, problem.start(s.attempt, o.seed, s.q, unmet), problem.moved(s.q, d))
        found = problem.errors(trial, targets, weights)
        cost = dot(found.weighted, found.weighted)
        met = _within(found.squares, squared)
        taken = select(cost < s.cost, 1.0, begins)
        best = select((cost < s.best_cost) | (met > 0.5), 1.0 - over, first)
        return _State(
            q=chosen(taken, trial, s.q),
            e=chosen(taken, found.weighted, s.e),
            J=chosen(taken, found.jacobian, s.J),
            squares=chosen(taken, found.squares, s.squares),
            cost=select_less(0.5, taken, cost, s.cost),
            ratio=select_less(0.5, begins, RATIO, _adapted(s.ratio, s.cost - cost, s.cost - dot(left, left))),
            idle=select((cost < 0.99 * s.cost) | (begins > 0.5), 0.0, s.idle + 1.0),
            steps=select_less(0.5, begins, 0.0, s.steps + 1.0),
            iterations=s.iterations + (1.0 - begins),
            attempt=s.attempt + select_less(0.5, over, 0.0, begins),
            best=chosen(best, trial, s.best),
            best_squares=chosen(best, found.squares, s.best_squares),
            best_cost=select_less(0.5, best, cost, s.best_cost),
            done=select_less(0.5, over, 1.0, met),
        )

    parts = len(squared)
    none = [0.0] * parts
    state = _State(
        q=start, e=none * 3, J=[0.0] * len(problem.pattern), squares=none, cost=1.0, ratio=RATIO, idle=0.0, steps=0.0,
        iterations=0.0, attempt=0.0, best=start, best_squares=none, best_cost=1.0, done=0.0,
    )  # fmt: skip
    end = repeat(body, state, until=lambda s: s.done > 0.5, most=MOST, like=_scalar(targets))
    largest = problem.largest(end.best_squares)
    errors = sqrt(largest["position"]), sqrt(largest["orientation"])
    return Found(end.best, _within(end.best_squares, squared), *errors, end.iterations, end.attempt)


def _within(squares: Sequence[Scalar], limits: Sequence[Scalar]) -> Scalar:
    """Return 1 where all squares of errors are within their limits, else 0."""
    met: Scalar = 1.0
    for x, limit in zip(squares, limits, strict=True):
        met = select(x <= limit, met, 0.0)
    return met


def _scalar(x: Any) -> Scalar:
    """Return the first of nested scalars."""
    return _scalar(x[0]) if isinstance(x, list) else x


def _adapted(ratio: Scalar, reduction: Scalar, predicted: Scalar) -> Scalar:
    """Return the ratio of λ to the cost after a step that reduced the cost so, where the linear model had predicted."""
    factor = select(reduction > 0.75 * predicted, 0.7, select(reduction < 0.25 * predicted, 8.0, 1.0))
    return smaller(1e16, larger(ratio * factor, 1e-8))
