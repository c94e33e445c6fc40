"""What the runtime must know of a function: its arguments, how to trace it, and what else its code depends on."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from kinetree.expr import Port, Program


class Option(NamedTuple):
    """A keyword with a few legal values, fixed while tracing. The first value is the default."""

    name: str
    choices: tuple[str, ...]


class Variant(NamedTuple):
    """One of the programs that a function stands for: compiled by itself, when first used.

    Attributes
    ----------
    optional : tuple of str
        The names of the optional inputs that are given, in the order of the signature.
    options : tuple of (str, str)
        Every option with its value, in the order of the declaration.
    dtype : str
        ``"float64"`` or ``"float32"``.
    """

    optional: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    dtype: str


def describe_shape(port: Port) -> str:
    """Return what is known of any port: the shape that it wants."""
    return f"one state has shape {port.shape}"


@dataclass(frozen=True)
class Declaration:
    """A function of arrays before it is compiled.

    Attributes
    ----------
    name : str
        Its name, a Python identifier.
    doc : str
        Its docstring.
    inputs : tuple of Port
        The array arguments and their shapes for one state, in the order of the signature; the optional ones last.
    outputs : tuple of Port
        The results and their shapes for one state.
    trace : callable
        ``trace(optional, options) -> Program``: the program when these optional inputs are given (the others are
        not inputs of the program) and the options have these values.
    identity : callable
        ``identity() -> bytes``: whatever the traced program depends on beside `name`, `optional`, `options` and
        the source of kinetree itself. For a robot: the hash of its model, and of joint classes that are not ours.
        It is part of the key of the disk cache, so two declarations with different programs must not share it.
    optional : tuple of str
        The names of the inputs that may be left out.
    options : tuple of Option
        The keywords that choose between programs.
    describe : callable
        ``describe(port) -> str``: what an input is made of, for error messages
        (``"this robot has nq = 7: joints panda_joint1, …"``).
    reduce : callable, optional
        ``reduce() -> (callable, arguments)``: how a pickle makes the function again (from its robot and name).
    result : callable, optional
        Makes the return value from the sequence of output arrays, where there are several (default: a tuple).
    """

    name: str
    doc: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    trace: Callable[[tuple[str, ...], Mapping[str, str]], Program]
    identity: Callable[[], bytes]
    optional: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    describe: Callable[[Port], str] = describe_shape
    reduce: Callable[[], tuple[Any, ...]] | None = None
    result: Callable[[Sequence[Any]], Any] | None = None

    def __post_init__(self) -> None:
        names = [port.name for port in self.inputs]
        everything = [*names, *(option.name for option in self.options), "out"]
        if len(set(everything)) != len(everything):
            raise ValueError(f"{self.name}: these arguments do not have different names: {everything}")
        if tuple(names[len(names) - len(self.optional) :]) != self.optional:
            raise ValueError(f"{self.name}: the optional inputs {self.optional} are not the last of {names}")
        if not self.outputs:
            raise ValueError(f"{self.name} has no output")

    @functools.cached_property
    def required(self) -> tuple[Port, ...]:
        """The inputs that every call must give."""
        return self.inputs[: len(self.inputs) - len(self.optional)]

    @functools.cached_property
    def default_options(self) -> tuple[tuple[str, str], ...]:
        """Every option with its default value."""
        return tuple((option.name, option.choices[0]) for option in self.options)

    def ports(self, optional: tuple[str, ...]) -> tuple[Port, ...]:
        """Return the inputs of the program when these optional ones are given."""
        if not optional:
            return self.required
        return tuple(p for p in self.inputs if p.name in optional or p.name not in self.optional)

    def traced(self, variant: Variant) -> Program:
        """Return the program of this variant, checked against the declaration."""
        program = self.trace(variant.optional, dict(variant.options))
        wanted = (self.ports(variant.optional), self.outputs)
        if (program.inputs, program.outputs) != wanted:
            got = (program.inputs, program.outputs)
            raise RuntimeError(f"{self.name}: the traced program has the ports {got}, declared are {wanted}")
        return program

    def signature(self) -> inspect.Signature:
        """Return the signature that users see."""
        parameter, kinds = inspect.Parameter, inspect.Parameter
        required = [parameter(p.name, kinds.POSITIONAL_OR_KEYWORD) for p in self.required]
        optional = [parameter(name, kinds.POSITIONAL_OR_KEYWORD, default=None) for name in self.optional]
        options = [parameter(o.name, kinds.KEYWORD_ONLY, default=o.choices[0]) for o in self.options]
        out = parameter("out", kinds.KEYWORD_ONLY, default=None)
        return inspect.Signature([*required, *optional, *options, out])
