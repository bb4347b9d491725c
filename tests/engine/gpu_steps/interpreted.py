"""Optimizers and loss scales with Triton's kernels, in its interpreter; test_by_triton.py runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope import triton_kernels
from hookscope.engine import Parameter, Tensor, nn
from tests import strict_device
from tests.engine.gpu_steps.training import OPTIMIZERS, SCALED, scaled_training, training

triton_kernels.kernels()  # Triton is imported once; imports on the strict device are undone after it

KINDS = ("Adam", "LazyAdam", "Momentum", "SGD", "experimental Adam", "experimental SGD", "mint")
MANY = [name for name in OPTIMIZERS if name.startswith(KINDS) and name != "experimental Adamax"]
TOGETHER = [name for name in MANY if not any(part in name for part in ("amsgrad", "of the step", "groups"))]
TOLERANCES = {"float32": 3e-6, "float16": 1e-2, "bfloat16": 8e-2}


@pytest.mark.parametrize("name", MANY)
def test_a_step_is_the_cpus_and_reads_nothing_back(name: str) -> None:
    result = training(OPTIMIZERS[name], on_gpu=True, triton=True)
    result.agrees_with(training(OPTIMIZERS[name], on_gpu=False), 3e-6)
    assert result.synchronizations == 0
    kernels = [launch for launch in result.launches if "rows" in launch]
    assert len(kernels) == (1 if name in TOGETHER else len(kernels))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["Adam, decay, scale, nesterov", "AdamWeightDecay", "Momentum", "SGD, momentum"])
def test_half_precision_steps_are_computed_in_float32(name: str, dtype: str) -> None:
    """The reference is the same training in float32; here each step computes in float32 and rounds its results once."""
    result = training(OPTIMIZERS[name], on_gpu=True, triton=True, dtype=getattr(ms, dtype))
    result.agrees_with(training(OPTIMIZERS[name], on_gpu=False), TOLERANCES[dtype])
    assert len([launch for launch in result.launches if "rows" in launch]) == 1


@pytest.mark.parametrize(
    ("name", "own"), [("O0 Adam", False), ("O0 SGD, momentum", False), ("O2 Adam", False), ("O0 AdamWeightDecay", True)]
)
def test_scaled_steps_are_the_cpus_and_read_nothing_back(name: str, own: bool) -> None:
    level, optimizer = SCALED[name]
    result = scaled_training(level, optimizer, on_gpu=True, triton=True, own=own)
    result.agrees_with(scaled_training(level, optimizer, on_gpu=False, own=own), 3e-6 if level == "O0" else 3e-3)
    assert result.synchronizations == 0
    assert len([launch for launch in result.launches if "overflow" in launch]) == 1


def parameters(*shapes: tuple[int, ...]) -> list[Parameter]:
    return [Parameter(Tensor(np.ones(shape), ms.float32) * 2, f"p{i}") for i, shape in enumerate(shapes)]


@pytest.mark.parametrize("name", TOGETHER)
def test_it_writes_in_place_where_nobody_else_looks_and_only_there(name: str) -> None:
    with strict_device.device(triton=True):
        weights = parameters((5, 7), (3,), (2, 2))
        optimizer = OPTIMIZERS[name](weights)
        slopes = tuple(Tensor(np.ones(p.shape), ms.float32) for p in weights)
        optimizer(slopes)
        storage, alias = weights[0]._array, Tensor(weights[1])
        records, arrays = storage.get(), [id(p._array) for p in weights]
        optimizer(slopes)
        np.testing.assert_array_equal(storage.get(), records)
        assert weights[0]._array is not storage
        np.testing.assert_array_equal(alias.asnumpy(), weights[1].asnumpy())
        assert id(weights[2]._array) == arrays[2]


def test_a_step_that_is_left_out_writes_in_place_too() -> None:
    from hookscope.engine.nn.optim._gpu_steps import step_unless

    with strict_device.device(triton=True):
        weights = parameters((5, 7), (3,))
        optimizer = nn.Adam(weights, 0.1)
        slopes = tuple(Tensor(np.ones(p.shape), ms.float32) for p in weights)
        optimizer(slopes)
        arrays, before = [id(p._array) for p in weights], [p.asnumpy() for p in optimizer.get_parameters()]
        for left_out in (True, False):
            step_unless(Tensor(left_out)._array, optimizer, slopes)
            assert [id(p._array) for p in weights] == arrays
            same = [np.array_equal(p.asnumpy(), x) for p, x in zip(optimizer.get_parameters(), before, strict=True)]
            assert all(same) is left_out


def test_tensors_of_several_dtypes_take_a_launch_each_and_others_their_rule() -> None:
    def step(on_gpu: bool) -> Any:
        dtypes = (ms.float32, ms.float16, ms.float32, ms.float64)
        weights = [Parameter(Tensor(np.ones(4), dtype), f"p{i}") for i, dtype in enumerate(dtypes)]
        optimizer = nn.Momentum(weights, 0.25, 0.5)
        for _ in range(2):
            optimizer(tuple(Tensor(np.full(4, 0.5), dtype) for dtype in dtypes))
        return [p.asnumpy().astype(np.float64) for p in weights]

    with strict_device.device(triton=True) as counts:
        result = step(on_gpu=True)
        assert [event.name for event in counts.launches].count("triton:momentum_rows_kernel") == 4
    np.testing.assert_array_equal(result, step(on_gpu=False))


def test_a_gradient_that_lies_otherwise_is_read_in_order() -> None:
    with strict_device.device(triton=True):
        (weights,) = parameters((3, 4))
        optimizer = nn.Momentum([weights], 1.0, 0.0)
        turned = Tensor(np.arange(12.0).reshape(4, 3), ms.float32)
        optimizer((Tensor._wrap(turned._array.T),))
        np.testing.assert_array_equal(weights.asnumpy(), 2 - np.arange(12.0).reshape(4, 3).T)
