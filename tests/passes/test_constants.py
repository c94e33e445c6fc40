"""Constants that a type cannot hold: refused where they decide, rounded where they do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.joints import MOVING
from helpers.programs import traced
from helpers.trees import random_tree, toy
from kinetree.algorithms import ALGORITHMS
from kinetree.graph import Program
from kinetree.joints import Revolute
from kinetree.passes import check_constants, optimize
from kinetree.scalars.loops import repeat

REFUSED: dict[str, Callable[[Any], Any]] = {
    "added under a root": lambda x: (x * x + 1e-300) ** 0.5,
    "added to a divisor": lambda x: x / (x * x + 1e-300),
    "added to a divisor, among others": lambda x: 1.0 / (x * x - (1e-300 - x * 3.0)),
    "a sum squared": lambda x: ((x + 1e-150) * (x + 1e-150)) ** 0.5,
    "a divisor": lambda x: x / 3e-50,
    "a root of a multiple": lambda x: (x * -1e-60) ** 0.5,
    "a guard that is chosen": lambda x: 1.0 / kt.where(x < 1.0, 1e-60, x),
    "a divisor with a sign": lambda x: 1.0 / np.copysign(1e-60, x),
    "compared": lambda x: kt.where(x < 1e-50, 1.0, 2.0),
    "compared the other way": lambda x: kt.where(x >= 1e-50, 1.0, 2.0),
    "too large": lambda x: x + 1e39,
    "a factor too large": lambda x: x * -1e200,
    "in a loop": lambda x: repeat(
        lambda s: [1.0 / (s[0] * s[0] + 1e-300)], [x], until=lambda s: s[0] > 2.0, most=3, like=x
    )[0],
}
TAKEN: dict[str, Callable[[Any], Any]] = {
    "noise in a sum": lambda x: 2.0 + x * 3e-49 + (x * x + 1e-60),
    "noise in a factor below a line": lambda x: 1.0 / (2.0 + x * 3e-49),
    "the edges of float32": lambda x: (x * x + 1.5e-45) ** 0.5 + 3.4e38,
    "infinite itself": lambda x: kt.minimum(x, np.inf),
}


def program(f: Callable[[Any], Any]) -> Program:
    return optimize(traced(lambda x: [f(x[0])], 1))


@pytest.mark.parametrize("f", REFUSED.values(), ids=list(REFUSED))
def test_refused_in_float32_only(f: Callable[[Any], Any]) -> None:
    check_constants(program(f), "float64", "f")
    with pytest.raises(kt.ArgumentError, match=r"f: the constant \S+ is (0\.0|-?inf) in float32; call it with float64"):
        check_constants(program(f), "float32", "f")


@pytest.mark.parametrize("f", TAKEN.values(), ids=list(TAKEN))
def test_taken_in_both(f: Callable[[Any], Any]) -> None:
    for dtype in ("float64", "float32"):
        check_constants(program(f), dtype, "f")


@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_every_call_is_told(size: tuple[int, ...]) -> None:
    robot = kt.load("panda")

    @robot.compile
    def guarded(v):  # type: ignore[no-untyped-def]
        return v / np.sqrt(v @ v + 1e-200)

    v = np.zeros((*size, 7))
    np.testing.assert_array_equal(guarded(v), v)
    with pytest.raises(kt.ArgumentError, match=r"guarded: the constant 1e-200 is 0\.0 in float32"):
        guarded(v.astype(np.float32))


@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_a_robot_of_which_nothing_is_left_in_float32(size: tuple[int, ...]) -> None:
    links = {"arm": kt.Inertia.from_com(1e-30, (0.0, 0.0, 1e-20), [[1e-60, 0, 0], [0, 1e-60, 0], [0, 0, 1e-60]])}
    robot = kt.Robot(toy(("j base arm", Revolute((0, 1, 0))), links=links))
    q = np.zeros((*size, 1))
    assert np.isfinite(robot.forward_dynamics(q, q, q)).all()
    q = q.astype(np.float32)
    assert robot.mass_matrix(q).dtype == np.float32  # as near to 1e-60 as float32 has numbers
    with pytest.raises(kt.ArgumentError, match=r"forward_dynamics: the constant \S+ is (0\.0|inf) in float32"):
        robot.forward_dynamics(q, q, q)


def frames(robot: kt.Robot, function: Any) -> dict[str, str]:
    """Return a frame for every option that must be given."""
    options = [o for o in function.spec.options if o.required]
    return {o.name: robot.frame_names[-1 - k] for k, o in enumerate(options)}


def robots() -> dict[str, kt.Robot]:
    trees = {f"tree {seed}": kt.Robot(random_tree(seed, n=len(MOVING) + 1)) for seed in range(3)}
    return {name: kt.load(name) for name in ("panda", "ur5", "go2", "g1")} | trees


@pytest.mark.slow
@pytest.mark.parametrize(("name", "robot"), robots().items(), ids=lambda x: re.sub(r"\W", "", str(x))[:12])
def test_ordinary_robots_have_float32(name: str, robot: kt.Robot) -> None:
    for function in ALGORITHMS:
        f = getattr(robot.with_friction(), function)
        bound = f.bind(**frames(robot, f))
        check_constants(bound._kernels.program(bound._default), "float32", function)
