"""The peers of simulations: MuJoCo without contacts, by each of its ways to step; Pinocchio, stepped in Python."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin
from mujoco import rollout

from benchmarks.robots import Case
from benchmarks.timing import Thunk
from kinetree.conventions import MuJoCo

OPTIONS = '<mujoco><compiler fusestatic="{}" discardvisual="true"/></mujoco>'
OFF = ("CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY", "ACTUATION")
"""What MuJoCo leaves out, as kinetree does: all forces but those of inertia and gravity."""

INTEGRATORS = {"semi_implicit_euler": "EULER", "rk4": "RK4"}

Array = np.ndarray


class Simulated:
    """A robot in MuJoCo: the same masses, without geometry, contacts, limits and friction.

    Raises
    ------
    RuntimeError
        If it does not move as kinetree's does.
    """

    def __init__(self, case: Case, integrator: str, dt: float) -> None:
        for fuse in ("true", "false"):  # links that are fixed to others are one body, where MuJoCo gets that right
            self.model = _model(case, fuse)
            self.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{INTEGRATORS[integrator]}")
            self.model.opt.timestep = dt
            for what in OFF:
                self.model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}")
            self.model.dof_damping[:] = 0.0
            self.data = mujoco.MjData(self.model)
            self.to = MuJoCo(case.robot, self.model)
            off = self._distance(case, integrator, dt)
            # Euler's step of a floating base is another one: MuJoCo moves it along the velocity in the world's axes
            if off < (1e-3 * dt if case.floating and integrator != "rk4" else 1e-12):
                return
        raise RuntimeError(f"MuJoCo's {case.name} is {off:.1e} off after ten steps of {integrator}")

    def _distance(self, case: Case, integrator: str, dt: float) -> float:
        """Return how far its motion is from kinetree's after ten steps."""
        states = case.states(1)
        q, v = states["q"][0], 0.1 * states["v"][0]
        ours = case.robot.simulate(q, v, steps=10, dt=dt, integrator=integrator)
        self.put(q, v)
        mujoco.mj_step(self.model, self.data, nstep=10)
        return float(np.abs(self.to.from_q(self.data.qpos) - ours.q[-1]).max())

    def put(self, q: Array, v: Array) -> None:
        """Put a state into MuJoCo's data."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos, self.data.qvel = self.to.to_q(q), self.to.to_v(q, v)

    def steps(self, q: Array, v: Array, count: int) -> dict[str, Thunk]:
        """Return MuJoCo's ways to do so many steps of each of these robots, on one thread."""
        states = np.empty((len(q), mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        for k in range(len(q)):
            self.put(q[k], v[k])
            mujoco.mj_getState(self.model, self.data, states[k], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        kept = np.empty((len(q), count, states.shape[1]))
        sensors = np.empty((len(q), count, 0))

        def stepped() -> None:
            for state in states:
                mujoco.mj_setState(self.model, self.data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
                mujoco.mj_step(self.model, self.data, nstep=count)

        def rolled() -> None:
            rollout.rollout(self.model, self.data, states, nstep=count, state=kept, sensordata=sensors)

        ways: dict[str, Thunk] = {"mujoco mj_step": stepped, "mujoco.rollout": rolled}
        try:
            from mujoco.batch import Batch
        except ImportError:  # before version 4
            return ways
        batch = Batch(self.model, nsim=len(q), nthread=1)
        qpos, qvel = batch.bind("qpos"), batch.bind("qvel")

        def batched() -> None:
            qpos[:], qvel[:] = self._q, self._v
            batch.step(nstep=count)

        self._q, self._v = self.to.to_q(q), self.to.to_v(q, v)
        return {**ways, "mujoco.batch": batched}


def _model(case: Case, fuse: str) -> mujoco.MjModel:
    """Return MuJoCo's model of the case's file, without geometry, with a free joint where ours has one."""
    robot = ElementTree.parse(case.urdf).getroot()
    for parent in list(robot.iter()):
        for child in [c for c in parent if c.tag in ("visual", "collision", "mimic", "gazebo", "transmission")]:
            parent.remove(child)
    if case.floating:
        joint = ElementTree.SubElement(robot, "joint", name=case.robot.joint_names[0], type="floating")
        ElementTree.SubElement(joint, "parent", link="benchmark_world")
        ElementTree.SubElement(joint, "child", link=case.robot.body_names[0])
        ElementTree.SubElement(robot, "link", name="benchmark_world")
    robot.append(ElementTree.fromstring(OPTIONS.format(fuse)))
    model = mujoco.MjModel.from_xml_string(ElementTree.tostring(robot, encoding="unicode"))
    model.opt.gravity[:] = case.robot.gravity
    return model


def pinocchio_steps(case: Case, q: Array, v: Array, dt: float, count: int) -> Thunk:
    """Return so many steps of semi-implicit Euler of each of these robots: Pinocchio's aba and integrate, in Python."""
    path = str(case.urdf)
    model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if case.floating else pin.buildModelFromUrdf(path)
    data, tau = model.createData(), np.zeros(model.nv)

    def run() -> None:
        for x, rate in zip(q, v, strict=True):
            for _ in range(count):
                rate = rate + dt * pin.aba(model, data, x, rate, tau)
                x = pin.integrate(model, x, dt * rate)

    return run
