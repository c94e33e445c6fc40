"""The structure that docs/architecture.md describes: rooms, sizes, no circles, and a test for each way to extend."""

from __future__ import annotations

import re
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "kinetree"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
ROOMS = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def circles() -> set[str]:
    """Return the modules that import each other, imports for type checkers and those inside functions counted."""
    graph = grimp.build_graph("kinetree", cache_dir=None)
    left = {module: graph.find_modules_directly_imported_by(module) - {"kinetree"} for module in graph.modules}
    # what is left out: grimp, which does not know stubs, takes imports of them for imports of kinetree
    while ends := {module for module in left if not left[module] & left.keys()}:
        left = {module: imported for module, imported in left.items() if module not in ends}
    while starts := left.keys() - set().union(*left.values()):
        left = {module: imported for module, imported in left.items() if module not in starts}
    return set(left)


def test_no_two_modules_import_each_other() -> None:
    assert not circles()


SIZES = {path.relative_to(SOURCE): lines(path) for path in SOURCE.rglob("*.py")}  # stubs are made
BUDGETS = [line.split() for line in (ROOT / "tests" / "budgets.txt").read_text().splitlines() if line[:1] != "#"]


def test_files_are_of_a_size_to_read() -> None:
    assert not {str(path): n for path, n in SIZES.items() if n > 350}


@pytest.mark.parametrize("row", BUDGETS, ids=lambda row: row[-1])
def test_rooms_are_within_their_budgets(row: list[str]) -> None:
    numbers = [int(x) for x in row if x.isdigit()]
    rooms = [x for x in row if not x.isdigit()]
    sizes = {path: n for path, n in SIZES.items() if rooms == ["all"] or room_of(path) in rooms}
    assert sum(sizes.values()) <= max(numbers)


def test_every_room_has_a_budget() -> None:
    assert sorted(x for row in BUDGETS for x in row if not x.isdigit()) == sorted([*ROOMS, "ground", "all"])


def room_of(path: Path) -> str:
    """Return the room of a file of the package, "ground" for those beside the rooms."""
    return path.parts[0] if len(path.parts) > 1 else "ground"


def test_the_page_has_every_room() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (?!\[)", PAGE, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"\w+", row)) == ROOMS


@pytest.mark.parametrize(
    "what",
    [
        "joint",
        "constraint",
        "algorithm",
        "operation",
        "elementary function",
        "array operation",
        "backend",
        "estimator",
        "shape",
        "format",
    ],
)
def test_each_way_to_extend_has_its_test(what: str) -> None:
    (row,) = re.findall(rf"^\| an? {what} \|.*$", PAGE, re.MULTILINE)
    (path,) = re.findall(r"\[`(\w+)`\]\(\.\./([\w/.]+)\)", row)
    assert f"def {path[0]}(" in (ROOT / path[1]).read_text()
