"""Conditions on gradients in the backward pass: vanishing and exploding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .condition import Condition
from .values import SAGEMAKER, RepeatedObservation, ValueObservation

if TYPE_CHECKING:
    from ...record.statistics import Statistics

__all__ = ["ROWS"]


def _vanishing(observation: ValueObservation | RepeatedObservation, threshold: float) -> str | None:
    mean_square = _root_mean_square(observation.figures)
    reference = _root_mean_square(observation.first_gradient) if observation.first_gradient else 1.0
    if not 0 < mean_square < threshold * reference:
        return None
    return f"root mean square {mean_square:.3g}, at the loss {reference:.3g}"


def _root_mean_square(figures: Statistics) -> float:
    return figures.norm / math.sqrt(figures.finite) if figures.finite else math.nan


def _exploding(observation: ValueObservation | RepeatedObservation, threshold: float) -> str | None:
    reference = observation.first_gradient.norm if observation.first_gradient else 1.0
    if not (reference > 0 and observation.figures.norm > threshold * reference):
        return None
    return f"norm {observation.figures.norm:.3g}, at the loss {reference:.3g}"


ROWS = (
    Condition(
        "vanishing_gradient",
        (ValueObservation, RepeatedObservation),
        _vanishing,
        1e-7,
        "of the root mean square of the first gradient in the backward pass",
        "a gradient has nearly gone on its way back",
        "Add normalization or residual connections, or check the scale of the initial weights.",
        f"VanishingGradient in {SAGEMAKER}: mean magnitude below 1e-7",
        direction="backward",
        slots=("grad",),
        against_first=True,
        in_a_row=3,
        comes_late=True,
        of_training=True,
    ),
    Condition(
        "exploding_gradient",
        (ValueObservation, RepeatedObservation),
        _exploding,
        300.0,
        "times the norm of the first gradient in the backward pass",
        "a gradient grows on its way back",
        "Clip the gradient by its norm, lower the learning rate or check the initial weights.",
        "own; the field looks for NaN and Inf only, which is too late; later on, the gradient at the loss is small in "
        "single steps whose samples are nearly right",
        direction="backward",
        slots=("grad",),
        against_first=True,
        in_a_row=3,
        at_first_once=True,
        comes_late=True,
        of_training=True,
        cures=("clip", "pause_here"),
    ),
)
