"""Sweeps over the tree that several algorithms share."""
