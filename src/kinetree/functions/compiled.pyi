"""What `kinetree.compile` returns, as type checkers see it."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from kinetree.runtime import Function

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

class Compiled(Function, Generic[P, R]):
    """A user's function that is compiled: with its parameters and result, and `out`.

    Parameters that nobody can name in advance (`Compiled[..., R]`) are those of functions with `inputs`. No type says
    "these parameters, and `out`", so with `out` the other arguments are not checked.
    """

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

class CompileWithInputs(Protocol):
    """The decorator that `compile` returns where numbers of the robot become arguments too."""

    @overload
    def __call__(self, function: Callable[..., Mapping[str, object]], /) -> Compiled[..., Any]: ...
    @overload
    def __call__(self, function: Callable[..., R], /) -> Compiled[..., R]: ...
