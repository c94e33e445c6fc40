"""Rigid-body dynamics for Python: written like the textbook, compiled for your robot."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kinetree._version import __version__
from kinetree.errors import (
    ArgumentError,
    FormatError,
    KinetreeError,
    LimitWarning,
    ModelError,
    SimulationWarning,
    unknown_attribute,
)
from kinetree.locks import importing

if TYPE_CHECKING:
    from kinetree import algorithms as algorithms
    from kinetree import conventions, modern_robotics, motions
    from kinetree import excitation as excitation
    from kinetree import formats as formats
    from kinetree import identification as identification
    from kinetree import joints as joints
    from kinetree import model as model
    from kinetree import robot as robot
    from kinetree import spatial as spatial
    from kinetree.chains import DHLink, from_dh, from_screws
    from kinetree.constraints.inputs import ContactInputs
    from kinetree.constraints.shapes import box_contacts, capsule_contacts
    from kinetree.constraints.types import Constraint, Contact, Gear, Loop, Rod, Weld, Wheel
    from kinetree.constraints.types.slot import ContactSlot
    from kinetree.contacts.solvers import ADMM, ContactSolver, GaussSeidel
    from kinetree.embedded import robots
    from kinetree.excitation.limits import MotionLimits
    from kinetree.excitation.series import Series
    from kinetree.formats import FormatWarning, NonPhysicalInertiaWarning, RobotNotFoundError
    from kinetree.functions.annotations import Array, Number
    from kinetree.functions.contact_problem import ContactSolution, contact_solver, solve_contacts
    from kinetree.functions.model_inputs import (
        body_inertia,
        gravity,
        joint_armature,
        joint_damping,
        joint_friction,
        payload,
    )
    from kinetree.functions.of_user import compile
    from kinetree.identification.bodies.nearest import Bodies
    from kinetree.identification.estimators import Generalised, Instrumental, LeastSquares, OutputError, Robust
    from kinetree.integrators import StopReason, Tsitouras, integrator
    from kinetree.loading import load, load_mechanism
    from kinetree.logs.filter import Filter
    from kinetree.logs.sensors import Sensors
    from kinetree.mechanism_methods import Mechanism
    from kinetree.model import JointLimits, Model, ModelBuilder
    from kinetree.motions import State, Trajectory
    from kinetree.robot_methods import Robot
    from kinetree.runtime import get_num_threads, set_num_threads
    from kinetree.runtime.cache import CacheWarning
    from kinetree.runtime.cache_files import cache_info, clear_cache
    from kinetree.runtime.scan import scan
    from kinetree.simulation import Controller, Event, EventWarning, Forces, Record, SimulationInterrupted
    from kinetree.spatial import Inertia
    from kinetree.tracing.eigen import eigh3
    from kinetree.tracing.functions import abs, maximum, minimum, where
    from kinetree.tracing.linalg import inv, solve, solve_spd
    from kinetree.tracing.loops import repeat

__all__ = [
    "ADMM",
    "ArgumentError",
    "Array",
    "Bodies",
    "CacheWarning",
    "Constraint",
    "Contact",
    "ContactInputs",
    "ContactSlot",
    "ContactSolution",
    "ContactSolver",
    "Controller",
    "DHLink",
    "Event",
    "EventWarning",
    "Filter",
    "Forces",
    "FormatError",
    "FormatWarning",
    "GaussSeidel",
    "Gear",
    "Generalised",
    "Inertia",
    "Instrumental",
    "JointLimits",
    "KinetreeError",
    "LeastSquares",
    "LimitWarning",
    "Loop",
    "Mechanism",
    "Model",
    "ModelBuilder",
    "ModelError",
    "MotionLimits",
    "NonPhysicalInertiaWarning",
    "Number",
    "OutputError",
    "Record",
    "Robot",
    "RobotNotFoundError",
    "Robust",
    "Rod",
    "Sensors",
    "Series",
    "SimulationInterrupted",
    "SimulationWarning",
    "State",
    "StopReason",
    "Trajectory",
    "Tsitouras",
    "Weld",
    "Wheel",
    "__version__",
    "abs",
    "body_inertia",
    "box_contacts",
    "cache_info",
    "capsule_contacts",
    "clear_cache",
    "compile",
    "contact_solver",
    "conventions",
    "eigh3",
    "from_dh",
    "from_screws",
    "get_num_threads",
    "gravity",
    "integrator",
    "inv",
    "joint_armature",
    "joint_damping",
    "joint_friction",
    "load",
    "load_mechanism",
    "maximum",
    "minimum",
    "modern_robotics",
    "motions",
    "payload",
    "repeat",
    "robots",
    "scan",
    "set_num_threads",
    "solve",
    "solve_contacts",
    "solve_spd",
    "where",
]

_NAMES = {  # imported at first use, so that `import kinetree` stays quick
    "chains": ("DHLink", "from_dh", "from_screws"),
    "constraints.inputs": ("ContactInputs",),
    "constraints.shapes": ("box_contacts", "capsule_contacts"),
    "constraints.types.slot": ("ContactSlot",),
    "contacts.solvers": ("ADMM", "ContactSolver", "GaussSeidel"),
    "constraints.types": ("Constraint", "Contact", "Gear", "Loop", "Rod", "Weld", "Wheel"),
    "identification.bodies.nearest": ("Bodies",),
    "identification.estimators": ("Generalised", "Instrumental", "LeastSquares", "OutputError", "Robust"),
    "integrators": ("StopReason", "Tsitouras", "integrator"),
    "embedded": ("robots",),
    "formats": ("FormatWarning", "NonPhysicalInertiaWarning", "RobotNotFoundError"),
    "functions.annotations": ("Array", "Number"),
    "functions.contact_problem": ("ContactSolution", "contact_solver", "solve_contacts"),
    "functions.model_inputs": (
        "body_inertia",
        "gravity",
        "joint_armature",
        "joint_damping",
        "joint_friction",
        "payload",
    ),
    "functions.of_user": ("compile",),
    "loading": ("load", "load_mechanism"),
    "excitation.limits": ("MotionLimits",),
    "excitation.series": ("Series",),
    "logs.filter": ("Filter",),
    "logs.sensors": ("Sensors",),
    "model": ("JointLimits", "Model", "ModelBuilder"),
    "motions.states": ("State",),
    "motions.trajectory": ("Trajectory",),
    "robot_methods": ("Robot",),
    "mechanism_methods": ("Mechanism",),
    "runtime": ("get_num_threads", "set_num_threads"),
    "runtime.cache": ("CacheWarning",),
    "runtime.cache_files": ("cache_info", "clear_cache"),
    "runtime.scan": ("scan",),
    "simulation": ("Controller", "Event", "EventWarning", "Forces", "Record", "SimulationInterrupted"),
    "spatial": ("Inertia",),
    "tracing.eigen": ("eigh3",),
    "tracing.functions": ("abs", "maximum", "minimum", "where"),
    "tracing.linalg": ("inv", "solve", "solve_spd"),
    "tracing.loops": ("repeat",),
}
_MODULE = {name: f"kinetree.{module}" for module, names in _NAMES.items() for name in names}
_RENAMED = {
    "inertia": "now kinetree.body_inertia(link), an argument of a compiled function; a value is kinetree.Inertia(…)",
    "trajectories": "now kinetree.motions: kinetree.motions.quintic(robot, q0, q1, duration)",
}
_SUBMODULES = (
    "algorithms",
    "conventions",
    "formats",
    "excitation",
    "identification",
    "joints",
    "model",
    "modern_robotics",
    "motions",
    "robot",
    "spatial",
)


def _imported(name: str) -> Any:
    """Return what is imported at first use, and remember it."""
    with importing:
        if name in _MODULE:
            return globals().setdefault(name, getattr(import_module(_MODULE[name]), name))
        if name in _SUBMODULES:
            return import_module(f"kinetree.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
    if name in _RENAMED:
        raise AttributeError(f"kinetree.{name} is {_RENAMED[name]}")
    raise AttributeError(f"module 'kinetree': {_no_attribute(name)}")


if not TYPE_CHECKING:  # type checkers have the names from the imports above, and find misspelt ones
    __getattr__ = _imported


def _no_attribute(name: str) -> str:
    """Return what to say of a name that is not here: functions, methods and properties are a robot's."""
    with importing:
        from kinetree.algorithms.table import INDEX
        from kinetree.robot_methods import Robot

    if name in INDEX or hasattr(Robot, name):
        kind = "function" if name in INDEX else "method" if callable(getattr(Robot, name)) else "property"
        return f"no attribute {name!r}; it is a {kind} of a robot: kt.load(source).{name}"
    return unknown_attribute(name, [*__all__, *_SUBMODULES])


def __dir__() -> list[str]:
    return __all__
