"""Triangles of shapes: sizes and volumes beside formulas, what files may hold, and what they may not."""

import importlib.util
import math
import struct

import numpy as np
import pytest
import trimesh

from kinetree.errors import ArgumentError, FormatError, FormatWarning
from kinetree.geometry import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HeightField,
    Mesh,
    Plane,
    Shape,
    Sphere,
    Triangles,
)
from kinetree.geometry import meshes as module
from kinetree.geometry.meshes import MAKERS, meshes_of
from kinetree.spatial import Transform

CUBE = trimesh.creation.box((1.0, 2.0, 3.0))
RAMP = HeightField((2.0, 4.0), ((0.0, 1.0, 2.0), (0.0, 1.0, 2.0)))
SHAPES = [  # a shape, its size, its volume
    (Box((1, 2, 3)), (1, 2, 3), 6),
    (Sphere(2), (4, 4, 4), 32 / 3 * math.pi),
    (Ellipsoid((1, 2, 3)), (2, 4, 6), 8 * math.pi),
    (Cylinder(1, 2), (2, 2, 2), 2 * math.pi),
    (Capsule(1, 2), (2, 2, 4), 10 / 3 * math.pi),
    (Plane((1, 2)), (1, 2, 0), None),
    (Plane(), (20, 20, 0), None),
    (Triangles(CUBE.vertices, CUBE.faces), (1, 2, 3), 6),
    (RAMP, (2, 4, 2), None),
]


@pytest.mark.parametrize(("shape", "size", "volume"), SHAPES, ids=lambda x: type(x).__name__)
def test_shapes_have_their_size_and_volume(shape, size, volume):
    (mesh,) = meshes_of(shape)
    np.testing.assert_allclose(mesh.extents, size, atol=1e-12)
    if volume is not None:
        assert mesh.volume == pytest.approx(volume, rel=0.015, abs=1e-12)
        middle = mesh.bounds.mean(axis=0)
        np.testing.assert_allclose(middle, 0.0, atol=1e-12)


def test_every_shape_has_its_triangles():
    assert {*MAKERS} == {*Shape.__subclasses__()}
    assert {type(shape) for shape, *_ in SHAPES} == {*MAKERS} - {Mesh}


def test_a_height_field_goes_up_along_x():
    (mesh,) = meshes_of(RAMP)
    np.testing.assert_allclose(mesh.vertices[:, 2], mesh.vertices[:, 0] + 1.0)
    assert (mesh.face_normals[:, 2] > 0.0).all()


@pytest.mark.parametrize("scale", [(1, 1, 1), (0.001, 0.001, 0.001), (1, -1, 1), (-2, -1, -1), (2, 3, -4)])
@pytest.mark.parametrize("suffix", ["stl", "obj", "dae"])
def test_files_are_scaled_and_mirrors_are_turned(tmp_path, suffix, scale):
    CUBE.export(path := tmp_path / f"cube.{suffix}")
    (mesh,) = meshes_of(Mesh(str(path), scale))
    np.testing.assert_allclose(mesh.extents, np.abs(scale) * [1, 2, 3], rtol=1e-6)
    assert mesh.volume == pytest.approx(6.0 * abs(math.prod(scale)), rel=1e-6)


def test_a_dae_has_its_unit_and_its_colours(tmp_path):
    text = CUBE.copy()
    text.visual = module.painted((1.0, 0.0, 0.0, 1.0))
    data = text.export(file_type="dae").decode()
    path = tmp_path / "cube.dae"
    path.write_text(data.replace("</asset>", '<unit name="millimetre" meter="0.001"/></asset>'))
    (mesh,) = meshes_of(Geometry("hand", Mesh(str(path)), color=(0.0, 1.0, 0.0, 1.0)))
    np.testing.assert_allclose(mesh.extents, [0.001, 0.002, 0.003])
    assert mesh.visual.material.main_color.tolist() == [255, 0, 0, 255]  # the file's own


TEXTURED = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>
  <library_images><image id="wood"><init_from>wood.jpg</init_from></image></library_images>
  <library_effects><effect id="e"><profile_COMMON>
    <newparam sid="s"><surface type="2D"><init_from>{image}</init_from></surface></newparam>
    <newparam sid="t"><sampler2D><source>{surface}</source></sampler2D></newparam>
    <technique><lambert><diffuse><texture texture="{sampler}" texcoord="UV"/></diffuse></lambert></technique>
  </profile_COMMON></effect></library_effects>
  <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 2 0</float_array><technique_common>
      <accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
        <param name="Z" type="float"/></accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    <triangles count="1" material="m"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="w"><node><instance_geometry url="#g"><bind_material><technique_common>
    <instance_material symbol="m" target="#m"/></technique_common></bind_material></instance_geometry></node>
  </visual_scene></library_visual_scenes><scene><instance_visual_scene url="#w"/></scene></COLLADA>"""
REFERENCES = {"image": "wood", "surface": "s", "sampler": "t"}


@pytest.mark.parametrize("lost", [{}, {"image": "steel"}, {"surface": "steel"}, {"sampler": "steel"}])
def test_a_dae_whose_texture_is_missing_has_its_triangles(tmp_path, lost):
    """The file of the texture, its image, its surface, its sampler."""
    (tmp_path / "a.dae").write_text(TEXTURED.format(**REFERENCES | lost))
    (mesh,) = meshes_of(Mesh(str(tmp_path / "a.dae")))
    np.testing.assert_array_equal(mesh.extents, [1.0, 2.0, 0.0])


@pytest.mark.parametrize("suffix", ["obj", "dae"])
def test_normals_of_a_file_are_kept_where_they_are_smooth(tmp_path, suffix):
    ball, place = trimesh.creation.icosphere(2), Transform.placed([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [1.0, 2.0, 3.0])
    faceted = trimesh.Trimesh(ball.triangles.reshape(-1, 3), np.arange(3 * len(ball.faces)).reshape(-1, 3))
    faceted.unmerge_vertices()
    for mesh, smooth in ((ball, True), (faceted, False)):
        assert mesh.vertex_normals is not None  # so that they are written
        mesh.export(path := tmp_path / f"ball.{suffix}")
        (found,) = meshes_of(Geometry("hand", Mesh(str(path), (1.0, -1.0, 1.0)), place))
        assert ("vertex_normals" in found._cache.cache) == smooth  # what viewers are given
        assert len(found.vertices) == len(ball.vertices)
        np.testing.assert_allclose(found.vertex_normals, found.vertices - [1.0, 2.0, 3.0], atol=0.02)


def test_an_obj_reads_no_other_folder(tmp_path):
    (tmp_path / "red.mtl").write_text("newmtl red\nKd 1 0 0\nmap_Kd /dev/zero\n")
    (tmp_path / "in").mkdir()
    CUBE.export(path := tmp_path / "in" / "cube.obj")
    for library in ("../red.mtl", str(tmp_path / "red.mtl"), "/dev/zero"):
        path.write_text(f"mtllib {library}\nusemtl red\n" + path.read_text())
    (mesh,) = meshes_of(Mesh(str(path)))
    assert mesh.volume == pytest.approx(6.0)
    assert not mesh.visual.defined


def test_normals_that_are_not_finite_stop_nothing(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn nan 0 0\nf 1//1 2//1 3//1\n"
    (tmp_path / "a.obj").write_text(text)
    assert len(meshes_of(Mesh(str(tmp_path / "a.obj")))[0].faces) == 1


def test_a_mesh_without_material_gets_the_colour_and_the_place(tmp_path):
    CUBE.export(path := tmp_path / "cube.stl")
    place = Transform.placed([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [1.0, 0.0, 0.0])
    (mesh,) = meshes_of(Geometry("hand", Mesh(str(path)), place, color=(0.0, 1.0, 0.0, 1.0)))
    np.testing.assert_allclose(mesh.bounds, [[0.0, -0.5, -1.5], [2.0, 0.5, 1.5]], atol=1e-6)
    assert mesh.visual.material.main_color.tolist() == [0, 255, 0, 255]


def binary_stl(triangles, count=None):
    rows = [struct.pack("<12fH", 0, 0, 1, *np.ravel(t), 0) for t in triangles]
    return b"\0" * 80 + struct.pack("<I", len(rows) if count is None else count) + b"".join(rows)


LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><COLLADA>&b;</COLLADA>'
NODES = "".join(
    f'<node id="n{k}">' + "".join(f'<instance_node url="#n{k + 1}"/>' for _ in range(20)) + "</node>" for k in range(20)
)
HOSTILE = {  # what is in the file, and what is said of it
    "empty.stl": (b"", "cannot be read"),
    "none.stl": (binary_stl([]), "0 triangles"),
    "empty.obj": (b"", "cannot be read"),
    "points.obj": (b"v 0 0 0\nv 1 0 0\n", "cannot be read"),
    "text.stl": (b"this is no mesh", "cannot be read"),
    "text.dae": (b"this is no mesh", "cannot be read"),
    "nan.stl": (binary_stl([[(0, 0, 0), (1, 0, 0), (0, math.nan, 0)], *CUBE.triangles]), "not finite"),
    "infinite.obj": (b"v 0 0 0\nv 1 0 0\nv 0 inf 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", "not finite"),
    "short.stl": (binary_stl([[(0, 0, 0), (1, 0, 0), (0, 1, 0)]], 100_000_000), "cannot be read"),
    "laughs.dae": (LAUGHS.encode(), "cannot be read"),
    "nodes.dae": (f'<COLLADA xmlns="http://x">{NODES}</COLLADA>'.encode(), "repeated so often"),
    "robot.step": (b"ISO-10303-21;", "convert it"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_named_with_their_link(tmp_path, name):
    data, said = HOSTILE[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FormatError, match=said) as raised:
        meshes_of(Geometry("forearm", Mesh(str(tmp_path / name))))
    assert "link 'forearm'" in str(raised.value)
    assert name in str(raised.value)


def test_a_missing_file_says_what_to_do():
    with pytest.raises(FormatError, match=r"link 'arm': there is no mesh meshes/a\.stl; packages="):
        meshes_of(Geometry("arm", Mesh("meshes/a.stl")))


def test_a_file_of_too_many_triangles_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "huge.stl"
    with path.open("wb") as file:  # sparse: 5 GB that take no space
        file.write(binary_stl([], 100_000_000))
        file.truncate(84 + 50 * 100_000_000)
    with pytest.raises(FormatError, match=r"huge\.stl cannot be read: it has 100000000 triangles, more than 10000000"):
        meshes_of(Mesh(str(path)))
    path.rename(path := tmp_path / "huge.obj")
    with pytest.raises(FormatError, match="it has 5000 MB"):
        meshes_of(Mesh(str(path)))
    monkeypatch.setattr(module, "MOST_TRIANGLES", 11)
    CUBE.export(path := tmp_path / "cube.obj")
    with pytest.raises(FormatError, match="it has 12 triangles"):
        meshes_of(Mesh(str(path)))


def test_millimetres_are_warned_of(tmp_path):
    trimesh.creation.box((500.0, 20.0, 20.0)).export(path := tmp_path / "arm.stl")
    with pytest.warns(FormatWarning, match=r"link 'arm': .*arm\.stl is 500 m large: if it is in mill"):
        meshes_of(Geometry("arm", Mesh(str(path))))


@pytest.mark.parametrize(("package", "suffix"), [("trimesh", "stl"), ("collada", "dae")])
def test_missing_packages_are_named(monkeypatch, package, suffix):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else find(name, *rest))
    with pytest.raises(ArgumentError, match=rf"{package}: pip install 'kinetree\[mesh\]'"):
        meshes_of(Mesh(f"a.{suffix}"))
