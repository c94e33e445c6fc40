"""One call in every form in which people write it, beside the plain one and Pinocchio's with the same argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.machine import Section
from benchmarks.peers import Pinocchio
from benchmarks.robots import Case, cases
from benchmarks.timing import Thunk, Timing, interleaved, ratios
from kinetree.algorithms import ALGORITHMS

N = 16  # states in turn
BATCHES = (2, 8, 64, 256)
FORMS: dict[str, Callable[[np.ndarray], object]] = {
    "plain": np.copy,
    "list": np.ndarray.tolist,
    "tuple": lambda x: tuple(x.tolist()),
    "list of int": lambda x: np.rint(x).astype(int).tolist(),
    "int64": lambda x: np.rint(x).astype(np.int64),
    "strided": lambda x: np.stack([x] * 3, axis=1)[:, 1],
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder("S")),
    "float32": lambda x: x.astype(np.float32),
}
NAMED = "all by name"


def passes(function: Callable[..., object], calls: list[tuple[object, ...]]) -> Thunk:
    """Return a pass over the calls."""

    def run() -> None:
        for arguments in calls:
            function(*arguments)

    return run


def named(function: Callable[..., object], calls: list[tuple[object, ...]], names: tuple[str, ...]) -> Thunk:
    """Return a pass over the calls with all arguments by name, as it is written in a program."""
    given = ", ".join(f"{name}={name}" for name in names)
    text = f"def run():\n    for {', '.join(names)}, in calls:\n        function({given})"
    space: dict[str, Callable[[], object]] = {"function": function, "calls": calls}  # type: ignore[dict-item]
    exec(text, space)
    return space["run"]


def one_state(case: Case, name: str, pin: Pinocchio) -> tuple[dict[str, Thunk], dict[str, Thunk]]:
    """Return the ways to call kinetree for one state, and those of Pinocchio that it takes."""
    inputs = tuple(ALGORITHMS[name].inputs)
    states = case.states(N)
    calls = {form: [tuple(make(states[k][i]) for k in inputs) for i in range(N)] for form, make in FORMS.items()}
    ours, theirs = getattr(case.robot, name), pin.function(name)
    out = np.empty_like(ours(*calls["plain"][0]))
    ways = {form: passes(ours, calls[form]) for form in FORMS}
    ways[NAMED] = named(ours, calls["plain"], inputs)
    ways["out="] = lambda: [ours(*arguments, out=out) for arguments in calls["plain"]]
    accepted = {}
    for form in FORMS:
        try:
            theirs(*calls[form][0])
        except Exception:  # whatever Boost.Python raises
            continue
        accepted[form] = passes(theirs, calls[form])
    return ways, accepted


def batches(case: Case, name: str) -> dict[str, Thunk]:
    """Return calls with few states, and with many to know the kernel's own time."""
    function, ways = getattr(case.robot, name), {}
    inputs = tuple(ALGORITHMS[name].inputs)
    for n in (*BATCHES, 4096):
        states = case.states(n)
        arrays = [states[k].copy() for k in inputs]
        out = np.empty_like(function(*arrays))
        ways[f"batch of {n}"] = lambda arrays=arrays: function(*arrays)
        ways[f"batch of {n}, out="] = lambda arrays=arrays, out=out: function(*arrays, out=out)
        if len(inputs) > 1:
            ways[f"batch of {n}, the others one state"] = lambda a=[arrays[0], *(x[0] for x in arrays[1:])]: function(
                *a
            )
    return ways


def controller(case: Case) -> dict[str, Thunk]:
    """Return calls of a compiled controller with its gains in several forms."""
    robot, states = case.robot, case.states(N)

    @robot.compile
    def damped(q, v, q_des, kp: float, kd: float):  # type: ignore[no-untyped-def]
        return robot.bias_forces(q, v) + kp * (q_des - q)[-7:].sum() - kd * v

    rows = [(states["q"][i].copy(), states["v"][i].copy(), states["q"][0].copy()) for i in range(N)]
    gains = np.linspace(10.0, 200.0, 8)
    return {
        "plain": lambda: [damped(*row, 100.0, 20.0) for row in rows],
        "gains by name": lambda: [damped(*row, kp=100.0, kd=20.0) for row in rows],
        "gains as int": lambda: [damped(*row, 100, 20) for row in rows],
        "eight gains": lambda: [damped(*row, gains, 20.0) for row in rows],
    }


def options(case: Case) -> dict[str, Thunk]:
    """Return calls of one function with its option in several forms."""
    robot, names = case.robot, list(case.robot.joint_names[1::2])
    states = case.states(N)
    rows = [tuple(states[k][i].copy() for k in ("q", "v", "a", "tau")) for i in range(N)]
    function, bound, fixed = robot.hybrid_dynamics, robot.hybrid_dynamics.bind(prescribed=names), tuple(names)
    turns = list(zip(rows, robot.frame_names * N, strict=False))
    return {
        "plain": lambda: [bound(*row) for row in rows],
        "tuple of names": lambda: [function(*row, prescribed=fixed) for row in rows],
        "list of names": lambda: [function(*row, prescribed=names) for row in rows],
        f"{len({name for _, name in turns})} frames in turn": lambda: [
            robot.frame_placement(row[0], frame=name) for row, name in turns
        ],
    }


def add(section: Section, labels: dict[str, object], plain: Timing, timings: Mapping[str, Timing], per: int) -> None:
    """Add a row for each form, with its ratio to the plain call."""
    for form, timing in timings.items():
        by_min, by_median = ratios(timing, plain)
        figures = {"min ns": timing.minimum * 1e9 / per, "median ns": timing.median * 1e9 / per}
        figures |= {"times plain, min": by_min, "times plain, median": by_median}
        section.rows.append({**labels, "form": form, **{key: float(f"{x:.4g}") for key, x in figures.items()}})


def run(rounds: int) -> Section:
    section = Section(
        "Calls in every form",
        f"{N} states in turn, or one batch; nanoseconds a call. Pinocchio's rows: where it takes the same argument. "
        "Over the kernel: a batch's minimum less that of as many states among 4096.",
    )
    for case in cases():
        pin = Pinocchio(case)
        for name, ways in (("a controller", controller(case)), ("options", options(case))):
            timings = interleaved(ways, rounds)
            add(section, {"robot": case.name, "function": name, "way": "kinetree"}, timings["plain"], timings, N)
        for name in ("gravity_forces", "inverse_dynamics"):
            ways, theirs = one_state(case, name, pin)
            timings = interleaved({**ways, **{f"pinocchio {form}": way for form, way in theirs.items()}}, rounds)
            labels: dict[str, object] = {"robot": case.name, "function": name}
            plain = timings["plain"]
            add(section, {**labels, "way": "kinetree"}, plain, {form: timings[form] for form in ways}, N)
            add(section, {**labels, "way": "pinocchio"}, plain, {f: timings[f"pinocchio {f}"] for f in theirs}, N)
            many = interleaved(batches(case, name), rounds)
            state = many["batch of 4096, out="].minimum * 1e9 / 4096
            for form, timing in many.items():
                n = int(form.split()[2].rstrip(","))
                figures = {"min ns": timing.minimum * 1e9, "median ns": timing.median * 1e9}
                figures["over the kernel, ns"] = figures["min ns"] - n * state
                row = {key: float(f"{x:.4g}") for key, x in figures.items()}
                section.rows.append({**labels, "way": "kinetree", "form": form, **row})
    return section
