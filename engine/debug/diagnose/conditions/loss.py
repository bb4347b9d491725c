"""Conditions on the inputs of a loss, and on its first value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...record.numbers import ends_of
from .condition import NO_THRESHOLD, Condition, Detail

__all__ = [
    "BINARY",
    "ROWS",
    "BoundedObservation",
    "BroadcastObservation",
    "FirstLossObservation",
    "LossCallObservation",
    "SignObservation",
    "SoftmaxObservation",
]

_KARPATHY = "Karpathy, A recipe for training neural networks, https://karpathy.github.io/2019/04/25/recipe/"

_SET_BEFORE = "See what was loaded into the network, and whether its classes are those of the labels."

# Sums this near to 1 are sums of probabilities.
_SUM = 1e-3
# Largest relative distance of a network's first cross-entropy from that of an uninformed prediction.
_NEAR_GUESSING = 0.3
# Fewer numbers than this may be between 0 and 1 by chance.
_FEWEST = 8
# Allowed excess of a target beyond the range of an activation, as a share of that range.
_BEYOND = 0.1
# Of an activation with one limit: allowed share of targets beyond it, and the comparisons in a row that have more.
_FEW_BEYOND = 0.2
_OFTEN = 3

BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
_OF_LOGITS = {
    "binary_cross_entropy_with_logits": "logits",
    "cross_entropy": "logits",
    "ctc_loss": "log-probabilities",
    "nll_loss": "log-probabilities",
}


@dataclass(frozen=True)
class LossCallObservation:
    """A call of a loss function.

    Attributes:
        function: its name in ``ops``.
        prediction: the network's output, an array.
        target: the target, an array.
        normalized: whether a softmax or sigmoid made the prediction.
    """

    group: ClassVar[str] = "loss"

    function: str
    prediction: Any
    target: Any
    normalized: bool = False


@dataclass(frozen=True)
class BroadcastObservation:
    """The shapes of a difference between an output of a network and another value."""

    group: ClassVar[str] = "loss"

    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True)
class BoundedObservation:
    """The range of a network's bounded output, as after a sigmoid, and the range of its targets.

    Attributes:
        low, high: the limits of the output; infinite if it has only one, as after a ReLU.
        least, most: the smallest and the largest target.
        share: of an output with one limit: the share of targets beyond it.
        comparisons: the number of comparisons in a row in which the share was this large.
    """

    group: ClassVar[str] = "loss"

    low: float
    high: float
    least: float
    most: float
    share: float = 0.0
    comparisons: int = 1

    @property
    def is_one_sided(self) -> bool:
        """Whether the output has one limit only."""
        return math.isinf(self.low) or math.isinf(self.high)

    @property
    def is_often_beyond(self) -> bool:
        """Whether more than a few targets are beyond the only limit."""
        return self.is_one_sided and self.share > _FEW_BEYOND


@dataclass(frozen=True)
class SoftmaxObservation:
    """A softmax of a whole batch: its axis, and the shape."""

    group: ClassVar[str] = "loss"

    axis: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class FirstLossObservation:
    """The first cross-entropy of a network, a mean over its samples, and the number of classes.

    ``is_new`` says that its last weight holds the values that it was made with.
    """

    group: ClassVar[str] = "loss"

    loss: float
    classes: int
    is_new: bool = True


@dataclass(frozen=True)
class SignObservation:
    """A differentiated loss, and the mean cross-entropy in it or, with ``about``, that of an uninformed prediction."""

    group: ClassVar[str] = "loss"

    loss: float
    cross_entropy: float
    about: bool = False


def _twice(observation: LossCallObservation, threshold: float) -> str | None:
    expected, x = _OF_LOGITS.get(observation.function), observation.prediction
    if expected is None or x.size < _FEWEST or x.dtype.kind not in "fV":
        return None
    low, high = ends_of(x) or (math.nan, math.nan)
    if not (low >= 0 and high <= 1) or low == high:
        return None
    if observation.function == "binary_cross_entropy_with_logits":
        if not observation.normalized:
            return None  # logits of a network that has learned little lie there by chance
        return f"it wants logits, and all it gets lies in [{low:.3g}, {high:.3g}], as after a sigmoid"
    sums = _sums(x, -1 if observation.function == "ctc_loss" else 1 if x.ndim > 1 else 0)
    if not (abs(sums - 1) <= _SUM).all():
        return None
    if observation.function == "ctc_loss":
        return Detail(
            "it wants log-probabilities, but its inputs are probabilities: they add up to 1 over the classes",
            "Give it the result of log_softmax in place of softmax.",
        )
    return f"it wants {expected}, but its inputs are probabilities: they add up to 1 over the classes"


def _range(observation: LossCallObservation | BoundedObservation, threshold: float) -> str | None:
    if isinstance(observation, BoundedObservation):
        if observation.is_one_sided:
            if not observation.is_often_beyond or observation.comparisons < _OFTEN:
                return None
            limit = f"below {observation.low:g}" if math.isinf(observation.high) else f"above {observation.high:g}"
            side = f"from {observation.low:g} on" if math.isinf(observation.high) else f"up to {observation.high:g}"
            return Detail(
                f"{observation.share:.0%} of the targets lie {limit}, but the values that they are compared with are "
                f"always {side}",
                "Leave the last activation out of the network, or take one that reaches all targets.",
            )
        excess = max(observation.low - observation.least, observation.most - observation.high)
        if not excess > _BEYOND * (observation.high - observation.low):
            return None
        limits = f"[{observation.low:g}, {observation.high:g}]"
        targets = f"[{observation.least:.3g}, {observation.most:.3g}]"
        return f"targets lie in {targets}, but the values that they are compared with always lie in {limits}"
    if observation.target.dtype.kind not in "fV" or not observation.target.size:
        return None
    if observation.function in BINARY:
        low, high = ends_of(observation.target) or (math.nan, math.nan)
        return f"targets lie in [{low:.3g}, {high:.3g}], not in [0, 1]" if low < 0 or high > 1 else None
    if (
        observation.function == "cross_entropy"
        and observation.target.shape == observation.prediction.shape
        and observation.target.ndim > 1
    ):
        sums = _sums(observation.target, 1)
        mismatched = abs(sums - 1) > _SUM
        if mismatched.any():
            example = float(sums[mismatched].reshape(-1)[0])
            return f"{int(mismatched.sum())} of {mismatched.size} rows of probabilities add up to {example:.3g}, not 1"
    return None


def _sums(array: Any, axis: int) -> Any:
    with np.errstate(all="ignore"):  # the user may have turned warnings into errors
        return array.astype("float32").sum(axis=axis)


def _broadcasts(observation: BroadcastObservation, threshold: float) -> str | None:
    return _grows(observation.first, observation.second)


def _grows(first: tuple[int, ...], second: tuple[int, ...]) -> str | None:
    """Return a message if two shapes broadcast to a larger shape than either: each sample against all the others."""
    if first == second or 1 in (math.prod(first), math.prod(second)):
        return None
    length = max(len(first), len(second))
    padded = [(1,) * (length - len(shape)) + shape for shape in (first, second)]
    result = tuple(max(pair) for pair in zip(*padded, strict=True))
    if math.prod(result) <= max(math.prod(first), math.prod(second)):
        return None
    return f"the shapes {first} and {second} give {result}: each sample is compared with every other one"


def _over_batch(observation: SoftmaxObservation, threshold: float) -> str | None:
    if observation.axis != 0 or len(observation.shape) < 2 or observation.shape[0] < 2:
        return None
    return f"a softmax of shape {observation.shape} along axis 0, that of the batch: classes are along axis 1"


def _first(observation: FirstLossObservation, threshold: float) -> str | None:
    uninformed = math.log(observation.classes)
    if not observation.loss > threshold * uninformed:
        return None
    guess = f"guessing among {observation.classes} classes costs {uninformed:.3g}"
    if observation.is_new:
        return f"{observation.loss:.3g} before any training, where {guess}"
    return Detail(f"{observation.loss:.3g} in the first step that was watched, where {guess}", _SET_BEFORE)


def _sign(observation: SignObservation, threshold: float) -> str | None:
    tolerance = _NEAR_GUESSING if observation.about else threshold
    if (
        not observation.loss < 0 < observation.cross_entropy
        or abs(observation.loss + observation.cross_entropy) > tolerance * observation.cross_entropy
    ):
        return None
    return f"the minimized value is {observation.loss:.3g}, minus a cross-entropy"


ROWS = (
    Condition(
        "softmax_twice",
        LossCallObservation,
        _twice,
        NO_THRESHOLD,
        "",
        "a loss that wants logits, or log-probabilities, gets probabilities",
        "Leave the softmax or sigmoid out of the network: the loss has its own.",
        "own; sums within 1e-3 of 1",
        in_a_row=3,
        place="loss",
    ),
    Condition(
        "targets_out_of_range",
        (LossCallObservation, BoundedObservation),
        _range,
        NO_THRESHOLD,
        "",
        "targets of a binary cross-entropy are not in [0, 1], those of a cross-entropy are not probabilities, or a "
        "last sigmoid, softmax, tanh or ReLU cannot reach them",
        "Give 0 and 1, not -1 and 1 or 255; of one-hot rows, number the classes from 0 on.",
        "own; sums within 1e-3 of 1",
        place="data",
        certain=True,
    ),
    Condition(
        "loss_broadcasts",
        BroadcastObservation,
        _broadcasts,
        NO_THRESHOLD,
        "",
        "the difference between predictions and targets has a larger shape than each of them",
        "Give both one shape: squeeze the last axis of the prediction, or add one to the targets.",
        "own",
        place="loss",
        certain=True,
    ),
    Condition(
        "softmax_over_batch",
        SoftmaxObservation,
        _over_batch,
        NO_THRESHOLD,
        "",
        "a softmax runs along the axis of the samples",
        "Use axis=-1, or axis=1 for (N, C, ...).",
        "own",
        place="loss",
    ),
    Condition(
        "first_loss",
        FirstLossObservation,
        _first,
        3.0,
        "times the cross-entropy of guessing",
        "the cross-entropy begins far above that of guessing",
        "Scale down the initial weights of the last layer, or normalize the inputs.",
        f"{_KARPATHY} (verify the loss at the beginning); the factor is own",
        place="loss",
    ),
    Condition(
        "wrong_sign",
        SignObservation,
        _sign,
        1e-3,
        "of the cross-entropy",
        "the negative of a cross-entropy is made smaller",
        "Take the minus away: the cross-entropy itself is to fall.",
        "own",
        place="loss",
    ),
)
