"""``kinetree excite``: what it writes, draws and says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli import main
from kinetree.cli.commands import excite

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="swing" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-2" upper="2" effort="8" velocity="5"/></joint>
<link name="hand"><inertial><origin xyz="0 0 -0.1"/><mass value="0.2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wheel" type="continuous"><parent link="upper"/><child link="hand"/><origin xyz="0 0 -0.8"/>
<axis xyz="1 0 0"/><limit effort="2" velocity="4"/></joint></robot>"""

LIMIT = ("--limit", "wheel=-3,3,2")


@pytest.fixture
def cli(capsys, tmp_path, monkeypatch):
    """Run ``kinetree excite arm.urdf`` in an empty directory: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    Path("arm.urdf").write_text(ARM)

    def run(*arguments):
        try:
            code = main(["excite", "arm.urdf", "--iterations", "5", "--terms", "friction", *map(str, arguments)])
        except SystemExit as leave:
            code = leave.code
        return code, *capsys.readouterr()

    return run


def test_a_motion_is_written_summed_up_drawn_and_continued(cli):
    code, out, err = cli(*LIMIT, "-o", "motion.csv", "--plot", "motion.png", "--box", "hand=-1,1,-1,1,-1,0.5")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "arm: 14 s, found in 5 iterations; more of them may find a better one"
    assert lines[-2:] == ["wrote motion.csv (2801 samples of t, q, v, a, tau)", "drew motion.png"]
    assert "  friction of swing" in lines[-4]
    assert Path("motion.png").read_bytes()[:4] == b"\x89PNG"
    motion = kt.Trajectory.load("motion.csv", kt.load("arm.urdf"))
    assert np.abs(motion.q[:, 1]).max() < 0.9 * 3
    assert np.abs(motion.v[:, 1]).max() < 0.9 * 2
    assert not motion.v[[0, -1]].any()
    places = motion.robot.frame_placement(motion.q, frame="hand")[:, 2, 3]
    assert places.max() < 0.5
    code, out, _ = cli(*LIMIT, "--resume", "motion.csv", "--json", "--iterations", 8)
    facts = json.loads(out)
    assert (code, facts["iterations"] <= 8, facts["robot"]) == (0, True, "arm")
    rows = facts["parameters"]
    assert {row["name"] for row in rows} >= {"friction of swing", "friction of wheel"}
    assert all(0 < row["std"] < 1 for row in rows)


def test_ctrl_c_writes_the_best_until_then(cli, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(excite.Working, "__call__", stop)
    code, out, err = cli(*LIMIT, "--joints", "wheel", "-o", "motion.npz")
    assert (code, err) == (130, "kinetree: interrupted\n")
    assert "found in 1 iterations" in out
    assert "held still: swing; the parameters are those of the robot with these locked" in " ".join(out.split())
    assert Path("motion.npz").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 1, "wheel: there is no range of positions; give one, such as robot.with_limits("),
        (["--limit", "wheel=1"], 2, "'wheel=1' is not JOINT=LOWER,UPPER,SPEED"),
        (["--limit", "wheal=-1,1,1"], 1, "wheal"),
        ([*LIMIT, "--box", "hand=1,2"], 2, "is not NAME=X0,X1,Y0,Y1,Z0,Z1"),
        ([*LIMIT, "--fraction", 2], 2, "fraction is 2.0"),
        ([*LIMIT, "--noise", "1,2,3"], 1, "one for each of the 2 joints"),
        ([*LIMIT, "--start", 0], 1, "--start takes 2 numbers (swing, wheel); 1 were given"),
        ([*LIMIT, "--terms", "fiction"], 1, "did you mean 'friction'?"),
        ([*LIMIT, "--joints", "swing,nobody"], 1, "no joint 'nobody'"),
        ([*LIMIT, "-q", "--json"], 1, "--quiet leaves nothing for --json to print"),
        ([*LIMIT, "-o", "motion.txt"], 1, "motion.txt"),
    ],
)
def test_what_cannot_be_is_said(cli, arguments, code, message):
    found, out, err = cli(*arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err
