"""A motion as stick figures: a strip of pictures, or an animation."""

from __future__ import annotations

import math
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.drawing.panels import Skeleton, check_drawable, check_matplotlib, drawn, evenly
from kinetree.errors import ArgumentError, unknown_name
from kinetree.motions.trajectory import Trajectory
from kinetree.output import check_output, whole_path
from kinetree.validation import Array, positive, real_array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = {"side": (0, 2), "front": (1, 2), "top": (0, 1), "3d": (0, 1, 2)}  # the axes that each projection shows
MOST_FRAMES = 20_000  # pictures that an animation has at most
FAR = 3.0  # a robot that gets so many times its own size away is followed, instead of being drawn ever smaller
RECENT = 0.25  # the part of the motion before each picture in which the paths of the ends are shown


def plot_motion(self: Trajectory, times: int | ArrayLike = 8, *, projection: str | None = None) -> Figure:
    """Return a strip of stick figures: the robot at some times, and where its ends have just been.

    Lines join the origins of the bodies, from parent to child, and the ends of the last ones; a colour is a branch.

    Parameters
    ----------
    times : int or (m,) array-like
        How many pictures, from the first sample to the last or to where the robot stopped; or their times in s.
    projection : str, optional
        "side" (x and z), "front" (y and z), "top" (x and y) or "3d"; by default in space, but in the plane if the
        motion is in one.

    Returns
    -------
    figure : matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        If this is a batch (take ``trajectory.robots[3]``), matplotlib, the extra ``plot``, is not installed, or a
        time is not within the trajectory.
    """
    check_matplotlib()
    stage = Stage(self, projection)
    when = _times(self, times)
    rows = math.ceil(len(when) / 4)
    columns = math.ceil(len(when) / rows)

    def draw(figure: Figure) -> None:
        for k, t in enumerate(when):
            stage.show(stage.axes(figure, (rows, columns, k + 1)))(t)
        figure.suptitle(stage.title, fontsize=11)

    return drawn(draw, figsize=(2.9 * columns, (2.9 * stage.shape + 0.35) * rows + 0.5), layout="constrained")


def animate(
    self: Trajectory,
    path: str | PathLike[str],
    *,
    fps: float = 25.0,
    speed: float = 1.0,
    projection: str | None = None,
    progress: Callable[[float], object] | None = None,
) -> None:
    """Write an animation of the robot as a stick figure: a GIF (by Pillow, no more is needed), or an MP4 (by ffmpeg).

    Parameters
    ----------
    path : str or path
        With the suffix ``.gif`` or ``.mp4``; the file appears when it is complete.
    fps : float
        Pictures a second.
    speed : float
        2 shows it in half the time, 0.1 in slow motion.
    projection : str, optional
        See `plot_motion`.
    progress : callable, optional
        Called with the part that is done, from 0 to 1.

    Raises
    ------
    ArgumentError
        If this is a batch, the suffix is another one, or matplotlib or ffmpeg is needed and not there.
    OSError
        If the file cannot be written.
    """
    name = fspath(path)
    check_animation(name)
    from matplotlib.animation import FFMpegWriter, PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    fps, speed = positive("fps", fps), positive("speed", speed)
    count = round(self.duration / speed * fps) + 1
    if count > MOST_FRAMES:
        raise ArgumentError(f"{count} pictures are too many for an animation: give a smaller fps or a larger speed")
    stage = Stage(self, projection)
    shape = stage.shape
    figure = Figure(figsize=(5.0, 5.0 * shape + 0.7))
    FigureCanvasAgg(figure)
    show = stage.show(stage.axes(figure, (1, 1, 1)))
    figure.subplots_adjust(left=0.1, right=0.97, bottom=0.06, top=1.0 - 0.7 / (5.0 * shape + 0.7))
    figure.suptitle(stage.title, fontsize=10)
    kind: Any = PillowWriter if name.lower().endswith(".gif") else FFMpegWriter
    writer = kind(fps=fps)
    suffix = Path(name).suffix.lower()  # by which writers know the format
    with whole_path(Path(name), suffix) as partial, writer.saving(figure, str(partial), dpi=90):
        for k, t in enumerate(np.linspace(self.t[0], self.t[-1], max(2, count))):
            show(float(t))
            writer.grab_frame()
            if progress is not None:
                progress((k + 1) / max(2, count))


def check_animation(path: str) -> None:
    """Raise `ArgumentError` unless an animation can be written to this file."""
    check_matplotlib()
    check_output(path, None, (".gif", ".mp4"))
    from matplotlib.animation import FFMpegWriter

    if path.lower().endswith(".mp4") and not FFMpegWriter.isAvailable():
        raise ArgumentError(f"{path!r} needs the program ffmpeg, which is not there; end it in .gif")


class Stage:
    """What is drawn of a motion, where, and how large; it draws one time after the other."""

    def __init__(self, trajectory: Trajectory, projection: str | None) -> None:
        if batch := trajectory.batch_shape:
            raise ArgumentError(f"stick figures are of one robot, and here are {batch}: take trajectory.robots[…]")
        check_drawable(trajectory)
        if projection is not None and (not isinstance(projection, str) or projection not in AXES):
            raise ArgumentError(unknown_name("projection", projection, AXES))
        self.trajectory, self.skeleton = trajectory, Skeleton(trajectory.robot)
        rows = evenly(len(trajectory), 1000)
        points = self.skeleton.points(trajectory.q[rows])
        self._paths = trajectory.t[rows], points[:, list(self.skeleton.tips.values())]
        low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
        own = (points.max(axis=1) - points.min(axis=1)).max(axis=0)
        size = max(float(own.max()), 1e-3)
        flat = high - low < 0.02 * (high - low).max()
        self.projection = projection or ("side" if flat[1] else "front" if flat[0] else "top" if flat[2] else "3d")
        self._follows = bool((high - low).max() > FAR * size)
        self._half = np.maximum((own.max() if self._follows else high - low) / 2.0 * np.ones(3) * 1.08, 0.2 * size)
        self._middle = (low + high) / 2.0
        self._floor = -0.02 * size < low[2] < (FAR * size)
        if self._floor and not self._follows:  # it is in sight
            top = self._middle[2] + self._half[2]
            bottom = min(self._middle[2] - self._half[2], -0.04 * size)
            self._middle[2], self._half[2] = (top + bottom) / 2.0, (top - bottom) / 2.0

    @property
    def shape(self) -> float:
        """Height over width of a picture."""
        if self.projection == "3d":
            return 1.0
        x, y = self._half[list(AXES[self.projection])]
        return float(np.clip(y / x, 0.4, 2.0))

    @property
    def title(self) -> str:
        """What is seen."""
        where = "in space" if self.projection == "3d" else f"from the {self.projection}"
        return f"{self.trajectory.robot.name}: seen {where}, in m"

    def axes(self, figure: Any, place: tuple[int, int, int]) -> Any:
        """Return axes for one picture of a grid."""
        if self.projection == "3d":
            return figure.add_subplot(*place, projection="3d", computed_zorder=False)
        ax = figure.add_subplot(*place)
        ax.set_aspect("equal")
        return ax

    def show(self, ax: Any) -> Callable[[float], None]:
        """Return a function that draws the robot there at a time, in place of its last drawing."""
        from matplotlib import colormaps
        from matplotlib.collections import LineCollection
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        space = self.projection == "3d"
        axes, skeleton = list(AXES[self.projection]), self.skeleton
        empty, stop = np.zeros((1, 2, len(axes))), float(self.trajectory.stopped_at)
        many: Any = Line3DCollection if space else LineCollection
        colours = [colormaps["tab10"](int(b) % 10) for b in skeleton.branches]
        ground = many(empty, colors="0.75", linewidths=0.6, zorder=1)
        trails = many(empty, colors="0.65", linewidths=0.7, zorder=2)
        sticks = many(empty, colors=colours, linewidths=3.0, capstyle="round", zorder=3)
        for artist in (ground, trails, sticks):
            ax.add_collection(artist)
        (joints,) = ax.plot(*([] for _ in axes), "o", markersize=3.5, color="0.15", zorder=4)
        ax.tick_params(labelsize=7)
        ax.locator_params(nbins=4)

        def show(t: float) -> None:
            points = skeleton.points(self.trajectory.at(t).q)
            when, paths = self._paths
            passed = paths[(when <= t) & (when >= t - RECENT * self.trajectory.duration)][..., axes]
            sticks.set_segments(points[skeleton.lines][..., axes])
            trails.set_segments([path for path in passed.swapaxes(0, 1) if len(path) > 1])
            (joints.set_data_3d if space else joints.set_data)(*points[:, axes].T)
            middle = (points.min(axis=0) + points.max(axis=0)) / 2.0 if self._follows else self._middle
            for k, x in zip(axes, "xyz", strict=False):
                getattr(ax, f"set_{x}lim")(middle[k] - self._half[k], middle[k] + self._half[k])
            if space:
                ax.set_box_aspect(tuple(self._half))
            if self._floor:
                ground.set_segments(_floor(middle, self._half)[..., axes])
            ax.set_title(f"stopped at {stop:.2f} s" if t >= stop else f"t = {t:.2f} s", fontsize=9)

        return show


def _floor(middle: Array, half: Array) -> Array:
    """Return the lines of the floor within sight (lines, 2, 3), at z = 0."""
    (x0, y0, _), (x1, y1, _) = middle - half, middle + half
    along = [[(x, y0, 0.0), (x, y1, 0.0)] for x in np.linspace(x0, x1, 5)]
    across = [[(x0, y, 0.0), (x1, y, 0.0)] for y in np.linspace(y0, y1, 5)]
    return np.array(along + across)


def _times(trajectory: Trajectory, times: int | ArrayLike) -> list[float]:
    """Return the times of the pictures."""
    number = isinstance(times, int | np.integer) and not isinstance(times, bool)
    when = None if number else real_array("times", times, None, batch=False)
    count: Any = times if when is None else len(when)
    if not 1 <= count <= 100:
        raise ArgumentError(f"{count} pictures: give a number from 1 to 100, or their times in s")
    if when is None:
        end = np.fmin(trajectory.t[-1], trajectory.stopped_at)
        when = np.linspace(trajectory.t[0], max(end, trajectory.t[0]), count)
    trajectory.at(when)  # says which is outside
    return [float(t) for t in when]
