"""Trees for the tests of frames, and what a frame does read off its pose: no kinematics page but poses is in it."""

import numpy as np
import pinocchio as pin

from helpers.energy import poses
from helpers.joints import MOVING
from helpers.pinocchio_oracle import se3
from helpers.trees import random_inertia, random_placement, random_tree, rate
from kinetree.joints import Prismatic, Revolute, Spherical
from kinetree.model import WORLD, ModelBuilder

TREES = [random_tree(seed, n=len(MOVING) + 1) for seed in range(3)]
REFERENCES = ("body", "world", "aligned")


def mimicking_tree():
    """Return a tree in which one coordinate moves three bodies, two of them on one path."""
    rng, builder = np.random.default_rng(5), ModelBuilder("mimicking")
    for k in range(5):
        builder.add_link(f"link{k}", random_inertia(rng))
    joints = [("a", 0, 1, Revolute((0, 0, 1)), None), ("b", 1, 2, Spherical(), None)]
    joints += [
        ("c", 2, 3, Prismatic((1, 0, 0)), ("a", -0.7, 0.2)),
        ("d", 1, 4, Revolute((0.6, 0.8, 0)), ("a", 2.0, 0.1)),
    ]
    for name, parent, child, joint, leader in joints:
        placement = random_placement(rng).tolist()
        builder.add_joint(
            name, parent=f"link{parent}", child=f"link{child}", joint=joint, placement=placement, mimic=leader
        )
    return builder.build()


def tips(model, n=3):
    """Return the names of n frames: deep ones, a welded link among them where there is one, and one of the world."""
    depth = {f.name: _depth(model, f.body) for f in model.frames}
    deep = sorted(model.frames, key=lambda f: (-depth[f.name], f.name))
    welded = [f for f in deep if f.body != WORLD and f.X.r != type(f.X.r)(0.0, 0.0, 0.0)]
    world = [f for f in deep if f.body == WORLD]
    return [f.name for f in (*deep[: n - 1], *welded[:1], *world[:1])]


def _depth(model, i):
    return 0 if i == WORLD else 1 + _depth(model, model.bodies[i].parent)


def pose(model, frame, q):
    """Return the pose (..., 4, 4) of a frame, from the poses of the bodies."""
    where = model.frame(frame)
    here = np.array(where.X.placement, dtype=float)
    return (
        np.broadcast_to(here, (*q.shape[:-1], 4, 4))
        if where.body == WORLD
        else poses(model, q)[..., where.body, :, :] @ here
    )


def unskewed(W):
    return np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)


def twist(P, P_dot, reference):
    """Return the twist (..., 6) of a pose that changes at this rate."""
    R, R_dot, p, p_dot = P[..., :3, :3], P_dot[..., :3, :3], P[..., :3, 3], P_dot[..., :3, 3]
    R_T = np.swapaxes(R, -1, -2)
    if reference == "body":
        return np.concatenate([unskewed(R_T @ R_dot), np.einsum("...ij,...j->...i", R_T, p_dot)], axis=-1)
    w = unskewed(R_dot @ R_T)
    return np.concatenate([w, p_dot if reference == "aligned" else p_dot - np.cross(w, p)], axis=-1)


def pose_twist(model, frame, q, v, reference):
    """Return the twist of a frame, from the rate of its pose."""
    P = pose(model, frame, q)
    return twist(P, rate(lambda x: pose(model, frame, x), model, q, v), reference)


def times(A, x):
    return np.einsum("...ij,...j->...i", A, x)


PIN_REFERENCE = {
    "body": pin.ReferenceFrame.LOCAL,
    "world": pin.ReferenceFrame.WORLD,
    "aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}
ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
"""Our spatial coordinates in Pinocchio's, which are linear first."""


def with_frames(oracle):
    """Return the oracle with all of the model's frames in Pinocchio's model too."""
    names = list(oracle.theirs.names)
    for frame in oracle.ours.frames:
        joint = 0 if frame.body == WORLD else names.index(oracle.ours.bodies[frame.body].joint_name)
        oracle.theirs.addFrame(pin.Frame(frame.name, joint, 0, se3(frame.X), pin.FrameType.OP_FRAME))
    oracle.data = oracle.theirs.createData()
    return oracle
