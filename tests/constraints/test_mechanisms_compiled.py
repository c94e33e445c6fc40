"""Functions of a mechanism with further inputs, in users' functions, and with constraint types of a user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.mechanisms import Closed, four_bar
from kinetree.constraints.types import Row
from kinetree.model import Model

BOX = kt.Inertia(1.0, [0.1, 0.0, 0.0], np.eye(3) * 0.01)


@pytest.fixture(scope="module")
def linkage() -> Closed:
    return four_bar()


def test_inputs_count_in_functions_of_the_mechanism_and_of_its_tree(linkage: Closed) -> None:
    mech, tree, q, v = linkage.mech, linkage.mech.tree, linkage.q, np.zeros(3)

    @mech.compile(inputs=[kt.payload("coupler", name="load")])
    def held(q: kt.Array, v: kt.Array) -> kt.Array:
        return mech.forward_dynamics(q, v, tree.gravity_forces(q)).a

    np.testing.assert_allclose(held(q, v, BOX), 0.0, atol=1e-12)


def test_functions_by_their_names(linkage: Closed) -> None:
    mech, q = linkage.mech, linkage.q
    loaded = kt.Mechanism(mech.tree.attach(BOX, "coupler"), mech.constraints)
    meets = kt.compile(mech, "delassus_matrix", inputs=[kt.payload("coupler", name="load")])
    np.testing.assert_array_equal(meets(q, BOX), loaded.delassus_matrix(q))
    with pytest.raises(kt.ArgumentError, match="no function 'delassus', did you mean 'delassus_matrix'"):
        mech.compile("delassus")


def hold(factor: float, entries: int = 3) -> type[kt.Constraint]:
    """Return a user's constraint type, ``factor · q_0 = 0``, with this many entries of J."""

    @dataclass(frozen=True)
    class Hold(kt.Constraint):
        size = 1

        def check(self, model: Model) -> None: ...

        def rows(self, model: Model, q: Any, v: Any) -> list[Row]:
            return [Row([factor, *[0.0] * (entries - 1)], 0.0, q[0] * factor)]

    del kt.Constraint.registry["Hold"]
    return Hold


def test_a_users_constraint_that_changes_meets_no_old_code(linkage: Closed) -> None:
    first, second = (kt.Mechanism(linkage.mech.tree, [hold(factor)()]) for factor in (2.0, 3.0))
    assert first.model.digest == second.model.digest  # types have no number that would tell them apart
    assert [m.constraint_jacobian(linkage.q)[0, 0] for m in (first, second)] == [2.0, 3.0]


def test_a_users_constraint_of_another_shape_is_told(linkage: Closed) -> None:
    mech = kt.Mechanism(linkage.mech.tree, [hold(1.0, entries=2)(name="mine")])
    message = r"constraint 'mine' gives 1 rows with \[2\] entries in J; its size is 1, and nv = 3"
    with pytest.raises(kt.ModelError, match=message):
        mech.forward_dynamics(linkage.q, np.zeros(3), np.zeros(3))
