"""``kinetree export``: the files that `to_c` makes, where they were asked for, and errors in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kinetree as kt


def test_files_are_written_here_or_where_they_are_asked_for(kinetree: Any, tmp_path: Path) -> None:
    code = kt.load("ur5").gravity_forces.to_c()
    status, out, err = kinetree("export", "ur5", "gravity_forces")
    assert (status, err) == (0, "")
    assert out.startswith(f"ur5: {code.prototype};\n")
    assert out.endswith("wrote gravity_forces.c and gravity_forces.h\n")
    assert (tmp_path / "gravity_forces.c").read_text(encoding="utf-8") == code.source
    assert (tmp_path / "gravity_forces.h").read_text(encoding="utf-8") == code.header
    (tmp_path / "src").mkdir()
    assert kinetree("export", "ur5", "gravity_forces", "-o", "src", "--name", "g")[0] == 0
    assert (tmp_path / "src" / "g.c").exists()
    assert kinetree("export", "-o", "other.c", "ur5", "gravity_forces")[0] == 0
    assert (tmp_path / "other.h").exists()


def test_everything_can_be_chosen(kinetree: Any) -> None:
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
    assert kinetree("export", "ur5", "hybrid_dynamics", *given) == (0, expected.source, "")
    source = robot.gravity_forces.to_c(lanes=4).source
    assert (
        kinetree("export", "ur5", "gravity_forces", "--gravity", "0", "0", "-1.62", "--lanes", "4", "-o", "-")[1]
        == source
    )
