"""Conditions on non-finite numbers, or numbers near the limit of their dtype: NaN, infinity, overflow.

Negative infinities of a mask are exempt, see ``provenance.Provenance.is_mask``.
"""

from __future__ import annotations

import functools

import numpy as np

from .condition import NO_THRESHOLD, Condition
from .values import SAGEMAKER, FiguresObservation, ValueObservation

__all__ = ["ROWS"]

_EVERY_SLOT = ("input", "output", "grad")


def _nan(observation: ValueObservation | FiguresObservation, threshold: float) -> str | None:
    return f"{observation.figures.nan} of {observation.figures.count} elements" if observation.figures.nan else None


def _inf(observation: ValueObservation | FiguresObservation, threshold: float) -> str | None:
    count = observation.figures.positive_inf + observation.figures.negative_inf
    return f"{count} of {observation.figures.count} elements" if count else None


@functools.cache
def _limit(dtype: str) -> float | None:
    """Return the largest number of a dtype; None if it cannot overflow."""
    # numpy.finfo does not know ml_dtypes' bfloat16: 8 exponent and 7 fraction bits give this maximum.
    if dtype == "bfloat16":
        return (2 - 2**-7) * 2.0**127
    return float(np.finfo(dtype).max) if dtype.startswith(("float", "complex")) else None


def _overflow(observation: ValueObservation, threshold: float) -> str | None:
    figures = observation.figures
    limit = _limit(figures.dtype)
    if limit is None:
        return None
    # Exactly the lowest number is a mask's constant.
    largest = figures.maximum if figures.minimum == -limit else max(-figures.minimum, figures.maximum)
    return f"{largest:.3g}, of {limit:.3g} that {figures.dtype} holds" if largest > threshold * limit else None


ROWS = (
    Condition(
        "nan",
        ValueObservation,
        _nan,
        NO_THRESHOLD,
        "",
        "there is a NaN",
        "Look at what made it: a division by zero, log or sqrt of a negative, Inf minus Inf.",
        f"ExplodingTensor in {SAGEMAKER}",
        slots=_EVERY_SLOT,
        spreads=True,
        nonfinite=True,
        certain=True,
    ),
    Condition(
        "inf",
        ValueObservation,
        _inf,
        NO_THRESHOLD,
        "",
        "there is an infinity that is not a mask's constant -inf",
        "Look for exp of a large number, a division by zero or a dtype with too small a range.",
        f"ExplodingTensor in {SAGEMAKER}",
        spreads=True,
        nonfinite=True,
        masks_are_meant=True,
        certain=True,
    ),
    Condition(
        "overflow",
        ValueObservation,
        _overflow,
        0.9,
        "of the dtype's largest number",
        "the largest magnitude is near the end of the dtype's range; the lowest number itself is taken for a mask",
        "Scale the values down, clip the gradient or use a dtype with a larger range.",
        "own; MindInsight's operator_overflow tells when it has happened",
        slots=_EVERY_SLOT,
        spreads=True,
        symptom=True,
    ),
)
