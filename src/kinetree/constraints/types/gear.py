"""A gear: a linear relation between joint coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kinetree.algorithms.kinematics.manifold import turning
from kinetree.constraints.types.base import Constraint, Row, finite_number
from kinetree.errors import ArgumentError, ModelError, unknown_name
from kinetree.glossary.symbols import Vector
from kinetree.model import Model
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Scalar

Ratios: TypeAlias = "Mapping[str, float] | tuple[tuple[str, float], ...]"


@friendly_call_errors
@dataclass(frozen=True)
class Gear(Constraint):
    """``Σ c_j q_j = offset`` for joints of one coordinate: one row, the force λ that adds ``c_j λ`` to each joint's.

    Parameters
    ----------
    ratios : mapping of str to float
        The factor c_j of each joint; ``{"motor": 1, "wheel": -100}`` turns the motor a hundred times the wheel's angle.
    offset : float
        (rad, m)

    Raises
    ------
    ArgumentError
        If a factor is zero or no finite number, or there are fewer than two.

    Examples
    --------
    >>> Gear({"motor": 1, "wheel": -100}).ratios
    (('motor', 1.0), ('wheel', -100.0))
    """

    ratios: Ratios
    offset: float = 0.0

    size = 1

    def __post_init__(self) -> None:
        try:
            given = [*(self.ratios.items() if isinstance(self.ratios, Mapping) else self.ratios)]
            pairs = list(dict(given).items())
        except (TypeError, ValueError):
            text = 'the ratios of a gear are given as {"j1": 1, "j2": -2}'
            raise ArgumentError(f"{text}; got {self.ratios!r}") from None
        if len(pairs) < len(given):
            raise ArgumentError(f"the ratios of a gear name a joint twice: {given!r}")
        ratios = tuple((name, finite_number(f"the factor of {name!r} in a gear", c)) for name, c in pairs)
        object.__setattr__(self, "offset", finite_number("the offset in a gear", self.offset))
        if len(pairs) < 2 or any(c == 0 for _, c in ratios):
            raise ArgumentError(
                f"a gear couples at least two joints with factors that are not zero; got {dict(pairs)!r}"
            )
        object.__setattr__(self, "ratios", ratios)

    @property
    def of(self) -> tuple[str, ...]:
        return tuple(dict(self.ratios))

    def check(self, model: Model) -> None:
        leading = {body.joint_name: body for body in model.leading}
        for name in self.of:
            if name not in leading:
                reason = unknown_name("joint", name, model.joint_names)
                if name in (body.joint_name for body in model.bodies):
                    reason = f"{name!r} follows another joint: name that one"
                raise ModelError(f"constraint {self.label!r}: {reason}")
            if not leading[name].has_one_coordinate:
                raise ModelError(
                    f"constraint {self.label!r}: {name!r} must have exactly one coordinate: a gear couples those"
                )

    def rows(self, model: Model, q: Vector, v: Vector) -> Sequence[Row]:
        J: list[Scalar] = [0.0] * model.nv
        phi: Scalar = -self.offset
        for name, c in dict(self.ratios).items():
            body = model.bodies[model.body_of_joint(name)]
            J[body.v_index[0]] = c
            phi = phi + q[body.q_index[0]] * c
        first = model.bodies[model.body_of_joint(self.of[0])]
        return [Row(J, 0.0, phi, finite=True, angular=turning(model)[first.v_index[0]])]
