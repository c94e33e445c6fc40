"""Functions of a real robot in the runtime: memory shared and counted, threads as the work needs, help."""

from __future__ import annotations

import inspect
import sys
import threading

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.registry import ALGORITHMS
from kinetree.constraints.pages import MECHANISM_ALGORITHMS
from kinetree.glue.descriptor import is_describable


@pytest.fixture(scope="module")
def panda() -> kt.Robot:
    return kt.load("panda")


def test_the_glue_takes_the_calls_of_every_function(panda: kt.Robot) -> None:
    mech = kt.Mechanism(panda, [kt.Weld("panda_hand")])
    for owner, table in ((panda, ALGORITHMS), (mech, MECHANISM_ALGORITHMS)):
        for name in table:
            spec = getattr(owner, name).spec
            assert is_describable(spec.inputs, len(spec.optional), len(spec.open_options)), name


def test_results_may_be_interleaved(panda: kt.Robot) -> None:
    q, v, a = panda.random_state(0, 12)
    both = np.zeros((12, 14))
    hybrid = panda.hybrid_dynamics.bind(prescribed=["panda_joint2"])
    expected = hybrid(q, v, a, a)
    hybrid(q, v, a, a, out=(both[:, :7], both[:, 7:]))
    assert (both == np.hstack(expected)).all()
    rows = np.zeros((24, 7))
    hybrid(q, v, a, a, out=(rows[::2], rows[1::2]))
    assert (rows[::2] == expected[0]).all()
    assert (rows[1::2] == expected[1]).all()
    with pytest.raises(kt.ArgumentError, match="overlap"):
        hybrid(q, v, a, a, out=(both[:, :7], both[:, 6:13]))


def test_batches_keep_no_reference_to_the_dtype(panda: kt.Robot) -> None:
    q, v, a = panda.random_state(0, 3)
    panda.inverse_dynamics(q, v, a)
    before = sys.getrefcount(np.dtype("f8"))
    for _ in range(1000):
        panda.inverse_dynamics(q, v, a)
    assert sys.getrefcount(np.dtype("f8")) - before < 100


def test_no_more_threads_than_there_is_work_for(panda: kt.Robot) -> None:
    q, v, a = panda.random_state(0, 20_000)
    expected = panda.inverse_dynamics(q, v, a)
    threads = kt.get_num_threads()
    kt.set_num_threads(300)
    try:
        for _ in range(3):
            assert (panda.inverse_dynamics(q, v, a) == expected).all()
        assert threading.active_count() < 150  # 20,000 states are half a millisecond of work
    finally:
        kt.set_num_threads(threads)


def test_help_shows_the_signature(panda: kt.Robot) -> None:
    shown = "(q, v, a, f_ext=None, *, f_ext_frame='body', out=None)"
    assert str(inspect.signature(panda.inverse_dynamics)) == shown
    assert str(inspect.signature(type(panda.inverse_dynamics))) == shown
