"""A URDF document with other numbers of a robot, and everything else as it was, to the letter."""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.parsers import expat

from kinetree.errors import FormatError, ModelError, listed
from kinetree.formats.graph import GraphJoint, model_of
from kinetree.formats.load import ReadOptions, find_source, read_graph
from kinetree.formats.save import Fields, add, numbers, text_of
from kinetree.formats.urdf.write import base_pose, dynamics, fixed, inertial, is_world, limit, origin, type_of
from kinetree.model import WORLD, Model
from kinetree.spatial import Inertia

TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
ATTRIBUTE = re.compile(r"""\s([^\s="'<>/]+)\s*=\s*("[^"]*"|'[^']*')""")

Change = tuple[int, int, bytes]
"""What stands from here to there, and the bytes that come in its place."""


class Span(NamedTuple):
    """Where an element is in the text, where its opening tag ends, and how far its line is indented."""

    start: int
    opened: int
    stop: int
    indent: str


Spans = dict[tuple[str, ...], Span]
"""By ``(tag, name)`` of links and joints, ``(tag, name, tag of a child)``, and ``()`` of the whole robot."""


def patch_urdf(model: Model, original: str | bytes) -> str:
    """Return the original document with the numbers of the model where they differ; an error if it is of another robot.

    They are inertias, damping, friction and limits; frames that the document has not are added to it, and so is the
    pose of a fixed base. A body's inertia stands in the link that is named like it; links fixed to that lose theirs.
    """
    text, name, _ = find_source(original)
    data = text.encode() if isinstance(text, str) else bytes(text)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise FormatError(f"{name} is not in UTF-8: save it so") from None
    with warnings.catch_warnings():  # whoever has loaded it has seen them
        warnings.simplefilter("ignore")
        graph = read_graph(text, ReadOptions(lenient=True))[0].without_loops()
        before = model_of(graph, floating_base=model.has_floating_base)
    if (before.body_names, before.joint_names) != (model.body_names, model.joint_names):
        odd = sorted({*before.body_names, *before.joint_names} ^ {*model.body_names, *model.joint_names})
        raise ModelError(f"{name} is another robot's file: {listed(odd) or 'the order of joints'} differ")
    spans = _spans(data, "utf-8" if isinstance(text, str) else None)
    if () not in spans:
        raise FormatError(f"{name} is not a URDF file: leave out original=, and a new document is written")
    changes = [*_inertias(before, model, spans), *_joints(data, before, model, spans), *_added(before, model, spans)]
    changes += _held(graph.joints, before, model, spans)
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    for start, stop, new in sorted(changes, reverse=True):
        data = data[:start] + new.replace(b"\n", newline) + data[stop:]
    return data.decode()


def _inertias(before: Model, model: Model, spans: Spans) -> Iterator[Change]:
    """Yield the changes of ``<inertial>``."""
    for i, (old, new) in enumerate(zip(before.bodies, model.bodies, strict=True)):
        if _differ(old.inertia, new.inertia):
            yield from _inertia(before, i, new.name, new.inertia, spans)
    X = model.frame(model.root).X.inverse()
    base = X.T @ model.base_inertia
    if not model.has_floating_base and _differ(before.base_inertia, base):
        yield from _inertia(before, WORLD, model.root, base_pose(model).inverse().T @ model.base_inertia, spans)


def _inertia(before: Model, body: int, link: str, inertia: Inertia, spans: Spans) -> Iterator[Change]:
    """Yield the change of the inertia of a body, which stands in this link, and of links fixed to that one."""
    yield _placed(spans, ("link", link, "inertial"), inertial(inertia))
    for frame in before.frames:
        merged = spans.get(("link", frame.name, "inertial"))
        if frame.body == body and frame.name != link and merged is not None:
            yield merged.start, merged.stop, b""


def _differ(a: Inertia, b: Inertia) -> bool:
    scale = max(map(abs, a), default=0.0)
    return any(abs(x - y) > 1e-12 * scale for x, y in zip(a, b, strict=True))


def _joints(data: bytes, before: Model, model: Model, spans: Spans) -> Iterator[Change]:
    """Yield the changes of ``<dynamics>`` and ``<limit>``, and of the type of a joint that has limits now, or none."""
    for old, new in zip(before.bodies, model.bodies, strict=True):
        joint = ("joint", new.joint_name)
        if joint not in spans:
            continue  # of a floating base
        if (old.damping, old.friction) != (new.damping, new.friction):
            yield _with_attributes(data, spans, (*joint, "dynamics"), dynamics(new))
        if old.limits != new.limits:
            yield _with_attributes(data, spans, (*joint, "limit"), limit(new))
            if type_of(old) != type_of(new):
                yield _with_attributes(data, spans, joint, {"type": type_of(new)})


def _added(before: Model, model: Model, spans: Spans) -> Iterator[Change]:
    """Yield the elements at the end: new frames, and the pose of a fixed base."""
    there = {*before.frame_names}
    frames = [name for name in model.frame_names if name not in there]
    joints = [where[1] for where in spans if where[:1] == ("joint",)]
    if new := [*(ET.Element("link", name=name) for name in frames), *fixed(model, frames, joints)]:
        end = spans[()]
        yield end.stop, end.stop, "".join(f"{_indented(element, '  ')}\n" for element in new)[1:].encode()


def _held(joints: Sequence[GraphJoint], before: Model, model: Model, spans: Spans) -> Iterator[Change]:
    """Yield where the joints of a root link that is the world stand, if what it carries has been moved."""
    if is_world(model) and model.frame(model.root).X != before.frame(model.root).X:
        for joint in joints:
            if joint.parent == model.root:
                moves = joint.name in model.joint_names
                X = model.bodies[model.body_of_joint(joint.name)].X_T if moves else model.frame(joint.child).X
                yield _placed(spans, ("joint", joint.name, "origin"), origin(X))


def _with_attributes(data: bytes, spans: Spans, where: tuple[str, ...], attributes: Fields) -> Change:
    """Return the change that gives an element these attributes, and keeps its others; None takes one away."""
    there = spans.get(where)
    if there is None:
        return _placed(spans, where, attributes)
    return there.start, there.opened, _changed(data[there.start : there.opened].decode(), attributes).encode()


def _changed(tag: str, attributes: Fields) -> str:
    """Return an opening tag with these attributes, in place of its own; None takes one away."""
    for key, value in attributes.items():
        there = next((found for found in ATTRIBUTE.finditer(tag) if found[1] == key), None)
        there = there or re.search(r"(?=\s*/?>$)", tag)
        assert there is not None  # a tag ends so
        new = "" if value is None else f' {key}="{value if isinstance(value, str) else numbers(value)}"'
        tag = tag[: there.start()] + new + tag[there.end() :]
    return tag


def _placed(spans: Spans, where: tuple[str, ...], fields: Fields) -> Change:
    """Return the change that puts an element in the place of the one that is there, or else first in its parent."""
    new, there = add(ET.Element(where[0]), where[-1], fields), spans.get(where)
    if there is not None:
        return there.start, there.stop, _indented(new, there.indent).lstrip().encode()
    _, opened, stop, indent = spans[where[:-1]]
    text = _indented(new, f"{indent}  ")
    if opened < stop:
        return opened, opened, text.encode()
    return opened - len(b"/>"), opened, f">{text}\n{indent}</{where[0]}>".encode()


def _indented(element: ET.Element, indent: str) -> str:
    """Return an element in lines of its own, which begin with this."""
    return "".join(f"\n{indent}{line}" for line in text_of(element).splitlines())


def _spans(data: bytes, encoding: str | None) -> Spans:
    """Return where links, joints and their children are, and under () where what is added to the robot goes.

    The encoding is the one that the document declares if None: what a text declares does not count.
    """
    found: Spans = {}
    path: list[tuple[str, str, int]] = []
    parser = expat.ParserCreate(encoding)

    def indent(at: int) -> str:
        line = data[data.rfind(b"\n", 0, at) + 1 : at]
        return line.decode() if not line.strip() else ""

    def tag_end(at: int) -> int:
        match = TAG.match(data, at)
        assert match is not None  # the document has been read before
        return match.end()

    def start(tag: str, attributes: dict[str, str]) -> None:
        path.append((tag, attributes.get("name", ""), parser.CurrentByteIndex))

    def end(tag: str) -> None:
        _, name, at = path.pop()
        here, opened = parser.CurrentByteIndex, tag_end(at)
        stop = opened if data[opened - 2 : opened] == b"/>" else tag_end(here)
        if not path and tag == "robot":
            found[()] = Span(at, opened, here - len(indent(here)), indent(at))
        elif len(path) == 1 and tag in ("link", "joint"):
            found[tag, name] = Span(at, opened, stop, indent(at))
        elif len(path) == 2 and path[-1][0] in ("link", "joint"):
            found.setdefault((*path[-1][:2], tag), Span(at, opened, stop, indent(at)))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)
    return found
