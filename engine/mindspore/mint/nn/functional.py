"""``mindspore.mint.nn.functional``: functions whose signatures differ from those in ``ops``.

The others are declared with their functions (``mint=`` in ``ops``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .... import ops
from ....base.argument_checks import check_one_of
from ....base.module_names import on_first_use
from ....base.surfaces import MINT, functions_of
from ....base.types import DTypeLike, Ints
from ....ops.arguments import Axis, check_axes, check_tensor, int_of
from ....ops.shapes.broadcasting import through_single
from ....tensors.dtype import int64
from ....tensors.tensor import Tensor
from ..arithmetic import axis_unless_given, log_softmax
from ..shapes import flatten

__all__ = [
    "adaptive_max_pool1d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv1d",
    "conv2d",
    "conv3d",
    "cosine_embedding_loss",
    "dropout",
    "dropout2d",
    "elu",
    "elu_",
    "flatten",
    "hardtanh",
    "hardtanh_",
    "kl_div",
    "log_softmax",
    "max_pool2d",
    "normalize",
    "one_hot",
    "relu",
    "relu6",
    "relu_",
    "sigmoid_",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "threshold",
    "threshold_",
]
if TYPE_CHECKING:
    from .functional_types import *
globals().update(functions_of(MINT, "nn.functional"))
__all__ += functions_of(MINT, "nn.functional")

__getattr__ = on_first_use(__name__)


def _in_place(input: Tensor, changed: Tensor, inplace: bool) -> Tensor:
    """Return the result, bound to the input if in-place operation is requested."""
    if not inplace:
        return changed
    input._rebind(changed._array)
    return input


def _check_tensors(caller: str, **tensors: Tensor) -> None:
    for argument, value in tensors.items():
        check_tensor(value, caller, argument)


def _reduced(loss: Tensor, reduction: str, caller: str) -> Tensor:
    check_one_of(reduction, ("none", "mean", "sum"), caller, "reduction")
    return loss if reduction == "none" else getattr(ops, reduction)(loss)


# Activations


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the positive part: max(input, 0).

    Args:
        input: a Tensor.
        inplace: whether to write the result into ``input``, which is returned then.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _in_place(input, ops.relu(input), inplace)


def relu_(input: Tensor) -> Tensor:
    """Apply ``relu`` in place: max(input, 0).

    Args:
        input: a Tensor, modified in place.

    Returns:
        ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return relu(input, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the positive part, up to 6: min(max(input, 0), 6).

    Args:
        input: a Tensor.
        inplace: whether to write the result into ``input``, which is returned then.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _in_place(input, ops.relu6(input), inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the sigmoid linear unit: input * sigmoid(input).

    Args:
        input: a floating Tensor.
        inplace: whether to write the result into ``input``, which is returned then.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _in_place(input, ops.silu(input), inplace)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return the exponential linear unit: x above 0, alpha * (exp(x) - 1) elsewhere (Clevert et al. 2015).

    Args:
        input: a floating Tensor.
        alpha: the factor below 0: minus the limit at minus infinity.
        inplace: whether to write the result into ``input``, which is returned then.

    Returns:
        a Tensor of the shape and dtype of ``input``.
    """
    return _in_place(input, ops.elu(input, alpha), inplace)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """Apply ``elu`` in place: x above 0, alpha * (exp(x) - 1) elsewhere.

    Args:
        input: a floating Tensor, modified in place.
        alpha: the factor below 0: minus the limit at minus infinity.

    Returns:
        ``input``.
    """
    return elu(input, alpha, True)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Clip elements to the range from ``min_val`` to ``max_val``.

    Args:
        input: a Tensor.
        min_val: the lower bound.
        max_val: the upper bound.
        inplace: whether to write the result into ``input``, which is returned then.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _in_place(input, ops.hardtanh(input, min_val, max_val), inplace)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Apply ``hardtanh`` in place: elements are clipped to the range from ``min_val`` to ``max_val``.

    Args:
        input: a Tensor, modified in place.
        min_val: the lower bound.
        max_val: the upper bound.

    Returns:
        ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return hardtanh(input, min_val, max_val, True)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return the elements above a threshold, and one value for the others: x if x > threshold, else value.

    Args:
        input: a Tensor.
        threshold: elements above it stay.
        value: the replacement of the others.
        inplace: whether to write the result into ``input``, which is returned then.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _in_place(input, ops.threshold(input, threshold, value), inplace)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """Apply ``threshold`` in place: x if x > threshold, else value.

    Args:
        input: a Tensor, modified in place.
        threshold: elements above it stay.
        value: the replacement of the others.

    Returns:
        ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    changed = ops.threshold(input, threshold, value)
    return _in_place(input, changed, True)


def sigmoid_(input: Tensor) -> Tensor:
    """Apply the sigmoid in place: 1 / (1 + exp(-input)).

    Args:
        input: a floating Tensor, modified in place.

    Returns:
        ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return _in_place(input, ops.sigmoid(input), True)


def softmax(input: Tensor, dim: int | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return exp(input) divided by its sum along one axis, without overflow.

    Args:
        input: a floating Tensor.
        dim: the axis, in [-ndim, ndim); None is axis 0 for an input with 0, 1 or 3 axes, else 1.
        dtype: the dtype to convert to first; None leaves that of ``input``.

    Returns:
        a Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor of floats.
        ValueError: ``dim`` is out of range.
    """
    return ops.softmax(input, axis_unless_given(input) if dim is None else dim, dtype=dtype)


# Layers


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set elements to 0 with probability ``p`` and multiply the others by 1 / (1 - p) (Srivastava et al. 2014).

    Args:
        input: a floating Tensor.
        p: the probability to be dropped, from 0 to 1.
        training: whether anything is dropped; False returns the input.
        inplace: whether to write the result into ``input``, which is returned then.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: ``p`` is out of range.
    """
    return _in_place(input, ops.dropout(input, p, training), inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set whole channels to 0 with probability ``p`` and multiply the others by 1 / (1 - p).

    Args:
        input: images, (N, C, H, W).
        p: the probability to be dropped, from 0 to 1.
        training: whether anything is dropped; False returns the input.
        inplace: whether to write the result into ``input``, which is returned then.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: ``p`` is out of range.
    """
    return _in_place(input, ops.dropout2d(input, p, training), inplace)


def batch_norm(
    input: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return (x - mean) / sqrt(variance + eps) * weight + bias over all axes but the second (Ioffe and Szegedy 2015).

    Args:
        input: a floating Tensor (N, C, ...).
        running_mean: the running means of the channels, a vector; used outside of training. In training it moves
            towards the batch's.
        running_var: the running variances, used in the same way.
        weight: the factor of each channel; None is 1.
        bias: added to each channel; None is 0.
        training: whether the batch's own mean and variance are used.
        momentum: the weight of the batch in the running statistics.
        eps: added to the variance.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: the shapes do not match.
    """
    check_axes(input, 2, "batch_norm")
    weight = ops.ones(input.shape[1], input.dtype) if weight is None else weight
    bias = ops.zeros(input.shape[1], input.dtype) if bias is None else bias
    return ops.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


@through_single
def normalize(input: Tensor, p: float = 2.0, dim: Axis = 1, eps: float = 1e-12) -> Tensor:
    """Return vectors divided by their length: input / max(norm, eps).

    Args:
        input: a floating Tensor.
        p: the order of the norm; see ``vector_norm``.
        dim: the axis or axes of the vectors, in [-ndim, ndim).
        eps: the minimum length in the division.

    Returns:
        a Tensor of the shape and dtype of ``input``.

    Raises:
        ValueError: an axis is out of range.
    """
    return input / ops.maximum(ops.vector_norm(input, p, dim, True), Tensor(eps, input.dtype))


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return one-hot rows of class numbers.

    Args:
        tensor: the numbers, ints of any shape.
        num_classes: the length of the rows; -1 is the largest number plus 1.

    Returns:
        an Int64 Tensor (*shape of tensor, num_classes).

    Raises:
        ValueError: ``tensor`` is empty and ``num_classes`` is -1.
    """
    requested = int_of(num_classes, "one_hot", "num_classes")
    classes = int(check_tensor(tensor, "one_hot", "tensor").asnumpy().max()) + 1 if requested == -1 else requested
    return ops.one_hot(tensor, classes, Tensor(1, int64), Tensor(0, int64))


# Windows


def _conv(
    name: str, input: Tensor, weight: Tensor, bias: Any, stride: Any, padding: Any, more: tuple[Any, ...]
) -> Tensor:
    mode = padding if isinstance(padding, str) else "pad"
    return getattr(ops, name)(input, weight, bias, stride, mode, 0 if isinstance(padding, str) else padding, *more)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation along one axis, with separate weights for each group of channels.

    Args:
        input: a floating Tensor (N, C, L) or (C, L).
        weight: the kernels, (channels out, C / groups, *size).
        bias: added to each output channel; None is 0.
        stride: the stride of the windows: an int, or one for each axis.
        padding: zeros at both ends of each axis: a number; "same" for results of the length of the input, "valid" for
            none.
        dilation: the spacing of the elements of a window.
        groups: the number of groups of channels, each convolved separately.

    Returns:
        a Tensor of the dtype of ``input``, with the channels out and the number of windows along each axis.

    Raises:
        ValueError: the shapes do not match, or an unknown word for ``padding``.
    """
    return _conv("conv1d", input, weight, bias, stride, padding, (dilation, groups))


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation along two axes, with separate weights for each group of channels.

    Args:
        input: a floating Tensor (N, C, H, W) or (C, H, W).
        weight: the kernels, (channels out, C / groups, *size).
        bias: added to each output channel; None is 0.
        stride: the stride of the windows: an int, or one for each axis.
        padding: zeros at both ends of each axis: a number, a pair; "same" for results of the length of the input,
            "valid" for none.
        dilation: the spacing of the elements of a window.
        groups: the number of groups of channels, each convolved separately.

    Returns:
        a Tensor of the dtype of ``input``, with the channels out and the number of windows along each axis.

    Raises:
        ValueError: the shapes do not match, or an unknown word for ``padding``.
    """
    return _conv("conv2d", input, weight, bias, stride, padding, (dilation, groups))


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Return the cross-correlation along three axes, with separate weights for each group of channels.

    Args:
        input: a floating Tensor (N, C, D, H, W) or (C, D, H, W).
        weight: the kernels, (channels out, C / groups, *size).
        bias: added to each output channel; None is 0.
        stride: the stride of the windows: an int, or one for each axis.
        padding: zeros at both ends of each axis: a number, a triple; "same" for results of the length of the input,
            "valid" for none.
        dilation: the spacing of the elements of a window.
        groups: the number of groups of channels, each convolved separately.

    Returns:
        a Tensor of the dtype of ``input``, with the channels out and the number of windows along each axis.

    Raises:
        ValueError: the shapes do not match, or an unknown word for ``padding``.
    """
    return _conv("conv3d", input, weight, bias, stride, padding, (dilation, groups))


def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the largest element of each window.

    Args:
        input: images, (N, C, H, W) or (C, H, W).
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the stride; None is ``kernel_size``.
        padding: the padding at both ends of each axis; it is never the largest.
        dilation: the spacing of the elements of a window.
        ceil_mode: whether to include a last window that extends beyond the end.
        return_indices: whether to return the indices in the flattened image too.

    Returns:
        a Tensor; with ``return_indices`` a pair of it and the indices.

    Raises:
        ValueError: the windows do not match the input.
    """
    return ops.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def adaptive_max_pool1d(
    input: Tensor, output_size: Ints, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the largest element of each of ``output_size`` windows that cover the last axis evenly.

    Args:
        input: a Tensor (N, C, L) or (C, L).
        output_size: the number of windows: an int or a tuple of one.
        return_indices: whether to return the indices along the axis too.

    Returns:
        a Tensor with ``output_size`` in place of L; with ``return_indices`` a pair of it and the indices.

    Raises:
        ValueError: ``input`` has the wrong rank.
    """
    if not return_indices:
        return ops.adaptive_max_pool1d(input, output_size)
    length = output_size if isinstance(output_size, int) else output_size[0]
    values, positions = ops.adaptive_max_pool2d(ops.unsqueeze(input, -2), (1, length), True)
    return ops.squeeze(values, -2), ops.squeeze(positions, -2)


def avg_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Return the mean of each window.

    Args:
        input: a floating Tensor (N, C, L) or (C, L).
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the stride; None is ``kernel_size``.
        padding: the number of zeros at both ends of each axis.
        ceil_mode: whether to include a last window that extends beyond the end.
        count_include_pad: whether those zeros count as elements.

    Returns:
        a Tensor of the dtype of ``input``.

    Raises:
        ValueError: the windows do not match the input.
    """
    step = kernel_size if stride is None else stride
    return ops.avg_pool1d(input, kernel_size, step, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window.

    Args:
        input: a floating Tensor (N, C, H, W) or (C, H, W).
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the stride; None is ``kernel_size``.
        padding: the number of zeros at both ends of each axis.
        ceil_mode: whether to include a last window that extends beyond the end.
        count_include_pad: whether those zeros count as elements.
        divisor_override: the divisor of the sums; None or 0 for the number of elements.

    Returns:
        a Tensor of the dtype of ``input``.

    Raises:
        ValueError: the windows do not match the input.
    """
    step = kernel_size if stride is None else stride
    return ops.avg_pool2d(input, kernel_size, step, padding, ceil_mode, count_include_pad, divisor_override or 0)


def avg_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Return the mean of each window.

    Args:
        input: a floating Tensor (N, C, D, H, W) or (C, D, H, W).
        kernel_size: the size of the windows: an int, or one for each axis.
        stride: the stride; None is ``kernel_size``.
        padding: the number of zeros at both ends of each axis.
        ceil_mode: whether to include a last window that extends beyond the end.
        count_include_pad: whether those zeros count as elements.
        divisor_override: the divisor of the sums; None or 0 for the number of elements.

    Returns:
        a Tensor of the dtype of ``input``.

    Raises:
        ValueError: the windows do not match the input.
    """
    step = kernel_size if stride is None else stride
    return ops.avg_pool3d(input, kernel_size, step, padding, ceil_mode, count_include_pad, divisor_override or 0)


# Losses


def smooth_l1_loss(input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """Return the loss d ** 2 / (2 beta) if d = abs(input - target) is below beta, else d - beta / 2 (Girshick 2015).

    Args:
        input: a floating Tensor.
        target: the target values.
        reduction: "none" for the loss of each element, "mean" or "sum" of all of them.
        beta: the difference at which the loss changes from quadratic to linear; 0 is ``l1_loss``.

    Returns:
        a Tensor without axes; with "none" one of the shape of ``input``.

    Raises:
        ValueError: an unknown ``reduction``, or shapes that do not broadcast.
    """
    if beta == 0:
        return ops.l1_loss(input, target, reduction)
    difference = ops.abs(input - target)
    loss = ops.where(difference < beta, 0.5 * difference * difference / beta, difference - 0.5 * beta)
    return _reduced(loss, reduction, "smooth_l1_loss")


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Return the loss -(target * log(input) + (1 - target) * log(1 - input)); logarithms are at least -100, as in
    PyTorch.

    Args:
        input: probabilities.
        target: the target probabilities, from 0 to 1.
        weight: the weight of each element; None is 1.
        reduction: "none" for the loss of each element, "mean" or "sum" of all of them.

    Returns:
        a Tensor without axes; with "none" one of the shape of ``input``.

    Raises:
        ValueError: an unknown ``reduction``, or shapes that do not broadcast.
    """
    _check_tensors("binary_cross_entropy", input=input, target=target, **({} if weight is None else {"weight": weight}))
    floor = Tensor(-100.0, input.dtype)
    loss = -(target * ops.maximum(ops.log(input), floor) + (1 - target) * ops.maximum(ops.log(1 - input), floor))
    return _reduced(loss if weight is None else loss * weight, reduction, "binary_cross_entropy")


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return ``binary_cross_entropy`` of sigmoid(input), computed without overflow.

    Args:
        input: logits.
        target: the target probabilities, from 0 to 1.
        weight: the weight of each element; None is 1.
        reduction: "none" for the loss of each element, "mean" or "sum" of all of them.
        pos_weight: the weight of the term of target 1; None is 1.

    Returns:
        a Tensor without axes; with "none" one of the shape of ``input``.

    Raises:
        ValueError: an unknown ``reduction``, or shapes that do not broadcast.
    """
    _check_tensors("binary_cross_entropy_with_logits", input=input, target=target)
    if pos_weight is not None:
        check_tensor(pos_weight, "binary_cross_entropy_with_logits", "pos_weight")
    positive = 1 if pos_weight is None else 1 + (pos_weight - 1) * target
    loss = (1 - target) * input - positive * ops.logsigmoid(input)
    return _reduced(loss if weight is None else loss * weight, reduction, "binary_cross_entropy_with_logits")


def kl_div(input: Tensor, target: Tensor, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """Return the Kullback-Leibler divergence: target * (log(target) - input).

    Args:
        input: logarithms of probabilities.
        target: the target probabilities.
        reduction: "none" for the loss of each element, "mean" or "sum" of all of them; "batchmean" divides the sum by
            the length of the first axis.
        log_target: whether ``target`` holds logarithms too.

    Returns:
        a Tensor without axes; with "none" one of the shape of ``input``.

    Raises:
        ValueError: an unknown ``reduction``, or shapes that do not broadcast.
    """
    _check_tensors("kl_div", input=input, target=target)
    if log_target:
        loss = ops.exp(target) * (target - input)
    else:
        loss = ops.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return ops.sum(loss) / input.shape[0]
    return _reduced(loss, reduction, "kl_div")


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Return 1 - cos(input1, input2) if the target is 1, max(0, cos - margin) if it is -1.

    Args:
        input1: vectors along the last axis, (N, D) or (D,).
        input2: the same.
        target: 1 for vectors that should point in one direction, -1 for others, (N,) or ().
        margin: the cosine up to which the others have no loss.
        reduction: "none" for the loss of each element, "mean" or "sum" of all of them.

    Returns:
        a Tensor without axes; with "none" one loss for each pair of vectors.

    Raises:
        ValueError: an unknown ``reduction``, or shapes that do not broadcast.
    """
    _check_tensors("cosine_embedding_loss", input1=input1, input2=input2, target=target)
    # as in PyTorch: the squared norm is slightly increased, so that zeros have a cosine
    small = 1e-12
    norms = (ops.sum(input1 * input1, -1) + small) * (ops.sum(input2 * input2, -1) + small)
    cosine = ops.sum(input1 * input2, -1) / ops.sqrt(norms)
    far = ops.relu(cosine - margin)
    return _reduced(ops.where(ops.equal(target, 1), 1 - cosine, far), reduction, "cosine_embedding_loss")
