"""``mindspore.mint.nn.functional``: the functions whose form differs from that of ``ops``.

The others are declared where the functions are (``mint=`` in ``ops``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import ops
from ...core.dtype import int64
from ...core.names import on_first_use
from ...core.surfaces import MINT, functions_of
from ...core.tensor import Tensor
from ..functions import flatten, log_softmax

__all__ = [
    "adaptive_max_pool1d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "conv1d", "conv2d", "conv3d", "cosine_embedding_loss", "dropout", "dropout2d",
    "elu", "elu_", "embedding", "flatten", "hardtanh", "hardtanh_", "kl_div", "log_softmax", "max_pool2d", "normalize",
    "one_hot", "relu", "relu6", "relu_", "sigmoid_", "silu", "smooth_l1_loss", "softmax", "threshold",
    "threshold_",
]  # fmt: skip
if TYPE_CHECKING:
    from .functional_types import *
globals().update(functions_of(MINT, "nn.functional"))
__all__ += functions_of(MINT, "nn.functional")

__getattr__ = on_first_use(__name__)


def _in_place(input: Tensor, changed: Tensor, inplace: bool) -> Tensor:
    """The result, taken over by the input where that is asked for."""
    if not inplace:
        return changed
    input._rebind(changed._array)
    return input


def _reduced(loss: Tensor, reduction: str, who: str) -> Tensor:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"For '{who}', 'reduction' must be 'none', 'mean' or 'sum', but got {reduction!r}")
    return loss if reduction == "none" else getattr(ops, reduction)(loss)


# Activations


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The positive part."""
    return _in_place(input, ops.relu(input), inplace)


def relu_(input: Tensor) -> Tensor:
    """``relu`` in place."""
    return relu(input, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The positive part, up to 6."""
    return _in_place(input, ops.relu6(input), inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _in_place(input, ops.silu(input), inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x, or alpha * (exp(x) - 1) below 0."""
    below = alpha * ops.expm1(ops.minimum(input, Tensor(0.0, input.dtype)))
    return _in_place(input, ops.where(input > 0, input, below), inplace)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """``elu`` in place."""
    return elu(input, alpha, True)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Not below one value, nor above another."""
    return _in_place(input, ops.hardtanh(input, min_val, max_val), inplace)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """``hardtanh`` in place."""
    return hardtanh(input, min_val, max_val, True)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above the threshold, else ``value``."""
    return _in_place(input, ops.threshold(input, threshold, value), inplace)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """``threshold`` in place."""
    changed = ops.threshold(input, threshold, value)
    return _in_place(input, changed, True)


def sigmoid_(input: Tensor) -> Tensor:
    """``sigmoid`` in place."""
    return _in_place(input, ops.sigmoid(input), True)


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None) -> Tensor:
    """exp, divided by its sum along an axis."""
    return ops.softmax(input, -1 if dim is None else dim, dtype=dtype)


# Layers


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Rows of ``weight`` by their numbers; no gradient reaches the row ``padding_idx``."""
    if max_norm is not None or scale_grad_by_freq:
        raise NotImplementedError(
            "mindspore.mint.nn.functional.embedding with max_norm or scale_grad_by_freq is not covered by hookscope: "
            "scale the weight before"
        )
    rows = weight[input]
    if padding_idx is None:
        return rows
    row = padding_idx % weight.shape[0]
    return ops.where(ops.unsqueeze(ops.equal(input, row), -1), ops.stop_gradient(rows), rows)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements dropped with probability p, the rest made larger by 1 / (1 - p)."""
    return _in_place(input, ops.dropout(input, p, training), inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels dropped with probability p."""
    return _in_place(input, ops.dropout2d(input, p, training), inplace)


def batch_norm(
    input: Tensor, running_mean: Tensor, running_var: Tensor, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Normalized over all axes but the second; in training ``running`` moves by ``momentum`` towards the batch."""
    weight = ops.ones(input.shape[1], input.dtype) if weight is None else weight
    bias = ops.zeros(input.shape[1], input.dtype) if bias is None else bias
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """Divided by its norm along an axis."""
    return input / ops.maximum(ops.vector_norm(input, p, dim, True), Tensor(eps, input.dtype))


def one_hot(tensor: Tensor, num_classes: int = -1) -> Any:
    """Class numbers as rows of zeros with a one."""
    classes = int(tensor.asnumpy().max()) + 1 if num_classes == -1 else num_classes
    return ops.one_hot(tensor, classes, Tensor(1, int64), Tensor(0, int64))


# Windows


def _conv(
    name: str, input: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, more: tuple[Any, ...]
) -> Tensor:
    mode = padding if isinstance(padding, str) else "pad"
    return getattr(ops, name)(input, weight, bias, stride, mode, 0 if isinstance(padding, str) else padding, *more)


def conv1d(
    input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Any:  # fmt: skip
    """Cross-correlation along one axis; ``padding`` is a number, "same" or "valid"."""
    return _conv("conv1d", input, weight, bias, stride, padding, (dilation, groups))


def conv2d(
    input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Any:  # fmt: skip
    """Cross-correlation along two axes; ``padding`` is a number, a pair, "same" or "valid"."""
    return _conv("conv2d", input, weight, bias, stride, padding, (dilation, groups))


def conv3d(
    input: Tensor, weight: Tensor, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: int = 1,
) -> Tensor:  # fmt: skip
    """Cross-correlation along three axes; ``padding`` is a number, a triple, "same" or "valid"."""
    return _conv("conv3d", input, weight, bias, stride, padding, (dilation, groups))


def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest of each window."""
    return ops.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest of each of so many windows."""
    if not return_indices:
        return ops.adaptive_max_pool1d(input, output_size)
    length = output_size if isinstance(output_size, int) else output_size[0]
    values, places = ops.adaptive_max_pool2d(ops.unsqueeze(input, -2), (1, length), True)
    return ops.squeeze(values, -2), ops.squeeze(places, -2)


def avg_pool1d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window."""
    step = kernel_size if stride is None else stride
    return ops.avg_pool1d(input, kernel_size, step, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """The mean of each window."""
    step = kernel_size if stride is None else stride
    return ops.avg_pool2d(input, kernel_size, step, padding, ceil_mode, count_include_pad, divisor_override or 0)


def avg_pool3d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window."""
    step = kernel_size if stride is None else stride
    return ops.avg_pool3d(input, kernel_size, step, padding, ceil_mode, count_include_pad, divisor_override or 0)


# Losses


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Squared below ``beta``, linear above."""
    if beta == 0:
        return ops.l1_loss(input, target, reduction)
    apart = ops.abs(input - target)
    loss = ops.where(apart < beta, 0.5 * apart * apart / beta, apart - 0.5 * beta)
    return _reduced(loss, reduction, "smooth_l1_loss")


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean") -> Any:
    """Of probabilities; logarithms are not below -100, as PyTorch has it."""
    floor = Tensor(-100.0, input.dtype)
    loss = -(target * ops.maximum(ops.log(input), floor) + (1 - target) * ops.maximum(ops.log(1 - input), floor))
    return _reduced(loss if weight is None else loss * weight, reduction, "binary_cross_entropy")


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Any:  # fmt: skip
    """Of sigmoid(input), computed without overflow; ``pos_weight`` weighs the ones."""
    positive = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * input - positive * ops.logsigmoid(input)
    return _reduced(loss if weight is None else loss * weight, reduction, "binary_cross_entropy_with_logits")


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """target * (log(target) - input); "batchmean" divides the sum by the length of the first axis."""
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        loss = ops.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return ops.sum(loss) / input.shape[0]
    return _reduced(loss, reduction, "kl_div")


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1."""
    # PyTorch's: the square of a norm is made a little larger, so that zeros have a cosine.
    small = 1e-12
    norms = (ops.sum(input1 * input1, -1) + small) * (ops.sum(input2 * input2, -1) + small)
    cosine = ops.sum(input1 * input2, -1) / ops.sqrt(norms)
    far = ops.relu(cosine - margin)
    return _reduced(ops.where(ops.equal(target, 1), 1 - cosine, far), reduction, "cosine_embedding_loss")
