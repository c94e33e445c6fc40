"""No good log is refused: arms, motions and clocks at random, joints that stand still or are slow, and loads.

A sample of the logs by a seed, or all of them with KINETREE_TEST_ALL=1.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from helpers.arm_logs import Conditions, recorded, true_robot
from helpers.clocks import CLOCKS
from helpers.recorded import arm
from helpers.sampling import few
from kinetree.identification import Findings, LogWarning, diagnose, prepare

ARMS = ("panda", "ur5")
COUNT = 200


def found(seed: int) -> tuple[str, Conditions, Findings]:
    """Return what the checks say of one log."""
    rng = np.random.default_rng([seed, 7])
    name = str(rng.choice(ARMS))
    robot = arm(name)
    still, slow = np.split(rng.permutation(robot.nv)[: rng.integers(0, 4)], [rng.integers(0, 3)])
    how = Conditions(
        clock=str(rng.choice(list(CLOCKS))),
        stamps=str(rng.choice(["taken", "received"])),
        motion=str(rng.choice(["waves", "points", "turns"])),
        encoder=float(rng.choice([1e-5, 2e-5, 1e-4])),
        noise=float(rng.choice([0.005, 0.02, 0.05])),
        coloured=float(rng.choice([0.0, 0.03])),
        quantum=float(rng.choice([0.0, 0.05])),
        lost=float(rng.choice([0.0, 0.05])),
        doubled=float(rng.choice([0.0, 0.03])),
        still=tuple(map(int, still)),
        slow=tuple(map(int, slow)),
        duration=float(rng.choice([10.0, 20.0, 40.0])),
    )
    real = true_robot(robot, seed, load=float(rng.choice([0.0, 1.0, 4.0])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LogWarning)
        samples = prepare(robot, *recorded(real, how, seed))
    return name, how, diagnose(robot, samples)


@pytest.mark.parametrize("seed", few(range(COUNT), 6))
def test_good_logs_are_not_refused(seed: int) -> None:
    *log, findings = found(seed)
    assert findings.errors == (), log
