"""Checks of the convolution kernels in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import BFLOAT16, DTYPES, close, guarded, normal, run, suits, wide

from hookscope.engine.cpu.neural import windows
from hookscope.triton_kernels import convolution
from hookscope.triton_kernels.launch import plans

# Shapes of input and kernels, stride, pads, dilation, groups.
CASES = {
    "few channels": ((2, 3, 7, 6), (5, 3, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    "padding of each side": ((2, 4, 8, 7), (3, 4, 2, 3), (2, 3), (1, 0, 2, 1), (3, 2), 1),
    "channels that fill no tile": ((1, 24, 5, 6), (18, 24, 3, 2), (2, 2), (1, 1, 0, 1), (1, 1), 1),
    "whole tiles": ((1, 32, 4, 4), (16, 32, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1),
    "single pixels": ((2, 40, 3, 3), (17, 40, 1, 1), (2, 2), (0, 0, 0, 0), (1, 1), 1),
    "stride and dilation have a divisor": ((1, 2, 11, 9), (3, 2, 3, 3), (4, 2), (2, 2, 2, 2), (2, 4), 1),
    "strides beyond the kernel": ((1, 2, 9, 8), (3, 2, 2, 1), (3, 4), (0, 0, 1, 0), (1, 1), 1),
    "groups": ((1, 32, 5, 4), (16, 16, 3, 2), (2, 1), (0, 1, 1, 0), (1, 2), 2),
    "thin groups": ((2, 6, 6, 5), (12, 2, 3, 3), (1, 2), (1, 1, 1, 1), (2, 1), 3),
    "depthwise": ((2, 8, 6, 5), (8, 1, 3, 3), (2, 2), (1, 1, 1, 1), (1, 1), 8),
}
HALVES = ("few channels", "channels that fill no tile", "depthwise")


@pytest.fixture(autouse=True)
def poisoned_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill new memory with NaN, so that elements that a kernel omits are noticed."""
    empty = np.empty

    def poisoned(*args: Any, **kwargs: Any) -> Any:
        output = empty(*args, **kwargs)
        output.view(np.uint8).fill(255)
        return output

    monkeypatch.setattr(np, "empty", poisoned)


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Make plans anew for a test that sets numbers that plans depend on."""
    monkeypatch.setattr(plans, "_plans", {})
    return monkeypatch


def channels_last(x: Any) -> Any:
    return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)


def lies_last(x: Any) -> bool:
    return bool(x.transpose(0, 2, 3, 1).flags.c_contiguous)


def agree(actual: Any, want: Any, dtype: Any) -> None:
    """Assert equality up to rounding of the largest sum."""
    assert actual.shape == want.shape and actual.dtype == dtype
    largest = np.abs(want[np.isfinite(want)]).max()
    close((wide(actual) / largest).astype(dtype), want / largest, dtype)


def check(case: str, dtype: Any, lay: Any) -> None:
    shape, kernels, stride, pads, dilation, group = CASES[case]
    x, weight = lay(normal(*shape, dtype=dtype)), normal(*kernels, dtype=dtype, seed=1)
    want = windows.conv(*wide(x, weight), stride, pads, dilation, group)
    y = run("conv2d", x, weight, stride, pads, dilation, group)
    assert lies_last(y)
    agree(y, want, dtype)
    g = lay(normal(*want.shape, dtype=dtype, seed=2))
    want = windows.conv_input_grad(*wide(g, weight), shape, stride, pads, dilation, group)
    dx = run("conv2d_input_grad", g, weight, shape, stride, pads, dilation, group)
    assert lies_last(dx)
    agree(dx, want, dtype)
    want = windows.conv_weight_grad(*wide(g, x), kernels[2:], stride, pads, dilation, group)
    dw = run("conv2d_weight_grad", g, x, kernels[2:], stride, pads, dilation, group)
    assert dw.flags.c_contiguous
    agree(dw, want, dtype)


@pytest.mark.parametrize("case", CASES)
def test_convolution_and_both_gradients(case: str) -> None:
    check(case, np.dtype(np.float32), channels_last)


@pytest.mark.parametrize("case", ["padding of each side", "channels that fill no tile", "thin groups"])
def test_images_in_c_order(case: str) -> None:
    check(case, np.dtype(np.float32), np.ascontiguousarray)


@pytest.mark.parametrize("dtype", DTYPES[1:], ids=str)
@pytest.mark.parametrize("case", HALVES)
def test_half_precision_is_added_in_float32(case: str, dtype: Any) -> None:
    check(case, dtype, channels_last)


@pytest.mark.parametrize(("case", "dtype"), [*zip(("few channels", "groups", "thin groups"), DTYPES, strict=True)])
def test_a_bias_is_added_before_rounding(case: str, dtype: Any) -> None:
    shape, kernels, *how = CASES[case]
    x, weight = normal(*shape, dtype=dtype), normal(*kernels, dtype=dtype, seed=1)
    bias = normal(2 * kernels[0], dtype=dtype, seed=2)[::2]
    want = windows.conv(*wide(x, weight), *how) + wide(bias)[:, None, None]
    agree(run("conv2d_bias", x, weight, bias, *how), want, dtype)


def test_kernels_with_their_channels_last() -> None:
    shape, kernels, stride, pads, dilation, group = CASES["channels that fill no tile"]
    x, weight = channels_last(normal(*shape)), channels_last(normal(*kernels, seed=1))
    want = windows.conv(*wide(x, weight), stride, pads, dilation, group)
    agree(run("conv2d", x, weight, stride, pads, dilation, group), want, np.float32)
    want = windows.conv_input_grad(*wide(want, weight), shape, stride, pads, dilation, group)
    g = channels_last(windows.conv(x, weight, stride, pads, dilation, group))
    agree(run("conv2d_input_grad", g, weight, shape, stride, pads, dilation, group), want, np.float32)


def test_kernels_that_many_rows_read_are_laid_out_once(anew: pytest.MonkeyPatch) -> None:
    shape, kernels, *how = (2, 8, 4, 4), (9, 8, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), 1
    x, weight = normal(*shape, dtype=np.float16), normal(*kernels, dtype=np.float16, seed=1)
    anew.setattr(convolution, "_READ_OFTEN", 0)
    agree(run("conv2d", x, weight, *how), windows.conv(*wide(x, weight), *how), np.float16)
    names = [step.kernel.__name__ for step in next(iter(plans._plans.values())).steps]
    assert names == ["copy_kernel", "product_kernel"]


@pytest.mark.parametrize("group", [1, 6])
def test_a_gradient_by_the_weight_in_parts(group: int, anew: pytest.MonkeyPatch) -> None:
    anew.setattr(convolution, "_ROWS_OF_A_PART", 64)
    anew.setattr(convolution, "_PROGRAMS", 12)
    g, x = channels_last(normal(3, 12, 9, 8)), channels_last(normal(3, 6, 9, 8, seed=1))
    how = (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), group
    want = windows.conv_weight_grad(*wide(g, x), *how)
    agree(run("conv2d_weight_grad", g, x, *how), want, np.float32)
    if group == 1:
        names = [step.kernel.__name__ for step in next(iter(plans._plans.values())).steps]
        assert names == ["weight_kernel", "add_parts_kernel"]


def test_sliced_and_repeated_operands() -> None:
    x = normal(4, 6, 9, 8)[::2, ::2, 1:, ::-1]
    weight = normal(5, 3, 3, 3, seed=1)[:, ::-1]
    how = (1, 1), (0, 1, 1, 0), (1, 1), 1
    want = windows.conv(*wide(x, weight), *how)
    agree(run("conv2d", x, weight, *how), want, np.float32)
    g = np.broadcast_to(normal(1, 5, 1, 1, seed=2), want.shape)
    want = windows.conv_input_grad(*wide(g, weight), x.shape, *how)
    agree(run("conv2d_input_grad", g, weight, x.shape, *how), want, np.float32)
    want = windows.conv_weight_grad(*wide(g, x), (3, 3), *how)
    agree(run("conv2d_weight_grad", g, x, (3, 3), *how), want, np.float32)


def test_what_a_transposed_convolution_adds_at_the_ends() -> None:
    g, weight = normal(1, 4, 3, 4), normal(4, 5, 3, 3, seed=1)
    how = (2, 2), (1, 1, 1, 1), (1, 1), 1
    shape = (1, 5, 6, 8)
    want = windows.conv_input_grad(*wide(g, weight), shape, *how)
    agree(run("conv2d_input_grad", g, weight, shape, *how), want, np.float32)
    x = normal(*shape, seed=2)
    want = windows.conv_weight_grad(*wide(g, x), (3, 3), *how)
    agree(run("conv2d_weight_grad", g, x, (3, 3), *how), want, np.float32)


@pytest.mark.parametrize("dtype", [np.dtype(np.float32), BFLOAT16], ids=str)
@pytest.mark.parametrize("group", [1, 4])
def test_nan_and_infinity_come_to_the_windows_that_they_lie_in(group: int, dtype: Any) -> None:
    x, weight = normal(2, 4, 6, 6, dtype=dtype), normal(4, 4 // group, 3, 3, dtype=dtype, seed=1)
    x[0, 1, 2, 3], x[1, 2, 0, 5], x[1, 3, 5, 0] = np.nan, np.inf, -np.inf
    how = (1, 1), (1, 1, 1, 1), (1, 1), group
    want = windows.conv(*wide(x, weight), *how)
    assert np.isnan(want).any() and np.isinf(want).any() and np.isfinite(want).any()
    agree(run("conv2d", x, weight, *how), want, dtype)
    want = windows.conv_input_grad(*wide(x, weight), x.shape, *how)
    agree(run("conv2d_input_grad", x, weight, x.shape, *how), want, dtype)


@pytest.mark.parametrize("at_start", [False, True])
@pytest.mark.parametrize("case", ["few channels", "padding of each side", "depthwise"])
def test_nothing_is_read_beside_the_operands(case: str, at_start: bool) -> None:
    shape, kernels, *how = CASES[case]
    x, weight = guarded(channels_last(normal(*shape)), at_start), guarded(normal(*kernels, seed=1), at_start)
    g = guarded(run("conv2d", x, weight, *how), at_start)
    run("conv2d_input_grad", g, weight, shape, *how)
    run("conv2d_weight_grad", g, x, kernels[2:], *how)


def test_what_does_not_qualify() -> None:
    x, weight = normal(2, 4, 6, 6), normal(3, 4, 3, 3)
    how = (1, 1), (0, 0, 0, 0), (1, 1), 1
    assert suits("conv2d", x, weight, *how)
    assert not suits("conv2d", x, weight.astype(np.float16), *how), "two dtypes"
    assert not suits("conv2d", x.astype(np.float64), weight.astype(np.float64), *how), "float64"
    assert not suits("conv2d", x, normal(3, 5, 3, 3), *how), "channels that differ"
    assert not suits("conv2d", x, normal(3, 4, 7, 3), *how), "no window that fits"
    assert not suits("conv2d", x[0], weight, *how), "three axes"
    assert not suits("conv2d", x[:0], weight, *how), "no sample"
    assert not suits("conv2d_bias", x, weight, normal(4), *how), "a bias of another length"
    assert not suits("conv2d_input_grad", normal(2, 5, 4, 4), weight, x.shape, *how), "kernels that differ"
    assert not suits("conv2d_weight_grad", normal(1, 3, 4, 4), x, (3, 3), *how), "samples that differ"
