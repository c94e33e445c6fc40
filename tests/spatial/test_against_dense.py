"""Every operation of the spatial algebra against dense 6×6 matrices made from RBDA's definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as SciPyRotation

from helpers import dense
from helpers.dense import assert_close
from kinetree.spatial import (
    ArticulatedInertia,
    AxisRotation,
    Chain,
    Force,
    GeneralRotation,
    Inertia,
    Mat3,
    Motion,
    Quaternion,
    Rotation,
    Sym3,
    Transform,
    Vec3,
    at_rest,
)
from kinetree.spatial.vector import centripetal

SEEDS = range(5)


def rotations(rng: np.random.Generator) -> list[Rotation]:
    """Return one of each kind: a general one and one about each coordinate axis, and their exact matrices' makers."""
    angles = rng.uniform(-np.pi, np.pi, 3)
    about = [AxisRotation(k, float(np.cos(t)), float(np.sin(t))) for k, t in enumerate(angles)]
    matrix = SciPyRotation.from_quat(rng.normal(size=4)).as_matrix()
    return [GeneralRotation(Mat3.of(matrix.tolist())), *about]


def transforms(seed: int) -> list[Transform]:
    rng = np.random.default_rng(seed)
    return [Transform(E, Vec3(*rng.normal(size=3).tolist())) for E in rotations(rng)]


def numbers(seed: int, n: int) -> list[float]:
    return np.random.default_rng([seed, n]).normal(size=n).tolist()


def sym(six: list[float]) -> np.ndarray:
    return dense.matrix(Sym3(*six).rows)


def articulated(seed: int) -> tuple[ArticulatedInertia, np.ndarray]:
    x = numbers(seed, 21)
    M, H, I = Sym3(*x[:6]), Mat3.of([x[6:9], x[9:12], x[12:15]]), Sym3(*x[15:])
    D = np.block([[dense.matrix(I.rows), dense.matrix(H.rows)], [dense.matrix(H.rows).T, dense.matrix(M.rows)]])
    return ArticulatedInertia(M, H, I), D


def dense_articulated(A: ArticulatedInertia) -> np.ndarray:
    I, H, M = (dense.matrix(part.rows) for part in (A.I, A.H, A.M))
    return np.block([[I, H], [H.T, M]])


# -- rotations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("seed", SEEDS)
def test_axis_rotation_is_the_general_rotation_of_its_matrix(k: int, seed: int) -> None:
    angle = np.random.default_rng(seed).uniform(-np.pi, np.pi)
    about = AxisRotation(k, float(np.cos(angle)), float(np.sin(angle)))
    turned = SciPyRotation.from_rotvec(angle * np.eye(3)[k]).as_matrix()
    assert_close(dense.of_rotation(about), turned.T, ulps=4)


@pytest.mark.parametrize("seed", SEEDS)
def test_rotations_change_coordinates(seed: int) -> None:
    for E in rotations(np.random.default_rng(seed)):
        D = dense.of_rotation(E)
        u, h, six = numbers(seed, 3), np.reshape(numbers(seed, 9), (3, 3)), numbers(seed, 6)
        assert_close(list(E.to_b(Vec3(*u))), D @ u, ulps=8)
        assert_close(list(E.to_a(Vec3(*u))), D.T @ u, ulps=8)
        assert_close(dense.matrix(E.mat_to_a(Mat3.of(h.tolist())).rows), D.T @ h @ D, ulps=16)
        assert_close(dense.matrix(E.sym_to_a(Sym3(*six)).rows), D.T @ sym(six) @ D, ulps=16)


@pytest.mark.parametrize("norm", [1.0, 2.0, 1e-3, 1e3, 1e-100, 1e100])
@pytest.mark.parametrize("seed", SEEDS)
def test_quaternion_of_any_norm_is_scipys_rotation(norm: float, seed: int) -> None:
    q = np.array(numbers(seed, 4))
    got = Quaternion(*(q * norm).tolist()).rotation()
    assert_close(dense.of_rotation(got).T, SciPyRotation.from_quat(q).as_matrix(), ulps=8)


def test_zero_quaternion_is_no_rotation() -> None:
    with np.errstate(all="ignore"):
        E = Quaternion(*np.zeros((4, 1))).rotation()
    assert np.isnan(dense.of_rotation(E)).all()


# -- motions and forces ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_cross_products(seed: int) -> None:
    v, m = numbers(seed, 6), numbers(seed + 100, 6)
    assert_close(list(Motion.of(v).cross(Motion.of(m))), dense.crm(v) @ m, ulps=8)
    assert_close(list(Motion.of(v).cross_force(Force.of(m))), dense.crf(v) @ m, ulps=8)
    assert_close(Motion.of(v).dot(Force.of(m)), np.dot(v, m), ulps=8, scale=float(np.abs(v) @ np.abs(m)))


@pytest.mark.parametrize("seed", SEEDS)
def test_transforms_of_motions_and_forces(seed: int) -> None:
    six = numbers(seed, 6)
    for X in transforms(seed):
        E, r = dense.of_rotation(X.E), np.array(list(X.r))
        assert_close(list(X @ Motion.of(six)), dense.motion_transform(E, r) @ six, ulps=16)
        assert_close(list(X @ Force.of(six)), dense.force_transform(E, r) @ six, ulps=16)
        assert_close(list(X.T @ Force.of(six)), dense.motion_transform(E, r).T @ six, ulps=16)


@pytest.mark.parametrize("seed", SEEDS)
def test_composition_inverse_and_chain(seed: int) -> None:
    for X1 in transforms(seed):
        for X2 in transforms(seed + 50):
            D = dense.of_transform(X2) @ dense.of_transform(X1)
            assert_close(dense.of_transform(X2 @ X1), D, ulps=16)
            assert_close(dense.of_transform(X1.inverse()) @ dense.of_transform(X1), np.eye(6), ulps=32)
            six = numbers(seed, 6)
            assert_close(list(Chain(X2, X1) @ Motion.of(six)), D @ six, ulps=32)
            assert_close(list(Chain(X2, X1).T @ Force.of(six)), D.T @ six, ulps=32)


@pytest.mark.parametrize("seed", SEEDS)
def test_placement_is_the_pose_of_b_in_a(seed: int) -> None:
    for X in transforms(seed):
        P = np.array(X.placement)
        point = np.array(numbers(seed, 3))
        in_a = P[:3, :3] @ point + P[:3, 3]
        assert_close(list(X.E.to_b(Vec3(*in_a.tolist()) - X.r)), point, ulps=32)
        again = Transform.placed(P[:3, :3].tolist(), P[:3, 3].tolist())
        assert again == X
        assert P[3].tolist() == [0, 0, 0, 1]


# -- inertias -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_inertia_from_com_is_the_shifted_inertia(seed: int) -> None:
    m, c, six = abs(numbers(seed, 1)[0]), numbers(seed, 3), numbers(seed, 6)
    X = dense.motion_transform(np.eye(3), c)
    at_com = dense.rigid_inertia(m, [0, 0, 0], sym(six))
    assert_close(dense.of_inertia(Inertia.from_com(m, c, sym(six).tolist())), X.T @ at_com @ X, ulps=8)


@pytest.mark.parametrize("seed", SEEDS)
def test_inertia_times_motion(seed: int) -> None:
    I = Inertia.from_parameters(numbers(seed, 10))
    v = numbers(seed, 6)
    assert_close(list(I @ Motion.of(v)), dense.of_inertia(I) @ v, ulps=16)
    assert list(Inertia.from_parameters(list(I))) == list(I)


@pytest.mark.parametrize("seed", SEEDS)
def test_inertia_back_through_a_transform(seed: int) -> None:
    I = Inertia.from_parameters(numbers(seed, 10))
    A, D = articulated(seed)
    for X in transforms(seed):
        XD = dense.of_transform(X)
        assert_close(dense.of_inertia(X.T @ I), XD.T @ dense.of_inertia(I) @ XD, ulps=32)
        assert_close(dense_articulated(X.T @ A), XD.T @ D @ XD, ulps=32)
        chain, XX = Chain(X, X), XD @ XD
        assert_close(dense.of_inertia(chain.T @ I), XX.T @ dense.of_inertia(I) @ XX, ulps=64)
        assert_close(dense_articulated(chain.T @ A), XX.T @ D @ XX, ulps=64)


@pytest.mark.parametrize("seed", SEEDS)
def test_articulated_inertia(seed: int) -> None:
    A, D = articulated(seed)
    B, E = articulated(seed + 1)
    a, U, s = numbers(seed, 6), numbers(seed + 2, 6), 0.7
    assert_close(list(A @ Motion.of(a)), D @ a, ulps=16)
    assert_close(dense_articulated(A + B), D + E, ulps=2)
    outer = A.minus_outer(Force.of(U), Force.of(U) * s)
    assert_close(dense_articulated(outer), D - s * np.outer(U, U), ulps=8)
    F = Force.of(U)
    for k, sign in product(range(6), (1.0, -1.0)):
        S = Motion.of([sign * (j == k) for j in range(6)])
        known, expected = A.with_product(S, F), D.copy()
        expected[k, :] = expected[:, k] = sign * np.array(U)
        assert_close(dense_articulated(known), expected, ulps=0)
    for other in (a, [2.0, 0, 0, 0, 0, 0], [1.0, 0, 0.5, 0, 0, 0]):
        assert A.with_product(Motion.of(other), F) is A
    I = Inertia.from_parameters(numbers(seed, 10))
    assert_close(dense_articulated(ArticulatedInertia.rigid(I)), dense.of_inertia(I), ulps=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_wrench_is_newton_and_euler(seed: int) -> None:
    I = Inertia.from_parameters(numbers(seed, 10))
    v, a = numbers(seed, 6), numbers(seed + 1, 6)
    D = dense.of_inertia(I)
    expected = D @ a + dense.crf(v) @ D @ v
    assert_close(list(I.wrench(Motion.of(v), Motion.of(a))), expected, ulps=64)


# -- inertial frames ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_mechanics_is_the_same_in_every_inertial_frame(seed: int) -> None:
    I = Inertia.from_parameters(numbers(seed, 10))
    v, a = Motion.of(numbers(seed, 6)), Motion.of(numbers(seed + 1, 6))
    still = at_rest(v, a)
    assert list(still[0].lin) == [0, 0, 0]
    assert_close(list(I.wrench(*still)), list(I.wrench(v, a)), ulps=64)


@pytest.mark.parametrize("seed", SEEDS)
def test_carry_is_the_transform_seen_at_rest(seed: int) -> None:
    v, a = at_rest(Motion.of(numbers(seed, 6)), Motion.of(numbers(seed + 1, 6)))
    for X in transforms(seed):
        expected = at_rest(X @ v, X @ a)
        got = X.carry(v, a)
        assert_close([*got[0], *got[1]], [*expected[0], *expected[1]], ulps=32)


@pytest.mark.parametrize("seed", SEEDS)
def test_centripetal(seed: int) -> None:
    w, r = numbers(seed, 3), numbers(seed + 1, 3)
    assert_close(list(centripetal(Vec3(*w), Vec3(*r))), np.cross(w, np.cross(w, r)), ulps=32)
