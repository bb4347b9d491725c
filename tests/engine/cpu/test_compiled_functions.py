"""Functions of one number inside compiled kernels, against float64, over all magnitudes of float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from hookscope.engine.cpu import threads
from hookscope.engine.cpu.compiled.library import loops
from hookscope.engine.cpu.compiled.library.loops import kernel, read_array, written_array


def _over(function: Any) -> Callable[[Any], Any]:
    @kernel(read_array(), written_array())
    def loop(first: int, stop: int, x: Any, y: Any) -> None:
        for i in range(x.size):
            y[i] = function(x[i])

    def apply(x: Any) -> Any:
        y = np.empty_like(x)
        threads.share(loop, 1, x, y)
        return y

    return apply


# Name -> the same in float64, the largest relative error, and where it is defined.
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], float, float, float]] = {
    "exp": (np.exp, 1.2e-7, -np.inf, np.inf),
    "sigmoid": (special.expit, 2e-7, -np.inf, np.inf),
    "tanh": (np.tanh, 1.8e-7, -np.inf, np.inf),
    "erfcx": (special.erfcx, 4e-7, 0.0, 10.0),
}
MAGNITUDES = np.float32(2.0) ** np.arange(-140, 128, dtype=np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_is_right_to_the_last_bits(name: str) -> None:
    reference, tolerance, low, high = FUNCTIONS[name]
    random = np.random.default_rng(0)
    x = np.concatenate([random.uniform(-m, m, 200).astype(np.float32) for m in MAGNITUDES])
    x = np.concatenate([x, random.uniform(-105, 90, 100_000).astype(np.float32)])
    x = x[(x >= low) & (x <= high)]
    with np.errstate(all="ignore"):
        y, expected = _over(getattr(loops, name))(x).astype(float), reference(x.astype(float))
        single = expected.astype(np.float32)
    # A subnormal result, and one that overflows, is as float32 has it, to a unit.
    least = np.finfo(np.float32).smallest_normal
    finite = np.isfinite(single)
    error = np.abs(y[finite] - expected[finite]) / np.maximum(np.abs(expected[finite]), least)
    assert error.max() < tolerance
    np.testing.assert_array_equal(y[~finite], single[~finite])


@pytest.mark.parametrize("name", ["exp", "sigmoid", "tanh"])
def test_what_is_not_finite_comes_out_as_mathematics_has_it(name: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32)
    y = _over(getattr(loops, name))(x)
    np.testing.assert_array_equal(y, FUNCTIONS[name][0](x))
    if name == "tanh":
        assert np.signbit(y[4]) and not np.signbit(y[3])
