"""Poses and twists as plain NumPy matrices, in the notation of Lynch and Park, *Modern Robotics* (MR).

For what is done once, outside the compiled functions: reading screws, and the closed form for teaching.
"""

from __future__ import annotations

import numpy as np

from kinetree.validation import Array


def skew(w: Array) -> Array:
    """Return [w] (3, 3), with [w] x = w × x (MR eq. 3.30)."""
    x, y, z = w
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def inverse(T: Array) -> Array:
    """Return T⁻¹ of a pose (4, 4) (MR eq. 3.64)."""
    out = np.eye(4)
    out[:3, :3] = T[:3, :3].T
    out[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return out


def adjoint(T: Array) -> Array:
    """Return [Ad_T] (6, 6), which takes twists (ω, v) from B to A for the pose T of B in A (MR definition 3.20)."""
    R, p = T[:3, :3], T[:3, 3]
    Ad = np.zeros((6, 6))
    Ad[:3, :3] = Ad[3:, 3:] = R
    Ad[3:, :3] = skew(p) @ R
    return Ad


def ad(V: Array) -> Array:
    """Return [ad_V] (6, 6), the Lie bracket with the twist V = (ω, v) (MR definition 8.7)."""
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = skew(V[:3])
    out[3:, :3] = skew(V[3:])
    return out


def exponential(S: Array, theta: float) -> Array:
    """Return e^{[S]θ} (4, 4), the pose after θ along the screw S = (ω, v) (MR proposition 3.25); ω of any length."""
    T, length = np.eye(4), np.linalg.norm(S[:3])
    if length == 0.0:
        T[:3, 3] = S[3:] * theta
        return T
    w, v, theta = S[:3] / length, S[3:] / length, float(theta * length)
    W, s, c = skew(w), np.sin(theta), 1.0 - np.cos(theta)
    T[:3, :3] += s * W + c * W @ W
    T[:3, 3] = theta * v + c * W @ v + (theta - s) * W @ W @ v
    return T
