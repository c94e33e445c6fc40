"""Inverse kinematics of random reachable targets beside its peers: how many are solved, and how long one takes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import kinetree as kt
from benchmarks.ik_peers import Solve, peers
from benchmarks.machine import Section
from benchmarks.robots import _example_robot_data, _frax
from benchmarks.timing import Timing, interleaved

TOLERANCE = 1e-6
BATCH = 4096

EVERY = {"Pinocchio, damped": 10, "pink": 100}
"""Of how many targets the loops in Python have one: they take milliseconds."""

ARM = """<robot name="arm3">
<link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="tip"/>
{joints}
<joint name="end" type="fixed"><parent link="c"/><child link="tip"/><origin xyz="0.35 0 0"/></joint>
</robot>"""

JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/><origin xyz="{3}"/>
<axis xyz="{4}"/><limit lower="{5}" upper="{6}" velocity="3" effort="10"/></joint>"""

JOINTS = (
    ("yaw", "base", "a", "0 0 0.1", "0 0 1", -3.0, 3.0),
    ("shoulder", "a", "b", "0.05 0 0.2", "0 1 0", -1.9, 1.9),
    ("elbow", "b", "c", "0.4 0 0", "0 1 0", -2.6, 2.6),
)


@dataclass(frozen=True)
class Problem:
    """An arm, and what it is to reach: whole poses, or places of a frame's origin."""

    name: str
    urdf: Path
    frame: str
    robot: kt.Robot
    kind: str

    @property
    def start(self) -> np.ndarray:
        """The middle between the limits."""
        return 0.5 * (self.robot.lower_limits + self.robot.upper_limits)

    def poses(self, n: int) -> np.ndarray:
        return self.robot.frame_placement(self.robot.random_configuration(1, n), frame=self.frame)

    def solved(self, q: np.ndarray | None, pose: np.ndarray) -> bool:
        """Return whether q is within the limits and its errors are within the tolerance, by forward kinematics."""
        if q is None or not ((q >= self.robot.lower_limits - 1e-9) & (q <= self.robot.upper_limits + 1e-9)).all():
            return False
        here = self.robot.frame_placement(q, frame=self.frame)
        R = here[:3, :3].T @ pose[:3, :3]
        turn = np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
        aligned = self.kind == "position" or (turn <= 1.01 * TOLERANCE and np.trace(R) > 2)
        return bool(np.linalg.norm(here[:3, 3] - pose[:3, 3]) <= 1.01 * TOLERANCE and aligned)


def problems(folder: Path) -> Iterator[Problem]:
    arm = folder / "arm3.urdf"
    arm.write_text(ARM.format(joints="\n".join(JOINT.format(*joint) for joint in JOINTS)))
    for name, path, frame, kind in (
        ("ur5", _example_robot_data("ur_description/urdf/ur5_robot.urdf"), "tool0", "pose"),
        ("panda", _frax("franka_panda/panda.urdf"), "panda_hand", "pose"),
        ("iiwa14", _frax("iiwa/iiwa14.urdf"), "iiwa_link_7", "pose"),
        ("3 joints", arm, "tip", "position"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield Problem(name, path, frame, kt.load(path), kind)


def ours(problem: Problem) -> dict[str, Solve]:
    """Return the solver as a method of a robot, and as a function made ahead."""
    robot, frame, start = problem.robot, problem.frame, problem.start
    solve = robot.inverse_kinematics_solver({frame: problem.kind})
    tolerances = {"position_tolerance": TOLERANCE, "orientation_tolerance": TOLERANCE}
    whole = problem.kind == "pose"
    return {
        "kinetree, solver": lambda T: solve(start, T if whole else T[:3, 3], **tolerances).q,
        "kinetree": lambda T: robot.inverse_kinematics(T if whole else T[:3, 3], frame, q0=start, **tolerances).q,
    }


def run(rounds: int) -> Section:
    kt.set_num_threads(1)
    section = Section(
        "Inverse kinematics",
        "Microseconds for one random reachable pose (of the arm with 3 joints: its place), to 1e-6 m and rad within "
        "the limits, from the middle of the joints' ranges and then from up to 100 other starts. Solved: checked by "
        "forward kinematics. The loops in Python have a part of the targets. A batch: a pose, on one thread.",
    )
    with TemporaryDirectory() as folder:
        for problem in problems(Path(folder)):
            _one_by_one(section, problem, 10_000 if rounds > 3 else 300)
            _differential(section, problem, rounds)
            _batch(section, problem, rounds)
    return section


def _one_by_one(section: Section, problem: Problem, n: int) -> None:
    """Solve the targets in every way, a hundred after another, so that each way meets its own code warm."""
    ways = {**ours(problem), **peers(problem, TOLERANCE)}
    poses = problem.poses(n)
    times: dict[str, list[float]] = {way: [] for way in ways}
    solved: dict[str, int] = dict.fromkeys(ways, 0)
    for block in range(0, n, 100):
        for way, solve in ways.items():
            solve(poses[block])
            for pose in poses[block : block + 100 : EVERY.get(way, 1)]:
                start = time.perf_counter()
                q = solve(pose)
                times[way].append(time.perf_counter() - start)
                solved[way] += problem.solved(q, pose)
    for way, spent in times.items():
        q50, q90, q99 = np.percentile(spent, (50, 90, 99)) * 1e6
        row: dict[str, object] = {"robot": problem.name, "way": way, "solved": f"{solved[way]} of {len(spent)}"}
        row |= {"median µs": float(f"{q50:.4g}"), "90 % µs": float(f"{q90:.4g}"), "99 % µs": float(f"{q99:.4g}")}
        row["times slower, median"] = float(f"{q50 / (np.median(times['kinetree, solver']) * 1e6):.3g}")
        section.rows.append(row)


def _differential(section: Section, problem: Problem, rounds: int) -> None:
    step = problem.robot.differential_inverse_kinematics({problem.frame: problem.kind})
    q, pose = problem.start, problem.poses(1)[0]
    target = pose if problem.kind == "pose" else pose[:3, 3].copy()
    _add(section, problem, "kinetree, one step", interleaved({"step": lambda: step(q, target, 0.001)}, rounds)["step"])


def _batch(section: Section, problem: Problem, rounds: int) -> None:
    solve, poses = ours(problem)["kinetree, solver"], problem.poses(BATCH)
    robot = problem.robot.inverse_kinematics_solver({problem.frame: problem.kind})
    targets = poses if problem.kind == "pose" else np.ascontiguousarray(poses[:, :3, 3])
    tolerances = {"position_tolerance": TOLERANCE, "orientation_tolerance": TOLERANCE}
    solve = lambda: robot(problem.start, targets, **tolerances)  # noqa: E731
    _add(section, problem, "kinetree, a batch", interleaved({"batch": solve}, rounds)["batch"], BATCH)


def _add(section: Section, problem: Problem, way: str, timing: Timing, per: int = 1) -> None:
    median = float(f"{timing.median * 1e6 / per:.4g}")
    least = float(f"{timing.minimum * 1e6 / per:.4g}")
    section.rows.append({"robot": problem.name, "way": way, "median µs": median, "min µs": least})
