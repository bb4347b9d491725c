"""Random indices by weights, and random choices of elements."""

from __future__ import annotations

import numpy as np

from ...base.argument_checks import check_not_negative
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike
from ...tensors.backend import to_device, to_host
from ...tensors.dtype import bool_, int32, int64
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values
from ..arguments import bool_of, check_axes, check_tensor, int_of
from .drawing import both_seeds, host_parameter, inner_uniform, new_tensor, random_order

__all__ = ["choice_with_mask", "multinomial", "multinomial_with_replacement", "random_categorical"]


@declare(method=True)
def multinomial(input: Tensor, num_samples: int, replacement: bool = True, seed: int | None = None) -> Tensor:
    """Draw ``num_samples`` indices of each row, with the weights of the row.

    Args:
        input: weights (N,) or (..., N), 0 or above; they need not sum to 1.
        num_samples: the number of indices drawn from each row.
        replacement: whether an index may be drawn again. Without it the keys log(u) / weight decide, largest first
            (Efraimidis and Spirakis 2006), and indices of weight 0 come last.
        seed: the same seed gives the same indices; None draws from the engine's stream (``set_seed``).

    Returns:
        An Int32 tensor (..., num_samples).

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: a 0-d ``input``, a weight that is negative or not finite, a row of zeros, a negative
            ``num_samples``, or without ``replacement`` more than N.
    """
    weights = host_parameter(check_axes(input, 1, "multinomial"), "multinomial", "input").astype(np.float64)
    num_samples = check_not_negative(int_of(num_samples, "multinomial", "num_samples"), "multinomial", "num_samples")
    check_values(_check_weights, weights)
    rows = weights.reshape(-1, weights.shape[-1])
    if bool_of(replacement, "multinomial", "replacement"):
        edges = np.cumsum(rows, -1)
        u = inner_uniform((rows.shape[0], num_samples), seed) * edges[:, -1:]
        indices = (u[..., None] >= edges[:, None, :]).sum(-1)
    else:
        if num_samples > rows.shape[-1]:
            raise ValueError(f"For 'multinomial', at most {rows.shape[-1]} samples can be drawn, but got {num_samples}")
        # The keys log(u) / weight, largest first (Efraimidis and Spirakis 2006).
        keys = np.log(inner_uniform(rows.shape, seed)) / np.where(rows > 0, rows, 1e-300)
        indices = np.argsort(-keys, kind="stable")[:, :num_samples]
    return new_tensor(indices.reshape(*weights.shape[:-1], num_samples), int32)


def _check_weights(weights: Array) -> None:
    if not (np.isfinite(weights).all() and (weights >= 0).all() and (weights.sum(-1) > 0).all()):
        raise ValueError(
            "For 'multinomial', weights in 'input' must be finite and not negative, and one of each row above 0"
        )


def multinomial_with_replacement(
    x: Tensor, seed: int | Tensor, offset: int | Tensor, numsamples: int, replacement: bool = False
) -> Tensor:
    """Draw ``numsamples`` indices of each row, with the weights of the row.

    Args:
        x: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        seed: an int or a tensor of one: the same seed and ``offset`` give the same indices; 0 with the ``offset`` 0
            draws from the engine's stream (``set_seed``).
        offset: likewise; another offset gives other indices of the same seed.
        numsamples: the number of indices drawn from each row.
        replacement: whether an index may be drawn again.

    Returns:
        An Int64 tensor (numsamples,) or (M, numsamples).

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: weights that are invalid in ``multinomial``, or without ``replacement`` more samples than N.
    """
    name = "multinomial_with_replacement"
    combined = both_seeds(int_of(seed, name, "seed"), int_of(offset, name, "offset"))
    return multinomial(x, numsamples, replacement, combined or None).astype(int64)


@declare(method=True, primitive=prim("RandomCategorical", dtype=int64))
def random_categorical(logits: Tensor, num_sample: int, seed: int = 0, dtype: DTypeLike = int64) -> Tensor:
    """Draw ``num_sample`` indices for each row, with the softmax of the row and with replacement.

    Args:
        logits: logarithms of weights, (batch, classes).
        num_sample: the number of indices drawn from each row.
        seed: the same seed gives the same indices; 0 draws from the engine's stream (``set_seed``).
        dtype: of the result.

    Returns:
        A tensor (batch, num_sample) of ``dtype``.
    """
    weights = host_parameter(logits, "random_categorical", "logits").astype(np.float64)
    powers = np.exp(weights - weights.max(-1, keepdims=True))
    return multinomial(Tensor._wrap(to_device(powers)), num_sample, True, seed or None).astype(dtype)


def choice_with_mask(input_x: Tensor, count: int = 256, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """Draw ``count`` random indices of elements that are not 0, padded with 0, and return a mask of the drawn ones.

    Args:
        input_x: a tensor of at least 1 axis, of bools as a rule.
        count: the number of indices; if fewer elements are not 0, the remaining rows are 0.
        seed: the same seed gives the same indices; None draws from the engine's stream (``set_seed``).

    Returns:
        An Int32 tensor (count, input_x.ndim) with an index in each row, and a Bool tensor (count,): True where a row is
        drawn.
    """
    indices = np.argwhere(to_host(check_tensor(input_x, "choice_with_mask", "input_x")._array))
    selection = indices[random_order(len(indices), seed)[:count]]
    full = np.zeros((count, input_x.ndim), np.int32)
    full[: len(selection)] = selection
    return new_tensor(full, int32), new_tensor(np.arange(count) < len(selection), bool_)
