"""Tracing: scalars and arrays of scalars that record what is done with them in a graph."""
