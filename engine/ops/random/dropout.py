"""Dropout: the mask is a function of seed and counter, the same on every device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Array, Functions, Value
from ...cpu.array_module import array_module
from ...cpu.arrays.philox import counters
from ...cpu.neural import dropout as dropout_kernels
from ...tensors import random
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import generate
from ..arguments import check_tensor
from ..shapes.reshape import reshape

__all__ = ["dropout", "dropout1d", "dropout2d", "dropout3d"]


# Both are linear in x: the gradient is the operator applied to the incoming one, so nothing is stored for it.
_dropout = Operator(
    "dropout",
    dropout_kernels.dropout,
    (lambda F, g, out, x, p, seed, offset: F.dropout(g, p=p, seed=seed, offset=offset),),
    placeholders=(0, -1),
)
_dropout_kept = Operator("dropout_kept", dropout_kernels.dropout_kept)


def _dropout2d_kernel(x: Array, keep_prob: float, seed: int, offset: int) -> tuple[Array, Array]:
    xp = array_module(x)
    channels = x.shape[:2] + (1,) * (x.ndim - 2)
    keep = dropout_kernels.dropout_kept(xp.ones(channels, np.float32), 1.0 - keep_prob, seed, offset)
    mask = xp.broadcast_to(keep, x.shape).copy()
    values = x * (1.0 / keep_prob) if keep_prob else x
    return xp.where(mask, values, 0).astype(x.dtype, copy=False), mask


def _dropout2d_rule(
    F: Functions, needs: list[bool], g: Any, out: Any, x: Value, keep_prob: float, seed: int, offset: int
) -> list[Any]:
    return [F.dropout2d(g[0], keep_prob=keep_prob, seed=seed, offset=offset)[0]]


_dropout2d = Operator("dropout2d", _dropout2d_kernel, joint_vjp=_dropout2d_rule, placeholders=(0, -1, -2))


def _probability(p: object, name: str, argument: str = "p") -> float:
    if isinstance(p, bool) or not isinstance(p, int | float):
        raise TypeError(f"For '{name}', '{argument}' must be a number, but got {type(p).__name__}")
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"For '{name}', '{argument}' must be in [0, 1], but got {p}")
    return float(p)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, seed: int | None = None) -> Tensor:
    """Set each element to 0 with probability ``p`` and divide it by 1 - p otherwise (Srivastava et al. 2014).

    Args:
        input: a tensor of any shape.
        p: the probability of a 0, in [0, 1].
        training: if False, the input itself is returned.
        seed: the same seed gives the same mask, at each call; None draws from the engine's stream (``set_seed``).

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``p`` is not a number.
        ValueError: ``p`` is not in [0, 1].
    """
    x = check_tensor(input, "dropout")
    chance = _probability(p, "dropout")
    if not training or chance == 0.0:
        return x
    stream, offset = random.draw(counters(x.size)) if seed is None else (seed, 0)
    return _dropout(x, p=chance, seed=stream, offset=offset)


def dropout_with_mask(x: Tensor, keep_prob: float) -> tuple[Tensor, Tensor]:
    """Return the input with elements set to 0 with probability 1 - keep_prob, and the mask of the kept elements.

    Args:
        x: a tensor of any shape.
        keep_prob: the probability that an element is kept, in [0, 1]; kept elements are divided by it.

    Returns:
        A tensor of the shape and dtype of ``x``, and a Bool tensor of that shape.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``keep_prob`` is not a number.
        ValueError: ``keep_prob`` is not in [0, 1].
    """
    source, chance = check_tensor(x, "Dropout", "x"), 1.0 - _probability(keep_prob, "Dropout", "keep_prob")
    stream, offset = random.draw(counters(source.size))
    settings = {"p": chance, "seed": stream, "offset": offset}
    return _dropout(source, **settings), _dropout_kept(source, **settings)


@declare(primitive=prim("Dropout", keep_prob=0.5, Seed0=0, Seed1=0))
def _dropout_with_seeds(x: Tensor, keep_prob: float, Seed0: int, Seed1: int) -> tuple[Tensor, Tensor]:
    """Return the input with elements set to 0 with probability 1 - keep_prob, and the mask of the kept elements.

    Args:
        x: a tensor of any shape.
        keep_prob: the probability that an element is kept, in [0, 1]; kept elements are divided by it.
        Seed0: has no effect: each call draws a new mask from the engine's stream, which ``set_seed`` restarts.
        Seed1: has no effect, likewise.

    Returns:
        A tensor of the shape and dtype of ``x``, and a tensor likewise, 1 where an element was kept and 0 elsewhere.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``keep_prob`` is not a number.
        ValueError: ``keep_prob`` is not in [0, 1].
    """
    result, mask = dropout_with_mask(x, keep_prob)
    return result, Tensor._wrap(mask._array.astype(result._array.dtype))


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Set each channel (n, c) as a whole to 0 with probability ``p`` and divide it by 1 - p otherwise.

    Args:
        input: images (N, C, H, W).
        p: the probability that a channel is set to 0, in [0, 1].
        training: if False, the input itself is returned.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``p`` is not a number.
        ValueError: ``p`` is not in [0, 1], or ``input`` does not have 4 axes.
    """
    if not training:
        return input
    return dropout2d_with_mask(input, 1.0 - _probability(p, "dropout2d"))[0]


@declare(primitive=prim("Dropout2D", keep_prob=0.5))
def dropout2d_with_mask(x: Tensor, keep_prob: float) -> tuple[Tensor, Tensor]:
    """Return the input with whole channels set to 0 with probability 1 - keep_prob, and the mask of the kept elements.

    Args:
        x: images (N, C, H, W).
        keep_prob: the probability that a channel is kept, in [0, 1]; kept elements are divided by it.

    Returns:
        A tensor of the shape and dtype of ``x``, and a Bool tensor of that shape.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``keep_prob`` is not a number.
        ValueError: ``x`` does not have 4 axes, or ``keep_prob`` is not in [0, 1].
    """
    if check_tensor(x, "Dropout2D", "x").ndim != 4:
        raise ValueError(f"For 'Dropout2D', 'x' must have 4 axes, but got shape {x.shape}")
    share = _probability(keep_prob, "Dropout2D", "keep_prob")
    stream, offset = random.draw(counters(x.shape[0] * x.shape[1]))
    return _dropout2d(x, keep_prob=share, seed=stream, offset=offset)


@declare(primitive=prim("Dropout3D", keep_prob=0.5))
def _dropout3d_with_mask(x: Tensor, keep_prob: float) -> tuple[Tensor, Tensor]:
    """Return the input with whole channels set to 0 with probability 1 - keep_prob, and the mask of the kept elements.

    Args:
        x: volumes (N, C, D, H, W).
        keep_prob: the probability that a channel is kept, in [0, 1]; kept elements are divided by it.

    Returns:
        A tensor of the shape and dtype of ``x``, and a Bool tensor of that shape.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``keep_prob`` is not a number.
        ValueError: ``x`` does not have 5 axes, or ``keep_prob`` is not in [0, 1].
    """
    if check_tensor(x, "Dropout3D", "x").ndim != 5:
        raise ValueError(f"For 'Dropout3D', 'x' must have 5 axes, but got shape {x.shape}")
    n, c, *_ = x.shape
    result, mask = dropout2d_with_mask(reshape(x, (n, c, -1, 1)), keep_prob)
    return reshape(result, x.shape), reshape(mask, x.shape)


def _of_channels(name: str, ndim: int) -> Callable[..., Tensor]:
    def dropped(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
        x = check_tensor(input, name)
        if x.ndim not in (ndim, ndim - 1):
            raise ValueError(f"For '{name}', 'input' must have {ndim - 1} or {ndim} axes, but got shape {x.shape}")
        shape = x.shape[: x.ndim - ndim + 2] + (1,) * (ndim - 2)
        factors = generate(array_module(x._array).ones, shape=shape, dtype=x._array.dtype)
        return x * dropout(factors, p, True) if training else x

    lengths = "L" if ndim == 3 else "D, H, W"
    dropped.__name__ = dropped.__qualname__ = name
    dropped.__doc__ = f"""Each channel is set to 0 as a whole with probability ``p`` and divided by 1 - p otherwise.

    Args:
        input: a tensor (N, C, {lengths}) or (C, {lengths}).
        p: the probability that a channel is set to 0, in [0, 1].
        training: False gives the input itself.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``p`` is not a number.
        ValueError: ``p`` is not in [0, 1], or ``input`` has the wrong number of axes.
    """
    return dropped


dropout1d, dropout3d = _of_channels("dropout1d", 3), _of_channels("dropout3d", 5)
