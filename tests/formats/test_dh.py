"""Denavit–Hartenberg parameters: the published Puma 560, kinematics from the definition, dynamics from energies."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.textbook import PUMA_QN, puma, puma_rows
from helpers.trees import page
from kinetree import Robot
from kinetree.algorithms import aba, crba, rnea
from kinetree.errors import ModelError
from kinetree.formats import NonPhysicalInertiaWarning
from kinetree.formats.chains import DHLink, model_from_dh
from kinetree.model import JointFriction, Model
from kinetree.spatial import Inertia

ZERO, ONE = np.zeros(6), np.ones(6)
FRICTION = JointFriction(damping=True, coulomb=True, smoothing=1e-6)


def test_puma_holds_the_published_gravity_load() -> None:
    got = page(rnea, puma(), PUMA_QN, ZERO, ZERO)
    np.testing.assert_allclose(got, [0, 31.6399, 6.0351, 0, 0.0283, 0], atol=5.1e-5)


@pytest.mark.parametrize(
    ("v", "a", "expected"),
    [  # the values that the Robotics Toolbox holds itself to, with friction and rotor inertia
        (0, 1, [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133]),
        (1, 1, [32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781]),
        (1, 0, [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648]),
    ],
)
def test_puma_inverse_dynamics_with_friction_and_rotors(v: float, a: float, expected: list[float]) -> None:
    model = replace(puma(), friction=FRICTION)
    np.testing.assert_allclose(page(rnea, model, PUMA_QN, v * ONE, a * ONE), expected, atol=6e-5)


def test_puma_inertia_matrix() -> None:
    expected = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0000, -0.0000],
        [-0.4044, 4.4137, 0.3509, 0.0000, 0.0024, 0.0000],
        [0.1006, 0.3509, 0.9378, 0.0000, 0.0015, 0.0000],
        [-0.0025, 0.0000, 0.0000, 0.1925, 0.0000, 0.0000],
        [0.0000, 0.0024, 0.0015, 0.0000, 0.1713, 0.0000],
        [-0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.1941],
    ]
    np.testing.assert_allclose(page(crba, puma(), PUMA_QN), expected, atol=5.1e-5)


def test_puma_forward_dynamics_with_friction() -> None:
    v, tau = np.array([0.1, 0.2, 0.8, 0.2, 0.5, 1.0]), np.array([1.0, 3.2, 1.8, 0.1, 0.7, 4.6])
    expected = [-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228]
    model = replace(puma(), friction=FRICTION)
    np.testing.assert_allclose(page(aba, model, PUMA_QN, v, tau), expected, atol=5.1e-5)


def test_puma_tells_of_its_first_link() -> None:
    with pytest.warns(NonPhysicalInertiaWarning, match="inertia without mass: link1"):
        model_from_dh(puma_rows(), name="Puma 560")


# -- against the definition --------------------------------------------------------------------------------------------


def rot(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(4)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T[[i, i, j, j], [i, j, i, j]] = c, -s, s, c
    return T


def shift(axis: str, distance: float) -> np.ndarray:
    T = np.eye(4)
    T["xyz".index(axis), 3] = distance
    return T


def link_pose(row: DHLink, q: float, convention: str) -> np.ndarray:
    theta, d = (row.theta, row.d + q) if row.prismatic else (row.theta + q, row.d)
    if convention == "standard":
        return rot("z", theta) @ shift("z", d) @ shift("x", row.a) @ rot("x", row.alpha)
    return rot("x", row.alpha) @ shift("x", row.a) @ rot("z", theta) @ shift("z", d)


def random_rows(seed: int, n: int = 5) -> list[DHLink]:
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        B = rng.normal(size=(3, 3)) * 0.1
        about_com = np.trace(B @ B.T) * np.eye(3) - B @ B.T  # of a second moment matrix: physical
        inertia = Inertia.from_com(rng.uniform(0.5, 3), (0.2 * rng.normal(size=3)).tolist(), about_com.tolist())
        theta, d, a, alpha = rng.normal(size=4).tolist()
        rows.append(DHLink(theta=theta, d=d, a=a, alpha=alpha, prismatic=k in (1, 4), inertia=inertia))
    return rows


def frame_poses(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    bodies = Robot(model).forward_kinematics(q)
    poses = {}
    for frame in model.frames:
        start = np.eye(4) if frame.body < 0 else bodies[frame.body]
        poses[frame.name] = start @ np.array(frame.X.placement)
    return poses


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_frames_are_where_the_definition_says(convention: str) -> None:
    rows, q = random_rows(1), np.array([0.3, -0.7, 1.9, 0.4, 0.2])
    tool, base = rot("x", 0.3) @ shift("z", 0.2), rot("z", 1.0) @ shift("x", 2.0)
    model = model_from_dh(rows, convention=convention, tool_pose=tool.tolist(), base_pose=base.tolist())
    poses, T = frame_poses(model, q), base
    for i, row in enumerate(rows):
        T = T @ link_pose(row, q[i], convention)
        assert_close(poses[f"frame{i + 1}"], T, ulps=20)
    assert_close(poses["tool"], T @ tool, ulps=20)
    assert_close(poses["base"], base, ulps=0)


def complex_pose(row: DHLink, q: complex, convention: str) -> np.ndarray:
    """The same pose with a complex coordinate; the part that moves is written out."""
    still = replace(row, theta=row.theta if row.prismatic else 0.0, d=0.0 if row.prismatic else row.d)
    fixed = link_pose(still, 0.0, convention)
    move = np.eye(4, dtype=complex)
    if row.prismatic:
        move[2, 3] = row.d + q
    else:
        angle = row.theta + q
        move[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return move @ fixed if convention == "standard" else fixed @ move


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_kinetic_energy_is_that_of_the_links(convention: str) -> None:
    """½ vᵀ M v against the links' own energies, their velocities by a complex step."""
    rows, q = random_rows(3), np.array([0.3, -0.7, 1.9, 0.4, 0.2])
    v = np.array([0.5, -1.0, 2.0, 0.3, 0.9])
    T, energy = np.eye(4), 0.0
    for row, x, rate in zip(rows, q, v, strict=True):
        T = T @ complex_pose(row, x + 1e-30j * rate, convention)
        dT, R, I = T.imag / 1e-30, T[:3, :3].real, row.inertia
        assert I is not None
        wx = R.T @ dT[:3, :3]
        w, u = np.array([wx[2, 1], wx[0, 2], wx[1, 0]]), R.T @ dT[:3, 3]
        h, J = np.array([*I.h]), np.array([list(r) for r in I.I.rows])
        energy += 0.5 * (w @ J @ w + I.m * u @ u) + h @ np.cross(u, w)
    M = page(crba, model_from_dh(rows, convention=convention), q)
    assert_close(0.5 * v @ M @ v, energy, ulps=100)


@pytest.mark.filterwarnings("ignore::kinetree.formats.NonPhysicalInertiaWarning")
def test_rotor_inertia_counts_with_the_square_of_the_gear_ratio() -> None:
    without = model_from_dh([replace(row, rotor_inertia=0.0) for row in puma_rows()])
    rotors = np.diag([row.rotor_inertia * row.gear_ratio**2 for row in puma_rows()])
    assert_close(page(crba, puma(), PUMA_QN) - page(crba, without, PUMA_QN), rotors, ulps=10)


def test_right_angles_are_exact() -> None:
    """A twist of π/2 leaves structural zeros, not 6e-17."""
    numbers = [x for body in puma().bodies for row in body.X_T.E.matrix.rows for x in row]
    assert set(numbers) == {-1.0, 0.0, 1.0}


# -- errors ------------------------------------------------------------------------------------------------------------


def test_errors_name_the_row() -> None:
    with pytest.raises(ModelError, match="row 2 of the DH table has alpha=nan"):
        model_from_dh([DHLink(a=1.0), DHLink(alpha=np.nan)])
    with pytest.raises(ModelError, match="row 1 of the DH table is a list"):
        model_from_dh([[0, 0, 0, pi]])  # type: ignore[list-item]
    with pytest.raises(ModelError, match="row 1 of the DH table has a float as inertia"):
        model_from_dh([DHLink(inertia=1.0)])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="convention='craig'"):
        model_from_dh([DHLink()], convention="craig")
    with pytest.raises(ModelError, match="no links"):
        model_from_dh([])
    with pytest.raises(ModelError, match="1 joint names are given for 2 joints"):
        model_from_dh([DHLink(), DHLink()], joint_names=["a"])
    with pytest.raises(ModelError, match="tool_pose is not a pose"):
        model_from_dh([DHLink()], tool_pose=np.diag([1.0, 1, 2, 1]).tolist())
