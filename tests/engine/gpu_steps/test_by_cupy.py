"""Optimizers and loss scales on a GPU by CuPy alone: the CPU's steps, and nothing is read back."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, amp, nn
from hookscope.engine.cpu.optim import updates
from hookscope.engine.tensors.overflow import overflowed
from hookscope.engine.tensors.views import is_sole_holder
from tests import strict_device
from tests.engine.gpu_steps.training import OPTIMIZERS, READING, SCALED, scaled_training, training


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_is_the_cpus_and_reads_nothing_back(name: str) -> None:
    result = training(OPTIMIZERS[name], on_gpu=True)
    result.agrees_with(training(OPTIMIZERS[name], on_gpu=False), 3e-6)
    assert result.synchronizations == 0


@pytest.mark.parametrize("name", READING)
def test_optimizers_that_take_pythons_numbers_make_the_cpus_steps(name: str) -> None:
    training(READING[name], on_gpu=True).agrees_with(training(READING[name], on_gpu=False), 3e-6)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", SCALED)
def test_scaled_steps_are_the_cpus_overflows_among_them(name: str, own: bool) -> None:
    level, optimizer = SCALED[name]
    result = scaled_training(level, optimizer, on_gpu=True, own=own)
    result.agrees_with(scaled_training(level, optimizer, on_gpu=False, own=own), 3e-6 if level == "O0" else 3e-3)


def test_an_optimizer_that_reads_leaves_a_step_out_too() -> None:
    result = scaled_training("O0", "Plain", on_gpu=True)
    result.agrees_with(scaled_training("O0", "Plain", on_gpu=False), 3e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 5.0])
def test_all_finite_is_not_waited_for(bad: float, dtype: str) -> None:
    with strict_device.device() as counts:
        inputs = (Tensor(np.ones((3, 4)), ms.float32), [Tensor([1, 2]), Tensor([1.0, bad], getattr(ms, dtype))])
        counts.clear()
        result = amp.all_finite(inputs)
        assert not counts.synchronizations
        assert bool(result) is bool(np.isfinite(bad))


def test_an_overflow_is_seen_among_arrays_of_the_host() -> None:
    with strict_device.device():
        on_gpu = Tensor(np.ones(3), ms.float32)._array
        assert bool(overflowed([on_gpu, np.array([np.inf], np.float32)]))
        assert not bool(overflowed([on_gpu, np.array([2], np.int32)]))


def test_a_scaler_takes_a_flag_of_the_host() -> None:
    with strict_device.device():
        scaler = amp.DynamicLossScaler(8.0, 2, 2)
        for good in (False, True, True, Tensor(True)):
            scaler.adjust(good)
        assert float(scaler.scale_value) == 8.0 and int(scaler.counter) == 1


def test_a_scale_neither_falls_below_one_nor_grows_to_infinity() -> None:
    with strict_device.device():
        low, high = amp.DynamicLossScaler(1.0, 4, 1), amp.DynamicLossScaler(3e38, 2, 1)
        low.adjust(Tensor(False))
        high.adjust(Tensor(True))
        assert float(low.scale_value) == 1.0 and float(high.scale_value) == np.float32(3e38)
        cell, scale = nn.DynamicLossScaleUpdateCell(2.0, 4.0, 2), Parameter(Tensor(2.0, ms.float32))
        results = []
        for overflow in (True, False, False, False, True):
            cell(scale, Tensor(overflow))
            results.append((float(scale), int(cell.last_overflow_iter), int(cell.cur_iter)))
        assert results == [(1.0, 1, 2), (1.0, 1, 3), (4.0, 3, 4), (4.0, 3, 5), (1.0, 5, 6)]


def test_a_subclass_is_given_pythons_numbers() -> None:
    records: list[Any] = []

    class Plain(nn.Optimizer):
        def updated(self, index: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
            records.append((rate, step))
            return value - gradient * rate

    with strict_device.device():
        weight = Parameter(Tensor(np.ones(3), ms.float32), "w")
        optimizer = Plain(nn.ExponentialDecayLR(0.5, 0.25, 1), [weight])
        for _ in range(2):
            optimizer((Tensor(np.ones(3), ms.float32),))
        assert weight.asnumpy().tolist() == [0.375] * 3
    assert records == [(0.5, 1), (0.125, 2)]
    assert all(type(number) is kind for pair in records for number, kind in zip(pair, (float, int), strict=True))


@pytest.mark.parametrize(("number", "factor"), [(1, 0.9), (2, 0.9), (1, 0.0), (2, 0.0)])
def test_sgd_clears_what_says_that_its_first_step_is_to_come_in_that_step_alone(number: int, factor: float) -> None:
    p, kept, stat, g = (np.full(2, value, np.float32) for value in (1.0, 2.0, 1.0, 4.0))
    output = updates.sgd_by_step(p, kept, stat, g, 0.5, np.float32(factor), 0.25, False, np.int32(number))
    sums = 4.0 if number == 1 else np.float32(0.9) * 2 + 3
    new = 1 - 0.5 * (sums if factor else 4.0)
    want = [new, sums if factor else 2.0, 0.0 if factor and number == 1 else 1.0]
    np.testing.assert_allclose([x[0] for x in output], want, rtol=1e-6)


def test_a_user_reads_what_a_checkpoint_would_hold() -> None:
    with strict_device.device():
        weight = Parameter(Tensor(np.ones(3), ms.float32), "w")
        optimizer = nn.Adam([weight], 0.5)
        for _ in range(3):
            optimizer((Tensor(np.ones(3), ms.float32),))
        assert int(optimizer.global_step) == 3
        assert float(optimizer.beta1_power) == pytest.approx(0.9**3) and float(optimizer.get_lr()) == 0.5


def test_who_may_be_written_in_place_on_a_gpu() -> None:
    with strict_device.device():
        alone = Tensor(np.ones(3), ms.float32) * 2
        assert is_sole_holder(alone)
        array = alone._array
        assert not is_sole_holder(alone)
        part = array[1:]  # holds it as its base
        del array
        assert not is_sole_holder(alone)
        del part
        assert is_sole_holder(alone)
        reference = weakref.ref(alone._array)
        assert not is_sole_holder(alone) and reference() is alone._array
        cut = Tensor._wrap((Tensor(np.ones(3), ms.float32) * 2)._array[1:])
        assert not is_sole_holder(cut)
        viewed = Tensor(np.ones(3), ms.float32) * 2
        view = viewed[1:]
        assert not is_sole_holder(viewed) and not is_sole_holder(view)
