"""Accuracy and top-k accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .metric import EvaluationBase, Metric, is_one_hot, rearrange_inputs, register

__all__ = ["Accuracy", "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "TopKCategoricalAccuracy"]


@register("accuracy", "acc")
class Accuracy(EvaluationBase):
    """The fraction of samples predicted correctly; with "multilabel" all labels of a sample must be correct.

    Args:
        eval_type: "classification": scores (N, C, ...) and labels (N, ...) or one-hot rows; "multilabel":
            predictions and labels have the same shape, and each element is 0 or 1.

    Raises:
        TypeError: an unknown ``eval_type``.
    """

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        self._correct_num = self._total_num = self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        y = self._labels(y_pred, y)
        self._class_num = self._same_classes(self._class_num, y_pred)
        if self._type == "classification":
            right = y_pred.argmax(axis=1) == y
        else:
            rows = [np.swapaxes(a, 1, -1).reshape(-1, a.shape[1]) if a.ndim > 1 else a[:, None] for a in (y_pred, y)]
            right = (rows[0] == rows[1]).all(axis=1)
        self._correct_num += int(right.sum())
        self._total_num += right.size

    def eval(self) -> float:
        self._need(self._total_num)
        return float(self._correct_num / self._total_num)


@register("topk")
class TopKCategoricalAccuracy(Metric):
    """The fraction of samples whose class is among the k with the highest scores.

    Args:
        k: an int of at least 1.

    Raises:
        TypeError: not an int.
        ValueError: an int below 1.
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        if not isinstance(k, int) or isinstance(k, bool):
            raise TypeError(f"For 'TopKCategoricalAccuracy', 'k' must be an int, but got {type(k).__name__}")
        if k < 1:
            raise ValueError(f"For 'TopKCategoricalAccuracy', 'k' must be at least 1, but got {k}")
        self.k = k
        self.clear()

    def clear(self) -> None:
        self._correct_num = self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        if y_pred.ndim == y.ndim and is_one_hot(y):
            y = y.argmax(axis=1)
        best = np.argsort(-y_pred, axis=1, kind="stable")[:, : self.k]
        self._correct_num += int((best == y.reshape(-1, 1)).any(axis=1).sum())
        self._samples_num += y_pred.shape[0]

    def eval(self) -> float:
        self._need(self._samples_num)
        return float(self._correct_num / self._samples_num)


@register("top_1_accuracy")
class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The fraction of samples whose class has the highest score."""

    def __init__(self) -> None:
        super().__init__(1)


@register("top_5_accuracy")
class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The fraction of samples whose class is among the five with the highest scores."""

    def __init__(self) -> None:
        super().__init__(5)
