"""Reading MJCF: `kinetree.load`, which has MuJoCo compile the file, beside that compiler alone."""

from __future__ import annotations

import sysconfig
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import mujoco

import kinetree as kt
from benchmarks.machine import Section

SITE = Path(sysconfig.get_paths()["purelib"])
PACKAGES = ("gymnasium", "gymnasium_robotics", "mujoco", "mujoco_warp", "mujoco_playground", "mjlab", "newton")
PACKAGES += ("dm_control", "robosuite")


def _moves(path: Path) -> bool:
    if b"<mujoco" not in path.read_bytes()[:100_000]:
        return False
    try:
        return bool(mujoco.MjModel.from_xml_path(str(path)).nv)
    except ValueError:
        return False


def _seconds(read: Callable[[str], object], path: Path) -> float:
    mujoco.mj_clearCache(mujoco.mj_getCache())  # of meshes that an earlier reading has opened
    start = time.perf_counter()
    read(str(path))
    return time.perf_counter() - start


def run(rounds: int) -> Section:
    section = Section(
        "Reading MJCF", "Medians over the files of a wheel in which something moves, of the best of the rounds each."
    )
    mujoco.set_mju_user_warning(lambda _: None)
    warnings.simplefilter("ignore")
    for package in PACKAGES:
        theirs, ours = [], []
        for path in filter(_moves, sorted((SITE / package).rglob("*.xml"))):
            pairs = [
                (_seconds(mujoco.MjModel.from_xml_path, path), _seconds(lambda p: kt.load(p, lenient=True), path))
                for _ in range(min(rounds, 5))
            ]
            for seconds, best in ((theirs, min(a for a, _ in pairs)), (ours, min(b for _, b in pairs))):
                seconds.append(best)
        if not ours:
            continue
        row: dict[str, object] = {"files": package, "number": len(ours)}
        for name, times in (("MuJoCo", theirs), ("kinetree", ours)):
            row[f"{name}, median ms"] = float(f"{1e3 * median(times):.3g}")
            row[f"{name}, largest ms"] = float(f"{1e3 * max(times):.3g}")
        row["median of the ratios"] = float(f"{median(b / a for a, b in zip(theirs, ours, strict=True)):.3g}")
        row["ratio of the sums"] = float(f"{sum(ours) / sum(theirs):.3g}")
        section.rows.append(row)
    mujoco.set_mju_user_warning(None)
    return section
