"""`load` and `load_mechanism`: robots from files, their text, and names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from kinetree.errors import ArgumentError
from kinetree.formats.load import ReadOptions, RobotFile, Source, named_folders, read_cut_robot, read_robot
from kinetree.locks import importing
from kinetree.model.checks import Pose
from kinetree.robot_methods import Robot
from kinetree.signatures import friendly_call_errors

if TYPE_CHECKING:
    from kinetree.mechanism_methods import Mechanism

__all__ = ["load", "load_mechanism"]


@friendly_call_errors
def load(
    source: Source | Any,
    *,
    floating_base: bool | None = None,
    base_pose: Pose | None = None,
    gravity: Iterable[float] | None = None,
    mimic: str = "follow",
    lenient: bool = False,
    strict: bool = False,
    srdf: Source | None = None,
    packages: Mapping[str, str | PathLike[str]] | None = None,
    xacro: Mapping[str, object] | None = None,
) -> Robot:
    """Load a robot.

    Parameters
    ----------
    source : str, bytes, path, MjModel or MjSpec
        In this order: the text of a file, URDF, SDF or MJCF, if it starts with ``<``; the path of a file that exists;
        the name of an embedded robot (``ur5``, ``panda``, ``go2``, ``g1``); the name of a module of
        ``robot_descriptions``. MJCF is compiled by MuJoCo, the extra ``mjcf``, and what it has compiled already, or an
        ``MjSpec``, is read too.
    floating_base : bool, optional
        Whether the root link moves freely. By default it is fixed, except for the embedded legged robots, for an SDF
        file that neither is static nor holds a link to the world, and where an MJCF file has a free joint: False holds
        such a body where the file puts it.
    base_pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of the root link in the world, for a fixed base. By default it stands at the world's origin, or where an
        SDF file has it.
    gravity : 3 numbers, optional
        Acceleration of gravity in the world's axes (m/s²), by default (0, 0, -9.81), or what an MJCF file says.
    mimic : {"follow", "independent"}
        Whether joints that mimic others follow them, without a coordinate of their own, or each moves by itself.
    lenient : bool
        Whether faults that other readers let pass are a `FormatWarning` each, which names element, line and what is
        done: a joint that mimics none moves by itself, limits of position without room between them are not read, of
        elements that may stand only once the first is read, unknown attributes and misspelt elements are not read,
        negative damping or friction is zero, an ``<inertial>`` without ``<mass>`` is none, and one without
        ``<inertia>`` is a point mass; loops that extensions of URDF close stay open.
    strict : bool
        Whether it is an error, instead of one `FormatWarning` that names it all, that an MJCF file has what there is
        no place for here, such as springs of tendons; armature of tendons is an error unless `lenient`.
    srdf : str, bytes or path, optional
        An SRDF file, or its text: its group states become named configurations (`Robot.configurations`). Joints that a
        state does not name are at their zero; those that the robot has not are left out, with a `FormatWarning`.
    packages : mapping of str to path, optional
        Folders of ROS packages by their names, for meshes at ``package://NAME/…``. Others are found by the package.xml
        around the file, in ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, and in folders of that name above the file.
    xacro : mapping of str to str, bool, int or float, optional
        The arguments of a xacro file, such as ``{"ur_type": "ur5e"}``. Files that end in ``.xacro``, and those with
        elements of xacro, are expanded by ROS's `xacro` (``pip install xacro``), in a process of its own
        that ends after 30 s. They may include files of their own package and of `packages` only.

    Raises
    ------
    RobotNotFoundError
        If there is no such robot. It is a `FileNotFoundError` too.
    FormatError
        If the file is broken, or has closed loops, which `load_mechanism` reads: the message names the file, the
        element and the line.
    ModelError
        If it describes no robot, or `base_pose` or `gravity` is wrong.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("ur5")
    <Robot 'ur5': 6 joints, nq = 6, nv = 6>
    """
    folders = named_folders(packages or {})
    options = ReadOptions(floating_base, base_pose, gravity, mimic, lenient, strict, folders, xacro)
    return _robot(read_robot(source, options), srdf)


def _robot(found: RobotFile, srdf: Source | None) -> Robot:
    """Return the robot of a file, with the configurations of an SRDF file if there is one."""
    configurations = found.configurations
    if srdf is not None:
        with importing:
            from kinetree.formats.srdf import configurations_of

        configurations = {**configurations, **configurations_of(found.model, srdf)}
    return Robot(found.model, configurations, geometry=found.geometry, actuators=found.actuators)


@friendly_call_errors
def load_mechanism(
    source: Source | Any,
    *,
    cut: str | Iterable[str] = (),
    floating_base: bool | None = None,
    base_pose: Pose | None = None,
    gravity: Iterable[float] | None = None,
    mimic: str = "follow",
    lenient: bool = False,
    strict: bool = False,
    srdf: Source | None = None,
    packages: Mapping[str, str | PathLike[str]] | None = None,
    xacro: Mapping[str, object] | None = None,
    actuated: Iterable[str] | None = None,
) -> Mechanism:
    """Load a robot with closed loops: a URDF or SDF file in which a link has two parents, or MJCF with equalities.

    In MJCF ``<connect>`` is a `Loop` that closes at a ball joint, ``<weld>`` a `Weld`, and a linear ``<joint>`` a
    `Gear`; those that are not active at the start are left out. What follows is about the other formats.

    Each loop is cut at one joint, and closes there by a `Loop` with the joint's name, between the frames ``NAME.child``
    and ``NAME.parent``, which are new: `Mechanism.constraint_names` tells which joints were cut. These have no
    coordinate, no limits and no friction. Joints that a file itself marks as closing a loop are always cut:
    ``<loop_joint>`` of Isaac Sim, ``<loop>`` of URDF+, ``<drake:ball_constraint>``, a ``<joint>`` in ``<gazebo>``.

    Else the fewest rows are cut: a ball joint (3) before a hinge (5). Of equal ones it is one late in the file, if
    possible so that no joint is carried by its child; where one is, its axis is turned around, so that its coordinate
    keeps its meaning. Never cut are joints with a motor, which are those that a ``<transmission>`` or a
    ``<ros2_control>`` drives, or, in a file without these, those whose limit of effort is finite and not zero; joints
    with springs or followers, and those at which no loop can close.

    In a URDF a joint's frame is its child's: both joints of a link with two parents are at its origin, so that it is
    often a link of its own, as ``pin`` below. In an SDF file all loops are closed where all joints are at zero.

    Parameters
    ----------
    source : str, bytes, path, MjModel or MjSpec
        As `load` takes it.
    cut : str or iterable of str
        Joints to cut, with a motor or not, instead of others in their loops.
    floating_base, base_pose, gravity, mimic, lenient, strict, srdf, packages, xacro
        As `load` takes them.
    actuated : iterable of str, optional
        The joints that are driven: `Mechanism.actuated`. By default those with a motor, as above, in MJCF an actuator;
        all but floating bases where the file says of none that it has one.

    Raises
    ------
    RobotNotFoundError
        If there is no such robot. It is a `FileNotFoundError` too.
    FormatError
        If the file is broken, or has no closed loop, or one whose joints may not be cut.
    ArgumentError
        If there is no joint of a name in `cut` or `actuated`, or one to cut has a spring or followers.
    ModelError
        If it describes no robot, or an argument is wrong.

    Examples
    --------
    >>> import kinetree as kt
    >>> joint = "<joint name='{}' type='{}'><parent link='{}'/><child link='{}'/><origin xyz='{} 0 0'/></joint>"
    >>> links = "".join(f"<link name='{name}'/>" for name in ("ground", "crank", "coupler", "rocker", "pin"))
    >>> hinges = [("motor", "ground", "crank", 0), ("elbow", "crank", "coupler", 1), ("pivot", "ground", "rocker", 2)]
    >>> joints = [(name, "continuous", *rest) for name, *rest in (*hinges, ("tip", "rocker", "pin", 1.5))]
    >>> joints += [("end", "fixed", "coupler", "pin", 2)]
    >>> four_bar = f"<robot name='four-bar'>{links}{''.join(joint.format(*values) for values in joints)}</robot>"
    >>> kt.load_mechanism(four_bar).constraint_names
    ('tip',)
    >>> kt.load_mechanism(four_bar, cut="elbow").tree.joint_names
    ('motor', 'pivot', 'tip')
    """
    with importing:
        from kinetree.constraints.types import Constraint
        from kinetree.constraints.types.loop import why_it_cannot_close
        from kinetree.mechanism_methods import Mechanism

    given = (cut,) if isinstance(cut, str) else cut
    cut = tuple(given) if isinstance(given, Iterable) else ()
    if not isinstance(given, Iterable) or not all(isinstance(name, str) for name in cut):
        raise ArgumentError(f"cut takes names of joints; {given!r} was given")
    folders = named_folders(packages or {})
    options = ReadOptions(floating_base, base_pose, gravity, mimic, lenient, strict, folders, xacro)
    found = read_cut_robot(source, cut, lambda joint: not why_it_cannot_close(joint), options)
    constraints = [Constraint.registry[spec.type](**spec.arguments) for spec in found.constraints]
    return Mechanism(_robot(found, srdf), constraints, found.motors if actuated is None else actuated)
