"""``python -m benchmarks [--quick] [SECTION ...]``: measure, print, and keep under ``benchmarks/results/``."""

from __future__ import annotations

import argparse
import json
import os
from datetime import date
from pathlib import Path

from benchmarks import (
    batch,
    c,
    calls,
    compiling,
    constraints,
    contact_simulation,
    contacts,
    derivatives,
    elementary,
    first_use,
    frameworks,
    hybrid,
    identification,
    inverse_kinematics,
    latency,
    long_log,
    mjcf,
    outputs,
    simulation,
    single,
    startup,
    threads,
    viewer,
)
from benchmarks.machine import commit, machine

SECTIONS = {
    "single": single.run,
    "calls": calls.run,
    "latency": latency.run,
    "batch": batch.run,
    "outputs": outputs.run,
    "hybrid": hybrid.run,
    "derivatives": derivatives.run,
    "frameworks": frameworks.run,
    "constraints": constraints.run,
    "threads": threads.run,
    "startup": startup.run,
    "first_use": first_use.run,
    "compiling": compiling.run,
    "c": c.run,
    "elementary": elementary.run,
    "inverse_kinematics": inverse_kinematics.run,
    "identification": identification.run,
    "long_log": long_log.run,
    "mjcf": mjcf.run,
    "simulation": simulation.run,
    "contact_simulation": contact_simulation.run,
    "contacts": contacts.run,
    "viewer": viewer.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], help="which ones (all by default)")
    parser.add_argument("--quick", action="store_true", help="few rounds: to see that it runs, not to quote")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results", help="where to keep the results")
    options = parser.parse_args()
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    results: dict[str, object] = {"date": date.today().isoformat(), "commit": commit(), "machine": machine()}
    text = [f"# kinetree {results['commit']}, {results['date']}", "", f"{results['machine']}", ""]
    for name in options.sections or SECTIONS:
        if allowed:
            os.sched_setaffinity(0, allowed if name in ("threads", "startup", "simulation") else allowed[-1:])
        section = SECTIONS[name](rounds=3 if options.quick else 11)
        results[name] = section.rows
        text += section.markdown()
        print("\n".join(section.markdown()), flush=True)
    if not options.quick:
        options.out.mkdir(exist_ok=True)
        stem = options.out / f"{results['date']}-{results['commit']}"
        stem.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
        stem.with_suffix(".md").write_text("\n".join(text) + "\n")


main()
