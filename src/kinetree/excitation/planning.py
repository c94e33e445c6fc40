"""`robot.excite`: a motion worth recording, planned before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.excitation.limits import MotionLimits
from kinetree.excitation.problem import CRITERIA, Free, Problem
from kinetree.excitation.result import Excitation
from kinetree.excitation.search import BARRIERS, beginning, search, still
from kinetree.excitation.series import Series
from kinetree.identification.equations import RegressionModel
from kinetree.identification.parameters.base import BaseParameters, base_parameters
from kinetree.identification.parameters.terms import JointTerms
from kinetree.identification.triangle import on_one_thread
from kinetree.motions.trajectory import Trajectory
from kinetree.options import given, names_of, one_of
from kinetree.validation import Array, Seed, as_generator, given_limits, of_joints, positive, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot import Robot

PART_OF_EFFORT = 0.01  # of the largest joint force: its noise, where none is given


@on_one_thread
def excite(
    robot: Robot,
    terms: JointTerms | BaseParameters = ("armature", "damping", "friction"),
    *,
    series: Series | None = None,
    limits: MotionLimits | None = None,
    start: ArrayLike | None = None,
    joints: Sequence[str] | None = None,
    noise: float | ArrayLike | Mapping[str, float] | None = None,
    criterion: str = "determinant",
    iterations: int = 1000,
    tolerance: float = 1e-4,
    seed: Seed = 0,
    initial: Excitation | Trajectory | None = None,
    progress: Callable[[int, int, float], object] | None = None,
) -> Excitation:
    """Return a motion that determines this robot's parameters as well as its limits allow, and how well that will be.

    Every joint follows a Fourier series of its own for some periods, after a polynomial that leads to it from rest, and
    before one that leads back. Positions, speeds and forces keep within the robot's limits
    (`Robot.with_limits` gives others) at all times. **Nothing is known of collisions**, of links with each other or
    with what is around: give a function that tells them (`MotionLimits`), and look at the motion before it is run.
    Ctrl-C ends the search: the best motion until then is returned.

    Parameters
    ----------
    terms : sequence of str, mapping, or BaseParameters
        What is to be estimated of the joints, see `Robot.base_parameters`; "stribeck" has no place in a plan. Base
        parameters are those of this robot with the joints that do not move locked.
    series : Series, optional
        Period, harmonics, repetitions, ramps and the rate of the record.
    limits : MotionLimits, optional
        The part of the robot's limits that is used, accelerations, boxes for frames, and what is free of collisions.
    start : (nq,) array-like, optional
        Where the robot rests at both ends. If not given, where it is best for the joints that move; for the others
        neutral, or the middle of their range where that is outside.
    joints : sequence of str, optional
        Those that move; if not given, all with one degree of freedom. The others are held still: a floating base as if
        the robot were hung up, since how it would move on its feet is up to contacts. `Excitation.std_of` says what
        such a record determines of the whole robot.
    noise : float, (nv,) array-like or mapping, optional
        Standard deviations of the noise of the forces of the joints that move (N·m, N), which say how much each
        counts. One hundredth of the effort limits if not given.
    criterion : "determinant" or "condition"
        What is made least: the volume of the confidence ellipsoid (D-optimal), which depends on no units, or the
        condition number of the regressor weighted by the noise.
    iterations : int
        At most; 0 gives a random motion within the limits.
    tolerance : float
        The search ends where ten iterations gain no more than this.
    seed : int or numpy.random.Generator
        Of the motion with which the search begins.
    initial : Excitation or Trajectory, optional
        With which it begins instead: a former result that is continued, or one that was saved and read again.
    progress : callable, optional
        Called with the iterations done, their largest number, and the best criterion.

    Returns
    -------
    Excitation

    Raises
    ------
    ArgumentError
        If a joint has no limits, they cannot be kept, no configuration is free, a choice is not known, or SciPy is not
        installed (the extra ``identification``).

    Notes
    -----
    SciPy's BFGS minimises the criterion with a logarithmic barrier at the limits; gradients are exact.

    References
    ----------
    Swevers, Ganseman, Bilgin Tükel, de Schutter and Van Brussel, "Optimal robot excitation and identification", 1997.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5").lock(["wrist_1_joint", "wrist_2_joint", "wrist_3_joint"])
    >>> plan = robot.excite(["friction"], series=kt.Series(period=4, harmonics=3), iterations=20)
    >>> plan
    <Excitation of 'ur5': 5.6 s, 18 base parameters>
    >>> bool((plan.trajectory.v[[0, -1]] == 0).all()), bool((abs(plan.trajectory.v) < 3.15).all())
    (True, True)
    """
    one_of(*CRITERIA)("criterion", criterion)
    series, limits = given("series", series, Series), given("limits", limits, MotionLimits)
    if isinstance(iterations, bool) or not isinstance(iterations, int | np.integer) or iterations < 0:
        raise ArgumentError(f"iterations is {iterations!r}, it must be an integer ≥ 0")
    whole = _middle(robot) if start is None else real_array("start", start, robot.nq, batch=False)
    if not np.isfinite(whole).all():
        raise ArgumentError("start holds a number that is not finite (NaN or inf)")
    held = _held(robot, joints)
    moving = robot.lock(held, q=whole) if held else robot
    at = _places(robot, moving)
    within = limits.of(moving)
    base = terms if isinstance(terms, BaseParameters) else base_parameters(moving, terms)
    if base.robot != moving:
        raise ArgumentError("these base parameters are another robot's: give joint terms, or those of a former plan")
    if "stribeck" in base.joint_terms:
        raise ArgumentError('"stribeck" has no place in a plan: plan with "friction", and estimate it all the same')
    if base.dimension == 0:
        raise ArgumentError(f"there is nothing to be estimated of {listed(moving.joint_names)}: give joint terms")
    judge = None if limits.free is None else _judge(limits.free, whole, at[0])
    problem = Problem(RegressionModel(base), series, within, _noise(moving, noise), criterion, judge)
    rest = None if start is None else whole[at[0]]
    first = 0 if rest is None else 1
    rng = as_generator(seed)
    inside = still(problem, rest, rng)
    X = (
        beginning(problem, inside, first, rng)
        if initial is None
        else _continued(problem, inside, first, initial, robot)
    )
    stages = BARRIERS if initial is None else BARRIERS[1:]
    found = search(problem, X, first, int(iterations), positive("tolerance", tolerance), progress, stages)
    kept = _within(problem, inside, found.X)
    return Excitation(robot, whole, at, problem, found._replace(X=kept))


def _middle(robot: Robot) -> Array:
    """Return the neutral configuration, with joints in the middle of their range where that is outside."""
    q = robot.neutral()
    outside = (q < robot.lower_limits) | (q > robot.upper_limits)
    lower, upper = robot.lower_limits[outside], robot.upper_limits[outside]
    both = np.isfinite(lower) & np.isfinite(upper)
    q[outside] = np.where(both, (lower + upper) / 2.0, np.clip(q[outside], lower, upper))
    return q


def _held(robot: Robot, joints: Sequence[str] | None) -> list[str]:
    """Return the names of the joints that do not move."""
    single = [body.joint_name for body in robot.model.leading if len(body.v_index) == 1]
    moving = tuple(single) if joints is None else names_of("joints", joints)
    for name in moving:
        if name not in single:
            raise ArgumentError(_why_held(robot, name, single))
    if not moving:
        raise ArgumentError(f"{robot.name} has no joint of one degree of freedom that could move")
    return [body.joint_name for body in robot.model.leading if body.joint_name not in moving]


def _why_held(robot: Robot, name: str, single: list[str]) -> str:
    """Return why this joint cannot be excited."""
    body = next((body for body in robot.model.bodies if body.joint_name == name), None)
    if body is None:
        return unknown_name("joint", name, single)
    if name not in robot.joint_names:
        leader = next(other.joint_name for other in robot.model.leading if other.v_index == body.v_index)
        return f"{name!r} follows {leader!r} and moves with it: name that one"
    if len(body.v_index) == 6:
        return (
            f"{name!r} is a floating base: no joint drives it, and how contacts would move it is not planned; "
            "it is held, with the robot hung up or on a stand, and the other joints move"
        )
    return (
        f"{name!r} has {len(body.v_index)} degrees of freedom, and no limits that a motion could keep within: it is "
        "held. Joints of one degree of freedom in a row, with links without mass between, can be excited"
    )


def _places(robot: Robot, moving: Robot) -> tuple[list[int], list[int]]:
    """Return which entries of the robot's q and v are those of the joints that move."""
    of = {body.joint_name: body for body in robot.model.leading}
    bodies = [of[name] for name in moving.joint_names if name in of]
    return [body.q_index[0] for body in bodies], [body.v_index[0] for body in bodies]


def _judge(free: Callable[[Array], ArrayLike], whole: Array, at: list[int]) -> Free:
    """Return the function from configurations (n, nv) of the joints that move to whether or how far they are free."""

    def judged(q: Array) -> Array:
        full = np.tile(whole, (len(q), 1))
        full[:, at] = q
        found = np.asarray(free(full))
        if found.shape != (len(q),) or found.dtype.kind not in "biuf":
            raise ArgumentError(
                f"free returned {found.dtype} of shape {found.shape} for {len(q)} configurations: a bool or a distance "
                "for each is needed"
            )
        return found

    return judged


def _noise(robot: Robot, noise: float | ArrayLike | Mapping[str, float] | None) -> Array:
    usual = PART_OF_EFFORT * given_limits(robot.effort_limits)
    found = of_joints(robot, "noise", usual if noise is None else noise, others=np.inf)
    if missing := [name for name, s in zip(robot.v_names, found, strict=True) if not np.isfinite(s)]:
        raise ArgumentError(
            f"{listed(missing)}: nothing says how noisy the force is; give noise={{{missing[0]!r}: 0.5}}"
        )
    return found


def _continued(problem: Problem, inside: Array, first: int, initial: Any, robot: Robot) -> Array:
    """Return the coefficients of a former motion, moved inwards until they keep within the limits."""
    series = problem.series
    motion = initial.trajectory if isinstance(initial, Excitation) else initial
    if not isinstance(motion, Trajectory) or motion.q.shape[1:] != (robot.nq,) or not np.isfinite(motion.q).all():
        raise ArgumentError(f"initial is an Excitation or a Trajectory of this robot; {initial!r} was given")
    q = motion.q[:, _places(robot, problem.robot)[0]]
    t = motion.t - motion.t[0]
    X = series.coefficients(t, q)
    off = np.abs(series.basis(t)[0] @ X.T - q).max()
    if off > 1e-6:
        raise ArgumentError(
            f"initial is not a motion of this period, harmonics, periods and ramp: the nearest is {off:.2g} away"
        )
    X[:, :first] = inside[:, :first]
    for part in (1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9, 0.99):
        new = X + part * (inside - X)
        if problem.point(new).inside:
            return np.asarray(new)
    raise ArgumentError("initial is far from these limits: leave it out")


def _within(problem: Problem, inside: Array, X: Array) -> Array:
    """Return the motion, or one nearer to standing still, whose forces and boxes hold between the nodes too."""
    t = np.linspace(0.0, problem.series.duration, max(2000, 20 * len(problem.nodes.t)))
    part = 0.0
    while not problem.holds(X + part * (inside - X), t):
        part = min(1.0, max(1e-3, 1.5 * part))
    return np.asarray(X + part * (inside - X))
