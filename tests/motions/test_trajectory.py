"""What a trajectory is: its parts, what lies between its samples, and its energies."""

import json
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import toy
from kinetree.errors import ArgumentError
from kinetree.joints import Cylindrical, FreeFlyer, Helical, Planar, Spherical, Universal
from kinetree.motions.paths import Sample

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
JOINTS = [FreeFlyer(), Spherical(), Planar(), Planar((0.6, 0.0, 0.8)), Universal(Z, X), Cylindrical(Z), Helical(Z, 0.1)]
FIRST = np.array([-1 / 280, 4 / 105, -1 / 5, 4 / 5, 0, -4 / 5, 1 / 5, -4 / 105, 1 / 280])[::-1]
SECOND = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
STEP = 0.01


@pytest.fixture(scope="module")
def robot():
    """A chain of one joint of each kind."""
    return kt.Robot(toy(*((f"j{k} b{k} b{k + 1}", joint) for k, joint in enumerate(JOINTS))))


def smooth(robot, t, seed=0):
    """Return a motion that is not a polynomial in anybody's coordinates, by differences of the order 8."""
    rng = np.random.default_rng(seed)
    q0, x, y = robot.random_configuration(seed=seed), *rng.uniform(-1, 1, (2, robot.nv))

    def q(t):
        return robot.integrate(robot.integrate(q0, np.sin(1.3 * t)[..., None] * x), np.cos(t)[..., None] * y)

    around = q(np.asarray(t)[..., None] + STEP * np.arange(-4, 5))
    d = robot.difference(q(t)[..., None, :], around)
    return Sample(q(t), np.einsum("...kj,k->...j", d, FIRST / STEP), np.einsum("...kj,k->...j", d, SECOND / STEP**2))


def sampled(robot, n, *, a=True):
    t = np.linspace(0.0, 2.0, n)
    motion = smooth(robot, t)
    return kt.Trajectory(robot, t, motion.q, motion.v, motion.a if a else None)


@pytest.mark.parametrize(("a", "order"), [(False, 4), (True, 6)])
def test_interpolation_has_its_order_on_every_joint(robot, a, order):
    times = np.linspace(0.0, 2.0, 173)
    exact = smooth(robot, times)
    errors = []
    for n in (9, 17, 33):
        found = sampled(robot, n, a=a).at(times)
        errors.append(
            [np.abs(robot.difference(exact.q, found.q)).max(axis=0)]
            + [np.abs(x - y).max(axis=0) for x, y in zip(found[1:], exact[1:], strict=True)]
        )
    errors = np.array(errors)  # (n, quantity, joint)
    slopes = np.log2(errors[1].max(axis=-1) / errors[2].max(axis=-1))
    assert np.abs(slopes - [order, order - 1, order - 2]).max() < 0.35, slopes
    each = np.log2(errors[0, 0] / errors[2, 0]) / 2
    assert each.min() > order - 0.5, each
    assert errors[2, 0].max() < (1e-4 if order == 4 else 1e-6)


@pytest.mark.parametrize("a", [False, True])
def test_the_curve_goes_through_the_samples_and_is_smooth(robot, a):
    motion = sampled(robot, 9, a=a)
    found = motion.at(motion.t)
    assert np.abs(robot.difference(motion.q, found.q)).max() < 1e-14
    assert np.abs(found.v - motion.v).max() < 1e-13
    before, after = motion.at(motion.t[1:-1] - 1e-9), motion.at(motion.t[1:-1] + 1e-9)
    assert np.abs(after.v - before.v).max() < 1e-6
    if a:
        assert np.abs(found.a - motion.a).max() < 1e-11
        assert np.abs(after.a - before.a).max() < 1e-5
    else:
        assert np.abs(after.a - before.a).max() > 1e-4
    # v is the rate of q, and a that of v
    t, h = np.array([0.11, 0.9, 1.6]), 1e-5
    around = [motion.at(t + s) for s in (-h, h)]
    assert np.abs(robot.difference(around[0].q, around[1].q) / (2 * h) - motion.at(t).v).max() < 1e-8
    assert np.abs((around[1].v - around[0].v) / (2 * h) - motion.at(t).a).max() < 1e-7


def test_a_slow_motion_is_as_exact(robot):
    motion, slow = sampled(robot, 9), 2.0**-20
    found = kt.Trajectory(robot, motion.t / slow, motion.q, slow * motion.v, slow**2 * motion.a).at(1.6 / slow)
    for k, (x, y) in enumerate(zip(found, motion.at(1.6), strict=True)):
        np.testing.assert_allclose(x / slow**k, y, rtol=1e-9, atol=1e-12)


def test_times_of_any_shape_and_those_outside(robot):
    motion = sampled(robot, 9)
    assert [x.shape for x in motion.at(0.3)] == [(robot.nq,), (robot.nv,), (robot.nv,)]
    assert motion.at(np.zeros((2, 3))).q.shape == (2, 3, robot.nq)
    with pytest.raises(ArgumentError, match=r"t holds 2.1 s; this trajectory is from 0 to 2 s"):
        motion.at([0.0, 2.1])
    with pytest.raises(ArgumentError, match="t holds nan s"):
        motion.at(np.nan)
    one = motion[3:4]
    assert np.abs(robot.difference(one.at(one.t[0]).q, one.q[0])).max() < 1e-14


@pytest.fixture(scope="module")
def batch():
    """Two by three UR5s; one of them has stopped between two samples."""
    arm = kt.load("ur5")
    t = np.linspace(0.0, 1.0, 11)
    q0 = arm.random_configuration(seed=0, size=(2, 3))[..., None, :]
    t_each = np.broadcast_to(t, (2, 3, 11)).copy()
    t_each[1, 2] = np.minimum(t, 0.55)
    stopped = np.full((2, 3), np.nan)
    stopped[1, 2] = 0.55
    q = q0 + np.sin(t_each)[..., None]
    v = np.cos(t_each)[..., None] * np.ones(6)
    reasons = np.full((2, 3), None)
    reasons[1, 2] = "hit the floor"
    return kt.Trajectory(arm, t, q, v, stopped_at=stopped, reasons=reasons)


def test_a_robot_that_has_stopped_stays_where_it_is(batch):
    found = batch.at([0.52, 0.55, 0.58, 1.0])
    assert found.q.shape == (2, 3, 4, 6)
    moved = found.q[1, 2] - batch.q[1, 2, 0]
    assert np.abs(moved[:, 0] - np.sin([0.52, 0.55, 0.55, 0.55])).max() < 1e-7
    assert np.abs(found.v[1, 2, :, 0] - np.cos([0.52, 0.55, 0.55, 0.55])).max() < 1e-5
    assert np.abs(found.q[0, 0, -1] - batch.q[0, 0, -1]).max() < 1e-15
    assert repr(batch) == "<Trajectory of 'ur5': 2 × 3 robots, 11 samples from 0 to 1 s, 1 stopped>"
    assert repr(batch.robots[1, 2]) == "<Trajectory of 'ur5': 11 samples from 0 to 1 s, stopped>"


def test_parts_in_time_and_of_the_robots(batch):
    part = batch[2:9:3]
    assert np.array_equal(part.t, batch.t[2:9:3])
    assert np.array_equal(part.v, batch.v[:, :, 2:9:3])
    assert part.reasons[1, 2] == "hit the floor"
    last = batch.robots[1, 2]
    assert last.batch_shape == ()
    assert np.array_equal(last.q, batch.q[1, 2])
    assert last.stopped_at == 0.55
    assert last.reasons == "hit the floor"
    assert [robots.batch_shape for robots in batch.robots] == [(3,), (3,)]
    assert batch.robots[:, ::2].batch_shape == (2, 2)
    assert np.array_equal(batch.robots[:, 1].q, batch.q[:, 1])
    final = batch.final
    assert (final.t, final.q.shape) == (1.0, (2, 3, 6))
    assert np.array_equal(final.v, batch.v[:, :, -1])
    assert (len(batch), batch.duration, len(list(batch)), len(batch.robots)) == (11, 1.0, 11, 2)


def test_a_part_that_ends_before_a_stop_has_none(batch):
    robot = batch.robots[1, 2]
    before, after = robot[:6], robot[:7]
    assert np.isnan(before.stopped_at)
    assert (before.reasons.item(), after.reasons.item()) == (None, "hit the floor")
    assert (before.final.t, after.final.t, robot.robot.simulate(before, steps=1).t[0]) == (0.5, 0.55, 0.5)
    assert np.isnan(batch[:6].stopped_at).all()
    samples = kt.Trajectory(robot.robot, before.t, before.q, before.v, stopped_at=0.55)  # and it stopped after them
    assert (samples.stopped_at, samples.final.t) == (0.55, 0.5)


def test_masks_and_arrays_choose_robots_as_in_numpy(batch):
    for index in ([1, 0, 1], np.array([[1], [0]]), [False, True], ~np.isnan(batch.stopped_at), (slice(None), [2, 0])):
        chosen = batch.robots[index]
        key = index if isinstance(index, tuple) else np.asarray(index)
        for name in ("q", "v", "stopped_at"):
            np.testing.assert_array_equal(getattr(chosen, name), getattr(batch, name)[key])
    assert batch.robots[~np.isnan(batch.stopped_at)].reasons.tolist() == ["hit the floor"]


class Crossing(NamedTuple):
    time: float
    robot: tuple[int, ...]


def test_events_go_with_the_robots_that_are_chosen(batch):
    events = [Crossing(0.2, (1, 2)), Crossing(0.3, (0, 1))]
    whole = kt.Trajectory(batch.robot, batch.t, batch.q, batch.v, events=events)
    assert whole.robots[~np.isnan(batch.stopped_at)].events == (Crossing(0.2, (0,)),)
    twice = [Crossing(0.2, (0, 2)), Crossing(0.2, (2, 2)), Crossing(0.3, (1, 1))]
    assert list(whole.robots[[1, 0, 1]].events) == twice


def test_the_events_of_a_part_are_those_within_it(batch):
    class Event:
        def __init__(self, time):
            self.time = time

    whole = kt.Trajectory(batch.robot, batch.t, batch.q, batch.v, events=[Event(0.05), Event(0.5)])
    assert [event.time for event in whole[3:].events] == [0.5]
    assert whole.robots[0].events == whole.events


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"v": np.zeros((11, 6))}, r"v has shape \(11, 6\), \(2, 3, 11, 6\) is needed"),
        ({"reasons": ["a", "b"]}, r"reasons has shape \(2,\), \(2, 3\) is needed"),
        ({"reasons": [["a"], ["b", "c"]]}, "reasons is not an array"),
        ({"f": [[1], [1, 2]]}, "f is not an array of numbers"),
        ({"inputs": 3}, "counts and inputs take a dict, not"),
        ({"counts": {"steps": [1, 2]}}, r"counts\['steps'\] has shape \(2,\), \(2, 3\) is needed"),
        ({"robot": "ur5"}, "takes the robot first; str was given"),
        ({"events": 5}, "events takes a list"),
    ],
)
def test_what_does_not_fit_is_said_at_once(batch, change, message):
    with pytest.raises(ArgumentError, match=message):
        kt.Trajectory(**{"robot": batch.robot, "t": batch.t, "q": batch.q, "v": batch.v} | change)


def test_what_cannot_be_drawn_or_written_is_said(batch, tmp_path):
    stone = kt.ModelBuilder("stone")
    stone.add_link("stone", kt.Inertia(1.0, [0.0, 0.0, 0.1], np.eye(3)))
    still = kt.Robot(stone.build()).simulate(np.zeros(0), steps=3)
    none = kt.Trajectory(batch.robot, batch.t, batch.q[:0], batch.v[:0])
    for motion in (still, none):
        with pytest.raises(ArgumentError, match="nothing to draw"):
            motion.plot()
        with pytest.raises(ArgumentError, match=r"save it as \.npz"):
            motion.save(tmp_path / "motion.parquet")
    for draw in (still.plot_motion, lambda: still.save(tmp_path / "motion.csv")):
        with pytest.raises(ArgumentError, match=r"nothing to draw|save it as \.npz"):
            draw()
    lost = kt.Trajectory(batch.robot, [0.0, 1.0], [[0.0] * 6, [np.nan] * 6], np.zeros((2, 6)))
    for draw in (lost.plot, lost.plot_motion):
        with pytest.raises(ArgumentError, match="q holds a number that is not finite"):
            draw()


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_a_robot_that_diverged_is_read_again(batch, suffix, tmp_path):
    a = np.zeros((11, 6))
    a[6:] = np.inf, -np.inf, np.nan, 0.0, 1.0, 2.0  # in the last finite state
    one = batch.robots[1, 2]
    motion = kt.Trajectory(one.robot, one.t, one.q, one.v, a, stopped_at=0.55, reasons="not finite")
    motion.save(tmp_path / f"motion{suffix}")
    again = kt.Trajectory.load(tmp_path / f"motion{suffix}", one.robot)
    assert np.array_equal(again.a, a, equal_nan=True)


KINDS = r"takes numbers, slices, and arrays of .{0,90}$"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.a, ArgumentError, r'a was not recorded: .*record="q v a"'),
        (lambda x: x.tau, ArgumentError, r'tau was not recorded: .*record="q v tau"'),
        (lambda x: x.q.fill(0.0), ValueError, "read-only"),
        (lambda x: setattr(x, "t", x.t), AttributeError, "does not change"),
        (lambda x: delattr(x, "t"), AttributeError, "does not change"),
        (lambda x: x[11], IndexError, "sample 11 of 11"),
        (lambda x: x[0, 1], ArgumentError, r"not tuple; robots\[…\] takes those of the robots"),
        (lambda x: x[5:5], ArgumentError, "at least one sample"),
        (lambda x: x.robots[2:], ArgumentError, "none of its robots is chosen"),
        *(
            (lambda x, index=index: x.robots[index], ArgumentError, KINDS)
            for index in (..., True, np.True_, None, "0", 0.5, [[0, 1], [2]], (0, [0.5]), np.zeros(1000))
        ),
        *(
            (lambda x, i=i: x.robots[i], ArgumentError, r"the batch is \(2, 3\), and none of its robots is chosen")
            for i in ([], np.zeros((2, 3), dtype=bool))
        ),
        *((lambda x, i=i: x.robots[i], IndexError, None) for i in (2, [0, 2], [True, False, True])),
        (lambda x: x.robots[0, 0].robots, ArgumentError, "one robot"),
    ],
)
def test_what_cannot_be_read_or_changed(batch, call, error, message):
    with pytest.raises(error, match=message):
        call(batch)


def test_the_figures_are_the_extremes_of_all_robots(batch):
    found = batch.to_dict()
    for k, joint in enumerate(found["joints"]):
        assert (joint["low"], joint["high"]) == (batch.q[..., k].min(), batch.q[..., k].max())
        assert (joint["peak_v"], joint["limit_v"]) == (1.0, batch.robot.velocity_limits[k])
    assert found["reason"][1][2] == "hit the floor"
    assert "peak |τ|" not in batch.table().columns  # not recorded
    tau = np.linspace(-200.0, 100.0, 11)[:, None] * np.ones(6)
    pushed = kt.Trajectory(batch.robot, batch.t, batch.q[0, 0], batch.v[0, 0], tau=tau).to_dict()["joints"][0]
    assert (pushed["peak_tau"], pushed["at"], pushed["samples_over"], pushed["strong"]) == (200.0, 0.0, 2, True)
    assert pushed["rms"] == pytest.approx(np.sqrt((tau[:, 0] ** 2).mean()))
    free = batch.robot.with_limits(velocity=np.inf)
    still = kt.Trajectory(free, [0.0, 1.0], np.zeros((2, 6)), np.zeros((2, 6))).to_dict()
    assert json.loads(json.dumps(still, allow_nan=False)) == still
    assert (still["stopped_at"], still["joints"][0]["limit_v"], still["joints"][0]["peak_v"]) == (None, None, 0.0)


def test_energies_and_frames_are_those_of_the_robot(batch):
    arm, q, v = batch.robot, batch.q, batch.v
    assert np.array_equal(batch.kinetic_energy, arm.kinetic_energy(q, v))
    assert np.allclose(batch.mechanical_energy, arm.mechanical_energy(q, v), rtol=0, atol=1e-11)
    assert batch.kinetic_energy is batch.kinetic_energy
    E = batch.mechanical_energy[0, 1]
    assert batch.energy_drift.shape == (2, 3)
    assert batch.energy_drift[0, 1] == np.abs(E - E[0]).max() / batch.kinetic_energy[0, 1].max()
    still = kt.Trajectory(arm, [0.0, 1.0], np.zeros((2, 6)), np.zeros((2, 6)))
    assert still.energy_drift == 0.0
    positions = batch.frame_positions(["ee_link", "forearm_link"])
    assert batch.frame_positions([]).shape == (2, 3, 11, 0, 3)
    assert positions.shape == (2, 3, 11, 2, 3)
    assert np.array_equal(positions[..., 1, :], arm.frame_placement(q, frame="forearm_link")[..., :3, 3])
    assert np.array_equal(batch.momentum(), arm.centroidal_momentum(q, v))
    with pytest.raises(ArgumentError, match=r"\['ee_link'\]"):
        batch.frame_positions("ee_link")


def test_it_pickles(batch):
    again = pickle.loads(pickle.dumps(batch))
    assert repr(again) == repr(batch)
    assert np.array_equal(again.q, batch.q)
    assert again.reasons[1, 2] == "hit the floor"
    assert not again.q.flags.writeable
