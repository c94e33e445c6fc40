"""Put the newest results into docs/speed.md, and six rows of them into the README: ``python -m benchmarks.readme``."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parent.parent
SHORT = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "jacobian", "center_of_mass")
"""The rows of the README."""
START, END = "<!-- benchmark table -->\n", "<!-- end of the benchmark table -->"


def newest() -> tuple[Path, dict[str, Any]]:
    """Return the newest results that have the sections of the table."""
    for path in sorted(RESULTS.glob("*.json"), key=lambda p: p.stat().st_mtime, reverse=True):
        results = json.loads(path.read_text())
        if {"single", "batch"} <= results.keys():
            return path, results
    raise SystemExit(f"no results with the sections single and batch in {RESULTS}")


def row_of(rows: list[dict[str, Any]], robot: str, function: str, way: str) -> dict[str, Any] | None:
    found = (r for r in rows if (r.get("robot"), r.get("function"), r["way"]) == (robot, function, way))
    return next(found, None)


def _ratio(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    low, middle = row.get("times slower, min"), row["times slower, median"]
    return f"{middle:.3g}" if low is None else f"{low:.3g} / {middle:.3g}"


def table(results: dict[str, Any], only: Collection[str] = ()) -> list[str]:
    single, batch = results["single"], results["batch"]
    names = list(dict.fromkeys(r["function"] for r in single if r["function"] != "geometric mean"))
    names = [name for name in names if name in only] if only else names
    lines = ["| function | Panda, one call | Panda, batch | G1, one call | G1, batch |", "|---|---|---|---|---|"]
    for name in names if only else [*names, "geometric mean"]:
        cells = []
        for robot in ("panda", "g1"):
            ours = row_of(single, robot, name, "kinetree")
            cell = _ratio(row_of(single, robot, name, "pinocchio"))
            cells.append(f"{cell} ({ours['min ns']:.0f} ns)" if ours else cell)
            ours = row_of(batch, robot, name, "kinetree")
            cell = _ratio(row_of(batch, robot, name, "pinocchio in a loop"))
            cells.append(f"{cell} ({ours['min ns']:.0f} ns)" if ours else cell)
        label = f"`{name}`" if name in names else "geometric mean (of the medians)"
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines


def large_outputs(batch: list[dict[str, Any]], least_ns: float = 500.0) -> str:
    """Return a sentence on the results that take longer to write than to compute."""
    parts = []
    for row in batch:
        if row["way"] == "np.full of the output" and row["min ns"] > least_ns:
            rows = [row_of(batch, row["robot"], row["function"], f"kinetree{way}") for way in ("", ", new memory")]
            times = [f"{ours['min ns'] / row['min ns']:.2f} ×" for ours in rows if ours]
            parts.append(f"`{row['function']}` {' ('.join(times)}{')' * (len(times) - 1)}")
    return (
        "Where a result is large, memory sets the pace: against `np.full` of a fresh array of that size, the batches "
        f"of G1 take {', '.join(parts)}. In brackets, where the result is not in reused memory."
    )


def write(page: Path, lines: list[str]) -> None:
    """Put lines between the marks of a page."""
    before, rest = page.read_text(encoding="utf-8").split(START)
    page.write_text(before + START + "\n" + "\n".join(lines) + "\n\n" + END + rest.split(END)[1], encoding="utf-8")


def main() -> None:
    path, results = newest()
    what = (
        "Times faster than Pinocchio called from Python (minimum / median of the rounds), and our own time for a state"
    )
    note = f"{what}. One core, {results['machine']}; commit {results['commit']}. [All results]({{}}/{path.stem}.md)."
    full = [note.format("../benchmarks/results"), "", *table(results), "", large_outputs(results["batch"])]
    write(ROOT / "docs" / "speed.md", full)
    write(
        ROOT / "README.md",
        [*table(results, SHORT), "", f"{what}. [All functions, and what else is measured](docs/speed.md)."],
    )


if __name__ == "__main__":
    main()
