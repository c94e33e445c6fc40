"""Put the newest results into the README: ``python -m benchmarks.readme``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
README = Path(__file__).parent.parent / "README.md"
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


def table(results: dict[str, Any]) -> list[str]:
    single, batch = results["single"], results["batch"]
    names = list(dict.fromkeys(r["function"] for r in single if r["function"] != "geometric mean"))
    lines = ["| function | Panda, one call | Panda, batch | G1, one call | G1, batch |", "|---|---|---|---|---|"]
    for name in [*names, "geometric mean"]:
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
        f"of G1 take {', '.join(parts)}. In brackets, where the result cannot have the memory of one that is gone."
    )


def main() -> None:
    path, results = newest()
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    note = (
        f"Times faster than Pinocchio called from Python (minimum / median of the rounds), and kinetree's own time for "
        f"one state. One core, {results['machine']}; commit {results['commit']}. "
        f"[All results](benchmarks/results/{path.stem}.md)."
    )
    README.write_text(
        before
        + START
        + "\n"
        + "\n".join([note, "", *table(results), "", large_outputs(results["batch"])])
        + "\n\n"
        + END
        + after,
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
