"""Identification: which parameters of a robot its motions tell, and what they are."""

from typing import TYPE_CHECKING, Any

from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.checks.findings import Finding, Findings, LogWarning
from kinetree.identification.checks.registry import diagnose
from kinetree.identification.closed_loop import identify_closed_loop
from kinetree.identification.fit import Fit, Residual
from kinetree.identification.held_loads import HeldLoad
from kinetree.identification.identify import identify
from kinetree.identification.logs import read_log
from kinetree.identification.motors import MotorConstants
from kinetree.identification.payload import Payload, holding, identify_payload
from kinetree.identification.payload_tracker import PayloadTracker
from kinetree.identification.preparation import sliding_direction
from kinetree.identification.prepare import prepare
from kinetree.identification.recording import Filtered, Recording
from kinetree.identification.samples import Samples
from kinetree.identification.validation import Validation, correlated, cross_validate, validate

__all__ = [
    "BaseParameters",
    "Filtered",
    "Finding",
    "Findings",
    "Fit",
    "HeldLoad",
    "LogWarning",
    "MotorConstants",
    "Payload",
    "PayloadTracker",
    "Recording",
    "Residual",
    "Samples",
    "Validation",
    "base_parameters",
    "correlated",
    "cross_validate",
    "diagnose",
    "holding",
    "identify",
    "read_log",
    "validate",
]
__all__ += [
    "identify_closed_loop",
    "identify_payload",
    "prepare",
    "sliding_direction",
]

_RENAMED = {"stream_log": "read_log(path, robot, block=131072)", "LogStream": "Recording"}


def _renamed(name: str) -> Any:
    known = f": it is {_RENAMED[name]}" if name in _RENAMED else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{known}")


if not TYPE_CHECKING:
    __getattr__ = _renamed
