from __future__ import annotations

import functools
import inspect
import os
import pickle
import signal
import threading
from typing import NamedTuple

import controllers
import numpy as np
import pytest
from synthetic import target_of

import kinetree as kt
from helpers.told import told
from helpers.trees import toy
from kinetree.errors import ArgumentError, ModelError
from kinetree.glue import cpython as layout
from kinetree.joints import Revolute
from kinetree.model.edit import regrouped
from kinetree.runtime import Function
from kinetree.tracing import context

robot = kt.load("panda")
Q, V, A = robot.random_state(seed=0)
QS, VS, AS = robot.random_state(seed=1, size=(3, 4))
KD = np.linspace(1.0, 3.0, 7)


def close(a, b, scale=1.0):
    return np.allclose(a, b, rtol=1e-12, atol=1e-12 * scale)


def test_a_controller_is_one_kernel():
    f = controllers.computed_torque
    assert isinstance(f, Function)
    assert f.__name__ == "computed_torque"
    assert f.__doc__.startswith("Torques that make")
    assert str(inspect.signature(f)) == "(q, v, q_des, v_des, kp, kd, *, out=None)"
    wanted = controllers.plain_computed_torque(Q, V, A, V, 4.0, KD)
    for _ in range(2):
        assert close(f(Q, V, A, V, 4.0, KD), wanted, 100)
        assert close(f(Q, V, A, V, kd=KD, kp=4.0), wanted, 100)
    out = np.empty(7)
    assert f(Q, V, A, V, np.float64(4.0), KD, out=out) is out
    batch = f(QS, VS, AS, V, np.full((3, 1), 4.0), KD)
    assert batch.shape == (3, 4, 7)
    assert np.array_equal(batch[2, 1], f(QS[2, 1], VS[2, 1], AS[2, 1], V, 4.0, KD))
    single = f(*(x.astype("f4") for x in (Q, V, A, V)), np.float32(4.0), KD.astype("f4"))
    assert single.dtype == np.float32
    assert np.allclose(single, wanted, rtol=1e-3, atol=1e-3)
    assert sum(f.op_count.values()) < 1.2 * sum(robot.inverse_dynamics.op_count.values())


def test_options_optional_inputs_bound_and_keyword_calls():
    J = robot.jacobian.bind(frame="panda_hand")
    f_ext = np.random.default_rng(0).normal(size=(7, 6))

    @robot.compile
    def everything(q, v, tau, f_ext):
        a = robot.forward_dynamics(q, tau=tau, v=v, f_ext=f_ext, f_ext_frame="world")
        prescribed = robot.hybrid_dynamics(q, v, a, np.zeros(7), prescribed=["panda_joint2"])
        return {
            "a": a,
            "J": J(q),
            "other": robot.jacobian(q, frame="panda_link4", reference="world"),
            "h": prescribed.tau,
        }

    got = everything(Q, V, A, f_ext)
    a = robot.forward_dynamics(Q, V, A, f_ext, f_ext_frame="world")
    assert close(got.a, a, 1e3)
    assert close(got.J, J(Q))
    assert close(got.other, robot.jacobian(Q, frame="panda_link4", reference="world"))
    assert close(got.h, robot.hybrid_dynamics(Q, V, a, np.zeros(7), prescribed=["panda_joint2"]).tau, 1e3)


class Pair(NamedTuple):
    kinetic: object
    potential: object


def test_what_may_be_returned():
    def energies(q, v):
        return robot.kinetic_energy(q, v), robot.potential_energy(q)

    one = robot.compile(lambda q, v: sum(energies(q, v)), name="total")
    assert type(one(Q, V)) is np.float64
    assert one(QS, VS).shape == (3, 4)
    assert np.isclose(one(Q, V), robot.mechanical_energy(Q, V), rtol=1e-12)
    pair = robot.compile(lambda q, v: Pair(*energies(q, v)), name="pair")(Q, V)
    assert type(pair) is Pair
    named = robot.compile(lambda q, v: dict(zip("TV", energies(q, v), strict=True)), name="named")(Q, V)
    assert pair.kinetic == named.T
    constant = robot.compile(lambda q: (q, [1.0, 2], 3, np.eye(2)), name="constant")(Q)
    assert [np.asarray(x).tolist() for x in constant] == [Q.tolist(), [1.0, 2.0], 3.0, np.eye(2).tolist()]
    rows = robot.compile(lambda q: [q[:2], q[2:4]], name="rows")(Q)
    assert rows.tolist() == [Q[:2].tolist(), Q[2:4].tolist()]


def test_shapes_are_known_by_name_or_said():
    def f(q, v_des, a_max, tau, f_ext, gain: float, matrix, rows, *, scale=2.0):
        return gain * (v_des + a_max + tau) * scale + f_ext[:, 0] + matrix[0] + rows[0] + q

    made = robot.compile(f, shapes={"matrix": (3, 7), "rows": 2})
    assert [p.shape for p in made.spec.inputs] == [(7,), (7,), (7,), (7,), (7, 6), (), (3, 7), (2,), ()]
    assert made(Q, V, V, V, np.zeros((7, 6)), 1.0, np.zeros((3, 7)), np.zeros(2)) == pytest.approx(6 * V + Q)
    half = made(Q, V, V, V, np.zeros((7, 6)), 1.0, np.zeros((3, 7)), np.zeros(2), scale=1.0)
    assert half == pytest.approx(3 * V + Q)
    floating = kt.load("g1")
    assert floating.compile(lambda q, q_des, v: q[:6] + v[:6], name="g").spec.inputs[1].shape == (floating.nq,)


@pytest.mark.parametrize(
    "function",
    [
        lambda q, q_des: q[:3] - q_des,
        lambda q, q_des: q_des[7],
        lambda q, q_des: q_des.reshape(2, 2),
        lambda q, q_des: robot.mass_matrix(q) @ q_des[:3],
        lambda q, q_des: [x + y for x, y in zip(q_des, q[:3], strict=True)],
    ],
)
def test_shapes_that_only_names_tell_are_named_where_they_do_not_fit(function):
    with pytest.raises(
        ArgumentError, match=r"^f: .*q_des \(7,\)\. .*shapes={'q_des': \(3,\)}; .* q_des: float"
    ) as caught:
        kt.compile(robot, function, name="f")
    assert isinstance(caught.value.__cause__, ValueError | IndexError)
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(7,\) \(3,\) $"):
        kt.compile(robot, lambda q, q_des: q - q_des, shapes={"q_des": (3,)}, name="f")


def test_robot_functions_of_numbers_are_evaluated_at_once():
    constant = robot.gravity_forces(Q)
    f = robot.compile(lambda q: q + robot.gravity_forces(Q), name="shifted")
    assert np.array_equal(f(np.zeros(7)), constant)
    assert f.op_count == {"add": 7}


def test_pickles_by_where_it_is_or_how_it_is_made():
    assert pickle.loads(pickle.dumps(controllers.computed_torque)) is controllers.computed_torque
    again = pickle.loads(pickle.dumps(controllers.compiled_task_forces))
    assert again is not controllers.compiled_task_forces
    assert np.array_equal(again(Q, V, 3.0).tau, controllers.compiled_task_forces(Q, V, 3.0).tau)
    assert pickle.loads(pickle.dumps(again(Q, V, 3.0))).height == again(Q, V, 3.0).height


class Controller:
    """One that keeps its compiled method, as users write it."""

    def __init__(self, kp):
        self.kp = kp
        self.law = robot.compile(self.torques)

    def torques(self, q):
        return self.kp * robot.gravity_forces(q)

    def __call__(self, q):
        return self.torques(q)

    @classmethod
    def plain(cls, q):
        return 2.0 * q


def test_what_belongs_to_an_object_refuses_to_be_pickled():
    held = Controller(2.0)
    scaled = functools.partial(held.torques)
    called = robot.compile(held, name="called")
    for f in (held, held.law, held.law.bind(), called, robot.compile(scaled, name="scaled")):
        with pytest.raises(kt.ArgumentError, match=r"cannot be pickled: it is compiled from a method.*__reduce__"):
            pickle.dumps(f)
    assert np.array_equal(pickle.loads(pickle.dumps(robot.compile(Controller.plain)))(Q), 2.0 * Q)


def test_the_cache_goes_by_what_was_traced(own_cache):
    def files():
        return len(list(own_cache.glob("*.kto")))

    for gain in (2.0, 2.0, 3.0):
        f = robot.compile(functools.partial(lambda k, q: q * k, gain), name="scaled")
        assert np.array_equal(f(Q), Q * gain)
    assert files() == 2


# -- run-time inputs ----------------------------------------------------------------------------------------------

LOAD = list(kt.Inertia.from_com(2.0, [0.05, -0.02, 0.1], [[0.02, 0.001, 0], [0.001, 0.03, 0], [0, 0, 0.01]]))
FUNCTIONS = {
    "inverse_dynamics": (Q, V, A),
    "forward_dynamics": (Q, V, A),
    "mass_matrix": (Q,),
    "mechanical_energy": (Q, V),
}


def with_load(model, frame, ten):
    """Return the model with an inertia at a frame, the plain way."""
    from dataclasses import replace

    where = model.frame(frame)
    bodies = list(model.bodies)
    held = bodies[where.body].inertia + where.X.T @ kt.Inertia.from_parameters(ten)
    bodies[where.body] = replace(bodies[where.body], inertia=held)
    return kt.Robot(replace(model, bodies=tuple(bodies)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_payload_at_run_time(name):
    f = kt.compile(robot, name, inputs=[kt.payload("panda_hand", name="load")])
    args = FUNCTIONS[name]
    loaded = getattr(with_load(robot.model, "panda_hand", LOAD), name)(*args)
    scale = np.abs(loaded).max()
    assert close(f(*args, LOAD), loaded, scale)
    assert close(f(*args, np.zeros(10)), getattr(robot, name)(*args), scale)
    batch = f(*args, np.stack([LOAD, np.zeros(10)]))
    assert close(batch[0], loaded, scale)


def test_gravity_at_run_time():
    f = kt.compile(robot, "inverse_dynamics", inputs=[kt.gravity], name="under_gravity")
    g = np.random.default_rng(0).normal(size=(5, 3))
    wanted = np.array([robot.with_gravity(x).inverse_dynamics(Q, V, A) for x in g])
    assert close(f(Q, V, A, g), wanted, 100)
    f_ext = np.ones((7, 6))
    assert close(f(Q, V, A, g[0], f_ext), robot.with_gravity(g[0]).inverse_dynamics(Q, V, A, f_ext), 100)
    world = f(Q, V, A, gravity=g[0], f_ext=f_ext, f_ext_frame="world")
    assert close(world, robot.with_gravity(g[0]).inverse_dynamics(Q, V, A, f_ext, f_ext_frame="world"), 100)
    assert str(inspect.signature(f)) == "(q, v, a, gravity, f_ext=None, *, f_ext_frame='body', out=None)"
    assert np.array_equal(pickle.loads(pickle.dumps(f))(Q, V, A, g), f(Q, V, A, g))


def test_run_time_inputs_of_a_function_of_ones_own():
    robot.gravity_forces(np.zeros(7))  # it has its glue now, which must not take the call of the trace

    @kt.compile(robot, inputs=[kt.gravity, kt.payload("panda_hand", name="load")])
    def hold(q, v):
        return robot.bias_forces(q, v), robot.gravity_forces(np.zeros(7)), kt.load("panda").gravity_forces(q)

    g = (0.0, 1.0, -3.0)
    loaded = with_load(robot.model, "panda_hand", LOAD).with_gravity(g)
    h, at_zero, same_model = hold(Q, V, g, LOAD)
    assert close(h, loaded.bias_forces(Q, V), 100)
    assert close(at_zero, loaded.gravity_forces(np.zeros(7)), 100)
    assert close(same_model, loaded.gravity_forces(Q), 100)
    if layout.find() is not None:  # and it has it again
        assert type(target_of(robot.gravity_forces)).__name__ == "builtin_function_or_method"


def test_what_is_known_is_regrouped_before_what_is_not_is_added():
    plain = sum(robot.gravity_forces.op_count.values())
    loaded = sum(kt.compile(robot, "gravity_forces", inputs=[kt.payload("panda_link7")]).op_count.values())
    assert loaded < plain + 80
    assert regrouped(robot.model).bodies[3].inertia.m == 0.0


def on_a_stick(length: float) -> kt.Robot:
    end = [[1, 0, 0, length], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    return kt.Robot(toy(("hinge base stick", Revolute((0, 1, 0))), name="stick")).with_frame(
        "end", on="stick", placement=end
    )


def test_inputs_on_a_compiled_function_know_the_robot(own_cache):
    """Without the inputs these two are the same program; with them they are not."""
    for length in (1.0, 2.0):
        robot = on_a_stick(length)
        compiled = kt.compile(robot, lambda q: robot.gravity_forces(q), name="held")  # noqa: B023  # used at once
        loaded = kt.compile(robot, compiled, inputs=[kt.payload("end", name="load")])
        assert loaded([0.0], [1.0, *[0.0] * 9])[0] == pytest.approx(-9.81 * (0.1 + length), rel=1e-14)


def test_inputs_may_be_given_in_two_steps_and_to_a_function_of_one_with_inputs():
    robot, load = on_a_stick(1.0), kt.payload("end", name="load")
    for f in ("gravity_forces", lambda q: robot.gravity_forces(q)):
        under = kt.compile(robot, f, inputs=[kt.gravity])
        twice = kt.compile(robot, under, inputs=[load])
        own = kt.compile(robot, lambda q, g: under(q, g), shapes={"g": 3}, inputs=[load])  # noqa: B023  # used at once
        for both in (twice, own):
            assert both([0.0], [0, 0, -2.0], [1.0, *[0.0] * 9])[0] == pytest.approx(-2.0 * 1.1, rel=1e-14)


def test_inputs_that_nothing_in_the_function_could_see():
    robot = kt.load("panda")
    heavy = robot.with_friction()
    with pytest.raises(ArgumentError, match=r"uses no function of 'panda', whose numbers.*is another one: compile"):
        kt.compile(robot, lambda q: heavy.gravity_forces(q), inputs=[kt.gravity], name="f")
    own = kt.compile(heavy, lambda q: heavy.gravity_forces(q), inputs=[kt.gravity], name="f")
    inner = kt.compile(robot, lambda q: robot.gravity_forces(q), name="inner")
    outer = kt.compile(robot, lambda q: inner(q), inputs=[kt.gravity], name="outer")
    q = robot.random_state(seed=1)[0]
    assert np.array_equal(own(q, [0.0, 0.0, -3.0]), robot.with_gravity((0.0, 0.0, -3.0)).gravity_forces(q))
    assert np.allclose(outer(q, [0.0, 0.0, -3.0]), own(q, [0.0, 0.0, -3.0]), rtol=0, atol=1e-13)


def test_an_annotation_counts_more_than_the_name():
    robot = kt.load("panda")

    @robot.compile
    def limited(q, v, v_max: float, b: float, tau_max: float = 3.0):
        return kt.minimum(v, v_max) * b + tau_max

    q, v, _ = robot.random_state(seed=0, size=7)
    assert limited.c_signature.startswith("int limited(const double q[7], const double v[7], const double v_max[1],")
    assert np.array_equal(limited(q, v, np.arange(7.0), 2.0), np.minimum(v, np.arange(7.0)[:, None]) * 2.0 + 3.0)


@pytest.mark.skipif(not hasattr(signal, "raise_signal") or not hasattr(signal, "SIGUSR1"), reason="POSIX signals")
def test_a_signal_handler_is_no_part_of_a_trace():
    robot = on_a_stick(1.0)
    plain = robot.gravity_forces([0.0])
    seen = []

    def interrupted(q):
        signal.raise_signal(signal.SIGUSR1)
        return robot.gravity_forces(q)

    before = signal.signal(signal.SIGUSR1, handler := lambda *_: seen.append(robot.gravity_forces([0.0])))
    try:
        f = kt.compile(robot, interrupted, inputs=[kt.gravity])
        assert signal.getsignal(signal.SIGUSR1) is handler
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert all(np.array_equal(forces, plain) and forces.dtype == float for forces in seen)
    assert seen
    assert f([0.0], [0, 0, -2.0]) != plain


def test_a_traced_function_may_wait_for_another_thread():
    robot = on_a_stick(1.0)

    def waiting(q):
        worker = threading.Thread(target=lambda: other_results.append(robot.bias_forces([0.0], [1.0])))
        worker.start()
        worker.join(30)
        assert not worker.is_alive()
        return robot.gravity_forces(q)

    other_results = []
    kt.compile(robot, waiting, inputs=[kt.gravity])
    assert other_results[0].dtype == float


def test_what_is_asked_of_a_function_in_a_trace_is_its_own():
    robot = on_a_stick(1.0)
    count = on_a_stick(1.0).gravity_forces.op_count
    seen = []

    def curious(q):
        seen.append(robot.gravity_forces.op_count)
        seen.append(kt.compile(robot, lambda q: robot.gravity_forces(q), name="inner").op_count)
        return robot.gravity_forces(q)

    kt.compile(robot, curious, inputs=[kt.gravity])
    assert seen == [count, count]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_counts_the_traces_of_its_own_thread():
    robot, other = on_a_stick(1.0), on_a_stick(2.0)
    statuses = []

    def forking(q):
        child = os.fork()
        if child == 0:
            os._exit(context.substituting_flag.value)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return robot.gravity_forces(q) + other.gravity_forces(q)

    kt.compile(robot, forking, inputs=[kt.gravity])
    once = kt.compile(robot, forking, inputs=[kt.gravity])
    kt.compile(other, once, inputs=[kt.payload("end", name="load")])
    assert statuses == [1, 1, 1, 2]  # the third is the first trace of `once` again, outside the others
    assert context.substituting_flag.value == 0


# -- mistakes --------------------------------------------------------------------------------------------------------


def compiled(function, **kwargs):
    return kt.compile(robot, function, **{"name": "f"} | kwargs)


STICK, OTHER = on_a_stick(1.0), on_a_stick(2.0)
G = [kt.gravity]
UNDER_GRAVITY = compiled("gravity_forces", inputs=G, name="under")
NAMED, SHAPED = compiled(lambda q, q_des: q_des.sum()), compiled(lambda q, q_des: q_des.sum(), shapes={"q_des": (3,)})
for length in 1.0, 2.0:  # compiled, and in the cache: the quick path would answer
    on_a_stick(length).gravity_forces(np.zeros((5, 1)))
    kt.compile(on_a_stick(length), "gravity_forces", inputs=G)([0.0], [0, 0, -1.0])
A_STICK = kt.body_inertia("stick", name="A"), kt.body_inertia("end", name="B")
TWICE = kt.compile(STICK, kt.compile(STICK, "gravity_forces", inputs=A_STICK[:1]), inputs=A_STICK[1:])

RETURNED = [
    (lambda q: None, ArgumentError, "what is returned is a NoneType"),
    (lambda q: "word", ArgumentError, "what is returned is a str"),
    (lambda q: q > 0, ArgumentError, "Condition in it: make numbers of conditions by kt.where"),
    (lambda q: {"a b": q}, ArgumentError, "results need names"),
    (lambda q: {}, ArgumentError, "returns nothing"),
    (lambda q: (q, object()), ArgumentError, "what is returned as r1"),
    (lambda q: [[q[0], q[1]], [q[2]]], ArgumentError, "entries of different shapes: return a tuple"),
    (lambda q: q if q[0] > 0 else -q, TypeError, r"kt\.where"),
    (lambda q: q * (q > 0), TypeError, r"write kt\.where\(condition, x, 0\)"),
    (lambda q: q ** "2", TypeError, "unsupported operand"),
    (lambda q: (f"{q[0]:.3f}", q)[1], TypeError, "no digits to print"),
    (lambda q: robot.gravity_forces(q[:5]), ArgumentError, r"q has shape \(5,\).*one state: \(7,\).*panda_joint1"),
    (lambda q: robot.gravity_forces(np.stack([q, q])), ArgumentError, "gives it one state"),
    (lambda q: robot.gravity_forces(q, out=np.empty(7)), ArgumentError, "out= has no meaning"),
    (lambda q: robot.jacobian(q), ArgumentError, "jacobian needs frame="),
    (lambda q: np.linalg.cholesky(robot.mass_matrix(q)), TypeError, r"kt\.solve_spd"),
    (lambda q, out: q, ArgumentError, "calls take out= as the memory for results: give that argument another"),
    (lambda *q: q, ArgumentError, "the arguments must have names"),
]


test_what_cannot_be_traced = told(ArgumentError, *RETURNED, of=compiled)


test_a_wrong_call_says_what_is_wrong = told(
    (ArgumentError, ModelError),
    (lambda: compiled("gravity_forces", inputs=kt.gravity), r"inputs takes a list of kt\.gravity, .*, not "),
    (lambda: compiled("gravity_forces", shapes={"q": (6,)}), "leave shapes= out"),
    (lambda: kt.compile(robot, "inverse_dynamic"), "did you mean 'inverse_dynamics'"),
    (lambda: kt.compile(robot, "rnea"), "here it is 'inverse_dynamics'"),
    (lambda: kt.compile(robot, 3), "takes a function or the name"),
    (lambda: kt.compile("panda", abs), "compile takes a robot first"),
    (lambda: compiled(lambda q, x: q, shapes={"x": 2.5}), r"shapes\['x'\] must be a length"),
    (lambda: NAMED(Q, np.zeros(3)), r"nq = 7.*; or compile f with shapes={'q_des': \(3,\)}"),
    (lambda: SHAPED(Q, np.zeros(4)), r"q_des has shape \(4,\), one state has shape \(3,\); give it"),
    (lambda: UNDER_GRAVITY(Q, [0.0, 1.0]), r"gravity has shape \(2,\), one state has shape \(3,\)"),
    (lambda: UNDER_GRAVITY([0.0, 1.0], np.zeros(3)), r"q has shape \(2,\), this robot has nq = 7"),
    (lambda: controllers.computed_torque(Q, V, np.zeros(3), V, 1.0, KD), r"q_des has shape \(3,\), this robot has"),
    (lambda: compiled("mass_matrix", inputs=[kt.payload("panda_link0")]), "'panda_link0' does not move"),
    (
        lambda: kt.compile(STICK, OTHER.gravity_forces, inputs=G)([0.0], [0.0, 0.0, -1.0]),
        "gravity_forces uses no function of 'stick'",
    ),
    (lambda: kt.compile(STICK, kt.compile(OTHER, lambda q: q, name="mine"), inputs=G), "mine uses no function of"),
    (
        lambda: kt.compile(STICK, lambda q: STICK.gravity_forces(np.zeros((5, 1)))[0] + q, inputs=G),
        "a function that is being compiled gives it one state",
    ),
    (lambda: kt.compile(STICK, "gravity_forces", inputs=A_STICK), "A and B are the inertia of one body"),
    (
        lambda: compiled("mass_matrix", inputs=[kt.joint_placement("panda_joint2", name=x) for x in ("a", "b")]),
        "a and b are the placement of one joint",
    ),
    (lambda: TWICE([0.0], np.zeros(10), np.zeros(10)), "are the inertia of one body"),
    (lambda: compiled(lambda q, gravity: q, shapes={"gravity": 3}, inputs=G), "these arguments do not have"),
    (lambda: compiled(lambda q, out: q, shapes={"out": 3}), "calls take out= as the memory for results"),
    (lambda: compiled("mass_matrix", inputs=[kt.payload("panda_hand", name="out")]), "calls take out= as the mem"),
)
