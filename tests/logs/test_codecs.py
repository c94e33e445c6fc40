"""Every format of files by one contract: what is written is read to the bit, what is wrong is said with its place."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.logs import LEG as URDF
from helpers.logs import joint_states, write_bag
from kinetree.identification import read_log
from kinetree.logs.codecs import CODECS, Bag, Csv, Npz, Parquet, Table, codec_of, open_columns
from kinetree.logs.columns import Coordinates

N = 50
T = np.arange(N) * 0.01
LEG = Coordinates(("hip", "knee"), ("hip", "knee"))


@pytest.fixture(scope="module")
def robot():
    return kt.load(URDF)


def motion():
    rng = np.random.default_rng(0)
    q, tau = rng.normal(size=(2, N, 2)) * 10.0 ** rng.integers(-9, 9, size=(2, N, 2))
    return {"t": T.copy(), "q": q, "tau": tau}


def written(codec, folder, arrays, *names):
    """Write a motion of joints of these names, in a bag in another order and beside a joint of no robot's."""
    joints = list(names or LEG.q)
    if codec is Bag:
        q, tau = (np.insert(arrays[x][:, ::-1], 1, 9.0, axis=1) for x in ("q", "tau"))
        states = joint_states(arrays["t"], q, tau, [joints[1], "gripper", joints[0]])
        return write_bag(folder / "bag", {"/joint_states": states})
    path = folder / f"log{codec.suffixes[0]}"
    columns = {"t": ["t"]} | {x: [f"{x}.{name}" for name in joints] for x in arrays if x != "t"}
    labels = {"q_names": np.array(joints), "v_names": np.array(joints)} if codec is Npz else {}
    with path.open("wb") as stream:
        codec.write(stream, columns, arrays, labels)
    return path


def test_every_format_is_known_by_its_suffix(tmp_path):
    for codec in CODECS:
        assert codec_of(written(codec, tmp_path, motion())) is codec
    with pytest.raises(kt.ArgumentError, match="not written"):
        Bag.write(None, {}, {}, {})  # type: ignore[arg-type]


@pytest.mark.parametrize("codec", [Csv, Npz, Parquet], ids=lambda codec: codec.suffixes[0])
def test_what_is_written_is_read_to_the_bit(codec, tmp_path):
    whole = motion() | {"v": motion()["q"] / 3.0, "a": motion()["tau"] / 7.0}
    with open_columns(written(codec, tmp_path, whole), LEG) as table:
        parts = list(table.blocks())
        assert (table.layout.ignored, table.notes, table.progress) == ((), [], 1.0)
    for x in "tqva":
        assert np.concatenate([part[x] for part in parts]).tobytes() == whole[x].tobytes()


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.suffixes[-1])
def test_a_log_is_the_same_whole_or_in_blocks(codec, robot, tmp_path):
    whole, path = motion(), written(codec, tmp_path, motion())
    log = read_log(path, robot)
    assert (log.q.tobytes(), log.tau.tobytes()) == (whole["q"].tobytes(), whole["tau"].tobytes())
    np.testing.assert_allclose(log.t, T, atol=1e-9 * (codec is Bag))
    parts = read_log(path, robot, block=7)
    for _ in range(2):
        sizes = [len(part.q) for part in parts]
        assert sizes == [7] * 7 + [1]
    assert np.concatenate([part.tau for part in parts]).tobytes() == log.tau.tobytes()
    assert [len(part.q) for part in read_log(path, robot, block=1)] == [1] * len(T)
    assert (parts.notes, parts.progress) == (log.notes, pytest.approx(1.0, abs=0.05))
    assert log.notes == ()


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.suffixes[-1])
def test_rows_without_numbers_are_left_out_on_request(codec, robot, tmp_path):
    arrays, kept = motion(), np.delete(np.arange(N), [3, 40])
    arrays["q"][3, 0], arrays["tau"][40, 1] = np.nan, np.inf
    path, leaving = written(codec, tmp_path, arrays), kt.Sensors(skip_missing=True)
    paths = [path]
    if codec is Csv:
        paths.append(tmp_path / "empty fields.csv")
        paths[1].write_text(path.read_text().replace("nan", "").replace("inf", ""))
    for path in paths:
        with pytest.raises(kt.FormatError, match=r"number.*; Sensors\(skip_missing=True\), or --skip-missing, leaves"):
            read_log(path, robot)
        log, streamed = (read_log(path, robot, block=block, sensors=leaving) for block in (None, 7))
        np.testing.assert_array_equal(np.concatenate([x.q for x in streamed]), arrays["q"][kept])
        np.testing.assert_array_equal(log.tau, arrays["tau"][kept])
        np.testing.assert_allclose(log.t, T[kept] - T[kept][0], atol=1e-9)
        assert log.notes == streamed.notes == ("2 of 50 rows, in which a number is missing, are left out",)
    arrays["q"][:, 1] = np.nan
    (tmp_path / "none").mkdir()
    with pytest.raises(kt.FormatError, match="in every one of 50 rows a number is missing"):
        read_log(written(codec, tmp_path / "none", arrays), robot, sensors=leaving)


@pytest.mark.parametrize("codec", [Csv, Npz, Parquet], ids=lambda codec: codec.suffixes[0])
def test_forces_that_were_never_measured_are_nan(codec, robot, tmp_path):
    q = np.sin(np.outer(T, [3.0, 4.0]))
    path = written(codec, tmp_path, {"t": T, "q": q, "tau": 5.0 * q * [1.0, np.nan]})
    if codec is Csv:
        path.write_text(path.read_text().replace("nan", ""))
    log = read_log(path, robot)
    np.testing.assert_array_equal(log.tau, 5.0 * q * [1.0, np.nan])
    assert np.isnan(robot.identify(log, [], filter=kt.Filter(cutoff=20.0), check=False).noise).tolist() == [False, True]


def cut_short(codec, folder):
    path = written(codec, folder, motion())
    for file in [path] if path.is_file() else path.glob("*.db3"):
        file.write_bytes(file.read_bytes()[: len(file.read_bytes()) * 3 // 5])
    if codec is Csv:
        path.write_text(path.read_text().rpartition(",")[0] + "\n")
    return path


def twice(codec, folder):
    """A quantity is there under two names."""
    if codec is Npz:
        labels = {"q_names": LEG.q, "v_names": LEG.v}
        np.savez(folder / "log.npz", **motion(), **labels, position=motion()["q"])
        return folder / "log.npz"
    path = folder / f"log{codec.suffixes[0]}"
    names = {"t": ["t"], "q": ["q.hip", "q.knee"], "tau": ["tau.hip", "tau.knee"], "more": ["hip"]}
    with path.open("wb") as stream:
        codec.write(stream, names, motion() | {"more": motion()["q"][:, :1]}, {})
    return path


def changed(*what):
    def made(codec: type[Table], folder: Path) -> Path:
        arrays = motion()
        for quantity, row, value in what:
            arrays[quantity][(row, 1) if quantity != "t" else row] = value
        return written(codec, folder, arrays)

    return made


WRONG = {
    "cut short": (cut_short, r"not a readable|line 31: 4 fields where 5 are expected"),
    "two alike": (twice, r"'q(\.hip)?' and '(hip|position)' are both q"),
    "NaN": (
        changed(("q", 7, np.nan), ("tau", 9, np.nan)),
        r"(line 9|row 7)[,a-z]* ?column.*knee.*: nan is not a finite number",
    ),
    "infinite": (
        changed(("tau", 3, -np.inf), ("q", 5, np.nan)),
        r"(line 5|row 3)[,a-z]* ?column.*knee.*: -inf is not a finite number",
    ),
    "time goes back": (changed(("t", 20, 0.11)), "time goes back from 0.19 s to 0.11 s"),
    "another robot": (lambda codec, folder: written(codec, folder, motion(), "wrist", "gripper"), "hip, (q.)?knee"),
}
"""What may be wrong with a file of any format, and what is said of it."""


IMPOSSIBLE = {(Bag, "two alike"), (Bag, "time goes back")}
"""A bag has one position a joint, and its messages are read in the order of time."""


@pytest.mark.parametrize(
    ("codec", "kind"), [(x, kind) for x in CODECS for kind in WRONG if (x, kind) not in IMPOSSIBLE]
)
def test_what_is_wrong_is_said_with_its_place(codec, kind, robot, tmp_path):
    make, message = WRONG[kind]
    path = make(codec, tmp_path)
    with pytest.raises(kt.FormatError, match=message) as error:
        read_log(path, robot)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize("codec", [Npz, Parquet], ids=lambda codec: codec.suffixes[0])
def test_a_file_that_is_read_in_blocks_is_never_in_memory_as_a_whole(codec, tmp_path):
    n, robot = 400_000, kt.load(URDF)
    q = np.random.default_rng(0).normal(size=(n, 2))
    path = written(codec, tmp_path, {"t": np.arange(n) * 1e-3, "q": q, "tau": 2.0 * q})
    log = read_log(path, robot, block=4096)
    next(iter(log))  # what is imported to read it stays
    tracemalloc.start()
    try:
        assert sum(len(part.q) for part in log) == n
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 0.4 * 8 * 5 * n
