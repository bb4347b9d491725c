"""Tensors, parameters and cells for a variable panel: one line each for its table, and more as text and HTML.

A panel asks through the control channel while anything may be running, and for every variable at once. So a line
costs little, larger values go without figures, and nothing here raises.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

LINE_ELEMENTS = 100_000
"""A tensor with more elements has no figures in its line: there may be hundreds of them in a table."""

FORM_ELEMENTS = 10_000_000
"""A tensor with more elements, or all tensors of a cell together, have no figures at all."""

FEW = 6
"""Up to so many elements are shown instead of figures about them."""

MAX_ROWS = 200
"""How many parameters of a cell are listed."""

MAX_BELOW = 100_000
"""Characters of what is printed below a table: the values, or the cells."""

Rows = list[tuple[object, ...]]


def is_known(kind: type) -> bool:
    """Whether values of this type are described here. Imports nothing."""
    tensor, cell = _class("hookscope.engine.tensors.tensor", "Tensor"), _class("hookscope.engine.nn.cell", "Cell")
    return any(known is not None and issubclass(kind, known) for known in (tensor, cell))


def line(value: object) -> str:
    """One line about a tensor, a parameter or a cell."""
    return str(_carefully(_line, value))


def forms(value: object) -> dict[str, str]:
    """A tensor, a parameter or a cell as text and as HTML, by MIME type; nothing for other values."""
    if not is_known(type(value)):
        return {}
    shown = _carefully(_forms, value)
    return shown if isinstance(shown, dict) else {"text/plain": str(shown)}


def _class(module: str, name: str) -> type | None:
    return getattr(sys.modules.get(module), name, None)


def _carefully(function: Callable[[Any], object], value: object) -> object:
    try:
        return function(value)
    except Exception as error:  # a subclass of the user may raise anything, and the table must still be shown
        return f"<{type(value).__name__} that cannot be described: {type(error).__name__}>"


def _is_tensor(value: object) -> bool:
    tensor = _class("hookscope.engine.tensors.tensor", "Tensor")
    return tensor is not None and isinstance(value, tensor)


def _line(value: Any) -> str:
    return _tensor_line(value) if _is_tensor(value) else _cell_line(value)


def _forms(value: Any) -> dict[str, str]:
    return _tensor_forms(value) if _is_tensor(value) else _cell_forms(value)


def _tensor_line(tensor: Tensor) -> str:
    parts = [f"{tensor.dtype} {tuple(tensor.shape)}"]
    if _is_parameter(tensor):
        parts = [f"{tensor.name}: {parts[0]}", *([] if tensor.requires_grad else ["requires_grad=False"])]
    size = math.prod(tensor.shape)
    if 0 < size <= FEW:
        parts.append(str(tensor.asnumpy().tolist()))
    elif size <= LINE_ELEMENTS:
        parts += [f"{name} {text}" for name, text in _figures(tensor) if text != "0" or name not in _COUNTS]
    return ", ".join(parts)


def _cell_line(cell: Cell) -> str:
    parameters = [parameter for _, parameter in cell.parameters_and_names()]
    elements = sum(math.prod(parameter.shape) for parameter in parameters)
    mode = "training" if cell.training else "predicting"
    return f"{len(parameters)} parameters with {elements:,} elements, {mode}"


def _is_parameter(tensor: Tensor) -> TypeGuard[Parameter]:
    parameter = _class("hookscope.engine.tensors.parameter", "Parameter")
    return parameter is not None and isinstance(tensor, parameter)


_COUNTS = ("NaN", "inf")


def _figures(tensor: Tensor) -> list[tuple[str, str]]:
    """Name and text of each figure; none where there are no elements or they are no numbers."""
    from hookscope.engine.debug import statistics

    if not math.prod(tensor.shape):
        return []
    try:
        found = statistics(tensor)
    except TypeError:  # elements that are no numbers
        return []
    named = {"min": found.minimum, "max": found.maximum, "mean": found.mean, "std": found.std, "norm": found.norm}
    counts = {"NaN": found.nan, "inf": found.positive_inf + found.negative_inf}
    return [(name, f"{value:.5g}") for name, value in named.items()] + [(k, str(n)) for k, n in counts.items()]


def _tensor_forms(tensor: Tensor) -> dict[str, str]:
    size = math.prod(tensor.shape)
    rows: Rows = [("shape", tuple(tensor.shape)), ("dtype", tensor.dtype), ("elements", f"{size:,}")]
    if _is_parameter(tensor):
        rows = [("name", tensor.name), *rows, ("requires_grad", tensor.requires_grad)]
    if size > FORM_ELEMENTS:
        rows.append(("figures", f"left out: more than {FORM_ELEMENTS:,} elements"))
        return _both(type(tensor).__name__, ("", "value"), rows)
    rows += _figures(tensor)
    values = repr(tensor.asnumpy())
    return _both(type(tensor).__name__, ("", "value"), rows, values)


def _cell_forms(cell: Cell) -> dict[str, str]:
    columns = ("parameter", "shape", "dtype", "requires_grad", "min", "max", "mean", "std", "norm", *_COUNTS)
    rows: Rows = []
    left = FORM_ELEMENTS
    parameters: list[tuple[str, Parameter]] = list(cell.parameters_and_names())
    for path, parameter in parameters[:MAX_ROWS]:
        left -= math.prod(parameter.shape)
        figures = [text for _, text in _figures(parameter)] if left >= 0 else []
        row = (path, tuple(parameter.shape), parameter.dtype, parameter.requires_grad, *figures)
        rows.append(row + ("",) * (len(columns) - len(row)))
    title = f"{type(cell).__name__}: {_cell_line(cell)}"
    if len(parameters) > MAX_ROWS:
        title += f"; the first {MAX_ROWS} are shown"
    return _both(title, columns, rows, repr(cell))


def _both(title: str, columns: tuple[str, ...], rows: Rows, below: str = "") -> dict[str, str]:
    from tabulate import tabulate

    from hookscope.widgets import markup

    texts = [[str(cell) for cell in row] for row in rows]
    text = f"{title}\n{tabulate(texts, headers=columns, disable_numparse=True)}"
    html = [markup.table(title, columns, texts), f"<pre>{markup.text(below, MAX_BELOW)}</pre>" if below else ""]
    return {"text/plain": f"{text}\n\n{below}" if below else text, "text/html": markup.page(*html)}
