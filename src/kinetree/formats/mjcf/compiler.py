"""From a document to MuJoCo's compiled model: MJCF means what MuJoCo's compiler makes of it.

Files come from strangers, and the compiler trusts them: a model that attaches itself crashes the process, and so does a
height field of 65536 × 65536. All that it would read as XML passes our own parser first.
"""

from __future__ import annotations

import importlib
import math
import os
import threading
from typing import Any, Final

from kinetree.errors import FormatError, shortened, warn_user
from kinetree.formats.load import read_file
from kinetree.formats.xml import Element, check_size, number, parse_xml, vector
from kinetree.locks import importing

OLDEST: Final = (3, 3)  # version of MuJoCo
MAX_ELEMENTS: Final = 50_000  # that a file stands for, with copies
MAX_NESTED: Final = 20  # files that include each other
COUNTS: Final = {"size": (("nuser", "nkey"), 10_000), "mesh": (("params",), 1000), "user": (("dim",), 10_000)}
"""Attributes that begin so: numbers of keyframes and of data, of faces around a mesh that is made; their limits."""
COPIES: Final = ("replicate", "composite", "flexcomp")  # as many as the product of their ``count``
SIZES: Final = {"hfield": (("nrow", "ncol"), 2**24), "texture": (("width", "height"), 2**26)}
"""Sizes whose product is memory, and its limit."""

LARGEST: Final = 1e6  # m, kg, kg/m³: beyond, and with an infinite axis, MuJoCo 4.0 may compute without end
BOUNDED: Final = {"anchor", "armature", "axis", "axisangle", "density", "diaginertia", "euler", "fromto", "fullinertia"}
BOUNDED.update(("mass", "polycoef", "pos", "quat", "ref", "relpose", "size", "springref", "xyaxes", "zaxis"))

_warnings = threading.Lock()


def compiled(document: Any, root: Element | None) -> Any:
    """Return the MjModel of a document with this root element, or of an MjSpec; of an MjModel a copy."""
    if root is not None:
        return _compile(document, root)
    if not hasattr(document, "compile"):
        return document.__copy__()  # its shapes are read later
    try:
        return document.compile()
    except Exception as error:
        raise FormatError(f"MuJoCo does not compile this MjSpec: {_one_line(error)}") from None


def _compile(text: str | bytes, root: Element) -> Any:
    name = root.source
    try:
        text = text if isinstance(text, str) else text.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{name} is not encoded in UTF-8, which is what MuJoCo reads: save it so") from None
    path = name if os.path.isfile(name) and not name.startswith("<") else ""
    _Gate(os.path.dirname(path)).check(root, (os.path.basename(path) or name,))
    mujoco, said = _mujoco(name), list[str]()
    with _warnings:  # which MuJoCo would write into a file where the process is
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(said.append)
        try:
            m = (
                mujoco.MjModel.from_xml_path(path)
                if path
                else mujoco.MjModel.from_xml_string(text.strip("\ufeff \t\r\n"))
            )
        except Exception as error:  # ValueError, RuntimeError, FatalError, …
            raise FormatError(f"{name}: MuJoCo does not compile it: {_one_line(error)}") from None
        finally:
            mujoco.set_mju_user_warning(before)
    for warning in said:
        warn_user(f"{name}: MuJoCo says: {_one_line(warning)}")
    return m


def _mujoco(name: str) -> Any:
    try:
        with importing:
            mujoco = importlib.import_module("mujoco")
            old = tuple(int(part) for part in mujoco.__version__.split(".")[:2]) < OLDEST
    except (ImportError, AttributeError, ValueError) as error:
        raise FormatError(f"{name}: an MJCF file needs MuJoCo ({error}): pip install mujoco-core") from None
    if old:
        needed = f"{'.'.join(map(str, OLDEST))} or later is needed: pip install -U mujoco-core"
        raise FormatError(f"{name}: MuJoCo {mujoco.__version__} is too old, {needed}")
    return mujoco


def _one_line(said: object) -> str:
    return ", ".join(filter(None, map(str.strip, str(said).splitlines()))) or type(said).__name__


def _large(word: str) -> bool:
    try:
        return abs(float(word)) > LARGEST
    except ValueError:
        return word.lstrip("+-")[:2].lower() == "0x"  # else the compiler says what is wrong


class _Gate:
    """What the compiler would read, file by file."""

    def __init__(self, folder: str) -> None:
        self.folder, self.weights, self.total = folder, dict[str, float](), 0

    def check(self, root: Element, opened: tuple[str, ...]) -> float:
        """Return for how many elements a file stands, or raise; `opened` are the files that lead to it, and itself."""
        elements, weights, carried = list(root.walk()), dict[int, float](), 0.0
        for element in elements:
            if element.tag in ("include", "model") and (file := element.attributes.get("file")):
                carried = max(carried, self._file(element, file, opened))
            counts, limit = COUNTS.get(element.tag, ((), 0))
            for key, value in element.attributes.items():
                if "nan" in value.lower().split() and key != "name":
                    raise element.error(f"{key} is not a number")
                if key in BOUNDED and any(_large(word) for word in value.split()):
                    raise element.error(f"{key}={shortened(value)!r}: numbers of more than {LARGEST:g} are no robot's")
                if key.startswith(counts) and max(vector(element, key, len(value.split())), default=0.0) > limit:
                    raise element.error(f"{key} is more than {limit}")
            keys, most = SIZES.get(element.tag, ((), 1))
            if math.prod(number(element, key, 0.0) for key in keys) > most:
                raise element.error(f"{' × '.join(keys)} is more than {most}")
        for element in reversed(elements):
            weight = 1.0 + sum(weights[id(child)] for child in element.children)
            weight += carried if element.tag in ("include", "attach") else 0.0
            if element.tag in COPIES and (count := element.attributes.get("count")):
                weight *= math.prod(max(1.0, n) for n in vector(element, "count", len(count.split())))
            if weight > MAX_ELEMENTS:
                raise element.error(f"this stands for more than the {MAX_ELEMENTS} elements that are read")
            weights[id(element)] = weight
        return weights[id(root)]

    def _file(self, element: Element, file: str, opened: tuple[str, ...]) -> float:
        """Return what `check` returns for this file, which stands beside the main one or the one that names it."""
        inside, weight = os.path.normpath(file), 0.0
        if os.path.isabs(file) or inside.split(os.sep)[0] == os.pardir or "\\" in file or ":" in file:
            element.fault(f"{shortened(file)!r} is outside the folder of the robot's file", "it is read")
        for name in {inside, os.path.normpath(os.path.join(os.path.dirname(opened[-1]), inside))}:
            path = os.path.join(self.folder, name)
            if name in opened or len(opened) > MAX_NESTED:
                raise element.error(f"files include each other in a circle: {' → '.join((*opened, name)[-5:])}")
            if name not in self.weights and os.path.exists(path):  # the compiler says what is missing
                text = read_file(path)
                self.total += len(text)
                check_size(self.total, f"{opened[0]} with what it includes")
                self.weights[name] = self.check(parse_xml(text, path, lenient=element.lenient), (*opened, name))
            weight = max(weight, self.weights.get(name, 0.0))
        return weight
