"""Fresh processes: the import, and the first result with an empty and with a warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping

from benchmarks.machine import Section
from benchmarks.robots import cases
from benchmarks.timing import Timing

FIRST = """
import kinetree as kt
robot = kt.load({path!r}, floating_base={floating})
q, v, a = robot.random_state(seed=0)
robot.{name}(q, v, a)
"""


OVER_NUMPY = """
import time
import numpy as np
start = time.process_time()
import kinetree as kt
robot = kt.load({name!r})
robot.inverse_dynamics(np.zeros(robot.nq), np.zeros(robot.nv), np.zeros(robot.nv))
print(time.process_time() - start)
"""
"""What kinetree adds to NumPy's import, in seconds of CPU. It is run with one thread of OpenBLAS: the others wait in a
loop for a tenth of a second after NumPy's import, and that time would count."""


def _over_numpy(name: str, cache: str) -> float:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "KINETREE_CACHE_DIR": cache}
    code = [sys.executable, "-W", "ignore", "-c", OVER_NUMPY.format(name=name)]
    return float(subprocess.run(code, check=True, env=environment, capture_output=True, text=True).stdout)


def _seconds(code: str, environment: Mapping[str, str]) -> float:
    known = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, env={**known, **environment})
    return time.perf_counter() - start


def run(rounds: int) -> Section:
    section = Section("Fresh processes", "Milliseconds of a whole process, the interpreter's own start included.")
    with tempfile.TemporaryDirectory() as warm:
        ways: dict[tuple[str, str], tuple[str, str | None]] = {
            ("", "python -c pass"): ("pass", warm),
            ("", "import numpy"): ("import numpy", warm),
            ("", "import pinocchio"): ("import numpy, pinocchio", warm),
            ("", "import kinetree"): ("import kinetree", warm),
        }
        for case in cases():
            for name in ("inverse_dynamics", "forward_dynamics"):
                code = FIRST.format(path=str(case.urdf), floating=case.floating, name=name)
                ways[case.name, f"first {name}, empty cache"] = (code, None)
                ways[case.name, f"first {name}, warm cache"] = (code, warm)
        spent: dict[tuple[str, str], list[float]] = {key: [] for key in ways}
        for k in range(rounds + 1):
            for key, (code, cache) in ways.items():
                with tempfile.TemporaryDirectory() as empty:
                    seconds = _seconds(code, {"KINETREE_CACHE_DIR": cache or empty})
                if k > 0:  # the first round fills the warm cache and the file system's
                    spent[key].append(seconds)
        for name in ("panda", "g1"):
            measured = [_over_numpy(name, warm) for _ in range(rounds + 1)]
            spent[name, "load and first call over import numpy, CPU"] = measured[1:]
    for (robot, way), times in spent.items():
        section.compare({"robot": robot}, way, {way: Timing(tuple(times))}, 1, "ms")
    return section
