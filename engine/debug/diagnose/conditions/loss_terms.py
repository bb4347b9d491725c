"""Conditions on the terms of a loss and on its fall: a term without bound, without a gradient, or without effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition

__all__ = [
    "ROWS",
    "AdvantageObservation",
    "DetachedObservation",
    "DrownedObservation",
    "FallObservation",
    "LearnedWeightObservation",
]

_A3C = "Mnih et al. 2016, Asynchronous methods for deep reinforcement learning, https://arxiv.org/abs/1602.01783"

# Losses before a course is judged.
_FEWEST = 30
# Each part of a course that falls without bound falls at least this much farther than the one before.
_GROWTH = 1.5
# Steps in which a term must move as an output of the network does, or in which two terms are compared.
_STEPS, _MANY_STEPS = 5, 60
# How nearly a term must move as an output of the network does, by ranks.
_RANKED = 0.98
# A term that never was below its beginning by more than this has not been learned.
_UNLEARNED = 0.98
# Steps after which the course of a learned factor is judged.
_WEIGHED = 20
# A factor as small as this beside a term says that it is to count less.
_MEANT = 0.2


@dataclass(frozen=True)
class FallObservation:
    """The course of a loss.

    Attributes:
        parts: the means of five equal parts of the losses so far, oldest first.
        largest: the largest magnitude in the first part.
        highest: the largest loss in the last part.
        steps: the number of losses.
        term: the term that falls, in words; "" if the loss is not a sum.
        is_clipped: whether the weights are kept within limits.
    """

    group: ClassVar[str] = "loss"

    parts: Sequence[float]
    largest: float
    highest: float
    steps: int
    term: str = ""
    is_clipped: bool = False


@dataclass(frozen=True)
class DrownedObservation:
    """The courses of two terms of a loss, each a distance from targets: means of five equal parts, oldest first.

    Attributes:
        small: the course of the smaller one.
        large: the course of the larger one.
        steps: the number of steps.
        factor: the number that multiplies the smaller one.
        location: the line of their sum; "" if it is not known.
    """

    group: ClassVar[str] = "loss"

    small: Sequence[float]
    large: Sequence[float]
    steps: int
    factor: float = 1.0
    location: str = ""


@dataclass(frozen=True)
class DetachedObservation:
    """A term of a loss that does not depend on the weights, in a run that reads an output of the network as numbers.

    Attributes:
        share: its part of the loss.
        value: its value.
        steps: the number of steps in which it was compared with the output that was read.
        correlation: the correlation of ranks between the numbers it was made from and that output.
        source: that output, in words.
        location: the line where it is added; "" if it is not known.
    """

    group: ClassVar[str] = "loss"

    share: float
    value: float
    steps: int
    correlation: float
    source: str
    location: str = ""


@dataclass(frozen=True)
class AdvantageObservation:
    """The factor of a log-probability in a loss that also fits values to targets.

    Attributes:
        parameter: a parameter of the values that gets a gradient by that factor; "" if it gets none.
        location: the line where it is added; "" if it is not known.
    """

    group: ClassVar[str] = "loss"

    parameter: str
    location: str = ""


@dataclass(frozen=True)
class LearnedWeightObservation:
    """A factor of a loss that is made of parameters alone, which reach the loss in no other way.

    Attributes:
        parameters: their names.
        first: the mean of the factor in the first step.
        now: its mean.
        is_positive: whether the factor and the loss that it multiplies are positive or zero.
        steps: the number of steps.
        location: the line where the term is added; "" if it is not known.
    """

    group: ClassVar[str] = "loss"

    parameters: Sequence[str]
    first: float
    now: float
    is_positive: bool
    steps: int
    location: str = ""


def _falls(observation: FallObservation, threshold: float) -> str | None:
    parts = observation.parts
    if (
        observation.steps < _FEWEST
        or observation.is_clipped
        or not observation.highest < 0
        or not -parts[-1] > threshold * max(observation.largest, 1.0)
    ):
        return None
    falls = [before - after for before, after in pairwise(parts)]
    if not (falls[-3] > 0 and all(after >= _GROWTH * before for before, after in pairwise(falls[-3:]))):
        return None
    means = ", ".join(f"{part:.3g}" for part in parts)
    message = f"it falls faster and faster below zero: the means of five equal parts of {observation.steps} steps are "
    return f"{message}{means}{f'; {observation.term}' if observation.term else ''}"


def _drowned(observation: DrownedObservation, threshold: float) -> str | None:
    small, large = observation.small, observation.large
    if (
        observation.steps < _MANY_STEPS
        or abs(observation.factor) <= _MEANT
        or not small[0] > 0
        or not min(small) >= _UNLEARNED * small[0]
        or not small[-1] >= small[0]
        or not all(b > threshold * a for a, b in zip(small[:3], large[:3], strict=True))
        or not large[-1] > small[-1]
    ):
        return None
    location = f" ({observation.location})" if observation.location else ""
    return (
        f"one term does not fall, from {small[0]:.3g} to {small[-1]:.3g} in {observation.steps} steps, beside another "
        f"that is {large[0] / small[0]:.3g} times as large{location}"
    )


def _detached(observation: DetachedObservation, threshold: float) -> str | None:
    if observation.steps < _STEPS or abs(observation.correlation) < _RANKED or not observation.share > threshold:
        return None
    location = f" ({observation.location})" if observation.location else ""
    return (
        f"a term of {observation.value:.3g}, {100 * observation.share:.3g} % of the loss, has no gradient: it is "
        f"computed from {observation.source}, taken out as NumPy numbers{location}"
    )


def _advantage(observation: AdvantageObservation, threshold: float) -> str | None:
    if not observation.parameter:
        return None
    location = f" ({observation.location})" if observation.location else ""
    return (
        "the factor of the log-probabilities, targets minus values, is not detached: the policy's term moves the "
        f"values too, by {observation.parameter}{location}"
    )


def _weight_falls(observation: LearnedWeightObservation, threshold: float) -> str | None:
    first, now = observation.first, observation.now
    if observation.steps < _WEIGHED or not observation.is_positive or not 0 <= now < threshold * first:
        return None
    location = f" ({observation.location})" if observation.location else ""
    return (
        f"{', '.join(observation.parameters)}: the factor that is learned falls from {first:.3g} to {now:.3g}, and no "
        f"term of the loss holds it, so that the loss falls without anything learned{location}"
    )


ROWS = (
    Condition(
        "loss_falls_without_bound",
        FallObservation,
        _falls,
        50.0,
        "times the largest loss of the first fifth, and at least that below zero",
        "the loss falls below zero, each fifth of the steps at least 1.5 times as far as the one before",
        "Look for a wrong sign (a divergence is added, a log-determinant raises the likelihood), or bound what falls: "
        "clip a critic's weights or penalize its gradient.",
        "own; steady falls, as of a log-likelihood, reach 5 times the first fifth",
        in_a_row=3,
        place="loss",
    ),
    Condition(
        "loss_term_drowned",
        DrownedObservation,
        _drowned,
        20.0,
        "times the smaller term",
        "in 60 steps a term with targets does not fall beside another one that is much larger",
        "Bring the terms to one scale: normalize the targets of the larger one, or weight the terms.",
        "own",
        in_a_row=3,
        place="loss",
        symptom=True,
    ),
    Condition(
        "detached_term",
        DetachedObservation,
        _detached,
        0.01,
        "of the loss",
        "a term that follows an output of the network was computed from it through NumPy, so that it has no gradient",
        "Compute the term by operators on the tensors, or leave it out of the loss.",
        "own; ranks correlate by 0.98 in at least 5 steps",
        in_a_row=3,
        place="loss",
    ),
    Condition(
        "attached_advantage",
        AdvantageObservation,
        _advantage,
        NO_THRESHOLD,
        "",
        "the advantage beside log-probabilities is targets minus values, and its gradient reaches the values that "
        "another term fits",
        "Put stop_gradient around the advantage in the policy's term.",
        f"{_A3C}, section 4",
        in_a_row=3,
        place="loss",
    ),
    Condition(
        "loss_weight_vanishes",
        LearnedWeightObservation,
        _weight_falls,
        0.9,
        "of the factor in the first step",
        "a loss is multiplied by a factor made of parameters that reach it in no other way, and the factor falls",
        "Add the term that holds it, such as the log-variance beside exp(-log_variance) * loss, or fix the weights.",
        "Kendall et al. 2018, Multi-task learning using uncertainty, https://arxiv.org/abs/1705.07115, section 3.2",
        place="loss",
    ),
)
