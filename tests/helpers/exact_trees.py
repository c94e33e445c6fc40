"""Random trees whose numbers are the same on every machine: nothing but + - * / on rounded decimals makes them.

NumPy's and SciPy's generators may change from version to version, and sines from one C library to the next. Only
`random.Random.random` is promised to stay, so all choices are made from it.
"""

import random

from helpers.joints import EXAMPLES
from kinetree.joints import Fixed, FreeFlyer, Prismatic, Revolute
from kinetree.model import ModelBuilder
from kinetree.spatial import Inertia


class Source:
    """Random numbers of few digits."""

    def __init__(self, seed):
        self._random = random.Random(seed).random

    def below(self, n):
        """Return one of 0, …, n - 1."""
        return int(self._random() * n)

    def decimal(self, low, high, digits=2):
        """Return a decimal number between these two."""
        return round(low + (high - low) * self._random(), digits)

    def placement(self):
        """Return a pose (4, 4): the rotation of a quaternion of integers, so of fractions of integers."""
        w, x, y, z = 1 + self.below(5), *(self.below(11) - 5 for _ in range(3))
        n = w * w + x * x + y * y + z * z
        rotation = (
            (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
        )
        rows = [[*(entry / n for entry in row), self.decimal(-0.5, 0.5)] for row in rotation]
        return [*rows, [0.0, 0.0, 0.0, 1.0]]

    def inertia(self):
        """Return an inertia whose principal moments obey the triangle inequality."""
        com = [self.decimal(-0.2, 0.2) for _ in range(3)]
        a, b, c = (self.decimal(0.05, 0.09, 3) for _ in range(3))
        d, e, f = (self.decimal(-0.01, 0.01, 4) for _ in range(3))
        return Inertia.from_com(self.decimal(0.5, 3.0), com, [[a, d, e], [d, b, f], [e, f, c]])


def exact_tree(name, seed, joints, followers=0, straight=0.7):
    """Return a tree with these joints, in this order, and some that follow the first ones of one coordinate.

    A body hangs on the one before it in this share of the cases, else on any; there is a welded link, and a frame
    on the last body.
    """
    source = Source(seed)
    builder = ModelBuilder(name)
    builder.add_link("base", source.inertia())
    leaders = [f"joint{k}" for k, joint in enumerate(joints) if (joint.nq, joint.nv) == (1, 1)]
    followed = [leaders[k % len(leaders)] for k in range(followers)]
    added = [*joints, *((Prismatic((0, 0, 1)), Revolute((0, 1, 0)))[k % 2] for k in range(followers))]
    for k, joint in enumerate(added):
        builder.add_link(f"link{k}", source.inertia())
        near = source.decimal(0.0, 1.0) < straight
        parent = k - 1 if near or k == 0 else source.below(k)
        leader = followed[k - len(joints)] if k >= len(joints) else None
        free = isinstance(joint, FreeFlyer)
        builder.add_joint(
            f"joint{k}",
            parent="base" if parent < 0 else f"link{parent}",
            child=f"link{k}",
            joint=joint,
            placement=source.placement(),
            armature=0.0 if free else source.decimal(0.01, 0.2),
            damping=0.0 if free else source.decimal(0.1, 1.0),
            friction=0.0 if free else source.decimal(0.1, 1.0),
            mimic=None if leader is None else (leader, source.decimal(0.5, 1.5), source.decimal(-1.0, 1.0)),
        )
    builder.add_link("tool", source.inertia())
    builder.add_joint("weld", parent=f"link{len(added) - 1}", child="tool", joint=Fixed(), placement=source.placement())
    builder.add_frame("tip", link="tool", placement=source.placement())
    return builder.build(base_pose=source.placement(), gravity=(0.5, -1.0, -9.5))


def one_of_each(example):
    """Return one moving joint of every type; `example` tells which one of the type's examples."""
    return [row[example] for row in EXAMPLES.values() if row[example].nv > 0]
