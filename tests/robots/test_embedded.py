"""Every embedded robot beside the published description that its figures come from."""

from __future__ import annotations

import importlib.metadata
import math
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import kinetree
from kinetree.embedded import EMBEDDED, embedded_path, embedded_text
from kinetree.errors import ModelError

DOF = {"ur5": 6, "panda": 7, "go2": 12, "g1": 29}
PUBLISHED = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
}
TRUNCATED_PI = {"1.57079632679": math.pi / 2, "3.14159265359": math.pi, "6.28318530718": 2 * math.pi}


def published_text(name: str) -> str:
    """Return the third party's URDF, π in full where its generator cut it to twelve digits."""
    distribution = importlib.metadata.distribution("example-robot-data")
    robots = Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    text = (robots / PUBLISHED[name]).read_text()
    for short, full in TRUNCATED_PI.items():
        text = re.sub(rf"{re.escape(short)}(?!\d)", repr(full), text)
    return text


def pinocchio_model(name: str, text: str) -> pin.Model:
    """Load as the embedded robot is meant: its base, and Panda's fingers fixed at zero."""
    if EMBEDDED[name].floating:
        return pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    model = pin.buildModelFromXML(text)
    fingers = [model.getJointId(joint) for joint in model.names if "finger" in joint]
    return pin.buildReducedModel(model, fingers, pin.neutral(model))


@pytest.fixture(params=sorted(EMBEDDED), scope="module")
def pair(request):
    """Pinocchio's model of our file, and of the published one."""
    name = request.param
    return pinocchio_model(name, embedded_text(name)), pinocchio_model(name, published_text(name))


def test_joints_have_the_published_names_order_and_limits(pair):
    ours, theirs = pair
    assert list(ours.names) == list(theirs.names)
    for figure in ("lowerPositionLimit", "upperPositionLimit", "velocityLimit", "effortLimit", "damping"):
        np.testing.assert_array_equal(getattr(ours, figure), getattr(theirs, figure), err_msg=figure)


@pytest.mark.parametrize("name", sorted(EMBEDDED))
def test_kinetree_loads_it_and_computes_what_was_published(name):
    robot, theirs = kinetree.load(name), pinocchio_model(name, published_text(name))
    assert robot.joint_names == tuple(theirs.names[1:])
    order = list(range(theirs.nv))
    if EMBEDDED[name].floating:
        order[:6] = [3, 4, 5, 0, 1, 2]  # angular first
    for q, v, a in zip(*robot.random_state(seed=2, size=20), strict=True):
        data = theirs.createData()
        tau = pin.rnea(theirs, data, q, v[np.argsort(order)], a[np.argsort(order)])[order]
        M = pin.crba(theirs, data, q)[np.ix_(order, order)]
        for got, want in ((robot.inverse_dynamics(q, v, a), tau), (robot.mass_matrix(q), M)):
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-13 * np.abs(want).max())


def test_frames_that_stay_are_where_they_were_published(pair):
    ours, theirs = pair
    data, their_data = ours.createData(), theirs.createData()
    q = pin.integrate(ours, pin.neutral(ours), np.linspace(-1, 1, ours.nv))
    pin.framesForwardKinematics(ours, data, q)
    pin.framesForwardKinematics(theirs, their_data, q)
    bodies = [frame.name for frame in ours.frames if frame.type == pin.FrameType.BODY]
    assert len(bodies) > ours.njoints
    for name in bodies:
        got = data.oMf[ours.getFrameId(name, pin.FrameType.BODY)].homogeneous
        want = their_data.oMf[theirs.getFrameId(name, pin.FrameType.BODY)].homogeneous
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-14, err_msg=name)


def test_no_link_with_mass_was_dropped():
    for name in EMBEDDED:
        masses = [float(m) for m in re.findall(r'mass value="([^"]+)"', embedded_text(name))]
        published = [float(m) for m in re.findall(r'mass\s+value="([^"]+)"', published_text(name))]
        assert sorted(masses) == sorted(m for m in published if m > 0)


@pytest.mark.parametrize("name", sorted(EMBEDDED))
def test_file_is_minimal_and_names_its_source(name):
    text, robot = embedded_text(name), EMBEDDED[name]
    assert text.count('type="revolute"') == DOF[name]
    for unwanted in ("visual", "collision", "mesh", "package://", "transmission", "gazebo"):
        assert unwanted not in text[text.index("-->") :]
    header = text[: text.index("-->")]
    assert robot.licence in header or "states BSD" in header
    assert robot.source.split()[0].rsplit("/", 1)[-1] in header


def test_table_readme_and_files_agree():
    here = files("kinetree.embedded")
    assert {f.name for f in here.iterdir() if f.name.endswith(".urdf")} == {f"{n}.urdf" for n in EMBEDDED}
    readme = here.joinpath("README.md").read_text(encoding="utf-8")
    for name, robot in EMBEDDED.items():
        assert name == robot.name
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}`"))
        assert robot.licence in row
        assert ("floating" in row) is robot.floating
        assert f"| {DOF[name]} |" in row


@pytest.mark.parametrize("of", [embedded_path, embedded_text])
def test_unknown_name_is_a_clear_error(of):
    with pytest.raises(ModelError, match=r"no embedded robot 'pandas', did you mean 'panda'\?"):
        of("pandas")


def test_listing_the_robots_imports_nothing_heavy():
    before = "import sys, kinetree.errors; before = set(sys.modules)"
    code = f"{before}; import kinetree.embedded; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {name.split(".")[0] for name in done.stdout.split()}
    assert not imported & {"numpy", "llvmlite", "xml", "defusedxml", "rich"}


def test_files_are_read_as_utf_8_wherever_that_is():
    code = f"from kinetree.embedded import embedded_text; [embedded_text(name) for name in {list(EMBEDDED)}]"
    strict = ["-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    subprocess.run([sys.executable, *strict, "-c", code], check=True)
