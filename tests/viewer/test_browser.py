"""Robots with their meshes in Chromium: from a file without a network, and live."""

import os
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.chromium import Chromium, found
from robots import erd_urdf

PICTURES = os.environ.get("KINETREE_TEST_PICTURES")  # a folder: pictures are kept there to be looked at
ROBOTS = {"panda": False, "go2": True}  # and whether they float
POSES = {"panda": [0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8, 0.0], "go2": [0, 0, 0.3, 0, 0, 0, 1, *[0.0, 0.9, -1.8] * 4]}


@pytest.fixture(scope="module")
def chromium():
    """Return a browser that finds nothing but this machine."""
    if not found() and "CI" not in os.environ:
        pytest.skip("there is no Chromium")
    with Chromium(400, 360, offline=True) as browser:
        yield browser


@pytest.fixture(params=ROBOTS)
def robot(request):
    return kt.load(erd_urdf(f"{request.param}.urdf"), floating_base=ROBOTS[request.param])


def pose(robot):
    return np.array(next(q for name, q in POSES.items() if robot.name.startswith(name)))


def body(picture):
    """Return which pixels are of a robot, neither white nor of the grid."""
    inner = picture.astype(int)[: -picture.shape[0] // 5]  # without the bar of the player
    return (inner.max(axis=-1) < 190) | (np.ptp(inner, axis=-1) > 8)


def seen(picture):
    """Return whether there is a robot: a good part of the picture, in many colours."""
    found = body(picture)
    return found.mean() > 0.02 and len(np.unique(picture[: len(found)][found], axis=0)) > 150


def keep(chromium, name):
    if PICTURES:
        (Path(PICTURES) / f"{name}.png").write_bytes(chromium.png())


def test_a_motion_in_one_file_plays_without_a_network(robot, chromium, tmp_path):
    q = pose(robot) + np.linspace(0.0, 1.0, 11)[:, None] * (np.arange(robot.nq) >= robot.nq - 5) * 0.3
    motion = kt.Trajectory(robot, np.linspace(0.0, 2.0, 11), q, np.zeros((11, robot.nv)))
    motion.save_html(path := tmp_path / "motion.html")
    assert path.stat().st_size < 4e6
    chromium.open(path.as_uri())
    chromium.only_the_scene()
    first = chromium.until(seen)
    keep(chromium, f"{robot.name}_file")
    assert seen(first)
    later = chromium.until(lambda picture: (body(picture) != body(first)).mean() > 0.005)
    assert (body(later) != body(first)).mean() > 0.005  # it moves
    asked = {url.partition(":")[0] for url in chromium.requests()}
    assert asked <= {"file", "data", "blob"}


def test_live(robot, chromium):
    q = pose(robot)
    with robot.view(q, browser=False) as view:
        chromium.open(view.url)
        chromium.only_the_scene()
        before = chromium.until(seen)
        keep(chromium, f"{robot.name}_live")
        assert seen(before)
        assert "joints" in chromium.evaluate("document.body.textContent")
        view.show(q + 0.4 * (np.arange(robot.nq) >= robot.nq - 7))
        after = chromium.until(lambda picture: (body(picture) != body(before)).mean() > 0.02)
        assert (body(after) != body(before)).mean() > 0.02
        for mesh, _ in view._scene._meshes:
            mesh.visible = False
        assert not seen(chromium.until(lambda picture: not seen(picture)))  # the grid alone is none
        asked = {url.partition("?")[0] for url in chromium.requests() if not url.startswith(("data:", "blob:"))}
        assert asked <= {f"{view.url}/"}
