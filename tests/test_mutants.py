"""tools/mutants.py: which mistakes it makes, and that it notices those that tests notice, in a copy only."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).parents[1] / "tools" / "mutants.py"

SOURCE = '''
"""Text with 1 < 2."""
from typing import TypeVar
T = TypeVar("T", bound=int)
TOLERANCE = 0.5
ROUNDING = -16 * 2.0**-52
__all__ = ["f"]
__all__ += ["g"]

def f(x: "int < 2", y=3) -> "1 + 1":
    """Return 1."""
    if x < y and not -x:
        raise ValueError(f"{x + 1} is bad", 7)
    y += 0.5 * x + 1e-9
    return min(x, y, key=abs)
'''
MADE = {
    "if x <= y and not -x:",
    "if x < y or not -x:",
    "if x < y and not x:",
    "if (not (x < y and not -x)):",
    "pass",
    "y += 0.505 * x + 1e-9",
    "y += 0.5 / x + 1e-9",
    "y += 0.5 * x - 1e-9",
    "return max(x, y, key=abs)",
    "return min(x, y, )",
    'def f(x: "int < 2", y=4) -> "1 + 1":',
}


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the tool, for a small package with a room and a test that notices half of the mistakes."""
    spec = importlib.util.spec_from_file_location("mutants", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mutants", module)
    spec.loader.exec_module(module)
    root = tmp_path / "root"
    room = root / "src" / "kinetree" / "room"
    for folder in (room, root / "tests" / "room", root / "tools"):
        folder.mkdir(parents=True)
    (room.parent / "__init__.py").touch()
    (room / "__init__.py").write_text("def double(x, unused=1):\n    return x + x\n")
    test = "from kinetree.room import double\n\ndef test_double():\n    assert double(3) == 6\n"
    (root / "tests" / "room" / "test_double.py").write_text(test)
    monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(module, "EQUIVALENT", root / "tools" / "mutants_equivalent.txt")
    module.EQUIVALENT.touch()
    return module


def test_the_mistakes(tool: ModuleType, tmp_path: Path) -> None:
    """Of all kinds, and none in text, annotations, errors' arguments and thresholds."""
    path = tmp_path / "f.py"
    path.write_text(SOURCE)
    lines = {line.strip() for line in SOURCE.splitlines()}
    made = [mutant.of(SOURCE.encode()).decode().splitlines() for mutant in tool.mutants(path)]
    assert {line.strip() for text in made for line in text} - lines == MADE
    assert len(made) == len(MADE) + 1  # two statements


def test_a_room(tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in tool.ROOT.rglob("*.py")}
    monkeypatch.setattr(sys, "argv", ["mutants.py", "room"])
    assert tool.main() == 1
    told = capsys.readouterr().out
    assert "sign in __init__.py: tests/room/test_double.py::test_double" in told
    assert "-def double(x, unused=1):\n+def double(x, unused=2):" in told
    assert "room: 1 of 2 noticed, seed 0" in told
    assert {path: path.read_bytes() for path in before} == before
    (listed,) = (line for line in told.splitlines() if line.startswith("room/"))
    tool.EQUIVALENT.write_text(f"{listed}  # it is not used\n")
    assert tool.main() == 0


def test_a_mutant_without_end_is_noticed(tool: ModuleType, tmp_path: Path) -> None:
    path = tool.files("room")[0]
    path.write_text("def double(x):\n    while x != 6:\n        x += 3\n    return x\n")
    shutil.copytree(tool.ROOT, tmp_path / "tree")
    (endless,) = (m for m in tool.mutants(path) if m.kind == "statement")
    quick, *_ = tool.stages("room", endless)
    assert tool.fails(tmp_path / "tree", quick, endless, 3.0) == "no end"
    assert tool.fails(tmp_path / "tree", quick) == ""


def test_what_is_listed_as_equivalent_is_there_and_has_a_reason() -> None:
    """A line that no longer fits its file goes, or is made anew."""
    for entry in (PATH.parent / "mutants_equivalent.txt").read_text().splitlines():
        mutant, _, reason = entry.rpartition("  #")
        name = mutant.partition(" ")[0]
        lines = (PATH.parents[1] / "src" / "kinetree" / name).read_text().splitlines()
        assert any(mutant.startswith(f"{name} - {line.strip()} + ") for line in lines), mutant
        assert reason.strip()
