"""Half precision is added up in Float32 and rounded once, whatever the axis and the layout of the memory.

The reference is NumPy in float64, of the very numbers in half precision. A result may be off by the one rounding to its
dtype, and by what the steps before it (a product, a square) round where a function has several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.numpy as mnp
from hookscope.engine import Tensor, grad, mint, nn, ops

ROWS = 4000
BASE = (np.random.default_rng(0).random((ROWS, 3)) + 0.5).astype(np.float32) * np.float32(0.01)
ZEROS = Tensor(np.zeros(ROWS, np.int32))
ROUNDING = {ms.float16: 2.0**-11, ms.bfloat16: 2.0**-8}
HALVES = [ms.float16, ms.bfloat16]
LAYOUTS: dict[str, Callable[[Any], Tensor]] = {
    "rows": lambda dtype: Tensor(BASE).astype(dtype),
    "columns": lambda dtype: Tensor(np.ascontiguousarray(BASE.T)).astype(dtype).T,
    "every second row": lambda dtype: Tensor(np.repeat(BASE, 2, 0)).astype(dtype)[::2],
}


def wide(x: Tensor) -> np.ndarray[Any, Any]:
    return x.astype(ms.float64).asnumpy()


def compare(result: Tensor, expected: Any, dtype: Any, roundings: float = 1) -> None:
    assert result.dtype == dtype
    np.testing.assert_allclose(wide(result), expected, rtol=1.1 * roundings * ROUNDING[dtype])


REDUCTIONS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Any], Any], float]] = {
    "ops.sum": (lambda x: ops.sum(x, 0), lambda x: x.sum(0), 1),
    "ReduceSum": (lambda x: ops.ReduceSum(keep_dims=True)(x, 0), lambda x: x.sum(0, keepdims=True), 1),
    "x.sum": (lambda x: x.sum(), lambda x: x.sum(), 1),
    "mean": (lambda x: ops.mean(x, 0), lambda x: x.mean(0), 1),
    "mean of all": (lambda x: x.mean(), lambda x: x.mean(), 1),
    "var": (lambda x: (x * 64).var(0), lambda x: (x * 64).var(0), 1),
    "std": (lambda x: ops.std(x, 0), lambda x: x.std(0), 1),
    "var_mean": (lambda x: ops.var_mean(x, 0)[1], lambda x: x.mean(0), 1),
    "prod": (lambda x: ops.prod(x[:20] * 128, 0), lambda x: (x[:20] * 128).prod(0), 1),
    "nansum": (lambda x: ops.nansum(x, 0), lambda x: x.sum(0), 1),
    "sum_to_size": (lambda x: x.sum_to_size(1, 3), lambda x: x.sum(0, keepdims=True), 1),
    "norm": (lambda x: ops.norm(x, 2, 0), lambda x: np.sqrt((x * x).sum(0)), 1),
    "norm 3": (lambda x: ops.norm(x, 3, 0), lambda x: (x**3).sum(0) ** (1 / 3), 1),
    "vector_norm": (lambda x: ops.vector_norm(x, axis=0), lambda x: np.sqrt((x * x).sum(0)), 1),
    "logsumexp": (lambda x: ops.logsumexp(x, 0), lambda x: np.log(np.exp(x).sum(0)), 1),
    "cumsum": (lambda x: ops.cumsum(x, 0), lambda x: x.cumsum(0), 1),
    "x.cumsum": (lambda x: x.cumsum(0), lambda x: x.cumsum(0), 1),
    "trapz": (lambda x: ops.trapz(x, dim=0), lambda x: ((x[1:] + x[:-1]) / 2).sum(0), 2),
    "average": (lambda x: mnp.average(x, 0), lambda x: x.mean(0), 2),
    "cosine": (lambda x: ops.cosine_similarity(x, x, 0), lambda x: np.ones(3), 1),
    "L2Normalize": (lambda x: ops.L2Normalize(0)(x), lambda x: x / np.sqrt((x * x).sum(0)), 1),
    "normalize": (lambda x: mint.nn.functional.normalize(x, dim=0), lambda x: x / np.sqrt((x * x).sum(0)), 1),
    "softmax": (lambda x: ops.softmax(x, 0), lambda x: np.exp(x) / np.exp(x).sum(0), 1),
    "log_softmax": (lambda x: ops.log_softmax(x, 0), lambda x: x - np.log(np.exp(x).sum(0)), 1),
    "addn": (lambda x: ops.addn([x[i] for i in range(300)]), lambda x: x[:300].sum(0), 1),
    "einsum": (lambda x: ops.einsum("ij->j", x), lambda x: x.sum(0), 1),
    "einsum product": (lambda x: ops.einsum("ij,ik->jk", x, x), lambda x: x.T @ x, 1),
    "matmul": (lambda x: ops.matmul(x.T, x), lambda x: x.T @ x, 1),
    "bmm": (lambda x: ops.bmm(x.T[None], x[None])[0], lambda x: x.T @ x, 1),
    "tensor_dot": (lambda x: ops.tensor_dot(x, x, ((0,), (0,))), lambda x: x.T @ x, 1),
    "segment sum": (lambda x: ops.unsorted_segment_sum(x, ZEROS, 1)[0], lambda x: x.sum(0), 1),
    "index_add": (lambda x: ops.index_add(ops.zeros((1, 3), x.dtype), ZEROS, x, 0)[0], lambda x: x.sum(0), 1),
    "tensor_scatter_add": (
        lambda x: ops.tensor_scatter_add(ops.zeros((1, 3), x.dtype), ZEROS[:, None], x)[0],
        lambda x: x.sum(0),
        1,
    ),
    "scatter_nd": (lambda x: ops.scatter_nd(ZEROS[:, None], x, (1, 3))[0], lambda x: x.sum(0), 1),
    "scatter_add": (
        lambda x: ops.zeros((1, 3), x.dtype).scatter_add(0, Tensor(np.zeros((ROWS, 3), np.int64)), x)[0],
        lambda x: x.sum(0),
        1,
    ),
    "index_put": (
        lambda x: ops.zeros((1, 3), x.dtype).index_put((ZEROS.astype(ms.int64),), x, True)[0],
        lambda x: x.sum(0),
        1,
    ),
    "avg_pool2d": (lambda x: ops.avg_pool2d(x.T.reshape(1, 3, 40, 100), (40, 100)).reshape(3), lambda x: x.mean(0), 1),
    "adaptive_avg_pool2d": (
        lambda x: ops.adaptive_avg_pool2d(x.T.reshape(1, 3, 40, 100), 1).reshape(3),
        lambda x: x.mean(0),
        1,
    ),
    "conv2d": (
        lambda x: ops.conv2d(x.T.reshape(1, 3, 40, 100), x.T.reshape(1, 3, 40, 100)).reshape(()),
        lambda x: (x * x).sum(),
        1,
    ),
    "mse_loss": (lambda x: ops.mse_loss(x, x * 0), lambda x: (x * x).mean(), 2),
    "l1_loss": (lambda x: ops.l1_loss(x, x * 0, "sum"), lambda x: x.sum(), 1),
    "nll_loss": (lambda x: -ops.nll_loss(x, ZEROS, reduction="sum"), lambda x: x[:, 0].sum(), 1),
    "multilabel_soft_margin_loss": (
        lambda x: ops.multilabel_soft_margin_loss(x * 0 + 2.5, x * 0 + 1),
        lambda x: np.log1p(np.exp(-2.5)),
        1,
    ),
    "nn.L1Loss": (lambda x: nn.L1Loss()(x, x * 0), lambda x: x.mean(), 1),
}


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_half_precision_is_added_in_float32(name: str, layout: str, dtype: Any) -> None:
    function, reference, roundings = REDUCTIONS[name]
    x = LAYOUTS[layout](dtype)
    compare(function(x), reference(wide(x)), dtype, roundings)


def test_a_hundred_thousand_numbers_are_not_stuck() -> None:
    for dtype, shape in ((ms.float16, (20000, 2)), (ms.bfloat16, (100000, 2))):
        x = ops.full(shape, 2.4, dtype=dtype)
        expected = wide(x).sum(0)
        for result in (x.sum(0), ops.ones(2, dtype) * 0 + x.sum(0), ops.matmul(ops.ones((1, shape[0]), dtype), x)[0]):
            compare(result, expected, dtype)


@pytest.mark.parametrize("value", [300.0, 1e-4])
def test_squares_on_the_way_neither_overflow_nor_vanish(value: float) -> None:
    x = Tensor(np.full((4, 3), value, np.float16))
    cases: list[Callable[[Tensor], Tensor]] = [
        ops.norm,
        lambda x: ops.norm(x, 3, 0),
        ops.vector_norm,
        ops.matrix_norm,
        mint.norm,
        lambda x: x.std() + x[0, 0],
        lambda x: ops.L2Normalize(0, 1e-30)(x),
        lambda x: mint.nn.functional.normalize(x, dim=0),
        lambda x: ops.cosine_similarity(x, x, 0),
        lambda x: ops.renorm(x, 2.0, 0, 1e-5),
        lambda x: ops.cdist(x, -x),
        lambda x: ops.dist(x, -x),
        lambda x: ops.clip_by_norm(x, 1e-2),
        lambda x: nn.Norm()(x),
        lambda x: ops.clip_by_global_norm((x,), 1e-2)[0],
        lambda x: ops.lp_pool1d(x.reshape(1, 3, 4), 2.0, 2),
    ]
    for function in cases:
        expected = function(x.astype(ms.float64)).asnumpy()
        result = function(x)
        assert result.dtype == ms.float16
        np.testing.assert_allclose(result.asnumpy(), expected, rtol=2.0**-10, atol=2.0**-24)


BROADCAST: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda x, b: x + b,
    "sub": lambda x, b: b - x,
    "broadcast_to": lambda x, b: ops.broadcast_to(b, x.shape),
    "tile": lambda x, b: ops.tile(b, (ROWS, 1)),
    "gather": lambda x, b: ops.gather(b[None], ZEROS, 0),
    "getitem": lambda x, b: b[None][ZEROS],
    "index_select": lambda x, b: ops.index_select(b[None], 0, ZEROS),
    "gather_nd": lambda x, b: ops.gather_nd(b[None], ZEROS[:, None]),
    "gather_elements": lambda x, b: ops.gather_elements(b[None], 0, Tensor(np.zeros((ROWS, 3), np.int32))),
    "embedding": lambda x, b: mint.nn.functional.embedding(ZEROS, b[None]),
    "repeat_interleave": lambda x, b: ops.repeat_interleave(b[None], ROWS, 0),
    "where": lambda x, b: ops.where(x > 0, b, x),
    "dense": lambda x, b: ops.dense(x, ops.zeros((3, 3), x.dtype), b),
    "bias_add": lambda x, b: ops.bias_add(x, b),
    "maximum": lambda x, b: ops.maximum(x, b),
    "layer_norm": lambda x, b: ops.layer_norm(x, (3,), ops.ones(3, x.dtype), b),
    "conv1d": lambda x, b: ops.conv1d(x.T[None], ops.zeros((3, 3, 1), x.dtype), b)[0].T,
}


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", BROADCAST)
def test_the_gradient_of_what_is_broadcast_is_added_in_float32(name: str, dtype: Any) -> None:
    x = LAYOUTS["rows"](dtype)
    result = grad(lambda b: (BROADCAST[name](x, b) * x).sum())(ops.ones(3, dtype))
    compare(result, wide(x).sum(0), dtype)


def test_the_gradient_of_a_product_with_what_is_broadcast_is_added_in_float32() -> None:
    for dtype in HALVES:
        x = LAYOUTS["rows"](dtype)
        result = grad(lambda b, x=x: (x * b).sum())(ops.ones(3, dtype))
        compare(result, wide(x).sum(0), dtype)


def test_gradients_of_sums_come_in_the_dtype_of_the_input() -> None:
    for dtype in HALVES:
        x = LAYOUTS["columns"](dtype)
        for call in (ops.norm, ops.var, lambda x: ops.logsumexp(x, 0), lambda x: ops.cosine_similarity(x, x * 2, 0)):
            result = grad(lambda x, call=call: call(x).sum())(x)
            assert result.dtype == dtype and result.shape == x.shape
            expected = grad(lambda x, call=call: call(x).sum())(x.astype(ms.float64)).asnumpy()
            np.testing.assert_allclose(wide(result), expected, rtol=16 * ROUNDING[dtype], atol=1e-6)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_gradients_that_meet_in_overlapping_windows_are_added_in_float32(dtype: Any) -> None:
    x = np.zeros((1, 1, 40, 40), np.float32)
    x[0, 0, 20, 20] = 1.0  # the largest of all windows that it is in
    arriving = Tensor(BASE[: 26 * 26, 0].reshape(1, 1, 26, 26)).astype(dtype)
    result = grad(lambda x: (ops.max_pool2d(x, 15, 1) * arriving).sum())(Tensor(x).astype(dtype))
    compare(result[0, 0, 20, 20], wide(arriving)[0, 0, 6:21, 6:21].sum(), dtype)
    ones = ops.ones((1, 225, 676), dtype)
    folded = ops.fold(ones.reshape(1, 1, 225, 676) * 0.01, Tensor([40, 40], ms.int32), [15, 15], [1, 1], [0, 0], [1, 1])
    compare(folded[0, 0, 20, 20], 225 * float(wide(ops.full((), 0.01, dtype=dtype))), dtype)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_running_products_are_rounded_once(dtype: Any) -> None:
    x = LAYOUTS["rows"](dtype)[:20] * 128
    compare(ops.cumprod(x, 0), wide(x).cumprod(0), dtype)
