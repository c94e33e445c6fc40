"""LLVM IR as text: the body of a function, line by line."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

ITEM_BYTES = {"float64": 8, "float32": 4}
_NAMES = {"float64": ("double", "f64"), "float32": ("float", "f32")}


class Lanes:
    """The type of one value: a vector of `count` states, or a scalar for one.

    `item` and `bytes` are the bytes of one lane and of the value, `scalar` and `type` their LLVM types, and
    `suffix` is that of an intrinsic on the value.
    """

    def __init__(self, dtype: str, count: int) -> None:
        self.dtype, self.count = dtype, count
        self.item = ITEM_BYTES[dtype]
        self.bytes = count * self.item
        self.alignment = min(64, self.bytes)
        self.scalar, suffix = _NAMES[dtype]
        self.type = f"<{count} x {self.scalar}>" if count > 1 else self.scalar
        self.suffix = f"v{count}{suffix}" if count > 1 else suffix

    def constant(self, value: float) -> str:
        """Return the constant with this value in every lane, rounded to the type."""
        literal = hex_literal(value if self.dtype == "float64" else ctypes.c_float(value).value)  # inf on overflow
        return f"splat ({self.scalar} {literal})" if self.count > 1 else literal


def hex_literal(value: float) -> str:
    """Return an exact float literal: LLVM writes a float as the bits of the equal double."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Body:
    """The lines of a function; calling it appends an instruction and returns the name of its result."""

    __slots__ = ("_count", "block", "lines")

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0
        self.block = "entry"

    def __call__(self, instruction: str) -> str:
        """Append the instruction under a new name, and return the name."""
        self._count += 1
        name = f"%t{self._count}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def line(self, text: str) -> None:
        """Append an instruction without a result, or with a named one."""
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self.lines.append(name + ":")
        self.block = name

    def fma(self, v: Lanes, x: str, y: str, z: str) -> str:
        """Append x·y + z with one rounding."""
        return self(f"call {v.type} @llvm.fma.{v.suffix}({v.type} {x}, {v.type} {y}, {v.type} {z})")

    @contextmanager
    def loop(self, step: int, bound: str, label: str = "loop", i: str = "%i") -> Iterator[None]:
        """Append a loop over what is appended inside, for i = 0, step, 2·step, … below the bound, at least once."""
        self.line(f"br label %{label}")
        self.label(label)
        phi = len(self.lines)
        self.lines.append("")
        yield
        self.line(f"%next = add i64 {i}, {step}")
        self.lines[phi] = f"  {i} = phi i64 [0, %entry], [%next, %{self.block}]"
        self.line(f"br i1 {self(f'icmp ult i64 %next, {bound}')}, label %{label}, label %end")
        self.label("end")

    @contextmanager
    def times(self, count: int | str) -> Iterator[str]:
        """Append a loop of `count` iterations, at least one; return i. It may contain blocks and loops."""
        self._count += 1
        name, before, phi = f"loop{self._count}", self.block, len(self.lines) + 2
        self.line(f"br label %{name}")
        self.label(name)
        self.lines.append("")
        yield f"%{name}.i"
        following = self(f"add i64 %{name}.i, 1")
        self.lines[phi] = f"  %{name}.i = phi i64 [0, %{before}], [{following}, %{self.block}]"
        self.line(f"br i1 {self(f'icmp ult i64 {following}, {count}')}, label %{name}, label %{name}.end")
        self.label(f"{name}.end")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """Append what is appended inside as a branch that is taken where the condition holds."""
        self._count += 1
        name = f"when{self._count}"
        self.line(f"br i1 {condition}, label %{name}, label %{name}.end")
        self.label(name)
        yield
        self.line(f"br label %{name}.end")
        self.label(f"{name}.end")

    def __str__(self) -> str:
        return "\n".join(self.lines)


def function(signature: str, body: Body, *, internal: bool = True) -> str:
    """Return the definition of a function; internal: not visible outside the object."""
    linkage = "internal " if internal else ""
    if signature.startswith("void"):
        body.line("ret void")
    return f"define {linkage}{signature} #0 {{\nentry:\n{body}\n}}\n"


def table(name: str, entries: Sequence[int]) -> str:
    """Return the definition of a constant array of i32."""
    return f"{name} = internal constant [{len(entries)} x i32] [{', '.join(f'i32 {x}' for x in entries)}]\n"


class Values:
    """Loads, stores and choices of values of these lanes, which lie side by side in memory."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.truth = f"<{lanes.count} x i1>" if lanes.count > 1 else "i1"
        self.true = "splat (i1 true)" if lanes.count > 1 else "true"

    def pointer(self, b: Body, base: str, index: str | int) -> str:
        """Return a pointer to the value of this index."""
        return b(f"getelementptr {self.lanes.type}, ptr {base}, i64 {index}")

    def load(self, b: Body, base: str, index: str | int) -> str:
        """Load the value of this index."""
        return b(f"load {self.lanes.type}, ptr {self.pointer(b, base, index)}, align {self.lanes.alignment}")

    def store(self, b: Body, value: str, base: str, index: str | int) -> None:
        """Store the value of this index."""
        place = self.pointer(b, base, index)
        b.line(f"store {self.lanes.type} {value}, ptr {place}, align {self.lanes.alignment}")

    def splat(self, b: Body, scalar: str) -> str:
        """Return the value that has this scalar in every lane."""
        kind = self.lanes.type
        one = b(f"insertelement {kind} poison, {self.lanes.scalar} {scalar}, i64 0")
        return b(f"shufflevector {kind} {one}, {kind} poison, <{self.lanes.count} x i32> zeroinitializer")

    def any(self, b: Body, truth: str) -> str:
        """Return whether a truth value holds in some lane."""
        return self._reduced(b, "or", truth)

    def all(self, b: Body, truth: str) -> str:
        """Return whether a truth value holds in all lanes."""
        return self._reduced(b, "and", truth)

    def _reduced(self, b: Body, how: str, truth: str) -> str:
        if self.lanes.count == 1:
            return truth
        return b(f"call i1 @llvm.vector.reduce.{how}.v{self.lanes.count}i1({self.truth} {truth})")
