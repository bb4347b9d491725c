"""Precision, recall, and the means of both: F-beta and F1."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.argument_checks import check_bool
from ...base.types import Array
from .metric import EvaluationBase, Metric, counts, is_one_hot, rearrange_inputs, register

__all__ = ["F1", "Fbeta", "Precision", "Recall"]

# Added to a denominator that may be 0, as in MindSpore: small enough not to change any other.
_EPS = np.finfo(np.float64).tiny


class _CountRatio(EvaluationBase):
    """Precision and recall: one count divided by another."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self._class_num = 0
        self._true: Any = 0
        self._of: Any = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        y = self._labels(y_pred, y)
        self._class_num = self._same_classes(self._class_num, y_pred)
        true, predicted, real = counts(y_pred, y, self._type)
        of = self._denominator(predicted, real)
        if self._type == "multilabel" and self._class_num and not np.isscalar(self._true):
            # One value for each sample: later batches append samples.
            self._true, self._of = np.concatenate((self._true, true)), np.concatenate((self._of, of))
        else:
            self._true, self._of = self._true + true, self._of + of

    def _denominator(self, predicted: Array, real: Array) -> Array:
        raise NotImplementedError

    def eval(self, average: bool = False) -> Array | float:
        """Return the value of each class; with "multilabel", of each sample.

        Args:
            average: return their mean.

        Raises:
            RuntimeError: there was no batch.
            TypeError: ``average`` is not a bool.
        """
        self._need(self._class_num)
        check_bool(average, f"{type(self).__name__}.eval", "average", show=repr)
        value = self._true / (self._of + _EPS)
        if average:
            return value.mean()
        return value


@register("precision")
class Precision(_CountRatio):
    """The precision of each class: the fraction of true positives among predicted positives.

    Args:
        eval_type: "classification": scores (N, C, ...) and labels (N, ...) or one-hot rows; "multilabel":
            predictions and labels have the same shape, and each element is 0 or 1.

    Raises:
        TypeError: an unknown ``eval_type``.
    """

    def _denominator(self, predicted: Array, real: Array) -> Array:
        return predicted


@register("recall")
class Recall(_CountRatio):
    """The recall of each class: the fraction of true positives among positives.

    Args:
        eval_type: "classification": scores (N, C, ...) and labels (N, ...) or one-hot rows; "multilabel":
            predictions and labels have the same shape, and each element is 0 or 1.

    Raises:
        TypeError: an unknown ``eval_type``.
    """

    def _denominator(self, predicted: Array, real: Array) -> Array:
        return real


class Fbeta(Metric):
    """The F-beta score of each class: (1 + beta^2) * precision * recall / (beta^2 * precision + recall).

    Args:
        beta: the weight of recall relative to precision, above 0.

    Raises:
        ValueError: ``beta`` is not above 0.
    """

    def __init__(self, beta: float) -> None:
        super().__init__()
        if not beta > 0:
            raise ValueError(f"For 'Fbeta', 'beta' must be above 0, but got {beta}")
        self.beta = beta
        self.clear()

    def clear(self) -> None:
        self._class_num = 0
        self._true: Any = 0
        self._predicted: Any = 0
        self._real: Any = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        if y_pred.ndim == y.ndim and is_one_hot(y):
            y = y.argmax(axis=1)
        if self._class_num and y_pred.shape[1] != self._class_num:
            raise ValueError(
                f"For 'Fbeta.update', the last predictions had {self._class_num} classes, "
                f"but these have {y_pred.shape[1]}"
            )
        self._class_num = y_pred.shape[1]
        true, predicted, real = counts(y_pred, y, "classification")
        self._true, self._predicted, self._real = self._true + true, self._predicted + predicted, self._real + real

    def eval(self, average: bool = False) -> Array | float:
        """Return the value of each class.

        Args:
            average: return their mean.

        Raises:
            RuntimeError: there was no batch.
            TypeError: ``average`` is not a bool.
        """
        self._need(self._class_num)
        check_bool(average, "Fbeta.eval", "average", show=repr)
        square = self.beta**2
        value = (1 + square) * self._true / (square * self._real + self._predicted + _EPS)
        if average:
            return value.mean()
        return value


@register("F1")
class F1(Fbeta):
    """F-beta with beta 1: the harmonic mean of precision and recall."""

    def __init__(self) -> None:
        super().__init__(1.0)
