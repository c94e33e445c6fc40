"""What users hold: a robot with its compiled functions."""

from kinetree.robot.robot import Robot

__all__ = ["Robot"]
