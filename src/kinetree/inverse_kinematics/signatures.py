"""The types of functions that are made here; type checkers read the stub that `tools/make_signatures.py` makes."""

from kinetree.runtime.function import Function

SolutionFunction = SolutionFunctionByKind = StepFunction = StepFunctionByKind = Function
