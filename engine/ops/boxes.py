"""Boxes in images."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import arithmetic
from .shape import expand_dims

__all__ = ["iou"]


def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = "iou") -> Tensor:
    """The overlap of each two boxes (x0, y0, x1, y1) over their union ("iou") or over the ground truth ("iof").

    Raises:
        KeyError: another ``mode``.
    """
    if mode not in ("iou", "iof"):
        raise KeyError(f"For 'iou', 'mode' must be 'iou' or 'iof', but got {mode!r}")
    first, second = expand_dims(anchor_boxes, 0), expand_dims(gt_boxes, 1)
    low, high = arithmetic.maximum(first[..., :2], second[..., :2]), arithmetic.minimum(first[..., 2:], second[..., 2:])
    # Boxes are made of pixels: one from 0 to 2 is three wide.
    sides = arithmetic.maximum(high - low + 1.0, 0.0)
    overlap = sides[..., 0] * sides[..., 1]
    area = [(b[..., 2] - b[..., 0] + 1.0) * (b[..., 3] - b[..., 1] + 1.0) for b in (first, second)]
    whole = area[0] + area[1] - overlap if mode == "iou" else area[1]
    return overlap / (whole + 1e-10)  # an empty box has no overlap
