"""A Stewart platform that follows a motion, and the forces of its legs: ``python examples/stewart_platform.py``.

Six legs with a universal, a prismatic and a ball joint carry a platform. The tree is cut at the ball joints, which
close six loops. The motion is the platform's: what the legs do, and with which forces, follows from the constraints.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical

HEIGHT, FEET, BALLS = 1.0, 1.0, 0.5  # m: of the platform, and the radii on the ground and on it
LEGS = tuple(f"leg{k}" for k in range(6))
STEPS, DT = 1000, 2e-3


def at(place: kt.Array) -> kt.Array:
    """Return the pose of a point in the plane."""
    T = np.eye(4)
    T[:2, 3] = place
    return T


def platform() -> tuple[kt.Mechanism, kt.Array]:
    """Return the mechanism, driven in its legs, and a configuration near one in which it is closed."""
    b = kt.ModelBuilder("stewart platform")
    b.add_link("ground")
    b.add_link("platform", kt.Inertia.from_com(20.0, (0, 0, 0), np.diag([1.0, 1.0, 2.0])))
    b.add_joint("platform", parent="ground", child="platform", joint=FreeFlyer())
    loops, start = [], [0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0, 1.0]
    for k, leg in enumerate(LEGS):
        angle = 2 * np.pi * (k // 2) / 3 + (-1) ** k * np.array([0.15, 0.9])
        foot = FEET * np.array([np.cos(angle[0]), np.sin(angle[0])])
        ball = BALLS * np.array([np.cos(angle[1]), np.sin(angle[1])])
        d = np.array([*(ball - foot), HEIGHT])
        b.add_link(f"{leg} cross")
        b.add_link(f"{leg} cylinder", kt.Inertia.from_com(2.0, (0, 0, 0.3), np.diag([0.06, 0.06, 0.001])))
        b.add_link(f"{leg} piston", kt.Inertia.from_com(1.0, (0, 0, -0.3), np.diag([0.03, 0.03, 0.0005])))
        b.add_joint(
            f"{leg} pitch", parent="ground", child=f"{leg} cross", joint=Revolute((1, 0, 0)), placement=at(foot)
        )
        b.add_joint(f"{leg} yaw", parent=f"{leg} cross", child=f"{leg} cylinder", joint=Revolute((0, 1, 0)))
        b.add_joint(leg, parent=f"{leg} cylinder", child=f"{leg} piston", joint=Prismatic((0, 0, 1)))
        b.add_frame(f"{leg} ball", link="platform", placement=at(ball))
        b.add_frame(f"{leg} tip", link=f"{leg} piston")
        loops.append(kt.Loop(f"{leg} ball", f"{leg} tip", Spherical()))
        length = float(np.linalg.norm(d))
        start += [np.arctan2(-d[1], d[2]), np.arcsin(d[0] / length), length]
    mech = kt.Mechanism(kt.Robot(b.build()), loops, actuated=LEGS, independent=["platform"])
    return mech, np.array(start)


def way(t: kt.Array) -> tuple[kt.Array, kt.Array, kt.Array]:
    """Return the platform's pose, velocity and acceleration, as q, v and a have them: it rolls on its way round."""
    w, zero = np.pi, np.zeros_like(t)
    sine, cosine = np.sin(w * t), np.cos(w * t)
    place = np.stack([0.15 * sine, 0.15 * (1 - cosine), HEIGHT + 0.1 * sine])
    rate, second = (
        w * np.stack([0.15 * cosine, 0.15 * sine, 0.1 * cosine]),
        w**2 * 0.15 * np.stack([-sine, cosine, -sine / 1.5]),
    )
    roll, omega, alpha = (
        0.25 * sine,
        np.stack([0.25 * w * cosine, zero, zero]),
        np.stack([-0.25 * w**2 * sine, zero, zero]),
    )

    def in_its_axes(x: kt.Array) -> kt.Array:
        c, s = np.cos(roll), np.sin(roll)
        return np.stack([x[0], c * x[1] + s * x[2], c * x[2] - s * x[1]])

    v = in_its_axes(rate)
    a = in_its_axes(second) - np.cross(omega, v, axis=0)
    pose = np.stack([*place, np.sin(roll / 2), zero, zero, np.cos(roll / 2)])
    return pose.T, np.concatenate([omega, v]).T, np.concatenate([alpha, a]).T


def follow(mech: kt.Mechanism, start: kt.Array) -> tuple[kt.Array, kt.Array, kt.Trajectory]:
    """Return the way, the forces that it takes, and the motion under these forces alone."""
    pose, twist, rate = way(DT * np.arange(STEPS + 1))
    near = np.concatenate([pose, np.tile(start[7:], (STEPS + 1, 1))], axis=1)
    q = mech.assemble(near, fixed=["platform"]).q
    v = mech.complete_velocity(q, twist)
    tau = mech.inverse_dynamics(q, v, mech.complete_acceleration(q, v, rate)).tau
    moved = mech.simulate(
        q[0], v[0], forces=kt.Forces(tau, interpolation="linear"), dt=DT, steps=STEPS, integrator="rk4", joints="none"
    )
    return q, tau, moved


def main() -> None:
    """Print the legs' forces, and how near to its way the platform stays."""
    mech, start = platform()
    q, tau, moved = follow(mech, start)
    legs = tau[:, [mech.tree.joint(leg).v_slice.start for leg in LEGS]]
    print(f"the legs push with {legs.min():.1f} to {legs.max():.1f} N, and nothing else is driven")
    off = 1e3 * np.linalg.norm(moved.q[:, :3] - q[:, :3], axis=1)
    print(f"by these forces alone it is {off[STEPS // 2]:.2f} mm off its way after 1 s, {off[-1]:.1f} mm after 2 s")
    print(f"the loops are open by at most {abs(mech.constraint_error(moved.q)).max():.0e} m")


if __name__ == "__main__":
    main()
