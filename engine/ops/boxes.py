"""Boxes in images."""

from __future__ import annotations

import math

import numpy as np

from ..core.backend import to_device, to_host
from ..core.checks import check_type
from ..core.dtype import float16, float32
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from ..core.types import Array
from . import arithmetic
from .arguments import check_tensor
from .elementwise import through_single
from .exponentials import exp, log
from .indexing import getitem
from .shape import expand_dims, stack

__all__ = ["bounding_box_decode", "bounding_box_encode", "check_valid", "iou"]


@declare(primitive=prim("IOU", mode="iou"))
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


@declare(primitive=prim("CheckValid"))
def check_valid(bboxes: Tensor, img_metas: Tensor) -> Tensor:
    """Which boxes lie in the image: x0 and y0 not below 0, x1 and y1 at most its last column and row.

    Args:
        bboxes: boxes (x0, y0, x1, y1), a tensor (N, 4).
        img_metas: height and width of the image, and a factor for both: a tensor of three numbers.

    Returns:
        A Bool tensor (N,).

    Raises:
        TypeError: an argument is no Tensor.
        ValueError: arguments of another shape.
    """
    if check_tensor(bboxes, "check_valid", "bboxes").ndim != 2 or bboxes.shape[1] != 4:
        raise ValueError(f"For 'check_valid', 'bboxes' must have the shape (N, 4), but got {bboxes.shape}")
    if check_tensor(img_metas, "check_valid", "img_metas").shape != (3,):
        raise ValueError(f"For 'check_valid', 'img_metas' must have the shape (3,), but got {img_metas.shape}")
    boxes, image = bboxes._array, img_metas._array
    return Tensor._wrap(((boxes[:, :2] >= 0) & (boxes[:, 2:] <= image[1::-1] * image[2] - 1)).all(axis=1))


def _check_coded(name: str, second: str, anchor_box: Tensor, boxes: Tensor, means: object, stds: object) -> None:
    for argument, one in (("anchor_box", anchor_box), (second, boxes)):
        if check_tensor(one, name, argument).ndim != 2 or one.shape[1] != 4 or one.shape != anchor_box.shape:
            raise ValueError(
                f"For '{name}', 'anchor_box' and '{second}' must have one shape (N, 4), but got {anchor_box.shape} and "
                f"{boxes.shape}"
            )
        if one.dtype not in (float16, float32):
            raise TypeError(f"For '{name}', '{argument}' must be of Float16 or Float32, but got {one.dtype}")
    for argument, four in (("means", means), ("stds", stds)):
        if len(check_type(four, tuple, name, argument)) != 4:
            raise ValueError(f"For '{name}', '{argument}' must be a tuple of 4 floats, but got {four!r}")
        for each in four:  # type: ignore[attr-defined]
            check_type(each, float, name, argument, "a tuple of 4 floats", repr)


def _middles_and_sides(boxes: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Along x and along y: the middles of boxes and how many pixels they are long."""
    ends = [(getitem(boxes, (slice(None), i)), getitem(boxes, (slice(None), i + 2))) for i in (0, 1)]
    return [((low + high) * 0.5, high - low + 1.0) for low, high in ends]


@declare(primitive=prim("BoundingBoxEncode", means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0)))
@through_single
def bounding_box_encode(
    anchor_box: Tensor,
    groundtruth_box: Tensor,
    means: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    stds: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0),
) -> Tensor:
    """Boxes told by how they differ from anchors (Girshick et al. 2014); the inverse is ``bounding_box_decode``.

    A box is told by (x - xa) / wa, (y - ya) / ha, log(w / wa), log(h / ha) of its middle (x, y) and its sides w and h,
    which count pixels: w = x1 - x0 + 1.

    Args:
        anchor_box: the anchors (x0, y0, x1, y1), a tensor (N, 4) of Float16 or Float32.
        groundtruth_box: the boxes, likewise.
        means: what is taken from the four numbers, a tuple of four floats.
        stds: what they are divided by then, a tuple of four floats.

    Returns:
        A tensor (N, 4) of the dtype of ``anchor_box``.

    Raises:
        TypeError: an argument of another kind or dtype.
        ValueError: another shape, or not four ``means`` or ``stds``.
    """
    _check_coded("bounding_box_encode", "groundtruth_box", anchor_box, groundtruth_box, means, stds)
    pairs = list(zip(_middles_and_sides(anchor_box), _middles_and_sides(groundtruth_box), strict=True))
    deltas = [(middle - anchor) / side for (anchor, side), (middle, _) in pairs]
    deltas += [log(own / side) for (_, side), (_, own) in pairs]
    return stack([(delta - means[i]) / stds[i] for i, delta in enumerate(deltas)], -1)


@declare(
    primitive=prim(
        "BoundingBoxDecode", "max_shape", means=(0.0, 0.0, 0.0, 0.0), stds=(1.0, 1.0, 1.0, 1.0), wh_ratio_clip=0.016
    )
)
@through_single
def bounding_box_decode(
    anchor_box: Tensor,
    deltas: Tensor,
    max_shape: tuple[int, int],
    means: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0),
    stds: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0),
    wh_ratio_clip: float = 0.016,
) -> Tensor:
    """The boxes that differ from anchors as told (Girshick et al. 2014); the inverse of ``bounding_box_encode``.

    Args:
        anchor_box: the anchors (x0, y0, x1, y1), a tensor (N, 4) of Float16 or Float32.
        deltas: how the boxes differ from them, likewise.
        max_shape: height and width of the image, a tuple of two ints: corners are clipped to them.
        means: what was taken from the four numbers of ``deltas``, a tuple of four floats.
        stds: what they were divided by then, a tuple of four floats.
        wh_ratio_clip: by how much at most a box may be wider, higher, narrower or lower than its anchor: at most
            1 / wh_ratio_clip times, at least wh_ratio_clip times.

    Returns:
        Boxes (x0, y0, x1, y1), a tensor (N, 4) of the dtype of ``anchor_box``.

    Raises:
        TypeError: an argument of another kind or dtype.
        ValueError: another shape, or not four ``means`` or ``stds`` or two ``max_shape``.
    """
    name = "bounding_box_decode"
    _check_coded(name, "deltas", anchor_box, deltas, means, stds)
    if len(check_type(max_shape, tuple, name, "max_shape")) != 2:
        raise ValueError(f"For '{name}', 'max_shape' must be a tuple of 2 ints, but got {max_shape!r}")
    for each in max_shape:
        check_type(each, int, name, "max_shape", "a tuple of 2 ints", repr)
    most = abs(math.log(check_type(wh_ratio_clip, float, name, "wh_ratio_clip")))
    told = [getitem(deltas, (slice(None), i)) * stds[i] + means[i] for i in range(4)]
    low, high = [], []
    for axis, (anchor, side) in enumerate(_middles_and_sides(anchor_box)):
        middle = anchor + side * told[axis]
        half = side * exp(arithmetic.clamp(told[axis + 2], -most, most)) * 0.5
        low.append(arithmetic.clamp(middle - half + 0.5, 0, max_shape[1 - axis]))
        high.append(arithmetic.clamp(middle + half - 0.5, 0, max_shape[1 - axis]))
    return stack(low + high, -1)


def kept_by_order(overlaps: Array, threshold: float, most: int | None = None) -> list[int]:
    """Which of things in order are kept, if each that is kept drops those behind it that overlap with it too much.

    Args:
        overlaps: how much each two overlap, an array (N, N).
        threshold: more than this is too much.
        most: how many are kept at most.
    """
    free, kept = np.ones(len(overlaps), bool), list[int]()
    for place in range(len(overlaps)):
        if most is not None and len(kept) >= most:
            break
        if free[place]:
            kept.append(place)
            free[place + 1 :] &= ~(overlaps[place, place + 1 :] > threshold)
    return kept


def overlaps_of(boxes: Array) -> Array:
    """The overlap of each two boxes (x0, y0, x1, y1) over their union, in Float32; 0 where both are empty."""
    low, high = np.maximum(boxes[:, None, :2], boxes[:, :2]), np.minimum(boxes[:, None, 2:], boxes[:, 2:])
    shared = np.maximum(high - low, 0).prod(axis=-1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=-1)
    union = area[:, None] + area - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


@declare(primitive=prim("NMSWithMask", iou_threshold=0.5))
def _nms_with_mask(bboxes: Tensor, iou_threshold: float) -> tuple[Tensor, Tensor, Tensor]:
    """Boxes by falling scores, and which of them overlap with no better one that is kept (non-maximum suppression).

    Args:
        bboxes: boxes (x0, y0, x1, y1, score), a tensor (N, 5) of Float16 or Float32.
        iou_threshold: a box is dropped if its overlap with one that is kept, over their union, is more; a float.

    Returns:
        The boxes by falling scores (N, 5), of two that are equal the later one first; 0 to N - 1 in Int32; and for each
        whether it is kept, in Bool.

    Raises:
        TypeError: ``bboxes`` is no Tensor or of another dtype, or ``iou_threshold`` no float.
        ValueError: another shape.
    """
    check_type(iou_threshold, float, "NMSWithMask", "iou_threshold")
    if check_tensor(bboxes, "NMSWithMask", "bboxes").ndim != 2 or bboxes.shape[1] != 5:
        raise ValueError(f"For 'NMSWithMask', 'bboxes' must have the shape (N, 5), but got {bboxes.shape}")
    if bboxes.dtype not in (float16, float32):
        raise TypeError(f"For 'NMSWithMask', 'bboxes' must be of Float16 or Float32, but got {bboxes.dtype}")
    boxes = to_host(bboxes._array)
    boxes = boxes[np.argsort(boxes[:, 4], kind="stable")[::-1]]
    mask = np.zeros(len(boxes), bool)
    mask[kept_by_order(overlaps_of(boxes[:, :4].astype(np.float32)), iou_threshold)] = True
    found = (boxes, np.arange(len(boxes), dtype=np.int32), mask)
    return tuple(Tensor._wrap(to_device(one)) for one in found)  # type: ignore[return-value]
