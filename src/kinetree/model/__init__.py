"""The model of a robot, and its builder."""

from kinetree.model.actuator import Actuator
from kinetree.model.body import GRAVITY, NO_LIMITS, WORLD, Body, Frame, JointFriction, JointLimits, JointSpring
from kinetree.model.builder import ModelBuilder
from kinetree.model.model import Model

__all__ = ["GRAVITY", "NO_LIMITS", "WORLD", "Actuator", "Body", "Frame", "JointFriction", "JointLimits", "JointSpring"]
__all__ += ["Model", "ModelBuilder"]
