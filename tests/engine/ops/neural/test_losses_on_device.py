"""Losses and normalizations on the strict device: the CPU's numbers, and no answer of the GPU's that is waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops, value_and_grad
from tests import strict_device

LOGITS = np.random.default_rng(5).standard_normal((8, 6)).astype(np.float32)
IMAGES = 3 + np.random.default_rng(6).standard_normal((4, 3, 5, 5)).astype(np.float32)
WEIGHT = np.linspace(0.5, 2, 6, dtype=np.float32)
LABELS = np.array([0, 5, -100, 2, 3, 3, -100, 1], np.int32)
WRONG = np.array([0, 6, -100, 2, -1, 3, -100, 1], np.int32)

LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "mean": lambda x, labels: ops.cross_entropy(x, labels),
    "sum": lambda x, labels: ops.cross_entropy(x, labels, reduction="sum"),
    "weights": lambda x, labels: ops.cross_entropy(x, labels, Tensor(WEIGHT)),
    "smoothing": lambda x, labels: ops.cross_entropy(x, labels, label_smoothing=0.2),
    "both, alone": lambda x, labels: ops.cross_entropy(
        x, labels, Tensor(WEIGHT), reduction="none", label_smoothing=0.2
    ).sum(),
    "nll": lambda x, labels: ops.nll_loss(ops.log_softmax(x), labels),
}


def numbers(*tensors: Tensor) -> list[Any]:
    return [tensor.asnumpy().astype(np.float64) for tensor in tensors]


def both(compute: Callable[[], Any]) -> tuple[Any, Any, list[Any]]:
    """Return the results on the CPU and on the device, and the synchronizations."""
    on_cpu = numbers(*compute())
    with strict_device.device() as counts:
        result = compute()
        waited = list(counts.synchronizations)
        return on_cpu, numbers(*result), waited


@pytest.mark.parametrize("name", LOSSES)
def test_a_cross_entropy_is_the_cpus_and_waits_for_nothing(name: str) -> None:
    want, result, waited = both(lambda: value_and_grad(LOSSES[name])(Tensor(LOGITS), Tensor(LABELS)))
    for first, second in zip(result, want, strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)
    assert not waited


@pytest.mark.parametrize("name", LOSSES)
def test_a_label_that_is_no_class_is_told_of_when_numbers_are_read_and_gives_nan(name: str) -> None:
    with pytest.raises(ValueError, match=r"must .*(6|range)"):
        LOSSES[name](Tensor(LOGITS), Tensor(WRONG))
    with strict_device.device() as counts:
        loss, slope = value_and_grad(LOSSES[name])(Tensor(LOGITS), Tensor(WRONG))
        assert not counts.synchronizations, counts
        with pytest.raises(ValueError, match=r"must be in \[0, 6\) or -100, but got 6.*test_losses_on_device.py:"):
            loss.asnumpy()
        assert np.isnan(loss.asnumpy())
        rows = np.isnan(slope.asnumpy()).any(axis=1)
        assert rows[1] and rows[4]
        assert name not in ("sum", "both, alone") or rows.sum() == 2


def test_the_weights_of_labels_are_added_up_where_they_are() -> None:
    def compute() -> Any:
        return ops.NLLLoss("mean")(Tensor(LOGITS), Tensor(np.maximum(LABELS, 1)), Tensor(WEIGHT))

    want, result, waited = both(compute)
    np.testing.assert_allclose(result[0], want[0], rtol=1e-5)
    np.testing.assert_allclose(result[1], want[1], rtol=1e-6)
    assert not waited


def test_batch_norm_moves_its_statistics_without_waiting() -> None:
    def compute() -> Any:
        norm = nn.BatchNorm2d(3).set_train()
        y = norm(Tensor(IMAGES))
        return y, norm.moving_mean, norm.moving_variance, norm.set_train(False)(Tensor(IMAGES))

    want, result, waited = both(compute)
    for first, second in zip(result, want, strict=True):
        np.testing.assert_allclose(first, second, rtol=2e-5, atol=1e-5)
    assert not waited


@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16], ids=str)
def test_rms_norm_is_the_cpus(dtype: Any) -> None:
    def compute() -> Any:
        x, gamma = Tensor(LOGITS, dtype), Tensor(WEIGHT, dtype)
        loss, slopes = value_and_grad(lambda x, gamma: ops.rms_norm(x, gamma, 1e-3)[0].sum(), (0, 1))(x, gamma)
        return loss, *slopes, *ops.rms_norm(x, gamma, 1e-3)

    want, result, waited = both(compute)
    for first, second in zip(result, want, strict=True):
        np.testing.assert_allclose(first, second, rtol=2e-2 if dtype is ms.bfloat16 else 1e-5, atol=1e-5)
    assert not waited
