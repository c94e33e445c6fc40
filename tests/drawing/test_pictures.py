"""Pictures of motions: what they show, and that they come whole or not at all."""

from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from mpl_toolkits.mplot3d import proj3d
from PIL import Image

import kinetree as kt
from kinetree.drawing.panels import Skeleton
from kinetree.drawing.sticks import Stage
from kinetree.errors import ArgumentError
from kinetree.joints import Revolute, Spherical

HINGE = Revolute((0, 1, 0))


def pendulum(joint=HINGE, links=1):
    builder = kt.ModelBuilder("pendulum")
    builder.add_link("b0")
    below = np.eye(4)
    for k in range(links):
        builder.add_link(f"b{k + 1}", kt.Inertia.from_com(1.0, [0, 0, -0.5], np.diag([0.1] * 3).tolist()))
        builder.add_joint(f"j{k}", parent=f"b{k}", child=f"b{k + 1}", joint=joint, placement=below.copy())
        below[2, 3] = -1.0
    return kt.Robot(builder.build())


def swing(robot=None, lead=(), n=30, duration=1.2, *, torques=True, drop=0.0):
    robot = robot or pendulum(links=2)
    t = np.linspace(0.0, duration, n)
    move = np.sin(3 * t)[:, None] * np.linspace(0.4, 1.0, robot.nv)
    q0 = robot.neutral()
    q = robot.integrate(np.broadcast_to(q0, (*lead, 1, robot.nq)), move)
    if drop:
        q[..., 2] -= drop * t**2
    v = np.broadcast_to(3 * np.cos(3 * t)[:, None] * np.linspace(0.4, 1.0, robot.nv), (*lead, n, robot.nv))
    return kt.Trajectory(robot, t, q, v, None, v if torques else None)


def interrupt(part):
    raise KeyboardInterrupt


def panels(figure):
    return {ax.get_title(): ax for ax in figure.findobj(mpl.axes.Axes) if ax.get_visible()}


def test_of_many_robots_fifty_are_drawn_and_torques_that_are_all_zero_are_not():
    batch = swing(lead=(2, 40))
    figure = batch.plot(frames=[])
    assert len(panels(figure)["joint positions (rad)"].lines) == 50 * 2
    assert figure.get_suptitle() == "pendulum: 0 to 1.2 s, 80 robots (50 drawn)"
    with pytest.raises(ArgumentError, match=r"\['FL_foot'\]"):
        batch.plot(frames="FL_foot")
    one = batch.robots[0, 0]
    free = kt.Trajectory(one.robot, one.t, one.q, one.v, tau=np.zeros_like(one.v))
    assert [name for name in panels(one.plot()) if name not in panels(free.plot())] == ["joint torques (N·m)"]


@pytest.mark.parametrize(("name", "drop"), [("go2", 50.0), ("ur5", 0.0)])
def test_paths_in_space_keep_clear_of_title_and_legend(name, drop):
    figure = swing(kt.load(name), torques=False, drop=drop).plot()
    figure.draw_without_rendering()
    ax = panels(figure)["paths of frames (m), from the dots on"]
    corners = np.array(list(product(ax.get_xlim(), ax.get_ylim(), ax.get_zlim())))
    x, y, _ = proj3d.proj_transform(*corners.T, ax.get_proj())
    box = ax.transData.transform(np.stack([x, y], axis=-1))
    assert box[:, 1].max() < ax.title.get_window_extent().y0
    lowest = min(axis.get_tightbbox().y0 for axis in (ax.xaxis, ax.yaxis))
    assert lowest > ax.figure.legends[0].get_window_extent().y1


def test_a_stick_figure_joins_parents_to_children():
    robot = pendulum(links=2)
    skeleton = Skeleton(robot)
    points = skeleton.points([np.pi / 2, -np.pi / 2])
    assert np.allclose(points, [[0, 0, 0], [-1, 0, 0], [-1, 0, -0.5], [0, 0, 0]], rtol=0, atol=1e-15)
    assert sorted(map(tuple, skeleton.lines.tolist())) == [(0, 1), (1, 2), (3, 0)]  # the end is the centre of mass
    assert skeleton.tips == {"b2": 2}
    go2 = Skeleton(kt.load("go2"))
    feet = go2.points(kt.load("go2").neutral())[list(go2.tips.values())]
    assert list(go2.tips) == ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]
    assert np.allclose(feet, swing(kt.load("go2")).frame_positions(list(go2.tips))[0], rtol=0, atol=1e-12)
    assert go2.floating
    assert len(set(go2.branches)) == 4


def test_a_strip_is_seen_where_it_moves_and_its_pictures_fill_their_rows():
    motion = swing()
    assert "seen from the side" in motion.plot_motion().get_suptitle()
    assert Stage(swing(pendulum(Spherical())), None).projection == "3d"
    for count, grid in ((4, (1, 4)), (5, (2, 3)), (6, (2, 3)), (8, (2, 4)), (9, (3, 3))):
        assert motion.plot_motion(count).axes[0].get_gridspec().get_geometry() == grid
    of_them = r"^(0|101) pictures: give a number from 1 to 100, or their times in s$"
    wrong = {of_them: (0, [], np.linspace(0.0, 0.1, 101)), "from 0 to 1.2 s": ([2.0],)}
    for message, given in wrong.items():
        for times in given:
            with pytest.raises(ArgumentError, match=message):
                motion.plot_motion(times)
    with pytest.raises(ArgumentError, match=r"take trajectory\.robots"):
        swing(lead=(3,)).plot_motion()


def test_the_strip_of_a_robot_that_stopped_ends_there():
    motion = swing()
    stopped = kt.Trajectory(motion.robot, motion.t, motion.q, motion.v, stopped_at=0.5)
    assert list(panels(stopped.plot_motion(3))) == ["t = 0.00 s", "t = 0.25 s", "stopped at 0.50 s"]
    assert list(panels(stopped.plot_motion([0.4, 1.0]))) == ["t = 0.40 s", "stopped at 0.50 s"]
    assert len(panels(stopped[20:].plot_motion(2))) == 1  # both pictures have the title that it stopped before


def test_a_robot_that_falls_far_is_followed():
    figure = swing(kt.load("go2"), drop=50.0).plot_motion([0.0, 1.2], projection="3d")
    first, last = panels(figure).values()
    assert np.ptp(first.get_zlim()) == pytest.approx(np.ptp(last.get_zlim()))
    assert np.ptp(first.get_zlim()) < 3.0
    assert last.get_zlim()[1] < -50.0


def test_an_animation_has_its_pictures_and_appears_when_complete(tmp_path):
    motion, done = swing(duration=0.4), []
    motion.animate(tmp_path / "swing.gif", fps=10, progress=done.append)
    with Image.open(tmp_path / "swing.gif") as picture:
        assert (picture.format, picture.n_frames, picture.info["duration"]) == ("GIF", 5, 100)
    assert done[-1] == 1.0
    motion.animate(tmp_path / "slow.gif", fps=10, speed=0.5)
    with Image.open(tmp_path / "slow.gif") as picture:
        assert picture.n_frames == 9
    with pytest.raises(ArgumentError, match="too many"):
        motion.animate(tmp_path / "more.gif", fps=1e6)
    with pytest.raises(KeyboardInterrupt):
        motion.animate(tmp_path / "half.gif", progress=interrupt)
    with pytest.raises(ArgumentError, match=r"end it in \.gif or \.mp4"):
        motion.animate(tmp_path / "swing.png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["slow.gif", "swing.gif"]


def test_what_a_picture_needs_is_named(tmp_path, monkeypatch):
    motion = swing()
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    with pytest.raises(ArgumentError, match=r"needs the program ffmpeg.*\.gif"):
        motion.animate(tmp_path / "swing.mp4")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for draw in (motion.plot, motion.plot_motion, lambda: motion.animate(Path("swing.gif"))):
        with pytest.raises(ArgumentError, match=r"pip install matplotlib"):
            draw()
