"""Identification: which parameters of a robot are identifiable from its motions, and what they are."""

from typing import TYPE_CHECKING, Any

from kinetree.identification.bodies import Bodies
from kinetree.identification.checks.registry import diagnose
from kinetree.identification.estimators import Generalised, Instrumental, LeastSquares, OutputError, Robust
from kinetree.identification.fit import Fit, HeldLoad
from kinetree.identification.identify import identify
from kinetree.identification.nonlinear import MotorConstants
from kinetree.identification.parameters.base import BaseParameters, base_parameters
from kinetree.identification.payload import Payload, PayloadTracker, holding, identify_payload
from kinetree.identification.validation import Validation, correlated, cross_validate, validate
from kinetree.logs.findings import Finding, Findings, LogWarning
from kinetree.logs.preparation import prepare, sliding_direction
from kinetree.logs.recording import Recording, read_log
from kinetree.logs.samples import Samples

__all__ = [
    "BaseParameters",
    "Bodies",
    "Finding",
    "Findings",
    "Fit",
    "Generalised",
    "HeldLoad",
    "Instrumental",
    "LeastSquares",
    "LogWarning",
    "MotorConstants",
    "OutputError",
    "Payload",
    "PayloadTracker",
    "Recording",
    "Robust",
    "Samples",
    "Validation",
    "base_parameters",
    "correlated",
    "cross_validate",
    "diagnose",
    "holding",
    "identify",
    "identify_payload",
    "prepare",
    "read_log",
    "sliding_direction",
    "validate",
]

_RENAMED = {"stream_log": "read_log(path, robot, block=131072)", "LogStream": "Recording", "Residual": "Validation"}
_RENAMED["suspicions"] = "diagnose(robot, log, terms)"
_RENAMED["identify_closed_loop"] = "robot.identify(log, terms, by=OutputError(simulate))"
_RENAMED["Filtered"] = "Recording"


def _renamed(name: str) -> Any:
    known = f": it is {_RENAMED[name]}" if name in _RENAMED else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{known}")


if not TYPE_CHECKING:
    __getattr__ = _renamed
