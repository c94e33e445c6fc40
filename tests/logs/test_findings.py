"""Which forces seem to be those of a sensor at its end."""

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import random_tree
from kinetree.joints import Revolute
from kinetree.logs.findings import saturated
from kinetree.logs.samples import Samples

WAVE = np.sin(np.linspace(0.0, 20.0, 500))
RAMP = np.arange(100.0)


@pytest.mark.parametrize(
    ("forces", "part"),
    [
        (WAVE, 0.0),
        (np.minimum(WAVE, 0.9), np.mean(WAVE >= 0.9)),
        (np.maximum(WAVE, -0.9), np.mean(WAVE <= -0.9)),
        (np.append(np.minimum(WAVE, 0.9), [-2.0, -2.0 - 1e-12]), np.sum(WAVE >= 0.9) / 502),
        (5.0 + 1e-12 * np.minimum(WAVE, 0.9), 0.0),
        (np.round(8.0 * WAVE), 0.0),  # a quantised force rests at each value for a while
        (np.minimum(np.round(64.0 * WAVE), 32.0), np.mean(np.round(64.0 * WAVE) >= 32.0)),
        (np.sign(WAVE), 0.0),
        (np.minimum(RAMP, 96.0), 0.0),  # four at the end
        (np.minimum(RAMP, 95.0), 0.05),
        (np.append(np.minimum(RAMP, 95.0), np.nan), 5 / 101),
    ],
)
def test_forces_at_an_end(forces, part):
    robot = kt.Robot(random_tree(0, 1, [Revolute((0, 0, 1))]))
    rows = forces[:, None]
    found = [*saturated((robot, Samples(np.cumsum(np.ones_like(rows), axis=0), rows, rows, rows)))]
    assert [f.figures["part_of_samples"] for f in found] == ([part] if part else [])
