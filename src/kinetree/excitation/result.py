"""A planned motion, and how well parameters will be determined by it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, listed
from kinetree.excitation.problem import Problem
from kinetree.excitation.search import Found
from kinetree.identification.equations import RegressionModel
from kinetree.identification.estimators.contract import Prior, deviations, solve
from kinetree.identification.log import Log
from kinetree.identification.parameters.base import BaseParameters
from kinetree.identification.parameters.terms import smooth_sign
from kinetree.identification.triangle import one_thread
from kinetree.lazy import cached_property
from kinetree.logs.samples import Samples
from kinetree.motions.extremes import plain
from kinetree.motions.paths import Sample
from kinetree.motions.trajectory import Trajectory
from kinetree.tables import Cells, number
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from kinetree.robot import Robot


class Excitation:
    """A motion planned for identification, and how well its record will determine the parameters.

    The result of `Robot.excite`. Called with times it returns q, v and a there, exactly.

    Attributes
    ----------
    robot : Robot
        All of it.
    base : BaseParameters
        Those of ``base.robot``, which is the robot with the joints that do not move locked.
    series : Series
        Period, harmonics, periods, ramp, and the rate of the record.
    coefficients : (joints, 2 + 2 harmonics) array
        Of the joints that move: where they rest, the mean of the series, its cosines and its sines.
    noise : (joints,) array
        Standard deviations of the noise of their forces that it was planned for (N·m, N).
    limits : Limits
        What it keeps within.
    q_index, v_index : lists of int
        Which entries of the robot's q and v move.
    iterations : int
    converged, interrupted : bool
        Whether the search ended by itself, or by Ctrl-C. If neither, `Robot.excite` can continue it (``initial``).
    """

    def __init__(
        self, robot: Robot, start: Array, at: tuple[list[int], list[int]], problem: Problem, found: Found
    ) -> None:
        self.robot, self.base, self.series = robot, problem.rows.base, problem.series
        self.coefficients, self.noise = found.X, problem.noise
        self.iterations, self.converged, self.interrupted = found.iterations, found.converged, found.interrupted
        self.coefficients.flags.writeable = False
        self.q_index, self.v_index = at
        self.limits, self._start = problem.limits, start

    def __call__(self, t: ArrayLike) -> Sample:
        """Return q, v and a at times t (...) in s; before the beginning and after the end the robot rests."""
        times = real_array("t", t)
        if np.isnan(times).any():
            raise ArgumentError("t holds NaN, which is not a time")
        within = np.clip(times.ravel(), 0.0, self.series.duration)
        moved = (self.series.basis(within) @ self.coefficients.T).reshape(3, *times.shape, -1)
        q = np.broadcast_to(self._start, (*times.shape, self.robot.nq)).copy()
        v, a = np.zeros((2, *times.shape, self.robot.nv))
        for x, index, value in zip((q, v, a), (self.q_index, self.v_index, self.v_index), moved, strict=True):
            x[..., index] = value
        return Sample(q, v, a)

    @cached_property
    def trajectory(self) -> Trajectory:
        """The whole motion at the rate of the record, from rest to rest, with the forces that it needs."""
        t = np.arange(round(self.series.duration * self.series.rate) + 1) / self.series.rate
        q, v, a = self(t)
        return Trajectory(self.robot, t, q, v, a, self.robot.inverse_dynamics(q, v, a))

    @property
    def recorded(self) -> Trajectory:
        """Its periodic part: what is worth recording."""
        s, t = self.series, self.trajectory.t
        first, last = np.searchsorted(t, [s.ramp - 1e-9, s.ramp + s.periods * s.period - 1e-9])
        return self.trajectory[first:last]

    @cached_property
    def _expected(self) -> tuple[Array, Array, Array]:
        motion, i, k = self.recorded, self.q_index, self.v_index
        return _expected(self.base, motion.q[:, i], motion.v[:, k], motion.a[:, k], motion.tau[:, k], self.noise)

    @property
    def covariance(self) -> Array:
        """Of the base parameters (n, n), the inverse of Fisher's information."""
        return self._expected[1]

    @property
    def std(self) -> Array:
        """Standard deviations of the base parameters (n,) to expect, infinite of unidentifiable ones."""
        return self._expected[2]

    @property
    def condition(self) -> float:
        """Condition number of the regressor of the record, in units of the noise."""
        return float(np.linalg.cond(self._expected[0]))

    @property
    def held(self) -> tuple[str, ...]:
        """Names of the joints that are held still."""
        moving = self.base.robot.joint_names
        return tuple(name for name in self.robot.joint_names if name not in moving)

    def std_of(self, base: BaseParameters) -> Array:
        """Return the standard deviations to expect of base parameters of the whole robot, infinite where unknown.

        `base` are those of the robot that has the plan's held joints, ``robot.base_parameters(...)``. If nothing is
        held, and the joint terms are those of the plan, they are `std`.

        Raises
        ------
        ArgumentError
            If they are another robot's.

        Examples
        --------
        >>> import kinetree as kt
        >>> robot = kt.load("ur5").lock(["wrist_1_joint", "wrist_2_joint", "wrist_3_joint"])
        >>> series = kt.Series(period=4, harmonics=2)
        >>> plan = robot.excite(["friction"], series=series, joints=["elbow_joint"], iterations=5)
        >>> whole = robot.base_parameters(["friction"])
        >>> plan.held, plan.base.dimension, whole.dimension
        (('shoulder_pan_joint', 'shoulder_lift_joint'), 4, 18)
        >>> [name for name, std in zip(whole.names, plan.std_of(whole)) if std < 1]
        ['m c_x of forearm_link', 'm c_z of forearm_link', 'I_yy of forearm_link', 'friction of elbow_joint']
        """
        if base.robot != self.robot:
            raise ArgumentError(
                f"these base parameters are not of {self.robot.name!r}, which has this plan's held joints"
            )
        noise = np.full(self.robot.nv, np.inf)
        noise[self.v_index] = self.noise
        motion = self.recorded
        return _expected(base, motion.q, motion.v, motion.a, motion.tau, noise)[2]

    def save(self, path: str | PathLike[str]) -> None:
        """Write `trajectory` to a CSV, NPZ or Parquet: see `Trajectory.save`. Read again, it can be continued."""
        self.trajectory.save(path)

    def plot(self) -> Figure:
        """Return a figure: positions, speeds and forces as parts of their limits, and standard deviations expected.

        Raises
        ------
        ArgumentError
            If matplotlib, the extra ``plot``, is not installed.
        """
        from kinetree.drawing.fit import draw
        from kinetree.drawing.panels import drawn

        return drawn(lambda figure: draw(self, figure), layout="constrained")

    def table(self) -> Cells:
        """Return a row a base parameter: the standard deviation to expect, and its value in this robot."""
        columns = zip(self.std.tolist(), self.base.of().tolist(), self.base.names, strict=True)
        rows = [(number(s), number(x), name) for s, x, name in columns]
        return Cells({"std": "right", "value": "right", "parameter": "left"}, rows, ("value",))

    def to_dict(self) -> dict[str, Any]:
        """Return the motion's figures and every parameter's expected standard deviation, for JSON."""
        keys = ("name", "combination", "value", "std")
        rows = zip(self.base.names, self.base.combinations, self.base.of().tolist(), self.std.tolist(), strict=True)
        found = {name: getattr(self, name) for name in ("condition", "held", "iterations", "converged")}
        found |= {"robot": self.robot.name, "duration": self.trajectory.duration}
        found |= {"parameters": [dict(zip(keys, row, strict=True)) for row in rows]}
        return dict(plain(found))

    def __str__(self) -> str:
        head = f"{self.robot.name}: {self.series.duration:g} s, condition number {number(self.condition)}"
        return f"{head}{f'; {listed(self.held)} held' if self.held else ''}\n{self.table()}"

    def __repr__(self) -> str:
        return f"<Excitation of {self.robot.name!r}: {self.series.duration:g} s, {self.base.dimension} base parameters>"


def _expected(
    base: BaseParameters, q: Array, v: Array, a: Array, tau: Array, noise: Array
) -> tuple[Array, Array, Array]:
    """Return a record's information: A, where it is ``AᵀA``, the covariance (n, n) and the deviations (n,)."""
    record, n = Samples(q, v, a, tau, direction=smooth_sign(v, base.smoothing)), base.dimension
    with one_thread():
        A, _ = RegressionModel(base).factors(Log(record)).stacked(noise)
    _, covariance, null = solve(A, np.zeros(len(A)), Prior(np.zeros(n), np.full(n, np.inf)))
    return A, covariance, deviations(covariance, null)
