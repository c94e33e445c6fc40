"""What the reader of SDFormat refuses: each message names the file, the line and the element, and says what to do."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest
from mutations import mutant

from kinetree import load, load_mechanism
from kinetree.errors import FormatError, FormatWarning, KinetreeError
from kinetree.formats import load_model, xml

LINKS = "<link name='a'><inertial/></link><link name='b'><inertial/></link>"
JOINT = "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis/></joint>"


def between(parent: str, child: str, name: str = "j") -> str:
    return JOINT.replace("'j'", f"'{name}'").replace(">a<", f">{parent}<").replace(">b<", f">{child}<")


def sdf(body: str, version: str = "1.9") -> str:
    return f"<sdf version='{version}'>\n<model name='m'>\n{body}</model></sdf>"


def changed(old: str, new: str) -> str:
    assert old in LINKS + JOINT
    return sdf((LINKS + JOINT).replace(old, new, 1))


MISTAKES = {
    "no version": ("<sdf/>", "the attribute 'version' is missing"),
    "an old version": (sdf("", "1.4"), "version='1.4': SDFormat 1.5 and later are read"),
    "a new version": (sdf("", "2.0"), "version='2.0'"),
    "no model": ("<sdf version='1.6'/>", "its models are: none"),
    "two models": ("<sdf version='1.6'><model name='x'/><model name='y'/></sdf>", "its models are: x, y"),
    "no links": (sdf(""), "there are no links"),
    "an include": (sdf("<include><uri>x</uri></include>"), "<include> is not followed"),
    "an include in a world": ("<sdf version='1.6'><world><include/></world></sdf>", "lenient=True, it is left out"),
    "a reserved name": (changed("'a'", "'__a__'"), "has a meaning of its own"),
    "the world": (changed("'a'", "'world'"), "has a meaning of its own"),
    "no such parent": (changed("<parent>a", "<parent>x"), "<parent>: parent link: no link 'x'; there are: a, b"),
    "no such child": (changed("<child>b", "<child>x"), "no frame 'x'"),
    "another type": (changed("'revolute'", "'revolut'"), "no type 'revolut', did you mean"),
    "a gearbox": (changed("'revolute'", "'gearbox'"), "a joint of the type 'gearbox' is not read: couple"),
    "a zero axis": (changed("<axis/>", "<axis><xyz>0 0 0</xyz></axis>"), "the axis has no direction"),
    "no pitch": (changed("'revolute'", "'screw'"), "<screw_thread_pitch> is missing"),
    "a misspelt limit": (changed("<axis/>", "<axis><limt/></axis>"), "no element <limt>, did you mean <limit>"),
    "limits": (changed("<axis/>", "<axis><limit><lower>2</lower><upper>1</upper></limit></axis>"), "leave no room"),
    "a huge number": (changed("<inertial/>", "<inertial><mass>1e999</mass></inertial>"), "is too large for a number"),
    "an overflow": (
        changed("<inertial/>", "<inertial><pose>1e200 0 0 0 0 0</pose></inertial>"),
        "the inertia about the link's origin overflows",
    ),
    "inertia of shapes": (changed("<inertial/>", "<inertial auto='true'/>"), "no inertia is made of shapes here"),
    "no gravity": (changed("<inertial/>", "<inertial/><gravity>0</gravity>"), "all links have their weight"),
    "a lost pose": (changed("<inertial/>", "<pose relative_to='x'/>"), "<link name='a'>: no frame 'x'"),
    "an attribute": (changed("<inertial/>", "<pose relativ_to='a'/>"), "no attribute 'relativ_to', did you mean"),
    "a zero quaternion": (
        changed("<inertial/>", "<pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose>"),
        "the quaternion is zero",
    ),
    "a form of rotation": (changed("<inertial/>", "<pose rotation_format='x'>0</pose>"), "rotation_format='x'"),
    "poses in a circle": (
        sdf("<link name='a'><pose relative_to='f'/></link><frame name='f'><pose relative_to='a'/></frame>"),
        "relative_to: the frames 'a', 'f', 'a' follow each other in a circle",
    ),
    "frames in a circle": (
        sdf("<link name='a'/>" + "".join(f"<frame name='{f}' attached_to='{g}'/>" for f, g in ("fg", "gf"))),
        "attached_to: the frames 'f', 'g', 'f' follow each other in a circle",
    ),
    "a placement": (sdf(f"<model name='n' placement_frame='a'>{LINKS}</model>"), "placement_frame is not read"),
    "a static part": (sdf(LINKS + "<model name='n'><static>1</static></model>"), "a model in a model cannot"),
    "an extension": (sdf(LINKS + "<drake:joint xmlns:drake='d'/>"), "this joint is an extension of SDFormat"),
    "two pieces": (sdf(LINKS), "2 links have no parent joint: 'a' (line 3), 'b' (line 3)"),
    "axes of different friction": (
        changed("'revolute'", "'universal'").replace(
            "<axis/>", "<axis/><axis2><dynamics><friction>1</friction></dynamics></axis2>"
        ),
        "the friction of its axes differ, [0.0, 1.0]: a joint has one",
    ),
    "a spring": (
        changed("<axis/>", "<axis><dynamics><spring_stiffness>1</spring_stiffness></dynamics></axis>").replace(
            "revolute", "ball"
        ),
        "only joints with one degree of freedom have springs",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::kinetree.FormatWarning")
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told(mistake: str) -> None:
    text, message = MISTAKES[mistake]
    with pytest.raises(FormatError) as caught:
        load_model(text, floating_base=True)
    assert message in str(caught.value)
    assert str(caught.value).startswith("<string>, line ")


PASSED_OVER = ["limits", "negative damping", "no gravity", "an attribute", "a misspelt limit", "inertia of shapes"]


@pytest.mark.filterwarnings("ignore::kinetree.FormatWarning")
@pytest.mark.parametrize("mistake", PASSED_OVER)
def test_some_faults_may_be_passed_over(mistake: str) -> None:
    text = changed("<axis/>", "<axis><dynamics><damping>-1</damping></dynamics></axis>")
    text = text if mistake == "negative damping" else MISTAKES[mistake][0]
    with pytest.raises(FormatError, match="with lenient=True"):
        load_model(text)
    assert load_model(text, lenient=True).nv == 7


def test_a_robot_that_is_held_does_not_float() -> None:
    held = sdf(LINKS + JOINT + between("world", "a", "k"))
    assert load_model(held).nv == 2
    with pytest.raises(FormatError, match=r"<joint name='k'>: the file holds the robot, by this joint to 'world'"):
        load_model(held, floating_base=True)


def test_entities_and_sizes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = "<!DOCTYPE sdf [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>" + sdf("<link name='&b;'/>")
    with pytest.raises(FormatError, match="document type declaration"):
        load(bomb)
    with pytest.raises(FormatError, match="nested more than 200 deep"):
        load(sdf("<model name='n'>" * 300))
    monkeypatch.setattr(xml, "MAX_BYTES", 1000)
    with pytest.raises(FormatError, match="has more than the"):
        load(sdf(" " * 2000))


@pytest.mark.filterwarnings("ignore::kinetree.FormatWarning")
def test_long_chains_take_no_long_time() -> None:
    n = 2000
    poses = "".join(f"<frame name='f{k}' attached_to='f{k + 1}'/>" for k in range(n))
    links = "".join(f"<link name='l{k}'><pose relative_to='f0'/></link>" for k in range(n))
    joints = "".join(between(f"l{k}", f"l{k + 1}", f"j{k}") for k in range(n - 1))
    last = f"<frame name='f{n}' attached_to='l0'><pose relative_to='__model__'/></frame>"
    start = time.monotonic()
    assert load_model(sdf(poses + last + links + joints)).nv == n + 5
    assert time.monotonic() - start < 20.0  # it takes half a second
    with pytest.raises(FormatError, match="in a circle"):
        load_model(sdf(f"{poses}<frame name='f{n}' attached_to='f0'/>{links}"))


def test_text_in_pieces_is_put_together() -> None:
    text = sdf(LINKS + JOINT).replace("<parent>a", "<parent><!-- the -->\n a<!-- base -->")
    with pytest.warns(FormatWarning, match="without <inertial>"):
        assert load_model(text.replace("<inertial/>", "")).nv == 7


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinetree.formats.FormatWarning")
@pytest.mark.parametrize("read", [load_model, load_mechanism])
def test_broken_files(read) -> None:
    text = (Path(__file__).parent / "everything.sdf").read_text()
    models = 0
    if read is load_mechanism:
        text = text.replace("</model>\n</sdf>", between("base", "nut") + "</model>\n</sdf>")
    for seed in range(400):
        try:
            model = read(mutant(text, seed))
        except KinetreeError:
            continue
        models += 1
        for body in (model if read is load_model else model.tree.model).bodies:
            assert all(map(math.isfinite, body.inertia)), seed
            assert all(math.isfinite(x) for row in body.X_T.placement for x in row), seed
    assert 40 < models < 360, "the mutations must both hit and miss"
