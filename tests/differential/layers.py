"""Layers and losses of ``nn`` and ``mint.nn``: arguments by their recorded names, weights by a formula, both modes.

Compared are what a layer gives, the names, shapes and types of its parameters, the values of those that are not
trained after the call, and the gradients by inputs and by parameters.
"""

from __future__ import annotations

import ast
import functools
from typing import Any

import numpy as np

from tests.differential.cases import Array, Case
from tests.differential.operators import SPECIAL
from tests.engine.recorded_signatures import recorded

# The inputs of the layers named: dimensions (a letter is drawn and stands for one length in the whole row; "*" for a
# drawn shape, the same for each input), then the kind of values. "=" begins Python that is written as it stands.
ROWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "nn.CELU nn.ELU nn.FastGelu nn.GELU nn.HShrink nn.HSigmoid nn.HSwish nn.Hardtanh nn.LeakyReLU nn.LogSigmoid "
        "nn.Mish nn.ReLU nn.ReLU6 nn.SeLU nn.SiLU nn.Sigmoid nn.SoftShrink nn.Softsign nn.Tanh nn.Tanhshrink "
        "nn.Threshold nn.Identity nn.DiGamma nn.LGamma nn.Norm nn.Moments nn.Softmax nn.LogSoftmax nn.LogSoftmaxExt "
        "nn.Softmin nn.ReduceLogSumExp nn.Roll nn.Flatten nn.Tril nn.Triu nn.L1Regularizer nn.ClipByNorm nn.Dropout "
        "nn.DropoutExt nn.RReLU nn.MatrixDiag",
        ("*",),
    ),
    (
        "mint.nn.ELU mint.nn.GELU mint.nn.Hardshrink mint.nn.Hardsigmoid mint.nn.Hardswish mint.nn.Hardtanh "
        "mint.nn.LogSigmoid mint.nn.Mish mint.nn.ReLU mint.nn.ReLU6 mint.nn.SELU mint.nn.SiLU mint.nn.Sigmoid "
        "mint.nn.Softshrink mint.nn.Tanh mint.nn.Threshold mint.nn.Identity mint.nn.Softmax mint.nn.LogSoftmax "
        "mint.nn.Flatten mint.nn.Dropout",
        ("*",),
    ),
    ("nn.IGamma nn.LBeta", ("*:positive", "*:positive")),
    ("nn.Dense nn.Linear mint.nn.Linear nn.DenseBnAct nn.DenseThor", ("N,4",)),
    ("nn.Dense nn.Linear mint.nn.Linear nn.GLU mint.nn.GLU", ("N,M,4",)),
    ("nn.Linear mint.nn.Linear nn.Dense nn.LayerNorm nn.LayerNormExt mint.nn.LayerNorm", ("4",)),
    ("nn.BiDense", ("N,4", "N,3")),
    ("nn.Embedding nn.EmbeddingExt mint.nn.Embedding nn.EmbeddingLookup nn.EmbeddingThor", ("N,M:int0-5",)),
    ("nn.LayerNorm nn.LayerNormExt mint.nn.LayerNorm", ("N,M,4",)),
    ("nn.LayerNorm nn.LayerNormExt mint.nn.LayerNorm", ("N,3,4",)),
    ("nn.GroupNorm mint.nn.GroupNorm", ("N,4,H,W",)),
    ("nn.GroupNorm mint.nn.GroupNorm", ("N,4,L",)),
    ("nn.BatchNorm1d mint.nn.BatchNorm1d", ("N,4",)),
    ("nn.BatchNorm1d mint.nn.BatchNorm1d nn.InstanceNorm1d nn.PReLU nn.PReLUExt mint.nn.PReLU", ("N,4,L",)),
    (
        "nn.BatchNorm2d mint.nn.BatchNorm2d nn.InstanceNorm2d nn.PReLU nn.PReLUExt mint.nn.PReLU nn.Softmax2d nn.LRN "
        "nn.ChannelShuffle nn.Dropout2d nn.Dropout2dExt mint.nn.Dropout2d",
        ("N,4,H,W",),
    ),
    ("nn.BatchNorm3d mint.nn.BatchNorm3d nn.InstanceNorm3d nn.Dropout3d", ("N,4,D,H,W",)),
    ("nn.Conv1d nn.Conv1dTranspose mint.nn.Conv1d nn.Dropout1d", ("N,4,L",)),
    ("nn.Conv2d nn.Conv2dTranspose mint.nn.Conv2d mint.nn.ConvTranspose2d nn.Conv2dBnAct nn.Conv2dThor", ("N,4,H,W",)),
    ("nn.Conv3d nn.Conv3dTranspose mint.nn.Conv3d", ("N,4,D,H,W",)),
    ("mint.nn.Conv1d", ("4,L",)),
    ("mint.nn.Conv2d mint.nn.ConvTranspose2d", ("4,H,W",)),
    (
        "nn.AvgPool1d nn.MaxPool1d nn.AdaptiveAvgPool1d nn.AdaptiveMaxPool1d nn.AvgPool1dExt nn.LPPool1d "
        "mint.nn.AvgPool1d mint.nn.AdaptiveAvgPool1d mint.nn.AdaptiveMaxPool1d nn.ReflectionPad1d nn.ReplicationPad1d "
        "mint.nn.ReflectionPad1d mint.nn.ReplicationPad1d nn.ConstantPad1d mint.nn.ConstantPad1d mint.nn.ZeroPad1d",
        ("N,C,L",),
    ),
    (
        "nn.AvgPool1d nn.MaxPool1d nn.AdaptiveAvgPool1d nn.AdaptiveMaxPool1d nn.AvgPool1dExt nn.LPPool1d "
        "nn.ReflectionPad1d mint.nn.AvgPool1d mint.nn.AdaptiveAvgPool1d mint.nn.AdaptiveMaxPool1d nn.ConstantPad1d",
        ("C,L",),
    ),
    (
        "nn.AvgPool2d nn.MaxPool2d nn.MaxPool2dExt nn.AvgPool2dExt nn.AdaptiveAvgPool2d nn.AdaptiveMaxPool2d "
        "nn.LPPool2d nn.ReflectionPad2d nn.ReplicationPad2d nn.ConstantPad2d nn.ZeroPad2d mint.nn.AvgPool2d "
        "mint.nn.MaxPool2d mint.nn.AdaptiveAvgPool2d mint.nn.AdaptiveMaxPool2d mint.nn.ReflectionPad2d "
        "mint.nn.ReplicationPad2d mint.nn.ConstantPad2d mint.nn.ZeroPad2d nn.ImageGradients nn.CentralCrop "
        "nn.Upsample mint.nn.Upsample mint.nn.UpsamplingNearest2d mint.nn.UpsamplingBilinear2d mint.nn.Unfold nn.Pad",
        ("N,C,H,W",),
    ),
    (
        "nn.AvgPool2d nn.MaxPool2d nn.MaxPool2dExt nn.AvgPool2dExt nn.AdaptiveAvgPool2d nn.AdaptiveMaxPool2d "
        "mint.nn.MaxPool2d mint.nn.AvgPool2d nn.ReflectionPad2d nn.ReplicationPad2d nn.ConstantPad2d nn.ZeroPad2d "
        "nn.CentralCrop",
        ("C,H,W",),
    ),
    ("nn.Upsample mint.nn.Upsample", ("N,C,L",)),
    (
        "nn.AvgPool3d nn.MaxPool3d nn.AvgPool3dExt nn.AdaptiveAvgPool3d nn.AdaptiveMaxPool3d nn.ReflectionPad3d "
        "nn.ReplicationPad3d nn.ConstantPad3d mint.nn.AvgPool3d mint.nn.AdaptiveAvgPool3d mint.nn.ReflectionPad3d "
        "mint.nn.ReplicationPad3d mint.nn.ConstantPad3d mint.nn.ZeroPad3d nn.Upsample",
        ("N,C,D,H,W",),
    ),
    ("nn.MaxUnpool1d", ("N,C,3", "=ms.Tensor(np.broadcast_to([0, 3, 5], x0.shape).copy(), ms.int64)")),
    (
        "nn.MaxUnpool2d mint.nn.MaxUnpool2d",
        ("N,C,2,2", "=ms.Tensor(np.broadcast_to([[0, 3], [9, 10]], x0.shape).copy(), ms.int64)"),
    ),
    ("mint.nn.Fold", ("N,8,4",)),
    ("nn.PixelShuffle mint.nn.PixelShuffle", ("N,36,H,W",)),
    ("nn.PixelUnshuffle", ("N,C,6,12",)),
    ("nn.Unflatten", ("N,6",)),
    ("nn.OneHot", ("N,M:int0-4",)),
    ("nn.MatDet nn.MatInverse", ("N,3,3",)),
    ("nn.MatMul", ("N,3,3", "N,3,3")),
    ("nn.MatrixDiagPart", ("N,3,4",)),
    ("nn.MatrixSetDiag", ("N,3,3", "N,3")),
    ("nn.TimeDistributed", ("N,M,4",)),
    ("nn.RNNCell nn.GRUCell", ("N,4", "N,3")),
    ("nn.LSTMCell", ("N,4", "=(x0[:, :3], x0[:, 1:])")),
    ("nn.RNN nn.GRU nn.LSTM", ("5,N,4",)),
    ("nn.MultiheadAttention", ("N,M,4", "=x0", "=x0 * 0.5")),
    ("nn.MultiheadAttention", ("N,M,4", "K,M,4", "K,M,4", "=need_weights=False")),
    ("nn.TransformerEncoderLayer nn.TransformerEncoder", ("N,M,4",)),
    ("nn.TransformerDecoderLayer nn.TransformerDecoder nn.Transformer", ("N,M,4", "K,M,4")),
    # losses
    (
        "nn.L1Loss nn.MSELoss nn.SmoothL1Loss nn.HuberLoss nn.MAELoss nn.RMSELoss nn.L1LossExt mint.nn.L1Loss "
        "mint.nn.MSELoss mint.nn.SmoothL1Loss nn.PoissonNLLLoss nn.KLDivLoss mint.nn.KLDivLoss",
        ("*", "*"),
    ),
    ("nn.KLDivLoss mint.nn.KLDivLoss nn.PoissonNLLLoss", ("*", "*:probability")),
    ("nn.BCELoss mint.nn.BCELoss", ("*:probability", "*:probability")),
    ("nn.BCEWithLogitsLoss mint.nn.BCEWithLogitsLoss", ("*", "*:probability")),
    ("nn.SoftMarginLoss mint.nn.SoftMarginLoss nn.HingeEmbeddingLoss", ("*", "*:sign")),
    ("nn.GaussianNLLLoss", ("*", "*", "*:positive")),
    ("nn.MarginRankingLoss", ("*", "*", "*:sign")),
    ("nn.CosineEmbeddingLoss mint.nn.CosineEmbeddingLoss", ("N,M", "N,M", "N:sign")),
    ("nn.TripletMarginLoss nn.TripletMarginWithDistanceLoss", ("N,M", "N,M", "N,M")),
    ("nn.CrossEntropyLoss nn.NLLLoss mint.nn.CrossEntropyLoss mint.nn.NLLLoss", ("N,4", "N:int0-4")),
    ("nn.CrossEntropyLoss nn.NLLLoss mint.nn.CrossEntropyLoss mint.nn.NLLLoss", ("N,4,H,W", "N,H,W:int0-4")),
    ("nn.CrossEntropyLoss mint.nn.CrossEntropyLoss", ("N,4", "N,4:probability")),
    ("nn.CrossEntropyLoss mint.nn.CrossEntropyLoss", ("4", "=ms.Tensor(2, ms.int32)")),
    ("nn.SoftmaxCrossEntropyWithLogits", ("N,4", "N,4:share")),
    ("nn.SoftmaxCrossEntropyWithLogits", ("N,4", "N:int0-4")),
    ("nn.MultiMarginLoss", ("N,4", "N:long0-4")),
    ("nn.MultiLabelSoftMarginLoss", ("N,4", "N,4:binary")),
    ("nn.MultilabelMarginLoss", ("N,4", "N,4:int-1-4")),
    ("nn.FocalLoss", ("N,4,H,W", "N,1,H,W:int0-4")),
    ("nn.DiceLoss nn.MultiClassDiceLoss", ("N,4", "N,4:binary")),
    (
        "nn.CTCLoss",
        (
            "6,N,4:logs",
            "N,2:int1-3",
            "=ms.Tensor([6] * x0.shape[1], ms.int32)",
            "=ms.Tensor([2] * x0.shape[1], ms.int32)",
        ),
    ),
    (
        "nn.CTCLoss",
        (
            "6,N,4:logs",
            "N,3:int1-3",
            "=ms.Tensor([5] * x0.shape[1], ms.int32)",
            "=ms.Tensor([1] * x0.shape[1], ms.int32)",
        ),
    ),
)
# Values of an argument, by its name, or by the layer's name and its own. "=" begins Python.
LENGTHS, NO_RANDOM = (1, 2, 3, (2, 3), (3, 1)), (0.0,)
MATRIX = "=ms.Tensor(np.linspace(-0.4, 0.7, 12).reshape(3, 4), ms.float32)"
VECTOR = "=ms.Tensor([0.5, 1, 2, 0.25], ms.float32)"
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "in_channels": (4,),
    "in_features": (4,),
    "num_features": (4,),
    "num_channels": (4,),
    "in1_channels": (4,),
    "in2_channels": (3,),
    "input_size": (4,),
    "hidden_size": (3,),
    "embed_dim": (4,),
    "d_model": (4,),
    "nhead": (2, 4, 1),
    "num_heads": (1, 2, 4),
    "dim_feedforward": (5,),
    "num_embeddings": (5,),
    "vocab_size": (5,),
    "embedding_dim": (3,),
    "embedding_size": (3,),
    "out_channels": (4, 8),
    "out_features": (1, 3),
    "kernel_size": LENGTHS,
    "stride": LENGTHS,
    "dilation": (1, 2),
    "padding": (0, 1),
    "output_padding": (0, 1),
    "group": (1, 2, 4),
    "groups": (1, 2, 4),
    "num_groups": (1, 2, 4),
    "pad_mode": ("same", "valid", "pad"),
    "padding_mode": ("zeros", "reflect", "replicate", "circular"),
    "has_bias": (True, False),
    "bias": (True, False),
    "ceil_mode": (True, False),
    "count_include_pad": (True, False),
    "divisor_override": (1, 5),
    "return_indices": (True, False),
    "eps": (1e-5, 1e-3, 0.1),
    "epsilon": (1e-7, 0.1),
    "momentum": (0.9, 0.1, 0.5),
    "affine": (True, False),
    "use_batch_statistics": (True, False, None),
    "track_running_stats": (True, False),
    "elementwise_affine": (True, False),
    "activation": ("relu", "tanh", "sigmoid", None),
    "has_bn": (True, False),
    "alpha": (0.3, 1.0, 2.5),
    "lambd": (0.5, 0.1, 1.5),
    "min_val": (-1.0, -0.3),
    "max_val": (1.0, 0.2),
    "threshold": (0.1, -0.5),
    "value": (0.7, -2.0, 3),
    "axis": (-1, 0, 1, -2),
    "dim": (-1, 0, 1),
    "keep_dims": (True, False),
    "p": (1, 2),
    "lower": (0.2,),
    "upper": (0.2,),
    "approximate": ("none", "tanh"),
    "dropout": NO_RANDOM,
    "norm_type": (1, 2, 2.0, 3),
    "max_norm": (0.7, 2.0),
    "padding_idx": (0, 2),
    "use_one_hot": (True, False),
    "scale_grad_by_freq": (True, False),
    "normalized_shape": ((4,), (3, 4), 4, [4]),
    "begin_norm_axis": (-1, 1, 2),
    "begin_params_axis": (-1, 1, 2),
    "num_parameters": (4, 1),
    "channel": (4, 1),
    "w": (0.25, 0.7),
    "init": (0.25, 0.7),
    "depth_radius": (1, 2, 3),
    "beta": (0.5, 1.0, 2.0),
    "output_size": (1, 2, 3, (2, 3), (None, 2), (1, 2, 3), (3,)),
    "upscale_factor": (1, 2, 3),
    "downscale_factor": (1, 2, 3),
    "central_fraction": (0.3, 0.5, 1.0),
    "paddings": (((0, 0), (0, 0), (1, 2), (2, 1)), ((1, 0), (0, 1), (0, 0), (1, 1))),
    "size": (3, (3, 5), (2,), (4, 4, 3), 6),
    "scale_factor": (2, 2.0, (2.0, 3.0), 1.5, 0.5, (2.0,), (2.0, 1.0, 2.0)),
    "mode": ("nearest", "linear", "bilinear", "trilinear", "bicubic", "area"),
    "align_corners": (True, False),
    "unflattened_size": ((2, 3), (3, 2), (6,), (-1, 2)),
    "depth": (4, 5, 2),
    "on_value": (1.0, 3.0),
    "off_value": (0.0, -1.0),
    "transpose_x1": (True, False),
    "transpose_x2": (True, False),
    "shift": (1, -1, (1,)),
    "scale": (0.5, 2),
    "start_dim": (0, 1, -2),
    "end_dim": (-1, 1, 2),
    "layer": ("=ms.nn.Dense(4, 3)", "=ms.nn.ReLU()"),
    "time_axis": (1,),
    "reshape_with_axis": (0, 1, None),
    "nonlinearity": ("tanh", "relu"),
    "num_layers": (1, 2),
    "batch_first": (True, False),
    "bidirectional": (True, False),
    "add_bias_kv": (True, False),
    "add_zero_attn": (True, False),
    "norm_first": (True, False),
    "layer_norm_eps": (1e-5, 0.1),
    "encoder_layer": (
        "=ms.nn.TransformerEncoderLayer(4, 2, 5, 0.0)",
        "=ms.nn.TransformerEncoderLayer(4, 2, 5, 0.0, 'gelu', norm_first=True)",
    ),
    "decoder_layer": ("=ms.nn.TransformerDecoderLayer(4, 2, 5, 0.0)",),
    "num_encoder_layers": (1,),
    "num_decoder_layers": (1,),
    "norm": ("=ms.nn.LayerNorm((4,))",),
    "reduction": ("mean", "sum", "none"),
    "weight": (VECTOR,),
    "pos_weight": (VECTOR,),
    "label_smoothing": (0.1, 0.5),
    "ignore_index": (1, -100),
    "margin": (0.5, 2.0),
    "delta": (0.5, 2.0),
    "full": (True, False),
    "log_input": (True, False),
    "log_target": (True, False),
    "swap": (True, False),
    "sparse": (True, False),
    "gamma": (1.0, 0.5),
    "smooth": (1e-5, 1.0),
    "blank": (0, 3),
    "zero_infinity": (True, False),
    "weight_init": ("ones",),
    "bias_init": ("zeros", "ones"),
    "dtype": ("=ms.float32", "=ms.float16"),
    "inplace": (False,),
    "nn.TripletMarginWithDistanceLoss.distance_function": ("=lambda a, b: ms.ops.abs(a - b).sum(-1)",),
    "nn.Dropout.p": NO_RANDOM,
    "nn.DropoutExt.p": NO_RANDOM,
    "nn.Dropout1d.p": NO_RANDOM,
    "nn.Dropout2d.p": NO_RANDOM,
    "nn.Dropout3d.p": NO_RANDOM,
    "nn.Dropout2dExt.p": NO_RANDOM,
    "mint.nn.Dropout.p": NO_RANDOM,
    "mint.nn.Dropout2d.p": NO_RANDOM,
    "nn.GELU.approximate": (True, False),
    "mint.nn.Fold.output_size": ((3, 3),),
    "mint.nn.Fold.kernel_size": (2, (2, 2)),
    "mint.nn.Fold.stride": (1,),
    "mint.nn.Fold.padding": (0,),
    "mint.nn.Fold.dilation": (1,),
    "nn.TransformerEncoderLayer.activation": ("relu", "gelu"),
    "nn.TransformerDecoderLayer.activation": ("relu", "gelu"),
    "nn.Transformer.activation": ("relu", "gelu"),
    "nn.FocalLoss.weight": (VECTOR,),
    "nn.FocalLoss.gamma": (1.0, 2.0, 0.5),
    "nn.MultiClassDiceLoss.weights": (MATRIX,),
    "nn.MultiClassDiceLoss.activation": ("softmax", "sigmoid", None),
    "nn.MaxUnpool1d.kernel_size": (2,),
    "nn.MaxUnpool2d.kernel_size": (2,),
    "mint.nn.MaxUnpool2d.kernel_size": (2,),
    "nn.MaxUnpool1d.stride": (2,),
    "nn.MaxUnpool2d.stride": (2,),
    "mint.nn.MaxUnpool2d.stride": (2,),
    "nn.MaxUnpool1d.padding": (0,),
    "nn.MaxUnpool2d.padding": (0,),
    "mint.nn.MaxUnpool2d.padding": (0,),
    "nn.Pad.mode": ("CONSTANT", "REFLECT", "SYMMETRIC"),
    "nn.Norm.axis": ((), -1, 0, (0, 1)),
    "nn.ReduceLogSumExp.axis": (-1, 0, (0, 1), ()),
    "nn.Moments.axis": (0, -1, (0, 1)),
    "nn.ClipByNorm.axis": (None, 0, -1),
    "nn.Roll.axis": (0, -1, 1),
    "nn.OneHot.dtype": ("=ms.float32", "=ms.int32"),
    "nn.Embedding.dtype": ("=ms.float32",),
}
# Paddings of layers that pad: a number, or one for each side.
PADS = (1, 0, 2, (1, 2), (1, 2, 0, 1), (1, 0, 2, 1, 1, 1), (-1, 1), (2, 1, -1, 0))
# Signature of MindSpore's recurrent layers, which Python cannot read.
RECURRENT = "input_size, hidden_size, num_layers=1, has_bias=True, batch_first=False, dropout=0.0, bidirectional=False"
SIGNATURES = {"nn.RNN": RECURRENT, "nn.GRU": RECURRENT, "nn.LSTM": RECURRENT, "nn.Identity": "", "mint.nn.Identity": ""}
DTYPES = {"float32": 84, "float16": 10, "float64": 6}


@functools.cache
def rows(only: str) -> list[tuple[str, tuple[str, ...]]]:
    results = [(name, inputs) for names, inputs in ROWS for name in names.split() if name.startswith(only)]
    if not results:
        raise SystemExit(f"no layer begins with {only!r}")
    return results


@functools.cache
def arguments_of(name: str) -> ast.arguments:
    if name in SIGNATURES:
        (function,) = ast.parse(f"def f({SIGNATURES[name]}): pass").body
        assert isinstance(function, ast.FunctionDef)
        return function.args
    return recorded()[name]


def draw(rng: np.random.Generator, only: str) -> Case:
    """Draw a layer, its inputs and a mode."""
    name, specs = rows(only)[int(rng.integers(len(rows(only))))]
    dtype = str(rng.choice(list(DTYPES), p=np.array(list(DTYPES.values())) / sum(DTYPES.values())))
    lengths = {letter: int(rng.integers(1, 4 if letter in "NMC" else 8)) for letter in "NMCKDHWL"}
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(0, 4))))
    special = rng.random() < 0.1
    inputs: list[Array] = []
    dtypes: list[str] = []
    records = []
    for spec in specs:
        if spec.startswith("="):
            records.append(spec[1:])
            continue
        dimensions, _, kind = spec.partition(":")
        sizes = shape if dimensions == "*" else tuple(lengths.get(n) or int(n) for n in dimensions.split(","))
        array = values(rng, sizes, kind, special)
        dtypes.append(dtype if array.dtype.kind == "f" else str(array.dtype))
        inputs.append(array.astype(dtypes[-1]))
        records.append(f"x{len(inputs) - 1}")
    names = ", ".join(f"x{i}" for i in range(len(inputs)))
    mode = bool(rng.random() < 0.6)
    code = f"ms.{name}({', '.join(settings(rng, name, dtype))}).set_train({mode})"
    source = (
        f"import numpy as np\ndef layer(ms):\n    return {code}\n"
        f"def run(ms, layer, {names}):\n    return layer({', '.join(records)})\n"
    )
    return Case(name, source, inputs, dtypes, title=f"{code}({', '.join(records)})")


def values(rng: np.random.Generator, shape: tuple[int, ...], kind: str, special: bool) -> Array:
    """Return numbers of a kind; "int0-4" are integers from 0 to 3."""
    if kind.startswith(("int", "long")):
        low, _, high = kind.removeprefix("int").removeprefix("long").rpartition("-")
        return rng.integers(int(low), int(high), shape).astype("int64" if kind.startswith("long") else "int32")
    result = rng.normal(size=shape) * (1 if rng.random() < 0.8 else 4)
    if kind == "positive":
        result = np.abs(result) + 0.1
    elif kind == "probability":
        result = rng.uniform(0.02, 0.98, shape)
    elif kind == "share":
        result = rng.uniform(0.1, 1, shape)
        result = result / result.sum(-1, keepdims=True)
    elif kind == "logs":
        result = result - np.log(np.exp(result).sum(-1, keepdims=True))
    elif kind == "sign":
        result = np.where(result < 0, -1.0, 1.0)
    elif kind == "binary":
        result = (result > 0).astype(float)
    elif special:
        result = np.where(rng.random(shape) < 0.2, rng.choice(SPECIAL, shape), result)
    return np.asarray(result)


def settings(rng: np.random.Generator, name: str, dtype: str) -> list[str]:
    """Return the arguments that make the layer, as Python writes them."""
    arguments = arguments_of(name)
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    needed: list[Any] = [None] * (len(parameters) - len(arguments.defaults) - len(arguments.kwonlyargs))
    defaults = [*needed, *arguments.defaults, *arguments.kw_defaults]
    texts = []
    for parameter, default in zip(parameters, defaults, strict=True):
        random = "Dropout" in name or name == "nn.RReLU"  # whose defaults would draw
        if parameter.arg in ("self", "auto_prefix", "flags") or (
            default is not None and rng.random() < 0.55 and not random and parameter.arg != "dropout"
        ):
            continue
        own = ARGUMENTS.get(f"{name}.{parameter.arg}")
        choices = own or (PADS if parameter.arg == "padding" and "Pad" in name else ARGUMENTS.get(parameter.arg, ()))
        if parameter.arg == "dtype" and own is None:
            choices = (f"=ms.{dtype}",)
        if not choices:
            if default is None:
                raise SystemExit(f"no values for {parameter.arg} of {name}")
            continue
        choice = choices[int(rng.integers(len(choices)))]
        texts.append(
            f"{parameter.arg}={choice[1:] if isinstance(choice, str) and choice.startswith('=') else repr(choice)}"
        )
    takes = any(slot.arg == "dtype" for slot in parameters)
    if takes and dtype != "float32" and not any("dtype=" in item for item in texts):
        texts.append(f"dtype=ms.{dtype}")
    return texts
