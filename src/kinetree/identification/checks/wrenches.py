"""Whether measured wrenches are all that hold a floating base, and whether a sensor is biased."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.errors import listed
from kinetree.identification.checks.evidence import Examined
from kinetree.identification.checks.least_squares import System
from kinetree.identification.equations import known_forces
from kinetree.identification.parameters.regressor import massless
from kinetree.lazy import cached_property
from kinetree.logs.findings import Found
from kinetree.validation import Array

LACKS = 0.1  # the part of the weight that wrenches leave, from which on some may be missing
POOR, LARGE = 0.3, 0.015  # residuals of the base that no masses explain, by what changes of its forces, by the weight
MOST, WORTH = 0.7, 0.05  # the part of the base's squared residuals a bias that is all explains, and any bias has to
CERTAIN = 50.0  # by how much χ² falls with the six components of a bias
LEAST = 2e-3  # the part of the weight that a bias is at least


class Wrenches:
    """The six equations of a floating base with measured wrenches; of no body where there are none.

    Attributes
    ----------
    measured : list of int
        Bodies with a measured wrench.
    weight : float
        The robot's weight (N).
    """

    def __init__(self, at: Examined) -> None:
        self._at, f_ext = at, at.whole.f_ext
        self.measured = [] if f_ext is None or not at.seen.base else np.flatnonzero(f_ext.any(axis=(0, 2))).tolist()
        self.weight = at.robot.mass * float(np.linalg.norm(at.robot.gravity))

    @cached_property
    def system(self) -> System:
        """Least squares of the base's equations, with the columns of a constant wrench on each body beside them."""
        (Y, tau), base, beside = self._at.sides, self._at.seen.base, self._biases()
        blocks = [np.column_stack([Y[k], beside[:, :, j], tau[:, k]]) for j, k in enumerate(base)]
        pattern = [self._at.rows.pattern[k] for k in base]
        return System(blocks, pattern, np.full(len(base), len(tau)), self._at.spread[base])

    def _biases(self) -> Array:
        """Return the forces on the base by unit wrenches that are constant in the body's axes (n, 6 bodies, 6)."""
        at, out = self._at, []
        rest, still = massless(at.robot), np.zeros_like(at.whole.v)
        for body in self.measured:
            for j in range(6):
                f_ext = np.zeros((len(still), at.robot.nb, 6))
                f_ext[:, body, j] = 1.0
                piece = at.whole._replace(v=still, a=still, f_ext=f_ext, direction=None)
                out.append(-known_forces(rest, piece)[:, at.seen.base])
        return np.stack(out, axis=1)

    @cached_property
    def left(self) -> float:
        """What the wrenches leave of the force that this robot needs (root mean square, N)."""
        whole = self._at.whole
        left = self._at.robot.inverse_dynamics(whole.q, whole.v, whole.a, whole.f_ext)[:, self._at.seen.base[3:]]
        return float(np.sqrt((left**2).sum(axis=1).mean()))

    @cached_property
    def incomplete(self) -> bool:
        """Whether more than these wrenches, with a bias in one of them and whatever masses, holds the base."""
        if not self.left > LACKS * self.weight > 0.0:
            return False
        noise, spread = self.system.noise[3:], self._at.spread[self._at.seen.base[3:]]
        poor = (noise > POOR * spread) & (noise > LARGE * self.weight)
        return bool(poor.any()) and self.bias[-1] < MOST * self.squares

    @cached_property
    def squares(self) -> float:
        """χ² of the base's equations."""
        return sum(map(self.system.squares, range(6)))

    @cached_property
    def bias(self) -> tuple[int, Array, Array, float]:
        """Return the body whose wrenches a constant explains the most of, that wrench, its deviations, and χ²."""
        found = []
        for i, body in enumerate(self.measured):
            columns = [sum(self.system.column(j, 6 * i + c) for j in range(6)) for c in range(6)]
            found.append((body, *self.system.gain(np.stack(columns, axis=1))))
        return max(found, key=lambda x: x[-1])


def missing(at: Examined) -> Iterator[Found]:
    """Yield that a floating base is held by more than the wrenches that are given."""
    seen, robot = at.of(Wrenches), at.robot
    if not seen.measured or not seen.incomplete:
        return
    ends = set(range(robot.nb)) - {body.parent for body in robot.model.bodies} - set(seen.measured)
    if names := tuple(robot.body_names[k] for k in sorted(ends)):
        yield Found(
            f"the measured wrenches leave {seen.left:.3g} N of the {seen.weight:.3g} N that this robot weighs, and no "
            f"masses explain how they change: nothing is measured on {listed(names)}",
            (),
            {"missing_N": seen.left, "weight_N": seen.weight, "bodies": names},
        )


def biased(at: Examined) -> Iterator[Found]:
    """Yield which sensor's wrenches have a constant among them."""
    seen = at.of(Wrenches)
    if not seen.measured or seen.incomplete:
        return
    body, wrench, std, gain = seen.bias
    moment, force = np.linalg.norm(wrench.reshape(2, 3), axis=1)
    if gain >= max(CERTAIN, WORTH * seen.squares) and force >= LEAST * seen.weight:
        name = at.robot.body_names[body]
        yield Found(
            f"the wrenches on {name} seem to have a constant among them, {force:.2g} N and {moment:.2g} N·m in its "
            "axes: is the sensor's zero set?",
            (),
            {"body": name, "wrench": wrench, "std": std},
        )
