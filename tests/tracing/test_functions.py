from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from helpers.programs import of_arrays
from helpers.told import told
from kinetree.graph import Port
from kinetree.graph.graph import digest
from kinetree.graph.listing import listing
from kinetree.graph.ops import interpret
from kinetree.scalars.functions import select_less
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.numpy_dispatch import TracedArray
from kinetree.tracing.tracer import Tracer

NAN, INF = math.nan, math.inf
VALUES = [-INF, -2.5, -0.0, 0.0, 1.0, 2.5, INF, NAN]
PAIRS = np.array([(a, b) for a in VALUES for b in VALUES])


@pytest.mark.parametrize("function", [kt.minimum, kt.maximum, kt.abs])
def test_on_plain_arrays_they_are_numpys(function):
    args = PAIRS.T if function is not kt.abs else PAIRS.T[:1]
    assert np.array_equal(function(*args), getattr(np, function.__name__)(*args), equal_nan=True)


def test_choices_fold():
    x = traced_array(Tracer().input(Port("x", (2,))), (2,))
    a, b = x
    assert kt.where(a < b, b, b).id == b.id
    assert kt.where(a < a, a, b).id == b.id
    assert kt.where(True, a, b) is a
    assert (a - a < 1.0) is True
    assert (a - a == 1.0) is False
    assert kt.where((a < b) & True, a, b).id == kt.where(a < b, a, b).id
    assert abs(-a).id == abs(abs(a)).id == abs(a).id


def test_the_listing_shows_choices():
    text = listing(of_arrays(lambda x, y: kt.where(x <= y, abs(x), 2.0), (), ()))
    assert text.splitlines() == ["@1 = abs(x0)", "@2 = (@1 if x0 <= x1 else 2.0)", "r = @2"]


def test_arrays_stay_traced():
    x = traced_array(Tracer().input(Port("x", (4,))), (4,))
    for made in (
        x + 1,
        np.ones(4) * x,
        x[:2],
        x * x[0],
        x[0] * np.ones(4),
        np.concatenate([x, np.zeros(2)]),
        np.stack([x[0], 1.0, x[1]]),
        np.outer(x, x),
        np.cross(x[:3], np.ones(3)),
        x.reshape(2, 2) @ np.eye(2),
        np.eye(4) @ x.reshape(4, 1),
        np.sin(x),
        np.diag(x),
        np.einsum("ij,j->i", np.eye(4), x),
        kt.where(x > 0, x, 0.0),
        np.maximum(x, 0.0),
        np.split(x, 2)[0],
        -x,
        x**2,
    ):
        assert type(made) is TracedArray
    for one in (x[0], x @ x, x.sum(), np.sum(x), x.max(), np.min(x), np.dot(x, np.ones(4)), np.sqrt(x[0]), x[0] ** 3):
        assert type(one).__name__ == "Expr"


REFUSED = {
    "if": (lambda x: 1.0 if x[0] > 0 else 2.0, r"kt\.where"),
    "not": (lambda x: kt.where(not x[0] > 0, 1, 0), r"kt\.where"),
    "and": (lambda x: kt.where(x[0] > 0 and x[1] > 0, 1, 0), r"Combine conditions with &"),
    "max": (lambda x: max(x[0], x[1]), r"kt\.maximum"),
    "array": (lambda x: np.maximum(np.array([x[0], x[1]]), 0.0), r"kt\.maximum.*np\.stack"),
    "float": (lambda x: float(x[0]), r"not those of math"),
    "int": (lambda x: int(x[0]), r"is not a number"),
    "math": (lambda x: math.sin(x[0]), r"the functions of NumPy, not those of math"),
    "index": (lambda x: [1.0, 2.0][x[0]], r"indices|index"),
    "pinv": (lambda x: np.linalg.pinv(x.reshape(2, 2)), r"np\.linalg\.pinv.*kt\.solve_spd"),
    "eigh": (lambda x: np.linalg.eigh(x.reshape(2, 2)), r"np\.linalg\.eigh.*kt\.eigh3"),
    "norm": (lambda x: np.linalg.norm(x.reshape(2, 2), 2), r"np\.linalg\.norm with ord=2"),
    "nextafter": (lambda x: np.nextafter(x, 0.0), r"np\.nextafter cannot be traced.*elementary functions"),
    "spacing of one": (lambda x: np.spacing(x[0]), r"np\.spacing cannot be traced"),
    "in place": (lambda x: np.add(np.ones(4), x, out=np.ones(4)), r"x = x \+ y"),
    "into numbers": (lambda x: np.zeros(4).__setitem__(0, x[0]), r"np\.zeros_like"),
    "sort": (lambda x: np.sort(x), r"np\.sort cannot be traced .* kt\.minimum\(a, b\) and kt\.maximum"),
    "argsort": (lambda x: np.argsort(x), r"np\.argsort cannot be traced"),
    "where of words": (lambda x: kt.where(x[0] > 0, "a", x[1]), r"chooses between numbers"),
}


test_what_cannot_be_traced_says_what_to_use = told(TypeError, *REFUSED.values(), of=lambda f: of_arrays(f, (4,)))


def test_a_digest_is_of_what_is_live_and_of_every_bit():
    base = digest(of_arrays(lambda x: x[0] * 0.1 + x[1], (2,)))

    def with_dead_code(x):
        _ = x[0] * x[1] * 7.0
        return x[0] * 0.1 + x[1]

    assert digest(of_arrays(with_dead_code, (2,))) == base
    for other in (
        lambda x: x[0] * math.nextafter(0.1, 1) + x[1],
        lambda x: x[1] * 0.1 + x[0],
        lambda x: x[0] * 0.1 - x[1],
        lambda x: np.stack([x[0] * 0.1 + x[1]]),
        lambda x: kt.where(x[0] < 0, x[0], x[1]),
    ):
        assert digest(of_arrays(other, (2,))) != base
    assert digest(of_arrays(lambda x: x[0] * 0.1 + x[1], (3,))) != base


def test_a_nan_among_the_constants_is_no_warning():
    with np.errstate(all="raise"):
        chosen = of_arrays(lambda x: select_less(x[0], 1.0, math.nan, x[0]), (1,))
    assert np.isnan(interpret(chosen, [[0.0]])[0])
    assert interpret(chosen, [[2.0]])[0] == 2.0


def test_choices_ask_for_no_name_that_kinetree_has_not(monkeypatch):
    """The hint in such an error takes longer than all of a trace."""
    monkeypatch.setattr(kt, "_no_attribute", lambda name: pytest.fail(f"looked for {name}"))
    of_arrays(lambda x: select_less(x[0], 1.0, 0.0, x[0]), (1,))
