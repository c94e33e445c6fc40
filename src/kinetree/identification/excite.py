"""`robot.excite`: a motion from which the parameters can be told best, within the joints' limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError
from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.blas import on_one_thread
from kinetree.identification.terms import JointTerms
from kinetree.locks import importing
from kinetree.robot import Robot
from kinetree.trajectories.trajectory import Trajectory
from kinetree.validation import Array, positive, real_array

PENALTY = 30.0
"""What a motion at one and a half times its limits costs, in units of the mean logarithm of a variance."""

STEP = 1e-6
"""Of differences: the regressor and the forces are smooth, and cheap in batches."""

PER_HARMONIC = 16
"""Samples for each period of the fastest harmonic."""


class Excitation:
    """A periodic motion that starts and ends at rest, made for identification: see `Robot.excite`.

    Attributes
    ----------
    base : BaseParameters
        What it is to tell.
    duration : float
        The period (s).
    coefficients : (1 + 2 (harmonics − 1), nv) array
    """

    def __init__(self, base: BaseParameters, duration: float, coefficients: Array) -> None:
        self.base, self.duration, self.coefficients = base, duration, coefficients

    def __call__(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Return q, v and a (..., nv) at times (...)."""
        when = real_array("t", t)
        q, v, a = (x @ self.coefficients for x in _series(when, self.duration, (len(self.coefficients) - 1) // 2 + 1))
        return q, v, a

    def trajectory(self, rate: float = 100.0) -> Trajectory:
        """Return the motion sampled so many times a second, with the forces that this robot needs for it."""
        t = np.linspace(0.0, self.duration, round(self.duration * positive("rate", rate)) + 1)
        q, v, a = self(t)
        return Trajectory(self.base.robot, t, q, v, a, self.base.robot.inverse_dynamics(q, v, a))

    def std(self, noise: ArrayLike, rate: float = 100.0) -> Array:
        """Return the standard deviations (n,) that the base parameters will have, for this noise of the joint forces.

        Parameters
        ----------
        noise : float or (nv,) array-like
            Standard deviation of each sample (N·m, N), independent of the others.
        rate : float
            Samples a second.
        """
        sigma = np.broadcast_to(real_array("noise", noise), (self.base.robot.nv,))
        t = np.arange(0.0, self.duration, 1.0 / positive("rate", rate))
        Y = self.base.regressor(*self(t)) / sigma[:, None]
        R = np.linalg.qr(Y.reshape(-1, Y.shape[-1]), mode="r")
        return np.asarray(np.linalg.norm(np.linalg.inv(R), axis=1))

    @property
    def condition(self) -> float:
        """Condition number of the regressor whose columns are scaled to length one."""
        Y = self.base.regressor(*self(np.linspace(0.0, self.duration, 400, endpoint=False)))
        Y = Y.reshape(-1, Y.shape[-1])
        return float(np.linalg.cond(Y / np.linalg.norm(Y, axis=0)))

    def __repr__(self) -> str:
        return f"<Excitation of {self.base.robot.name!r}: {self.duration:g} s, {self.base.dimension} parameters>"


class Limits(NamedTuple):
    """What a motion keeps within: the middle of positions, and half-widths of positions, v, a and forces."""

    middle: Array
    half: Array
    v: Array
    a: Array
    tau: Array


@on_one_thread
def excite(
    robot: Robot,
    duration: float = 10.0,
    joint_terms: JointTerms | BaseParameters = ("armature", "damping", "friction"),
    *,
    harmonics: int = 5,
    noise: ArrayLike = 1.0,
    acceleration: ArrayLike = np.inf,
    fraction: float = 0.9,
    restarts: int = 3,
    seed: int = 0,
) -> Excitation:
    """Return a motion that tells the base parameters well: D-optimal among Fourier series within the limits.

    It makes the mean logarithm of the parameters' variances least, by SciPy's L-BFGS from random starts. Positions,
    speeds, joint forces and accelerations keep within their limits; speeds and forces without limits are free. It does
    not know where obstacles are: look at it first.

    Parameters
    ----------
    duration : float
        The period (s).
    joint_terms : sequence of str, mapping, or BaseParameters
        See `Robot.identify`.
    harmonics : int
        At least 3.
    noise : float or (nv,) array-like
        Of the joint forces: joints that are measured better count more.
    acceleration : float or (nv,) array-like
        Greatest accelerations (rad/s², m/s²).
    fraction : float
        The part of all limits that is used.
    restarts : int
        How many random starts there are; the best end counts.
    seed : int

    Returns
    -------
    Excitation

    Raises
    ------
    ArgumentError
        If the robot has joints of several coordinates, SciPy is not installed, or a choice is wrong.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5").lock(["wrist_1_joint", "wrist_2_joint", "wrist_3_joint"])
    >>> motion = robot.excite(5.0, [], restarts=1)
    >>> q, v, a = motion([0.0, 2.5, 5.0])
    >>> bool(abs(v[[0, 2]]).max() < 1e-9), bool(motion.condition < 100)
    (True, True)
    """
    period = positive("duration", duration)
    if robot.nq != robot.nv or not all(body.has_one_coordinate for body in robot.model.bodies):
        raise ArgumentError(f"{robot.name} has joints of several coordinates: lock them, or move them by hand")
    if not (isinstance(harmonics, int) and harmonics >= 3 and isinstance(restarts, int) and restarts >= 1):
        raise ArgumentError(f"harmonics={harmonics!r} and restarts={restarts!r}: take at least 3 and 1")
    if not 0.0 < positive("fraction", fraction) <= 1.0:
        raise ArgumentError(f"fraction is {fraction!r}: it is at most 1")
    base = joint_terms if isinstance(joint_terms, BaseParameters) else base_parameters(robot, joint_terms)
    if base.robot != robot or "stribeck" in base.joint_terms:
        raise ArgumentError('these base parameters are another robot\'s, or have "stribeck": leave that out here')
    sigma = np.broadcast_to(real_array("noise", noise), (robot.nv,))
    limits = _limits(robot, np.broadcast_to(real_array("acceleration", acceleration), (robot.nv,)), fraction)
    minimize, rng = _minimizer(), np.random.default_rng(seed)
    t = np.linspace(0.0, period, PER_HARMONIC * harmonics, endpoint=False)
    basis = _series(t, period, harmonics)
    found = []
    for _ in range(restarts):
        start = rng.normal(size=(basis[0].shape[1], robot.nv)) / len(basis[0][0]) * limits.half
        start[0] = limits.middle
        cost = _cost(base, basis, sigma, limits, start.shape)
        end = minimize(cost, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 150})
        X = _within(robot, end.x.reshape(start.shape), period, harmonics, limits)
        found.append((_variance(base, [b @ X for b in basis], sigma), X))
    best = min(found, key=lambda pair: pair[0])[1]
    return Excitation(base, period, best)


def _series(t: Array, period: float, harmonics: int) -> tuple[Array, Array, Array]:
    """Return what coefficients are multiplied with for q, v and a: a constant, and waves that are at rest at t = 0."""
    k = np.arange(1.0, harmonics + 1.0)
    w = 2.0 * np.pi / period * k
    phase = np.multiply.outer(t, w)
    s, c = (np.linalg.svd(x[None])[2][1:].T for x in (k, k * k))  # Σ k s_k = 0: no speed; Σ k² c_k = 0: no acceleration
    sin, cos, one = np.sin(phase), np.cos(phase), np.ones((*np.shape(t), 1))
    q = np.concatenate([one, sin @ s, (cos - 1.0) @ c], axis=-1)
    v = np.concatenate([0.0 * one, (cos * w) @ s, (-sin * w) @ c], axis=-1)
    a = np.concatenate([0.0 * one, (-sin * w * w) @ s, (-cos * w * w) @ c], axis=-1)
    return q, v, a


def _limits(robot: Robot, acceleration: Array, fraction: float) -> Limits:
    low, high = robot.lower_limits, robot.upper_limits
    free = ~np.isfinite(low) | ~np.isfinite(high)
    low, high = np.where(free, -np.pi, low), np.where(free, np.pi, high)
    if not (high > low).all():
        raise ArgumentError(f"{robot.v_names[int(np.argmax(high <= low))]} cannot move within its limits: lock it")
    v = np.where(robot.velocity_limits > 0.0, robot.velocity_limits, np.inf)
    tau = np.where(robot.effort_limits > 0.0, robot.effort_limits, np.inf)
    return Limits(
        0.5 * (low + high), fraction * 0.5 * (high - low), fraction * v, fraction * acceleration, fraction * tau
    )


def _cost(base: BaseParameters, basis: Any, sigma: Array, limits: Limits, shape: tuple[int, int]) -> Callable[..., Any]:
    """Return the function of the coefficients that is to be least, with its gradient."""
    robot, n = base.robot, base.robot.nv

    def cost(x: Array) -> tuple[float, Array]:
        state = [b @ x.reshape(shape) for b in basis]
        Y = base.regressor(*state) / sigma[:, None]
        Q, R = np.linalg.qr(Y.reshape(-1, Y.shape[-1]))
        diagonal = np.abs(np.diag(R)) + 1e-12
        value = -2.0 * np.log(diagonal).sum() / len(diagonal)
        P = np.linalg.lstsq(R, Q.T)[0].T.reshape(Y.shape) * (-2.0 / len(diagonal)) / sigma[:, None]
        tau = robot.inverse_dynamics(*state)
        over = [_excess(y, limit) for y, limit in ((tau, limits.tau), *_own(state, limits))]
        value += PENALTY * sum(float((e * e).sum()) for e, _ in over)
        (e_tau, slope_tau), *own = over
        gradient = [2.0 * PENALTY * e * slope for e, slope in own]
        pull = 2.0 * PENALTY * e_tau * slope_tau
        for part in range(3):
            for k in range(n):
                ahead, behind = ([y.copy() for y in state] for _ in range(2))
                ahead[part][:, k] += STEP
                behind[part][:, k] -= STEP
                dY = (base.regressor(*ahead) - base.regressor(*behind)) / (2.0 * STEP)
                dtau = (robot.inverse_dynamics(*ahead) - robot.inverse_dynamics(*behind)) / (2.0 * STEP)
                gradient[part][:, k] += (P * dY).sum(axis=(1, 2)) + (pull * dtau).sum(axis=1)
        return value, np.asarray(sum(b.T @ g for b, g in zip(basis, gradient, strict=True))).ravel()

    return cost


def _own(state: list[Array], limits: Limits) -> list[tuple[Array, Array]]:
    return [(state[0] - limits.middle, limits.half), (state[1], limits.v), (state[2], limits.a)]


def _excess(y: Array, limit: Array) -> tuple[Array, Array]:
    """Return by how much of a limit values are beyond it, and the slope of that."""
    beyond = np.maximum(np.abs(y) / limit - 1.0, 0.0)
    return beyond, np.sign(y) / limit


def _variance(base: BaseParameters, state: list[Array], sigma: Array) -> float:
    """Return the mean logarithm of the variances' volume."""
    Y = base.regressor(*state) / sigma[:, None]
    R = np.linalg.qr(Y.reshape(-1, Y.shape[-1]), mode="r")
    return float(-2.0 * np.log(np.abs(np.diag(R)) + 1e-300).mean())


def _within(robot: Robot, X: Array, period: float, harmonics: int, limits: Limits) -> Array:
    """Return the motion, made smaller where it is beyond limits between the samples too."""
    basis = _series(np.linspace(0.0, period, 1000), period, harmonics)
    X = X.copy()
    mean = basis[0].mean(axis=0) @ X
    for _ in range(50):
        state = [b @ X for b in basis]
        tau = robot.inverse_dynamics(*state)
        over = [(np.abs(y) / limit).max(axis=0) for y, limit in ((tau, limits.tau), *_own(state, limits))]
        worst = np.maximum.reduce(over)
        if (worst <= 1.0).all():
            return X
        if (over[0] > 1.0).any():  # forces depend on all joints
            worst = np.maximum(worst, 1.02)
        smaller = 1.0 / np.maximum(worst, 1.0)
        centre = mean + (limits.middle - mean) * (1.0 - smaller)
        X[1:] *= smaller
        X[0] = centre - basis[0][:, 1:].mean(axis=0) @ X[1:]
        mean = centre
    raise ArgumentError("no motion within the limits was found: do the joints hold the robot against gravity?")


def _minimizer() -> Callable[..., Any]:
    try:
        with importing:
            from scipy.optimize import minimize
    except ImportError:
        raise ArgumentError("excite needs SciPy: pip install kinetree[identification]") from None
    return minimize  # type: ignore[no-any-return]
