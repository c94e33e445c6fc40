"""The graph of scalar operations: the representation that tracing builds and that passes and backends work on."""

from kinetree.graph.graph import Graph, Node, Port, Program

__all__ = ["Graph", "Node", "Port", "Program"]
