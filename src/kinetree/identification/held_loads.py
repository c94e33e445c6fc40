"""Loads that a robot held and of which the mass alone is known: nine parameters each, estimated with the robot's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.regressor import regressor_of_body
from kinetree.identification.samples import Piece, Samples, is_motion, motion_of
from kinetree.model import WORLD
from kinetree.tables import number
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kinetree.robot import Robot

NINE = 9
"""Unknown parameters of a load: those of a body without its mass."""


class KnownMass(NamedTuple):
    """A load of known mass (kg) on a body; motions with the same mass on it held the same load in the same way."""

    body: int
    mass: float


class HeldLoad(NamedTuple):
    """What was estimated of a load whose mass alone was known.

    Attributes
    ----------
    link : str
        The body that held it.
    mass : float
        That was given (kg).
    values, std : (9,) arrays
        (m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz) in the link's axes and about its origin, and standard
        deviations, infinite of unidentifiable ones.
    consistent : (9,) array
        The values that go with physically consistent bodies, and so with `Fit.robot`.
    """

    link: str
    mass: float
    values: Array
    std: Array
    consistent: Array

    def __str__(self) -> str:
        """Return a line."""
        x, y, z = (self.values[:3] / self.mass).tolist()
        return f"load of {number(self.mass)} kg on {self.link}: centre of mass at {number(x)}, {number(y)}, {number(z)}"


def loads_of(robot: Robot, log: Any) -> tuple[KnownMass, ...]:
    """Return the loads of a log, each once; what makes motions when it is read is not asked for them."""
    return loads_in(robot, map(motion_of, _there(log)))


def _there(log: Any) -> Iterator[Any]:
    """Yield the motions that a log holds already."""
    if is_motion(log):
        yield log
    elif isinstance(log, list | tuple):
        for part in log:
            yield from _there(part)


def loads_in(robot: Robot, motions: Iterable[Samples | Piece]) -> tuple[KnownMass, ...]:
    """Return the loads of motions, each once."""
    found: dict[KnownMass, None] = {}
    for motion in motions:
        if motion.held is not None:
            every = np.reshape(np.asarray(motion.held, dtype=float), (-1, robot.nb))
            for body in np.flatnonzero(every.any(axis=0)).tolist():
                found |= dict.fromkeys(KnownMass(body, float(m)) for m in np.unique(every[:, body]) if m)
    return tuple(found)


def columns(robot: Robot, load: KnownMass, piece: Piece) -> Array:
    """Return the regressor (n, nv, 10) of a load, zero at samples where it was not held."""
    Y = np.asarray(regressor_of_body(robot, load.body)(piece.q, piece.v, piece.a))
    return Y * holds(load, piece)[:, None, None]


def holds(load: KnownMass, piece: Piece) -> NDArray[np.bool_]:
    """Return at which samples (n,) it was held."""
    if piece.held is None:
        return np.zeros(len(piece.q), dtype=bool)
    return np.asarray(piece.held[:, load.body] == load.mass, dtype=np.bool_)


def movers(robot: Robot, body: int) -> set[int]:
    """Return which entries of v move a body."""
    found: set[int] = set()
    while body != WORLD:
        found |= {*robot.model.bodies[body].v_index}
        body = robot.model.bodies[body].parent
    return found


def check_known(loads: Any, piece: Piece) -> None:
    """Raise `ArgumentError` if a piece has loads that are not among these."""
    if piece.held is None:
        return
    count = sum((holds(load, piece).astype(int) for load in loads), np.zeros(len(piece.q), dtype=int))
    if (count < np.count_nonzero(piece.held, axis=1)).any():
        raise ArgumentError(
            "a load is known by its mass alone, and the rest of it was not estimated: give the log to `identify` as a "
            "list of motions, not as what makes them; or give its whole inertia to kinetree.identification.holding"
        )
