"""What other libraries' names are called here: for error messages, and nothing else. ``aliases.txt`` has them."""

from __future__ import annotations

import re
from pkgutil import get_data


def _read() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the tables of ``aliases.txt``: what to write here, arguments, and sentences, by names elsewhere."""
    text = (get_data("kinetree", "aliases.txt") or b"").decode().replace("\\\n", "")
    aliases: dict[str, str] = {}
    tables: dict[str, dict[str, str]] = {"KEYWORDS": {}, "WITHOUT": {}}
    table = aliases
    for line in text.splitlines():
        if line.startswith("["):
            table = tables.get(line.strip("[]"), aliases)
        elif line and line[0] != "#":
            names, _, here = line.partition(": ")
            table.update(dict.fromkeys(names.split(), here))
    return aliases, tables["KEYWORDS"], tables["WITHOUT"]


ALIASES, _ARGUMENTS, WITHOUT = _read()
"""What to write here, and what to know where there is no equal, by the name elsewhere."""

KEYWORDS: dict[str, list[str]] = {name: here.split() for name, here in _ARGUMENTS.items()}
"""Arguments that another library's is here, of which a function has some."""

SYNONYMS = {
    "torque": "force",
    "effort": "force",
    "pose": "placement",
    "transform": "placement",
    "speed": "velocity",
    "com": "center of mass",
    "inertia": "mass",
    "centre": "center",
    "link": "body",
    "derivative": "rate",
    "dot": "rate",
    "nonlinear": "bias",
}
"""Words that mean the same in names, by those that are looked for instead."""

FILLERS = ("get", "compute", "calc", "calculate", "total", "of", "the", "to", "position")
"""Words of names that tell nothing."""

_TARGET = re.compile(r'^\w+="(?P<value>\w+)"$|^[-(]?(?:robot\.|kt\.|mech\.)?(?P<name>\w+)')


def target(name: str) -> str | None:
    """Return the function, attribute, argument or value that a name elsewhere is here, None where it is unknown.

    Examples
    --------
    >>> target("mj_fullM"), target("LOCAL"), target("mass")
    ('mass_matrix', 'body', None)
    """
    found = _TARGET.search(ALIASES.get(name, ""))
    return found and (found["value"] or found["name"])
