"""The forces in the joints."""

from __future__ import annotations

from kinetree.algorithms.dynamics.rnea import Wrenches, body_wrenches, net_forces
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model


@algorithm("joint_reactions", outputs={"f": ("nb", 6)})
def joint_reactions(
    model: Model, q: Vector, v: Vector, a: Vector, f_ext: Wrenches = None, *, f_ext_frame: str = "body"
) -> Matrix:
    """Wrench that each joint transmits to its body.

    Returns
    -------
    f
        Wrench (n, f) that the parent exerts on the body through the joint, about the body's origin in its axes (N·m,
        N): constraint forces and the joint's own force. The opposite wrench acts on the parent. ``Sᵀ f`` is the
        joint's force in `inverse_dynamics` without armature, springs and friction. For a robot at rest on its base f
        points upwards, since it bears the weight.

    References: RBDA Table 5.1: ``f_i = f_i^B − f_i^x + Σ_μ iXμ* f_μ`` over the children μ.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    f = net_forces(model, states, a, body_wrenches(states, model, f_ext, f_ext_frame))
    for i in reversed(range(model.nb)):
        parent = model.bodies[i].parent
        if parent != WORLD:
            f[parent] = f[parent] + states[i].Xup.T @ f[i]
    return [list(f_i) for f_i in f]
