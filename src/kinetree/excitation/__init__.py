"""Excitation: motions from which a robot's parameters are identifiable as well as its limits allow."""

from kinetree.excitation.planning import excite
from kinetree.excitation.result import Excitation

__all__ = ["Excitation", "excite"]
