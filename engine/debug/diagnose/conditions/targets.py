"""Conditions on the targets that predictions are compared with: their scale, and what they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition

__all__ = ["ROWS", "DrawnTargetObservation", "TargetScaleObservation", "TrainedTargetObservation"]

# Returns of a few hundred are usual in reinforcement learning, where a network learns them.
_LEAST = 1_000
# A network that is within this factor of its targets has reached their scale.
_REACHED = 3
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
    """

    group: ClassVar[str] = "loss"

    parameters: Sequence[str]
    comparisons: int


@dataclass(frozen=True)
class DrawnTargetObservation:
    """A target that consists of random numbers.

    Attributes:
        comparisons: the number of comparisons in a row in which it did, and the prediction did not depend on them.
    """

    group: ClassVar[str] = "loss"

    comparisons: int


def _scale(observation: TargetScaleObservation, threshold: float) -> str | None:
    target, first, now = observation.target, observation.first, observation.now
    if not (target >= _LEAST and target > threshold * first) or target / _REACHED <= now <= target * _REACHED:
        return None
    return f"the targets have a root mean square of {target:.3g}, where the network began with {first:.3g}"


def _trained(observation: TrainedTargetObservation, threshold: float) -> str | None:
    names = observation.parameters
    if not names or observation.comparisons < _TEACHES:
        return None
    listed = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return (
        f"it comes from a network that was trained before and is trained with the other one: {listed} get its gradient"
    )


def _drawn(observation: DrawnTargetObservation, threshold: float) -> str | None:
    if observation.comparisons < _OFTEN:
        return None
    return "it is drawn at random, and the prediction does not depend on these numbers"


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
)
