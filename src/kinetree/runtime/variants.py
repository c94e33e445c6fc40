"""The compiled code of a function, variant by variant, made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kinetree import locks
from kinetree.graph import Program
from kinetree.runtime import kernels
from kinetree.runtime.batch import BatchKernel
from kinetree.runtime.spec import Declaration, Variant


class Variants:
    """What is compiled of a function.

    Parameters
    ----------
    declaration : Declaration
        Of the function.
    lanes : int or None
        Of its batch kernels; what suits the processor if None.
    installed : callable
        Called, under the lock for compiling, when there is one more single-state kernel.

    Attributes
    ----------
    singles, batches : dict
        The kernels that there are.
    """

    def __init__(self, declaration: Declaration, lanes: int | None, installed: Callable[[], None]) -> None:
        self._declaration, self._lanes, self._installed = declaration, lanes, installed
        self._programs: dict[tuple[Any, ...], Program] = {}
        self.singles: dict[Variant, kernels.Single] = {}
        self.batches: dict[Variant, BatchKernel] = {}

    def program(self, variant: Variant) -> Program:
        """Return the optimised program of a variant, the same for every dtype."""
        from kinetree.passes.pipeline import optimize

        key = variant[:2]
        with locks.compiling:
            if key not in self._programs:
                self._programs[key] = optimize(self._declaration.traced(variant))
            return self._programs[key]

    def single(self, variant: Variant) -> kernels.Single:
        """Return the kernel for one state."""
        known = self.singles.get(variant)
        if known is not None:
            return known
        with locks.compiling:
            if variant not in self.singles:
                self.singles[variant] = kernels.single(self._declaration, variant, lambda: self.program(variant))
                self._installed()
            return self.singles[variant]

    def batch(self, variant: Variant) -> BatchKernel:
        """Return the kernel for many states."""
        known = self.batches.get(variant)
        if known is not None:
            return known
        with locks.compiling:
            if variant not in self.batches:
                self.batches[variant] = kernels.batched(
                    self._declaration, variant, self._lanes, lambda: self.program(variant)
                )
            return self.batches[variant]
