"""Primitive classes of layers and of optimizers' updates, against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recorded import check, wave

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, ops

G = wave(2, 3, k=2.0)


def F(value: float) -> Tensor:  # noqa: N802
    return Tensor(value, ms.float32)


def P(*shape: int, k: float = 0.0) -> Parameter:  # noqa: N802
    return Parameter(wave(*shape, k=k), f"p{k}")


def upd(name: str, states: int, rest: tuple[Any, ...], *settings: Any, **named: Any) -> list[Tensor]:
    """A parameter and its state after the update was called twice."""
    update = getattr(ops, name)(*settings, **named)
    held = [P(2, 3, k=0.3)]
    held += [Parameter(ops.abs(wave(2, 3, k=1.0 + i)) * 0.3, f"s{i}") for i in range(states)]
    for _ in range(2):
        found = update(*held, *rest)
    assert all(one is other for one, other in zip(found if states else [found], held, strict=True))
    return [p.value() for p in held]


def sgd() -> list[Any]:
    p, first, kept = P(2, 3), Parameter(wave(2, 3) * 0 + 1, "first"), P(2, 3, k=0.4)
    found = [ops.SGD(0.1, 0.05, False)(p, G, F(0.1), kept, F(0.9), first) for _ in range(3)]
    return [found[-1], kept.value(), first.value()]


def batch_norm() -> list[Any]:
    mean, variance = P(3, k=2.0), P(3, k=0.5)
    found = ops.BatchNorm(True, 1e-3, 0.3)(wave(2, 3, 2, 2), P(3, k=0.4), P(3, k=1.0), mean, variance)
    return [found[0], mean.value(), variance.value()]


CASES: dict[str, tuple[Any, str]] = {
    "Adam": (
        lambda: upd("Adam", 2, (F(0.9), F(0.99), F(0.1), F(0.9), F(0.99), F(1e-6), G)),
        "2x3 -0.73761 0.16441; 2x3 0.16291 0.37724; 2x3 0.33292 0.28381",
    ),
    "Adam nesterov": (
        lambda: upd("Adam", 2, (F(0.9), F(0.99), F(0.1), F(0.9), F(0.99), F(1e-6), G), False, True),
        "2x3 -0.81468 0.14322; 2x3 0.16291 0.37724; 2x3 0.33292 0.28381",
    ),
    "AdamWeightDecay": (
        lambda: upd("AdamWeightDecay", 2, (F(0.1), F(0.9), F(0.99), F(1e-6), F(0.1), G)),
        "2x3 -0.71762 0.15913; 2x3 0.16291 0.37724; 2x3 0.33292 0.28381",
    ),
    "ApplyAdaMax": (
        lambda: upd("ApplyAdaMax", 2, (F(0.9), F(0.1), F(0.9), F(0.99), F(1e-6), G)),
        "2x3 12.77355 -0.46921; 2x3 0.16291 0.37724; 2x3 1.05966 0.9093",
    ),
    "ApplyAdadelta": (
        lambda: upd("ApplyAdadelta", 2, (F(0.1), F(0.9), F(1e-6), G)),
        "2x3 -1.30249 0.12489; 2x3 0.15312 0.36157; 2x3 0.4535 0.35925",
    ),
    "ApplyAdagrad": (
        lambda: upd("ApplyAdagrad", 1, (F(0.1), G)),
        "2x3 -1.30816 0.14213; 2x3 2.08331 1.90608",
    ),
    "ApplyAdagradV2": (
        lambda: upd("ApplyAdagradV2", 1, (F(0.1), G), 1e-3),
        "2x3 -1.30796 0.14226; 2x3 2.08331 1.90608",
    ),
    "ApplyAdamWithAmsgrad": (
        lambda: upd("ApplyAdamWithAmsgrad", 3, (F(0.9), F(0.99), F(0.1), G)),
        "2x3 -1.14241 0.16259; 2x3 0.16291 0.37724; 2x3 0.31941 0.2739; 2x3 -0.03436 0.2739",
    ),
    "ApplyAdamWithAmsgradV2": (
        lambda: upd("ApplyAdamWithAmsgradV2", 3, (F(0.9), F(0.99), F(0.1), F(0.9), F(0.99), F(1e-6), G)),
        "2x3 -1.13986 0.16441; 2x3 0.16291 0.37724; 2x3 0.33292 0.28381; 2x3 -0.02176 0.28381",
    ),
    "ApplyAddSign": (
        lambda: upd("ApplyAddSign", 1, (F(0.1), F(1.0), F(0.9), F(0.8), G)),
        "2x3 -1.49533 -0.05001; 2x3 0.36474 0.48891",
    ),
    "ApplyPowerSign": (
        lambda: upd("ApplyPowerSign", 1, (F(0.1), F(1.0), F(0.9), F(0.8), G)),
        "2x3 -1.6157 -0.15178; 2x3 0.36474 0.48891",
    ),
    "ApplyCenteredRMSProp": (
        lambda: upd("ApplyCenteredRMSProp", 3, (G, 0.1, 0.9, 0.5, 1.0)),
        "2x3 -1.1061 0.05884; 2x3 0.16291 0.37724; 2x3 0.46136 0.37806; 2x3 0.06782 0.13343",
    ),
    "ApplyRMSProp": (
        lambda: upd("ApplyRMSProp", 2, (0.1, G, 0.9, 0.5, 1e-3)),
        "2x3 -1.81614 -0.30471; 2x3 0.15312 0.36157; 2x3 0.35854 0.30075",
    ),
    "ApplyGradientDescent": (
        lambda: upd("ApplyGradientDescent", 0, (F(0.1), G)),
        "2x3 -1.33197 0.11366",
    ),
    "ApplyProximalAdagrad": (
        lambda: upd("ApplyProximalAdagrad", 1, (0.1, 0.05, 0.1, G)),
        "2x3 -1.23588 0.13081; 2x3 2.08331 1.90608",
    ),
    "ApplyProximalGradientDescent": (
        lambda: upd("ApplyProximalGradientDescent", 0, (F(0.1), F(0.5), F(0.1), G)),
        "2x3 -1.2836 0.01201",
    ),
    "SGD": (
        lambda: sgd(),
        "2x3 -1.91034 -0.48182; 2x3 2.64614 2.27631; 2x3 0.0 0.0",
    ),
    "Conv3D": (
        lambda: ops.Conv3D(3, 2, pad_mode="same")(wave(1, 2, 3, 4, 3), wave(3, 2, 2, 2, 2, k=1.0)),
        "1x3x3x4x3 -2.31243 -0.55089",
    ),
    "Conv3D pad": (
        lambda: ops.Conv3D(3, (2, 2, 2), 1, "pad", 1, 2)(wave(1, 2, 3, 4, 3), wave(3, 2, 2, 2, 2, k=1.0)),
        "1x3x2x3x2 -2.91813 0.18042",
    ),
    "Conv3DTranspose": (
        lambda: ops.Conv3DTranspose(2, 3, 2, stride=2)(wave(1, 2, 2, 3, 2), wave(2, 3, 2, 2, 2, k=1.0)),
        "1x3x4x6x4 -0.0185 0.42345",
    ),
    "Conv2DTranspose": (
        lambda: ops.Conv2DTranspose(3, 3, stride=2)(wave(1, 4, 3, 3), wave(4, 3, 3, 3, k=1.0), (1, 3, 7, 8)),
        "1x3x7x8 -1.8206 0.73012",
    ),
    "Conv2DTranspose same": (
        lambda: ops.Conv2DTranspose(3, 3, pad_mode="same", stride=2)(
            wave(1, 4, 3, 3), wave(4, 3, 3, 3, k=1.0), (1, 3, 6, 5)
        ),
        "1x3x6x5 0.20079 0.43571",
    ),
    "Conv2DTranspose pad": (
        lambda: ops.Conv2DTranspose(3, 3, pad_mode="pad", pad=1, stride=2)(
            wave(1, 4, 3, 3), wave(4, 3, 3, 3, k=1.0), (1, 3, 6, 5)
        ),
        "1x3x6x5 0.21963 -0.60854",
    ),
    "MaxPool3D": (
        lambda: ops.MaxPool3D(2, 2)(wave(1, 2, 4, 5, 4)),
        "1x2x2x2x2 1.64783 0.99648",
    ),
    "MaxPool3D pad": (
        lambda: ops.MaxPool3D(3, 2, "pad", 1)(wave(1, 2, 4, 5, 4)),
        "1x2x2x3x2 0.17859 0.99648",
    ),
    "AvgPool3D": (
        lambda: ops.AvgPool3D(2, 2, "same")(wave(1, 2, 4, 5, 4)),
        "1x2x2x3x2 0.97041 0.61326",
    ),
    "AvgPool3D pad": (
        lambda: ops.AvgPool3D(3, 2, "pad", 1, count_include_pad=False)(wave(1, 2, 4, 5, 4)),
        "1x2x2x3x2 2.44245 0.61326",
    ),
    "MaxPoolWithArgmaxV2": (
        lambda: ops.MaxPoolWithArgmaxV2(3, 2, 1)(wave(1, 2, 5, 4)),
        "1x2x3x2 0.87686 0.99588; 1x2x3x2 -32.35483 4.0",
    ),
    "MaxPool3DWithArgmax": (
        lambda: ops.MaxPool3DWithArgmax(2, 2, 0)(wave(1, 2, 4, 4, 4)),
        "1x2x2x2x2 0.22764 0.99648; 1x2x2x2x2 88.10033 21.0",
    ),
    "MaxUnpool2D": (
        lambda: ops.MaxUnpool2D(2, 2)(wave(1, 1, 2, 2), Tensor([[[[0, 3], [9, 10]]]], ms.int64)),
        "1x1x4x4 -1.72392 0.0",
    ),
    "BatchNorm eval": (
        lambda: ops.BatchNorm()(wave(2, 3, 2, 2), wave(3), wave(3, k=1.0), wave(3, k=2.0), ops.abs(wave(3, k=0.5)))[0],
        "2x3x2x2 -0.102 0.84147",
    ),
    "BatchNorm state": (
        lambda: batch_norm(),
        "2x3x2x2 0.0666 0.94766; 3 0.77131 0.57693; 3 0.50157 0.5171",
    ),
    "LRN": (
        lambda: ops.LRN(2)(wave(1, 5, 2, 2)),
        "1x5x2x2 0.22756 0.0",
    ),
    "NLLLoss": (
        lambda: ops.NLLLoss()(wave(3, 4), Tensor([0, 2, 3], ms.int32), wave(4, k=1.0)),
        "- -0.03654 -0.03654; - 2.68531 2.68531",
    ),
    "CTCLossV2": (
        lambda: ops.CTCLossV2()(
            ops.log_softmax(wave(5, 2, 4), -1),
            Tensor([[1, 2], [2, 3]], ms.int64),
            Tensor([5, 4], ms.int64),
            Tensor([2, 1], ms.int64),
        )[0],
        "2 5.53357 3.8297",
    ),
    "GridSampler2D": (
        lambda: ops.GridSampler2D()(wave(1, 2, 3, 3), wave(1, 2, 2, 2)),
        "1x2x2x2 0.81902 0.73995",
    ),
    "ChannelShuffle": (
        lambda: ops.ChannelShuffle(2)(wave(1, 4, 2, 2)),
        "1x4x2x2 -5.27181 0.0",
    ),
    "AdaptiveAvgPool2D": (
        lambda: ops.AdaptiveAvgPool2D((2, 3))(wave(1, 2, 4, 5)),
        "1x2x2x3 2.1786 0.52986",
    ),
    "AdaptiveAvgPool3D": (
        lambda: ops.AdaptiveAvgPool3D((2, 3, 2))(wave(1, 2, 4, 5, 3)),
        "1x2x2x3x2 -1.93426 0.2845",
    ),
    "AdaptiveMaxPool3D": (
        lambda: ops.AdaptiveMaxPool3D()(wave(1, 2, 4, 5, 3), Tensor([2, 3, 2], ms.int32)),
        "1x2x2x3x2 -2.09088 0.99588; 1x2x2x3x2 -57.24422 4.0",
    ),
    "AffineGrid": (
        lambda: ops.AffineGrid(True)(wave(1, 2, 3), (1, 1, 3, 2)),
        "1x3x2x2 -1.52172 0.31267",
    ),
    "MultiMarginLoss": (
        lambda: ops.MultiMarginLoss()(wave(3, 4), Tensor([0, 2, 3], ms.int64), None),
        "- 1.07405 1.07405",
    ),
    "ResizeNearestNeighbor": (
        lambda: ops.ResizeNearestNeighbor((4, 5))(wave(1, 2, 3, 3)),
        "1x2x4x5 -0.75574 0.0",
    ),
    "ResizeNearestNeighborV2": (
        lambda: ops.ResizeNearestNeighborV2()(wave(1, 2, 3, 3), Tensor([4, 5], ms.int32)),
        "1x2x4x5 -0.75574 0.0",
    ),
    "ResizeBilinearV2": (
        lambda: ops.ResizeBilinearV2(False, True)(wave(1, 2, 3, 3), Tensor([4, 5], ms.int32)),
        "1x2x4x5 -0.44133 0.0",
    ),
    "ResizeBilinearV2 align": (
        lambda: ops.ResizeBilinearV2(True, False)(wave(1, 2, 3, 3), Tensor([4, 5], ms.int32)),
        "1x2x4x5 -0.29632 0.0",
    ),
    "ResizeLinear1D": (
        lambda: ops.ResizeLinear1D()(wave(1, 2, 3), Tensor([5], ms.int32)),
        "1x2x5 -0.11154 0.0",
    ),
    "ResizeLinear1D half": (
        lambda: ops.ResizeLinear1D("half_pixel")(wave(1, 2, 3), Tensor([5], ms.int32)),
        "1x2x5 -0.17115 0.0",
    ),
    "UpsampleNearest3D": (
        lambda: ops.UpsampleNearest3D()(wave(1, 1, 2, 2, 2), [3, 4, 3], None),
        "1x1x3x4x3 -0.10074 0.0",
    ),
    "UpsampleTrilinear3D": (
        lambda: ops.UpsampleTrilinear3D()(wave(1, 1, 2, 2, 2), [3, 4, 3], None),
        "1x1x3x4x3 -0.44097 0.0",
    ),
    "Col2Im": (
        lambda: ops.Col2Im(2, 1, 0, 2)(wave(1, 1, 4, 4), Tensor([4, 4], ms.int32)),
        "1x1x4x4 -4.31678 0.0",
    ),
    "Depend": (
        lambda: ops.Depend()(wave(3), wave(2)),
        "3 -0.08522 0.0",
    ),
    "BartlettWindow": (
        lambda: ops.BartlettWindow()(Tensor(5, ms.int32)),
        "5 -1.17025 0.0",
    ),
    "BlackmanWindow": (
        lambda: ops.BlackmanWindow(False)(Tensor(5, ms.int32)),
        "5 -0.56904 0.0",
    ),
    "HammingWindow": (
        lambda: ops.HammingWindow(True, 0.5, 0.4)(Tensor([5], ms.int32)),
        "5 -1.10077 0.1",
    ),
    "Im2Col": (
        lambda: ops.Im2Col(2, 1, 1, 1)(wave(1, 2, 3, 4)),
        "1x2x4x20 0.61837 0.0",
    ),
    "AdaptiveMaxPool2D": (
        lambda: ops.AdaptiveMaxPool2D((2, 3))(wave(1, 2, 4, 5)),
        "1x2x2x3 1.47176 0.96128; 1x2x2x3 -45.5837 5.0",
    ),
    "CTCLoss": (
        lambda: ops.CTCLoss()(
            wave(5, 2, 4),
            Tensor([[0, 0], [0, 1], [1, 0]], ms.int64),
            Tensor([0, 2, 1], ms.int32),
            Tensor([5, 4], ms.int32),
        ),
        "2 5.06268 3.24969; 5x2x4 -0.3174 -0.19533",
    ),
    "Orgqr": (
        lambda: ops.Orgqr()(wave(4, 3), wave(3, k=1.0)),
        "4x3 -0.24037 0.15853",
    ),
    "LuUnpack": (
        lambda: ops.LuUnpack()(wave(3, 3, k=0.4), Tensor([1, 2, 3], ms.int32)),
        "3x3 0.20086 1.0; 3x3 -0.19504 1.0; 3x3 0.01701 0.38942",
    ),
    "InplaceIndexAdd": (
        lambda: ops.InplaceIndexAdd(0)(Parameter(wave(3, 2), "p"), Tensor([0, 2], ms.int32), wave(2, 2, k=1.0)),
        "3x2 -0.38021 0.84147",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_primitive_gives_the_numbers_of_mindspore(name: str) -> None:
    check(*CASES[name])


def test_ftrl_is_the_formula_of_its_paper_also_where_the_sum_is_negative() -> None:
    p, a, z, g = (np.array(v) for v in ([0.3, -0.4, 0.1], [0.4, 0.2, 0.3], [0.2, -0.6, 0.01], [0.5, -0.3, 0.02]))
    held = [Parameter(Tensor(v), name) for v, name in zip((p, a, z), "paz", strict=True)]
    ops.ApplyFtrl()(*held, Tensor(g), 0.1, 0.05, 0.1, -0.5)
    new = a + g * g
    z = z + g - (np.sqrt(new) - np.sqrt(a)) / 0.1 * p
    want = np.where(abs(z) > 0.05, (np.sign(z) * 0.05 - z) / (np.sqrt(new) / 0.1 + 0.2), 0)
    np.testing.assert_allclose(held[0].asnumpy(), want, rtol=1e-12)
    assert want[1] > 0 and z[1] < 0


@pytest.mark.parametrize("nesterov", [False, True])
def test_keras_momentum_adds_the_sum_that_holds_the_rate(nesterov: bool) -> None:
    p, kept, g = np.array([1.0, -2.0]), np.array([0.1, 0.2]), np.array([0.5, 3.0])
    held = [Parameter(Tensor(p), "p"), Parameter(Tensor(kept), "kept")]
    ops.ApplyKerasMomentum(use_nesterov=nesterov)(*held, 0.1, Tensor(g), 0.9)
    kept = kept * 0.9 - 0.1 * g
    np.testing.assert_allclose(held[0].asnumpy(), p + (kept * 0.9 - 0.1 * g if nesterov else kept), rtol=1e-12)


def test_a_transposed_convolution_is_the_gradient_of_the_convolution() -> None:
    x, weight = wave(1, 3, 6, 7), wave(4, 3, 3, 2, k=1.0)
    for mode in ("valid", "same"):
        forward = ops.Conv2D(4, (3, 2), pad_mode=mode, stride=(2, 1))
        out = forward(x, weight)
        sent = wave(*out.shape, k=0.7)
        want = ms.grad(lambda x, forward=forward, sent=sent: (forward(x, weight) * sent).sum())(x)
        back = ops.Conv2DBackpropInput(4, (3, 2), pad_mode=mode, stride=(2, 1))
        np.testing.assert_allclose(back(sent, weight, x.shape).asnumpy(), want.asnumpy(), rtol=1e-4, atol=1e-5)


def test_random_classes_keep_their_seed() -> None:
    for make in (ops.RandomGamma, ops.RandomPoisson):
        first, second = (make(seed=3)(Tensor([50]), Tensor([0.5])).asnumpy() for _ in range(2))
        assert first.shape == (50, 1) and (first >= 0).all()
        np.testing.assert_array_equal(first, second)


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="For 'Adam', input 1 must be a Parameter or a Tensor, but got float"):
        ops.Adam()(P(2), 0.5, P(2), 0.9, 0.9, 0.1, 0.9, 0.9, 1e-8, wave(2))
    with pytest.raises(TypeError, match=r"For 'Conv3D', the arguments \['out_channel', 'kernel_size'\] are missing"):
        ops.Conv3D()
    with pytest.raises(NotImplementedError, match="ops.interpolate"):
        ops.ResizeBilinearV2()(wave(1, 1, 2, 2), (3, 3))
