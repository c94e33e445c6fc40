"""What is wrong in a call of `robot.simulate` is said before anything moves."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.pendulum import pendulum
from kinetree.errors import ArgumentError, KinetreeError
from kinetree.integrators import FunctionIntegrator

ROBOT = pendulum()
TWO = np.zeros((3, 2))


@ROBOT.compile
def hold(q, v, kp: float):
    return -kp * q - v


def compiled(function, **shapes):
    return ROBOT.compile(function, shapes=shapes)


WRONG: list[tuple[dict[str, Any], str]] = [
    # states
    ({"q": [1.0, 2.0, 3.0]}, r"q has shape \(3,\), \(\.\.\., 2\) is needed"),
    ({"q": "home"}, "no configuration 'home'"),
    ({"q": [np.nan, 0.0]}, r"q holds a number that is not finite \(NaN or inf\), at \[0\]"),
    ({"q": None}, "q has dtype object"),
    ({"q": np.zeros((0, 2))}, r"leading axes \(0,\): there is no robot to simulate"),
    ({"q": TWO, "v": np.zeros((2, 2))}, r"the leading axes of q \(3, 2\) and v \(2, 2\) do not fit"),
    ({"v": [0.0, np.inf]}, r"v holds a number that is not finite \(NaN or inf\), at \[1\]"),
    # times
    ({"dt": 0.0}, "dt is 0.0, it must be a positive number"),
    ({"dt": -1e-3}, "dt is -0.001"),
    ({"dt": np.nan}, "dt is nan"),
    (
        {"q": kt.State(1e17, [0.3, -0.4], [0.0, 0.0]), "duration": None, "steps": 3},
        r"3 steps of dt = 0\.001 s from t0 = 1e\+17 s: floats cannot tell all times apart",
    ),
    ({"duration": None, "steps": 10**30}, "floats cannot tell all times apart"),
    (
        {"duration": None, "steps": 10**14},
        r"q would be kept as an array of shape \(100000000000001, 2\), of 1600000000000016 bytes",
    ),
    ({"joints": 3.0}, "joints takes a list of names, not 3.0"),
    ({"joints": np.array(3.0)}, "joints takes a list of names, not array"),
    ({"joints": ["all", "stops"]}, "it takes names out of stops, effort, friction, or 'all' or 'none'"),
    ({"integrator": np.zeros(2)}, "no integrator"),
    ({"dt": [1e-3, 1e-3]}, "dt is"),
    ({"duration": 0.10005}, r"duration = 0\.10005 s is 100\.05 steps of dt = 0\.001 s: give a whole number"),
    ({"duration": np.inf}, "duration is inf"),
    ({"duration": None}, r"how long\? Give duration= in seconds, steps=, or forces over time"),
    ({"steps": 10}, "numbers of steps must be equal .* duration: 100, steps: 10"),
    ({"duration": None, "steps": 0}, "steps is 0, it must be an integer ≥ 1"),
    ({"duration": None, "steps": 10.0}, "steps is 10.0"),
    ({"q": kt.State(np.nan, [0.3, -0.4], [0.0, 0.0])}, "t0 is nan"),
    ({"q": kt.State(0.0, [0.3, -0.4], [0.0, 0.0]), "v": [0.0, 0.0]}, "goes on from a State, which has it"),
    # forces
    ({"forces": [1.0]}, r"tau has shape \(1,\), \(\.\.\., 2\)"),
    ({"forces": [np.nan, 1.0]}, "tau holds a number that is not finite"),
    ({"forces": np.zeros((50, 2))}, "tau: 50, duration: 100"),
    ({"forces": kt.Forces(np.zeros((100, 2)), interpolation="linear")}, "tau: 99, duration: 100"),
    ({"forces": np.zeros((3, 100, 2))}, r"takes \(2,\), or over time \('steps', 2\)"),
    ({"q": TWO, "forces": np.zeros((100, 2))}, r"the same over time for all is \(1, 'steps', 2\)"),
    ({"forces": {"lower": 1.0}}, "no joint 'lower', did you mean 'lower_joint'"),
    (
        {"forces": {"upper_joint": np.zeros(2), "lower_joint": np.zeros(3)}},
        r"do not fit together: upper_joint: \(2,\), lower_joint",
    ),
    ({"q": {"upper_joint": 1.0}}, "q is a dict, where one array is needed"),
    ({"forces": kt.Forces(f_ext=np.zeros(6))}, r"f_ext has shape \(6,\)"),
    ({"forces": kt.Forces(f_ext={"low": np.zeros(6)})}, "f_ext: no frame 'low', did you mean 'lower'"),
    # methods
    ({"integrator": "rk45"}, "no integrator 'rk45', did you mean 'rk4'"),
    ({"integrator": "semi_implicit"}, "no integrator 'semi_implicit', did you mean 'semi_implicit_euler'"),
    ({"integrator": 5}, "integrator"),
    ({"joints": "stop"}, "no part of their physics 'stop', did you mean 'stops'"),
    ({"joints": True}, "joints takes a list of names, not True"),
    ({"limits": "all"}, "simulate has no argument 'limits'"),
    # controllers
    ({"controller": "hold"}, "controller takes a compiled function, a function of"),
    ({"controller": hold}, r"the controller has arguments without a value: kp; give inputs=\{'kp'"),
    ({"controller": hold, "inputs": {"k": 1.0}}, "no argument 'k', did you mean 'kp'"),
    ({"controller": hold, "inputs": {"kp": [1.0, 2.0]}}, r"inputs\['kp'\]: 2, duration: 100"),
    ({"controller": hold, "inputs": {"kp": np.nan}}, r"inputs\['kp'\] holds a number that is not finite"),
    ({"controller": hold, "inputs": {"kp": np.ones((2, 2))}}, r"it takes \(\), or over time \('steps',\)"),
    ({"controller": kt.Controller(hold, over_time={"kp": 1.0})}, r"so it takes \('steps',\)"),
    ({"controller": kt.Controller(hold, over_time={"kp": np.ones(9)}), "inputs": {"kp": 1.0}}, "'kp' is given twice"),
    (
        {"controller": kt.Controller(hold, inputs={"kp": 1.0}), "inputs": {"kp": 1.0}},
        "'kp' is given twice: by the controller",
    ),
    ({"controller": hold, "inputs": {"kp": np.ones(9)}}, r"inputs\['kp'\]: 9, duration: 100"),
    ({"controller": kt.Controller(hold, over_time={"kd": np.ones(9)})}, "no argument 'kd'"),
    (
        {"controller": compiled(lambda q: np.ones(3))},
        r"an array of shape \(3,\); this robot takes joint forces of shape \(2,\)",
    ),
    ({"controller": compiled(lambda q: {"u": q, "w": q})}, "one must be named 'tau'"),
    ({"controller": compiled(lambda q: {"tau": q, "w": q})}, "returns 'w', which is not an argument of its own"),
    ({"controller": compiled(lambda q, w: {"tau": q, "w": w[0]}, w=2)}, r"takes w of shape \(2,\) and returns one"),
    ({"controller": compiled(lambda q, t: q * t, t=2)}, r"takes t of shape \(2,\), the simulation gives \(\)"),
    ({"controller": ROBOT.jacobian}, "jacobian has options that must be chosen first"),
    ({"controller": kt.load("panda").gravity_forces}, r"takes q of shape \(7,\), the simulation gives \(2,\)"),
    ({"controller": lambda q, v: q}, r"is called with \(q, v, t\), and this one is not"),
    ({"controller": lambda q, v, t: np.zeros(3)}, r"what it returned has shape \(3,\), \(\.\.\., 2\) is needed"),
    ({"controller": lambda q, v, t: 5.0}, r"what it returned has shape \(\), \(\.\.\., 2\) is needed"),
    ({"controller": lambda q, v, t: [5.0]}, r"what it returned has shape \(1,\), \(\.\.\., 2\) is needed"),
    ({"controller": lambda q, v, t: np.ma.masked_less(q, 1e9)}, "it returned has masked entries"),
    ({"controller": lambda q, v, t: None}, r"it returned has dtype object.*joint forces of shape \(2,\) are needed"),
    ({"controller": lambda q, v, t: "up"}, "it returned has dtype <U2"),
    ({"controller": lambda q, v, t: 1j * q}, "it returned has dtype complex128"),
    ({"controller": lambda q, v, t: [None, None]}, "it returned has dtype object"),
    ({"controller": lambda q, v, t: [[1], [1, 2]]}, "it returned is not an array of numbers"),
    # the robot's numbers
    ({"inputs": [kt.gravity]}, "inputs takes a dict"),
    ({"inputs": {"gravity": [0.0, 0.0, 0.0]}}, r"no argument 'gravity'.*inputs=\{kt\.gravity"),
    ({"inputs": {kt.gravity: [0.0, -9.81]}}, r"inputs\['gravity'\] has shape \(2,\), \(\.\.\., 3\) is needed"),
    ({"inputs": {kt.joint_damping: [1.0]}}, r"inputs\['joint_damping'\] has shape \(1,\), \(\.\.\., 2\) is needed"),
    ({"inputs": {kt.payload("hand"): np.zeros(10)}}, "no frame 'hand'"),
    ({"inputs": {kt.payload("lower", name="q"): np.zeros(10)}}, "'q' is a name of the simulation's own"),
    ({"inputs": {kt.gravity: [0, 0, 0], "gravity": [0, 0, 0]}}, r"different names: \['gravity', 'gravity'\]"),
    # what is kept
    ({"record": "q w"}, "record: no quantity 'w'"),
    ({"record": 5}, "record takes names"),
    ({"record": kt.Record(every=101)}, "every is 101, and there are 100 steps"),
    ({"record": kt.Record(out={"q": np.zeros((101, 2), np.float32)})}, r"out\['q'\] is float32 of shape \(101, 2\)"),
    (
        {"record": kt.Record(out={"q": np.zeros((101, 4))[:, ::2]})},
        "contiguous, writeable float64 array",
    ),
    ({"progress": 5}, "progress takes a function"),
]
WRONG += [
    *(
        ({"q": kt.State(t, [0.3, -0.4], [0.0, 0.0])}, f"t0 is {t!r}, it must be a finite")
        for t in (True, "now", np.inf)
    ),
    *(({"joints": x}, r"joints(?!.*did you mean 'all')") for x in ("all none", ["all", "stops"], None, 3, b"all")),
    ({"integrator": FunctionIntegrator("short", 1, lambda system, t, q, v, dt: (q, v[:1]))}, "1 entries"),
    *(
        (
            {"integrator": FunctionIntegrator("lost", 1, lambda system, t, q, v, dt, f=returned: f(q, v))},
            r"the integrator 'lost' returned no pair \(q, v\) of columns: ",
        )
        for returned in (lambda q, v: q, lambda q, v: None, lambda q, v: (q, v, v), lambda q, v: (q, 1.0))
    ),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_the_error_says_what_was_given_and_what_is_needed(given, message, monkeypatch):
    if not callable(given.get("controller")) or isinstance(given["controller"], type(hold)):
        monkeypatch.setattr("kinetree.simulation.run.Rollout.run", None)  # nothing moves
    call = {"q": [0.3, -0.4], "duration": 0.1, **given}
    with pytest.raises(KinetreeError, match=message):
        ROBOT.simulate(**call)


VALUES: list[tuple[Callable[[], object], str]] = [
    (lambda: kt.Forces(frame="base"), "frame is 'base', it must be 'body' or 'world'"),
    (lambda: kt.Forces(interpolation="cubic"), "interpolation is 'cubic', it must be 'held' or 'linear'"),
    (lambda: kt.Forces(torque=1.0), "Forces has no argument 'torque'"),
    (lambda: kt.Controller("hold"), "controller takes a compiled function, a function of"),
    (lambda: kt.Controller(hold, every=0), "every is 0"),
    (lambda: kt.Controller(hold, inputs=[1.0]), "Controller: inputs takes a dict"),
    (lambda: kt.Controller(hold, over_time=5), "Controller: over_time takes a dict"),
    (lambda: kt.Controller(), "missing 1 required positional argument: 'law'"),
    (lambda: kt.Record(every=0), "every is 0"),
    (lambda: kt.Record("q w"), "record: no quantity 'w'"),
    (lambda: kt.Record(5), "record takes names"),
    (lambda: kt.Record(out=np.zeros((101, 2))), "out takes a dict of arrays"),
    (lambda: kt.Record(out={"tauu": np.zeros((101, 2))}), "out: no quantity 'tauu', did you mean 'tau'"),
    (lambda: kt.Record(out={"q": TWO, "v": TWO}), "two of the arrays share memory"),
    (lambda: kt.Tsitouras(atol=0.0), "atol is 0.0, it must be"),
    (lambda: kt.Tsitouras(rtol=float("nan")), "rtol is nan, it must be"),
]


@pytest.mark.parametrize(("make", "message"), VALUES)
def test_a_value_checks_itself(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tau", ": write forces=kinetree.Forces(tau=…)"),
        ("f_ext", ": write forces=kinetree.Forces(f_ext=…)"),
        ("f_ext_frame", "; here it is 'forces=kt.Forces(frame=…)'"),
        ("interpolation", ": write forces=kinetree.Forces(interpolation=…)"),
        ("control_every", "; here it is 'controller=kt.Controller(law,every=…)'"),
        ("over_time", ": write controller=kinetree.Controller(over_time=…)"),
        ("per_step", "; here it is 'controller=kt.Controller(law,over_time=…)'"),
        ("record_every", "; here it is 'record=kt.Record(every=…)'"),
        ("out", ": write record=kinetree.Record(out=…)"),
        ("rtol", "; here it is 'integrator=kt.Tsitouras(rtol=…)'"),
        ("max_iterations", "; here it is 'contacts=kt.ContactInputs(solver=kt.ContactSolver(max_iterations=…))'"),
        ("tolerance", "; here it is 'contacts=kt.ContactInputs(solver=kt.ContactSolver(tolerance=…))'"),
        ("drift", "; here it is 'contacts=kt.ContactInputs(row_motion=…)'"),
        ("limits", "; here it is 'joints'"),
        ("t0", "; here it is 'q=kt.State(t,q,v)'"),
    ],
)
def test_arguments_that_are_parts_of_a_value(old: str, new: str) -> None:
    for call in (ROBOT.simulate, ROBOT.simulation):
        with pytest.raises(ArgumentError, match=re.escape(f"has no argument '{old}'{new}")):
            call([0.0, 0.0], steps=3, **{old: 1.0})


@pytest.mark.parametrize(
    ("method", "keyword", "here"),
    [
        ("simulate", "timestep", "'dt'"),
        ("simulate", "T", "'duration'"),
        ("simulate", "v_0", "'v'"),
        ("step", "timestep", "'dt'"),
        ("step", "method", "'integrator'"),
        ("inverse_kinematics", "tol", "'position_tolerance' and 'orientation_tolerance'"),
        ("inverse_kinematics", "q_init", "'q0'"),
    ],
)
def test_arguments_of_other_libraries(method, keyword, here):
    """Methods in Python and compiled functions say what they are here; both are TypeErrors or ArgumentErrors."""
    with pytest.raises(
        ArgumentError, match=f"^{method} has no argument '{keyword}'(; here it is|, did you mean) {here}"
    ):
        getattr(ROBOT, method)([0.0, 0.0], [0.0, 0.0], **{keyword: 1.0})
    with pytest.raises(
        TypeError, match=r"^simulate\(\) missing 1 required positional argument: 'q'; its arguments are q,"
    ):
        ROBOT.simulate()


def test_arguments_of_a_trajectorys_methods(tmp_path):
    motion = ROBOT.simulate([0.0, 0.0], steps=2)
    with pytest.raises(ArgumentError, match="save has no argument 'file'; there are: path"):
        motion.save(file="motion.npz")
    with pytest.raises(
        TypeError, match="missing 1 required positional argument: 'robot'; its arguments are path, robot"
    ):
        kt.Trajectory.load("motion.npz")


def test_errors_of_others_stay_as_they_are() -> None:
    def progress(done, total):
        raise TypeError("of my own")

    with pytest.raises(TypeError, match="of my own"):
        ROBOT.simulate([0.0, 0.0], steps=2, progress=progress)
    with pytest.raises(ZeroDivisionError):
        ROBOT.simulate([0.0, 0.0], duration=0.1, controller=lambda q, v, t: 1 / 0)
    with pytest.raises(ArgumentError, match=r"no integrator 'heun'; there are.*are for simulate: robot\.simulate"):
        ROBOT.step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 1e-3, integrator="heun")
    with pytest.raises(ArgumentError):  # it is no part of a function that is being compiled
        ROBOT.compile(lambda q, v: ROBOT.simulate(q, v, steps=2).q[-1])


@pytest.mark.parametrize(
    ("name", "order", "step", "message"),
    [
        ("mine", 1, lambda system, q, v, dt: (q, v), r"'mine': it is called with \(system, t, q, v, dt\): too many"),
        ("mine", 1, 3, "'mine': it is called with .*: 3 is not a callable object"),
        ("mine", "two", None, "takes a name and its order, a whole number from 1 on; not 'mine', 'two'"),
        (print, 2, None, "takes a name and its order"),
    ],
)
def test_what_is_no_integrator(name, order, step, message):
    with pytest.raises(ArgumentError, match=message):
        kt.integrator(name, order=order)(step)


def test_a_start_beyond_a_stop_is_warned_of() -> None:
    robot = kt.load("panda")
    with pytest.warns(kt.LimitWarning, match="begins beyond joint limits.*panda_joint4"):
        robot.simulate(robot.neutral(), steps=1, joints="stops")
