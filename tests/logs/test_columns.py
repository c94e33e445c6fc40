"""Headers in many spellings, and those that must be refused."""

from __future__ import annotations

import re

import pytest

from kinetree.errors import FormatError
from kinetree.logs.columns import LOG, MOTION, Coordinates
from kinetree.logs.layout import expected_columns, layout_of_header, layout_without_header

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


HEADERS_OF_LOGS = {
    "libfranka": "time,q[0],q[1],dq[0],dq[1],tau_J[0],tau_J[1],tau_J_d[0],tau_J_d[1],q_d[0],q_d[1],dtau_J[0],dtau_J[1]",
    "libfranka, a struct": "time,state.q[0],state.q[1],state.dq[0],state.dq[1],state.tau_J[0],state.tau_J[1]",
    "_eff": "t,hip_pos,knee_pos,hip_vel,knee_vel,hip_eff,knee_eff",
    "joint_1_eff": "t,joint_1_pos,joint_2_pos,joint_1_vel,joint_2_vel,joint_1_eff,joint_2_eff",
    "KUKA": "Time [s],A1 [rad],A2 [rad],A1 [rad/s],A2 [rad/s],A1 [Nm],A2 [Nm]",
    "[rad]": "Time [s],J1 position [rad],J2 position [rad],J1 velocity [rad/s],J2 velocity [rad/s],"
    "J1 torque [Nm],J2 torque [Nm]",
    "(rad)": "Time (s),J1 Position (rad),J2 Position (rad),J1 Velocity (rad/s),J2 Velocity (rad/s),"
    "J1 Torque (N·m),J2 Torque (N·m)",
    "axes": "t,Axis 1 pos,Axis 2 pos,Axis 1 vel,Axis 2 vel,A1 torque [Nm],A2 torque [Nm]",
}


@pytest.mark.parametrize("header", HEADERS_OF_LOGS.values(), ids=HEADERS_OF_LOGS)
def test_headers_of_controllers(header):
    layout = layout_of_header(header.split(","), ARM, LOG)
    assert layout.slots[:7] == (("t", 0), ("q", 0), ("q", 1), ("v", 0), ("v", 1), ("tau", 0), ("tau", 1))
    assert layout.slots[7:] == (None,) * (len(layout.slots) - 7)


def test_units_in_brackets_are_told_from_names():
    currents = layout_of_header(
        ["t", "J1 position [rad]", "J2 position [rad]", "J1 current [A]", "J2 current [A]"], ARM, LOG
    )
    assert currents.groups.get("current") == [3, 4]
    for header, message in {
        "t,J1 position [deg],J2 position [deg],J1 torque [Nm],J2 torque [Nm]": r"\[deg\]' is in deg: give rad",
        "t,J1 position [rad],J2 position [rad],J1 torque [mNm],J2 torque [mNm]": r"is in mNm: give N·m",
        "t,J1 position [rad],J2 position [rad],J1 current [mA],J2 current [mA]": r"is in mA: give A",
        "t [ms],J1 position [rad],J2 position [rad],J1 torque [Nm],J2 torque [Nm]": r"is in ms: give seconds",
    }.items():
        with pytest.raises(FormatError, match=message):
            layout_of_header(header.split(","), ARM, LOG)
    assert layout_of_header(["t", "hip", "knee", "j1"], ARM).ignored == ("j1",), "a letter and a number alone"


def test_columns_may_stand_in_any_order():
    layout = layout_of_header(["v.knee", "t", "q.knee", "a.hip", "q.hip", "v.hip", "a.knee"], ARM)
    assert [layout.groups.get(x) for x in "tqva"] == [[1], [4, 2], [5, 0], [3, 6]]


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
        ("t,hip,kneee", r"lacks q\.knee\. Not understood: kneee \(did you mean knee\?\)\. Expected"),
        ("a,b,c", r"lacks q\.hip, q\.knee\."),
        ("t,q1,q2,v1", r"the columns v1 are not a whole set: expected 2 of them, v1 … v2 or v0 … v1"),
        ("hip,knee,v.hip,v.knee", "must be a time t in s to differentiate by"),
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


def test_all_numbers_of_columns_that_would_do_are_named():
    """Of a robot with nq = 8 and nv = 7."""
    for vocabulary, expected in (
        (MOTION, "expected 22 (q, v, a), 23 (t, q, v, a) or 9 (t, q) for a robot with nq = 8 and nv = 7."),
        (LOG, "expected 29 (q, v, a, tau), 30 (t, q, v, a, tau) or 16 (t, q, tau) for a robot with nq = 8 and nv = 7."),
    ):
        with pytest.raises(FormatError) as error:
            layout_without_header(50, ROOTED, vocabulary)
        assert str(error.value) == f"50 columns without a header: {expected}"
        for count in map(int, re.findall(r"\d+(?= \()", expected)):
            assert len(layout_without_header(count, ROOTED, vocabulary).slots) == count


@pytest.mark.parametrize("coordinates", [ARM, Coordinates(("t", "q", "v"), ("t", "q", "v"))])
def test_the_expected_columns_are_understood(coordinates):
    names = expected_columns(coordinates).removeprefix("Expected columns: ").partition(" (")[0].split(", ")
    layout = layout_of_header(names, coordinates)
    assert layout.ignored == ()
    assert layout.groups.get("q") == list(range(1, 1 + len(coordinates.q)))


@pytest.mark.parametrize(
    "header",
    [
        "theta1,theta2,qdot1,qdot2,qddot1,qddot2",
        "positions[0],positions[1],velocities[0],velocities[1],accelerations[0],accelerations[1]",
        "joint1,joint2,joint1_vel,joint2_vel,joint1_acc,joint2_acc",
        "joint_1,joint_2,vel.joint_1,vel.joint_2,joint_acc_1,joint_acc_2",
        "q1 [rad],q2 [rad],v1 (rad/s),v2 (rad/s),a1 [rad/s^2],a2 [m/s²]",
        "actual_q_0,actual_q_1,actual_qd_0,actual_qd_1,a0,a1",
        "/r/hip/position,/r/knee/position,/r/hip/velocity,/r/knee/velocity,/r/acc/hip,/r/acc/knee",
        "joint_states.position[0],joint_states.position[1],q_dot_0,q_dot_1,ddotq/hip,ddotq/knee",
        "hip_rad,knee_rad,hip.dotq,knee.dotq,hip:accel,knee:accel",
    ],
)
def test_words_paths_and_units_of_common_exports(header):
    assert slots(header) == FULL


@pytest.mark.parametrize("time", ["t [s]", "Time (s)", "timestamp", "__time", "time_sec", "TIME [seconds]"])
def test_spellings_of_time(time):
    assert slots(f"{time},hip,knee")[0] == ("t", 0)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("t,q1 [deg],q2 [deg]", r"the column 'q1 \[deg\]' is in deg: give radians"),
        ("t,q1,q2_deg", "the column 'q2_deg' is in deg: give radians"),
        ("t_ms,hip,knee", "the column 't_ms' is in ms: give seconds"),
        ("timestamp_ns,hip,knee", "'timestamp_ns' is in ns: give seconds"),
        ("t,hip,knee (mm)", r"'knee \(mm\)' is in mm: give metres"),
        ("t,hip,knee,v.hip [rpm],v.knee [rpm]", r"'v.hip \[rpm\]' is in rpm: give rad/s"),
        ("t,hip,knee,v1 [°/s],v2 [°/s]", "is in °/s: give rad/s"),
        ("t,q1 [rad/s],q2 [rad/s]", r"the unit 'rad/s' of the column 'q1 \[rad/s\]' is not read: expected rad or m"),
        ("t,hip,knee (left)", "the unit 'left' of the column"),
    ],
)
def test_other_units_are_never_read(header, message):
    with pytest.raises(FormatError, match=message):
        slots(header)


@pytest.mark.parametrize("unit", ["deg", "mm"])
def test_the_only_joint_has_units_as_well(unit):
    with pytest.raises(FormatError, match=f"is in {unit}: give"):
        slots(f"t,q [{unit}]", Coordinates(("pivot",), ("pivot",)))
    assert slots("t,q [rad]", Coordinates(("pivot",), ("pivot",))) == (("t", 0), ("q", 0))


def test_other_units_do_no_harm_beside_those_of_the_si():
    layout = layout_of_header(["t", "t_ms", "hip", "hip_deg", "knee", "knee_deg"], ARM)
    assert layout.ignored == ("t_ms", "hip_deg", "knee_deg")


def test_a_joint_whose_name_ends_like_a_unit_keeps_its_name():
    robot = Coordinates(("lift_mm", "a (deg)"), ("lift_mm", "a (deg)"))
    assert slots("t,lift_mm,a (deg)", robot) == (("t", 0), ("q", 0), ("q", 1))


@pytest.mark.parametrize("path", ["/desired", "ctrl/error", "/joint_states/effort", "target", "cmd"])
def test_a_path_that_is_no_measured_motion_means_nothing(path):
    header = ["t", "hip", "knee", f"{path}/position/hip", f"{path}/q_1", f"{path}/hip"]
    assert layout_of_header(header, ARM).ignored == tuple(header[3:])


def test_a_path_that_ends_in_a_bare_name_is_no_position():
    assert layout_of_header(["t", "hip", "knee", "/temperature/hip", "actual_hip"], ARM).ignored == (
        "/temperature/hip",
        "actual_hip",
    )


ROOTED = Coordinates(*(tuple(x.replace("base.", "root_joint.") for x in names) for names in (FLOATING.q, FLOATING.v)))


@pytest.mark.parametrize("coordinates", [FLOATING, ROOTED])
@pytest.mark.parametrize("form", ["{}", "base.{}", "base_{}", "base/{}", "q.base.{}", "base.{}.pos", "q.{}"])
def test_the_floating_base_has_usual_names(coordinates, form):
    pose = ",".join(form.format(x) for x in ("x", "y", "z", "qx", "qy", "qz", "qw"))
    assert slots(f"t,hip,{pose}", coordinates) == (("t", 0), ("q", 7), *(("q", k) for k in range(7)))


@pytest.mark.parametrize(
    ("v", "a"), [("{}", "a.{}"), ("base.{}", "a.base.{}"), ("v.base.{}", "base_{}_acc"), ("v.{}", "acc/base.{}")]
)
def test_the_twist_of_the_floating_base(v, a):
    ends = ("wx", "wy", "wz", "vx", "vy", "vz")
    twists = ",".join([v.format(x) for x in ends] + [a.format(x) for x in ends])
    want = (*((x, k) for x in "va" for k in range(6)),)
    assert slots(f"x,y,z,qx,qy,qz,qw,hip,v.hip,a.hip,{twists}", ROOTED)[10:] == want


def test_usual_names_are_refused_where_a_joint_has_them():
    robot = Coordinates((*ROOTED.q, "x"), (*ROOTED.v, "x"))
    names = ",".join(ROOTED.q)
    with pytest.raises(FormatError, match=r"'x' may mean q\.root_joint\.x or q\.x"):
        slots(f"t,{names},x", robot)
    assert slots(f"t,{names},q.x", robot)[-1] == ("q", 8)


def test_two_floating_bases_have_no_usual_names():
    two = Coordinates(
        (*ROOTED.q[:7], *(x.replace("root", "box") for x in ROOTED.q[:7])),
        (*ROOTED.v[:6], *(x.replace("root", "box") for x in ROOTED.v[:6])),
    )
    assert two.base is None
    with pytest.raises(FormatError, match=r"lacks q\.root_joint\.x"):
        slots("t,x,y,z,qx,qy,qz,qw", two)


def test_numbers_may_leave_out_the_floating_base():
    pose = "x,y,z,qx,qy,qz,qw"
    for number in ("joint1", "q1", "q0"):
        assert slots(f"t,{pose},{number}", ROOTED)[-1] == ("q", 7)


def test_numbered_quaternions_and_twists_are_noted():
    header = ["t", *(f"q{k}" for k in range(8)), *(f"v{k + 1}" for k in range(7))]
    assert layout_of_header(header, ROOTED).notes == (
        "q3 … q6 are read as (qx, qy, qz, qw) of root_joint",
        "v1 … v6 are read as (wx, wy, wz, vx, vy, vz) of root_joint, in its own axes",
    )
    assert layout_without_header(9, ROOTED).notes == ("column 5 … column 8 are read as (qx, qy, qz, qw) of root_joint",)
    assert layout_of_header(["t", *ROOTED.q], ROOTED).notes == ()
    assert layout_of_header(["t", "q1", "q2"], ARM).notes == ()


def test_joints_alone_are_told_what_to_do_about_the_base():
    remedy = r"Hold the base with --fixed-base, or add root_joint\.x … root_joint\.qw"
    for header in ("t,hip", "t,q1", "t,joint1"):
        with pytest.raises(FormatError, match=f"no columns of the floating base. {remedy}"):
            slots(header, ROOTED)
    for count in (2, 3, 4):
        with pytest.raises(FormatError, match=f"{count} columns without a header.*{remedy}"):
            layout_without_header(count, ROOTED)
    with pytest.raises(FormatError, match=r"Its base floats: add base\.x … base\.qw"):
        slots("t,hip", FLOATING)


def test_many_columns_are_not_all_listed():
    names = tuple(f"link_{k}_joint" for k in range(40))
    with pytest.raises(FormatError) as error:
        slots("t,left,right", Coordinates(names, names))
    assert "lacks q.link_0_joint, q.link_1_joint, q.link_2_joint, q.link_3_joint, … (40 in all)." in str(error.value)
    assert "Expected columns: t, q.link_0_joint, q.link_1_joint, …, v.link_0_joint" in str(error.value)
    assert len(str(error.value)) < 400


def unused(header: str, coordinates: Coordinates = ARM) -> str:
    (said,) = layout_of_header(header.split(","), coordinates).unused
    return said


def test_unused_columns_that_look_like_rates_are_told_the_words():
    said = unused("t,q1,q2,hip_speed,knee_accl,gripper")
    assert "columns not used: hip_speed, knee_accl, gripper." in said
    assert "Velocities (hip_speed?) go by one of the words v, qd, dq" in said
    assert "Accelerations (knee_accl?) go by one of the words a, qdd, ddq" in said
    assert unused("t,q1,q2,v1,v2,a1,a2,hip_speed") == "columns not used: hip_speed"
    assert layout_of_header(["t", "q1", "q2"], ARM).unused == []


def test_columns_of_joints_that_follow_others_are_named_so() -> None:
    robot = Coordinates(("hip",), ("hip",), (("left_toe", "hip"), ("toe", "hip")))
    said = unused("t,q,v,a,left_toe.q,tiptoe", robot)
    assert said.endswith("left_toe.q, tiptoe. left_toe follows hip: such joints have no columns of their own.")
    with pytest.raises(FormatError, match=r"lacks q\.hip\. Not understood: q_toe\. toe follows hip: such joints"):
        slots("t,q_toe", robot)


def test_decimal_commas_where_a_header_is_expected():
    with pytest.raises(FormatError, match=r"decimal commas are not read: write 0\.5, not 0,5"):
        layout_of_header(["0,5", "1,25", "-3,0e2"], ARM)
