"""Task-space and operational-space dynamics, against dense linear algebra and against what they mean."""

from __future__ import annotations

import functools
import pickle
from functools import cache
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.frames import REFERENCES, times
from helpers.mechanisms import at
from helpers.trees import Array, chain, columns, page, random_states, random_tree, stacked
from kinetree.algorithms import ALGORITHMS, aba, crba, gravity_forces
from kinetree.algorithms.dynamics.task_space import (
    dynamically_consistent_inverse,
    null_space_projector,
    operational_inertia,
    operational_space_dynamics,
    task_space_dynamics,
)
from kinetree.algorithms.kinematics.frames import jacobian, jacobian_bias
from kinetree.joints import Prismatic, Revolute, Spherical
from kinetree.model import Model
from kinetree.spatial import Inertia

SIX = [(kt.load("ur5").model, "tool0")]
MORE = [
    (kt.load("panda").model, "panda_hand_tcp"),
    (kt.load("g1").model, "left_rubber_hand"),
    (random_tree(4, n=9, joints=(Spherical(), Prismatic(), Revolute((1, 0, 0)))), None),
]
"""Arms of six joints, and others with more; None stands for the frame that the most joints move."""


def deepest(model: Model) -> str:
    def movers(frame: Any) -> int:
        i, n = frame.body, 0
        while i >= 0:
            n, i = n + len(model.bodies[i].v_index), model.bodies[i].parent
        return n

    return max(model.frames, key=movers).name


def cases(rows: list[tuple[Model, str | None]]) -> Any:
    found = [(model, frame or deepest(model)) for model, frame in rows]
    return pytest.mark.parametrize(("model", "frame"), found, ids=[m.name for m, _ in found])


def several(function: Any, model: Model, *arrays: Array, **options: str) -> list[Array]:
    """Run a page of several outputs on a batch."""
    return [stacked(x, arrays[0].shape[:-1]) for x in function(model, *map(columns, arrays), **options)]


def regular_states(model: Model, frame: str, seed: int) -> tuple[Array, Array, Array]:
    """Return the states among many in which the frame is farthest from singularities."""
    q, v, a = random_states(model, seed, size=40)
    condition = np.linalg.cond(page(jacobian, model, q, frame=frame))
    best = np.argsort(condition)[:8]
    assert condition[best].max() < 50
    return q[best], v[best], a[best]


def transposed(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)


@cases([*SIX, *MORE])
@pytest.mark.parametrize("reference", REFERENCES)
def test_the_frame_accelerates_as_its_equation_of_motion_says(model: Model, frame: str, reference: str) -> None:
    """Any joint forces τ act at the frame as F = J̄ᵀ τ: with V̇ from forward dynamics, F = Λ V̇ + μ + p."""
    q, v, tau = regular_states(model, frame, 3)
    options = {"frame": frame, "reference": reference}
    J, a = page(jacobian, model, q, **options), page(aba, model, q, v, tau)
    V_dot = times(J, a) + page(jacobian_bias, model, q, v, **options)
    Lambda, mu, p = several(operational_space_dynamics, model, q, v, **options)
    J_bar = page(dynamically_consistent_inverse, model, q, **options)
    scale = float(np.abs(Lambda).max() * np.abs(V_dot).max())
    M = page(crba, model, q)
    assert_close(
        times(transposed(J_bar), tau), times(Lambda, V_dot) + mu + p, ulps=20 * np.linalg.cond(M).max(), scale=scale
    )
    assert_close(p, times(transposed(J_bar), page(gravity_forces, model, q)), ulps=100)


# -- Frames where their Jacobian loses rank: the values of the pseudo-inverse, against NumPy's SVD; rows, damping ----


ROWS = {"pose": slice(0, 6), "position": slice(3, 6), "orientation": slice(0, 3)}
DISTANCES = [0.0, *(10.0**-k for k in range(3, 13))]
BAND = 0.7e-8, 1.1e-8  # of singular values relative to the largest: they may count or not


def planar_arm() -> Model:
    inertias = [Inertia.from_com(1.0 + k, [0.25, 0, 0], np.diag([0.01, 0.02, 0.02]).tolist()) for k in range(3)]
    return chain([Revolute((0, 0, 1))] * 3, inertias, [at(), at(0.5), at(0.5)], frames=[("tip link3", at(0.3))])


PANDA, UR5, PLANAR = kt.load("panda"), kt.load("ur5"), kt.Robot(planar_arm())


class Case(NamedTuple):
    """A frame, the rows that count, and a singular configuration."""

    robot: kt.Robot
    frame: str
    rows: str
    q: tuple[float, ...]

    @property
    def states(self) -> Array:
        """Configurations at and near the singular one."""
        direction = np.random.default_rng(1).normal(size=self.robot.nq)
        return np.array(self.q) + np.outer(DISTANCES, direction)


CASES = {
    "panda at zero": Case(PANDA, "panda_hand_tcp", "pose", (0.0,) * 7),
    "ur5 at zero": Case(UR5, "tool0", "pose", (0.0,) * 6),
    "ur5 with its wrist turned": Case(UR5, "tool0", "pose", (0.3, -1.0, 1.2, 0.4, np.pi, 0.5)),
    "planar arm folded": Case(PLANAR, "tip", "position", (0.3, np.pi, 0.0)),
}
singular_cases = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


@cache
def everything(robot: kt.Robot, frame: str, rows: str) -> Any:
    """Return one kernel of all functions of these rows: Λ, J̄, N, then μ and p, and η."""

    def functions(q: Any, v: Any, V: Any) -> dict[str, Any]:
        chosen = {"frame": frame, "rows": rows}
        dynamics = robot.operational_space_dynamics(q, v, **chosen)
        return {
            "Lambda": robot.operational_inertia(q, **chosen),
            "J_bar": robot.dynamically_consistent_inverse(q, **chosen),
            "N": robot.null_space_projector(q, **chosen),
            "mu": dynamics.mu,
            "p": dynamics.p,
            "eta": robot.task_space_dynamics(q, V, **chosen).eta,
        }

    return kt.compile(robot, functions, shapes={"V": (3 if rows != "pose" else 6,)})


def dense(
    robot: kt.Robot, frame: str, rows: str, q: Array, v: Array, V: Array, reference: str = "body"
) -> tuple[dict[str, Array], Array, float]:
    """Return what the functions should, J's rows without what counts as zero, and the smallest value that counts."""
    here = {"frame": frame, "reference": reference}
    J = robot.jacobian(q, **here)[ROWS[rows]]
    L = np.linalg.cholesky(robot.mass_matrix(q))
    U, s, W_T = np.linalg.svd(np.linalg.solve(L, J.T).T, full_matrices=False)
    counts = s > np.mean(BAND) * s[0]
    U, s, W_T = U[:, counts], s[counts], W_T[counts]
    Lambda, J_bar = U / s**2 @ U.T, np.linalg.solve(L.T, W_T.T) / s @ U.T
    without_gravity = robot.with_gravity((0.0, 0.0, 0.0))
    results = {"Lambda": Lambda, "J_bar": J_bar, "N": np.eye(robot.nv) - L @ W_T.T @ np.linalg.solve(L.T, W_T.T).T}
    results["mu"] = J_bar.T @ without_gravity.bias_forces(q, v) - Lambda @ robot.jacobian_bias(q, v, **here)[ROWS[rows]]
    results["p"] = J_bar.T @ robot.gravity_forces(q)
    v = J_bar @ V
    results["eta"] = J_bar.T @ robot.bias_forces(q, v) - Lambda @ robot.jacobian_bias(q, v, **here)[ROWS[rows]]
    return results, U @ U.T @ J, float(s[-1] / s[0])


@cases([*SIX, *MORE])
@pytest.mark.parametrize("reference", REFERENCES)
def test_regular_states_by_dense_algebra(model: Model, frame: str, reference: str) -> None:
    states, robot, options = regular_states(model, frame, 2), kt.Robot(model), {"frame": frame, "reference": reference}
    for q, v, _ in zip(*(x[:3] for x in states), strict=True):
        V = robot.jacobian(q, **options) @ v
        expected, _, smallest = dense(robot, frame, "pose", q, v, V, reference)
        state = q.tolist(), v.tolist()
        Lambda, mu, p = operational_space_dynamics(model, *state, **options)
        same, eta = task_space_dynamics(model, state[0], V.tolist(), **options)
        N = np.array(null_space_projector(model, state[0], frame=frame))
        got = {"Lambda": Lambda, "mu": mu, "p": p, "eta": eta, "N": N}
        got["J_bar"] = dynamically_consistent_inverse(model, state[0], **options)
        for name, right in expected.items():
            assert np.abs(got[name] - right).max() <= 1e-12 / smallest * max(1.0, np.abs(right).max()), name
        assert np.array_equal(Lambda, same)
        assert np.array_equal(Lambda, np.transpose(Lambda))
        assert np.array_equal(Lambda, operational_inertia(model, state[0], **options))
        assert np.linalg.matrix_rank(N, tol=1e-9) == model.nv - 6


@singular_cases
def test_the_values_of_the_pseudo_inverse(case: Case) -> None:
    """At a singularity and 1e-3 to 1e-12 away: within 1e-9, but for singular values at which the oracle loses that."""
    rng, (robot, frame, rows, _) = np.random.default_rng(2), case
    Q, v, V = case.states, rng.normal(size=robot.nv), rng.normal(size=3 if rows != "pose" else 6)
    together = everything(robot, frame, rows)(Q, v, V)
    compared = 0
    for k, q in enumerate(Q):
        expected, J, smallest = dense(robot, frame, rows, q, v, V)
        got = everything(robot, frame, rows)(q, v, V)
        for name, right in expected.items():
            x = getattr(got, name)
            np.testing.assert_array_equal(getattr(together, name)[k], x)  # the same bits beside others
            assert np.isfinite(x).all()
            tolerance = 1e-12 + (5e-14 if name in ("mu", "eta") else 4e-15) / smallest  # products with v cancel
            if tolerance < 1e-9:
                assert np.abs(x - right).max() <= tolerance * max(1.0, np.abs(right).max()), (name, q)
                compared += 1
        assert np.abs(got.N @ got.N - got.N).max() < 1e-10
        if smallest > 1e-5:
            assert np.abs(J @ got.N.T).max() < 1e-10
    assert compared >= 7 * len(expected)


def precise(case: Case, q: Array) -> tuple[Array, Array]:
    """Return Λ and J̄ from fifty digits."""
    with mpmath.workdps(50):
        x = [mpmath.mpf(float(x)) for x in q]
        J = mpmath.matrix(jacobian(case.robot.model, x, frame=case.frame)[ROWS[case.rows]])
        M_inverse = mpmath.inverse(mpmath.matrix(crba(case.robot.model, x)))
        E, U = mpmath.eigsy(J * M_inverse * J.T)
        Lambda = mpmath.zeros(J.rows)
        for k, e in enumerate(E):
            if e > max(E) * np.mean(BAND) ** 2:
                Lambda += U[:, k] * U[:, k].T / e
        J_bar = M_inverse * J.T * Lambda
        return tuple(np.array(A.tolist(), dtype=float) for A in (Lambda, J_bar))  # type: ignore[return-value]


@pytest.mark.parametrize("k", [0, 4, 5, 8])
def test_beside_the_ambiguous_band_in_fifty_digits(k: int) -> None:
    """The smallest singular values are 0, 7e-6, 7e-7 and 7e-10 of the largest."""
    case = CASES["panda at zero"]
    q = case.states[k - 1 if k else 0]
    got = everything(case.robot, case.frame, case.rows)(q, np.zeros(7), np.zeros(6))
    for x, right in zip((got.Lambda, got.J_bar), precise(case, q), strict=True):
        assert np.abs(x - right).max() < 1e-9 * np.abs(right).max()


@pytest.mark.parametrize("name", ["operational_inertia", "dynamically_consistent_inverse", "null_space_projector"])
def test_pages_on_floats_and_arrays_at_singularities(name: str) -> None:
    case = CASES["planar arm folded"]
    page, states = ALGORITHMS[name].function, np.array([*case.states, (0.3, 0.4, 0.5), (0.0, 0.0, 0.0)])
    expected = getattr(case.robot, name)(states, frame=case.frame, rows=case.rows)
    many = page(case.robot.model, list(states.T), frame=case.frame, rows=case.rows)
    for k, q in enumerate(states):
        one = np.array(page(case.robot.model, q.tolist(), frame=case.frame, rows=case.rows))
        here = np.array([[np.broadcast_to(x, len(states))[k] for x in row] for row in many])
        for x in one, here:
            assert np.abs(x - expected[k]).max() <= 1e-7 * np.abs(expected[k]).max()


def test_single_precision_at_a_singularity() -> None:
    case = CASES["ur5 at zero"]
    N = UR5.null_space_projector(np.zeros(6, np.float32), frame="tool0")
    Lambda = UR5.operational_inertia(np.zeros(6, np.float32), frame="tool0")
    assert N.dtype == Lambda.dtype == np.float32
    right, _, _ = dense(UR5, case.frame, case.rows, np.zeros(6), np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(Lambda, right["Lambda"], atol=1e-4 * np.abs(right["Lambda"]).max())
    np.testing.assert_allclose(N @ N, N, atol=1e-5)


def test_frames_that_few_joints_move() -> None:
    """Panda's fifth link has five joints, the planar arm three for six rows, the base none."""
    q, v = np.array([0.3, -1.0, 0.5, -1.4, 0.8, 0.5, 0.1]), np.ones(7)
    Lambda = PANDA.operational_inertia(q, frame="panda_link5")
    right, _, _ = dense(PANDA, "panda_link5", "pose", q, v, np.ones(6))
    np.testing.assert_allclose(Lambda, right["Lambda"], atol=1e-12 * np.abs(Lambda).max())
    assert np.linalg.matrix_rank(Lambda, tol=1e-10) == 5
    np.testing.assert_array_equal(PANDA.operational_inertia(q, frame="panda_link0"), np.zeros((6, 6)))
    np.testing.assert_array_equal(PANDA.null_space_projector(q, frame="panda_link0"), np.eye(7))
    bent = np.array([0.3, 0.4, 0.5])
    Lambda = PLANAR.operational_inertia(bent, frame="tip")
    assert np.linalg.matrix_rank(Lambda) == 3
    assert not Lambda[[0, 1, 5]].any()  # it cannot leave its plane
    np.testing.assert_allclose(PLANAR.null_space_projector(bent, frame="tip"), np.zeros((3, 3)), atol=1e-13)
    assert PLANAR.operational_inertia(bent, frame="tip", rows="position")[2].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("rows", ROWS)
def test_not_a_number_is_no_singularity(rows: str) -> None:
    assert np.isnan(PLANAR.operational_inertia(np.full(3, np.nan), frame="tip", rows=rows)).any()


def test_damping_is_an_input() -> None:
    """``(J M⁻¹ Jᵀ + d² 1)⁻¹``, at a singularity and beside it; a batch of numbers; 0 is none."""
    Q, V = CASES["planar arm folded"].states[:3], np.array([0.2, -0.1, 0.3])
    for damping in 0.1, 1e-4:
        for q in Q:
            J, M = PLANAR.jacobian(q, frame="tip")[3:], PLANAR.mass_matrix(q)
            right = np.linalg.inv(J @ np.linalg.solve(M, J.T) + damping**2 * np.eye(3))
            J_bar = np.linalg.solve(M, J.T) @ right
            chosen = {"damping": damping, "frame": "tip", "rows": "position"}
            Lambda, eta = PLANAR.task_space_dynamics(q, V, **chosen)
            same, mu, p = PLANAR.operational_space_dynamics(q, J_bar @ V, **chosen)
            N = PLANAR.null_space_projector(q, **chosen)
            tolerance = 1e-13 / damping**2
            for got, expected in (
                (Lambda, right),
                (same, right),
                (PLANAR.dynamically_consistent_inverse(q, **chosen), J_bar),
                (N, np.eye(3) - J.T @ J_bar.T),
                (p, J_bar.T @ PLANAR.gravity_forces(q)),
                (eta, mu + p),
            ):
                assert np.abs(got - expected).max() < tolerance * max(1.0, np.abs(expected).max())
    none, some = PLANAR.operational_inertia(Q[1], [0.0, 0.1], frame="tip", rows="position")
    np.testing.assert_allclose(none, PLANAR.operational_inertia(Q[1], frame="tip", rows="position"), rtol=1e-9)
    np.testing.assert_array_equal(some, PLANAR.operational_inertia(Q[1], 0.1, frame="tip", rows="position"))


@pytest.mark.parametrize("rows", ["position", "orientation"])
def test_rows(rows: str) -> None:
    """They are selected before the inverse is taken; the shapes are theirs, however the function is called."""
    q, v = np.array([0.3, -1.0, 1.2, 0.4, 0.8, 0.5]), np.full(6, 0.5)
    right, _, _ = dense(UR5, "tool0", rows, q, v, v[:3])
    got = everything(UR5, "tool0", rows)(q, v, v[:3])
    for name, expected in right.items():
        np.testing.assert_allclose(getattr(got, name), expected, rtol=1e-11, atol=1e-12 * np.abs(expected).max())
    f = UR5.operational_inertia
    bound, out = f.bind(frame="tool0", rows=rows), np.empty((2, 3, 3))
    assert f(np.array([q, q]), frame="tool0", rows=rows, out=out) is out
    for Lambda in (*out, bound(q), f.bind(frame="tool0")(q, rows=rows), f.bind(rows=rows)(q, frame="tool0")):
        np.testing.assert_array_equal(Lambda, bound(q))
    f.warmup(frame="tool0", rows=rows)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(bound))(q), bound(q))
    both = np.array([q, np.zeros(6)])  # also where a loop is part of the user's function
    np.testing.assert_array_equal(UR5.compile(lambda q: f(q, frame="tool0", rows=rows))(both), bound(both))
    loaded = kt.compile(UR5, "operational_inertia", inputs=[kt.payload("tool0", name="load")])
    np.testing.assert_array_equal(loaded(q, np.zeros(10), frame="tool0", rows=rows), bound(q))
    assert f(q, frame="tool0").shape == f(q, frame="tool0", rows="pose").shape == (6, 6)
    with pytest.raises(kt.ArgumentError, match="rows is fixed to"):
        bound(q, rows="pose")
    with pytest.raises(kt.ArgumentError, match=r"V has shape \(6,\).*\(3,\)"):
        UR5.task_space_dynamics(q, v, frame="tool0", rows=rows)
    with pytest.raises(kt.ArgumentError, match="rows is 'linear', it must be 'pose' or 'position' or 'orientation'"):
        f(q, frame="tool0", rows="linear")


@pytest.mark.parametrize(
    ("robot", "frame", "rows"),
    [(UR5, "tool0", "pose"), (PANDA, "panda_hand", "pose"), (PANDA, "panda_hand", "position")],
    ids=str,
)
def test_manipulability(robot: kt.Robot, frame: str, rows: str) -> None:
    """The product of the singular values, also where it is small; 0 but for rounding at a singularity."""
    f = functools.partial(robot.manipulability, frame=frame, rows=rows)
    Q = robot.random_configuration(seed=3, size=20)
    s = np.linalg.svd(robot.jacobian(Q, frame=frame)[:, ROWS[rows]], compute_uv=False)
    np.testing.assert_allclose(f(Q), s.prod(axis=-1), rtol=1e-12 * (s[:, 0] / s[:, -1]).max())
    if rows == "pose":
        assert 0.0 <= f(np.zeros(robot.nq)) < 1e-15
    if robot is PANDA:
        assert (f(Q[0], frame="panda_link5") == 0.0) == (rows == "pose")  # five joints
        assert f(Q[0], frame="panda_link0") == 0.0
