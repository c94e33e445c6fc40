"""`robot.identify_payload`: what a robot that is known holds."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, warn_user
from kinetree.functions.of_user import compile
from kinetree.identification.bodies import nearest_body
from kinetree.identification.checks.registry import few
from kinetree.identification.equations import RegressionModel
from kinetree.identification.estimators.contract import Equations, Estimator, Prior
from kinetree.identification.estimators.least_squares import LeastSquares
from kinetree.identification.log import Log, motion_of
from kinetree.identification.parameters.base import TEN
from kinetree.identification.parameters.grouping import matrix_of, transfer
from kinetree.identification.parameters.regressor import columns_of_body, movers, regressor_of_body
from kinetree.identification.triangle import on_one_thread
from kinetree.logs.findings import LogWarning
from kinetree.logs.samples import Filter, Samples
from kinetree.model import WORLD
from kinetree.motions.extremes import plain
from kinetree.robot import Robot
from kinetree.runtime.function import Function
from kinetree.spatial import Inertia
from kinetree.tables import Cells, number
from kinetree.validation import Array, of_joints, positive, real_array

if TYPE_CHECKING:
    from rich.console import JustifyMethod

UNITS = ("kg", *["kg·m"] * 3, *["kg·m²"] * 6)


def with_known_load(robot: Robot, log: Any, frame: str, inertia: Inertia | float) -> Samples:
    """Return a recorded motion with the joint forces of a load that the robot held, and that is known.

    In `Robot.identify` they count as known forces: they determine the scale where motor constants are estimated, and
    the robot's own parameters are those without the load.

    Parameters
    ----------
    robot : Robot
        Without the load.
    log : (q, v, a, tau), Samples or Trajectory
    frame : str
        Where it was held.
    inertia : Inertia or float
        In the axes of the frame and about its origin, as `Robot.attach` takes it; or the load's mass alone (kg), where
        nothing else of it is known: `Robot.identify` estimates the rest (`Fit.held_loads`). Motions with the same mass
        at frames of one link held the same load in the same way.

    Raises
    ------
    ArgumentError
        If the frame does not move, or the arrays do not fit the robot.
    ModelError
        If there is no such frame.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> box = kt.Inertia.from_com(2.0, [0, 0, 0.1], [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]])
    >>> q, v, a = robot.random_state(seed=0, size=100)
    >>> tau = robot.attach(box, "ee_link").inverse_dynamics(q, v, a)
    >>> log = kt.identification.with_known_load(robot, (q, v, a, tau), "ee_link", box)
    >>> bool(abs(tau - robot.inverse_dynamics(q, v, a) - log.load).max() < 1e-9)
    True
    """
    motion, rows = motion_of(log), PayloadModel(robot, frame)
    if motion is None:
        raise ArgumentError(f"a motion is (q, v, a, tau) or a Trajectory; {type(log).__name__} was given")
    shape = np.shape(motion.tau)
    if isinstance(inertia, Real):
        held = np.zeros((*shape[:-1], robot.nb)) if motion.held is None else np.array(motion.held, dtype=float)
        if held[..., rows.body].any():
            raise ArgumentError(f"{robot.body_names[rows.body]} holds a load in this motion already")
        held[..., rows.body] = positive("the mass of a load", inertia)
        return motion._replace(held=held)
    load, ten = [np.zeros((0, robot.nv))], real_array("inertia", np.asarray(inertia), 10, batch=False)
    for piece in Log(motion).pieces(robot):
        own = rows.predicted(rows.columns(piece), ten)
        load.append(own if piece.load is None else own + piece.load)
    return motion._replace(load=np.concatenate(load).reshape(shape))


class PayloadModel(RegressionModel):
    """The equations of ten parameters in a frame, with the robot's own forces subtracted."""

    def __init__(self, robot: Robot, frame: str) -> None:
        self.robot, self.dimension, self.rest, self.smoothing, at = robot, 10, robot, None, robot.model.frame(frame)
        if at.body == WORLD:
            raise ArgumentError(f"{frame!r} does not move: what it carries makes no difference")
        self.body, self.to_body, self.moved = at.body, transfer(matrix_of(at.X)), movers(robot.model)[at.body]
        self._function = regressor_of_body(robot, self.body)
        self.pattern, self.of_bodies = [np.arange(10 if k in self.moved else 0) for k in range(robot.nv)], np.arange(10)

    def columns(self, piece: Samples) -> list[Array]:
        """Return the rows of each entry of v."""
        Y = np.asarray(self._function(piece.q, piece.v, piece.a) @ self.to_body)
        return [Y[:, k, : len(columns)] for k, columns in enumerate(self.pattern)]


class Payload(NamedTuple):
    """What a robot holds.

    Attributes
    ----------
    inertia : Inertia
        Physically consistent, in the axes of the frame and about its origin: what `Robot.attach`, `kinetree.payload`
        take.
    values, std : (10,) arrays
        The estimates alone: (m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), and their standard
        deviations, infinite of what is unidentifiable, or only together with others of these.
    noise : (nv,) array
        Standard deviation of what neither the robot nor the payload explains (N·m, N).
    """

    inertia: Inertia
    values: Array
    std: Array
    noise: Array

    def table(self) -> Cells:
        """Return a row a parameter: of the physically consistent body, the estimate alone, its standard deviation."""
        columns = zip(TEN, map(float, self.inertia), self.values, self.std, UNITS, strict=True)
        rows = [(name, *(number(float(x)) for x in numbers), unit) for name, *numbers, unit in columns]
        sides: dict[str, JustifyMethod] = {"parameter": "left", **dict.fromkeys(("body", "estimate", "std"), "right")}
        return Cells({**sides, "unit": "left"}, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the inertia by the names of its parameters, the estimates and their standard deviations, for JSON."""
        ten = dict(zip(TEN, map(float, self.inertia), strict=True))
        return dict(plain({"inertia": ten, "estimates": self.values, "std": self.std}))

    def __str__(self) -> str:
        return str(self.table())


@on_one_thread
def identify_payload(
    robot: Robot, log: Any, frame: str, *, by: Estimator = LeastSquares(), filter: Filter | None = None
) -> Payload:
    """Estimate the inertia of what this robot holds, from a recorded motion.

    This robot is the one without it, and is taken as right: identify it before. What it lacks would count as payload.

    Parameters
    ----------
    log
        As in `Robot.identify`. Slow motions determine mass and centre of mass, fast ones the moments of inertia too.
    frame : str
        Where it is held.
    by : Estimator
        As in `Robot.identify`.
    filter : Filter, optional
        How recordings are filtered, see `Recording.filtered`.

    Returns
    -------
    Payload

    Warns
    -----
    LogWarning
        If there are no more samples than parameters.

    Raises
    ------
    ArgumentError
        If the frame does not move, the log does not fit the robot, or has too few samples.
    ModelError
        If there is no such frame.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> box = kt.Inertia(2.0, [0, 0, 0.1], [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]])
    >>> q, v, a = robot.random_state(seed=0, size=100)
    >>> tau = robot.attach(box, "ee_link").inverse_dynamics(q, v, a)
    >>> found = robot.identify_payload((q, v, a, tau), "ee_link")
    >>> round(found.inertia.m, 6), round(found.inertia.h.z, 6)
    (2.0, 0.2)
    """
    rows = PayloadModel(robot, frame)
    log = rows.log(log, filter)
    factors = rows.factors(log)
    if factors.count * np.count_nonzero([len(columns) for columns in rows.pattern]) <= rows.dimension:
        raise ArgumentError(f"{factors.count} samples are too few for a payload")
    for warning in few(factors):
        warn_user(warning.message, LogWarning)
    found = by.fit(Equations(rows, log, factors), Prior(np.zeros(10), np.full(10, np.inf)))
    return Payload(nearest_body(found.information, found.values), found.values, found.std, found.noise)


class PayloadTracker:
    """The inertia of what a robot holds, followed from sample to sample.

    The equations of all samples are summed up as ``A π = b``. At each sample the sums are multiplied by the forgetting,
    and what is forgotten of the beginning is put back, ``A ← λ A + Yᵀ W Y + (1 − λ) A_0``: what samples
    do not determine goes back to nothing held. Leave out samples in which joints stand still, held by friction that
    nobody knows. Correlated samples, as causal filters make them, count in full: deviations are then too small.

    Parameters
    ----------
    robot : Robot
        The robot without what it holds, taken as right: identify it before.
    frame : str
        Where it is held.
    noise : float or (nv,) array-like
        Standard deviation of the noise of each joint force (N·m, N), such as `Fit.noise`.
    forgetting : float
        What a sample counts one sample later, at most 1 (forget nothing): 1/(1 − forgetting) samples count as all.
    mass, size : float
        How heavy (kg) and how large (m) payloads are: the standard deviations at the beginning, of mass m, first
        moments m·size, and moments of inertia m·size².

    Raises
    ------
    ArgumentError
        If the frame does not move, or a number is out of range.
    ModelError
        If there is no such frame.

    References
    ----------
    Salgado, Goodwin and Middleton, "Modified least squares algorithm incorporating exponential resetting and
    forgetting", International Journal of Control 47(2), 1988.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> box = kt.Inertia(2.0, [0, 0, 0.1], np.diag([0.01, 0.01, 0.005]))
    >>> q, v, a = robot.random_state(seed=0, size=100)
    >>> tau = robot.attach(box, "ee_link").inverse_dynamics(q, v, a)
    >>> tracker = kt.identification.PayloadTracker(robot, "ee_link", noise=0.01)
    >>> for sample in zip(q, v, a, tau):
    ...     tracker.update(*sample)
    >>> tracker.values[[0, 3]].round(3)
    array([2. , 0.2])
    """

    def __init__(
        self,
        robot: Robot,
        frame: str,
        *,
        noise: ArrayLike = 1.0,
        forgetting: float = 0.999,
        mass: float = 10.0,
        size: float = 0.3,
    ) -> None:
        rows = PayloadModel(robot, frame)
        body, to_body, moved = rows.body, rows.to_body, sorted(rows.moved)
        self.robot, self.frame, self.forgetting = robot, frame, positive("forgetting", forgetting)
        if self.forgetting > 1.0:
            raise ArgumentError(f"forgetting is {forgetting!r}, it must be above 0 and at most 1")
        self.noise = of_joints(robot, "noise", noise)
        reach = positive("size", size)
        deviations = positive("mass", mass) * np.array([1.0, *[reach] * 3, *[reach**2] * 6])
        self._first = np.diag(deviations**-2)
        self._weights = self.noise**-2
        shapes = {"tau": (robot.nv,), "A": (10, 10), "b": (10,), "first": (10, 10), "weights": (robot.nv,), "keep": ()}

        def updated(q: Any, v: Any, a: Any, tau: Any, A: Any, b: Any, first: Any, weights: Any, keep: Any) -> Any:
            """Return the sums of the equations of all samples, with one more."""
            Y = (columns_of_body(robot, body, q, v, a) @ to_body)[moved]
            left, weighted = (tau - robot.inverse_dynamics(q, v, a))[moved], weights[moved, None] * Y
            sums = np.tril(weighted.T @ Y)
            more = sums + np.tril(sums, -1).T
            return {"A": keep * A + (1.0 - keep) * first + more, "b": keep * b + weighted.T @ left}

        self._step: Function = compile(robot, updated, name="payload_update", shapes=shapes, fuse=True)
        self.reset()

    def reset(self) -> None:
        """Forget all: nothing is held, as far as is known."""
        self._A, self._b, self.count = self._first, np.zeros(10), 0

    def update(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, tau: ArrayLike) -> None:
        """Take a sample (nq,), (nv,), (nv,), (nv,) into account, in microseconds.

        Raises
        ------
        ArgumentError
            If an array does not fit the robot, or a number is not finite: the sample is left out then.
        """
        found = self._step(q, v, a, tau, self._A, self._b, self._first, self._weights, self.forgetting)
        A, b = found.A, found.b
        if b.ndim > 1 or not np.isfinite(b.sum() + A.sum()):
            raise ArgumentError("a sample is q, v, a and tau of finite numbers, of one time: this one is left out")
        self._A, self._b, self.count = A, b, self.count + 1

    @property
    def values(self) -> Array:
        """The estimates (10,): (m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)."""
        return self._covariance @ self._b

    @property
    def std(self) -> Array:
        """Their standard deviations (10,): those of the beginning of what is unidentifiable."""
        return np.asarray(np.sqrt(np.diag(self._covariance)))

    @property
    def _covariance(self) -> Array:
        units = 1.0 / np.sqrt(np.diag(self._A))
        return np.asarray(np.linalg.inv(self._A * np.outer(units, units)) * np.outer(units, units))

    @property
    def inertia(self) -> Inertia:
        """The physically consistent inertia near the estimates: what `Robot.attach` takes."""
        root = np.asarray(np.linalg.cholesky(self._A).T, dtype=np.float64)
        return nearest_body(root, self.values)

    def __repr__(self) -> str:
        return f"<PayloadTracker of {self.robot.name!r} at {self.frame!r}: {self.count} samples>"
