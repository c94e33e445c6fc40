"""Motions of robots in time: trajectories, and paths between two configurations."""

from kinetree.motions.paths import Path, Sample, minimum_time, quintic, trapezoid
from kinetree.motions.states import End, State
from kinetree.motions.trajectory import Trajectory

__all__ = ["End", "Path", "Sample", "State", "Trajectory", "minimum_time", "quintic", "trapezoid"]
