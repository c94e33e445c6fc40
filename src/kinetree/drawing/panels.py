"""What pictures have in common: figures, panels, the units of a robot's entries, and long curves as few points."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.algorithms.kinematics.manifold import turning
from kinetree.errors import ArgumentError
from kinetree.lazy import cached_property
from kinetree.model import WORLD, Body
from kinetree.motions.trajectory import Trajectory
from kinetree.output import whole_file
from kinetree.robot import Robot
from kinetree.validation import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 4000  # points drawn of one joint; of more samples, the extremes of each stretch are drawn


def check_matplotlib() -> None:
    """Raise `ArgumentError` where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ArgumentError("a picture needs matplotlib: pip install matplotlib")


def check_drawable(trajectory: Trajectory) -> None:
    """Raise `ArgumentError` where there is nothing to be drawn, or nowhere."""
    if not trajectory.q[..., 0, :].size:
        raise ArgumentError(f"{trajectory!r} has nothing that moves, so there is nothing to draw")
    for name in ("q", "v"):
        if not np.isfinite(getattr(trajectory, name)).all():
            raise ArgumentError(f"{name} holds a number that is not finite (NaN or inf), which cannot be drawn")


def check_plot(plot: str | None) -> None:
    """Raise `ArgumentError` if a picture is asked for, a file or "show" for a window, and cannot be made here."""
    if plot is None:
        return
    check_matplotlib()
    if plot == "show":
        import matplotlib.pyplot as plt

        if plt.get_backend().lower() in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template"):
            raise ArgumentError("--plot show needs a display; give a file instead: --plot torques.png")


def drawn(draw: Callable[[Figure], object], **choices: Any) -> Figure:
    """Return a new figure in which something is drawn."""
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(**choices)
    draw(figure)
    return figure


def finish(draw: Callable[[Any], object], plot: str) -> None:
    """Have a figure drawn, and write it to the file `plot`, or open a window for "show"."""
    if plot == "show":
        import matplotlib.pyplot as plt

        draw(plt.figure(layout="constrained"))
        plt.show()
        return
    figure = drawn(draw, layout="constrained")
    with whole_file(Path(plot)) as stream:
        figure.savefig(stream, format=Path(plot).suffix[1:].lower(), dpi=150)


def panel(ax: Any, title: str, *, along: str = "", size: float = 9.0, thin: bool = False, **about: Any) -> None:
    """Give axes their title, the name of what is along them, small labels and a faint grid."""
    ax.set_title(title, fontsize=size, **about)
    ax.tick_params(labelsize=size - 1.0)
    ax.grid(alpha=0.25 if thin else 0.3, linewidth=0.5 if thin else 0.8)
    if along:
        ax.set_xlabel(along, fontsize=size - 1.0)


def grid(figure: Any, count: int, columns: int, along: str, *, least: int = 1) -> Sequence[Any]:
    """Return so many panels in columns that share what is along them, which the lowest of each column name."""
    rows = max(least, math.ceil(count / columns))
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.set_visible(False)
    for ax in axes[max(0, count - columns) : count]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(along, fontsize=8)
    return list(axes[:count])


def units(robot: Robot) -> dict[str, list[str]]:
    """Return the units of the entries of q, v and tau: of what turns, of what only slides, and 1 of a quaternion."""
    turns = turning(robot.model)
    of_v = dict(zip(robot.v_names, turns, strict=True))
    angles = [of_v.get(name, not name.endswith((".x", ".y", ".z"))) for name in robot.q_names]
    quaternion = [name.endswith((".qx", ".qy", ".qz", ".qw")) for name in robot.q_names]
    found = {"q": ["1" if one else "rad" if angle else "m" for one, angle in zip(quaternion, angles, strict=True)]}
    return found | {"v": ["rad/s" if x else "m/s" for x in turns], "tau": ["N·m" if x else "N" for x in turns]}


def evenly(count: int, most: int) -> NDArray[np.int_]:
    """Return the indices of all of so many, or of the most that are wanted, at equal distances."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int_))


def extremes(when: Array, tau: Array, *, points: int = POINTS) -> tuple[Array, Array]:
    """Return times and values (m, nv) of curves (n, nv): of every stretch its lowest and its highest, in order."""
    n, nv = tau.shape
    if n <= points:
        return np.repeat(when[:, None], nv, axis=1), tau
    edges = np.linspace(0, n, points // 2 + 1).astype(np.int_)
    picked = [
        np.sort([start + part.argmin(axis=0), start + part.argmax(axis=0)], axis=0)
        for start, part in zip(edges[:-1], np.split(tau, edges[1:-1]), strict=True)
    ]
    rows = np.concatenate(picked)
    return when[rows], np.take_along_axis(tau, rows, axis=0)


NEAR = 1e-3  # what is nearer to a body's origin than this (m) is not a line


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The points of a robot: the origins of its bodies, the ends of the last ones, and the root of a fixed base.

    The ends of a body that carries no other one are the origins of its frames, or its centre of mass if it has none.
    """

    robot: Robot

    @cached_property
    def last(self) -> list[int]:
        """The bodies that carry no other one."""
        carrying = {body.parent for body in self.robot.model.bodies}
        return [i for i in range(self.robot.nb) if i not in carrying]

    @cached_property
    def ends(self) -> list[tuple[str, int, Array]]:
        """The ends: a name, the body, and the place in its frame (3,)."""
        model, found = self.robot.model, []
        for i in self.last:
            body = model.bodies[i]
            m = float(body.inertia.m)
            com = [] if m == 0.0 else [(body.name, _numbers(body.inertia.h) / m)]
            frames = [(frame.name, _numbers(frame.X.r)) for frame in model.frames if frame.body == i]
            far = ([x for x in some if np.linalg.norm(x[1]) > NEAR] for some in (frames, com))
            found += [(name, i, place) for name, place in next(filter(None, far), [])]
        return found

    @cached_property
    def tips(self) -> dict[str, int]:
        """The names and the points of the far ends, one for each of the last bodies."""
        farthest = {i: (0.0, self.robot.body_names[i], i) for i in self.last}
        for k, (name, i, place) in enumerate(self.ends, self.robot.nb):
            farthest[i] = max(farthest[i], (float(np.linalg.norm(place)), name, k))
        return {name: point for _, name, point in farthest.values()}

    @cached_property
    def lines(self) -> NDArray[np.int_]:
        """The two points of each line (lines, 2)."""
        bodies, nb = self.robot.model.bodies, self.robot.nb
        root = nb + len(self.ends)
        joints = [(root if b.parent == WORLD else b.parent, i) for i, b in enumerate(bodies) if not _roams(b)]
        ends = [(i, nb + k) for k, (_, i, _) in enumerate(self.ends)]
        return np.array([*joints, *ends], dtype=np.int_).reshape(-1, 2)

    @cached_property
    def branches(self) -> NDArray[np.int_]:
        """The number of each line's branch (lines,): one begins where a body carries several others."""
        bodies, branch, count = self.robot.model.bodies, [], 0
        parents = [body.parent for body in bodies]
        for body in bodies:
            if body.parent == WORLD or parents.count(body.parent) > 1:
                branch.append(count)
                count += 1
            else:
                branch.append(branch[body.parent])
        last = self.robot.nb
        return np.array([branch[b if b < last else a] for a, b in self.lines], dtype=np.int_)

    @cached_property
    def floating(self) -> bool:
        """Whether nothing joins the robot to the world."""
        return all(_roams(body) for body in self.robot.model.bodies if body.parent == WORLD)

    def points(self, q: ArrayLike) -> Array:
        """Return all points (..., points, 3) in the world."""
        return self.points_at(np.asarray(self.robot.forward_kinematics(q)))

    def points_at(self, T: Array) -> Array:
        """Return them where the bodies have these poses (..., nb, 4, 4)."""
        ends = [T[..., i, :3, :3] @ place + T[..., i, :3, 3] for _, i, place in self.ends]
        root = np.broadcast_to(_numbers(self.robot.model.frame(self.robot.model.root).X.r), (*T.shape[:-3], 3))
        origins = T[..., :3, 3]
        others = ends if self.floating else [*ends, root]
        return np.concatenate([origins, *(x[..., None, :] for x in others)], axis=-2)


def _roams(body: Body) -> bool:
    """Return whether a body is free to go away from what carries it, in a plane or in space."""
    columns = body.joint.jcalc(body.joint.neutral(), [0.0] * body.joint.nv).S
    return len(columns) > 2 and any(any(map(float, column.lin)) for column in columns)


def _numbers(vector: object) -> Array:
    return np.array([float(x) for x in vector], dtype=np.float64)  # type: ignore[attr-defined]
