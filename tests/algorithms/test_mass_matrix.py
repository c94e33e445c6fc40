"""The mass matrix, its factors and its inverse; of many joints, whose columns are computed by loops."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from test_mimic import FOLLOWING, state

import kinetree as kt
from helpers.compiler import trace
from helpers.dense import assert_close
from helpers.joints import MOVING
from helpers.pinocchio_oracle import build
from helpers.trees import (
    Array,
    columns,
    page,
    random_inertia,
    random_placement,
    random_states,
    random_tree,
    stacked,
    toy,
)
from kinetree.algorithms import ALGORITHMS, crba
from kinetree.algorithms.dynamics import crba as crba_page
from kinetree.algorithms.dynamics import factorization
from kinetree.algorithms.dynamics import inverse as inverse_page
from kinetree.algorithms.dynamics.factorization import (
    BranchFactor,
    branch_factor,
    factorised,
    ltdl,
    mass_matrix_factor,
    solve_mass_matrix,
)
from kinetree.algorithms.dynamics.inverse import inverse_by_segments, mass_matrix_inverse
from kinetree.algorithms.recursions import columns as force_columns
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.errors import ModelError
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical, Universal
from kinetree.model import WORLD, Model, ModelBuilder
from kinetree.passes import optimize
from kinetree.runtime import set_num_threads
from kinetree.scalars import factorization as scalar_factorization
from kinetree.spatial import Inertia


def tree(n: int, followers: int = 0) -> Model:
    """Return a long branch of n joints with shorter ones beside it, whose last joints may follow the first."""
    rng = np.random.default_rng(n)
    builder = ModelBuilder("long")
    builder.add_link("link0")
    for i in range(n):
        builder.add_link(f"link{i + 1}", random_inertia(rng))
        axis = tuple(np.eye(3)[i % 3])
        builder.add_joint(
            f"joint{i}",
            parent=f"link{i // 2 if i % 9 == 8 else i - (i % 9 == 0 < i)}",
            child=f"link{i + 1}",
            joint=Prismatic(axis) if i % 7 == 6 else Revolute(axis),
            placement=random_placement(rng).tolist(),
            armature=0.1 * (i % 2),
            mimic=("joint1", -0.5, 0.1) if i >= n - followers else None,
        )
    return builder.build()


@pytest.fixture
def looped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the loops of many joints, with several segments, for few joints, which compile quickly."""
    monkeypatch.setattr(crba_page, "UNROLLED", 0)
    monkeypatch.setattr(force_columns, "SEGMENT", 3)


@pytest.mark.parametrize(("n", "most"), [(60, 12_000), (120, 25_000)])
def test_operations_grow_with_the_number_of_joints(n: int, most: int) -> None:
    """Straight-line code has some 14 to 33 for each of the n²/2 entries, which took seconds to compile."""
    count = optimize(trace(tree(n), ALGORITHMS["mass_matrix"])).op_count()
    assert count["map"] >= n / force_columns.SEGMENT - 2
    assert sum(count.values()) < most


@pytest.mark.parametrize("model", [*(random_tree(s, n=len(MOVING)) for s in range(3)), tree(14)], ids=lambda m: m.name)
def test_loops_do_the_same_arithmetic(model: Model, request: pytest.FixtureRequest) -> None:
    """Joints of all types; on NumPy's arrays, which nothing rearranges or fuses, to the last bit."""
    q, _, _ = random_states(model, 1)
    straight = page(crba, model, q)
    request.getfixturevalue("looped")
    np.testing.assert_array_equal(page(crba, model, q), straight)


def test_followers_add_up_in_loops(request: pytest.FixtureRequest) -> None:
    """The bodies of one coordinate hang in two branches, or one carries the other."""
    q = np.array([state(s)[0] for s in range(4)])
    long, one_q = tree(14, 2), random_states(tree(14, 2), 1)[0]
    straight = page(crba, FOLLOWING, q), page(crba, long, one_q)
    request.getfixturevalue("looped")
    assert_close(page(crba, FOLLOWING, q), straight[0], ulps=20)
    assert_close(page(crba, long, one_q), straight[1], ulps=20)


@pytest.mark.usefixtures("looped")
@pytest.mark.parametrize("followers", [0, 2])
def test_compiled_loops_have_the_same_bits_however_they_are_called(followers: int) -> None:
    """Alone, in batches of any length, and on several threads."""
    model = tree(14, followers)
    robot = kt.Robot(model)
    q, _, _ = robot.random_state(seed=1, size=3001)
    M = robot.mass_matrix(q)
    assert robot.mass_matrix.op_count["map"] > 3
    assert_close(M[:9], page(crba, model, q[:9]), ulps=100)
    np.testing.assert_array_equal(M, np.swapaxes(M, -1, -2))
    for k in range(13):
        np.testing.assert_array_equal(robot.mass_matrix(q[k]), M[k])
        np.testing.assert_array_equal(robot.mass_matrix(q[:k]), M[:k])
    try:
        for threads in (1, 3):
            set_num_threads(threads)
            np.testing.assert_array_equal(robot.mass_matrix(q), M)
    finally:
        set_num_threads(None)


@pytest.mark.usefixtures("looped")
def test_loops_inside_loops() -> None:
    """In the body of `repeat`, M belongs to that body."""
    robot = kt.Robot(tree(9))
    q, v, _ = robot.random_state(seed=2)
    M = robot.mass_matrix(q)
    steps = kt.compile(robot, lambda q, v: kt.repeat(lambda x: robot.mass_matrix(q) @ x, v, most=2))
    np.testing.assert_allclose(steps(q, v), M @ M @ v, rtol=1e-12)


def test_sixty_joints_are_pinocchios() -> None:
    """With the real limits."""
    model = tree(60)
    q, _, _ = random_states(model, 3, size=5)
    assert_close(kt.Robot(model).mass_matrix(q), build(model).mass_matrix(q), ulps=300)


def test_branches_left_to_the_recursion_have_no_columns() -> None:
    """Their joints would be in the loops of those that carry them; nothing uses these entries."""
    model = tree(14)
    held = {i for i in range(14) if i >= 10}
    q, _, _ = random_states(model, 4)
    whole, part = page(crba, model, q), page(crba_page.crba_without, model, q, branches=held)
    kept = [k for i, body in enumerate(model.bodies) if i not in held for k in body.v_index]
    np.testing.assert_array_equal(part[:, kept][:, :, kept], whole[:, kept][:, :, kept])
    assert np.count_nonzero(part[0]) <= len(kept) ** 2


# -- Factors and inverse of the mass matrix --------------------------------------------------------------------------


Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
FOUR = [random_tree(s, n=len(MOVING)) for s in range(4)]
trees = pytest.mark.parametrize("model", FOUR, ids=lambda m: m.name)
trees_and_followers = pytest.mark.parametrize("model", [*FOUR, FOLLOWING], ids=lambda m: m.name)
"""The bodies of one coordinate hang in two branches of the last, so that M has more entries than the tree."""


def factors(model: Model, q: Array) -> tuple[Array, Array]:
    L, D = mass_matrix_factor(model, columns(q))
    return stacked(L, q.shape[:-1]), stacked(D, q.shape[:-1])


def largest_condition(M: Array) -> float:
    return float(np.linalg.cond(M).max())


def carried(model: Model) -> Array:
    """Return whether velocity k is that of a joint that carries, or is, the joint of velocity l: [l, k]."""
    out = np.zeros((model.nv, model.nv), dtype=bool)
    for body in model.bodies:
        above: Any = body
        while above is not None:
            out[np.ix_(body.v_index, above.v_index)] = True
            above = None if above.parent == WORLD else model.bodies[above.parent]
    return out


@trees_and_followers
def test_factors_give_the_mass_matrix(model: Model) -> None:
    q, _, _ = random_states(model, 1)
    L, D = factors(model, q)
    assert_close(np.einsum("nki,nk,nkj->nij", L, D, L), page(crba, model, q), ulps=100)
    assert (D > 0).all()
    assert (np.diagonal(L, axis1=-2, axis2=-1) == 1.0).all()


@trees
def test_nothing_fills_in(model: Model) -> None:
    """Also where a child's joint comes before its parent's in v."""
    L, _ = factors(model, random_states(model, 2)[0])
    assert not L[:, ~carried(model)].any()


@pytest.mark.parametrize(
    ("model", "inverse"), [*product(FOUR, (mass_matrix_inverse, inverse_by_segments)), (FOLLOWING, mass_matrix_inverse)]
)
def test_inverse(model: Model, inverse: Callable[[Model, Vector], Matrix]) -> None:
    q, _, _ = random_states(model, 4)
    M, M_inverse = page(crba, model, q), page(inverse, model, q)
    np.testing.assert_array_equal(M_inverse, np.swapaxes(M_inverse, -1, -2))
    identity = np.broadcast_to(np.eye(model.nv), M.shape)
    assert_close(M @ M_inverse, identity, ulps=largest_condition(M))


@trees
def test_solution_has_a_small_residual(model: Model) -> None:
    """Backward stable: the error of M x is of the size of rounding, whatever the condition of M."""
    q, b, _ = random_states(model, 5)
    M, x = page(crba, model, q), page(solve_mass_matrix, model, q, b)
    size = float((np.abs(M) @ np.abs(x)[..., None]).max())
    assert_close(np.einsum("nij,nj->ni", M, x), b, ulps=50, scale=size)


def test_a_light_body_that_carries_heavy_ones_costs_no_digits_in_segments() -> None:
    """If what a joint takes out of a mobility were left in the sums, eight digits would be lost."""
    ball, light = (Inertia.from_com(1.0, (0.0, 0.0, 0.0), (moment * np.eye(3)).tolist()) for moment in (1.0, 1e-9))
    links = {"1": light, "2": ball, "3": ball, "4": ball}
    model = toy(*((f"j{k} {k} {k + 1}", Revolute(axis)) for k, axis in enumerate((Z, Z, Y, Z))), links=links)
    q, _, _ = random_states(model, 8)
    expected, found = page(mass_matrix_inverse, model, q), page(inverse_by_segments, model, q)
    scale = np.sqrt(np.einsum("nii,njj->nij", expected, expected))
    assert (np.abs(found - expected) <= 1e-14 * scale).all()


def test_any_symmetric_matrix_of_the_model_factorises() -> None:
    """The zeros are the matrix's own: a denser one than M fills in, and comes out right."""
    model = random_tree(11, n=6)
    A = np.random.default_rng(0).normal(size=(model.nv, model.nv))
    M = A @ A.T + np.eye(model.nv)
    _, _, L, D = ltdl(model, M.tolist())
    assert_close(np.array(L).T * D @ np.array(L), M, ulps=200)


def test_a_joint_that_moves_no_mass_is_named() -> None:
    model = toy(("knuckle base finger", Revolute((0, 0, 1))), links={"finger": None})
    for name in ("mass_matrix_inverse", "mass_matrix_factor", "solve_mass_matrix"):
        with pytest.raises(ModelError, match=r"'knuckle' meets no inertia"):
            trace(model, ALGORITHMS[name])


@pytest.mark.parametrize(
    ("name", "robot", "most"), [("mass_matrix_inverse", "g1", 11_000), ("solve_mass_matrix", "panda", 430)]
)
def test_the_sparsity_saves_operations(name: str, robot: str, most: int) -> None:
    """A dense factorisation and inverse of G1's M alone, 35 by 35, takes more than 20,000."""
    program = optimize(trace(kt.load(robot).model, ALGORITHMS[name]))
    assert sum(program.op_count().values()) <= most


@pytest.mark.parametrize("followers", [0, 2])
@pytest.mark.parametrize("n", [12, pytest.param(47, marks=pytest.mark.slow)])
def test_many_joints_are_solved_by_loops(n: int, followers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against dense solutions; alone and in a batch the bits are the same.

    With smaller limits and blocks few joints take the same ways, with several blocks and segments: those of the real
    limits take a minute to compile.
    """
    if n < 47:
        for page, name in ((factorization, "SQUARES"), (inverse_page, "FACTOR")):
            monkeypatch.setattr(page, "UNROLLED", 40)
            monkeypatch.setattr(page, f"UNROLLED_{name}", 40)
        monkeypatch.setattr(crba_page, "UNROLLED", 40)
        monkeypatch.setattr(scalar_factorization, "BLOCK", 4)
        monkeypatch.setattr(force_columns, "SEGMENT", 3)
    robot = kt.Robot(tree(n, followers))
    q, v, tau = robot.random_state(seed=1, size=5)
    M = robot.mass_matrix(q)
    cond = largest_condition(M)
    inverse, solved = robot.mass_matrix_inverse(q), robot.solve_mass_matrix(q, tau)
    L, D = robot.mass_matrix_factor(q)
    a = robot.forward_dynamics(q, v, tau)
    h = robot.bias_forces(q, v)
    scale = np.abs(np.linalg.inv(M)).max()
    eps = np.finfo(float).eps
    assert np.abs(inverse - np.linalg.inv(M)).max() <= 20 * eps * cond * scale
    assert np.abs(solved - np.linalg.solve(M, tau[..., None])[..., 0]).max() <= 20 * eps * cond * np.abs(solved).max()
    assert np.abs(np.einsum("nki,nk,nkj->nij", L, D, L) - M).max() <= 100 * eps * np.abs(M).max()
    assert np.abs(a - np.linalg.solve(M, (tau - h)[..., None])[..., 0]).max() <= 20 * eps * cond * np.abs(a).max()
    assert "map" in robot.mass_matrix_inverse.op_count
    assert "map" in robot.mass_matrix_factor.op_count
    assert sum(robot.mass_matrix_inverse.op_count.values()) < 60_000
    for k in range(5):
        assert np.array_equal(robot.mass_matrix_inverse(q[k]), inverse[k])
        assert np.array_equal(robot.solve_mass_matrix(q[k], tau[k]), solved[k])
        assert np.array_equal(robot.mass_matrix_factor(q[k]).L, L[k])
    assert np.array_equal(inverse, np.swapaxes(inverse, -1, -2))


# -- `BranchFactor`: the factors of M with some branches as a recursion are those of M as a matrix -------------------


JOINTS = (Revolute((0, 1, 0)), Prismatic((0.6, -0.3, 0.7)), Spherical(), Universal(), Revolute((0.1, 0.2, -0.5)))
TREES = {
    "fixed base": random_tree(3, n=10, joints=JOINTS),
    "floating": random_tree(1, n=10, joints=(FreeFlyer(), *JOINTS)),
}


def subtree(model: Model, root: int) -> set[int]:
    """Return a body and all that it carries."""
    found = {root}
    for i in range(root, model.nb):
        if model.bodies[i].parent in found:
            found.add(i)
    return found


@pytest.mark.parametrize("tree", TREES)
def test_solutions_are_those_of_the_whole_matrix(tree: str) -> None:
    model = TREES[tree]
    q = random_states(model, 4, 1)[0][0].tolist()
    whole = factorised(model, q)
    b = np.random.default_rng(0).normal(size=model.nv).tolist()
    chosen = [subtree(model, i) for i in range(model.nb)] + [
        subtree(model, model.nb - 1) | subtree(model, model.nb // 2)
    ]
    for branches in chosen:
        factor = BranchFactor(model, q, branches)
        left = whole.solve_L_transposed(b)
        for mine, expected in (
            (factor.solve_L_transposed(b), left),
            (factor.solve_L(b), whole.solve_L(b)),
            (factor.solve_L(left, factor.D), whole.solve(b)),
        ):
            np.testing.assert_allclose(mine, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())
        moved = [k for i in range(model.nb) if i not in branches for k in model.bodies[i].v_index]
        np.testing.assert_allclose(np.array(factor.D)[moved], np.array(whole.D)[moved], rtol=1e-10)


def test_deep_branches_that_carry_nothing_moved_are_chosen() -> None:
    model = kt.load("g1").model
    q = random_states(model, 1, 1)[0][0].tolist()
    legs = {k for b in model.bodies for k in b.v_index if b.name.endswith(("ankle_roll_link", "knee_link"))}
    factor = branch_factor(model, q, legs)
    assert isinstance(factor, BranchFactor)
    names = [model.bodies[i].name for i in factor.branches]
    assert len(names) == 17
    assert all(any(part in name for part in ("waist", "torso", "shoulder", "elbow", "wrist")) for name in names)
    assert not isinstance(branch_factor(model, q, range(model.nv)), BranchFactor)
    shallow = kt.load("go2").model
    q = random_states(shallow, 1, 1)[0][0].tolist()
    assert not isinstance(branch_factor(shallow, q, shallow.bodies[3].v_index), BranchFactor)
