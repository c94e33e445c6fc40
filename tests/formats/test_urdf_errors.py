"""Files with mistakes: what is said of one odd element or value is in the golden texts; the rest is here.

What Pinocchio lets pass is read leniently with a warning, and is its robot.
"""

from __future__ import annotations

import re
import warnings

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from golden.files import odd_files
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
SHOULDER, ELBOW = "<joint name='shoulder'>", "<joint name='elbow'>"
PARENT, FRICTION = '<parent link="upper"/>', '<dynamics damping="0.1" friction="0.2"/>'

# what is replaced, by what, line, element, a part of the reason
BAD = [
    ('"0 0 1" rpy', '"0 0 1" quat_xyzw="0 0 0 1" rpy', 12, f"{SHOULDER} <origin>", "keep one"),
    ('"0 0 1" rpy="0 0 0"', '"0 0 1" quat_xyzw="0 0 0 0"', 12, f"{SHOULDER} <origin>", "zero"),
    ('0.1" rpy="0 0 0"', '0.1" rpy="0 nan 0"', 5, f"{LINK} <origin>", "finite number"),
    ('"0 1 0"', '"0 0.0 -0"', 13, f"{SHOULDER} <axis>", "no direction"),
    ('effort="10"', 'effort="-10"', 16, f"{SHOULDER} <limit>", "cannot be negative"),
    ('"elbow" type="revolute"', '"elbow" type="Revolute"', 19, ELBOW, "did you mean 'revolute'?"),
    (PARENT, '<parent link="uper"/>', 20, f"{ELBOW} <parent>", "did you mean 'upper'"),
    ('<child link="lower"/>', '<child link="upper"/>', 19, ELBOW, "same link, 'upper'"),
    ('<parent link="base"/>', '<parent link="lower"/>', 11, SHOULDER, "lower → upper → lower"),
    (
        f'{PARENT}\n    <child link="lower"',
        '<parent link="base"/><child link="upper"',
        19,
        ELBOW,
        "child of joint 'sho",
    ),
]
XACRO = "http://www.ros.org/wiki/xacro"
ROOTS = [
    (GOOD.replace("robot", "machine"), "<machine name='arm'>: .*root element <robot>"),
    (f"<robot xmlns='{XACRO}'/>", "<robot>: <xacro:robot> is xacro, which only robots' files may have"),
    (f"<robot><x:if xmlns:x='{XACRO}'/></robot>", "<if>: <xacro:if> is xacro, which only robots' files may have"),
    ("<robot name='a'><joint name='j' type='fixed'/></robot>", "<robot name='a'>: there are no links"),
    *(
        (
            GOOD.replace("<robot", f'<robot version="{version}"'),
            f"<robot name='arm'>: version={version!r}: the versions",
        )
        for version in ("2.0", "1", "1.3", "1.0.0", "", "one")
    ),
]


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
        assert str(caught.value).startswith(f"{path}, line {line}, {element}: ")
        assert reason in str(caught.value)


@pytest.mark.parametrize(("text", "message"), ROOTS)
def test_other_files(text, message):
    with pytest.raises(FormatError, match=rf"^<string>( \(expanded\))?, line [167], {message}"):
        load_model(text)


def leniently(text):
    """Return a robot and what is said of its file; None where the file is refused all the same."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            robot = kt.load(text, lenient=True, mimic="independent")
        except kt.KinetreeError:
            return None, []
    return robot, [w for w in caught if w.category is FormatWarning and "no position limits" not in str(w.message)]


MOMENTS = '<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/>'
FURTHER = [  # second elements that say something else, and limits without room
    ('"0 1 0"/>', '"0 1 0"/><axis xyz="1 0 0"/>'),
    ('"2.5"/>', '"2.5"/><mass value="9"/>'),
    ('1" rpy="0 0 0"/>\n    <axis', '1"/><origin xyz="0 9 0"/><axis'),
    (PARENT, f'{PARENT}<parent link="base"/>'),
    ("  </link>\n", f'<inertial><mass value="7"/>{MOMENTS}</inertial></link>\n'),
    ('"-1" upper="1"', '"inf" upper="inf"'),
]


def test_what_is_read_leniently_is_what_pinocchio_reads():
    faults = compared = 0
    further = [(*row, "", changed(*row)) for row in FURTHER]
    for name, what, _, text in [*odd_files(GOOD), *further]:
        robot, told = leniently(text)
        if robot is None:  # of the golden texts
            assert (name, what) not in FURTHER
            continue
        assert told or (name, what) not in FURTHER
        assert [w.filename for w in told] == [__file__] * len(told)
        if told:  # what is a warning now is an error otherwise, in the same words
            faults += 1
            with pytest.raises(FormatError) as strict:
                kt.load(text, mimic="independent")
            reason, _, instead = str(told[0].message).rpartition("; ")
            assert str(strict.value) == f"{reason} (with lenient=True, {instead})"
        try:
            model = pin.buildModelFromXML(text)
        except ValueError:
            continue
        compared += 1
        q, v, a = robot.random_state(seed=0)
        expected = pin.rnea(model, model.createData(), q, v, a)
        np.testing.assert_allclose(
            robot.inverse_dynamics(q, v, a), expected, rtol=1e-12, atol=1e-12, err_msg=f"{name}: {what}"
        )
    assert faults > 15
    assert compared > 85


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


PLAIN = GOOD.replace(PARENT, f'{PARENT}<mimic joint="shoulder"/>')
TAGS = {
    "axis": "Axis",
    "origin": "orgin",
    "limit": "limits",
    "inertial": "inertal",
    "dynamics": "dynamic",
    "mimic": "mimc",
}
SPELT = [
    (f"(</?){right}\\b", rf"\1{wrong}", f"element <{wrong}>, did you mean <{right}>") for right, wrong in TAGS.items()
]
SPELT += [
    (f"<{tag} ", f'<{tag} {wrong}="1" ', f"<{tag}> has no attribute '{wrong}', did you mean '{right}'")
    for tag, right, wrong in (
        ("mass", "value", "vaule"),
        ("inertia", "izz", "iz"),
        ("limit", "lower", "lowr"),
        ("dynamics", "damping", "dampng"),
        ("origin", "rpy", "ryp"),
        ("axis", "xyz", "xzy"),
        ("parent", "link", "lnik"),
        ("child", "link", "lnik"),
    )
]
SPELT += [("<dynamics ", '<dynamics spring_stiffness="10" ', "URDF has no springs; with_joint_physics")]


@pytest.mark.parametrize(("right", "wrong", "message"), SPELT)
def test_what_is_misspelt_is_refused_or_not_read(right, wrong, message):
    text = re.sub(right, wrong, PLAIN)
    with pytest.raises(FormatError, match=message):
        load_model(text)
    robot, told = leniently(text)
    assert robot is not None
    assert "it is not read" in str(told[0].message)
