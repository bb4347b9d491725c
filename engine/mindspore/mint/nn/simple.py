"""Layers of ``mindspore.mint.nn`` without parameters: each stores its arguments and calls one function."""

from __future__ import annotations

import inspect
import re
from typing import Any

from ....nn.cell import Cell
from ....tensors.tensor import Tensor
from . import functional as F  # noqa: N812

_MEANS = "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None"
_MAXIMA = "kernel_size=1, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False"
_UPSAMPLE = "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None"
_CALLS = {
    # layer: (function, the number of arguments of the call, arguments of the layer and their defaults)
    "ReLU": ("relu", 1, "inplace=False"),
    "ReLU6": ("relu6", 1, "inplace=False"),
    "SiLU": ("silu", 1, "inplace=False"),
    "ELU": ("elu", 1, "alpha=1.0, inplace=False"),
    "GELU": ("gelu", 1, "approximate='none'"),
    "GLU": ("glu", 1, "dim=-1"),
    "Hardtanh": ("hardtanh", 1, "min_val=-1.0, max_val=1.0, inplace=False"),
    "Threshold": ("threshold", 1, "threshold, value, inplace=False"),
    "Sigmoid": ("sigmoid", 1, ""),
    "Tanh": ("tanh", 1, ""),
    "LogSigmoid": ("logsigmoid", 1, ""),
    "LeakyReLU": ("leaky_relu", 1, "negative_slope=0.01"),
    "Softmax": ("softmax", 1, "dim=None"),
    "LogSoftmax": ("log_softmax", 1, "dim=None"),
    "Flatten": ("flatten", 1, "start_dim=1, end_dim=-1"),
    "PixelShuffle": ("pixel_shuffle", 1, "upscale_factor"),
    "Unfold": ("unfold", 1, "kernel_size, dilation=1, padding=0, stride=1"),
    "Fold": ("fold", 1, "output_size, kernel_size, dilation=1, padding=0, stride=1"),
    "MaxPool2d": ("max_pool2d", 1, _MAXIMA),
    "MaxUnpool2d": ("max_unpool2d", 2, "kernel_size, stride=None, padding=0"),
    "AvgPool1d": ("avg_pool1d", 1, "kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True"),
    "AvgPool2d": ("avg_pool2d", 1, _MEANS),
    "AvgPool3d": ("avg_pool3d", 1, _MEANS),
    "AdaptiveAvgPool1d": ("adaptive_avg_pool1d", 1, "output_size"),
    "AdaptiveAvgPool2d": ("adaptive_avg_pool2d", 1, "output_size"),
    "AdaptiveAvgPool3d": ("adaptive_avg_pool3d", 1, "output_size"),
    "AdaptiveMaxPool1d": ("adaptive_max_pool1d", 1, "output_size, return_indices=False"),
    "AdaptiveMaxPool2d": ("adaptive_max_pool2d", 1, "output_size, return_indices=False"),
    "Upsample": ("interpolate", 1, _UPSAMPLE),
    "L1Loss": ("l1_loss", 2, "reduction='mean'"),
    "MSELoss": ("mse_loss", 2, "reduction='mean'"),
    "SmoothL1Loss": ("smooth_l1_loss", 2, "reduction='mean', beta=1.0"),
    "BCELoss": ("binary_cross_entropy", 2, "weight=None, reduction='mean'"),
    "BCEWithLogitsLoss": ("binary_cross_entropy_with_logits", 2, "weight=None, reduction='mean', pos_weight=None"),
    "KLDivLoss": ("kl_div", 2, "reduction='mean', log_target=False"),
    "SoftMarginLoss": ("soft_margin_loss", 2, "reduction='mean'"),
    "CosineEmbeddingLoss": ("cosine_embedding_loss", 3, "margin=0.0, reduction='mean'"),
    "NLLLoss": ("nll_loss", 2, "weight=None, ignore_index=-100, reduction='mean'"),
    "CrossEntropyLoss": ("cross_entropy", 2, "weight=None, ignore_index=-100, reduction='mean', label_smoothing=0.0"),
}
_NONE = inspect.Parameter.empty
_VALUES = {"None": None, "True": True, "False": False}


def _signature(text: str) -> inspect.Signature:
    """Return the signature of a row; its defaults are numbers, words and the three constants."""
    parameters = []
    for part in filter(None, text.split(", ")):
        name, _, default = part.partition("=")
        value: Any = _NONE
        if default:
            word = default.strip("'") if "'" in default else None
            value = _VALUES[default] if default in _VALUES else _number(default) if word is None else word
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value))
    return inspect.Signature(parameters)


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _layer(name: str, function: str, inputs: int, arguments: str) -> type[Cell]:
    signature = _signature(arguments)
    call = getattr(F, function)

    def __init__(self: Cell, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"For 'mint.nn.{name}', {error}; its arguments are {signature}") from None
        bound.apply_defaults()
        Cell.__init__(self)
        self.__dict__["_arguments"] = dict(bound.arguments)
        for key, value in bound.arguments.items():
            setattr(self, key, value)

    def construct(self: Cell, *tensors: Any) -> Tensor:
        return call(*tensors, **self.__dict__["_arguments"])

    def extend_repr(self: Cell) -> str:
        return ", ".join(f"{key}={value}" for key, value in self.__dict__["_arguments"].items())

    doc = f"The layer of ``mint.nn.functional.{function}``, called with {inputs} tensor{'s' * (inputs > 1)}."
    docstring = inspect.getdoc(call) or ""
    entries = [_entry(docstring, key) for key in signature.parameters]
    doc = "\n".join([doc, *(["", "Args:", *entries] if entries else [])])
    members = {"__init__": __init__, "construct": construct, "extend_repr": extend_repr, "__doc__": doc}
    cls = type(name, (Cell,), {**members, "__module__": __name__, "__signature__": signature})
    return cls


def _entry(doc: str, name: str) -> str:
    """Return the entry for an argument in a function's documentation."""
    match = re.search(rf"^    {name}: .*(?:\n {{8}}.*)*", doc, re.MULTILINE)
    return match[0] if match else f"    {name}: as of the function."


LAYERS: dict[str, type[Cell]] = {name: _layer(name, *row) for name, row in _CALLS.items()}
