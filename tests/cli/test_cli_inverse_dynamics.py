"""``kinetree inverse-dynamics``: the torques of files, of differentiated files, and of made motions."""

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.shell import read, read_csv, write_csv
from kinetree.logs.codecs.table import ROWS
from kinetree.logs.columns import Coordinates

PROGRAM = [sys.executable, "-m", "kinetree", "inverse-dynamics"]


@pytest.fixture(scope="module")
def panda():
    return kt.load("panda")


@pytest.fixture
def cli(shell):
    return partial(shell, "inverse-dynamics")


def test_a_file_of_q_v_a_gives_the_torques_of_the_robot(cli, panda):
    q, v, a = panda.random_state(seed=1, size=ROWS + 20)
    write_csv("in.csv", panda, q=q, v=v, a=a)
    code, out, err = cli("panda", "in.csv", "-o", "out.csv")
    assert (code, err) == (0, "")
    np.testing.assert_array_equal(read("out.csv", panda, "tau"), panda.inverse_dynamics(q, v, a))
    assert list(read_csv("out.csv")) == [f"tau.{name}" for name in panda.joint_names]
    assert "8212 samples, read from in.csv" in out
    assert "wrote out.csv (tau)" in out
    for arguments in ("-o other.csv panda in.csv", "--fixed-base panda --gravity 0 0 -9.81 -q in.csv -o other.csv"):
        assert cli(*arguments.split())[::2] == (0, "")
        assert Path("other.csv").read_text() == Path("out.csv").read_text()


def test_npz_in_and_out_with_gravity_and_a_base_that_floats(cli):
    robot = kt.load("go2", gravity=(0, 1, -2))
    q, v, a = robot.random_state(seed=2, size=30)
    np.savez("in.npz", q=q, v=v, a=a, t=np.arange(30.0))
    assert cli("go2", "in.npz", "-o", "out.npz", "--gravity", 0, 1, -2)[0] == 0
    out = np.load("out.npz")
    np.testing.assert_array_equal(out["tau"], robot.inverse_dynamics(q, v, a))
    np.testing.assert_array_equal(out["t"], np.arange(30.0))
    assert tuple(out["v_names"]) == Coordinates.of(robot).v


def test_the_summary_is_that_of_the_torques(cli, panda):
    q, v, a = panda.random_state(seed=3, size=ROWS + 50)
    write_csv("in.csv", panda, q=q, v=v, a=20 * a)
    _, out, _ = cli("panda", "in.csv")
    tau = panda.inverse_dynamics(q, v, 20 * a)
    for k, name in enumerate(panda.joint_names):
        peak, at, rms, limit, used, unit, *over = next(
            line.split()[1:] for line in out.splitlines() if line.startswith(name)
        )
        assert float(peak) == pytest.approx(np.abs(tau[:, k]).max(), rel=1e-3)
        assert int(at) == np.abs(tau[:, k]).argmax() + 1
        assert float(rms) == pytest.approx(np.sqrt(np.mean(tau[:, k] ** 2)), rel=1e-3)
        assert float(limit) == panda.effort_limits[k]
        assert float(used) == pytest.approx(100 * np.abs(tau[:, k]).max() / panda.effort_limits[k], abs=0.51)
        count = int(np.sum(np.abs(tau[:, k]) > panda.effort_limits[k]))
        assert unit == "%"
        assert over == (["OVER", str(count)] if count else ["–"])
    assert "OVER" in out


@pytest.mark.parametrize(
    ("given", "options", "note"),
    [("q", ("--window", 7), "v and a from q by polynomials of degree 4 over 7 samples"), ("qv", (), "a from v by")],
)
def test_positions_or_velocities_and_time_are_differentiated(cli, panda, given, options, note):
    assert cli("panda", "-o", "made.csv", "--rate", 400, "--duration", 5)[0] == 0
    arrays = {x: read("made.csv", panda, x) for x in given}
    write_csv("in.csv", panda, t=read_csv("made.csv")["t"], **arrays)
    code, out, _ = cli("panda", "in.csv", "-o", "out.csv", *options)
    assert code == 0
    assert note in out
    got, want = (read(name, panda, "tau") for name in ("out.csv", "made.csv"))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 * np.abs(want).max())
    assert "v.panda_joint1" in read_csv("out.csv")


def test_a_gap_in_time_is_reported_and_nothing_reaches_across(cli, panda):
    t = 0.01 * np.arange(400)
    t[150:] += 5.0
    phase = np.arange(1, 8)
    q, v = panda.neutral() - 0.8 + np.sin(t[:, None] + phase) / 4, np.cos(t[:, None] + phase) / 4
    tau = panda.inverse_dynamics(q, v, -np.sin(t[:, None] + phase) / 4)
    for arrays in {"q": q}, {"q": q, "v": v}:
        write_csv("q.csv", panda, t=t, **arrays)
        code, out, _ = cli("panda", "q.csv", "-o", "out.csv")
        assert code == 0
        assert "gaps in time, where samples are usually 0.01 s apart: 1.49 s to 6.5 s (5.01 s)" in out
        np.testing.assert_allclose(read("out.csv", panda, "tau"), tau, rtol=0, atol=1e-4 * np.abs(tau).max())
    write_csv("q.csv", panda, t=t[150:], q=q[150:])
    assert "gap" not in cli("panda", "q.csv")[1]


@pytest.mark.parametrize("name", ["ur5", "g1"])
def test_a_made_motion_keeps_within_the_limits(cli, name):
    robot = kt.load(name)
    code, out, err = cli(name, "-o", "made.npz", "--seed", 3)
    assert (code, err) == (0, "")
    assert "within 90% of the limits" in out
    assert "warning" not in out
    made = np.load("made.npz")
    assert made["t"][[0, -1]].tolist() == [0, 10]
    assert len(made["t"]) == 1001
    assert (made["q"] >= robot.lower_limits).all()
    assert (made["q"] <= robot.upper_limits).all()
    assert (np.abs(made["v"]) <= robot.velocity_limits).all()
    np.testing.assert_allclose(made["v"][[0, -1]], 0, atol=1e-12)
    assert (np.ptp(made["q"][:, -1]) > 0.1).all()
    np.testing.assert_array_equal(made["tau"], robot.inverse_dynamics(made["q"], made["v"], made["a"]))


def test_standard_input_and_output(panda):
    q, v, a = panda.random_state(seed=5, size=4)
    text = "\n".join(",".join(map(repr, row)) for row in np.hstack([q, v, a]).tolist())
    for order in (["-", "-o", "-"], ["-o", "-", "-"]):
        done = subprocess.run([*PROGRAM, "panda", *order], input=text, capture_output=True, text=True, check=True)
        head, *rows = done.stdout.splitlines()
        assert head == ",".join(f"tau.{name}" for name in panda.joint_names)
        found = [[float(x) for x in row.split(",")] for row in rows]
        np.testing.assert_array_equal(found, panda.inverse_dynamics(q, v, a))
        assert "inverse dynamics of 4 samples, read from -" in done.stderr


def test_suspicious_motions_are_reported(cli, panda):
    q = np.tile(panda.random_configuration(seed=0), (40, 1))
    t = 0.01 * np.arange(40)
    q[:, 0] = np.linspace(-2, 100, 40)
    q[20:, 5] = 1e-3
    q[:20, 5] = 3.7
    write_csv("in.csv", panda, t=t, q=q)
    code, out, _ = cli("panda", "in.csv")
    assert code == 0
    assert "beyond the limits of position: panda_joint1 (-2 … 100, allowed -2.897 … 2.897)" in out
    assert "Is it in degrees?" in out
    assert "faster than the limits of velocity: panda_joint1" in out
    assert "jumps from one sample to the next: panda_joint6 (by 3.699)" in out
    for far in (5.0, 12.0, 13.0):
        q[:, 0] = np.linspace(-2, far, 40)
        write_csv("in.csv", panda, t=t, q=q)
        out = cli("panda", "in.csv")[1]
        assert "beyond the limits of position: panda_joint1" in out
        assert ("Is it in degrees?" in out) is (far > 4 * np.pi)


def test_a_motion_up_to_its_limits_is_not_beyond_them(cli, panda):
    q = np.linspace(panda.lower_limits, panda.upper_limits, 20)
    rest = np.zeros((20, panda.nv))
    rest[0], rest[-1] = panda.velocity_limits, -panda.velocity_limits
    write_csv("in.csv", panda, q=q, v=rest, a=0 * rest)
    code, out, _ = cli("panda", "in.csv")
    assert code == 0
    assert "limits of" not in out


def test_a_quaternion_of_zeros_is_an_error_that_names_the_sample(cli, tmp_path):
    robot = kt.load("go2")
    q, v, a = robot.random_state(seed=1, size=6)
    q[3, 3:7] = 0
    np.savez("in.npz", q=q, v=v, a=a)
    code, _, err = cli("go2", "in.npz", "-o", "out.csv")
    assert code == 1
    assert "the torques of sample 4 are not finite: a quaternion is zero" in err
    assert [file.name for file in tmp_path.iterdir()] == ["in.npz"]


def test_out_of_memory_is_one_line(cli, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr("kinetree.cli.commands.inverse_dynamics.made", fail)
    assert cli("panda")[::2] == (1, "kinetree: out of memory: the motion is too long to be held at once\n")


def test_warnings_of_the_file_come_before_the_table(cli, panda):
    q = np.tile(panda.random_configuration(seed=0), (20, 1))
    names = [f"q{k}" for k in range(1, 8)]
    rows = np.hstack([10.0 * np.arange(20)[:, None], q, np.zeros((20, 1))])
    np.savetxt("in.csv", rows, delimiter=",", header=",".join(["t", *names, "q1_speed"]), comments="")
    code, out, _ = cli("panda", "in.csv")
    assert code == 0
    lines = out.splitlines()
    assert lines[1] == "warning: columns not used: q1_speed"
    assert lines[2] == "warning: the samples are 10 s apart: is the time in seconds?"
    assert lines[3].startswith("joint ")


def test_an_interrupt_is_130_and_leaves_no_file(tmp_path, panda):
    """The input is a pipe that stays open, so the program is certainly in the middle of its work."""
    out = tmp_path / "out.csv"
    program = subprocess.Popen(
        [*PROGRAM, "panda", "-", "-o", str(out)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
    )
    q, v, a = panda.random_state(seed=5, size=1)
    row = (",".join(map(repr, np.hstack([q, v, a])[0].tolist())) + "\n").encode()
    program.stdin.write(row * (2 * ROWS))  # more than a pipe holds: most of it was read
    program.stdin.flush()
    program.send_signal(signal.SIGINT)
    assert program.wait(60) == 130
    assert program.stderr.read() == b"kinetree: interrupted\n"
    program.stdin.close()
    program.stderr.close()
    assert list(tmp_path.iterdir()) == []
