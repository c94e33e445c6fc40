"""The contact problem: forces within friction cones, limits and boxes, and the motions that they leave."""

from kinetree.contacts.admm import Balance, distribute
from kinetree.contacts.problem import Problem
from kinetree.contacts.sets import PUSHES, ForceSet, FrictionCone, Interval, PressedCone, SlidingCone
from kinetree.contacts.solve import SOLVERS, Solution, solve

__all__ = ["PUSHES", "SOLVERS", "Balance", "ForceSet", "FrictionCone", "Interval", "PressedCone", "Problem"]
__all__ += ["SlidingCone", "Solution", "distribute", "solve"]
