"""Units in the names of columns: those of the SI are taken off, others are never read as if they were."""

from __future__ import annotations

import re

from kinetree.errors import FormatError

SI: dict[str, tuple[str, ...]] = {
    "t": ("s", "sec", "secs", "second", "seconds"),
    "q": ("rad", "rads", "radian", "radians", "m", "meter", "meters", "metre", "metres", "-", ""),
    "v": ("rad/s", "m/s", "rad/sec", "m/sec", "rads-1", "ms-1"),
    "a": ("rad/s2", "m/s2", "rad/sec2", "m/sec2", "rad/s/s", "m/s/s", "rads-2", "ms-2"),
    "tau": ("nm", "n.m", "n-m", "n", "newtonmeter", "newtonmetre", "newton"),
    "current": ("a", "amp", "amps", "ampere", "amperes"),
}
SI["wrench"] = SI["tau"]
"""The units of the quantities, as `_plain` writes them."""

OTHERS: dict[str, tuple[str, ...]] = {
    "seconds": ("ms", "msec", "millis", "milliseconds", "us", "µs", "usec", "microseconds", "ns", "nsec", "min", "h"),
    "radians": ("deg", "degs", "degree", "degrees", "°", "rev", "turns", "ticks"),
    "metres": ("mm", "cm", "km", "in", "inch", "ft"),
    "rad/s": ("deg/s", "degs/s", "degrees/s", "°/s", "deg/sec", "rpm", "rev/min", "rev/s"),
    "m/s": ("mm/s", "cm/s", "km/h"),
    "rad/s²": ("deg/s2", "degrees/s2", "°/s2", "deg/s/s"),
    "m/s²": ("mm/s2", "cm/s2", "g"),
    "N·m": ("mnm", "ncm", "knm", "kgfm", "kgfcm", "lbft", "ftlb", "inlb"),
    "A": ("ma", "milliamp", "milliamps", "ka"),
}
"""What to give instead of a unit that is known, and is not that of the SI."""

EXPECTED = {"t": "s", "q": "rad or m", "v": "rad/s or m/s", "a": "rad/s² or m/s²", "tau": "N·m or N", "current": "A"}
EXPECTED["wrench"] = EXPECTED["tau"]

_BRACKETED = re.compile(r"(.*?)[ _.]*[\[(]([^\[\]()]*[^\[\]()\d][^\[\]()]*)[\])]")
_SUFFIXED = re.compile(
    r"(.+?)[ _.](rad|radians|sec|seconds|ms|msec|millis|us|usec|ns|nsec|mm|cm|deg|degs|degrees|rpm|deg/s"
    r"|nm|mnm|ma|amps)",
    re.IGNORECASE,
)


def split_unit(name: str) -> tuple[str, str | None]:
    """Return a column's name without its unit, and the unit.

    Examples
    --------
    >>> split_unit("Time (s)"), split_unit("q[1] [rad]"), split_unit("t_ms"), split_unit("q[1]")
    (('Time', 's'), ('q[1]', 'rad'), ('t', 'ms'), ('q[1]', None))
    """
    match = _BRACKETED.fullmatch(name) or _SUFFIXED.fullmatch(name)
    return (match[1], match[2]) if match else (name, None)


def is_si(unit: str | None, quantity: str) -> bool:
    """Return whether a unit is that in which a quantity is read."""
    return unit is None or _plain(unit) in SI[quantity]


def quantity_of(unit: str | None) -> str | None:
    """Return which quantity of joints a unit of the SI tells: q, v, a, tau or current; None if it tells none.

    Examples
    --------
    >>> quantity_of("rad"), quantity_of("Nm"), quantity_of("deg")
    ('q', 'tau', None)
    """
    joints = (quantity for quantity in SI if quantity not in ("t", "wrench"))
    return next((quantity for quantity in joints if unit and _plain(unit) in SI[quantity]), None)


def wrong_unit(name: str, unit: str, quantity: str) -> FormatError:
    """Return the error for a column whose unit is not that of its quantity."""
    instead = next((word for word, units in OTHERS.items() if _plain(unit) in units), None)
    if instead is not None:
        return FormatError(f"the column {name!r} is in {unit}: give {instead}")
    return FormatError(f"the unit {unit!r} of the column {name!r} is not read: expected {EXPECTED[quantity]}")


def _plain(unit: str) -> str:
    return re.sub(r"[\s^*·]", "", unit.lower().replace("²", "2").replace("⁻", "-").replace("¹", "1"))
