"""Inverse kinematics: the configurations that bring frames to where they are wanted."""

from kinetree.inverse_kinematics.solve import Solution, inverse_kinematics
from kinetree.inverse_kinematics.targets import FrameTarget

__all__ = ["FrameTarget", "Solution", "inverse_kinematics"]
