"""Conditions on the targets that predictions are compared with: their scale, and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition, Detail

__all__ = [
    "ROWS",
    "DrawnTargetObservation",
    "LateMaskObservation",
    "LostGradientObservation",
    "TargetInputObservation",
    "TargetScaleObservation",
    "TrainedTargetObservation",
]

# Returns of a few hundred are usual in reinforcement learning, where a network learns them.
_LEAST = 1_000
# A network that is within this factor of its targets has reached their scale.
_REACHED = 3
# A network that has grown by this factor in the first comparisons, as a linear one may, is on its way to its targets.
_FAST = 30
# Comparisons in a row.
_OFTEN = 5
_TEACHES = 3


@dataclass(frozen=True)
class TargetScaleObservation:
    """The scale of the targets of a regression: root mean squares.

    Attributes:
        target: of the targets.
        first: of what the network gave in the first comparison.
        now: of what it gives.
    """

    group: ClassVar[str] = "loss"

    target: float
    first: float
    now: float


@dataclass(frozen=True)
class TrainedTargetObservation:
    """A target that comes from a network that was trained, loaded or copied before.

    Attributes:
        parameters: the names of its weights that the same gradient call asks for; empty if there are none.
        comparisons: the number of comparisons in a row.
        untrained: the names of the weights of the other value, if they are as they were made, and get no gradient.
    """

    group: ClassVar[str] = "loss"

    parameters: Sequence[str]
    comparisons: int
    untrained: Sequence[str] = ()


@dataclass(frozen=True)
class DrawnTargetObservation:
    """A target that consists of random numbers.

    Attributes:
        comparisons: the number of comparisons in a row in which it did, and the prediction did not depend on them.
    """

    group: ClassVar[str] = "loss"

    comparisons: int


@dataclass(frozen=True)
class LostGradientObservation:
    """Weights that the data which a loss compares with reach only through a choice.

    Attributes:
        parameters: their names.
        operator: the operator that chooses, such as "argmin".
        line: where it is called, with the text of the line; "" if that is not known.
        calls: the number of gradient calls in a row.
    """

    group: ClassVar[str] = "loss"

    parameters: Sequence[str]
    operator: str
    line: str
    calls: int


@dataclass(frozen=True)
class TargetInputObservation:
    """The class numbers of a loss.

    Attributes:
        share: the part of them that the network predicts right, if they are the indices by which it looks up its
            inputs, number by number; else 0.
        comparisons: the number of comparisons in a row in which that was nearly all.
    """

    group: ClassVar[str] = "loss"

    share: float
    comparisons: int


@dataclass(frozen=True)
class LateMaskObservation:
    """A mask that the results of a softmax were multiplied with, before they weighted values.

    Attributes:
        lost: the part of the weights that it took away.
        calls: the number of gradient calls in a row.
    """

    group: ClassVar[str] = "network"

    lost: float
    calls: int


def _scale(observation: TargetScaleObservation, threshold: float) -> str | None:
    target, first, now = observation.target, observation.first, observation.now
    if not (target >= _LEAST and target > threshold * first) or target / _REACHED <= now <= target * _REACHED:
        return None
    if first < now / _FAST and now < target:
        return None
    return f"the targets have a root mean square of {target:.3g}, where the network began with {first:.3g}"


def _trained(observation: TrainedTargetObservation, threshold: float) -> str | None:
    names = observation.parameters
    if not names or observation.comparisons < _TEACHES:
        return None
    if observation.untrained:
        return Detail(
            f"it comes from a network that was trained before, and this one gets the gradient: {_listed(names)}; the "
            f"other one, {_listed(observation.untrained)}, is as it was made, and no optimizer holds it",
            "Give the optimizer the parameters of the network that is to learn, and take the target through "
            "stop_gradient.",
        )
    return (
        f"it comes from a network that was trained before and is trained with the other one: {_listed(names)} get "
        "their gradient"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _drawn(observation: DrawnTargetObservation, threshold: float) -> str | None:
    if observation.comparisons < _OFTEN:
        return None
    return "it is drawn at random, and the prediction does not depend on these numbers"


def _lost(observation: LostGradientObservation, threshold: float) -> str | None:
    names = observation.parameters
    if not names or observation.calls < _OFTEN:
        return None
    location = f" ({observation.line})" if observation.line else ""
    them = "it" if len(names) == 1 else "them"
    return (
        f"{_listed(names)}: what the loss compares with the data depends on {them} only through "
        f"{observation.operator}{location}, where no gradient passes"
    )


def _is_input(observation: TargetInputObservation, threshold: float) -> str | None:
    if observation.comparisons < _OFTEN:
        return None
    return (
        "they are the numbers that the network gets as inputs, one by one, and it has learned to copy them: "
        f"{observation.share:.0%} are right"
    )


def _late(observation: LateMaskObservation, threshold: float) -> str | None:
    if observation.calls < _OFTEN or not observation.lost > threshold:
        return None
    return f"it hides values after the softmax: {observation.lost:.0%} of the weights are lost, the rest add up to less"


ROWS = (
    Condition(
        "targets_not_normalized",
        TargetScaleObservation,
        _scale,
        300.0,
        "times what the network gives at its beginning",
        "the targets of a regression are hundreds of times larger than what the network begins with, and 1000 at least",
        "Subtract the mean of the targets, divide by their standard deviation, and undo both on predictions.",
        "own",
        in_a_row=5,
        place="data",
    ),
    Condition(
        "trained_target",
        TrainedTargetObservation,
        _trained,
        NO_THRESHOLD,
        "",
        "the target of a comparison comes from a network that was trained or loaded before, and is trained along",
        "Take the target through stop_gradient, or freeze the network that it comes from and leave it out of the "
        "optimizer.",
        "own",
        place="loss",
    ),
    Condition(
        "random_target",
        DrawnTargetObservation,
        _drawn,
        NO_THRESHOLD,
        "",
        "the target of a comparison consists of random numbers on which the prediction does not depend",
        "Compare with the random numbers that were mixed into the inputs: draw once, and use the same tensor twice.",
        "own",
        place="loss",
    ),
    Condition(
        "lost_gradient",
        LostGradientObservation,
        _lost,
        NO_THRESHOLD,
        "",
        "weights that what a loss compares with the data depends on only through a choice, such as an argmin",
        "Pass the gradient straight through, as in x + stop_gradient(chosen - x), or weight what is chosen by its "
        "probability.",
        "own; van den Oord et al. 2017, Neural discrete representation learning, https://arxiv.org/abs/1711.00937, "
        "section 3.2",
    ),
    Condition(
        "target_is_input",
        TargetInputObservation,
        _is_input,
        NO_THRESHOLD,
        "",
        "the class numbers that a network predicts right are the indices that it gets, as of tokens",
        "Shift the targets by one, or give the network the masked tokens; it is right in an autoencoder alone.",
        "own",
        place="data",
    ),
    Condition(
        "mask_after_softmax",
        LateMaskObservation,
        _late,
        0.05,
        "of the weights",
        "a mask of zeros and ones is multiplied with the weights of an attention after their softmax",
        "Mask before the softmax: add -inf, or a large negative number, where it hides.",
        "Vaswani et al. 2017, Attention is all you need, https://arxiv.org/abs/1706.03762, section 3.2.3",
    ),
)
