"""Unusual updates of a weight, by the conditions' formulas and thresholds.

A session need not enable these conditions; if it does, its own thresholds apply.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hookscope.engine.debug.diagnose.conditions import CONDITIONS, Condition
from hookscope.engine.debug.diagnose.conditions.parameters import UpdateObservation, is_weight, usual_norm

_CONDITION_NAMES = ("update_too_large", "update_too_small", "learning_rate_too_large", "learning_rate_too_small")


def unusual_update(
    shape: tuple[int, ...],
    ratio: float,
    has_gradient: bool,
    norm: Callable[[], float],
    conditions: Mapping[str, Condition],
) -> str:
    """Describe in one line what is unusual about a weight's last update; "" for a usual one, and for a non-weight.

    Biases and scales begin at 0 or 1, so that their ratios mean little.

    Args:
        shape: the shape of the weight.
        ratio: the norm of the update divided by that of the weight; NaN if there is none.
        has_gradient: whether its gradient has nonzero elements.
        norm: returns the norm of the weight before the update; called only if the ratio is large.
        conditions: the session's conditions, by name.
    """
    if math.isnan(ratio) or not is_weight(shape):
        return ""
    too_large, too_small, rate_too_large, rate_too_small = (
        conditions.get(name, CONDITIONS[name]) for name in _CONDITION_NAMES
    )
    # A ratio out of range for all weights together is unusual for a single weight, but not yet a fault.
    if ratio > min(too_large.threshold, rate_too_large.threshold):
        before = norm()
        reference = max(before, usual_norm(shape))  # a weight that begins at or near zero must be able to grow
        description = too_large.formula(UpdateObservation(shape, "some", ratio * before, before), too_large.threshold)
        if description is not None:
            return f"{too_large.name}: {description}"
        return (
            _out_of_range(ratio * before / reference, "above", rate_too_large)
            if ratio * before > rate_too_large.threshold * reference
            else ""
        )
    if has_gradient and ratio < max(too_small.threshold, rate_too_small.threshold):
        description = too_small.formula(UpdateObservation(shape, "some", ratio, 1.0), too_small.threshold)
        return (
            f"{too_small.name}: {description}"
            if description is not None
            else _out_of_range(ratio, "below", rate_too_small)
        )
    return ""


def _out_of_range(ratio: float, side: str, condition: Condition) -> str:
    bound = f"{side} {condition.threshold:g} in all weights together is {condition.name}"
    return f"changed by {ratio:.3g} of its norm in one step, where about 1e-3 is usual; {bound}"
