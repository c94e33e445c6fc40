"""The model of a robot, and its builder."""

from kinetree.model.builder import ModelBuilder
from kinetree.model.model import WORLD, Body, Frame, JointFriction, JointLimits, Model

__all__ = ["WORLD", "Body", "Frame", "JointFriction", "JointLimits", "Model", "ModelBuilder"]
