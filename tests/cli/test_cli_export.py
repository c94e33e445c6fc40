"""``kinetree export``: the files that `to_c` makes, where they were asked for, and errors in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import kinetree as kt
from kinetree.cli import main

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def export(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(["export", *arguments])
        except SystemExit as leave:
            code = int(str(leave.code))
        return code, *capsys.readouterr()

    return run


def test_files_are_written_here_or_where_they_are_asked_for(export: Run, tmp_path: Path) -> None:
    code = kt.load("ur5").gravity_forces.to_c()
    status, out, err = export("ur5", "gravity_forces")
    assert (status, err) == (0, "")
    assert out.startswith(f"ur5: {code.prototype};\n")
    assert out.endswith("wrote gravity_forces.c and gravity_forces.h\n")
    assert (tmp_path / "gravity_forces.c").read_text(encoding="utf-8") == code.source
    assert (tmp_path / "gravity_forces.h").read_text(encoding="utf-8") == code.header
    (tmp_path / "src").mkdir()
    assert export("ur5", "gravity_forces", "-o", "src", "--name", "g")[0] == 0
    assert (tmp_path / "src" / "g.c").exists()
    assert export("-o", "other.c", "ur5", "gravity_forces")[0] == 0
    assert (tmp_path / "other.h").exists()


def test_everything_can_be_chosen(export: Run) -> None:
    robot = kt.load("ur5", gravity=(0, 0, -1.62))
    expected = robot.hybrid_dynamics.to_c(
        "h",
        dtype="float32",
        optional=["f_ext"],
        prescribed=["elbow_joint", "wrist_1_joint"],
        f_ext_frame="world",
        main=True,
    )
    given = ["--name", "h", "--dtype", "float32", "--optional", "f_ext", "--main", "--gravity", "0", "0", "-1.62"]
    given += ["--option", "prescribed=elbow_joint,wrist_1_joint", "--option", "f_ext_frame=world", "-o", "-"]
    assert export("ur5", "hybrid_dynamics", *given) == (0, expected.source, "")
    source = robot.gravity_forces.to_c(lanes=4).source
    assert export("ur5", "gravity_forces", "--gravity", "0", "0", "-1.62", "--lanes", "4", "-o", "-")[1] == source


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ur5", "rnea"], "no function 'rnea'; here it is 'inverse_dynamics'"),
        (["ur5", "mass_matrx"], "no function 'mass_matrx', did you mean 'mass_matrix'"),
        (["ur5", "jacobian"], "jacobian needs frame=: one of "),
        (["ur5", "jacobian", "--option", "frame"], "--option frame: give it as NAME=VALUE, such as frame=panda_hand"),
        (
            ["ur5", "jacobian", "--option", "dtype=float32"],
            "jacobian has no option 'dtype'; there are: frame, reference",
        ),
        (["ur5", "jacobian", "--option", "frame=tool"], "jacobian: frame: no frame 'tool', did you mean 'tool0'"),
        (["ur5", "mass_matrix", "--optional", "f_ext"], "mass_matrix has no argument 'f_ext'"),
        (["ur5", "mass_matrix", "--name", "int"], "mass_matrix: 'int' cannot be the name of a function in C and C++"),
        (["ur5", "mass_matrix", "--lanes", "3"], "lanes is 3"),
        (["ur5", "mass_matrix", "-o", "no/where.c"], "no/where.c: No such file or directory"),
        (["ur6", "mass_matrix"], "ur6"),
    ],
)
def test_errors_are_one_line(export: Run, arguments: list[str], message: str) -> None:
    status, out, err = export(*arguments)
    assert (status, out) == (1, "")
    assert err.startswith("kinetree: ")
    assert message in err
    assert err.count("\n") == 1


def test_wrong_usage(export: Run) -> None:
    status, _, err = export("ur5", "mass_matrix", "--dtype", "float16")
    assert status == 2
    assert "invalid choice: 'float16'" in err
