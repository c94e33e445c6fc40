"""Identification: which parameters of a robot are identifiable from its motions, and what they are."""

from kinetree.lazy import lazy_names

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
    "identification.payload": "Payload PayloadTracker identify_payload with_known_load",
    "identification.validation": "Validation correlated cross_validate validate",
    "logs.findings": "Finding Findings LogWarning",
    "logs.preparation": "prepare sliding_direction",
    "logs.recording": "Recording read_log",
    "logs.samples": "Samples",
}
RENAMED = {
    "stream_log": "read_log(path, robot, block=131072)",
    "LogStream": "Recording",
    "Filtered": "Recording",
    "Residual": "Validation",
    "suspicions": "diagnose(robot, log, terms)",
    "holding": "with_known_load",
    "identify_closed_loop": "robot.identify(log, terms, by=OutputError(simulate))",
}

__getattr__, __dir__ = lazy_names(__name__, NAMES, RENAMED)
__all__ = __dir__()
