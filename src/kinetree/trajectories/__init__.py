"""Columns and signals of recorded motions."""
