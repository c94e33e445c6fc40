"""Robots on the ground, beside MuJoCo: spherical feet, one plane, springs and dampers in the joints."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree import ElementTree as ET

import mujoco
import numpy as np
from mujoco import rollout

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.timing import Thunk, Timing, interleaved
from kinetree.conventions import MuJoCo
from kinetree.joints import FreeFlyer
from kinetree.model import WORLD

Array = np.ndarray

DT, N, STEPS, STIFFNESS, DAMPING, RADIUS = 1e-3, 4096, 1000, 60.0, 2.0, 0.02
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
HOME = np.array([0, 0, 0.32, 0, 0, 0, 1] + [0, 0.9, -1.8] * 4, dtype=float)


def go2() -> kt.Mechanism:
    """Return Go2 with springs and dampers that hold it in its stance, and four feet on the ground."""
    robot = kt.load("go2")
    names = robot.joint_names[1:]
    robot = robot.with_joint_physics(
        stiffness=dict.fromkeys(names, STIFFNESS),
        damping=dict.fromkeys(names, DAMPING),
        rest_position=dict(zip(names, HOME[7:], strict=True)),
        friction=0.0,
        armature=0.01,
    ).with_friction(coulomb=False)
    return kt.Mechanism(robot, [kt.Contact(foot, radius=RADIUS, friction=0.7) for foot in FEET])


def in_mujoco(mech: kt.Mechanism) -> mujoco.MjModel:
    """Return the same in MuJoCo."""
    root, model = ET.Element("mujoco"), mech.tree.model
    ET.SubElement(root, "option", timestep=str(DT), integrator="Euler")
    world = ET.SubElement(root, "worldbody")
    ET.SubElement(world, "geom", type="plane", size="0 0 1", contype="1", conaffinity="1", condim="3", friction="0.7")
    bodies: dict[int, ET.Element] = {WORLD: world}
    for i, body in enumerate(model.bodies):
        T = np.array(body.X_T.placement, dtype=float)
        at = bodies[i] = ET.SubElement(bodies[body.parent], "body", name=body.name, pos=_text(T[:3, 3]))
        at.set("xyaxes", _text([*T[:3, 0], *T[:3, 1]]))
        m, c = float(body.inertia.m), np.array(list(body.inertia.h), dtype=float) / float(body.inertia.m)
        I = body.inertia.I
        about = np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]], dtype=float)
        about -= m * (c @ c * np.eye(3) - np.outer(c, c))
        six = [about[0, 0], about[1, 1], about[2, 2], about[0, 1], about[0, 2], about[1, 2]]
        ET.SubElement(at, "inertial", pos=_text(c), mass=repr(m), fullinertia=_text(six))
        if isinstance(body.joint, FreeFlyer):
            ET.SubElement(at, "freejoint", name=body.joint_name)
            continue
        rest = HOME[body.q_index[0]]
        how = {
            "stiffness": str(STIFFNESS),
            "damping": str(DAMPING),
            "armature": "0.01",
            "springref": _text([np.rad2deg(rest)]),
        }
        ET.SubElement(at, "joint", name=body.joint_name, axis=_text(body.joint.axis), **how)
    for contact in mech.constraints:
        frame = model.frame(contact.frame)
        place = np.array(frame.X.placement, dtype=float)[:3, 3]
        how = {"size": str(RADIUS), "friction": "0.7", "contype": "1", "conaffinity": "0", "condim": "3"}
        ET.SubElement(bodies[frame.body], "geom", type="sphere", pos=_text(place), **how)
    return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


def _text(values: object) -> str:
    return " ".join(repr(float(x)) for x in values)  # type: ignore[attr-defined]


def states(n: int) -> tuple[Array, Array]:
    """Return robots above the ground and about to land, each a little different."""
    rng = np.random.default_rng(0)
    q, v = np.tile(HOME, (n, 1)), np.zeros((n, 18))
    q[:, 2] += rng.uniform(0.0, 0.1, n)
    q[:, 7:] += rng.uniform(-0.1, 0.1, (n, 12))
    v[:, 3:6] = rng.uniform(-0.3, 0.3, (n, 3))
    return q, v


def run(rounds: int) -> Section:
    section = Section(
        "Contacts in time",
        f"Go2 dropped on its feet, steps of {DT:g} s, one core; all forces are in the joints (springs, dampers). "
        "MuJoCo's contacts are soft, ours solve Coulomb's law to 1e-6. rollout writes every state, ours the last one.",
    )
    kt.set_num_threads(1)
    mech = go2()
    theirs = in_mujoco(mech)
    data, to = mujoco.MjData(theirs), MuJoCo(mech.tree, theirs)
    q, v = states(N)
    still = mech.simulate(
        q[0], duration=2.0, record=kt.Record(every=2000), integrator="semi_implicit_euler", joints="none"
    )
    tau, standing = np.zeros(mech.nv), (still.q[-1], still.v[-1])

    def put(x: Array, rate: Array) -> None:
        mujoco.mj_resetData(theirs, data)
        data.qpos, data.qvel = to.to_q(x), to.to_v(x, rate)

    def ours_a_call() -> None:
        x, rate = standing
        f = np.zeros(mech.nrows)
        for _ in range(100):
            x, rate, f, _, _ = mech.contact_step(x, rate, tau, DT, f_start=f)

    def ours_in_a_loop() -> None:
        mech.simulate(
            *standing, steps=1000, dt=DT, record=kt.Record(every=1000), integrator="semi_implicit_euler", joints="none"
        )

    put(*standing)
    mujoco.mj_step(theirs, data, nstep=2000)  # it settles where its soft contacts hold it

    def mj_step() -> None:
        for _ in range(100):
            mujoco.mj_step(theirs, data)

    ways: dict[str, tuple[Thunk, int]] = {
        "kinetree, a call a step": (ours_a_call, 100),
        "kinetree, simulate": (ours_in_a_loop, 1000),
        "mujoco mj_step": (mj_step, 100),
    }
    _compare(section, "one robot that stands", ways, rounds)

    few = 64
    begin = np.empty((few, mujoco.mj_stateSize(theirs, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    for k in range(few):
        put(q[k], v[k])
        mujoco.mj_getState(theirs, data, begin[k], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    kept, sensors = np.empty((few, STEPS, begin.shape[1])), np.empty((few, STEPS, 0))

    def rolled() -> None:
        rollout.rollout(theirs, data, begin, nstep=STEPS, state=kept, sensordata=sensors)

    def many() -> None:
        mech.simulate(
            q, v, steps=STEPS, dt=DT, record=kt.Record(every=STEPS), integrator="semi_implicit_euler", joints="none"
        )

    ways = {"kinetree": (many, N * STEPS), f"mujoco.rollout, {few} of them": (rolled, few * STEPS)}
    _compare(section, f"{N} robots that land", ways, max(2, rounds // 3))
    return section


def _compare(section: Section, what: str, ways: Mapping[str, tuple[Thunk, int]], rounds: int) -> None:
    """Add rows of nanoseconds a step; the first way is ours."""
    timings = interleaved({name: thunk for name, (thunk, _) in ways.items()}, rounds)
    a_step = {
        name: Timing(tuple(seconds / ways[name][1] for seconds in timing.rounds)) for name, timing in timings.items()
    }
    section.compare({"robot": "go2", "what": what}, next(iter(ways)), a_step, 1, "ns")
