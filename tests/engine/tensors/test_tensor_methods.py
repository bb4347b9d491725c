"""The methods of Tensor that differ from the function of ``ops`` of their name, or have none: what NumPy computes,
their two sets of arguments, and the gradients that pass through them."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, ops
from hookscope.engine.base import surfaces

x = np.array([[1.0, -2.0, 3.0, 0.25], [0.5, 4.0, -1.0, 2.0], [7.0, -3.0, 6.0, -0.75]])
n = np.array([[3, 0, 2, 3], [1, 1, 0, 2]], np.int32)
cube = np.arange(24.0).reshape(2, 3, 4) - 10
flags = np.array([[True, False], [True, True]])
picks = np.array([[0, 2, 1, 0], [1, 0, 2, 2]])
rows = np.array([2, 0])
X, N, CUBE, FLAGS, PICKS, ROWS = map(Tensor, (x, n, cube, flags, picks, rows))
OTHER = Tensor(np.linspace(-1, 1, 12).reshape(3, 4))
other = OTHER.asnumpy()


def added(values: Any, index: Any, more: Any) -> Any:
    changed = values.copy()
    np.add.at(changed, index, more)
    return changed


def put(values: Any, index: Any, more: Any) -> Any:
    changed = values.copy()
    changed[index] = more
    return changed


ALONG = (picks, np.arange(4))  # where x[picks[i, j], j] is
SOURCE = Tensor(np.arange(8.0).reshape(2, 4))
source = SOURCE.asnumpy()
TALL = np.zeros((5, 2))
ORDER = np.argsort(-x, 1, kind="stable")

CASES: dict[str, list[tuple[Callable[[], Any], Any]]] = {
    # Reductions
    "sum": [
        (lambda: X.sum(), x.sum()),
        (lambda: X.sum(axis=1, keepdims=True), x.sum(1, keepdims=True)),
        (lambda: X.sum(0, True), x.sum(0, keepdims=True)),
        (lambda: X.sum(dim=(0, 1), initial=2.0), x.sum() + 2),
        (lambda: N.sum(1, ms.float32), n.sum(1).astype(np.float32)),
        (lambda: N.sum(), n.sum(dtype=np.int64)),
    ],
    "mean": [
        (lambda: X.mean(), x.mean()),
        (lambda: X.mean(1, True), x.mean(1, keepdims=True)),
        (lambda: N.mean(dim=0, dtype=ms.float64), n.mean(0)),
    ],
    "prod": [(lambda: X.prod(1), x.prod(1)), (lambda: N.prod(keepdims=True), n.prod(keepdims=True, dtype=np.int64))],
    "all": [(lambda: FLAGS.all(), flags.all()), (lambda: FLAGS.all(0, True), flags.all(0, keepdims=True))],
    "any": [(lambda: FLAGS.any(), flags.any()), (lambda: FLAGS.any(dim=1), flags.any(1))],
    "max": [
        (lambda: X.max(), x.max()),
        (lambda: X.max(axis=1, keepdims=True), x.max(1, keepdims=True)),
        (lambda: X.max(1), (x.max(1), x.argmax(1))),
        (lambda: X.max(dim=0, keepdim=True), (x.max(0, keepdims=True), x.argmax(0)[None])),
        (lambda: X.max(axis=0, return_indices=True), (x.max(0), x.argmax(0))),
        (lambda: X.max(axis=0, initial=2.0, where=X > 0), x.max(0, initial=2.0, where=x > 0)),
    ],
    "min": [
        (lambda: X.min(), x.min()),
        (lambda: X.min(axis=1), x.min(1)),
        (lambda: X.min(0), (x.min(0), x.argmin(0))),
        (lambda: X.min(axis=1, initial=0.0), x.min(1, initial=0.0)),
    ],
    "argmax_with_value": [
        (lambda: X.argmax_with_value(), (x.max(0), x.argmax(0))),
        (lambda: X.argmax_with_value(1, True), (x.max(1, keepdims=True), x.argmax(1)[:, None])),
    ],
    "argmin_with_value": [(lambda: X.argmin_with_value(axis=1), (x.min(1), x.argmin(1)))],
    "cumsum": [(lambda: X.cumsum(), x.cumsum()), (lambda: N.cumsum(dim=1, dtype=ms.float64), n.cumsum(1) * 1.0)],
    "count_nonzero": [
        (lambda: N.count_nonzero(), np.int32(np.count_nonzero(n))),
        (lambda: N.count_nonzero(1, True), np.count_nonzero(n, 1, keepdims=True).astype(np.int32)),
        (lambda: N.count_nonzero(axis=None, dtype=ms.int64), np.int64(np.count_nonzero(n))),
    ],
    "trace": [
        (lambda: X.trace(), x.trace()),
        (lambda: CUBE.trace(1, 2, 0), cube.trace(1, 2, 0)),
        (lambda: N.trace(dtype=ms.float64), n.trace() * 1.0),
    ],
    "sum_to_size": [
        (lambda: X.sum_to_size(1, 4), x.sum(0, keepdims=True)),
        (lambda: CUBE.sum_to_size((3, 1)), cube.sum((0, 2))[:, None]),
    ],
    "allclose": [
        (lambda: X.allclose(X + 1e-9), True),
        (lambda: X.allclose(X + 1), False),
        (lambda: Tensor([np.nan]).allclose(Tensor([np.nan]), equal_nan=True), True),
    ],
    # Order
    "sort": [
        (lambda: X.sort(), (np.sort(x), np.argsort(x).astype(np.int32))),
        (lambda: X.sort(dim=1, descending=True), (np.take_along_axis(x, ORDER, 1), ORDER.astype(np.int32))),
    ],
    "argsort": [
        (lambda: X.argsort(0), np.argsort(x, 0).astype(np.int32)),
        (lambda: N.argsort(axis=None, stable=True), np.argsort(n, None, kind="stable").astype(np.int32)),
    ],
    "median": [
        (lambda: X.median(0), (np.median(x, 0), np.argsort(x, 0)[1])),
        (lambda: X[:, :3].median(keepdims=True), (np.median(x[:, :3], 1, keepdims=True), np.argsort(x[:, :3])[:, 1:2])),
    ],
    "unique": [
        (lambda: N.unique(), np.unique(n)),
        (
            lambda: N.unique(return_inverse=True, return_counts=True),
            (np.unique(n), np.unique(n, return_inverse=True)[1].reshape(n.shape), np.unique(n, return_counts=True)[1]),
        ),
    ],
    "searchsorted": [
        (lambda: Tensor([1.0, 2.0, 3.0]).searchsorted([2.0, 5.0]), np.array([1, 3], np.int32)),
        (lambda: Tensor([1.0, 2.0, 3.0]).searchsorted(Tensor([2.0]), "right"), np.array([2], np.int32)),
        (lambda: Tensor([3.0, 1.0]).searchsorted(Tensor([2.0]), sorter=Tensor([1, 0])), np.array([1], np.int32)),
    ],
    # Shape
    "reshape": [
        (lambda: X.reshape(2, -1), x.reshape(2, -1)),
        (lambda: X.reshape((4, 3)), x.reshape(4, 3)),
        (lambda: X.reshape(shape=(4, 3)), x.reshape(4, 3)),
        (lambda: X.reshape(shape=[-1]), x.ravel()),
        (lambda: X[0, 0].reshape(()), x[0, 0]),
    ],
    "view": [
        (lambda: X.view(12), x.ravel()),
        (lambda: X.view(ms.int64), x.view(np.int64)),
        (lambda: X.view(shape=(4, 3)), x.reshape(4, 3)),
        (lambda: X.view(dtype=ms.int64), x.view(np.int64)),
    ],
    "transpose": [
        (lambda: X.transpose(), x.T),
        (lambda: CUBE.transpose(0, 2), cube.swapaxes(0, 2)),
        (lambda: CUBE.transpose((1, 2, 0)), cube.transpose(1, 2, 0)),
        (lambda: CUBE.transpose(2, 0, 1), cube.transpose(2, 0, 1)),
        (lambda: X.transpose(1, 0), x.T),
    ],
    "permute": [(lambda: CUBE.permute(2, 0, 1), cube.transpose(2, 0, 1)), (lambda: X.permute((1, 0)), x.T)],
    "flatten": [
        (lambda: CUBE.flatten(), cube.ravel()),
        (lambda: CUBE.flatten("F"), cube.ravel("F")),
        (lambda: CUBE.flatten(1), cube.reshape(2, 12)),
        (lambda: CUBE.flatten(0, 1), cube.reshape(6, 4)),
        (lambda: CUBE.flatten(start_dim=1, end_dim=2), cube.reshape(2, 12)),
        (lambda: Tensor(2.0).flatten(), np.array([2.0], np.float32)),
    ],
    "squeeze": [
        (lambda: X[None, :, None].squeeze(), x),
        (lambda: X[None, :, None].squeeze(0), x[:, None]),
        (lambda: X[None, :, None].squeeze((0, 2)), x),
        (lambda: X[None, :, None].squeeze(0, 2), x),
    ],
    "tile": [
        (lambda: X.tile(2, 1), np.tile(x, (2, 1))),
        (lambda: X.tile((1, 3)), np.tile(x, (1, 3))),
        (lambda: X.tile(2), np.tile(x, 2)),
        (lambda: X.tile(dims=(2, 2)), np.tile(x, (2, 2))),
        (lambda: X.tile(reps=(2,)), np.tile(x, 2)),
    ],
    "repeat": [(lambda: X.repeat(2, 1), np.tile(x, (2, 1))), (lambda: X.repeat((2, 1, 3)), np.tile(x, (2, 1, 3)))],
    "repeat_interleave": [
        (lambda: X.repeat_interleave(2), np.repeat(x, 2)),
        (lambda: X.repeat_interleave(Tensor([1, 0, 2]), dim=0), np.repeat(x, [1, 0, 2], 0)),
        (lambda: X.repeat_interleave(3, axis=1, output_size=12), np.repeat(x, 3, 1)),
    ],
    "resize": [
        (lambda: X.resize(2, 2), x.ravel()[:4].reshape(2, 2)),
        (lambda: X.resize((2, 7)), np.append(x.ravel(), [0, 0]).reshape(2, 7)),
    ],
    "diagonal": [
        (lambda: X.diagonal(1), x.diagonal(1)),
        (lambda: CUBE.diagonal(axis1=0, axis2=2), cube.diagonal(0, 0, 2)),
        (lambda: CUBE.diagonal(offset=-1, dim1=1, dim2=2), cube.diagonal(-1, 1, 2)),
    ],
    "fill_diagonal": [
        (lambda: X.fill_diagonal(9.0), put(x, (range(3), range(3)), 9)),
        (lambda: Tensor(TALL).fill_diagonal(4.0, wrap=True), put(TALL, ([0, 1, 3, 4], [0, 1, 0, 1]), 4)),
    ],
    "unfold": [(lambda: CUBE[None].unfold((3, 4)), cube.reshape(1, 24, 1))],
    # Picking and putting
    "gather": [
        (lambda: X.gather(0, PICKS), x[ALONG]),
        (lambda: X.gather(dim=0, index=PICKS), x[ALONG]),
        (lambda: X.gather(ROWS, 0), x[rows]),
        (lambda: X.gather(input_indices=ROWS, axis=1), x[:, rows]),
        (lambda: X[:2].gather(PICKS[:, :2], 1, 1), np.take_along_axis(x[:2], picks[:, :2], 1)),
    ],
    "take": [
        (lambda: X.take(Tensor([1, 11])), x.ravel()[[1, 11]]),
        (lambda: X.take(indices=ROWS, axis=0), x[rows]),
        (lambda: X.take(index=Tensor([5]), axis=1, mode="wrap"), x[:, [1]]),
    ],
    "select": [
        (lambda: X.select(1, 2), x[:, 2]),
        (lambda: X.select(dim=-1, index=0), x[:, 0]),
        (lambda: X.select(X > 0, OTHER), np.where(x > 0, x, other)),
        (lambda: X.select(condition=X > 0, y=OTHER), np.where(x > 0, x, other)),
    ],
    "where": [
        (lambda: X.where(X > 0, OTHER), np.where(x > 0, x, other)),
        (lambda: X.where(condition=X > 0, other=0.0), np.where(x > 0, x, 0)),
    ],
    "choose": [
        (lambda: N.choose([10, 20, 30, 40]), np.choose(n, [10, 20, 30, 40])),
        (lambda: Tensor([-1, 5]).choose([Tensor([1, 2]), Tensor([3, 4])]), np.array([1, 4])),
        (lambda: Tensor([-1, 4]).choose([Tensor([1, 2]), Tensor([3, 4])], "wrap"), np.array([3, 2])),
    ],
    "scatter": [
        (lambda: X.scatter(0, PICKS[:1], SOURCE), put(x, (picks[0], np.arange(4)), source[0])),
        (lambda: X.scatter(axis=0, index=PICKS, value=1.5, src=None), put(x, ALONG, 1.5)),
        (lambda: X.scatter(0, PICKS, SOURCE, reduce="add"), added(x, ALONG, source)),
    ],
    "scatter_add": [
        (lambda: X.scatter_add(0, PICKS, SOURCE), added(x, ALONG, source)),
        (lambda: X.scatter_add(dim=0, index=PICKS, src=SOURCE), added(x, ALONG, source)),
        (lambda: X.scatter_add(Tensor([[0, 1], [2, 2]]), Tensor([5.0, 6.0])), added(x, ([0, 2], [1, 2]), [5.0, 6.0])),
    ],
    "index_add": [
        (lambda: X.index_add(0, ROWS, SOURCE, alpha=2), added(x, rows, 2 * source)),
        (lambda: X.index_add(dim=0, index=ROWS, source=SOURCE), added(x, rows, source)),
        (lambda: X.index_add(ROWS, SOURCE, 0), added(x, rows, source)),
        (lambda: X.index_add(indices=ROWS, y=SOURCE, axis=0), added(x, rows, source)),
    ],
    # Layers and matrices
    "softmax": [
        (lambda: X.softmax(-1), np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
        (lambda: N.softmax(0, ms.float64), np.exp(n) / np.exp(n).sum(0)),
    ],
    "soft_shrink": [
        (lambda: X.soft_shrink(), np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
        (lambda: X.soft_shrink(lambd=2.0), np.sign(x) * np.maximum(np.abs(x) - 2, 0)),
    ],
    "qr": [
        (lambda: np.abs(X.qr()[1].asnumpy()), np.abs(np.linalg.qr(x)[1])),
        (lambda: np.array(X.T.qr(False)[0].shape), np.array([4, 4])),
    ],
    # New ones
    "new_zeros": [
        (lambda: N.new_zeros((2, 1)), np.zeros((2, 1), np.int32)),
        (lambda: N.new_zeros(2, dtype=ms.float64), np.zeros(2)),
    ],
    "new_empty": [(lambda: N.new_empty((2, 1), device="CPU"), np.zeros((2, 1), np.int32))],
    "new_ones": [(lambda: N.new_ones((2, 1)), np.ones((2, 1), np.int32)), (lambda: X.new_ones(3), np.ones(3))],
    "new_full": [
        (lambda: N.new_full((2,), 7), np.full(2, 7, np.int32)),
        (lambda: N.new_full(size=(2,), fill_value=1.5, dtype=ms.float64), np.full(2, 1.5)),
    ],
    "fill": [(lambda: X.fill(2), np.full_like(x, 2))],
    "fills": [(lambda: N.fills(2.0), np.full_like(n, 2)), (lambda: X.fills(Tensor(3.0)), np.full_like(x, 3))],
    # The tensor itself
    "clone": [(lambda: X.clone(), x)],
    "copy": [(lambda: X.T.copy(), x.T)],
    "value": [(lambda: X.value(), x)],
    "contiguous": [(lambda: X.contiguous(), x), (lambda: X.T.contiguous(), x.T)],
    "itemset": [
        (lambda: Tensor(5.0).itemset(2.0), np.float32(2)),
        (lambda: X.itemset(5, 8.0), put(x, (1, 1), 8)),
        (lambda: X.itemset((2, 0), 8.0), put(x, (2, 0), 8)),
    ],
    "astype": [(lambda: X.astype(ms.int32), x.astype(np.int32)), (lambda: X.astype(ms.float64, copy=False), x)],
    "type": [(lambda: X.type(), "Float64"), (lambda: X.type(ms.float32), x.astype(np.float32))],
    "to": [
        (lambda: X.to(ms.float32), x.astype(np.float32)),
        (lambda: X.to(N), x.astype(np.int32)),
        (lambda: X.to("CPU", ms.float16, False), x.astype(np.float16)),
        (lambda: X.to(dtype=ms.float32, non_blocking=True), x.astype(np.float32)),
    ],
    "move_to": [(lambda: X.move_to("cpu", blocking=False), x)],
    "set_dtype": [(lambda: Tensor([1.5]).set_dtype(ms.int32), ms.int32)],
    "bfloat16": [(lambda: str(X.bfloat16().dtype), "BFloat16"), (lambda: X.bfloat16().float(), x.astype(np.float32))],
    "bool": [(lambda: X.bool(), x.astype(bool))],
    "byte": [(lambda: N.byte(), n.astype(np.uint8))],
    "char": [(lambda: X.char(), x.astype(np.int8))],
    "double": [(lambda: N.double(), n.astype(np.float64))],
    "float": [(lambda: X.float(), x.astype(np.float32))],
    "half": [(lambda: X.half(), x.astype(np.float16))],
    "int": [(lambda: X.int(), x.astype(np.int32))],
    "long": [(lambda: X.long(), x.astype(np.int64))],
    "short": [(lambda: X.short(), x.astype(np.int16))],
    "to_dlpack": [(lambda: type(X.to_dlpack()).__name__, "PyCapsule")],
    "flush_from_cache": [(lambda: X.flush_from_cache(), None)],
    "set_const_arg": [(lambda: Tensor([1.0]).set_const_arg().const_arg, True)],
    "requires_grad_": [(lambda: Tensor([1.0]).requires_grad_(False).requires_grad, False)],
    "init_data": [(lambda: Tensor(shape=(2,), dtype=ms.float32, init="ones").init_data(), np.ones(2, np.float32))],
    "ndimension": [(lambda: CUBE.ndimension(), 3)],
    "nelement": [(lambda: CUBE.nelement(), 24)],
    "element_size": [(lambda: N.element_size(), 4)],
    "is_signed": [(lambda: (X.is_signed(), FLAGS.is_signed(), N.byte().is_signed()), (True, False, False))],
    "is_contiguous": [(lambda: (X.is_contiguous(), X.T.is_contiguous()), (True, False))],
    "stride": [(lambda: X.stride(), [4, 1]), (lambda: X.T.stride(0), 1)],
    "storage_offset": [(lambda: X.storage_offset(), 0)],
    "data_ptr": [(lambda: X.data_ptr(), X._array.ctypes.data)],
}
ORDERED = np.zeros(x.shape)
ORDERED[x > 1] = OTHER.asnumpy().ravel()[: (x > 1).sum()]
IN_PLACE: dict[str, list[tuple[Callable[[Tensor], Any], Any]]] = {
    "index_add_": [(lambda t: t.index_add_(0, ROWS, SOURCE), added(x, rows, source))],
    "index_copy_": [
        (lambda t: t.index_copy_(0, ROWS, SOURCE), put(x, rows, source)),
        (lambda t: t.index_copy_(-1, ROWS, X[:, :2]), put(x, (slice(None), rows), x[:, :2])),
    ],
    "scatter_": [(lambda t: t.scatter_(0, PICKS, 1.5), put(x, ALONG, 1.5))],
    "scatter_add_": [(lambda t: t.scatter_add_(0, PICKS, SOURCE), added(x, ALONG, source))],
    "fill_": [(lambda t: t.fill_(7), x * 0 + 7), (lambda t: t.fill_(value=Tensor(3)), x * 0 + 3)],
    "fill_diagonal_": [(lambda t: t.fill_diagonal_(9.0), put(x, (range(3), range(3)), 9))],
    "copy_": [(lambda t: t.copy_(X[0]), np.broadcast_to(x[0], x.shape)), (lambda t: t.copy_([[2]], True), x * 0 + 2)],
    "put_": [
        (lambda t: t.put_(Tensor([1, 5]), Tensor([8.0, 9.0])), put(x, ([0, 1], [1, 1]), [8, 9])),
        (lambda t: t.put_(Tensor([1, 1]), Tensor([8.0, 9.0]), accumulate=True), added(x, ([0], [1]), 17)),
    ],
    "zero_": [(lambda t: t.zero_(), x * 0)],
    "addmm_": [
        (lambda t: t.addmm_(X[:, :3], X), x + x[:, :3] @ x),
        (lambda t: t.addmm_(X[:, :3], X, beta=0.5, alpha=2), 0.5 * x + 2 * x[:, :3] @ x),
    ],
    "masked_scatter_": [(lambda t: t.masked_scatter_(X > 1, OTHER), np.where(x > 1, ORDERED, x))],
}


def assert_is(result: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(result) == len(expected)
        for item, other_one in zip(result, expected, strict=True):
            assert_is(item, other_one)
    elif isinstance(expected, np.ndarray | np.generic):
        actual = result.asnumpy() if isinstance(result, Tensor) else result
        assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
    else:
        assert result == expected


@pytest.mark.parametrize(
    ("name", "position"), [(name, index) for name, rows in CASES.items() for index in range(len(rows))]
)
def test_a_method_computes_what_numpy_computes(name: str, position: int) -> None:
    call, expected = CASES[name][position]
    assert_is(call(), expected)


@pytest.mark.parametrize(
    ("name", "position"), [(name, index) for name, rows in IN_PLACE.items() for index in range(len(rows))]
)
def test_a_method_in_place_computes_what_numpy_computes(name: str, position: int) -> None:
    call, expected = IN_PLACE[name][position]
    tensor = Tensor(x)
    assert call(tensor) is tensor
    assert_is(tensor, expected)


DRAWN = {"uniform", "log_normal", "bernoulli", "uniform_", "normal_", "exponential_", "bernoulli_", "random_"}


def test_every_form_of_a_tensor_is_tried_here() -> None:
    forms = {
        name
        for table in (surfaces.METHODS, surfaces.IN_PLACE)
        for name, function in table.items()
        if isinstance(function, FunctionType)
        and (function.__code__.co_name.endswith("_of_tensor") or function.__module__.endswith("tensor_methods"))
    }
    assert forms - CASES.keys() - IN_PLACE.keys() - DRAWN == set()


# Drawn numbers


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (lambda t: t.uniform(), 0.5, 12**-0.5),
        (lambda t: t.uniform(from_=1.0, to=3.0), 2.0, 2 * 12**-0.5),
        (lambda t: t.uniform_(-1, 1), 0.0, 2 * 12**-0.5),
        (lambda t: t.normal_(), 0.0, 1.0),
        (lambda t: t.normal_(mean=3, std=0.5, generator=None), 3.0, 0.5),
        (lambda t: t.log_normal(0.0, 0.5), np.exp(0.125), np.sqrt(np.exp(0.5) - np.exp(0.25))),
        (lambda t: t.exponential_(2), 0.5, 0.5),
        (lambda t: t.bernoulli_(), 0.5, 0.5),
        (lambda t: t.bernoulli_(0.2), 0.2, 0.4),
        (lambda t: t.fill(0.2).bernoulli(), 0.2, 0.4),
        (lambda t: t.random_(0, 12), 5.5, np.sqrt(143 / 12)),
        (lambda t: t.random_(), 2.0**23, 2.0**24 * 12**-0.5),
    ],
)
def test_drawn_numbers_have_their_distribution_and_the_tensors_shape_and_dtype(
    draw: Callable[[Tensor], Tensor], mean: float, deviation: float
) -> None:
    ms.set_seed(7)
    result = draw(Tensor(np.zeros((200, 100))))
    assert (result.shape, result.dtype) == ((200, 100), ms.float64)
    values = result.asnumpy()
    # Five deviations of the mean of 20000 numbers.
    assert abs(values.mean() - mean) < 5 * deviation / np.sqrt(20000)
    assert abs(values.std() - deviation) < 0.05 * deviation


def test_drawn_integers_lie_between_their_limits() -> None:
    ms.set_seed(3)
    assert set(Tensor(np.zeros(1000, np.int8)).random_(2, 5).tolist()) == {2, 3, 4}
    full = Tensor(np.zeros(1000, np.int8)).random_()
    assert full.dtype is ms.int8 and full.asnumpy().min() >= 0 and full.asnumpy().max() > 100


# Gradients

WEIGHTS = Tensor(np.random.default_rng(5).standard_normal(60))


def weighted(value: Tensor) -> Tensor:
    """Return a number in which every element of ``value`` counts differently."""
    return (value.reshape(-1) * WEIGHTS[: value.size]).sum()


def changed_in_place(name: str, *args: Any, **keywords: Any) -> Callable[[Tensor], Tensor]:
    def function(t: Tensor) -> Tensor:
        y = t * 1.0
        getattr(y, name)(*args, **keywords)
        return y * t

    return function


DIFFERENTIABLE: dict[str, Callable[[Tensor], Tensor]] = {
    "sum": lambda t: t.sum(0, True),
    "mean": lambda t: t.mean(1),
    "prod": lambda t: t.prod(1),
    "max": lambda t: t.max(dim=1)[0],
    "max of all": lambda t: t.max(),
    "max with initial": lambda t: t.max(axis=0, initial=2.5),
    "min": lambda t: t.min(axis=0),
    "argmax_with_value": lambda t: t.argmax_with_value(1)[0],
    "argmin_with_value": lambda t: t.argmin_with_value(1)[0],
    "cumsum": lambda t: t.cumsum(),
    "trace": lambda t: t.trace(1),
    "sum_to_size": lambda t: t.sum_to_size(3, 1),
    "sort": lambda t: t.sort(1)[0],
    "median": lambda t: t.median(0)[0],
    "reshape": lambda t: t.reshape(4, 3),
    "view": lambda t: t.view(2, 6),
    "transpose": lambda t: t.transpose(1, 0),
    "permute": lambda t: t.permute(1, 0),
    "flatten": lambda t: t.flatten("F"),
    "squeeze": lambda t: t[None].squeeze(0),
    "repeat": lambda t: t.repeat(2, 2),
    "repeat_interleave": lambda t: t.repeat_interleave(Tensor([1, 0, 2]), dim=0),
    "resize": lambda t: t.resize(2, 4),
    "resize to more": lambda t: t.resize(2, 7),
    "diagonal": lambda t: t.diagonal(-1),
    "fill_diagonal": lambda t: t.fill_diagonal(9.0),
    "fill_diagonal wrapped": lambda t: t.T.fill_diagonal(9.0, True),
    "unfold": lambda t: t[None, None].unfold(2),
    "gather": lambda t: t.gather(0, PICKS),
    "gather entries": lambda t: t.gather(ROWS, 1),
    "take": lambda t: t.take(Tensor([1, 1, 11])),
    "select": lambda t: t.select(1, 2),
    "select by condition": lambda t: t.select(OTHER > 0, OTHER),
    "where": lambda t: t.where(OTHER > 0, t * t),
    "choose": lambda t: Tensor([[0, 1], [2, 0]]).choose([t[:2, :2], t[1:, 2:], t[0, :2]]),
    "scatter": lambda t: OTHER.scatter(0, PICKS[:1], t[:1]),
    "scatter into": lambda t: t.scatter(0, PICKS, 1.5),
    "scatter_add": lambda t: (t * t).scatter_add(0, PICKS, t[:2]),
    "index_add": lambda t: (t * t).index_add(0, ROWS, t[1:], alpha=3),
    "softmax": lambda t: t.softmax(0),
    "soft_shrink": lambda t: t.soft_shrink(0.4),
    "qr": lambda t: t[:, :3].qr()[1],
    "qr of a square matrix, complete": lambda t: t[:, :3].qr(some=False)[1],
    "svd of a square matrix, full": lambda t: t[:, :3].svd(full_matrices=True)[0],
    "clone": lambda t: t.clone(),
    "copy": lambda t: t.copy(),
    "value": lambda t: t.value() * t,
    "contiguous": lambda t: t.contiguous(),
    "contiguous of a transposed": lambda t: t.T.contiguous() * t.T,
    "contiguous of a part": lambda t: t[:, ::2].contiguous(),
    "itemset": lambda t: (t * t).itemset(5, 8.0),
    "astype": lambda t: t.astype(ms.float64) * t,
    "type": lambda t: t.type(ms.float64) * t,
    "to": lambda t: t.to("CPU") * t,
    "to another's dtype": lambda t: t.to(OTHER) * t,
    "move_to": lambda t: t.move_to("CPU") * t,
    "double": lambda t: t.double() * t,
    "fills": lambda t: OTHER.fills(t[0, 0]) * t,
    "index_add_": changed_in_place("index_add_", 0, ROWS, SOURCE),
    "index_copy_": changed_in_place("index_copy_", 0, ROWS, SOURCE),
    "scatter_": changed_in_place("scatter_", 0, PICKS, 1.5),
    "scatter_add_": changed_in_place("scatter_add_", 0, PICKS, SOURCE),
    "fill_": changed_in_place("fill_", 2.0),
    "fill_ with a tensor": lambda t: OTHER.clone().fill_(t[0, 1]) * t,
    "fill_diagonal_": changed_in_place("fill_diagonal_", 2.0),
    "copy_": lambda t: OTHER.clone().copy_(t[0]) * t,
    "put_": changed_in_place("put_", Tensor([1, 5]), Tensor([8.0, 9.0])),
    "put_ of a tensor": lambda t: OTHER.clone().put_(Tensor([1, 5]), t[0, :2], True) * t,
    "zero_": changed_in_place("zero_"),
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_pass_through_a_method(name: str) -> None:
    function = DIFFERENTIABLE[name]
    result = ms.grad(lambda t: weighted(function(t)))(X).asnumpy()
    expected, step = np.zeros_like(x), 1e-6
    for index in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        expected[index] = (weighted(function(Tensor(up))).item() - weighted(function(Tensor(down))).item()) / (2 * step)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


def test_second_derivatives_pass_through_contiguous() -> None:
    slope = ms.grad(lambda t: (t.T.contiguous() * t.T * t.T).sum())
    np.testing.assert_allclose(ms.grad(lambda t: slope(t).sum())(X).asnumpy(), 6 * x)


def test_contiguous_gives_rows_in_memory_and_leaves_what_is_so() -> None:
    result = X.T.contiguous()
    assert result.is_contiguous() and result.stride() == [3, 1]
    assert X.contiguous() is X


# Errors, and flags


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: X.repeat(2), ValueError, r"'repeats' must have at least 2 entries, but got \(2,\)"),
        (lambda: X.sum_to_size(2, 4), ValueError, r"\(3, 4\) cannot be summed to \(2, 4\)"),
        (lambda: Tensor([1.0]).init_data(), TypeError, "must have been made with 'init'"),
        (
            lambda: N.choose([1, 2], "nearest"),
            ValueError,
            "'mode' must be 'clip', 'wrap' or 'raise', but got 'nearest'",
        ),
        (lambda: N.choose([1, 2], mode="raise"), RuntimeError, r"numbers must be in \[0, 2\), but got 0..3"),
        (lambda: Tensor([-1, 1]).choose([1, 2], "raise"), RuntimeError, r"in \[0, 2\), but got -1..1"),
        (lambda: X.move_to("TPU"), ValueError, "'to' must be 'CPU' or 'GPU', but got 'TPU'"),
        (lambda: Tensor([1.0]).to_coo(), ValueError, r"'tensor' must have 2 axes, but got shape \(1,\)"),
        (lambda: X.sum(axes=1), TypeError, r"^sum\(\) got an unexpected keyword argument 'axes'"),
    ],
)
def test_what_a_method_refuses_it_says(call: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_requires_grad_of_a_parameter_is_set_by_the_method_too() -> None:
    weight = Parameter(Tensor([1.0]), "w")
    assert weight.requires_grad_(False) is weight
    assert weight.requires_grad is False
    assert weight.requires_grad_().requires_grad is True


def test_a_clone_is_apart() -> None:
    tensor = Tensor([1.0, 2.0])
    other_one = tensor.clone()
    tensor[0] = 9.0
    assert other_one.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "distinct",
    [
        lambda x: ops.unique(x)[0],
        lambda x: x.unique(),
        lambda x: x.unique(return_counts=True)[0],
        lambda x: ops.unique_consecutive(x),
        lambda x: ops.unique_with_pad(x, 0)[0],
        lambda x: ms.numpy.unique(x),
    ],
)
def test_different_values_refuse_a_gradient_instead_of_giving_zeros(distinct: Callable[[Tensor], Tensor]) -> None:
    x = Tensor([3.0, 1.0, 3.0, 2.0])
    with pytest.raises(NotImplementedError, match="the values have no gradient"):
        ms.grad(lambda t: (distinct(t) ** 2).sum())(x)
    # Uses without gradients are unchanged.
    assert ms.grad(lambda t: (t * distinct(t).size).sum())(x).tolist() == [float(distinct(x).size)] * 4
    stopped = ms.grad(lambda t: (t.sum() * ops.stop_gradient(distinct(t)).max()).sum())(x)
    assert stopped.tolist() == [3.0] * 4


def test_places_and_counts_of_different_values_take_no_gradient() -> None:
    x = Tensor([3.0, 1.0, 3.0, 2.0])
    result = ms.grad(lambda t: (t * t.unique(return_inverse=True)[1].astype(ms.float32)).sum())(x)
    assert result.tolist() == [2.0, 0.0, 2.0, 1.0]


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (-1, 0), (-2, -1)])
def test_two_ints_exchange_axes_of_a_matrix_in_any_order(axes: tuple[int, int]) -> None:
    np.testing.assert_array_equal(X.transpose(*axes).asnumpy(), x.T)


def test_two_equal_ints_leave_a_matrix() -> None:
    np.testing.assert_array_equal(X.transpose(0, 0).asnumpy(), x)


def test_an_offset_is_counted_in_the_memory_that_is_viewed() -> None:
    full = Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    for view, offset in ((full, 0), (full.reshape(-1), 0), (full.T, 0), (full + 1, 0)):
        assert view.storage_offset() == offset
    # MindSpore's numbers of x[1], x[:, 1:] and x[1, 1], where these are views.
    for index, offset in ((1, 12), ((slice(None), slice(1, None)), 4), ((1, 1), 16)):
        part = full[index]
        assert part.storage_offset() == (part.data_ptr() - full.data_ptr()) // 4 == offset


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: X.reshape(), "For 'Tensor.reshape', the shape must be given by place or as 'shape', but got nothing"),
        (lambda: X.reshape(4, shape=(3,)), "For 'Tensor.reshape', the shape .*, but got both"),
        (lambda: X.reshape(shape="a"), "For 'reshape', 'shape' must be an int or a tuple of ints, but got 'a'"),
        (lambda: X.view(), "For 'Tensor.view', the shape must be given by place or as 'shape', but got nothing"),
        (lambda: X.view(4, 3, shape=(4, 3)), "For 'Tensor.view', the shape .*, but got both"),
        (lambda: X.view(4, 3, dtype=ms.int64), "For 'Tensor.view', a shape or a dtype must be given, but got both"),
    ],
)
def test_a_shape_is_given_once(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        call()


def test_the_place_of_a_kth_value_of_a_number_is_checked() -> None:
    with pytest.raises(ValueError, match=r"'k' must be in \[1, 1\], but got 2"):
        ops.kthvalue(Tensor(3.0), 2)


def test_a_side_that_contradicts_right_is_refused() -> None:
    with pytest.raises(ValueError, match="'side' must not be 'left' where 'right' is True"):
        ops.searchsorted(Tensor([1.0, 2.0]), Tensor([1.0]), right=True, side="left")
    assert ops.searchsorted(Tensor([1.0, 2.0]), Tensor([1.0]), right=True, side="right").tolist() == [1]


def test_a_tensor_is_made_of_what_another_library_hands_over() -> None:
    numbers = np.arange(6.0).reshape(2, 3)
    for value in (numbers, ms.Tensor(numbers).to_dlpack()):
        output = ms.from_dlpack(value)
        assert output.tolist() == numbers.tolist() and output.dtype == ms.float64
    output = ms.from_dlpack(numbers)
    numbers[0, 0] = 9.0
    assert output[0, 0].item() == 0.0  # a copy
    with pytest.raises(TypeError, match="'dlpack' must be an array with '__dlpack__' or a capsule, but got int"):
        ms.from_dlpack(3)


def test_a_distance_needs_a_norm() -> None:
    with pytest.raises(ValueError, match="'p' must not be negative, but got -1.0"):
        ops.cdist(X, X, -1.0)


@pytest.mark.parametrize(
    ("make", "image"),
    [
        (lambda kind: ops.MaxPoolWithArgmaxV2(2, 2, argmax_type=kind), np.arange(16.0).reshape(1, 1, 4, 4)),
        (lambda kind: ops.MaxPool3DWithArgmax(2, 2, 0, argmax_type=kind), np.arange(64.0).reshape(1, 1, 4, 4, 4)),
    ],
)
def test_places_of_the_largest_come_in_the_type_asked_for(make: Callable[[Any], Any], image: Any) -> None:
    for kind in (ms.int32, ms.int64):
        values, indices = make(kind)(Tensor(image, ms.float32))
        assert indices.dtype == kind
        np.testing.assert_array_equal(indices.asnumpy(), values.asnumpy())  # an image of its own places
    with pytest.raises(TypeError, match="'argmax_type' must be int32 or int64, but got Float32"):
        make(ms.float32)(Tensor(image, ms.float32))
