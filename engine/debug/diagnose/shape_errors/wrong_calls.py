"""Rules of calls: arguments, keywords and results that are not what a function takes or its caller expects."""

from __future__ import annotations

import ast
import inspect
import re
from types import FunctionType
from typing import Any

from hookscope.engine.base.nearest_name import did_you_mean
from hookscope.engine.nn.cell import Cell

from ...inert_reads import array_of, is_tensor
from .conflict import Conflict
from .kinds import kind_text
from .makers import maker_name, maker_of, without_value
from .operands import Operands
from .origins import shape_text
from .pieces import pieces_text
from .python_error import PythonError
from .stack import arrays_in

__all__ = ["not_callable", "unexpected_keyword", "unpacking", "wrong_arguments", "wrong_gradients", "wrong_operand"]

_STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
_NAME_OF_CLASS = vars(type)["__name__"].__get__  # not the one of a metaclass of the user's
_MOST_NAMES = 12
_WRONG_OPERAND = re.compile(
    r"For '(?P<name>[\w.]+)', '(?P<role>\w+)' must be (?P<allowed>a Tensor(?: or a number)?), but got (?P<kind>\w+)"
)


def wrong_operand(raised: PythonError) -> Conflict | None:
    """An argument that is None, a tuple or an array where a layer or an operator takes a tensor."""
    operands, match = raised.operands, _WRONG_OPERAND.match(raised.message)
    stack = operands.stack
    if match is None:
        return None
    kind = match["kind"]
    arguments = [stack.argument(name) for name in ("x", match["role"])]
    values = [argument for argument in arguments if type(argument).__name__ == kind]
    if not values:
        return None
    value: Any = values[0]
    expression, name = _expression_of(value, operands)
    is_layer = bool(stack.cells) and stack.cells[-1].index > stack.user_index
    receiver = operands.origins.path_of(stack.cells[-1].cell) if is_layer else match["name"]
    label = expression or ("its input" if is_layer else f"its argument {match['role']}")
    text = f"{receiver} takes {match['allowed']}, and {label} is {'None' if value is None else f'a {kind}'}"
    arrays = arrays_in(value)
    if type(value) in (tuple, list) and arrays:
        text += f" of {len(value)} values, {', '.join(_item_text(item) for item in value)}"
    maker = maker_of(name, operands) if name or isinstance(_failing_node(operands), ast.Call) else None
    hint = ""
    if maker is not None:
        text += f", which {maker_name(maker, operands)} returned"
        hint = without_value(maker, operands) if value is None else ""
    if type(value).__module__ == "numpy" and hasattr(value, "shape"):
        text += f" of shape {shape_text(value)}"
        hint = f"Tensor({label}) makes a tensor of it" if expression.isidentifier() else ""
    roles = [(array, f"entry {index} of {label}") for index, array in enumerate(arrays)]
    return Conflict(text, roles or [(array, "operand") for array in operands.in_statement()], hint)


def _failing_node(operands: Operands) -> ast.AST | None:
    return None if operands.source is None else operands.source.node


def _item_text(item: object) -> str:
    return f"a Tensor {shape_text(array_of(item))}" if is_tensor(item) else f"a {type(item).__name__}"


def _expression_of(value: object, operands: Operands) -> tuple[str, str]:
    """Return the expression of an argument of the failing call, and its variable if it is one."""
    source, node = operands.source, _failing_node(operands)
    nodes: list[ast.expr] = []
    if isinstance(node, ast.Call):
        nodes = [*node.args, *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, ast.BinOp):
        nodes = [node.left, node.right]
    elif isinstance(node, ast.AugAssign):
        nodes = [node.value]
    if source is None:
        return "", ""
    for item in nodes:
        is_name = isinstance(item, ast.Name) and operands.is_variable(item.id)
        # None may also be the value of an expression that is not known.
        if operands.value_of(item) is value and (is_name or (value is not None and not isinstance(item, ast.Constant))):
            return source.text(item), item.id if isinstance(item, ast.Name) else ""
    return (source.text(nodes[0]), "") if len(nodes) == 1 else ("", "")


def wrong_arguments(raised: PythonError) -> Conflict | None:
    """A call of a cell whose arguments are not those of its construct."""
    operands = raised.operands
    stack = operands.stack
    if type(raised.error) is not TypeError or ".construct()" not in raised.message or not stack.cells:
        return None
    running = stack.cells[-1]
    if running.part != "construct" or stack.inside:
        return None
    variables = stack.levels[running.index].variables
    arguments, keywords = variables.get("args"), variables.get("kwargs")
    function = type(running.cell).construct
    if type(arguments) is not tuple or type(keywords) is not dict:
        return None
    try:
        signature = inspect.signature(function)
        signature.bind(running.cell, *arguments, **keywords)
    except TypeError:
        pass
    except ValueError:
        return None
    else:
        return None
    parameters = [_STARS.get(item.kind, "") + item.name for item in list(signature.parameters.values())[1:]]
    passed = [f"{len(arguments)} positional argument{'' if len(arguments) == 1 else 's'}", *keywords]
    text = (
        f"the construct of {operands.origins.path_of(running.cell)} takes ({', '.join(parameters)}), and got "
        f"{' and '.join(passed)}"
    )
    required = [
        name
        for name, parameter in list(signature.parameters.items())[1:]
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    missing = [name for name in required[len(arguments) :] if name not in keywords]
    if missing:
        text += f": {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    return Conflict(text, [(array, "argument") for array in arrays_in(arguments)])


_KEYWORD = re.compile(r"(?P<function>[\w.<>]+)\(\) got an unexpected keyword argument '(?P<keyword>\w+)'")


def unexpected_keyword(raised: PythonError) -> Conflict | None:
    """A keyword that a function, or the constructor of a class, does not have."""
    match, node = _KEYWORD.match(raised.message), _failing_node(raised.operands)
    if not raised.is_of_line or match is None or not isinstance(node, ast.Call):
        return None
    callee = raised.operands.value_of(node.func)
    function = callee
    if issubclass(type(callee), type):
        function = inspect.getattr_static(callee, "__init__", None)
    if type(function) is not FunctionType or function.__qualname__ != match["function"]:
        return None
    code = function.__code__
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    names = names[1:] if function is not callee else names
    label = callee.__name__ if type(callee) is FunctionType else _NAME_OF_CLASS(callee)
    rest = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    text = f"{label} takes {', '.join(names[:_MOST_NAMES])}{rest}, and has no argument {match['keyword']}"
    near = did_you_mean(match["keyword"], names).strip("; ?")
    arrays = [(array, "operand") for array in raised.operands.in_statement()]
    return Conflict(text, arrays, f"{near[0].upper()}{near[1:]}?" if near else "")


_CALLABLE = re.compile(r"'(?P<kind>\w+)' object is not callable")


def not_callable(raised: PythonError) -> Conflict | None:
    """A call of a list, a tensor or another value that is none of a layer or a function."""
    match, node = _CALLABLE.match(raised.message), _failing_node(raised.operands)
    source = raised.operands.source
    if not raised.is_of_line or match is None or not isinstance(node, ast.Call) or source is None:
        return None
    value = raised.operands.value_of(node.func)
    if value is None or type(value).__name__ != match["kind"]:
        return None
    label, hint = source.text(node.func), ""
    text = f"{label} is {kind_text(value)}, which cannot be called"
    if type(value) in (list, tuple) and value and all(issubclass(type(item), Cell) for item in value):  # type: ignore[attr-defined]
        kinds = ", ".join(type(item).__name__ for item in value)  # type: ignore[attr-defined]
        text += f"; it holds {kinds}"
        hint = "nn.SequentialCell makes a layer of them that calls each with the output of the one before"
    return Conflict(text, [(array, "operand") for array in raised.operands.in_statement()], hint)


_UNPACKING = re.compile(
    r"(?P<side>too many|not enough) values to unpack \(expected (?P<names>\d+)(?:, got (?P<count>\d+))?\)"
)


def unpacking(raised: PythonError) -> Conflict | None:
    """A number of values that is not that of the names which they are unpacked into."""
    source, match = raised.operands.source, _UNPACKING.fullmatch(raised.message)
    if not raised.is_of_line or match is None or source is None:
        return None
    statement = source.statement
    targets = [item for item in getattr(statement, "targets", ()) if isinstance(item, ast.Tuple | ast.List)]
    if not isinstance(statement, ast.Assign) or len(targets) != 1:
        return None
    names = [source.text(element) for element in targets[0].elts]
    if len(names) != int(match["names"]) or any(isinstance(element, ast.Starred) for element in targets[0].elts):
        return None
    into = f"the line unpacks {{}} into {len(names)} names, {', '.join(names)}"
    cell = raised.operands.value_of(statement.value.func) if isinstance(statement.value, ast.Call) else None
    arrays = [(array, "operand") for array in raised.operands.in_statement()]
    if issubclass(type(cell), Cell):
        return _outputs_unpacked(cell, match["count"], len(names), into.format("them"), raised)
    text = pieces_text(statement.value, raised.operands)
    if text:
        return Conflict(f"{text}, and {into.format('them')}", arrays)
    number = match["count"] or f"more than {len(names)}"
    return Conflict(f"there are {number} values, and {into.format('them')}", arrays)


def _outputs_unpacked(cell: Any, count: str | None, names: int, into: str, raised: PythonError) -> Conflict | None:
    """Return the conflict of a cell's outputs, of which one may be a tuple of several tensors."""
    path = raised.operands.origins.path_of(cell)
    returned = raised.shapes.get(path, ())
    shapes = ", ".join(str(tuple(shape)) for shape in returned)
    is_nested = count is not None and len(returned) > int(count)
    if not returned or (len(returned) == names and not is_nested):
        return None
    if is_nested:
        hint = "A value that is a tuple itself is unpacked in parentheses"
        return Conflict(
            f"{path} returned {count} values, which hold {len(returned)} tensors, {shapes}, and {into}", [], hint
        )
    detail = f"one tensor {shapes}" if len(returned) == 1 else f"{len(returned)} tensors, {shapes}"
    return Conflict(f"{path} returned {detail}, and {into}", [])


def wrong_gradients(raised: PythonError) -> Conflict | None:
    """A bprop or a hook that returns other gradients than there are values: the engine's message says it all."""
    stack, message = raised.operands.stack, raised.message
    if not stack.cells or stack.cells[-1].part not in ("bprop", "hook") or stack.user_index >= stack.cells[-1].index:
        return None
    if not message.startswith(("the bprop of", "the backward hook", "the backward_pre hook", "the forward")):
        return None
    returned = [*arrays_in(stack.argument("returned")), *arrays_in(stack.argument("gradient"))]
    arrays = [(array, "the returned gradient") for array in returned]
    arrays += [(array, "the gradient that came") for array in arrays_in(stack.argument("current"))]
    argument = stack.argument("argument")
    if stack.cells[-1].part == "bprop" and is_tensor(argument):
        arrays.append((array_of(argument), _input_of(array_of(argument), raised) or "the input"))
    return Conflict(message, arrays)


def _input_of(array: Any, raised: PythonError) -> str:
    """Return the name of a bprop's input in its construct, "the input x of block"; "" if it is not certain."""
    cell = raised.operands.stack.cells[-1].cell
    code = getattr(type(cell).construct, "__code__", None)
    backward = next((level.variables.get("self") for level in raised.operands.stack.inside), None)
    inputs = getattr(backward, "arguments", ())
    names = code.co_varnames[1 : code.co_argcount] if code is not None else ()
    for name, value in zip(names, inputs, strict=False):
        if is_tensor(value) and array_of(value) is array:
            return f"the input {name} of {raised.operands.origins.path_of(cell)}"
    return ""
