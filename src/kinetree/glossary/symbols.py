"""Glossary: the shape, unit and frame of every symbol and the choices of every option, each in one place.

A page's parameters are these symbols; `kinetree.algorithms.registry` writes their descriptions into its docstring,
and `kinetree.compile` takes from here the shapes of a user's arguments.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from kinetree.errors import ArgumentError, unknown_name
from kinetree.scalars.functions import Scalar
from kinetree.validation import Range

T = TypeVar("T")
Vector = Sequence[Scalar]
Matrix = list[list[Scalar]]

Shape = tuple[int | str, ...]
"""A shape for one state; nq, nv, nb, nframes, nrows, nconstraints and nindependent stand for those numbers of the
model, ``"10*nb"`` for a multiple.

``"rows"`` stands for the number of rows that the option of that name selects.
"""

ROWS = {"pose": slice(0, 6), "position": slice(3, 6), "orientation": slice(0, 3)}
"""Which of the six rows of a Jacobian each choice of the option `rows` selects."""


class OneFrame:
    """An option whose value is the name of a frame of the robot; None by default unless it is required."""

    def __init__(self, required: bool = True) -> None:
        self.required = required


class Joints:
    """An option whose value is any number of names of joints of the robot; none by default."""


class Choices(tuple[str, ...]):
    """Several strings, with what to say of a value that is none of them."""

    hint: str

    def __new__(cls, choices: Iterable[str], hint: str) -> Choices:
        """Return the strings with this hint."""
        made = super().__new__(cls, choices)
        made.hint = hint
        return made


Option = tuple[str, ...] | OneFrame | Joints
"""What an option may be: one of several strings, of which the first is the default; a frame; or joints."""


SYMBOLS: dict[str, tuple[Shape, str]] = {
    # inputs
    "q": (("nq",), "Configuration: rad, m, and quaternions (x, y, z, w)."),
    "q0": (("nq",), "Configuration to start from."),
    "q1": (("nq",), "Configuration to reach."),
    "v": (("nv",), "Velocity (rad/s, m/s)."),
    "a": (("nv",), "True acceleration, which does not include gravity (rad/s², m/s²)."),
    "tau": (("nv",), "Joint forces (N·m, N); for a floating base, the wrench on it."),
    "dv": (("nv",), "Velocity times duration (rad, m), in body axes for joints of several degrees of freedom."),
    "dt": ((), "Duration (s)."),
    "t": ((), "Time (s)."),
    "s": ((), "Part of the way, from 0 at q0 to 1 at q1."),
    "b": (("nv",), "Joint forces (N·m, N) or momenta."),
    "V": (("rows",), "Spatial velocity of the frame, angular part first (rad/s, m/s); of its six numbers the `rows`."),
    "damping": (
        (),
        "Number d, 1/√(kg·m²) and 1/√kg; ``(J M⁻¹ Jᵀ + d² 1)⁻¹`` then takes the place of the inverse. It is no square: "
        "the ``damping`` of `differential_inverse_kinematics` is one.",
    ),
    "f_ext": (
        ("nb", 6),
        "Wrench (n, f) exerted on each moving body (N·m, N), ordered as ``robot.body_names``; or a dict of wrenches "
        "(..., 6) by the name of a body or frame, each in the axes of that frame about its origin.",
    ),
    "point": (
        (3,),
        "Point fixed to the frame, in its axes (m), in place of the frame's origin. What refers to the world's origin "
        '(``reference="world"``) does all the same.',
    ),
    "wrench": ((6,), "Moment and force (n, f) exerted on the robot (N·m, N)."),
    # kinematics
    "placements": (("nb", 4, 4), "Homogeneous transforms (columns: axes, origin in m); order: ``robot.body_names``."),
    "placement": ((4, 4), "Homogeneous transform: columns are axes and origin (m), in the world or `relative_to`."),
    "velocity": ((6,), "Angular, then linear velocity (rad/s, m/s)."),
    "acceleration": ((6,), "Angular, then linear acceleration (rad/s², m/s²)."),
    "J": ((6, "nv"), "Three rows of angular, three of linear velocity; zero for joints that do not move the frame."),
    "dJ": ((6, "nv"), "Rate of every entry; the product with v alone is `jacobian_bias`, at much lower cost."),
    "dJ_v": ((6,), "Angular, then linear acceleration (rad/s², m/s²)."),
    "w": ((), "``√det(J Jᵀ)``."),
    "q_next": (("nq",), "Configuration with unit quaternions; NaN where a quaternion of q has norm zero."),
    # dynamics
    "M": (("nv", "nv"), "Symmetric; positive definite unless a massless body can move freely (kg·m², kg·m, kg)."),
    "Minv": (("nv", "nv"), "M⁻¹, exactly symmetric."),
    "x": (("nv",), "M⁻¹ b: the accelerations under the joint forces b at rest and without gravity."),
    "C": (("nv", "nv"), "Coriolis matrix: ``τ = M a + C v + g`` without springs and friction."),
    "g": (("nv",), "Gravity forces (N·m, N)."),
    "Lambda": (("rows", "rows"), "Inertia that a wrench at the frame acts against, symmetric (kg·m², kg·m, kg)."),
    "eta": (("rows",), "Wrench at ``V̇ = 0``: velocity products and gravity (N·m, N). ``Jᵀ F`` are the joint forces."),
    "mu": (("rows",), "Velocity products ``J̄ᵀ C v − Λ J̇ v`` (N·m, N), with springs, and joint friction if it is on."),
    "p": (("rows",), "Gravity ``J̄ᵀ g`` (N·m, N)."),
    "J_bar": (("nv", "rows"), "``J̄``, for which ``J J̄ = 1`` where J has full rank."),
    "N": (
        ("nv", "nv"),
        "Projector, ``N N = N``; zero where the frame can move in as many directions as there are joints.",
    ),
    "h": (("nv",), "Coriolis, centrifugal and gravity forces (N·m, N)."),
    "Y": (
        ("nv", "10*nb"),
        "Regressor for φ = ``robot.inertial_parameters``: ten per body, ordered as ``robot.body_names``, (m, m c_x, "
        "m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz), about the body frame's origin in its axes.",
    ),
    # energy, momentum, centre of mass
    "T": ((), "Energy of the bodies and, by their armature, of the rotors (J)."),
    "E": ((), "Sum of `kinetic_energy` and `potential_energy` (J)."),
    "A_G": ((6, "nv"), "Angular rows first, about the centre of mass, in the world's axes."),
    "A_G_dot": ((6, "nv"), "Rate of A_G, with the same rows and axes."),
    "h_dot": ((6,), "``A_G a + Ȧ_G v``: moment about the centre of mass (N·m), force (N), in the world's axes."),
    "c": ((3,), "Position in the world (m); links fixed to the world do not count."),
    "dc": ((3,), "Velocity (m/s): the linear momentum divided by the mass."),
    "ddc": ((3,), "Acceleration (m/s²)."),
    # constraints
    "active": (
        ("nconstraints",),
        "1 for each constraint that acts, 0 for the others, ordered as ``mech.constraint_names`` (or bools; what is "
        "above one half counts as 1; it does not decide between float32 and float64); all if not given.",
    ),
    "restitution": (
        ("nconstraints",),
        "Number e of each constraint: the velocity along its rows becomes −e times what it was; if not given 0, and "
        "`Contact.restitution` where contacts are solved.",
    ),
    "friction": (
        ("nconstraints",),
        "Coulomb's coefficient of each contact, ordered as ``mech.constraint_names``; others do not read theirs. "
        "`Contact.friction` if not given.",
    ),
    "slots": (
        ("nslots", 7),
        "Contact point (m), normal and gap (m) of each `ContactSlot`, as ``mech.slots`` makes it; empty if not given.",
    ),
    "compliance": (
        ("nrows",),
        "What the force of each contact's row gives way by, added to the diagonal of G (0 is rigid, as if not given).",
    ),
    "f_start": (
        ("nrows",),
        "Contact forces or impulses to begin with, such as those of the last step; 0 if not given.",
    ),
    "force_weights": (
        ("nrows",),
        "R, what the square of each row's force costs, positive; if not given 1, and of moments "
        "1/ℓ² (``mech.length``).",
    ),
    "torque_weight": (
        (),
        "w, what the square of each joint force costs, 0 or more (beside moments, "
        "that of a force times ``mech.length``); 0 if not given.",
    ),
    "f_min": (("nconstraints",), "The least normal force of each contact (N); 0 if not given."),
    "tau_max": (("nv",), "The largest size of each joint force (N·m, N); unlimited if not given."),
    "tolerance": (
        (),
        "Of the residuals: dual beside the largest motion of a contact that there would be without its forces, and "
        "complementarity beside that and the largest force; 1e-6 if not given.",
    ),
    "max_iterations": ((), "Of the solver: 1000 if not given."),
    "iterations": ((), "Sweeps and iterations of the solver; at `max_iterations` it has not arrived."),
    "primal": ((), "By how much a force is outside its friction cone (N, N·s)."),
    "dual": ((), "How fast a contact goes into what it touches (m/s², m/s)."),
    "complementarity": ((), "What forces do of work that they should not: on what lifts off, and less on what slides."),
    "row_motion": (
        (3, "nrows"),
        "What the rows keep where anchors move: positions d (m, rad), velocities ḋ and accelerations d̈, with "
        "``φ = d``, ``J v = ḋ`` and ``J a + γ = d̈``; zero if not given. Positions are not read where rows have none.",
    ),
    "v_independent": (("nindependent",), "Independent velocities, ordered as ``mech.independent`` (rad/s, m/s)."),
    "a_independent": (("nindependent",), "Independent accelerations, ordered as ``mech.independent`` (rad/s², m/s²)."),
    "missing": (
        ("nv",),
        "Joint forces that the motion takes beyond what actuators and constraints can give (N·m, N): at passive "
        "joints, ``c − Jᵀ f`` with c of the tree alone; zero where the motion is possible.",
    ),
    "f": (("nrows",), "Constraint forces, row by row (``mech.row_slices``): joint forces ``Jᵀ f`` (N, N·m)."),
    "impulse": (("nrows",), "Constraint impulses, row by row (``mech.row_slices``; N·s, N·m·s)."),
    "v_next": (("nv",), "Velocity after it."),
    "G": (("nrows", "nrows"), "``J M⁻¹ Jᵀ``, symmetric; positive semidefinite, singular where rows are redundant."),
    "gamma": (("nrows",), "``J̇ v``: with it, ``J a + γ`` is the rate of ``J v``."),
    "phi": (("nrows",), "What the rows keep at zero (m, rad); 0 for those that constrain velocities alone."),
}

OPTIONS: dict[str, tuple[Option, str]] = {
    "frame": (OneFrame(), "Name of the frame (``robot.frame_names``)."),
    "relative_to": (OneFrame(), "Name of the frame from which `frame` is observed."),
    "reference": (
        ("body", "world", "aligned"),
        "Axes, and the point of linear velocities and of moments: the frame's own (MR's body Jacobian); the world's, "
        "at the world's origin (the space Jacobian); or the world's axes at the frame's origin.",
    ),
    "f_ext_frame": (
        ("body", "world"),
        "Axes and reference point of f_ext: each body's (of a dict, frame's) own, or the world's.",
    ),
    "rows": (
        tuple(ROWS),
        "Rows of J, and entries of what belongs to them: all six; the last three, of the linear velocity; or the first "
        "three, of the angular velocity. Shapes have their number, 6 or 3.",
    ),
    "kind": (
        ("spatial", "classical"),
        "The spatial acceleration, which transforms like a velocity, or the classical one, whose linear part is that "
        'of the point, ``v̇ + ω × v``. With "aligned", ``J a + J̇ v`` is the classical one, else the spatial one.',
    ),
    "prescribed": (Joints(), "Names of joints with given accelerations: all is inverse, none is forward dynamics."),
    "fixed": (Joints(), "Names of joints that stay as in q0."),
    "integrator": (
        (),
        "The method: semi-implicit (symplectic) Euler, first order and one acceleration a step; explicit Euler; the "
        "classical Runge–Kutta method, fourth order and four accelerations a step; implicit Euler, which takes the "
        "joints' friction at the new velocity and is stable however stiff that is; or the variational midpoint rule, "
        "second order and symmetric in time, whose energy does not drift: it iterates, at about ten times the cost.",
    ),
    "limits": (
        ("none", "position", "effort", "all"),
        "Which limits of the joints count: stops at the ends of their range, stiff springs with dampers; the largest "
        "joint forces of tau.",
    ),
    "solver": (
        ("auto", "pgs", "admm"),
        "Projected Gauss–Seidel sweeps, the alternating direction method of multipliers, or both in turns.",
    ),
    "stick": (("no", "yes"), "Whether contacts stick in steps, as other constraints hold."),
    "least": (
        ("force", "torque"),
        "What is least where there is a choice: the norm of the constraint forces f, or that of τ, and of f where that "
        "leaves a choice. Beside forces, moments count divided by ``mech.length``.",
    ),
    "method": (("articulated", "system"), "The recursion, O(n), or M(q) factorised, as always with mimic joints."),
}

SHAPES = {name: shape for name, (shape, _) in SYMBOLS.items()}
CHOICES = {name: option for name, (option, _) in OPTIONS.items()}
RANGES = {
    "active": Range(0.0, 1.0, "it is 1 for each constraint that acts, 0 for the others", flags=True),
    "friction": Range(0.0, math.inf, "it cannot be negative"),
    "restitution": Range(0.0, 1.0, "it cannot be outside of 0 to 1"),
}
"""The numbers that inputs may hold, wherever they stand; others may hold all."""

FORWARDS = {"dt": Range(math.ulp(0.0), sys.float_info.max, "it must be a positive number")}
"""Of functions that go forwards in time alone."""

TEXTS = {name: text for name, (_, text) in (*SYMBOLS.items(), *OPTIONS.items())}


def shape_of(shape: Shape, model: Any, rows: str = "pose") -> tuple[int, ...]:
    """Return the shape with the model's numbers in place of their names, and that of these rows."""

    def number(n: str) -> int:
        return int(n) if n.isdecimal() else len(range(6)[ROWS[rows]]) if n == "rows" else int(getattr(model, n))

    factors = (str(n).rpartition("*") for n in shape)
    return tuple(int(k or 1) * number(n) for k, _, n in factors)


def defined(kind: str, names: Iterable[str], definitions: Mapping[str, T]) -> dict[str, T]:
    """Return the definitions of these symbols or options; `ArgumentError` for a name without one."""
    found = {}
    for name in names:
        if name not in definitions:
            raise ArgumentError(f"{unknown_name(kind, name, definitions)}; the decorator can define others")
        found[name] = definitions[name]
    return found


def symbol_of_name(name: str) -> str | None:
    """Return the symbol of an argument: q, v, a, tau, also with a suffix, b, f_ext, t, dt; None if it is none."""
    first = name.partition("_")[0]
    return name if name in ("b", "f_ext", "t", "dt") else first if first in ("q", "v", "a", "tau") else None


def shape_of_name(name: str) -> Shape | None:
    """Return a user's argument's shape by its name, None where that is not a known symbol."""
    known = symbol_of_name(name)
    return SHAPES[known] if known else None


def text_of_name(name: str) -> str:
    """Return the meaning of a user's argument by its name; empty where that is not a known symbol."""
    known = symbol_of_name(name)
    return TEXTS[known] if known else ""
