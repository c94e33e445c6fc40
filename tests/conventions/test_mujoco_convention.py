"""MuJoCo itself says whether states, forces and Jacobians mean the same there."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.told import told
from helpers.trees import toy
from kinetree import Robot
from kinetree.conventions import MuJoCo
from kinetree.errors import ArgumentError, ModelError
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical, Universal
from kinetree.model import ModelBuilder
from kinetree.spatial import Inertia

BODIES = """<inertial pos="{com}" mass="{mass}" diaginertia="{inertia}"/>"""
TRUNK = BODIES.format(com="0.1 -0.2 0.05", mass=3, inertia="0.3 0.4 0.5")
LEG = BODIES.format(com="0.02 0.03 -0.2", mass=1, inertia="0.03 0.04 0.02")
FOOT = BODIES.format(com="0 0.05 0", mass=0.5, inertia="0.01 0.01 0.01")
PRISM = BODIES.format(com="0.1 0 0", mass=0.7, inertia="0.02 0.01 0.02")

MJCF = f"""
<mujoco><option gravity="0.3 -0.2 -9.5" integrator="Euler"/><worldbody>
  <body name="trunk"><freejoint name="floating_base"/>{TRUNK}
    <body name="slider" pos="0.3 0 0"><joint name="slide" type="slide" axis="1 0 0"/>{PRISM}</body>
    <body name="leg" pos="0 0.1 -0.1"><joint name="hip" type="ball"/>{LEG}
      <body name="foot" pos="0 0 -0.4"><joint name="ankle" type="hinge" axis="0 1 0" armature="0.07"/>{FOOT}</body>
    </body>
  </body>
</worldbody></mujoco>"""


def at(x: float, y: float, z: float) -> list[list[float]]:
    return [[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z], [0, 0, 0, 1]]


def robot() -> Robot:
    """The same robot, its joints in another order."""
    b = ModelBuilder("walker")
    b.add_link("world")
    for name, mass, com, moments in (
        ("trunk", 3.0, [0.1, -0.2, 0.05], [0.3, 0.4, 0.5]),
        ("leg", 1.0, [0.02, 0.03, -0.2], [0.03, 0.04, 0.02]),
        ("foot", 0.5, [0, 0.05, 0], [0.01, 0.01, 0.01]),
        ("slider", 0.7, [0.1, 0, 0], [0.02, 0.01, 0.02]),
    ):
        b.add_link(name, Inertia.from_com(mass, com, np.diag(moments).tolist()))
    b.add_joint("ankle", parent="leg", child="foot", joint=Revolute((0, 1, 0)), placement=at(0, 0, -0.4), armature=0.07)
    b.add_joint("free", parent="world", child="trunk", joint=FreeFlyer())
    b.add_joint("hip", parent="trunk", child="leg", joint=Spherical(), placement=at(0, 0.1, -0.1))
    b.add_joint("slide", parent="trunk", child="slider", joint=Prismatic((1, 0, 0)), placement=at(0.3, 0, 0))
    return Robot(b.build(gravity=(0.3, -0.2, -9.5)))


@pytest.fixture(scope="module")
def ours() -> Robot:
    return robot()


@pytest.fixture(scope="module")
def theirs() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(MJCF)


@pytest.fixture(scope="module")
def to(ours: Robot, theirs: mujoco.MjModel) -> MuJoCo:
    return MuJoCo(ours, theirs)


def set_state(model: mujoco.MjModel, to: MuJoCo, q: np.ndarray, v: np.ndarray) -> mujoco.MjData:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = to.to_q(q), to.to_v(q, v)
    return data


def test_the_length_of_a_quaternion_does_not_matter(ours: Robot, to: MuJoCo) -> None:
    q, v, _ = ours.random_state(seed=1)
    longer = to.to_q(q)
    longer[3:7] *= 3.0
    np.testing.assert_allclose(to.from_v(longer, to.to_v(q, v)), v, rtol=0, atol=1e-14)


def test_bodies_are_in_the_same_places(ours: Robot, theirs: mujoco.MjModel, to: MuJoCo) -> None:
    q, v, _ = ours.random_state(seed=0)
    data = set_state(theirs, to, q, v)
    mujoco.mj_forward(theirs, data)
    for name, pose in zip(ours.body_names, ours.forward_kinematics(q), strict=True):
        assert_close(pose[:3, 3], data.body(name).xpos, ulps=20)
        assert_close(pose[:3, :3].ravel(), data.body(name).xmat, ulps=20)


def test_velocities_move_the_state_as_ours_do(ours: Robot, theirs: mujoco.MjModel, to: MuJoCo) -> None:
    """mj_differentiatePos between two configurations a small step apart is the converted velocity."""
    q, v, _ = ours.random_state(seed=1)
    h, rate = 1e-6, np.empty(theirs.nv)
    before, after = (to.to_q(ours.integrate(q, step * v)) for step in (-h, h))
    mujoco.mj_differentiatePos(theirs, rate, 2 * h, before, after)
    np.testing.assert_allclose(rate, to.to_v(q, v), atol=2e-9)


def test_inverse_and_forward_dynamics_agree(ours: Robot, theirs: mujoco.MjModel, to: MuJoCo) -> None:
    for seed in range(5):
        q, v, a = ours.random_state(seed=seed)
        f_ext = np.random.default_rng(seed).normal(size=(ours.nb, 6))
        data = set_state(theirs, to, q, v)
        data.qacc[:], data.xfrc_applied[:] = to.to_a(q, v, a), to.to_f_ext(q, f_ext)
        mujoco.mj_inverse(theirs, data)
        # mj_inverse gives the total: what joints and xfrc_applied must do together
        applied = np.zeros(theirs.nv)
        for i in range(theirs.nbody):
            force, torque = data.xfrc_applied[i, :3].copy(), data.xfrc_applied[i, 3:].copy()
            mujoco.mj_applyFT(theirs, data, force, torque, data.xipos[i].copy(), i, applied)
        tau = ours.inverse_dynamics(q, v, a, f_ext=f_ext)
        assert_close(to.to_tau(q, tau), data.qfrc_inverse - applied, ulps=500)
        data.qfrc_applied[:] = to.to_tau(q, tau)
        mujoco.mj_forward(theirs, data)
        a_mujoco = to.from_a(data.qpos, data.qvel, data.qacc)
        assert_close(ours.inverse_dynamics(q, v, a_mujoco, f_ext=f_ext), tau, ulps=200, scale=np.abs(tau).max())


def test_jacobians(ours: Robot, theirs: mujoco.MjModel, to: MuJoCo) -> None:
    """MuJoCo's Jacobian, converted, times our velocity is the velocity that MuJoCo has for the body."""
    q, v, _ = ours.random_state(seed=3)
    data = set_state(theirs, to, q, v)
    mujoco.mj_forward(theirs, data)
    for name in ours.body_names:
        jacp, jacr = np.empty((3, theirs.nv)), np.empty((3, theirs.nv))
        body = theirs.body(name).id
        mujoco.mj_jacBody(theirs, data, jacp, jacr, body)
        stacked = np.vstack([jacp, jacr])
        J = to.from_jacobian(data.qpos, stacked)
        velocity = np.empty(6)
        mujoco.mj_objectVelocity(theirs, data, mujoco.mjtObj.mjOBJ_XBODY, body, velocity, 0)
        assert_close(J @ v, velocity, ulps=100)
        assert_close(to.to_jacobian(q, J), stacked, ulps=20)


def test_there_and_back(ours: Robot, to: MuJoCo) -> None:
    q, v, a = ours.random_state(seed=4, size=(2, 3))
    f_ext = np.random.default_rng(4).normal(size=(2, 3, ours.nb, 6))
    their_q, their_v = to.to_q(q), to.to_v(q, v)
    np.testing.assert_array_equal(to.from_q(their_q), q)
    assert_close(to.from_v(their_q, their_v), v, ulps=10)
    assert_close(to.from_a(their_q, their_v, to.to_a(q, v, a)), a, ulps=20)
    assert_close(to.from_tau(their_q, to.to_tau(q, a)), a, ulps=10)
    assert_close(to.from_f_ext(their_q, to.to_f_ext(q, f_ext)), f_ext, ulps=20)


# -- errors ------------------------------------------------------------------------------------------------------------


def test_forces_on_bodies_that_are_no_body_here(ours: Robot) -> None:
    more = MJCF.replace("""<body name="slider\"""", """<body name="antenna"/><body name="slider\"""")
    theirs = mujoco.MjModel.from_xml_string(more)
    to = MuJoCo(ours, theirs)
    q, f = to.to_q(ours.neutral()), np.zeros((theirs.nbody, 6))
    assert not to.from_f_ext(q, f).any()
    f[theirs.body("antenna").id, 2] = 1.0
    with pytest.raises(ArgumentError, match=r"bodies that are part of others here: \['antenna'\]"):
        to.from_f_ext(q, f)


OURS, NAMES = robot(), ["free", "hip", "ankle", "slide"]
TO = MuJoCo(OURS, NAMES)
CROSS = Robot(toy(("cross base shaft", Universal())))
KITE = Robot(toy(("free base kite", FreeFlyer(), {"placement": at(0, 0, 1)})))
test_mistakes_are_told = told(
    ArgumentError,
    (lambda: TO.to_f_ext(OURS.neutral(), np.zeros((4, 6))), r"make MuJoCo.robot, model. from an MjModel"),
    (lambda: MuJoCo(OURS, ["free", "hips", "ankle", "slide"]), "MuJoCo: no joint 'hips', did you mean 'hip'"),
    (lambda: MuJoCo(OURS, None), "takes an MjModel or the names of joints"),
    (lambda: MuJoCo(CROSS, ["cross"]), ModelError, r"MuJoCo has no joint like 'cross' \(Universal\): it has FreeFly"),
    (lambda: MuJoCo(KITE, ["free"]), "starts from the world's origin"),
)


def test_names_are_enough_for_states() -> None:
    assert TO.to_q(OURS.neutral()).shape == (13,)
