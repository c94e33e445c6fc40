"""``kinetree simulate``: what it computes, writes, draws and says."""

import json
import re
from argparse import Namespace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.shell import SWING
from kinetree.cli.commands import simulate
from kinetree.cli.program import parse_arguments


@pytest.fixture
def cli(shell):
    Path("arm.urdf").write_text(SWING)
    return partial(shell, "simulate", "arm.urdf")


@pytest.mark.parametrize("suffix", ["csv", "npz", "parquet"])
def test_a_fall_is_written_and_summed_up(cli, suffix):
    code, out, err = cli("--q", 1.5, "--duration", 3, "--joints", "none", "-o", f"fall.{suffix}")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "arm: 3 s in 3000 steps of 0.001 s by semi_implicit_euler"
    assert "position" not in out
    assert "off by 0.00" in lines[3]
    assert lines[-1] == f"wrote fall.{suffix} (1001 samples of t, q, v, a, tau)"
    robot = kt.load("arm.urdf")
    motion = kt.Trajectory.load(f"fall.{suffix}", robot)
    again = robot.simulate([1.5], duration=3.0, record=kt.Record("q v a tau", every=3), joints="none")
    for x in ("t", "q", "v", "a", "tau"):
        assert np.array_equal(getattr(motion, x), getattr(again, x))


def test_the_end_is_that_of_all_steps(cli):
    assert cli("--q", 1.5, "--duration", 1.501)[1].startswith("arm: 1.501 s in 1501 steps of 0.001 s")  # each 2nd kept
    facts = json.loads(cli("--q", 1.5, "--duration", 1.501, "--json")[1])
    end = kt.load("arm.urdf").simulate([1.5], steps=1501).q[-1]
    assert (facts["steps"], facts["end"], facts["final_q"], facts["samples"]) == (1501, 1501 * 1e-3, end.tolist(), 751)


def test_what_acts_on_it(cli):
    cli("--q", 1.0, "--payload", 1, "-o", "heavy.npz", "--gravity", 0, 0, -1, "-q", "--record-every", 10)
    robot = kt.load("arm.urdf", gravity=[0, 0, -1])
    robot = robot.attach(kt.Inertia.from_com(1.0, [0, 0, 0], [[0.0] * 3] * 3), "upper")
    again = robot.simulate([1.0], duration=1.0, record=kt.Record(every=10))
    assert np.array_equal(kt.Trajectory.load("heavy.npz", robot).q, again.q)
    _, out, _ = cli("--tau", 4.5, "--joints", "friction")
    assert "position, torque" in out
    assert "4.5" in out
    assert "off by" not in out  # its energy changes


def test_it_is_held(cli):
    code, out, _ = cli("--q=-0.5", "--v", 1, "--hold", "400,40", "--duration", 2, "--json")
    assert code == 0
    found = json.loads(out)
    assert abs(found["final_q"][0] + 0.5) < 1e-6
    assert found["joints"][0]["peak_v"] == 1.0
    assert found["warnings"] == []


def test_pictures(cli):
    code, out, _ = cli("--duration", 0.2, "--q", 1, "--plot", "fall.png", "--animate", "fall.gif")
    assert code == 0
    assert out.splitlines()[-2:] == ["drew fall.png", "drew fall.gif"]
    assert Path("fall.png").read_bytes().startswith(b"\x89PNG")
    assert Path("fall.gif").read_bytes().startswith(b"GIF89a")


def test_an_interrupt_keeps_what_was_computed(cli, monkeypatch):
    def stop(show, done, total):
        if done > 1000:
            raise KeyboardInterrupt

    monkeypatch.setattr(simulate.Working, "__call__", stop)
    code, out, err = cli("--duration", 20000, "--q", 1, "-o", "part.npz", "--record-every", 100)
    assert (code, err) == (130, "kinetree: interrupted\n")
    motion = kt.Trajectory.load("part.npz", kt.load("arm.urdf"))
    assert 1.0 <= motion.duration < 20000.0
    assert out.startswith(f"arm: {motion.t[-1]:g} s in {100 * (len(motion) - 1)} steps")
    assert f"wrote part.npz ({len(motion)} samples" in out


def test_a_motion_that_explodes_is_said_to(cli):
    far = ("--v", 1e200, "--integrator", "semi_implicit_euler", "--dt", 100, "--duration", 10000, "-o", "far.npz")
    code, out, err = cli(*far, "--plot", "far.png")
    assert code == 1
    assert re.fullmatch(r"kinetree: arm stopped at \S+ s: not finite\n", err)
    assert out.endswith("drew far.png\n")
    assert "warning: it stopped at " in out
    assert "not finite" in out
    assert "beyond all numbers" in out
    assert np.isfinite(kt.Trajectory.load("far.npz", kt.load("arm.urdf")).stopped_at)


def test_limits_and_tolerances(cli):
    options = {"integrator": kt.Tsitouras(1e-4, 1e-5), "joints": "stops"}
    given = ["--integrator", "tsitouras", "--rtol", 1e-4, "--atol", 1e-5, "--joints", "stops"]
    assert cli("--q", 1.9, "--v", 3, "--duration", 0.1, *given, "-o", "stop.npz", "-q") == (0, "", "")
    robot = kt.load("arm.urdf")
    expected = robot.simulate([1.9], [3.0], duration=0.1, **options)
    assert np.array_equal(kt.Trajectory.load("stop.npz", robot).q, expected.q)
    free = robot.simulate([1.9], [3.0], duration=0.1, integrator="tsitouras", joints="none")
    assert abs(free.q - expected.q).max() > 1e-3
    for joints, free in (("stops", False), ("effort", True)):
        assert ("off by" in cli("--q", 1, "--duration", 0.1, "--joints", joints)[1]) is free  # only gravity acts


def test_as_many_samples_are_kept_as_memory_is_meant_to_hold(monkeypatch):
    """A sample has a time, a configuration, and velocities, accelerations and forces."""
    dog = kt.load("go2")
    a_sample = 1 + dog.nq + 3 * dog.nv
    monkeypatch.setattr(simulate, "MOST", 1000 * a_sample)
    for samples, every in ((1000, 1), (1001, 2)):
        assert simulate.counts(Namespace(duration=samples, dt=1.0, every=every), dog) == (samples, every)
    with pytest.raises(kt.ArgumentError, match="1001 samples would be kept, at most 1000 can be"):
        simulate.counts(Namespace(duration=1001, dt=1.0, every=1), dog)


def test_only_what_has_a_motor_is_held(shell):
    code, out, _ = shell("simulate", "go2", "--random", "--seed", 3, "--hold", "--duration", 0.2, "--json")
    found = {joint["name"]: joint for joint in json.loads(out)["joints"]}
    assert (code, found["root_joint.vz"]["peak_tau"]) == (0, 0.0)
    assert found["root_joint.vz"]["peak_v"] > 0.5  # the base falls
    assert all(abs(joint["peak_v"]) < 1e-6 for name, joint in found.items() if "root" not in name)


@pytest.mark.parametrize(
    "given",
    [("--gravity", "0,-1,-1.5"), ("--gravity", 0, -1, -1.5), ("--gravity=0,-1,-1.5",), ("--gravity", "0, -1,", "-1.5")],
)
def test_gravity_with_commas_or_blanks(cli, given):
    assert cli("--q", 1, "--duration", 0.01, *given, "-o", "fall.npz", "-q") == (0, "", "")
    robot = kt.load("arm.urdf", gravity=[0, -1, -1.5])
    expected = robot.simulate([1.0], duration=0.01)
    assert np.array_equal(kt.Trajectory.load("fall.npz", robot).q, expected.q)
    for negative in (["--gravity=-1,0,-1e-3"], ["--gravity", "-1,0,-1e-3"], ["--gravity", "-1", "0", "-1e-3"]):
        assert parse_arguments(["simulate", *negative, "panda", "--json"])[1].gravity == (-1.0, 0.0, -1e-3)


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_what_is_written_is_read_by_inverse_dynamics(cli, shell, suffix):
    cli("--tau", 0.5, "-o", f"push.{suffix}")
    code, out, _ = shell("inverse-dynamics", "arm.urdf", f"push.{suffix}", "--friction", "--json")
    found = json.loads(out)
    assert (code, found["warnings"]) == (0, [])
    assert abs(found["joints"][0]["peak_tau"] - 0.5) < 1e-12
