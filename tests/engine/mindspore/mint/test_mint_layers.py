"""Each layer of mint.nn against PyTorch's documented formula in float64: values, and the settings that change them."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from recorded import filled
from scipy import special

import hookscope.engine as ms
from hookscope.engine import Tensor, mint

Array = np.ndarray[Any, Any]
nn = mint.nn


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(np.float64)


X, LINE, IMAGE = normal(3, 4) * 3, normal(2, 4, 9, seed=1), normal(2, 4, 7, 6, seed=2)
VOLUME = normal(2, 4, 5, 4, 6, seed=3)
Y, CHANCES = normal(3, 4, seed=4), special.expit(normal(3, 4, seed=5))
LOGS = special.log_softmax(normal(3, 4, seed=6), 1)
TARGETS, SIGNS, LABELS = special.softmax(normal(3, 4, seed=7), 1), np.sign(normal(3, 4, seed=8)), np.array([3, 0, 2])
WEIGHT = np.array([0.5, 2.0, 1.0, 0.3])


def values(layer: Any) -> list[Array]:
    """Return the trained parameters of a layer, filled with numbers of their own."""
    return [p.asnumpy().astype(np.float64) for p in filled(layer).trainable_params()]


# Windows


def windows(x: Array, kernel: Any, stride: Any = 1, dilation: Any = 1) -> Array:
    """Return (N, C, positions..., window...) of a padded array (N, C, ...)."""
    axes = x.ndim - 2
    ks, ss, ds = ((v,) * axes if isinstance(v, int) else v for v in (kernel, stride, dilation))
    wide = tuple(d * (k - 1) + 1 for k, d in zip(ks, ds, strict=True))
    result = np.lib.stride_tricks.sliding_window_view(x, wide, tuple(range(2, x.ndim)))
    return result[(slice(None),) * 2 + tuple(slice(None, None, s) for s in (*ss, *ds))]


def convolved(x: Array, weight: Array, bias: Any, stride: Any = 1, dilation: Any = 1, groups: int = 1) -> Array:
    axes, parts = x.ndim - 2, []
    each = len(weight) // groups
    for group, w in enumerate(np.split(weight, groups)):
        own = x[:, group * w.shape[1] : (group + 1) * w.shape[1]]
        result = windows(own, weight.shape[2:], stride, dilation)
        parts.append(np.tensordot(result, w, ([1, *range(2 + axes, 2 + 2 * axes)], range(1, w.ndim))))
        assert parts[-1].shape[-1] == each
    result = np.moveaxis(np.concatenate(parts, -1), -1, 1)
    return result if bias is None else result + bias.reshape(-1, *(1,) * axes)


def ends(x: Array, pads: Any, mode: Any = "constant", **more: Any) -> Array:
    """Return an array padded as PyTorch numbers ends: before and behind the last axis, then the one before it."""
    axes = x.ndim - 2
    argument = (pads,) * (2 * axes) if isinstance(pads, int) else pads
    pairs = [(argument[2 * i], argument[2 * i + 1]) for i in reversed(range(axes))]
    return np.pad(x, [(0, 0), (0, 0), *pairs], mode, **more)


def transposed(x: Array, w: Array, bias: Array, stride: int, pad: int, more: int, groups: int, dilation: int) -> Array:
    """Return the sum of multiples of the kernel by each element of x."""
    n, c, h, width = x.shape
    kh, kw = w.shape[2:]
    size = [(v - 1) * stride + dilation * (k - 1) + 1 + more for v, k in ((h, kh), (width, kw))]
    out = np.zeros((n, w.shape[1] * groups, *size))
    for b, i, r, q, a, e in itertools.product(*map(range, (n, c, h, width, kh, kw))):
        first = i // (c // groups) * w.shape[1]
        row, column = r * stride + a * dilation, q * stride + e * dilation
        out[b, first : first + w.shape[1], row, column] += x[b, i, r, q] * w[i, :, a, e]
    return out[:, :, pad : size[0] - pad, pad : size[1] - pad] + bias[:, None, None]


def averaged(
    x: Array, kernel: int, stride: int, pad: int = 0, ceil: bool = False, counts: bool = True, divisor: Any = None
) -> Array:
    lines = []
    for length in x.shape[2:]:
        output_length = (math.ceil if ceil else math.floor)((length + 2 * pad - kernel) / stride) + 1
        starts = [i * stride - pad for i in range(output_length) if i * stride - pad < length]
        lines.append([(max(s, 0), min(s + kernel, length), min(s + kernel, length + pad) - s) for s in starts])
    out = np.zeros((*x.shape[:2], *map(len, lines)))
    for index in itertools.product(*(range(len(line)) for line in lines)):
        parts = [line[i] for line, i in zip(lines, index, strict=True)]
        inside = x[(slice(None), slice(None), *(slice(a, b) for a, b, _ in parts))]
        count = divisor or math.prod(full if counts else b - a for a, b, full in parts)
        out[(slice(None), slice(None), *index)] = inside.reshape(*x.shape[:2], -1).sum(-1) / count
    return out


def adapted(x: Array, sizes: Any, reduce: Any) -> Array:
    out = np.zeros((*x.shape[:2], *sizes))
    for index in np.ndindex(*sizes):
        part = tuple(slice(i * n // m, -(-(i + 1) * n // m)) for i, n, m in zip(index, x.shape[2:], sizes, strict=True))
        inside = x[(slice(None), slice(None), *part)].reshape(*x.shape[:2], -1)
        out[(slice(None), slice(None), *index)] = reduce(inside, -1)
    return out


def resized(x: Array, sizes: Any, corners: bool) -> Array:
    """Resize bilinearly, an axis at a time."""
    for axis, size in zip((2, 3), sizes, strict=True):
        length, i = x.shape[axis], np.arange(size)
        at = i * (length - 1) / (size - 1) if corners else np.maximum((i + 0.5) * length / size - 0.5, 0)
        low = np.floor(at).astype(int)
        part = (at - low).reshape(-1, *(1,) * (3 - axis))
        x = x.take(low, axis) * (1 - part) + x.take(np.minimum(low + 1, length - 1), axis) * part
    return x


def normed(x: Array, axes: tuple[int, ...], eps: float) -> Array:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


def shaped(p: Array, x: Array) -> Array:
    return p.reshape(1, -1, *(1,) * (x.ndim - 2))


# Layers with parameters: the constructor, the input, and the formula of input and parameters

TRAINED: dict[str, tuple[Callable[[], Any], Array, Callable[..., Array]]] = {
    "Linear": (lambda: nn.Linear(4, 5), X, lambda x, w, b: x @ w.T + b),
    "Linear without bias": (lambda: nn.Linear(4, 5, bias=False), X, lambda x, w: x @ w.T),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, 2, 1, 2, 2), LINE, lambda x, w, b: convolved(ends(x, 1), w, b, 2, 2, 2)),
    "Conv1d same": (
        lambda: nn.Conv1d(4, 2, 4, padding="same", bias=False),
        LINE,
        lambda x, w: convolved(ends(x, (1, 2)), w, None),
    ),
    "Conv2d": (
        lambda: nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2), 2),
        IMAGE,
        lambda x, w, b: convolved(ends(x, (0, 0, 1, 1)), w, b, (2, 1), (1, 2), 2),
    ),
    **{
        f"Conv2d {mode}": (
            lambda mode=mode: nn.Conv2d(4, 2, 3, padding=2, padding_mode=mode),
            IMAGE,
            lambda x, w, b, how=how: convolved(ends(x, 2, how), w, b),
        )
        for mode, how in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap"))
    },
    "Conv3d": (
        lambda: nn.Conv3d(4, 2, (2, 3, 2), (2, 1, 3), 1),
        VOLUME,
        lambda x, w, b: convolved(ends(x, 1), w, b, (2, 1, 3)),
    ),
    "ConvTranspose2d": (
        lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, 2),
        IMAGE,
        lambda x, w, b: transposed(x, w, b, 2, 1, 1, 2, 1),
    ),
    "ConvTranspose2d dilated": (
        lambda: nn.ConvTranspose2d(4, 2, 2, dilation=2),
        IMAGE,
        lambda x, w, b: transposed(x, w, b, 1, 0, 0, 1, 2),
    ),
    "PReLU": (lambda: nn.PReLU(4), IMAGE, lambda x, w: np.where(x > 0, x, shaped(w, x) * x)),
    "LayerNorm": (lambda: nn.LayerNorm((7, 6), 1e-2), IMAGE, lambda x, w, b: normed(x, (2, 3), 1e-2) * w + b),
    "LayerNorm without bias": (lambda: nn.LayerNorm(6, bias=False), IMAGE, lambda x, w: normed(x, (3,), 1e-5) * w),
    "GroupNorm": (
        lambda: nn.GroupNorm(2, 4, 1e-2),
        IMAGE,
        lambda x, w, b: normed(x.reshape(2, 2, -1), (2,), 1e-2).reshape(x.shape) * shaped(w, x) + shaped(b, x),
    ),
    **{
        f"{kind} of {x.ndim} axes": (
            lambda kind=kind: getattr(nn, kind)(4, 1e-2),
            x,
            lambda x, w, b: normed(x, tuple(i for i in range(x.ndim) if i != 1), 1e-2) * shaped(w, x) + shaped(b, x),
        )
        for kind, x in (
            ("BatchNorm1d", X),
            ("BatchNorm1d", LINE),
            ("BatchNorm2d", IMAGE),
            ("BatchNorm3d", VOLUME),
            ("SyncBatchNorm", X),
            ("SyncBatchNorm", VOLUME),
        )
    },
}


@pytest.mark.parametrize("name", TRAINED)
def test_a_layer_with_parameters_is_its_formula(name: str) -> None:
    make, x, formula = TRAINED[name]
    layer = make().set_train()
    want = formula(x, *values(layer))
    np.testing.assert_allclose(layer(Tensor(x.astype(np.float32))).asnumpy(), want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("momentum", [0.3, None])
@pytest.mark.parametrize("kind", ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"])
def test_running_figures_are_moved_in_training_and_used_elsewhere(kind: str, momentum: float | None) -> None:
    layer = getattr(nn, kind)(4, momentum=momentum, affine=False).set_train()
    mean, variance = np.zeros(4), np.ones(4)
    batches = {"BatchNorm1d": (LINE, X), "BatchNorm3d": (VOLUME, VOLUME * 2 + 1)}.get(kind, (IMAGE, IMAGE * 2 + 1))
    for step, x in enumerate(batches, 1):
        axes, share = tuple(i for i in range(x.ndim) if i != 1), momentum or 1 / step
        layer(Tensor(x.astype(np.float32)))
        mean, variance = mean + share * (x.mean(axes) - mean), variance + share * (x.var(axes, ddof=1) - variance)
    np.testing.assert_allclose(layer.running_mean.asnumpy(), mean, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer.running_var.asnumpy(), variance, rtol=1e-4)
    x = batches[0]
    want = (x - shaped(mean, x)) / np.sqrt(shaped(variance, x) + 1e-5)
    result = layer.set_train(False)(Tensor(x.astype(np.float32)))
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-3, atol=1e-4)


# Layers without parameters: the layer, its inputs, and what comes out

unfolded = windows(ends(IMAGE, 1), (2, 3), (2, 1)).transpose(0, 1, 4, 5, 2, 3).reshape(2, 24, 24)
columns = normal(2, 24, 4, seed=9).reshape(2, 4, 2, 3, 2, 2)
places = np.array([[[[1, 9], [20, 30]]]]).repeat(2, 0).repeat(4, 1)
folded = np.zeros((2, 4, 4, 5))
for row, column, a, e in itertools.product(range(2), range(2), range(2), range(3)):
    folded[:, :, 2 * row + a, 2 * column + e] += columns[:, :, a, e, row, column]
unpooled = np.zeros((2, 4, 36))
np.put_along_axis(unpooled, places.reshape(2, 4, 4), normal(2, 4, 4, seed=10), 2)
cosines = (X * Y).sum(1) / np.sqrt((X**2).sum(1) * (Y**2).sum(1))
smooth = np.where(abs(X - Y) < 0.7, (X - Y) ** 2 / 1.4, abs(X - Y) - 0.35)
binary = -(TARGETS * np.log(CHANCES) + (1 - TARGETS) * np.log(1 - CHANCES))
logits = -(3 * TARGETS * special.log_expit(X) + (1 - TARGETS) * special.log_expit(-X))
spread = -0.2 / 4 * special.log_softmax(X, 1).sum(1) - 0.8 * special.log_softmax(X, 1)[np.arange(3), LABELS]
divergence = TARGETS * (np.log(TARGETS) - LOGS)

Case = tuple[Any, tuple[Array, ...], Any]
PLAIN: dict[str, Case] = {
    "Identity": (nn.Identity(3, a=1), (X,), X),
    "Flatten": (nn.Flatten(), (IMAGE,), IMAGE.reshape(2, -1)),
    "Flatten some": (nn.Flatten(1, 2), (IMAGE,), IMAGE.reshape(2, 28, 6)),
    "ReLU": (nn.ReLU(), (X,), np.maximum(X, 0)),
    "ReLU6": (nn.ReLU6(), (X * 3,), np.clip(X * 3, 0, 6)),
    "ELU": (nn.ELU(0.7), (X,), np.where(X > 0, X, 0.7 * np.expm1(X))),
    "SELU": (nn.SELU(), (X,), 1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * np.expm1(X))),
    "GELU": (nn.GELU(), (X,), X * special.ndtr(X)),
    "GELU tanh": (nn.GELU("tanh"), (X,), X / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))),
    "GLU": (nn.GLU(0), (np.stack([X, X + 1]),), (X * special.expit(X + 1))[None]),
    "SiLU": (nn.SiLU(), (X,), X * special.expit(X)),
    "Mish": (nn.Mish(), (X,), X * np.tanh(np.log1p(np.exp(X)))),
    "Sigmoid": (nn.Sigmoid(), (X,), special.expit(X)),
    "LogSigmoid": (nn.LogSigmoid(), (X,), special.log_expit(X)),
    "Tanh": (nn.Tanh(), (X,), np.tanh(X)),
    "Hardtanh": (nn.Hardtanh(-0.5, 2.0), (X,), np.clip(X, -0.5, 2)),
    "Hardsigmoid": (nn.Hardsigmoid(), (X,), np.clip(X + 3, 0, 6) / 6),
    "Hardswish": (nn.Hardswish(), (X,), X * np.clip(X + 3, 0, 6) / 6),
    "Hardshrink": (nn.Hardshrink(0.8), (X,), np.where(abs(X) > 0.8, X, 0)),
    "Threshold": (nn.Threshold(0.4, -7.0), (X,), np.where(X > 0.4, X, -7)),
    "LeakyReLU": (nn.LeakyReLU(0.2), (X,), np.where(X > 0, X, 0.2 * X)),
    "Softmax": (nn.Softmax(0), (X,), special.softmax(X, 0)),
    "LogSoftmax": (nn.LogSoftmax(1), (X,), special.log_softmax(X, 1)),
    "PixelShuffle": (
        nn.PixelShuffle(2),
        (IMAGE,),
        IMAGE.reshape(2, 1, 2, 2, 7, 6).transpose(0, 1, 4, 2, 5, 3).reshape(2, 1, 14, 12),
    ),
    "Unfold": (nn.Unfold((2, 3), padding=1, stride=(2, 1)), (IMAGE,), unfolded),
    "Fold": (nn.Fold((4, 5), (2, 3), stride=2), (normal(2, 24, 4, seed=9),), folded),
    "MaxPool2d": (nn.MaxPool2d(3, 2), (IMAGE,), windows(IMAGE, 3, 2).max((4, 5))),
    "MaxPool2d dilated": (
        nn.MaxPool2d(2, 1, 1, 2),
        (IMAGE,),
        windows(ends(IMAGE, 1, constant_values=-np.inf), 2, 1, 2).max((4, 5)),
    ),
    "MaxPool2d ceil": (
        nn.MaxPool2d(2, 2, ceil_mode=True),
        (IMAGE,),
        windows(ends(IMAGE, (0, 0, 0, 1), constant_values=-np.inf), 2, 2).max((4, 5)),
    ),
    "MaxUnpool2d": (
        nn.MaxUnpool2d((3, 3)),
        (normal(2, 4, 4, seed=10).reshape(2, 4, 2, 2), places),
        unpooled.reshape(2, 4, 6, 6),
    ),
    "AvgPool1d": (nn.AvgPool1d(3, 2, 1), (LINE,), averaged(LINE, 3, 2, 1)),
    "AvgPool1d ceil": (nn.AvgPool1d(4, 3, 1, True, False), (LINE,), averaged(LINE, 4, 3, 1, True, False)),
    "AvgPool2d": (nn.AvgPool2d(3, 2, 1, count_include_pad=False), (IMAGE,), averaged(IMAGE, 3, 2, 1, counts=False)),
    "AvgPool2d ceil": (nn.AvgPool2d(3, 2, 1, True), (IMAGE,), averaged(IMAGE, 3, 2, 1, True)),
    "AvgPool2d divisor": (nn.AvgPool2d(2, divisor_override=3), (IMAGE,), averaged(IMAGE, 2, 2, divisor=3)),
    "AvgPool3d": (nn.AvgPool3d(2), (VOLUME,), averaged(VOLUME, 2, 2)),
    "AvgPool3d ceil": (nn.AvgPool3d(3, 2, 1, True, False), (VOLUME,), averaged(VOLUME, 3, 2, 1, True, False)),
    "AdaptiveAvgPool1d": (nn.AdaptiveAvgPool1d(4), (LINE,), adapted(LINE, (4,), np.mean)),
    "AdaptiveAvgPool2d": (nn.AdaptiveAvgPool2d((3, None)), (IMAGE,), adapted(IMAGE, (3, 6), np.mean)),
    "AdaptiveAvgPool3d": (nn.AdaptiveAvgPool3d((2, 3, 4)), (VOLUME,), adapted(VOLUME, (2, 3, 4), np.mean)),
    "AdaptiveMaxPool1d": (nn.AdaptiveMaxPool1d(4), (LINE,), adapted(LINE, (4,), np.max)),
    "AdaptiveMaxPool2d": (nn.AdaptiveMaxPool2d((3, 4)), (IMAGE,), adapted(IMAGE, (3, 4), np.max)),
    "Upsample": (nn.Upsample(scale_factor=2.0), (IMAGE,), IMAGE.repeat(2, 2).repeat(2, 3)),
    "Upsample to a size": (
        nn.Upsample(size=(9, 4)),
        (IMAGE,),
        IMAGE[:, :, np.arange(9) * 7 // 9][..., np.arange(4) * 6 // 4],
    ),
    "Upsample bilinear": (nn.Upsample(size=(9, 4), mode="bilinear"), (IMAGE,), resized(IMAGE, (9, 4), False)),
    "UpsamplingNearest2d": (nn.UpsamplingNearest2d(scale_factor=2), (IMAGE,), IMAGE.repeat(2, 2).repeat(2, 3)),
    "UpsamplingNearest2d to a size": (
        nn.UpsamplingNearest2d(5),
        (IMAGE,),
        IMAGE[:, :, np.arange(5) * 7 // 5][..., np.arange(5) * 6 // 5],
    ),
    "UpsamplingBilinear2d": (nn.UpsamplingBilinear2d((9, 4)), (IMAGE,), resized(IMAGE, (9, 4), True)),
    **{
        f"{name}{x.ndim - 2}d": (getattr(nn, f"{name}{x.ndim - 2}d")(pads, *more), (x,), ends(x, pads, mode, **fill))
        for name, mode, more, fill in (
            ("ConstantPad", "constant", (2.5,), {"constant_values": 2.5}),
            ("ZeroPad", "constant", (), {}),
            ("ReflectionPad", "reflect", (), {}),
            ("ReplicationPad", "edge", (), {}),
        )
        for x, pads in ((LINE, (1, 2)), (IMAGE, (1, 2, 3, 0)), (VOLUME, (1, 2, 3, 0, 2, 1)))
    },
    "ZeroPad2d all alike": (nn.ZeroPad2d(2), (IMAGE,), ends(IMAGE, 2)),
    "L1Loss": (nn.L1Loss(), (X, Y), abs(X - Y).mean()),
    "MSELoss": (nn.MSELoss("sum"), (X, Y), ((X - Y) ** 2).sum()),
    "SmoothL1Loss": (nn.SmoothL1Loss("none", 0.7), (X, Y), smooth),
    "BCELoss": (nn.BCELoss(Tensor(WEIGHT.astype(np.float32))), (CHANCES, TARGETS), (binary * WEIGHT).mean()),
    "BCEWithLogitsLoss": (nn.BCEWithLogitsLoss(None, "none", Tensor([3.0])), (X, TARGETS), logits),
    "KLDivLoss": (nn.KLDivLoss("batchmean"), (LOGS, TARGETS), divergence.sum() / 3),
    "KLDivLoss of logarithms": (nn.KLDivLoss("sum", True), (LOGS, np.log(TARGETS)), divergence.sum()),
    "SoftMarginLoss": (nn.SoftMarginLoss(), (X, SIGNS), np.log1p(np.exp(-X * SIGNS)).mean()),
    "CosineEmbeddingLoss": (
        nn.CosineEmbeddingLoss(0.1, "none"),
        (X, Y, np.array([1.0, -1.0, -1.0])),
        np.where([True, False, False], 1 - cosines, np.maximum(0, cosines - 0.1)),
    ),
    "NLLLoss": (
        nn.NLLLoss(Tensor(WEIGHT.astype(np.float32)), 0),
        (LOGS, LABELS),
        -(LOGS[[0, 2], [3, 2]] * WEIGHT[[3, 2]]).sum() / WEIGHT[[3, 2]].sum(),
    ),
    "CrossEntropyLoss": (nn.CrossEntropyLoss(label_smoothing=0.2, reduction="none"), (X, LABELS), spread),
}


@pytest.mark.parametrize("name", PLAIN)
def test_a_layer_without_parameters_is_its_formula(name: str) -> None:
    layer, inputs, want = PLAIN[name]
    result = layer(*[Tensor(x if x.dtype.kind == "i" else x.astype(np.float32)) for x in inputs])
    assert result.shape == np.shape(want)
    np.testing.assert_allclose(result.asnumpy(), want, rtol=2e-5, atol=5e-6)


def test_pools_give_the_places_of_the_largest_when_asked() -> None:
    for layer, x in (
        (nn.MaxPool2d(3, 2, return_indices=True), IMAGE),
        (nn.AdaptiveMaxPool1d(4, True), LINE),
        (nn.AdaptiveMaxPool2d((3, 4), True), IMAGE),
    ):
        values, indices = layer(Tensor(x))
        flat = np.take_along_axis(x.reshape(2, 4, -1), indices.asnumpy().reshape(2, 4, -1), 2)
        np.testing.assert_array_equal(flat.reshape(values.shape), values.asnumpy())


def test_an_embedding_takes_rows_shortens_them_and_spares_the_padding() -> None:
    layer = filled(nn.Embedding(4, 3, padding_idx=-3, max_norm=0.65))
    table, rows = layer.weight.asnumpy().astype(np.float64), np.array([[0, 1], [3, 0]])
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    assert (lengths[[0, 1, 3]] > 0.65).any() and (lengths[[0, 1, 3]] < 0.65).any()
    want = np.where(lengths > 0.65, table / lengths * 0.65, table)
    np.testing.assert_allclose(layer(Tensor(rows)).asnumpy(), want[rows], rtol=1e-5)
    want[2] = table[2]  # unused rows; PyTorch, too, shortens rows in the table itself
    np.testing.assert_allclose(layer.weight.asnumpy(), want, rtol=1e-5)
    (result,) = ms.grad(lambda: layer(Tensor(rows)).sum(), None, (layer.weight,))()
    assert result.asnumpy().tolist() == [[2.0] * 3, [0.0] * 3, [0.0] * 3, [1.0] * 3]


@pytest.mark.parametrize(("kind", "shape", "size"), [("Dropout", (3000, 2), 2), ("Dropout2d", (60, 50, 2, 3), 2)])
def test_dropout_drops_elements_or_whole_channels_and_keeps_the_mean(kind: str, shape: Any, size: int) -> None:
    ms.set_seed(3)
    layer = getattr(nn, kind)(0.25).set_train()
    result = layer(Tensor(np.ones(shape, np.float32))).asnumpy()
    dropped = result.reshape(*shape[:size], -1)
    assert (dropped == dropped[..., :1]).all()
    assert set(np.unique(result)) == {np.float32(0), np.float32(4 / 3)}
    # Five standard deviations of a share of 0.25 in so many draws.
    draws = math.prod(shape[:size])
    assert abs((dropped[..., 0] == 0).mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / draws)
    x = Tensor(np.ones(shape, np.float32))
    np.testing.assert_array_equal(layer.set_train(False)(x).asnumpy(), x.asnumpy())


def test_every_layer_of_mint_is_compared_here() -> None:
    layers = {name for name, value in vars(nn).items() if inspect.isclass(value) and issubclass(value, ms.nn.Cell)}
    compared = {name.split()[0] for name in (*TRAINED, *PLAIN)}
    drawn_or_looked_up = {"Dropout", "Dropout2d", "Embedding"}
    assert {name for name in layers if not name.startswith("_")} == compared | drawn_or_looked_up


def test_first_values_and_element_types_are_those_given() -> None:
    layer = nn.Linear(3, 2, weight_init="ones", bias_init=0.25, dtype=ms.float16)
    assert (layer.weight.dtype, layer.bias.dtype) == (ms.float16, ms.float16)
    assert (layer.weight.tolist(), layer.bias.tolist()) == ([[1.0] * 3] * 2, [0.25] * 2)
    table = nn.Embedding(3, 2, padding_idx=1, dtype=ms.float16).weight
    assert table.dtype == ms.float16 and table.asnumpy()[1].tolist() == [0, 0] and table.asnumpy()[[0, 2]].any(1).all()
    assert nn.Embedding(3, 2).weight.dtype == ms.float32
    argument = np.arange(6.0).reshape(3, 2)
    kept = nn.Embedding(3, 2, padding_idx=1, _weight=Tensor(argument), _freeze=True, dtype=ms.float64).weight
    assert (kept.dtype, kept.requires_grad, kept.tolist()) == (ms.float64, False, argument.tolist())


def test_the_table_of_an_embedding_is_drawn_from_the_standard_normal_distribution() -> None:
    ms.set_seed(2)
    drawn = nn.Embedding(200, 200).weight.asnumpy().astype(np.float64)
    assert abs(drawn.mean()) < 5 / 200 and abs(drawn.std() - 1) < 5 / 200 / math.sqrt(2)


@pytest.mark.parametrize("channels", [(4, 6), (6, 4), (6, 6)])
def test_groups_divide_the_channels_of_both_sides(channels: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=f"'groups' 4 must divide {channels[0]} and {channels[1]} channels"):
        nn.Conv2d(*channels, 1, groups=4)
