"""Contact problems beside Pinocchio's solvers: the same matrices, solved to the same residuals."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.contact_peers import SOLVERS, ContactSolver
from benchmarks.machine import Section
from benchmarks.timing import Thunk, interleaved

Array = np.ndarray[Any, Any]
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
ANKLES = ("left_ankle_roll_link", "right_ankle_roll_link")
CORNERS = [(x, y, -0.03) for x in (-0.05, 0.12) for y in (-0.025, 0.025)]
DT, MU, TOLERANCE = 1e-3, 0.7, 1e-6
MANY, ONE_BY_ONE = 1024, 32


def run(rounds: int) -> Section:
    section = Section(
        "Contacts",
        "Impulses of contacts at random states near standing, a step of 1 ms, from zero; G and g are given. Tolerance "
        f"{TOLERANCE:g} of the largest entry of g, and for complementarity times the largest impulse; Pinocchio's are "
        "set to the same numbers for every problem. Pinocchio makes an operator of each new G, which `operator given` "
        f"leaves out. `arrived` counts {MANY} problems, for Pinocchio the first {ONE_BY_ONE}; iterations are median "
        "and largest.",
    )
    kt.set_num_threads(1)
    for name, G, g in (("Go2, four feet", *quadruped(MANY)), ("G1, eight corners", *humanoid(MANY))):
        _solvers(section, name, G, g, rounds)
    return section


def quadruped(n: int) -> tuple[Array, Array]:
    """Return G and g of a Go2 on four feet, in n states."""
    robot = kt.load("go2")
    q0 = robot.neutral()
    for name, x in zip(robot.joint_names[1:], [0.0, 0.8, -1.5] * 4, strict=True):
        q0[robot.joint(name).q_slice] = x
    return _problems(kt.Mechanism(robot, [kt.Contact(foot, friction=MU) for foot in FEET]), q0, 5.0, n)


def humanoid(n: int) -> tuple[Array, Array]:
    """Return G and g of a G1 on four corners of each foot: 24 rows of rank 12, in n states."""
    robot = kt.load("g1")
    contacts = []
    for ankle in ANKLES:
        for k, corner in enumerate(CORNERS):
            placement = np.eye(4)
            placement[:3, 3] = corner
            robot = robot.with_frame(f"{ankle}_{k}", on=ankle, placement=placement)
            contacts.append(kt.Contact(f"{ankle}_{k}", friction=MU))
    return _problems(kt.Mechanism(robot, contacts), robot.neutral(), 20.0, n)


def _problems(mech: kt.Mechanism, q0: Array, torque: float, n: int) -> tuple[Array, Array]:
    robot, rng = mech.tree, np.random.default_rng(0)
    q = robot.integrate(q0, 0.1 * rng.normal(size=(n, robot.nv)))
    v, tau = 0.3 * rng.normal(size=(n, robot.nv)), torque * rng.normal(size=(n, robot.nv))
    tau[:, :6] = 0.0
    free = v + DT * robot.forward_dynamics(q, v, tau)
    return mech.delassus_matrix(q), np.einsum("nij,nj->ni", mech.constraint_jacobian(q), free)


def _solvers(section: Section, name: str, G: Array, g: Array, rounds: int) -> None:
    friction, ours = np.full(g.shape[1] // 3, MU), kt.contact_solver(g.shape[1] // 3)
    kinds = {"auto": kt.ContactSolver, "pgs": kt.GaussSeidel, "admm": kt.ADMM}
    solvers = {f"kinetree {name}": ours.bind(solver=kind()) for name, kind in kinds.items()}
    found = {way: solve(G, g, friction) for way, solve in solvers.items()}
    counts = {way: (result.iterations, _arrived(G, g, result.force)) for way, result in found.items()}
    some, states = slice(ONE_BY_ONE), list(zip(G, g, strict=True))[:ONE_BY_ONE]
    thunks: dict[str, Thunk] = {}
    for way, solve in solvers.items():
        thunks[way] = functools.partial(_one_by_one, solve, states, friction)
    for solver in SOLVERS:
        sizes = np.abs(found["kinetree auto"].force).max(axis=1)
        peers = [_peer(solver, friction, b, size) for b, size in zip(g[some], sizes[some], strict=True)]
        operators = [pin.DelassusOperatorDense(A) for A in G[some]]
        results = [peer(A, b) for peer, A, b in zip(peers, operators, g[some], strict=True)]
        arrived = _arrived(G[some], g[some], np.array([peer.forces() for peer in peers]))
        counts[f"pinocchio {solver}"] = np.array([r.iterations for r in results]), arrived
        thunks[f"pinocchio {solver}"] = functools.partial(_peers, peers, list(G[some]), g, pin.DelassusOperatorDense)
        thunks[f"pinocchio {solver}, operator given"] = functools.partial(_peers, peers, operators, g, None)
    first = len(section.rows)
    section.compare(
        {"problem": name, "what": "one call"}, "kinetree auto", interleaved(thunks, rounds), ONE_BY_ONE, "µs"
    )
    for row in section.rows[first:]:
        iterations, arrived = counts[str(row["way"]).partition(",")[0]]
        row["iterations"] = f"{np.median(iterations):.0f}, {iterations.max():.0f}"
        row["arrived"] = f"{arrived.sum()} of {len(arrived)}"
    many: dict[str, Thunk] = {way: functools.partial(solve, G, g, friction) for way, solve in solvers.items()}
    section.compare({"problem": name, "what": f"{MANY}, each"}, "kinetree auto", interleaved(many, rounds), MANY, "µs")


def _one_by_one(solve: Callable[..., Any], states: list[tuple[Array, Array]], friction: Array) -> None:
    for G, g in states:
        solve(G, g, friction)


def _peers(peers: list[ContactSolver], matrices: list[Any], g: Array, operator: Callable[..., Any] | None) -> None:
    for peer, A, b in zip(peers, matrices, g, strict=False):
        peer(operator(A) if operator else A, b)


def _peer(solver: str, friction: Array, g: Array, size: float) -> ContactSolver:
    speed = TOLERANCE * float(np.abs(g).max())
    return ContactSolver(solver, friction, speed, speed * max(float(size), 1e-12))


def _arrived(G: Array, g: Array, force: Array) -> Array:
    """Return where impulses solve the problem within twice the tolerance, by the same measure for all solvers."""
    sigma = np.einsum("nij,nj->ni", G, force) + g
    f, s = (x.reshape(len(g), -1, 3) for x in (force, sigma))
    slip = np.linalg.norm(s[..., :2], axis=-1)
    work = np.abs((f * s).sum(axis=-1) + MU * f[..., 2] * slip).max(axis=1)
    outside = (np.linalg.norm(f[..., :2], axis=-1) - MU * f[..., 2]).max(axis=1)
    speed, size = np.abs(g).max(axis=1), np.abs(force).max(axis=1)
    return (
        (-s[..., 2].min(axis=1) <= 2 * TOLERANCE * speed)
        & (work <= 2 * TOLERANCE * speed * size)
        & (outside <= 2 * TOLERANCE * size)
    )
