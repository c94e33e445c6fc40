"""The robots of the benchmarks: third-party URDFs from installed packages, and states for them and their peers."""

from __future__ import annotations

import importlib.util
import warnings
from dataclasses import dataclass
from importlib.metadata import files
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.algorithms import ALGORITHMS
from kinetree.algorithms.registry import OneFrame


@dataclass(frozen=True)
class Case:
    """A robot, and a batch of states in kinetree's conventions."""

    name: str
    urdf: Path
    floating: bool
    frame: str
    robot: kt.Robot

    def options(self, name: str) -> dict[str, str]:
        """Return the options that a function of this name needs."""
        return {key: self.frame for key, kind in ALGORITHMS[name].options.items() if isinstance(kind, OneFrame)}

    def states(self, n: int, seed: int = 0) -> dict[str, np.ndarray]:
        q, v, a = self.robot.random_state(seed, n)
        return {"q": q, "v": v, "a": a, "tau": 10.0 * a}


def _frax(relative: str) -> Path:
    spec = importlib.util.find_spec("frax")
    if spec is None or spec.origin is None:
        raise SystemExit("the benchmarks use frax's Panda: pip install --no-deps frax")
    return Path(spec.origin).parent / "assets" / relative


def _example_robot_data(relative: str) -> Path:
    for file in files("example-robot-data") or []:
        if str(file).endswith(relative):
            return Path(str(file.locate())).resolve()
    raise SystemExit(f"example-robot-data has no {relative}")


def cases() -> list[Case]:
    """Return the Panda with its 7 joints, and the floating G1 with 29."""
    out = []
    for name, path, floating, frame in (
        ("panda", _frax("franka_panda/panda.urdf"), False, "panda_hand"),
        ("g1", _example_robot_data("g1_description/urdf/g1_29dof_rev_1_0.urdf"), True, "right_rubber_hand"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kt.NonPhysicalInertiaWarning)
            out.append(Case(name, path, floating, frame, kt.load(path, floating_base=floating)))
    return out


def example(name: str) -> Case:
    """Return the UR5 or the floating Go2 of example-robot-data."""
    path = _example_robot_data({"ur5": "ur5_robot.urdf", "go2": "go2.urdf"}[name])
    frame, floating = {"ur5": ("tool0", False), "go2": ("FL_foot", True)}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.NonPhysicalInertiaWarning)
        return Case(name, path, floating, frame, kt.load(path, floating_base=floating))
