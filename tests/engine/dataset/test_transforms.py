"""Transforms of values and images, element by element: NumPy's formula, and figures read off MindSpore 2.10."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine.dataset import transforms, vision

CUBE = np.arange(24).reshape(2, 3, 4)
COLORS = (np.arange(60) * 37 % 251).astype(np.uint8).reshape(4, 5, 3)  # an image of 4 rows and 5 columns
GRAY = COLORS[:, :, 0]


def same(output: Any, expected: Any) -> None:
    """Assert the same dtype, shape and elements; text by its elements, as its width depends on other elements."""
    assert isinstance(output, np.ndarray)
    if expected.dtype.kind != "U":
        assert output.dtype == expected.dtype
    assert output.shape == expected.shape
    np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize(
    ("make", "value", "expected"),
    [
        (lambda: transforms.Fill(7), np.array([[1.5, np.nan]], np.float32), np.array([[7, 7]], np.float32)),
        (lambda: transforms.Fill(-2.7), np.array([1, 2, 3], np.int32), np.array([-2, -2, -2], np.int32)),
        (lambda: transforms.Fill(300), np.array([1], np.uint8), np.array([300 - 256], np.uint8)),
        (lambda: transforms.Fill(3), np.array([True, False]), np.array([True, True])),
        (lambda: transforms.Fill(3), np.zeros((0, 2), np.int16), np.zeros((0, 2), np.int16)),
        (lambda: transforms.Fill(3), np.array(1.0), np.array(3.0)),
        (lambda: transforms.Fill("hello"), np.array(["ab", "c"]), np.array(["hello", "hello"])),
        (lambda: transforms.PadEnd([5], 9), np.array([1, 2, 3]), np.array([1, 2, 3, 9, 9])),
        (lambda: transforms.PadEnd([5]), np.array([1, 2, 3]), np.array([1, 2, 3, 0, 0])),
        (lambda: transforms.PadEnd([3], 2.5), np.array([1, 2]), np.array([1, 2, 2])),
        (lambda: transforms.PadEnd([3], -1), np.array([1, 2], np.uint8), np.array([1, 2, 255], np.uint8)),
        (lambda: transforms.PadEnd([1, 3], -1), np.array([[1, 2], [3, 4]]), np.array([[1, 2, -1]])),
        (lambda: transforms.PadEnd([3, None], 4), np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4], [4, 4]])),
        (lambda: transforms.PadEnd([3]), np.array(["a", "bcd"]), np.array(["a", "bcd", ""])),
        (lambda: transforms.PadEnd([3], "long"), np.array(["a", "b"]), np.array(["a", "b", "long"])),
        (lambda: transforms.Slice(slice(1, 3)), np.arange(4), np.array([1, 2])),
        (lambda: transforms.Slice(slice(3, 0, -2)), np.arange(4), np.array([3, 1])),
        (lambda: transforms.Slice(slice(3, 3)), np.arange(4), np.zeros(0, np.int64)),
        (lambda: transforms.Slice(-1), np.arange(4), np.array([3])),
        (lambda: transforms.Slice([1, 1, -4]), np.arange(4), np.array([1, 1, 0])),
        (lambda: transforms.Slice([1, 0]), np.array(["x", "yy"]), np.array(["yy", "x"])),
        (lambda: transforms.Slice(True), np.arange(4), np.arange(4)),
        (lambda: transforms.Slice(None, [0, 2]), CUBE, CUBE[:, [0, 2]]),
        (lambda: transforms.Slice(1), CUBE, CUBE[1:2]),
        (lambda: transforms.Slice(1, 2), CUBE, CUBE[1:2, 2:3]),
        (lambda: transforms.Slice([0, 1], [0, 2], [3, 1]), CUBE, CUBE[np.ix_([0, 1], [0, 2], [3, 1])]),
        (lambda: transforms.Slice(1, None, [0, 1]), CUBE, CUBE[1:, :, :2]),
        (lambda: transforms.Slice(...), CUBE, CUBE),
        (lambda: transforms.Slice(..., 1), CUBE, CUBE[:, :, 1:2]),
        (lambda: transforms.Slice(np.int64(1), ..., [2, 0]), CUBE, CUBE[1:][:, :, [2, 0]]),
        (lambda: transforms.TypeCast(ms.int32), np.array([1.7, -1.7], np.float32), np.array([1, -1], np.int32)),
        (lambda: transforms.TypeCast(np.float16), np.array([1, 2]), np.array([1, 2], np.float16)),
        (lambda: transforms.TypeCast(ms.bool_), np.array([0, 2]), np.array([False, True])),
        (lambda: vision.ToType("int16"), np.array([1.5, -1.5]), np.array([1, -1], np.int16)),
    ],
)
def test_a_transform_gives_these_elements(make: Any, value: Any, expected: Any) -> None:
    before = value.copy()
    same(make()(value), expected)
    np.testing.assert_array_equal(value, before)


def test_several_values_are_changed_alike() -> None:
    output = transforms.Fill(2)(np.zeros(2), np.zeros((1, 1), np.int8))
    assert isinstance(output, tuple) and len(output) == 2
    same(output[0], np.full(2, 2.0))
    same(output[1], np.full((1, 1), 2, np.int8))


@pytest.mark.parametrize(
    ("make", "values", "expected"),
    [
        (lambda: transforms.Concatenate(0, [9], [8, 7]), ([1, 2], [5]), [9, 1, 2, 5, 8, 7]),
        (lambda: transforms.Concatenate(-1, prepend=np.array([9])), ([1, 2],), [9, 1, 2]),
        (lambda: transforms.Concatenate(append=ms.Tensor([3])), ([1, 2],), [1, 2, 3]),
        (lambda: transforms.Concatenate(), ([1, 2], [3]), [1, 2, 3]),
        (lambda: transforms.Concatenate(append=["c"]), (["a", "bcd"],), ["a", "bcd", "c"]),
    ],
)
def test_values_are_put_one_behind_the_other(make: Any, values: Any, expected: Any) -> None:
    same(make()(*map(np.array, values)), np.array(expected))


def test_a_value_is_given_twice() -> None:
    first, second = transforms.Duplicate()(np.array([1, 2]))
    same(first, np.array([1, 2]))
    same(second, np.array([1, 2]))


@pytest.mark.parametrize(
    ("value", "result", "indices", "counts"),
    [
        (np.array([[3, 1, 3, 2, 1, 3]]), [3, 1, 2], [0, 1, 0, 2, 1, 0], [3, 2, 1]),
        (np.array([[3, 1], [3, 2]], np.int8), [3, 1, 2], [0, 1, 0, 2], [2, 1, 1]),
        (np.array([[0.5, -1, 0.5]], np.float32), [0.5, -1], [0, 1, 0], [2, 1]),
        (np.array([7, 7]), [7], [0, 0], [2]),
        (np.array(["b", "a", "b"]), ["b", "a"], [0, 1, 0], [2, 1]),
        (np.zeros(0), [], [], []),
    ],
)
def test_different_elements_come_in_their_own_order(value: Any, result: Any, indices: Any, counts: Any) -> None:
    output = transforms.Unique()(value)
    same(output[0], np.array(result, value.dtype))
    same(output[1], np.array(indices, np.int32))
    same(output[2], np.array(counts, np.int32))


SCALED = ((COLORS - [1.0, 2, 3]) / [2, 4, 8]).astype(np.float32)
SHARES = np.array([0.2, 0.4, 0.8, 1.0], np.float32)


@pytest.mark.parametrize(
    ("make", "image", "expected"),
    [
        (lambda: vision.ToTensor(), COLORS, COLORS.transpose(2, 0, 1).astype(np.float32) / 255),
        (lambda: vision.ToTensor("float64"), GRAY, GRAY[None].astype(np.float64) / 255),
        (lambda: vision.ToTensor(np.uint8), np.array([[0, 254, 255]], np.uint8), np.array([[[0, 0, 1]]], np.uint8)),
        (lambda: vision.Rescale(0.5, -1.0), COLORS, (COLORS * 0.5 - 1).astype(np.float32)),
        (lambda: vision.Rescale(-3.0, 2.0), SHARES, (2 - 3 * SHARES.astype(np.float64)).astype(np.float32)),
        (lambda: vision.Normalize([1, 2, 3], [2, 4, 8]), COLORS, SCALED),
        (
            lambda: vision.Normalize([1, 2, 3], [2, 4, 8], is_hwc=False),
            COLORS.transpose(2, 0, 1),
            SCALED.transpose(2, 0, 1),
        ),
        (lambda: vision.Normalize([1], [2]), GRAY, ((GRAY - 1.0) / 2).astype(np.float32)),
        (lambda: vision.Normalize([1], [2]), COLORS, ((COLORS - 1.0) / 2).astype(np.float32)),
        (lambda: vision.HWC2CHW(), COLORS, COLORS.transpose(2, 0, 1)),
        (lambda: vision.HWC2CHW(), GRAY, GRAY),
        (lambda: vision.HorizontalFlip(), COLORS, np.fliplr(COLORS)),
        (lambda: vision.VerticalFlip(), COLORS, np.flipud(COLORS)),
        (lambda: vision.VerticalFlip(), GRAY, np.flipud(GRAY)),
        (lambda: vision.RandomVerticalFlip(1.0), COLORS, np.flipud(COLORS)),
        (lambda: vision.RandomVerticalFlip(0.0), COLORS, COLORS),
        (lambda: vision.RandomHorizontalFlip(1.0), COLORS, np.fliplr(COLORS)),
        (lambda: vision.RandomHorizontalFlip(0.0), COLORS, COLORS),
        (lambda: vision.Crop((1, 2), (3, 2)), COLORS, COLORS[1:4, 2:4]),
        (lambda: vision.Crop((0, 1), 4), GRAY, GRAY[:, 1:]),
        (lambda: vision.Pad((1, 2)), GRAY, np.pad(GRAY, ((2, 2), (1, 1)))),
        (lambda: vision.Pad((1, 2, 3, 0), 5), COLORS, np.pad(COLORS, ((2, 0), (1, 3), (0, 0)), constant_values=5)),
        (
            lambda: vision.Pad((1, 0, 0, 0), (1, 2, 3)),
            COLORS,
            np.concatenate([np.broadcast_to(np.array([1, 2, 3], np.uint8), (4, 1, 3)), COLORS], 1),
        ),
        (
            lambda: vision.Pad((1, 2, 2, 1), 0, vision.Border.EDGE),
            COLORS,
            np.pad(COLORS, ((2, 1), (1, 2), (0, 0)), "edge"),
        ),
        (lambda: vision.Pad((1, 2, 2, 1), 0, vision.Border.REFLECT), GRAY, np.pad(GRAY, ((2, 1), (1, 2)), "reflect")),
        (
            lambda: vision.Pad((1, 2, 2, 1), 0, vision.Border.SYMMETRIC),
            GRAY,
            np.pad(GRAY, ((2, 1), (1, 2)), "symmetric"),
        ),
    ],
)
def test_an_image_becomes_this_one(make: Any, image: Any, expected: Any) -> None:
    output = make()(image)
    assert (output.dtype, output.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(output, expected, rtol=2e-7, atol=1e-6 if output.dtype.kind == "f" else 0)


@pytest.mark.parametrize(
    ("height", "width", "size", "top", "left"),
    [  # the row and the column of the image's first pixel in MindSpore's result, below 0 where it is cut off
        (7, 7, (4, 4), -1, -1),
        (7, 6, (4, 3), -1, -1),
        (6, 9, (3, 4), -1, -2),
        (9, 9, (2, 4), -3, -2),
        (4, 4, (5, 7), 1, 2),
        (1, 1, (2, 2), 1, 1),
        (4, 4, (6, 2), 1, -1),
        (4, 4, (7, 3), 2, 0),
        (4, 5, (2, 8), -1, 2),
        (5, 3, (8, 2), 2, 0),
        (3, 3, 3, 0, 0),
    ],
)
@pytest.mark.parametrize("channels", [(), (2,)])
def test_the_middle_of_an_image_is_mindspores(
    height: int, width: int, size: Any, top: int, left: int, channels: tuple[int, ...]
) -> None:
    image = np.arange(1, 1 + height * width * max([1, *channels]), dtype=np.int32).reshape(height, width, *channels)
    high, wide = (size, size) if isinstance(size, int) else size
    expected = np.zeros((high, wide, *channels), np.int32)
    for row, column in itertools.product(range(high), range(wide)):
        if 0 <= row - top < height and 0 <= column - left < width:
            expected[row, column] = image[row - top, column - left]
    same(vision.CenterCrop(size)(image), expected)


def bilinear(image: Any, height: int, width: int) -> Any:
    """Return each new pixel's value by its center's four nearest old pixels, weighted by distance, in float64."""
    output = np.zeros((height, width))
    for row, column in itertools.product(range(height), range(width)):
        y = min(max((row + 0.5) * image.shape[0] / height - 0.5, 0), image.shape[0] - 1)
        x = min(max((column + 0.5) * image.shape[1] / width - 0.5, 0), image.shape[1] - 1)
        for near_y, near_x in itertools.product(range(image.shape[0]), range(image.shape[1])):
            output[row, column] += max(1 - abs(y - near_y), 0) * max(1 - abs(x - near_x), 0) * image[near_y, near_x]
    return output


@pytest.mark.parametrize(
    ("shape", "size", "height", "width"),
    [
        ((8, 5), 2, 3, 2),  # int: the length of the shorter side, the other in proportion, cut off
        ((3, 7), 2, 2, 4),
        ((4, 4), 3, 3, 3),
        ((3, 7), (5, 4), 5, 4),
        ((4, 4), (1, 9), 1, 9),
        ((4, 6), (4, 6), 4, 6),
    ],
)
def test_resizing_is_bilinear(shape: tuple[int, int], size: Any, height: int, width: int) -> None:
    image = np.random.default_rng(1).random(shape).astype(np.float32)
    output = vision.Resize(size)(image)
    assert output.dtype == np.float32
    np.testing.assert_allclose(output, bilinear(image, height, width), rtol=1e-5)
    colors = np.stack([image, image[::-1]], axis=2)
    np.testing.assert_allclose(
        vision.Resize(size)(colors),
        np.stack([bilinear(image, height, width), bilinear(image[::-1], height, width)], axis=2),
        rtol=1e-5,
    )


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_gray_is_the_weighed_sum_of_the_colors(dtype: Any) -> None:
    image = np.random.default_rng(2).integers(0, 256, (30, 40, 3)).astype(dtype)
    luma = 0.299 * image[:, :, 0].astype(np.float64) + 0.587 * image[:, :, 1] + 0.114 * image[:, :, 2]  # ITU-R BT.601
    expected = np.floor(luma + 0.5 + 1e-9) if dtype is np.uint8 else luma
    for channels, item in ((1, expected), (3, np.stack([expected] * 3, axis=2))):
        output = vision.Grayscale(channels)(image)
        assert (output.dtype, output.shape) == (dtype, item.shape)
        np.testing.assert_allclose(output, item, rtol=1e-6)


class Drawn:
    """A generator of random numbers whose draws are these."""

    def __init__(self, *draws: Any) -> None:
        self.draws: Iterator[Any] = iter(draws)

    def random(self) -> float:
        return float(next(self.draws))

    def integers(self, bound: int) -> int:
        drawn = int(next(self.draws))
        assert 0 <= drawn < bound
        return drawn

    def permutation(self, number: int) -> list[int]:
        order = list(next(self.draws))
        assert sorted(order) == list(range(number))
        return order


PLUS, TIMES, TWICE = (lambda v: v + 1), (lambda v: v * 10), transforms.Duplicate()


@pytest.mark.parametrize(
    ("make", "draws", "expected"),
    [
        (lambda: transforms.Compose([PLUS, TIMES]), [], 40),
        (lambda: transforms.RandomApply([PLUS, TIMES], 0.3), [0.29], 40),
        (lambda: transforms.RandomApply([PLUS, TIMES], 0.3), [0.3], 3),
        (lambda: transforms.RandomApply([PLUS, TIMES]), [0.49], 40),
        (lambda: transforms.RandomApply([PLUS, TIMES]), [0.5], 3),
        (lambda: transforms.RandomApply([PLUS], 0), [0.0], 3),
        (lambda: transforms.RandomApply([PLUS], 1), [0.999], 4),
        (lambda: transforms.RandomChoice([PLUS, TIMES, TWICE]), [0], 4),
        (lambda: transforms.RandomChoice([PLUS, TIMES, TWICE]), [1], 30),
        (lambda: transforms.RandomChoice([PLUS, TIMES, TWICE]), [2], (3, 3)),
        (lambda: transforms.RandomOrder([PLUS, TIMES]), [[0, 1]], 40),
        (lambda: transforms.RandomOrder([PLUS, TIMES]), [[1, 0]], 31),
        (lambda: transforms.RandomOrder([PLUS, TIMES, TWICE]), [[1, 0, 2]], (31, 31)),
        (lambda: vision.RandomVerticalFlip(0.3), [0.3], 3),
        (lambda: vision.RandomHorizontalFlip(0.3), [0.3], 3),
    ],
)
def test_what_is_drawn_decides_which_transforms_are_made(make: Any, draws: Any, expected: Any) -> None:
    generator: Any = Drawn(*draws)
    with ds.config.iteration(generator, 0):
        output = make()(np.array(3))
    assert np.asarray(output).tolist() == (list(expected) if isinstance(expected, tuple) else expected)
    assert next(generator.draws, None) is None


@pytest.mark.parametrize("make", [lambda: transforms.RandomApply([max], 0), lambda: vision.RandomVerticalFlip(0)])
def test_several_values_that_chance_leaves_alone_stay_several(make: Any) -> None:
    assert make()(np.array(1), np.array(2)) == (1, 2)


def test_several_images_are_flipped_alike() -> None:
    generator: Any = Drawn(0.1, 0.9)
    with ds.config.iteration(generator, 0):
        flipped, left = (vision.RandomVerticalFlip(0.5)(GRAY, COLORS) for _ in range(2))
    for output, expected in zip([*flipped, *left], [np.flipud(GRAY), np.flipud(COLORS), GRAY, COLORS], strict=True):
        same(output, expected)


@pytest.mark.parametrize(
    ("make", "value", "text"),
    [
        (lambda: transforms.Fill("x"), [1], "'x' cannot be put in the place of values of int64"),
        (lambda: transforms.Fill(1), ["x"], "1 cannot be put in the place of values of <U1"),
        (lambda: transforms.PadEnd([3, 1]), [1], r"value cannot be padded to one shape: there are \[1, 2\] axes"),
        (lambda: transforms.PadEnd([3], "x"), [1], "the value is of int64 and cannot be padded with 'x'"),
        (lambda: transforms.Slice(0, 0), [1, 2], r"there are 2 'slices', but the shape is \(2,\)"),
        (lambda: transforms.Slice(2), [1, 2], r"places must be in \[-2, 2\), but got 2"),
        (lambda: vision.Crop((1, 0), 1), [[1]], r"the part does not lie in the image \(1, 1\)"),
        (lambda: vision.Crop((0, 1), 1), [[1]], r"the part does not lie in the image \(1, 1\)"),
    ],
)
def test_what_does_not_fit_a_transform_is_refused(make: Any, value: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        make()(np.array(value))


@pytest.mark.parametrize("padding", [(1, 2, 3), -1, (0, -1)])
def test_a_padding_is_one_two_or_four_numbers(padding: Any) -> None:
    with pytest.raises(ValueError, match="'padding' must be 1, 2 or 4 numbers that are not negative"):
        vision.Pad(padding)


def test_fill_takes_a_number_or_text() -> None:
    with pytest.raises(TypeError, match="'fill_value' must be a number or text, but got list"):
        transforms.Fill([1])  # type: ignore[arg-type]
