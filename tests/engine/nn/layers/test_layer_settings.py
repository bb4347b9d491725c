"""Layers with each of their settings, against definitions in float64; their slopes by central differences; their texts.

The texts, and what is said to be MindSpore's, are those of MindSpore 2.10.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, nn

Array = np.ndarray[Any, Any]

NUMBERS = np.random.default_rng(12)
TABLE, LINE, IMAGE = (NUMBERS.standard_normal(shape) for shape in ((4, 5), (2, 3, 7), (2, 3, 5, 7)))
SQUARES, TALL, WIDE = (NUMBERS.standard_normal(shape) for shape in ((2, 3, 3), (2, 4, 3), (2, 3, 4)))
WEIGHT, BIAS = NUMBERS.standard_normal((2, 3, 5))


def padded(x: Array, sides: tuple[tuple[int, int], ...], fill: float = 0.0) -> Array:
    """Return the last axes lengthened on both sides."""
    return np.pad(x, ((0, 0),) * (x.ndim - len(sides)) + sides, constant_values=fill)


def windows(x: Array, size: tuple[int, ...], stride: tuple[int, ...], apart: tuple[int, ...], ceil: bool) -> Any:
    """Yield the windows of (N, C, ...) by the place in the output, NaN where one goes over the end."""
    counts = []
    for length, k, s, d in zip(x.shape[2:], size, stride, apart, strict=True):
        rounded = math.ceil if ceil else math.floor
        counts.append(rounded((length - d * (k - 1) - 1) / s) + 1)
    for index in np.ndindex(*counts):
        rows = [[i * s + j * d for j in range(k)] for i, s, k, d in zip(index, stride, size, apart, strict=True)]
        inside = [[r for r in axis if r < n] for axis, n in zip(rows, x.shape[2:], strict=True)]
        yield index, counts, x[(..., *np.ix_(*inside))]


def largest(x: Array, size: Any, stride: Any, apart: Any = (1, 1), ceil: bool = False) -> Array:
    for index, counts, part in windows(x, size, stride, apart, ceil):
        if not any(index):
            out = np.zeros((*x.shape[:2], *counts))
        out[(..., *index)] = part.max(tuple(range(2, x.ndim)))
    return out


def means(
    x: Array, size: Any, stride: Any, pad: Any, counted: bool = True, ceil: bool = False, by: int | None = None
) -> Array:
    """Return sums of the windows divided by their elements, by those of the image alone, or by a number."""
    sides = tuple((p, p) for p in pad)
    image, own = padded(x, sides), padded(np.ones_like(x), sides)
    parts = zip(*(windows(variant, size, stride, (1,) * len(size), ceil) for variant in (image, own)), strict=True)
    for (index, counts, part), (_, _, real) in parts:
        if not any(index):
            out = np.zeros((*x.shape[:2], *counts))
        axes = tuple(range(2, x.ndim))
        # Zeros of the padding count, and places beyond it, where a last window is cut off, do not.
        out[(..., *index)] = part.sum(axes) / (by or (np.prod(part.shape[2:]) if counted else real.sum(axes)))
    return out


def patches(x: Array, size: Any, stride: Any, apart: Any) -> Array:
    """Return windows as channels in the order row, column, channel."""
    n, c = x.shape[:2]
    for index, counts, part in windows(x, size, stride, apart, False):
        if not any(index):
            out = np.zeros((n, c * math.prod(size), *counts))
        out[(..., *index)] = part.transpose(0, 2, 3, 1).reshape(n, -1)
    return out


def one_hot(indices: Array, depth: int, axis: int, on: float, off: float) -> Array:
    return np.where(np.moveaxis(indices[..., None] == np.arange(depth), -1, axis), on, off)


def normalized(x: Array, axes: int, eps: float) -> Array:
    indices = tuple(range(x.ndim - axes, x.ndim))
    return (x - x.mean(indices, keepdims=True)) / np.sqrt(x.var(indices, keepdims=True) + eps)


def with_weights(layer: nn.Cell, **values: Array) -> nn.Cell:
    for name, value in values.items():
        getattr(layer, name).set_data(Tensor(value))
    return layer


def diagonals(x: Array, new: Array) -> Array:
    result = x.copy()
    for index in np.ndindex(*new.shape):
        result[(*index[:-1], index[-1], index[-1])] = new[index]
    return result


def channels(values: Array) -> Array:
    return values.reshape(-1, 1, 1, 1)


def over_channels(x: Array, gamma: Array, beta: Array) -> Array:
    return x * channels(gamma) + channels(beta)


ROOMS, SECOND = NUMBERS.standard_normal((2, 5, 3, 5, 4)), NUMBERS.standard_normal((2, 4, 4))
INDICES = np.array([[0, 2, 4], [3, -1, 1]])
Case = tuple[Callable[[], Any], tuple[Any, ...], Array]
CASES: dict[str, Case] = {
    "LogSoftmaxExt": (lambda: nn.LogSoftmaxExt(0), (TABLE,), special.log_softmax(TABLE, 0)),
    "LogSoftmaxExt of the last axis": (lambda: nn.LogSoftmaxExt(-1), (LINE,), special.log_softmax(LINE, -1)),
    "LogSoftmaxExt of 1 axis": (lambda: nn.LogSoftmaxExt(), (TABLE[0],), special.log_softmax(TABLE[0])),
    "LogSoftmaxExt of 4 axes": (lambda: nn.LogSoftmaxExt(), (IMAGE,), special.log_softmax(IMAGE, 1)),
    "OneHot": (lambda: nn.OneHot(), (np.array([0, 1]),), np.array([[1.0], [0.0]])),
    **{
        f"OneHot along {axis}": (
            lambda axis=axis: nn.OneHot(axis, 4, 2.5, -1.0),
            (INDICES,),
            one_hot(INDICES, 4, axis, 2.5, -1.0),
        )
        for axis in (-1, 0, 1, 2)
    },
    "OneHot of a dtype": (lambda: nn.OneHot(0, 3, dtype=ms.int32), (INDICES,), one_hot(INDICES, 3, 0, 1, 0)),
    "Roll": (lambda: nn.Roll(2, -1), (LINE,), np.roll(LINE, 2, -1)),
    "Roll of axes": (lambda: nn.Roll((1, -9, 3), (0, 2, -2)), (LINE,), np.roll(LINE, (1, -9, 3), (0, 2, -2))),
    "Roll of nothing": (lambda: nn.Roll(1, 0), (np.zeros((0, 2)),), np.zeros((0, 2))),
    "Unfold": (
        lambda: nn.Unfold([1, 2, 3, 1], (1, 2, 1, 1), [1, 1, 2, 1]),
        (IMAGE,),
        patches(IMAGE, (2, 3), (2, 1), (1, 2)),
    ),
    "Unfold with zeros around": (  # ceil(5 / 2) and ceil(7 / 3) windows, the odd zero at the end
        lambda: nn.Unfold((1, 2, 3, 1), [1, 2, 3, 1], (1, 1, 2, 1), "SAME"),
        (IMAGE,),
        patches(padded(IMAGE, ((0, 1), (2, 2))), (2, 3), (2, 3), (1, 2)),
    ),
    "Unfold with more zeros across": (  # 1 and 3 zeros
        lambda: nn.Unfold((1, 2, 4, 1), (1, 2, 3, 1), (1, 1, 1, 1), "same"),
        (IMAGE,),
        patches(padded(IMAGE, ((0, 1), (1, 2))), (2, 4), (2, 3), (1, 1)),
    ),
    "Unfold with more zeros above and below": (  # 4 and 3 zeros
        lambda: nn.Unfold((1, 3, 4, 1), (1, 1, 3, 1), (1, 2, 1, 1), "same"),
        (IMAGE,),
        patches(padded(IMAGE, ((2, 2), (1, 2))), (3, 4), (1, 3), (2, 1)),
    ),
    "CentralCrop": (lambda: nn.CentralCrop(0.5), (IMAGE,), IMAGE[..., 1:4, 1:6]),
    "CentralCrop of one image": (lambda: nn.CentralCrop(0.4), (IMAGE[0],), IMAGE[0][..., 1:4, 2:5]),
    "CentralCrop of all": (lambda: nn.CentralCrop(1.0), (IMAGE,), IMAGE),
    "Linear": (
        lambda: with_weights(nn.Linear(5, 3, dtype=ms.float64), weight=WEIGHT, bias=BIAS[:, 0]),
        (TABLE,),
        TABLE @ WEIGHT.T + BIAS[:, 0],
    ),
    "Linear without bias": (
        lambda: with_weights(nn.Linear(5, 3, False, dtype=ms.float64), weight=WEIGHT),
        (TABLE[0],),
        WEIGHT @ TABLE[0],
    ),
    "Linear by its first values": (
        lambda: nn.Linear(5, 3, weight_init=Tensor(WEIGHT), bias_init="ones", dtype=ms.float64),
        (TABLE,),
        TABLE @ WEIGHT.T + 1,
    ),
    **{
        f"MatMul {first} {second}": (
            lambda first=first, second=second: nn.MatMul(first, second),
            (a, b),
            (a.swapaxes(-1, -2) if first else a) @ (b.swapaxes(-1, -2) if second else b),
        )
        for first, second, a, b in (
            (False, False, TALL, WIDE),
            (True, False, TALL, TALL),
            (False, True, TALL, SQUARES),
            (True, True, TALL, WIDE[0]),
        )
    },
    "MatMul of vectors": (lambda: nn.MatMul(True, True), (TABLE[0], TABLE[1]), TABLE[0] @ TABLE[1]),
    **{
        f"{kind} {k}": (lambda kind=kind: getattr(nn, kind)(), (x, k), getattr(np, kind.lower())(x, k))
        for kind in ("Tril", "Triu")
        for x in (TALL, WIDE, TABLE > 0)
        for k in (-5, -1, 0, 2)
    },
    **{
        f"MatrixSetDiag of {x.shape}": (lambda: nn.MatrixSetDiag(), (x, new), diagonals(x, new))
        for x, new in ((SQUARES, TALL[:, 0]), (TALL, SQUARES[:, 1]), (WIDE, SQUARES[:, 2]), (TABLE, TABLE[2, :4]))
    },
    "MaxPool2dExt": (lambda: nn.MaxPool2dExt(2), (IMAGE,), largest(IMAGE, (2, 2), (2, 2))),
    "MaxPool2dExt with each setting": (
        lambda: nn.MaxPool2dExt((2, 3), (1, 2), (1, 1), (2, 1)),
        (IMAGE,),
        largest(padded(IMAGE, ((1, 1), (1, 1)), -np.inf), (2, 3), (1, 2), (2, 1)),
    ),
    "MaxPool2dExt rounded up": (
        lambda: nn.MaxPool2dExt(2, 2, ceil_mode=True),
        (IMAGE,),
        largest(IMAGE, (2, 2), (2, 2), ceil=True),
    ),
    "AvgPool1dExt": (lambda: nn.AvgPool1dExt(3), (LINE,), means(LINE, (3,), (3,), (0,))),
    "AvgPool1dExt with each setting": (
        lambda: nn.AvgPool1dExt(3, 2, 1, count_include_pad=False),
        (LINE,),
        means(LINE, (3,), (2,), (1,), False),
    ),
    "AvgPool1dExt rounded up": (
        lambda: nn.AvgPool1dExt(2, 2, ceil_mode=True),
        (LINE,),
        means(LINE, (2,), (2,), (0,), ceil=True),
    ),
    "AvgPool2dExt": (lambda: nn.AvgPool2dExt((2, 3)), (IMAGE,), means(IMAGE, (2, 3), (2, 3), (0, 0))),
    "AvgPool2dExt padded": (lambda: nn.AvgPool2dExt(3, (1, 2), 1), (IMAGE,), means(IMAGE, (3, 3), (1, 2), (1, 1))),
    "AvgPool2dExt of what is there": (
        lambda: nn.AvgPool2dExt((2, 3), (2, 7), (0, 1), True, False),
        (IMAGE,),
        means(IMAGE, (2, 3), (2, 7), (0, 1), False, True),
    ),
    "AvgPool2dExt by a divisor": (
        lambda: nn.AvgPool2dExt(2, 1, 1, divisor_override=3),
        (IMAGE,),
        means(IMAGE, (2, 2), (1, 1), (1, 1), by=3),
    ),
    "AvgPool3dExt with each setting": (
        lambda: nn.AvgPool3dExt(2, (1, 2, 1), 1, False, False),
        (IMAGE[:, :, None],),
        means(IMAGE[:, :, None], (2, 2, 2), (1, 2, 1), (1, 1, 1), False),
    ),
    "LayerNormExt": (lambda: nn.LayerNormExt(7, 0.1, dtype=ms.float64), (IMAGE,), normalized(IMAGE, 1, 0.1)),
    "LayerNormExt trained": (
        lambda: with_weights(nn.LayerNormExt((3, 5), 0.1, dtype=ms.float64), weight=WEIGHT, bias=BIAS),
        (IMAGE.transpose(0, 3, 1, 2),),
        normalized(IMAGE.transpose(0, 3, 1, 2), 2, 0.1) * WEIGHT + BIAS,
    ),
    "LayerNormExt without bias": (
        lambda: with_weights(nn.LayerNormExt([5], bias=False, dtype=ms.float64), weight=BIAS[0]),
        (TABLE,),
        normalized(TABLE, 1, 1e-5) * BIAS[0],
    ),
    "LayerNormExt without parameters": (
        lambda: nn.LayerNormExt(5, elementwise_affine=False),
        (TABLE,),
        normalized(TABLE, 1, 1e-5),
    ),
    "SyncBatchNorm": (
        lambda: with_weights(
            nn.SyncBatchNorm(5, 0.1, 0.75, use_batch_statistics=False, moving_mean_init="ones", dtype=ms.float64),
            gamma=BIAS[0],
            beta=BIAS[1],
            moving_variance=BIAS[2] ** 2,
        ),
        (TABLE,),
        (TABLE - 1) / np.sqrt(BIAS[2] ** 2 + 0.1) * BIAS[0] + BIAS[1],
    ),
    "BatchNorm3d with each setting": (
        lambda: nn.BatchNorm3d(
            5,
            0.1,
            0.75,
            False,
            *(Tensor(variant) for variant in (*BIAS[:2], WEIGHT[0], BIAS[2] ** 2)),
            False,
            ms.float64,
        ),
        (ROOMS,),
        over_channels((ROOMS - channels(WEIGHT[0])) / np.sqrt(channels(BIAS[2] ** 2) + 0.1), BIAS[0], BIAS[1]),
    ),
    "LayerNorm over more axes than it has parameters for": (
        lambda: nn.LayerNorm((7,), -2, -1, Tensor(LINE[0, 0]), Tensor(LINE[0, 1]), 0.1, ms.float64),
        (IMAGE,),
        normalized(IMAGE, 2, 0.1) * LINE[0, 0] + LINE[0, 1],
    ),
    "LayerNorm over as many": (
        lambda: nn.LayerNorm((5, 7), 2, 2, Tensor(IMAGE[0, 0]), Tensor(IMAGE[0, 1]), 0.1, ms.float64),
        (IMAGE,),
        normalized(IMAGE, 2, 0.1) * IMAGE[0, 0] + IMAGE[0, 1],
    ),
    "Softmax2d": (lambda: nn.Softmax2d(), (IMAGE,), special.softmax(IMAGE, 1)),
    "Softmax2d of one image": (lambda: nn.Softmax2d(), (IMAGE[1],), special.softmax(IMAGE[1], 0)),
    "Hardtanh of one value": (lambda: nn.Hardtanh(0.5, 0.5), (TABLE,), np.full_like(TABLE, 0.5)),
    **{
        f"MatrixDiag of {x.ndim} axes": (lambda: nn.MatrixDiag(), (x,), x[..., None] * np.eye(x.shape[-1]))
        for x in (TABLE[0], TABLE, LINE, IMAGE)
    },
    "BiDense": (
        lambda: nn.BiDense(5, 4, 3, Tensor(ROOMS[0, 0][:3, :5, :4]), Tensor(BIAS[:, 0]), dtype=ms.float64),
        (np.stack([TABLE, TABLE[::-1]]), SECOND),
        np.einsum("nbi,kij,nbj->nbk", np.stack([TABLE, TABLE[::-1]]), ROOMS[0, 0][:3, :5, :4], SECOND) + BIAS[:, 0],
    ),
}
FLOATS = [name for name, (_, inputs, _) in CASES.items() if inputs[0].dtype == np.float64 and inputs[0].size]


def inputs_of(inputs: tuple[Any, ...]) -> list[Any]:
    return [Tensor(x) if isinstance(x, np.ndarray) else x for x in inputs]


@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_its_definition_with_each_of_its_settings(name: str) -> None:
    make, inputs, want = CASES[name]
    result = make()(*inputs_of(inputs)).asnumpy()
    assert result.shape == want.shape
    np.testing.assert_allclose(result, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", FLOATS)
def test_the_slopes_of_a_layer_are_those_of_its_definition(name: str) -> None:
    make, inputs, out = CASES[name]
    layer, others = make(), inputs_of(inputs)[1:]
    weights = Tensor(np.cos(np.arange(out.size)).reshape(out.shape))

    def summed(x: Tensor) -> Tensor:
        return (layer(x, *others) * weights).sum()

    result = grad(summed)(Tensor(inputs[0])).asnumpy()
    for index in itertools.islice(np.ndindex(inputs[0].shape), 0, None, 5):
        step = np.zeros(inputs[0].shape)
        step[index] = 1e-6
        ahead, behind = (float(summed(Tensor(inputs[0] + sign * step)).asnumpy()) for sign in (1, -1))
        assert result[index] == pytest.approx((ahead - behind) / 2e-6, rel=1e-5, abs=1e-7)


def spread(x: Array, weight: Array, stride: Any, pads: Any, more: Any, dilation: Any, group: int) -> Array:
    """Return a transposed convolution: sums of elements times the kernel; ``pads`` are pairs, cut off at the ends."""
    n, c, *lengths = x.shape
    per_group, kernel = weight.shape[1], weight.shape[2:]
    sizes = [
        (length - 1) * s + d * (k - 1) + 1 + m
        for length, s, d, k, m in zip(lengths, stride, dilation, kernel, more, strict=True)
    ]
    out = np.zeros((n, per_group * group, *sizes))
    for sample, channel, *index in np.ndindex(*x.shape):
        first = channel // (c // group) * per_group
        for k, *at in np.ndindex(*weight.shape[1:]):
            target = [i * s + a * d for i, s, a, d in zip(index, stride, at, dilation, strict=True)]
            out[(sample, first + k, *target)] += x[(sample, channel, *index)] * weight[(channel, k, *at)]
    ends = zip(sizes, pads, strict=True)
    return out[(..., *(slice(before, size - after) for size, (before, after) in ends))]


def gathered(x: Array, weight: Array, stride: Any, pads: Any, dilation: Any, group: int) -> Array:
    """Return a convolution: the sum over each window times the kernel."""
    out, kernels, per_group = None, weight.shape[0], weight.shape[1]
    for index, counts, part in windows(padded(x, pads), weight.shape[2:], stride, dilation, False):
        out = np.zeros((x.shape[0], kernels, *counts)) if out is None else out
        for k in range(kernels):
            first = k // (kernels // group) * per_group
            own = part[:, first : first + per_group]
            out[(slice(None), k, *index)] = (own * weight[k]).sum(tuple(range(1, own.ndim)))
    assert out is not None
    return out


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_convolution_takes_each_setting_in_its_place(axes: int) -> None:
    kernel, stride, dilation, group = (2, 3, 2)[:axes], (3, 2, 1)[:axes], (1, 2, 2)[:axes], 2
    pads, more = ((1, 0), (0, 2), (1, 1))[:axes] if axes > 1 else ((1, 1),), (1, 0, 1)[:axes]
    flat = tuple(n for pair in pads for n in pair) if axes > 1 else 1
    x = NUMBERS.standard_normal((2, 4, *(6, 7, 5)[:axes]))
    bias = NUMBERS.standard_normal(6)
    shift = bias.reshape(-1, *[1] * axes)
    single = [value[0] if axes == 1 else value for value in (kernel, stride, dilation)]
    last = () if axes == 1 else ("NCHW" if axes == 2 else "NCDHW",)

    weight = NUMBERS.standard_normal((6, 2, *kernel))
    values = Tensor(weight.reshape(6, 2, *kernel)), Tensor(bias)
    layer = getattr(nn, f"Conv{axes}d")(
        4, 6, *single[:2], "pad", flat, single[2], group, True, *values, *last, ms.float64
    )
    result, want = layer(Tensor(x)).asnumpy(), gathered(x, weight, stride, pads, dilation, group) + shift
    assert result.shape == want.shape
    np.testing.assert_allclose(result, want, rtol=1e-9, atol=1e-12)

    weight = NUMBERS.standard_normal((4, 3, *kernel))
    values = Tensor(weight.reshape(4, 3, *kernel)), Tensor(bias)
    settings = {1: (group, True, *values), 2: (group, True, *values), 3: (group, more, True, *values, "NCDHW")}[axes]
    indices = (single[2],) if axes != 2 else (more, single[2])
    layer = getattr(nn, f"Conv{axes}dTranspose")(4, 6, *single[:2], "pad", flat, *indices, *settings, ms.float64)
    longer = more if axes > 1 else (0,)
    result, want = layer(Tensor(x)).asnumpy(), spread(x, weight, stride, pads, longer, dilation, group) + shift
    assert result.shape == want.shape
    np.testing.assert_allclose(result, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "fan"),
    [
        (lambda: nn.Conv1d(8, 300, 5, group=2, has_bias=True), 4 * 5),
        (lambda: nn.Conv2d(8, 300, (3, 5), group=2, has_bias=True), 4 * 15),
        (lambda: nn.Conv3d(2, 300, (3, 5, 2), has_bias=True), 2 * 30),
        (lambda: nn.Conv2dTranspose(8, 300, (3, 5), group=2, has_bias=True), 150 * 15),
        (lambda: nn.RNN(3, 50), 50),
        (lambda: nn.LSTM(3, 50, bidirectional=True), 50),
        (lambda: nn.RNNCell(3, 50), 50),
        (lambda: nn.GRUCell(3, 50), 50),
        (lambda: nn.BiDense(20, 3, 50), 20),
    ],
)
def test_parameters_start_evenly_within_one_over_the_root_of_the_inputs(make: Callable[[], nn.Cell], fan: int) -> None:
    ms.set_seed(9)
    for parameter in make().get_parameters():
        values = parameter.asnumpy().ravel() * math.sqrt(fan)
        assert stats.kstest(values, stats.uniform(-1, 2).cdf).pvalue > 1e-4, parameter.name
        assert abs(values).max() <= 1 + 1e-6


@pytest.mark.parametrize("name", ["ReflectionPad", "ReplicationPad"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_edges_are_repeated_around_samples_and_batches_of_them_alone(name: str, axes: int) -> None:
    layer = getattr(nn, f"{name}{axes}d")(tuple(range(1, 2 * axes + 1))[::-1])
    sides = tuple((n + 1, n) for n in range(1, 2 * axes, 2))
    for ndim in range(1, 7):
        x = NUMBERS.standard_normal((2, 3, 7, 7, 7, 7)[-ndim:])
        if ndim in (axes + 1, axes + 2):
            want = np.pad(x, ((0, 0),) * (ndim - axes) + sides, "reflect" if name == "ReflectionPad" else "edge")
            np.testing.assert_array_equal(layer(Tensor(x)).asnumpy(), want)
        else:
            with pytest.raises(ValueError, match=f"For '{name}{axes}d', the input has too few or too many axes"):
                layer(Tensor(x))


def test_a_padding_of_one_number_stands_for_both_sides_of_a_line() -> None:
    wide = padded(LINE, ((1, 1),), -np.inf)
    for pad in (1, (1,)):
        result = nn.MaxPool1d(3, 2, "pad", pad)(Tensor(LINE)).asnumpy()
        np.testing.assert_array_equal(result, largest(wide, (3,), (2,), (1,)))


def test_the_dtypes_are_those_that_were_asked_for() -> None:
    indices = Tensor([0, 2])
    for dtype in (ms.float16, ms.int32, ms.float64):
        assert nn.MatrixDiag()(Tensor([1, 2], dtype)).dtype == dtype
        assert nn.OneHot(depth=3, dtype=dtype)(indices).dtype == dtype
    assert nn.Linear(2, 3).weight.dtype == nn.Linear(2, 3).bias.dtype == nn.LayerNormExt(3).weight.dtype == ms.float32
    assert nn.Linear(2, 3, dtype=ms.float16)(Tensor([[1.0, 2.0]], ms.float16)).dtype == ms.float16
    assert [nn.Range(*variant)().dtype for variant in ((5,), (0, 4, 2), (0, 4.0), (0.5, 2))] == [
        ms.int32,
        ms.int32,
        ms.float32,
        ms.float32,
    ]


@pytest.mark.parametrize("arguments", [(5,), (2.5,), (2, 7), (0, -7, -2), (0.5, 2.0, 0.25), (3, 1), (0,)])
def test_a_range_begins_anew_with_each_layer_and_stays(arguments: tuple[Any, ...]) -> None:
    layer = nn.Range(*arguments)
    for _ in range(2):
        np.testing.assert_array_equal(layer().asnumpy(), np.arange(*arguments))


@pytest.mark.parametrize("shape", [(40, 30, 2, 3), (1200, 2, 3)])
def test_dropout_of_channels_may_change_the_input_itself(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).uniform(1, 2, shape).astype(np.float32)
    for inplace in (False, True):
        layer = nn.Dropout2dExt(0.25, inplace).set_train()
        tensor = Tensor(x)
        result = layer(tensor)
        factors = (result.asnumpy() / x).reshape(1200, 6)
        assert (result is tensor, np.array_equal(tensor.asnumpy(), x)) == (inplace, not inplace)
        np.testing.assert_allclose(factors, np.broadcast_to(factors[:, :1], factors.shape), rtol=1e-6)
        mask = factors[:, 0] != 0
        np.testing.assert_allclose(factors[mask], 4 / 3, rtol=1e-6)
        assert abs(mask.mean() - 0.75) < 5 * math.sqrt(0.25 * 0.75 / 1200)  # deviations of the share
        assert layer.set_train(False)(tensor) is tensor
    assert nn.Dropout2dExt().p == 0.5
    with pytest.raises(ValueError, match=r"For 'Dropout2dExt', 'p' must be in \[0, 1\], but got 1.5"):
        nn.Dropout2dExt(1.5)


def description(name: str, shape: str, trained: bool, own: str = "") -> str:
    return f"{name}=Parameter (name={own or name}, shape={shape}, dtype=Float32, requires_grad={trained})"


def statistics(count: int, trained: bool = True) -> str:
    shape = f"({count},)"
    return ", ".join(
        [
            description("gamma", shape, trained),
            description("beta", shape, trained),
            description("moving_mean", shape, False, "mean"),
            description("moving_variance", shape, False, "variance"),
        ]
    )


TABLE_TEXT = description("embedding_table", "(2, 3)", True)
TEXTS: list[tuple[Callable[[], nn.Cell], str]] = [
    (lambda: nn.Dropout(p=0.3), "Dropout(p=0.3)"),
    (lambda: nn.Dropout(0.8), "Dropout(keep_prob=0.8)"),
    # MindSpore prints p=0.7 here, the retained share, and nothing for Dropout1d.
    (lambda: nn.Dropout2d(0.3), "Dropout2d(p=0.3)"),
    (lambda: nn.Dropout3d(0.3), "Dropout3d(p=0.3)"),
    (lambda: nn.Dropout1d(0.25), "Dropout1d(p=0.25)"),
    (
        lambda: nn.Embedding(2, 3, embedding_table="ones"),
        f"Embedding(vocab_size=2, embedding_size=3, use_one_hot=False, {TABLE_TEXT}, dtype=Float32, padding_idx=None)",
    ),
    (
        lambda: nn.Embedding(2, 3, True, padding_idx=1),
        f"Embedding(vocab_size=2, embedding_size=3, use_one_hot=True, {TABLE_TEXT}, dtype=Float32, padding_idx=1)",
    ),
    (lambda: nn.ChannelShuffle(3), "ChannelShuffle()"),
    (lambda: nn.BiDense(2, 3, 4), "BiDense(in1_channels=2, in2_channels=3, output_channels=4, has_bias=True)"),
    (lambda: nn.BiDense(2, 3, 4, has_bias=False), "BiDense(in1_channels=2, in2_channels=3, output_channels=4)"),
    (lambda: nn.Linear(2, 3), "Linear(input_features=2, output_features=3, has_bias=True)"),
    (lambda: nn.Linear(2, 3, bias=False), "Linear(input_features=2, output_features=3)"),
    (lambda: nn.BatchNorm1d(2), f"BatchNorm1d(num_features=2, eps=1e-05, momentum=0.9, {statistics(2)})"),
    (
        lambda: nn.BatchNorm2d(3, 1e-3, 0.8, affine=False),
        f"BatchNorm2d(num_features=3, eps=0.001, momentum=0.8, {statistics(3, False)})",
    ),
    (lambda: nn.SyncBatchNorm(2), f"SyncBatchNorm(num_features=2, eps=1e-05, momentum=0.9, {statistics(2)})"),
    *(
        (lambda kind=kind: getattr(nn, kind)(2), f"{kind}(num_features=2, eps=1e-05, momentum=0.1, {statistics(2)})")
        for kind in ("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d")
    ),
    (
        lambda: nn.LayerNorm((2, 3), 1, 2),
        "LayerNorm(normalized_shape=(2, 3), begin_norm_axis=1, begin_params_axis=2, gammaParameter (name=gamma, "
        f"shape=(2, 3), dtype=Float32, requires_grad=True), {description('beta', '(2, 3)', True)})",
    ),
    (lambda: nn.GroupNorm(2, 4), "GroupNorm(num_groups=2, num_channels=4)"),
    (lambda: nn.Norm(1, True), "Norm(axis=1, keep_dims=True)"),
    (lambda: nn.Norm(), "Norm(axis=(), keep_dims=False)"),
    (lambda: nn.MaxPool2d(3, 2), "MaxPool2d(kernel_size=3, stride=2, pad_mode=VALID)"),
    (lambda: nn.AvgPool2d((2, 3), 1, "same"), "AvgPool2d(kernel_size=(2, 3), stride=1, pad_mode=SAME)"),
    (lambda: nn.MaxPool1d(3, 2), "MaxPool1d(kernel_size=(1, 3), stride=(1, 2), pad_mode=VALID)"),
    (lambda: nn.AvgPool3d((1, 2, 3), 2), "AvgPool3d(kernel_size=(1, 2, 3), stride=2, pad_mode=VALID)"),
]


@pytest.mark.parametrize(("make", "text"), TEXTS, ids=[text.partition("(")[0] for _, text in TEXTS])
def test_a_layer_prints_its_settings_as_in_mindspore(make: Callable[[], nn.Cell], text: str) -> None:
    assert str(make()) == text
