"""Pooling, resizing, padding and transposed convolution, against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, nn, ops

IMAGE = Tensor(np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4))
SMALL = Tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))


@pytest.mark.parametrize(
    ("layer", "want"),
    [
        (lambda: nn.AvgPool2d(3, 2, "same"), [[6, 7.5], [12, 13.5]]),
        (lambda: nn.AvgPool2d(3, 2, "pad", 1), [[1.5555556, 3.3333333], [6.3333335, 11]]),
        (lambda: nn.AvgPool2d(3, 2, "pad", 1, count_include_pad=False), [[3.5, 5], [9.5, 11]]),
        (
            lambda: nn.AvgPool2d(3, 2, "pad", 1, ceil_mode=True),
            [[1.5555556, 3.3333333, 2], [6.3333335, 11, 6], [4.5, 7.5, 4]],
        ),
        (lambda: nn.AvgPool2d(3, 2, "valid", ceil_mode=True), [[6, 7.5], [12, 13.5]]),
        (lambda: nn.MaxPool2d(3, 2, "same"), [[11, 12], [15, 16]]),
        (lambda: nn.MaxPool2d(3, 2, "pad", 1), [[6, 8], [14, 16]]),
        (lambda: nn.AdaptiveAvgPool2d((3, 2)), [[3.5, 5.5], [7.5, 9.5], [11.5, 13.5]]),
        (lambda: nn.AdaptiveMaxPool2d(3), [[6, 7, 8], [10, 11, 12], [14, 15, 16]]),
    ],
)
def test_pooling_is_that_of_mindspore(layer: Any, want: list[list[float]]) -> None:
    np.testing.assert_allclose(layer()(IMAGE).asnumpy()[0, 0], want, rtol=1e-6)


def test_the_places_of_the_largest_undo_pooling() -> None:
    best, indices = nn.MaxPool2d(3, 2, "pad", 1, return_indices=True)(IMAGE)
    assert indices.tolist() == [[[[5, 7], [13, 15]]]]
    back = nn.MaxUnpool2d(2, 2)(best, indices).asnumpy()
    assert [back.ravel()[p] for p in (5, 7, 13, 15)] == [6, 8, 14, 16]
    assert np.count_nonzero(back) == 4


@pytest.mark.parametrize(
    ("mode", "align", "first_row"),
    [
        ("nearest", None, [0, 0, 1, 1]),
        ("bilinear", None, [0, 0.25, 0.75, 1]),
        ("bilinear", True, [0, 1 / 3, 2 / 3, 1]),
        ("bicubic", None, [-0.220013, 0.075365, 0.661079, 0.956458]),
        ("area", None, [0, 0, 1, 1]),
    ],
)
def test_resizing_is_that_of_mindspore(mode: str, align: bool | None, first_row: list[float]) -> None:
    result = ops.interpolate(SMALL, size=(3, 4), mode=mode, align_corners=align)
    # MindSpore reads the cubic weights from a table of 1024 entries.
    np.testing.assert_allclose(result.asnumpy()[0, 0, 0], first_row, atol=3e-4 if mode == "bicubic" else 2e-6)


@pytest.mark.parametrize(
    ("mode", "padding", "align", "want"),
    [
        ("bilinear", "zeros", False, [0, 2.2, 0.75, 0]),
        ("bilinear", "reflection", True, [0, 1.85, 3, 2.45]),
        ("nearest", "border", False, [0, 3, 3, 3]),
    ],
)
def test_sampling_on_a_grid_is_that_of_mindspore(mode: str, padding: str, align: bool, want: list[float]) -> None:
    grid = Tensor(np.array([[[[-1, -1], [0.3, 0.2]], [[1, 1], [1.5, 0.7]]]], np.float32))
    result = ops.grid_sample(SMALL, grid, mode, padding, align)
    np.testing.assert_allclose(result.asnumpy().ravel(), want, atol=1e-6)


@pytest.mark.parametrize("layer", [nn.Conv1dTranspose, nn.Conv2dTranspose, nn.Conv3dTranspose])
@pytest.mark.parametrize(
    ("mode", "stride", "kernel", "length"),
    [("same", 2, 3, 10), ("same", 3, 2, 15), ("valid", 2, 4, 12), ("valid", 3, 2, 15), ("pad", 3, 2, 14)],
)
def test_a_transposed_convolution_has_the_lengths_of_mindspore(
    layer: Any, mode: str, stride: int, kernel: int, length: int
) -> None:
    axes = int(layer.__name__[4])
    x = Tensor(np.zeros((1, 2, *(5,) * axes), np.float32))
    assert layer(2, 4, kernel, stride, mode)(x).shape == (1, 4, *(length,) * axes)


@pytest.mark.parametrize(
    ("layer", "want"),
    [
        (lambda: nn.ReflectionPad2d((1, 1, 1, 0)), [[3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]]),
        (lambda: nn.Pad(((0, 0), (0, 0), (1, 1), (0, 1)), "SYMMETRIC"), [[0, 1, 1], [0, 1, 1], [2, 3, 3], [2, 3, 3]]),
        (lambda: nn.ConstantPad1d((-1, 2), 5.0), [[1, 5, 5], [3, 5, 5]]),
        (lambda: nn.ReplicationPad2d((0, 1, 0, 1)), [[0, 1, 1], [2, 3, 3], [2, 3, 3]]),
    ],
)
def test_padding_is_that_of_mindspore(layer: Any, want: list[list[float]]) -> None:
    assert layer()(SMALL).asnumpy()[0, 0].tolist() == want
