"""Ten thousand broken files: each is a model with finite numbers or a clear error, and never a silent wrong answer.

Where Pinocchio reads the same broken file it is the judge of what the file says. A quarter of them run, chosen by
the seed; all with KINETREE_TEST_ALL=1.
"""

from __future__ import annotations

import math
import time

import numpy as np
import pinocchio as pin
import pytest
from mutations import mutant
from test_urdf_errors import GOOD

from helpers.sampling import few
from kinetree.errors import KinetreeError
from kinetree.formats import load_model
from robots import erd_urdf

MORE = """<origin xyz="0.5 0 0" rpy="0.3 0 -0.4"/><axis xyz="0.6 0 0.8"/>"""
TOOL = """  <!-- a tool -->
  <link name="tool">
    <inertial>
      <origin xyz="0 0 0.1"/>
      <mass value="0.5"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <joint name="flange" type="fixed">
    <origin xyz="0 0 0.2" rpy="1 2 3"/>
    <parent link="lower"/>
    <child link="tool"/>
  </joint>
</robot>"""
SMALL = GOOD.replace('"elbow" type="revolute">', f'"elbow" type="prismatic">{MORE}').replace("</robot>", TOOL)
SMALL = '<?xml version="1.0"?>\n' + SMALL.replace('"0 0 1" rpy="0 0 0"', '"0 0 1" rpy="0 1.5707963267948966 0"')
CHUNKS, EACH = 20, 500
SECONDS = 5.0


def outcome(data: bytes):
    """Return the model, or the error; an error of any other kind than ours is let through."""
    try:
        return load_model(data, mimic="independent", floating_base=True)
    except KinetreeError as error:
        return error


def judged(data: bytes):
    """Return Pinocchio's model, None where it has none or has overflowed."""
    try:
        oracle = pin.buildModelFromXML(data.decode(), pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError):
        return None
    return oracle if all(np.isfinite(I.toDynamicParameters()).all() for I in oracle.inertias) else None


def check_finite(model):
    for body in model.bodies:
        limits = body.limits
        assert all(map(math.isfinite, body.inertia))
        assert all(math.isfinite(x) for row in body.X_T.placement for x in row)
        assert all(
            map(math.isfinite, (*body.damping, *body.friction, *body.armature, *getattr(body.joint, "axis", ())))
        )
        assert not any(map(math.isnan, (limits.lower, limits.upper, limits.velocity, limits.effort)))
        assert body.inertia.m >= 0
    assert all(math.isfinite(x) for frame in model.frames for row in frame.X.placement for x in row)


def check_agrees(model, oracle):
    assert set(model.joint_names) == set(oracle.names[1:])
    for body in model.bodies:
        k = oracle.getJointId(body.joint_name)
        ten = oracle.inertias[k].toDynamicParameters()
        size = max(1.0, np.abs(oracle.jointPlacements[k].translation).max())
        np.testing.assert_allclose(list(body.inertia), ten, rtol=1e-12, atol=1e-12 * max(abs(ten)))
        np.testing.assert_allclose(body.X_T.placement, oracle.jointPlacements[k].homogeneous, rtol=0, atol=1e-14 * size)


@pytest.fixture(scope="module")
def sources():
    return [SMALL, SMALL, SMALL, erd_urdf("ur5_robot.urdf").read_text()]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinetree.formats.FormatWarning")
@pytest.mark.parametrize("chunk", few(range(CHUNKS), CHUNKS // 4))
def test_broken_files(chunk, sources):
    models = compared = 0
    for seed in range(chunk * EACH, (chunk + 1) * EACH):
        data = mutant(sources[seed // 17 % 4], seed)
        start = time.monotonic()
        model = outcome(data)
        assert time.monotonic() - start < SECONDS, seed
        if isinstance(model, KinetreeError):
            assert 10 < len(str(model)) < 1000, seed
            continue
        check_finite(model)
        oracle = judged(data)
        if oracle is not None:
            try:
                check_agrees(model, oracle)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}\n{data!r}") from error
        models, compared = models + 1, compared + (oracle is not None)
    assert 0.1 * EACH < compared <= models < 0.8 * EACH, "the mutations must both hit and miss"
