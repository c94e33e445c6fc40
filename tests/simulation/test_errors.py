"""What is wrong in a call of `robot.simulate` is said before anything moves."""

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


WRONG = [
    # states
    ({"q": np.zeros((0, 2))}, r"leading axes \(0,\): there is no robot to simulate"),
    ({"q": TWO, "v": np.zeros((2, 2))}, r"the leading axes of q \(3, 2\) and v \(2, 2\) do not fit"),
    # times
    (
        {"q": kt.State(1e17, [0.3, -0.4], [0.0, 0.0]), "duration": None, "steps": 3},
        r"3 steps of dt = 0\.001 s from t0 = 1e\+17 s: floats cannot tell all times apart",
    ),
    ({"duration": None, "steps": 10**30}, "floats cannot tell all times apart"),
    (
        {"duration": None, "steps": 10**14},
        r"q would be kept as an array of shape \(100000000000001, 2\), of 1600000000000016 bytes",
    ),
    ({"duration": None}, r"how long\? Give duration= in seconds, steps=, or forces over time"),
    ({"q": kt.State(0.0, [0.3, -0.4], [0.0, 0.0]), "v": [0.0, 0.0]}, "goes on from a State, which has it"),
    # forces
    ({"q": TWO, "forces": np.zeros((100, 2))}, r"the same over time for all is \(1, 'steps', 2\)"),
    ({"forces": {"lower": 1.0}}, "no joint 'lower', did you mean 'lower_joint'"),
    (
        {"forces": {"upper_joint": np.zeros(2), "lower_joint": np.zeros(3)}},
        r"do not fit together: upper_joint: \(2,\), lower_joint",
    ),
    ({"forces": kt.Forces(f_ext={"low": np.zeros(6)})}, "f_ext: no frame 'low', did you mean 'lower'"),
    # methods
    ({"integrator": "semi_implicit"}, "no integrator 'semi_implicit', did you mean 'semi_implicit_euler'"),
    *(({"joints": x}, "joints takes a list of names, not ") for x in (3.0, np.array(3.0))),
    ({"integrator": np.zeros(2)}, "no integrator"),
    ({"joints": "stop"}, "no part of their physics 'stop', did you mean 'stops'"),
    # controllers
    (
        {"controller": compiled(lambda q, v, tau: {"tau": tau + 1.0})},
        "'tau' is the joint forces that .* returns: call the state tau_before",
    ),
    (
        {"inputs": {kt.payload("lower"): 2.0}},
        r"inputs\['payload_lower'\] has shape \(\), .*; of an inertia m, m c and I .* or kt.Iner",
    ),
    ({"friction": True}, r"write contacts=kinetree.ContactInputs\(friction=…\)"),
    ({"stop": hold}, r"write events=\[kinetree.Event\(stop=…\)\]"),
    ({"controller": hold, "inputs": {"kp": np.ones((2, 2))}}, r"it takes \(\), or over time \('steps',\)"),
    ({"controller": kt.Controller(hold, over_time={"kp": np.ones(9)}), "inputs": {"kp": 1.0}}, "'kp' is given twice"),
    (
        {"controller": kt.Controller(hold, inputs={"kp": 1.0}), "inputs": {"kp": 1.0}},
        "'kp' is given twice: by the controller",
    ),
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
    ({"inputs": {"gravity": [0.0, 0.0, 0.0]}}, r"no argument 'gravity'.*inputs=\{kt\.gravity"),
    ({"inputs": {kt.joint_damping: [1.0]}}, r"inputs\['joint_damping'\] has shape \(1,\), \(\.\.\., 2\) is needed"),
    ({"inputs": {kt.payload("hand"): np.zeros(10)}}, "no frame 'hand'"),
    ({"inputs": {kt.payload("lower", name="q"): np.zeros(10)}}, "'q' is a name of the simulation's own"),
    ({"inputs": {kt.gravity: [0, 0, 0], "gravity": [0, 0, 0]}}, r"different names: \['gravity', 'gravity'\]"),
    # what is kept
    ({"record": kt.Record(every=101)}, "every is 101, and there are 100 steps"),
    ({"record": kt.Record(out={"q": np.zeros((101, 2), np.float32)})}, r"out\['q'\] is float32 of shape \(101, 2\)"),
    ({"record": kt.Record(out={"q": np.zeros((101, 4))[:, ::2]})}, "contiguous, writeable float64 array"),
    *(({"joints": x}, r"joints(?!.*did you mean 'all')") for x in ("all none", ["all", "stops"], b"all")),
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


def broken(done, total):
    raise TypeError("of my own")


MOTION = ROBOT.simulate([0.0, 0.0], steps=2)
OTHERS = [
    (lambda: kt.Forces(torque=1.0), ArgumentError, "Forces has no argument 'torque'"),
    (lambda: kt.Controller(), ArgumentError, "missing 1 required positional argument: 'law'"),
    (lambda: kt.Record(out={"tauu": TWO}), ArgumentError, "out: no quantity 'tauu', did you mean 'tau'"),
    (lambda: kt.Record(out={"q": TWO, "v": TWO}), ArgumentError, "two of the arrays share memory"),
    (
        lambda: kt.integrator("mine", order=1)(lambda system, q, v, dt: (q, v)),
        ArgumentError,
        r"'mine': it is called with \(system, t, q, v, dt\): too many",
    ),
    (lambda: ROBOT.simulate(), TypeError, r"^simulate\(\) missing 1 required positional argument: 'q'; its arguments"),
    (lambda: MOTION.save(file="motion.npz"), ArgumentError, "save has no argument 'file'; there are: path"),
    (lambda: kt.Trajectory.load("motion.npz"), TypeError, "argument: 'robot'; its arguments are path, robot"),
    (lambda: ROBOT.simulate([0.0, 0.0], steps=2, progress=broken), TypeError, "of my own"),
    (lambda: ROBOT.simulate([0.0, 0.0], steps=9, controller=lambda q, v, t: 1 / 0), ZeroDivisionError, "division"),
    (
        lambda: ROBOT.step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 1e-3, integrator="heun"),
        ArgumentError,
        r"no integrator 'heun'; there are.*are for simulate: robot\.simulate",
    ),
    (lambda: ROBOT.compile(lambda q, v: ROBOT.simulate(q, v, steps=2).q[-1]), ArgumentError, None),
]


@pytest.mark.parametrize(("call", "kind", "message"), OTHERS)
def test_values_check_themselves_and_errors_of_others_stay_as_they_are(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_start_beyond_a_stop_is_warned_of():
    robot = kt.load("panda")
    with pytest.warns(kt.LimitWarning, match="begins beyond joint limits.*panda_joint4"):
        robot.simulate(robot.neutral(), steps=1, joints="stops")
