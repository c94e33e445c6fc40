"""The choices of a simulation, each checked and as a value: states, law, physics of the joints, forces, memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.wrenches import named_wrenches
from kinetree.integrators import INTEGRATORS, Integrator
from kinetree.model import Model
from kinetree.model.body import JointFriction
from kinetree.motions.states import End
from kinetree.motions.trajectory import Trajectory
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.simulation.constrained import check_range, of_rows
from kinetree.simulation.controllers import Controller, callback_of, controller_of
from kinetree.simulation.inputs import Given, check_finite, fits, flattened, named_forces, names
from kinetree.simulation.times import count
from kinetree.validation import Array, positive, real_array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

SIZES = {"q": "nq", "v": "nv", "a": "nv", "tau": "nv", "f": "nrows"}
"""What can be kept, and of which length it is; the last one is a mechanism's."""

OF_CONSTRAINTS = ("active", "restitution", "friction", "slots", "drift")
"""What is given for the constraints of a mechanism."""

JOINTS = ("stops", "effort", "friction")
"""What a file says of joints that a simulation may leave out."""


class Start(NamedTuple):
    """States to begin with, n to a row, their leading axes, and where the trajectory ended that is gone on from."""

    q: Array
    v: Array
    lead: tuple[int, ...]
    before: End | None


def start(robot: Robot | Mechanism, q: Any, v: Any) -> Start:
    """Return the states to begin with."""
    before = None
    if isinstance(q, Trajectory):
        if v is not None:
            raise ArgumentError("v is not taken where the simulation goes on from a trajectory, which has it")
        before = ended(q)
        q, v = before.q, before.v
    tree = robot if isinstance(robot, Robot) else robot.tree
    q = real_array("q", tree.configuration(q) if isinstance(q, str) else q, robot.nq)
    v = np.zeros(robot.nv) if v is None else real_array("v", v, robot.nv)
    try:
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    except ValueError:
        raise ArgumentError(f"the leading axes of q {q.shape} and v {v.shape} do not fit together") from None
    for name, array in (("q", q), ("v", v)):
        check_finite(name, array, ": the motion begins there")
    if not math.prod(lead):
        raise ArgumentError(f"q and v have the leading axes {lead}: there is no robot to simulate")
    found = Start(flattened(q, lead, 1, False).copy(), flattened(v, lead, 1, False).copy(), lead, before)
    check_configurations(robot.model, found.q)
    return found


def check_configurations(model: Model, q: Array) -> None:
    """Raise where coordinates (n, nq) stand for no configuration, as those of a quaternion of zeros do."""
    for body in model.leading:
        if len(body.q_index) > len(body.v_index):
            own = q[:, body.q_index]
            with np.errstate(all="ignore"):
                reached = np.asarray(body.joint.integrate([*own.T], [0.0] * len(body.v_index)))
            if not np.isfinite(reached).all():
                wrong = own[~np.isfinite(reached).all(axis=0)][0]
                raise ArgumentError(
                    f"q: {wrong.tolist()} are no coordinates of {body.joint_name!r}; a quaternion need not be "
                    "normalised, but not be zero either: no rotation is (0, 0, 0, 1)"
                )


def ended(motion: Trajectory) -> End:
    """Return where a trajectory ended: a part of one, or one from a file, has its states only."""
    if motion.end is not None:
        return motion.end
    last = motion.final
    return End(last.t, last.q, last.v, {}, np.empty(0), "")


class Law(NamedTuple):
    """The controller, compiled or a function in Python, and of how many steps its period is, if it has one."""

    compiled: Controller | None
    callback: Callable[..., Any] | None
    period: int | None

    @property
    def is_sampled(self) -> bool:
        """Whether its joint forces are held between calls."""
        return self.callback is not None or (self.compiled is not None and self.period is not None)


def law(model: Model, controller: object, control_every: int | None) -> Law:
    """Return the controller that is meant, if there is one."""
    compiled, callback = None, None
    if isinstance(controller, Function):
        compiled = controller_of(model, controller)
    elif callable(controller):
        callback = callback_of(controller)
    elif controller is not None:
        raise ArgumentError(f"controller takes a compiled function or a function of (q, v, t), not {controller!r}")
    period = None if control_every is None else count("control_every", control_every)
    if period is not None and controller is None:
        raise ArgumentError("control_every is for a controller; there is none")
    if compiled is not None and compiled.state:
        period = period or 1
    return Law(compiled, callback, period)


def physics(model: Model, joints: object, inputs: Iterable[Any]) -> tuple[str, JointFriction]:
    """Return which limits count (see `System.limits`), and which friction: the robot's own choice, if it has made one.

    Friction of which the figures are given counts whatever is chosen.
    """
    parts = joints.replace(",", " ").split() if isinstance(joints, str) else joints
    parts = list(parts) if isinstance(parts, Iterable) else [None]
    if None in parts or (len(parts) > 1 and ("all" in parts or "none" in parts)):
        raise ArgumentError(f"joints is {joints!r}; it takes names out of {', '.join(JOINTS)}, or 'all' or 'none'")
    chosen = set(JOINTS) if parts == ["all"] else set() if parts == ["none"] else set(parts)
    for name in chosen:
        if name not in JOINTS:
            raise ArgumentError(f"joints: {unknown_name('part of their physics', name, (*JOINTS, 'all', 'none'))}")
    limits = {(True, True): "all", (True, False): "position", (False, True): "effort", (False, False): "none"}
    friction = model.friction
    if "friction" in chosen and not (friction.damping or friction.coulomb):
        friction = JointFriction(True, True, friction.smoothing)
    kinds = {i.kind for i in inputs}
    has_damping = "damping" in kinds or any(any(body.damping) for body in model.bodies)
    has_coulomb = "friction" in kinds or any(any(body.friction) for body in model.bodies)
    friction = JointFriction(friction.damping and has_damping, friction.coulomb and has_coulomb, friction.smoothing)
    return limits["stops" in chosen, "effort" in chosen], friction


def usual_integrator(friction: JointFriction, inputs: Iterable[Any]) -> str:
    """Return the integrator to use: where friction counts it may be stiff, and is taken at the end of a step."""
    given = any(i.kind in ("damping", "friction") for i in inputs)
    return "implicit_euler" if given or friction.damping or friction.coulomb else "semi_implicit_euler"


def forces(
    robot: Robot | Mechanism,
    tau: Any,
    f_ext: Any,
    f_ext_frame: str,
    of_constraints: Mapping[str, Any],
    lead: tuple[int, ...],
    linear: bool,
) -> Given:
    """Return what acts on the robot, and what is given for its constraints."""
    tau, f_ext = (unnamed(robot, name, x, f_ext_frame) for name, x in (("tau", tau), ("f_ext", f_ext)))
    found = Given({}, {})
    values = {"tau": (np.zeros(robot.nv) if tau is None else tau, (robot.nv,)), "f_ext": (f_ext, (robot.nb, 6))}
    for name, value in of_constraints.items():
        if isinstance(robot, Robot):
            raise ArgumentError(f"{name} is for the constraints of a mechanism; a robot has none")
        values[name] = of_rows(robot.model, name, value)
    for name, (value, shape) in values.items():
        if value is not None:
            found.arrays[name] = array = over_steps(name, value, shape, lead)
            check_range(name, array)
            if array.ndim == 3:
                found.counts[name] = array.shape[1] - (linear and name in ("tau", "f_ext"))
    return found


def unnamed(robot: Robot | Mechanism, name: str, value: Any, f_ext_frame: str) -> Any:
    """Return joint forces or wrenches as an array where they are given by the names of joints or frames."""
    if not isinstance(value, Mapping):
        return value
    if name == "tau":
        return named_forces(robot if isinstance(robot, Robot) else robot.tree, value)
    return named_wrenches(robot.model, "simulate")(value, {"f_ext_frame": f_ext_frame})


def over_steps(name: str, value: Any, shape: tuple[int, ...], lead: tuple[int, ...]) -> Array:
    """Return what is given for each state, with an axis of steps after the states' axes if it has one more."""
    array = real_array(name, value, *shape)
    check_finite(name, array)
    axes, most = array.ndim - len(shape), len(lead)
    changes = axes == most + 1
    if not fits(array.shape[: axes - changes], lead):
        hint = f"; the same over time for all is {(*(1,) * most, 'steps', *shape)}" if most else ""
        raise ArgumentError(
            f"{name} has shape {array.shape}; q and v have the leading axes {lead}, so it takes "
            f"{(*lead, *shape)}, or over time {(*lead, 'steps', *shape)}{hint}"
        )
    return flattened(array, lead, len(shape), changes)


def settings(integrator: Integrator, given: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of the integrator by name, its own where none are given."""
    known = dict(integrator.settings)
    for name, value in given.items():
        if value is not None and name not in known:
            able = [k for k, i in sorted(INTEGRATORS.items()) if name in dict(i.settings)]
            who = f"the integrator {integrator.name!r} has none"
            raise ArgumentError(f"{name} is for {', '.join(able) or 'contacts that are solved'}; {who}")
    return {name: usual if given.get(name) is None else positive(name, given[name]) for name, usual in known.items()}


def kept(
    model: Model, integrator: Integrator, steps: int, record: str | Sequence[str], every: Any, out: Any
) -> tuple[dict[str, int], int, dict[str, Any]]:
    """Return what is to be kept and the length of each, every how many steps, and the caller's memory for it."""
    wanted = names("record", record.replace(",", " ").split() if isinstance(record, str) else record)
    sizes = {name: n for name, size in SIZES.items() if (n := getattr(model, size, None)) is not None}
    for name in wanted:
        if name not in sizes:
            raise ArgumentError(f"record: {unknown_name('quantity', name, sizes)}")
        if name == "a" and integrator.impulses:
            raise ArgumentError("record: where contacts are solved velocities jump, and there is no a to record")
    every = count("record_every", every)
    if every > steps:
        raise ArgumentError(f"record_every is {every}, and there are {steps} steps: none of them would be kept")
    if not (out is None or isinstance(out, Mapping)):
        raise ArgumentError(f"out takes a dict of arrays by {', '.join(sizes)}; {type(out).__name__} was given")
    given = dict(out or {})
    for name in given:
        if name not in sizes:
            raise ArgumentError(f"out: {unknown_name('quantity', str(name), sizes)}")
    arrays = list(given.values())
    if any(np.shares_memory(x, y) for k, x in enumerate(arrays) for y in arrays[:k]):
        raise ArgumentError("out: two of the arrays share memory, so one result would overwrite the other")
    return {name: n for name, n in sizes.items() if name in wanted or name in ("q", "v") or name in given}, every, given


def memory(name: str, array: Any, shape: tuple[int, ...]) -> Array:
    """Return an array that takes a result: that of the caller's, if there is one."""
    if array is None:
        try:
            return np.empty(shape)
        except (MemoryError, ValueError):
            size = 8 * math.prod(shape)
            raise ArgumentError(
                f"{name} would be kept as an array of shape {shape}, of {size} bytes: there is no room for it; "
                "a larger record_every keeps less"
            ) from None
    right = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
    if not right or not array.flags.c_contiguous or not array.flags.writeable:
        shown = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else repr(type(array))
        raise ArgumentError(f"out[{name!r}] is {shown}; a contiguous, writeable float64 array {shape} is needed")
    result: Array = array
    return result


def choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Return one of several strings; `ArgumentError` for anything else."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name} is {value!r}; choose from {', '.join(choices)}")
    return str(value)
