"""Dense and related layers, Flatten, Identity: layers without windows, statistics or randomness."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ...base.argument_checks import check_bool, check_int, check_positive_int, check_type
from ...base.types import Ints
from ...ops import BiasAdd, MatMul, Primitive, Reshape, Shape, flatten, matmul, reduce_sum, reshape
from ...ops.arguments import axes_of
from ...ops.linalg.matmul import dense_of_layer
from ...tensors.dtype import DType, float32
from ...tensors.initializer import HeUniform, InitLike, Uniform, initializer
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ..cell import Cell
from .activation import LeakyReLU, get_activation
from .conv import Conv2d
from .normalization import BatchNorm1d, BatchNorm2d

__all__ = ["BiDense", "Conv2dBnAct", "Dense", "DenseBnAct", "Flatten", "Identity", "Linear", "Unflatten"]


class Dense(Cell):
    """activation(x @ weight.T + bias).

    Args:
        in_channels: length of the last axis of the input, an int above 0.
        out_channels: length of the last axis of the output, an int above 0.
        weight_init: initial values of the weight (out_channels, in_channels): an initializer, its name, a number or a
            Tensor. None is uniform with bound 1 / sqrt(in_channels).
        bias_init: initial values of the bias (out_channels,), likewise; None is the same distribution.
        has_bias: whether there is a bias.
        activation: a cell or a function applied to the result, the name of an activation layer, or None.
        dtype: element type of the parameters.

    Raises:
        TypeError: a length is not an int, ``has_bias`` is not a bool, or an initial value or ``activation`` is none of
            the above.
        ValueError: a length is not above 0, a Tensor has the wrong shape, or an initializer's name is unknown.
        KeyError: the name of the activation is unknown.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: InitLike | None = None,
        bias_init: InitLike | None = None,
        has_bias: bool = True,
        activation: Cell | Callable[..., Any] | str | None = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.in_channels = check_positive_int(in_channels, "Dense", "in_channels")
        self.out_channels = check_positive_int(out_channels, "Dense", "out_channels")
        self.has_bias = check_bool(has_bias, "Dense", "has_bias")
        shape = (out_channels, in_channels)
        if isinstance(weight_init, Tensor) and weight_init.shape != shape:
            raise ValueError(f"For 'Dense', 'weight_init' must have the shape {shape}, but got {weight_init.shape}")
        self.weight = Parameter(
            initializer(HeUniform(math.sqrt(5)) if weight_init is None else weight_init, shape, dtype), "weight"
        )
        self.bias: Parameter | None = None
        if has_bias:
            if isinstance(bias_init, Tensor) and bias_init.shape != (out_channels,):
                raise ValueError(
                    f"For 'Dense', 'bias_init' must have the shape {(out_channels,)}, but got {bias_init.shape}"
                )
            init = Uniform(1 / math.sqrt(in_channels)) if bias_init is None else bias_init
            self.bias = Parameter(initializer(init, (out_channels,), dtype), "bias")
        self.activation = get_activation(activation)
        self.activation_flag = self.activation is not None

    @cached_property
    def matmul(self) -> Primitive:
        """Operator x @ weight.T, for a subclass with its own ``construct``: takes ``x`` (two axes) and the weight."""
        return MatMul(transpose_b=True)

    @cached_property
    def reshape(self) -> Primitive:
        """Operator that reshapes a tensor, for such a subclass."""
        return Reshape()

    @cached_property
    def shape_op(self) -> Primitive:
        """Operator for the shape of a tensor, likewise."""
        return Shape()

    @cached_property
    def bias_add(self) -> Primitive:
        """Operator x + bias, for such a subclass: takes ``x`` with two axes, and the bias."""
        return BiasAdd()

    def construct(self, x: Tensor) -> Tensor:
        """Return the layer's output.

        Args:
            x: a floating Tensor (..., in_channels).

        Returns:
            A Tensor (..., out_channels).

        Raises:
            ValueError: the last axis of ``x`` has the wrong length.
        """
        y = dense_of_layer(x, self.weight, self.bias)
        return y if self.activation is None else self.activation(y)

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}"
        if self.has_bias:
            text += ", has_bias=True"
        return text + (f", activation={self.activation}" if self.activation is not None else "")


class Flatten(Cell):
    """The axes from ``start_dim`` to ``end_dim`` joined; the defaults keep the batch axis.

    Takes ``x``. The call raises ValueError for an axis that does not exist, such as 1 of a vector, or if ``start_dim``
    comes after ``end_dim``.

    Args:
        start_dim: the first joined axis.
        end_dim: the last joined axis; -1 is the last of the input.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Tensor) -> Tensor:
        ndim = check_type(x, Tensor, "Flatten", "x").ndim
        for axis in (self.start_dim, self.end_dim):
            axes_of(axis, ndim, "Flatten")  # unlike the function, which accepts an axis 1 that does not exist
        return flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


class Identity(Cell):
    """The identity: returns ``x``, of any type.

    Args:
        *args: accepted, so that it can replace another layer; without effect.
        **kwargs: likewise.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, x: Any) -> Tensor:
        return x


class Linear(Dense):
    """``Dense`` with PyTorch's arguments, without an activation.

    Args:
        in_features: length of the last axis of the input, an int above 0.
        out_features: length of the last axis of the output, an int above 0.
        bias: whether there is a bias.
        weight_init: initial values of the weight (out_features, in_features): an initializer, its name, a number or a
            Tensor. None is uniform with bound 1 / sqrt(in_features).
        bias_init: initial values of the bias (out_features,), likewise; None is the same distribution.
        dtype: element type of the parameters; None is float32.

    Raises:
        TypeError: a length is not an int, ``bias`` is not a bool, or an initial value is none of the above.
        ValueError: a length is not above 0, a Tensor has the wrong shape, or an initializer's name is unknown.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        weight_init: InitLike | None = None,
        bias_init: InitLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(in_features, out_features, weight_init, bias_init, bias, None, dtype or float32)

    def extend_repr(self) -> str:
        text = f"input_features={self.in_channels}, output_features={self.out_channels}"
        return text + (", has_bias=True" if self.has_bias else "")


class BiDense(Cell):
    """y[k] = x1 @ weight[k] @ x2 + bias[k]: the bilinear layer.

    Takes ``input1`` (..., in1_channels) and ``input2`` (..., in2_channels) and returns (..., out_channels).

    Args:
        in1_channels: length of the last axis of the first input, an int above 0.
        in2_channels: length of the last axis of the second input, an int above 0.
        out_channels: length of the last axis of the output, an int above 0.
        weight_init: initial values of the weight (out_channels, in1_channels, in2_channels): an initializer, its name,
            a number or a Tensor. None is uniform with bound 1 / sqrt(in1_channels).
        bias_init: initial values of the bias (out_channels,), likewise; None is the same distribution.
        has_bias: whether there is a bias.
        dtype: element type of the parameters.

    Raises:
        TypeError: a length is not an int, ``has_bias`` is not a bool, or an initial value is none of the above.
        ValueError: a length is not above 0, a Tensor has the wrong shape, or an initializer's name is unknown.
    """

    def __init__(
        self,
        in1_channels: int,
        in2_channels: int,
        out_channels: int,
        weight_init: InitLike | None = None,
        bias_init: InitLike | None = None,
        has_bias: bool = True,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.in1_channels = check_positive_int(in1_channels, "BiDense", "in1_channels")
        self.in2_channels = check_positive_int(in2_channels, "BiDense", "in2_channels")
        self.out_channels = check_positive_int(out_channels, "BiDense", "out_channels")
        self.has_bias = check_bool(has_bias, "BiDense", "has_bias")
        bound = Uniform(1 / math.sqrt(in1_channels))
        shape = (out_channels, in1_channels, in2_channels)
        self.weight = Parameter(initializer(bound if weight_init is None else weight_init, shape, dtype), "weight")
        self.bias: Parameter | None = None
        if has_bias:
            first = initializer(bound if bias_init is None else bias_init, (out_channels,), dtype)
            self.bias = Parameter(first, "bias")

    def construct(self, input1: Tensor, input2: Tensor) -> Tensor:
        for argument, value, channels in (("input1", input1, self.in1_channels), ("input2", input2, self.in2_channels)):
            if not check_type(value, Tensor, "BiDense", argument).ndim or value.shape[-1] != channels:
                raise ValueError(
                    f"For 'BiDense', the last axis of '{argument}' must have the length {channels}, "
                    f"but got shape {value.shape}"
                )
        # (..., 1, i) @ (k, i, j) -> (..., k, 1, j); times (..., 1, 1, j), summed over j.
        partial = matmul(reshape(input1, (*input1.shape[:-1], 1, 1, input1.shape[-1])), self.weight)
        product = partial * reshape(input2, (*input2.shape[:-1], 1, 1, input2.shape[-1]))
        y = reshape(reduce_sum(product, -1), (*input1.shape[:-1], self.out_channels))
        return y if self.bias is None else y + self.bias

    def extend_repr(self) -> str:
        lengths = f"in1_channels={self.in1_channels}, in2_channels={self.in2_channels}"
        return f"{lengths}, output_channels={self.out_channels}" + (", has_bias=True" if self.has_bias else "")


class Unflatten(Cell):
    """An axis split into several.

    Takes ``input_x`` and returns a Tensor in which the axis is replaced by axes of the lengths
    ``unflattened_size``. The call raises ValueError for an axis that does not exist, or another product.

    Args:
        axis: the axis to split.
        unflattened_size: the new lengths, a tuple or list; their product must be that of the axis, one may be -1.

    Raises:
        TypeError: ``axis`` is not an int, or ``unflattened_size`` is not a tuple or list.
    """

    def __init__(self, axis: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        check_int(axis, "Unflatten", "axis")
        check_type(unflattened_size, tuple | list, "Unflatten", "unflattened_size", "a tuple")
        self.axis, self.unflattened_size = axis, tuple(unflattened_size)

    def construct(self, input_x: Tensor) -> Tensor:
        check_type(input_x, Tensor, "Unflatten", "input_x")
        if not -input_x.ndim <= self.axis < input_x.ndim:
            raise ValueError(
                f"For 'Unflatten', 'axis' must be in [{-input_x.ndim}, {input_x.ndim}), but got {self.axis}"
            )
        axis_index = self.axis % input_x.ndim
        return reshape(input_x, (*input_x.shape[:axis_index], *self.unflattened_size, *input_x.shape[axis_index + 1 :]))


class Conv2dBnAct(Cell):
    """A ``Conv2d``, then a ``BatchNorm2d`` if ``has_bn``, then an activation.

    Takes ``x`` (N, in_channels, H, W) and returns (N, out_channels, OH, OW).

    Args:
        in_channels: channels of the input, an int above 0.
        out_channels: channels of the output, an int above 0.
        kernel_size: the window's height and width, an int or two.
        stride: the step between windows, an int or two.
        pad_mode: "same", "valid" or "pad"; see ``Conv2d``.
        padding: elements added to the sides with "pad"; see ``Conv2d``.
        dilation: the distance between the elements of a window, an int or two.
        group: number of groups of channels.
        has_bias: whether the convolution has a bias.
        weight_init: initial values of the convolution's weight: an initializer, its name, a number or a Tensor.
        bias_init: first values of its bias, likewise.
        has_bn: whether there is a batch normalization.
        momentum: its momentum, in [0, 1].
        eps: the number added to the variance.
        activation: a cell or a function, the name of an activation layer, or None.
        alpha: the slope below 0 of the activation "leakyrelu"; without effect otherwise.
        after_fake: stored, unused; for quantized training.

    Raises:
        TypeError: an argument of the wrong type; the text names it.
        ValueError: an argument out of range; the text names it.
        KeyError: the name of the activation is unknown.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: str = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: InitLike | None = "normal",
        bias_init: InitLike | None = "zeros",
        has_bn: bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: Cell | Callable[..., Any] | str | None = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        window = (kernel_size, stride, pad_mode, padding, dilation, group)
        self.conv = Conv2d(in_channels, out_channels, *window, has_bias, weight_init, bias_init)
        self.has_bn = check_bool(has_bn, "Conv2dBnAct", "has_bn")
        if has_bn:
            self.batchnorm = BatchNorm2d(out_channels, eps, momentum)
        self.has_act, self.after_fake = activation is not None, after_fake
        self.activation = LeakyReLU(alpha) if activation == "leakyrelu" else get_activation(activation)

    def construct(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act else x


class DenseBnAct(Cell):
    """A ``Dense``, then a ``BatchNorm1d`` if ``has_bn``, then an activation.

    Takes ``x`` (N, in_channels) and returns (N, out_channels).

    Args:
        in_channels: length of the last axis of the input, an int above 0.
        out_channels: length of the last axis of the output, an int above 0.
        weight_init: initial values of the weight: an initializer, its name, a number or a Tensor.
        bias_init: initial values of the bias, likewise.
        has_bias: whether there is a bias.
        has_bn: whether there is a batch normalization.
        momentum: its momentum, in [0, 1].
        eps: the number added to the variance.
        activation: a cell or a function, the name of an activation layer, or None.
        alpha: the slope below 0 of the activation "leakyrelu"; without effect otherwise.
        after_fake: stored, unused; for quantized training.

    Raises:
        TypeError: an argument of the wrong type; the text names it.
        ValueError: an argument out of range; the text names it.
        KeyError: the name of the activation is unknown.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: InitLike | None = "normal",
        bias_init: InitLike | None = "zeros",
        has_bias: bool = True,
        has_bn: bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: Cell | Callable[..., Any] | str | None = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        self.has_bn = check_bool(has_bn, "DenseBnAct", "has_bn")
        if has_bn:
            self.batchnorm = BatchNorm1d(out_channels, eps, momentum)
        self.has_act, self.after_fake = activation is not None, after_fake
        self.activation = LeakyReLU(alpha) if activation == "leakyrelu" else get_activation(activation)

    def construct(self, x: Tensor) -> Tensor:
        x = self.dense(x)
        if self.has_bn:
            x = self.batchnorm(x)
        return self.activation(x) if self.has_act else x
