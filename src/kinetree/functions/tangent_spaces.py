"""The tangent space of configurations: how their entries change with velocities, as the joints' `integrate` says."""

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


def _is_zero(x: Any) -> bool:
    return bool(getattr(x, "constant", x) == 0.0)


def spaces_of(
    model: Model, shapes: Mapping[str, Shape | None], identify: Callable[[Model], bytes]
) -> dict[str, Configuration]:
    """Return the tangent spaces of arrays with these declared shapes, by name: of those that are configurations."""
    return {name: Configuration(model.tree, identify) for name, shape in shapes.items() if shape == ("nq",)}
