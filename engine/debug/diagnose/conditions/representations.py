"""Conditions on representations: outputs that become the same for all samples, and values compared with themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition, Detail

__all__ = ["ROWS", "CollapseObservation", "SameOperandsObservation"]

# A value that has never varied more than this has not collapsed.
_VARIED = 0.05
_OFTEN = 10
_SAME = 3

_OF_CLASSES = "Look for units that are dead or saturated, a learning rate that is too large, or inputs that are lost."


@dataclass(frozen=True)
class CollapseObservation:
    """The variation of a value over the samples of a batch: standard deviation by root mean square.

    Attributes:
        what: "representations" or "logits".
        variation: now; of two that are compared, the larger one.
        before: the largest one so far.
        comparisons: the number of comparisons in a row in which the variation was this small.
    """

    group: ClassVar[str] = "network"

    what: str
    variation: float
    before: float
    comparisons: int


@dataclass(frozen=True)
class SameOperandsObservation:
    """The operands of a difference or a ratio.

    Attributes:
        operator: "sub" or "div".
        comparisons: the number of gradient calls in a row in which one computation, made twice, gave both.
    """

    group: ClassVar[str] = "loss"

    operator: str
    comparisons: int


def _collapsed(observation: CollapseObservation, threshold: float) -> str | None:
    is_small = observation.variation < threshold and observation.before > _VARIED
    if not is_small or observation.comparisons < _OFTEN:
        return None
    text = (
        f"the {observation.what} of all samples are the same but for {observation.variation:.2g} of their size, after "
        f"{observation.before:.2g} at most before"
    )
    return Detail(text, _OF_CLASSES) if observation.what == "logits" else text


def _same(observation: SameOperandsObservation, threshold: float) -> str | None:
    if observation.comparisons < _SAME:
        return None
    what, value = ("ratio", "1") if observation.operator == "div" else ("difference", "0")
    return f"the {what} is {value} everywhere: the same weights computed both operands, so no gradient comes through"


ROWS = (
    Condition(
        "same_operands",
        SameOperandsObservation,
        _same,
        NO_THRESHOLD,
        "",
        "the difference or the ratio of two values that the same weights computed from the same inputs",
        "Compute one of them before the update, outside of the loss, and pass it in.",
        "own",
        place="loss",
    ),
    Condition(
        "collapsed_output",
        CollapseObservation,
        _collapsed,
        1e-3,
        "standard deviation over the batch by root mean square",
        "representations that are compared, or logits, become the same for all samples of a batch",
        "Put stop_gradient on the branch of the targets, add a predictor, negative samples or a term for the variance.",
        "own; Chen and He 2021, Exploring simple Siamese representation learning, https://arxiv.org/abs/2011.10566, "
        "section 4.1",
        symptom=True,
    ),
)
