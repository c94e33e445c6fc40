"""Robots as MJCF: MuJoCo reads the same dynamics, shapes and constraints; what it cannot have is named."""

from __future__ import annotations

import re
import warnings
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.transform import Rotation

import kinetree as kt
from helpers.constraints import pose as place
from helpers.mechanisms import at, four_bar
from helpers.sampling import few
from helpers.trees import BALL, random_inertia, random_placement, random_tree, toy
from kinetree import geometry as shapes
from kinetree.algorithms import crba, rnea
from kinetree.joints import (
    Cylindrical,
    FreeFlyer,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    RollPitchYaw,
    Spherical,
    Universal,
)
from kinetree.model import JointLimits, Model
from kinetree.spatial import Transform
from robots import erd_urdfs, mjcf_files

Array = np.ndarray[Any, Any]

BROKEN = {"ur3.urdf", "alex_psyonic_hands.urdf"}
"""Files that are no robot: without links, and not UTF-8 or XML."""
REFUSED = {
    "icub.urdf": "inertias that no body has: r_hip_1, r_hip_2, r_upper_leg",
    "icub_reduced.urdf": "inertias that no body has: r_hip_1, r_hip_2, r_upper_leg",
    "romeo.urdf": "moving links without mass: LFinger13Link, RFinger13Link, LFinger23Link",
    "romeo_laas_small.urdf": "inertias that no body has: base_link, LShoulderYaw_link, LElbowYaw_link",
    "romeo_small.urdf": "inertias that no body has: RShoulderYawLink, RElbowYawLink",
}
"""The robots that MuJoCo cannot represent, and why."""


class InMuJoCo:
    """A robot as MuJoCo reads it, in the robot's coordinates; followers have coordinates of their own there.

    With V the velocities here and P the map that projects on what followers do, theirs are ``P V``: so ``M = Pᵀ M' P``.
    """

    def __init__(self, model: Model, text: str) -> None:
        self.ours, self.theirs = model, mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.theirs)

    def set(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Put a state into MuJoCo's data; return P, and its rate times v."""
        m, bodies = self.theirs, {body.joint_name: body for body in self.ours.bodies}
        P, rate = np.zeros((m.nv, self.ours.nv)), np.zeros(m.nv)
        for k in range(m.njnt):
            name, at_q, at_v = m.joint(k).name, m.jnt_qposadr[k], m.jnt_dofadr[k]
            body = bodies.get(name) or bodies[name.rpartition(".")[0]]
            own, V = q[list(body.q_index)], list(body.v_index)
            if isinstance(body.joint, FreeFlyer):
                R = Rotation.from_quat(own[3:]).as_matrix()
                self.data.qpos[at_q : at_q + 7] = own[[0, 1, 2, 6, 3, 4, 5]]
                P[at_v : at_v + 3, V[3:]], P[at_v + 3 : at_v + 6, V[:3]] = R, np.eye(3)
                rate[at_v : at_v + 3] = R @ np.cross(v[V[:3]], v[V[3:]])
            elif isinstance(body.joint, Spherical):
                self.data.qpos[at_q : at_q + 4] = own[[3, 0, 1, 2]]
                P[at_v : at_v + 3, V] = np.eye(3)
            elif name in bodies:
                factor, offset = body.joint.follows or (1.0, 0.0)
                self.data.qpos[at_q], P[at_v, V[0]] = factor * own[0] + offset, factor
            elif isinstance(body.joint, Helical):
                self.data.qpos[at_q], P[at_v, V[0]] = body.joint.pitch * own[0], body.joint.pitch
            else:
                entry = self.ours.q_names.index(name)
                self.data.qpos[at_q], P[at_v, V[body.q_index.index(entry)]] = q[entry], 1.0
        self.data.qvel[:] = P @ v
        mujoco.mj_forward(m, self.data)
        return P, rate

    def difference(self, seeds: int = 2) -> float:
        """Return the largest error of M and of the bias, relative to their largest entries."""
        worst = 0.0
        for seed in range(seeds):
            q, v, a = kt.Robot(self.ours).random_state(seed)
            P, rate = self.set(q, v)
            M = np.zeros((self.theirs.nv, self.theirs.nv))
            mujoco.mj_fullM(self.theirs, self.data, M)
            expected = np.array(crba(self.ours, [*q]), dtype=float)
            bias = np.array(rnea(self.ours, [*q], [*v], [0.0] * len(v)), dtype=float)
            scale = max(abs(bias).max(), abs(expected @ a).max())
            springs = P.T @ self.data.qfrc_spring  # which inverse dynamics has in the bias
            errors = P.T @ M @ P - expected, P.T @ (M @ rate + self.data.qfrc_bias) - springs - bias
            worst = max(worst, *(abs(e).max() / s for e, s in zip(errors, (abs(expected).max(), scale), strict=True)))
        return float(worst)


def quiet(robot: kt.Robot | kt.Mechanism, **options: Any) -> str:
    """Return the document of a robot, without the warnings of what is left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return robot.to_mjcf(**options)


@pytest.mark.parametrize("path", few([p for p in erd_urdfs() if p.name not in BROKEN], 24), ids=lambda p: p.name)
def test_real_robots(path: Any) -> None:
    """All that MuJoCo can represent; a mass matrix there is compared as projected on what followers do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = kt.Robot(kt.load(path).model)
    if robot.nv == 0:
        return
    if path.name not in REFUSED:
        assert InMuJoCo(robot.model, quiet(robot)).difference() < 1e-10
        return
    with pytest.raises(kt.ModelError, match=REFUSED[path.name]):
        robot.to_mjcf()
    with pytest.warns(kt.FormatWarning, match=REFUSED[path.name]):
        lenient = robot.to_mjcf(lenient=True)
    assert InMuJoCo(robot.model, lenient).difference() < 0.02


TILTED = (0.6, -0.3, 0.7)
KINDS = [Revolute(TILTED), Prismatic((0, -1, 0)), Spherical(), Universal(TILTED, (0, 0, 1)), Cylindrical(TILTED)]
KINDS += [RollPitchYaw(), Planar(TILTED), Helical(TILTED, 0.2)]


@pytest.mark.parametrize("seed", range(4))
def test_random_trees(seed: int) -> None:
    robot = kt.Robot(random_tree(seed, 8, KINDS))
    with pytest.raises(kt.ModelError, match=r"planar joints: joint\d .*helical joints: joint\d"):
        robot.to_mjcf()
    with pytest.warns(kt.FormatWarning, match=r"several there.*: joint\d"):
        text = robot.to_mjcf(lenient=True)
    there = InMuJoCo(robot.model, text)
    plain = {i for i, body in enumerate(robot.model.bodies) if not isinstance(body.joint, (Planar, Helical))}
    assert there.theirs.nbody >= len(plain)
    q, _, _ = robot.random_state(seed)
    there.set(q, np.zeros(robot.nv))
    for name in robot.frame_names:  # links and frames stand where they do here
        pose = np.array(robot.frame_placement(q, frame=name))
        kind = "body" if name in {there.theirs.body(k).name for k in range(there.theirs.nbody)} else "site"
        found = getattr(there.data, kind)(name)
        np.testing.assert_allclose(found.xpos, pose[:3, 3], atol=1e-12)
        np.testing.assert_allclose(found.xmat.reshape(3, 3), pose[:3, :3], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_dynamics_of_random_trees_with_links_off_their_joints(seed: int) -> None:
    """Anchors, several joints of one body, and frames of a joint that is not where its link is."""
    rng = np.random.default_rng(seed)
    pose = lambda: {"placement": random_placement(rng), "child_placement": random_placement(rng)}  # noqa: E731
    kinds = [Revolute(TILTED), Prismatic(TILTED), Spherical(), RollPitchYaw(), Cylindrical((0, 1, 0))]
    joints = [(f"j{k} l{k} l{k + 1}", kind, pose()) for k, kind in enumerate(kinds)]
    links = {f"l{k}": random_inertia(rng) for k in (0, 3, 4, 5)} | {"l1": None, "l2": None}
    model = toy(*joints, links=links, name="off", base_pose=random_placement(rng), gravity=(1.0, 2.0, -9.0))
    with pytest.warns(kt.FormatWarning, match=r"links without mass, whose joints the next body has: l1, l2"):
        text = kt.Robot(model).to_mjcf()
    there = InMuJoCo(model, text)
    assert there.theirs.nbody == 5
    assert there.difference() < 1e-12


def physical() -> kt.Robot:
    """Return a robot whose joints have all that joints can have, and one that follows another."""
    spring = {"stiffness": 3.0, "rest_position": 0.4, "damping": 0.3, "friction": 0.2, "armature": 0.1}
    joints = [("a base one", Revolute(TILTED), spring | {"limits": JointLimits(-1.0, 2.0, effort=7.0)})]
    joints += [("b one two", Prismatic(TILTED), spring | {"mimic": ("a", -2.0, 0.1), "limits": JointLimits(-9.0)})]
    joints += [("ball two three", Spherical(), {"damping": 0.5, "armature": 0.2})]
    return kt.Robot(toy(*joints, frames=[("tip three", at(1.0))], gravity=(0.0, 1.0, -3.0)))


def test_what_joints_have() -> None:
    robot = physical()
    there = InMuJoCo(robot.model, robot.to_mjcf())
    m = there.theirs
    assert there.difference() < 1e-12  # with springs and armature
    np.testing.assert_allclose(m.jnt_range[:2], [[-1.0, 2.0], [-9.0, 1e10]])
    np.testing.assert_allclose(m.jnt_actfrcrange[0], [-7.0, 7.0])
    assert [b.limits for b in kt.load(robot.to_mjcf()).model.bodies[:2]] == [b.limits for b in robot.model.bodies[:2]]
    q, v, _ = robot.random_state(3)
    P, _ = there.set(q, v)
    damping = np.diag(robot.damping) @ v
    np.testing.assert_allclose(P.T @ there.data.qfrc_damper, -damping, rtol=1e-12)
    np.testing.assert_allclose(abs(P).T @ m.dof_frictionloss, robot.friction, rtol=1e-12)
    np.testing.assert_allclose(m.opt.gravity, robot.gravity)


def test_followers_are_held_by_equalities_and_configurations_are_keyframes() -> None:
    robot = physical()
    q, _, _ = robot.random_state(1)
    named = robot.with_configuration("there", q)
    there = InMuJoCo(robot.model, named.to_mjcf())
    there.set(q, np.zeros(robot.nv))
    np.testing.assert_allclose(there.theirs.key("there").qpos, there.data.qpos, rtol=1e-14)
    rows = np.flatnonzero(there.data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    np.testing.assert_allclose(there.data.efc_pos[rows], 0.0, atol=1e-14)
    there.data.qpos[1] += 0.5
    mujoco.mj_forward(there.theirs, there.data)
    np.testing.assert_allclose(abs(there.data.efc_pos[rows]), [0.5], atol=1e-14)


def test_a_floating_base_and_the_map_of_states() -> None:
    robot = kt.Robot(kt.load("go2").model)
    text = quiet(robot)
    there = InMuJoCo(robot.model, text)
    assert there.difference() < 1e-12
    states = kt.conventions.MuJoCo(robot, there.theirs)
    q, v, _ = robot.random_state(0)
    P, _ = there.set(q, v)
    np.testing.assert_allclose(states.to_q(q), there.data.qpos)
    np.testing.assert_allclose(states.to_v(q, v), P @ v)


def test_motors() -> None:
    robot = physical()
    motors = [kt.Actuator("m1", "a", (5.0,), (-1.0, 1.0), (-3.0, np.inf)), kt.Actuator("m2", "b", (-2.0,))]
    motors += [kt.Actuator("m3", "ball", (1.0, 2.0, 3.0))]
    driven = kt.Robot(robot.model, actuators=motors)
    there = InMuJoCo(robot.model, driven.to_mjcf())
    P, _ = there.set(*robot.random_state(0)[:2])
    moment = np.zeros((there.theirs.nu, there.theirs.nv))
    data = there.data
    mujoco.mju_sparse2dense(moment, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind)
    np.testing.assert_allclose(P.T @ moment.T, driven.actuation, atol=1e-14)
    np.testing.assert_allclose(there.theirs.actuator("m1").ctrlrange, [-1.0, 1.0])
    np.testing.assert_allclose(there.theirs.actuator("m1").forcerange, [-3.0, 1e10])


# -- constraints ---------------------------------------------------------------------------------------------------


def space_of_rows(mech: kt.Mechanism, q: Array, text: str) -> tuple[Array, Array, float]:
    """Return the rows of MuJoCo's equalities and of ours, transposed, and by how much MuJoCo's are open."""
    there = InMuJoCo(mech.tree.model, text)
    there.theirs.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    P, _ = there.set(q, np.zeros(mech.nv))
    data = there.data
    keep = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    J = data.efc_J.reshape(-1, there.theirs.nv)[keep] @ P
    return J.T, np.array(mech.constraint_jacobian(q)).T, float(abs(data.efc_pos[keep]).max())


def assert_same_rows(mech: kt.Mechanism, q: Array, text: str) -> None:
    theirs, ours, gap = space_of_rows(mech, q, text)
    rank = np.linalg.matrix_rank(ours, tol=1e-9)
    assert np.linalg.matrix_rank(theirs, tol=1e-9) == rank
    assert subspace_angles(np.linalg.svd(theirs)[0][:, :rank], np.linalg.svd(ours)[0][:, :rank]).max() < 1e-7
    assert gap < 1e-9


def test_loops_and_gears() -> None:
    hinged, q = four_bar(turned=(0.3, -0.4, 0.5))
    with pytest.warns(kt.FormatWarning, match=r"two points on its axis: loop_coupler_tip_rocker_tip"):
        text = hinged.to_mjcf()
    assert_same_rows(hinged, q, text)
    ball = kt.Mechanism(hinged.tree, [kt.Loop("coupler_tip", "rocker_tip", Spherical(), name="socket")])
    assert_same_rows(ball, q, ball.to_mjcf())
    place = np.array(hinged.tree.frame_placement(q, frame="coupler_tip"))
    rocker = np.array(hinged.tree.frame_placement(q, frame="rocker_tip"))
    for weld in (
        kt.Weld("coupler_tip", None, place),
        kt.Weld(
            "coupler", "rocker_tip", np.linalg.inv(rocker) @ np.array(hinged.tree.frame_placement(q, frame="coupler"))
        ),
    ):
        held = kt.Mechanism(hinged.tree, [weld])
        assert_same_rows(held, q, held.to_mjcf())
    gear = kt.Mechanism(hinged.tree, [kt.Gear({"motor": 2.0, "pivot": -3.0}, 2.0 * q[0] - 3.0 * q[2])])
    assert_same_rows(gear, q, gear.to_mjcf())


def test_constraints_that_mjcf_has_not() -> None:
    tree = four_bar().mech.tree
    odd = [
        kt.Rod("coupler_tip", "rocker_tip", 0.5, name="rod"),
        kt.Loop("coupler_tip", "rocker_tip", Prismatic(), name="rail"),
    ]
    odd += [kt.Gear({"motor": 1, "elbow": 2, "pivot": 1}, name="train")]
    mech = kt.Mechanism(tree, odd)
    with pytest.raises(
        kt.ModelError, match=r"constraints: rod .*at another joint than a ball.*: rail .*gears of .*: train"
    ):
        mech.to_mjcf()
    assert "<equality" not in quiet(mech, lenient=True)


# -- what is refused -----------------------------------------------------------------------------------------------


def one(joint: Any, inertia: kt.Inertia | None = BALL, **options: Any) -> kt.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.NonPhysicalInertiaWarning)
        return kt.Robot(toy(("j base link", joint, options), links={"base": None, "link": inertia}))


def moments(*J: float) -> kt.Inertia:
    return kt.Inertia.from_com(2.0, [0.1, 0.2, 0.3], np.diag(J))


@pytest.mark.parametrize(
    ("robot", "said"),
    [
        (one(Revolute(), None), "moving links without mass: link"),
        (one(Revolute(), moments(1.0, 1.0, 2.1)), "inertias that no body has: link"),
        (one(Revolute(), moments(1.0, -0.1, 1.0)), "inertias that no body has: link"),
        (one(Revolute(), moments(0.0, 0.0, 0.0)), "inertias that no body has: link"),
        (one(Planar()), "planar joints: j"),
        (one(Helical((0, 0, 1), 0.1)), "helical joints: j"),
    ],
)
def test_what_mujoco_refuses(robot: kt.Robot, said: str) -> None:
    with pytest.raises(kt.ModelError, match=f"MJCF has no place for this robot: {said} .lenient=True: "):
        robot.to_mjcf()
    with pytest.warns(kt.FormatWarning, match=f"left out of the MJCF: {said}"):
        mujoco.MjModel.from_xml_string(robot.to_mjcf(lenient=True))


def test_what_no_option_allows() -> None:
    for placement in (at(1.0), np.eye(4)):
        tree = toy(("a base one", Revolute()), ("free one two", FreeFlyer(), {"placement": placement}))
        with pytest.raises(kt.ModelError, match="'free' is a FreeFlyer that does not start from the world's origin"):
            kt.Robot(tree).to_mjcf(lenient=True)


def test_inertias_of_thin_plates_are_not_refused_for_rounding() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        R = Rotation.from_quat(rng.normal(size=4)).as_matrix()
        a, b = rng.uniform(0.1, 1.0, 2)
        plate = kt.Inertia.from_com(1.0, rng.normal(size=3), R @ np.diag([a, b, a + b]) @ R.T)
        robot = one(Spherical(), plate)
        assert InMuJoCo(robot.model, robot.to_mjcf()).difference() < 1e-12


def test_names_that_need_care() -> None:
    """A moving link called world, names that XML escapes, a keyframe, a site and a body of one name."""
    free = toy(("j world <b&>", Revolute()), frames=[("tip <b&>", at(1.0))], name="a 'b' \"c\"", floating_base=True)
    robot = kt.Robot(free).with_configuration("j", free.nq * [0.0][:0] or kt.Robot(free).neutral())
    with pytest.warns(kt.FormatWarning, match="or the world's: world"):
        text = robot.to_mjcf()
    m = mujoco.MjModel.from_xml_string(text)
    assert [m.body(k).name for k in range(m.nbody)] == ["world", "world_at_joint", "<b&>"]
    assert re.search("<mujoco model=\"a 'b' &quot;c&quot;\"", text)


# -- shapes --------------------------------------------------------------------------------------------------------

CORNERS = shapes.Triangles(
    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
)
HILLS = shapes.HeightField((2.0, 4.0), ((1.0, 1.0, 3.0), (1.0, 2.0, 1.0), (1.5, 1.0, 1.0), (1.0, 1.0, 1.0)), base=0.5)
INSIDE = np.array([0.05, 0.02, 0.01])
PLACED = np.block([[Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix(), np.array([[0.1], [0.2], [0.3]])], [0, 0, 0, 1]])


def with_shapes(*found: shapes.Geometry) -> kt.Robot:
    robot = one(Revolute(TILTED), placement=at(0.5), child_placement=PLACED)
    return kt.Robot(robot.model, geometry=shapes.Geometries((), found))


@pytest.mark.parametrize(
    ("shape", "kind", "size"),
    [
        (shapes.Box((1.0, 2.0, 3.0)), "BOX", [0.5, 1.0, 1.5]),
        (shapes.Sphere(0.3), "SPHERE", [0.3, 0, 0]),
        (shapes.Ellipsoid((0.1, 0.2, 0.3)), "ELLIPSOID", [0.1, 0.2, 0.3]),
        (shapes.Cylinder(0.1, 0.4), "CYLINDER", [0.1, 0.2, 0]),
        (shapes.Capsule(0.1, 0.4), "CAPSULE", [0.1, 0.2, 0]),
        (CORNERS, "MESH", None),
    ],
)
def test_shapes(shape: shapes.Shape, kind: str, size: list[float] | None) -> None:
    X = Transform.placed(PLACED[:3, :3].tolist(), [0.3, 0.2, 0.1])
    robot = with_shapes(shapes.Geometry("link", shape, X, "part", (0.1, 0.2, 0.3, 0.5), (0.7, 0.01), 2, 4))
    there = InMuJoCo(robot.model, robot.to_mjcf())
    q = np.array([0.4])
    there.set(q, np.zeros(1))
    geom, m = there.theirs.geom("part"), there.theirs
    assert m.geom_type[geom.id] == getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    np.testing.assert_allclose(geom.rgba, [0.1, 0.2, 0.3, 0.5], atol=1e-6)
    np.testing.assert_allclose(geom.friction[:2], [0.7, 0.01])
    assert (geom.contype, geom.conaffinity) == (2, 4)
    if size:
        np.testing.assert_allclose(geom.size, size)
    pose = np.array(robot.frame_placement(q, frame="link")) @ np.array(X.placement)
    ways = np.array([[1.0, 0.2, 0.3], [0.1, 1.0, 0.3], [-0.2, 0.3, -1.0]])
    for way in ways @ pose[:3, :3].T:  # rays from outside find the same points as in the shape's own frame
        start = pose[:3, :3] @ INSIDE + pose[:3, 3] - 5.0 * way
        hit = mujoco.mj_ray(m, there.data, start, way, None, 1, -1, np.zeros(1, dtype=np.int32))
        local = InMuJoCo.__new__(InMuJoCo)
        alone = kt.Robot(one(Revolute()).model, geometry=shapes.Geometries((), (shapes.Geometry("base", shape),)))
        local.__init__(alone.model, alone.to_mjcf())  # type: ignore[misc]
        local.set(np.zeros(1), np.zeros(1))
        own = pose[:3, :3].T @ way
        same = mujoco.mj_ray(
            local.theirs, local.data, INSIDE - 5.0 * own, own, None, 1, -1, np.zeros(1, dtype=np.int32)
        )
        assert hit == pytest.approx(same, abs=1e-6)
        assert hit > 0


def test_a_height_field_and_a_plane_on_the_ground() -> None:
    on_base = [
        shapes.Geometry("base", HILLS, Transform.translation([1.0, 0.0, 2.0])),
        shapes.Geometry("base", shapes.Plane()),
    ]
    robot = kt.Robot(one(Revolute()).model, geometry=shapes.Geometries((), tuple(on_base)))
    there = InMuJoCo(robot.model, robot.to_mjcf())
    there.set(np.zeros(1), np.zeros(1))

    def height(x: float, y: float) -> float:
        start, geom = np.array([x, y, 50.0]), np.zeros(1, dtype=np.int32)
        return 50.0 - mujoco.mj_ray(there.theirs, there.data, start, np.array([0.0, 0, -1]), None, 1, -1, geom)

    for i, y in enumerate(np.linspace(-2.0, 2.0, 4)):  # a row for each y
        for j, x in enumerate(np.linspace(-1.0, 1.0, 3)):
            assert height(1.0 + 0.999 * x, 0.999 * y) == pytest.approx(2.0 + HILLS.heights[i][j], abs=0.02)
    assert height(50.0, 50.0) == pytest.approx(0.0)


def test_meshes_are_named_by_their_paths(tmp_path: Any) -> None:
    faces = np.zeros(4, dtype=[("n", "<3f4"), ("v", "<9f4"), ("a", "<u2")])
    faces["v"] = CORNERS.vertices[CORNERS.faces].reshape(4, 9)
    path = tmp_path / "corner.stl"
    path.write_bytes(b"\0" * 80 + np.uint32(4).tobytes() + faces.tobytes())
    (tmp_path / "text.stl").write_text("solid a\nendsolid a\n")
    placed = [Transform.translation([x, 0.0, 0.0]) for x in range(3)]
    scaled = [
        shapes.Geometry("link", shapes.Mesh(str(path), (s, 1, 1)), X) for s, X in zip((1, 2, 1), placed, strict=True)
    ]
    others = [shapes.Geometry("link", shapes.Mesh(str(tmp_path / name))) for name in ("gone.stl", "a.dae", "text.stl")]
    (tmp_path / "b.dae").write_text("")
    others += [shapes.Geometry("link", shapes.Mesh(str(tmp_path / "b.dae")))]
    said = rf"missing: .*gone.stl, .*a.dae; .* not read: .*text.stl, {tmp_path}/\*\.dae"
    with pytest.warns(kt.FormatWarning, match=said):
        text = with_shapes(*scaled, *others).to_mjcf()
    m = mujoco.MjModel.from_xml_string(text)
    assert (m.nmesh, m.ngeom) == (2, 3)
    assert str(path) in text


def test_what_is_only_seen_touches_nothing() -> None:
    seen, both = shapes.Geometry("link", shapes.Sphere(1.0)), shapes.Geometry("link", shapes.Sphere(2.0))
    touches = shapes.Geometry("link", shapes.Sphere(3.0))
    plane = shapes.Geometry("link", shapes.Plane())
    robot = kt.Robot(one(Revolute()).model, geometry=shapes.Geometries((seen, both), (both, touches, plane)))
    with pytest.warns(kt.FormatWarning, match="planes on moving bodies: link"):
        m = mujoco.MjModel.from_xml_string(robot.to_mjcf())
    assert m.geom_size[:, 0].tolist() == [1.0, 2.0, 3.0]
    assert m.geom_group.tolist() == [2, 0, 3]
    assert m.geom_contype.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (shapes.Box((1.0, 0.0, 1.0)), "shapes without extent"),
        (shapes.Cylinder(0.0, 1.0), "shapes without extent"),
        (
            shapes.Triangles(np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2]])),
            "flat meshes that",
        ),
        (shapes.Triangles(np.eye(3), np.array([[0, 1, 2]])), "flat meshes that"),
    ],
)
def test_shapes_that_mujoco_refuses(shape: shapes.Shape, said: str) -> None:
    with pytest.warns(kt.FormatWarning, match=f"{said}.*: (those of )?link"):
        text = with_shapes(shapes.Geometry("link", shape)).to_mjcf()
    assert mujoco.MjModel.from_xml_string(text).ngeom == 0


# -- load, save, load ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", few(mjcf_files("gymnasium"), 5), ids=lambda p: p.name)
def test_mjcf_comes_back_as_it_was(path: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log of deprecated attributes
    robot = kt.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = kt.load(robot.to_mjcf())
    q, v, a = robot.random_state(0)
    ours, theirs = (np.array(rnea(r.model, [*q], [*v], [*a]), dtype=float) for r in (robot, again))
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12 * abs(ours).max())
    assert (again.joint_names, again.body_names, again.actuators) == (
        robot.joint_names,
        robot.body_names,
        robot.actuators,
    )
    assert {*again.frame_names} == {*robot.frame_names}
    for close in ("lower_limits", "upper_limits", "effort_limits", "armature", "damping", "friction", "stiffness"):
        np.testing.assert_allclose(getattr(again, close), getattr(robot, close), rtol=1e-12)
    for name, configuration in robot.configurations.items():
        np.testing.assert_allclose(again.configurations[name], configuration, atol=1e-14)
    for one, other in zip(robot.geometry, again.geometry, strict=True):
        assert placed_shapes(robot, one) == placed_shapes(again, other)


def placed_shapes(robot: kt.Robot, found: tuple[shapes.Geometry, ...]) -> list[Any]:
    """Return shapes with where they are in the neutral configuration, in whatever order, and on whatever link."""
    q, rows = robot.neutral(), []
    for g in found:
        pose = place(robot.model, q, g.link) @ np.array(g.placement.placement)
        numbers = (*np.round(pose, 9).ravel() + 0.0, *g.friction, *(g.color or ()), g.contype, g.conaffinity)
        rows.append((type(g.shape).__name__, g.name, tuple(map(float, numbers))))
    return sorted(rows)


@pytest.mark.parametrize(
    "path", few([p for p in erd_urdfs() if p.name not in {*BROKEN, *REFUSED}], 6), ids=lambda p: p.name
)
def test_urdf_as_mjcf_is_read_again(path: Any) -> None:
    """Joints that mimic others are free there, and their equalities gears of the mechanism."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = kt.Robot(kt.load(path, mimic="independent").model)
        if robot.nv == 0:
            return
        again = kt.load(robot.to_mjcf())
    there = {name: k for k, name in enumerate(again.joint_names)}
    order = [there[name] for name in robot.joint_names]
    assert again.nv == len(order)
    q, v, a = robot.random_state(0)
    ours = np.array(rnea(robot.model, [*q], [*v], [*a]), dtype=float)
    back = [np.empty(robot.nv) for _ in range(3)]
    for x, y in zip(back, (q, v, a), strict=True):
        x[order] = y
    theirs = np.array(rnea(again.model, *([*map(float, x)] for x in back)), dtype=float)[order]
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-12 * abs(ours).max())


def test_constraints_come_back() -> None:
    hinged, q = four_bar()
    ball = kt.Loop("coupler_tip", "rocker_tip", Spherical(), name="socket")
    gear = kt.Gear({"motor": 2.0, "pivot": -3.0}, 0.5, name="gear")
    mech = kt.Mechanism(hinged.tree, [ball, gear, kt.Weld("coupler_tip", None, name="held")])
    again = kt.load_mechanism(mech.to_mjcf())
    assert {*again.constraint_names} == {*mech.constraint_names}
    for name in mech.constraint_names:
        rows = [m.constraint_jacobian(q)[m.row_slices[name]] for m in (mech, again)]
        ranks = [np.linalg.matrix_rank(J, tol=1e-9) for J in (*rows, np.vstack(rows))]
        assert ranks == ranks[:1] * 3


def test_motors_of_one_name_and_ranges_without_room_are_told():
    robot, first = kt.load("ur5"), {"joint": "elbow_joint"}
    motors = [kt.Actuator("m", **first), kt.Actuator("m", **first, control_range=(0, 0)), kt.Actuator("", **first)]
    with pytest.warns(kt.FormatWarning, match="ranges .* without room: m; names of actuators that occur twice: m"):
        text = kt.Robot(robot.model, actuators=motors).to_mjcf()
    assert len(kt.load(text).actuators) == 3


def test_a_gear_is_finite():
    with pytest.raises(kt.ModelError, match="gear takes numbers"):
        kt.Actuator("m", "j", gear=(float("inf"),))


def test_files_of_meshes_that_mujoco_would_refuse_are_left_out(tmp_path):
    def stl(name, corners):
        data = np.zeros(len(corners), np.dtype([("n", "<3f4"), ("c", "<(3,3)f4"), ("more", "<u2")]))
        data["c"] = corners
        (tmp_path / name).write_bytes(bytes(80) + len(data).to_bytes(4, "little") + data.tobytes())

    square = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 0, 0], [1, 1, 0], [0, 1, 0]]])
    for name, corners in {"flat.stl": square, "one.stl": square[:1], "nan.stl": square * np.nan}.items():
        stl(name, corners)
    stl("empty.stl", square[:0])
    for name, text in {"empty.obj": "", "few.obj": "v 1 2\nf 1 2 3\n", "odd.obj": "v 1 2 x\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "good.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    found = tuple(shapes.Geometry("wrist_1_link", shapes.Mesh(str(p))) for p in sorted(tmp_path.iterdir()))
    with pytest.warns(kt.FormatWarning, match=r"empty\.obj") as caught:
        text = kt.Robot(kt.load("ur5").model, geometry=shapes.Geometries((), found)).to_mjcf()
    assert mujoco.MjModel.from_xml_string(text).ngeom == 1
    assert all(name in str(caught[0].message) for name in ("nan.stl", "flat.stl", "one.stl", "odd.obj"))


def test_masks_of_32_bits_and_height_fields_without_extent():
    found = [shapes.Geometry("wrist_1_link", shapes.Box((1, 1, 1)), contype=2**32 - 1, conaffinity=-1)]
    found += [shapes.Geometry("wrist_1_link", shapes.HeightField((0, 1), ((0, 0), (0, 0))))]
    with pytest.warns(kt.FormatWarning, match="shapes without extent: those of wrist_1_link"):
        text = kt.Robot(kt.load("ur5").model, geometry=shapes.Geometries((), tuple(found))).to_mjcf()
    assert mujoco.MjModel.from_xml_string(text).geom_contype.tolist() == [2**31 - 1]


def chain(*joints):
    builder = kt.ModelBuilder("chain")
    builder.add_link("0")
    for k, (name, joint) in enumerate(joints):
        builder.add_link(f"{k + 1}", kt.Inertia.from_com(1.0, [0.0, 0.0, 0.0], np.eye(3)))
        builder.add_joint(name, parent=f"{k}", child=f"{k + 1}", joint=joint)
    return kt.Robot(builder.build())


def test_names_that_joints_would_share_and_chains_too_deep():
    turn = kt.joints.Revolute((0, 0, 1))
    with pytest.raises(kt.ModelError, match=r"h\.first would be there twice"):
        chain(("h", kt.joints.Universal((1, 0, 0), (0, 1, 0))), ("h.first", turn)).to_mjcf()
    with pytest.raises(kt.ModelError, match="a chain of more than 400 joints"):
        chain(*((f"j{k}", turn) for k in range(401))).to_mjcf()
    deep = chain(*((f"j{k}", turn) for k in range(400)))
    assert mujoco.MjModel.from_xml_string(deep.with_limits(velocity=np.inf).to_mjcf()).nv == 400
