"""The joints of SDFormat: types, axes, limits, friction and springs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Final

from kinetree.errors import shortened, unknown_name, warn_user
from kinetree.formats.graph import GraphJoint, Mimic
from kinetree.formats.sdf.frames import MODEL
from kinetree.formats.sdf.values import amount, as_text, checked, is_true, not_negative, part, three
from kinetree.formats.xml import Element, Triple, required, triple
from kinetree.joints import Continuous, Fixed, Helical, Joint, Prismatic, Revolute, Spherical, Universal
from kinetree.model import JointLimits, JointSpring
from kinetree.spatial import Transform

ENDLESS: Final = 1e16
"""From here on a limit of position is none."""

Turn = Callable[[str, Triple], Triple]
"""Takes the name of a frame, or an empty one for the joint's own, and a direction in it; returns it in the joint's."""

TYPES: Final[dict[str, Callable[[Element, Sequence[Triple]], Joint]]] = {
    "revolute": lambda _, axes: Revolute(*axes),
    "continuous": lambda _, axes: Continuous(*axes),
    "prismatic": lambda _, axes: Prismatic(*axes),
    "screw": lambda element, axes: Helical(axes[0], _pitch(element)),
    "universal": lambda _, axes: Universal(*axes),
    "revolute2": lambda _, axes: Universal(*axes),
    "ball": lambda _, axes: Spherical(),
    "fixed": lambda _, axes: Fixed(),
}
"""The joint types that are read, made of their elements and axes; a revolute2 turns about two axes as a universal."""
AXES: Final = {"universal": ("axis", "axis2"), "revolute2": ("axis", "axis2"), "ball": (), "fixed": ()}
"""The axes of a type, where that is not one."""
NOT_READ: Final = {"gearbox": "couple its two joints by a kinetree.Gear instead"}
"""Types that are known and not read, and what to do."""


def joint_of(
    element: Element, name: str, ends: tuple[str, str], places: tuple[Transform, Transform | None], turn: Turn
) -> GraphJoint:
    """Read how a joint of this name moves its child against its parent, in which it stands at these places."""
    kind = required(element, "type")
    if kind in NOT_READ:
        raise element.error(f"a joint of the type {kind!r} is not read: {NOT_READ[kind]}")
    if kind not in TYPES:
        raise element.error(f"joint type: {unknown_name('type', kind, TYPES)}")
    axes = [_axis(element, tag) for tag in AXES.get(kind, ("axis",))]
    joint = TYPES[kind](element, [_direction(axis, turn) for axis in axes])
    found = GraphJoint(name, element, kind, *ends, joint, *places)
    if kind == "fixed":
        return found
    resisted = axes or [axis for axis in [part(element, "axis")] if axis is not None]
    dynamics = [part(axis, "dynamics") for axis in resisted]
    damping, friction = (
        _same(element, tag, [not_negative(d, tag) for d in dynamics]) for tag in ("damping", "friction")
    )
    found = found._replace(damping=damping, friction=friction)
    limits, spring = [_limits(axis) for axis in axes], [_spring(d) for d in dynamics]
    if joint.nv == 1:
        at = limits[0] if kind != "continuous" else JointLimits(velocity=limits[0].velocity, effort=limits[0].effort)
        return found._replace(limits=at, spring=spring[0], mimic=_mimic(axes[0]))
    if any(s.stiffness for s in spring):
        element.fault(f"only joints with one degree of freedom have springs, not a {kind} joint", "it has none")
    if any(math.isfinite(bound) for limit in limits for bound in (limit.lower, limit.upper)):
        warn_user(
            f"{element.source}: the limits of {shortened(required(element, 'name'))}, a {kind} joint, are not read"
        )
    return found


def _axis(element: Element, tag: str) -> Element:
    axis = part(element, tag)
    if axis is None:
        raise element.error(f"<{tag}> is missing")
    return axis


def _direction(axis: Element, turn: Turn) -> Triple:
    """Return the direction of an axis in the joint's frame, not far from unit length; z where none is given."""
    xyz = axis.only("xyz")
    x, y, z = (0.0, 0.0, 1.0) if xyz is None else three(xyz)
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0.0:
        raise axis.error("<xyz> is zero: the axis has no direction")
    frame = "" if xyz is None else xyz.attributes.get("expressed_in", "")
    if is_true(axis, "use_parent_model_frame"):
        frame = MODEL
    return turn(frame, (x, y, z) if 1e-100 < largest < 1e100 else (x / largest, y / largest, z / largest))


def _pitch(element: Element) -> float:
    """Return the advance (m/rad) of a screw; the older element counts rad/m of a left-handed thread."""
    if element.all("screw_thread_pitch"):
        return amount(element, "screw_thread_pitch", 0.0) / (2 * math.pi)
    older = amount(element, "thread_pitch", 0.0)
    if older == 0.0:
        raise element.error("<screw_thread_pitch> is missing: how far the screw advances in a turn (m)")
    return -1.0 / older


def _limits(axis: Element) -> JointLimits:
    limit = part(axis, "limit")
    lower, upper = amount(limit, "lower", -math.inf, infinite=True), amount(limit, "upper", math.inf, infinite=True)
    lower, upper = (math.copysign(math.inf, x) if abs(x) >= ENDLESS else x for x in (lower, upper))
    velocity, effort = (amount(limit, tag, math.inf, infinite=True) for tag in ("velocity", "effort"))
    if lower > upper or lower == math.inf or upper == -math.inf:
        message = f"the lower limit {lower} and the upper limit {upper} leave no room between them"
        (limit or axis).fault(message, "neither is read")
        lower, upper = -math.inf, math.inf
    return JointLimits(lower, upper, *(x if x >= 0.0 else math.inf for x in (velocity, effort)))  # -1 stands for none


def _spring(dynamics: Element | None) -> JointSpring:
    return JointSpring(not_negative(dynamics, "spring_stiffness"), amount(dynamics, "spring_reference", 0.0))


def _same(element: Element, tag: str, values: Sequence[float]) -> float:
    """Return the resistance of all axes; where theirs differ, a fault, and the first one instead."""
    if len(set(values)) > 1:
        element.fault(f"the {tag} of its axes differ, {values}: a joint has one", "that of the first is read")
    return values[0] if values else 0.0


def _mimic(axis: Element) -> Mimic | None:
    mimic = axis.only("mimic")
    if mimic is None:
        return None
    checked(mimic)
    factor = amount(mimic, "multiplier", 1.0)
    offset = amount(mimic, "offset", 0.0) - factor * amount(mimic, "reference", 0.0)
    return Mimic(required(mimic, "joint"), factor, offset)


def is_ball_constraint(element: Element) -> bool:
    """Return whether an element of a model is one."""
    return element.tag.endswith("}ball_constraint")


def ball_constraint(element: Element, name: str, scope: str, links: Collection[str]) -> GraphJoint:
    """Return the joint of this name: a point of body A is a point of body B, links whose names begin with `scope`."""
    a, b = (scope + _name(_part(element, f"body_{end}")) for end in "AB")
    for link in (a, b):
        if link not in links:
            raise element.error(unknown_name("link", link, links))
    p, q = (Transform.translation(_point(_part(element, f"p_{end}"))) for end in ("AP", "BQ"))
    return GraphJoint(name, element, "ball", a, b, Spherical(), p, q, closes=True)


def _part(element: Element, tag: str) -> Element:
    found = [child for child in element.children if child.tag.endswith(f"}}ball_constraint_{tag}")]
    if len(found) != 1:
        raise element.error(f"there are {len(found)} elements <drake:ball_constraint_{tag}>, one is needed")
    return found[0]


def _name(element: Element) -> str:
    return element.attributes.get("name") or as_text(element)


def _point(element: Element) -> Triple:
    return triple(element, "value") if "value" in element.attributes else three(element)
