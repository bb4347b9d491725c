"""``mindspore.mint.nn``: layers with PyTorch's names, defaults and initial values."""

from collections.abc import Sequence as _Sequence
from typing import Any

from .... import ops as _ops
from ....base.module_names import name_methods as _name_methods
from ....base.module_names import on_first_use as _on_first_use
from ....base.types import Ints as _Ints
from ....nn.cell import Cell as _Cell
from ....tensors.tensor import Tensor as _Tensor
from . import functional as functional
from .layers import *
from .padding import *
from .simple import LAYERS as _LAYERS

globals().update(_LAYERS)


class Identity(_Cell):
    """Returns its input.

    Args:
        *args: ignored, so that it can replace any layer.
        **kwargs: ignored.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        return input


class Mish(_Cell):
    """x * tanh(softplus(x))."""

    def construct(self, input: _Tensor) -> _Tensor:
        return _ops.mish(input)


class SELU(_Cell):
    """Scaled ELU (Klambauer et al. 2017)."""

    def construct(self, input: _Tensor) -> _Tensor:
        return _ops.selu(input)


class Hardswish(_Cell):
    """x * relu6(x + 3) / 6."""

    def construct(self, input: _Tensor) -> _Tensor:
        return _ops.hardswish(input)


class Hardsigmoid(_Cell):
    """relu6(x + 3) / 6."""

    def construct(self, input: _Tensor) -> _Tensor:
        return _ops.relu6(input + 3.0) / 6.0


class Hardshrink(_Cell):
    """The input if its absolute value is above ``lambd``, else 0.

    Args:
        lambd: the bound.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, input: _Tensor) -> _Tensor:
        return _ops.where(_ops.abs(input) > self.lambd, input, _ops.zeros_like(input))


class UpsamplingNearest2d(_Cell):
    """Resizes images (N, C, H, W), each pixel from the nearest position.

    Args:
        size: the height and width, or an int for both; or ``scale_factor`` instead.
        scale_factor: the scale: a number, or one for each axis.
    """

    mode = "nearest"
    corners: bool | None = None

    def __init__(self, size: _Ints | None = None, scale_factor: float | _Sequence[float] | None = None) -> None:
        super().__init__()
        self.size, self.scale_factor = size, scale_factor

    def construct(self, input: _Tensor) -> _Tensor:
        return functional.interpolate(input, self.size, self.scale_factor, self.mode, self.corners)


class UpsamplingBilinear2d(UpsamplingNearest2d):
    """Resizes images (N, C, H, W) by bilinear interpolation; the corners stay aligned.

    Args:
        size: the height and width, or an int for both; or ``scale_factor`` instead.
        scale_factor: the scale: a number, or one for each axis.
    """

    mode, corners = "bilinear", True


__getattr__ = _on_first_use(__name__)
_name_methods(globals())
