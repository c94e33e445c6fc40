"""Limits, the pictures that show them, and motions that are made within them."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.cli.commands.inverse_dynamics import random_series, usable_range
from kinetree.drawing.motion import OVER, draw_torques

SLIDER = """<robot name="slider"><link name="rail"/>
<link name="cart"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="arm"><inertial><origin xyz="1 0 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="0" velocity="0"/></joint>
<joint name="swing" type="revolute"><parent link="cart"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="0" velocity="1"/></joint></robot>"""


@pytest.fixture
def cli(shell):
    return partial(shell, "inverse-dynamics")


def test_limits_of_zero_are_no_limits(cli):
    Path("slider.urdf").write_text(SLIDER)
    code, out, _ = cli("slider.urdf", "-o", "made.npz")
    assert code == 0
    assert "OVER" not in out
    assert "warning" not in out
    assert np.ptp(np.load("made.npz")["q"], axis=0).min() > 0.5


@pytest.mark.parametrize(("part", "colour"), [(0.9, OVER), (1.0, "black"), (1.1, "black")])
def test_the_name_of_a_joint_is_red_where_it_is_over_its_limit(part, colour):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    robot = kt.load("ur5")
    q, v, a = robot.random_state(seed=0, size=10)
    tau = robot.inverse_dynamics(q, v, a)
    limited = robot.with_limits(effort=part * np.abs(tau).max(axis=0))
    draw_torques(limited, 0.01 * np.arange(10), tau, "t (s)", figure)
    forces = kt.Trajectory(limited, np.arange(10), q, v, tau=tau).to_dict()["joints"]
    assert {joint["samples_over"] > 0 for joint in forces} == {colour == OVER}
    assert [panel.title.get_color() for panel in figure.axes if panel.get_visible()] == [colour] * 6
    assert ("red: samples over them" in figure.get_suptitle()) is (colour == OVER)


def test_pictures(cli):
    pytest.importorskip("matplotlib")
    for suffix, magic in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        code, out, _ = cli("panda", "--plot", f"tau.{suffix}")
        assert code == 0
        assert f"drew tau.{suffix}" in out
        assert Path(f"tau.{suffix}").read_bytes().startswith(magic)
    svg = Path("tau.svg").read_text(encoding="utf-8")
    assert all(f"<!-- {name}, N·m -->" in svg for name in kt.load("panda").joint_names)


def test_a_window_without_a_display_and_a_picture_without_matplotlib_are_errors(cli, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("matplotlib.pyplot.get_backend", lambda: "agg")
    code, _, err = cli("panda", "--plot", "show")
    assert (code, "needs a display; give a file instead" in err) == (1, True)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = cli("panda", "--plot", "tau.png")
    assert (code, "pip install matplotlib" in err) == (1, True)


def test_long_curves_keep_their_peaks():
    pytest.importorskip("matplotlib")
    from kinetree.drawing.panels import POINTS, extremes

    rng = np.random.default_rng(6)
    when, tau = np.arange(50_001.0), rng.normal(size=(50_001, 3))
    some_when, some = extremes(when, tau)
    assert some.shape == some_when.shape == (POINTS, 3)
    np.testing.assert_array_equal(some.max(axis=0), tau.max(axis=0))
    np.testing.assert_array_equal(some.min(axis=0), tau.min(axis=0))
    assert (np.diff(some_when, axis=0) >= 0).all()
    np.testing.assert_array_equal(np.take_along_axis(tau, some_when.astype(int), axis=0), some)


# -- Motions that are made -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lower", "upper", "want"),
    [(-1, 2, (-1, 2)), (-np.inf, 2, (-4, 2)), (1, np.inf, (1, 7)), (-np.inf, np.inf, (-3, 3))],
)
def test_missing_limits_have_a_span(lower, upper, want):
    assert usable_range(lower, upper, 3) == want


def series(seed, t, lower=-1.0, upper=1.0, velocity=2.0):
    found = random_series(np.random.default_rng(seed), t, np.array([[lower, upper]]), np.array([velocity]))
    return [x[:, 0] for x in found]


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 2**32 - 1),
    lower=st.floats(-10, 10),
    width=st.floats(0.01, 10),
    velocity=st.one_of(st.floats(0.01, 50), st.just(float("inf"))),
    period=st.floats(0.1, 100),
)
def test_within_limits_and_fills_one_of_them(seed, lower, width, velocity, period):
    upper = lower + width
    q, v, _ = series(seed, np.linspace(0, period, 20001), lower, upper, velocity)
    assert lower < q.min()
    assert q.max() < upper
    assert np.abs(v).max() <= 0.92 * velocity
    reach = max((q.max() - q.min()) / width, np.abs(v).max() / velocity)
    assert reach == pytest.approx(0.9, rel=0.02)


def test_at_rest_at_both_ends_with_derivatives_and_seeds():
    t = np.linspace(0.0, 7.0, 70001)
    q, v, a = series(2, t)
    assert q[0] == pytest.approx(q[-1], abs=1e-14)
    np.testing.assert_allclose([v[[0, -1]], a[[0, -1]]], 0, atol=1e-12)
    for x, rate in ((q, v), (v, a)):
        np.testing.assert_allclose(np.gradient(x, t)[1:-1], rate[1:-1], rtol=0, atol=1e-6)
    np.testing.assert_array_equal(series(2, t)[0], q)
    assert not np.allclose(series(1, t)[0], q)
