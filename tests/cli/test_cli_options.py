"""What several commands take: --friction, --payload, --lenient, --json; and ``kinetree cache``."""

import argparse
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.cli.arguments import COMMANDS, INTEGRATORS
from kinetree.cli.program import make_parser, overview
from kinetree.integrators import OWN
from kinetree.runtime import cache


@pytest.fixture
def kinetree(shell):
    return shell


def made(name="made.npz"):
    with np.load(name) as file:
        return {key: file[key] for key in ("q", "v", "a", "tau")}


MADE = ("-q", "--duration", "0.2", "-o", "made.npz")


def test_friction_and_payloads_act_on_the_robot(kinetree):
    damped = kt.load("panda")
    options = ("--friction", "--payload", "1.5,0,0.1,0.2@panda_hand", "--payload", "2@panda_link3")
    assert kinetree("inverse-dynamics", "panda", *MADE, *options) == (0, "", "")
    loads = [(1.5, [0, 0.1, 0.2], "panda_hand"), (2, [0, 0, 0], "panda_link3")]
    for mass, place, frame in loads:
        damped = damped.attach(kt.Inertia.from_com(mass, place, np.zeros((3, 3))), frame)
    state = made()
    expected = damped.with_friction().inverse_dynamics(state["q"], state["v"], state["a"])
    np.testing.assert_array_equal(state["tau"], expected)
    assert not np.array_equal(expected, damped.inverse_dynamics(state["q"], state["v"], state["a"]))


def test_friction_that_the_file_does_not_give(kinetree):
    warning = "warning: --friction has no effect: the file gives neither damping nor friction"
    for name in ("go2", "panda"):
        _, out, _ = kinetree("inverse-dynamics", name, "--duration", "0.1", "--friction")
        assert (warning in out) is (name == "go2")


def test_exported_functions_count_them_too(kinetree):
    robot = kt.load("ur5").attach(kt.Inertia.from_com(2, [0, 0, 0.1], np.zeros((3, 3))), "tool0")
    code, out, _ = kinetree("export", "ur5", "gravity_forces", "--payload", "2,0,0,0.1@tool0", "-o", "-")
    assert (code, out) == (0, robot.gravity_forces.to_c().source)


FAULTY = """<robot name="faulty"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
<limit lower="1" upper="-1" effort="1" velocity="1"/></joint></robot>"""


def test_lenient_reads_what_is_refused_otherwise(kinetree):
    Path("faulty.urdf").write_text(FAULTY)
    code, _, err = kinetree("info", "faulty.urdf")
    assert code == 1
    assert "faulty.urdf, line 4, <joint name='turn'> <limit>: the lower limit 1.0" in err
    assert "with lenient=True" in err
    code, out, err = kinetree("info", "faulty.urdf", "--lenient")
    assert (code, err) == (0, "")
    assert "warning: faulty.urdf, line 4, <joint name='turn'> <limit>: the lower limit 1.0" in out
    assert kinetree("inverse-dynamics", "faulty.urdf", "--lenient", "-q") == (0, "", "")


XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="size" default="small"/>
<xacro:include filename="$(find parts)/part.xacro"/><link name="$(arg size)"/></robot>"""


def test_arguments_of_xacro_and_packages(kinetree):
    Path("r.urdf.xacro").write_text(XACRO)
    Path("elsewhere").mkdir()
    Path("elsewhere/part.xacro").write_text("<robot/>")
    code, out, err = kinetree("info", "r.urdf.xacro", "--xacro", "size:=large", "--package", "parts=elsewhere")
    assert (code, err) == (0, "")
    assert "large" in out
    assert "the package 'parts' is not found" in kinetree("info", "r.urdf.xacro")[2]
    assert "'size' is not NAME=VALUE" in kinetree("info", "r.urdf.xacro", "--xacro", "size")[2]


def strict(text):
    """Return what JSON says, which must not have Python's NaN and Infinity."""

    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(text, parse_constant=refuse)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_warned", {})
    return tmp_path / "cache"


def test_the_cache(kinetree, own_cache):
    assert kinetree("cache") == (0, f"{own_cache}: 0 compiled functions, 0 MB of at most 500 MB\n", "")
    assert not own_cache.exists()
    kt.load("ur5").gravity_forces([0.0] * 6)
    info = kt.cache_info()
    code, out, _ = kinetree("cache")
    assert code == 0
    assert out.startswith(
        f"{own_cache}: {info.entries} compiled functions, {info.size / 1e6:.3g} MB of at most 500 MB\n"
    )
    assert "the one used longest ago: 20" in out
    found = strict(kinetree("cache", "--json")[1])
    assert (found["entries"], found["size"], found["problem"]) == (info.entries, info.size, None)
    assert found["oldest"].endswith("+00:00")
    assert kinetree("cache", "clear")[1].startswith(f"removed {info.entries} files, ")
    assert strict(kinetree("cache", "clear", "--json")[1])["removed"] == 0
    assert list(own_cache.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="owners and permissions are POSIX")
def test_a_cache_that_cannot_be_used(kinetree, own_cache):
    own_cache.mkdir()
    own_cache.chmod(0o777)
    code, out, err = kinetree("cache")
    assert (code, out) == (1, "")
    assert err.startswith(f"kinetree: the cache cannot be used: others may write to {own_cache} (mode 777")
    assert "mode 777" in strict(kinetree("cache", "--json")[1])["problem"]
    assert kinetree("cache", "clear")[0] == 1
    code, _, err = kinetree("inverse-dynamics", "ur5", "--duration", "0.1")
    assert code == 0
    assert err.startswith("kinetree: warning: compiled functions are not kept for later runs: others may write to")
    assert err.count("\n") == 1


def test_a_payload_is_at_the_end_of_a_chain_unless_it_is_said_where(kinetree):
    assert kinetree("inverse-dynamics", "ur5", *MADE, "--payload", "3")[0] == 0
    robot, state = kt.load("ur5"), made()
    robot = robot.attach(kt.Inertia.from_com(3, [0, 0, 0], np.zeros((3, 3))), "wrist_3_link")
    np.testing.assert_array_equal(state["tau"], robot.inverse_dynamics(state["q"], state["v"], state["a"]))
    code, out, _ = kinetree("inverse-dynamics", "ur5", "--duration", "0.1", "--payload", "3@base_link")
    assert code == 0
    assert "warning: --payload has no effect: base_link is fixed to the world" in out


def test_info_as_json(kinetree):
    robot = kt.load("go2")
    code, out, err = kinetree("info", "go2", "--json")
    assert (code, err) == (0, "")
    facts = strict(out)
    assert [joint["name"] for joint in facts["joints"]] == list(robot.joint_names)
    assert (facts["nq"], facts["nv"], facts["mass"]) == (robot.nq, robot.nv, robot.mass)
    assert list(facts["frames"]) == list(robot.frame_names)
    thigh = facts["joints"][2]
    assert (thigh["axis"], thigh["v_index"]) == ([0, 1, 0], [7])
    assert [thigh["lower"], thigh["effort"]] == [robot.lower_limits[8], robot.effort_limits[7]]
    assert facts["joints"][0]["lower"] is None
    assert [robot["name"] for robot in strict(kinetree("info", "--json")[1])] == ["ur5", "panda", "go2", "g1"]


def test_torques_and_an_export_as_json(kinetree):
    code, out, err = kinetree("inverse-dynamics", "go2", "--duration", "1", "--json", "-o", "made.npz")
    assert (code, err) == (0, "")
    found, tau = strict(out), np.abs(made()["tau"])
    assert found["samples"] == len(tau) == 101
    np.testing.assert_array_equal([joint["peak_tau"] for joint in found["joints"]], tau.max(axis=0))
    limits = kt.load("go2").effort_limits
    over = [joint["samples_over"] for joint in found["joints"]]
    np.testing.assert_array_equal(over, np.sum(tau > limits, axis=0))
    assert found["joints"][0]["limit_tau"] is None
    assert found["joints"][6]["limit_tau"] == limits[6]
    code, out, err = kinetree("inverse-dynamics", "ur5", "--duration", "0.1", "--json", "-o", "-")
    assert out.startswith("t,q.shoulder_pan_joint")
    assert strict(err)["samples"] == 11
    code, out, _ = kinetree("export", "ur5", "gravity_forces", "--json")
    assert Path(strict(out)["source"]).read_text() == kt.load("ur5").gravity_forces.to_c().source


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_explained_and_so_are_its_arguments(name):
    assert f"{name} " in overview().format_help()
    parser, (add, _) = make_parser(name), COMMANDS[name]
    assert add.__doc__.splitlines()[0] in " ".join(parser.format_help().split("\n"))
    assert callable(import_module(f"kinetree.cli.commands.{name.replace('-', '_')}").run)
    assert not [x.dest for x in parser._actions if not x.help and x.help != argparse.SUPPRESS]
    assert INTEGRATORS == OWN


def test_help_needs_neither_numpy_nor_a_compiler():
    script = "import sys; from kinetree.cli.program import make_parser as made; "
    script += "[made(x).format_help() for x in ('info', 'inverse-dynamics', 'simulate', 'export', 'cache')]; "
    script += "early = bool({'numpy', 'llvmlite', 'rich'} & {*sys.modules}); "
    script += "[made(x).format_help() for x in ('identify', 'excite')]; "  # the values of their options need NumPy
    script += "sys.exit(early or bool({'llvmlite', 'rich', 'kinetree.robot', 'kinetree.runtime'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_no_cache(kinetree, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_DIR", "off")
    assert kinetree("cache", "clear")[1] == "KINETREE_CACHE_DIR is off: there is nothing to remove\n"
