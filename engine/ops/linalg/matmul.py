"""Matrix products."""

from __future__ import annotations

import copy
from typing import Any

from ...base.surfaces import declare, prim, renamed
from ...base.types import Functions, Value
from ...cpu.arrays import matmul as matmul_kernels
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from ..elementwise.arithmetic import add
from ..shapes.broadcasting import as_dtype, fit, of_one_dtype
from ..shapes.reshape import broadcast_to, reshape

__all__ = ["batch_matmul", "bmm", "dense", "matmul", "mm"]


def _product(F: Functions, a: Value, b: Value, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    return F.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def _left_rule(F: Functions, g: Value, out: Value, a: Value, b: Value, transpose_a: bool, transpose_b: bool) -> Any:
    g, left, right = _as_matrices(F, g, a, b)
    gradient = (
        _product(F, right, g, transpose_b, True) if transpose_a else _product(F, g, right, False, not transpose_b)
    )
    return F.reshape(fit(F, gradient, left), shape=tuple(a.shape))


def _right_rule(F: Functions, g: Value, out: Value, a: Value, b: Value, transpose_a: bool, transpose_b: bool) -> Any:
    g, left, right = _as_matrices(F, g, a, b)
    gradient = _product(F, g, left, True, transpose_a) if transpose_b else _product(F, left, g, not transpose_a, False)
    return F.reshape(fit(F, gradient, right), shape=tuple(b.shape))


def _as_matrices(F: Functions, g: Value, a: Value, b: Value) -> tuple[Value, Value, Value]:
    """Return the gradient and the operands with vectors as one-row or one-column matrices, as in NumPy's matmul."""
    if a.ndim == 1:
        a = F.reshape(a, shape=(1, a.shape[0]))
        g = F.reshape(g, shape=(*g.shape[: g.ndim - (b.ndim > 1)], 1, *g.shape[g.ndim - (b.ndim > 1) :]))
    if b.ndim == 1:
        b = F.reshape(b, shape=(b.shape[0], 1))
        g = F.reshape(g, shape=(*g.shape, 1))
    return g, a, b


_matmul = Operator("matmul", matmul_kernels.matmul, (_left_rule, _right_rule), placeholders=(-1,))


weighted_sums = Operator(
    "weighted_sums",
    matmul_kernels.weighted_sums,
    (lambda F, g, out, x, weights, axis: F.weighted_sums(g, weights=weights.T, axis=axis),),
)


def _linear_rule(
    F: Functions,
    needs: list[bool],
    g: Value,
    out: Value,
    x: Value,
    weight: Value,
    bias: Value | None,
    activation: str | None,
) -> list[Any]:
    if activation in ("relu", "sigmoid", "tanh"):
        g = getattr(F, f"{activation}_grad")(g, out)
    elif activation is not None:
        preactivation = F.linear(x, weight, bias, activation=None)
        if activation == "silu":
            g = F.silu_grad(g, preactivation)
        else:
            g = F.gelu_grad(g, preactivation, approximate="tanh" if activation == "gelu_tanh" else "none")
    rows = F.reshape(g, shape=(-1, g.shape[-1]))
    inputs = F.reshape(x, shape=(-1, x.shape[-1]))
    return [
        F.reshape(_product(F, rows, weight), shape=tuple(x.shape)) if needs[0] else None,
        _product(F, rows, inputs, transpose_a=True) if needs[1] else None,
        F.sum(rows, axis=(0,), keepdims=False) if bias is not None and needs[2] else None,
    ]


_linear = Operator("linear", matmul_kernels.linear, joint_vjp=_linear_rule)
# MindSpore's layer Dense adds the bias by an operator of its own: in the backward pass, its hook comes first.
_linear_of_layer = copy.copy(_linear)
_linear_of_layer.hooks_from_last = True
_linear_of_layer.placeholders = (-1,)  # it has no activation


@declare(method=True, mint=True)
def matmul(input: Tensor, other: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """Return the matrix product of the last two axes, broadcast over those before; as NumPy's ``matmul``.

    Args:
        input: matrices (..., M, K), or a vector (K,), which counts as one row.
        other: matrices (..., K, N), or a vector (K,), which counts as one column.
        transpose_a: whether the last two axes of ``input`` are (K, M).
        transpose_b: whether the last two axes of ``other`` are (N, K).

    Returns:
        A tensor (..., M, N), without the axis of a vector, in the dtype that both promote to.

    Raises:
        TypeError: an operand is not a Tensor.
        RuntimeError: the inner lengths differ, or an operand has no axis.
        ValueError: the leading axes do not broadcast.
    """
    for name, x in (("input", input), ("other", other)):
        if not isinstance(x, Tensor):
            raise TypeError(f"For 'matmul', '{name}' must be a Tensor, but got {type(x).__name__}")
    a, b = input.shape, other.shape
    inner_a = a[-2] if transpose_a and len(a) > 1 else a[-1] if a else 0
    inner_b = (b[-1] if transpose_b or len(b) == 1 else b[-2]) if b else 0
    if not a or not b or inner_a != inner_b:
        raise RuntimeError(
            f"For 'matmul', the last axis of 'input' and the last but one of 'other' must be equal, "
            f"but got shapes {a} and {b}"
        )
    x, y = of_one_dtype(input, other)
    return _matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)


def _of_matrices(
    name: str, axes: int | None, transpose_a: bool = False, transpose_b: bool = False, **pair: Tensor
) -> Tensor:
    """Return the product of tensors with ``axes`` axes (None: 2 or more); those before the last two must match."""
    (first, x), (second, y) = pair.items()
    for argument, operand in pair.items():
        if check_tensor(operand, name, argument).ndim < 2 or (axes is not None and operand.ndim != axes):
            required = "at least 2" if axes is None else axes
            raise ValueError(f"For '{name}', '{argument}' must have {required} axes, but got shape {operand.shape}")
    if x.shape[:-2] != y.shape[:-2]:
        raise ValueError(
            f"For '{name}', '{first}' and '{second}' must have the same axes before the last two, "
            f"but got shapes {x.shape} and {y.shape}"
        )
    if x.shape[-2 if transpose_a else -1] != y.shape[-1 if transpose_b else -2]:
        flags = f" (transpose_a={transpose_a}, transpose_b={transpose_b})" if transpose_a or transpose_b else ""
        raise ValueError(
            f"For '{name}', the rows of '{first}' must be as long as the columns of '{second}', "
            f"but got shapes {x.shape} and {y.shape}{flags}"
        )
    return matmul(x, y, transpose_a, transpose_b)


@declare(method=True, mint=True)
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices.

    Args:
        input: a matrix (M, K).
        mat2: a matrix (K, N).

    Returns:
        A tensor (M, N) in the dtype that both promote to.

    Raises:
        TypeError: an operand is not a Tensor.
        ValueError: an operand has the wrong number of axes, or the inner lengths differ.
    """
    return _of_matrices("mm", 2, input=input, mat2=mat2)


@declare(method=True)
def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Return the matrix product of each pair in two batches; ``matmul`` also broadcasts.

    Args:
        input_x: matrices (..., M, K).
        mat2: matrices (..., K, N) with the same leading axes.

    Returns:
        A tensor (..., M, N) in the dtype that both promote to.

    Raises:
        TypeError: an operand is not a Tensor.
        ValueError: an operand has fewer than 2 axes, or the leading axes or the inner lengths differ.
    """
    return _of_matrices("bmm", None, input_x=input_x, mat2=mat2)


batch_matmul = bmm


@declare(mint="bmm")
def _bmm_of_mint(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the matrix product of each pair in two batches.

    Args:
        input: matrices (B, M, K).
        mat2: matrices (B, K, N).

    Returns:
        A tensor (B, M, N) in the dtype that both promote to.

    Raises:
        TypeError: an operand is not a Tensor.
        ValueError: an operand has the wrong number of axes, or the batches or the inner lengths differ.
    """
    return _of_matrices("bmm", 3, input=input, mat2=mat2)


@declare(primitive=prim("MatMul", transpose_a=False, transpose_b=False))
def _mat_mul_class(input: Tensor, mat2: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    """Return the product of two matrices.

    Args:
        input: a matrix (M, K).
        mat2: a matrix (K, N).
        transpose_a: whether ``input`` is (K, M).
        transpose_b: whether ``mat2`` is (N, K).

    Returns:
        A tensor (M, N) in the dtype that both promote to.

    Raises:
        TypeError: an operand is not a Tensor.
        ValueError: an operand has the wrong number of axes, or the inner lengths differ.
    """
    return _of_matrices("MatMul", 2, transpose_a, transpose_b, input=input, mat2=mat2)


@declare(primitive=prim("BatchMatMul", transpose_a=False, transpose_b=False))
def _batch_mat_mul_class(x: Tensor, y: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    """Return the matrix product of each pair in two batches.

    Args:
        x: matrices (..., M, K).
        y: matrices (..., K, N) with the same leading axes.
        transpose_a: whether the last two axes of ``x`` are (K, M).
        transpose_b: whether the last two axes of ``y`` are (N, K).

    Returns:
        A tensor (..., M, N) in the dtype that both promote to.

    Raises:
        TypeError: an operand is not a Tensor.
        ValueError: an operand has fewer than 2 axes, or the leading axes or the inner lengths differ.
    """
    return _of_matrices("BatchMatMul", None, transpose_a, transpose_b, x=x, y=y)


@declare(primitive=prim("Dense").without("activation"), mint=renamed("nn.functional.linear", without=("activation",)))
def dense(input: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None) -> Tensor:
    """Return ``input @ weight.T + bias``, then an activation.

    Args:
        input: (..., in_channels).
        weight: (out_channels, in_channels), or (in_channels,) for a result without a last axis.
        bias: (out_channels,), or one number; without axes if ``weight`` has one; None adds nothing.
        activation: "relu", "gelu", "gelu_tanh", "silu", "sigmoid" or "tanh"; None for none.

    Returns:
        A tensor (..., out_channels) in the dtype that ``input`` and ``weight`` promote to.

    Raises:
        TypeError: ``input``, ``weight`` or ``bias`` is not a Tensor.
        ValueError: the shapes do not fit, or an unknown ``activation``.
    """
    return _dense(_linear, input, weight, bias, activation)


def dense_of_layer(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return ``dense`` for the layer; if the weight and the bias have hooks, that of the bias runs first.

    Args:
        input: as of ``dense``.
        weight: as of ``dense``.
        bias: as of ``dense``.

    Returns:
        A tensor (..., out_channels).

    Raises:
        TypeError: ``input``, ``weight`` or ``bias`` is not a Tensor.
        ValueError: the shapes do not fit.
    """
    return _dense(_linear_of_layer, input, weight, bias, None)


def _dense(operator: Operator, input: Tensor, weight: Tensor, bias: Tensor | None, activation: str | None) -> Tensor:
    input, weight = check_tensor(input, "dense"), check_tensor(weight, "dense", "weight")
    if not 1 <= weight.ndim <= 2:
        raise ValueError(f"For 'dense', 'weight' must have 1 or 2 axes, but got shape {weight.shape}")
    if input.ndim < 1 or input.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"For 'Dense', the last axis of the input must be {weight.shape[-1]}, but got shape {input.shape}"
        )
    if bias is not None and weight.ndim == 1 and check_tensor(bias, "dense", "bias").ndim:
        raise ValueError(f"For 'dense', 'bias' must have no axes where 'weight' has one, but got shape {bias.shape}")
    input, weight = of_one_dtype(input, weight)
    dtype = weight._array.dtype
    b = None if bias is None else as_dtype(check_tensor(bias, "dense", "bias"), dtype)
    row = weight.ndim == 1
    if b is not None and b.ndim >= (1 if row else 2):
        limit = "no axis" if row else "1 axis at most"
        raise ValueError(f"For 'Dense', 'bias' must have {limit}, but got shape {b.shape}")
    if dtype.kind in "iuc" and activation is None:
        product = _matmul(input, weight, transpose_a=False, transpose_b=not row)
        return product if b is None else add(product, b)
    if row:
        weight = reshape(weight, (1, weight.shape[0]))
    if b is not None and b.shape != weight.shape[:1]:
        b = broadcast_to(b, weight.shape[:1])
    result: Tensor = operator(input, weight, b, activation=activation)
    return reshape(result, input.shape[:-1]) if row else result
