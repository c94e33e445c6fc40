"""From an SDFormat document to a graph of links and joints.

Follows http://sdformat.org/spec, versions 1.5 to 1.12. Shapes are read when they are asked for; sensors, plugins and
everything unknown are passed over, whatever they contain. A link without `<inertial>` has the 1 kg and 1 kg·m² that
SDFormat gives it. A model floats, unless it is `<static>`, or a joint has the parent or child ``world``.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from kinetree.errors import listed, shortened, unknown_name, warn_user
from kinetree.formats.graph import GraphFrame, GraphJoint, GraphLink, Inertial, KinematicGraph, Pose
from kinetree.formats.sdf.frames import MODEL, WORLD, Frames, Placed
from kinetree.formats.sdf.joints import ball_constraint, is_ball_constraint, joint_of
from kinetree.formats.sdf.values import amount, checked, is_true, name_of, part, pose, text, three
from kinetree.formats.xml import Element, Triple, magnitude, required
from kinetree.joints import Fixed
from kinetree.lazy import lazy_method
from kinetree.model import GRAVITY
from kinetree.spatial import Transform, Vec3

geometries = lazy_method("kinetree.formats.sdf.geometry", "geometries")

VERSION: Final = re.compile(r"1\.(\d{1,3})", re.ASCII)
OLDEST: Final = 5
"""Of 1.x, the first in which an axis is given in the joint's frame."""
INCLUDED = "<include> is not followed: put the model in its place, as `gz sdf -p file.sdf` prints it"


def graph_from_element(root: Element) -> KinematicGraph:
    """Return the graph of an SDFormat document from its root element."""
    found = VERSION.fullmatch(required(root, "version"))
    if found is None or int(found[1]) < OLDEST:
        version = shortened(root.attributes["version"])
        raise root.error(f"version={version!r}: SDFormat 1.{OLDEST} and later are read; `gz sdf -p` converts a file")
    model = _only_model(root)
    return _Reader(model).graph()


def _only_model(root: Element) -> Element:
    """Return the model of a file, or the one of its world that is not static."""
    worlds = root.all("world")
    models = [model for place in (root, *worlds) for model in place.all("model")]
    for include in (include for place in (root, *worlds) for include in place.all("include")):
        include.fault(INCLUDED, "it is left out")
    moving = [model for model in models if not is_true(model, "static")]
    chosen = moving if len(models) > 1 else models
    if len(chosen) != 1:
        names = listed([shortened(model.attributes.get("name", "?")) for model in models]) or "none"
        raise root.error(f"one model that is not static is read from a file; its models are: {names}")
    if passed := [shortened(model.attributes.get("name", "?")) for model in models if model is not chosen[0]]:
        warn_user(f"{root.source}: what else stands in the world is passed over: {listed(passed)}")
    for world in worlds:
        _check_gravity(world)
    return chosen[0]


def _check_gravity(world: Element) -> None:
    gravity = world.only("gravity")
    if gravity is not None and max(abs(a - b) for a, b in zip(three(gravity), GRAVITY, strict=True)) > 0.05:
        warn_user(f"{world.source}: gravity is an argument of kinetree.load; that of the world is passed over")


def _refuse_unread(model: Element) -> None:
    """Raise where a model has parts that are not read, without which it would be another one."""
    for include in model.all("include"):
        raise include.error(INCLUDED)
    for child in model.children:
        if child.tag.endswith("}joint"):
            raise child.error("this joint is an extension of SDFormat and not read: write it as a <joint>")
    if "placement_frame" in model.attributes:
        raise model.error("placement_frame is not read: give the pose of the model itself")


class _Reader:
    """Collects the links, joints and frames of a model and of those nested in it."""

    def __init__(self, model: Element) -> None:
        self.top = model
        self.frames = Frames(model)
        self.links: dict[str, GraphLink] = {}
        self.joints: dict[str, tuple[Element, str]] = {}
        self.own: list[str] = []
        self.balls: list[tuple[Element, str]] = []
        self.without_inertial: list[str] = []
        self.static = is_true(model, "static")
        self._read(model, "", "", WORLD)

    def graph(self) -> KinematicGraph:
        """Return the graph."""
        self.frames.resolve()
        joints = [self._joint(*where) for where in self.joints.values()]
        for k, where in enumerate(self.balls, start=1):
            joints.append(ball_constraint(where[0], f"ball_constraint_{k}", where[1], self.links))
        if self.static:
            joints = [self._held(link) for link in self.links.values()]
        held = any(WORLD in (joint.parent, joint.child) for joint in joints)
        if self.without_inertial and not self.static:
            names = listed([shortened(name) for name in self.without_inertial])
            warn_user(f"{self.top.source}: links without <inertial> have 1 kg and 1 kg·m², as SDFormat says: {names}")
        world = [GraphLink(WORLD, self.top, None)] if held else []
        own = [GraphFrame(name, self.frames.link(name), self._in_link(name)) for name in self.own]
        return KinematicGraph(
            name_of(self.top),
            self.top,
            (*world, *self.links.values()),
            tuple(joints),
            tuple(frame for frame in own if held or frame.link != WORLD),
            floating=not held,
            poses={name: self.frames.pose(name) for name in self.links},
            geometry=partial(geometries, self.top.source, tuple(self.links.values()), self.frames),
        )

    def _read(self, model: Element, around: str, scope: str, base: str) -> None:
        """Read a model, whose name begins with that of those `around` it, and its elements' names with `scope`."""
        _refuse_unread(checked(model))
        self.balls.extend((child, scope) for child in model.children if is_ball_constraint(child))
        at, own = pose(model), scope + MODEL
        canonical = scope + self._canonical(model)
        self._place(own, model, around + at.frame if at.frame else base, at.pose.transform, canonical)
        if scope:
            self._place(scope.removesuffix("::"), model, own, Transform.identity(), own)
        for link in model.all("link"):
            self._link(checked(link), scope)
        for frame in model.all("frame"):
            self._frame(frame, scope)
        for joint in model.all("joint"):
            self._joint_place(checked(joint), scope)
        for nested in model.all("model"):
            if is_true(nested, "static"):
                raise nested.error("a model in a model cannot be <static>: hold it by a fixed joint")
            self._read(nested, scope, f"{scope}{name_of(nested)}::", own)

    def _joint_place(self, joint: Element, scope: str) -> None:
        """Note a joint, and where it stands."""
        name, at = scope + name_of(joint), pose(joint)
        if first := self.joints.get(name):
            raise joint.error(f"a second joint of this name, the first is on line {first[0].line}")
        self.joints[name] = joint, scope
        carrier = self._full(scope, text(joint, "child"))
        on = self._full(scope, at.frame) if at.frame else carrier
        self._place(self._joint_frame(name), joint, on, at.pose.transform, carrier)

    def _canonical(self, model: Element) -> str:
        """Return the link that carries a model's frame: the one it names, or its first, be it nested."""
        if name := model.attributes.get("canonical_link"):
            return name
        if links := model.all("link"):
            return name_of(links[0])
        for nested in model.all("model"):
            return f"{name_of(nested)}::{self._canonical(nested)}"
        raise model.error("there are no links: a model has at least one <link name='…'>")

    def _place(self, name: str, element: Element, base: str, X: Transform, on: str | None) -> None:
        self.frames.add(name, Placed(element, base, X, on))

    def _joint_frame(self, name: str) -> str:
        """Return the name of a joint's frame: its own, unless a link has that, as it may in version 1.6."""
        return f"{name} (joint)" if name in self.links else name

    def _full(self, scope: str, name: str) -> str:
        return WORLD if name == WORLD else scope + name

    def _link(self, element: Element, scope: str) -> None:
        name, at = scope + name_of(element), pose(element)
        if not is_true(element, "gravity", default=True):
            element.fault("<gravity> is false: all links have their weight", "it has its weight")
        self._place(name, element, scope + (at.frame or MODEL), at.pose.transform, None)
        inertial = part(element, "inertial")
        self.links[name] = GraphLink(name, element, self._inertial(inertial))
        if inertial is None:
            self.without_inertial.append(name)

    def _inertial(self, element: Element | None) -> Inertial | None:
        if element is None:
            return Inertial(1.0, Pose(), (1.0, 0.0, 0.0, 1.0, 0.0, 1.0))
        if element.attributes.get("auto", "false").lower() not in ("false", "0"):
            advice = "robot.with_inertia_from_geometry(density) does that afterwards"
            element.fault(f"auto='true': no inertia is made of shapes here; {advice}", "the link has none")
            return None
        if element.all("fluid_added_mass"):
            element.fault("<fluid_added_mass> is not read", "there is none")
        at = pose(element)
        if at.frame:
            raise element.error("the pose of an <inertial> is given in its link: leave relative_to out")
        mass, inertia = element.only("mass"), part(element, "inertia")
        moments = [amount(inertia, key, float(key[1] == key[2])) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")]
        kilograms = amount(element, "mass", 1.0)
        if mass is not None and kilograms < 0.0:
            kilograms = magnitude(mass, "text")
        ixx, ixy, ixz, iyy, iyz, izz = moments
        return Inertial(kilograms, at.pose, (ixx, ixy, ixz, iyy, iyz, izz))

    def _frame(self, element: Element, scope: str) -> None:
        name, at = scope + name_of(element), pose(element)
        on = self._full(scope, element.attributes.get("attached_to") or MODEL)
        self._place(name, element, scope + at.frame if at.frame else on, at.pose.transform, on)
        self.own.append(name)

    def _joint(self, element: Element, scope: str) -> GraphJoint:
        name = scope + name_of(element)
        frame, frames = self._joint_frame(name), self.frames
        parent, child = (self._end(element, scope, tag) for tag in ("parent", "child"))

        def turn(named: str, direction: Triple) -> Triple:
            if named and scope + named not in frames.placed:
                raise element.error(f"expressed_in: no frame {shortened(named)!r}")
            X = frames.between(frame, scope + named) if named else Transform.identity()
            x, y, z = X.E.to_a(Vec3(*direction))
            return float(x), float(y), float(z)

        in_child = None if frames.coincide(child, frame) else frames.between(child, frame)
        joint = joint_of(element, name, (parent, child), (frames.between(parent, frame), in_child), turn)
        mimic = joint.mimic and joint.mimic._replace(joint=scope + joint.mimic.joint)
        joint = joint._replace(mimic=mimic, actuated=0.0 < joint.limits.effort < float("inf"))
        return joint.turned_around() if child == WORLD else joint  # whatever is written, the world carries the robot

    def _end(self, element: Element, scope: str, tag: str) -> str:
        """Return the link at one end of a joint."""
        name = self._full(scope, text(element, tag))
        if name not in self.frames.placed:
            end = element.only(tag) or element
            raise end.error(f"{tag} link: {unknown_name('link', name, self.links)}")
        return self.frames.link(name)

    def _held(self, link: GraphLink) -> GraphJoint:
        """Return the joint that holds a link of a static model."""
        X = self.frames.pose(link.name)
        return GraphJoint(f"{link.name} (static)", link.element, "fixed", WORLD, link.name, Fixed(), X)

    def _in_link(self, name: str) -> Transform:
        return self.frames.between(self.frames.link(name), name)
