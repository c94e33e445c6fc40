"""The pages that are made from the code are what the code makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import kinetree as kt
from kinetree.algorithms import ALGORITHMS

ROOT = Path(__file__).parents[1]


def script(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_of_functions_is_up_to_date() -> None:
    page = (ROOT / "docs/functions.md").read_text(encoding="utf-8")
    assert page == script("docs/make_functions.py").page(), "run python docs/make_functions.py"


def test_the_signatures_for_type_checkers_are_up_to_date() -> None:
    maker = script("tools/make_signatures.py")
    assert maker.FILE.read_text(encoding="utf-8") == maker.text(), "run python tools/make_signatures.py"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_function_is_documented_and_there(name: str) -> None:
    function = getattr(kt.load("ur5"), name)
    assert function.__name__ == name
    for section in ("Parameters", "Returns"):
        assert f"\n{section}\n---" in function.__doc__
    assert name in (kt.Robot.__doc__ or "")
