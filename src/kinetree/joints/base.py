"""The contract of a joint type, and the registry of all of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kinetree.errors import ModelError
from kinetree.spatial import Force, Inertia, Motion, Scalar, Transform

if TYPE_CHECKING:
    import numpy as np
    from numpy.random import Generator
    from numpy.typing import NDArray

Limit = Sequence[float] | None


@dataclass(frozen=True, slots=True)
class JointState:
    """What a joint does in one state: the result of `Joint.jcalc` (RBDA section 4.4).

    Attributes
    ----------
    X : Transform
        ``X_J``, from the joint's frame (fixed in the parent) to the child body's frame.
    S : tuple of Motion
        The columns of the motion subspace, in the child's frame: one a degree of freedom.
    vJ : Motion
        ``S ν``, the child's velocity against its parent.
    cJ : Motion
        ``S̊ ν``, the apparent rate of S times ν; zero unless S depends on q in the child's frame.
    """

    X: Transform
    S: tuple[Motion, ...]
    vJ: Motion
    cJ: Motion


class Joint(ABC):
    """A joint type: the whole contract. Nothing outside the joint's own file needs to know the type.

    A joint has ``nq`` coordinates q and ``nv`` velocities ν, with ν not necessarily the rate of q: the joint owns
    the map between them, through `integrate` and `difference`. A subclass is a frozen dataclass whose fields are
    the joint's parameters (an axis, a pitch); it registers itself, and the generic tests find it by that.

    Every method works on any scalar, so the same code gives a number, a batch, a formula or machine code.

    Laws, to which `kinetree.joints.check` holds a joint; the builder has it check a user's type at its first use:

    - ``jcalc(integrate(q, ν dt), …).X`` moves at the velocity ``S ν`` as dt → 0, and ``S ν = vJ``;
    - no method branches on q or ν (`kinetree.spatial.select` chooses between values);
    - X is a rotation and a translation; ``cJ`` is the rate of S along the motion, times ν;
    - ``SᵀT = 0``, and S and T together span all six dimensions;
    - ``difference(q, integrate(q, d)) = d`` for small d, and ``integrate(q0, difference(q0, q1))`` is the pose of q1;
    - `integrate` by d/2 and again by d/2 is `integrate` by d; and small steps in two orders differ by their `bracket`;
    - `random` is finite, within the limits, and repeats with its seed;
    - moving `inertia_for_parent` to the parent changes no joint force.

    A mimic joint (one coordinate that moves several bodies) fits as a wrapper: it holds another joint, a factor and
    an offset; its q and ν are the leader's entries, and its ``X``, ``S``, ``cJ`` are those of the joint inside at
    ``factor · q + offset`` with S scaled by the factor. `Body.q_index` and `Body.v_index` may then repeat, and
    so the algorithms always *accumulate* into the entry of a velocity index, never assign.
    """

    nq: ClassVar[int]
    nv: ClassVar[int]
    actuated: ClassVar[bool] = True
    """Whether a motor drives it, as far as the type tells: nothing drives a floating base."""
    rigid: ClassVar[bool] = False
    """Whether the child never moves, and stays where the joint's frame is: the builder makes one body of both links."""
    q_names: ClassVar[tuple[str, ...]] = ()
    v_names: ClassVar[tuple[str, ...]] = ()
    """What tells its coordinates apart, and its velocities, where it has several: ``("x", "y", "theta")``."""
    registry: ClassVar[dict[str, type[Joint]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Joint.registry[cls.__name__] = cls

    @property
    def follows(self) -> tuple[Scalar, Scalar] | None:
        """The factor and the offset at which it follows the coordinate of another joint; None where it has its own."""
        return None

    @property
    def alone(self) -> Joint:
        """What it is without a leader: this joint, unless it follows another one."""
        return self

    @property
    def direction(self) -> tuple[float, float, float] | None:
        """Its axis, or the normal of its plane, in the joint's frame; None where it has neither."""
        return getattr(self, "axis", None)

    @abstractmethod
    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        """Return ``X_J``, S, ``vJ`` and ``cJ`` at the coordinates q (nq) and velocities ν (nv)."""

    @abstractmethod
    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        """Return the 6 − nv columns of T, the forces that the joint itself bears: ``SᵀT = 0``."""

    def turned_around(self) -> Joint:
        """Return the joint with parent and child exchanged, whose motions are the inverses of this one's.

        A single coordinate keeps its meaning. Raises `ModelError` where a type does not say what that is.
        """
        raise ModelError(f"a {type(self).__name__} does not say what it is with parent and child exchanged")

    def neutral(self) -> tuple[float, ...]:
        """Return the coordinates of the joint's zero: where the child's frame coincides with its own, if anywhere."""
        return (0.0,) * self.nq

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """Return the coordinates reached from q by the velocity dv held for a unit of time, in the child's frame."""
        return [a + b for a, b in zip(q, dv, strict=True)]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """Return the velocity that leads from q0 to q1 in a unit of time: the inverse of `integrate`."""
        return [b - a for a, b in zip(q0, q1, strict=True)]

    def bracket(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        """Return the Lie bracket [a, b] of two velocities, by which small steps in two orders differ.

        A step a and then b leads ``[a, b]`` further than b and then a, up to terms of third order. It is zero where
        `integrate` adds, since the order of sums is nothing; twists in the child's axes have their cross product.
        """
        return [0.0] * self.nv

    def random(
        self, rng: Generator, lower: Limit = None, upper: Limit = None, size: tuple[int, ...] = ()
    ) -> NDArray[np.float64]:
        """Return random coordinates (``*size, nq``), uniform within the limits; where there is none, within `span`."""
        return rng.uniform(*self.interval(lower, upper), (*size, self.nq))

    def interval(self, lower: Limit = None, upper: Limit = None) -> tuple[list[float], list[float]]:
        """Return from where to where `random` draws each coordinate: the limits, `span` where there is none."""
        low = [-self.span if lower is None or not math.isfinite(lower[k]) else lower[k] for k in range(self.nq)]
        high = [self.span if upper is None or not math.isfinite(upper[k]) else upper[k] for k in range(self.nq)]
        return low, [max(a, b) for a, b in zip(low, high, strict=True)]

    span: ClassVar[float] = math.pi
    """How far `random` goes to either side where there is no limit."""

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return the part of the child's inertia that can be lumped into the parent, at this joint's frame.

        It is invariant under the joint's motion and has no momentum along S, so that moving it to the parent changes
        no joint force in any state. It gives fewer than ten "base parameters" per body, and cheaper algorithms. The
        default is nothing.
        """
        return Inertia.zero()
