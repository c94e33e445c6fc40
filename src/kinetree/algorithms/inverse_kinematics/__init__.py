"""Inverse kinematics over any scalar: the errors of tasks, one step within bounds, and the whole descent."""
