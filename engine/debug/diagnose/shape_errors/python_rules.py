"""Rules of Python's own exceptions: names that are not there, wrong calls, values of a wrong kind.

As in ``rules``, each rule looks in the values of the frames for what the exception says, and returns None if it is not
there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .conflict import Conflict
from .missing_names import missing_attribute, missing_base, missing_item, missing_key, unset_variable
from .operands import Operands
from .python_error import PythonError
from .wrong_calls import not_callable, unexpected_keyword, unpacking, wrong_arguments, wrong_gradients, wrong_operand
from .wrong_values import ambiguous_truth, division_by_zero, plain_operands, slice_bounds

__all__ = ["python_conflict_of"]

_RULES: tuple[Callable[[PythonError], Conflict | None], ...] = (
    wrong_operand,
    wrong_arguments,
    unexpected_keyword,
    not_callable,
    missing_key,
    missing_item,
    missing_base,
    missing_attribute,
    unset_variable,
    unpacking,
    wrong_gradients,
    plain_operands,
    division_by_zero,
    slice_bounds,
    ambiguous_truth,
)
"""Each looks for one kind of exception; the first that finds a conflict counts."""


def python_conflict_of(
    error: BaseException, message: str, operands: Operands, shapes: Mapping[str, Sequence[Any]]
) -> Conflict | None:
    """Return what is wrong; None if no rule finds it.

    Args:
        error: the exception.
        message: its text.
        operands: the names of arrays.
        shapes: the shapes of each cell's last output, by path.
    """
    raised = PythonError(error, message, operands, shapes)
    return next((conflict for rule in _RULES if (conflict := rule(raised)) is not None), None)
