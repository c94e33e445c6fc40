"""Kernels for arrays of values, written in LLVM IR."""
