"""One bad file a row: each must name the file, the line and the element, and say what is wrong."""

from __future__ import annotations

import pytest

from kinetree.errors import FormatError
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
  <link name="lower"/>
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
"""

MASS = "<link name='upper'> <inertial> <mass>"
INERTIA = "<link name='upper'> <inertial> <inertia>"
SHOULDER, ELBOW = "<joint name='shoulder'>", "<joint name='elbow'>"

# what is replaced, by what, line, element, a part of the reason
BAD = [
    ('<robot name="arm">', "<machine>", 1, "<machine>", "root element <robot>"),
    ('"2.5"', '"-2.5"', 6, MASS, "value='-2.5': this number cannot be negative"),
    ('"2.5"', '"nan"', 6, MASS, "finite number"),
    ('"2.5"', '"inf"', 6, MASS, "finite number"),
    ('"2.5"', '"1e400"', 6, MASS, "too large"),
    ('"2.5"', '"heavy"', 6, MASS, "'heavy' is not a number"),
    ('"2.5"', '"2,5"', 6, MASS, "decimal sign"),
    ('"2.5"', '"0x2"', 6, MASS, "not a number"),
    ('"2.5"', '"2_5"', 6, MASS, "not a number"),
    ('"2.5"', '""', 6, MASS, "is empty"),
    ('mass value="2.5"', "mass", 6, MASS, "'value' is missing"),
    ('"2.5"', '"${m}"', 6, MASS, "run xacro"),
    ('<mass value="2.5"/>', "", 4, "<link name='upper'> <inertial>", "<mass> is missing"),
    ('"2.5"/>', '"2.5"/>\n<mass value="1"/>', 7, MASS, "a second <mass>, the first is on line 6"),
    ("<inertia ", "<inertness ", 4, "<link name='upper'> <inertial>", "<inertia> is missing"),
    ('izz="0.01"', "", 7, INERTIA, "'izz' is missing"),
    ('ixx="0.1"', 'ixx="NaN"', 7, INERTIA, "ixx='NaN'"),
    ('ixy="0"', 'ixy="O"', 7, INERTIA, "ixy='O'"),
    ('"0 0 0.1"', '"0 0"', 5, "<link name='upper'> <inertial> <origin>", "2 numbers"),
    ('"0 0 1"', '"0,0,1"', 12, f"{SHOULDER} <origin>", "1 numbers, 3 are needed"),
    ('0.1" rpy="0 0 0"', '0.1" rpy="0 nan 0"', 5, "<link name='upper'> <inertial> <origin>", "finite number"),
    ('"0 0 1" rpy', '"0 0 1" quat_xyzw="0 0 0 1" rpy', 12, f"{SHOULDER} <origin>", "keep one"),
    ('"0 0 1" rpy="0 0 0"', '"0 0 1" quat_xyzw="0 0 0 0"', 12, f"{SHOULDER} <origin>", "zero"),
    ('"0 1 0"', '"0 0.0 -0"', 13, f"{SHOULDER} <axis>", "no direction"),
    ('"0 1 0"', '"y"', 13, f"{SHOULDER} <axis>", "1 numbers, 3 are needed"),
    ('lower="-1"', 'lower="nan"', 16, f"{SHOULDER} <limit>", "lower='nan'"),
    ('lower="-1"', 'lower="3"', 16, f"{SHOULDER} <limit>", "lower limit 3.0 and the upper limit 1.0"),
    ('lower="-1" upper="1"', 'lower="inf" upper="inf"', 16, f"{SHOULDER} <limit>", "no room"),
    ('effort="10"', 'effort="-10"', 16, f"{SHOULDER} <limit>", "cannot be negative"),
    ('velocity="2"', 'velocity="-2"', 16, f"{SHOULDER} <limit>", "cannot be negative"),
    ('"0.1" friction', '"low" friction', 17, f"{SHOULDER} <dynamics>", "damping='low'"),
    ('<link name="lower"/>', "<link/>", 10, "<link>", "'name' is missing"),
    ('<link name="lower"/>', '<link name=""/>', 10, "<link name=''>", "'name' is empty"),
    ('<link name="lower"/>', '<link name="upper"/>', 10, "<link name='upper'>", "line 3"),
    ('"elbow"', '"shoulder"', 19, SHOULDER, "a second joint of this name, the first is on line 11"),
    ('name="elbow"', "", 19, "<joint>", "'name' is missing"),
    ('"elbow" type="revolute"', '"elbow"', 19, ELBOW, "'type' is missing"),
    ('"elbow" type="revolute"', '"elbow" type="revolut"', 19, ELBOW, "did you mean 'revolute'?"),
    ('"elbow" type="revolute"', '"elbow" type="X"', 19, ELBOW, "fixed, floating, planar"),
    ('"elbow" type="revolute"', '"elbow" type="Revolute"', 19, ELBOW, "did you mean 'revolute'?"),
    ('"0.1" friction', '"-0.1" friction', 17, f"{SHOULDER} <dynamics>", "damping='-0.1'"),
    ('friction="0.2"', 'friction="-.2"', 17, f"{SHOULDER} <dynamics>", "cannot be negative"),
    ('<axis xyz="0 1 0"/>', "<axis/>", 13, f"{SHOULDER} <axis>", "'xyz' is missing"),
    ('<parent link="upper"/>', "", 19, ELBOW, "<parent> is missing"),
    ('<child link="lower"/>', "", 19, ELBOW, "<child> is missing"),
    ('<parent link="upper"/>', "<parent/>", 20, f"{ELBOW} <parent>", "'link' is missing"),
    ('<parent link="upper"/>', '<parent link="uper"/>', 20, f"{ELBOW} <parent>", "did you mean 'upper'"),
    ('<child link="lower"/>', '<child link="lover"/>', 21, f"{ELBOW} <child>", "did you mean 'lower'"),
    (
        'upper"/>\n    <child link="lower"',
        'base"/>\n    <child link="upper"',
        19,
        ELBOW,
        "child of joint 'shoulder' (line 11)",
    ),
    ('<child link="lower"/>', '<child link="upper"/>', 19, ELBOW, "same link, 'upper'"),
    ('<parent link="base"/>', '<parent link="lower"/>', 11, SHOULDER, "lower → upper → lower"),
    (
        '<link name="lower"/>',
        '<link name="lower"/><link name="lost"/>',
        1,
        "<robot name='arm'>",
        "'base' (line 2), 'lost' (line 10)",
    ),
    (
        '<robot name="arm">',
        '<robot xmlns="http://www.ros.org/wiki/xacro">',
        1,
        "<robot>",
        "<xacro:robot> is xacro, not URDF: run it first",
    ),
    (
        '<link name="lower"/>',
        '<x:if xmlns:x="http://www.ros.org/wiki/xacro" value="1"/>',
        10,
        "<if>",
        "<xacro:if> is xacro, not URDF: run it first",
    ),
]


def test_the_file_is_good_before_anything_is_replaced():
    assert load_model(GOOD).joint_names == ("shoulder", "elbow")


@pytest.mark.parametrize(("old", "new", "line", "element", "reason"), BAD)
def test_bad_file(tmp_path, old, new, line, element, reason):
    assert GOOD.count(old) == 1, "the row must change one place"
    path = tmp_path / "arm.urdf"
    path.write_text(GOOD.replace(old, new).replace("</robot>", "</machine>" if "machine" in new else "</robot>"))
    with pytest.raises(FormatError) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}, {element}: "), message
    assert reason in message


def test_the_joint_types_are_listed_once():
    with pytest.raises(FormatError) as caught:
        load_model(GOOD.replace('"elbow" type="revolute"', '"elbow" type="ball"'))
    assert str(caught.value).count("continuous") == 1


MISSPELT = [
    ('<link name="lower"/>', '<link nmae="lower"/>', 10, "<link>", "link", "nmae", "name"),
    ('"elbow" type', '"elbow" tpye', 19, ELBOW, "joint", "tpye", "type"),
    ('parent link="base"', 'parent lnik="base"', 14, f"{SHOULDER} <parent>", "parent", "lnik", "link"),
    ('child link="upper"', 'child lnik="upper"', 15, f"{SHOULDER} <child>", "child", "lnik", "link"),
    ('xyz="0 0 1"', 'xzy="0 0 1"', 12, f"{SHOULDER} <origin>", "origin", "xzy", "xyz"),
    ('xyz="0 0 0.1" rpy', 'xyz="0 0 0.1" ryp', 5, "<link name='upper'> <inertial> <origin>", "origin", "ryp", "rpy"),
    ('value="2.5"', 'value="2.5" vaule="1"', 6, MASS, "mass", "vaule", "value"),
    ('izz="0.01"', 'izz="0.01" iz="1"', 7, INERTIA, "inertia", "iz", "izz"),
    ('<axis xyz="0 1 0"/>', '<axis xzy="0 1 0"/>', 13, f"{SHOULDER} <axis>", "axis", "xzy", "xyz"),
    ('lower="-1"', 'lowr="-1"', 16, f"{SHOULDER} <limit>", "limit", "lowr", "lower"),
    ('damping="0.1"', 'dampng="0.1"', 17, f"{SHOULDER} <dynamics>", "dynamics", "dampng", "damping"),
    (
        '<parent link="upper"/>',
        '<parent link="upper"/><mimic joint="shoulder" multiplyer="2"/>',
        20,
        f"{ELBOW} <mimic>",
        "mimic",
        "multiplyer",
        "multiplier",
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "path", "tag", "attribute", "meant"), MISSPELT)
def test_misspelt_attributes(old, new, line, path, tag, attribute, meant):
    assert GOOD.count(old) == 1, "the row must change one place"
    with pytest.raises(FormatError) as caught:
        load_model(GOOD.replace(old, new))
    reason = f"<{tag}> has no attribute {attribute!r}, did you mean {meant!r}"
    assert str(caught.value).startswith(f"<string>, line {line}, {path}: {reason}")


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


def test_no_links():
    with pytest.raises(FormatError, match=r"^<string>, line 2, <robot name='a'>: there are no links"):
        load_model("\n<robot name='a'><joint name='j' type='fixed'/></robot>")


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
    text = GOOD.replace(old, new).replace("</robot>", tool)
    with pytest.raises(FormatError, match="overflow"):
        load_model(text, floating_base=floating)


def test_a_long_chain_and_its_cycle_cost_no_recursion():
    n = 5_000
    links = "".join(f"<link name='l{k}'/>" for k in range(n + 1))
    joints = [
        f"<joint name='j{k}' type='fixed'><parent link='l{k}'/><child link='l{k + 1}'/></joint>" for k in range(n)
    ]
    assert load_model(f"<robot>{links}{''.join(joints)}</robot>").nb == 0
    closed = [*joints[:-1], joints[-1].replace(f"'l{n}'", "'l0'")]
    with pytest.raises(
        FormatError, match=r"<joint name='j0'>: the joints 'j0', 'j1', .* more form a cycle \(l0 → l1 → "
    ):
        load_model(f"<robot>{links}{''.join(closed)}</robot>")


def test_other_formats_are_named():
    with pytest.raises(FormatError, match="this is MJCF, which cannot be read yet"):
        load_model("<mujoco/>")


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("<axis xyz", "<axes xyz"),
        ("<axis xyz", "<Axis xyz"),
        ("<origin", "<orgin"),
        ("<limit", "<limits"),
        ("<inertial>", "<inertal>"),
        ("<mass", "<Mass"),
        ("<dynamics", "<dynamic"),
        ("<mimic", "<mimc"),
    ],
)
def test_a_misspelt_element_is_refused(right: str, wrong: str) -> None:
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="c"/>
    <joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit effort="1" velocity="1" lower="0" upper="1"/><dynamics damping="1"/></joint>
    <joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j"/></joint></robot>"""
    load_model(text)
    tag, misspelt = right[1:].split()[0].strip(">"), wrong[1:].split()[0].strip(">")
    closed = text.replace(f"</{tag}>", f"</{misspelt}>") if f"</{tag}>" in text else text
    with pytest.raises(FormatError, match=f"has no element <{misspelt}>, did you mean <{tag}>"):
        load_model(closed.replace(f"<{tag} ", f"<{misspelt} ").replace(f"<{tag}>", f"<{misspelt}>"))
