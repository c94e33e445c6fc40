"""The contact problem: forces within friction cones, limits and boxes, and the motions that they leave."""

from kinetree.contacts.problem import Problem, Residuals, residuals
from kinetree.contacts.sets import ForceSet, FrictionCone, Interval, NotNegative
from kinetree.contacts.solve import METHODS, Solution, solve

__all__ = ["METHODS", "ForceSet", "FrictionCone", "Interval", "NotNegative", "Problem", "Residuals", "Solution"]
__all__ += ["residuals", "solve"]
