"""Functions in a small part of Python to LLVM IR: how `kinetree.glue.code` is compiled.

Values are int (i64) and float (double); conditions are no values. A variable is memory, which LLVM makes a register of.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from kinetree.backends.base import ObjectCode
from kinetree.backends.llvm.compile import object_code
from kinetree.backends.llvm.emitter import Emitter, Value
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.glue.machine import External, Instruction, inlined

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
        """Return what a name of the module, or an attribute of it, stands for."""
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
