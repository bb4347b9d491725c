"""Embeddings, normalisation, activations and the other layers against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recorded import check, filled, gradients, wave

import hookscope.engine as ms
from hookscope.engine import Tensor, nn


def E(  # noqa: N802
    *settings: Any, i: Any = ((0, 2, 1), (3, 0, 2)), g: bool = False, dt: Any = np.int32, **named: Any
) -> Any:
    """The rows of an embedding; with ``g`` the gradient of its table."""
    layer, rows = filled(nn.Embedding(*settings, **named)), Tensor(np.array(i, dt))
    if not g:
        return layer(rows)
    return ms.grad(lambda x: (layer(x) * wave(*x.shape, settings[1], k=0.2)).sum(), None, layer.trainable_params())(
        rows
    )


CASES: dict[str, tuple[Any, str]] = {
    "Embedding": (
        lambda: E(4, 3),
        "2x3x3 2.5981 0.0",
    ),
    "Embedding padding": (
        lambda: E(4, 3, padding_idx=1),
        "2x3x3 2.5981 0.0",
    ),
    "Embedding padding table": (
        lambda: nn.Embedding(4, 3, embedding_table="ones", padding_idx=1).embedding_table.value(),
        "4x3 0.94695 1.0",
    ),
    "Embedding one hot": (
        lambda: E(4, 3, use_one_hot=True),
        "2x3x3 2.5981 0.0",
    ),
    "Embedding grad": (
        lambda: E(4, 3, g=True),
        "4x3 -0.09151 -0.79871",
    ),
    "Embedding grad pad": (
        lambda: E(4, 3, padding_idx=2, g=True),
        "4x3 -0.09151 -0.79871",
    ),
    "Embedding grad one hot": (
        lambda: E(4, 3, use_one_hot=True, g=True),
        "4x3 -0.09151 -0.79871",
    ),
    "Embedding out of range": (
        lambda: E(4, 3, i=(0, 1, 2)),
        "3x3 -1.63245 0.0",
    ),
    "Embedding int64": (
        lambda: E(4, 3, dt=np.int64),
        "2x3x3 2.5981 0.0",
    ),
    "EmbeddingLookup": (
        lambda: filled(nn.EmbeddingLookup(4, 3))(Tensor(np.array([[0, 2], [3, 1]], np.int32))),
        "2x2x3 0.33749 0.0",
    ),
    "ImageGradients": (
        lambda: nn.ImageGradients()(wave(1, 1, 3, 4)),
        "1x1x3x4 -0.42825 0.99588; 1x1x3x4 0.74552 0.36162",
    ),
    "GroupNorm": (
        lambda: filled(nn.GroupNorm(2, 4))(wave(2, 4, 3, 3)),
        "2x4x3x3 0.88225 0.50488",
    ),
    "GroupNorm no affine": (
        lambda: nn.GroupNorm(2, 4, affine=False)(wave(2, 4, 3, 3)),
        "2x4x3x3 0.20652 -0.00028",
    ),
    "GroupNorm grad": (
        lambda: gradients(filled(nn.GroupNorm(2, 4)), wave(2, 4, 3, 3)),
        "2x4x3x3 19.00906 0.05784; - 2.21395 2.21395",
    ),
    "LayerNorm grad": (
        lambda: gradients(filled(nn.LayerNorm((4,))), wave(2, 3, 4)),
        "2x3x4 7.34886 -0.48646; - 2.05265 2.05265",
    ),
    "LocalResponseNorm": (
        lambda: nn.LRN(3)(wave(1, 5, 2, 2)),
        "1x5x2x2 0.15136 0.0",
    ),
    "PReLU": (
        lambda: filled(nn.PReLU(3, 0.3))(wave(2, 3, 4)),
        "2x3x4 -0.37132 0.0",
    ),
    "PReLU shared": (
        lambda: nn.PReLU()(wave(2, 3, 4)),
        "2x3x4 -0.95889 0.0",
    ),
    "PReLU grad": (
        lambda: gradients(filled(nn.PReLU(3)), wave(2, 3, 4)),
        "2x3x4 7.96564 0.0; - 1.40024 1.40024",
    ),
    "GLU": (
        lambda: nn.GLU()(wave(2, 4)),
        "2x2 -0.74464 0.0",
    ),
    "CELU": (
        lambda: nn.CELU(2.0)(wave(2, 4)),
        "2x4 -0.19031 0.0",
    ),
    "ELU": (
        lambda: nn.ELU(1.0)(wave(2, 4)),
        "2x4 -0.19031 0.0",
    ),
    "SeLU": (
        lambda: nn.SeLU()(wave(2, 4)),
        "2x4 -0.19996 0.0",
    ),
    "HSwish": (
        lambda: nn.HSwish()(wave(2, 4) * 4),
        "2x4 -1.14501 0.0",
    ),
    "HSigmoid": (
        lambda: nn.HSigmoid()(wave(2, 4) * 4),
        "2x4 0.7458 0.5",
    ),
    "Hardtanh": (
        lambda: nn.Hardtanh(-0.5, 0.3)(wave(2, 4)),
        "2x4 0.14348 0.0",
    ),
    "HShrink": (
        lambda: nn.HShrink(0.4)(wave(2, 4)),
        "2x4 -0.38569 0.0",
    ),
    "SoftShrink": (
        lambda: nn.SoftShrink(0.4)(wave(2, 4)),
        "2x4 -0.36088 0.0",
    ),
    "Mish": (
        lambda: nn.Mish()(wave(2, 4)),
        "2x4 -0.23294 0.0",
    ),
    "RReLU eval": (
        lambda: nn.RReLU(0.1, 0.1)(wave(2, 4)),
        "2x4 -0.19031 0.0",
    ),
    "LogSigmoid": (
        lambda: nn.LogSigmoid()(wave(2, 4)),
        "2x4 -1.06274 -0.69315",
    ),
    "Softmin": (
        lambda: nn.Softmin()(wave(2, 4)),
        "2x4 0.70656 0.3825",
    ),
    "Softmax2d": (
        lambda: nn.Softmax2d()(wave(1, 3, 2, 2)),
        "1x3x2x2 -0.11514 0.20387",
    ),
    "Softsign": (
        lambda: nn.Softsign()(wave(2, 4)),
        "2x4 0.00597 0.0",
    ),
    "SiLU": (
        lambda: nn.SiLU()(wave(2, 4)),
        "2x4 -0.20317 0.0",
    ),
    "GELU": (
        lambda: nn.GELU(False)(wave(2, 4)),
        "2x4 -0.24933 0.0",
    ),
    "GELU tanh": (
        lambda: nn.GELU()(wave(2, 4)),
        "2x4 -0.24923 0.0",
    ),
    "FastGelu": (
        lambda: nn.FastGelu()(wave(2, 4)),
        "2x4 -0.24776 0.0",
    ),
    "LeakyReLU": (
        lambda: nn.LeakyReLU(0.3)(wave(2, 4)),
        "2x4 -0.19031 0.0",
    ),
    "ReLU6": (
        lambda: nn.ReLU6()(wave(2, 4) * 9),
        "2x4 0.41844 0.0",
    ),
    "Threshold": (
        lambda: nn.Threshold(0.2, 9.0)(wave(2, 4)),
        "2x4 8.80969 9.0",
    ),
    "Tanhshrink": (
        lambda: nn.Tanhshrink()(wave(2, 4)),
        "2x4 -0.13878 0.0",
    ),
    "LogSoftmax": (
        lambda: nn.LogSoftmax(0)(wave(2, 4)),
        "2x4 -2.23966 -1.31025",
    ),
    "get_activation": (
        lambda: nn.get_activation("hswish")(wave(2, 4)),
        "2x4 -0.1756 0.0",
    ),
    "PixelShuffle": (
        lambda: nn.PixelShuffle(2)(wave(1, 8, 2, 3)),
        "1x2x4x6 -0.65866 0.0",
    ),
    "PixelUnshuffle": (
        lambda: nn.PixelUnshuffle(2)(wave(1, 2, 4, 6)),
        "1x8x2x3 -0.89933 0.0",
    ),
    "Upsample nearest": (
        lambda: nn.Upsample(size=(5, 7), mode="nearest")(wave(1, 2, 3, 4)),
        "1x2x5x7 -1.14518 0.0",
    ),
    "Upsample bilinear": (
        lambda: nn.Upsample(scale_factor=(2.0, 2.0), mode="bilinear", align_corners=True, recompute_scale_factor=True)(
            wave(1, 2, 3, 4)
        ),
        "1x2x6x8 1.16286 0.0",
    ),
    "Upsample linear": (
        lambda: nn.Upsample(size=(6,), mode="linear", align_corners=True)(wave(1, 2, 4)),
        "1x2x6 -0.68356 0.0",
    ),
    "Bilinear": (
        lambda: filled(nn.BiDense(3, 4, 5))(wave(2, 3), wave(2, 4, k=1.0)),
        "2x5 2.17339 0.51897",
    ),
    "Bilinear grad": (
        lambda: gradients(filled(nn.BiDense(3, 4, 5)), wave(2, 3), wave(2, 4, k=1.0)),
        "2x3 0.20112 0.60415; - 4.28492 4.28492",
    ),
    "Conv1d": (
        lambda: filled(nn.Conv1d(4, 6, 3, 2, group=2, has_bias=True))(wave(2, 4, 9)),
        "2x6x5 1.10966 0.79256",
    ),
    "Conv3d": (
        lambda: filled(nn.Conv3d(2, 3, (2, 3, 2), (1, 2, 1), has_bias=True))(wave(1, 2, 3, 5, 4)),
        "1x3x3x3x4 1.27741 0.76454",
    ),
    "Conv1dTranspose": (
        lambda: filled(nn.Conv1dTranspose(4, 3, 3, 2, has_bias=True))(wave(2, 4, 5)),
        "2x3x10 0.82954 0.48364",
    ),
    "Conv2dTranspose": (
        lambda: filled(nn.Conv2dTranspose(4, 2, 3, 2, "pad", 1, has_bias=True))(wave(1, 4, 4, 5)),
        "1x2x7x9 -0.66602 0.7668",
    ),
    "Conv3dTranspose": (
        lambda: filled(nn.Conv3dTranspose(2, 3, 2, 2, "pad", 0, has_bias=True))(wave(1, 2, 2, 3, 2)),
        "1x3x4x6x4 1.48672 1.01779",
    ),
    "Conv2dTranspose grad": (
        lambda: gradients(filled(nn.Conv2dTranspose(4, 2, 3, 2, "pad", 1)), wave(1, 4, 4, 5)),
        "1x4x4x5 13.52348 1.88607; - 0.65944 0.65944",
    ),
    "Conv3d grad": (
        lambda: gradients(filled(nn.Conv3d(2, 3, 2)), wave(1, 2, 3, 3, 3)),
        "1x2x3x3x3 -9.38815 0.36945; - 7.05866 7.05866",
    ),
    "Dense act": (
        lambda: filled(nn.Dense(3, 4, activation="relu"))(wave(2, 3)),
        "2x4 0.86369 1.04334",
    ),
    "ChannelShuffle": (
        lambda: nn.ChannelShuffle(2)(wave(1, 4, 2, 2)),
        "1x4x2x2 -5.27181 0.0",
    ),
    "Tril": (
        lambda: nn.Tril()(wave(3, 3), 1),
        "3x3 0.06401 0.0",
    ),
    "ClipByNorm": (
        lambda: nn.ClipByNorm()(wave(3, 3), Tensor(1.0, ms.float32)),
        "3x3 -0.10512 0.0",
    ),
    "Norm": (
        lambda: nn.Norm(1)(wave(3, 3)),
        "3 1.25207 0.76513",
    ),
    "L1Regularizer": (
        lambda: nn.L1Regularizer(0.3)(wave(3, 3)),
        "- 1.61699 1.61699",
    ),
    "ReduceLogSumExp": (
        lambda: nn.ReduceLogSumExp(1)(wave(3, 3)),
        "3 1.91068 1.48121",
    ),
    "Moments": (
        lambda: nn.Moments(1, True)(wave(3, 3)),
        "3x1 0.65086 0.3453; 3x1 0.05041 0.07591",
    ),
    "Unflatten": (
        lambda: nn.Unflatten(1, (2, 2))(wave(3, 4)),
        "3x2x2 0.39509 0.0",
    ),
    "Flatten": (
        lambda: nn.Flatten(1, 2)(wave(2, 3, 4, 2)),
        "2x12x2 -0.15072 0.0",
    ),
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
    ("Hardtanh bad", lambda: nn.Hardtanh("a")(wave(2)), TypeError, "'str'"),
    ("GELU bad", lambda: nn.GELU("tanh"), TypeError, "'approximate'"),
]


@pytest.mark.parametrize("name", CASES)
def test_a_layer_gives_the_numbers_of_mindspore(name: str) -> None:
    check(*CASES[name])


@pytest.mark.parametrize(("make", "error", "names"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_a_layer_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], names: str) -> None:
    with pytest.raises(error, match=names):
        make()
