"""What random cases (`tests/differential`) found to differ from MindSpore 2.10; the numbers are recorded from it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, mint, nn, ops

NAN, INF = math.nan, math.inf


def t(values: Any, dtype: Any = ms.float32) -> Tensor:
    return Tensor(np.array(values), dtype)


def slope(function: Callable[..., Any], *inputs: Tensor) -> Any:
    return ms.grad(lambda *x: function(*x).sum(), tuple(range(len(inputs))))(*inputs)


STEPS = t(np.arange(24.0))
CASES: dict[str, tuple[Callable[[], Tensor], Any, Any]] = {
    # what: (call, dtype, numbers)
    "softmax without dim, 3 axes": (
        lambda: mint.nn.Softmax()(STEPS.reshape(2, 3, 4))[0, 0], ms.float32, [6.144174e-06] * 4),
    "softmax without dim, 4 axes": (
        lambda: mint.nn.functional.softmax(STEPS.reshape(1, 2, 3, 4))[0, 1, 0], ms.float32, [9.999938e-01] * 4),
    "softmax without dim, 2 axes": (
        lambda: mint.nn.functional.softmax(t([[0.0, 1, 2]])), ms.float32, [[0.0900306, 0.2447285, 0.6652409]]),
    "nansum in an integer dtype": (lambda: ops.nansum(t([1.6, 2.6, NAN]), dtype=ms.int64), ms.int64, 4),
    "nansum of half precision in an integer dtype": (
        lambda: mint.nansum(t([1.6, 2.6, NAN], ms.float16), dtype=ms.int64), ms.int64, 4),
    "nanmean in an integer dtype": (lambda: t([1.6, 2.6, NAN]).nanmean(dtype=ms.int64), ms.int64, 2),
    "unsigned to a negative power": (lambda: ops.pow(t([2, 3, 1], ms.uint8), -1), ms.uint8, [0, 0, 1]),
    "hardtanh of integers": (lambda: ops.hardtanh(t([3, -3, 0], ms.int32), -2.7, 2.7), ms.int32, [2, -2, 0]),
    "hardtanh of small integers": (lambda: ops.hardtanh(t([3, -3, 0], ms.int8)), ms.int8, [1, -1, 0]),
    "hardtanh of unsigned integers": (lambda: ops.hardtanh(t([3, 253], ms.uint8), -2, 2), ms.uint8, [2, 2]),
    "hardtanh of bools": (lambda: ops.hardtanh(t([True, False], ms.bool_)), ms.bool_, [True, False]),
    "linear of integers": (
        lambda: mint.nn.functional.linear(t([[1, 2]], ms.int8), t([[3, 2]], ms.int8)), ms.int8, [[7]]),
    "dense of integers with a bias": (
        lambda: ops.dense(t([[1, 2]], ms.int32), t([[1, 2]], ms.int32), t([3], ms.int32)), ms.int32, [[8]]),
    "positive of bools": (lambda: ops.positive(t([True, False], ms.bool_)), ms.bool_, [True, False]),
    "xdivy of half precision by bools": (lambda: ops.xdivy(t([1.0], ms.float16), t([True], ms.bool_)), ms.float16, [1]),
    "xlogy of half precision and bools": (
        lambda: ops.xlogy(t([1.0], ms.float16), t([True], ms.bool_)), ms.float16, [0]),
    "infinity // 2": (lambda: t([INF, -INF, NAN, 3.0]) // 2, ms.float32, [INF, -INF, NAN, 1]),
    "floor_divide of infinity": (
        lambda: mint.floor_divide(t([INF, -INF]), t([2.0, -2.0])), ms.float32, [INF, INF]),
    "std where nothing is left to divide by": (
        lambda: ops.std(t([[1.0, 3.0], [2.0, 2.0]]), 1, 2), ms.float32, [INF, NAN]),
    "var where nothing is left to divide by": (lambda: t([1.0, 3.0]).var(ddof=2), ms.float32, INF),
    "i0 of half precision": (lambda: ops.i0(t([12.5], ms.float16)), ms.float16, [30592]),
    "bessel_i1 of half precision": (lambda: ops.bessel_i1(t([12.5], ms.float16)), ms.float16, [29344]),
    "bessel_k0 of half precision": (lambda: ops.bessel_k0(t([2.5], ms.float16)), ms.float16, [0.06235]),
    "celu of half precision": (lambda: ops.celu(t([-1.75], ms.float16), -0.14), ms.float16, [-37568]),
    "cov of one row": (lambda: t([[1, 2, 3]], ms.int64).cov(), ms.float32, 1),
    "a scaled number beside integers": (lambda: mint.sub(t([1], ms.int32), 1, alpha=2), ms.int32, [-1]),
    "a scaled number beside unsigned integers": (lambda: mint.add(t([1], ms.uint8), 100, alpha=3), ms.uint8, [45]),
    "a method's scaled number": (lambda: t([1], ms.int8).add(1, alpha=2), ms.int8, [3]),
    "a method's trace of integers": (lambda: t([[1, 2], [3, 4]], ms.int8).trace(), ms.int64, 5),
    "trace of integers": (lambda: ops.trace(t([[1, 2], [3, 4]], ms.int8)), ms.int8, 5),
    "prelu of half precision": (lambda: ops.prelu(t([[-1.0, 2]], ms.float16), t([0.25])), ms.float16, [[-0.25, 2]]),
    "nll_loss of half precision with weights": (
        lambda: ops.nll_loss(t([[1.0, 2]], ms.float16), t([1], ms.int32), t([1.0, 2])), ms.float32, -2),
    "L1Regularizer of half precision": (lambda: nn.L1Regularizer(0.5)(t([[1.0, 2]], ms.float16)), ms.float32, 1.5),
    "ReplicationPad that takes away": (
        lambda: nn.ReplicationPad1d((-2, 1))(t([[[0.0, 1, 2, 3, 4]]])), ms.float32, [[[2, 3, 4, 4]]]),
    "logit's slope": (lambda: slope(ops.logit, t([-1.0, 0, 0.5, 1, 2])), ms.float32, [NAN, INF, 4, INF, NAN]),
    "logit of half precision": (lambda: ops.logit(t([0.5, 2.0], ms.float16)), ms.float16, [0, NAN]),
    "histc up to a bound that has no binary form": (
        lambda: ops.histc(t([-0.3, 0.2, 0.5, -2.0, 0.0]), 4, -0.3, 0.0), ms.float32, [1, 0, 0, 1]),
    "ldexp by a number": (lambda: ops.ldexp(t([1.0, 2.0]), 2), ms.float32, [4, 8]),
    "a method's ldexp of integers": (lambda: t([1, 2], ms.int8).ldexp(0), ms.float32, [1, 2]),
    "xlogy of 0 and NaN": (lambda: ops.xlogy(t([0.0, 2.0]), t([NAN, 1.0])), ms.float32, [NAN, 0]),
    "acosh's slope": (lambda: slope(ops.acosh, t([-1.0, 0, 1, 2])), ms.float32, [NAN, NAN, INF, 0.5773503]),
    "NthElement with NaN among them": (
        lambda: ops.NthElement(True)(t([1.0, NAN, 3, 2]), 1), ms.float32, 3),
    "GroupNorm that is not trained": (
        lambda: mint.nn.GroupNorm(2, 4, affine=False)(t([[1.0, 2, 3, 5]])),
        ms.float32, [[-0.99998, 0.99998, -0.999995, 0.999995]]),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_the_answer_is_mindspores(what: str) -> None:
    call, dtype, numbers = CASES[what]
    found = call()
    assert found.dtype == dtype and found.shape == np.shape(numbers)
    close = 1e-3 if dtype == ms.float16 else 2e-6
    np.testing.assert_allclose(found.asnumpy().astype(np.float64), np.array(numbers, np.float64), rtol=close)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "gather, leading axes differ": (
        lambda: ops.gather(t([[1.0, 2], [3, 4]]), t([[0], [1], [2]], ms.int32), 1, 1),
        RuntimeError, "lengths must be equal"),
    "gather, batch_dims": (
        lambda: ops.gather(t([[1.0, 2], [3, 4]]), t([[0], [9]], ms.int32), 1, 3), ValueError, "'batch_dims' must be"),
    "gather of no axes": (lambda: ops.gather(t(3.0), t(0, ms.int32), 0), ValueError, "at least 1 axis"),
    "index_add to no axes": (lambda: ops.index_add(t(3.0), t([0], ms.int32), t(3.0), 0), ValueError, "at least 1 axis"),
    "index_fill of no axes": (lambda: ops.index_fill(t(3.0), 0, t(0, ms.int32), 0.5), ValueError, "at least 1 axis"),
    "scatter_max of no axes": (lambda: ops.scatter_max(t(1.0), t(0, ms.int64), t(2.0)), ValueError, "at least 1 axis"),
    "IndexPut past the end": (lambda: ops.IndexPut()(t([1.0, 2]), t([5.0]), (t([7], ms.int32),)), ValueError, "7..7"),
    "ScatterAddWithAxis past the end": (
        lambda: ops.ScatterAddWithAxis()(t([1.0, 2]), t([-7], ms.int32), t([5.0])), ValueError, "-7..-7"),
    "unsorted_segment_max of bools": (
        lambda: ops.unsorted_segment_max(t([True], ms.bool_), t([0], ms.int32), 2), TypeError, "have an order"),
    "ReflectionPad that takes away": (lambda: nn.ReflectionPad1d((-1, 1)), ValueError, "not below 0"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_mindspore_refuses_is_refused_with_the_same_class(what: str) -> None:
    call, kind, text = REFUSED[what]
    with pytest.raises(kind, match=text):
        call()


def test_unsorted_segments_of_bfloat16_begin_with_the_least_number() -> None:
    found = ops.unsorted_segment_max(t([1.5, 2.5], ms.bfloat16), t([0, 0], ms.int32), 2)
    assert found.dtype == ms.bfloat16
    assert found.astype(ms.float32).asnumpy().tolist() == [2.5, -3.3895313892515355e38]


def test_the_running_figures_of_mints_batch_norm_are_parameters_that_are_not_trained() -> None:
    for layer in (mint.nn.BatchNorm2d(4, affine=False), mint.nn.SyncBatchNorm(4, affine=False)):
        names = ["running_mean", "running_var", "num_batches_tracked"]
        assert [(p.name, p.requires_grad) for p in layer.get_parameters()] == [(name, False) for name in names]
    assert [p.name for p in mint.nn.BatchNorm2d(4).trainable_params()] == ["weight", "bias"]


def test_running_figures_come_from_a_checkpoint(tmp_path: Any) -> None:
    layer, other = mint.nn.BatchNorm1d(2), mint.nn.BatchNorm1d(2)
    layer.set_train()(t([[1.0, 2], [3, 6]]))
    ms.save_checkpoint(layer, str(tmp_path / "norm.ckpt"))
    ms.load_param_into_net(other, ms.load_checkpoint(str(tmp_path / "norm.ckpt")))
    np.testing.assert_allclose(other.running_mean.asnumpy(), [0.2, 0.4], rtol=1e-6)
    np.testing.assert_allclose(other.running_var.asnumpy(), [1.1, 1.7], rtol=1e-6)
    assert other.num_batches_tracked.asnumpy() == 1


def test_group_norm_that_is_not_trained_has_its_parameters() -> None:
    parameters = mint.nn.GroupNorm(2, 4, affine=False).get_parameters()
    assert [(p.name, p.requires_grad) for p in parameters] == [("weight", False), ("bias", False)]


@pytest.mark.parametrize("options", [{"nesterov": True}, {"dampening": 0.3}])
def test_sgd_marks_its_first_step_in_its_state(options: dict[str, Any]) -> None:
    optimizer = nn.SGD([Parameter(t([1.0, 2.0]), "w")], 0.1, 0.9, **options)
    state = {p.name: p for p in optimizer.get_parameters()}
    assert state["stat.w"].asnumpy().tolist() == [1, 1]
    optimizer((t([1.0, 1.0]),))
    assert state["stat.w"].asnumpy().tolist() == [0, 0]


def test_logsigmoid_of_complex_numbers_is_the_formula() -> None:
    found = ops.logsigmoid(Tensor(np.array(0.5 + 1j, np.complex64)))
    np.testing.assert_allclose(found.asnumpy(), -0.3523647 + 0.3669903j, rtol=1e-6)
