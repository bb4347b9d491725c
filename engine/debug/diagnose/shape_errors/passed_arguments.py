"""Expression that a caller in the user's code passed for an argument of the function that failed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FunctionType

from hookscope.engine.nn.cell import Cell

from .source import source_of_level
from .stack import ErrorStack, Level

__all__ = ["passed_as"]

_VARIADIC = 4 | 8  # co_flags of *args and **kwargs


def passed_as(name: str, stack: ErrorStack, value_of: Callable[[ast.AST, Level], object]) -> str:
    """Return "passed in line 12 as ..." for an argument of the user's innermost function; "" if it is not certain.

    A variable that is passed says nothing new, and has no text either.

    Args:
        name: the argument.
        stack: the stack of the exception.
        value_of: returns the value of a variable or of an attribute of a cell at a level.
    """
    written = stack.written
    if written is None or written is not stack.user or written.code.co_flags & _VARIADIC:
        return ""
    arguments = written.code.co_varnames[: written.code.co_argcount]
    outer = next((level for level in reversed(stack.levels[: stack.user_index]) if not level.is_engine), None)
    source = None if outer is None else source_of_level(outer)
    if name not in arguments or outer is None or source is None or not isinstance(source.node, ast.Call):
        return ""
    node, position = source.node, arguments.index(name)
    callee = value_of(node.func, outer)
    if stack.levels[stack.user_index - 1] is outer:
        if type(callee) is not FunctionType or callee.__code__ is not written.code:
            return ""
    else:
        position -= 1
        running = stack.cells[-1] if stack.cells else None
        construct = None if running is None else getattr(type(running.cell).construct, "__code__", None)
        if running is None or running.cell is not callee or construct is not written.code or _is_changed(running.cell):
            return ""
    if position < 0 or any(isinstance(argument, ast.Starred) for argument in node.args):
        return ""
    by_keyword = {keyword.arg: keyword.value for keyword in node.keywords}
    expression = node.args[position] if position < len(node.args) else by_keyword.get(name)
    if expression is None or isinstance(expression, ast.Name | ast.Constant):
        return ""
    return f"passed in line {expression.lineno} as {source.text(expression)}"


def _is_changed(cell: Cell) -> bool:
    """Return whether a hook may have replaced the arguments of a cell's call."""
    return bool(cell._hooks["forward_pre"])
