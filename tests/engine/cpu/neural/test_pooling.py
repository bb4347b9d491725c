"""Compiled pooling: element by element the definition, NaN the largest, for any number of threads the same bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hookscope.engine.cpu import threads
from hookscope.engine.cpu.neural import pooling, windows

Array = np.ndarray[Any, Any]
# x, kernel, stride, pads, dilation
CASES: dict[str, tuple[tuple[int, ...], ...]] = {
    "halved": ((9, 3, 8, 8), (2, 2), (2, 2), (0, 0, 0, 0), (1, 1)),
    "overlapping": ((16, 2, 9, 8), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    "every place": ((1, 3, 9, 8), (3, 2), (1, 1), (1, 0, 1, 1), (1, 1)),
    "dilated": ((17, 2, 9, 8), (3, 2), (1, 2), (1, 0, 1, 1), (2, 1)),
    "one axis": ((8, 2, 11), (3,), (2,), (1, 1), (1,)),
    "three axes": ((3, 2, 5, 6, 4), (2, 3, 2), (2, 1, 1), (1, 0, 1, 1, 0, 0), (1, 2, 1)),
    "all at once": ((10, 4, 4, 5), (4, 5), (4, 5), (0, 0, 0, 0), (1, 1)),
    "windows in the padding": ((12, 2, 3, 3), (2, 2), (1, 1), (3, 3, 3, 3), (1, 1)),
    "one sample, apart": ((1, 2, 9, 8), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
}


def elements(shape: tuple[int, ...], kernel: Any, stride: Any, pads: Any, dilation: Any) -> tuple[Array, Array]:
    """Return the flat indices of the windows' elements in x, (*outputs, indices), and whether each is inside."""
    flat: Any = 0
    inside: Any = True
    count = len(kernel)
    outputs = [
        (n + pads[2 * i] + pads[2 * i + 1] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1
        for i, n in enumerate(shape[2:])
    ]
    for i, n in enumerate(shape[2:]):
        at = np.arange(outputs[i])[:, None] * stride[i] - pads[2 * i] + np.arange(kernel[i]) * dilation[i]
        own = [1] * (2 * count)
        own[i], own[count + i] = at.shape
        at = at.reshape(own)
        flat, inside = flat * n + np.clip(at, 0, n - 1), inside & (at >= 0) & (at < n)
    shape = (*outputs, math.prod(kernel))
    return np.broadcast_to(flat, (*outputs, *kernel)).reshape(shape), np.broadcast_to(
        inside, (*outputs, *kernel)
    ).reshape(shape)


def sample(case: str) -> tuple[Array, tuple[Any, ...], Array, Array]:
    """Return x with ties, NaNs and infinities, the settings of the pooling, and ``elements``."""
    shape, *how = CASES[case]
    random = np.random.default_rng(1)
    x = random.integers(-3, 4, shape).astype(np.float32)
    x.reshape(-1)[::13], x.reshape(-1)[::17] = np.nan, -np.inf
    return x, tuple(how), *elements(shape, *how)


def spread(g: Array, shape: tuple[int, ...], where: Array) -> Array:
    """Return numbers g (N, C, *outputs, places) added up at their flat places."""
    total = np.zeros((math.prod(shape[:2]), math.prod(shape[2:])))
    np.add.at(total, (slice(None), where.reshape(-1)), g.reshape(len(total), -1).astype(np.float64))
    return total.reshape(shape)


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(pooling, "_LEAST_WORK", 1)
    monkeypatch.setattr(pooling, "_LEAST_RUN", 1)
    yield
    threads.set_number(None)


@pytest.mark.parametrize("case", CASES)
def test_the_largest_and_its_gradient_and_what_it_picks(case: str) -> None:
    x, how, where, inside = sample(case)
    values = np.where(inside, x.reshape(*x.shape[:2], -1)[:, :, where], -np.inf)
    expected = np.argmax(values, axis=-1)  # the first, a NaN before all
    best, indices = windows.max_pool(x, *how)
    assert best.dtype == np.float32 and indices.dtype == np.uint8
    np.testing.assert_array_equal(best, np.take_along_axis(values, expected[..., None], -1)[..., 0])
    np.testing.assert_array_equal(indices, expected)
    g = np.random.default_rng(2).standard_normal(best.shape).astype(np.float32)
    chosen = (np.arange(values.shape[-1]) == indices[..., None]) & inside
    np.testing.assert_allclose(
        windows.max_pool_grad(g, indices, x.shape, *how), spread(g[..., None] * chosen, x.shape, where), atol=2e-6
    )
    x = np.random.default_rng(3).standard_normal(x.shape).astype(np.float32)
    picked = np.where(chosen, x.reshape(*x.shape[:2], -1)[:, :, where], 0).sum(axis=-1)
    np.testing.assert_array_equal(windows.max_pool_pick(x, indices, *how), picked)


@pytest.mark.parametrize("case", [case for case, settings in CASES.items() if set(settings[4]) == {1}])
def test_the_mean_and_its_gradient(case: str) -> None:
    _, how, where, inside = sample(case)
    x = np.random.default_rng(4).standard_normal(CASES[case][0]).astype(np.float32)
    values = np.where(inside, x.astype(np.float64).reshape(*x.shape[:2], -1)[:, :, where], 0)
    mean = windows.avg_pool(x, *how[:3])
    np.testing.assert_allclose(mean, values.mean(axis=-1), atol=1e-6)
    g = np.random.default_rng(5).standard_normal(mean.shape).astype(np.float32)
    shares = g[..., None] / math.prod(how[0]) * inside
    np.testing.assert_allclose(windows.avg_pool_grad(g, x.shape, *how[:3]), spread(shares, x.shape, where), atol=2e-6)


def test_infinities_of_a_gradient_go_to_the_largest_alone() -> None:
    x = np.random.default_rng(6).standard_normal((8, 1, 4, 4)).astype(np.float32)
    how = ((2, 2), (2, 2), (0,) * 4, (1, 1))
    best, indices = windows.max_pool(x, *how)
    result = windows.max_pool_grad(np.full(best.shape, np.inf, np.float32), indices, x.shape, *how)
    np.testing.assert_array_equal(np.isinf(result), x == best.repeat(2, axis=2).repeat(2, axis=3))
    assert not np.isnan(result).any()


@pytest.mark.parametrize("case", CASES)
def test_threads_and_the_order_in_memory_change_no_bit(case: str) -> None:
    x, how, _, _ = sample(case)
    random = np.random.default_rng(7)

    def computed(x: Array, g: Array | None = None) -> list[Array]:
        best, indices = windows.max_pool(x, *how)
        g = random.standard_normal(best.shape).astype(np.float32) if g is None else g
        results = [best, indices, g, windows.max_pool_grad(g, indices, x.shape, *how), windows.avg_pool(x, *how[:3])]
        if set(how[3]) == {1}:
            results.append(windows.avg_pool_grad(g, x.shape, *how[:3]))
        return results

    threads.set_number(1)
    first = computed(x)
    for count in (2, 4):
        threads.set_number(count)
        for left, right in zip(first, computed(x, first[2]), strict=True):
            np.testing.assert_array_equal(left, right)
    turned = [windows.samples_first(windows.samples_last(each)) for each in (x, first[2])]
    for left, right in zip(first, computed(*turned), strict=True):
        np.testing.assert_array_equal(left, right)


def test_the_way_is_chosen_by_shapes_and_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "kernels", None)  # a request for it raises
    how = ((2, 2), (2, 2), (0,) * 4, (1, 1))
    x = np.ones((8, 2, 4, 4), np.float32)
    for other in (x.astype(np.float64), x.astype(np.int32), np.ones((8, 2, 40, 40), np.float16)):
        assert windows.max_pool(other, *how)[0].dtype == other.dtype
    large = np.ones((8, 1, 17, 17), np.float32)  # more places than a byte has
    assert windows.max_pool(large, (17, 17), (1, 1), (0,) * 4, (1, 1))[1].dtype == np.int32
    monkeypatch.setattr(pooling, "is_on", lambda: False)
    assert windows.avg_pool(x, *how[:3]).shape == (8, 2, 2, 2)
