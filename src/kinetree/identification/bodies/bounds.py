"""Where the mass of links is: boxes and ellipsoids, as linear inequalities of pseudo-inertias.

Mass within ``[x; 1]ᵀ Q [x; 1] ≥ 0`` has ``tr(Q J) ≥ 0``; of an ellipsoid this is enough for a body that is nowhere else
to exist. A box is between three pairs of planes, and the product of the distances from any two planes is not negative.

References: Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial parameter
identification", IEEE RA-L 3(1), 2018; Anstreicher and Burer, "Computable representations for convex hulls of
low-dimensional quadratic forms", Mathematical Programming 124, 2010, for boxes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, unknown_name
from kinetree.identification.bodies.newton import BASIS, inertial_of, pseudo_inertia
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from kinetree.robot import Robot

MARGIN = 0.05
"""How far within its bounds a link is before, of what uniform density has."""


def inequalities(robot: Robot, bounds: Mapping[str, ArrayLike], ten: Array) -> tuple[Array, Array]:
    """Return rows C (k, 10 nb) with ``C x ≥ 0``, and inertial parameters (nb, 10) near these that fulfil them.

    Raises
    ------
    ArgumentError
        If there is no such link, or a bound is neither a box nor an ellipsoid.
    """
    rows, inside = [np.zeros((0, 10 * robot.nb))], ten.copy()
    for link, given in bounds.items():
        if link not in robot.body_names:
            raise ArgumentError(unknown_name("moving link", link, robot.body_names))
        i = robot.body_names.index(link)
        forms, uniform = _forms(link, given)
        C = np.einsum("kab,fab->fk", BASIS, forms)
        inside[i] = _within(ten[i], C, uniform)
        own = np.zeros((len(C), 10 * robot.nb))
        own[:, 10 * i : 10 * i + 10] = C
        rows.append(own)
    return np.vstack(rows), inside


def _forms(link: str, given: ArrayLike) -> tuple[Array, Array]:
    """Return the matrices Q (k, 4, 4), and the pseudo-inertia of 1 kg of uniform density within."""
    bound = real_array(f"bounds[{link!r}]", given)
    if bound.shape == (2, 3) and np.isfinite(bound).all() and (bound[0] < bound[1]).all():
        middle, size = bound.mean(axis=0), bound[1] - bound[0]
        return _box(bound, size), _uniform(middle, np.diag(size**2 / 12.0))
    if bound.shape == (4, 4) and np.isfinite(bound).all():
        Q = 0.5 * (bound + bound.T)
        P = -Q[:3, :3]
        if np.linalg.eigvalsh(P).min() > 0.0:
            middle = np.linalg.solve(P, Q[:3, 3])
            scale = Q[3, 3] + middle @ P @ middle
            if scale > 0.0:
                return Q[None] / scale, _uniform(middle, np.linalg.inv(P) * scale / 5.0)
    raise ArgumentError(
        f"bounds[{link!r}] has to be a box, [[x, y, z], [x, y, z]] with the lower corner first, or the matrix (4, 4) "
        "of an ellipsoid [x y z 1] Q [x y z 1]ᵀ >= 0"
    )


def _box(corners: Array, size: Array) -> Array:
    """Return the products of the distances from two planes, of different axes or of both planes of one."""
    planes = []
    for axis in range(3):
        for corner, sign in zip(corners, (1.0, -1.0), strict=True):
            plane = np.zeros(4)
            plane[axis], plane[3] = sign, -sign * corner[axis]
            planes.append(plane / size[axis])
    pairs = [(a, b) for k, a in enumerate(planes) for b in planes[k + 1 :]]
    return np.array([0.5 * (np.outer(a, b) + np.outer(b, a)) for a, b in pairs])


def _uniform(middle: NDArray[Any], covariance: NDArray[Any]) -> Array:
    at = np.append(middle, 1.0)
    out = np.outer(at, at)
    out[:3, :3] += covariance
    return out


def _within(ten: Array, C: Array, uniform: Array) -> Array:
    """Return a body's parameters, mixed with those of uniform density as far as needed to be within."""
    full = ten[0] * uniform
    least = MARGIN * C @ inertial_of(full)
    for share in np.linspace(0.0, 1.0, 21):
        mixed = inertial_of((1.0 - share) * pseudo_inertia(ten) + share * full)
        if (C @ mixed >= least).all():
            break
    return mixed
