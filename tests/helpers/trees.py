"""Random kinematic trees, and the pages of the algorithms on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from helpers.joints import MOVING
from kinetree.joints import Fixed, FreeFlyer, Joint
from kinetree.model import Model, ModelBuilder
from kinetree.spatial import Inertia

Array = np.ndarray[Any, Any]


def random_inertia(rng: np.random.Generator) -> Inertia:
    """Return the inertia of a cloud of six point masses: physical by construction."""
    masses, points = rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.3, size=(6, 3))
    mass = masses.sum()
    com = masses @ points / mass
    d = points - com
    about_com = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, d, strict=True))
    return Inertia.from_com(float(mass), com.tolist(), about_com.tolist())


BALL = Inertia.from_com(1.0, [0.1, 0.0, 0.0], np.eye(3).tolist())


def toy(
    *joints: Any, links: Mapping[str, Any] | None = None, frames: Sequence[Any] = (), name: str = "toy", **options: Any
) -> Model:
    """Return a model of joints, each ``"name parent child"``, its type, and what else `add_joint` takes.

    Links are alike, of 1 kg, but for those in `links`; frames are ``"name link"`` and their placements.
    """
    builder = ModelBuilder(name)
    for link in dict.fromkeys(link for names, *_ in joints for link in names.split()[1:]):
        builder.add_link(link, (links or {}).get(link, BALL))
    for names, joint, *more in joints:
        own, parent, child = names.split()
        builder.add_joint(own, parent=parent, child=child, joint=joint, **dict(*more))
    for names, placement in frames:
        own, link = names.split()
        builder.add_frame(own, link=link, placement=placement)
    return builder.build(**options)


def chain(joints: Sequence[Joint], inertias: Sequence[Inertia], placements: Sequence[Any], **options: Any) -> Model:
    """Return bodies in a row, link0 (the base) to linkn, by the joints j1 to jn at these placements."""
    names = (f"j{k} link{k - 1} link{k}" for k in range(1, len(joints) + 1))
    links = {"link0": None} | {f"link{k}": inertia for k, inertia in enumerate(inertias, start=1)}
    each = zip(names, joints, ({"placement": P} for P in placements), strict=True)
    return toy(*each, links=links, **{"name": "chain"} | options)


def random_placement(rng: np.random.Generator) -> Array:
    """Return a random pose, (4, 4)."""
    placement = np.eye(4)
    placement[:3, :3] = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    placement[:3, 3] = rng.normal(scale=0.5, size=3)
    return placement


def random_tree(
    seed: int,
    n: int = 8,
    joints: Sequence[Joint] = MOVING,
    *,
    armature: bool = True,
    fixed_links: bool = True,
    shuffled: bool = True,
    gravity: Sequence[float] = (0.7, -1.1, -9.6),
) -> Model:
    """Return a tree of n moving bodies with random parents, placements, inertias and joints of these types.

    The first joints go through `joints` in turn, so that a tree of enough bodies has all of them. Where `shuffled`,
    joints come in random order, children before parents too.
    """
    rng = np.random.default_rng(seed)
    kinds = [joints[i % len(joints)] for i in range(n)]
    rng.shuffle(kinds)
    builder = ModelBuilder(f"tree-{seed}")
    builder.add_link("base", random_inertia(rng))
    specs = []
    for i in range(n):
        parent = "base" if i == 0 else rng.choice(["base", *(f"link{k}" for k in range(i))], p=_weights(i))
        builder.add_link(f"link{i}", random_inertia(rng))
        specs.append((f"joint{i}", str(parent), f"link{i}", kinds[i], float(rng.uniform(0.01, 0.2)) * armature))
        if fixed_links and rng.random() < 0.3:
            builder.add_link(f"tool{i}", random_inertia(rng))
            specs.append((f"weld{i}", f"link{i}", f"tool{i}", Fixed(), 0.0))
    if shuffled:
        rng.shuffle(specs)
    for name, parent, child, joint, rotor in specs:
        rotor = 0.0 if isinstance(joint, FreeFlyer) else rotor
        builder.add_joint(
            name, parent=parent, child=child, joint=joint, placement=random_placement(rng).tolist(), armature=rotor
        )
    return builder.build(base_pose=random_placement(rng).tolist(), gravity=gravity)


def _weights(i: int) -> Array:
    """Return probabilities that favour late bodies, so that trees are deep and still branch."""
    w = 1.5 ** np.arange(i + 1)
    return w / w.sum()


def random_states(model: Model, seed: int, size: int | tuple[int, ...] = 16) -> tuple[Array, Array, Array]:
    """Return random q (*size, nq), v and a (*size, nv)."""
    rng = np.random.default_rng(seed)
    lead = (size,) if isinstance(size, int) else size
    q = np.empty((*lead, model.nq))
    for body in model.bodies:
        q[..., list(body.q_index)] = body.joint.random(rng, size=lead)
    v, a = rng.normal(size=(2, *lead, model.nv))
    return q, v, a


def columns(array: Array, rank: int = 1) -> Any:
    """Return an array's last axes as nested lists of arrays over the leading ones: a page's scalars."""
    if rank == 0:
        return array
    return [columns(array[(..., k, *[slice(None)] * (rank - 1))], rank - 1) for k in range(array.shape[-rank])]


def stacked(value: Any, lead: tuple[int, ...]) -> Array:
    """Return nested lists of scalars or arrays as one array with the leading axes first."""
    if isinstance(value, (list, tuple)):
        return np.stack([stacked(v, lead) for v in value], axis=len(lead))
    return np.broadcast_to(np.asarray(value), lead)


def page(
    function: Callable[..., Any], model: Model, *arrays: Array, f_ext: Array | None = None, **options: str
) -> Array:
    """Run an algorithm's page on a batch, each scalar a NumPy array over the leading axes of all states."""
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    arguments = [columns(np.broadcast_to(x, (*lead, x.shape[-1]))) for x in arrays]
    if f_ext is not None:
        options["f_ext"] = columns(f_ext, 2)
    return stacked(function(model, *arguments, **options), lead)


def moved(model: Model, q: Array, dv: Array) -> Array:
    """Return q ⊕ dv, joint by joint; complex dv makes a complex step."""
    lead = np.broadcast_shapes(q.shape[:-1], dv.shape[:-1])
    out = np.empty((*lead, model.nq), np.result_type(q, dv))
    for body in model.bodies:
        ours = [np.broadcast_to(q[..., k], lead) for k in body.q_index]
        rates = [np.broadcast_to(dv[..., k], lead) for k in body.v_index]
        for k, column in zip(body.q_index, body.joint.integrate(ours, rates), strict=True):
            out[..., k] = column
    return out


STEP = 1e-30
"""A complex step so small that its square is nothing: derivatives to the last digits."""


def rate(function: Callable[[Array], Array], model: Model, q: Array, v: Array) -> Array:
    """Return the rate of function(q) while q moves at the velocity v, by a complex step."""
    return function(moved(model, q, 1j * STEP * v)).imag / STEP


def gradient(function: Callable[[Array], Array], model: Model, q: Array) -> Array:
    """Return the rates of function(q) along each entry of the velocity, in a new last axis."""
    return np.moveaxis(rate(function, model, q, units(model, q)), 0, -1)


def units(model: Model, q: Array) -> Array:
    """Return the unit velocities (nv, …, nv), along an axis of their own before those of the states."""
    return np.eye(model.nv).reshape(-1, *[1] * (q.ndim - 1), model.nv)
