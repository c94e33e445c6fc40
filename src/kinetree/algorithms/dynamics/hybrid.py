"""Hybrid dynamics: accelerations known at some joints, forces at the others."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.aba import articulated
from kinetree.algorithms.dynamics.joint_space import joint_space
from kinetree.algorithms.dynamics.rnea import Wrenches
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.model import Model
from kinetree.spatial import Scalar


@algorithm("hybrid_dynamics", outputs="a tau")
def hybrid_dynamics(
    model: Model,
    q: Vector,
    v: Vector,
    a: Vector,
    tau: Vector,
    f_ext: Wrenches = None,
    *,
    prescribed: Sequence[str] = (),
    method: str = "articulated",
    f_ext_frame: str = "body",
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations and joint forces, where one of the two is given at each joint.

    Parameters
    ----------
    a
        True accelerations of the prescribed joints (rad/s², m/s²); the other entries are not read.
    tau
        Forces of the joints that are not prescribed (N·m, N); the other entries are not read.

    References: RBDA section 9.2: the articulated-body recursion treats a prescribed joint as rigid, and its
    acceleration belongs to the bias that the first sweep finds.

    >>> locked = robot.hybrid_dynamics(q, v, 0 * a, 0 * a, prescribed=["panda_joint4"])
    >>> bool(locked.a[3] == 0.0)  # the elbow does not accelerate; locked.tau[3] is the force that this takes
    True
    """
    solver = joint_space if method == "system" or model.has_mimic_joints else articulated
    return solver(model, q, v, a, tau, f_ext, f_ext_frame, frozenset(prescribed))
