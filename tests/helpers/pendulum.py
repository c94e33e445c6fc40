"""A double pendulum with a skew second axis: small, so that its simulations compile soon."""

import math

import numpy as np

import kinetree as kt


def pendulum(floating_base=False, effort=math.inf):
    """Return a new one, on a stand or with a floating base, and with motors of so many N·m."""
    builder = kt.ModelBuilder("pendulum")
    builder.add_link("base", kt.Inertia(2.0, [0.0, 0.0, 0.2], 0.2 * np.eye(3)))
    X = np.eye(4)
    for name, parent, axis in (("upper", "base", (0.0, 1.0, 0.0)), ("lower", "upper", (0.6, 0.8, 0.0))):
        builder.add_link(name, kt.Inertia(1.0, [0.1, 0.05, -0.4], 0.3 * np.eye(3)))
        joint = kt.joints.Revolute(axis)
        limits = kt.JointLimits(effort=effort)
        builder.add_joint(f"{name}_joint", parent=parent, child=name, joint=joint, placement=X.copy(), limits=limits)
        X[2, 3] = -0.8
    return kt.Robot(builder.build(floating_base=floating_base))
