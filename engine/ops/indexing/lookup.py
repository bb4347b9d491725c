"""Lookup of the rows of a table by index."""

from __future__ import annotations

from ...base.argument_checks import check_real
from ...base.surfaces import declare, prim
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ..arguments import check_axes, check_integers, check_tensor, int_of, ints_of
from ..elementwise import comparison
from ..reduction.norms import vector_norm
from ..shapes.reshape import expand_dims, reshape
from .gathering import check_in_range, gather

__all__ = ["embedding"]


@declare(primitive=prim("EmbeddingLookup"))
def rows_behind_offset(input_params: Tensor, input_indices: Tensor, offset: int | Tensor) -> Tensor:
    """Return the rows ``input_indices - offset`` of a table; zeros for those out of range.

    Args:
        input_params: the table (rows, ...).
        input_indices: integers of any shape.
        offset: the number of the table's first row, an int or a tensor.

    Returns:
        A tensor ``input_indices.shape + input_params.shape[1:]`` of the dtype of ``input_params``.

    Raises:
        TypeError: ``input_indices`` does not hold integers.
    """
    indices = check_tensor(input_indices, "EmbeddingLookup", "input_indices") - offset
    valid = comparison.logical_and(comparison.ge(indices, 0), comparison.lt(indices, input_params.shape[0]))
    rows = gather(input_params, comparison.where(valid, indices, 0), 0)
    return comparison.where(reshape(valid, valid.shape + (1,) * (input_params.ndim - 1)), rows, 0)


@declare(mint="nn.functional.embedding")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Return the rows of ``weight`` at the indices ``input``.

    Args:
        input: integers in [-rows, rows), of any shape.
        weight: the table (rows, size).
        padding_idx: a row that gets no gradient, in [-rows, rows); None for none.
        max_norm: the rows at ``input`` that are longer than this are first shortened to it, in ``weight`` itself; None
            shortens none.
        norm_type: the p of the p-norm that ``max_norm`` limits.
        scale_grad_by_freq: must be False.

    Returns:
        A tensor ``input.shape + (size,)`` of the dtype of ``weight``.

    Raises:
        NotImplementedError: ``scale_grad_by_freq`` is True.
        TypeError: ``input`` does not hold integers, or ``weight`` is not a Tensor.
        ValueError: ``padding_idx`` is out of range.
        RuntimeError: a number in ``input`` is out of range.
    """
    if scale_grad_by_freq:
        raise NotImplementedError("For 'embedding', 'scale_grad_by_freq' is not covered; scale the gradient yourself")
    count = check_axes(weight, 1, "embedding", "weight").shape[0]
    if padding_idx is not None and not -count <= int_of(padding_idx, "embedding", "padding_idx") < count:
        raise ValueError(f"For 'embedding', 'padding_idx' must be in [{-count}, {count}), but got {padding_idx}")
    if max_norm is not None:
        check_integers(input, "embedding", "input")
        check_real(max_norm, "embedding", "max_norm")
        _shorten(weight, input, max_norm, norm_type)
    rows = gather(weight, input, 0)
    if padding_idx is None:
        return rows
    is_padding = comparison.eq(input, padding_idx % count)
    return comparison.where(expand_dims(is_padding, -1), rows.data, rows)  # the row of the padding gets no gradient


def _shorten(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Shorten the rows at ``input`` to ``max_norm``, in place. A gradient passes as if they were not shortened."""
    check_in_range(input._array, weight.shape[0], "gather")
    numbers = Tensor._wrap(array_module(input._array).unique(input._array % weight.shape[0]))
    rows = gather(weight, numbers, 0)
    length = vector_norm(rows.data, norm_type, -1, True)
    if (length._array > max_norm).any():
        factor = comparison.where(length > max_norm, max_norm / (length + 1e-7), 1.0)
        weight[numbers] = rows + (rows.data * factor - rows.data)


@declare(primitive=prim("SubAndFilter"))
def _sub_and_filter(input_x: Tensor, max_num: int | Tensor, offset: int | Tensor) -> tuple[Tensor, Tensor]:
    """Return the elements ``input_x - offset`` that are in [0, max_num), in their order, and their positions.

    Args:
        input_x: integers of any shape, Int32 or Int64.
        max_num: the end of the range, an int or a tensor of one.
        offset: a number subtracted first, likewise.

    Returns:
        The elements, a vector of the dtype of ``input_x``, and their positions in the flattened tensor, likewise.

    Raises:
        TypeError: ``input_x`` is not a Tensor of integers.
    """
    shifted = check_integers(input_x, "SubAndFilter", "input_x")._array.reshape(-1) - int(offset)
    positions = array_module(shifted).flatnonzero((shifted >= 0) & (shifted < int(max_num)))
    dtype = input_x._array.dtype
    return Tensor._wrap(shifted[positions].astype(dtype)), Tensor._wrap(positions.astype(dtype))


@declare(primitive=prim("MapUniform"))
def _map_uniform(input: Tensor, per_group_size: int | Tensor, group_num: int | Tensor) -> Tensor:
    """Return input % group_num * per_group_size + input // group_num: keys, dealt to groups in turn, by group.

    Args:
        input: the keys, integers of any shape.
        per_group_size: the number of keys in a group, an int or a tensor of one.
        group_num: the number of groups, likewise, not 0.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor of integers, or another argument is not an int.
        ValueError: ``group_num`` is 0.
    """
    keys = check_integers(input, "MapUniform", "input")._array
    (size,), (groups,) = (
        ints_of(n, "MapUniform", name) for name, n in (("per_group_size", per_group_size), ("group_num", group_num))
    )
    if groups == 0:
        raise ValueError("For 'MapUniform', 'group_num' must not be 0")
    return Tensor._wrap((keys % groups * size + keys // groups).astype(keys.dtype))
