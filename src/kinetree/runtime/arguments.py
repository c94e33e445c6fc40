"""The slow path of a call: bind, validate, convert and broadcast its arguments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, here_called, listed, unknown_name
from kinetree.graph import Port
from kinetree.runtime.options import Constant, Value
from kinetree.runtime.spec import FunctionSpec, Variant
from kinetree.validation import MASKED, has_masked_entries

Array = np.ndarray[Any, Any]
DTYPES = {name: np.dtype(name) for name in ("float32", "float64")}


class Call(NamedTuple):
    """A call with its arguments bound to names, not validated yet."""

    values: tuple[object, ...]  # the inputs that are given or have defaults, in the order of the spec
    optional: tuple[str, ...]
    options: tuple[tuple[str, Value], ...]
    out: object
    defaulted: frozenset[str] = frozenset()


class Inputs(NamedTuple):
    """The arguments of a call as arrays."""

    variant: Variant
    ports: tuple[Port, ...]
    arrays: list[Array]  # of the dtype of the variant, native, aligned; each state of the shape of its port
    lead: tuple[int, ...]  # the leading axes of the result


def bind(spec: FunctionSpec, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Call:
    """Return the call with these arguments, with arrays for the dicts among them."""
    call = _bound(spec, args, kwargs)
    if not spec.named or not any(isinstance(value, Mapping) for value in call.values):
        return call
    values, options = [], dict(call.options)
    for port, value in zip(spec.ports(call.optional), call.values, strict=True):
        if isinstance(value, Mapping) and port.name in spec.named:
            value = spec.named[port.name](value, options)
        values.append(value)
    return call._replace(values=tuple(values))


def _bound(spec: FunctionSpec, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Call:
    required = spec.required
    if spec.is_plain and len(args) == len(required) and (not kwargs or kwargs.keys() == {"out"}):
        return Call(args, (), spec.default_options or (), kwargs.get("out"))  # fast path
    given = _by_name(spec, args, kwargs)
    if isinstance(out := given.get("out"), str):
        raise ArgumentError(f"{spec.name}: {out!r} is given without the name of its argument: call it as {spec.usage}")
    constants = [o.name for o in spec.open_options if o.required and isinstance(o, Constant)]
    missing = [name for name in (*(port.name for port in required), *constants) if name not in given]
    if missing:
        raise ArgumentError(f"{spec.name} needs {_and(missing)} too: call it as {spec.usage}")
    optional = tuple(name for name in spec.optional if given.get(name) is not None)
    defaulted = frozenset(spec.defaults.keys() - given.keys())
    values = tuple(spec.defaults[p.name] if p.name in defaulted else given[p.name] for p in spec.ports(optional))
    return Call(values, optional, spec.chosen(given), given.get("out"), defaulted)


def _by_name(spec: FunctionSpec, args: tuple[object, ...], kwargs: Mapping[str, object]) -> dict[str, object]:
    if len(args) > len(spec.positional):
        raise ArgumentError(f"{spec.name} got {len(args)} positional arguments: call it as {spec.usage}")
    given = dict(zip(spec.positional, args, strict=False))
    names = [*(port.name for port in spec.inputs), *(option.name for option in spec.options), "out"]
    known = {spec.spelled(name): name for name in names}
    for spelled, value in kwargs.items():
        if spelled not in known:
            raise ArgumentError(f"{spec.name} has {_unknown(spec, spelled, known)}")
        name = known[spelled]
        if name in given:
            raise ArgumentError(f"{spec.name} got {name} twice, by position and by name")
        given[name] = value
    return given


def _unknown(spec: FunctionSpec, name: str, known: Mapping[str, str]) -> str:
    """Return the message for an argument that does not exist."""
    if spec.group is None:
        return unknown_name("argument", name, known)
    outer = [spelled for spelled, own in known.items() if spelled == own]
    if not here_called(name, outer) and (hint := spec.group.hint(name)):
        return f"no argument {name!r}: {hint}"
    return unknown_name("argument", name, [*outer, spec.group.name])


def ungrouped(
    spec: FunctionSpec, args: tuple[object, ...], kwargs: Mapping[str, object]
) -> tuple[tuple[object, ...], dict[str, object]] | None:
    """Return a call with the parts of a value as arguments of their own; None where no value is given."""
    group = spec.group
    if group is None:
        return None
    at = spec.positional.index(group.name)
    named = dict(zip(spec.positional[at:], args[at:], strict=False))
    given = {**kwargs, **named}
    if group.name not in given or len(args) > len(spec.positional) or not kwargs.keys().isdisjoint(named):
        return None  # a wrong call, if any
    value = given.pop(group.name)
    return args[:at], given if value is None else {**given, **group.given(spec.name, value)}


def fixed(spec: FunctionSpec, options: Mapping[str, object]) -> dict[str, object]:
    """Return options to fix, with those of a value in its place: no inputs, which go with each call."""
    group = spec.group
    if group is None:
        return dict(options)
    if inner := next((name for name in options if name in group.inner and name != group.name), None):
        raise ArgumentError(f"{spec.name} has no option {inner!r}; {group.hint(inner)}")
    value = options.get(group.name)
    own = {} if value is None else group.given(spec.name, value) and group.split(value)
    if inputs := [name for name in own if name not in group.options]:
        raise ArgumentError(f"{spec.name}: bind fixes options; give {listed(inputs)} with each call")
    return {name: x for name, x in options.items() if name != group.name} | dict(own)


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def convert(spec: FunctionSpec, call: Call) -> Inputs:
    """Return the arguments of a call as arrays: of float32 where all given but flags are, else of float64."""
    dtype, arrays, leads = read(spec, call)
    ports = spec.ports(call.optional)
    lead = broadcast_axes(spec, ports, arrays, leads)
    return Inputs(Variant(call.optional, call.options, dtype), ports, as_plain(spec, call, arrays, dtype), lead)


def read(spec: FunctionSpec, call: Call) -> tuple[str, list[Array], list[tuple[int, ...]]]:
    """Return the dtype of a call, its arguments as arrays of any dtype, and the axes before those of one state."""
    ports = spec.ports(call.optional)
    arrays, leads = [], []
    dtype = "float32" if len(ports) > len(call.defaulted) else "float64"
    for port, value in zip(ports, call.values, strict=True):
        array = value if type(value) is np.ndarray else _from_object(spec, port, value)
        is_flag = port.name in spec.flags
        if array.dtype.type is not np.float32 and port.name not in call.defaulted:
            dtype = dtype if is_flag else "float64"
            if array.dtype.kind not in ("fiub" if is_flag else "fiu"):
                matrix = f", as {port.name}.as_matrix() has them" if hasattr(value, "as_matrix") else ""
                raise ArgumentError(
                    f"{spec.name}: {port.name} has dtype {array.dtype}, which is not a real number: "
                    f"give it floats or integers{matrix}; {spec.describe(port)}"
                )
        arrays.append(array)
        leads.append(leading_axes(spec, port, array))
    return dtype, arrays, leads


def as_plain(spec: FunctionSpec, call: Call, arrays: list[Array], dtype: str) -> list[Array]:
    """Return the arrays in this dtype, native and aligned, if they hold no number that they may not."""
    wanted = DTYPES[dtype]
    plain = [a if a.dtype is wanted and a.flags.aligned else _plain(a, wanted) for a in arrays]
    for port, array in zip(spec.ports(call.optional), plain, strict=True):
        check_range(spec, port, array)
    return plain


def check_range(spec: FunctionSpec, port: Port, array: Array) -> None:
    """Raise where an input holds a number that it may not."""
    if allowed := spec.ranges.get(port.name):
        allowed.check(f"{spec.name}: {port.name}", array, f"; {spec.describe(port)}" if port.shape else "")


def _from_object(spec: FunctionSpec, port: Port, value: object) -> Array:
    where = f"{spec.name}: {port.name}"
    if value is None:
        raise ArgumentError(f"{where} is None: give it an array; {spec.describe(port)}")
    if has_masked_entries(value):
        raise ArgumentError(MASKED.format(where))
    try:
        return np.asarray(value)
    except MemoryError:
        raise
    except Exception as error:
        raise ArgumentError(
            f"{where} is a {type(value).__name__} that NumPy cannot make an array of ({error}); {spec.describe(port)}"
        ) from error


def leading_axes(spec: FunctionSpec, port: Port, array: Array) -> tuple[int, ...]:
    """Return the axes before those of one state."""
    shape: tuple[int, ...] = tuple(array.shape)
    inner = len(shape) - len(port.shape)
    if inner >= 0 and shape[inner:] == port.shape:
        return shape[:inner]
    given = "is a scalar" if array.ndim == 0 else f"has shape {shape}"
    batch = ", ".join(["...", *map(str, port.shape)])
    raise ArgumentError(
        f"{spec.name}: {port.name} {given}, {spec.describe(port)}; "
        f"give it shape {port.shape}, or ({batch}) for a batch{_hint(spec, port, array)}."
    )


def _hint(spec: FunctionSpec, port: Port, array: Array) -> str:
    """Return a suggestion for common mistakes of shape."""
    name = port.name
    if port.shape and array.shape == (*port.shape, 1):
        return f": a column is {name}.ravel() as one state"
    if len(port.shape) == 1 and array.ndim == 2 and array.shape[0] == port.shape[0]:
        return f": {name}.T, if its columns are the states"
    if array.ndim and array.size == port.size:
        return f": {name}.reshape({port.shape}), if these are the entries of one state"
    if name in spec.guessed:
        return f"; or compile {spec.name} with shapes={{{name!r}: {array.shape}}}, if one state has that shape"
    return ""


def broadcast_axes(
    spec: FunctionSpec, ports: tuple[Port, ...], arrays: list[Array], leads: list[tuple[int, ...]]
) -> tuple[int, ...]:
    """Return the leading axes of a call, to which those of its arguments are broadcast."""
    if not leads:
        return ()
    if leads.count(leads[0]) == len(leads):
        return leads[0]
    try:
        return np.broadcast_shapes(*leads)
    except ValueError:
        shapes = [f"{port.name} {array.shape}" for port, array in zip(ports, arrays, strict=True)]
        raise ArgumentError(
            f"{spec.name}: the batch axes of these shapes do not broadcast: {', '.join(shapes)}. "
            f"The axes before the last {'ones' if any(len(p.shape) > 1 for p in ports) else 'one'} must be equal, "
            "or 1, or left out, as NumPy has it"
        ) from None


def _plain(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return the array in this dtype, native and aligned."""
    if array.dtype == dtype and array.flags.aligned:  # the same dtype, another object
        return array
    with np.errstate(over="ignore"):  # a long double beyond float64 is inf, which is passed on
        return np.array(array, dtype=dtype, order="C")


def strides(array: Array, lead: tuple[int, ...], shape: tuple[int, ...]) -> int | None:
    """Return the bytes between consecutive states, 0 if all are the same one; None where a kernel would need a copy."""
    if array.flags.c_contiguous and array.shape == lead + shape:
        return math.prod(shape, start=array.itemsize)
    outer = array.ndim - len(shape)
    own = array.shape[:outer]
    size = array.itemsize
    for n, stride in zip(reversed(shape), reversed(array.strides[outer:]), strict=True):
        if n != 1 and stride != size:
            return None
        size *= n
    moving = [(n, stride) for n, stride in zip(own, array.strides, strict=False) if n != 1]
    if not moving:
        return 0
    if [n for n, _ in moving] != [n for n in lead if n != 1]:
        return None  # broadcast along some of the axes only
    distance = moving[-1][1]
    span = distance
    for n, stride in reversed(moving):
        if stride != span:
            return None
        span *= n
    return distance
