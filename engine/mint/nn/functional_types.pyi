"""Functions of mint.nn.functional that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from hookscope.engine.core.tensor import Tensor
from hookscope.engine.core.types import Operand
from typing import Any

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows chosen so that the output (N, C, ...) has ``output_size``."""

def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows chosen so that the output has ``output_size``."""

def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means over windows chosen so that the output has ``output_size``."""

def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of windows chosen so that the output has ``output_size``."""

def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Tensor:
    """The transpose of ``conv2d`` with kernels (C, K/groups, KH, KW)."""

def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """The cross-entropy of softmax(input) along axis 1 against class numbers or probabilities."""

def fold(input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Columns (N, C * KH * KW, windows) added up into images (N, C, *output_size)."""

def gelu(input: Tensor, approximate: str = 'none') -> Tensor:
    """The Gaussian error linear unit, by erf ("none") or its tanh form ("tanh")."""

def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second."""

def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool | None = False) -> Tensor:
    """Elements of ``input`` (N, C, H, W) or (N, C, D, H, W) at the places (x, y[, z]) of ``grid``, in [-1,
    1].
    """

def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """Each sample normalised over groups of its channels (Wu and He 2018)."""

def interpolate(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> Tensor:
    """(N, C, ...) resized to ``size``, or by ``scale_factor``."""

def l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """|input - target|, reduced."""

def layer_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose lengths are
    ``normalized_shape``.
    """

def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """input where it is positive, alpha * input elsewhere."""

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``, then an activation (None, relu, gelu, gelu_tanh, silu, sigmoid or
    tanh).
    """

def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow."""

def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Tensor:
    """Elements put back to where ``indices`` say they were the largest; 0 elsewhere."""

def mse_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """(input - target) squared, reduced."""

def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean') -> Tensor:
    """The negative of the log-probability (N, C) of the class numbers (N,)."""

def pad(input: Tensor, pad: Any, mode: str = 'constant', value: float | None = None) -> Tensor:
    """Elements added at the ends of the last axes: ``pad`` is (before, after) pairs, last axis first.
    """

def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(..., C * r * r, H, W) to (..., C, H * r, W * r)."""

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where it is positive, weight * x elsewhere; ``weight`` has one number, or one for each channel
    (axis 1).
    """

def sigmoid(input: Operand) -> Tensor:
    """1 / (1 + exp(-x))."""

def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """log(1 + exp(-target * input))."""

def tanh(input: Operand) -> Tensor:
    """The hyperbolic tangent."""

def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of (N, C, H, W) as columns (N, C * KH * KW, windows)."""

def upsample(input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> Tensor:
    """(N, C, ...) resized to ``size``, or by ``scale_factor``."""
