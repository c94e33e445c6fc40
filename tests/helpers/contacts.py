"""Contact problems, and how well they are solved, in NumPy."""

from typing import Any

import numpy as np

from kinetree.contacts import PUSHES, FrictionCone, Interval, Problem, solve

Array = np.ndarray[Any, Any]


def problem(G, g, friction=(), bounds=(), R=None):
    """Return a problem: contacts, then forces that push only, then bounded ones."""
    limits = len(g) - 3 * len(friction) - len(bounds)
    cones = [FrictionCone(float(mu)) for mu in friction]
    intervals = [Interval(float(b)) for b in bounds]
    compliance = None if R is None else [float(r) for r in R]
    made = Problem(np.asarray(G).tolist(), np.asarray(g).tolist(), [*cones, *[PUSHES] * limits, *intervals])
    return made.compliant(compliance)


def solved(G, g, friction=(), bounds=(), R=None, **how):
    """Return the solution on Python floats."""
    return solve(problem(G, g, friction, bounds, R), how.pop("solver", "auto"), **how)


def random_problem(seed, contacts=3, limits=2, bounded=2, rank=None):
    """Return G, g, μ and b of a random problem; singular where the rank is below the number of rows."""
    rng = np.random.default_rng(seed)
    n = 3 * contacts + limits + bounded
    J = rng.normal(size=(n, rank or 2 * n))
    g = rng.normal(size=J.shape[1]) @ J.T
    return J @ J.T, g, rng.uniform(0.1, 1.2, contacts), rng.uniform(0.1, 1.0, bounded)


def law_errors(G, g, force, friction, bounds):
    """Return the largest errors of the laws, in NumPy: forces outside their sets, motions, and work."""
    sigma, n = G @ force + g, 3 * len(friction)
    f, s = (x[:n].reshape(-1, 3) for x in (force, sigma))
    last = len(g) - len(bounds)
    slip = np.linalg.norm(s[:, :2], axis=1)
    outside = [np.linalg.norm(f[:, :2], axis=1) - friction * f[:, 2], -force[n:last], np.abs(force[last:]) - bounds]
    work = [
        (f * s).sum(axis=1) + friction * f[:, 2] * slip,
        force[n:last] * sigma[n:last],
        force[last:] * sigma[last:] + bounds * np.abs(sigma[last:]),
    ]
    into = np.r_[0.0, -s[:, 2], -sigma[n:last]]
    return np.concatenate(outside).max(), into.max(), np.abs(np.concatenate(work)).max()


def stack(masses, seed=0, dt=1e-3):
    """Return G and g of boxes on top of each other, four corners a face, of the first on the ground; 0.2 m wide."""
    rng, n, h = np.random.default_rng(seed), len(masses), 0.1
    inverse = np.diag(np.concatenate([[1.5 / (m * h * h)] * 3 + [1.0 / m] * 3 for m in masses]))
    rows = []
    for i in range(n):
        for x in (-h, h):
            for y in (-h, h):
                row = np.zeros((3, 6 * n))
                row[:, 6 * i : 6 * i + 6] = _point(np.array([x, y, -h]))
                if i:
                    row[:, 6 * i - 6 : 6 * i] = -_point(np.array([x, y, h]))
                rows.append(row)
    J, v = np.vstack(rows), 0.05 * rng.normal(size=6 * n)
    v[5::6] -= 9.81 * dt
    return J @ inverse @ J.T, J @ v


def _point(p):
    """Return the Jacobian of a point for (angular, linear) velocities."""
    S = np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])
    return np.hstack([-S, np.eye(3)])
