"""Functions in a small part of Python to LLVM IR: how `kinetree.glue.code` is compiled.

Values are int (i64) and float (double); conditions are no values. A variable is memory, which LLVM makes a register of.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kinetree.backends.base import ObjectCode
from kinetree.backends.llvm.compile import object_code
from kinetree.backends.llvm.ir import Body
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.glue.machine import Address, External, Instruction, inlined

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
_CALLS = {"call_single": "i32", "call_batch": "void", "call_word": "i64"}  # of an address, by the type of the result


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


_TYPES = {"int": "i64", "float": "double", "None": "void"}
_BINARY = {
    **{ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul"), ast.BitAnd: ("and", "")},
    **{ast.BitOr: ("or", ""), ast.LShift: ("shl", ""), ast.RShift: ("ashr", "")},
}
_COMPARE = {
    **{ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"), ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole")},
    **{ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge")},
}


def compile_functions(modules: Iterable[tuple[str, Mapping[str, object]]], target: Target) -> ObjectCode:
    """Return the code of all functions in modules, each given by its text and its names; ``kt_…`` are entry points."""
    return object_code(functions_ir(modules, target), 0, target, optimize=True)


def functions_ir(modules: Iterable[tuple[str, Mapping[str, object]]], target: Target) -> str:
    """Return the LLVM IR of all functions in modules."""
    declarations: dict[str, str] = {}
    functions = [
        _Function(tree, names, declarations).text()
        for source, names in modules
        for tree in ast.parse(source).body
        if isinstance(tree, ast.FunctionDef)
    ]
    data_layout = target_machine(target).target_data
    head = f'target triple = "{target.triple}"\ntarget datalayout = "{data_layout}"\n'
    return "\n".join([head, *declarations.values(), *functions])


class _Function(Emitter):
    """The translation of one function."""

    def __init__(self, tree: ast.FunctionDef, names: Mapping[str, object], declarations: dict[str, str]) -> None:
        super().__init__(declarations)
        self._tree, self._names = tree, names
        self._result = _TYPES[ast.unparse(tree.returns)] if tree.returns else "void"

    def text(self) -> str:
        """Return the definition."""
        tree, parameters = self._tree, []
        for a in tree.args.args:
            kind = _TYPES[ast.unparse(a.annotation)] if a.annotation else "i64"
            parameters.append(f"{kind} %{a.arg}.given")
            self.set(a.arg, (kind, f"%{a.arg}.given"))
        self._body(tree.body)
        if not self.is_ended():
            self.line("ret void" if self._result == "void" else "unreachable")
        linkage = "" if tree.name.startswith("kt_") else "internal "
        marked = [self._named(decorator) for decorator in tree.decorator_list]
        inline = "alwaysinline" if inlined in marked else "noinline"
        body = "\n".join(["entry:", *self.allocas, *self.lines])
        parameter_list = ", ".join(parameters)
        return f"define {linkage}{self._result} @{tree.name}({parameter_list}) nounwind {inline} {{\n{body}\n}}\n"

    # -- statements -----------------------------------------------------------------------------------------------

    def _body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            getattr(self, f"_{type(statement).__name__}")(statement)

    def _Expr(self, s: ast.Expr) -> None:
        if not isinstance(s.value, ast.Constant):
            self._value(s.value)

    def _Assign(self, s: ast.Assign) -> None:
        (target,) = s.targets
        self.set(target.id, self._value(s.value))  # type: ignore[attr-defined]

    def _Return(self, s: ast.Return) -> None:
        self.line("ret void" if s.value is None else "ret {} {}".format(*self._value(s.value)))

    def _If(self, s: ast.If) -> None:
        then, other, after = self.new("then"), self.new("else"), self.new("after")
        self._condition(s.test, then, other)
        for label, body in ((then, s.body), (other, s.orelse)):
            self.label(label)
            self._body(body)
            self.go(after)
        self.label(after)

    def _While(self, s: ast.While) -> None:
        loop, body, after = self.new("loop"), self.new("body"), self.new("after")
        self.label(loop)
        self._condition(s.test, body, after)
        self.label(body)
        self._body(s.body)
        self.go(loop)
        self.label(after)

    def _For(self, s: ast.For) -> None:
        """Translate ``for k in range(n)``."""
        name = s.target.id  # type: ignore[attr-defined]
        bound = self._value(s.iter.args[0])  # type: ignore[attr-defined]
        self.set(name, ("i64", "0"))
        loop, body, after = self.new("loop"), self.new("body"), self.new("after")
        self.label(loop)
        k = self.load(name)
        more = self.made("i1", f"icmp slt i64 {k[1]}, {bound[1]}")
        self.line(f"br i1 {more[1]}, label %{body}, label %{after}")
        self.label(body)
        self._body(s.body)
        if not self.is_ended():
            self.set(name, self.made("i64", f"add i64 {self.load(name)[1]}, 1"))
            self.go(loop)
        self.label(after)

    # -- expressions ----------------------------------------------------------------------------------------------

    def _named(self, node: ast.expr) -> Any:
        """Return the value of a name of the module, or of an attribute of it."""
        if isinstance(node, ast.Attribute):
            return getattr(self._named(node.value), node.attr)
        return self._names[node.id]  # type: ignore[attr-defined]

    def _value(self, node: ast.expr) -> Value:
        if isinstance(node, ast.Name) and node.id in self.variables:
            return self.load(node.id)
        if isinstance(node, ast.Constant):
            return self.constant(node.value)
        if isinstance(node, ast.Name | ast.Attribute):
            return self.constant(self._named(node))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return self.constant(-node.operand.value)  # type: ignore[operator]
        if isinstance(node, ast.BinOp):
            a, b = self._value(node.left), self._value(node.right)
            operation = _BINARY[type(node.op)][a[0] == "double"]
            return self.made(a[0], f"{operation} {a[0]} {a[1]}, {b[1]}")
        if isinstance(node, ast.IfExp):
            return self._either(node)
        if isinstance(node, ast.Call):
            return self._call(self._named(node.func), [self._value(a) for a in node.args])
        raise TypeError(f"{self._tree.name}: {ast.unparse(node)} cannot be compiled")

    def _either(self, node: ast.IfExp) -> Value:
        name, then, other, after = (self.new(hint) for hint in ("either", "then", "else", "after"))
        self._condition(node.test, then, other)
        for label, choice in ((then, node.body), (other, node.orelse)):
            self.label(label)
            if isinstance(choice, ast.Compare | ast.BoolOp):
                yes, no = self.new("yes"), self.new("no")
                self._condition(choice, yes, no)
                for answer, at in ((1, yes), (0, no)):
                    self.label(at)
                    self.set(name, ("i64", str(answer)))
                    self.go(after)
            else:
                self.set(name, self._value(choice))
                self.go(after)
        self.label(after)
        return self.load(name)

    def _condition(self, node: ast.expr, yes: str, no: str) -> None:
        """Go to one of two labels."""
        if isinstance(node, ast.BoolOp):
            *some, last = node.values
            for part in some:
                go_on = self.new("and")
                goes = (go_on, no) if isinstance(node.op, ast.And) else (yes, go_on)
                self._condition(part, *goes)
                self.label(go_on)
            self._condition(last, yes, no)
            return
        if isinstance(node, ast.Compare):
            a, b = self._value(node.left), self._value(node.comparators[0])
            kind = a[0] == "double"
            operation = f"{('icmp', 'fcmp')[kind]} {_COMPARE[type(node.ops[0])][kind]} {a[0]} {a[1]}, {b[1]}"
        else:
            operation = f"icmp ne i64 {self._value(node)[1]}, 0"
        self.line(f"br i1 {self.made('i1', operation)[1]}, label %{yes}, label %{no}")

    def _call(self, function: Any, given: list[Value]) -> Value:
        if isinstance(function, External):
            return self.external(function, given)
        if isinstance(function, Instruction):
            return self.instruction(function.name, given)
        result = _TYPES[str(inspect.signature(function).return_annotation)]
        return self.call(result, f"@{function.__name__}", given)
