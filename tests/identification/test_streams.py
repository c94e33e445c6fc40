"""Logs that come in parts: the same estimates and residuals as in one piece; factors of long logs, on one thread."""

import sys

import numpy as np
import pytest

import kinetree as kt
from helpers.small_arm import bare_arm
from kinetree.identification import Generalised, LeastSquares, Robust, triangle
from kinetree.identification.estimators.contract import NO_SUMS, correlations
from kinetree.identification.triangle import Triangle, _pools, on_one_thread, one_thread

N, PART = 1200, 300
FIRST = 1 << 13


@pytest.fixture(scope="module")
def robot():
    return bare_arm()


@pytest.fixture(scope="module")
def log(robot):
    rng = np.random.default_rng(0)
    q, v, a = robot.random_state(0, N)
    return q, v, a, robot.inverse_dynamics(q, v, a) + 0.1 * rng.normal(size=v.shape)


def parts_of(log):
    for k in range(0, N, PART):
        yield tuple(x[k : k + PART] for x in log)


@pytest.mark.parametrize("choices", [{}, {"by": LeastSquares(None)}, {"by": Generalised()}])
def test_parts_tell_what_the_whole_tells(robot, log, choices):
    whole = robot.identify(log, ["damping"], **choices)
    for parts in (lambda: parts_of(log), [lambda: parts_of(log)], list(parts_of(log))):
        fit = robot.identify(parts, ["damping"], **choices)
        assert fit.count == N
        np.testing.assert_allclose(fit.values, whole.values, rtol=0.0, atol=1e-9 * np.abs(whole.values).max())
        np.testing.assert_allclose(fit.std, whole.std, rtol=1e-9)
        np.testing.assert_allclose(fit.parameters, whole.parameters, rtol=1e-6, atol=1e-8)


def test_losses_take_the_noise_of_each_part(robot, log):
    """The median of the residuals' sizes is that of the medians of parts."""
    whole, fit = (robot.identify(x, [], by=Robust("huber")) for x in (log, lambda: parts_of(log)))
    assert (np.abs(fit.values - whole.values) < 0.1 * whole.std).all()


def test_correlations_are_those_within_motions():
    e = np.cumsum(np.random.default_rng(0).normal(size=(300, 2)), axis=0) + 2.0
    e[::7] = 0.0  # not measured
    for cuts in ([], [150], [1, 3]):
        motions = np.split(e, cuts)
        found = NO_SUMS
        for x in motions:
            found = correlations(found, x, x != 0.0)
        assert found.shape == (3, max(map(len, motions)), 2)
        for k in range(6):
            pairs = [(x[: len(x) - k], x[k:]) for x in motions if len(x) > k]
            there = [(x != 0.0) & (y != 0.0) for x, y in pairs]
            sums = [((x * y), (x + y) * on, on) for (x, y), on in zip(pairs, there, strict=True)]
            expected = [sum(x.sum(axis=0) for x in each) for each in zip(*sums, strict=True)]
            np.testing.assert_allclose(found[:, k], expected, rtol=1e-9)


def test_residuals_in_parts_are_those_of_the_whole(robot, log):
    fit = robot.identify(log, [])
    off = (*log[:3], log[3] + [5.0, 0.0, -3.0] + np.sin(np.arange(N) / 20.0)[:, None])
    whole, found = fit.validate(off), fit.validate(parts_of(off))  # in one pass
    assert found.size == whole.size == N
    for name in ("rms", "relative", "before"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-12)
    np.testing.assert_allclose(found.autocorrelation, whole.autocorrelation, atol=0.05)  # not across parts
    e = off[3] - fit.predict(*off[:3])
    e = e - e.mean(axis=0)
    pieces = [e[k : k + PART] for k in range(0, N, PART)]
    expected = sum((x[3:] * x[:-3]).sum(axis=0) for x in pieces) / (e * e).sum(axis=0)
    np.testing.assert_allclose(found.autocorrelation[2], expected, rtol=1e-9)
    np.testing.assert_allclose(fit.validate(parts_of(off)).autocorrelation[0], found.autocorrelation[0], rtol=1e-12)


def test_pictures_are_kept_of_some_samples_only(robot, log, monkeypatch):
    monkeypatch.setattr("kinetree.identification.validation.KEPT", 500)
    fit = robot.identify(log, [])
    found = fit.validate([kt.identification.Samples(*x, t=np.arange(PART)) for x in parts_of(log)])
    assert [len(motion.predicted) for motion in found.motions] == [300, 200, 0, 0][: len(found.motions)]
    assert all(motion.t is not None and len(motion.t) == len(motion.measured) for motion in found.motions)
    assert found.size == N
    np.testing.assert_allclose(np.concatenate([m.measured for m in found.motions]), log[3][:500], rtol=1e-12)


def test_what_can_be_read_once_only_is_not_taken_for_empty(robot, log):
    once = parts_of(log)
    assert robot.identify(parts_of(log), []).count == N
    for wrong, choices, message in [
        ([parts_of(log)], {}, "an iterator among several logs"),
        (lambda: once, {"check": False}, "the log is empty when it is read again"),
        (parts_of(log), {"terms": ["stribeck"]}, "unknown Stribeck speeds read the log again: give a list, or a func"),
        (lambda: 3, {}, "int was given"),
        ([3.0], {}, "float was given"),
        ({"q": 1}, {}, "dict was given"),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            robot.identify(wrong, **{"terms": [], **choices})


# -- Triangular factors: as precise as one factorization of all rows ---------------------------------------------------


def rows(kind):
    """Return columns of very different sizes, nearly dependent, and a right-hand side with noise or without."""
    rng = np.random.default_rng(0)
    n = 4 * FIRST + 100
    A = rng.normal(size=(n, 6)) * [1.0, 1e3, 1e-3, 1.0, 1.0, 1e-6]
    if "orthogonal" not in kind:
        A[:, 4] = A[:, 3] + 1e-3 * A[:, 4]
    b = A @ [1.0, 1e-3, 5e2, 2.0, -1.0, 1e6]
    if kind != "exact":
        b += rng.normal(size=n)
    if kind == "other motion":  # what tells nothing at first tells most later
        A[: 2 * FIRST, 2] *= 1e-4
        A[2 * FIRST :, 0] *= 1e4
    if kind.startswith("dependent"):
        until = 2 * FIRST if kind.endswith("first") else n
        A[:until, 4] = 2.0 * A[:until, 3]
    if kind == "untold":
        A[:, 2] = 0.0
    if kind in ("told late", "orthogonal, told late"):
        A[: 2 * FIRST, 2] = 0.0
    return np.column_stack([A, b])


KINDS = ["noisy", "exact", "other motion", "untold", "told late", "dependent", "dependent at first"]
KINDS += ["orthogonal", "orthogonal, told late"]


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_have_the_factor_of_the_whole(kind, monkeypatch):
    whole = rows(kind)
    reflected = []
    own = np.linalg.qr
    monkeypatch.setattr(triangle.np.linalg, "qr", lambda *args, **kw: reflected.append(1) or own(*args, **kw))
    found = Triangle(7)
    for k, start in enumerate(range(0, len(whole), 1024)):
        found.add(whole[start : start + 1024])
        if k == 20:
            assert found.R.shape == (7, 7), "looking does not change it"
    monkeypatch.undo()
    assert len(reflected) < 20 or kind in ("exact", "untold", "dependent"), "most pieces are squared"
    R, expected = found.R, np.linalg.qr(whole, mode="r")
    sizes = np.linalg.norm(whole, axis=0)
    sizes[sizes == 0.0] = 1.0
    for x in (R, expected):
        x /= sizes
        x *= np.where(np.diag(x) < 0.0, -1.0, 1.0)[:, None]
    np.testing.assert_allclose(R.T @ R, expected.T @ expected, atol=1e-13)
    if kind not in ("untold", "dependent"):  # there R is not the only one
        np.testing.assert_allclose(R, expected, atol=1e-13)
    if kind in ("noisy", "orthogonal"):
        x, y = (np.linalg.solve(r[:-1, :-1], r[:-1, -1]) for r in (R, expected))
        np.testing.assert_allclose(x, y, rtol=1e-10)
        np.testing.assert_allclose(R[-1, -1], expected[-1, -1], rtol=1e-10)
    if kind == "exact":
        assert abs(R[-1, -1]) < 1e-14


def test_one_thread_while_it_runs():
    from threadpoolctl import ThreadpoolController

    blas = ThreadpoolController().select(user_api="blas")
    inside = []

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


def test_without_threadpoolctl_nothing_is_done(monkeypatch):
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    _pools.cache_clear()
    with one_thread():
        assert _pools() is None
    _pools.cache_clear()
