"""Scalar expressions: the operations, the graph, and the scalar that records."""

from kinetree.expr.graph import Graph, Node, Port, Program
from kinetree.expr.interpret import interpret
from kinetree.expr.listing import listing
from kinetree.expr.ops import OPS, Op
from kinetree.expr.scalar import Expr, Tracer

__all__ = ["OPS", "Expr", "Graph", "Node", "Op", "Port", "Program", "Tracer", "interpret", "listing"]
