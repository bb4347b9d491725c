"""Margins around a tensor besides those of ``pad``: mirror images, the last axis filled up, pairs in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from .arguments import along, check_tensor
from .shape import pad

__all__ = ["mirror_pad", "padding"]


@declare(primitive=prim("Padding", pad_dim_size=8))
def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """The last axis, of length 1, filled up with 0 to ``pad_dim_size``.

    Raises:
        ValueError: the last axis is longer, or the size is not positive.
    """
    if check_tensor(x, "padding", "x").shape[-1:] != (1,) or pad_dim_size < 1:
        raise ValueError(f"For 'padding', the last axis of 'x' must have length 1, but got shape {x.shape}")
    return pad(x, (0, pad_dim_size - 1))


@declare(primitive=prim("MirrorPad", mode="REFLECT"))
def mirror_pad(input_x: Tensor, paddings: Any, mode: str) -> Tensor:
    """Padded with the mirror image of the tensor, its edge repeated ("SYMMETRIC") or not ("REFLECT").

    Raises:
        ValueError: another ``mode``.
    """
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"For 'mirror_pad', 'mode' must be 'REFLECT' or 'SYMMETRIC', but got {mode!r}")
    x = check_tensor(input_x, "mirror_pad", "input_x")
    xp = array_module(x._array)
    widths = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    for axis, (before, after) in enumerate(widths):
        places = np.pad(np.arange(x.shape[axis]), (before, after), mode=mode.lower())  # type: ignore[call-overload]
        x = x[along(x, axis, Tensor._wrap(xp.asarray(places)))]
    return x


@declare(primitive=prim("PadV3", mode="constant", paddings_contiguous=True))
def _pad_by_pairs(x: Tensor, paddings: Any, value: Any = None, *, mode: str, paddings_contiguous: bool) -> Tensor:
    """``pad``, by (before, after) pairs, or by what comes before each axis and then what comes after."""
    widths = paddings.tolist() if isinstance(paddings, Tensor) else list(paddings)
    if not paddings_contiguous:
        half = len(widths) // 2
        widths = [n for pair in zip(widths[:half], widths[half:], strict=True) for n in pair]
    return pad(x, widths, mode, None if value is None else float(value))
