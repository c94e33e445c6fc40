"""The centre of mass of a robot that floats: it moves as a point, apart from how the robot moves around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.algorithms.quantities import center_of_mass, moving_mass
from kinetree.glossary.symbols import Vector
from kinetree.integrators.momenta import momenta
from kinetree.model import WORLD, Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, is_zero
from kinetree.spatial import Vec3
from kinetree.spatial.rotation import Rotation


class Centre(NamedTuple):
    """How a robot moves as a whole; nothing of it where the robot does not float.

    Attributes
    ----------
    model : Model
    at : tuple of int
        The entries in v of the linear velocity of a base that floats; else empty.
    """

    model: Model
    at: tuple[int, ...]

    def apart(self, q: Vector, p: Column) -> tuple[Column, Column]:
        """Return the velocity of the centre of mass in the world's axes, and momenta without it.

        Of joint forces it returns the acceleration, and the forces around the centre of mass.
        """
        if not self.at:
            return Column(), p
        share = 1.0 / moving_mass(self.model)
        common = [p[k] * share for k in self.at]
        alone, _ = momenta(self.model, q, self._velocities(common))
        return Column(self._rotation(q).to_a(Vec3(*common))), p - alone

    def velocities(self, q: Vector, motion: Sequence[Scalar]) -> Column:
        """Return the velocities (nv,) while all of the robot moves so, in the world's axes."""
        return self._velocities(list(self._rotation(q).to_b(Vec3(*motion))) if self.at else [])

    def moved(self, q: Vector, distance: Sequence[Scalar]) -> Column:
        """Return the configuration with all of the robot moved by this, in the world's axes."""
        return Column(integrate(self.model, q, self.velocities(q, distance))) if self.at else Column(q)

    def position(self, q: Vector) -> Column:
        """Return where the centre of mass is."""
        return Column(center_of_mass(self.model, q)) if self.at else Column()

    def _velocities(self, linear: Sequence[Scalar]) -> Column:
        v: list[Scalar] = [0.0] * self.model.nv
        for k, x in zip(self.at, linear, strict=True):
            v[k] = x
        return Column(v)

    def _rotation(self, q: Vector) -> Rotation:
        base = self.model.bodies[0]
        return (self.model.jcalc(0, q).X_J @ base.X_T).E


def centre(model: Model) -> Centre:
    """Return how a robot moves as a whole.

    It floats if a single body is on the world, by a joint whose velocities are those of the body, without rotors.
    """
    roots = [body for body in model.bodies if body.parent == WORLD]
    if len(roots) != 1 or not all(map(is_zero, roots[0].armature)):
        return Centre(model, ())
    (base,) = roots
    S = base.joint.jcalc(base.joint.neutral(), [0.0] * base.joint.nv).S
    units = [[float(j == k) for j in range(6)] for k in range(6)]
    return Centre(model, base.v_index[3:] if [list(column) for column in S] == units else ())
