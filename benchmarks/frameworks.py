"""Inverse dynamics in other libraries, beside an empty call of theirs and beside our own; one core."""

from __future__ import annotations

import functools
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.robots import cases
from benchmarks.timing import Thunk, interleaved

N = 4096


def _jax(robot: kt.Robot, one: list[np.ndarray], many: list[np.ndarray]) -> tuple[dict[str, Thunk], dict[str, Thunk]]:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    f, empty = jax.jit(robot.inverse_dynamics.to_jax()), jax.jit(lambda q, v, a: v)
    gradient = jax.jit(jax.grad(lambda q, v, a: f(q, v, a).sum()))
    state, states = [jnp.asarray(x) for x in one], [jnp.asarray(x) for x in many]

    def call(g: Any, x: list[Any]) -> object:
        return g(*x).block_until_ready()

    single = {
        "jax": partial(call, f, state),
        "jax, empty": partial(call, empty, state),
        "jax, grad": partial(call, gradient, state),
    }
    batch = {"jax, vmap": partial(call, jax.jit(jax.vmap(robot.inverse_dynamics.to_jax())), states)}
    return single, batch


@functools.cache
def _empty_operator() -> Any:
    import torch

    schema = "(Tensor q, Tensor v, Tensor a) -> Tensor"
    return torch.library.custom_op(
        "benchmarks::empty", lambda q, v, a: torch.empty_like(v), mutates_args=(), schema=schema
    )


def _torch(robot: kt.Robot, one: list[np.ndarray], many: list[np.ndarray]) -> tuple[dict[str, Thunk], dict[str, Thunk]]:
    import torch

    from kinetree.interop import torch as ours

    torch.set_num_threads(1)
    f, state, states = robot.inverse_dynamics.to_torch(), [*map(torch.tensor, one)], [*map(torch.tensor, many)]
    key = ours._key(ours.bound(robot.inverse_dynamics, tuple(state), {}, lambda _, x: x).operation)
    single = {
        "torch, the operator": partial(ours.evaluate, key, state),
        "torch, an empty custom_op": partial(_empty_operator(), *state),
        "torch, with autograd": partial(f, *state),
    }
    return single, {"torch": partial(f, *states)}


def _casadi(robot: kt.Robot, one: list[np.ndarray], folder: str) -> dict[str, Thunk]:
    f = robot.inverse_dynamics.to_casadi(external=Path(folder, "f.c"))
    slopes = f.jacobian()
    buffer, evaluate = slopes.buffer()
    given = [np.ascontiguousarray(x) for x in (*one, np.zeros(robot.nv))]
    results = [np.zeros(slopes.nnz_out(k)) for k in range(slopes.n_out())]
    for k, x in enumerate(given):
        buffer.set_arg(k, memoryview(x))
    for k, x in enumerate(results):
        buffer.set_res(k, memoryview(x))

    def call(keep: object = (f, slopes, buffer, given, results)) -> None:
        evaluate()

    return {
        "casadi, our C's Jacobian": call,
        "kinetree, derivatives": partial(robot.inverse_dynamics.derivatives, *one),
    }


def run(rounds: int) -> Section:
    kt.set_num_threads(1)
    section = Section("Functions in other libraries", "One state; 4096 states, each.")
    for case in cases():
        states = case.states(N)
        many = [states[k] for k in ("q", "v", "a")]
        one = [x[0].copy() for x in many]
        function, labels = case.robot.inverse_dynamics, {"robot": case.name}
        for make in (_jax, _torch):
            single, batch = make(case.robot, one, many)
            found = interleaved({"kinetree": partial(function, *one), **single}, rounds)
            section.compare({**labels, "states": "one"}, "kinetree", found, 1, "ns")
            found = interleaved({"kinetree": partial(function, *many), **batch}, rounds)
            section.compare({**labels, "states": "a batch"}, "kinetree", found, N, "ns")
        with tempfile.TemporaryDirectory() as folder:
            found = interleaved(_casadi(case.robot, one, folder), rounds)
        section.compare({**labels, "states": "one"}, "kinetree, derivatives", found, 1, "ns")
    return section
