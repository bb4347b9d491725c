"""One change for each function: what it returns is made false, with its type and shape kept.

A function that returns nothing gets an empty body instead.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .places import FunctionNode, Place, lines_of, name_of, outermost_functions

FALSIFIED = "__falsified__"
RETURNS, EMPTIED = "returns", "emptied"


def _wrapped(node: ast.expr) -> ast.expr:
    """`__falsified__(node)`; a lambda that is returned, alone or among others, returns that."""
    if isinstance(node, ast.Lambda):
        node.body = _wrapped(node.body)
        return node
    if isinstance(node, ast.Tuple):
        lambdas = [index for index, one in enumerate(node.elts) if isinstance(one, ast.Lambda)]
        for index in lambdas:
            node.elts[index] = _wrapped(node.elts[index])
        if lambdas:
            return node
    call = ast.Call(ast.Name(FALSIFIED, ast.Load()), [node], [])
    for new in (call, call.func):
        ast.copy_location(new, node)
    return call


def _results(function: FunctionNode) -> Iterator[ast.Return | ast.Yield]:
    """Each return and yield of a value, those of functions inside it too."""
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
        kept = function.body[:1] if ast.get_docstring(function, clean=False) is not None else []
        # Never run, but still read by the compiler: the function keeps the variables that it has from outside.
        never = ast.If(ast.Constant(False), function.body[len(kept) :], [])
        function.body = [*kept, ast.copy_location(never, function.body[-1])]
        return function

    return change


def _does_something(function: FunctionNode) -> bool:
    """Whether its body is more than texts, `...`, `pass` and a refusal."""
    return not all(
        isinstance(node, ast.Pass | ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in function.body
    )


def _tables(tree: ast.Module) -> Iterator[ast.Lambda]:
    """Lambdas outside functions."""
    left: list[ast.AST] = list(tree.body)
    while left:
        node = left.pop(0)
        if isinstance(node, ast.Lambda):
            yield node
        elif not isinstance(node, FunctionNode):
            left.extend(ast.iter_child_nodes(node))


def _falsify_lambda(node: ast.Lambda) -> Callable[[], ast.AST]:
    def change() -> ast.AST:
        return _wrapped(node)

    return change


def functions(tree: ast.Module) -> list[Place]:
    """A place for each function, method and lambda of the file that is not inside another."""
    places = []
    for name, node in outermost_functions(tree.body):
        if "overload" in {name_of(decorator) for decorator in node.decorator_list} or not _does_something(node):
            continue
        lines = lines_of(node.body)
        if any(_results(node)):
            places.append(Place(RETURNS, node, _falsify(node), name, lines, at_import=False))
        else:
            places.append(Place(EMPTIED, node, _empty(node), name, lines, at_import=False))
    for one in sorted(_tables(tree), key=lambda node: (node.lineno, node.col_offset)):
        lines, name = lines_of([one.body]), f"<lambda:{one.lineno}>"
        places.append(Place(RETURNS, one, _falsify_lambda(one), name, lines, at_import=False, in_table=True))
    return places


class Falsifier:
    """What `__falsified__` is while a mutant is tested; `changed` says whether there was anything to change."""

    def __init__(self) -> None:
        self.changed = 0
        self._busy = threading.local()

    def __call__(self, value: Any) -> Any:
        if getattr(self._busy, "now", False):  # making it false may call the mutated function
            return value
        self._busy.now = True
        try:
            new = falsified(value)
        except Exception:  # a type that knows no arithmetic is an object like others: it is kept
            return value
        finally:
            self._busy.now = False
        self.changed += new is not value
        return new


def falsified(value: Any) -> Any:
    """Another value of the same type and shape; the same object where there is none."""
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
        for index, one in enumerate(value):
            new = falsified(one)
            if new is not one:
                items = [*value[:index], new, *value[index + 1 :]]
                return items if kind is list else tuple(items) if kind is tuple else kind(*items)
        return value
    if kind is dict:
        for key, one in value.items():
            new = falsified(one)
            if new is not one:
                return {**value, key: new}
        return value
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _array(value)
    return value


def _array(value: Any) -> Any:
    """An array or tensor of any library with other numbers; the same one where arithmetic would make something else."""
    import numpy as np  # not at the top: the tests say with how many threads

    if 0 in value.shape:
        return value
    name = str(value.dtype).lower()
    if "bool" in name:
        new = value == (value != value)  # that is, `not value`
    elif "int" in name:
        new = value + 1
    else:
        new = value * 1.25 + 0.5
    if isinstance(value, np.ndarray):  # one without dimensions has become a scalar, one of Float16 perhaps wider
        new = np.asarray(new, value.dtype)
    same = type(new) is type(value) and new.dtype == value.dtype and new.shape == value.shape
    return new if same else value
