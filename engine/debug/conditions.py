"""Conditions: what can be wrong with a value, as rows of data.

A formula sees the figures of one value and the threshold. ``spreads`` marks what travels with the values from
where it began (NaN, Inf, overflow): it looks at everything that passes and pauses only where it is first seen
in a step and direction. The others look only at what a cell gives (``output``, ``grad_input``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .watch import nearest

if TYPE_CHECKING:
    from .capture import Capture
    from .statistics import Statistics

__all__ = ["CONDITIONS", "Condition", "Hit", "examine", "parse_conditions"]


@dataclass(frozen=True)
class Condition:
    """One row.

    Attributes:
        name: what ``stop_on`` calls it.
        direction: "forward", "backward" or "both".
        formula: whether it holds, from the figures of a value and the threshold.
        threshold: the default; NaN where the formula needs none.
        unit: what the threshold is measured in.
        advice: what to look at first, one sentence.
        cells: the cell classes whose values it looks at; empty for all.
        spreads: see the module's first lines.
    """

    name: str
    direction: str
    formula: Callable[[Statistics, float], bool]
    threshold: float
    unit: str
    advice: str
    cells: tuple[str, ...] = ()
    spreads: bool = False

    def looks_at(self, capture: Capture) -> bool:
        """Whether the value of this capture is one to look at."""
        if self.direction not in ("both", capture.direction) or (self.cells and capture.cell_type not in self.cells):
            return False
        return self.spreads or capture.slot.startswith(("output", "grad_input"))


class Hit(NamedTuple):
    """A condition that held: which, where, and in words."""

    condition: Condition
    capture: Capture
    message: str


def _largest(figures: Statistics) -> float:
    return max(-figures.minimum, figures.maximum)


def _overflow(figures: Statistics, threshold: float) -> bool:
    # numpy.finfo does not know ml_dtypes' bfloat16: 8 exponent and 7 fraction bits give this maximum.
    if figures.dtype == "bfloat16":
        limit = (2 - 2**-7) * 2.0**127
    elif figures.dtype.startswith(("float", "complex")):
        limit = float(np.finfo(figures.dtype).max)
    else:
        return False
    return _largest(figures) > threshold * limit


def _dead(figures: Statistics, threshold: float) -> bool:
    return figures.count > 1 and figures.zeros >= threshold * figures.count


def _vanishing(figures: Statistics, threshold: float) -> bool:
    return figures.finite > 0 and 0 < figures.norm < threshold * math.sqrt(figures.finite)


def _saturated(low: float, high: float) -> Callable[[Statistics, float], bool]:
    """Values outside (low, high), to the width of a bin of the histogram."""

    def formula(figures: Statistics, threshold: float) -> bool:
        centres = (figures.edges[:-1] + figures.edges[1:]) / 2
        outside = int(figures.histogram[(centres < low) | (centres > high)].sum())
        return figures.finite > 1 and outside >= threshold * figures.finite

    return formula


_NONE = math.nan

CONDITIONS: dict[str, Condition] = {
    row.name: row
    for row in (
        Condition(
            "nan", "both", lambda s, t: s.nan > 0, _NONE, "", spreads=True,
            advice="Look at what made it: a division by zero, log or sqrt of a negative, Inf minus Inf.",
        ),
        Condition(
            "inf", "both", lambda s, t: s.positive_inf + s.negative_inf > 0, _NONE, "", spreads=True,
            advice="Look for exp of a large number, a division by zero or a dtype with too small a range.",
        ),
        Condition(
            "overflow", "both", _overflow, 0.9, "of the dtype's largest number", spreads=True,
            advice="Scale the values down, clip the gradient or use a dtype with a larger range.",
        ),
        Condition(
            "all_zero", "both", lambda s, t: 0 < s.count == s.zeros, _NONE, "",
            advice="Check the initial weights, a mask that hides all, or a branch that no gradient reaches.",
        ),
        Condition(
            "dead_relu", "forward", _dead, 0.95, "of the elements are zero", cells=("ReLU", "ReLU6"),
            advice="Try a smaller learning rate, a smaller negative bias before it, or LeakyReLU.",
        ),
        Condition(
            "saturated_sigmoid", "forward", _saturated(0.05, 0.95), 0.9, "of the elements near 0 or 1",
            cells=("Sigmoid",),
            advice="Its gradient is nearly zero here: scale the inputs down or normalise before it.",
        ),
        Condition(
            "saturated_tanh", "forward", _saturated(-0.95, 0.95), 0.9, "of the elements near -1 or 1",
            cells=("Tanh",),
            advice="Its gradient is nearly zero here: scale the inputs down or normalise before it.",
        ),
        Condition(
            "vanishing_gradient", "backward", _vanishing, 1e-7, "root mean square",
            advice="Add normalisation or residual connections, or check the scale of the initial weights.",
        ),
        Condition(
            "exploding_gradient", "backward", lambda s, t: s.norm > t, 1e3, "Euclidean norm",
            advice="Clip the gradient by its norm, lower the learning rate or check the initial weights.",
        ),
    )
}  # fmt: skip

_ALIASES = {"saturated": ("saturated_sigmoid", "saturated_tanh")}


def parse_conditions(texts: Sequence[str]) -> list[Condition]:
    """Read ``NAME`` or ``NAME=THRESHOLD`` each; "saturated" is saturated_sigmoid and saturated_tanh.

    Raises:
        ValueError: an unknown name, a threshold that is no number, or one where none is used.
    """
    found: list[Condition] = []
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        if name not in CONDITIONS and name not in _ALIASES:
            known = [*CONDITIONS, *_ALIASES]
            raise ValueError(
                f"stop_on {text!r}: no such condition; the nearest is {nearest(name, known)!r} "
                f"(all: {', '.join(known)})"
            )
        for condition in (CONDITIONS[known_name] for known_name in _ALIASES.get(name, (name,))):
            found.append(_with_threshold(condition, number, text) if equals else condition)
    return found


def _with_threshold(condition: Condition, number: str, text: str) -> Condition:
    if math.isnan(condition.threshold):
        raise ValueError(f"stop_on {text!r}: {condition.name} has no threshold")
    try:
        threshold = float(number)
    except ValueError:
        threshold = math.nan
    if not math.isfinite(threshold):
        raise ValueError(f"stop_on {text!r}: the threshold must be a finite number, got {number!r}")
    return replace(condition, threshold=threshold)


def examine(capture: Capture, conditions: Sequence[Condition] = tuple(CONDITIONS.values())) -> list[Hit]:
    """Which of the conditions hold for a capture."""
    wanted = [condition for condition in conditions if condition.looks_at(capture)]
    if not wanted:
        return []
    figures = capture.statistics()
    return [
        Hit(condition, capture, _message(condition, capture, figures))
        for condition in wanted
        if condition.formula(figures, condition.threshold)
    ]


def _message(condition: Condition, capture: Capture, figures: Statistics) -> str:
    if condition.name == "nan":
        detail = f"{figures.nan} of {figures.count} elements"
    elif condition.name == "inf":
        detail = f"{figures.positive_inf + figures.negative_inf} of {figures.count} elements"
    elif math.isnan(condition.threshold):
        detail = f"{figures.count} elements"
    else:
        detail = f"threshold {condition.threshold:g} {condition.unit}"
    return f"{condition.name} in {capture.key} ({detail})"
