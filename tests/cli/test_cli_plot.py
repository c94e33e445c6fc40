"""Limits, and the pictures that show them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.motion import Summary
from kinetree.drawing.motion import OVER, Picture

SLIDER = """<robot name="slider"><link name="rail"/>
<link name="cart"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="arm"><inertial><origin xyz="1 0 0"/><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="0" velocity="0"/></joint>
<joint name="swing" type="revolute"><parent link="cart"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="{effort}" velocity="1"/></joint></robot>"""


def test_limits_of_zero_are_no_limits(cli):
    Path("slider.urdf").write_text(SLIDER.format(effort=0))
    code, out, _ = cli("slider.urdf", "-o", "made.npz")
    assert code == 0
    assert "OVER" not in out
    assert "warning" not in out
    assert np.ptp(np.load("made.npz")["q"], axis=0).min() > 0.5


@pytest.mark.parametrize(("effort", "dashed"), [(0, False), (1e4, False), (5, True)])
def test_a_picture_has_units_and_names_only_what_is_drawn(cli, effort, dashed):
    pytest.importorskip("matplotlib")
    Path("slider.urdf").write_text(SLIDER.format(effort=effort))
    assert cli("slider.urdf", "--plot", "tau.svg")[0] == 0
    svg = Path("tau.svg").read_text(encoding="utf-8")
    assert "<!-- slide, N -->" in svg
    assert "<!-- swing, N·m -->" in svg
    assert ("dashed: effort limits" in svg) is dashed
    assert ("red: samples over them" in svg) is ('id="over swing"' in svg) is dashed
    assert "over slide" not in svg
    assert svg.count("<!-- t (s) -->") == 2  # one under each column, and none beside
    assert "<!-- slider: joint torques and forces" in svg


@pytest.mark.parametrize(("part", "colour"), [(0.9, OVER), (1.0, "black"), (1.1, "black")])
def test_the_name_of_a_joint_is_red_where_it_is_over_its_limit(part, colour):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    robot = kt.load("ur5")
    q, v, a = robot.random_state(seed=0, size=10)
    tau = robot.inverse_dynamics(q, v, a)
    picture = Picture(robot.with_limits(effort=part * np.abs(tau).max(axis=0)))
    picture.add({"tau": tau}, 0.01 * np.arange(10))
    picture.draw(figure)
    forces = Summary(picture.robot).add({"q": q, "v": v, "tau": tau}, np.arange(10)).forces()
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


def test_a_window_without_a_display_is_an_error(cli, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("matplotlib.pyplot.get_backend", lambda: "agg")
    code, _, err = cli("panda", "--plot", "show")
    assert code == 1
    assert "needs a display; give a file instead" in err


def test_without_matplotlib_the_extra_is_named(cli, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, err = cli("panda", "--plot", "tau.png")
    assert code == 1
    assert "pip install matplotlib" in err


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
