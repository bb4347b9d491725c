"""Rules of values that Python cannot compute with: a tuple in a product, a zero that divides, a float as an index."""

from __future__ import annotations

import ast
import re

from ...inert_reads import array_of, is_tensor
from .conflict import Conflict
from .kinds import kind_text
from .makers import maker_name, maker_of
from .operands import Operands, dtype_text
from .python_error import PythonError
from .stack import arrays_in

__all__ = ["ambiguous_truth", "division_by_zero", "plain_operands", "slice_bounds"]

_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_UNSUPPORTED = re.compile(r"unsupported operand type|can't multiply sequence|can only concatenate")


def plain_operands(raised: PythonError) -> Conflict | None:
    """An operator between values of Python that do not go together, such as a tuple and a number."""
    source = raised.operands.source
    if not raised.is_of_line or not _UNSUPPORTED.match(raised.message) or source is None:
        return None
    node = source.node
    if isinstance(node, ast.BinOp):
        left, right = node.left, node.right
    elif isinstance(node, ast.AugAssign):
        left, right = node.target, node.value
    else:
        return None
    parts: list[str] = []
    arrays = []
    for item in (left, right):
        value, is_set = raised.operands.value_of(item), _is_known(item, raised.operands)
        if value is None and not is_set:
            continue
        label, text = source.text(item), kind_text(value)
        text = f"a {type(value).__name__}" if isinstance(item, ast.Constant) else text
        parts.append(f"{label} is {text}{_made_by(item, raised.operands)}")
        arrays += [(array, f"{label}[{index}]") for index, array in enumerate(arrays_in(value, 1))]
    if not parts:
        return None
    sign = _SIGNS.get(type(node.op), "this operator")
    both = "the two" if len(parts) == 2 else "it and the other value"
    return Conflict(f"{' and '.join(parts)}; {sign} does not take {both}", arrays)


def _is_known(node: ast.expr, operands: Operands) -> bool:
    """Return whether None is the value of an expression, and not a sign that its value is unknown."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and operands.is_variable(node.id))


def _made_by(node: ast.expr, operands: Operands) -> str:
    source = operands.source
    if not isinstance(node, ast.Name) or source is None or source.assignment(node.id) is None:
        return ""
    maker = maker_of(node.id, operands)
    return "" if maker is None else f", which {maker_name(maker, operands)} returned"


def division_by_zero(raised: PythonError) -> Conflict | None:
    """A number of Python that is divided by zero."""
    source = raised.operands.source
    if type(raised.error) is not ZeroDivisionError or not raised.is_of_line or source is None:
        return None
    node = source.node
    if not isinstance(node, ast.BinOp | ast.AugAssign):
        return None
    divisor = node.right if isinstance(node, ast.BinOp) else node.value
    value = raised.operands.value_of(divisor)
    if type(value) not in (int, float) or value != 0:
        return None
    text = f"{source.text(divisor)} is {value}, and {_SIGNS.get(type(node.op), 'this operator')} divides by it"
    assignment = source.assignment(divisor.id) if isinstance(divisor, ast.Name) else None
    if assignment is not None:
        text += f"; it was assigned in line {assignment.line}: {assignment.text}"
    return Conflict(text, [(array, "operand") for array in raised.operands.in_statement()])


def ambiguous_truth(raised: PythonError) -> Conflict | None:
    """A tensor of several elements that a condition takes for true or false."""
    source = raised.operands.source
    if type(raised.error) is not ValueError or not raised.message.startswith("The truth value of a tensor of shape"):
        return None
    test = getattr(None if source is None else source.statement, "test", None)
    label = "" if source is None or test is None else f"{source.text(test)}: "
    text = f"{label}the truth value{raised.message.removeprefix('The truth value')}"
    hint = "all() or any() makes one of several, and a reduced loss has only one"
    return Conflict(text, [(array, "operand") for array in raised.operands.in_statement()], hint)


_BOUNDS = re.compile(r".*slice indices must be integers")
_INDICES = re.compile(r".*arrays used as indices must be of integer")


def slice_bounds(raised: PythonError) -> Conflict | None:
    """An index, or an end of a slice, that is a float or a tensor of floats."""
    source, operands = raised.operands.source, raised.operands
    is_slice, is_index = bool(_BOUNDS.match(raised.message)), bool(_INDICES.match(raised.message))
    if source is None or not isinstance(source.node, ast.Subscript) or not (is_slice or is_index):
        return None
    parts = [source.node.slice]
    if isinstance(source.node.slice, ast.Tuple):
        parts = list(source.node.slice.elts)
    arrays = [(array, "operand") for array in operands.in_statement()]
    for part in parts:
        if is_slice and isinstance(part, ast.Slice):
            for end in (part.lower, part.upper, part.step):
                value = None if end is None else operands.value_of(end)
                if end is not None and type(value) is float:
                    hint = "// divides without a remainder" if isinstance(end, ast.BinOp) else ""
                    text = f"{source.text(end)} is {kind_text(value)}, and the ends of a slice must be integers"
                    return Conflict(text, arrays, hint)
        elif is_index and is_tensor(value := operands.value_of(part)):
            array = array_of(value)
            if array.dtype.kind not in "iub":
                label = source.text(part)
                return Conflict(f"{label} holds {dtype_text(array)}, and an index must hold integers or bools", arrays)
    return None
