"""Scalar expressions: the operations, the graph, and the scalar that records."""

from typing import TYPE_CHECKING, Any

from kinetree.expr.graph import Graph, Node, Port, Program
from kinetree.locks import importing

if TYPE_CHECKING:
    from kinetree.expr.interpreter import interpret
    from kinetree.expr.ops import OPS, Op
    from kinetree.expr.scalar import Expr, Tracer
    from kinetree.expr.show import listing

__all__ = ["OPS", "Expr", "Graph", "Node", "Op", "Port", "Program", "Tracer", "interpret", "listing"]

_LATER = {
    "OPS": "ops",
    "Op": "ops",
    "Expr": "scalar",
    "Tracer": "scalar",
    "interpret": "interpreter",
    "listing": "show",
}


def __getattr__(name: str) -> Any:
    """Return what tracing needs, imported only now: calling cached code does not need it."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    with importing:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
