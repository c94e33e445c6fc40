"""What users hold: a robot with its compiled functions."""

from kinetree.robot.robot import JointInfo, Robot

__all__ = ["JointInfo", "Robot"]
