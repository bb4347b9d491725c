"""HTML forms of a tensor, a parameter, a cell and a capture that is the last line of a notebook cell.

The kernel registers `html` with IPython; the text form for terminals stays their `repr`. Nothing here is expensive:
large values and those on a GPU are shown without statistics, and only a corner of each is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.widgets import texts
from hookscope.widgets.static_html import drawings
from hookscope.widgets.static_html.markup import page, text
from hookscope.widgets.views.cells.nodes import cell_nodes
from hookscope.widgets.views.cells.static_html import MAX_CELLS, cell_tree

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

MAX_ELEMENTS = 1_000_000
"""Statistics are omitted for a tensor with more elements."""

_FEW = 6  # values with at most this many elements have no statistics
_ROWS, _COLUMNS = 6, 8
_MAX_ARGUMENTS = 160


def html(value: object) -> str | None:
    """Return a tensor, a parameter, a cell or a capture as HTML; a class's own `_repr_html_` takes precedence."""
    from hookscope.engine.debug import Capture
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.parameter import Parameter
    from hookscope.engine.tensors.tensor import Tensor

    user_method = getattr(type(value), "_repr_html_", None)
    if user_method is not None:
        return user_method(value)  # type: ignore[no-any-return]  # a method that the user wrote
    if hasattr(type(value), "_repr_mimebundle_"):
        return None
    forms: dict[type, Callable[[Any], str]] = {Parameter: _parameter, Tensor: _tensor, Cell: _cell, Capture: _capture}
    return next((page(form(value)) for kind, form in forms.items() if isinstance(value, kind)), None)


# Values


def _tensor(tensor: Tensor) -> str:
    return _value(type(tensor).__name__, tensor._array, texts.dtype_text(tensor))


def _parameter(parameter: Parameter) -> str:
    title = f"{type(parameter).__name__} {texts.one_line(str(parameter.name))}"
    note = "" if parameter.requires_grad else ", requires_grad=False"
    return _value(title, parameter._array, texts.dtype_text(parameter), note)


def _capture(capture: Capture) -> str:
    note = f", step {capture.step}"
    if capture.origin != "tap":
        note += f", {'recorded by a hook' if capture.origin == 'hook' else 'edited at a pause'}"
    marks = f"<p>{text('Conditions: ' + ', '.join(capture.hits))}</p>" if capture.hits else ""
    return _value(capture.key, capture.array, capture.dtype, note) + marks


def _value(title: str, array: Any, dtype: str, note: str = "") -> str:
    """Return a heading, the statistics with a histogram, and the values or a corner of them."""
    from hookscope.engine.debug import statistics

    device = _device_text(array)
    heading = f"<p><b>{text(title)}</b> {text(texts.shape_text(array.shape))} {text(dtype)}{text(device + note)}</p>"
    parts = [heading]
    if array.size > MAX_ELEMENTS:
        parts.append(f"<p><small>Figures left out: more than {MAX_ELEMENTS:,} elements.</small></p>")
    elif device:
        parts.append("<p><small>Figures left out: the values are on a GPU.</small></p>")
    elif array.size > _FEW:
        with suppress(TypeError):  # non-numeric elements
            parts.append(drawings.figures_html(statistics(array)))
    parts.append(values_html(array))
    return "\n".join(part for part in parts if part)


def _device_text(array: Any) -> str:
    return "" if isinstance(array, np.ndarray) else f" on GPU {array.device.id}"


def values_html(array: Any) -> str:
    """Return the values as a table; a large array is cut to a corner of its first matrix."""
    if not array.size:
        return "<p>no elements</p>"
    lead = (0,) * max(0, array.ndim - 2)
    matrix = array[lead]
    matrix = matrix.reshape(1, -1) if matrix.ndim < 2 else matrix
    corner = matrix[:_ROWS, :_COLUMNS]
    corner = corner.get() if hasattr(corner, "get") else np.asarray(corner)
    caption = ""
    if corner.size < array.size:
        indices = f" of [{', '.join('0' for _ in lead)}]" if lead else ""
        caption = "The first " + " x ".join(map(str, corner.shape[-array.ndim :])) + indices
    body = "\n".join(
        "<tr>" + "".join(f'<td align="right">{text(_element(x))}</td>' for x in row) + "</tr>"
        for row in corner.tolist()
    )
    head = f"<caption>{text(caption)}</caption>\n" if caption else ""
    return f"<table>{head}<tbody>\n{body}\n</tbody></table>"


def _element(value: object) -> str:
    return f"{value:.5g}" if isinstance(value, float | complex) else str(value)


# Cells


def _cell(cell: Cell) -> str:
    from hookscope.engine.debug import DebugSession

    session = DebugSession(cell)
    nodes = cell_nodes(session)
    # The repr of a cell holds its constructor arguments; nested cells are listed separately.
    arguments = [_arguments(nested) for _, nested in islice(session.paths, MAX_CELLS)]
    mode = "training" if cell.training else "prediction"
    count = f"{len(nodes):,} cell{'' if len(nodes) == 1 else 's'}"
    title = f"<b>{text(type(cell).__name__)}</b>: {count}, {nodes[0].parameters:,} parameters, {mode}"
    return f"<p>{title}</p>\n{cell_tree(nodes, arguments)}"


def _arguments(cell: Cell) -> str:
    return texts.one_line(" ".join(cell.extend_repr().split()), _MAX_ARGUMENTS)
