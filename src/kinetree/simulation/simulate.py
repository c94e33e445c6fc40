"""`simulate`: the motion of a robot, or of many, from an initial state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kinetree.constraints.inputs import ContactInputs
from kinetree.integrators import Integrator
from kinetree.motions.states import State
from kinetree.motions.trajectory import Trajectory
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.signatures import wrong_call
from kinetree.simulation.choices import Forces, Record
from kinetree.simulation.controllers import Controller
from kinetree.simulation.events import Event
from kinetree.simulation.plan import Simulation, planned
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism


def simulate(
    robot: Robot | Mechanism,
    q: ArrayLike | str | Trajectory | State,
    v: ArrayLike | None = None,
    *,
    duration: float | None = None,
    steps: int | None = None,
    dt: float = 1e-3,
    controller: Controller | Function | Callable[[Array, Array, float], ArrayLike] | None = None,
    forces: Forces | ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[Any, ArrayLike] | None = None,
    contacts: ContactInputs | None = None,
    integrator: str | Integrator | None = None,
    joints: str | Sequence[str] = "all",
    events: Sequence[Event | Function] = (),
    record: Record | str | Sequence[str] = ("q", "v"),
    progress: Callable[[int, int], object] | None = None,
) -> Trajectory:
    """Return the motion from an initial state, or from many, computed as one native loop over the steps.

    Parameters
    ----------
    q : (..., nq) array, str, Trajectory or State
        Initial configurations, or the name of one. Leading axes are independent robots, bit-identical to running each
        alone. From a trajectory the simulation goes on where that one ended, bit-identical to one longer simulation;
        a `kinetree.State` has the velocities and the time to begin with.
    v : (..., nv) array, optional
        Initial velocities; zero if not given.
    duration, steps : float, int, optional
        How long (s), or how many steps; not needed where something is given over time.
    dt : float
        Length of a step (s). An integrator with steps of its own takes as many as its tolerances ask for; dt is then
        how often the motion is looked at: for records, controllers and events.
    controller : Function, callable or Controller, optional
        Joint forces from the state: a compiled function (`compile`) of any of ``q``, ``v``, ``t``, ``dt`` and further
        arguments, or a plain one of (q, v, t). `kinetree.Controller` says how often it is called, and values over time.
    forces : (..., nv) or (..., steps, nv) array, dict or Forces, optional
        Joint forces (N·m, N), or by the names of joints, to which those of the controller are added; with wrenches they
        are a `kinetree.Forces`. With one axis more than q and v they change from step to step.
    inputs : dict, optional
        Values of arguments of the controller and of events by name, and of the robot's numbers (`kinetree.gravity`,
        `kinetree.payload`, …): for all robots, for each its own, or with one axis more, from step to step. The
        controller does not know these numbers: it is compiled for the robot as it is.
    contacts : ContactInputs, optional
        Of a mechanism: which constraints act, properties of contacts, and how these are solved, or stick.
    integrator : str or Integrator, optional
        The method (see `step`), such as "rk4" or `kinetree.Tsitouras` with its tolerances. If not given it is
        "semi_implicit_euler", and where joints have friction "implicit_euler", which is stable however large it is.
    joints : str or sequence of str
        What counts of that which the file says of the joints: any of "stops" (limits of position), "effort" (limits of
        motors) and "friction" (damping and Coulomb friction); "all", or "none". Friction that `Robot.with_friction` has
        turned on always counts, and so do figures that are inputs.
    events : sequence of Event
        Conditions whose zeros are located, and which may stop a robot.
    record : str, sequence of str or Record
        What to keep beside q and v: "a", "tau", "f"; `kinetree.Record` says how often, and in whose memory.
    progress : callable, optional
        Called with the number of steps done and that of all, about ten times a second.

    Returns
    -------
    Trajectory
        A robot whose state is no longer finite stops with its last finite state, and so does one at an event that
        stops it; the others go on. ``reasons`` says why, ``events`` has what happened, and ``counts`` how often.

    Raises
    ------
    ArgumentError
        If a shape, name or number is wrong: before anything moves.
    SimulationInterrupted
        At Ctrl-C; it is a `KeyboardInterrupt` and has what was computed as ``trajectory``.

    Warns
    -----
    SimulationWarning, LimitWarning, EventWarning
        If a motion is no longer finite or contacts were not solved to the tolerance; if a joint begins beyond a stop;
        if more events happened than are kept.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> @robot.compile
    ... def hold(q, v, q_des):
    ...     return robot.inverse_dynamics(q, v, 100.0 * (q_des - q) - 20.0 * v)
    >>> q = robot.random_configuration(seed=0, size=5)
    >>> held = robot.simulate(q, duration=2.0, controller=hold, inputs={"q_des": q[0]}, joints="none")
    >>> held.q.shape, bool(abs(held.q[:, -1] - q[0]).max() < 1e-5)
    ((5, 2001, 7), True)
    """
    return planned(**locals()).run()


def simulation(
    robot: Robot | Mechanism, q: ArrayLike | str | Trajectory | State, v: ArrayLike | None = None, **choices: Any
) -> Simulation:
    """Return a simulation whose choices are made once, to be called with other states: for control loops and planners.

    Parameters
    ----------
    q, v : array-like
        As in `simulate`: they say how many robots there are.
    **choices
        All other arguments of `simulate`. Of what acts, values that change from call to call are given here too, so
        that their shapes are known.

    Returns
    -------
    Simulation
        It is called with states, and with what changes: ``rollout(q, v, forces=tau)``, or with a trajectory that it has
        returned, to go on from there. Each call returns a `Trajectory`, that of `simulate` to the bit. It pickles.

    Raises
    ------
    ArgumentError
        As `simulate` does.

    Examples
    --------
    A controller that runs outside, every 10 ms:

    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> period = robot.simulation(robot.neutral(), steps=10, record=kt.Record(every=10))
    >>> motion = period(robot.neutral(), [0.5] * 6)
    >>> for _ in range(100):
    ...     motion = period(motion, forces=robot.gravity_forces(motion.q[-1]) - 2.0 * motion.v[-1])
    >>> float(motion.t[-1].round(9)), bool(abs(motion.v[-1]).max() < 0.5)
    (1.01, True)
    """
    of_simulate = inspect.signature(simulate)
    try:
        bound = of_simulate.bind(robot, q, v, **choices)
    except TypeError as error:
        raise wrong_call("simulation", of_simulate, (), choices, error) from None
    bound.apply_defaults()
    return planned(**bound.arguments)
