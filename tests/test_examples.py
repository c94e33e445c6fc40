"""The programs under examples/ run; mypy checks their types with those of the package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


SHOWN = {
    "controlled_panda": "600 N/m:  50.00 mm under 30 N",
    "falling_double_pendulum": "rk4                  3.0e-10 rad from the truth",
    "first_torque": "panda_joint2                19.692",
    "follow_a_circle": "at 17 % of the speed limits",
    "hopping_leg": "it hops 30.3, 25.1, 23.9, 23.7, 23.6 cm high",
    "identify_panda": "95% of the parameters are within two standard deviations of the truth",
    "impedance_control": "2.0 s:  50.00 mm",
    "own_robot": "the cart sways by 0.167 m",
    "path_within_limits": "10 rad/s²: 0.769 s, at most  55 % of the effort limits",
    "randomised_pandas": "1000 steps, 0 stopped",
    "spinning_bodies": "from turn to turn: 2.587986 s, simulated 2.587986",
    "stewart_platform": "0.01 mm off its way after 1 s",
    "stepping_stones": "it stands on stones -22 27 17 -1 mm high",
    "turning_quadruped": "the body has turned by 34.0°",
    "unknown_payload": "6.0 kg:  61.1 % of all postures",
}


def imported(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*SHOWN, "computed_torque_10khz"}


@pytest.mark.parametrize(("name", "line"), SHOWN.items())
def test_an_example_prints_what_it_found(name: str, line: str, capsys):
    if name == "stepping_stones":
        pytest.importorskip("coal")
    imported(name).main()
    assert line in capsys.readouterr().out


def test_computed_torque_at_10_khz(capsys, monkeypatch):
    example = imported("computed_torque_10khz")
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
