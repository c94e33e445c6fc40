"""One differential step: joint velocities that bring frames nearer to where they are wanted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.inverse_kinematics.problem import Problem, Weights
from kinetree.algorithms.inverse_kinematics.steps import bounded_step
from kinetree.scalars.bounded import within
from kinetree.scalars.functions import Scalar, select, select_less, sqrt
from kinetree.scalars.linalg import dot, times

LEAST_DAMPING = 1e-13
"""Times ``tr JJᵀ``, what is used for a smaller damping: with it a step is nearly that of the pseudo-inverse."""

MOST_DAMPING = 1e30
"""What is used for a larger damping: nothing moves for the goals."""


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
) -> Step:
    """Return a step of damped least squares within the limits of position and, in the time dt, of velocity.

    ``min |J d − g e|² + λ |d − g d₀|²``, where d₀ leads to the posture: what the goals leave free is where d is d₀.
    A joint that is outside a limit goes back as fast as it may; that part of the step is given, the rest is sought.
    """
    q = problem.unit(q)
    targets = [goal.prepared(target) for goal, target in zip(problem.goals, targets, strict=True)]
    found = problem.errors(q, targets, weights)
    rest: list[Scalar] = [0.0] * len(problem.entries)
    if posture is not None:
        rest = [
            gain * x
            for body in problem.moving
            for x in body.joint.difference([q[k] for k in body.q_index], [posture[k] for k in body.q_index])
        ]
    J, bounds = problem.rows(found.jacobian), problem.bounds(q, dt)
    back: list[Scalar] = [within(0.0, bound) for bound in bounds]
    around = [bound and (bound[0] - x, bound[1] - x) for bound, x in zip(bounds, back, strict=True)]
    e = [gain * x - y for x, y in zip(found.weighted, times(J, back), strict=True)]
    d = bounded_step(J, e, _usable(damping, found.jacobian), around, [x - y for x, y in zip(rest, back, strict=True)])
    d = [x + y for x, y in zip(d, back, strict=True)]
    stays = select(dt <= 0.0, 0.0, dt)  # NaN remains
    d = [select_less(0.0, dt, x, stays) for x in d]
    v: list[Scalar] = [0.0] * problem.model.nv
    for k, x in zip(problem.entries, d, strict=True):
        v[k] = select_less(0.0, dt, x / dt, stays)
    for body in problem.moving:
        fastest = body.limits.velocity
        if len(body.v_index) == 1 and math.isfinite(fastest):
            (k,) = body.v_index
            v[k] = within(v[k], (-fastest, fastest))  # of which (fastest * dt) / dt may be a bit more
    largest: dict[str, Scalar] = {"orientation": 0.0, "position": 0.0}
    for (_, part), x in zip(problem.parts, found.squares, strict=True):
        largest[part] = select(x <= largest[part], largest[part], x)
    return Step(problem.moved(q, d, outside=True), v, sqrt(largest["position"]), sqrt(largest["orientation"]))


def _usable(damping: Scalar, jacobian: Sequence[Scalar]) -> Scalar:
    """Return a damping that keeps the equations solvable and finite, and NaN for a negative one."""
    trace = dot(jacobian, jacobian)
    least = LEAST_DAMPING * select_less(0.0, trace, trace, 1.0)
    return select(damping < 0.0, sqrt(damping), within(damping, (least, MOST_DAMPING)))
