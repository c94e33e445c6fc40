"""A quadratic function within bounds: the conditions of its optimum, and that it never rises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from kinetree.scalars import bounded
from kinetree.scalars.bounded import least_within
from kinetree.scalars.loops import repeat


@dataclass
class Problem:
    """``½ xᵀH x − cᵀx`` between bounds around zero, where ``H = JᵀJ + λ`` and ``c = Jᵀe + λ·rest``."""

    J: np.ndarray
    e: np.ndarray
    damping: float
    low: np.ndarray
    high: np.ndarray
    rest: np.ndarray

    @property
    def H(self) -> np.ndarray:
        return self.J.T @ self.J + self.damping * np.eye(len(self.low))

    @property
    def c(self) -> np.ndarray:
        return self.J.T @ self.e + self.damping * self.rest

    def solution(self, *, far: bool = False) -> np.ndarray:
        n = len(self.low)
        bounds = list(zip(self.low.tolist(), self.high.tolist(), strict=True))
        target = np.full(n, 1e3) if far else np.linalg.solve(self.H, self.c)
        return np.array(least_within(self.H.tolist(), self.c.tolist(), bounds, [0.0] * n, target.tolist()))

    def violation(self, x: np.ndarray) -> float:
        """Return how far x is from the conditions of the optimum, beside the sizes of what they are made of."""
        g = self.J.T @ (self.e - self.J @ x) - self.damping * (x - self.rest)
        g = np.where(x >= self.high, np.minimum(g, 0), g)
        g = np.where(x <= self.low, np.maximum(g, 0), g)
        g = np.where(self.low >= self.high, 0, g)
        return float(np.abs(g).max() / np.linalg.norm(np.abs(self.J.T) @ np.abs(self.e)))


KINDS = ("plain", "at bounds", "infinite", "columns twice", "weights", "nothing to gain", "posture")


def problem(rng: np.random.Generator, kind: str) -> Problem:
    m, n = rng.integers(1, 13), rng.integers(2, 16)
    J, e, size = rng.normal(size=(m, n)), rng.normal(size=m), 10 ** rng.uniform(-3, 0)
    low, high, rest = -rng.uniform(0, size, n), rng.uniform(0, size, n), np.zeros(n)
    match kind:
        case "at bounds":
            low[rng.random(n) < 0.3] = 0
            high[rng.random(n) < 0.3] = 0
        case "infinite":
            low[rng.random(n) < 0.5] = -np.inf
            high[rng.random(n) < 0.5] = np.inf
        case "columns twice":
            J[:, -1] = J[:, 0]
        case "weights":
            J *= 10 ** rng.uniform(-4, 2, (m, 1))
        case "nothing to gain":  # by letting go of bounds that the solution is at
            e = J @ np.clip(rng.normal(size=n) * size, low, high)
        case "posture":
            rest = rng.normal(size=n)
    return Problem(J, e, 10 ** rng.uniform(-9, 0), low, high, rest)


@pytest.mark.parametrize("kind", KINDS)
def test_the_conditions_of_the_optimum_hold(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    held = []
    for _ in range(40):
        p = problem(rng, kind)
        x = p.solution()
        assert ((p.low <= x) & (x <= p.high)).all()
        assert p.violation(x) < 1e-12
        held.append(np.mean((x == p.low) | (x == p.high)))
    assert 0.2 < np.mean(held) < 0.95


def test_scipy_finds_no_less() -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        p = problem(rng, "plain")
        stacked = np.vstack([p.J, np.sqrt(p.damping) * np.eye(len(p.low))])
        right = np.concatenate([p.e, np.zeros(len(p.low))])
        theirs = lsq_linear(stacked, right, (p.low, p.high), method="bvls", tol=1e-15)
        assert 0.5 * np.sum((stacked @ p.solution() - right) ** 2) <= theirs.cost * (1 + 1e-12)


def test_any_first_target_will_do() -> None:
    rng = np.random.default_rng(10)
    for kind in KINDS:
        p = problem(rng, kind)
        assert p.violation(p.solution(far=True)) < 1e-12


def test_cut_short_it_is_within_the_bounds_and_nowhere_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    def value(p: Problem) -> float:
        x = p.solution()
        assert ((p.low <= x) & (x <= p.high)).all()
        return float(0.5 * x @ p.H @ x - p.c @ x)

    rng = np.random.default_rng(11)
    for kind in KINDS:
        p = problem(rng, kind)
        values = [0.0]
        for passes in range(1, 8):
            cut = lambda *args, most, passes=passes, **options: repeat(*args, most=passes, **options)  # noqa: E731
            monkeypatch.setattr(bounded, "repeat", cut)
            values.append(value(p))
        assert (np.diff(values) <= 1e-12 * np.abs(values[-1])).all()
        assert values[-1] < 0


def test_nan_is_not_hidden() -> None:
    H, bounds = [[1.0, 0.0], [0.0, 1.0]], [(-1.0, 1.0)] * 2
    assert np.isnan(least_within(H, [np.nan, 0.0], bounds, [0.0, 0.0], [np.nan, 0.0])[0])
