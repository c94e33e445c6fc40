"""The process that expands a xacro file: reads a request from its input, and writes an answer; both are JSON.

`xacro` is made to find packages without ROS, to read files of the robot's packages only, and to evaluate no expression
that reaches Python's own names: its own checks let through what stands in a lambda or in ``$(eval …)``. Nothing of
kinetree is imported but `packages.py`, by its path, so that the process starts in a twentieth of a second.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import runpy
import sys
from collections.abc import Mapping
from typing import Any

FRAMES = ("gi_frame", "cr_frame", "ag_frame", "tb_frame", "gi_code", "cr_code", "ag_code")
"""Attributes without underscores that lead to Python's own names."""
ASSETS = ("assetdir", "meshdir", "texturedir")
"""The folders of an MJCF file's meshes and pictures."""
ASIDE = ("when ", "in file: ", "included from: ", "instantiated from: ")
"""So begin the lines after a warning of `xacro`."""


class RefusedError(Exception):
    """What a file may not do, or does not find."""


class Arguments(dict[str, str]):
    """The arguments that are given."""

    def __missing__(self, name: str) -> str:
        raise RefusedError(f"the argument {name!r} is missing: xacro={{{name!r}: …}}")


class Expansion:
    """Takes the places of those functions of `xacro` that find files, read them and evaluate expressions."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        import xacro
        from defusedxml import minidom
        from xacro import substitution_args

        packages = runpy.run_path(os.path.join(os.path.dirname(__file__), "packages.py"))
        folder = os.path.dirname(request["path"])
        self.xacro, self.minidom, self.convert = xacro, minidom, substitution_args.convert_value
        self.most = request["limits"][2]
        self.find_package = packages["Packages"](folder, request["packages"]).find
        self.roots = [packages["package_of"](folder) or folder, *request["packages"].values()]
        self.arguments, self.declared, self.words = Arguments(request["arguments"]), set[str](), set[str]()
        for name in ("vars", "type"):  # by which an expression would reach names that are text
            dict.pop(xacro._global_symbols["python"], name, None)
        xacro.safe_eval, xacro.abs_filename_spec, xacro.parse = self.evaluate, self.path, self.parse
        substitution_args._eval_find = substitution_args._eval_dict["find"] = self.find
        substitution_args._eval = self.substitute
        self.functions = {**xacro._global_symbols["python"], **substitution_args._eval_dict}

    def expand(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        self.xacro.init_stacks(request["path"])
        try:
            document = self.parse(request["text"].encode("latin-1"))
            self.xacro.process_doc(document, mappings=self.arguments)
            above = 4 - find_assets(document, os.path.dirname(request["path"]))
            found = document.toprettyxml(indent="  ")
        except Exception as error:
            return {"error": self.told(self.reason(error))}
        if len(found) > self.most:
            return {"error": self.told(f"it expands to more than the {self.most // 2**20} MB that are read")}
        # empty lines in the place of comments with which `xacro` begins: lines in errors are those of what it prints
        unknown = [name for name in request["arguments"] if name not in self.declared | self.words]
        found = found.replace("?>", "?>" + "\n" * above, 1)
        return {"text": found, "unknown": unknown, "arguments": sorted(self.declared)}

    def told(self, reason: str) -> str:
        """Return what went wrong with where it did: the file, and the macro in it; who includes and who calls it."""
        *around, file = self.xacro.filestack
        ways = [f"included from {around[-1]}"] if around else []
        if self.xacro.macrostack:
            macro = self.xacro.macrostack[-1]
            ways, file = [f"called in {file}", *ways], macro.history[-1][-1]
            reason = f"in the macro {macro.body.getAttribute('name')!r}: {reason}"
        return f"{file}: {reason}" + f" ({', '.join(ways)})" * bool(ways)

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
        found: str | None = self.find_package(name)
        if found is None:
            advice = f"packages={{{name!r}: 'its folder'}}, or set ROS_PACKAGE_PATH"
            raise RefusedError(f"the package {name!r} is not found: give kinetree.load(…, {advice})")
        self.roots.append(found)
        return found

    def path(self, name: str) -> str:
        """Return the path of a file to be read, which has to be in the robot's package, or one that it finds.

        Links are followed: what ``colcon build --symlink-install`` installs has nothing but links.
        """
        if "://" in name:
            package, _, rest = name.partition("://")[2].lstrip("/").partition("/")
            name = os.path.join(self.find(package), rest)
        path = os.path.normpath(os.path.join(os.path.dirname(self.xacro.filestack[-1]), name))
        if not any(path.startswith(os.path.join(root, "")) for root in self.roots):
            advice = "name the package in which it is, kinetree.load(…, packages={name: folder})"
            raise RefusedError(f"{path} is outside of {', '.join(dict.fromkeys(self.roots))}: {advice}")
        return path

    def parse(self, text: bytes | None, filename: str = "") -> Any:
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
                raise RefusedError(f"it has more than the {self.most // 2**20} MB that are read")
        document = self.minidom.parseString(text, forbid_dtd=True)
        plain: str = document.toxml()
        self.declared.update(arg.getAttribute("name") for arg in document.getElementsByTagName("xacro:arg"))
        self.declared.update(re.findall(r"\$\(arg\s+([^\s)]+)\)", plain))
        self.words.update(word for found in re.findall(r"\$\(eval [^<]*", plain) for word in re.findall(r"\w+", found))
        return document

    def evaluate(self, expression: str, names: dict[str, Any], local: Mapping[str, Any] | None = None) -> Any:
        """Return the value of ``${…}``; refuse names that lead out of the expression."""
        tree = ast.parse(expression.strip(), "<expression>", "eval")
        for node in ast.walk(tree):
            name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
            if name.startswith("__") or name in FRAMES:
                raise RefusedError(f"the expression {expression!r} is refused: {name} is not a name that a robot needs")
        names["__builtins__"] = {}
        return eval(compile(tree, "<expression>", "eval"), names, local)

    def substitute(self, expression: str, _: Mapping[str, Any]) -> str:
        """Return the value of ``$(eval …)``, in which arguments are names."""
        values = {name: self.convert(value, "auto") for name, value in self.arguments.items()}
        functions = {**self.functions, "arg": lambda name: self.convert(self.arguments[name], "auto")}
        return str(self.evaluate(expression, functions, {**values, **functions}))


def find_assets(document: Any, folder: str) -> bool:
    """Name the folders of an MJCF file's meshes from the root: MuJoCo gets a text. Return whether that adds a line."""
    root = document.documentElement
    if root.tagName != "mujoco":
        return False
    compilers = root.getElementsByTagName("compiler")
    if new := not compilers:
        compilers = [root.insertBefore(document.createElement("compiler"), root.firstChild)]
    for k, compiler in enumerate(compilers):
        for key in ASSETS:
            if compiler.hasAttribute(key) or (key == "assetdir" and k == 0):
                compiler.setAttribute(key, os.path.join(folder, compiler.getAttribute(key)))
    return new


def limit(seconds: int, memory: int) -> None:
    """Bound what this process may take, where the system can; it may write no file."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for what, most in (("CPU", seconds), ("AS", memory), ("FSIZE", 0), ("CORE", 0)):
        kind = getattr(resource, f"RLIMIT_{what}")
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> None:
    """Answer the request."""
    request = json.load(sys.stdin)
    answers, sys.stdout, sys.stderr = sys.stdout, io.StringIO(), io.StringIO()
    sys.path[:] = request["sys_path"]
    limit(*request["limits"][:2])
    answer = Expansion(request).expand(request)
    said = [line for line in sys.stderr.getvalue().splitlines() if line.strip() and not line.startswith(ASIDE)]
    json.dump({**answer, "warnings": "; ".join(said[:10])[:2000]}, answers)
    answers.flush()


if __name__ == "__main__":
    main()
