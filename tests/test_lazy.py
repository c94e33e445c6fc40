from __future__ import annotations

import subprocess
import sys
import threading

import pytest

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
