"""What a translated function consists of: instructions, labels, variables, calls; see `translate`."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.backends.llvm.ir import Body
from kinetree.glue.machine import Address, External

Value = tuple[str, str]  # its type, and the name or literal
_LETTERS = {"w": "i64", "i": "i32", "d": "double", "v": "void"}
# The type in memory, and what makes the value of it, or it of the value
_LOADS = {
    **{"word": ("i64", ""), "int32": ("i32", "sext"), "bytes1": ("i8", "zext"), "bytes2": ("i16", "zext")},
    **{"bytes4": ("i32", "zext"), "real": ("double", ""), "real32": ("float", "fpext")},
}
_STORES = {"set_word": ("i64", ""), "set_real": ("double", ""), "set_real32": ("float", "fptrunc")}
# The type of the result, and the instructions, each of the result of the one before
_OTHERS = {
    "swapped": ("i64", ["call i64 @llvm.bswap.i64(i64 {0})"]),
    "unsigned_shift": ("i64", ["lshr i64 {0}, {1}"]),
    "as_real": ("double", ["bitcast i64 {0} to double"]),
    "as_real32": ("double", ["trunc i64 {0} to i32", "bitcast i32 {0} to float", "fpext float {0} to double"]),
    "from_signed": ("double", ["sitofp i64 {0} to double"]),
    "from_unsigned": ("double", ["uitofp i64 {0} to double"]),
    "stack": ("i64", ["alloca i8, i64 {0}, align 16", "ptrtoint ptr {0} to i64"]),
}
_CALLS = {"call_single": "i32", "call_batch": "void"}  # of an address, by the type of the result


class Emitter(Body):
    """The lines of a function; `declarations`, shared by all functions of a module, get what it uses from outside."""

    def __init__(self, declarations: dict[str, str]) -> None:
        super().__init__()
        self.allocas: list[str] = []
        self.variables: dict[str, Value] = {}  # the type of each, and the pointer to it
        self._declarations = declarations
        self._labels = 0

    def made(self, kind: str, instruction: str) -> Value:
        """Append an instruction and return its result."""
        return kind, self(instruction)

    def new(self, hint: str) -> str:
        """Return a new label."""
        self._labels += 1
        return f"{hint}.{self._labels}"

    def label(self, name: str) -> None:
        """Begin a basic block, to which the one before goes on."""
        self.go(name)
        super().label(name)

    def go(self, label: str) -> None:
        """End the basic block, unless it has ended."""
        if not self.is_ended():
            self.line(f"br label %{label}")

    def is_ended(self) -> bool:
        """Return whether the basic block has ended."""
        return bool(self.lines) and self.lines[-1].split()[0] in ("br", "ret", "unreachable")

    def set(self, name: str, value: Value) -> None:
        """Give a variable a value; it keeps the type of the first."""
        if name not in self.variables:
            self.variables[name] = value[0], f"%{name}.at"
            self.allocas.append(f"  %{name}.at = alloca {value[0]}")
        kind, at = self.variables[name]
        if kind != value[0]:
            raise TypeError(f"{name} is {kind} and {value[0]}")
        self.line(f"store {kind} {value[1]}, ptr {at}")

    def load(self, name: str) -> Value:
        """Return the value of a variable."""
        kind, at = self.variables[name]
        return self.made(kind, f"load {kind}, ptr {at}")

    def constant(self, value: object) -> Value:
        """Return an int, a float or the address of an external object."""
        if isinstance(value, Address):
            self._declarations[value.name] = f"@kinetree_{value.name} = external global i8"
            return self.made("i64", f"ptrtoint ptr @kinetree_{value.name} to i64")
        if isinstance(value, float):
            return "double", f"{value:.17e}"
        return "i64", str(int(value))  # type: ignore[call-overload]

    def call(self, result: str, callee: str, given: Sequence[Value]) -> Value:
        """Call a function; a narrower result is made an int."""
        call = f"call {result} {callee}({', '.join(f'{kind} {name}' for kind, name in given)})"
        if result == "void":
            self.line(call)
            return "void", ""
        value = self(call)
        return self.made("i64", f"sext i32 {value} to i64") if result == "i32" else (result, value)

    def external(self, function: External, given: Sequence[Value]) -> Value:
        """Call a function of Python's or NumPy's."""
        types, result = [_LETTERS[letter] for letter in function.parameters], _LETTERS[function.result]
        callee = f"@kinetree_{function.name}"
        self._declarations[function.name] = f"declare {result} {callee}({', '.join(types)})"
        fitting = [
            self.made("i32", f"trunc i64 {value[1]} to i32") if kind == "i32" else value
            for kind, value in zip(types, given, strict=True)
        ]
        return self.call(result, callee, fitting)

    def instruction(self, name: str, given: Sequence[Value]) -> Value:
        """Append what `kinetree.glue.machine` calls by this name."""
        if name in _OTHERS:
            return self._other(*_OTHERS[name], [value for _, value in given])
        pointer = self(f"inttoptr i64 {given[0][1]} to ptr")
        if name in _LOADS:
            kind, extend = _LOADS[name]
            loaded = self.made(kind, f"load {kind}, ptr {pointer}, align 1")
            wide = "double" if kind in ("float", "double") else "i64"
            return self.made(wide, f"{extend} {kind} {loaded[1]} to {wide}") if extend else loaded
        if name in _STORES:
            kind, narrow = _STORES[name]
            value = self(f"{narrow} double {given[1][1]} to {kind}") if narrow else given[1][1]
            self.line(f"store {kind} {value}, ptr {pointer}, align 1")
            return "void", ""
        return self.call(_CALLS[name], pointer, given[1:])

    def _other(self, result: str, steps: Sequence[str], operands: list[str]) -> Value:
        if "bswap" in steps[0]:
            self._declarations["bswap"] = "declare i64 @llvm.bswap.i64(i64)"
        for step in steps:
            operands = [self(step.format(*operands))]
        return result, operands[0]
