"""Identification: which parameters of a robot are identifiable from its motions, and what they are."""

from typing import TYPE_CHECKING

from kinetree.lazy import lazy_names

if TYPE_CHECKING:
    from kinetree.identification.bodies import Bodies
    from kinetree.identification.checks.registry import diagnose
    from kinetree.identification.estimation import identify
    from kinetree.identification.estimators.generalised import Generalised
    from kinetree.identification.estimators.instrumental import Instrumental
    from kinetree.identification.estimators.least_squares import LeastSquares
    from kinetree.identification.estimators.output_error import OutputError
    from kinetree.identification.estimators.robust import Robust
    from kinetree.identification.fit import Fit, HeldLoad
    from kinetree.identification.nonlinear import MotorConstants
    from kinetree.identification.parameters.base import BaseParameters, base_parameters
    from kinetree.identification.payload import Payload, PayloadTracker, holding, identify_payload
    from kinetree.identification.validation import Validation, correlated, cross_validate, validate
    from kinetree.logs.findings import Finding, Findings, LogWarning
    from kinetree.logs.preparation import prepare, sliding_direction
    from kinetree.logs.recording import Filtered, Recording, read_log
    from kinetree.logs.samples import Samples

NAMES = {
    "identification.bodies": "Bodies",
    "identification.checks.registry": "diagnose",
    "identification.estimation": "identify",
    "identification.estimators.generalised": "Generalised",
    "identification.estimators.instrumental": "Instrumental",
    "identification.estimators.least_squares": "LeastSquares",
    "identification.estimators.output_error": "OutputError",
    "identification.estimators.robust": "Robust",
    "identification.fit": "Fit HeldLoad",
    "identification.nonlinear": "MotorConstants",
    "identification.parameters.base": "BaseParameters base_parameters",
    "identification.payload": "Payload PayloadTracker holding identify_payload",
    "identification.validation": "Validation correlated cross_validate validate",
    "logs.findings": "Finding Findings LogWarning",
    "logs.preparation": "prepare sliding_direction",
    "logs.recording": "Filtered Recording read_log",
    "logs.samples": "Samples",
}
RENAMED = {
    "stream_log": "read_log(path, robot, block=131072)",
    "LogStream": "Recording",
    "Residual": "Validation",
    "suspicions": "diagnose(robot, log, terms)",
    "identify_closed_loop": "robot.identify(log, terms, by=OutputError(simulate))",
}

__all__ = ["BaseParameters", "Bodies", "Filtered", "Finding", "Findings", "Fit", "Generalised", "HeldLoad"]
__all__ += ["Instrumental", "LeastSquares", "LogWarning", "MotorConstants", "OutputError", "Payload", "PayloadTracker"]
__all__ += ["Recording", "Robust", "Samples", "Validation", "base_parameters", "correlated", "cross_validate"]
__all__ += ["diagnose", "holding", "identify", "identify_payload", "prepare", "read_log", "sliding_direction"]
__all__ += ["validate"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, NAMES, RENAMED)
