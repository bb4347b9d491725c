"""The ROC curve and the area under a curve."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from .metric import Metric, rearrange_inputs, register

__all__ = ["ROC", "auc"]


@register("roc")
class ROC(Metric):
    """The ROC curve: false and true positive rates at every threshold, of the last batch.

    Args:
        class_num: the number of classes if predictions have a class axis.
        pos_label: the positive label, for two classes; by default 1.

    Raises:
        TypeError: an argument that is neither an int nor None.
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        for name, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise TypeError(f"For 'ROC', '{name}' must be an int or None, but got {value!r}")
        self.class_num, self.pos_label = class_num, pos_label
        self.clear()

    def clear(self) -> None:
        self.y_pred: Any = 0
        self.y: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        if y_pred.ndim == y.ndim:
            if self.class_num not in (None, 1):
                raise ValueError(
                    f"For 'ROC', predictions without a class axis need 'class_num' 1, but got {self.class_num}"
                )
            self.class_num = 1
            self.pos_label = 1 if self.pos_label is None else self.pos_label
            y_pred = y_pred.reshape(-1)
        elif y_pred.ndim == y.ndim + 1:
            if self.pos_label is not None:
                raise ValueError("For 'ROC', 'pos_label' must be None where predictions have a class axis")
            if self.class_num != y_pred.shape[1]:
                raise ValueError(
                    f"For 'ROC', 'class_num' must be the predictions' {y_pred.shape[1]}, but got {self.class_num}"
                )
            y_pred = np.moveaxis(y_pred, 1, -1).reshape(-1, y_pred.shape[1])
        else:
            raise ValueError(
                "For 'ROC', predictions must have the axes of the labels, or one more for classes, "
                f"but got {y_pred.shape} and {y.shape}"
            )
        self.y_pred, self.y, self._is_update = y_pred, y.reshape(-1), True

    def eval(self) -> tuple[Any, Any, Any]:
        """Return the rates at the thresholds, in descending order.

        Returns:
            (false positive rates, true positive rates, thresholds): arrays, or a list of them for each class.

        Raises:
            RuntimeError: there was no batch.
            ValueError: no label is positive, or none is negative.
        """
        self._need(self._is_update)
        if self.class_num == 1:
            return _curve(self.y_pred, self.y, self.pos_label)
        curves = [_curve(self.y_pred[:, c], self.y, c) for c in range(self.class_num or 0)]
        return [c[0] for c in curves], [c[1] for c in curves], [c[2] for c in curves]


def _curve(scores: Array, labels: Array, positive: int | None) -> tuple[Array, Array, Array]:
    order = np.argsort(-scores)  # for equal scores only the sums count
    scores, hits = scores[order], (labels[order] == positive).astype(np.int64)
    last_of_each_score = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)
    true = np.append(0, np.cumsum(hits)[last_of_each_score])
    false = np.append(0, 1 + last_of_each_score) - true
    if false[-1] <= 0:
        raise ValueError("For 'ROC.eval', no label is negative: the false positive rate has no meaning")
    if true[-1] <= 0:
        raise ValueError("For 'ROC.eval', no label is positive: the true positive rate has no meaning")
    thresholds = scores[last_of_each_score]
    return false / false[-1], true / true[-1], np.append(thresholds[:1] + 1, thresholds)


@register("auc")
def auc(x: Array, y: Array, reorder: bool = False) -> float:
    """Return the area under the curve through the points (x, y), by the trapezoidal rule.

    Args:
        x: the coordinates of the points, a NumPy array of one axis.
        y: their heights, of the same length.
        reorder: sort the points by ``x`` first.

    Raises:
        TypeError: ``x`` or ``y`` is not a numpy.ndarray.
        ValueError: different lengths, fewer than 2 points, or without ``reorder`` an ``x`` neither ascending nor
            descending.
    """
    if not (isinstance(x, np.ndarray) and isinstance(y, np.ndarray)):
        raise TypeError(
            f"For 'auc', 'x' and 'y' must be numpy.ndarrays, but got {type(x).__name__}, {type(y).__name__}"
        )
    if x.size != max(x.shape, default=0) or y.size != max(y.shape, default=0):
        raise ValueError(f"For 'auc', 'x' and 'y' must have one axis, but got the shapes {x.shape} and {y.shape}")
    x, y = x.reshape(-1), y.reshape(-1)
    if x.size != y.size or x.size < 2:
        raise ValueError(f"For 'auc', 'x' and 'y' need the same 2 or more points, but got {x.size} and {y.size}")
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if (steps < 0).any() and not (steps <= 0).all():
        raise ValueError("For 'auc', 'x' must rise or fall throughout; sort the points, or use 'reorder'")
    area = float((steps * (y[1:] + y[:-1]) / 2).sum())
    return -area if (steps < 0).any() else area
