"""From a program to a plan: regions of straight-line code, calls of array kernels, and the memory between them."""
