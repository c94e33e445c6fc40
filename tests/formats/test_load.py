"""The one door: text, bytes, paths and names."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import types

import pytest

import kinetree as kt
from kinetree.embedded import EMBEDDED, embedded_text
from kinetree.errors import FormatError, KinetreeError
from kinetree.formats import RobotNotFoundError, load_model
from kinetree.formats.graph import GraphLink, KinematicGraph
from kinetree.formats.load import READERS, ROBOT_READERS, ConstraintSpec, RobotFile, find_source, read_graph
from kinetree.formats.xml import Element

ROCK = "<robot name='rock'><link name='stone'/></robot>"


@pytest.fixture
def rock(tmp_path):
    path = tmp_path / "rock.urdf"
    path.write_text(ROCK)
    return path


@pytest.mark.parametrize(
    "text",
    [ROCK, "\n  " + ROCK, "\ufeff" + ROCK, "\n<?xml version='1.0'?>" + ROCK, ROCK.encode(), bytearray(ROCK, "utf-16")],
)
def test_text_and_bytes(text):
    assert load_model(text).frame_names == ("stone",)


def test_paths(rock, monkeypatch):
    assert load_model(rock) == load_model(str(rock)) == load_model(ROCK)
    monkeypatch.chdir(rock.parent)
    assert load_model("rock.urdf") == load_model(pathlib.Path("rock.urdf")) == load_model(ROCK)


def test_a_file_comes_before_an_embedded_robot_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "panda").write_text(ROCK)
    monkeypatch.chdir(tmp_path)
    assert load_model("panda").name == "rock"


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded_robots_float_as_they_are_meant_to(name):
    floating = EMBEDDED[name].floating
    assert load_model(name) == load_model(embedded_text(name), floating_base=floating)
    assert load_model(name, floating_base=not floating) == load_model(embedded_text(name), floating_base=not floating)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pand", "no file and no robot is named 'pand'; did you mean 'panda'?"),
        ("qqqq", "embedded are ur5, panda, go2, g1"),
        ("rok.urdf", "no file 'rok.urdf'; there is 'rock.urdf'"),
        ("deep/down/rock.urdf", "no file 'deep/down/rock.urdf'; looked from "),
        ("", "the name of the robot is empty"),
        (" \n", "the name of the robot is empty"),
        ("a\0b", "no file and no robot"),
        ("x" * 100_000, "no file and no robot"),
        (pathlib.Path("rok.urdf"), "no file 'rok.urdf'; there is 'rock.urdf'"),
    ],
)
def test_what_is_not_found(rock, monkeypatch, name, said):
    monkeypatch.chdir(rock.parent)
    with pytest.raises(RobotNotFoundError) as caught:
        load_model(name)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, KinetreeError)


@pytest.mark.parametrize("source", [None, 3, ["panda"], object()])
def test_what_is_no_source(source):
    with pytest.raises(KinetreeError, match="is loaded from a file name, a path, a robot's name or XML"):
        load_model(source)


def test_directories_and_binary_and_huge_files(tmp_path):
    with pytest.raises(FormatError, match="is a directory"):
        load_model(tmp_path)
    binary = tmp_path / "robot.urdf"
    binary.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    with pytest.raises(FormatError, match=r"robot\.urdf is a binary file"):
        load_model(binary)
    with binary.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(FormatError, match="more than the 64 MB"):
        load_model(binary)


@pytest.mark.skipif(not pathlib.Path("/dev/zero").exists(), reason="needs an endless file")
def test_an_endless_file():
    with pytest.raises(FormatError, match="more than the 64 MB"):
        load_model("/dev/zero")


@pytest.fixture
def descriptions(rock, monkeypatch):
    """Return a stand-in for the package robot_descriptions, which needs a network."""
    package = types.ModuleType("robot_descriptions")
    package.DESCRIPTIONS = {"rock_description": None, "mjcf_description": None, "lost_description": None}
    package.__path__ = []
    module = types.ModuleType("robot_descriptions.rock_description")
    module.URDF_PATH = str(rock)
    mjcf = types.ModuleType("robot_descriptions.mjcf_description")
    for each in (package, module, mjcf):
        monkeypatch.setitem(sys.modules, each.__name__, each)


@pytest.mark.usefixtures("descriptions")
def test_names_of_robot_descriptions(rock):
    assert load_model("rock_description").name == "rock"
    assert find_source("rock_description")[1] == str(rock)
    with pytest.raises(FormatError, match="no URDF, MJCF or xacro file for 'mjcf_description'"):
        load_model("mjcf_description")
    with pytest.raises(FormatError, match="could not fetch 'lost_description'"):
        load_model("lost_description")
    with pytest.raises(RobotNotFoundError, match="did you mean 'rock_description'"):
        load_model("rok_description")


def test_hints_name_packages_that_can_be_installed():
    """The extras are those of a clone: a message does not know where that is."""
    sources = pathlib.Path(kt.__file__).parent.rglob("*.py")
    assert not [path for path in sources if "pip install kinetree" in path.read_text(encoding="utf-8")]


def test_without_robot_descriptions_its_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(RobotNotFoundError, match="`pip install robot_descriptions`"):
        load_model("atlas_v4_description")


def test_loading_a_file_imports_no_network_and_no_optional_package(rock):
    code = (
        f"import sys; from kinetree.formats import load_model; load_model({str(rock)!r});"
        "print(sorted({'urllib.request', 'robot_descriptions', 'scipy', 'http.client'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_folder_named_like_a_robot_is_not_in_its_way(tmp_path, monkeypatch):
    (tmp_path / "panda").mkdir()
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load_model("panda").nq == 7
    with pytest.raises(FormatError, match="mine is a directory"):
        load_model("mine")


def test_a_format_is_a_reader_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(root: Element) -> KinematicGraph:
        return KinematicGraph(root.attributes["title"], root, (GraphLink("stone", root, None),), ())

    text = "<toy xmlns='http://toys.example' title='rock'/>"
    with pytest.raises(kt.FormatError, match="root element <robot>"):
        kt.load(text)
    monkeypatch.setitem(READERS, "toy", read)
    robot = kt.load(text, floating_base=True, gravity=(0.0, 0.0, -1.62))
    assert (robot.name, robot.nv) == ("rock", 6)


def test_a_format_of_whole_robots_is_a_reader_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a document, of objects of a type, and of what closes loops."""
    made: list[object] = []

    def read(document, root, options, constraints):
        made.append((document, root and root.tag, options.lenient, constraints))
        weld = ConstraintSpec("Weld", {"frame": "tool0", "name": "hold"})
        return RobotFile(load_model("ur5"), {"up": [0.0] * 6}, constraints=(weld,) if constraints else ())

    class Toy:
        pass

    toy = Toy()
    monkeypatch.setitem(ROBOT_READERS, "toy", read)
    monkeypatch.setitem(ROBOT_READERS, "Toy", read)
    assert kt.load("<toy/>", lenient=True).configuration("up").tolist() == [0.0] * 6
    assert kt.load_mechanism(toy).constraint_names == ("hold",)
    assert made == [("<toy/>", "toy", True, False), (toy, None, False, True)]
    with pytest.raises(kt.FormatError, match="no links and joints as URDF has them"):
        read_graph("<toy/>")
