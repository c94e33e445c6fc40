"""Compiled functions as JAX's: one primitive, whose calls run our kernels through XLA, without Python.

Its rules for derivatives lead to calls of the primitive again, so that JAX differentiates as often as it likes.
"""

from __future__ import annotations

import ctypes
import functools
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.interop import xla
from kinetree.interop.operation import Operation, bound
from kinetree.runtime.function import Function
from kinetree.runtime.outputs import returned
from kinetree.runtime.spec import Variant

try:
    import jax
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir
    from jax.interpreters.xla import apply_primitive
except ImportError as error:
    raise ArgumentError("to_jax needs the package jax: pip install 'kinetree[jax]'") from error

VERSION = (0, 3)
"""Of XLA's foreign function interface, whose structures `kinetree.interop.xla` reads."""

MEMORY = b"kinetree: there is no memory for this call"
EXHAUSTED = 8  # XLA's code for that error


def to_jax(function: Function) -> Callable[..., Any]:
    """Return this function as one of JAX arrays, for `jit`, `vmap`, `grad`, `jacfwd`, `jacrev` and `hessian`.

    Parameters
    ----------
    function : Function
        Any compiled function. Those without derivatives can be called, but not differentiated.

    Returns
    -------
    callable
        It takes the arguments and options of the function, and returns its arrays: float64 where JAX has that
        (``jax.config.update("jax_enable_x64", True)``) and an argument is float64, else float32, with seven digits.
        The bits are those of the function. Numbers that are out of an argument's range are not noticed.

    Raises
    ------
    ArgumentError
        If JAX is missing, or has another version of XLA's foreign function interface.

    Notes
    -----
    It runs on the CPU. A gradient with respect to a configuration has its shape, (..., nq), and lies in the tangent
    space of the unit quaternions in it. Kernels that JAX has called are kept as long as the process lives.

    Examples
    --------
    >>> import jax
    >>> import kinetree as kt
    >>> jax.config.update("jax_enable_x64", True)
    >>> robot = kt.load("panda")
    >>> energy = robot.potential_energy.to_jax()
    >>> q, _, _ = robot.random_state(seed=0)
    >>> bool(abs(jax.grad(energy)(q) - robot.gravity_forces(q)).max() < 1e-12)
    True
    """
    _check_version()

    @functools.wraps(function.__origin__)
    def call(*args: Any, **kwargs: Any) -> Any:
        operation, arrays, lead, given, _ = bound(function, args, kwargs, lambda _, x: jnp.asarray(x))
        floats = [x for x in given if jnp.issubdtype(x.dtype, jnp.floating)]
        kind = jnp.promote_types(jnp.result_type(*floats or [float]), jnp.float32)
        varying = frozenset[str]().union(*(jax.typeof(x).mat.varying for x in arrays))
        for k, port in enumerate(operation.inputs):
            array = jnp.broadcast_to(arrays[k].astype(kind), lead + port.shape)
            here = varying - jax.typeof(array).mat.varying  # axes of a mesh, under `shard_map`
            arrays[k] = jax.lax.pcast(array, tuple(here), to="varying") if here else array
        return returned(operation.named, evaluate.bind(*arrays, operation=operation))

    return call


@functools.cache
def _check_version() -> None:
    """Raise where XLA reads other structures."""
    header = Path(jax.ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text()
    found = tuple(int(x) for x in re.findall(r"#define XLA_FFI_API_M(?:AJ|IN)OR (\d+)", header))
    if found[:1] != VERSION[:1]:
        version = ".".join(map(str, found)) or "unknown"
        raise ArgumentError(
            f"to_jax: jax {jax.__version__} has version {version} of XLA's foreign function interface, "
            f"kinetree knows {VERSION[0]}.{VERSION[1]}: install another kinetree, or pip install 'jax>=0.10.2,<0.11'"
        )


evaluate = Primitive("kinetree")
evaluate.multiple_results = True
evaluate.def_impl(functools.partial(apply_primitive, evaluate))


@evaluate.def_abstract_eval  # type: ignore[untyped-decorator]
def _shapes(*arrays: Any, operation: Operation) -> list[Any]:
    first = arrays[0]
    lead = first.shape[: first.ndim - len(operation.inputs[0].shape)]
    return [first.update(shape=lead + port.shape, weak_type=False) for port in operation.outputs]


def _rates(primals: Sequence[Any], tangents: Sequence[Any], operation: Operation) -> tuple[Any, Any]:
    values = evaluate.bind(*primals, operation=operation)
    wrt = tuple(k for k, rate in enumerate(tangents) if type(rate) is not ad.Zero)
    rates = evaluate.bind(*primals, *(tangents[k] for k in wrt), operation=operation.jvp(wrt))
    return values, rates


def _adjoints(weights: Sequence[Any], *arrays: Any, operation: Operation) -> list[Any]:
    """Transpose products with a Jacobian, the only ones that are linear."""
    if operation.rates_of is None:
        raise NotImplementedError("kinetree: only derivatives along rates are linear")
    of, wrt = operation.rates_of
    first = len(of.inputs)
    bars = [ad.instantiate_zeros(weight) for weight in weights]
    wanted = tuple(k for k, x in zip(wrt, arrays[first:], strict=True) if ad.is_undefined_primal(x))
    found = dict(zip(wanted, evaluate.bind(*arrays[:first], *bars, operation=of.vjp(wanted)), strict=True))
    return [None] * first + [found.get(k) for k in wrt]


def _batched(arrays: Sequence[Any], axes: Sequence[int | None], operation: Operation) -> tuple[Any, Any]:
    n = next(x.shape[axis] for x, axis in zip(arrays, axes, strict=True) if axis is not None)
    moved = [
        jnp.broadcast_to(x, (n, *x.shape)) if axis is None else jnp.moveaxis(x, axis, 0)
        for x, axis in zip(arrays, axes, strict=True)
    ]
    return evaluate.bind(*moved, operation=operation), [0] * len(operation.outputs)


def _lowered(context: Any, *arrays: Any, operation: Operation) -> Any:
    return jax.ffi.ffi_lowering(_target(operation, str(context.avals_in[0].dtype)))(context, *arrays)


ad.primitive_jvps[evaluate] = _rates
ad.primitive_transposes[evaluate] = _adjoints
batching.primitive_batchers[evaluate] = _batched
mlir.register_lowering(evaluate, _lowered, platform="cpu")

_handlers: dict[str, Any] = {}  # by name; XLA may call them as long as the process lives
_lock = threading.Lock()


def _target(operation: Operation, dtype: str) -> str:
    """Return the name by which XLA knows the kernel of an operation: operations with equal programs have one."""
    name = f"kinetree_{operation.digest}_{dtype}"
    with _lock:
        if name not in _handlers:
            address, keep = _handler(operation, dtype)
            jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(address), platform="cpu")
            _handlers[name] = keep
    return name


def _handler(operation: Operation, dtype: str) -> tuple[Any, Any]:
    """Return the handler of an operation's kernel, and what keeps it in memory."""
    from kinetree.backends.llvm import load
    from kinetree.glue import entry

    kernel = operation.function._kernels.batch(Variant((), (), dtype))
    address, scratch, _ = kernel.record
    ports = (*operation.inputs, *operation.outputs)
    message = ctypes.create_string_buffer(MEMORY)
    size = np.dtype(dtype).itemsize
    head = [address, scratch, len(operation.inputs), len(operation.outputs), len(operation.inputs[0].shape)]
    error = [28, 0, ctypes.addressof(message), EXHAUSTED]
    table = np.array([*head, VERSION[0] + (VERSION[1] << 32), *error, *(size * p.size for p in ports)], np.int64)
    code = load(_code(), {**entry.symbols(), "kinetree_xla_table": table.ctypes.data})
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(code.address("kt_xla") or 0)
    return function, (kernel, message, table, code, function)


@functools.cache
def _code() -> Any:
    """Return the code of `kinetree.interop.xla`."""
    import inspect

    from kinetree.backends.llvm import Target
    from kinetree.backends.llvm.translate import compile_functions

    return compile_functions([(inspect.getsource(xla), vars(xla))], Target.host())
