"""Dense, Flatten, Embedding, Identity: layers without windows, statistics or randomness."""

from __future__ import annotations

import math
from typing import Any

from ..dtype import DType, float32
from ..initializer import HeUniform, Uniform, initializer
from ..ops import dense as dense_op
from ..ops import flatten, getitem, one_hot, reshape
from ..parameter import Parameter
from ..tensor import Tensor
from ._checks import check_bool, check_positive_int
from .activation import get_activation
from .cell import Cell

__all__ = ["Dense", "Embedding", "Flatten", "Identity"]


class Dense(Cell):
    """y = activation(x @ weight.T + bias).

    Args:
        in_channels: length of the last axis of the input.
        out_channels: length of the last axis of the output.
        weight_init: first values of the weight (out_channels, in_channels); by default uniform with bound
            1 / sqrt(in_channels).
        bias_init: first values of the bias; by default the same distribution.
        has_bias: whether there is a bias.
        activation: a cell, or the name of one, applied to the result.
        dtype: element type of the parameters.

    Raises:
        TypeError, ValueError: an argument of the wrong kind; the text names it.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.in_channels = check_positive_int(in_channels, "Dense", "in_channels")
        self.out_channels = check_positive_int(out_channels, "Dense", "out_channels")
        self.has_bias = check_bool(has_bias, "Dense", "has_bias")
        shape = (out_channels, in_channels)
        if isinstance(weight_init, Tensor) and weight_init.shape != shape:
            raise ValueError(f"For 'Dense', 'weight_init' must have the shape {shape}, but got {weight_init.shape}")
        self.weight = Parameter(
            initializer(HeUniform(math.sqrt(5)) if weight_init is None else weight_init, shape, dtype),
            "weight",
        )
        self.bias: Parameter | None = None
        if has_bias:
            if isinstance(bias_init, Tensor) and bias_init.shape != (out_channels,):
                raise ValueError(
                    f"For 'Dense', 'bias_init' must have the shape {(out_channels,)}, but got {bias_init.shape}"
                )
            init = Uniform(1 / math.sqrt(in_channels)) if bias_init is None else bias_init
            self.bias = Parameter(initializer(init, (out_channels,), dtype), "bias")
        self.activation = get_activation(activation)
        self.activation_flag = self.activation is not None

    def construct(self, x: Tensor) -> Tensor:
        """x (..., in_channels) to (..., out_channels)."""
        y = dense_op(x, self.weight, self.bias)
        return y if self.activation is None else self.activation(y)

    def extend_repr(self) -> str:
        text = f"input_channels={self.in_channels}, output_channels={self.out_channels}, has_bias={self.has_bias}"
        return text + (f", activation={self.activation}" if self.activation is not None else "")


class Flatten(Cell):
    """The axes from ``start_dim`` to ``end_dim`` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Tensor) -> Tensor:
        return flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


class Identity(Cell):
    """The input."""

    def construct(self, x: Any) -> Any:
        return x


class Embedding(Cell):
    """A row of a table for each index.

    Args:
        vocab_size: number of rows.
        embedding_size: length of a row.
        use_one_hot: compute as a product with one-hot rows.
        embedding_table: first values of the table.
        dtype: element type of the table.
        padding_idx: a row that starts as zeros.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: DType = float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = check_positive_int(vocab_size, "Embedding", "vocab_size")
        self.embedding_size = check_positive_int(embedding_size, "Embedding", "embedding_size")
        self.use_one_hot, self.padding_idx, self.dtype = use_one_hot, padding_idx, dtype
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            if not 0 <= padding_idx < vocab_size:
                raise ValueError(f"For 'Embedding', 'padding_idx' must be in [0, {vocab_size}), but got {padding_idx}")
            table[padding_idx] = 0
        self.embedding_table = Parameter(table, "embedding_table")

    def construct(self, ids: Tensor) -> Tensor:
        """Integer ids of any shape to (*shape, embedding_size)."""
        if not self.use_one_hot:
            return getitem(self.embedding_table, ids)
        rows = one_hot(reshape(ids, (-1,)), self.vocab_size, 1.0, 0.0).astype(self.dtype) @ self.embedding_table
        return reshape(rows, (*ids.shape, self.embedding_size))

    def extend_repr(self) -> str:
        return (
            f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}, use_one_hot={self.use_one_hot}, "
            f"embedding_table={self.embedding_table}, dtype={self.dtype}, padding_idx={self.padding_idx}"
        )
