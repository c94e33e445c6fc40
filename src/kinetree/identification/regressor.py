"""Minimal regressors as compiled functions: the independent columns only, as a matrix or without its zeros."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.functions.of_user import compile
from kinetree.identification.terms import TERMS, JointMotion, smooth_sign
from kinetree.model import WORLD, Model

if TYPE_CHECKING:
    from kinetree.robot import Robot
    from kinetree.runtime.function import Function


class Columns(NamedTuple):
    """Which columns a regressor has.

    Attributes
    ----------
    places : tuple of ((str, int), int)
        The index of each joint term at each entry of v among all parameters.
    independent : tuple of int
        The parameters that have a column.
    smoothing : float
        The speed around which Coulomb friction changes sign.
    """

    places: tuple[tuple[tuple[str, int], int], ...]
    independent: tuple[int, ...]
    smoothing: float


def dense(robot: Robot, columns: Columns) -> Function:
    """Return the compiled function ``regressor(q, v, a) -> (nv, n)``."""
    return _compile(robot, columns, "base_regressor", False)


def packed(robot: Robot, columns: Columns) -> Function:
    """Return the compiled function of the same rows one after another, without the entries that are always zero."""
    return _compile(robot, columns, "base_regressor_rows", True)


def _compile(robot: Robot, columns: Columns, name: str, flat: bool) -> Function:
    stribeck = any(term == "stribeck" for (term, _), _ in columns.places)
    page: Any = partial(_with_speeds if stribeck else _without_speeds, robot, columns, flat)
    shapes = {"direction": (robot.nv,)} | ({"stribeck_speed": (robot.nv,)} if stribeck else {})
    made: Function = compile(robot, page, name=name, shapes=shapes, fuse=True)
    return made


def _with_speeds(
    robot: Robot, columns: Columns, flat: bool, q: Any, v: Any, a: Any, stribeck_speed: Any, direction: Any = None
) -> Any:
    """Regressor of the base parameters: joint forces are its product with them."""
    return _rows(robot, columns, flat, q, v, a, stribeck_speed, direction)


def _without_speeds(robot: Robot, columns: Columns, flat: bool, q: Any, v: Any, a: Any, direction: Any = None) -> Any:
    """Regressor of the base parameters: joint forces are its product with them."""
    return _rows(robot, columns, flat, q, v, a, [1.0] * robot.nv, direction)


def _rows(robot: Robot, columns: Columns, flat: bool, q: Any, v: Any, a: Any, speeds: Any, direction: Any) -> Any:
    at, count = positions(robot.model), 10 * robot.nb
    terms = {place: key for key, place in columns.places}
    inertial = robot.joint_torque_regressor(q, v, a)
    rows: list[list[Any]] = [[0.0] * len(columns.independent) for _ in range(robot.nv)]
    for j, place in enumerate(columns.independent):
        if place < count:
            for k in range(robot.nv):
                rows[k][j] = inertial[k, place]
        else:
            term, k = terms[place]
            sign = smooth_sign(v[k], columns.smoothing) if direction is None else direction[k]
            rows[k][j] = TERMS[term](JointMotion(q[at[k]], v[k], a[k], sign, speeds[k]))
    return [rows[k][j] for k, row in enumerate(pattern(robot.model, columns)) for j in row] if flat else rows


def pattern(model: Model, columns: Columns) -> list[list[int]]:
    """Return for each entry of v which columns can differ from zero: those of bodies it moves, and its own terms."""
    terms = {place: k for (_, k), place in columns.places}
    movers: list[set[int]] = []
    for body in model.bodies:
        movers.append({*body.v_index} | (set() if body.parent == WORLD else movers[body.parent]))
    of_column = [{terms[p]} if p in terms else movers[p // 10] for p in columns.independent]
    return [[j for j, ks in enumerate(of_column) if k in ks] for k in range(model.nv)]


def positions(model: Model) -> list[int]:
    """Return for each entry of v an entry of q of the same joint: the coordinate itself where there is one."""
    of_v = {k: body.q_index[j] for body in model.leading for j, k in enumerate(body.v_index)}
    return [of_v[k] for k in range(model.nv)]


def massless(robot: Robot) -> Robot:
    """Return the robot with bodies without mass: what its joints do is left, and wrenches."""
    return robot.with_inertial_parameters([0.0] * (10 * robot.nb))
