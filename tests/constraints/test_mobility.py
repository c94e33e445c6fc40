"""What constraints leave free in `helpers.mechanisms`: by their sources, and by singular value decompositions."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import kinetree as kt
from helpers.mechanisms import Closed, bricard, delta, five_bar_leg, four_bar, n_four_bar, slider_crank, stewart
from kinetree.robot.mechanism_text import facts, print_mechanism
from kinetree.robot.mobility import pivots

CASES: dict[str, tuple[Closed, int, int]] = {
    "four-bar": (four_bar(), 1, -2),
    "slider-crank": (slider_crank(), 1, -2),
    "two four-bars": (n_four_bar(2), 1, -5),
    "two four-bars in a line": (n_four_bar(2, motor=0.0), 3, -5),
    "Bricard": (bricard(), 1, 0),
    "Stewart": (stewart(), 6, 6),
    "delta": (delta(), 3, 3),
    "leg": (five_bar_leg(), 2, -1),
    "floating leg": (five_bar_leg(floating=True), 8, 5),
}


@pytest.mark.parametrize("name", CASES)
def test_freedoms_and_the_choice_of_rows_and_joints(name: str) -> None:
    (mech, q), freedoms, counted = CASES[name]
    found = mech.mobility(q)
    assert (found.mobility, found.gruebler, found.rank) == (freedoms, counted, mech.nv - freedoms)
    rows = mech.model.constraint_rows(q.tolist())
    np.testing.assert_allclose([row.phi for row in rows], 0.0, atol=1e-15)
    J = np.array([list(row.J) for row in rows], dtype=float)
    np.testing.assert_allclose(J @ found.motions.T, 0.0, atol=1e-12)
    angles = found.motions / np.where(mech.model.turning, 1.0, mech.length)
    np.testing.assert_allclose(angles @ angles.T, np.eye(freedoms), atol=1e-12)
    names = mech.tree.v_names
    assert sorted((*found.dependent, *found.independent)) == sorted(names)
    dependent = [names.index(name) for name in found.dependent]
    assert np.linalg.cond(found.motions[:, [names.index(x) for x in found.independent]]) < 1e3
    implied = [mech.row_slices[name].start + i for name, some in found.redundant.items() for i in some]
    assert len(implied) == mech.nrows - found.rank
    kept = np.delete(J, implied, axis=0)[:, dependent]
    assert np.linalg.svd(kept, compute_uv=False)[-1] > 1e-3 * np.abs(J).max()


def test_bricards_sixth_hinge_counts_a_row_too_many() -> None:
    found = bricard().mech.mobility(bricard().q)
    assert [*found.redundant] == ["loop_end_anchor"]
    assert len(found.redundant["loop_end_anchor"]) == 1
    assert found.independent == ("hinge0",)
    assert str(found).startswith("mobility 1: 5 freedoms of the tree less rank 4 of 5 rows (counted, Grübler: 0)\n")


def test_a_delta_robots_platform_does_not_turn() -> None:
    assert delta().mech.mobility(delta().q).immobile == ("root.wx", "root.wy", "root.wz")


def test_a_second_weld_is_redundant_row_by_row_and_switched_off_is_not_there() -> None:
    mech, q = four_bar()
    twice = kt.Mechanism(mech.tree, [*mech.constraints, kt.Rod("coupler_tip", "ground", length=1.9, name="rod")])
    found = twice.mobility(q)
    assert found.mobility == 0
    assert found.immobile == ("motor", "elbow", "pivot")
    assert found.motions.shape == (0, 3)
    without = twice.mobility(q, active=[1, 0])
    assert (without.mobility, without.nrows) == (1, 5)
    none = twice.mobility(q, active=[0, 0])
    assert (none.mobility, none.nrows, none.redundant, none.dependent) == (3, 0, {}, ())
    assert "singular values: none" in str(none)


@pytest.mark.parametrize(
    ("q", "options", "message"),
    [
        (np.zeros((2, 3)), {}, r"q has shape \(2, 3\), \(3,\) is needed"),
        ([0.0, np.nan, 0.0], {}, "q holds a number that is not finite"),
        (np.zeros(3), {"active": [1, 0]}, r"active has shape \(2,\), \(1,\) is needed"),
        (np.zeros(3), {"tolerance": -1.0}, "tolerance is -1.0, it must be a positive"),
    ],
)
def test_bad_input(q: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.ArgumentError, match=message):
        four_bar().mech.mobility(q, **options)


def test_pivots_take_early_columns_of_similar_size() -> None:
    assert pivots(np.array([[1.0, 1.0, 3.0, 0.0], [0.0, 0.0, 0.0, 1e-3]]), 2) == [0, 3]
    assert pivots(np.array([[1.0, 5.0, 0.0], [0.0, 0.0, 3.0]]), 2) == [0, 2]
    assert pivots(np.array([[0.01, 5.0, 0.0], [0.0, 0.0, 3.0]]), 2) == [1, 2]
    assert pivots(np.zeros((2, 0)), 0) == []


def test_many_rows_are_told() -> None:
    tree = four_bar().mech.tree
    many = kt.Mechanism(tree, [kt.Weld("coupler_tip", "rocker_tip", name=f"weld {k}") for k in range(7)])
    assert "42 rows are unrolled in compiled code" in str(many)
    assert "unrolled" not in str(kt.Mechanism(tree, many.constraints[:6]))


def test_a_mechanism_as_text_and_as_json() -> None:
    mech = four_bar().mech
    text = str(mech)
    assert "loop_coupler_tip_rocker_tip  loop: revolute  coupler_tip – rocker_tip     5" in text
    assert (
        "mobility 1: 3 freedoms of the tree less rank 2 of 5 rows (counted, Grübler: -2) (closed from neutral on)"
        in text
    )
    narrow = Console(file=io.StringIO(), width=50)
    print_mechanism(narrow, mech)
    found = facts(mech)
    assert found["closed"]
    assert found["constraints"][0]["rows"] == 5  # type: ignore[index]
    assert found["mobility"]["redundant"] == {"loop_coupler_tip_rocker_tip": [0, 1, 3]}  # type: ignore[index]
    open_one = kt.Mechanism(mech.tree, [kt.Rod("coupler_tip", "ground", length=9.0)])
    assert "it does not close, by 6" in str(open_one)


@pytest.mark.parametrize("name", ["four-bar", "Bricard", "Stewart", "delta"])
def test_independent_means_one_thing(name: str) -> None:
    """At a configuration at which they determine all others, those of the mechanism, as they are given to it too."""
    (mech, q), freedoms, _ = CASES[name]
    assert mech.mobility(q).independent == mech.independent
    if freedoms == 1:
        other = kt.Mechanism(mech.tree, mech.constraints, independent=[mech.tree.v_names[-1]])
        assert other.mobility(q).independent == other.independent == (mech.tree.v_names[-1],)


@pytest.mark.parametrize("wrong", [0.5, 2.0, -1.0])
def test_what_acts_is_one_or_zero(wrong: float) -> None:
    mech, q = four_bar()
    with pytest.raises(kt.ArgumentError, match="active holds"):
        mech.mobility(q, active=[wrong])
    assert mech.mobility(q, active=[False]).rank == 0
