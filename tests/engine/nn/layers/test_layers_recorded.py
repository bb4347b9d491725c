"""Embeddings, normalization, activations and the other layers against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, filled, flat, gradients, wave, weighed

import hookscope.engine as ms
from hookscope.engine import Tensor, nn


def E(  # noqa: N802
    *settings: Any, i: Any = ((0, 2, 1), (3, 0, 2)), g: bool = False, dt: Any = np.int32, **keywords: Any
) -> Any:
    """Return the rows of an embedding; with ``g`` the gradient of its table."""
    layer, rows = filled(nn.Embedding(*settings, **keywords)), Tensor(np.array(i, dt))
    if not g:
        return layer(rows)
    return ms.grad(lambda x: (layer(x) * wave(*x.shape, settings[1], k=0.2)).sum(), None, layer.trainable_params())(
        rows
    )


def combined(kind: Any, settings: tuple[int, ...], x: Tensor, keywords: dict[str, Any]) -> list[Any]:
    """Return the training's output, gradients and parameters after it; then the output of the trained layer."""
    layer = filled(kind(*settings, **keywords)).set_train()
    if keywords.get("has_bn"):
        layer.batchnorm.moving_variance.set_data(Tensor(np.full(4, 0.8, np.float32)))
    results = [layer(x), *gradients(layer, x)]
    return [*results, *[p.value() for p in layer.get_parameters()], layer.set_train(False)(x)]


EXAMPLES = (wave(5, 3), wave(5, k=0.3), wave(2, 3, k=1.0))


def sampled_loss(labels_each: int, labels: Any, sampled: Any, *counts: Any) -> Any:
    values = (Tensor(sampled, ms.int32), *[Tensor(np.array(count, np.float32)) for count in counts])
    layer = nn.SampledSoftmaxLoss(len(sampled), 5, labels_each, values, remove_accidental_hits=False)
    return layer(*EXAMPLES[:2], Tensor(labels, ms.int32), EXAMPLES[2])


CASES: dict[str, Callable[[], Any]] = {
    "Embedding": lambda: E(4, 3),
    "Embedding padding": lambda: E(4, 3, padding_idx=1),
    "Embedding padding table": lambda: nn.Embedding(
        4, 3, embedding_table="ones", padding_idx=1
    ).embedding_table.value(),
    "Embedding one hot": lambda: E(4, 3, use_one_hot=True),
    "Embedding grad": lambda: E(4, 3, g=True),
    "Embedding grad pad": lambda: E(4, 3, padding_idx=2, g=True),
    "Embedding grad one hot": lambda: E(4, 3, use_one_hot=True, g=True),
    "Embedding out of range": lambda: E(4, 3, i=(0, 1, 2)),
    "Embedding int64": lambda: E(4, 3, dt=np.int64),
    "EmbeddingLookup": lambda: filled(nn.EmbeddingLookup(4, 3))(Tensor(np.array([[0, 2], [3, 1]], np.int32))),
    "ImageGradients": lambda: nn.ImageGradients()(wave(1, 1, 3, 4)),
    "GroupNorm": lambda: filled(nn.GroupNorm(2, 4))(wave(2, 4, 3, 3)),
    "GroupNorm no affine": lambda: nn.GroupNorm(2, 4, affine=False)(wave(2, 4, 3, 3)),
    "GroupNorm grad": lambda: gradients(filled(nn.GroupNorm(2, 4)), wave(2, 4, 3, 3)),
    "LayerNorm grad": lambda: gradients(filled(nn.LayerNorm((4,))), wave(2, 3, 4)),
    "LocalResponseNorm": lambda: nn.LRN(3)(wave(1, 5, 2, 2)),
    "PReLU": lambda: filled(nn.PReLU(3, 0.3))(wave(2, 3, 4)),
    "PReLU shared": lambda: nn.PReLU()(wave(2, 3, 4)),
    "PReLU grad": lambda: gradients(filled(nn.PReLU(3)), wave(2, 3, 4)),
    "GLU": lambda: nn.GLU()(wave(2, 4)),
    "CELU": lambda: nn.CELU(2.0)(wave(2, 4)),
    "ELU": lambda: nn.ELU(1.0)(wave(2, 4)),
    "SeLU": lambda: nn.SeLU()(wave(2, 4)),
    "HSwish": lambda: nn.HSwish()(wave(2, 4) * 4),
    "HSigmoid": lambda: nn.HSigmoid()(wave(2, 4) * 4),
    "Hardtanh": lambda: nn.Hardtanh(-0.5, 0.3)(wave(2, 4)),
    "HShrink": lambda: nn.HShrink(0.4)(wave(2, 4)),
    "SoftShrink": lambda: nn.SoftShrink(0.4)(wave(2, 4)),
    "Mish": lambda: nn.Mish()(wave(2, 4)),
    "RReLU eval": lambda: nn.RReLU(0.1, 0.1)(wave(2, 4)),
    "LogSigmoid": lambda: nn.LogSigmoid()(wave(2, 4)),
    "Softmin": lambda: nn.Softmin()(wave(2, 4)),
    "Softmax2d": lambda: nn.Softmax2d()(wave(1, 3, 2, 2)),
    "Softsign": lambda: nn.Softsign()(wave(2, 4)),
    "SiLU": lambda: nn.SiLU()(wave(2, 4)),
    "GELU": lambda: nn.GELU(False)(wave(2, 4)),
    "GELU tanh": lambda: nn.GELU()(wave(2, 4)),
    "FastGelu": lambda: nn.FastGelu()(wave(2, 4)),
    "LeakyReLU": lambda: nn.LeakyReLU(0.3)(wave(2, 4)),
    "ReLU6": lambda: nn.ReLU6()(wave(2, 4) * 9),
    "Threshold": lambda: nn.Threshold(0.2, 9.0)(wave(2, 4)),
    "Tanhshrink": lambda: nn.Tanhshrink()(wave(2, 4)),
    "LogSoftmax": lambda: nn.LogSoftmax(0)(wave(2, 4)),
    "get_activation": lambda: nn.get_activation("hswish")(wave(2, 4)),
    "PixelShuffle": lambda: nn.PixelShuffle(2)(wave(1, 8, 2, 3)),
    "PixelUnshuffle": lambda: nn.PixelUnshuffle(2)(wave(1, 2, 4, 6)),
    "Upsample nearest": lambda: nn.Upsample(size=(5, 7), mode="nearest")(wave(1, 2, 3, 4)),
    "Upsample bilinear": lambda: nn.Upsample(
        scale_factor=(2.0, 2.0), mode="bilinear", align_corners=True, recompute_scale_factor=True
    )(wave(1, 2, 3, 4)),
    "Upsample linear": lambda: nn.Upsample(size=(6,), mode="linear", align_corners=True)(wave(1, 2, 4)),
    "Bilinear": lambda: filled(nn.BiDense(3, 4, 5))(wave(2, 3), wave(2, 4, k=1.0)),
    "Bilinear grad": lambda: gradients(filled(nn.BiDense(3, 4, 5)), wave(2, 3), wave(2, 4, k=1.0)),
    "Conv1d": lambda: filled(nn.Conv1d(4, 6, 3, 2, group=2, has_bias=True))(wave(2, 4, 9)),
    "Conv3d": lambda: filled(nn.Conv3d(2, 3, (2, 3, 2), (1, 2, 1), has_bias=True))(wave(1, 2, 3, 5, 4)),
    "Conv1dTranspose": lambda: filled(nn.Conv1dTranspose(4, 3, 3, 2, has_bias=True))(wave(2, 4, 5)),
    "Conv2dTranspose": lambda: filled(nn.Conv2dTranspose(4, 2, 3, 2, "pad", 1, has_bias=True))(wave(1, 4, 4, 5)),
    "Conv3dTranspose": lambda: filled(nn.Conv3dTranspose(2, 3, 2, 2, "pad", 0, has_bias=True))(wave(1, 2, 2, 3, 2)),
    "Conv2dTranspose grad": lambda: gradients(filled(nn.Conv2dTranspose(4, 2, 3, 2, "pad", 1)), wave(1, 4, 4, 5)),
    "Conv3d grad": lambda: gradients(filled(nn.Conv3d(2, 3, 2)), wave(1, 2, 3, 3, 3)),
    "Dense act": lambda: filled(nn.Dense(3, 4, activation="relu"))(wave(2, 3)),
    **{
        f"Conv2dBnAct {keywords}": partial(combined, nn.Conv2dBnAct, (2, 4, 3), wave(2, 2, 6, 7), keywords)
        for keywords in (
            {},
            {"has_bias": True, "activation": "relu"},
            {"has_bn": True, "eps": 1e-2, "activation": "sigmoid"},
            {"stride": 2, "pad_mode": "pad", "padding": 1, "dilation": 2, "activation": "leakyrelu", "alpha": 0.3},
            {"pad_mode": "valid", "group": 2, "has_bn": True, "activation": nn.Tanh()},
        )
    },
    **{
        f"DenseBnAct {keywords}": partial(combined, nn.DenseBnAct, (3, 4), wave(5, 3), keywords)
        for keywords in (
            {},
            {"has_bias": False, "activation": "relu"},
            {"has_bn": True, "eps": 1e-2, "activation": "tanh"},
            {"activation": "leakyrelu", "alpha": 0.3},
            {"has_bn": True, "activation": nn.Sigmoid()},
        )
    },
    "SampledSoftmaxLoss": lambda: sampled_loss(1, [[1], [3]], [1, 4], [[0.5], [0.25]], [0.5, 0.125]),
    "SampledSoftmaxLoss two labels": lambda: sampled_loss(
        2, [[1, 2], [3, 0]], [0, 4], [[0.5, 0.3], [0.25, 0.2]], [0.5, 0.125]
    ),
    "SampledSoftmaxLoss flat": lambda: sampled_loss(1, [1, 3], [2, 0], [[0.5], [0.25]], [0.5, 0.125]),
    "SampledSoftmaxLoss all": lambda: nn.SampledSoftmaxLoss(5, 5, remove_accidental_hits=False)(
        *EXAMPLES[:2], Tensor([[1], [3]], ms.int32), EXAMPLES[2]
    ),
    "SampledSoftmaxLoss grad": lambda: flat(
        ms.grad(
            lambda *x: weighed(
                nn.SampledSoftmaxLoss(5, 5, remove_accidental_hits=False)(
                    x[0], x[1], Tensor([[1], [3]], ms.int32), x[2]
                )
            ),
            (0, 1, 2),
        )(*EXAMPLES)
    ),
    "PReLUExt": lambda: filled(nn.PReLUExt(3))(wave(2, 3, 4)),
    "PReLUExt grad": lambda: gradients(filled(nn.PReLUExt(1, 0.4)), wave(2, 3, 4)),
    "ChannelShuffle": lambda: nn.ChannelShuffle(2)(wave(1, 4, 2, 2)),
    "Tril": lambda: nn.Tril()(wave(3, 3), 1),
    "ClipByNorm": lambda: nn.ClipByNorm()(wave(3, 3), Tensor(1.0, ms.float32)),
    "Norm": lambda: nn.Norm(1)(wave(3, 3)),
    "L1Regularizer": lambda: nn.L1Regularizer(0.3)(wave(3, 3)),
    "ReduceLogSumExp": lambda: nn.ReduceLogSumExp(1)(wave(3, 3)),
    "Moments": lambda: nn.Moments(1, True)(wave(3, 3)),
    "Unflatten": lambda: nn.Unflatten(1, (2, 2))(wave(3, 4)),
    "Flatten": lambda: nn.Flatten(1, 2)(wave(2, 3, 4, 2)),
}
REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("Embedding bad size", lambda: nn.Embedding(0, 3), ValueError, "'vocab_size'"),
    ("Embedding bad size type", lambda: nn.Embedding(4, 3.0), TypeError, "'embedding_size'"),
    ("Embedding bad pad", lambda: nn.Embedding(4, 3, padding_idx=4), ValueError, "'padding_idx'"),
    ("EmbeddingLookup bad target", lambda: nn.EmbeddingLookup(4, 3, target="TPU"), ValueError, "'target'"),
    ("SSIM bad", lambda: nn.SSIM(max_val=-1.0), ValueError, "'max_val'"),
    ("SSIM bad filter", lambda: nn.SSIM(filter_size=-1), ValueError, "'filter_size'"),
    ("SSIM bad shapes", lambda: nn.SSIM()(wave(1, 1, 16, 16), wave(1, 1, 15, 16)), ValueError, "one shape"),
    ("PSNR bad", lambda: nn.PSNR(max_val=0.0), ValueError, "'max_val'"),
    ("PSNR bad shapes", lambda: nn.PSNR()(wave(1, 1, 4, 4), wave(1, 1, 3, 4)), ValueError, "one shape"),
    ("LayerNorm bad", lambda: nn.LayerNorm(4), TypeError, "'normalized_shape'"),
    ("GroupNorm bad groups", lambda: nn.GroupNorm(3, 4), ValueError, "'num_groups'"),
    ("GroupNorm bad type", lambda: nn.GroupNorm(2.0, 4), TypeError, "'num_groups'"),
    ("GroupNorm bad x", lambda: nn.GroupNorm(2, 4)(wave(2, 3, 3, 3)), ValueError, "4 channels"),
    ("BatchNorm2d bad features", lambda: nn.BatchNorm2d(0), ValueError, "'num_features'"),
    ("BatchNorm2d bad momentum", lambda: nn.BatchNorm2d(3, momentum=2.0), ValueError, "'momentum'"),
    ("BatchNorm1d bad rank", lambda: nn.BatchNorm1d(3)(wave(2, 3, 4, 4)), ValueError, "2 or 3 axes"),
    ("BatchNorm2d bad rank", lambda: nn.BatchNorm2d(3)(wave(2, 3)), ValueError, "4 axes"),
    ("InstanceNorm2d bad rank", lambda: nn.InstanceNorm2d(3)(wave(2, 3, 4)), ValueError, "4 axes"),
    ("PReLU bad", lambda: nn.PReLU(0), ValueError, "'channel'"),
    ("get_activation bad", lambda: nn.get_activation("nothing"), KeyError, "'activation'"),
    ("CELU bad", lambda: nn.CELU(0.0)(wave(2)), ValueError, "'alpha'"),
    ("Hardtanh bad", lambda: nn.Hardtanh("a")(wave(2)), TypeError, "'min_val' must be a number, but got str"),
    ("GELU bad", lambda: nn.GELU("tanh"), TypeError, "'approximate'"),
]


@pytest.mark.parametrize("name", CASES)
def test_a_layer_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


@pytest.mark.parametrize(("make", "error", "names"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_a_layer_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], names: str) -> None:
    with pytest.raises(error, match=names):
        make()
