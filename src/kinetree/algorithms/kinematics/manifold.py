"""Steps on the manifold of configurations."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.registry import algorithm
from kinetree.model import Model
from kinetree.spatial import Scalar


@algorithm("integrate", inputs={"q": ("nq",), "dv": ("nv",)}, outputs={"q_next": ("nq",)})
def integrate(model: Model, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
    """Return the configuration reached from q by the velocity dv held for a unit of time.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    dv : (..., nv) array
        Velocity times duration, in the bodies' axes where a joint has several degrees of freedom.

    Returns
    -------
    (..., nq) array
        With unit quaternions; NaN where one of q has the norm zero.

    References
    ----------
    The exponential of each joint's group: SO(3) for a spherical joint, SE(3) for a free-flyer, SE(2) for a planar one.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> robot.integrate(robot.neutral(), [0.1, 0, 0, 0, 0, 0])
    array([0.1, 0. , 0. , 0. , 0. , 0. ])
    """
    q_next: list[Scalar] = [0.0] * model.nq
    for i in model.joint_order:
        body = model.bodies[i]
        moved = body.joint.integrate([q[k] for k in body.q_index], [dv[k] for k in body.v_index])
        for k, x in zip(body.q_index, moved, strict=True):
            q_next[k] = x
    return q_next


@algorithm("difference", inputs={"q0": ("nq",), "q1": ("nq",)}, outputs={"dv": ("nv",)})
def difference(model: Model, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
    """Return the velocity that leads from q0 to q1 in a unit of time: the inverse of `integrate`.

    Parameters
    ----------
    q0, q1 : (..., nq) array
        Configurations: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (..., nv) array
        The shortest where there are several: rotations of at most half a turn. NaN where a quaternion
        has the norm zero.

    References
    ----------
    The logarithm of each joint's group.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("go2")
    >>> q, v, _ = robot.random_state(seed=0)
    >>> bool(abs(robot.difference(q, robot.integrate(q, 0.1 * v)) - 0.1 * v).max() < 1e-14)
    True
    """
    dv: list[Scalar] = [0.0] * model.nv
    for i in model.joint_order:
        body = model.bodies[i]
        step = body.joint.difference([q0[k] for k in body.q_index], [q1[k] for k in body.q_index])
        for k, x in zip(body.v_index, step, strict=True):
            dv[k] = x
    return dv
