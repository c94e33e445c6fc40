"""Mutants: small mistakes put into a room's sources one by one, to see whether its tests notice each.

    python tools/mutants.py ROOM [--count N] [--seed S]

A room is a folder of src/kinetree, or ``ground``: the files beside them. The seed chooses as many of each kind: of a
comparison, a sign, a product, a number, ``and``, a condition, ``min``, a statement, an argument. They are made in a
copy of the working tree. Left alone are text, annotations, ``strict=``, and floats that are thresholds, to which a
hundredth more makes no difference: those with a name, below 1e-3 or above 1e3. The tests of the room that are not slow
and its doctests run on each, the nearest first; on what they did not notice then the slow ones, and those of the whole
library. What takes three times as long is noticed too. Survivors are printed as differences. Those
that nobody could notice are listed in tools/mutants_equivalent.txt with the reason, and left out.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import functools
import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.txt"

TESTS = {
    "ground": "test_lazy.py test_names.py test_modern_robotics.py test_robot.py passes/test_tangents.py formats",
    "algorithms": "inverse_kinematics",
    "backends": "runtime/test_scan.py",
    "constraints": "simulation/test_closed_loops.py simulation/test_contacts.py algorithms/test_table.py",
    "contacts": "constraints/test_contact_dynamics.py constraints/test_contact_steps.py simulation/test_contacts.py",
    "embedded": "robots",
    "functions": "test_robot.py algorithms/test_table.py runtime model",
    "glossary": "test_names.py test_docs.py runtime/test_robot_calls.py algorithms/test_table.py"
    " constraints/test_contact_steps.py",
    "glue": "runtime",
    "graph": "passes backends/test_llvm_operations.py backends/test_array_operations.py tracing scalars",
    "inverse_kinematics": "algorithms/test_table.py",
    "integrators": "algorithms/test_integrators.py simulation",
    "drawing": "motions identification/test_report.py cli/test_cli_plot.py",
    "joints": "algorithms/test_laws.py conventions test_robot.py",
    "lowering": "backends/test_llvm_plan.py backends/test_llvm_kernels.py backends/test_llvm_code.py"
    " backends/test_array_operations.py",
    "logs": "motions identification/test_logs.py identification/test_measured_wrenches.py"
    " identification/test_prepare.py",
    "model": "algorithms/test_limit_forces.py algorithms/test_mimic.py",
    "motions": "logs drawing simulation/test_recording.py",
    "passes": "graph golden",
    "robot": "test_robot.py model constraints/test_mechanism.py runtime"
    " cli/test_cli_info.py identification/test_identify_mechanisms.py algorithms",
    "scalars": "constraints/test_constrained_dynamics.py constraints/test_inverse_dynamics.py",
    "spatial": "test_modern_robotics.py formats/test_dh.py joints inverse_kinematics model",
    "tracing": "runtime/test_compose.py runtime/test_compiling.py",
}
"""What tests a room beside the folder of tests of the same name."""

WHOLE = (
    "tests/golden/test_shown.py tests/test_names.py tests/test_wrong_calls.py tests/test_lazy.py"
    " tests/test_docs.py tests/test_robot.py tests/test_examples.py tests/golden README.md docs"
    " tests/test_conformance.py tests/test_agreement.py"
)
"""What tests every room, the quickest first."""

FEW = 10
"""Files of tests elsewhere that are tried."""

NO_TESTS = 5
"""What pytest exits with where no test was asked for."""

OPERATORS: dict[type[ast.AST], tuple[str, str, str]] = {
    **{ast.Lt: ("comparison", "<", "<="), ast.LtE: ("comparison", "<=", "<"), ast.Gt: ("comparison", ">", ">=")},
    **{ast.GtE: ("comparison", ">=", ">"), ast.Eq: ("comparison", "==", "!="), ast.NotEq: ("comparison", "!=", "==")},
    **{ast.Add: ("sign", "+", "-"), ast.Sub: ("sign", "-", "+"), ast.Mult: ("product", "*", "/")},
    **{ast.Div: ("product", "/", "*"), ast.And: ("and, or", "and", "or"), ast.Or: ("and, or", "or", "and")},
}
NUMBERS = {ast.Constant, ast.BinOp, ast.UnaryOp, *OPERATORS, ast.USub, ast.Pow}
"""What an expression of numbers alone is made of."""

OTHER = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "fmin": "fmax", "fmax": "fmin"}


class Mutant(NamedTuple):
    """Bytes of a file, and what stands in their place."""

    path: Path
    kind: str
    start: int
    end: int
    text: str

    def of(self, source: bytes) -> bytes:
        """Return the file with the mistake."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def difference(self) -> list[str]:
        """Return the lines that change and those around them, as ``diff -u`` shows them."""
        source = self.path.read_bytes()
        old, new = (text.decode().splitlines() for text in (source, self.of(source)))
        name = self.path.relative_to(ROOT).as_posix()
        return [*difflib.unified_diff(old, new, name, name, n=2, lineterm="")]

    def signature(self) -> str:
        """Return what names it in the list of equivalent ones: its file, the lines that go and that come."""
        changed = [f"{x[0]} {x[1:].strip()}" for x in self.difference()[2:] if x[0] in "+-"]
        return " ".join([self.path.relative_to(ROOT / "src" / "kinetree").as_posix(), *changed])


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that can be wrong, without text, annotations, decorators and what only type checkers read."""
    match node:
        case ast.Assign(targets=[ast.Name()]) if node.col_offset == 0 and {*map(type, ast.walk(node.value))} <= NUMBERS:
            return
        case ast.JoinedStr() | ast.Assign([ast.Name("__all__")]) | ast.AugAssign(ast.Name("__all__")):
            return
        case ast.If(ast.Name("TYPE_CHECKING")) | ast.Call(ast.Name("TypeVar")):
            return
        case ast.FunctionDef():
            below: list[ast.AST] = [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]
        case ast.ClassDef() | ast.Raise():
            below = [*getattr(node, "body", [])]
        case ast.AnnAssign():
            below = [node.value] if node.value else []
        case _:
            below = [*ast.iter_child_nodes(node)]
    yield node
    for child in below:
        yield from nodes(child)


def mistakes(source: bytes) -> Iterator[tuple[str, int, int, str]]:
    """Yield the mistakes that can be made in a file: kind, start, end, and what stands there then."""
    lines = [0, *itertools.accumulate(len(line) for line in source.splitlines(keepends=True))]

    def span(x: ast.AST) -> tuple[int, int]:
        return lines[x.lineno - 1] + x.col_offset, lines[x.end_lineno - 1] + x.end_col_offset  # type: ignore[attr-defined]

    def between(left: ast.AST, op: ast.AST, right: ast.AST) -> Iterator[tuple[str, int, int, str]]:
        start, end = span(left)[1], span(right)[0]
        kind, old, new = OPERATORS.get(type(op), ("", "\0", ""))
        at = source.find(old.encode(), start, end)
        if at >= 0:
            yield kind, at, at + len(old), new

    def negated(test: ast.AST) -> tuple[str, int, int, str]:
        start, end = span(test)
        return "condition", start, end, f"(not ({source[start:end].decode()}))"

    for node in nodes(ast.parse(source)):
        match node:
            case ast.Compare():
                for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                    yield from between(left, op, right)
            case ast.BinOp():
                yield from between(node.left, node.op, node.right)
            case ast.BoolOp():
                for left, right in itertools.pairwise(node.values):
                    yield from between(left, node.op, right)
            case ast.UnaryOp(op=ast.USub()):
                yield "sign", span(node)[0], span(node)[0] + 1, ""
            case ast.Constant(value=value) if type(value) is int:
                yield "number", *span(node), str(value + 1)
            case ast.Constant(value=float(value)) if value == 0.0 or 1e-3 <= value <= 1e3:
                yield "number", *span(node), repr(1.01 * value or 1.0)
            case ast.If() | ast.While() | ast.IfExp():
                yield negated(node.test)
            case ast.comprehension():
                yield from map(negated, node.ifs)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in OTHER:
                end = span(node.func)[1]
                yield "min, max", end - len(name), end, OTHER[name]
            case ast.keyword(arg=str(name)) if name != "strict":
                start, end = span(node)
                comma = re.match(rb"\s*,", source[end:])
                yield "argument", start, end + (comma.end() if comma else 0), ""
            case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Assign([ast.Attribute() | ast.Subscript()]):
                yield "statement", *span(node), "pass"


def mutants(path: Path) -> list[Mutant]:
    """Return all mutants of a file that are Python, and not the same program."""
    source, found = path.read_bytes(), []
    for mutant in (Mutant(path, *mistake) for mistake in mistakes(source)):
        with contextlib.suppress(SyntaxError):
            if ast.dump(ast.parse(mutant.of(source))) != ast.dump(ast.parse(source)):
                found.append(mutant)
    return found


def files(room: str) -> list[Path]:
    """Return the sources of a room."""
    return sorted((ROOT / "src" / "kinetree").glob("*.py" if room == "ground" else f"{room}/**/*.py"))


def chosen(room: str, count: int, seed: int) -> list[Mutant]:
    """Return so many mutants of a room, of each kind in turn, without those that are listed as equivalent."""
    listed = {line.rpartition("  #")[0] for line in EQUIVALENT.read_text().splitlines()}
    kinds: dict[str, list[Mutant]] = {}
    for mutant in itertools.chain.from_iterable(map(mutants, files(room))):
        kinds.setdefault(mutant.kind, []).append(mutant)
    chance = random.Random(seed)
    found = [chance.sample(each, len(each)) for each in kinds.values()]
    in_turn = (m for turn in itertools.zip_longest(*found) for m in turn if m and m.signature() not in listed)
    return [*itertools.islice(in_turn, count)]


def stages(room: str, mutant: Mutant | None = None) -> list[tuple[str, ...]]:
    """Return what pytest runs: quick tests of a room, those nearest to a mutant first, slow ones, the whole library.

    Of the whole library are also the tests, wherever they are, that name the function with the mistake.
    """
    places = [ROOT / "tests" / room, *(ROOT / "tests" / place for place in TESTS.get(room, "").split())]
    every = sorted((ROOT / "tests").rglob("test_*.py"))
    found, named = [*files(room), *(p for p in every if {p, *p.parents} & {*places})], []
    if mutant is not None:
        above = re.findall(rb"^ *(?:def|class) (\w+)", mutant.path.read_bytes()[: mutant.start], re.MULTILINE)
        name, words = above[-1].decode() if above else mutant.path.stem, {*mutant.path.stem.split("_")}
        found.sort(key=lambda p: (p != mutant.path, not words & {*p.stem.split("_")}, name not in p.read_text()))
        named = [p for p in every if p not in found and re.search(rf"\b{name}\b", p.read_text())]
    near, elsewhere = ([str(path.relative_to(ROOT)) for path in paths] for paths in (found, named[:FEW]))
    whole = [*elsewhere, *(place for place in WHOLE.split() if (ROOT / place).exists())]
    return [("-m", "not slow", *near), ("-m", "slow", *near), *([(*whole,)] if whole else [])]


def fails(tree: Path, tests: tuple[str, ...], mutant: Mutant | None = None, limit: float = 3600.0) -> str:
    """Return which of the tests fails in a copy of the sources, with a mutant if there is one; "" for none."""
    if mutant is not None:
        source = mutant.path.read_bytes()
        put(tree, mutant.path, mutant.of(source))
    command = ["timeout", "--signal=KILL", str(limit), sys.executable, "-m", "pytest", "-x", "--tb=no", "-rfE"]
    command += ["--assert=plain"]  # pytest would rewrite sources that are named, and the glue is made of sources
    command += ["-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": f"{tree}/src"}
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    if mutant is not None:
        put(tree, mutant.path, source)
    if run.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return "no end"
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - |$)", run.stdout, re.MULTILINE)
    return "" if run.returncode in (0, NO_TESTS) else failed[1] if failed else run.stdout[-300:]


@functools.cache
def limit(tree: Path, tests: tuple[str, ...]) -> float:
    """Return how many seconds tests may take: three times what they do without a mutant, and some."""
    begin = time.monotonic()
    if failed := fails(tree, tests):
        sys.exit(f"without a mutant a test fails: {failed}")
    return 10.0 + 3.0 * (time.monotonic() - begin)


def noticed(tree: Path, room: str, mutant: Mutant) -> str:
    """Return which test of a room, or of the whole library, notices a mutant; "" for none."""
    for clean, tests in zip(stages(room), stages(room, mutant), strict=True):
        if failed := fails(tree, tests, mutant, limit(tree, clean)):
            return failed
    return ""


def put(tree: Path, path: Path, content: bytes) -> None:
    """Write a file of the copy, and remove the bytecode of what it was."""
    copy = tree / path.relative_to(ROOT)
    copy.write_bytes(content)
    shutil.rmtree(copy.parent / "__pycache__", ignore_errors=True)


def main() -> int:
    """Try mutants of a room; return 1 if some survive."""
    parser = argparse.ArgumentParser(description="Try mutants of a room, and print those that no test notices.")
    parser.add_argument("room")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    room, count, seed = vars(parser.parse_args()).values()
    tried, survivors = chosen(room, count, seed), 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".git", "__pycache__", ".*cache", "shared"))
        for mutant in tried:
            test = noticed(tree, room, mutant)
            survivors += not test
            print(f"{mutant.kind} in {mutant.path.name}: {test or 'survives'}", flush=True)
            if not test:
                print("\n".join([*mutant.difference(), mutant.signature()]), flush=True)
    print(f"{room}: {len(tried) - survivors} of {len(tried)} noticed, seed {seed}")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
