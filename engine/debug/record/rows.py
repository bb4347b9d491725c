"""Rows of plain data about a session, for display: cells, parameters, hooks; and the captures as a text table."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnose.checks.parameters.updates import update_ratio
from .capture import Capture, cell_name
from .evicted import EvictedCapture
from .statistics import Statistics, statistics
from .tables import text_table

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["HOOK_KINDS", "CellNode", "HookRow", "ParameterRow", "cell_nodes", "hook_rows", "parameter_rows", "table"]

HOOK_KINDS = ("forward_pre", "forward", "backward_pre", "backward")


class CellNode(NamedTuple):
    """One cell of the tree.

    ``parameters`` is the number of parameter elements, including those of inner cells. ``hooks`` has the number of
    hooks of each kind, and ``attached`` the kinds of the session's own hooks. ``shape`` is the shape of the last
    output, or "".
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


@dataclass(frozen=True, eq=False)
class ParameterRow:
    """One parameter, by reference; its statistics are computed on first use.

    Attributes:
        array: its values.
        gradient: the newest gradient.
        before: its values when that gradient was computed.
        cells: the paths of the cells that have it; several cells share it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    size: int
    array: Any
    gradient: Tensor | None
    before: Any
    cells: Sequence[str] = ()

    @cached_property
    def statistics(self) -> Statistics:
        """The statistics of its values."""
        return statistics(self.array)

    @cached_property
    def gradient_norm(self) -> float | None:
        """The norm of the newest gradient; None before the first."""
        return None if self.gradient is None else statistics(self.gradient).norm

    @cached_property
    def update_ratio(self) -> float | None:
        """The norm of the change since the newest gradient, divided by the norm of the earlier values.

        None if the parameter has not changed since, or was zero.
        """
        if self.before is None or self.before is self.array or self.before.shape != self.shape:
            return None
        return update_ratio(self.array, self.before)


class HookRow(NamedTuple):
    """One hook of a cell.

    ``by_session`` is whether the session attached it. ``hook`` is the function itself. ``filename`` and ``line`` are
    the position of its definition, "" and 0 if that is unknown.
    """

    path: str
    kind: str
    function: str
    by_session: bool
    filename: str = ""
    line: int = 0
    hook: object = None


def cell_nodes(
    cells: Iterable[tuple[str, Cell]], attached: Iterable[tuple[str, str]], shapes: Mapping[str, str]
) -> list[CellNode]:
    """Return the rows of (path, cell) pairs; ``attached`` are the (path, kind) of the session's own hooks."""
    kinds: dict[str, set[str]] = {}
    for path, kind in attached:
        kinds.setdefault(path, set()).add(kind)
    nodes: list[CellNode] = []
    for path, cell in cells:
        size = sum(math.prod(parameter.shape) for _, parameter in cell.parameters_and_names())
        hooks = {kind: len(cell._hooks[kind]) if kind in cell._hooks else 0 for kind in HOOK_KINDS}
        nodes.append(
            CellNode(
                path,
                path.rpartition(".")[2] or type(cell).__name__,
                type(cell).__name__,
                path.count(".") + 1 if path else 0,
                size,
                bool(cell.training),
                bool(cell.has_custom_bprop),
                hooks,
                kinds.get(path, set()),
                shapes.get(path, ""),
            )
        )
    return nodes


def parameter_rows(
    cells_by_path: Iterable[tuple[str, Cell]], gradients: Mapping[int, Tensor], before: Mapping[int, Any]
) -> list[ParameterRow]:
    """Return the rows of the parameters of cells, each parameter once, named by the path of its cell.

    Args:
        cells_by_path: the paths and the cells of a session; of a cell with several paths the first counts.
        gradients: the newest gradients, by the parameter's id.
        before: the parameters when these were computed, by the parameter's id.
    """
    rows: list[ParameterRow] = []
    visited: set[int] = set()
    owners: dict[int, list[str]] = {}
    for path, cell in cells_by_path:
        if id(cell) in visited:
            continue
        visited.add(id(cell))
        for name, parameter in cell._params.items():
            if parameter is None:
                continue
            owner_paths = owners.get(id(parameter))
            if owner_paths is not None:
                if owner_paths[-1] != path:  # a cell may have it under two names
                    owner_paths.append(path)
                continue
            cells = owners[id(parameter)] = [path]
            array = parameter._array
            rows.append(
                ParameterRow(
                    f"{path}.{name}" if path else name,
                    tuple(array.shape),
                    str(array.dtype.name),
                    bool(parameter.requires_grad),
                    int(array.size),
                    array,
                    gradients.get(id(parameter)),
                    before.get(id(parameter)),
                    cells,
                )
            )
    return rows


def hook_rows(cells: Iterable[tuple[str, Cell]], own: Iterable[object]) -> list[HookRow]:
    """Return the rows of the hooks of (path, cell) pairs; ``own`` are the functions that the session attached."""
    own_ids = {id(function) for function in own}
    return [
        HookRow(
            path,
            kind,
            _function_name(entry.function),
            id(entry.function) in own_ids,
            *_written_at(entry.function),
            entry.function,
        )
        for path, cell in cells
        for kind in HOOK_KINDS
        for entry in cell._hooks.get(kind, {}).values()
    ]


def _function_name(function: object) -> str:
    """Return a hook's name without the function that it was defined in."""
    name = str(getattr(function, "__qualname__", type(function).__qualname__))
    return name.rpartition("<locals>.")[2]


def _written_at(function: object) -> tuple[str, int]:
    wrapped = function.func if isinstance(function, partial) else function
    with suppress(ValueError):  # functions that wrap each other in a cycle
        wrapped = inspect.unwrap(wrapped)  # type: ignore[arg-type]  # anything with or without __wrapped__
    code = getattr(wrapped, "__code__", None) or getattr(type(wrapped).__call__, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else ("", 0)


_COLUMNS = ("cell", "direction", "value", "shape", "dtype", "min", "max", "mean", "std", "nan")
_NUMERIC = _COLUMNS[5:]


def table(captures: Iterable[Capture | EvictedCapture]) -> str:
    """Return the captures as text, one a line, oldest first."""
    lines: list[tuple[str, ...]] = []
    for capture in captures:
        figures = capture.statistics()
        numbers = ["given up", "", "", "", ""]
        if figures is not None:
            spread = (figures.minimum, figures.maximum, figures.mean, figures.std)
            numbers = [*(f"{number:.4g}" for number in spread), str(figures.nan)]
        lines.append(
            (
                f"{cell_name(capture.path)}#{capture.call}",
                capture.direction,
                capture.slot,
                "x".join(map(str, capture.shape)) or "()",
                capture.dtype,
                *numbers,
            )
        )
    return text_table(_COLUMNS, lines, _NUMERIC)
