"""A real robot: identified from one motion, validated on another."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kr300 import kr300, motion
from kinetree.identification import Bodies, Samples, diagnose
from kinetree.identification.newton import pseudo_inertia

TERMS = {
    "armature": None,
    "damping": None,
    "friction": None,
    "offset": None,
    "stiffness": ["joint2"],  # a hydraulic cylinder balances it
    "damping_asymmetry": ["joint2", "joint3"],
}
PRESLIDING = 5e-5
ROBOT = kr300()


@pytest.fixture(scope="module")
def motions() -> dict[str, Samples]:
    return {name: motion(ROBOT, name, cutoff=6.0, presliding=PRESLIDING) for name in "AB"}


@pytest.mark.parametrize(("trained", "validated"), ["AB", "BA"])
def test_what_one_motion_tells_of_another(motions: dict[str, Samples], trained: str, validated: str) -> None:
    fit = ROBOT.identify(motions[trained], TERMS, bodies=Bodies(spread=0.2))
    assert (fit.validate(motions[validated]).relative < 0.35).all()
    free = fit.validate(motions[validated], consistent=False).relative
    assert free.max() > 0.7, "least squares alone overfits"
    assert (np.linalg.eigvalsh(pseudo_inertia(fit.parameters[:60].reshape(-1, 10))) > 0.0).all()
    assert (fit.correlation_time > 1.5).all(), "what gears do is not a white noise"


def test_the_direction_of_sliding_explains_the_friction(motions: dict[str, Samples]) -> None:
    """Without it, friction of the wrist's gears turns round at the wrong time."""
    with_direction, base = motions["A"], ROBOT.base_parameters(TERMS)
    without = with_direction._replace(direction=None)
    errors = [
        ROBOT.identify(log, base, bodies=None).validate(log, consistent=False).rms for log in (with_direction, without)
    ]
    assert (errors[0][3:] < 0.8 * errors[1][3:]).all()


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_a_flipped_sign_is_named_and_no_other(motions: dict[str, Samples], factor: float) -> None:
    """With the robot's masses, and with masses of some links that are far off: most of the forces is friction."""
    masses = ROBOT.inertial_parameters.reshape(-1, 10) * np.where(np.arange(6) % 2, factor, 1.0 / factor)[:, None]
    robot = ROBOT.with_inertial_parameters(masses.ravel())
    for log in motions.values():
        assert diagnose(robot, log, TERMS).errors == ()
        for k, name in enumerate(ROBOT.v_names):
            sign = np.where(np.arange(6) == k, -1.0, 1.0)
            (found,) = diagnose(robot, log._replace(tau=sign * np.asarray(log.tau)), TERMS).errors
            assert (found.name, found.joints) == ("force_sign", (name,))
