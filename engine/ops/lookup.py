"""Looking up the rows of a table by their numbers."""

from __future__ import annotations

from ..surfaces import declare, prim
from ..tensor import Tensor
from . import arithmetic as a
from .gathering import gather
from .shape import expand_dims
from .statistics import vector_norm

__all__ = ["embedding"]

declare(primitive=prim("EmbeddingLookup"))(lambda x, indices, offset: gather(x, indices - offset, 0))


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """The rows of ``weight`` that ``input`` numbers; a row longer than ``max_norm`` is shortened to it first.

    Raises:
        NotImplementedError: ``scale_grad_by_freq``.
    """
    if scale_grad_by_freq:
        raise NotImplementedError("For 'embedding', 'scale_grad_by_freq' is not covered; scale the gradient yourself")
    rows = gather(weight, input, 0)
    if max_norm is not None:
        length = vector_norm(rows, norm_type, -1, True)
        rows = rows * a.where(length > max_norm, max_norm / (length + 1e-7), 1.0)
    if padding_idx is None:
        return rows  # type: ignore[no-any-return]
    mine = a.eq(input, padding_idx % weight.shape[0])
    return a.where(expand_dims(mine, -1), rows.data, rows)  # the row of the padding gets no gradient
