"""Convolution over one to three axes, and its transpose. Each gradient is an operator, so that higher orders exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.operator import Operator
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from ..cpu import windows
from .arguments import check_tensor, ints_of
from .arithmetic import add
from .shape import reshape

__all__ = ["bias_add", "conv1d", "conv2d", "conv3d", "conv_transpose2d"]

Ints = tuple[int, ...]


def ints_for(value: Any, axes: int, name: str, argument: str, least: int = 1) -> Ints:
    """An int for all axes, or a tuple with one for each (or, as MindSpore takes it, also one for N and C).

    Raises:
        TypeError: anything else.
        ValueError: a number below ``least``.
    """
    given = (value,) * axes if isinstance(value, int) and not isinstance(value, bool) else value
    if (
        not isinstance(given, tuple | list)
        or len(given) not in (1, axes, axes + 2)
        or not all(isinstance(n, int) and not isinstance(n, bool) for n in given)
    ):
        words = {1: "one int", 2: "two ints", 3: "three ints"}[axes]
        raise TypeError(f"For '{name}', '{argument}' must be an int or a tuple of {words}, but got {value!r}")
    found = tuple(given) * axes if len(given) == 1 else tuple(given[-axes:])
    if min(found) < least:
        raise ValueError(f"For '{name}', '{argument}' must be at least {least}, but got {value!r}")
    return found


def last_axes(value: Any, axes: int) -> Any:
    """Settings of all axes of a tensor, (1, 1, a, b): those of its windows; anything else as it is."""
    return value[-axes:] if isinstance(value, tuple | list) and len(value) > axes else value


def pads_for(pad_mode: Any, padding: Any, lengths: Ints, kernel: Ints, stride: Ints, dilation: Ints, name: str) -> Ints:
    """How many elements are added (before, after) each axis in turn.

    "same": so many that ceil(length / stride) windows fit, the odd one at the end; "valid": none; "pad": ``padding``,
    an int for all sides, or one for each axis, or one for each side.

    Raises:
        ValueError: another mode, or padding beside "same" or "valid".
    """
    if not isinstance(pad_mode, str) or pad_mode.lower() not in ("same", "valid", "pad"):
        raise ValueError(f"For '{name}', 'pad_mode' must be 'same', 'valid' or 'pad', but got {pad_mode!r}")
    mode, axes = pad_mode.lower(), len(kernel)
    if mode == "pad":
        given = (padding,) * 2 * axes if isinstance(padding, int) else tuple(padding)
        if len(given) == 1:
            given *= 2 * axes
        if len(given) == axes:
            given = tuple(n for one in given for n in (one, one))
        if len(given) != 2 * axes or not all(isinstance(n, int) for n in given) or min(given) < 0:
            raise ValueError(
                f"For '{name}', 'padding' must be an int or {2 * axes} ints that are not negative, got {padding!r}"
            )
        return given
    if not (padding == 0 if isinstance(padding, int) else not any(padding)):
        raise ValueError(f"For '{name}', 'padding' must be 0 with pad_mode '{mode}', but got {padding!r}")
    if mode == "valid":
        return (0,) * (2 * axes)
    found: list[int] = []
    for length, k, s, d in zip(lengths, kernel, stride, dilation, strict=True):
        total = max(0, (-(-length // s) - 1) * s + d * (k - 1) + 1 - length)
        found += [total // 2, total - total // 2]
    return tuple(found)


def check_format(data_format: str, wanted: str, name: str) -> None:
    """Raise ValueError where a class is told to take its axes in another order than ``wanted``."""
    if data_format != wanted:
        raise ValueError(f"For '{name}', 'data_format' must be '{wanted}', but got {data_format!r}")


def check_windows(x: Tensor, kernel: Ints, stride: Ints, dilation: Ints, pads: Ints, name: str) -> None:
    """Raise ValueError where not even one window fits."""
    for place, (k, s, d) in enumerate(zip(kernel, stride, dilation, strict=True)):
        if windows.output_length(x.shape[place + 2], k, s, d, pads[2 * place] + pads[2 * place + 1]) < 1:
            raise ValueError(f"For '{name}', a window of {kernel} does not fit into an input of shape {x.shape}")


def _entry(axes: int) -> tuple[Operator, Operator]:
    """The operator over ``axes`` axes and its two gradients, which are each other's and the forward's transposes."""
    forward, of_input, of_weight = (f"conv{axes}d{what}" for what in ("", "_input_grad", "_weight_grad"))

    def input_rule(F: Any, g: Any, out: Any, x: Any, weight: Any, **how: Any) -> Any:
        return getattr(F, of_input)(g, weight, shape=tuple(x.shape), **how)

    def weight_rule(F: Any, g: Any, out: Any, x: Any, weight: Any, **how: Any) -> Any:
        return getattr(F, of_weight)(g, x, kernel=tuple(weight.shape[2:]), **how)

    def back_to_g(F: Any, gg: Any, out: Any, g: Any, weight: Any, shape: Any, **how: Any) -> Any:
        return getattr(F, forward)(gg, weight, **how)

    def back_to_weight(F: Any, gg: Any, out: Any, g: Any, weight: Any, shape: Any, **how: Any) -> Any:
        return getattr(F, of_weight)(g, gg, kernel=tuple(weight.shape[2:]), **how)

    def weights_to_g(F: Any, gg: Any, out: Any, g: Any, x: Any, kernel: Any, **how: Any) -> Any:
        return getattr(F, forward)(x, gg, **how)

    def weights_to_x(F: Any, gg: Any, out: Any, g: Any, x: Any, kernel: Any, **how: Any) -> Any:
        return getattr(F, of_input)(g, gg, shape=tuple(x.shape), **how)

    operator = Operator(forward, windows.conv, (input_rule, weight_rule))
    transpose = Operator(of_input, windows.conv_input_grad, (back_to_g, back_to_weight))
    Operator(of_weight, windows.conv_weight_grad, (weights_to_g, weights_to_x))
    return operator, transpose


_CONVOLUTIONS = {axes: _entry(axes) for axes in (2, 3)}


def convolve(
    axes: int,
    name: str,
    x: Any,
    weight: Tensor,
    bias: Tensor | None,
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    """Cross-correlation over ``axes`` axes, arguments as the users of ``name`` give them."""
    x = check_tensor(x, name)
    if x.ndim != axes + 2 or weight.ndim != axes + 2:
        raise ValueError(
            f"For '{name}', 'input' and 'weight' must have {axes + 2} axes, but got shapes {x.shape} and {weight.shape}"
        )
    if x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups:
        raise RuntimeError(
            f"For '{name}', 'input' has {x.shape[1]} channels, but 'weight' of shape {weight.shape} with groups "
            f"{groups} takes {weight.shape[1] * groups}"
        )
    strides, dilations = ints_for(stride, axes, name, "stride"), ints_for(dilation, axes, name, "dilation")
    kernel = tuple(weight.shape[2:])
    pads = pads_for(pad_mode, padding, tuple(x.shape[2:]), kernel, strides, dilations, name)
    check_windows(x, kernel, strides, dilations, pads, name)
    found: Tensor = _CONVOLUTIONS[axes][0](x, weight, stride=strides, pads=pads, dilation=dilations, group=groups)
    return found if bias is None else bias_add(found, bias)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (N, C, L) with kernels (K, C/groups, KL): (N, K, OL)."""
    if check_tensor(input, "conv1d").ndim != 3 or weight.ndim != 3:
        raise ValueError(
            f"For 'conv1d', 'input' and 'weight' must have 3 axes, but got shapes {input.shape} and {weight.shape}"
        )
    sides = (0, 0, padding, padding) if isinstance(padding, int) else (0, 0, *(tuple(padding) * 2)[:2])
    (step,), (apart,) = ints_for(stride, 1, "conv1d", "stride"), ints_for(dilation, 1, "conv1d", "dilation")
    found = conv2d(
        reshape(input, (input.shape[0], input.shape[1], 1, input.shape[2])),
        reshape(weight, (weight.shape[0], weight.shape[1], 1, weight.shape[2])),
        bias, (1, step), pad_mode, sides, (1, apart), groups,
    )  # fmt: skip
    return reshape(found, (found.shape[0], found.shape[1], found.shape[3]))


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
    return convolve(2, "Conv2D", input, weight, bias, stride, pad_mode, padding, dilation, groups)


@declare(
    primitive=prim(
        "Conv2D", "out_channel", "kernel_size", mode=1, pad_mode="valid", pad=0, stride=1, dilation=1, group=1,
        data_format="NCHW",
    )
)  # fmt: skip
def _conv2d_class(
    x: Tensor, weight: Tensor, *, pad_mode: str, pad: Any, stride: Any, dilation: Any, group: int, data_format: str,
    **_: Any,
) -> Tensor:  # fmt: skip
    """``conv2d`` without a bias; the kernels are those of ``weight``."""
    check_format(data_format, "NCHW", "Conv2D")
    return conv2d(x, weight, None, stride, pad_mode, pad, dilation, group)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of (N, C, D, H, W) with kernels (K, C/groups, KD, KH, KW)."""
    return convolve(3, "Conv3D", input, weight, bias, stride, pad_mode, padding, dilation, groups)


_VOLUME = {"mode": 1, "pad_mode": "valid", "pad": 0, "stride": 1, "dilation": 1, "group": 1}


@declare(primitive=prim("Conv3D", "out_channel", "kernel_size", **_VOLUME, data_format="NCDHW"))
def _conv3d(x: Tensor, weight: Tensor, bias: Tensor | None = None, **how: Any) -> Tensor:
    """Cross-correlation of (N, C, D, H, W) with kernels (K, C/groups, KD, KH, KW)."""
    check_format(how["data_format"], "NCDHW", "Conv3D")
    return conv3d(x, weight, bias, how["stride"], how["pad_mode"], how["pad"], how["dilation"], how["group"])


def convolve_transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    pads: Ints,
    output_padding: Ints,
    dilation: Ints,
    groups: int,
    name: str,
) -> Tensor:
    """The transpose of a convolution with kernels (C, K/groups, *kernel), which takes (N, C, ...) to (N, K, ...)."""
    axes = len(stride)
    if check_tensor(x, name).ndim != axes + 2 or weight.ndim != axes + 2:
        raise ValueError(
            f"For '{name}', 'input' and 'weight' must have {axes + 2} axes, but got shapes {x.shape} and {weight.shape}"
        )
    if x.shape[1] != weight.shape[0]:
        raise ValueError(f"For '{name}', 'input' must have {weight.shape[0]} channels, but got shape {x.shape}")
    lengths = tuple(
        (n - 1) * s + d * (k - 1) + 1 - before - after + more
        for n, s, d, k, before, after, more in zip(
            x.shape[2:], stride, dilation, weight.shape[2:], pads[::2], pads[1::2], output_padding, strict=True
        )
    )
    if min(lengths) < 1:
        raise ValueError(f"For '{name}', the output of an input of shape {x.shape} would have the lengths {lengths}")
    shape = (x.shape[0], weight.shape[1] * groups, *lengths)
    found: Tensor = _CONVOLUTIONS[axes][1](
        x, weight, shape=shape, stride=stride, pads=pads, dilation=dilation, group=groups
    )
    return found if bias is None else bias_add(found, bias)


@declare(mint="nn.functional.conv_transpose2d")
def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """The transpose of ``conv2d`` with kernels (C, K/groups, KH, KW)."""
    name = "conv_transpose2d"
    strides, dilations = ints_for(stride, 2, name, "stride"), ints_for(dilation, 2, name, "dilation")
    pads = pads_for("pad", padding, (1, 1), (1, 1), strides, dilations, name)
    more = ints_for(output_padding, 2, name, "output_padding", 0)
    return convolve_transposed(input, weight, bias, strides, pads, more, dilations, groups, name)


def _by_size_or_bias(axes: int, name: str) -> Callable[..., Tensor]:
    def convolved(x: Tensor, weight: Tensor, last: Any = None, **how: Any) -> Tensor:
        """The transpose of a convolution: ``last`` is the size of its input, or for three axes the bias."""
        check_format(how["data_format"], "NCHW" if axes == 2 else "NCDHW", name)
        size = ints_of(last, name, "input_size")[-axes:] if axes == 2 and last is not None else None
        kernel = tuple(weight.shape[2:])
        strides = ints_for(last_axes(how["stride"], axes), axes, name, "stride")
        dilations = ints_for(last_axes(how["dilation"], axes), axes, name, "dilation")
        windows = zip(x.shape[2:], strides, dilations, kernel, strict=True)
        spans = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in windows]
        pads = [0] * (2 * axes)
        more = list(ints_for(last_axes(how.get("output_padding", 0), axes), axes, name, "output_padding", 0))
        if how["pad_mode"].lower() == "pad":
            pads = list(pads_for("pad", how["pad"], (1,) * axes, kernel, (1,) * axes, (1,) * axes, name))
        elif how["pad_mode"].lower() == "same":
            wanted = size or [n * s for n, s in zip(x.shape[2:], strides, strict=True)]
            for i, (span, length) in enumerate(zip(spans, wanted, strict=True)):
                cut = max(0, span - length)
                pads[2 * i : 2 * i + 2] = [cut // 2, cut - cut // 2]
        if size is not None:
            more = [n - (s - pads[2 * i] - pads[2 * i + 1]) for i, (n, s) in enumerate(zip(size, spans, strict=True))]
        bias = last if axes == 3 else None
        return convolve_transposed(x, weight, bias, strides, tuple(pads), tuple(more), dilations, how["group"], name)

    return convolved


for _name in ("Conv2DBackpropInput", "Conv2DTranspose"):
    declare(
        primitive=prim(
            _name, "out_channel", "kernel_size", pad_mode="valid", pad=0, pad_list=None, mode=1, stride=1, dilation=1,
            group=1, data_format="NCHW",
        )
    )(_by_size_or_bias(2, _name))  # fmt: skip
declare(
    primitive=prim(
        "Conv3DTranspose", "in_channel", "out_channel", "kernel_size", **_VOLUME, output_padding=0, data_format="NCDHW"
    )
)(_by_size_or_bias(3, "Conv3DTranspose"))


def bias_add(input_x: Tensor, bias: Tensor) -> Tensor:
    """A bias added to each channel (axis 1)."""
    if bias.ndim != 1 or input_x.ndim < 2 or input_x.shape[1] != bias.shape[0]:
        raise ValueError(
            f"For 'BiasAdd', 'bias' must have one number for each of the {input_x.shape[1:2]} channels of 'input_x', "
            f"but got shape {bias.shape}"
        )
    return add(input_x, reshape(bias, (1, -1) + (1,) * (input_x.ndim - 2)))


@declare(primitive=prim("BiasAdd", data_format="NCHW"))
def _bias_add_class(input_x: Tensor, bias: Tensor, data_format: str) -> Tensor:
    """``bias_add``; the channels are axis 1 of "NCHW" as of "NCDHW"."""
    check_format("NCHW" if data_format == "NCDHW" else data_format, "NCHW", "BiasAdd")
    return bias_add(input_x, bias)
