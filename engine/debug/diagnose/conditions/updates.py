"""Conditions on what optimizers are called with, and on what becomes of their updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition, Detail

__all__ = [
    "ROWS",
    "AccumulationObservation",
    "DecayObservation",
    "OpposedObservation",
    "ScaledDownObservation",
    "UncalledObservation",
    "UndoneObservation",
]


@dataclass(frozen=True)
class AccumulationObservation:
    """Consecutive calls of an optimizer, each with the gradients of the last one plus those computed since.

    Attributes:
        calls: the number of these calls of the optimizer.
        gradient_calls: the number of gradient calls between two of them.
        growth: the norm of the newest gradients by that of what was added to them last.
    """

    group: ClassVar[str] = "optimizer"

    calls: int
    gradient_calls: int
    growth: float


@dataclass(frozen=True)
class ScaledDownObservation:
    """The gradients that an optimizer is called with, in several consecutive calls.

    Attributes:
        scale: the constant that the loss is multiplied by before it is differentiated.
        share: their norm by that of the gradients of the loss without this scale.
        norm: the norm that they are clipped to while they have the scale; None if the scale is taken out twice.
    """

    group: ClassVar[str] = "optimizer"

    scale: float
    share: float
    norm: float | None


@dataclass(frozen=True)
class UndoneObservation:
    """Consecutive updates, each followed by a write onto the same weights.

    Attributes:
        updates: their number.
        share: the smallest part of an update that the write after it took back.
        rest: the largest angle's cosine between what is left of an update and the update itself.
    """

    group: ClassVar[str] = "optimizer"

    updates: int
    share: float
    rest: float


@dataclass(frozen=True)
class DecayObservation:
    """The weights of an optimizer with weight decay, some time after the beginning.

    Attributes:
        times: the number of consecutive observations with a collapsed weight.
        decay: the largest weight decay of these weights.
        updates: the number of updates since the beginning.
        collapsed: of each weight that shrank to a tenth of its first norm or less, where the decay's part of the
            updates added up to at least the gradient's: the ratio of the two.
        weights: the number of weights.
        before: the first norm of the collapsed weights together.
        now: their norm now.
        learns: whether the loss has fallen.
    """

    group: ClassVar[str] = "optimizer"

    times: int
    decay: float
    updates: int
    collapsed: Sequence[float]
    weights: int
    before: float
    now: float
    learns: bool


@dataclass(frozen=True)
class OpposedObservation:
    """The gradients that two optimizers get in turn for the parameters of one network.

    Attributes:
        names: the class and the first parameter of each optimizer.
        cell: the network.
        cosines: the cosines of the angles between the gradients of both.
    """

    group: ClassVar[str] = "optimizer"

    names: tuple[str, str]
    cell: str
    cosines: Sequence[float]


@dataclass(frozen=True)
class UncalledObservation:
    """An optimizer of weights that gradients were computed for.

    Attributes:
        gradient_calls: the number of gradient calls for its parameters.
        name: the name of its first parameter.
        unused: whether it was never called, nothing was written to its parameters, and no operator used the gradients.
    """

    group: ClassVar[str] = "optimizer"

    gradient_calls: int
    name: str
    unused: bool

    @property
    def is_over(self) -> bool:
        """Whether it was called, or the parameters were written, so that an earlier finding was of an accumulation."""
        return not self.unused


# The smallest number of calls that an observation must cover.
_CALLS = 10
_UPDATES = 5
_GRADIENT_CALLS = 20
# Of the cosines between two gradients, this share must be below the limit; so must the median.
_MOST, _OPPOSED, _MEDIAN = 0.8, -0.2, -0.5
# A single matrix may be that of a regression, whose decay is chosen.
_FEWEST_WEIGHTS = 2
# A write that takes back at least this part of an update, and leaves a part of it in its own direction.
_TAKEN_BACK, _PARALLEL = 1 / 3, 0.9
# The gradients of a loss with a scale of less than this are not far smaller without it.
_SMALL = 0.2


def _accumulates(observation: AccumulationObservation, threshold: float) -> str | None:
    if observation.calls < _CALLS:
        return None
    added = "a gradient call" if observation.gradient_calls == 1 else f"{observation.gradient_calls} gradient calls"
    return (
        f"its gradients are never cleared: in {observation.calls} calls in a row it got those of the call before plus "
        f"the ones of {added}, now {observation.growth:.3g} times as long as the newest"
    )


def _scaled_down(observation: ScaledDownObservation, threshold: float) -> str | None:
    if not observation.share < _SMALL:
        return None
    if observation.norm is None:
        return Detail(
            f"it gets {observation.share:.3g} of the gradients: the loss is multiplied by {observation.scale:g}, and "
            "the gradients are divided by it twice",
            "Divide by the loss scale once: in the loop, or with the optimizer's loss_scale.",
        )
    return (
        f"it gets {observation.share:.3g} of the gradients: they are clipped to norm {observation.norm:.3g} while they "
        f"have the loss scale of {observation.scale:g}, and divided by it afterwards"
    )


def _undone(observation: UndoneObservation, threshold: float) -> str | None:
    if observation.updates < _UPDATES or observation.share < _TAKEN_BACK or observation.rest < _PARALLEL:
        return None
    return (
        f"after each of {observation.updates} updates in a row the same weights were written again, which took back "
        f"{observation.share:.3g} of it or more, as when an average of the weights is written onto them"
    )


def _decays(observation: DecayObservation, threshold: float) -> str | None:
    collapsed, weights = len(observation.collapsed), observation.weights
    if observation.times < _UPDATES or observation.learns or weights < _FEWEST_WEIGHTS or 2 * collapsed < weights:
        return None
    largest = max(observation.collapsed)
    if not largest > threshold:
        return None
    return (
        f"with weight_decay={observation.decay:g} the norm of {collapsed} of {weights} weights fell from "
        f"{observation.before:.3g} to {observation.now:.3g} in {observation.updates} updates, and the loss did not "
        f"fall; the decay's part of the updates is up to {largest:.2g} times the gradient's"
    )


def _opposed(observation: OpposedObservation, threshold: float) -> str | None:
    cosines = sorted(observation.cosines)
    if len(cosines) < _CALLS or cosines[len(cosines) // 2] > _MEDIAN:
        return None
    if sum(cosine < _OPPOSED for cosine in cosines) < _MOST * len(cosines):
        return None
    first, second = observation.names
    return (
        f"{first} and {second} both train all of {observation.cell}, in opposite directions: the median cosine of "
        f"their gradients is {cosines[len(cosines) // 2]:.2f} in {len(cosines)} pairs of steps"
    )


def _uncalled(observation: UncalledObservation, threshold: float) -> str | None:
    if not observation.unused or observation.gradient_calls < _GRADIENT_CALLS:
        return None
    return (
        f"it was never called in {observation.gradient_calls} gradient calls for its parameters ({observation.name}, "
        "...), and nothing else was written to them"
    )


ROWS = (
    Condition(
        "optimizer_not_called",
        UncalledObservation,
        _uncalled,
        NO_THRESHOLD,
        "",
        "gradients are computed for an optimizer's parameters, 20 times or more, and the optimizer is never called",
        "Call the optimizer with the gradients.",
        "own",
        place="optimizer",
    ),
    Condition(
        "gradients_accumulate",
        AccumulationObservation,
        _accumulates,
        NO_THRESHOLD,
        "",
        "an optimizer gets the sum of all gradients since the beginning, in 10 calls in a row",
        "Set the accumulated gradients to zero after each call of the optimizer.",
        "own; sums within 1e-3 of the newest gradients",
        place="optimizer",
    ),
    Condition(
        "gradients_scaled_down",
        ScaledDownObservation,
        _scaled_down,
        NO_THRESHOLD,
        "",
        "gradients are clipped while they have the scale of the loss, and divided by it afterwards, or divided twice",
        "Divide the gradients by the loss scale first, then clip them.",
        "Micikevicius et al. 2018, Mixed precision training, https://arxiv.org/abs/1710.03740, section 3.2",
        place="optimizer",
    ),
    Condition(
        "opposed_updates",
        OpposedObservation,
        _opposed,
        NO_THRESHOLD,
        "",
        "two optimizers train all parameters of one network in opposite directions, in turn",
        "Give each network's parameters to one optimizer, and detach what it gets from the other.",
        "own; of 10 cosines or more, the median is below -0.5 and 4 of 5 are below -0.2",
        place="optimizer",
    ),
    Condition(
        "updates_undone",
        UndoneObservation,
        _undone,
        NO_THRESHOLD,
        "",
        "a write after each update takes back a third of it or more, 5 times in a row",
        "Keep the average in parameters of its own, and copy it into a network that is not trained.",
        "own",
        place="optimizer",
    ),
    Condition(
        "weight_decay_too_large",
        DecayObservation,
        _decays,
        2.0,
        "times the gradient's part of the updates",
        "weight decay shrinks half of the weights or more to a tenth, and the loss does not fall",
        "Lower the weight decay, by a factor of 10 to begin with.",
        "own; 1e-4 to 5e-2 are usual",
        place="optimizer",
    ),
)
