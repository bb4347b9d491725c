"""Sizes that no memory holds: one error that names the argument, before anything is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.numpy as mnp
from hookscope.engine import Tensor, nn, ops

MANY = 10**12
LINES, IMAGES, VOLUMES = (Tensor(np.ones((1, 2, *[5] * axes), np.float32)) for axes in (1, 2, 3))
VECTOR = Tensor([1.0, 2.0, 4.0])
SIZE = Tensor(np.array([2**30, 2**30], np.int32))
PAIR = Tensor([1.0, 1.0])
BOX = Tensor([[0.0, 0.0, 1.0, 1.0]])
FIRST = Tensor(np.array([0], np.int32))

# The call, and the function and argument that the error names.
ELEMENTS: list[tuple[Callable[[], Any], str, str]] = [
    (lambda: ops.adaptive_avg_pool1d(LINES, MANY), "adaptive_avg_pool1d", "output_size"),
    (lambda: ops.adaptive_avg_pool2d(IMAGES, (10**7, 10**7)), "adaptive_avg_pool2d", "output_size"),
    (lambda: ops.adaptive_avg_pool3d(VOLUMES, (None, 10**5, 10**5)), "adaptive_avg_pool3d", "output_size"),
    (lambda: nn.AdaptiveMaxPool1d(MANY)(LINES), "adaptive_max_pool1d", "output_size"),
    (lambda: ops.adaptive_max_pool2d(IMAGES, (10**9, 1)), "adaptive_max_pool2d", "output_size"),
    (lambda: ops.AdaptiveMaxPool3D()(VOLUMES, (10**5, 10**5, 1)), "adaptive_max_pool3d", "output_size"),
    (lambda: ops.interpolate(IMAGES, size=(10**7, 10**7)), "interpolate", "size"),
    (lambda: ops.interpolate(LINES, scale_factor=1e12, mode="linear"), "interpolate", "scale_factor"),
    (lambda: nn.Upsample(scale_factor=1e9)(LINES), "interpolate", "scale_factor"),
    (lambda: ops.operations.ResizeBilinearV2()(IMAGES, (10**9, 10**9)), "ResizeBilinearV2", "size"),
    (lambda: ops.ResizeNearestNeighbor((10**9, 1))(IMAGES), "ResizeNearestNeighbor", "size"),
    (lambda: ops.operations.ResizeArea()(IMAGES, SIZE), "ResizeArea", "size"),
    (lambda: ops.operations.ScaleAndTranslate()(IMAGES, SIZE, PAIR, PAIR), "ScaleAndTranslate", "size"),
    (lambda: ops.affine_grid(Tensor(np.ones((1, 2, 3), np.float32)), (1, 1, 10**7, 10**7)), "affine_grid", "size"),
    (lambda: ops.crop_and_resize(IMAGES, BOX, FIRST, (10**9, 10**9)), "crop_and_resize", "crop_size"),
    (lambda: ops.fft(VECTOR, MANY), "fft", "n"),
    (lambda: ops.fft2(IMAGES, (10**7, 10**7)), "fftn", "s"),
    (lambda: ops.irfftn(IMAGES, (10**7, 10**7)), "irfftn", "s"),
    (lambda: ops.histc(VECTOR, MANY), "histc", "bins"),
    (lambda: ops.Histogram(2**40)(VECTOR), "histc", "bins"),
    (lambda: mnp.histogram(VECTOR, MANY), "numpy.histogram", "bins"),
    (lambda: mnp.histogram_bin_edges(VECTOR, 2**40), "numpy.histogram_bin_edges", "bins"),
    (lambda: mnp.histogramdd([VECTOR] * 3, 1000), "numpy.histogramdd", "bins"),
    (lambda: nn.cosine_decay_lr(0.0, 1.0, MANY, 1, 1), "cosine_decay_lr", "total_step"),
    (lambda: nn.warmup_lr(0.1, MANY, 2, 1), "warmup_lr", "total_step"),
    (lambda: nn.piecewise_constant_lr([1, MANY], [0.1, 0.2]), "piecewise_constant_lr", "milestone"),
]


@pytest.mark.parametrize(("call", "name", "argument"), ELEMENTS)
def test_a_result_that_no_memory_holds_is_refused_before(call: Callable[[], Any], name: str, argument: str) -> None:
    text = rf"^For '{name}', '{argument}' must ask for at most 268435456 elements, but got [\d(), ]+$"
    with pytest.raises(ValueError, match=text):
        call()


COUNTS: list[tuple[Callable[[], Any], str]] = [
    (lambda: ops.tensor_split(VECTOR, MANY), f"'tensor_split', 'indices_or_sections' must be at most {2**20}"),
    (lambda: mnp.array_split(VECTOR, MANY), f"'tensor_split', 'indices_or_sections' must be at most {2**20}"),
    (lambda: mnp.polyint(VECTOR, 10**9), "'numpy.polyint', 'm' must be at most 4096"),
    (lambda: nn.LSTM(2, 2, num_layers=10**9), "'LSTM', 'num_layers' must be at most 65536"),
    (lambda: nn.GRU(2, 2, 10**9), "'GRU', 'num_layers' must be at most 65536"),
    (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(2, 1), MANY),
        "'TransformerEncoder', 'num_layers' must be at most 65536",
    ),
    (lambda: ms.set_seed(2**64), f"'set_seed', 'seed' must be at most {2**64 - 1}"),
    (lambda: ms.manual_seed(10**30), f"'manual_seed', 'seed' must be at most {2**64 - 1}"),
    (lambda: ms.manual_seed(-1), "'manual_seed', 'seed' must not be negative"),
    (lambda: ms.Generator().manual_seed(2**64), f"'Generator.manual_seed', 'seed' must be at most {2**64 - 1}"),
    (lambda: ops.randint(0, 10**30, (2,)), rf"'randint', 'high' must be in \[{-(2**63)}, {2**63}\] for int64"),
    (lambda: ops.randint(-(10**30), 1, (2,)), rf"'randint', 'low' must be in \[{-(2**63)}, {2**63 - 1}\] for int64"),
    (lambda: mnp.randint(0, 2**40, (2,)), rf"'randint', 'high' must be in \[{-(2**31)}, {2**31}\] for int32"),
    (
        lambda: Tensor([1, 2]).random_(0, 10**30),
        rf"'Tensor.random_', 'to' must be in \[{-(2**63)}, {2**63}\] for int64",
    ),
    (lambda: Tensor([1], ms.int8).random_(-129, 0), r"'Tensor.random_', 'from_' must be in \[-128, 127\] for int8"),
    (
        lambda: ops.interpolate(LINES, scale_factor=float("inf"), mode="linear"),
        "'interpolate', 'scale_factor' must be positive numbers",
    ),
]


@pytest.mark.parametrize(("call", "text"), COUNTS)
def test_a_count_beyond_what_can_be_made_is_refused(call: Callable[[], Any], text: str) -> None:
    seed = ms.get_seed()
    with pytest.raises(ValueError, match=f"^For {text}, but got [^.]+$"):
        call()
    assert ms.get_seed() == seed


def test_limits_at_the_ends_of_a_dtype_are_taken() -> None:
    assert ops.randint(-(2**63), 2**63, (2,)).dtype == ms.int64
    assert int(ops.randint(2**31 - 1, 2**31, (1,), dtype=ms.int32)[0]) == 2**31 - 1
    generator = ms.Generator().manual_seed(2**64 - 1)
    assert generator.initial_seed() == 2**64 - 1


def test_differences_taken_more_often_than_there_are_elements_are_none() -> None:
    assert mnp.diff(VECTOR, n=MANY).shape == (0,) == ops.diff(VECTOR, n=3).shape
    assert ops.diff(VECTOR, n=2).tolist() == [1.0]
