"""What a viewer shows: poses beside those of frames, forces beside weights, and what goes wrong."""

import contextlib
import importlib.util
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import urllib.request
import webbrowser

import numpy as np
import pytest
import trimesh

import kinetree as kt
from kinetree.errors import ArgumentError, FormatWarning
from kinetree.geometry import Box, Cylinder, Geometries, Geometry, Mesh
from kinetree.geometry.meshes import meshes_of
from kinetree.joints import Cylindrical, FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.viewer import view as module
from kinetree.viewer.controls import Player, Sliders
from kinetree.viewer.scene import MOST_ROBOTS, Scene, assets, inertia_box
from robots import erd_urdf

FEET = [f"{x}_foot" for x in ("FL", "FR", "RL", "RR")]


def rotations(wxyz):
    """Return the rotations (..., 3, 3) of unit quaternions, by Rodrigues' formula."""
    w, p = wxyz[..., :1, None], wxyz[..., 1:]
    x, y, z = (p[..., k] for k in range(3))
    cross = np.stack([0 * x, -z, y, z, 0 * x, -x, -y, x, 0 * x], axis=-1).reshape(*x.shape, 3, 3)
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross


@pytest.fixture(scope="module")
def go2():
    return kt.load(erd_urdf("go2.urdf"), floating_base=True)


@pytest.fixture
def server():
    """Return a server of viser, which is stopped in the end."""
    server = module.serve("test", None)
    yield server
    with module.silently():
        server.stop()


@pytest.fixture
def seen(server):
    def make(robot, q, shapes="visual", mechanism=None):
        return Scene(server, robot, np.atleast_2d(q), shapes, mechanism)

    return make


@pytest.mark.parametrize("name", ["panda.urdf", "go2.urdf"])
def test_meshes_stand_where_the_links_are(name, seen):
    robot = kt.load(erd_urdf(name), floating_base=name == "go2.urdf")
    q = robot.random_configuration(seed=3, size=4)
    scene = seen(robot, q)
    wanted = []
    for g in robot.visual_geometry:
        T = robot.frame_placement(q, frame=g.link) @ np.array(g.placement.placement)
        T[..., :3, 3] += scene.shift[:, 0]
        wanted += list(T)
    found = []
    for handle, _ in scene._handles[:-1]:  # the last ones are frames
        T = np.tile(np.eye(4), (len(handle.batched_wxyzs), 1, 1))
        T[:, :3, :3], T[:, :3, 3] = rotations(handle.batched_wxyzs), handle.batched_positions
        found += list(T)
    order = lambda poses: sorted(poses, key=lambda T: tuple(np.round(T[:3, 3], 3)))  # noqa: E731
    np.testing.assert_allclose(order(found), order(wanted), atol=3e-6)  # float32


def test_a_mesh_is_sent_once(seen, go2):
    scene = seen(go2, go2.neutral())
    files = {(g.shape, g.color) for g in go2.visual_geometry}
    assert len(scene._handles) - 1 == len(files) < len(go2.visual_geometry)


def test_robots_of_a_batch_stand_apart(seen):
    panda = kt.load("panda")
    scene = seen(panda, np.tile(panda.neutral(), (7, 1)))
    places = scene.shift[:, 0]
    gaps = np.linalg.norm(places[:, None] - places, axis=-1) + 100.0 * np.eye(7)
    assert gaps.min() == pytest.approx(1.5 * scene.size)


def test_links_without_meshes_are_boxes_with_their_inertia():
    robot = kt.load("panda")
    for body in robot.model.bodies:
        (box,) = meshes_of(Box((1.0, 1.0, 1.0)))
        box.apply_transform(inertia_box(body.inertia))
        box.density = float(body.inertia.m) / box.volume
        com = [float(x) / float(body.inertia.m) for x in body.inertia.h]
        np.testing.assert_allclose(box.center_mass, com, atol=1e-12)
        about_com = np.array([[float(x) for x in row] for row in body.inertia.I.rows])
        about_com -= float(body.inertia.m) * (np.dot(com, com) * np.eye(3) - np.outer(com, com))
        np.testing.assert_allclose(box.moment_inertia, about_com, atol=2e-3 * np.trace(about_com))


def arm(*visual):
    """Return a pendulum with these shapes."""
    b = kt.ModelBuilder("arm")
    b.add_link("base")
    for name, parent in (("upper", "base"), ("fore", "upper")):
        b.add_link(name, kt.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.01])))
        b.add_joint(name + "_joint", parent=parent, child=name, joint=Revolute((0, 1, 0)))
    return kt.Robot(b.build(), geometry=Geometries(visual))


def test_one_line_says_which_files_are_missing(tmp_path, server):
    bad = tmp_path / "bad.stl"
    bad.write_bytes(b"")
    robot = arm(
        Geometry("upper", Mesh("gone.stl")), Geometry("upper", Mesh(str(bad))), Geometry("fore", Box((1, 1, 1)))
    )
    with pytest.warns(FormatWarning) as caught:
        used, bare = assets(robot, "visual")
    (warning,) = caught
    text = str(warning.message)
    assert text.startswith("arm is not seen whole: link 'upper': there is no mesh gone.stl")
    assert "bad.stl cannot be read" in text
    assert bare == {0}  # the box of its inertia in their place
    assert sorted(body for places in used.values() for body, _ in places) == [0, 1]
    assert not assets(arm(Geometry("fore", Box((1, 1, 1)))), "visual")[1]  # what the file leaves out stays out


def test_colours_of_files_and_of_the_robot():
    used, _ = assets(arm(Geometry("fore", Cylinder(0.1, 1.0), color=(1.0, 0.5, 0.0, 0.5))), "visual")
    (data,) = used
    (mesh,) = trimesh.load_scene(trimesh.util.wrap_as_stream(data), file_type="glb").dump()
    material = mesh.visual.material
    assert material.baseColorFactor.tolist() == [255, 56, 0, 128]  # linear
    assert (material.alphaMode, material.metallicFactor or 0.0) == ("BLEND", 0.0)


def test_contact_forces_bear_the_weight_where_the_feet_are(seen, go2):
    mech = kt.Mechanism(go2, [kt.Contact(foot, radius=0.02) for foot in FEET])
    q = go2.neutral()
    q[7:] = [0.0, 0.9, -1.8] * 4
    f = np.zeros((1, 12))
    f[0, 2::3] = 0.25 * go2.mass * 9.81
    scene = seen(go2, q, mechanism=mech)
    assert not len(scene._arrows.points)
    scene.show(q[None], f)
    arrows = scene._arrows.points
    lowest = [go2.frame_placement(q, frame=foot)[:3, 3] - [0, 0, 0.02] for foot in FEET]
    np.testing.assert_allclose(arrows[:, 0], lowest, atol=1e-6)
    np.testing.assert_allclose((arrows[:, 1] - arrows[:, 0]).sum(axis=0), [0, 0, scene.size], atol=1e-6)
    f[0, 3:] = 0.0
    scene.show(q[None], f)
    assert len(scene._arrows.points) == 1  # feet in the air have none
    scene.switch("contact forces", on=False)
    assert not scene._arrows.visible


def test_frames_on_and_off(seen, go2):
    q = go2.random_configuration(seed=1)
    scene = seen(go2, q)
    frames = scene.switches["frames"]
    assert not frames.visible
    scene.switch("frames", on=True)
    wanted = [go2.frame_placement(q, frame=name)[:3, 3] for name in go2.frame_names]
    np.testing.assert_allclose(frames.batched_positions, wanted, atol=1e-6)
    assert frames.visible


class Gui:
    """What sliders need of viser's panel; `set` moves one, as a hand does."""

    def __init__(self):
        self.sliders, self.buttons = {}, []

    def add_folder(self, _):
        return contextlib.nullcontext()

    def add_slider(self, label, low, high, step, value):
        slider = types.SimpleNamespace(label=label, low=low, high=high, value=value, calls=[])
        slider.on_update = slider.calls.append
        self.sliders[label] = slider
        return slider

    def add_button(self, _):
        return types.SimpleNamespace(on_click=self.buttons.append)

    def set(self, label, value):
        self.sliders[label].value = value
        for call in self.sliders[label].calls:
            call(types.SimpleNamespace(client=0))


def test_sliders_have_limits_and_move_each_kind_of_joint():
    b, kinds = kt.ModelBuilder("kinds"), {"free": FreeFlyer(), "ball": Spherical(), "tube": Cylindrical((1, 0, 0))}
    kinds |= {"hinge": Revolute((0, 0, 1)), "rail": Prismatic((1, 0, 0))}
    b.add_link("world")
    for before, (name, joint) in zip(["world", *kinds], kinds.items(), strict=False):
        b.add_link(name, kt.Inertia(1.0, [0, 0, 0], np.eye(3)))
        limits = {"limits": kt.JointLimits(-0.5, 2.0)} if name == "hinge" else {}
        b.add_joint(f"{name}_joint", parent=before, child=name, joint=joint, **limits)
    robot, gui, shown = kt.Robot(b.build()), Gui(), []
    sliders = Sliders(gui, robot, robot.neutral(), shown.append)
    assert len(gui.sliders) == robot.nv == 13
    assert (gui.sliders["hinge_joint"].low, gui.sliders["hinge_joint"].high) == (-0.5, 2.0)
    assert gui.sliders["rail_joint"].high == 1.0
    gui.set("hinge_joint", 1.5)
    gui.set("ball_joint.wx", np.pi / 2)
    gui.set("free_joint.wz", np.pi / 2)
    gui.set("free_joint.vx", 0.25)
    T = robot.forward_kinematics(shown[-1])
    np.testing.assert_allclose(T[0, :3, 3], [0.25, 0, 0], atol=1e-12)  # shifted, then turned
    np.testing.assert_allclose(T[0, :3, 0], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose((np.linalg.inv(T[0]) @ T[1])[:3, 1], [0, 0, 1], atol=1e-12)
    assert shown[-1][robot.q_names.index("hinge_joint")] == 1.5
    gui.buttons[0](None)
    np.testing.assert_allclose(shown[-1], robot.neutral(), atol=1e-15)
    assert not any(slider.value for slider in gui.sliders.values())
    for seed in range(3):  # they follow, and lead to where they are
        sliders.follow(q := robot.random_configuration(seed=seed))
        gui.set("hinge_joint", gui.sliders["hinge_joint"].value)
        np.testing.assert_allclose(robot.difference(shown[-1], q), np.zeros(13), atol=1e-12)


def test_a_slider_reaches_a_start_beyond_the_limits():
    gui, robot = Gui(), kt.load("panda")
    Sliders(gui, robot, robot.neutral(), print)  # joint 4 is at 0 then, and its upper limit is −0.07
    assert gui.sliders["panda_joint4"].high == 0.0


def test_a_motion_is_played_over_and_over_stopped_and_slowed_down(server, monkeypatch):
    monkeypatch.setattr(server, "get_clients", lambda: {0: "someone"})
    times = []
    player = Player(server, np.array([1.0, 1.2]), times.append)
    deadline = time.monotonic() + 20.0
    while not (len(times) > 2 and min(np.diff(times)) < 0.0) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert min(np.diff(times)) < 0.0  # it began anew
    assert max(times) <= 1.2
    assert min(times) >= 1.0
    player.playing.value = False
    time.sleep(0.1)
    count = len(times)
    time.sleep(0.15)
    assert len(times) == count
    player.time.value = 1.1
    assert times[-1] == 1.1
    player.stop()
    assert not player.is_alive()


def test_the_page_is_served_until_it_is_closed():
    robot = kt.load("panda")
    threads = threading.active_count()
    with robot.view(browser=False) as view:
        assert urllib.request.urlopen(view.url).read(15).lower() == b"<!doctype html>"
        assert view.url in repr(view)
        assert view.url in view._repr_html_()
        view.show(robot.neutral())
        port = int(view.url.rpartition(":")[2])
        with pytest.raises(ArgumentError, match=f"port {port} is taken"):
            robot.view(browser=False, port=port)
        with pytest.raises(ArgumentError, match="1 of 'panda' are shown"):
            view.show(np.zeros((2, 7)))
        with pytest.raises(ArgumentError, match="not finite"):
            view.show([np.nan] * 7)
        assert [slider.value for slider, *_ in view._sliders._sliders] == robot.neutral().tolist()
        view.show(q := robot.random_configuration(seed=0))
        assert [slider.value for slider, *_ in view._sliders._sliders] == q.tolist()
    view.close()
    assert "closed" in repr(view)
    with pytest.raises(ArgumentError, match=r"this view of 'panda' is closed: view\(\) opens another one"):
        view.show(robot.neutral())
    with socket.socket() as there:
        assert there.connect_ex(("127.0.0.1", port)) != 0
    assert threading.active_count() <= threads + 1


def test_nothing_is_printed(capfd):
    with kt.load("ur5").view(browser=False):
        pass
    assert capfd.readouterr() == ("", "")


def test_without_a_browser_the_address_is_told(monkeypatch):
    def none(*_):
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    with pytest.warns(UserWarning, match=r"no browser was found here: open http://127\.0\.0\.1:\d+; .*ssh -L"):
        kt.load("ur5").view().close()
    monkeypatch.setattr(webbrowser, "get", lambda: types.SimpleNamespace(name="w3m", open=lambda _: True))
    with pytest.warns(UserWarning, match="no browser was found"):
        kt.load("ur5").view(browser=True).close()
    opened = []
    monkeypatch.setattr(webbrowser, "get", lambda: types.SimpleNamespace(open=lambda url: opened.append(url) or True))
    with kt.load("ur5").view() as view:
        assert opened == [view.url]


@pytest.mark.parametrize("package", ["viser", "trimesh"])
def test_missing_packages_are_named(monkeypatch, package, tmp_path):
    robot, find = kt.load("ur5"), importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else find(name, *rest))
    motion = kt.Trajectory(robot, [0.0, 1.0], np.zeros((2, 6)), np.zeros((2, 6)))
    for call in (robot.view, motion.view, lambda: motion.save_html(tmp_path / "a.html")):
        with pytest.raises(ArgumentError, match=rf"{package}: pip install 'kinetree\[view\]'"):
            call()
    assert not list(tmp_path.iterdir())


def test_odd_arguments(tmp_path):
    robot = kt.load("ur5")
    motion = kt.Trajectory(robot, [0.0, 1e4], np.zeros((2, 6)), np.zeros((2, 6)))
    pushed = kt.Trajectory(robot, [0.0, 1.0], np.zeros((2, 6)), np.zeros((2, 6)), f=np.zeros((2, 2)))
    other = kt.Mechanism(robot, [kt.Contact(robot.frame_names[-1])])
    for call, said in [
        (lambda: robot.view(shapes="skin", browser=False), "shapes"),
        (lambda: robot.view(np.zeros((MOST_ROBOTS + 1, 6)), browser=False), "too many to be seen"),
        (lambda: robot.view([0.0] * 5, browser=False), "q has shape"),
        (lambda: motion.save_html(tmp_path / "a.htm"), "end it in .html"),
        (lambda: motion.save_html(tmp_path / "a.html"), "too many for a file"),
        (lambda: motion.save_html(tmp_path / "a.html", fps=0.0), "fps"),
        (lambda: motion.save_html(tmp_path / "none" / "a.html"), "no directory"),
        (lambda: motion.view(mechanism=kt.load("ur5"), browser=False), "mechanism takes"),
        (lambda: pushed.view(mechanism=other, browser=False), r"f has shape \(2, 2\), \(\.\.\., 3\) is needed"),
    ]:
        with pytest.raises(ArgumentError, match=said):
            call()
    assert not list(tmp_path.iterdir())


def test_a_robot_that_does_not_move_is_seen():
    still = kt.Robot(kt.load("ur5").lock(kt.load("ur5").joint_names).model)
    with still.view(browser=False) as view:
        assert view.url


@pytest.mark.skipif(sys.platform == "win32", reason="a signal interrupts")
@pytest.mark.parametrize("command", ["view ur5 --no-browser", "simulate ur5 --duration 0.05 --view"])
def test_the_shell_serves_it_until_ctrl_c(command):
    program = [sys.executable, "-m", "kinetree", *command.split()]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(program, **pipes) as process:
        while "Ctrl-C ends it" not in (line := process.stdout.readline()):
            assert line, "it ended"
        url = line.split()[-4].rstrip(";")
        assert urllib.request.urlopen(url).status == 200
        time.sleep(0.5)  # until it waits
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ""
    assert process.returncode == 0


def test_the_shell_writes_it(tmp_path, monkeypatch, capsys):
    from kinetree.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["view", "panda", "--q", "0", "-0.3", "0", "-2.2", "0", "2", "0.8", "--html", "panda.html"]) == 0
    assert capsys.readouterr().out == "wrote panda.html\n"
    assert main(["simulate", "ur5", "--duration", "0.1", "--animate", "fall.html"]) == 0
    for name in ("panda.html", "fall.html"):
        assert "__VISER_EMBED_DATA__" in (tmp_path / name).read_text()
    assert main(["view", "panda", "--html", "panda.htm"]) == 1


@pytest.mark.parametrize("port", [-1, 0, 70000, "8080", 1.5])
def test_a_port_that_is_none_is_refused_at_once(port):
    with pytest.raises(ArgumentError, match="from 1 to 65535"):
        kt.load("ur5").view(browser=False, port=port)
