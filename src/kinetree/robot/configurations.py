"""Configurations of a robot: neutral, random, and the steps between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ArgumentError, ModelError
from kinetree.model import Body, Model
from kinetree.random_numbers import Seed, Size, as_generator, as_lead

FloatArray = NDArray[np.float64]


class Configurations:
    """The part of `Robot` that makes configurations and moves along the manifold that they form."""

    def __init__(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise ArgumentError(f"Robot takes a Model, {type(model).__name__} was given; kinetree.load reads files")
        if not all(isinstance(x, float) for x in model.numbers):
            raise ModelError("a Robot's model must have plain numbers; the algorithms take models over any scalar")
        self.__dict__["model"] = model

    if TYPE_CHECKING:
        model: Model

    def neutral(self) -> FloatArray:
        """Return the configuration (nq,) in which every joint is at its zero."""
        q = np.empty(self.model.nq)
        for body in self._leading:
            q[list(body.q_index)] = body.joint.neutral()
        return q

    def random_configuration(self, seed: Seed = None, size: Size = ()) -> FloatArray:
        """Return random configurations (*size, nq), uniform within the joints' limits.

        Where a joint has no limits it is within ±π rad or ±1 m; orientations are uniform over all rotations.
        """
        rng = as_generator(seed)
        lead = as_lead(size)
        q = np.empty((*lead, self.model.nq))
        for body in self._leading:
            lower, upper = ([body.limits.lower], [body.limits.upper]) if len(body.q_index) == 1 else (None, None)
            q[..., list(body.q_index)] = body.joint.random(rng, lower, upper, lead)
        return q

    def random_state(self, seed: Seed = None, size: Size = ()) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return random q (*size, nq), v and a (*size, nv): q as `random_configuration`, v and a standard normal.

        Examples
        --------
        >>> import kinetree as kt
        >>> [x.shape for x in kt.load("g1").random_state(seed=0, size=10)]
        [(10, 36), (10, 35), (10, 35)]
        """
        rng = as_generator(seed)
        q = self.random_configuration(rng, size)
        v, a = rng.normal(size=(2, *q.shape[:-1], self.model.nv))
        return q, v, a

    @property
    def _leading(self) -> list[Body]:
        """The bodies whose joints have coordinates of their own: not the mimic joints."""
        return [self.model.bodies[i] for i in self.model.joint_order]


def describe(model: Model) -> str:
    """Return how a model's q and v are made up, for error messages."""
    names = ", ".join(model.joint_names[:12]) + (", …" if len(model.joint_names) > 12 else "")
    return f"this robot has nq = {model.nq} and nv = {model.nv}: joints {names}"


def checked_array(model: Model, name: str, value: ArrayLike, n: int) -> FloatArray:
    """Return the value as an array whose last axis is n; `ArgumentError` otherwise."""
    try:
        given = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} must be an array of {n} numbers: {error}") from None
    if given.dtype.kind not in "fiu":
        raise ArgumentError(f"{name} has dtype {given.dtype}, which is no real number: {describe(model)}")
    array = given.astype(np.float64, copy=False)
    if array.ndim == 0 or array.shape[-1] != n:
        raise ArgumentError(f"{name} has shape {array.shape}; its last axis must be {n}: {describe(model)}")
    return array
