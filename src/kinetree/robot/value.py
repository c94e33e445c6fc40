"""A frozen value that has a model, and one compiled function for each algorithm of the model's table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from kinetree.algorithms.table import table_of
from kinetree.errors import ArgumentError, unknown_attribute, unknown_name
from kinetree.locks import importing
from kinetree.model import Model

if TYPE_CHECKING:
    from typing import NoReturn

    from kinetree.runtime import Function


class WithFunctions:
    """What `Robot` and `Mechanism` share: functions made at first use, and attributes that cannot be set."""

    if TYPE_CHECKING:
        model: Model

    def _function(self, name: str) -> Function:
        """Return the function of this algorithm, made at first use."""
        if name.startswith("_") or name not in table_of(self.model):
            if hasattr(type(self), name) or name.startswith("_"):
                return object.__getattribute__(self, name)  # type: ignore[no-any-return]  # its own error, not ours
            raise AttributeError(self._unknown(name))
        with importing:
            from kinetree.functions.of_robot import robot_function

        return self.__dict__.setdefault(name, robot_function(self.model, name))  # type: ignore[no-any-return]

    def _unknown(self, name: str) -> str:
        """Return what to say of an attribute that is not there."""
        return unknown_attribute(name, (n for n in dir(self) if not n.startswith("_")))

    if not TYPE_CHECKING:  # type checkers have the names of all functions from `Functions`, and find misspelt ones
        __getattr__ = _function

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change, {name!r} cannot be set: {self._instead}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} does not change, {name!r} cannot be deleted")

    _instead = "make another one"
    """What to do instead of setting an attribute."""

    def __dir__(self) -> Iterable[str]:
        return sorted({*super().__dir__(), *table_of(self.model)})

    def warmup(self, *names: str, batch: bool = False, **options: Any) -> Self:
        """Compile functions ahead of their first call, or load them from the disk cache; return this object.

        Parameters
        ----------
        *names : str
            Which ones; if none is named, all that need no option such as a frame (a few seconds for an arm).
        batch : bool
            Also the code for batches.
        **options
            The options of the calls to come, such as ``frame="panda_hand"``, for every function that is named.

        Raises
        ------
        ArgumentError
            If there is no function of that name, or one needs an option that is not given.
        """
        table = table_of(self.model)
        for name in names or (name for name, a in table.items() if not a.needs_option):
            if name not in table:
                raise ArgumentError(unknown_name("function", name, table))
            getattr(self, name).warmup(batch=batch, **options)
        return self
