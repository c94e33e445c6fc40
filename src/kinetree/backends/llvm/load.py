"""Object code to addresses that can be called."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import llvmlite.binding as llvm

from kinetree import locks
from kinetree.backends.base import ObjectCode


def _llvm_lock() -> contextlib.AbstractContextManager[object]:
    """Return llvmlite's lock: a thread that frees code holds it without holding ours."""
    try:
        return sys.modules["llvmlite.binding.ffi"].lib._lock  # type: ignore[no-any-return]
    except AttributeError:  # in another place, in a future version
        return contextlib.nullcontext()


locks.fork_waits_for(_llvm_lock)


class LoadedObject:
    """ObjectCode in memory. It is freed with this object: keep it as long as anything may be called.

    Attributes
    ----------
    scratch : int
        Bytes of 64-byte aligned scratch that one running call needs.
    """

    def __init__(self, tracker: Any, addresses: dict[str, int], scratch: int) -> None:
        self._tracker = tracker  # frees the code, and the linker with it
        self._addresses = addresses
        self.scratch = scratch

    def address(self, symbol: str) -> int | None:
        """Return the address of an entry point, None where there is no such one."""
        return self._addresses.get(symbol)


def load(code: ObjectCode, symbols: Mapping[str, int] = MappingProxyType({})) -> LoadedObject:
    """Bring code into memory.

    Every code has a linker of its own: that costs half a millisecond, and frees everything in the end. (A shared one
    keeps some kilobytes for each library that it ever linked.) JITLink places code and constants together, so
    that no distance between them is ever too large, and reaches externals through stubs.

    Parameters
    ----------
    code : ObjectCode
        Made in this process or another one.
    symbols : mapping of str to int
        Addresses of externals; LLVM is asked for the others.

    Raises
    ------
    LookupError
        An external is neither in `symbols` nor in the process.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    builder = llvm.JITLibraryBuilder().add_object_img(code.object_code)
    for name in code.externals:
        builder.import_symbol(name, symbols.get(name) or _external(name))
    for name in code.symbols:
        builder.export_symbol(name)
    tracker = builder.link(llvm.create_lljit_compiler(use_jit_link=True), "kinetree")
    return LoadedObject(tracker, {name: tracker[name] for name in code.symbols}, code.scratch)


def _external(name: str) -> int:
    address = llvm.address_of_symbol(name)
    if not address:
        raise LookupError(f"the external symbol {name!r} is not known")
    return int(address)
