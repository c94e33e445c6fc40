"""What other libraries' names are called here: for error messages, and nothing else.

They are in `kinetree.alias_tables`.
"""

from __future__ import annotations

import re

from kinetree.alias_tables import CONSTRAINTS, DRAKE, MUJOCO, OTHERS, PINOCCHIO, ROBOTICS_TOOLBOX
from kinetree.alias_tables import KEYWORDS as KEYWORDS_TABLE
from kinetree.alias_tables import WITHOUT as WITHOUT_TABLE


def _by_name(*texts: str) -> dict[str, str]:
    lines = (line.partition(": ") for text in texts for line in text.strip().splitlines())
    return {name: here for names, _, here in lines for name in names.split()}


ALIASES: dict[str, str] = _by_name(OTHERS, DRAKE, ROBOTICS_TOOLBOX, MUJOCO, PINOCCHIO, CONSTRAINTS)
"""What to write here, by the name elsewhere."""

KEYWORDS: dict[str, list[str]] = {name: here.split() for name, here in _by_name(KEYWORDS_TABLE).items()}
"""Arguments that another library's is here, of which a function has some: names that functions share, not robots."""

WITHOUT: dict[str, str] = _by_name(WITHOUT_TABLE)
"""What to know instead, by names elsewhere that have no equal here."""

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
