"""The contract of a constraint type, and the registry of all of them."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from kinetree.errors import ArgumentError, ModelError
from kinetree.glossary.symbols import Vector
from kinetree.joints._parts import unit_axis
from kinetree.model import Model
from kinetree.scalars.linalg import dot
from kinetree.spatial import Force, Scalar
from kinetree.validation import as_number

if TYPE_CHECKING:
    from kinetree.contacts import ForceSet

Checks = Mapping[str, Callable[[str, Any], Any]]


class Row(NamedTuple):
    """One scalar equation of a constraint in one state: ``J v = 0``, ``J v̇ + γ = 0`` and, if there is one, ``φ = 0``.

    Attributes
    ----------
    J : sequence of nv scalars
    gamma : scalar
        γ = J̇ v.
    phi : scalar or None
        How far the positions are from fulfilling it, with ``φ̇ = J v`` where they do; None where only velocities are
        constrained, as of a ball that rolls.
    rebounds : bool
        Whether an impulse with restitution reverses the velocity along it; one that only holds stops it.
    finite : bool
        Whether J is finite at every configuration. If not, it costs some operations to keep what is switched off out.
    angular : bool
        Whether φ is an angle, and the force a moment; if not, they are a length and a force.
    on : scalar
        1 where it acts, else 0: of a state, not of the constraint's type.
    anchor : sequence of 3 scalars
        The position d, velocity ḋ and acceleration d̈ that it keeps where its anchor moves, likewise.
    """

    J: Vector
    gamma: Scalar
    phi: Scalar | None
    rebounds: bool = True
    finite: bool = False
    angular: bool = False
    on: Scalar = 1.0
    anchor: Vector = (0.0, 0.0, 0.0)

    @property
    def error(self) -> Scalar:
        """``φ − d``, 0 where only velocities are constrained."""
        return 0.0 if self.phi is None else self.phi - self.anchor[0]

    def speed(self, v: Vector) -> Scalar:
        """Return ``J v − ḋ``, the velocity along the row against its anchor."""
        return dot(self.J, v) - self.anchor[1]

    def bias(self, v: Vector, omega: Scalar) -> Scalar:
        """Return ``γ − d̈ + 2ω (J v − ḋ) + ω² (φ − d)``, which the acceleration along the row cancels."""
        return self.gamma - self.anchor[2] + (self.speed(v) * 2.0 + self.error * omega) * omega


@dataclass(frozen=True, kw_only=True)
class Constraint(ABC):
    """A constraint type: the whole contract. Nothing outside the constraint's own file needs to know the type.

    A constraint names frames or joints of a model, which it does not hold. A subclass is a frozen dataclass whose
    fields are its parameters; with its `size` it registers itself, and the generic tests find it by that. Its force f,
    one number a row, acts on the robot as the joint forces ``Jᵀ f``: row by row, f does work on ``J v``.

    Laws, over any scalar and without a branch on q or v:

    - ``d/dt (J v) = J v̇ + γ`` in every state;
    - ``φ̇ = J v`` where all φ of the constraint are zero;
    - ``d/dt Σ e²`` is ``2 eᵀ J v`` in every state, for the e of `errors`;
    - the joint forces of `wrenches`, where the constraint acts between bodies, are ``Jᵀ f``.

    Parameters
    ----------
    name : str, optional
        What it is called in a mechanism; made of its type and what it names if not given.
    """

    name: str = ""

    size: ClassVar[int]
    """The number of rows; a type in which it depends on the parameters has a property of this name."""
    checks: ClassVar[Checks] = {}
    """Functions of what a field is called in messages, and of its value, that return the value to keep."""
    registry: ClassVar[dict[str, type[Constraint]]] = {}

    def __post_init__(self) -> None:
        for field, check in self.checks.items():
            what = f"the {field} of {self.kind} {self.label!r}"
            object.__setattr__(self, field, check(what, getattr(self, field)))

    def __init_subclass__(cls, registered: bool = True, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if registered and "size" in vars(cls):
            Constraint.registry[cls.__name__] = cls

    @abstractmethod
    def check(self, model: Model) -> None:
        """Raise `ModelError` where this model has no such frames or joints, or the constraint makes no sense of it."""

    @abstractmethod
    def rows(self, model: Model, q: Vector, v: Vector) -> Sequence[Row]:
        """Return the `size` rows at the configuration q and the velocity v."""

    def errors(self, model: Model, q: Vector) -> Sequence[Scalar | None]:
        """Return for each row how far the positions are from fulfilling it, wherever they are; None as for φ.

        Near where they fulfil it that is φ; far from there φ may vanish too, and this does not. Along the velocity v,
        the rate of the sum of the squares of these e is ``2 eᵀ J v``.
        """
        return [row.phi for row in self.rows(model, q, [0.0] * model.nv)]

    def reaches(self, model: Model) -> Mapping[int, Scalar]:
        """Return how far from the origins of bodies it acts, by their index; what acts between joints has none."""
        return {}

    def wrenches(self, model: Model, q: Vector, f: Vector) -> Mapping[int, Force]:
        """Return the wrenches that the force f exerts on bodies, in their axes about their origins, by their index.

        What acts between joints exerts none.
        """
        return {}

    def force_set(self, friction: Scalar | None = None) -> ForceSet | None:
        """Return which forces it can exert where contacts are solved, None if any; with this friction, if it is given.

        Until they are solved every force is possible.
        """
        return None

    def gap(self, rows: Sequence[Row]) -> Scalar:
        """Return how far it is from touching, where it only pushes; `rows` are its own."""
        return rows[-1].phi

    def inside(self, model: Model, q: Vector) -> Scalar | None:
        """Return 1 where it may touch at this configuration, else 0, for steps in time; None where it always may."""
        return None

    @property
    def rebound(self) -> float:
        """The part of a velocity with which it rebounds where contacts are solved, unless another is given."""
        return 0.0

    @property
    def kind(self) -> str:
        """Its type in words."""
        return re.sub("(?<=.)([A-Z])", r" \1", type(self).__name__).lower()

    @property
    def of(self) -> tuple[str, ...]:
        """The frames or joints that it names, for its own name."""
        return ()

    @property
    def label(self) -> str:
        """Its name, or one made of its type and what it names: ``weld_tool``."""
        return self.name or "_".join((type(self).__name__.lower(), *map(str, self.of)))


def finite_number(what: str, value: object) -> float:
    """Return a number that is finite; `what` it is is in messages."""
    if not math.isfinite(found := as_number(value)):
        raise ArgumentError(f"{what} is {value!r:.80}: give a finite number")
    return found


def direction(what: str, value: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Return a direction with length one."""
    try:
        return unit_axis(value)
    except (ModelError, TypeError):
        raise ModelError(f"{what} is {value!r}: give a finite (x, y, z) that is not zero") from None


def triple(
    what: str, value: Any, fits: Callable[[float], bool] = math.isfinite, wanted: str = "a finite (x, y, z) (m)"
) -> tuple[float, ...]:
    """Return three numbers that all fit."""
    try:
        x, y, z = map(float, value)
    except (TypeError, ValueError, OverflowError):
        x = y = z = math.nan
    if not all(map(fits, (x, y, z))):
        raise ArgumentError(f"{what} is {value!r}: give {wanted}")
    return x, y, z
