"""`robot.identify_payload`: what a robot that is known holds."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, warn_user
from kinetree.identification.bodies.nearest import nearest_body
from kinetree.identification.checks.estimate import few
from kinetree.identification.equations import RegressionModel
from kinetree.identification.estimators import Equations, Estimator, LeastSquares, Prior
from kinetree.identification.parameters.base import TEN
from kinetree.identification.parameters.grouping import matrix_of, transfer
from kinetree.identification.parameters.regressor import movers, regressor_of_body
from kinetree.identification.samples import as_log, motion_of, once_and_again, pieces
from kinetree.identification.threads import on_one_thread
from kinetree.logs.findings import LogWarning
from kinetree.logs.samples import Filter, Samples
from kinetree.model import WORLD
from kinetree.robot import Robot
from kinetree.spatial import Inertia
from kinetree.tables import Cells, number
from kinetree.validation import Array, positive

if TYPE_CHECKING:
    from rich.console import JustifyMethod

UNITS = ("kg", *["kg·m"] * 3, *["kg·m²"] * 6)


def holding(robot: Robot, log: Any, frame: str, inertia: Inertia | float) -> Samples:
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
    >>> log = holding(robot, (q, v, a, tau), "ee_link", box)
    >>> bool(abs(tau - robot.inverse_dynamics(q, v, a) - log.load).max() < 1e-9)
    True
    """
    rows = PayloadModel(robot, frame)
    if isinstance(inertia, Real):
        held = np.zeros((*np.shape(motion_of(log).tau)[:-1], robot.nb))
        before = motion_of(log).held
        held += 0.0 if before is None else np.asarray(before, dtype=float)
        if held[..., rows.body].any():
            raise ArgumentError(f"{robot.body_names[rows.body]} holds a load in this motion already")
        held[..., rows.body] = positive("the mass of a load", inertia)
        return motion_of(log)._replace(held=held)
    ten = np.array(inertia, dtype=float)
    found = [
        rows.all_columns(piece) @ ten + (0.0 if piece.load is None else piece.load) for piece in pieces(robot, (log,))
    ]
    motion = motion_of(log)
    return motion._replace(load=np.concatenate([np.zeros((0, robot.nv)), *found]).reshape(np.shape(motion.tau)))


class PayloadModel(RegressionModel):
    """The equations of ten parameters in a frame, with the robot's own forces subtracted."""

    def __init__(self, robot: Robot, frame: str) -> None:
        self.robot, self.dimension, self.rest, self.smoothing = robot, 10, robot, None
        self.body, self._to_body, moved = place_of(robot, frame)
        self._function = regressor_of_body(robot, self.body)
        self.pattern = [np.arange(10 if k in moved else 0) for k in range(robot.nv)]

    def columns(self, piece: Samples) -> list[Array]:
        """Return the rows of each entry of v."""
        Y = self.all_columns(piece)
        return [Y[:, k, : len(columns)] for k, columns in enumerate(self.pattern)]

    def all_columns(self, piece: Samples) -> Array:
        """Return the regressor (n, nv, 10)."""
        return np.asarray(self._function(piece.q, piece.v, piece.a) @ self._to_body)


def place_of(robot: Robot, frame: str) -> tuple[int, Array, set[int]]:
    """Return the body of a frame, the transfer of ten parameters to it, and which entries of v move it."""
    at = robot.model.frame(frame)
    if at.body == WORLD:
        raise ArgumentError(f"{frame!r} does not move: what it carries makes no difference")
    return at.body, transfer(matrix_of(at.X)), movers(robot.model)[at.body]


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
        return {"inertia": ten, "estimates": self.values.tolist(), "std": self.std.tolist()}

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
    rows, (log, again) = PayloadModel(robot, frame), once_and_again(as_log(log, filter))
    factors = rows.factors(log)
    if factors.count * np.count_nonzero([len(columns) for columns in rows.pattern]) <= rows.dimension:
        raise ArgumentError(f"{factors.count} samples are too few for a payload")
    for warning in few(factors):
        warn_user(warning.message, LogWarning)
    found = by.fit(Equations(rows, again, factors), Prior(np.zeros(10), np.full(10, np.inf)))
    unidentifiable = np.abs(found.unidentifiable).max(axis=0, initial=0.0) > 1e-3
    std = np.where(unidentifiable, np.inf, np.sqrt(np.diag(found.covariance)))
    return Payload(nearest_body(found.information, found.values), found.values, std, found.noise)
