"""From a document to MuJoCo's compiled model: MJCF means what MuJoCo's compiler makes of it.

Files come from strangers, and the compiler is C++ that trusts them: a model that attaches itself, or a height field of
65536 × 65536, crashes the process. What it would read passes our own parser first, with everything that it includes.
"""

from __future__ import annotations

import importlib
import math
import os
from typing import Any, Final

from kinetree.errors import FormatError, shortened
from kinetree.formats.load import read_file
from kinetree.formats.xml import Element, check_size, number, parse_xml, vector
from kinetree.locks import importing

OLDEST: Final = (3, 3)
"""The first version of MuJoCo with which files are read."""
INSTALL: Final = "pip install mujoco-core"
MAX_ELEMENTS: Final = 50_000
"""So many elements may a file stand for."""
MAX_NESTED: Final = 20
"""So deep may files include each other."""
MAX_ASSET: Final = 2**30
"""Bytes of a mesh or a texture."""
COPIES: Final = ("replicate", "composite", "flexcomp")
"""Elements that stand for as many others as the product of their ``count`` says."""
MOST: Final = {"hfield": 2**24, "texture": 2**26, "size": 10_000}
"""Largest product of the sizes of an element; each size by itself of ``<size>``."""
SIZES: Final = {"hfield": ("nrow", "ncol"), "texture": ("width", "height")}


def compiled(document: Any, root: Element | None) -> Any:
    """Return the MjModel of a document with this root element, or of an MjSpec; of an MjModel a copy."""
    if root is not None:
        return _compile(document, root)
    if not hasattr(document, "compile"):
        return document.__copy__()  # its shapes are read later
    try:
        return document.compile()
    except Exception as error:
        raise FormatError(f"MuJoCo does not compile this MjSpec: {_said(error)}") from None


def _compile(text: str | bytes, root: Element) -> Any:
    name = root.source
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise FormatError(f"{name} is not encoded in UTF-8, which is what MuJoCo reads: save it so") from None
    path = name if os.path.isfile(name) and not name.startswith("<") else ""
    _Gate(os.path.dirname(path)).check(root, (os.path.basename(path) or name,))
    mujoco = _mujoco(name)
    try:
        if path:
            return mujoco.MjModel.from_xml_path(path)
        return mujoco.MjModel.from_xml_string(text.lstrip("\ufeff \t\r\n"))
    except Exception as error:  # ValueError, RuntimeError, FatalError, …
        raise FormatError(f"{name}: MuJoCo does not compile it: {_said(error)}") from None


def _mujoco(name: str) -> Any:
    try:
        with importing:
            mujoco = importlib.import_module("mujoco")
            version = tuple(int(part) for part in mujoco.__version__.split(".")[:2])
    except (ImportError, AttributeError, ValueError) as error:
        raise FormatError(f"{name}: an MJCF file needs MuJoCo, to compile it ({error}): {INSTALL}") from None
    if version < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise FormatError(f"{name}: MuJoCo {mujoco.__version__} is too old, {needed} is needed: {INSTALL}")
    return mujoco


def _said(error: Exception) -> str:
    """Return MuJoCo's message, which has several lines, as one."""
    return ", ".join(filter(None, (line.strip() for line in str(error).splitlines()))) or type(error).__name__


class _Gate:
    """What the compiler would read, file by file: raises where it should not."""

    def __init__(self, folder: str) -> None:
        self.folder, self.weights, self.total = folder, dict[str, float](), 0

    def check(self, root: Element, opened: tuple[str, ...]) -> float:
        """Return how many elements a file stands for; `opened` are the names of the files that lead to it."""
        carried, weights = 0.0, dict[int, float]()
        elements = list(root.walk())
        for element in elements:
            for key, value in element.attributes.items():
                if key != "name" and any(word.lstrip("+-").lower() == "nan" for word in value.split()):
                    raise element.error(f"{key} is not a number")
                if key.startswith("file") and value:
                    if element.tag in ("include", "model"):
                        carried = max(carried, self._file(element, value, opened))
                    else:
                        _check_asset(element, os.path.join(self.folder, value))
        for element in reversed(elements):
            own = 1.0 + sum(weights[id(child)] for child in element.children)
            own += carried * (element.tag in ("include", "attach"))
            if element.tag in COPIES and "count" in element.attributes:
                counts = vector(element, "count", len(element.attributes["count"].split()))
                own *= math.prod(max(1.0, count) for count in counts)
            if not own <= MAX_ELEMENTS:
                raise element.error(f"this stands for more than the {MAX_ELEMENTS} elements that are read")
            _check_sizes(element)
            weights[id(element)] = own
        return weights[id(root)]

    def _file(self, element: Element, file: str, opened: tuple[str, ...]) -> float:
        """Return what `check` returns for a file of this name, beside the main file or the one that names it."""
        inside = os.path.normpath(file)
        if os.path.isabs(file) or inside.split(os.sep)[0] == os.pardir or "\\" in file or ":" in file:
            raise element.error(f"{shortened(file)!r} is outside the folder of the robot's file: put it there")
        weight = 0.0
        for name in {inside: None, os.path.normpath(os.path.join(os.path.dirname(opened[-1]), inside)): None}:
            path = os.path.join(self.folder, name)
            if name in opened:
                raise element.error(f"files include each other in a circle: {' → '.join((*opened, name))}")
            if len(opened) > MAX_NESTED:
                raise element.error(f"files include each other more than {MAX_NESTED} deep")
            if name not in self.weights and os.path.exists(path):  # what is missing is for the compiler to say
                text = read_file(path)
                self.total += len(text)
                check_size(self.total, f"{opened[0]} with what it includes")
                self.weights[name] = self.check(parse_xml(text, path), (*opened, name))
            weight = max(weight, self.weights.get(name, 0.0))
        return weight


def _check_asset(element: Element, path: str) -> None:
    """Raise for a mesh or texture that is no file, such as a device, or is huge."""
    if os.path.exists(path) and not os.path.isdir(path):
        if not os.path.isfile(path):
            raise element.error(f"{shortened(path)!r} is not a file")
        if os.path.getsize(path) > MAX_ASSET:
            raise element.error(f"{shortened(path)!r} has more than the {MAX_ASSET // 2**20} MB that are read")


def _check_sizes(element: Element) -> None:
    """Raise where an element asks for more memory than a robot needs."""
    if element.tag == "size":
        keys = [key for key in element.attributes if key.startswith(("nuser", "nkey"))]
        largest = max((abs(number(element, key)) for key in keys), default=0.0)
    else:
        largest = math.prod(abs(number(element, key, 0.0)) for key in SIZES.get(element.tag, ()))
    if largest > MOST.get(element.tag, math.inf):
        raise element.error(f"this is larger than what is read, {MOST[element.tag]}")
