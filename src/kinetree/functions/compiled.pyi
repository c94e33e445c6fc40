"""What `kinetree.compile` returns, as type checkers see it."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from kinetree.runtime import Function

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

class Compiled(Function, Generic[P, R]):
    """A user's function that is compiled: with its parameters and result, and `out`."""

    @overload
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, /, *args: Any, out: Any, **kwargs: Any) -> R: ...

class Compile(Protocol):
    """The decorator that `compile` returns; of a dict the result is a named tuple, whose fields nobody declared."""

    @overload
    def __call__(self, function: Callable[P, Mapping[str, object]], /) -> Compiled[P, Any]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Compiled[P, R]: ...
