"""The whole solution: descents from one start after another, as one loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.inverse_kinematics.problem import Problem, Weights
from kinetree.algorithms.inverse_kinematics.steps import near_step
from kinetree.scalars.functions import Scalar, larger, or_one, select, select_less, smaller, sqrt
from kinetree.scalars.linalg import dot, times
from kinetree.scalars.loops import repeat

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
        met: Scalar = 1.0
        for x, limit in zip(found.squares, squared, strict=True):
            met = select(x <= limit, met, 0.0)
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
    largest: dict[str, Scalar] = {"orientation": 0.0, "position": 0.0}
    converged: Scalar = 1.0
    for k, (x, limit) in enumerate(zip(end.best_squares, squared, strict=True)):
        if k < len(problem.parts):  # loops come last
            part = problem.parts[k][1]
            largest[part] = select(x <= largest[part], largest[part], x)
        converged = select(x <= limit, converged, 0.0)
    errors = sqrt(largest["position"]), sqrt(largest["orientation"])
    return Found(end.best, converged, *errors, end.iterations, end.attempt)


def _scalar(x: Any) -> Scalar:
    """Return the first of nested scalars."""
    return _scalar(x[0]) if isinstance(x, list) else x


def _adapted(ratio: Scalar, reduction: Scalar, predicted: Scalar) -> Scalar:
    """Return the ratio of λ to the cost after a step that reduced the cost so, where the linear model had predicted."""
    factor = select(reduction > 0.75 * predicted, 0.7, select(reduction < 0.25 * predicted, 8.0, 1.0))
    return smaller(1e16, larger(ratio * factor, 1e-8))
