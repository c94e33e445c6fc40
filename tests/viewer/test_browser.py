"""Robots with their meshes in Chromium: from a file without a network, live, and in a notebook's output."""

import os
from pathlib import Path

import nbclient
import nbformat
import numpy as np
import pytest

import kinetree as kt
from helpers.chromium import Chromium, found
from robots import erd_urdf

PICTURES = os.environ.get("KINETREE_TEST_PICTURES")  # a folder: pictures are kept there to be looked at
ROBOTS = {"panda": False, "go2": True}  # and whether they float
POSES = {"panda": [0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8, 0.0], "go2": [0, 0, 0.3, 0, 0, 0, 1, *[0.0, 0.9, -1.8] * 4]}
SHARP = "?fixedDpr=1"  # else viser draws fewer pixels where it is slow, and thin lines change


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


def between(robot, first, last):
    """Return 1 for the coordinates from so many before the end to so many before it, and 0 for the others."""
    return (np.arange(robot.nq) >= robot.nq - first) & (np.arange(robot.nq) < robot.nq - last)


def seen(picture):
    """Return whether there is a robot: a part of the picture is neither white nor grid, in many colours."""
    inner = picture.astype(int)[: -picture.shape[0] // 5]  # without the bar of the player
    found = (inner.max(axis=-1) < 190) | (np.ptp(inner, axis=-1) > 8)
    return found.mean() > 0.02 and len(np.unique(inner[found], axis=0)) > 150


def changed(picture, other):
    """Return the part of the picture, without the bar of the player, that has another colour."""
    height = picture.shape[0] * 4 // 5
    return (np.ptp([picture[:height].astype(int), other[:height]], axis=0).max(axis=-1) > 16).mean()


def keep(chromium, name):
    if PICTURES:
        (Path(PICTURES) / f"{name}.png").write_bytes(chromium.png())


def test_a_motion_in_one_file_plays_without_a_network(robot, chromium, tmp_path):
    q = pose(robot) + np.linspace(0.0, 1.0, 11)[:, None] * between(robot, 7, 2) * 0.6
    motion = kt.Trajectory(robot, np.linspace(0.0, 2.0, 11), q, np.zeros((11, robot.nv)))
    motion.save_html(path := tmp_path / "motion.html")
    assert path.stat().st_size < 4e6
    chromium.open(path.as_uri() + SHARP)
    chromium.only_the_scene()
    first = chromium.until(seen)
    keep(chromium, f"{robot.name}_file")
    assert seen(first)
    later = chromium.until(lambda picture: changed(picture, first) > 0.005)
    assert changed(later, first) > 0.005  # it moves
    asked = {url.partition(":")[0] for url in chromium.requests()}
    assert asked <= {"file", "data", "blob"}


def test_live(robot, chromium):
    q = pose(robot)
    with robot.view(q, browser=False) as view:
        chromium.open(view.url + SHARP)
        chromium.only_the_scene()
        chromium.until(seen)
        before = chromium.still()
        keep(chromium, f"{robot.name}_live")
        assert seen(before)
        assert "joints" in chromium.evaluate("document.body.textContent")
        view.show(q + 0.4 * between(robot, 7, 2))
        moved = chromium.until(lambda picture: changed(picture, before) > 0.01)
        assert changed(moved, before) > 0.01
        view.show(q)
        again = chromium.until(lambda picture: changed(picture, before) < 0.001)
        assert changed(again, before) < 0.001  # nothing was missing before, and nothing is lost
        for mesh, _ in view._scene._handles[:-1]:
            mesh.visible = False
        assert not seen(chromium.until(lambda picture: not seen(picture)))  # the grid alone is none
        asked = {url.partition("?")[0] for url in chromium.requests() if not url.startswith(("data:", "blob:"))}
        assert asked <= {f"{view.url}/"}


def test_a_cell_of_a_notebook_shows_it(chromium, tmp_path):
    cell = nbformat.v4.new_code_cell("import kinetree as kt\nkt.load('panda').view()")
    client = nbclient.NotebookClient(nbformat.v4.new_notebook(cells=[cell]), timeout=120)
    page = tmp_path / "page.html"
    with client.setup_kernel():
        (output,) = client.execute_cell(cell, 0)["outputs"]
        page.write_text(output["data"]["text/html"])
        chromium.resize(900, 520)
        chromium.open(page.as_uri())

        def blue(picture):  # as links are; beside the panel
            return (picture[160:, :550, 2] > picture[160:, :550, 0] + 60.0).mean() > 0.01

        picture = chromium.until(blue)
        keep(chromium, "notebook")
        chromium.resize(400, 360)
        assert blue(picture)


def test_link_shapes_frames_and_forces_are_drawn(chromium):
    mech = kt.Mechanism(dog := kt.load("go2"), [kt.Contact(f"{x}_foot", radius=0.02) for x in ("FL", "FR", "RL", "RR")])
    with mech.view(q := np.array(POSES["go2"]), browser=False) as view:
        chromium.open(view.url + SHARP)
        chromium.only_the_scene()
        chromium.until(seen)
        before = chromium.still()
        assert seen(before)
        view.show(q, np.tile([0.0, 0.0, 0.25 * dog.mass * 9.81], 4))
        arrows = chromium.until(lambda picture: changed(picture, before) > 0.001)
        keep(chromium, "forces")
        assert changed(arrows, before) > 0.001
        view.show(q, np.zeros(12))
        again = chromium.until(lambda picture: changed(picture, before) == 0.0)
        assert changed(again, before) == 0.0  # the last arrow goes, too
        view._scene.switch("frames", on=True)
        frames = chromium.until(lambda picture: changed(picture, before) > 0.005)
        keep(chromium, "frames")
        assert changed(frames, before) > 0.005
