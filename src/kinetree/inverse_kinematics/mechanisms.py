"""Inverse kinematics of mechanisms: loops that are closed after a search, and after a differential step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.inverse_kinematics.problem import Problem, Weights
from kinetree.algorithms.inverse_kinematics.steps import Found, Step
from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.constraints.pages.assembly import assemble
from kinetree.scalars.factorization import PseudoInverse
from kinetree.scalars.functions import Scalar, is_zero, select, select_less, sqrt
from kinetree.scalars.linalg import minus, times
from kinetree.scalars.loops import recording, repeat

MOST = 10.0
"""Steps in which loops are closed after a differential step: one or two."""


def closed_solution(problem: Problem, found: Found, targets: Sequence[Any], weights: Weights | None) -> Found:
    """Return the solution, with the loops closed also where the targets were not reached."""
    model: Any = problem.model
    targets = [goal.prepared(target) for goal, target in zip(problem.goals, targets, strict=True)]

    def close(s: _Place) -> _Place:
        q, *_ = assemble(model, s.q, fixed=problem.fixed)
        largest = problem.largest(problem.errors(q, targets, weights).squares)
        return _Place(q, sqrt(largest["position"]), sqrt(largest["orientation"]))

    place = _Place(found.q, found.position_error, found.orientation_error)
    place = repeat(close, place, until=lambda _: found.converged > 0.5, most=1, like=recording(*found.q))
    return found._replace(**place._asdict())


class _Place(NamedTuple):
    """A configuration, and its largest errors."""

    q: list[Scalar]
    position_error: Scalar
    orientation_error: Scalar


def closed_step(problem: Problem, q: Sequence[Scalar], dt: Scalar, step: Step) -> Step:
    """Return a step along the nearest velocity of the mechanism, within the joints' velocity limits, and closed."""
    model: Any = problem.model
    q = problem.unit(q)
    rows = [row for row in model.constraint_rows(q) if row.phi is not None]
    J = [[x if k in problem.entries else 0.0 for k, x in enumerate(row.J)] for row in rows]
    inverse = PseudoInverse(
        J,
        model.nv,
        square=1.0,
        equations=model.squared(row.angular for row in rows),
        unknowns=model.squared(model.turning),
    )
    v = minus(step.v, inverse.times(times(J, step.v)))
    slower: Scalar = 1.0
    for body in problem.moving:
        if len(body.v_index) == 1 and math.isfinite(fastest := body.limits.fastest):
            speed = abs(v[body.v_index[0]])
            slower = select_less(slower * speed, fastest, slower, fastest / select_less(0.0, speed, speed, 1.0))
    v = [x if is_zero(x) else slower * x for x in v]
    moves = select(dt <= 0.0, 0.0, dt)
    end = integrate(model, q, [moves * x for x in v])
    closed, *_ = assemble(model, end, max_iterations=MOST, restarts=0.0, fixed=problem.fixed)
    return step._replace(q=closed, v=v)
