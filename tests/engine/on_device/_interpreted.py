"""Checks on the strict device with Triton's kernels in their interpreter; test_with_triton.py runs them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the samples import each other by name

from test_operators import ROWS, has_gradient

from hookscope import triton_kernels
from tests.conftest import all_cases
from tests.engine.on_device.matrix import compared
from tests.engine.on_device.networks import NETWORKS, PRECISIONS
from tests.engine.on_device.test_networks import check

SAVED = {"rms_norm_grad"}
"""The sample's saved numbers are not those of the forward pass, and the CPU does not read them."""
ROUNDED = {"recurrent"}
"""These save values in single precision, from states that are rounded to the inputs' dtype after each step."""
ALWAYS = [("MLP", precision) for precision in PRECISIONS] + [("Transformer layer", "bfloat16"), ("LSTM", "float32")]
ALL = [(name, precision) for name in NETWORKS for precision in PRECISIONS if name != "ResNet-18"]
ALL.append(("ResNet-18", "bfloat16"))  # which takes minutes


@pytest.mark.parametrize(("name", "precision"), ALL if all_cases() else ALWAYS)
def test_a_network_trains(name: str, precision: str) -> None:
    check(name, precision, triton=True)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"] if all_cases() else ["float32"])
@pytest.mark.parametrize("name", sorted((set(ROWS) & set(triton_kernels.kernels())) - SAVED))
def test_an_operator_gives_what_it_gives_on_the_cpu(name: str, dtype: str) -> None:
    for sample in ROWS[name].samples:
        for gradient in (False, True) if has_gradient(name) else (False,):
            rounded_to = dtype if name in ROUNDED else ""
            message = compared(name, sample, dtype, gradient, triton=True, rounded_to=rounded_to)
            assert not message, message
