"""Recorded motions from files, and what is said of those that cannot be read."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.logs import LEG as URDF
from helpers.logs import joint_states, write_bag
from kinetree.identification import LogWarning, read_log
from kinetree.logs.codecs.table import ROWS

T = np.arange(50) * 0.01
RATIOS, CONSTANTS = np.array([100.0, -50.0]), np.array([0.1, 0.2])


@pytest.mark.parametrize("block", [None, 100])
def test_recordings_are_filtered(tmp_path, block):
    t = np.arange(800) * 0.01
    q = np.sin(np.outer(t, [3.0, 4.0])) + np.sin(np.outer(t, [1.0, 7.0]))
    robot, chosen = kt.load(URDF), kt.Filter(cutoff=6.0)
    path = write(tmp_path / "log.csv", "t,q.hip,q.knee,tau.hip,tau.knee", t, q, -49.0 * q)
    log = read_log(path, robot, block=block)
    one, by_itself = (
        robot.identify(x, [], filter=f, check=False) for x, f in ((log, chosen), (log.filtered(chosen), None))
    )
    np.testing.assert_array_equal(one.values, by_itself.values)
    assert robot.identify([log, log], [], filter=chosen, check=False).count == 2 * one.count
    slow = robot.identify(log, ["friction"], filter=chosen, smoothing=0.01, check=False)
    assert slow.base.smoothing == 0.01
    assert slow.validate(log, filter=chosen).size == slow.count
    for wrong, message in [
        (lambda: one.validate(lambda: log), "recording.filtered"),
        (lambda: robot.identify(log.filtered(chosen), filter=chosen), "a filter is for recordings"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            wrong()


@pytest.fixture(scope="module")
def robot():
    return kt.load(URDF)


def motion():
    q = np.sin(np.outer(T, [3.0, 4.0]))
    return q, 5.0 * q


def write(path, header, *columns):
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=header, comments="", fmt="%.17g")
    return path


def test_torques_of_motors_are_noted(robot, tmp_path):
    path = write(tmp_path / "motors.csv", "t,q1,q2,motor_torque1,motor_torque2", T, *motion())
    (note,) = read_log(path, robot).notes
    assert note.startswith("motor_torque1, motor_torque2 are taken as forces at the joints; if they are the motors'")
    assert read_log(path, robot, sensors=kt.Sensors(gear_ratios=2.0)).notes == ()


def test_currents_of_motors_become_forces_of_joints(robot, tmp_path):
    q, tau = motion()
    currents = tau / (CONSTANTS * RATIOS)
    path = write(tmp_path / "log.csv", "t,q1,q2,current1 [A],current2 [A]", T, q * RATIOS, currents)
    choices = {"gear_ratios": RATIOS, "torque_constants": CONSTANTS}
    log = read_log(path, robot, sensors=kt.Sensors(motor_positions=True, **choices))
    np.testing.assert_allclose(log.q, q, atol=1e-15)
    np.testing.assert_allclose(log.tau, tau, atol=1e-13)
    np.testing.assert_array_equal(read_log(path, robot, sensors=kt.Sensors(**choices)).q, q * RATIOS)
    both = write(tmp_path / "both.csv", "t,q1,q2,i1,i2,tau1,tau2", T, q, currents, tau)
    np.testing.assert_allclose(read_log(both, robot, sensors=kt.Sensors(**choices)).tau, tau, atol=1e-13)
    np.testing.assert_array_equal(read_log(both, robot).tau, tau)
    np.savez(tmp_path / "moving.npz", t=T, q=q * RATIOS, v=q * RATIOS, a=tau * RATIOS, current=currents)
    moving = read_log(tmp_path / "moving.npz", robot, sensors=kt.Sensors(motor_positions=True, **choices))
    for found, expected in ((moving.q, q), (moving.v, q), (moving.a, tau), (moving.tau, tau)):
        np.testing.assert_allclose(np.asarray(found), expected, atol=1e-13)
    bag = write_bag(tmp_path / "bag", {"/joint_states": joint_states(T, q, currents)})
    np.testing.assert_allclose(read_log(bag, robot, sensors=kt.Sensors(**choices)).tau, tau, atol=1e-13)
    for wrong, message in [
        ({}, r"there are currents and no joint forces: give Sensors\(torque_constants=…\), or --torque-constants"),
        ({"torque_constants": [1.0]}, r"torque_constants has shape \(1,\): a number, or 2 are needed, of hip, knee"),
        ({"topic": "/x"}, "a topic is for ROS bags"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            read_log(path, robot, sensors=kt.Sensors(**wrong))


def test_nothing_drives_a_floating_base(tmp_path):
    robot = kt.load(URDF, floating_base=True)
    q, v, a = robot.random_state(0, len(T))
    _, tau = motion()
    header = ["t", *(f"q.{x}" for x in robot.q_names), "tau.hip", "tau.knee"]
    write(tmp_path / "log.csv", ",".join(header), T, q, tau)
    np.savez(tmp_path / "log.npz", t=T, q=q, v=v, a=a, tau=tau)
    for name in "log.csv", "log.npz":
        log = read_log(tmp_path / name, robot)
        np.testing.assert_array_equal(log.tau, np.hstack([np.zeros((50, 6)), tau]))
    samples = log.filtered()
    np.testing.assert_array_equal(samples.a, a)
    np.testing.assert_array_equal(
        read_log(tmp_path / "log.npz", robot, sensors=kt.Sensors(gear_ratios=[2.0, 3.0])).tau[:, 6:], [2, 3] * tau
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,q.hip,q.knee,load1,load2\n0,1,2,3,4", "nor currents. Not understood: load1, load2. Expected columns"),
        ("t,q1,q2,/desired/effort/hip,/desired/effort/knee\n0,1,2,3,4", "neither joint forces nor currents"),
        ("t,q1,q2,tau1,tau2\n0,1,2,3,4\n1,2,3,,", "line 3, column 'tau1': an empty field is not a number: fill it in"),
    ],
)
def test_what_is_missing_is_said(robot, tmp_path, text, message):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(kt.FormatError, match=message):
        read_log(tmp_path / "log.csv", robot)


def test_time_goes_on(robot, tmp_path):
    q, tau = motion()
    t = T.copy()
    t[20:] -= 0.05
    with pytest.raises(
        kt.FormatError, match=r"time goes back from 0.19 s to 0.15 s at sample 20: are these several motions"
    ):
        read_log(write(tmp_path / "a.csv", "t,q1,q2,tau1,tau2", t, q, tau), robot)
    t = T.copy()
    t[20] = t[19]
    t[30:] += 1.0
    log = read_log(write(tmp_path / "b.csv", "t,q1,q2,tau1,tau2", t, q, tau), robot)
    assert len(log) == 49
    assert log.notes == (
        "1 samples with the time of the one before are left out",
        "gaps in time, across which nothing is fitted: 0.29 s to 1.3 s",
    )
    assert "0 to 1.49 s" in repr(log)
    with pytest.raises(kt.ArgumentError, match=r"b.csv: a cut-off of 5 Hz needs 73 samples without a gap"):
        log.filtered(kt.Filter(cutoff=5.0))
    np.savez(tmp_path / "c.npz", q=q, v=q, a=q, tau=tau)
    with pytest.raises(kt.ArgumentError, match="has no times"):
        read_log(tmp_path / "c.npz", robot).filtered(kt.Filter(cutoff=5.0))


def test_bags_that_cannot_be_used(robot, tmp_path):
    q, tau = motion()
    own, partial = joint_states(T, q, tau), joint_states(T + 0.001, q[:, :1], tau[:, :1], ["gripper"])

    def bag(name: str, states: Any, *topics: str, **how: bool) -> Path:
        return write_bag(tmp_path / name, dict.fromkeys(topics or ("/joint_states",), states), **how)

    mixed = read_log(bag("mixed", own + partial), robot)
    assert len(mixed) == 50
    assert mixed.notes == ("50 messages of /joint_states without all joints are left out",)
    without = read_log(bag("without", own, stamped=False), robot)
    np.testing.assert_allclose(np.asarray(without.t), T, atol=1e-6, err_msg="when they were recorded")
    two = bag("two", own, "/left/joint_states", "/right/joint_states")
    assert len(read_log(two, robot, sensors=kt.Sensors(topic="/left/joint_states"))) == 50
    nan = np.where(np.arange(50)[:, None] == 7, np.nan, q)
    empty = tmp_path / "empty"
    empty.mkdir()
    for path, choices, message in [
        (two, {}, "several topics have joint states, /left/joint_states, /right/joint_states: say which"),
        (two, {"topic": "/x"}, "no topic '/x' has joint states; there are /left"),
        (bag("partial", partial), {}, "none has hip, knee; there are gripper; expected hip, knee"),
        (bag("other", [(0.0, {"data": "x"})], "/chatter"), {}, "messages of the type JointState; there are /chatter"),
        (bag("still", joint_states(T, q, None)), {}, "neither joint forces nor currents"),
        (bag("nan", joint_states(T, nan, tau)), {}, "row 7, column 'q.hip': nan is not a finite number"),
        (empty, {}, "not a readable ROS bag"),
    ]:
        with pytest.raises(kt.KinetreeError, match=message):
            read_log(path, robot, sensors=kt.Sensors(**choices))
    with pytest.raises(OSError, match=r"nothing.mcap"):
        read_log(tmp_path / "nothing.mcap", robot)


def test_what_samples_do_not_show_is_refused_unless_it_is_not_checked(robot, tmp_path):
    q, tau = motion()
    np.savez(tmp_path / "ms.npz", t=1000.0 * T, q=q, tau=np.minimum(tau, np.quantile(tau, 0.9, axis=0)))
    for block in (None, 1000):
        with pytest.raises(kt.ArgumentError, match=r"ms.npz: .*in seconds\?.*at its end\?.*check=False"):
            list(read_log(tmp_path / "ms.npz", robot, block=block).filtered())
    log, slow = read_log(tmp_path / "ms.npz", robot), kt.Filter(cutoff=0.02)
    with pytest.warns(LogWarning) as said:
        log.filtered(check=False)
    texts = [str(warning.message) for warning in said]
    assert ["in seconds?" in texts[0], "at its end?" in texts[1], len(texts)] == [True, True, 3], texts
    assert "more than half of Nyquist" in texts[2]
    for every in (log, [log, log]):
        with pytest.raises(kt.ArgumentError, match=r"in seconds\?"):
            robot.identify(every, [], filter=slow)
        with pytest.warns(LogWarning, match=r"in seconds\?"):
            assert robot.identify(every, [], filter=slow, check=False, bodies=None).count > 0


def test_forces_that_are_measured_later_are_refused(robot, tmp_path):
    n = ROWS + 5
    late = np.where(np.arange(n) < ROWS, np.nan, 1.0)
    np.savez(tmp_path / "log.npz", t=T[1] * np.arange(n), q=np.zeros((n, 2)), tau=np.column_stack([late, late]))
    with pytest.raises(kt.FormatError, match=f"NaN in the first {ROWS} rows are numbers later"):
        read_log(tmp_path / "log.npz", robot)


def test_angles_that_wrap_are_refused(robot, tmp_path):
    t = np.arange(2000) * 0.01
    turns = np.column_stack([5.0 * t, 0.5 * np.sin(t)])
    wrapped, gap = (turns + np.pi) % (2.0 * np.pi) - np.pi, t + 1.2 * (t > 5.0)
    for times, q, names in [
        (t, turns, ()),
        (t, wrapped, ("wrapped",)),
        (gap, np.column_stack([5.0 * gap, 0.5 * np.sin(gap)]), ()),
        (t, np.degrees(turns), ()),
    ]:
        np.savez(tmp_path / "log.npz", t=times, q=q, tau=np.sin(q))
        log = read_log(tmp_path / "log.npz", robot)
        found = log.diagnose()
        assert found.names == names
        if names:
            assert (found[0].joints, found[0].figures["leaps"]) == (("hip",), 16)
            with pytest.raises(kt.ArgumentError, match=r"the positions of hip leap by a turn: unwrap them"):
                log.filtered(kt.Filter(cutoff=5.0))


def test_recordings_are_logs_everywhere(tmp_path):
    robot = kt.load("ur5")
    t = np.linspace(0.0, 4.0, 801)
    files = []
    for k in range(2):
        q = np.sin(np.outer(t, np.array([1.0, 1.3, 1.7, 2.1, 2.3, 2.9]) + 0.2 * k))
        v, a = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
        np.savez(tmp_path / f"{k}.npz", t=t, q=q, tau=robot.inverse_dynamics(q, v, a))
        files.append(read_log(tmp_path / f"{k}.npz", robot))
    way = kt.Filter(cutoff=5.0)
    samples = [log.filtered(way) for log in files]
    fit = robot.identify(samples, [])
    for one, other in [
        (fit.validate(files, filter=way).rms, fit.validate(samples).rms),
        (
            robot.identify(files, [], filter=way, by=kt.Instrumental(files, way)).values,
            robot.identify(samples, [], by=kt.Instrumental(samples)).values,
        ),
        (
            [found.rms for found in kt.identification.cross_validate(robot, files, [], filter=way)],
            [found.rms for found in kt.identification.cross_validate(robot, samples, [])],
        ),
        (
            robot.identify_payload(files, "ee_link", filter=way).values,
            robot.identify_payload(samples, "ee_link").values,
        ),
    ]:
        np.testing.assert_array_equal(one, other)
    found = kt.identification.diagnose(robot, files, [], filter=way)
    assert str(found) == str(kt.identification.diagnose(robot, samples, []))
    with pytest.raises(kt.ArgumentError, match="a filter is for recordings"):
        fit.validate(samples, filter=way)


def test_an_error_within_a_property_of_a_fit_is_not_hidden(robot, monkeypatch):
    q, v, a = robot.random_state(seed=0, size=200)
    fit = robot.identify((q, v, a, robot.inverse_dynamics(q, v, a)), [], check=False)
    monkeypatch.delattr(fit, "cutoffs")
    with pytest.raises(AttributeError, match="'cutoffs'"):
        fit.filtered  # noqa: B018


def test_a_filtered_stream_tells_its_recording_and_is_filtered_once(robot, tmp_path):
    t = np.arange(200) * 0.01
    q = np.sin(np.outer(t, [3.0, 4.0]))
    log = read_log(write(tmp_path / "log.csv", "t,q1,q2,tau1,tau2,foo", t, q, q, t), robot, block=200)
    way = kt.Filter(cutoff=5.0)
    robot.identify(log, [], filter=way, check=False, bodies=None)
    assert (log.notes, log.progress) == (("columns not used: foo",), 1.0)
    whole = log.filtered(way, check=False).whole()
    assert np.array_equal(next(iter(whole)).tau, whole.tau)
    assert np.array_equal(whole.filtered().tau, whole.tau)


def test_a_file_reaches_its_estimate_in_few_functions(robot, tmp_path):
    """As few as a reader follows: those that take or return arrays of all samples, plausibility checks apart."""
    t, seen = np.arange(800) * 0.01, set()
    q = np.sin(np.outer(t, [3.0, 4.0])) + np.sin(np.outer(t, [1.0, 7.0]))
    np.savez(tmp_path / "log.npz", t=t, q=q, tau=-49.0 * q)

    def long(x):
        if isinstance(x, tuple | list | dict):
            return any(map(long, x.values() if isinstance(x, dict) else x))
        return isinstance(x, np.ndarray) and max(x.shape, default=0) >= 400

    def profile(frame, event, result):
        code, path = frame.f_code, Path(frame.f_code.co_filename)
        if path.parent.name != "checks" and path.stem != "findings" and {"logs", "identification"} & {*path.parts[-3:]}:
            if event == "return" and long(result):
                seen.add(code)
            names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if event == "call" and any(long(frame.f_locals.get(name)) for name in names):
                seen.add(code)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        robot.identify(read_log(tmp_path / "log.npz", robot), [], filter=kt.Filter(decimate=1), check=False)
    finally:
        sys.setprofile(before)
    assert 20 <= len({code.co_qualname for code in seen if not code.co_name.startswith("<")}) <= 25
