"""xacro: what ROS's own program makes of the same files, packages without ROS, and files of strangers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import warnings
from importlib import metadata
from pathlib import Path

import pytest
import trimesh

import kinetree as kt
from kinetree.errors import ArgumentError, FormatError, FormatWarning
from kinetree.formats import xacro

XMLNS = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
ARM = f"""<robot name="arm" {XMLNS}>
<xacro:arg name="size" default="small"/>
<xacro:arg name="heavy" default="false"/>
<xacro:property name="mass" value="${{2.0 if '$(arg size)' == 'small' else 5.0}}"/>
<xacro:macro name="link" params="name length:=1.0 *origin">
  <link name="${{name}}"><inertial><mass value="${{mass * length}}"/><xacro:insert_block name="origin"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
</xacro:macro>
<link name="base"/>
<xacro:link name="upper"><origin xyz="0 0 ${{sin(pi/2)}}"/></xacro:link>
<xacro:if value="$(arg heavy)"><xacro:link name="lower" length="3"><origin/></xacro:link></xacro:if>
<xacro:unless value="$(arg heavy)"><link name="lower"/></xacro:unless>
<joint name="a" type="continuous"><parent link="base"/><child link="upper"/></joint>
<joint name="b" type="fixed"><parent link="upper"/><child link="lower"/></joint>
</robot>"""


def theirs(path, **arguments):
    """Return what ROS's `xacro` makes of a file, as its users run it."""
    command = [sys.executable, "-m", "xacro", str(path), *(f"{name}:={value}" for name, value in arguments.items())]
    code = f"import sys, xacro; sys.argv = {command[2:]!r}; xacro.main()"
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "arm.urdf.xacro").write_text(ARM)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "text", "mass"),
    [
        ({}, {}, 2.0),
        ({"size": "large"}, {"size": "large"}, 5.0),
        ({"heavy": True}, {"heavy": "true"}, 8.0),
        ({"heavy": 1, "size": Path("large")}, {"heavy": "1", "size": "large"}, 20.0),
    ],
)
def test_it_is_the_robot_of_what_xacro_makes(folder, given, text, mass):
    path = folder / "arm.urdf.xacro"
    robot = kt.load(path, xacro=given)
    assert robot == kt.load(theirs(path, **text))
    assert robot.mass == mass
    assert kt.load(ARM, xacro=given) == kt.load(ARM.encode(), xacro=given) == robot  # texts, too
    (folder / "arm.urdf").write_text(ARM)
    assert kt.load(str(folder / "arm.urdf"), xacro=given) == robot  # whatever the ending


REAL = [
    Path(str(file.locate()))
    for package in ("robosuite", "example-robot-data")
    for file in (metadata.files(package) if package in {d.name for d in metadata.distributions()} else ())
    if file.name
    in ("hand.urdf.xacro", "panda_arm.urdf.xacro", "panda_arm_hand.urdf.xacro", "quadrotor_base.urdf.xacro")
]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_real_files(path, monkeypatch):
    monkeypatch.chdir(path.parent)  # so that relative paths mean the same in the text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert outcome(path) == outcome(theirs(path))


def outcome(source):
    """Return the robot, or what is wrong with it: some files have macros alone, or those of another version."""
    try:
        return kt.load(source)
    except FormatError as error:
        return str(error).partition(", line ")[2]


def included(name, xml="<link name='x'/>"):
    return f"<robot {XMLNS}>{xml}</robot>" if name.endswith(".xacro") else xml


def asking(filename, more=""):
    return f'<robot name="r" {XMLNS}><xacro:include filename="{filename}"{more}/></robot>'


@pytest.fixture
def workspace(folder):
    for name in ("src/arm", "src/hand_description", "ros/tool"):
        (folder / name / "urdf").mkdir(parents=True)
        (folder / name / "urdf" / "x.xacro").write_text(included("x.xacro"))
        package = os.path.basename(name) + ("_description" if name == "src/arm" else "")
        (folder / name / "package.xml").write_text(f"<package><name>{package}</name></package>")
    (folder / "src/arm/common.xacro").write_text(included("x.xacro"))
    (folder / "src/secret.xacro").write_text(included("x.xacro"))
    return folder


@pytest.mark.parametrize(
    ("filename", "environment", "packages"),
    [
        ("x.xacro", {}, {}),
        ("*.xacro", {}, {}),
        ("../common.xacro", {}, {}),  # in the package of the file
        ("$(find arm_description)/urdf/x.xacro", {}, {}),
        ("$(find hand_description)/urdf/x.xacro", {}, {}),
        ("${'$(find hand_description)'}/urdf/x.xacro", {}, {}),
        ("package://hand_description/urdf/x.xacro", {}, {}),
        ("$(find tool)/urdf/x.xacro", {"ROS_PACKAGE_PATH": "ros"}, {}),
        ("$(find tool)/urdf/x.xacro", {}, {"tool": "ros/tool"}),
        ("../../../ros/tool/urdf/x.xacro", {}, {"tool": "ros/tool"}),  # allowed where its package is named
    ],
)
def test_includes(workspace, monkeypatch, filename, environment, packages):
    for variable, value in environment.items():
        monkeypatch.setenv(variable, str(workspace / value))
    path = workspace / "src/arm/urdf/r.urdf.xacro"
    (workspace / "src/arm/urdf/r.urdf.xacro").write_text(
        asking(filename) if "*" not in filename else asking("x*.xacro")
    )
    robot = kt.load(path, packages={name: workspace / where for name, where in packages.items()})
    assert robot.frame_names == ("x",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (asking("../../secret.xacro"), "secret.xacro is outside of .*: name the package in which it is"),
        (asking("/etc/passwd"), "/etc/passwd is outside of"),
        (asking("$(find arm_description)/../secret.xacro"), "secret.xacro is outside of"),
        (
            asking("$(find nowhere)/x.xacro"),
            "the package 'nowhere' is not found: give kinetree.load.*packages={'nowhere'",
        ),
        (asking("$(find ..)/x.xacro"), "the package '..' is not found"),
        (asking("missing.xacro"), "an included file cannot be read: .*missing.xacro"),
        (asking("r.urdf.xacro"), "files include each other in a circle: .*r.urdf.xacro → .*r.urdf.xacro"),
        (asking("a.xacro"), r"^\S*a.xacro: files .* in a circle: .*r.urdf.xacro → .*a.xacro → .*b.xacro → .*a.xacro"),
        (asking("bomb.xacro"), "EntitiesForbidden|DTDForbidden"),
        (asking("broken.xacro"), r"^\S*broken.xacro: mismatched tag: line 2, .* \(included from \S*r.urdf.xacro\)$"),
        (asking("deep.xacro"), r"^\S*broken.xacro: mismatched .* \(included from \S*deep.xacro\)$"),
        (asking("unknown.xacro"), r"^\S*unknown.xacro: unknown macro name: xacro:nowhere \(included from"),
        (
            asking("macro.xacro").replace("</robot>", "<xacro:m/></robot>"),
            r"^\S*macro.xacro: in the macro 'm': name 'x' is not .* expression 'x' \(called in \S*r.urdf.xacro",
        ),
        (asking("$(arg which).xacro"), "the argument 'which' is missing: xacro={'which': …}"),
        (asking("${xacro.load_yaml('../../secret.yaml')}"), "secret.yaml is outside of"),
        (asking("$(env NOT_SET_ANYWHERE)"), "environment variable .*NOT_SET_ANYWHERE"),
        (f"<robot {XMLNS}><xacro:nowhere/></robot>", "unknown macro name: xacro:nowhere"),
    ],
)
def test_what_is_missing_or_refused(workspace, text, said):
    urdf = workspace / "src/arm/urdf"
    (urdf / "a.xacro").write_text(asking("b.xacro"))
    (urdf / "b.xacro").write_text(asking("a.xacro"))
    (urdf / "bomb.xacro").write_text("<!DOCTYPE r [<!ENTITY a 'x'>]><robot>&a;</robot>")
    (urdf / "broken.xacro").write_text("<robot>\n<a></robot>")
    (urdf / "deep.xacro").write_text(asking("broken.xacro"))
    (urdf / "unknown.xacro").write_text(included("a.xacro", "<xacro:nowhere/>"))
    (urdf / "macro.xacro").write_text(included("a.xacro", "<xacro:macro name='m'><link name='${x}'/></xacro:macro>"))
    (urdf / "r.urdf.xacro").write_text(text)
    with pytest.raises(FormatError, match=said):
        kt.load(urdf / "r.urdf.xacro")


def test_an_optional_include_may_be_missing(folder):
    (folder / "r.xacro").write_text(
        asking("missing.xacro", " optional='true'").replace("</robot>", "<link name='x'/></robot>")
    )
    assert kt.load(folder / "r.xacro").frame_names == ("x",)


def of(expression):
    return f'<robot name="r" {XMLNS}><link name="{expression}"/></robot>'


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("${__import__('os').getcwd()}", "__import__ is not a name that a robot needs"),
        ("${().__class__}", "__class__ is not a name"),
        ("${(lambda: ().__class__)()}", "__class__ is not a name"),  # xacro itself lets it pass
        ("${[x.__class__ for x in [1]]}", "__class__ is not a name"),
        ("${(x for x in []).gi_frame}", "gi_frame is not a name"),
        ("${python.vars(1)}", "'vars' is not defined"),
        ("${python.type(1)}", "'type' is not defined"),
        ("${open('/etc/passwd')}", "'open' is not defined"),
        (r"$(eval ${'open(\'/etc/passwd\'\x29.read(\x29'})", "'open' is not defined"),  # xacro itself reads the file
        ("$(eval [].__class__)", "__class__ is not a name"),
        (r"$(eval ${'open(1\x29.__class__'})", "__class__ is not a name"),
    ],
)
def test_expressions_reach_nothing_of_python(expression, said):
    with pytest.raises(FormatError, match=said):
        kt.load(of(expression), xacro={})


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("$(eval 1+1)", "2"),
        (r"$(eval ${'abs(-2.5\x29'})", "2.5"),
        ("${python.sum([1, 2])}", "3"),
        ("${[str(x) for x in [1, 2]][1]}", "2"),
        ("${max(1, math.floor(2.5))}", "2"),
        ("$(optenv NOT_SET_ANYWHERE there)", "there"),
    ],
)
def test_what_expressions_are_for(expression, name):
    assert kt.load(of(expression), xacro={}).frame_names == (name,)


@pytest.mark.parametrize(
    "expression",
    [
        "${python.sum(1 for x in python.range(10**12))}",
        "${10**10**9}",
        "${[x for x in python.range(10**12)][0]}",
        "${'x'*10**12}",
    ],
)
def test_a_file_that_does_not_end_is_stopped(monkeypatch, expression):
    monkeypatch.setattr(xacro, "SECONDS", 1.5)
    monkeypatch.setattr(xacro, "MEMORY", 2**28)
    start = time.monotonic()
    with pytest.raises(FormatError, match=r"has not ended in 1\.5 s|without a result|MemoryError"):
        kt.load(of(expression), xacro={})
    assert time.monotonic() - start < 10.0


def test_macros_that_call_themselves(monkeypatch):
    text = f'<robot {XMLNS}><xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/></robot>'
    with pytest.raises(FormatError, match="call themselves without an end"):
        kt.load(text)
    twice = "<xacro:m n='${n-1}'/>" * 2
    text = f'<robot {XMLNS}><xacro:macro name="m" params="n"><xacro:if value="${{n > 0}}">{twice}</xacro:if>'
    monkeypatch.setattr(xacro, "SECONDS", 1.5)
    with pytest.raises(FormatError, match="has not ended"):
        kt.load(
            text
            + '<xacro:unless value="${n > 0}"><link name="x"/></xacro:unless></xacro:macro><xacro:m n="60"/></robot>'
        )


def test_what_grows_beyond_its_limits(monkeypatch):
    monkeypatch.setattr(xacro, "MAX_BYTES", 10_000)
    with pytest.raises(FormatError, match="expands to more than"):
        kt.load(of("${'x' * 20000}"), xacro={})


def test_arguments_that_the_file_has_not_are_named(folder):
    with pytest.raises(ArgumentError, match=r"arm.urdf.xacro: no xacro argument 'sise', did you mean 'size'\?"):
        kt.load(folder / "arm.urdf.xacro", xacro={"sise": "large"})
    (folder / "r.xacro").write_text(asking("arm.urdf.xacro"))
    with pytest.raises(ArgumentError, match="did you mean 'size'"):  # of the file that it includes
        kt.load(folder / "r.xacro", xacro={"sice": "large"})


@pytest.mark.parametrize(
    "body",
    [
        "<xacro:if value='false'><xacro:arg name='size' default=''/></xacro:if>",
        "<xacro:property name='p' value='$(arg size)'/>",
        "<xacro:property name='p' value='$(eval size * 2)'/>",
    ],
)
def test_arguments_need_no_declaration_that_is_met(body):
    assert kt.load(of("x").replace("<link", body + "<link"), xacro={"size": 2}).frame_names == ("x",)


@pytest.mark.parametrize("link", ["arm.urdf.xacro", "r.xacro"])
def test_links_are_followed_as_installed_workspaces_have_them(folder, link):
    (folder / "source").mkdir()
    (folder / "installed").mkdir()
    (folder / "r.xacro").write_text(asking("arm.urdf.xacro"))
    for name in ("arm.urdf.xacro", "r.xacro"):
        (folder / name).rename(folder / "source" / name)
        (folder / "installed" / name).symlink_to(folder / "source" / name)
    assert kt.load(folder / "installed" / link).mass == 2.0
    (folder / "installed" / "self.xacro").symlink_to(folder / "installed" / "again.xacro")
    (folder / "source" / "again.xacro").write_text(asking("self.xacro"))
    (folder / "installed" / "again.xacro").symlink_to(folder / "source" / "again.xacro")
    with pytest.raises(FormatError, match="in a circle"):
        kt.load(folder / "installed" / "again.xacro")


@pytest.mark.parametrize("given", ["small", {1: "x"}, {"size": None}, {"size": [1]}])
def test_arguments_of_another_kind(given):
    with pytest.raises(ArgumentError, match="xacro takes"):
        kt.load(ARM, xacro=given)


def test_xacro_is_not_installed(monkeypatch):
    monkeypatch.setattr(xacro, "find_spec", lambda name: None)
    with pytest.raises(ArgumentError, match="pip install xacro"):
        kt.load(ARM)


def test_what_xacro_warns_of_is_told():
    text = of("x").replace("<link", "<xacro:property name='pi' value='3'/><link")
    with pytest.warns(FormatWarning, match="redefining global symbol: pi"):
        kt.load(text)


def test_a_mechanism_in_xacro(folder):
    loop = '<loop_joint name="l" type="continuous"><link1 link="base"/><link2 link="lower"/></loop_joint></robot>'
    mechanism = kt.load_mechanism(ARM.replace("</robot>", loop), xacro={"heavy": True})
    assert mechanism.constraint_names == ("l",)


@pytest.mark.parametrize(
    "text",
    [
        "<sdf version='1.9' {}><model name='r'><link name='a'><inertial><mass>${{1 + 1}}</mass></inertial></link>"
        "</model></sdf>",
        "<mujoco {}><worldbody><body name='a'><freejoint/><geom type='box' size='1 1 1' mass='${{1 + 1}}'/></body>"
        "</worldbody></mujoco>",
    ],
    ids=["sdf", "mjcf"],
)
def test_other_formats_in_xacro(text):
    assert kt.load(text.format(XMLNS), xacro={}).mass == 2.0


@pytest.mark.parametrize(
    "compiler", ["", "<compiler meshdir='meshes'/>", "<compiler angle='radian'/>\n<compiler assetdir='./meshes/'/>"]
)
def test_mjcf_in_xacro_finds_its_meshes(tmp_path, compiler):
    (tmp_path / "meshes").mkdir()
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "meshes" / "cube.stl")
    file = "cube.stl" if "dir" in compiler else "meshes/cube.stl"
    (tmp_path / "r.xacro").write_text(f"""<mujoco {XMLNS}>{compiler}<asset><mesh name='m' file='{file}'/></asset>
        <worldbody><body name='a'><freejoint/><geom type='mesh' mesh='m' density='${{1 + 1}}'/>
        <geom type='nonsense'/></body></worldbody></mujoco>""")
    with pytest.raises(FormatError, match="invalid keyword") as raised:
        kt.load(tmp_path / "r.xacro")
    printed = theirs(tmp_path / "r.xacro").splitlines()
    line = int(re.search(r"line (\d+)", str(raised.value))[1])
    assert "nonsense" in printed[line - 1]
    text = (tmp_path / "r.xacro").read_text().replace("<geom type='nonsense'/>", "")
    (tmp_path / "r.xacro").write_text(text)
    assert kt.load(tmp_path / "r.xacro").mass == pytest.approx(12.0)
