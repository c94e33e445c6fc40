"""What a terminal shows while a function is compiled."""

import contextlib
import os
import subprocess
import sys

import pytest

import kinetree as kt
from kinetree.cli.terminal import PATIENCE, Working
from kinetree.runtime import kernels

# The compilation takes as long as the notice needs to appear, or never so long.
SCRIPT = """
import sys, time
from kinetree.cli import main, terminal
from kinetree import passes

terminal.PATIENCE, pause = map(float, sys.argv[1:3])
optimize = passes.optimize
passes.optimize = lambda program: (time.sleep(pause), optimize(program))[1]
sys.exit(main(["inverse-dynamics", *sys.argv[3:]]))
"""


def shown(*arguments, folder, errors_to_file=False):
    """Return what the command writes to a terminal, or to a file, on standard error; nothing is in the disk cache."""
    leader, follower = os.openpty()
    command = [sys.executable, "-c", SCRIPT, *map(str, arguments)]
    environment = {**os.environ, "KINETREE_CACHE_DIR": "off", "COLUMNS": "80"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=follower if errors_to_file else subprocess.DEVNULL,
        stderr=subprocess.PIPE if errors_to_file else follower,
        check=True,
    )
    os.close(follower)
    written = done.stderr or b""
    with contextlib.suppress(OSError):  # the end: a terminal gives at most 4095 bytes at a time
        while part := os.read(leader, 100_000):
            written += b"" if errors_to_file else part
    os.close(leader)
    return written.decode()


needs_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals here")


@needs_terminal
def test_a_long_compilation_is_shown_in_a_line_that_is_removed(tmp_path):
    text = shown(0.2, 1.0, "panda", folder=tmp_path)
    assert "compiling inverse_dynamics of panda" in text
    assert "\x1b[2K" in text.rpartition("compiling")[2]


@needs_terminal
def test_nothing_is_shown_of_a_short_one_nor_if_it_is_not_wanted_nor_to_a_file(tmp_path):
    assert shown(1000, 0, "panda", folder=tmp_path) == ""
    assert shown(0.2, 1.0, "panda", "--quiet", folder=tmp_path) == ""
    assert shown(0.2, 1.0, "panda", folder=tmp_path, errors_to_file=True) == ""
    assert PATIENCE == 1.0


@needs_terminal
def test_what_takes_long_is_shown_and_what_is_compiled_in_its_line(tmp_path):
    row = ",".join(["0.1"] * 21) + "\n"
    (tmp_path / "long.csv").write_text(row * 40_000)
    (tmp_path / "positions.csv").write_text("".join(f"{k},0,0,0,-1,0,1,0.{'0' * 100}\n" for k in range(5000)))
    text = shown(0.05, 1.0, "panda", "long.csv", folder=tmp_path)
    assert text.index("compiling inverse_dynamics of panda") < text.rindex("inverse dynamics")
    assert "differentiating" in shown(0.01, 0, "panda", "positions.csv", folder=tmp_path)


def test_the_name_of_a_robot_cannot_control_the_terminal():
    assert Working("", "a\x1b[2J\nb", shown=True)._robot == "a?[2J?b"


def test_the_observer_is_the_old_one_afterwards(capsys):
    before = kernels.observer
    with pytest.raises(ZeroDivisionError), Working("", "ur5", shown=True):
        1 / 0  # noqa: B018
    assert kernels.observer is before
    with Working("", "ur5", shown=True):
        assert kernels.observer is before, "standard error is not a terminal here"
        kt.load("ur5").mass_matrix([0.0] * 6)
    assert capsys.readouterr().err == ""
