"""Headers of tables in many spellings, and those that must be refused, by the robot and what is looked for."""

from calls import Text
from kinetree.logs.columns import LOG, MOTION, Coordinates
from kinetree.logs.layout import expected_columns, layout_of_header, layout_without_header

POSE, TWIST = ("x", "y", "z", "qx", "qy", "qz", "qw"), ("wx", "wy", "wz", "vx", "vy", "vz")


def robot(*joints, bases=()):
    q, v = ((*(f"{base}.{x}" for base in bases for x in ends), *joints) for ends in (POSE, TWIST))
    return Coordinates(q, v)


ROBOTS = {
    "arm": robot("hip", "knee"),
    "pivot": robot("pivot"),
    "floating": robot("hip", bases=("base",)),
    "rooted": robot("hip", bases=("root_joint",)),
    "many": robot(*(f"link_{k}_joint" for k in range(40))),
    **{" and ".join(x): robot(*x) for x in (("a1", "a2"), ("q1", "q2"), ("q2", "q1"), ("lift_mm", "a (deg)"))},
    "t, q, v": robot("t", "q", "v"),
    "x on a base": robot("x", bases=("root_joint",)),
    "two bases": robot(bases=("root_joint", "box_joint")),
}
TEXTS = {
    ("arm", "motion"): """
q.hip,q.knee,v.hip,v.knee,a.hip,a.knee
hip.q,knee.q,hip.qd,knee.qd,hip.qdd,knee.qdd
hip,knee,hip_vel,knee_vel,hip_acc,knee_acc
hip/position,knee/position,hip/velocity,knee/velocity,hip/acceleration,knee/acceleration
q1,q2,v1,v2,a1,a2
q0,q1,qd0,qd1,qdd0,qdd1
q_0,q_1,dq_1,dq_2,ddq[0],ddq[1]
 Q.hip , Q.knee,VEL hip,VEL knee,Acc hip,Acc knee
theta1,theta2,qdot1,qdot2,qddot1,qddot2
positions[0],positions[1],velocities[0],velocities[1],accelerations[0],accelerations[1]
joint1,joint2,joint1_vel,joint2_vel,joint1_acc,joint2_acc
joint_1,joint_2,vel.joint_1,vel.joint_2,joint_acc_1,joint_acc_2
q1 [rad],q2 [rad],v1 (rad/s),v2 (rad/s),a1 [rad/s^2],a2 [m/s²]
actual_q_0,actual_q_1,actual_qd_0,actual_qd_1,a0,a1
/r/hip/position,/r/knee/position,/r/hip/velocity,/r/knee/velocity,/r/acc/hip,/r/acc/knee
joint_states.position[0],joint_states.position[1],q_dot_0,q_dot_1,ddotq/hip,ddotq/knee
hip_rad,knee_rad,hip.dotq,knee.dotq,hip:accel,knee:accel
v.knee,t,q.knee,a.hip,q.hip,v.hip,a.knee
time,hip,knee
t,q1,q2,v1,v2
t [s],hip,knee
Time (s),hip,knee
timestamp,hip,knee
__time,hip,knee
TIME [seconds],hip,knee
t,hip,knee,gripper,tau.hip,
t,hip,knee,j1
t,t_ms,hip,hip_deg,knee,knee_deg
t,hip,knee,/temperature/hip,actual_hip
t,hip,knee,/desired/position/hip,/desired/q_1,/desired/hip
t,hip,knee,ctrl/error/position/hip,ctrl/error/q_1,ctrl/error/hip
t,hip,knee,/joint_states/effort/position/hip,/joint_states/effort/q_1,/joint_states/effort/hip
t,hip,knee,target/position/hip,target/q_1,target/hip
t,hip,knee,cmd/position/hip,cmd/q_1,cmd/hip
t,q1,q2,hip_speed,knee_accl,gripper
t,q1,q2,v1,v2,a1,a2,hip_speed
t,hip
t,hip,kneee
t,hip,knee_positon
a,b,c
t,q1,q2,v1
hip,knee,v.hip,v.knee
t,hip,knee,a.hip,a.knee
t,hip,knee,q.hip
t,hip,knee,hip
t,time,hip,knee
t,q2,q3
t,hip,knee,v.hip
t,q1 [deg],q2 [deg]
t,q1,q2_deg
t_ms,hip,knee
timestamp_ns,hip,knee
t,hip,knee (mm)
t,hip,knee,v.hip [rpm],v.knee [rpm]
t,hip,knee,v1 [°/s],v2 [°/s]
t,q1 [rad/s],q2 [rad/s]
t,hip,knee (left)
0,5;1,25;-3,0e2
""",
    ("arm", "log"): """
time,q[0],q[1],dq[0],dq[1],tau_J[0],tau_J[1],tau_J_d[0],tau_J_d[1],q_d[0],q_d[1],dtau_J[0],dtau_J[1]
time,state.q[0],state.q[1],state.dq[0],state.dq[1],state.tau_J[0],state.tau_J[1]
t,hip_pos,knee_pos,hip_vel,knee_vel,hip_eff,knee_eff
timestamp,actual_q_0,actual_q_1,actual_qd_0,actual_qd_1,actual_moment_0,actual_moment_1
time (s),hip,knee,hip_velocity,knee_velocity,hip_effort,effort.knee
t,joint_1_pos,joint_2_pos,joint_1_vel,joint_2_vel,joint_1_eff,joint_2_eff
Time [s],A1 [rad],A2 [rad],A1 [rad/s],A2 [rad/s],A1 [Nm],A2 [Nm]
Time [s],J1 position [rad],J2 position [rad],J1 velocity [rad/s],J2 vel [rad/s],J1 torque [Nm],J2 torque [Nm]
Time (s),J1 Position (rad),J2 Position (rad),J1 Velocity (rad/s),J2 Vel (rad/s),J1 Torque (N·m),J2 Torque (N·m)
t,Axis 1 pos,Axis 2 pos,Axis 1 vel,Axis 2 vel,A1 torque [Nm],A2 torque [Nm]
t,J1 position [deg],J2 position [deg],J1 torque [Nm],J2 torque [Nm]
t,J1 position [rad],J2 position [rad],J1 torque [mNm],J2 torque [mNm]
t,J1 position [rad],J2 position [rad],J1 current [mA],J2 current [mA]
t [ms],J1 position [rad],J2 position [rad],J1 torque [Nm],J2 torque [Nm]
t,q1,q2,J1 current [A],J2 current [A]
""",
    ("pivot", "motion"): "t,q,v,a\nt,q [rad]\nt,q [deg]\nt,q [mm]",
    ("a1 and a2", "motion"): "t,q.a1,q.a2\nt,a1,a2",
    ("q1 and q2", "motion"): "t,q1,q2",
    ("q2 and q1", "motion"): "t,q1,q2",
    ("lift_mm and a (deg)", "motion"): "t,lift_mm,a (deg)",
    ("x on a base", "motion"): f"t,root_joint.{',root_joint.'.join(POSE)},x",
    ("two bases", "motion"): f"t,{','.join(POSE)}",
    ("floating", "motion"): "t,hip",
    ("many", "motion"): "t,left",
    ("rooted", "motion"): "\n".join(
        [
            *(f"t,{','.join(POSE)},{x}" for x in ("joint1", "q1", "q0")),
            *(
                ",".join((*POSE, "hip", "v.hip", "a.hip", *map(v.format, TWIST), *map(a.format, TWIST)))
                for v, a in (
                    ("{}", "a.{}"),
                    ("base.{}", "a.base.{}"),
                    ("v.base.{}", "base_{}_acc"),
                    ("v.{}", "acc/base.{}"),
                )
            ),
            *(f"t,{x}" for x in ("hip", "q1", "joint1", ",".join(ROBOTS["rooted"].q))),
            ",".join(["t", *(f"q{k}" for k in range(8)), *(f"v{k + 1}" for k in range(7))]),
        ]
    ),
}
FORMS = ("{}", "base.{}", "base_{}", "base/{}", "q.base.{}", "base.{}.pos", "q.{}")
for _base in ("floating", "rooted"):
    TEXTS[_base, "motion"] += "".join(f"\nt,hip,{','.join(map(form.format, POSE))}" for form in FORMS)


def understood(header, name, kind):
    """Return what the columns of a header are, "t q0 q1 – v0", and what is said of them; of a number, without one."""
    arguments = ROBOTS[name], {"motion": MOTION, "log": LOG}[kind]
    layout = (layout_without_header if isinstance(header, int) else layout_of_header)(header, *arguments)
    slots = (("–" if x is None else "t" if x[0] == "t" else f"{x[0]}{x[1]}") for x in layout.slots)
    return Text(" ; ".join([" ".join(slots), *layout.notes, *layout.unused]))


def headers():
    """Yield the robots, what is looked for, and the headers: expected columns and numbers of columns too."""
    for (name, kind), text in TEXTS.items():
        yield name, kind, {line: line.split(";" if ";" in line else ",") for line in text.strip("\n").split("\n")}
    for name, kind in (("arm", "motion"), ("rooted", "motion"), ("rooted", "log"), ("t, q, v", "motion")):
        expected = expected_columns(ROBOTS[name]).removeprefix("Expected columns: ").partition(" (")[0].split(", ")
        yield name, kind, {"those expected": expected, **{str(k): k for k in range(1, 31)}}
