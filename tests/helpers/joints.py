"""Example instances of every joint type: the generic tests and the random trees are made from them."""

from __future__ import annotations

import numpy as np

from kinetree.joints import Continuous, Fixed, FreeFlyer, Joint, Prismatic, Revolute, Spherical

TILTED = (0.6, -0.3, 0.7)

EXAMPLES: dict[str, tuple[Joint, ...]] = {
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
}
"""By the name in `Joint.registry`; a new type needs a row."""

MOVING = tuple(joint for row in EXAMPLES.values() for joint in row if joint.nv > 0)


def brackets(joint: Joint) -> np.ndarray:
    """Return c with ``[ν, μ]_k = Σ c[k, i, j] ν_i μ_j``, the Lie bracket of a joint's velocities.

    Velocities that are the rates of coordinates commute. Those of a quaternion joint are the twists of a group, in
    the child's axes: their bracket is the cross product of motions.
    """
    n = joint.nv
    c = np.zeros((n, n, n))
    if joint.nq == n:
        return c
    S = joint.jcalc(joint.neutral(), [0.0] * n).S
    dense = np.array([list(s) for s in S], dtype=float).T
    for i in range(n):
        for j in range(n):
            c[:, i, j] = np.linalg.lstsq(dense, np.array(list(S[i].cross(S[j])), dtype=float), rcond=None)[0]
    return c
