"""Tangent spaces: how configurations change with velocities, as the joints' `integrate` says, and poses with twists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.glossary.symbols import Shape
from kinetree.graph import Port
from kinetree.model import Model


@dataclass(frozen=True)
class Configuration:
    """The tangent space of a model's configurations: small steps dv of ``q ⊞ dv`` (see `Joint.integrate`).

    Attributes
    ----------
    model : Model
    identify : callable
        Returns the digests of a model and of joint types of a user's.
    """

    model: Model
    identify: Callable[[Model], bytes]

    @property
    def port(self) -> Port:
        """An element, as an array."""
        return Port("dv", (self.model.nv,))

    @property
    def identity(self) -> bytes:
        """All that it depends on."""
        return self.identify(self.model)

    def rates(self, q: Sequence[Any]) -> list[dict[int, Any]]:
        """Return how fast each entry of q changes with each velocity: those that are not known to be zero."""
        from kinetree.scalars.dual import Dual, rate_of  # only a trace needs them

        found: list[dict[int, Any]] = [{} for _ in q]
        for body in self.model.leading:
            own, n = [q[k] for k in body.q_index], len(body.v_index)
            for k, column in enumerate(body.v_index):
                moved = body.joint.integrate(own, [Dual(0.0, 1.0) if j == k else 0.0 for j in range(n)])
                for entry, x in zip(body.q_index, moved, strict=True):
                    if not _is_zero(rate := rate_of(x)):
                        found[entry][column] = rate
        return found

    def velocities(self, q: Sequence[Any]) -> list[dict[int, Any]]:
        """Return how fast each velocity, of a motion through q, changes with the rate of each entry of q."""
        from kinetree.scalars.dual import Dual, rate_of

        found: list[dict[int, Any]] = [{} for _ in range(self.model.nv)]
        for body in self.model.leading:
            own = [q[k] for k in body.q_index]
            for k, entry in enumerate(body.q_index):
                moving = [Dual(x, 1.0) if j == k else x for j, x in enumerate(own)]
                for row, x in zip(body.v_index, body.joint.difference(own, moving), strict=True):
                    if not _is_zero(rate := rate_of(x)):
                        found[row][entry] = rate
        return found


@dataclass(frozen=True)
class Placement:
    """The tangent space of poses (4, 4): turns about, then shifts along the axes of the frame that is placed."""

    @property
    def port(self) -> Port:
        """An element, as an array."""
        return Port("twist", (6,))

    @property
    def identity(self) -> bytes:
        """All that it depends on."""
        return b"placement"

    def rates(self, pose: Sequence[Any]) -> list[dict[int, Any]]:
        """Return how fast each entry changes with each direction: ``R' = R ω×`` and ``p' = R v``."""
        found: list[dict[int, Any]] = []
        for row in (pose[0:4], pose[4:8], pose[8:12]):
            x, y, z = row[:3]
            found += [{2: y, 1: -z}, {0: z, 2: -x}, {1: x, 0: -y}, {3: x, 4: y, 5: z}]
        return [*found, {}, {}, {}, {}]

    def velocities(self, pose: Sequence[Any]) -> list[dict[int, Any]]:
        """Return each direction of a motion as a sum of rates of entries: ``ω× = Rᵀ R'`` and ``v = Rᵀ p'``."""
        places = ((2, 1), (0, 2), (1, 0), (0, 3), (1, 3), (2, 3))
        return [{4 * row + of: pose[4 * row + along] for row in range(3)} for along, of in places]


def _is_zero(x: Any) -> bool:
    return bool(getattr(x, "constant", x) == 0.0)


def spaces_of(
    model: Model, shapes: Mapping[str, Shape | None], identify: Callable[[Model], bytes]
) -> dict[str, Configuration]:
    """Return the tangent spaces of arrays with these declared shapes, by name: of those that are configurations."""
    return {name: Configuration(model.tree, identify) for name, shape in shapes.items() if shape == ("nq",)}
