"""Physically consistent bodies near the estimates, by their covariance, near the robot before, and within bounds.

Mass somewhere in space has a positive definite pseudo-inertia, the second moments ``∫ [x; 1][x; 1]ᵀ dm``, and every
positive definite one is that of some body. It is linear in the ten parameters, so what the data say and the distance to
the prior, the entropic divergence ``tr(P_0⁻¹ P) − log det(P_0⁻¹ P) − 4``, make one convex function, which is
self-concordant: Newton's method finds its only minimum, stays physically consistent, and knows how
far it is from it.

References: Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial parameter
identification", IEEE RA-L 3(1), 2018; Lee, Wensing and Park, "Geometric robot dynamic identification: a convex
programming approach", IEEE T-RO 36(2), 2020, for the divergence; Boyd and Vandenberghe, "Convex optimization", 2004,
section 9.6, for Newton's method on self-concordant functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError, unknown_name
from kinetree.identification.newton import BASIS, Consistent, Problem, inertial_of, newton, pseudo_inertia
from kinetree.identification.parameters.terms import TERMS
from kinetree.options import option, positive, read_box, value
from kinetree.spatial import Inertia
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from kinetree.identification.estimators.contract import Solution
    from kinetree.identification.parameters.base import BaseParameters
    from kinetree.robot import Robot

# Below the first, relative to a ball of usual size, an eigenvalue of a prior's pseudo-inertia is of no body that
# somebody has measured, but of a point or a plate: it is taken as the second, since the divergence from what is next to
# nothing outweighs all data.
THINNEST, THIN = 1e-6, 1e-2
SPREAD = 1e-9  # the least eigenvalue by the greatest: rounding leaves bodies physically consistent
BALL = 0.01  # mean square of each coordinate in such a ball where no link has a mass (m²)
BARRIER = 0.01  # how much a link's distance from its bounds counts, relative to the prior of a joint's parameter
KEPT = 1e-6  # of an unidentifiable offset or column of the user's own, the inverse of a standard deviation
NOTHING = 1e-9  # what takes the place of zero where a parameter has to be positive
MARGIN = 0.05  # how far within its bounds a link is before, of what uniform density has
VAGUE = 1e-2  # strength of the prior by which a payload is a body: a hundredth of a standard deviation squared


def repaired(ten: Array, mass: float, least: float | None = None) -> Array:
    """Return physically consistent inertial parameters (nb, 10) near these; links without mass become balls of this.

    The least eigenvalue of pseudo-inertias is relative to those of a ball of the same mass and usual size. If it is not
    given, eigenvalues below `THINNEST` become `THIN`, and points become such balls.
    """
    J = pseudo_inertia(ten)
    sizes = np.array([np.trace(j[:3, :3]) / (3.0 * j[3, 3]) for j in J if j[3, 3] > 0.0])
    size = np.median(sizes[sizes > 0.0]) if (sizes > 0.0).any() else BALL
    out = np.zeros_like(ten)
    for own, j in zip(out, J, strict=True):
        m = j[3, 3] if j[3, 3] > 0.0 else mass
        units = np.sqrt(np.array([*[size * m] * 3, m]))
        w, V = np.linalg.eigh(j / np.outer(units, units))
        known = w > THINNEST
        if j[3, 3] <= 0.0:
            w = np.ones(4)
        elif least is not None:
            w = np.maximum(w, least)
        else:
            w = np.where(known, w, THIN if known.sum() > 1 else 1.0)
        w = np.maximum(w, SPREAD * w.max())
        own[:] = inertial_of((V * w) @ V.T * np.outer(units, units))
    return out


def _bounds(name: str, given: Any) -> Any:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{name} are {given!r}: boxes or ellipsoids by names of links are needed")
    return given


@value
class Bodies:
    """How physically consistent bodies are found: near the estimates, near the robot before, mass where it can be.

    Reference: Lee, Wensing and Park, "Geometric robot dynamic identification: a convex programming approach", IEEE T-RO
    36(2), 2020.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> log = q, v, a, robot.inverse_dynamics(q, v, a)
    >>> fit = robot.identify(log, [], bodies=kt.identification.Bodies(spread=0.2))
    >>> bool(fit.gap < 1e-8)
    True
    """

    spread: float = option(
        default=1.0,
        help="how far, relative to its size, a parameter of this robot may be from the truth: what the data leave open "
        "is near to this robot's, by the entropic divergence",
        check=positive,
        read=float,
    )
    bounds: Mapping[str, ArrayLike] = option(
        default_factory=dict,
        help="by names of links where their mass is, in the axes of the link's frame (m): in a box (2, 3), given by "
        "its lower and its upper corner; or in an ellipsoid (4, 4), ``[x y z 1] Q [x y z 1]ᵀ >= 0``",
        check=_bounds,
        read=read_box,
        metavar="LINK=X0,X1,Y0,Y1,Z0,Z1",
    )

    def nearest(self, base: BaseParameters, solution: Solution) -> Consistent:
        """Return all parameters of these bodies, and how far they are from the best ones at most.

        Friction is near the estimate only: who describes a robot seldom knows it.
        """
        count, n, strength = 10 * base.robot.nb, base.dimension, float(self.spread) ** -2
        own = base.all_parameters()
        A, others = solution.information[:, :n], np.linalg.qr(solution.information[:, n:])[0]
        A = A - others @ (others.T @ A)  # motor constants and speeds of friction take what values they like
        ten = own[:count].reshape(-1, 10)
        masses = np.geomspace(1e-3, 1e3, 13) if (ten[:, 0] <= 0.0).any() else [1.0]
        tried = [np.append(repaired(ten, float(m)), own[count:]) for m in masses]
        A, b = A @ base.projection, A @ solution.values[:n]
        kept = ~A.any(axis=0) & (np.arange(len(own)) >= count)  # what the data say nothing of
        prior = min(tried, key=lambda p: float(((A @ p - b) ** 2).sum()))
        rows, inside = inequalities(base.robot, self.bounds, prior[:count].reshape(-1, 10))
        prior[:count] = inside.ravel()
        bounded = np.zeros(len(prior), bool)
        std = np.sqrt(np.diag(solution.covariance))
        for (term, _), place in base.places.items():
            if TERMS[term].not_negative:
                bounded[place] = True
                if term != "armature" or not prior[place] > 0.0:
                    prior[place] = _usual(base.projection[:, place], solution.values[:n], std[:n])
        free = np.flatnonzero(~bounded[count:]) + count  # without a prior: unidentifiable ones stay
        null = solution.unidentifiable[:, :n] @ base.projection[:, free]
        free = free[np.abs(null).max(axis=0, initial=0.0) > 0.0]
        A, b = np.vstack([A, KEPT * np.eye(len(prior))[free]]), np.append(b, KEPT * prior[free])
        C = np.vstack([np.eye(len(prior))[bounded], np.pad(rows, ((0, 0), (0, len(prior) - count)))])
        weights = min(strength, 1.0) * np.repeat([1.0, BARRIER], [len(C) - len(rows), len(rows)])
        found = newton(Problem(A, b, base.robot.nb, C, weights, prior, strength))
        return found._replace(parameters=np.where(kept, own, found.parameters))


def _usual(factors: Array, values: Array, std: Array) -> float:
    """Return the size to expect of what is in the base parameters with these factors: estimated, or as it was."""
    rows = np.flatnonzero(factors)
    return float((np.maximum(np.abs(values), std)[rows] / np.abs(factors[rows])).max(initial=NOTHING))


def nearest_body(A: Array, values: Array) -> Inertia:
    """Return the physically consistent inertia near ten estimates with the information ``AᵀA``, and no other prior."""
    prior = repaired(values[None], 1e-3, THIN)[0]
    problem = Problem(A, A @ values, 1, np.zeros((0, 10)), np.zeros(0), prior, VAGUE)
    return Inertia.from_parameters(newton(problem).parameters.tolist())


def inequalities(robot: Robot, bounds: Mapping[str, ArrayLike], ten: Array) -> tuple[Array, Array]:
    """Return rows C (k, 10 nb) with ``C x ≥ 0``, and inertial parameters (nb, 10) near these that fulfil them.

    Mass within ``[x; 1]ᵀ Q [x; 1] ≥ 0`` has ``tr(Q J) ≥ 0``; of an ellipsoid this is enough for a body that is nowhere
    else to exist. A box is between three pairs of planes, and the product of the distances from any two planes is not
    negative.

    References: Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial parameter
    identification", IEEE RA-L 3(1), 2018; Anstreicher and Burer, "Computable representations for convex hulls of
    low-dimensional quadratic forms", Mathematical Programming 124, 2010, for boxes.
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
    below, above = (sign * np.column_stack([np.eye(3), -x]) for sign, x in zip((1.0, -1.0), corners, strict=True))
    planes = np.vstack([below, above]) / np.tile(size, 2)[:, None]
    return np.array([0.5 * (np.outer(a, b) + np.outer(b, a)) for a, b in combinations(planes, 2)])


def _uniform(middle: Any, covariance: Any) -> Array:
    at = np.append(middle, 1.0)
    return np.asarray(np.outer(at, at) + np.pad(covariance, (0, 1)))


def _within(ten: Array, C: Array, uniform: Array) -> Array:
    """Return a body's parameters, mixed with those of uniform density as far as needed to be within."""
    full = ten[0] * uniform
    least = MARGIN * C @ inertial_of(full)
    for share in np.linspace(0.0, 1.0, 21):
        mixed = inertial_of((1.0 - share) * pseudo_inertia(ten) + share * full)
        if (C @ mixed >= least).all():
            break
    return mixed
