"""Benchmarks: kinetree beside its peers, in one run. ``python -m benchmarks`` prints and keeps the tables."""
