"""What an integrator moves: a robot and what acts on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from kinetree.algorithms.dynamics.aba import aba
from kinetree.algorithms.dynamics.limit_forces import limit_forces, saturated
from kinetree.algorithms.dynamics.rnea import Wrenches
from kinetree.algorithms.kinematics.manifold import integrate, step_rate
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar
from kinetree.scalars.loops import Routine

Forces = Callable[[Scalar, Column, Column], Sequence[Scalar]]


@dataclass(frozen=True)
class System:
    """A robot with what acts on it, as integrators see it, over any scalar."""

    model: Model
    motors: Forces  # the joint forces (nv,) of the motors at a time t and in the state q, v
    wrenches: Callable[[Scalar], Wrenches] | None = None  # those (nb, 6) on the bodies at a time
    f_ext_frame: str = "body"
    limits: str = "none"  # which count: "none", "position", "effort" or "all"
    smooth: bool = False  # whether what acts is smooth from step to step too: nothing is held during one
    settings: Mapping[str, Scalar] = field(default_factory=dict)  # numbers for the integrator (`Integrator.settings`)

    is_tree: ClassVar[bool] = True
    """Whether nothing but joints holds the bodies together, so that every q and v are possible."""

    def motor_forces(self, t: Scalar, q: Column, v: Column) -> Column:
        """Return the joint forces of the motors, within their limits if these count."""
        tau = self.motors(t, q, v)
        return Column(saturated(self.model, tau) if self.limits in ("effort", "all") else tau)

    def forces(self, t: Scalar, q: Column, v: Column) -> Column:
        """Return the joint forces of motors and, if limits of position count, of stops."""
        tau = self.motor_forces(t, q, v)
        return tau + limit_forces(self.model, q, v) if self.limits in ("position", "all") else tau

    def acceleration(self, t: Scalar, q: Column, v: Column) -> Column:
        """Return the accelerations (nv,) at this time and in this state."""
        return self.accelerations(t, q, v)[0]

    def accelerations(self, t: Scalar, q: Column, v: Column) -> tuple[Column, ...]:
        """Return the accelerations, and the constraints' forces if there are constraints."""
        f_ext = self.wrenches and self.wrenches(t)
        return (Column(aba(self.model, q, v, self.forces(t, q, v), f_ext, f_ext_frame=self.f_ext_frame)),)

    def called_acceleration(self, t: Scalar, q: Column, v: Column) -> Column:
        """Return `stage_acceleration`, computed by a routine: compiled code has one for all the calls in a step."""
        return Column(self._accelerations([t, *q, *v], q[0] if q else t))

    @cached_property
    def _accelerations(self) -> Routine:
        nq = self.model.nq
        return Routine(lambda x: list(self.stage_acceleration(x[0], Column(x[1 : 1 + nq]), Column(x[1 + nq :]))))

    def stage_acceleration(self, t: Scalar, q: Column, v: Column) -> Column:
        """Return `acceleration` in a state within a step, where constraints hold but for the error of its stage."""
        return self.acceleration(t, q, v)

    def moved(self, q: Column, u: Column) -> Column:
        """Return ``q ⊕ u``: the configuration reached from q by the velocity u held for a unit of time."""
        return Column(integrate(self.model, q, u))

    def held(self, t: Scalar, q: Column, v: Column) -> tuple[Column, Column]:
        """Return the state at the end t of a step, brought back to what constraints allow if there are any."""
        return q, v

    def rate(self, u: Column, v: Column, order: int = 8) -> Column:
        """Return the rate of u for which ``q ⊕ u`` moves at v, ``dexp⁻¹_u v``, up to ``ad_u`` to the power of `order`."""
        return Column(step_rate(self.model, u, v, order))
