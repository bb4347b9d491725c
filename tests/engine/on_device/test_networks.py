"""The five networks train on the strict device as on the CPU, and ask no more of the device than is written down."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from tests import strict_device
from tests.engine.on_device.counts import BOUNDS, measured
from tests.engine.on_device.networks import NETWORKS, PRECISIONS, training

# Half precision is rounded at other places by Triton's kernels and by the sums of another order.
TOLERANCE = {"float32": 1e-5, "bfloat16": 0.03, "bfloat16 O2": 0.05, "float16 O2": 0.02}
LONG = ("ResNet-18",)


def cases() -> list[object]:
    """Return all of them; slow ones in half precision only if CI is set."""
    return [
        pytest.param(name, precision, marks=pytest.mark.ci_only if name in LONG and precision != "bfloat16" else ())
        for name in NETWORKS
        for precision in PRECISIONS
    ]


def check(name: str, precision: str, triton: bool) -> None:
    """Assert that the losses of three steps equal the CPU's and fall, and that the third step is within ``BOUNDS``."""
    step = training(name, precision)
    on_cpu = [float(step().asnumpy()) for _ in range(3)]
    losses, counts = measured(name, precision, triton)
    np.testing.assert_allclose(losses, on_cpu, rtol=TOLERANCE[precision])
    assert losses[-1] < losses[0]
    held = BOUNDS[name, precision][not triton]
    assert len(counts.launches) <= held.launches, counts
    assert len(counts.synchronizations) <= held.synchronizations, counts


@pytest.mark.parametrize(("name", "precision"), cases())
def test_a_network_trains_by_cupy_alone(name: str, precision: str) -> None:
    check(name, precision, triton=False)


def masked_attention(on_gpu: bool) -> list[Any]:
    """Return weights and gradients of an attention with masks of truth values, and how often it waited."""
    with strict_device.device() if on_gpu else nullcontext() as counts:
        ms.set_seed(1)
        net = nn.MultiheadAttention(8, 2, batch_first=True)
        random = np.random.default_rng(0)
        x = Tensor(random.standard_normal((2, 5, 8)), ms.float32)
        later = Tensor(np.triu(np.ones((5, 5), bool), 1))
        padded = Tensor(np.arange(5) >= np.array([[5], [3]]))

        def loss(x: Tensor) -> Tensor:
            result, weights = net(x, x, x, key_padding_mask=padded, attn_mask=later)
            return (result * result).sum() + weights.square().sum()

        if counts is not None:
            counts.clear()
        value, gradient = ms.value_and_grad(loss)(x)
        waits = 0 if counts is None else len(counts.synchronizations)
        return [value.asnumpy(), gradient.asnumpy(), waits]


def test_masks_of_truth_values_are_not_waited_for() -> None:
    for result, expected in zip(masked_attention(on_gpu=True), masked_attention(on_gpu=False), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
