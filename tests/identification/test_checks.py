"""Plausibility checks: good logs pass without a word, and what is wrong is named, over a range of sizes.

The tests try some logs each; measured over many (of ur5 and panda, by turns): 220 of 220 good ones without a finding;
40 of 40 signs of positions and of forces, 120 of 120 exchanges.
"""

import json
import warnings

import numpy as np
import pytest

import kinetree as kt
from helpers.arm_logs import Conditions, recorded, true_robot
from helpers.clocks import CLOCKS
from helpers.mechanisms import four_bar
from helpers.recorded import Log, arm
from helpers.sampling import few
from kinetree.identification import Finding, LogWarning, Samples, diagnose, prepare
from kinetree.identification.checks.registry import CHECKS
from kinetree.identification.checks.regression import Regression

ARMS = ("ur5", "panda")
GOOD = [
    {},
    {"noise": 0.1},
    {"rate": 100.0, "duration": 40.0},
    {"duration": 8.0},
    {"friction": 0.1},
]


def minus(k):
    return lambda x: x * np.where(np.arange(x.shape[1]) == k, -1.0, 1.0)


def exchanged(k):
    return lambda x: x[:, [*range(k), k + 1, k, *range(k + 2, x.shape[1])]]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("choices", GOOD, ids=str)
@pytest.mark.parametrize("name", ARMS)
def test_good_logs_pass_without_a_word(name, choices, seed):
    assert diagnose(arm(name), Log(name, seed, **choices).samples()) == ()


@pytest.mark.parametrize("seed", few(range(200), 6))
def test_logs_of_all_conditions_are_not_refused(seed):
    """Arms, motions and clocks at random, joints that stand still or are slow, and loads; the error shows the log."""
    rng = np.random.default_rng([seed, 7])
    name = str(rng.choice(ARMS[::-1]))
    robot = arm(name)
    still, slow = np.split(rng.permutation(robot.nv)[: rng.integers(0, 4)], [rng.integers(0, 3)])
    how = Conditions(
        clock=str(rng.choice(list(CLOCKS))),
        stamps=str(rng.choice(["taken", "received"])),
        motion=str(rng.choice(["waves", "points", "turns"])),
        encoder=float(rng.choice([1e-5, 2e-5, 1e-4])),
        noise=float(rng.choice([0.005, 0.02, 0.05])),
        coloured=float(rng.choice([0.0, 0.03])),
        quantum=float(rng.choice([0.0, 0.05])),
        lost=float(rng.choice([0.0, 0.05])),
        doubled=float(rng.choice([0.0, 0.03])),
        still=tuple(map(int, still)),
        slow=tuple(map(int, slow)),
        duration=float(rng.choice([10.0, 20.0, 40.0])),
    )
    real = true_robot(robot, seed, load=float(rng.choice([0.0, 1.0, 4.0])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LogWarning)
        samples = prepare(robot, *recorded(real, how, seed))
    assert diagnose(robot, samples).errors == (), (name, how)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("seed", range(4))
def test_loads_and_joints_that_stand_still_are_no_errors(name, seed):
    """Of the old check, these loads made an error of every fourth log: "the other sign"."""
    robot = arm(name)
    for friction in (1.0, 0.1):
        assert diagnose(robot, Log(name, seed, load=4.0, friction=friction).samples()).errors == ()
    still = seed % robot.nv, (seed + 2) % robot.nv
    found = diagnose(robot, Log(name, seed, still=still).samples())
    assert found.names == ("still",)
    assert set(found[0].joints) == {robot.v_names[k] for k in still}


@pytest.mark.parametrize("seed", range(12))
def test_what_holds_a_joint_that_stands_still_is_no_error(seed):
    """A brake, whose force is constant, and creeping under friction that holds: two of 16 logs each were refused."""
    name = ARMS[seed % 2]
    robot, rng = arm(name), np.random.default_rng(seed)
    still = [k := seed // 2 % robot.nv, (k + 2) % robot.nv]
    t, q, tau = Log(name, seed, still=tuple(still)).recorded()
    braked, stuck, creeping = tau.copy(), tau.copy(), q.copy()
    braked[:, still] = 1.5
    stuck[:, still] = 3.0 * np.sin(0.3 * t[:, None] + rng.uniform(0, 6, 2)) + 0.05 * rng.normal(size=(len(t), 2))
    creeping[:, still] += 2e-3 * np.sin(0.6 * t[:, None] + rng.uniform(0, 6, 2))
    for places, forces in ((q, braked), (q, stuck), (creeping, stuck)):
        assert diagnose(robot, prepare(robot, t, places, forces)).errors == ()


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("k", range(6))
def test_signs_and_exchanges_are_named(name, k):
    robot = arm(name)
    cases = {
        "position_sign": {"q": minus(k)},
        "force_sign": {"tau": minus(k), "load": 4.0 * (k % 2)},
        "swapped_positions": {"q": exchanged(k)},
        "swapped_forces": {"tau": exchanged(k)},
        "swapped_joints": {"q": exchanged(k), "tau": exchanged(k)},
    }
    for kind, choices in cases.items():
        pair = kind.startswith("swapped")
        if pair and k + 2 > robot.nv:
            continue
        samples = Log(name, k, **choices).samples()
        (found,) = diagnose(robot, samples).errors
        assert (found.name, found.joints) == (kind, robot.v_names[k : k + 1 + pair])
        with pytest.raises(kt.ArgumentError, match=found.message[:40]):
            robot.identify(samples)


@pytest.mark.parametrize("late", [0.005, 0.01, 0.02, 0.05, 0.1, -0.005])
@pytest.mark.parametrize("name", ARMS)
def test_forces_that_are_late_are_named(name, late):
    (found,) = diagnose(arm(name), Log(name, 2, late=late).samples())
    assert (found.name, found.severity) == ("delay", "warning")
    assert abs(found.figures["delay_s"] / late - 1.0) < 0.2
    assert "late by" in found.message if late > 0.0 else "early by" in found.message


def test_short_delays_are_named():
    """Of 2 ms, at 500 Hz: 19 of 20 logs."""
    found = [diagnose(arm("ur5"), Log("ur5", seed, late=0.002).samples()) for seed in range(4)]
    delays = [x.figures["delay_s"] for findings in found for x in findings if x.name == "delay"]
    assert len(delays) >= 3
    assert np.allclose(delays, 0.002, atol=0.001)


LACKS = {
    "offset": lambda v, tau, size: size * np.ones_like(v),
    "damping_asymmetry": lambda v, tau, size: size * np.abs(v),
    "stribeck": lambda v, tau, size: size * np.tanh(v / 0.01) * np.exp(-((v / 0.1) ** 2)),
    "load_friction": lambda v, tau, size: np.tanh(v / 0.01) * np.abs(tau),
}


@pytest.mark.parametrize("part", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("term", LACKS)
def test_what_the_model_lacks_is_named(term, part):
    for name in ARMS:
        log = Log(name, 3, lacks=lambda v, tau, size: part * LACKS[term](v, tau, size))
        found = diagnose(arm(name), log.samples())
        assert found.errors == ()
        first = found[0]
        assert (first.name, first.figures["candidate"]) == ("lacking", term)
        assert (first.figures["gain"] > 0.15).all()
        with pytest.warns(LogWarning, match=f'"{term}" among the joint terms would explain'):
            fit = arm(name).identify(log.samples(), bodies=None)
        assert fit.checks.names[0] == "lacking"
        known = [*fit.base.joint_terms, term]
        if term != "stribeck":  # its speeds are not known to `diagnose`
            assert term not in [x.figures.get("candidate") for x in diagnose(arm(name), log.samples(), known)]


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("factor", [1000.0, 1e-3, 100.0])
def test_forces_in_another_unit_are_one_error_before_the_estimate(name, factor):
    """Of all joints, and of each one; once only of the joint that carries most."""
    robot = arm(name)
    samples = Log(name, 0, tau=lambda x: factor * x).samples()
    (found,) = diagnose(robot, samples)
    assert (found.name, found.severity, found.joints) == ("force_unit", "error", robot.v_names)
    assert 0.3 < found.figures["ratio"] / factor < 3.0
    with pytest.raises(kt.ArgumentError, match=r"the forces of all joints are about .* times as large"):
        robot.identify(samples)
    for k in range(robot.nv if factor != 100.0 else 0):
        scale = np.where(np.arange(robot.nv) == k, factor, 1.0)
        (found,) = diagnose(robot, Log(name, 1, tau=lambda x, scale=scale: scale * x).samples()).errors
        assert (found.name, found.joints) == ("force_unit", (robot.v_names[k],))
        assert 0.5 < found.figures["ratio"] / factor < 2.0


@pytest.mark.parametrize("motion", ["waves", "points"])
@pytest.mark.parametrize("name", ARMS)
def test_positions_of_the_other_sign_are_told_from_forces_on_received_stamps(name, motion):
    """Of a joint whose equation says little else: in 14 of 39 logs its forces were blamed."""
    robot = arm(name)
    log = recorded(true_robot(robot, 3), Conditions(stamps="received", motion=motion), 3)
    for k in (0, 2, robot.nv - 1):
        t, q, tau = log
        for kind, places, forces in (("position_sign", minus(k)(q), tau), ("force_sign", q, minus(k)(tau))):
            (found,) = diagnose(robot, prepare(robot, t, places, forces)).errors
            assert found.joints == (robot.v_names[k],)
            assert found.name == kind or "which these data do not tell apart" in found.message


@pytest.mark.parametrize("late", [0.01, 0.05, 0.1])
def test_delays_are_read_right_whatever_the_cutoff_and_the_motion(late):
    """Once 1.3 times too long: dτ/dt was taken from the samples that were left."""
    robot = arm("ur5")
    moves = [Conditions(motion="points", clock=None, encoder=1e-6)] if late > 0.02 else []
    for how in (Conditions(clock="1 kHz"), *moves):
        t, q, tau = recorded(true_robot(robot, 1), how, 1)
        tau = np.stack([np.interp(t - late, t, x) for x in tau.T], axis=1)
        there = t > t[0] + late
        (found,) = (x for x in diagnose(robot, prepare(robot, t[there], q[there], tau[there])) if x.name == "delay")
        assert abs(found.figures["delay_s"] / late - 1.0) < 0.15


def test_moves_from_point_to_point_lack_nothing():
    """Friction at rest, which may be anything, was taken for play, load friction, delays in 19 of 70 logs, now in 4."""
    found = []
    for seed in range(8):
        how = Conditions(motion="points", stamps="received" if seed % 4 > 1 else "taken", duration=20.0)
        robot = arm(ARMS[seed % 2])
        found += diagnose(robot, prepare(robot, *recorded(true_robot(robot, seed), how, seed)))
    assert len(found) <= 1


def test_standing_that_leaves_too_few_samples_is_an_error():
    robot = arm("ur5")
    samples = Log("ur5", 1).samples(
        standing=[0.05, 0.05, 0.05, 0.05, 0.05, 0.99 * np.abs(Log("ur5", 1).samples().v[:, 5]).max()]
    )
    with pytest.raises(
        kt.ArgumentError, match=r"wrist_3_joint moves faster than standing in \d+ of \d+ samples, too few"
    ):
        robot.identify(samples)
    fast = Log("ur5", 1).samples(standing=0.999 * np.abs(Log("ur5", 1).samples().v).max(axis=0))
    with pytest.raises(kt.ArgumentError, match=r"equations for \d+ parameters: .* or a lower speed of standing"):
        robot.identify(fast)


def test_what_filtered_samples_do_not_show_is_told_by_prepare():
    robot = arm("ur5")
    t, q, tau = Log("ur5", 0).recorded()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepare(robot, t, q, tau)
        coarse = np.round(tau / 0.5) * 0.5  # quantised, and at its greatest value for a while
        prepare(robot, t, q, coarse)
    ends = [np.clip(x, None, [1e9, np.quantile(x[:, 1], part), *[1e9] * 4]) for x, part in ((tau, 0.95), (coarse, 0.8))]
    at_its_end = "shoulder_lift_joint stay at their greatest or least value"
    for times, forces, message in ((t, ends[0], at_its_end), (t, ends[1], at_its_end), (1e3 * t, tau, "in seconds")):
        with pytest.raises(kt.ArgumentError, match=f"{message}.*[;?] check=False takes the log as it is"):
            prepare(robot, times, q, forces)
        with pytest.warns(LogWarning, match=message):
            prepare(robot, times, q, forces, check=False)


FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")


def standing(dog, seed, bias=0.0, given=(0, 1, 2, 3)):
    """Return a dog with a box on its back that sways on its feet, with sensors in some of them; one may be biased."""
    rng, t = np.random.default_rng(seed), np.linspace(0.0, 10.0, 2001)
    real = dog.attach(kt.Inertia.from_com(2.5, [0.05, 0, 0.1], np.diag([0.02, 0.03, 0.03])), "base")

    def sway(n: int, size: float):
        angles = np.multiply.outer(t, rng.uniform(2, 7, (3, n))) + rng.uniform(0, 6, (3, n))
        return np.asarray(size * np.sin(angles).sum(axis=1))

    q = np.hstack([sway(3, 0.02), sway(3, 0.05), np.ones((2001, 1)), sway(12, 0.1) + 4 * [0, 0.8, -1.5]])
    q, v, a, *_ = (np.asarray(x) for x in prepare(dog, t, q, np.zeros((2001, 18)), filter=kt.Filter(cutoff=8.0))[:3])
    J = np.concatenate([dog.jacobian(q, frame=foot, reference="aligned")[:, 3:, :6] for foot in FEET], axis=1)
    forces = (np.linalg.pinv(J.mT) @ real.inverse_dynamics(q, v, a)[:, :6, None]).reshape(-1, 4, 3)
    forces += 0.2 * rng.normal(size=forces.shape)
    axes = dog.frame_placement(q, frame=FEET[seed % 4])[:, :3, :3]
    forces[:, seed % 4] += bias * axes @ (np.array([0.6, 0.0, 0.8]))
    wrenches = np.concatenate([np.zeros_like(forces), forces], axis=-1)
    f_ext = sum(dog.external_wrench(q, wrenches[:, k], frame=FEET[k], reference="aligned") for k in given)
    tau = np.full((len(q), 18), np.nan)
    tau[:, :6] = 0.0
    return Samples(q, v, a, tau, f_ext)


@pytest.mark.parametrize("seed", range(4))
def test_wrenches_of_feet(seed):
    dog = kt.load("go2")
    assert diagnose(dog, standing(dog, seed), []) == ()
    for given in ((0, 1), (0, 3), (1, 2, 3)):
        found = diagnose(dog, standing(dog, seed, given=given), [])
        assert found.names == ("wrenches_missing",)
        assert {f"{FEET[k][:2]}_calf" for k in range(4) if k not in given} == set(found[0].figures["bodies"])
    for bias in (1.5, 5.0):
        (one,) = diagnose(dog, standing(dog, seed, bias=bias), [])
        assert (one.name, one.figures["body"]) == ("wrench_bias", f"{FEET[seed % 4][:2]}_calf")
        assert abs(np.linalg.norm(one.figures["wrench"][3:]) / bias - 1.0) < 0.35


def test_findings_are_values():
    """No name, no severity and no joint is read from a message."""
    found = diagnose(arm("ur5"), Log("ur5", 1, still=(0,), tau=minus(1)).samples())
    assert found.errors.names == ("force_sign",)
    assert found.warnings.names == ("still",)
    assert found.table().splitlines()[0].startswith("warning  still")
    first = json.loads(json.dumps(found.to_dict()))[0]
    assert first["joints"] == ["shoulder_pan_joint"]
    assert isinstance(found + found, type(found))
    with pytest.raises(kt.ArgumentError, match=r"other sign.*; do otherwise"):
        found.enforce("do otherwise")
    assert str(Finding("x", "error", "something")) == "something"
    figures = Finding("x", "error", "", ("hip",), {"std": np.array([1.0, np.inf]), "n": np.int64(3)}).to_dict()[
        "figures"
    ]
    assert json.dumps(figures, allow_nan=False) == '{"std": [1.0, null], "n": 3}'
    names = [(check.name, stage) for check in CHECKS for stage in check.stages]
    assert len(set(names)) == len(names)


def test_the_tree_of_a_mechanism_wants_the_forces_in_its_loops():
    tree = four_bar().mech.tree
    q, v, a = tree.random_state(seed=0, size=200)
    alone, held = tree.inverse_dynamics(q, v, a), np.zeros((200, tree.nb, 6))
    with pytest.warns(UserWarning, match=r"the forces of .* count as its bodies': write mech.identify, or give"):
        tree.identify((q, v, a, alone), ["armature"])
    for log in (Samples(q, v, a, alone, f_ext=held), [(q, v, a, alone, held)]):
        assert "open_loops" not in diagnose(tree, log).names


@pytest.mark.parametrize("samples", [6, 8, 10])
@pytest.mark.filterwarnings("error")
def test_few_samples_of_a_good_log_are_not_accused(samples):
    """With more noise than its forces, every third wrist had "the other sign": four factors explain so few numbers."""
    robot = kt.load("ur5")
    for seed in range(8):
        q, v, a = robot.random_state(seed=seed, size=samples)
        tau = robot.inverse_dynamics(q, v, a) + np.random.default_rng(seed).normal(size=v.shape)
        assert not diagnose(robot, (q, v, a, tau), ["damping"]).errors


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("effect", [-1e-12, 1e-12])
def test_sums_of_squares_that_rounding_makes_negative_are_no_warning(effect):
    """Their roots were taken."""
    found = object.__new__(Regression)
    found.noise, found.counts, found._least, found.size = np.ones(1), np.array([10.0]), np.zeros(1), 2
    found._places, found._grams = [np.arange(3)], [np.array([[1e-3, 1.0, 0.0], [1.0, effect, 0.0], [0.0, 0.0, 1.0]])]
    found._inverted = lambda whole: (np.diag([1.0, 0.0]), np.array([[0.0], [1.0]]))
    found._summed = lambda weights: np.array([[0.0, 0.0, 1.0]] * 3)
    factor, std = found.ratio(0)
    assert factor == 0.0
    assert std > 0.0
