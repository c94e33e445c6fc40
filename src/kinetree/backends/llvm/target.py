"""`Target`: the machine that code is generated for; and object code to addresses that can be called there."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import llvmlite.binding as llvm

from kinetree import locks
from kinetree.backends.base import ObjectCode
from kinetree.backends.llvm.ir import ITEM_BYTES

# LLVM's effort in selecting instructions. Measured on RNEA of a humanoid: level 2 costs more time and gives no
# faster code, level 0 gives code several times slower.
CODEGEN_LEVEL = 1


@dataclass(frozen=True)
class Target:
    """What object code depends on besides the program: LLVM's names for the machine, and the width of vectors."""

    triple: str
    cpu: str
    features: str
    vector_bits: int

    @classmethod
    @cache
    def host(cls) -> Target:
        """Return the machine that this process runs on."""
        features = llvm.get_host_cpu_features()
        bits = 512 if features.get("avx512f") else 256 if features.get("avx2") else 128
        return cls(llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten(), bits)

    def lanes(self, dtype: str) -> int:
        """Return the number of states of this dtype that fill a vector."""
        return self.vector_bits // (8 * ITEM_BYTES[dtype])


@cache
def target_machine(target: Target) -> Any:
    """Return LLVM's code generator, of position-independent code with its constants beside: to be loaded anywhere."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=CODEGEN_LEVEL, reloc="pic", codemodel="small"
    )


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
    """Bring code into memory, each object with its own linker: that takes half a millisecond, but frees all memory.

    JITLink keeps constants in range. `symbols` are addresses of externals; `LookupError` if LLVM does not know another.
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
