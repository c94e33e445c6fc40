"""Output error: estimates from the forces of a controlled robot whose motion is simulated, and so has no noise in it.

References: Ljung, "System identification", 1999, chapters 7 and 10, for output error and Gauss–Newton steps; Janot,
Vandanjon and Gautier, "A generic instrumental variable approach for industrial robot identification", IEEE T-CST 22(1),
2014, for simulated instruments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, KinetreeError
from kinetree.identification.equations import RegressionModel
from kinetree.identification.estimators.contract import Equations, Prior, Solution
from kinetree.identification.estimators.instrumental import Instrumental
from kinetree.identification.estimators.least_squares import LeastSquares
from kinetree.identification.log import motions_in
from kinetree.identification.parameters.base import BaseParameters
from kinetree.identification.parameters.terms import OF_ROBOTS
from kinetree.logs.samples import Samples, measured
from kinetree.options import count, only, option, value
from kinetree.robot import Robot
from kinetree.validation import Array

MOVED = 0.1  # by how many standard deviations estimates may still move in the end
EXACT = 1e-6  # where the residuals are so small, relative to the forces, they may
PART = 1e-5  # the effect of the differences by which derivatives are taken, relative to the forces
SHORTEST = 1 / 64  # of a step, where the whole one makes the residuals larger


@value
class OutputError:
    """Gauss–Newton steps on the measured forces less those of the robot's controller in simulation.

    The controller makes a simulated robot move nearly as the real one did. With each estimate the motion is simulated
    anew, until that changes the estimates no more: noise in the recorded positions, velocities and accelerations does
    not bias them. The robot before has to be good enough to be simulated with its controller; terms are those that
    robots have: armature, damping, friction and stiffness.

    If the estimates still move after all steps, or the simulated motion is not finite, the robot before is too poor, or
    the controller not stable.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> real = kt.load("ur5").lock(["shoulder_pan_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"])
    >>> real = real.with_joint_physics(damping=2.0).with_friction()
    >>> poor = real.with_inertial_parameters(1.3 * real.inertial_parameters).with_joint_physics(damping=0.0)
    >>> def simulate(robot):  # poor's simulation, compiled once, with the numbers of the robot
    ...     bodies = zip(poor.body_names, robot.inertial_parameters.reshape(-1, 10))
    ...     known = {kt.body_inertia(name): ten for name, ten in bodies} | {kt.joint_damping: robot.damping}
    ...     pd = lambda q, v, t: 4000.0 * (np.sin(np.array([2.0, 3.0]) * t) ** 2 - q) - 100.0 * v
    ...     return poor.simulate(poor.neutral(), duration=1.0, dt=2e-3, controller=pd, inputs=known, record="q v a tau")
    >>> recorded = simulate(real)
    >>> fit = poor.identify(recorded, ["damping"], by=kt.identification.OutputError(simulate))
    >>> bool(np.abs(fit.values - fit.base.of(real)).max() < 1e-3)
    True
    """

    simulate: Callable[[Robot], Any] = option(
        kw_only=False,
        check=only(callable, "a function from a robot to its motion"),
        help='from a robot to its motion at the times of the log, sample for sample: a `Trajectory` with "a" and '
        '"tau", or (q, v, a, tau), or a list of these if the log is one. It simulates robot and controller '
        "(`Robot.simulate`); a robot with other numbers is compiled anew unless they are ``inputs``, as in the example",
    )
    instruments: bool = option(
        default=False,
        kw_only=False,
        help="whether the simulated motion is the instruments of the recorded one (`Instrumental`): one simulation a "
        "step. If not, nothing but the forces of the log is read, and a step needs as many simulations as there are "
        "base parameters, and one",
    )
    steps: int = option(default=15, kw_only=False, check=count, help="how many there may be")
    reads_again, exact_motion = True, False

    def fit(self, equations: Equations, prior: Prior) -> Solution:
        """See `Estimator`; each estimate is simulated with the physically consistent bodies that are nearest to it."""
        if type(equations.model) is not RegressionModel or equations.model.loads:
            raise ArgumentError(
                "robots are simulated without loops, motor constants, unknown speeds of friction and loads that are "
                "known by their mass alone"
            )
        base, recorded, nearest = equations.model.base, [*motions_in(equations.log.given)], equations.nearest
        homeless = [*(term for term in base.joint_terms if term not in OF_ROBOTS), *base.own_columns]
        if homeless:
            raise ArgumentError(f"{', '.join(map(repr, homeless))} cannot be simulated: no robot has them")
        least, tau = EXACT * np.sqrt(equations.factors.mean_squares.max(initial=0.0)), _forces(recorded)
        ends = np.cumsum([0, *(np.size(x.q, 0) for x in recorded)])
        motions = [slice(i, j) for i, j in pairwise(ends)]
        here, before, simulated = base.all_parameters(), None, self._simulated(base.robot, recorded)
        for _ in range(self.steps):
            if self.instruments:
                found = Instrumental(simulated).fit(equations, prior)
            else:
                J = self._slopes(base, here, recorded, simulated)
                model = _Linearised(base, J, tau - _forces(simulated) + J @ (base.projection @ here))
                found = LeastSquares().fit(Equations(model, motions, model.factors(motions)), prior)
            moved = np.inf if before is None else np.abs(found.values - before)
            if (moved <= MOVED * np.sqrt(np.diag(found.covariance))).all() or not (found.noise > least).any():
                return found
            to = base.representative(found.values) if nearest is None else nearest(found)[0]
            most, length = (1.0 + 1e-6) * _squares(tau - _forces(simulated), found.noise), 1.0
            while True:  # a part of the step if all of it is worse
                there = here + length * (to - here)
                simulated = self._simulated(base.robot_with(there), recorded, finite=length <= SHORTEST)
                if length <= SHORTEST or _squares(tau - _forces(simulated), found.noise) <= most:
                    break
                length /= 2.0
            here, before = there, found.values
        raise KinetreeError(
            f"the estimates still move after {self.steps} steps: give a robot that is nearer to the real one, a "
            "stiffer controller, or more steps"
        )

    def _slopes(self, base: BaseParameters, here: Array, recorded: list[Samples], now: list[Samples]) -> Array:
        """Return the derivatives (n, nv, base parameters) of the simulated forces of all motions."""
        q, v, a, tau = (np.concatenate([np.asarray(x[k]) for x in now]) for k in range(4))
        size = np.sqrt(np.mean(base.regressor(q, v, a) ** 2, axis=0)).max(axis=0)
        force, J = np.sqrt(np.mean(np.square(tau), axis=0)).max(), np.zeros((*tau.shape, base.dimension))
        for j, place in enumerate(base.independent):
            other = here.copy()
            other[place] += (delta := PART * force / size[j] if size[j] > 0.0 else 1.0)
            J[..., j] = (_forces(self._simulated(base.robot_with(other), recorded)) - tau) / delta
        return J

    def _simulated(self, robot: Robot, recorded: list[Samples], finite: bool = True) -> list[Samples]:
        """Return simulated motions with their forces."""
        motions = [*motions_in(self.simulate(robot))]
        if len(motions) != len(recorded):
            raise ArgumentError(f"simulate returned {len(motions)} motions for the {len(recorded)} of the log")
        for motion, own in zip(motions, recorded, strict=True):
            if np.shape(motion.q) != np.shape(own.q):
                raise ArgumentError(f"simulate returned q of shape {np.shape(motion.q)}, the log has {np.shape(own.q)}")
            if finite and not all(np.isfinite(x).all() for x in (*motion[:3], measured(np.asarray(motion.tau)))):
                raise KinetreeError("the simulated motion is not finite: is the controller stable with this robot?")
        return motions


class _Linearised(RegressionModel):
    """Equations whose columns (samples, nv, n) and right-hand sides (samples, nv) are there already.

    A log is the slices of its motions.
    """

    def __init__(self, base: BaseParameters, J: Array, right: Array) -> None:
        self.robot, self.base, self.dimension = base.robot, base, base.dimension
        self.of_bodies = np.arange(base.dimension)
        self.pattern = [self.of_bodies] * base.robot.nv
        self._J, self._right = J * ~np.isnan(right)[..., None], np.nan_to_num(right)

    def equations(self, log: Any) -> Iterator[tuple[list[Array], Array]]:
        """Yield the rows of each entry of v and what they add up to, motion by motion."""
        for motion in log:
            yield list(self._J[motion].swapaxes(0, 1)), self._right[motion]

    def residuals(self, log: Any, values: Array) -> Iterator[Array]:
        """Yield the residuals (n, nv) of each motion."""
        for motion in log:
            yield self._right[motion] - self._J[motion] @ values


def _forces(motions: list[Samples]) -> Array:
    """Return the forces (n, nv) of all motions."""
    return np.concatenate([np.asarray(x.tau) for x in motions])


def _squares(e: Array, noise: Array) -> float:
    return float(np.nansum((e / noise) ** 2))
