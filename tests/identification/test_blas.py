"""Small matrices on one thread: set while a function runs, and as before afterwards, whatever happens in it."""

from __future__ import annotations

import sys

import pytest

from kinetree.identification.blas import _openblas, on_one_thread


def test_one_thread_while_it_runs() -> None:
    ways = _openblas()
    assert ways is not None or sys.platform != "linux", "NumPy's wheels for Linux have OpenBLAS"
    get, put = ways or (lambda: 1, lambda _: None)
    inside = []

    @on_one_thread
    def work(fails: bool) -> None:
        inside.append(get())
        if fails:
            raise ValueError

    before = get()
    put(2)
    try:
        set_to = get()
        work(False)
        with pytest.raises(ValueError):  # noqa: PT011
            work(True)
        assert inside == [1, 1]
        assert get() == set_to
    finally:
        put(before)
