"""Writing LLVM IR as text: the body of a function, line by line."""

from __future__ import annotations

from kinetree.backends.llvm.lanes import Lanes


class Body:
    """Lines of a function; calling it with an instruction gives the name of its result.

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
        """Append an instruction without a result, or one that names it."""
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self.lines.append(name + ":")

    def fma(self, v: Lanes, x: str, y: str, z: str) -> str:
        """Append x·y + z with one rounding."""
        return self(f"call {v.type} @llvm.fma.{v.suffix}({v.type} {x}, {v.type} {y}, {v.type} {z})")

    def __str__(self) -> str:
        return "\n".join(self.lines)


def function(signature: str, body: Body, *, internal: bool = True) -> str:
    """Return the definition of a function; an internal one is not seen outside the object."""
    linkage = "internal " if internal else ""
    return f"define {linkage}{signature} #0 {{\nentry:\n{body}\n}}\n"
