"""The graph of scalar operations: what a traced function is, and what the passes and backends work on."""

from kinetree.graph.graph import Graph, Node, Port, Program

__all__ = ["Graph", "Node", "Port", "Program"]
