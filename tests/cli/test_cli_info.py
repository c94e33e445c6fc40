"""``kinetree info`` and what all commands share: exit codes, streams, start-up."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from argparse import Namespace
from functools import partial

import pytest
from rich.console import Console

from kinetree import Inertia, JointLimits, ModelBuilder, Robot, __version__, load
from kinetree.cli.commands import info
from kinetree.cli.terminal import console
from kinetree.embedded import EMBEDDED
from kinetree.errors import NonPhysicalInertiaWarning
from kinetree.joints import Continuous, Prismatic, Revolute
from kinetree.robot.table import joint_table, kind, massless, missing_limits, tree
from kinetree.tables import Cells, number
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


def two_arms():
    """Build a base that slides, with a wheel and a massless hand on it."""
    b = ModelBuilder("cart")
    solid = Inertia.from_com(2.0, [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    b.add_link("rail")
    b.add_link("slider", solid)
    b.add_link("wheel", solid)
    b.add_link("hand")
    limits = JointLimits(-1, 1, 2, 3)
    b.add_joint("slide", parent="rail", child="slider", joint=Prismatic((-1, 0, 0)), limits=limits)
    b.add_joint("roll", parent="slider", child="wheel", joint=Continuous((0, 3, 4)))
    b.add_joint("grip", parent="slider", child="hand", joint=Revolute((0, 1, 0)), limits=limits)
    return b.build()


def test_tree_guides_axes_and_findings():
    model = two_arms()
    assert [(guide, body.joint_name) for guide, body in tree(model)] == [
        ("", "slide"),
        ("├─ ", "roll"),
        ("└─ ", "grip"),
    ]
    assert [kind(body) for body in model.bodies] == ["prismatic -x", "continuous (0, 0.6, 0.8)", "revolute y"]
    assert massless(model) == ["without mass, so that forward dynamics is singular: hand"]
    rotor = Inertia.from_com(0.0, [0, 0, 0], [[1, 0, 0], [0, 2, 0], [0, 0, 3]])  # its mass is counted elsewhere
    with pytest.warns(NonPhysicalInertiaWarning):
        assert massless(Robot(model).attach(rotor, "hand").model) == []
    assert [line.split("[/] ")[1] for line in missing_limits(model)] == ["roll", "roll", "roll"]


@pytest.mark.parametrize("width", [66, 80, 120])
def test_tables_fit_a_narrow_terminal(width, capsys):
    out = console()
    out.print(joint_table(Robot(two_arms()).model, width))
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    assert ("body" in lines[0]) is (width > 66)
    assert "-1 … 1" in lines[1]


def test_columns_go_before_names_are_cut(capsys):
    out = console()
    out.print(joint_table(load("g1").model, 72))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= 72
    assert any(line.startswith("   └─ right_shoulder_pitch_joint  revolute y") for line in lines)
    assert lines[-1] == "not shown in 72 columns: body, mass, effort"


def test_the_embedded_robots_in_a_narrow_terminal(capsys, monkeypatch):
    for width in (60, 40):
        monkeypatch.setattr(info, "console", partial(Console, width=width))
        info.list_embedded(Namespace(json=False))
        lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()][:5]
        assert max(map(len, lines)) <= width
        assert [line.split()[0] for line in lines[1:5]] == list(EMBEDDED)


def test_a_narrow_column_comes_back_when_a_wide_one_has_gone(capsys):
    columns = {"name": "left", "wide": "left", "slim": "right"}
    console().print(Cells(columns, [("n" * 20, "w" * 20, "s" * 4)], ["slim", "wide"]).for_terminal(30))
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "name                  slim",
        "nnnnnnnnnnnnnnnnnnnn  ssss",
        "not shown in 30 columns:",
        "wide",
    ]


def test_names_are_whole_in_sixty_columns(capsys):
    model = load("g1").model
    console().print(joint_table(model, 60))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= 60
    assert "…" not in "".join(line.partition(" … ")[0] for line in lines)
    assert all(any(f"{name} " in line for line in lines) for name in model.joint_names)
    console().print(joint_table(model, 30))
    assert "right_shou" not in capsys.readouterr().out  # cut in its middle where nothing else can go


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


def test_a_limit_of_zero_is_not_given_and_that_is_said_once(capsys):
    b = ModelBuilder("pair")
    solid = Inertia.from_com(2.0, [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    for name in ("base", "one", "two"):
        b.add_link(name, solid)
    b.add_joint("j1", parent="base", child="one", joint=Revolute((0, 0, 1)), limits=JointLimits(-1, 1, 0, 0))
    b.add_joint("j2", parent="one", child="two", joint=Revolute((0, 0, 1)), limits=JointLimits(-1, 1, 2, 0))
    model = b.build()
    assert [line.split("[/] ")[1] for line in missing_limits(model)] == ["j1", "all joints", "effort, velocity"]
    console().print(joint_table(model, 120))
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split()[6:8] for row in rows] == [["–", "–"], ["2", "–"]]
    shown = [number(x) for x in (math.inf, math.nan, 0.0, 87.0, 1e-9, 1.7e9)]
    assert shown == ["–", "–", "0", "87", "1e-09", "1700000000"]
