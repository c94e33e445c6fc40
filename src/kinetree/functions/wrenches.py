"""External forces by name: a dict of wrenches on frames as the array `f_ext`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, ModelError
from kinetree.model import WORLD, Model
from kinetree.spatial import Force, Transform

FromNames = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]


def named_wrenches(model: Model, function: str) -> FromNames:
    """Return how a function of a robot makes f_ext of a dict, which needs its options too."""

    def f_ext(given: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        try:
            return wrenches_on_bodies(model, given, str(options.get("f_ext_frame", "body")))
        except (ArgumentError, ModelError) as error:
            raise ArgumentError(f"{function}: f_ext: {error}") from None

    return f_ext


def wrenches_on_bodies(model: Model, given: Mapping[str, Any], frame: str = "body") -> Any:
    """Return f_ext (..., nb, 6) for wrenches (..., 6) by the name of a frame, which every body is too.

    A wrench is given in the axes of its frame, with the moment about its origin, or if `frame` is "world", in the
    world's axes about the world's origin. Those on frames of one body add up; what acts on the world moves nothing.

    Examples
    --------
    >>> from kinetree.formats import load_model
    >>> model = load_model("panda")
    >>> f_ext = wrenches_on_bodies(model, {"panda_hand": [0, 0, 0, 0, 0, 10.0]})
    >>> f_ext.shape, f_ext[-1].round(3).tolist()
    ((7, 6), [0.0, 0.0, 0.0, 0.0, 0.0, 10.0])
    """
    wrenches = {name: _wrench(name, value) for name, value in given.items()}
    on: dict[int, list[Any]] = {}
    for name, wrench in wrenches.items():
        at, six = model.frame(name), list(np.moveaxis(wrench, -1, 0))
        if frame == "body" and Transform.identity() != at.X:
            six = list(at.X.T @ Force.of(six))
        if at.body != WORLD:
            on[at.body] = [x + y for x, y in zip(on[at.body], six, strict=True)] if at.body in on else six
    try:
        lead = np.broadcast_shapes(*(wrench.shape[:-1] for wrench in wrenches.values()))
    except ValueError:
        shapes = ", ".join(f"{name!r} {wrench.shape}" for name, wrench in wrenches.items())
        raise ArgumentError(f"the batch axes of these wrenches do not broadcast: {shapes}") from None
    dtype = np.result_type(*(wrench.dtype for wrench in wrenches.values())) if wrenches else np.float64
    f_ext = np.full((*lead, model.nb, 6), 0.0, dtype)
    for i, six in on.items():
        for k, x in enumerate(six):
            f_ext[..., i, k] = x
    return f_ext


def _wrench(name: object, value: Any) -> Any:
    """Return a wrench as an array of floats, or of traced scalars."""
    try:
        wrench = np.asarray(value)
    except ValueError as reason:
        raise ArgumentError(f"the wrench on {name!r} is no array of numbers: {reason}") from None
    if wrench.dtype.kind not in "fiuO":
        raise ArgumentError(f"the wrench on {name!r} has dtype {wrench.dtype}, which is no real number")
    if wrench.shape[-1:] != (6,):
        raise ArgumentError(
            f"the wrench on {name!r} has shape {wrench.shape}: a moment and a force (n, f) are (..., 6)"
        )
    return wrench.astype(np.float64) if wrench.dtype.kind in "iu" else wrench
