"""One change for each function: its result is falsified, with its type and shape kept.

A function without a result gets an empty body instead.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .changes import Change, FunctionNode, lines_of, name_of, outermost_functions

FALSIFIED = "__falsified__"
RETURNS, EMPTIED = "returns", "emptied"


def _wrapped(node: ast.expr) -> ast.expr:
    """Return `__falsified__(node)`; for lambdas in the result, wrap their bodies instead."""
    if isinstance(node, ast.Lambda):
        node.body = _wrapped(node.body)
        return node
    if isinstance(node, ast.Tuple):
        lambdas = [index for index, element in enumerate(node.elts) if isinstance(element, ast.Lambda)]
        for index in lambdas:
            node.elts[index] = _wrapped(node.elts[index])
        if lambdas:
            return node
    call = ast.Call(ast.Name(FALSIFIED, ast.Load()), [node], [])
    for new in (call, call.func):
        ast.copy_location(new, node)
    return call


def _results(function: FunctionNode) -> Iterator[ast.Return | ast.Yield]:
    """Yield each return and yield of a value, including those of nested functions."""
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            value = node.value
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield node


def _falsify(function: FunctionNode) -> Callable[[], ast.AST]:
    def change() -> ast.AST:
        for node in list(_results(function)):
            if node.value is not None:
                node.value = _wrapped(node.value)
        return function

    return change


def _empty(function: FunctionNode) -> Callable[[], ast.AST]:
    def change() -> ast.AST:
        docstring = function.body[:1] if ast.get_docstring(function, clean=False) is not None else []
        # Never run, but still compiled, so that the function keeps its free variables.
        never = ast.If(ast.Constant(False), function.body[len(docstring) :], [])
        function.body = [*docstring, ast.copy_location(never, function.body[-1])]
        return function

    return change


def _does_something(function: FunctionNode) -> bool:
    """Return whether a function's body has more than texts, `...`, `pass` and a raise."""
    return not all(
        isinstance(node, ast.Pass | ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in function.body
    )


def _tables(tree: ast.Module) -> Iterator[ast.Lambda]:
    """Yield lambdas outside functions."""
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Lambda):
            yield node
        elif not isinstance(node, FunctionNode):
            pending.extend(ast.iter_child_nodes(node))


def _falsify_lambda(node: ast.Lambda) -> Callable[[], ast.AST]:
    def change() -> ast.AST:
        return _wrapped(node)

    return change


def functions(tree: ast.Module) -> list[Change]:
    """Return a change for each function, method and lambda of the file that is not nested in another."""
    changes = []
    for name, node in outermost_functions(tree.body):
        if "overload" in {name_of(decorator) for decorator in node.decorator_list} or not _does_something(node):
            continue
        lines = lines_of(node.body)
        if any(_results(node)):
            changes.append(Change(RETURNS, node, _falsify(node), name, lines, at_import=False))
        else:
            changes.append(Change(EMPTIED, node, _empty(node), name, lines, at_import=False))
    for table_entry in sorted(_tables(tree), key=lambda node: (node.lineno, node.col_offset)):
        lines, name = lines_of([table_entry.body]), f"<lambda:{table_entry.lineno}>"
        changes.append(
            Change(RETURNS, table_entry, _falsify_lambda(table_entry), name, lines, at_import=False, in_table=True)
        )
    return changes


class Falsifier:
    """Implementation of `__falsified__` while a mutant is tested; `changed` counts actual changes."""

    def __init__(self) -> None:
        self.changed = 0
        self._busy = threading.local()

    def __call__(self, value: Any) -> Any:
        if getattr(self._busy, "now", False):  # falsifying may call the mutated function
            return value
        self._busy.now = True
        try:
            new = falsified(value)
        except Exception:  # a type without arithmetic is kept like other objects
            return value
        finally:
            self._busy.now = False
        self.changed += new is not value
        return new


def falsified(value: Any) -> Any:
    """Return another value of the same type and shape; the same object if there is none."""
    kind = type(value)
    if kind is bool:
        return not value
    if kind is int:
        return value + 1
    if kind is float or kind is complex:
        return value * 1.25 + 0.5
    if kind is str:
        return f"{value}?"
    if kind is tuple or kind is list or (isinstance(value, tuple) and hasattr(value, "_replace")):
        for index, item in enumerate(value):
            new = falsified(item)
            if new is not item:
                items = [*value[:index], new, *value[index + 1 :]]
                return items if kind is list else tuple(items) if kind is tuple else kind(*items)
        return value
    if kind is dict:
        for key, item in value.items():
            new = falsified(item)
            if new is not item:
                return {**value, key: new}
        return value
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _array(value)
    return value


def _array(value: Any) -> Any:
    """Return an array or tensor of any library with other numbers; unchanged if arithmetic would change its type."""
    import numpy as np  # not at the top, since the tests set the number of threads

    if 0 in value.shape:
        return value
    name = str(value.dtype).lower()
    if "bool" in name:
        new = value == (value != value)  # that is, `not value`
    elif "int" in name:
        new = value + 1
    else:
        new = value * 1.25 + 0.5
    if isinstance(value, np.ndarray):  # a zero-dimensional result has become a scalar, a Float16 one perhaps wider
        new = np.asarray(new, value.dtype)
    same = type(new) is type(value) and new.dtype == value.dtype and new.shape == value.shape
    return new if same else value
