"""Rigid-body dynamics for Python: written like the textbook, compiled for your robot."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kinetree._version import __version__ as __version__
from kinetree.errors import unknown_attribute
from kinetree.locks import importing

NAMES = {
    "chains": "DHLink from_dh from_screws",
    "constraints.inputs": "ContactInputs",
    "constraints.types": "Constraint Contact Gear Loop Rod Weld Wheel",
    "constraints.types.contact": "ContactSlot box_contacts capsule_contacts",
    "contacts.solve": "ADMM ContactSolver GaussSeidel",
    "embedded": "robots",
    "errors": "ArgumentError DerivativeWarning FormatError KinetreeError LimitWarning ModelError SimulationWarning",
    "formats": "FormatWarning NonPhysicalInertiaWarning RobotNotFoundError",
    "excitation.limits": "MotionLimits",
    "excitation.series": "Series",
    "functions.contact_problem": "ContactSolution contact_solver solve_contacts",
    "functions.model_inputs": "body_inertia gravity joint_armature joint_damping joint_friction joint_placement "
    "payload",
    "functions.of_user": "compile",
    "functions.parameters": "Array Number",
    "functions.sparsity": "Sparsity",
    "identification.bodies": "Bodies",
    "identification.estimators.generalised": "Generalised",
    "identification.estimators.instrumental": "Instrumental",
    "identification.estimators.least_squares": "LeastSquares",
    "identification.estimators.output_error": "OutputError",
    "identification.estimators.robust": "Robust",
    "integrators": "StopReason Tsitouras integrator",
    "loading": "load load_mechanism",
    "logs.samples": "Filter",
    "logs.sensors": "Sensors",
    "mechanism_methods": "Mechanism",
    "model": "Actuator JointLimits Model ModelBuilder",
    "motions.states": "State",
    "motions.trajectory": "Trajectory",
    "robot_methods": "Robot",
    "runtime": "get_num_threads set_num_threads",
    "runtime.cache": "CacheWarning",
    "runtime.cache_files": "cache_info clear_cache",
    "runtime.scan": "scan",
    "simulation": "Controller Event EventWarning Forces Record SimulationInterrupted",
    "spatial": "Inertia",
    "tracing.declared": "custom_derivative implicit stop_gradient",
    "tracing.functions": "abs maximum minimum where",
    "tracing.linalg": "eigh3 inv solve solve_spd",
    "tracing.loops": "repeat",
}
"""The public names of each module, imported at first use; `tools/make_signatures.py` makes the stub of them."""

SUBMODULES = ("conventions", "modern_robotics", "motions")
SUBMODULES += (
    "algorithms",
    "excitation",
    "formats",
    "geometry",
    "identification",
    "joints",
    "model",
    "robot",
    "spatial",
)

_MODULE = {name: f"kinetree.{module}" for module, names in NAMES.items() for name in names.split()}
_RENAMED = {
    "inertia": "now kinetree.body_inertia(link), an argument of a compiled function; a value is kinetree.Inertia(…)",
    "trajectories": "now kinetree.motions: kinetree.motions.quintic(robot, q0, q1, duration)",
}
__all__ = sorted((*_MODULE, *SUBMODULES[:3], "__version__"))


def __getattr__(name: str) -> Any:
    """Return a name that is imported at first use, and remember it."""
    with importing:
        if name in _MODULE:
            return globals().setdefault(name, getattr(import_module(_MODULE[name]), name))
        if name in SUBMODULES:
            return import_module(f"kinetree.{name}")
    if name.startswith("_"):
        raise AttributeError(f"module 'kinetree' has no attribute {name!r}")
    if name in _RENAMED:
        raise AttributeError(f"kinetree.{name} is {_RENAMED[name]}")
    raise AttributeError(f"module 'kinetree': {_no_attribute(name)}")


def _no_attribute(name: str) -> str:
    """Return the message for a name that is not here: functions, methods and properties are a robot's."""
    with importing:
        from kinetree.algorithms.table import INDEX
        from kinetree.robot_methods import Robot

    if name in INDEX or hasattr(Robot, name):
        kind = "function" if name in INDEX else "method" if callable(getattr(Robot, name)) else "property"
        return f"no attribute {name!r}; it is a {kind} of a robot: kt.load(source).{name}"
    return unknown_attribute(name, [*__all__, *SUBMODULES])


def __dir__() -> list[str]:
    return __all__
