"""`Target`: the machine that code is generated for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from kinetree.backends.llvm.ir import ITEM_BYTES

# LLVM's effort in selecting instructions. Measured on RNEA of a humanoid: level 2 costs more time and gives no
# faster code, level 0 gives code several times slower.
CODEGEN_LEVEL = 1


@dataclass(frozen=True)
class Target:
    """What object code depends on besides the program.

    Attributes
    ----------
    triple, cpu, features : str
        LLVM's names for the machine.
    vector_bits : int
        Width of the vectors to use: 512, 256 or 128.
    """

    triple: str
    cpu: str
    features: str
    vector_bits: int

    @classmethod
    @cache
    def host(cls) -> Target:
        """Return the machine that this process runs on.

        Examples
        --------
        >>> Target.host().lanes("float32") == 2 * Target.host().lanes("float64")
        True
        """
        features = llvm.get_host_cpu_features()
        bits = 512 if features.get("avx512f") else 256 if features.get("avx2") else 128
        return cls(llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten(), bits)

    def lanes(self, dtype: str) -> int:
        """Return the number of states of this dtype that fill a vector."""
        return self.vector_bits // (8 * ITEM_BYTES[dtype])


@cache
def target_machine(target: Target) -> Any:
    """Return LLVM's code generator for this target.

    The code is position-independent and its constants are next to it, so that it can be stored and loaded anywhere.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=CODEGEN_LEVEL, reloc="pic", codemodel="small"
    )
