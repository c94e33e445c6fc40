"""C99 as text, for compilers and processors elsewhere: a program as one self-contained file.

It takes the same programs and plans as the LLVM backend, and its results have the same bits. It is no `Backend`: what
it makes is compiled and called by others. `Function.to_c` is the way to it.
"""
