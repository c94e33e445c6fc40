"""The parameters of a user's function: which are arrays, which have defaults, and which are constants of the trace."""

from __future__ import annotations

import builtins
import inspect
from collections import abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import shape_of, shape_of_name
from kinetree.graph import Port
from kinetree.model import Model
from kinetree.runtime.options import Constant, Value, alternatives, is_hashable
from kinetree.runtime.spec import check_names

Array: TypeAlias = NDArray[np.float64] | Any
"""An array: traced inside the function, and for callers of what `kinetree.compile` returns all that NumPy takes as one.

To type checkers it is an array where it is used, and anything where it is given.
"""

Number: TypeAlias = float | Any
"""A number, whatever the argument's name; for callers also an array of them, one for each state of a batch."""

Shapes = Mapping[str, int | Sequence[int]]
_ARRAYS, _ARRAY_TYPES = (Any, float, complex, list, object), (np.ndarray, np.inexact)
_SCALARS = (np.integer, int), (np.bool_, bool), (np.str_, str)


@dataclass
class Parameters:
    """What the parameters of a function are: arrays, by when they must be given, and constants."""

    required: list[Port] = field(default_factory=list)
    defaults: dict[Port, Any] = field(default_factory=dict)
    optional: list[Port] = field(default_factory=list)  # None where they are not given
    constants: list[Constant] = field(default_factory=list)
    by_name: list[str] = field(default_factory=list)  # arrays whose shapes only their names tell
    signature: inspect.Signature = field(default_factory=inspect.Signature)

    @property
    def ports(self) -> tuple[Port, ...]:
        """All arrays."""
        return (*self.required, *self.defaults, *self.optional)


def with_required(signature: inspect.Signature, names: Iterable[str]) -> inspect.Signature:
    """Return the signature with further parameters after those that must be given by position or name."""
    own, kind = list(signature.parameters.values()), inspect.Parameter.POSITIONAL_OR_KEYWORD
    place = sum(p.kind is kind and p.default is p.empty for p in own)
    own[place:place] = [inspect.Parameter(name, kind) for name in names]
    return signature.replace(parameters=own)


def parameters_of(model: Model, function: Callable[..., Any], shapes: Shapes, name: str) -> Parameters:
    """Return the kinds of a user's function's parameters.

    An annotation decides, or the type of the default: numbers and arrays are arguments of the kernel, all else
    (``int``, ``bool``, ``str``, …) is a constant.
    """
    signature, found = _signature(function), Parameters()
    check_names(name, list(signature.parameters))
    own = []
    for p in signature.parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            raise ArgumentError(f"{name}: the arguments must have names, {p} has none to call it by")
        annotation = _annotation(p)
        if p.name not in shapes and annotation is not None and _is_constant(annotation):
            constant = Constant(p.name, (), required=p.default is p.empty, annotation=annotation)
            default = None if constant.required else _of(name, constant, p.default)
            found.constants.append(replace(constant, default=default))
        elif annotation is None and p.name not in shapes and p.default is not p.empty and not _is_array(p.default):
            continue  # not hashable: nothing that a call could choose
        else:
            if p.name not in shapes and not _is_number(annotation) and shape_of_name(p.name) is not None:
                found.by_name.append(p.name)
            port = Port(p.name, _shape(model, p, annotation, shapes, name))
            if p.default is p.empty:
                found.required.append(port)
            elif p.default is None:
                found.optional.append(port)
            else:
                found.defaults[port] = _default(name, p.name, p.default, port.shape)
        own.append(p)
    for key in shapes:
        if key not in signature.parameters:
            others = unknown_name("argument", key, signature.parameters)
            raise ArgumentError(f"{name}: shapes= names {key!r}; {name} has {others}")
    found.signature = signature.replace(parameters=own)
    return found


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except (NameError, AttributeError, SyntaxError, TypeError):  # names that are there for type checkers only
        return inspect.signature(function)


def _annotation(p: inspect.Parameter) -> Any:
    """Return the annotation of a parameter, or for want of it the type of its default; None for that of an array."""
    if p.annotation is not p.empty:
        return getattr(builtins, p.annotation, object) if isinstance(p.annotation, str) else p.annotation
    if p.default is p.empty or _is_array(p.default) or not is_hashable(p.default):
        return None
    if p.default is None:
        return object if shape_of_name(p.name) is not None else NoneType
    if isinstance(p.default, tuple) and len({type(x) for x in p.default}) == 1:
        return tuple[type(p.default[0]), ...]  # type: ignore[misc]
    return next((kind for numpys, kind in _SCALARS if isinstance(p.default, numpys)), type(p.default))


def _is_array(value: object) -> bool:
    """Return whether a default is a number with a fraction, or numbers; of tuples, not those of integers."""
    if not isinstance(value, float | np.ndarray | np.inexact | list | tuple) or (
        isinstance(value, tuple) and not value
    ):
        return False
    try:
        kind = np.asarray(value).dtype.kind
    except ValueError:
        return False
    return kind == "f" or (kind in "iu" and not isinstance(value, tuple))


def _is_constant(annotation: Any) -> bool:
    """Return whether values of this type are constants of a trace, not arrays or numbers of it."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType, tuple):
        return all(part is ... or _is_constant(part) for part in parts)
    if origin is not None or annotation is None:
        return origin in (Literal, abc.Callable, None)
    is_array = annotation in _ARRAYS or not isinstance(annotation, type) or issubclass(annotation, _ARRAY_TYPES)
    return not is_array


def _is_number(annotation: Any) -> bool:
    """Return whether an annotation is that of a single number, or of none."""
    kinds = [kind for kind in alternatives(annotation) if kind not in (None, NoneType)]
    numbers = (isinstance(kind, type) and (kind in (float, int) or issubclass(kind, np.inexact)) for kind in kinds)
    return annotation == Number or (annotation is not None and all(numbers))


def _shape(model: Model, p: inspect.Parameter, annotation: Any, shapes: Shapes, function: str) -> tuple[int, ...]:
    if p.name in shapes:
        given = shapes[p.name]
        return (given,) if isinstance(given, int) else tuple(given)
    if _is_number(annotation):
        return ()
    if (known := shape_of_name(p.name)) is not None:
        return shape_of(known, model)
    if p.default is not p.empty and p.default is not None:
        return np.shape(p.default)
    raise ArgumentError(
        f"{function}: what is the shape of {p.name!r} for one state? Give shapes={{{p.name!r}: ()}} if it is a number "
        f"(or annotate it, {p.name}: float), "
        f"shapes={{{p.name!r}: ({model.nv},)}} if it has one entry a joint; or annotate it {p.name}: int, bool or str "
        "if it is a constant (q, v, a, tau, f_ext and names like q_des are known)"
    )


def _of(function: str, constant: Constant, value: object) -> Value:
    """Return the default of a constant."""
    try:
        return constant.canonical(value)
    except ArgumentError as error:
        raise ArgumentError(f"{function}: the default of {error}") from None


def _default(function: str, name: str, value: object, shape: tuple[int, ...]) -> Any:
    """Return the default of an array."""
    try:
        made = np.array(np.broadcast_to(np.asarray(value, np.float64), shape))
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{function}: the default of {name} is {value!r}, which is not a number or array of shape {shape}"
        ) from None
    made.flags.writeable = False
    return made
