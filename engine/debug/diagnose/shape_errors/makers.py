"""Maker of a value: the cell or the function whose call was assigned to a variable, and why it returned None."""

from __future__ import annotations

import ast
import inspect
import textwrap
from types import FunctionType

from hookscope.engine.nn.cell import Cell

from .operands import Operands
from .stack import RunningCell

__all__ = ["maker_name", "maker_of", "reason_of_none", "without_value"]

Maker = Cell | FunctionType


def maker_of(name: str, operands: Operands) -> Maker | None:
    """Return what was called for the value of a variable.

    Args:
        name: the variable; "" for the only argument of the failing call.
        operands: the names of arrays.
    """
    source = operands.source
    assignment = None if source is None or not name else source.assignment(name)
    if assignment is not None and not assignment.is_whole:
        return None  # the call returned a tuple, of which the variable is an entry
    node: ast.AST | None = None if assignment is None else assignment.value
    if node is None and source is not None and isinstance(source.node, ast.Call) and len(source.node.args) == 1:
        node = source.node.args[0]
    if not isinstance(node, ast.Call):
        return None
    callee = operands.value_of(node.func)
    if callee is None and isinstance(node.func, ast.Attribute):
        owner = operands.value_of(node.func.value)
        if issubclass(type(owner), Cell):  # a method, which is none of the attributes that a cell stores
            callee = inspect.getattr_static(type(owner), node.func.attr, None)
    if type(callee) is FunctionType:
        return callee if callee.__code__.co_name == callee.__name__ != "<lambda>" else None  # not a decorator's
    return callee if issubclass(type(callee), Cell) else None  # type: ignore[return-value]


def maker_name(maker: Maker, operands: Operands) -> str:
    """Return the path of a cell, or the name of a function."""
    return maker.__name__ if type(maker) is FunctionType else operands.origins.path_of(maker)


def without_value(maker: Maker, operands: Operands) -> str:
    """Return how a call may end without a value, one sentence; "" if each path seems to return one."""
    is_function = type(maker) is FunctionType
    code = getattr(maker if is_function else type(maker).construct, "__code__", None)  # type: ignore[union-attr]
    if code is None:
        return ""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return ""
    name = maker_name(maker, operands)
    subject = name if is_function else f"The construct of {name}"
    if not any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(tree)):
        return f"{subject} has no return statement with a value"
    function = tree.body[0]
    if isinstance(function, ast.FunctionDef) and _may_fall_through(function.body):
        return f"{subject} has a path that ends without a return statement"
    return ""


def _may_fall_through(body: list[ast.stmt]) -> bool:
    """Return whether a block certainly has a path to its end; False if that is not clear."""
    last = body[-1]
    if isinstance(last, ast.If):
        return not last.orelse or _may_fall_through(last.body) or _may_fall_through(last.orelse)
    if isinstance(last, ast.With):
        return _may_fall_through(last.body)
    return isinstance(last, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.For)


def reason_of_none(name: str, operands: Operands) -> str:
    """Return why a variable is None: what returned it, or its default if the call passed none."""
    running = operands.stack.cells[-1] if operands.stack.cells else None
    if running is None or running.part != "construct" or operands.source is None:
        maker = maker_of(name, operands)
        return "" if maker is None else f"; {maker_name(maker, operands)} returned it"
    maker = None if operands.source.assignment(name) is None else maker_of(name, operands)
    if maker is not None:
        return f"; {maker_name(maker, operands)} returned it"
    return "; it is the default, and the call passes none" if _is_default(name, running, operands) else ""


def _is_default(name: str, running: RunningCell, operands: Operands) -> bool:
    """Return whether a variable is an argument of a running construct that its call left out."""
    stack = operands.stack
    function = type(running.cell).construct
    written = stack.written
    if written is None or getattr(function, "__code__", None) is not written.code or operands.source is None:
        return False
    variables = stack.levels[running.index].variables
    parameters = list(inspect.signature(function).parameters.values())[1:]
    for position, parameter in enumerate(parameters):
        if parameter.name == name:
            passed = len(variables.get("args", ())) > position or name in variables.get("kwargs", ())  # type: ignore[arg-type, operator]
            return parameter.default is None and not passed and not operands.source.binds_in_function(name)
    return False
