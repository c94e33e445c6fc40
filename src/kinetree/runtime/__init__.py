"""The runtime: a declaration, traced, compiled and called with NumPy arrays."""

from kinetree.runtime.function import Function
from kinetree.runtime.options import Option
from kinetree.runtime.spec import Declaration, Variant
from kinetree.runtime.threads import get_num_threads, set_num_threads

__all__ = ["Declaration", "Function", "Option", "Variant", "get_num_threads", "set_num_threads"]
