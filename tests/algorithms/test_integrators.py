"""The laws of integrators: order, the manifold, symmetry in time, symplecticity, momentum, energy."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinetree as kt
from helpers.joints import MOVING
from helpers.mechanisms import at
from helpers.trees import Array, chain, random_inertia, random_states, random_tree, toy
from kinetree.algorithms.kinematics.manifold import difference, integrate, step_rate
from kinetree.graph import Port
from kinetree.integrators import INTEGRATORS, System, integrator
from kinetree.integrators.step import OWN
from kinetree.integrators.variational import momenta, resolution, variational
from kinetree.joints import FreeFlyer, Helical, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from kinetree.model import JointLimits, Model
from kinetree.scalars.dual import Dual, rate_of, value_of
from kinetree.scalars.functions import Scalar
from kinetree.scalars.linalg import Column
from kinetree.tracing.tracer import Tracer

SPACE = (0.0, 0.0, 0.0)
EARTH = (0.0, 0.0, -9.81)


def bodies(joints: list[Joint], gravity: tuple[float, ...] = SPACE) -> Model:
    """Return bodies one after another, 0.3 m apart."""
    rng, places = np.random.default_rng(1), [at(), *[at(0.3, 0.1)] * (len(joints) - 1)]
    return chain(joints, [random_inertia(rng) for _ in joints], places, gravity=gravity)


TREES = {
    "groups": random_tree(3, n=4, joints=[FreeFlyer(), Spherical(), Planar((0, 1, 0)), Helical((0.6, -0.3, 0.7), 0.1)]),
    "coordinates": random_tree(4, n=4, joints=[Revolute((0, 1, 0)), Universal(), Prismatic((1, 0, 0)), Helical()]),
    "floating": bodies([FreeFlyer(), Universal(), Revolute((0, 1, 0))], EARTH),
}
DURATION = 0.2


@integrator("Heun of a user", order=2)
def heun(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> tuple[Column, Column]:
    a = system.acceleration(t, q, v)
    q_end, v_end = system.moved(q, dt * v), v + dt * a
    a_end = system.acceleration(t + dt, q_end, v_end)
    return system.moved(q, dt / 2 * (v + v_end)), v + dt / 2 * (a + a_end)


FIXED = [name for name in OWN if not INTEGRATORS[name].settings]  # others have steps of their own
CASES = [
    *(("groups", name) for name in FIXED),
    *(("coordinates", name) for name in (*FIXED, heun.name)),
    ("floating", "variational"),
]


@cache
def robot(tree: str) -> kt.Robot:
    return kt.Robot(TREES[tree])


@cache
def state(tree: str) -> tuple[Array, Array]:
    q, v, _ = robot(tree).random_state(seed=5)
    return q, v


@cache
def exact(tree: str) -> tuple[Array, Array]:
    """Return the state after DURATION, in coordinates around the first one, by SciPy's method of order eight."""
    r, (q, v) = robot(tree), state(tree)
    n, tau = len(v), np.zeros(len(v))

    def rates(_: float, x: Array) -> Array:
        u, v = x[:n], x[n:]
        return np.concatenate([step_rate(r.model, u, v, 10), r.forward_dynamics(r.integrate(q, u), v, tau)])

    x = solve_ivp(rates, (0.0, DURATION), [*tau, *v], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    return r.integrate(q, x[:n]), x[n:]


def error(tree: str, name: str, steps: int) -> float:
    record = kt.Record(every=steps)
    moved = robot(tree).simulate(*state(tree), steps=steps, dt=DURATION / steps, integrator=name, record=record)
    q, v = exact(tree)
    return float(max(np.abs(robot(tree).difference(q, moved.q[-1])).max(), np.abs(moved.v[-1] - v).max()))


@pytest.mark.parametrize(("tree", "name"), CASES)
def test_the_order_of_its_error(tree: str, name: str) -> None:
    order = INTEGRATORS[name].order
    steps = np.array([16, 24, 36, 54]) * (1 if order > 2 else 8)
    slope, _ = np.polyfit(np.log(DURATION / steps), np.log([error(tree, name, n) for n in steps]), 1)
    assert slope == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize("name", OWN)
def test_orientations_keep_unit_length(name: str) -> None:
    r = robot("groups")
    q = r.simulate(*state("groups"), steps=1000, dt=1e-3, integrator=name, record=kt.Record(every=1000)).q[-1]
    lengths = [
        np.linalg.norm(q[list(body.q_index)[-4:]]) for body in r.model.bodies if len(body.q_index) > len(body.v_index)
    ]
    assert len(lengths) == 2
    assert lengths == pytest.approx([1.0, 1.0], rel=0, abs=1e-14)


# -- the variational one ---------------------------------------------------------------------------------------------


@cache
def free_of_rotors(tree: str) -> kt.Robot:
    """Return the robot without rotors, which have no gyroscopic torques where a joint has several velocities."""
    return robot(tree).with_joint_physics(armature=0.0)


def flow(r: kt.Robot, q: Array, p: Array, dt: float) -> tuple[Array, Array]:
    """Return the configuration and the momenta a step later."""
    v = np.linalg.solve(r.mass_matrix(q), p[..., None])[..., 0]
    after = r.step(q, v, np.zeros(r.nv), dt, integrator="variational")
    return after.q, np.einsum("...ij,...j", r.mass_matrix(after.q), after.v)


def symplectic_form(r: kt.Robot, p: Array) -> Array:
    """Return that of the joints' groups, in their own axes: the canonical one and ``p·[·, ·]``."""
    n = r.nv
    form = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    for body in r.model.leading:
        at = list(body.v_index)
        units = np.eye(len(at))
        form[np.ix_(at, at)] += [[p[at] @ body.joint.bracket(a, b) for b in units] for a in units]
    return form


@pytest.mark.parametrize("tree", ["groups", "floating"])
def test_it_is_symplectic(tree: str) -> None:
    r = free_of_rotors(tree)
    (q, v), n, dt = state(tree), r.nv, 0.02
    p = r.mass_matrix(q) @ v
    q1, p1 = flow(r, q, p, dt)
    units = np.eye(2 * n)

    def response(size: float) -> Array:
        q_after, p_after = flow(r, r.integrate(q, size * units[:, :n]), p + size * units[:, n:], dt)
        return np.concatenate([r.difference(q1, q_after), p_after - p1], axis=1).T

    def central(size: float) -> Array:
        return (response(size) - response(-size)) / (2 * size)

    A = (4 * central(1e-3) - central(2e-3)) / 3
    assert A.T @ symplectic_form(r, p1) @ A == pytest.approx(symplectic_form(r, p), rel=0, abs=1e-9)
    assert np.abs(A - units).max() > 0.01


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_it_is_symmetric_in_time(tree: str, dt: float) -> None:
    """On Python's numbers, as on all others."""
    model = TREES[tree]
    system = System(model, lambda *_: [0.0] * model.nv)
    q0, v0 = (x.tolist() for x in state(tree))
    forth = variational(system, 0.0, q0, v0, dt)
    back = variational(system, 0.0, *forth, -dt)
    assert difference(model, q0, back[0]) == pytest.approx([0.0] * model.nv, abs=1e-14)
    assert back[1] == pytest.approx(v0, rel=0, abs=1e-13)
    assert max(abs(x - y) for x, y in zip(forth[1], v0, strict=True)) > dt / 10


def test_it_is_symmetric_for_many_states() -> None:
    """Fast ones too: each lane iterates until its own changes are rounding."""
    r = free_of_rotors("floating")
    q, v, _ = r.random_state(seed=0, size=500)
    forth = r.step(q, 3.0 * v, np.zeros(r.nv), 0.02, integrator="variational")
    back = r.step(forth.q, forth.v, np.zeros(r.nv), -0.02, integrator="variational")
    assert back.v == pytest.approx(3.0 * v, rel=0, abs=5e-13)
    assert r.difference(q, back.q) == pytest.approx(np.zeros((500, r.nv)), rel=0, abs=1e-14)


def test_it_knows_the_precision_in_which_it_computes() -> None:
    r, (q, v) = free_of_rotors("floating"), state("floating")
    made = r.compile(lambda x: resolution(x), shapes={"x": ()}, name="resolution")
    assert (resolution(0.1), made(0.1), made(0.0), made(np.float32(0.1))) == (*[2.0**-52] * 3, 2.0**-23)
    single = [x.astype(np.float32) for x in (q, v, np.zeros(r.nv), np.array(1e-3))]
    after, exact = (r.step(*x, integrator="variational") for x in (single, [x.astype(np.float64) for x in single]))
    assert after.v.dtype == np.float32
    assert after.v == pytest.approx(exact.v, rel=0, abs=1e-5)  # 80 units in the last place of float32's 1


def test_momenta_are_those_of_the_mass_matrix() -> None:
    r, (q, v) = robot("groups"), state("groups")
    p, rates = momenta(r.model, q.tolist(), v.tolist())
    assert p == pytest.approx(r.mass_matrix(q) @ v, rel=0, abs=1e-13)
    assert rates == pytest.approx(r.coriolis_matrix(q, v).T @ v, rel=0, abs=1e-13)


def test_free_flight_keeps_momentum() -> None:
    """About the centre of mass, of a chain that falls, turns and moves its joints for a thousand steps."""
    r = robot("floating")

    @r.compile(shapes={"t": ()})
    def swing(v: Array, t: float) -> Array:
        return np.concatenate([np.zeros(6), 3.0 * np.sin(6.0 * t + np.arange(r.nv - 6.0)) - 0.3 * v[6:]])

    q, v = state("floating")
    record = kt.Record(every=20)
    moved = r.simulate(q, v, steps=1000, dt=1e-3, controller=swing, integrator="variational", record=record)
    h = r.centroidal_momentum(moved.q, moved.v)
    h[:, 3:] -= moved.t[:, None] * r.mass * np.array(EARTH)
    assert h[:, :3] == pytest.approx(np.tile(h[0, :3], (51, 1)), rel=0, abs=1e-12)
    assert h[:, 3:] == pytest.approx(np.tile(h[0, 3:], (51, 1)), rel=0, abs=1e-12 * r.mass * 9.81)
    assert np.abs(moved.v[:, 6:] - v[6:]).max() > 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("base", "steps"), [(Revolute((0, 1, 0)), 10**6), (FreeFlyer(), 10**5)])
def test_energy_does_not_drift(base: Joint, steps: int) -> None:
    """Of a double pendulum that tumbles, over a million steps, and of two bodies in space."""
    r = kt.Robot(bodies([base, Revolute((0, 1, 0))], EARTH if base.nv == 1 else SPACE))
    q, v = np.array(r.neutral()), np.zeros(r.nv) if base.nv == 1 else np.linspace(1.0, -2.0, r.nv)
    q[0], q[-1] = 2.5, 1.0
    moved = r.simulate(q, v, steps=steps, dt=4e-3, integrator="variational", record=kt.Record(every=steps // 2000))
    E = r.mechanical_energy(moved.q, moved.v)
    off = E - E[0]
    parts = np.abs(off[1:]).reshape(10, -1).max(axis=1)
    assert parts.max() < 2.0 * parts[0] < 2e-3 * abs(E[0])
    drift = np.polyfit(np.linspace(0.0, 1.0, len(off)), off, 1)[0]
    assert abs(drift) < 0.25 * np.ptp(off)


def test_a_step_for_which_there_is_no_solution() -> None:
    r = robot("coordinates")
    q, v = state("coordinates")
    with np.errstate(all="ignore"):
        after = r.step(q, 100.0 * v, np.zeros(r.nv), 1.0, integrator="variational")
    assert not np.isfinite(after.v).all()


# -- the implicit one ------------------------------------------------------------------------------------------------


def stiff(**physics: object) -> tuple[kt.Trajectory, list[kt.Trajectory]]:
    """Return what implicit Euler makes of a robot with such joints, pushed by 30 N·m or N, and what others do."""
    r = robot("coordinates").with_joint_physics(**physics).with_friction(coulomb=False)
    q, v = state("coordinates")
    names = ("implicit_euler", "semi_implicit_euler", "rk4")
    ours, *others = (
        r.simulate(q, v, steps=200, dt=0.01, integrator=name, forces=np.full(r.nv, 30.0)) for name in names
    )
    return ours, others


def test_stiff_damping_is_stable() -> None:
    """Where a step is a hundred times the time constant of damping, v goes to its value at rest: D v = τ − g."""
    r = robot("coordinates")
    damping = 1e4 * np.abs(r.mass_matrix(state("coordinates")[0])).max()
    ours, others = stiff(damping=damping)
    assert ours.v[-1] == pytest.approx((30.0 - r.gravity_forces(ours.q[-1])) / damping, rel=1e-3)
    assert not any(np.abs(other.v[-1]).max() < 1e3 for other in others)


def test_stiff_springs_are_stable() -> None:
    """Where a step is a hundred times their period, q stays where they are relaxed."""
    r, stiffness = robot("coordinates"), 1e6
    at, sprung = zip(*((k, name) for k, name in enumerate(r.v_names) if name in r.joint_names), strict=True)
    ours, others = stiff(
        stiffness=dict.fromkeys(sprung, stiffness), rest_position=dict.fromkeys(sprung, 0.1), damping=1.0
    )
    assert np.abs(ours.q[-1][list(at)] - 0.1).max() < 100 * 30.0 / stiffness
    assert not any(np.abs(other.v[-1]).max() < 1e3 for other in others)


def test_coulomb_friction_brings_it_to_rest() -> None:
    """However sharp it is: it does not chatter."""
    r = robot("coordinates").with_joint_physics(friction=50.0).with_friction(damping=False, smoothing=1e-6)
    q, v = state("coordinates")
    speeds = [
        np.abs(r.simulate(q, v, steps=400, dt=0.01, integrator=name, record=kt.Record(every=400)).v[-1]).max()
        for name in ("implicit_euler", "semi_implicit_euler")
    ]
    assert speeds[0] < 1e-5
    assert not speeds[1] < 0.1


def test_sharp_friction_in_the_variational_rule() -> None:
    """It comes to rest where it should: its equation is solved though friction jumps within a thousandth of a rad/s."""
    r = robot("coordinates").with_joint_physics(friction=50.0).with_friction(damping=False)
    q, v = state("coordinates")
    rough, fine = (
        r.simulate(q, v, duration=0.3, dt=dt, integrator=name).q[-1]
        for name, dt in (("variational", 2e-3), ("implicit_euler", 2e-5))
    )
    assert rough == pytest.approx(fine, rel=0, abs=1e-3)


def test_stops_are_stable() -> None:
    """A pendulum falls on its stop, in steps that are long against the period of that: it comes to rest there."""
    hinge = "hinge ground arm", Revolute((0, 1, 0)), {"limits": JointLimits(-0.3, 0.3)}
    r = kt.Robot(toy(hinge, links={"arm": random_inertia(np.random.default_rng(0))}))

    def end(name: str, dt: float) -> tuple[Array, Array]:
        moved = r.simulate([0.2], duration=8.0, dt=dt, integrator=name, joints="stops", record=kt.Record(every=10))
        return moved.q[-1], moved.v[-1]

    rest, still = end("rk4", 1e-3)
    assert abs(rest[0]) > 0.3
    assert abs(still[0]) < 1e-9
    q, v = end("implicit_euler", 0.05)
    assert (q, v) == (pytest.approx(rest, rel=1e-3), pytest.approx([0.0], abs=1e-3))
    assert end("variational", 4e-3) == (pytest.approx(rest, rel=1e-3), pytest.approx([0.0], abs=1e-3))
    q, v = end("semi_implicit_euler", 0.05)
    assert not abs(v[0]) < 0.1


def test_without_friction_it_is_semi_implicit_euler() -> None:
    r, (q, v) = robot("groups"), state("groups")
    after = [r.step(q, v, v, 1e-3, integrator=name) for name in ("implicit_euler", "semi_implicit_euler")]
    assert all(np.array_equal(a, b) for a, b in zip(*after, strict=True))


@pytest.mark.parametrize("name", ["implicit_euler", "variational"])
def test_a_leader_feels_its_follower(name: str) -> None:
    """Against M, D and the bias forces: the change of v in a step that is far too short to see the order."""
    links = {link: random_inertia(np.random.default_rng(len(link))) for link in ("palm", "left", "right", "tip")}
    own, mimic = {"damping": 3.0, "armature": 0.1}, {"mimic": ("j0", -2.0, 0.3)}
    more = ("j1 palm right", Revolute((1, 1, 0)), own | mimic), ("j2 right tip", Revolute((2, 1, 0)), own)
    r = kt.Robot(toy(("j0 palm left", Revolute((0, 1, 0)), own), *more, links=links)).with_friction()
    q, v, h = np.array([0.4, -0.8]), np.array([1.0, 2.0]), 1e-2
    implicit = v + h * np.linalg.solve(r.mass_matrix(q) + h * np.diag(r.damping), -r.bias_forces(q, v))
    after = r.step(q, v, np.zeros(2), h, integrator=name)
    assert r.damping == pytest.approx([15.0, 3.0], rel=1e-15)
    assert after.v == pytest.approx(implicit, rel=1e-13 if name == "implicit_euler" else 0.02)


@pytest.mark.parametrize("forces", ["wrenches", "controller"])
def test_forces_that_depend_on_the_state_keep_the_order(forces: str) -> None:
    """Wrenches in the world, and a motor that depends on time and state: they act at the times of the method."""
    tree = "floating" if forces == "wrenches" else "coordinates"
    r, (q, v) = robot(tree), state(tree)

    @r.compile(shapes={"t": ()})
    def pushed(q: Array, v: Array, t: float) -> Array:
        return 5.0 * np.sin(20.0 * t) - 3.0 * v - 20.0 * q[-r.nv :]

    f_ext = np.random.default_rng(0).normal(size=(r.nb, 6))
    given = {"forces": kt.Forces(f_ext=f_ext, frame="world")} if forces == "wrenches" else {"controller": pushed}

    def after(name: str, steps: int) -> Array:
        record = kt.Record(every=steps)
        moved = r.simulate(q, v, steps=steps, dt=0.2 / steps, integrator=name, record=record, **given)
        return np.concatenate([moved.q[-1], moved.v[-1]])

    fine = after("rk4", 2000)
    errors = [np.abs(after("variational", n) - fine).max() for n in (100, 200, 400)]
    assert [a / b for a, b in pairwise(errors)] == pytest.approx([4.0, 4.0], rel=0.03)


def test_the_stages_of_a_step_are_recorded_once() -> None:
    tracer, model, calls = Tracer(), TREES["coordinates"], []
    q, v = (Column(tracer.input(Port(name, (n,)))) for name, n in (("q", model.nq), ("v", model.nv)))

    def motors(t: Scalar, q: Column, v: Column) -> Column:
        calls.append(t)
        return -1.0 * v

    INTEGRATORS["rk4"](System(model, motors), 0.0, q, v, 0.01)
    assert len(calls) == 1


def test_two_modules_have_no_integrator_of_one_name() -> None:
    with pytest.raises(kt.ArgumentError, match="has an integrator 'rk4' already: give yours another name"):
        integrator("rk4", order=4)(lambda system, t, q, v, dt: (q, v))


NEW_FILE = '''
from kinetree.integrators.contract import integrator

@integrator("midpoint", order=2)
def midpoint(system, t, q, v, dt):
    """The explicit midpoint rule."""
    between = v + dt / 2 * system.acceleration(t, q, v)
    a = system.acceleration(t + dt / 2, system.moved(q, dt / 2 * v), between)
    return system.moved(q, dt * between), v + dt * a
'''
DRILL = """
import importlib.util, sys
spec = importlib.util.find_spec("kinetree.integrators")
spec.submodule_search_locations.append(sys.argv[1])
sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
import numpy as np, kinetree as kt
robot = kt.load("ur5")
q, v, tau = np.full((3, 6), 0.3)
one = robot.step(q, v, tau, 0.01, integrator="midpoint")
assert np.array_equal(one.q, robot.simulate(q, v, forces=tau, dt=0.01, steps=1, integrator="midpoint").q[-1])
assert module.OWN[0] == "semi_implicit_euler" and "midpoint" in module.OWN
"""


def test_a_new_integrator_is_one_file(tmp_path: Path) -> None:
    """Known to `step` and `simulate` by being there."""
    (tmp_path / "midpoint.py").write_text(NEW_FILE)
    environment = os.environ | {"KINETREE_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", DRILL, str(tmp_path)], check=True, env=environment, timeout=60)


# -- The rate of a step on the manifold: the inverse of what dual numbers say of `integrate` -------------------------


trees = pytest.mark.parametrize(
    "model",
    [
        random_tree(0, n=len(MOVING)),
        random_tree(1, n=4, joints=[Spherical(), Planar((0, 1, 0)), FreeFlyer(), Revolute((0, 0, 1))]),
    ],
    ids=["all joints", "groups"],
)


def states(model: Model, size: float) -> tuple[list[float], list[float], list[float]]:
    """Return a configuration, a step of this size, and its rate."""
    q, u, rate = random_states(model, 0, size=())
    return q.tolist(), (u * size / np.abs(u).max()).tolist(), rate.tolist()


def velocity(model: Model, q0: list[float], u: list[float], rate: list[float]) -> list[float]:
    """Return the velocity of q0 ⊕ u while u has this rate."""
    q = integrate(model, [Dual(x, 0.0) for x in q0], [Dual(x, r) for x, r in zip(u, rate, strict=True)])
    return [rate_of(x) for x in difference(model, [value_of(x) for x in q], q)]


def manifold_error(model: Model, size: float, order: int) -> Array:
    q0, u, rate = states(model, size)
    return np.abs(np.subtract(step_rate(model, u, velocity(model, q0, u, rate), order), rate)).max()


@trees
def test_it_undoes_the_derivative_of_the_exponential(model: Model) -> None:
    assert manifold_error(model, 0.2, 10) < 1e-13
    assert manifold_error(model, 0.2, 0) > 0.01  # the velocity itself is not it


@trees
@pytest.mark.parametrize(("order", "power"), [(0, 1), (1, 2), (2, 4), (3, 4), (4, 6), (6, 8)])
def test_each_term_counts(model: Model, order: int, power: int) -> None:
    """What is left out begins with the next power of the step that has a coefficient."""
    assert np.log2(manifold_error(model, 0.3, order) / manifold_error(model, 0.15, order)) == pytest.approx(
        power, abs=0.2
    )


def test_coordinates_that_add_have_their_velocity_as_rate() -> None:
    model = random_tree(3, n=6, joints=[joint for joint in MOVING if type(joint).bracket is Joint.bracket])
    _, u, v = states(model, 1.0)
    assert step_rate(model, u, v) == v
