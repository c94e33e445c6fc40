"""Recorded motions of imitated arms: good ones, and what goes wrong with them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import kinetree as kt
from kinetree.identification import prepare

Array = np.ndarray
Edit = Callable[[Array], Array]


@lru_cache
def arm(name):
    """Return an arm without its fingers."""
    robot = kt.load(name)
    fingers = [joint for joint in robot.joint_names if "finger" in joint]
    return robot.lock(fingers) if fingers else robot


@dataclass(frozen=True)
class Log:
    """An imitated recording: joints with masses that are not those described, friction, rotors, noise.

    `lacks` adds to the forces what no model knows, from velocities, forces and the size of each joint's; `seconds` late
    are the forces; a `load` (kg) hangs on the last link; joints in `still` do not move.
    """

    robot: str
    seed: int
    rate: float = 500.0
    duration: float = 20.0
    noise: float = 0.02
    friction: float = 1.0
    load: float = 0.0
    late: float = 0.0
    lacks: Callable[[Array, Array, Array], Array] | None = None
    still: tuple[int, ...] = ()
    q: Edit | None = None
    tau: Edit | None = None

    def recorded(self):
        """Return times, positions and forces."""
        robot, rng = arm(self.robot), np.random.default_rng(self.seed)
        nv, size = robot.nv, np.clip(np.abs(robot.inverse_dynamics(*robot.random_state(0, 200))).max(axis=0), 2.0, 60.0)
        masses = robot.inertial_parameters.reshape(-1, 10) * np.exp(0.3 * rng.normal(size=(robot.nb, 1)))
        real = robot.with_inertial_parameters(masses.ravel())
        if self.load:
            box = kt.Inertia.from_com(self.load, rng.uniform(-0.1, 0.1, 3), 0.005 * self.load * np.eye(3))
            real = real.attach(box, robot.body_names[-1])
        friction, damping = self.friction * rng.uniform(0.02, 0.15, (2, nv)) * size
        real = real.with_joint_physics(damping=damping, friction=friction, armature=rng.uniform(0.0, 0.3, nv))
        t, (q, v, a) = self._motion(robot, rng)
        tau = real.with_friction(smoothing=0.01).inverse_dynamics(q, v, a)
        if self.lacks is not None:
            tau = tau + self.lacks(v, tau, size)
        tau = np.stack([np.interp(t - self.late, t, x) for x in tau.T], axis=1)
        inside = slice(*np.searchsorted(t, [t[0] + abs(self.late), t[-1] - abs(self.late)]))
        q, tau = q + 1e-5 * rng.normal(size=q.shape), tau + self.noise * size * rng.normal(size=tau.shape)
        q, tau = (edit(x) if edit else x for edit, x in ((self.q, q), (self.tau, tau)))
        return t[inside], q[inside], tau[inside]

    def samples(self, **choices):
        """Return samples for `identify`."""
        return prepare(arm(self.robot), *self.recorded(), filter=kt.Filter(**choices))

    def _motion(self, robot, rng):
        t = np.arange(round(self.duration * self.rate)) / self.rate
        low, high = (
            np.where(np.isfinite(x), x, y) for x, y in ((robot.lower_limits, -np.pi), (robot.upper_limits, np.pi))
        )
        half = 0.7 * np.minimum((high - low) / 2.0, 1.6)
        half[list(self.still)] = 0.0
        k = np.arange(1, 5)
        c = rng.normal(size=(robot.nv, 4)) / k
        c *= (half / np.abs(c).sum(axis=1))[:, None]
        w = 2.0 * np.pi * rng.uniform(0.08, 0.2) * k * rng.uniform(0.8, 1.2, (robot.nv, 1))
        angle = t[:, None, None] * w + rng.uniform(0.0, 2.0 * np.pi, (robot.nv, 4))
        q = (low + high) / 2.0 + (c * np.sin(angle)).sum(axis=-1)
        return t, (q, (c * w * np.cos(angle)).sum(axis=-1), -(c * w**2 * np.sin(angle)).sum(axis=-1))
