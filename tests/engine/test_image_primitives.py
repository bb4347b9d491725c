"""Operators for boxes, regions and colors of images, and of decoding, against MindSpore 2.10 and their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, flat, wave, weighed

import hookscope.engine as ms
from hookscope.engine import Tensor, ops

Array = np.ndarray[Any, Any]


def t(values: Any, dtype: Any = ms.float32) -> Tensor:
    return Tensor(np.array(values), dtype)


def ints(*values: Any) -> Tensor:
    return t(values, ms.int32)


def sloped(function: Callable[..., Any], *inputs: Tensor) -> list[Any]:
    """What comes out, and the gradients of its weighed sum by all inputs."""
    slopes = ms.grad(lambda *x: weighed(function(*x)), tuple(range(len(inputs))))(*inputs)
    return [*flat(function(*inputs)), *flat(slopes)]


IMAGES, WHICH = wave(2, 3, 4, 2), ints(0, 1, 0)
CROPS = t([[0.02, 0.03, 0.97, 0.96], [0.1, 0.8, 0.9, 0.2], [-0.2, 0.3, 0.5, 1.3]])
PICTURE, FILTERS = wave(1, 2, 4, 5), wave(2, 2, 2, 3, k=0.5)
MOVES = Tensor((0.8 * np.sin(0.9 * np.arange(18 * 9) + 0.2)).astype(np.float32).reshape(1, 18, 3, 3))
MORE_MOVES = Tensor((0.8 * np.sin(0.9 * np.arange(36 * 12) + 0.2)).astype(np.float32).reshape(1, 36, 3, 4))
RANKED = t(
    [[100, 100, 150, 168, 0.63], [150, 75, 315, 190, 0.55], [12, 190, 300, 390, 0.9], [28, 130, 134, 302, 0.3],
     [101, 102, 153, 168, 0.64], [300, 300, 200, 200, 0.2]]
)  # fmt: skip
FIRST, SECOND = t([[0, 0, 2, 2], [1, 1, 3, 4], [5, 5, 4, 4]]), t([[0, 0, 2, 1], [2, 2, 3, 4]])
ANCHORS, TRUTH = t([[2, 2, 4, 3], [1, 2, 5, 8]]), t([[1, 2, 3, 4], [0, 2, 7, 9]])
DELTAS, MEANS, STDS = t([[3, 1, 2, 2], [1, 2, -9, 4]]), (0.1, 0.2, 0.3, 0.4), (0.5, 1.0, 2.0, 0.3)
STEPS = t(np.array([[0, 5, 1], [0, 5, 1], [0, 0, 5], [0, 5, 1], [4, 0, 1], [4, 0, 1]])[:, None].repeat(2, 1))
FEATURES = wave(2, 2, 5, 6)
REGIONS = t([[0, 0.2, 0.3, 4.2, 3.3], [1, 1, 1, 9, 9], [0, -1, 2, -3, 1], [1, 6, 5, 12, 11], [0, 7, 7, 40, 50]])

CASES: dict[str, Callable[[], Any]] = {
    "CropAndResize bilinear": lambda: sloped(
        lambda x, boxes: ops.CropAndResize("bilinear", 0.5)(x, boxes, WHICH, (2, 3)), IMAGES, CROPS
    ),
    "CropAndResize nearest": lambda: sloped(
        lambda x: ops.CropAndResize("nearest", 0.5)(x, CROPS, WHICH, (3, 2)), IMAGES
    ),
    "CropAndResize bilinear_v2": lambda: ops.CropAndResize("bilinear_v2", 0.5)(IMAGES, CROPS, WHICH, (2, 3)),
    "CropAndResize one element": lambda: ops.CropAndResize()(IMAGES, CROPS, WHICH, (1, 1)),
    "CropAndResize int32": lambda: ops.CropAndResize()((IMAGES * 100).astype(ms.int32), CROPS, WHICH, (1, 2)),
    "CropAndResize float64": lambda: ops.CropAndResize()(IMAGES.astype(ms.float64), CROPS, WHICH, (1, 2)),
    "crop_and_resize": lambda: ops.crop_and_resize(IMAGES, CROPS, WHICH, (2, 3), "nearest", 1.0),
    "deformable_conv2d": lambda: sloped(
        lambda x, w, moves: ops.deformable_conv2d(x, w, moves, (2, 3), (1, 1, 1, 1), (0, 0, 0, 0)),
        PICTURE, FILTERS, MOVES,
    ),
    "deformable_conv2d groups": lambda: ops.deformable_conv2d(
        PICTURE, FILTERS[:, :1], MORE_MOVES, (2, 3), (1, 1, 2, 1), (1, 2, 1, 2), t([0.5, -1.0]), (1, 1, 2, 2), 2, 2
    ),
    "check_valid": lambda: [
        ops.check_valid(t([[0, 0, 1, 1], [0, 1, 3, 2], [0, 0, 2, 5], [-1, 0, 1, 1], [2, 0, 1, 1]]), t([3, 2, 1])),
        ops.CheckValid()(t([[0, 0, 5, 3], [0, 0, 5.5, 3], [0, 0, 5, 3.5]]), t([2, 3, 2])),
    ],
    **{f"NMSWithMask {least}": partial(lambda least: ops.NMSWithMask(least)(RANKED), least) for least in (0.1, 0.9)},
    "IOU": lambda: [ops.IOU()(FIRST, SECOND), ops.IOU("iof")(FIRST, SECOND)],
    "bounding_box_encode": lambda: [
        ops.bounding_box_encode(ANCHORS, TRUTH), ops.BoundingBoxEncode(MEANS, STDS)(ANCHORS, TRUTH),
    ],
    "bounding_box_decode": lambda: [
        ops.bounding_box_decode(ANCHORS, DELTAS, (768, 1280)),
        ops.BoundingBoxDecode((20, 7), MEANS, STDS, 0.5)(ANCHORS, DELTAS),
    ],
    "ctc_greedy_decoder": lambda: [
        *ops.ctc_greedy_decoder(STEPS, ints(6, 2)), *ops.CTCGreedyDecoder(False)(STEPS, ints(6, 0)),
        *ops.CTCGreedyDecoder()(t([[[1, 1, 0], [0, 1, 1]]], ms.float64), ints(1, 1)),
    ],
    "MaxPoolWithArgmax": lambda: [
        *ops.MaxPoolWithArgmax(2, 2)(wave(2, 2, 5, 5)), *ops.MaxPoolWithArgmax(2, 2, "same")(wave(2, 2, 5, 5)),
        *ops.MaxPoolWithArgmax((3, 2), (1, 2), "VALID")(wave(1, 2, 5, 5)), *ops.MaxPoolWithArgmax()(wave(1, 2, 2, 2)),
    ],
    "MaxPoolWithArgmax slope": lambda: sloped(lambda x: ops.MaxPoolWithArgmax(2, 1)(x)[0], wave(1, 2, 5, 5)),
    **{
        f"ROIAlign {points} {end}": partial(
            lambda points, end: sloped(lambda x, r: ops.ROIAlign(2, 3, 0.5, points, end)(x, r), FEATURES, REGIONS),
            points, end,
        )
        for points, end in ((2, 1), (3, 1))
    },
    "ROIAlign from end to end": lambda: [ops.ROIAlign(2, 2, 0.5, points, 0)(FEATURES, REGIONS) for points in (1, 2)],
    "ROIAlign by size": lambda: ops.ROIAlign(1, 1, 0.5, 0, 1)(FEATURES, REGIONS[::3]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_operator_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


# Definitions
def between(image: Array, y: float, x: float) -> Array:
    """The value at a place of an image (H, W, ...) by its four nearest pixels; 0 outside."""
    total: Array = np.zeros(image.shape[2:])
    for row in (math.floor(y), math.floor(y) + 1):
        for column in (math.floor(x), math.floor(x) + 1):
            if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
                total = total + image[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return total


def central(function: Callable[..., Tensor], inputs: list[Tensor], place: int, step: float) -> Array:
    """The gradient of the weighed sum, by central differences in NumPy's float64."""

    def total(values: Array) -> float:
        given = [Tensor(values.astype(one.asnumpy().dtype)) if i == place else one for i, one in enumerate(inputs)]
        out = function(*given).asnumpy().astype(np.float64)
        return float((out * np.cos(np.arange(out.size)).reshape(out.shape)).sum())

    values = inputs[place].asnumpy().astype(np.float64)
    found = np.zeros_like(values)
    for spot in np.ndindex(values.shape):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[spot] += sign * step
            ends.append(total(moved))
        found[spot] = (ends[0] - ends[1]) / (2 * step)
    return found


SLOPES: dict[str, tuple[Callable[..., Tensor], list[Tensor], float]] = {
    "CropAndResize": (
        lambda x, boxes: ops.crop_and_resize(x, boxes, WHICH, (2, 3), "bilinear", 0.5),
        [IMAGES, t([[0.05, 0.06, 0.9, 0.91], [0.1, 0.8, 0.9, 0.2], [-0.2, 0.3, 0.52, 1.3]])], 2e-3,
    ),
    "CropAndResize nearest": (lambda x: ops.CropAndResize("nearest")(x, CROPS, WHICH, (3, 2)), [IMAGES], 0.5),
    "CropAndResize bilinear_v2": (lambda x: ops.CropAndResize("bilinear_v2")(x, CROPS, WHICH, (3, 2)), [IMAGES], 0.5),
    "deformable_conv2d": (
        lambda x, w, moves, bias: ops.deformable_conv2d(
            x, w, moves, (2, 3), (1, 1, 2, 1), (1, 2, 1, 2), bias, (1, 1, 2, 2), 2, 2
        ),
        [PICTURE, FILTERS[:, :1], MORE_MOVES, t([0.5, -1.0])], 2e-3,
    ),
    "ROIAlign": (lambda x: ops.ROIAlign(2, 2, 0.5, 2, 0)(x, REGIONS), [FEATURES], 0.5),
    "bounding_box_encode": (lambda a, b: ops.bounding_box_encode(a, b, MEANS, STDS), [ANCHORS, TRUTH], 1e-2),
    "bounding_box_decode": (
        lambda a, d: ops.bounding_box_decode(a, d, (768, 1280), MEANS, STDS), [ANCHORS + 40.0, DELTAS / 4], 1e-2
    ),
    "ctc_greedy_decoder": (lambda x: ops.ctc_greedy_decoder(x, ints(6, 2))[3], [STEPS], 1e-1),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_are_central_differences(name: str) -> None:
    function, inputs, step = SLOPES[name]
    found = flat(ms.grad(lambda *x: weighed(function(*x)), tuple(range(len(inputs))))(*inputs))
    for place, one in enumerate(found):
        np.testing.assert_allclose(one.asnumpy(), central(function, inputs, place, step), rtol=2e-2, atol=5e-3)


def test_a_crop_takes_what_is_between_the_pixels_of_its_box() -> None:
    image, box = IMAGES.asnumpy()[1].astype(np.float64), (0.2, 0.9, 0.7, 0.1)
    crop = ops.crop_and_resize(IMAGES, t([box]), ints(1), (3, 4)).asnumpy()[0]
    for i, j in np.ndindex(3, 4):
        y, x = (box[0] + (box[2] - box[0]) * i / 2) * 2, (box[1] + (box[3] - box[1]) * j / 3) * 3
        np.testing.assert_allclose(crop[i, j], between(image, y, x), atol=1e-6)


def test_a_deformable_convolution_sums_weights_times_moved_elements_times_factors() -> None:
    x, w, moves = (one.asnumpy().astype(np.float64) for one in (PICTURE, FILTERS, MOVES))
    found = ops.deformable_conv2d(PICTURE, FILTERS, MOVES, (2, 3), (1, 1, 1, 1), (0, 0, 0, 0)).asnumpy()
    for o, i, j in np.ndindex(2, 3, 3):
        total = 0.0
        for k, (row, column) in enumerate(np.ndindex(2, 3)):
            along, down, factor = moves[0, k::6, i, j]
            pixels = between(x[0].transpose(1, 2, 0), i + row + down, j + column + along)
            total += float((w[o, :, row, column] * pixels).sum() * factor)
        assert found[0, o, i, j] == pytest.approx(total, abs=1e-5)


def test_deformable_convolution_without_moves_is_a_convolution() -> None:
    still = np.zeros((1, 18, 3, 3), np.float32)
    still[:, 12:] = 1.0
    found = ops.deformable_conv2d(PICTURE, FILTERS, Tensor(still), (2, 3), (1, 1, 1, 1), (0, 0, 0, 0))
    np.testing.assert_allclose(found.asnumpy(), ops.conv2d(PICTURE, FILTERS).asnumpy(), atol=1e-5)


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("points", [1, 3])
def test_a_pooled_region_is_the_mean_of_points_in_its_bins(points: int, end: int) -> None:
    image = FEATURES.asnumpy().astype(np.float64)[1].transpose(1, 2, 0)
    x0, y0, x1, y1 = (0.5 * value for value in (1.5, 0.75, 7.0 + end, 6.5 + end))
    found = ops.ROIAlign(2, 3, 0.5, points, end)(FEATURES, t([[1, 1.5, 0.75, 7.0, 6.5]])).asnumpy()[0]
    for i, j in np.ndindex(2, 3):
        values = [
            between(image, y0 + (y1 - y0) / 2 * (i + (a + 0.5) / points), x0 + (x1 - x0) / 3 * (j + (b + 0.5) / points))
            for a, b in np.ndindex(points, points)
        ]
        np.testing.assert_allclose(found[:, i, j], np.mean(values, axis=0), atol=1e-6)


def test_a_bin_of_less_than_a_pixel_has_one_point() -> None:
    found = [ops.ROIAlign(4, 4, 1.0, points, 0)(FEATURES, t([[0, 1, 1, 3, 3]])).asnumpy() for points in (0, 1)]
    assert np.isfinite(found[0]).all()
    np.testing.assert_array_equal(*found)


def test_a_nan_stays_where_it_is_part_of_a_crop_or_of_a_region() -> None:
    image = np.ones((1, 6, 6, 1), np.float32)
    image[0, 5, 5] = np.nan
    x = Tensor(image)
    assert not np.isnan(ops.crop_and_resize(x, t([[0, 0, 0.7, 0.7]]), ints(0), (3, 3)).asnumpy()).any()
    pooled = ops.ROIAlign(3, 3, 1.0)(Tensor(image.transpose(0, 3, 1, 2)), t([[0, 0, 0, 5, 5]])).asnumpy()
    assert np.isnan(pooled).sum() == 1
    ones = np.ones((1, 12, 5, 5), np.float32)
    ones[:, :8] = 0.25
    picture = Tensor(image.transpose(0, 3, 1, 2))
    found = ops.deformable_conv2d(picture, ops.ones((1, 1, 2, 2)), Tensor(ones), (2, 2), (1, 1, 1, 1), (0, 0, 0, 0))
    assert np.isnan(found.asnumpy()).sum() == 4


def test_a_decoded_box_is_the_one_that_was_encoded() -> None:
    told = ops.bounding_box_encode(ANCHORS, TRUTH, MEANS, STDS)
    np.testing.assert_allclose(
        ops.bounding_box_decode(ANCHORS, told, (50, 60), MEANS, STDS).asnumpy(), TRUTH.asnumpy(), atol=1e-4
    )


def test_of_boxes_with_one_score_the_later_one_comes_first() -> None:
    boxes, order, kept = ops.NMSWithMask(0.5)(t([[i * 10, 0, i * 10 + 1, 1, 0.5] for i in range(3)]))
    assert boxes.asnumpy()[:, 0].tolist() == [20.0, 10.0, 0.0]  # as MindSpore orders them
    assert order.tolist() == [0, 1, 2]
    assert kept.tolist() == [True, True, True]


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "method": (lambda: ops.crop_and_resize(IMAGES, CROPS, WHICH, (2, 2), "cubic"), ValueError, "'method' must be"),
    "image that is not there": (
        lambda: ops.crop_and_resize(IMAGES, CROPS, ints(0, 2, 0), (2, 2)), ValueError, r"\[0, 2\)",
    ),
    "dtype of the indices": (
        lambda: ops.crop_and_resize(IMAGES, CROPS, t([0, 1, 0], ms.int64), (2, 2)), TypeError, "Int32, but got Int64",
    ),
    "size": (lambda: ops.crop_and_resize(IMAGES, CROPS, WHICH, 2), TypeError, "'crop_size' must be a tuple"),  # type: ignore[arg-type]
    "size of 0": (lambda: ops.crop_and_resize(IMAGES, CROPS, WHICH, (0, 2)), ValueError, "above 0"),
    "axes": (lambda: ops.crop_and_resize(IMAGES[0], CROPS, WHICH, (1, 2)), ValueError, "must have 4 axes"),
    "extrapolation": (lambda: ops.CropAndResize("nearest", 1)(IMAGES, CROPS, WHICH, (1, 2)), TypeError, "a float"),
    "moves": (
        lambda: ops.deformable_conv2d(PICTURE, FILTERS, MOVES[:, :9], (2, 3), (1, 1, 1, 1), (0, 0, 0, 0)), ValueError,
        r"\(1, 18, 3, 3\), but got \(1, 9, 3, 3\)",
    ),
    "factors": (
        lambda: ops.deformable_conv2d(PICTURE, FILTERS, MOVES, (2, 3), (1, 1, 1, 1), (0, 0, 0, 0), modulated=False),
        ValueError, "'modulated' must be True",
    ),
    "strides": (
        lambda: ops.deformable_conv2d(PICTURE, FILTERS, MOVES, (2, 3), (2, 1, 1, 1), (0, 0, 0, 0)), ValueError,
        "'strides' must begin with 1, 1",
    ),
    "boxes": (lambda: ops.check_valid(t([[0, 0, 1]]), t([3, 2, 1])), ValueError, r"shape \(N, 4\)"),
    "means": (lambda: ops.bounding_box_encode(ANCHORS, TRUTH, [0.0] * 4), TypeError, "'means' must be a tuple"),  # type: ignore[arg-type]
    "three means": (lambda: ops.bounding_box_encode(ANCHORS, TRUTH, (0.0,) * 3), ValueError, "4 floats"),  # type: ignore[arg-type]
    "integers": (
        lambda: ops.bounding_box_encode(ANCHORS.astype(ms.int32), TRUTH), TypeError, "Float32, but got Int32",
    ),
    "shapes": (lambda: ops.bounding_box_encode(ANCHORS, TRUTH[:1]), ValueError, "one shape"),
    "clip": (lambda: ops.bounding_box_decode(ANCHORS, DELTAS, (7, 8), wh_ratio_clip=1), TypeError, "a float"),
    "image": (lambda: ops.bounding_box_decode(ANCHORS, DELTAS, (7,)), ValueError, "2 ints"),  # type: ignore[arg-type]
    "threshold": (lambda: ops.NMSWithMask(1)(RANKED), TypeError, "'iou_threshold' must be a float"),
    "ranked": (lambda: ops.NMSWithMask(0.5)(RANKED[:, :4]), ValueError, r"\(N, 5\)"),
    "steps": (lambda: ops.ctc_greedy_decoder(STEPS, ints(7, 1)), ValueError, "at most 6"),
    "merge": (lambda: ops.CTCGreedyDecoder(1)(STEPS, ints(6, 1)), TypeError, "must be a bool"),
    "lengths": (lambda: ops.ctc_greedy_decoder(STEPS, t([6, 1], ms.int64)), TypeError, "of Int32, but got Int64"),
    "pad mode": (lambda: ops.MaxPoolWithArgmax(2, 2, "pad")(IMAGES), ValueError, "'valid' or 'same'"),
    "format": (lambda: ops.MaxPoolWithArgmax(2, 2, "valid", "NHWC")(IMAGES), ValueError, "NCHW"),
    "end": (lambda: ops.ROIAlign(1, 1, 1.0, 2, 2)(FEATURES, REGIONS), ValueError, "must be 0 or 1"),
    "scale": (lambda: ops.ROIAlign(1, 1, 1)(FEATURES, REGIONS), TypeError, "'spatial_scale' must be a float"),
    "regions": (lambda: ops.ROIAlign(1, 1, 1.0)(FEATURES, REGIONS[:, :4]), ValueError, r"\(R, 5\)"),
    "region of no image": (lambda: ops.ROIAlign(1, 1, 1.0)(FEATURES, t([[2, 0, 0, 1, 1]])), ValueError, r"\[0, 2\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_told(name: str) -> None:
    call, kind, words = WRONG[name]
    with pytest.raises(kind, match=words):
        call()
