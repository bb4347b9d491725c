"""Embedding layers: rows of a table for indices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_bool, check_int, check_one_of, check_positive_int
from ...ops import (
    Concat,
    ExpandDims,
    Gather,
    MatMul,
    OneHot,
    Primitive,
    Reshape,
    Shape,
    gather,
    getitem,
    one_hot,
    reshape,
)
from ...ops.indexing import lookup
from ...tensors.dtype import DType, float32
from ...tensors.initializer import InitLike, Normal, initializer
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ..cell import Cell

__all__ = ["Embedding", "EmbeddingExt", "EmbeddingLookup", "MultiFieldEmbeddingLookup"]


class Embedding(Cell):
    """A row of a trained table for each index.

    Args:
        vocab_size: number of rows, an int above 0.
        embedding_size: length of a row, an int above 0.
        use_one_hot: whether to compute a product with one-hot rows instead of indexing; an index that is not in the
            table then gives zeros.
        embedding_table: initial values of the table (vocab_size, embedding_size): an initializer, its name, a number or
            a Tensor. "normal" has deviation 0.01.
        dtype: element type of the table.
        padding_idx: a row that starts as zeros, in [0, vocab_size); it is trained like the others. None for no such
            row.

    Raises:
        TypeError: a size is not an int, ``use_one_hot`` is not a bool, or ``embedding_table`` is none of the above.
        ValueError: a number out of range, or a Tensor of the wrong shape.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: InitLike = "normal",
        dtype: DType = float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = check_positive_int(vocab_size, "Embedding", "vocab_size")
        self.embedding_size = check_positive_int(embedding_size, "Embedding", "embedding_size")
        check_bool(use_one_hot, "Embedding", "use_one_hot")
        self.use_one_hot, self.padding_idx, self.dtype = use_one_hot, padding_idx, dtype
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            if not 0 <= check_int(padding_idx, "Embedding", "padding_idx") < vocab_size:
                raise ValueError(f"For 'Embedding', 'padding_idx' must be in [0, {vocab_size}), but got {padding_idx}")
            table[padding_idx] = 0
        self.embedding_table = Parameter(table, "embedding_table")

    def construct(self, ids: Tensor) -> Tensor:
        """Return the rows of the indices.

        Args:
            ids: an integer Tensor of any shape; negative ones count from the end.

        Returns:
            A Tensor of the shape of ``ids`` with one more axis, of length ``embedding_size``.

        Raises:
            RuntimeError: an index is not in the table.
        """
        if not self.use_one_hot:
            return gather(self.embedding_table, ids, 0)
        rows = one_hot(reshape(ids, (-1,)), self.vocab_size, 1.0, 0.0).astype(self.dtype) @ self.embedding_table
        return reshape(rows, (*ids.shape, self.embedding_size))

    # Operators and numbers for a subclass with its own ``construct``.

    shp_flat = (-1,)

    @cached_property
    def gather(self) -> Primitive:
        """Operator for rows of a table: takes the table, the indices and the axis."""
        return Gather()

    @cached_property
    def one_hot(self) -> Primitive:
        """Operator for one-hot rows: takes indices, the number of columns, ``on_value`` and ``off_value``."""
        return OneHot()

    @cached_property
    def on_value(self) -> Tensor:
        """1 in the dtype of the table."""
        return Tensor(1.0, self.dtype)

    @cached_property
    def off_value(self) -> Tensor:
        """0 in the dtype of the table."""
        return Tensor(0.0, self.dtype)

    @cached_property
    def array_mul(self) -> Primitive:
        """Operator for the product of two matrices."""
        return MatMul()

    @cached_property
    def reshape(self) -> Primitive:
        """Operator that reshapes a tensor."""
        return Reshape()

    @cached_property
    def reshape_flat(self) -> Primitive:
        """Operator that reshapes a tensor to ``shp_flat``."""
        return Reshape()

    @cached_property
    def get_shp(self) -> Primitive:
        """Operator for the shape of a tensor."""
        return Shape()

    @cached_property
    def expand(self) -> Primitive:
        """Operator that adds an axis to a tensor."""
        return ExpandDims()

    @cached_property
    def concat(self) -> Primitive:
        """Operator that joins tensors along the first axis."""
        return Concat()

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )


def _limited(rows: Tensor, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Return rows, scaled down to the norm ``max_norm`` if theirs is above."""
    lengths = ops.pow(ops.reduce_sum(ops.pow(ops.abs(rows), norm_type), -1, True), 1 / norm_type)
    return rows * (ops.minimum(lengths, max_norm) / ops.maximum(lengths, 1e-12))


class EmbeddingLookup(Cell):
    """A row of a trained table for each index, of limited length; settings for tables on several devices are stored.

    Takes ``indices``, an integer Tensor of any shape, and returns its shape with one more axis, of length
    ``embedding_size``; zeros for an index that is not in the table, such as a negative one.

    Args:
        vocab_size: number of rows, an int above 0.
        embedding_size: length of a row, an int above 0.
        param_init: initial values of the table: an initializer, its name, a number or a Tensor.
        target: "CPU" or "DEVICE"; stored, unused: the table is on the device of the other parameters.
        slice_mode: stored, unused: how a cluster splits the table.
        manual_shapes: stored, unused: the parts in which a cluster splits it.
        max_norm: rows whose 2-norm is above this number are scaled down to it, in the output only; None for no limit.
        sparse: stored, unused: whether a cluster sends sparse gradients; gradients here are dense.
        dtype: element type of the table.

    Raises:
        TypeError: a size is not an int, or ``max_norm`` is not a number.
        ValueError: a size is not above 0, or an unsupported ``target``.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        param_init: InitLike = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        manual_shapes: Sequence[Any] | None = None,
        max_norm: float | None = None,
        sparse: bool = True,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        self.vocab_size = check_positive_int(vocab_size, name, "vocab_size")
        self.embedding_size = check_positive_int(embedding_size, name, "embedding_size")
        check_one_of(target, ("CPU", "DEVICE"), name, "target")
        if max_norm is not None and not isinstance(max_norm, int | float):
            raise TypeError(f"For '{name}', 'max_norm' must be a number, but got {type(max_norm).__name__}")
        self.target, self.slice_mode, self.manual_shapes, self.sparse = target, slice_mode, manual_shapes, sparse
        self.max_norm = max_norm
        table = initializer(param_init, (vocab_size, embedding_size), dtype)
        self.embedding_table = Parameter(table, "embedding_table")

    def construct(self, indices: Tensor) -> Tensor:
        rows = lookup.rows_behind_offset(self.embedding_table, indices, 0)
        return rows if self.max_norm is None else _limited(rows, float(self.max_norm))


class MultiFieldEmbeddingLookup(EmbeddingLookup):
    """For each sample and field the rows of its indices, each times a weight, combined.

    Args:
        vocab_size: number of rows of the table, an int above 0.
        embedding_size: length of a row, an int above 0.
        field_size: number of fields, an int above 0.
        param_init: initial values of the table: an initializer, its name, a number or a Tensor.
        target: "CPU" or "DEVICE"; stored, unused: the table is on the device of the other parameters.
        slice_mode: stored, unused: how a cluster splits the table.
        feature_num_list: stored, unused: the parts in which a cluster splits it.
        max_norm: rows whose 2-norm is above this number are scaled down to it; None for no limit.
        sparse: stored, unused; gradients are dense.
        operator: the combination of the rows of a field: "SUM", "MEAN" or, element by element, "MAX"; a field without
            indices gives zeros.
        dtype: element type of the table.

    Raises:
        TypeError: a size is not an int, or ``max_norm`` is not a number.
        ValueError: a size is not above 0, or an unsupported ``target`` or ``operator``.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        field_size: int,
        param_init: InitLike = "normal",
        target: str = "CPU",
        slice_mode: str = "batch_slice",
        feature_num_list: Sequence[Any] | None = None,
        max_norm: float | None = None,
        sparse: bool = True,
        operator: str = "SUM",
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            vocab_size, embedding_size, param_init, target, slice_mode, feature_num_list, max_norm, sparse, dtype
        )
        self.field_size = check_positive_int(field_size, "MultiFieldEmbeddingLookup", "field_size")
        self.operator = check_one_of(operator, ("SUM", "MAX", "MEAN"), "MultiFieldEmbeddingLookup", "operator")

    def construct(  # type: ignore[override]  # a layer of three inputs
        self, input_indices: Tensor, input_values: Tensor, field_ids: Tensor
    ) -> Tensor:
        """Return the combined rows of each field.

        Args:
            input_indices: row numbers (N, F), integers.
            input_values: a weight for each of them (N, F), floating.
            field_ids: the field of each (N, F), integers in [0, field_size); others are ignored.

        Returns:
            A Tensor (N, field_size, embedding_size).
        """
        rows = super().construct(input_indices) * ops.expand_dims(input_values, -1)
        member = field_ids.asnumpy()[:, None, :] == np.arange(self.field_size)[None, :, None]
        if self.operator == "MAX":
            candidates = ops.where(Tensor(member[..., None]), ops.expand_dims(rows, 1), -3.4e38)
            return ops.where(Tensor(member.any(-1)[..., None]), ops.reduce_max(candidates, 2), 0.0)
        weights = member.astype(rows._array.dtype)
        if self.operator == "MEAN":
            weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1)
        return ops.matmul(Tensor(weights), rows)


class EmbeddingExt(Cell):
    """``Embedding`` with PyTorch's arguments; its parameter is ``weight``.

    Takes ``input``, an integer Tensor of any shape, and returns its shape with one more axis, of length
    ``embedding_dim``.

    Args:
        num_embeddings: number of rows.
        embedding_dim: length of a row.
        padding_idx: a row that starts as zeros and gets no gradient, in [-num_embeddings, num_embeddings); None for
            none.
        max_norm: rows whose norm is above this number are scaled down to it, in the output only; None for no limit.
        norm_type: the exponent of that norm.
        scale_grad_by_freq: must be False.
        sparse: must be False.
        dtype: element type of the table; None is float32.

    Raises:
        ValueError: ``padding_idx`` out of range, or ``sparse`` or ``scale_grad_by_freq``.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        if sparse or scale_grad_by_freq:
            raise ValueError("For 'EmbeddingExt', 'sparse' and 'scale_grad_by_freq' must be False")
        shape = (num_embeddings, embedding_dim)
        count = num_embeddings
        if padding_idx is not None and not -count <= check_int(padding_idx, "EmbeddingExt", "padding_idx") < count:
            raise ValueError(
                f"For 'EmbeddingExt', 'padding_idx' must be in [{-num_embeddings}, {num_embeddings}), got {padding_idx}"
            )
        table = initializer(Normal(1.0) if _weight is None else _weight, shape, dtype or float32)
        if padding_idx is not None and _weight is None:
            table[padding_idx] = 0
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.weight = Parameter(table, "weight", requires_grad=not _freeze)

    def construct(self, input: Tensor) -> Tensor:
        rows = getitem(self.weight, input)
        if self.padding_idx is not None:
            # The row of the padding index gets no gradient.
            padding = Tensor(input.asnumpy()[..., None] == self.padding_idx % self.weight.shape[0])
            rows = ops.where(padding, ops.stop_gradient(rows), rows)
        return rows if self.max_norm is None else _limited(rows, float(self.max_norm), float(self.norm_type))
