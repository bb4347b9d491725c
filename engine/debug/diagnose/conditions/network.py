"""Conditions on the network as a whole: its modes, its own bprops, and the course of the loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from .condition import NO_THRESHOLD, Condition, Detail

__all__ = [
    "ROWS",
    "BpropObservation",
    "LossObservation",
    "ModeObservation",
    "SameNamesObservation",
    "SharedObservation",
]

_SAGEMAKER = "https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html"

# The minimum and maximum number of losses in a mean.
_SPAN, _LONG = 10, 100


@dataclass(frozen=True)
class ModeObservation:
    """A BatchNorm or Dropout that ran: its class, its mode, and whether its network was being trained.

    ``teaches`` says that the output of its network, which is not trained, is the target of one that is.
    """

    group: ClassVar[str] = "network"

    cell_type: str
    training: bool
    trained: bool
    teaches: bool = False


@dataclass(frozen=True)
class BpropObservation:
    """The result of a check of a custom bprop: "" if it agrees, or the difference, and advice that fits it or ""."""

    group: ClassVar[str] = "network"

    difference: str
    advice: str = ""


@dataclass(frozen=True)
class LossObservation:
    """The losses so far, oldest first, each of one gradient call for the same parameters.

    Attributes:
        losses: the losses.
        others: whether the losses of other parameters did not decrease when they were seen last.
    """

    group: ClassVar[str] = "network"

    losses: Sequence[float]
    others: bool = False

    @cached_property
    def course(self) -> tuple[float, float, float, int] | None:
        """The means of the first and the newest losses, the error of their difference, and their number.

        None if there are too few of them, or if they have both signs, as a policy's with moving advantages.
        """
        span = min(max(_SPAN, len(self.losses) // 2), _LONG)
        first, last = self.losses[:span], self.losses[-span:]
        if len(self.losses) < 2 * _SPAN or not all(map(math.isfinite, (*first, *last))):
            return None
        if min(*first, *last) < 0 < max(*first, *last):
            return None
        # By neighbors, since a trend is not noise: von Neumann's mean square successive difference.
        steps = [(b - a) * (b - a) for part in (first, last) for a, b in pairwise(part)]  # a power would overflow
        error = math.sqrt(sum(steps) / (2 * len(steps))) * math.sqrt(2 / span)
        return sum(first) / span, sum(last) / span, error, span

    @property
    def is_over(self) -> bool:
        """True if the losses decrease, and no others were seen that did not."""
        return not self.others and self.decreases

    @property
    def decreases(self) -> bool:
        """True if the losses decrease, noise allowed for."""
        course = self.course
        return course is not None and course[0] - course[1] > 2 * course[2]


@dataclass(frozen=True)
class SharedObservation:
    """The paths of a cell with parameters that occurs several times in a network."""

    group: ClassVar[str] = "network"

    paths: Sequence[str]


@dataclass(frozen=True)
class SameNamesObservation:
    """The paths of a network's parameters, by the names that they have, or had before the first call."""

    group: ClassVar[str] = "network"

    paths: Mapping[str, Sequence[str]]


def _same_names(observation: SameNamesObservation, threshold: float) -> str | None:
    shared_names = [(name, paths) for name, paths in observation.paths.items() if len(paths) > 1]
    if not shared_names:
        return None
    (name, paths), *others = shared_names
    listed = ", ".join(f"'{shared_name}'" for shared_name, _ in others[:3])
    suffix = f"; {listed}{' and others' if len(others) > 3 else ''} too" if others else ""
    return f"{len(paths)} parameters have the name '{name}': {', '.join(paths[:4])}{suffix}"


def _shared(observation: SharedObservation, threshold: float) -> str | None:
    if len(observation.paths) < 2:
        return None
    paths = ", ".join(observation.paths[:4])
    return f"one cell, with one set of parameters, stands at {len(observation.paths)} places: {paths}"


def _mode(observation: ModeObservation, threshold: float) -> str | None:
    if observation.training == observation.trained:
        return None
    if observation.teaches:
        return Detail(
            f"{observation.cell_type} is in training mode in a network that is not trained and gives the targets",
            "Call set_train(False) on the network that gives the targets.",
        )
    if observation.trained:
        return f"{observation.cell_type} is in prediction mode while the network is trained"
    return f"{observation.cell_type} is in training mode in a forward pass that no gradient follows"


def _bprop(observation: BpropObservation, threshold: float) -> str | None:
    if not observation.difference or not observation.advice:
        return observation.difference or None
    return Detail(observation.difference, observation.advice)


def _not_decreasing(observation: LossObservation, threshold: float) -> str | None:
    course = observation.course
    if course is None or observation.decreases:
        return None
    first, last, error, span = course
    if first - last + 2 * error >= threshold * abs(first):
        return None  # the noise may hide a relevant decrease
    return f"mean {last:.4g} in the newest {span} of {len(observation.losses)} steps, {first:.4g} in the first {span}"


ROWS = (
    Condition(
        "wrong_bprop",
        BpropObservation,
        _bprop,
        NO_THRESHOLD,
        "",
        "a custom bprop differs from the automatic gradient of its construct",
        "Correct the bprop where it differs; the gradient check compares every element.",
        "own; tolerances are those of check_gradient",
        cures=("check_gradient", "pause_here"),
        certain=True,
    ),
    Condition(
        "wrong_mode",
        ModeObservation,
        _mode,
        NO_THRESHOLD,
        "",
        "BatchNorm or Dropout in prediction mode in training, or in training mode in a forward pass without gradient",
        "Call set_train() before training and set_train(False) before evaluation.",
        "own",
        cures=("set_train", "pause_here"),
    ),
    Condition(
        "shared_cell",
        SharedObservation,
        _shared,
        NO_THRESHOLD,
        "",
        "one cell with parameters stands at several places, as [cell] * 3 makes it",
        "Make a cell for each place, or copy.deepcopy it; mute this where they are to share.",
        "own",
    ),
    Condition(
        "same_names",
        SameNamesObservation,
        _same_names,
        NO_THRESHOLD,
        "",
        "parameters share a name, as of blocks that insert_child_to_cell takes in",
        "Assign each cell to an attribute, or name its parameters by update_parameters_name, before optimizers and "
        "checkpoints are made of them.",
        "own",
        certain=True,
    ),
    Condition(
        "loss_not_decreasing",
        LossObservation,
        _not_decreasing,
        1e-2,
        "of the first losses' mean",
        "from 20 steps on: the newest half of the losses is not below the first half by more than a hundredth, noise "
        "allowed for",
        "Check labels, the sign of the loss, the learning rate, and that the optimizer is called.",
        f"LossNotDecreasing in {_SAGEMAKER}: 0.1 % in 10 steps, without noise; 1 % in at least 20",
        place="loss",
        symptom=True,
    ),
)
