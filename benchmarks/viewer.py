"""The viewer: CPU of a pose, and motions of two seconds as files."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.robots import _example_robot_data
from benchmarks.timing import Timing

POSES, SECONDS, FPS = 50, 2.0, 30.0


def run(rounds: int) -> Section:
    note = "CPU of this process, all threads, a pose; nobody looks. Files of two seconds, 61 poses, with meshes."
    section = Section("Viewer", note)
    for name in ("panda", "go2"):
        robot = kt.load(_example_robot_data(f"/{name}.urdf"), floating_base=name == "go2")
        t, drift = np.linspace(0.0, SECONDS, 61), np.linspace(0.0, 0.5, 61)[:, None] * np.ones(robot.nv)
        motion = kt.Trajectory(robot, t, robot.integrate(robot.neutral(), drift), np.zeros((61, robot.nv)))
        spent = []
        with robot.view(browser=False) as view:
            for _ in range(rounds + 1):
                begin = time.process_time()
                for k in range(POSES):
                    view.show(motion.q[k])
                spent.append((time.process_time() - begin) / POSES)
        labels = {"robot": name, "meshes": str(len(robot.visual_geometry))}
        section.compare(labels, "show", {"show": Timing(tuple(spent[1:]))}, 1, "ms")
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            motion.save_html(path := Path(folder) / "motion.html", fps=FPS)
            section.rows[-1] |= {"save_html s": round(time.perf_counter() - begin, 2)}
            section.rows[-1] |= {"HTML MB": round(path.stat().st_size / 1e6, 2)}
    return section
