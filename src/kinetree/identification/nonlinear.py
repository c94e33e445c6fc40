"""The few parameters in which forces are not linear: motor constants, and the speeds at which friction falls off.

The equation of a recorded current is ``i = (Y(s) π + r) / c + e``, with forces r that are known. About an estimate it
is linear: the columns of c and log s are combinations of those of ``[Y, ∂Y/∂log s, r, i]``, of samples as of their
triangular factors. So every estimator takes Gauss–Newton steps on the likelihood, without reading the log again where
only motor constants are unknown. The noise is in the current, so that it cannot be a column of least squares: the
column of c is the current that the estimate expects.

References: Gautier and Briot, "Global identification of joint drive gains and dynamic parameters of robots", J. Dyn.
Syst. Meas. Control 136(5), 2014, for what identifies the scale; Björck, "Numerical methods for least squares problems",
1996, section 9.2, for Gauss–Newton steps; Wooldridge, "Econometric analysis", 2010, chapter 5, for the start: least
squares in two stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, KinetreeError, listed, unknown_name
from kinetree.identification.equations import KnownMass, RegressionModel
from kinetree.identification.estimators.contract import UNIDENTIFIABLE, Equations, Estimator, Prior, Solution, solve
from kinetree.identification.estimators.least_squares import LeastSquares
from kinetree.identification.log import LONGEST, PIECE, Log
from kinetree.identification.parameters.base import BaseParameters
from kinetree.identification.parameters.terms import TERMS, JointMotion, smooth_sign
from kinetree.identification.triangle import QRFactors
from kinetree.logs.samples import Samples
from kinetree.robot import Robot
from kinetree.tables import number
from kinetree.validation import Array

STEPS, WHOLE_STEPS = 50, 10  # gauss–Newton steps, and how many of these are taken whole: half ones end oscillations
STILL, MOVED = 1e-12, 1e-2  # convergence: changes relative to the size, or in standard deviations
# How many Stribeck speeds are tried for the start, since there are local minima, and the part of a joint's greatest
# speed that the slowest is; the fastest is all of it
SPEEDS_TRIED, SLOWEST = 13, 0.01
FARTHEST = 1.0  # the longest step of the logarithm of a speed

Given = str | Sequence[str] | Mapping[str, tuple[float, float] | None]
"""Joints with unknown motor constants: "all"; names; or by name a value and its standard deviation, or None."""


Motors = Mapping[int, tuple[float, float]]
"""What is known of unknown motor constants, a value and its deviation, by the entry of v."""


class MotorConstants(NamedTuple):
    """Estimated motor constants.

    Attributes
    ----------
    joints : tuple of str
        Whose they are, by the names of v.
    values, std : (m,) arrays
        What the recorded forces are multiplied by (N·m/A, N/A, where they are currents), and standard deviations.
    consistent : (m,) array
        The values that go with physically consistent bodies, and so with `Fit.robot`.
    """

    joints: tuple[str, ...]
    values: Array
    std: Array
    consistent: Array

    def __str__(self) -> str:
        """Return a line."""
        each = zip(self.joints, self.values.tolist(), self.std.tolist(), strict=True)
        return "motor constants: " + ", ".join(f"{name} {number(x)} ± {number(s, 2)}" for name, x, s in each)


def motors_of(robot: Robot, given: Given) -> Motors:
    """Return the prior knowledge of each unknown motor constant."""
    model, found = robot.model, dict[int, tuple[float, float]]()
    actuated = {body.joint_name: [k for k in body.v_index if k in model.actuated] for body in model.leading}
    if isinstance(given, str) and given != "all":
        raise ArgumentError(f"the joints whose motor constants are estimated are 'all', or a list: [{given!r}]")
    if not isinstance(given, Iterable):
        raise ArgumentError(f"motor_constants is {given!r}: 'all', a list of joints, or what is known of them by joint")
    for name in [name for name, own in actuated.items() if own] if given == "all" else given:
        if name not in model.joint_names:
            raise ArgumentError(unknown_name("joint", name, model.joint_names))
        known = given[name] if isinstance(given, Mapping) else None
        try:
            value, deviation = (0.0, np.inf) if known is None else map(float, known)
        except (TypeError, ValueError):
            value = deviation = np.nan
        if not (deviation >= 0.0 and np.isfinite(value) and (value or deviation)):
            raise ArgumentError(f"the motor constant of {name} is {known!r}: give its value and its standard deviation")
        if not actuated.get(name):
            raise ArgumentError(f"{name} has no motor: it is not actuated, or follows another joint")
        found |= dict.fromkeys(actuated[name], (float(value), float(deviation)))
    return dict(sorted(found.items()))


class Nonlinear(RegressionModel):
    """Equations with further parameters, the logarithms of speeds and motor constants, linear about an estimate.

    Before there is one, rows are ``[Y, D, r]``, D the slopes by the logarithm of the speed, and right-hand sides are
    what was recorded. Speeds that are not given are estimated, of the joints with the term "stribeck"; what is known
    of motor constants is as of `motors_of`.
    """

    about: Array | None = None  # the estimate

    def __init__(
        self, base: BaseParameters, stribeck_speed: Array | None, loads: Sequence[KnownMass], motors: Motors
    ) -> None:
        super().__init__(base, stribeck_speed, loads)
        sliding = [] if stribeck_speed is not None else sorted(k for term, k in base.places if term == "stribeck")
        n = self.dimension
        self.motors, self.linear = motors, self.pattern
        self.speed = {k: n + j for j, k in enumerate(sliding)}
        self.constant = {k: n + len(sliding) + j for j, k in enumerate(motors)}
        self.coefficient = {k: base.independent.index(base.places["stribeck", k]) for k in sliding}
        self.dimension = n + len(sliding) + len(motors)
        own = [[at[k] for at in (self.speed, self.constant) if k in at] for k in range(self.robot.nv)]
        self.pattern = [np.append(x, np.array(y, int)) for x, y in zip(self.linear, own, strict=True)]

    def columns(self, piece: Samples) -> list[Array]:
        """Return the rows ``[Y, D, r]`` of each entry of v."""
        rows, known = super().columns(piece), np.broadcast_to(super().known(piece), piece.v.shape)
        for k, Y in enumerate(rows):
            blocks = [Y]
            if k in self.speed:
                slope, v, speed = TERMS["stribeck"].slope, piece.v[:, k], np.asarray(self.stribeck_speed)[k]
                sign: Any = smooth_sign(v, self.base.smoothing) if piece.direction is None else piece.direction[:, k]
                assert slope is not None
                blocks.append(np.asarray(slope(JointMotion(0.0, v, 0.0, sign, speed, 0.0))))
            if k in self.constant:
                blocks.append(known[:, k])
            rows[k] = np.column_stack(blocks)
        return rows

    def known(self, piece: Samples) -> Any:
        """Return the forces (n, nv) that are known and have no column."""
        forces = np.array(np.broadcast_to(super().known(piece), piece.v.shape))
        forces[:, list(self.constant)] = 0.0
        return forces

    def of(self, piece: Samples) -> tuple[list[Array], Array]:
        """Return the rows (n, columns) of each entry of v, and what they add up to (n, nv)."""
        rows, right = super().of(piece)
        if self.about is not None:
            for k, Y in enumerate(rows):
                whole = np.column_stack([Y, right[:, k]]) @ self._combination(k, self.about)
                rows[k], right[:, k] = whole[:, :-1], whole[:, -1]
        return rows, right

    def _combination(self, k: int, values: Array) -> Array:
        """Return T with ``[Y, D, r, i] T`` the columns and the right-hand side that are linear about an estimate."""
        m, has_speed = len(self.linear[k]), int(k in self.speed)
        T = np.eye(len(self.pattern[k]) + 1)
        if has_speed:
            coefficient = values[self.coefficient[k]]
            T[m, m], T[m, -1] = coefficient, coefficient * values[self.speed[k]]
        if k in self.constant:
            c = values[self.constant[k]]
            force = np.concatenate([values[self.linear[k]], np.zeros(has_speed), [1.0, 0.0]])  # Y π + r
            T[:, -2] = -force / c
            T[:, -1] -= force
            T[-2, -1], T[-1, -1] = -2.0, c  # c i − r − (Y π + r)
        return T

    def at(self, values: Array) -> Nonlinear:
        """Return the equations that are linear about these values."""
        own = copy(self)
        own.about = values
        return own

    def factors(self, log: Any) -> QRFactors:
        """Return the factors of ``[Y, D, r, i]``, at the best of a few speeds while these are unknown."""
        if self.speed and self.stribeck_speed is None:
            self.stribeck_speed = self._likely_speeds(log)
        return super().factors(log)

    def _likely_speeds(self, log: Any) -> Array:
        """Return the speeds (nv,) that leave the least residuals, each of its joint's own equations."""
        fastest = np.max([np.abs(piece.v).max(axis=0, initial=0.0) for piece in log.pieces(self.robot)], axis=0)
        fastest[fastest == 0.0] = 1.0
        self.slowest, self.fastest = np.log(SLOWEST * fastest), np.log(fastest)
        some = Log([*islice(log.pieces(self.robot), LONGEST // PIECE)])
        tried = np.geomspace(SLOWEST * fastest, fastest, SPEEDS_TRIED)
        left = np.full_like(tried, np.inf)
        for residuals, self.stribeck_speed in zip(left, tried, strict=True):
            for k, R in enumerate(super().factors(some).R):
                own = np.delete(R, len(self.linear[k]), axis=1) if k in self.speed else R
                x = np.asarray(np.linalg.qr(own, mode="r"))
                residuals[k] = abs(x[-1, -1]) if len(x) == x.shape[1] else 0.0
        return np.asarray(np.take_along_axis(tried, left.argmin(axis=0)[None], axis=0)[0])

    def fitted(self, by: Estimator, equations: Equations, prior: Prior) -> tuple[Equations, Solution]:
        """Return the estimate by Gauss–Newton steps: of least squares first, which need no log, then as asked for."""
        raw, joints, own = equations.factors, [*self.speed], np.array([*self.speed.values()], int)
        speeds = np.zeros(0) if self.stribeck_speed is None else np.log(self.stribeck_speed[joints])
        prior = prior.wider(speeds, np.zeros(len(speeds))).wider(*np.reshape(list(self.motors.values()), (-1, 2)).T)
        self.check_scale(raw, prior)
        values = self.begin(raw, prior)
        low, high = (x[joints] for x in (self.slowest, self.fastest)) if joints else (speeds, speeds)
        further = slice(self.dimension - len(joints) - len(self.motors), None)
        for inner in (LeastSquares(correlated=False), by):
            prior.deviations[own] = np.inf
            for count in range(STEPS):
                prior.values[own], self.about = values[own], values
                equations = replace(equations, model=self, factors=self.factors_about(raw, values))
                found = inner.fit(equations, prior)
                step = found.values - values
                step[own] = np.clip(step[own], -FARTHEST, FARTHEST) * (1.0 if count < WHOLE_STEPS else 0.5)
                beyond = (values[own] + step[own] < low) | (values[own] + step[own] > high)
                prior.deviations[own[beyond & ((values[own] == low) | (values[own] == high))]] = 0.0
                step[own] = np.clip(values[own] + step[own], low, high) - values[own]
                moved, values = np.abs(step)[further], values + step
                if joints:
                    self.about, self.stribeck_speed = None, np.array(self.stribeck_speed)
                    self.stribeck_speed[joints] = np.exp(values[own])
                    raw = self.factors(equations.log)
                std = np.sqrt(np.diag(found.covariance))[further]
                if ((moved <= STILL * np.abs(values[further])) | (moved <= MOVED * std)).all() and not beyond.any():
                    break
            else:
                raise KinetreeError(
                    "the motor constants, or the speeds of friction, still move after all steps: these data hardly "
                    "identify them; give what is known of them before, a heavier known load, or longer motions"
                )
        self._refuse(found.unidentifiable)
        self.about = values
        return replace(equations, factors=self.factors_about(raw, values)), found._replace(values=values)

    def factors_about(self, raw: QRFactors, values: Array) -> QRFactors:
        """Return the factors of the equations that are linear about an estimate, from those of the raw ones."""
        sizes = np.ones(len(raw.R))
        sizes[list(self.constant)] = values[list(self.constant.values())]
        return raw.with_factors([R @ self._combination(k, values) for k, R in enumerate(raw.R)], sizes)

    def begin(self, raw: QRFactors, prior: Prior) -> Array:
        """Return a consistent estimate: least squares with the currents that each joint's own equations expect."""
        R = list(raw.R)
        for k in self.constant:
            B, i = R[k][:, :-1], R[k][:, -1]
            R[k] = np.column_stack([B[:, :-1], -B @ np.linalg.lstsq(B, i, rcond=None)[0], -B[:, -1]])
        return solve(*raw.with_factors(R).stacked(np.ones(len(R))), prior)[0]

    def check_scale(self, raw: QRFactors, prior: Prior) -> None:
        """Raise `ArgumentError` if there are constants that nothing known determines.

        The rank of the equations about other estimates says so: the forces of these are the same for other constants.
        """
        if not self.constant:
            return
        ones = np.ones(len(raw.R))
        A = np.linalg.norm(raw.stacked(ones)[0], axis=0)
        size = np.sqrt(raw.mean_squares.max(initial=0.0) * raw.count) or 1.0
        values = np.random.default_rng(0).normal(size=self.dimension) * size / np.where(A > 0.0, A, size)
        known, own = np.isfinite(prior.deviations), list(self.constant.values())
        values[known] = prior.values[known]
        values[own] = np.where(known[own] & (values[own] != 0.0), values[own], 1.0)
        *_, null = solve(*self.factors_about(raw, values).stacked(ones), prior)
        self._refuse(null, raw.mean_squares[list(self.constant)] == 0.0)

    def _refuse(self, null: Array, zero: Any = False) -> None:
        """Raise `ArgumentError` if constants have a part in directions that change no force, or only forces of zero."""
        parts = np.abs(null).max(axis=0, initial=0.0)[list(self.constant.values())]
        joints = np.array([*self.constant], int)[(parts > UNIDENTIFIABLE) | zero]
        if len(joints):
            raise ArgumentError(
                f"nothing determines the motor constants of {listed([self.robot.v_names[k] for k in joints])}: other "
                "masses and friction with other constants have the same currents. What does: a motion in which these "
                "joints carry a known load (kinetree.identification.with_known_load, or --load), known parameters that "
                "they move (`known`, or --known), or joints with known forces that are coupled with them"
            )

    def motor_constants(self, solution: Solution, consistent_values: Array) -> MotorConstants | None:
        """Return the constants that were estimated, and what is likeliest with other base parameters."""
        if not self.constant:
            return None
        own, names = list(self.constant.values()), tuple(self.robot.v_names[k] for k in self.constant)
        near = solution.others(consistent_values)[-len(own) :]
        return MotorConstants(names, solution.values[own], solution.std[own], near)

    def speed_deviations(self, solution: Solution) -> Array | None:
        """Return the standard deviations of the Stribeck speeds (nv,): infinite where unidentifiable, or at an end."""
        if not self.speed:
            return None
        own, relative = solution.std[list(self.speed.values())], np.zeros(self.robot.nv)
        relative[list(self.speed)] = np.where(own == 0.0, np.inf, own)
        return np.asarray(relative * np.asarray(self.stribeck_speed))
