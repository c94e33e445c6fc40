"""Ctrl-C at any moment: one line, exit code 130, and nothing half written."""

import os
import signal
import subprocess
import sys
import time

import pytest

# Ctrl-C at the moment when this module is imported, or at the very end. Where the interrupt passes through an `exec` of
# text, as `namedtuple` has one, `python -m` would end by the signal.
SCRIPT = """
import importlib.abc, signal, sys, atexit
from kinetree.__main__ import run

moment = sys.argv[1]

class Press(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == moment:
            sys.meta_path.remove(self)
            exec("signal.raise_signal(signal.SIGINT)")

sys.meta_path.insert(0, Press())
if moment == "exit":
    atexit.register(signal.raise_signal, signal.SIGINT)
if moment == "finalizer":
    class Late:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
    import kinetree.cli.commands.inverse_dynamics as command
    made = command.made
    command.made = lambda *given: (Late(), made(*given))[1]
sys.argv[1:] = sys.argv[2:]
run()
"""
COMMAND = ["inverse-dynamics", "panda", "--plot", "tau.png", "-o", "tau.csv", "-q", "--duration", "1"]


@pytest.mark.skipif(os.name != "posix", reason="a signal interrupts")
@pytest.mark.parametrize(
    "moment", ["argparse", "numpy._core.multiarray", "kinetree.passes", "matplotlib.figure", "finalizer"]
)
def test_an_interrupt_in_the_middle_of_anything(tmp_path, tmp_path_factory, moment):
    place = tmp_path_factory.mktemp("program")
    (place / "pressed.py").write_text(SCRIPT)
    path = os.pathsep.join([str(place), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "KINETREE_CACHE_DIR": "off", "PYTHONPATH": path}
    command = [sys.executable, "-m", "pressed", moment, *COMMAND]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "kinetree: interrupted\n")
    if moment not in ("matplotlib.figure", "finalizer"):
        assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="a signal interrupts")
def test_an_interrupt_at_the_very_end(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "exit", "info", "ur5"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert done.stderr == "kinetree: interrupted\n"


@pytest.mark.skipif(os.name != "posix", reason="a signal interrupts")
def test_where_interrupts_are_ignored_they_stay_ignored():
    script = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + SCRIPT
    command = [sys.executable, "-c", script, "kinetree.cli.commands.info", "info", "ur5"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ur5: 6 joints")


@pytest.mark.skipif(os.name != "posix", reason="a signal interrupts")
def test_an_interrupt_of_the_program_itself(tmp_path):
    """The program waits for its input, so it is certainly running."""
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "kinetree", "info", str(tmp_path / "pipe")]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with open(tmp_path / "pipe", "w"):  # opens when the program does
        time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        assert program.communicate(timeout=60) == (b"", b"kinetree: interrupted\n")
    assert program.returncode == 130
