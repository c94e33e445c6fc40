"""Motions over time: the figure of a trajectory, with energies and the paths of frames, and the picture of torques."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.drawing.panels import (
    Skeleton,
    check_drawable,
    drawn,
    evenly,
    extremes,
    grid,
    panel,
    position_units,
    torque_units,
    velocity_units,
)
from kinetree.motions.trajectory import Trajectory
from kinetree.options import names_of
from kinetree.robot import Robot
from kinetree.validation import Array, given_limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ROBOTS = 50  # robots of a batch that are drawn; of more, so many at equal distances
MOST_PATHS = 6  # frames whose paths are drawn where none are named

QUANTITIES = dict.fromkeys(("rad", "m"), "positions") | dict.fromkeys(("rad/s", "m/s"), "velocities")
QUANTITIES |= {"N·m": "torques", "N": "forces"}
"""What has a unit."""

NAMED = 8  # curves of a panel that have a legend of its own


class Curves(NamedTuple):
    """A panel over time: its title, the names of its curves, their colours, and values (robots, n, curves)."""

    title: str
    names: Sequence[str]
    colours: Sequence[Any]
    values: Array
    shared: bool = False


def plot(self: Trajectory, *, frames: Sequence[str] | None = None) -> Figure:
    """Return a figure of the motion: positions, velocities, torques, energies, and paths of frames.

    Torques are drawn if they were recorded and some are not zero. A joint has the same colour in every panel, named at
    the right; a joint of several degrees of freedom has panels of its own. Of a batch, up to 50 robots are drawn in
    thin lines; for one of them draw ``trajectory.robots[3]``. A dotted line is where a robot stopped.

    Parameters
    ----------
    frames : list of str, optional
        Frames whose paths are drawn; by default the end of each branch, 6 at most. None for an empty list.

    Returns
    -------
    figure : matplotlib.figure.Figure
        ``figure.savefig("motion.png")`` writes it.

    Raises
    ------
    ArgumentError
        If matplotlib, the extra ``plot``, is not installed, a frame is unknown, or nothing moves.
    """
    return drawn(lambda figure: draw(self, figure, frames))


def draw(self: Trajectory, figure: Figure, frames: Sequence[str] | None = None) -> None:
    """Draw it in an empty figure: see `plot`."""
    from matplotlib.lines import Line2D

    check_drawable(self)
    frames = None if frames is None else names_of("frames", frames)
    count = math.prod(self.batch_shape)
    chosen = evenly(count, MOST_ROBOTS)
    three = (self.kinetic_energy, self.potential_energy, self.mechanical_energy)
    energies = np.stack([x.reshape(-1, len(self))[chosen] for x in three], axis=-1)
    panels = _joint_panels(self, chosen)
    panels += [Curves("energy (J)", ("kinetic", "potential", "both"), ("tab:red", "tab:blue", "black"), energies)]
    paths = _paths(self, chosen, frames)
    columns = 3 if len(panels) > 6 and len(panels) % 3 != 1 else 2
    wide = 0.0 if paths is None else 1.1
    figure.set_layout_engine("constrained")
    figure.set_size_inches(4.4 * (columns + wide), 2.3 * max(2, math.ceil(len(panels) / columns)) + 0.5)
    sides: Any = figure.subfigures(1, 1 + bool(wide), width_ratios=(columns, wide)[: 1 + bool(wide)], squeeze=False)[0]
    thin = 1.1 if len(chosen) == 1 else 0.5
    for ax, curves in zip(grid(sides[0], len(panels), columns, "t (s)", least=2), panels, strict=True):
        _draw(ax, self, chosen, curves, thin)
    if paths is not None:
        _draw_paths(sides[1], *paths, thin)
    if (joints := next((curves for curves in panels if curves.shared), None)) is not None:
        lines = [Line2D([], [], color=colour, linewidth=2) for colour in joints.colours]
        figure.legend(lines, joints.names, loc="outside right upper", fontsize=7, title="joints", title_fontsize=8)
    shown = "" if count == len(chosen) else f" ({len(chosen)} drawn)"
    batch = f", {count} robots{shown}" if self.batch_shape else ""
    figure.suptitle(f"{self.robot.name}: {self.t[0]:g} to {self.t[-1]:g} s{batch}", fontsize=11)


def _joint_panels(trajectory: Trajectory, chosen: Any) -> list[Curves]:
    """Return panels for q, v and tau: of the joints together, a unit each, and of the others by themselves."""
    robot = trajectory.robot
    quantities = [
        (trajectory.q, robot.q_names, position_units(robot), "q_index"),
        (trajectory.v, robot.v_names, velocity_units(robot), "v_index"),
    ]
    if "tau" in trajectory.recorded:
        quantities.append((trajectory.tau, robot.v_names, torque_units(robot), "v_index"))
    joints = [body for body in robot.model.leading if len(body.v_index) == 1]
    together = dict(zip((body.joint_name for body in joints), _colours(len(joints)), strict=True))
    panels = []
    for array, names, units, index in quantities:
        values = array.reshape(-1, *array.shape[-2:])[chosen]
        groups = [("joint ", {getattr(body, index)[0]: body.joint_name for body in joints})]
        for body in robot.model.leading:
            if body not in joints:
                ends = {k: names[k].rpartition(".")[2] for k in getattr(body, index)}
                groups.append((f"{body.joint_name}: ", ends))
        for of, entries in groups:
            for unit in dict.fromkeys(units[k] for k in entries):
                own = {k: name for k, name in entries.items() if units[k] == unit}
                if unit.startswith("N") and not values[..., list(own)].any():
                    continue  # nothing drives it
                what = "quaternion" if unit == "1" else f"{QUANTITIES[unit]} ({unit})"
                shared = of == "joint "
                colours = [together[name] for name in own.values()] if shared else _colours(len(own))
                panels.append(Curves(of + what, list(own.values()), colours, values[..., list(own)], shared))
    return panels


def _paths(trajectory: Trajectory, chosen: Any, frames: Sequence[str] | None) -> tuple[list[str], Array] | None:
    """Return the names of the frames that are drawn and their paths (robots, n, frames, 3)."""
    q = trajectory.q.reshape(-1, *trajectory.q.shape[-2:])[chosen][:, evenly(len(trajectory), 500)]
    if frames is None:
        skeleton = Skeleton(trajectory.robot)
        tips = dict(list(skeleton.tips.items())[:MOST_PATHS])
        return (list(tips), skeleton.points(q)[..., list(tips.values()), :]) if tips else None
    places = [np.asarray(trajectory.robot.frame_placement(q, frame=name))[..., :3, 3] for name in frames]
    return (list(frames), np.stack(places, axis=-2)) if places else None


def _colours(count: int) -> list[Any]:
    """Return colours that are told apart as well as so many can be."""
    from matplotlib import colormaps

    if count <= 10:
        return [colormaps["tab10"](k) for k in range(count)]
    return [colormaps["turbo"](0.04 + 0.92 * k / (count - 1)) for k in range(count)]


def _draw(ax: Any, trajectory: Trajectory, chosen: Any, curves: Curves, thin: float) -> None:
    for values in curves.values:
        when, few = extremes(trajectory.t, values)
        for k in range(few.shape[1]):
            ax.plot(when[:, k], few[:, k], linewidth=thin, color=curves.colours[k], label=curves.names[k])
    stops = trajectory.stopped_at.ravel()[chosen]
    for stop in stops[np.isfinite(stops)][:MOST_ROBOTS]:
        ax.axvline(stop, linewidth=0.7, linestyle=":", color="grey")
    panel(ax, curves.title)
    ax.margins(x=0.01)
    low, high = float(curves.values.min(initial=0.0)), float(curves.values.max(initial=0.0))
    if high - low < 1e-9:  # rounding alone
        ax.set_ylim(low - 1.0, high + 1.0)
    if not curves.shared and len(curves.names) <= NAMED:
        handles, _ = ax.get_legend_handles_labels()
        ax.legend(handles[: len(curves.names)], curves.names, fontsize=7, framealpha=0.6, loc="best")


def _draw_paths(figure: Any, names: Sequence[str], paths: Array, thin: float) -> None:
    """Draw the paths in space, from a dot on, with the same scale in all directions."""
    from matplotlib.ticker import MaxNLocator

    ax = figure.add_subplot(projection="3d")
    for k, (name, colour) in enumerate(zip(names, _colours(len(names)), strict=True)):
        for robot, path in enumerate(paths[:, :, k]):
            ax.plot(*path.T, linewidth=thin, color=colour, label=name if robot == 0 else "_")
            ax.plot(*path[:1].T, ".", markersize=5, color=colour)
    low, high = paths.min(axis=(0, 1, 2)), paths.max(axis=(0, 1, 2))
    least = 0.15 * max(1e-3, float((high - low).max()))
    middle, half = (low + high) / 2, np.maximum((high - low) / 2 * 1.05, least)
    ax.set(**{f"{x}lim": (m - h, m + h) for x, m, h in zip("xyz", middle, half, strict=True)})
    ax.set_box_aspect(tuple(half), zoom=0.8)  # with room for its labels, however tall it is
    for x, h in zip("xyz", half / half.max(), strict=True):
        getattr(ax, f"{x}axis").set_major_locator(MaxNLocator(1 + round(4 * float(h))))
        getattr(ax, f"set_{x}label")(x, fontsize=8)
    ax.tick_params(labelsize=7)
    ax.set_title("paths of frames (m), from the dots on", fontsize=9)
    figure.legend(*ax.get_legend_handles_labels(), fontsize=7, loc="outside lower center", ncols=1 + (len(names) > 3))


OVER = "tab:red"


def draw_torques(robot: Robot, when: Array, tau: Array, along: str, figure: Any) -> None:
    """Draw a panel a degree of freedom: its torque over time, and its effort limit where that is in sight.

    What is over the limit is red, and so is the joint's name.
    """
    when, tau = extremes(when, tau)
    nv = robot.nv
    columns = min(5, math.ceil(math.sqrt(nv)))
    figure.set_size_inches(2.8 * columns + 0.4, 1.8 * math.ceil(nv / columns) + 0.8)
    axes = grid(figure, nv, columns, along)
    limits, units = given_limits(robot.effort_limits), torque_units(robot)
    largest = np.abs(tau).max(axis=0)
    for k, (ax, name) in enumerate(zip(axes, robot.v_names, strict=True)):
        ax.plot(when[:, k], tau[:, k], linewidth=1.0, color="tab:blue")
        over = largest[k] > limits[k]
        panel(ax, f"{name}, {units[k]}", color=OVER if over else "black")
        ax.locator_params(nbins=5)
        if over:
            beyond = np.abs(tau[:, k]) > limits[k]
            ax.plot(when[beyond, k], tau[beyond, k], ".", markersize=4, color=OVER, gid=f"over {name}")
        if largest[k] > 0.5 * limits[k]:
            for level in (-limits[k], limits[k]):
                ax.axhline(level, linewidth=0.8, linestyle="--", color=OVER)
    forces = "joint torques" if set(units) == {"N·m"} else "joint torques and forces"
    dashed = "; dashed: effort limits" if (largest > 0.5 * limits).any() else ""
    dashed += "; red: samples over them" if (largest > limits).any() else ""
    figure.suptitle(f"{robot.name}: {forces}{dashed}", fontsize=11)
