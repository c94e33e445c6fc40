"""A process may be forked at any moment of another thread's first use of a robot: the child can use it too."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest

from helpers.sampling import cover

# The thread stops inside the n-th import of its first use, where importlib holds its lock on that module.
SCRIPT = """
import faulthandler, importlib.abc, os, sys, threading
import kinetree as kt

stop_at, use = int(sys.argv[1]), sys.argv[2]
robot = kt.load("ur5")
q = robot.neutral()
uses = {
    "call": lambda: robot.gravity_forces(q),
    "compile": lambda: robot.compile(lambda q: robot.gravity_forces(q) + 1.0, name="more")(q),
    "solver": lambda: robot.inverse_kinematics(robot.frame_placement(q, frame="tool0"), "tool0", q0=q),
}
inside, leave = threading.Event(), threading.Event()

class Stop(importlib.abc.MetaPathFinder):
    count = 0

    def find_spec(self, name, path, target=None):
        if threading.current_thread() is other and name.startswith("kinetree."):
            self.count += 1
            if self.count == stop_at:
                inside.set()
                leave.wait()

def first_use():
    uses[use]()
    inside.set()

other = threading.Thread(target=first_use)
sys.meta_path.insert(0, Stop())
other.start()
inside.wait()
threading.Timer(0.2, leave.set).start()  # a fork may wait until the import is over
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(20, exit=True)
    uses[use]()
    os._exit(0)
status = os.waitpid(child, 0)[1]
other.join()
print("forked with status", status, "inside an import:", sys.meta_path[0].count >= stop_at)
"""


def forked(stop_at: int, use: str, cache: str) -> str:
    """Return what is printed, and exceptions in what Python calls at a fork, which it only tells."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(stop_at), use],
        env={**os.environ, "KINETREE_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout + "".join(line for line in done.stderr.splitlines() if "Exception ignored" in line)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize(("use", "stop_at"), cover(itertools.product(("call", "compile", "solver"), (1, 4))))
def test_a_fork_while_another_thread_imports(stop_at, use, tmp_path):
    for _ in ("cold", "warm"):
        assert forked(stop_at, use, str(tmp_path)) == "forked with status 0 inside an import: True\n"
