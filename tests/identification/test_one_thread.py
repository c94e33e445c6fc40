"""Small matrices on one thread: set while a function runs, and as before afterwards, whatever happens in it."""

from __future__ import annotations

import sys

import pytest

from kinetree.identification.triangle import _pools, on_one_thread, one_thread


def test_one_thread_while_it_runs() -> None:
    from threadpoolctl import ThreadpoolController

    blas = ThreadpoolController().select(user_api="blas")
    inside: list[int] = []

    @on_one_thread
    def work(fails: bool) -> None:
        inside.extend(pool.num_threads for pool in blas.lib_controllers)
        if fails:
            raise ValueError

    with blas.limit(limits=2):
        before = [pool.num_threads for pool in blas.lib_controllers]
        work(False)
        with pytest.raises(ValueError):  # noqa: PT011
            work(True)
        assert set(inside) == {1}
        assert [pool.num_threads for pool in blas.lib_controllers] == before


def test_without_threadpoolctl_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    _pools.cache_clear()
    with one_thread():
        assert _pools() is None
    _pools.cache_clear()
