"""Compiled functions as those of other libraries: each a file, imported when it is asked for."""
