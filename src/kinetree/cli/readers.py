"""What options mean: their texts as numbers."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence


def joined(argv: Sequence[str]) -> list[str]:
    """Return the arguments with the three numbers after --gravity as one: argparse takes "-1,0,0" for an option."""
    given, joined = list(argv), []
    while given:
        text = given.pop(0)
        if text == "--gravity" and given:
            text = f"--gravity={given.pop(0)}"
            while given and len(text.replace(",", " ").split()) < 3:
                text += f" {given.pop(0)}"
        joined.append(text)
    return joined


def gravity(text: str) -> tuple[float, ...]:
    """Return the three numbers of gravity."""
    numbers = tuple(map(number(float), text.replace(",", " ").split()))
    if len(numbers) != 3:
        raise argparse.ArgumentTypeError(f"{text!r} is no gravity: give three numbers, as in 0,0,-1.62")
    return numbers


def payload(text: str) -> tuple[float, tuple[float, ...], str]:
    """Return mass, place and frame of a payload; the frame is empty where none is given."""
    numbers, _, frame = text.partition("@")
    try:
        mass, *place = map(float, numbers.split(","))
    except ValueError:
        mass, place = -1.0, []
    if not 0 <= mass < math.inf or len(place) not in (0, 3) or not all(map(math.isfinite, place)):
        raise argparse.ArgumentTypeError(f"{text!r} is no payload: give a mass ≥ 0, as in 1.5 or 1.5,0,0,0.1@tool")
    return mass, tuple(place) or (0.0, 0.0, 0.0), frame


def load(text: str) -> tuple[str, tuple[float, tuple[float, ...] | None, str]]:
    """Return the log and the payload, with its frame, of ``held.csv=5,0,0,0.1@flange``; of a mass alone no place."""
    log, _, what = text.rpartition("=")
    if not log or not what.partition("@")[2]:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no load: give a log, a mass and a frame, as in held.csv=5@flange"
        )
    mass, place, frame = payload(what)
    return log, (mass, place if "," in what.partition("@")[0] else None, frame)


def gains(text: str) -> tuple[float, float]:
    """Return the two gains of a controller."""
    try:
        kp, kd = map(float, text.split(","))
    except ValueError:
        kp = kd = -1.0
    if not (0 <= kp < math.inf and 0 <= kd < math.inf):
        raise argparse.ArgumentTypeError(f"{text!r} are no gains: give two numbers ≥ 0, as in 100,20")
    return kp, kd


def number(kind: type[int] | type[float], relation: str = "", bound: float = 0) -> Callable[[str], float]:
    """Return a reader of finite numbers for argparse, those with this relation, "≥" or ">", to a bound."""
    wanted = " ".join(filter(None, ("an integer" if kind is int else "a number", relation, relation and str(bound))))

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no number, it must be {wanted}") from None
        inside = {"": True, "≥": value >= bound, ">": value > bound}[relation]
        if not math.isfinite(value) or not inside:
            raise argparse.ArgumentTypeError(f"{text} is out of range, it must be {wanted}")
        return value

    return read


def numbers(text: str) -> float | list[float]:
    """Return finite numbers that commas separate; the number itself if there is one."""
    found = [number(float)(part) for part in text.split(",")]
    return found[0] if len(found) == 1 else found


def joint_terms(text: str) -> dict[str, list[str] | None]:
    """Return which joints have each term, None for all: ``damping,stiffness@joint2,stiffness@joint3``.

    Examples
    --------
    >>> joint_terms("damping,stiffness@joint2,stiffness@joint3"), joint_terms("none")
    ({'damping': None, 'stiffness': ['joint2', 'joint3']}, {})
    """
    found: dict[str, list[str] | None] = {}
    for part in text.split(",") if text != "none" else ():
        term, at, joint = part.strip().partition("@")
        joints = found.get(term, [])
        if not term or (at and (not joint or joints is None)) or (not at and term in found):
            raise argparse.ArgumentTypeError(f"{text!r}: give terms as in damping,friction,stiffness@joint2")
        found[term] = [*(joints or []), joint] if at else None
    return found
