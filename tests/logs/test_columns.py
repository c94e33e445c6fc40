"""Headers in many spellings, and those that must be refused."""

from __future__ import annotations

import re

import pytest

from kinetree.errors import FormatError
from kinetree.logs.columns import LOG, MOTION, Coordinates
from kinetree.logs.layout import expected_columns, layout_of_header, layout_without_header

POSE, TWIST = ("x", "y", "z", "qx", "qy", "qz", "qw"), ("wx", "wy", "wz", "vx", "vy", "vz")


def robot(*joints: str, bases: tuple[str, ...] = ()) -> Coordinates:
    q, v = ((*(f"{base}.{x}" for base in bases for x in ends), *joints) for ends in (POSE, TWIST))
    return Coordinates(q, v)


ARM, PIVOT = robot("hip", "knee"), robot("pivot")
FLOATING, ROOTED = robot("hip", bases=("base",)), robot("hip", bases=("root_joint",))


def slots(header: str, coordinates: Coordinates = ARM, quantities=MOTION) -> str:
    """Return what the columns are: "t q0 q1 – v0"."""
    found = layout_of_header(header.split(","), coordinates, quantities).slots
    return " ".join("–" if slot is None else "t" if slot[0] == "t" else f"{slot[0]}{slot[1]}" for slot in found)


FULL = "q0 q1 v0 v1 a0 a1"
WAYS = [
    "q.hip,q.knee,v.hip,v.knee,a.hip,a.knee",
    "hip.q,knee.q,hip.qd,knee.qd,hip.qdd,knee.qdd",
    "hip,knee,hip_vel,knee_vel,hip_acc,knee_acc",
    "hip/position,knee/position,hip/velocity,knee/velocity,hip/acceleration,knee/acceleration",
    "q1,q2,v1,v2,a1,a2",
    "q0,q1,qd0,qd1,qdd0,qdd1",
    "q_0,q_1,dq_1,dq_2,ddq[0],ddq[1]",
    " Q.hip , Q.knee,VEL hip,VEL knee,Acc hip,Acc knee",
    "theta1,theta2,qdot1,qdot2,qddot1,qddot2",
    "positions[0],positions[1],velocities[0],velocities[1],accelerations[0],accelerations[1]",
    "joint1,joint2,joint1_vel,joint2_vel,joint1_acc,joint2_acc",
    "joint_1,joint_2,vel.joint_1,vel.joint_2,joint_acc_1,joint_acc_2",
    "q1 [rad],q2 [rad],v1 (rad/s),v2 (rad/s),a1 [rad/s^2],a2 [m/s²]",
    "actual_q_0,actual_q_1,actual_qd_0,actual_qd_1,a0,a1",
    "/r/hip/position,/r/knee/position,/r/hip/velocity,/r/knee/velocity,/r/acc/hip,/r/acc/knee",
    "joint_states.position[0],joint_states.position[1],q_dot_0,q_dot_1,ddotq/hip,ddotq/knee",
    "hip_rad,knee_rad,hip.dotq,knee.dotq,hip:accel,knee:accel",
]
LOGS = [
    "time,q[0],q[1],dq[0],dq[1],tau_J[0],tau_J[1],tau_J_d[0],tau_J_d[1],q_d[0],q_d[1],dtau_J[0],dtau_J[1]",
    "time,state.q[0],state.q[1],state.dq[0],state.dq[1],state.tau_J[0],state.tau_J[1]",
    "t,hip_pos,knee_pos,hip_vel,knee_vel,hip_eff,knee_eff",
    "timestamp,actual_q_0,actual_q_1,actual_qd_0,actual_qd_1,actual_moment_0,actual_moment_1",
    "time (s),hip,knee,hip_velocity,knee_velocity,hip_effort,effort.knee",
    "t,joint_1_pos,joint_2_pos,joint_1_vel,joint_2_vel,joint_1_eff,joint_2_eff",
    "Time [s],A1 [rad],A2 [rad],A1 [rad/s],A2 [rad/s],A1 [Nm],A2 [Nm]",
    "Time [s],J1 position [rad],J2 position [rad],J1 velocity [rad/s],J2 vel [rad/s],J1 torque [Nm],J2 torque [Nm]",
    "Time (s),J1 Position (rad),J2 Position (rad),J1 Velocity (rad/s),J2 Vel (rad/s),J1 Torque (N·m),J2 Torque (N·m)",
    "t,Axis 1 pos,Axis 2 pos,Axis 1 vel,Axis 2 vel,A1 torque [Nm],A2 torque [Nm]",
]


@pytest.mark.parametrize("header", WAYS)
def test_spellings(header):
    assert slots(header) == FULL


@pytest.mark.parametrize("header", LOGS)
def test_headers_of_controllers(header):
    found = slots(header, ARM, LOG)
    assert found.startswith("t q0 q1 v0 v1 tau0 tau1")
    assert set(found.split()[7:]) <= {"–"}


POSES = " ".join(f"q{k}" for k in range(7))


@pytest.mark.parametrize(
    ("header", "coordinates", "expected"),
    [
        ("v.knee,t,q.knee,a.hip,q.hip,v.hip,a.knee", ARM, "v1 t q1 a0 q0 v0 a1"),
        ("time,hip,knee", ARM, "t q0 q1"),
        ("t,q1,q2,v1,v2", ARM, "t q0 q1 v0 v1"),
        *((f"{x},hip,knee", ARM, "t q0 q1") for x in ("t [s]", "Time (s)", "timestamp", "__time", "TIME [seconds]")),
        ("t,hip,knee,gripper,tau.hip,", ARM, "t q0 q1 – – –"),
        ("t,hip,knee,j1", ARM, "t q0 q1 –"),  # a letter and a number alone
        ("t,t_ms,hip,hip_deg,knee,knee_deg", ARM, "t – q0 – q1 –"),
        ("t,hip,knee,/temperature/hip,actual_hip", ARM, "t q0 q1 – –"),
        ("t,q,v,a", PIVOT, "t q0 v0 a0"),
        ("t,q [rad]", PIVOT, "t q0"),
        ("t,q.a1,q.a2", robot("a1", "a2"), "t q0 q1"),
        ("t,q1,q2", robot("q1", "q2"), "t q0 q1"),
        ("t,lift_mm,a (deg)", robot("lift_mm", "a (deg)"), "t q0 q1"),
        *(
            (f"t,hip,{','.join(form.format(x) for x in POSE)}", base, f"t q7 {POSES}")
            for form in ("{}", "base.{}", "base_{}", "base/{}", "q.base.{}", "base.{}.pos", "q.{}")
            for base in (FLOATING, ROOTED)
        ),
        *((f"t,{','.join(POSE)},{x}", ROOTED, f"t {POSES} q7") for x in ("joint1", "q1", "q0")),
        *(
            (
                ",".join((*POSE, "hip", "v.hip", "a.hip", *map(v.format, TWIST), *map(a.format, TWIST))),
                ROOTED,
                " ".join((POSES, "q7 v6 a6", *(f"{x}{k}" for x in "va" for k in range(6)))),
            )
            for v, a in (
                ("{}", "a.{}"),
                ("base.{}", "a.base.{}"),
                ("v.base.{}", "base_{}_acc"),
                ("v.{}", "acc/base.{}"),
            )
        ),
    ],
)
def test_what_columns_are(header, coordinates, expected):
    assert slots(header, coordinates) == expected


@pytest.mark.parametrize("path", ["/desired", "ctrl/error", "/joint_states/effort", "target", "cmd"])
def test_a_path_that_is_no_measured_motion_means_nothing(path):
    assert slots(f"t,hip,knee,{path}/position/hip,{path}/q_1,{path}/hip") == "t q0 q1 – – –"


MANY = robot(*(f"link_{k}_joint" for k in range(40)))
REMEDY = r"Hold the base with --fixed-base, or add root_joint\.x … root_joint\.qw"


@pytest.mark.parametrize(
    ("header", "coordinates", "message"),
    [
        ("t,hip", ARM, r"lacks q\.knee\. Expected columns: t, q\.hip, q\.knee, v\.hip"),
        ("t,hip,kneee", ARM, r"lacks q\.knee\. Not understood: kneee \(did you mean knee\?\)\. Expected"),
        ("t,hip,knee_positon", ARM, r"knee_positon \(did you mean knee_position\?\)"),
        ("a,b,c", ARM, r"lacks q\.hip, q\.knee\."),
        ("t,q1,q2,v1", ARM, r"the columns v1 are not a whole set: expected 2 of them, v1 … v2 or v0 … v1"),
        ("hip,knee,v.hip,v.knee", ARM, "must be a time t in s to differentiate by"),
        ("t,hip,knee,a.hip,a.knee", ARM, "accelerations but no velocities"),
        ("t,hip,knee,q.hip", ARM, "the columns 'hip' and 'q.hip' are both q.hip"),
        ("t,hip,knee,hip", ARM, "the columns 'hip' and 'hip' are both q.hip"),
        ("t,time,hip,knee", ARM, "'t' and 'time' are both t"),
        ("t,q2,q3", ARM, "q2, q3 are not a whole set"),
        ("t,hip,knee,v.hip", ARM, r"lacks v\.knee"),
        ("t,a1,a2", robot("a1", "a2"), r"'a1' may mean a\.a1 or q\.a1: name it so"),
        ("t,q1,q2", robot("q2", "q1"), r"'q1' may mean q\.q1 or q\.q2"),
        ("t,q1 [deg],q2 [deg]", ARM, r"the column 'q1 \[deg\]' is in deg: give radians"),
        ("t,q1,q2_deg", ARM, "the column 'q2_deg' is in deg: give radians"),
        ("t_ms,hip,knee", ARM, "the column 't_ms' is in ms: give seconds"),
        ("timestamp_ns,hip,knee", ARM, "'timestamp_ns' is in ns: give seconds"),
        ("t,hip,knee (mm)", ARM, r"'knee \(mm\)' is in mm: give metres"),
        ("t,hip,knee,v.hip [rpm],v.knee [rpm]", ARM, r"'v.hip \[rpm\]' is in rpm: give rad/s"),
        ("t,hip,knee,v1 [°/s],v2 [°/s]", ARM, "is in °/s: give rad/s"),
        (
            "t,q1 [rad/s],q2 [rad/s]",
            ARM,
            r"the unit 'rad/s' of the column 'q1 \[rad/s\]' is not read: expected rad or m",
        ),
        ("t,hip,knee (left)", ARM, "the unit 'left' of the column"),
        ("t,q [deg]", PIVOT, "is in deg: give"),
        ("t,q [mm]", PIVOT, "is in mm: give"),
        (f"t,{','.join(ROOTED.q)},x", robot("x", bases=("root_joint",)), r"'x' may mean q\.root_joint\.x or q\.x"),
        (f"t,{','.join(POSE)}", robot(bases=("root_joint", "box_joint")), r"lacks q\.root_joint\.x"),
        *((f"t,{x}", ROOTED, f"no columns of the floating base. {REMEDY}") for x in ("hip", "q1", "joint1")),
        ("t,hip", FLOATING, r"Its base floats: add base\.x … base\.qw"),
        (
            "t,left",
            MANY,
            r"lacks q\.link_0_joint, q\.link_1_joint, q\.link_2_joint, q\.link_3_joint, … \(40 in all\)\.",
        ),
        ("t,left", MANY, r"Expected columns: t, q\.link_0_joint, q\.link_1_joint, …, v\.link_0_joint"),
    ],
)
def test_refused(header, coordinates, message):
    with pytest.raises(FormatError, match=message) as error:
        slots(header, coordinates)
    assert len(str(error.value)) < 450


def test_units_of_forces_and_times():
    for header, message in {
        "t,J1 position [deg],J2 position [deg],J1 torque [Nm],J2 torque [Nm]": r"\[deg\]' is in deg: give rad",
        "t,J1 position [rad],J2 position [rad],J1 torque [mNm],J2 torque [mNm]": r"is in mNm: give N·m",
        "t,J1 position [rad],J2 position [rad],J1 current [mA],J2 current [mA]": r"is in mA: give A",
        "t [ms],J1 position [rad],J2 position [rad],J1 torque [Nm],J2 torque [Nm]": r"is in ms: give seconds",
    }.items():
        with pytest.raises(FormatError, match=message):
            slots(header, ARM, LOG)
    assert slots("t,q1,q2,J1 current [A],J2 current [A]", ARM, LOG) == "t q0 q1 current0 current1"


@pytest.mark.parametrize(("count", "kinds"), [(6, "qqvvaa"), (7, "tqqvvaa"), (3, "tqq")])
def test_without_a_header_the_number_of_columns_tells(count, kinds):
    assert "".join(slot[0] for slot in layout_without_header(count, ARM).slots) == kinds


@pytest.mark.parametrize(
    ("coordinates", "vocabulary", "expected"),
    [
        (ARM, MOTION, "expected 6 (q, v, a), 7 (t, q, v, a) or 3 (t, q) for a robot with nq = 2 and nv = 2."),
        (ROOTED, MOTION, "expected 22 (q, v, a), 23 (t, q, v, a) or 9 (t, q) for a robot with nq = 8 and nv = 7."),
        (
            ROOTED,
            LOG,
            "expected 29 (q, v, a, tau), 30 (t, q, v, a, tau) or 16 (t, q, tau) for a robot with nq = 8 and nv = 7.",
        ),
    ],
)
def test_all_numbers_of_columns_that_would_do_are_named(coordinates, vocabulary, expected):
    with pytest.raises(FormatError) as error:
        layout_without_header(50, coordinates, vocabulary)
    assert str(error.value) == f"50 columns without a header: {expected}"
    for count in map(int, re.findall(r"\d+(?= \()", expected)):
        assert len(layout_without_header(count, coordinates, vocabulary).slots) == count


def test_joints_alone_without_a_header_are_told_what_to_do_about_the_base():
    for count in (2, 3, 4):
        with pytest.raises(FormatError, match=f"{count} columns without a header.*{REMEDY}"):
            layout_without_header(count, ROOTED)


@pytest.mark.parametrize("coordinates", [ARM, robot("t", "q", "v")])
def test_the_expected_columns_are_understood(coordinates):
    names = expected_columns(coordinates).removeprefix("Expected columns: ").partition(" (")[0].split(", ")
    layout = layout_of_header(names, coordinates)
    assert layout.ignored == ()
    assert layout.groups["q"] == list(range(1, 1 + len(coordinates.q)))


def test_numbered_quaternions_and_twists_are_noted():
    header = ["t", *(f"q{k}" for k in range(8)), *(f"v{k + 1}" for k in range(7))]
    assert layout_of_header(header, ROOTED).notes == (
        "q3 … q6 are read as (qx, qy, qz, qw) of root_joint",
        "v1 … v6 are read as (wx, wy, wz, vx, vy, vz) of root_joint, in its own axes",
    )
    assert layout_without_header(9, ROOTED).notes == ("column 5 … column 8 are read as (qx, qy, qz, qw) of root_joint",)
    assert layout_of_header(["t", *ROOTED.q], ROOTED).notes == ()
    assert layout_of_header(["t", "q1", "q2"], ARM).notes == ()


def test_what_is_said_of_unused_columns():
    (said,) = layout_of_header(["t", "q1", "q2", "hip_speed", "knee_accl", "gripper"], ARM).unused
    assert "columns not used: hip_speed, knee_accl, gripper." in said
    assert "Velocities (hip_speed?) go by one of the words v, qd, dq" in said
    assert "Accelerations (knee_accl?) go by one of the words a, qdd, ddq" in said
    layout = layout_of_header(["t", "q1", "q2", "v1", "v2", "a1", "a2", "hip_speed"], ARM)
    assert layout.unused == ["columns not used: hip_speed"]
    assert layout_of_header(["t", "q1", "q2", "tau.hip"], ARM).unused == []


def test_columns_of_joints_that_follow_others_are_named_so() -> None:
    coordinates = Coordinates(("hip",), ("hip",), (("left_toe", "hip"), ("toe", "hip")))
    (said,) = layout_of_header(["t", "q", "v", "a", "left_toe.q", "tiptoe"], coordinates).unused
    assert said.endswith("left_toe.q, tiptoe. left_toe follows hip: such joints have no columns of their own.")
    with pytest.raises(FormatError, match=r"lacks q\.hip\. Not understood: q_toe\. toe follows hip: such joints"):
        slots("t,q_toe", coordinates)


def test_decimal_commas_where_a_header_is_expected():
    with pytest.raises(FormatError, match=r"decimal commas are not read: write 0\.5, not 0,5"):
        layout_of_header(["0,5", "1,25", "-3,0e2"], ARM)
