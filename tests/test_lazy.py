"""Lazy properties and imports, their locks, and forks at any moment of another thread's first use of a robot."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading

import pytest

from helpers.sampling import cover
from kinetree.lazy import cached_property


class Square:
    def __init__(self, x: float) -> None:
        self.x = x
        self.computed = 0

    @cached_property
    def area(self) -> float:
        """The area."""
        self.computed += 1
        return self.x * self.x


def test_computed_once_for_each_object():
    a, b = Square(2.0), Square(3.0)
    assert (a.area, a.area, b.area) == (4.0, 4.0, 9.0)
    assert (a.computed, b.computed) == (1, 1)


def test_an_error_is_not_kept():
    broken = Square("x")  # type: ignore[arg-type]
    for _ in range(2):
        with pytest.raises(TypeError):
            broken.area  # noqa: B018
    assert broken.computed == 2


def test_the_class_shows_its_documentation():
    assert Square.area.__doc__ == "The area."


def test_two_threads_get_the_same_object():
    inside, leave = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def thing(self) -> object:
            if threading.current_thread() is not threading.main_thread():
                inside.set()
                leave.wait(10)
            return object()

    slow, got = Slow(), []
    other = threading.Thread(target=lambda: got.append(slow.thing))
    other.start()
    assert inside.wait(10)
    ours = slow.thing
    leave.set()
    other.join()
    assert got == [ours] == [slow.thing]


def test_a_lazy_method_is_imported_at_first_use():
    code = (
        "import sys, kinetree as kt; from kinetree.lazy import lazy_method;"
        "Text = type('Text', (str,), {'quoted': lazy_method('shlex', 'quote')});"
        "assert not {'shlex', 'kinetree.robot.edit', 'kinetree.inverse_kinematics'} & set(sys.modules);"
        "assert Text('a b').quoted() == repr('a b');"
        "import shlex; assert Text.quoted is shlex.quote"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_kinetree_imports_nothing_until_a_name_is_used():
    code = (
        "import sys, kinetree as kt;"
        "ours = {name for name in sys.modules if name.startswith('kinetree.')};"
        "assert ours == {'kinetree._version', 'kinetree.errors', 'kinetree.locks'}, ours;"
        "assert 'numpy' not in sys.modules;"
        "assert kt.Mechanism and 'kinetree.contacts' not in sys.modules;"
        "assert all(getattr(kt, name) is not None for name in kt.__all__);"
        "assert kt.joints.Revolute and kt.spatial.Vec3 and kt.model.Model is kt.Model"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_cached_call_imports_neither_the_compiler_nor_readers_that_it_does_not_need(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETREE_CACHE_DIR", str(tmp_path))
    code = (
        "import sys, kinetree as kt; robot = kt.load('ur5'); robot.inverse_dynamics(*[[0.0] * 6] * 3);"
        "parts = 'tracing.expr passes lowering graph.ops backends.llvm.compile functions.model_inputs formats.sdf "
        "formats.chains formats.srdf formats.spanning formats.urdf.loops constraints inverse_kinematics simulation';"
        "print(*sorted(part for part in parts.split() if f'kinetree.{part}' in sys.modules))"
    )
    shown = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(2)]
    assert "passes" in shown[0].stdout
    assert shown[1].stdout == "\n"


IMPORT_ALL = """
import importlib, pkgutil, threading
import kinetree
from kinetree import locks

taken = []

class Spy:
    lock = threading.RLock()

    def __enter__(self):
        taken.append(name)
        return self.lock.__enter__()

    def __exit__(self, *error):
        self.lock.__exit__(*error)

locks.importing = Spy()
names = [module.name for module in pkgutil.walk_packages(kinetree.__path__, "kinetree.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names) > 100, taken)
"""


def test_no_module_body_takes_the_lock_of_imports_at_first_use() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], capture_output=True, text=True, check=True)
    assert done.stdout == "True []\n"


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
