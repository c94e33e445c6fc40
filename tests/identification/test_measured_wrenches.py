"""Floating bases from files: poses, measured wrenches, no torque sensors; and files that are streamed."""

import pickle

import numpy as np
import pytest

import kinetree as kt
from helpers.logs import FEET, HOPPER, hop, write_bag
from kinetree.identification import Samples, diagnose, prepare, read_log
from kinetree.identification.report import joints

N = 900
ENDS = ("nx", "ny", "nz", "fx", "fy", "fz")


@pytest.fixture(scope="module")
def robot():
    return kt.load(HOPPER, floating_base=True)


@pytest.fixture(scope="module")
def log(robot):
    return hop(robot, N)


def write(path, robot, log, wrenches, *, efforts=True):
    """Write a CSV or a Parquet file."""
    header = ["t", *(f"q.{x}" for x in robot.q_names), *["tau.hip"] * efforts, *wrenches]
    table = np.hstack([log["t"][:, None], log["q"], *[log["tau"][:, 6:]] * efforts, log["wrench"]])
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(dict(zip(header, table.T, strict=True))), path)
    else:
        np.savetxt(path, table, delimiter=",", header=",".join(header), comments="", fmt="%.17g")
    return path


def foot_bag(path, log, *, effort=False, without="", of="trunk", late=0):
    """Write joint states at all times, odometry at every second, wrenches between, without the first ones."""
    t, middle = log["t"], log["t"][:-1] + 0.001
    between = log["wrench"][:-1] + 0.25 * np.diff(log["wrench"], axis=0)
    joints = [
        (x, {"name": ["wheel", "hip"], "position": [9.0, y], "effort": [0.0, z] if effort else []})
        for x, y, z in zip(t, log["q"][:, 7], log["tau"][:, 6], strict=True)
    ]
    poses = [(x, {"pose": y, "frame": of}) for x, y in zip(t[::2], log["q"][::2, :7], strict=True)]
    wrenches = [(x, {"wrench": y, "frame": "foot"}) for x, y in zip(middle, between, strict=True)][late:]
    topics = {"/joint_states": joints, "/odom": poses, "/ft/foot": wrenches, "/ft/hand": wrenches[:3]}
    return write_bag(path, {x: y for x, y in topics.items() if x != without})


@pytest.fixture(scope="module")
def bag(log, tmp_path_factory):
    return foot_bag(tmp_path_factory.mktemp("bags") / "whole", log, effort=True)


@pytest.mark.parametrize(
    "names",
    [
        [f"wrench.foot.{x}" for x in ENDS],
        [f"foot/wrench/{what}/{x}" for what in ("torque", "force") for x in "xyz"],
        [f"/sole/{x}" for x in ("tx [Nm]", "ty [Nm]", "tz [Nm]", "fx [N]", "fy [N]", "fz [N]")],
        [f"foot.{what}.{x}" for what in ("moment", "force") for x in "xyz"],
    ],
)
def test_wrenches_in_columns(robot, log, tmp_path, names):
    path = write(tmp_path / "log.csv", robot, log, names)
    found = read_log(path, robot, sensors=kt.Sensors(wrenches={"foot": "/sole"} if "sole" in names[0] else FEET))
    assert found.notes == ()
    v, a = log["v"], log["a"]
    np.testing.assert_allclose(robot.inverse_dynamics(found.q, v, a, found.f_ext), log["tau"], atol=1e-10)
    assert "columns not used" in read_log(path, robot).notes[0]


def test_every_format_holds_the_same_wrench(robot, log, bag, tmp_path):
    R = robot.frame_placement(log["q"], frame="foot")[:, :3, :3]
    turned = np.einsum("nij,nkj->nki", R, log["wrench"].reshape(-1, 2, 3)).reshape(-1, 1, 6)
    np.savez_compressed(tmp_path / "a.npz", t=log["t"], q=log["q"], tau=np.asfortranarray(log["tau"]), wrench=turned)
    write(tmp_path / "b.parquet", robot, log, [f"wrench.foot.{x}" for x in ENDS])
    first = read_log(tmp_path / "a.npz", robot, sensors=kt.Sensors(wrenches=FEET, wrench_axes="world"))
    second = read_log(tmp_path / "b.parquet", robot, sensors=kt.Sensors(wrenches=FEET))
    np.testing.assert_allclose(first.f_ext, second.f_ext, atol=1e-12)
    third = read_log(bag, robot, sensors=kt.Sensors(wrenches=FEET))
    assert third.notes == (
        "wrenches not used: /ft/hand",
        "2 samples without messages of /odom, /ft/foot before and after are left out",
    )
    at = slice(1, N - 1)
    np.testing.assert_allclose(third.t, log["t"][at] - log["t"][1], atol=1e-9)
    off = robot.difference(log["q"][at], third.q)
    assert np.abs(off).max() < 1e-6, "poses between those of the odometry"
    np.testing.assert_allclose(third.tau, log["tau"][at], atol=1e-9)
    assert np.abs(third.f_ext - second.f_ext[at]).max() < 0.02 * np.abs(second.f_ext).max(), "linear between two"


@pytest.mark.parametrize("source", ["csv", "bag"])
def test_a_base_tells_without_torque_sensors(robot, log, tmp_path, source):
    names = [f"wrench.foot.{x}" for x in ENDS]
    if source == "csv":
        path = write(tmp_path / "log.csv", robot, log, names, efforts=False)
    else:
        path = foot_bag(tmp_path / "bag", log)
    recording = read_log(path, robot, sensors=kt.Sensors(wrenches=FEET))
    assert "no joint forces: only the equations of the base tell" in recording.notes
    assert np.isnan(recording.tau[:, 6]).all()
    samples = recording.filtered(kt.Filter(cutoff=25.0))
    assert diagnose(robot, samples) == ()
    before = robot.with_inertial_parameters(1.3 * robot.inertial_parameters)
    fit = before.identify(samples, [], check=False)
    assert np.isnan(fit.noise[6])
    assert (fit.noise[:6] > 0.0).all()
    np.testing.assert_allclose(fit.values, fit.base.of(robot), atol=0.01 * np.abs(fit.values).max())
    assert abs(fit.robot.mass / robot.mass - 1.0) < 0.01
    streamed = before.identify(
        read_log(path, robot, block=400, sensors=kt.Sensors(wrenches=FEET)).filtered(kt.Filter(cutoff=25.0)),
        [],
        check=False,
    )
    assert streamed.count == fit.count
    np.testing.assert_allclose(streamed.values, fit.values, atol=1e-3 * np.abs(fit.values).max())
    found = fit.validate(samples)
    assert "–" in joints(fit, found, None).rows[6]


@pytest.mark.parametrize(
    "choices", [{}, {"presliding": 1e-3}, {"decimate": 3}, {"decimate": 75}, {"outliers": 1e4}, {"standing": 1e-9}]
)
@pytest.mark.parametrize("part", [97, 400])
def test_a_stream_has_the_samples_of_the_whole(robot, log, tmp_path, choices, part):
    t = log["t"].copy()
    t[500:] += 1.0
    tau = log["tau"].copy()
    tau[[200, 600]] = 1e9 * ("outliers" in choices)
    np.savez(tmp_path / "log.npz", t=t, q=log["q"], tau=tau, wrench=log["wrench"])
    read = read_log(tmp_path / "log.npz", robot, sensors=kt.Sensors(wrenches=FEET))
    whole = read.filtered(kt.Filter(cutoff=20.0, **choices))
    recording = read_log(tmp_path / "log.npz", robot, block=part, sensors=kt.Sensors(wrenches=FEET))
    stream = recording.filtered(kt.Filter(cutoff=20.0, **choices))
    for again in (stream, pickle.loads(pickle.dumps(stream))):
        parts = list(again)
        assert len(parts) > 2
        for x, name in zip(whole, Samples._fields, strict=True):
            if np.ndim(x) > 0 and (name != "standing" or choices.keys() & {"standing", "presliding"}):
                found = np.concatenate([np.asarray(getattr(y, name)) for y in parts])
                np.testing.assert_allclose(found, x, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("late", [0, 250])
def test_blocks_of_a_bag_fit_together(robot, log, bag, tmp_path, monkeypatch, late):
    bag = foot_bag(tmp_path / "late", log, effort=True, late=late) if late else bag
    whole = read_log(bag, robot, sensors=kt.Sensors(wrenches=FEET))
    monkeypatch.setattr("kinetree.logs.codecs.bag.ROWS", 100)
    parts = read_log(bag, robot, sensors=kt.Sensors(wrenches=FEET))
    assert parts.notes == whole.notes
    for name in ("t", "q", "tau", "f_ext"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.filterwarnings("error")
def test_wrenches_are_needed_and_say_what_is_carried(robot, log, noise):
    q, v, a = (log[x][:200] for x in ("q", "v", "a"))
    f_ext = np.zeros((200, robot.nb, 6))
    f_ext[:, 0] = robot.inverse_dynamics(q, v, a)[:, :6]
    tau = robot.inverse_dynamics(q, v, a, f_ext) + noise * np.random.default_rng(0).normal(size=v.shape)
    held = robot.identify_payload(Samples(q, v, a, np.where(np.arange(7) == 6, np.nan, tau), f_ext), "foot")
    assert abs(held.inertia.m) < 1e-3 + 0.1 * noise
    if noise == 0.0:
        assert diagnose(robot, Samples(q, v, a, tau, f_ext)) == ()
        for wrong, message in ((None, "no wrenches are given"), (-f_ext, "another sign")):
            with pytest.raises(kt.ArgumentError, match=message):
                robot.identify(Samples(q, v, a, tau, wrong), [])


def test_the_speed_of_friction_goes_with_samples_as_they_are(robot, log, tmp_path):
    np.savez(tmp_path / "log.npz", **log)
    read = read_log(tmp_path / "log.npz", robot, sensors=kt.Sensors(wrenches=FEET))
    assert read.filtered().smoothing is None
    stream = read_log(tmp_path / "log.npz", robot, sensors=kt.Sensors(wrenches=FEET), block=1 << 17)
    (part,) = stream.filtered(kt.Filter(smoothing=0.5))
    assert part.smoothing == read.filtered(kt.Filter(smoothing=0.5)).smoothing == 0.5
    with pytest.raises(kt.ArgumentError, match=r"prepared with smoothing=0\.5, and 0\.001 is asked"):
        robot.identify([part], ["friction"])


def test_what_is_refused(robot, log, tmp_path):
    csv = write(tmp_path / "log.csv", robot, log, [f"wrench.foot.{x}" for x in ENDS])
    cut = ["foot.mx", "foot.my", "wrench.foot.n_z", "foot.fx", "foot.fy", "foot.fz"]
    cut, kilo = (
        write(tmp_path / f"{name}.csv", robot, log, header)
        for name, header in (("cut", cut), ("kilo", [f"foot.{x} [mNm]" for x in ENDS]))
    )
    few = {name: x[:20] for name, x in log.items()}
    bag, still = foot_bag(tmp_path / "bag", few), foot_bag(tmp_path / "still", few, without="/odom")
    fixed, other = kt.load(HOPPER), foot_bag(tmp_path / "other", few, of="foot")
    unknown = read_log(foot_bag(tmp_path / "unknown", few, of="imu"), robot).notes
    assert unknown[1] == "odometry of 'imu', which the robot does not have, is taken for that of 'trunk'"
    for call, message in [
        *(
            (lambda path=path, who=who, choices=choices: read_log(path, who, sensors=kt.Sensors(**choices)), message)
            for path, who, choices, message in [
                (csv, robot, {"wrenches": ["sole"]}, "no frame 'sole'"),
                (csv, robot, {"wrenches": "foot"}, r"a list of frames: \['foot'\]"),
                (csv, robot, {"wrenches": FEET, "wrench_axes": "body"}, "'frame' or 'world'"),
                (csv, robot, {"wrenches": {"foot": "sole"}}, "lacks wrench.sole.nx, wrench.sole.ny"),
                (cut, robot, {"wrenches": FEET}, "lacks wrench.foot.nz. Not understood: wrench.foot.n_z"),
                (kilo, robot, {"wrenches": FEET}, "the unit 'mNm'"),
                (csv, robot, {"odometry": "/odom"}, "odometry is for ROS bags"),
                (csv, fixed, {"wrenches": ["trunk"]}, "'trunk' does not move"),
                (other, robot, {}, "the odometry is of 'foot'; that of 'trunk' is needed"),
                (still, robot, {}, "of the type Odometry; there are /ft/foot, .*; or hold the base"),
                (bag, robot, {"odometry": "/x"}, "no topic '/x' has odometry of the floating base; there are /odom"),
                (bag, fixed, {"odometry": "/odom"}, "the base does not float"),
                (bag, fixed, {}, "neither joint forces nor currents"),
                (bag, robot, {"wrenches": ["leg"]}, "is called 'leg'; there are /ft/foot, /ft/hand"),
            ]
        ),
        (lambda: read_log(csv, robot, block=0), "one sample is the least"),
        (lambda: read_log(csv, robot, topics="/x"), "no argument 'topics'"),
        (lambda: read_log(robot, csv), r"path is <Robot .*: write read_log\(path, robot\)"),
        (lambda: read_log(csv, robot, sensors={"wrenches": FEET}), r"write sensors=kinetree\.Sensors\(…\)"),
        (lambda: read_log(csv, robot).filtered({"cutoff": 3}), r"filter is .*: write filter=kinetree\.Filter\(…\)"),
        (lambda: read_log(csv, robot, block=9).filtered(3.0), r"filter is 3\.0: write filter=kinetree\.Filter\(…\)"),
        (lambda: read_log(csv, robot).filtered(cutoff=3), r"'cutoff': write filter=kinetree\.Filter\(cutoff=…\)"),
        (lambda: read_log(csv, robot).filtered(kt.Filter(cutoff=-1.0)), "cutoff"),
    ]:
        with pytest.raises(kt.KinetreeError, match=message):
            call()
    assert not hasattr(read_log(csv, robot, block=9), "q")
    assert prepare(robot, log["t"], log["q"], np.full((N, 7), np.nan), filter=kt.Filter(cutoff=20.0)).f_ext is None


@pytest.mark.parametrize(("axes", "reference"), [("frame", "body"), ("world", "aligned")])
def test_each_wrench_is_on_its_frame(robot, log, tmp_path, axes, reference):
    names, wrenches = ("foot", "trunk", "leg"), np.random.default_rng(0).normal(size=(N, 3, 6))
    np.savez(tmp_path / "log.npz", t=log["t"], q=log["q"], tau=log["tau"], wrench=wrenches)
    found = read_log(tmp_path / "log.npz", robot, sensors=kt.Sensors(wrenches=names, wrench_axes=axes)).f_ext
    each = zip(names, np.moveaxis(wrenches, 1, 0), strict=True)
    expected = sum(robot.external_wrench(log["q"], w, frame=name, reference=reference) for name, w in each)
    np.testing.assert_allclose(found, expected, atol=1e-12)
