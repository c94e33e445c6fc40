"""Functions as PyTorch's: autograd, `torch.func` and `torch.compile` of our calls, and their bits."""

import gc

import numpy as np
import pytest

import kinetree as kt
from helpers.frameworks import CALLS, GO2, PANDA, STATE, WRONG, by_position, check_slopes, entries, library
from kinetree.errors import ArgumentError

library("torch")
import torch  # noqa: E402


def tensors(arrays):
    return tuple(torch.tensor(x, dtype=torch.float64) for x in arrays)


def flat(results):
    return torch.cat([x.reshape(-1) for x in (results if isinstance(results, tuple) else (results,))])


@pytest.mark.parametrize("call", CALLS)
def test_values_and_jacobians(call):
    function, arguments = by_position(call)
    f, given = function.to_torch(), tensors(arguments)
    assert np.array_equal(entries(f(*given)), entries(function(*arguments)))
    every = tuple(range(len(arguments)))
    forward, backward = (way(lambda *x: flat(f(*x)), every)(*given) for way in (torch.func.jacfwd, torch.func.jacrev))
    check_slopes(function, arguments, [x.numpy() for x in backward])
    for a, b in zip(forward, backward, strict=True):
        assert abs(a - b).max() <= 1e-12 * (1.0 + abs(b).max())


def test_the_library_checks_first_and_second_derivatives():
    f = PANDA.forward_dynamics.to_torch()
    state = [x.requires_grad_() for x in tensors(PANDA.random_state(seed=0))]
    assert torch.autograd.gradcheck(f, state, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda q: f(q, *state[1:]) / 100.0, state[:1], atol=1e-3)


def test_second_derivatives_in_all_orders():
    f, (q, v, a) = GO2.forward_dynamics.to_torch(), tensors(STATE)
    ways = (torch.func.jacfwd, torch.func.jacrev)
    found = [outer(inner(lambda q: (f(q, v, a) ** 2).sum()))(q) for outer in ways for inner in ways]
    for H in found[1:]:
        assert abs(H - found[0]).max() < 1e-11 * abs(found[0]).max()


def test_transforms_have_the_bits_of_the_function():
    f, own = PANDA.inverse_dynamics.to_torch(), PANDA.inverse_dynamics
    arrays = q, v, a = PANDA.random_state(seed=1, size=33)
    Q, V, A = tensors(arrays)
    assert np.array_equal(torch.func.vmap(f)(Q, V, A), own(q, v, a))
    assert np.array_equal(torch.func.vmap(f, (0, None, 1))(Q, V[0], A.T), own(q, v[0], a))
    assert np.array_equal(f(Q, V[0], A), own(q, v[0], a))
    gradient = torch.func.vmap(torch.func.grad(lambda q, v, a: f(q, v, a).sum()), (0, None, 0))(Q, V[0], A)
    assert np.array_equal(gradient, own.vjp(q, v[0], a, tau_bar=np.ones(7), wrt="q"))
    assert f(*(x.float() for x in (Q, V, A))).dtype == torch.float32
    assert f(q, v, A).dtype == torch.float64


def test_gradients_outlive_the_function():
    def energy(q):
        return kt.load("ur5").potential_energy.to_torch()(q)

    q = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    y = energy(q)
    gc.collect()
    y.backward()
    assert abs(q.grad.numpy() - kt.load("ur5").gravity_forces(np.zeros(6))).max() < 1e-12


def test_compiled_without_a_break():
    f, (q, v, a) = GO2.inverse_dynamics.to_torch(), tensors(STATE)
    q.requires_grad_()
    compiled = torch.compile(lambda q, v, a: (2.0 * f(q, v, a)).sum(), backend="aot_eager", fullgraph=True)
    (found,) = torch.autograd.grad(compiled(q, v, a), [q])
    (expected,) = torch.autograd.grad((2.0 * f(q, v, a)).sum(), [q])
    assert np.array_equal(found, expected)


def test_tensors_are_not_copied():
    f = PANDA.gravity_forces.to_torch()
    q = torch.zeros(4, 7, dtype=torch.float64)
    view = q[:, :]
    assert np.array_equal(f(view), PANDA.gravity_forces(view.numpy()))
    assert f(q).numpy().flags.writeable


@pytest.mark.parametrize(("call", "text"), WRONG)
def test_wrong_calls(call, text):
    with pytest.raises(ArgumentError) as error:
        call(GO2.inverse_dynamics.to_torch(), *STATE)
    assert text in str(error.value)


def test_tensors_that_kernels_cannot_read_are_refused():
    f = PANDA.gravity_forces.to_torch()
    with pytest.raises(ArgumentError, match="not a real number"):
        f(torch.zeros(7, dtype=torch.complex128))
    with pytest.raises(ArgumentError, match=r"q is on meta, kernels run on the CPU"):
        f(torch.zeros(7, device="meta"))
