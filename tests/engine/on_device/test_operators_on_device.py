"""Every operator of the table in every dtype: on the strict device what the CPU gives, or a clear error."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the samples import each other by name

from test_operators import ROWS, has_gradient

from hookscope.engine import Tensor, ops
from tests import strict_device
from tests.engine.on_device.matrix import DTYPES, FLOATING, compared

EVERYWHERE = ("bfloat16", "float32", "int64")
"""The dtypes that are tried on each machine; the others take as long."""


# The operator behind ops.fft gives the dtype that came, which is complex where a user calls it.
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize(
    "dtype", [pytest.param(name, marks=() if name in EVERYWHERE else pytest.mark.ci_only) for name in DTYPES]
)
@pytest.mark.parametrize("name", ROWS)
def test_an_operator_gives_what_it_gives_on_the_cpu(name: str, dtype: str) -> None:
    for sample in ROWS[name].samples:
        for gradient in (False, True) if dtype in FLOATING and has_gradient(name) else (False,):
            message = compared(name, sample, dtype, gradient)
            assert not message, message


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_complex_numbers_have_truth_values_beside_whatever_comes(name: str) -> None:
    def truth_values() -> list[list[bool]]:
        function = getattr(ops, name)
        numbers = Tensor(np.array([0, 1j, 2], np.complex64))
        others = [Tensor(np.array([0.5, 0, 1], np.float16)), Tensor(np.array([True, False, True])), numbers]
        pairs = [(x, y) for x in others for y in (*others, 2j, 0j, np.complex64(1j), 0.5, True, 0)]
        return [function(*pair).asnumpy().tolist() for x, y in pairs for pair in ((x, y), (y, x))]

    on_cpu = truth_values()
    with strict_device.device():
        assert truth_values() == on_cpu
