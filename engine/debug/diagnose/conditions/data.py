"""Conditions on the data of a network: its inputs, its labels, its batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .condition import NO_THRESHOLD, Condition, Detail

__all__ = ["ROWS", "BatchObservation", "InputObservation", "LabelsObservation", "SamplesObservation"]

_LECUN = "LeCun et al. 1998, Efficient BackProp, section 4.3, http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf"

_BATCH_FIRST = "It reads axis 0 as time: make it with batch_first=True, or give it (time, batch, features)."

# From this many labels for each class on, a class that never occurs is not an accident.
_LABELS_EACH = 10


@dataclass(frozen=True)
class InputObservation:
    """The input of the first cell with weights in a training step, without a normalization before it.

    Attributes:
        root_mean_square: the root mean square of all its elements.
        widest: the largest root mean square of a feature, if its last or second axis is that of features.
        median: the median of these.
    """

    group: ClassVar[str] = "data"

    root_mean_square: float
    widest: float
    median: float


@dataclass(frozen=True)
class LabelsObservation:
    """The class numbers of a batch, without ignored ones, and the number of occurrences of each class so far.

    Attributes:
        labels: the class numbers, an array.
        counts: the number of occurrences of each class so far.
        binary: whether they are targets of a binary cross-entropy, which may be all 0 or all 1 in some batches.
    """

    group: ClassVar[str] = "data"

    labels: Any
    counts: Any
    binary: bool = False


@dataclass(frozen=True)
class BatchObservation:
    """The number of values of a channel over which BatchNorm in training takes the mean."""

    group: ClassVar[str] = "data"

    values: int


@dataclass(frozen=True)
class SamplesObservation:
    """The relative change of the outputs of the other samples in a run of a copy with another first sample.

    Attributes:
        change: the largest change, by the size of the outputs.
        recurrent: whether the cell that brings it in is a recurrent layer, which reads axis 0 as time by default.
    """

    group: ClassVar[str] = "network"

    change: float
    recurrent: bool = False


def _not_normalized(observation: InputObservation, threshold: float) -> str | None:
    if observation.root_mean_square > threshold:
        return f"root mean square {observation.root_mean_square:.3g}, where about 1 is usual"
    if observation.widest > threshold and observation.widest > threshold * observation.median:
        widest, median = observation.widest, observation.median
        return f"a feature has root mean square {widest:.3g}, and half of them at most {median:.3g}"
    return None


def _one_class(observation: LabelsObservation, threshold: float) -> str | None:
    if len(observation.labels) < threshold or int(observation.labels.min()) != int(observation.labels.max()):
        return None
    if observation.binary:
        return (
            f"all {observation.counts.sum()} targets so far are {observation.labels[0]}"
            if (observation.counts == 0).any()
            else None
        )
    return f"all {len(observation.labels)} labels of the batch are {int(observation.labels.min())}"


def _out_of_range(observation: LabelsObservation, threshold: float) -> str | None:
    classes = len(observation.counts)
    if len(observation.labels):
        low, high = int(observation.labels.min()), int(observation.labels.max())
        if low < 0 or high >= classes:
            return f"labels from {low} to {high} for {classes} outputs, of 0 to {classes - 1}"
    total = int(observation.counts.sum())
    if classes < 3 or total < _LABELS_EACH * classes:
        return None
    if observation.counts[0] or not observation.counts[1:].all():
        return None
    return f"none of {total} labels is 0, and every other class occurs: numbered from 1 on?"


def _batch_of_one(observation: BatchObservation, threshold: float) -> str | None:
    return "its mean and variance are of one value: the outputs are its bias" if observation.values == 1 else None


def _leak(observation: SamplesObservation, threshold: float) -> str | None:
    if not observation.change > threshold:
        return None
    text = (
        f"with another first sample, the outputs of the other samples change by {observation.change:.3g} of their size"
    )
    return Detail(text, _BATCH_FIRST) if observation.recurrent else text


ROWS = (
    Condition(
        "inputs_not_normalized",
        InputObservation,
        _not_normalized,
        10.0,
        "root mean square",
        "the inputs are far from mean 0 and variance 1, or one feature is much larger than the others",
        "Divide images by 255, or take off the mean of each feature and divide by its standard deviation.",
        f"{_LECUN}; the threshold is own",
        place="data",
    ),
    Condition(
        "one_class",
        LabelsObservation,
        _one_class,
        8.0,
        "labels in a batch",
        "all labels of a batch are of one class, in 3 batches",
        "Shuffle the data, and see what was loaded.",
        "ClassImbalance in https://docs.aws.amazon.com/sagemaker/latest/dg/debugger-built-in-rules.html; 8 is own",
        in_a_row=3,
        place="data",
    ),
    Condition(
        "labels_out_of_range",
        LabelsObservation,
        _out_of_range,
        NO_THRESHOLD,
        "",
        "labels are not numbers of outputs, or are numbered from 1 on",
        "Number the classes from 0 to C - 1, and give the network C outputs.",
        "own; 10 labels for each class and none of the first",
        place="data",
        certain=True,
    ),
    Condition(
        "batch_of_one",
        BatchObservation,
        _batch_of_one,
        NO_THRESHOLD,
        "",
        "BatchNorm in training takes mean and variance from one value",
        "Use larger batches (drop the last one), or LayerNorm or GroupNorm.",
        "own",
        certain=True,
    ),
    Condition(
        "samples_leak",
        SamplesObservation,
        _leak,
        1e-3,
        "of the outputs' size",
        "the output of one sample depends on another sample",
        "Look for a mean, softmax, reshape or attention along axis 0, that of the batch.",
        "Karpathy, A recipe for training neural networks, https://karpathy.github.io/2019/04/25/recipe/ (use backprop "
        "to chart dependencies); the threshold is own",
    ),
)
