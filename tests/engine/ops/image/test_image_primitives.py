"""Operators for boxes, regions and colors of images, and of decoding, against MindSpore 2.10 and their definitions."""

from __future__ import annotations

import colorsys
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
    """Return the outputs, and the gradients of their weighted sum by all inputs."""
    slopes = ms.grad(lambda *x: weighed(function(*x)), tuple(range(len(inputs))))(*inputs)
    return [*flat(function(*inputs)), *flat(slopes)]


IMAGES, WHICH = wave(2, 3, 4, 2), ints(0, 1, 0)
CROPS = t([[0.02, 0.03, 0.97, 0.96], [0.1, 0.8, 0.9, 0.2], [-0.2, 0.3, 0.5, 1.3]])
PICTURE, FILTERS = wave(1, 2, 4, 5), wave(2, 2, 2, 3, k=0.5)
MOVES = Tensor((0.8 * np.sin(0.9 * np.arange(18 * 9) + 0.2)).astype(np.float32).reshape(1, 18, 3, 3))
MORE_MOVES = Tensor((0.8 * np.sin(0.9 * np.arange(36 * 12) + 0.2)).astype(np.float32).reshape(1, 36, 3, 4))
RANKED = t(
    [
        [100, 100, 150, 168, 0.63],
        [150, 75, 315, 190, 0.55],
        [12, 190, 300, 390, 0.9],
        [28, 130, 134, 302, 0.3],
        [101, 102, 153, 168, 0.64],
        [300, 300, 200, 200, 0.2],
    ]
)
FIRST, SECOND = t([[0, 0, 2, 2], [1, 1, 3, 4], [5, 5, 4, 4]]), t([[0, 0, 2, 1], [2, 2, 3, 4]])
ANCHORS, TRUTH = t([[2, 2, 4, 3], [1, 2, 5, 8]]), t([[1, 2, 3, 4], [0, 2, 7, 9]])
DELTAS, MEANS, STDS = t([[3, 1, 2, 2], [1, 2, -9, 4]]), (0.1, 0.2, 0.3, 0.4), (0.5, 1.0, 2.0, 0.3)
STEPS = t(np.array([[0, 5, 1], [0, 5, 1], [0, 0, 5], [0, 5, 1], [4, 0, 1], [4, 0, 1]])[:, None].repeat(2, 1))
FEATURES = wave(2, 2, 5, 6)
REGIONS = t([[0, 0.2, 0.3, 4.2, 3.3], [1, 1, 1, 9, 9], [0, -1, 2, -3, 1], [1, 6, 5, 12, 11], [0, 7, 7, 40, 50]])
COLORS = t(
    [
        [
            [0.25, 0.5, 0.4],
            [0.9, 0.1, 0.4],
            [0.2, 0.2, 0.2],
            [0, 0, 0],
            [1, 0.5, 0],
            [0.3, 0.9, 0.1],
            [0.1, 0.2, 0.9],
            [0.5, 0.4, 0.2],
            [2, -1, 0.5],
            [3, 100, 7],
        ]
    ]
)
HUES = t(
    [
        [
            [
                [0.5, 0.5, 0.5],
                [0, 1, 1],
                [0.2, 0.3, 0.7],
                [0.4, 0.3, 0.7],
                [0.6, 0.9, 0.7],
                [0.8, 0.3, 0.7],
                [0.99, 0.3, 0.7],
                [1, 0.3, 0.7],
                [1.3, 0.5, 0.7],
                [-0.2, 0.5, 0.7],
                [0.3, 2, -1],
            ]
        ]
    ]
)
PHOTO = wave(1, 4, 5, 2)
CANDIDATES = t(
    [
        [[[0, 0, 0.5, 0.5]], [[0.05, 0, 0.5, 0.5]], [[0.4, 0.4, 1.2, 0.9]], [[0.1, 0.1, 0.2, 0.2]], [[1, 1, 0.5, 0.4]]],
        [[[0, 0, 1, 1]], [[0, 0, 1, 0.9]], [[0, 0, 0.3, 1]], [[0.2, 0.2, 0.4, 0.4]], [[0.6, 0.6, 0.7, 0.7]]],
    ]
)
MARKS = t(
    [
        [[0.9, 0.2], [0.8, 0.6], [0.3, 0.7], [0.1, 0.05], [0.65, 0.4]],
        [[0.5, 0.5], [0.6, 0.3], [0.7, 0.1], [0.2, 0.8], [0.3, 0.9]],
    ]
)
OVERLAPS = t([[0.69, 0.28, 0.22, 0.55], [0.71, 0.42, 0.98, 0.68], [0.48, 0.39, 0.34, 0.72], [0.43, 0.05, 0.39, 0.73]])
KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")
MAP, VOLUME = wave(1, 2, 6, 7), wave(1, 2, 5, 6, 7)
PLACES, MORE_PLACES = t([[[0.3, 0.8], [0.6, 0.1]]]), t([[[0.3, 0.8, 0.5], [0.6, 0.1, 0.9]]])


def combined(boxes: Tensor, most: int, total: int, least: float = 0.5, **how: bool) -> Any:
    """Return CombinedNonMaxSuppression of MARKS, scores above 0.15."""
    return ops.CombinedNonMaxSuppression(**how)(boxes, MARKS, t(most, ms.int32), t(total, ms.int32), t(least), t(0.15))


def not_overlapping(most: int, overlap: float, score: float, overlaps: Tensor = OVERLAPS, marks: Any = None) -> Any:
    marks = t([0.18, 0.17, 0.53, 0.54] if marks is None else marks)
    return ops.NonMaxSuppressionWithOverlaps()(overlaps, marks, t(most, ms.int32), t(overlap), t(score))


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
        PICTURE,
        FILTERS,
        MOVES,
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
        ops.bounding_box_encode(ANCHORS, TRUTH),
        ops.BoundingBoxEncode(MEANS, STDS)(ANCHORS, TRUTH),
    ],
    "bounding_box_decode": lambda: [
        ops.bounding_box_decode(ANCHORS, DELTAS, (768, 1280)),
        ops.BoundingBoxDecode((20, 7), MEANS, STDS, 0.5)(ANCHORS, DELTAS),
    ],
    "ctc_greedy_decoder": lambda: [
        *ops.ctc_greedy_decoder(STEPS, ints(6, 2)),
        *ops.CTCGreedyDecoder(False)(STEPS, ints(6, 0)),
        *ops.CTCGreedyDecoder()(t([[[1, 1, 0], [0, 1, 1]]], ms.float64), ints(1, 1)),
    ],
    "MaxPoolWithArgmax": lambda: [
        *ops.MaxPoolWithArgmax(2, 2)(wave(2, 2, 5, 5)),
        *ops.MaxPoolWithArgmax(2, 2, "same")(wave(2, 2, 5, 5)),
        *ops.MaxPoolWithArgmax((3, 2), (1, 2), "VALID")(wave(1, 2, 5, 5)),
        *ops.MaxPoolWithArgmax()(wave(1, 2, 2, 2)),
    ],
    "MaxPoolWithArgmax slope": lambda: sloped(lambda x: ops.MaxPoolWithArgmax(2, 1)(x)[0], wave(1, 2, 5, 5)),
    **{
        f"ROIAlign {points} {end}": partial(
            lambda points, end: sloped(lambda x, r: ops.ROIAlign(2, 3, 0.5, points, end)(x, r), FEATURES, REGIONS),
            points,
            end,
        )
        for points, end in ((2, 1), (3, 1))
    },
    "ROIAlign from end to end": lambda: [ops.ROIAlign(2, 2, 0.5, points, 0)(FEATURES, REGIONS) for points in (1, 2)],
    **{
        f"ResizeArea {size} {corners}": partial(
            lambda size, corners: ops.ResizeArea(corners)(PHOTO, ints(*size)), size, corners
        )
        for size in ((2, 3), (6, 7), (1, 1), (4, 5), (3, 2))
        for corners in (False, True)
    },
    "ResizeArea int32": lambda: ops.ResizeArea()((PHOTO * 100).astype(ms.int32), ints(2, 3)),
    **{
        f"ScaleAndTranslate {kernel} {wide}": partial(
            lambda kernel, wide: sloped(
                lambda x: ops.ScaleAndTranslate(kernel, wide)(x, ints(3, 4), t([0.6, 1.3]), t([0.4, -0.7])), PHOTO
            ),
            kernel,
            wide,
        )
        for kernel in KERNELS
        for wide in (False, True)
    },
    "ScaleAndTranslate beyond": lambda: [
        ops.ScaleAndTranslate()(PHOTO, ints(2, 2), t([0.5, 0.5]), t([100, 0])),
        ops.ScaleAndTranslate()(PHOTO.astype(ms.float64), ints(2, 2), t([1, 1]), t([1, 1])),
    ],
    "RGBToHSV": lambda: [*sloped(ops.RGBToHSV(), COLORS[:, [0, 1, 5, 6, 7]]), ops.RGBToHSV()(COLORS)],
    "HSVToRGB": lambda: ops.HSVToRGB()(HUES),
    **{f"AdjustHue {by}": partial(lambda by: ops.AdjustHue()(COLORS, t(by)), by) for by in (0.2, -0.3, 1.0)},
    **{f"AdjustSaturation {by}": partial(lambda by: ops.AdjustSaturation()(COLORS, t(by)), by) for by in (0.5, 2, -1)},
    **{
        f"CombinedNonMaxSuppression {most} {total} {padded}": partial(
            lambda most, total, padded: combined(CANDIDATES, most, total, pad_per_class=padded, clip_boxes=not padded),
            most,
            total,
            padded,
        )
        for most, total in ((2, 3), (3, 10), (5, 4))
        for padded in (False, True)
    },
    "CombinedNonMaxSuppression by class": lambda: combined(
        Tensor(CANDIDATES.asnumpy() * np.array([[1.0], [0.7]], np.float32)), 2, 3
    ),
    "CombinedNonMaxSuppression bounds": lambda: [*combined(CANDIDATES, 2, 3, 0.0), *combined(CANDIDATES, 2, 3, 1.0)],
    "NonMaxSuppressionWithOverlaps": lambda: [
        not_overlapping(4, 0.4, 0.1),
        not_overlapping(4, 0.7, 0.1),
        not_overlapping(4, 0.9, 0.1),
        not_overlapping(2, 0.9, 0.1),
        not_overlapping(0, 0.9, 0.1),
        not_overlapping(4, 0.9, 0.6),
        not_overlapping(4, 0.1, 0.2, OVERLAPS * 0, [0.5, 0.5, 0.7, 0.5]),
        not_overlapping(4, 0.5, 0.5, OVERLAPS * 0 + 0.5, [0.6, 0.5, 0.7, 0.5]),
    ],
    "FractionalMaxPoolWithFixedKsize": lambda: [
        *ops.FractionalMaxPoolWithFixedKsize(2, (3, 4))(MAP, PLACES),
        *ops.FractionalMaxPoolWithFixedKsize((2, 3), 3)(MAP, PLACES),
    ],
    "FractionalMaxPool3DWithFixedKsize": lambda: [
        *ops.FractionalMaxPool3DWithFixedKsize(2, (2, 3, 2))(VOLUME, MORE_PLACES),
        *ops.FractionalMaxPool3DWithFixedKsize((1, 2, 3), 2)(VOLUME, MORE_PLACES),
        *ops.FractionalMaxPool3DWithFixedKsize(2, 2)(VOLUME[0], MORE_PLACES.reshape(2, 1, 3)),
    ],
    "FractionalMaxPool3DWithFixedKsize slope": lambda: ms.grad(
        lambda x, u: weighed(ops.FractionalMaxPool3DWithFixedKsize(2, (2, 3, 2))(x, u)[0]), (0, 1)
    )(VOLUME, MORE_PLACES)[0],
    "ROIAlign by size": lambda: ops.ROIAlign(1, 1, 0.5, 0, 1)(FEATURES, REGIONS[::3]),
}


@pytest.mark.parametrize("name", CASES)
def test_an_operator_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


# Definitions
def between(image: Array, y: float, x: float) -> Array:
    """Return the value at a place of an image (H, W, ...) by its four nearest pixels; 0 outside."""
    total: Array = np.zeros(image.shape[2:])
    for row in (math.floor(y), math.floor(y) + 1):
        for column in (math.floor(x), math.floor(x) + 1):
            if 0 <= row < image.shape[0] and 0 <= column < image.shape[1]:
                total = total + image[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return total


def central(function: Callable[..., Tensor], inputs: list[Tensor], index: int, step: float) -> Array:
    """Return the gradient of the weighed sum, by central differences in NumPy's float64."""

    def total(values: Array) -> float:
        arguments = [
            Tensor(values.astype(item.asnumpy().dtype)) if i == index else item for i, item in enumerate(inputs)
        ]
        out = function(*arguments).asnumpy().astype(np.float64)
        return float((out * np.cos(np.arange(out.size)).reshape(out.shape)).sum())

    values = inputs[index].asnumpy().astype(np.float64)
    result = np.zeros_like(values)
    for spot in np.ndindex(values.shape):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[spot] += sign * step
            ends.append(total(moved))
        result[spot] = (ends[0] - ends[1]) / (2 * step)
    return result


def fractional(kind: str, x: Tensor, **how: Any) -> Any:
    """Return FractionalMaxPool or FractionalAvgPool, with the same cells at each call."""
    return getattr(ops, f"Fractional{kind}Pool")([1.0, 1.4, 2.2, 1.0], deterministic=True, seed=5, **how)(x)


SLOPES: dict[str, tuple[Callable[..., Tensor], list[Tensor], float]] = {
    "CropAndResize": (
        lambda x, boxes: ops.crop_and_resize(x, boxes, WHICH, (2, 3), "bilinear", 0.5),
        [IMAGES, t([[0.05, 0.06, 0.9, 0.91], [0.1, 0.8, 0.9, 0.2], [-0.2, 0.3, 0.52, 1.3]])],
        2e-3,
    ),
    "CropAndResize nearest": (lambda x: ops.CropAndResize("nearest")(x, CROPS, WHICH, (3, 2)), [IMAGES], 0.5),
    "CropAndResize bilinear_v2": (lambda x: ops.CropAndResize("bilinear_v2")(x, CROPS, WHICH, (3, 2)), [IMAGES], 0.5),
    "deformable_conv2d": (
        lambda x, w, moves, bias: ops.deformable_conv2d(
            x, w, moves, (2, 3), (1, 1, 2, 1), (1, 2, 1, 2), bias, (1, 1, 2, 2), 2, 2
        ),
        [PICTURE, FILTERS[:, :1], MORE_MOVES, t([0.5, -1.0])],
        2e-3,
    ),
    "ROIAlign": (lambda x: ops.ROIAlign(2, 2, 0.5, 2, 0)(x, REGIONS), [FEATURES], 0.5),
    "bounding_box_encode": (lambda a, b: ops.bounding_box_encode(a, b, MEANS, STDS), [ANCHORS, TRUTH], 1e-2),
    "bounding_box_decode": (
        lambda a, d: ops.bounding_box_decode(a, d, (768, 1280), MEANS, STDS),
        [ANCHORS + 40.0, DELTAS / 4],
        1e-2,
    ),
    "ctc_greedy_decoder": (lambda x: ops.ctc_greedy_decoder(x, ints(6, 2))[3], [STEPS], 1e-1),
    "ResizeArea": (lambda x: ops.ResizeArea()(x, ints(3, 4)), [PHOTO], 0.5),
    "RGBToHSV": (ops.RGBToHSV(), [COLORS[:, [0, 1, 4, 5, 6, 7]]], 1e-3),
    "HSVToRGB": (ops.HSVToRGB(), [HUES[:, :, 2:7]], 1e-3),
    "AdjustHue": (lambda x, by: ops.AdjustHue()(x, by), [COLORS[:, [0, 1, 4, 5, 6, 7]], t(0.15)], 1e-3),
    "AdjustSaturation": (lambda x, by: ops.AdjustSaturation()(x, by), [COLORS[:, [0, 1, 5, 6, 7]], t(0.9)], 1e-3),
    "FractionalAvgPool": (lambda x: fractional("Avg", x, overlapping=True)[0], [wave(1, 7, 9, 2)], 0.5),
    "FractionalMaxPool": (
        lambda x: fractional("Max", x, overlapping=True)[0],
        [t(np.random.default_rng(3).permutation(126).reshape(1, 7, 9, 2))],
        0.25,
    ),
    "FractionalMaxPoolWithFixedKsize": (
        lambda x: ops.FractionalMaxPoolWithFixedKsize(2, (3, 4))(x, PLACES)[0],
        [MAP],
        1e-3,
    ),
}


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_are_central_differences(name: str) -> None:
    function, inputs, step = SLOPES[name]
    result = flat(ms.grad(lambda *x: weighed(function(*x)), tuple(range(len(inputs))))(*inputs))
    for index, item in enumerate(result):
        np.testing.assert_allclose(item.asnumpy(), central(function, inputs, index, step), rtol=2e-2, atol=5e-3)


def test_a_crop_takes_what_is_between_the_pixels_of_its_box() -> None:
    image, box = IMAGES.asnumpy()[1].astype(np.float64), (0.2, 0.9, 0.7, 0.1)
    crop = ops.crop_and_resize(IMAGES, t([box]), ints(1), (3, 4)).asnumpy()[0]
    for i, j in np.ndindex(3, 4):
        y, x = (box[0] + (box[2] - box[0]) * i / 2) * 2, (box[1] + (box[3] - box[1]) * j / 3) * 3
        np.testing.assert_allclose(crop[i, j], between(image, y, x), atol=1e-6)


def test_a_deformable_convolution_sums_weights_times_moved_elements_times_factors() -> None:
    x, w, moves = (variant.asnumpy().astype(np.float64) for variant in (PICTURE, FILTERS, MOVES))
    result = ops.deformable_conv2d(PICTURE, FILTERS, MOVES, (2, 3), (1, 1, 1, 1), (0, 0, 0, 0)).asnumpy()
    for o, i, j in np.ndindex(2, 3, 3):
        total = 0.0
        for k, (row, column) in enumerate(np.ndindex(2, 3)):
            along, down, factor = moves[0, k::6, i, j]
            pixels = between(x[0].transpose(1, 2, 0), i + row + down, j + column + along)
            total += float((w[o, :, row, column] * pixels).sum() * factor)
        assert result[0, o, i, j] == pytest.approx(total, abs=1e-5)


def test_deformable_convolution_without_moves_is_a_convolution() -> None:
    still = np.zeros((1, 18, 3, 3), np.float32)
    still[:, 12:] = 1.0
    result = ops.deformable_conv2d(PICTURE, FILTERS, Tensor(still), (2, 3), (1, 1, 1, 1), (0, 0, 0, 0))
    np.testing.assert_allclose(result.asnumpy(), ops.conv2d(PICTURE, FILTERS).asnumpy(), atol=1e-5)


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("points", [1, 3])
def test_a_pooled_region_is_the_mean_of_points_in_its_bins(points: int, end: int) -> None:
    image = FEATURES.asnumpy().astype(np.float64)[1].transpose(1, 2, 0)
    x0, y0, x1, y1 = (0.5 * value for value in (1.5, 0.75, 7.0 + end, 6.5 + end))
    result = ops.ROIAlign(2, 3, 0.5, points, end)(FEATURES, t([[1, 1.5, 0.75, 7.0, 6.5]])).asnumpy()[0]
    for i, j in np.ndindex(2, 3):
        values = [
            between(image, y0 + (y1 - y0) / 2 * (i + (a + 0.5) / points), x0 + (x1 - x0) / 3 * (j + (b + 0.5) / points))
            for a, b in np.ndindex(points, points)
        ]
        np.testing.assert_allclose(result[:, i, j], np.mean(values, axis=0), atol=1e-6)


def test_a_bin_of_less_than_a_pixel_has_one_point() -> None:
    results = [ops.ROIAlign(4, 4, 1.0, points, 0)(FEATURES, t([[0, 1, 1, 3, 3]])).asnumpy() for points in (0, 1)]
    assert np.isfinite(results[0]).all()
    np.testing.assert_array_equal(*results)


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
    result = ops.deformable_conv2d(picture, ops.ones((1, 1, 2, 2)), Tensor(ones), (2, 2), (1, 1, 1, 1), (0, 0, 0, 0))
    assert np.isnan(result.asnumpy()).sum() == 4


def test_a_decoded_box_is_the_one_that_was_encoded() -> None:
    codes = ops.bounding_box_encode(ANCHORS, TRUTH, MEANS, STDS)
    np.testing.assert_allclose(
        ops.bounding_box_decode(ANCHORS, codes, (50, 60), MEANS, STDS).asnumpy(), TRUTH.asnumpy(), atol=1e-4
    )


def test_of_boxes_with_one_score_the_later_one_comes_first() -> None:
    boxes, order, kept = ops.NMSWithMask(0.5)(t([[i * 10, 0, i * 10 + 1, 1, 0.5] for i in range(3)]))
    assert boxes.asnumpy()[:, 0].tolist() == [20.0, 10.0, 0.0]  # as MindSpore orders them
    assert order.tolist() == [0, 1, 2]
    assert kept.tolist() == [True, True, True]


@pytest.mark.parametrize("kind", ["Max", "Avg"])
@pytest.mark.parametrize("dtype", [ms.float32, ms.float64, ms.int64])
@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
def test_a_fractional_pool_is_of_the_cells_between_its_edges(
    kind: str, dtype: Any, overlapping: bool, pseudo_random: bool
) -> None:
    x = (wave(2, 7, 9, 3) * 100).astype(dtype)
    pooled, *edges = fractional(kind, x, overlapping=overlapping, pseudo_random=pseudo_random)
    assert (pooled.dtype, [edge.dtype for edge in edges]) == (dtype, [ms.int64, ms.int64])
    rows, columns = (edge.tolist() for edge in edges)
    assert (rows[0], rows[-1], len(rows), columns[0], columns[-1], len(columns)) == (0, 7, 6, 0, 9, 5)
    assert sorted(np.diff(rows)) == [1, 1, 1, 2, 2]
    assert sorted(np.diff(columns)) == [2, 2, 2, 3]
    values = x.asnumpy().astype(np.float64)
    want = np.zeros((2, 5, 4, 3))
    for i, j in np.ndindex(5, 4):
        cell = values[:, rows[i] : rows[i + 1] + overlapping, columns[j] : columns[j + 1] + overlapping]
        want[:, i, j] = cell.max((1, 2)) if kind == "Max" else cell.mean((1, 2))
    np.testing.assert_allclose(pooled.asnumpy(), np.trunc(want) if dtype == ms.int64 else want, rtol=1e-5, atol=1e-4)


def test_pseudorandom_cells_begin_at_the_ceilings_of_an_even_sequence() -> None:
    pool = ops.FractionalMaxPool([1.0, 1.0, 1.4, 1.0], pseudo_random=True)
    results = {tuple(pool(wave(1, 1, 31, 1))[2].tolist()) for _ in range(40)}
    alpha = 31 / 22
    allowed = set()
    for u in np.linspace(0, min(3 / alpha - 1, 31 / alpha - 21), 2000):
        allowed.add((0, *(math.ceil(alpha * (i + u)) - 1 for i in range(1, 22)), 31))
    assert len(results) > 3
    assert results <= allowed


def test_random_cells_come_in_every_order() -> None:
    pool = ops.FractionalAvgPool([1.0, 1.0, 1.5, 1.0])
    results = {tuple(pool(wave(1, 1, 6, 1))[2].tolist()) for _ in range(200)}
    inner = {(1, 2, 4), (1, 3, 4), (1, 3, 5), (2, 3, 4), (2, 3, 5), (2, 4, 5)}
    assert results == {(0, *item, 6) for item in inner}


def test_channels_may_be_the_last_axis_of_a_fractional_pool() -> None:
    best, indices = ops.FractionalMaxPool3DWithFixedKsize(2, 2)(VOLUME, MORE_PLACES)
    last = ops.FractionalMaxPool3DWithFixedKsize(2, 2, "NDHWC")(VOLUME.permute(0, 2, 3, 4, 1), MORE_PLACES)
    np.testing.assert_array_equal(last[0].asnumpy(), best.asnumpy().transpose(0, 2, 3, 4, 1))
    np.testing.assert_array_equal(last[1].asnumpy(), indices.asnumpy().transpose(0, 2, 3, 4, 1))


def test_colors_are_those_of_the_standard_library() -> None:
    colors = np.random.default_rng(1).random((1, 4, 5, 3))
    hues = ops.RGBToHSV()(Tensor(colors)).asnumpy()
    want = [colorsys.rgb_to_hsv(*item) for item in colors.reshape(-1, 3)]
    np.testing.assert_allclose(hues.reshape(-1, 3), want, atol=1e-12)
    np.testing.assert_allclose(ops.HSVToRGB()(Tensor(hues)).asnumpy(), colors, atol=1e-12)
    turned = ops.AdjustHue()(Tensor(colors), t(0.25)).asnumpy().reshape(-1, 3)
    np.testing.assert_allclose(turned, [colorsys.hsv_to_rgb((h + 0.25) % 1, s, v) for h, s, v in want], atol=1e-12)
    paler = ops.AdjustSaturation()(Tensor(colors), t(0.5)).asnumpy().reshape(-1, 3)
    np.testing.assert_allclose(paler, [colorsys.hsv_to_rgb(h, s / 2, v) for h, s, v in want], atol=1e-12)


def test_half_precision_colors_are_the_rounded_ones() -> None:
    half = COLORS[:, :8].astype(ms.float16)
    wide = half.astype(ms.float32)
    for call in (ops.RGBToHSV(), lambda x: ops.AdjustHue()(x, t(0.2)), lambda x: ops.AdjustSaturation()(x, t(0.5))):
        result = call(half)
        assert result.dtype == ms.float16
        np.testing.assert_array_equal(result.asnumpy(), call(wide).asnumpy().astype(np.float16))


def test_a_random_part_of_an_image_keeps_to_its_bounds() -> None:
    size, objects = ints(60, 90, 3), t([[[0.2, 0.3, 0.5, 0.6], [0.7, 0.1, 0.9, 0.2]]])
    sample = ops.SampleDistortedBoundingBoxV2(aspect_ratio_range=(0.8, 1.5), area_range=(0.1, 0.6))
    records = set()
    for _ in range(60):
        begin, length, box = sample(size, objects, t([0.4]))
        (y, x, none), (rows, columns, rest) = begin.tolist(), length.tolist()
        assert (none, rest, begin.dtype, box.dtype) == (0, -1, ms.int32, ms.float32)
        corners = [y / 60, x / 90, (y + rows) / 60, (x + columns) / 90]
        np.testing.assert_allclose(box.asnumpy()[0, 0], corners, rtol=1e-6)
        assert 0 <= y <= 60 - rows
        assert 0 <= x <= 90 - columns
        assert 0.1 <= rows * columns / 5400 <= 0.6
        assert (columns + 0.5) / rows >= 0.8
        assert (columns - 0.5) / rows <= 1.5
        covered = []
        for top, left, bottom, right in objects.tolist()[0]:
            high = min(bottom, (y + rows) / 60) - max(top, y / 60)
            wide = min(right, (x + columns) / 90) - max(left, x / 90)
            covered.append(max(high, 0) * max(wide, 0) / ((bottom - top) * (right - left)))
        assert max(covered) >= 0.4 - 1e-6
        records.add((y, x, rows, columns))
    assert len(records) > 30


def test_the_same_seeds_give_the_same_part_and_without_one_that_fits_it_is_the_image() -> None:
    size, objects = ints(64, 48, 3), t([[[0.38, 0.17, 0.95, 0.40]]])
    sample = ops.SampleDistortedBoundingBoxV2(3, 4)
    assert [item.tolist() for item in sample(size, objects, t([0.1]))] == [
        item.tolist() for item in sample(size, objects, t([0.1]))
    ]
    never = ops.SampleDistortedBoundingBoxV2(1, 1, (50.0, 60.0), (0.9, 1.0))
    assert [item.tolist() for item in never(size, objects, t([0.9]))] == [[0, 0, 0], [64, 48, -1], [[[0, 0, 1, 1]]]]
    free = ops.SampleDistortedBoundingBoxV2(1, use_image_if_no_bounding_boxes=True)
    assert free(size, objects[:, :0], t([0.1]))[2].shape == (1, 1, 4)


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "method": (lambda: ops.crop_and_resize(IMAGES, CROPS, WHICH, (2, 2), "cubic"), ValueError, "'method' must be"),
    "image that is not there": (
        lambda: ops.crop_and_resize(IMAGES, CROPS, ints(0, 2, 0), (2, 2)),
        ValueError,
        r"\[0, 2\)",
    ),
    "dtype of the indices": (
        lambda: ops.crop_and_resize(IMAGES, CROPS, t([0, 1, 0], ms.int64), (2, 2)),
        TypeError,
        "Int32, but got Int64",
    ),
    "size": (lambda: ops.crop_and_resize(IMAGES, CROPS, WHICH, 2), TypeError, "'crop_size' must be a tuple"),  # type: ignore[arg-type]
    "size of 0": (lambda: ops.crop_and_resize(IMAGES, CROPS, WHICH, (0, 2)), ValueError, "above 0"),
    "axes": (lambda: ops.crop_and_resize(IMAGES[0], CROPS, WHICH, (1, 2)), ValueError, "must have 4 axes"),
    "extrapolation": (lambda: ops.CropAndResize("nearest", 1)(IMAGES, CROPS, WHICH, (1, 2)), TypeError, "a float"),
    "moves": (
        lambda: ops.deformable_conv2d(PICTURE, FILTERS, MOVES[:, :9], (2, 3), (1, 1, 1, 1), (0, 0, 0, 0)),
        ValueError,
        r"\(1, 18, 3, 3\), but got \(1, 9, 3, 3\)",
    ),
    "factors": (
        lambda: ops.deformable_conv2d(PICTURE, FILTERS, MOVES, (2, 3), (1, 1, 1, 1), (0, 0, 0, 0), modulated=False),
        ValueError,
        "'modulated' must be True",
    ),
    "strides": (
        lambda: ops.deformable_conv2d(PICTURE, FILTERS, MOVES, (2, 3), (2, 1, 1, 1), (0, 0, 0, 0)),
        ValueError,
        "'strides' must begin with 1, 1",
    ),
    "boxes": (lambda: ops.check_valid(t([[0, 0, 1]]), t([3, 2, 1])), ValueError, r"shape \(N, 4\)"),
    "means": (lambda: ops.bounding_box_encode(ANCHORS, TRUTH, [0.0] * 4), TypeError, "'means' must be a tuple"),  # type: ignore[arg-type]
    "three means": (lambda: ops.bounding_box_encode(ANCHORS, TRUTH, (0.0,) * 3), ValueError, "4 floats"),  # type: ignore[arg-type]
    "integers": (lambda: ops.bounding_box_encode(ANCHORS.astype(ms.int32), TRUTH), TypeError, "Float32, but got Int32"),
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
    "size of an area": (lambda: ops.ResizeArea()(PHOTO, ints(0, 3)), ValueError, "'size' must be above 0"),
    "area of a tuple": (lambda: ops.ResizeArea()(PHOTO, (2, 3)), TypeError, "'size' must be a Tensor"),
    "area of int64": (lambda: ops.ResizeArea()(PHOTO, t([2, 3], ms.int64)), TypeError, "of Int32, but got Int64"),
    "corners": (lambda: ops.ResizeArea(1)(PHOTO, ints(2, 3)), TypeError, "'align_corners' must be a bool"),
    "kernel": (
        lambda: ops.ScaleAndTranslate("sinc")(PHOTO, ints(2, 2), t([1, 1]), t([0, 0])),
        ValueError,
        "'lanczos1', ",
    ),
    "factor": (lambda: ops.ScaleAndTranslate()(PHOTO, ints(2, 2), t([0, 1]), t([0, 0])), ValueError, "above 0"),
    "colors": (lambda: ops.RGBToHSV()(COLORS[..., :2]), ValueError, "the last one of 3"),
    "whole colors": (lambda: ops.RGBToHSV()(COLORS.astype(ms.int32)), TypeError, "Float64, but got Int32"),
    "hues": (lambda: ops.HSVToRGB()(HUES[0]), ValueError, "must have 4 axes"),
    "turn": (lambda: ops.AdjustHue()(COLORS, 0.2), TypeError, "'delta' must be a Tensor"),
    "turns": (lambda: ops.AdjustHue()(COLORS, t([0.2])), ValueError, "must have no axes"),
    "half a turn": (lambda: ops.AdjustHue()(COLORS, t(0.5, ms.float16)), TypeError, "of Float32"),
    "flat": (lambda: ops.AdjustSaturation()(COLORS[0], t(0.2)), ValueError, "at least 3 axes"),
    "overlap": (lambda: combined(CANDIDATES, 2, 3, 1.1), ValueError, "'iou_threshold' must be in"),
    "none of a class": (lambda: combined(CANDIDATES, 0, 3), ValueError, "'max_output_size_per_class' must be above 0"),
    "boxes of no score": (lambda: combined(CANDIDATES[:, :3], 1, 3), ValueError, "do not fit 'scores'"),
    "less than none": (lambda: not_overlapping(-1, 0.5, 0.5), ValueError, "must not be negative"),
    "scores": (lambda: not_overlapping(1, 0.5, 0.5, OVERLAPS, [0.5] * 3), ValueError, r"shape \(4,\)"),
    "ratios": (lambda: ops.FractionalMaxPool([1.0, 0.5, 2.0, 1.0])(PHOTO), ValueError, "not below 1"),
    "a tuple of ratios": (lambda: ops.FractionalAvgPool((1.0, 2.0, 2.0, 1.0))(PHOTO), TypeError, "must be a list"),
    "whole ratios": (lambda: ops.FractionalAvgPool([1, 2, 2, 1])(PHOTO), TypeError, "list of floats, but got 1"),
    "nothing left": (lambda: ops.FractionalAvgPool([1.0, 20.0, 1.0, 1.0])(PHOTO), ValueError, "leaves nothing"),
    "seeds": (lambda: ops.FractionalMaxPool([1.0] * 4, seed=3)(PHOTO), ValueError, "if 'deterministic' is False"),
    "samples": (
        lambda: ops.FractionalMaxPoolWithFixedKsize(2, 3)(MAP, PLACES[:, :1]),
        ValueError,
        r"shape \(1, 2, 2\)",
    ),
    "axes of a map": (lambda: ops.FractionalMaxPoolWithFixedKsize(2, 3)(MAP[0], PLACES), ValueError, "4 axes"),
    "no box": (
        lambda: ops.SampleDistortedBoundingBoxV2()(ints(9, 9, 3), CROPS.reshape(1, 3, 4)[:, :0], t([0.1])),
        ValueError,
        "there is no box",
    ),
    "falling corners": (
        lambda: ops.SampleDistortedBoundingBoxV2()(ints(9, 9, 3), t([[[0.5, 0, 0.2, 1]]]), t([0.1])),
        ValueError,
        "rising corners",
    ),
    "falling ratios": (
        lambda: ops.SampleDistortedBoundingBoxV2(0, 0, (1.0, 0.5))(ints(9, 9, 3), t([[[0, 0, 1, 1]]]), t([0.1])),
        ValueError,
        "'aspect_ratio_range' must be two rising floats above 0",
    ),
    "covered": (
        lambda: ops.SampleDistortedBoundingBoxV2()(ints(9, 9, 3), t([[[0, 0, 1, 1]]]), t([1.5])),
        ValueError,
        r"'min_object_covered' in \[0, 1\]",
    ),
    "region of no image": (lambda: ops.ROIAlign(1, 1, 1.0)(FEATURES, t([[2, 0, 0, 1, 1]])), ValueError, r"\[0, 2\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_told(name: str) -> None:
    call, kind, words = WRONG[name]
    with pytest.raises(kind, match=words):
        call()
