"""Functions and primitive classes that few programs call, over the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cpu.array_module import array_module
from ..tensor import Tensor
from . import arithmetic as a
from . import loss
from .activation import softshrink
from .creation import full_like, zeros_like
from .dropping import dropout
from .gathering import gather
from .layout import along, one_axis
from .matrices import lstsq
from .normalization import layer_norm
from .reduction import reduce_sum, sum
from .shape import _check, pad, split
from .sorting import bincount, median, searchsorted, topk
from .statistics import vector_norm

__all__ = [
    "dropout1d", "dropout3d", "embedding", "fills", "intopk", "iou", "mirror_pad", "move_to", "padding", "pows",
    "soft_shrink", "zero_",
]  # fmt: skip

pows = a.pow
fills = full_like
soft_shrink = softshrink


def zero_(input: Tensor) -> Any:
    """In place: zeros."""
    input._rebind(zeros_like(input)._array)
    return input


def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Any:
    """The same values on "CPU" or "GPU"."""
    return _check(input, "move_to").move_to(to, blocking)


def padding(x: Tensor, pad_dim_size: int = 8) -> Any:
    """The last axis, of length 1, filled up with 0 to ``pad_dim_size``.

    Raises:
        ValueError: the last axis is longer, or the size is not positive.
    """
    if _check(x, "padding", "x").shape[-1:] != (1,) or pad_dim_size < 1:
        raise ValueError(f"For 'padding', the last axis of 'x' must have length 1, but got shape {x.shape}")
    return pad(x, (0, pad_dim_size - 1))


def mirror_pad(input_x: Tensor, paddings: Any, mode: str) -> Any:
    """Padded with the mirror image of the tensor, its edge repeated ("SYMMETRIC") or not ("REFLECT").

    Raises:
        ValueError: another ``mode``.
    """
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"For 'mirror_pad', 'mode' must be 'REFLECT' or 'SYMMETRIC', but got {mode!r}")
    x = _check(input_x, "mirror_pad", "input_x")
    xp = array_module(x._array)
    widths = paddings.tolist() if isinstance(paddings, Tensor) else paddings
    for axis, (before, after) in enumerate(widths):
        places = np.pad(np.arange(x.shape[axis]), (before, after), mode=mode.lower())  # type: ignore[call-overload]
        x = x[along(x, axis, Tensor._wrap(xp.asarray(places)))]
    return x


def _channels(name: str, ndim: int) -> Any:
    def dropped(input: Tensor, p: float = 0.5, training: bool = True) -> Any:
        x = _check(input, name)
        if x.ndim not in (ndim, ndim - 1):
            raise ValueError(f"For '{name}', 'input' must have {ndim - 1} or {ndim} axes, but got shape {x.shape}")
        kept = x.shape[: x.ndim - ndim + 2] + (1,) * (ndim - 2)
        ones = Tensor._wrap(array_module(x._array).ones(kept, x._array.dtype))
        return x * dropout(ones, p, True) if training else x

    dropped.__name__ = dropped.__qualname__ = name
    dropped.__doc__ = "Like ``dropout``, for whole channels."
    return dropped


dropout1d, dropout3d = _channels("dropout1d", 3), _channels("dropout3d", 5)


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Any:
    """The rows of ``weight`` that ``input`` numbers; a row longer than ``max_norm`` is shortened to it first.

    Raises:
        NotImplementedError: ``scale_grad_by_freq``.
    """
    if scale_grad_by_freq:
        raise NotImplementedError("For 'embedding', 'scale_grad_by_freq' is not covered; scale the gradient yourself")
    rows = gather(weight, input, 0)
    if max_norm is not None:
        length = vector_norm(rows, norm_type, -1, True)
        rows = rows * a.where(length > max_norm, max_norm / (length + 1e-7), 1.0)
    if padding_idx is None:
        return rows
    mine = a.eq(input, padding_idx % weight.shape[0])
    return a.where(mine.expand_dims(-1), rows.data, rows)  # the row of the padding gets no gradient


def intopk(x1: Tensor, x2: Tensor, k: int) -> Any:
    """Whether the target is among the ``k`` largest of its row."""
    _, places = topk(x1, min(k, x1.shape[1]), 1)
    return a.gt(sum(a.eq(places, x2.reshape(-1, 1)), 1), 0)


def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = "iou") -> Any:
    """The overlap of each two boxes (x0, y0, x1, y1) over their union ("iou") or over the ground truth ("iof").

    Raises:
        KeyError: another ``mode``.
    """
    if mode not in ("iou", "iof"):
        raise KeyError(f"For 'iou', 'mode' must be 'iou' or 'iof', but got {mode!r}")
    first, second = anchor_boxes.expand_dims(0), gt_boxes.expand_dims(1)
    low, high = a.maximum(first[..., :2], second[..., :2]), a.minimum(first[..., 2:], second[..., 2:])
    # Boxes are made of pixels: one from 0 to 2 is three wide.
    sides = a.maximum(high - low + 1.0, 0.0)
    overlap = sides[..., 0] * sides[..., 1]
    area = [(b[..., 2] - b[..., 0] + 1.0) * (b[..., 3] - b[..., 1] + 1.0) for b in (first, second)]
    return overlap / (area[0] + area[1] - overlap if mode == "iou" else area[1])


def _layer_norm(x: Any, gamma: Any, beta: Any, begin_norm_axis: int, begin_params_axis: int, epsilon: float) -> Any:
    axes = tuple(range(one_axis(begin_norm_axis, x.ndim, "LayerNorm"), x.ndim))
    mean = x.mean(axes, True)
    variance = a.square(x - mean).mean(axes, True)
    return layer_norm(x, gamma.shape, gamma, beta, epsilon), mean, variance


def _median(x: Any, global_median: bool, axis: int, keep_dims: bool, ignore_nan: bool) -> Any:
    from .sorting import nanmedian

    function = nanmedian if ignore_nan else median
    return function(x.reshape(-1), 0) if global_median else function(x, axis, keep_dims)


def _bound(right: bool) -> Any:
    return lambda rows, values, out_type: searchsorted(rows, values, right=right).astype(out_type)


def _unravel(indices: Any, dims: Any) -> Any:
    return Tensor(np.stack(np.unravel_index(indices.asnumpy(), tuple(dims.tolist()))).astype(indices.asnumpy().dtype))


def _check_numerics(x: Any) -> Any:
    if not a.isfinite(x)._array.all():
        raise RuntimeError("For 'CheckNumerics', 'x' must be finite everywhere, but holds NaN or infinity")
    return x


def _pad_v3(x: Any, paddings: Any, value: Any = None, *, mode: str, paddings_contiguous: bool) -> Any:
    widths = paddings.tolist() if isinstance(paddings, Tensor) else list(paddings)
    if not paddings_contiguous:
        half = len(widths) // 2
        widths = [n for pair in zip(widths[:half], widths[half:], strict=True) for n in pair]
    return pad(x, widths, mode, None if value is None else float(value))


ROWS: tuple[Any, ...] = (
    ("BinaryCrossEntropy", lambda x, y, weight=None, *, reduction: loss.binary_cross_entropy(x, y, weight, reduction),
     (("reduction", "mean"),)),
    ("Bincount", lambda x, size, weights: bincount(x, weights, int(size)), ()),
    ("CheckNumerics", _check_numerics, ()),
    ("EmbeddingLookup", lambda x, indices, offset: gather(x, indices - offset, 0), ()),
    ("KLDivLoss", lambda x, y, reduction: loss.kl_div(x, y, reduction), (("reduction", "mean"),)),
    ("LayerNorm", _layer_norm, (("begin_norm_axis", 1), ("begin_params_axis", 1), ("epsilon", 1e-7))),
    ("LowerBound", _bound(False), (("out_type", "int32"),)),
    ("Lstsq", lambda x, y, fast, l2_regularizer: lstsq(x, y), (("fast", True), ("l2_regularizer", 0.0))),
    ("Median", _median, (("global_median", False), ("axis", 0), ("keep_dims", False), ("ignore_nan", False))),
    ("MirrorPad", lambda x, paddings, mode: mirror_pad(x, paddings, mode), (("mode", "REFLECT"),)),
    ("PadV3", _pad_v3, (("mode", "constant"), ("paddings_contiguous", True))),
    ("Padding", padding, (("pad_dim_size", 8),)),
    ("SigmoidCrossEntropyWithLogits",
     lambda x, y: a.maximum(x, 0.0) - x * y + a.log1p(a.exp(-a.abs(x))), ()),
    ("SplitV", lambda x, size_splits, split_dim, num_split: split(x, list(size_splits), split_dim),
     (("size_splits", ()), ("split_dim", 0), ("num_split", 1))),
    ("SquareSumAll", lambda x, y: (reduce_sum(a.square(x)), reduce_sum(a.square(y))), ()),
    ("UnravelIndex", _unravel, ()),
    ("UpperBound", _bound(True), (("out_type", "int32"),)),
)  # fmt: skip
