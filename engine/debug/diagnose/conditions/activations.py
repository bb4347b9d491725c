"""Conditions on activations: inactive ReLU units, saturation, all zeros."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .condition import NO_THRESHOLD, Condition
from .values import SAGEMAKER, ValueObservation

__all__ = ["ROWS"]


def _all_zero(observation: ValueObservation, threshold: float) -> str | None:
    return (
        f"{observation.figures.count} elements" if 1 < observation.figures.count == observation.figures.zeros else None
    )


def _dead(observation: ValueObservation, threshold: float) -> str | None:
    figures = observation.figures
    if figures.count < 2 or figures.zeros < threshold * figures.count:
        return None
    return f"{figures.zeros} of {figures.count} elements are zero"


def _saturated(low: float, high: float) -> Callable[[ValueObservation, float], str | None]:
    """Return a formula for the share of values outside (low, high), to the width of a bin of the histogram."""

    def formula(observation: ValueObservation, threshold: float) -> str | None:
        figures = observation.figures
        if figures.finite < 2 or (low < figures.minimum and figures.maximum < high):
            return None
        with np.errstate(all="ignore"):  # the user may have turned warnings into errors
            centers = figures.edges[:-1] / 2 + figures.edges[1:] / 2
        outside = int(observation.capture.statistics().histogram[(centers < low) | (centers > high)].sum())
        return f"{outside} of {figures.finite} elements" if outside >= threshold * figures.finite else None

    return formula


ROWS = (
    Condition(
        "dead_relu",
        ValueObservation,
        _dead,
        0.95,
        "of the elements are zero",
        "a ReLU lets hardly anything through",
        "Try a smaller learning rate, a smaller negative bias before it, or LeakyReLU.",
        f"DeadRelu in {SAGEMAKER}: 50 % of the units at rest in 99 % of the samples; half of the elements are zero in "
        "a healthy one",
        direction="forward",
        cells=("ReLU", "ReLU6"),
        in_a_row=3,
        comes_late=True,
        of_training=True,
    ),
    Condition(
        "saturated_sigmoid",
        ValueObservation,
        _saturated(0.05, 0.95),
        0.9,
        "of the elements below 0.05 or above 0.95",
        "a Sigmoid that is not the network's last cell is at its ends",
        "Its gradient is nearly zero here: scale the inputs down or normalize before it.",
        f"SaturatedActivation in {SAGEMAKER}: 50 % of the units, only where the gradient is below 1e-7",
        direction="forward",
        cells=("Sigmoid",),
        inside=True,
        in_a_row=3,
        comes_late=True,
        of_training=True,
    ),
    Condition(
        "saturated_tanh",
        ValueObservation,
        _saturated(-0.95, 0.95),
        0.9,
        "of the elements below -0.95 or above 0.95",
        "a Tanh that is not the network's last cell is at its ends",
        "Its gradient is nearly zero here: scale the inputs down or normalize before it.",
        f"SaturatedActivation in {SAGEMAKER}: 50 % of the units, only where the gradient is below 1e-7",
        direction="forward",
        cells=("Tanh",),
        inside=True,
        in_a_row=3,
        comes_late=True,
        of_training=True,
    ),
    Condition(
        "all_zero",
        ValueObservation,
        _all_zero,
        NO_THRESHOLD,
        "",
        "every element is zero",
        "Check the initial weights, a mask that hides all, or a branch that no gradient reaches.",
        f"AllZero in {SAGEMAKER}: 100 %; three steps: zero-initialized branches give zeros in the first",
        in_a_row=3,
        every_call=True,
        symptom=True,
        of_training=True,
    ),
)
