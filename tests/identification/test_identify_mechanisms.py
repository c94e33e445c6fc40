"""Identification of mechanisms whose constraint forces nobody measured: the equations along the allowed velocities."""

import numpy as np
import pytest

import kinetree as kt
from helpers.mechanisms import Closed, delta, five_bar_leg, four_bar, slider_crank, stewart
from kinetree.identification import Generalised, Instrumental, LeastSquares, LogWarning, Robust, Samples

TERMS = ("damping", "friction")
MAKE = {
    "four-bar": (four_bar, ["motor"], 1.0),
    "slider-crank": (slider_crank, ["motor"], 1.0),
    "leg": (five_bar_leg, ["front_hip", "back_hip"], 0.3),
    "floating leg": (lambda: five_bar_leg(floating=True), ["front_hip", "back_hip"], 0.3),
    "Delta robot": (delta, ["motor0", "motor1", "motor2"], 0.3),
    "Stewart platform": (stewart, [f"slide{k}" for k in range(6)], 0.3),
}


def made(name):
    """Return a mechanism with friction in all joints, passive ones too, of which few are driven."""
    make, actuated, _ = MAKE[name]
    mech, q = make()
    driven = np.isin(np.arange(mech.nv), mech.tree.model.actuated)
    size = np.random.default_rng(5).uniform(0.1, 0.5, (2, mech.nv)) * driven
    tree = mech.tree.with_joint_physics(damping=size[0], friction=size[1]).with_friction(smoothing=0.05)
    return Closed(kt.Mechanism(tree, mech.constraints, actuated=actuated), q)


def motion(name, seed, size):
    """Return a mechanism and states near where it is assembled, with the forces of its motors."""
    mech, q0 = made(name)
    rng, own = np.random.default_rng(seed), list(mech.model.independent_velocities)
    step = np.zeros((size, mech.nv))
    step[:, own] = MAKE[name][2] * rng.uniform(-1, 1, (size, len(own)))
    q = mech.assemble(mech.tree.integrate(np.tile(q0, (size, 1)), step)).q
    v = mech.complete_velocity(q, rng.normal(size=(size, len(own))))
    if name == "floating leg":  # no motor moves its base as one likes
        tau = 0.3 * rng.normal(size=v.shape) * np.isin(np.arange(mech.nv), mech.model.actuated)
        return mech, (q, v, mech.forward_dynamics(q, v, tau).a, tau)
    a = mech.complete_acceleration(q, v, 3.0 * rng.normal(size=(size, len(own))))
    return mech, (q, v, a, mech.inverse_dynamics(q, v, a).tau)


def with_tree(mech, tree):
    return kt.Mechanism(tree, mech.constraints, actuated=mech.actuated, independent=mech.independent)


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.filterwarnings("ignore::kinetree.identification.LogWarning")  # the Delta robot's platform never turns
def test_without_noise_the_mechanism_is_found(name):
    mech, log = motion(name, 0, 200)
    poor = mech
    if mech.nv < 20:  # others are slow to compile
        free = mech.tree.with_inertial_parameters(1.4 * mech.tree.inertial_parameters)
        poor = with_tree(mech, free.with_joint_physics(damping=0.0, friction=0.0))
    fit = poor.identify(log, TERMS)
    q, v, a, tau = motion(name, 1, 50)[1]
    size = np.abs(tau).max() + 1.0
    for consistent, tolerance in ((False, 1e-10), (True, 1e-6)):
        assert fit.validate(log, consistent=consistent).rms.max() < tolerance * size
        assert fit.validate((q, v, a, tau), consistent=consistent).rms.max() < tolerance * size
    assert np.isfinite(fit.noise[list(mech.model.independent_velocities)]).all()
    assert fit.count == 200
    if mech.nv > 10:
        return
    found = with_tree(mech, fit.robot)
    np.testing.assert_allclose(found.reduced_mass_matrix(q), mech.reduced_mass_matrix(q), atol=1e-6 * size)
    np.testing.assert_allclose(found.forward_dynamics(q, v, tau).a, a, atol=1e-5 * (1.0 + np.abs(a).max()))


def test_the_estimate_is_that_of_plain_least_squares():
    mech, (q, v, a, tau) = motion("leg", 0, 200)
    tau = tau + np.random.default_rng(0).normal(size=tau.shape) * (tau != 0.0)
    base = mech.tree.base_parameters(TERMS)
    fit = mech.identify((q, v, a, tau), base, by=LeastSquares(None), bodies=None)
    G = mech.velocity_map(q)
    Y = np.einsum("nki,nkj->nij", G, base.regressor(q, v, a)).reshape(-1, base.dimension)
    b = np.einsum("nki,nk->ni", G, tau).ravel()
    sizes = np.linalg.svd(Y / np.linalg.norm(Y, axis=0))[1]
    rank = int((sizes > 1e-10 * sizes[0]).sum())
    assert rank < base.dimension, "loops keep some from being told"
    assert len(fit.unidentifiable) >= base.dimension - rank
    np.testing.assert_allclose(Y @ fit.values, Y @ np.linalg.lstsq(Y, b, rcond=1e-10)[0], atol=1e-9)


@pytest.mark.parametrize("name", ["four-bar", "leg"])
def test_bars_cover(name):
    mech, (q, v, a, tau) = motion(name, 0, 200)
    base, driven = mech.tree.base_parameters(TERMS), list(mech.model.actuated)
    truth, inside, squares = base.of(), [], []
    for seed in range(40):
        noisy = tau.copy()
        noisy[:, driven] += 0.5 * np.random.default_rng(seed).normal(size=(200, len(driven)))
        fit = mech.identify((q, v, a, noisy), base, bodies=None)
        told = np.isfinite(fit.std)
        z = (fit.values - truth)[told] / fit.std[told]
        inside += (np.abs(z) < 1.96).tolist()
        squares.append(float((z * z).mean()))
    assert 0.91 < np.mean(inside) < 0.985
    assert 0.85 < np.mean(squares) < 1.2


def test_instruments_of_a_mechanism():
    mech, (q, v, a, tau) = motion("leg", 0, 200)
    noisy = a + 3.0 * np.random.default_rng(0).normal(size=a.shape)
    exact, free = (
        mech.identify((q, v, x, tau), TERMS, by=Instrumental((q, v, a, tau)), check=False) for x in (a, noisy)
    )
    assert exact.validate((q, v, a, tau)).relative.max() < 1e-6
    plain = mech.identify((q, v, noisy, tau), TERMS, check=False)
    left, right = (fit.validate((q, v, a, tau), consistent=False).rms.max() for fit in (plain, free))
    assert right < 0.5 * left


def test_joints_without_encoders_follow_from_the_others():
    mech, start = made("four-bar")
    t = np.linspace(0.0, 6.0, 600)
    q = np.full((600, 3), np.nan)
    q[:, 0], q[0] = -1.0 + 1.2 * np.sin(1.5 * t) * np.sin(t), start
    path = mech.complete_positions(q)
    np.testing.assert_array_equal(path[:, 0], q[:, 0])
    assert np.abs(mech.constraint_error(path)).max() < 1e-9
    assert np.abs(np.diff(path, axis=0)).max() < 0.1, "one way of assembly"
    samples = kt.identification.prepare(mech.tree, t, path, np.zeros((600, 3)), filter=kt.Filter(cutoff=5.0))
    unknown = np.full_like(samples.v, np.nan)
    unknown[:, 0] = samples.v[:, 0]
    own = Samples(samples.q, unknown, samples.a, samples.tau)
    v = mech.complete_velocity(samples.q, np.asarray(samples.v)[:, :1])
    a = mech.complete_acceleration(samples.q, v, np.asarray(samples.a)[:, :1])
    tau = mech.inverse_dynamics(mech.assemble(samples.q).q, v, a).tau
    fit = mech.identify(own._replace(tau=tau), TERMS)
    assert fit.validate(own._replace(tau=tau)).relative[0] < 1e-3


@pytest.mark.parametrize("by", [Robust("huber"), Generalised(), LeastSquares(None)], ids=repr)
def test_other_estimators_and_what_stands_still_does_not_count(by):
    """Friction holds a joint at rest with any force: equations in which it takes part are left out."""
    mech, (q, v, a, tau) = motion("leg", 0, 200)
    actuated = list(mech.model.actuated)
    noisy = tau + 0.1 * np.random.default_rng(0).normal(size=tau.shape) * (tau != 0.0)
    fit = mech.identify((q, v, a, noisy), TERMS, by=by)
    np.testing.assert_allclose(fit.validate((q, v, a, noisy)).rms[actuated], 0.1, rtol=0.2)
    standing, wrong = np.zeros_like(v), tau.copy()
    standing[:20, mech.tree.v_names.index("back_knee")] = 1.0
    wrong[:20, actuated] += 10.0
    fit = mech.identify(Samples(q, v, a, wrong, standing=standing), TERMS, by=by)
    assert fit.validate((q, v, a, tau)).relative[actuated].max() < 1e-6


def test_wrong_calls_say_what_to_write():
    mech, (q, v, a, tau) = motion("four-bar", 0, 50)
    lost, driven = np.where([False, True, False], np.nan, q), np.where([True, False, False], np.nan, tau)
    short = four_bar(crank=2.0, coupler=1.0, ground=2.0, motor=-0.3)  # its motor cannot turn round
    far = np.tile(short.q, (5, 1))
    far[3:, 0] = np.pi
    feet = kt.Mechanism(kt.load("go2"), [kt.Contact("FL_foot")])
    for call, message in [
        (lambda: mech.identify((lost, v, a, tau)), r"q is NaN for elbow.*mech.complete_positions\(q\)"),
        (lambda: mech.identify((q, v, a, driven), check=False), r"forces of motor are NaN.*actuated="),
        (lambda: short.mech.complete_positions(far), "cannot be closed near sample 3"),
        (lambda: mech.identify((q, v, a, tau), motor_constants="all"), "without motor constants"),
        (
            lambda: feet.identify((np.zeros((5, feet.nq)), *np.zeros((3, 5, feet.nv)))),
            r"contact_FL_foot may let go.*f_ext of Samples",
        ),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            call()
    with pytest.raises(AttributeError, match=r"write mech.tree.identify_payload\(…\) with mech.constraint_wrenches"):
        mech.identify_payload  # noqa: B018


def test_open_loops_and_joints_that_stand_still_are_named():
    mech, (q, *rest) = motion("four-bar", 0, 100)
    with pytest.warns(LogWarning, match="elbow.*from where the loops are closed"):
        fit = mech.identify((q + np.array([0.0, 0.1, 0.0]), *rest), TERMS)
    (found,) = (x for x in fit.checks if x.name == "open_loops")
    assert 0.01 < found.figures["apart"][1] < 0.1
    assert "open_loops" not in {x.name for x in mech.identify((q, *rest), TERMS).checks}
    mech, log = motion("Delta robot", 0, 50)
    with pytest.warns(LogWarning, match="root.wx, root.wy, root.wz never moves"):
        mech.identify(log, TERMS)
