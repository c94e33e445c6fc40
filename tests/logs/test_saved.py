"""Trajectories in files: the same to the bit when read again, and no harm from files of others."""

import io
import json
import zipfile

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

import kinetree as kt
from helpers.trees import toy
from kinetree.errors import ArgumentError, FormatError
from kinetree.logs.codecs import table as contract

ARM, FLOATING = kt.load("ur5"), kt.load("go2")


def made(robot=ARM, lead=(), *, more=True, n=7):
    rng = np.random.default_rng(5)
    arrays = [rng.normal(size=(*lead, n, k)) * 10.0 ** rng.integers(-9, 9, k) for k in (robot.nq, *[robot.nv] * 3)]
    stopped = np.full(lead, np.nan)
    reasons = np.full(lead, None)
    if lead:
        stopped[0], reasons[0] = 0.1 + 0.2, "q·v < 0"
    t = np.cumsum(rng.uniform(0.1, 1.0, n))
    return kt.Trajectory(
        robot,
        t,
        *arrays[: 4 if more else 2],
        stopped_at=stopped,
        reasons=reasons,
        inputs=inputs(lead, n) if lead else {},
    )


def inputs(lead, n):
    """Return numbers of the robot, of all robots and of each, constant and over time."""
    rng = np.random.default_rng(6)
    return {kt.gravity: rng.normal(size=(*lead, n, 3)), kt.joint_damping: rng.normal(size=(*lead, 1, 6))}


def same(a, b):
    assert a.recorded == b.recorded
    for name in ("t", "stopped_at", *a.recorded):
        x, y = getattr(a, name), getattr(b, name)
        assert x.shape == y.shape
        assert x.tobytes() == y.tobytes(), name
    assert [*a.inputs] == [*b.inputs]
    for name, x in a.inputs.items():
        assert np.array_equal(np.broadcast_to(x, b.inputs[name].shape), b.inputs[name])
    assert a.reasons.tolist() == b.reasons.tolist()
    assert a.reasons.dtype == b.reasons.dtype == object


@pytest.mark.parametrize(
    ("robot", "lead", "more", "suffixes"),
    [
        *((robot, (), more, ("npz", "csv", "parquet")) for robot in (ARM, FLOATING) for more in (True, False)),
        *((ARM, lead, True, ("npz", "parquet")) for lead in ((1,), (2, 3))),  # of the first, all have stopped
    ],
)
def test_what_is_saved_comes_back_to_the_bit(tmp_path, robot, lead, more, suffixes):
    motion = made(robot, lead, more=more)
    for suffix in suffixes:
        motion.save(str(tmp_path / f"motion.{suffix}") if lead else tmp_path / f"motion.{suffix}")
        same(motion, kt.Trajectory.load(tmp_path / f"motion.{suffix}", robot))
    assert {path.name for path in tmp_path.iterdir()} == {f"motion.{suffix}" for suffix in suffixes}


def test_the_motion_of_a_mechanism_comes_back_with_the_mechanism(tmp_path):
    mech = kt.Mechanism(FLOATING, [kt.Contact("FL_foot")])
    motion = made(FLOATING)
    motion.save(tmp_path / "motion.npz")
    same(motion, kt.Trajectory.load(tmp_path / "motion.npz", mech))
    assert kt.Trajectory(mech, motion.t, motion.q, motion.v).robot is FLOATING


def test_what_is_written_is_read_by_others_too(tmp_path):
    motion = made()
    for suffix in ("csv", "parquet"):
        motion.save(tmp_path / f"motion.{suffix}")
    names = (tmp_path / "motion.csv").read_text().splitlines()[0].split(",")
    assert names[:3] == ["t", "q.shoulder_pan_joint", "q.shoulder_lift_joint"]
    assert names[-1] == "tau.wrist_3_joint"
    table = parquet.read_table(tmp_path / "motion.parquet")
    assert table.column_names == names
    assert np.array_equal(table["a.elbow_joint"].to_numpy(), motion.a[:, 2])


def test_what_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    batch = made(lead=(2,))
    with pytest.raises(ArgumentError, match=r"a CSV holds one robot.*\.npz"):
        batch.save(tmp_path / "motion.csv")
    with pytest.raises(ArgumentError, match=r"end it in \.npz or \.csv or \.parquet"):
        batch.save(tmp_path / "motion.pkl")
    with pytest.raises(ArgumentError, match="cannot tell the format"):
        kt.Trajectory.load(tmp_path / "motion.pkl", ARM)
    with pytest.raises(ArgumentError, match="str was given for the robot"):
        kt.Trajectory.load(tmp_path / "motion.npz", "ur5")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ArgumentError, match=r"pip install pyarrow"):
        batch.save(tmp_path / "motion.parquet")
    assert not list(tmp_path.iterdir())


def test_the_file_is_of_another_robot(tmp_path):
    for suffix, message in (
        ("csv", "the header lacks"),
        ("parquet", "the header lacks"),
    ):
        made().save(tmp_path / f"motion.{suffix}")
        with pytest.raises(FormatError, match=message):
            kt.Trajectory.load(tmp_path / f"motion.{suffix}", FLOATING)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def bomb(size):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("q.npy", "w") as member:
        member.write(bytes(size))
    return file.getvalue()


T, Q = np.arange(3.0), np.zeros((3, 6))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a readable NPZ archive"),
        (b"PK\x03\x04 and no more", "not a readable NPZ archive"),
        (npz(t=T, q=Q, v=Q)[:-40], "not a readable NPZ archive"),
        (npz(t=T, q=Q), "there is no v"),
        (npz(q=Q, v=Q), "there is no t"),
        (npz(t=T, q=Q, v=Q * 1j), "the array 'v' has the type complex128"),
        (npz(t=T[0], q=Q, v=Q), r"t has shape \(\), \(n,\) is needed"),
        (npz(t=T, q=Q, v=Q, stopped_at=T), r"stopped_at has shape \(3,\), \(\) is needed"),
        (bomb(30_000_000), "bytes that say they hold 30000000: that is refused"),
    ],
)
def test_archives_of_strangers(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr(contract, "FREE", 10_000_000)
    (tmp_path / "motion.npz").write_bytes(content)
    with pytest.raises(FormatError, match=message):
        kt.Trajectory.load(tmp_path / "motion.npz", ARM)


def changed(name=None, column=None, **metadata):
    """Return the table of a batch of two with another column of this name, or other metadata."""
    file = io.BytesIO()
    table = pyarrow.table({k: np.zeros(6) for k in ("q.hip", "v.hip")} | {"t": np.tile(T, 2)})
    if name is not None:
        table = table.drop_columns(name)
        table = table if column is None else table.append_column(name, [column])
    known = {"batch_shape": [2], "stopped_at": [None, 1.0], "reasons": ["", "x"]} | metadata
    parquet.write_table(table.replace_schema_metadata({"kinetree": json.dumps(known)}), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed(), None),
        (b"", "not a readable Parquet file"),
        (changed()[:-9], "not a readable Parquet file"),
        (b"PAR1" + bytes(100) + b"PAR1", "not a readable Parquet file"),
        (changed("v.hip"), "there is no v"),
        (changed("v.hip", ["1"] * 6), r"there is no v; .*columns that hold no numbers: v\.hip \(string\)"),
        (changed("v.hip", [1.0] * 5 + [None]), "v holds a number that is not finite"),
        (changed("t", np.arange(6.0)), "the same times"),
        (changed(batch_shape=[4]), "its metadata 'kinetree' are not those of a trajectory: 6 rows of a batch"),
        (changed(batch_shape=[-2]), "6 rows of a batch"),
        (changed(batch_shape=[2.0]), "6 rows of a batch"),
        (changed(batch_shape=7), "its metadata 'kinetree'"),
        (changed(batch_shape=[]), "its metadata 'kinetree'"),
        (changed(stopped_at=[1.0]), "its metadata 'kinetree'"),
        (changed(stopped_at=["x", None]), "its metadata 'kinetree'"),
        (changed(reasons=[1]), "its metadata 'kinetree'"),
    ],
)
def test_parquet_of_strangers(tmp_path, content, message):
    robot = pendulum()
    (tmp_path / "motion.parquet").write_bytes(content)
    if message is None:
        assert kt.Trajectory.load(tmp_path / "motion.parquet", robot).reasons.tolist() == [None, "x"]
        return
    with pytest.raises(FormatError, match=message):
        kt.Trajectory.load(tmp_path / "motion.parquet", robot)


def pendulum():
    return kt.Robot(toy(("hip world bob", kt.joints.Revolute((0, 1, 0)))))


def test_a_parquet_that_holds_far_more_than_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(contract, "FREE", 10_000)
    n = 1_000_000
    table = pyarrow.table({"t": np.zeros(n), "q.hip": np.zeros(n), "v.hip": np.zeros(n)})
    parquet.write_table(table, tmp_path / "motion.parquet")
    with pytest.raises(FormatError, match="bytes that say they hold 24000000: that is refused"):
        kt.Trajectory.load(tmp_path / "motion.parquet", pendulum())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,q.hip\n0,0\n1,0\n", "there is no v"),
        ("q.hip,v.hip,a.hip\n0,0,0\n", "there is no t"),
        ("t,q.hip,v.hip\n0,0,nan\n", "line 2, column 'v.hip': nan is not a finite number"),
        ("t,q.hip,v.hip,tau.hip\n0,0,0,inf\n", "line 2, column 'tau.hip': inf is not a finite number"),
        ("t,q.hip,v.hip\n1,0,0\n0,0,0\n", "t must increase"),
    ],
)
def test_tables_of_strangers(tmp_path, text, message):
    (tmp_path / "motion.csv").write_text(text)
    with pytest.raises(FormatError, match=message):
        kt.Trajectory.load(tmp_path / "motion.csv", pendulum())


def test_torques_in_a_table_are_all_there_or_none(tmp_path):
    made(more=True).save(tmp_path / "motion.csv")
    text = (tmp_path / "motion.csv").read_text()
    (tmp_path / "motion.csv").write_text(text.replace("tau.elbow_joint", "elbow_load"))
    with pytest.raises(FormatError, match=r"the header lacks tau\.elbow_joint\. Not understood: elbow_load"):
        kt.Trajectory.load(tmp_path / "motion.csv", ARM)


def test_torques_of_a_table_go_by_any_of_their_words(tmp_path):
    motion = made(more=True)
    motion.save(tmp_path / "motion.csv")
    text = (tmp_path / "motion.csv").read_text()
    (tmp_path / "motion.csv").write_text(text.replace("tau.", "effort."))
    same(motion, kt.Trajectory.load(tmp_path / "motion.csv", ARM))


@pytest.mark.parametrize("suffix", ["npz", "parquet", "csv"])
def test_a_file_with_changed_bytes_is_read_or_refused(tmp_path, suffix):
    path, rng = tmp_path / f"motion.{suffix}", np.random.default_rng(1)
    made(lead=() if suffix == "csv" else (2,)).save(path)
    whole = path.read_bytes()
    refused = 0
    for k in range(60):
        changed = bytearray(whole if k % 7 else whole[: rng.integers(len(whole))])
        for at in rng.integers(len(changed), size=rng.integers(1, 6)):
            changed[at] = rng.integers(256)
        path.write_bytes(changed)
        try:
            kt.Trajectory.load(path, ARM)
        except FormatError:
            refused += 1
    assert refused > 20
