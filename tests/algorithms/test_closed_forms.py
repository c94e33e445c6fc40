"""Mechanisms whose equations of motion are in every book."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy
from scipy.spatial.transform import Rotation

from helpers.dense import assert_close
from kinetree.algorithms import aba, bias_forces, crba, forward_kinematics, gravity_forces, rnea
from kinetree.joints import FreeFlyer, Joint, Prismatic, Revolute, RollPitchYaw, Spherical
from kinetree.model import Model, ModelBuilder
from kinetree.spatial import Inertia, Scalar, Transform

NOTHING = [[0.0] * 3 for _ in range(3)]


def chain(
    *links: tuple[Joint, tuple[float, float, float], Inertia], gravity: tuple[float, ...], **options: float
) -> Model:
    """Return a chain from (joint, its place in the link before, the link's inertia)."""
    b = ModelBuilder()
    b.add_link("link0")
    for k, (joint, place, inertia) in enumerate(links, start=1):
        b.add_link(f"link{k}", inertia)
        place_in_parent = Transform.translation(place)
        b.add_joint(f"j{k}", parent=f"link{k - 1}", child=f"link{k}", joint=joint, placement=place_in_parent, **options)
    return b.build(gravity=gravity)


@pytest.mark.parametrize("q", [0.0, 0.3, -2.0, 4.0])
def test_pendulum(q: float) -> None:
    """(I + m l²) θ̈ = τ − m g l sin θ, with the rotor's inertia beside I."""
    m, l, I, g, rotor = 1.3, 0.7, 0.05, 9.81, 0.02
    bob = Inertia.from_com(m, (0.0, 0.0, -l), np.diag([0.9, I, 0.4]).tolist())
    model = chain((Revolute((0, 1, 0)), (0.2, -0.1, 0.4), bob), gravity=(0, 0, -g), armature=rotor)
    total, weight = I + m * l * l + rotor, m * g * l * math.sin(q)
    (tau,) = rnea(model, [q], [1.7], [0.6])
    assert_close(tau, total * 0.6 + weight, ulps=8, scale=m * g * l)
    assert_close(aba(model, [q], [1.7], [0.5])[0], (0.5 - weight) / total, ulps=8, scale=m * g * l / total)
    assert_close(crba(model, [q])[0][0], total, ulps=4)
    assert_close(gravity_forces(model, [q])[0], weight, ulps=8, scale=m * g * l)


@pytest.mark.parametrize("theta", [0.0, 0.4, 2.5])
def test_cart_pole(theta: float) -> None:
    """(M + m) ẍ + m l cos θ θ̈ − m l θ̇² sin θ = F; m l cos θ ẍ + (I + m l²) θ̈ − m g l sin θ = τ."""
    M, m, l, I, g = 2.0, 0.5, 0.8, 0.03, 9.81
    cart = Inertia.from_com(M, (0.1, 0.2, 0.3), NOTHING)
    pole = Inertia.from_com(m, (0.0, 0.0, l), np.diag([I, I, 0.0]).tolist())
    model = chain((Prismatic((1, 0, 0)), (0, 0, 0), cart), (Revolute((0, 1, 0)), (0, 0, 0.1), pole), gravity=(0, 0, -g))
    c, s = math.cos(theta), math.sin(theta)
    mass = np.array([[M + m, m * l * c], [m * l * c, I + m * l * l]])
    rate = 1.3
    h = np.array([-m * l * rate**2 * s, -m * g * l * s])
    q, v, a = [5.0, theta], [0.7, rate], [0.4, -0.9]
    assert_close(crba(model, q), mass, ulps=8)
    assert_close(bias_forces(model, q, v), h, ulps=16, scale=m * g * l)
    assert_close(rnea(model, q, v, a), mass @ a + h, ulps=16, scale=m * g * l)
    assert_close(aba(model, q, v, [1.0, 0.2]), np.linalg.solve(mass, [1.0, 0.2] - h), ulps=100)


@pytest.mark.parametrize("joint", [Spherical(), RollPitchYaw()], ids=["quaternion", "roll-pitch-yaw"])
@pytest.mark.parametrize(("theta", "precession"), [(0.6, 2.0), (1.2, -0.7), (2.0, 5.0)])
def test_symmetric_top(joint: Joint, theta: float, precession: float) -> None:
    """Steady precession: I₃ ω₃ Ω − I₁ Ω² cos θ = m g l, about the fixed point; then θ stays and no moment is needed."""
    m, l, I1, I3, g = 1.5, 0.3, 0.2, 0.05, 9.81
    top = Inertia.from_com(m, (0, 0, l), np.diag([I1 - m * l * l, I1 - m * l * l, I3]).tolist())
    model = chain((joint, (0.1, 0.2, 0.3), top), gravity=(0, 0, -g))
    c, s = math.cos(theta), math.sin(theta)
    w3 = (m * g * l + I1 * precession**2 * c) / (I3 * precession)
    spin = w3 - precession * c
    w, dw = [0.0, precession * s, w3], [precession * spin * s, 0.0, 0.0]  # in the body's axes, tilted about x
    if isinstance(joint, Spherical):
        q, v, a = [math.sin(theta / 2), 0.0, 0.0, math.cos(theta / 2)], w, dw
    else:  # at pitch and yaw zero the columns of S are x, (0, c, −s) and (0, s, c)
        q = [theta, 0.0, 0.0]
        E = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
        v = np.linalg.solve(E, w).tolist()
        bias = np.array(list(joint.jcalc(q, v).cJ))[:3]
        a = np.linalg.solve(E, dw - bias).tolist()
    size = I3 * max(map(abs, v)) ** 2  # what cancels in the sum
    assert_close(rnea(model, q, v, a), [0.0, 0.0, 0.0], ulps=32, scale=size)
    assert_close(aba(model, q, v, [0.0] * 3), a, ulps=200, scale=size / I3)


@pytest.mark.parametrize("seed", range(3))
def test_free_rigid_body(seed: int) -> None:
    """Euler's equations about the centre of mass, Newton's for its motion; the body's origin is elsewhere."""
    rng = np.random.default_rng(seed)
    m, c, I = 2.5, rng.normal(scale=0.2, size=3), np.diag([0.3, 0.4, 0.6])
    g = np.array([0.5, -0.3, -9.81])
    model = chain(
        (FreeFlyer(), (0.3, 0.1, -0.2), Inertia.from_com(m, c.tolist(), I.tolist())), gravity=tuple(g.tolist())
    )
    quaternion = rng.normal(size=4)
    R = Rotation.from_quat(quaternion).as_matrix()
    w, v, dw, dv = rng.normal(size=(4, 3))  # in body axes; dv is the spatial acceleration's linear part
    acc_c = dv + np.cross(w, v) + np.cross(dw, c) + np.cross(w, np.cross(w, c))  # of the centre of mass
    force = m * (acc_c - R.T @ g)
    moment = I @ dw + np.cross(w, I @ w) + np.cross(c, force)
    q = [*rng.normal(size=3).tolist(), *quaternion.tolist()]
    tau = rnea(model, q, [*w, *v], [*dw, *dv])
    assert_close(tau, [*moment, *force], ulps=32)
    assert_close(aba(model, q, [*w, *v], tau), [*dw, *dv], ulps=200)
    # thrown and not touched: no moment about the centre of mass, which falls
    a = np.array(aba(model, q, [*w, *v], [0.0] * 6))
    assert_close(a[:3], np.linalg.solve(I, -np.cross(w, I @ w)), ulps=200)
    fall = a[3:] + np.cross(w, v) + np.cross(a[:3], c) + np.cross(w, np.cross(w, c))
    assert_close(fall, R.T @ g, ulps=200)


def two_link(lengths: tuple[Scalar, Scalar], masses: tuple[Scalar, Scalar], g: Scalar) -> Model:
    """Return the planar arm of Modern Robotics, figure 8.1: point masses at the ends of two links, gravity along −y."""
    (l1, l2), (m1, m2) = lengths, masses
    links = (
        (Revolute((0, 0, 1)), (0.0, 0.0, 0.0), Inertia.from_com(m1, (l1, 0.0, 0.0), NOTHING)),
        (Revolute((0, 0, 1)), (l1, 0.0, 0.0), Inertia.from_com(m2, (l2, 0.0, 0.0), NOTHING)),
    )
    return chain(*links, gravity=(0.0, -g, 0.0))


def modern_robotics(q: list[Scalar], v: list[Scalar], l: tuple, m: tuple, g: Scalar, lib: object) -> tuple:
    """Return M, c and g of the 2R arm (Modern Robotics, equations 8.9 to 8.11)."""
    (L1, L2), (m1, m2) = l, m
    c1, c2, s2, c12 = lib.cos(q[0]), lib.cos(q[1]), lib.sin(q[1]), lib.cos(q[0] + q[1])
    coupling = m2 * (L1 * L2 * c2 + L2 * L2)
    M = [
        [m1 * L1 * L1 + m2 * (L1 * L1 + 2 * L1 * L2 * c2 + L2 * L2), coupling],
        [coupling, m2 * L2 * L2],
    ]
    c = [-m2 * L1 * L2 * s2 * (2 * v[0] * v[1] + v[1] * v[1]), m2 * L1 * L2 * v[0] * v[0] * s2]
    weight = [(m1 + m2) * L1 * g * c1 + m2 * g * L2 * c12, m2 * g * L2 * c12]
    return M, c, weight


@pytest.mark.parametrize("seed", range(3))
def test_two_link_arm(seed: int) -> None:
    lengths, masses, g = (0.7, 0.5), (1.1, 0.9), 9.81
    model = two_link(lengths, masses, g)
    q, v, a = np.random.default_rng(seed).normal(size=(3, 2)).tolist()
    M, c, weight = (np.array(x) for x in modern_robotics(q, v, lengths, masses, g, math))
    assert_close(crba(model, q), M, ulps=16)
    assert_close(gravity_forces(model, q), weight, ulps=16, scale=20.0)
    assert_close(bias_forces(model, q, v), c + weight, ulps=32, scale=20.0)
    assert_close(rnea(model, q, v, a), M @ a + c + weight, ulps=32, scale=20.0)
    tip = np.array(forward_kinematics(model, q)[1])
    assert_close(tip[:2, 3], [0.7 * math.cos(q[0]), 0.7 * math.sin(q[0])], ulps=4, scale=1.0)


def test_two_link_arm_as_formulas() -> None:
    """Over SymPy symbols, lengths and masses too, the pages simplify to the book's formulas."""
    L1, L2, m1, m2, g = sympy.symbols("L1 L2 m1 m2 g", positive=True)
    q, v, a = ([*sympy.symbols(f"{x}1 {x}2", real=True)] for x in ("q", "v", "a"))
    model = two_link((L1, L2), (m1, m2), g)
    M, c, weight = modern_robotics(q, v, (L1, L2), (m1, m2), g, sympy)
    book = [sum(M[i][j] * a[j] for j in range(2)) + c[i] + weight[i] for i in range(2)]
    for got, expected in zip(rnea(model, q, v, a), book, strict=True):
        difference = sympy.expand(sympy.expand_trig(sympy.expand(sympy.nsimplify(got - expected))))
        cosines = {sympy.cos(x) ** 2: 1 - sympy.sin(x) ** 2 for x in q}
        assert sympy.expand(difference.subs(cosines)) == 0
    for row, expected_row in zip(crba(model, q), M, strict=True):
        for got, expected in zip(row, expected_row, strict=True):
            assert sympy.simplify(sympy.nsimplify(got - expected)) == 0
