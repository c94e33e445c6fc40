"""Inverse kinematics: the configurations that bring frames to where they are wanted."""

from kinetree.inverse_kinematics.functions import differential_inverse_kinematics, inverse_kinematics_solver
from kinetree.inverse_kinematics.solve import Solution, inverse_kinematics
from kinetree.inverse_kinematics.targets import FrameTarget, LookAt

__all__ = ["FrameTarget", "LookAt", "Solution", "differential_inverse_kinematics", "inverse_kinematics"]
__all__ += ["inverse_kinematics_solver"]
