"""Failed call: the innermost call of a cell that an exception ended."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["FailedCall"]


@dataclass(frozen=True, eq=False)
class FailedCall:
    """The innermost call of a cell that an exception ended.

    Attributes:
        path: the cell's dotted path ("" for the root).
        cell: the cell.
        inputs: the positional arguments of the call.
        traceback: the traceback of the exception.
    """

    path: str
    cell: Cell
    inputs: tuple[Any, ...]
    traceback: TracebackType | None
