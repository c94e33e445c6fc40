"""Mechanisms with closed loops in `simulate` and `step`: the loops stay closed, and constraints do no work."""

import numpy as np
import pytest

import kinetree as kt
from helpers.mechanisms import bricard, four_bar, n_four_bar
from kinetree import ContactInputs as Given
from kinetree.errors import ArgumentError, KinetreeError, SimulationWarning

LINKAGE, Q = four_bar()
TREE = LINKAGE.tree
FALL = LINKAGE.simulate(Q, duration=0.3, integrator="rk4", record="a f tau")


def closure(mech, motion):
    return float(abs(mech.constraint_error(motion.q)).max())


def slip(mech, motion):
    """The largest velocity along the constraints."""
    return float(abs(np.einsum("nij,nj->ni", mech.constraint_jacobian(motion.q), motion.v)).max())


@pytest.mark.parametrize("name", ["n_four_bar", "bricard"])
def test_loops_stay_closed_and_energy_is_kept_through_singular_configurations(name):
    """The two benchmarks of the IFToMM library for singular and for overconstrained mechanisms, 10 s each."""
    mech, q = n_four_bar(2) if name == "n_four_bar" else bricard()
    tops = np.where([name.startswith("pivot") for name in mech.tree.joint_names], 1.0, -1.0)  # 1 m/s along x
    v = tops if name == "n_four_bar" else np.zeros(5)
    motion = mech.simulate(q, v, duration=10.0, integrator="rk4", record="f")
    assert closure(mech, motion) < 1e-13
    energy = motion.mechanical_energy
    assert abs(energy - energy[0]).max() < 1e-11 * motion.kinetic_energy.max()
    if name == "n_four_bar":
        assert np.count_nonzero(np.diff(np.sign(np.sin(motion.q[:, 0])))) == 10  # all bars in one line, ten times
        assert abs(motion.q[:, 0] - motion.q[:, 1]).max() < 1e-9  # through which it stays a parallelogram
    # The power f · J v, and the work of all 10 s: the least certain is the power right at a singular pass.
    power = np.einsum("nij,ni,nj->n", mech.constraint_jacobian(motion.q), motion.f, motion.v)
    assert np.median(abs(power)) < 1e-14
    assert abs(power.sum() * 1e-3) < 1e-12 * abs(energy[0])
    assert abs(power).max() < 1e-7


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "euler", "implicit_euler", "tsitouras"])
def test_every_integrator(integrator: str) -> None:
    tight = integrator == "tsitouras"
    motion = LINKAGE.simulate(Q, duration=0.3, integrator=kt.Tsitouras(rtol=1e-10, atol=1e-12) if tight else integrator)
    assert closure(LINKAGE, motion) < 1e-13
    assert slip(LINKAGE, motion) < 1e-11
    assert abs(motion.q - FALL.q).max() < (1e-10 if tight else 0.02)


def test_an_integrator_of_the_users_own():
    @kt.integrator("midpoint of a linkage", order=2)
    def midpoint(system, t, q, v, dt):
        a = system.acceleration(t, q, v)
        middle = system.acceleration(t + dt / 2, system.moved(q, dt / 2 * v), v + dt / 2 * a)
        return system.moved(q, dt * (v + dt / 2 * a)), v + dt * middle

    motion = LINKAGE.simulate(Q, duration=0.1, integrator=midpoint)
    assert closure(LINKAGE, motion) < 1e-13
    assert abs(motion.q - FALL.q[:101]).max() < 1e-5


def test_what_is_recorded_is_what_forward_dynamics_gives():
    a, f = LINKAGE.forward_dynamics(FALL.q, FALL.v, np.zeros(3))
    assert np.allclose(FALL.a, a, rtol=1e-12, atol=1e-12)
    assert np.allclose(FALL.f, f, rtol=1e-12, atol=1e-11)
    assert FALL.recorded == ("q", "v", "a", "tau", "f")
    assert not FALL.tau.any()


def test_constraints_are_switched_from_step_to_step():
    acting = (np.arange(300) < 100)[:, None] * 1.0
    motion = LINKAGE.simulate(Q, contacts=Given(active=acting))
    with_it = LINKAGE.simulate(Q, contacts=Given(active=[1.0]), steps=100)
    free = TREE.simulate(with_it, steps=200)
    assert np.array_equal(motion.q[:101], with_it.q)
    assert np.allclose(motion.q[100:], free.q, rtol=0, atol=1e-10)
    each = LINKAGE.simulate(np.stack([Q, Q, Q]), contacts=Given(active=[[1.0], [0.0], [1.0]]), steps=100)
    assert np.array_equal(each.q[0], with_it.q)
    assert np.array_equal(each.q[0], each.q[2])
    assert closure(LINKAGE, each.robots[1]) > 0.01


def test_controllers_events_and_inputs():
    @TREE.compile
    def drive(q, v, kp: float):
        return np.array([kp * (-1.5 - q[0]) - 40.0 * v[0], 0.0, 0.0])

    @TREE.compile
    def below(q, v):
        return q[0] + 1.4

    more = {"kp": 200.0, kt.gravity: [0.0, 0.0, 0.0]}
    motion = LINKAGE.simulate(Q, duration=2.0, controller=drive, inputs=more, events=[kt.Event(below, stop=True)])
    assert abs(motion.q[-1, 0] + 1.4) < 1e-9
    assert closure(LINKAGE, motion) < 1e-13
    driven = LINKAGE.simulate(Q, duration=2.0, dt=4e-3, controller=drive, inputs=more)
    assert abs(driven.q[-1, 0] + 1.5) < 1e-3


def test_small_errors_are_taken_away_and_large_ones_refused():
    off = Q + np.array([1e-5, 0.0, 0.0])
    assert abs(LINKAGE.constraint_error(off)).max() > 1e-6
    assert closure(LINKAGE, LINKAGE.simulate(off, steps=3)[1:]) < 1e-13
    with pytest.raises(ArgumentError, match=r"'loop_coupler_tip_rocker_tip' open by 0\.\d+ .* of state 1: give"):
        LINKAGE.simulate([Q, Q + 0.1], steps=3)
    assert LINKAGE.simulate([Q, Q + 0.1], steps=3, contacts=Given(active=[[1.0], [0.0]])).q.shape == (2, 4, 3)


def test_velocities_that_open_a_loop_are_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    fits = LINKAGE.complete_velocity(Q, [1.0])
    bound = LINKAGE.simulation([Q, Q], [fits, fits], steps=3)
    bound(bound([Q, Q], [fits, 2.0 * fits]))
    LINKAGE.simulate(Q, [1.0, 0.0, 0.0], steps=3, contacts=Given(active=[0.0]))
    assert not recwarn.list
    with pytest.warns(SimulationWarning, match=r"v of state 1 that opens 'loop_c.*', .*complete_velocity\(q, v"):
        LINKAGE.simulate([Q, Q], [fits, [1.0, 0.0, 0.0]], steps=3)


def test_what_makes_no_sense():
    for call, match in (
        (
            lambda: LINKAGE.simulate(Q, steps=3, contacts=Given(active=[1.0, 1.0])),
            r"active has shape \(2,\), \(\.\.\., 1\)",
        ),
        (lambda: LINKAGE.simulate(Q, steps=3, contacts=Given(active=[0.5])), "active holds 0.5: it is 1 for each"),
        (lambda: LINKAGE.simulate(Q, steps=3, integrator="variational"), "variational integrator knows no constraints"),
        (lambda: LINKAGE.simulate(Q, steps=3, record="x"), "record"),
        (lambda: LINKAGE.simulate(Q, steps=3).f, "was not recorded"),
        (lambda: TREE.simulate(Q, steps=3, contacts=Given(active=[1.0])), "contacts is for the constraints of a mech"),
        (lambda: TREE.simulate(Q, steps=3, record="f"), "record"),
    ):
        with pytest.raises(KinetreeError, match=match):
            call()
