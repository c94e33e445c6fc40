"""External forces by name: a dict of wrenches on frames as the array `f_ext`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, ModelError
from kinetree.model import Model
from kinetree.spatial import Force, Transform
from kinetree.validation import MASKED, Array, has_masked_entries

FromNames = Callable[[Mapping[str, Any], Mapping[str, Any]], Any]


def named_wrenches(model: Model, function: str) -> FromNames:
    """Return how a function of a robot makes f_ext (..., nb, 6) of wrenches (..., 6) by the name of a frame.

    A wrench is given in the axes of its frame, with the moment about its origin, or with ``f_ext_frame="world"`` in the
    world's axes about the world's origin. Those on frames of one body add up; what acts on the world moves nothing.

    Examples
    --------
    >>> from kinetree.formats import load_model
    >>> f_ext = named_wrenches(load_model("panda"), "inverse_dynamics")
    >>> f_ext({"panda_hand": [0, 0, 0, 0, 0, 10.0]}, {})[-1].round(3).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 10.0]
    """
    known: dict[str, tuple[int, Array | None]] = {}

    def where(name: str) -> tuple[int, Array | None]:
        if not isinstance(name, str) or name not in known:
            at = model.frame(name)
            known[name] = at.body, _to_body(at.X)
        return known[name]

    def f_ext(given: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
        try:
            on = [(name, *where(name), _wrench(name, value)) for name, value in given.items()]
        except (ArgumentError, ModelError) as error:
            raise ArgumentError(f"{function}: f_ext: {error}") from None
        try:
            lead = np.broadcast_shapes(*(wrench.shape[:-1] for *_, wrench in on))
        except ValueError:
            shapes = ", ".join(f"{name!r} {wrench.shape}" for name, *_, wrench in on)
            raise ArgumentError(f"{function}: f_ext: the batch axes of {shapes} do not broadcast") from None
        made = np.full((*lead, model.nb, 6), 0.0, np.result_type(*{wrench.dtype for *_, wrench in on} or {np.float32}))
        own_axes = options.get("f_ext_frame") != "world"
        for _, body, to_body, wrench in on:
            if body >= 0:
                made[..., body, :] += wrench if to_body is None or not own_axes else wrench @ to_body.astype(made.dtype)
        return made

    return f_ext


def _to_body(X: Transform) -> Array | None:
    """Return the matrix A with which ``f @ A`` is a wrench f on a frame in its body's axes; None for the body's own."""
    if Transform.identity() == X:
        return None
    return np.array([list(X.T @ Force.of(unit)) for unit in np.eye(6).tolist()])


def _wrench(name: str, value: Any) -> Any:
    """Return a wrench as an array of floats, or of traced scalars."""
    if has_masked_entries(value):
        raise ArgumentError(MASKED.format(f"the wrench on {name!r}"))
    try:
        wrench = np.asarray(value)
    except ValueError as reason:
        raise ArgumentError(f"the wrench on {name!r} is not an array of numbers: {reason}") from None
    traced = wrench.dtype == object
    if traced:
        from kinetree.tracing.arrays import is_traced
        from kinetree.tracing.expr import Expr, recast

        traced = is_traced(wrench)
    if wrench.dtype.kind not in "fiu" and not traced:
        raise ArgumentError(f"the wrench on {name!r} has dtype {wrench.dtype}, which is not a real number")
    if wrench.shape[-1:] != (6,):
        raise ArgumentError(
            f"the wrench on {name!r} has shape {wrench.shape}: a moment and a force (n, f) are (..., 6)"
        )
    if traced:  # with the arithmetic of a robot's functions, which is simplified, not with a user's
        return np.frompyfunc(lambda x: recast(x, Expr), 1, 1)(wrench)
    return wrench.astype(np.float64) if wrench.dtype.kind in "iu" else wrench
