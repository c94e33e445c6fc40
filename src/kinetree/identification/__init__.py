"""Identification: which parameters of a robot its motions tell, and what they are."""

from kinetree.identification.base_parameters import BaseParameters, base_parameters
from kinetree.identification.bodies.nearest import Bodies
from kinetree.identification.checks.findings import Finding, Findings, LogWarning
from kinetree.identification.checks.registry import diagnose
from kinetree.identification.estimators import (
    Generalised,
    Instrumental,
    LeastSquares,
    OutputError,
    Robust,
)
from kinetree.identification.fit import Fit
from kinetree.identification.held_loads import HeldLoad
from kinetree.identification.identify import identify
from kinetree.identification.logs import LogStream, read_log, stream_log
from kinetree.identification.nonlinear import MotorConstants
from kinetree.identification.payload import Payload, holding, identify_payload
from kinetree.identification.payload_tracker import PayloadTracker
from kinetree.identification.preparation import sliding_direction
from kinetree.identification.prepare import prepare
from kinetree.identification.recording import Recording
from kinetree.identification.samples import Samples
from kinetree.identification.validation import Validation, correlated, cross_validate, validate

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
    "LogStream",
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
    "read_log",
    "validate",
]
__all__ += [
    "identify_payload",
    "prepare",
    "sliding_direction",
    "stream_log",
]
