"""The contact problem: forces within friction cones, limits and boxes, and the motions that they leave."""

from kinetree.contacts.admm import Balance, distribute
from kinetree.contacts.problem import Problem, Residuals, residuals
from kinetree.contacts.sets import ForceSet, FrictionCone, Interval, NotNegative, PressedCone, SlidingCone
from kinetree.contacts.solve import METHODS, Solution, solve

__all__ = ["METHODS", "Balance", "ForceSet", "FrictionCone", "Interval", "NotNegative", "PressedCone", "Problem"]
__all__ += ["Residuals", "SlidingCone", "Solution", "distribute", "residuals", "solve"]
