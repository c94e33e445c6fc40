"""A user's script with annotations: type checkers find nothing in it, and it runs."""

# pyright: strict

from __future__ import annotations

from typing import Any, Literal, NamedTuple, assert_type

import numpy as np
from numpy.typing import NDArray

import kinetree as kt

robot = kt.load("ur5")
q, v, a = robot.random_state(seed=0)
Q, V, A = robot.random_state(seed=0, size=10)
TOOL = "tool0"

# the robot's own functions
tau: NDArray[np.float64] = robot.inverse_dynamics(q, v, a)
assert_type(tau.shape, tuple[Any, ...])
assert_type(robot.mass_matrix([0.0] * 6), NDArray[np.float64])
assert_type(robot.inverse_dynamics(q, v, [0] * 6, f_ext=np.zeros((6, 6)), f_ext_frame="world"), NDArray[np.float64])
narrow = q.astype(np.float32)
assert_type(robot.gravity_forces(narrow), NDArray[np.float32])
hybrid = robot.hybrid_dynamics(q, v, a, tau, prescribed=["shoulder_pan_joint"], method="system")
assert_type(hybrid.tau, NDArray[np.float64])
acceleration, forces = robot.hybrid_dynamics(q, v, a, tau)
assert_type(forces, NDArray[np.float64])
J = robot.jacobian(Q, frame=TOOL, reference="aligned", out=np.empty((10, 6, 6)))
jacobian = robot.jacobian.bind(frame=TOOL)
assert_type(jacobian(q, reference="world"), NDArray[np.float64])
assert_type(robot.inverse_dynamics.op_count, dict[str, int])
jacobian.warmup(batch=False)
source: str = robot.gravity_forces.to_c().source
energy: float = robot.kinetic_energy(q, v)
home: kt.Robot = robot.lock(["wrist_3_joint"]).with_gravity([0, 0, -1.62])


# functions of one's own
class Command(NamedTuple):
    tau: kt.Array
    error: kt.Array


@robot.compile
def hold(
    q: kt.Array, v: kt.Array, q_des: kt.Array, kp: kt.Number = 100.0, n: int = 2, law: Literal["pd", "p"] = "pd"
) -> Command:
    error = q_des - q
    force = kp * error - (20.0 * v if law == "pd" else 0.0)
    for _ in range(n):
        force = kt.minimum(force, robot.effort_limits)
    return Command(force + robot.bias_forces(q, v), error)


@kt.compile(robot, shapes={"x": (3,), "gain": ()})
def push(q: kt.Array, x: NDArray[np.float64], gain: float = 1.0) -> NDArray[np.float64]:
    result: NDArray[np.float64] = robot.jacobian(q, frame=TOOL, reference="aligned")[3:].T @ (gain * x)
    return result


def norm(q: kt.Array) -> kt.Array:
    return np.sqrt(q @ q)


command = hold(q, v, [0.0] * 6)
assert_type(command.tau, NDArray[np.float64] | Any)
hold(Q, v, np.zeros(6), kp=np.linspace(1, 2, 10), n=3, law="p")
assert_type(push(q, np.zeros(3)), NDArray[np.float64])
push(q, np.zeros(3), out=np.empty(6))
print(kt.compile(robot, norm)(q.tolist()), hold.op_count, hold.bind(n=3), hold.__name__)
loaded = kt.compile(robot, "inverse_dynamics", inputs=[kt.payload(TOOL)])
loaded(q, v, a, np.zeros(10)).sum()


@kt.compile(robot, inputs=[kt.payload(TOOL, name="load")])
def carry(q: kt.Array, v: kt.Array, kp: kt.Number = 100.0) -> Command:
    return Command(robot.bias_forces(q, v) - kp * q, q)


assert_type(carry(q, v, np.zeros(10), kp=3.0).tau, NDArray[np.float64] | Any)
assert_type(kt.compile(robot, robot.gravity_forces, inputs=[kt.gravity])(q, [0, 0, -1.62]), Any)

# loading and inverse kinematics
moon = kt.load("ur5", base_pose=np.eye(4), gravity=np.array([0, 0, -1.62]), srdf="<robot name='ur5'/>")
rows = [kt.DHLink(a=1.0, inertia=kt.Inertia.from_com(1.0, [0, 0, 0], np.eye(3)))]
planar: kt.Robot = kt.from_dh(rows, convention="modified", tool_pose=np.eye(4))
step = moon.differential_inverse_kinematics(TOOL, fixed=["wrist_3_joint"])
target = moon.frame_placement(q, frame=TOOL)
assert_type(step(q, target, 0.01, posture=q).v, NDArray[np.float64])
assert_type(step(narrow, target.astype(np.float32), np.float32(0.01)).q, NDArray[np.float32])
solve = moon.inverse_kinematics_solver({TOOL: "position", "wrist_1_link": ["orientation"]})
solution = solve(q, target_tool0=target[:3, 3], target_wrist_1_link=np.eye(3), max_iterations=2)
assert_type(solution.q, NDArray[np.float64])
errors: float = solution.position_error
kt.joints.check(kt.joints.Revolute((0, 0, 1)))

# a mechanism
mech = kt.Mechanism(robot, [kt.Rod(TOOL, None, length=0.5)])
kt.compile(mech, "impulse", inputs=[kt.payload(TOOL)])


@mech.compile
def driven(q: kt.Array, v: kt.Array, tau: kt.Array, dt: float) -> NDArray[np.float64]:
    return v + dt * mech.forward_dynamics(q, v, tau).a


assert_type(driven(q, v, tau, 1e-3), NDArray[np.float64])


def improved(log: list[NDArray[np.float64]]) -> kt.Robot:
    """What is made of a robot has the methods of all rooms."""
    better = robot.identify(log).robot
    better.simulate(q, v, steps=3).plot()
    tree: kt.Robot = mech.identify(log).robot.attach(kt.Inertia(1.0, q[:3], np.eye(3)), TOOL)
    return tree if mech.tree.excite(series=kt.Series(period=3.0)) else better
