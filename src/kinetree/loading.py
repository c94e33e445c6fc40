"""`load`, `load_mechanism`, `from_dh`, `from_screws`: robots from files, their text, names, and tables of textbooks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ParamSpec

from kinetree.errors import ArgumentError
from kinetree.formats import load_model
from kinetree.formats.chains.dh import DHLink, model_from_dh
from kinetree.formats.chains.screws import model_from_screws
from kinetree.formats.load import load_cut_model
from kinetree.formats.spanning import frame_names
from kinetree.formats.srdf import Source, configurations_of
from kinetree.locks import importing
from kinetree.model import GRAVITY, Model
from kinetree.model.checks import Pose
from kinetree.robot import Robot
from kinetree.signatures import told, wrong_call

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

__all__ = ["DHLink", "from_dh", "from_screws", "load", "load_mechanism"]

P = ParamSpec("P")


def _robot_by(read: Callable[P, Robot | Model]) -> Callable[[Callable[[], None]], Callable[P, Robot]]:
    """Decorate a name and its documentation: a function with the arguments of `read` that returns its robot."""
    signature = inspect.signature(read).replace(return_annotation="Robot")

    def decorate(documented: Callable[[], None]) -> Callable[P, Robot]:
        @functools.wraps(documented)
        def load(*args: P.args, **kwargs: P.kwargs) -> Robot:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                name = documented.__name__
                raise wrong_call(name, signature, args, kwargs, TypeError(f"{name}() {error}")) from None
            made = read(*args, **kwargs)
            return made if isinstance(made, Robot) else Robot(made)

        load.__signature__ = signature  # type: ignore[attr-defined]
        return load

    return decorate


def _loaded(
    source: Source,
    *,
    floating_base: bool | None = None,
    base_pose: Pose | None = None,
    gravity: Iterable[float] = GRAVITY,
    mimic: str = "follow",
    lenient: bool = False,
    srdf: Source | None = None,
) -> Robot:
    """Return the robot of a file, with the configurations of another; `load` documents the arguments."""
    model = load_model(
        source, floating_base=floating_base, base_pose=base_pose, gravity=gravity, mimic=mimic, lenient=lenient
    )
    return Robot(model, None if srdf is None else configurations_of(model, srdf))


@_robot_by(_loaded)
def load() -> None:
    """Load a robot.

    Parameters
    ----------
    source : str, bytes or path
        In this order: the text of a file, URDF or SDF, if it starts with ``<``; the path of a file that exists; the
        name of an embedded robot (``ur5``, ``panda``, ``go2``, ``g1``); the name of a module of ``robot_descriptions``.
    floating_base : bool, optional
        Whether the root link moves freely. By default it is fixed, except for the embedded legged robots, and for an
        SDF file that neither is static nor holds a link to the world.
    base_pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of the root link in the world, for a fixed base. By default it stands at the world's origin, or where an
        SDF file has it.
    gravity : 3 numbers
        Acceleration of gravity in the world's axes (m/s²).
    mimic : {"follow", "independent"}
        Whether joints that mimic others follow them, without a coordinate of their own, or each moves by itself.
    lenient : bool
        Whether faults that other readers let pass are a `FormatWarning` each, which names element, line and what is
        done: a joint that mimics none moves by itself, limits of position without room between them are not read, of
        elements that may stand only once the first is read, unknown attributes and misspelt elements are not read,
        negative damping or friction is zero, an ``<inertial>`` without ``<mass>`` is none, and one without
        ``<inertia>`` is a point mass; loops that extensions of URDF close stay open.
    srdf : str, bytes or path, optional
        An SRDF file, or its text: its group states become named configurations (`Robot.configurations`). Joints that a
        state does not name are at their zero; those that the robot has not are left out, with a `FormatWarning`.

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


@told
def load_mechanism(
    source: Source,
    *,
    cut: str | Iterable[str] = (),
    floating_base: bool | None = None,
    base_pose: Pose | None = None,
    gravity: Iterable[float] = GRAVITY,
    mimic: str = "follow",
    lenient: bool = False,
    srdf: Source | None = None,
    actuated: Iterable[str] | None = None,
    stabilization: float = 0.0,
) -> Mechanism:
    """Load a robot with closed loops: a URDF or SDF file in which a link has two parents.

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
    source : str, bytes or path
        As `load` takes it.
    cut : str or iterable of str
        Joints to cut, with a motor or not, instead of others in their loops.
    floating_base, base_pose, gravity, mimic, lenient, srdf
        As `load` takes them.
    actuated : iterable of str, optional
        The joints that are driven: `Mechanism.actuated`. By default those with a motor, as above; all but floating
        bases where the file says of none that it has one.
    stabilization : float
        As `Mechanism` takes it.

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
        from kinetree.constraints.types.loop import Loop, why_it_cannot_close
        from kinetree.robot.mechanism import Mechanism

    given = (cut,) if isinstance(cut, str) else cut
    cut = tuple(given) if isinstance(given, Iterable) else ()
    if not isinstance(given, Iterable) or not all(isinstance(name, str) for name in cut):
        raise ArgumentError(f"cut takes names of joints; {given!r} was given")
    model, cuts, motors = load_cut_model(
        source,
        cut,
        lambda joint: not why_it_cannot_close(joint),
        floating_base=floating_base,
        base_pose=base_pose,
        gravity=gravity,
        mimic=mimic,
        lenient=lenient,
    )
    robot = Robot(model, None if srdf is None else configurations_of(model, srdf))
    loops = [Loop(*frame_names(joint), joint.joint, name=joint.name) for joint in cuts]
    return Mechanism(robot, loops, motors if actuated is None else actuated, stabilization=stabilization)


@_robot_by(model_from_dh)
def from_dh() -> None:
    """Make a robot from Denavit–Hartenberg parameters.

    Its moving bodies are ``link1`` … ``linkn``. Its frames are these, ``base``, the DH frames ``frame1`` … ``framen``
    and ``tool``. In the modified convention body and DH frame coincide; in the standard one the DH frame is at the far
    end of the link, and the body's frame, to which f_ext refers, is at its joint: where ``Rz(θ) Tz(d)`` leads.

    Parameters
    ----------
    links : sequence of DHLink
        One row a joint.
    convention : {"standard", "modified"}
        ``T = Rz(θ) Tz(d) Tx(a) Rx(α)``, or ``T = Rx(α) Tx(a) Rz(θ) Tz(d)`` (Craig) with the a and α of the link before.
    name : str
    joint_names : sequence of str, optional
        ``joint1`` … by default.
    tool_pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of the frame ``tool`` in the last DH frame.
    base_pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of the DH frame 0 in the world.
    gravity : 3 numbers
        Acceleration of gravity in the world's axes (m/s²).

    Raises
    ------
    ModelError
        If a row is wrong; the message has its number.

    References
    ----------
    Denavit and Hartenberg 1955; Craig, *Introduction to Robotics*, section 3.4.

    Examples
    --------
    >>> from kinetree.spatial import Inertia
    >>> rod = Inertia.from_com(1.5, [-0.2, 0, 0], [[0.001, 0, 0], [0, 0.02, 0], [0, 0, 0.02]])
    >>> arm = from_dh([DHLink(a=0.4, inertia=rod), DHLink(a=0.4, inertia=rod)], gravity=(0, -9.81, 0))
    >>> print(arm.gravity_forces([0.0, 0.0]).round(4))
    [11.772  2.943]
    """


@_robot_by(model_from_screws)
def from_screws() -> None:
    """Make a robot from screw axes and home placements (product of exponentials), as *Modern Robotics* does.

    A screw may be a rotation, a translation, or a helix. The moving bodies are ``link1`` … ``linkn``. The frames are
    these, ``base``, the link frames {i} of the book as ``frame1`` … ``framen``, and ``tool``. A body's frame, to which
    f_ext refers, is parallel to {i} and on the joint's axis, where that is next to {i}.

    Parameters
    ----------
    M : (n, 4, 4) or (n + 1, 4, 4) array-like, or SciPy's RigidTransform
        M_{i−1,i}: pose of link frame i in link frame i − 1 in the home position; the last one is the tool's.
    G : (n, 6, 6) array-like
        Spatial inertias in the link frames, angular part first: ``diag(I_xx, I_yy, I_zz, m, m, m)`` for frames at the
        centre of mass along the principal axes, but any rigid body's will do.
    screws : (6, n) array-like
        Screw axes (ω, v), one column a joint, with ``|ω| = 1``, or ω = 0 and ``|v| = 1``. One of another length scales
        its coordinate, as the exponential ``e^{[S]θ}`` says, with a `FormatWarning`.
    frame : {"space", "body", "link"}
        Where the screws are given, in the home position: S_i in {0}, B_i in the tool's frame, A_i each in its {i}.
    name : str
    joint_names : sequence of str, optional
        ``joint1`` … by default.
    limits : sequence of JointLimits, optional
    armature, damping, friction : float or (n,) array-like
        Reflected rotor inertia, viscous and Coulomb friction of the joints.
    base_pose : (4, 4) array-like, or SciPy's RigidTransform or Rotation, optional
        Pose of {0} in the world.
    gravity : 3 numbers
        Acceleration of gravity in the world's axes (m/s²).

    Raises
    ------
    ModelError
        If something is no pose, inertia or screw; the message says which.

    References
    ----------
    Lynch and Park, *Modern Robotics*, sections 4.1 and 8.3.

    Examples
    --------
    >>> import numpy as np
    >>> M = np.tile(np.eye(4), (2, 1, 1))
    >>> M[0, :3, 3] = 0.5, 0.0, 0.0  # a rod with its middle at x = 0.5, turning about y at the origin
    >>> rod = from_screws(M, [np.diag([0.001, 0.08, 0.08, 1.0, 1.0, 1.0])], np.array([[0, 1, 0, 0, 0, 0]]).T)
    >>> print(rod.gravity_forces([0.0]))
    [-4.905]
    """
