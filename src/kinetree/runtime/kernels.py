"""A variant of a function to code in memory: from the disk cache, or traced, optimised and compiled.

llvmlite and the compiler wing are imported here when they are first needed, and a cached function needs no tracing.
All work is done under `locks.compiling`. A fork waits for llvmlite's own lock too, so that a child never inherits LLVM
at work in a thread that it does not have.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import llvmlite
import numpy as np

from kinetree import locks
from kinetree.glue import cpython as layout
from kinetree.glue import entry as glue
from kinetree.graph import Program
from kinetree.runtime import batch, cache
from kinetree.runtime.spec import Declaration, Variant

if TYPE_CHECKING:
    from kinetree.backends.llvm import Code, Target


def _llvm_lock() -> contextlib.AbstractContextManager[None]:
    """Return llvmlite's lock: a thread that frees code holds it without holding ours."""
    ffi = sys.modules.get("llvmlite.binding.ffi")
    try:
        return ffi.lib._lock  # type: ignore[no-any-return, union-attr]
    except AttributeError:  # not imported yet, or kept elsewhere
        return contextlib.nullcontext()


locks.fork_waits_for(_llvm_lock)


class Single(NamedTuple):
    """One state at a time: the kernel for the general path, the entry for callers from C, and the call glue.

    `glue` is the address of ``kt_call``, None if there is none; `options` is the table that it reads.
    """

    kernel: batch.SingleKernel
    raw: int
    glue: int | None
    options: glue.Options


def hidden(owner: object) -> object:
    """Return an object that keeps another one alive, and that the garbage collector cannot look into.

    Code is freed by the finalizer of what owns it. In a cycle of garbage all finalizers run first, in any order, and
    one of them may still call a function of the cycle. A NumPy array takes no part in garbage collection: seen
    through one, the owner is no garbage until the last function that holds the array is really gone.
    """
    holder = np.empty((), dtype=object)
    holder[()] = owner
    return holder


@functools.cache
def _register_symbols() -> None:
    import llvmlite.binding

    known = glue.raw_symbols() | (glue.symbols() if layout.find() is not None else {})
    for name, address in known.items():
        llvmlite.binding.add_symbol(name, address)


def single(declaration: Declaration, variant: Variant, program: Callable[[], Program]) -> Single:
    """Return the single-state kernel of a variant; `program` is called only where the cache does not have it."""
    from kinetree.backends.llvm import Target, load

    target = Target.host()
    where = layout.find()
    ports = declaration.ports(variant.optional)
    extra = glue.emit_raw(ports, declaration.outputs)
    if where is not None:
        extra += glue.emit(ports, declaration.outputs, variant.dtype, where)
    _register_symbols()

    def compiled() -> Code:
        from kinetree.backends.llvm import compile_single

        return compile_single(program(), dtype=variant.dtype, target=target, extra_ir=extra)

    code = _code(declaration, variant, target, ("single", extra), compiled)
    loaded = load(code)
    kernel = batch.SingleKernel(loaded.address("kt_single"), code.scratch, hidden(loaded))
    glue.set_scratch(loaded.address("kt_set_scratch"), code.scratch)
    options = glue.Options(declaration, variant)
    raw = loaded.address("kt_raw")
    if where is None:
        return Single(kernel, raw, None, options)
    if declaration.result is not None:
        glue.set_result(loaded.address("kt_set_result"), declaration.result)
    options.install(loaded.address("kt_set_options"))
    return Single(kernel, raw, loaded.address("kt_call"), options)


def batched(
    declaration: Declaration, variant: Variant, lanes: int | None, program: Callable[[], Program]
) -> batch.BatchKernel:
    """Return the batch kernel of a variant; `lanes` is the host's preferred count if None."""
    from kinetree.backends.llvm import Target, load

    target = Target.host()
    width = target.lanes(variant.dtype) if lanes is None else lanes

    def compiled() -> Code:
        from kinetree.backends.llvm import compile_batch

        return compile_batch(program(), dtype=variant.dtype, target=target, lanes=width)

    code = _code(declaration, variant, target, ("batch", str(width)), compiled)
    loaded = load(code)
    return batch.BatchKernel(loaded.address("kt_batch"), code.scratch, hidden(loaded), width)


def _code(
    declaration: Declaration,
    variant: Variant,
    target: Target,
    kind: tuple[str, ...],
    compiled: Callable[[], Code],
) -> Code:
    key = cache_key(declaration, variant, target, kind)
    code = None if key is None else cache.load(key)
    if code is None:
        code = compiled()
        if key is not None:
            cache.store(key, code)
    return code


def cache_key(declaration: Declaration, variant: Variant, target: Target, kind: tuple[str, ...]) -> str | None:
    """Return the digest of all that this code depends on, None if that cannot be known."""
    source = cache.source_digest()
    if source is None:
        return None
    return cache.digest([source, _abi(), repr(target), declaration.name, declaration.identity(), repr(variant), *kind])


@functools.cache
def _abi() -> str:
    """Return what marks the Python, NumPy and llvmlite that code is made with, and for."""
    known: tuple[Any, ...] = (
        llvmlite.__version__,
        sys.implementation.cache_tag,
        sys.abiflags if hasattr(sys, "abiflags") else "",
        object.__basicsize__,
        tuple.__basicsize__,
        np.__version__.split(".")[0],
        None if layout.find() is None else layout.numpy_api().abi,
    )
    return repr(known)
