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
    """See `kinetree.backends.base.LoadedCode`; `scratch` as in the `ObjectCode`."""

    def __init__(self, tracker: Any, addresses: dict[str, int], scratch: int) -> None:
        self._tracker = tracker  # frees the code, and the linker with it
        self._addresses = addresses
        self.scratch = scratch

    def address(self, symbol: str) -> int | None:
        """Return the address of an entry point, None where there is no such one."""
        return self._addresses.get(symbol)


def load(code: ObjectCode, symbols: Mapping[str, int] = MappingProxyType({})) -> LoadedObject:
    """Bring code into memory.

    Each object has its own linker: that costs half a millisecond, but frees all memory. (A shared one retains some
    kilobytes for each library that it linked.) JITLink places code and constants together, so that they are always
    in range of each other, and reaches externals through stubs.

    `symbols` are addresses of externals; LLVM is asked for the others, and LookupError raised if it does not know one.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    builder = llvm.JITLibraryBuilder()
    for image in code.objects:
        builder.add_object_img(image)
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
