"""Convolution by tiles: as near to float64 as promised, whatever the edges, and never where it would do harm."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from hookscope.engine.cpu import compiling, threads
from hookscope.engine.cpu.neural import windows, winograd

Array = np.ndarray[Any, Any]
HOW: dict[str, Any] = {"stride": (1, 1), "dilation": (1, 1), "group": 1}
WITHIN = 2e-5  # of the largest number


def _shifted(x: Array, pads: tuple[int, ...]) -> list[Array]:
    """Yield for each of the 9 elements of the kernel the inputs that meet it, (N, C, OH, OW), in float64."""
    top, bottom, left, right = pads
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (top, bottom), (left, right)))
    height, width = padded.shape[2] - 2, padded.shape[3] - 2
    return [padded[:, :, i : i + height, j : j + width] for i in range(3) for j in range(3)]


def _reference(x: Array, weight: Array, pads: tuple[int, ...]) -> Array:
    count: Any = 0
    flat: Array = weight.reshape(*weight.shape[:2], 9).astype(np.float64)
    for index, part in enumerate(_shifted(x, pads)):
        count = count + np.einsum("nchw,kc->nkhw", part, flat[:, :, index], optimize=True)
    return count  # type: ignore[no-any-return]  # a sum over places


def _weight_reference(g: Array, x: Array, pads: tuple[int, ...]) -> Array:
    each = [np.einsum("nkhw,nchw->kc", g.astype(np.float64), part, optimize=True) for part in _shifted(x, pads)]
    return np.stack(each, axis=-1).reshape(g.shape[1], x.shape[1], 3, 3)


def _near(result: Array, expected: Array) -> None:
    assert result.shape == expected.shape
    assert result.dtype == np.float32
    assert np.abs(result - expected).max() <= WITHIN * np.abs(expected).max()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Provide the names of the functions of ``winograd`` that ran."""
    ran: list[str] = []

    def watched(name: str) -> Any:
        original = getattr(winograd, name)

        def told(*args: Any, **how: Any) -> Any:
            ran.append(name)
            return original(*args, **how)

        return told

    for name in ("conv", "conv_weight_grad"):
        monkeypatch.setattr(winograd, name, watched(name))
    return ran


@pytest.mark.parametrize("by_tiles", [False, True])  # how the work is cut up
@pytest.mark.parametrize(
    ("samples", "channels", "size", "pads"),
    [
        (16, 64, (8, 8), (1, 1, 1, 1)),
        (1, 17, (33, 30), (1, 1, 1, 1)),
        (3, 64, (9, 7), (0, 2, 2, 1)),
        (7, 130, (10, 13), (0, 0, 0, 0)),
        (150, 16, (3, 18), (2, 2, 0, 1)),
        (33, 170, (2, 2), (1, 1, 1, 1)),
        (2, 160, (5, 6), (1, 1, 1, 1)),
    ],
)
def test_tiles_give_the_convolution_and_its_gradients(
    samples: int,
    channels: int,
    size: tuple[int, int],
    pads: tuple[int, ...],
    by_tiles: bool,
    calls: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(winograd, "_goes_by_tiles", lambda *_: by_tiles)
    monkeypatch.setattr(winograd, "_MOST_INPUTS", 1 << 19)
    random = np.random.default_rng(0)
    x = random.standard_normal((samples, channels, *size)).astype(np.float32)
    weight = random.standard_normal((80, channels, 3, 3)).astype(np.float32)
    expected = _reference(x, weight, pads)
    _near(windows.conv(x, weight, pads=pads, **HOW), expected)
    shape: tuple[int, ...] = expected.shape
    g = random.standard_normal(shape).astype(np.float32)
    _near(windows.conv_weight_grad(g, x, (3, 3), pads=pads, **HOW), _weight_reference(g, x, pads))
    turned = weight[:, :, ::-1, ::-1].swapaxes(0, 1)
    back = _reference(g, turned, tuple(2 - n for n in pads))
    _near(windows.conv_input_grad(g, weight, x.shape, pads=pads, **HOW), back)
    assert calls == (["conv", "conv_weight_grad", "conv"] if compiling.is_on() else [])


def test_samples_last_and_first_give_the_same() -> None:
    random = np.random.default_rng(1)
    x = random.standard_normal((8, 64, 8, 8)).astype(np.float32)
    weight = random.standard_normal((64, 64, 3, 3)).astype(np.float32)
    first = windows.conv(x, weight, pads=(1,) * 4, **HOW)
    last = windows.conv(windows.samples_first(windows.samples_last(x)), weight, pads=(1,) * 4, **HOW)
    assert np.array_equal(first, last)


@np.errstate(all="ignore")  # as in an operator
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan, 1e30])
def test_what_is_not_finite_stays_where_the_kernel_takes_it(bad: float) -> None:
    x = np.ones((32, 64, 8, 8), np.float32)
    x[3, 5, 2, 2] = bad
    weight = np.ones((64, 64, 3, 3), np.float32)
    result = windows.conv(x, weight, pads=(1,) * 4, **HOW)
    touched = np.zeros(result.shape, bool)
    touched[3, :, 1:4, 1:4] = True
    assert np.array_equal(result[touched], np.full(touched.sum(), bad, np.float32), equal_nan=True)
    assert result[~touched].max() == 576
    gradient = windows.conv_weight_grad(np.ones_like(result), x, (3, 3), pads=(1,) * 4, **HOW)
    assert np.array_equal(gradient[:, 5], np.full((64, 3, 3), bad, np.float32), equal_nan=True)
    assert np.isfinite(np.delete(gradient, 5, axis=1)).all()


@pytest.mark.parametrize(
    ("x", "weight", "how"),
    [
        ((0, 64, 8, 8), (64, 64, 3, 3), {}),
        ((32, 64, 8, 8), (8, 64, 3, 3), {}),
        ((32, 64, 8, 8), (64, 64, 3, 3), {"stride": (2, 2)}),
        ((32, 64, 8, 8), (64, 64, 3, 3), {"dilation": (2, 2)}),
        ((32, 128, 8, 8), (128, 64, 3, 3), {"group": 2}),
        ((32, 64, 8, 8), (64, 64, 1, 1), {}),
        ((32, 64, 3, 9), (64, 64, 3, 3), {}),
    ],
)
def test_other_convolutions_are_left_alone(
    x: tuple[int, ...], weight: tuple[int, ...], how: dict[str, Any], calls: list[str]
) -> None:
    result = windows.conv(np.ones(x, np.float32), np.ones(weight, np.float32), **{**HOW, "pads": (0, 0, 0, 0), **how})
    assert result.shape[:2] == (x[0], weight[0])
    assert not calls


@pytest.mark.parametrize("by_tiles", [False, True])
def test_the_number_of_threads_changes_no_bit(by_tiles: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(winograd, "_goes_by_tiles", lambda *_: by_tiles)
    random = np.random.default_rng(2)
    x, g = (random.standard_normal((9, c, 9, 11)).astype(np.float32) for c in (64, 70))
    weight = random.standard_normal((70, 64, 3, 3)).astype(np.float32)
    results = []
    try:
        for count in (1, 2, 4):
            threads.set_number(count)
            results.append(
                (
                    windows.conv(x, weight, pads=(1,) * 4, **HOW),
                    windows.conv_weight_grad(g, x, (3, 3), pads=(1,) * 4, **HOW),
                    windows.conv_input_grad(g, weight, x.shape, pads=(1,) * 4, **HOW),
                )
            )
    finally:
        threads.set_number(None)
    for other in results[1:]:
        for first, second in zip(results[0], other, strict=True):
            assert np.array_equal(first, second)


@pytest.mark.parametrize("turned", [False, True])
def test_few_tiles_do_not_wait_for_many_kernels_to_be_transformed(turned: bool) -> None:
    x, weight = np.ones((32, 256, 8, 8), np.float32), np.ones((256, 256, 3, 3), np.float32)
    x, lengths = windows.samples_first(windows.samples_last(x)), (8, 8)
    threads.set_number(1)
    try:
        winograd.conv(x, weight, (1,) * 4, lengths, turned)
        tracemalloc.start()
        y = winograd.conv(x, weight, (1,) * 4, lengths, turned)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        threads.set_number(None)
    # The kernels would take 9 MiB, the tiles 4.5; with those a part's kernels and products, 1.1 and 0.6.
    assert y is not None
    assert most - y.nbytes < 7 * 2**20


def test_float64_is_computed_directly(calls: list[str]) -> None:
    x, weight = np.ones((32, 64, 8, 8)), np.ones((64, 64, 3, 3))
    assert windows.conv(x, weight, pads=(1,) * 4, **HOW).dtype == np.float64
    assert not calls
