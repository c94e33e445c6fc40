"""Derivatives by every kind of input, against differences; and inputs by which there are none."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import kinetree as kt
from helpers.told import told
from kinetree.errors import ArgumentError, DerivativeWarning, ModelError

ARM = kt.load("ur5").with_friction()
Q, V, A = ARM.random_state(seed=0)
LOAD = np.array([2.0, 0, 0, 0.2, 0.03, 0, 0.03, 0, 0, 0.01])
INPUTS = {
    kt.gravity: np.array([0.1, 0.2, -9.7]),
    kt.payload("tool0", name="load"): LOAD,
    kt.body_inertia("forearm_link", name="forearm"): 1.2 * LOAD,
    kt.joint_armature: np.full(6, 0.1),
    kt.joint_damping: np.full(6, 0.2),
    kt.joint_friction: np.full(6, 0.3),
    kt.joint_placement("elbow_joint", name="elbow"): ARM.joint("elbow_joint").placement,
}
NUMBERS = {x.name: value for x, value in INPUTS.items()}


@ARM.compile
def controlled(q, v, t: float, kp: float, kd: float = 2.0):
    return ARM.forward_dynamics(q, v, kp * (np.sin(t) - q) - kd * v)


PULLED = {"f_ext": np.arange(36.0).reshape(6, 6)}
OF_ROBOT = [
    (ARM.compile(name, inputs=[*INPUTS]), {"q": Q, "v": V, x: A} | NUMBERS, tuple(NUMBERS))
    for name, x in (("inverse_dynamics", "a"), ("forward_dynamics", "tau"))
]
CASES = [
    *OF_ROBOT,
    (ARM.inverse_dynamics, {"q": Q, "v": V, "a": A} | PULLED, ("f_ext",)),
    (ARM.forward_dynamics.bind(f_ext_frame="world"), {"q": Q, "v": V, "tau": A} | PULLED, ("f_ext", "q")),
    (ARM.step, {"q": Q, "v": V, "tau": A, "dt": 1e-2}, ("dt",)),
    (controlled, {"q": Q, "v": V, "t": 0.3, "kp": 50.0, "kd": 2.0}, ("t", "kp", "kd")),
]
ROWS = [(f, given, name) for f, given, names in CASES for name in names]


def moved(x: Any, d: np.ndarray) -> Any:
    """The input after a step along a direction: a pose by its turn and shift."""
    if np.shape(x) != (4, 4):
        return x + d.reshape(np.shape(x))
    step = np.zeros((4, 4))
    step[:3] = [[0, -d[2], d[1], d[3]], [d[2], 0, -d[0], d[4]], [-d[1], d[0], 0, d[5]]]
    return x @ expm(step)


@pytest.mark.parametrize("row", ROWS, ids=[f"{f.__name__}-{name}" for f, _, name in ROWS])
def test_by_every_input_they_are_those_of_differences(row):
    function, given, name = row
    n, h = 6 if name == "elbow" else np.size(given[name]), 1e-5
    found = function.derivatives(**given, wrt=name)
    found = found if isinstance(found, tuple) else (found,)
    for k, block in enumerate(found):
        ends = [
            [
                np.asarray(function(**given | {name: moved(given[name], s * e)})).reshape(len(found), -1)[k]
                for s in (h, -h)
            ]
            for e in np.eye(n)
        ]
        numeric = np.array([(a - b) / (2 * h) for a, b in ends]).T
        assert np.abs(block.reshape(-1, n) - numeric).max() <= 3e-8 * max(1.0, np.abs(numeric).max())


def test_forces_by_the_names_of_frames_have_rates_by_these_too():
    named, rate = {"tool0": np.arange(6.0)}, {"tool0": np.ones(6)}
    whole, along = (ARM.inverse_dynamics.spec.named["f_ext"](x, {}) for x in (named, rate))
    f = ARM.inverse_dynamics
    assert np.array_equal(f.derivatives(Q, V, A, named, wrt="f_ext"), f.derivatives(Q, V, A, whole, wrt="f_ext"))
    assert np.array_equal(f.jvp(Q, V, A, named, df_ext=rate), f.jvp(Q, V, A, whole, df_ext=along))


def test_what_no_result_depends_on_is_zero_and_named_once():
    free = kt.compile(ARM, lambda q, v: ARM.gravity_forces(q), name="free")
    with pytest.warns(DerivativeWarning, match="free_derivatives: no result depends on 'v'"):
        assert not free.derivatives(Q, V, wrt="v").any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not free.derivatives(Q[None], V, wrt="v").any()
        assert not free.vjp(Q, V, A).v_bar.any()


@ARM.compile
def counted(q, times: int = 2):
    return times * q


test_there_are_none_by_others = told(
    ArgumentError,
    (lambda: counted.derivatives(Q, wrt="times"), "wrt: 'times' is an option, a constant of the program"),
    (lambda: ARM.jacobian.derivatives(Q, frame="tool0", wrt="frame"), "wrt: 'frame' is an option"),
    (lambda: counted.derivatives(Q, wrt="p"), "wrt: no input 'p'"),
    (lambda: ARM.compile("gravity_forces", inputs=[kt.joint_placement("x")]), ModelError, "no joint 'x'"),
)
