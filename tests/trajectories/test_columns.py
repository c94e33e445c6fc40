"""Headers in many spellings, and those that must be refused."""

from __future__ import annotations

import pytest

from kinetree.errors import FormatError
from kinetree.trajectories.columns import Coordinates, expected_columns, layout_of_header, layout_without_header

ARM = Coordinates(("hip", "knee"), ("hip", "knee"))
FLOATING = Coordinates(
    ("base.x", "base.y", "base.z", "base.qx", "base.qy", "base.qz", "base.qw", "hip"),
    ("base.wx", "base.wy", "base.wz", "base.vx", "base.vy", "base.vz", "hip"),
)


def slots(header: str, coordinates: Coordinates = ARM):
    return layout_of_header(header.split(","), coordinates).slots


FULL = (("q", 0), ("q", 1), ("v", 0), ("v", 1), ("a", 0), ("a", 1))


@pytest.mark.parametrize(
    "header",
    [
        "q.hip,q.knee,v.hip,v.knee,a.hip,a.knee",
        "hip.q,knee.q,hip.qd,knee.qd,hip.qdd,knee.qdd",
        "hip,knee,hip_vel,knee_vel,hip_acc,knee_acc",
        "hip/position,knee/position,hip/velocity,knee/velocity,hip/acceleration,knee/acceleration",
        "q1,q2,v1,v2,a1,a2",
        "q0,q1,qd0,qd1,qdd0,qdd1",
        "q_0,q_1,dq_1,dq_2,ddq[0],ddq[1]",
        " Q.hip , Q.knee,VEL hip,VEL knee,Acc hip,Acc knee",
    ],
)
def test_spellings(header):
    assert slots(header) == FULL


def test_columns_may_stand_in_any_order():
    layout = layout_of_header(["v.knee", "t", "q.knee", "a.hip", "q.hip", "v.hip", "a.knee"], ARM)
    assert [layout.columns(x) for x in "tqva"] == [[1], [4, 2], [5, 0], [3, 6]]


def test_time_and_positions_are_enough():
    assert slots("time,hip,knee") == (("t", 0), ("q", 0), ("q", 1))
    assert slots("t,q1,q2,v1,v2")[3:] == (("v", 0), ("v", 1))


def test_one_joint_needs_no_number():
    assert slots("t,q,v,a", Coordinates(("pivot",), ("pivot",))) == (("t", 0), ("q", 0), ("v", 0), ("a", 0))


def test_a_floating_base_has_named_entries():
    names = "t,base.x,base.y,base.z,base.qx,base.qy,base.qz,base.qw,hip"
    assert slots(names, FLOATING) == (("t", 0), *(("q", k) for k in range(8)))
    assert FLOATING.v == ("base.wx", "base.wy", "base.wz", "base.vx", "base.vy", "base.vz", "hip")


def test_what_means_nothing_is_reported_and_torques_are_not():
    layout = layout_of_header(["t", "hip", "knee", "gripper", "tau.hip", ""], ARM)
    assert layout.ignored == ("gripper",)
    assert layout.slots[3:] == (None, None, None)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("t,hip", r"lacks q\.knee\. Expected columns: t, q\.hip, q\.knee, v\.hip"),
        ("t,hip,kneee", r"lacks q\.knee\. Not understood: kneee\."),
        ("a,b,c", r"lacks q\.hip, q\.knee\."),
        ("t,q1,q2,v1", r"the columns v1 are not a whole set: expected 2 of them, v1 … v2 or v0 … v1"),
        ("hip,knee,v.hip,v.knee", "must be a time to differentiate by"),
        ("t,hip,knee,a.hip,a.knee", "accelerations but no velocities"),
        ("t,hip,knee,q.hip", "the columns 'hip' and 'q.hip' are both q.hip"),
        ("t,time,hip,knee", "'t' and 'time' are both t"),
        ("t,q2,q3", "q2, q3 are not a whole set"),
        ("t,hip,knee,v.hip", r"lacks v\.knee"),
    ],
)
def test_refused(header, message):
    with pytest.raises(FormatError, match=message):
        slots(header)


def test_a_name_with_two_meanings_is_refused_and_told_how_to_write_it():
    robot = Coordinates(("a1", "a2"), ("a1", "a2"))
    with pytest.raises(FormatError, match=r"'a1' may mean a\.a1 or q\.a1: name it so"):
        slots("t,a1,a2", robot)
    assert slots("t,q.a1,q.a2", robot) == (("t", 0), ("q", 0), ("q", 1))


def test_joints_called_q1_and_q2_are_not_two_meanings():
    assert slots("t,q1,q2", Coordinates(("q1", "q2"), ("q1", "q2"))) == (("t", 0), ("q", 0), ("q", 1))


def test_joints_out_of_step_with_their_numbers_are_refused():
    with pytest.raises(FormatError, match=r"'q1' may mean q\.q1 or q\.q2"):
        slots("t,q1,q2", Coordinates(("q2", "q1"), ("q2", "q1")))


@pytest.mark.parametrize(("count", "kinds"), [(6, "qqvvaa"), (7, "tqqvvaa"), (3, "tqq")])
def test_without_a_header_the_number_of_columns_tells(count, kinds):
    assert "".join(slot[0] for slot in layout_without_header(count, ARM).slots) == kinds


def test_another_number_of_columns_is_refused():
    with pytest.raises(FormatError, match=r"4 columns without a header: expected 6 \(q, v, a\), 7 .* or 3 \(t, q\)"):
        layout_without_header(4, ARM)


@pytest.mark.parametrize("coordinates", [ARM, FLOATING, Coordinates(("t", "q", "v"), ("t", "q", "v"))])
def test_the_expected_columns_are_understood(coordinates):
    names = expected_columns(coordinates).removeprefix("Expected columns: ").partition(" (")[0].split(", ")
    layout = layout_of_header(names, coordinates)
    assert layout.ignored == ()
    assert layout.columns("q") == list(range(1, 1 + len(coordinates.q)))
