"""Example instances of every joint type: the generic tests and the random trees are made from them."""

import numpy as np

from kinetree.joints import (
    Continuous,
    Cylindrical,
    Fixed,
    FreeFlyer,
    Helical,
    Joint,
    Mimic,
    Planar,
    Prismatic,
    Revolute,
    RollPitchYaw,
    Spherical,
    Universal,
)

TILTED = (0.6, -0.3, 0.7)

EXAMPLES = {
    "Revolute": (
        Revolute((1, 0, 0)),
        Revolute((0, -1, 0)),
        Revolute((0, 0, 1)),
        Revolute(TILTED),
    ),
    "Continuous": (Continuous((0, 1, 0)), Continuous(TILTED)),
    "Prismatic": (Prismatic((0, 0, 1)), Prismatic((-1, 0, 0)), Prismatic(TILTED)),
    "Spherical": (Spherical(),),
    "FreeFlyer": (FreeFlyer(),),
    "Fixed": (Fixed(),),
    "Universal": (Universal(), Universal((0, 0, 1), (1, 0, 0)), Universal(TILTED, (1, 0.2, 0.1))),
    "Helical": (Helical((0, 0, 1), 0.1), Helical(TILTED, -0.3)),
    "Cylindrical": (Cylindrical((1, 0, 0)), Cylindrical(TILTED)),
    "Planar": (Planar(), Planar((0, 1, 0)), Planar(TILTED)),
    "RollPitchYaw": (RollPitchYaw(),),
    "Mimic": (
        Mimic(Revolute((0, 1, 0)), -0.5, 0.3),
        Mimic(Prismatic(TILTED), 2.0, 0.1),
        Mimic(Helical(TILTED, 0.1), 2.0),
    ),
}
"""By the name in `Joint.registry`; a type without a row stands as it is made without parameters."""
for _name, _joint in Joint.registry.items():
    if _joint.__module__.startswith("kinetree.") and _name not in EXAMPLES:
        EXAMPLES[_name] = (_joint(),)

MOVING = tuple(joint for row in EXAMPLES.values() for joint in row if joint.nv > 0)


def brackets(joint):
    """Return c with ``[ν, μ]_k = Σ c[k, i, j] ν_i μ_j``, the Lie bracket of a joint's velocities.

    Velocities that are the rates of coordinates commute. Those of a quaternion joint are the twists of a group, in
    the child's axes: their bracket is the cross product of motions.
    """
    n = joint.nv
    c = np.zeros((n, n, n))
    if joint.nq == n and not isinstance(joint, Planar):
        return c
    S = joint.jcalc(joint.neutral(), [0.0] * n).S
    dense = np.array([list(s) for s in S], dtype=float).T
    for i in range(n):
        for j in range(n):
            c[:, i, j] = np.linalg.lstsq(dense, np.array(list(S[i].cross(S[j])), dtype=float), rcond=None)[0]
    return c
