"""Integrators on the manifold of configurations: one file each, over any scalar; every file here is imported."""

from kinetree.integrators.adaptive import Tsitouras
from kinetree.integrators.contract import INTEGRATORS, FunctionIntegrator, Integrator, StopReason, System, integrator
from kinetree.integrators.step import OWN

__all__ = ["INTEGRATORS", "OWN", "FunctionIntegrator", "Integrator", "StopReason", "System", "Tsitouras", "integrator"]
