"""The programs under examples/ run; mypy checks their types with those of the package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_computed_torque_at_10_khz(capsys, monkeypatch):
    spec = importlib.util.spec_from_file_location("computed_torque_10khz", EXAMPLES / "computed_torque_10khz.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    durations, delays, errors = example.run(0.2)
    assert len(durations) == len(delays) == 2_000
    assert (durations > 0).all()
    assert (delays >= durations - 1e-3).all()
    assert np.median(durations) < 20  # the slowest ones are the machine's
    assert np.abs(errors).max() < 1e-5  # rad: the loop holds the robot on its sines
    monkeypatch.setattr("sys.argv", ["computed_torque_10khz.py", "0.01"])
    monkeypatch.setattr("os.sched_setaffinity", lambda *_: None, raising=False)
    example.main()
    assert "state to torques               p50" in capsys.readouterr().out
