"""Boxes in images."""

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
from ..shapes.reshape import expand_dims, stack
from ..shapes.subscripts import getitem

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
    given = {"anchor_box": anchor_box, second: boxes}
    for argument, one in given.items():
        check_tensor(one, name, argument)
    for argument, one in given.items():
        if one.ndim != 2 or one.shape[1] != 4 or one.shape != anchor_box.shape:
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


def _number_of(value: Tensor, name: str, argument: str, dtypes: tuple[DType, ...]) -> Any:
    """The number in a tensor without axes."""
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
    """The best boxes of each image: of each class those that overlap with no better one, then the best of all classes.

    Args:
        boxes: two opposite corners (y0, x0, y1, x1) of B boxes of N images, a Float32 tensor (N, B, Q, 4). Q is 1, or
            the number of classes, where each class has boxes of its own.
        scores: of each box for each class, a Float32 tensor (N, B, classes).
        max_output_size_per_class: how many boxes of a class are kept, an Int32 tensor without axes, above 0.
        max_total_size: how many are kept of an image, likewise.
        iou_threshold: a box is dropped if its overlap with one that is kept, over their union, is more: a Float32
            tensor without axes, in [0, 1].
        score_threshold: a box is dropped if its score is not more, likewise.
        pad_per_class: whether not more than max_output_size_per_class * classes are given of an image.
        clip_boxes: whether the corners that are given are clipped to [0, 1].

    Returns:
        Boxes (N, M, 4), their scores (N, M) and their classes (N, M), by falling scores and in Float32, M the number of
        boxes that are given; 0 behind those that were found. Their number (N,) in Int32.

    Raises:
        TypeError: an argument that is no Tensor or of another dtype.
        ValueError: shapes that do not fit, or a number out of range.
    """
    name = "CombinedNonMaxSuppression"
    for argument, flag in (("pad_per_class", pad_per_class), ("clip_boxes", clip_boxes)):
        check_bool(flag, name, argument)
    for argument, one, axes in (("boxes", boxes, 4), ("scores", scores, 3)):
        if check_tensor(one, name, argument).ndim != axes:
            raise ValueError(f"For '{name}', '{argument}' must have {axes} axes, but got shape {one.shape}")
        if one.dtype != float32:
            raise TypeError(f"For '{name}', '{argument}' must be of Float32, but got {one.dtype}")
    count, _, classes = scores.shape
    if boxes.shape[:2] != scores.shape[:2] or boxes.shape[2] not in (1, classes) or boxes.shape[3] != 4:
        raise ValueError(f"For '{name}', 'boxes' of shape {boxes.shape} do not fit 'scores' of shape {scores.shape}")
    most = check_above_zero(
        _number_of(max_output_size_per_class, name, "max_output_size_per_class", (int32,)),
        name,
        "max_output_size_per_class",
    )
    total = check_above_zero(_number_of(max_total_size, name, "max_total_size", (int32,)), name, "max_total_size")
    threshold = check_number(
        _number_of(iou_threshold, name, "iou_threshold", (float32,)), name, "iou_threshold", within=(0, 1)
    )
    least = _number_of(score_threshold, name, "score_threshold", (float32,))
    size = min(total, most * classes) if pad_per_class else total
    found_boxes, found_scores = np.zeros((count, size, 4), np.float32), np.zeros((count, size), np.float32)
    found_classes, found_counts = np.zeros((count, size), np.float32), np.zeros(count, np.int32)
    for image, (corners, marks) in enumerate(zip(to_host(boxes._array), to_host(scores._array), strict=True)):
        kept: list[tuple[float, int, int]] = []
        for label in range(classes):
            places = np.flatnonzero(marks[:, label] > least)
            places = places[np.argsort(-marks[places, label], kind="stable")]
            own = corners[places, label % corners.shape[1]]
            ordered = np.concatenate([np.minimum(own[:, :2], own[:, 2:]), np.maximum(own[:, :2], own[:, 2:])], axis=1)
            kept += [
                (float(marks[places[i], label]), label, places[i])
                for i in kept_by_order(overlaps_of(ordered), threshold, most)
            ]
        kept = sorted(kept, key=lambda one: -one[0])[:size]
        found_counts[image] = len(kept)
        for place, (mark, label, box) in enumerate(kept):
            found_boxes[image, place] = corners[box, label % corners.shape[1]]
            found_scores[image, place], found_classes[image, place] = mark, label
    if clip_boxes:
        found_boxes = found_boxes.clip(0, 1)
    found = (found_boxes, found_scores, found_classes, found_counts)
    return tuple(Tensor._wrap(to_device(one)) for one in found)  # type: ignore[return-value]


@declare(primitive=prim("NonMaxSuppressionWithOverlaps"))
def _nms_with_overlaps(
    overlaps: Tensor, scores: Tensor, max_output_size: Tensor, overlap_threshold: Tensor, score_threshold: Tensor
) -> Tensor:
    """The boxes of the best scores that overlap with no better one, where it is given how much each two overlap.

    Args:
        overlaps: how much each box overlaps with each other one, a tensor (N, N) of Float16, Float32 or Float64.
        scores: of the boxes, a tensor (N,) of the same dtype.
        max_output_size: how many are kept at most, an Int32 tensor without axes.
        overlap_threshold: a box is dropped if overlaps[it, one that is kept] is this or more, a tensor without axes of
            the dtype of ``overlaps``.
        score_threshold: a box is dropped if its score is not more, likewise.

    Returns:
        The places of the boxes by falling scores, of two that are equal the first one first: an Int32 tensor (M,).

    Raises:
        TypeError: an argument that is no Tensor or of another dtype.
        ValueError: shapes that do not fit, or a negative ``max_output_size``.
    """
    name = "NonMaxSuppressionWithOverlaps"
    if check_tensor(overlaps, name, "overlaps").ndim != 2 or overlaps.shape[0] != overlaps.shape[1]:
        raise ValueError(f"For '{name}', 'overlaps' must have the shape (N, N), but got {overlaps.shape}")
    if check_tensor(scores, name, "scores").shape != overlaps.shape[:1]:
        raise ValueError(f"For '{name}', 'scores' must have the shape {overlaps.shape[:1]}, but got {scores.shape}")
    for argument, one, allowed in (
        ("overlaps", overlaps, (float16, float32, float64)),
        ("scores", scores, (overlaps.dtype,)),
    ):
        if one.dtype not in allowed:
            raise TypeError(
                f"For '{name}', '{argument}' must be of {' or '.join(map(str, allowed))}, but got {one.dtype}"
            )
    most = check_not_negative(_number_of(max_output_size, name, "max_output_size", (int32,)), name, "max_output_size")
    too_much = _number_of(overlap_threshold, name, "overlap_threshold", (overlaps.dtype,))
    least = _number_of(score_threshold, name, "score_threshold", (overlaps.dtype,))
    marks = to_host(scores._array)
    places = np.flatnonzero(marks > least)
    places = places[np.argsort(-marks[places], kind="stable")]
    # Whether each drops those behind it: the transposed matrix, as the rows are those of what is dropped.
    drops = (to_host(overlaps._array)[np.ix_(places, places)] >= too_much).T.astype(np.float32)
    return Tensor._wrap(to_device(places[kept_by_order(drops, 0.5, most)].astype(np.int32)))


def _random_part(height: int, width: int, ratio: float, areas: tuple[float, float], draws: Array) -> Any:
    """A part (y, x, height, width) of an image, its width ``ratio`` of its height, its area in bounds; None: none is.

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
    """A random part of an image that covers enough of one of its objects; the whole image where none is found.

    Args:
        image_size: height, width and channels, an integer tensor (3,).
        bounding_boxes: objects (y0, x0, y1, x1) in [0, 1], a Float32 tensor (N, B, 4).
        min_object_covered: how much of the area of one object is covered at least, in [0, 1]: a Float32 tensor (1,).
        seed: with ``seed2`` it determines the part, the same at each call; both 0 draw from the engine's stream
            (``set_seed``).
        seed2: another one gives another part of the same ``seed``.
        aspect_ratio_range: the least and the largest width over height, two floats above 0.
        area_range: the least and the largest area over that of the image, two floats in (0, 1].
        max_attempts: how many parts are tried, above 0.
        use_image_if_no_bounding_boxes: whether the image is the object where there is no box, in place of an error.

    Returns:
        The first row and column and 0; the height, the width and -1 (all channels), as ``Slice`` takes them, in the
        dtype of ``image_size``; and the part as a box (y0, x0, y1, x1), a Float32 tensor (1, 1, 4).

    Raises:
        TypeError: an argument of another kind or dtype.
        ValueError: shapes that do not fit, a number out of range, or no box.
    """
    name = "SampleDistortedBoundingBoxV2"
    check_bool(use_image_if_no_bounding_boxes, name, "use_image_if_no_bounding_boxes")
    check_positive_int(max_attempts, name, "max_attempts")
    for argument, pair in (("aspect_ratio_range", aspect_ratio_range), ("area_range", area_range)):
        if len(check_type(pair, tuple | list, name, argument, "two floats")) != 2:
            raise ValueError(f"For '{name}', '{argument}' must be two floats, but got {pair!r}")
        for each in pair:
            check_type(each, float, name, argument, "two floats", repr)
        if not 0 < pair[0] < pair[1] or (argument == "area_range" and pair[1] > 1):
            bounds = "in (0, 1]" if argument == "area_range" else "above 0"
            raise ValueError(f"For '{name}', '{argument}' must be two rising floats {bounds}, but got {pair!r}")
    for argument, one, shape in (
        ("image_size", image_size, (3,)),
        ("bounding_boxes", bounding_boxes, None),
        ("min_object_covered", min_object_covered, (1,)),
    ):
        if check_tensor(one, name, argument).shape != (shape or (*one.shape[:2], 4)[-3:]):
            raise ValueError(
                f"For '{name}', '{argument}' must have the shape {shape or '(N, B, 4)'}, but got {one.shape}"
            )
        if one._array.dtype.kind not in "iu" if argument == "image_size" else one.dtype != float32:
            wanted = "integers" if argument == "image_size" else "Float32"
            raise TypeError(f"For '{name}', '{argument}' must be of {wanted}, but got {one.dtype}")
    objects, covered = to_host(bounding_boxes._array).reshape(-1, 4), min_object_covered.tolist()[0]
    height, width = image_size.tolist()[:2]
    if min(height, width) < 1 or not 0 <= covered <= 1:
        raise ValueError(
            f"For '{name}', height and width must be above 0 and 'min_object_covered' in [0, 1], but got {height}, "
            f"{width} and {covered}"
        )
    if not objects.size:
        if not use_image_if_no_bounding_boxes:
            raise ValueError(f"For '{name}', there is no box, and 'use_image_if_no_bounding_boxes' is False")
        objects = np.array([[0, 0, 1, 1]], np.float32)
    if objects.min() < 0 or objects.max() > 1 or (objects[:, :2] >= objects[:, 2:]).any():
        raise ValueError(f"For '{name}', 'bounding_boxes' must be rising corners in [0, 1], but got {objects.tolist()}")
    draws = random.uniform((max_attempts, 4), both_seeds(seed, seed2) or None).astype(float)
    whole = (0, 0, height, width)
    ends = np.array([height, width, height, width])
    for ratio, *rest in draws:
        low, high = aspect_ratio_range
        part = _random_part(height, width, low + ratio * (high - low), (area_range[0], area_range[1]), np.array(rest))
        if part is None:
            continue
        corners = np.array([part[0], part[1], part[0] + part[2], part[1] + part[3]]) / ends
        shared = np.minimum(corners[2:], objects[:, 2:]) - np.maximum(corners[:2], objects[:, :2])
        if (shared.clip(0).prod(axis=1) >= covered * (objects[:, 2:] - objects[:, :2]).prod(axis=1)).any():
            whole = part
            break
    y, x, rows, columns = whole
    dtype = image_size._array.dtype
    box = (np.array([y, x, y + rows, x + columns]) / ends).astype(np.float32).reshape(1, 1, 4)
    found = (np.array([y, x, 0]).astype(dtype), np.array([rows, columns, -1]).astype(dtype), box)
    return tuple(Tensor._wrap(to_device(one)) for one in found)  # type: ignore[return-value]
