"""What Pinocchio lets pass: refused, or with lenient=True a warning that names element and line, and the same robot."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt

GOOD = """\
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0.2"/>
      <mass value="2.5"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/>
    </inertial>
  </link>
  <link name="lower">
    <inertial>
      <mass value="1.5"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 1"/>
    <axis xyz="0 1 0"/>
    <parent link="base"/>
    <child link="upper"/>
    <limit lower="-1" upper="1" effort="10" velocity="2"/>
  </joint>
  <joint name="elbow" type="revolute">
    <origin xyz="0 0 0.5"/>
    <axis xyz="0 1 0"/>
    <parent link="upper"/>
    <child link="lower"/>
    <limit lower="-2" upper="2" effort="20" velocity="3"/>
    <dynamics damping="0.1"/>
  </joint>
</robot>
"""
UPPER, ELBOW, SHOULDER = "<link name='upper'> <inertial>", "<joint name='elbow'>", "<joint name='shoulder'>"
DAMPING = '<dynamics damping="0.1"/>'
MIMIC = f'{DAMPING}<mimic joint="'

# what is replaced, by what, line, element, reason, what is done
FAULTS = [
    (DAMPING, f'{MIMIC}wrist"/>', 23, ELBOW, "mimics: no joint 'wrist'", "it moves by itself"),
    (DAMPING, f'{MIMIC}elbow"/>', 23, ELBOW, "mimics itself", "it moves by itself"),
    ('lower="-2"', 'lower="3"', 28, f"{ELBOW} <limit>", "leave no room", "neither is read"),
    (
        '<axis xyz="0 1 0"/>\n    <parent link="base"/>',
        '<axis xyz="0 1 0"/>\n<axis xyz="1 0 0"/><parent link="base"/>',
        19,
        f"{SHOULDER} <axis>",
        "a second <axis>, the first is on line 18",
        "the first is read",
    ),
    ('"2.5"/>', '"2.5"/><mass value="9"/>', 6, f"{UPPER} <mass>", "a second <mass>", "the first is read"),
    (
        '"0 0 1"/>',
        '"0 0 1"/><origin xyz="0 0 9"/>',
        17,
        f"{SHOULDER} <origin>",
        "a second <origin>",
        "the first is read",
    ),
    (
        '"upper"/>\n    <child',
        '"upper"/><parent link="base"/>\n<child',
        26,
        f"{ELBOW} <parent>",
        "a second <parent>",
        "the first is read",
    ),
    (
        '  </link>\n  <link name="lower">',
        '  <inertial><mass value="7"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
        '</link>\n<link name="lower">',
        9,
        UPPER,
        "a second <inertial>",
        "the first is read",
    ),
    (
        '<mass value="2.5"/>\n      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/>',
        '<mass value="2.5"/>',
        4,
        UPPER,
        "<inertia> is missing",
        "it is taken as zero",
    ),
    ('<mass value="1.5"/>', "", 11, "<link name='lower'> <inertial>", "<mass> is missing", "has no inertia"),
    (
        '"0 0 0.5"/>',
        '"0 0 0.5" rgb="1"/>',
        24,
        f"{ELBOW} <origin>",
        "<origin> has no attribute 'rgb'",
        "it is not read",
    ),
    (
        DAMPING,
        "<dynamic/>",
        29,
        f"{ELBOW} <dynamic>",
        "<joint> has no element <dynamic>, did you mean <dynamics>?",
        "it is not read",
    ),
    ('"0.1"/>', '"-0.1"/>', 29, f"{ELBOW} <dynamics>", "cannot be negative", "0 is read"),
]


@pytest.mark.parametrize(("old", "new", "line", "element", "reason", "instead"), FAULTS)
def test_a_fault_is_an_error_or_a_warning_and_the_robot_is_pinocchios(old, new, line, element, reason, instead):
    assert GOOD.count(old) == 1, "the row must change one place"
    text = GOOD.replace(old, new)
    with pytest.raises(kt.FormatError) as strict:
        kt.load(text)
    place = f"<string>, line {line}, {element}: "
    assert str(strict.value).startswith(place)
    assert reason in str(strict.value)
    assert str(strict.value).endswith(f"(with lenient=True, {instead})") or instead == "has no inertia"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = kt.load(text, lenient=True)
    told = [w for w in caught if w.category is kt.FormatWarning and "no position limits" not in str(w.message)]
    assert [w.filename for w in told] == [__file__]
    assert str(told[0].message).startswith(place)
    assert reason in str(told[0].message)
    assert str(told[0].message).endswith(instead)

    model = pin.buildModelFromXML(text)
    data = model.createData()
    q, v, a = robot.random_state(seed=0)
    expected = pin.rnea(model, data, q, v, a)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), expected, rtol=1e-12, atol=1e-12)


def test_limits_without_room_are_none():
    with pytest.warns(kt.FormatWarning, match="leave no room"):
        robot = kt.load(GOOD.replace('lower="-2"', 'lower="3"'), lenient=True)
    np.testing.assert_array_equal([robot.lower_limits, robot.upper_limits], [[-1, -np.inf], [1, np.inf]])
    np.testing.assert_array_equal(robot.effort_limits, [10, 20])


def test_circles_of_mimics_are_opened():
    circle = GOOD.replace('velocity="2"/>', 'velocity="2"/><mimic joint="elbow"/>').replace(
        DAMPING, f'{MIMIC}shoulder" multiplier="2"/>'
    )
    with pytest.warns(kt.FormatWarning, match="<joint name='shoulder'>: mimics itself, through elbow"):
        robot = kt.load(circle, lenient=True)
    assert robot.joint_names == ("shoulder",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<axis xyz="0 1 0"/>\n    <parent link="base"/>', '<axis xyz="0 0 0"/><parent link="base"/>'),
        ('"2.5"', '"heavy"'),
        ('"elbow"', '"shoulder"'),
        ('name="lower"', 'name="upper"'),
        ('<child link="lower"/>', '<child link="lover"/>'),
        ("<robot", "<!DOCTYPE robot>\n<robot"),
        ("</robot>", ""),
    ],
)
def test_what_leaves_doubts_stays_an_error(old, new):
    assert GOOD.count(old) == 1
    with pytest.raises(kt.FormatError):
        kt.load(GOOD.replace(old, new), lenient=True)


def test_a_long_file_full_of_circles_takes_no_longer_than_its_length():
    n = 4_000
    links = "".join(f"<link name='l{k}'/>" for k in range(n + 1))
    joints = "".join(
        f"<joint name='j{k}' type='continuous'><parent link='l{k}'/><child link='l{k + 1}'/>"
        f"<mimic joint='j{k ^ 1}'/></joint>"
        for k in range(n)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.FormatWarning)
        assert kt.load(f"<robot>{links}{joints}</robot>", lenient=True).nv == n // 2
