"""Type checkers accept a user's script and the examples of the README, and find misspelt functions and arguments."""

from __future__ import annotations

import doctest
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import jedi
import pytest
from mypy import api

from kinetree.algorithms.table import INDEX

ROOT = Path(__file__).parents[1]
CONTROLLER, MISTAKES = (ROOT / "tests" / "typing" / f"{name}.py" for name in ("controller", "mistakes"))
WRONG = {k for k, line in enumerate(MISTAKES.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("# WRONG")}
PAGES = ["README.md", "docs/composition.md", "docs/compiled_functions.md"]


def script(page: str) -> str:
    """Return the examples of a page but those that raise; functions in them need no annotations."""
    found = doctest.DocTestParser().get_examples((ROOT / page).read_text(encoding="utf-8"))
    lines = [example.source for example in found if example.exc_msg is None]
    return "".join(
        ["# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators\n", *lines]
    )


def test_mypy_finds_all_mistakes_and_no_others(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    pages = []
    for page in PAGES:
        pages.append(tmp_path / f"{Path(page).stem}_page.py")
        pages[-1].write_text(script(page), encoding="utf-8")
    paths = [str(path) for path in (CONTROLLER, MISTAKES, *pages)]
    report, errors, _ = api.run(["--config-file", "pyproject.toml", "--no-error-summary", *paths])
    found = re.findall(r"^(.+?):(\d+): error: (.*)$", report, re.MULTILINE)
    assert not [line for line in found if Path(line[0]).stem != "mistakes"], report + errors
    assert {int(number) for _, number, _ in found} == WRONG, report + errors


def test_pyright_finds_all_mistakes_and_no_others(tmp_path):
    settings = {"include": [str(CONTROLLER), str(MISTAKES)], "extraPaths": [str(ROOT / "src")]}
    path = tmp_path / "pyrightconfig.json"
    path.write_text(json.dumps({**settings, "typeCheckingMode": "standard", "pythonVersion": "3.11"}))
    command = [sys.executable, "-m", "basedpyright", "-p", path, "--pythonpath", sys.executable, "--outputjson"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(answer.stdout)["generalDiagnostics"]
    places = {(Path(x["file"]).stem, x["range"]["start"]["line"] + 1) for x in found}
    assert places == {("mistakes", k) for k in WRONG}, answer.stdout


def test_the_script_runs(capsys):
    runpy.run_path(str(CONTROLLER))
    assert "<kinetree function hold(q, v, q_des, kp=100.0, law='pd', *, out=None)> hold" in capsys.readouterr().out


@pytest.mark.parametrize("code", ["robot = kt.load('panda')\nrobot.", "def f(robot: kt.Robot):\n    robot."])
def test_static_completion_knows_all_functions(code):
    completions = jedi.Script(f"import kinetree as kt\n{code}", project=jedi.Project(ROOT / "src")).complete()
    assert {c.name for c in completions} >= {*INDEX, "lock", "inverse_kinematics", "lower_limits"}


@pytest.mark.parametrize("code", ["def f(x: kt.Robot):\n    x.identify(", "def f(x: kt.Mechanism):\n    x.identify("])
def test_static_help_knows_the_arguments(code):
    (found,) = jedi.Script(f"import kinetree as kt\n{code}", project=jedi.Project(ROOT / "src")).get_signatures()
    assert {"log", "terms", "by", "bodies"} <= {x.name for x in found.params}
