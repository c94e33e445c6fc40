"""Derivatives as compiled functions: beside Pinocchio's, of users' functions, in batches, as C, and wrong calls."""

from __future__ import annotations

import pickle

import numpy as np
import pinocchio
import pytest

import kinetree as kt
from helpers.kernels import same_bits
from helpers.sampling import few
from helpers.told import told
from helpers.trees import toy
from kinetree.errors import ArgumentError
from robots import erd_urdf

EPS = np.finfo(float).eps


def from_pinocchio(kt_robot, path, floating):
    """Pinocchio's model of a file, and the map of states."""
    base = (pinocchio.JointModelFreeFlyer(),) if floating else ()
    model = pinocchio.buildModelFromUrdf(str(path), *base)
    return model, kt.conventions.Pinocchio(kt_robot, model)


@pytest.mark.parametrize(("name", "floating"), [("ur5_robot.urdf", False), ("panda.urdf", False), ("go2.urdf", True)])
def test_dynamics_are_those_of_pinocchio(name, floating):
    path = erd_urdf(name)
    robot = kt.load(path, floating_base=floating, mimic="independent")
    model, there = from_pinocchio(robot, path, floating)
    data, (q, v, a) = model.createData(), robot.random_state(seed=3)
    Q, V, A = there.to_q(q), there.to_v(q, v), there.to_a(q, v, a)
    P = np.array([there.to_v(q, e) for e in np.eye(robot.nv)]).T  # velocities there from ours, a permutation
    wanted = pinocchio.computeRNEADerivatives(model, data, Q, V, A)
    ours = robot.inverse_dynamics.derivatives(q, v, a)
    M = np.array(wanted[2])
    M = np.triu(M) + np.triu(M, 1).T
    for block, theirs in zip(ours, (wanted[0], wanted[1], M), strict=True):
        assert np.abs(P @ block @ P.T - theirs).max() <= 1e-11 * np.abs(theirs).max()
    tau = robot.inverse_dynamics(q, v, a)
    pinocchio.computeABADerivatives(model, data, Q, V, there.to_tau(q, tau))
    ours = robot.forward_dynamics.derivatives(q, v, tau)
    Minv = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    for block, theirs in zip(ours, (data.ddq_dq, data.ddq_dv, Minv), strict=True):
        assert np.abs(P @ block @ P.T - theirs).max() <= 1e-11 * np.abs(theirs).max()


@pytest.mark.parametrize(("name", "frame"), [("panda.urdf", "panda_hand"), ("go2.urdf", "FR_foot")])
def test_frames_and_momentum_are_those_of_pinocchio(name, frame):
    path = erd_urdf(name)
    robot = kt.load(path, floating_base=frame == "FR_foot", mimic="independent")
    model, there = from_pinocchio(robot, path, frame == "FR_foot")
    data, (q, v, a) = model.createData(), robot.random_state(seed=3)
    state = there.to_q(q), there.to_v(q, v), there.to_a(q, v, a)
    P = np.array([there.to_v(q, e) for e in np.eye(robot.nv)]).T

    def close(ours, theirs):
        theirs = np.roll(theirs, 3, axis=0) @ P  # linear first there
        assert np.abs(ours - theirs).max() <= 1e-11 * np.abs(theirs).max()

    pinocchio.computeForwardKinematicsDerivatives(model, data, *state)
    for reference, axes in (("body", "LOCAL"), ("world", "WORLD")):
        which = model.getFrameId(frame), getattr(pinocchio.ReferenceFrame, axes)
        ours = robot.frame_velocity.derivatives(q, v, frame=frame, reference=reference)
        wanted = list(pinocchio.getFrameVelocityDerivatives(model, data, *which))
        ours += robot.frame_acceleration.derivatives(q, v, a, frame=frame, reference=reference)
        wanted += pinocchio.getFrameAccelerationDerivatives(model, data, *which)[1:]
        for block, theirs in zip(ours, wanted, strict=True):
            close(block, theirs)
    for block, argument in zip(robot.integrate.derivatives(q, v), (pinocchio.ARG0, pinocchio.ARG1), strict=True):
        assert np.abs(P @ block @ P.T - pinocchio.dIntegrate(model, *state[:2], argument)).max() <= 1e-11
    wanted = pinocchio.computeCentroidalDynamicsDerivatives(model, data, *state)
    ours = robot.centroidal_momentum.derivatives(q, v, wrt="q"), *robot.centroidal_momentum_rate.derivatives(q, v, a)
    for block, theirs in zip(ours, wanted, strict=True):
        close(block, theirs)


ARM = kt.load("ur5")
STATES = ARM.random_state(seed=0, size=9)


@ARM.compile
def law(q, v, kp: float = 3.0):
    J = ARM.jacobian(q, frame="tool0")
    return {"tau": kp * (J.T @ (J @ v)) + np.where(q > 0, np.sqrt(np.abs(q)), 0.0)}


def test_functions_of_users_have_derivatives_too():
    q, v, _ = (x[0] for x in STATES)
    found, h = law.derivatives(q, v, 2.0, wrt=("q", "kp")), 1e-6
    numeric = np.array([(law(q + h * e, v, 2.0) - law(q - h * e, v, 2.0)) / (2 * h) for e in np.eye(6)]).T
    assert np.abs(found.dtau_dq - numeric).max() < 1e-7
    assert np.abs(found.dtau_dkp - (law(q, v, 3.0) - law(q, v, 2.0))).max() < 1e-13


def test_numbers_of_the_robot_are_inputs_of_derivatives_too():
    loaded = ARM.compile("inverse_dynamics", inputs=[kt.gravity, kt.payload("tool0", name="load")])
    q, v, a = (x[0] for x in STATES)
    load, g, h = np.array([2.0, 0, 0, 0.2, 0.03, 0, 0.03, 0, 0, 0.01]), np.array([0, 0.1, -9.8]), 1e-6
    found = loaded.derivatives(q, v, a, g, load, wrt=("q", "gravity", "load"))
    E = np.eye(6) * h
    numeric = np.array([(loaded(q + e, v, a, g, load) - loaded(q - e, v, a, g, load)) / (2 * h) for e in E]).T
    assert np.abs(found.dtau_dq - numeric).max() < 1e-7
    tau = loaded(q, v, a, g, load)  # affine in both
    assert np.abs(found.dtau_dload @ load - (tau - ARM.with_gravity(g).inverse_dynamics(q, v, a))).max() < 1e-12
    assert np.abs(found.dtau_dgravity @ g - (tau - loaded(q, v, a, 0 * g, load))).max() < 1e-12


def test_weights_come_before_what_may_be_left_out():
    q, v, a = (x[0] for x in STATES)
    f_ext, weights = np.ones((6, 6)), np.arange(6.0)
    found = ARM.inverse_dynamics.vjp(q, v, a, weights, f_ext=f_ext, wrt=("q", "f_ext"))
    both = ARM.inverse_dynamics.derivatives(q, v, a, f_ext, wrt=("q", "f_ext"))
    assert np.abs(found.q_bar - weights @ both.dtau_dq).max() < 1e-12
    assert np.abs(found.f_ext_bar - np.einsum("k,kij->ij", weights, both.dtau_df_ext)).max() < 1e-12
    by_default = law.vjp(q, v, weights)
    assert np.abs(by_default.q_bar - weights @ law.derivatives(q, v, 3.0, wrt="q")).max() < 1e-12


CHOICES = {
    "sinc": (lambda x: np.where(x == 0.0, 1.0, np.sin(x) / x), 0.0, 0.0),
    "two roots": (lambda x: np.where(x > 0, np.sqrt(x), 0) + np.where(x < 0, np.sqrt(x), 0), 0.0, 0.0),
    "either": (lambda x: np.where((x > 0) | (x < -1), np.log(np.abs(x)), 0.0), 0.0, 0.0),
    "loop": (lambda x: kt.repeat(lambda y: y + np.where(x > 0, np.sqrt(x), 0.0), x, most=3), 0.0, 1.0),
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_not_chosen_counts_nowhere(name):
    law, x, slope = CHOICES[name]
    function = kt.compile(ARM, law, shapes={"x": ()}, name="f")
    assert function.derivatives(x) == slope
    assert function.jvp(x, dx=1.0) == slope
    assert function.vjp(x, 1.0) == slope


EDGES = {  # derivatives by both, of numbers near the ends of the range of float64
    "arctan2": (np.arctan2, (1e-200, 1e-200), (5e199, -5e199)),
    "arctan2 of large numbers": (np.arctan2, (3e200, 4e200), (4 / 25 * 1e-200, -3 / 25 * 1e-200)),
    "hypot": (np.hypot, (3e-320, 4e-320), (0.6, 0.8)),
    "hypot of large numbers": (np.hypot, (1.5e308, 1.5e308), (0.5**0.5, 0.5**0.5)),
    "power of zero": (lambda x, y: x**y, (0.0, 3.0), (0.0, 0.0)),
    "power zero": (lambda x, y: x**y, (0.0, 0.0), (0.0, 0.0)),
    "power": (lambda x, y: x**y, (2.0, 3.0), (12.0, 8.0 * np.log(2.0))),
}


@pytest.mark.parametrize("name", EDGES)
def test_derivatives_at_the_edges_of_elementary_functions(name):
    law, at, wanted = EDGES[name]
    function = kt.compile(ARM, lambda x, y: law(x, y), shapes={"x": (), "y": ()}, name="f")
    assert np.allclose(function.derivatives(*at), wanted, rtol=1e-3 if name == "hypot" else 1e-14, atol=0.0)
    assert np.allclose(function.vjp(*at, 1.0), wanted, rtol=1e-3 if name == "hypot" else 1e-14, atol=0.0)


def test_zero_to_the_power_of_an_input_is_a_constant():
    function = kt.compile(ARM, lambda x: 0.0**x, shapes={"x": ()}, name="f")
    assert (float(function(2.0)), float(function.derivatives(2.0))) == (0.0, 0.0)


def test_programs_that_are_equal_have_the_derivatives_of_their_own_spaces():
    turn = kt.joints.Revolute((0, 0, 1))
    flat = kt.Robot(toy(("a 0 1", turn), ("b 1 2", kt.joints.Revolute((0, 1, 0))), ("c 2 3", turn)))
    plane = kt.Robot(toy(("p 0 1", kt.joints.Planar())))
    q = np.array([0.1, 0.2, 0.7])
    for robot in (flat, plane):
        double = robot.compile(lambda q: {"y": 2.0 * q}, name="double")
        h = 1e-6
        ends = [[double(robot.integrate(q, s * e)) for s in (h, -h)] for e in np.eye(3)]
        numeric = np.array([(a - b) / (2 * h) for a, b in ends]).T
        assert np.abs(double.derivatives(q) - numeric).max() < 1e-8


def test_jvp_and_optional_inputs_can_be_bound():
    q, v, a = (x[0] for x in STATES)
    with_value = ARM.inverse_dynamics.jvp.bind(value=True)
    assert same_bits(with_value(q, v, a, dq=v)[0], ARM.inverse_dynamics(q, v, a))
    by_force = ARM.inverse_dynamics.derivatives.bind(wrt="f_ext")
    assert by_force(q, v, a, np.zeros((6, 6))).shape == (6, 6, 6)
    swapped = ARM.inverse_dynamics.derivatives(q, v, a, wrt=("v", "q"))
    assert swapped._fields == ("dtau_dv", "dtau_dq")


def test_loops_that_only_go_forward_have_adjoints_by_all_directions():
    q, f, weights = STATES[0][0], ARM.operational_inertia.bind(frame="tool0"), np.arange(36.0).reshape(6, 6)
    wanted = np.einsum("ij,ijk->k", weights, f.derivatives(q))
    assert np.abs(f.vjp(q, weights) - wanted).max() < 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("kind", ["derivatives", "vjp", "jvp"])
def test_a_choice_that_is_not_taken_has_no_derivative(kind):
    root = kt.compile(ARM, lambda x: np.where(x > 0.0, np.sqrt(x), 0.0), shapes={"x": ()}, name="root")
    further = {"derivatives": (), "vjp": (1.0,), "jvp": ()}[kind]
    given = {"dx": 1.0} if kind == "jvp" else {}
    function = getattr(root, kind)
    assert function(0.0, *further, **given) == 0.0
    assert function(4.0, *further, **given) == 0.25
    size = kt.compile(ARM, lambda x: abs(x), shapes={"x": ()}, name="size")
    assert getattr(size, kind)(0.0, *further, **given) == 1.0
    assert getattr(size, kind)(-0.0, *further, **given) == 1.0


def test_a_value_keeps_its_bits_and_a_batch_those_of_each_state():
    q, v, a = STATES
    for function, arguments in ((ARM.inverse_dynamics, (q, v, a)), (ARM.forward_dynamics, (q, v, a)), (law, (q, v))):
        all_at_once = function.derivatives(*arguments, value=True)
        assert same_bits(all_at_once[0], function(*arguments))
        for k in range(len(q)):
            one = function.derivatives(*(x[k] for x in arguments), value=True)
            assert all(same_bits(x[k], y) for x, y in zip(all_at_once, one, strict=True))


def test_derivatives_of_derivatives():
    q, v, a = (x[0] for x in STATES)
    weights = np.arange(1.0, 7.0)
    f = ARM.inverse_dynamics
    hessian = f.hessian(q, v, a, weights, wrt=("q", "v"))
    along = f.vjp.bind(wrt=("q", "v")).jvp(q, v, a, weights, dq=v, dv=a)
    assert np.abs(np.concatenate(along) - hessian @ np.concatenate([v, a])).max() < 1e-11 * np.abs(hessian).max()


@pytest.mark.parametrize("name", few(["ur5", "panda", "go2"], 1))
def test_on_the_manifold_a_hessian_is_that_of_steps(name):
    robot = kt.load(name)
    q, _, _ = robot.random_state(seed=2)
    f, n, h = robot.potential_energy, robot.nv, 1e-4

    def energy(d):
        return f(robot.integrate(q, d))

    E = np.eye(n) * h
    numeric = [[(energy(a + b) - energy(a - b) - energy(b - a) + energy(-a - b)) / (4 * h * h) for b in E] for a in E]
    hessian = f.hessian(q, 1.0)
    assert np.abs(hessian - numeric).max() <= 1e-5 * np.abs(hessian).max()


@pytest.mark.filterwarnings("ignore::kinetree.errors.DerivativeWarning")  # Coriolis forces are quadratic in v
@pytest.mark.parametrize("outer", ["derivatives", "jvp", "vjp", "hessian"])
@pytest.mark.parametrize("inner", ["derivatives", "jvp", "vjp", "hessian"])
@pytest.mark.parametrize("own", [False, True], ids=["robot's", "user's"])
def test_a_derivative_of_a_derivative_is_that_of_differences(inner, outer, own):
    """Along one direction of v, in each of both."""
    q, v, a = (x[0] for x in STATES)
    function, rest = (law, ()) if own else (ARM.inverse_dynamics, (a,))
    weights, d, h = np.arange(1.0, 7.0), np.array([0.3, -0.2, 0.5, 0.1, -0.4, 0.2]), 1e-6
    once = getattr(function, inner) if inner == "jvp" else getattr(function, inner).bind(wrt="v")
    more = {"jvp": {"dv": d}}.get(inner, {})
    between = (weights,) if inner in ("vjp", "hessian") else ()

    def at(x):
        return once(q, x, *rest, *between, **more)

    wanted = (at(v + h * d) - at(v - h * d)) / (2 * h)
    bar = np.random.default_rng(0).normal(size=np.shape(wanted))
    twice = getattr(once, outer)
    if outer == "derivatives":
        found = twice(q, v, *rest, *between, wrt="v", **more) @ d
    elif outer == "jvp":
        found = twice(q, v, *rest, *between, dv=d) if inner != "jvp" else twice(q, v, *rest, dv=d, d2v=d)
    elif outer == "vjp":
        found, wanted = twice(q, v, *rest, *between, bar, wrt="v", **more) @ d, np.vdot(bar, wanted)
    else:
        gradient = once.vjp
        x = [gradient(q, v + s * h * d, *rest, *between, bar, wrt="v", **more) @ d for s in (1, -1)]
        found, wanted = d @ twice(q, v, *rest, *between, bar, wrt="v", **more) @ d, (x[0] - x[1]) / (2 * h)
    assert np.abs(found - wanted).max() < 1e-6 * max(1.0, np.abs(wanted).max())


def test_rates_along_a_second_direction_have_names_of_their_own():
    """The second derivative along a path: f'' of q(t) with rates dq and their rates d2dq."""
    q, v, a = (x[0] for x in STATES)
    f, h = ARM.gravity_forces, 1e-4
    second = f.jvp.jvp(q, dq=v, d2q=v, d2dq=a)
    ahead, behind = (f(q + s * v + 0.5 * s * s * a) for s in (h, -h))
    assert np.abs(second - (ahead - 2 * f(q) + behind) / (h * h)).max() < 1e-5
    assert f.vjp.vjp(q, v, a, value=True)._fields == ("q_bar", "q_bar2", "g_bar_bar2")


def test_they_are_functions_like_others():
    f = ARM.inverse_dynamics.derivatives.bind(wrt="q")
    q, v, a = (x[0] for x in STATES)
    again = pickle.loads(pickle.dumps(ARM.inverse_dynamics.derivatives))
    assert same_bits(again(q, v, a, wrt="q"), f(q, v, a))
    composed = ARM.compile(lambda q, v, a: f(q, v, a) @ v, name="composed")
    assert np.abs(composed(q, v, a) - f(q, v, a) @ v).max() < 1e-12
    assert "double" in f.to_c().header
    assert "wrt" in ARM.inverse_dynamics.vjp.__doc__


def test_rates_are_part_of_other_functions():
    q, v, a = (x[0] for x in STATES)
    turning, jerk, h = ARM.inverse_dynamics.jvp, np.linspace(-1.0, 1.0, 6), 1e-6

    @kt.compile(ARM, shapes={"jerk": (6,)})
    def jerk_torque(q, v, a, jerk):
        return turning(q, v, a, dq=v, dv=a, da=jerk) / 2

    alone = turning(q, v, a, dq=v, dv=a, da=jerk)
    assert np.allclose(jerk_torque(q, v, a, jerk), alone / 2, rtol=1e-13, atol=1e-13)
    ahead, behind = (ARM.inverse_dynamics(q + s * v, v + s * a, a + s * jerk) for s in (h, -h))
    assert np.allclose(alone, (ahead - behind) / (2 * h), rtol=1e-6, atol=1e-6)
    constant = kt.compile(ARM, lambda q: turning(q, [0.1] * 6, [0.0] * 6, dq=[0.1] * 6), shapes={"q": (6,)}, name="c")
    assert np.allclose(constant(q), turning(q, [0.1] * 6, [0.0] * 6, dq=[0.1] * 6), rtol=1e-13, atol=1e-13)


def test_nan_stays_in_its_row():
    q, v, a = (x.copy() for x in STATES)
    q[3, 1] = np.nan
    clean = np.isfinite(ARM.inverse_dynamics.derivatives(q, v, a, wrt="q")).all(axis=(1, 2))
    assert clean.tolist() == [k != 3 for k in range(len(q))]


q0, v0, a0 = (x[0] for x in STATES)
test_wrong_calls_say_what_to_do = told(
    ArgumentError,
    (lambda: ARM.inverse_dynamics.derivatives(q0, v0, a0, wrt="x"), "wrt: no input 'x'"),
    (lambda: ARM.inverse_dynamics.derivatives(q0, v0, a0, wrt="f_ext"), "by 'f_ext' is taken where that is given"),
    (lambda: ARM.inverse_dynamics.vjp(q0, v0, a0, np.ones(7)), r"tau_bar has shape \(7,\)"),
    (lambda: ARM.inverse_dynamics.vjp(q0, v0, a0), "needs tau_bar too"),
    (lambda: ARM.inverse_dynamics.jvp(q0, v0, a0), "takes rates of at least one input: dq, dv, da"),
    (
        lambda: kt.load("go2").gravity_forces.jvp(kt.load("go2").neutral(), dq=np.ones(19)),
        r"dq has shape \(19,\).* a step of a configuration is a velocity, nv numbers",
    ),
    (
        lambda: kt.Mechanism(ARM, [kt.Rod("tool0", None, length=0.75)]).forward_dynamics.vjp,
        "forward_dynamics has no vjp yet: those of mechanisms and contacts",
    ),
)


@pytest.mark.parametrize("name", ["integrate", "difference"])
def test_second_derivatives_keep_their_digits_at_small_rotations(name):
    """They lead to those at none, and are those of differences on both sides of where series take over."""
    dog = kt.load("go2")
    q, _, _ = dog.random_state(seed=0)
    direction, weights = np.zeros(dog.nv), np.zeros(dog.nv)
    direction[:6], weights[:6] = [0.3, -0.5, 0.8, 0, 0, 0], [1, 2, -1, 0.5, 0.3, -0.2]
    function, wrt = getattr(dog, name), {"integrate": "dv", "difference": "q1"}[name]

    def second(kind, size):
        step = size * direction
        return getattr(function, kind)(q, step if name == "integrate" else dog.integrate(q, step), weights, wrt=wrt)

    at_rest = second("hessian", 0.0)
    for size in (1e-8, 1e-12, 1e-15, 1e-100, 1e-154, 1e-160):
        assert np.abs(second("hessian", size) - at_rest).max() < 2 * size + 4 * EPS
    for size in (0.09, 0.11, 0.19, 0.21, 1.0):
        slope = (second("vjp", size + 1e-5) - second("vjp", size - 1e-5)) / 2e-5
        assert abs(direction @ (second("hessian", size) @ direction - slope)) < 1e-9
