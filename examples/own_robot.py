"""A cart with a pendulum, built in Python and let go: ``python examples/own_robot.py``."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.joints import Prismatic, Revolute

DT, SECONDS = 1e-4, 5.0


def cart_pole() -> kt.Robot:
    """Return a cart of 1 kg on a rail, and a pole of 0.2 kg and 1 m that hangs from it."""
    b = kt.ModelBuilder("cart-pole")
    b.add_link("rail")
    b.add_link("cart", kt.Inertia(1.0, [0, 0, 0], np.zeros((3, 3))))
    b.add_link("pole", kt.Inertia(0.2, [0, 0, -0.5], np.diag([1 / 60, 1 / 60, 0])))
    b.add_joint("slide", parent="rail", child="cart", joint=Prismatic((1, 0, 0)))
    b.add_joint("hinge", parent="cart", child="pole", joint=Revolute((0, 1, 0)))
    return kt.Robot(b.build())


def main() -> None:
    """Let the pole fall from the horizontal, and print how well energy and momentum are kept."""
    robot = cart_pole()

    @robot.compile
    def step(q: kt.Array, v: kt.Array) -> dict[str, kt.Array]:
        v = v + DT * robot.forward_dynamics(q, v, np.zeros(2))
        return {"q": robot.integrate(q, DT * v), "v": v}

    rollout = kt.scan(step, {"q": "q", "v": "v"}, record=["q", "v"])
    _, record = rollout([0.0, np.pi / 2], [0.0, 0.0], steps=round(SECONDS / DT), every=1000)
    energy = robot.mechanical_energy(record.q, record.v)
    sway = record.q[:, 0]
    centre = robot.center_of_mass(record.q)[:, 0]
    print(f"energy within {np.ptp(energy):.1e} J of {energy.mean():.4f} J")
    print(f"the cart sways by {np.ptp(sway):.3f} m, the centre of mass by {np.ptp(centre):.1e} m")


if __name__ == "__main__":
    main()
