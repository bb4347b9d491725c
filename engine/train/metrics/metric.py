"""The base class of metrics, the order of inputs, and the conversion of predictions and labels."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...base.types import Array
from ...tensors.tensor import Tensor

__all__ = ["EvaluationBase", "Metric", "rearrange_inputs"]

METRICS: dict[str, Callable[..., Any]] = {}
"""The classes of metrics for ``get_metric_fn`` and ``Model(metrics=...)``, by name."""

F = TypeVar("F", bound=Callable[..., Any])


def register(*names: str) -> Callable[[F], F]:
    """Register a metric under these names for ``get_metric_fn`` and ``Model(metrics=...)``.

    Raises:
        ValueError: another metric has one of the names.
    """

    def enter(metric: F) -> F:
        for name in names:
            if name in METRICS:
                raise ValueError(f"'{name}' is the name of {METRICS[name]!r} already")
            METRICS[name] = metric
        return metric

    return enter


class Metric(ABC):
    """Base of the metrics: ``clear`` resets, ``update`` adds a batch, ``eval`` returns the value."""

    _indexes: list[int] | None = None

    @property
    def indexes(self) -> list[int] | None:
        """The positions and order of the used inputs of ``update``; None: all, in order."""
        return self._indexes

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Choose inputs by position, for methods decorated with ``rearrange_inputs``.

        Args:
            indexes: the positions, in the order of use.

        Returns:
            the metric.

        Raises:
            ValueError: ``indexes`` is not a list of ints.
        """
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"For 'set_indexes', 'indexes' must be a list of ints, but got {indexes!r}")
        self._indexes = indexes
        return self

    def __call__(self, *inputs: Any) -> Any:
        """Return the value for one batch alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    @abstractmethod
    def clear(self) -> None:
        """Forget all batches."""

    @abstractmethod
    def eval(self) -> Any:
        """Return the value over the batches since ``clear``.

        Raises:
            RuntimeError: there was no batch.
        """

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Take one batch.

        Args:
            *inputs: the metric's data: mostly predictions and labels, as tensors, lists or arrays.

        Raises:
            ValueError: the wrong number of inputs, or shapes that do not match.
            TypeError: an input that is not a tensor, list or array.
        """

    def _convert_data(self, data: Tensor | Array | list[Any]) -> Array:
        """Return a tensor, list or array as a NumPy array."""
        if isinstance(data, Tensor):
            return data.asnumpy()
        if isinstance(data, list | np.ndarray):
            return np.array(data)
        raise TypeError(
            f"For '{type(self).__name__}', inputs must be tensors, lists or numpy.ndarrays, "
            f"but got {type(data).__name__}"
        )

    def _take(self, inputs: tuple[Any, ...], count: int, what: str) -> list[Array]:
        """Return exactly ``count`` inputs as arrays."""
        if len(inputs) != count:
            raise ValueError(
                f"For '{type(self).__name__}.update', there must be {count} input{'s' if count > 1 else ''} ({what}), "
                f"but got {len(inputs)}"
            )
        return [self._convert_data(value) for value in inputs]

    def _need(self, samples: object) -> None:
        """Raise RuntimeError for a division by zero samples."""
        if not samples:
            raise RuntimeError(f"'{type(self).__name__}' has no value yet: call 'update' with a batch before 'eval'")


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``update`` to receive the inputs chosen by ``set_indexes``.

    Args:
        func: the method.

    Returns:
        the method with its selected inputs.
    """

    @functools.wraps(func)
    def wrapper(self: Metric, *inputs: Any) -> Any:
        indexes = self.indexes
        return func(self, *(inputs if not indexes else [inputs[i] for i in indexes]))

    return wrapper


class EvaluationBase(Metric):
    """Base of accuracy, precision and recall: predictions for one label of several, or for several at once.

    Args:
        eval_type: "classification": scores (N, C, ...) and labels (N, ...) or one-hot rows; "multilabel":
            predictions and labels have the same shape, and each element is 0 or 1.

    Raises:
        TypeError: an unknown ``eval_type``.
    """

    def __init__(self, eval_type: str) -> None:
        super().__init__()
        if eval_type not in ("classification", "multilabel"):
            raise TypeError(
                f"For '{type(self).__name__}', 'eval_type' must be 'classification' or 'multilabel', "
                f"but got {eval_type!r}"
            )
        self._type = eval_type

    def _labels(self, y_pred: Array, y: Array) -> Array:
        """Return the checked labels; one-hot rows become class numbers if one label is requested."""
        caller = type(self).__name__
        if self._type == "classification":
            if y_pred.ndim == y.ndim and is_one_hot(y):
                y = y.argmax(axis=1)
            if y_pred.ndim != y.ndim + 1 or y.shape != (y_pred.shape[0], *y_pred.shape[2:]):
                raise ValueError(
                    f"For '{caller}', predictions must have the shape (N, C, ...) and labels (N, ...), "
                    f"but got {y_pred.shape} and {y.shape}"
                )
        elif y_pred.shape != y.shape:
            raise ValueError(
                f"For '{caller}', predictions and labels must have one shape, but got {y_pred.shape} and {y.shape}"
            )
        elif not (is_binary(y_pred) and is_binary(y)):
            raise ValueError(f"For '{caller}' with 'multilabel', predictions and labels must be zeros and ones")
        return y

    def _same_classes(self, before: int, y_pred: Array) -> int:
        """Return the number of classes, which must not change from batch to batch."""
        classes = y_pred.shape[1] if y_pred.ndim > 1 else 1
        if before and classes != before:
            raise ValueError(
                f"For '{type(self).__name__}.update', the last predictions had {before} classes, "
                f"but these have {classes}"
            )
        return classes


def is_binary(data: Array) -> bool:
    """Return whether there are only zeros and ones."""
    return bool(((data == 0) | (data == 1)).all())


def is_one_hot(data: Array) -> bool:
    """Return whether each row along axis 1 holds a single one and otherwise zeros."""
    return data.ndim > 1 and is_binary(data) and bool((data.sum(axis=1) == 1).all())


def one_hot(labels: Array, classes: int) -> Array:
    """Convert class numbers (N,) to (N, classes) of zeros and ones."""
    return np.eye(classes)[labels.astype(np.int64).reshape(-1)]


def counts(y_pred: Array, y: Array, kind: str) -> tuple[Array, Array, Array]:
    """Return per class (per sample with several labels): true positives, predicted positives, real positives."""
    if kind == "classification":
        classes = y_pred.shape[1]
        if y.size and y.max() + 1 > classes:
            raise ValueError(f"labels go up to {int(y.max())}, but predictions have only {classes} classes")
        real, predicted = one_hot(y, classes), one_hot(y_pred.argmax(axis=1), classes)
        return (real * predicted).sum(0), predicted.sum(0), real.sum(0)
    real, predicted = (np.swapaxes(a, 1, -1).reshape(-1, a.shape[1]) if a.ndim > 1 else a[:, None] for a in (y, y_pred))
    return (real * predicted).sum(1), predicted.sum(1), real.sum(1)
