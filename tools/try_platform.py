"""Try kinetree on another processor or Python: ``python tools/try_platform.py``, there and on a machine that is known.

It prints a digest of what each function returns, of one state and of many, with and without the call glue. On two
machines with the same version of kinetree all of them must be equal. It needs no more than kinetree itself, so that it
runs under an emulator (``qemu-aarch64-static`` with a Python for 64-bit Arm) and on Pythons that few packages know yet.
"""

from __future__ import annotations

import hashlib
import platform
import sys
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.glue import cpython

FUNCTIONS = (
    "forward_kinematics",
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias_forces",
    "gravity_forces",
)
ELEMENTARY = ("exp", "log", "tanh", "arctan", "arcsin", "cbrt", "expm1", "log1p", "sinh", "cosh", "sin", "cos", "sqrt")
N = 50


def digest(result: Any) -> str:
    """Return a digest of the bits of one or several arrays."""
    parts = result if isinstance(result, tuple) else (result,)
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:16]


def numbers(*shape: int) -> Any:
    """Return numbers from -2 to 2 that are the same on all machines: multiples of 2⁻¹⁰, in no order."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 2654435761 % 4096 - 2048) / 1024).reshape(shape)


def main() -> None:
    """Print the digests, and whether calls with the glue are those without."""
    print(
        f"{platform.machine()}, Python {sys.version.split()[0]}, NumPy {np.__version__}, ",
        "glue" if cpython.find() else "no glue",
    )
    robot = kt.load("panda")
    for name in FUNCTIONS:
        function = getattr(robot, name)
        arguments = [numbers(N, *port.shape) for port in function.spec.required]
        first = [a[0] for a in arguments]
        function.warmup()
        single, general = digest(function(*first)), digest(type(function)._general(function, *first))
        lists = digest(function(*(a.tolist() for a in first)))
        same = "as without the glue" if single == general == lists else "NOT AS WITHOUT THE GLUE"
        print(f"{name:20s} {digest(function(*arguments))} {single} {same}")
    for name in ELEMENTARY:
        of_all = kt.compile(robot, lambda x, name=name: getattr(np, name)(x), shapes={"x": (N,)})
        print(f"{name:20s} {digest(of_all(abs(numbers(N)) / 2.5 + 0.01))}")


if __name__ == "__main__":
    main()
