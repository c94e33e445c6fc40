"""What a figure belongs to: the machine, the versions, the commit, and the table it stands in."""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from benchmarks.timing import Timing, ratios


def commit() -> str:
    """Return the short hash of the commit, with a mark where the tree differs from it."""
    folder = Path(__file__).parent
    git = ["git", "-C", str(folder)]
    hash_ = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    status = [*git, "status", "--porcelain", "--untracked-files=no", "--", "../src"]
    dirty = subprocess.run(status, capture_output=True, text=True).stdout.strip()
    return (hash_ or "unknown") + ("-dirty" if dirty else "")


def machine() -> str:
    """Return one line about processor, operating system and versions."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = dict(line.split(":", 1) for line in cpuinfo.read_text().splitlines() if ":" in line)
        fields = {k.strip(): v.strip() for k, v in lines.items()}
        wide = "AVX-512" if "avx512f" in fields.get("flags", "") else "no AVX-512"
        model = (
            f"{fields.get('model name', model)} family {fields.get('cpu family')} model {fields.get('model')}, {wide}"
        )
    versions = ", ".join(f"{p} {version(p)}" for p in ("numpy", "llvmlite", "pin", "casadi"))
    return f"{model}; {platform.system()}; Python {platform.python_version()}; {versions}"


@contextlib.contextmanager
def without_cache() -> Iterator[None]:
    """Let every function be compiled anew."""
    before = os.environ.get("KINETREE_CACHE_DIR")
    os.environ["KINETREE_CACHE_DIR"] = "off"
    try:
        yield
    finally:
        if before is None:
            del os.environ["KINETREE_CACHE_DIR"]
        else:
            os.environ["KINETREE_CACHE_DIR"] = before


@dataclass
class Section:
    """One table: its title, what its columns are, and its rows."""

    title: str
    note: str
    rows: list[dict[str, object]] = field(default_factory=list)

    def compare(self, labels: Mapping[str, str], ours: str, timings: Mapping[str, Timing], per: int, unit: str) -> None:
        """Add a row for each way to do the thing; `per` states a pass, in this unit (ns, µs)."""
        scale = {"ns": 1e9, "µs": 1e6, "ms": 1e3}[unit] / per
        for way, timing in timings.items():
            row: dict[str, object] = {**labels, "way": way}
            row[f"min {unit}"] = float(f"{timing.minimum * scale:.4g}")
            row[f"median {unit}"] = float(f"{timing.median * scale:.4g}")
            if way != ours:
                by_min, by_median = ratios(timing, timings[ours])
                row["times slower, min"] = float(f"{by_min:.3g}")
                row["times slower, median"] = float(f"{by_median:.3g}")
            self.rows.append(row)

    def markdown(self) -> list[str]:
        """Return the table as Markdown."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        lines = [f"## {self.title}", "", self.note, "", "| " + " | ".join(columns) + " |"]
        lines.append("|" + "---|" * len(columns))
        lines += ["| " + " | ".join(str(row.get(c, "")) for c in columns) + " |" for row in self.rows]
        return [*lines, ""]
