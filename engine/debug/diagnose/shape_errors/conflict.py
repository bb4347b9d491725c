"""Conflict that explains an exception, and the failing call of an operator that a rule looks for it in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...inert_reads import array_of, is_tensor
from .operands import Operands

__all__ = ["Conflict", "OperatorCall", "axes_text", "lengths_in", "tuple_text"]


@dataclass(frozen=True)
class Conflict:
    """Conflict between operands, or of one with what a function takes.

    Attributes:
        text: one sentence without a period.
        operands: the arrays that it is about, each with the name that it has if the user's line has none for it.
        hint: what would fit, one sentence; "" if nothing is certain.
    """

    text: str
    operands: Sequence[tuple[Any, str]]
    hint: str = ""


@dataclass(frozen=True)
class OperatorCall:
    """A failing call of an operator or a layer.

    Attributes:
        operator: the name in its message.
        message: the message after the name.
        operands: the names of arrays.
        inputs: the arrays of the operator of the table that failed; empty if its function refused the arguments before.
        attrs: the attributes of that operator.
    """

    operator: str
    message: str
    operands: Operands
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]

    def array(self, *roles: str) -> Any:
        """Return the array of the argument with one of these names, in the innermost function that has it."""
        value = self.operands.stack.argument(*roles)
        if is_tensor(value):
            return array_of(value)
        return value if isinstance(value, np.ndarray) else None

    def as_passed(self, array: Any, axis: int) -> Any:
        """Return the array that the user passed, if a layer has only added axes of length 1 to it after an axis."""
        for candidate in self.operands.named_arrays():
            if candidate is not array and candidate.size == array.size and candidate.ndim < array.ndim:
                is_view = array.base is candidate or (array.base is not None and array.base is candidate.base)
                lengths = [[number for number in value.shape if number != 1] for value in (candidate, array)]
                same_axes = candidate.shape[: axis + 1] == array.shape[: axis + 1]
                if is_view and same_axes and lengths[0] == lengths[1] and not self.operands.known(array):
                    return candidate
        return array

    def setting(self, name: str) -> Any:
        """Return an argument that is not a tensor."""
        return self.operands.stack.argument(name)

    def label(self, array: Any, role: str) -> str:
        """Return the name of an array in the user's line."""
        return self.operands.label(array, role)


def lengths_in(text: str) -> list[int | None]:
    """Return the numbers of a shape in a message; None for a letter, which stands for any length."""
    parts = [part.strip() for part in text.strip("()").split(",")]
    return [int(part) if part.lstrip("-").isdigit() else None for part in parts if part]


def tuple_text(lengths: Sequence[int | None]) -> str:
    parts = ["*" if number is None else str(number) for number in lengths]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def axes_text(number: int) -> str:
    """Return a number of axes in words."""
    return f"{number or 'no'} {'axis' if number == 1 else 'axes'}"
