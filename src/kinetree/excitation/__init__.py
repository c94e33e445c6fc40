"""Excitation: motions from which a robot's parameters are identifiable as well as its limits allow."""

from typing import TYPE_CHECKING

from kinetree.lazy import lazy_names

if TYPE_CHECKING:
    from kinetree.excitation.limits import MotionLimits
    from kinetree.excitation.planning import excite
    from kinetree.excitation.result import Excitation
    from kinetree.excitation.series import Series

NAMES = {
    "excitation.limits": "MotionLimits",
    "excitation.planning": "excite",
    "excitation.result": "Excitation",
    "excitation.series": "Series",
}

__all__ = ["Excitation", "MotionLimits", "Series", "excite"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, NAMES)
