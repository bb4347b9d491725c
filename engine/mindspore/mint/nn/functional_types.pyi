"""Functions of mint.nn.functional that are functions of ops.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Sequence
from hookscope.engine.base.types import Ints, Shape
from hookscope.engine.tensors.tensor import Tensor
from typing import Any

def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """Return means of windows along the last axis, which are chosen so that the output has
    ``output_size``.
    """

def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return means of windows of the last two axes, which are chosen so that the output has
    ``output_size``.
    """

def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Return means of windows of the last three axes, which are chosen so that the output has
    ``output_size``.
    """

def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the largest elements of windows of the last two axes, chosen so that the output has
    ``output_size``.
    """

def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Tensor:
    """Return the transpose (the gradient by the input) of ``conv2d``, which adds a kernel at each
    element's position.
    """

def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """Return the cross-entropy of softmax(input) along axis 1 against class numbers or probabilities.
    """

def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False) -> Tensor:
    """Return the rows of ``weight`` at the indices ``input``."""

def fold(input: Tensor, output_size: Ints | Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """Return columns summed into images at the positions that ``unfold`` reads them from ("col2im").
    """

def gelu(input: Tensor, approximate: str = 'none') -> Tensor:
    """Return the Gaussian error linear unit, x * P(X <= x) for a standard normal X (Hendrycks and Gimpel
    2016).
    """

def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return a * sigmoid(b), where a and b are the halves of ``input`` along ``dim`` (Dauphin et al.
    2016).
    """

def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool | None = None) -> Tensor:
    """Return samples of images at the positions ``grid`` (Jaderberg et al. 2015)."""

def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """Return (x - mean) / sqrt(var + eps) * weight + bias for each sample's groups of channels (Wu and He
    2018).
    """

def hardswish(input: Tensor) -> Tensor:
    """Return x * min(max((x + 3) / 6, 0), 1), element by element (Howard et al. 2019)."""

def interpolate(input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> Tensor:
    """Return (N, C, ...) resized to ``size``, or by ``scale_factor``."""

def l1_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """Return abs(input - target), reduced."""

def layer_norm(input: Tensor, normalized_shape: Ints, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """Return (x - mean) / sqrt(var + eps) * weight + bias over the last axes, var biased (Ba et al. 2016).
    """

def leaky_relu(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """Return x where it is positive, ``negative_slope`` * x elsewhere (Maas et al. 2013), also the
    gradient at 0.
    """

def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``input @ weight.T + bias``, then an activation."""

def logsigmoid(input: Tensor) -> Tensor:
    """Return log(1 / (1 + exp(-x))), computed without overflow."""

def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, output_size: Sequence[int] | None = None) -> Tensor:
    """Return the partial inverse of ``max_pool2d``: each element at the position where it was the largest,
    0 elsewhere.
    """

def mish(input: Tensor) -> Tensor:
    """Return x * tanh(log(1 + exp(x))) (Misra 2019)."""

def mse_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """Return (input - target) squared, reduced."""

def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = 'mean') -> Tensor:
    """Return the negative of the log-probability of the class numbers, times the weight of the class.
    """

def pad(input: Tensor, pad: Shape, mode: str = 'constant', value: float | None = None) -> Tensor:
    """Return the tensor with elements added at the ends of the last axes."""

def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Return channels rearranged to pixels: (..., C * r * r, H, W) to (..., C, H * r, W * r) (Shi et al.
    2016).
    """

def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Return x where it is positive, weight * x elsewhere (He et al. 2015)."""

def selu(input: Tensor) -> Tensor:
    """Return scale * x where x is positive, scale * alpha * (exp(x) - 1) elsewhere (Klambauer et al.
    2017).
    """

def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""

def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = 'mean') -> Tensor:
    """Return log(1 + exp(-target * input)), without overflow."""

def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """Return log(1 + exp(beta * x)) / beta, and x itself where beta * x is above ``threshold``."""

def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Return x - lambd where x > lambd, x + lambd where x < -lambd, 0 elsewhere."""

def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent, (exp(x) - exp(-x)) / (exp(x) + exp(-x))."""

def unfold(input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """Return the windows of images as columns, channel by channel ("im2col")."""

def upsample(input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None) -> Tensor:
    """Return (N, C, ...) resized to ``size``, or by ``scale_factor``."""
