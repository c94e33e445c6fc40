"""Forward dynamics with constraints beside Pinocchio's: a hand welded, feet on the ground, a Stewart platform.

The mechanism, and the same tree for Pinocchio, are made by the helpers of the tests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.timing import interleaved

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from helpers.mechanisms import stewart
from helpers.pinocchio_oracle import build, se3

N = 4096
FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
SOLES = ("left_ankle_roll_link", "right_ankle_roll_link")

Array = np.ndarray


class Peer:
    """Pinocchio's `constraintDynamics` of a mechanism whose constraints are welds, contacts of points and ball joints.

    Raises
    ------
    RuntimeError
        If it does not accelerate as kinetree's does.
    """

    def __init__(self, mech: kt.Mechanism) -> None:
        self.oracle = o = build(mech.tree.model)
        self.constraints, self.data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for c in mech.constraints:
            kind = pin.ContactType.CONTACT_6D if isinstance(c, kt.Weld) else pin.ContactType.CONTACT_3D
            ends: list[Any] = []
            for name in c.of:
                frame = o.ours.frame(name)
                ends += [o.theirs.getJointId(o.ours.bodies[frame.body].joint_name), se3(frame.X)]
            self.constraints.append(pin.RigidConstraintModel(kind, o.theirs, *ends, pin.ReferenceFrame.LOCAL))
        for constraint in self.constraints:
            self.data.append(constraint.createData())
        pin.initConstraintDynamics(o.theirs, o.data, self.constraints, self.data)
        self.settings = pin.ProximalSettings(1e-12, 1e-10, 10)

    def state(self, q: Array, v: Array, tau: Array) -> tuple[Array, ...]:
        """Return a state as Pinocchio takes it."""
        o = self.oracle
        return o.to_pin_q(q[None])[0], o.to_pin_v(v[None])[0], o.to_pin_v(tau[None])[0]

    def accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        """Return Pinocchio's accelerations for a state as it takes it."""
        o = self.oracle
        return pin.constraintDynamics(o.theirs, o.data, q, v, tau, self.constraints, self.data, self.settings)

    def check(self, mech: kt.Mechanism, q: Array, v: Array, tau: Array) -> None:
        """Raise where it does not accelerate as kinetree's does."""
        theirs = self.oracle.from_pin_v(self.accelerations(*self.state(q, v, tau))[None])[0]
        ours = mech.forward_dynamics(q, v, tau).a
        off = float(np.abs(ours - theirs).max() / np.abs(ours).max())
        if not off < 1e-7:
            raise RuntimeError(f"{mech.tree.name}: the accelerations are {off:.1e} apart")


def cases() -> Iterator[tuple[str, kt.Mechanism, Array]]:
    """Yield names, mechanisms, and N configurations in which the constraints hold."""
    panda, go2, g1 = (kt.load(name) for name in ("panda", "go2", "g1"))
    hold = panda.random_configuration(seed=1)
    hand = kt.Weld("panda_hand", placement=panda.frame_placement(hold, frame="panda_hand"))
    yield "panda, hand welded", kt.Mechanism(panda, [hand]), np.tile(hold, (N, 1))
    standing = kt.Mechanism(go2, [kt.Contact(foot) for foot in FEET])
    yield "go2, four feet", standing, standing.assemble(go2.random_configuration(seed=1, size=N)).q
    stance = g1.random_configuration(seed=1)
    soles = [kt.Weld(sole, placement=g1.frame_placement(stance, frame=sole)) for sole in SOLES]
    yield "g1, two soles welded", kt.Mechanism(g1, soles), np.tile(stance, (N, 1))
    hexapod, q = stewart()
    yield "Stewart platform", hexapod, np.tile(q, (N, 1))


def run(rounds: int) -> Section:
    kt.set_num_threads(1)
    section = Section("Forward dynamics with constraints", f"Nanoseconds a state; one, and {N} on one thread.")
    for name, mech, q in cases():
        rng = np.random.default_rng(0)
        v = mech.project_velocity(q, rng.normal(size=(N, mech.nv)))
        tau = rng.normal(size=(N, mech.nv), scale=10.0)
        one, peer = tuple(x[0].copy() for x in (q, v, tau)), Peer(mech)
        peer.check(mech, *one)
        theirs = partial(peer.accelerations, *peer.state(*one))
        timings = interleaved(
            {
                "kinetree": partial(mech.forward_dynamics, *one),
                "Pinocchio": theirs,
                "Pinocchio, without constraints": partial(
                    pin.aba, peer.oracle.theirs, peer.oracle.data, *peer.state(*one)
                ),
            },
            rounds,
        )
        operations = sum(mech.forward_dynamics.op_count.values())
        section.compare(
            {"mechanism": name, "operations": str(operations), "states": "one"}, "kinetree", timings, 1, "ns"
        )
        labels = {"mechanism": name, "operations": str(operations), "states": "a batch"}
        many = interleaved({"batch": partial(mech.forward_dynamics, q, v, tau), "Pinocchio": theirs}, rounds)
        per_state = {"kinetree": many["batch"].over(N), "Pinocchio": many["Pinocchio"]}
        section.compare(labels, "kinetree", per_state, 1, "ns")
    return section
