"""Answers to the exercises of chapter 2, and for each one that is wrong."""

import numpy as np


def moments(m, box, cylinder, ellipsoid):
    (x, y, z), (r, h), (a, b, c) = np.square(box), np.square(cylinder), np.square(ellipsoid)
    of_box = np.array([y + z, x + z, x + y]) / 12
    of_cylinder = [(3 * r + h) / 12, (3 * r + h) / 12, r / 2]
    of_ellipsoid = np.array([b + c, a + c, a + b]) / 5
    return m * np.array([of_box, of_cylinder, of_ellipsoid])


def wrong_moments(m, box, cylinder, ellipsoid):
    return moments(m, box, cylinder, ellipsoid)[:, ::-1]


def dumbbell(density):
    rod, ball = density * np.pi * 0.02**2 * 0.2, density * 4 / 3 * np.pi * 0.1**3
    around = rod * (3 * 0.02**2 + 0.2**2) / 12 + 2 * ball * (0.4 * 0.1**2 + 0.2**2)
    along = rod * 0.02**2 / 2 + 2 * ball * 0.4 * 0.1**2
    m = rod + 2 * ball
    return np.diag([around, around, along, m, m, m])


def wrong_dumbbell(density):
    G = dumbbell(density)
    return G - np.diag([0.1, 0.1, 0, 0, 0, 0])


def furuta_torques(theta, dtheta, ddtheta, m1, m2, L1, L2, g):
    s, c = np.sin(theta[1]), np.cos(theta[1])
    M12 = -m2 * L1 * L2 * c
    M = np.array([[m1 * L1**2 + m2 * (L1**2 + L2**2 * s**2), M12], [M12, m2 * L2**2]])
    v1, v2 = dtheta
    coriolis = [2 * m2 * L2**2 * s * c * v1 * v2 + m2 * L1 * L2 * s * v2**2, -m2 * L2**2 * s * c * v1**2]
    return M @ ddtheta + coriolis + [0.0, -m2 * g * L2 * s]


def wrong_furuta_torques(theta, dtheta, ddtheta, m1, m2, L1, L2, g):
    return furuta_torques(theta, dtheta, ddtheta, m1, m2, L1, L2, -g)


def jacobian_partials(J):
    def ad(V):
        (a, b, c), (x, y, z) = V[:3], V[3:]
        w, v = (np.array([[0, -r, q], [r, 0, -p], [-q, p, 0]]) for p, q, r in ((a, b, c), (x, y, z)))
        return np.block([[w, np.zeros((3, 3))], [v, w]])

    n = J.shape[1]
    out = np.zeros((n, 6, n))
    for j in range(n):
        for i in range(j):
            out[j][:, i] = ad(J[:, i]) @ J[:, j]
    return out


def wrong_jacobian_partials(J):
    return -jacobian_partials(J)


def mass_matrix_rate(A, G, W, L, ad_rate):
    half = -A.T @ L.T @ G @ L @ ad_rate @ W @ L @ A
    return half + half.T


def wrong_mass_matrix_rate(A, G, W, L, ad_rate):
    return -mass_matrix_rate(A, G, W, L, ad_rate)


def press(g, J, N):
    return g + J.T @ [0.0, 0.0, 0.0, 0.0, 0.0, -N]


def wrong_press(g, J, N):
    return g - J.T @ [0.0, 0.0, 0.0, 0.0, 0.0, -N]
