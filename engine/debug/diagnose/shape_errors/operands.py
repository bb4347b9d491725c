"""Operands of a failing call: the name that the user's line has for each, its shape, its dtype and its origin."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

from hookscope.engine import ops
from hookscope.engine.base.code_origin import is_engine
from hookscope.engine.nn.cell import Cell
from hookscope.engine.tensors.operator import Operator
from hookscope.engine.tensors.tensor import Tensor

from ...inert_reads import array_of, is_tensor
from .origins import Origins, inputs_of, shape_text
from .passed_arguments import passed_as
from .source import Assignment, SourceLine, source_of_level
from .stack import ErrorStack, Level, arrays_in

__all__ = ["Operands", "attribute_of", "dtype_text"]

_MOST_ASSIGNMENTS = 3
_REDUCTIONS = ("mean", "sum", "max", "min", "amax", "amin", "prod", "std", "var", "norm", "logsumexp")
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class Operands:
    """Names of the arrays in a failing call.

    Args:
        stack: the stack of the exception.
        origins: the origins of arrays.
        shapes: the shapes of each cell's last output, by path.

    Attributes:
        stack: the stack of the exception.
        origins: the origins of arrays.
        source: the user's failing line; None if its source is not available.
    """

    def __init__(self, stack: ErrorStack, origins: Origins, shapes: Mapping[str, Sequence[Any]]) -> None:
        self.stack = stack
        self._shapes = shapes
        self.origins = origins
        self.source: SourceLine | None = None if stack.written is None else source_of_level(stack.written)
        self._labels: dict[int, tuple[Any, str]] = {}
        self._tensors: dict[int, Any] = {}
        self._variables: dict[int, str] = {}
        self._expressions: dict[int, ast.expr] = {}
        self._add_expressions()
        self._add_variables()
        self._add_arguments()

    # Labels

    def _add(self, value: Any, label: str, variable: str = "") -> None:
        if not is_tensor(value):
            return
        array = array_of(value)
        if id(array) not in self._labels:
            self._labels[id(array)] = (array, label)
            if variable:
                self._variables[id(array)] = variable
        self._tensors.setdefault(id(array), value)

    def value_of(self, node: ast.AST, level: Level | None = None) -> object:
        """Return the value of a variable or of an attribute of a cell, read without user code; None if unknown.

        Args:
            node: the expression. It may also be a number that is computed from such numbers, or the shape of a tensor.
            level: the level of the traceback; None for that of the user's line.
        """
        level = level or self.stack.written
        if level is None:
            return None
        if isinstance(node, ast.Name):
            for namespace in (level.variables, level.frame.f_globals, vars(builtins)):
                if node.id in namespace:
                    return namespace[node.id]
            return None
        if isinstance(node, ast.Attribute):
            return attribute_of(self.value_of(node.value, level), node.attr)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Subscript):
            return _item_of(self.value_of(node.value, level), self.value_of(node.slice, level))
        if isinstance(node, ast.Tuple):
            items = tuple(self.value_of(item, level) for item in node.elts)
            return items if all(type(item) is int for item in items) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.value_of(node.operand, level)
            return -value if type(value) in (int, float) else None  # type: ignore[operator]
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            values = self.value_of(node.left, level), self.value_of(node.right, level)
            return _ARITHMETIC[type(node.op)](*values) if _are_numbers(*values) else None
        return None

    def is_variable(self, name: str) -> bool:
        """Return whether the function of the user's line has a variable of this name that is set."""
        return self.stack.written is not None and name in self.stack.written.variables

    def _add_expressions(self) -> None:
        """Name the arguments of the failing call by their expressions."""
        entry, source = self.stack.entry, self.source
        if entry is None or source is None or source.node is None:
            return
        for node, value in self._arguments(source.node, entry):
            known = self.value_of(node)
            if known is None or known is value or (is_tensor(known) and is_tensor(value) and _is_same(known, value)):
                self._pair(source, node, value)  # otherwise the function has assigned its argument again

    def _arguments(self, node: ast.AST, entry: Level) -> Iterator[tuple[ast.expr, Any]]:
        """Yield the expressions of the failing call, each with its value in the function of the engine."""
        values = _positional(entry.arguments)
        if isinstance(node, ast.Call):
            kind = self._kind_of_call(node, entry, values)
            if kind == "method" and isinstance(node.func, ast.Attribute):
                yield node.func.value, values[0]
            if kind in ("method", "callable"):
                values = values[1:]
            if not kind or any(isinstance(argument, ast.Starred) for argument in node.args):
                return
            yield from zip(node.args, values)  # noqa: B905  # optional arguments are missing
            keywords = {**entry.arguments, **_keywords(entry.arguments)}
            for keyword in node.keywords:
                if keyword.arg in keywords:
                    yield keyword.value, keywords[keyword.arg]
        elif isinstance(node, ast.BinOp | ast.AugAssign) and len(values) >= 2:
            left = node.left if isinstance(node, ast.BinOp) else node.target
            right = node.right if isinstance(node, ast.BinOp) else node.value
            first, second = values[:2]
            if self.value_of(right) is first or (
                isinstance(left, ast.Constant) and not isinstance(right, ast.Constant)
            ):
                first, second = second, first  # a reflected operator
            elif not is_tensor(second) and self.value_of(left) is not first:
                return
            yield left, first
            yield right, second
        elif isinstance(node, ast.Compare) and len(node.comparators) == 1 and len(values) >= 2:
            if self.value_of(node.left) is values[0]:
                yield node.left, values[0]
                yield node.comparators[0], values[1]
        elif isinstance(node, ast.Subscript) and values:
            if isinstance(node.ctx, ast.Load):
                yield node.value, values[0]
            elif self.source is not None:
                yield node.value, values[0]
                stored = self.source.rightmost(node)
                if stored is not node and isinstance(stored, ast.expr):
                    yield stored, values[-1]

    def _kind_of_call(self, node: ast.Call, entry: Level, values: list[Any]) -> str:
        """Return how a call leads to a function of the engine: "function", "method" of a tensor, "callable" or "".

        A call of something else may lead there too, with other arguments: ``reduce(ops.add, tensors)``.
        """
        function, owner = self.value_of(node.func), entry.arguments.get("self")
        if function is not None:
            if type(function) is FunctionType and function.__code__ is entry.code:
                return "function"
            return "callable" if function is owner and issubclass(type(function), Cell | Operator) else ""
        if issubclass(type(owner), Cell) and entry.code is Cell.__call__.__code__:
            same_count = len(node.args) == len(entry.arguments.get("args", ()))
            same_keywords = {keyword.arg for keyword in node.keywords} == set(_keywords(entry.arguments))
            return "callable" if same_count and same_keywords else ""
        if isinstance(node.func, ast.Attribute) and values and is_tensor(values[0]):
            receiver, name = self.value_of(node.func.value), node.func.attr
            is_method = getattr(getattr(Tensor, name, None), "__code__", None) is entry.code
            is_function = getattr(getattr(ops, name, None), "__code__", None) is entry.code
            if is_method and (receiver is values[0] or (receiver is None and not is_function)):
                return "method"
        return ""

    def _pair(self, source: SourceLine, node: ast.expr, value: Any) -> None:
        if is_tensor(value):
            self._add(value, source.text(node), node.id if isinstance(node, ast.Name) else "")
            self._expressions.setdefault(id(array_of(value)), node)
        elif type(value) in (tuple, list):
            if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(value):
                for element, item in zip(node.elts, value, strict=True):
                    self._pair(source, element, item)
            else:
                for index, item in enumerate(value):
                    self._add(item, f"entry {index} of {source.text(node)}")

    def _add_variables(self) -> None:
        """Name tensors by the variables of the user's function, those of the failing statement first."""
        level, source = self.stack.written, self.source
        if level is None:
            return
        names = [] if source is None else source.names()
        for name in dict.fromkeys([*names, *level.variables]):
            value = level.variables.get(name, level.frame.f_globals.get(name) if name in names else None)
            self._add(value, name, name)
            if type(value) in (tuple, list):
                for index, item in enumerate(value[:100]):  # type: ignore[index]
                    self._add(item, f"{name}[{index}]")
        for node in [] if source is None else source.attributes():
            self._add(self.value_of(node), source.text(node))  # type: ignore[union-attr]

    def _add_arguments(self) -> None:
        """Name tensors that the failing cell got by its arguments."""
        for running in reversed(self.stack.cells[-1:]):
            if running.part == "construct":
                variables = self.stack.levels[running.index].variables
                for text, value in inputs_of(running.cell, variables, self.origins.path_of(running.cell)):
                    self._add(value, text)

    # Queries

    def label(self, array: Any, role: str = "") -> str:
        """Return the name of an array: a parameter's, the user's, or else ``role``."""
        name = self.origins.parameter_of(array)
        if name:
            return name
        held, label = self._labels.get(id(array), (None, ""))
        return label if held is array else role

    def line(self, array: Any, role: str = "") -> str:
        """Return a line on an array: its name, shape, dtype and origin."""
        label = self.label(array, role)
        text = f"{label}: {shape_text(array)} {dtype_text(array)}"
        tensor = self._tensors.get(id(array))
        origin = self.origins.of_array(array) if tensor is None else self.origins.of_tensor(tensor)
        if origin is not None and origin.text == f"the parameter {label}":
            return f"{text}, a parameter"
        if origin is not None and origin.text == label:
            return text
        variable = self._variables.get(id(array), "")
        alias = "" if variable else self._variable_of_entry(array, label)
        details = [f"the value of {alias}"] if alias else []
        details += [] if origin is None else [origin.text]
        if variable and (origin is None or not origin.is_source) and self.source is not None:
            details += self._course_of(variable)
        if origin is None and not variable:
            details += self._source_of_expression(array)
        return f"{text}, {'; '.join(details)}" if details else text

    def _variable_of_entry(self, array: Any, label: str) -> str:
        """Return the variable that holds an entry of a list as well; "" if none does."""
        level = self.stack.written
        if level is None or not label.startswith("entry "):
            return ""
        names = [name for name, value in level.variables.items() if is_tensor(value) and array_of(value) is array]
        return names[0] if names else ""

    def _source_of_expression(self, array: Any) -> list[str]:
        """Return the variable that an expression is computed from, with its shape and the line that assigned it."""
        node = self._expressions.get(id(array))
        if node is None or self.source is None:
            return []
        names = {item.id for item in ast.walk(node) if isinstance(item, ast.Name) and self.may_be_tensor(item.id)}
        if len(names) != 1:
            return []
        name = names.pop()
        source = array_of(self.value_of(ast.Name(name)))
        course = self._course_of(name, name)
        is_new = bool(course) or source.shape != array.shape
        return [f"computed from {name} {shape_text(source)}", *course] if is_new else []

    def named_arrays(self) -> list[Any]:
        """Return the arrays that the user's line has a name for."""
        return [array for array, _ in self._labels.values()]

    def expression_of(self, argument: str) -> str:
        """Return what the user's line passes for an argument of the engine's function; "" if it is a constant."""
        entry, source = self.stack.entry, self.source
        if entry is None or source is None or not isinstance(source.node, ast.Call):
            return ""
        if any(isinstance(node, ast.Starred) for node in source.node.args):
            return ""
        names = list(entry.arguments)
        by_name = dict(zip(names[names[:1] == ["self"] :], source.node.args, strict=False))
        by_name |= {str(keyword.arg): keyword.value for keyword in source.node.keywords}
        node = by_name.get(argument) if argument in entry.arguments else None
        return "" if node is None or isinstance(node, ast.Constant) else source.text(node)

    def reduction_of(self, array: Any, source: Any) -> tuple[str, tuple[int, ...]] | None:
        """Return the reduction of one array that computed another: its name and axes; None if it is no such result."""
        node = self._expressions.get(id(array))
        assignment = None
        if isinstance(node, ast.Name) and self.source is not None:
            assignment = self.source.assignment(node.id)
            node = None if assignment is None else assignment.value
        if (
            not isinstance(node, ast.Call)
            or not isinstance(node.func, ast.Attribute)
            or node.func.attr not in _REDUCTIONS
        ):
            return None
        receiver, arguments = self.value_of(node.func.value), node.args
        if not is_tensor(receiver) and arguments:
            receiver, arguments = self.value_of(arguments[0]), arguments[1:]
        if not is_tensor(receiver) or array_of(receiver) is not source:
            return None
        if assignment is not None and not self._is_as_before(assignment):
            return None
        nodes = [*arguments[:1], *(keyword.value for keyword in node.keywords if keyword.arg in ("axis", "dim"))]
        value = self.value_of(nodes[0]) if nodes else None
        axes = value if type(value) is tuple else (value,)
        if not all(type(axis) is int and -source.ndim <= axis < source.ndim for axis in axes):
            return None
        return node.func.attr, tuple(sorted(axis % source.ndim for axis in axes))

    def _is_as_before(self, assignment: Assignment) -> bool:
        """Return whether each variable that a statement read has the value that it had then."""
        assert self.source is not None
        for name in {node.id for node in ast.walk(assignment.value) if isinstance(node, ast.Name)}:
            now, then = self.source.assignment(name), self.source.assignment(name, assignment.statement)
            is_bound = now is None and self.is_variable(name) and self.source.binds_in_function(name)
            if is_bound or (now and now.line) != (then and then.line):
                return False
        return True

    def _course_of(self, variable: str, label: str = "assigned") -> list[str]:
        """Return the statements that assigned a variable, as far as each was computed from one variable.

        Args:
            variable: the variable.
            label: what the first statement is introduced with.
        """
        assert self.source is not None
        texts: list[str] = []
        assignment = self.source.assignment(variable)
        while assignment is not None and len(texts) < _MOST_ASSIGNMENTS:
            texts.append(f"{variable if texts else label} in line {assignment.line}: {assignment.text}")
            value = assignment.value
            cell = self.value_of(value.func) if isinstance(value, ast.Call) else None
            if issubclass(type(cell), Cell):
                path = self.origins.path_of(cell)  # type: ignore[arg-type]
                shapes = self._shapes.get(path, ())
                if shapes:
                    texts.append(f"{path} last returned {' and '.join(str(tuple(shape)) for shape in shapes)}")
                break
            names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name) and self.may_be_tensor(node.id)}
            if len(names) != 1:
                break
            variable = names.pop()
            assignment = self.source.assignment(variable, assignment.statement)
        if not texts and not self.source.binds_in_function(variable):
            passed = passed_as(variable, self.stack, self.value_of)
            texts += [passed] if passed else []
        return texts

    def may_be_tensor(self, name: str) -> bool:
        """Return whether a variable is a local one that is not a cell, a module or a function."""
        level = self.stack.written
        value = None if level is None else level.variables.get(name)
        return is_tensor(value)

    def known(self, array: Any) -> bool:
        """Return whether an array has a name."""
        return bool(self.label(array))

    def in_statement(self) -> list[Any]:
        """Return the arrays of the variables and attributes that the failing statement reads."""
        level, source = self.stack.written, self.source
        if level is None or source is None:
            return []
        values = [level.variables.get(name, level.frame.f_globals.get(name)) for name in source.names()]
        values += [self.value_of(node) for node in source.attributes()]
        arrays = [array for value in values for array in arrays_in(value, 1)]
        return list({id(array): array for array in arrays}.values())


def _positional(arguments: dict[str, Any]) -> list[Any]:
    """Return the arguments in order, with those of ``*args`` written out."""
    values: list[Any] = []
    for name, value in arguments.items():
        if name in ("args", "operands") and type(value) is tuple:
            values.extend(value)
        elif name not in ("kwargs", "attrs"):
            values.append(value)
    return values


def _keywords(arguments: dict[str, Any]) -> dict[str, Any]:
    keywords = arguments.get("kwargs")
    return keywords if type(keywords) is dict else {}


def _is_same(first: Any, second: Any) -> bool:
    return array_of(first) is array_of(second)


def attribute_of(value: object, name: str) -> object:
    """Return an attribute that a cell stores, a name in a module of the engine or a tensor's shape; None if none is."""
    if issubclass(type(value), Cell):
        return object.__getattribute__(value, "__dict__").get(name)
    if is_tensor(value) and name in ("shape", "ndim"):
        array = array_of(value)
        return tuple(array.shape) if name == "shape" else array.ndim
    if type(value) is ModuleType and is_engine(value.__dict__.get("__file__") or ""):
        return getattr(value, name, None)
    return None


def dtype_text(array: Any) -> str:
    """Return MindSpore's name of an array's dtype."""
    return str(Tensor._wrap(array).dtype)


def _are_numbers(first: object, second: object) -> bool:
    """Return whether two values are plain numbers, and the second can divide the first."""
    return type(first) in (int, float) and type(second) in (int, float) and second != 0


def _item_of(value: object, index: object) -> object:
    """Return an item of a plain list, tuple or dictionary; None if there is none."""
    if type(value) in (list, tuple) and type(index) is int and -len(value) <= index < len(value):  # type: ignore[arg-type]
        return value[index]  # type: ignore[index]
    if type(value) is dict and type(index) in (str, int):
        return value.get(index)
    return None
