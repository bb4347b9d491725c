"""The session as plain rows for whoever shows it: cells, parameters, hooks; the captures as a text table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from .captures.capture import Capture, cell_name
from .captures.statistics import Statistics, statistics
from .tables import text_table

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensor import Tensor

__all__ = [
    "HOOK_KINDS",
    "CellNode",
    "HookRow",
    "ParameterRow",
    "cell_nodes",
    "hook_rows",
    "parameter_rows",
    "table",
]

HOOK_KINDS = ("forward_pre", "forward", "backward_pre", "backward")


class CellNode(NamedTuple):
    """One cell of the tree.

    ``parameters`` counts elements, the cells inside included; ``hooks`` counts by kind; ``attached`` are the
    kinds of the session's own hooks; ``shape`` is that of the last output, or "".
    """

    path: str
    name: str
    type: str
    depth: int
    parameters: int
    training: bool
    has_bprop: bool
    hooks: dict[str, int]
    attached: set[str]
    shape: str


class ParameterRow(NamedTuple):
    """One parameter; ``gradient_norm`` is None until a gradient of it was seen."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    size: int
    statistics: Statistics
    gradient_norm: float | None


class HookRow(NamedTuple):
    """One hook of a cell; ``by_session`` if the session attached it."""

    path: str
    kind: str
    function: str
    by_session: bool


def cell_nodes(
    cells: Iterable[tuple[str, Cell]], attached: Iterable[tuple[str, str]], shapes: Mapping[str, str]
) -> list[CellNode]:
    """Rows for (path, cell) pairs; ``attached`` are the (path, kind) of the session's own hooks."""
    kinds: dict[str, set[str]] = {}
    for path, kind in attached:
        kinds.setdefault(path, set()).add(kind)
    nodes: list[CellNode] = []
    for path, cell in cells:
        size = sum(math.prod(parameter.shape) for _, parameter in cell.parameters_and_names())
        hooks = {kind: len(cell._hooks[kind]) if kind in cell._hooks else 0 for kind in HOOK_KINDS}
        nodes.append(
            CellNode(
                path, path.rpartition(".")[2] or type(cell).__name__, type(cell).__name__,
                path.count(".") + 1 if path else 0, size, bool(cell.training), bool(cell.has_custom_bprop),
                hooks, kinds.get(path, set()), shapes.get(path, ""),
            )
        )  # fmt: skip
    return nodes


def parameter_rows(roots: Iterable[Cell], gradients: Mapping[int, Tensor]) -> list[ParameterRow]:
    """Rows for the parameters of the roots, each parameter once; ``gradients`` by the parameter's id."""
    rows: list[ParameterRow] = []
    seen: set[int] = set()
    for root in roots:
        for name, parameter in root.parameters_and_names():
            if id(parameter) in seen:
                continue
            seen.add(id(parameter))
            gradient = gradients.get(id(parameter))
            array = parameter._array
            rows.append(
                ParameterRow(
                    name, tuple(array.shape), str(array.dtype.name), bool(parameter.requires_grad),
                    int(array.size), statistics(parameter),
                    None if gradient is None else statistics(gradient).norm,
                )
            )  # fmt: skip
    return rows


def hook_rows(cells: Iterable[tuple[str, Cell]], own: Iterable[object]) -> list[HookRow]:
    """Rows for the hooks of (path, cell) pairs; ``own`` are the functions that the session attached."""
    ours = {id(function) for function in own}
    return [
        HookRow(path, kind, _function_name(entry.function), id(entry.function) in ours)
        for path, cell in cells
        for kind in HOOK_KINDS
        for entry in cell._hooks.get(kind, {}).values()
    ]


def _function_name(function: object) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))


_COLUMNS = ("cell", "direction", "value", "shape", "dtype", "min", "max", "mean", "std", "nan")
_NUMERIC = _COLUMNS[5:]


def table(captures: Iterable[Capture]) -> str:
    """The captures as text, one a line, oldest first."""
    lines: list[tuple[str, ...]] = []
    for capture in captures:
        figures = capture.statistics()
        numbers = (figures.minimum, figures.maximum, figures.mean, figures.std)
        lines.append(
            (
                f"{cell_name(capture.path)}#{capture.call}", capture.direction, capture.slot,
                "x".join(map(str, capture.shape)) or "()", capture.dtype,
                *(f"{number:.4g}" for number in numbers), str(figures.nan),
            )
        )  # fmt: skip
    return text_table(_COLUMNS, lines, _NUMERIC)
