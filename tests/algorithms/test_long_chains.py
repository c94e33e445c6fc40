"""The mass matrix of many joints, whose columns are computed by loops."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from test_mimic import FOLLOWING, state

import kinetree as kt
from helpers.compiler import ALGORITHMS, trace
from helpers.dense import assert_close
from helpers.joints import MOVING
from helpers.pinocchio_oracle import build
from helpers.pinocchio_quantities import evaluate, on_rows
from helpers.trees import Array, page, random_inertia, random_placement, random_states, random_tree
from kinetree.algorithms import crba as mass_matrix
from kinetree.algorithms.dynamics import crba
from kinetree.algorithms.recursions import columns
from kinetree.joints import Prismatic, Revolute
from kinetree.model import Model, ModelBuilder
from kinetree.passes import optimize
from kinetree.runtime import set_num_threads


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
    monkeypatch.setattr(crba, "UNROLLED", 0)
    monkeypatch.setattr(columns, "SEGMENT", 3)


@pytest.mark.parametrize(("n", "most"), [(60, 12_000), (120, 25_000)])
def test_operations_grow_with_the_number_of_joints(n: int, most: int) -> None:
    """Straight-line code has some 14 to 33 for each of the n²/2 entries, which took seconds to compile."""
    count = optimize(trace(tree(n), ALGORITHMS["mass_matrix"])).op_count()
    assert count["map"] >= n / columns.SEGMENT - 2
    assert sum(count.values()) < most


@pytest.mark.parametrize("model", [*(random_tree(s, n=len(MOVING)) for s in range(3)), tree(14)], ids=lambda m: m.name)
def test_loops_do_the_same_arithmetic(model: Model, request: pytest.FixtureRequest) -> None:
    """Joints of all types; on NumPy's arrays, which nothing rearranges or fuses, to the last bit."""
    q, _, _ = random_states(model, 1)
    straight = page(mass_matrix, model, q)
    request.getfixturevalue("looped")
    np.testing.assert_array_equal(page(mass_matrix, model, q), straight)


def test_followers_add_up_in_loops(request: pytest.FixtureRequest) -> None:
    """The bodies of one coordinate hang in two branches, or one carries the other."""
    q = np.array([state(s)[0] for s in range(4)])
    long, one_q = tree(14, 2), random_states(tree(14, 2), 1)[0]
    straight = page(mass_matrix, FOLLOWING, q), page(mass_matrix, long, one_q)
    request.getfixturevalue("looped")
    assert_close(page(mass_matrix, FOLLOWING, q), straight[0], ulps=20)
    assert_close(page(mass_matrix, long, one_q), straight[1], ulps=20)


@pytest.mark.usefixtures("looped")
@pytest.mark.parametrize("followers", [0, 2])
def test_compiled_loops_have_the_same_bits_however_they_are_called(followers: int) -> None:
    """Alone, in batches of any length, and on several threads."""
    model = tree(14, followers)
    robot = kt.Robot(model)
    q, _, _ = robot.random_state(seed=1, size=3001)
    M = robot.mass_matrix(q)
    assert robot.mass_matrix.op_count["map"] > 3
    assert_close(M[:9], page(mass_matrix, model, q[:9]), ulps=100)
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
    their = build(model)
    q, _, _ = random_states(model, 3, size=5)

    def upper(model: pin.Model, data: pin.Data, q: Array) -> Array:
        X = np.triu(pin.crba(model, data, q))
        return X + np.triu(X, 1).T

    expected = on_rows(their, their.from_pin_v(evaluate(their, upper, q)))
    assert_close(kt.Robot(model).mass_matrix(q), expected, ulps=300)


def test_branches_left_to_the_recursion_have_no_columns() -> None:
    """Their joints would be in the loops of those that carry them; nothing uses these entries."""
    model = tree(14)
    held = {i for i in range(14) if i >= 10}
    q, _, _ = random_states(model, 4)
    whole, part = page(mass_matrix, model, q), page(crba.crba_without, model, q, branches=held)
    kept = [k for i, body in enumerate(model.bodies) if i not in held for k in body.v_index]
    np.testing.assert_array_equal(part[:, kept][:, :, kept], whole[:, kept][:, :, kept])
    assert np.count_nonzero(part[0]) <= len(kept) ** 2
