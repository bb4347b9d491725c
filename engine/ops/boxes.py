"""Boxes in images."""

from __future__ import annotations

from ..core.tensor import Tensor
from . import arithmetic
from .arguments import check_tensor
from .shape import expand_dims

__all__ = ["iou"]


def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = "iou") -> Tensor:
    """The overlap of each two boxes over their union, or over the second's area; boxes (x0, y0, x1, y1) count pixels.

    A box is x1 - x0 + 1 wide and y1 - y0 + 1 high.

    Args:
        anchor_boxes: N boxes, a tensor (N, 4).
        gt_boxes: M boxes of the ground truth, a tensor (M, 4).
        mode: "iou" to divide by the area of the union, "iof" by that of the box of the ground truth.

    Returns:
        A tensor (M, N) of the dtype of the boxes.

    Raises:
        KeyError: another ``mode``.
        TypeError: an argument is no Tensor.
        ValueError: boxes of another shape.
    """
    if mode not in ("iou", "iof"):
        raise KeyError(f"For 'iou', 'mode' must be 'iou' or 'iof', but got {mode!r}")
    for argument, boxes in (("anchor_boxes", anchor_boxes), ("gt_boxes", gt_boxes)):
        if check_tensor(boxes, "iou", argument).ndim != 2 or boxes.shape[1] != 4:
            raise ValueError(f"For 'iou', '{argument}' must have the shape (N, 4), but got {boxes.shape}")
    first, second = expand_dims(anchor_boxes, 0), expand_dims(gt_boxes, 1)
    low, high = arithmetic.maximum(first[..., :2], second[..., :2]), arithmetic.minimum(first[..., 2:], second[..., 2:])
    # Boxes are made of pixels: one from 0 to 2 is three wide.
    sides = arithmetic.maximum(high - low + 1.0, 0.0)
    overlap = sides[..., 0] * sides[..., 1]
    area = [(b[..., 2] - b[..., 0] + 1.0) * (b[..., 3] - b[..., 1] + 1.0) for b in (first, second)]
    whole = area[0] + area[1] - overlap if mode == "iou" else area[1]
    return overlap / (whole + 1e-10)  # an empty box has no overlap
