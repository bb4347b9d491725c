"""Matrix products."""

from __future__ import annotations

from typing import Any

from ..core.dtype import promote
from ..core.operator import Operator
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu import fused
from .elementwise import as_dtype, fit

__all__ = ["batch_matmul", "bmm", "dense", "matmul", "mm"]


def _product(F: Any, a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    return F.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def _left_rule(F: Any, g: Any, out: Any, a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    g, left, right = _as_matrices(F, g, a, b)
    found = _product(F, right, g, transpose_b, True) if transpose_a else _product(F, g, right, False, not transpose_b)
    return F.reshape(fit(F, found, left), shape=tuple(a.shape))


def _right_rule(F: Any, g: Any, out: Any, a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    g, left, right = _as_matrices(F, g, a, b)
    found = _product(F, g, left, True, transpose_a) if transpose_b else _product(F, left, g, not transpose_a, False)
    return F.reshape(fit(F, found, right), shape=tuple(b.shape))


def _as_matrices(F: Any, g: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Vectors as the one-row or one-column matrices that NumPy's matmul takes them for."""
    if a.ndim == 1:
        a = F.reshape(a, shape=(1, a.shape[0]))
        g = F.reshape(g, shape=(*g.shape[: g.ndim - (b.ndim > 1)], 1, *g.shape[g.ndim - (b.ndim > 1) :]))
    if b.ndim == 1:
        b = F.reshape(b, shape=(b.shape[0], 1))
        g = F.reshape(g, shape=(*g.shape, 1))
    return g, a, b


_matmul = Operator("matmul", fused.matmul, (_left_rule, _right_rule))


def _linear_rule(
    F: Any, needs: list[bool], g: Any, out: Any, x: Any, weight: Any, bias: Any, activation: str | None
) -> list[Any]:
    if activation in ("relu", "sigmoid", "tanh"):
        g = getattr(F, f"{activation}_grad")(g, out)
    elif activation is not None:
        before = F.linear(x, weight, bias, activation=None)
        if activation == "silu":
            g = F.silu_grad(g, before)
        else:
            g = F.gelu_grad(g, before, approximate="tanh" if activation == "gelu_tanh" else "none")
    rows = F.reshape(g, shape=(-1, g.shape[-1]))
    inputs = F.reshape(x, shape=(-1, x.shape[-1]))
    return [
        F.reshape(_product(F, rows, weight), shape=tuple(x.shape)) if needs[0] else None,
        _product(F, rows, inputs, transpose_a=True) if needs[1] else None,
        F.sum(rows, axis=(0,), keepdims=False) if bias is not None and needs[2] else None,
    ]


_linear = Operator("linear", fused.linear, joint_vjp=_linear_rule)


@declare(
    method=("matmul", "mm"),
    primitive=[prim(name, transpose_a=False, transpose_b=False) for name in ("MatMul", "BatchMatMul")],
    mint=("matmul", "mm"),
)
def matmul(input: Tensor, other: Tensor, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """The matrix product, broadcast over leading axes.

    Raises:
        TypeError: an operand is no Tensor.
        RuntimeError: the inner lengths differ, or an operand has no axis.
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
    wanted = promote(input._array.dtype, other._array.dtype)
    x, y = as_dtype(input, wanted), as_dtype(other, wanted)
    return _matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)


mm = matmul


@declare(method=True, mint=True)
def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """The matrix product of each pair in two batches."""
    return matmul(input_x, mat2)


batch_matmul = bmm


@declare(primitive=prim("Dense"), mint=renamed("nn.functional.linear", without=("activation",)))
def dense(input: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str | None = None) -> Tensor:
    """``input @ weight.T + bias``, then an activation (None, relu, gelu, gelu_tanh, silu, sigmoid or tanh).

    Args:
        input: (..., in_channels).
        weight: (out_channels, in_channels).
        bias: (out_channels,) or None.

    Raises:
        ValueError: the shapes do not fit.
    """
    if input.ndim < 1 or input.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"For 'Dense', the last axis of the input must be {weight.shape[-1]}, but got shape {input.shape}"
        )
    wanted = promote(input._array.dtype, weight._array.dtype)
    b = None if bias is None else as_dtype(bias, wanted)
    return _linear(as_dtype(input, wanted), as_dtype(weight, wanted), b, activation=activation)
