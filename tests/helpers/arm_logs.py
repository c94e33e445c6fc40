"""Logs of arms as they come: real clocks, encoders, torque sensors, several motions, lost and doubled rows."""

from dataclasses import dataclass
from functools import partial

import numpy as np

import kinetree as kt
from helpers.clocks import CLOCKS

Array = np.ndarray
States = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Conditions:
    """How a motion is recorded.

    Stamps are "taken" with the sample, or "received": the values belong to an earlier time, by up to a step. `encoder`
    (rad, m) is the step of positions, `noise` and `coloured` (parts of the spread of each force) are white noise of the
    sensors and what lasts for `lasting` seconds, `quantum` the step of forces (also such a part). `lost` and `doubled`
    are parts of the samples; doubled ones have the stamp of the next, and old values.
    """

    clock: str | None = "95 Hz"
    stamps: str = "taken"
    motion: str = "waves"
    encoder: float = 1e-5
    noise: float = 0.02
    coloured: float = 0.0
    lasting: float = 0.02
    quantum: float = 0.0
    lost: float = 0.0
    doubled: float = 0.0
    still: tuple[int, ...] = ()
    slow: tuple[int, ...] = ()
    duration: float = 20.0


def true_robot(robot, seed, load=1.0):
    """Return a robot that nobody described well: other masses, a tool (kg), rotors and friction."""
    rng = np.random.default_rng([seed, 1])
    size = np.clip(robot.effort_limits, 1.0, 200.0)
    physics = {
        "armature": rng.uniform(0.002, 0.008, robot.nv) * size,
        "damping": rng.uniform(0.01, 0.05, robot.nv) * size,
        "friction": rng.uniform(0.02, 0.06, robot.nv) * size,
    }
    parameters = (robot.inertial_parameters.reshape(-1, 10) * rng.uniform(0.85, 1.15, (robot.nb, 1))).ravel()
    tool = kt.Inertia.from_com(load, rng.uniform(-0.05, 0.08, 3), 0.003 * load * np.eye(3))
    made = robot.with_inertial_parameters(parameters).attach(tool, robot.body_names[-1])
    return made.with_joint_physics(**physics).with_friction(smoothing=robot.model.friction.smoothing)


def waves(robot, t, seed, still=(), slow=()):
    """Return a sum of five harmonics of one period, of 5 to 20 s, within the limits."""
    rng = np.random.default_rng([seed, 2])
    w = 2.0 * np.pi / rng.uniform(5.0, 20.0) * np.arange(1, 6)
    c, phase = rng.normal(size=(5, robot.nv)), rng.uniform(0, 2 * np.pi, (5, robot.nv))
    c /= np.sqrt(np.arange(1, 6)[:, None])
    fine = np.linspace(0.0, 2.0 * np.pi / w[0], 1000)
    middle, reach, speed = _room(robot)
    x, v, _ = _sums(fine, w, c, phase)
    scale = np.minimum(reach / np.abs(x).max(axis=0), 0.5 * speed / np.abs(v).max(axis=0)) * rng.uniform(0.5, 1.0)
    scale[list(still)], scale[list(slow)] = 0.0, 0.03 * scale[list(slow)]
    x, v, a = _sums(t, w, c * scale, phase)
    return middle + x, v, a


def points(robot, t, seed, still=(), slow=(), moved=99):
    """Return moves from point to point, with ramps of speed for a quarter of each, and stops between them.

    So many joints are `moved` at once, the others stand.
    """
    rng = np.random.default_rng([seed, 3])
    middle, reach, speed = _room(robot)
    size = 0.7 * reach
    size[list(still)], size[list(slow)] = 0.0, 0.05 * size[list(slow)]
    q, v, a = (np.zeros((len(t), robot.nv)) for _ in range(3))
    here, now = middle + size * rng.uniform(-1, 1, robot.nv), float(t[0])
    while now < t[-1]:
        there = middle + size * rng.uniform(-1, 1, robot.nv)
        if moved < robot.nv:
            there = np.where(rng.permutation(robot.nv) < moved, there, here)
        length = max(0.8, float(np.max(np.abs(there - here) / (0.45 * speed)))) * rng.uniform(1.0, 2.0)
        at = t >= now
        s, ds, dds = _ramps((t[at] - now) / length)
        step = there - here
        q[at], v[at], a[at] = here + s[:, None] * step, ds[:, None] * step / length, dds[:, None] * step / length**2
        here, now = there, now + length + rng.uniform(0.1, 0.6)
    return q, v, a


def recorded(robot, how, seed, unmodelled=None):
    """Return t, q and tau of this robot in a motion, as it is recorded.

    `unmodelled(q, v)`, if given, is what the joints do besides (n, nv).
    """
    rng = np.random.default_rng([seed, 4])
    clock = None if how.clock is None else CLOCKS[how.clock]
    mean = 2.0 if clock is None else clock.mean
    count = int(how.duration / (1e-3 * mean))
    t = 1e-3 * mean * np.arange(count) if clock is None else clock.stamps(count, seed)
    late = np.zeros(count)
    if how.stamps == "received":
        late = rng.uniform(0.0, 1.0, count) * np.diff(t, prepend=t[0] - 1e-3 * mean)
    kind = {"waves": waves, "points": points, "turns": partial(points, moved=2)}[how.motion]
    q, v, a = kind(robot, t - late, seed, how.still, how.slow)
    tau = robot.inverse_dynamics(q, v, a)
    if unmodelled is not None:
        tau = tau + unmodelled(q, v)
    spread = tau.std(axis=0)
    white, lasting = rng.normal(size=tau.shape), _lasting(tau.shape, 1e-3 * mean / how.lasting, rng)
    tau = tau + spread * (how.noise * white + how.coloured * lasting)
    if how.quantum:
        step = how.quantum * np.where(spread > 0.0, spread, spread.max())
        tau = np.round(tau / step) * step
    if how.encoder:
        q = np.round(q / how.encoder) * how.encoder
    again = np.flatnonzero(rng.random(count - 1) < how.doubled) + 1
    q[again], tau[again] = q[again - 1], tau[again - 1]
    kept = rng.random(count) >= how.lost
    return t[kept], q[kept], tau[kept]


def _lasting(shape, x, rng):
    """Return noise of size one whose correlation falls by exp(-x) a sample."""
    rho, out = np.exp(-x), rng.normal(size=shape)
    for k in range(1, len(out)):
        out[k] = rho * out[k - 1] + np.sqrt(1.0 - rho * rho) * out[k]
    return np.asarray(out)


def _room(robot):
    low, high = np.maximum(robot.lower_limits, -2.0), np.minimum(robot.upper_limits, 2.0)
    return (low + high) / 2.0, 0.45 * (high - low), np.clip(robot.velocity_limits, 0.1, 3.2)


def _sums(t, w, c, phase):
    angle = t[:, None, None] * w[:, None] + phase
    x, rate = c * np.sin(angle), w[:, None]
    return x.sum(axis=1), (c * rate * np.cos(angle)).sum(axis=1), (-(rate**2) * x).sum(axis=1)


def _ramps(x, r=0.25):
    """Return how far a move is, its speed and acceleration, at parts x of its length."""
    a = 1.0 / (r * (1.0 - r))
    x = np.clip(x, 0.0, 1.0)
    up, down = x < r, x > 1.0 - r
    s = np.where(up, 0.5 * a * x**2, np.where(down, 1.0 - 0.5 * a * (1.0 - x) ** 2, a * r * (x - 0.5 * r)))
    v = np.where(up, a * x, np.where(down, a * (1.0 - x), a * r))
    return s, v, np.where(up & (x > 0.0), a, np.where(down & (x < 1.0), -a, 0.0))
