"""`robot.base_parameters`: the combinations of parameters that joint forces depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.algorithms.kinematics.manifold import turning
from kinetree.errors import ArgumentError, unknown_name
from kinetree.identification.parameters.grouping import group
from kinetree.identification.parameters.regressor import Columns, compiled, massless, positions
from kinetree.identification.parameters.terms import OF_ROBOTS, TERMS, JointTerms, checked, places
from kinetree.lazy import cached_property
from kinetree.options import one_of
from kinetree.robot import Robot
from kinetree.runtime.function import Function
from kinetree.tables import number
from kinetree.validation import Array, positive, real_array

TEN = ("m", "m c_x", "m c_y", "m c_z", "I_xx", "I_xy", "I_yy", "I_xz", "I_yz", "I_zz")
OF_BODIES = (("masses", "kg"), *[("first moments of mass", "kg·m")] * 3, ("moments of inertia", "kg·m²"))
GRAVITY = ("known", "any")
COARSEST = 1e-2  # the greatest tolerance


class BaseParameters:
    """The combinations of a robot's parameters that joint forces depend on, and no others: the identifiable ones.

    Made by `Robot.base_parameters`. All parameters are the 10 nb inertial ones (`Robot.inertial_parameters`), then one
    of each joint term at each actuated entry of v.

    Attributes
    ----------
    robot : Robot
    joint_terms : dict
        Those of `Robot.base_parameters`: which joints have each term, None for all.
    own_columns : dict
        Columns of the user's own by their names.
    all_names : tuple of str
        A name for each of all N parameters, such as ``"I_zz of link2"`` or ``"armature of joint1"``.
    independent : tuple of int
        Which n of all parameters the combinations are named after; each has the factor one there.
    projection : (n, N) array
        From all parameters to base parameters.

    Examples
    --------
    >>> import kinetree as kt
    >>> base = kt.load("panda").base_parameters()
    >>> base.dimension
    43
    >>> print(base.combinations[0])
    I_zz of panda_link1 + I_yy of panda_link2
    """

    def __init__(self, robot: Robot, terms: JointTerms, gravity: str, smoothing: float, tolerance: float) -> None:
        self.robot, self.gravity, self.smoothing, self.tolerance = robot, gravity, smoothing, tolerance
        model = robot.model
        self.joint_terms, self.own_columns = checked(model, terms)
        self.places = places(model, self.joint_terms)
        inertial, v_names = [f"{what} of {body}" for body in model.body_names for what in TEN], model.v_names
        self.all_names = (*inertial, *(f"{term} of {v_names[k]}" for term, k in self.places), *self.own_columns)
        count = len(self.all_names)
        self.independent, self.projection = group(model, gravity == "any", (*self.places.items(),), count, tolerance)

    @property
    def dimension(self) -> int:
        """How many base parameters there are."""
        return len(self.independent)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that the combinations are named after."""
        return tuple(self.all_names[k] for k in self.independent)

    @property
    def quantities(self) -> tuple[tuple[str, str], ...]:
        """What each base parameter is named after, such as ``("moments of inertia", "kg·m²")``: quantity and unit."""
        turns, joint = turning(self.robot.model), {place: key for key, place in self.places.items()}
        out = []
        for place, name in zip(self.independent, self.names, strict=True):
            if place < 10 * self.robot.nb:
                out.append(OF_BODIES[min(place % 10, 4)])
            elif place in joint:
                name, k = joint[place]
                out.append((TERMS[name].text, TERMS[name].units[0 if turns[k] else 1]))
            else:
                out.append((name, ""))
        return tuple(out)

    @cached_property
    def combinations(self) -> tuple[str, ...]:
        """The combinations as text, ``"I_zz of link2 + 0.0625 m of link3"``."""
        return tuple(
            self.all_names[own]
            + "".join(self._term(float(row[k]), k) for k in np.flatnonzero(row).tolist() if k != own)
            for own, row in zip(self.independent, self.projection, strict=True)
        )

    def _term(self, factor: float, k: int) -> str:
        size = "" if abs(factor) == 1.0 else f"{number(abs(factor), 6)} "
        return f" {'-' if factor < 0 else '+'} {size}{self.all_names[k]}"

    def all_parameters(self, robot: Robot | None = None, values: Mapping[str, ArrayLike] | None = None) -> Array:
        """Return all N parameters of this robot, or of another one of the same structure.

        Parameters
        ----------
        robot : Robot, optional
        values : mapping of str to (nv,) array-like, optional
            Of joint terms, and numbers of columns of the user's own. Armature, damping, friction and stiffness are the
            robot's figures where they are not given, whether or not its dynamics count friction
            (`Robot.with_friction`); an ``offset`` is that of springs that rest elsewhere than those that these
            parameters were made of, if their stiffness is a term; all others are zero.
        """
        robot = self.robot if robot is None else robot
        if (robot.nb, robot.nq, robot.nv) != (self.robot.nb, self.robot.nq, self.robot.nv):
            raise ArgumentError(f"{robot.name} has not the bodies and joints of {self.robot.name}")
        rest, sprung = (robot.rest_positions - self.robot.rest_positions)[positions(robot.model)], np.zeros(robot.nv)
        sprung[[k for term, k in self.places if term == "stiffness"]] = 1.0
        known: dict[str, Any] = {term: getattr(robot, term) for term in OF_ROBOTS}
        known["offset"] = -robot.stiffness * rest * sprung
        for term, x in (values or {}).items():
            if term not in self.joint_terms and term not in self.own_columns:
                raise ArgumentError(unknown_name("joint term", term, [*self.joint_terms, *self.own_columns]))
            known[term] = real_array(term, x, *([robot.nv] if term in self.joint_terms else []), batch=False)
        joints = [known[term][k] if term in known else 0.0 for term, k in self.places]
        own = [float(known.get(name, 0.0)) for name in self.own_columns]
        return np.concatenate([robot.inertial_parameters, joints, own])

    def of(self, robot: Robot | None = None, values: Mapping[str, ArrayLike] | None = None) -> Array:
        """Return the base parameters (n,) of this robot, or of another one: see `all_parameters`."""
        return self.projection @ self.all_parameters(robot, values)

    def representative(self, base: ArrayLike) -> Array:
        """Return all parameters with these base parameters, zero where they are not independent.

        They give the right joint forces; bodies with these inertias do not exist.
        """
        given = real_array("base parameters", base, self.dimension)
        out = np.zeros((*given.shape[:-1], len(self.all_names)))
        out[..., list(self.independent)] = given
        return out

    def robot_with(self, parameters: Array) -> Robot:
        """Return the robot with all of these parameters (N,) that have a place in one.

        Friction that it does not count, and that is none of the terms, is left out.
        """
        made, own = self.robot.with_inertial_parameters(parameters[: 10 * self.robot.nb]), dict[str, Array]()
        for (term, k), place in self.places.items():
            if TERMS[term].of_robots:
                own.setdefault(term, getattr(made, term) * _counts(made, term))[k] = parameters[place]
        physics = own.copy()
        if "stiffness" in own:
            physics["rest_position"] = rest = made.rest_positions.copy()
            at = positions(made.model)
            for k in (k for term, k in self.places if term == "stiffness"):
                if (offset := self.places.get(("offset", k))) is not None:
                    rest[at[k]] -= parameters[offset] / own["stiffness"][k]
        if physics:
            made = made.with_joint_physics(**physics)
        if {"damping", "friction"} & own.keys():
            counts = [term in own or _counts(made, term) for term in ("damping", "friction")]
            made = made.with_friction(damping=counts[0], coulomb=counts[1], smoothing=self.smoothing)
        return made

    @cached_property
    def regressor(self) -> Function:
        """The minimal regressor as a compiled function: ``tau = regressor(q, v, a) @ base parameters``, (..., nv, n).

        With the joint term "stribeck" it takes the speeds ``stribeck_speed`` (nv,) as a further argument; all take
        ``direction`` (nv,), which is in the place of the sign of the velocity where it is given.
        """
        return compiled(self.robot, self.columns, "base_regressor", packed=False)

    @cached_property
    def rows(self) -> Function:
        """The same without the entries that are always zero, row after row: what is quick to sum up."""
        return compiled(self.robot, self.columns, "base_regressor_rows", packed=True)

    @cached_property
    def rest(self) -> Robot | None:
        """The robot without masses, with what its joints do and is not estimated; None if that is nothing."""
        left = {term: getattr(self.robot, term).copy() for term in OF_ROBOTS}
        for term, k in self.places:
            if term in left:
                left[term][k] = 0.0
        if not np.any([own for term, own in left.items() if _counts(self.robot, term)]):
            return None
        return massless(self.robot).with_joint_physics(
            **{term: left[term] for term in OF_ROBOTS if term in self.joint_terms}
        )

    @property
    def columns(self) -> Columns:
        """Which columns the minimal regressor has."""
        own = enumerate(self.own_columns.items(), start=len(self.all_names) - len(self.own_columns))
        return Columns(tuple(self.places.items()), self.independent, self.smoothing, tuple(own))

    def __str__(self) -> str:
        """Return a table: a number, a value of the robot that it was made of, and the combination."""
        lines = [f"{self.robot.name}: {self.dimension} base parameters of {len(self.all_names)}"]
        for k, (x, text) in enumerate(zip(self.of().tolist(), self.combinations, strict=True)):
            lines.append(f"{k:>4}  {number(x):>10}  {text}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<BaseParameters of {self.robot.name!r}: {self.dimension} of {len(self.all_names)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        terms = {**self.joint_terms, **self.own_columns}
        return type(self), (self.robot, terms, self.gravity, self.smoothing, self.tolerance)


def _counts(robot: Robot, term: str) -> bool:
    """Return whether the dynamics of a robot count a term that it has."""
    friction = robot.model.friction
    return {"damping": friction.damping, "friction": friction.coulomb}.get(term, True)


def base_parameters(
    robot: Robot,
    terms: JointTerms = (),
    *,
    gravity: str = "known",
    smoothing: float | None = None,
    tolerance: float = 1e-6,
) -> BaseParameters:
    """Return the combinations of inertial parameters that joint forces depend on: the identifiable ones.

    They follow from the structure, joint by joint (of mimic joints, from all that share a coordinate), for every
    type of joint: an inertia whose forces the same inertia in the parent has too is lumped into that.

    Parameters
    ----------
    terms : sequence of str, or mapping from str to sequence of str or function
        What joints do by themselves, a parameter each at every actuated entry of v:

        {terms}

        An asymmetric Coulomb friction is "friction" and "offset". A mapping has the joints of each term, None for all:
        ``{"friction": None, "stiffness": ["joint2"]}``; or a column of your own, with one parameter of that name: a
        function of q, v and a, as `Robot.compile` takes them, that returns forces (nv,).
    gravity : "known" or "any"
        Whether it is the robot's, or has any direction, as on a base that is tilted between motions.
    smoothing : float, optional
        The speed around which Coulomb friction changes sign (rad/s, m/s); the robot's (`Robot.with_friction`), which is
        1e-3 unless it was given.
    tolerance : float
        What is smaller, relative to the largest at one joint, counts as zero. Angles of files that are rounded to six
        digits need 1e-5 so that axes are parallel.

    Returns
    -------
    BaseParameters

    Raises
    ------
    ArgumentError
        If there is no such joint term, or `gravity` is something else.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> base = robot.base_parameters(["armature"])
    >>> base.dimension, len(base.all_names)
    (40, 66)
    >>> q, v, a = robot.random_state(seed=0)
    >>> bool(abs(base.regressor(q, v, a) @ base.of() - robot.inverse_dynamics(q, v, a)).max() < 1e-9)
    True
    """
    one_of(*GRAVITY)("gravity", gravity)
    speed = robot.model.friction.smoothing if smoothing is None else positive("smoothing", smoothing)
    if positive("tolerance", tolerance) > COARSEST:
        raise ArgumentError(f"tolerance is {tolerance!r}: more than {COARSEST:g} leaves nothing that counts")
    known_terms, own = checked(robot.model, terms)
    key = (*known_terms.items(),), gravity, float(speed), float(tolerance)
    if own:  # what they compute may have changed
        return BaseParameters(robot, {**known_terms, **own}, *key[1:])
    known: dict[Any, BaseParameters] = robot.__dict__.setdefault("_base_parameters", {})
    if key not in known:  # two threads may both compute it
        known[key] = BaseParameters(robot, known_terms, *key[1:])
    return known[key]


if base_parameters.__doc__:
    _rows = (f'- "{name}": {term.about} ({", ".join(dict.fromkeys(term.units))})' for name, term in TERMS.items())
    base_parameters.__doc__ = base_parameters.__doc__.replace("{terms}", "\n        ".join(_rows))
