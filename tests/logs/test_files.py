"""Tables read and written: the same bits back, and a clear error for each thing that may be wrong."""

import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetree.errors import ArgumentError, FormatError
from kinetree.logs.codecs import open_columns
from kinetree.logs.codecs.table import ROWS as BLOCK
from kinetree.logs.columns import Coordinates
from kinetree.logs.saved import write_motion
from kinetree.output import check_output, whole_file

ARM = Coordinates(("hip", "knee"), ("hip", "knee"))
HEADER = "t,q.hip,q.knee,v.hip,v.knee,a.hip,a.knee"


def read(path):
    """Return the whole motion as one block, and what the reader says of it."""
    with open_columns(path, ARM) as table:
        parts = list(table.blocks())
        assert [len(part["q"]) for part in parts[:-1]] == [BLOCK] * (len(parts) - 1)
        return {x: np.concatenate([part[x] for part in parts]) for x in parts[0]}, table.layout


@pytest.fixture
def write(tmp_path):
    def write(text, name="motion.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


TABLE = np.arange(14.0).reshape(2, 7) / 3
ROWS = "\n".join(",".join(map(repr, row)) for row in TABLE.tolist())


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER}\n{ROWS}\n",
        f"\ufeff{HEADER}\r\n{ROWS}".replace("\n", "\r\n").replace("\r\r", "\r"),
        f"# a comment\n\n{HEADER}\n{ROWS}\n\n# the end\n",
        f"# recorded\n# {HEADER}\n{ROWS}",
        ROWS,
        f"{HEADER}\n{ROWS}".replace(",", ";"),
        f"{HEADER}\n{ROWS}".replace(",", "\t"),
        f"{HEADER}\n{ROWS}".replace(",", "  "),
        '"' + f"{HEADER}\n{ROWS}".replace(",", '","').replace("\n", '"\n"') + '"',
    ],
)
def test_csv_dialects(write, text):
    motion, _ = read(write(text))
    np.testing.assert_array_equal(motion["t"], TABLE[:, 0])
    np.testing.assert_array_equal(np.hstack([motion[x] for x in "qva"]), TABLE[:, 1:])


def test_columns_of_text_that_are_not_used_do_no_harm(write):
    motion, layout = read(write('t,mode,hip,knee\n0,"up, left",1,2\n1,down,3,4\n'))
    assert layout.ignored == ("mode",)
    np.testing.assert_array_equal(motion["q"], [[1, 2], [3, 4]])
    assert "v" not in motion


def test_long_files_come_in_blocks(write):
    n = 2 * BLOCK + 3
    motion, _ = read(write("t,hip,knee\n" + "".join(f"{k},{k}.5,-{k}\n" for k in range(n))))
    np.testing.assert_array_equal(motion["t"], np.arange(n))
    np.testing.assert_array_equal(motion["q"], np.stack([np.arange(n) + 0.5, -np.arange(n)], axis=1))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,1,2\n1,nan,2", r"motion\.csv, line 3, column 'hip': nan is not a finite number"),
        ("0,1,2\n1,1,-inf", "line 3, column 'knee': -inf is not a finite number"),
        ("0,1,2\n\n# note\n1,1,abc", "line 5, column 'knee': 'abc' is not a number"),
        ("0,1,2\n1,,2", "line 3, column 'hip': an empty field is not a number"),
        ("0,1,2\n1,2", "line 3: 2 fields where 3 are expected"),
        ("0,1,2\n1,2,3,4", "line 3: 4 fields where 3 are expected"),
        ("0,1,2\n1,5,2,5,3,5", "6 fields where 3 are expected; decimal commas are not read"),
        ('0,1,2\n1,"2,5",3', "'2,5' is not a number; decimal commas are not read: write 0.5"),
        ("0,1,2\n1,1_0,2", "line 3, column 'hip': '1_0' is not a number"),  # a number in Python alone
        ("", "there are no rows"),
        ("0,1,2\n" * (BLOCK + 5) + "0,x,1", f"line {BLOCK + 7}, column 'hip': 'x' is not a number"),
    ],
)
def test_a_bad_row_is_named(write, rows, message):
    with pytest.raises(FormatError, match=message):
        read(write(f"t,hip,knee\n{rows}\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("# only\n", "the file is empty"),
        ("1,2\n", "2 columns without a header: expected 6"),
        (b"\xff\xfe\x00\x01\xe9,1\n", "neither a text table nor an NPZ archive"),
        (b"t,hip,knee\n0,1,2\n0,1,\xe9\n", "neither a text table nor an NPZ archive"),
        (b"PK\x03\x04 rubbish", "not a readable NPZ archive"),
        ("t,hip,knee\n0 1 2\n", "line 2: 1 fields where 3"),
        ("0,5;1,5;2,5\n", "decimal commas are not read"),
        ("t;hip;knee\n0;1,5;2\n", "line 2, column 'hip': '1,5' is not a number; decimal commas are not read"),
        ('{"t": [0, 1]}', "CSV, NPZ or Parquet expected"),
        ("[[0, 1]]", "CSV, NPZ or Parquet expected"),
        (b"\x93NUMPY\x01\x00v\x00", "one NumPy array; CSV, NPZ or Parquet expected: numpy.savez"),
    ],
)
def test_a_bad_file_is_refused(write, content, message):
    with pytest.raises(FormatError, match=message):
        read(write(content))


@pytest.mark.parametrize("suffix", [".json", ".npy", ".xlsx", ".MAT"])
def test_a_file_of_another_kind_is_known_by_its_name(write, suffix):
    with pytest.raises(FormatError, match=f"motion{suffix}: CSV, NPZ or Parquet expected, not {suffix.lower()}"):
        read(write(b"PK\x03\x04 a table", f"motion{suffix}"))


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def test_npz_under_any_name_and_words(write):
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 2 * BLOCK + 1, 2))
    motion, layout = read(write(npz(q=q, dq=v, qdd=a.astype(np.float32), note=np.array("x")), "motion.dat"))
    assert layout.ignored == ("note of the shape ()",)
    np.testing.assert_array_equal(motion["q"], q)
    np.testing.assert_array_equal(motion["v"], v)
    np.testing.assert_array_equal(motion["a"], a.astype(np.float32))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"v": np.zeros((3, 2))}, r"lacks q\.hip, q\.knee\..*\); the archive has v \(3, 2\)"),
        ({"q": np.zeros((3, 3)), "t": np.arange(3)}, r"not a whole set: expected 2 .*; the archive has q \(3, 3\), t"),
        ({"q": np.zeros((3, 2)) + 0j, "t": np.arange(3)}, "'q' has the type complex128: expected real"),
        ({"q": np.zeros((3, 2))}, "must be a time"),
        (
            {"q": np.zeros((3, 2)), "position": np.zeros((3, 2)), "t": np.arange(3)},
            "the arrays 'q' and 'position' are both q",
        ),
        (
            {"q": np.zeros((3, 2)), "t": np.arange(3), "q_names": ["a", "b"]},
            "'q_names' are those of another robot: a, b; expected hip, knee",
        ),
        (
            {"q.hip": np.zeros((3, 3)), "q.knee": np.zeros(3), "t": np.arange(3)},
            r"lacks q.hip. Not understood: q.hip of the shape \(3, 3\)",
        ),
    ],
)
def test_a_bad_archive_is_refused(write, arrays, message):
    with pytest.raises(FormatError, match=message):
        read(write(npz(**arrays), "motion.npz"))


def test_labels_of_an_archive_name_columns_in_any_order(write):
    q = np.arange(6.0).reshape(3, 2)
    motion, _ = read(write(npz(q=q, t=np.arange(3), q_names=["knee", "hip"]), "motion.npz"))
    np.testing.assert_array_equal(motion["q"], q[:, ::-1])


def test_a_quotation_mark_that_is_never_closed_loses_no_rows(write):
    rows = "".join(f"{k},{k},{-k},x\n" for k in range(9))
    motion, _ = read(write("t,q.hip,q.knee,note\n" + rows.replace("2,-2,x", '2,-2,"a')))
    np.testing.assert_array_equal(motion["t"], range(9))


def test_a_field_without_end_is_refused(write):
    with pytest.raises(FormatError, match="field larger than field limit"):
        read(write("t,q.hip,q.knee," + "x" * 200_000 + "\n0,1,2,3\n"))


def test_an_archive_of_a_floating_robot_is_noted_unless_it_has_names(write):
    pose, twist = ("x", "y", "z", "qx", "qy", "qz", "qw"), ("wx", "wy", "wz", "vx", "vy", "vz")
    robot = Coordinates((*(f"root_joint.{x}" for x in pose), "hip"), (*(f"root_joint.{x}" for x in twist), "hip"))
    q, v, t = np.ones((3, 8)), np.zeros((3, 7)), np.arange(3)
    with open_columns(write(npz(q=q, v=v, t=t), "a.npz"), robot) as table:
        assert table.layout.notes == (
            "q[:, 3] … q[:, 6] are read as (qx, qy, qz, qw) of root_joint",
            "v[:, 0] … v[:, 5] are read as (wx, wy, wz, vx, vy, vz) of root_joint, in its own axes",
        )
    with open_columns(write(npz(q=q, v=v, t=t, q_names=robot.q, v_names=robot.v), "b.npz"), robot) as table:
        assert table.layout.notes == ()
    with (
        pytest.raises(
            FormatError, match=r"no columns of the floating base\. Hold the base with --fixed-base.*q \(3, 1\)"
        ),
        open_columns(write(npz(q=q[:, :1], t=t), "c.npz"), robot),
    ):
        pytest.fail("opened")


def test_what_is_written_is_read_by_others_too(tmp_path):
    t, (q, tau) = np.cumsum(np.ones(50)), np.random.default_rng(1).normal(size=(2, 50, 2))
    whole = {"t": t, "q": q, "tau": tau}
    for name in ("out.csv", "out.npz"):
        write_motion(str(tmp_path / name), ARM, whole)
        motion, layout = read(tmp_path / name)
        assert (motion["q"].tobytes(), layout.ignored) == (q.tobytes(), ())
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["tau"], tau)
    table = np.genfromtxt(tmp_path / "out.csv", delimiter=",", names=True, deletechars="")
    np.testing.assert_array_equal(np.stack([table["tau.hip"], table["tau.knee"]], axis=1), tau)
    assert sorted(f.name for f in tmp_path.iterdir()) == ["out.csv", "out.npz"]


def test_an_interrupted_writer_leaves_what_was_there(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("before")

    def write_half():
        with whole_file(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "real.csv").write_text("before")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    with whole_file(tmp_path / "link.csv") as stream:
        stream.write(b"after")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "after"


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("out.txt", "cannot tell the format of .*: end it in .csv or .npz"),
        ("no/out.csv", "there is no directory"),
        ("folder.csv", "is a directory"),
        ("in.csv", "is the trajectory that is read"),
        ("in2.csv", "is the trajectory that is read"),
    ],
)
def test_outputs_that_are_refused(tmp_path, out, message):
    (tmp_path / "in.csv").write_text("x")
    (tmp_path / "in2.csv").symlink_to(tmp_path / "in.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ArgumentError, match=message):
        check_output(str(tmp_path / out), tmp_path / "in.csv")
    assert (tmp_path / "in.csv").read_text() == "x"


def outcome(path):
    """Return the motion, or nothing and the message."""
    try:
        return read(path)[0], ""
    except FormatError as error:
        return {}, str(error)


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(alphabet="0123456789.,;\t \n\"#-+eEnaiftqvhipke_'", max_size=200).map(str.encode),
        st.text(alphabet='019.,\n"#-e ', max_size=100).map(lambda text: b"t,hip,knee\n" + text.encode()),
    )
)
def test_whatever_a_file_holds_it_is_read_or_refused(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.csv"
        path.write_bytes(content)
        motion, error = outcome(path)
        assert str(path) in error or motion["q"].shape[1] == 2
        assert all(np.isfinite(array).all() for array in motion.values())


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_an_archive_with_changed_bytes_is_read_or_refused(data):
    save = data.draw(st.sampled_from([np.savez, np.savez_compressed]))
    save(stream := io.BytesIO(), q=np.ones((3, 2)), t=np.arange(3.0))
    content = bytearray(stream.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(2, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(2, len(content)))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.npz"
        path.write_bytes(content)
        motion, error = outcome(path)
        assert str(path) in error or motion["q"].shape == (3, 2)
