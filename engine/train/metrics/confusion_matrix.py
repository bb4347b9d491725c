"""The confusion matrix, and metrics derived from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_type
from ...base.types import Array
from .metric import Metric, rearrange_inputs, register

__all__ = ["ConfusionMatrix", "ConfusionMatrixMetric"]

_NORMALIZERS: dict[str, Callable[[Array], Any]] = {
    "no_norm": lambda m: 1.0,
    "target": lambda m: m.sum(axis=1, keepdims=True),
    "prediction": lambda m: m.sum(axis=0, keepdims=True),
    "all": lambda m: m.sum(),
}


@register("confusion_matrix")
class ConfusionMatrix(Metric):
    """The counts of class i (row) predicted as class j (column).

    Args:
        num_classes: the number of classes.
        normalize: "no_norm", or the divisor: "target" (rows), "prediction" (columns), "all".
        threshold: the minimum of a floating prediction without a class axis for class 1.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: an unknown ``normalize``.
    """

    def __init__(self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5) -> None:
        super().__init__()
        check_int(num_classes, "ConfusionMatrix", "num_classes", show=repr)
        if normalize not in _NORMALIZERS:
            raise ValueError(
                f"For 'ConfusionMatrix', 'normalize' must be one of {sorted(_NORMALIZERS)}, but got {normalize!r}"
            )
        check_type(threshold, float, "ConfusionMatrix", "threshold", show=repr)
        self.num_classes, self.normalize, self.threshold = num_classes, normalize, threshold
        self.clear()

    def clear(self) -> None:
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Count one batch.

        Args:
            *inputs: predictions, class numbers or scores with a class axis, and labels, class numbers.

        Raises:
            ValueError: the wrong number of inputs, shapes that do not match, or a class out of ``num_classes``.
        """
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        if y_pred.ndim not in (y.ndim, y.ndim + 1):
            raise ValueError(
                "For 'ConfusionMatrix.update', predictions must have the axes of the labels, or one more for classes, "
                f"but got {y_pred.shape} and {y.shape}"
            )
        if y_pred.ndim == y.ndim + 1:
            y_pred = y_pred.argmax(axis=1)
        elif y_pred.dtype.kind == "f":
            y_pred = (y_pred >= self.threshold).astype(np.int64)
        for name, classes in (("predictions", y_pred), ("labels", y)):
            if classes.size and not 0 <= classes.min() <= classes.max() < self.num_classes:
                raise ValueError(
                    f"For 'ConfusionMatrix.update', {name} must be from 0 to {self.num_classes - 1}, "
                    f"but go from {classes.min()} to {classes.max()}"
                )
        cells = (y.reshape(-1) * self.num_classes + y_pred.reshape(-1)).astype(np.int64)
        counts = np.bincount(cells, minlength=self.num_classes**2)
        self.confusion_matrix += counts.reshape(self.num_classes, self.num_classes)
        self._is_update = True

    def eval(self) -> Array:
        self._need(self._is_update)
        with np.errstate(all="ignore"):
            matrix = self.confusion_matrix / _NORMALIZERS[self.normalize](self.confusion_matrix)
        return np.asarray(np.nan_to_num(matrix))


def _ratio(over: Array | float, under: Array | float) -> Array:
    """Return over / under; NaN for a division by zero."""
    with np.errstate(all="ignore"):
        return np.where(under != 0, over / np.asarray(under, float), np.nan)


# Fawcett 2006 (An introduction to ROC analysis) and the usual definitions, for true and false positives and negatives.
_FIGURES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "tpr": lambda tp, fp, tn, fn: _ratio(tp, tp + fn),
    "tnr": lambda tp, fp, tn, fn: _ratio(tn, tn + fp),
    "ppv": lambda tp, fp, tn, fn: _ratio(tp, tp + fp),
    "npv": lambda tp, fp, tn, fn: _ratio(tn, tn + fn),
    "fnr": lambda tp, fp, tn, fn: _ratio(fn, tp + fn),
    "fpr": lambda tp, fp, tn, fn: _ratio(fp, tn + fp),
    "fdr": lambda tp, fp, tn, fn: _ratio(fp, tp + fp),
    "for": lambda tp, fp, tn, fn: _ratio(fn, tn + fn),
    "pt": lambda *c: _prevalence_threshold(_FIGURES["tpr"](*c), _FIGURES["tnr"](*c)),
    "ts": lambda tp, fp, tn, fn: _ratio(tp, tp + fn + fp),
    "acc": lambda tp, fp, tn, fn: _ratio(tp + tn, tp + fp + tn + fn),
    "ba": lambda *c: (_FIGURES["tpr"](*c) + _FIGURES["tnr"](*c)) / 2,
    "f1": lambda tp, fp, tn, fn: _ratio(2 * tp, 2 * tp + fn + fp),
    "mcc": lambda tp, fp, tn, fn: _ratio(tp * tn - fp * fn, np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))),
    "fm": lambda *c: np.sqrt(_FIGURES["ppv"](*c) * _FIGURES["tpr"](*c)),
    "bm": lambda *c: _FIGURES["tpr"](*c) + _FIGURES["tnr"](*c) - 1,
    "mk": lambda *c: _FIGURES["ppv"](*c) + _FIGURES["npv"](*c) - 1,
}
_LONG_NAMES = {
    "tpr": "sensitivity recall hit_rate true_positive_rate",
    "tnr": "specificity selectivity true_negative_rate",
    "ppv": "precision positive_predictive_value",
    "npv": "negative_predictive_value",
    "fnr": "miss_rate false_negative_rate",
    "fpr": "fall_out false_positive_rate",
    "fdr": "false_discovery_rate",
    "for": "false_omission_rate",
    "pt": "prevalence_threshold",
    "ts": "threat_score critical_success_index csi",
    "acc": "accuracy",
    "ba": "balanced_accuracy",
    "f1": "f1_score",
    "mcc": "matthews_correlation_coefficient",
    "fm": "fowlkes_mallows_index",
    "bm": "informedness bookmaker_informedness",
    "mk": "markedness deltap",
}
_SHORT = {name: short for short, names in _LONG_NAMES.items() for name in names.split()}
_DECREASES = ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel")


def _prevalence_threshold(tpr: Array, tnr: Array) -> Array:
    return _ratio(np.sqrt(tpr * (1 - tnr)) + tnr - 1, tpr + tnr - 1)


@register("confusion_matrix_metric")
class ConfusionMatrixMetric(Metric):
    """A metric of the confusion matrix of one-hot, binarized predictions and labels (N, C, ...).

    Args:
        skip_channel: with False, the first channel is left out, as in MindSpore's code.
        metric_name: "sensitivity", "precision", "f1 score" and so on, or their short names.
        calculation_method: True computes the metric of each sample and class and then the mean; False counts over all
            batches and computes the metric once.
        decrease: the reduction of a batch's values with ``calculation_method``: "mean" or "sum"; ``update`` rejects
            other reductions, which leave several numbers.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: an unknown ``decrease``.
        NotImplementedError: when it is evaluated, an unknown ``metric_name``.
    """

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: str = "mean",
    ) -> None:
        super().__init__()
        for name, value in (("skip_channel", skip_channel), ("calculation_method", calculation_method)):
            check_bool(value, "ConfusionMatrixMetric", name, show=repr)
        for name, text in (("metric_name", metric_name), ("decrease", decrease)):
            check_type(text, str, "ConfusionMatrixMetric", name, show=repr)
        if decrease not in _DECREASES:
            raise ValueError(f"For 'ConfusionMatrixMetric', 'decrease' must be one of {_DECREASES}, got {decrease!r}")
        self.skip_channel, self.metric_name = skip_channel, metric_name
        self.calculation_method, self.decrease = calculation_method, decrease
        self.clear()

    def clear(self) -> None:
        self._total: Any = 0.0
        self._count = 0
        self._counts: Array = np.zeros(4)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        counts = _counts(y_pred, y, self.skip_channel)
        if not self.calculation_method:
            self._counts = self._counts + counts.sum(axis=(0, 1))
            return
        scores, valid = _decreased(self._figure(*np.moveaxis(counts, -1, 0)), self.decrease)
        if scores.size != 1:
            raise ValueError(
                f"For 'ConfusionMatrixMetric.update', 'decrease' {self.decrease!r} leaves {scores.size} numbers of a "
                "batch; use 'mean' or 'sum' with 'calculation_method'"
            )
        self._total += scores.item() * int(valid)
        self._count += int(valid)

    def _figure(self, *counts: Array) -> Any:
        name = self.metric_name.replace(" ", "_").lower()
        figure = _FIGURES.get(_SHORT.get(name, name))
        if figure is None:
            raise NotImplementedError(
                f"For 'ConfusionMatrixMetric', 'metric_name' must be one of {sorted(_SHORT)}, got {self.metric_name!r}"
            )
        return figure(*counts)

    def eval(self) -> Any:
        if self.calculation_method:
            self._need(self._count)
            return self._total / self._count
        return np.atleast_1d(self._figure(*self._counts))


def _counts(y_pred: Array, y: Array, skip_channel: bool) -> Array:
    """Return (N, C, 4): true positives, false positives, true negatives, false negatives."""
    if not ((y == 0) | (y == 1)).all():
        raise ValueError("For 'ConfusionMatrixMetric.update', labels must be zeros and ones")
    if y_pred.ndim < 2:
        raise ValueError(f"For 'ConfusionMatrixMetric.update', predictions must be (N, C, ...), got {y_pred.shape}")
    if not skip_channel:
        y_pred, y = (a[:, 1:] if a.shape[1] > 1 else a for a in (y_pred, y))
    if y_pred.shape != y.shape:
        raise ValueError(
            f"For 'ConfusionMatrixMetric.update', predictions {y_pred.shape} and labels {y.shape} differ in shape"
        )
    predicted, real = (a.reshape(*a.shape[:2], -1).astype(float) for a in (y_pred, y))
    tp, tn = ((predicted + real) == 2).sum(2), ((predicted + real) == 0).sum(2)
    positives = real.sum(2)
    negatives = real.shape[2] - positives
    return np.stack([tp, negatives - tn, tn, positives - tp], axis=-1).astype(float)


def _decreased(figures: Array, decrease: str) -> tuple[Array, Any]:
    """Reduce the values (N, C) of a batch without NaN, and count them."""
    valid = ~np.isnan(figures)
    numbers = np.where(valid, figures, 0.0)
    if decrease == "mean":
        channels = valid.sum(1)
        rows = np.where(channels > 0, numbers.sum(1) / np.maximum(channels, 1), 0.0)
        count = (channels > 0).sum()
        return np.asarray(rows.sum() / max(count, 1)), count
    if decrease == "sum":
        return np.asarray(numbers.sum()), valid.sum()
    if decrease == "none":
        return numbers, 0
    axis = 0 if decrease.endswith("batch") else 1
    return numbers.sum(axis), 0
