"""Rules of Python's own exceptions: a missing key, an attribute of None, a tuple for a tensor, missing arguments.

As in ``rules``, each rule looks in the values of the frames for what the exception says, and returns None if it is not
there.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from hookscope.engine.base.nearest_name import did_you_mean
from hookscope.engine.nn.cell import Cell

from ...inert_reads import array_of, is_tensor
from .operands import Operands
from .origins import shape_text
from .rules import Conflict
from .stack import RunningCell, arrays_in

__all__ = ["python_conflict_of"]

_MOST_NAMES = 8


def python_conflict_of(
    error: BaseException, message: str, operands: Operands, shapes: Mapping[str, Sequence[Any]]
) -> Conflict | None:
    """Return what is wrong; None if no rule finds it.

    Args:
        error: the exception.
        message: its text.
        operands: the names of arrays.
        shapes: the shapes of each cell's last output, by path.
    """
    for rule in (
        _wrong_argument,
        _missing_argument,
        _missing_key,
        _missing_item,
        _missing_attribute,
        _unpacking,
        _wrong_gradients,
    ):
        conflict = rule(error, message, operands, shapes)
        if conflict is not None:
            return conflict
    return None


_Shapes = Mapping[str, Sequence[Any]]


def _wrong_argument(error: BaseException, message: str, operands: Operands, shapes: _Shapes) -> Conflict | None:
    """An argument that is None, a tuple or an array where a layer takes a tensor."""
    stack = operands.stack
    if not isinstance(error, TypeError) or " must be a Tensor, but got " not in message:
        return None
    checked = next((level for level in reversed(stack.inside) if "x" in level.arguments), None)
    if checked is None or is_tensor(value := checked.arguments["x"]):
        return None
    kind = type(value).__name__
    expression, name = _expression_of(value, operands)
    receiver = (
        operands.origins.path_of(stack.cells[-1].cell) if stack.cells else message.partition("'")[2].partition("'")[0]
    )
    label = expression or "its input"
    text = f"{receiver} takes a Tensor, and {label} is {'None' if value is None else f'a {kind}'}"
    arrays = arrays_in(value)
    if type(value) in (tuple, list) and arrays:
        text += f" of {len(value)} values, {', '.join(_item_text(item) for item in value)}"
    maker = _maker(name, operands)
    hint = ""
    if maker is not None:
        path = operands.origins.path_of(maker)
        text += f", which {path} returned"
        if value is None and _returns_nothing(maker):
            hint = f"The construct of {path} has no return statement with a value"
    if type(value).__module__ == "numpy" and hasattr(value, "shape"):
        text += f" of shape {shape_text(value)}"
        hint = f"Tensor({label}) makes a tensor of it" if expression.isidentifier() else ""
    return Conflict(text, [(array, f"entry {index} of {label}") for index, array in enumerate(arrays)], hint)


def _item_text(item: object) -> str:
    return f"a Tensor {shape_text(array_of(item))}" if is_tensor(item) else f"a {type(item).__name__}"


def _expression_of(value: object, operands: Operands) -> tuple[str, str]:
    """Return the expression of an argument of the failing call, and its variable if it is one."""
    source = operands.source
    if source is None or not isinstance(source.node, ast.Call):
        return "", ""
    nodes = [*source.node.args, *(keyword.value for keyword in source.node.keywords)]
    for node in nodes:
        is_name = isinstance(node, ast.Name) and operands.is_variable(node.id)
        # None may also be the value of an expression that is not known.
        if operands.value_of(node) is value and (is_name or (value is not None and not isinstance(node, ast.Constant))):
            return source.text(node), node.id if isinstance(node, ast.Name) else ""
    return (source.text(nodes[0]), "") if len(nodes) == 1 else ("", "")


def _maker(name: str, operands: Operands) -> Cell | None:
    """Return the cell whose call was assigned to a variable last."""
    source = operands.source
    assignment = None if source is None or not name else source.assignment(name)
    node: ast.AST | None = None if assignment is None else assignment.value
    if node is None and source is not None and isinstance(source.node, ast.Call) and len(source.node.args) == 1:
        node = source.node.args[0]
    if isinstance(node, ast.Call):
        cell = operands.value_of(node.func)
        return cell if issubclass(type(cell), Cell) else None  # type: ignore[return-value]
    return None


def _returns_nothing(cell: Cell) -> bool:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(type(cell).construct)))
    except (OSError, TypeError, SyntaxError, ValueError):
        return False
    return not any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(tree))


def _missing_argument(error: BaseException, message: str, operands: Operands, shapes: _Shapes) -> Conflict | None:
    """A call of a cell whose arguments are not those of its construct."""
    stack = operands.stack
    if not isinstance(error, TypeError) or ".construct()" not in message or not stack.cells:
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
    parameters = [str(parameter).partition(":")[0].partition(" =")[0] for parameter in signature.parameters.values()][
        1:
    ]
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


def _missing_key(error: BaseException, message: str, operands: Operands, shapes: _Shapes) -> Conflict | None:
    """A key that a plain dictionary does not have."""
    if type(error) is not KeyError or len(error.args) != 1 or operands.source is None:
        return None
    key, node = error.args[0], operands.source.node
    if not isinstance(node, ast.Subscript) or type(key) not in (str, int, bool, float):
        return None
    owner = operands.value_of(node.value)
    if type(owner) is not dict or key in owner:
        return None
    keys = [repr(item) for item in owner if type(item) in (str, int, bool, float)]
    label = operands.source.text(node.value)
    listed = ", ".join(keys[:_MOST_NAMES]) + (f" and {len(keys) - _MOST_NAMES} more" if len(keys) > _MOST_NAMES else "")
    text = f"{label} has no key {key!r}; its keys are {listed}" if keys else f"{label} has no key {key!r}; it is empty"
    near = did_you_mean(key, [item for item in owner if type(item) is str]) if type(key) is str else ""
    near = near.strip("; ?")
    arrays = [
        (array, f"{label}[{item!r}]")
        for item, value in owner.items()
        if type(item) in (str, int)
        for array in arrays_in(value, 0)
    ]
    return Conflict(text, arrays[:4], f"{near[0].upper()}{near[1:]}?" if near else "")


def _missing_item(error: BaseException, message: str, operands: Operands, shapes: _Shapes) -> Conflict | None:
    """An index beyond the end of a plain list or tuple."""
    if type(error) is not IndexError or operands.source is None:
        return None
    node = operands.source.node
    if not isinstance(node, ast.Subscript):
        return None
    owner, index = operands.value_of(node.value), operands.value_of(node.slice)
    if type(owner) not in (list, tuple) or type(index) is not int or -len(owner) <= index < len(owner):  # type: ignore[arg-type]
        return None
    label, length = operands.source.text(node.value), len(owner)  # type: ignore[arg-type]
    text = f"{label} has {length} entr{'y' if length == 1 else 'ies'}"
    text += f", so its last index is {length - 1}, and " if length else ", and "
    text += f"{operands.source.text(node.slice)} is {index}" if isinstance(node.slice, ast.Name) else f"got {index}"
    return Conflict(text, [(array, label) for array in operands.in_statement()])


def _missing_attribute(error: BaseException, message: str, operands: Operands, shapes: _Shapes) -> Conflict | None:
    """An attribute of None, or one that a cell does not have."""
    if not isinstance(error, AttributeError) or operands.source is None:
        return None
    node = operands.source.node
    name = error.name or message.rpartition("no attribute '")[2].partition("'")[0]
    if not isinstance(node, ast.Attribute) or node.attr != name:
        return None
    label, owner = operands.source.text(node.value), operands.value_of(node.value)
    arrays = [(array, "operand") for array in operands.in_statement()]
    if type(owner) in (tuple, list) and isinstance(node.value, ast.Name):
        maker = _maker(node.value.id, operands)
        text = f"{label} is a {type(owner).__name__} of {len(owner)} values"  # type: ignore[arg-type]
        text += "" if maker is None else f", which {operands.origins.path_of(maker)} returned"
        return Conflict(f"{text}, and has no attribute {name}", arrays)
    if owner is None and isinstance(node.value, ast.Name):
        level = operands.stack.written
        if level is None or node.value.id not in level.variables or "NoneType" not in message:
            return None
        return Conflict(f"{label} is None, which has no attribute {name}{_why_none(node.value.id, operands)}", arrays)
    if owner is None and isinstance(node.value, ast.Attribute) and "NoneType" in message:
        holder = operands.value_of(node.value.value)
        if issubclass(type(holder), Cell) and node.value.attr in object.__getattribute__(holder, "__dict__"):
            return Conflict(f"{label} is None, which has no attribute {name}", arrays)
        return None
    if issubclass(type(owner), Cell):
        state = object.__getattribute__(owner, "__dict__")
        if name in state:
            return None
        names = [item for item in state if not item.startswith("_")]
        members = [item for item in names if is_tensor(state[item]) or issubclass(type(state[item]), Cell)]
        path = operands.origins.path_of(owner)  # type: ignore[arg-type]
        text = f"{path} ({type(owner).__name__}) has no attribute {name}"
        if members:
            text += f"; its layers and parameters are {', '.join(members[:_MOST_NAMES])}"
        near = did_you_mean(name, names).strip("; ?")
        part = operands.stack.cells[-1].part if operands.stack.cells else ""
        hint = f"{near[0].upper()}{near[1:]}?" if near else ""
        if part == "bprop" and not near:
            hint = f"The bprop of {path} reads it, and nothing has assigned it to this cell"
        return Conflict(text, arrays, hint)
    return None


def _why_none(name: str, operands: Operands) -> str:
    """Return why an argument is None: its default, since the call passed none."""
    stack = operands.stack
    running = stack.cells[-1] if stack.cells else None
    if running is None or running.part != "construct" or operands.source is None:
        maker = _maker(name, operands)
        return "" if maker is None else f"; {operands.origins.path_of(maker)} returned it"
    maker = _maker_of_variable(name, operands)
    if maker is not None:
        return f"; {operands.origins.path_of(maker)} returned it"
    return "; it is the default, and the call passes none" if _is_default(name, running, operands) else ""


def _maker_of_variable(name: str, operands: Operands) -> Cell | None:
    source = operands.source
    return None if source is None or source.assignment(name) is None else _maker(name, operands)


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


def _unpacking(error: BaseException, message: str, operands: Operands, shapes: _Shapes) -> Conflict | None:
    """A cell's outputs that are unpacked into another number of names."""
    source = operands.source
    if type(error) is not ValueError or "values to unpack" not in message or source is None:
        return None
    statement = source.statement
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    cell = operands.value_of(statement.value.func)
    targets = [target for target in statement.targets if isinstance(target, ast.Tuple | ast.List)]
    if not issubclass(type(cell), Cell) or len(targets) != 1:
        return None
    if any(isinstance(element, ast.Starred) for element in targets[0].elts):
        return None
    path = operands.origins.path_of(cell)  # type: ignore[arg-type]
    returned = shapes.get(path, ())
    names = [source.text(element) for element in targets[0].elts]
    if len(returned) == len(names) or not returned:
        return None
    if len(returned) == 1:
        detail = f"one tensor {tuple(returned[0])}"
    else:
        detail = f"{len(returned)} tensors, {', '.join(str(tuple(shape)) for shape in returned)}"
    return Conflict(
        f"{path} returned {detail}, and the line unpacks it into {len(names)} names, {', '.join(names)}", []
    )


def _wrong_gradients(error: BaseException, message: str, operands: Operands, shapes: _Shapes) -> Conflict | None:
    """A bprop or a hook that returns other gradients than there are values: the engine's message says it all."""
    stack = operands.stack
    if not stack.cells or stack.cells[-1].part not in ("bprop", "hook") or stack.user_index >= stack.cells[-1].index:
        return None
    if not message.startswith(("the bprop of", "the backward hook", "the backward_pre hook", "the forward")):
        return None
    returned = stack.argument("returned")
    current = stack.argument("current")
    operands_of_call = [(array, "the returned gradient") for array in arrays_in(returned)]
    operands_of_call += [(array, "the gradient that came") for array in arrays_in(current)]
    return Conflict(message, operands_of_call)
