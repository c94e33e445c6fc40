"""Inverse kinematics of others: the Robotics Toolbox's compiled `ik_LM`, Pinocchio in a loop, and pink.

Those that are not installed are left out (``pip install kinetree[bench]``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin

from kinetree.model import WORLD

Solve = Callable[[np.ndarray], np.ndarray | None]
RESTARTS = 100
ITERATIONS = 100


def peers(problem: Any, tolerance: float) -> dict[str, Solve]:
    """Return the peers' ways to solve a problem."""
    found = {"Pinocchio, damped": damped(problem, tolerance)}
    with contextlib.suppress(ImportError):
        found |= toolbox(problem, tolerance)
    with contextlib.suppress(ImportError):
        found["pink"] = by_programs(problem, tolerance)
    return found


def toolbox(problem: Any, tolerance: float) -> dict[str, Solve]:
    """Return the Robotics Toolbox's C++ solver, with its own damping and with what suits these arms best."""
    from roboticstoolbox import ET, ETS
    from spatialmath import SE3

    model = problem.robot.model
    frame = model.frame(problem.frame)
    bodies, i = [], frame.body
    while i != WORLD:
        bodies.append(model.bodies[i])
        i = model.bodies[i].parent
    chain = ETS()
    for body in reversed(bodies):
        axis = np.array(list(body.joint.jcalc([0.0], [0.0]).S[0])[:3])
        x = np.linalg.svd(axis[None])[2][1]
        R = np.eye(4)
        R[:3, :3] = np.stack([x, np.cross(axis, x), axis], axis=1)
        place = np.array(body.X_T.placement, dtype=float)
        limits = [body.limits.lower, body.limits.upper]
        chain = chain * ET.SE3(SE3(place @ R, check=False)) * ET.Rz(qlim=limits) * ET.SE3(SE3(R.T, check=False))
    chain = chain * ET.SE3(SE3(np.array(frame.X.placement, dtype=float), check=False))
    mask = np.array([1.0, 1, 1, 1, 1, 1] if problem.kind == "pose" else [1.0, 1, 1, 0, 0, 0])
    options = {"q0": problem.start, "ilimit": ITERATIONS, "slimit": RESTARTS, "tol": tolerance**2 / 2, "mask": mask}

    def solver(k: float) -> Solve:
        return lambda T: chain.ik_LM(T, k=k, **options).q

    return {"Robotics Toolbox, ik_LM": solver(1.0), "Robotics Toolbox, ik_LM, k=0.1": solver(0.1)}


def damped(problem: Any, tolerance: float) -> Solve:
    """Return damped least squares with Pinocchio, as in its example, cut off at the limits, from random starts."""
    model = pin.buildModelFromUrdf(str(problem.urdf))
    data, frame = model.createData(), model.getFrameId(problem.frame)
    rows = slice(0, 6) if problem.kind == "pose" else slice(0, 3)
    damping = 1e-6 * np.eye(rows.stop)
    rng = np.random.default_rng(0)

    def solve(T: np.ndarray) -> np.ndarray | None:
        wanted, q = pin.SE3(T), problem.start
        for _ in range(RESTARTS):
            for _ in range(ITERATIONS):
                pin.framesForwardKinematics(model, data, q)
                here = data.oMf[frame]
                to = here.actInv(wanted)
                if problem.kind == "pose":
                    e = pin.log6(to).vector
                    close = np.linalg.norm(to.translation) < tolerance and np.linalg.norm(e[3:]) < tolerance
                else:
                    e = to.translation
                    close = np.linalg.norm(e) < tolerance
                if close:
                    return q
                J = pin.computeFrameJacobian(model, data, q, frame)
                if problem.kind == "pose":
                    J = pin.Jlog6(to.inverse()) @ J
                J = J[rows]
                step = J.T @ np.linalg.solve(J @ J.T + damping, e)
                q = np.clip(pin.integrate(model, q, step), model.lowerPositionLimit, model.upperPositionLimit)
            q = rng.uniform(model.lowerPositionLimit, model.upperPositionLimit)
        return None

    return solve


def by_programs(problem: Any, tolerance: float) -> Solve:
    """Return pink's steps, each a quadratic program within the limits, from random starts."""
    import pink
    from pink.tasks import FrameTask

    model = pin.buildModelFromUrdf(str(problem.urdf))
    data = model.createData()
    whole = problem.kind == "pose"
    task = FrameTask(problem.frame, position_cost=1.0, orientation_cost=1.0 if whole else 0.0, lm_damping=1e-3)
    rng = np.random.default_rng(0)
    limits = [pink.limits.ConfigurationLimit(model)]

    def solve(T: np.ndarray) -> np.ndarray | None:
        task.set_target(pin.SE3(T))
        q = problem.start
        for _ in range(RESTARTS):
            configuration = pink.Configuration(model, data, q)
            last = np.inf
            for _ in range(ITERATIONS):
                e = task.compute_error(configuration)
                size = max(np.linalg.norm(e[:3]), np.linalg.norm(e[3:]) if whole else 0.0)
                if size < 0.5 * tolerance:
                    return configuration.q
                if size > 0.999 * last:
                    break
                last = size
                v = pink.solve_ik(configuration, [task], 1.0, solver="daqp", limits=limits, safety_break=False)
                configuration.integrate_inplace(v, 1.0)
            q = rng.uniform(model.lowerPositionLimit, model.upperPositionLimit)
        return None

    return solve
