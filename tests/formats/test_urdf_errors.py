"""One bad file a row: each names the file, the line and the element, says what is wrong, and what lenient=True does.

What Pinocchio lets pass is read leniently with a warning, and is its robot.
"""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.errors import FormatError, FormatWarning
from kinetree.formats import load_model

GOOD = """\
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0 0 0.1" rpy="0 0 0"/>
      <mass value="2.5"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <link name="lower"><inertial><origin xyz="0.1 0 0.2"/><mass value="1.5"/>LOWER</inertial></link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1" rpy="0 0 0"/>
    <axis xyz="0 1 0"/>
    <parent link="base"/>
    <child link="upper"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
    <dynamics damping="0.1" friction="0.2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/>
    <child link="lower"/>
    <limit lower="-2" upper="2" effort="20" velocity="3"/>
  </joint>
</robot>
""".replace("LOWER", '<inertia ixx="0.2" ixy="0.02" ixz="0.03" iyy="0.3" iyz="0.01" izz="0.4"/>')

LINK = "<link name='upper'> <inertial>"
MASS, INERTIA, ORIGIN = f"{LINK} <mass>", f"{LINK} <inertia>", f"{LINK} <origin>"
SHOULDER, ELBOW = "<joint name='shoulder'>", "<joint name='elbow'>"
MOMENTS = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/>'
PARENT, FRICTION = '<parent link="upper"/>', '<dynamics damping="0.1" friction="0.2"/>'
HEAVY = f'<inertial><mass value="7"/>{MOMENTS}</inertial>'

# what is replaced, by what, line, element, a part of the reason
BAD = [
    ('"2.5"', '"heavy"', 6, MASS, "'heavy' is not a number"),
    ('"2.5"', '"-2.5"', 6, MASS, "value='-2.5': this number cannot be negative"),
    ('mass value="2.5"', "mass", 6, MASS, "'value' is missing"),
    ('"2.5"', '"${m}"', 6, MASS, "run xacro"),
    ('izz="0.01"', "", 7, INERTIA, "'izz' is missing"),
    ('ixx="0.1"', 'ixx="NaN"', 7, INERTIA, "ixx='NaN'"),
    ('ixy="0"', 'ixy="O"', 7, INERTIA, "ixy='O'"),
    ('"0 0 0.1"', '"0 0"', 5, ORIGIN, "2 numbers"),
    ('"0 0 1"', '"0,0,1"', 12, f"{SHOULDER} <origin>", "1 numbers, 3 are needed"),
    ('0.1" rpy="0 0 0"', '0.1" rpy="0 nan 0"', 5, ORIGIN, "finite number"),
    ('"0 0 1" rpy', '"0 0 1" quat_xyzw="0 0 0 1" rpy', 12, f"{SHOULDER} <origin>", "keep one"),
    ('"0 0 1" rpy="0 0 0"', '"0 0 1" quat_xyzw="0 0 0 0"', 12, f"{SHOULDER} <origin>", "zero"),
    ('"0 1 0"', '"0 0.0 -0"', 13, f"{SHOULDER} <axis>", "no direction"),
    ('"0 1 0"', '"y"', 13, f"{SHOULDER} <axis>", "1 numbers, 3 are needed"),
    ('lower="-1"', 'lower="nan"', 16, f"{SHOULDER} <limit>", "lower='nan'"),
    ('effort="10"', 'effort="-10"', 16, f"{SHOULDER} <limit>", "cannot be negative"),
    ('velocity="2"', 'velocity="-2"', 16, f"{SHOULDER} <limit>", "cannot be negative"),
    ('"0.1" friction', '"low" friction', 17, f"{SHOULDER} <dynamics>", "damping='low'"),
    ('link name="lower"', "link", 10, "<link>", "'name' is missing"),
    ('link name="lower"', 'link name=""', 10, "<link name=''>", "'name' is empty"),
    ('link name="lower"', 'link name="upper"', 10, "<link name='upper'>", "line 3"),
    ('"elbow"', '"shoulder"', 19, SHOULDER, "a second joint of this name, the first is on line 11"),
    ('name="elbow"', "", 19, "<joint>", "'name' is missing"),
    ('"elbow" type="revolute"', '"elbow"', 19, ELBOW, "'type' is missing"),
    ('"elbow" type="revolute"', '"elbow" type="revolut"', 19, ELBOW, "did you mean 'revolute'?"),
    ('"elbow" type="revolute"', '"elbow" type="X"', 19, ELBOW, "fixed, floating, planar"),
    ('"elbow" type="revolute"', '"elbow" type="Revolute"', 19, ELBOW, "did you mean 'revolute'?"),
    ('<axis xyz="0 1 0"/>', "<axis/>", 13, f"{SHOULDER} <axis>", "'xyz' is missing"),
    (PARENT, "", 19, ELBOW, "<parent> is missing"),
    ('<child link="lower"/>', "", 19, ELBOW, "<child> is missing"),
    (PARENT, "<parent/>", 20, f"{ELBOW} <parent>", "'link' is missing"),
    (PARENT, '<parent link="uper"/>', 20, f"{ELBOW} <parent>", "did you mean 'upper'"),
    ('<child link="lower"/>', '<child link="lover"/>', 21, f"{ELBOW} <child>", "did you mean 'lower'"),
    (
        f'{PARENT}\n    <child link="lower"',
        '<parent link="base"/><child link="upper"',
        19,
        ELBOW,
        "child of joint 'sho",
    ),
    ('<child link="lower"/>', '<child link="upper"/>', 19, ELBOW, "same link, 'upper'"),
    ('<parent link="base"/>', '<parent link="lower"/>', 11, SHOULDER, "lower → upper → lower"),
    (
        '<link name="base"/>',
        '<link name="base"/><link name="x"/>',
        1,
        "<robot name='arm'>",
        "'base' (line 2), 'x' (line 2)",
    ),
    ("<robot name", "<!DOCTYPE robot>\n<robot name", 1, "", "document type declaration"),
]
XACRO = "http://www.ros.org/wiki/xacro"
ROOTS = [
    (GOOD.replace("robot", "machine"), "<machine name='arm'>: .*root element <robot>"),
    ("<mujoco/>", "<mujoco>: this is MJCF, which cannot be read yet"),
    (f"<robot xmlns='{XACRO}'/>", "<robot>: <xacro:robot> is xacro, not URDF: run it first"),
    (f"<robot><x:if xmlns:x='{XACRO}'/></robot>", "<if>: <xacro:if> is xacro, not URDF: run it first"),
    ("<robot name='a'><joint name='j' type='fixed'/></robot>", "<robot name='a'>: there are no links"),
]

# the same, and what is done instead
NONE, FIRST, ITSELF = "it is not read", "the first is read", "it moves by itself"
FAULTS = [
    (PARENT, f'{PARENT}<mimic joint="wrist"/>', 19, ELBOW, "mimics: no joint 'wrist'", ITSELF),
    (PARENT, f'{PARENT}<mimic joint="elbow"/>', 19, ELBOW, "mimics itself", ITSELF),
    (
        'lower="-1"',
        'lower="3"',
        16,
        f"{SHOULDER} <limit>",
        "lower limit 3.0 and the upper limit 1.0",
        "neither is read",
    ),
    ('"-1" upper="1"', '"inf" upper="inf"', 16, f"{SHOULDER} <limit>", "no room", "neither is read"),
    (
        '"0 1 0"/>',
        '"0 1 0"/>\n<axis xyz="1 0 0"/>',
        14,
        f"{SHOULDER} <axis>",
        "a second <axis>, the first is on line 13",
        FIRST,
    ),
    ('"2.5"/>', '"2.5"/>\n<mass value="9"/>', 7, MASS, "a second <mass>, the first is on line 6", FIRST),
    (
        '1" rpy="0 0 0"/>\n    <axis',
        '1"/><origin xyz="0 9 0"/><axis',
        12,
        f"{SHOULDER} <origin>",
        "a second <origin>",
        FIRST,
    ),
    (PARENT, f'{PARENT}<parent link="base"/>', 20, f"{ELBOW} <parent>", "a second <parent>", FIRST),
    ("  </link>\n", f"{HEAVY}</link>\n", 9, LINK, "a second <inertial>", FIRST),
    (MOMENTS, "", 4, LINK, "<inertia> is missing", "it is taken as zero"),
    ('<mass value="1.5"/>', "", 10, "<link name='lower'> <inertial>", "<mass> is missing", "has no inertia"),
    (
        FRICTION,
        "<dynamic/>",
        17,
        f"{SHOULDER} <dynamic>",
        "<joint> has no element <dynamic>, did you mean <dynamics>?",
        NONE,
    ),
    (
        '"0.1" friction',
        '"-0.1" friction',
        17,
        f"{SHOULDER} <dynamics>",
        "damping='-0.1': this number cannot be neg",
        "0 is read",
    ),
    ('friction="0.2"', 'friction="-.2"', 17, f"{SHOULDER} <dynamics>", "cannot be negative", "0 is read"),
]
for old, tag, line, path, wrong, right in (
    ('"0 0 1" rpy', "origin", 12, f"{SHOULDER} <origin>", "rgb", None),
    ('"2.5"', "mass", 6, MASS, "vaule", "value"),
    ('izz="0.01"', "inertia", 7, INERTIA, "iz", "izz"),
    ('lower="-1"', "limit", 16, f"{SHOULDER} <limit>", "lowr", "lower"),
    ('damping="0.1"', "dynamics", 17, f"{SHOULDER} <dynamics>", "dampng", "damping"),
    ('xyz="0 0 0.1"', "origin", 5, ORIGIN, "ryp", "rpy"),
    ('axis xyz="0 1 0"', "axis", 13, f"{SHOULDER} <axis>", "xzy", "xyz"),
    ('parent link="base"', "parent", 14, f"{SHOULDER} <parent>", "lnik", "link"),
    ('child link="upper"', "child", 15, f"{SHOULDER} <child>", "lnik", "link"),
):
    reason = f"<{tag}> has no attribute {wrong!r}" + (f", did you mean {right!r}" if right else "")
    new = old.replace(" rpy", ' rgb="1" rpy') if right is None else f'{old} {wrong}="1"'
    FAULTS.append((old, new, line, path, reason, NONE))


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) == 1, "the row must change one place"
    return GOOD.replace(old, new)


@pytest.mark.parametrize(("old", "new", "line", "element", "reason"), BAD)
def test_bad_file(tmp_path, old, new, line, element, reason):
    path = tmp_path / "arm.urdf"
    path.write_text(changed(old, new))
    for options in ({}, {"lenient": True}):
        with pytest.raises(FormatError) as caught:
            load_model(path, **options)
        assert str(caught.value).startswith(f"{path}, line {line}" + (f", {element}: " if element else ": "))
        assert reason in str(caught.value)


@pytest.mark.parametrize(("text", "message"), ROOTS)
def test_other_files(text, message):
    with pytest.raises(FormatError, match=rf"^<string>, line 1, {message}"):
        load_model(text)


@pytest.mark.parametrize(("old", "new", "line", "element", "reason", "instead"), FAULTS)
def test_a_fault_is_an_error_or_a_warning_and_the_robot_is_pinocchios(old, new, line, element, reason, instead):
    text = changed(old, new)
    with pytest.raises(FormatError) as strict:
        kt.load(text)
    place = f"<string>, line {line}, {element}: "
    assert str(strict.value).startswith(place)
    assert reason in str(strict.value)
    assert str(strict.value).endswith(f"(with lenient=True, {instead})") or instead == "has no inertia"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = kt.load(text, lenient=True)
    told = [w for w in caught if w.category is FormatWarning and "no position limits" not in str(w.message)]
    assert [w.filename for w in told] == [__file__]
    assert str(told[0].message).startswith(place)
    assert reason in str(told[0].message)
    assert str(told[0].message).endswith(instead)

    if "inf" in new or "-.2" in new:
        return  # Pinocchio refuses these
    model = pin.buildModelFromXML(text)
    q, v, a = robot.random_state(seed=0)
    expected = pin.rnea(model, model.createData(), q, v, a)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), expected, rtol=1e-12, atol=1e-12)
    if "lower" in new and instead == "neither is read":
        assert (robot.lower_limits[0], robot.upper_limits[0], robot.effort_limits[0]) == (-np.inf, np.inf, 10.0)


def test_circles_of_mimics_are_opened():
    circle = GOOD.replace(FRICTION, '<mimic joint="elbow"/>').replace(PARENT, f'{PARENT}<mimic joint="shoulder"/>')
    with pytest.warns(FormatWarning, match="<joint name='shoulder'>: mimics itself, through elbow"):
        robot = kt.load(circle, lenient=True)
    assert robot.joint_names == ("shoulder",)


def long_chain(n, kind, more=lambda k: ""):
    links = "".join(f"<link name='l{k}'/>" for k in range(n + 1))
    ends = "<parent link='l{}'/><child link='l{}'/>".format
    joints = (f"<joint name='j{k}' type='{kind}'>{ends(k, k + 1)}{more(k)}</joint>" for k in range(n))
    return f"<robot>{links}{''.join(joints)}</robot>"


def test_long_files_take_no_longer_than_their_length_and_no_recursion():
    n = 5_000
    chain = long_chain(n, "fixed")
    assert load_model(chain).nb == 0
    message = r"<joint name='j0'>: the joints 'j0', 'j1', .* more form a cycle \(l0 → l1 → "
    with pytest.raises(FormatError, match=message):
        load_model(chain.replace(f"<child link='l{n}'/>", "<child link='l0'/>"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        pairs = long_chain(n, "continuous", lambda k: f"<mimic joint='j{k ^ 1}'/>")
        assert kt.load(pairs, lenient=True).nv == n // 2


def test_the_joint_types_are_listed_once():
    with pytest.raises(FormatError) as caught:
        load_model(GOOD.replace('"elbow" type="revolute"', '"elbow" type="ball"'))
    assert str(caught.value).count("continuous") == 1


@pytest.mark.parametrize("version", ["2.0", "1", "1.3", "1.0.0", "", "one"])
def test_other_versions(version):
    with pytest.raises(FormatError) as caught:
        load_model(GOOD.replace("<robot", f'<robot version="{version}"'))
    reason = f"version={version!r}: the versions of URDF that are read are 1.0, 1.1, 1.2"
    assert str(caught.value) == f"<string>, line 1, <robot name='arm'>: {reason}"


def test_a_cycle_without_a_root_is_named():
    text = GOOD.replace('  <link name="base"/>\n', "\n").replace('<parent link="base"/>', '<parent link="lower"/>')
    with pytest.raises(FormatError) as caught:
        load_model(text)
    start = "<string>, line 11, <joint name='shoulder'>: the joints 'shoulder', 'elbow' form a cycle"
    assert str(caught.value).startswith(start)


@pytest.mark.parametrize(
    "where", [GOOD.index("<inertial>") + 14, GOOD.index("<axis") + 3, GOOD.index("</joint>"), len(GOOD) - 9]
)
def test_truncated(where):
    with pytest.raises(FormatError, match=r"^<string>, line \d+, column \d+: the file ends"):
        load_model(GOOD[:where])


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"0 0 0.1"', '"0 0 1e200"'),
        ('"0 0 0.1"', '"1e300 1e300 1e300"'),
        ('value="2.5"', 'value="1.7e308"'),
        ('ixx="0.1"', 'ixx="1.7e308"'),
        ('"0 0 1"', '"0 0 1.7e308"'),
    ],
)
def test_numbers_that_overflow_on_the_way_never_become_infinite_silently(old, new, floating):
    tool = """<link name="tool"><inertial><mass value="1.7e308"/><inertia ixx="1.7e308" ixy="0" ixz="0" iyy="1.7e308"
        iyz="0" izz="1.7e308"/></inertial></link><joint name="t" type="fixed"><parent link="upper"/><child link="tool"/>
        <origin xyz="0 0 1.7e308" rpy="0.5 0.5 0.5"/></joint></robot>"""
    with pytest.raises(FormatError, match="overflow"):
        load_model(changed(old, new).replace("</robot>", tool), floating_base=floating)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("axis", "axes"),
        ("axis", "Axis"),
        ("origin", "orgin"),
        ("limit", "limits"),
        ("inertial", "inertal"),
        ("mass", "Mass"),
        ("dynamics", "dynamic"),
        ("mimic", "mimc"),
    ],
)
def test_a_misspelt_element_is_refused(right: str, wrong: str) -> None:
    text = GOOD.replace(PARENT, f'{PARENT}<mimic joint="shoulder"/>').replace("rpy", "rpy", 1)
    misspelt = text.replace(f"</{right}>", f"</{wrong}>").replace(f"<{right} ", f"<{wrong} ")
    with pytest.raises(FormatError, match=f"has no element <{wrong}>, did you mean <{right}>"):
        load_model(misspelt.replace(f"<{right}>", f"<{wrong}>"))
