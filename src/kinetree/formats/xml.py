"""XML elements with line numbers, a parser for untrusted files, and attributes as numbers, in every locale the same.

Robot files come from strangers. A document type declaration (and with it every entity trick: a bomb,
a quadratic blow-up, a file or an address pulled in) is refused outright, and size, depth and number of
tags and attributes are bounded. Nothing here recurses, so deep nesting costs an error message and no more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from kinetree.errors import FormatError, shortened, warn_user
from kinetree.spatial import Quaternion

MAX_BYTES: Final = 64 * 2**20
MAX_DEPTH: Final = 200
NESTED: Final = {"mujoco": 500, "mujocoinclude": 500}  # instead, in files in which bodies are in each other
MAX_MARKS: Final = 1_000_000  # `<` and `=` together: a bound on tags and attributes that needs no parsing
DECLARATION: Final = re.compile(r"\ufeff?\s*<\?xml\s[^>]*\?>")
UTF16_STARTS: Final = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")


@dataclass(slots=True, eq=False)
class Element:
    """One XML element: its tag (``{namespace}name``, as in `xml.etree`), attributes, text and children in file order.

    The text is what stands outside of its children, without white space around it. Messages need the line of its
    opening tag, from 1, its file's name and the elements around it. With `lenient`, a fault that leaves no doubt about
    how to go on is a warning.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    source: str
    lenient: bool = False
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def __repr__(self) -> str:
        return f"<Element {self.path} at {self.source}:{self.line}>"

    @property
    def label(self) -> str:
        """The opening tag as messages show it, without its namespace: `<joint name='elbow'>`."""
        tag, name = shortened(self.tag.rpartition("}")[2]), self.attributes.get("name")
        return f"<{tag}>" if name is None else f"<{tag} name={shortened(name)!r}>"

    @property
    def path(self) -> str:
        """Labels from below the root down to this element; the root alone is its own path."""
        labels: list[str] = []
        node: Element | None = self
        while node is not None and (node.parent is not None or not labels):
            labels.append(node.label)
            node = node.parent
        return " ".join(reversed(labels))

    def error(self, message: str) -> FormatError:
        """Return (not raise) an error that says where this element is."""
        return FormatError(f"{self._place}: {message}")

    def fault(self, message: str, instead: str) -> None:
        """Raise an error; where the file is read leniently, warn, and say what is done instead."""
        if not self.lenient:
            raise self.error(f"{message} (with lenient=True, {instead})")
        warn_user(f"{self._place}: {message}; {instead}")

    @property
    def _place(self) -> str:
        return f"{self.source}, line {self.line}, {self.path}"

    def all(self, tag: str) -> list[Element]:
        """Return the children of that name."""
        return [child for child in self.children if child.tag == tag]

    def only(self, tag: str) -> Element | None:
        """Return the child of that name, None where there is none; a second one is a fault."""
        found = self.all(tag)
        for other in found[1:]:
            other.fault(
                f"a second <{tag}>, the first is on line {found[0].line}: keep one of them", "the first is read"
            )
        return found[0] if found else None

    def walk(self) -> Iterator[Element]:
        """Yield this element and all below it, in file order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


def parse_xml(text: str | bytes, source: str = "<string>", *, lenient: bool = False) -> Element:
    """Return the root element of an XML document of a stranger; `FormatError` if it is refused, with `lenient` too.

    Bytes are decoded as XML prescribes: byte order mark, then declaration, then UTF-8.
    """
    _check_before_parsing(text, source)
    builder = _Builder(source, lenient)
    parser = DefusedXMLParser(target=builder, forbid_dtd=True)
    builder.expat = parser.parser
    parser.parser.DefaultHandlerExpand = None  # without a document type there is nothing left to handle
    try:
        parser.feed(without_declaration(text) if isinstance(text, str) else text)
        parser.close()
    except FormatError:
        raise
    except ParseError as error:
        line, column = error.position
        raise FormatError(f"{source}, line {line}, column {column + 1}: {_explain(error, builder)}") from None
    except DefusedXmlException:
        raise FormatError(
            f"{source}, line {builder.expat.CurrentLineNumber}: a document type declaration (<!DOCTYPE …>, "
            "<!ENTITY …>) is refused, because entities can blow up a file or pull in others; delete it"
        ) from None
    except (LookupError, ValueError) as error:  # a declared encoding that Python does not have
        raise FormatError(f"{source} cannot be decoded ({error}): save the file as UTF-8") from None
    assert builder.root is not None  # expat has refused a document without a root
    return builder.root


def check_size(size: int, source: str) -> None:
    """Raise a FormatError for a document of more than `MAX_BYTES` characters or bytes."""
    if size > MAX_BYTES:
        raise FormatError(
            f"{source} has more than the {MAX_BYTES // 2**20} MB that are read: "
            "a robot description is text without meshes; is this the right file?"
        )


def _check_before_parsing(text: str | bytes, source: str) -> None:
    check_size(len(text), source)
    if isinstance(text, str):
        marks = text.count("<") + text.count("=")
    else:
        marks = text.count(b"<") + text.count(b"=")
        if b"\0" in text[:1000] and not text.startswith(UTF16_STARTS):
            raise FormatError(f"{source} is a binary file: expected XML text such as <robot>…</robot>")
    if not text.strip():
        raise FormatError(f"{source} is empty: expected an XML document such as <robot>…</robot>")
    if marks > MAX_MARKS:
        raise FormatError(
            f"{source} has more than the {MAX_MARKS} tags and attributes that are read: is it a robot description?"
        )


def without_declaration(text: str) -> str:
    """Return text without its ``<?xml …?>``, every line where it was.

    A string is decoded already, and white space before the declaration, usual in triple quotes, is not XML.
    """
    found = DECLARATION.match(text)
    return "\n" * found[0].count("\n") + text[found.end() :] if found else text


def _explain(error: ParseError, builder: _Builder) -> str:
    """Return expat's reason, with what kinetree knows beside it."""
    reason = str(error).partition(":")[0]
    stack = builder.stack
    if reason == "unclosed token" or (reason == "no element found" and stack):
        inside = f" inside {stack[-1].path}, opened on line {stack[-1].line}" if stack else ""
        return f"the file ends{inside} before the element is closed: is it truncated?"
    if reason == "mismatched tag" and stack:
        return f"mismatched tag: {stack[-1].label}, opened on line {stack[-1].line}, is still open"
    if reason == "unbound prefix":
        xmlns = "xmlns:xacro='http://www.ros.org/wiki/xacro'"
        return f"a prefix such as 'xacro:' is used but not declared; that of xacro by <robot {xmlns}>"
    if reason == "syntax error":
        return "not XML: expected a document that starts with a tag such as <robot>"
    return f"not well-formed XML ({reason.removeprefix('not well-formed ').strip('()')})"


class _Builder:
    """Target of the parser: keeps the open elements on a stack and watches the limits."""

    def __init__(self, source: str, lenient: bool) -> None:
        self.source, self.lenient = source, lenient
        self.root: Element | None = None
        self.stack: list[Element] = []
        self.deepest = MAX_DEPTH
        self.texts: list[list[str]] = []
        self.expat: Any  # expat's parser object

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self.stack[-1] if self.stack else None
        element = Element(tag, attributes, self.expat.CurrentLineNumber, self.source, self.lenient, parent)
        if len(self.stack) >= self.deepest:
            raise FormatError(
                f"{self.source}, line {element.line}, {element.label}: elements are nested more than "
                f"{self.deepest} deep; a robot description has its links side by side"
            )
        if parent is None:
            self.root, self.deepest = element, NESTED.get(tag, MAX_DEPTH)
        else:
            parent.children.append(element)
        self.stack.append(element)
        self.texts.append([])

    def data(self, text: str) -> None:
        self.texts[-1].append(text)

    def end(self, tag: str) -> None:
        self.stack.pop().text = "".join(self.texts.pop()).strip()


def xacro_element(root: Element) -> Element | None:
    """Return the first element that is xacro's, None where there is none."""
    is_xacro = (e for e in root.walk() if e.tag.startswith("{") and "xacro" in e.tag.partition("}")[0])
    return next(is_xacro, None)


Triple: TypeAlias = tuple[float, float, float]
Rows: TypeAlias = tuple[Triple, Triple, Triple]

# Python's float() also takes "1_000", "nan", "inf" and digits of any script; a robot file means none of these.
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
SPACE = " \t\r\n"  # what XML calls white space
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
SNAP = 4 * 2.0**-52
IDENTITY: Rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def required(element: Element, attribute: str) -> str:
    """Return an attribute that must be there and not empty."""
    value = element.attributes.get(attribute)
    if value is None:
        raise element.error(f"the attribute {attribute!r} is missing")
    if not value.strip():
        raise element.error(f"the attribute {attribute!r} is empty")
    return value


def number(element: Element, attribute: str, default: float | None = None, *, infinite: bool = False) -> float:
    """Return an attribute as a finite number, or where it is missing the default; without one it is required.

    With `infinite`, ``inf`` and ``-inf`` are numbers too: limits that are none.
    """
    if default is not None and attribute not in element.attributes:
        return default
    text = required(element, attribute).strip(SPACE)
    if infinite and INFINITE.fullmatch(text):
        return math.copysign(math.inf, -1.0 if text.startswith("-") else 1.0)
    return _decimal(element, attribute, text)


def magnitude(element: Element, attribute: str, default: float | None = None, *, infinite: bool = False) -> float:
    """Return an attribute as a number that is not negative; see `number`."""
    value = number(element, attribute, default, infinite=infinite)
    if value < 0.0:
        raise element.error(f"{attribute}={_quoted(element, attribute)}: this number cannot be negative")
    return value


def resistance(element: Element, attribute: str) -> float:
    """Return an attribute as a number that is not negative, by default 0; a negative one is a fault, and 0 instead."""
    value = number(element, attribute, 0.0)
    if value < 0.0:
        element.fault(f"{attribute}={_quoted(element, attribute)}: this number cannot be negative", "0 is read")
    return max(value, 0.0)


def vector(element: Element, attribute: str, length: int) -> tuple[float, ...]:
    """Return an attribute as that many finite numbers, separated by white space."""
    words = re.split(f"[{SPACE}]+", required(element, attribute).strip(SPACE))
    if len(words) != length:
        raise element.error(f"{attribute}={_quoted(element, attribute)} has {len(words)} numbers, {length} are needed")
    return tuple(_decimal(element, attribute, word) for word in words)


def triple(element: Element, attribute: str, default: Triple | None = None) -> Triple:
    """Return an attribute as three finite numbers; where it is missing the default, without one an error."""
    if default is not None and attribute not in element.attributes:
        return default
    x, y, z = vector(element, attribute, 3)
    return x, y, z


def _decimal(element: Element, attribute: str, word: str) -> float:
    if not DECIMAL.fullmatch(word):
        raise _not_a_number(element, attribute, word)
    value = float(word)
    if math.isinf(value):
        raise element.error(f"{attribute}={_quoted(element, attribute)}: {shortened(word)} is too large for a number")
    return value


def _not_a_number(element: Element, attribute: str, word: str) -> FormatError:
    hint = "write digits with a point, such as 1.5 or 2e-3"
    if "${" in word or "$(" in word:
        hint = "this is xacro's: the argument xacro={} of kinetree.load expands it"
    elif re.fullmatch(r"[+-]?(nan|inf(inity)?)", word, re.IGNORECASE):
        hint = "a finite number is needed"
    elif "," in word:
        hint = "the decimal sign is a point, and numbers are separated by spaces"
    return element.error(f"{attribute}={_quoted(element, attribute)}: {shortened(word)!r} is not a number; {hint}")


def _quoted(element: Element, attribute: str) -> str:
    return repr(shortened(element.attributes[attribute]))


def rpy_rotation(rpy: Sequence[float]) -> Rows:
    """Return ``R = Rz(yaw) Ry(pitch) Rx(roll)``: the rotation of fixed-axis roll, pitch and yaw (rad).

    Entries within 4 ulp of 0 or ±1 become just that, within the rounding of the product: `cos(pi / 2)` is meant to be
    zero, and a structural zero is worth having.
    """
    (cr, cp, cy), (sr, sp, sy) = map(math.cos, rpy), map(math.sin, rpy)
    x = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    y = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    return _snapped((x, y, (-sp, cp * sr, cp * cr)))


def quaternion_rotation(xyzw: Sequence[float]) -> Rows:
    """Return the rotation of a quaternion (x, y, z, w) of any norm but zero."""
    largest = max(map(abs, xyzw))  # so that no square overflows or vanishes
    return _snapped(Quaternion(*(x / largest for x in xyzw)).rotation().matrix.T.rows)


def _snapped(rows: Iterable[Iterable[float]]) -> Rows:
    a, b, c = (tuple(map(_snap, row)) for row in rows)
    return a, b, c  # type: ignore[return-value]  # three rows of three


def _snap(x: float) -> float:
    nearest = float(round(x))
    return nearest + 0.0 if abs(x - nearest) < SNAP else x  # + 0.0 turns −0.0 into 0.0
