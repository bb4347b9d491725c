"""Means of errors: MAE, MSE, the loss itself, perplexity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.types import Array
from .metric import Metric, rearrange_inputs, register

__all__ = ["MAE", "MSE", "Loss", "Perplexity"]


class _MeanError(Metric):
    """The sum of an error over all elements, divided by the number of samples."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._error_sum: Any = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            *inputs: predictions and labels with equally many elements: tensors, lists or arrays.

        Raises:
            ValueError: the wrong number of inputs, or shapes that do not match.
        """
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        self._error_sum += float(self._error(y.reshape(y_pred.shape) - y_pred))
        self._samples_num += y.shape[0]

    def _error(self, difference: Array) -> float:
        raise NotImplementedError

    def eval(self) -> float:
        self._need(self._samples_num)
        return self._error_sum / self._samples_num


@register("mae")
class MAE(_MeanError):  # noqa: N818  (an error of measurement)
    """The sum of |prediction - label|, divided by the number of samples."""

    def _error(self, difference: Array) -> float:
        return np.abs(difference).sum()


@register("mse")
class MSE(_MeanError):  # noqa: N818
    """The sum of (prediction - label)^2, divided by the number of samples."""

    def _error(self, difference: Array) -> float:
        return np.square(difference).sum()


@register("loss")
class Loss(Metric):
    """The mean of the losses of the batches."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        self._sum_loss: Any = 0
        self._total_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take the loss of one batch.

        Args:
            *inputs: the loss: a tensor of one element, or with one axis, which is averaged.

        Raises:
            ValueError: the wrong number of inputs or the wrong rank.
        """
        (loss,) = self._take(inputs, 1, "the loss")
        if loss.ndim > 1 or not loss.size:
            raise ValueError(f"For 'Loss.update', the loss must have one axis at most, but its shape is {loss.shape}")
        self._sum_loss += float(loss.mean())
        self._total_num += 1

    def eval(self) -> float:
        self._need(self._total_num)
        return self._sum_loss / self._total_num


@register("perplexity")
class Perplexity(Metric):
    """The exponential of the mean negative log-probability of the labels.

    Args:
        ignore_label: a label to ignore; None: no label.

    Raises:
        TypeError: ``ignore_label`` is neither an int nor None.
    """

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        if ignore_label is not None and (not isinstance(ignore_label, int) or isinstance(ignore_label, bool)):
            raise TypeError(f"For 'Perplexity', 'ignore_label' must be an int or None, but got {ignore_label!r}")
        self.ignore_label = ignore_label
        self.clear()

    def clear(self) -> None:
        self._sum_metric: Any = 0.0
        self._num_inst = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            *inputs: probabilities (..., classes) and labels (...), or two lists of such.

        Raises:
            ValueError: the wrong number of inputs.
            RuntimeError: the numbers of labels and rows differ.
        """
        if len(inputs) != 2:
            raise ValueError(f"For 'Perplexity.update', there must be predictions and labels, got {len(inputs)} inputs")
        predictions, labels = ([value] if not isinstance(value, list) else value for value in inputs)
        if len(predictions) != len(labels):
            raise RuntimeError(
                f"For 'Perplexity.update', there are {len(predictions)} predictions, but {len(labels)} labels"
            )
        for prediction, label in zip(predictions, labels, strict=True):
            probability, numbers = self._convert_data(prediction), self._convert_data(label)
            if numbers.size != probability.size / probability.shape[-1]:
                raise RuntimeError(
                    "For 'Perplexity.update', there must be one label for each row of probabilities, "
                    f"but got {numbers.shape} labels for {probability.shape}"
                )
            numbers = numbers.reshape(-1).astype(np.int64)
            rows = probability.reshape(-1, probability.shape[-1])
            selected = rows[np.arange(numbers.size), numbers]
            if self.ignore_label is not None:
                ignored = numbers == self.ignore_label
                self._num_inst -= int(ignored.sum())
                selected = np.where(ignored, 1, selected)
            self._sum_metric -= np.sum(np.log(np.maximum(1e-10, selected)))
            self._num_inst += numbers.size

    def eval(self) -> float:
        self._need(self._num_inst)
        return math.exp(self._sum_metric / self._num_inst)
