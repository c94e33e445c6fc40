"""What the estimate shows: too few samples, forces that nothing explains, bodies and constants far from it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.identification.checks.evidence import Estimated, Examined, base_of
from kinetree.identification.equations import QRFactors
from kinetree.identification.estimators.contract import LEAST_NOISE
from kinetree.logs.findings import Found, of_joints

WORSE, EXPLAINED = 1.1, 10.0  # worth a word: how much larger residuals are, and their squares a parameter by the noise
UNEXPLAINED = 1.2  # residuals so many times the spread of the forces: a constant would explain more
FAR = 3.0  # standard deviations from an estimated motor constant to the one that goes with consistent bodies
TINY = float(np.finfo(float).tiny)


def few(factors: QRFactors | None) -> Iterator[Found]:
    """Yield that a joint has no more equations than parameters: its residuals then say nothing of its noise."""
    if factors is not None and factors.count <= (most := max(map(len, factors.pattern))):
        yield Found(
            f"{factors.count} samples are too few for {most} parameters: noise and standard deviations are not known",
            (),
            {"samples": factors.count, "parameters": most},
        )


def few_moving(at: Examined) -> Iterator[Found]:
    """Yield joints of which friction at rest leaves fewer equations than parameters: these fit them anyway."""
    if (factors := at.factors) is None:
        return
    for name, count, most in zip(at.robot.v_names, factors.counts, map(len, factors.pattern), strict=True):
        if 0 < count <= most < factors.count:
            yield Found(
                f"{name} moves faster than standing in {count:.0f} of {factors.count} samples, too few for the {most} "
                "parameters of its equation: give it a lower speed, one at which none is left, or a motion in which it "
                "moves more",
                (name,),
                {"samples": int(count), "of": factors.count, "parameters": most},
            )


def unexplained(at: Estimated) -> Iterator[Found]:
    """Yield which forces the estimates do not explain."""
    if at.constants is not None:
        return
    robot, factors = at.base.robot, at.factors
    left = np.sqrt(factors.squares(at.solution.values[: factors.dimension]) / np.maximum(factors.counts, 1.0))
    found = (factors.counts > 0.0) & ~np.isin(np.arange(robot.nv), base_of(robot))
    found &= (left > UNEXPLAINED * factors.spread) & (left > LEAST_NOISE * np.sqrt(factors.mean_squares.max()))
    worst = float((left[found] / np.maximum(factors.spread[found], TINY)).max(initial=0.0))
    text = (
        f"the estimates do not explain the forces of {{}}: residuals are up to {worst:.2g} times their spread. Are "
        "they another joint's, or in another unit, or is an offset missing among the terms?"
    )
    yield from of_joints(robot.v_names, found, text, relative=worst)


def far_bodies(at: Estimated) -> Iterator[Found]:
    """Yield where physically consistent bodies leave residuals that are larger, and more than noise can explain."""
    if at.constants is not None:
        return
    base, factors, solution = at.base, at.factors, at.solution
    near = base.projection @ at.parameters
    free, bound = (factors.squares(x) for x in (solution.values, np.append(near, solution.others(near))))
    count = (bound - free) / (solution.noise**2 * solution.times)
    exact = bound <= LEAST_NOISE**2 * factors.count * factors.mean_squares.max()
    found = (bound > WORSE**2 * free) & (count > EXPLAINED * base.dimension) & ~exact
    worst = float(np.sqrt((bound[found] / np.maximum(free[found], TINY)).max(initial=0.0)))
    text = (
        "physically consistent bodies explain the forces of {} less well than the estimates alone: residuals are up to "
        f"{worst:.2g} times as large. The robot before is far from the data, which a greater spread (Bodies) allows; "
        "or no bodies move so, and signs, units or joint terms are wrong"
    )
    yield from of_joints(base.robot.v_names, found, text, residual_ratio=worst)


def far_constants(at: Estimated) -> Iterator[Found]:
    """Yield which motor constants are far from those that go with physically consistent bodies."""
    if (found := at.constants) is None:
        return
    far = np.abs(found.consistent - found.values) / np.maximum(found.std, TINY)
    there = (far > FAR) & (np.abs(found.consistent / found.values - 1.0) > LEAST_NOISE)
    text = (
        "the motor constants of {} that go with physically consistent bodies are up to "
        f"{far[there].max(initial=0.0):.2g} standard deviations from the estimated ones: a known load or a sign may be "
        "wrong, or the robot before is far from the data, which a greater spread (Bodies) allows"
    )
    yield from of_joints(found.joints, there, text, standard_deviations=far)
