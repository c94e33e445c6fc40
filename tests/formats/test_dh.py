"""Chains: from Denavit–Hartenberg parameters, as the published Puma 560, and from screws, as in Modern Robotics."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest

from helpers import textbook as book
from helpers.dense import assert_close
from helpers.textbook import PUMA_QN, puma, puma_rows
from helpers.told import told
from helpers.trees import page, random_placement, random_tree
from kinetree import Robot
from kinetree.algorithms import aba, crba, forward_kinematics, rnea
from kinetree.errors import ModelError
from kinetree.formats import FormatWarning, NonPhysicalInertiaWarning
from kinetree.formats.chains import DHLink, _joint, model_from_dh, model_from_screws
from kinetree.joints import Helical, Mimic, Prismatic, Revolute
from kinetree.model import JointFriction, Model
from kinetree.modern_robotics import ScrewChain, adjoint, exponential
from kinetree.spatial import Inertia

ZERO, ONES = np.zeros(6), np.ones(6)
FRICTION = JointFriction(damping=True, coulomb=True, smoothing=1e-6)


def rubbing() -> Model:
    return replace(puma(), friction=FRICTION)


M_PUMA = [
    [3.6594, -0.4044, 0.1006, -0.0025, 0.0000, -0.0000],
    [-0.4044, 4.4137, 0.3509, 0.0000, 0.0024, 0.0000],
    [0.1006, 0.3509, 0.9378, 0.0000, 0.0015, 0.0000],
    [-0.0025, 0.0000, 0.0000, 0.1925, 0.0000, 0.0000],
    [0.0000, 0.0024, 0.0015, 0.0000, 0.1713, 0.0000],
    [-0.0000, 0.0000, 0.0000, 0.0000, 0.0000, 0.1941],
]
V_PUMA, TAU_PUMA = np.array([0.1, 0.2, 0.8, 0.2, 0.5, 1.0]), np.array([1.0, 3.2, 1.8, 0.1, 0.7, 4.6])
PUBLISHED_OF_PUMA = {  # what the Robotics Toolbox holds itself to: five digits, with friction and rotor inertia
    "gravity load": (rnea, puma, (ZERO, ZERO), [0, 31.6399, 6.0351, 0, 0.0283, 0]),
    "from rest": (rnea, rubbing, (ZERO, ONES), [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133]),
    "on the move": (rnea, rubbing, (ONES, ONES), [32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781]),
    "at constant speed": (rnea, rubbing, (ONES, ZERO), [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648]),
    "inertia": (crba, puma, (), M_PUMA),
    "acceleration": (aba, rubbing, (V_PUMA, TAU_PUMA), [-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228]),
}


@pytest.mark.parametrize("what", PUBLISHED_OF_PUMA)
def test_puma_is_the_published_one(what: str) -> None:
    function, model, rates, expected = PUBLISHED_OF_PUMA[what]
    np.testing.assert_allclose(page(function, model(), PUMA_QN, *rates), expected, atol=6e-5)


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


ONE = [np.eye(4)], [np.diag([1.0, 1, 1, 2, 2, 2])], np.eye(6)[:, [2]]
test_mistakes_are_told = told(
    ModelError,
    (lambda: model_from_dh([DHLink(a=1.0), DHLink(alpha=np.nan)]), "row 2 of the DH table has alpha=nan"),
    (lambda: model_from_dh([[0, 0, 0, pi]]), "row 1 of the DH table is a list"),  # type: ignore[list-item]
    (lambda: model_from_dh([DHLink(inertia=1.0)]), "row 1 of the DH table has a float as inertia"),  # type: ignore[arg-type]
    (lambda: model_from_dh([]), "no links"),
    (lambda: model_from_screws(*ONE, limits=[]), "0 limits are given for 1 joints"),
)


PUBLISHED = 6e-9
"""The docstrings of `modern_robotics` print eight decimals."""


def test_worked_example_without_the_wrench() -> None:
    """The functions of the book that take no wrench at the tip, on the compiled pages."""
    model, q, v, zero = book.three_link(), book.THETA, book.DTHETA, np.zeros(3)
    M = [
        [2.25433380e01, -3.07146754e-01, -7.18426391e-03],
        [-3.07146754e-01, 1.96850717e00, 4.32157368e-01],
        [-7.18426391e-03, 4.32157368e-01, 1.91630858e-01],
    ]
    g, c = [28.40331262, -37.64094817, -5.4415892], [0.26453118, -0.05505157, -0.00689132]
    np.testing.assert_allclose(page(crba, model, q), M, rtol=1e-8)
    np.testing.assert_allclose(page(rnea, model, q, zero, zero), g, atol=PUBLISHED)
    np.testing.assert_allclose(page(rnea, model.with_gravity((0, 0, 0)), q, v, zero), c, atol=PUBLISHED)


def tip_wrench_as_f_ext(model: Model, F_tip: np.ndarray) -> np.ndarray:
    """The book's F_tip acts on the surroundings in the tool's frame; f_ext on the last body in its own."""
    X = np.array(model.frame("tool").X.placement)
    f_ext = np.zeros((model.nb, 6))
    f_ext[-1] = -adjoint(np.linalg.inv(X)).T @ F_tip
    return f_ext


def test_worked_example_of_inverse_dynamics() -> None:
    model = book.three_link()
    tau = page(rnea, model, book.THETA, book.DTHETA, book.DDTHETA, f_ext=tip_wrench_as_f_ext(model, book.F_TIP))
    np.testing.assert_allclose(tau, [74.69616155, -33.06766016, -3.23057314], atol=PUBLISHED)


def test_worked_example_of_forward_dynamics() -> None:
    model, tau = book.three_link(), np.array([0.5, 0.6, 0.7])
    a = page(aba, model, book.THETA, book.DTHETA, tau, f_ext=tip_wrench_as_f_ext(model, book.F_TIP))
    np.testing.assert_allclose(a, [-0.97392907, 25.58466784, -32.91499212], atol=PUBLISHED)


def test_a_screw_that_is_no_unit_is_told() -> None:
    with pytest.warns(FormatWarning, match=r"screw 1 has the length 1\.41421"):
        model = model_from_screws(book.PLACEMENTS, book.INERTIAS, book.SCREWS)
    assert [type(body.joint) for body in model.bodies] == [Mimic, Revolute, Revolute]


# -- screws of every kind ----------------------------------------------------------------------------------------------


def random_chain(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return poses, inertias in link frames off the centres of mass, and screws in the link frames: R, P, H, R."""
    rng = np.random.default_rng(seed)
    M = np.array([random_placement(rng) for _ in range(5)])
    tree = random_tree(seed, n=4)
    G = np.array([dense_inertia(body.inertia) for body in tree.bodies])
    A = []
    for pitch in (0.0, None, 0.3, 0.0):
        w = rng.normal(size=3)
        w /= np.linalg.norm(w)
        A.append(np.r_[np.zeros(3), w] if pitch is None else np.r_[w, np.cross(rng.normal(size=3), w) + pitch * w])
    return M, G, np.array(A).T


def dense_inertia(inertia: object) -> np.ndarray:
    from helpers.dense import of_inertia

    return np.asarray(of_inertia(inertia))  # type: ignore[arg-type]


def homes(M: np.ndarray) -> list[np.ndarray]:
    out = [np.eye(4)]
    for T in M:
        out.append(out[-1] @ T)
    return out[1:]


def test_kinds_of_screws() -> None:
    model = model_from_screws(*random_chain(0), frame="link")
    assert [type(body.joint) for body in model.bodies] == [Revolute, Prismatic, Helical, Revolute]
    helix = model.bodies[2].joint
    assert isinstance(helix, Helical)
    assert helix.pitch == pytest.approx(0.3, rel=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_forward_kinematics_is_the_product_of_exponentials(seed: int) -> None:
    """T_i = e^{[S_1]θ_1} … e^{[S_i]θ_i} M_i, with the screws in {0}: MR eq. 4.14."""
    M, G, A = random_chain(seed)
    S = np.stack([adjoint(T) @ a for T, a in zip(homes(M), A.T, strict=False)], axis=1)
    theta = np.random.default_rng(seed).normal(size=4)
    model = model_from_screws(M, G, S)
    bodies, product = page(forward_kinematics, model, theta), np.eye(4)
    for i, home in enumerate(homes(M)[:4]):
        product = product @ exponential(S[:, i], theta[i])
        got = bodies[i] @ np.array(model.frame(f"frame{i + 1}").X.placement)
        assert_close(got, product @ home, ulps=40)
    tool = bodies[3] @ np.array(model.frame("tool").X.placement)
    assert_close(tool, product @ homes(M)[4], ulps=40)


@pytest.mark.parametrize("frame", ["space", "body"])
def test_screws_may_be_given_in_any_frame(frame: str) -> None:
    M, G, A = random_chain(3)
    to_space = [adjoint(T) @ a for T, a in zip(homes(M), A.T, strict=False)]
    given = to_space if frame == "space" else [adjoint(np.linalg.inv(homes(M)[4])) @ S for S in to_space]
    rng = np.random.default_rng(4)
    q, v, a = rng.normal(size=(3, 4))
    expected = page(rnea, model_from_screws(M, G, A, frame="link"), q, v, a)
    assert_close(page(rnea, model_from_screws(M, G, np.array(given).T, frame=frame), q, v, a), expected, ulps=300)


def test_there_and_back() -> None:
    """A robot described as a chain of screws, and read again, is the same robot."""
    joints = (Revolute((1, 0, 0)), Prismatic((0.6, -0.3, 0.7)), Helical((0, 1, 0), 0.2), Revolute((0.1, 0.2, -0.4)))
    rng = np.random.default_rng(5)
    M, G, A = random_chain(5)
    model = model_from_screws(M, G, A, frame="link")
    chain = ScrewChain.of(model, "tool")
    again = model_from_screws(chain.M, chain.G, chain.A, frame="link")
    q, v, a = rng.normal(size=(3, len(joints)))
    assert_close(page(rnea, again, q, v, a), page(rnea, model, q, v, a), ulps=300)


def test_base_pose_and_gravity_turn_together() -> None:
    M, G, A = random_chain(6)
    base = random_placement(np.random.default_rng(6))
    q, v, a = np.random.default_rng(7).normal(size=(3, 4))
    g = np.array([0.5, 1.0, -9.0])
    upright = model_from_screws(M, G, A, frame="link", gravity=g.tolist())
    moved = model_from_screws(M, G, A, frame="link", base_pose=base.tolist(), gravity=(base[:3, :3] @ g).tolist())
    assert_close(page(rnea, moved, q, v, a), page(rnea, upright, q, v, a), ulps=300)


def test_joint_parameters_reach_their_joints() -> None:
    M, G, A = random_chain(8)
    names = ["a", "b", "c", "d"]
    model = model_from_screws(
        M, G, A, frame="link", joint_names=names, armature=[1, 2, 3, 4], damping=0.5, friction=0.25
    )
    assert model.joint_names == tuple(names)
    assert [body.armature for body in model.bodies] == [(1.0,), (2.0,), (3.0,), (4.0,)]
    assert {(body.damping, body.friction) for body in model.bodies} == {((0.5,), (0.25,))}


def test_inertia_that_no_body_has_is_told() -> None:
    with pytest.warns(NonPhysicalInertiaWarning, match="triangle inequality violated: link1"):
        model_from_screws([np.eye(4)], [np.diag([1, 1, 3, 1, 1, 1])], np.eye(6)[:, [2]])


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_what_is_rounding_does_not_depend_on_the_unit_of_mass(unit: float) -> None:
    M, G, A = random_chain(0)
    uneven = np.eye(6) + np.eye(6, k=1)
    assert model_from_screws(M, unit * G * (1.0 + 1e-12 * uneven), A, frame="link").nv == 4
    with pytest.raises(ModelError, match=r"G\[1\] is not a spatial inertia"):
        model_from_screws(M, unit * G * (1.0 + 1e-6 * uneven), A, frame="link")


def test_the_point_of_an_axis_is_rounded_as_its_place_is_large() -> None:
    """Zeros are zeros, and a hinge a hinge, but for the rounding of 50 m."""
    for w in np.eye(3):
        along, beside = np.roll(w, 1), np.roll(w, 2)
        for rounding, zero in ((5e-14, True), (2e-13, False)):
            v = np.cross(50.0 * along + rounding * beside, w) + 5e-14 * w
            joint, point = _joint(0, np.array([*w, *v]))
            assert isinstance(joint, Revolute)
            assert (point @ beside == 0.0) == zero
            assert point @ along == pytest.approx(50.0)
