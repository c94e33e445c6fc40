"""Between CPython and compiled code: how objects lie in memory, and built-in functions made of compiled code."""
