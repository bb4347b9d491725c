"""The Primitive classes: one of an operator and its attributes.

Written by scripts/stubs.py from the declarations in ops: change those."""

# mypy: disable-error-code="override, overload-cannot-match"

from collections.abc import Iterable, Sequence
from hookscope.engine.base.types import AnyDType, Array, DTypeLike, Ints, Number, Operand, TensorLike
from hookscope.engine.ops.arguments import Axis
from hookscope.engine.tensors.parameter import Parameter
from hookscope.engine.tensors.tensor import Tensor
from typing import Any

from .primitives import Primitive

class ACos(Primitive):
    """The arc cosine, in [0, pi]; NaN outside [-1, 1]."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Abs(Primitive):
    """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class AccumulateNV2(Primitive):
    """Return the sum of several Tensors of one shape and dtype: ``x[0] + x[1] + ...``."""
    def __call__(self, x: Sequence[Tensor], /) -> Tensor: ...

class Acosh(Primitive):
    """The inverse hyperbolic cosine, 0 or above; NaN below 1."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Adam(Primitive):
    """Take one step of Adam (Kingma and Ba 2015): p - lr * sqrt(1 - power2) / (1 - power1) * m / (sqrt(v)
    + eps).
    """
    use_locking: Any
    use_nesterov: bool
    def __init__(self, use_locking: Any = False, use_nesterov: bool = False) -> None: ...
    def __call__(self, p: Tensor, m: Tensor, v: Tensor, power1: Tensor | float, power2: Tensor | float, lr: Tensor | float, beta1: Any, beta2: Any, eps: Any, g: Tensor, /) -> tuple[Tensor, ...]: ...

class AdamNoUpdateParam(Primitive):
    """Return the change of a parameter by one step of Adam (Kingma and Ba 2015); the state is updated.
    """
    use_locking: bool
    use_nesterov: bool
    def __init__(self, use_locking: bool = False, use_nesterov: bool = False) -> None: ...
    def __call__(self, m: Tensor, v: Tensor, beta1_power: Tensor | float, beta2_power: Tensor | float, lr: Tensor | float, beta1: Tensor | float, beta2: Tensor | float, epsilon: Tensor | float, gradient: Tensor, /) -> Tensor: ...

class AdamWeightDecay(Primitive):
    """Take one step of Adam as in BERT, without correction: p - lr * (m / (sqrt(v) + eps) + decay * p).
    """
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Tensor, m: Tensor, v: Tensor, lr: Tensor | float, beta1: Tensor | float, beta2: Tensor | float, eps: Tensor | float, decay: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class AdaptiveAvgPool2D(Primitive):
    """Return means of windows of the last two axes, which are chosen so that the output has
    ``output_size``.
    """
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class AdaptiveAvgPool3D(Primitive):
    """Return means of windows of the last three axes, which are chosen so that the output has
    ``output_size``.
    """
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class AdaptiveMaxPool2D(Primitive):
    """Return the largest elements of windows chosen so that the output has ``output_size``, and their
    positions.
    """
    output_size: Any
    def __init__(self, output_size: Any) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class AdaptiveMaxPool3D(Primitive):
    """Return the largest elements of windows chosen so that the output has ``output_size``, and their
    positions.
    """
    def __call__(self, x: Tensor, output_size: Any, /) -> tuple[Tensor, Tensor]: ...

class Add(Primitive):
    """x + y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class AddN(Primitive):
    """Return the sum of several Tensors of one shape and dtype: ``x[0] + x[1] + ...``."""
    def __call__(self, x: Sequence[Tensor], /) -> Tensor: ...

class AddV2(Primitive):
    """Return the sum of two tensors of the same shape, element by element."""
    def __call__(self, x: Tensor, y: Tensor, /) -> Tensor: ...

class Addcdiv(Primitive):
    """Return input + value * tensor1 / tensor2."""
    def __call__(self, input: Tensor, tensor1: Operand, tensor2: Operand, value: Operand = 1, /) -> Tensor: ...

class Addcmul(Primitive):
    """Return input + value * tensor1 * tensor2."""
    def __call__(self, input: Tensor, tensor1: Operand, tensor2: Operand, value: Operand = 1, /) -> Tensor: ...

class AdjustContrastv2(Primitive):
    """Return images with another contrast: the difference of each channel from its mean over the image,
    times a factor.
    """
    def __call__(self, images: Tensor, contrast_factor: Tensor, /) -> Tensor: ...

class AdjustHue(Primitive):
    """Return colors rotated on the circle of hues; the least and the largest channel do not change."""
    def __call__(self, image: Tensor, delta: Tensor, /) -> Tensor: ...

class AdjustSaturation(Primitive):
    """Return colors with another saturation, and the same hue and largest channel."""
    def __call__(self, image: Tensor, scale: Tensor, /) -> Tensor: ...

class AffineGrid(Primitive):
    """Return for each output pixel the position in the input that ``theta`` maps it to, for
    ``grid_sample``.
    """
    align_corners: bool
    def __init__(self, align_corners: bool = False) -> None: ...
    def __call__(self, theta: Tensor, size: Sequence[int] | Tensor, /) -> Tensor: ...

class AllGather(Primitive):
    """Return the concatenation of all ranks' tensors along the first axis."""
    group: str | None
    def __init__(self, group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class AllGatherV(Primitive):
    """Return the concatenation of all ranks' tensors of one axis, of any lengths."""
    group: str | None
    def __init__(self, group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, output_split_sizes: Any, /) -> Tensor: ...

class AllReduce(Primitive):
    """Return the reduction of all ranks' tensors, the same on all ranks."""
    op: str
    group: str | None
    def __init__(self, op: str = 'sum', group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class AlltoAll(Primitive):
    """Return the concatenation of the parts of all ranks' tensors for this rank."""
    split_count: int
    split_dim: int
    concat_dim: int
    group: str | None
    def __init__(self, split_count: int, split_dim: int, concat_dim: int, group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class AlltoAllV(Primitive):
    """Return the concatenation of the elements of all ranks for this rank."""
    group: str | None
    block_size: int
    def __init__(self, group: str | None = 'hccl_world_group', block_size: int = 1) -> None: ...
    def __call__(self, input_x: Tensor, send_numel_list: Any, recv_numel_list: Any, /) -> Tensor: ...

class AlltoAllVC(Primitive):
    """Return the concatenation of the elements of all ranks for this rank, from the counts of all ranks.
    """
    group: str | None
    block_size: int
    transpose: bool
    def __init__(self, group: str | None = 'hccl_world_group', block_size: int = 1, transpose: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, send_count_matrix: Any, /) -> Tensor: ...

class Angle(Primitive):
    """Return the angle atan2(imag, real) of complex numbers; of real ones pi where negative, else 0; NaN
    of NaN.
    """
    def __call__(self, input: Tensor, /) -> Tensor: ...

class ApplyAdaMax(Primitive):
    """Take one step of AdaMax (Kingma and Ba 2015): p - lr / (1 - power1) * m / (v + eps)."""
    def __call__(self, p: Tensor, m: Tensor, v: Tensor, power1: Tensor | float, lr: Tensor | float, beta1: Tensor | float, beta2: Tensor | float, eps: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyAdadelta(Primitive):
    """Take one step of Adadelta (Zeiler 2012): p - lr * sqrt(steps + eps) / sqrt(squares + eps) * g.
    """
    def __call__(self, p: Tensor, squares: Tensor, steps: Tensor, lr: Tensor | float, rho: Tensor | float, eps: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyAdagrad(Primitive):
    """Take one step of Adagrad (Duchi et al. 2011): p - lr * g / sqrt(squares)."""
    update_slots: bool
    def __init__(self, update_slots: bool = True) -> None: ...
    def __call__(self, p: Tensor, squares: Tensor, lr: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyAdagradDA(Primitive):
    """Take one step of Adagrad by dual averaging (Duchi et al. 2011), from the sums a of gradients and s
    of squares.
    """
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, gradient_accumulator: Tensor, gradient_squared_accumulator: Tensor, grad: Tensor, lr: Tensor | float, l1: Tensor | float, l2: Tensor | float, global_step: Tensor | int, /) -> Tensor: ...

class ApplyAdagradV2(Primitive):
    """Take one step of Adagrad (Duchi et al. 2011): p - lr * g / (sqrt(squares) + epsilon)."""
    epsilon: float
    update_slots: bool
    def __init__(self, epsilon: float = 1e-06, update_slots: bool = True) -> None: ...
    def __call__(self, p: Tensor, squares: Tensor, lr: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyAdamWithAmsgrad(Primitive):
    """Take one step of AMSGrad (Reddi et al. 2018): Adam that divides by the largest ``v`` so far."""
    beta1: float
    beta2: float
    epsilon: float
    use_locking: Any
    def __init__(self, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, use_locking: Any = False) -> None: ...
    def __call__(self, p: Tensor, m: Tensor, v: Tensor, largest: Tensor, power1: Tensor | float, power2: Tensor | float, lr: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyAdamWithAmsgradV2(Primitive):
    """Take one step of AMSGrad (Reddi et al. 2018): Adam that divides by the largest ``v`` so far."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Tensor, m: Tensor, v: Tensor, largest: Tensor, power1: Tensor | float, power2: Tensor | float, lr: Tensor | float, beta1: Tensor | float, beta2: Tensor | float, eps: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyAddSign(Primitive):
    """Take one step of AddSign (Bello et al. 2017): p - lr * (alpha + sign_decay * sign(g) * sign(m)) * g.
    """
    def __call__(self, p: Tensor, m: Tensor, lr: Tensor | float, alpha: Tensor | float, sign_decay: Tensor | float, beta: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyCenteredRMSProp(Primitive):
    """Take one step of RMSProp by the variance of the gradient (Graves 2013)."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Tensor, mean: Tensor, squares: Tensor, moved: Tensor, g: Tensor, lr: Tensor | float, decay: Tensor | float, momentum: Tensor | float, eps: Tensor | float, /) -> Tensor: ...

class ApplyFtrl(Primitive):
    """Take one step of FTRL, follow the regularized leader (McMahan et al. 2013)."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Tensor, squares: Tensor, linear: Tensor, g: Tensor, lr: Tensor | float, l1: Tensor | float, l2: Tensor | float, power: Tensor | float, /) -> Tensor: ...

class ApplyGradientDescent(Primitive):
    """Take one step of gradient descent: p - alpha * delta."""
    def __call__(self, p: Tensor, alpha: Tensor | float, delta: Tensor, /) -> Tensor: ...

class ApplyKerasMomentum(Primitive):
    """Take one step of descent with Keras's momentum: accum = momentum * accum - lr * g; p + accum."""
    use_locking: Any
    use_nesterov: bool
    def __init__(self, use_locking: Any = False, use_nesterov: bool = False) -> None: ...
    def __call__(self, p: Tensor, accum: Tensor, lr: Tensor | float, g: Tensor, momentum: Tensor | float, /) -> tuple[Tensor, ...]: ...

class ApplyMomentum(Primitive):
    """Take one step of descent with momentum (Polyak 1964): accum = momentum * accum + g; p - lr * accum.
    """
    use_nesterov: bool
    use_locking: Any
    gradient_scale: float
    def __init__(self, use_nesterov: bool = False, use_locking: Any = False, gradient_scale: float = 1.0) -> None: ...
    def __call__(self, p: Tensor, accum: Tensor, lr: Tensor | float, g: Tensor, momentum: Tensor | float, /) -> Tensor: ...

class ApplyPowerSign(Primitive):
    """Take one step of PowerSign (Bello et al. 2017): p - lr * exp(base * sign_decay * sign(g) * sign(m))
    * g.
    """
    def __call__(self, p: Tensor, m: Tensor, lr: Tensor | float, base: Tensor | float, sign_decay: Tensor | float, beta: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyProximalAdagrad(Primitive):
    """Take one step of Adagrad, whose result is shrunk by ``l1`` and ``l2`` (Duchi and Singer 2009).
    """
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Tensor, squares: Tensor, lr: Tensor | float, l1: Tensor | float, l2: Tensor | float, g: Tensor, /) -> tuple[Tensor, ...]: ...

class ApplyProximalGradientDescent(Primitive):
    """Take one step of gradient descent, whose result is shrunk by ``l1`` and ``l2`` (Duchi and Singer
    2009).
    """
    def __call__(self, p: Tensor, alpha: Tensor | float, l1: Tensor | float, l2: Tensor | float, delta: Tensor, /) -> Tensor: ...

class ApplyRMSProp(Primitive):
    """Take one step of RMSProp (Hinton 2012): moved = momentum * moved + lr * g / sqrt(squares + eps); p -
    moved.
    """
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, p: Tensor, squares: Tensor, moved: Tensor, lr: Tensor | float, g: Tensor, decay: Tensor | float, momentum: Tensor | float, eps: Tensor | float, /) -> Tensor: ...

class ApproximateEqual(Primitive):
    """Return whether abs(x - y) < tolerance."""
    tolerance: float
    def __init__(self, tolerance: float = 1e-05) -> None: ...
    def __call__(self, x: Tensor, y: Tensor, /) -> Tensor: ...

class ArgMaxWithValue(Primitive):
    """Return the position of the largest element along an axis, and the element."""
    axis: int
    keep_dims: bool
    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class ArgMinWithValue(Primitive):
    """Return the position of the smallest element along an axis, and the element."""
    axis: int
    keep_dims: bool
    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Argmax(Primitive):
    """Return the position of the largest element along an axis."""
    axis: int
    output_type: DTypeLike
    def __init__(self, axis: int = -1, output_type: DTypeLike = ...) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Argmin(Primitive):
    """Return the position of the smallest element along an axis."""
    axis: int
    output_type: DTypeLike
    def __init__(self, axis: int = -1, output_type: DTypeLike = ...) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Asin(Primitive):
    """The arc sine, in [-pi / 2, pi / 2]; NaN outside [-1, 1]."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Asinh(Primitive):
    """The inverse hyperbolic sine."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Assign(Primitive):
    """Set a parameter or tensor to new values, in place."""
    def __call__(self, variable: Parameter, value: Operand, /) -> Tensor: ...

class AssignAdd(Primitive):
    """Add to a parameter or tensor, in place."""
    def __call__(self, variable: Parameter, value: Operand, /) -> Tensor: ...

class AssignSub(Primitive):
    """Subtract from a parameter or tensor, in place."""
    def __call__(self, variable: Parameter, value: Operand, /) -> Tensor: ...

class Atan(Primitive):
    """The arc tangent, in (-pi / 2, pi / 2)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Atan2(Primitive):
    """The angle of the point with abscissa y and ordinate x, atan(x / y) in its quadrant, in [-pi, pi].
    """
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Atanh(Primitive):
    """The inverse hyperbolic tangent; NaN outside [-1, 1]."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class AvgPool(Primitive):
    """The mean, without padding, of each window."""
    kernel_size: Ints
    strides: Ints
    pad_mode: str
    data_format: str
    def __init__(self, kernel_size: Ints = 1, strides: Ints = 1, pad_mode: str = 'VALID', data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class AvgPool3D(Primitive):
    """Return the mean of each window of three axes."""
    kernel_size: Ints
    strides: Ints
    pad_mode: str
    pad: Ints
    ceil_mode: Any
    count_include_pad: Any
    divisor_override: Any
    data_format: str
    def __init__(self, kernel_size: Ints = 1, strides: Ints = 1, pad_mode: str = 'valid', pad: Ints = 0, ceil_mode: Any = False, count_include_pad: Any = True, divisor_override: Any = 0, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class BCEWithLogitsLoss(Primitive):
    """Return -(c * y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x))), without overflow."""
    reduction: str
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, x: Tensor, y: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, /) -> Tensor: ...

class Barrier(Primitive):
    """Wait for all ranks of a group."""
    group: str | None
    def __init__(self, group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, ) -> Tensor: ...

class BartlettWindow(Primitive):
    """Return Bartlett's triangle, 1 - |2 k / n - 1|."""
    periodic: bool
    dtype: DTypeLike | None
    def __init__(self, periodic: bool = True, dtype: DTypeLike | None = ...) -> None: ...
    def __call__(self, window_length: int | Tensor, /) -> Tensor: ...

class BatchISendIRecv(Primitive):
    """Send and receive several messages, without gradients."""
    op_types: Sequence[str]
    remote_ranks: Sequence[int]
    receive_shapes: Sequence[Any] | None
    receive_dtypes: Sequence[Any] | None
    group: str | None
    def __init__(self, op_types: Sequence[str], remote_ranks: Sequence[int], receive_shapes: Sequence[Any] | None = None, receive_dtypes: Sequence[Any] | None = None, group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Any, /) -> tuple[Tensor, ...]: ...

class BatchMatMul(Primitive):
    """Return the matrix product of each pair in two batches."""
    transpose_a: bool
    transpose_b: bool
    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None: ...
    def __call__(self, x: Tensor, y: Tensor, /) -> Tensor: ...

class BatchNorm(Primitive):
    """Return ``batch_norm`` and the statistics."""
    is_training: bool
    epsilon: Any
    momentum: Any
    data_format: Any
    def __init__(self, is_training: bool = False, epsilon: Any = 1e-05, momentum: Any = 0.1, data_format: Any = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, /) -> tuple[Tensor, ...]: ...

class BatchToSpace(Primitive):
    """Return ``batch_to_space_nd`` under the argument names of its class."""
    block_size: Ints
    crops: Sequence[Sequence[int]]
    def __init__(self, block_size: Ints, crops: Sequence[Sequence[int]]) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class BatchToSpaceND(Primitive):
    """Return the inverse of ``space_to_batch_nd``: blocks moved from the batch into the last axes, then
    cropped.
    """
    block_shape: Ints
    crops: Sequence[Sequence[int]]
    def __init__(self, block_shape: Ints, crops: Sequence[Sequence[int]]) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class Bernoulli(Primitive):
    """Draw 1 with probability ``p`` and 0 otherwise."""
    seed: int
    offset: int
    def __init__(self, seed: int = -1, offset: int = 0) -> None: ...
    def __call__(self, x: Tensor, p: TensorLike = 0.5, /) -> Tensor: ...

class BesselI0(Primitive):
    """Return the modified Bessel function of the first kind of order 0, I0(x), as exp(abs(x)) *
    bessel_i0e(x).
    """
    def __call__(self, x: Tensor, /) -> Tensor: ...

class BesselI0e(Primitive):
    """exp(-abs(x)) I0(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class BesselI1(Primitive):
    """Return the modified Bessel function of the first kind of order 1, I1(x), as exp(abs(x)) *
    bessel_i1e(x).
    """
    def __call__(self, x: Tensor, /) -> Tensor: ...

class BesselI1e(Primitive):
    """exp(-abs(x)) I1(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class BesselJ0(Primitive):
    """J0(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class BesselJ1(Primitive):
    """J1(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class BesselK0(Primitive):
    """Return the modified Bessel function of the second kind of order 0, K0(x), as exp(-x) *
    bessel_k0e(x).
    """
    def __call__(self, x: Tensor, /) -> Tensor: ...

class BesselK0e(Primitive):
    """exp(x) K0(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class BesselK1(Primitive):
    """Return the modified Bessel function of the second kind of order 1, K1(x), as exp(-x) *
    bessel_k1e(x).
    """
    def __call__(self, x: Tensor, /) -> Tensor: ...

class BesselK1e(Primitive):
    """exp(x) K1(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class BesselY0(Primitive):
    """Y0(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class BesselY1(Primitive):
    """Y1(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Betainc(Primitive):
    """Return the regularized incomplete beta function, (integral from 0 to x of t^(a-1) (1-t)^(b-1) dt) /
    beta(a, b).
    """
    def __call__(self, a: Tensor, b: Tensor, x: Tensor, /) -> Tensor: ...

class BiasAdd(Primitive):
    """Return ``input_x`` with a bias added to each channel (axis 1), as ``bias_add`` does."""
    data_format: str
    def __init__(self, data_format: str = 'NCHW') -> None: ...
    def __call__(self, input_x: Tensor, bias: Tensor, /) -> Tensor: ...

class BinaryCrossEntropy(Primitive):
    """Return -(y * log(p) + (1 - y) * log(1 - p)); a logarithm is at least -100, so that p may be 0 or 1.
    """
    reduction: str
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, logits: Tensor, labels: Tensor, weight: Tensor | None = None, /) -> Tensor: ...

class Bincount(Primitive):
    """Return how often each number below ``size`` occurs, or the sum of its ``weights``; larger ones are
    left out.
    """
    def __call__(self, array: Tensor, size: int | Tensor, weights: Tensor, /) -> Tensor: ...

class BincountV2(Primitive):
    """Return how often each of the numbers 0, 1, 2, ... occurs, or the sum of its ``weights``."""
    def __call__(self, input: Tensor, weights: Tensor | None = None, minlength: int = 0, /) -> Tensor: ...

class BitwiseAnd(Primitive):
    """x & y, bit by bit, of bools or integers."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class BitwiseOr(Primitive):
    """x | y, bit by bit, of bools or integers."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class BitwiseXor(Primitive):
    """x ^ y, bit by bit, of bools or integers."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class BlackmanWindow(Primitive):
    """Return Blackman's window, 0.42 - 0.5 * cos(2 pi k / n) + 0.08 * cos(4 pi k / n)."""
    periodic: bool
    dtype: DTypeLike | None
    def __init__(self, periodic: bool = True, dtype: DTypeLike | None = ...) -> None: ...
    def __call__(self, window_length: int | Tensor, /) -> Tensor: ...

class BoundingBoxDecode(Primitive):
    """Return boxes from their differences from anchors (Girshick et al. 2014); the inverse of
    ``bounding_box_encode``.
    """
    max_shape: tuple[int, int]
    means: tuple[float, float, float, float]
    stds: tuple[float, float, float, float]
    wh_ratio_clip: float
    def __init__(self, max_shape: tuple[int, int], means: tuple[float, float, float, float] = ..., stds: tuple[float, float, float, float] = ..., wh_ratio_clip: float = 0.016) -> None: ...
    def __call__(self, anchor_box: Tensor, deltas: Tensor, /) -> Tensor: ...

class BoundingBoxEncode(Primitive):
    """Return boxes encoded by their differences from anchors (Girshick et al. 2014); see
    ``bounding_box_decode``.
    """
    means: tuple[float, float, float, float]
    stds: tuple[float, float, float, float]
    def __init__(self, means: tuple[float, float, float, float] = ..., stds: tuple[float, float, float, float] = ...) -> None: ...
    def __call__(self, anchor_box: Tensor, groundtruth_box: Tensor, /) -> Tensor: ...

class Broadcast(Primitive):
    """Return the tensors of one rank, on all ranks."""
    root_rank: int
    group: str | None
    def __init__(self, root_rank: int, group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Any, /) -> tuple[Tensor, ...]: ...

class BroadcastTo(Primitive):
    """Return the tensor repeated along axes of length 1, and along new leading ones, to fill a shape.
    """
    shape: Any
    def __init__(self, shape: Any) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Bucketize(Primitive):
    """Return the number of the bucket that each element falls into; a bucket holds its left end, not its
    right one.
    """
    boundaries: Sequence[float] | Array | Tensor
    def __init__(self, boundaries: Sequence[float] | Array | Tensor) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class CSRSparseMatrixToDense(Primitive):
    """Sparse matrices as dense ones."""
    def __call__(self, x_dense_shape: Tensor, x_batch_pointers: Tensor, x_row_pointers: Tensor, x_col_indices: Tensor, x_values: Tensor, /) -> Tensor: ...

class CSRSparseMatrixToSparseTensor(Primitive):
    """Sparse matrices as a sparse tensor with the place of each value."""
    def __call__(self, x_dense_shape: Tensor, x_batch_pointers: Tensor, x_row_pointers: Tensor, x_col_indices: Tensor, x_values: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class CTCGreedyDecoder(Primitive):
    """Return the labels of the best path, of the largest score in each step, without blanks (Graves et al.
    2006).
    """
    merge_repeated: bool
    def __init__(self, merge_repeated: bool = True) -> None: ...
    def __call__(self, inputs: Tensor, sequence_length: Tensor, /) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...

class CTCLoss(Primitive):
    """Return the losses of scores whose last class is the blank, with labels given by positions, and their
    gradient.
    """
    preprocess_collapse_repeated: bool
    ctc_merge_repeated: bool
    ignore_longer_outputs_than_inputs: bool
    def __init__(self, preprocess_collapse_repeated: bool = False, ctc_merge_repeated: bool = True, ignore_longer_outputs_than_inputs: bool = False) -> None: ...
    def __call__(self, x: Tensor, indices: Tensor, values: Tensor, lengths: Tensor, /) -> tuple[Tensor, Tensor]: ...

class CTCLossV2(Primitive):
    """Return the connectionist temporal classification loss (Graves et al. 2006): -log of the labels'
    probability.
    """
    blank: int
    reduction: str
    zero_infinity: bool
    def __init__(self, blank: int = 0, reduction: str = 'none', zero_infinity: bool = False) -> None: ...
    def __call__(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Array | Sequence[int], target_lengths: Tensor | Array | Sequence[int], /) -> tuple[Tensor, Tensor]: ...

class Cast(Primitive):
    """Return the elements in a different dtype."""
    def __call__(self, input: TensorLike, dtype: DTypeLike, /) -> Tensor: ...

class Cauchy(Primitive):
    """Draw numbers from the Cauchy distribution, whose density is sigma / (pi * ((x - median)^2 +
    sigma^2)).
    """
    size: list[int]
    median: float
    sigma: float
    def __init__(self, size: list[int], median: float = 0.0, sigma: float = 1.0) -> None: ...
    def __call__(self, ) -> Tensor: ...

class Cdist(Primitive):
    """Return the ``p``-norm distance of each row of ``x1`` from each row of ``x2``."""
    p: float
    def __init__(self, p: float = 2.0) -> None: ...
    def __call__(self, x1: Tensor, x2: Tensor, /) -> Tensor: ...

class CeLU(Primitive):
    """Return max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (Barron 2017)."""
    alpha: float
    def __init__(self, alpha: float = 1.0) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Ceil(Primitive):
    """The smallest integer not below x; its gradient is 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class ChannelShuffle(Primitive):
    """Return channels (axis 1) reordered so that each group gets some of every group, as
    ``ops.channel_shuffle``.
    """
    group: int
    def __init__(self, group: int) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class CheckNumerics(Primitive):
    """Return the tensor itself, if every element is finite."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class CheckValid(Primitive):
    """Return which boxes are inside the image: x0 and y0 not below 0, x1 and y1 at most its last column
    and row.
    """
    def __call__(self, bboxes: Tensor, img_metas: Tensor, /) -> Tensor: ...

class Cholesky(Primitive):
    """Return Cholesky's decomposition: the triangular L with L @ L.T = A."""
    upper: bool
    def __init__(self, upper: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class CholeskyInverse(Primitive):
    """Return the inverse of A = L @ L.T, from L."""
    upper: bool
    def __init__(self, upper: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class CholeskySolve(Primitive):
    """Return the x with A @ x = input for A = L @ L.T, from L."""
    upper: bool
    def __init__(self, upper: bool = False) -> None: ...
    def __call__(self, input: Tensor, input2: Tensor, /) -> Tensor: ...

class Coalesce(Primitive):
    """Return the elements of a sparse tensor in the order of their positions, with those at one position
    summed.
    """
    def __call__(self, x_indices: Tensor, x_values: Tensor, x_shape: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class Col2Im(Primitive):
    """Return columns summed into images, as ``ops.col2im``."""
    kernel_size: Ints
    dilation: Ints
    padding: Ints
    stride: Ints
    def __init__(self, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> None: ...
    def __call__(self, x: Tensor, output_size: Ints | Tensor, /) -> Tensor: ...

class CollectiveGather(Primitive):
    """Return the concatenation of all ranks' tensors along the first axis on one rank, and zeros on the
    others.
    """
    dest_rank: int
    group: str | None
    def __init__(self, dest_rank: int, group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class CollectiveScatter(Primitive):
    """Return a rank's part, along the first axis, of one rank's tensor."""
    src_rank: int
    group: str | None
    def __init__(self, src_rank: int = 0, group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class CombinedNonMaxSuppression(Primitive):
    """Return the best boxes of each image: by non-maximum suppression in each class, then the best of all
    classes.
    """
    pad_per_class: bool
    clip_boxes: bool
    def __init__(self, pad_per_class: bool = False, clip_boxes: bool = True) -> None: ...
    def __call__(self, boxes: Tensor, scores: Tensor, max_output_size_per_class: Tensor, max_total_size: Tensor, iou_threshold: Tensor, score_threshold: Tensor, /) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...

class CompareAndBitpack(Primitive):
    """Return the elements above a threshold as bits: eight along the last axis make a byte, the highest
    bit first.
    """
    def __call__(self, x: Tensor, threshold: Tensor, /) -> Tensor: ...

class Complex(Primitive):
    """Return the complex numbers real + i imag."""
    def __call__(self, real: Tensor, imag: Tensor, /) -> Tensor: ...

class ComplexAbs(Primitive):
    """|x|, of a complex number its real length; the gradient at 0 and at NaN is 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Concat(Primitive):
    """Return the concatenation of tensors along an axis that they have."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, tensors: Sequence[Tensor], /) -> Tensor: ...

class ConcatOffsetV1(Primitive):
    """Return where each of several tensors begins in their concatenation, from their shapes."""
    def __call__(self, axis: Tensor, x: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...

class ConfusionMatrix(Primitive):
    """Return how often each class was predicted as each: rows are the true classes, columns the predicted
    ones.
    """
    num_classes: int
    dtype: AnyDType
    def __init__(self, num_classes: int, dtype: AnyDType = 'int32') -> None: ...
    def __call__(self, labels: Tensor, predictions: Tensor, weights: Tensor | None = None, /) -> Tensor: ...

class Conj(Primitive):
    """Return the complex conjugate, real - i imag, element by element; a real tensor is returned as it is.
    """
    def __call__(self, input: Tensor, /) -> Tensor: ...

class ConjugateTranspose(Primitive):
    """Return the tensor with its axes in another order and complex numbers conjugated."""
    def __call__(self, x: Tensor, perm: Sequence[int], /) -> Tensor: ...

class Conv2D(Primitive):
    """Return ``conv2d``, the cross-correlation along the last two axes, without a bias."""
    out_channel: int
    kernel_size: Any
    mode: int
    pad_mode: str
    pad: Any
    stride: Any
    dilation: Any
    group: int
    data_format: str
    def __init__(self, out_channel: int, kernel_size: Any, mode: int = 1, pad_mode: str = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1, data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, /) -> Tensor: ...

class Conv2DBackpropInput(Primitive):
    """Return the transpose of ``Conv2D``: the input gradient of a convolution whose output has the shape
    of ``x``.
    """
    out_channel: int
    kernel_size: Ints
    pad_mode: str
    pad: Any
    pad_list: Any
    mode: int
    stride: Any
    dilation: Any
    group: int
    data_format: str
    def __init__(self, out_channel: int, kernel_size: Ints, pad_mode: str = 'valid', pad: Any = 0, pad_list: Any = None, mode: int = 1, stride: Any = 1, dilation: Any = 1, group: int = 1, data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, input_size: Any = None, /) -> Tensor: ...

class Conv2DTranspose(Primitive):
    """Return the transpose of ``Conv2D``: the input gradient of a convolution whose output has the shape
    of ``x``.
    """
    out_channel: int
    kernel_size: Ints
    pad_mode: str
    pad: Any
    pad_list: Any
    mode: int
    stride: Any
    dilation: Any
    group: int
    data_format: str
    def __init__(self, out_channel: int, kernel_size: Ints, pad_mode: str = 'valid', pad: Any = 0, pad_list: Any = None, mode: int = 1, stride: Any = 1, dilation: Any = 1, group: int = 1, data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, input_size: Any = None, /) -> Tensor: ...

class Conv3D(Primitive):
    """Return ``conv3d``, the cross-correlation along the last three axes."""
    out_channel: int
    kernel_size: Any
    mode: int
    pad_mode: str
    pad: Any
    stride: Any
    dilation: Any
    group: int
    data_format: str
    def __init__(self, out_channel: int, kernel_size: Any, mode: int = 1, pad_mode: str = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None = None, /) -> Tensor: ...

class Conv3DTranspose(Primitive):
    """Return the transpose of ``Conv3D``: the input gradient of a convolution whose output has the shape
    of ``x``.
    """
    in_channel: int
    out_channel: int
    kernel_size: Ints
    mode: int
    pad_mode: str
    pad: Any
    stride: Any
    dilation: Any
    group: int
    output_padding: Any
    data_format: str
    def __init__(self, in_channel: int, out_channel: int, kernel_size: Ints, mode: int = 1, pad_mode: str = 'valid', pad: Any = 0, stride: Any = 1, dilation: Any = 1, group: int = 1, output_padding: Any = 0, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, weight: Tensor, bias: Tensor | None = None, /) -> Tensor: ...

class Cos(Primitive):
    """The cosine of an angle in radians."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Cosh(Primitive):
    """The hyperbolic cosine, (exp(x) + exp(-x)) / 2."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class CountNonZero(Primitive):
    """Return how many elements over axes are not 0."""
    dims: Axis
    def __init__(self, dims: Axis = None) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class CropAndResize(Primitive):
    """Return crops of images, each resized to one size, as ``ops.crop_and_resize``."""
    method: str
    extrapolation_value: float
    def __init__(self, method: str = 'bilinear', extrapolation_value: float = 0.0) -> None: ...
    def __call__(self, x: Tensor, boxes: Tensor, box_index: Tensor, crop_size: tuple[int, int], /) -> Tensor: ...

class CropAndResizeGradBoxes(Primitive):
    """Return the gradient of ``CropAndResize`` by the boxes."""
    method: str
    def __init__(self, method: str = 'bilinear') -> None: ...
    def __call__(self, grads: Tensor, images: Tensor, boxes: Tensor, box_index: Tensor, /) -> Tensor: ...

class CropAndResizeGradImage(Primitive):
    """Return the gradient of ``CropAndResize`` by the images."""
    T: DTypeLike
    method: str
    def __init__(self, T: DTypeLike, method: str = 'bilinear') -> None: ...
    def __call__(self, grads: Tensor, boxes: Tensor, box_index: Tensor, image_size: Tensor, /) -> Tensor: ...

class Cross(Primitive):
    """Return the cross product of vectors of three elements."""
    dim: int
    def __init__(self, dim: int = -65530) -> None: ...
    def __call__(self, input: Tensor, other: Tensor, /) -> Tensor: ...

class CumProd(Primitive):
    """Return the product of the elements so far along one axis."""
    exclusive: bool
    reverse: bool
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: int | Tensor, /) -> Tensor: ...

class CumSum(Primitive):
    """Return the sum of the elements so far along one axis."""
    exclusive: bool
    reverse: bool
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: int | Tensor, /) -> Tensor: ...

class Cummax(Primitive):
    """Return the largest element so far along one axis, and its position, the last one of several. NaN
    stays.
    """
    axis: int
    def __init__(self, axis: int) -> None: ...
    def __call__(self, input: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Cummin(Primitive):
    """Return the smallest element so far along one axis, and its position, the last one of several. NaN
    stays.
    """
    axis: int
    def __init__(self, axis: int) -> None: ...
    def __call__(self, input: Tensor, /) -> tuple[Tensor, Tensor]: ...

class CumulativeLogsumexp(Primitive):
    """Return the logarithm of the sum of exp(x) so far along one axis, without overflow."""
    exclusive: bool
    reverse: bool
    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: int | Tensor, /) -> Tensor: ...

class DType(Primitive):
    """Return the element type of a tensor."""
    def __call__(self, x: Any, /) -> Any: ...

class DataFormatDimMap(Primitive):
    """Return the position in ``src_format`` of the axes that are at given positions in ``dst_format``.
    """
    src_format: str
    dst_format: str
    def __init__(self, src_format: str = 'NHWC', dst_format: str = 'NCHW') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class DataFormatVecPermute(Primitive):
    """Return the values of the axes in one order, in the other order."""
    src_format: str
    dst_format: str
    def __init__(self, src_format: str = 'NHWC', dst_format: str = 'NCHW') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class DeformableOffsets(Primitive):
    """Return the windows of ``deformable_conv2d`` side by side: elements from moved positions, each times
    a factor.
    """
    strides: tuple[int, ...]
    pads: tuple[int, ...]
    ksize: tuple[int, ...]
    dilations: tuple[int, ...]
    data_format: str
    deformable_groups: int
    modulated: bool
    def __init__(self, strides: tuple[int, ...], pads: tuple[int, ...], ksize: tuple[int, ...], dilations: tuple[int, ...] = ..., data_format: str = 'NCHW', deformable_groups: int = 1, modulated: bool = True) -> None: ...
    def __call__(self, x: Tensor, offsets: Tensor, /) -> Tensor: ...

class Dense(Primitive):
    """Return ``input @ weight.T + bias``, then an activation."""
    def __call__(self, input: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None, /) -> Tensor: ...

class DenseToCSRSparseMatrix(Primitive):
    """Return the elements of dense matrices at given positions, as sparse matrices."""
    def __call__(self, dense_input: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class DenseToDenseSetOperation(Primitive):
    """Return the elements that two tensors have in common, or not, row by row along the last axis."""
    set_operation: str
    validate_indices: bool
    def __init__(self, set_operation: str = 'a-b', validate_indices: bool = True) -> None: ...
    def __call__(self, x1: Tensor, x2: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class Depend(Primitive):
    """Return ``value``; in eager execution ``expr`` has been computed already."""
    def __call__(self, value: Any, expr: Any, /) -> Any: ...

class DepthToSpace(Primitive):
    """Return (N, b * b * C, H, W) as (N, C, H * b, W * b): the position in a block is the outer part of
    the channel.
    """
    block_size: int
    def __init__(self, block_size: int) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Diag(Primitive):
    """Return a tensor of twice the axes, with the elements where both halves of an index agree and 0
    elsewhere.
    """
    def __call__(self, input: Tensor, /) -> Tensor: ...

class DiagPart(Primitive):
    """Return the elements where both halves of an index agree; the inverse of ``diag``."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Digamma(Primitive):
    """The slope of lgamma."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Div(Primitive):
    """x / y."""
    def __call__(self, input: Operand, other: Operand, *, rounding_mode: str | None = None) -> Tensor: ...

class DivNoNan(Primitive):
    """Return x / y, and 0 where y is 0, for any x."""
    def __call__(self, x: Operand, y: Operand, /) -> Tensor: ...

class Dropout(Primitive):
    """Return the input with elements set to 0 with probability 1 - keep_prob, and the mask of the kept
    elements.
    """
    keep_prob: float
    Seed0: int
    Seed1: int
    def __init__(self, keep_prob: float = 0.5, Seed0: int = 0, Seed1: int = 0) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Dropout2D(Primitive):
    """Return the input with whole channels set to 0 with probability 1 - keep_prob, and the mask of the
    kept elements.
    """
    keep_prob: float
    def __init__(self, keep_prob: float = 0.5) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Dropout3D(Primitive):
    """Return the input with whole channels set to 0 with probability 1 - keep_prob, and the mask of the
    kept elements.
    """
    keep_prob: float
    def __init__(self, keep_prob: float = 0.5) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class EditDistance(Primitive):
    """Return how many insertions, deletions and replacements make one sequence of another, for many pairs.
    """
    normalize: bool
    def __init__(self, normalize: bool = True) -> None: ...
    def __call__(self, hypothesis_indices: Tensor, hypothesis_values: Tensor, hypothesis_shape: Tensor, truth_indices: Tensor, truth_values: Tensor, truth_shape: Tensor, /) -> Tensor: ...

class Eig(Primitive):
    """Return the eigenvalues of each matrix, and its eigenvectors."""
    compute_v: bool
    def __init__(self, compute_v: bool = False) -> None: ...
    def __call__(self, A: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Einsum(Primitive):
    """Return the sum of products of an equation in Einstein's notation, as in NumPy."""
    equation: str
    def __init__(self, equation: str) -> None: ...
    def __call__(self, x: Sequence[Tensor], /) -> Tensor: ...

class Elu(Primitive):
    """Return x where it is positive, alpha * (exp(x) - 1) elsewhere (Clevert et al. 2015)."""
    alpha: float
    def __init__(self, alpha: float = 1.0) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class EmbeddingLookup(Primitive):
    """Return the rows ``input_indices - offset`` of a table; zeros for those out of range."""
    def __call__(self, input_params: Tensor, input_indices: Tensor, offset: int | Tensor, /) -> Tensor: ...

class Eps(Primitive):
    """Return the spacing of the dtype at 1: the least number for which 1 + eps differs from 1."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Equal(Primitive):
    """x == y, as Bool."""
    def __call__(self, input: Operand, other: object, /) -> Any: ...

class EqualCount(Primitive):
    """Return the number of elements that are equal in two tensors."""
    def __call__(self, x: Tensor, y: Tensor, /) -> Tensor: ...

class Erf(Primitive):
    """The error function, 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Erfc(Primitive):
    """The complementary error function, 1 - erf(x), also where that is much smaller than 1."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Erfinv(Primitive):
    """The inverse of erf."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class EuclideanNorm(Primitive):
    """Return the square root of the sum of squares over axes."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axes: Tensor | Axis = (), /) -> Tensor: ...

class Exp(Primitive):
    """e to the power x."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Expand(Primitive):
    """Return the tensor repeated along axes of length 1, and along new leading ones, to fill a shape.
    """
    def __call__(self, input: Tensor, shape: Any, /) -> Tensor: ...

class ExpandDims(Primitive):
    """Return the tensor with one more axis, of length 1."""
    def __call__(self, input_x: Tensor, axis: int, /) -> Tensor: ...

class Expm1(Primitive):
    """exp(x) - 1, exact near 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class ExtractGlimpse(Primitive):
    """Return a window of each image around a position."""
    centered: bool
    normalized: bool
    uniform_noise: bool
    noise: str
    def __init__(self, centered: bool = True, normalized: bool = True, uniform_noise: bool = True, noise: str = 'uniform') -> None: ...
    def __call__(self, x: Tensor, size: Tensor, offsets: Tensor, /) -> Tensor: ...

class ExtractVolumePatches(Primitive):
    """Return the blocks of volumes that a window passes over, each along the channels."""
    kernel_size: int | tuple[int, ...]
    strides: int | tuple[int, ...]
    padding: str
    def __init__(self, kernel_size: int | tuple[int, ...], strides: int | tuple[int, ...], padding: str) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class Eye(Primitive):
    """Return ones on the main diagonal of a matrix, zeros elsewhere."""
    def __call__(self, n: int, m: int | None = None, dtype: DTypeLike | None = None, /) -> Tensor: ...

class FFTWithSize(Primitive):
    """Return the Fourier transform over the last axes, or its inverse, of complex or of real signals.
    """
    signal_ndim: int
    inverse: bool
    real: bool
    norm: str
    onesided: bool
    signal_sizes: Ints
    def __init__(self, signal_ndim: int, inverse: bool, real: bool, norm: str = 'backward', onesided: bool = True, signal_sizes: Ints = ()) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class FastGeLU(Primitive):
    """Return x * sigmoid(1.702 * x), an approximation of ``gelu`` (Hendrycks and Gimpel 2016)."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class FastGelu(Primitive):
    """Return x * sigmoid(1.702 * x), an approximation of ``gelu`` (Hendrycks and Gimpel 2016)."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Fill(Primitive):
    """Return a tensor that holds ``value`` everywhere."""
    def __call__(self, type: DTypeLike, shape: Any, value: Operand, /) -> Tensor: ...

class FillDiagonal(Primitive):
    """Return the tensor with a number on its diagonal, where all indices are equal."""
    fill_value: float
    wrap: bool
    def __init__(self, fill_value: float, wrap: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class FillV2(Primitive):
    """Return a tensor that holds ``value`` everywhere, in its dtype."""
    def __call__(self, shape: Any, value: Tensor, /) -> Tensor: ...

class Fills(Primitive):
    """Return ``fill_value`` everywhere, in the input's shape and on its device."""
    def __call__(self, input: Tensor, fill_value: Operand, *, dtype: DTypeLike | None = None) -> Tensor: ...

class Flatten(Primitive):
    """Return the tensor with all axes but the first joined to one."""
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class Floor(Primitive):
    """The greatest integer not above x; its gradient is 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class FloorDiv(Primitive):
    """floor(x / y), the greatest integer not above the quotient; its gradient is 0."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class FloorMod(Primitive):
    """x - floor(x / y) * y, with the sign of y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Fmax(Primitive):
    """Return the larger of the two, which gets the gradient (``input`` where they tie); where one is NaN,
    the other.
    """
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Fmin(Primitive):
    """Return the smaller of the two, which gets the gradient (``input`` where they tie); where one is NaN,
    the other.
    """
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class FractionalAvgPool(Primitive):
    """The mean of each of the cells of random lengths."""
    pooling_ratio: list[float]
    pseudo_random: bool
    overlapping: bool
    deterministic: bool
    seed: int
    seed2: int
    def __init__(self, pooling_ratio: list[float], pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class FractionalMaxPool(Primitive):
    """The largest element of each of the cells of random lengths."""
    pooling_ratio: list[float]
    pseudo_random: bool
    overlapping: bool
    deterministic: bool
    seed: int
    seed2: int
    def __init__(self, pooling_ratio: list[float], pseudo_random: bool = False, overlapping: bool = False, deterministic: bool = False, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class FractionalMaxPool3DWithFixedKsize(Primitive):
    """Return the largest elements of windows that begin at pseudorandom positions;
    ``ops.fractional_max_pool3d``.
    """
    ksize: Any
    output_shape: Any
    data_format: str
    def __init__(self, ksize: Any, output_shape: Any, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, random_samples: Tensor, /) -> tuple[Tensor, Tensor]: ...

class FractionalMaxPoolWithFixedKsize(Primitive):
    """Return the largest elements of windows that begin at pseudorandom positions;
    ``ops.fractional_max_pool2d``.
    """
    ksize: Any
    output_shape: Any
    data_format: str
    def __init__(self, ksize: Any, output_shape: Any, data_format: str = 'NCHW') -> None: ...
    def __call__(self, input_x: Tensor, random_samples: Tensor, /) -> tuple[Tensor, Tensor]: ...

class FusedAdaFactor(Primitive):
    """Take one step of Adafactor (Shazeer and Stern 2018)."""
    enable_scale_parameter: bool
    enable_first_moment: bool
    enable_weight_decay: bool
    def __init__(self, enable_scale_parameter: bool = False, enable_first_moment: bool = False, enable_weight_decay: bool = False) -> None: ...
    def __call__(self, epsilon: Any, clip_threshold: Tensor | float, beta1: Tensor | float, beta2: Tensor | float, weight_decay: Tensor | float, learning_rate: Tensor | float, gradient: Tensor, param: Tensor, exp_avg: Tensor, exp_avg_sq_row: Tensor, exp_avg_sq_col: Tensor, exp_avg_sq: Tensor, /) -> Tensor: ...

class FusedCastAdamWeightDecay(Primitive):
    """Take one step of Adam as in BERT, as ``AdamWeightDecay``, for parameters and gradients of half
    precision.
    """
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, m: Tensor, v: Tensor, lr: Tensor | float, beta1: Tensor | float, beta2: Tensor | float, epsilon: Tensor | float, decay: Tensor | float, gradient: Tensor, global_norm: Tensor | float, /) -> tuple[Tensor, ...]: ...

class FusedSparseAdam(Primitive):
    """One step of Adam (Kingma and Ba 2015) where the gradient of most rows is 0."""
    use_locking: Any
    use_nesterov: bool
    def __init__(self, use_locking: Any = False, use_nesterov: bool = False) -> None: ...
    def __call__(self, var: Tensor, m: Tensor, v: Tensor, beta1_power: Tensor | float, beta2_power: Tensor | float, lr: Tensor | float, beta1: Tensor | float, beta2: Tensor | float, epsilon: Tensor | float, gradient: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class FusedSparseFtrl(Primitive):
    """One step of FTRL (McMahan et al. 2013) of the rows that have a gradient."""
    lr: float
    l1: float
    l2: float
    lr_power: float
    use_locking: Any
    def __init__(self, lr: float, l1: float, l2: float, lr_power: float, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, accum: Tensor, linear: Tensor, grad: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class FusedSparseLazyAdam(Primitive):
    """One step of Adam (Kingma and Ba 2015) of the rows that have a gradient alone."""
    use_locking: Any
    use_nesterov: bool
    def __init__(self, use_locking: Any = False, use_nesterov: bool = False) -> None: ...
    def __call__(self, var: Tensor, m: Tensor, v: Tensor, beta1_power: Tensor | float, beta2_power: Tensor | float, lr: Tensor | float, beta1: Tensor | float, beta2: Tensor | float, epsilon: Tensor | float, gradient: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class FusedSparseProximalAdagrad(Primitive):
    """Take one step of Adagrad of the rows with a gradient, then shrunk by ``l1`` and ``l2`` (Duchi and
    Singer 2009).
    """
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, accum: Tensor, lr: Tensor | float, l1: Tensor | float, l2: Tensor | float, grad: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class GLU(Primitive):
    """Return a * sigmoid(b), where a and b are the halves of ``x`` along ``axis`` (Dauphin et al. 2016).
    """
    axis: int
    def __init__(self, axis: int = -1) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Gamma(Primitive):
    """Draw numbers from the gamma distribution with shape ``alpha`` and rate ``beta``; the mean is alpha /
    beta.
    """
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, shape: Any, alpha: Tensor, beta: Tensor, /) -> Tensor: ...

class Gather(Primitive):
    """Return the entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes of both are
    paired up.
    """
    batch_dims: int
    def __init__(self, batch_dims: int = 0) -> None: ...
    def __call__(self, input_params: Tensor, input_indices: TensorLike, axis: int | Tensor, /) -> Tensor: ...

class GatherD(Primitive):
    """Return ``gather_elements`` under its older name."""
    def __call__(self, x: Tensor, dim: int, index: Tensor, /) -> Tensor: ...

class GatherNd(Primitive):
    """Return ``input_x[i0, i1, ...]`` for each row of ``indices`` (its last axis)."""
    def __call__(self, input_x: Tensor, indices: Tensor, /) -> Tensor: ...

class GatherV2(Primitive):
    """Return the entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes of both are
    paired up.
    """
    def __call__(self, input_params: Tensor, input_indices: TensorLike, axis: int | Tensor, batch_dims: int = 0, /) -> Tensor: ...

class Gcd(Primitive):
    """The greatest common divisor of integers, 0 or above."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class GeLU(Primitive):
    """Return ``gelu`` in its tanh form: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))).
    """
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Gelu(Primitive):
    """Return ``gelu`` in its tanh form: 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))).
    """
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Geqrf(Primitive):
    """Return the QR decomposition in the format of LAPACK's geqrf: Q as a product of reflections I - tau *
    v @ v.T.
    """
    def __call__(self, input: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Ger(Primitive):
    """Return the product of each element of a vector with each of another: input[i] * vec2[j]."""
    def __call__(self, input: Tensor, vec2: Tensor, /) -> Tensor: ...

class Greater(Primitive):
    """x > y, as Bool."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class GreaterEqual(Primitive):
    """x >= y, as Bool."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class GridSampler2D(Primitive):
    """Return samples of images at the positions ``grid``, as ``ops.grid_sample``."""
    interpolation_mode: str
    padding_mode: str
    align_corners: bool
    def __init__(self, interpolation_mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = False) -> None: ...
    def __call__(self, x: Tensor, grid: Tensor, /) -> Tensor: ...

class GridSampler3D(Primitive):
    """Return samples of images at the positions ``grid``, as ``ops.grid_sample``."""
    interpolation_mode: str
    padding_mode: str
    align_corners: bool
    def __init__(self, interpolation_mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = False) -> None: ...
    def __call__(self, x: Tensor, grid: Tensor, /) -> Tensor: ...

class HSVToRGB(Primitive):
    """Return red, green and blue of hue, saturation and value; the inverse of ``RGBToHSV``."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class HShrink(Primitive):
    """Return 0 where |x| <= lambd, x elsewhere; NaN stays NaN."""
    lambd: float
    def __init__(self, lambd: float = 0.5) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class HSigmoid(Primitive):
    """Return min(max((x + 3) / 6, 0), 1), element by element; the gradient at -3 and 3 is 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class HSwish(Primitive):
    """Return x * min(max((x + 3) / 6, 0), 1), element by element (Howard et al. 2019)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class HammingWindow(Primitive):
    """Return Hamming's window, alpha - beta * cos(2 pi k / n)."""
    periodic: bool
    alpha: float
    beta: float
    dtype: DTypeLike | None
    def __init__(self, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, dtype: DTypeLike | None = ...) -> None: ...
    def __call__(self, window_length: int | Tensor, /) -> Tensor: ...

class Heaviside(Primitive):
    """Return the Heaviside step function: 0 where ``input`` is below 0, ``values`` where it is 0, 1 above.
    """
    def __call__(self, input: Tensor, values: Tensor | Number, /) -> Tensor: ...

class Histogram(Primitive):
    """Return the count of elements in each of ``bins`` equal parts of [min, max]; the last part includes
    its end.
    """
    bins: int
    min: float
    max: float
    def __init__(self, bins: int = 100, min: float = 0.0, max: float = 0.0) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Hypot(Primitive):
    """sqrt(x * x + y * y), without overflow."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class IOU(Primitive):
    """Return the overlap of each two boxes (x0, y0, x1, y1) over their union, or over the second's area,
    in pixels.
    """
    mode: str
    def __init__(self, mode: str = 'iou') -> None: ...
    def __call__(self, anchor_boxes: Tensor, gt_boxes: Tensor, /) -> Tensor: ...

class Identity(Primitive):
    """Return the same values in a new tensor."""
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class IdentityN(Primitive):
    """Return the same tensors."""
    def __call__(self, x: Sequence[Tensor], /) -> tuple[Tensor, ...]: ...

class Igamma(Primitive):
    """Return the regularized lower incomplete gamma function P(a, x)."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Igammac(Primitive):
    """Return the regularized upper incomplete gamma function Q(a, x) = 1 - P(a, x), exact also where that
    is small.
    """
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Im2Col(Primitive):
    """Return the windows of images as columns, as ``ops.unfold``, with the channels as an axis of their
    own.
    """
    ksizes: Ints
    strides: Ints
    dilations: Ints
    pads: Ints
    def __init__(self, ksizes: Ints, strides: Ints = 1, dilations: Ints = 1, pads: Ints = 0) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Imag(Primitive):
    """Return the imaginary part, element by element; zeros of a real tensor."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class InTopK(Primitive):
    """Return whether the target of each row is among its ``k`` largest: whether fewer than ``k`` scores
    are above it.
    """
    k: int
    def __init__(self, k: int) -> None: ...
    def __call__(self, x1: Tensor, x2: Tensor, /) -> Tensor: ...

class IndexAdd(Primitive):
    """Return ``x`` with ``y`` added to entries along an axis."""
    axis: int
    use_lock: bool
    check_index_bound: bool
    def __init__(self, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> None: ...
    def __call__(self, x: Tensor, indices: Tensor, y: Tensor, /) -> Tensor: ...

class IndexFill(Primitive):
    """Return the tensor with ``value`` in entries along an axis."""
    def __call__(self, x: Tensor, axis: int, index: Any, value: Tensor | Number, /) -> Tensor: ...

class IndexPut(Primitive):
    """Return ``x1`` with ``x2`` written, or added, at index tensors."""
    accumulate: int
    def __init__(self, accumulate: int = 0) -> None: ...
    def __call__(self, x1: Tensor, x2: Tensor, indices: Sequence[Tensor], /) -> Tensor: ...

class InplaceAdd(Primitive):
    """``v`` added to rows of ``x``; a new tensor, in spite of the name."""
    indices: Ints | Tensor
    def __init__(self, indices: Ints | Tensor) -> None: ...
    def __call__(self, x: Tensor, v: Tensor, /) -> Tensor: ...

class InplaceIndexAdd(Primitive):
    """Return a parameter with ``updates`` added to entries along an axis."""
    axis: int
    def __init__(self, axis: int) -> None: ...
    def __call__(self, var: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class InplaceSub(Primitive):
    """``v`` subtracted from rows of ``x``; a new tensor, in spite of the name."""
    indices: Ints | Tensor
    def __init__(self, indices: Ints | Tensor) -> None: ...
    def __call__(self, x: Tensor, v: Tensor, /) -> Tensor: ...

class InplaceUpdate(Primitive):
    """``v`` put into rows of ``x``; a new tensor, in spite of the name."""
    indices: Ints | Tensor
    def __init__(self, indices: Ints | Tensor) -> None: ...
    def __call__(self, x: Tensor, v: Tensor, /) -> Tensor: ...

class InplaceUpdateV2(Primitive):
    """Return ``x`` with ``v`` written into rows; a new tensor, in spite of the name."""
    def __call__(self, x: Tensor, indices: Ints | Tensor, v: Tensor, /) -> Tensor: ...

class InstanceNormV2(Primitive):
    """Return each channel of each sample normalized, then scaled and shifted."""
    is_training: bool
    momentum: float
    epsilon: float
    def __init__(self, is_training: bool = True, momentum: float = 0.1, epsilon: float = 1e-05) -> None: ...
    def __call__(self, x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class Inv(Primitive):
    """Return 1 / x, in the dtype of x."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Invert(Primitive):
    """~x, bit by bit: -x - 1 of signed integers, not x of bools."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class InvertPermutation(Primitive):
    """Return the inverse of a permutation: entry n is the position of the number n."""
    def __call__(self, input_x: Iterable[int], /) -> tuple[int, ...]: ...

class IsClose(Primitive):
    """Return whether abs(input - other) <= atol + rtol * abs(other), as in NumPy; equal infinities are
    close.
    """
    rtol: float
    atol: float
    equal_nan: bool
    def __init__(self, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> None: ...
    def __call__(self, input: Tensor, other: Tensor, /) -> Tensor: ...

class IsFinite(Primitive):
    """Return whether an element is neither infinite nor NaN, as Bool."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class IsInf(Primitive):
    """Return whether an element is infinite, of either sign, as Bool."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class IsNan(Primitive):
    """Return whether an element is NaN, as Bool."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class KLDivLoss(Primitive):
    """Return the Kullback-Leibler divergence: labels * (log(labels) - logits), 0 where a label is 0,
    reduced.
    """
    reduction: str
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, logits: Tensor, labels: Tensor, /) -> Tensor: ...

class L2Loss(Primitive):
    """Return half the sum of squares."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class L2Normalize(Primitive):
    """Return vectors divided by their length: x / sqrt(max(sum of x ** 2, epsilon))."""
    axis: Ints
    epsilon: float
    def __init__(self, axis: Ints = 0, epsilon: float = 0.0001) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class LRN(Primitive):
    """Return x / (bias + alpha * s) ** beta, s the sum of squares of the neighboring channels (Krizhevsky
    et al. 2012).
    """
    depth_radius: int
    bias: float
    alpha: float
    beta: float
    norm_region: str
    def __init__(self, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5, norm_region: str = 'ACROSS_CHANNELS') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class LSTM(Primitive):
    """Run one layer of long short-term memory over a whole sequence, with all weights in one tensor.
    """
    input_size: int
    hidden_size: int
    num_layers: int
    has_bias: bool
    bidirectional: bool
    dropout: float
    proj_size: int
    def __init__(self, input_size: int, hidden_size: int, num_layers: int, has_bias: bool, bidirectional: bool, dropout: float, proj_size: int = 0) -> None: ...
    def __call__(self, input: Tensor, h: Tensor, c: Tensor, w: Tensor, /) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]: ...

class LayerNorm(Primitive):
    """Return ``x`` normalized over the axes from ``begin_norm_axis`` on, and the statistics."""
    begin_norm_axis: int
    begin_params_axis: int
    epsilon: float
    def __init__(self, begin_norm_axis: int = 1, begin_params_axis: int = 1, epsilon: float = 1e-07) -> None: ...
    def __call__(self, x: Tensor, gamma: Tensor, beta: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class Lcm(Primitive):
    """The least common multiple of integers, 0 or above."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class LeftShift(Primitive):
    """Return the bits shifted to the left: input * 2**other, where that fits the dtype."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Lerp(Primitive):
    """Return the linear interpolation input + weight * (end - input)."""
    def __call__(self, input: Tensor, end: Tensor, weight: Operand, /) -> Tensor: ...

class LerpScalar(Primitive):
    """Return the linear interpolation input + weight * (end - input)."""
    def __call__(self, input: Tensor, end: Tensor, weight: Operand, /) -> Tensor: ...

class Less(Primitive):
    """x < y, as Bool."""
    def __call__(self, input: Operand, other: Operand, /) -> Any: ...

class LessEqual(Primitive):
    """x <= y, as Bool."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Lgamma(Primitive):
    """log of abs(gamma(x))."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class LinSpace(Primitive):
    """Return start + k * (end - start) / (steps - 1) for k from 0 to steps - 1, both ends included. No
    gradient passes.
    """
    def __call__(self, start: Operand, end: Operand, steps: int, /) -> Tensor: ...

class ListDiff(Primitive):
    """Return the elements of one vector that another lacks, in their order, with repetitions."""
    out_idx: DTypeLike
    def __init__(self, out_idx: DTypeLike = ...) -> None: ...
    def __call__(self, x: Tensor, y: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Log(Primitive):
    """The natural logarithm; NaN below 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Log1p(Primitive):
    """log(1 + x), exact near 0; NaN below -1."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class LogMatrixDeterminant(Primitive):
    """Return the sign of the determinant of each matrix, and the logarithm of its absolute value."""
    def __call__(self, input: Tensor, /) -> tuple[Tensor, Tensor]: ...

class LogNormalReverse(Primitive):
    """Draw numbers whose logarithms have the normal distribution, in the input's shape and dtype."""
    mean: float
    std: float
    def __init__(self, mean: float = 1.0, std: float = 2.0) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class LogSoftmax(Primitive):
    """Return log(softmax(logits)) along ``axis``: logits - log(sum(exp(logits))), computed without
    overflow.
    """
    axis: int
    def __init__(self, axis: int = -1) -> None: ...
    def __call__(self, logits: Tensor, /) -> Tensor: ...

class LogSpace(Primitive):
    """Return base ** (start + k * (end - start) / (steps - 1)) for k from 0 to steps - 1; no gradient
    passes.
    """
    steps: int
    base: int
    dtype: DTypeLike
    def __init__(self, steps: int = 10, base: int = 10, dtype: DTypeLike = ...) -> None: ...
    def __call__(self, start: Operand, end: Operand, /) -> Tensor: ...

class LogUniformCandidateSampler(Primitive):
    """Draw classes of [0, range_max), class c with the probability log((c + 2) / (c + 1)) / log(range_max
    + 1).
    """
    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    seed: int
    def __init__(self, num_true: int = 1, num_sampled: int = 5, unique: bool = True, range_max: int = 5, seed: int = 0) -> None: ...
    def __call__(self, true_classes: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class LogicalAnd(Primitive):
    """Return whether both x and y are nonzero, as Bool."""
    def __call__(self, input: Operand, other: Operand, /) -> Any: ...

class LogicalNot(Primitive):
    """Return whether an element is zero or False, as Bool."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class LogicalOr(Primitive):
    """Return whether x or y is nonzero, as Bool."""
    def __call__(self, input: Operand, other: Operand, /) -> Any: ...

class LogicalXor(Primitive):
    """Return whether one of x and y is nonzero and not both, as Bool."""
    def __call__(self, input: Operand, other: Operand, /) -> Any: ...

class Logit(Primitive):
    """Return log(x / (1 - x)), the inverse of the sigmoid."""
    eps: float | None
    def __init__(self, eps: float | None = -1.0) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class LowerBound(Primitive):
    """Return where ``values`` belong in sorted rows: before their equals (LowerBound) or after them
    (UpperBound).
    """
    out_type: AnyDType
    def __init__(self, out_type: AnyDType = 'int32') -> None: ...
    def __call__(self, rows: Tensor, values: Tensor, /) -> Tensor: ...

class LpNorm(Primitive):
    """Return the ``p``-norm over axes, but at least ``epsilon``."""
    axis: Axis
    p: int
    keep_dims: bool
    epsilon: float
    def __init__(self, axis: Axis, p: int = 2, keep_dims: bool = False, epsilon: float = 1e-12) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Lstsq(Primitive):
    """Return the x for which the norm of x_given @ x - a is least, the shortest of several; by QR."""
    fast: bool
    l2_regularizer: float
    def __init__(self, fast: bool = True, l2_regularizer: float = 0.0) -> None: ...
    def __call__(self, x: Tensor, a: Tensor, /) -> Tensor: ...

class LuSolve(Primitive):
    """Return the x with A @ x = b, from the packed LU decomposition of A."""
    def __call__(self, b: Tensor, LU_data: Tensor, LU_pivots: Tensor, /) -> Tensor: ...

class LuUnpack(Primitive):
    """Return the matrices of a packed LU decomposition: P @ L @ U is the matrix."""
    unpack_data: bool
    unpack_pivots: bool
    def __init__(self, unpack_data: bool = True, unpack_pivots: bool = True) -> None: ...
    def __call__(self, LU_data: Tensor, LU_pivots: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class MapUniform(Primitive):
    """Return input % group_num * per_group_size + input // group_num: keys, dealt to groups in turn, by
    group.
    """
    def __call__(self, input: Tensor, per_group_size: int | Tensor, group_num: int | Tensor, /) -> Tensor: ...

class MaskedFill(Primitive):
    """Return the tensor with ``value`` where ``mask`` is True."""
    def __call__(self, input_x: Tensor, mask: Tensor, value: Tensor | Number, /) -> Tensor: ...

class MaskedScatter(Primitive):
    """Return the tensor with the first elements of ``source``, in order, where ``mask`` is True."""
    def __call__(self, input: Tensor, mask: Tensor, source: Tensor, /) -> Tensor: ...

class MaskedSelect(Primitive):
    """Return the elements where ``mask`` holds, in the order of the tensor."""
    def __call__(self, input: Tensor, mask: Tensor, /) -> Tensor: ...

class MatMul(Primitive):
    """Return the product of two matrices."""
    transpose_a: bool
    transpose_b: bool
    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None: ...
    def __call__(self, input: Tensor, mat2: Tensor, /) -> Tensor: ...

class MatrixBandPart(Primitive):
    """Return each matrix with ``lower`` diagonals below and ``upper`` above the main one, and 0 elsewhere.
    """
    def __call__(self, x: Tensor, lower: int | Tensor, upper: int | Tensor, /) -> Tensor: ...

class MatrixDeterminant(Primitive):
    """Return the determinant of each matrix."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class MatrixDiagPartV3(Primitive):
    """Return diagonals of matrices, padded with ``padding_value`` to the length of the longest."""
    align: str
    def __init__(self, align: str = 'RIGHT_LEFT') -> None: ...
    def __call__(self, x: Tensor, k: int | Tensor, padding_value: Number | Tensor, /) -> Tensor: ...

class MatrixDiagV3(Primitive):
    """Return matrices with the given diagonals, and ``padding_value`` elsewhere."""
    align: str
    def __init__(self, align: str = 'RIGHT_LEFT') -> None: ...
    def __call__(self, x: Tensor, k: int | Tensor, num_rows: int | Tensor, num_cols: int | Tensor, padding_value: Number | Tensor, /) -> Tensor: ...

class MatrixExp(Primitive):
    """Return the exponential of each matrix, sum over k of A^k / k!: Taylor's series of a scaled matrix,
    then squared.
    """
    def __call__(self, input: Tensor, /) -> Tensor: ...

class MatrixInverse(Primitive):
    """Return the inverse of each matrix, or that of its conjugate transpose."""
    adjoint: bool
    def __init__(self, adjoint: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class MatrixLogarithm(Primitive):
    """Return the logarithm of each matrix, whose exponential is the matrix: the one with imaginary parts
    in (-pi, pi].
    """
    def __call__(self, x: Tensor, /) -> Tensor: ...

class MatrixPower(Primitive):
    """Return each matrix to the power ``n``, by repeated squaring."""
    n: int
    def __init__(self, n: int) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class MatrixSetDiagV3(Primitive):
    """Return matrices with their diagonals replaced."""
    align: str
    def __init__(self, align: str = 'RIGHT_LEFT') -> None: ...
    def __call__(self, x: Tensor, diagonal: Tensor, k: int | Tensor, /) -> Tensor: ...

class MatrixSolve(Primitive):
    """Return the x with matrix @ x = rhs."""
    adjoint: bool
    def __init__(self, adjoint: bool = False) -> None: ...
    def __call__(self, matrix: Tensor, rhs: Tensor, /) -> Tensor: ...

class MatrixSolveLs(Primitive):
    """Return the x for which the norm of matrix @ x - rhs is least."""
    fast: bool
    def __init__(self, fast: bool = True) -> None: ...
    def __call__(self, matrix: Tensor, rhs: Tensor, l2_regularizer: Tensor, /) -> Tensor: ...

class MatrixTriangularSolve(Primitive):
    """Return the x with matrix @ x = rhs for a triangular matrix."""
    lower: bool
    adjoint: bool
    def __init__(self, lower: bool = True, adjoint: bool = False) -> None: ...
    def __call__(self, matrix: Tensor, rhs: Tensor, /) -> Tensor: ...

class MaxPool(Primitive):
    """The largest element of each window."""
    kernel_size: Ints
    strides: Ints
    pad_mode: str
    data_format: str
    def __init__(self, kernel_size: Ints = 1, strides: Ints = 1, pad_mode: str = 'valid', data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class MaxPool3D(Primitive):
    """Return the largest element of each window of three axes."""
    kernel_size: Ints
    strides: Ints
    pad_mode: str
    pad_list: Ints
    ceil_mode: bool | None
    data_format: str
    def __init__(self, kernel_size: Ints = 1, strides: Ints = 1, pad_mode: str = 'VALID', pad_list: Ints = 0, ceil_mode: bool | None = None, data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class MaxPool3DWithArgmax(Primitive):
    """Return the largest element of each window of three axes, and its position."""
    ksize: Ints
    strides: Ints
    pads: Ints
    dilation: Ints
    ceil_mode: bool
    data_format: str
    argmax_type: DTypeLike | None
    def __init__(self, ksize: Ints, strides: Ints, pads: Ints, dilation: Ints = ..., ceil_mode: bool = False, data_format: str = 'NCDHW', argmax_type: DTypeLike | None = None) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class MaxPoolWithArgmax(Primitive):
    """Return the largest element of each window, and its position in its sample."""
    kernel_size: Ints
    strides: Ints
    pad_mode: str
    data_format: str
    def __init__(self, kernel_size: Ints = 1, strides: Ints = 1, pad_mode: str = 'valid', data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class MaxPoolWithArgmaxV2(Primitive):
    """Return the largest element of each window, and its position."""
    kernel_size: Ints
    strides: Ints | None
    pads: Ints
    dilation: Ints
    ceil_mode: bool
    argmax_type: DTypeLike | None
    def __init__(self, kernel_size: Ints, strides: Ints | None = None, pads: Ints = 0, dilation: Ints = ..., ceil_mode: bool = False, argmax_type: DTypeLike | None = None) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class MaxUnpool2D(Primitive):
    """Return each element at the position where it was the largest of its window, 0 elsewhere."""
    ksize: Ints
    strides: Ints
    pads: Ints
    output_shape: Sequence[int]
    data_format: str
    def __init__(self, ksize: Ints, strides: Ints = 0, pads: Ints = 0, output_shape: Sequence[int] = (), data_format: str = 'NCHW') -> None: ...
    def __call__(self, x: Tensor, argmax: Tensor, /) -> Tensor: ...

class MaxUnpool3D(Primitive):
    """Return each element at the position where it was the largest of its window, 0 elsewhere."""
    ksize: Ints
    strides: Ints
    pads: Ints
    output_shape: Sequence[int]
    data_format: str
    def __init__(self, ksize: Ints, strides: Ints = 0, pads: Ints = 0, output_shape: Sequence[int] = (), data_format: str = 'NCDHW') -> None: ...
    def __call__(self, x: Tensor, argmax: Tensor, /) -> Tensor: ...

class Maximum(Primitive):
    """The larger of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.
    """
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Median(Primitive):
    """Return the middle element of all, or of those along one axis, the lower of two, and its position.
    """
    global_median: bool
    axis: int
    keep_dims: bool
    ignore_nan: bool
    def __init__(self, global_median: bool = False, axis: int = 0, keep_dims: bool = False, ignore_nan: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Meshgrid(Primitive):
    """Return the coordinates of the points of a grid, as in NumPy: one tensor for each axis."""
    indexing: str
    def __init__(self, indexing: str = 'xy') -> None: ...
    def __call__(self, *inputs: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]: ...

class Minimum(Primitive):
    """The smaller of x and y, NaN where either is NaN; where they tie, each gets half of the gradient.
    """
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class MirrorPad(Primitive):
    """Return the tensor padded with its mirror image."""
    mode: str
    def __init__(self, mode: str = 'REFLECT') -> None: ...
    def __call__(self, input_x: Tensor, paddings: Tensor | Sequence[Sequence[int]], /) -> Tensor: ...

class Mish(Primitive):
    """Return x * tanh(log(1 + exp(x))) (Misra 2019)."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Mod(Primitive):
    """x - trunc(x / y) * y, the remainder with the sign of x."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Mul(Primitive):
    """x * y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class MulNoNan(Primitive):
    """Return x * y, and 0 where y is 0, even where x is infinite or NaN."""
    def __call__(self, x: Operand, y: Operand, /) -> Tensor: ...

class MultiMarginLoss(Primitive):
    """Return the mean over classes of max(0, margin - x[y] + x[class]) ** p, without the target's own.
    """
    p: int
    margin: float
    reduction: str
    def __init__(self, p: int = 1, margin: float = 1.0, reduction: str = 'mean') -> None: ...
    def __call__(self, x: Tensor, y: Tensor, weight: Tensor | None = None, /) -> Tensor: ...

class Multinomial(Primitive):
    """Draw ``num_samples`` indices of each row, with the weights of the row and with replacement."""
    seed: int
    seed2: int
    dtype: DTypeLike
    def __init__(self, seed: int = 0, seed2: int = 0, dtype: DTypeLike = ...) -> None: ...
    def __call__(self, x: Tensor, num_samples: int, /) -> Tensor: ...

class MultinomialWithReplacement(Primitive):
    """Draw ``numsamples`` indices of each row, with the weights of the row."""
    numsamples: int
    replacement: bool
    def __init__(self, numsamples: int, replacement: bool = False) -> None: ...
    def __call__(self, x: Tensor, seed: int | Tensor, offset: int | Tensor, /) -> Tensor: ...

class Mvlgamma(Primitive):
    """Return the logarithm of the multivariate gamma function of dimension ``p``."""
    p: int
    def __init__(self, p: int) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class NLLLoss(Primitive):
    """Return the negative log-likelihood of class numbers, and the sum of their weights."""
    reduction: str
    ignore_index: int
    def __init__(self, reduction: str = 'mean', ignore_index: int = -100) -> None: ...
    def __call__(self, logits: Tensor, labels: Tensor, weight: Tensor, /) -> tuple[Tensor, Tensor]: ...

class NMSWithMask(Primitive):
    """Return boxes by falling scores, and which of them non-maximum suppression keeps."""
    iou_threshold: float
    def __init__(self, iou_threshold: float = 0.5) -> None: ...
    def __call__(self, bboxes: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class NPUAllocFloatStatus(Primitive):
    """Return eight zeros (Float32): NumPy and CuPy have no overflow flag to report; use ``ops.isfinite``.
    """
    def __call__(self, *_: Any) -> Tensor: ...

class NPUClearFloatStatus(Primitive):
    """Return eight zeros (Float32): NumPy and CuPy have no overflow flag to report; use ``ops.isfinite``.
    """
    def __call__(self, *_: Any) -> Tensor: ...

class NPUGetFloatStatus(Primitive):
    """Return eight zeros (Float32): NumPy and CuPy have no overflow flag to report; use ``ops.isfinite``.
    """
    def __call__(self, *_: Any) -> Tensor: ...

class NanToNum(Primitive):
    """Return the tensor with NaN and infinities replaced by finite numbers, as in NumPy."""
    nan: float | None
    posinf: float | None
    neginf: float | None
    def __init__(self, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Neg(Primitive):
    """-x."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class NextAfter(Primitive):
    """The floating-point number after x on the way to y, as in C; its gradient by x is 1, that by y 0.
    """
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class NoRepeatNGram(Primitive):
    """Return ``log_probs`` with the dtype's least number for words that would repeat ``ngram_size`` words.
    """
    ngram_size: int
    def __init__(self, ngram_size: int = 1) -> None: ...
    def __call__(self, state_seq: Tensor, log_probs: Tensor, /) -> Tensor: ...

class NonDeterministicInts(Primitive):
    """Draw integers uniformly from all that the dtype has."""
    dtype: DTypeLike
    def __init__(self, dtype: DTypeLike = ...) -> None: ...
    def __call__(self, shape: Tensor, /) -> Tensor: ...

class NonMaxSuppressionWithOverlaps(Primitive):
    """Return the boxes of the best scores that do not overlap with a better kept one, for given overlaps.
    """
    def __call__(self, overlaps: Tensor, scores: Tensor, max_output_size: Tensor, overlap_threshold: Tensor, score_threshold: Tensor, /) -> Tensor: ...

class NonZero(Primitive):
    """Return the indices of the elements that are not 0, in the order of the tensor."""
    def __call__(self, input: Tensor, *, as_tuple: bool = False) -> Any: ...

class NotEqual(Primitive):
    """x != y, as Bool."""
    def __call__(self, input: Operand, other: object, /) -> Any: ...

class NthElement(Primitive):
    """Return the n-th smallest element along the last axis, from 0; several that are equal share the
    gradient.
    """
    reverse: bool
    def __init__(self, reverse: bool = False) -> None: ...
    def __call__(self, input: Tensor, n: int | Tensor, /) -> Tensor: ...

class NuclearNorm(Primitive):
    """Return the sum of the singular values of matrices."""
    dim: Sequence[int] | None
    keepdim: bool
    def __init__(self, dim: Sequence[int] | None = None, keepdim: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class OneHot(Primitive):
    """Return ``on_value`` at each index along a new axis, ``off_value`` elsewhere; no gradient passes.
    """
    axis: int
    def __init__(self, axis: int = -1) -> None: ...
    def __call__(self, indices: Tensor, depth: int, on_value: Operand = 1, off_value: Operand = 0, /) -> Tensor: ...

class Ones(Primitive):
    """Return a tensor of ones."""
    def __call__(self, shape: Any, dtype: DTypeLike | None = None, /) -> Tensor: ...

class OnesLike(Primitive):
    """Return ones of the input's shape and device."""
    def __call__(self, input: Tensor, *, dtype: DTypeLike | None = None) -> Tensor: ...

class Orgqr(Primitive):
    """Return the first columns of Q, the product of the reflections that ``geqrf`` returns."""
    def __call__(self, input: Tensor, input2: Tensor, /) -> Tensor: ...

class Ormqr(Primitive):
    """Return ``other`` times Q, the product of the reflections that ``geqrf`` returns."""
    left: bool
    transpose: bool
    def __init__(self, left: bool = True, transpose: bool = False) -> None: ...
    def __call__(self, input: Tensor, tau: Tensor, other: Tensor, /) -> Tensor: ...

class PReLU(Primitive):
    """Return x where it is positive, weight * x elsewhere (He et al. 2015)."""
    def __call__(self, input: Tensor, weight: Tensor, /) -> Tensor: ...

class PSROIPooling(Primitive):
    """Return means over the bins of regions of interest, each bin with channels of its own (Dai et al.
    2016).
    """
    spatial_scale: float
    group_size: int
    output_dim: int
    def __init__(self, spatial_scale: float, group_size: int, output_dim: int) -> None: ...
    def __call__(self, features: Tensor, rois: Tensor, /) -> Tensor: ...

class Pack(Primitive):
    """Return tensors of one shape joined along a new axis."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, tensors: Sequence[Tensor], /) -> Tensor: ...

class Pad(Primitive):
    """Return the tensor with zeros added at the ends of the axes."""
    paddings: Sequence[Sequence[int]]
    def __init__(self, paddings: Sequence[Sequence[int]]) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class PadV3(Primitive):
    """Return the tensor with elements added at the ends of the last axes, see ``pad``."""
    mode: str
    paddings_contiguous: bool
    def __init__(self, mode: str = 'constant', paddings_contiguous: bool = True) -> None: ...
    def __call__(self, x: Tensor, paddings: Any, value: Tensor | float | None = None, /) -> Tensor: ...

class Padding(Primitive):
    """Return the tensor with its last axis, of length 1, padded with 0."""
    pad_dim_size: int
    def __init__(self, pad_dim_size: int = 8) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class ParallelConcat(Primitive):
    """Return the concatenation of tensors along an axis that they have."""
    def __call__(self, tensors: Sequence[Tensor], axis: int = 0, /) -> Tensor: ...

class ParameterizedTruncatedNormal(Primitive):
    """Draw numbers from the normal distribution, without those outside [min, max]."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, shape: Tensor, mean: Tensor, stdevs: Tensor, min: Tensor, max: Tensor, /) -> Tensor: ...

class Pdist(Primitive):
    """Return the ``p``-norm distance of each two rows, in the order (0, 1), (0, 2), ..., (1, 2), ...
    """
    p: float
    def __init__(self, p: float = 2.0) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Polar(Primitive):
    """Return abs * cos(angle) + i abs * sin(angle), the complex numbers of these lengths and angles.
    """
    def __call__(self, abs: Tensor, angle: Tensor, /) -> Tensor: ...

class Polygamma(Primitive):
    """Return the derivative of order ``n`` of ``digamma``, that is of order ``n + 1`` of ``lgamma``, as in
    SciPy.
    """
    def __call__(self, n: int | Tensor, input: Tensor, /) -> Tensor: ...

class PopulationCount(Primitive):
    """Return how many bits of an integer are 1, in two's complement: a UInt8."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Pow(Primitive):
    """x to the power y, of integers without the fraction; the gradient by y is 0 where x is 0, NaN where x
    < 0.
    """
    def __call__(self, input: Operand, exponent: Operand, /) -> Tensor: ...

class Print(Primitive):
    """Print values in the order of the program, each on a line, tensors with shape, dtype and value.
    """
    def __call__(self, *input_x: Any) -> None: ...

class Qr(Primitive):
    """Return the QR decomposition: Q with orthonormal columns and an upper triangular R, Q @ R = x."""
    full_matrices: bool
    def __init__(self, full_matrices: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class RGBToHSV(Primitive):
    """Return hue, saturation (1 - m / M) and value (M) of red, green and blue, M the largest channel and m
    the least.
    """
    def __call__(self, images: Tensor, /) -> Tensor: ...

class ROIAlign(Primitive):
    """Return regions of interest pooled to bins: means of points between pixels (He et al. 2017)."""
    pooled_height: int
    pooled_width: int
    spatial_scale: float
    sample_num: int
    roi_end_mode: int
    def __init__(self, pooled_height: int, pooled_width: int, spatial_scale: float, sample_num: int = 2, roi_end_mode: int = 1) -> None: ...
    def __call__(self, features: Tensor, rois: Tensor, /) -> Tensor: ...

class RaggedRange(Primitive):
    """Return rows start, start + delta, ... up to the limit, which is not included, one after the other.
    """
    Tsplits: DTypeLike
    def __init__(self, Tsplits: DTypeLike) -> None: ...
    def __call__(self, starts: Tensor, limits: Tensor, deltas: Tensor, /) -> tuple[Tensor, Tensor]: ...

class RaggedTensorToSparse(Primitive):
    """Return rows of different lengths as a sparse tensor."""
    Tsplits: DTypeLike
    def __init__(self, Tsplits: DTypeLike) -> None: ...
    def __call__(self, rt_nested_splits: Sequence[Tensor], rt_dense_values: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class RandomCategorical(Primitive):
    """Draw ``num_sample`` indices for each row, with the softmax of the row and with replacement."""
    dtype: DTypeLike
    def __init__(self, dtype: DTypeLike = ...) -> None: ...
    def __call__(self, logits: Tensor, num_sample: int, seed: int = 0, /) -> Tensor: ...

class RandomChoiceWithMask(Primitive):
    """Draw ``count`` random indices of elements that are True, padded with 0, and return a mask of the
    drawn ones.
    """
    count: int
    seed: int
    seed2: int
    def __init__(self, count: int = 256, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, input_x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class RandomGamma(Primitive):
    """Draw numbers from the gamma distribution with shape ``alpha`` and rate 1."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, shape: Any, alpha: Tensor, /) -> Tensor: ...

class RandomPoisson(Primitive):
    """Draw numbers from Poisson's distribution with mean ``rate``."""
    seed: int
    seed2: int
    dtype: DTypeLike
    def __init__(self, seed: int = 0, seed2: int = 0, dtype: DTypeLike = ...) -> None: ...
    def __call__(self, shape: Any, rate: Tensor, /) -> Tensor: ...

class RandomShuffle(Primitive):
    """Return the entries of the first axis in random order; entries stay whole."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class RandpermV2(Primitive):
    """Return 0, 1, ..., n - 1 in random order, given by ``seed`` and ``offset``: by default the same at
    each call.
    """
    seed: int
    offset: int
    dtype: DTypeLike
    def __init__(self, seed: int = 0, offset: int = 0, dtype: DTypeLike = ...) -> None: ...
    def __call__(self, n: int | Tensor, /) -> Tensor: ...

class Range(Primitive):
    """Return start, start + step, start + 2 * step, ... as long as it is before ``end``."""
    maxlen: int
    def __init__(self, maxlen: int = 1000000) -> None: ...
    def __call__(self, start: Operand, end: Operand, step: Operand, /) -> Tensor: ...

class RangeV2(Primitive):
    """Return start, start + delta, ... up to ``limit``, which is not included."""
    maxlen: int
    def __init__(self, maxlen: int = 1000000) -> None: ...
    def __call__(self, start: Tensor, limit: Tensor, delta: Tensor, /) -> Tensor: ...

class Rank(Primitive):
    """Return the number of axes of a tensor."""
    def __call__(self, input_x: Tensor, /) -> int: ...

class ReLU(Primitive):
    """Return max(input, 0), element by element; NaN stays NaN."""
    def __call__(self, input: Tensor, inplace: bool = False, /) -> Tensor: ...

class ReLU6(Primitive):
    """Return min(max(x, 0), 6), element by element; NaN stays NaN."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class ReLUV3(Primitive):
    """Return max(input, 0), element by element; NaN stays NaN."""
    def __call__(self, input: Tensor, inplace: bool = False, /) -> Tensor: ...

class Real(Primitive):
    """Return the real part, element by element; a real tensor is returned as it is."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class RealDiv(Primitive):
    """Return x / y, of integers without the fraction."""
    def __call__(self, x: Operand, y: Operand, /) -> Tensor: ...

class Receive(Primitive):
    """Receive a tensor from another rank."""
    sr_tag: int
    src_rank: int
    shape: Sequence[int]
    dtype: DTypeLike | None
    group: str | None
    group_back: str | None
    def __init__(self, sr_tag: int, src_rank: int, shape: Sequence[int], dtype: DTypeLike | None, group: str | None = 'hccl_world_group', group_back: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor | None = None, /) -> Tensor: ...

class Reciprocal(Primitive):
    """1 / x."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Reduce(Primitive):
    """Return the reduction of all ranks' tensors on one rank, and zeros on the others."""
    dest_rank: int
    op: str
    group: str | None
    def __init__(self, dest_rank: int, op: str = 'sum', group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class ReduceAll(Primitive):
    """Return whether all elements over axes are true (not 0)."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, input: Tensor, axis: Axis = None, /) -> Tensor: ...

class ReduceAny(Primitive):
    """Return whether any element over axes is true (not 0)."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, input: Tensor, axis: Axis = None, /) -> Tensor: ...

class ReduceMax(Primitive):
    """Return the largest element over axes; several that tie share the gradient."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Axis = (), /) -> Tensor: ...

class ReduceMean(Primitive):
    """Return the mean over axes."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Axis = None, /) -> Tensor: ...

class ReduceMin(Primitive):
    """Return the smallest element over axes; several that tie share the gradient."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Axis = (), /) -> Tensor: ...

class ReduceProd(Primitive):
    """Return the product over axes in the tensor's own dtype."""
    keep_dims: bool
    def __init__(self, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Axis = (), /) -> Tensor: ...

class ReduceScatter(Primitive):
    """Return a rank's share, along the first axis, of the reduction of all ranks' tensors."""
    op: str
    group: str | None
    def __init__(self, op: str = 'sum', group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class ReduceScatterV(Primitive):
    """Return a rank's share, of any length, of the reduction of all ranks' tensors of one axis."""
    op: str
    group: str | None
    def __init__(self, op: str = 'sum', group: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, input_split_sizes: Any, /) -> Tensor: ...

class ReduceStd(Primitive):
    """Return the standard deviation and the mean over axes."""
    axis: Axis
    unbiased: bool
    keep_dims: bool
    def __init__(self, axis: Axis = (), unbiased: bool = True, keep_dims: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class ReduceSum(Primitive):
    """Return the sum over axes in the tensor's own dtype."""
    keep_dims: bool
    skip_mode: bool
    def __init__(self, keep_dims: bool = False, skip_mode: bool = False) -> None: ...
    def __call__(self, x: Tensor, axis: Axis = (), /) -> Tensor: ...

class Renorm(Primitive):
    """Return ``renorm`` under the argument names of its class."""
    p: float
    dim: int
    maxnorm: float
    def __init__(self, p: float, dim: int, maxnorm: float) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class Reshape(Primitive):
    """Return the elements in row-major order in a different shape."""
    def __call__(self, input: Tensor, shape: Any, /) -> Tensor: ...

class ResizeArea(Primitive):
    """Return (N, H, W, C) resized: each element is the mean of its area, in which pixels may count in
    part.
    """
    align_corners: bool
    def __init__(self, align_corners: bool = False) -> None: ...
    def __call__(self, images: Tensor, size: Tensor, /) -> Tensor: ...

class ResizeBicubic(Primitive):
    """(N, C, H, W) resized to ``size``, along cubic lines."""
    align_corners: bool
    half_pixel_centers: bool
    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None: ...
    def __call__(self, x: Tensor, size: Any, /) -> Tensor: ...

class ResizeBilinearV2(Primitive):
    """(N, C, H, W) resized to ``size``, along lines between neighbors."""
    align_corners: bool
    half_pixel_centers: bool
    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None: ...
    def __call__(self, x: Tensor, size: Any, /) -> Tensor: ...

class ResizeLinear1D(Primitive):
    """Return (N, C, L) resized to ``size`` along lines between neighbors."""
    coordinate_transformation_mode: str
    def __init__(self, coordinate_transformation_mode: str = 'align_corners') -> None: ...
    def __call__(self, x: Tensor, size: Any, /) -> Tensor: ...

class ResizeNearestNeighbor(Primitive):
    """(N, C, H, W) resized to ``size``, each element the nearest one."""
    size: Any
    align_corners: bool
    half_pixel_centers: bool
    def __init__(self, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class ResizeNearestNeighborV2(Primitive):
    """(N, C, H, W) resized to ``size``, each element the nearest one."""
    align_corners: bool
    half_pixel_centers: bool
    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None: ...
    def __call__(self, x: Tensor, size: Any, /) -> Tensor: ...

class ResizeV2(Primitive):
    """Return images resized to ``sizes``."""
    coordinate_transformation_mode: str
    mode: str
    def __init__(self, coordinate_transformation_mode: str = 'half_pixel', mode: str = 'nearest') -> None: ...
    def __call__(self, x: Tensor, roi: Tensor, scales: Tensor, sizes: Tensor, /) -> Tensor: ...

class Reusing(Primitive):
    """Return the same values in a new tensor."""
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class ReverseSequence(Primitive):
    """Return the tensor with the first elements of the sequence in each batch entry reversed."""
    seq_dim: int
    batch_dim: int
    def __init__(self, seq_dim: int, batch_dim: int = 0) -> None: ...
    def __call__(self, x: Tensor, seq_lengths: Tensor, /) -> Tensor: ...

class ReverseV2(Primitive):
    """Return the tensor with the order of the elements reversed along axes."""
    axis: Ints
    def __init__(self, axis: Ints) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class RightShift(Primitive):
    """Return the bits shifted to the right: floor(input / 2**other)."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Rint(Primitive):
    """Return the nearest number with ``decimals`` decimal places, halves to the even one; its gradient is
    0.
    """
    def __call__(self, input: Tensor, *, decimals: int = 0) -> Tensor: ...

class RmsNorm(Primitive):
    """Return x / sqrt(mean(x * x) + epsilon) * gamma over the last axes (Zhang and Sennrich 2019)."""
    epsilon: float
    def __init__(self, epsilon: float = 1e-06) -> None: ...
    def __call__(self, x: Tensor, gamma: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Roll(Primitive):
    """Return the elements shifted along axes; those that leave at the end come back at the start."""
    shifts: Ints
    dims: Ints | None
    def __init__(self, shifts: Ints, dims: Ints | None = None) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Round(Primitive):
    """Return the nearest number with ``decimals`` decimal places, halves to the even one; its gradient is
    0.
    """
    def __call__(self, input: Tensor, decimals: int = 0, /) -> Tensor: ...

class Rsqrt(Primitive):
    """1 / sqrt(x)."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class SGD(Primitive):
    """Take one step of SGD: accum = momentum * accum + (1 - dampening) * g, in the first step g; p - lr *
    accum.
    """
    dampening: float
    weight_decay: float
    nesterov: bool
    def __init__(self, dampening: float = 0.0, weight_decay: float = 0.0, nesterov: bool = False) -> None: ...
    def __call__(self, p: Tensor, g: Tensor, lr: Tensor | float, accum: Tensor, momentum: Tensor | float, first: Tensor, /) -> Tensor: ...

class STFT(Primitive):
    """Return the Fourier transforms of the pieces of a signal, each times a window; the ends are not
    padded.
    """
    n_fft: int
    hop_length: int
    win_length: int
    normalized: bool
    onesided: bool
    return_complex: bool
    def __init__(self, n_fft: int, hop_length: int, win_length: int, normalized: bool, onesided: bool, return_complex: bool) -> None: ...
    def __call__(self, x: Tensor, window: Tensor, /) -> Tensor: ...

class SampleDistortedBoundingBoxV2(Primitive):
    """Return a random part of an image that covers enough of one of its objects; if none is found, the
    whole image.
    """
    seed: int
    seed2: int
    aspect_ratio_range: Sequence[float]
    area_range: Sequence[float]
    max_attempts: int
    use_image_if_no_bounding_boxes: bool
    def __init__(self, seed: int = 0, seed2: int = 0, aspect_ratio_range: Sequence[float] = ..., area_range: Sequence[float] = ..., max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False) -> None: ...
    def __call__(self, image_size: Tensor, bounding_boxes: Tensor, min_object_covered: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class ScalarCast(Primitive):
    """Return a Python number as the kind of number of a dtype, truncated towards 0 for integers."""
    def __call__(self, input_x: Number, input_y: DTypeLike, /) -> Any: ...

class ScalarToArray(Primitive):
    """Return a number as a 0-d tensor: Int64 of an int, Float32 of a float, Bool of a bool."""
    def __call__(self, input_x: TensorLike, /) -> Tensor: ...

class ScalarToTensor(Primitive):
    """Return a number as a 0-d tensor."""
    def __call__(self, input_x: bool | int | float, dtype: DTypeLike = ..., /) -> Tensor: ...

class ScaleAndTranslate(Primitive):
    """Return (N, H, W, C) scaled, then moved: a point x goes to scale * x + translation; pixel i is at i +
    0.5.
    """
    kernel_type: str
    antialias: bool
    def __init__(self, kernel_type: str = 'lanczos3', antialias: bool = True) -> None: ...
    def __call__(self, images: Tensor, size: Tensor, scale: Tensor, translation: Tensor, /) -> Tensor: ...

class ScatterAdd(Primitive):
    """x + u where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterAddWithAxis(Primitive):
    """Return ``input_x`` with ``updates`` added at positions along an axis."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterDiv(Primitive):
    """x / u where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterMax(Primitive):
    """max(x, u) where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterMin(Primitive):
    """min(x, u) where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterMul(Primitive):
    """x * u where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNd(Primitive):
    """Return zeros with ``updates`` added at ``indices``."""
    def __call__(self, indices: Tensor, updates: Tensor, shape: Any, /) -> Tensor: ...

class ScatterNdAdd(Primitive):
    """x + u where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdDiv(Primitive):
    """x / u where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdMax(Primitive):
    """max(x, u) where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdMin(Primitive):
    """min(x, u) where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdMul(Primitive):
    """x * u where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdSub(Primitive):
    """x - u where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNdUpdate(Primitive):
    """``updates`` put where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = True) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterNonAliasingAdd(Primitive):
    """x + u where ``indices`` point."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class ScatterSub(Primitive):
    """x - u where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class ScatterUpdate(Primitive):
    """``updates`` put where ``indices`` point."""
    use_locking: bool
    def __init__(self, use_locking: bool = True) -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class SeLU(Primitive):
    """Return scale * x where x is positive, scale * alpha * (exp(x) - 1) elsewhere (Klambauer et al.
    2017).
    """
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class SearchSorted(Primitive):
    """Return where ``values`` would be inserted into a sorted Tensor, along its last axis, to keep it
    sorted.
    """
    dtype: DTypeLike
    right: bool
    def __init__(self, dtype: DTypeLike = ..., right: bool = False) -> None: ...
    def __call__(self, sorted_sequence: Tensor, values: TensorLike, sorter: Tensor | None = None, /) -> Tensor: ...

class SegmentMax(Primitive):
    """The largest element of each segment, where segments lie one behind the other."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SegmentMean(Primitive):
    """Return the mean of the elements of each segment; segments are consecutive."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SegmentMin(Primitive):
    """The smallest element of each segment, where segments lie one behind the other."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SegmentProd(Primitive):
    """The product of each segment, where segments lie one behind the other."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SegmentSum(Primitive):
    """The sum of each segment, where segments lie one behind the other."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class Select(Primitive):
    """Return ``input`` where ``condition`` holds, ``other`` elsewhere; the gradient goes to the selected
    one.
    """
    def __call__(self, condition: TensorLike, input: TensorLike, other: TensorLike, /) -> Tensor: ...

class SelfAdjointEig(Primitive):
    """Return the eigenvalues, the least first, and the eigenvectors of symmetric or Hermitian matrices.
    """
    compute_v: bool
    def __init__(self, compute_v: bool = True) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Send(Primitive):
    """Send the tensor to another rank."""
    sr_tag: int
    dest_rank: int
    group: str | None
    group_back: str | None
    def __init__(self, sr_tag: int, dest_rank: int, group: str | None = 'hccl_world_group', group_back: str | None = 'hccl_world_group') -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class SetSize(Primitive):
    """Return the number of distinct elements in each row of a sparse tensor, along its last axis."""
    validate_indices: bool
    def __init__(self, validate_indices: bool = True) -> None: ...
    def __call__(self, set_indices: Tensor, set_values: Tensor, set_shape: Tensor, /) -> Tensor: ...

class Shape(Primitive):
    """Return the shape of a tensor."""
    def __call__(self, input_x: Any, /) -> tuple[int, ...]: ...

class Sigmoid(Primitive):
    """1 / (1 + exp(-x))."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class SigmoidCrossEntropyWithLogits(Primitive):
    """Return -(y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x))), without overflow, of each element.
    """
    def __call__(self, x: Tensor, y: Tensor, /) -> Tensor: ...

class Sign(Primitive):
    """-1, 0 or 1 as x is negative, 0 or NaN, or positive; of a complex number x / |x|, and 0 of 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Sin(Primitive):
    """The sine of an angle in radians."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Sinc(Primitive):
    """sin(pi x) / (pi x), and 1 at 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Sinh(Primitive):
    """The hyperbolic sine, (exp(x) - exp(-x)) / 2."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Size(Primitive):
    """Return the number of elements of a tensor."""
    def __call__(self, input_x: Tensor, /) -> int: ...

class Slice(Primitive):
    """Return the block of ``input_x`` that starts at ``begin`` and has the shape ``size``."""
    def __call__(self, input_x: Tensor, begin: Any, size: Any, /) -> Tensor: ...

class SmoothL1Loss(Primitive):
    """Return the smooth L1 loss (Girshick 2015), reduced."""
    beta: float
    reduction: str
    def __init__(self, beta: float = 1.0, reduction: str = 'none') -> None: ...
    def __call__(self, input: Tensor, target: Tensor, /) -> Tensor: ...

class SoftMarginLoss(Primitive):
    """Return log(1 + exp(-target * input)), without overflow."""
    reduction: str
    def __init__(self, reduction: str = 'mean') -> None: ...
    def __call__(self, input: Tensor, target: Tensor, /) -> Tensor: ...

class SoftShrink(Primitive):
    """Return x - lambd where x > lambd, x + lambd where x < -lambd, 0 elsewhere."""
    lambd: float
    def __init__(self, lambd: float = 0.5) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Softmax(Primitive):
    """Return exp(input) / sum(exp(input)) along ``axis``, computed without overflow."""
    axis: int
    def __init__(self, axis: int = -1) -> None: ...
    def __call__(self, input: Tensor, *, dtype: DTypeLike | None = None) -> Tensor: ...

class SoftmaxCrossEntropyWithLogits(Primitive):
    """Return the cross-entropy of softmax(logits) of each row, and its gradient by ``logits``."""
    def __call__(self, logits: Tensor, labels: Tensor, /) -> tuple[Tensor, Tensor]: ...

class Softplus(Primitive):
    """Return log(1 + exp(beta * x)) / beta, and x itself where beta * x is above ``threshold``."""
    def __call__(self, input: Tensor, beta: float = 1, threshold: float = 20, /) -> Tensor: ...

class Softsign(Primitive):
    """Return x / (1 + |x|), element by element."""
    def __call__(self, x: Tensor, /) -> Tensor: ...

class Sort(Primitive):
    """Return the sorted elements along one axis, and their positions; equal ones keep their order, NaN is
    the largest.
    """
    axis: int
    descending: bool
    def __init__(self, axis: int = -1, descending: bool = False) -> None: ...
    def __call__(self, input_x: Tensor, /) -> tuple[Tensor, Tensor]: ...

class SpaceToBatch(Primitive):
    """Return the tensor with blocks of the last axes moved into the batch, after padding with 0."""
    block_size: Ints
    paddings: Sequence[Sequence[int]]
    def __init__(self, block_size: Ints, paddings: Sequence[Sequence[int]]) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class SpaceToBatchND(Primitive):
    """Return ``space_to_batch_nd`` under the argument names of its class."""
    block_shape: Ints
    paddings: Sequence[Sequence[int]]
    def __init__(self, block_shape: Ints, paddings: Sequence[Sequence[int]]) -> None: ...
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class SpaceToDepth(Primitive):
    """Return (N, C, H * b, W * b) as (N, b * b * C, H, W); the inverse of ``DepthToSpace``."""
    block_size: int
    def __init__(self, block_size: int) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class SparseAdd(Primitive):
    """Return the sum of two sparse tensors, each position once and in order, without elements that are
    small.
    """
    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2_indices: Tensor, x2_values: Tensor, x2_shape: Tensor, thresh: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class SparseAddmm(Primitive):
    """Return alpha * (x1 @ x2) + beta * x3, where x1 is a sparse matrix."""
    def __call__(self, indices: Tensor, values: Tensor, sparse_shape: Tensor, x2_dense: Tensor, x3_dense: Tensor, alpha: Tensor, beta: Tensor, /) -> Tensor: ...

class SparseApplyAdagrad(Primitive):
    """One step of Adagrad (Duchi et al. 2011) of the rows that have a gradient: p - lr * g / sqrt(sum of
    g^2).
    """
    lr: float
    update_slots: bool
    use_locking: Any
    def __init__(self, lr: float, update_slots: bool = True, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, accum: Tensor, grad: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class SparseApplyAdagradDA(Primitive):
    """One step of Adagrad by dual averaging, as ``ApplyAdagradDA``, of the rows that have a gradient.
    """
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, grad_accum: Tensor, grad_square_accum: Tensor, grad: Tensor, indices: Tensor, lr: Tensor | float, l1: Tensor | float, l2: Tensor | float, global_step: Tensor | int, /) -> Tensor: ...

class SparseApplyAdagradV2(Primitive):
    """Take one step of Adagrad (Duchi et al. 2011) of the rows with a gradient: p - lr * g / sqrt(accum +
    epsilon).
    """
    lr: float
    epsilon: float
    use_locking: Any
    update_slots: bool
    def __init__(self, lr: float, epsilon: float, use_locking: Any = False, update_slots: bool = True) -> None: ...
    def __call__(self, var: Tensor, accum: Tensor, grad: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class SparseApplyCenteredRMSProp(Primitive):
    """One step of RMSProp about the mean (Graves 2013) of the rows that have a gradient."""
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, mg: Tensor, ms: Tensor, mom: Tensor, lr: Tensor | float, rho: Tensor | float, momentum: Tensor | float, epsilon: Tensor | float, grad: Tensor, indices: Tensor, /) -> Tensor: ...

class SparseApplyFtrl(Primitive):
    """One step of FTRL (McMahan et al. 2013) of the rows that have a gradient."""
    lr: float
    l1: float
    l2: float
    lr_power: float
    use_locking: Any
    def __init__(self, lr: float, l1: float, l2: float, lr_power: float, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, accum: Tensor, linear: Tensor, grad: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class SparseApplyMomentum(Primitive):
    """One step of momentum (Polyak 1964) of the rows that have a gradient: v = momentum * v + g; p - lr *
    v.
    """
    use_locking: Any
    use_nesterov: bool
    def __init__(self, use_locking: Any = False, use_nesterov: bool = False) -> None: ...
    def __call__(self, var: Tensor, accum: Tensor, lr: Tensor | float, grad: Tensor, indices: Tensor, momentum: Tensor | float, /) -> Tensor: ...

class SparseApplyProximalGradientDescent(Primitive):
    """One step down the gradient, then toward 0 by l1 and l2 (Duchi and Singer 2009), of the rows that
    have a gradient.
    """
    use_locking: Any
    def __init__(self, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, alpha: Tensor | float, l1: Tensor | float, l2: Tensor | float, grad: Tensor, indices: Tensor, /) -> Tensor: ...

class SparseApplyRMSProp(Primitive):
    """One step of RMSProp (Tieleman and Hinton 2012) of the rows that have a gradient."""
    rho: float
    momentum: float
    epsilon: float
    use_locking: Any
    def __init__(self, rho: float, momentum: float, epsilon: float, use_locking: Any = False) -> None: ...
    def __call__(self, var: Tensor, ms: Tensor, mom: Tensor, lr: Tensor | float, grad: Tensor, indices: Tensor, /) -> tuple[Tensor, ...]: ...

class SparseConcat(Primitive):
    """Return the concatenation of sparse tensors along an axis; its elements are in order."""
    concat_dim: int
    def __init__(self, concat_dim: int = 0) -> None: ...
    def __call__(self, sp_input: Sequence[Tensor], values: Sequence[Tensor], shapes: Sequence[Tensor], /) -> tuple[Tensor, Tensor, Tensor]: ...

class SparseCountSparseOutput(Primitive):
    """Return how often each number occurs among the elements of each row of a sparse matrix."""
    binary_output: bool
    minlength: int
    maxlength: int
    def __init__(self, binary_output: bool = False, minlength: int = -1, maxlength: int = -1) -> None: ...
    def __call__(self, indices: Tensor, values: Tensor, dense_shape: Tensor, weights: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class SparseDenseCwiseAdd(Primitive):
    """Adds the elements of a dense tensor at the places of a sparse one."""
    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2: Tensor, /) -> Tensor: ...

class SparseDenseCwiseMul(Primitive):
    """Multiplies by the elements of a dense tensor at the places of a sparse one."""
    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2: Tensor, /) -> Tensor: ...

class SparseFillEmptyRows(Primitive):
    """Return a sparse matrix with an element at the beginning of each row that has none."""
    def __call__(self, indices: Tensor, values: Tensor, dense_shape: Tensor, default_value: Tensor, /) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...

class SparseGatherV2(Primitive):
    """Return the entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes of both are
    paired up.
    """
    def __call__(self, input_params: Tensor, input_indices: TensorLike, axis: int | Tensor, batch_dims: int = 0, /) -> Tensor: ...

class SparseMatrixAdd(Primitive):
    """alpha * x1 + beta * x2, where x1 and x2 are sparse matrices; an element wherever one of them has
    one.
    """
    def __call__(self, x1_dense_shape: Tensor, x1_batch_pointers: Tensor, x1_row_pointers: Tensor, x1_col_indices: Tensor, x1_values: Tensor, x2_dense_shape: Tensor, x2_batch_pointers: Tensor, x2_row_pointers: Tensor, x2_col_indices: Tensor, x2_values: Tensor, alpha: Tensor, beta: Tensor, /) -> tuple[Tensor, ...]: ...

class SparseMatrixMatMul(Primitive):
    """Sparse matrices times dense ones."""
    transpose_x1: bool
    transpose_x2: bool
    adjoint_x1: bool
    adjoint_x2: bool
    transpose_output: bool
    conjugate_output: bool
    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False, adjoint_x1: bool = False, adjoint_x2: bool = False, transpose_output: bool = False, conjugate_output: bool = False) -> None: ...
    def __call__(self, x1_dense_shape: Tensor, x1_batch_pointers: Tensor, x1_row_pointers: Tensor, x1_col_indices: Tensor, x1_values: Tensor, x2_dense: Tensor, /) -> Tensor: ...

class SparseMatrixNNZ(Primitive):
    """Return how many elements each of some sparse matrices has."""
    def __call__(self, x_dense_shape: Tensor, x_batch_pointers: Tensor, x_row_pointers: Tensor, x_col_indices: Tensor, x_values: Tensor, /) -> Tensor: ...

class SparseMatrixSoftmax(Primitive):
    """The softmax of each row of sparse matrices over the elements that it has."""
    dtype: DTypeLike
    def __init__(self, dtype: DTypeLike) -> None: ...
    def __call__(self, x_dense_shape: Tensor, x_batch_pointers: Tensor, x_row_pointers: Tensor, x_col_indices: Tensor, x_values: Tensor, /) -> tuple[Tensor, ...]: ...

class SparseMatrixTranspose(Primitive):
    """Sparse matrices with rows and columns exchanged."""
    conjugate: bool
    def __init__(self, conjugate: bool = False) -> None: ...
    def __call__(self, x_dense_shape: Tensor, x_batch_pointers: Tensor, x_row_pointers: Tensor, x_col_indices: Tensor, x_values: Tensor, /) -> tuple[Tensor, ...]: ...

class SparseReorder(Primitive):
    """Return the elements of a sparse tensor in the order of their positions."""
    def __call__(self, indices: Tensor, values: Tensor, shape: Tensor, /) -> tuple[Tensor, Tensor]: ...

class SparseReshape(Primitive):
    """Return the positions of a sparse tensor in a different shape of as many elements."""
    def __call__(self, indices: Tensor, shape: Tensor, new_shape: Tensor, /) -> tuple[Tensor, Tensor]: ...

class SparseSegmentMean(Primitive):
    """The mean of the entries of each segment, where entries are picked by their numbers."""
    def __call__(self, x: Tensor, indices: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SparseSegmentMeanWithNumSegments(Primitive):
    """The mean of the entries of each segment, where entries are picked by their numbers."""
    def __call__(self, x: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor, /) -> Tensor: ...

class SparseSegmentSqrtN(Primitive):
    """The sum, divided by the square root of how many they are, of the entries of each segment, where
    entries are picked by their numbers.
    """
    def __call__(self, x: Tensor, indices: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SparseSegmentSqrtNWithNumSegments(Primitive):
    """The sum, divided by the square root of how many they are, of the entries of each segment, where
    entries are picked by their numbers.
    """
    def __call__(self, x: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor, /) -> Tensor: ...

class SparseSegmentSum(Primitive):
    """The sum of the entries of each segment, where entries are picked by their numbers."""
    def __call__(self, x: Tensor, indices: Tensor, segment_ids: Tensor, /) -> Tensor: ...

class SparseSegmentSumWithNumSegments(Primitive):
    """The sum of the entries of each segment, where entries are picked by their numbers."""
    def __call__(self, x: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor, /) -> Tensor: ...

class SparseSlice(Primitive):
    """Return a block of a sparse tensor: the elements in it, in their order, with their positions in the
    block.
    """
    def __call__(self, indices: Tensor, values: Tensor, shape: Tensor, start: Tensor, size: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class SparseSoftmax(Primitive):
    """Return the softmax along the last axis over the elements that a sparse tensor has."""
    def __call__(self, indices: Tensor, values: Tensor, shape: Tensor, /) -> Tensor: ...

class SparseSoftmaxCrossEntropyWithLogits(Primitive):
    """Return the mean cross-entropy of softmax(logits) against class numbers, or its gradient by
    ``logits``.
    """
    is_grad: bool
    def __init__(self, is_grad: bool = False) -> None: ...
    def __call__(self, logits: Tensor, labels: Tensor, /) -> Tensor: ...

class SparseSoftmaxCrossEntropyWithLogitsV2(Primitive):
    """Return the cross-entropy of softmax(logits) of each row against a class number, and its gradient by
    ``logits``.
    """
    def __call__(self, logits: Tensor, labels: Tensor, /) -> tuple[Tensor, Tensor]: ...

class SparseSparseMaximum(Primitive):
    """The larger of two sparse tensors at each place that one of them has; the other counts as 0."""
    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2_indices: Tensor, x2_values: Tensor, x2_shape: Tensor, /) -> tuple[Tensor, Tensor]: ...

class SparseSparseMinimum(Primitive):
    """The smaller of two sparse tensors at each place that one of them has; the other counts as 0."""
    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2_indices: Tensor, x2_values: Tensor, x2_shape: Tensor, /) -> tuple[Tensor, Tensor]: ...

class SparseTensorDenseAdd(Primitive):
    """Return a sparse tensor added to a dense one."""
    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Any, x2: Tensor, /) -> Tensor: ...

class SparseTensorDenseMatmul(Primitive):
    """Return a sparse matrix times a dense one."""
    adjoint_st: bool
    adjoint_dt: bool
    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None: ...
    def __call__(self, indices: Tensor, values: Tensor, sparse_shape: Any, dense: Tensor, /) -> Tensor: ...

class SparseTensorToCSRSparseMatrix(Primitive):
    """Return a sparse tensor with the position of each value, as sparse matrices."""
    def __call__(self, x_indices: Tensor, x_values: Tensor, x_dense_shape: Tensor, /) -> tuple[Tensor, ...]: ...

class SparseToDense(Primitive):
    """Return a sparse tensor as a dense one; of several elements at one position the last one is kept.
    """
    def __call__(self, indices: Tensor, values: Tensor, sparse_shape: Any, /) -> Tensor: ...

class SparseToDenseV2(Primitive):
    """Return a sparse tensor as a dense one."""
    validate_indices: bool
    def __init__(self, validate_indices: bool = True) -> None: ...
    def __call__(self, indices: Tensor, output_shape: Tensor, values: Tensor, default_value: Tensor, /) -> Tensor: ...

class Split(Primitive):
    """Return parts of one length along an axis."""
    axis: int
    output_num: int
    def __init__(self, axis: int = 0, output_num: int = 1) -> None: ...
    def __call__(self, input_x: Tensor, /) -> tuple[Tensor, ...]: ...

class SplitV(Primitive):
    """Return parts of given lengths along an axis."""
    size_splits: Any
    split_dim: int
    num_split: int
    def __init__(self, size_splits: Any, split_dim: int, num_split: int) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, ...]: ...

class Sqrt(Primitive):
    """The square root of x, NaN of negative real numbers."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Square(Primitive):
    """x * x."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class SquareSumAll(Primitive):
    """Return the sum of the squares of each of two Tensors."""
    def __call__(self, x: Tensor, y: Tensor, /) -> tuple[Tensor, Tensor]: ...

class SquaredDifference(Primitive):
    """Return the square of x - y."""
    def __call__(self, x: Operand, y: Operand, /) -> Tensor: ...

class Squeeze(Primitive):
    """Return the tensor without the axes of length 1."""
    axis: Axis
    def __init__(self, axis: Axis = ()) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Sspaddmm(Primitive):
    """Return beta * x1 + alpha * (x2 @ x3) as a sparse matrix, with x1 and x2 sparse; positions may
    repeat.
    """
    def __call__(self, x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2_indices: Tensor, x2_values: Tensor, x2_shape: Tensor, x3_dense: Tensor, alpha: Tensor, beta: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class Stack(Primitive):
    """Return tensors of one shape joined along a new axis."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, tensors: Sequence[Tensor], /) -> Tensor: ...

class StandardLaplace(Primitive):
    """Draw numbers from Laplace's distribution with mean 0 and scale 1: the density is exp(-abs(x)) / 2.
    """
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, shape: Any, /) -> Tensor: ...

class StandardNormal(Primitive):
    """Draw numbers from the normal distribution with mean 0 and deviation 1."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, shape: Any, /) -> Tensor: ...

class StopGradient(Primitive):
    """Return the same values, through which no gradient passes."""
    def __call__(self, value: Any, /) -> Any: ...

class StridedSlice(Primitive):
    """Return ``input_x[begin:end:strides]``, axis by axis, with TensorFlow's masks."""
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

class SubAndFilter(Primitive):
    """Return the elements ``input_x - offset`` that are in [0, max_num), in their order, and their
    positions.
    """
    def __call__(self, input_x: Tensor, max_num: int | Tensor, offset: int | Tensor, /) -> tuple[Tensor, Tensor]: ...

class Svd(Primitive):
    """Return the singular value decomposition: s, U and V with U @ diag(s) @ V.T = input (V.H for complex
    numbers).
    """
    full_matrices: bool
    compute_uv: bool
    def __init__(self, full_matrices: bool = False, compute_uv: bool = True) -> None: ...
    def __call__(self, input: Tensor, /) -> Any: ...

class Tan(Primitive):
    """The tangent of an angle in radians."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Tanh(Primitive):
    """The hyperbolic tangent, (exp(x) - exp(-x)) / (exp(x) + exp(-x))."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class TensorAdd(Primitive):
    """x + y."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class TensorScatterAdd(Primitive):
    """x + u where ``indices`` point; a new tensor."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterDiv(Primitive):
    """x / u where ``indices`` point; a new tensor."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterElements(Primitive):
    """Return ``input_x`` with ``updates`` written at, or added to, positions along an axis."""
    axis: int
    reduction: str
    def __init__(self, axis: int = 0, reduction: str = 'none') -> None: ...
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, /) -> Tensor: ...

class TensorScatterMax(Primitive):
    """max(x, u) where ``indices`` point; a new tensor."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterMin(Primitive):
    """min(x, u) where ``indices`` point; a new tensor."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterMul(Primitive):
    """x * u where ``indices`` point; a new tensor."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterSub(Primitive):
    """x - u where ``indices`` point; a new tensor."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorScatterUpdate(Primitive):
    """``updates`` put where ``indices`` point; a new tensor."""
    def __call__(self, input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False, /) -> Tensor: ...

class TensorShape(Primitive):
    """Return the shape of a tensor, as a tensor."""
    def __call__(self, input_x: Tensor, /) -> Tensor: ...

class TensorToTuple(Primitive):
    """Return the elements of a vector as Python numbers."""
    def __call__(self, x: Tensor, /) -> tuple[Any, ...]: ...

class Tile(Primitive):
    """Return the whole tensor repeated along its axes."""
    def __call__(self, input: Tensor, dims: Any, /) -> Tensor: ...

class TopK(Primitive):
    """Return the ``k`` largest elements along the last axis in descending order, and their positions.
    """
    sorted: bool
    def __init__(self, sorted: bool = True) -> None: ...
    def __call__(self, input_x: Tensor, k: int, /) -> tuple[Tensor, Tensor]: ...

class Trace(Primitive):
    """Return the sum of a matrix's main diagonal."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class Transpose(Primitive):
    """Return the tensor with its axes in another order."""
    def __call__(self, input: Tensor, dims: Ints | Tensor | None, /) -> Tensor: ...

class TridiagonalMatMul(Primitive):
    """Return the product of a matrix with three diagonals, 0 elsewhere, and another matrix."""
    def __call__(self, superdiag: Tensor, maindiag: Tensor, subdiag: Tensor, rhs: Tensor, /) -> Tensor: ...

class TridiagonalSolve(Primitive):
    """Return the solution of equations whose matrix has three diagonals, and 0 elsewhere."""
    partial_pivoting: bool
    def __init__(self, partial_pivoting: bool = True) -> None: ...
    def __call__(self, diagonals: Tensor, rhs: Tensor, /) -> Tensor: ...

class Tril(Primitive):
    """Return the lower triangle of each matrix: element (i, j) where j - i <= ``diagonal``, 0 elsewhere.
    """
    diagonal: int
    def __init__(self, diagonal: int = 0) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class TrilIndices(Primitive):
    """Return the indices of the lower triangle of a (row, col) matrix."""
    row: int
    col: int
    offset: int
    dtype: DTypeLike
    def __init__(self, row: int, col: int, offset: int = 0, dtype: DTypeLike = ...) -> None: ...
    def __call__(self, ) -> Tensor: ...

class TripletMarginLoss(Primitive):
    """Return max(0, d(x, positive) - d(x, negative) + margin), d the p-norm; ``ops.triplet_margin_loss``.
    """
    p: float
    swap: bool
    eps: float
    reduction: str
    def __init__(self, p: float = 2, swap: bool = False, eps: float = 1e-06, reduction: str = 'mean') -> None: ...
    def __call__(self, x: Tensor, positive: Tensor, negative: Tensor, margin: float | Tensor, /) -> Tensor: ...

class Triu(Primitive):
    """Return the upper triangle of each matrix: element (i, j) where j - i >= ``diagonal``, 0 elsewhere.
    """
    diagonal: int
    def __init__(self, diagonal: int = 0) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor: ...

class TriuIndices(Primitive):
    """Return the indices of the upper triangle of a (row, col) matrix."""
    row: int
    col: int
    offset: int
    dtype: DTypeLike
    def __init__(self, row: int, col: int, offset: int = 0, dtype: DTypeLike = ...) -> None: ...
    def __call__(self, ) -> Tensor: ...

class Trunc(Primitive):
    """The integer part of x, rounded towards 0; its gradient is 0."""
    def __call__(self, input: Tensor, /) -> Tensor: ...

class TruncateDiv(Primitive):
    """Return x / y rounded towards 0."""
    def __call__(self, x: Operand, y: Operand, /) -> Tensor: ...

class TruncateMod(Primitive):
    """Return the remainder x - y * trunc(x / y), which has the sign of x."""
    def __call__(self, x: Operand, y: Operand, /) -> Tensor: ...

class TruncatedNormal(Primitive):
    """Draw numbers from the normal distribution with mean 0 and deviation 1, without those outside [-2,
    2].
    """
    dtype: DTypeLike
    seed: int
    seed2: int
    def __init__(self, dtype: DTypeLike = ..., seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, shape: Tensor, /) -> Tensor: ...

class TupleToArray(Primitive):
    """Return a tuple of numbers as a tensor."""
    def __call__(self, input_x: tuple[Number, ...], /) -> Tensor: ...

class Uniform(Primitive):
    """Draw numbers uniformly from [minval, maxval), in the input's shape and dtype."""
    minval: float
    maxval: float
    seed: int
    offset: int
    def __init__(self, minval: float = 0.0, maxval: float = 1.0, seed: int = 0, offset: int = 0) -> None: ...
    def __call__(self, x: Tensor, /) -> Tensor: ...

class UniformCandidateSampler(Primitive):
    """Draw ``num_sampled`` classes, each of [0, range_max) with the same probability."""
    num_true: int
    num_sampled: int
    unique: bool
    range_max: int
    seed: int
    remove_accidental_hits: bool
    def __init__(self, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = 0, remove_accidental_hits: bool = False) -> None: ...
    def __call__(self, true_classes: Tensor, /) -> tuple[Tensor, Tensor, Tensor]: ...

class UniformInt(Primitive):
    """Draw integers uniformly from [minval, maxval)."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, shape: Any, minval: int | Tensor, maxval: int | Tensor, /) -> Tensor: ...

class UniformReal(Primitive):
    """Draw numbers uniformly from [0, 1)."""
    seed: int
    seed2: int
    def __init__(self, seed: int = 0, seed2: int = 0) -> None: ...
    def __call__(self, shape: Any, /) -> Tensor: ...

class Unique(Primitive):
    """Return each value once, in the order of their first appearance, and for every element the position
    of its value.
    """
    def __call__(self, input: Tensor, /) -> tuple[Tensor, Tensor]: ...

class UniqueConsecutive(Primitive):
    """Return the values without repetitions of neighbors, optionally each element's position and run
    lengths.
    """
    return_inverse: bool
    return_counts: bool
    dim: int | None
    def __init__(self, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> None: ...
    def __call__(self, input: Tensor, /) -> Tensor | tuple[Tensor, ...]: ...

class UniqueWithPad(Primitive):
    """Return ``unique`` of a vector, filled up with ``pad_num`` to the length of the input."""
    def __call__(self, x: Tensor, pad_num: int | float | Tensor, /) -> tuple[Tensor, Tensor]: ...

class Unpack(Primitive):
    """Return the entries along ``axis``, without that axis."""
    axis: int
    def __init__(self, axis: int = 0) -> None: ...
    def __call__(self, input_x: Tensor, /) -> tuple[Tensor, ...]: ...

class UnravelIndex(Primitive):
    """Return the indices in each axis of positions in a flattened tensor of shape ``dims``, as in NumPy.
    """
    def __call__(self, indices: Tensor, dims: Tensor, /) -> Tensor: ...

class UnsortedSegmentMax(Primitive):
    """The largest element of each segment."""
    def __call__(self, x: Tensor, segment_ids: Tensor, num_segments: int | Tensor, /) -> Tensor: ...

class UnsortedSegmentMin(Primitive):
    """The smallest element of each segment."""
    def __call__(self, x: Tensor, segment_ids: Tensor, num_segments: int | Tensor, /) -> Tensor: ...

class UnsortedSegmentProd(Primitive):
    """The product of the elements of each segment."""
    def __call__(self, x: Tensor, segment_ids: Tensor, num_segments: int | Tensor, /) -> Tensor: ...

class UnsortedSegmentSum(Primitive):
    """Return the sum of the elements of each segment."""
    def __call__(self, input_x: Tensor, segment_ids: Tensor, num_segments: int | Tensor, /) -> Tensor: ...

class Unstack(Primitive):
    """Return the entries along ``axis``, without that axis, as ``ops.unstack``."""
    axis: int
    num: int | None
    def __init__(self, axis: int = 0, num: int | None = None) -> None: ...
    def __call__(self, x: Tensor, /) -> tuple[Tensor, ...]: ...

class UpperBound(Primitive):
    """Return where ``values`` belong in sorted rows: before their equals (LowerBound) or after them
    (UpperBound).
    """
    out_type: AnyDType
    def __init__(self, out_type: AnyDType = 'int32') -> None: ...
    def __call__(self, rows: Tensor, values: Tensor, /) -> Tensor: ...

class UpsampleNearest3D(Primitive):
    """Return (N, C, D, H, W) resized, each element the nearest one."""
    def __call__(self, x: Tensor, output_size: Any = None, scales: Sequence[float] | None = None, /) -> Tensor: ...

class UpsampleTrilinear3D(Primitive):
    """Return (N, C, D, H, W) resized along lines between neighbors."""
    align_corners: bool
    def __init__(self, align_corners: bool = False) -> None: ...
    def __call__(self, x: Tensor, output_size: Any = None, scales: Sequence[float] | None = None, /) -> Tensor: ...

class Xdivy(Primitive):
    """Return x / y, and 0 where x is 0, for any y."""
    def __call__(self, x: Operand, y: Operand, /) -> Tensor: ...

class Xlogy(Primitive):
    """Return input * log(other), and 0 where ``input`` is 0, for any ``other`` but NaN."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...

class Zeros(Primitive):
    """Return a tensor of zeros."""
    def __call__(self, size: Any, dtype: DTypeLike | None = None, /) -> Tensor: ...

class ZerosLike(Primitive):
    """Return zeros of the input's shape and device."""
    def __call__(self, input: Tensor, *, dtype: DTypeLike | None = None) -> Tensor: ...

class Zeta(Primitive):
    """Return Hurwitz's zeta function: the sum of (other + k) ** -input over k = 0, 1, ...."""
    def __call__(self, input: Operand, other: Operand, /) -> Tensor: ...
