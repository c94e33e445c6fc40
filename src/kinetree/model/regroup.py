"""Base inertial parameters: inertia lumped towards the base where no joint force depends on it."""

from __future__ import annotations

from dataclasses import replace

from kinetree.model.body import WORLD
from kinetree.model.model import Model


def regrouped(model: Model) -> Model:
    """Return a model with the same joint forces at every state, and with many inertial parameters zero.

    From the leaves to the root, the part of each body's inertia that causes no force at its joint
    (`Joint.inertia_for_parent`) is lumped into its parent; what reaches the world is dropped. For a revolute joint
    that is three of the ten parameters, the mass among them. M(q), the bias forces and so inverse and forward dynamics
    are the same functions as before; energies, momenta, the centre of mass and the reactions in the joints are not.

    The idea is that of base inertial parameters (Gautier and Khalil 1990; RBDA section 9.7 gives the same
    argument for a revolute joint), used here to have fewer operations.
    """
    inertias = [body.inertia for body in model.bodies]
    for i in reversed(range(model.nb)):
        body = model.bodies[i]
        moved = body.joint.inertia_for_parent(inertias[i])
        inertias[i] = inertias[i] - moved
        if body.parent != WORLD:
            inertias[body.parent] = inertias[body.parent] + body.X_T.T @ moved
    bodies = (replace(body, inertia=inertia) for body, inertia in zip(model.bodies, inertias, strict=True))
    return replace(model, bodies=tuple(bodies))
