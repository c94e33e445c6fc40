"""The pages that are made from the code are what the code makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.algorithms import ALGORITHMS

DOCS = Path(__file__).parent.parent / "docs"


def test_the_list_of_functions_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_functions", DOCS / "make_functions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "functions.md").read_text(encoding="utf-8") == module.page(), "run python docs/make_functions.py"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_function_is_documented_and_there(name: str) -> None:
    function = getattr(kt.load("ur5"), name)
    assert function.__name__ == name
    for section in ("Parameters", "Returns"):
        assert f"\n{section}\n---" in function.__doc__
    assert name in (kt.Robot.__doc__ or "")
