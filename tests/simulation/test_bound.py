"""Simulations made once and called often, what the file says of joints, warnings, and planes of finite extent."""

import gc
import math
import pickle
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.pendulum import pendulum
from helpers.trees import toy
from kinetree.errors import ArgumentError
from kinetree.runtime.kernels import Kernels

ROBOT = pendulum()


def box_on_a_table(extent, height=0.1):
    box = {"box": kt.Inertia.from_com(1.0, [0, 0, 0], 0.01 * np.eye(3))}
    tree = kt.Robot(toy(("free world box", kt.joints.FreeFlyer()), links=box, name="table"))
    return kt.Mechanism(tree, [kt.Contact("box", height=height, radius=0.05, extent=extent)])


def box_on_three_feet():
    tree = box_on_a_table(None).tree
    points = [(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)]
    feet = [
        kt.Contact("box", name=f"{k}", point=x, height=0.1, radius=0.05, friction=0.9) for k, x in enumerate(points)
    ]
    return kt.Mechanism(tree, feet)


def at_most(iterations):
    return kt.ContactInputs(solver=kt.ContactSolver(max_iterations=iterations))


WRONG = [
    {"forces": [1.0, np.inf]},
    {"v": np.ma.masked_array([1.0, 2.0], [True, False])},
    {"inputs": [1.0]},
    {"step": 1},
    {"q": None},
    {"q": [np.nan, 0.0]},
]


def test_a_call_that_failed_leaves_nothing_behind():
    rollout = ROBOT.simulation([0.0, 0.0], steps=5)
    expected = ROBOT.simulate([0.3, 0.1], steps=5).q
    for given in WRONG:
        with pytest.raises(ArgumentError):
            rollout(**{"q": [0.0, 0.0]} | given)
        assert np.array_equal(rollout([0.3, 0.1]).q, expected)


def test_arguments_are_checked_before_anything_is_compiled(monkeypatch):
    def compile_nothing(*_):
        raise AssertionError("compiled")

    monkeypatch.setattr(Kernels, "scan", compile_nothing)
    rollout = ROBOT.simulation([0.0, 0.0], steps=5)
    short, small = [0.0], kt.Record(out={"q": np.zeros((2, 2))})
    calls = [lambda x=x: rollout(**{"q": [0.0, 0.0]} | x) for x in WRONG]
    calls += [lambda: rollout(short), lambda: ROBOT.simulate([0.0, 0.0], steps=5, record=small)]
    calls += [lambda: ROBOT.simulate([0.0, 0.0], steps=5, controller=lambda q, v, t: short)]
    for call in calls:
        with pytest.raises(ArgumentError):
            call()


def test_an_interrupted_compilation_is_no_interrupted_simulation(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Kernels, "scan", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        ROBOT.simulate([0.0, 0.0], steps=5, controller=lambda q, v, t: -v, record="tau")
    assert caught.type is KeyboardInterrupt


def test_a_trajectory_keeps_no_arrays_of_its_simulation():
    how = {"forces": np.zeros((50_000, 2)), "record": kt.Record(every=50_000)}
    ROBOT.simulate([0.1, 0.0], **how)
    tracemalloc.start()
    motion = ROBOT.simulate([0.1, 0.0], **how)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(motion) == 2
    assert kept < how["forces"].nbytes / 4


def test_joints_do_what_the_file_says():
    physics = {"limits": kt.JointLimits(lower=-0.5, upper=0.5, effort=3.0), "friction": 0.5}
    bar = {"arm": kt.Inertia.from_com(1.0, [0, 0, -0.5], 0.1 * np.eye(3))}
    arm = kt.Robot(toy(("hinge base arm", kt.joints.Revolute((0, 1, 0)), physics), links=bar))
    pushed = arm.simulate([0.0], duration=3.0, forces=[20.0], record="tau")
    assert pushed.q.max() < 0.6
    assert pushed.tau.max() == 3.0
    assert abs(arm.simulate([0.05], duration=1.0).v).max() < 2e-3  # friction holds it
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it leans on its stop, which is a spring
        arm.simulate(pushed, duration=0.1, forces=[20.0])
        arm.simulation(0.0 * pushed.q[0], steps=10, forces=[20.0])(pushed)
    free = arm.simulate([0.0], duration=3.0, forces=[20.0], joints="none", record="tau")
    assert free.q.max() > 0.6
    assert free.tau.max() == 20.0


def test_what_diverges_and_what_is_not_solved_is_told():
    with pytest.warns(kt.SimulationWarning, match=r"robot \[1\] stopped at t = .* s, not finite: try a shorter dt"):
        ROBOT.simulate([[0.1, 0.0], [0.1, 0.0]], [[0.0, 0.0], [1e200, 0.0]], steps=20)
    not_solved = r"contacts were not solved .* in \d+ of 30 steps of 'table'; .*at t = "
    with pytest.warns(kt.SimulationWarning, match=not_solved):
        box_on_three_feet().simulate([0, 0, 0.16, 0, 0, 0, 1], [3, 0, 0, 1, 0, -1], steps=30, contacts=at_most(1))


def test_beside_its_extent_a_plane_is_not_there():
    q = np.array([[x, y, 0.15, 0, 0, 0, 1.0] for x, y in ((0.0, 0.0), (0.29, 0.19), (0.31, 0.0), (0.0, -0.21))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        z = box_on_a_table((0.3, 0.2, math.inf)).simulate(q, duration=0.2).q[:, -1, 2]
    assert np.allclose(z[:2], 0.15, atol=1e-6)
    assert (z[2:] < 0.0).all()
    with pytest.raises(ArgumentError, match="give three positive half edges"):
        box_on_a_table((0.3, -0.2, math.inf))


@pytest.mark.parametrize("half", [0.1, 0.07, 1 / 3])
def test_along_the_normal_an_extent_is_how_deep_something_may_be(half):
    """A box with the plane on its top: rounding does not matter there, and what is below the box is not lifted."""
    box = box_on_a_table((0.3, 0.2, half), height=half)
    q = np.zeros((60, 7))
    q[:, 2], q[:, 6] = half + 0.05 + np.linspace(0.0, 0.1, 60), 1.0
    assert np.allclose(box.simulate(q, duration=0.3).q[:, -1, 2], half + 0.05, atol=1e-6)
    q[:, 2] = np.linspace(-2.0 * half, -half, 60)
    assert (box.simulate(q, steps=2).q[:, -1, 2] <= q[:, 2]).all()


def test_no_foot_gets_deeper_than_its_links_turn():
    lengths, hinge = {"thigh": 0.4, "shank": 0.3}, kt.joints.Revolute((0, 1, 0))
    bars = {name: kt.Inertia.from_com(1.0, [x / 2, 0, 0], 0.01 * np.eye(3)) for name, x in lengths.items()}
    knee = ("to_shank thigh shank", hinge, {"placement": np.eye(4) + 0.4 * np.eye(4, k=3)})
    leg = kt.Mechanism(
        kt.Robot(toy(("to_thigh world thigh", hinge), knee, links=bars)),
        [kt.Contact("shank", point=(0.3, 0, 0), height=-0.35, friction=0.2)],
    )
    rng = np.random.default_rng(0)
    q, v = rng.uniform(-3, 3, (100, 2)), rng.uniform(-60, 60, (100, 2))
    above = leg.constraint_error(q)[:, 2] > 0.01
    moved = leg.simulate(q[above], v[above], steps=100)
    omega = np.cumsum(moved.v, axis=-1)
    bound = 0.5 * ((omega * 1e-3) ** 2 @ [0.4, 0.3])
    depth = -leg.constraint_error(moved.q)[..., 2]
    assert (depth[:, 1:] <= np.maximum(bound[:, 1:], bound[:, :-1]) + 1e-7).all()


@ROBOT.compile
def spring(q, v, kp: float):  # type: ignore[no-untyped-def]
    return -kp * q - v


SLIDE = {"q": [0, 0, 0.15, 0, 0, 0, 1], "v": [3, 0, 0, 1, 0, -1]}


@ROBOT.compile
def loses_its_root(q, t: float):  # type: ignore[no-untyped-def]
    return np.sqrt(0.0032 - t) * q


@ROBOT.compile
def loses_its_sum(v, t: float, a: float, total: float):  # type: ignore[no-untyped-def]
    return {"tau": a * v + 1e-9 * total, "total": total + np.sqrt(0.0022 - t)}


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4", "tsitouras"])
@pytest.mark.parametrize(
    ("controller", "more"),
    [
        (lambda q, v, t: np.where([t > 0.003, False], np.nan, 0.0) + 0.0 * q, {}),
        (lambda q, v, t: np.where([t > 0.003, False], np.inf, 0.0) + 0.0 * q, {"every": 2}),
        (loses_its_root, {"every": 1}),
        (loses_its_root, {"every": 2}),
        (loses_its_sum, {"inputs": {"total": 1.0}, "over_time": {"a": np.arange(10.0)}}),
    ],
)
def test_a_controller_that_returns_nan_is_named(integrator: str, controller: Any, more: dict[str, Any]) -> None:
    """Beside a robot whose motion diverges."""
    start = {"q": [[0.1, 0.2], [0.1, 0.2]], "v": [[0.0, 0.0], [1e200, 0.0]], "joints": "none"}
    with pytest.warns(kt.SimulationWarning) as told:
        motion = ROBOT.simulate(**start, steps=10, integrator=integrator, controller=kt.Controller(controller, **more))
    assert motion.reasons.tolist() == [kt.StopReason.CONTROLLER, kt.StopReason.NOT_FINITE]
    assert len(told) == 2
    cause = f"t = {motion.stopped_at[0]:g} s, the controller returned NaN or inf"
    assert any(cause in str(x.message) for x in told)
    assert 0.002 <= motion.stopped_at[0] < 0.0041


def test_what_is_solved_in_its_last_iteration_is_solved():
    table = box_on_three_feet()
    needed = int(table.simulate(**SLIDE, steps=1).counts["iterations"])
    assert needed > 2
    assert table.simulate(**SLIDE, steps=1, contacts=at_most(needed)).counts["unsolved"] == 0
    with pytest.warns(kt.SimulationWarning, match="in 1 of 1 steps"):
        assert table.simulate(**SLIDE, steps=1, contacts=at_most(needed - 1)).counts["unsolved"] == 1


@pytest.mark.filterwarnings("ignore::kinetree.SimulationWarning")
@pytest.mark.parametrize("speed", [1.0, 1e10, 1e40, 1e66, 1e80])
def test_no_solution_has_a_large_residual(speed):
    v = speed * np.array([1, 1, 0, 0, 0, -1.0])
    moved = box_on_three_feet().simulate([0, 0, 0.15, 0, 0, 0, 1], v, steps=5)
    assert moved.counts["unsolved"] > 0 or moved.counts["worst_residual"] <= 1.2
    assert speed > 1.0 or moved.counts["unsolved"] == 0


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_a_controller_in_continuous_time_may_return_nan_within_a_step(integrator: str) -> None:
    with pytest.warns(kt.SimulationWarning, match=r"t = 0.00[34] s, the controller returned NaN or inf"):
        motion = ROBOT.simulate([0.1, 0.2], steps=10, integrator=integrator, controller=loses_its_root)
    assert motion.reasons[()] is kt.StopReason.CONTROLLER


def test_forces_and_numbers_of_a_controller_may_be_given_anew():
    rollout = ROBOT.simulation([0.1, 0.2], steps=5, forces=kt.Forces([0.0, 0.0], f_ext=np.zeros((2, 6)), frame="world"))
    named = kt.Forces({"lower_joint": 2.0}, f_ext={"lower": np.arange(6.0)}, frame="world")
    expected = ROBOT.simulate([0.1, 0.2], steps=5, forces=named)
    assert np.array_equal(rollout([0.1, 0.2], forces=named).q, expected.q)
    with pytest.raises(ArgumentError, match="frame is 'body'; this simulation was made with 'world'"):
        rollout([0.1, 0.2], forces=kt.Forces(f_ext={"lower": np.ones(6)}))
    rollout = ROBOT.simulation([0.1, 0.2], steps=5, controller=spring, inputs={"kp": 3.0})
    expected = ROBOT.simulate([0.1, 0.2], steps=5, controller=spring, inputs={"kp": 7.0})
    assert np.array_equal(rollout([0.1, 0.2], inputs={"kp": 7.0}).q, expected.q)
    tau, rollout = [[1.0, 2.0], [0.5, 0.0]], ROBOT.simulation(np.zeros((2, 2)), steps=20)
    found = rollout([0.1, 0.2], forces=tau)
    further = rollout(found)  # the forces are again as they were when this was made
    assert np.array_equal(further.v, ROBOT.simulate(ROBOT.simulate([[0.1, 0.2]] * 2, steps=20, forces=tau), steps=20).v)
    assert rollout(kt.State(0.7, found.q[:, 0], found.v[:, 0])).t[0] == pytest.approx(0.7)
    for joints in (["all"], ("none",), np.array(["stops", "effort"]), set()):
        ROBOT.simulation([0.0, 0.0], steps=3, joints=joints)


def test_calls_with_what_makes_no_sense():
    rollout = ROBOT.simulation([0.0, 0.0], steps=5)
    for wrong, message in (
        ({"forces": kt.Forces(f_ext=np.zeros((3, 6)))}, "what changes from call to call is given when"),
        ({"inputs": {"kp": 1.0}}, "inputs: no argument 'kp'"),
    ):
        with pytest.raises(ArgumentError, match=message):
            rollout(**{"q": [0.0, 0.0]} | wrong)
    with pytest.raises(ArgumentError, match="simulation has no argument 'limits'"):
        ROBOT.simulation([0.0, 0.0], steps=5, limits="all")
    table, q = box_on_a_table(None), [0, 0, 0.15, 0, 0, 0, 1]
    on = table.simulation(q, contacts=kt.ContactInputs(active=[True]), steps=10)
    expected = table.simulate(q, contacts=kt.ContactInputs(active=[0.0]), steps=10).q
    for off in ([False], np.array([False]), [0]):
        assert np.array_equal(table.simulate(q, contacts=kt.ContactInputs(active=off), steps=10).q, expected)
        assert np.array_equal(on(q, contacts=kt.ContactInputs(active=off)).q, expected)
    for wrong in ([0.5], [-1.0], [math.nan], [[1], [1, 2]]):
        with pytest.raises(ArgumentError, match=r"active (holds|is not an array of numbers)"):
            on(q, contacts=kt.ContactInputs(active=wrong))
    right = [0, 0, 1.0, 0, 0, 0, 2.0]
    free = table.tree.simulation(right, steps=3)
    for quaternion in ([0, 0, 0, 0], [1e-200, 0, 0, 0], [1e200, 0, 0, 0]):  # no rotation is no beginning
        wrong = [0, 0, 1.0, *quaternion]
        for call, given in ((free, wrong), (lambda x: table.tree.simulate(x, steps=3), [right, wrong])):
            with pytest.raises(ArgumentError, match=r"are no coordinates of 'free'; a quaternion .* not be zero"):
                call(given)
        assert free(right).reasons == None  # noqa: E711


def test_reasons_are_values_and_large_numbers_are_told_of_once(tmp_path):
    with pytest.warns() as told:
        lost = ROBOT.simulation([0.0, 0.0], steps=5)([0.1, 0.2], [1e200, 0.0])
    assert [x.category for x in told] == [kt.SimulationWarning]
    lost.save(tmp_path / "lost.npz")
    again = kt.Trajectory.load(tmp_path / "lost.npz", ROBOT)
    for motion in (lost, again, pickle.loads(pickle.dumps(lost))):
        assert motion.reasons[()] is kt.StopReason.NOT_FINITE
        assert str(motion.reasons) == "not finite"
