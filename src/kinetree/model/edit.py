"""Models made from models: joints locked, things attached, another base pose, other inertias, or base parameters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kinetree.errors import ModelError
from kinetree.model.body import WORLD, Body, Frame
from kinetree.model.checks import Pose, as_floats, as_transform, check_bodies, check_finite
from kinetree.model.model import Model
from kinetree.spatial import Inertia, Scalar, Transform


def locked(model: Model, joints: Collection[str], q: Sequence[Scalar]) -> Model:
    """Return the model with these joints, and those that mimic them, fixed where they stand in q (nq)."""
    fixed_q = {k for name in joints for k in model.bodies[model.body_of_joint(name)].q_index}
    place: list[tuple[int, Transform]] = []  # where each old body is now: the new body, and the transform to it
    kept: list[Body] = []
    base = model.base_inertia
    new_index: dict[int, int] = {}
    for i, body in enumerate(model.bodies):
        on, X = (WORLD, Transform.identity()) if body.parent == WORLD else place[body.parent]
        if fixed_q.isdisjoint(body.q_index):
            place.append((len(kept), Transform.identity()))
            new_index[i] = len(kept)
            kept.append(replace(body, parent=on, X_T=body.X_T @ X))
            continue
        X = model.jcalc(i, q).X_J @ body.X_T @ X
        place.append((on, X))
        if on == WORLD:
            base = base + X.T @ body.inertia
        else:
            kept[on] = replace(kept[on], inertia=kept[on].inertia + X.T @ body.inertia)
    frames = tuple(
        f if f.body == WORLD else Frame(f.name, place[f.body][0], f.X @ place[f.body][1]) for f in model.frames
    )
    order = tuple(new_index[i] for i in model.joint_order if i in new_index)
    return _renumbered(replace(model, bodies=tuple(kept), frames=frames, joint_order=order, base_inertia=base))


def _renumbered(model: Model) -> Model:
    """Return the model with its entries in q and v numbered anew, in the order of `joint_order`."""
    q_new = {old: new for new, old in enumerate(k for body in model.leading for k in body.q_index)}
    v_new = {old: new for new, old in enumerate(k for body in model.leading for k in body.v_index)}
    bodies = tuple(
        replace(body, q_index=tuple(q_new[k] for k in body.q_index), v_index=tuple(v_new[k] for k in body.v_index))
        for body in model.bodies
    )
    actuated = tuple(v_new[k] for k in model.actuated if k in v_new)
    return replace(model, bodies=bodies, nq=len(q_new), nv=len(v_new), actuated=actuated)


def with_payload(model: Model, inertia: Inertia, frame: str) -> Model:
    """Return the model with a rigid load fixed to a frame, its inertia given in that frame."""
    at = model.frame(frame)
    check_finite("the payload's inertia", inertia)
    own = model.base_inertia if at.body == WORLD else model.bodies[at.body].inertia
    return _with_body_inertia(model, at.body, own + at.X.T @ as_floats(inertia))


def with_inertia(model: Model, link: str, inertia: Inertia) -> Model:
    """Return the model with this inertia, given in the frame of a link, of the whole body that carries the link."""
    at = model.frame(link)
    check_finite(f"the inertia of {link!r}", inertia)
    return _with_body_inertia(model, at.body, at.X.T @ as_floats(inertia))


def _with_body_inertia(model: Model, body: int, inertia: Inertia) -> Model:
    """Return the model with this inertia of a body, or of what is fixed to the world; warn if no body can have it."""
    name = model.root if body == WORLD else model.bodies[body].name
    check_bodies(f"robot {model.name!r}", [(name, inertia)])
    if body == WORLD:
        return replace(model, base_inertia=inertia)
    bodies = list(model.bodies)
    bodies[body] = replace(bodies[body], inertia=inertia)
    return replace(model, bodies=tuple(bodies))


def with_frame(model: Model, name: str, on: str, placement: Transform) -> Model:
    """Return the model with one more frame, at this placement in the frame `on`."""
    at = model.frame(on)
    if name in model.frame_names:
        raise ModelError(f"there is a frame named {name!r} already: names must differ")
    return replace(model, frames=(*model.frames, Frame(name, at.body, placement @ at.X)))


def with_attached(model: Model, other: Model, frame: str, placement: Transform, prefix: str) -> Model:
    """Return the model with another one of a fixed base, its names with the prefix, standing on a frame of it."""
    at = model.frame(frame)
    if other.has_floating_base:
        raise ModelError(f"{other.name!r} has a floating base: only a robot of a fixed base can be attached to a frame")
    to_root = placement @ at.X
    own_base = other.frame(other.root).X
    to_world_of_other = own_base.inverse() @ to_root
    nb, nq, nv = model.nb, model.nq, model.nv

    def moved(body: Body) -> Body:
        on_base = body.parent == WORLD
        return replace(
            body,
            name=prefix + body.name,
            joint_name=prefix + body.joint_name,
            parent=at.body if on_base else body.parent + nb,
            X_T=body.X_T @ to_world_of_other if on_base else body.X_T,
            q_index=tuple(k + nq for k in body.q_index),
            v_index=tuple(k + nv for k in body.v_index),
        )

    frames = tuple(
        Frame(prefix + f.name, at.body, f.X @ to_world_of_other)
        if f.body == WORLD
        else Frame(prefix + f.name, f.body + nb, f.X)
        for f in other.frames
    )
    _check_new("joint", [body.joint_name for body in model.bodies], [prefix + body.joint_name for body in other.bodies])
    _check_new("frame", model.frame_names, [f.name for f in frames])
    carrier = replace(
        model,
        bodies=(*model.bodies, *map(moved, other.bodies)),
        frames=(*model.frames, *frames),
        nq=nq + other.nq,
        nv=nv + other.nv,
        joint_order=(*model.joint_order, *(i + nb for i in other.joint_order)),
        actuated=(*model.actuated, *(k + nv for k in other.actuated)),
    )
    if other.base_inertia == Inertia.zero():
        return carrier
    return with_payload(carrier, own_base.inverse().T @ other.base_inertia, prefix + other.root)


def _check_new(kind: str, there: Sequence[str], coming: Sequence[str]) -> None:
    both = sorted(set(there) & set(coming))
    if both:
        raise ModelError(f"both robots have a {kind} named {both[0]!r}: give a prefix for the attached one")


def with_base_pose(model: Model, pose: Pose) -> Model:
    """Return the model with its root link at this pose in the world; for a fixed base."""
    if model.has_floating_base:
        raise ModelError("a floating base has its pose in q: with_base_pose is for a fixed base")
    change = model.frame(model.root).X.inverse() @ as_transform(pose, "base_pose")
    bodies = tuple(replace(b, X_T=b.X_T @ change) if b.parent == WORLD else b for b in model.bodies)
    frames = tuple(Frame(f.name, WORLD, f.X @ change) if f.body == WORLD else f for f in model.frames)
    return replace(model, bodies=bodies, frames=frames, base_inertia=change.T @ model.base_inertia)


def with_inertial_parameters(model: Model, parameters: Sequence[Scalar]) -> Model:
    """Return the model with these 10 nb inertial parameters, in the order of `Model.inertial_parameters`."""
    if len(parameters) != 10 * model.nb:
        raise ModelError(f"{len(parameters)} inertial parameters given; {model.nb} bodies have {10 * model.nb}")
    check_finite("inertial_parameters", parameters)
    tens = [parameters[10 * i : 10 * i + 10] for i in range(model.nb)]
    inertias = [Inertia.from_parameters(ten) for ten in tens]
    pairs = list(zip(model.bodies, inertias, strict=True))
    check_bodies(f"robot {model.name!r}", ((body.name, inertia) for body, inertia in pairs if inertia != body.inertia))
    return replace(model, bodies=tuple(replace(body, inertia=inertia) for body, inertia in pairs))


def regrouped(model: Model) -> Model:
    """Return a model with the same joint forces at every state, and with many inertial parameters zero.

    From the leaves on, the part of each inertia without a force at its joint (`Joint.inertia_for_parent`) is lumped
    into the parent (Gautier and Khalil 1990; RBDA section 9.7). M(q) and the bias forces are the same functions;
    energies, momenta, the centre of mass and the reactions in the joints are not.
    """
    inertias = [body.inertia for body in model.bodies]
    for i in reversed(range(model.nb)):
        body = model.bodies[i]
        moved = body.joint.inertia_for_parent(inertias[i])
        inertias[i] = inertias[i] - moved
        if body.parent != WORLD:
            inertias[body.parent] = inertias[body.parent] + body.X_T.T @ moved
    bodies = (replace(body, inertia=inertia) for body, inertia in zip(model.bodies, inertias, strict=True))
    return replace(model, bodies=tuple(bodies))
