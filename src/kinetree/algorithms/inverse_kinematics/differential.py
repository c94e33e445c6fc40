"""One differential step: joint velocities that bring frames nearer to where they are wanted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.inverse_kinematics.problem import Problem, Weights
from kinetree.algorithms.inverse_kinematics.steps import bounded_step
from kinetree.scalars.bounded import within
from kinetree.scalars.functions import Scalar, select, select_less, sqrt
from kinetree.scalars.linalg import dot, norm, times, transposed

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

    ``min |J d − g e|² + (λ + μ) |d|²`` with ``μ = c |g e| ‖J‖``: the second derivatives of the errors, which least
    squares leave out, are no larger than about that. They matter where goals are out of reach, and so J has lost rank:
    a step with less damping leads to the other side of the best place, the next one back, and so on for ever.

    With a posture, to which d₀ leads, a second step keeps what the first does to the errors, and its pushes against
    the limits, and is otherwise near ``p g d₀``: with ``μ = 0`` both together are ``min |J d − g e|² + λ |d − p g
    d₀|²``. What the goals leave free is curved: whole steps to the posture (p = 1) pass what is nearest to it, and
    back, for ever.

    A joint that is outside a limit goes back as fast as it may; that part of the step is given, the rest is sought.
    """
    q = problem.unit(q)
    targets = [goal.prepared(target) for goal, target in zip(problem.goals, targets, strict=True)]
    found = problem.errors(q, targets, weights)
    J, bounds = problem.rows(found.jacobian), problem.bounds(q, dt)
    back: list[Scalar] = [within(0.0, bound) for bound in bounds]
    around = [bound and (bound[0] - x, bound[1] - x) for bound, x in zip(bounds, back, strict=True)]
    e = [gain * x - y for x, y in zip(found.weighted, times(J, back), strict=True)]
    least, rate = _usable(damping, found.jacobian), _not_negative(error_damping) * norm(found.jacobian)
    most = within(least + rate * norm(e), (least, MOST_DAMPING))
    d = bounded_step(J, e, most, around, [-x for x in back])
    if posture is not None:
        left = [x - y for x, y in zip(e, times(J, d), strict=True)]
        pushes = [dot(column, left) - most * (x + y) for column, x, y in zip(transposed(J), d, back, strict=True)]
        d0 = [POSTURE * gain * x for x in _differences(problem, q, posture)]
        slowed = _slowed(d0, sqrt(least), 2.0 * rate * norm(left), norm(e))
        rest = [x + y + push / least for x, y, push in zip(d, slowed, pushes, strict=True)]
        d = bounded_step(J, times(J, d), least, around, rest)
    d = [x + y for x, y in zip(d, back, strict=True)]
    stays = select(dt <= 0.0, 0.0, dt)  # NaN remains
    d = [select_less(0.0, dt, x, stays) for x in d]
    v: list[Scalar] = [0.0] * problem.model.nv
    for k, x in zip(problem.entries, d, strict=True):
        v[k] = select_less(0.0, dt, x / dt, stays)
    for body in problem.moving:
        fastest = body.limits.fastest
        if len(body.v_index) == 1 and math.isfinite(fastest):
            (k,) = body.v_index
            v[k] = within(v[k], (-fastest, fastest))  # of which (fastest * dt) / dt may be a bit more
    largest: dict[str, Scalar] = {"orientation": 0.0, "position": 0.0}
    for (_, part), x in zip(problem.parts, found.squares, strict=True):
        largest[part] = select(x <= largest[part], largest[part], x)
    return Step(problem.moved(q, d, outside=True), v, sqrt(largest["position"]), sqrt(largest["orientation"]))


def _slowed(d0: Sequence[Scalar], width: Scalar, left: Scalar, size: Scalar) -> list[Scalar]:
    """Return the step towards the posture, shorter where the goals' step leaves much of the errors' size.

    Where goals are out of reach a direction is free within some width around the best place, and only there: so d₀
    must not be longer than about that.
    """
    bound = width * size
    factor = bound / (bound + left * norm(d0))
    return [select_less(0.0, left, factor, 1.0) * x for x in d0]


def _differences(problem: Problem, q: Sequence[Scalar], posture: Sequence[Scalar]) -> list[Scalar]:
    """Return the step of the moving joints that leads from q to the posture."""
    return [
        x
        for body in problem.moving
        for x in body.joint.difference([q[k] for k in body.q_index], [posture[k] for k in body.q_index])
    ]


def _not_negative(damping: Scalar) -> Scalar:
    """Return a damping, NaN for a negative one."""
    return select(damping < 0.0, sqrt(damping), damping)


def _usable(damping: Scalar, jacobian: Sequence[Scalar]) -> Scalar:
    """Return a damping that keeps the equations solvable and finite, and NaN for a negative one."""
    trace = dot(jacobian, jacobian)
    least = LEAST_DAMPING * select_less(0.0, trace, trace, 1.0)
    return within(_not_negative(damping), (least, MOST_DAMPING))
