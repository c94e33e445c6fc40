"""Hybrid dynamics: accelerations known at some joints, forces at the others."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.aba import articulated
from kinetree.algorithms.dynamics.joint_space import system_level
from kinetree.algorithms.dynamics.rnea import FRAMES, Wrenches
from kinetree.algorithms.registry import Joints, algorithm
from kinetree.model import Model
from kinetree.spatial import Scalar


@algorithm(
    "hybrid_dynamics",
    inputs={"q": ("nq",), "v": ("nv",), "a": ("nv",), "tau": ("nv",)},
    optional={"f_ext": ("nb", 6)},
    options={"prescribed": Joints(), "method": ("articulated", "system"), "f_ext_frame": FRAMES},
    outputs={"a": ("nv",), "tau": ("nv",)},
)
def hybrid_dynamics(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    tau: Sequence[Scalar],
    f_ext: Wrenches | None = None,
    *,
    prescribed: Sequence[str] = (),
    method: str = "articulated",
    f_ext_frame: str = "body",
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations and joint forces, where each joint has one of the two given.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.
    a : (..., nv) array
        True accelerations of the prescribed joints (rad/s², m/s²); the other entries are never read.
    tau : (..., nv) array
        Forces of the joints that are not prescribed (N·m, N); the other entries are never read.
    f_ext : (..., nb, 6) array, optional
        Wrench (n, f) exerted on each moving body (N·m, N), in the order of ``robot.body_names``.
    prescribed : sequence of str
        Names of the joints whose accelerations are given: all of them is inverse dynamics, none forward dynamics.
    method : {"articulated", "system"}
        The articulated-body recursion, O(n), or M(q) and its factors. They agree; with mimic joints the second is
        taken always.
    f_ext_frame : {"body", "world"}
        Axes and reference point of f_ext: the body's frame, or the world's.

    Returns
    -------
    a, tau : (..., nv) arrays
        Both complete.

    References
    ----------
    RBDA section 9.2: a prescribed joint is a rigid one to the articulated-body recursion, and its acceleration is
    part of the bias that the first sweep finds.
    """
    way = system_level if method == "system" or model.has_mimic_joints else articulated
    return way(model, q, v, a, tau, f_ext, f_ext_frame, frozenset(prescribed))
