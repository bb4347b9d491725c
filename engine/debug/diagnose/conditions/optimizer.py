"""Conditions on the optimizer: its parameters, and the size of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition, Detail

_CS231N = "https://cs231n.github.io/neural-networks-3/#ratio"

__all__ = ["ROWS", "HoldingObservation", "RateObservation", "StepObservation", "summed_detail"]


@dataclass(frozen=True)
class RateObservation:
    """The learning rate of a group of parameters in a step, and the names of some of them."""

    group: ClassVar[str] = "optimizer"

    rate: float
    names: Sequence[str]


@dataclass(frozen=True)
class HoldingObservation:
    """Names of the parameters of an optimizer and of the network whose gradients it receives.

    Attributes:
        foreign: parameters of the optimizer on which the loss does not depend.
        own: parameters of the network that are missing from the optimizer.
        left_out: the network of these parameters, if another optimizer trains the ones that this one holds, in turn
            with it, and none trains this network.
        ran: whether some of the foreign ones belong to cells that ran.
    """

    group: ClassVar[str] = "optimizer"

    foreign: Sequence[str]
    own: Sequence[str]
    left_out: str = ""
    ran: bool = False


@dataclass(frozen=True)
class StepObservation:
    """The effect of an optimizer's step on all weights together: the norm of the change divided by their norm.

    A weight that begins smaller counts as one of variance 1 / fan-in; biases and scales do not count.

    Attributes:
        ratio: the norm of the change divided by the norm of the weights.
        share: the gradient of the step relative to the largest one that these weights have had. Steps shrink with their
            gradients, which is not a fault of the rate.
        summed: the number of gradient calls whose plain sum the optimizer got; 0 if not of several.
    """

    group: ClassVar[str] = "optimizer"

    ratio: float
    share: float = 1.0
    summed: int = 0


def _rate(observation: RateObservation, threshold: float) -> str | None:
    if observation.rate != 0:
        return None
    return f"the learning rate of {_some(observation.names)} is 0"


def _too_far(observation: StepObservation, threshold: float) -> str | None:
    if not observation.ratio > threshold:
        return None
    text = f"a step changes all weights by {observation.ratio:.3g} of their norm, where about 1e-3 is usual"
    return summed_detail(text, observation.summed)


def _too_near(observation: StepObservation, threshold: float) -> str | None:
    if not 0 < observation.ratio < threshold * observation.share:
        return None
    return f"a step changes all weights by {observation.ratio:.3g} of their norm, where about 1e-3 is usual"


def _ownership(observation: HoldingObservation, threshold: float) -> str | None:
    if not observation.foreign:
        return None
    if observation.left_out:
        return Detail(
            f"it holds {_some(observation.foreign)}, as another optimizer does that is called in turn with it, and "
            f"none holds the parameters of {observation.left_out}: {_some(observation.own)}",
            f"Give one of the two optimizers the parameters of {observation.left_out}.",
        )
    if set(observation.foreign) & set(observation.own) and not observation.ran:
        return f"it holds {_some(observation.foreign)} of a network that was made before, not of this one"
    return f"it holds {_some(observation.foreign)}, on which the loss does not depend, and not {_some(observation.own)}"


def summed_detail(text: str, calls: int) -> str:
    """Return a message on an update that is too large; if its gradients are a sum over gradient calls, say so."""
    if calls < 2:
        return text
    return Detail(
        f"{text}; its gradients are the sum of those of {calls} gradient calls, not their mean",
        f"Divide the sum of the gradients by {calls}, the number of gradient calls.",
    )


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(names[:3])
    return listed if len(names) <= 3 else f"{listed} and {len(names) - 3} more"


ROWS = (
    Condition(
        "learning_rate_zero",
        RateObservation,
        _rate,
        NO_THRESHOLD,
        "",
        "the learning rate of some parameters is 0 in 3 steps",
        "Give the group a learning rate, or freeze its parameters with requires_grad=False.",
        "own; a warm-up may begin at 0",
        in_a_row=3,
        place="optimizer",
        certain=True,
    ),
    Condition(
        "learning_rate_too_large",
        StepObservation,
        _too_far,
        0.8,
        "norm of the change by norm of all weights",
        "a step changes the weights by about as much as they are",
        "Lower the learning rate, by a factor of 10 to begin with, or warm it up.",
        f"own; about 1e-3 is usual: {_CS231N}",
        place="optimizer",
    ),
    Condition(
        "learning_rate_too_small",
        StepObservation,
        _too_near,
        1e-5,
        "norm of the change by norm of all weights",
        "the steps change the weights by next to nothing, 10 in a row, although the gradients have not vanished",
        "Raise the learning rate, by a factor of 10 to begin with; see whether it is divided somewhere.",
        f"own; about 1e-3 is usual: {_CS231N}",
        in_a_row=10,
        place="optimizer",
    ),
    Condition(
        "optimizer_other_parameters",
        HoldingObservation,
        _ownership,
        NO_THRESHOLD,
        "",
        "the optimizer holds other parameters than those that the loss depends on",
        "Make the optimizer anew after the network: a notebook's cell that makes the network was run again.",
        "own",
        place="optimizer",
        cures=("own_parameters",),
        certain=True,
    ),
)
