"""`Mechanism`: a robot with constraints, closed loops and contacts, and its compiled functions."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from kinetree.algorithms.table import give_functions
from kinetree.constraints import MECHANISM_ALGORITHMS
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Constraint
from kinetree.constraints.types.contact import slot_values
from kinetree.errors import ArgumentError
from kinetree.robot.base import OPEN_LOOPS, AlgorithmAttributes, of_model
from kinetree.robot.robot import Robot
from kinetree.robot.signatures import MechanismFunctions
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array, as_number

if TYPE_CHECKING:
    from collections.abc import Mapping

FORCES_UNKNOWN = ("identify_payload", "base_parameters", "excite")
"""What a tree has of which a mechanism would need more: the forces in its loops."""


@friendly_call_errors
class Mechanism(AlgorithmAttributes, MechanismFunctions):
    """A mechanism as the rooms above this one know it; see `kinetree.Mechanism`, which has their methods too."""

    if TYPE_CHECKING:
        model: ConstrainedModel
        tree: Robot
        constraint_names: tuple[str, ...]
        row_slices: Mapping[str, slice]
        nrows: int

    _tree_kind = Robot
    """What the tree must be."""

    def __init__(
        self,
        robot: Robot,
        constraints: Iterable[Constraint],
        actuated: Iterable[str] | None = None,
        independent: Iterable[str] | None = None,
        stabilization: float = 0.0,
    ) -> None:
        if not isinstance(robot, self._tree_kind):
            given = f"{type(robot).__module__}." * isinstance(robot, Robot) + type(robot).__name__
            raise ArgumentError(f"Mechanism takes a kinetree.Robot, {given} was given; kinetree.load reads files")
        if not 0.0 <= as_number(stabilization) < float("inf"):
            raise ArgumentError(f"stabilization is {stabilization!r}, it must be a finite number (1/s), at least 0")
        model = constrained(robot.model, constraints, stabilization, actuated=actuated, independent=independent)
        self.__dict__.update(
            model=model,
            tree=_tree_of(robot, [c.label for c in model.constraints if c.force_set() is None]),
            constraint_names=model.constraint_names,
            row_slices=MappingProxyType(model.row_slices),
            nrows=model.nrows,
        )

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints, in the order of their rows."""
        return self.model.constraints

    @property
    def length(self) -> float:
        """ℓ (m), by which rad and m, N·m and N are compared where both make a norm: the longest way along the tree.

        It goes from joint to joint, to a joint or to where a constraint acts; so no result depends on units.
        """
        return float(self.model.length)

    @property
    def stabilization(self) -> float:
        """ω (1/s)."""
        return float(self.model.stabilization)

    def with_stabilization(self, omega: float) -> Self:
        """Return the mechanism whose dynamics bring errors of its constraints back to zero.

        Parameters
        ----------
        omega : float
            ω ≥ 0 (1/s): `forward_dynamics` has errors decay as ``φ̈ + 2ω φ̇ + ω² φ = 0``, critically damped. 0 leaves
            them as they are.

        Raises
        ------
        ArgumentError
            If it is negative or not a finite number.

        Examples
        --------
        >>> import kinetree as kt
        >>> mech = kt.Mechanism(kt.load("ur5"), [kt.Weld("tool0")])
        >>> mech.with_stabilization(20.0).stabilization
        20.0
        """
        return type(self)(self.tree, self.constraints, self.actuated, self.model.independent, omega)

    @property
    def actuated(self) -> tuple[str, ...]:
        """Names of the driven joints, in the order of v."""
        return tuple(body.joint_name for body in self.model.leading if {*body.v_index} & {*self.model.actuated})

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the velocities that determine all others, in the order of v."""
        return self.model.independent_names

    nq = of_model(lambda m: m.nq, "Length of q.")
    nv = of_model(lambda m: m.nv, "Length of v, a and tau.")
    nb = of_model(lambda m: m.nb, "Number of moving bodies.")

    def slots(self, contacts: Mapping[str, Any]) -> Array:
        """Return the array that steps take as ``slots``, (nslots, 7): the contacts in the slots (see `ContactSlot`).

        Parameters
        ----------
        contacts : mapping
            For each slot in which something is near, by its name: the point (3,), the normal (3,) and the gap, negative
            where it has penetrated (m); points and normals in the axes of the slot's ``to``.

        Raises
        ------
        ArgumentError
            If there is no slot of a name, or a number is not finite.
        """
        return slot_values(self.model.slot_names, contacts)

    def _unknown(self, name: str) -> str:
        if name in FORCES_UNKNOWN:
            return (
                f"a Mechanism has no {name!r}: nothing measures the forces of its constraints, and only the tree's "
                f"parameters can be told. Where they are known or measured, write mech.tree.{name}(…) with "
                "mech.constraint_wrenches(q, f) as f_ext of the log's Samples(q, v, a, tau, f_ext)"
            )
        if hasattr(self.tree, name):
            return f"a Mechanism has no attribute {name!r}; its robot has: mech.tree.{name}"
        return super()._unknown(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.model == other.model and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.tree, self.constraints, self.actuated, self.model.independent, self.stabilization)

    def __repr__(self) -> str:
        n, name = len(self.constraints), self.tree.name
        return f"<Mechanism of {name!r}: nv = {self.nv}, {n} constraint{'s' * (n > 1)} with {self.nrows} rows>"


def _tree_of(robot: Robot, closed: list[str]) -> Robot:
    """Return the robot, which knows that it is the tree of a mechanism that closes this, if anything."""
    if not closed:
        return robot
    tree = object.__new__(type(robot))
    tree.__dict__.update(robot.__dict__, **{OPEN_LOOPS: closed})
    return tree


give_functions(Mechanism, MECHANISM_ALGORITHMS)
