"""Products of matrices and vectors over ``matmul`` and ``einsum``: addmm, inner, outer, kron, tensor_dot, ..."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, Functions, Ints, Number, Value
from ...cpu.array_module import array_module
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import check_tensor, ints_of, one_axis
from ..elementwise import arithmetic
from ..elementwise.complex_numbers import conj
from ..reduction import reduction
from ..reduction.reduction import reduce_sum
from ..shapes import broadcasting
from ..shapes.broadcasting import of_one_dtype
from ..shapes.rearranging import movedim, roll
from ..shapes.reshape import expand_dims, reshape, swapaxes, transpose
from .matmul import matmul

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "adjoint",
    "baddbmm",
    "baddbmm_ext",
    "batch_dot",
    "bidense",
    "cross",
    "dot",
    "einsum",
    "einsum_ext",
    "ger",
    "inner",
    "kron",
    "mv",
    "outer",
    "tensor_dot",
    "vecdot",
]


def _expanded(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """Return the subscripts of each operand and of the result, without ``...`` and with the arrow."""
    left, _, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"For 'einsum', '{equation}' names {len(terms)} operands, but got {len(ranks)}")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + "abcdefghijklmnopqrstuvwxyz" if c not in equation]
    longest = max([rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks, strict=True) if "..." in t] + [0])
    dots = "".join(free[:longest])
    subscripts = []
    for term, rank in zip(terms, ranks, strict=True):
        extra = rank - len(term.replace("...", ""))
        if extra < 0 or (extra and "..." not in term):
            raise ValueError(f"For 'einsum', '{term}' does not fit an operand of {rank} axes")
        subscripts.append(term.replace("...", dots[longest - extra :]))
    if "->" not in equation:
        letters = "".join(terms).replace(".", "")
        right = ("..." if dots else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return subscripts, right.replace("...", dots)


def _einsum_kernel(*operands: Array, terms: tuple[str, ...], result: str) -> Array:
    xp = array_module(operands[0])
    if operands[0].dtype.itemsize < 4 and operands[0].dtype.kind in "fV":
        wide = (x.astype(np.float32) for x in operands)
        return _einsum_kernel(*wide, terms=terms, result=result).astype(operands[0].dtype)
    return xp.einsum(",".join(terms) + "->" + result, *operands, **({"optimize": True} if len(operands) > 2 else {}))


def _einsum_rule(
    F: Functions, needs: list[bool], g: Value, out: Value, *operands: Value, terms: tuple[str, ...], result: str
) -> list[Any]:
    gradients: list[Any] = []
    for position, (x, term, is_needed) in enumerate(zip(operands, terms, needs, strict=True)):
        other_operands = [o for i, o in enumerate(operands) if i != position]
        names = [t for i, t in enumerate(terms) if i != position]
        letters = "".join(dict.fromkeys(term))
        available = set(result).union(*names)
        retained = "".join(c for c in letters if c in available)
        if not is_needed:
            gradients.append(None)
            continue
        part = F.einsum(g, *other_operands, terms=(result, *names), result=retained)
        shape = tuple(x.shape[term.index(c)] if c in retained else 1 for c in letters)
        part = F.broadcast_to(F.reshape(part, shape=shape), shape=tuple(x.shape[term.index(c)] for c in letters))
        if letters != term:
            xp = array_module(g._array if isinstance(g, Tensor) else g)
            axes = [xp.arange(n).reshape((-1,) + (1,) * (len(letters) - i - 1)) for i, n in enumerate(part.shape)]
            index = tuple(axes[letters.index(c)] for c in term)
            part = F.scatter_add(part, index=index, shape=tuple(x.shape))
        gradients.append(part)
    return gradients


_einsum = Operator("einsum", _einsum_kernel, joint_vjp=_einsum_rule)


@declare(mint=True)
def einsum(equation: str, *operands: Any) -> Tensor:
    """Return the sum of products of an equation in Einstein's notation, as in NumPy.

    Args:
        equation: a letter for each axis of each operand, and after "->" those of the result, such as "ij,jk->ik";
            without it the letters that occur once, in alphabetical order. A letter that occurs twice in an operand is
            its diagonal; "..." are further axes, which broadcast.
        *operands: the tensors, one by one or as one list; axes of length 1 broadcast.

    Returns:
        A tensor of the dtype that all operands promote to.

    Raises:
        TypeError: ``equation`` is not a string, or an operand is not a Tensor.
        ValueError: the equation and the operands do not fit.
    """
    if not isinstance(equation, str):
        raise TypeError(f"For 'einsum', 'equation' must be a str, but got {type(equation).__name__}")
    arguments = operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    tensors = [check_tensor(x, "einsum", "operands") for x in arguments]
    terms, result = _expanded(equation, [x.ndim for x in tensors])
    sizes: dict[str, int] = {}
    for x, term in zip(tensors, terms, strict=True):
        for length, letter in zip(x.shape, term, strict=True):
            if length != 1 and sizes.setdefault(letter, length) != length:
                raise ValueError(f"For 'einsum', '{letter}' has the lengths {sizes[letter]} and {length}")
    expanded = []
    for x, term in zip(of_one_dtype(*tensors), terms, strict=True):
        # An axis of length 1 broadcasts to a longer one; NumPy's einsum does so by itself, but its gradient would not.
        full = tuple(sizes.get(letter, 1) for letter in term)
        expanded.append(x if x.shape == full else broadcasting.broadcast_to_operator(x, shape=full))
    return _einsum(*expanded, terms=tuple(terms), result=result)


einsum_ext = einsum


@declare(primitive=prim("Einsum", "equation"))
def _einsum_class(x: Sequence[Tensor], equation: str) -> Tensor:
    """Return the sum of products of an equation in Einstein's notation, as in NumPy.

    Args:
        x: a tuple or list of tensors.
        equation: a letter for each axis of each, and those of the result, such as "ij,jk->ik", see ``ops.einsum``.

    Returns:
        A tensor of the dtype that all promote to.

    Raises:
        TypeError: ``equation`` is not a string, or an operand is not a Tensor.
        ValueError: the equation and the operands do not fit.
    """
    return einsum(equation, *x)


def _sum_of(input: Tensor, product: Tensor, beta: Number, alpha: Number, name: str) -> Tensor:
    x = check_tensor(input, name)
    term = product if isinstance(alpha, int) and alpha == 1 else arithmetic.mul(product, alpha)
    return arithmetic.add(x if isinstance(beta, int) and beta == 1 else arithmetic.mul(x, beta), term)


def _ranks(name: str, *ranks: tuple[str, Any, int]) -> None:
    for argument, x, ndim in ranks:
        if check_tensor(x, name, argument).ndim != ndim:
            raise ValueError(f"For '{name}', '{argument}' must have {ndim} axes, but got shape {x.shape}")


def _matrices(name: str, batch1: Any, batch2: Any) -> None:
    """Raise ValueError unless both have equally many matrices.

    As in MindSpore on a CPU, two matrices are allowed: their product is one matrix, whose rows ``addbmm`` sums.
    """
    check_tensor(batch1, name, "batch1"), check_tensor(batch2, name, "batch2")
    if batch1.ndim < 2 or batch1.ndim != batch2.ndim or batch1.shape[:-2] != batch2.shape[:-2]:
        raise ValueError(
            f"For '{name}', 'batch1' and 'batch2' must be as many matrices, but got shapes {batch1.shape} and "
            f"{batch2.shape}"
        )


@declare(method=True, in_place=True, mint=True)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * input + alpha * (mat1 @ mat2).

    Args:
        input: a tensor that broadcasts to (n, p).
        mat1: a matrix (n, m).
        mat2: a matrix (m, p).
        beta: the factor of ``input``.
        alpha: the factor of the product.

    Returns:
        A tensor (n, p).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: shapes that do not fit.
    """
    _ranks("addmm", ("mat1", mat1, 2), ("mat2", mat2, 2))
    return _sum_of(input, matmul(mat1, mat2), beta, alpha, "addmm")


@declare(method=True, mint=True)
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * input + alpha * (mat @ vec).

    Args:
        input: a tensor that broadcasts to (n,).
        mat: a matrix (n, m).
        vec: a vector (m,).
        beta: the factor of ``input``.
        alpha: the factor of the product.

    Returns:
        A tensor (n,).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: shapes that do not fit.
    """
    _ranks("addmv", ("mat", mat, 2), ("vec", vec, 1))
    return _sum_of(input, matmul(mat, vec), beta, alpha, "addmv")


@declare(method=True, mint=True)
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * input + alpha * (batch1 @ batch2), matrix by matrix.

    Args:
        input: a tensor that broadcasts to (b, n, p).
        batch1: matrices (b, n, m).
        batch2: matrices (b, m, p).
        beta: the factor of ``input``.
        alpha: the factor of the product.

    Returns:
        A tensor (b, n, p).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: shapes that do not fit.
    """
    _matrices("baddbmm", batch1, batch2)
    return _sum_of(input, matmul(batch1, batch2), beta, alpha, "baddbmm")


baddbmm_ext = baddbmm


@declare(method=True, mint=True)
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * input + alpha * the sum of batch1 @ batch2 over the batch.

    Args:
        input: a tensor that broadcasts to (n, p).
        batch1: matrices (b, n, m).
        batch2: matrices (b, m, p).
        beta: the factor of ``input``.
        alpha: the factor of the product.

    Returns:
        A tensor (n, p).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: shapes that do not fit.
    """
    _matrices("addbmm", batch1, batch2)
    return _sum_of(input, reduce_sum(matmul(batch1, batch2), 0), beta, alpha, "addbmm")


@declare(method=("ger", "outer"), primitive=prim("Ger"), mint=True)
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Return the product of each element of a vector with each of another: input[i] * vec2[j].

    Args:
        input: a vector (n,).
        vec2: a vector (m,).

    Returns:
        A tensor (n, m).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: an input is not a vector.
    """
    _ranks("outer", ("input", input, 1), ("vec2", vec2, 1))
    return arithmetic.mul(expand_dims(input, 1), expand_dims(vec2, 0))


ger = outer


@declare(method=True)
def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """Return beta * x + alpha * outer(vec1, vec2).

    Args:
        x: a tensor that broadcasts to (n, m).
        vec1: a vector (n,).
        vec2: a vector (m,).
        beta: the factor of ``x``.
        alpha: the factor of the product.

    Returns:
        A tensor (n, m).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: shapes that do not fit.
    """
    return _sum_of(x, outer(vec1, vec2), beta, alpha, "addr")


@declare(mint=renamed(mat="input"))
def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """Return a matrix times a vector.

    Args:
        mat: a matrix (n, m).
        vec: a vector (m,).

    Returns:
        A tensor (n,).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the wrong numbers of axes, or lengths that do not fit.
    """
    _ranks("mv", ("mat", mat, 2), ("vec", vec, 1))
    return matmul(mat, vec)


@declare(method=True)
def dot(input: Tensor, other: Tensor) -> Tensor:
    """Return the sum of products over the last axis of ``input`` and the last but one of ``other``.

    Args:
        input: a tensor (..., k) with at least two axes.
        other: a tensor (..., k, m) with at least two axes.

    Returns:
        A tensor with the other axes of ``input``, then those of ``other``.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: a tensor with fewer than two axes, or lengths that do not fit.
    """
    x, y = check_tensor(input, "dot"), check_tensor(other, "dot", "other")
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(f"For 'dot', both tensors must have at least 2 axes, but got {x.shape} and {y.shape}")
    return _contracted(x, y, (-1,), (-2,), "dot")


@declare(method=True, numpy=renamed(input="a", other="b"))
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Return the sum of products over the last axes, as in NumPy.

    Args:
        input: a tensor (..., k), or one without axes.
        other: a tensor (..., k), or one without axes.

    Returns:
        A tensor with the other axes of ``input``, then those of ``other``; the product where one has no axes.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the last axes differ in length.
    """
    x, y = check_tensor(input, "inner"), check_tensor(other, "inner", "other")
    if not x.ndim or not y.ndim:
        return arithmetic.mul(x, y)
    return _contracted(x, y, (-1,), (-1,), "inner")


def tensor_dot(x1: Tensor, x2: Tensor, axes: int | Sequence[Ints]) -> Tensor:
    """Return the sum of products over several axes of each, as NumPy's tensordot.

    Args:
        x1: a tensor.
        x2: a tensor.
        axes: a number n, for the last n axes of ``x1`` and the first n of ``x2``; or a pair, the axes of each.

    Returns:
        A tensor with the other axes of ``x1``, then those of ``x2``.

    Raises:
        TypeError: an input is not a Tensor, or ``axes`` does not hold ints.
        ValueError: the axes are out of range or differ in length.
    """
    x, y = check_tensor(x1, "tensor_dot", "x1"), check_tensor(x2, "tensor_dot", "x2")
    if isinstance(axes, int):
        if axes < 0 or axes > min(x.ndim, y.ndim):
            raise ValueError(f"For 'tensor_dot', 'axes' must be in [0, {min(x.ndim, y.ndim)}], but got {axes}")
        x_axes, y_axes = tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))
    else:
        if len(check_type(axes, list | tuple, "tensor_dot", "axes", "an int or a pair of axes")) != 2:
            raise ValueError(f"For 'tensor_dot', 'axes' must be an int or a pair of axes, but got {axes!r}")
        x_axes, y_axes = (ints_of(v, "tensor_dot", "axes") for v in axes)
    return _contracted(x, y, x_axes, y_axes, "tensor_dot")


def _contracted(x: Tensor, y: Tensor, x_dims: Sequence[int], y_dims: Sequence[int], name: str) -> Tensor:
    """Return the sum of products over axes of each; the other axes follow, those of x first."""
    x_axes = tuple(one_axis(i, x.ndim, name) for i in x_dims)
    y_axes = tuple(one_axis(i, y.ndim, name) for i in y_dims)
    if [x.shape[i] for i in x_axes] != [y.shape[i] for i in y_axes]:
        raise ValueError(
            f"For '{name}', the axes {x_axes} of {x.shape} and {y_axes} of {y.shape} must have the same lengths"
        )
    x_free, y_free = [i for i in range(x.ndim) if i not in x_axes], [i for i in range(y.ndim) if i not in y_axes]
    count = math.prod(x.shape[i] for i in x_axes)
    rows = reshape(transpose(x, (*x_free, *x_axes)), (math.prod(x.shape[i] for i in x_free), count))
    columns = reshape(transpose(y, (*y_axes, *y_free)), (count, math.prod(y.shape[i] for i in y_free)))
    return reshape(matmul(rows, columns), (*(x.shape[i] for i in x_free), *(y.shape[i] for i in y_free)))


def batch_dot(x1: Tensor, x2: Tensor, axes: Ints | None = None) -> Tensor:
    """Return the sum of products over one axis of each, entry by entry of the batch.

    Args:
        x1: a tensor (batch, ...) with at least two axes.
        x2: a tensor (batch, ...) with at least two axes.
        axes: the axis of both, or a pair with that of each; by default the last of ``x1`` and the last but one of
            ``x2`` (its last, where it has two axes).

    Returns:
        A tensor (batch, ...) with the other axes of ``x1``, then those of ``x2``; (batch, 1) where there are none.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: fewer than two axes, or lengths that do not fit.
    """
    x, y = check_tensor(x1, "batch_dot", "x1"), check_tensor(x2, "batch_dot", "x2")
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(f"For 'batch_dot', both tensors must have at least 2 axes, but got {x.shape} and {y.shape}")
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"For 'batch_dot', the first axes must have one length, but got {x.shape} and {y.shape}")
    if not isinstance(axes, int | list | tuple | None):
        raise ValueError(f"For 'batch_dot', 'axes' must be an int or a pair, but got {axes!r}")
    requested = None if axes is None else ints_of(axes, "batch_dot", "axes")
    pair = (
        (x.ndim - 1, max(y.ndim - 2, 1)) if requested is None else requested * 2 if len(requested) == 1 else requested
    )
    if len(pair) != 2:
        raise ValueError(f"For 'batch_dot', 'axes' must be an int or a pair, but got {axes}")
    first, second = movedim(x, pair[0], x.ndim - 1), movedim(y, pair[1], 1)
    rows = reshape(first, (x.shape[0], math.prod(first.shape[1:-1]), first.shape[-1]))
    columns = reshape(second, (y.shape[0], second.shape[1], math.prod(second.shape[2:])))
    result = reshape(matmul(rows, columns), (x.shape[0], *first.shape[1:-1], *second.shape[2:]))
    return reshape(result, (x.shape[0], 1)) if result.ndim == 1 else result


def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """Return the sum of products over one axis: sum(conj(x) * y).

    Args:
        x: a tensor of any shape; complex numbers are conjugated.
        y: a tensor that broadcasts with ``x``.
        axis: the axis that is summed over, of the shape that both broadcast to.

    Returns:
        A tensor without that axis; of integers Int64.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the shapes do not broadcast, or ``axis`` is out of range.
    """
    return reduction.sum(arithmetic.mul(conj(check_tensor(x, "vecdot", "x")), check_tensor(y, "vecdot", "y")), axis)


@declare(numpy=renamed(input="a", other="b"))
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Return the Kronecker product: each element of the first tensor is replaced by the second tensor times it.

    Args:
        input: a tensor of any shape.
        other: a tensor of any shape; if it has fewer axes, missing leading ones count as 1, and likewise for ``input``.

    Returns:
        A tensor, whose lengths are the products of theirs.

    Raises:
        TypeError: an input is not a Tensor.
    """
    x, y = check_tensor(input, "kron"), check_tensor(other, "kron", "other")
    ndim = max(x.ndim, y.ndim)
    x_shape, y_shape = (1,) * (ndim - x.ndim) + x.shape, (1,) * (ndim - y.ndim) + y.shape
    left = reshape(x, tuple(n for length in x_shape for n in (length, 1)))
    right = reshape(y, tuple(n for length in y_shape for n in (1, length)))
    return reshape(arithmetic.mul(left, right), tuple(n * m for n, m in zip(x_shape, y_shape, strict=True)))


@declare(method=True, mint=True)
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Return the cross product of vectors of three elements.

    Args:
        input: a tensor with an axis of length 3.
        other: a tensor that broadcasts with it, with the same axis of length 3.
        dim: that axis; by default the first of length 3.

    Returns:
        A tensor of the shape that both broadcast to.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the axis does not have length 3 in both.
    """
    x, y = check_tensor(input, "cross"), check_tensor(other, "cross", "other")
    at = next((i for i, n in enumerate(x.shape) if n == 3), None) if dim is None else one_axis(dim, x.ndim, "cross")
    if at is None or x.shape[at] != 3 or x.ndim - at > y.ndim or y.shape[at - x.ndim] != 3:
        raise ValueError(f"For 'cross', an axis must have length 3 in both, but got {x.shape} and {y.shape}")

    def turned(v: Tensor, by: int) -> Tensor:
        return roll(v, by, at - x.ndim)

    return turned(x, -1) * turned(y, -2) - turned(x, -2) * turned(y, -1)


@declare(primitive=prim("Cross", dim=-65530))
def _cross_of_class(input: Tensor, other: Tensor, dim: int) -> Tensor:
    """Return the cross product of vectors of three elements.

    Args:
        input: a tensor with an axis of length 3.
        other: a tensor that broadcasts with it, with the same axis of length 3.
        dim: that axis; -65530, which MindSpore has by default, is the first of length 3.

    Returns:
        A tensor of the shape that both broadcast to.

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: the axis does not have length 3 in both.
    """
    return cross(input, other, None if dim == -65530 else dim)


@declare(method=True)
def adjoint(x: Tensor) -> Tensor:
    """Return the tensor with the last two axes swapped and complex numbers conjugated.

    Args:
        x: a tensor with at least two axes.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: fewer than two axes.
    """
    transposed = swapaxes(check_tensor(x, "adjoint", "x"), -1, -2)
    return conj(transposed) if transposed._array.dtype.kind == "c" else transposed


@declare(primitive=prim("ConjugateTranspose"))
def _conjugate_transpose(x: Tensor, perm: Sequence[int]) -> Tensor:
    """Return the tensor with its axes in another order and complex numbers conjugated.

    Args:
        x: a tensor of any shape.
        perm: for each axis of the result the axis of ``x``, a tuple.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``perm`` is not a tuple of ints.
        ValueError: ``perm`` does not have each axis once.
    """
    transposed = transpose(check_tensor(x, "ConjugateTranspose", "x"), perm)
    return conj(transposed) if transposed._array.dtype.kind == "c" else transposed


def bidense(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return the bilinear form input1 @ weight[k] @ input2 for each k, plus ``bias``.

    Args:
        input1: a tensor (..., n).
        input2: a tensor (..., m).
        weight: a tensor (k, n, m).
        bias: a tensor (k,), or None for none.

    Returns:
        A tensor (..., k).

    Raises:
        TypeError: an input is not a Tensor.
        ValueError: lengths that do not fit.
    """
    result = einsum("...i,kij,...j->...k", input1, weight, input2)
    return result if bias is None else arithmetic.add(result, bias)
