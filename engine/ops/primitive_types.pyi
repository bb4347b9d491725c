"""The Primitive classes: one of an operator and its attributes.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Sequence
from hookscope.engine.core.parameter import Parameter
from hookscope.engine.core.tensor import Tensor
from hookscope.engine.core.types import Operand
from typing import Any

from .operations import Primitive

class ACos(Primitive):
    """The arc cosine."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Abs(Primitive):
    """The absolute value; its gradient at 0 is 0."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class AccumulateNV2(Primitive):
    """The sum of the tensors in a tuple or list."""
    def __call__(self, x: Any, /) -> Tensor: ...

class Acosh(Primitive):
    """The inverse hyperbolic cosine."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Adam(Primitive):
    """p - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + eps)."""
    use_locking: Any
    use_nesterov: bool
    def __init__(self, use_locking: Any = False, use_nesterov: bool = False) -> None: ...
    def __call__(self, p: Any, m: Any, v: Any, power1: Any, power2: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, g: Any, /) -> tuple[Any, ...]: ...

class AdamWeightDecay(Primitive):
    """p - lr * (m / (sqrt(v) + eps) + decay * p)."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Any, m: Any, v: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, decay: Any, g: Any, /) -> tuple[Any, ...]: ...

class AdaptiveAvgPool2D(Primitive):
    """Means over windows chosen so that the output has ``output_size``."""
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class AdaptiveAvgPool3D(Primitive):
    """Means over windows chosen so that the output has ``output_size``."""
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class AdaptiveMaxPool2D(Primitive):
    """"""
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class AdaptiveMaxPool3D(Primitive):
    """The largest elements of windows chosen so that the output has ``output_size``, and where they are.
    """
    def __call__(self, x: Tensor, output_size: Any, /) -> tuple[Tensor, Tensor]: ...

class Add(Primitive):
    """x + y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class AddN(Primitive):
    """The sum of the tensors in a tuple or list."""
    def __call__(self, x: Any, /) -> Tensor: ...

class Addcdiv(Primitive):
    """input + value * tensor1 / tensor2."""
    def __call__(self, input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1, /) -> Any: ...

class Addcmul(Primitive):
    """input + value * tensor1 * tensor2."""
    def __call__(self, input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1, /) -> Any: ...

class AffineGrid(Primitive):
    """For each output pixel the place in the input that ``theta`` (N, 2, 3) or (N, 3, 4) takes it from, in
    [-1, 1].
    """
    align_corners: bool
    def __init__(self, align_corners: bool = False) -> None: ...
    def __call__(self, theta: Tensor, size: Any, /) -> Tensor: ...

class Angle(Primitive):
    """The angle of complex numbers; of real ones 0 or pi."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class ApplyAdaMax(Primitive):
    """p - lr / (1 - beta1_power) * m / (v + eps), v the largest gradient."""
    def __call__(self, p: Any, m: Any, v: Any, power1: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyAdadelta(Primitive):
    """Zeiler 2012."""
    def __call__(self, p: Any, squares: Any, steps: Any, lr: Any, rho: Any, eps: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyAdagrad(Primitive):
    """p - lr * g / sqrt(accum)."""
    update_slots: bool
    def __init__(self, update_slots: bool = True) -> None: ...
    def __call__(self, p: Any, squares: Any, lr: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyAdagradV2(Primitive):
    """p - lr * g / (sqrt(accum) + epsilon)."""
    epsilon: float
    update_slots: bool
    def __init__(self, epsilon: float = 1e-06, update_slots: bool = True) -> None: ...
    def __call__(self, p: Any, squares: Any, lr: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyAdamWithAmsgrad(Primitive):
    """Adam that divides by the largest v so far."""
    beta1: float
    beta2: float
    epsilon: float
    use_locking: Any
    def __init__(self, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, use_locking: Any = False) -> None: ...
    def __call__(self, p: Any, m: Any, v: Any, largest: Any, power1: Any, power2: Any, lr: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyAdamWithAmsgradV2(Primitive):
    """Adam that divides by the largest v so far."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Any, m: Any, v: Any, largest: Any, power1: Any, power2: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyAddSign(Primitive):
    """Bello et al. 2017: a gradient with the sign of its average counts more."""
    def __call__(self, p: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyCenteredRMSProp(Primitive):
    """ApplyRMSProp with the variance of the gradient in the place of its square."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Any, mean: Any, squares: Any, moved: Any, g: Any, lr: Any, decay: Any, momentum: Any, eps: Any, /) -> tuple[Any, ...]: ...

class ApplyFtrl(Primitive):
    """McMahan et al. 2013."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Any, squares: Any, linear: Any, g: Any, lr: Any, l1: Any, l2: Any, power: Any, /) -> Any: ...

class ApplyGradientDescent(Primitive):
    """p - alpha * delta."""
    def __call__(self, p: Any, alpha: Any, delta: Any, /) -> tuple[Any, ...]: ...

class ApplyKerasMomentum(Primitive):
    """The sum becomes momentum * sum - lr * g, and is added to p."""
    use_locking: Any
    use_nesterov: bool
    def __init__(self, use_locking: Any = False, use_nesterov: bool = False) -> None: ...
    def __call__(self, p: Any, kept: Any, lr: Any, g: Any, momentum: Any, /) -> tuple[Any, ...]: ...

class ApplyMomentum(Primitive):
    """The sum becomes momentum * sum + g, and lr times it is taken from p."""
    use_nesterov: bool
    use_locking: Any
    gradient_scale: float
    def __init__(self, use_nesterov: bool = False, use_locking: Any = False, gradient_scale: float = 1.0) -> None: ...
    def __call__(self, p: Any, kept: Any, lr: Any, g: Any, momentum: Any, /) -> tuple[Any, ...]: ...

class ApplyPowerSign(Primitive):
    """Bello et al. 2017: a gradient with the sign of its average counts more, exponentially."""
    def __call__(self, p: Any, m: Any, lr: Any, base: Any, sign_decay: Any, beta: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyProximalAdagrad(Primitive):
    """Adagrad, then shrunk by l1 and l2 (Duchi and Singer 2009)."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Any, squares: Any, lr: Any, l1: Any, l2: Any, g: Any, /) -> tuple[Any, ...]: ...

class ApplyProximalGradientDescent(Primitive):
    """Gradient descent, then shrunk by l1 and l2."""
    def __call__(self, p: Any, alpha: Any, l1: Any, l2: Any, delta: Any, /) -> tuple[Any, ...]: ...

class ApplyRMSProp(Primitive):
    """The moment becomes momentum * moment + lr * g / sqrt(v + eps), and is taken from p."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Any, squares: Any, moved: Any, lr: Any, g: Any, decay: Any, momentum: Any, eps: Any, /) -> Any: ...

class ApproximateEqual(Primitive):
    """Whether abs(x - y) < tolerance."""
    tolerance: float
    def __init__(self, tolerance: float = 1e-05) -> None: ...
    def __call__(self, x: Tensor, y: Tensor, /) -> Any: ...

class ArgMaxWithValue(Primitive):
    """Where the largest element along ``axis`` is, and itself."""
    axis: int
    keep_dims: bool
    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class ArgMinWithValue(Primitive):
    """Where the smallest element along ``axis`` is, and itself."""
    axis: int
    keep_dims: bool
    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Argmax(Primitive):
    """Where the largest element along ``axis`` is, as ``output_type``."""
    axis: int
    output_type: Any
    def __init__(self, axis: int = -1, output_type: Any = ...) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Argmin(Primitive):
    """Where the smallest element along ``axis`` is, as ``output_type``."""
    axis: int
    output_type: Any
    def __init__(self, axis: int = -1, output_type: Any = ...) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Asin(Primitive):
    """The arc sine."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Asinh(Primitive):
    """The inverse hyperbolic sine."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Assign(Primitive):
    """Give a parameter (or tensor) new values, cast to its dtype."""
    def __call__(self, variable: Parameter, value: Any, /) -> Parameter: ...

class AssignAdd(Primitive):
    """Add to a parameter."""
    def __call__(self, variable: Parameter, value: Any, /) -> Parameter: ...

class AssignSub(Primitive):
    """Subtract from a parameter."""
    def __call__(self, variable: Parameter, value: Any, /) -> Parameter: ...

class Atan(Primitive):
    """The arc tangent."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Atan2(Primitive):
    """The angle of the point (y, x), in (-pi, pi]."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Atanh(Primitive):
    """The inverse hyperbolic tangent."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class AvgPool(Primitive):
    """The mean of each window."""
    kernel_size: Any
    strides: Any
    pad_mode: str
    data_format: str
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = 'valid', data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class AvgPool3D(Primitive):
    """The mean of each window of (N, C, D, H, W)."""
    kernel_size: Any
    strides: Any
    pad_mode: str
    pad: Any
    ceil_mode: Any
    count_include_pad: Any
    divisor_override: Any
    data_format: str
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = 'valid', pad: Any = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override: Any = 0, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class BCEWithLogitsLoss(Primitive):
    """``binary_cross_entropy_with_logits``, reduced as the class was told."""
    reduction: str
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, x: Tensor, y: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, /) -> Tensor: ...

class BartlettWindow(Primitive):
    """Bartlett's triangle."""
    periodic: bool
    dtype: Any
    def __init__(self, periodic: bool = True, dtype: Any = ...) -> None: ...
    def __call__(self, window_length: Any, *shape: float) -> Tensor: ...

class BatchMatMul(Primitive):
    """The matrix product, broadcast over leading axes."""
    transpose_a: bool
    transpose_b: bool
    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None: ...
    def __call__(self, input: Tensor, other: Tensor, /) -> Tensor: ...

class BatchNorm(Primitive):
    """The output; and the mean and variance of the batch in training, else those given."""
    is_training: bool
    epsilon: Any
    momentum: Any
    data_format: Any
    def __init__(self, is_training: bool = False, epsilon: Any = 1e-05, momentum: Any = 0.1, data_format: Any = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, /) -> tuple[Tensor, ...]: ...

class BatchToSpace(Primitive):
    """"""
    block_size: Any
    crops: Any
    def __init__(self, block_size: Any, crops: Any) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class BatchToSpaceND(Primitive):
    """The inverse of ``space_to_batch_nd``: blocks back in their places, ``crops`` cut off."""
    block_shape: Any
    crops: Any
    def __init__(self, block_shape: Any, crops: Any) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Any: ...

class Bernoulli(Primitive):
    """1 with probability ``p`` and 0 otherwise; of the seeds, -1 is none."""
    seed: int
    offset: int
    def __init__(self, seed: int = -1, offset: int = 0) -> None: ...
    def __call__(self, x: Tensor, p: Any = 0.5, /) -> Tensor: ...

class BesselI0(Primitive):
    """The modified Bessel function I0."""
    def __call__(self, x: Tensor, /) -> Any: ...

class BesselI0e(Primitive):
    """exp(-abs(x)) I0(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class BesselI1(Primitive):
    """The modified Bessel function I1."""
    def __call__(self, x: Tensor, /) -> Any: ...

class BesselI1e(Primitive):
    """exp(-abs(x)) I1(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class BesselJ0(Primitive):
    """J0(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class BesselJ1(Primitive):
    """J1(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class BesselK0(Primitive):
    """The modified Bessel function K0."""
    def __call__(self, x: Tensor, /) -> Any: ...

class BesselK0e(Primitive):
    """exp(x) K0(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class BesselK1(Primitive):
    """The modified Bessel function K1."""
    def __call__(self, x: Tensor, /) -> Any: ...

class BesselK1e(Primitive):
    """exp(x) K1(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class BesselY0(Primitive):
    """Y0(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class BesselY1(Primitive):
    """Y1(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class BiasAdd(Primitive):
    """``bias_add``; the channels are axis 1 of "NCHW" as of "NCDHW"."""
    data_format: str
    def __init__(self, data_format: str = 'NCHW') -> None: ...
    def __call__(self, input_x: Tensor, bias: Tensor, /) -> Tensor: ...

class BinaryCrossEntropy(Primitive):
    """-(y * log(p) + (1 - y) * log(1 - p)); a logarithm is at least -100, so that p may be 0 or 1."""
    reduction: str
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, logits: Tensor, labels: Tensor, weight: Tensor | None = None, /) -> Tensor: ...

class Bincount(Primitive):
    """How often each number below ``size`` is there, or the sum of its ``weights``, which may be an empty
    tensor.
    """
    def __call__(self, array: Tensor, size: Any, weights: Tensor, /) -> Tensor: ...

class BincountV2(Primitive):
    """How often each of 0, 1, 2, ... is there, or the sum of its ``weights``."""
    def __call__(self, input: Tensor, weights: Tensor | None = None, minlength: int = 0, /) -> Any: ...

class BitwiseAnd(Primitive):
    """x & y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class BitwiseOr(Primitive):
    """x | y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class BitwiseXor(Primitive):
    """x ^ y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class BlackmanWindow(Primitive):
    """Blackman's window."""
    periodic: bool
    dtype: Any
    def __init__(self, periodic: bool = True, dtype: Any = ...) -> None: ...
    def __call__(self, window_length: Any, *shape: float) -> Tensor: ...

class BroadcastTo(Primitive):
    """Repeated along axes of length 1 to fill ``shape``; -1 keeps an axis."""
    shape: Any
    def __init__(self, shape: Any) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Bucketize(Primitive):
    """"""
    boundaries: Any
    def __init__(self, boundaries: Any) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class CTCLoss(Primitive):
    """The losses of scores (T, N, C) whose last class is the blank, labels given by their places; and the
    gradient.
    """
    preprocess_collapse_repeated: Any
    ctc_merge_repeated: Any
    ignore_longer_outputs_than_inputs: Any
    def __init__(self, preprocess_collapse_repeated: Any = False, ctc_merge_repeated: Any = True, ignore_longer_outputs_than_inputs: Any = False) -> None: ...
    def __call__(self, x: Tensor, indices: Tensor, values: Tensor, lengths: Any, /) -> tuple[Tensor, Tensor]: ...

class CTCLossV2(Primitive):
    """Connectionist temporal classification (Graves et al. 2006): the losses, and the log-probabilities of
    prefixes.
    """
    blank: int
    reduction: str
    zero_infinity: bool
    def __init__(self, blank: int = 0, reduction: str = 'none', zero_infinity: bool = False) -> None: ...
    def __call__(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, /) -> tuple[Tensor, Tensor]: ...

class Cast(Primitive):
    """The elements as another dtype."""
    def __call__(self, input: Any, dtype: Any, /) -> Tensor: ...

class Cdist(Primitive):
    """The p-norm distance of each row of ``x1`` from each row of ``x2``."""
    p: float
    def __init__(self, p: float = 2.0) -> None: ...
    def __call__(self, x1: Tensor, x2: Tensor, /) -> Any: ...

class CeLU(Primitive):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    alpha: float
    def __init__(self, alpha: float = 1.0) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Ceil(Primitive):
    """The smallest integer not below x."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class ChannelShuffle(Primitive):
    """"""
    group: Any
    def __init__(self, group: Any) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class CheckNumerics(Primitive):
    """The tensor itself, if every element is a finite number."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Cholesky(Primitive):
    """The lower (or ``upper``) triangular matrix whose product with its transpose is the input."""
    upper: bool
    def __init__(self, upper: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Any: ...

class CholeskyInverse(Primitive):
    """The inverse of the matrix that ``input_x`` is the Cholesky factor of."""
    upper: bool
    def __init__(self, upper: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Any: ...

class CholeskySolve(Primitive):
    """The x with A @ x = input, where ``input2`` is the Cholesky factor of A."""
    upper: bool
    def __init__(self, upper: bool = False) -> None: ...
    def __call__(self, input: Tensor, input2: Tensor, /) -> Any: ...

class Col2Im(Primitive):
    """"""
    kernel_size: Any
    dilation: Any
    padding: Any
    stride: Any
    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None: ...
    def __call__(self, x: Any, output_size: Any, /) -> Any: ...

class Complex(Primitive):
    """Complex numbers of their parts."""
    def __call__(self, real: Tensor, imag: Tensor, /) -> Tensor: ...

class ComplexAbs(Primitive):
    """The absolute value; its gradient at 0 is 0."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Concat(Primitive):
    """Tensors joined along an axis they have."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, tensors: Sequence[Tensor], /) -> Tensor: ...

class ConfusionMatrix(Primitive):
    """How often each class (row) was taken for each (column), or the sums of ``weights``."""
    num_classes: int
    dtype: str
    def __init__(self, num_classes: int, dtype: str = 'int32') -> None: ...
    def __call__(self, labels: Tensor, predictions: Tensor, weights: Tensor | None = None, /) -> Tensor: ...

class Conj(Primitive):
    """The conjugate; a real tensor itself."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class ConjugateTranspose(Primitive):
    """The last two axes swapped, and complex numbers conjugated."""
    def __call__(self, x: Tensor, /) -> Any: ...

class Conv2D(Primitive):
    """``conv2d`` without a bias; the kernels are those of ``weight``."""
    out_channel: Any
    kernel_size: Any
    mode: Any
    pad_mode: str
    pad: Any
    stride: Any
    dilation: Any
    group: int
    data_format: str
    def __init__(self, out_channel: Any, kernel_size: Any, mode: Any = 1, pad_mode: str = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1, data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, /) -> Tensor: ...

class Conv2DBackpropInput(Primitive):
    """The transpose of a convolution: ``last`` is the size of its input, or for three axes the bias.
    """
    out_channel: Any
    kernel_size: Any
    pad_mode: Any
    pad: Any
    pad_list: Any
    mode: Any
    stride: Any
    dilation: Any
    group: Any
    data_format: Any
    def __init__(self, out_channel: Any, kernel_size: Any, pad_mode: Any = 'valid', pad: Any = 0, pad_list: Any = None, mode: Any = 1, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, last: Any = None, /) -> Tensor: ...

class Conv2DTranspose(Primitive):
    """The transpose of a convolution: ``last`` is the size of its input, or for three axes the bias.
    """
    out_channel: Any
    kernel_size: Any
    pad_mode: Any
    pad: Any
    pad_list: Any
    mode: Any
    stride: Any
    dilation: Any
    group: Any
    data_format: Any
    def __init__(self, out_channel: Any, kernel_size: Any, pad_mode: Any = 'valid', pad: Any = 0, pad_list: Any = None, mode: Any = 1, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, last: Any = None, /) -> Tensor: ...

class Conv3D(Primitive):
    """Cross-correlation of (N, C, D, H, W) with kernels (K, C/groups, KD, KH, KW)."""
    out_channel: Any
    kernel_size: Any
    mode: Any
    pad_mode: Any
    pad: Any
    stride: Any
    dilation: Any
    group: Any
    data_format: Any
    def __init__(self, out_channel: Any, kernel_size: Any, mode: Any = 1, pad_mode: Any = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: Any = 1, data_format: Any = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None = None, /) -> Tensor: ...

class Conv3DTranspose(Primitive):
    """The transpose of a convolution: ``last`` is the size of its input, or for three axes the bias.
    """
    in_channel: Any
    out_channel: Any
    kernel_size: Any
    mode: Any
    pad_mode: Any
    pad: Any
    stride: Any
    dilation: Any
    group: Any
    output_padding: Any
    data_format: Any
    def __init__(self, in_channel: Any, out_channel: Any, kernel_size: Any, mode: Any = 1, pad_mode: Any = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: Any = 1, output_padding: Any = 0, data_format: Any = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, last: Any = None, /) -> Tensor: ...

class Cos(Primitive):
    """The cosine."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Cosh(Primitive):
    """The hyperbolic cosine."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class CountNonZero(Primitive):
    """How many elements over ``dims`` are not 0."""
    dims: Any
    def __init__(self, dims: Any = None) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Cross(Primitive):
    """The cross product of vectors of 3 along ``dim`` (the first axis of length 3 without it)."""
    def __call__(self, input: Tensor, other: Tensor, dim: int | None = None, /) -> Any: ...

class CumProd(Primitive):
    """Running products along ``axis``."""
    exclusive: bool
    reverse: bool
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any, /) -> Tensor: ...

class CumSum(Primitive):
    """Running sums along ``axis``."""
    exclusive: bool
    reverse: bool
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any, /) -> Tensor: ...

class Cummax(Primitive):
    """The largest element so far along ``axis`` and where it is."""
    axis: int
    def __init__(self, axis: int) -> None: ...
    def __call__(self, input: Tensor, /) -> tuple[Any, Any]: ...

class Cummin(Primitive):
    """The smallest element so far along ``axis`` and where it is."""
    axis: int
    def __init__(self, axis: int) -> None: ...
    def __call__(self, input: Tensor, /) -> tuple[Any, Any]: ...

class CumulativeLogsumexp(Primitive):
    """log of the running sums of exp(x) along ``axis``; the lowest number of the dtype stands for log(0).
    """
    exclusive: bool
    reverse: bool
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any, /) -> Tensor: ...

class DType(Primitive):
    """The element type."""
    def __call__(self, x: Tensor, /) -> Any: ...

class Dense(Primitive):
    """``input @ weight.T + bias``, then an activation (None, relu, gelu, gelu_tanh, silu, sigmoid or
    tanh).
    """
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None, /) -> Tensor: ...

class Depend(Primitive):
    """"""
    def __call__(self, value: Any, expr: Any, /) -> Any: ...

class DepthToSpace(Primitive):
    """(N, b * b * C, H, W) to (N, C, H * b, W * b): the block is the outer part of the channels."""
    block_size: int
    def __init__(self, block_size: int) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Diag(Primitive):
    """Twice the axes, with the elements where both halves of an index agree and 0 elsewhere."""
    def __call__(self, input: Tensor, /) -> Any: ...

class DiagPart(Primitive):
    """The elements where both halves of an index agree; the inverse of ``diag``."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Digamma(Primitive):
    """The slope of lgamma."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Div(Primitive):
    """x / y; integers give Float32."""
    def __call__(self, input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor: ...

class DivNoNan(Primitive):
    """x / y, and 0 where y is 0."""
    def __call__(self, x: Any, y: Any, /) -> Tensor: ...

class Dropout(Primitive):
    """"""
    keep_prob: Any
    Seed0: Any
    Seed1: Any
    def __init__(self, keep_prob: Any = 0.5, Seed0: Any = 0, Seed1: Any = 0) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class Dropout2D(Primitive):
    """The input with whole channels set to 0 with probability 1 - keep_prob, and the mask of what was
    kept.
    """
    keep_prob: float
    def __init__(self, keep_prob: float = 0.5) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Dropout3D(Primitive):
    """Whole channels of (N, C, D, H, W) dropped; and which elements are kept."""
    keep_prob: float
    def __init__(self, keep_prob: float = 0.5) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Eig(Primitive):
    """The eigenvalues, and with ``compute_v`` the eigenvectors, without it a 0 in their place."""
    compute_v: bool
    def __init__(self, compute_v: bool = False) -> None: ...
    def __call__(self, A: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Einsum(Primitive):
    """"""
    equation: Any
    def __init__(self, equation: Any) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class Elu(Primitive):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""
    alpha: float
    def __init__(self, alpha: float = 1.0) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class EmbeddingLookup(Primitive):
    """The rows ``input_indices - offset``; zeros for those that are not there."""
    def __call__(self, input_params: Tensor, input_indices: Tensor, offset: Any, /) -> Tensor: ...

class Eps(Primitive):
    """The spacing of the dtype at 1, in the shape of x."""
    def __call__(self, x: Tensor, /) -> Any: ...

class Equal(Primitive):
    """x == y."""
    def __call__(self, input: Tensor, other: Any, /) -> Any: ...

class Erf(Primitive):
    """The error function."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Erfc(Primitive):
    """1 - erf(x)."""
    def __call__(self, input: Any, /) -> Any: ...

class Erfinv(Primitive):
    """The inverse of erf."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class EuclideanNorm(Primitive):
    """The square root of the sum of squares over ``axis``."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any = (), /) -> Tensor: ...

class Exp(Primitive):
    """e to the power x."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Expand(Primitive):
    """Repeated along axes of length 1 to fill ``shape``; -1 keeps an axis."""
    def __call__(self, input: Tensor, shape: Any, /) -> Tensor: ...

class ExpandDims(Primitive):
    """One more axis of length 1 at ``axis``."""
    def __call__(self, input_x: Tensor, axis: int, /) -> Tensor: ...

class Expm1(Primitive):
    """exp(x) - 1, exact near 0."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Eye(Primitive):
    """Ones on the diagonal."""
    def __call__(self, n: int, m: int | None = None, dtype: Any = None, /) -> Tensor: ...

class FastGeLU(Primitive):
    """x * sigmoid(1.702 * x) (Hendrycks and Gimpel 2016)."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class FastGelu(Primitive):
    """x * sigmoid(1.702 * x) (Hendrycks and Gimpel 2016)."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Fill(Primitive):
    """``value`` everywhere; ``type`` is the dtype."""
    def __call__(self, type: Any, shape: Any, value: Any, /) -> Tensor: ...

class FillV2(Primitive):
    """``value``, a 0-d tensor, everywhere in its dtype."""
    def __call__(self, shape: Any, value: Tensor, /) -> Tensor: ...

class Fills(Primitive):
    """``fill_value`` in the input's shape, dtype and device."""
    def __call__(self, input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor: ...

class Flatten(Primitive):
    """The axes from ``start_dim`` to ``end_dim`` as one."""
    def __call__(self, input: Tensor, order: str = 'C', *, start_dim: int = 1, end_dim: int = -1) -> Tensor: ...

class Floor(Primitive):
    """The greatest integer not above x."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class FloorDiv(Primitive):
    """The greatest integer not above x / y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class FloorMod(Primitive):
    """x - floor(x / y) * y, with the sign of y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Fmax(Primitive):
    """The larger of the two; a NaN loses."""
    def __call__(self, input: Any, other: Any, /) -> Any: ...

class Fmin(Primitive):
    """The smaller of the two; a NaN loses."""
    def __call__(self, input: Any, other: Any, /) -> Any: ...

class GLU(Primitive):
    """The first half along ``axis`` times the sigmoid of the second."""
    axis: int
    def __init__(self, axis: int = -1) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Gamma(Primitive):
    """Numbers of the gamma distribution with shape ``alpha`` and rate ``beta``."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class Gather(Primitive):
    """The entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes are paired up."""
    batch_dims: int
    def __init__(self, batch_dims: int = 0) -> None: ...
    def __call__(self, input_params: Tensor, input_indices: Any, axis: Any, /) -> Any: ...

class GatherD(Primitive):
    """``gather_elements`` under its older name."""
    def __call__(self, x: Tensor, dim: int, index: Tensor, /) -> Tensor: ...

class GatherNd(Primitive):
    """The entries that the rows of ``indices`` (its last axis) name."""
    def __call__(self, input_x: Tensor, indices: Tensor, /) -> Any: ...

class GatherV2(Primitive):
    """The entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes are paired up."""
    def __call__(self, input_params: Tensor, input_indices: Any, axis: Any, batch_dims: int = 0, /) -> Any: ...

class Gcd(Primitive):
    """The greatest common divisor."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class GeLU(Primitive):
    """The tanh form of ``gelu``."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Gelu(Primitive):
    """The tanh form of ``gelu``."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Geqrf(Primitive):
    """The QR decomposition as LAPACK keeps it: R above the reflections' vectors, and their factors."""
    def __call__(self, input: Tensor, /) -> tuple[Any, Any]: ...

class Ger(Primitive):
    """The product of each two elements of two vectors."""
    def __call__(self, input: Tensor, vec2: Tensor, /) -> Any: ...

class Greater(Primitive):
    """x > y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class GreaterEqual(Primitive):
    """x >= y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class GridSampler2D(Primitive):
    """Elements of ``x`` (N, C, H, W) or (N, C, D, H, W) at the places (x, y[, z]) of ``grid``, in [-1, 1].
    """
    interpolation_mode: str
    padding_mode: str
    align_corners: bool
    def __init__(self, interpolation_mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = False) -> None: ...
    def __call__(self, x: Tensor, grid: Tensor, /) -> Tensor: ...

class GridSampler3D(Primitive):
    """Elements of ``x`` (N, C, H, W) or (N, C, D, H, W) at the places (x, y[, z]) of ``grid``, in [-1, 1].
    """
    interpolation_mode: str
    padding_mode: str
    align_corners: bool
    def __init__(self, interpolation_mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = False) -> None: ...
    def __call__(self, x: Tensor, grid: Tensor, /) -> Tensor: ...

class HShrink(Primitive):
    """x where |x| is above ``lambd``, 0 elsewhere."""
    lambd: float
    def __init__(self, lambd: float = 0.5) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class HSigmoid(Primitive):
    """min(max((x + 3) / 6, 0), 1)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class HSwish(Primitive):
    """x * hardsigmoid(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class HammingWindow(Primitive):
    """alpha - beta * cos(2 pi k / n)."""
    periodic: bool
    alpha: Any
    beta: Any
    dtype: Any
    def __init__(self, periodic: bool = True, alpha: Any = 0.54, beta: Any = 0.46, dtype: Any = ...) -> None: ...
    def __call__(self, window_length: Any, *shape: float) -> Tensor: ...

class Heaviside(Primitive):
    """0 below 0, ``values`` at 0, 1 above."""
    def __call__(self, input: Tensor, values: Tensor, /) -> Any: ...

class Histogram(Primitive):
    """How many elements fall into each of ``bins`` equal parts of [min, max]; of the elements' range where
    both are 0.
    """
    bins: int
    min: float
    max: float
    def __init__(self, bins: int = 100, min: float = 0.0, max: float = 0.0) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class Hypot(Primitive):
    """sqrt(x * x + y * y), without overflow."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Identity(Primitive):
    """The same values, a new tensor."""
    def __call__(self, *operands: Any) -> Any: ...

class IdentityN(Primitive):
    """"""
    def __call__(self, x: Any, /) -> Any: ...

class Igamma(Primitive):
    """The regularized lower incomplete gamma function P(input, other)."""
    def __call__(self, input: Any, other: Any, /) -> Tensor: ...

class Igammac(Primitive):
    """The regularized upper incomplete gamma function 1 - P(input, other), exact where that is small.
    """
    def __call__(self, input: Any, other: Any, /) -> Tensor: ...

class Im2Col(Primitive):
    """The windows of (N, C, H, W) as columns (N, C, KH * KW, windows)."""
    ksizes: Any
    strides: Any
    dilations: Any
    pads: Any
    def __init__(self, ksizes: Any, strides: Any = 1, dilations: Any = 1, pads: Any = 0) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Imag(Primitive):
    """The imaginary part; zeros of a real tensor."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class InTopK(Primitive):
    """Whether fewer than ``k`` of a row are above what it has at its target, so that equals are in or out
    together.
    """
    k: int
    def __init__(self, k: int) -> None: ...
    def __call__(self, x1: Tensor, x2: Tensor, /) -> Tensor: ...

class IndexAdd(Primitive):
    """``y`` added to the entries ``indices`` along ``axis``; ``x`` takes the result where it is a
    Parameter.
    """
    axis: int
    use_lock: bool
    check_index_bound: bool
    def __init__(self, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> None: ...
    def __call__(self, x: Tensor, indices: Tensor, y: Tensor, /) -> Any: ...

class IndexFill(Primitive):
    """``value`` in the entries ``index`` along ``axis``."""
    def __call__(self, x: Tensor, axis: int, index: Any, value: Any, /) -> Tensor: ...

class InplaceAdd(Primitive):
    """The tensor with ``v`` added to its rows ``indices``; a new tensor."""
    indices: Any
    def __init__(self, indices: Any) -> None: ...
    def __call__(self, x: Tensor, v: Tensor, /) -> Any: ...

class InplaceIndexAdd(Primitive):
    """``updates`` added to the entries ``indices`` of a parameter along ``axis``."""
    axis: int
    def __init__(self, axis: int) -> None: ...
    def __call__(self, var: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class InplaceSub(Primitive):
    """The tensor with ``v`` subtracted from its rows ``indices``; a new tensor."""
    indices: Any
    def __init__(self, indices: Any) -> None: ...
    def __call__(self, x: Tensor, v: Tensor, /) -> Any: ...

class InplaceUpdate(Primitive):
    """The tensor with ``v`` put into its rows ``indices``; a new tensor."""
    indices: Any
    def __init__(self, indices: Any) -> None: ...
    def __call__(self, x: Tensor, v: Tensor, /) -> Any: ...

class InplaceUpdateV2(Primitive):
    """"""
    def __call__(self, x: Any, indices: Any, v: Any, /) -> Any: ...

class Inv(Primitive):
    """1 / x, in the dtype of x."""
    def __call__(self, x: Tensor, /) -> Any: ...

class Invert(Primitive):
    """~x."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class InvertPermutation(Primitive):
    """Where each number of a permutation stands."""
    def __call__(self, input_x: Any, /) -> tuple[int, ...]: ...

class IsClose(Primitive):
    """Whether abs(input - other) <= atol + rtol * abs(other)."""
    rtol: float
    atol: float
    equal_nan: bool
    def __init__(self, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> None: ...
    def __call__(self, input: Tensor, other: Tensor, /) -> Any: ...

class IsFinite(Primitive):
    """Whether an element is a finite number."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class IsInf(Primitive):
    """Whether an element is infinite."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class IsNan(Primitive):
    """Whether an element is NaN."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class KLDivLoss(Primitive):
    """labels * (log(labels) - logits), 0 where a label is 0; "batchmean" divides the sum by the first
    length.
    """
    reduction: str
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, logits: Tensor, labels: Tensor, /) -> Tensor: ...

class L2Loss(Primitive):
    """Half the sum of squares."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class L2Normalize(Primitive):
    """``x`` over its 2-norm along ``axis``, whose square counts as ``epsilon`` at least."""
    axis: Any
    epsilon: float
    def __init__(self, axis: Any = 0, epsilon: float = 0.0001) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class LRN(Primitive):
    """x / (bias + alpha * sum of the squares of 2 * depth_radius + 1 neighbouring channels) ** beta.
    """
    depth_radius: int
    bias: float
    alpha: float
    beta: float
    norm_region: str
    def __init__(self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, norm_region: str = 'ACROSS_CHANNELS') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class LayerNorm(Primitive):
    """The output; and the mean and variance over the axes from ``begin_norm_axis`` on."""
    begin_norm_axis: int
    begin_params_axis: int
    epsilon: float
    def __init__(self, begin_norm_axis: int = 1, begin_params_axis: int = 1, epsilon: float = 1e-07) -> None: ...
    def __call__(self, x: Tensor, gamma: Tensor, beta: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class Lcm(Primitive):
    """The least common multiple."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class LeftShift(Primitive):
    """input * 2**other, on the bits."""
    def __call__(self, input: Any, other: Any, /) -> Any: ...

class Lerp(Primitive):
    """input + weight * (end - input)."""
    def __call__(self, input: Tensor, end: Tensor, weight: Any, /) -> Any: ...

class LerpScalar(Primitive):
    """input + weight * (end - input)."""
    def __call__(self, input: Tensor, end: Tensor, weight: Any, /) -> Any: ...

class Less(Primitive):
    """x < y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class LessEqual(Primitive):
    """x <= y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Lgamma(Primitive):
    """log of abs(gamma(x))."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class LinSpace(Primitive):
    """``steps`` numbers evenly spaced from ``start`` to ``end``, both included."""
    def __call__(self, start: float, end: float, steps: int, /) -> Tensor: ...

class Log(Primitive):
    """The natural logarithm."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Log1p(Primitive):
    """log(1 + x), exact near 0."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class LogMatrixDeterminant(Primitive):
    """The sign of the determinant, and the logarithm of its size."""
    def __call__(self, input: Tensor, /) -> tuple[Any, Any]: ...

class LogSoftmax(Primitive):
    """log(softmax(logits)) along ``axis``, without overflow."""
    axis: int
    def __init__(self, axis: int = -1) -> None: ...
    def __call__(self, logits: Tensor, /) -> Tensor: ...

class LogSpace(Primitive):
    """``base`` to the powers of ``steps`` numbers evenly spaced from ``start`` to ``end``."""
    steps: int
    base: int
    dtype: Any
    def __init__(self, steps: int = 10, base: int = 10, dtype: Any = ...) -> None: ...
    def __call__(self, start: float, end: float, /) -> Tensor: ...

class LogicalAnd(Primitive):
    """x and y, elementwise."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class LogicalNot(Primitive):
    """Whether an element is zero or False."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class LogicalOr(Primitive):
    """x or y, elementwise."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class LogicalXor(Primitive):
    """Whether one of x and y holds, and not both."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Logit(Primitive):
    """log(x / (1 - x)); with ``eps`` x is first limited to [eps, 1 - eps]."""
    eps: float | None
    def __init__(self, eps: float | None = -1.0) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class LowerBound(Primitive):
    """Where ``values`` belong in sorted rows."""
    out_type: Any
    def __init__(self, out_type: Any = 'int32') -> None: ...
    def __call__(self, rows: Tensor, values: Tensor, /) -> Tensor: ...

class LpNorm(Primitive):
    """The ``p``-norm over ``axis``; ``epsilon`` where it is less."""
    axis: Any
    p: int
    keep_dims: bool
    epsilon: float
    def __init__(self, axis: Any, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Lstsq(Primitive):
    """"""
    fast: Any
    l2_regularizer: Any
    def __init__(self, fast: Any = True, l2_regularizer: Any = 0.0) -> None: ...
    def __call__(self, x: Any, a: Any, /) -> Any: ...

class LuSolve(Primitive):
    """The x with A @ x = b, from the packed LU decomposition of A."""
    def __call__(self, b: Tensor, LU_data: Tensor, LU_pivots: Tensor, /) -> Any: ...

class LuUnpack(Primitive):
    """The matrices P, L and U of a packed decomposition, with P @ L @ U the matrix."""
    unpack_data: bool
    unpack_pivots: bool
    def __init__(self, unpack_data: bool = True, unpack_pivots: bool = True) -> None: ...
    def __call__(self, LU_data: Tensor, LU_pivots: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class MaskedFill(Primitive):
    """``value`` where ``mask`` holds."""
    def __call__(self, input_x: Tensor, mask: Tensor, value: Any, /) -> Tensor: ...

class MaskedScatter(Primitive):
    """The first elements of ``source`` in order where ``mask`` holds."""
    def __call__(self, input: Tensor, mask: Tensor, source: Tensor, /) -> Any: ...

class MaskedSelect(Primitive):
    """The elements where ``mask`` holds, as a vector."""
    def __call__(self, input: Tensor, mask: Tensor, /) -> Any: ...

class MatMul(Primitive):
    """The matrix product, broadcast over leading axes."""
    transpose_a: bool
    transpose_b: bool
    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None: ...
    def __call__(self, input: Tensor, other: Tensor, /) -> Tensor: ...

class MatrixBandPart(Primitive):
    """The matrix with ``lower`` diagonals below and ``upper`` above the main one kept; negative keeps all.
    """
    def __call__(self, x: Tensor, lower: Any, upper: Any, /) -> Any: ...

class MatrixDeterminant(Primitive):
    """The determinant of each matrix."""
    def __call__(self, input: Tensor, /) -> Any: ...

class MatrixExp(Primitive):
    """The exponential of each matrix: Taylor's series of a scaled matrix, squared again."""
    def __call__(self, input: Tensor, /) -> Any: ...

class MatrixInverse(Primitive):
    """The inverse of each matrix, or with ``adjoint`` of its conjugate transpose."""
    adjoint: bool
    def __init__(self, adjoint: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class MatrixPower(Primitive):
    """The product of ``n`` times the matrix; of its inverse for negative n."""
    n: int
    def __init__(self, n: int) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class MatrixSolve(Primitive):
    """The x with matrix @ x = rhs."""
    adjoint: bool
    def __init__(self, adjoint: bool = False) -> None: ...
    def __call__(self, matrix: Tensor, rhs: Tensor, /) -> Any: ...

class MatrixTriangularSolve(Primitive):
    """The x with matrix @ x = rhs (or its adjoint @ x = rhs), of which only one triangle of ``matrix`` is
    read.
    """
    lower: bool
    adjoint: bool
    def __init__(self, lower: bool = True, adjoint: bool = False) -> None: ...
    def __call__(self, matrix: Tensor, rhs: Tensor, /) -> Tensor: ...

class MaxPool(Primitive):
    """The largest element of each window."""
    kernel_size: Any
    strides: Any
    pad_mode: str
    data_format: str
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = 'valid', data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class MaxPool3D(Primitive):
    """The largest element of each window of (N, C, D, H, W)."""
    kernel_size: Any
    strides: Any
    pad_mode: str
    pad_list: Any
    ceil_mode: bool | None
    data_format: str
    def __init__(self, kernel_size: Any = 1, strides: Any = 1, pad_mode: str = 'VALID', pad_list: Any = 0, ceil_mode: bool | None = None, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class MaxPool3DWithArgmax(Primitive):
    """The largest element of each window of (N, C, D, H, W), and where it is in the flattened volume.
    """
    ksize: Any
    strides: Any
    pads: Any
    dilation: Any
    ceil_mode: bool
    data_format: str
    argmax_type: Any
    def __init__(self, ksize: Any, strides: Any, pads: Any, dilation: Any = ..., ceil_mode: bool = False, data_format: str = 'NCDHW', argmax_type: Any = None) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class MaxPoolWithArgmaxV2(Primitive):
    """The largest element of each window of (N, C, H, W), and where it is in the flattened image."""
    kernel_size: Any
    strides: Any
    pads: Any
    dilation: Any
    ceil_mode: bool
    argmax_type: Any
    def __init__(self, kernel_size: Any, strides: Any = None, pads: Any = 0, dilation: Any = ..., ceil_mode: bool = False, argmax_type: Any = None) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class MaxUnpool2D(Primitive):
    """Elements put back to where ``argmax`` says they were the largest; 0 elsewhere."""
    ksize: Any
    strides: Any
    pads: Any
    output_shape: Any
    data_format: str
    def __init__(self, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, argmax: Tensor, /) -> Tensor: ...

class MaxUnpool3D(Primitive):
    """Elements put back to where ``argmax`` says they were the largest; 0 elsewhere."""
    ksize: Any
    strides: Any
    pads: Any
    output_shape: Any
    data_format: str
    def __init__(self, ksize: Any, strides: Any = 0, pads: Any = 0, output_shape: Any = (), data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, argmax: Tensor, /) -> Tensor: ...

class Maximum(Primitive):
    """The larger of x and y; NaN where either is NaN."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Median(Primitive):
    """The middle element of all, or of those along ``axis``, and where it is."""
    global_median: bool
    axis: int
    keep_dims: bool
    ignore_nan: bool
    def __init__(self, global_median: bool = False, axis: int = 0, keep_dims: bool = False, ignore_nan: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Meshgrid(Primitive):
    """The coordinates of a grid, one tensor for each axis."""
    indexing: str
    def __init__(self, indexing: str = 'xy') -> None: ...
    def __call__(self, *inputs: Any) -> tuple[Any, ...]: ...

class Minimum(Primitive):
    """The smaller of x and y; NaN where either is NaN."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class MirrorPad(Primitive):
    """Padded with the mirror image of the tensor, its edge repeated ("SYMMETRIC") or not ("REFLECT").
    """
    mode: str
    def __init__(self, mode: str = 'REFLECT') -> None: ...
    def __call__(self, input_x: Tensor, paddings: Any, /) -> Tensor: ...

class Mish(Primitive):
    """x * tanh(softplus(x))."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Mod(Primitive):
    """The remainder with the sign of x."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Mul(Primitive):
    """x * y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class MulNoNan(Primitive):
    """x * y, and 0 where y is 0, whatever x is."""
    def __call__(self, x: Any, y: Any, /) -> Tensor: ...

class MultiMarginLoss(Primitive):
    """"""
    p: Any
    margin: Any
    reduction: Any
    def __init__(self, p: Any = 1, margin: Any = 1.0, reduction: Any = 'mean') -> None: ...
    def __call__(self, x: Any, y: Any, weight: Any = None, /) -> Any: ...

class Multinomial(Primitive):
    """``num_samples`` indices, drawn with the weights of each row and put back."""
    seed: int
    seed2: int
    dtype: Any
    def __init__(self, seed: int = 0, seed2: int = 0, dtype: Any = ...) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class Mvlgamma(Primitive):
    """The logarithm of the gamma function of p dimensions."""
    p: int
    def __init__(self, p: int) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class NLLLoss(Primitive):
    """The loss, and the sum of the weights of the labels."""
    reduction: str
    ignore_index: int
    def __init__(self, reduction: str = 'mean', ignore_index: int = -100) -> None: ...
    def __call__(self, logits: Tensor, labels: Tensor, weight: Tensor, /) -> tuple[Tensor, Tensor]: ...

class NPUAllocFloatStatus(Primitive):
    """NumPy and CuPy raise no overflow flag: always clear. Use ops.isfinite."""
    def __call__(self, *_: Any) -> Tensor: ...

class NPUClearFloatStatus(Primitive):
    """NumPy and CuPy raise no overflow flag: always clear. Use ops.isfinite."""
    def __call__(self, *_: Any) -> Tensor: ...

class NPUGetFloatStatus(Primitive):
    """NumPy and CuPy raise no overflow flag: always clear. Use ops.isfinite."""
    def __call__(self, *_: Any) -> Tensor: ...

class NanToNum(Primitive):
    """NaN as ``nan`` (0), infinities as ``posinf`` and ``neginf`` (the dtype's greatest and least
    numbers).
    """
    nan: float | None
    posinf: float | None
    neginf: float | None
    def __init__(self, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class Neg(Primitive):
    """-x."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class NextAfter(Primitive):
    """The floating-point number after x on the way to y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class NonZero(Primitive):
    """Where elements are not 0: a row for each, or with ``as_tuple`` a vector for each axis."""
    def __call__(self, input: Tensor, *, as_tuple: bool = False) -> Any: ...

class NotEqual(Primitive):
    """x != y."""
    def __call__(self, input: Tensor, other: Any, /) -> Any: ...

class OneHot(Primitive):
    """``on_value`` where the last axis (or ``axis``) is the index, ``off_value`` elsewhere."""
    axis: int
    def __init__(self, axis: int = -1) -> None: ...
    def __call__(self, indices: Tensor, depth: int, on_value: Any = 1, off_value: Any = 0, /) -> Tensor: ...

class Ones(Primitive):
    """Ones of shape ``size``; Float32 without ``dtype``."""
    def __call__(self, size: Any, dtype: Any = None, /) -> Tensor: ...

class OnesLike(Primitive):
    """Ones of the input's shape, dtype and device."""
    def __call__(self, input: Tensor, *, dtype: Any = None) -> Tensor: ...

class Orgqr(Primitive):
    """The first columns of the product of Householder reflections."""
    def __call__(self, input: Tensor, input2: Tensor, /) -> Tensor: ...

class Ormqr(Primitive):
    """``other`` times the product of Householder reflections (or its transpose), from the ``left`` or the
    right.
    """
    left: bool
    transpose: bool
    def __init__(self, left: bool = True, transpose: bool = False) -> None: ...
    def __call__(self, input: Tensor, tau: Tensor, other: Tensor, /) -> Any: ...

class PReLU(Primitive):
    """x where it is positive, weight * x elsewhere; ``weight`` has one number, or one for each channel
    (axis 1).
    """
    def __call__(self, input: Tensor, weight: Tensor, /) -> Tensor: ...

class Pack(Primitive):
    """Tensors of one shape joined along a new axis."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, tensors: Sequence[Tensor], /) -> Tensor: ...

class Pad(Primitive):
    """``x`` with 0 at the ends of its axes: ``paddings`` is a pair for each, the last axis last."""
    paddings: Any
    def __init__(self, paddings: Any) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class PadV3(Primitive):
    """``pad``, by (before, after) pairs, or by what comes before each axis and then what comes after.
    """
    mode: str
    paddings_contiguous: bool
    def __init__(self, mode: str = 'constant', paddings_contiguous: bool = True) -> None: ...
    def __call__(self, x: Tensor, paddings: Any, value: Any = None, /) -> Tensor: ...

class Padding(Primitive):
    """The last axis, of length 1, filled up with 0 to ``pad_dim_size``."""
    pad_dim_size: int
    def __init__(self, pad_dim_size: int = 8) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class ParallelConcat(Primitive):
    """Tensors joined along an axis they have."""
    def __call__(self, tensors: Sequence[Tensor], axis: int = 0, /) -> Tensor: ...

class Pdist(Primitive):
    """The p-norm distance of each two rows."""
    p: float
    def __init__(self, p: float = 2.0) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class Polar(Primitive):
    """Complex numbers of a length and an angle."""
    def __call__(self, abs: Tensor, angle: Tensor, /) -> Tensor: ...

class Polygamma(Primitive):
    """The n-th derivative of digamma."""
    def __call__(self, n: Any, input: Tensor, /) -> Any: ...

class PopulationCount(Primitive):
    """How many bits are 1."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Pow(Primitive):
    """x to the power y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Print(Primitive):
    """Print tensors as MindSpore's ``Print`` does: each on a line, with shape, dtype and value."""
    def __call__(self, *input_x: Any) -> None: ...

class Qr(Primitive):
    """``qr`` in its reduced form, or with ``full_matrices`` the complete one."""
    full_matrices: bool
    def __init__(self, full_matrices: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class RandomCategorical(Primitive):
    """``num_sample`` indices for each row, drawn with the softmax of the row."""
    dtype: Any
    def __init__(self, dtype: Any = ...) -> None: ...
    def __call__(self, logits: Tensor, num_sample: int, seed: int = 0, /) -> Any: ...

class RandomGamma(Primitive):
    """Numbers of the gamma distribution, ``shape`` of them for each ``alpha``."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class RandomPoisson(Primitive):
    """Numbers of Poisson's distribution, ``shape`` of them for each ``rate``."""
    seed: int
    seed2: int
    dtype: Any
    def __init__(self, seed: int = 0, seed2: int = 0, dtype: Any = ...) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class RandomShuffle(Primitive):
    """The entries of the first axis in random order."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class RandpermV2(Primitive):
    """0, 1, ..., n - 1 in random order."""
    seed: int
    offset: int
    dtype: Any
    def __init__(self, seed: int = 0, offset: int = 0, dtype: Any = ...) -> None: ...
    def __call__(self, n: Any, /) -> Tensor: ...

class Range(Primitive):
    """start, start + step, ... before ``end``, in the dtype of the three."""
    maxlen: int
    def __init__(self, maxlen: int = 1000000) -> None: ...
    def __call__(self, start: Any, end: Any, step: Any, /) -> Any: ...

class Rank(Primitive):
    """The number of axes."""
    def __call__(self, input_x: Tensor, /) -> int: ...

class ReLU(Primitive):
    """max(input, 0); NaN stays NaN. ``inplace`` also rebinds ``input`` to the result."""
    def __call__(self, input: Tensor, inplace: bool = False, /) -> Tensor: ...

class ReLU6(Primitive):
    """min(max(x, 0), 6)."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Real(Primitive):
    """The real part; a real tensor itself."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class RealDiv(Primitive):
    """x / y; integers give Float32."""
    def __call__(self, input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor: ...

class Reciprocal(Primitive):
    """1 / x."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class ReduceAll(Primitive):
    """Whether all elements hold."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, input: Tensor, axis: Any = None, /) -> Tensor: ...

class ReduceAny(Primitive):
    """Whether any element holds."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, input: Tensor, axis: Any = None, /) -> Tensor: ...

class ReduceMax(Primitive):
    """The largest element over ``axis``."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any = (), /) -> Tensor: ...

class ReduceMean(Primitive):
    """The mean over ``axis`` (all axes without it)."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any = None, /) -> Tensor: ...

class ReduceMin(Primitive):
    """The smallest element over ``axis``."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any = (), /) -> Tensor: ...

class ReduceProd(Primitive):
    """The product over ``axis`` in the tensor's own dtype."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any = (), /) -> Tensor: ...

class ReduceStd(Primitive):
    """The standard deviation, ``unbiased`` divided by n - 1, and the mean."""
    axis: Any
    unbiased: bool
    keep_dims: bool
    def __init__(self, axis: Any = (), unbiased: bool = True, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class ReduceSum(Primitive):
    """The sum over ``axis`` in the tensor's own dtype; in ``skip_mode`` no axis means none, not all.
    """
    keep_dims: bool
    skip_mode: bool
    def __init__(self, keep_dims: bool = False, skip_mode: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Any = (), /) -> Tensor: ...

class Renorm(Primitive):
    """"""
    p: Any
    dim: Any
    maxnorm: Any
    def __init__(self, p: Any, dim: Any, maxnorm: Any) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class Reshape(Primitive):
    """The elements in their order in another shape; one axis may be -1."""
    def __call__(self, input: Tensor, shape: Any, /) -> Tensor: ...

class ResizeBicubic(Primitive):
    """"""
    align_corners: bool
    half_pixel_centers: bool
    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None: ...
    def __call__(self, x: Tensor, size: Any, /) -> Tensor: ...

class ResizeBilinearV2(Primitive):
    """"""
    align_corners: bool
    half_pixel_centers: bool
    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None: ...
    def __call__(self, x: Tensor, size: Any, /) -> Tensor: ...

class ResizeLinear1D(Primitive):
    """(N, C, L) resized to ``size`` along lines between neighbors."""
    coordinate_transformation_mode: str
    def __init__(self, coordinate_transformation_mode: str = 'align_corners') -> None: ...
    def __call__(self, x: Tensor, size: Any, /) -> Tensor: ...

class ResizeNearestNeighbor(Primitive):
    """"""
    size: Any
    align_corners: bool
    half_pixel_centers: bool
    def __init__(self, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class ResizeNearestNeighborV2(Primitive):
    """"""
    align_corners: bool
    half_pixel_centers: bool
    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None: ...
    def __call__(self, x: Tensor, size: Any, /) -> Tensor: ...

class Reusing(Primitive):
    """The same values, a new tensor."""
    def __call__(self, *operands: Any) -> Any: ...

class ReverseSequence(Primitive):
    """In each entry of the batch, the first ``seq_lengths`` elements reversed."""
    seq_dim: int
    batch_dim: int
    def __init__(self, seq_dim: int, batch_dim: int = 0) -> None: ...
    def __call__(self, x: Tensor, seq_lengths: Tensor, /) -> Any: ...

class ReverseV2(Primitive):
    """The order reversed along the axes ``axis``."""
    axis: Any
    def __init__(self, axis: Any) -> None: ...
    def __call__(self, x: Tensor, /) -> Any: ...

class RightShift(Primitive):
    """floor(input / 2**other), on the bits."""
    def __call__(self, input: Any, other: Any, /) -> Any: ...

class Rint(Primitive):
    """The nearest number with ``decimals`` places, halves to the even one."""
    def __call__(self, input: Any, *, decimals: int = 0) -> Any: ...

class RmsNorm(Primitive):
    """x / sqrt(mean(x * x) + epsilon) * gamma over the axes of ``gamma``, and 1 / sqrt(...) (Zhang and
    Sennrich 2019).
    """
    epsilon: float
    def __init__(self, epsilon: float = 1e-06) -> None: ...
    def __call__(self, x: Tensor, gamma: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Roll(Primitive):
    """Elements moved on by ``shifts`` along ``dims``, those that fall off the end coming back at the
    start.
    """
    shifts: Any
    dims: Any
    def __init__(self, shifts: Any, dims: Any = None) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class Round(Primitive):
    """``round``, whose ``decimals`` may be given by place."""
    def __call__(self, input: Any, decimals: int = 0, /) -> Any: ...

class Rsqrt(Primitive):
    """1 / sqrt(x)."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class SGD(Primitive):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v; ``stat`` is 1 before the first step."""
    dampening: float
    weight_decay: float
    nesterov: bool
    def __init__(self, dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False) -> None: ...
    def __call__(self, p: Any, g: Any, lr: Any, kept: Any, momentum: Any, first: Any, /) -> tuple[Any, ...]: ...

class ScalarCast(Primitive):
    """A Python number as the kind of number that a dtype holds."""
    def __call__(self, input_x: Any, input_y: Any, /) -> Any: ...

class ScalarToArray(Primitive):
    """A number as a 0-d tensor of its own dtype."""
    def __call__(self, input_x: Any, /) -> Any: ...

class ScalarToTensor(Primitive):
    """A number as a 0-d tensor."""
    def __call__(self, input_x: Any, dtype: Any = ..., /) -> Any: ...

class ScatterAdd(Primitive):
    """``updates`` added where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterDiv(Primitive):
    """``updates`` divided where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterMax(Primitive):
    """``updates`` kept if they are the max where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterMin(Primitive):
    """``updates`` kept if they are the min where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterMul(Primitive):
    """``updates`` multiplied where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNd(Primitive):
    """Zeros of ``shape``, with ``updates`` added where the rows of ``indices`` point."""
    def __call__(self, indices: Tensor, updates: Tensor, shape: Any, /) -> Tensor: ...

class ScatterNdAdd(Primitive):
    """``updates`` added where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdDiv(Primitive):
    """``updates`` divided where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdMax(Primitive):
    """``updates`` kept if they are the max where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdMin(Primitive):
    """``updates`` kept if they are the min where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdMul(Primitive):
    """``updates`` multiplied where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdSub(Primitive):
    """``updates`` subtracted where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdUpdate(Primitive):
    """``updates`` put where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNonAliasingAdd(Primitive):
    """``updates`` added where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class ScatterSub(Primitive):
    """``updates`` subtracted where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterUpdate(Primitive):
    """``updates`` put where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class SeLU(Primitive):
    """scale * x where it is positive, scale * alpha * (exp(x) - 1) elsewhere (Klambauer et al. 2017).
    """
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class SearchSorted(Primitive):
    """``searchsorted``, as ``dtype``."""
    dtype: Any
    right: bool
    def __init__(self, dtype: Any = ..., right: bool = False) -> None: ...
    def __call__(self, sorted_sequence: Tensor, values: Any, sorter: Tensor | None = None, /) -> Tensor: ...

class SegmentMax(Primitive):
    """The elements of each segment together, one entry a segment; negative ids are left out."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SegmentMin(Primitive):
    """The elements of each segment together, one entry a segment; negative ids are left out."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SegmentProd(Primitive):
    """The elements of each segment together, one entry a segment; negative ids are left out."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SegmentSum(Primitive):
    """The sum of each segment's elements, one entry a segment; negative ids are left out."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class Select(Primitive):
    """``input`` where ``condition`` holds, ``other`` elsewhere."""
    def __call__(self, condition: Any, input: Any, other: Any, /) -> Tensor: ...

class Shape(Primitive):
    """The shape."""
    def __call__(self, input_x: Tensor, /) -> tuple[int, ...]: ...

class Sigmoid(Primitive):
    """1 / (1 + exp(-x))."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class SigmoidCrossEntropyWithLogits(Primitive):
    """-(y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x))), without overflow, of each element."""
    def __call__(self, x: Tensor, y: Tensor, /) -> Tensor: ...

class Sign(Primitive):
    """-1, 0 or 1; of a complex number, x / |x|."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Sin(Primitive):
    """The sine."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Sinc(Primitive):
    """sin(pi x) / (pi x), and 1 at 0."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Sinh(Primitive):
    """The hyperbolic sine."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Size(Primitive):
    """The number of elements."""
    def __call__(self, input_x: Tensor, /) -> int: ...

class Slice(Primitive):
    """The part from ``begin`` on of shape ``size``; -1 takes all that is left of an axis."""
    def __call__(self, input_x: Tensor, begin: Any, size: Any, /) -> Any: ...

class SmoothL1Loss(Primitive):
    """0.5 * d**2 / beta where d = |input - target| is below ``beta``, d - 0.5 * beta elsewhere (Girshick
    2015).
    """
    beta: float
    reduction: str
    def __init__(self, beta: float = 1.0, reduction: str = 'none') -> None: ...
    def __call__(self, input: Tensor, target: Tensor, /) -> Tensor: ...

class SoftMarginLoss(Primitive):
    """log(1 + exp(-target * input))."""
    reduction: str
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, input: Tensor, target: Tensor, /) -> Tensor: ...

class SoftShrink(Primitive):
    """x moved towards 0 by ``lambd``, and 0 where it is nearer than that."""
    lambd: float
    def __init__(self, lambd: float = 0.5) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Softmax(Primitive):
    """exp(input) / sum(exp(input)) along ``axis``."""
    axis: int
    def __init__(self, axis: int = -1) -> None: ...
    def __call__(self, input: Tensor, *, dtype: Any = None) -> Tensor: ...

class SoftmaxCrossEntropyWithLogits(Primitive):
    """The losses of rows of probabilities, and their gradient by ``logits``."""
    def __call__(self, logits: Tensor, labels: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Softplus(Primitive):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above ``threshold``."""
    def __call__(self, input: Tensor, beta: float = 1, threshold: float = 20, /) -> Tensor: ...

class Softsign(Primitive):
    """x / (1 + |x|)."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Sort(Primitive):
    """The elements in order along ``axis``, and where they were."""
    axis: int
    descending: bool
    def __init__(self, axis: int = -1, descending: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, /) -> tuple[Any, Any]: ...

class SpaceToBatch(Primitive):
    """Blocks of the last axes as entries of the batch, after padding with 0."""
    block_size: Any
    paddings: Any
    def __init__(self, block_size: Any, paddings: Any) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Any: ...

class SpaceToBatchND(Primitive):
    """"""
    block_shape: Any
    paddings: Any
    def __init__(self, block_shape: Any, paddings: Any) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class SpaceToDepth(Primitive):
    """(N, C, H * b, W * b) to (N, b * b * C, H, W); the inverse of ``DepthToSpace``."""
    block_size: int
    def __init__(self, block_size: int) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class SparseGatherV2(Primitive):
    """The entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes are paired up."""
    def __call__(self, input_params: Tensor, input_indices: Any, axis: Any, batch_dims: int = 0, /) -> Any: ...

class SparseSoftmaxCrossEntropyWithLogits(Primitive):
    """The mean loss of class numbers, or with ``is_grad`` its gradient by ``logits``."""
    is_grad: bool
    def __init__(self, is_grad: bool = False) -> None: ...
    def __call__(self, logits: Tensor, labels: Tensor, /) -> Tensor: ...

class Split(Primitive):
    """"""
    axis: Any
    output_num: Any
    def __init__(self, axis: Any = 0, output_num: Any = 1) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class SplitV(Primitive):
    """Parts of these sizes along ``split_dim``; one size may be -1, which is what the others leave."""
    size_splits: Any
    split_dim: int
    num_split: int
    def __init__(self, size_splits: Any = (), split_dim: int = 0, num_split: int = 1) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, ...]: ...

class Sqrt(Primitive):
    """The square root."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Square(Primitive):
    """x * x."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class SquareSumAll(Primitive):
    """"""
    def __call__(self, x: Any, y: Any, /) -> Any: ...

class SquaredDifference(Primitive):
    """(x - y) squared."""
    def __call__(self, x: Any, y: Any, /) -> Tensor: ...

class Squeeze(Primitive):
    """Without the axes of length 1 (of those in ``axis``)."""
    axis: Any
    def __init__(self, axis: Any = ()) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Stack(Primitive):
    """Tensors of one shape joined along a new axis."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, tensors: Sequence[Tensor], /) -> Tensor: ...

class StandardLaplace(Primitive):
    """Numbers of Laplace's distribution with mean 0 and scale 1."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class StandardNormal(Primitive):
    """Numbers of the normal distribution with mean 0 and deviation 1."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class StopGradient(Primitive):
    """The same values (of a tensor, or of the tensors in a tuple), through which no gradient passes.
    """
    def __call__(self, value: Any, /) -> Any: ...

class StridedSlice(Primitive):
    """``input_x[begin:end:strides]`` axis by axis; a bit of a mask changes what the entry of its place
    means.
    """
    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int
    def __init__(self, begin_mask: int = 0, end_mask: int = 0, ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0) -> None: ...
    def __call__(self, input_x: Tensor, begin: Any, end: Any, strides: Any, /) -> Tensor: ...

class Sub(Primitive):
    """x - y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Svd(Primitive):
    """The singular values, and the matrices U and V with U @ diag(s) @ V.T = input."""
    full_matrices: bool
    compute_uv: bool
    def __init__(self, full_matrices: bool = False, compute_uv: bool = True) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class Tan(Primitive):
    """The tangent."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class Tanh(Primitive):
    """The hyperbolic tangent."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class TensorAdd(Primitive):
    """x + y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class TensorScatterAdd(Primitive):
    """``updates`` added where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterDiv(Primitive):
    """``updates`` divided where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterElements(Primitive):
    """``updates`` put (or with ``reduction`` "add" added) at ``indices`` along ``axis``."""
    axis: int
    reduction: str
    def __init__(self, axis: int = 0, reduction: str = 'none') -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class TensorScatterMax(Primitive):
    """``updates`` kept if they are the max where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterMin(Primitive):
    """``updates`` kept if they are the min where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterMul(Primitive):
    """``updates`` multiplied where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterSub(Primitive):
    """``updates`` subtracted where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterUpdate(Primitive):
    """``updates`` put where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorShape(Primitive):
    """The shape as a tensor."""
    def __call__(self, input_x: Tensor, /) -> Any: ...

class TensorToTuple(Primitive):
    """The elements of a vector as Python numbers."""
    def __call__(self, x: Tensor, /) -> tuple[Any, ...]: ...

class Tile(Primitive):
    """The tensor repeated ``dims[i]`` times along axis i."""
    def __call__(self, input: Tensor, dims: Any, /) -> Tensor: ...

class TopK(Primitive):
    """``topk`` along the last axis."""
    sorted: bool
    def __init__(self, sorted: bool = True) -> None: ...
    def __call__(self, input_x: Tensor, k: int, /) -> tuple[Any, Any]: ...

class Trace(Primitive):
    """The sum of a matrix's diagonal."""
    def __call__(self, input: Tensor, /) -> Any: ...

class Transpose(Primitive):
    """The axes in the order of ``dims``; reversed without it."""
    def __call__(self, input: Tensor, dims: Any = None, /) -> Tensor: ...

class Tril(Primitive):
    """The lower triangle; 0 above the ``diagonal``-th diagonal."""
    diagonal: int
    def __init__(self, diagonal: int = 0) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class TrilIndices(Primitive):
    """Where the lower triangle of a (row, col) matrix is: two rows of indices."""
    row: int
    col: int
    offset: int
    dtype: Any
    def __init__(self, row: int, col: int, offset: int = 0, dtype: Any = ...) -> None: ...
    def __call__(self, ) -> Any: ...

class TripletMarginLoss(Primitive):
    """max(0, |x - positive| - |x - negative| + margin), with the p-norm."""
    p: float
    swap: bool
    eps: float
    reduction: str
    def __init__(self, p: float = 2, swap: bool = False, eps: float = 1e-06, reduction: str = 'mean') -> None: ...
    def __call__(self, x: Tensor, positive: Tensor, negative: Tensor, margin: Any, /) -> Tensor: ...

class Triu(Primitive):
    """The upper triangle; 0 below the ``diagonal``-th diagonal."""
    diagonal: int
    def __init__(self, diagonal: int = 0) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class TriuIndices(Primitive):
    """Where the upper triangle of a (row, col) matrix is: two rows of indices."""
    row: int
    col: int
    offset: int
    dtype: Any
    def __init__(self, row: int, col: int, offset: int = 0, dtype: Any = ...) -> None: ...
    def __call__(self, ) -> Any: ...

class Trunc(Primitive):
    """The integer part."""
    def __call__(self, input: Operand, /) -> Tensor: ...

class TruncateDiv(Primitive):
    """x / y rounded towards 0, in their own dtype."""
    def __call__(self, x: Any, y: Any, /) -> Any: ...

class TruncateMod(Primitive):
    """The remainder of a division that rounds towards 0."""
    def __call__(self, x: Any, y: Any, /) -> Any: ...

class TupleToArray(Primitive):
    """A tuple of numbers as a tensor."""
    def __call__(self, input_x: tuple[Any, ...], /) -> Tensor: ...

class UniformInt(Primitive):
    """Int32 numbers evenly spread over [minval, maxval)."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class UniformReal(Primitive):
    """Numbers evenly spread over [0, 1)."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, *inputs: Any) -> Tensor: ...

class Unique(Primitive):
    """Each value once, in the order in which they come, and for every element the place of its value.
    """
    def __call__(self, input: Tensor, /) -> tuple[Any, Any]: ...

class UniqueConsecutive(Primitive):
    """Without the repetitions of neighbours; on demand places and counts."""
    return_inverse: bool
    return_counts: bool
    dim: int | None
    def __init__(self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class UniqueWithPad(Primitive):
    """``unique`` of a vector, filled up with ``pad_num`` to the length of the input."""
    def __call__(self, x: Tensor, pad_num: Any, /) -> tuple[Any, Any]: ...

class Unpack(Primitive):
    """The entries along ``axis``, without that axis."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, input_x: Tensor, /) -> tuple[Any, ...]: ...

class UnravelIndex(Primitive):
    """The index in each axis of a tensor of shape ``dims``, a row for each, of places in the flattened
    tensor.
    """
    def __call__(self, indices: Tensor, dims: Tensor, /) -> Tensor: ...

class UnsortedSegmentMax(Primitive):
    """The elements of each segment together, one entry a segment; negative ids are left out."""
    def __call__(self, x: Tensor, segment_ids: Tensor, num_segments: Any, /) -> Tensor: ...

class UnsortedSegmentMin(Primitive):
    """The elements of each segment together, one entry a segment; negative ids are left out."""
    def __call__(self, x: Tensor, segment_ids: Tensor, num_segments: Any, /) -> Tensor: ...

class UnsortedSegmentProd(Primitive):
    """The elements of each segment together, one entry a segment; negative ids are left out."""
    def __call__(self, x: Tensor, segment_ids: Tensor, num_segments: Any, /) -> Tensor: ...

class UnsortedSegmentSum(Primitive):
    """The sum of each segment's elements, one entry a segment; negative ids are left out."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, num_segments: Any, /) -> Tensor: ...

class Unstack(Primitive):
    """"""
    axis: Any
    num: Any
    def __init__(self, axis: Any = 0, num: Any = None) -> None: ...
    def __call__(self, x: Any, /) -> Any: ...

class UpperBound(Primitive):
    """Where ``values`` belong in sorted rows."""
    out_type: Any
    def __init__(self, out_type: Any = 'int32') -> None: ...
    def __call__(self, rows: Tensor, values: Tensor, /) -> Tensor: ...

class UpsampleNearest3D(Primitive):
    """"""
    def __call__(self, x: Tensor, output_size: Any = None, scales: Any = None, *, align_corners: bool | None = None) -> Tensor: ...

class UpsampleTrilinear3D(Primitive):
    """"""
    align_corners: bool | None
    def __init__(self, align_corners: bool | None = False) -> None: ...
    def __call__(self, x: Tensor, output_size: Any = None, scales: Any = None, /) -> Tensor: ...

class Xdivy(Primitive):
    """x / y, and 0 where x is 0."""
    def __call__(self, x: Any, y: Any, /) -> Any: ...

class Xlogy(Primitive):
    """input * log(other), and 0 where ``input`` is 0."""
    def __call__(self, input: Any, other: Any, /) -> Tensor: ...

class Zeros(Primitive):
    """Zeros of shape ``size``; Float32 without ``dtype``."""
    def __call__(self, size: Any, dtype: Any = None, /) -> Tensor: ...

class ZerosLike(Primitive):
    """Zeros of the input's shape, dtype and device."""
    def __call__(self, input: Tensor, *, dtype: Any = None) -> Tensor: ...

class Zeta(Primitive):
    """Hurwitz's zeta function: the sum of (other + k) ** -input over k = 0, 1, ..."""
    def __call__(self, input: Any, other: Any, /) -> Any: ...
