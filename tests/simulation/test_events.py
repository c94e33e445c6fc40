"""Events: where conditions cross zero, against closed forms; stops; logs; many robots."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.special import ellipk

import kinetree as kt
from helpers.pendulum import pendulum
from helpers.trees import toy
from kinetree.joints import FreeFlyer, Prismatic, Revolute
from kinetree.simulation.events import HALVINGS, inside

G = 9.81


@cache
def single(kind):
    joint = {"pendulum": Revolute((0, 1, 0)), "ball": Prismatic((0, 0, 1)), "plate": FreeFlyer()}[kind]
    body = {"body": kt.Inertia.from_com(1.0, [0.0, 0.0, -0.5], 0.1 * np.eye(3))}
    return kt.Robot(toy(("joint ground body", joint), links=body, gravity=(0.0, 0.0, -G)))


@cache
def condition(kind, name):
    """Return the function of this name of that robot."""

    def angle(q):
        return q[0]

    def speed(v):
        return v[0]

    def height(q, floor: float = 0.0):
        return q[0] - floor

    def clock(t: float, at: float = 0.3):
        return t - at

    function = {f.__name__: f for f in (angle, speed, height, clock)}[name]
    shapes = {"floor": (), "t": (), "at": ()}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return single(kind).compile(function, shapes={k: shape for k, shape in shapes.items() if k in names})


def period(amplitude):
    """Return that of the pendulum."""
    length = float(single("pendulum").mass_matrix([0.0])[0, 0]) / 0.5
    return np.asarray(4 * np.sqrt(length / G) * ellipk(np.sin(np.asarray(amplitude) / 2) ** 2))


TIGHT = {
    "tsitouras": {"integrator": kt.Tsitouras(rtol=1e-13, atol=1e-13), "dt": 0.1},
    "rk4": {"integrator": "rk4", "dt": 1e-3},
}


@pytest.mark.parametrize("name", TIGHT)
def test_a_pendulum_passes_its_lowest_point_at_quarters_of_its_period(name):
    """Of several robots each at its own times, with the bits that it has alone."""
    r, amplitudes = single("pendulum"), np.array([0.5, 1.0, 2.0])
    passes = kt.Event(condition("pendulum", "angle"))
    moved = r.simulate(amplitudes[:, None], duration=5.0, events=[passes], **TIGHT[name])
    T = period(amplitudes)
    for k in range(3):
        times = [event.time for event in moved.robots[k].events]
        exact = np.arange(0.25, 5.0 / T[k], 0.5) * T[k]
        assert times == pytest.approx(exact, rel=0, abs=1e-10)
        assert moved.counts["angle"][k] == len(exact)
        assert max(abs(event.q[0]) for event in moved.robots[k].events) < 1e-9
    assert [event.time for event in moved.events] == sorted(event.time for event in moved.events)
    alone = r.simulate(amplitudes[1:2], duration=5.0, events=[passes], **TIGHT[name])
    same = [event for event in moved.events if event.robot == (1,)]
    assert [(e.time, *e.q, *e.v) for e in alone.events] == [(e.time, *e.q, *e.v) for e in same]
    free = r.simulate(amplitudes[:, None], duration=5.0, **TIGHT[name])
    assert moved.q == pytest.approx(free.q, rel=0, abs=1e-13)  # looking at it changes nothing


def test_a_bouncing_ball():
    """Begun anew at each bounce, where the condition is zero: which is not an event of the new motion."""
    r, h, restitution = single("ball"), 1.0, 0.8
    ground = kt.Event(condition("ball", "height"), stop=True, direction=-1, name="ground")
    q, v, t = np.array([h]), np.array([0.0]), 0.0
    fall = np.sqrt(2 * h / G)
    for k in range(5):
        moved = r.simulate(
            kt.State(t, q, v), duration=2.0, dt=0.01, integrator=kt.Tsitouras(rtol=1e-12), events=[ground]
        )
        t, q, v = float(moved.stopped_at), moved.q[-1], -restitution * moved.v[-1]
        assert t == pytest.approx(fall * (1 + 2 * sum(restitution**j for j in range(1, k + 1))), rel=0, abs=1e-10)


def test_a_stop_leaves_the_others_alone():
    r = single("ball")
    heights = np.array([[1.0], [50.0], [2.0], [0.5]])
    ground = kt.Event(condition("ball", "height"), stop=True, name="ground")
    moved = r.simulate(heights, duration=1.0, dt=0.01, integrator="rk4", events=[ground])
    assert moved.reasons.tolist() == ["ground", None, "ground", "ground"]
    falls = np.sqrt(2 * heights[:, 0] / G)
    assert moved.stopped_at[[0, 2, 3]] == pytest.approx(falls[[0, 2, 3]], rel=0, abs=1e-10)
    assert moved.t[-1] == 1.0
    assert moved.q[1, -1, 0] == pytest.approx(50.0 - G / 2, rel=0, abs=1e-12)
    assert np.array_equal(moved.q[0, -1], moved.q[0, -5])
    assert {event.robot: event.time for event in moved.events} == {(k,): moved.stopped_at[k] for k in (0, 2, 3)}
    assert moved.counts["ground"].tolist() == [1, 0, 1, 1]
    free = r.simulate(heights[1], duration=1.0, dt=0.01, integrator="rk4", events=[ground])
    assert np.array_equal(free.q, moved.q[1])


def test_a_simulation_goes_on_from_where_a_robot_stopped():
    robot, clock = single("pendulum"), condition("pendulum", "clock")
    stopped = robot.simulate([0.5], duration=0.5, events=[kt.Event(clock, stop=True)], record=kt.Record(every=400))
    assert stopped.end.t == stopped.stopped_at == pytest.approx(0.3, abs=1e-12)
    more = robot.simulate(stopped, duration=0.2)
    assert (more.t[0], more.q[0]) == (stopped.stopped_at, stopped.end.q)


def test_a_bound_simulation_begins_with_the_conditions_of_each_call():
    """A ball that was below the ground when the simulation was made, and falls to it in another call."""
    r, ground = single("ball"), kt.Event(condition("ball", "height"), name="ground")
    fall = r.simulation([-1.0], duration=0.5, dt=0.01, integrator="rk4", events=[ground])
    assert [event.time for event in fall([1.0]).events] == pytest.approx([np.sqrt(2 / G)], rel=0, abs=1e-10)
    assert fall([-1.0]).events == fall([2.0]).events == ()


def test_arguments_of_conditions_are_inputs():
    """One for each robot, or shared with the controller."""
    r = single("ball")

    @r.compile(shapes={"floor": ()})
    def hover(q, v, floor: float):
        return 100.0 * (floor - q) - 20.0 * v

    below = kt.Event(condition("ball", "height"), stop=True)
    floors = np.array([0.5, -0.5, 0.25])
    moved = r.simulate(
        np.ones((3, 1)), duration=1.0, dt=0.01, integrator="rk4", events=[below], inputs={"floor": floors}
    )
    assert moved.stopped_at == pytest.approx(np.sqrt(2 * (1.0 - floors) / G), rel=0, abs=1e-10)
    held = r.simulate([1.0], duration=5.0, dt=0.01, controller=hover, events=[below], inputs={"floor": 0.25})
    assert held.q[-1] == held.q[-100]
    assert held.reasons[()] == "height"
    numbers = r.simulate(
        np.ones((2, 1)),
        duration=2.0,
        dt=0.01,
        integrator="rk4",
        events=[below],
        inputs={"floor": 0.0, kt.gravity: np.array([[0, 0, -G], [0, 0, -1.62]])},
    )
    assert numbers.stopped_at == pytest.approx(np.sqrt(2 / np.array([G, 1.62])), rel=0, abs=1e-10)


@pytest.mark.parametrize("every", [1, 7, 1000])
def test_all_are_kept_where_there_is_room_from_one_record_to_the_next(every):
    r, T = single("pendulum"), period(np.array([0.5, 0.6]))
    passes = kt.Event(condition("pendulum", "angle"), most=1 if every < 10 else 12)
    moved = r.simulate(
        [[0.5], [0.6]], duration=10.0, integrator="rk4", dt=0.01, record=kt.Record(every=every), events=[passes]
    )
    for k in range(2):
        times = [event.time for event in moved.robots[k].events]
        assert times == pytest.approx(np.arange(0.25, 10.0 / T[k], 0.5) * T[k], rel=0, abs=1e-6)
        assert moved.counts["angle"][k] == len(times) > 10


def test_what_is_not_kept_is_counted_and_said():
    r = single("pendulum")
    passes = kt.Event(condition("pendulum", "angle"), most=3)
    with pytest.warns(
        kt.EventWarning, match="'angle': 9 of 12 were not kept, more than most=3 of a robot from one rec"
    ) as told:
        moved = r.simulate(
            [0.5], duration=10.0, integrator="rk4", dt=0.01, record=kt.Record(every=1000), events=[passes]
        )
    assert moved.counts["angle"] == 12
    assert told[0].filename == __file__
    times = (np.array([event.time for event in moved.events]) / period(0.5)).tolist()
    assert times == pytest.approx([4.75, 5.25, 5.75], rel=0, abs=1e-6)  # the last ones


@pytest.mark.parametrize("every", [1, 4, 50])
def test_a_controller_in_python_and_events(every):
    """It is asked at the beginning of each of its periods only, in which there may be several records, or none."""
    r = single("pendulum")
    passes = kt.Event(condition("pendulum", "angle"), most=3)
    options = {"duration": 2.0, "integrator": "rk4", "dt": 0.01, "record": kt.Record("tau", every=3)}
    laws = (r.compile(lambda q, v: -0.3 * v, name="damped"), lambda q, v, t: -0.3 * v)
    one, other = (
        r.simulate([[0.5], [0.9]], controller=kt.Controller(law, every=every), events=[passes], **options)
        for law in laws
    )
    assert len(one.events) == len(other.events) > 1
    assert [e.time for e in one.events] == [e.time for e in other.events]
    assert np.array_equal(one.tau, other.tau)
    assert np.array_equal(one.q, other.q)


@cache
def swings():
    robot = pendulum()
    low = kt.Event(robot.compile(lambda q: q[0] + 0.1, name="low"), most=5)
    q = np.random.default_rng(2).uniform(-1.0, 1.0, (2, 3, 2))
    return robot.simulate(q, duration=3.0, dt=0.01, integrator="tsitouras", events=[low])


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize("alone", [False, True])
def test_events_and_counts_are_in_files(alone, suffix, tmp_path):
    motion = swings().robots[1, 2] if alone else swings()
    robot = motion.robot
    motion.save(tmp_path / f"motion{suffix}")
    again = kt.Trajectory.load(tmp_path / f"motion{suffix}", robot)
    assert len(motion.events) > 1
    assert motion.counts.keys() == {"steps", "rejected", "low"}
    for ours, theirs in zip(motion.events, again.events, strict=True):
        assert (ours.time, ours.name, ours.robot) == (theirs.time, theirs.name, theirs.robot)
        assert np.array_equal(np.concatenate(ours[3:]), np.concatenate(theirs[3:]))
    assert again.counts.keys() == motion.counts.keys()
    for name, count in motion.counts.items():
        assert np.array_equal(again.counts[name], count)
        assert again.counts[name].dtype == count.dtype


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize("per_step", [False, True])
def test_numbers_of_the_robot_are_in_files(suffix, per_step, tmp_path):
    robot, path, rng = pendulum(), tmp_path / f"motion{suffix}", np.random.default_rng(0)
    gravity = rng.normal(size=(2, 5, 3) if per_step else (2, 3))
    inputs = {kt.payload("lower"): kt.Inertia(1.0, [0.1, 0, 0], 0.1 * np.eye(3)), kt.gravity: gravity}
    motion = robot.simulate(rng.normal(size=(2, 2)), steps=5, inputs=inputs)
    motion.save(path)
    again = kt.Trajectory.load(path, robot)
    assert list(again.inputs) == list(motion.inputs)
    assert np.array_equal(again.mechanical_energy, motion.mechanical_energy)
    assert not np.allclose(again.potential_energy, robot.potential_energy(motion.q), rtol=1e-3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"input_frames": ["base"]}, "'base' does not move"),
        ({"input_names": ["q"]}, "'input_names' are no names of arguments, each another one"),
        ({"input_names": ["a b"]}, "'input_names' are no names of arguments"),
    ],
)
def test_numbers_of_the_robot_in_a_file_of_somebody_elses(changed, message, tmp_path):
    robot, path = pendulum(), tmp_path / "motion.npz"
    robot.simulate([0.1, 0.2], steps=2, inputs={kt.payload("lower"): kt.Inertia.zero()}).save(path)
    np.savez(path, **dict(np.load(path)) | changed)
    with pytest.raises(kt.KinetreeError, match=message):
        kt.Trajectory.load(path, robot)


@pytest.mark.parametrize("name", ["semi_implicit_euler", "rk4", "variational", "tsitouras"])
def test_the_state_of_an_event_is_on_the_other_side(name):
    """In the direction that it was asked for."""
    r = single("pendulum")
    for direction, part in ((-1, 0.25), (1, 0.75)):
        passes = kt.Event(condition("pendulum", "angle"), stop=True, direction=direction)
        moved = r.simulate([1.0], duration=4.0, dt=0.01, integrator=name, events=[passes])
        assert 0.0 <= direction * moved.q[-1, 0] < 1e-10
        assert moved.reasons[()] == "angle"
        assert moved.events[0].time == moved.stopped_at
        assert moved.stopped_at == pytest.approx(part * period(1.0), rel=0.02)


def test_the_first_of_several_stops_it_and_later_ones_are_not_seen():
    """All within one step; of two at one time the first is the reason."""
    r = single("ball")

    def at(time: float, stop: bool) -> kt.Event:
        return kt.Event(r.compile(lambda t: t - time, shapes={"t": ()}, name="clock"), name=f"at {time}", stop=stop)

    late, early, marker, beyond = at(0.17, True), at(0.13, True), at(0.12, False), at(0.16, False)
    moved = r.simulate([1.0], duration=1.0, dt=0.1, events=[late, marker, early, beyond])
    assert moved.reasons[()] == "at 0.13"
    assert moved.stopped_at == pytest.approx(0.13, rel=0, abs=1e-12)
    assert [event.name for event in moved.events] == ["at 0.12", "at 0.13"]
    assert [event.time for event in moved.events] == pytest.approx([0.12, 0.13], rel=0, abs=1e-12)
    events = [kt.Event(condition("pendulum", "angle"), name=name, stop=True) for name in ("a", "b")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # there is none that was not kept
        motion = single("pendulum").simulate([0.3], steps=1000, events=events)
    assert motion.reasons == "a"
    assert [event.name for event in motion.events] == ["a"]
    assert motion.counts == {"a": 1, "b": 0}
    tick = kt.Event(condition("ball", "clock"), name="tick")  # a zero at the end of a step is one event
    for start, times in ((0.5, [0.5]), (0.0, [])):
        moved = r.simulate([1.0], duration=1.0, dt=0.25, events=[tick], inputs={"at": start})
        assert [event.time for event in moved.events] == times


def test_parts_of_trajectories_have_their_events():
    r = single("pendulum")
    passes = kt.Event(condition("pendulum", "angle"))
    start = np.linspace(0.2, 2.0, 6).reshape(2, 3, 1)
    moved = r.simulate(start, duration=2.0, integrator="rk4", dt=0.01, events=[passes])
    assert {event.robot for event in moved.events} == {(i, j) for i in range(2) for j in range(3)}
    one = moved.robots[1, 2]
    assert [(e.robot, e.time) for e in one.events] == [((), e.time) for e in moved.events if e.robot == (1, 2)]
    some = moved.robots[1, 1:]
    assert {event.robot for event in some.events} == {(0,), (1,)}
    assert some.counts["angle"].tolist() == moved.counts["angle"][1, 1:].tolist()


def test_an_event_on_the_manifold():
    """A thrown plate that tumbles: its highest point, where its centre of mass stops rising."""
    r = single("plate")
    q, v = np.array(r.neutral()), np.array([3.0, 1.0, 0.5, 0.0, 0.0, 4.0])

    @r.compile
    def rising(q, v):
        return r.center_of_mass_velocity(q, v)[2]

    top = kt.Event(rising, direction=-1, stop=True)
    moved = r.simulate(q, v, duration=2.0, dt=0.05, integrator=kt.Tsitouras(rtol=1e-12, atol=1e-12), events=[top])
    assert moved.stopped_at == pytest.approx(r.center_of_mass_velocity(q, v)[2] / G, rel=0, abs=1e-10)


@pytest.mark.parametrize(
    "number",
    [
        lambda x: x - 0.3,
        lambda x: x**9 - 1e-9,
        lambda x: np.exp(30 * x) - np.exp(29.9),
        lambda x: -1.0 if x < 0.7 else 1e-300,
        lambda x: np.cbrt(x - 0.123),
        lambda x: np.nan if 0.2 < x < 0.9 else x - 0.5,
        lambda x: x - 1.0,
    ],
    ids=["line", "flat", "steep", "jump", "vertical", "NaN", "end"],
)
def test_the_search_ends_whatever_the_number_does(number):
    low, high, room, calls = 0.0, 1.0, 1.0, 0
    while high - low > 2.0**-HALVINGS:
        x = inside(low, high, number(low), number(high), room)
        low, high = (low, x) if number(x) >= 0 else (x, high)
        room, calls = room / 2, calls + 1
        assert low <= x <= high
    assert calls <= HALVINGS + 1
    assert not number(low) >= 0.0
    assert number(high) >= 0.0


def test_events_that_cannot_be():
    r = single("ball")
    good = condition("ball", "height")
    vector = r.compile(lambda q: q, name="vector")
    wide = r.compile(lambda v: v[0], shapes={"v": (3,)}, name="wide")
    stepped = r.compile(lambda dt: dt, shapes={"dt": ()}, name="stepped")

    def run(events: object, **options: object) -> kt.Trajectory:
        return r.simulate([1.0], steps=1, events=events, **options)

    for make, message in (
        (lambda: run([vector]), r"'vector': vector returns .* \(1,\): it must be one number"),
        (lambda: run([wide]), r"event 'wide': wide takes v of shape \(3,\), the simulation gives"),
        (lambda: run([stepped]), "stepped takes dt, which is not a part of a state"),
        (lambda: run([good, kt.Event(good, stop=True)]), "'height' is the name of two; name= gives another one"),
        (
            lambda: run([good, kt.Event(r.compile(lambda q, floor=1.0: q[0] - floor, name="other"))]),
            r"'floor' has two defaults, 0.0 and 1.0: .* or give it two names",
        ),
        (lambda: run(kt.Event(good)), "events takes a list"),
        (lambda: run([3]), "a compiled function"),
    ):
        with pytest.raises(kt.ArgumentError, match=message):
            make()
