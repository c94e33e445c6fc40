"""Integrators on the manifold of configurations: one page each, over any scalar."""

from kinetree.integrators.contract import INTEGRATORS, Integrator, StopReason, integrator
from kinetree.integrators.step import OWN
from kinetree.integrators.system import System

__all__ = ["INTEGRATORS", "OWN", "Integrator", "StopReason", "System", "integrator"]
