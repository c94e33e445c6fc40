"""Object code to addresses that can be called."""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm

from kinetree.backends.base import Code


class Loaded:
    """Code in memory. It is freed with this object: keep it as long as anything may be called.

    Attributes
    ----------
    scratch : int
        Bytes of 64-byte aligned scratch that one running call needs.
    """

    def __init__(self, tracker: Any, addresses: dict[str, int], scratch: int) -> None:
        self._tracker = tracker  # frees the code, and the linker with it
        self._addresses = addresses
        self.scratch = scratch

    def address(self, symbol: str) -> int:
        """Return the address of an entry point."""
        return self._addresses[symbol]


def load(code: Code) -> Loaded:
    """Bring code into memory.

    Every code has a linker of its own: that costs half a millisecond, and frees everything in the end. (A shared one
    keeps some kilobytes for each library that it ever linked.) JITLink places code and constants together, so
    that no distance between them is ever too large, and reaches externals through stubs.

    Parameters
    ----------
    code : Code
        Made in this process or another one.

    Raises
    ------
    LookupError
        An external is neither in the process nor given to ``llvmlite.binding.add_symbol``.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    builder = llvm.JITLibraryBuilder().add_object_img(code.object_code)
    for name in code.externals:
        builder.import_symbol(name, _external(name))
    for name in code.symbols:
        builder.export_symbol(name)
    tracker = builder.link(llvm.create_lljit_compiler(use_jit_link=True), "kinetree")
    return Loaded(tracker, {name: tracker[name] for name in code.symbols}, code.scratch)


def _external(name: str) -> int:
    address = llvm.address_of_symbol(name)
    if not address:
        raise LookupError(f"the external symbol {name!r} is not registered")
    return int(address)
