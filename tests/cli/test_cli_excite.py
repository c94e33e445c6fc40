"""``kinetree excite`` and ``kinetree export``: what they write, draw and say."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.shell import WHEEL
from kinetree.cli.commands import excite

LIMIT = ("--limit", "wheel=-3,3,2")


@pytest.fixture
def cli(shell):
    Path("arm.urdf").write_text(WHEEL)
    return partial(shell, "excite", "arm.urdf", "--iterations", "5", "--terms", "friction")


@pytest.fixture
def export(shell):
    return partial(shell, "export")


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


def test_files_are_written_here_or_where_they_are_asked_for(export, tmp_path):
    code = kt.load("ur5").gravity_forces.to_c()
    status, out, err = export("ur5", "gravity_forces")
    assert (status, err) == (0, "")
    assert out.startswith(f"ur5: {code.prototype};\n")
    assert out.endswith("wrote gravity_forces.c and gravity_forces.h\n")
    assert (tmp_path / "gravity_forces.c").read_text(encoding="utf-8") == code.source
    assert (tmp_path / "gravity_forces.h").read_text(encoding="utf-8") == code.header
    (tmp_path / "src").mkdir()
    assert export("ur5", "gravity_forces", "-o", "src", "--name", "g")[0] == 0
    assert (tmp_path / "src" / "g.c").exists()
    assert export("-o", "other.c", "ur5", "gravity_forces")[0] == 0
    assert (tmp_path / "other.h").exists()


def test_everything_can_be_chosen(export):
    robot = kt.load("ur5", gravity=(0, 0, -1.62))
    expected = robot.hybrid_dynamics.to_c(
        "h",
        dtype="float32",
        optional=["f_ext"],
        prescribed=["elbow_joint", "wrist_1_joint"],
        f_ext_frame="world",
        main=True,
    )
    given = ["--name", "h", "--dtype", "float32", "--optional", "f_ext", "--main", "--gravity", "0", "0", "-1.62"]
    given += ["--option", "prescribed=elbow_joint,wrist_1_joint", "--option", "f_ext_frame=world", "-o", "-"]
    assert export("ur5", "hybrid_dynamics", *given) == (0, expected.source, "")
    source = robot.gravity_forces.to_c(lanes=4).source
    assert export("ur5", "gravity_forces", "--gravity", "0", "0", "-1.62", "--lanes", "4", "-o", "-")[1] == source
