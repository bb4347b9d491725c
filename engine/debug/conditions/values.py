"""Conditions on the values that pass at cells; a formula sees a ``Seen``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from .condition import NO_THRESHOLD, Condition

if TYPE_CHECKING:
    from ..captures.capture import Capture
    from ..captures.statistics import Statistics

__all__ = ["ROWS", "FiguresSeen", "RepeatedSeen", "Seen"]

_SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html"
_EVERY_SLOT = ("input", "output", "grad")


class Seen:
    """A value that passed.

    Attributes:
        capture: it.
        arrived: the figures of the first gradient of more than one element in this walk back, None where none was seen.
            What is large or small for a gradient depends on the loss, its scale and its reduction; against the first
            one these fall out.
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
        return self.capture.statistics()


class RepeatedSeen(NamedTuple):
    """A weight that was used many times in one run: the gradients that arrived at its uses.

    Attributes:
        figures: of the one furthest back: the last in the walk.
        arrived: of the first one.
        times: how many.
    """

    figures: Statistics
    arrived: Statistics
    times: int


class FiguresSeen(NamedTuple):
    """The figures of a value that was not captured: a loss, a gradient, a parameter, what an operator made."""

    figures: Statistics


def _nan(seen: Seen | FiguresSeen, threshold: float) -> str | None:
    return f"{seen.figures.nan} of {seen.figures.count} elements" if seen.figures.nan else None


def _inf(seen: Seen | FiguresSeen, threshold: float) -> str | None:
    found = seen.figures.positive_inf + seen.figures.negative_inf
    return f"{found} of {seen.figures.count} elements" if found else None


def _overflow(seen: Seen, threshold: float) -> str | None:
    figures = seen.figures
    # numpy.finfo does not know ml_dtypes' bfloat16: 8 exponent and 7 fraction bits give this maximum.
    if figures.dtype == "bfloat16":
        limit = (2 - 2**-7) * 2.0**127
    elif figures.dtype.startswith(("float", "complex")):
        limit = float(np.finfo(figures.dtype).max)
    else:
        return None
    # Exactly the lowest number is what masks are made of.
    largest = figures.maximum if figures.minimum == -limit else max(-figures.minimum, figures.maximum)
    return f"{largest:.3g}, of {limit:.3g} that {figures.dtype} holds" if largest > threshold * limit else None


def _all_zero(seen: Seen, threshold: float) -> str | None:
    return f"{seen.figures.count} elements" if 1 < seen.figures.count == seen.figures.zeros else None


def _dead(seen: Seen, threshold: float) -> str | None:
    figures = seen.figures
    if figures.count < 2 or figures.zeros < threshold * figures.count:
        return None
    return f"{figures.zeros} of {figures.count} elements are zero"


def _saturated(low: float, high: float) -> Callable[[Seen, float], str | None]:
    """Values outside (low, high), to the width of a bin of the histogram."""

    def formula(seen: Seen, threshold: float) -> str | None:
        figures = seen.figures
        if figures.finite < 2 or (low < figures.minimum and figures.maximum < high):
            return None
        centers = (figures.edges[:-1] + figures.edges[1:]) / 2
        outside = int(figures.histogram[(centers < low) | (centers > high)].sum())
        return f"{outside} of {figures.finite} elements" if outside >= threshold * figures.finite else None

    return formula


def _vanishing(seen: Seen | RepeatedSeen, threshold: float) -> str | None:
    mean_square = _root_mean_square(seen.figures)
    against = _root_mean_square(seen.arrived) if seen.arrived else 1.0
    if not 0 < mean_square < threshold * against:
        return None
    return f"root mean square {mean_square:.3g}, at the loss {against:.3g}"


def _root_mean_square(figures: Statistics) -> float:
    return figures.norm / math.sqrt(figures.finite) if figures.finite else math.nan


def _exploding(seen: Seen | RepeatedSeen, threshold: float) -> str | None:
    against = seen.arrived.norm if seen.arrived else 1.0
    if not (against > 0 and seen.figures.norm > threshold * against):
        return None
    return f"norm {seen.figures.norm:.3g}, at the loss {against:.3g}"


ROWS = (
    Condition(
        "nan", Seen, _nan, NO_THRESHOLD, "",
        "there is a NaN",
        "Look at what made it: a division by zero, log or sqrt of a negative, Inf minus Inf.",
        f"ExplodingTensor in {_SAGEMAKER}",
        slots=_EVERY_SLOT, spreads=True, nonfinite=True,
    ),
    Condition(
        "inf", Seen, _inf, NO_THRESHOLD, "",
        "there is an infinity that is not a mask's constant -inf",
        "Look for exp of a large number, a division by zero or a dtype with too small a range.",
        f"ExplodingTensor in {_SAGEMAKER}",
        spreads=True, nonfinite=True, masks_are_meant=True,
    ),
    Condition(
        "overflow", Seen, _overflow, 0.9, "of the dtype's largest number",
        "the largest magnitude is near the end of the dtype's range; the lowest number itself is taken for a mask",
        "Scale the values down, clip the gradient or use a dtype with a larger range.",
        "own; MindInsight's operator_overflow tells when it has happened",
        slots=_EVERY_SLOT, spreads=True,
        symptom=True,
    ),
    Condition(
        "dead_relu", Seen, _dead, 0.95, "of the elements are zero",
        "a ReLU lets hardly anything through",
        "Try a smaller learning rate, a smaller negative bias before it, or LeakyReLU.",
        f"DeadRelu in {_SAGEMAKER}: 50 % of the units at rest in 99 % of the samples; half of the elements are zero in "
        "a healthy one",
        direction="forward", cells=("ReLU", "ReLU6"), in_a_row=3,
        symptom=True,
    ),
    Condition(
        "saturated_sigmoid", Seen, _saturated(0.05, 0.95), 0.9, "of the elements below 0.05 or above 0.95",
        "a Sigmoid that is not the network's last cell is at its ends",
        "Its gradient is nearly zero here: scale the inputs down or normalize before it.",
        f"SaturatedActivation in {_SAGEMAKER}: 50 % of the units, only where the gradient is below 1e-7",
        direction="forward", cells=("Sigmoid",), inside=True, in_a_row=3,
        symptom=True,
    ),
    Condition(
        "saturated_tanh", Seen, _saturated(-0.95, 0.95), 0.9, "of the elements below -0.95 or above 0.95",
        "a Tanh that is not the network's last cell is at its ends",
        "Its gradient is nearly zero here: scale the inputs down or normalize before it.",
        f"SaturatedActivation in {_SAGEMAKER}: 50 % of the units, only where the gradient is below 1e-7",
        direction="forward", cells=("Tanh",), inside=True, in_a_row=3,
        symptom=True,
    ),
    Condition(
        "all_zero", Seen, _all_zero, NO_THRESHOLD, "",
        "every element is zero",
        "Check the initial weights, a mask that hides all, or a branch that no gradient reaches.",
        f"AllZero in {_SAGEMAKER}: 100 %; three steps: zero-initialized branches give zeros in the first",
        in_a_row=3,
        symptom=True,
    ),
    Condition(
        "vanishing_gradient", (Seen, RepeatedSeen), _vanishing, 1e-7,
        "of the root mean square of the first gradient in the walk",
        "a gradient has nearly gone on its way back",
        "Add normalization or residual connections, or check the scale of the initial weights.",
        f"VanishingGradient in {_SAGEMAKER}: mean magnitude below 1e-7",
        direction="backward", slots=("grad",), against_first=True, in_a_row=3,
        symptom=True,
    ),
    Condition(
        "exploding_gradient", (Seen, RepeatedSeen), _exploding, 300.0,
        "times the norm of the first gradient in the walk",
        "a gradient grows on its way back",
        "Clip the gradient by its norm, lower the learning rate or check the initial weights.",
        "own; the field looks for NaN and Inf only, which is too late",
        direction="backward", slots=("grad",), against_first=True,
        symptom=True,
        cures=("clip", "pause_here"),
    ),
)  # fmt: skip
