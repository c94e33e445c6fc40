"""What a function shows as its `functools.partial.func`."""

from __future__ import annotations

from typing import Any


class Shown:
    """The call of a function, with a name for what it computes that is the same in every process.

    Dask names tasks by the parts of a `functools.partial`, of which compiled code and its addresses would be one.
    """

    def __init__(self, function: Any) -> None:
        self._function, self.__name__ = function, function.__name__

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the function."""
        return self._function(*args, **kwargs)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        """Return what two functions share only if they have the same results: the digest of the disk cache has it."""
        spec = self._function.spec
        identity = spec.identity()
        defaults = [(name, array.tobytes()) for name, array in spec.defaults.items()]
        signature = repr((spec.inputs, spec.outputs, spec.optional, spec.options, defaults))
        return spec.name, signature, self._function.__reduce__() if identity is None else identity
