"""Derivatives that are declared: of solvers by their residuals, of functions by rules, and of loops by their steps."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers.kernels import same_bits
from helpers.told import told
from kinetree.errors import ArgumentError

ARM = kt.load("ur5")


def roots(a, b):
    """Newton's method, stopped early, for two equations in two unknowns."""

    def newton(x):
        F, J = (
            equations(x, a, b),
            np.stack([np.stack([3.0 * x[0] ** 2, b]), np.stack([-x[1], 2.0 + np.exp(x[1]) - x[0]])]),
        )
        return x - np.linalg.solve(J, F)

    return kt.repeat(newton, np.array([1.0, 0.5]), until=lambda x: np.max(np.abs(equations(x, a, b))) < 1e-4, most=40)


def equations(x, a, b):
    return np.stack([x[0] ** 3 + b * x[1] - a[0], 2.0 * x[1] + np.exp(x[1]) - x[0] * x[1] - a[1]])


PARTS = {"shapes": {"a": (2,), "b": ()}}
solved = ARM.compile(kt.implicit(roots, equations), name="solved", **PARTS)
rough = ARM.compile(roots, name="rough", **PARTS)
A, B = np.array([2.0, 1.7]), 0.4


def converged(a, b):
    x = rough(a, b)
    for _ in range(8):
        J = np.array([[3.0 * x[0] ** 2, b], [-x[1], 2.0 + np.exp(x[1]) - x[0]]])
        x = x - np.linalg.solve(J, equations(x, a, b))
    return x, J


def exact(a, b):
    """The derivatives by a and b at the solution."""
    x, J = converged(a, b)
    return np.linalg.inv(J), np.linalg.solve(J, [-x[1], 0.0])


def test_a_solver_has_the_derivatives_of_its_equation():
    by_a, by_b = exact(A, B)
    found = solved.derivatives(A, B, value=True)
    assert same_bits(found[0], solved(A, B))
    assert same_bits(found[0], rough(A, B))
    error = np.abs(found[0] - converged(A, B)[0]).max()
    assert 1e-9 < error < 1e-4
    assert max(np.abs(found.dresult_da - by_a).max(), np.abs(found.dresult_db - by_b).max()) < 5.0 * error
    h = 1e-6
    numeric = (converged(A, B + h)[0] - converged(A, B - h)[0]) / (2 * h)
    assert np.abs(found.dresult_db - numeric).max() < 5.0 * error


def test_gradients_second_derivatives_and_batches_follow():
    rng = np.random.default_rng(0)
    a, b, weights = A + 0.1 * rng.normal(size=(7, 2)), B + 0.1 * rng.normal(size=7), rng.normal(size=(7, 2))
    J, gradient = solved.derivatives(a, b), solved.vjp(a, b, weights)
    assert np.abs(gradient.a_bar - np.einsum("ki,kij->kj", weights, J.dresult_da)).max() < 1e-14
    assert np.abs(gradient.b_bar - np.einsum("ki,ki->k", weights, J.dresult_db)).max() < 1e-14
    rate = solved.jvp(a, b, da=a, db=b)
    assert np.abs((rate * weights).sum(1) - (gradient.a_bar * a).sum(1) - gradient.b_bar * b).max() < 1e-13
    for k in range(7):
        assert same_bits(solved.vjp(a[k], b[k], weights[k]).a_bar, gradient.a_bar[k])
    hessian = solved.hessian(a, b, weights, wrt="b")[:, 0, 0]
    h = 1e-5
    numeric = [(exact(a[k], b[k] + h)[1] - exact(a[k], b[k] - h)[1]) @ weights[k] / (2 * h) for k in range(7)]
    assert np.abs(hessian - numeric).max() < 1e-3  # the solver's own error, 1e-4 at most
    assert "double" in solved.vjp.to_c().header


def test_what_a_residual_uses_from_around_it_counts():
    def law(a, b):
        c = np.sin(b)
        root = kt.implicit(
            lambda a: kt.repeat(
                lambda x: (x + a * c / x) / 2.0, a, until=lambda x: abs(x * x - a * c) < 1e-13, most=60
            ),
            lambda x, a: x * x - a * c,
        )
        return kt.repeat(lambda y: root(y + a), a, most=3)

    function = ARM.compile(law, shapes={"a": (), "b": ()}, name="law")
    h, found = 1e-6, function.derivatives(2.0, 0.7)
    assert abs(found[0] - (function(2.0 + h, 0.7) - function(2.0 - h, 0.7)) / (2 * h)) < 1e-8
    assert abs(found[1] - (function(2.0, 0.7 + h) - function(2.0, 0.7 - h)) / (2 * h)) < 1e-8
    gradient = function.vjp(2.0, 0.7, 1.0)
    assert np.allclose(gradient, found, rtol=1e-14)


def test_derivatives_of_a_solver_that_has_not_converged_are_nan_if_that_is_asked_for():
    strict = ARM.compile(kt.implicit(roots, equations, tolerance=1e-12), name="strict", **PARTS)
    assert np.isfinite(strict(A, B)).all()
    assert np.isnan(strict.derivatives(A, B, wrt="b")).all()
    assert np.isnan(strict.vjp(A, B, np.ones(2), wrt="b"))
    lenient = ARM.compile(kt.implicit(roots, equations, tolerance=1e-4), name="lenient", **PARTS)
    assert np.allclose(lenient.derivatives(A, B, wrt="b"), solved.derivatives(A, B, wrt="b"), rtol=1e-14)


def test_the_rates_of_iterations_lag_behind_those_of_the_equation():
    """x = cos(a x), to 1e-6: what the documentation says of both."""
    a = 0.8

    def fixed_point(a):
        return kt.repeat(
            lambda x: np.cos(a * x), 0.5 + 0.0 * a, until=lambda x: abs(x - np.cos(a * x)) < 1e-6, most=200
        )

    by_steps = ARM.compile(fixed_point, shapes={"a": ()})
    by_equation = ARM.compile(kt.implicit(fixed_point, lambda x, a: x - np.cos(a * x)), shapes={"a": ()}, name="f")
    x = 0.7
    for _ in range(100):
        x = np.cos(a * x)
    slope = -x * np.sin(a * x) / (1.0 + a * np.sin(a * x))
    assert 1e-6 < abs(by_steps.derivatives(a) - slope) < 1e-4
    assert abs(by_equation.derivatives(a) - slope) < 2e-6
    assert abs(by_steps.vjp(a, 1.0) - by_steps.derivatives(a)) < 1e-15


def compiled(function, **shapes):
    return ARM.compile(function, shapes=shapes or {"x": ()}, name="f")


def test_a_loop_that_is_too_long_to_be_recorded_goes_forward():
    def law(x):
        return kt.repeat(lambda y: y / (1.0 + x * y), x, until=lambda y: y < 0.1, most=10**9)

    function = compiled(law)
    h, found = 1e-6, function.vjp(2.0, 1.0)
    assert found == function.derivatives(2.0)
    assert abs(found - (function(2.0 + h) - function(2.0 - h)) / (2 * h)) < 1e-8


def chain(x, y):
    return np.stack([np.tanh(x[0]) * y, x[1] * x[1] + y, x[0] * y])


def chain_jvp(x, y, dx, dy):
    size = np.tanh(x[0])
    return np.stack([(1.0 - size * size) * dx[0] * y + size * dy, 2.0 * x[1] * dx[1] + dy, dx[0] * y + x[0] * dy])


def chain_jacobian(x, y):
    size = np.tanh(x[0])
    by_x = np.stack([np.stack([(1.0 - size * size) * y, 0.0]), np.stack([0.0, 2.0 * x[1]]), np.stack([y, 0.0])])
    return by_x, np.stack([size, 1.0, x[0]])


def chain_vjp(x, y, weights):
    by_x, by_y = chain_jacobian(x, y)
    return weights @ by_x, weights @ by_y


RULES = {"jvp": chain_jvp, "jacobian": chain_jacobian, "vjp": chain_vjp}
OWN = {"x": (2,), "y": ()}


@pytest.mark.parametrize("kind", RULES)
def test_all_derivatives_follow_from_one_rule(kind):
    plain = ARM.compile(chain, shapes=OWN, name="plain")
    ours = ARM.compile(kt.custom_derivative(chain, **{kind: RULES[kind]}), shapes=OWN, name="ours")
    x, y, w = np.array([0.3, -0.7]), 1.4, np.array([1.0, -2.0, 0.5])
    calls = {"derivatives": (), "vjp": (w,), "hessian": (w,), "__call__": ()}
    for name, further in calls.items():
        found, wanted = (getattr(function, name)(x, y, *further) for function in (ours, plain))
        pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
        assert all(np.allclose(a, b, rtol=1e-14, atol=1e-14) for a, b in pairs), name
    assert np.allclose(ours.jvp(x, y, dx=x, dy=y), plain.jvp(x, y, dx=x, dy=y), rtol=1e-14)
    assert same_bits(ours(x, y), plain(x, y))


def test_a_rule_counts_instead_of_the_function_and_what_it_may_not_differentiate():
    mechanism = kt.Mechanism(ARM, [kt.Rod("tool0", None, length=0.75)])
    closed = kt.custom_derivative(lambda q, v, tau: mechanism.forward_dynamics(q, v, tau)[0], jvp=lambda *x: 2.0 * x[3])
    function = ARM.compile(lambda q, v, tau: closed(q, v, tau) + kt.stop_gradient(q), name="closed")
    q, v, tau = ARM.random_state(seed=1)
    assert np.abs(function.derivatives(q, v, tau, wrt="q") - 2.0 * np.eye(6)).max() == 0.0
    assert same_bits(function.derivatives(q, v, tau, wrt="q", value=True)[0], function(q, v, tau))


def outside(x):
    w = 2.0 * x
    return kt.custom_derivative(lambda y: y * w, jvp=lambda y, dy: dy)(x + 1.0)


test_wrong_declarations_say_what_to_do = told(
    ArgumentError,
    (lambda: kt.implicit(roots, None), "takes a solver and its residual, two functions"),
    (lambda: kt.implicit(roots, equations, tolerance=-1.0), "tolerance is the largest residual of a solution, above 0"),
    (
        lambda: compiled(kt.implicit(lambda x: x, lambda x, a: np.stack([x, a]))),
        "has 2 entries, and what is solved for 1",
    ),
    (lambda: kt.custom_derivative(chain), "one function as jvp, vjp or jacobian; given are none"),
    (lambda: kt.custom_derivative(chain, jvp=chain_jvp, vjp=chain_vjp), r"given are \['jvp', 'vjp'\]"),
    (lambda: kt.custom_derivative(3.0, jvp=chain_jvp), "takes a function, not 3.0"),
    (
        lambda: compiled(kt.custom_derivative(chain, jvp=lambda *x: x[2]), **OWN),
        r"must return array \(3,\); .* array \(2,\)",
    ),
    (lambda: compiled(kt.custom_derivative(chain, vjp=lambda *x: x[2]), **OWN), "a tuple of 2, one for each argument"),
    (
        lambda: compiled(kt.custom_derivative(chain, vjp=lambda *x: (x[2], x[1])), **OWN),
        r"vjp must return array \(2,\)",
    ),
    (
        lambda: compiled(kt.custom_derivative(chain, jacobian=lambda *x: (x[0], x[1])), **OWN),
        r"jacobian must return array \(3, 2\)",
    ),
    (lambda: compiled(outside), "uses traced values from around it, by which it has no derivative: pass them"),
    (
        lambda: (
            ARM.compile(
                lambda q, v, tau: kt.Mechanism(ARM, [kt.Rod("tool0", None, length=0.75)]).forward_dynamics(q, v, tau)[
                    0
                ],
                name="f",
            ).jvp
        ),
        "f has no jvp yet: those of mechanisms",
    ),
)


@pytest.mark.parametrize(
    "rule",
    [
        {"jvp": lambda x, dx: 2 * x * dx + 1},
        {"jvp": lambda x, dx: 2 * x},
        {"jvp": lambda x, dx: dx * dx},
        {"jvp": lambda x, dx: x / dx},
        {"vjp": lambda x, w: np.clip(2 * x * w, -1.0, 1.0)},
        {"vjp": lambda x, w: np.sin(w)},
    ],
)
def test_rules_that_are_not_linear_are_refused(rule):
    square = kt.custom_derivative(lambda x: x * x, **rule)
    with pytest.raises(ArgumentError, match="is not linear"):
        kt.compile(kt.load("ur5"), square, shapes={"x": ()}, name="square").derivatives(2.0)


def test_linear_rules_of_all_forms_are_taken():
    rule = lambda x, dx: np.where(x > 1.0, -2 * x * dx / 1.0, dx - 0.0) + 0.0 * dx  # noqa: E731
    f = kt.compile(kt.load("ur5"), kt.custom_derivative(lambda x: x, jvp=rule), shapes={"x": ()}, name="f")
    assert f.derivatives(2.0) == -4.0
    assert f.vjp(0.5, 3.0) == 3.0
    once = kt.custom_derivative(np.sin, jvp=lambda x, dx: np.cos(x) * dx)
    assert once(1.0) == np.sin(1.0)


def test_what_only_the_solver_uses_is_refused():
    def around(x, k):
        return kt.implicit(lambda x: x * k, lambda y, x: y - 2 * x)(x)

    with pytest.raises(ArgumentError, match=r"implicit: .* uses traced values from around it"):
        kt.compile(kt.load("ur5"), around, shapes={"x": (), "k": ()}, name="around").derivatives(2.0, 3.0)

    def guessed(x, k):
        guess = kt.stop_gradient(k)
        return kt.implicit(lambda x: x * guess, lambda y, x: y - 2 * x)(x)

    f = kt.compile(kt.load("ur5"), guessed, shapes={"x": (), "k": ()}, name="guessed")
    assert f.derivatives(2.0, 3.0, wrt="x") == 2.0
