"""The closed form of the Newton–Euler equations: the book's example, the compiled algorithms, the recursion itself."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import textbook as book
from helpers.dense import assert_close
from helpers.told import told
from helpers.trees import page, random_inertia, random_placement, toy
from kinetree.algorithms import crba, rnea
from kinetree.errors import ArgumentError, ModelError
from kinetree.joints import Fixed, Helical, Joint, Prismatic, Revolute, Spherical
from kinetree.model import Model, ModelBuilder
from kinetree.modern_robotics import ClosedForm, ScrewChain, ad, adjoint, exponential

JOINTS: tuple[Joint, ...] = (
    Revolute((1, 0, 0)),
    Prismatic((0.6, -0.3, 0.7)),
    Helical((0.2, 0.5, -0.7), 0.3),
    Revolute((0.6, -0.3, 0.7)),
    Prismatic((0, 1, 0)),
    Revolute((0, 0, -1)),
)


def random_chain(seed: int, *, backwards: bool = False) -> Model:
    """Return a chain of all kinds of joints; backwards, the file has the last joint first."""
    rng = np.random.default_rng(seed)
    b = ModelBuilder(f"chain-{seed}")
    b.add_link("link-1", random_inertia(rng))
    specs = []
    for i, joint in enumerate(JOINTS):
        b.add_link(f"link{i}", random_inertia(rng))
        specs.append((f"joint{i}", f"link{i - 1}", f"link{i}", joint, random_placement(rng).tolist()))
    b.add_link("hand", random_inertia(rng))
    specs.append(("weld", "link5", "hand", Fixed(), random_placement(rng).tolist()))
    for name, parent, child, joint, placement in reversed(specs) if backwards else specs:
        b.add_joint(name, parent=parent, child=child, joint=joint, placement=placement)
    return b.build(base_pose=random_placement(rng).tolist(), gravity=(1.0, -2.0, -9.0))


def state(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(3, len(JOINTS)))


def test_the_book_s_description_comes_back() -> None:
    """Link frames are at the centres of mass in the example: M and G are found again from the model."""
    chain = ScrewChain.of(book.three_link(), "tool")
    assert_close(chain.M, book.PLACEMENTS, ulps=4)
    assert_close(chain.G, book.INERTIAS, ulps=4)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_same_dynamics_as_the_recursion(seed: int, backwards: bool) -> None:
    model, (q, v, a) = random_chain(seed, backwards=backwards), state(seed)
    form, zero = ClosedForm(model, q), np.zeros(len(JOINTS))
    assert_close(form.M, page(crba, model, q), ulps=300)
    assert_close(form.g, page(rnea, model, q, zero, zero), ulps=300)
    assert_close(form.c(v), page(rnea, model.with_gravity((0, 0, 0)), q, v, zero), ulps=600)
    assert_close(form.tau(v, a), page(rnea, model, q, v, a), ulps=300)


def test_w_is_nilpotent_and_l_is_its_sum() -> None:
    form = ClosedForm(random_chain(1), state(1)[0])
    n = len(JOINTS)
    assert np.linalg.matrix_power(form.W, n - 1).any()
    assert not np.linalg.matrix_power(form.W, n).any()
    assert_close(form.L @ (np.eye(6 * n) - form.W), np.eye(6 * n), ulps=200, scale=float(np.abs(form.L).max()))


def recursion(chain: ScrewChain, q: np.ndarray, v: np.ndarray, a: np.ndarray, tip: np.ndarray, V0, dV0) -> np.ndarray:
    """MR's recursive Newton–Euler algorithm (section 8.3), link by link."""
    n, M = chain.n, chain.M
    T = [exponential(chain.A[:, i], -q[i]) @ np.linalg.inv(M[i]) for i in range(n)] + [np.linalg.inv(M[n])]
    V, dV, twists = V0, dV0, []
    for i in range(n):
        A = chain.A[:, i]
        V = adjoint(T[i]) @ V + A * v[i]
        dV = adjoint(T[i]) @ dV + ad(V) @ A * v[i] + A * a[i]
        twists.append((V, dV))
    F, tau = tip, np.zeros(n)
    for i in reversed(range(n)):
        V, dV = twists[i]
        F = adjoint(T[i + 1]).T @ F + chain.G[i] @ dV - ad(V).T @ chain.G[i] @ V
        tau[i] = F @ chain.A[:, i]
    return tau


def test_moving_base_and_tip_wrench() -> None:
    model, (q, v, a) = random_chain(3), state(3)
    chain = ScrewChain.of(model, "hand")
    V0, dV0, tip = np.random.default_rng(4).normal(size=(3, 6))
    got = ClosedForm(chain, q).tau(v, a, tip, V0, dV0)
    assert_close(got, recursion(chain, q, v, a, tip, V0, dV0), ulps=300)


@pytest.mark.parametrize("S", [[0, 0, 0, 1, 2, 3], [0.3, -1, 2, 1, 2, 3], [0, 0, 1, 0, 0, 0]])
def test_exponential_against_scipy(S: list[float]) -> None:
    from scipy.linalg import expm

    from helpers.dense import skew

    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = skew(S[:3]), S[3:]
    assert_close(exponential(np.array(S, dtype=float), 0.7), expm(0.7 * matrix), ulps=40)


# -- errors ------------------------------------------------------------------------------------------------------------


def chain(*joints: tuple[object, ...]) -> ScrewChain:
    return ScrewChain.of(toy(*joints))


FIRST, TREE = ("lead base a", Revolute()), random_chain(0)
FORM = ClosedForm(TREE, np.zeros(6))
test_mistakes_are_told = told(
    ArgumentError,
    (lambda: chain(FIRST, ("j a left", Revolute()), ("k a right", Revolute())), ModelError, "'right' branches off"),
    (lambda: chain(("socket base bob", Spherical())), ModelError, "joint 'socket' is a Spherical"),
    (lambda: chain(FIRST, ("copy a b", Revolute(), {"mimic": ("lead", 1, 0)})), ModelError, "joint 'copy' is a Mimic"),
    (lambda: ScrewChain.of(TREE, "link2"), ModelError, "frame 'link2' is not on the last link"),
    (lambda: ClosedForm(TREE, [0.0, 0.0]), r"theta has shape \(2,\), \(6,\) is needed"),
    (lambda: FORM.tau(np.zeros(6), np.zeros(6), F_tip=np.zeros((2, 6))), "F_tip has shape"),
    (lambda: FORM.c([1.0]), "dtheta has shape"),
)


def test_a_rock_is_a_chain() -> None:
    rock = ModelBuilder("rock")
    rock.add_link("base")
    assert np.array_equal(ScrewChain.of(rock.build()).M, [np.eye(4)])
