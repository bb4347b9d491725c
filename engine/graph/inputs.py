"""What a call's inputs must be where ``Cell.set_inputs`` has said it, in graph mode."""

from __future__ import annotations

from typing import Any

from ..core.placeholder import UNKNOWN_RANK, Placeholder
from ..core.tensor import Tensor
from ..nn.cell import Cell

__all__ = ["check_inputs"]


def check_inputs(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Compare a call's inputs with those that were told.

    Args:
        cell: the cell.
        args: the positional inputs of the call.
        kwargs: the keyword inputs.

    Raises:
        TypeError: another number of inputs, another kind, or another dtype.
        ValueError: another number of axes, or another length of one.
    """
    told = cell.get_inputs()
    if not told:
        return
    given = (*args, *kwargs.values())
    name = type(cell).__name__
    if len(given) != len(told):
        raise TypeError(f"For '{name}', set_inputs() told of {len(told)} inputs, but got {len(given)}")
    for place, (expected, x) in enumerate(zip(told, given, strict=True)):
        if not isinstance(expected, Tensor):
            continue
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{name}', input {place} must be a Tensor, as set_inputs() told, but got {x!r}")
        if expected.dtype != x.dtype:
            raise TypeError(f"For '{name}', input {place} must have dtype {expected.dtype}, but got {x.dtype}")
        lengths: Any = expected.__dict__["symbolic_shape"] if isinstance(expected, Placeholder) else expected.shape
        if list(lengths) == [UNKNOWN_RANK]:
            continue
        if len(lengths) != x.ndim:
            raise ValueError(f"For '{name}', input {place} must have {len(lengths)} axes, but got shape {x.shape}")
        for wanted, length in zip(lengths, x.shape, strict=True):
            if isinstance(wanted, int) and wanted >= 0 and wanted != length:
                raise ValueError(f"For '{name}', input {place} must have the shape {expected.shape}, but got {x.shape}")
            figures = getattr(wanted, "figures", None)
            if figures is not None and not _fits(length, figures):
                raise ValueError(f"For '{name}', a length of input {place} must fit {wanted}, but got {x.shape}")


def _fits(length: int, figures: dict[str, Any]) -> bool:
    most = figures["max"] or length
    return bool(figures["min"] <= length <= most and length % figures["divisor"] == figures["remainder"])
