"""Checks of arguments that many modules need: real arrays, poses, positive numbers, seeds, sizes."""

from __future__ import annotations

import itertools
import math
import os
import sys
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from kinetree.errors import ArgumentError, KinetreeError, unknown_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Seed: TypeAlias = "int | np.random.Generator | None"
Size: TypeAlias = int | tuple[int, ...]

ROTATION_HINT = "; a rotation matrix R alone is given as scipy.spatial.transform.Rotation.from_matrix(R)"
POSE_HINTS = {(3, 3): ROTATION_HINT, (3,): "; a translation p alone is a 4×4 matrix too, np.eye(4) with p in T[:3, 3]"}
TOLERANCE = 1e-6
"""By how much the entries of RᵀR of a rotation matrix R may differ from those of the unit matrix."""
SKEWED = (
    "its upper left 3×3, R, must be a rotation, but RᵀR differs from 1 by {:.2g}, where "
    f"{TOLERANCE:g} is allowed; "
    "if its digits are rounded, scipy.spatial.transform.Rotation.from_matrix(R).as_matrix() is the rotation meant"
)
_FLOAT64 = np.dtype(np.float64)
MOST_AXES = 64
"""Of an array of NumPy's: lists in lists that are deeper are none."""

MASKED = "{} has masked entries: fill them first, as with numpy.ma.filled"


def has_masked_entries(value: object) -> bool:
    """Return whether an array, or one in lists of them, has masked entries: NumPy would drop the mask.

    Examples
    --------
    >>> has_masked_entries([np.ones(2), np.ma.masked_array([1.0, 2.0], mask=[False, True])])
    True
    """
    masked = sys.modules.get("numpy.ma")
    if masked is None or type(value) is np.ndarray:  # nobody has made any, or this is none
        return False
    level: list[Any] = [value]
    for _ in range(MOST_AXES):
        kinds = {*map(type, level)}
        if any(issubclass(kind, masked.MaskedArray) for kind in kinds) and any(map(masked.is_masked, level)):
            return True
        if kinds.isdisjoint((list, tuple)):
            break
        lists = {id(x): x for x in level if type(x) in (list, tuple)}  # each once: they may hold themselves
        level = [*itertools.chain.from_iterable(lists.values())]
    return False


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
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and (value.shape == shape or (batch and not shape)):
        return value  # the usual case, at once
    if has_masked_entries(value):
        raise error(MASKED.format(what))
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as reason:
        raise error(f"{what} is not an array of numbers: {reason}") from None
    if isinstance(value, Mapping):
        raise error(f"{what} is a dict, where one array is needed: np.array(list(d.values())) if the order is right")
    if array.dtype.kind not in "fiu":
        raise error(f"{what} has dtype {array.dtype}, which is not a real number: give floats or integers")
    lead = array.ndim - len(shape)
    fits = lead >= 0 and all(n is None or n == m for n, m in zip(shape, array.shape[lead:], strict=True))
    if not fits or (lead > 0 and not batch):
        wanted = ["..."] * batch + ["n" if n is None else str(n) for n in shape]
        raise error(f"{what} has shape {array.shape}, ({', '.join(wanted)}{',' * (len(wanted) == 1)}) is needed")
    return array.astype(np.float64, copy=False)


def check_finite(what: str, array: Array, error: type[KinetreeError] = ArgumentError) -> None:
    """Raise an error that says where an array holds NaN or inf."""
    if not np.isfinite(array).all():
        where = f", at {np.argwhere(~np.isfinite(array))[0].tolist()}" if array.ndim else ""
        raise error(f"{what} holds a number that is not finite (NaN or inf){where}")


def check_poses(what: str, T: Array, error: type[KinetreeError] = ArgumentError) -> None:
    """Raise an error unless all matrices T (..., 4, 4) are poses, up to `TOLERANCE`."""
    R = T[..., :3, :3]
    with np.errstate(all="ignore"):
        skewed = np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0)
    if (T[..., 3, :] != [0, 0, 0, 1]).any():
        raise error(f"{what} is not a pose: its last row must be (0, 0, 0, 1)")
    if not skewed <= TOLERANCE:
        raise error(f"{what} is not a pose: {SKEWED.format(skewed)}")
    if not (np.linalg.det(R) > 0).all():
        raise error(f"{what} is not a pose: its upper left 3×3 is a reflection, with determinant -1, not a rotation")


def as_poses(what: str, value: Any, *, batch: bool = True, error: type[KinetreeError] = ArgumentError) -> Array:
    """Return poses (..., 4, 4) as a float64 array: every function that takes a pose takes it through here.

    Parameters
    ----------
    what : str
        What it is, in messages.
    value : array-like or object with ``as_matrix()``
        4×4 matrices, or SciPy's `RigidTransform` or `Rotation`; a rotation is a pose at the origin.
    batch : bool
        Whether there may be leading axes.

    Examples
    --------
    >>> as_poses("placement", [[1, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])[:3, 3]
    array([0.1, 0. , 0. ])
    """
    is_object = hasattr(value, "as_matrix")
    T = real_array(what, value.as_matrix() if is_object else value, error=error)
    if T.shape[-2:] == (3, 3) and is_object:
        R, T = T, np.zeros((*T.shape[:-2], 4, 4))
        T[..., :3, :3], T[..., 3, 3] = R, 1.0
    if T.shape[-2:] != (4, 4) or (T.ndim > 2 and not batch):
        hint = POSE_HINTS.get(T.shape[-2:], "")
        raise error(f"{what} has shape {T.shape}, ({'..., ' * batch}4, 4) is needed{hint}")
    check_finite(what, T, error)
    check_poses(what, T, error)
    return T


def is_rotation(value: Any) -> bool:
    """Return whether a value is an orientation alone, as SciPy's `Rotation` is: its matrix is 3×3."""
    return hasattr(value, "as_matrix") and np.shape(value.as_matrix())[-2:] == (3, 3)


def as_number(value: object) -> float:
    """Return a real number as a float, infinite where it is too large for one; NaN of flags and of what is not one.

    Examples
    --------
    >>> as_number(2), as_number(-(10**400)), as_number(True), as_number("2")
    (2.0, -inf, nan, nan)
    """
    if type(value) is float:
        return value  # the usual case, at once
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value == abs(value) else -math.inf


def positive(what: str, value: object) -> float:
    """Return a number that is finite and greater than zero."""
    found = as_number(value)
    if not 0.0 < found < math.inf:
        raise ArgumentError(f"{what} is {value!r:.80}, it must be a positive number")
    return found


class Range(NamedTuple):
    """The numbers that an argument may hold: from `least` to `most`, of flags 0 and 1 alone; `text` is for errors."""

    least: float
    most: float
    text: str
    flags: bool = False

    def check(self, what: str, values: Array, more: str = "") -> None:
        """Raise an error that names the first number that is out of the range, or NaN.

        Examples
        --------
        >>> Range(0.0, 1.0, "it is a part from 0 to 1").check("share", np.array([0.5, 2.0]))
        Traceback (most recent call last):
        ...
        kinetree.errors.ArgumentError: share holds 2: it is a part from 0 to 1
        """
        values = values.astype(np.float64, copy=False)
        right = (values >= self.least) & (values <= self.most)
        if self.flags:
            right &= values == np.round(values)
        if not right.all():
            raise ArgumentError(f"{what} holds {values[~right][0]:g}: {self.text}{more}")


_unseeded: dict[int, np.random.Generator] = {}
"""The generator without a seed, by process: to make one takes longer than to draw from it, and a fork needs its own."""


def as_generator(seed: Seed) -> np.random.Generator:
    """Return a generator of random numbers for whatever NumPy takes as a seed; `ArgumentError` for anything else."""
    if seed is None:
        process = os.getpid()
        return _unseeded.get(process) or _unseeded.setdefault(process, np.random.default_rng())
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ArgumentError(f"seed is {seed!r}, it must be an integer ≥ 0, a numpy.random.Generator or None") from None


def as_lead(size: Size) -> tuple[int, ...]:
    """Return the leading axes of so many configurations."""
    if isinstance(size, tuple) and not size:
        return ()  # the usual case, at once
    try:
        return np.broadcast_shapes(size)
    except (TypeError, ValueError):
        raise ArgumentError(f"size is {size!r}, it must be an integer ≥ 0 or a tuple of them") from None


def given_limits(limits: ArrayLike) -> Any:
    """Return limits of effort or velocity, infinite where they are 0: files need a number, and 0 is "not known"."""
    return np.where(np.asarray(limits) > 0, limits, np.inf)[()]


def of_joints(robot: Any, name: str, given: Any, *, others: float | None = None) -> Array:
    """Return positive numbers (nv,): those given, or one for all; `others` are those that a mapping does not have."""
    if others is not None and isinstance(given, Mapping):
        numbers = np.full(robot.nv, others)
        for joint, x in given.items():
            if joint not in robot.v_names:
                raise ArgumentError(unknown_name("joint", joint, robot.v_names))
            numbers[robot.v_names.index(joint)] = real_array(f"{name} of {joint!r}", x, batch=False)
    else:
        numbers = real_array(name, given)
        if numbers.shape not in ((), (robot.nv,)):
            each = f"one for each of the {robot.nv} joints that move"
            raise ArgumentError(f"{name} has shape {numbers.shape}: one number is needed, or {each}")
        numbers = np.broadcast_to(numbers, robot.nv)
    if not ((numbers > 0.0) & (numbers < np.inf if others is None else numbers == numbers)).all():
        raise ArgumentError(f"{name} is {given!r}: it must be positive")
    return numbers
