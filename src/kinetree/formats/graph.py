"""Links and joints as a file has them, in whatever graph they form: what the reader of a format returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kinetree.errors import KinetreeError, ModelError
from kinetree.formats.xml.elements import Element
from kinetree.formats.xml.values import IDENTITY, Rows, Triple
from kinetree.joints import Joint
from kinetree.model import NO_LIMITS, JointLimits, JointSpring
from kinetree.model.body import NO_SPRING
from kinetree.spatial import GeneralRotation, Mat3, Sym3, Transform


@dataclass(frozen=True)
class Pose:
    """Where a frame stands in another: rotation matrix (its columns are the axes) and origin (m)."""

    rotation: Rows = IDENTITY
    translation: Triple = (0.0, 0.0, 0.0)

    @property
    def transform(self) -> Transform:
        """The transform from the other frame to this one."""
        return Transform.placed(self.rotation, self.translation)


@dataclass(frozen=True)
class Inertial:
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


@dataclass(frozen=True)
class GraphLink:
    """A link; `inertial` is None where it has no mass."""

    name: str
    element: Element
    inertial: Inertial | None


@dataclass(frozen=True)
class Mimic:
    """The joint moves as another one does: ``q = multiplier · q_other + offset``."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class GraphJoint:
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
        return replace(
            self, parent=self.child, child=self.parent, joint=turned, in_parent=at_child, in_child=self.in_parent
        )


@dataclass(frozen=True)
class GraphFrame:
    """A named frame fixed to a link, at this pose in it."""

    name: str
    link: str
    X: Transform


@dataclass(frozen=True)
class KinematicGraph:
    """What a file describes, before it is cut into a tree: what every reader of a format returns.

    Attributes
    ----------
    name : str
    element : Element
        The robot's own, for messages.
    links, joints, frames : tuple
        In file order.
    floating : bool, optional
        Whether the file has the robot move freely, or holds it to the world; None where the format does not say.
    poses : mapping
        The transforms from the world to the links, where the file gives them: there a root that is fixed stands.
    """

    name: str
    element: Element
    links: tuple[GraphLink, ...]
    joints: tuple[GraphJoint, ...]
    frames: tuple[GraphFrame, ...] = ()
    floating: bool | None = None
    poses: Mapping[str, Transform] = field(default_factory=dict)

    def with_mimic(self, mimic: str) -> KinematicGraph:
        """Return the graph whose joints "follow" those that they mimic, or are "independent"."""
        if mimic not in ("follow", "independent"):
            raise KinetreeError(f"mimic={mimic!r}: give 'follow' or 'independent'")
        joints = self.joints
        return self if mimic == "follow" else replace(self, joints=tuple(replace(j, mimic=None) for j in joints))
