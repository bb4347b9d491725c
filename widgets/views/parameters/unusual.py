"""Which updates of a weight are unusual: the conditions' formulas and thresholds, tried on what a row shows.

A session need not look for these conditions; where it does, with a threshold of its own, that one counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hookscope.engine.debug.diagnose.conditions import CONDITIONS, Condition
from hookscope.engine.debug.diagnose.conditions.parameters import UpdateSeen, is_weight, usual_norm

_ABOUT = ("update_too_large", "update_too_small", "learning_rate_too_large", "learning_rate_too_small")


def unusual_update(
    shape: tuple[int, ...], ratio: float, learns: bool, norm: Callable[[], float], looked_for: Mapping[str, Condition]
) -> str:
    """Say in one line what is unusual about the last update of a weight; "" for a usual one, and for what is no weight.

    Biases and scales begin at 0 or 1, so that their ratios mean little.

    Args:
        shape: of the weight.
        ratio: the norm of the update by that of the weight; NaN where there is none.
        learns: whether its gradient is anything but zeros.
        norm: of the weight before the update; asked for where the ratio is large.
        looked_for: the conditions of the session, by name.
    """
    if math.isnan(ratio) or not is_weight(shape):
        return ""
    too_large, too_small, far, near = (looked_for.get(name, CONDITIONS[name]) for name in _ABOUT)
    # What is far or near for all weights together is unusual for one, and no fault yet.
    if ratio > min(too_large.threshold, far.threshold):
        before = norm()
        usual = max(before, usual_norm(shape))  # a weight that begins at or near zero must be able to grow
        told = too_large.formula(UpdateSeen(shape, "some", ratio * before, before), too_large.threshold)
        if told is not None:
            return f"{too_large.name}: {told}"
        return _beyond(ratio * before / usual, "above", far) if ratio * before > far.threshold * usual else ""
    if learns and ratio < max(too_small.threshold, near.threshold):
        told = too_small.formula(UpdateSeen(shape, "some", ratio, 1.0), too_small.threshold)
        return f"{too_small.name}: {told}" if told is not None else _beyond(ratio, "below", near)
    return ""


def _beyond(ratio: float, side: str, condition: Condition) -> str:
    bound = f"{side} {condition.threshold:g} in all weights together is {condition.name}"
    return f"changed by {ratio:.3g} of its norm in one step, where about 1e-3 is usual; {bound}"
