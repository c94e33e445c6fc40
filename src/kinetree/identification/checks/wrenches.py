"""Whether measured wrenches are all that hold a floating base, and whether a sensor is biased."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.errors import listed
from kinetree.identification.checks.equations import JointEquations, System
from kinetree.identification.checks.samples import base_of
from kinetree.identification.equations import known_forces
from kinetree.identification.regressor import massless
from kinetree.lazy import cached_property
from kinetree.logs.findings import Found
from kinetree.validation import Array

LACKS = 0.1
"""The part of the weight that wrenches leave, from which on some may be missing."""

POOR, LARGE = 0.3, 0.015
"""Residuals of the base's forces that no masses explain, by what changes of them, and by the weight."""

MOST = 0.7
"""The part of the base's squared residuals from which on a bias explains enough."""

CERTAIN = 50.0
"""By how much χ² falls with the six components of a bias."""

LEAST = 2e-3
"""The part of the weight that a bias is at least."""

WORTH = 0.05
"""The part of the base's squared residuals that a bias has to explain."""


class Wrenches:
    """The six equations of a floating base with measured wrenches; nothing where there are none."""

    def __init__(self, equations: JointEquations) -> None:
        self._equations, self._robot = equations, equations.rows.robot
        self.base, f_ext = base_of(self._robot), equations.whole.f_ext
        self.measured = [] if f_ext is None or not self.base else np.flatnonzero(f_ext.any(axis=(0, 2))).tolist()

    @cached_property
    def system(self) -> System:
        """Least squares of the base's equations, with the columns of a constant wrench on each body beside them."""
        (Y, tau), base = self._equations.sides, self.base
        pattern = [self._equations.rows.pattern[k] for k in base]
        beside = self._biases()
        blocks = [np.column_stack([Y[k], beside[:, :, j], tau[:, k]]) for j, k in enumerate(base)]
        return System(blocks, pattern, np.full(len(base), len(tau)), self._equations.spread[base])

    def _biases(self) -> Array:
        """Return what a wrench of one, constant in the body's axes, does to the base (n, 6 bodies, 6)."""
        whole, robot, out = self._equations.whole, massless(self._robot), []
        still = np.zeros_like(whole.v)
        for body in self.measured:
            for j in range(6):
                f_ext = np.zeros((len(whole.q), robot.nb, 6))
                f_ext[:, body, j] = 1.0
                piece = whole._replace(v=still, a=still, f_ext=f_ext, direction=None)
                out.append(-known_forces(robot, piece)[:, self.base])
        return np.stack(out, axis=1)

    @cached_property
    def weight(self) -> float:
        """The robot's weight (N)."""
        return self._robot.mass * float(np.linalg.norm(self._robot.gravity))

    def left(self) -> float:
        """Return what the wrenches leave of the force that this robot needs (root mean square, N)."""
        whole = self._equations.whole
        left = self._robot.inverse_dynamics(whole.q, whole.v, whole.a, whole.f_ext)[:, self.base[3:]]
        return float(np.sqrt((left**2).sum(axis=1).mean()))

    def poor(self) -> bool:
        """Return whether no masses explain the forces of the base."""
        noise, spread = self.system.noise[3:], self._equations.spread[self.base[3:]]
        return bool(((noise > POOR * spread) & (noise > LARGE * self.weight)).any())

    @cached_property
    def incomplete(self) -> bool:
        """Whether more than these wrenches, with a bias in one of them, holds the base."""
        return self.left() > LACKS * self.weight > 0.0 and self.poor() and self.bias[-1] < MOST * self.squares

    @cached_property
    def squares(self) -> float:
        """χ² of the base's equations."""
        return sum(self.system.squares(j) for j in range(len(self.base)))

    @cached_property
    def bias(self) -> tuple[int, Array, Array, float]:
        """Return the body whose wrenches a constant explains the most of, that wrench, its deviations, and χ²."""
        found = []
        for i, body in enumerate(self.measured):
            columns = [sum(self.system.column(j, 6 * i + c) for j in range(len(self.base))) for c in range(6)]
            found.append((body, *self.system.gain_of(np.stack(columns, axis=1))))
        return max(found, key=lambda x: x[-1])


def missing(wrenches: Wrenches) -> Iterator[Found]:
    """Yield that a floating base is held by more than the wrenches that are given."""
    if not wrenches.measured:
        return
    robot = wrenches._robot
    if wrenches.incomplete:
        ends = set(range(robot.nb)) - {body.parent for body in robot.model.bodies} - set(wrenches.measured)
        names = [robot.body_names[k] for k in sorted(ends)]
        if not names:
            return
        yield Found(
            f"the measured wrenches leave {wrenches.left():.3g} N of the {wrenches.weight:.3g} N that this robot "
            f"weighs, and no masses explain how they change: nothing is measured on {listed(names)}",
            (),
            {"missing_N": wrenches.left(), "weight_N": wrenches.weight, "bodies": tuple(names)},
        )


def biased(wrenches: Wrenches) -> Iterator[Found]:
    """Yield which sensor's wrenches have a constant among them."""
    if not wrenches.measured or wrenches.incomplete:
        return
    body, wrench, std, gain = wrenches.bias
    if gain < max(CERTAIN, WORTH * wrenches.squares) or np.linalg.norm(wrench[3:]) < LEAST * wrenches.weight:
        return
    name = wrenches._robot.body_names[body]
    yield Found(
        f"the wrenches on {name} seem to have a constant among them, {np.linalg.norm(wrench[3:]):.2g} N and "
        f"{np.linalg.norm(wrench[:3]):.2g} N·m in its axes: is the sensor's zero set?",
        (),
        {"body": name, "wrench": wrench, "std": std},
    )
