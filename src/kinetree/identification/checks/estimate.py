"""What the estimate shows: too few samples, forces that nothing explains, bodies and constants far from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.errors import listed
from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.checks.samples import base_of
from kinetree.identification.equations import QRFactors
from kinetree.identification.estimators.contract import LEAST_NOISE, Solution
from kinetree.identification.nonlinear import MotorConstants
from kinetree.logs.findings import Found, named
from kinetree.validation import Array

WORSE, EXPLAINED = 1.1, 10.0
"""Residuals so many times as large, and squares above so many a parameter, in units of the noise, are worth a word."""

UNEXPLAINED = 1.2
"""Residuals that are so many times the spread of the forces: a constant would explain more."""

FAR = 3.0
"""Standard deviations from an estimated motor constant to the one that goes with consistent bodies."""


class Estimated(NamedTuple):
    """An estimate, and the parameters of physically consistent bodies."""

    base: BaseParameters
    factors: QRFactors
    solution: Solution
    parameters: Array
    constants: MotorConstants | None = None


def few(factors: QRFactors) -> Iterator[Found]:
    """Yield that a joint has no more equations than parameters: its residuals then say nothing of its noise."""
    most = max(map(len, factors.pattern))
    if factors.count <= most:
        yield Found(
            f"{factors.count} samples are few beside {most} parameters: noise and standard deviations are not told",
            (),
            {"samples": factors.count, "parameters": most},
        )


def few_moving(factors: QRFactors, names: Sequence[str]) -> Iterator[Found]:
    """Yield joints of which friction at rest leaves fewer equations than parameters: these fit them anyway."""
    most = np.array([len(own) for own in factors.pattern])
    few = (factors.counts > 0) & (factors.counts <= most) & (most < factors.count)
    for k in map(int, np.flatnonzero(few)):
        yield Found(
            f"{names[k]} moves faster than standing in {factors.counts[k]:.0f} of {factors.count} samples, too few for "
            f"the {most[k]} parameters of its equation: give it a lower speed, one at which none is left, or a motion "
            "in which it moves more",
            (names[k],),
            {"samples": int(factors.counts[k]), "of": factors.count, "parameters": int(most[k])},
        )


def unexplained(at: Estimated) -> Iterator[Found]:
    """Yield which forces the estimates do not explain."""
    if at.constants is not None:
        return
    robot, factors = at.base.robot, at.factors
    joints = factors.counts > 0.0
    joints[base_of(robot)] = False
    left = np.sqrt(factors.squares(at.solution.values[: factors.dimension]) / np.maximum(factors.counts, 1.0))
    found = joints & (left > UNEXPLAINED * factors.spread) & (left > LEAST_NOISE * np.sqrt(factors.mean_squares.max()))
    if found.any():
        worst = float((left[found] / np.maximum(factors.spread[found], np.finfo(float).tiny)).max())
        names = named(robot, found)
        yield Found(
            f"the estimates do not explain the forces of {listed(names)}: residuals are up to {worst:.2g} times "
            "their spread. Are they another joint's, or in another unit, or is an offset missing among the terms?",
            names,
            {"relative": worst},
        )


def far_bodies(at: Estimated) -> Iterator[Found]:
    """Yield where physically consistent bodies leave residuals that are larger, and more than noise can explain."""
    if at.constants is not None:
        return
    base, factors, solution = at.base, at.factors, at.solution
    near = base.projection @ at.parameters
    free, bound = (factors.squares(x) for x in (solution.values, np.append(near, solution.others(near))))
    count = (bound - free) / (solution.noise**2 * solution.times)
    exact = bound <= LEAST_NOISE**2 * factors.count * factors.mean_squares.max()
    there = (bound > WORSE**2 * free) & (count > EXPLAINED * base.dimension) & ~exact
    if there.any():
        worst = float(np.sqrt((bound[there] / np.maximum(free[there], np.finfo(float).tiny)).max()))
        names = named(base.robot, there)
        yield Found(
            f"physically consistent bodies explain the forces of {listed(names)} less well than the estimates "
            f"alone: residuals are up to {worst:.2g} times as large. The robot before is far from the data, which a "
            "greater spread (Bodies) allows; or no bodies move so, and signs, units or joint terms are wrong",
            names,
            {"residual_ratio": worst},
        )


def far_constants(at: Estimated) -> Iterator[Found]:
    """Yield which motor constants are far from those that go with physically consistent bodies."""
    if at.constants is None:
        return
    far = np.abs(at.constants.consistent - at.constants.values) / np.maximum(at.constants.std, np.finfo(float).tiny)
    moved = np.abs(at.constants.consistent / at.constants.values - 1.0) > LEAST_NOISE
    if (there := (far > FAR) & moved).any():
        names = tuple(name for name, is_there in zip(at.constants.joints, there, strict=True) if is_there)
        yield Found(
            f"the motor constants of {listed(names)} that go with physically consistent bodies are up to "
            f"{far[there].max():.2g} standard deviations from the estimated ones: a known load or a sign may be "
            "wrong, or the robot before is far from the data, which a greater spread (Bodies) allows",
            names,
            {"standard_deviations": far},
        )
