"""How an algorithm says what goes in and what comes out, and the table of all that did.

The functions of a robot, their documentation, the benchmarks and the conformance tests are made from this table:
a new algorithm is one page with one decorator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from kinetree.model import Model

F = TypeVar("F", bound=Callable[..., Any])
Shape = tuple[int | str, ...]


@dataclass(frozen=True)
class OneFrame:
    """An option whose value is the name of a frame of the robot.

    Attributes
    ----------
    required : bool
        Whether it must be given; if not, it is None by default.
    """

    required: bool = True


@dataclass(frozen=True)
class Joints:
    """An option whose value is any number of names of joints of the robot; none by default."""


Option = tuple[str, ...] | OneFrame | Joints


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as it is declared.

    Attributes
    ----------
    name : str
        Name of the robot's function.
    function : callable
        The page: ``function(model, *inputs, **options)`` over any scalar, arrays as nested sequences.
    inputs, optional, outputs : mapping of str to shape
        Shapes for one state; a name (nq, nv, nb) stands for that number of the model, ``"10*nb"`` for a multiple.
    options : mapping of str to Option
        What is fixed when a function is compiled: a choice of strings, of which the first is the default; the name
        of a frame; or names of joints. The page gets the string, or the tuple of names in the order of the joints.
    joint_space : bool
        Whether the result depends on the inertias through M(q) and h(q, v) alone, so that it may be computed from
        the regrouped model (`kinetree.model.regroup`).
    """

    name: str
    function: Callable[..., Any]
    inputs: Mapping[str, Shape]
    optional: Mapping[str, Shape]
    options: Mapping[str, Option]
    outputs: Mapping[str, Shape]
    joint_space: bool

    @property
    def needs_option(self) -> bool:
        """Whether some option has no default."""
        return any(isinstance(option, OneFrame) and option.required for option in self.options.values())


ALGORITHMS: dict[str, Algorithm] = {}


def algorithm(
    name: str,
    *,
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, Shape],
    optional: Mapping[str, Shape] | None = None,
    options: Mapping[str, Option] | None = None,
    joint_space: bool = False,
) -> Callable[[F], F]:
    """Enter a function in the table, as it stands; see `Algorithm` for the parameters."""

    def enter(function: F) -> F:
        ALGORITHMS[name] = Algorithm(name, function, inputs, optional or {}, options or {}, outputs, joint_space)
        return function

    return enter


def shape_of(shape: Shape, model: Model) -> tuple[int, ...]:
    """Return the shape with the model's numbers in place of their names."""
    return tuple(_length(n, model) for n in shape)


def _length(n: int | str, model: Model) -> int:
    if isinstance(n, int):
        return n
    factor, _, name = n.rpartition("*")
    return int(factor or 1) * int(getattr(model, name))
