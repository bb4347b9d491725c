"""More rows of primitive classes: for each, the function it calls and the parameters of its constructor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtype import float32, int32, int64
from ..parameter import Parameter
from ..surfaces import REQUIRED
from ..tensor import Tensor
from . import (
    activation,
    arithmetic,
    complexes,
    control,
    convolution,
    creation,
    drawing,
    dropping,
    elementary,
    gathering,
    image,
    indexing,
    layout,
    linalg,
    loss,
    matrices,
    pooling,
    products,
    reduction,
    sorting,
    special,
    statistics,
)  # fmt: skip

__all__ = ["REQUIRED", "ROWS", "plain_rows"]

Row = tuple[str, Callable[..., Any], tuple[tuple[str, Any], ...]]


def _function(name: str) -> Callable[..., Any]:
    from . import shape

    for module in (
        arithmetic, elementary, activation, special, complexes, control, layout, gathering, sorting, statistics,
        reduction, products, matrices, linalg, creation, drawing, pooling, image, convolution, loss, dropping, indexing,
        shape,
    ):  # fmt: skip
        found: Callable[..., Any] | None = getattr(module, name, None)
        if found is not None:
            return found
    raise LookupError(f"no function '{name}' for a primitive class")


# Classes whose constructor takes nothing: the class and the function.
PLAIN = """
DivNoNan div_no_nan, FillV2 fill_v2, Gelu gelu_tanh, MulNoNan mul_no_nan, Polygamma polygamma_first, SquaredDifference
squared_difference, TensorScatterAdd tensor_scatter_add, TensorScatterDiv tensor_scatter_div, TensorScatterMax
tensor_scatter_max, TensorScatterMin tensor_scatter_min, TensorScatterMul tensor_scatter_mul, TensorScatterSub
tensor_scatter_sub, TensorScatterUpdate tensor_scatter_update, L2Loss l2_loss, InvertPermutation invert_permutation,
IdentityN identity_n, TensorToTuple tensor_to_tuple
"""


def div_no_nan(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    zero = arithmetic.eq(y, 0)
    return arithmetic.where(zero, 0.0, arithmetic.div(x, arithmetic.where(zero, 1.0, y)))


def mul_no_nan(x: Any, y: Any) -> Any:
    """x * y, and 0 where y is 0, whatever x is."""
    zero = arithmetic.eq(y, 0)
    return arithmetic.where(zero, 0.0, arithmetic.mul(arithmetic.where(zero, 0.0, x), y))


def squared_difference(x: Any, y: Any) -> Any:
    """(x - y) squared."""
    return arithmetic.square(arithmetic.sub(x, y))


def l2_loss(x: Any) -> Any:
    """Half the sum of squares."""
    return reduction.reduce_sum(arithmetic.square(x)) / 2.0


def gelu_tanh(x: Any) -> Any:
    """The tanh form of gelu."""
    return activation.gelu(x, "tanh")


def fill_v2(shape: Any, value: Any) -> Any:
    """The value everywhere."""
    return creation.full(shape, value.item() if isinstance(value, Tensor) else value, dtype=value.dtype)


def polygamma_first(a: Any, x: Any) -> Any:
    """The a-th derivative of digamma."""
    return special.polygamma(a, x)


def invert_permutation(input_x: Any) -> Any:
    """Where each number of a permutation stands."""
    order = [int(n) for n in input_x]
    return tuple(order.index(n) for n in range(len(order)))


def identity_n(x: Any) -> Any:
    """The same tensors."""
    return tuple(x)


def tensor_to_tuple(x: Any) -> Any:
    """The elements as Python numbers."""
    return tuple(x.tolist())


def _cumulative(product: bool) -> Callable[..., Any]:
    def run(x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
        return statistics.cumulative_sum(x, axis, exclusive, reverse, product)

    return run


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, axis: Any = (), *, keep_dims: bool, **_: Any) -> Any:
        return function(x, axis, keep_dims)

    return run


def _positions(name: str) -> Callable[..., Any]:
    def run(x: Any, axis: int, output_type: Any) -> Any:
        return getattr(reduction, name)(x, axis).astype(output_type)

    return run


def _with_value(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any, axis: int, keep_dims: bool) -> Any:
        values, places = function(x, axis, keep_dims)
        return places.astype(int64), values

    return run


def _dropout(x: Any, keep_prob: float, Seed0: int, Seed1: int) -> Any:
    return dropping.dropout_with_mask(x, keep_prob)


def _one_hot(indices: Any, depth: int, on: Any, off: Any, axis: int) -> Any:
    return creation.one_hot(indices, depth, on, off, axis)


def _standard_normal(shape: Any, seed: int, seed2: int) -> Any:
    return drawing.standard_normal(shape, seed or None)


def _uniform_real(shape: Any, seed: int, seed2: int) -> Any:
    return drawing.uniform(shape, 0.0, 1.0, seed or None)


def _uniform_int(shape: Any, low: Any, high: Any, seed: int, seed2: int) -> Any:
    wanted = tuple(shape) if isinstance(shape, list | tuple) else (int(shape),)
    return drawing.randint(int(low), int(high), wanted, seed or None, dtype=int32)


def _multinomial(x: Any, count: int, seed: int, seed2: int, dtype: Any) -> Any:
    return drawing.multinomial(x, count, True, seed or None).astype(dtype)


def _gather(x: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
    return gathering.gather(x, indices, axis, batch_dims)


def _pad(x: Any, paddings: Any) -> Any:
    from .shape import pad

    return pad(x, [n for pair in reversed(list(paddings)) for n in pair])


def _locked(name: str) -> Callable[..., Any]:
    return lambda x, indices, updates, use_locking: getattr(gathering, name)(x, indices, updates)


def _float_status(*_: Any) -> Any:
    """NumPy and CuPy raise no overflow flag: always clear. Use ops.isfinite."""
    return creation.zeros((8,), float32)


def _apply_momentum(
    variable: Parameter, accumulation: Parameter, rate: Any, gradient: Any, momentum: Any, use_nesterov: bool,
    use_locking: bool, gradient_scale: float,
) -> Any:  # fmt: skip
    scaled = gradient * gradient_scale
    creation.assign(accumulation, accumulation * momentum + scaled)
    step = scaled + accumulation * momentum if use_nesterov else accumulation
    return creation.assign(variable, variable - step * rate)


def _softmax_cross_entropy(logits: Any, labels: Any, is_grad: bool) -> Any:
    mean = loss.cross_entropy(logits, labels.astype(int32))
    if not is_grad:
        return mean
    hot = creation.one_hot(labels, logits.shape[-1], Tensor(1.0), Tensor(0.0))
    return (activation.softmax(logits, -1) - hot) / float(math.prod(labels.shape))


def _depth_to_space(x: Any, block_size: int) -> Any:
    n, c, h, w = x.shape
    b = block_size
    parts = x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // (b * b), h * b, w * b)


def _space_to_depth(x: Any, block_size: int) -> Any:
    n, c, h, w = x.shape
    b = block_size
    parts = x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4)
    return parts.reshape(n, c * b * b, h // b, w // b)


def _confusion(labels: Any, predictions: Any, num_classes: int, dtype: str, *weights: Any) -> Any:
    found = np.zeros((num_classes, num_classes), dtype)
    np.add.at(found, (labels.asnumpy(), predictions.asnumpy()), weights[0].asnumpy() if weights else 1)
    return Tensor(found)


def _l2_normalize(x: Any, axis: Any, epsilon: float) -> Any:
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    squares = reduction.reduce_sum(arithmetic.square(x), axes, True)
    return x / arithmetic.sqrt(arithmetic.maximum(squares, epsilon))


def _in_top_k(predictions: Any, targets: Any, k: int) -> Any:
    own = gathering.gather_elements(predictions, 1, targets.reshape(-1, 1))
    above = reduction.sum((predictions > own).astype(int32), 1)
    return above < k


def _segment(name: str) -> Callable[..., Any]:
    def run(x: Any, ids: Any) -> Any:
        return getattr(gathering, f"unsorted_segment_{name}")(x, ids, int(ids.asnumpy().max()) + 1)

    return run


_KEEP = (("keep_dims", False),)
_SEEDS = (("seed", 0), ("seed2", 0))
_LOCK = (("use_locking", False),)
_HOWS = ("Add", "Sub", "Mul", "Div", "Max", "Min", "Update")
_RANDOM_LINES = (("Seed0", 0), ("Seed1", 0))

ROWS: tuple[Row, ...] = (
    ("ApplyMomentum", _apply_momentum, (("use_nesterov", False), ("use_locking", False), ("gradient_scale", 1.0))),
    ("ArgMaxWithValue", _with_value(reduction.max), (("axis", 0), ("keep_dims", False))),
    ("ArgMinWithValue", _with_value(reduction.min), (("axis", 0), ("keep_dims", False))),
    ("Argmax", _positions("argmax"), (("axis", -1), ("output_type", int32))),
    ("Argmin", _positions("argmin"), (("axis", -1), ("output_type", int32))),
    ("BCEWithLogitsLoss",
     lambda x, y, weight=None, posWeight=None, *, reduction: loss.binary_cross_entropy_with_logits(
         x, y, weight, posWeight, reduction), (("reduction", "mean"),)),
    ("BatchToSpace", lambda x, block_size, crops: layout.batch_to_space_nd(x, block_size, crops),
     (("block_size", REQUIRED), ("crops", REQUIRED))),
    ("BatchToSpaceND", lambda x, block_shape, crops: layout.batch_to_space_nd(x, block_shape, crops),
     (("block_shape", REQUIRED), ("crops", REQUIRED))),
    ("Bernoulli", lambda x, p, seed, offset: drawing.bernoulli(x, p), (("seed", -1), ("offset", 0))),
    ("Bucketize", lambda x, boundaries: sorting.bucketize(x, boundaries, right=True), (("boundaries", REQUIRED),)),
    ("ConfusionMatrix", _confusion, (("num_classes", REQUIRED), ("dtype", "int32"))),
    ("CountNonZero", lambda x, dims: statistics.count_nonzero(x, dims if dims is not None else ()),
     (("dims", None),)),
    ("CumProd", _cumulative(True), (("exclusive", False), ("reverse", False))),
    ("CumSum", _cumulative(False), (("exclusive", False), ("reverse", False))),
    ("CumulativeLogsumexp", lambda x, axis, exclusive, reverse: statistics.logcumsumexp(x, int(axis)),
     (("exclusive", False), ("reverse", False))),
    ("DepthToSpace", _depth_to_space, (("block_size", REQUIRED),)),
    ("DiagPart", lambda x: _function("reshape")(layout.diagonal(
        x.reshape(math.prod(x.shape[: x.ndim // 2]), -1)), x.shape[: x.ndim // 2]), ()),
    ("Dropout", _dropout, (("keep_prob", 0.5), *_RANDOM_LINES)),
    ("Eig", lambda x, compute_v: matrices.eig(x) if compute_v else (matrices.eigvals(x), Tensor(0.0)),
     (("compute_v", False),)),
    ("Einsum", lambda x, equation: products.einsum(equation, *x), (("equation", REQUIRED),)),
    ("EuclideanNorm", _reduced(lambda x, axis, keep: statistics.vector_norm(x, 2, axis, keep)), _KEEP),
    ("Gamma", lambda shape, alpha, beta, seed, seed2: drawing.gamma(shape, alpha, beta, seed or None), _SEEDS),
    ("Gather", _gather, (("batch_dims", 0),)),
    ("InTopK", _in_top_k, (("k", REQUIRED),)),
    ("IndexAdd", lambda x, i, y, axis, use_lock, check_index_bound: gathering.index_add(x, i, y, axis),
     (("axis", REQUIRED), ("use_lock", True), ("check_index_bound", True))),
    ("InplaceAdd", lambda x, v, indices: gathering.inplace_add(x, v, indices), (("indices", REQUIRED),)),
    ("InplaceSub", lambda x, v, indices: gathering.inplace_sub(x, v, indices), (("indices", REQUIRED),)),
    ("InplaceUpdate", lambda x, v, indices: gathering.inplace_update(x, v, indices), (("indices", REQUIRED),)),
    ("InplaceUpdateV2", lambda x, indices, v: gathering.inplace_update(x, v, indices), ()),
    ("L2Normalize", _l2_normalize, (("axis", 0), ("epsilon", 1e-4))),
    ("LogSpace", lambda start, end, steps, base, dtype: creation.logspace(start, end, steps, base, dtype=dtype),
     (("steps", 10), ("base", 10), ("dtype", float32))),
    ("LpNorm", lambda x, axis, p, keep_dims, epsilon: statistics.vector_norm(x, p, axis, keep_dims),
     (("axis", REQUIRED), ("p", 2), ("keep_dims", False), ("epsilon", 1e-12))),
    ("MatrixInverse", lambda x, adjoint: products.adjoint(matrices.inverse(x)) if adjoint else matrices.inverse(x),
     (("adjoint", False),)),
    ("MatrixTriangularSolve",
     lambda a, b, lower, adjoint: matrices.triangular_solve(b, a, not lower, adjoint),
     (("lower", True), ("adjoint", False))),
    *((f"{kind}Window",
       lambda n, periodic, dtype, kind=kind: _function(f"{kind.lower()}_window")(n, periodic, dtype=dtype),
       (("periodic", True), ("dtype", float32))) for kind in ("Bartlett", "Blackman")),
    ("Depend", lambda value, expr: value, ()),
    ("HammingWindow",
     lambda n, periodic, alpha, beta, dtype: _function("hamming_window")(n, periodic, alpha, beta, dtype=dtype),
     (("periodic", True), ("alpha", 0.54), ("beta", 0.46), ("dtype", float32))),
    ("Multinomial", _multinomial, (*_SEEDS, ("dtype", int32))),
    ("NPUAllocFloatStatus", _float_status, ()),
    ("NPUClearFloatStatus", _float_status, ()),
    ("NPUGetFloatStatus", _float_status, ()),
    ("OneHot", _one_hot, (("axis", -1),)),
    ("Pack", lambda x, axis: _function("stack")(x, axis), (("axis", 0),)),
    ("Pad", _pad, (("paddings", REQUIRED),)),
    ("Qr", lambda x, full_matrices: matrices.qr(x, "complete" if full_matrices else "reduced"),
     (("full_matrices", False),)),
    ("RandomCategorical", lambda x, n, seed=0, *, dtype: drawing.random_categorical(x, n, seed, dtype),
     (("dtype", int64),)),
    ("RandomShuffle", lambda x, seed, seed2: drawing.shuffle(x, seed or None), _SEEDS),
    ("RandpermV2", lambda n, seed, offset, dtype: drawing.randperm(n, seed, offset, dtype),
     (("seed", 0), ("offset", 0), ("dtype", int64))),
    ("ReduceAll", _reduced(reduction.all), _KEEP),
    ("ReduceAny", _reduced(reduction.any), _KEEP),
    ("ReduceProd", _reduced(lambda x, axis, keep: reduction.prod(x, axis, keep, x.dtype)), _KEEP),
    ("ReduceStd",
     lambda x, axis, unbiased, keep_dims: statistics.std_mean(x, tuple(axis), int(unbiased), keep_dims),
     (("axis", ()), ("unbiased", True), ("keep_dims", False))),
    ("ReduceSum", _reduced(reduction.reduce_sum), (("keep_dims", False), ("skip_mode", False))),
    ("RandomGamma", lambda shape, alpha, seed, seed2: drawing.random_gamma(shape, alpha, seed or None), _SEEDS),
    ("RandomPoisson",
     lambda shape, rate, seed, seed2, dtype: drawing.random_poisson(shape, rate, seed or None, dtype),
     (*_SEEDS, ("dtype", int64))),
    ("Renorm", lambda x, p, dim, maxnorm: statistics.renorm(x, p, dim, maxnorm),
     (("p", REQUIRED), ("dim", REQUIRED), ("maxnorm", REQUIRED))),
    ("Roll", lambda x, shifts, dims: layout.roll(x, shifts, dims), (("shifts", REQUIRED), ("dims", None))),
    ("Round", lambda x, decimals=0: arithmetic.round(x, decimals=decimals), ()),
    ("ScatterNonAliasingAdd", gathering.scatter_nd_add, ()),
    *((f"Scatter{how}", _locked(f"scatter_{how.lower()}"), _LOCK) for how in _HOWS),
    *((f"ScatterNd{how}", _locked(f"scatter_nd_{how.lower()}"), _LOCK) for how in _HOWS),
    ("SearchSorted",
     lambda edges, values, sorter=None, *, dtype, right: sorting.searchsorted(
         edges, values, right=right, sorter=sorter).astype(dtype), (("dtype", int64), ("right", False))),
    *((f"Segment{name.capitalize()}", _segment(name), ()) for name in ("max", "min", "prod", "sum")),
    ("SpaceToBatch", lambda x, block_size, paddings: layout.space_to_batch_nd(x, block_size, paddings),
     (("block_size", REQUIRED), ("paddings", REQUIRED))),
    ("SpaceToBatchND", lambda x, block_shape, paddings: layout.space_to_batch_nd(x, block_shape, paddings),
     (("block_shape", REQUIRED), ("paddings", REQUIRED))),
    ("SpaceToDepth", _space_to_depth, (("block_size", REQUIRED),)),
    ("SparseSoftmaxCrossEntropyWithLogits", _softmax_cross_entropy, (("is_grad", False),)),
    ("StandardLaplace", lambda shape, seed, seed2: drawing.standard_laplace(shape, seed or None), _SEEDS),
    ("StandardNormal", _standard_normal, _SEEDS),
    ("TensorScatterElements",
     lambda x, i, updates, axis, reduction: gathering.tensor_scatter_elements(x, i, updates, axis, reduction),
     (("axis", 0), ("reduction", "none"))),
    ("TopK", lambda x, k, sorted: sorting.topk(x, k), (("sorted", True),)),
    ("TrilIndices", lambda row, col, offset, dtype: layout.tril_indices(row, col, offset, dtype=dtype),
     (("row", REQUIRED), ("col", REQUIRED), ("offset", 0), ("dtype", int32))),
    ("TriuIndices", lambda row, col, offset, dtype: layout.triu_indices(row, col, offset, dtype=dtype),
     (("row", REQUIRED), ("col", REQUIRED), ("offset", 0), ("dtype", int32))),
    ("UniformInt", _uniform_int, _SEEDS),
    ("UniformReal", _uniform_real, _SEEDS),
    ("Unstack", lambda x, axis, num: layout.unstack(x, axis), (("axis", 0), ("num", None))),
)  # fmt: skip


def plain_rows() -> list[Row]:
    """PLAIN as rows."""
    here = globals()
    pairs = [entry.split() for entry in PLAIN.replace("\n", " ").split(",")]
    return [(name, here.get(function) or _function(function), ()) for name, function in pairs]
