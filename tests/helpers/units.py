"""A mechanism, and all that its functions take and give, in other units of length, mass and time.

Of each symbol the glossary has the shape; `DIMENSIONS` has the powers of energy and time, and of the coordinate's unit
along each axis: rad or m of joints (nv), rows (nrows) and independent velocities.
"""

from dataclasses import fields, replace
from typing import NamedTuple, TypeVar

import numpy as np

from kinetree.algorithms.kinematics.manifold import turning
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Gear
from kinetree.model import Model
from kinetree.spatial import Inertia, Transform

M = TypeVar("M", bound=Model)


class Units(NamedTuple):
    """How large a metre, a kilogram and a second are as numbers of the other units."""

    length: float
    mass: float
    time: float

    @property
    def energy(self):
        return self.mass * self.length**2 / self.time**2


class Powers(NamedTuple):
    """Of energy and time, of the coordinate's unit along each axis, and of length (of N beside all others)."""

    energy: int = 0
    time: int = 0
    axes: tuple[int, ...] = ()
    length: int = 0


NUMBER, MOTION, RATE, FORCE = Powers(), Powers(0, -1, (1,)), Powers(0, -2, (1,)), Powers(1, 0, (-1,))
MASSES, INVERSE, IMPULSE = Powers(1, 2, (-1, -1)), Powers(-1, -2, (1, 1)), Powers(1, 1, (-1,))

DIMENSIONS = {
    **dict.fromkeys(("active", "restitution", "friction", "tolerance", "max_iterations", "restarts"), NUMBER),
    **dict.fromkeys(("iterations", "converged"), NUMBER),
    **dict.fromkeys(("v", "v_next", "v_independent"), MOTION),
    **dict.fromkeys(("a", "a_independent", "gamma"), RATE),
    **dict.fromkeys(("tau", "tau_max", "missing", "f", "h"), FORCE),
    "phi": Powers(axes=(1,)),
    "dt": Powers(time=1),
    "M": MASSES,
    "Lambda": MASSES,
    "Minv": INVERSE,
    "compliance": Powers(-1, -2, (2,)),
    "f_start": FORCE,
    "impulse": IMPULSE,
    "f_min": Powers(energy=1, length=-1),
    "force_weights": Powers(axes=(2,)),
    "torque_weight": NUMBER,  # of joints that turn, beside contacts weighted by the square of a length
    "primal": Powers(energy=1, length=-1),
    "dual": Powers(time=-2, length=1),
    "complementarity": Powers(energy=1, time=-2),
}
"""By symbol; those that differ from function to function, and q, f_ext, row_motion and slots, are below."""

OF_FUNCTIONS = {
    "constraint_jacobian": {"J": Powers(axes=(1, -1))},
    "delassus_matrix": {"G": INVERSE},
    "velocity_map": {"G": Powers(axes=(1, -1))},
    "contact_impulse": {
        "f_start": IMPULSE,
        "primal": Powers(1, 1, (), -1),
        "dual": Powers(time=-1, length=1),
        "complementarity": Powers(energy=1),
    },
    "contact_step": {"dual": Powers(time=-1, length=1)},
}


def row_angles(model):
    """Return for each row whether it is an angle."""
    q = np.concatenate([body.joint.neutral() for body in model.leading])
    return [row.angular for row in model.constraint_rows(q.tolist())]


def unit(model, u, algorithm, name):
    """Return by what an input or output of an algorithm is multiplied in other units."""
    joints = np.where(model.turning, 1.0, u.length)
    along = {"nv": joints, "nrows": np.where(row_angles(model), 1.0, u.length)}
    along["nindependent"] = joints[list(model.independent_velocities)]
    if name in ("q", "q0"):
        return of_configuration(model, u)
    if name == "f_ext":
        return u.energy * np.array([1.0] * 3 + [1.0 / u.length] * 3)
    if name == "row_motion":
        return along["nrows"] * np.array([[1.0], [1.0 / u.time], [1.0 / u.time**2]])
    if name == "slots":
        return np.array([u.length] * 3 + [1.0] * 3 + [u.length])
    of_function = OF_FUNCTIONS.get(algorithm.name, {})
    powers = of_function[name] if name in of_function else DIMENSIONS[name]
    shape = {**algorithm.inputs, **algorithm.optional, **algorithm.outputs}[name]
    found = np.array(u.energy**powers.energy * u.time**powers.time * u.length**powers.length)
    for axis, power in zip(shape, powers.axes, strict=bool(powers.axes)):
        found = found[..., None] * along[str(axis)] ** power
    return found


def _of_configuration(body, joints):
    """Return the units of a joint's coordinates: a velocity's if there is one, else by their names."""
    own = joints[list(body.v_index)]
    return (
        own
        if len(own) == 1
        else np.where(np.isin(body.joint.q_names, ["x", "y", "z"]), own[np.argmax(own != 1.0)], 1.0)
    )


def in_units(model, u):
    """Return a mechanism, or a tree, in other units."""
    joints = np.where(turning(model), 1.0, u.length)
    own = {}
    if isinstance(model, ConstrainedModel):
        own["constraints"] = tuple(_constraint(c, model, u, joints) for c in model.constraints)
        own["stabilization"] = model.stabilization / u.time
    return replace(
        model,
        bodies=tuple(_body(body, u, joints[list(body.v_index)]) for body in model.bodies),
        frames=tuple(replace(frame, X=_moved(frame.X, u)) for frame in model.frames),
        gravity=model.gravity * (u.length / u.time**2),
        base_inertia=_inertia(model.base_inertia, u),
        **own,
    )


def of_configuration(model, u):
    """Return the units of a configuration's coordinates."""
    joints = np.where(turning(model), 1.0, u.length)
    return np.concatenate([_of_configuration(body, joints) for body in model.leading])


def _moved(X, u):
    return Transform(X.E, X.r * u.length)


def _inertia(inertia, u):
    powers = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    return Inertia.from_parameters((np.array([*inertia]) * u.mass * u.length**powers).tolist())


def _body(body, u, own):
    def each(values, of) -> tuple[float, ...]:
        return tuple((np.array(values) * of).tolist())

    limits, spring, one = body.limits, body.spring, float(own[0])
    return replace(
        body,
        X_T=_moved(body.X_T, u),
        inertia=_inertia(body.inertia, u),
        armature=each(body.armature, u.energy * u.time**2 / own**2),
        damping=each(body.damping, u.energy * u.time / own**2),
        friction=each(body.friction, u.energy / own),
        limits=replace(
            limits,
            lower=limits.lower * one,
            upper=limits.upper * one,
            velocity=limits.velocity * one / u.time,
            effort=limits.effort * u.energy / one,
        ),
        spring=replace(spring, stiffness=spring.stiffness * u.energy / one**2, rest=spring.rest * one),
    )


def _constraint(constraint, model, u, joints):
    """Return a constraint in other units: its lengths, and a gear's ratios, whose row has its first joint's unit."""
    if isinstance(constraint, Gear):
        own = {name: joints[model.bodies[model.body_of_joint(name)].v_index[0]] for name in constraint.of}
        first = own[constraint.of[0]]
        ratios = {name: c * first / own[name] for name, c in dict(constraint.ratios).items()}
        return replace(constraint, ratios=ratios, offset=constraint.offset * first)
    lengths = {f.name for f in fields(constraint)} & {"radius", "height", "length", "point"}
    changed = {}
    for name in lengths:
        x = getattr(constraint, name)
        changed[name] = tuple(u.length * y for y in x) if isinstance(x, tuple) else u.length * x
    if (placement := getattr(constraint, "placement", None)) is not None:
        changed["placement"] = _moved(placement, u)
    return replace(constraint, **changed)
