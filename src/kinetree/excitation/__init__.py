"""Excitation: motions from which a robot's parameters are identifiable as well as its limits allow."""

from kinetree.lazy import lazy_names

NAMES = {
    "excitation.limits": "MotionLimits",
    "excitation.planning": "excite",
    "excitation.result": "Excitation",
    "excitation.series": "Series",
}

__getattr__, __dir__ = lazy_names(__name__, NAMES)
__all__ = __dir__()
