"""Excitation: motions that tell a robot's parameters as well as its limits let them."""

from kinetree.excitation.planning import excite
from kinetree.excitation.result import Excitation

__all__ = ["Excitation", "excite"]
