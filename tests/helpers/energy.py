"""Energies of a tree, from forward kinematics and point masses: nothing of the dynamics pages is in them."""

import numpy as np

from helpers import dense
from helpers.trees import page, rate
from kinetree.algorithms import forward_kinematics


def poses(model, q):
    """Return the poses (..., nb, 4, 4) of the bodies."""
    return page(forward_kinematics, model, q)


def potential(model, q):
    """Return −Σ m g·c."""
    P, g = poses(model, q), np.array(list(model.gravity))
    total = 0.0
    for i, body in enumerate(model.bodies):
        h = np.array(list(body.inertia.h))  # m c, in the body
        moment = P[..., i, :3, :3] @ h + body.inertia.m * P[..., i, :3, 3]
        total = total - moment @ g
    return total


def kinetic(model, q, v):
    """Return Σ ½ vᵢᵀ Iᵢ vᵢ and the rotors' share, each body's twist being read off the rate of its pose."""
    P, P_dot = poses(model, q), rate(lambda x: poses(model, x), model, q, v)
    total = 0.0
    for i, body in enumerate(model.bodies):
        R_T = np.swapaxes(P[..., i, :3, :3], -1, -2)
        W = R_T @ P_dot[..., i, :3, :3]
        w = np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)
        lin = np.einsum("...ij,...j->...i", R_T, P_dot[..., i, :3, 3])
        twist = np.concatenate([w, lin], axis=-1)
        total = total + 0.5 * np.einsum("...i,ij,...j->...", twist, dense.of_inertia(body.inertia), twist)
        for k, rotor in zip(body.v_index, body.armature, strict=True):
            total = total + 0.5 * rotor * v[..., k] ** 2
    return total
