"""Checks of arguments that many modules need: real arrays, poses, positive numbers, seeds, sizes."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kinetree.errors import ArgumentError, KinetreeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Seed: TypeAlias = "int | np.random.Generator | None"
Size: TypeAlias = int | tuple[int, ...]

_FLOAT64 = np.dtype(np.float64)


def real_array(
    what: str, value: ArrayLike, *shape: int | None, batch: bool = True, error: type[KinetreeError] = ArgumentError
) -> Array:
    """Return a value, `what` in messages, as a float64 array whose last axes have this shape (None: any length).

    With `batch`, further axes may come first.

    Examples
    --------
    >>> real_array("q", [1, 2, 3], 3)
    array([1., 2., 3.])
    """
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and (not shape or value.shape == shape):
        return value  # the usual case, at once
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as reason:
        raise error(f"{what} is no array of numbers: {reason}") from None
    if array.dtype.kind not in "fiu":
        raise error(f"{what} has dtype {array.dtype}, which is no real number: give floats or integers")
    lead = array.ndim - len(shape)
    fits = lead >= 0 and all(n is None or n == m for n, m in zip(shape, array.shape[lead:], strict=True))
    if not fits or (lead > 0 and not batch):
        wanted = ["..."] * batch + ["n" if n is None else str(n) for n in shape]
        raise error(f"{what} has shape {array.shape}, ({', '.join(wanted)}{',' * (len(wanted) == 1)}) is needed")
    return array.astype(np.float64, copy=False)


def check_poses(what: str, T: Array, error: type[KinetreeError] = ArgumentError) -> None:
    """Raise an error unless all matrices T (..., 4, 4) are poses, up to 1e-6."""
    R = T[..., :3, :3]
    with np.errstate(all="ignore"):
        skewed = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
        rigid = skewed <= 1e-6 and (np.linalg.det(R) > 0).all()
    if not rigid or (T[..., 3, :] != [0, 0, 0, 1]).any():
        raise error(f"{what} is not a pose: its upper left 3×3 must be a rotation, its last row (0, 0, 0, 1)")


def positive(what: str, value: object) -> float:
    """Return a number that is finite and greater than zero."""
    if type(value) is float and 0.0 < value < math.inf:
        return value
    if not isinstance(value, Real) or not 0.0 < float(value) < math.inf:
        raise ArgumentError(f"{what} is {value!r}, it must be a positive number")
    return float(value)


def as_generator(seed: Seed) -> np.random.Generator:
    """Return a generator of random numbers for whatever NumPy takes as a seed; `ArgumentError` for anything else."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ArgumentError(f"seed is {seed!r}, it must be an integer ≥ 0, a numpy.random.Generator or None") from None


def as_lead(size: Size) -> tuple[int, ...]:
    """Return the leading axes of so many configurations."""
    try:
        return np.broadcast_shapes(size)
    except (TypeError, ValueError):
        raise ArgumentError(f"size is {size!r}, it must be an integer ≥ 0 or a tuple of them") from None
