"""The forces in the joints."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.rnea import FRAMES, Wrenches, body_wrenches, net_forces
from kinetree.algorithms.registry import algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Scalar


@algorithm(
    "joint_reactions",
    inputs={"q": ("nq",), "v": ("nv",), "a": ("nv",)},
    optional={"f_ext": ("nb", 6)},
    options={"f_ext_frame": FRAMES},
    outputs={"f": ("nb", 6)},
)
def joint_reactions(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    f_ext: Wrenches | None = None,
    *,
    f_ext_frame: str = "body",
) -> list[list[Scalar]]:
    """Wrench that each joint transmits to its body.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v, a : (..., nv) array
        Velocity and true acceleration: rad/s and m/s, rad/s² and m/s².
    f_ext : (..., nb, 6) array, optional
        Wrench (n, f) exerted on each moving body (N·m, N), in the order of ``robot.body_names``.
    f_ext_frame : {"body", "world"}
        Axes and reference point of f_ext: the body's frame, or the world's.

    Returns
    -------
    (..., nb, 6) array
        Wrench (n, f) that the parent exerts on the body through the joint between them, about the body's origin
        in its axes (N·m, N): the constraint forces and what drives the joint. The opposite acts on the parent.
        ``Sᵀ f`` is the joint's force in `inverse_dynamics`, but for what turns the rotor and overcomes friction.
        A robot at rest that stands on its base bears its weight: f points upwards.

    References
    ----------
    RBDA Table 5.1: ``f_i = f_i^B − f_i^x + Σ_μ iXμ* f_μ`` over the children μ.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    f = net_forces(model, states, a, body_wrenches(states, model, f_ext, f_ext_frame))
    for i in reversed(range(model.nb)):
        parent = model.bodies[i].parent
        if parent != WORLD:
            f[parent] = f[parent] + states[i].Xup.T @ f[i]
    return [list(f_i) for f_i in f]
