"""Checks of the pooling kernels in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import BFLOAT16, DTYPES, close, guarded, normal, run, suits, wide

from hookscope.engine.cpu.neural import windows
from hookscope.triton_kernels import pooling

# Shape of the input, lengths of the window, stride, pads, dilation.
CASES = {
    "windows that overlap": ((2, 3, 7, 6), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    "windows apart": ((1, 8, 6, 8), (2, 2), (2, 2), (0, 0, 0, 0), (1, 1)),
    "dilation and padding of each side": ((2, 8, 6, 7), (2, 3), (1, 2), (0, 1, 1, 0), (2, 1)),
    "strides beyond the window": ((1, 4, 7, 9), (1, 2), (3, 4), (0, 0, 1, 2), (1, 1)),
    "the whole image": ((3, 5, 4, 3), (4, 3), (4, 3), (0, 0, 0, 0), (1, 1)),
    "three axes": ((1, 2, 5, 4, 4), (2, 3, 2), (2, 1, 1), (1, 0, 1, 1, 0, 1), (1, 1, 2)),
}


def channels_last(x: Any) -> Any:
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)


def equal(actual: Any, want: Any, dtype: Any) -> None:
    """Assert the CPU's bits; the interpreter truncates to bfloat16 instead of rounding."""
    assert actual.dtype == dtype
    if dtype == BFLOAT16:
        close(actual, np.asarray(want, np.float64), dtype)
    else:
        np.testing.assert_array_equal(actual, want)


@pytest.mark.parametrize("lay", [np.ascontiguousarray, channels_last], ids=["C order", "channels last"])
@pytest.mark.parametrize("case", CASES)
def test_pooling_and_its_gradients(case: str, lay: Any) -> None:
    check(case, np.dtype(np.float32), lay)


@pytest.mark.parametrize("dtype", DTYPES[1:], ids=str)
@pytest.mark.parametrize("case", ["windows that overlap", "the whole image"])
def test_half_precision_is_added_in_float32(case: str, dtype: Any) -> None:
    check(case, dtype, channels_last)


def check(case: str, dtype: Any, lay: Any) -> None:
    shape, kernel, stride, pads, dilation = CASES[case]
    axes = len(kernel)
    x = lay(normal(*shape, dtype=dtype))
    x.reshape(-1)[5::11] = x.reshape(-1)[4::11][: x.reshape(-1)[5::11].size]  # some are equal
    best, indices = run(f"max_pool{axes}d", x, kernel, stride, pads, dilation)
    want_best, want_places = windows.max_pool(x, kernel, stride, pads, dilation)
    equal(best, want_best, dtype)
    equal(indices, want_places, want_places.dtype)
    pixels = np.prod(best.shape[2:])
    assert lay is np.ascontiguousarray or pixels == 1 or best.strides[1] == best.itemsize, (
        "it has the input's memory order"
    )
    g = lay(normal(*best.shape, dtype=dtype, seed=1))
    result = run(f"max_pool{axes}d_grad", g, indices, shape, kernel, stride, pads, dilation)
    equal(result, windows.max_pool_grad(g, indices, shape, kernel, stride, pads, dilation), dtype)
    result = run(f"max_pool{axes}d_pick", x, indices, kernel, stride, pads, dilation)
    equal(result, windows.max_pool_pick(x, indices, kernel, stride, pads, dilation), dtype)
    mean = run(f"avg_pool{axes}d", x, kernel, stride, pads)
    equal(mean, windows.avg_pool(x, kernel, stride, pads), dtype)
    g = lay(normal(*mean.shape, dtype=dtype, seed=2))
    result = run(f"avg_pool{axes}d_grad", g, shape, kernel, stride, pads)
    equal(result, windows.avg_pool_grad(g, shape, kernel, stride, pads), dtype)


def test_the_first_nan_of_a_window_is_its_largest() -> None:
    x = normal(1, 2, 6, 6)
    x[0, 0, 1, 1], x[0, 0, 2, 0], x[0, 0, 4, 4], x[0, 1], x[0, 1, 0, 3] = np.nan, np.nan, np.inf, -np.inf, np.nan
    how = (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)
    best, indices = run("max_pool2d", x, *how)
    with np.errstate(invalid="ignore"):
        want = windows.max_pool(x, *how)
    assert np.isnan(best).any() and np.isinf(best).any()
    equal(best, want[0], np.float32)
    equal(indices, want[1], np.uint8)


def test_means_are_those_of_float64() -> None:
    x = normal(2, 3, 9, 9, dtype=np.float16)
    x[0, 0, 0, 0], x[1, 1, 4, 4] = np.nan, np.inf
    how = (3, 2), (2, 2), (1, 0, 0, 1)
    close(run("avg_pool2d", x, *how), windows.avg_pool(wide(x), *how), np.float16)


def test_places_of_large_windows_are_numbered_in_four_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "_MOST_SMALL", 3)
    x = normal(1, 3, 5, 4)
    how = (2, 2), (1, 1), (0, 0, 0, 0), (1, 1)
    best, indices = run("max_pool2d", x, *how)
    want = windows.max_pool(x, *how)
    equal(best, want[0], np.float32)
    equal(indices, want[1].astype(np.int32), np.int32)
    want_grad = windows.max_pool_grad(best, indices, x.shape, *how)
    equal(run("max_pool2d_grad", best, indices, x.shape, *how), want_grad, np.float32)


def test_operands_that_lie_in_different_orders() -> None:
    how = (2, 2), (2, 2), (0, 0, 0, 0), (1, 1)
    x = channels_last(normal(2, 4, 6, 6))
    _, indices = run("max_pool2d", x, *how)
    g = normal(2, 4, 3, 3, seed=1)[:, :, ::-1]
    result = run("max_pool2d_grad", g, indices, x.shape, *how)
    assert result.strides[1] == 4, "it has the memory order of the forward pass's input"
    equal(result, windows.max_pool_grad(g, indices, x.shape, *how), np.float32)
    g = np.broadcast_to(np.float32(3), g.shape)
    equal(
        run("max_pool2d_grad", g, indices, x.shape, *how), windows.max_pool_grad(g, indices, x.shape, *how), np.float32
    )
    x = normal(4, 8, 12, 6, seed=2)[::2, ::2, ::-2]
    equal(run("max_pool2d", x, *how)[0], windows.max_pool(x, *how)[0], np.float32)


def test_a_place_in_the_padding_picks_zero() -> None:
    x = normal(1, 2, 3, 3, 3) + 9
    how = (2, 2, 2), (1, 1, 1), (1, 1, 1, 1, 1, 1), (1, 1, 1)
    for index in (0, 7):
        indices = np.full((1, 2, 4, 4, 4), index, np.uint8)
        equal(run("max_pool3d_pick", x, indices, *how), windows.max_pool_pick(x, indices, *how), np.float32)


@pytest.mark.parametrize("at_start", [False, True])
def test_nothing_is_read_beside_the_operands(at_start: bool) -> None:
    shape, *how = CASES["windows that overlap"]
    x = guarded(channels_last(normal(*shape)), at_start)
    best, indices = (guarded(y, at_start) for y in run("max_pool2d", x, *how))
    run("max_pool2d_grad", best, indices, shape, *how)
    run("max_pool2d_pick", x, indices, *how)
    run("avg_pool2d_grad", guarded(run("avg_pool2d", x, *how[:3]), at_start), shape, *how[:3])


def test_what_does_not_qualify() -> None:
    x = normal(1, 2, 4, 4)
    how = (2, 2), (2, 2), (0, 0, 0, 0)
    assert suits("avg_pool2d", x, *how)
    assert not suits("avg_pool2d", x.astype(np.float64), *how), "float64"
    assert not suits("max_pool2d", x.astype(int), *how, (1, 1)), "integers"
    assert not suits("max_pool2d", x[:0], *how, (1, 1)), "no sample"
    assert not suits("max_pool2d", x[:, :, :1], *how, (1, 1)), "no window that fits"
    indices = np.zeros((1, 2, 2, 2), np.uint8)
    assert suits("max_pool2d_grad", x[:, :, :2, :2], indices, x.shape, *how, (1, 1))
    assert not suits("max_pool2d_grad", x[:, :, :2, :1], indices, x.shape, *how, (1, 1)), "indices of another shape"
    assert not suits("max_pool2d_pick", x, indices.astype(np.float32), *how, (1, 1)), "indices that are not integers"
