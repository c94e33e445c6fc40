"""The command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kinetree.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def kinetree(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in an empty directory: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: Any) -> tuple[int, str, str]:
        try:
            code: Any = main([str(a) for a in arguments])
        except SystemExit as leave:
            code = leave.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def cli(kinetree: Run) -> Run:
    """Run ``kinetree inverse-dynamics``."""
    return partial(kinetree, "inverse-dynamics")
