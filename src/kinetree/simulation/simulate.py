"""`simulate`: the motion of a robot, or of many, from an initial state."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from kinetree.integrators import Integrator
from kinetree.motions.trajectory import Trajectory
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.signatures import wrong_call
from kinetree.simulation.events import Event
from kinetree.simulation.plan import Simulation, planned
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism


def simulate(
    robot: Robot | Mechanism,
    q: ArrayLike | str | Trajectory,
    v: ArrayLike | None = None,
    *,
    duration: float | None = None,
    steps: int | None = None,
    dt: float = 1e-3,
    tau: ArrayLike | Mapping[str, ArrayLike] | None = None,
    controller: Function | Callable[[Array, Array, float], ArrayLike] | None = None,
    control_every: int | None = None,
    f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None,
    f_ext_frame: str = "body",
    active: ArrayLike | None = None,
    restitution: ArrayLike | None = None,
    friction: ArrayLike | None = None,
    slots: ArrayLike | None = None,
    drift: ArrayLike | None = None,
    interpolation: str = "held",
    inputs: Mapping[Any, ArrayLike] | None = None,
    per_step: Sequence[str] = (),
    integrator: str | Integrator | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    joints: str | Sequence[str] = "all",
    contacts: str = "solved",
    events: Sequence[Event | Function] = (),
    t0: float | None = None,
    record: str | Sequence[str] = ("q", "v"),
    record_every: int = 1,
    out: Mapping[str, Array] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Trajectory:
    """Return the motion from an initial state, or from many, computed as one native loop over the steps.

    Parameters
    ----------
    q : (..., nq) array, str or Trajectory
        Configurations to begin with, or the name of one. Leading axes are robots, each with the bits that it has alone.
        From a trajectory the simulation goes on where that one ended: with its velocities and time, and with what the
        controller and the integrator carry, to the bit as if both were one. Robots that had stopped go on as well.
    v : (..., nv) array, optional
        Velocities to begin with; zero if not given.
    duration, steps : float, int, optional
        How long (s), or how many steps; not needed where something is given over time.
    dt : float
        Length of a step (s). An integrator with steps of its own, such as "tsitouras", takes as many as its tolerances
        ask for; dt is then how often the motion is looked at: for records, controllers and events.
    tau : (..., nv) or (..., steps, nv) array or dict, optional
        Joint forces (N·m, N). With one axis more than q and v have, they change from step to step. A dict has those of
        some joints by name, without the last axis where a joint has one degree of freedom. A controller's are added.
    controller : Function or callable, optional
        Joint forces from the state. A compiled function (`compile`) of any of ``q``, ``v``, ``t`` and ``dt`` is part
        of the native loop; further arguments get their values from `inputs`, and those that are results too are its
        own state: ``return {"tau": tau, "integral": integral + dt * error}``. One without such a state is a feedback
        in continuous time, evaluated wherever the integrator asks for accelerations; one with it is called at the
        beginning of each step, and its joint forces are held. A plain Python function ``controller(q, v, t)`` is
        called at the beginning of each step with all robots' states, which is slower by far.
    control_every : int, optional
        Call the controller at the first step of this call and every so many, and hold its joint forces in between.
    f_ext : (..., nb, 6) or (..., steps, nb, 6) array or dict, optional
        Wrenches on the bodies, as in `forward_dynamics`.
    f_ext_frame : {"body", "world"}
        Axes and reference point of f_ext.
    active : (..., nconstraints) or (..., steps, nconstraints) array, optional
        Of a mechanism: 1 for each constraint that acts, 0 for the others; all act if not given.
    restitution, friction : (..., nconstraints) or (..., steps, nconstraints) array, optional
        Of a mechanism: the part of its speed with which each contact rebounds, and its coefficient of friction, instead
        of its own; those of other constraints are not read.
    interpolation : {"held", "linear"}
        What tau and f_ext over time are during a step: held, or changing linearly to the next value; there is one value
        more than steps then.
    inputs : dict, optional
        Values of the controller's arguments by name, and of the robot's numbers (`kinetree.gravity`,
        `kinetree.payload`, …): the same for all robots, or with the leading axes of q, for each its own. The
        controller does not know these numbers: it is compiled for the robot as it is.
    per_step : sequence of str
        Which of the inputs change from step to step: their values have an axis of steps.
    slots : (..., nslots, 7) or (..., steps, nslots, 7) array, optional
        Of a mechanism: the contacts in its slots, as `Mechanism.slots` makes them.
    drift : (..., 3, nrows) or (..., steps, 3, nrows) array, optional
        Of a mechanism: how its anchors move along the rows, as in `forward_dynamics`: positions, velocities and
        accelerations at the time 0, from where they accelerate evenly; with an axis of steps, at the beginning of each.
    integrator : str or Integrator, optional
        The method (see `step`), by name or made by `kinetree.integrator`. If not given it is "semi_implicit_euler", and
        where friction of the joints counts "implicit_euler", which is stable however large it is.
    rtol, atol : float, optional
        The errors that "tsitouras" allows in a step: ``atol + rtol |v|`` of velocities, and ``atol + rtol`` of
        coordinates, of which a radian and a metre count as one; 1e-6 and 1e-8 if not given.
    tolerance, max_iterations : float, int, optional
        Of the solution of contacts in a step, beside the velocities along their rows; 1e-6 and 500 if not given.
    joints : str or sequence of str
        What counts of that which the file says of the joints: any of "stops" (limits of position), "effort" (motors
        give no more) and "friction" (damping and Coulomb friction); "all", or "none". Kinds of friction that
        `Robot.with_friction` has turned on are the ones that count, and always do; so do figures that are inputs.
    contacts : {"solved", "stick"}
        Whether contacts of a mechanism push only, lift off, slide and rebound, in steps with impulses
        (`Mechanism.contact_step`) by "semi_implicit_euler" or "implicit_euler", or stick as other constraints hold.
    events : sequence of Event
        Conditions whose zeros are located, and which may stop a robot (see `kinetree.Event`). They are looked for from
        step to step: of two zeros of one condition within a step nothing is seen.
    t0 : float, optional
        Time at the beginning (s); 0, or where the trajectory ended, if not given.
    record : str or sequence of str
        What to keep, of "q", "v", "a", "tau" (the joint forces of tau and controller) and, of a mechanism, "f" (the
        forces of the constraints); q and v are kept always.
    record_every : int
        Keep every so many steps; the initial state is kept too. The state at the end is in ``trajectory.end`` where it
        is not the last that is kept.
    out : dict of array, optional
        Memory for what is kept, by name: float64 of shape (..., 1 + steps // record_every, n).
    progress : callable, optional
        Called with the number of steps done and that of all, about ten times a second.

    Returns
    -------
    Trajectory
        A robot whose state is no longer finite stops, with its last finite state, and so does one at an event that
        stops it; the others go on. ``events`` has what happened, and ``counts`` how often each event did and how many
        steps an integrator with steps of its own took and rejected.

    Raises
    ------
    ArgumentError
        If a shape, name or number is wrong: before anything moves.
    SimulationInterrupted
        At Ctrl-C; it is a `KeyboardInterrupt` and has what was computed as ``trajectory``.

    Warns
    -----
    LimitWarning
        If stops count and a joint begins beyond one.
    SimulationWarning
        If a motion is no longer finite, or contacts were not solved to the tolerance.
    EventWarning
        If more events happened than are kept.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> falling = robot.simulate([0, 0.5, 0, -1.5, 0, 2, 0], duration=0.1)
    >>> falling.q.shape, bool(abs(falling.v[-1]).max() > 0.5)
    ((101, 7), True)
    >>> @robot.compile
    ... def hold(q, v, q_des):
    ...     return robot.inverse_dynamics(q, v, 100.0 * (q_des - q) - 20.0 * v)
    >>> q = robot.random_configuration(seed=0, size=5)
    >>> how = {"controller": hold, "inputs": {"q_des": q[0]}, "record_every": 100, "joints": "none"}
    >>> held = robot.simulate(q, duration=2.0, **how)
    >>> held.q.shape, bool(abs(held.q[:, -1] - q[0]).max() < 1e-5)
    ((5, 21, 7), True)
    """
    return planned(**locals()).run()


def simulation(
    robot: Robot | Mechanism, q: ArrayLike | str | Trajectory, v: ArrayLike | None = None, **choices: Any
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
        It is called with states, and with what changes: ``rollout(q, v, tau=tau)``, or with a trajectory that it has
        returned, to go on from there. Each call returns a `Trajectory`, that of `simulate` to the bit.

    Raises
    ------
    ArgumentError
        As `simulate` does.

    Examples
    --------
    A controller that runs outside, every 10 ms:

    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> period = robot.simulation(robot.neutral(), steps=10, record_every=10)
    >>> motion = period(robot.neutral(), [0.5] * 6)
    >>> for _ in range(100):
    ...     motion = period(motion, tau=robot.gravity_forces(motion.q[-1]) - 2.0 * motion.v[-1])
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
