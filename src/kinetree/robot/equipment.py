"""What a robot has beside its dynamics: the shapes of its links, and its motors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import ArgumentError, ModelError, unknown_name
from kinetree.lazy import lazy_method
from kinetree.model import Actuator, Model
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.geometry import Geometries, Geometry

no_geometry: Callable[[], Geometries] = lazy_method("kinetree.geometry", "Geometries")


class Equipment:
    """The shapes and motors of a robot; see `kinetree.Robot`."""

    if TYPE_CHECKING:
        model: Model
        nv: int
        actuators: tuple[Actuator, ...]
        _geometry: Geometries | Callable[[], Geometries] | None

    @property
    def geometry(self) -> Geometries:
        """The shapes of all links, read from the file's elements at first use (`kinetree.geometry.Geometries`)."""
        given = self._geometry
        if given is None or callable(given):
            given = self.__dict__["_geometry"] = (given or no_geometry)()
        return given

    @property
    def visual_geometry(self) -> tuple[Geometry, ...]:
        """What is seen of the robot, each a `kinetree.geometry.Geometry`."""
        return self.geometry.visual

    @property
    def collision_geometry(self) -> tuple[Geometry, ...]:
        """What the robot touches with, each a `kinetree.geometry.Geometry`."""
        return self.geometry.collision

    @property
    def actuation(self) -> Array:
        """The matrix B (nv, n) of ``τ = B u``, with a column for each of `actuators`.

        Where there are none, each degree of freedom that could have a motor has one.
        """
        if not self.actuators:
            return np.eye(self.nv)[:, list(self.model.actuated)]
        B = np.zeros((self.nv, len(self.actuators)))
        for column, actuator in zip(B.T, self.actuators, strict=True):
            body = self.model.bodies[self.model.body_of_joint(actuator.joint)]
            factor = 1.0 if body.joint.follows is None else float(body.joint.follows[0])
            column[list(body.v_index)] = factor * np.array(actuator.gear)
        return B


def check_geometry(model: Model, geometry: Geometries) -> None:
    """Raise where shapes are something else, or on links that are not there."""
    try:
        links = {shape.link for shapes in (geometry.visual, geometry.collision) for shape in shapes}
    except (AttributeError, TypeError):
        taken = "kinetree.geometry.Geometries(visual, collision), each of Geometry values"
        raise ArgumentError(f"geometry takes {taken}; {geometry!r:.200} was given") from None
    for link in sorted(links - {*model.frame_names}):
        raise ModelError(f"geometry: {unknown_name('link', link, model.frame_names)}")


def check_actuator(model: Model, actuator: Actuator) -> None:
    """Raise where an actuator's joint is not there, or has another number of degrees of freedom than its gear."""
    if not isinstance(actuator, Actuator):
        raise ArgumentError(f"actuators takes kinetree.Actuator(name, joint, gear) values; {actuator!r} was given")
    n = len(model.bodies[model.body_of_joint(actuator.joint)].v_index)
    if len(actuator.gear) != n:
        raise ModelError(
            f"actuator {actuator.name!r}: its gear has {len(actuator.gear)} numbers, joint {actuator.joint!r} has {n} "
            "degrees of freedom"
        )
