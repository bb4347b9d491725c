"""Convolution and pooling, forward and back. Each gradient is an operator of its own, so that higher orders exist."""

from __future__ import annotations

from typing import Any

from ..cpu import windows
from ..cpu.array_module import array_module
from ..cpu.masking import kept
from ..operator import Operator
from ..tensor import Tensor
from .arithmetic import add
from .shape import _check, reshape

__all__ = ["adaptive_avg_pool2d", "avg_pool2d", "bias_add", "conv2d", "max_pool2d"]

Pads = tuple[int, int, int, int]
Pair = tuple[int, int]


def pair_of(value: Any, name: str, argument: str, least: int = 1) -> Pair:
    """An int for both axes, or a tuple of two.

    Raises:
        TypeError: anything else.
        ValueError: a number below ``least``.
    """
    given = (value, value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(given, tuple | list) or len(given) not in (2, 4) or not all(isinstance(n, int) for n in given):
        raise TypeError(f"For '{name}', '{argument}' must be an int or a tuple of two ints, but got {value!r}")
    pair = (given[-2], given[-1])
    if min(pair) < least:
        raise ValueError(f"For '{name}', '{argument}' must be at least {least}, but got {value!r}")
    return pair


def pads_of(pad_mode: str, padding: Any, lengths: Pair, kernel: Pair, stride: Pair, dilation: Pair, name: str) -> Pads:
    """How many elements are added at (top, bottom, left, right).

    "same": so many that ceil(length / stride) windows fit, the odd one at the end; "valid": none; "pad": ``padding``.

    Raises:
        ValueError: another mode, or padding beside "same" or "valid".
    """
    if not isinstance(pad_mode, str) or pad_mode.lower() not in ("same", "valid", "pad"):
        raise ValueError(f"For '{name}', 'pad_mode' must be 'same', 'valid' or 'pad', but got {pad_mode!r}")
    mode = pad_mode.lower()
    if mode == "pad":
        given = (padding,) * 4 if isinstance(padding, int) else tuple(padding)
        if len(given) == 2:
            given = (given[0], given[0], given[1], given[1])
        if len(given) != 4 or min(given) < 0:
            raise ValueError(f"For '{name}', 'padding' must be an int or 4 ints that are not negative, got {padding!r}")
        return given
    if padding not in (0, (0, 0, 0, 0), (0, 0)):
        raise ValueError(f"For '{name}', 'padding' must be 0 with pad_mode '{mode}', but got {padding!r}")
    if mode == "valid":
        return (0, 0, 0, 0)
    found = []
    for length, k, s, d in zip(lengths, kernel, stride, dilation, strict=True):
        total = max(0, (-(-length // s) - 1) * s + d * (k - 1) + 1 - length)
        found += [total // 2, total - total // 2]
    return (found[0], found[1], found[2], found[3])


def _conv_input_rule(F: Any, g: Any, out: Any, x: Any, weight: Any, **how: Any) -> Any:
    return F.conv2d_input_grad(g, weight, shape=tuple(x.shape), **how)


def _conv_weight_rule(F: Any, g: Any, out: Any, x: Any, weight: Any, **how: Any) -> Any:
    return F.conv2d_weight_grad(g, x, kernel=tuple(weight.shape[2:]), **how)


_conv2d = Operator("conv2d", windows.conv2d, (_conv_input_rule, _conv_weight_rule))
_conv2d_input_grad = Operator(
    "conv2d_input_grad",
    windows.conv2d_input_grad,
    (
        lambda F, gg, out, g, weight, shape, **how: F.conv2d(gg, weight, **how),
        lambda F, gg, out, g, weight, shape, **how: F.conv2d_weight_grad(g, gg, kernel=tuple(weight.shape[2:]), **how),
    ),
)
_conv2d_weight_grad = Operator(
    "conv2d_weight_grad",
    windows.conv2d_weight_grad,
    (
        lambda F, gg, out, g, x, kernel, **how: F.conv2d(x, gg, **how),
        lambda F, gg, out, g, x, kernel, **how: F.conv2d_input_grad(g, gg, shape=tuple(x.shape), **how),
    ),
)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (N, C, H, W) with kernels (K, C/groups, KH, KW): (N, K, OH, OW).

    Raises:
        TypeError, ValueError: an argument of the wrong kind; the text names it.
        RuntimeError: the channels of ``input`` and ``weight`` do not fit.
    """
    x = _check(input, "conv2d")
    if x.ndim != 4 or weight.ndim != 4:
        raise ValueError(
            f"For 'Conv2D', 'input' and 'weight' must have 4 axes, but got shapes {x.shape} and {weight.shape}"
        )
    if x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise RuntimeError(
            f"For 'Conv2D', 'input' has {x.shape[1]} channels, but 'weight' of shape {weight.shape} with groups "
            f"{groups} "
            f"takes {weight.shape[1] * groups}"
        )
    strides, dilations = pair_of(stride, "Conv2D", "stride"), pair_of(dilation, "Conv2D", "dilation")
    kernel = (weight.shape[2], weight.shape[3])
    pads = pads_of(pad_mode, padding, (x.shape[2], x.shape[3]), kernel, strides, dilations, "Conv2D")
    _check_windows(x, kernel, strides, dilations, pads, "Conv2D")
    found: Tensor = _conv2d(x, weight, stride=strides, pads=pads, dilation=dilations, group=groups)
    return found if bias is None else bias_add(found, bias)


def _check_windows(x: Tensor, kernel: Pair, stride: Pair, dilation: Pair, pads: Pads, name: str) -> None:
    sides = ((x.shape[2], pads[0] + pads[1]), (x.shape[3], pads[2] + pads[3]))
    for (length, padded), k, s, d in zip(sides, kernel, stride, dilation, strict=True):
        if windows.output_length(length, k, s, d, padded) < 1:
            raise ValueError(f"For '{name}', a window of {kernel} does not fit into an input of shape {x.shape}")


def bias_add(input_x: Tensor, bias: Tensor) -> Tensor:
    """A bias added to each channel (axis 1)."""
    if bias.ndim != 1 or input_x.ndim < 2 or input_x.shape[1] != bias.shape[0]:
        raise ValueError(
            f"For 'BiasAdd', 'bias' must have one number for each of the {input_x.shape[1:2]} channels of 'input_x', "
            f"but got shape {bias.shape}"
        )
    return add(input_x, reshape(bias, (1, -1) + (1,) * (input_x.ndim - 2)))  # type: ignore[no-any-return]


def _max_pool_rule(F: Any, needs: list[bool], g: Any, out: Any, x: Any, **how: Any) -> list[Any]:
    arrived = g[0] if isinstance(g, tuple) else g
    return [F.max_pool2d_grad(arrived, out[1], shape=tuple(x.shape), **how)]


_max_pool2d = Operator("max_pool2d", windows.max_pool2d, joint_vjp=_max_pool_rule)


def _max_pool_grad_rule(F: Any, gg: Any, out: Any, g: Any, places: Any, shape: Any, **how: Any) -> Any:
    return F.max_pool2d_pick(gg, places, **how)


def _max_pool_pick_kernel(x: Any, places: Any, kernel: Pair, stride: Pair, pads: Pads, dilation: Pair) -> Any:
    """The elements that ``places`` names in the windows of x."""
    view = windows._windows(windows._padded(x, pads), kernel, stride, dilation)
    picked = array_module(x).zeros(places.shape, x.dtype)
    for place in range(kernel[0] * kernel[1]):
        picked += kept(view[:, :, place // kernel[1], place % kernel[1]], places == place)
    return picked


_max_pool2d_grad = Operator("max_pool2d_grad", windows.max_pool2d_grad, (_max_pool_grad_rule, None))
_max_pool2d_pick = Operator(
    "max_pool2d_pick",
    _max_pool_pick_kernel,
    (lambda F, g, out, x, places, **how: F.max_pool2d_grad(g, places, shape=tuple(x.shape), **how), None),
)
_avg_pool2d = Operator(
    "avg_pool2d",
    windows.avg_pool2d,
    (lambda F, g, out, x, **how: F.avg_pool2d_grad(g, shape=tuple(x.shape), **how),),
)
_avg_pool2d_grad = Operator(
    "avg_pool2d_grad", windows.avg_pool2d_grad, (lambda F, gg, out, g, shape, **how: F.avg_pool2d(gg, **how),)
)


def max_pool2d(
    x: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    pad_mode: str = "pad",
) -> Tensor:
    """The largest element of each window."""
    _check_4d(x, "MaxPool2d")
    kernel = pair_of(kernel_size, "MaxPool2d", "kernel_size")
    strides = kernel if stride is None else pair_of(stride, "MaxPool2d", "stride")
    dilations = pair_of(dilation, "MaxPool2d", "dilation")
    pads = pads_of(pad_mode, padding, (x.shape[2], x.shape[3]), kernel, strides, dilations, "MaxPool2d")
    _check_windows(x, kernel, strides, dilations, pads, "MaxPool2d")
    return _max_pool2d(x, kernel=kernel, stride=strides, pads=pads, dilation=dilations)[0]  # type: ignore[no-any-return]


def avg_pool2d(
    input_x: Tensor, kernel_size: Any = 1, stride: Any = 1, padding: Any = 0, pad_mode: str = "pad"
) -> Tensor:
    """The mean of each window, padding counted in."""
    _check_4d(input_x, "AvgPool2d")
    kernel = pair_of(kernel_size, "AvgPool2d", "kernel_size")
    strides = pair_of(stride, "AvgPool2d", "stride")
    lengths = (input_x.shape[2], input_x.shape[3])
    pads = pads_of(pad_mode, padding, lengths, kernel, strides, (1, 1), "AvgPool2d")
    _check_windows(input_x, kernel, strides, (1, 1), pads, "AvgPool2d")
    return _avg_pool2d(input_x, kernel=kernel, stride=strides, pads=pads)  # type: ignore[no-any-return]


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows chosen so that the output has ``output_size``, which must divide the input's size.

    Raises:
        ValueError: it does not.
    """
    _check_4d(input, "AdaptiveAvgPool2d")
    size = pair_of(output_size, "AdaptiveAvgPool2d", "output_size")
    height, width = input.shape[2], input.shape[3]
    if height % size[0] or width % size[1]:
        raise ValueError(
            f"For 'AdaptiveAvgPool2d', 'output_size' {size} must divide the input's height and width {height, width}"
        )
    window = (height // size[0], width // size[1])
    return avg_pool2d(input, window, window)


def _check_4d(x: Tensor, name: str) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{name}', the input must be a Tensor, but got {type(x).__name__}")
    if x.ndim != 4:
        raise ValueError(f"For '{name}', the input must have 4 axes (N, C, H, W), but got shape {x.shape}")
