"""What integrators move, their contract, and the registry of all of them."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, TypeVar

from kinetree.algorithms.dynamics.aba import aba
from kinetree.algorithms.dynamics.passive_forces import limit_forces, saturated
from kinetree.algorithms.dynamics.rnea import Wrenches
from kinetree.algorithms.kinematics.manifold import integrate, step_rate
from kinetree.errors import ArgumentError
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.scalars.functions import Scalar
from kinetree.scalars.linalg import Column
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
        """Return the rate of u for which ``q ⊕ u`` moves at v: ``dexp⁻¹_u v`` up to the power `order` of ``ad_u``."""
        return Column(step_rate(self.model, u, v, order))


State = tuple[Column, Column]
Step = Callable[[System, Scalar, Column, Column, Scalar], State]


class StopReason(StrEnum):
    """Why a robot stops while it is simulated, where no event asked for it: an entry of `Trajectory.reasons`."""

    NOT_FINITE = "not finite"
    CONTROLLER = "the controller returned NaN or inf"
    TOO_MANY_STEPS = "too many steps"

    @classmethod
    def of(cls, text: str) -> StopReason | str | None:
        """Return the reason that is written so: one of these, the name of an event, or none."""
        return cls(text) if text in {*cls} else text or None


class Integrator(ABC):
    """A way to go one step ahead in time: a value, whose tolerances are fields.

    Attributes
    ----------
    name : str
    order : int
        Of its error over a given time, as a power of the step.
    tolerances : tuple of str
        The fields that are numbers of a compiled step, which is one for all their values (see `System.settings`).
    counts : tuple of pairs
        What it counts, such as rejected steps: names and places in its memory.
    failure : StopReason, optional
        Why a motion ends where the method gives up, if it may.
    impulses : bool
        Whether velocities jump: then its memory begins with the impulses of a mechanism's rows in the last step.
    """

    name: str
    order: int
    tolerances: ClassVar[tuple[str, ...]] = ()
    counts: ClassVar[tuple[tuple[str, int], ...]] = ()
    failure: ClassVar[StopReason | None] = None
    impulses: ClassVar[bool] = False

    @abstractmethod
    def step(self, system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
        """Return q and v a time dt later, as columns of scalars of any kind, on which the code does not branch."""

    @property
    def identity(self) -> str:
        """What tells its code from that of others of kinetree's."""
        return self.name

    @property
    def settings(self) -> dict[str, float]:
        """Its tolerances by name."""
        return {name: getattr(self, name) for name in self.tolerances}

    @property
    def untuned(self) -> Integrator:
        """The same with the usual tolerances: what a compiled step depends on."""
        usual: Any = {name: getattr(type(self), name) for name in self.tolerances}
        return replace(self, **usual) if usual else self  # type: ignore[type-var]

    def memory(self, model: Model) -> int:
        """Return how many numbers it carries from step to step; they are zero before the first one."""
        return 0

    def advance(
        self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar, memory: Column
    ) -> tuple[Column, Column, Column]:
        """Return the state after a step, and what is carried to the next one."""
        return (*self(system, t, q, v, dt), memory)

    def failed(self, memory: Column) -> Scalar:
        """Return 1 where it has given up in the step that leaves this memory, 0 elsewhere."""
        return 0.0

    def __call__(self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar) -> State:
        """Return the state after a step, whose lengths are checked."""
        result = self.step(system, t, Column(q), Column(v), dt)
        try:
            q, v = map(Column, result)
        except (TypeError, ValueError):
            shown = type(result).__name__
            raise ArgumentError(f"the integrator {self.name!r} returned no pair (q, v) of columns: {shown}") from None
        if len(q) != system.model.nq or len(v) != system.model.nv:
            raise ArgumentError(
                f"the integrator {self.name!r} returned q with {len(q)} and v with {len(v)} entries; the robot has "
                f"nq = {system.model.nq}, nv = {system.model.nv}"
            )
        return system.held(t + dt, q, v)


@dataclass(frozen=True)
class FunctionIntegrator(Integrator):
    """An integrator that is a function of the system, time, state and step."""

    name: str
    order: int
    function: Step

    def step(self, system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
        """See `Integrator.step`."""
        return self.function(system, t, q, v, dt)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Support pickle: a registered one by its name, under which another process has it too."""
        return (_registered, (self.name,)) if INTEGRATORS.get(self.name) is self else super().__reduce__()


INTEGRATORS: dict[str, Integrator] = {}
"""By name, those of kinetree and those that users add."""


def integrator(name: str, *, order: int) -> Callable[[Step], Integrator]:
    """Register a function as an integrator, for `Robot.simulate`.

    The function is ``step(system, t, q, v, dt) -> (q, v)``: from the configuration (nq,) and velocity (nv,) at the time
    t to those a time dt later. q and v are columns of scalars (`kinetree.scalars.linalg.Column`), which add and
    take numbers as factors; all are recorded while a simulation is compiled, so there is no branching on them. Of the
    system:

    - ``system.acceleration(t, q, v)``: the accelerations, with all that acts on the robot;
    - ``system.called_acceleration(t, q, v)``: the same by one routine for all calls, so that a method of many stages is
      compiled as quickly as one of a single stage;
    - ``system.moved(q, u)``: the configuration reached from q by the velocity u held for a unit of time;
    - ``system.rate(u, v)``: the rate of u, at which ``moved(q, u)`` moves at the velocity v (v where u is zero);
    - ``system.model``: the robot.

    Parameters
    ----------
    name : str
    order : int
        Of its error over a given time, as a power of the step.

    Raises
    ------
    ArgumentError
        If it is not a function of these arguments, or another module has one of this name.

    Examples
    --------
    Heun's method, for joints whose velocities are the rates of their coordinates:

    >>> @integrator("heun", order=2)
    ... def heun(system, t, q, v, dt):
    ...     a = system.acceleration(t, q, v)
    ...     q_end, v_end = system.moved(q, dt * v), v + dt * a
    ...     a_end = system.acceleration(t + dt, q_end, v_end)
    ...     return system.moved(q, dt / 2 * (v + v_end)), v + dt / 2 * (a + a_end)
    >>> heun.order
    2
    """
    if not isinstance(name, str) or isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ArgumentError(f"integrator takes a name and its order, a whole number from 1 on; not {name!r}, {order!r}")

    def register(step: Step) -> Integrator:
        try:
            inspect.signature(step).bind("system", "t", "q", "v", "dt")
        except TypeError as error:
            raise ArgumentError(f"integrator {name!r}: it is called with (system, t, q, v, dt): {error}") from None
        return registered(FunctionIntegrator(name, order, step))

    return register


M = TypeVar("M", bound=Integrator)


def registered(made: M) -> M:
    """Put an integrator in the registry, and return it."""
    known = INTEGRATORS.get(made.name)
    if known is not None and module_of(known) != module_of(made):
        raise ArgumentError(f"{module_of(known)} has an integrator {made.name!r} already: give yours another name")
    INTEGRATORS[made.name] = made
    return made


def module_of(made: Integrator) -> str:
    """Return the name of the module in which an integrator is written."""
    return str(getattr(made, "function", made).__module__)


def _registered(name: str) -> Integrator:
    return INTEGRATORS[name]
