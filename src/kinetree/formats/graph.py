"""Links and joints as a file has them, in whatever graph, which the reader of a format returns; the model of a tree."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from kinetree.errors import FormatError, ModelError, listed, shortened, unknown_name, warn_user
from kinetree.formats.xml import IDENTITY, Element, Rows, Triple
from kinetree.joints import Joint
from kinetree.model import GRAVITY, NO_LIMITS, JointLimits, JointSpring, Model, ModelBuilder
from kinetree.model.body import NO_SPRING, WORLD
from kinetree.model.checks import Pose as Placement
from kinetree.model.checks import TooLargeError, check_inertias, inertia_defect, is_body
from kinetree.model.tree import cycles, root_link
from kinetree.spatial import GeneralRotation, Inertia, Mat3, Sym3, Transform

if TYPE_CHECKING:
    from kinetree.formats.packages import Packages
    from kinetree.geometry import Geometries


class Pose(NamedTuple):
    """Where a frame stands in another: rotation matrix (its columns are the axes) and origin (m)."""

    rotation: Rows = IDENTITY
    translation: Triple = (0.0, 0.0, 0.0)

    @property
    def transform(self) -> Transform:
        """The transform from the other frame to this one."""
        return Transform.placed(self.rotation, self.translation)


class Inertial(NamedTuple):
    """Mass (kg), the pose of the inertial frame in the link, and (ixx, ixy, ixz, iyy, iyz, izz) in it (kg·m²)."""

    mass: float
    origin: Pose
    moments: tuple[float, float, float, float, float, float]

    @property
    def about_com(self) -> Sym3:
        """The inertia about the centre of mass, in the link's axes."""
        ixx, ixy, ixz, iyy, iyz, izz = self.moments
        to_inertial_axes = GeneralRotation(Mat3.of(self.origin.rotation).T)
        return to_inertial_axes.sym_to_a(Sym3(ixx, ixy, iyy, ixz, iyz, izz))


class GraphLink(NamedTuple):
    """A link; `inertial` is None where it has no mass."""

    name: str
    element: Element
    inertial: Inertial | None


class Mimic(NamedTuple):
    """The joint moves as another one does: ``q = multiplier · q_other + offset``."""

    joint: str
    multiplier: float
    offset: float


class GraphJoint(NamedTuple):
    """A joint between two links; its frame stands at these poses in both while it is at its zero.

    `type` is its name in the file, `actuated` whether the file says that a motor drives it, `closes` whether it says
    that the joint closes a loop.
    """

    name: str
    element: Element
    type: str
    parent: str
    child: str
    joint: Joint
    in_parent: Transform
    in_child: Transform | None = None
    limits: JointLimits = NO_LIMITS
    damping: float = 0.0
    friction: float = 0.0
    spring: JointSpring = NO_SPRING
    mimic: Mimic | None = None
    actuated: bool = False
    closes: bool = False

    @property
    def has_one_coordinate(self) -> bool:
        """Whether it may mimic others, or lead them."""
        return (self.joint.nq, self.joint.nv) == (1, 1)

    def turned_around(self) -> GraphJoint:
        """Return the joint with its parent as its child; a single coordinate keeps its meaning."""
        try:
            turned = self.joint.turned_around()
        except ModelError as error:
            raise self.element.error(f"{error}: name another joint of the loop to be cut") from None
        at_child = self.in_child or Transform.identity()
        return self._replace(
            parent=self.child, child=self.parent, joint=turned, in_parent=at_child, in_child=self.in_parent
        )


class GraphFrame(NamedTuple):
    """A named frame fixed to a link, at this pose in it."""

    name: str
    link: str
    X: Transform


class KinematicGraph(NamedTuple):
    """What a file describes, before it is cut into a tree: links, joints and frames in file order.

    `floating` is whether the file has the robot move freely, None where its format does not say; `poses` are the
    transforms from the world to links where the file gives them: there a root that is fixed stands. `geometry` reads
    the shapes of the links, when a robot is asked for them; it takes what finds their files.
    """

    name: str
    element: Element
    links: tuple[GraphLink, ...]
    joints: tuple[GraphJoint, ...]
    frames: tuple[GraphFrame, ...] = ()
    floating: bool | None = None
    poses: Mapping[str, Transform] = MappingProxyType({})
    geometry: Callable[[Packages], Geometries] | None = None

    def with_mimic(self, mimic: str) -> KinematicGraph:
        """Return the graph whose joints "follow" those that they mimic, or are "independent"."""
        joints = self.joints
        return self if mimic == "follow" else self._replace(joints=tuple(j._replace(mimic=None) for j in joints))

    def without_loops(self) -> KinematicGraph:
        """Return the graph without the joints of which the file says that they close a loop: each is a fault."""
        for joint in self.joints:
            if joint.closes:
                joint.element.fault("closes a loop: kinetree.load_mechanism reads closed loops", "the loop stays open")
        return self._replace(joints=tuple(joint for joint in self.joints if not joint.closes))


def _root(graph: KinematicGraph) -> str:
    """Return the root link's name; raise a `FormatError` where links and joints are not one tree."""

    def error(message: str, joint: GraphJoint | None = None, role: str = "") -> FormatError:
        element = graph.element if joint is None else (role and joint.element.only(role)) or joint.element
        return element.error(message)

    links = {link.name: link for link in graph.links}
    return root_link(links, graph.joints, error, lambda item: f" (line {item.element.line})")


def model_of(
    graph: KinematicGraph,
    *,
    floating_base: bool | None = None,
    base_pose: Placement | None = None,
    gravity: Iterable[float] = GRAVITY,
) -> Model:
    """Return the model of a graph that is a tree; else, or where a number overflows, a `FormatError`.

    A fixed joint mimics none, with a warning that names it. Inertias that no body can have are used as given, with one
    warning. `kinetree.load` documents the options.
    """
    root = _root(graph)
    floats = graph.floating is True if floating_base is None else floating_base
    followers = [joint for joint in graph.joints if joint.mimic is not None]
    leaders = _leaders(graph, [joint for joint in followers if not joint.joint.rigid])
    if floats:
        _refuse_second_floating_base(graph, root)
    elif base_pose is None:
        base_pose = graph.poses.get(root)
    builder = ModelBuilder(graph.name)
    for link in graph.links:
        builder.add_link(link.name, None if link.inertial is None else _inertia(link, link.inertial))
    for joint in graph.joints:
        builder.add_joint(
            joint.name,
            parent=joint.parent,
            child=joint.child,
            joint=joint.joint,
            placement=joint.in_parent,
            child_placement=joint.in_child,
            limits=joint.limits,
            damping=joint.damping,
            friction=joint.friction,
            stiffness=joint.spring.stiffness,
            rest_position=joint.spring.rest,
            mimic=leaders.get(joint.name),
        )
    for frame in graph.frames:
        builder.add_frame(frame.name, link=frame.link, placement=frame.X)
    try:
        model = builder.assemble(floating_base=floats, base_pose=base_pose, gravity=gravity)
    except TooLargeError as error:
        raise FormatError(f"{graph.element.source}: {error}") from None
    _warn(graph, model, [shortened(joint.name) for joint in followers if joint.joint.rigid])
    return model


def _inertia(link: GraphLink, inertial: Inertial) -> Inertia:
    inertia = Inertia.from_com(inertial.mass, inertial.origin.translation, inertial.about_com.rows)
    if not all(map(math.isfinite, inertia)):
        raise link.element.error(
            "the inertia about the link's origin overflows; its numbers are too large: kilograms and metres are meant"
        )
    return inertia


def _leaders(graph: KinematicGraph, followers: Sequence[GraphJoint]) -> dict[str, tuple[str, float, float]]:
    """Return leader, multiplier and offset of each joint that mimics; one that cannot is a fault of the file."""
    joints = {joint.name: joint for joint in graph.joints}
    leaders = {joint.name: (m.joint, m.multiplier, m.offset) for joint in followers if (m := joint.mimic)}
    for name, (leader, _, _) in list(leaders.items()):
        if (flaw := _mimic_flaw(joints[name], leader, joints)) is not None:
            _not_followed(joints[name], flaw)
            del leaders[name]
    for circle in list(cycles({name: leader for name, (leader, _, _) in leaders.items()})):
        by = f", through {listed([shortened(name) for name in circle[1:]])}" if circle[1:] else ""
        _not_followed(joints[circle[0]], f"mimics itself{by}: one joint must lead")
        del leaders[circle[0]]
    return leaders


def _mimic_flaw(joint: GraphJoint, leader: str, joints: Mapping[str, GraphJoint]) -> str | None:
    if leader not in joints:
        return f"mimics: {unknown_name('joint', leader, joints)}"
    if not joint.has_one_coordinate:
        return f"cannot mimic, as a {joint.type} joint"
    other = joints[leader]
    return None if other.has_one_coordinate else f"mimics {shortened(leader)!r}, a {other.type} joint"


def _not_followed(joint: GraphJoint, flaw: str) -> None:
    way_out = "" if joint.element.lenient else "; mimic='independent' lets each such joint move by itself"
    joint.element.fault(flaw + way_out, "it moves by itself")


def _refuse_second_floating_base(graph: KinematicGraph, root: str) -> None:
    """Raise where the file's own floating joint at the root would be carried by another, or the file holds the root."""
    for joint in graph.joints:
        if joint.joint.nv == 6 and joint.parent == root:
            raise joint.element.error("the robot floats already, by this joint: leave floating_base=True out")
        if graph.floating is False and joint.parent == root:
            raise joint.element.error(
                f"the file holds the robot, by this joint to {shortened(root)!r}: leave floating_base=True out"
            )


def _inertias(graph: KinematicGraph, model: Model) -> Iterator[tuple[str, float, list[list[float]]]]:
    """Yield name, mass and moments of the links whose inertias have to be a body's.

    Nobody feels those of links fixed to the world. A point mass or a rod may be a part of a body.
    """
    carriers = {frame.name: frame.body for frame in model.frames}
    whole = [is_body(body.inertia) for body in model.bodies]
    for link in graph.links:
        body = carriers[link.name]
        if link.inertial is not None and body != WORLD:
            moments = [list(row) for row in link.inertial.about_com.rows]
            if not (whole[body] and inertia_defect(1.0, moments, ideal=True) is None):
                yield link.name, link.inertial.mass, moments


def _warn(graph: KinematicGraph, model: Model, fixed: list[str]) -> None:
    """Warn about inertias, limits that look like degrees, and these fixed joints that should mimic others."""
    source = graph.element.source
    check_inertias(source, _inertias(graph, model))
    if fixed:
        warn_user(f"{source}: fixed joints do not move, so that the <mimic> of these is dropped: {listed(fixed)}")
    degrees = [shortened(j.name) for j in graph.joints if j.type == "revolute" and _in_degrees(j.limits)]
    if degrees:
        warn_user(f"{source}: the position limits of {listed(degrees)} look like degrees; they are read as radians")


def _in_degrees(limits: JointLimits) -> bool:
    """Return whether limits are whole numbers, and some beyond two turns if they are radians."""
    bounds = [x for x in (limits.lower, limits.upper) if math.isfinite(x)]
    return all(x == int(x) for x in bounds) and any(4 * math.pi < abs(x) <= 720 for x in bounds)


def new_name(name: str, taken: Container[str]) -> str:
    """Return this name, with as many underscores after it as make it new."""
    while name in taken:
        name += "_"
    return name
