"""Rigid-body dynamics for Python."""
