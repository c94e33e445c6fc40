"""Parameters of a model that become arguments of a compiled function: gravity, payloads, inertias, friction."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kinetree.errors import ArgumentError
from kinetree.functions.parameters import with_required
from kinetree.functions.tangent_spaces import Placement
from kinetree.glossary.symbols import shape_of
from kinetree.graph import Port
from kinetree.model import WORLD, Body, Model
from kinetree.model.edit import regrouped
from kinetree.runtime.function import Function
from kinetree.runtime.options import Value
from kinetree.runtime.spec import Arguments, FunctionSpec, Variant, check_names, describe_shape
from kinetree.spatial import Inertia, Transform
from kinetree.tracing import context

Evaluate = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]


@dataclass(frozen=True)
class ModelInput:
    """A number of the model as an argument of a function that `kinetree.compile` makes.

    Made by `kinetree.payload`, `kinetree.body_inertia` and `kinetree.joint_placement`; `kinetree.gravity`,
    `kinetree.joint_damping`, `kinetree.joint_friction` and `kinetree.joint_armature` are such numbers of any robot.

    Attributes
    ----------
    name : str
        Of the argument.
    shape : tuple of int or str
        For one state; "nv" stands for that of the robot.
    kind : str
        "gravity", "inertia", "payload", "damping", "friction", "armature" or "placement".
    frame : str
        Name of the link or frame, for inertias and payloads; of the joint, for placements.
    """

    name: str
    shape: tuple[int | str, ...]
    kind: str
    frame: str = ""

    def port(self, model: Model) -> Port:
        """Return the argument of a function of this model."""
        return Port(self.name, shape_of(self.shape, model))


gravity = ModelInput("gravity", (3,), "gravity")

joint_damping = ModelInput("joint_damping", ("nv",), "damping")
"""The viscous friction of the joints (N·m·s, N·s/m) instead of the robot's: what `Robot.damping` is, those of followers
included. What is given counts, whether or not `Robot.with_friction` has turned the robot's own on; so does
`joint_friction`."""

joint_friction = ModelInput("joint_friction", ("nv",), "friction")
"""The Coulomb friction of the joints (N·m, N) instead of the robot's: what `Robot.friction` is."""

joint_armature = ModelInput("joint_armature", ("nv",), "armature")
"""The rotor inertia reflected to the joints (kg·m², kg) instead of the robot's: what `Robot.armature` is."""

_COUNTS = {"damping": "damping", "friction": "coulomb"}
"""By the kind of friction that is given, which of `JointFriction`'s switches it turns on."""


def body_inertia(link: str, name: str | None = None) -> ModelInput:
    """Return the argument that replaces the inertial parameters of the body that carries a link.

    Its value has shape (..., 10): ``(m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)`` of the whole moving
    body, links fixed to it included, about the origin of the body's frame and in its axes: a row of
    `robot.inertial_parameters.reshape(-1, 10)`. A `kinetree.Inertia` is such a value too. Run-time values are taken as
    they are, without a look at whether a body can have them.

    Parameters
    ----------
    link : str
        Any frame of the body.
    name : str, optional
        Of the argument; ``inertia_`` and the link's name if not given.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> gravity_forces = kt.compile(robot, "gravity_forces", inputs=[body_inertia("panda_link5")])
    >>> gravity_forces
    <kinetree function gravity_forces(q, inertia_panda_link5, *, out=None)>
    """
    return ModelInput(name or _argument("inertia", link), (10,), "inertia", link)


def payload(frame: str, name: str | None = None) -> ModelInput:
    """Return the argument that is the inertia of something held at a frame, added to what is there.

    Its value has shape (..., 10): ``(m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz)`` about the frame's
    origin and in its axes; a `kinetree.Inertia` is such a value too. All zero is not a payload.

    Parameters
    ----------
    frame : str
    name : str, optional
        Of the argument; ``payload_`` and the frame's name if not given.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> loaded = kt.compile(robot, "gravity_forces", inputs=[payload("panda_hand", name="load")])
    >>> box = kt.Inertia(2.0, [0, 0, 0.1], [[0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]])
    >>> print(loaded([0, 0.5, 0, -1.5, 0, 2, 0], box).round(2)[1:4])
    [-58.35   0.44  31.82]
    """
    return ModelInput(name or _argument("payload", frame), (10,), "payload", frame)


def joint_placement(joint: str, name: str | None = None) -> ModelInput:
    """Return the argument that replaces the placement of a joint, as calibration and design need it.

    Its value is a pose (..., 4, 4), as ``robot.joint(name).placement`` is: that of the joint's frame in its parent's.
    It moves in six directions, so that derivatives by it have six columns: those of a turn about, then of a shift
    along the axes of the joint's frame.

    Parameters
    ----------
    joint : str
    name : str, optional
        Of the argument; ``placement_`` and the joint's name if not given.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> elbow = kt.joint_placement("elbow_joint", name="elbow")
    >>> tool = robot.compile(lambda q: robot.frame_placement(q, frame="tool0")[:3, 3], inputs=[elbow], name="tool")
    >>> dresult = tool.derivatives([0.5] * 6, robot.joint("elbow_joint").placement, wrt="elbow")
    >>> dresult.shape  # of three coordinates by six directions
    (3, 6)
    """
    return ModelInput(name or _argument("placement", joint), (4, 4), "placement", joint)


def _argument(kind: str, frame: str) -> str:
    return re.sub(r"\W", "_", f"{kind}_{frame}")


def traced_model(model: Model, joint_space: bool) -> Model:
    """Return the model to trace, with arguments in place of its numbers, regrouped if only joint forces matter."""
    values = context.substitutions(model.tree.digest)
    check_inputs(model, values)
    bodies = list(model.bodies)
    for i in (model.frame(value.frame).body for value in values if value.kind == "inertia"):
        bodies[i] = replace(bodies[i], inertia=Inertia.zero())
    for value, rows in values.items():
        if value.kind == "placement":
            i, X = (
                model.body_of_joint(value.frame),
                Transform.placed(*zip(*((r[:3], r[3]) for r in rows[:3]), strict=True)),
            )
            on_root = bodies[i].parent == WORLD and model.frame(model.root).body == WORLD
            bodies[i] = replace(bodies[i], X_T=X @ model.frame(model.root).X if on_root else X)
    model = replace(model, bodies=tuple(bodies)) if values else model
    model = regrouped(model) if joint_space else model
    bodies = list(model.bodies)
    for value, entries in values.items():
        if value.kind == "gravity":
            model = model.with_gravity(entries)
        elif value.kind == "placement":
            continue  # before the inertias are regrouped, which depends on it
        elif not value.frame:
            bodies = _with_joint_physics(model, bodies, value.kind, entries)
            if value.kind in _COUNTS:
                model = model.with_friction(replace(model.friction, **{_COUNTS[value.kind]: True}))
        else:
            i, added = model.frame(value.frame).body, Inertia.from_parameters(entries)
            X = model.frame(value.frame).X if value.kind == "payload" else Transform.identity()
            bodies[i] = replace(bodies[i], inertia=bodies[i].inertia + X.T @ added)
    return replace(model, bodies=tuple(bodies)) if values else model


def _with_joint_physics(model: Model, bodies: Sequence[Body], kind: str, entries: Sequence[Any]) -> list[Body]:
    """Return the bodies with these figures of their joints: all at the leading joints, none at their followers."""
    leading = set(model.joint_order)
    return [
        replace(body, **{kind: tuple(entries[k] if i in leading else 0.0 for k in body.v_index)})  # type: ignore[arg-type]
        for i, body in enumerate(bodies)
    ]


def meanings(inputs: Iterable[ModelInput]) -> dict[str, str]:
    """Return the meanings of the inputs, by name."""
    ten = "(m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz) in kg, kg·m, kg·m²"
    texts = {
        "gravity": "Acceleration of gravity in the world's axes (m/s²).",
        "inertia": f"Inertia of the body that carries {{}}: {ten}, about its frame's origin and in its axes.",
        "payload": f"Inertia added at {{}}: {ten}, about its origin and in its axes.",
        "damping": "Viscous friction of the joints, followers' included (N·m·s, N·s/m).",
        "friction": "Coulomb friction of the joints, followers' included (N·m, N).",
        "armature": "Rotor inertia reflected to the joints, followers' included (kg·m², kg).",
        "placement": "Pose of the joint {} in its parent's frame.",
    }
    return {i.name: texts[i.kind].format(i.frame) for i in inputs}


def placement_spaces(inputs: Iterable[ModelInput]) -> dict[str, Placement]:
    """Return the tangent spaces of the inputs that are poses, by name."""
    return {i.name: Placement() for i in inputs if i.kind == "placement"}


def substituting(evaluate: Evaluate, model: Model, inputs: Sequence[ModelInput], name: str) -> Evaluate:
    """Return the function in which arguments of these names take the place of the model's numbers."""

    def substituted(arguments: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        values = {i: list(arguments[i.name]) for i in inputs}
        own = {key: entries for key, entries in arguments.items() if key not in {i.name for i in inputs}}
        with context.tracing({model.tree.digest: values}) as trace:
            results = evaluate(own, options)
        if model.tree.digest not in trace.asked:
            raise ArgumentError(
                f"{name} uses no function of {model.name!r}, whose numbers are to be its inputs; a robot made of it "
                "(with_friction, attach, …) is another one: compile for that one"
            )
        return results

    return substituted if inputs else evaluate


def with_inputs(
    spec: FunctionSpec, model: Model, inputs: Sequence[ModelInput], name: str | None = None
) -> FunctionSpec:
    """Return the spec with these inputs after its required ones; options and optional inputs are as before."""
    name = name or spec.name
    extra = tuple(i.port(model) for i in inputs)
    check_names(name, [port.name for port in (*spec.inputs, *extra)])

    def variant(optional: tuple[str, ...], options: tuple[tuple[str, Value], ...]) -> FunctionSpec:
        own = with_inputs(spec.of(optional, options), model, inputs, name)
        return traced(replace(own, inputs=tuple(own.shaped(p) for p in made.ports(optional)), program=None))

    substituted = substituting(spec.evaluate, model, inputs, name)

    def evaluate(arguments: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        results = substituted(arguments, options)
        if not options:  # with others there may be an effect
            _check_effect(results, {i: arguments[i.name] for i in inputs}, name)
        return results

    def page(arguments: Arguments, options: Mapping[str, Any], wrt: Sequence[str]) -> Mapping[tuple[str, str], Any]:
        own = spec.jacobians[1] if spec.jacobians else None
        assert own is not None  # there is no page without that of the function
        return substituting(lambda given, chosen: own(given, chosen, wrt), model, inputs, name)(arguments, options)  # type: ignore[no-any-return]

    made = replace(
        spec,
        name=name,
        jacobians=spec.jacobians and (spec.jacobians[0], page),
        inputs=(*spec.required, *extra, *spec.inputs[len(spec.required) :]),
        called=spec.called and with_required(spec.called, [port.name for port in extra]),
        variant=spec.variant and functools.cache(variant),
        evaluate=evaluate,
        describe=lambda port: describe_shape(port) if port in extra else spec.describe(port),
        meanings={**spec.meanings, **meanings(inputs)},
        spaces=spec.spaces and {**spec.spaces, **placement_spaces(inputs)},
        identity=lambda: extended(spec.identity(), repr((spec.name, model.digest, tuple(inputs)))),
        reduce=spec.reduce and (lambda: (_rebuild_with_inputs, (spec.reduce(), model, tuple(inputs), name))),  # type: ignore[misc]
        program=None,
    )
    return made if spec.program is None else traced(made)


def _check_effect(results: Any, given: Mapping[ModelInput, Sequence[Any]], name: str) -> None:
    """Raise where no result depends on what is given in place of a number of the model."""
    from kinetree.tracing.expr import Expr
    from kinetree.tracing.tracer import flatten

    found = [x for x in flatten(results) if isinstance(x, Expr)]
    graph = found[0].graph if found else None
    used = set(graph.live(x.id for x in found)) if graph else set()

    def is_idle(x: Any) -> bool:
        return isinstance(x, Expr) and x.graph is graph and graph[x.id].op == "input" and x.id not in used

    for i, entries in given.items():
        if entries and all(map(is_idle, flatten(entries))):
            raise ArgumentError(f"{name} does not depend on {i.name}: leave it out of inputs=")


def traced(spec: FunctionSpec) -> FunctionSpec:
    """Return the spec with its program."""
    with context.outside():
        return spec.with_program(spec.trace(Variant((), (), "float64")))


def extended(identity: bytes | None, more: str) -> bytes | None:
    """Return the identity of a function that depends on more; None where it is not known."""
    return None if identity is None else identity + more.encode()


def check_inputs(model: Model, inputs: Iterable[ModelInput]) -> None:
    """Raise where the model has no such numbers, or two inputs would each be all inertia of one body."""
    replaced: dict[int, str] = {}
    moved: dict[str, str] = {}
    for given in inputs:
        if given.kind == "placement":
            model.body_of_joint(given.frame)
            if (first := moved.setdefault(given.frame, given.name)) != given.name:
                raise ArgumentError(f"{first} and {given.name} are the placement of one joint: give it once")
            continue
        if given.frame and model.frame(given.frame).body == WORLD:
            raise ArgumentError(f"{given.name}: {given.frame!r} does not move, its inertia makes no difference")
        if given.kind == "inertia":
            first = replaced.setdefault(model.frame(given.frame).body, given.name)
            if first != given.name:
                raise ArgumentError(f"{first} and {given.name} are the inertia of one body: give it once")


def _rebuild_with_inputs(made_by: tuple[Any, ...], model: Model, inputs: Sequence[ModelInput], name: str) -> Function:
    """Return a function with further inputs, from a pickle."""
    make, arguments = made_by
    return Function(with_inputs(make(*arguments).spec, model, inputs, name))
