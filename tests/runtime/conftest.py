from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinetree.runtime import set_num_threads
from kinetree.runtime.kernels import call_glue


@pytest.fixture(autouse=True, scope="session")
def glue():
    """Compile the call glue once: else a function's second call does it, and that one takes the general path."""
    call_glue("llvm", load=True, wait=True)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Give every test an empty cache of its own, and the default settings."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(folder))
    monkeypatch.delenv("KINETREE_LANES", raising=False)
    monkeypatch.delenv("KINETREE_NUM_THREADS", raising=False)
    yield folder
    set_num_threads(None)


@pytest.fixture
def python():
    """Return what runs a script in a process of its own, with `synthetic` at hand."""

    def start(script: str, **kwargs: object) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": path, **kwargs.pop("env", {})},  # type: ignore[dict-item]
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **kwargs,  # type: ignore[call-overload]
        )

    def run(script: str, **kwargs: object) -> str:
        process = start(script, **kwargs)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0, output
        return output

    run.start = start  # type: ignore[attr-defined]
    return run
