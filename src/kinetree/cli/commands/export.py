"""``kinetree export``: a function of a robot as one C99 file, and its header beside it."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from rich.markup import escape

from kinetree.algorithms.table import ALGORITHMS
from kinetree.cli.options import load_robot
from kinetree.cli.terminal import Working, console, print_json
from kinetree.errors import ArgumentError, unknown_name
from kinetree.runtime.function import Function
from kinetree.runtime.options import Names
from kinetree.tables import print_warnings


def run(arguments: argparse.Namespace) -> None:
    """Write the source and the header, or print the source, as the arguments say."""
    robot, warnings = load_robot(arguments)
    name = arguments.function
    if name not in ALGORITHMS:
        raise ArgumentError(unknown_name("function", name, ALGORITHMS))
    if arguments.output == "-" and arguments.json:
        raise ArgumentError("-o - prints the source, and --json something else: leave out one of them")
    function = getattr(robot, name)
    options = _options(function, arguments.option)
    chosen = {key: getattr(arguments, key) for key in ("dtype", "optional", "lanes", "main")}
    with Working("exporting", robot.name, shown=True) as show, show.during(f"writing {name} in C"):
        code = function.to_c(arguments.name, **chosen, **options)
    if arguments.output == "-":
        sys.stdout.write(code.source)
        print_warnings(console(stderr=True), warnings)
        return
    path = code.save(arguments.output or f"{code.name}.c")
    header = path.with_suffix(".h")
    if arguments.json:
        found = {"robot": robot.name, "function": name, "prototype": code.prototype, "static_bytes": code.scratch}
        print_json(found | {"source": str(path), "header": str(header), "warnings": warnings})
        return
    out = console()
    out.print(f"[bold]{escape(robot.name)}[/]: {escape(code.prototype)};")
    out.print(f"{code.scratch} bytes of static memory")
    print_warnings(out, warnings)
    out.print(f"wrote {escape(str(path))} and {escape(str(header))}")


def _options(function: Function, given: list[str]) -> dict[str, Any]:
    """Return the options of the call from NAME=VALUE, where several names are separated by commas."""
    kinds = {option.name: option for option in function.spec.options}
    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ArgumentError(f"--option {text}: give it as NAME=VALUE, such as frame=panda_hand")
        if name not in kinds:
            raise ArgumentError(f"{function.__name__} has {unknown_name('option', name, list(kinds))}")
        options[name] = tuple(value.split(",")) if isinstance(kinds[name], Names) else value
    return options
