"""Assembly: the configuration near a given one in which all constraints hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

from kinetree.algorithms.dynamics.singular import velocities
from kinetree.algorithms.inverse_kinematics.problem import prime_roots
from kinetree.algorithms.inverse_kinematics.steps import least_squares
from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.algorithms.registry import Vector
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, masked, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.contacts.sets import largest
from kinetree.scalars.functions import floor, larger, select, select_less, smaller
from kinetree.scalars.linalg import dot
from kinetree.scalars.loops import recording, repeat
from kinetree.spatial import Scalar

RATIO = 1e-2
"""What the ratio of the damping to the sum of the squared errors, or to 1 if that is more, begins with."""

FLOOR = 1e-13
"""The least damping, which redundant rows need; damping is in units of a row's mean square."""

PATIENCE = 8
"""A start is given up after so many steps one after another that lower the sum of squares by less than a hundredth."""

SPREAD = 0.1
"""How far from q0 each further start is than the one before, in each direction at most (rad, ℓ); up to ten times."""


class _State(NamedTuple):
    """What the loop carries: a configuration, the best of those before, and the errors of both; flags are 1 or 0."""

    q: list[Scalar]
    e: list[Scalar]
    best: list[Scalar]
    best_e: list[Scalar]
    met: Scalar
    ratio: Scalar
    idle: Scalar  # steps one after another that gained little
    steps: Scalar  # from this start
    iterations: Scalar  # from all
    attempt: Scalar
    done: Scalar


@mechanism_algorithm(
    "assemble",
    inputs={"tolerance": (), "max_iterations": (), "restarts": ()},
    outputs={"q": ("nq",), "converged": (), "residual": ("nconstraints",), "iterations": ()},
    group=taking("active"),
)
def assemble(
    model: ConstrainedModel,
    q0: Vector,
    contacts: ContactInputs = NONE_GIVEN,
    tolerance: Scalar | None = None,
    max_iterations: Scalar | None = None,
    restarts: Scalar | None = None,
    *,
    fixed: Sequence[str] = (),
) -> tuple[list[Scalar], Scalar, list[Scalar], Scalar]:
    """Close a mechanism: the configuration in which all constraints hold, found from q0 on.

    Levenberg and Marquardt's method, in the shortest steps of all joints, lengths counting in ℓ beside angles: the
    longest way along the tree. Inertias do not count. Where
    it does not arrive (all bars in a line are such a place), it starts again beside q0, a little further off each time.
    Where the mechanism cannot be closed, the result is the configuration of the least errors that was found, with
    ``converged`` False: that is not an exception.

    Parameters
    ----------
    q0
        Configuration to start from. Joint limits do not count.
    tolerance
        The largest error of a row that holds (rad, m): 1e-9 rad and 1e-9 ℓ if not given, in float32 1e-5. Where this
        is reached one more step is made, so that errors are near rounding in general.
    max_iterations
        Steps from each start: 100.
    restarts
        How many other starts are tried: 10.

    Returns
    -------
    q
        Configuration, with unit quaternions.
    converged
        Whether the error of every constraint that acts is within the tolerance: a bool; in compiled functions 1 or 0.
    residual
        The largest error of the rows of each constraint (rad, m), angles in full, up to π; 0 for what does not act.
    iterations
        Steps tried, from all starts.

    References: Nocedal and Wright, Numerical Optimization, section 10.3; damping in proportion to the squared error as
    in Yamashita and Fukushima, On the rate of convergence of the Levenberg–Marquardt method (2001).

    >>> found = mech.assemble(q, fixed=["FL_hip_joint"])
    >>> bool(found.converged), bool(found.residual.max() < 1e-12)
    (True, True)
    """
    rows, turning = model.constraint_rows(q0, None, contacts), model.units(model.turning)
    unit, position = model.units(row.angular for row in rows), [row.phi is not None for row in rows]
    some = q0[0] * q0[0] + 1.0
    close = select_less(some, some + some * 1e-10, 1e-9, 1e-5)
    tolerances = [close if tolerance is None else tolerance / u for u in unit]
    most = 100.0 if max_iterations is None else max_iterations
    others = 10.0 if restarts is None else restarts
    known = velocities(model, fixed)
    held = [float(k in known) for k in range(model.nv)]

    def errors(q: Vector) -> list[Scalar]:
        """Return the errors of all rows, as angles; 0 of those that constrain velocities alone, or are switched off."""
        each = (0.0 if x is None else x for c in model.constraints for x in c.errors(model, q))
        return [y for row, x, u in zip(rows, each, unit, strict=True) for y in masked(row.on, [x / u])]

    def met(e: Vector) -> Scalar:
        closed: Scalar = 1.0
        for x, tolerated in zip(e, tolerances, strict=True):
            closed = select((x <= tolerated) & (x >= -tolerated), closed, 0.0)
        return closed

    def step(q: Vector, e: Vector, damping: Scalar) -> list[Scalar]:
        """Return the least step against the errors as between angles; its damping is beside a row's mean square."""
        columns = list(enumerate(turning))
        J = [
            masked(row.on, [0.0 if held[k] else new.J[k] * (x / u) for k, x in columns])
            for row, new, u in zip(rows, model.constraint_rows(q), unit, strict=True)
        ]
        J, e = list(compress(J, position)), list(compress(e, position))
        mean = sum((dot(row, row) for row in J), 0.0) * (1.0 / max(1, len(J)))
        size = select_less(0.0, mean, mean, 1.0) * damping
        return [-x for x in least_squares(J, e, size, held, [0.0] * model.nv)] if J else [0.0] * model.nv

    def beside(attempt: Scalar) -> list[Scalar]:
        """Return the step from q0 to the start of this number: a Kronecker sequence (Richtmyer 1951), first small."""
        reach, phases = SPREAD * smaller(attempt, 10.0), [attempt * root for root in prime_roots(model.nv)]
        return [reach * (2.0 * (x - floor(x)) - 1.0) for x in phases]

    def moved(q: Vector, step: Vector) -> list[Scalar]:
        """Return q after a step between angles, with the joints that are fixed as they were to the last bit."""
        end = integrate(model, q, [x * u for x, u in zip(step, turning, strict=True)])
        stay = {k for body in model.leading if body.joint_name in fixed for k in body.q_index}
        return [q[k] if k in stay else x for k, x in enumerate(end)]

    def body(s: _State) -> _State:
        cost, lowest = dot(s.e, s.e), dot(s.best_e, s.best_e)
        damping = FLOOR + s.ratio * smaller(cost, 1.0)
        spent = select((s.idle < PATIENCE) & (s.steps < most), 0.0, 1.0 - s.met)  # at limits that are NaN too
        over = select(s.attempt < others, s.met, s.met + spent)  # one of them at most is 1
        way = _chosen(spent, beside(s.attempt + 1.0), step(s.q, s.e, damping))
        trial = moved(_chosen(spent, start, s.q), way)
        e = errors(trial)
        new = dot(e, e)
        again = spent * (1.0 - over)
        better, lower = select(new < cost, 1.0, again), select(new < lowest, 1.0 - over * spent, 0.0)
        q, e = _chosen(better, trial, s.q), _chosen(better, e, s.e)
        ratio = larger(s.ratio * select_less(0.5, better, 0.25, 8.0), 1e-8)
        return _State(
            q=q,
            e=e,
            best=_chosen(lower, q, s.best),
            best_e=_chosen(lower, e, s.best_e),
            met=met(e),
            ratio=select_less(0.5, spent, RATIO, ratio),
            idle=select(new < 0.99 * cost, 0.0, (s.idle + 1.0) * (1.0 - spent)),
            steps=(s.steps + 1.0) * (1.0 - spent),
            iterations=s.iterations + (1.0 - spent),
            attempt=s.attempt + spent,
            done=over,
        )

    start = integrate(model, q0, [0.0] * model.nv)
    e0 = errors(start)
    state = _State(start, e0, start, e0, met(e0), RATIO, 0.0, 0.0, 0.0, 0.0, 0.0)
    end = repeat(body, state, until=lambda s: s.done > 0.5, most=10**6, like=recording(*q0))
    q, e = _chosen(end.met, end.q, end.best), _chosen(end.met, end.e, end.best_e)
    residual = [abs(x * u) for x, u in zip(e, unit, strict=True)]
    return q, end.met, [largest(residual[at]) for _, at in model.blocks], end.iterations


def _chosen(flag: Scalar, new: Sequence[Scalar], old: Sequence[Scalar]) -> list[Scalar]:
    return [select_less(0.5, flag, a, b) for a, b in zip(new, old, strict=True)]
