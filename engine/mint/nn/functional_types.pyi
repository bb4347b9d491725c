"""Functions of mint.nn.functional that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Sequence
from hookscope.engine.base.types import Ints, Shape
from hookscope.engine.tensors.tensor import Tensor
from typing import Any

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows along the last axis, which are chosen so that the output has ``output_size``.
    """

def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows of the last two axes, which are chosen so that the output has ``output_size``.
    """

def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Means of windows of the last three axes, which are chosen so that the output has ``output_size``.
    """

def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The largest elements of windows of the last two axes, which are chosen so that the output has
    ``output_size``.
    """

def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Tensor:
    """The transpose (the gradient by the input) of ``conv2d``, which puts kernels at the places of the
    elements.
    """

def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """The cross-entropy of softmax(input) along axis 1 against class numbers or probabilities."""

def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False) -> Tensor:
    """The rows of ``weight`` that ``input`` numbers."""

def fold(input: Tensor, output_size: Ints | Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """Columns added up into images at the places that ``unfold`` takes them from ("col2im")."""

def gelu(input: Tensor, approximate: str = 'none') -> Tensor:
    """The Gaussian error linear unit, x * P(X <= x) for a standard normal X (Hendrycks and Gimpel 2016).
    """

def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a * sigmoid(b), where a and b are the halves of ``input`` along ``dim`` (Dauphin et al. 2016).
    """

def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool | None = None) -> Tensor:
    """Samples of images at the places that ``grid`` names (Jaderberg et al. 2015)."""

def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias for each sample's groups of channels (Wu and He 2018).
    """

def hardswish(input: Tensor) -> Tensor:
    """x * min(max((x + 3) / 6, 0), 1), element by element (Howard et al. 2019)."""

def interpolate(input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> Tensor:
    """(N, C, ...) resized to ``size``, or by ``scale_factor``."""

def l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """abs(input - target), reduced."""

def layer_norm(input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """(x - mean) / sqrt(var + eps) * weight + bias, mean and biased variance over the last axes (Ba et al.
    2016).
    """

def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x where it is positive, ``negative_slope`` * x elsewhere (Maas et al. 2013), also the gradient at 0.
    """

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``, then an activation."""

def logsigmoid(input: Tensor) -> Tensor:
    """log(1 / (1 + exp(-x))), computed without overflow."""

def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, output_size: Sequence[int] | None = None) -> Tensor:
    """The inverse of ``max_pool2d`` as far as there is one: each element is put where it was the largest,
    0 elsewhere.
    """

def mish(input: Tensor) -> Tensor:
    """x * tanh(log(1 + exp(x))) (Misra 2019)."""

def mse_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """(input - target) squared, reduced."""

def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean') -> Tensor:
    """The negative of the log-probability of the class numbers, times the weight of the class."""

def pad(input: Tensor, pad: Shape, mode: str = 'constant', value: float | None = None) -> Tensor:
    """Elements added at the ends of the last axes."""

def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels rearranged to pixels: (..., C * r * r, H, W) to (..., C, H * r, W * r) (Shi et al. 2016).
    """

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where it is positive, weight * x elsewhere (He et al. 2015)."""

def selu(input: Tensor) -> Tensor:
    """scale * x where x is positive, scale * alpha * (exp(x) - 1) elsewhere (Klambauer et al. 2017).
    """

def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""

def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """log(1 + exp(-target * input)), without overflow."""

def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta * x)) / beta, and x itself where beta * x is above ``threshold``."""

def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x - lambd where x > lambd, x + lambd where x < -lambd, 0 elsewhere."""

def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, (exp(x) - exp(-x)) / (exp(x) + exp(-x))."""

def unfold(input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """The windows of images as columns, channel by channel ("im2col")."""

def upsample(input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> Tensor:
    """(N, C, ...) resized to ``size``, or by ``scale_factor``."""
