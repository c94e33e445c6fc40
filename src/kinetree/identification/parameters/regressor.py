"""Minimal regressors as compiled functions: the independent columns only, as a matrix or without its zeros."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.errors import ArgumentError
from kinetree.functions.of_user import compile
from kinetree.identification.parameters.terms import TERMS, Column, JointMotion, smooth_sign
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
    own : tuple of (int, (str, callable))
        The index of each column of the user's own, its name, and what computes it.
    """

    places: tuple[tuple[tuple[str, int], int], ...]
    independent: tuple[int, ...]
    smoothing: float
    own: tuple[tuple[int, tuple[str, Column]], ...] = ()


def dense(robot: Robot, columns: Columns) -> Function:
    """Return the compiled function ``regressor(q, v, a) -> (nv, n)``."""
    return _of(robot, columns, "base_regressor", False)


def packed(robot: Robot, columns: Columns) -> Function:
    """Return the compiled function of the same rows one after another, without the entries that are always zero."""
    return _of(robot, columns, "base_regressor_rows", True)


def _of(robot: Robot, columns: Columns, name: str, flat: bool) -> Function:
    """Return the function, the same for equal robots; what a user's own column computes may have changed."""
    return (_compile.__wrapped__ if columns.own else _compile)(robot, columns, name, flat)


@lru_cache(maxsize=32)
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
    own = {place: _own(name, column(q, v, a), robot.nv) for place, (name, column) in columns.own}
    loaded = any(term == "load_friction" for term, _ in terms.values())
    load = _frictionless(robot).inverse_dynamics(q, v, a) if loaded else [0.0] * robot.nv
    rest = robot.rest_positions.tolist()
    rows: list[list[Any]] = [[0.0] * len(columns.independent) for _ in range(robot.nv)]
    for j, place in enumerate(columns.independent):
        if place < count:
            for k in range(robot.nv):
                rows[k][j] = inertial[k, place]
        elif place in own:
            for k in range(robot.nv):
                rows[k][j] = own[place][k]
        else:
            term, k = terms[place]
            sign = smooth_sign(v[k], columns.smoothing) if direction is None else direction[k]
            rows[k][j] = TERMS[term].column(JointMotion(q[at[k]] - rest[at[k]], v[k], a[k], sign, speeds[k], load[k]))
    return [rows[k][j] for k, row in enumerate(pattern(robot.model, columns)) for j in row] if flat else rows


def _own(name: str, column: Any, nv: int) -> list[Any]:
    """Return the entries of a column of the user's own."""
    entries = list(column) if isinstance(column, Iterable) else []
    if len(entries) != nv:
        raise ArgumentError(f"the column {name!r} has to return a force for each of the {nv} entries of v")
    return entries


def _frictionless(robot: Robot) -> Robot:
    """Return the robot without friction, whether its dynamics count it or not."""
    return robot.with_friction(damping=False, coulomb=False)


def pattern(model: Model, columns: Columns) -> list[list[int]]:
    """Return for each entry of v which columns can differ from zero: of bodies it moves, its own terms, the user's."""
    terms = {place: k for (_, k), place in columns.places}
    movers: list[set[int]] = []
    count = 10 * model.nb + len(terms)
    for body in model.bodies:
        movers.append({*body.v_index} | (set() if body.parent == WORLD else movers[body.parent]))
    of_column = [{terms[p]} if p in terms else movers[p // 10] for p in columns.independent if p < count]
    of_column += [set(range(model.nv)) for _ in columns.own]
    return [[j for j, ks in enumerate(of_column) if k in ks] for k in range(model.nv)]


def positions(model: Model) -> list[int]:
    """Return for each entry of v an entry of q of the same joint: the coordinate itself where there is one."""
    of_v = {k: body.q_index[j] for body in model.leading for j, k in enumerate(body.v_index)}
    return [of_v[k] for k in range(model.nv)]


@lru_cache(maxsize=32)
def regressor_of_body(robot: Robot, body: int) -> Function:
    """Return the compiled regressor of the inertial parameters of one body, the same for equal robots."""
    made: Function = compile(robot, partial(columns_of_body, robot, body), name="payload_regressor", fuse=True)
    return made


def columns_of_body(robot: Robot, body: int, q: Any, v: Any, a: Any) -> Any:
    """Regressor of the inertial parameters of one body."""
    return robot.joint_torque_regressor(q, v, a)[:, 10 * body : 10 * body + 10]


def massless(robot: Robot) -> Robot:
    """Return the robot with bodies without mass: what its joints do is left, and wrenches."""
    return robot.with_inertial_parameters([0.0] * (10 * robot.nb))
