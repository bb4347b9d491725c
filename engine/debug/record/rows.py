"""The session as plain rows for whoever shows it: cells, parameters, hooks; the captures as a text table."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..diagnose.checks.updates import update_ratio
from .capture import Capture, cell_name
from .evicted import GivenUp
from .statistics import Statistics, statistics
from .tables import text_table

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell
    from hookscope.engine.tensors.tensor import Tensor

__all__ = ["HOOK_KINDS", "CellNode", "HookRow", "ParameterRow", "cell_nodes", "hook_rows", "parameter_rows", "table"]

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


@dataclass(frozen=True, eq=False)
class ParameterRow:
    """One parameter as it is now, by reference; its figures are computed when they are asked for.

    Attributes:
        array: its values.
        gradient: the newest gradient that was seen.
        before: what its values were when that gradient came.
        cells: the paths of the cells that have it; where there are several, they share it.
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
        """The figures of its values."""
        return statistics(self.array)

    @cached_property
    def gradient_norm(self) -> float | None:
        """The norm of the newest gradient; None until one was seen."""
        return None if self.gradient is None else statistics(self.gradient).norm

    @cached_property
    def update_ratio(self) -> float | None:
        """The norm of the change since the newest gradient by that of what was before.

        None where it has not changed since, and where it was zero.
        """
        if self.before is None or self.before is self.array or self.before.shape != self.shape:
            return None
        return update_ratio(self.array, self.before)


class HookRow(NamedTuple):
    """One hook of a cell; ``by_session`` if the session attached it.

    ``hook`` is the function itself; ``filename`` and ``line`` say where it is written, "" and 0 if that is not known.
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
    roots: Iterable[Cell], gradients: Mapping[int, Tensor], before: Mapping[int, Any]
) -> list[ParameterRow]:
    """Rows for the parameters of the roots, each parameter once.

    Args:
        gradients: the newest gradients, by the parameter's id.
        before: what the parameters were when these came, likewise.
    """
    rows: list[ParameterRow] = []
    seen: set[Cell] = set()
    owners: dict[int, list[str]] = {}
    for path, cell in (found for root in roots for found in root.cells_and_names(seen)):
        for name, parameter in cell._params.items():
            if parameter is None:
                continue
            known = owners.get(id(parameter))
            if known is not None:
                if known[-1] != path:  # a cell may have it by two names
                    known.append(path)
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
    """Rows for the hooks of (path, cell) pairs; ``own`` are the functions that the session attached."""
    ours = {id(function) for function in own}
    return [
        HookRow(
            path,
            kind,
            _function_name(entry.function),
            id(entry.function) in ours,
            *_written_at(entry.function),
            entry.function,
        )
        for path, cell in cells
        for kind in HOOK_KINDS
        for entry in cell._hooks.get(kind, {}).values()
    ]


def _function_name(function: object) -> str:
    """A hook as its author calls it: without the function that it was defined in."""
    name = str(getattr(function, "__qualname__", type(function).__qualname__))
    return name.rpartition("<locals>.")[2]


def _written_at(function: object) -> tuple[str, int]:
    held = function.func if isinstance(function, partial) else function
    with suppress(ValueError):  # functions that wrap each other in a circle
        held = inspect.unwrap(held)  # type: ignore[arg-type]  # anything with or without __wrapped__
    code = getattr(held, "__code__", None) or getattr(type(held).__call__, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else ("", 0)


_COLUMNS = ("cell", "direction", "value", "shape", "dtype", "min", "max", "mean", "std", "nan")
_NUMERIC = _COLUMNS[5:]


def table(captures: Iterable[Capture | GivenUp]) -> str:
    """The captures as text, one a line, oldest first."""
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
