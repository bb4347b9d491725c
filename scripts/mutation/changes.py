"""Possible changes of a source file: each puts in one small fault.

Texts for readers are left unchanged: strings, annotations, decorators, `__all__`, everything inside a `raise`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

ARITHMETIC: dict[type[ast.AST], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
COMPARISON: dict[type[ast.AST], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
# Their arguments are types, where a change is not a realistic fault.
OF_TYPES = {"isinstance", "issubclass", "cast", "TypeVar", "ParamSpec", "NewType"}

# The order of their last two arguments is irrelevant.
COMMUTATIVE = {"add", "logical_and", "logical_or", "max", "maximum", "min", "minimum", "mul", "swapaxes"}
# These arguments change no result: a redundant check, and whether an array may be shared.
WITHOUT_EFFECT = {("zip", "strict"), ("astype", "copy")}


@dataclass(frozen=True)
class Change:
    """One possible change of a parsed file."""

    kind: str
    node: ast.AST
    apply: Callable[[], ast.AST]  # changes the tree in place and returns the current node
    function: str  # the qualified name of the enclosing function, or ""
    lines: frozenset[int]  # a test that runs one of these may detect the change
    at_import: bool  # it is evaluated at import, so the change must precede that
    in_table: bool = False  # the body of a lambda outside functions: its line also runs at import, the body does not

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 0)


@dataclass(frozen=True)
class _Scope:
    function: str = ""
    owner: str = ""
    lines: frozenset[int] = frozenset()
    at_import: bool = True
    in_table: bool = False


def name_of(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_type_checking(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and name_of(node.test) == "TYPE_CHECKING"


def lines_of(nodes: list[ast.stmt] | list[ast.expr]) -> frozenset[int]:
    """Return all lines from the first to the last of the nodes."""
    return frozenset(range(nodes[0].lineno, (nodes[-1].end_lineno or nodes[-1].lineno) + 1))


def _header(node: ast.stmt) -> frozenset[int]:
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return lines_of([node])
    first = body[0].lineno if hasattr(body[0], "lineno") else body[0].pattern.lineno
    return frozenset(range(node.lineno, max(first, node.lineno + 1)))


def _changed_number(value: object) -> object:
    """Return another number of the same type; None for a value that is not a number."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float | complex):
        return value * 2 if value else type(value)(1)
    return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


class _Finder:
    def __init__(self, tree: ast.Module) -> None:
        self.changes: list[Change] = []
        self.readers: dict[str, set[int]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                self.readers.setdefault(name_of(node), set()).add(node.lineno)
        self.visit_all(tree.body, _Scope())

    def add(self, kind: str, node: ast.AST, change: Callable[[], ast.AST], scope: _Scope) -> None:
        self.changes.append(Change(kind, node, change, scope.function, scope.lines, scope.at_import, scope.in_table))

    def visit_all(self, nodes: list[ast.stmt], scope: _Scope) -> None:
        for node in nodes:
            self.statement(node, scope)

    def statement(self, node: ast.stmt, scope: _Scope) -> None:
        scope = replace(scope, lines=_header(node))
        if isinstance(node, FunctionNode):
            name = f"{scope.owner}{node.name}"
            self.defaults(node.args, replace(scope, function=name, lines=lines_of(node.body)))
            inner = _Scope(scope.function or name, f"{name}.", at_import=False)
            self.visit_all(node.body, inner)
        elif isinstance(node, ast.ClassDef):
            self.visit_all(node.body, replace(scope, owner=f"{scope.owner}{node.name}."))
        elif is_type_checking(node):
            self.visit_all(node.orelse, scope)
        elif isinstance(node, ast.AnnAssign | ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {name_of(target) for target in targets}
            if "__all__" not in names:
                if scope.at_import:
                    scope = replace(scope, lines=scope.lines.union(*(self.readers.get(name, ()) for name in names)))
                if isinstance(node, ast.AugAssign) and not _is_text(node.value):
                    self.operator(node, scope)
                self.children(node, scope, skipped=("annotation",))
        elif not isinstance(node, ast.Raise | ast.Import | ast.ImportFrom):
            self.children(node, scope)

    def children(self, node: ast.AST, scope: _Scope, skipped: tuple[str, ...] = ()) -> None:
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) and field not in skipped else [value]:
                if field in skipped:
                    continue
                if isinstance(child, ast.stmt):
                    self.statement(child, scope)
                elif isinstance(child, ast.AST):
                    self.expression(child, scope)
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            self.negation(node, scope)

    def negation(self, node: ast.If | ast.While | ast.IfExp, scope: _Scope) -> None:
        def change() -> ast.AST:
            node.test = negated(node.test)
            return node.test

        self.add("branch", node.test, change, scope)

    def expression(self, node: ast.AST, scope: _Scope) -> None:
        """Add the changes of an expression, or of another node that is not a statement."""
        if isinstance(node, ast.JoinedStr):
            return
        if isinstance(node, ast.Lambda):
            self.defaults(node.args, scope)
            table = scope.in_table or scope.at_import
            lines = lines_of([node.body])
            self.expression(node.body, replace(scope, lines=lines, at_import=False, in_table=table))
            return
        if isinstance(node, ast.keyword) and node.arg in {name for _, name in WITHOUT_EFFECT}:
            return
        if isinstance(node, ast.Call):
            if name_of(node.func) in OF_TYPES:
                for child in node.args[:1]:
                    self.expression(child, scope)
                return
            self.arguments(node, scope)
        elif isinstance(node, ast.BinOp):
            if not (_is_text(node.left) or _is_text(node.right)):
                self.operator(node, scope)
        elif isinstance(node, ast.UnaryOp):
            if isinstance(node.op, ast.USub):
                self.set_operator("arithmetic", node, ast.UAdd(), scope)
        elif isinstance(node, ast.BoolOp):
            self.set_operator("branch", node, ast.Or() if isinstance(node.op, ast.And) else ast.And(), scope)
        elif isinstance(node, ast.Compare):
            for index in range(len(node.ops)):
                self.comparison(node, index, scope)
        elif isinstance(node, ast.comprehension):
            for index in range(len(node.ifs)):
                self.filter(node, index, scope)
        elif isinstance(node, ast.Constant):
            self.number("constant", node, scope)
        self.children(node, scope)

    def operator(self, node: ast.BinOp | ast.AugAssign, scope: _Scope) -> None:
        # Outside functions `|` combines types.
        if not (scope.at_import and isinstance(node.op, ast.BitOr)):
            self.set_operator("arithmetic", node, ARITHMETIC[type(node.op)](), scope)

    def set_operator(self, kind: str, node: ast.AST, operator: ast.AST, scope: _Scope) -> None:
        def change() -> ast.AST:
            node.op = operator  # type: ignore[attr-defined]  # each caller's node has one
            return node

        self.add(kind, node, change, scope)

    def comparison(self, node: ast.Compare, index: int, scope: _Scope) -> None:
        def change() -> ast.AST:
            node.ops[index] = COMPARISON[type(node.ops[index])]()
            return node

        self.add("comparison", node, change, scope)

    def filter(self, node: ast.comprehension, index: int, scope: _Scope) -> None:
        def change() -> ast.AST:
            node.ifs[index] = negated(node.ifs[index])
            return node.ifs[index]

        self.add("branch", node.ifs[index], change, scope)

    def number(self, kind: str, node: ast.Constant, scope: _Scope) -> None:
        value = _changed_number(node.value)
        if value is None:
            return

        def change() -> ast.AST:
            node.value = value  # type: ignore[assignment]  # of the same type
            return node

        self.add(kind, node, change, scope)

    def defaults(self, arguments: ast.arguments, scope: _Scope) -> None:
        for node in [*arguments.defaults, *arguments.kw_defaults]:
            for constant in ast.walk(node) if node else ():
                if isinstance(constant, ast.Constant):
                    self.number("argument", constant, scope)

    def arguments(self, node: ast.Call, scope: _Scope) -> None:
        called = name_of(node.func)
        last = len(node.args) - 2
        for index in range(last + 1):
            pair = node.args[index : index + 2]
            starred = any(isinstance(argument, ast.Starred) for argument in pair)
            # A function's own name, and that of an argument, are texts of an error.
            of_texts = _is_text(pair[1]) and (
                _is_text(pair[0]) or (index and called.startswith(("check_", "ints_for")))
            )
            same = ast.dump(pair[0]) == ast.dump(pair[1]) or (called in COMMUTATIVE and index == last)
            if not (starred or of_texts or same):
                self.swap(node, index, scope)
        for keyword in node.keywords:
            if keyword.arg is not None and (called, keyword.arg) not in WITHOUT_EFFECT:
                self.drop(node, keyword, scope)

    def swap(self, node: ast.Call, index: int, scope: _Scope) -> None:
        def change() -> ast.AST:
            node.args[index], node.args[index + 1] = node.args[index + 1], node.args[index]
            return node

        self.add("argument", node, change, scope)

    def drop(self, node: ast.Call, keyword: ast.keyword, scope: _Scope) -> None:
        def change() -> ast.AST:
            node.keywords.remove(keyword)
            return node

        self.add("argument", node, change, scope)


def negated(node: ast.expr) -> ast.expr:
    """Return the condition with a `not` added or removed."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    return ast.copy_location(ast.UnaryOp(ast.Not(), node), node)


def small_faults(tree: ast.Module) -> list[Change]:
    """Return all changes of the file, in a fixed order."""
    return _Finder(tree).changes


def outermost_functions(nodes: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, FunctionNode]]:
    """Yield functions and methods with their qualified names, without nested functions."""
    for node in nodes:
        if isinstance(node, FunctionNode):
            yield f"{owner}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            if "Protocol" not in {name_of(getattr(base, "value", base)) for base in node.bases} | {
                name_of(base) for base in node.bases
            }:
                yield from outermost_functions(node.body, f"{owner}{node.name}.")
        elif not is_type_checking(node):
            for field in ("body", "orelse", "finalbody"):
                yield from outermost_functions(getattr(node, field, []), owner)
