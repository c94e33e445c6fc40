"""Words that the field says otherwise do not come back: in pages, docstrings, messages and reports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RETIRED = {
    r"\b(untold|unheard)\b": "unidentifiable",
    r"\bbod(y|ies) that can exist\b": "physically consistent inertias",
    r"\bsuspicions\b": "plausibility checks",
    r"\bsamples as one\b": "correlation length",
    r"(?<![Tt]here )\bis no (number|array|pose|matrix|orientation|unit one|integer|name|column|time)\b": "is not a …",
    r"\bhas not (one|a|an) \b": "must have …",
    r"\btell(s)? nobody\b": "cannot be identified",
    r"\blift(s)? off what slides\b": "lets a sliding contact separate",
    r"\bfrom a state on\b": "from a given state",
}
"""Retired words, and what to write. The changes and the decisions tell of the past."""


def texts(path: Path) -> Iterator[str]:
    """Yield what a stranger may read of a file."""
    if path.suffix == ".md":
        yield path.read_text(encoding="utf-8")
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


FILES = [
    *(ROOT / "src" / "kinetree").rglob("*.py"),
    *(path for path in (ROOT / "docs").rglob("*.md") if path.stem != "decisions"),
    ROOT / "README.md",
]


@pytest.mark.parametrize("word", RETIRED)
def test_a_retired_word_stays_away(word: str) -> None:
    there = [(path.name, found[0]) for path in FILES for text in texts(path) if (found := re.search(word, text))]
    assert there == [], f"write {RETIRED[word]!r}"
