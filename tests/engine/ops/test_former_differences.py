"""Former differences from MindSpore 2.10 from random cases (`tests/differential`); the numbers are MindSpore's."""

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
LOGITS, LABELS, WEIGHTS = t([[1.0, 2, 3, 4], [0, 1, 0, -1]]), t([1, 2], ms.int32), t([1.0, 2, 3, 0.5])
CASES: dict[str, tuple[Callable[[], Tensor], Any, Any]] = {
    # what: (call, dtype, numbers)
    "softmax without dim, 3 axes": (
        lambda: mint.nn.Softmax()(STEPS.reshape(2, 3, 4))[0, 0],
        ms.float32,
        [6.144174e-06] * 4,
    ),
    "softmax without dim, 4 axes": (
        lambda: mint.nn.functional.softmax(STEPS.reshape(1, 2, 3, 4))[0, 1, 0],
        ms.float32,
        [9.999938e-01] * 4,
    ),
    "softmax without dim, 2 axes": (
        lambda: mint.nn.functional.softmax(t([[0.0, 1, 2]])),
        ms.float32,
        [[0.0900306, 0.2447285, 0.6652409]],
    ),
    "nansum in an integer dtype": (lambda: ops.nansum(t([1.6, 2.6, NAN]), dtype=ms.int64), ms.int64, 4),
    "nansum of half precision in an integer dtype": (
        lambda: mint.nansum(t([1.6, 2.6, NAN], ms.float16), dtype=ms.int64),
        ms.int64,
        4,
    ),
    "nanmean in an integer dtype": (lambda: t([1.6, 2.6, NAN]).nanmean(dtype=ms.int64), ms.int64, 2),
    "unsigned to a negative power": (lambda: ops.pow(t([2, 3, 1], ms.uint8), -1), ms.uint8, [0, 0, 1]),
    "hardtanh of integers": (lambda: ops.hardtanh(t([3, -3, 0], ms.int32), -2.7, 2.7), ms.int32, [2, -2, 0]),
    "hardtanh of small integers": (lambda: ops.hardtanh(t([3, -3, 0], ms.int8)), ms.int8, [1, -1, 0]),
    "hardtanh of unsigned integers": (lambda: ops.hardtanh(t([3, 253], ms.uint8), -2, 2), ms.uint8, [2, 2]),
    "hardtanh of bools": (lambda: ops.hardtanh(t([True, False], ms.bool_)), ms.bool_, [True, False]),
    "linear of integers": (
        lambda: mint.nn.functional.linear(t([[1, 2]], ms.int8), t([[3, 2]], ms.int8)),
        ms.int8,
        [[7]],
    ),
    "dense of integers with a bias": (
        lambda: ops.dense(t([[1, 2]], ms.int32), t([[1, 2]], ms.int32), t([3], ms.int32)),
        ms.int32,
        [[8]],
    ),
    "positive of bools": (lambda: ops.positive(t([True, False], ms.bool_)), ms.bool_, [True, False]),
    "xdivy of half precision by bools": (lambda: ops.xdivy(t([1.0], ms.float16), t([True], ms.bool_)), ms.float16, [1]),
    "xlogy of half precision and bools": (
        lambda: ops.xlogy(t([1.0], ms.float16), t([True], ms.bool_)),
        ms.float16,
        [0],
    ),
    "infinity // 2": (lambda: t([INF, -INF, NAN, 3.0]) // 2, ms.float32, [INF, -INF, NAN, 1]),
    "floor_divide of infinity": (lambda: mint.floor_divide(t([INF, -INF]), t([2.0, -2.0])), ms.float32, [INF, INF]),
    "std where nothing is left to divide by": (
        lambda: ops.std(t([[1.0, 3.0], [2.0, 2.0]]), 1, 2),
        ms.float32,
        [INF, NAN],
    ),
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
        lambda: ops.nll_loss(t([[1.0, 2]], ms.float16), t([1], ms.int32), t([1.0, 2])),
        ms.float32,
        -2,
    ),
    "L1Regularizer of half precision": (lambda: nn.L1Regularizer(0.5)(t([[1.0, 2]], ms.float16)), ms.float32, 1.5),
    "ReplicationPad that takes away": (
        lambda: nn.ReplicationPad1d((-2, 1))(t([[[0.0, 1, 2, 3, 4]]])),
        ms.float32,
        [[[2, 3, 4, 4]]],
    ),
    "logit's slope": (lambda: slope(ops.logit, t([-1.0, 0, 0.5, 1, 2])), ms.float32, [NAN, INF, 4, INF, NAN]),
    "logit of half precision": (lambda: ops.logit(t([0.5, 2.0], ms.float16)), ms.float16, [0, NAN]),
    "histc up to a bound that has no binary form": (
        lambda: ops.histc(t([-0.3, 0.2, 0.5, -2.0, 0.0]), 4, -0.3, 0.0),
        ms.float32,
        [1, 0, 0, 1],
    ),
    "ldexp by a number": (lambda: ops.ldexp(t([1.0, 2.0]), 2), ms.float32, [4, 8]),
    "a method's ldexp of integers": (lambda: t([1, 2], ms.int8).ldexp(0), ms.float32, [1, 2]),
    "xlogy of 0 and NaN": (lambda: ops.xlogy(t([0.0, 2.0]), t([NAN, 1.0])), ms.float32, [NAN, 0]),
    "acosh's slope": (lambda: slope(ops.acosh, t([-1.0, 0, 1, 2])), ms.float32, [NAN, NAN, INF, 0.5773503]),
    "NthElement with NaN among them": (lambda: ops.NthElement(True)(t([1.0, NAN, 3, 2]), 1), ms.float32, 3),
    "GroupNorm that is not trained": (
        lambda: mint.nn.GroupNorm(2, 4, affine=False)(t([[1.0, 2, 3, 5]])),
        ms.float32,
        [[-0.99998, 0.99998, -0.999995, 0.999995]],
    ),
    "cosine_similarity of short vectors": (
        lambda: ops.cosine_similarity(t([[0.1, 0.1, 0.1]]), t([[2.0, 2, 2]]), 1, 0.7),
        ms.float32,
        [0.8571429],
    ),
    "the slope of a cosine of short vectors": (
        lambda: slope(lambda x: ops.cosine_similarity(x, t([[2.0, 2, 2]]), 1, 0.7), t([[0.1, 0.1, 0.1]])),
        ms.float32,
        [[2.857143] * 3],
    ),
    "a class's weight has a gradient": (
        lambda: slope(lambda w: ops.cross_entropy(LOGITS, LABELS, w), WEIGHTS),
        ms.float32,
        [0, 0.09764001, -0.06509334, 0],
    ),
    "a class's weight has a gradient in a sum": (
        lambda: slope(lambda w: ops.cross_entropy(LOGITS, LABELS, w, reduction="sum"), WEIGHTS),
        ms.float32,
        [0, 2.4401894, 1.6265227, 0],
    ),
    "a class's weight has a gradient, smoothed": (
        lambda: slope(lambda w: nn.CrossEntropyLoss(w, label_smoothing=0.1)(LOGITS, LABELS), WEIGHTS),
        ms.float32,
        [0.02533356, 0.08127591, -0.06518409, 0.01533356],
    ),
    "a class's weight has a gradient in nll_loss": (
        lambda: slope(lambda w: ops.nll_loss(LOGITS, LABELS, w), WEIGHTS),
        ms.float32,
        [0, -0.24, 0.16, 0],
    ),
    "bincount's weights have a gradient": (
        lambda: slope(lambda w: t([0, 2, 2], ms.int32).bincount(w) * t([1.0, 2, 3]), t([1.0, 2, 3])),
        ms.float32,
        [1, 3, 3],
    ),
    "bincount of weights": (
        lambda: ops.bincount(t([0, 2, 2], ms.int32), t([1.0, 2, 3], ms.float16), 4),
        ms.float32,
        [1, 0, 5, 0],
    ),
    "the slope of a quotient's integer part, by 0": (
        lambda: slope(lambda x: mint.div(x, 0, rounding_mode="trunc"), t([1.0, 0, -2])),
        ms.float32,
        [0, 0, 0],
    ),
    "a sum of bools in bools": (lambda: mint.sum(t([0.0, 2]), 0, dtype=ms.bool_), ms.bool_, True),
    "a method's sum in bools": (lambda: t([0.0, 0]).sum(dtype=ms.bool_), ms.bool_, False),
    "sum of unsigned integers of 16 bits": (lambda: mint.sum(t([1, 2], ms.uint16)), ms.uint16, 3),
    "prod of unsigned integers of 64 bits": (lambda: t([3, 2], ms.uint64).prod(), ms.uint64, 6),
    "sum of bytes": (lambda: ops.sum(t([200, 100], ms.uint8)), ms.int64, 300),
    "argmin of a number": (lambda: ops.argmin(t(3.0)), ms.int64, 0),
    "max with a fraction as initial": (
        lambda: t([[1, 2, 0, 4]], ms.int32).max(axis=0, initial=0.5, where=t([[True, False, True, True]], ms.bool_)),
        ms.int32,
        [1, 0, 0, 4],
    ),
    "hann_window": (lambda: ops.hann_window(4), ms.float64, [0, 0.5, 1, 0.5]),
    "kaiser_window": (lambda: ops.kaiser_window(1), ms.float64, [1]),
    "threshold of integers": (lambda: ops.threshold(t([3, -3, 0], ms.int8), 0.1, 20.7), ms.int8, [3, 20, 20]),
    "mint's nuclear norm": (lambda: mint.norm(t([[1.0, 0], [0, -3]]), "nuc", keepdim=True), ms.float32, [[4]]),
    "numpy.select's default takes the choices' dtype": (
        lambda: ms.numpy.select([t([True, False], ms.bool_)], [t([1.0, 2], ms.float16)], 2.5),
        ms.float16,
        [1, 2.5],
    ),
    "logdet's slope where the determinant is negative": (
        lambda: slope(ops.logdet, t([[1.0, 2], [3, 4]])),
        ms.float32,
        [[-2, 1.5], [1, -0.5]],
    ),
    "numpy.sum converts first": (lambda: ms.numpy.sum(t([0.6, 0.6, 0.6, -1.7]), dtype=ms.int32), ms.int32, -1),
    "numpy.unravel_index of Int64": (lambda: ms.numpy.unravel_index(t([1, 2], ms.int64), (2, 2))[0], ms.int64, [0, 1]),
    "softshrink's slope at NaN": (
        lambda: slope(lambda x: ops.softshrink(x, 0.5), t([0.5, 0.51, -0.5, -1.2, 0, NAN])),
        ms.float32,
        [0, 1, 0, 1, 0, 1],
    ),
}


def test_a_part_of_no_elements_is_one_part() -> None:
    nothing = t(np.zeros((0, 3)))
    for parts in (ops.split(nothing, 2), ops.chunk(nothing, 3), nothing.split(2), nothing.chunk(2)):
        assert [part.shape for part in parts] == [(0, 3)]
    assert [item.shape for item in ops.split(nothing, [0, 0])] == [(0, 3)] * 2


@pytest.mark.parametrize("what", CASES)
def test_the_answer_is_mindspores(what: str) -> None:
    call, dtype, numbers = CASES[what]
    result = call()
    assert result.dtype == dtype and result.shape == np.shape(numbers)
    close = 1e-3 if dtype == ms.float16 else 2e-6
    np.testing.assert_allclose(result.asnumpy().astype(np.float64), np.array(numbers, np.float64), rtol=close)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "gather, leading axes differ": (
        lambda: ops.gather(t([[1.0, 2], [3, 4]]), t([[0], [1], [2]], ms.int32), 1, 1),
        RuntimeError,
        "lengths must be equal",
    ),
    "gather, batch_dims": (
        lambda: ops.gather(t([[1.0, 2], [3, 4]]), t([[0], [9]], ms.int32), 1, 3),
        ValueError,
        "'batch_dims' must be",
    ),
    "gather of no axes": (lambda: ops.gather(t(3.0), t(0, ms.int32), 0), ValueError, "at least 1 axis"),
    "index_add to no axes": (lambda: ops.index_add(t(3.0), t([0], ms.int32), t(3.0), 0), ValueError, "at least 1 axis"),
    "index_fill of no axes": (lambda: ops.index_fill(t(3.0), 0, t(0, ms.int32), 0.5), ValueError, "at least 1 axis"),
    "scatter_max of no axes": (lambda: ops.scatter_max(t(1.0), t(0, ms.int64), t(2.0)), ValueError, "at least 1 axis"),
    "IndexPut past the end": (lambda: ops.IndexPut()(t([1.0, 2]), t([5.0]), (t([7], ms.int32),)), ValueError, "7..7"),
    "ScatterAddWithAxis past the end": (
        lambda: ops.ScatterAddWithAxis()(t([1.0, 2]), t([-7], ms.int32), t([5.0])),
        ValueError,
        "-7..-7",
    ),
    "unsorted_segment_max of bools": (
        lambda: ops.unsorted_segment_max(t([True], ms.bool_), t([0], ms.int32), 2),
        TypeError,
        "have an order",
    ),
    "ReflectionPad that takes away": (lambda: nn.ReflectionPad1d((-1, 1)), ValueError, "not below 0"),
    "a method's min of a tensor": (lambda: t([1.0]).min(t(1, ms.int64)), TypeError, "must be an int or a tuple"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_mindspore_refuses_is_refused_with_the_same_class(what: str) -> None:
    call, kind, text = REFUSED[what]
    with pytest.raises(kind, match=text):
        call()


def test_unsorted_segments_of_bfloat16_begin_with_the_least_number() -> None:
    result = ops.unsorted_segment_max(t([1.5, 2.5], ms.bfloat16), t([0, 0], ms.int32), 2)
    assert result.dtype == ms.bfloat16
    assert result.astype(ms.float32).asnumpy().tolist() == [2.5, -3.3895313892515355e38]


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
    result = ops.logsigmoid(Tensor(np.array(0.5 + 1j, np.complex64)))
    np.testing.assert_allclose(result.asnumpy(), -0.3523647 + 0.3669903j, rtol=1e-6)


@pytest.mark.parametrize(
    ("what", "tensor", "number", "dtype", "numbers"),
    [
        (lambda x, y: x * y, t([1.5, 1001], ms.float16), t(0.1), ms.float16, [0.1500244140625, 100.125]),
        (lambda x, y: y * x, t([1.5, 1001], ms.float16), t(0.1), ms.float16, [0.1500244140625, 100.125]),
        (lambda x, y: x.mul(y), t([1.5], ms.float16), t(70000.0, ms.float64), ms.float16, [INF]),
        (lambda x, y: mint.mul(x, y), t([1.5]), t(0.5, ms.float64), ms.float32, [0.75]),
        (lambda x, y: ops.Mul()(x, y), t([1.5], ms.float16), Parameter(t(2.0), "w"), ms.float16, [3.0]),
        (lambda x, y: x / y, t([1001, 2.0], ms.float16), t(0.1), ms.float16, [10008.0, 20.0]),
        (lambda x, y: ops.div(y, x), t([1.5, 2.0], ms.float16), t(0.1), ms.float16, [0.066650390625, 0.04998779296875]),
        (lambda x, y: mint.div(x, y), t([1.5]), t(0.5, ms.float64), ms.float32, [3.0]),
        (lambda x, y: x * y, t([100, 2], ms.int8), t(300, ms.int64), ms.int8, [48, 88]),
        (lambda x, y: x * y, t([100, 2], ms.int32), t(2**33 + 3, ms.int64), ms.int32, [300, 6]),
        (lambda x, y: x * y, t([100, 2], ms.int16), t(300, ms.int32), ms.int16, [30000, 600]),
        (lambda x, y: x * y, t([100, 2], ms.int8), t(300, ms.int32), ms.int32, [30000, 600]),
        (lambda x, y: x + y, t([1.5], ms.float16), t(0.5), ms.float32, [2.0]),
        (lambda x, y: x * y, t(1.5, ms.float16), t(0.5), ms.float32, 0.75),
        (lambda x, y: x * y, t([1, 2], ms.int32), t(0.5, ms.float64), ms.float64, [0.5, 1.0]),
    ],
)
def test_a_tensor_without_axes_is_a_number_in_products_and_quotients(
    what: Any, tensor: Tensor, number: Tensor, dtype: Any, numbers: Any
) -> None:
    out = what(tensor, number)
    assert out.dtype == dtype and out.asnumpy().tolist() == numbers


def test_the_gradients_beside_a_tensor_without_axes_have_the_dtypes_of_both() -> None:
    x, y = t([1001.0, 2.0], ms.float16), t(0.1)
    of_x, of_y = slope(lambda x, y: x * y, x, y)
    assert of_x.dtype == ms.float16 and of_x.asnumpy().tolist() == [0.0999755859375] * 2
    assert of_y.dtype == ms.float32 and of_y.shape == () and of_y.asnumpy() == 1003.0
    x *= y
    assert x.dtype == ms.float16
