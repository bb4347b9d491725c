"""The five networks train on the strict device as on the CPU, and ask no more of the device than is written down."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.on_device.counts import HELD, measured
from tests.engine.on_device.networks import NETWORKS, PRECISIONS, training

# Half precision is rounded at other places by Triton's kernels and by the sums of another order.
TOLERANCE = {"float32": 1e-5, "bfloat16": 0.03, "bfloat16 O2": 0.05, "float16 O2": 0.02}
LONG = ("ResNet-18",)


def cases() -> list[object]:
    """All of them; what takes seconds in half precision only where CI is set."""
    return [
        pytest.param(name, precision, marks=pytest.mark.ci_only if name in LONG and precision != "bfloat16" else ())
        for name in NETWORKS
        for precision in PRECISIONS
    ]


def check(name: str, precision: str, triton: bool) -> None:
    """The losses of three steps are the CPU's and fall, and the third step asks for no more than ``HELD``."""
    step = training(name, precision)
    here = [float(step().asnumpy()) for _ in range(3)]
    losses, counts = measured(name, precision, triton)
    np.testing.assert_allclose(losses, here, rtol=TOLERANCE[precision])
    assert losses[-1] < losses[0]
    held = HELD[name, precision][not triton]
    assert len(counts.launches) <= held.launches, counts
    assert len(counts.synchronizations) <= held.synchronizations, counts


@pytest.mark.parametrize(("name", "precision"), cases())
def test_a_network_trains_by_cupy_alone(name: str, precision: str) -> None:
    check(name, precision, triton=False)
