"""Derivatives of algorithms that are quicker than differentiating their programs, each a page of its own.

A page is a row of `JACOBIANS`: it takes the model, the arguments and options of the algorithm by name, and the inputs
that are asked for, and returns the rows of the Jacobians by the names of result and input.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from kinetree.glossary.symbols import Matrix
from kinetree.lazy import lazy_method
from kinetree.model import Model

Page = Callable[[Model, Mapping[str, Any], Mapping[str, Any], Collection[str]], Mapping[tuple[str, str], Matrix]]

JACOBIANS: dict[str, tuple[frozenset[str], Page]] = {
    name: (frozenset(inputs.split()), lazy_method(f"kinetree.algorithms.derivatives.{module}", name))
    for name, module, inputs in (
        ("inverse_dynamics", "inverse_dynamics", "q v a"),
        ("bias_forces", "inverse_dynamics", "q v"),
        ("gravity_forces", "inverse_dynamics", "q"),
        ("forward_dynamics", "forward_dynamics", "q v tau"),
        ("hybrid_dynamics", "forward_dynamics", "q v a tau"),
        ("solve_mass_matrix", "forward_dynamics", "q b"),
        ("frame_velocity", "frames", "q v"),
        ("frame_acceleration", "frames", "q v a"),
        ("jacobian_bias", "frames", "q v"),
        ("integrate", "manifold", "q dv"),
        ("difference", "manifold", "q0 q1"),
        ("centroidal_momentum", "momentum", "q v"),
        ("centroidal_momentum_rate", "momentum", "q v a"),
    )
}
"""The inputs that a page knows, and the page, by the name of the algorithm."""
