"""The writers: one contract, which a table drives; SDF documents, shapes in URDF and SDF, `kinetree convert`."""

from __future__ import annotations

import json
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import pose
from helpers.mechanisms import at, four_bar
from helpers.sampling import few
from helpers.trees import random_placement, random_tree, toy
from kinetree import geometry as shapes
from kinetree.algorithms import crba, rnea
from kinetree.errors import ArgumentError
from kinetree.formats import save
from kinetree.joints import (
    Continuous,
    Cylindrical,
    FreeFlyer,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from kinetree.model import JointLimits, Model
from kinetree.spatial import Transform
from robots import erd_sdf, erd_urdfs

HERE = Path(__file__).parent
DRAKE = json.loads((HERE / "sdf_drake.json").read_text())
TILTED = (0.6, -0.3, 0.7)
PLACED = Transform.placed(random_placement(np.random.default_rng(0))[:3, :3].tolist(), (0.1, -0.2, 0.3))
EARTH = (0.0, 0.0, -9.81)

each_format = pytest.mark.parametrize("format", save.WRITERS)
each_text_format = pytest.mark.parametrize("format", ["urdf", "sdf"])


def quietly(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.FormatWarning)
        return call(*args, **options)


def written(robot: Any, format: str, path: Any = None, **options: Any) -> str:
    return str(quietly(getattr(robot, f"to_{format}"), path, **options))


def assert_same_dynamics(ours: Model, theirs: Model, tolerance: float = 1e-12) -> None:
    """Compare M and inverse dynamics in a random state, joints by their names."""
    q, v, a = kt.Robot(ours).random_state(3)
    other = {body.joint_name: body for body in theirs.bodies}
    of_q, of_v = np.empty(ours.nq, dtype=int), np.empty(ours.nv, dtype=int)
    for body in ours.leading:
        of_q[list(body.q_index)] = other[body.joint_name].q_index
        of_v[list(body.v_index)] = other[body.joint_name].v_index

    def there(x: Any, index: Any) -> list[float]:
        found = np.empty(len(x))
        found[index] = x
        return [*map(float, found)]

    p = there(q, of_q)
    for one, two in (
        (np.array(crba(ours, [*q])), np.array(crba(theirs, p))[np.ix_(of_v, of_v)]),
        (
            np.array(rnea(ours, [*q], [*v], [*a])),
            np.array(rnea(theirs, p, there(v, of_v), there(a, of_v)))[of_v],
        ),
    ):
        np.testing.assert_allclose(two, one, rtol=0, atol=tolerance * abs(one).max())


# -- the contract of all writers -----------------------------------------------------------------------------------


def plain() -> kt.Robot:
    """Return a robot that every format has."""
    limits = {"limits": JointLimits(-1.0, 2.0), "damping": 0.5, "friction": 0.25}
    joints = [("a base one", Revolute(TILTED), limits), ("b one two", Prismatic((0, 1, 0)), {"placement": at(0.5)})]
    return kt.Robot(toy(*joints, frames=[("tip two", PLACED)], base_pose=at(0.0, 0.0, 1.0)))


@each_format
def test_a_method_and_a_row_for_each_format(format: str, tmp_path: Path) -> None:
    robot, writer = plain(), save.WRITERS[format]
    text = getattr(robot, f"to_{format}")()
    assert text.endswith("\n")
    path = tmp_path / f"robot{writer.endings[0]}"
    assert getattr(robot, f"to_{format}")(path) == text
    assert path.read_text() == text
    assert [*tmp_path.iterdir()] == [path]
    for ending in writer.endings:
        assert save.format_of(f"a.b/C{ending.upper()}") == format
    with pytest.raises(kt.ArgumentError, match=r"path is where the file is written.*original="):
        getattr(robot, f"to_{format}")(text)
    with pytest.raises(kt.ArgumentError, match="path is where the file is written"):
        getattr(robot, f"to_{format}")(3)
    with pytest.raises(kt.ArgumentError, match="there is no directory"):
        getattr(robot, f"to_{format}")(tmp_path / "no" / path.name)


@each_format
def test_saved_and_loaded_it_is_the_same(format: str, tmp_path: Path) -> None:
    robot = plain()
    path = tmp_path / f"robot{save.WRITERS[format].endings[0]}"
    written(robot, format, path)
    again = quietly(kt.load, path)
    assert again.name == robot.name
    assert_same_dynamics(robot.model, again.model)
    assert {*robot.frame_names} <= {*again.frame_names}
    for name in robot.frame_names:
        poses = (pose(model, np.array([0.3, 0.2]), name) for model in (robot.model, again.model))
        np.testing.assert_allclose(*poses, atol=1e-14, err_msg=name)
    for body in robot.model.bodies:
        other = again.model.bodies[again.model.body_of_joint(body.joint_name)]
        assert (other.damping, other.friction, other.limits) == (body.damping, body.friction, body.limits)
    once_more = written(again, format)
    assert_same_dynamics(robot.model, quietly(kt.load, once_more).model)


def test_a_writer_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def write(robot: save.Export, losses: save.Losses) -> str:
        losses.note("all but its name: {}", robot.model.frame_names)
        losses.note("robots: {}", [robot.model.name], "they are listed")
        return f"{robot.model.name}\n"

    monkeypatch.setitem(save.WRITERS, "list", save.Writer("LIST", (".txt",), write))
    assert save.format_of("robots.txt") == "list"
    from kinetree.robot import export

    with pytest.raises(kt.ModelError, match=r"LIST has no place for this robot: robots: toy .lenient=True: they"):
        export.save(plain(), tmp_path / "a.txt")
    with pytest.warns(kt.FormatWarning, match=r"left out of the LIST: robots: toy .*; all but its name: base, one,"):
        assert export.save(plain(), tmp_path / "a.txt", lenient=True) == "toy\n"


def test_the_ending_says_the_format() -> None:
    with pytest.raises(kt.FormatError, match=r"'robot.dae': .* one of .urdf \(URDF\), .sdf \(SDF\), .xml \(MJCF\)"):
        save.format_of("robot.dae")


@each_format
@pytest.mark.parametrize("name", ["a\0b", "\x1b[1m", "\ufffe"])
def test_names_that_no_file_can_have(format: str, name: str) -> None:
    robot = kt.Robot(toy((f"j base {name}", Revolute())))
    with pytest.raises(kt.ModelError, match=r"holds the character|not well-formed|invalid"):
        written(robot, format)


@each_format
def test_names_with_letters_that_mean_something(format: str) -> None:
    robot = kt.Robot(toy(("{j} <base> {}", Revolute()), name="{} & <'\">{0}", gravity=(0.0, 0.0, 1.0)))
    again = quietly(kt.load, written(robot, format))
    assert (again.name, again.joint_names) == (robot.name, robot.joint_names)


@each_text_format
def test_what_no_file_has(format: str) -> None:
    robot = plain().with_configuration("home", [0.1, 0.2]).with_gravity((1.0, 2.0, 3.0)).with_friction()
    robot = kt.Robot(robot.model, robot.configurations, actuators=[kt.Actuator("motor", "a")])
    with pytest.warns(kt.FormatWarning) as caught:
        getattr(robot, f"to_{format}")()
    for said in ("gravity (1.0, 2.0, 3.0) (load the file with gravity=)", "whether friction counts"):
        assert said in str(caught[0].message)
    assert "named configurations: home; actuators: motor" in str(caught[0].message)


RAIL = toy(("a base one", Revolute(), {"armature": 0.5}), ("b one two", Prismatic(), {"stiffness": 2.0}))
UNEVEN = kt.Robot(toy(("a base one", Spherical()))).with_joint_physics(
    damping=[1.0, 2.0, 3.0], friction=[0.0, 0.1, 0.0]
)


@pytest.mark.parametrize(
    ("model", "said", "formats"),
    [
        (RAIL, "armature: that of a .lenient=True: there is none", ["urdf", "sdf"]),
        (RAIL, "springs: those of b .lenient=True: there are none", ["urdf"]),
        (UNEVEN.model, "in each direction: those of a .lenient=True: those of the first", ["sdf"]),
        (UNEVEN.model, "of other directions than the first: a .lenient=True: the first counts", ["mjcf"]),
    ],
)
def test_what_a_format_has_not_and_the_robot_moves_by_is_an_error(model: Model, said: str, formats: list[str]) -> None:
    for format in formats:
        with pytest.raises(kt.ModelError, match=f"{format.upper()} has no place for this robot: .*{said}"):
            getattr(kt.Robot(model), f"to_{format}")()
        with pytest.warns(kt.FormatWarning, match=f"left out of the {format.upper()}: .*{said.split(' .len')[0]}"):
            kt.load(getattr(kt.Robot(model), f"to_{format}")(lenient=True))


# -- SDF -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", few(erd_urdfs(), 12), ids=lambda p: p.name)
@each_text_format
def test_real_robots(path: Path, format: str) -> None:
    try:
        robot = quietly(kt.load, path)
    except kt.FormatError:
        return  # two files are broken
    if robot.nv:
        assert_same_dynamics(robot.model, quietly(kt.load, written(robot, format)).model)


@pytest.mark.parametrize("name", DRAKE)
def test_what_drake_says_of_a_file_holds_of_what_is_written(name: str) -> None:
    """The poses, mass matrix and gravity forces that were recorded of the files themselves."""
    source = HERE / name if (HERE / name).exists() else erd_sdf(name)
    mech = quietly(kt.load_mechanism, source, floating_base=False) if source.parent != HERE else None
    robot = mech.tree if mech else quietly(kt.load, source, floating_base=False)
    model = quietly(kt.load, written(robot, "sdf")).model
    bodies = {body.joint_name: body for body in model.bodies}
    q = [x for body in model.leading for x in body.joint.neutral()]
    for k, joint in enumerate(DRAKE[name]["joints"]):
        q[bodies[joint].q_index[0]] = 0.1 * (k + 1)
    for frame, expected in DRAKE[name]["poses"].items():
        np.testing.assert_allclose(pose(model, np.array(q), frame)[:3], expected, rtol=0, atol=2e-13, err_msg=frame)
    where = [bodies[joint].v_index[0] for joint in DRAKE[name]["joints"]]
    M = np.array(crba(model, q), dtype=float)[np.ix_(where, where)]
    np.testing.assert_allclose(M, DRAKE[name]["M"], rtol=0, atol=2e-13)


KINDS: list[Joint] = [
    Revolute(TILTED),
    Prismatic(TILTED),
    Continuous(TILTED),
    Spherical(),
    Universal(TILTED, (0, 0, 1)),
]
KINDS += [Helical(TILTED, -0.2)]


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_as_sdf(seed: int) -> None:
    robot = kt.Robot(random_tree(seed, 7, KINDS, armature=False, gravity=EARTH))
    again = kt.load(robot.to_sdf())
    assert_same_dynamics(robot.model, again.model)
    assert again.joint_names == robot.joint_names
    q, _, _ = robot.random_state(seed)
    for name in robot.frame_names:
        np.testing.assert_allclose(*(pose(r.model, q, name) for r in (robot, again)), atol=1e-13, err_msg=name)


def test_what_joints_of_sdf_have() -> None:
    spring = {"stiffness": 3.0, "rest_position": 0.4, "damping": 0.3, "friction": 0.2}
    off = {"placement": PLACED, "child_placement": PLACED}
    joints: list[Any] = [("a base one", Revolute(TILTED), spring | {"limits": JointLimits(-1.0, 2.0, 3.0, 7.0)} | off)]
    joints += [("b one two", Prismatic(TILTED), spring | {"mimic": ("a", -2.0, 0.1), "limits": JointLimits(-9.0)})]
    joints += [("ball two three", Spherical(), {"damping": 0.5}), ("rail three four", Universal(), {"friction": 0.1})]
    robot = kt.Robot(toy(*joints, floating_base=True))
    again = kt.load(robot.to_sdf())
    assert again.joint_names == ("root_joint", "a", "ball", "rail")
    assert_same_dynamics(robot.model, again.model)
    for name in ("damping", "friction", "stiffness", "rest_positions", "lower_limits", "upper_limits", "effort_limits"):
        np.testing.assert_allclose(getattr(again, name), getattr(robot, name), rtol=1e-14, err_msg=name)


@pytest.mark.parametrize("joint", [Planar(), Cylindrical()])
def test_joints_that_sdf_has_not(joint: Joint) -> None:
    with pytest.raises(kt.ModelError, match=f"joint 'j' is a {type(joint).__name__}: SDF has ball, fixed"):
        kt.Robot(toy(("j base link", joint))).to_sdf()
    free = toy(("a base one", Revolute()), ("free one two", FreeFlyer()))
    with pytest.raises(kt.ModelError, match="joint 'free' is a FreeFlyer: SDF has"):
        kt.Robot(free).to_sdf(lenient=True)


def test_names_that_sdf_wants_once() -> None:
    """Links, joints and frames share their names there: libsdformat refuses a document with one of them twice."""
    joints = [("a world one", Revolute()), ("one one two", Revolute())]
    on_world = (shapes.Geometry("world", shapes.Sphere(1.0)),)
    robot = kt.Robot(toy(*joints, frames=[("a two", PLACED)]), geometry=shapes.Geometries(on_world))
    with pytest.warns(kt.FormatWarning, match="joints have too, so that they get an underscore: one, a"):
        text = robot.to_sdf()
    named = [element.get("name") for element in ET.fromstring(text)[0] if element.get("name")]
    assert len({*named}) == len(named) == 7
    again = kt.load(text)
    assert_same_dynamics(robot.model, again.model)
    assert again.visual_geometry[0].link == "world_"
    for name in ("one", "a"):
        np.testing.assert_allclose(
            *(pose(m, np.array([0.3, 0.2]), n) for m, n in ((robot.model, name), (again.model, f"{name}_")))
        )


# -- loops ---------------------------------------------------------------------------------------------------------


def closed_at_zero(joint: Joint) -> kt.Mechanism:
    """Return two links on the ground that are joined at their tips, while all joints are at zero."""
    joints = [(f"j{k} ground l{k}", Revolute((0, 1, 0)), {"placement": at(float(k))}) for k in range(2)]
    joints += [("j2 l1 l2", Revolute((0, 1, 0)), {"placement": at(0.0, 0.0, 1.0)})]
    model = toy(*joints, frames=[("tip l0", at(1.0, 0.0, 2.0)), ("end l2", at(0.0, 0.0, 1.0))])
    return kt.Mechanism(kt.Robot(model), [kt.Loop("tip", "end", joint, name="closing")])


@pytest.mark.parametrize("joint", [Spherical(), Revolute((0, 1, 0)), Prismatic((0, 0, 1))])
def test_loops_in_sdf(joint: Joint) -> None:
    mech = closed_at_zero(joint)
    again = kt.load_mechanism(mech.to_sdf(), cut="closing")
    assert again.constraint_names == ("closing",)
    rng = np.random.default_rng(0)
    q, f = rng.normal(size=3), rng.normal(size=mech.nrows)
    ours, theirs = (m.constraint_jacobian(q).T for m in (mech, again))
    assert np.linalg.matrix_rank(np.hstack([ours, theirs]), tol=1e-9) == np.linalg.matrix_rank(ours, tol=1e-9)
    assert theirs.shape == ours.shape
    assert f.size == again.nrows


@each_text_format
def test_loops_that_a_format_has_not(format: str) -> None:
    mech = four_bar().mech  # open at zero
    said = {"urdf": "closed loops: ", "sdf": "loops that are open at zero, .*: "}[format]
    with pytest.raises(kt.ModelError, match=f"{said}loop_coupler_tip_rocker_tip .lenient=True: they stay open"):
        getattr(mech, f"to_{format}")()
    with pytest.warns(kt.FormatWarning, match=said):
        again = kt.load(getattr(mech, f"to_{format}")(lenient=True))
    assert_same_dynamics(mech.tree.model, again.model)
    odd = kt.Mechanism(mech.tree, [kt.Gear({"motor": 1, "elbow": 2}), kt.Rod("coupler_tip", "rocker_tip", 1.0)])
    with pytest.raises(kt.ModelError, match=r"gears: gear_motor_elbow .*; constraints: rod_coupler"):
        getattr(odd, f"to_{format}")()


# -- shapes --------------------------------------------------------------------------------------------------------

BOX, BALL = shapes.Box((1.0, 2.0, 3.0)), shapes.Sphere(0.5)
ROUND = [shapes.Cylinder(0.1, 0.2), shapes.Capsule(0.1, 0.3), shapes.Mesh("package://arm/a.stl", (1.0, -1.0, 2.0))]
CORNER = shapes.Triangles(np.eye(3), np.array([[0, 1, 2]]))
HILLS = shapes.HeightField((1.0, 1.0), ((0.0, 1.0), (1.0, 0.0)))


def with_shapes(*found: shapes.Shape, **more: Any) -> kt.Robot:
    placed = [PLACED @ Transform.translation([float(k), 0.0, 0.0]) for k in range(len(found))]
    seen = [
        shapes.Geometry("tip", s, X, f"v{k}", (0.1, 0.2, 0.3, 0.5))
        for k, (s, X) in enumerate(zip(found, placed, strict=True))
    ]
    touch = [shapes.Geometry("one", s, X, f"c{k}", **more) for k, (s, X) in enumerate(zip(found, placed, strict=True))]
    return kt.Robot(plain().model, geometry=shapes.Geometries(tuple(seen), tuple(touch)))


def in_world(robot: kt.Robot, geometry: shapes.Geometry) -> Any:
    return pose(robot.model, np.array([0.3, 0.2]), geometry.link) @ np.array(geometry.placement.placement)


@pytest.mark.parametrize(
    ("format", "found"),
    [
        ("urdf", [BOX, BALL, *ROUND]),
        ("sdf", [BOX, BALL, shapes.Ellipsoid((0.1, 0.2, 0.3)), shapes.Plane((2.0, 3.0)), *ROUND]),
    ],
)
def test_shapes_are_read_again(format: str, found: list[shapes.Shape]) -> None:
    more = {"friction": (0.7,), "contype": 3, "conaffinity": 5} if format == "sdf" else {}
    robot = with_shapes(*found, **more)
    again = kt.load(written(robot, format))
    for ours, theirs in (
        (robot.visual_geometry, again.visual_geometry),
        (robot.collision_geometry, again.collision_geometry),
    ):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            flat = isinstance(a.shape, shapes.Plane) and ours is robot.collision_geometry
            assert b.shape == (shapes.Plane() if flat else a.shape)
            assert (b.name, b.color, b.friction) == (a.name, a.color, a.friction)
            assert (b.contype, b.conaffinity) == (a.contype, a.conaffinity)
            np.testing.assert_allclose(in_world(again, b), in_world(robot, a), atol=1e-14)


def test_meshes_are_named_by_the_addresses_of_their_files(tmp_path: Path) -> None:
    path = tmp_path / "a b.stl"
    path.write_text("")
    robot = with_shapes(shapes.Mesh(str(path)))
    for format in ("urdf", "sdf"):
        text = written(robot, format)
        assert f"file://{tmp_path}/a%20b.stl" in text
        assert kt.load(text).visual_geometry[0].shape == shapes.Mesh(str(path))


@pytest.mark.parametrize(
    ("format", "found", "said"),
    [
        (
            "urdf",
            [HILLS, CORNER, shapes.Plane(), shapes.Ellipsoid((1, 2, 3))],
            "HeightField, Triangles, Plane, Ellipsoid",
        ),
        ("sdf", [HILLS, CORNER], "HeightField, Triangles"),
    ],
)
def test_shapes_that_a_format_has_not(format: str, found: list[shapes.Shape], said: str) -> None:
    named = ", ".join(f"the {kind} of {link}" for link in ("tip", "one") for kind in said.split(", "))
    with pytest.warns(kt.FormatWarning, match=f"shapes: {named}"):
        text = getattr(with_shapes(*found), f"to_{format}")()
    assert "geometry" not in text


def test_what_contacts_of_urdf_have_not() -> None:
    with pytest.warns(kt.FormatWarning, match="friction of shapes, and which may touch: those of one"):
        with_shapes(BOX, friction=(0.5,)).to_urdf()


def test_yourdfpy_reads_the_same_shapes(tmp_path: Path) -> None:
    yourdfpy = pytest.importorskip("yourdfpy")
    robot = with_shapes(BOX, BALL, shapes.Cylinder(0.1, 0.2))
    robot.to_urdf(tmp_path / "arm.urdf")
    theirs = yourdfpy.URDF.load(str(tmp_path / "arm.urdf"), load_meshes=False, build_scene_graph=False).link_map
    for role in ("visual", "collision"):
        for geometry in getattr(robot.geometry, role):
            (found,) = (x for x in getattr(theirs[geometry.link], f"{role}s") if x.name == geometry.name)
            np.testing.assert_allclose(found.origin, np.array(geometry.placement.placement), atol=1e-14)
    box, ball, cylinder = (visual.geometry for visual in theirs["tip"].visuals)
    assert (tuple(box.box.size), ball.sphere.radius, cylinder.cylinder.radius, cylinder.cylinder.length) == (
        (1.0, 2.0, 3.0), 0.5, 0.1, 0.2,
    )  # fmt: skip


@pytest.mark.parametrize("format", ["urdf", "sdf"])
def test_the_floor_under_a_robot_that_floats_is_left_out(format: str) -> None:
    robot = kt.load(
        "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><site name='mark' pos='1 0 0'/>"
        "<body name='ball'><freejoint/><geom type='sphere' size='0.1'/></body></worldbody></mujoco>"
    )
    with pytest.warns(kt.FormatWarning, match="what stands in the world beside a robot that floats: mark, world"):
        text = getattr(robot, f"to_{format}")()
    again = kt.load(text, floating_base=True)
    assert again.frame_names == ("ball",)
    assert [type(g.shape) for g in again.collision_geometry] == [shapes.Sphere]
    q, v, a = robot.random_state(seed=0)
    assert np.allclose(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("method", "path", "told"),
    [
        ("to_urdf", "ur5", "cannot tell the format"),  # an embedded robot, which is none to write over
        ("to_mjcf", "ur5.urdf", "cannot tell the format"),
        ("to_sdf", "gone/ur5.sdf", "there is no directory"),
        ("to_mjcf", "~/ur5.xml", "there is no directory '~'"),
        ("to_urdf", "", "is a directory"),
        ("to_sdf", ".", "is a directory"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"original": "ur5"}])
def test_paths_that_hold_no_document_are_refused(tmp_path, monkeypatch, method, path, told, more):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=told):
        getattr(kt.load("ur5"), method)(path, **(more if method == "to_urdf" else {}))
    assert not [*tmp_path.iterdir()]


def test_an_original_does_not_excuse_a_path_that_is_none():
    with pytest.raises(ArgumentError, match="path is where the file is written"):
        kt.load("ur5").to_urdf(5, original="ur5")  # type: ignore[arg-type]
