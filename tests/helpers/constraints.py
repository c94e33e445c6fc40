"""Constraints on random trees, made to hold at a given configuration, and the null-space method as an oracle."""

from dataclasses import replace

import numpy as np

from helpers.exact_trees import exact_tree
from helpers.trees import columns, random_placement, stacked
from kinetree.algorithms import bias_forces, crba
from kinetree.algorithms.kinematics.frames import frame_placement
from kinetree.constraints.builder import constrained
from kinetree.constraints.inputs import ContactInputs
from kinetree.constraints.types import Constraint, Contact, Gear, Loop, Rod, Weld, Wheel
from kinetree.contacts.solve import SOLVERS
from kinetree.joints import Cylindrical, Fixed, FreeFlyer, Planar, Prismatic, Revolute, Spherical
from kinetree.model import WORLD, Frame, Model
from kinetree.spatial import Transform


def to(tolerance, method="auto", **given):
    """Return what is given to constraints, with a solver that goes on to a tolerance."""
    return ContactInputs(solver=SOLVERS[method](tolerance=tolerance), **given)


def each(contacts, scalars):
    """Return what is given with its arrays as a page's scalars."""
    given = {name: scalars(x) for name, x in vars(contacts).items() if isinstance(x, np.ndarray)}
    return replace(contacts, **given)


def several(function, model, *arrays, contacts=None, **options):
    """Return the outputs of a page on a batch of states, all with the same contacts, as arrays."""
    lead = arrays[0].shape[:-1]
    if contacts is not None:
        options["contacts"] = each(contacts, lambda x: columns(np.broadcast_to(x, (*lead, *x.shape)), x.ndim))
    return [stacked(x, lead) for x in function(model, *map(columns, arrays), **options)]


def near(got, expected, part):
    """Assert that the largest error is at most this part of the largest number expected."""
    np.testing.assert_allclose(got, expected, rtol=0.0, atol=part * np.abs(expected).max())


TILTED = (0.6, -0.3, 0.7)

CLOSING = (
    Fixed(),
    Revolute((0, 1, 0)),
    Revolute(TILTED),
    Prismatic(TILTED),
    Cylindrical(TILTED),
    Spherical(),
    Planar(TILTED),
)


def pose(model, q, frame):
    """Return the pose of a frame in the world, (4, 4)."""
    return np.eye(4) if frame is None else np.array(frame_placement(model, q.tolist(), frame=frame), dtype=float)


def held_at(model, q, body, place, name):
    """Return the model with a frame of this name on a body, which at q has this pose in the world."""
    (frame,) = (f for f in model.frames if f.name == model.bodies[body].name)
    T = np.linalg.inv(pose(model, q, frame.name)) @ place
    X = Transform.placed(T[:3, :3].tolist(), T[:3, 3].tolist()) @ frame.X
    return replace(model, frames=(*model.frames, Frame(name, body, X)))


def _weld(model, q, s, to, rng):
    T = random_placement(rng)
    return held_at(model, q, s, pose(model, q, to) @ T, "s"), Weld("s", to, placement=T)


def _loop(joint):
    def make(model: Model, q, s: int, to: str | None, rng: np.random.Generator) -> tuple[Model, Constraint]:
        to = to or model.root
        X = joint.jcalc(joint.random(rng).tolist(), [0.0] * joint.nv).X
        return held_at(model, q, s, pose(model, q, to) @ np.array(X.placement), "s"), Loop("s", to, joint)

    return make


def _rod(model, q, s, to, rng):
    model = held_at(model, q, s, random_placement(rng), "s")
    return model, Rod("s", to, length=float(np.linalg.norm((pose(model, q, "s") - pose(model, q, to))[:3, 3])))


def _contact(radius, point=(0.0, 0.0, 0.0)):
    def make(model: Model, q, s: int, to: str | None, rng: np.random.Generator) -> tuple[Model, Constraint]:
        model = held_at(model, q, s, random_placement(rng), "s")
        normal = np.array(TILTED) / np.linalg.norm(TILTED)
        r = (np.linalg.inv(pose(model, q, to)) @ pose(model, q, "s") @ [*point, 1.0])[:3]
        height = float(normal @ r) - radius
        return model, Contact("s", to, normal=TILTED, radius=radius, height=height, point=point)

    return make


def _wheel(model, q, s, to, rng):
    model = held_at(model, q, s, random_placement(rng), "s")
    normal, axis, radius = np.array(TILTED) / np.linalg.norm(TILTED), np.array([0.4, -0.8, 0.2]), 0.3
    T = np.linalg.inv(pose(model, q, to)) @ pose(model, q, "s")
    upright = float(np.linalg.norm(np.cross(T[:3, :3] @ axis, normal)) / np.linalg.norm(axis))
    height = float(normal @ T[:3, 3]) - radius * upright
    return model, Wheel("s", to, radius=radius, axis=tuple(axis), normal=TILTED, height=height)


def _gear(model, q, s, to, rng):
    first, second, *_ = [b for b in model.leading if b.has_one_coordinate]
    offset = float(2.0 * q[first.q_index[0]] - 3.0 * q[second.q_index[0]])
    return model, Gear({first.joint_name: 2, second.joint_name: -3}, offset=offset)


def exact_mechanism():
    """Return a tree with a constraint of every type, whose numbers are the same on every machine."""
    hinge = Revolute((0, 1, 0))
    joints = [FreeFlyer(), hinge, Prismatic((1, 0, 0)), Revolute((0, 0, 1)), Spherical(), FreeFlyer(), hinge]
    tree = exact_tree("constrained", 6, joints, followers=1, straight=0.6)
    return constrained(
        tree,
        [
            Weld("tip", placement=Transform.translation((0.5, -0.25, 1.0))),
            Loop("link6", "link1", hinge),
            Rod("link2", "link5", length=0.75),
            Gear({"joint1": 1, "joint3": -2}),
            Contact("link3", radius=0.125),
        ],
        stabilization=2.0,
        actuated=["joint1", "joint2", "joint3", "joint4"],
        independent=["joint4"],
    )


MAKERS = {
    "weld": _weld,
    **{f"loop-{type(joint).__name__}-{k}": _loop(joint) for k, joint in enumerate(CLOSING)},
    "rod": _rod,
    "contact": _contact(0.0),
    "sphere": _contact(0.4),
    "corner": _contact(0.1, (0.3, -0.2, 0.5)),
    "wheel": _wheel,
    "gear": _gear,
}
"""How a constraint of each kind is made that holds at q, between a frame on body s and a frame or the world."""


def carriers(model, i):
    """Return the bodies from the base to body i."""
    return [] if i == WORLD else [*carriers(model, model.bodies[i].parent), i]


def made(kind, model, q, ends, seed=0):
    """Return the model with a constraint of this kind that holds at q: against the world, an ancestor or a cousin."""
    paths = [carriers(model, i) for i in range(model.nb)]
    pairs = [(i, j) for i in range(model.nb) for j in range(model.nb) if i != j]
    cousins = [(i, j) for i, j in pairs if i not in paths[j] and j not in paths[i]]
    far = max(range(model.nb), key=lambda i: len(paths[i]))
    s, p = {
        "world": (far, WORLD),
        "ancestor": (far, paths[far][len(paths[far]) // 2 - 1]),
        "descendant": (paths[far][len(paths[far]) // 2 - 1], far),
        "cousin": max(cousins, key=lambda pair: len({*paths[pair[0]]} ^ {*paths[pair[1]]})),
    }[ends]
    rng = np.random.default_rng(seed)
    to = None
    if p != WORLD:
        model, to = held_at(model, q, p, random_placement(rng), "p"), "p"
    model, constraint = MAKERS[kind](model, q, s, to, rng)
    return constrained(model, [constraint])


def doubled(model):
    """Return the model with every constraint twice."""
    again = [replace(c, name=c.label + "_again") for c in model.constraints]
    return replace(model, constraints=(*model.constraints, *again))


def arms(model):
    """Return ℓ for each row with a moment and for each joint with one, 1 for those with forces."""
    rows = model.constraint_rows(np.concatenate([b.joint.neutral() for b in model.leading]).tolist())
    return tuple(np.where(each, model.length, 1.0) for each in ([row.angular for row in rows], list(model.turning)))  # type: ignore[return-value]


def null_space_dynamics(M, h, J, gamma, tau, arm):
    """Return a and the least f with ``M a + h = τ + Jᵀ f`` and ``J a + γ = 0``, moments counting over ``arm``."""
    _, s, Vt = np.linalg.svd(J)
    rank = int((s > 1e-9 * s[0]).sum())
    N = Vt[rank:].T
    particular = -np.linalg.lstsq(J, gamma, rcond=1e-9)[0]
    free = np.linalg.solve(N.T @ M @ N, N.T @ (tau - h - M @ particular)) if N.shape[1] else np.zeros(0)
    a = particular + N @ free
    return a, arm * np.linalg.lstsq(J.T * arm, M @ a + h - tau, rcond=1e-9)[0]


def by_null_space(model, q, v, tau):
    """Return a and the least f of one state."""
    state = q.tolist(), v.tolist()
    rows = model.constraint_rows(*state)
    J, gamma = np.array([list(row.J) for row in rows], dtype=float), np.array([row.gamma for row in rows], dtype=float)
    M, h = np.array(crba(model, state[0]), dtype=float), np.array(bias_forces(model, *state), dtype=float)
    return null_space_dynamics(M, h, J, gamma, tau, arms(model)[0])
