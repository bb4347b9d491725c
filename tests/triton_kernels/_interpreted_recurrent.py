"""Checks of recurrent layers in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, normal, run, suits

from hookscope.engine.cpu.neural import recurrent as reference
from hookscope.triton_kernels.recurrent import GATES

TOLERANCE = {"float32": 1e-5, "float16": 6e-3, "bfloat16": 5e-2}


def layer(kind: str, steps: int, samples: int, width: int, size: int, dtype: Any, bias: bool = True) -> list[Any]:
    high = GATES[kind] * size
    shapes = [(steps, samples, width), (samples, size), (samples, size), (high, width), (high, size), (high,), (high,)]
    results: list[Any] = [normal(*shape, dtype=np.float32, seed=seed) for seed, shape in enumerate(shapes)]
    # Weights as they are drawn, so that the gates are not all at their ends.
    results[3:] = [x / np.float32(size**0.5) for x in results[3:]]
    results = [x.astype(dtype) for x in results]
    if kind != "lstm":
        results[2] = None
    return results if bias else [*results[:5], None, None]


def wide(arrays: Any) -> list[Any]:
    return [x if x is None or x.dtype == np.bool_ else x.astype(np.float64) for x in arrays]


def close(actual: Any, want: Any, dtype: Any) -> None:
    assert actual.dtype == dtype
    assert actual.shape == want.shape
    tolerance = TOLERANCE[np.dtype(dtype).name] * max(1.0, float(np.abs(want).max(initial=0.0)))
    np.testing.assert_allclose(np.asarray(actual, np.float64), want, rtol=0, atol=tolerance)


def agree(inputs: list[Any], kind: str, keep: Any = None, reverse: bool = False, without: tuple[int, ...] = ()) -> None:
    """Assert that outputs and gradients are those of the CPU's formulas in float64."""
    dtype = inputs[0].dtype
    want = reference.forward(*wide(inputs), keep, kind, reverse)
    result = run("recurrent", *inputs, keep, kind, reverse)
    for first, second in zip(result[:3], want[:3], strict=True):
        close(first, second, dtype)
    for first, second in zip(result[3:], want[3:], strict=True):
        assert first.dtype == np.float32
        assert first.shape == second.shape
    arrived: list[Any] = [normal(*x.shape, dtype=dtype, seed=20 + n) for n, x in enumerate(want[:3])]
    if kind != "lstm":
        arrived[2] = None
    for index in without:
        arrived[index] = None
    slopes = reference.back(*wide([*arrived, *inputs, keep]), *want[3:], kind, reverse)
    actual = run("recurrent_grad", *arrived, *inputs, keep, *result[3:], kind, reverse, True)
    for first, second in zip(actual, slopes, strict=True):
        assert (first.size == 0) == (second.size == 0)
        if first.size:
            close(first, second, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", ["tanh", "relu", "gru", "lstm"])
def test_every_cell(kind: str, dtype: Any) -> None:
    agree(layer(kind, 3, 5, 7, 18, dtype), kind)


@pytest.mark.parametrize("kind", ["tanh", "gru", "lstm"])
def test_samples_that_end_earlier_and_the_other_direction(kind: str) -> None:
    keep = (np.arange(4)[:, None] < np.array([4, 2, 0])[None, :])[:, :, None]
    for reverse in (False, True):
        agree(layer(kind, 4, 3, 5, 6, np.float32, bias=reverse), kind, keep, reverse)


def test_weights_of_any_layout_and_a_batch_that_came_first() -> None:
    x, h, c, *weights = layer("lstm", 4, 3, 5, 6, np.float32)
    turned = [np.asfortranarray(weight) for weight in weights]
    agree([x.swapaxes(0, 1).copy().swapaxes(0, 1), h, np.asfortranarray(c), *turned], "lstm")


@pytest.mark.parametrize("without", [(0,), (1, 2), (0, 1)])
def test_gradients_that_have_not_come_are_zeros(without: tuple[int, ...]) -> None:
    inputs = layer("lstm", 2, 3, 4, 5, np.float32)
    zeros = agree_without(inputs, without)
    for first, second in zip(*zeros, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-5)


def agree_without(inputs: list[Any], without: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the gradients where some of those that arrive are None, and where they are zeros."""
    out = run("recurrent", *inputs, None, "lstm", False)
    arrived = [None if index in without else normal(*x.shape, seed=index) for index, x in enumerate(out[:3])]
    zeros = [np.zeros_like(out[index]) if x is None else x for index, x in enumerate(arrived)]
    return tuple(run("recurrent_grad", *g, *inputs, None, *out[3:], "lstm", False, True) for g in (arrived, zeros))  # type: ignore[return-value]


@pytest.mark.parametrize("kind", ["relu", "gru", "lstm"])
def test_what_one_kept_the_other_reads(kind: str) -> None:
    """CuPy's way has what the kernels kept, and they what it kept."""
    inputs = layer(kind, 3, 4, 5, 6, np.float32)
    out = run("recurrent", *inputs, None, kind, False)
    cpu = reference.forward(*inputs, None, kind, False)
    g = (normal(3, 4, 6), normal(4, 6, seed=1), None, *inputs, None)
    want = reference.back(*g, *cpu[3:], kind, False)
    for result in (reference.back(*g, *out[3:], kind, False), run("recurrent_grad", *g, *cpu[3:], kind, False, True)):
        for first, second in zip(result, want, strict=True):
            if second.size:
                np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5)


def test_a_nan_stays_with_its_sample() -> None:
    inputs = layer("lstm", 3, 3, 4, 5, np.float32)
    inputs[0][1, 1, 2] = np.nan
    out, last_h, last_c, *_ = run("recurrent", *inputs, None, "lstm", False)
    assert np.isnan(out).any(axis=2).tolist() == [[False] * 3, [False, True, False], [False, True, False]]
    assert np.isnan(last_h).any(axis=1).tolist() == np.isnan(last_c).any(axis=1).tolist() == [False, True, False]


def test_what_does_not_qualify() -> None:
    x, h, c, *weights = layer("lstm", 2, 3, 4, 5, np.float32)
    assert suits("recurrent", x, h, c, *weights, None, "lstm", False)
    assert not suits("recurrent", x, h, None, *weights, None, "lstm", False), "no first cell state"
    assert not suits("recurrent", x, h[:2], c, *weights, None, "lstm", False), "states of other samples"
    assert not suits("recurrent", x[..., :3], h, c, *weights, None, "lstm", False), "inputs of another length"
    assert not suits("recurrent", x, h, c, *weights[:3], None, None, "lstm", False), "one bias alone"
    assert not suits("recurrent", x[:0], h, c, *weights, None, "lstm", False), "no steps"
    assert not suits("recurrent", x.astype(np.float16), h, c, *weights, None, "lstm", False), "two dtypes"
    assert not suits("recurrent", x, h, c, *weights, np.ones((2, 3, 1)), "lstm", False), "keep in numbers"
