"""A quadruped lands on stones, which coal's collision detection finds: ``python examples/stepping_stones.py``.

Needs the extra ``collision``. Each foot is a sphere with a place for one contact, a `kinetree.ContactSlot`; at every
step coal tells which stone is nearest, and where.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt

FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
RADIUS, DT = 0.02, 1e-3
STANCE = np.array([0.0, 0.9, -1.8] * 4)


def quadruped() -> kt.Mechanism:
    """Return Go2 with springs and dampers in its joints, and a slot for each foot."""
    robot = kt.load("go2")
    joints = robot.joint_names[1:]
    soft = robot.with_joint_physics(
        stiffness=dict.fromkeys(joints, 60.0),
        damping=dict.fromkeys(joints, 2.0),
        rest_position=dict(zip(joints, STANCE, strict=True)),
    )
    soft = soft.with_friction(coulomb=False)
    return kt.Mechanism(soft, [kt.ContactSlot(foot, foot, friction=0.8) for foot in FEET])


class Stones:
    """A field of blocks of different heights, asked by coal."""

    def __init__(self) -> None:
        import coal

        self._coal, rng = coal, np.random.default_rng(4)
        self._foot = coal.Sphere(RADIUS)
        self._block = coal.Box(0.19, 0.19, 0.4)
        places = [(0.2 * i, 0.2 * j) for i in range(-3, 4) for j in range(-2, 3)]
        heights = rng.uniform(-0.03, 0.03, len(places))
        self._at = [
            coal.Transform3s(np.eye(3), np.array([x, y, h - 0.2])) for (x, y), h in zip(places, heights, strict=True)
        ]

    def nearest(self, centre: kt.Array) -> tuple[kt.Array, kt.Array, float]:
        """Return the point, normal and gap of a foot against the stone that is nearest."""
        coal, where = self._coal, self._coal.Transform3s(np.eye(3), centre)
        near = [T for T in self._at if abs(T.getTranslation() - centre)[:2].max() < 0.25]
        found = []
        for T in near:
            result = coal.DistanceResult()
            gap = coal.distance(self._foot, where, self._block, T, coal.DistanceRequest(), result)
            found.append((gap, result.getNearestPoint2(), -result.normal))
        gap, point, normal = min(found, key=lambda x: x[0])
        return point, normal, gap


def main() -> None:
    """Print how the quadruped comes to rest."""
    mech, stones = quadruped(), Stones()
    q, v, f = np.array([0.0, 0.0, 0.45, 0.0, 0.0, 0.0, 1.0, *STANCE]), np.zeros(18), np.zeros(12)
    deepest, hardest, none = 0.0, 0.0, np.zeros(18)
    for _ in range(1000):
        centres = [mech.tree.frame_placement(q, frame=foot)[:3, 3] for foot in FEET]
        near = {foot: stones.nearest(centre) for foot, centre in zip(FEET, centres, strict=True)}
        deepest = max(deepest, *(-gap for _, _, gap in near.values()))
        q, v, f, _, _ = mech.contact_step(q, v, none, DT, contacts=kt.ContactInputs(slots=mech.slots(near)), f_start=f)
        hardest = max(hardest, f[2::3].sum())
    heights = " ".join(f"{1000 * (mech.tree.frame_placement(q, frame=foot)[2, 3] - RADIUS):.0f}" for foot in FEET)
    print(
        f"it stands on stones {heights} mm high, and bears {f[2::3].sum() / (9.81 * mech.tree.mass):.2f} of its weight"
    )
    print(
        f"landing took {hardest / (9.81 * mech.tree.mass):.0f} times its weight; feet went in by {1e6 * deepest:.0f} µm"
    )


if __name__ == "__main__":
    main()
