"""Calls of public functions, and the same with one argument that is odd: a batch, NaN, a wrong name."""

import math
import re
import tempfile
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

import kinetree as kt
from helpers.mechanisms import four_bar
from helpers.shown import summary
from kinetree.conventions.joint_state import State
from kinetree.identification import PayloadTracker, Samples, diagnose, prepare, read_log, with_known_load
from kinetree.inverse_kinematics import FrameTarget, LookAt
from kinetree.motions import minimum_time, quintic, trapezoid


def calls(robot, log):
    """Return functions, and arguments with which each can be called, of an arm with three joints and its log."""
    names, n = robot.joint_names, robot.nv
    q, v, pose = np.array([0.1, 0.2, 0.3]), np.array([0.3, -0.2, 0.1]), np.eye(4) + 0.1 * np.eye(4, k=3)
    (mech, closed), t = four_bar(), np.linspace(0.0, 1.0, 5)
    series, ball = kt.Series(period=4.0, harmonics=2, rate=50.0), kt.Mechanism(robot, [kt.Contact("b2", radius=0.5)])
    way = {"t": t, "q": np.outer(t, q), "v": np.ones((5, 1)) * q}
    motion = kt.Trajectory(robot, **way)
    fit = robot.identify(log, ["damping"])
    hold = robot.compile(lambda q, v, gain, push: push - gain * v, shapes={"gain": (), "push": ()}, name="hold")
    passes = robot.compile(lambda q: q[0] - 0.1005, name="passes")
    slot = kt.Mechanism(robot, [kt.ContactSlot("hit", "b2")])
    happened = {"event_times": [0.1], "event_names": ["low"], "event_robots": np.zeros((1, 0)), "event_q": [q]}
    happened |= {"event_v": [v], "count_names": ["low", "high"], "counts": np.zeros(2), "stopped_at": 0.75}
    happened |= {"input_names": ["load"], "input_kinds": ["payload"], "input_frames": ["b1"]}
    limits = {"lower": -0.7, "upper": [0.5, 0.6, 0.7], "velocity": {names[0]: 2.0}, "effort": 50.0}
    physics = {"armature": 0.1, "damping": [0.1, 0.2, 0.3], "friction": {names[0]: 0.5}, "stiffness": 2.0}
    physics |= {"rest_position": [0.1, 0.2, 0.3], "rotor_inertia": 1e-3, "gear_ratio": [50.0, -20.0, 10.0]}
    steps = {"max_iterations": 20, "restarts": 1, "seed": 3, "position_tolerance": 1e-7, "orientation_tolerance": 1e-6}
    reached = robot.frame_placement(q, frame="b2")
    return {
        "with_limits": (robot.with_limits, limits),
        "with_joint_physics": (robot.with_joint_physics, physics),
        "with_friction": (robot.with_friction, {"damping": True, "coulomb": False, "smoothing": 0.1}),
        "with_gravity": (robot.with_gravity, {"gravity": [0.0, 1.0, -9.0]}),
        "with_base_pose": (robot.with_base_pose, {"pose": pose}),
        "with_frame": (robot.with_frame, {"name": "tip", "on": "b1", "placement": pose}),
        "with_inertia": (robot.with_inertia, {"link": "b1", "inertia": robot.model.bodies[0].inertia}),
        "with_inertial_parameters": (robot.with_inertial_parameters, {"parameters": robot.inertial_parameters}),
        "attach": (robot.attach, {"what": robot, "frame": "b2", "placement": pose, "prefix": "other_"}),
        "lock": (robot.lock, {"joints": names[:1], "q": q}),
        "with_configuration": (
            lambda **x: robot.with_configuration(**x).configuration("home"),
            {"name": "home", "q": q},
        ),
        "random_configuration": (lambda size: robot.random_configuration(3, size), {"size": 2}),
        "interpolate": (robot.interpolate, {"q0": q, "q1": v, "s": 0.25}),
        "Mechanism": (
            lambda **x: kt.Mechanism(mech.tree, mech.constraints, **x),
            {"actuated": mech.actuated, "independent": mech.independent, "stabilization": 2.0},
        ),
        "mobility": (lambda **x: freedom(mech.mobility(**x)), {"q": closed, "active": [1.0], "tolerance": 1e-6}),
        "complete_positions": (mech.complete_positions, {"q": closed[None]}),
        "Trajectory": (
            lambda **x: kt.Trajectory(robot, **x),
            {**way, "tau": way["v"], "stopped_at": 0.75, "reasons": "hit", "counts": {"steps": 4}},
        ),
        "load of an archive": (
            partial(in_an_archive, lambda path: kt.Trajectory.load(path, robot)),
            {**way, **happened, "inputs": np.ones((1, 10)), "q_names": names},
        ),
        "read_log": (
            partial(in_an_archive, lambda path: read_log(path, robot).q),
            {**way, "tau": way["v"], "q_names": names, "note": "by hand"},
        ),
        "at": (motion.at, {"t": [0.1, 0.3]}),
        "quintic": (lambda **x: quintic(robot, **x)([0.1, 0.2]), {"q0": q, "q1": v, "duration": 2.0}),
        "trapezoid": (
            lambda **x: trapezoid(robot, **x)([0.1, 0.2]),
            {"q0": q, "q1": v, "velocity": 1.0, "acceleration": [2.0, 2.0, 2.0]},
        ),
        "minimum_time": (
            lambda **x: minimum_time(robot, **x)([0.1, 0.2]),
            {"q0": q, "q1": v, "velocity": 1.0, "acceleration": 3.0},
        ),
        "inverse_kinematics": (
            lambda **x: robot.inverse_kinematics(**x)[:2],
            {"target": reached, "frame": "b2", "q0": q + 0.1, "fixed": (), "dt": None, **steps},
        ),
        "position": (
            lambda **x: robot.inverse_kinematics(**x)[:2],
            {"target": reached[:3, 3], "frame": "b2", "q0": q + 0.1, "dt": 0.01},
        ),
        "FrameTarget": (
            lambda **x: robot.inverse_kinematics({"b2": FrameTarget(**x)}, q0=q + 0.1)[:2],
            {"pose": reached, "position": [1.0, 0.5, 1.0], "orientation": 0.0},
        ),
        "LookAt": (
            lambda **x: robot.inverse_kinematics({"b2": LookAt(**x)}, q0=q + 0.1)[:2],
            {"point": [1.0, 2.0, 3.0], "axis": [0.0, 0.0, 1.0], "weight": 1.0},
        ),
        "to_joint_state": (lambda **x: kt.conventions.to_joint_state(robot, **x), {"q": q, "v": v, "tau": v}),
        "from_joint_state": (
            lambda **x: kt.conventions.from_joint_state(robot, start=State(q, v, v), **x),
            {"name": names[:2], "position": q[:2], "velocity": v[:2], "effort": v[:2]},
        ),
        "MotionLimits": (
            lambda start, **x: (
                robot.excite(
                    ["damping"], limits=kt.MotionLimits(**x), start=start, series=series, noise=n * [0.1], iterations=0
                ).std
            ),
            {
                "fraction": 0.8,
                "acceleration": {name: 9.0 for name in names},
                "boxes": {"b2": [[-9, -9, -9.0], [9, 9, 9]]},
                "start": q,
            },
        ),
        "excite": (
            lambda **x: robot.excite(series=series, iterations=0, **x).std,
            {
                "terms": ["damping"],
                "limits": kt.MotionLimits(acceleration=9.0),
                "joints": names[:2],
                "noise": {name: 0.1 for name in names[:2]},
                "criterion": "condition",
                "tolerance": 1e-3,
            },
        ),
        "prepare": (
            lambda cutoff, **x: prepare(robot, filter=kt.Filter(cutoff=cutoff), check=False, **x)[:4],
            {"t": log.t, "q": log.q, "tau": log.tau, "f_ext": np.zeros((len(log.t), robot.nb, 6)), "cutoff": 5.0},
        ),
        "base_parameters": (
            lambda **x: robot.base_parameters(**x).names,
            {"terms": ["damping", "friction"], "gravity": "known", "smoothing": 0.1, "tolerance": 1e-6},
        ),
        "identify": (
            lambda **x: robot.identify(log, check=False, **x).values,
            {
                "terms": ["damping"],
                "known": {"damping of j0": 0.4},
                "motor_constants": [names[0]],
                "tolerance": 1e-6,
                "by": kt.LeastSquares(),
                "bodies": kt.Bodies(),
                "filter": None,
            },
        ),
        "Samples": (
            lambda **x: robot.identify(Samples(**x), ["damping"], check=False).count,
            {"q": log.q, "v": log.v, "a": log.a, "tau": log.tau, "f_ext": np.zeros((len(log.q), robot.nb, 6))},
        ),
        "Bodies": (
            lambda **x: robot.identify(log, ["damping"], bodies=kt.Bodies(**x), check=False).robot.mass,
            {"spread": 0.5, "bounds": {"b2": np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 0.5]])}},
        ),
        "stribeck_speed": (
            lambda **x: robot.identify(log, ["stribeck"], check=False, **x).values,
            {"stribeck_speed": [0.1, 0.2, 0.3]},
        ),
        "with_known_load": (
            lambda **x: with_known_load(robot, log, **x).load,
            {"frame": "b2", "inertia": robot.model.bodies[0].inertia},
        ),
        "identify_payload": (lambda **x: robot.identify_payload(log, **x).inertia.m, {"frame": "b2"}),
        "validate": (lambda **x: fit.validate(log, **x).rms, {"consistent": True, "lags": 5}),
        "predict": (fit.predict, {"q": q, "v": v, "a": v, "consistent": True}),
        "simulate": (
            lambda **x: robot.simulate(steps=4, **x),
            {
                "q": q,
                "v": v,
                "dt": 0.001,
                "joints": "all",
                "record": ["q", "v", "tau"],
                "integrator": "rk4",
                "controller": hold,
                "inputs": {"gain": 2.0, "push": 1.0},
                "progress": None,
            },
        ),
        "steps": (lambda **x: robot.simulate(q, v, **x), {"steps": 10, "duration": 0.01}),
        "over time": (lambda **x: robot.simulate(q, v, **x), {"forces": np.ones((4, n))}),
        "State": (lambda **x: robot.simulate(kt.State(**x), steps=4), {"t": 0.5, "q": q, "v": v}),
        "Controller": (
            lambda **x: robot.simulate(q, v, steps=4, controller=kt.Controller(**x)),
            {"law": hold, "every": 2, "inputs": {"gain": 2.0}, "over_time": {"push": np.ones(4)}},
        ),
        "Event": (
            lambda **x: [*robot.simulate(q, v, steps=4, events=[kt.Event(**x)]).counts.items()],
            {"condition": passes, "direction": 1, "most": 2, "name": "passes", "stop": False},
        ),
        "integrator": (
            lambda step, name, order: kt.integrator(name, order=order)(step).order,
            {"name": "own", "order": 2, "step": lambda system, t, q, v, dt: (q, v)},
        ),
        "slots": (
            lambda **x: slot.slots({"hit": (*x.values(),)}),
            {"point": [0.1, 0.2, 0.3], "normal": [0.0, 0.0, 2.0], "gap": 0.1},
        ),
        "Forces": (
            lambda **x: robot.simulate(q, v, steps=4, forces=kt.Forces(**x)),
            {"tau": np.ones((5, n)), "f_ext": np.zeros((robot.nb, 6)), "frame": "world", "interpolation": "linear"},
        ),
        "from_dh": (
            lambda **x: kt.from_dh(2 * [kt.DHLink(a=0.5, d=0.1, alpha=0.2)], **x),
            {"convention": "modified", "joint_names": ["a", "b"], "tool_pose": pose, "base_pose": pose},
        ),
        "from_screws": (
            kt.from_screws,
            {
                "M": np.stack([pose] * 2),
                "G": np.stack([np.eye(6)] * 2),
                "screws": np.eye(6)[:, 2:4],
                "frame": "body",
                "armature": 0.1,
                "damping": [0.1, 0.2],
                "friction": 0.3,
            },
        ),
        "load": (
            lambda **x: kt.load("ur5", **x),
            {
                "floating_base": False,
                "base_pose": pose,
                "gravity": [0.0, 1.0, -9.0],
                "mimic": "follow",
                "lenient": False,
            },
        ),
        "Inertia": (kt.Inertia.from_com, {"mass": 2.0, "com": [0.1, 0.2, 0.3], "inertia": np.diag([0.3, 0.2, 0.25])}),
        "box_contacts": (kt.box_contacts, {"frame": "b2", "size": [0.1, 0.2, 0.3], "name": "box", "friction": 0.5}),
        "capsule_contacts": (
            kt.capsule_contacts,
            {"frame": "b2", "length": 0.3, "radius": 0.1, "axis": [0.0, 1.0, 0.0], "name": "end", "restitution": 0.5},
        ),
        "ContactInputs": (
            lambda dt, **x: ball.contact_step(q, v, v, dt, contacts=kt.ContactInputs(**x)),
            {"active": [1.0], "friction": [0.5], "restitution": [0.5], "stick": False, "dt": 0.01},
        ),
        "contact_inverse_dynamics": (
            lambda **x: ball.contact_inverse_dynamics(q, v, v, **x)[:2],
            {"force_weights": [1.0, 2.0, 3.0], "torque_weight": 0.5, "f_min": [0.0], "tau_max": 90.0 * np.ones(n)},
        ),
        "plot_motion": (lambda **x: len(motion.plot_motion(**x).axes), {"times": [0.1, 0.5], "projection": "top"}),
        "compile": (
            lambda **x: robot.compile(lambda q, s: s * q, **x)(q, 2.0),
            {"shapes": {"s": ()}, "name": "scaled", "fuse": False, "inputs": ()},
        ),
        "diagnose": (
            lambda **x: [one.message for one in diagnose(robot, log, **x)],
            {"terms": ["damping"], "currents": names[:1]},
        ),
        "PayloadTracker": (
            lambda **x: tracked(PayloadTracker(robot, **x)),
            {"frame": "b2", "noise": 0.5, "forgetting": 0.99, "mass": 5.0, "size": 0.2},
        ),
        "solve_contacts": (
            kt.solve_contacts,
            {
                "G": np.eye(3) + 0.1,
                "g": [0.1, 0.2, -1.0],
                "friction": [0.5],
                "compliance": np.full(3, 0.01),
                "start": np.ones(3),
            },
        ),
    }


def in_an_archive(read, **arrays):
    """Return what is read from an NPZ archive of these arrays, of whose place errors say nothing."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.npz"
        np.savez(path, **arrays)
        try:
            return read(path)
        except kt.FormatError as error:
            raise kt.FormatError(str(error).replace(folder, "")) from None


def freedom(found):
    """Return what a mechanism's mobility is, without numbers that are rounding."""
    parts = (found.mobility, found.rank, found.redundant, found.dependent, found.independent, found.immobile)
    return " ".join(map(str, parts))


def tracked(tracker):
    """Return what is held, by one sample."""
    n = tracker.robot.nv
    tracker.update(*np.full((4, n), 0.3))
    return tracker.values


def odd(value):
    """Yield what may stand in the place of an argument by mistake, and what is at the edge of what is right."""
    yield from (("None", None), ("'x'", "x"), ("True", True), ("{}", {}))
    match value:
        case str():
            yield from (("in a list", [value]), ("''", ""), ("1", 1))
        case bool():
            yield from (("not", not value), ("1", 1))
        case int() | float():
            yield from ((repr(x), x) for x in (-1, 0, 1, 0.5, 1e-9, 1e9, math.nan, math.inf, -math.inf))
            yield from (("twice", [value, value]), ("float32", np.float32(value)))
        case Mapping():
            name, x = next(iter(value.items()))
            yield from (("alone", {name: x}), ("unknown name", value | {"nobody": x}), ("a number", {1: x}))
            yield from ((f"{name!r}: {text}", value | {name: other}) for text, other in odd(x))
        case [str(first), *_]:
            yield from (("the first", [first]), ("bare", first), ("twice", [first, first]), ("()", ()), ("1", [1]))
            yield from (("unknown", [*value, "nobody"]), ("other", [*value[:-1], "nobody"]))
        case list() | tuple() | np.ndarray() if np.size(value):
            x = np.array(value, dtype=float)
            yield from (
                ("zero", 0.0 * x),
                ("negative", -x),
                ("short", x[:-1]),
                ("two", np.stack([x, x])),
                ("empty", x[:0]),
            )
            yield from (("flat", x.ravel()), ("one", x.flat[0]), ("text", [["x"]]), ("float32", np.float32(x)))
            for number in (math.nan, math.inf, -1.0, 1e9):
                yield f"with {number}", np.append(x.ravel()[:-1], number).reshape(x.shape)


class Text(str):
    """Text that stands for itself."""

    __slots__ = ()
    __repr__ = str.__str__


def outcome(function, given, usual=""):
    """Return what a call returns, unless that is as usual, and the warnings of ours that it gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        parts = told(function(**given)).split(" ; ")
    parts += [str(x.message) for x in seen if x.category.__module__.startswith("kinetree")]
    return Text(" ; ".join(x for x in parts if x not in usual.split(" ; ")) or "as usual")


def told(result):
    """Return what a result is, in numbers with six digits."""
    if isinstance(result, kt.Mechanism):
        return " ; ".join([told(result.tree), *map(repr, result.constraints), " ".join(result.actuated)])
    if isinstance(result, kt.Robot):
        model, physics = result.model, (result.armature, result.damping, result.friction)
        arrays = {
            "lower": (result.lower_limits,),
            "upper": (result.upper_limits,),
            "limits": (result.velocity_limits, result.effort_limits),
            "physics": (*physics, result.stiffness, result.rest_positions),
            "inertias": (result.inertial_parameters,),
            "bodies": [body.X_T.placement for body in model.bodies],
            "frames": [frame.X.placement for frame in model.frames],
        }
        flat = {
            name: np.clip(np.concatenate([np.ravel(x) for x in found]), -1e12, 1e12) for name, found in arrays.items()
        }
        numbers = [f"{name} {summary(x)}" for name, x in flat.items()]
        joints = " ".join(f"{body.joint_name} {re.sub('[(),=]', ' ', repr(body.joint))}" for body in model.bodies)
        return " ; ".join([" ".join(result.frame_names), joints, *numbers, str(result.gravity)])
    if isinstance(result, kt.Trajectory):
        return f"{len(result)} {' '.join(result.recorded)} {told(tuple(result.final))} stops {told(result.stopped_at)}"
    if isinstance(result, tuple) and result and not isinstance(result[0], str):
        return " | ".join(map(told, result))
    if isinstance(result, np.ndarray | np.generic | float) and np.asarray(result).dtype.kind in "fiub":
        return f"{np.asarray(result).dtype} {np.shape(result)} {summary(np.asarray(result))}"
    return str(result)
