"""Derivatives of programs against the complex step and finite differences, loops included."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers.kernels import run_batch, run_single, same_bits
from helpers.programs import COMPUTED, random_program
from helpers.trees import columns, toy
from helpers.verify import verify
from kinetree.algorithms import ALGORITHMS, aba, rnea
from kinetree.functions.of_robot import robot_spec
from kinetree.graph.ops import OPS, interpret
from kinetree.passes import optimize
from kinetree.passes.adjoints import tangent
from kinetree.runtime.spec import Variant

SMOOTH = tuple(
    name for name in COMPUTED if OPS[name].straight_line and name not in ("floor", "ceil", "trunc", "rint")
    and OPS[name].partials is not None and not name.startswith(("select", "copysign", "abs"))
)  # fmt: skip


def derivative(program, x, dx):
    """The rates of all outputs by the tangent program, whose values must be the program's own."""
    arrays = [np.concatenate([np.ravel(a), np.ravel(b)]) for a, b in zip(x, dx, strict=True)]
    rates = []
    for both, alone in zip(interpret(verify(tangent(program)), arrays), interpret(program, x), strict=True):
        assert same_bits(both[: alone.size], np.ravel(alone))
        rates.append(both[alone.size :])
    return np.concatenate(rates)


def differences(program, x, dx, h):
    """Central differences of all outputs, refined once."""

    def at(s):
        return np.concatenate(
            [np.ravel(y) for y in interpret(program, [a + s * b for a, b in zip(x, dx, strict=True)])]
        )

    def central(s):
        return (at(s) - at(-s)) / (2 * s)

    return (4 * central(h / 2) - central(h)) / 3


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed):
    rng = np.random.default_rng(seed)
    program = random_program(seed, size=12, operations=SMOOTH)
    x = [rng.uniform(0.5, 1.5, port.shape) for port in program.inputs]
    dx = [rng.normal(size=port.shape) for port in program.inputs]
    got, wanted = derivative(program, x, dx), differences(program, x, dx, 1e-4)
    good = np.isfinite(got) & np.isfinite(wanted) & (np.abs(wanted) < 1e6)
    assert np.allclose(got[good], wanted[good], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("page", [rnea, aba])
def test_robots_against_the_complex_step(page):
    robot = kt.load("ur5")
    algorithm = next(
        a for a in ALGORITHMS.values() if a.name == {rnea: "inverse_dynamics", aba: "forward_dynamics"}[page]
    )
    program = robot_spec(robot.model, algorithm).trace(Variant((), (("f_ext_frame", "body"),), "float64"))
    rng = np.random.default_rng(0)
    x, dx = rng.normal(size=(3, 6)), rng.normal(size=(3, 6))
    wanted = np.imag(page(robot.model, *(columns(row) for row in x + 1e-200j * dx))) / 1e-200
    assert np.allclose(derivative(program, list(x), list(dx)), wanted, rtol=1e-11, atol=1e-11 * np.abs(wanted).max())


def test_loops_in_kernels():
    def f(a, b):
        """A loop whose number of iterations depends on the state, with a loop inside."""

        def body(x, k):
            inner = kt.repeat(lambda y: np.sin(y) + b[0] * x, x * 0.5, until=lambda y: y > 0.9, most=3)
            return x * 0.7 + inner * b[1], k + 1.0

        x, k = kt.repeat(body, (a, 0.0), until=lambda x, k: (k >= 6.0) | (x > 3.0), most=9)
        return x * b[2], k

    program = kt.compile(kt.load("ur5"), f, shapes={"a": (), "b": (3,)}).spec.program
    rng = np.random.default_rng(1)
    a, b = rng.uniform(0.1, 2.0, 9), rng.uniform(0.2, 0.9, (9, 3))
    da, db = rng.normal(size=9), rng.normal(size=(9, 3))
    both = optimize(tangent(program))
    x = [np.stack([a, da], 1), np.hstack([b, db])]
    results = [run_single(both, [u, v]) for u, v in zip(*x, strict=True)]
    for batch, single in zip(run_batch(both, x, 8), zip(*results, strict=True), strict=True):
        assert same_bits(batch, np.array(single))
    for i in range(9):
        wanted = differences(program, [a[i], b[i]], [da[i], db[i]], 1e-4)
        assert np.allclose(derivative(program, [a[i], b[i]], [da[i], db[i]]), wanted, rtol=1e-7, atol=1e-7)
        assert np.allclose([results[i][0][1], results[i][1][1]], wanted, rtol=1e-7, atol=1e-7)


def test_maps():
    robot = kt.Robot(_chain(31))
    program = robot_spec(robot.model, ALGORITHMS["mass_matrix_inverse"]).trace(Variant((), (), "float64"))
    assert "map" in program.op_count()
    rng = np.random.default_rng(2)
    q, dq = rng.normal(size=(2, 31))
    values, rates = run_single(optimize(tangent(program)), [np.concatenate([q, dq])])[0].reshape(2, 31, 31)
    h = 1e-5
    dM = (robot.mass_matrix(q + h * dq) - robot.mass_matrix(q - h * dq)) / (2 * h)
    wanted = -values @ dM @ values
    assert np.abs(rates - wanted).max() < 1e-6 * np.abs(wanted).max()  # 3.5e-7: the differences of M


def _chain(n):
    own = {"placement": [[1, 0, 0, 0.2], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], "armature": 0.5}
    return toy(*((f"j{i} {i} {i + 1}", kt.joints.Revolute(tuple(np.eye(3)[i % 3])), own) for i in range(n)))
