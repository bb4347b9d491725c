"""Evicted captures: the row and the statistics remain, the value does not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from .capture import capture_key

if TYPE_CHECKING:
    from .capture import Capture
    from .statistics import Statistics

__all__ = ["EvictedCapture", "without_value"]


class EvictedCapture(NamedTuple):
    """A capture without its value; the other attributes equal those of `Capture`.

    Attributes:
        marks: the names of the conditions that held; None if none did.
        figures: the statistics of the value; None if never computed.
        elements: the dtype.
    """

    index: int  # type: ignore[assignment]  # of Capture, and not the method of tuples
    step: int
    path: str
    cell_type: str
    call: int
    direction: str
    slot: str
    origin: str
    context: str
    marks: list[str] | None
    figures: Statistics | None
    shape: tuple[int, ...]
    elements: Any

    @property
    def hits(self) -> list[str]:
        """The names of the enabled conditions that held."""
        return self.marks or []

    @property
    def dtype(self) -> str:
        """The element type, by NumPy's name."""
        return str(self.elements.name)

    @property
    def nbytes(self) -> int:
        """The size of the elements in bytes."""
        return math.prod(self.shape) * int(self.elements.itemsize)

    @property
    def key(self) -> str:
        """The capture's description: ``conv1#0 forward output``."""
        return capture_key(self)

    def statistics(self) -> Statistics | None:
        """Return the statistics of the value; None if never computed."""
        return self.figures


# The fastest constructor: once the ring buffer is full, each capture evicts one.
_made = tuple.__new__


def without_value(capture: Capture) -> EvictedCapture:
    """Return a capture without its value."""
    array = capture.value._array
    return _made(
        EvictedCapture,
        (
            capture.index,
            capture.step,
            capture.path,
            capture.cell_type,
            capture.call,
            capture.direction,
            capture.slot,
            capture.origin,
            capture.context,
            capture._hits,
            capture._statistics,
            array.shape,
            array.dtype,
        ),
    )
