"""Compiled convolution: the definition in float64, for any number of threads and order in memory the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hookscope.engine.cpu import threads
from hookscope.engine.cpu.neural import convolution, windows

Array = np.ndarray[Any, Any]
# x, weight, stride, pads, dilation, group
CASES: dict[str, tuple[tuple[int, ...], ...]] = {
    "uneven": ((2, 4, 5, 4), (6, 2, 3, 2), (2, 1), (1, 0, 2, 1), (1, 1), (2,)),
    "dilated": ((3, 4, 7, 6), (4, 4, 3, 2), (1, 2), (0, 2, 1, 0), (2, 1), (1,)),
    "one sample": ((1, 3, 9, 8), (5, 3, 3, 2), (3, 2), (1, 1, 1, 1), (1, 2), (1,)),
    "one axis": ((5, 3, 17), (4, 3, 5), (2,), (3, 1), (1,), (1,)),
    "three axes": ((2, 3, 5, 6, 7), (4, 3, 2, 3, 2), (1, 2, 1), (1, 0, 0, 1, 2, 2), (2, 1, 1), (1,)),
    "windows in the padding": ((2, 3, 3, 3), (2, 3, 2, 2), (1, 1), (4, 4, 4, 4), (1, 1), (1,)),
    "depthwise": ((19, 6, 6, 5), (6, 1, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), (6,)),
    "depthwise, apart": ((1, 6, 9, 8), (12, 1, 3, 3), (2, 2), (1, 1, 1, 1), (1, 1), (6,)),
    "groups": ((9, 24, 6, 7), (16, 12, 3, 3), (1, 1), (1, 0, 1, 1), (1, 1), (2,)),
    "one by one": ((3, 8, 5, 4), (12, 8, 1, 1), (1, 1), (0, 0, 0, 0), (1, 1), (1,)),
    "one by one, groups": ((3, 8, 5, 4), (8, 4, 1, 1), (1, 1), (0, 0, 0, 0), (1, 1), (2,)),
    "one by one, apart": ((3, 8, 5, 5), (8, 8, 1, 1), (2, 2), (0, 0, 0, 0), (1, 1), (1,)),
    "many channels": ((3, 150, 7, 9), (70, 150, 3, 3), (2, 2), (1, 1, 1, 1), (1, 1), (1,)),
    "many samples": ((1100, 2, 3, 3), (2, 2, 2, 2), (1, 1), (1, 0, 1, 0), (1, 1), (1,)),
}


def arrays(case: str) -> tuple[Array, Array, Array, dict[str, Any]]:
    """Return x, weight, the output's gradient, and the settings."""
    x_shape, w_shape, stride, pads, dilation, (group,) = CASES[case]
    random = np.random.default_rng(0)
    x, weight = (random.standard_normal(shape).astype(np.float32) for shape in (x_shape, w_shape))
    how: dict[str, Any] = {"stride": stride, "pads": pads, "dilation": dilation, "group": group}
    g = random.standard_normal(definition(x, weight, **how).shape).astype(np.float32)
    return x, weight, g, how


def taps(x: Array, kernel: tuple[int, ...], stride: Any, pads: Any, dilation: Any) -> list[tuple[Any, Any]]:
    """Return each place of a kernel, and where its elements are in the padded input."""
    lengths = [n + b + a for n, b, a in zip(x.shape[2:], pads[::2], pads[1::2], strict=True)]
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(lengths, kernel, stride, dilation, strict=True)]
    return [
        (
            index,
            (
                ...,
                *(
                    slice(p * d, p * d + (c - 1) * s + 1, s)
                    for p, c, s, d in zip(index, counts, stride, dilation, strict=True)
                ),
            ),
        )
        for index in np.ndindex(*kernel)
    ]


def padded(x: Array, pads: Any) -> Array:
    return np.pad(x.astype(np.float64), ((0, 0), (0, 0), *zip(pads[::2], pads[1::2], strict=True)))


def by_group(x: Array, group: int) -> Array:
    return x.reshape(x.shape[0], group, x.shape[1] // group, *x.shape[2:])


def definition(x: Array, weight: Array, stride: Any, pads: Any, dilation: Any, group: int) -> Array:
    full, total = padded(x, pads), 0.0
    kernels = weight.astype(np.float64).reshape(group, -1, *weight.shape[1:])
    for index, where in taps(x, weight.shape[2:], stride, pads, dilation):
        total = total + np.einsum("ngc...,gkc->ngk...", by_group(full[where], group), kernels[(..., *index)])
    result: Any = total
    return result.reshape(len(x), len(weight), *result.shape[3:])  # type: ignore[no-any-return]


def by_input(g: Array, weight: Array, x: Array, stride: Any, pads: Any, dilation: Any, group: int) -> Array:
    total = padded(np.zeros_like(x), pads)
    kernels = weight.astype(np.float64).reshape(group, -1, *weight.shape[1:])
    for index, where in taps(x, weight.shape[2:], stride, pads, dilation):
        part = np.einsum("ngk...,gkc->ngc...", by_group(g.astype(np.float64), group), kernels[(..., *index)])
        total[where] += part.reshape(len(x), x.shape[1], *g.shape[2:])
    inner = tuple(slice(b, b + n) for b, n in zip(pads[::2], x.shape[2:], strict=True))
    return total[(..., *inner)]


def by_weight(g: Array, weight: Array, x: Array, stride: Any, pads: Any, dilation: Any, group: int) -> Array:
    result, full = np.zeros(weight.shape), padded(x, pads)
    arrived = by_group(g.astype(np.float64), group).reshape(len(g), group, g.shape[1] // group, -1)
    for index, where in taps(x, weight.shape[2:], stride, pads, dilation):
        part = by_group(full[where], group).reshape(len(g), group, weight.shape[1], -1)
        result[(..., *index)] = np.einsum("ngkp,ngcp->gkc", arrived, part).reshape(weight.shape[:2])
    return result


def computed(x: Array, weight: Array, g: Array, how: dict[str, Any]) -> tuple[Array, Array, Array]:
    return (
        windows.conv(x, weight, **how),
        windows.conv_input_grad(g, weight, x.shape, **how),
        windows.conv_weight_grad(g, x, weight.shape[2:], **how),
    )


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(convolution, "_LEAST_WORK", 1)
    yield
    threads.set_number(None)


@pytest.mark.parametrize("columns", [1, 1 << 16])  # few windows and channels at a time, or all
@pytest.mark.parametrize("case", CASES)
def test_a_convolution_and_its_gradients_are_those_of_the_definition(
    case: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convolution, "_COLUMNS", columns)
    monkeypatch.setattr(convolution, "_LEAST_ROWS", 7)
    x, weight, g, how = arrays(case)
    target = (definition(x, weight, **how), by_input(g, weight, x, **how), by_weight(g, weight, x, **how))
    for result, expected in zip(computed(x, weight, g, how), target, strict=True):
        assert result.dtype == np.float32 and result.shape == expected.shape
        assert np.abs(result - expected).max() <= 2e-6 * np.abs(expected).max()


@pytest.mark.parametrize("case", CASES)
def test_threads_and_the_order_in_memory_change_no_bit(case: str) -> None:
    x, weight, g, how = arrays(case)
    threads.set_number(1)
    first = computed(x, weight, g, how)
    for count in (2, 4):
        threads.set_number(count)
        for left, right in zip(first, computed(x, weight, g, how), strict=True):
            np.testing.assert_array_equal(left, right)
    turned = [windows.samples_first(windows.samples_last(each)) for each in (x, g)]
    spread = np.repeat(weight, 2, axis=1)[:, ::2]
    for left, right in zip(first, computed(turned[0], spread, turned[1], how), strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("case", ["groups", "depthwise", "one axis", "one by one, apart"])
def test_what_is_not_finite_goes_where_the_kernel_takes_it(case: str, bad: float) -> None:
    x, weight, g, how = arrays(case)
    x, weight, g = np.ones_like(x), np.ones_like(weight), np.ones_like(g)
    middle = (0, 1, *(n // 2 for n in x.shape[2:]))
    marked = np.zeros_like(x)
    marked[middle], x[middle] = 1, bad
    result = windows.conv(x, weight, **how)
    np.testing.assert_array_equal(~np.isfinite(result), definition(marked, weight, **how) != 0)
    result = windows.conv_weight_grad(g, x, weight.shape[2:], **how)
    np.testing.assert_array_equal(~np.isfinite(result), by_weight(g, weight, marked, **how) != 0)
    middle = (0, 1, *(n // 2 for n in g.shape[2:]))
    marked = np.zeros_like(g)
    marked[middle], g[middle] = 1, bad
    result = windows.conv_input_grad(g, weight, x.shape, **how)
    np.testing.assert_array_equal(~np.isfinite(result), by_input(marked, weight, x, **how) != 0)


def test_the_way_is_chosen_by_shapes_and_dtypes_and_numpy_has_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(convolution, "kernels", lambda name: calls.append(name))
    x, weight, g, how = arrays("groups")
    for dtype in (np.float64, np.float16):
        computed(x.astype(dtype), weight.astype(dtype), g.astype(dtype), how)
    monkeypatch.setattr(convolution, "_LEAST_WORK", 1 << 60)
    computed(x, weight, g, how)
    monkeypatch.setattr(convolution, "_LEAST_WORK", 1)
    monkeypatch.setattr(convolution, "is_on", lambda: False)
    computed(x, weight, g, how)
    empty = np.zeros((0, *x.shape[1:]), np.float32)
    assert windows.conv(empty, weight, **how).shape == (0, *g.shape[1:])
    assert not calls
