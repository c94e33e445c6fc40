"""Volumes and inertias of shapes: MuJoCo's compiler and trimesh find the same; what encloses no volume is named."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
import trimesh

import kinetree as kt
from kinetree.errors import ArgumentError, FormatWarning, ModelError
from kinetree.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometries,
    Geometry,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Triangles,
)
from kinetree.spatial import Transform


def solid(seed):
    """Return a closed mesh without symmetries: a star about a place away from the origin."""
    rng = np.random.default_rng(seed)
    mesh = trimesh.creation.icosphere(2)
    mesh.vertices *= rng.uniform(0.5, 1.5, (len(mesh.vertices), 1)) * [0.2, 0.3, 0.1]
    mesh.apply_translation(rng.uniform(-1, 1, 3))
    return mesh


STAR = solid(0)
SOLIDS = {
    Box: (Box((0.2, 0.4, 0.7)), "type='box' size='0.1 0.2 0.35'"),
    Sphere: (Sphere(0.3), "type='sphere' size='0.3'"),
    Ellipsoid: (Ellipsoid((0.1, 0.2, 0.4)), "type='ellipsoid' size='0.1 0.2 0.4'"),
    Cylinder: (Cylinder(0.2, 0.9), "type='cylinder' size='0.2 0.45'"),
    Capsule: (Capsule(0.2, 0.9), "type='capsule' size='0.2 0.45'"),
    Mesh: (Mesh("star.stl"), "type='mesh' mesh='star'"),
    Triangles: (Triangles(STAR.vertices, STAR.faces), "type='mesh' mesh='star'"),
}
"""An example of each shape with a volume, and the same in MJCF."""
SURFACES = (Plane(), HeightField((1.0, 1.0), ((0.0, 1.0), (1.0, 0.0))))


def ten(inertia):
    return np.array([*inertia], dtype=float)


def test_every_shape_has_an_example():
    assert {*Shape.__subclasses__()} == {*SOLIDS, *map(type, SURFACES)}


@pytest.mark.parametrize("kind", SOLIDS, ids=lambda kind: kind.__name__)
def test_the_inertia_is_that_of_mujoco(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    STAR.export("star.stl")
    shape, geom = SOLIDS[kind]
    mjcf = f"""<mujoco><asset><mesh name="star" file="{tmp_path}/star.stl" inertia="exact"/></asset>
      <worldbody><body><freejoint/><geom {geom} density="700" pos="0.1 -0.2 0.3" euler="10 20 30"/></body></worldbody>
      </mujoco>"""
    model = mujoco.MjModel.from_xml_string(mjcf)
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    R = R.reshape(3, 3)
    theirs = kt.Inertia(model.body_mass[1], model.body_ipos[1], R @ np.diag(model.body_inertia[1]) @ R.T)
    at = np.empty(9)
    quaternion = np.empty(4)
    mujoco.mju_euler2Quat(quaternion, np.radians([10.0, 20.0, 30.0]), "xyz")
    mujoco.mju_quat2Mat(at, quaternion)
    placed = Geometry("a", shape, Transform.placed(at.reshape(3, 3).tolist(), (0.1, -0.2, 0.3)))
    tolerance = 1e-6 if kind in (Mesh, Triangles) else 1e-12  # STL and MuJoCo have float32
    np.testing.assert_allclose(ten(placed.inertia(700.0)), ten(theirs), rtol=0, atol=tolerance * theirs.m)


@pytest.mark.parametrize("kind", SOLIDS, ids=lambda kind: kind.__name__)
def test_the_inertia_is_that_of_its_triangles(kind, tmp_path, monkeypatch):
    """Of a fine mesh of the shape, from trimesh; a law for all of them."""
    monkeypatch.chdir(tmp_path)
    STAR.export("star.stl")
    shape = SOLIDS[kind][0]
    fine = {
        Box: lambda s: trimesh.creation.box(s.size),
        Sphere: lambda s: trimesh.creation.icosphere(6, s.radius),
        Ellipsoid: lambda s: trimesh.creation.icosphere(6).apply_scale(s.radii),
        Cylinder: lambda s: trimesh.creation.cylinder(s.radius, s.length, sections=2000),
        Capsule: lambda s: trimesh.creation.capsule(s.length, s.radius, count=[200, 200]),
        Mesh: lambda s: STAR,
        Triangles: lambda s: STAR,
    }[kind](shape)
    fine.density = 3.0
    theirs = kt.Inertia(fine.mass, fine.center_mass, fine.moment_inertia)
    exact = 1e-12 if kind in (Box, Triangles) else 1e-6 if kind is Mesh else 2e-3
    np.testing.assert_allclose(ten(shape.inertia(3.0)), ten(theirs), rtol=0, atol=exact * theirs.m)


@pytest.mark.parametrize("scale", [(2, 3, 4), (-1, 1, 1), (-2, -3, 1), (-1, -1, -1), (0.001, 0.001, 0.001)])
def test_scaled_and_mirrored_meshes(tmp_path, scale):
    path = tmp_path / "star.obj"
    STAR.export(path)
    S = np.diag(np.array(scale, dtype=float))
    factor = abs(np.linalg.det(S))
    plain, scaled = (Mesh(str(path), s).inertia(1.0) for s in ((1.0, 1.0, 1.0), scale))
    assert scaled.m == pytest.approx(factor * plain.m, rel=1e-12)
    np.testing.assert_allclose([*scaled.h], factor * S @ [*plain.h], rtol=1e-12)
    np.testing.assert_allclose(second(scaled), factor * S @ second(plain) @ S, rtol=1e-10)


def second(inertia):
    """Return the integral of x xᵀ over a body."""
    xx, xy, yy, xz, yz, zz = inertia.I
    return (xx + yy + zz) / 2 * np.eye(3) - [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f[1:], "not closed, at 3 edges"),
        (lambda f: f[:, ::-1], "turned inwards: turn them around"),
        (lambda f: np.vstack([f[:1, ::-1], f[1:]]), "some of its triangles are turned inwards"),
        (lambda f: np.vstack([f, f[:1]]), "not closed, at 3 edges"),
    ],
)
def test_what_is_no_solid(tmp_path, change, said):
    faces = change(np.array(STAR.faces))
    with pytest.raises(ModelError, match=said):
        Triangles(STAR.vertices, faces).inertia(1.0)
    trimesh.Trimesh(STAR.vertices, faces, process=False).export(tmp_path / "star.stl")
    with pytest.raises(ModelError, match=rf"star.stl: .*{said}"):
        Mesh(str(tmp_path / "star.stl")).inertia(1.0)


def test_coplanar_points_have_no_volume():
    """Of a sheet with two sides, tilted and far from the origin."""
    points = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 2], [0, 1, 1]]) / 3 + 7.0
    sheet = Triangles(points, np.array([[0, 1, 2], [0, 2, 3], [2, 1, 0], [3, 2, 0]]))
    for flat in (sheet, Triangles(np.ones((3, 3)), np.array([[0, 1, 2]]))):
        with pytest.raises(ModelError, match="in a plane"):
            flat.inertia(1.0)
    plate = trimesh.creation.box([1.0, 1.0, 1e-4])
    assert Triangles(plate.vertices, plate.faces).inertia(1.0).m == pytest.approx(1e-4)


@pytest.mark.parametrize("shape", [*SURFACES, Box((1, 0, 1)), Sphere(0.0)], ids=repr)
def test_surfaces_have_no_volume(shape):
    with pytest.raises(ModelError, match=r"encloses no volume|is zero"):
        shape.inertia(1.0)


def test_triangles_that_share_no_vertices_are_one_surface():
    """As STL has them; and parts that touch at an edge."""
    loose = Triangles(STAR.triangles.reshape(-1, 3), np.arange(3 * len(STAR.faces)).reshape(-1, 3))
    np.testing.assert_allclose(
        ten(loose.inertia(1.0)), ten(Triangles(STAR.vertices, STAR.faces).inertia(1.0)), rtol=1e-9
    )
    rounded = Triangles(
        loose.vertices + np.random.default_rng(0).uniform(-1e-9, 1e-9, loose.vertices.shape), loose.faces
    )
    np.testing.assert_allclose(ten(rounded.inertia(1.0)), ten(loose.inertia(1.0)), rtol=1e-6)
    a, b = trimesh.creation.box([1, 1, 1]), trimesh.creation.box([1, 1, 1])
    b.apply_translation([1, 1, 0])
    both = trimesh.util.concatenate([a, b])
    assert Triangles(both.vertices, both.faces).inertia(1.0).m == pytest.approx(2.0)


URDF = """<robot name="r"><link name="base"><inertial><mass value="2"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="a"><collision><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></collision>
  <visual><geometry><sphere radius="9"/></geometry></visual></link>
<link name="b"><visual><geometry><sphere radius="1"/></geometry></visual></link>
<link name="c">{}</link>
<joint name="ja" type="continuous"><parent link="base"/><child link="a"/></joint>
<joint name="jb" type="fixed"><parent link="a"/><child link="b"/><origin xyz="0 0 -5"/></joint>
<joint name="jc" type="continuous"><parent link="a"/><child link="c"/></joint></robot>"""
CUBE = "<visual><geometry><box size='1 1 1'/></geometry></visual>"


def test_bodies_without_mass_get_one():
    robot = kt.load(URDF.format(CUBE), floating_base=True)
    filled = robot.with_inertia_from_geometry(10.0)
    base, a, c = filled.inertial_parameters.reshape(-1, 10)
    np.testing.assert_array_equal(base, robot.inertial_parameters[:10])
    ball = 40 / 3 * np.pi
    expected = kt.Inertia(60.0, [0, 0, 1], np.diag([65.0, 50.0, 25.0])) + kt.Inertia(
        ball, [0, 0, -5], 0.4 * ball * np.eye(3)
    )
    np.testing.assert_allclose(a, ten(expected), rtol=1e-12, atol=1e-12)  # the box that touches, not the ball seen
    np.testing.assert_allclose(c, ten(Box((1, 1, 1)).inertia(10.0)), rtol=1e-12)
    assert filled.geometry == robot.geometry
    assert filled.with_inertia_from_geometry(99.0) == filled  # all have one


def test_links_by_name():
    robot = kt.load(URDF.format(CUBE), floating_base=True)
    one = robot.with_inertia_from_geometry({"b": 2.0, "c": 1.0})
    assert one.inertial_parameters[[10, 20]] == pytest.approx([8 / 3 * np.pi, 1.0])
    assert one.with_inertia_from_geometry({"c": 4.0}).inertial_parameters[20] == pytest.approx(4.0)  # replaced


def test_what_stays_without_mass_is_named():
    with pytest.warns(FormatWarning, match="still without mass, no shape or density is given for: c$"):
        kt.load(URDF.format(""), floating_base=True).with_inertia_from_geometry()


def test_shapes_without_a_volume_are_named_with_their_links():
    missing = "<visual><geometry><mesh filename='nowhere.stl'/></geometry></visual>"
    robot = kt.load(URDF.format(missing), floating_base=True)
    with pytest.raises(ModelError, match=r"shapes without a volume: link 'c': .*nowhere.stl"):
        robot.with_inertia_from_geometry()
    with pytest.warns(FormatWarning, match="without mass"):
        assert robot.with_inertia_from_geometry({"a": 1.0}).mass == pytest.approx(8.0)
    plane = Geometry("c", Plane())
    robot = kt.Robot(robot.model, geometry=Geometries((plane, plane)))
    with pytest.raises(ModelError, match="link 'c': a plane encloses no volume; link 'c'"):
        robot.with_inertia_from_geometry()


@pytest.mark.parametrize(
    ("density", "said"),
    [
        (0.0, "must be a positive number"),
        (-1.0, "must be a positive number"),
        (float("nan"), "must be a positive number"),
        ({"b": 0.0}, "density of 'b' is 0.0"),
        ({"bb": 1.0}, "density: no link 'bb'"),
        ({"world": 1.0}, "no link 'world'"),
        ({"e": 1.0}, "no link 'e'"),
    ],
)
def test_densities_that_are_none(density, said):
    with pytest.raises(ArgumentError, match=said):
        kt.load(URDF.format(""), floating_base=True).with_inertia_from_geometry(density)
    with pytest.raises(ArgumentError, match="the link 'c' has no shapes"):
        kt.load(URDF.format(""), floating_base=True).with_inertia_from_geometry({"c": 1.0})
    with pytest.raises(ArgumentError, match="the link 'base' does not move"):
        kt.load(URDF.format("")).with_inertia_from_geometry({"base": 1.0})


def test_a_mesh_in_millimetres_is_warned_of(tmp_path):
    path = tmp_path / "big.stl"
    trimesh.creation.box([500.0, 400.0, 300.0]).export(path)
    with pytest.warns(FormatWarning, match=r"big.stl is 500 m large: .* its scale is 0.001"):
        Mesh(str(path)).inertia(1000.0)
    assert Mesh(str(path), (1e-3,) * 3).inertia(1000.0).m == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("given", "same"),
    [
        (lambda: Box([1, 2, np.float64(3)]), Box((1.0, 2.0, 3.0))),
        (lambda: HeightField((1, 1), np.zeros((2, 2))), HeightField((1.0, 1.0), ((0.0, 0.0), (0.0, 0.0)))),
        (lambda: Mesh(Path("a b.stl"), [1, 1, 1]), Mesh("a b.stl")),
        (lambda: Triangles(STAR.vertices.tolist(), STAR.faces.tolist()), Triangles(STAR.vertices, STAR.faces)),
        (lambda: Geometry("a", Box((1, 1, 1)), np.eye(4), color=[1, 0, 0]),
         Geometry("a", Box((1, 1, 1)), color=(1.0, 0.0, 0.0, 1.0))),
    ],
)  # fmt: skip
def test_numbers_of_any_kind_make_one_shape(given, same):
    assert given() == same
    assert hash(given()) == hash(same)


WRONG = {
    r"size of a box has shape \(2,\), \(3,\) is needed": lambda: Box((1.0, 2.0)),
    r"radius of a sphere is -1.0: lengths are finite and not negative": lambda: Sphere(-1.0),
    r"radius of a sphere is inf: lengths are finite": lambda: Sphere(np.inf),
    r"size of a plane is .*nan": lambda: Plane((1.0, np.nan)),
    r"radius of a cylinder has dtype <U1, which is not a real number": lambda: Cylinder("1", 2.0),
    r"a mesh takes a path": lambda: Mesh(None),
    r"scale of a mesh has shape \(1,\)": lambda: Mesh("a.stl", (1.0,)),
    r"scale of a mesh holds .* not finite": lambda: Mesh("a.stl", (1, np.nan, 1)),
    r"3 factors, not 0; 'a.stl', \(1.0, 0.0, 1.0\)": lambda: Mesh("a.stl", (1, 0, 1)),
    r"whole numbers from 0 to 161, those of vertices": lambda: Triangles(STAR.vertices, STAR.faces + 1000),
    r"whole numbers from 0 to 2": lambda: Triangles(np.eye(3), [[0, 1, 1.5]]),
    r"whole numbers from 0 to 1,": lambda: Triangles(np.eye(3)[:2], np.zeros((0, 3), int)),
    r"vertices of triangles holds .* not finite": lambda: Triangles(np.eye(3) * np.nan, [[0, 1, 2]]),
    r"heights of a height field has shape": lambda: HeightField((1.0, 1.0), (1.0, 2.0)),
    r"heights of a height field is not an array": lambda: HeightField((1.0, 1.0), ((1.0, 2.0), (1.0,))),
    r"two rows or more": lambda: HeightField((1.0, 1.0), ((1.0, 2.0),)),
    r"no negative size": lambda: HeightField((1.0, -1.0), ((1.0, 2.0), (1.0, 2.0))),
    r"color of .* has 3 or 4 numbers": lambda: Geometry("a", Box((1, 1, 1)), color=np.ones(5)),
    r"friction up to 3": lambda: Geometry("a", Box((1, 1, 1)), friction=(1, 2, 3, 4)),
    "takes the name of a link": lambda: Geometry("a", "box"),
    "color of a geometry": lambda: Geometry("a", Box((1, 1, 1)), color=(1.0,)),
    "friction of a geometry": lambda: Geometry("a", Box((1, 1, 1)), friction=0.5),
    "whole numbers": lambda: Geometry("a", Box((1, 1, 1)), contype=1.5),
    "4×4": lambda: Geometry("a", Box((1, 1, 1)), np.eye(3)),
    "no link 'nope'": lambda: kt.Robot(
        kt.load("ur5").model, geometry=Geometries((Geometry("nope", Box((1, 1, 1))),), ())
    ),
    "takes kinetree.geometry.Geometries": lambda: kt.Robot(kt.load("ur5").model, geometry=[1]),
}


@pytest.mark.parametrize("told", WRONG)
def test_what_is_no_shape_is_refused_where_it_is_made(told):
    with pytest.raises((ModelError, ArgumentError), match=told):
        WRONG[told]()
