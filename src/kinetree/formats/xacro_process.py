"""The process that expands a xacro file: reads a request from its input, and writes an answer; both are JSON.

`xacro` is made to find packages without ROS, to read files of the robot's packages only, and to evaluate no expression
that reaches Python's own names: its own checks let through what stands in a lambda or in ``$(eval …)``. Nothing of
kinetree is imported but `packages.py`, by its path, so that the process starts in a twentieth of a second.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

FRAMES = ("gi_frame", "cr_frame", "ag_frame", "tb_frame", "gi_code", "cr_code", "ag_code")
"""Attributes without underscores that lead to Python's own names."""


BANNER = "\n" * 4
"""In the place of the comments with which `xacro` begins: lines in errors are those of what it prints."""


class RefusedError(Exception):
    """What a file may not do, or does not find."""


class Arguments(dict[str, str]):
    """The arguments, which note what is asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        if name not in self:
            raise RefusedError(f"the argument {name!r} is missing: xacro={{{name!r}: …}}")
        return super().__getitem__(name)


def checked(expression: str) -> Any:
    """Return the code of an expression; refuse one with names that lead out of it."""
    tree = ast.parse(expression.strip(), "<expression>", "eval")
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        if name.startswith("__") or name in FRAMES:
            raise RefusedError(f"the expression {expression!r} is refused: {name} is not a name that a robot needs")
    return compile(tree, "<expression>", "eval")


class Expansion:
    """Takes the places of those functions of `xacro` that find files, read them and evaluate expressions."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        import xacro
        from defusedxml import minidom
        from xacro import substitution_args

        packages = _module("packages")
        self.xacro, self.minidom, self.most = xacro, minidom, request["limits"][2]
        self.packages = packages.Packages(request["folder"], request["packages"])
        self.roots = [packages.package_of(request["folder"]) or request["folder"], *request["packages"].values()]
        self.arguments = Arguments(request["arguments"])
        for name in ("vars", "type"):  # by which an expression would reach names that are text
            dict.pop(xacro._global_symbols["python"], name, None)
        xacro.safe_eval, xacro.abs_filename_spec, xacro.parse = self.evaluate, self.path, self.parse
        substitution_args._eval_find = substitution_args._eval_dict["find"] = self.find
        substitution_args._eval = self.evaluate_substitution
        self.functions = {**xacro._global_symbols["python"], **substitution_args._eval_dict, "__builtins__": {}}
        self.substitution_args = substitution_args

    def expand(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        xacro = self.xacro
        xacro.init_stacks(request["path"])
        text = request["text"].encode("latin-1") if request["encoded"] else request["text"]
        try:
            document = self.parse(text)
            xacro.process_doc(document, mappings=self.arguments)
            found = document.toprettyxml(indent="  ").replace("?>", f"?>{BANNER}", 1)
        except Exception as error:
            included = [f" (in {path})" for path in xacro.filestack[:0:-1]]
            return {"error": self.reason(error) + "".join(included[:1])}
        if len(found) > self.most:
            return {"error": f"it expands to more than the {self.most // 2**20} MB that are read"}
        return {"text": found, "asked": sorted(self.arguments.asked)}

    def reason(self, error: BaseException) -> str:
        """Return what went wrong at first: `xacro` wraps errors in errors."""
        plain = self.xacro.XacroException, RefusedError, RecursionError, MemoryError
        while isinstance(error, self.xacro.XacroException) and error.exc is not None:
            if not (isinstance(error.exc, plain) or str(error).startswith("<class ")):
                break
            error = error.exc
        if isinstance(error, RecursionError):
            return "macros or expressions call themselves without an end"
        return " ".join(str(error).split()) or type(error).__name__

    def find(self, name: str) -> str:
        """Return the folder of a package, from which files may be included then."""
        found: str | None = self.packages.find(name)
        if found is None:
            advice = f"packages={{{name!r}: 'its folder'}}, or set ROS_PACKAGE_PATH"
            raise RefusedError(f"the package {name!r} is not found: give kinetree.load(…, {advice})")
        self.roots.append(found)
        return found

    def path(self, name: str) -> str:
        """Return the path of a file to be read, which has to be in the robot's package, or one that it finds."""
        if "://" in name:
            package, _, rest = name.partition("://")[2].lstrip("/").partition("/")
            name = os.path.join(self.find(package), rest)
        beside = os.path.dirname(self.xacro.filestack[-1])
        path = os.path.normpath(os.path.join(beside, name))
        if not any(path.startswith(os.path.join(root, "")) for root in self.roots):
            raise RefusedError(
                f"{path} is outside of {', '.join(dict.fromkeys(self.roots))}: name the package in which it is, "
                "kinetree.load(…, packages={name: folder})"
            )
        return path

    def parse(self, text: str | bytes | None, filename: str = "") -> Any:
        """Return the document of a text, or of a file that is included."""
        if text is None:
            stack = self.xacro.filestack
            if os.path.realpath(filename) in [os.path.realpath(open_file) for open_file in stack[:-1]]:
                raise RefusedError(f"files include each other in a circle: {' → '.join(stack)}")
            try:
                with open(filename, "rb") as file:
                    text = file.read(self.most + 1)
            except OSError as error:
                stack.pop()
                raise self.xacro.XacroException("an included file cannot be read:", exc=error) from None
            if len(text) > self.most:
                raise RefusedError(f"{filename} has more than the {self.most // 2**20} MB that are read")
        return self.minidom.parseString(text, forbid_dtd=True)

    def evaluate(self, expression: str, names: dict[str, Any], local: dict[str, Any] | None = None) -> Any:
        """Return the value of ``${…}``."""
        code = checked(expression)
        names.update(__builtins__={})
        return eval(code, names, local)

    def evaluate_substitution(self, expression: str, _: Mapping[str, Any]) -> str:
        """Return the value of ``$(eval …)``."""
        convert = self.substitution_args.convert_value
        code = checked(expression)
        self.arguments.asked.update(code.co_names)
        values = {name: convert(value, "auto") for name, value in self.arguments.items()}
        functions = {**self.functions, "arg": lambda name: convert(self.arguments[name], "auto")}
        return str(eval(code, functions, {**values, **functions}))


def _module(name: str) -> Any:
    """Return the module of that name beside this one."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(os.path.dirname(__file__), f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _limit(seconds: int, memory: int) -> None:
    """Bound what this process may take, where the system can; it may write no file."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for what, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> None:
    """Answer the request."""
    request = json.load(sys.stdin)
    answers, sys.stdout, sys.stderr = sys.stdout, io.StringIO(), io.StringIO()
    sys.path[:] = request["sys_path"]
    _limit(*request["limits"][:2])
    answer = Expansion(request).expand(request)
    places = ("when ", "in file: ", "included from: ", "instantiated from: ")
    said = [line for line in sys.stderr.getvalue().splitlines() if line.strip() and not line.startswith(places)]
    json.dump({**answer, "warnings": "; ".join(said[:10])[:2000]}, answers)
    answers.flush()


if __name__ == "__main__":
    main()
