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

    __slots__ = ("_count", "lines")

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

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

    def fma(self, v: Lanes, x: str, y: str, z: str) -> str:
        """Append x·y + z with one rounding."""
        return self(f"call {v.type} @llvm.fma.{v.suffix}({v.type} {x}, {v.type} {y}, {v.type} {z})")

    @contextmanager
    def loop(self, step: int, bound: str, label: str = "loop", i: str = "%i", last: str = "") -> Iterator[None]:
        """Append a loop over what is appended inside, for i = 0, step, 2·step, … below the bound, at least once.

        `last` is the block that it ends in, where there are several.
        """
        self.line(f"br label %{label}")
        self.label(label)
        self.line(f"{i} = phi i64 [0, %entry], [%next, %{last or label}]")
        yield
        self.line(f"%next = add i64 {i}, {step}")
        self.line(f"br i1 {self(f'icmp ult i64 %next, {bound}')}, label %{label}, label %end")
        self.label("end")

    def __str__(self) -> str:
        return "\n".join(self.lines)


def function(signature: str, body: Body, *, internal: bool = True) -> str:
    """Return the definition of a function; internal: not visible outside the object."""
    linkage = "internal " if internal else ""
    if signature.startswith("void"):
        body.line("ret void")
    return f"define {linkage}{signature} #0 {{\nentry:\n{body}\n}}\n"
