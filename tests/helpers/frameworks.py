"""Functions as those of other libraries: what their tests share."""

from __future__ import annotations

import os
from importlib.util import find_spec

import numpy as np
import pytest

import kinetree as kt


def library(name):
    """Skip the tests of a file without this package, but not on CI."""
    if find_spec(name) is None and "CI" not in os.environ:
        pytest.skip(f"{name} is not installed", allow_module_level=True)


PANDA, GO2 = kt.load("panda"), kt.load("go2", floating_base=True)


@GO2.compile
def law(q, v, gain: float = 3.0):
    """Has several results, a choice, a default, and elementary functions; its arithmetic is exact."""
    tau = np.where(v > 0.0, np.sqrt(abs(v) + 1.0), np.arctan2(v, 2.0)) * gain + GO2.gravity_forces(q)
    return {"tau": tau + np.cbrt(v) + np.fmod(v, 0.3) + np.hypot(v, 1.0), "power": (tau * v).sum()}


STATE = GO2.random_state(seed=0)
CALLS = {
    "inverse dynamics": (GO2.inverse_dynamics, STATE, {}),
    "with forces": (
        GO2.inverse_dynamics,
        (*STATE, np.ones(next(p.shape for p in GO2.inverse_dynamics.spec.inputs if p.name == "f_ext"))),
        {"f_ext_frame": "world"},
    ),
    "forward dynamics": (GO2.forward_dynamics, STATE, {}),
    "a matrix": (GO2.frame_placement, STATE[:1], {"frame": "FL_foot"}),
    "a configuration": (GO2.integrate, (STATE[0], 0.2 * STATE[1]), {}),
    "a difference": (GO2.difference, (STATE[0], GO2.integrate(STATE[0], 0.2 * STATE[1])), {}),
    "of a user": (law, STATE[:2], {"gain": 2.0}),
}


def entries(results, np=np):
    """All entries of results in one vector, by NumPy or what has its names."""
    results = results if isinstance(results, tuple) else (results,)
    return np.concatenate([np.ravel(x) for x in results])


def by_position(call):
    """The function of a call with its options, and its arguments by position."""
    function, args, kwargs = CALLS[call]
    inputs = {k: np.asarray(x) for k, x in kwargs.items() if not isinstance(x, str)}
    function = function.bind(**{k: x for k, x in kwargs.items() if isinstance(x, str)})
    return function, [*map(np.asarray, args), *inputs.values()]


def is_configuration(x):
    return x.shape == (GO2.nq,)


def check_slopes(function, arguments, jacobians):
    """Compare a library's Jacobians of all entries of the results, by each argument, with differences."""
    rng, h = np.random.default_rng(0), 1e-6
    for k, (x, J) in enumerate(zip(arguments, jacobians, strict=True)):
        direction = rng.normal(size=GO2.nv if is_configuration(x) else x.shape)
        steps = [GO2.integrate(x, s * direction) if is_configuration(x) else x + s * direction for s in (h, -h)]
        ahead, behind = (entries(function(*arguments[:k], y, *arguments[k + 1 :])) for y in steps)
        expected, rate = (ahead - behind) / (2 * h), (steps[0] - steps[1]) / (2 * h)
        found = np.reshape(J, (len(ahead), -1)) @ np.ravel(rate)
        assert abs(found - expected).max() < 2e-8 * max(abs(expected).max(), abs(ahead).max(), 1.0)
        if is_configuration(x):  # in the tangent space: nothing along the quaternion
            normal = np.reshape(J, (len(ahead), -1))[:, 3:7] @ x[3:7]
            assert abs(normal).max() < 1e-13 * abs(np.asarray(J)).max()


WRONG = [
    (lambda f, q, v, a: f(q[:-1], v, a), "q has shape (18,), this robot has nq = 19"),
    (lambda f, q, v, a: f(q, v), "needs a too"),
    (lambda f, q, v, a: f(q, v, a, out=1), "leave out="),
    (lambda f, q, v, a: f(q, v, a, f_extt=1), "did you mean 'f_ext'"),
    (lambda f, q, v, a: f(np.ones((2, 19)), np.ones((3, 18)), a), "do not broadcast"),
]
"""Calls of inverse dynamics as another library's, and what the error says."""
