"""The errors that kinetree raises on purpose, all of them `ValueError` as well, and its warnings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Sequence

from kinetree.locks import importing

PACKAGE = os.path.dirname(os.path.abspath(__file__))


class KinetreeError(ValueError):
    """Base of all errors about what the user gave."""


class ModelError(KinetreeError):
    """A robot that cannot be built: the message names the link or the joint."""


class FormatError(KinetreeError):
    """A file that cannot be read: the message names the file, the element and the line."""


class ArgumentError(KinetreeError):
    """A call with an argument of the wrong shape, dtype or name."""


class CallError(ArgumentError, TypeError):
    """A call of a method with an argument that it does not take, or without one that it needs: a TypeError too."""


class AbsentError(ArgumentError, AttributeError):
    """An attribute that an object does not have as it was made, though others do: `hasattr` is False."""


class FormatWarning(UserWarning):
    """A file that loads, with something missing: the message says what was assumed."""


class NonPhysicalInertiaWarning(FormatWarning):
    """Links whose inertia no body can have; their numbers are used as they stand."""


class LimitWarning(UserWarning):
    """A joint that is put where its limits do not let it be."""


class DerivativeWarning(UserWarning):
    """A derivative by an input that no result depends on."""


class SimulationWarning(UserWarning):
    """A simulation that is not what it seems: it diverged, or contacts were not solved."""


def shortened(text: str) -> str:
    """Return a name or a value as messages show it: cut where it is long."""
    return text if len(text) <= 80 else text[:79] + "…"


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """Return the message for a name that does not exist: what another library's name is here, or the nearest ones.

    Examples
    --------
    >>> unknown_name("frame", "hand", ["panda_link8", "panda_hand", "panda_leftfinger"])
    "no frame 'hand', did you mean 'panda_hand'?"
    >>> unknown_name("function", "nle", ["mass_matrix", "bias_forces"])
    "no function 'nle'; here it is 'bias_forces'"
    """
    if not isinstance(name, str):
        return f"the name of a {kind} is a str; {name!r} was given"
    names = [shortened(n) for n in known]
    name = shortened(name)
    if here := here_called(name, names):
        return f"no {kind} {name!r}; here it is {' and '.join(map(repr, here))}"
    if near := nearest(name, names):
        return f"no {kind} {name!r}, did you mean {' or '.join(repr(n) for n in near)}?"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"no {kind} {name!r}; there are: {shown or 'none'}"


def unknown_attribute(name: str, known: Iterable[str]) -> str:
    """Return the message for an attribute that a robot, or the package, does not have.

    Examples
    --------
    >>> unknown_attribute("mj_integratePos", ["integrate"])
    "no attribute 'mj_integratePos'; here it is robot.integrate(q, v, dt)"
    >>> unknown_attribute("qvel", ["jacobian"])
    "no attribute 'qvel'; here it is the argument v"
    >>> unknown_attribute("normalize", ["integrate"])
    "no attribute 'normalize'; nothing has to be normalised: a quaternion of any norm is the same rotation"
    """
    with importing:
        from kinetree.aliases import ALIASES, WITHOUT

    names, here = list(known), ALIASES.get(name, "")
    if name in WITHOUT:
        return f"no attribute {name!r}; {WITHOUT[name]}"
    if here.startswith("mech."):
        here += ", where mech = kt.Mechanism(robot, constraints)"
    if here.lstrip("-(").startswith(("robot.", "kt.", "mech.")):
        return f"no attribute {name!r}; here it is {here}"
    if here:
        return f"no attribute {name!r}; here it is the argument {here}"
    return unknown_name("attribute", name, names)


def here_called(name: str, known: Iterable[str]) -> list[str]:
    """Return which of these names another library's name is here: none, one, or several that do its work together."""
    with importing:
        from kinetree.aliases import KEYWORDS, target

    here, names = [target(name), *KEYWORDS.get(name, ())], list(known)
    return [own for own in dict.fromkeys(here) if own and own.partition("=")[0] in names]


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that are most like one that does not exist, the nearest first; none where none is like it.

    Words count before letters: how much of the name is found in a candidate, and of the candidate in the name, where
    a word is found by itself, a synonym, its beginning, or a misspelling. The letters of the whole count if they say
    more.

    Examples
    --------
    >>> nearest("inv_dyn", ["inverse_dynamics", "forward_dynamics", "inverse_kinematics"])
    ['inverse_dynamics']
    """
    with importing:
        import difflib

    given = _words(name)
    letters, word = difflib.SequenceMatcher(b=name), difflib.SequenceMatcher()
    found: dict[tuple[str, str], float] = {}

    def alike(a: str, b: str) -> float:
        if (a, b) not in found:
            word.set_seqs(a, b)
            begins = min(len(a), len(b)) >= 3 and (a.startswith(b) or b.startswith(a))
            ratio = 0.0 if a.isdigit() or b.isdigit() else 0.9 if begins else word.ratio()
            found[a, b] = 1.0 if a == b else ratio if ratio >= 0.7 else 0.0
        return found[a, b]

    def part(words: list[str], others: list[str]) -> float:
        matched = sum(len(a) * max((alike(a, b) for b in others), default=0.0) for a in words)
        return matched / max(1, sum(map(len, words)))

    ranks = []
    for candidate in known:
        letters.set_seq1(candidate)
        close = letters.real_quick_ratio() >= _ALIKE and letters.quick_ratio() >= _ALIKE
        ratio, words = letters.ratio() if close else 0.0, _words(candidate)
        score = max(ratio, 0.7 * part(given, words) + 0.3 * part(words, given))
        if score >= _ALIKE:
            ranks.append((score, ratio, _common_start(name, candidate), candidate))
    ranks.sort(key=lambda rank: rank[:3], reverse=True)
    return [candidate for score, *_, candidate in ranks[:most] if score >= ranks[0][0] - _MARGIN]


def _common_start(a: str, b: str) -> int:
    """Return how many letters two names begin with alike."""
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


_ALIKE = 0.6
"""From this score on a name is suggested."""

_MARGIN = 0.08
"""So much less than the nearest name's score may that of another one be."""


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case and in the singular, synonyms replaced: ``["inverse", "dynamic"]``."""
    with importing:
        import re

        from kinetree.aliases import FILLERS, SYNONYMS

    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\dA-Za-z_]+", name)]
    singular = [w.removesuffix("s") if len(w) > 3 and not w.endswith("ss") else w for w in words]
    same = [other for w in singular for other in SYNONYMS.get(w, w).split()]
    return [w for w in same if w not in FILLERS] or same


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names for a message, the first ones where there are many.

    Examples
    --------
    >>> listed(["hip", "knee", "ankle"], most=2)
    'hip, knee, and 1 more'
    """
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def warn_user(message: str, category: type[Warning] = FormatWarning) -> None:
    """Warn, and point at the line outside kinetree that led here."""
    level = 1
    while os.path.abspath(sys._getframe(level).f_code.co_filename).startswith(PACKAGE + os.sep):
        if sys._getframe(level).f_back is None:
            break
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
