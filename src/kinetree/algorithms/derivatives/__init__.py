"""Derivatives of algorithms that are quicker than differentiating their programs, each a page of its own.

A page is a row of `JACOBIANS`: it takes the model and the arguments and options of the algorithm by name, and returns
the rows of its Jacobians by the names of inputs; an input that it does not know is differentiated in the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kinetree.glossary.symbols import Matrix
from kinetree.lazy import lazy_method
from kinetree.model import Model

Page = Callable[[Model, Mapping[str, Any], Mapping[str, Any]], Mapping[str, Matrix]]

JACOBIANS: dict[str, tuple[frozenset[str], Page]] = {
    name: (frozenset(inputs), lazy_method("kinetree.algorithms.derivatives.inverse_dynamics", name))
    for name, inputs in {"inverse_dynamics": "qva", "bias_forces": "qv", "gravity_forces": "q"}.items()
}
"""The inputs that a page knows, and the page, by the name of the algorithm."""
