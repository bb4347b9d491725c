"""Exception of Python, or of a check of the engine that no operator's rule explains, with what its rules read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .operands import Operands

__all__ = ["PythonError"]


@dataclass(frozen=True)
class PythonError:
    """An exception with what a rule reads.

    Attributes:
        error: the exception.
        message: its text.
        operands: the names of arrays.
        shapes: the shapes of each cell's last output, by path.
    """

    error: BaseException
    message: str
    operands: Operands
    shapes: Mapping[str, Sequence[Any]]

    @property
    def is_of_line(self) -> bool:
        """True if the user's line itself raised the exception, and no function that it called."""
        stack = self.operands.stack
        return stack.written is not None and stack.levels[-1] is stack.written
