"""Motor constants: what the currents of motors are multiplied by to be joint forces, estimated with the parameters.

A current has the noise, so that its column cannot be that of a least-squares problem: ``Y π − c i = −r`` would make c
too small. The equation of the current, ``i = (Y π + r) / c + e``, is bilinear. About an estimate it is linear, and the
current's column is then the one that the estimate expects, without noise: Gauss–Newton steps on the likelihood.

References: Gautier and Briot, "Global identification of joint drive gains and dynamic parameters of robots", J. Dyn.
Syst. Meas. Control 136(5), 2014, for what tells the scale; Björck, "Numerical methods for least squares problems",
1996, section 9.2, for Gauss–Newton steps; Wooldridge, "Econometric analysis", 2010, chapter 5, for the beginning: least
squares in two stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, KinetreeError, listed, unknown_name
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.equations import Factors, Rows
from kinetree.identification.held_loads import KnownMass
from kinetree.identification.least_squares import Prior, Solution, solve, weighted
from kinetree.identification.samples import Piece
from kinetree.robot import Robot
from kinetree.tables import number
from kinetree.validation import Array

STEPS = 50
"""Gauss–Newton steps."""

STILL, MOVED = 1e-12, 1e-2
"""By how much, relative to their size, or by how many standard deviations constants may still move in the end."""

UNTOLD = 1e-3
"""A constant with such a part in a direction that changes no force is not told."""

Given = str | Sequence[str] | Mapping[str, tuple[float, float] | None]
"""All, by "all"; names of joints; or by name what is known before: a value and its standard deviation, or None."""

Estimate = Callable[[Rows, Factors, Prior], Solution]


class Motors(NamedTuple):
    """Which entries of v have a motor whose constant is not known, and what is known of it before."""

    places: list[int]
    prior: Prior


class MotorConstants(NamedTuple):
    """Estimated motor constants.

    Attributes
    ----------
    joints : tuple of str
        Whose they are, by the names of v.
    values, std : (m,) arrays
        What the recorded forces are multiplied by (N·m/A, N/A, where they are currents), and standard deviations.
    consistent : (m,) array
        The values that go with bodies that can exist, and so with `Fit.robot`.
    """

    joints: tuple[str, ...]
    values: Array
    std: Array
    consistent: Array

    def __str__(self) -> str:
        """Return a line."""
        each = zip(self.joints, self.values.tolist(), self.std.tolist(), strict=True)
        return "motor constants: " + ", ".join(f"{name} {number(x)} ± {number(s, 2)}" for name, x, s in each)


def checked(robot: Robot, given: Given) -> Motors:
    """Return the motors of joints that were named."""
    model, found = robot.model, dict[int, tuple[float, float]]()
    if given == "all":
        given = [body.joint_name for body in model.leading if not set(model.actuated).isdisjoint(body.v_index)]
    if isinstance(given, str):
        raise ArgumentError(f"the joints whose motor constants are estimated are 'all', or a list: [{given!r}]")
    for name in given:
        if name not in model.joint_names:
            raise ArgumentError(unknown_name("joint", name, model.joint_names))
        known = given[name] if isinstance(given, Mapping) else None
        try:
            value, deviation = (0.0, np.inf) if known is None else map(float, known)
        except (TypeError, ValueError):
            value = deviation = np.nan
        if not (deviation >= 0.0 and np.isfinite(value) and (value or deviation)):
            raise ArgumentError(f"the motor constant of {name} is {known!r}: give its value and its standard deviation")
        own = [k for body in model.leading if body.joint_name == name for k in body.v_index if k in model.actuated]
        if not own:
            raise ArgumentError(f"{name} has no motor: it is not actuated, or follows another joint")
        found |= dict.fromkeys(own, (float(value), float(deviation)))
    columns = np.array([found[k] for k in sorted(found)]).reshape(-1, 2)
    return Motors(sorted(found), Prior(columns[:, 0], columns[:, 1]))


class MotorRows(Rows):
    """Equations with the motor constants as further parameters.

    Before there is an estimate, their columns are the known forces, and their right-hand sides the currents; then they
    are linear about the estimate.
    """

    about: Array | None = None

    def __init__(
        self,
        base: BaseParameters,
        stribeck_speed: Array | None,
        motors: Motors,
        loads: Sequence[KnownMass] = (),
    ) -> None:
        super().__init__(base, stribeck_speed, loads)
        self.motors, self.first = motors, self.dimension
        self.dimension += len(motors.places)
        self.constant = {k: self.first + j for j, k in enumerate(motors.places)}
        self.pattern = [np.append(x, self.constant[k]) if k in self.constant else x for k, x in enumerate(self.pattern)]

    def of(self, piece: Piece) -> tuple[list[Array], Array]:
        """Return the rows (n, columns) of each entry of v, and what they add up to (n, nv)."""
        rows, known, right = self.columns(piece), self.known(piece), piece.tau.copy()
        for k, Y in enumerate(rows):
            r = np.zeros(len(right)) if known is None else known[:, k]
            if k not in self.constant:
                right[:, k] -= r
            elif self.about is None:
                rows[k] = np.column_stack([Y, r])
            else:
                column, right[:, k] = self._linear(k, Y, r, right[:, k])
                rows[k] = np.column_stack([Y, column])
        return rows, right

    def factors_about(self, raw: Factors, values: Array) -> Factors:
        """Return the factors of the equations that are linear about an estimate, from those of `of` before."""
        self.about = values
        R = list(raw.R)
        for k in self.constant:
            Y, r, i = R[k][:, :-2], R[k][:, -2], R[k][:, -1]
            column, right = self._linear(k, Y, r, i)
            R[k] = np.column_stack([Y, column, right])
        sizes = np.ones(len(R))
        sizes[list(self.constant)] = values[list(self.constant.values())]
        return raw.with_factors(R).scaled(sizes)

    def _linear(self, k: int, Y: Array, r: Array, i: Array) -> tuple[Array, Array]:
        """Return the column of a constant and the right-hand side: of samples, or of a triangular factor alike."""
        values: Any = self.about
        c, force = values[self.constant[k]], Y @ values[self.pattern[k][:-1]] + r
        return -force / c, c * i - force - r

    def beginning(self, raw: Factors, prior: Prior) -> Array:
        """Return a consistent estimate: least squares with the currents that each joint's own equations expect."""
        R = list(raw.R)
        for k in self.constant:
            B, i = R[k][:, :-1], R[k][:, -1]
            R[k] = np.column_stack([B[:, :-1], -B @ np.linalg.lstsq(B, i, rcond=None)[0], -B[:, -1]])
        return solve(*raw.with_factors(R).stacked(np.ones(len(R))), prior)[0]

    def check_scale(self, raw: Factors, prior: Prior) -> None:
        """Raise `ArgumentError` if there are constants that nothing known determines.

        Which ones is told by the rank of the equations about estimates like any others: the forces of these are the
        same for other constants.
        """
        A = np.linalg.norm(raw.stacked(np.ones(len(raw.R)))[0], axis=0)
        size = np.sqrt(raw.mean_squares.max(initial=0.0) * raw.count) or 1.0
        values = np.random.default_rng(0).normal(size=self.dimension) * size / np.where(A > 0.0, A, size)
        known = np.isfinite(prior.deviations)
        values[known] = prior.values[known]
        motors = list(self.constant.values())
        values[motors] = np.where(known[motors] & (values[motors] != 0.0), values[motors], 1.0)
        factors = self.factors_about(raw, values)
        *_, untold = solve(*factors.stacked(np.ones(len(raw.R))), prior)
        self._refuse(np.abs(untold).max(axis=0, initial=0.0)[motors] + (raw.mean_squares[list(self.constant)] == 0.0))

    def _refuse(self, parts: Array) -> None:
        """Raise if constants have such parts in directions that change no force."""
        names = [self.robot.v_names[k] for k, part in zip(self.constant, parts, strict=True) if part > UNTOLD]
        if names:
            raise ArgumentError(
                f"nothing tells the motor constants of {listed(names)}: other masses and friction with other constants "
                "have the same currents. What tells them: a motion with a known load that these joints carry "
                "(kinetree.identification.holding), `known` parameters that they move, or joints with known forces "
                "that are coupled with them"
            )

    def estimated(self, raw: Factors, prior: Prior, estimate: Estimate) -> tuple[Factors, Solution, Prior]:
        """Return the estimate of base parameters and constants, the factors about it, and what is known of both."""
        prior = Prior(*(np.concatenate(pair) for pair in zip(prior, self.motors.prior, strict=True)))
        self.check_scale(raw, prior)
        values, first = self.beginning(raw, prior), self.first
        for way in (lambda _, factors, prior: weighted(factors, prior), estimate):
            for _ in range(STEPS):
                factors = self.factors_about(raw, values)
                found = way(self, factors, prior)
                moved, values = np.abs(found.values - values)[first:], found.values
                std = np.sqrt(np.diag(found.covariance))[first:]
                if ((moved <= STILL * np.abs(values[first:])) | (moved <= MOVED * std)).all():
                    break
            else:
                raise KinetreeError(
                    "the motor constants still move after all steps: these data hardly tell them; give what is known "
                    "of them before, a heavier known load, or longer motions"
                )
        self._refuse(np.abs(found.untold).max(axis=0, initial=0.0)[first:])
        return self.factors_about(raw, values), found, prior

    def estimates(self, solution: Solution, consistent_values: Array) -> MotorConstants:
        """Return the constants that were estimated, and what is likeliest with other base parameters."""
        n, std = self.first, np.sqrt(np.diag(solution.covariance))
        names = tuple(self.robot.v_names[k] for k in self.constant)
        near = solution.others(consistent_values)[n - self.base.dimension :]
        return MotorConstants(names, solution.values[n:], std[n:], near)
