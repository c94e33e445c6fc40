"""Triangular factors of long logs: as precise as one factorization of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.trees import Array
from kinetree.identification import triangle
from kinetree.identification.triangle import Triangle

FIRST, PIECE = 1 << 13, 1024


def rows(kind: str) -> Array:
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
def test_pieces_have_the_factor_of_the_whole(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rows(kind)
    reflected = []
    own = np.linalg.qr
    monkeypatch.setattr(triangle.np.linalg, "qr", lambda *args, **kw: reflected.append(1) or own(*args, **kw))
    found = Triangle(7)
    for k, start in enumerate(range(0, len(whole), PIECE)):
        found.add(whole[start : start + PIECE])
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
