"""Attributes as numbers, vectors and rotations: strict, and the same in every locale."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from kinetree.errors import FormatError, shortened
from kinetree.formats.xml.elements import Element
from kinetree.spatial import Quaternion

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
        hint = "this is a xacro file; run xacro on it first"
    elif re.fullmatch(r"[+-]?(nan|inf(inity)?)", word, re.IGNORECASE):
        hint = "a finite number is needed"
    elif "," in word:
        hint = "the decimal sign is a point, and numbers are separated by spaces"
    return element.error(f"{attribute}={_quoted(element, attribute)}: {shortened(word)!r} is not a number; {hint}")


def _quoted(element: Element, attribute: str) -> str:
    return repr(shortened(element.attributes[attribute]))


def rpy_rotation(rpy: Sequence[float]) -> Rows:
    """Return ``R = Rz(yaw) Ry(pitch) Rx(roll)``: the rotation of fixed-axis roll, pitch and yaw (rad).

    Entries within 4 ulp of 0 or ±1 become just that: `cos(pi / 2)` is meant to be zero, and a structural zero is
    worth having. This is within the rounding of the product.

    Examples
    --------
    >>> rpy_rotation((0.0, 0.0, 1.5707963267948966))
    ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    """
    (cr, cp, cy), (sr, sp, sy) = map(math.cos, rpy), map(math.sin, rpy)
    x = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    y = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    return _snapped((x, y, (-sp, cp * sr, cp * cr)))


def quaternion_rotation(xyzw: Sequence[float]) -> Rows:
    """Return the rotation of a quaternion (x, y, z, w) of any norm but zero.

    Examples
    --------
    >>> quaternion_rotation((0.0, 0.0, 3.0, 3.0))
    ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    """
    largest = max(map(abs, xyzw))  # so that no square overflows or vanishes
    return _snapped(Quaternion(*(x / largest for x in xyzw)).rotation().matrix.T.rows)


def _snapped(rows: Iterable[Iterable[float]]) -> Rows:
    a, b, c = (tuple(map(_snap, row)) for row in rows)
    return a, b, c  # type: ignore[return-value]  # three rows of three


def _snap(x: float) -> float:
    nearest = float(round(x))
    return nearest + 0.0 if abs(x - nearest) < SNAP else x  # + 0.0 turns −0.0 into 0.0
