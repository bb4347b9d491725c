"""Source of a failing line: the expressions of its arguments, and the statement that last assigned a variable."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any

from .stack import Level, Position

__all__ = ["Assignment", "SourceLine", "source_of_level"]

_LONGEST = 60
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class _Tree:
    """Syntax tree of a file.

    Args:
        module: the tree.

    Attributes:
        module: the tree.
        parents: the parent of each node.
        by_position: the outermost expression or statement at each position.
    """

    def __init__(self, module: ast.Module) -> None:
        self.module = module
        self.parents: dict[ast.AST, ast.AST] = {}
        self.by_position: dict[Position, ast.AST] = {}
        for node in ast.walk(module):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
            if isinstance(node, ast.expr | ast.stmt) and not isinstance(node, ast.Expr):
                position = node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0
                self.by_position.setdefault(position, node)


class Assignment:
    """The statement that assigned a variable last before a line.

    Args:
        statement: the statement.
        value: its right-hand side.
        lines: the lines of the file.

    Attributes:
        is_whole: whether the variable holds the complete value, not an entry of it.
    """

    def __init__(self, statement: ast.stmt, value: ast.expr, lines: Sequence[str]) -> None:
        self.statement = statement
        self.line = statement.lineno
        self.value = value
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        self.is_whole = any(isinstance(target, ast.Name) for target in targets)
        self.text = shortened(lines, statement)


class SourceLine:
    """A failing line of a file.

    Args:
        tree: the syntax tree of the file.
        lines: its lines.
        level: the level of the traceback.

    Attributes:
        statement: the statement that failed.
        node: the expression that failed.
    """

    def __init__(self, tree: _Tree, lines: Sequence[str], level: Level) -> None:
        self._lines = lines
        self._parents = tree.parents
        self.node = None if level.position is None else tree.by_position.get(level.position)
        self.statement = self._statement(tree.module, level.line)

    def _statement(self, tree: ast.Module, line: int) -> ast.stmt | ast.expr | None:
        if self.node is not None:
            node: ast.AST | None = self.node
            while node is not None and not isinstance(node, ast.stmt):
                parent = self._parents.get(node)
                if isinstance(parent, ast.Lambda) and node is parent.body and isinstance(node, ast.expr):
                    return node  # the body of a lambda takes the place of a statement
                node = parent
            return node
        around = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node.lineno <= line <= _end(node)]
        return max(around, key=lambda node: (node.lineno, -_end(node)), default=None)

    def text(self, node: ast.AST) -> str:
        """Return the source of an expression in one line, shortened."""
        return shortened(self._lines, node)

    def first_line(self, statement: ast.stmt | ast.expr) -> str:
        """Return the source of a statement without the block that it may begin, in one line, shortened."""
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body:
            header = self._header_text(statement)
            text = " ".join(self._lines[statement.lineno - 1 : max(body[0].lineno - 1, statement.lineno)])
            return header or _cut(" ".join(text.split()))
        return self.text(statement)

    def _header_text(self, statement: ast.stmt | ast.expr) -> str:
        """Return the first part of an if, while or for, up to its colon; "" for other statements."""
        if not isinstance(statement, ast.If | ast.While | ast.For):
            return ""
        last = statement.iter if isinstance(statement, ast.For) else statement.test
        header = ast.Pass(**_span(statement, last))
        return f"{shortened(self._lines, header)}:"

    def names(self) -> list[str]:
        """Return the variables that the failing statement reads, in the order of its text."""
        if self.statement is None:
            return []
        loads = [
            node
            for node in (self.statement, *self._inner(self.statement))
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        ]
        return list(dict.fromkeys(node.id for node in sorted(loads, key=lambda node: (node.lineno, node.col_offset))))

    def attributes(self) -> list[ast.Attribute]:
        """Return the attributes of variables that the failing statement reads."""
        if self.statement is None:
            return []
        return [
            node
            for node in self._inner(self.statement)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        ]

    def _inner(self, node: ast.AST) -> Iterator[ast.AST]:
        for name, value in ast.iter_fields(node):
            if isinstance(node, ast.stmt) and name in _BLOCKS:
                continue
            for child in value if isinstance(value, list) else (value,):
                if isinstance(child, ast.AST):
                    yield child
                    yield from self._inner(child)

    def assignment(self, name: str, before: ast.stmt | ast.expr | None = None) -> Assignment | None:
        """Return the statement that certainly assigned a variable last; None if branches or loops leave it open.

        Args:
            name: the variable.
            before: a statement that has run, before which it is looked for; None for the failing statement.
        """
        if any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in self._parents):
            return None
        for earlier, others in self._blocks(before or self.statement):
            for statement in reversed(earlier):
                value = _assigned_value(statement, name)
                if value is not None:
                    return Assignment(statement, value, self._lines)
                if _binds(statement, name):
                    return None
            if any(_binds(other, name) for other in others):
                return None
        return None

    def _blocks(self, innermost: ast.stmt | ast.expr | None) -> Iterator[tuple[list[ast.stmt], list[ast.AST]]]:
        """Yield the blocks around the statement up to its function, innermost first.

        Each is the statements before, which have run in their order, and other code that may have run since.
        """
        node: ast.AST | None = innermost
        while node is not None and not isinstance(node, _SCOPES):
            parent = self._parents.get(node)
            for block in _BLOCKS:
                children = getattr(parent, block, None)
                if parent is None or not isinstance(children, list) or node not in children:
                    continue
                header = [child for child in ast.iter_child_nodes(parent) if not isinstance(child, ast.stmt)]
                others: list[ast.AST] = [] if isinstance(parent, (*_SCOPES, ast.Module)) else header
                if isinstance(parent, ast.For | ast.AsyncFor | ast.While) or block != "body":
                    others = [parent]
                if isinstance(parent, ast.If) and block == "orelse":
                    others = [parent.test]
                yield children[: children.index(node)], others
            node = parent

    def binds_in_function(self, name: str) -> bool:
        """Return whether the function around the statement binds a variable anywhere in its body."""
        node: ast.AST | None = self.statement
        while node is not None and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node = self._parents.get(node)
        return node is None or any(_binds(statement, name) for statement in node.body)

    def bindings(self, name: str) -> list[tuple[int, str, str]]:
        """Return the statements of the function around the failing one that bind a variable.

        Each is its line, its text and the header of the block that it is in; "" for the body of the function. None are
        returned if one may unbind the variable.
        """
        function: ast.AST | None = self.statement
        while function is not None and not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            function = self._parents.get(function)
        if function is None:
            return []
        statements = [node for node in self._own(function) if isinstance(node, ast.stmt)]
        handlers = [node.name for node in self._own(function) if isinstance(node, ast.ExceptHandler)]
        deleted = [item for node in statements if isinstance(node, ast.Delete) for item in ast.walk(node)]
        if name in handlers or any(isinstance(item, ast.Name) and item.id == name for item in deleted):
            return []
        binding = [node for node in statements if _binds_itself(node, name)]
        return [(node.lineno, self.first_line(node), self._header(node)) for node in binding]

    def _own(self, function: ast.AST) -> Iterator[ast.AST]:
        """Yield the nodes of a function's body without those of functions and classes in it."""
        for child in ast.iter_child_nodes(function):
            yield child
            if not isinstance(child, _SCOPES):
                yield from self._own(child)

    def _header(self, statement: ast.stmt) -> str:
        parent = self._parents[statement]
        if not isinstance(parent, ast.If | ast.For | ast.While):
            return ""
        side = "the else of " if statement in parent.orelse else ""
        return f"{side}line {parent.lineno} ({self.first_line(parent)})"

    def rightmost(self, node: ast.AST) -> ast.AST:
        """Return the value that a store is of: for ``x[i] = value``, the value."""
        if isinstance(self.statement, ast.Assign) and any(target is node for target in self.statement.targets):
            return self.statement.value
        return node


def _assigned_value(statement: ast.stmt, name: str) -> ast.expr | None:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    for target in targets:
        items = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        for index, item in enumerate(items):
            if isinstance(item, ast.Name) and item.id == name:
                value: ast.expr = statement.value  # type: ignore[attr-defined]
                pairs = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(items)
                if target is not item and pairs:
                    value = value.elts[index]  # type: ignore[attr-defined]
                return value
    return None


def _binds(node: ast.AST, name: str) -> bool:
    """Return whether a node may bind a variable of its own scope."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name == name
    if isinstance(node, ast.Lambda):
        return False
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.alias):
        return (node.asname or node.name).partition(".")[0] == name
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name == name:
        return True
    return any(_binds(child, name) for child in ast.iter_child_nodes(node))


def _binds_itself(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement may bind a variable apart from the statements in its blocks."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name == name
    inner = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt | ast.ExceptHandler)]
    return any(_binds(child, name) for child in inner)


def _span(first: ast.AST, last: ast.AST) -> dict[str, Any]:
    """Return the attributes of a node that reaches from the begin of one to the end of another."""
    begin = {name: getattr(first, name) for name in ("lineno", "col_offset")}
    return begin | {name: getattr(last, name) for name in ("end_lineno", "end_col_offset")}


def _end(node: ast.AST) -> int:
    end: int | None = getattr(node, "end_lineno", None)
    return end or 0


def shortened(lines: Sequence[str], node: Any) -> str:
    """Return the source of a node in one line, shortened."""
    # Columns of ast count bytes.
    parts = [line.encode() for line in lines[node.lineno - 1 : node.end_lineno]]
    if not parts:
        return ""
    parts[-1] = parts[-1][: node.end_col_offset]
    parts[0] = parts[0][node.col_offset :]
    return _cut(" ".join(b" ".join(parts).decode(errors="replace").split()))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


@functools.lru_cache(maxsize=8)
def _parsed(text: str) -> _Tree | None:
    try:
        return _Tree(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):  # a cell of a notebook with magics, generated code
        return None


def source_of_level(level: Level) -> SourceLine | None:
    """Return the failing line of a level with its syntax tree; None if the source is not that of the code."""
    lines = linecache.getlines(level.code.co_filename)
    tree = _parsed("".join(lines)) if lines else None
    if tree is None:
        return None
    source = SourceLine(tree, [line.rstrip("\n") for line in lines], level)
    code = level.code
    known = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    # A file may have changed since it was imported.
    return source if source.statement is not None and set(source.names()) <= known | _inner_names(code) else None


def _inner_names(code: CodeType) -> set[str]:
    """Return the variables of functions inside a function."""
    names: set[str] = set()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= {*constant.co_names, *constant.co_varnames} | _inner_names(constant)
    return names
