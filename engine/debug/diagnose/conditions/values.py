"""Observations for the formulas of ``nonfinite``, ``activations`` and ``gradients``: values at cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

if TYPE_CHECKING:
    from ...record.capture import Capture
    from ...record.statistics import Statistics

__all__ = ["SAGEMAKER", "FiguresObservation", "RepeatedObservation", "ValueObservation"]

SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html"


class ValueObservation:
    """An observed value.

    Attributes:
        capture: the capture of the value.
        first_gradient: the statistics of the first gradient of more than one element in this backward pass; None if
            there is none. The size of a gradient depends on the loss, its scale and its reduction; relative to the
            first one these cancel.
        names: returns the debugger's names for expressions: step, call, cell, np, ms.
    """

    __slots__ = ("capture", "first_gradient", "names")

    group: ClassVar[str] = "values"

    def __init__(
        self, capture: Capture, first_gradient: Statistics | None, names: Callable[[], Mapping[str, object]]
    ) -> None:
        self.capture = capture
        self.first_gradient = first_gradient
        self.names = names

    @property
    def figures(self) -> Statistics:
        """The statistics of the value."""
        return self.capture.figures()


class RepeatedObservation(NamedTuple):
    """The gradients of a weight that was used many times in one run.

    Attributes:
        figures: the statistics of the last one in the backward pass.
        first_gradient: the statistics of the first one.
        times: the number of uses.
    """

    figures: Statistics
    first_gradient: Statistics
    times: int


class FiguresObservation(NamedTuple):
    """The statistics of a value that was not captured: a loss, a gradient, a parameter, the output of an operator."""

    figures: Statistics
