"""Samples of recorded motions, as estimators take them: states, accelerations and joint forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, order=True)
class Cutoff:
    """Of the filter that made samples: its frequency (Hz), and that of the recorded samples.

    Examples
    --------
    >>> print(Cutoff(4.75, 93.5), Cutoff(40.0, 93.5), sep="; ")
    4.75 Hz; 40 Hz, more than half of Nyquist's 46.8 Hz
    """

    frequency: float
    rate: float

    @property
    def high(self) -> bool:
        """Whether it is more than half of Nyquist's frequency: derivatives are hardly smoothed then."""
        return self.frequency > self.rate / 4.0

    def __str__(self) -> str:
        nyquist = f", more than half of Nyquist's {self.rate / 2.0:.3g} Hz" if self.high else ""
        return f"{self.frequency:.3g} Hz{nyquist}"


class Samples(NamedTuple):
    """A recorded motion, or a part of one; the samples need not be in order.

    Attributes
    ----------
    q : (n, nq) array-like
        Configurations.
    v, a, tau : (n, nv) array-like
        Velocities, accelerations and joint forces: NaN in all samples of joints whose forces are not measured, zero of
        a floating base.
    f_ext : (n, nb, 6) array-like, optional
        Measured wrenches on the bodies, as `inverse_dynamics` takes them.
    direction : (n, nv) array-like, optional
        Which way each joint slides, from −1 to 1, in the place of the sign of its velocity: friction that first
        stretches what it holds knows where the joint came from (`sliding_direction`).
    t : (n,) array-like, optional
        Their times (s), for plots: no estimate depends on them.
    load : (n, nv) array-like, optional
        Joint forces of what is known and not part of the robot (N·m, N): see `holding`.
    standing : (n, nv) array-like of bool, optional
        Which joints stand still, so that friction holds them with a force that nobody knows: their equations at these
        samples are left out.
    smoothing : float, optional
        The speed around which the directions change sign (rad/s, m/s), if they are from velocities.
    cutoff : Cutoff, optional
        Of the filter that made them, where `prepare` did.
    held : (n, nb) array-like, optional
        Masses (kg) of loads on the bodies of which nothing else is known, zero where there is none: see `holding`.
    """

    q: Any
    v: Any
    a: Any
    tau: Any
    f_ext: Any = None
    direction: Any = None
    t: Any = None
    load: Any = None
    standing: Any = None
    smoothing: Any = None
    cutoff: Any = None
    held: Any = None


def measured(tau: Array) -> Array:
    """Return forces with zeros where an entry of v has none that were measured."""
    return np.where(np.isnan(tau).all(axis=tuple(range(tau.ndim - 1))), 0.0, tau)


def of_joints(robot: Robot, name: str, given: ArrayLike) -> Array:
    """Return positive numbers (nv,): those given, or one for all."""
    numbers = real_array(name, given)
    numbers = real_array(name, given, robot.nv, batch=False) if numbers.ndim else np.full(robot.nv, numbers)
    if not (np.isfinite(numbers) & (numbers > 0.0)).all():
        raise ArgumentError(f"{name} is {given!r}: it must be positive")
    return numbers
