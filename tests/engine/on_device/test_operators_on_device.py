"""Every operator of the table in every dtype: on the strict device what the CPU gives, or a clear error."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the samples import each other by name

from test_operators import ROWS, has_gradient

from tests.engine.on_device.matrix import DTYPES, FLOATING, compared

EVERYWHERE = ("bfloat16", "float32", "int64")
"""The dtypes that are tried on each machine; the others take as long."""
# CuPy has no loop of logical operators for complex numbers.
REFUSED = {
    (f"logical_{what}", dtype): "Wrong type" for what in ("and", "or", "xor") for dtype in ("complex64", "complex128")
}


# The operator behind ops.fft gives the dtype that came, which is complex where a user calls it.
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize(
    "dtype", [pytest.param(name, marks=() if name in EVERYWHERE else pytest.mark.ci_only) for name in DTYPES]
)
@pytest.mark.parametrize("name", ROWS)
def test_an_operator_gives_what_it_gives_on_the_cpu(name: str, dtype: str) -> None:
    for sample in ROWS[name].samples:
        for gradient in (False, True) if dtype in FLOATING and has_gradient(name) else (False,):
            told = compared(name, sample, dtype, gradient)
            refused = REFUSED.get((name, dtype))
            assert not told or (refused and f"For '{name}', the inputs" in told and refused in told), told
