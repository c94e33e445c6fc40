"""Recorded and made motions of a robot: paths between configurations, reading, differentiating and writing."""

from kinetree.trajectories.paths import Path, Sample, minimum_time, quintic, trapezoid

__all__ = ["Path", "Sample", "minimum_time", "quintic", "trapezoid"]
