"""Functions as JAX's: its own differentiation of our calls, its transforms, and their bits."""

import os

import numpy as np
import pytest

from helpers.frameworks import CALLS, GO2, PANDA, STATE, WRONG, by_position, check_slopes, entries, law, library
from kinetree.errors import ArgumentError

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
library("jax")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("call", CALLS)
def test_values_and_jacobians(call):
    function, arguments = by_position(call)
    f = function.to_jax()
    found = jax.jit(f)(*arguments)
    assert np.array_equal(entries(found), entries(function(*arguments)))
    flat = lambda *x: entries(f(*x), jnp)  # noqa: E731
    every = tuple(range(len(arguments)))
    forward, backward = (jax.jit(way(flat, every))(*arguments) for way in (jax.jacfwd, jax.jacrev))
    check_slopes(function, arguments, backward)
    for a, b in zip(forward, backward, strict=True):
        assert abs(a - b).max() <= 1e-12 * (1.0 + abs(b).max())


@pytest.mark.parametrize("call", ["forward dynamics", "of a user", "a difference"])
def test_second_derivatives_in_all_orders(call):
    function, arguments = by_position(call)
    f, first = function.to_jax(), jnp.asarray(arguments[0])
    loss = lambda x: (entries(f(x, *arguments[1:]), jnp) ** 2).sum()  # noqa: E731
    ways = [outer(inner(loss))(first) for outer in (jax.jacfwd, jax.jacrev) for inner in (jax.jacfwd, jax.jacrev)]
    for H in ways[1:]:
        assert abs(H - ways[0]).max() < 1e-11 * abs(ways[0]).max()
    dv, h = np.random.default_rng(1).normal(size=GO2.nv), 1e-6
    ahead, behind = (GO2.integrate(arguments[0], s * dv) for s in (h, -h))
    slope = (jax.grad(loss)(ahead) - jax.grad(loss)(behind)) / (2 * h)
    assert abs(ways[0] @ ((ahead - behind) / (2 * h)) - slope).max() < 1e-6 * abs(slope).max()


def test_transforms_have_the_bits_of_the_function():
    f, own = PANDA.inverse_dynamics.to_jax(), PANDA.inverse_dynamics
    q, v, a = PANDA.random_state(seed=1, size=33)
    expected = own(q, v, a)
    assert np.array_equal(jax.jit(jax.vmap(f))(q, v, a), expected)
    assert np.array_equal(jax.vmap(f, (0, None, 1))(q, v[0], a.T), own(q, v[0], a))
    assert np.array_equal(f(q, v[0], a), own(q, v[0], a))
    nested = jax.vmap(jax.vmap(f))(*(np.reshape(x, (3, 11, 7)) for x in (q, v, a)))
    assert np.array_equal(np.reshape(nested, (33, 7)), expected)
    gradient = jax.vmap(jax.grad(lambda q, v, a: f(q, v, a).sum()), (0, None, 0))(q, v[0], a)
    assert np.array_equal(gradient, own.vjp(q, v[0], a, tau_bar=np.ones(7), wrt="q"))
    assert f(q[:0], v[:0], a[:0]).shape == (0, 7)


def test_shards_of_a_batch():
    f = GO2.forward_dynamics.to_jax()
    mesh = jax.make_mesh((len(jax.devices()),), ("i",))
    P = jax.sharding.PartitionSpec("i")
    states = GO2.random_state(seed=2, size=8)
    placed = [jax.device_put(x, jax.NamedSharding(mesh, P)) for x in states]
    sharded = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=(P,) * 3, out_specs=P))
    assert np.array_equal(sharded(*placed), GO2.forward_dynamics(*states))


def test_shards_of_some_arguments():
    f = PANDA.inverse_dynamics.to_jax()
    mesh = jax.make_mesh((len(jax.devices()),), ("i",))
    P = jax.sharding.PartitionSpec
    q, v, a = PANDA.random_state(seed=3, size=4)
    placed = [jax.device_put(x, jax.NamedSharding(mesh, P("i"))) for x in (v, a)]

    def loss(q, v, a):
        whole = lambda q, v, a: jax.lax.psum(f(q, v, a).sum(), "i")  # noqa: E731
        return jax.shard_map(whole, mesh=mesh, in_specs=(P(), P("i"), P("i")), out_specs=P())(q, v, a)

    same = jnp.asarray(q[0])
    found = jax.jit(jax.grad(loss))(jax.device_put(same, jax.NamedSharding(mesh, P())), *placed)
    expected = jax.grad(lambda q: f(q, v, a).sum())(same)
    assert abs(found - expected).max() < 1e-12


def test_kernels_are_shared_by_equal_functions():
    import kinetree as kt

    state = PANDA.random_state(seed=4)
    for robot in (PANDA, kt.load("panda")):
        assert np.array_equal(robot.gravity_forces.to_jax()(state[0]), PANDA.gravity_forces(state[0]))
    bound = PANDA.frame_placement.bind(frame="panda_hand")
    assert np.array_equal(bound.to_jax()(state[0]), PANDA.frame_placement.to_jax()(state[0], frame="panda_hand"))
    with jax.disable_jit():
        assert np.array_equal(PANDA.gravity_forces.to_jax()(state[0]), PANDA.gravity_forces(state[0]))


def test_hessians_by_a_configuration_are_symmetric():
    energy = GO2.potential_energy.to_jax()
    H = jax.hessian(energy)(STATE[0])
    assert abs(H - H.T).max() < 1e-12 * abs(H).max()
    h = 1e-6 * np.eye(GO2.nq)
    slopes = [(jax.grad(energy)(STATE[0] + d) - jax.grad(energy)(STATE[0] - d)) / 2e-6 for d in h]
    assert abs(H - np.stack(slopes)).max() < 1e-7 * abs(H).max()
    scipy = GO2.potential_energy.to_scipy(STATE[0], wrt="q")
    assert abs(scipy.hess(scipy.x) - H).max() < 1e-12 * abs(H).max()


def test_float32_is_that_of_the_function():
    state = [x.astype(np.float32) for x in STATE]
    found = GO2.inverse_dynamics.to_jax()(*state)
    assert found.dtype == np.float32
    assert np.array_equal(found, GO2.inverse_dynamics(*state))
    with jax.enable_x64(False):
        assert GO2.inverse_dynamics.to_jax()(*map(jnp.asarray, STATE)).dtype == np.float32


def test_forces_by_name_and_defaults():
    f = GO2.inverse_dynamics.to_jax()
    push = {"FL_foot": np.arange(6.0)}
    assert np.array_equal(f(*STATE, f_ext=push), GO2.inverse_dynamics(*STATE, f_ext=push))
    assert law.to_jax()(*STATE[:2]).power == law(*STATE[:2]).power
    short = [x.astype(np.float32) for x in STATE[:2]]
    assert law.to_jax()(*short).power.dtype == np.float32  # the default has no say
    with pytest.raises(ArgumentError, match="give the array"):
        jax.grad(lambda x: f(*STATE, f_ext={"FL_foot": x}).sum())(jnp.zeros(6))
    with pytest.raises(ArgumentError, match="complex"):
        f(jnp.zeros(19, dtype=complex), *STATE[1:])


@pytest.mark.parametrize(("call", "text"), WRONG)
def test_wrong_calls(call, text):
    with pytest.raises(ArgumentError) as error:
        call(GO2.inverse_dynamics.to_jax(), *STATE)
    assert text in str(error.value)


def test_derivatives_are_functions_too():
    slopes = GO2.inverse_dynamics.derivatives
    for found, expected in zip(slopes.to_jax()(*STATE), slopes(*STATE), strict=True):
        assert np.array_equal(found, expected)
    ahead = PANDA.step.to_jax()(*PANDA.random_state(seed=0), 1e-3)
    assert np.array_equal(entries(ahead), entries(PANDA.step(*PANDA.random_state(seed=0), 1e-3)))


def test_what_has_no_derivative_says_so():
    solver = PANDA.inverse_kinematics_solver("panda_hand")
    q = PANDA.neutral()
    pose = PANDA.frame_placement(q, frame="panda_hand")
    f = solver.to_jax()
    assert np.array_equal(entries(f(q, pose)), entries(solver(q, pose)))
    with pytest.raises(ArgumentError, match="are not differentiated"):
        jax.grad(lambda q: entries(f(q, pose), jnp).sum())(q)


def test_another_version_of_the_interface_is_refused_by_name(monkeypatch):
    from kinetree.interop import jax as ours

    monkeypatch.setattr(ours, "VERSION", (1, 0))
    ours._check_version.cache_clear()
    with pytest.raises(ArgumentError, match=r"jax .* has version 0\.\d+ of XLA's foreign function interface"):
        PANDA.gravity_forces.to_jax()
    monkeypatch.undo()
    ours._check_version.cache_clear()
