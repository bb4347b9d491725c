"""The categorical distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops
from ....tensors.dtype import DType, int32, int64
from ....tensors.tensor import Tensor
from .._parameters import NUMBERS, AtCall, ParamLike, inside_unit, parameter
from .distribution import Distribution

__all__ = ["Categorical"]


class Categorical(Distribution):
    """The categorical distribution: the numbers 0, 1, ... with the probabilities along the last axis of ``probs``.

    Args:
        probs: the probabilities, between 0 and 1 and of sum 1: a list, array or Tensor of at least one axis; None:
            given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples: a floating or an integer dtype.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not a dtype of numbers, or a parameter is not a number, list, array or Tensor.
        ValueError: ``probs`` is 0-d, not between 0 and 1, or does not sum to 1.
    """

    _dist_type = "Categorical"
    _labels = ("probs",)
    probs = parameter("probs", "The probability of each number.")

    def __init__(
        self, probs: ParamLike = None, seed: int | None = None, dtype: DType = int32, name: str = "Categorical"
    ) -> None:
        self._define("Categorical", locals(), NUMBERS, probs=None)
        if self.probs is None:
            return
        if self.probs.ndim == 0:
            raise ValueError("For 'Categorical', 'probs' must have at least one axis, but got a scalar")
        inside_unit(self.probs, "probs")
        total = np.asarray(probs.asnumpy() if isinstance(probs, Tensor) else probs).sum(-1)
        eps = float(np.finfo(total.dtype if total.dtype.kind == "f" else np.float64).eps)
        if not np.allclose(total, 1.0, rtol=10 * eps, atol=eps):
            raise ValueError(f"For 'Categorical', 'probs' must sum to 1 along the last axis, but got {probs}")
        self._broadcast_shape = self.probs.shape[:-1]
        self._is_scalar_batch = self._is_scalar_batch or not self._broadcast_shape

    def _get_dist_args(self, probs: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(probs)

    def _moment(self, probs: Tensor, order: int) -> Tensor:
        numbers = Tensor(np.arange(probs.shape[-1], dtype=np.float32) ** order).astype(self.parameter_type)
        return (numbers * probs).sum(-1, keepdims=True)

    def _mean(self, probs: AtCall = None) -> Tensor:
        return self._moment(self._check_param_type(probs), 1)

    def _var(self, probs: AtCall = None) -> Tensor:
        probs = self._check_param_type(probs)
        return self._moment(probs, 2) - ops.square(self._moment(probs, 1))

    def _mode(self, probs: AtCall = None) -> Tensor:
        return ops.argmax(self._check_param_type(probs), -1).astype(self.dtype)

    def _entropy(self, probs: AtCall = None) -> Tensor:
        probs = self._check_param_type(probs)
        return ops.squeeze(-(ops.log(probs) * probs).sum(-1))

    def _kl_loss(self, dist: str, probs_b: Tensor, probs: AtCall = None) -> Tensor:
        self._check_name(dist)
        b, a = ops.log(self._of_other(probs_b=probs_b)), ops.log(self._check_param_type(probs))
        terms = ops.softmax(a, -1) * (ops.log_softmax(a, -1) - ops.log_softmax(b, -1))
        return ops.squeeze(terms.sum(-1))

    def _cross_entropy(self, dist: str, probs_b: Tensor, probs: AtCall = None) -> Tensor:
        self._check_name(dist)
        return self._entropy(probs) + self._kl_loss(dist, probs_b, probs)

    def _picked(self, value: Tensor, table: Tensor) -> tuple[Any, Any]:
        """Return the floor of ``value`` in the shape of the result, and the table's entry for each."""
        # Towards 0 between -1 and 0, as in MindSpore.
        number = ops.where(ops.logical_and(value < 0.0, value > -1.0), ops.zeros_like(value), ops.floor(value))
        shape = np.broadcast_shapes(number.shape, table.shape[:-1])
        number = ops.broadcast_to(number, shape)
        index = ops.expand_dims(ops.clamp(number, 0.0, table.shape[-1] - 1.0).astype(int64), -1)
        return number, ops.squeeze(ops.gather_d(ops.broadcast_to(table, (*shape, table.shape[-1])), -1, index), -1)

    def _log_prob(self, value: Tensor, probs: AtCall = None) -> Tensor:
        value, probs = self._counted(value, probs)
        number, entries = self._picked(value, ops.log(probs))
        outside = ops.logical_or(number < 0.0, number > probs.shape[-1] - 1.0)
        return ops.where(outside, ops.full_like(entries, math.nan), entries)

    def _cdf(self, value: Tensor, probs: AtCall = None) -> Tensor:
        value, probs = self._counted(value, probs)
        number, entries = self._picked(value, ops.cumsum(probs, -1))
        return ops.where(number < 0.0, ops.zeros_like(entries), entries)

    def _sample(self, shape: tuple[int, ...] = (), probs: AtCall = None) -> Tensor:
        shape, probs = self._check_shape(shape), self._check_param_type(probs)
        rows = probs.reshape(-1, probs.shape[-1])
        sample = ops.multinomial(rows, math.prod(shape), True, self._stream())
        return sample.swapaxes(0, 1).reshape(shape + probs.shape[:-1]).astype(self.dtype)
