"""What samples show by themselves: units, joints that stand still, forces that never change, a base that falls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, listed
from kinetree.identification.parameters.regressor import positions
from kinetree.identification.samples import Piece, measured, pieces, repeated
from kinetree.lazy import cached_property
from kinetree.logs import findings
from kinetree.logs.columns import Coordinates
from kinetree.logs.findings import Found, named
from kinetree.robot import Robot
from kinetree.robot.base import OPEN_LOOPS
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOKED_AT = 128
"""Pieces of a log that are looked at."""

STILL = 1e-3
"""A joint whose speed is this part of the fastest one's or less does not move: encoders are never quite at rest."""

SLOW = 0.05
"""The same below which nothing is said of a joint's units and forces: noise, and friction at rest, are most of them."""

APART, ALIKE, IN_A_ROW = 10.0, 0.2, 4096
"""By which factor the times between samples differ that two derivatives tell, where they are wrong; how near to their
median two of three are, where samples follow each other; and how many samples are looked at."""

CONSTANT = 1e-12
"""Forces that change by less than this part of their size do so by the rounding of filters."""

HELD = 0.5
"""The part of the force that a floating base needs, from which on it is missed."""

TURNS = 3.0
"""Positions of revolute joints with limits that are so many times beyond them are no radians."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The first 131072 samples of a log.

    Attributes
    ----------
    robot : Robot
    log
        As in `Robot.identify`.
    pieces : list of Piece
        None has samples of two motions.
    currents : sequence of str
        Entries of v whose forces are currents with a constant that is not known: nor is its sign.
    """

    robot: Robot
    log: Any
    pieces: list[Piece]
    currents: Sequence[str] = ()

    @cached_property
    def whole(self) -> Piece:
        """All of them as one piece."""
        return together(self.robot, self.pieces)

    @cached_property
    def speed(self) -> Array:
        """Root mean squares of the velocities (nv,)."""
        return np.asarray(np.sqrt((self.whole.v * self.whole.v).mean(axis=0)))

    @cached_property
    def moves(self) -> NDArray[np.bool_]:
        """Which entries of v are not slow (nv,)."""
        return np.asarray(self.speed > SLOW * self.speed.max(initial=0.0), dtype=np.bool_)

    @cached_property
    def driven(self) -> NDArray[np.bool_]:
        """Which entries of v are not those of a floating base (nv,)."""
        driven = np.ones(self.robot.nv, dtype=bool)
        driven[base_of(self.robot)] = False
        return driven

    @cached_property
    def expected(self) -> Array:
        """The forces (n, nv) that this robot needs for the motion."""
        whole = self.whole
        wrenches = [] if whole.f_ext is None else [whole.f_ext]
        tau = self.robot.inverse_dynamics(whole.q, whole.v, whole.a, *wrenches)
        return np.asarray(tau + (0.0 if whole.load is None else whole.load))


def seen(robot: Robot, log: Any, currents: Sequence[str] = ()) -> Seen:
    """Return the first samples of a log."""
    if not (looked_at := list(islice(pieces(robot, log), LOOKED_AT))):
        raise ArgumentError("the log has no samples")
    return Seen(robot, log, looked_at, tuple(currents))


def together(robot: Robot, parts: Sequence[Piece]) -> Piece:
    """Return several pieces as one: without wrenches or a load there are none, without directions the velocities'."""
    if len(parts) == 1:
        return parts[0]
    arrays = {x: np.concatenate([getattr(part, x) for part in parts]) for x in ("q", "v", "a", "tau")}
    for name, shape in (("f_ext", (robot.nb, 6)), ("load", (robot.nv,)), ("held", (robot.nb,))):
        every = [getattr(part, name) for part in parts]
        if any(x is not None for x in every):
            pairs = zip(every, parts, strict=True)
            arrays[name] = np.concatenate([np.zeros((len(part.q), *shape)) if x is None else x for x, part in pairs])
    directions = [part.direction for part in parts if part.direction is not None]
    if len(directions) == len(parts):
        arrays["direction"] = np.concatenate(directions)
    return Piece(**arrays)


def base_of(robot: Robot) -> list[int]:
    """Return the entries of v of a floating base."""
    return list(Coordinates(robot.q_names, robot.v_names).of_base("v"))


def twice(at: Seen) -> Iterator[Found]:
    """Yield which motions of a list are there twice: they would count as new ones."""
    yield from (Found(f"motion {k} is motion {before} once more") for k, before in repeated(at.log))


def degrees(at: Seen) -> Iterator[Found]:
    """Yield which positions are far beyond what radians can be."""
    robot, where = at.robot, positions(at.robot.model)
    turning = np.array([bool(np.any(np.array(list(S.ang), dtype=float))) for S in _axes(robot)])
    reach = np.maximum(np.abs(robot.lower_limits), np.abs(robot.upper_limits))[where]
    reach = np.where(np.isfinite(reach), reach, 4.0 * math.pi)
    found = turning & (np.abs(at.whole.q[:, where]).max(axis=0) > TURNS * np.maximum(reach, math.pi / 2.0))
    if found.any():
        names = named(robot, found)
        yield Found(f"the positions of {listed(names)} are far beyond the joints' limits: are they in degrees?", names)


def _axes(robot: Robot) -> list[Any]:
    model, axes = robot.model, [None] * robot.nv
    q = robot.neutral().tolist()
    for i in model.joint_order:
        for k, S in zip(model.bodies[i].v_index, model.jcalc(i, q).S, strict=True):
            axes[k] = S  # type: ignore[call-overload]
    return axes


def rates(at: Seen) -> Iterator[Found]:
    """Yield which derivatives have other units, by the times between samples that they tell."""
    robot, whole, where = at.robot, at.whole, positions(at.robot.model)
    single = np.zeros(robot.nv, dtype=bool)
    single[[k for body in robot.model.leading if body.has_one_coordinate for k in body.v_index]] = True
    single &= at.speed > STILL * at.speed.max(initial=0.0)
    pairs = {
        "positions and velocities": (whole.q[:, where], whole.v),
        "velocities and accelerations": (whole.v, whole.a),
    }
    steps = {what: np.where(single, _steps(*pair), np.nan) for what, pair in pairs.items()}
    told = np.concatenate([step[step > 0.0] for step in steps.values()])
    usual = float(np.median(told)) if len(told) else np.nan
    for what, step in steps.items():
        found = (step > APART * usual) | (step * APART < usual) | (step < 0.0)
        if found.any():
            names = named(robot, found)
            which = "of the other sign" if (step < 0.0).any() else "in degrees"
            yield Found(f"the {what} of {listed(names)} do not go together: are some {which}?", names)


def _steps(x: Array, rate: Array) -> Array:
    """Return the time between samples (nv,) by what changes and its rate; NaN where they do not follow each other."""
    rate = rate[:IN_A_ROW]
    change, mean = np.diff(x[:IN_A_ROW], axis=0), 0.5 * (rate[:-1] + rate[1:])
    out = np.full(x.shape[1], np.nan)
    for k, size in enumerate(np.sqrt((mean * mean).mean(axis=0)) if len(mean) else ()):
        moves = np.abs(mean[:, k]) > 0.3 * size
        if moves.sum() >= 10:
            ratios = change[moves, k] / mean[moves, k]
            middle = np.median(ratios)
            if np.mean(np.abs(ratios - middle) < ALIKE * np.abs(middle)) > 2.0 / 3.0:
                out[k] = middle
    return out


def still(at: Seen) -> Iterator[Found]:
    """Yield which joints do not move."""
    found = at.speed <= STILL * at.speed.max(initial=0.0)
    if found.any():
        names = named(at.robot, found)
        yield Found(f"{listed(names)} never moves: nothing tells its friction, and little its inertia", names)


def saturated(at: Seen) -> Iterator[Found]:
    """Yield which forces of samples that were not filtered stay at an end."""
    yield from findings.saturated(findings.Recorded(at.robot, None, at.whole.q, at.whole.tau))


def constant(at: Seen) -> Iterator[Found]:
    """Yield which joints move, and have always the same force: no sensor, or one that is not connected."""
    tau = at.whole.tau
    found = (np.ptp(tau, axis=0) <= CONSTANT * np.abs(tau).max(axis=0)) & at.moves & at.driven
    if found.any() and len(tau) > 2:
        names = named(at.robot, found)
        yield Found(f"the forces of {listed(names)} never change: they are NaN where nothing measures them", names)


def held(at: Seen) -> Iterator[Found]:
    """Yield that a floating base needs a force that nothing measured gives."""
    robot, base, whole = at.robot, base_of(at.robot), at.whole
    weight = robot.mass * float(np.linalg.norm(robot.gravity))
    if not base or not weight > 0.0:
        return
    needed = robot.inverse_dynamics(whole.q, whole.v, whole.a)
    left = needed if whole.f_ext is None else robot.inverse_dynamics(whole.q, whole.v, whole.a, whole.f_ext)
    needs, lacks = (
        float(np.sqrt((x[:, base[3:]] ** 2).sum(axis=1).mean())) for x in (needed, left - measured(whole.tau))
    )
    if lacks > HELD * max(needs, weight):
        which = (
            "no wrenches are given" if whole.f_ext is None else "some are missing, or have another sign or other axes"
        )
        yield Found(
            f"the floating base needs {needs:.3g} N, of which the measured wrenches leave {lacks:.3g} N: {which}",
            (),
            {"needed_N": needs, "missing_N": lacks},
        )


def loop_forces(at: Seen) -> Iterator[Found]:
    """Yield that the robot is the tree of a mechanism, and nothing measured the forces in its loops."""
    loops = at.robot.__dict__.get(OPEN_LOOPS, ())
    if loops and at.whole.f_ext is None and at.whole.load is None:
        yield Found(
            f"{at.robot.name!r} is the tree of a mechanism, and the forces of {listed(loops)} count as its bodies': "
            "write mech.identify, or give the measured wrenches (f_ext)"
        )
