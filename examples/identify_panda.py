"""From logs of a Panda to a robot file that was validated: ``python examples/identify_panda.py [FOLDER]``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.identification import read_log, validate

RATE, DURATION = 500.0, 12.0
CUTOFF = 10.0


def reality() -> kt.Robot:
    """Return a Panda with a gripper that nobody has described, rotors and friction."""
    gripper = kt.Inertia.from_com(0.9, [0.0, 0.01, 0.07], np.diag([0.003, 0.003, 0.001]))
    robot = kt.load("panda").attach(gripper, "panda_hand")
    return robot.with_joint_physics(damping=0.6, friction=0.5, armature=0.15).with_friction(smoothing=0.01)


def record(path: Path, robot: kt.Robot, seed: int) -> None:
    """Write what its encoders and torque sensors would say of a motion: a few sines of each joint, and noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, DURATION, 1.0 / RATE)
    middle, reach = 0.5 * (robot.upper_limits + robot.lower_limits), 0.1 * (robot.upper_limits - robot.lower_limits)
    phase = np.multiply.outer(t, rng.uniform(0.5, 2.0, (3, 7))) + rng.uniform(0.0, 6.0, (3, 7))
    rates = (phase[1] - phase[0]) * RATE
    q = middle + (reach * np.sin(phase)).sum(axis=1)
    v = (reach * rates * np.cos(phase)).sum(axis=1)
    a = -(reach * rates**2 * np.sin(phase)).sum(axis=1)
    tau = robot.inverse_dynamics(q, v, a) + 0.5 * rng.normal(size=q.shape)
    columns = [f"q.{name}" for name in robot.q_names] + [f"tau.{name}" for name in robot.v_names]
    table = np.column_stack([t, q + 1e-5 * rng.normal(size=q.shape), tau])
    np.savetxt(path, table, fmt="%.7g", delimiter=",", header=",".join(["t", *columns]), comments="")


def main(folder: str = "") -> None:
    """Record two motions, identify by one, validate by the other, and write the robot; into a folder, a report too."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(folder or scratch)
        for seed, name in enumerate(("train.csv", "test.csv")):
            record(place / name, reality(), seed)
        robot = kt.load("panda")
        logs = (read_log(place / name, robot) for name in ("train.csv", "test.csv"))
        train, test = (log.filtered(kt.Filter(cutoff=CUTOFF, smoothing=0.01)) for log in logs)
        fit = robot.identify(train, ["armature", "damping", "friction"], smoothing=0.01)
        found = validate(fit, test)
        print(f"{fit.base.dimension} base parameters from {fit.count} samples")
        print("joint         noise  not explained, before")
        for name, noise, now, before in zip(robot.v_names, fit.noise, found.relative, found.before, strict=True):
            print(f"{name}  {noise:5.2f}  {100 * now:10.1f} %  {100 * before:4.0f} %")
        off = np.abs(fit.values - fit.base.of(reality()))
        print(f"{np.mean(off < 2.0 * fit.std):.0%} of the parameters are within two standard deviations of the truth")
        (place / "identified.urdf").write_text(fit.robot.to_urdf(original="panda", lenient=True))
        if folder:
            fit.report(place / "report.html", training=train, validation=found)


if __name__ == "__main__":
    main(*sys.argv[1:])
