"""Joints that users define: the one of docs/joints.md held to the laws, and known to the disk cache by what it does."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.trees import toy
from kinetree.functions.of_robot import identity
from kinetree.joints import Joint, Revolute


@pytest.fixture(scope="module")
def slot() -> type[Joint]:
    """The class as the page defines it."""
    text = (Path(__file__).parents[2] / "docs" / "joints.md").read_text(encoding="utf-8")
    block = text[text.index(">>> from dataclasses") : text.index("```", text.index(">>> from dataclasses"))]
    names: dict[str, object] = {}
    exec("\n".join(line[4:] for line in block.splitlines()), names)  # the page's own code
    return names["EllipticSlot"]  # type: ignore[return-value]


def robot(joint: Joint) -> kt.Robot:
    links = dict.fromkeys(("pin", "arm"), kt.Inertia.from_com(2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.15])))
    return kt.Robot(toy(("slot base pin", joint), ("elbow pin arm", Revolute((0, 1, 1))), links=links))


def test_everything_works_with_it(slot: type[Joint]) -> None:
    r = robot(slot(0.3, 0.2))
    q, v, a = r.random_state(0, 5)
    tau = r.inverse_dynamics(q, v, a)
    assert_close(r.forward_dynamics(q, v, tau), a, ulps=2000)
    C, h, g = r.coriolis_matrix(q, v), r.bias_forces(q, v), r.gravity_forces(q)
    assert_close(np.einsum("nij,nj->ni", C, v), h - g, ulps=500)
    step = 1e-6
    M_dot = (r.mass_matrix(q + step * v) - r.mass_matrix(q - step * v)) / (2 * step)
    skew = M_dot - 2 * C
    np.testing.assert_allclose(skew, -np.swapaxes(skew, -1, -2), atol=1e-8)  # central differences
    J_dot = (r.jacobian(q + step * v, frame="arm") - r.jacobian(q - step * v, frame="arm")) / (2 * step)
    np.testing.assert_allclose(J_dot, r.jacobian_rate(q, v, frame="arm"), atol=1e-8)


def test_the_cache_knows_a_joint_by_what_it_does_wherever_its_code_is() -> None:
    """A base class, a helper or a constant may change while the class's own source does not."""

    class Geared(Revolute):
        ratio = 1.5

        def jcalc(self, q, v):  # type: ignore[no-untyped-def]
            state = Revolute.jcalc(self, [q[0] * self.ratio], [v[0] * self.ratio])
            return replace(state, S=(state.S[0] * self.ratio,))

    @dataclass(frozen=True)
    class Mine(Geared):
        pass

    model = robot(Mine((0, 0, 1))).model
    before = identity(model)
    assert identity(robot(Mine((0, 0, 1))).model) == before
    Geared.ratio = 1.7
    assert identity(model) != before
    assert math.isfinite(float(kt.Robot(model).gravity_forces([0.1, 0.2])[0]))


def test_the_cache_knows_the_difference_of_a_joint_and_a_joint_that_mimics() -> None:
    class Counted(Revolute):
        turns = 1.0

        def difference(self, q0, q1):  # type: ignore[no-untyped-def]
            return [(q1[0] - q0[0]) * self.turns]

        def jcalc(self, q, v):  # type: ignore[no-untyped-def]
            state = Revolute.jcalc(self, [q[0] * self.turns], [v[0] * self.turns])
            return replace(state, S=(state.S[0] * self.turns,))

    @dataclass(frozen=True)
    class OnlyDifference(Revolute):
        turns = 1.0
        difference = Counted.difference

    @dataclass(frozen=True)
    class Mine(Counted):
        pass

    follower = "follower one two", Mine(), {"mimic": ("leader", 0.5, 0.0)}
    differing, mimicking = robot(OnlyDifference()).model, toy(("leader base one", Revolute()), follower)
    before = identity(differing), identity(mimicking)
    OnlyDifference.turns = Counted.turns = 2.0
    assert identity(differing) != before[0]
    assert identity(mimicking) != before[1]


def test_parameters_that_are_no_fields_are_refused() -> None:
    class Plain(Joint):
        nq, nv = 1, 1
        jcalc, constraint_subspace = Revolute.jcalc, Revolute.constraint_subspace

    class Geared(Revolute):
        def __init__(self, ratio: float) -> None:
            super().__init__((0, 0, 1))
            object.__setattr__(self, "ratio", ratio)

    class Renamed(Revolute):
        @cached_property
        def computed(self) -> float:
            return 2.0

    for joint, what in ((Plain(), "Plain is not a dataclass"), (Geared(2.0), "ratio is not a field")):
        with pytest.raises(kt.ModelError, match=rf"joint 'slot': .*{what}.*@dataclass\(frozen=True\)"):
            robot(joint)
    joint = Renamed((0, 0, 1))
    assert joint.computed == 2.0
    assert robot(joint).nq == 2
