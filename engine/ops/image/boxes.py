"""Operators on boxes in images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import (
    check_above_zero,
    check_bool,
    check_not_negative,
    check_number,
    check_positive_int,
    check_type,
)
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...tensors import random
from ...tensors.backend import to_device, to_host
from ...tensors.dtype import DType, float16, float32, float64, int32
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from ..elementwise import arithmetic
from ..elementwise.exponentials import exp, log
from ..random.drawing import both_seeds
from ..shapes.broadcasting import through_single
from ..shapes.concatenation import stack
from ..shapes.reshape import expand_dims
from ..shapes.subscripts import getitem

__all__ = ["bounding_box_decode", "bounding_box_encode", "check_valid", "iou"]


@declare(primitive=prim("IOU", mode="iou"))
def iou(anchor_boxes: Tensor, gt_boxes: Tensor, mode: str = "iou") -> Tensor:
    """Return the overlap of each two boxes (x0, y0, x1, y1) over their union, or over the second's area, in pixels.

    A box is x1 - x0 + 1 wide and y1 - y0 + 1 high.

    Args:
        anchor_boxes: N boxes, a tensor (N, 4).
        gt_boxes: M boxes of the ground truth, a tensor (M, 4).
        mode: "iou" to divide by the area of the union, "iof" by that of the box of the ground truth.

    Returns:
        A tensor (M, N) of the dtype of the boxes.

    Raises:
        KeyError: an unknown ``mode``.
        TypeError: an argument is not a Tensor.
        ValueError: boxes of the wrong shape.
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
    divisor = area[0] + area[1] - overlap if mode == "iou" else area[1]
    return overlap / (divisor + 1e-10)  # an empty box has no overlap


@declare(primitive=prim("CheckValid"))
def check_valid(bboxes: Tensor, img_metas: Tensor) -> Tensor:
    """Return which boxes are inside the image: x0 and y0 not below 0, x1 and y1 at most its last column and row.

    Args:
        bboxes: boxes (x0, y0, x1, y1), a tensor (N, 4).
        img_metas: height and width of the image, and a factor for both: a tensor of three numbers.

    Returns:
        A Bool tensor (N,).

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: arguments of the wrong shape.
    """
    if check_tensor(bboxes, "check_valid", "bboxes").ndim != 2 or bboxes.shape[1] != 4:
        raise ValueError(f"For 'check_valid', 'bboxes' must have the shape (N, 4), but got {bboxes.shape}")
    if check_tensor(img_metas, "check_valid", "img_metas").shape != (3,):
        raise ValueError(f"For 'check_valid', 'img_metas' must have the shape (3,), but got {img_metas.shape}")
    boxes, image = bboxes._array, img_metas._array
    return Tensor._wrap(((boxes[:, :2] >= 0) & (boxes[:, 2:] <= image[1::-1] * image[2] - 1)).all(axis=1))


def _check_coded(name: str, second: str, anchor_box: Tensor, boxes: Tensor, means: object, stds: object) -> None:
    tensors = {"anchor_box": anchor_box, second: boxes}
    for argument, tensor in tensors.items():
        check_tensor(tensor, name, argument)
    for argument, tensor in tensors.items():
        if tensor.ndim != 2 or tensor.shape[1] != 4 or tensor.shape != anchor_box.shape:
            raise ValueError(
                f"For '{name}', 'anchor_box' and '{second}' must have one shape (N, 4), but got {anchor_box.shape} and "
                f"{boxes.shape}"
            )
        if tensor.dtype not in (float16, float32):
            raise TypeError(f"For '{name}', '{argument}' must be of Float16 or Float32, but got {tensor.dtype}")
    for argument, four in (("means", means), ("stds", stds)):
        if len(check_type(four, tuple, name, argument)) != 4:
            raise ValueError(f"For '{name}', '{argument}' must be a tuple of 4 floats, but got {four!r}")
        for number in four:  # type: ignore[attr-defined]
            check_type(number, float, name, argument, "a tuple of 4 floats", repr)


def _middles_and_sides(boxes: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return the centers of boxes and their lengths in pixels, along x and along y."""
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
    """Return boxes encoded by their differences from anchors (Girshick et al. 2014); see ``bounding_box_decode``.

    The code of a box is (x - xa) / wa, (y - ya) / ha, log(w / wa), log(h / ha) of its center (x, y) and its sides w and
    h, which count pixels: w = x1 - x0 + 1.

    Args:
        anchor_box: the anchors (x0, y0, x1, y1), a tensor (N, 4) of Float16 or Float32.
        groundtruth_box: the boxes, likewise.
        means: numbers subtracted from the four numbers, a tuple of four floats.
        stds: their divisors after that, a tuple of four floats.

    Returns:
        A tensor (N, 4) of the dtype of ``anchor_box``.

    Raises:
        TypeError: an argument of the wrong kind or dtype.
        ValueError: the wrong shape, or not four ``means`` or ``stds``.
    """
    _check_coded("bounding_box_encode", "groundtruth_box", anchor_box, groundtruth_box, means, stds)
    pairs = list(zip(_middles_and_sides(anchor_box), _middles_and_sides(groundtruth_box), strict=True))
    deltas = [(middle - anchor) / side for (anchor, side), (middle, _) in pairs]
    deltas += [log(length / side) for (_, side), (_, length) in pairs]
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
    """Return boxes from their differences from anchors (Girshick et al. 2014); the inverse of ``bounding_box_encode``.

    Args:
        anchor_box: the anchors (x0, y0, x1, y1), a tensor (N, 4) of Float16 or Float32.
        deltas: the differences of the boxes from them, likewise.
        max_shape: height and width of the image, a tuple of two ints: corners are clipped to them.
        means: the numbers that were subtracted from the four numbers of ``deltas``, a tuple of four floats.
        stds: their divisors after that, a tuple of four floats.
        wh_ratio_clip: the limit of the ratios of a box's sides to those of its anchor: at most 1 / wh_ratio_clip, at
            least wh_ratio_clip.

    Returns:
        Boxes (x0, y0, x1, y1), a tensor (N, 4) of the dtype of ``anchor_box``.

    Raises:
        TypeError: an argument of the wrong kind or dtype.
        ValueError: the wrong shape, or not four ``means`` or ``stds`` or two ``max_shape``.
    """
    name = "bounding_box_decode"
    _check_coded(name, "deltas", anchor_box, deltas, means, stds)
    if len(check_type(max_shape, tuple, name, "max_shape")) != 2:
        raise ValueError(f"For '{name}', 'max_shape' must be a tuple of 2 ints, but got {max_shape!r}")
    for length in max_shape:
        check_type(length, int, name, "max_shape", "a tuple of 2 ints", repr)
    limit = abs(math.log(check_type(wh_ratio_clip, float, name, "wh_ratio_clip")))
    offsets = [getitem(deltas, (slice(None), i)) * stds[i] + means[i] for i in range(4)]
    low, high = [], []
    for axis, (anchor, side) in enumerate(_middles_and_sides(anchor_box)):
        middle = anchor + side * offsets[axis]
        half = side * exp(arithmetic.clamp(offsets[axis + 2], -limit, limit)) * 0.5
        low.append(arithmetic.clamp(middle - half + 0.5, 0, max_shape[1 - axis]))
        high.append(arithmetic.clamp(middle + half - 0.5, 0, max_shape[1 - axis]))
    return stack(low + high, -1)


def suppress(overlaps: Array, threshold: float, most: int | None = None) -> list[int]:
    """Return the kept ones of ordered items, where each kept one drops the later ones that overlap it too much.

    Args:
        overlaps: the overlap of each two, an array (N, N).
        threshold: a larger overlap is too much.
        most: the largest number of kept ones.
    """
    free, result = np.ones(len(overlaps), bool), list[int]()
    for index in range(len(overlaps)):
        if most is not None and len(result) >= most:
            break
        if free[index]:
            result.append(index)
            free[index + 1 :] &= ~(overlaps[index, index + 1 :] > threshold)
    return result


def overlaps_of(boxes: Array) -> Array:
    """Return the overlap of each two boxes (x0, y0, x1, y1) over their union, in Float32; 0 where both are empty."""
    low, high = np.maximum(boxes[:, None, :2], boxes[:, :2]), np.minimum(boxes[:, None, 2:], boxes[:, 2:])
    intersection = np.maximum(high - low, 0).prod(axis=-1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=-1)
    union = area[:, None] + area - intersection
    return np.divide(intersection, union, out=np.zeros_like(intersection), where=union > 0)


@declare(primitive=prim("NMSWithMask", iou_threshold=0.5))
def _nms_with_mask(bboxes: Tensor, iou_threshold: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return boxes by falling scores, and which of them non-maximum suppression keeps.

    Args:
        bboxes: boxes (x0, y0, x1, y1, score), a tensor (N, 5) of Float16 or Float32.
        iou_threshold: a box is dropped if its overlap with one that is kept, over their union, is more; a float.

    Returns:
        The boxes by falling scores (N, 5), of two that are equal the later one first; 0 to N - 1 in Int32; and for each
        whether it is kept, in Bool.

    Raises:
        TypeError: ``bboxes`` is not a Tensor or of the wrong dtype, or ``iou_threshold`` is not a float.
        ValueError: the wrong shape.
    """
    check_type(iou_threshold, float, "NMSWithMask", "iou_threshold")
    if check_tensor(bboxes, "NMSWithMask", "bboxes").ndim != 2 or bboxes.shape[1] != 5:
        raise ValueError(f"For 'NMSWithMask', 'bboxes' must have the shape (N, 5), but got {bboxes.shape}")
    if bboxes.dtype not in (float16, float32):
        raise TypeError(f"For 'NMSWithMask', 'bboxes' must be of Float16 or Float32, but got {bboxes.dtype}")
    boxes = to_host(bboxes._array)
    boxes = boxes[np.argsort(boxes[:, 4], kind="stable")[::-1]]
    mask = np.zeros(len(boxes), bool)
    mask[suppress(overlaps_of(boxes[:, :4].astype(np.float32)), iou_threshold)] = True
    arrays = (boxes, np.arange(len(boxes), dtype=np.int32), mask)
    return tuple(Tensor._wrap(to_device(array)) for array in arrays)  # type: ignore[return-value]


def _number_of(value: Tensor, name: str, argument: str, dtypes: tuple[DType, ...]) -> Any:
    """Return the number in a tensor without axes."""
    if check_tensor(value, name, argument).ndim:
        raise ValueError(f"For '{name}', '{argument}' must have no axes, but got shape {value.shape}")
    if value.dtype not in dtypes:
        raise TypeError(f"For '{name}', '{argument}' must be of {dtypes[0]}, but got {value.dtype}")
    return value.item()


@declare(primitive=prim("CombinedNonMaxSuppression", pad_per_class=False, clip_boxes=True))
def _combined_nms(
    boxes: Tensor,
    scores: Tensor,
    max_output_size_per_class: Tensor,
    max_total_size: Tensor,
    iou_threshold: Tensor,
    score_threshold: Tensor,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the best boxes of each image: by non-maximum suppression in each class, then the best of all classes.

    Args:
        boxes: two opposite corners (y0, x0, y1, x1) of B boxes of N images, a Float32 tensor (N, B, Q, 4). Q is 1, or
            the number of classes, if each class has boxes of its own.
        scores: of each box for each class, a Float32 tensor (N, B, classes).
        max_output_size_per_class: the number of kept boxes of a class, an Int32 tensor without axes, above 0.
        max_total_size: the number of kept boxes of an image, likewise.
        iou_threshold: a box is dropped if its overlap with one that is kept, over their union, is more: a Float32
            tensor without axes, in [0, 1].
        score_threshold: a box is dropped if its score is not more, likewise.
        pad_per_class: whether at most max_output_size_per_class * classes boxes of an image are returned.
        clip_boxes: whether the returned corners are clipped to [0, 1].

    Returns:
        Boxes (N, M, 4), their scores (N, M) and their classes (N, M), by falling scores and in Float32, M the number of
        returned boxes; 0 after the found ones. Their number (N,) in Int32.

    Raises:
        TypeError: an argument that is not a Tensor or of the wrong dtype.
        ValueError: shapes that do not fit, or a number out of range.
    """
    name = "CombinedNonMaxSuppression"
    for argument, flag in (("pad_per_class", pad_per_class), ("clip_boxes", clip_boxes)):
        check_bool(flag, name, argument)
    for argument, tensor, axes in (("boxes", boxes, 4), ("scores", scores, 3)):
        if check_tensor(tensor, name, argument).ndim != axes:
            raise ValueError(f"For '{name}', '{argument}' must have {axes} axes, but got shape {tensor.shape}")
        if tensor.dtype != float32:
            raise TypeError(f"For '{name}', '{argument}' must be of Float32, but got {tensor.dtype}")
    count, _, classes = scores.shape
    if boxes.shape[:2] != scores.shape[:2] or boxes.shape[2] not in (1, classes) or boxes.shape[3] != 4:
        raise ValueError(f"For '{name}', 'boxes' of shape {boxes.shape} do not fit 'scores' of shape {scores.shape}")
    limit = check_above_zero(
        _number_of(max_output_size_per_class, name, "max_output_size_per_class", (int32,)),
        name,
        "max_output_size_per_class",
    )
    total = check_above_zero(_number_of(max_total_size, name, "max_total_size", (int32,)), name, "max_total_size")
    threshold = check_number(
        _number_of(iou_threshold, name, "iou_threshold", (float32,)), name, "iou_threshold", within=(0, 1)
    )
    least = _number_of(score_threshold, name, "score_threshold", (float32,))
    size = min(total, limit * classes) if pad_per_class else total
    box_results, score_results = np.zeros((count, size, 4), np.float32), np.zeros((count, size), np.float32)
    class_results, count_results = np.zeros((count, size), np.float32), np.zeros(count, np.int32)
    for image, (corners, marks) in enumerate(zip(to_host(boxes._array), to_host(scores._array), strict=True)):
        candidates: list[tuple[float, int, int]] = []
        for label in range(classes):
            indices = np.flatnonzero(marks[:, label] > least)
            indices = indices[np.argsort(-marks[indices, label], kind="stable")]
            class_corners = corners[indices, label % corners.shape[1]]
            ordered = np.concatenate(
                [
                    np.minimum(class_corners[:, :2], class_corners[:, 2:]),
                    np.maximum(class_corners[:, :2], class_corners[:, 2:]),
                ],
                axis=1,
            )
            candidates += [
                (float(marks[indices[i], label]), label, indices[i])
                for i in suppress(overlaps_of(ordered), threshold, limit)
            ]
        candidates = sorted(candidates, key=lambda candidate: -candidate[0])[:size]
        count_results[image] = len(candidates)
        for index, (mark, label, box) in enumerate(candidates):
            box_results[image, index] = corners[box, label % corners.shape[1]]
            score_results[image, index], class_results[image, index] = mark, label
    if clip_boxes:
        box_results = box_results.clip(0, 1)
    outputs = (box_results, score_results, class_results, count_results)
    return tuple(Tensor._wrap(to_device(tensor)) for tensor in outputs)  # type: ignore[return-value]


@declare(primitive=prim("NonMaxSuppressionWithOverlaps"))
def _nms_with_overlaps(
    overlaps: Tensor, scores: Tensor, max_output_size: Tensor, overlap_threshold: Tensor, score_threshold: Tensor
) -> Tensor:
    """Return the boxes of the best scores that do not overlap with a better kept one, for given overlaps.

    Args:
        overlaps: the overlap of each box with each other one, a tensor (N, N) of Float16, Float32 or Float64.
        scores: of the boxes, a tensor (N,) of the same dtype.
        max_output_size: the largest number of kept boxes, an Int32 tensor without axes.
        overlap_threshold: a box is dropped if overlaps[box, kept box] is this or more, a tensor without axes of the
            dtype of ``overlaps``.
        score_threshold: a box is dropped if its score is not more, likewise.

    Returns:
        The indices of the boxes by falling scores, of two that are equal the first one first: an Int32 tensor (M,).

    Raises:
        TypeError: an argument that is not a Tensor or of the wrong dtype.
        ValueError: shapes that do not fit, or a negative ``max_output_size``.
    """
    name = "NonMaxSuppressionWithOverlaps"
    if check_tensor(overlaps, name, "overlaps").ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise ValueError(f"For '{name}', 'overlaps' must have the shape (N, N), but got {overlaps.shape}")
    if check_tensor(scores, name, "scores").shape != overlaps.shape[:1]:
        raise ValueError(f"For '{name}', 'scores' must have the shape {overlaps.shape[:1]}, but got {scores.shape}")
    for argument, tensor, dtypes in (
        ("overlaps", overlaps, (float16, float32, float64)),
        ("scores", scores, (overlaps.dtype,)),
    ):
        if tensor.dtype not in dtypes:
            raise TypeError(
                f"For '{name}', '{argument}' must be of {' or '.join(map(str, dtypes))}, but got {tensor.dtype}"
            )
    limit = check_not_negative(_number_of(max_output_size, name, "max_output_size", (int32,)), name, "max_output_size")
    too_much = _number_of(overlap_threshold, name, "overlap_threshold", (overlaps.dtype,))
    least = _number_of(score_threshold, name, "score_threshold", (overlaps.dtype,))
    marks = to_host(scores._array)
    indices = np.flatnonzero(marks > least)
    indices = indices[np.argsort(-marks[indices], kind="stable")]
    # The boxes that each one drops: the transposed matrix, as its rows are those of the dropped boxes.
    drops = (to_host(overlaps._array)[np.ix_(indices, indices)] >= too_much).T.astype(np.float32)
    return Tensor._wrap(to_device(indices[suppress(drops, 0.5, limit)].astype(np.int32)))


def _random_part(height: int, width: int, ratio: float, areas: tuple[float, float], draws: Array) -> Any:
    """Return a part (y, x, height, width) of an image with width ``ratio`` * height and an area in bounds, or None.

    Args:
        height: of the image.
        width: of the image.
        ratio: the width over the height.
        areas: the least and the largest area over that of the image.
        draws: three numbers in [0, 1) that choose the height, y and x.
    """
    low, high = (math.sqrt(area * height * width / ratio) for area in areas)
    highest = min(int(high), height, int((width + 0.5) / ratio))
    lowest = min(math.ceil(low), highest)
    if highest < 1:
        return None
    rows = lowest + int(draws[0] * (highest - lowest + 1))
    columns = round(rows * ratio)
    if not (1 <= columns <= width and areas[0] <= rows * columns / (height * width) <= areas[1]):
        return None
    return int(draws[1] * (height - rows + 1)), int(draws[2] * (width - columns + 1)), rows, columns


@declare(
    primitive=prim(
        "SampleDistortedBoundingBoxV2",
        seed=0,
        seed2=0,
        aspect_ratio_range=(0.75, 1.33),
        area_range=(0.05, 1.0),
        max_attempts=100,
        use_image_if_no_bounding_boxes=False,
    )
)
def _sample_distorted_box(
    image_size: Tensor,
    bounding_boxes: Tensor,
    min_object_covered: Tensor,
    seed: int,
    seed2: int,
    aspect_ratio_range: Sequence[float],
    area_range: Sequence[float],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return a random part of an image that covers enough of one of its objects; if none is found, the whole image.

    Args:
        image_size: height, width and channels, an integer tensor (3,).
        bounding_boxes: objects (y0, x0, y1, x1) in [0, 1], a Float32 tensor (N, B, 4).
        min_object_covered: the least covered part of the area of one object, in [0, 1]: a Float32 tensor (1,).
        seed: with ``seed2`` it determines the part, the same at each call; both 0 draw from the engine's stream
            (``set_seed``).
        seed2: a different one draws a different part of the same ``seed``.
        aspect_ratio_range: the least and the largest width over height, two floats above 0.
        area_range: the least and the largest area over that of the image, two floats in (0, 1].
        max_attempts: the number of tried parts, above 0.
        use_image_if_no_bounding_boxes: whether to use the whole image if there is no box, instead of raising.

    Returns:
        The first row and column and 0; the height, the width and -1 (all channels), as arguments of ``Slice``, in the
        dtype of ``image_size``; and the part as a box (y0, x0, y1, x1), a Float32 tensor (1, 1, 4).

    Raises:
        TypeError: an argument of the wrong kind or dtype.
        ValueError: shapes that do not fit, a number out of range, or no box.
    """
    name = "SampleDistortedBoundingBoxV2"
    check_bool(use_image_if_no_bounding_boxes, name, "use_image_if_no_bounding_boxes")
    check_positive_int(max_attempts, name, "max_attempts")
    for argument, pair in (("aspect_ratio_range", aspect_ratio_range), ("area_range", area_range)):
        if len(check_type(pair, tuple | list, name, argument, "two floats")) != 2:
            raise ValueError(f"For '{name}', '{argument}' must be two floats, but got {pair!r}")
        for number in pair:
            check_type(number, float, name, argument, "two floats", repr)
        if not 0 < pair[0] < pair[1] or (argument == "area_range" and pair[1] > 1):
            bounds = "in (0, 1]" if argument == "area_range" else "above 0"
            raise ValueError(f"For '{name}', '{argument}' must be two rising floats {bounds}, but got {pair!r}")
    for argument, tensor, shape in (
        ("image_size", image_size, (3,)),
        ("bounding_boxes", bounding_boxes, None),
        ("min_object_covered", min_object_covered, (1,)),
    ):
        if check_tensor(tensor, name, argument).shape != (shape or (*tensor.shape[:2], 4)[-3:]):
            raise ValueError(
                f"For '{name}', '{argument}' must have the shape {shape or '(N, B, 4)'}, but got {tensor.shape}"
            )
        if tensor._array.dtype.kind not in "iu" if argument == "image_size" else tensor.dtype != float32:
            expected = "integers" if argument == "image_size" else "Float32"
            raise TypeError(f"For '{name}', '{argument}' must be of {expected}, but got {tensor.dtype}")
    objects, min_covered = to_host(bounding_boxes._array).reshape(-1, 4), min_object_covered.tolist()[0]
    height, width = image_size.tolist()[:2]
    if min(height, width) < 1 or not 0 <= min_covered <= 1:
        raise ValueError(
            f"For '{name}', height and width must be above 0 and 'min_object_covered' in [0, 1], but got {height}, "
            f"{width} and {min_covered}"
        )
    if not objects.size:
        if not use_image_if_no_bounding_boxes:
            raise ValueError(f"For '{name}', there is no box, and 'use_image_if_no_bounding_boxes' is False")
        objects = np.array([[0, 0, 1, 1]], np.float32)
    if objects.min() < 0 or objects.max() > 1 or (objects[:, :2] >= objects[:, 2:]).any():
        raise ValueError(f"For '{name}', 'bounding_boxes' must be rising corners in [0, 1], but got {objects.tolist()}")
    draws = random.uniform((max_attempts, 4), both_seeds(seed, seed2) or None).astype(float)
    region = (0, 0, height, width)
    ends = np.array([height, width, height, width])
    for ratio, *offsets in draws:
        low, high = aspect_ratio_range
        part = _random_part(
            height, width, low + ratio * (high - low), (area_range[0], area_range[1]), np.array(offsets)
        )
        if part is None:
            continue
        corners = np.array([part[0], part[1], part[0] + part[2], part[1] + part[3]]) / ends
        intersection = np.minimum(corners[2:], objects[:, 2:]) - np.maximum(corners[:2], objects[:, :2])
        if (intersection.clip(0).prod(axis=1) >= min_covered * (objects[:, 2:] - objects[:, :2]).prod(axis=1)).any():
            region = part
            break
    y, x, rows, columns = region
    dtype = image_size._array.dtype
    box = (np.array([y, x, y + rows, x + columns]) / ends).astype(np.float32).reshape(1, 1, 4)
    outputs = (np.array([y, x, 0]).astype(dtype), np.array([rows, columns, -1]).astype(dtype), box)
    return tuple(Tensor._wrap(to_device(tensor)) for tensor in outputs)  # type: ignore[return-value]
