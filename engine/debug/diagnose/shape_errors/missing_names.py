"""Rules of names that are not there: a key, an index, an attribute, a variable that no line has assigned."""

from __future__ import annotations

import ast
import builtins
import re

from hookscope.engine.base.nearest_name import did_you_mean
from hookscope.engine.nn.cell import Cell
from hookscope.engine.tensors.tensor import Tensor

from ...inert_reads import is_a, is_tensor
from .conflict import Conflict
from .makers import maker_name, maker_of, reason_of_none
from .python_error import PythonError
from .stack import arrays_in

__all__ = ["missing_attribute", "missing_base", "missing_item", "missing_key", "unset_variable"]

_MOST_NAMES = 8
_MOST_LINES = 2


def missing_key(raised: PythonError) -> Conflict | None:
    """A key that a plain dictionary does not have."""
    error, operands = raised.error, raised.operands
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
    hint = _hint(key, [item for item in owner if type(item) is str]) if type(key) is str else ""
    arrays = [
        (array, f"{label}[{item!r}]")
        for item, value in owner.items()
        if type(item) in (str, int)
        for array in arrays_in(value, 0)
    ]
    return Conflict(text, arrays[:4], hint)


def missing_item(raised: PythonError) -> Conflict | None:
    """An index beyond the end of a plain list or tuple."""
    error, operands = raised.error, raised.operands
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


def missing_attribute(raised: PythonError) -> Conflict | None:
    """An attribute that a cell, a tensor, a tuple or None does not have."""
    error, operands = raised.error, raised.operands
    if type(error) is not AttributeError or operands.source is None:
        return None
    node = operands.source.node
    name = error.name or raised.message.rpartition("no attribute '")[2].partition("'")[0]
    if not isinstance(node, ast.Attribute) or node.attr != name:
        return None
    label, owner = operands.source.text(node.value), operands.value_of(node.value)
    arrays = [(array, "operand") for array in operands.in_statement()]
    if type(owner) in (tuple, list) and isinstance(node.value, ast.Name):
        maker = maker_of(node.value.id, operands)
        text = f"{label} is a {type(owner).__name__} of {len(owner)} values"  # type: ignore[arg-type]
        text += "" if maker is None else f", which {maker_name(maker, operands)} returned"
        return Conflict(f"{text}, and has no attribute {name}", arrays)
    if owner is None and "NoneType" in raised.message:
        return _attribute_of_none(node, label, raised)
    if issubclass(type(owner), Cell):
        return _attribute_of_cell(owner, name, raised)
    if owner is None and type(error.obj) is Tensor:
        owner = error.obj
    if type(owner) is Tensor:
        hint = _hint(name, [item for item in dir(Tensor) if not item.startswith("_")])
        return Conflict(f"{label} is a Tensor, which has no attribute {name}", arrays, hint)
    return None


def _attribute_of_none(node: ast.Attribute, label: str, raised: PythonError) -> Conflict | None:
    operands = raised.operands
    arrays = [(array, "operand") for array in operands.in_statement()]
    if isinstance(node.value, ast.Name):
        level = operands.stack.written
        if level is None or node.value.id not in level.variables:
            return None
        reason = reason_of_none(node.value.id, operands)
        return Conflict(f"{label} is None, which has no attribute {node.attr}{reason}", arrays)
    if isinstance(node.value, ast.Attribute):
        holder = operands.value_of(node.value.value)
        if issubclass(type(holder), Cell) and node.value.attr in object.__getattribute__(holder, "__dict__"):
            return Conflict(f"{label} is None, which has no attribute {node.attr}", arrays)
    return None


def _attribute_of_cell(owner: object, name: str, raised: PythonError) -> Conflict | None:
    operands = raised.operands
    state = object.__getattribute__(owner, "__dict__")
    if name in state:
        return None
    names = [item for item in state if not item.startswith("_")]
    members = [item for item in names if is_tensor(state[item]) or issubclass(type(state[item]), Cell)]
    path = operands.origins.path_of(owner)  # type: ignore[arg-type]
    text = f"{path} ({type(owner).__name__}) has no attribute {name}"
    if members:
        text += f"; its layers and parameters are {', '.join(members[:_MOST_NAMES])}"
    hint = _hint(name, names)
    if not hint and operands.stack.cells and operands.stack.cells[-1].part == "bprop":
        hint = f"The bprop of {path} reads it, and nothing has assigned it to this cell"
    return Conflict(text, [(array, "operand") for array in operands.in_statement()], hint)


def _hint(name: str, names: list[str]) -> str:
    """Return "Did you mean '...'?"; "" without a similar name."""
    near = did_you_mean(name, names).strip("; ?")
    return f"{near[0].upper()}{near[1:]}?" if near else ""


_NO_BASE = re.compile(r"For '(?P<kind>\w+)', call super\(\).__init__\(\) before '(?P<name>\w+)' is assigned")


def missing_base(raised: PythonError) -> Conflict | None:
    """A cell that assigns an attribute before the constructor of Cell has run."""
    match = _NO_BASE.fullmatch(raised.message)
    level = raised.operands.stack.written
    if match is None or level is None:
        return None
    function = level.code.co_name
    text = f"{match['kind']} gets {match['name']} in {function} before the constructor of its base has run"
    hint = f"The __init__ of {match['kind']} must begin with super().__init__()"
    return Conflict(text, [(array, "operand") for array in raised.operands.in_statement()], hint)


_UNSET = re.compile(r".*access local variable '(?P<local>\w+)'|name '(?P<name>\w+)' is not defined")


def unset_variable(raised: PythonError) -> Conflict | None:
    """A variable that only lines which did not run assign, or that no line assigns."""
    match = _UNSET.match(raised.message)
    source, level = raised.operands.source, raised.operands.stack.written
    if not is_a(raised.error, NameError) or match is None or source is None or level is None or not raised.is_of_line:
        return None
    arrays = [(array, "operand") for array in raised.operands.in_statement()]
    name = match["local"] or match["name"]
    if match["local"] is None:
        names = [*level.variables, *level.frame.f_globals, *vars(builtins)]
        return Conflict(f"no line has assigned {name}", arrays, _hint(name, [item for item in names if item != name]))
    bindings = source.bindings(name)
    if not bindings:
        return None
    texts = [
        f"line {line} ({text})" + (f" under {header}" if header else "")
        for line, text, header in bindings[:_MOST_LINES]
    ]
    rest = f" and {len(bindings) - _MOST_LINES} more lines" if len(bindings) > _MOST_LINES else ""
    verb = "has not run" if len(bindings) == 1 else "have not run"
    return Conflict(f"{name} is only assigned in {' and '.join(texts)}{rest}, which {verb} in this call", arrays)
