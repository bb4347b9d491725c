"""mint's functions against NumPy and PyTorch's formulas: values, element types and gradients."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, mint
from hookscope.engine.base.surfaces import REQUIRED, declare, renamed
from hookscope.engine.mint.nn import functional as F  # noqa: N812

RNG = np.random.default_rng(0)
A = RNG.standard_normal((3, 4))
B = RNG.standard_normal((3, 4))
C = RNG.standard_normal((2, 3, 4))
P = np.abs(A) + 0.1
ORDER = np.argsort(A, 1)
INDICES = np.array([[0, 2], [1, 1], [3, 0]])


def softmax(x: Any, axis: int) -> Any:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def put(x: Any, axis: int, index: Any, src: Any, add: bool) -> Any:
    result = x.copy()
    for position in np.ndindex(index.shape):
        at = list(position)
        at[axis] = index[position]
        result[tuple(at)] = src[position] + (result[tuple(at)] if add else 0)
    return result


def spots(x: Any, axis: int, index: Any) -> Any:
    result = x.copy()
    for item, row in zip(index, np.moveaxis(2 * np.take(x, index, axis), axis, 0), strict=True):
        np.moveaxis(result, axis, 0)[item] += row
    return result


# (name, what mint does with tensors, what NumPy does with arrays, the inputs)
ROWS: list[tuple[str, Any, Any, tuple[Any, ...]]] = [
    ("all", lambda x: mint.all(x > 0, dim=1, keepdim=True), lambda x: (x > 0).all(1, keepdims=True), (A,)),
    ("any", lambda x: mint.any(x > 1, 0), lambda x: (x > 1).any(0), (A,)),
    ("sum", lambda x: mint.sum(x, (0, 2), True), lambda x: x.sum((0, 2), keepdims=True), (C,)),
    ("prod", lambda x: mint.prod(x, 1, dtype=ms.float64), lambda x: x.prod(1), (A,)),
    ("amax", lambda x: mint.amax(x, dim=1, keepdim=True), lambda x: x.max(1, keepdims=True), (A,)),
    ("amax", lambda x: mint.amax(x), lambda x: x.max(), (A,)),
    ("amin", lambda x: mint.amin(x, (0, 2)), lambda x: x.min((0, 2)), (C,)),
    ("nansum", lambda x: mint.nansum(x / (x > 0), dim=0), lambda x: np.where(x > 0, x, -np.inf).sum(0), (P,)),
    ("var", lambda x: mint.var(x, 1, correction=0, keepdim=True), lambda x: x.var(1, keepdims=True), (A,)),
    ("std", lambda x: mint.std(x), lambda x: x.std(ddof=1), (A,)),
    ("var_mean", lambda x: mint.var_mean(x, 0), lambda x: (x.var(0, ddof=1), x.mean(0)), (A,)),
    ("std_mean", lambda x: mint.std_mean(x, 0, correction=0), lambda x: (x.std(0), x.mean(0)), (A,)),
    ("mean", lambda x: mint.mean(x, (0, 2), dtype=ms.float64), lambda x: x.mean((0, 2)), (C,)),
    ("median", lambda x: mint.median(x, 1, True)[0], lambda x: np.sort(x, 1)[:, 1:2], (A,)),
    ("max", lambda x: mint.max(x, dim=-1)[0], lambda x: x.max(-1), (C,)),
    ("min", lambda x, y: mint.min(x, y), np.minimum, (A, B)),
    ("argmin", lambda x: mint.argmin(x, dim=1, keepdim=True), lambda x: x.argmin(1)[:, None], (A,)),
    ("norm", lambda x: mint.norm(x, p=3, dim=1), lambda x: (np.abs(x) ** 3).sum(1) ** (1 / 3), (A,)),
    ("kthvalue", lambda x: mint.kthvalue(x, 2, dim=1), lambda x: (np.sort(x, 1)[:, 1], ORDER[:, 1]), (A,)),
    ("topk", lambda x: mint.topk(x, 2), lambda x: (np.sort(x, 1)[:, :1:-1], ORDER[:, :1:-1]), (A,)),
    ("sort", lambda x: mint.sort(x, dim=1), lambda x: (np.sort(x, 1), ORDER), (A,)),
    ("cummax", lambda x: mint.cummax(x, dim=1)[0], lambda x: np.maximum.accumulate(x, 1), (A,)),
    ("cummin", lambda x: mint.cummin(x, dim=0)[0], lambda x: np.minimum.accumulate(x, 0), (A,)),
    ("cumsum", lambda x: mint.cumsum(input=x, dim=-1), lambda x: x.cumsum(-1), (C,)),
    ("diff", lambda x, y: mint.diff(x, dim=1, append=y), lambda x, y: np.diff(x, 1, 1, append=y), (A, B)),
    ("concat", lambda x, y: mint.concat((x, y), dim=1), lambda x, y: np.concatenate([x, y], 1), (A, B)),
    ("stack", lambda x, y: mint.stack((x, y), dim=1), lambda x, y: np.stack([x, y], 1), (A, B)),
    ("split", lambda x: mint.split(x, [1, 3], dim=1), lambda x: np.split(x, [1], 1), (A,)),
    ("chunk", lambda x: mint.chunk(x, 2, dim=-1), lambda x: np.split(x, 2, -1), (C,)),
    ("unbind", lambda x: mint.unbind(x, dim=1), lambda x: [x[:, i] for i in range(4)], (A,)),
    ("unsqueeze", lambda x: mint.unsqueeze(input=x, dim=-1), lambda x: x[..., None], (A,)),
    ("transpose", lambda x: mint.transpose(x, dim0=0, dim1=-1), lambda x: x.swapaxes(0, -1), (C,)),
    ("swapaxes", lambda x: mint.swapaxes(x, 0, 1), lambda x: x.swapaxes(0, 1), (C,)),
    ("permute", lambda x: mint.permute(x, (2, 0, 1)), lambda x: x.transpose(2, 0, 1), (C,)),
    ("flatten", lambda x: mint.flatten(x, 1), lambda x: x.reshape(2, 12), (C,)),
    ("squeeze", lambda x: mint.squeeze(x[None, :, None], (0, 2)), lambda x: x, (A,)),
    ("meshgrid", lambda x, y: mint.meshgrid(x[0], y[1]), lambda x, y: np.meshgrid(x[0], y[1], indexing="ij"), (A, B)),
    ("diag", lambda x: mint.diag(x, -1), lambda x: np.diag(x, -1), (A,)),
    ("repeat_interleave", lambda x: mint.repeat_interleave(x, 2, dim=1), lambda x: np.repeat(x, 2, 1), (A,)),
    ("narrow", lambda x: mint.narrow(x, 2, 1, 2), lambda x: x[..., 1:3], (C,)),
    ("select", lambda x: mint.select(x, -1, 2), lambda x: x[..., 2], (C,)),
    ("where", lambda x, y: mint.where(x > y, x, y), np.maximum, (A, B)),
    (
        "gather",
        lambda x: mint.gather(x, dim=1, index=Tensor(INDICES)),
        lambda x: np.take_along_axis(x, INDICES, 1),
        (A,),
    ),
    ("scatter", lambda x, y: mint.scatter(x, 1, Tensor(ORDER), y), lambda x, y: put(x, 1, ORDER, y, False), (A, B)),
    (
        "scatter_add",
        lambda x, y: mint.scatter_add(x, dim=1, index=Tensor(INDICES), src=y[:, :2]),
        lambda x, y: put(x, 1, INDICES, y[:, :2], True),
        (A, B),
    ),
    ("index_select", lambda x: mint.index_select(x, 2, Tensor([3, 0])), lambda x: x[..., [3, 0]], (C,)),
    (
        "index_add",
        lambda x: mint.index_add(x, 1, Tensor([1, 1, 3]), mint.index_select(x, 1, Tensor([1, 1, 3])), alpha=2),
        lambda x: spots(x, 1, np.array([1, 1, 3])),
        (A,),
    ),
    ("take", lambda x: mint.take(x, Tensor([[0, 5], [-1, 2]])), lambda x: x.ravel()[[[0, 5], [-1, 2]]], (A,)),
    ("softmax", lambda x: mint.softmax(x, dim=1), lambda x: softmax(x, 1), (C,)),
    ("log_softmax", lambda x: mint.log_softmax(x, 0), lambda x: np.log(softmax(x, 0)), (A,)),
    ("log_softmax", lambda x: mint.special.log_softmax(x), lambda x: np.log(softmax(x, 0)), (C,)),
    ("mv", lambda x, y: mint.mv(input=x, vec=y[0]), lambda x, y: x @ y[0], (A, B)),
    ("vdot", lambda x, y: mint.vdot(x[0], y[0]), lambda x, y: x[0] @ y[0], (A, B)),
    ("dot", lambda x, y: mint.dot(x[0], y[0]), lambda x, y: x[0] @ y[0], (A, B)),
    ("div", lambda x, y: mint.div(x, y), np.true_divide, (A, P)),
    ("divide", lambda x, y: mint.divide(x, y), np.true_divide, (C, P)),
    ("pow", lambda x, y: mint.pow(x, y), np.power, (P, B)),
    ("clone", lambda x: mint.clone(x), lambda x: x, (A,)),
    ("empty_like", lambda x: mint.empty_like(x), np.zeros_like, (A,)),
    ("inv", lambda x: mint.linalg.inv(x[:, :3]), lambda x: np.linalg.inv(x[:, :3]), (A + 3 * np.eye(3, 4),)),
    ("qr", lambda x: mint.linalg.qr(x)[1] ** 2, lambda x: np.linalg.qr(x)[1] ** 2, (A.T.copy(),)),
    ("matrix_norm", lambda x: mint.linalg.matrix_norm(x, 1, dim=(1, 2)), lambda x: np.abs(x).sum(1).max(-1), (C,)),
    (
        "vector_norm",
        lambda x: mint.linalg.vector_norm(x, 3, dim=1, keepdim=True),
        lambda x: (np.abs(x) ** 3).sum(1, keepdims=True) ** (1 / 3),
        (C,),
    ),
    ("linalg.norm", lambda x: mint.linalg.norm(x, "fro", dim=(0, 1)), lambda x: np.sqrt((x * x).sum((0, 1))), (C,)),
    ("linalg.norm", lambda x: mint.linalg.norm(x), lambda x: np.sqrt((x * x).sum()), (C,)),
    ("special.erfc", lambda x: mint.special.erfc(x), np.vectorize(math.erfc), (A,)),
    ("special.exp2", lambda x: mint.special.exp2(x), np.exp2, (A,)),
    ("special.log1p", lambda x: mint.special.log1p(x), np.log1p, (P,)),
    ("special.sinc", lambda x: mint.special.sinc(x), np.sinc, (A,)),
    ("special.round", lambda x: mint.special.round(x, decimals=1), lambda x: np.round(x, 1), (A,)),
    # mint.nn.functional
    ("relu", lambda x: F.relu(x), lambda x: np.maximum(x, 0), (A,)),
    ("relu6", lambda x: F.relu6(x * 5), lambda x: np.clip(x * 5, 0, 6), (A,)),
    ("silu", lambda x: F.silu(x), lambda x: x / (1 + np.exp(-x)), (C,)),
    ("hardtanh", lambda x: F.hardtanh(x, -0.3, 0.4), lambda x: np.clip(x, -0.3, 0.4), (A,)),
    ("threshold", lambda x: F.threshold(x, 0.1, -7.0), lambda x: np.where(x > 0.1, x, -7.0), (A,)),
    ("sigmoid", lambda x: F.sigmoid(x), lambda x: 1 / (1 + np.exp(-x)), (A,)),
    ("tanh", lambda x: F.tanh(x), np.tanh, (A,)),
    ("leaky_relu", lambda x: F.leaky_relu(x, negative_slope=0.3), lambda x: np.where(x > 0, x, 0.3 * x), (A,)),
    ("logsigmoid", lambda x: F.logsigmoid(input=x), lambda x: -np.log1p(np.exp(-x)), (A,)),
    ("glu", lambda x: F.glu(x, dim=-1), lambda x: x[..., :2] / (1 + np.exp(-x[..., 2:])), (C,)),
    ("gelu", lambda x: F.gelu(x), lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))), (A,)),
    ("prelu", lambda x, y: F.prelu(x, y[0]), lambda x, y: np.where(x > 0, x, x * y[0]), (A, B)),
    ("softmax", lambda x: F.softmax(x), lambda x: softmax(x, 0), (C,)),
    ("linear", lambda x, y: F.linear(x, y, y[:, 0]), lambda x, y: x @ y.T + y[:, 0], (C, B)),
    (
        "pad",
        lambda x: F.pad(input=x, pad=(1, 0, 0, 2), value=3.0),
        lambda x: np.pad(x, ((0, 0), (0, 2), (1, 0)), constant_values=3.0),
        (C,),
    ),
    ("normalize", lambda x: F.normalize(x, 1.0, -1), lambda x: x / np.abs(x).sum(-1, keepdims=True), (C,)),
    (
        "batch_norm",
        lambda x, y: F.batch_norm(x, y[0], y[1] * y[1], None, None, False, 0.1, 1e-5),
        lambda x, y: (x - y[0]) / np.sqrt(y[1] * y[1] + 1e-5),
        (A, B),
    ),
    (
        "layer_norm",
        lambda x: F.layer_norm(x, (4,)),
        lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5),
        (C,),
    ),
    (
        "group_norm",
        lambda x: F.group_norm(x, 3),
        lambda x: (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5),
        (C,),
    ),
    ("avg_pool1d", lambda x: F.avg_pool1d(x, 2), lambda x: (x[..., ::2] + x[..., 1::2]) / 2, (C,)),
    ("avg_pool2d", lambda x: F.avg_pool2d(x[None], (3, 2)), lambda x: x.reshape(1, 2, 1, 3, 2, 2).mean((3, 5)), (C,)),
    ("avg_pool3d", lambda x: F.avg_pool3d(x[None, None], (2, 3, 4)), lambda x: x.mean().reshape(1, 1, 1, 1, 1), (C,)),
    ("max_pool2d", lambda x: F.max_pool2d(x[None], (3, 2)), lambda x: x.reshape(1, 2, 1, 3, 2, 2).max((3, 5)), (C,)),
    ("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 2), lambda x: x.reshape(2, 3, 2, 2).mean(-1), (C,)),
    (
        "adaptive_avg_pool2d",
        lambda x: F.adaptive_avg_pool2d(x[None], (1, 2)),
        lambda x: x.reshape(1, 2, 1, 3, 2, 2).mean((3, 5)),
        (C,),
    ),
    (
        "adaptive_avg_pool3d",
        lambda x: F.adaptive_avg_pool3d(x[None, None], 1),
        lambda x: x.mean().reshape((1,) * 5),
        (C,),
    ),
    ("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 2), lambda x: x.reshape(2, 3, 2, 2).max(-1), (C,)),
    (
        "adaptive_max_pool2d",
        lambda x: F.adaptive_max_pool2d(x[None], (1, 2)),
        lambda x: x.reshape(1, 2, 1, 3, 2, 2).max((3, 5)),
        (C,),
    ),
    (
        "max_unpool2d",
        lambda x: F.max_unpool2d(*F.max_pool2d(x[None], (3, 4), return_indices=True), (3, 4)),
        lambda x: np.where(x == x.max((1, 2), keepdims=True), x, 0)[None],
        (C,),
    ),
    ("conv1d", lambda x, y: F.conv1d(x, y[None]), lambda x, y: np.einsum("ncl,cl->n", x, y)[:, None, None], (C, B)),
    (
        "conv2d",
        lambda x, y: F.conv2d(x[None], y[None]),
        lambda x, y: (x * y).sum().reshape(1, 1, 1, 1),
        (C, C[::-1].copy()),
    ),
    (
        "conv3d",
        lambda x, y: F.conv3d(x[None, None], y[None, None]),
        lambda x, y: (x * y).sum().reshape((1,) * 5),
        (C, C[::-1].copy()),
    ),
    (
        "conv_transpose2d",
        lambda x, y: F.conv_transpose2d(x[:1, None, :1], y[None, None]),
        lambda x, y: np.array([[np.convolve(x[0, 0], row) for row in y]])[None],
        (C[:, :1], B),
    ),
    (
        "pixel_shuffle",
        lambda x: F.pixel_shuffle(mint.reshape(x, (1, 4, 1, 3)), 2),
        lambda x: x.reshape(2, 2, 3).transpose(0, 2, 1).reshape(1, 1, 2, 6),
        (A,),
    ),
    (
        "unfold",
        lambda x: F.unfold(x[:1, None], (3, 2)),
        lambda x: np.stack([x[0, :, i : i + 2].ravel() for i in range(3)], 1)[None],
        (C,),
    ),
    (
        "fold",
        lambda x: F.fold(F.unfold(x[:1, None], (3, 2)), (3, 4), (3, 2)),
        lambda x: x[:1, None] * [1, 2, 2, 1],
        (C,),
    ),
    ("interpolate", lambda x: F.interpolate(x, scale_factor=2.0), lambda x: x.repeat(2, -1), (C,)),
    ("upsample", lambda x: F.upsample(x[None], size=(6, 8)), lambda x: x.repeat(2, 1).repeat(2, 2)[None], (C,)),
    (
        "grid_sample",
        lambda x: F.grid_sample(x[None], mint.zeros((1, 1, 1, 2))),
        lambda x: x[:, 1, 1:3].mean(-1).reshape(1, 2, 1, 1),
        (C,),
    ),
    ("l1_loss", lambda x, y: F.l1_loss(x, y), lambda x, y: np.abs(x - y).mean(), (A, B)),
    ("mse_loss", lambda x, y: F.mse_loss(x, y, "none"), lambda x, y: (x - y) ** 2, (A, B)),
    (
        "soft_margin_loss",
        lambda x, y: F.soft_margin_loss(x, y, "sum"),
        lambda x, y: np.log1p(np.exp(-x * y)).sum(),
        (A, B),
    ),
    (
        "binary_cross_entropy",
        lambda x, y: F.binary_cross_entropy(F.sigmoid(x), F.sigmoid(y)),
        lambda x, y: (np.log1p(np.exp(-x)) + x * (1 - 1 / (1 + np.exp(-y)))).mean(),
        (A, B),
    ),
    (
        "cosine_embedding_loss",
        lambda x, y: F.cosine_embedding_loss(x, y, Tensor([1, 1, 1]), reduction="none"),
        lambda x, y: 1 - (x * y).sum(1) / np.sqrt((x * x).sum(1) * (y * y).sum(1)),
        (A, B),
    ),
    (
        "nll_loss",
        lambda x: F.nll_loss(input=x, target=Tensor([1, 0, 3], ms.int32)),
        lambda x: -(x[0, 1] + x[1, 0] + x[2, 3]) / 3,
        (A,),
    ),
    (
        "cross_entropy",
        lambda x: F.cross_entropy(x, Tensor([1, 0, 3], ms.int32), reduction="sum"),
        lambda x: -np.log(softmax(x, 1))[[0, 1, 2], [1, 0, 3]].sum(),
        (A,),
    ),
]
NO_GRADIENT = {"all", "any", "argmin", "empty_like", "nansum", "special.round"}
CALLED = [f"{row[0]}-{i}" for i, row in enumerate(ROWS)]


def same(result: Any, expected: Any, **tolerance: float) -> None:
    if isinstance(expected, tuple | list):
        assert len(result) == len(expected)
        for first, second in zip(result, expected, strict=True):
            same(first, second, **tolerance)
        return
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result.asnumpy(), expected, **tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", ROWS, ids=CALLED)
def test_it_is_the_formula(row: Any, dtype: Any) -> None:
    _, call, formula, inputs = row
    arguments = [item.astype(dtype) for item in inputs]
    with np.errstate(all="ignore"):
        expected = formula(*(argument.astype(np.float64) for argument in arguments))
    tolerance = {"rtol": 1e-4, "atol": 2e-5} if dtype is np.float32 else {"rtol": 1e-6, "atol": 1e-7}
    same(call(*map(Tensor, arguments)), expected, **tolerance)


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] not in NO_GRADIENT], ids=lambda row: row[0])
def test_its_gradient_is_the_slope_of_the_formula(row: Any) -> None:
    _, call, formula, inputs = row
    rng = np.random.default_rng(3)

    def first(result: Any) -> Any:
        return result[0] if isinstance(result, tuple | list) else result

    weights = rng.standard_normal(np.shape(first(formula(*inputs))))
    result = ms.grad(lambda x, *rest: (first(call(x, *rest)) * Tensor(weights)).sum())(*map(Tensor, inputs)).asnumpy()
    for _ in range(3):
        way, step = rng.standard_normal(inputs[0].shape), 1e-6
        ends = [(first(formula(inputs[0] + s * way, *inputs[1:])) * weights).sum() for s in (step, -step)]
        assert float((result * way).sum()) == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-4, abs=1e-5)


def test_integers_are_divided_exactly() -> None:
    big = Tensor(np.array([2**53 + 1, -(2**53) - 1, 7, -7]))
    two = Tensor(np.array([1, 1, 2, 2], np.int32))
    for how, expected in (("trunc", [2**53 + 1, -(2**53) - 1, 3, -3]), ("floor", [2**53 + 1, -(2**53) - 1, 3, -4])):
        result = mint.div(big, two, rounding_mode=how)
        assert result.dtype == ms.int64 and result.asnumpy().tolist() == expected
    narrow = Tensor(np.array([7, -7], np.int8))
    assert mint.div(narrow, Tensor([2, 2]), rounding_mode="trunc").dtype == ms.int64
    assert mint.div(7, Tensor([2, -2]), rounding_mode="trunc").asnumpy().tolist() == [3, -3]
    assert mint.div(narrow, 2, rounding_mode="floor").asnumpy().tolist() == [3, -4]
    assert mint.div(narrow, 2.0, rounding_mode="trunc").dtype.is_floating_point
    with pytest.raises(ValueError, match="rounding_mode"):
        mint.div(narrow, 2, rounding_mode="up")


def test_integers_have_no_negative_power() -> None:
    full = Tensor(np.array([1, -1, 2, -3]))
    with pytest.raises(RuntimeError, match="integers have no power of -1"):
        mint.pow(full, -1)
    assert mint.pow(full, Tensor([-3, -3, -1, 2])).asnumpy().tolist() == [1, -1, 0, 9]
    assert mint.pow(2, Tensor([-1, 3])).asnumpy().tolist() == [0, 8]
    np.testing.assert_allclose(mint.pow(Tensor([2.0, 4.0]), -1).asnumpy(), [0.5, 0.25])
    assert mint.pow(full, 2).dtype == ms.int64


def test_a_number_of_no_axes_keeps_them() -> None:
    number = Tensor(2.0)
    for result in (
        mint.squeeze(number),
        mint.squeeze(number, 0),
        mint.squeeze(number, (-1,)),
        mint.squeeze(number, 1),
        mint.swapaxes(number, 0, -1),
        mint.transpose(number, 0, 0),
    ):
        assert result.shape == () and float(result) == 2
    with pytest.raises(ValueError, match="axis"):
        mint.swapaxes(Tensor(A), 0, 2)


@pytest.mark.parametrize("descending", [False, True])
def test_places_are_int64(descending: bool) -> None:
    x = Tensor(A)
    for indices in (
        mint.sort(x, descending=descending)[1],
        mint.argsort(x, 0, descending),
        mint.topk(x, 2, largest=descending)[1],
        mint.kthvalue(x, 1)[1],
        mint.cummax(x, 0)[1],
        mint.cummin(x, 0)[1],
        mint.argmin(x),
        mint.argmax(x, 1),
        mint.max(x, 0)[1],
        mint.min(x, 1, True)[1],
        mint.median(x, 0)[1],
        mint.count_nonzero(x, 0),
    ):
        assert indices.dtype == ms.int64


def test_one_of_several_extremes_gets_the_gradient() -> None:
    x = Tensor([[2.0, 2.0, 1.0], [0.0, 3.0, 3.0]])
    assert ms.grad(lambda v: mint.max(v, 1)[0].sum())(x).asnumpy().tolist() == [[1, 0, 0], [0, 1, 0]]
    assert ms.grad(lambda v: mint.amax(v, 1).sum())(x).asnumpy().tolist() == [[0.5, 0.5, 0], [0, 0.5, 0.5]]


@pytest.mark.parametrize("name", ["relu", "relu6", "silu", "elu", "hardtanh", "threshold", "dropout", "dropout2d"])
def test_in_place_the_input_is_what_comes_back(name: str) -> None:
    more = {"threshold": (0.1, 2.0)}.get(name, ())
    image = Tensor(C.astype(np.float32)[None])
    ms.set_seed(1)
    expected = getattr(F, name)(image.clone(), *more).asnumpy()
    ms.set_seed(1)
    assert getattr(F, name)(image, *more, inplace=True) is image
    np.testing.assert_array_equal(image.asnumpy(), expected)


@pytest.mark.parametrize("name", ["relu_", "elu_", "hardtanh_", "sigmoid_", "threshold_"])
def test_a_name_with_an_underscore_is_in_place(name: str) -> None:
    more = {"threshold_": (0.1, 2.0)}.get(name, ())
    x = Tensor(A)
    expected = getattr(F, name[:-1])(x, *more).asnumpy()
    assert getattr(F, name)(x, *more) is x
    np.testing.assert_array_equal(x.asnumpy(), expected)


def test_index_add_leaves_a_parameter_as_it_is() -> None:
    parameter = ms.Parameter(Tensor([1.0, 2.0]), name="p")
    assert mint.index_add(parameter, 0, Tensor([1]), Tensor([5.0])).asnumpy().tolist() == [1, 7]
    assert parameter.asnumpy().tolist() == [1, 2]


def test_a_surface_may_have_other_defaults_and_arguments_by_name_only() -> None:
    def function(x: Any, axis: int = 0, keep: bool = False, how: str = "a") -> Any:
        return x, axis, keep, how

    name = "nn.functional.surface_of_a_test"
    row = renamed(
        name, axis="dim", keyword=("keep",), without=("how",), defaults={"axis": REQUIRED, "keep": True, "how": "b"}
    )
    from hookscope.engine.base.surfaces import MINT, functions_of

    try:
        declare(mint=row)(function)
        surface = functions_of(MINT, "nn.functional")["surface_of_a_test"]
    finally:
        MINT.pop(name, None)
    assert str(inspect.signature(surface)).replace("'", "") == "(x: Any, dim: int, *, keep: bool = True) -> Any"
    assert surface(1, 2) == (1, 2, True, "b") and surface(1, dim=3, keep=False) == (1, 3, False, "b")
    with pytest.raises(TypeError, match="missing the argument 'dim'"):
        surface(1)
    with pytest.raises(TypeError, match="2 positional"):
        surface(1, 2, True)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axis'"):
        surface(1, axis=2)


@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("apart", [0.0, 1e-9, 1e-5, 0.5])
@pytest.mark.parametrize(("rtol", "atol"), [(1e-5, 1e-8), (0.0, 1e-6), (1e-3, 0.0)])
def test_two_are_close_as_numpy_says(apart: float, rtol: float, atol: float, nan: bool) -> None:
    x = np.array([1.0, -0.01, np.inf, np.nan if nan else 3.0])
    for y in (x + apart, x + np.array([apart, 0, 0, 0]), x - np.array([0, apart, 0, 0])):
        for equal_nan in (False, True):
            result = mint.allclose(Tensor(x), Tensor(y), rtol, atol, equal_nan)
            assert result is bool(np.allclose(x, y, rtol, atol, equal_nan))


def test_an_empty_tensor_has_its_shape_and_dtype_and_is_zeros() -> None:
    for result in (mint.empty(2, 3), mint.empty((2, 3))):
        assert (result.shape, result.dtype, result.asnumpy().any()) == ((2, 3), ms.float32, False)
    assert mint.empty(0, dtype=ms.int8).dtype == ms.int8
    with pytest.raises(TypeError, match="size"):
        mint.empty(2.5)


@pytest.mark.parametrize(
    ("base", "exponent"),
    [
        (np.array([2.5, -0.5, 4.0, 1.0], np.float32), np.array([-2, -1, 2, 0])),
        (np.array([2, -3, 4, 1], np.int32), np.array([0.5, 2.0, -1.5, 0.0], np.float32)),
    ],
)
def test_a_power_of_fractions_may_be_negative(base: Any, exponent: Any) -> None:
    result = mint.pow(Tensor(base), Tensor(exponent)).asnumpy()
    np.testing.assert_allclose(result, np.power(base.astype(np.float64), exponent), rtol=1e-6)


def test_a_power_of_integers_is_an_integer_and_a_fraction_becomes_0() -> None:
    base, exponent = np.array([2, -3, 1, -1, -1, 5]), np.array([-1, 3, -2, -2, -3, 0])
    result = mint.pow(Tensor(base), Tensor(exponent)).asnumpy()
    np.testing.assert_array_equal(result, [0, -27, 1, 1, -1, 1])


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_along_an_axis_keep_it_by_place_or_by_name(name: str) -> None:
    function, extreme, locate = getattr(mint, name), getattr(np, name), getattr(np, f"arg{name}")
    for keep, arguments, keywords in (
        (True, (1, True), {}),
        (True, (1,), {"keepdim": True}),
        (True, (), {"dim": 1, "keepdim": True}),
        (False, (1, False), {}),
        (False, (1,), {}),
        (False, (), {"dim": 1}),
    ):
        values, indices = function(Tensor(C), *arguments, **keywords)
        np.testing.assert_array_equal(values.asnumpy(), extreme(C, 1, keepdims=keep))
        np.testing.assert_array_equal(indices.asnumpy(), locate(C, 1, keepdims=keep))


def test_where_takes_both_or_none() -> None:
    condition, x = Tensor(A > 0), Tensor(A)
    np.testing.assert_array_equal([item.asnumpy() for item in mint.where(condition)], np.nonzero(A > 0))
    np.testing.assert_array_equal(mint.where(condition, x, Tensor(B)).asnumpy(), np.where(A > 0, A, B))
    with pytest.raises(TypeError, match="'other' must be given too where 'input' is"):
        mint.where(condition, x)
    with pytest.raises(TypeError, match="'input' must be given too where 'other' is"):
        mint.where(condition, other=x)


@pytest.mark.parametrize("shape", [(2, 3, 8), (2, 1, 8), (1, 1, 8), (1, 3, 8)])
@pytest.mark.parametrize("windows", [4, (2,)])
def test_places_of_the_largest_of_each_window_keep_the_other_axes(shape: Any, windows: Any) -> None:
    x = np.random.default_rng(2).standard_normal(shape)
    count = windows if isinstance(windows, int) else windows[0]
    parts = x.reshape(*shape[:2], count, -1)
    values, indices = F.adaptive_max_pool1d(Tensor(x), windows, True)
    np.testing.assert_array_equal(values.asnumpy(), parts.max(-1))
    np.testing.assert_array_equal(indices.asnumpy(), parts.argmax(-1) + np.arange(count) * parts.shape[-1])


@pytest.mark.parametrize("include", [True, False])
@pytest.mark.parametrize("ceil_mode", [True, False])
@pytest.mark.parametrize("divisor", [None, 5])
def test_means_of_windows_of_a_volume(include: bool, ceil_mode: bool, divisor: int | None) -> None:
    x = np.random.default_rng(3).standard_normal((1, 2, 5, 6, 7))
    size, step, pad = (2, 3, 2), (2, 2, 3), (1, 1, 0)
    indices = []
    for length, k, s, p in zip(x.shape[2:], size, step, pad, strict=True):
        room = length + 2 * p - k
        count = (-(-room // s) if ceil_mode else room // s) + 1
        indices.append([i * s - p for i in range(count) if i * s < length + p])
    expected = np.empty((1, 2, *map(len, indices)))
    for at in np.ndindex(expected.shape[2:]):
        starts = [axis[i] for axis, i in zip(indices, at, strict=True)]
        ends = [min(b + k, n + p) for b, k, n, p in zip(starts, size, x.shape[2:], pad, strict=True)]
        inside = tuple(slice(max(b, 0), min(e, n)) for b, e, n in zip(starts, ends, x.shape[2:], strict=True))
        part = x[(..., *inside)]
        every = math.prod(e - b for b, e in zip(starts, ends, strict=True))
        number = divisor or (every if include else math.prod(part.shape[2:]))
        expected[(..., *at)] = part.sum((2, 3, 4)) / number
    result = F.avg_pool3d(Tensor(x), size, step, pad, ceil_mode, include, divisor)
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-5, atol=1e-7)


def test_vectors_of_zeros_have_the_cosine_0() -> None:
    x, y = A.copy(), B.copy()
    x[0], y[0], x[1], y[2] = 0, 0, 0, 0
    cosine = (x * y).sum(1) / np.sqrt(((x * x).sum(1) + 1e-12) * ((y * y).sum(1) + 1e-12))
    for target in (1, -1):
        expected = 1 - cosine if target == 1 else np.maximum(0, cosine + 0.1)
        result = F.cosine_embedding_loss(Tensor(x), Tensor(y), Tensor(np.full(3, target)), -0.1, "none")
        np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)


def test_the_gradient_of_elu_is_1_above_0_however_large() -> None:
    x = np.array([-3.0, -0.5, 0.5, 1.0, 100.0, 1000.0], np.float32)
    result = ms.grad(lambda t: F.elu(t, 2.0).sum())(Tensor(x)).asnumpy()
    np.testing.assert_allclose(result, np.where(x > 0, 1, 2 * np.exp(np.minimum(x, 0))), rtol=1e-6)


@pytest.mark.parametrize("function", [mint.rand, mint.randn])
def test_the_dtype_of_random_numbers_may_follow_a_tuple_of_lengths(function: Any) -> None:
    drawn = function((2, 3), ms.float32)
    assert drawn.shape == (2, 3) and drawn.dtype == ms.float32 and function((2,), ms.float16).dtype == ms.float16
    with pytest.raises(TypeError, match="'size' must be an int or a tuple of ints"):
        function((2, 3), 4)


def test_equal_is_one_bool_for_two_tensors() -> None:
    x = Tensor([1.0, 2.0])
    assert mint.equal(x, Tensor([1.0, 2.0])) is True
    assert mint.equal(x, Tensor([1.0, 3.0])) is mint.equal(x, Tensor([[1.0, 2.0]])) is False
    with pytest.raises(TypeError, match="For 'mint.equal', 'other' must be a Tensor, but got float"):
        mint.equal(x, 1.0)  # type: ignore[arg-type]


def test_ge_and_unique_are_of_mint() -> None:
    assert mint.ge(Tensor([1, 2, 3]), 2).tolist() == mint.greater_equal(Tensor([1, 2, 3]), 2).tolist()
    assert mint.ge(Tensor([1, 2, 3]), 2).tolist() == [False, True, True]
    values, indices, counts = mint.unique(Tensor([5, 2, 5]), True, True, True)
    assert (values.tolist(), indices.tolist(), counts.tolist()) == ([2, 5], [1, 0, 1], [1, 2])


def test_linspace_has_both_ends_and_the_dtype_that_is_asked_for() -> None:
    assert mint.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert mint.linspace(0, 1, 3, dtype=ms.float64).dtype is ms.float64
    assert mint.linspace(0, 1, 3).dtype is ms.float32
    with pytest.raises(ValueError, match="'steps' must be at least 1, but got -1"):
        mint.linspace(0, 1, -1)


def test_softplus_is_a_function_of_nn_functional() -> None:
    x = np.array([-1.0, 0.5, 2.0], np.float32)
    np.testing.assert_allclose(F.softplus(Tensor(x)).asnumpy(), np.log1p(np.exp(x)), rtol=1e-6)
    steeper = [math.log1p(math.exp(-2)) / 2, math.log1p(math.e) / 2, 2.0]  # beyond the threshold it is x
    np.testing.assert_allclose(F.softplus(Tensor(x), 2.0, 3.0).asnumpy(), steeper, rtol=1e-6)


def test_alpha_times_a_number_keeps_the_dtype() -> None:
    x = Tensor([1, 2, 3], ms.int32)
    assert (mint.sub(x, 1, alpha=2).dtype, mint.sub(x, 1, alpha=2).tolist()) == (ms.int32, [-1, 0, 1])
    assert (mint.add(x, 1, alpha=2).dtype, mint.add(x, 1, alpha=2).tolist()) == (ms.int32, [3, 4, 5])
