"""The descent from one start, for a whole batch together: those that have arrived drop out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.inverse_kinematics.problem import Problem
from kinetree.inverse_kinematics.rotations import Counts
from kinetree.inverse_kinematics.steps import Step, clamped_step, qp_step
from kinetree.validation import Array


@dataclass(frozen=True)
class Method:
    """A method of descent.

    Attributes
    ----------
    step : Step
        How a step is found.
    damping : float
        λ itself, or where it is adaptive its first ratio to the cost.
    adaptive : bool
        Whether steps that do not lower the cost are refused, and λ follows from what the last ones achieved.
    longest : float
        The largest entry of a step (rad, m): longer ones are shortened.
    """

    step: Step
    damping: float
    adaptive: bool
    longest: float = np.inf


METHODS = {
    "lm": Method(clamped_step, damping=1.0, adaptive=True),
    "dls": Method(clamped_step, damping=3e-4, adaptive=False, longest=0.5),
    "qp": Method(qp_step, damping=1.0, adaptive=True),
}

PATIENCE = 8
"""A descent ends when so many steps one after another have lowered the cost by less than a thousandth."""

FLOOR = 1e-13
"""The least damping, beside ``tr JJᵀ``: what keeps the equations solvable where the Jacobian loses rank."""


@dataclass(frozen=True, eq=False)
class Descent:
    """The best configurations (n, nq) that descents found, their errors (n, k, 3), and their numbers of iterations."""

    q: Array
    errors: Array
    iterations: Counts


def descend(problem: Problem, start: Array, rows: Counts, method: Method, max_iterations: int) -> Descent:
    """Descend from each start (n, nq) towards the targets of these rows of the batch.

    With λ in proportion to the cost (the squared error) the damping vanishes twice as fast as the error, and so
    convergence to a target that can be reached is quadratic (Yamashita and Fukushima 2001; Fan and Yuan 2005).
    """
    q, errors = start.copy(), problem.errors(start, rows)
    best = Descent(q.copy(), errors.copy(), np.zeros(len(q), np.int64))
    lowest = problem.cost(errors)
    ratio, idle = np.full(len(q), method.damping), np.zeros(len(q), np.int64)
    on = np.arange(len(q))
    for _ in range(max_iterations):
        on = on[~problem.reached(errors[on]) & (idle[on] < PATIENCE)]
        if not len(on):
            break
        cost, e, J = problem.cost(errors[on]), problem.weighted(errors[on]), problem.jacobian(q[on])
        damping = ratio[on] * cost if method.adaptive else ratio[on]
        step = method.step(J, e, damping + FLOOR * np.sum(J * J, axis=(1, 2)), *problem.bounds(q[on]))
        step /= np.maximum(1.0, np.abs(step).max(axis=1, initial=0.0) / method.longest)[:, None]
        trial = problem.moved(q[on], step)
        trial_errors = problem.errors(trial, rows[on])
        trial_cost = problem.cost(trial_errors)

        best.iterations[on] += 1
        idle[on] = np.where(trial_cost < 0.999 * lowest[on], 0, idle[on] + 1)
        better = trial_cost < lowest[on]
        lowest[on[better]] = trial_cost[better]
        best.q[on[better]], best.errors[on[better]] = trial[better], trial_errors[better]
        taken = better if method.adaptive else np.full(len(on), True)
        q[on[taken]], errors[on[taken]] = trial[taken], trial_errors[taken]
        if method.adaptive:
            left = e - np.einsum("nmv,nv->nm", J, step)
            ratio[on] = _adapted(ratio[on], cost - trial_cost, cost - np.sum(left * left, axis=1))
    return best


def _adapted(ratio: Array, reduction: Array, predicted: Array) -> Array:
    """Return the ratio of λ to the cost after a step that reduced the cost so, where the linear model had predicted."""
    factor = np.where(reduction > 0.75 * predicted, 0.5, np.where(reduction < 0.25 * predicted, 4.0, 1.0))
    return np.clip(ratio * factor, 1e-8, 1e16)
