"""Minimal regressors as compiled functions: the independent columns, as a matrix or without zeros."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from kinetree.errors import ArgumentError
from kinetree.functions.of_user import compile
from kinetree.identification.parameters.terms import TERMS, Column, JointMotion, smooth_sign
from kinetree.model import WORLD, Model
from kinetree.robot import Robot
from kinetree.runtime.function import Function


class Columns(NamedTuple):
    """Which columns a regressor has."""

    places: tuple[tuple[tuple[str, int], int], ...]  # the index of each joint term at each entry of v
    independent: tuple[int, ...]  # the parameters that have a column
    smoothing: float  # the speed around which Coulomb friction changes sign
    own: tuple[tuple[int, tuple[str, Column]], ...] = ()  # the index, name and function of each of the user's own


def compiled(robot: Robot, columns: Columns, name: str, *, packed: bool) -> Function:
    """Return ``regressor(q, v, a) -> (nv, n)``; packed its rows one after another, without those always zero.

    Equal robots have the same function, unless there are columns of the user's own: what these compute may have
    changed.
    """
    return (_compiled.__wrapped__ if columns.own else _compiled)(robot, columns, name, packed)


@lru_cache(maxsize=32)
def _compiled(robot: Robot, columns: Columns, name: str, packed: bool) -> Function:
    stribeck = any(term == "stribeck" for (term, _), _ in columns.places)
    page: Any = partial(_rows if stribeck else _rows_without_speeds, robot, columns, packed)
    shapes = {"direction": (robot.nv,)} | ({"stribeck_speed": (robot.nv,)} if stribeck else {})
    made: Function = compile(robot, page, name=name, shapes=shapes, fuse=True)
    return made


def _rows_without_speeds(
    robot: Robot, columns: Columns, packed: bool, q: Any, v: Any, a: Any, direction: Any = None
) -> Any:
    """Regressor of the base parameters: joint forces are its product with them."""
    return _rows(robot, columns, packed, q, v, a, [1.0] * robot.nv, direction)


def _rows(
    robot: Robot, columns: Columns, packed: bool, q: Any, v: Any, a: Any, stribeck_speed: Any, direction: Any = None
) -> Any:
    """Regressor of the base parameters: joint forces are its product with them."""
    at, nv = positions(robot.model), robot.nv
    terms = {place: key for key, place in columns.places}
    inertial = robot.joint_torque_regressor(q, v, a)
    own = {place: _own(name, column(q, v, a), nv) for place, (name, column) in columns.own}
    frictionless = robot.with_friction(damping=False, coulomb=False)
    loaded = any(term == "load_friction" for term, _ in terms.values())
    load = frictionless.inverse_dynamics(q, v, a) if loaded else [0.0] * nv
    rest = robot.rest_positions.tolist()
    rows: list[list[Any]] = [[0.0] * len(columns.independent) for _ in range(nv)]
    for j, place in enumerate(columns.independent):
        if place in terms:
            term, k = terms[place]
            sign = smooth_sign(v[k], columns.smoothing) if direction is None else direction[k]
            motion = JointMotion(q[at[k]] - rest[at[k]], v[k], a[k], sign, stribeck_speed[k], load[k])
            rows[k][j] = TERMS[term].column(motion)
        else:
            for k in range(nv):
                rows[k][j] = own[place][k] if place in own else inertial[k, place]
    return [rows[k][j] for k, row in enumerate(pattern(robot.model, columns)) for j in row] if packed else rows


def _own(name: str, column: Any, nv: int) -> list[Any]:
    """Return the entries of a column of the user's own."""
    entries = list(column) if isinstance(column, Iterable) else []
    if len(entries) != nv:
        raise ArgumentError(f"the column {name!r} has to return a force for each of the {nv} entries of v")
    return entries


def movers(model: Model) -> list[set[int]]:
    """Return which entries of v move each body."""
    found: list[set[int]] = []
    for body in model.bodies:
        found.append({*body.v_index} | (set() if body.parent == WORLD else found[body.parent]))
    return found


def pattern(model: Model, columns: Columns) -> list[list[int]]:
    """Return for each entry of v which columns can differ from zero: of bodies it moves, its own terms, the user's."""
    terms, moved = {place: k for (_, k), place in columns.places}, movers(model)
    inertial = [p for p in columns.independent if p < 10 * model.nb + len(terms)]
    of_column = [{terms[p]} if p in terms else moved[p // 10] for p in inertial]
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
