"""Arithmetic over any scalar: elementary functions, small dense linear algebra, dual numbers."""
