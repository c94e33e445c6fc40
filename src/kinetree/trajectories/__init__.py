"""Recorded and made motions of a robot: paths between configurations, reading, differentiating and writing."""

from kinetree.trajectories.paths import Path, Sample, minimum_time, quintic, trapezoid
from kinetree.trajectories.states import End, State
from kinetree.trajectories.trajectory import Trajectory

__all__ = ["End", "Path", "Sample", "State", "Trajectory", "minimum_time", "quintic", "trapezoid"]
