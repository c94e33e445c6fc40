from __future__ import annotations

import platform
import sys

import pytest

from kinetree.glue import cpython as layout

known = pytest.mark.skipif(
    sys.implementation.name != "cpython" or platform.architecture()[0] != "64bit", reason="no glue here"
)


@known
def test_the_layout_of_this_python_is_found():
    assert layout.find() is not None


@known
@pytest.mark.parametrize("field", layout.Layout._fields)
@pytest.mark.parametrize("shift", [-8, 4, 8])
def test_a_wrong_offset_is_noticed(field, shift):
    right = layout.find()
    assert layout._holds(right)
    assert not layout._holds(right._replace(**{field: getattr(right, field) + shift}))


def test_another_python_gets_no_layout(monkeypatch):
    monkeypatch.setattr(layout, "_holds", lambda _: False)
    assert layout.find.__wrapped__() is None


def test_another_numpy_api_gets_no_layout(monkeypatch):
    def unknown():
        raise RuntimeError

    monkeypatch.setattr(layout, "numpy_api", unknown)
    assert layout.find.__wrapped__() is None
