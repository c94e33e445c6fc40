"""``kinetree info`` and what all commands share: exit codes, streams, start-up."""

import json
import os
import subprocess
import sys

import pytest

from kinetree import __version__
from kinetree.embedded import EMBEDDED
from robots import erd_sdf


@pytest.fixture
def cli(shell):
    return shell


def test_an_embedded_robot_needs_no_file_and_floats_as_it_should(cli):
    for name in EMBEDDED:
        floating = "freeflyer" in cli("info", name)[1]
        assert floating is EMBEDDED[name].floating
        assert "freeflyer" in cli("info", name, "--floating-base")[1]
        assert "freeflyer" not in cli("info", name, "--fixed-base")[1]
    lines = cli("info", "g1")[1].splitlines()
    marks = {line.split()[1] if line[0] in "├└" else line.split()[0]: line[0] for line in lines[2:20]}
    assert (marks["left_hip_pitch_joint"], marks["waist_yaw_joint"]) == ("├", "└")
    assert any(line.startswith("   └─ right_shoulder_pitch_joint") for line in lines)


def test_a_file_with_closed_loops(cli):
    code, out, err = cli("info", erd_sdf("cassie_v2.sdf"))
    assert (code, err) == (0, "")
    assert out.startswith("cassie: 23 joints, nq = 29, nv = 28 (22 actuated)")
    assert "left-pitch-rod-joint      loop: spherical  left-pitch-rod-joint.child – left-pitch-rod-joint.parent" in out
    assert "mobility 18: 28 freedoms of the tree less rank 10 of 12 rows" in out
    said = json.loads(cli("info", erd_sdf("cassie_v2.sdf"), "--fixed-base", "--json")[1])
    assert (said["nv"], said["mobility"]["mobility"], said["constraints"][0]["rows"]) == (22, 12, 3)


def test_files_that_are_no_mechanism_have_their_own_errors(cli, tmp_path):
    file = tmp_path / "r.urdf"
    file.write_text("<robot name='r'><link name='a'/><link name='b'/></robot>")
    code, out, err = cli("info", file)
    assert (code, out) == (1, "")
    assert "2 links have no parent joint: 'a' (line 1), 'b' (line 1)" in err
    ends = "<parent link='a'/><child link='b'/><limit effort='5' velocity='1'/>"
    motors = "".join(f"<joint name='{name}' type='continuous'>{ends}</joint>" for name in "jk")
    file.write_text(f"<robot name='r'><link name='a'/><link name='b'/>{motors}</robot>")
    assert "the loop of the joints 'k', 'j': every one has a motor; cut=" in cli("info", file)[2]
    code, _, err = cli("simulate", file)
    assert (code, "kinetree.load_mechanism reads closed loops" in err) == (1, True)


def test_a_non_physical_inertia_is_a_warning_that_names_the_link(cli, tmp_path):
    file = tmp_path / "odd.urdf"
    file.write_text(
        '<robot name="odd"><link name="a"/><link name="flat"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="flat"/><axis xyz="0 0 1"/></joint></robot>'
    )
    code, out, err = cli("info", file)
    assert (code, err) == (0, "")
    assert any(line.startswith("warning:") and "flat" in line for line in out.splitlines())


@pytest.mark.parametrize("arguments", [("--help",), ("info", "--help"), ("inverse-dynamics", "--help")])
def test_help(cli, arguments):
    code, out, _ = cli(*arguments)
    assert code == 0
    assert "ROBOT" in out or "examples" in out
    assert max(map(len, out.splitlines())) <= 120


def test_version(cli):
    assert cli("--version") == (0, f"kinetree {__version__}\n", "")


def test_a_reader_that_goes_away_is_no_complaint():
    code = "import sys; from kinetree.cli import main; sys.exit(main(['info', 'g1']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_a_terminal_of_few_letters_is_no_reason_to_fail():
    done = subprocess.run(
        [sys.executable, "-m", "kinetree", "info", "g1"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "?? left_hip_pitch_joint" in done.stdout


def test_info_imports_neither_compiler_nor_plots():
    code = (
        "import sys; from kinetree.cli import main; main(['info', 'g1']); "
        "print(sorted({'llvmlite', 'matplotlib', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
