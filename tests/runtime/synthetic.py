"""A small function that is not a robot, for the tests of the runtime, and the same in plain NumPy."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.io

from kinetree.graph import Port
from kinetree.runtime import Function, FunctionSpec, Option, batch

N = 5
traces: list[str] = []  # the name of every function traced, in this process
_guard = threading.Lock()


def declare(name: str = "mix", n: int = N, reduce: object = None, identity: bytes = b"") -> FunctionSpec:
    """Return the declaration of x_i y_{i-1} ± z_i² + w_{i mod 6} / 4, exact enough to compare bits with NumPy."""
    x, y, z, w = Port("x", (n,)), Port("y", (n,)), Port("z", (n,)), Port("w", (2, 3))

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> list[list[Any]]:
        with _guard:
            traces.append(name)
        a, b, c = (given[port.name] for port in (x, y, z))
        d = [e for row in given["w"] for e in row] if "w" in given else [0.0] * 6
        sign = -1.0 if options["sign"] == "minus" else 1.0
        return [[a[i] * b[i - 1] + c[i] * c[i] * sign + d[i % 6] * 0.25 for i in range(n)]]

    return FunctionSpec(
        name=name,
        doc="Mix three vectors.",
        inputs=(x, y, z, w),
        outputs=(Port("r", (n,)),),
        evaluate=evaluate,
        identity=lambda: b"synthetic %d " % n + identity,
        optional=("w",),
        options=(Option("sign", ("plus", "minus")),),
        describe=lambda port: f"{port.name} has {port.size} entries: apples, pears",
        reduce=reduce,  # type: ignore[arg-type]
    )


def reference(x, y, z, w=None, sign="plus"):
    """Return what the declared function is, on arrays of any leading axes, in float64."""
    x, y, z = (np.asarray(a, np.float64) for a in (x, y, z))
    r = x * np.roll(y, 1, axis=-1) + (z * z if sign == "plus" else -z * z)
    if w is not None:
        w = np.asarray(w, np.float64)
        flat = w.reshape(*w.shape[:-2], 6)
        r = r + 0.25 * flat[..., [i % 6 for i in range(x.shape[-1])]]
    return r


class Counting(Function):
    """A function that counts the calls that the glue does not take."""

    general_calls = 0

    def _general(self, /, *args: object, **kwargs: object) -> object:
        self.general_calls += 1
        return super()._general(*args, **kwargs)


def make_all(*names: str) -> FunctionSpec:
    """Return the declaration of 2 x (which has the name of the input), the sum, and the outer product; or of some."""
    names = names or ("x", "total", "outer")
    shapes = {"x": (3,), "total": (), "outer": (3, 3)}

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> list[Any]:
        e = given["x"]
        results = {"x": [2.0 * k for k in e], "total": e[0] + e[1] + e[2], "outer": [[a * b for b in e] for a in e]}
        return [results[name] for name in names]

    ports = tuple(Port(name, shapes[name]) for name in names)
    return FunctionSpec("make_all", "", (Port("x", (3,)),), ports, evaluate, lambda: repr(names).encode())


def line() -> FunctionSpec:
    """Return x k + d."""
    ports = Port("k", ()), Port("x", (3,)), Port("d", ())

    def evaluate(given, options):
        return [[e * given["k"] + given["d"] for e in given["x"]]]

    return FunctionSpec("line", "", ports, (Port("y", (3,)),), evaluate, lambda: b"line")


def take_batches(f, dtype="float64", keeps_gil=20):
    """Let the glue take batches of any length, whatever the machine's speed."""
    variant = f._default._replace(dtype=dtype)
    f.warmup(dtype=dtype)
    kernel = f._kernels.batch(variant)
    kernel._seconds, kernel.limits[:] = batch._LEAST_SECONDS, (keeps_gil, 1_000_000)


def target_of(function: Function) -> Any:
    """Return what a function calls, which is not what it shows as its `func`."""
    return functools.partial.__dict__["func"].__get__(function)


def states(*lead: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return x, y, z of small multiples of 1/8: every operation on them is exact, also in float32."""
    rng = np.random.default_rng(seed)
    x, y, z = (rng.integers(-64, 64, (*lead, N)) / 8.0 for _ in range(3))
    return x, y, z


def misaligned(a: np.ndarray) -> np.ndarray:
    """Return an equal array at an odd address."""
    moved = np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
    moved[...] = a
    return moved


def swapped(a: np.ndarray) -> np.ndarray:
    """Return an equal array of the other byte order."""
    return a.astype(a.dtype.newbyteorder("S"))


def from_matlab(a: np.ndarray) -> np.ndarray:
    """Return the same numbers as `scipy.io.loadmat` reads them, with the axes that they had."""
    file = io.BytesIO()
    scipy.io.savemat(file, {"a": a})
    return scipy.io.loadmat(file)["a"].reshape(a.shape)


def frozen(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


def described(result: object) -> object:
    """Return all that a caller can see of a result."""
    if isinstance(result, tuple):
        return type(result), *map(described, result)
    if not isinstance(result, np.ndarray | np.generic):
        return repr(result)
    flags = (result.flags.writeable, result.flags.c_contiguous, result.flags.aligned)
    return type(result), result.dtype.str, result.shape, np.asarray(result).tobytes(), flags


def outcome(call: Callable[..., object], *args: Any, **kwargs: Any) -> object:
    """Return what a caller can see of a result and of out, or of an error."""
    try:
        with np.errstate(all="ignore"):
            result = call(*args, **kwargs)
    except Exception as error:
        return type(error), str(error)
    return described(result), result is kwargs.get("out"), described(kwargs.get("out"))


@functools.cache
def both_ways(declared: Callable[[], FunctionSpec]) -> tuple[Counting, Callable[..., object]]:
    """Return a function that has the glue, ready for what calls may mean, and the general path of one without."""
    fast = Counting(declared())
    for dtype in ("float64", "float32"):
        take_batches(fast, dtype)
    return fast, functools.partial(Function._general, Function(declared()))


def at_once(*work: Callable[[], object]) -> None:
    """Run each in a thread of its own, all at a time, and raise what one of them raised."""
    with ThreadPoolExecutor(len(work)) as pool:
        for done in [pool.submit(each) for each in work]:
            done.result()
