"""What the formulas of ``nonfinite``, ``activations`` and ``gradients`` see: values that pass at cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from ...record.capture import Capture
    from ...record.statistics import Statistics

__all__ = ["SAGEMAKER", "FiguresSeen", "RepeatedSeen", "Seen"]

SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html"


class Seen:
    """A value that passed.

    Attributes:
        capture: it.
        arrived: the statistics of the first gradient of more than one element in this backward pass, None where there
            is none. What is large or small for a gradient depends on the loss, its scale and its reduction; against the
            first one these fall out.
        names: the debugger's names for expressions: step, call, cell, np, ms.
    """

    __slots__ = ("arrived", "capture", "names")

    group: ClassVar[str] = "values"

    def __init__(self, capture: Capture, arrived: Statistics | None, names: Callable[[], Mapping[str, object]]) -> None:
        self.capture = capture
        self.arrived = arrived
        self.names = names

    @property
    def figures(self) -> Statistics:
        """The figures of the value."""
        return self.capture.figures()


class RepeatedSeen(NamedTuple):
    """A weight that was used many times in one run: the gradients that arrived at its uses.

    Attributes:
        figures: of the one furthest back: the last in the backward pass.
        arrived: of the first one.
        times: how many.
    """

    figures: Statistics
    arrived: Statistics
    times: int


class FiguresSeen(NamedTuple):
    """The figures of a value that was not captured: a loss, a gradient, a parameter, what an operator made."""

    figures: Statistics
