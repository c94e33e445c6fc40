"""Shapes in files: yourdfpy finds the same in real robots; each kind, materials and friction; what is refused."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import yourdfpy
from mutations import mutant

import kinetree as kt
from helpers.sampling import few
from kinetree.errors import ArgumentError, FormatError, FormatWarning
from kinetree.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from robots import erd_sdf, erd_urdfs

BROKEN = ("alex_psyonic_hands.urdf", "ur3.urdf")
"""Files of example-robot-data that do not load."""
REAL = [path for path in erd_urdfs() if path.name not in BROKEN]


def matrix(geometry):
    return np.array(geometry.placement.placement, dtype=float)


def shape_of(theirs, folder):
    if theirs.box is not None:
        return Box(tuple(theirs.box.size))
    if theirs.sphere is not None:
        return Sphere(theirs.sphere.radius)
    if theirs.cylinder is not None:
        return Cylinder(theirs.cylinder.radius, theirs.cylinder.length)
    name, scale = theirs.mesh.filename, theirs.mesh.scale
    found = yourdfpy.urdf.filename_handler_magic(name.replace(":///", "://"), folder)
    path = os.path.realpath(found) if os.path.isfile(found) else name
    return Mesh(path, tuple(float(x) for x in np.broadcast_to(1.0 if scale is None else scale, 3)))


def color_of(theirs, materials):
    if theirs.material is None:
        return None
    color = theirs.material.color
    if color is None and theirs.material.name in materials:
        color = materials[theirs.material.name].color
    return None if color is None else tuple(color.rgba)


@pytest.mark.parametrize("path", few(REAL, 12), ids=lambda path: path.stem)
def test_the_shapes_of_real_robots_are_those_of_yourdfpy(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = kt.load(path).geometry
    theirs = yourdfpy.URDF.load(path, build_scene_graph=False, load_meshes=False).robot
    materials = {m.name: m for m in theirs.materials}
    for link in theirs.links:
        for visual in link.visuals:
            if visual.material is not None and visual.material.color is not None:
                materials.setdefault(visual.material.name, visual.material)
    for kind in ("visual", "collision"):
        expected = [(link.name, shape) for link in theirs.links for shape in getattr(link, f"{kind}s")]
        assert len(expected) == len(getattr(ours, kind))
        for (link, shape), found in zip(expected, getattr(ours, kind), strict=True):
            assert found.link == link
            assert found.name == (shape.name or "")
            own = found.shape
            if isinstance(own, Mesh) and os.path.isfile(own.path):
                own = Mesh(os.path.realpath(own.path), own.scale)
            assert own == shape_of(shape.geometry, path.parent)
            np.testing.assert_allclose(matrix(found), np.eye(4) if shape.origin is None else shape.origin, atol=1e-15)
            if kind == "visual":
                assert found.color == color_of(shape, materials)


URDF = """<robot name="r" xmlns:drake="http://drake.mit.edu">
<material name="blue"><color rgba="0 0 1 0.5"/></material>
<link name="a">
  <visual name="torso"><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry>
    <material name="blue"/></visual>
  <visual><geometry><sphere radius="0.5"/></geometry><material name="own"><color rgba="1 0 0 1"/></material></visual>
  <visual><geometry><cylinder radius="1" length="2"/></geometry><material name=""><color rgba="0 1 0 1"/></material>
    </visual>
  <visual><geometry><capsule radius="1" length="2"/></geometry><material name="own"/></visual>
  <collision><geometry><drake:ellipsoid a="1" b="2" c="3"/></geometry></collision>
  <collision><geometry><mesh filename="package://parts/a.stl" scale="1 -1 0.001"/></geometry></collision>
  <collision><geometry><mesh filename="a%20b.stl" scale="2"/></geometry></collision>
</link>
<gazebo reference="a"><mu1>0.25</mu1></gazebo>
</robot>"""


def test_every_shape_of_a_urdf():
    robot = kt.load(URDF)
    torso, ball, can, pill = robot.visual_geometry
    assert (torso.name, torso.link, torso.shape, torso.color) == ("torso", "a", Box((1, 2, 3)), (0.0, 0.0, 1.0, 0.5))
    np.testing.assert_array_equal(matrix(torso), [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    assert (ball.shape, ball.color) == (Sphere(0.5), (1, 0, 0, 1))
    assert (can.shape, can.color) == (Cylinder(1, 2), (0, 1, 0, 1))
    assert (pill.shape, pill.color) == (Capsule(1, 2), (1, 0, 0, 1))
    shapes = [Ellipsoid((1, 2, 3)), Mesh("package://parts/a.stl", (1, -1, 0.001)), Mesh("a%20b.stl", (2, 2, 2))]
    assert [g.shape for g in robot.collision_geometry] == shapes
    assert {g.friction for g in robot.collision_geometry} == {(0.25,)}
    assert pickle.loads(pickle.dumps(robot)) == robot


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<geometry><sphere radius='-1'/></geometry>", "cannot be negative"),
        ("<geometry><sphere radius='nan'/></geometry>", "a finite number is needed"),
        ("<geometry><sphere/></geometry>", "'radius' is missing"),
        ("<geometry><box size='1 2'/></geometry>", "has 2 numbers, 3 are needed"),
        ("<geometry><box size='1 -2 1'/></geometry>", "lengths cannot be negative"),
        ("<geometry><torus radius='1'/></geometry>", "this shape is not read; those that are: box, sphere"),
        ("<geometry/>", "there is no shape in it"),
        ("", "<geometry> is missing"),
        ("<geometry><mesh filename=''/></geometry>", "'filename' is empty"),
        ("<geometry><mesh filename='a.stl' scale='1 0 1'/></geometry>", "the scale of the mesh is zero"),
        ("<origin xyz='1 2'/><geometry><sphere radius='1'/></geometry>", "3 are needed"),
    ],
)
def test_what_cannot_be_read_is_left_out_with_one_warning_that_has_its_line(inside, said):
    text = f"<robot name='r'><link name='a'>\n<visual>{inside}</visual>\n<visual><geometry><sphere radius='1'/>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # loading says nothing
        robot = kt.load(text + "</geometry></visual></link></robot>")
    with pytest.warns(FormatWarning) as caught:
        assert [g.shape for g in robot.visual_geometry] == [Sphere(1.0)]
    (warning,) = caught
    assert "line 2, <link name='a'> <visual>" in str(warning.message)
    assert said in str(warning.message)


@pytest.mark.parametrize("rgba", ["1 0 0", "255 0 0 1", "red"])
def test_a_colour_that_is_none_leaves_the_shape(rgba):
    material = f"<material name='m'><color rgba='{rgba}'/></material>"
    text = f"<robot name='r'><link name='a'><visual><geometry><sphere radius='1'/></geometry>{material}</visual></link>"
    robot = kt.load(text + "</robot>")
    if rgba == "1 0 0":
        assert robot.visual_geometry[0].color == (1, 0, 0, 1)
        return
    with pytest.warns(FormatWarning, match="rgba"):
        assert robot.visual_geometry[0].color is None


SDF = """<sdf version="1.9"><model name="r"><static>true</static>
<frame name="f"><pose>0 0 1 0 0 0</pose></frame>
<link name="a"><pose>1 0 0 0 0 0</pose>
  <visual name="v1"><pose relative_to="f">0 2 0 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
    <material><diffuse>1 0 0 1</diffuse></material><transparency>0.25</transparency></visual>
  <visual name="v2"><geometry><sphere><radius>1</radius></sphere></geometry></visual>
  <visual name="v3"><geometry><plane><normal>0 1 0</normal><size>2 3</size></plane></geometry></visual>
  <visual name="v4"><geometry><mesh><uri>model://parts/a.obj</uri><scale>1 1 -1</scale></mesh></geometry></visual>
  <collision name="c1"><geometry><cylinder><radius>1</radius><length>2</length></cylinder></geometry>
    <surface><friction><ode><mu>0.7</mu></ode></friction>
    <contact><collide_bitmask>0x06</collide_bitmask><category_bitmask>1</category_bitmask></contact></surface></collision>
  <collision name="c2"><geometry><capsule><radius>1</radius><length>2</length></capsule></geometry></collision>
  <collision name="c3"><geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></collision>
  <collision name="c4"><geometry><plane><normal>0 0 -1</normal><size>2 3</size></plane></geometry></collision>
</link>
<model name="n"><pose>0 0 5 0 0 0</pose><link name="b"><visual name="v"><geometry><sphere><radius>2</radius></sphere>
  </geometry></visual></link></model>
</model></sdf>"""


def test_every_shape_of_an_sdf():
    robot = kt.load(SDF)
    box, ball, plane, mesh, nested = robot.visual_geometry
    assert (box.name, box.link, box.shape, box.color) == ("v1", "a", Box((1, 2, 3)), (1, 0, 0, 0.75))
    np.testing.assert_array_equal(matrix(box)[:3, 3], [-1, 2, 1])  # the frame is 1 m above and behind the link
    assert (ball.shape, ball.color) == (Sphere(1), None)
    assert plane.shape == Plane((2, 3))
    np.testing.assert_allclose(matrix(plane)[:3, 2], [0, 1, 0], atol=1e-15)
    assert mesh.shape == Mesh("model://parts/a.obj", (1, 1, -1))
    assert (nested.link, nested.shape) == ("n::b", Sphere(2))
    can, pill, egg, floor = robot.collision_geometry
    assert (can.shape, can.friction, can.contype, can.conaffinity) == (Cylinder(1, 2), (0.7,), 1, 6)
    assert (pill.shape, pill.friction, pill.contype, pill.conaffinity) == (Capsule(1, 2), (), 0xFFFF, 0xFFFF)
    assert (egg.shape, floor.shape) == (Ellipsoid((1, 2, 3)), Plane())
    np.testing.assert_array_equal(matrix(floor)[:3, 2], [0, 0, -1])
    rotations = [matrix(g)[:3, :3] for g in (plane, floor)]
    assert all(np.allclose(R @ R.T, np.eye(3)) and np.isclose(np.linalg.det(R), 1) for R in rotations)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<radius>1</radius></sphere>", "</sphere>", "<radius> is missing"),
        ("<sphere><radius>1</radius></sphere>", "<heightmap><uri>a.png</uri></heightmap>", "this shape is not read"),
        ("0x06", "six", "'six' is not a mask"),
        ('relative_to="f"', 'relative_to="g"', "no frame 'g'"),
        ("0 1 0</normal>", "0 0 0</normal>", "<normal> has no direction"),
        ("1 1 -1</scale></mesh>", "1 1 0</scale></mesh>", "the scale of the mesh is zero"),
        ("<scale>", "<submesh><name>x</name></submesh><scale>", "<submesh> is not read"),
        ("0.25</transparency>", "much</transparency>", "is not a number"),
    ],
)
def test_what_of_an_sdf_cannot_be_read(old, new, said):
    robot = kt.load(SDF.replace(old, new, 1))
    with pytest.warns(FormatWarning, match=said) as caught:
        found = robot.geometry
    assert len(caught) == 1
    assert len(found.visual) + len(found.collision) == 9 - (old != "0.25</transparency>")


def test_a_real_sdf_has_its_meshes():
    path = erd_sdf("cassie_v2.sdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = kt.load_mechanism(path).tree
        shapes = robot.visual_geometry
    assert len(shapes) == path.read_text().count("<visual")
    assert all(g.link in robot.frame_names for g in shapes)


PACKAGE = "<package><name>arm_description</name></package>"
MESH = "<robot name='r'><link name='a'><visual><geometry><mesh filename='{}'/></geometry></visual></link></robot>"


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Packages as workspaces have them, a mesh in each; no environment."""
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH"):
        monkeypatch.delenv(variable, raising=False)
    for folder, name in {
        "src/arm": "arm_description",
        "src/hand_description": "hand_description",
        "ros/stack/tool": None,
        "ros/other/camera_description": "camera_description",
        "install/share/base": "base",
    }.items():
        (tmp_path / folder / "meshes").mkdir(parents=True)
        (tmp_path / folder / "meshes" / "m.stl").write_text("solid\nendsolid\n")
        if name:
            (tmp_path / folder / "package.xml").write_text(PACKAGE.replace("arm_description", name))
    (tmp_path / "src/arm/urdf").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("uri", "where", "environment"),
    [
        ("package://arm_description/meshes/m.stl", "src/arm", {}),  # by the package.xml above
        ("package://arm/meshes/m.stl", "src/arm", {}),  # by the name of a folder above
        ("package://hand_description/meshes/m.stl", "src/hand_description", {}),  # a package beside
        ("model://arm/meshes/m.stl", "src/arm", {}),
        ("package:///arm/meshes/m.stl", "src/arm", {}),
        ("../meshes/m.stl", "src/arm", {}),
        ("file://{root}/src/arm/meshes/m.stl", "src/arm", {}),
        ("{root}/src/arm/meshes/m.stl", "src/arm", {}),
        ("package://tool/meshes/m.stl", "ros/stack/tool", {"ROS_PACKAGE_PATH": "nowhere:{root}/ros/stack"}),
        ("package://tool/meshes/m.stl", "ros/stack/tool", {"ROS_PACKAGE_PATH": "{root}/ros/stack/tool"}),
        ("package://tool/meshes/m.stl", "ros/stack/tool", {"ROS_PACKAGE_PATH": "{root}/ros"}),
        ("package://base/meshes/m.stl", "install/share/base", {"AMENT_PREFIX_PATH": "{root}/install"}),
        ("package://base/meshes/m.stl", None, {}),
        ("package://../meshes/m.stl", None, {}),
        ("package://arm_description/meshes/n.stl", None, {}),
        ("https://example.com/m.stl", None, {}),
        ("package://", None, {}),
    ],
)
def test_where_meshes_are(workspace, monkeypatch, uri, where, environment):
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value.format(root=workspace))
    uri = uri.format(root=workspace)
    path = workspace / "src/arm/urdf/arm.urdf"
    path.write_text(MESH.format(uri))
    monkeypatch.chdir(path.parent)
    robot = kt.load("arm.urdf")
    monkeypatch.chdir("/")  # what a relative path meant is known when the file is read
    assert robot.visual_geometry[0].shape.path == (uri if where is None else str(workspace / where / "meshes/m.stl"))


def test_packages_that_are_named_come_first(workspace):
    path = workspace / "src/arm/urdf/arm.urdf"
    path.write_text(MESH.format("package://arm_description/meshes/m.stl"))
    robot = kt.load(path, packages={"arm_description": workspace / "install/share/base"})
    assert robot.visual_geometry[0].shape.path == str(workspace / "install/share/base/meshes/m.stl")


@pytest.mark.parametrize(
    ("packages", "said"),
    [("arm", "takes a mapping"), ({"arm": 1}, "names and their folders"), ({"arm": "/no/where"}, "there is no folder")],
)
def test_packages_that_are_none(packages, said):
    for load in (kt.load, kt.load_mechanism):
        with pytest.raises(ArgumentError, match=said):
            load(URDF, packages=packages)


def test_a_package_xml_from_a_stranger_is_none(workspace):
    bomb = "<!DOCTYPE p [<!ENTITY a 'x'>]><package><name>&a;</name></package>"
    path = workspace / "src/arm/urdf/arm.urdf"
    for name, text in {"x": bomb, "unclosed": "<package>", "none": "<package/>", "long": PACKAGE + " " * 2**20}.items():
        (workspace / "src/arm/package.xml").write_text(text)
        path.write_text(MESH.format(f"package://{name}/meshes/m.stl"))
        assert kt.load(path).visual_geometry[0].shape.path.startswith("package://")


def test_nothing_of_shapes_is_imported_before_they_are_asked_for():
    code = (
        "import sys, kinetree as kt; robot = kt.load(sys.argv[1]);"
        "names = ('kinetree.geometry', 'kinetree.formats.packages', 'kinetree.formats.urdf.geometry');"
        "assert not any(name in sys.modules for name in names);"
        "robot.geometry; assert all(name in sys.modules for name in names)"
    )
    path = next(path for path in REAL if path.name == "go2.urdf")
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(path)], check=True, cwd=Path(kt.__file__).parents[2]
    )


@pytest.mark.parametrize("chunk", few(range(20), 5))
@pytest.mark.parametrize("text", [URDF, SDF], ids=["urdf", "sdf"])
def test_broken_shapes(text, chunk):
    """Every file that loads has shapes with finite numbers; what is broken is at most warned of."""
    read = 0
    for seed in range(100 * chunk, 100 * chunk + 100):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FormatWarning)
            try:
                robot = kt.load(mutant(text, seed), lenient=seed % 2 == 0)
            except FormatError:
                continue
            shapes = robot.geometry
        for g in (*shapes.visual, *shapes.collision):
            assert g.link in robot.frame_names
            assert np.isfinite(matrix(g)).all()
            sizes = np.hstack([np.ravel(getattr(g.shape, field.name)) for field in fields(g.shape)][-2:])
            assert isinstance(g.shape, Mesh | Plane) or (sizes >= 0).all(), seed
            assert g.color is None or all(0 <= x <= 1 for x in g.color)
            assert all(np.isfinite(g.friction))
        read += 1
    assert 5 < read < 95
