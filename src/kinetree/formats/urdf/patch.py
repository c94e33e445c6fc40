"""A URDF document with other inertias, damping and friction, and everything else as it was, to the letter."""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple
from xml.parsers import expat

from kinetree.errors import FormatError, ModelError, listed
from kinetree.formats.load import find_source, load_model
from kinetree.formats.urdf.write import dynamics_element, inertial_lines
from kinetree.model import Model
from kinetree.spatial import Inertia

TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")


class Span(NamedTuple):
    """Where an element is in the text, and how far its line is indented."""

    start: int
    stop: int
    indent: str


def patch_urdf(model: Model, original: str | bytes) -> str:
    """Return the original document with the inertias, the damping and the friction of the model where they differ.

    A body's inertia stands in the link that is named like it; links fixed to that link lose theirs.

    Raises
    ------
    ModelError
        If the model has not the bodies and joints of the document.
    FormatError
        If the document cannot be read, or is not in UTF-8.
    """
    text, name, _ = find_source(original)
    data = text.encode() if isinstance(text, str) else text
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        raise FormatError(f"{name} is not in UTF-8: save it so") from None
    floats = bool(model.bodies) and not model.bodies[0].joint.actuated
    with warnings.catch_warnings():  # whoever has loaded it has seen them
        warnings.simplefilter("ignore")
        before = load_model(text, floating_base=floats, lenient=True)
    if (before.body_names, before.joint_names) != (model.body_names, model.joint_names):
        odd = sorted({*before.body_names, *before.joint_names} ^ {*model.body_names, *model.joint_names})
        raise ModelError(f"{name} is another robot's file: {listed(odd) or 'the order of joints'} differ")
    spans, changes = _spans(data), []
    carrier = {frame.name: frame.body for frame in before.frames}
    for i, (old, new) in enumerate(zip(before.bodies, model.bodies, strict=True)):
        if _differ(old.inertia, new.inertia):
            changes += [_replaced(spans, "link", new.name, "inertial", inertial_lines(new.inertia))]
            merged = [link for link, body in carrier.items() if body == i and link != new.name]
            changes += [(spans["link", link, "inertial"], "") for link in merged if ("link", link, "inertial") in spans]
        if new.has_one_coordinate and (old.damping, old.friction) != (new.damping, new.friction):
            changes += [_replaced(spans, "joint", new.joint_name, "dynamics", [dynamics_element(new)])]
    for span, lines in sorted(changes, reverse=True):
        data = data[: span.start] + lines.encode() + data[span.stop :]
    return data.decode()


def _differ(a: Inertia, b: Inertia) -> bool:
    scale = max(map(abs, a), default=0.0)
    return any(abs(x - y) > 1e-12 * scale for x, y in zip(a, b, strict=True))


def _replaced(
    spans: dict[tuple[str, str, str], Span], kind: str, name: str, part: str, lines: list[str]
) -> tuple[Span, str]:
    """Return where an element goes, in the place of the one that is there or else first in its parent; and its text."""
    there = spans.get((kind, name, part))
    if there is not None:
        return there, ("\n" + there.indent).join(lines)
    inside = spans[kind, name, ""]
    text = "".join(f"\n{inside.indent}  {line}" for line in lines)
    return inside, text if inside.start == inside.stop else f">{text}\n{inside.indent}</{kind}>"


def _spans(data: bytes) -> dict[tuple[str, str, str], Span]:
    """Return where ``<inertial>`` of each link and ``<dynamics>`` of each joint is; "" is just inside the parent.

    Of a parent that is empty it is the end of the tag, ``/>``.
    """
    found: dict[tuple[str, str, str], Span] = {}
    path: list[tuple[str, str, int]] = []
    parser = expat.ParserCreate()

    def indent(at: int) -> str:
        line = data[data.rfind(b"\n", 0, at) + 1 : at]
        return line.decode() if not line.strip() else ""

    def tag_end(at: int) -> int:
        match = TAG.match(data, at)
        assert match is not None  # the document has been read before
        return match.end()

    def start(tag: str, attributes: dict[str, str]) -> None:
        at = parser.CurrentByteIndex
        path.append((tag, attributes.get("name", ""), at))
        if len(path) == 2 and tag in ("link", "joint"):
            stop = tag_end(at)
            end_of_empty = len(b"/>") if data[stop - 2 : stop] == b"/>" else 0
            found[tag, path[-1][1], ""] = Span(stop - end_of_empty, stop, indent(at))

    def end(tag: str) -> None:
        _, _, at = path.pop()
        if len(path) == 2 and (path[-1][0], tag) in (("link", "inertial"), ("joint", "dynamics")):
            here, first = parser.CurrentByteIndex, tag_end(at)
            empty = data[first - 2 : first] == b"/>"
            stop = first if empty else tag_end(here)
            found[path[-1][0], path[-1][1], tag] = Span(at, stop, indent(at))

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)
    return found
