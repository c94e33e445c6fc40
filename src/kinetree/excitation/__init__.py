"""Excitation: motions from which a robot's parameters are identifiable as well as its limits allow."""

from kinetree.excitation.limits import MotionLimits
from kinetree.excitation.planning import excite
from kinetree.excitation.result import Excitation
from kinetree.excitation.series import Series

__all__ = ["Excitation", "MotionLimits", "Series", "excite"]
