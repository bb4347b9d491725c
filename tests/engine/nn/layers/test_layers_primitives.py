"""Primitive classes of layers and of optimizers' updates, against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
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


def upd(name: str, states: int, rest: tuple[Any, ...], *settings: Any, **keywords: Any) -> list[Tensor]:
    """Return a parameter and its state after the update was called twice."""
    update = getattr(ops, name)(*settings, **keywords)
    parameters = [P(2, 3, k=0.3)]
    parameters += [Parameter(ops.abs(wave(2, 3, k=1.0 + i)) * 0.3, f"s{i}") for i in range(states)]
    for _ in range(2):
        update(*parameters, *rest)
    return [p.value() for p in parameters]


def sgd() -> list[Any]:
    p, first, momentum = P(2, 3), Parameter(wave(2, 3) * 0 + 1, "first"), P(2, 3, k=0.4)
    results = [ops.SGD(0.1, 0.05, False)(p, G, F(0.1), momentum, F(0.9), first) for _ in range(3)]
    return [results[-1], momentum.value(), first.value()]


def batch_norm() -> list[Any]:
    mean, variance = P(3, k=2.0), P(3, k=0.5)
    result = ops.BatchNorm(True, 1e-3, 0.3)(wave(2, 3, 2, 2), P(3, k=0.4), P(3, k=1.0), mean, variance)
    return [result[0], mean.value(), variance.value()]


CASES: dict[str, Callable[[], Any]] = {
    "Adam": lambda: upd("Adam", 2, (F(0.9), F(0.99), F(0.1), F(0.9), F(0.99), F(1e-6), G)),
    "Adam nesterov": lambda: upd("Adam", 2, (F(0.9), F(0.99), F(0.1), F(0.9), F(0.99), F(1e-6), G), False, True),
    "AdamWeightDecay": lambda: upd("AdamWeightDecay", 2, (F(0.1), F(0.9), F(0.99), F(1e-6), F(0.1), G)),
    "ApplyAdaMax": lambda: upd("ApplyAdaMax", 2, (F(0.9), F(0.1), F(0.9), F(0.99), F(1e-6), G)),
    "ApplyAdadelta": lambda: upd("ApplyAdadelta", 2, (F(0.1), F(0.9), F(1e-6), G)),
    "ApplyAdagrad": lambda: upd("ApplyAdagrad", 1, (F(0.1), G)),
    "ApplyAdagradV2": lambda: upd("ApplyAdagradV2", 1, (F(0.1), G), 1e-3),
    "ApplyAdamWithAmsgrad": lambda: upd("ApplyAdamWithAmsgrad", 3, (F(0.9), F(0.99), F(0.1), G)),
    "ApplyAdamWithAmsgradV2": lambda: upd(
        "ApplyAdamWithAmsgradV2", 3, (F(0.9), F(0.99), F(0.1), F(0.9), F(0.99), F(1e-6), G)
    ),
    "ApplyAddSign": lambda: upd("ApplyAddSign", 1, (F(0.1), F(1.0), F(0.9), F(0.8), G)),
    "ApplyPowerSign": lambda: upd("ApplyPowerSign", 1, (F(0.1), F(1.0), F(0.9), F(0.8), G)),
    "ApplyCenteredRMSProp": lambda: upd("ApplyCenteredRMSProp", 3, (G, 0.1, 0.9, 0.5, 1.0)),
    "ApplyRMSProp": lambda: upd("ApplyRMSProp", 2, (0.1, G, 0.9, 0.5, 1e-3)),
    "ApplyGradientDescent": lambda: upd("ApplyGradientDescent", 0, (F(0.1), G)),
    "ApplyProximalAdagrad": lambda: upd("ApplyProximalAdagrad", 1, (0.1, 0.05, 0.1, G)),
    "ApplyProximalGradientDescent": lambda: upd("ApplyProximalGradientDescent", 0, (F(0.1), F(0.5), F(0.1), G)),
    "SGD": lambda: sgd(),
    "Conv3D": lambda: ops.Conv3D(3, 2, pad_mode="same")(wave(1, 2, 3, 4, 3), wave(3, 2, 2, 2, 2, k=1.0)),
    "Conv3D pad": lambda: ops.Conv3D(3, (2, 2, 2), 1, "pad", 1, 2)(wave(1, 2, 3, 4, 3), wave(3, 2, 2, 2, 2, k=1.0)),
    "Conv3DTranspose": lambda: ops.Conv3DTranspose(2, 3, 2, stride=2)(wave(1, 2, 2, 3, 2), wave(2, 3, 2, 2, 2, k=1.0)),
    "Conv2DTranspose": lambda: ops.Conv2DTranspose(3, 3, stride=2)(
        wave(1, 4, 3, 3), wave(4, 3, 3, 3, k=1.0), (1, 3, 7, 8)
    ),
    "Conv2DTranspose same": lambda: ops.Conv2DTranspose(3, 3, pad_mode="same", stride=2)(
        wave(1, 4, 3, 3), wave(4, 3, 3, 3, k=1.0), (1, 3, 6, 5)
    ),
    "Conv2DTranspose pad": lambda: ops.Conv2DTranspose(3, 3, pad_mode="pad", pad=1, stride=2)(
        wave(1, 4, 3, 3), wave(4, 3, 3, 3, k=1.0), (1, 3, 6, 5)
    ),
    "MaxPool3D": lambda: ops.MaxPool3D(2, 2)(wave(1, 2, 4, 5, 4)),
    "MaxPool3D pad": lambda: ops.MaxPool3D(3, 2, "pad", 1)(wave(1, 2, 4, 5, 4)),
    "AvgPool3D": lambda: ops.AvgPool3D(2, 2, "same")(wave(1, 2, 4, 5, 4)),
    "AvgPool3D pad": lambda: ops.AvgPool3D(3, 2, "pad", 1, count_include_pad=False)(wave(1, 2, 4, 5, 4)),
    "MaxPoolWithArgmaxV2": lambda: ops.MaxPoolWithArgmaxV2(3, 2, 1)(wave(1, 2, 5, 4)),
    "MaxPool3DWithArgmax": lambda: ops.MaxPool3DWithArgmax(2, 2, 0)(wave(1, 2, 4, 4, 4)),
    "MaxUnpool2D": lambda: ops.MaxUnpool2D(2, 2)(wave(1, 1, 2, 2), Tensor([[[[0, 3], [9, 10]]]], ms.int64)),
    "BatchNorm eval": lambda: ops.BatchNorm()(
        wave(2, 3, 2, 2), wave(3), wave(3, k=1.0), wave(3, k=2.0), ops.abs(wave(3, k=0.5))
    )[0],
    "BatchNorm state": lambda: batch_norm(),
    "LRN": lambda: ops.LRN(2)(wave(1, 5, 2, 2)),
    "NLLLoss": lambda: ops.NLLLoss()(wave(3, 4), Tensor([0, 2, 3], ms.int32), wave(4, k=1.0)),
    "CTCLossV2": lambda: ops.CTCLossV2()(
        ops.log_softmax(wave(5, 2, 4), -1),
        Tensor([[1, 2], [2, 3]], ms.int64),
        Tensor([5, 4], ms.int64),
        Tensor([2, 1], ms.int64),
    )[0],
    "GridSampler2D": lambda: ops.GridSampler2D()(wave(1, 2, 3, 3), wave(1, 2, 2, 2)),
    "ChannelShuffle": lambda: ops.ChannelShuffle(2)(wave(1, 4, 2, 2)),
    "AdaptiveAvgPool2D": lambda: ops.AdaptiveAvgPool2D((2, 3))(wave(1, 2, 4, 5)),
    "AdaptiveAvgPool3D": lambda: ops.AdaptiveAvgPool3D((2, 3, 2))(wave(1, 2, 4, 5, 3)),
    "AdaptiveMaxPool3D": lambda: ops.AdaptiveMaxPool3D()(wave(1, 2, 4, 5, 3), Tensor([2, 3, 2], ms.int32)),
    "AffineGrid": lambda: ops.AffineGrid(True)(wave(1, 2, 3), (1, 1, 3, 2)),
    "MultiMarginLoss": lambda: ops.MultiMarginLoss()(wave(3, 4), Tensor([0, 2, 3], ms.int64), None),
    "ResizeNearestNeighbor": lambda: ops.ResizeNearestNeighbor((4, 5))(wave(1, 2, 3, 3)),
    "ResizeNearestNeighborV2": lambda: ops.ResizeNearestNeighborV2()(wave(1, 2, 3, 3), Tensor([4, 5], ms.int32)),
    "ResizeBilinearV2": lambda: ops.ResizeBilinearV2(False, True)(wave(1, 2, 3, 3), Tensor([4, 5], ms.int32)),
    "ResizeBilinearV2 align": lambda: ops.ResizeBilinearV2(True, False)(wave(1, 2, 3, 3), Tensor([4, 5], ms.int32)),
    "ResizeLinear1D": lambda: ops.ResizeLinear1D()(wave(1, 2, 3), Tensor([5], ms.int32)),
    "ResizeLinear1D half": lambda: ops.ResizeLinear1D("half_pixel")(wave(1, 2, 3), Tensor([5], ms.int32)),
    "UpsampleNearest3D": lambda: ops.UpsampleNearest3D()(wave(1, 1, 2, 2, 2), [3, 4, 3], None),
    "UpsampleTrilinear3D": lambda: ops.UpsampleTrilinear3D()(wave(1, 1, 2, 2, 2), [3, 4, 3], None),
    "Col2Im": lambda: ops.Col2Im(2, 1, 0, 2)(wave(1, 1, 4, 4), Tensor([4, 4], ms.int32)),
    "Depend": lambda: ops.Depend()(wave(3), wave(2)),
    "BartlettWindow": lambda: ops.BartlettWindow()(Tensor(5, ms.int32)),
    "BlackmanWindow": lambda: ops.BlackmanWindow(False)(Tensor(5, ms.int32)),
    "HammingWindow": lambda: ops.HammingWindow(True, 0.5, 0.4)(Tensor([5], ms.int32)),
    "Im2Col": lambda: ops.Im2Col(2, 1, 1, 1)(wave(1, 2, 3, 4)),
    "AdaptiveMaxPool2D": lambda: ops.AdaptiveMaxPool2D((2, 3))(wave(1, 2, 4, 5)),
    "CTCLoss": lambda: ops.CTCLoss()(
        wave(5, 2, 4), Tensor([[0, 0], [0, 1], [1, 0]], ms.int64), Tensor([0, 2, 1], ms.int32), Tensor([5, 4], ms.int32)
    ),
    "Orgqr": lambda: ops.Orgqr()(wave(4, 3), wave(3, k=1.0)),
    "LuUnpack": lambda: ops.LuUnpack()(wave(3, 3, k=0.4), Tensor([1, 2, 3], ms.int32)),
    "InplaceIndexAdd": lambda: ops.InplaceIndexAdd(0)(
        Parameter(wave(3, 2), "p"), Tensor([0, 2], ms.int32), wave(2, 2, k=1.0)
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_primitive_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


def test_an_update_gives_the_parameters_that_it_has_changed() -> None:
    p, state = P(2, 3), Parameter(ops.abs(wave(2, 3, k=1.0)), "state")
    result = ops.ApplyAdagradV2(1e-3)(p, state, F(0.1), G)
    for values, held in zip(result, (p, state), strict=True):
        assert type(values) is Tensor and values.tolist() == held.tolist()
    assert ops.ApplyGradientDescent()(p, F(0.1), G).tolist() == p.tolist() != result[0].tolist()


def test_ftrl_is_the_formula_of_its_paper_also_where_the_sum_is_negative() -> None:
    p, a, z, g = (np.array(v) for v in ([0.3, -0.4, 0.1], [0.4, 0.2, 0.3], [0.2, -0.6, 0.01], [0.5, -0.3, 0.02]))
    parameters = [Parameter(Tensor(v), name) for v, name in zip((p, a, z), "paz", strict=True)]
    ops.ApplyFtrl()(*parameters, Tensor(g), 0.1, 0.05, 0.1, -0.5)
    new = a + g * g
    z = z + g - (np.sqrt(new) - np.sqrt(a)) / 0.1 * p
    want = np.where(abs(z) > 0.05, (np.sign(z) * 0.05 - z) / (np.sqrt(new) / 0.1 + 0.2), 0)
    np.testing.assert_allclose(parameters[0].asnumpy(), want, rtol=1e-12)
    assert want[1] > 0 and z[1] < 0


@pytest.mark.parametrize("nesterov", [False, True])
def test_keras_momentum_adds_the_sum_that_holds_the_rate(nesterov: bool) -> None:
    p, momentum, g = np.array([1.0, -2.0]), np.array([0.1, 0.2]), np.array([0.5, 3.0])
    parameters = [Parameter(Tensor(p), "p"), Parameter(Tensor(momentum), "kept")]
    ops.ApplyKerasMomentum(use_nesterov=nesterov)(*parameters, 0.1, Tensor(g), 0.9)
    momentum = momentum * 0.9 - 0.1 * g
    np.testing.assert_allclose(
        parameters[0].asnumpy(), p + (momentum * 0.9 - 0.1 * g if nesterov else momentum), rtol=1e-12
    )


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
    with pytest.raises(ValueError, match="For 'ResizeBilinearV2', 'x' must have 4 axes and 'size' two lengths above 0"):
        ops.ResizeBilinearV2()(wave(1, 2, 2), (3, 3))
