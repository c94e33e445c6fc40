"""Find the source of a robot, and the reader of its format.

A source may be a name in the package `robot_descriptions`, which fetches a repository when one is asked for first.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.embedded import EMBEDDED, embedded_text
from kinetree.errors import ArgumentError, FormatError, KinetreeError, shortened
from kinetree.formats.graph import GraphJoint, KinematicGraph, model_of
from kinetree.formats.urdf.document import graph_from_element as graph_from_urdf
from kinetree.formats.urdf.document import refuse_xacro
from kinetree.formats.xml import MAX_BYTES, Element, check_size, parse_xml, xacro_element
from kinetree.joints import Joint
from kinetree.lazy import lazy_method
from kinetree.locks import importing
from kinetree.model import GRAVITY, Actuator, Model
from kinetree.model.checks import Pose

if TYPE_CHECKING:
    from kinetree.geometry import Geometries


def described_names() -> list[str]:
    """Return the names that the package knows; none where it is not installed."""
    try:
        with importing:
            package = importlib.import_module("robot_descriptions")
    except ImportError:
        return []
    return list(package.DESCRIPTIONS)


def description_path(name: str) -> str:
    """Return the path of a robot's URDF, MJCF or xacro file, which may be downloaded for it."""
    try:
        with importing:
            module = importlib.import_module(f"robot_descriptions.{name}")
    except Exception as error:  # git, the network, the disk: anything may go wrong in there
        raise FormatError(
            f"robot_descriptions could not fetch {name!r} ({type(error).__name__}: {error}); "
            "download the robot yourself and give its file"
        ) from error
    for kind in ("URDF_PATH", "MJCF_PATH", "XACRO_PATH"):
        if hasattr(module, kind):
            return str(getattr(module, kind))
    raise FormatError(f"robot_descriptions has no URDF, MJCF or xacro file for {name!r}")


get_close_matches = lazy_method("difflib", "get_close_matches")
expand_xacro = lazy_method("kinetree.formats.xacro", "expand")
frame_names = lazy_method("kinetree.formats.spanning", "frame_names")
packages_of = lazy_method("kinetree.formats.packages", "Packages")

ENDINGS = (".urdf", ".xml", ".xacro", ".sdf")

Source = str | bytes | os.PathLike[str]

Reader = Callable[[Element], KinematicGraph]
"""Takes the root element, which knows whether to be lenient."""

READERS: dict[str, Reader] = {
    "robot": graph_from_urdf,
    "sdf": lazy_method("kinetree.formats.sdf.model", "graph_from_element"),
}
"""The reader of a file by the tag of its root element: a new format is a module and a row."""

RobotReader = Callable[[Any, Element | None, "ReadOptions", bool], "RobotFile"]
"""Takes a document or an object, the root element of a document, the options, and whether to read constraints."""

ROBOT_READERS: dict[str, RobotReader] = dict.fromkeys(
    ("mujoco", "mujocoinclude", "MjModel", "MjSpec"), lazy_method("kinetree.formats.mjcf.compiler", "read")
)
"""The reader of a format that has more than links and joints, by its root tag, and of objects, by their type's name."""


class RobotNotFoundError(KinetreeError, FileNotFoundError):
    """No file, embedded robot or description has this name."""


class ReadOptions(NamedTuple):
    """How a robot is read; `kinetree.load` documents them."""

    floating_base: bool | None = None
    base_pose: Pose | None = None
    gravity: Iterable[float] | None = None
    mimic: str = "follow"
    lenient: bool = False
    strict: bool = False
    packages: Mapping[str, str] = MappingProxyType({})
    xacro: Mapping[str, object] | None = None


AS_IT_IS = ReadOptions()


class ConstraintSpec(NamedTuple):
    """A constraint by the name of its class in `kinetree.constraints.types`, and its arguments: formats know none."""

    type: str
    arguments: Mapping[str, Any]


class RobotFile(NamedTuple):
    """What a file says of a robot: the arguments of `Robot`, and the joints that close loops, of `load_mechanism`.

    `motors` are the joints that have one; None where the file says of none that it has.
    """

    model: Model
    configurations: Mapping[str, Sequence[float]] = MappingProxyType({})
    geometry: Callable[[], Geometries] | None = None
    actuators: tuple[Actuator, ...] = ()
    constraints: tuple[ConstraintSpec, ...] = ()
    motors: tuple[str, ...] | None = None


def load_model(source: Source, **options: Any) -> Model:
    """Return the model of a robot; `kinetree.load` documents the options.

    Examples
    --------
    >>> load_model("panda").nq
    7
    >>> load_model("<robot name='rock'><link name='stone'/></robot>", floating_base=True).nv
    6
    """
    return read_robot(source, ReadOptions(**options)).model


def read_robot(source: Source, options: ReadOptions) -> RobotFile:
    """Return what a source says of a robot."""
    found, floats = _read(source, options, False)
    return found if isinstance(found, RobotFile) else _of_graph(found.without_loops(), floats, options)


def _of_graph(graph: KinematicGraph, floats: bool | None, options: ReadOptions) -> RobotFile:
    gravity = GRAVITY if options.gravity is None else options.gravity
    model = model_of(graph, floating_base=floats, base_pose=options.base_pose, gravity=gravity)
    return RobotFile(model, geometry=_geometry(graph, options))


def _geometry(graph: KinematicGraph, options: ReadOptions) -> Callable[[], Geometries] | None:
    """Return what reads the shapes of a graph, with their files found from where this process is now."""
    read, folder = graph.geometry, folder_of(graph.element.source)
    return read and (lambda: read(packages_of(folder, options.packages)))


def folder_of(source: str) -> str:
    """Return the absolute folder of a file; for a text the one in which this process is."""
    return os.path.dirname(os.path.abspath(source))


def named_folders(packages: Mapping[str, str | os.PathLike[str]]) -> dict[str, str]:
    """Return the absolute folders of packages that a user names; an error where one is none."""
    if not isinstance(packages, Mapping):
        raise ArgumentError(
            f"packages takes a mapping such as {{'ur_description': 'a/folder'}}; {packages!r} was given"
        )
    found = {}
    for name, path in packages.items():
        if not isinstance(name, str) or not isinstance(path, str | os.PathLike):
            raise ArgumentError(f"packages takes names and their folders; {name!r}: {path!r} was given")
        found[name] = os.path.abspath(os.fspath(path))
        if not os.path.isdir(found[name]):
            raise ArgumentError(f"packages: {name!r}: there is no folder {found[name]!r}")
    return found


def read_cut_robot(
    source: Source, cut: Sequence[str], closes: Callable[[Joint], bool], options: ReadOptions
) -> RobotFile:
    """Return what a source says of a robot with constraints; loops of joints are cut.

    The model has the frames of the joints that were cut. Where a motor drives a joint that follows another, the one
    that leads has it. `closes` tells whether a loop can close at a joint; see `kinetree.load_mechanism`.
    """
    with importing:
        from kinetree.formats.spanning import cut_into_tree

    graph, floats = _read(source, options, True)
    if isinstance(graph, RobotFile):
        if cut:
            raise ArgumentError(f"cut={cut!r}: this file says itself where its loops close; leave cut out")
        return graph
    tree, cuts = cut_into_tree(graph, cut, closes)
    found = _of_graph(tree, floats, options)
    with_motor = {joint.name for joint in graph.joints if joint.actuated and joint.joint.nv}
    driven = {k for body in found.model.bodies if body.joint_name in with_motor for k in body.v_index}
    motors = tuple(body.joint_name for body in found.model.leading if driven & {*body.v_index})
    return found._replace(constraints=tuple(map(_loop, cuts)), motors=motors if with_motor else None)


def _loop(cut: GraphJoint) -> ConstraintSpec:
    frame, to = frame_names(cut)
    return ConstraintSpec("Loop", {"frame": frame, "to": to, "joint": cut.joint, "name": cut.name})


def read_graph(source: Source, options: ReadOptions = AS_IT_IS) -> tuple[KinematicGraph, bool | None]:
    """Return the links and joints of a source, and whether its base floats; None where that is for the file to say."""
    found, floats = _read(source, options, False)
    if isinstance(found, RobotFile):
        raise FormatError("MJCF has no links and joints as URDF has them: give a URDF or SDF file")
    return found, floats


def _read(
    source: Any, options: ReadOptions, constraints: bool
) -> tuple[KinematicGraph, bool | None] | tuple[RobotFile, None]:
    """Return what the reader of a format makes of a source, and whether its base floats, as `read_graph` does."""
    if options.mimic not in ("follow", "independent"):
        raise ArgumentError(f"mimic={options.mimic!r}: give 'follow' or 'independent'")
    if read_object := ROBOT_READERS.get(type(source).__name__):
        if options.xacro is not None or options.packages:
            raise ArgumentError(
                f"xacro and packages are for files; {type(source).__name__} is compiled: leave them out"
            )
        return read_object(source, None, options, constraints), None
    text, name, floats = find_source(source)
    root = parse_xml(text, name, lenient=options.lenient)
    if name.endswith(".xacro") or options.xacro is not None or xacro_element(root):
        text = expand_xacro(text, name, folder_of(name), options.xacro or {}, options.packages)
        root = parse_xml(text, f"{name} (expanded)", lenient=options.lenient)
        refuse_xacro(root)
    tag = root.tag.rpartition("}")[2]
    if tag in ROBOT_READERS:
        return ROBOT_READERS[tag](text, root, options, constraints), None
    read = READERS.get(tag) or READERS["robot"]  # URDF's says what the root must be
    graph = read(root).with_mimic(options.mimic)
    return graph, floats if options.floating_base is None else options.floating_base


def find_source(source: Source) -> tuple[str | bytes, str, bool | None]:
    """Return the document that a source stands for, its name for messages, and whether it floats by default.

    For a file that is None: its reader knows.
    """
    if isinstance(source, (bytes, bytearray)):
        return bytes(source), "<bytes>", None
    if isinstance(source, os.PathLike):
        return read_file(os.fspath(source)), str(source), None
    if not isinstance(source, str):
        raise KinetreeError(
            "a robot is loaded from a file name, a path, a robot's name or XML, or from MuJoCo's MjModel or MjSpec; "
            f"{type(source).__name__} was given"
        )
    if source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source, "<string>", None
    folder = os.path.isdir(source)  # the name of a robot may well be that of a folder here
    if os.path.exists(source) and not folder:
        return read_file(source), source, None
    if source in EMBEDDED:
        return embedded_text(source), f"{source} (embedded)", EMBEDDED[source].floating
    if source in described_names():
        path = description_path(source)
        return read_file(path), path, None
    if folder:
        return read_file(source), source, None
    raise RobotNotFoundError(_not_found(source))


def read_file(path: str) -> bytes:
    """Return the bytes of a file (or pipe) of bounded size."""
    try:
        with open(path, "rb") as file:
            check_size(os.fstat(file.fileno()).st_size, path)
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise RobotNotFoundError(_not_found(path)) from None
    except OSError as error:
        folder = os.path.isdir(path)
        why = "is a directory: give the robot file in it" if folder else f"cannot be read: {error.strerror}"
        raise FormatError(f"{path} {why}") from None
    check_size(len(data), path)
    return data


def _not_found(name: str) -> str:
    """Return the message for a source that is nothing known: what was tried, and what is near."""
    if not name.strip():
        return "the name of the robot is empty: give a file, XML or one of " + ", ".join(EMBEDDED)
    folder, base = os.path.split(name)
    if folder or base.endswith(ENDINGS):
        near = get_close_matches(base, _robot_files(folder or "."), n=3)
        hint = f"; there is {' and '.join(map(repr, near))}" if near else f"; looked from {os.getcwd()}"
        return f"no file {shortened(name)!r}{hint}"
    known = [*EMBEDDED, *described_names()]
    near = get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"embedded are {', '.join(EMBEDDED)}"
    extra = "" if described_names() else "; `pip install robot_descriptions` adds that package's robots"
    return f"no file and no robot is named {shortened(name)!r}; {hint}{extra}"


def _robot_files(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(ENDINGS)]
    except OSError:
        return []
