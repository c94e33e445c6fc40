"""What a robot holds, estimated while it moves: recursive least squares with forgetting."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.functions.of_user import compile
from kinetree.identification.bodies.nearest import nearest_body
from kinetree.identification.parameters.regressor import columns_of_body
from kinetree.identification.payload import place_of
from kinetree.logs.samples import of_joints
from kinetree.robot import Robot
from kinetree.spatial import Inertia
from kinetree.validation import Array, positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.runtime.function import Function


class PayloadTracker:
    """The inertia of what a robot holds, followed from sample to sample.

    The equations of all samples are summed up as ``A π = b``. At each sample the sums are multiplied by the forgetting,
    and what is forgotten of the beginning is put back, ``A ← λ A + Yᵀ W Y + (1 − λ) A_0``: while the robot stands
    still, the estimate goes back to nothing held, and never runs away.

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
        body, to_body, moved = place_of(robot, frame)
        self.robot, self.frame, self.forgetting = robot, frame, positive("forgetting", forgetting)
        if self.forgetting > 1.0:
            raise ArgumentError(f"forgetting is {forgetting!r}, it must be above 0 and at most 1")
        self.noise = of_joints(robot, "noise", noise)
        reach = positive("size", size)
        deviations = positive("mass", mass) * np.array([1.0, *[reach] * 3, *[reach**2] * 6])
        self._first = np.diag(deviations**-2)
        self._weights = self.noise**-2
        shapes = {"tau": (robot.nv,), "A": (10, 10), "b": (10,), "first": (10, 10), "weights": (robot.nv,), "keep": ()}
        page: Any = partial(_summed, robot, body, to_body.tolist(), sorted(moved))
        self._step: Function = compile(robot, page, name="payload_update", shapes=shapes, fuse=True)
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


def _summed(
    robot: Robot,
    body: int,
    to_body: list[list[float]],
    moved: list[int],
    q: Any,
    v: Any,
    a: Any,
    tau: Any,
    A: Any,
    b: Any,
    first: Any,
    weights: Any,
    keep: Any,
) -> Any:
    """Return the sums of the equations of all samples, with one more."""
    own, left = columns_of_body(robot, body, q, v, a), robot.inverse_dynamics(q, v, a)
    A = [[keep * A[i, j] + (1.0 - keep) * first[i, j] for j in range(10)] for i in range(10)]
    b = [keep * x for x in b]
    for k in moved:
        row = [sum(own[k, i] * to_body[i][j] for i in range(10) if to_body[i][j] != 0.0) for j in range(10)]
        weighted = [weights[k] * x for x in row]
        for i in range(10):
            b[i] = b[i] + weighted[i] * (tau[k] - left[k])
            for j in range(i + 1):
                A[i][j] = A[i][j] + weighted[i] * row[j]
    return {"A": [[A[max(i, j)][min(i, j)] for j in range(10)] for i in range(10)], "b": b}
