"""The runtime: a function's spec, traced, compiled and called with NumPy arrays."""

from kinetree.runtime.function import Function
from kinetree.runtime.options import Option
from kinetree.runtime.spec import FunctionSpec, Variant
from kinetree.runtime.threads import get_num_threads, set_num_threads

__all__ = ["Function", "FunctionSpec", "Option", "Variant", "get_num_threads", "set_num_threads"]
