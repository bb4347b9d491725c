"""Conditions on representations: outputs that become the same for all samples, and values compared with themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition, Detail

__all__ = ["ROWS", "CollapseObservation", "SameOperandsObservation"]

# Shares of the variance: one that is healthy, and the limit for logits, which may differ little beside their mean.
_VARIED, _OF_LOGITS = 0.05, 1e-6
# Two representations that agree: a distance that is the bound of most losses, as a share of their mean squares.
_AGREE = 0.01
_SAME = 3

_OF_CLASSES = "Look for units that are dead or saturated, a learning rate that is too large, or inputs that are lost."


@dataclass(frozen=True)
class CollapseObservation:
    """The variation of a value over the samples of a batch.

    Attributes:
        what: "representations" or "logits".
        variation: the variance over the samples as a share of the mean square or, where only directions count, 1 minus
            the mean cosine of two samples; of two representations that are compared, the larger one.
        before: the largest one so far.
        distance: of two representations: how far they are from each other, in the same unit.
        inputs_vary: whether the inputs, and the labels, differ from sample to sample.
    """

    group: ClassVar[str] = "network"

    what: str
    variation: float
    before: float
    distance: float
    inputs_vary: bool


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
    is_logits = observation.what == "logits"
    limit = _OF_LOGITS if is_logits else threshold
    if not (observation.variation < limit and observation.before > _VARIED and observation.inputs_vary):
        return None
    if not is_logits and not observation.distance < _AGREE:
        return None
    text = (
        f"the {observation.what} of all samples have become the same: they vary by {observation.variation:.2g} of "
        f"their size squared, {observation.before:.2g} before"
    )
    return Detail(text, _OF_CLASSES) if is_logits else text


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
        3e-3,
        "variance over the batch by mean square",
        "representations that are compared, or logits, become the same for all samples of a batch",
        "Put stop_gradient on the branch of the targets, add a predictor, negative samples or a term for the variance.",
        "own; Chen and He 2021, Exploring simple Siamese representation learning, https://arxiv.org/abs/2011.10566, "
        "section 4.1; the threshold is own",
        in_a_row=10,
        symptom=True,
    ),
)
