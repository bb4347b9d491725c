"""Convolution on arrays: the same whatever part of the windows is written out at once."""

from __future__ import annotations

from typing import Any

import pytest
from kernel_references import close, normal
from operator_samples_layers import conv, transposed

from hookscope.engine.cpu.neural import windows


@pytest.mark.parametrize(
    ("stride", "pads", "dilation", "group"),
    [
        ((1, 1), (0, 0, 0, 0), (1, 1), 1),
        ((2, 1), (1, 0, 2, 1), (1, 1), 2),
        ((1, 2), (0, 2, 1, 0), (2, 1), 2),
        ((3, 2), (1, 1, 1, 1), (1, 2), 1),
    ],
)
def test_a_convolution_in_parts_and_its_gradients(
    stride: Any, pads: Any, dilation: Any, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = {"stride": stride, "pads": pads, "dilation": dilation, "group": group}
    x, weight = normal(2, 2, 5, 4), normal(4, 2 // group, 3, 2, seed=1)
    want = conv(x, weight, **how)
    g = normal(*want.shape, seed=2)
    of_x = transposed(lambda v: conv(v, weight, **how), x.shape)(g)
    of_weight = transposed(lambda v: conv(x, v, **how), weight.shape)(g)
    for block in (1, 400, 1 << 21):  # bytes: a row of windows, some, all
        monkeypatch.setattr(windows, "_BLOCK", block)
        close(windows.conv(x, weight, **how), want, x.dtype)
        close(windows.conv_input_grad(g, weight, x.shape, **how), of_x, x.dtype)
        close(windows.conv_weight_grad(g, x, (3, 2), **how), of_weight, x.dtype)
