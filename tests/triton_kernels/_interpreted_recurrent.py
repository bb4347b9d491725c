"""Checks of recurrent layers in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, normal, run, suits

from hookscope.engine.cpu import recurrent as reference
from hookscope.triton_kernels.recurrent import GATES

TOLERANCE = {"float32": 1e-5, "float16": 6e-3, "bfloat16": 5e-2}


def layer(kind: str, steps: int, samples: int, width: int, size: int, dtype: Any, bias: bool = True) -> list[Any]:
    high = GATES[kind] * size
    shapes = [(steps, samples, width), (samples, size), (samples, size), (high, width), (high, size), (high,), (high,)]
    found: list[Any] = [normal(*shape, dtype=np.float32, seed=seed) for seed, shape in enumerate(shapes)]
    # Weights as they are drawn, so that the gates are not all at their ends.
    found[3:] = [x / np.float32(size**0.5) for x in found[3:]]
    found = [x.astype(dtype) for x in found]
    if kind != "lstm":
        found[2] = None
    return found if bias else [*found[:5], None, None]


def wide(arrays: Any) -> list[Any]:
    return [x if x is None or x.dtype == np.bool_ else x.astype(np.float64) for x in arrays]


def close(got: Any, want: Any, dtype: Any) -> None:
    assert got.dtype == dtype
    assert got.shape == want.shape
    tolerance = TOLERANCE[np.dtype(dtype).name] * max(1.0, float(np.abs(want).max(initial=0.0)))
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=0, atol=tolerance)


def agree(inputs: list[Any], kind: str, keep: Any = None, reverse: bool = False, without: tuple[int, ...] = ()) -> None:
    """Outputs and gradients, as those of the CPU's formulas in float64."""
    dtype = inputs[0].dtype
    want = reference.forward(*wide(inputs), keep, kind, reverse)
    got = run("recurrent", *inputs, keep, kind, reverse)
    for ours, theirs in zip(got[:3], want[:3], strict=True):
        close(ours, theirs, dtype)
    for ours, theirs in zip(got[3:], want[3:], strict=True):
        assert ours.dtype == np.float32
        assert ours.shape == theirs.shape
    arrived: list[Any] = [normal(*x.shape, dtype=dtype, seed=20 + n) for n, x in enumerate(want[:3])]
    if kind != "lstm":
        arrived[2] = None
    for place in without:
        arrived[place] = None
    slopes = reference.back(*wide([*arrived, *inputs, keep]), *want[3:], kind, reverse)
    found = run("recurrent_grad", *arrived, *inputs, keep, *got[3:], kind, reverse, True)
    for ours, theirs in zip(found, slopes, strict=True):
        assert (ours.size == 0) == (theirs.size == 0)
        if ours.size:
            close(ours, theirs, dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("kind", ["tanh", "relu", "gru", "lstm"])
def test_every_cell(kind: str, dtype: Any) -> None:
    agree(layer(kind, 3, 5, 7, 18, dtype), kind)


@pytest.mark.parametrize("kind", ["tanh", "gru", "lstm"])
def test_samples_that_end_earlier_and_the_other_direction(kind: str) -> None:
    keep = (np.arange(4)[:, None] < np.array([4, 2, 0])[None, :])[:, :, None]
    for reverse in (False, True):
        agree(layer(kind, 4, 3, 5, 6, np.float32, bias=reverse), kind, keep, reverse)
