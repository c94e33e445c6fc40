"""`robot.simulate`: the same bits in every arrangement, what acts on the robot, and what is recorded."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kinetree as kt
from helpers.pendulum import pendulum
from kinetree.integrators import FunctionIntegrator
from kinetree.integrators.runge_kutta import Tableau, runge_kutta
from kinetree.simulation.step import remembered

ROBOT = pendulum()
FREE = pendulum(floating_base=True)
Q, V = ROBOT.random_state(seed=3, size=40)[:2]
STEPS = {"steps": 60, "dt": 5e-3}


@ROBOT.compile
def hold(q, v, t: float, kp=20.0):
    return kp * (np.sin(t) - q) - v


def law(q, v, dt, integral, ki):
    error = 0.5 - q
    return {"tau": 10.0 * error - v + ki * integral, "integral": integral + dt * error}


integrating = kt.compile(ROBOT, law, shapes={"integral": 2, "ki": (), "dt": ()})


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in a.recorded)


def test_a_part_goes_on_from_its_last_sample_and_a_motion_from_between_two_records():
    how = {"dt": 5e-3, "controller": integrating, "inputs": {"integral": [0.1, 0.2], "ki": 3.0}}
    whole = ROBOT.simulate(kt.State(0.7, Q[:3], V[:3]), steps=120, record=kt.Record(every=30), **how)
    part = ROBOT.simulate(kt.State(0.7, Q[:3], V[:3]), steps=40, record=kt.Record(every=30), **how)
    rest = ROBOT.simulate(part, steps=80, record=kt.Record(every=20), **how | {"inputs": {"ki": 3.0}})
    assert rest.t[-1] == whole.t[-1]
    assert np.array_equal(rest.q[:, -1], whole.q[:, -1])
    assert ROBOT.simulate(whole[:2], steps=30, **how).t[0] == whole.t[1]
    with pytest.raises(kt.ArgumentError, match="v is not taken"):
        ROBOT.simulate(part, V[:3], steps=1)


@pytest.mark.parametrize("other", [{"forces": [3.0, -2.0]}, {"joints": "none"}])
def test_steps_of_the_integrators_own_do_not_outlive_what_acted(other):
    part = ROBOT.simulate(Q[0], V[0], steps=20, dt=5e-3, integrator="tsitouras")
    rest = ROBOT.simulate(part, steps=20, dt=5e-3, integrator="tsitouras", **other)
    fresh = ROBOT.simulate(part.final, steps=20, dt=5e-3, integrator="tsitouras", **other)
    assert np.array_equal(rest.q, fresh.q)


# -- a simulation is a loop of steps ----------------------------------------------------------------------------


def in_steps(motion, q, v, advance, tolerance=0.0):
    """Hold a motion to a loop: `advance` returns from k, q and v the joint forces and the next q and v."""
    for k in range(len(motion) - 1):
        tau, (q, v) = advance(k, q, v)
        if "tau" in motion.recorded:
            assert np.array_equal(motion.tau[..., k, :], tau)
        np.testing.assert_allclose(motion.q[..., k + 1, :], q, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(motion.v[..., k + 1, :], v, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("integrator", ["euler", "semi_implicit_euler", "rk4"])
def test_with_joint_forces(integrator):
    q, v = FREE.random_state(seed=1, size=3)[:2]
    tau = np.random.default_rng(0).normal(size=(3, 20, FREE.nv))
    motion = FREE.simulate(q, v, forces=tau, dt=1e-2, integrator=integrator)
    # of rk4's longer sums, other products are fused in the longer program
    tolerance = 1e-13 if integrator == "rk4" else 0.0
    in_steps(motion, q, v, lambda k, *x: (0, FREE.step(*x, tau[:, k], 1e-2, integrator=integrator)), tolerance)


def test_with_a_controller_that_has_a_state_of_its_own():
    state, ki = [np.array([[0.1, 0.0], [0.0, 0.2]])], np.array([3.0, 5.0])
    given = {"inputs": {"integral": state[0], "ki": ki}, "record": "tau"}

    def advance(k, q, v):
        tau, state[0] = integrating(q, v, 5e-3, state[0], ki)
        return tau, ROBOT.step(q, v, tau, 5e-3)

    in_steps(ROBOT.simulate(Q[:2], V[:2], controller=integrating, **given, **STEPS), Q[:2], V[:2], advance)


def test_with_a_controller_that_is_sampled():
    start, held = kt.State(0.125, Q[:2], V[:2]), [0.0]  # not from a multiple of 7 on
    motion = ROBOT.simulate(start, controller=kt.Controller(hold, every=7), record=("tau", "a"), **STEPS)

    def advance(k, q, v):
        held[0] = hold(q, v, (25 + k) * 5e-3) if k % 7 == 0 else held[0]
        assert np.allclose(motion.a[:, k], ROBOT.forward_dynamics(q, v, held[0]), rtol=1e-12)
        return held[0], ROBOT.step(q, v, held[0], 5e-3)

    in_steps(motion, Q[:2], V[:2], advance)


def test_with_arguments_per_robot_and_per_step():
    kp = np.linspace(1.0, 30.0, 60)
    motion = ROBOT.simulate(Q[:2], V[:2], controller=kt.Controller(hold, over_time={"kp": kp}), dt=5e-3)
    in_steps(motion, Q[:2], V[:2], lambda k, *x: (0, ROBOT.step(*x, hold(*x, k * 5e-3, kp[k]), 5e-3)), 1e-12)
    each = ROBOT.simulate(Q[:2], V[:2], controller=hold, inputs={"kp": np.array([kp, kp[::-1]])}, dt=5e-3)
    assert same(each.robots[0], motion.robots[0])
    assert not same(each.robots[1], motion.robots[1])


def test_with_wrenches_by_name_and_over_time():
    push, f_ext, zero = np.zeros((60, 6)), np.zeros((60, FREE.nb, 6)), np.zeros(FREE.nv)
    push[:, 3] = np.linspace(0.0, 5.0, 60)
    f_ext[:, FREE.body_names.index("lower")] = push
    for given in ({"lower": push}, f_ext):
        motion = FREE.simulate(FREE.neutral(), forces=kt.Forces(f_ext=given, frame="world"), dt=5e-3)
        steps = lambda k, *x: (0, FREE.step(*x, zero, 5e-3, f_ext[k], f_ext_frame="world"))  # noqa: E731
        in_steps(motion, FREE.neutral(), zero, steps, 1e-12)


def test_with_a_number_of_the_robot_that_changes():
    g, step = np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, -9.81), 60), kt.compile(ROBOT, "step", inputs=[kt.gravity])
    motion, zero = ROBOT.simulate(Q[0], inputs={kt.gravity: g}, dt=5e-3), np.zeros(2)
    in_steps(motion, Q[0], zero, lambda k, *x: (0, step(*x, zero, 5e-3, g[k])), 1e-12)


# -- controllers ------------------------------------------------------------------------------------------------


def test_threads_that_forget_each_others_simulations():
    class Owner:
        model = None

    def made(model: None, plan: int) -> int:
        return plan

    def remember(seed: int) -> bool:
        plans = np.random.default_rng(seed).integers(40, size=150_000).tolist()
        return all(remembered(owner, made, plan) == plan for plan in plans)

    owner, before = Owner(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(remember, range(4)))
    finally:
        sys.setswitchinterval(before)
    assert len(owner.__dict__["_simulations"]) <= 20


def test_a_feedback_in_continuous_time_keeps_the_order():
    fine = ROBOT.simulate(Q[0], V[0], duration=1.0, dt=1 / 1024, controller=hold, integrator="rk4").q[-1]
    errors = [
        np.abs(ROBOT.simulate(Q[0], V[0], duration=1.0, dt=dt, controller=hold, integrator="rk4").q[-1] - fine).max()
        for dt in (1 / 64, 1 / 128)
    ]
    assert 3.7 < np.log2(errors[0] / errors[1]) < 4.3
    once = kt.Controller(hold, every=1)
    held = ROBOT.simulate(Q[0], V[0], duration=1.0, dt=1 / 64, controller=once, integrator="rk4").q[-1]
    assert np.abs(held - fine).max() > 100 * errors[1]


@pytest.mark.parametrize("every", [1, 4])
def test_a_python_function_is_a_sampled_controller(every):
    how = {"record": kt.Record(("tau", "a"), every=5), **STEPS}
    for select in (slice(0, 3), 0):
        shapes = set()

        def callback(q, v, t, shapes=shapes):
            shapes.add(np.shape(q))
            return hold(q, v, t)

        called = ROBOT.simulate(Q[select], V[select], controller=kt.Controller(callback, every=every), **how)
        compiled = ROBOT.simulate(Q[select], V[select], controller=kt.Controller(hold, every=every), **how)
        assert shapes == {np.shape(Q[select])}
        assert np.array_equal(called.q, compiled.q)
        assert np.array_equal(called.tau, compiled.tau)  # the last ones are those still held
        assert np.allclose(called.a, compiled.a, rtol=1e-12)


# -- forces, and the robot's numbers ----------------------------------------------------------------------------


def test_forces_change_linearly_or_are_held():
    def torque(t):
        return np.stack([np.sin(3 * t), np.cos(2 * t)], axis=-1)

    def end(n, interpolation):
        t = np.linspace(0.0, 1.0, n + 1)
        tau = torque(t) if interpolation == "linear" else torque(t)[:-1]
        return ROBOT.simulate(
            Q[0], V[0], forces=kt.Forces(tau, interpolation=interpolation), dt=1 / n, integrator="rk4"
        ).q[-1]

    exact = end(4096, "linear")
    orders = [
        np.log2(np.abs(end(32, how) - exact).max() / np.abs(end(64, how) - exact).max()) for how in ("held", "linear")
    ]
    assert np.allclose(orders, [1, 2], atol=0.2)


def test_joint_forces_by_name():
    robot, last = kt.load("panda"), np.zeros((2, 4, 7))
    last[..., 1], last[..., 6] = np.arange(4.0), [[1.0], [2.0]]
    q = np.zeros((2, 7))
    named = robot.simulate(q, forces={"panda_joint2": np.arange(4.0), "panda_joint7": [[1.0], [2.0]]}, record="tau")
    assert np.array_equal(named.q, robot.simulate(q, forces=last).q)
    with pytest.raises(kt.ArgumentError, match=r"tau has shape \(3, 7\); q and v have the leading axes \(2,\)"):
        robot.simulate(q, forces={"panda_joint2": np.arange(3.0)}, duration=0.1)


def test_the_robots_numbers_are_inputs():
    g, damping = np.array([[0.0, 0.0, -1.6], [0.0, 1.0, -9.8]]), np.array([[0.1, 0.2], [0.0, 0.5]])
    loads = [kt.Inertia(m, [0.0, 0.0, -0.1], 0.01 * m * np.eye(3)) for m in (0.5, 2.0)]
    inputs = {kt.gravity: g, kt.payload("lower"): np.array(loads), kt.joint_damping: damping}
    motion = ROBOT.simulate(Q[:2], V[:2], inputs=inputs, controller=hold, record="a", **STEPS)
    for k in range(2):
        one = ROBOT.with_gravity(g[k]).attach(loads[k], "lower").with_joint_physics(damping=damping[k])
        one = one.with_friction(coulomb=False)
        expected = one.simulate(Q[k], V[k], controller=hold, record="a", **STEPS)
        for name in ("q", "v", "a"):
            assert np.allclose(getattr(motion, name)[k], getattr(expected, name), rtol=1e-9, atol=1e-9)


def test_a_controller_knows_the_robot_as_it_is():
    @ROBOT.compile
    def compensation(q):
        return ROBOT.gravity_forces(q)

    inputs = {kt.gravity: [0.0, 0.0, -1.0], kt.payload("lower"): kt.Inertia(3.0, np.zeros(3), np.eye(3))}
    for every in (None, 1):
        motion = ROBOT.simulate(
            Q, controller=kt.Controller(compensation, every=every), inputs=inputs, record="tau", steps=3
        )
        rows = slice(0, None if every is None else -1)  # one that is sampled is not called at the end
        assert np.allclose(motion.tau[:, rows], ROBOT.gravity_forces(motion.q[:, rows]), atol=1e-13)


def test_integrators_of_one_name_do_not_share_code():
    heun = Tableau(2, [[], [1.0]], [0.5, 0.5])
    made = FunctionIntegrator("rk4", 2, runge_kutta(heun))  # of parts of kinetree's, and with the name of one of them
    moved = [pendulum().simulate(Q, V, integrator=which, **STEPS).q for which in ("rk4", made, "rk4")]
    assert np.array_equal(moved[0], moved[2])
    assert 1e-9 < np.abs(moved[1] - moved[0])[:, -1].max() < 1e-3


def test_leading_axes_broadcast_and_a_robot_without_joints():
    motion = ROBOT.simulate(Q[:2], V[:6].reshape(3, 2, 2), forces=[1.0, 0.0], **STEPS)
    assert motion.q.shape == (3, 2, 61, 2)
    assert same(motion.robots[2, 1], ROBOT.simulate(Q[1], V[5], forces=[1.0, 0.0], **STEPS))
    builder = kt.ModelBuilder("stone")
    builder.add_link("stone", kt.Inertia(2.0, [0.0, 0.0, 0.1], np.eye(3)))
    assert kt.Robot(builder.build()).simulate(np.zeros((3, 0)), steps=5).q.shape == (3, 6, 0)
    free = kt.Robot(builder.build(floating_base=True))
    fall = free.center_of_mass(free.simulate(free.neutral(), steps=100, dt=1e-2, integrator="rk4").q[-1])
    assert np.allclose(fall, [0.0, 0.0, 0.1 - 9.81 / 2], atol=1e-12)
