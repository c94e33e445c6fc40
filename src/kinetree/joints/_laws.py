"""The laws of a joint type (`Joint`), checked in numbers: `check` says which one fails, and what to mend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cached_property, lru_cache
from numbers import Real

import numpy as np

from kinetree.errors import KinetreeError, ModelError
from kinetree.joints._samples import TOLERANCE, Array, State, matrix, same, show, states, unit_rows
from kinetree.joints.base import Joint, JointState
from kinetree.scalars.dual import Dual, rate_of
from kinetree.spatial import Force, Inertia, Motion, Transform

Law = Callable[[Joint, list[State]], str]

SPAN = "where q cannot be that large, set span in the class: how far random goes to either side of zero"
SCALARS = (
    "methods take any scalar, here dual numbers: use arithmetic and the functions of kinetree.spatial (sin, cos, sqrt, "
    "select)"
)

BRANCH = (
    "{} branches on its arguments (if, and, or, min, max), and the same compiled code serves every state; choose with "
    "kinetree.spatial.select(q[0] > 0, a, b), where both a and b are computed"
)


def check(joint: Joint) -> None:
    """Hold a joint to the laws in the docstring of `Joint`, at a few random states.

    Derivatives are exact, by dual numbers. A joint type of one's own is checked by itself when it is first given to
    `ModelBuilder.add_joint`, once for each choice of its parameters.

    Raises
    ------
    ModelError
        If a law does not hold: which one, the numbers on both sides, and what to mend.

    Examples
    --------
    >>> from kinetree.joints import Universal, check
    >>> check(Universal((0, 0, 1), (1, 0, 0)))
    """
    if not isinstance(joint, Joint):
        raise ModelError(f"check takes a joint, such as Revolute((0, 0, 1)); {joint!r} was given")
    name = type(joint).__name__
    if wrong := not_declared(joint):
        raise ModelError(f"{name}: {wrong}")
    samples: list[State] = []
    for law in (*OF_METHODS, *OF_STATES):
        try:
            samples = samples or (states(joint) if law in OF_STATES else [])
            wrong = law(joint, samples)
        except KinetreeError as error:
            wrong = str(error)
        except Exception as error:
            way_out = SPAN if isinstance(error, ArithmeticError | ValueError) else SCALARS
            its_name = law.__name__.replace("_", " ")
            wrong = f"the law {its_name!r} could not be checked, {type(error).__name__}: {error}; {way_out}"
        if wrong:
            raise ModelError(f"{name}: {wrong}")


def check_once(joint: Joint) -> None:
    """Check a joint unless an equal one has passed before."""
    if wrong := not_declared(joint):
        raise ModelError(f"{type(joint).__name__}: {wrong}")
    _passed(joint)


@lru_cache(maxsize=1024)
def _passed(joint: Joint) -> None:
    try:
        X = joint.jcalc(joint.neutral(), [0.0] * joint.nv).X.placement
    except Exception:  # a user's method may raise anything: `check` says what
        X = ()
    if all(isinstance(x, Real) for row in X for x in row):  # of parameters that are no numbers nothing is known
        check(joint)


def not_declared(joint: Joint) -> str:
    """Return the reason why a joint is not a value, which a model knows by its fields; empty if it is one."""
    name = type(joint).__name__
    write = f"write @dataclass(frozen=True) above `class {name}`, and its parameters as fields below (`ratio: float`)"
    if not is_dataclass(joint):
        return f"{name} is not a dataclass: {write}"
    if type(joint).__hash__ is None:
        return f"{name} is a dataclass that can change, and has no hash: {write}"
    declared = {f.name for f in fields(joint)}
    cached = {name for name in vars(joint) if isinstance(getattr(type(joint), name, None), cached_property)}
    others = sorted(vars(joint).keys() - declared - cached)
    return f"{', '.join(others)} is not a field of it: {write}" if others else ""


# -- the laws: each returns what is wrong, or an empty text ----------------------------------------------------------


def sizes(joint: Joint, _: list[State]) -> str:
    """``nq``, ``nv`` and the results of all methods have the right types and lengths."""
    for name in ("nq", "nv"):
        if not isinstance(getattr(joint, name, None), int):
            what = "coordinates" if name == "nq" else "velocities"
            return f"it has no {name}: write how many {what} it has in its class, as {name} = 1"
    if joint.nq != joint.nv:
        for name in ("integrate", "difference"):
            if getattr(type(joint), name) is getattr(Joint, name):
                return f"nq = {joint.nq} and nv = {joint.nv} differ: it needs a method {name} of its own"
    q, v = joint.neutral(), [0.0] * joint.nv
    for names, n, what in (("q_names", joint.nq, "q"), ("v_names", joint.nv, "ν")):
        if getattr(joint, names) and len(getattr(joint, names)) != n:
            return f"{names} has {len(getattr(joint, names))} names for the {n} entries of {what}"
    if len(q) != joint.nq or not np.isfinite(q).all():
        return f"neutral() is {tuple(q)}: it must be nq = {joint.nq} finite numbers"
    state = joint.jcalc(q, v)
    if not isinstance(state, JointState) or not isinstance(state.X, Transform):
        return f"jcalc returns a {type(state).__name__}: it must be JointState(X, S, vJ, cJ) with a Transform X"
    if not (isinstance(state.S, tuple) and len(state.S) == joint.nv and all(isinstance(s, Motion) for s in state.S)):
        return f"S is {state.S!r}: it must be a tuple of nv = {joint.nv} Motions, as (S,)"
    T = joint.constraint_subspace(q)
    if len(T) != 6 - joint.nv or not all(isinstance(t, Force) for t in T):
        return f"constraint_subspace returns {len(T)} columns: it must be 6 − nv = {6 - joint.nv} Forces"
    for what, result, n in (
        ("integrate", joint.integrate(q, v), joint.nq),
        ("difference", joint.difference(q, q), joint.nv),
        ("bracket", joint.bracket(v, v), joint.nv),
    ):
        if len(result) != n:
            return f"{what} returns {len(result)} numbers: it must be {n}"
    return ""


def rigid_motion(joint: Joint, samples: list[State]) -> str:
    """X is a rotation and a translation."""
    for at in samples:
        if not np.isfinite([*matrix(at.state.X.placement).ravel(), *at.state.vJ, *at.state.cJ]).all():
            return f"jcalc gives inf or NaN {at}; {SPAN}"
        R = matrix(at.state.X.placement)[:3, :3]
        if not same(R.T @ R, np.eye(3)) or np.linalg.det(R) < 0:
            return f"X has no rotation: at q = {show(at.q)} its matrix E is {R.T.round(6).tolist()}"
    return ""


def no_branches(joint: Joint, samples: list[State]) -> str:
    """No truth value of an argument decides what a method does: arrays of several states have none."""
    q, v = ([np.array(x) for x in zip(*rows, strict=True)] for rows in ([s.q for s in samples], [s.v for s in samples]))
    for name, arguments in (
        ("jcalc", (q, v)),
        ("constraint_subspace", (q,)),
        ("integrate", (q, v)),
        ("difference", (q, q)),
        ("bracket", (v, v)),
    ):
        try:
            with np.errstate(all="ignore"):
                getattr(joint, name)(*arguments)
        except Exception as error:
            if "truth value" in str(error):  # what else arrays cannot do, traced values may
                return BRANCH.format(name)
    return ""


def velocity_of_the_child(joint: Joint, samples: list[State]) -> str:
    """``vJ = S ν``, and that is the velocity at which X moves along `integrate`."""
    or_integrate = "" if type(joint).integrate is Joint.integrate else ", or integrate"
    for at in samples:
        Sv = matrix(at.state.S).T @ at.v if joint.nv else np.zeros(6)
        if not same(matrix(at.state.vJ), Sv):
            return f"vJ is not S ν: {at} vJ = {show(at.state.vJ)} and S ν = {show(Sv)}; mend S or vJ in jcalc"
        twist = _twist(at, matrix(at.ahead.X.placement, rate_of))
        if not same(twist, Sv):
            return (
                f"S is not the rate of X: {at} X moves at (ω, v) = {show(twist)} in the child's axes, and "
                f"S ν = {show(Sv)}; mend S or X in jcalc{or_integrate}"
            )
    return ""


def bias_acceleration(joint: Joint, samples: list[State]) -> str:
    """``cJ`` is the rate of S along the motion, times ν."""
    for at in samples:
        expected = matrix(at.ahead.S, rate_of).T @ at.v if joint.nv else np.zeros(6)
        if not same(matrix(at.state.cJ), expected):
            return (
                f"cJ is not the rate of S times ν: {at} cJ = {show(at.state.cJ)} and dS/dt ν = {show(expected)}; "
                "mend cJ in jcalc (zero only where S does not depend on q)"
            )
    return ""


def constraint_forces(joint: Joint, samples: list[State]) -> str:
    """``SᵀT = 0``, and S and T together span all six dimensions."""
    for at in samples:
        S, T = (unit_rows(matrix(x)) for x in (at.state.S, joint.constraint_subspace(at.q)))
        work = S @ T.T
        if work.size and not same(work, np.zeros_like(work)):
            i, k = np.unravel_index(np.abs(work).argmax(), work.shape)
            return (
                f"a constraint force does work: at q = {show(at.q)} column {k} of T times column {i} of S is "
                f"{work[i, k]:.6g}, and SᵀT must be 0; mend constraint_subspace"
            )
        if np.linalg.svd(np.vstack([S, T]), compute_uv=False).min() < TOLERANCE:
            return (
                f"S and T do not span all six dimensions: at q = {show(at.q)} a column depends on the others; mend "
                "constraint_subspace (or S)"
            )
    return ""


def integrate_and_difference(joint: Joint, samples: list[State]) -> str:
    """`difference` undoes `integrate`, and `integrate` reaches the pose to which `difference` leads."""
    for at, other in zip(samples, reversed(samples), strict=True):
        d = 0.1 * at.v
        again = matrix(joint.difference(at.q, joint.integrate(at.q, d.tolist())))
        if not same(again, d):
            return (
                f"difference does not undo integrate: difference(q, integrate(q, d)) = {show(again)} at "
                f"q = {show(at.q)}, d = {show(d)}; mend difference or integrate"
            )
        reached = joint.integrate(at.q, joint.difference(at.q, other.q))
        here, there = (matrix(joint.jcalc(q, at.v.tolist()).X.placement) for q in (reached, other.q))
        if not same(here, there):
            return (
                f"integrate(q0, difference(q0, q1)) has not the pose of q1: from q0 = {show(at.q)} to "
                f"q1 = {show(other.q)} it reaches {show(reached)}; mend difference or integrate"
            )
    return ""


def held_velocities(joint: Joint, samples: list[State]) -> str:
    """`integrate` holds a velocity: half a unit of time and another half lead as far as the whole."""
    for at in samples:
        half = (0.5 * at.v).tolist()
        twice, once = joint.integrate(joint.integrate(at.q, half), half), joint.integrate(at.q, at.v.tolist())
        there, expected = (matrix(joint.jcalc(q, half).X.placement) for q in (twice, once))
        if not same(there, expected):
            return (
                f"integrate does not hold the velocity: from q = {show(at.q)} it reaches {show(once)} by "
                f"d = {show(at.v)}, and {show(twice)} by d/2 twice; mend integrate (it is an exponential)"
            )
    return ""


def bracket_of_steps(joint: Joint, samples: list[State]) -> str:
    """`bracket` is by what small steps in two orders differ."""
    for at, other in zip(samples, (*samples[1:], samples[0]), strict=True):
        a, b = at.v.tolist(), other.v.tolist()
        twist = _twist(at, _second_order(joint, at.q, a, b) - _second_order(joint, at.q, b, a))
        S = matrix(at.state.S).T if joint.nv else np.zeros((6, 0))
        bracket = np.array(joint.bracket(a, b), dtype=np.float64)
        if not same(twist, S @ bracket):
            return (
                f"bracket is not that of integrate: [a, b] = {show(bracket)} of a = {show(a)}, b = {show(b)}, and "
                f"small steps in these two orders differ by {show(np.linalg.lstsq(S, twist, rcond=None)[0])} at "
                f"q = {show(at.q)}; give it the method bracket(a, b) that fits integrate, the same at every q"
            )
    return ""


def _second_order(joint: Joint, q: list[float], a: list[float], b: list[float]) -> Array:
    """Return ``∂²X / ∂s ∂t`` of the placement after the steps ``s a`` and ``t b``, by dual numbers of dual numbers."""
    start = [Dual(Dual(x, 0.0), Dual(0.0, 0.0)) for x in q]
    first = joint.integrate(start, [Dual(Dual(0.0, x), Dual(0.0, 0.0)) for x in a])
    second = joint.integrate(first, [Dual(Dual(0.0, 0.0), Dual(x, 0.0)) for x in b])
    X = joint.jcalc(second, [0.0] * joint.nv).X
    return matrix(X.placement, lambda x: rate_of(rate_of(x)))


def random_configurations(joint: Joint, _: list[State]) -> str:
    """`random` has the shape (*size, nq), is finite, within the limits, and repeats with its seed."""
    first, again = (np.asarray(joint.random(np.random.default_rng(1), size=(5, 2))) for _ in range(2))
    if first.shape != (5, 2, joint.nq):
        return f"random(rng, size=(5, 2)) has shape {first.shape}: it must be (5, 2, nq) with nq = {joint.nq}"
    if not np.isfinite(first).all() or not np.array_equal(first, again):
        return "random gives numbers that are not finite, or others for the same generator: draw all from rng"
    if joint.nq == 1:
        limited = joint.random(np.random.default_rng(1), [0.1], [0.2], (20,))
        if not ((limited >= 0.1) & (limited <= 0.2)).all():
            return f"random leaves the limits 0.1 … 0.2: it gives {limited.min():.6g} … {limited.max():.6g}"
    return ""


def lumped_inertia(joint: Joint, samples: list[State]) -> str:
    """Lumping `inertia_for_parent` into the parent changes nothing: it is invariant, without momentum along S."""
    inertia = Inertia.from_com(2.0, (0.1, -0.2, 0.3), [[0.3, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]])
    lumped = joint.inertia_for_parent(inertia)
    for at in samples:
        moved = at.state.X.T @ lumped
        if not same(matrix(moved), matrix(lumped)):
            return (
                f"inertia_for_parent is not invariant: {show(lumped)} of the child (m, h, I) is {show(moved)} in the "
                f"joint's frame at q = {show(at.q)}; return Inertia.zero() if in doubt"
            )
        momenta = [lumped @ column for column in at.state.S]
        if any(not same(matrix(p), np.zeros(6)) for p in momenta):
            return (
                f"inertia_for_parent has momentum along S: {show(momenta[0])} at q = {show(at.q)}; return "
                "Inertia.zero() if in doubt"
            )
    return ""


OF_METHODS: tuple[Law, ...] = (sizes, random_configurations)
OF_STATES: tuple[Law, ...] = (
    no_branches,
    rigid_motion,
    velocity_of_the_child,
    bias_acceleration,
    constraint_forces,
    integrate_and_difference,
    held_velocities,
    bracket_of_steps,
    lumped_inertia,
)


def _twist(at: State, rate: Array) -> Array:
    """Return the twist (ω, v) in the child's axes of a rate of its placement."""
    W, lin = (matrix(at.state.X.placement)[:3, :3].T @ part for part in (rate[:3, :3], rate[:3, 3]))
    return np.array([W[2, 1], W[0, 2], W[1, 0], *lin])
