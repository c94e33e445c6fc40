"""From a document to MuJoCo's compiled model: MJCF means what MuJoCo's compiler makes of it.

Files come from strangers, and the compiler trusts them: a model that attaches itself crashes the process, and so does a
height field of 65536 × 65536. All that it would read as XML passes our own parser and a table of limits first. And it
runs in a thread of its own: after an exception that it does not foresee, as of an empty ``anchor``, MuJoCo 4.0 never
ends a compilation in the same thread again.
"""

from __future__ import annotations

import importlib
import math
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final

from kinetree.errors import FormatError, shortened, warn_user
from kinetree.formats.load import ReadOptions, RobotFile, read_file
from kinetree.formats.xml import Element, check_size, parse_xml, vector
from kinetree.locks import importing

OLDEST: Final = (3, 3)  # version of MuJoCo
LONGEST: Final = 100.0  # s that the compiler may take
MAX_ELEMENTS: Final = 50_000  # that a file stands for, with copies, and with memory as if each took so much:
ELEMENT: Final = 8000  # bytes
MAX_NESTED: Final = 20  # files that include each other


KINDS: Final = ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")
GATE: Final[Sequence[tuple[str, str, int, int, int]]] = (
    *((tag, "count", 1, 0, 0) for tag in ("replicate", "composite", "flexcomp")),
    ("hfield", "nrow ncol", 0, 4, 0),
    ("texture", "width height", 0, 4, 0),
    ("mesh", "params", 0, 100, 0),  # of one that is made: its faces in each direction
    ("user", "dim", 0, 8, 0),
    ("size", "nuserdata", 0, 8, 0),
    ("size", "nkey", 0, 0, 8),
    ("key", "", 0, 0, 8),
    *(("size", f"nuser_{kind}", 0, 0, 8) for kind in KINDS),
)
"""Of which elements the product n of the numbers in some attributes counts: whether there are so many copies of what is
in them, and how many bytes n times, and n times in each element of the file."""
RULES: Final = {tag: [row for row in GATE if row[0] == tag] for tag in {row[0] for row in GATE}}

LARGEST: Final = 1e6  # m, kg, kg/m³: wrapping a tendon around a cylinder of 1e9 m does not end
BOUNDED: Final = {"anchor", "armature", "axis", "axisangle", "density", "diaginertia", "euler", "fromto", "fullinertia"}
BOUNDED.update(("mass", "polycoef", "pos", "quat", "ref", "relpose", "size", "springref", "xyaxes", "zaxis"))
DIGITS: Final = str.maketrans("123456789", "000000000")
SUSPECT: Final = ("0000000", "0e0", "0e+", "0.e", "0x", "inf", "nan")
"""What is in numbers that are too large or none, when their digits are zeros, and seldom elsewhere."""

_warnings = threading.Lock()


def read(document: Any, root: Element | None, options: ReadOptions, constraints: bool) -> RobotFile:
    """Return what MuJoCo makes of a document with this root, or of an MjSpec or MjModel; see `RobotReader`."""
    source = root.source if root is not None else f"<{type(document).__name__}>"
    if root is not None:
        m = _compiled(_checked(document, root), source, "it")
    elif hasattr(document, "compile"):
        m = _compiled(partial(_compiled_spec, document), source, "this MjSpec")
    else:
        m = document.__copy__()  # its shapes are read later
    with importing:
        from kinetree.formats.mjcf.model import robot_of

    return robot_of(m, source, options, constraints)


def _checked(document: str | bytes, root: Element) -> Callable[[], Any]:
    """Return what compiles a document that passes the gate."""
    name = root.source
    try:
        text = document if isinstance(document, str) else document.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"{name} is not encoded in UTF-8, which is what MuJoCo reads: save it so") from None
    path = name if os.path.isfile(name) and not name.startswith("<") else ""
    _Gate(os.path.dirname(path)).check(root, (os.path.basename(path) or name,))
    MjModel, text = _mujoco(name).MjModel, text.strip("\ufeff \t\r\n")
    return partial(MjModel.from_xml_path, path) if path else partial(MjModel.from_xml_string, text)


def _compiled_spec(spec: Any) -> Any:
    """Return the MjModel of an MjSpec, whose warnings are Python's, and are made MuJoCo's."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = spec.compile()
    for warning in caught:
        _mujoco("").get_mju_user_warning()(str(warning.message))
    return m


def _work(todo: SimpleQueue[Callable[[], Any]], done: SimpleQueue[Any]) -> None:
    """Compile what comes, until something cannot be compiled."""
    error = None
    while error is None:
        try:
            m = todo.get()()
        except BaseException as found:  # ValueError, RuntimeError, FatalError, …
            m, error = None, found
        done.put((m, error))


_workers: list[tuple[threading.Thread, SimpleQueue[Any], SimpleQueue[Any]]] = []  # one that waits for work, or none


def _compiled(compile: Callable[[], Any], name: str, what: str) -> Any:
    """Return what the compiler returns; its errors and warnings are told with this name."""
    mujoco, said = _mujoco(name), list[str]()
    with _warnings:  # which MuJoCo would write into a file where the process is
        if not (_workers and _workers[0][0].is_alive()):  # as after a fork
            queues = SimpleQueue[Any](), SimpleQueue[Any]()
            _workers[:] = [(threading.Thread(target=_work, args=queues, daemon=True), *queues)]
            _workers[0][0].start()
        worker, todo, done = _workers.pop()
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(said.append)
        try:
            todo.put(compile)
            m, error = done.get(timeout=LONGEST)
        except Empty:
            raise FormatError(f"{name}: MuJoCo has not compiled {what} within {LONGEST:g} s") from None
        finally:
            mujoco.set_mju_user_warning(before)
        if error is not None:
            raise FormatError(f"{name}: MuJoCo does not compile {what}: {_one_line(error)}")
        _workers.append((worker, todo, done))
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
        needed = f"{OLDEST[0]}.{OLDEST[1]} or later is needed: pip install -U mujoco-core"
        raise FormatError(f"{name}: MuJoCo {mujoco.__version__} is too old, {needed}")
    return mujoco


def _one_line(said: object) -> str:
    return ", ".join(filter(None, map(str.strip, str(said).splitlines()))) or type(said).__name__


def _number(word: str) -> float:
    try:
        return abs(float(word))
    except ValueError:
        word = word.lstrip("+-").lower()
        return math.nan if word.startswith("nan(") else math.inf if word.startswith("0x") else 0.0  # it is no number


def _check_numbers(elements: Sequence[Element]) -> None:
    given = [(element, key, value) for element in elements for key, value in element.attributes.items()]
    text = " ".join([value for _, _, value in given]).lower().translate(DIGITS)
    for element, key, value in given if any(part in text for part in SUSPECT) else ():
        numbers = [_number(word) for word in value.split()]
        if key != "name" and any(map(math.isnan, numbers)):
            raise element.error(f"{key} is not a number")
        if key in BOUNDED and max(numbers, default=0.0) > LARGEST:
            raise element.error(f"{key}={shortened(value)!r}: numbers of more than {LARGEST:g} are no robot's")


class _Gate:
    """What the compiler would read, file by file, and for how many elements it stands."""

    def __init__(self, folder: str) -> None:
        self.folder, self.weights, self.total, self.of_each = folder, dict[str, float](), 0, 1.0

    def check(self, root: Element, opened: tuple[str, ...]) -> float:
        """Return for how many elements a file stands, or raise; `opened` are the files that lead to it, and itself."""
        elements, weights = list(root.walk()), dict[int, float]()
        _check_numbers(elements)
        files = [
            (e, e.attributes["file"]) for e in elements if e.tag in ("include", "model") and "file" in e.attributes
        ]
        carried = max([self._file(element, file, opened) for element, file in files if file], default=0.0)
        for element in reversed(elements):
            weight = 1.0 + sum(weights[id(child)] for child in element.children)
            weight += carried if element.tag in ("include", "attach") else 0.0
            for _, keys, copies, own, of_each in RULES.get(element.tag, ()):
                words = {key: len(element.attributes.get(key, "").split()) for key in keys.split()}
                n = math.prod(max(1.0, x) for key in words if words[key] for x in vector(element, key, words[key]))
                weight = weight * n**copies + n * own / ELEMENT
                self.of_each += n * of_each / ELEMENT
            if weight * self.of_each > MAX_ELEMENTS:
                raise element.error(
                    f"this stands for more than the {MAX_ELEMENTS} elements that are read, or for memory"
                )
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
