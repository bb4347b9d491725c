"""Tensors, parameters and cells for a variable panel: one line each for its table, and details as text and HTML.

A panel sends requests through the control channel while any code may be running, for every variable at once. So a line
is cheap, large values have no statistics, and nothing here raises.
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
"""A tensor with more elements has no statistics in its line, since a table may have hundreds of lines."""

FORM_ELEMENTS = 10_000_000
"""A tensor with more elements, or all tensors of a cell together, have no statistics at all."""

FEW = 6
"""Up to this many elements are shown instead of statistics."""

MAX_ROWS = 200
"""Maximum number of parameters listed of a cell."""

MAX_BELOW = 100_000
"""Maximum characters below a table: the values, or the cells."""

Rows = list[tuple[object, ...]]


def is_known(kind: type) -> bool:
    """Return whether values of this type are described here, without importing anything."""
    tensor, cell = _class("hookscope.engine.tensors.tensor", "Tensor"), _class("hookscope.engine.nn.cell", "Cell")
    return any(base is not None and issubclass(kind, base) for base in (tensor, cell))


def line(value: object) -> str:
    """Return one line about a tensor, a parameter or a cell."""
    return str(_carefully(_line, value))


def forms(value: object) -> dict[str, str]:
    """Return a tensor, a parameter or a cell as text and as HTML, by MIME type; nothing for other values."""
    if not is_known(type(value)):
        return {}
    result = _carefully(_forms, value)
    return result if isinstance(result, dict) else {"text/plain": str(result)}


def _class(module: str, name: str) -> type | None:
    return getattr(sys.modules.get(module), name, None)


def _carefully(function: Callable[[Any], object], value: object) -> object:
    try:
        return function(value)
    except Exception as error:  # a user's subclass may raise anything, and the table must still be shown
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
    """Return name and text of each statistic; none for empty or non-numeric tensors."""
    from hookscope.engine.debug import statistics

    if not math.prod(tensor.shape):
        return []
    try:
        summary = statistics(tensor)
    except TypeError:  # non-numeric elements
        return []
    spread = {
        "min": summary.minimum,
        "max": summary.maximum,
        "mean": summary.mean,
        "std": summary.std,
        "norm": summary.norm,
    }
    counts = {"NaN": summary.nan, "inf": summary.positive_inf + summary.negative_inf}
    return [(name, f"{value:.5g}") for name, value in spread.items()] + [(k, str(n)) for k, n in counts.items()]


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
    remaining = FORM_ELEMENTS
    parameters: list[tuple[str, Parameter]] = list(cell.parameters_and_names())
    for path, parameter in parameters[:MAX_ROWS]:
        remaining -= math.prod(parameter.shape)
        figures = [text for _, text in _figures(parameter)] if remaining >= 0 else []
        row = (path, tuple(parameter.shape), parameter.dtype, parameter.requires_grad, *figures)
        rows.append(row + ("",) * (len(columns) - len(row)))
    title = f"{type(cell).__name__}: {_cell_line(cell)}"
    if len(parameters) > MAX_ROWS:
        title += f"; the first {MAX_ROWS} are shown"
    return _both(title, columns, rows, repr(cell))


def _both(title: str, columns: tuple[str, ...], rows: Rows, below: str = "") -> dict[str, str]:
    from tabulate import tabulate

    from hookscope.widgets.static_html import markup

    texts = [[str(cell) for cell in row] for row in rows]
    text = f"{title}\n{tabulate(texts, headers=columns, disable_numparse=True)}"
    html = [markup.table(title, columns, texts), f"<pre>{markup.text(below, MAX_BELOW)}</pre>" if below else ""]
    return {"text/plain": f"{text}\n\n{below}" if below else text, "text/html": markup.page(*html)}
