"""LLVM IR as text: the body of a function, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kinetree.backends.llvm.lanes import Lanes


class Body:
    """The lines of a function; calling it appends an instruction and returns the name of its result.

    Examples
    --------
    >>> b = Body()
    >>> b(f"fadd double {b('fmul double %x, %y')}, %z")
    '%t2'
    >>> print(b)
      %t1 = fmul double %x, %y
      %t2 = fadd double %t1, %z
    """

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
        """Append a loop of `count` iterations, at least one, over what is appended inside, for i = 0, 1, …; return i.

        Unlike `loop` it may contain basic blocks and other such loops, and stand anywhere.
        """
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
