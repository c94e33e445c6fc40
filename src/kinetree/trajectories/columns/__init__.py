"""Columns of files: which entry of q, v or a each one is."""
