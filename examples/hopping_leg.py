"""A hopping leg with a closed loop, whose foot pushes and rubs: ``python examples/hopping_leg.py``.

Two thighs on one axis are driven; their shanks meet at the foot, so that the tree is cut there and closed by a `Loop`.
The motors hold the leg as a spring would, and push longer than they hold back.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.joints import Prismatic, Revolute

THIGH, SHANK = 0.1, 0.2
HIPS = np.array([0.6, np.pi - 0.6])  # rad below the horizontal, of the thighs where the leg rests
STIFFNESS, DAMPING, PUSH = 15.0, 0.15, 1.25  # N·m/rad, N·m·s/rad, and how many times stiffer it extends than it bends
HINGE = Revolute((0, 1, 0))


def leg() -> tuple[kt.Mechanism, kt.Array]:
    """Return the leg on a vertical rail, and a configuration in which the shanks meet."""
    b = kt.ModelBuilder("leg")
    b.add_link("ground")
    b.add_link("body", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3) * 1e-2))
    b.add_joint("height", parent="ground", child="body", joint=Prismatic((0, 0, 1)))
    for side in ("front", "back"):
        for part, length, parent in (("thigh", THIGH, "body"), ("shank", SHANK, f"{side}_thigh")):
            rod = kt.Inertia.from_com(0.05, (length / 2, 0, 0), np.diag([1e-6, 1, 1]) * 0.05 * length**2 / 12)
            b.add_link(f"{side}_{part}", rod)
            place = np.eye(4)
            place[0, 3] = THIGH * (part == "shank")
            b.add_joint(f"{side}_{part}", parent=parent, child=f"{side}_{part}", joint=HINGE, placement=place)
        tip = np.eye(4)
        tip[0, 3] = SHANK
        b.add_frame(f"{side}_foot", link=f"{side}_shank", placement=tip)
    mech = kt.Mechanism(
        kt.Robot(b.build()),
        [kt.Loop("front_foot", "back_foot", HINGE), kt.Contact("front_foot", friction=0.8, name="foot")],
    )
    reach = THIGH * np.cos(HIPS[0])  # from the axis to the front knee; the foot is below the axis
    shank = np.arctan2(np.sqrt(SHANK**2 - reach**2), -reach)
    return mech, np.array([0.5, HIPS[0], shank - HIPS[0], HIPS[1], HIPS[0] - shank])


def hop(mech: kt.Mechanism, start: kt.Array) -> kt.Trajectory:
    """Return the motion of 3 s that begins with a fall."""

    @mech.tree.compile
    def springy(q: kt.Array, v: kt.Array) -> kt.Array:
        """Return the torques of the two motors, of springs that push harder than they give way."""
        bend, rate = q[1::2] - HIPS, v[1::2]
        stiffness = kt.where(bend * rate < 0.0, PUSH * STIFFNESS, STIFFNESS)
        torques = -stiffness * bend - DAMPING * rate
        return np.stack([0.0, torques[0], 0.0, torques[1], 0.0])

    return mech.simulate(start, duration=3.0, controller=springy, record="f")


def main() -> None:
    """Print how high the leg hops, and that its loop stays closed."""
    mech, start = leg()
    motion = hop(mech, start)
    height = motion.q[:, 0]
    tops = [k for k in range(1, len(height) - 1) if height[k - 1] < height[k] >= height[k + 1]]
    foot, loop = motion.f[:, mech.row_slices["foot"]], mech.row_slices["loop_front_foot_back_foot"]
    print("it hops " + ", ".join(f"{100 * height[k]:.1f}" for k in tops[:5]) + " cm high")
    flies = (foot[:, 2] == 0.0).mean()
    print(f"the foot pushes with up to {foot[:, 2].max():.0f} N, and is in the air {flies:.0%} of the time")
    print(f"the loop is open by at most {abs(mech.constraint_error(motion.q)[:, loop]).max():.0e}")


if __name__ == "__main__":
    main()
