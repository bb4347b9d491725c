"""Multi-head attention and the transformer (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import MOST_LAYERS, check_at_most, check_int, check_positive_int, check_type
from ...base.types import Array
from ...cpu.array_module import array_module
from ...ops.linalg.matmul import dense
from ...ops.neural.attention import attention, attention_weights
from ...ops.shapes.concatenation import parts_operator
from ...tensors.dtype import DType, float32
from ...tensors.initializer import XavierNormal, XavierUniform, initializer
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import compute
from .._documentation import explained_by
from ..cell import Cell
from ..container import CellList
from .activation import GELU, ReLU
from .dropout import Dropout
from .linear import Dense
from .normalization import LayerNorm

__all__ = [
    "MultiheadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


class MultiheadAttention(Cell):
    """softmax(Q @ K.T / sqrt(head length)) @ V in several heads, with trained projections (Vaswani et al. 2017).

    Args:
        embed_dim: length E of the queries and of the output, an int above 0.
        num_heads: number of heads; divides ``embed_dim``.
        dropout: probability of 0 for each weight, in training.
        has_bias: whether the projections have biases.
        add_bias_kv: whether to append a trained key and value.
        add_zero_attn: whether to append a key and a value of zeros.
        kdim: length of the keys; None is ``embed_dim``.
        vdim: length of the values; None is ``embed_dim``.
        batch_first: whether the inputs are (N, L, E) instead of (L, N, E).
        dtype: element type of the parameters.

    Raises:
        ValueError: ``num_heads`` does not divide ``embed_dim``, or one of them is not above 0.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        has_bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        for argument, count in (("embed_dim", embed_dim), ("num_heads", num_heads)):
            check_positive_int(count, "MultiheadAttention", argument)
        if embed_dim % num_heads:
            raise ValueError(f"For 'MultiheadAttention', 'num_heads' {num_heads} must divide 'embed_dim' {embed_dim}")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        self._same = self.kdim == embed_dim and self.vdim == embed_dim
        uniform = XavierUniform()
        if self._same:
            self.in_proj_weight = Parameter(initializer(uniform, (3 * embed_dim, embed_dim), dtype), "in_proj_weight")
        else:
            self.q_proj_weight = Parameter(initializer(uniform, (embed_dim, embed_dim), dtype), "q_proj_weight")
            self.k_proj_weight = Parameter(initializer(uniform, (embed_dim, self.kdim), dtype), "k_proj_weight")
            self.v_proj_weight = Parameter(initializer(uniform, (embed_dim, self.vdim), dtype), "v_proj_weight")
        self.in_proj_bias: Parameter | None = None
        if has_bias:
            self.in_proj_bias = Parameter(initializer("zeros", (3 * embed_dim,), dtype), "in_proj_bias")
        self.out_proj = Dense(embed_dim, embed_dim, has_bias=has_bias, bias_init="zeros", dtype=dtype)
        self.bias_k: Parameter | None = None
        self.bias_v: Parameter | None = None
        if add_bias_kv:
            self.bias_k = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), "bias_k")
            self.bias_v = Parameter(initializer(XavierNormal(), (1, 1, embed_dim), dtype), "bias_v")

    def construct(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, ...]:
        """Return the attention output for each query, and the attention weights.

        Args:
            query: the queries (L, N, E), (N, L, E) with ``batch_first``, or (L, E).
            key: the keys (S, N, kdim), (N, S, kdim) or (S, kdim).
            value: the values (S, N, vdim), (N, S, vdim) or (S, vdim).
            key_padding_mask: (N, S), or (S,) without a batch: True for keys to ignore, or floats to add to the
                scores.
            need_weights: whether the weights are returned.
            attn_mask: (L, S) or (N * num_heads, L, S): True for masked pairs, or floats to add to the scores.
            average_attn_weights: whether the weights are averaged over the heads.

        Returns:
            The output in the form of ``query``, and the weights (N, L, S), (N, num_heads, L, S) without
            ``average_attn_weights``, without N for inputs without a batch; without ``need_weights`` only the output, a
            tuple of one.

        Raises:
            ValueError: a shape that does not fit, or a mask of integers other than uint8.
        """
        for argument, tensor in (("query", query), ("key", key), ("value", value)):
            check_type(tensor, Tensor, "MultiheadAttention", argument)
        single = query.ndim == 2
        if query.ndim not in (2, 3) or key.ndim != query.ndim or value.ndim != query.ndim:
            raise ValueError(
                f"For 'MultiheadAttention', 'query', 'key' and 'value' must all have 2 or 3 axes, but got shapes "
                f"{query.shape}, {key.shape} and {value.shape}"
            )
        if single:
            query, key, value = (ops.expand_dims(x, 0) for x in (query, key, value))
            if key_padding_mask is not None:
                key_padding_mask = ops.expand_dims(key_padding_mask, 0)
        elif not self.batch_first:
            query, key, value = (ops.transpose(x, (1, 0, 2)) for x in (query, key, value))
        if query.shape[2] != self.embed_dim:
            raise ValueError(
                f"For 'MultiheadAttention', 'query' must have {self.embed_dim} as its last length: {query.shape}"
            )
        q, k, v = self._projected(query, key, value)
        n, length, heads, size = query.shape[0], query.shape[1], self.num_heads, self.head_dim
        grown = 0
        if self.bias_k is not None and self.bias_v is not None:
            k = ops.concat([k, ops.broadcast_to(self.bias_k, (n, 1, self.embed_dim))], 1)
            v = ops.concat([v, ops.broadcast_to(self.bias_v, (n, 1, self.embed_dim))], 1)
            grown += 1
        if self.add_zero_attn:
            zeros = ops.mul(ops.getitem(k, (slice(None), slice(0, 1))), 0.0)
            k, v = ops.concat([k, zeros], 1), ops.concat([v, zeros], 1)
            grown += 1
        mask = self._mask(attn_mask, key_padding_mask, n, k, grown)

        def split(x: Tensor) -> Tensor:
            return ops.transpose(ops.reshape(x, (n, x.shape[1], heads, size)), (0, 2, 1, 3))

        q, k, v = split(q), split(k), split(v)
        dropping = self.training and self.dropout
        weights = attention_weights(q, k, mask) if dropping or need_weights else None
        if weights is not None and dropping:
            weights = ops.dropout(weights, float(self.dropout))
            output = ops.matmul(weights, v)
        else:
            output = attention(q, k, v, mask)
        output = self.out_proj(ops.reshape(ops.transpose(output, (0, 2, 1, 3)), (n, length, self.embed_dim)))
        if single:
            output = ops.squeeze(output, 0)
        elif not self.batch_first:
            output = ops.transpose(output, (1, 0, 2))
        if weights is None or not need_weights:
            return (output,)
        if average_attn_weights:
            weights = ops.mean(weights, 1)
        return output, ops.squeeze(weights, 0) if single else weights

    def _projected(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        # Three products even if the three are one tensor: this cannot be detected where a hook has marked
        # them, and a single product has other bits.
        e = self.embed_dim
        if self._same:
            weights = parts_operator(self.in_proj_weight, axis=0, sizes=(e,) * 3)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases: Any = (None,) * 3
        if self.in_proj_bias is not None:
            biases = parts_operator(self.in_proj_bias, axis=0, sizes=(e,) * 3)
        return tuple(dense(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))

    def _mask(self, attn_mask: Tensor | None, padding: Tensor | None, n: int, k: Tensor, grown: int) -> Tensor | None:
        """Return both masks as numbers to add, (N or 1, heads or 1, L or 1, S)."""
        total = None
        dtype = k._array.dtype
        if attn_mask is not None:
            mask = _additive(attn_mask, dtype)
            lengths = (attn_mask.shape[-2] if mask.ndim > 1 else None, k.shape[1] - grown)
            if mask.shape not in (lengths, (n * self.num_heads, *lengths)):
                raise ValueError(
                    f"For 'MultiheadAttention', 'attn_mask' must have the shape (L, {lengths[1]}) or "
                    f"({n * self.num_heads}, L, {lengths[1]}), but got {mask.shape}"
                )
            if mask.ndim == 3:
                mask = mask.reshape(n, self.num_heads, *mask.shape[1:])
            total = mask
        if padding is not None:
            if padding.shape != (n, k.shape[1] - grown):
                raise ValueError(
                    f"For 'MultiheadAttention', 'key_padding_mask' must have the shape {(n, k.shape[1] - grown)}, "
                    f"but got {padding.shape}"
                )
            mask = _additive(padding, dtype)[:, None, None, :]
            total = mask if total is None else total + mask
        if total is None:
            return None
        if grown:
            total = np.pad(total, [(0, 0)] * (total.ndim - 1) + [(0, grown)])
        return Tensor._wrap(total)


def _additive(mask: Tensor, dtype: np.dtype[Any]) -> Array:
    array = mask._array
    if array.dtype.kind in "iuc" and array.dtype != np.uint8:
        raise ValueError(f"For 'MultiheadAttention', a mask must be of floats, uint8 or bool, but got {mask.dtype}")
    numbers: Array = compute(_in_numbers, array, dtype=dtype)
    return numbers


def _in_numbers(mask: Array, dtype: np.dtype[Any]) -> Array:
    if mask.dtype.kind == "b":
        chosen: Array = (
            array_module(mask).where(mask, -np.inf, 0.0).astype(dtype)
        )  # a GPU synchronizes if a mask indexes
        return chosen
    return mask.astype(dtype)


class _Layer(Cell):
    """Attention and a feed-forward network, each with dropout, a residual connection and normalization.

    Args:
        d_model: length E of the last axis, an int above 0.
        nhead: number of heads; divides ``d_model``.
        num_encoder_layers: number of layers of the encoder.
        num_decoder_layers: number of layers of the decoder.
        dim_feedforward: width of the feed-forward network, an int above 0.
        dropout: probability of 0 for weights and outputs, in training; in [0, 1).
        activation: of the feed-forward network: "relu", "gelu" (the exact one), a cell or a function.
        custom_encoder: a cell that replaces the encoder, called with ``(src, src_mask, src_key_padding_mask)``; None
            for the standard one.
        custom_decoder: a cell that replaces the decoder, called like a TransformerDecoder; None for the standard one.
        layer_norm_eps: the number that the normalizations add to the variance.
        batch_first: whether inputs and outputs are (N, L, E) instead of (L, N, E).
        norm_first: whether to normalize before attention and feed-forward network, not after the residual connection.
        dtype: element type of the parameters.

    Raises:
        TypeError: a number of the wrong type, or an ``activation`` that is not callable.
        ValueError: a number out of range, or an unknown name of an ``activation``.
    """

    _attentions: tuple[str, ...] = ("self_attn",)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        for name in self._attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype))
        self.dense1 = Dense(d_model, dim_feedforward, dtype=dtype)
        self.dropout = Dropout(p=dropout)
        self.dense2 = Dense(dim_feedforward, d_model, dtype=dtype)
        self.norm_first = norm_first
        count = len(self._attentions) + 1
        for number in range(1, count + 1):
            setattr(self, f"norm{number}", LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype))
        for number in range(1, count + 1):
            setattr(self, f"dropout{number}", Dropout(p=dropout))
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise ValueError(
                    f"For '{type(self).__name__}', 'activation' must be 'relu', 'gelu', a Cell or a function, "
                    f"but got {activation!r}"
                )
            activation = ReLU() if activation == "relu" else GELU(approximate=False)
        elif not callable(activation):
            raise TypeError(f"For 'Transformer', 'activation' must be callable, but got {type(activation).__name__}")
        self.activation1 = activation

    def _around(self, number: int, x: Tensor, part: Callable[[Tensor], Tensor]) -> Tensor:
        """Return x + part(norm(x)), or norm(x + part(x))."""
        norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(part(norm(x)))
        return norm(x + dropout(part(x)))

    def _forward(self, x: Tensor) -> Tensor:
        return self.dense2(self.dropout(self.activation1(self.dense1(x))))


@explained_by(_Layer)
class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with dropout, a residual connection and normalization."""

    def construct(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None
    ) -> Tensor:
        """Return the layer's output.

        Args:
            src: the input (L, N, E), (N, L, E) with ``batch_first``, or (L, E).
            src_mask: masked positions, see ``attn_mask`` of ``MultiheadAttention``.
            src_key_padding_mask: positions to ignore (N, L), see ``key_padding_mask`` there.

        Returns:
            A Tensor of the shape of ``src``.

        Raises:
            ValueError: a shape that does not fit.
        """

        def attend(x: Tensor) -> Tensor:
            return self.self_attn(
                x, x, x, attn_mask=src_mask, key_padding_mask=src_key_padding_mask, need_weights=False
            )[0]

        return self._around(2, self._around(1, src, attend), self._forward)


@explained_by(_Layer)
class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output, and a feed-forward network.

    Each has dropout, a residual connection and normalization.
    """

    _attentions = ("self_attn", "multihead_attn")

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the layer's output.

        Args:
            tgt: the input (L, N, E), (N, L, E) with ``batch_first``, or (L, E).
            memory: the encoder's output (S, N, E), (N, S, E) or (S, E).
            tgt_mask: mask of positions of ``tgt`` for each of ``tgt``: (L, L) or (N * nhead, L, L), as ``attn_mask``
                of ``MultiheadAttention``.
            memory_mask: mask of positions of ``memory`` for each of ``tgt``, (L, S) or (N * nhead, L, S).
            tgt_key_padding_mask: positions of ``tgt`` to ignore, (N, L).
            memory_key_padding_mask: positions of ``memory`` to ignore, (N, S).

        Returns:
            A Tensor of the shape of ``tgt``.

        Raises:
            ValueError: a shape that does not fit.
        """

        def attend(x: Tensor) -> Tensor:
            return self.self_attn(
                x, x, x, attn_mask=tgt_mask, key_padding_mask=tgt_key_padding_mask, need_weights=False
            )[0]

        def look(x: Tensor) -> Tensor:
            return self.multihead_attn(
                x, memory, memory, attn_mask=memory_mask, key_padding_mask=memory_key_padding_mask, need_weights=False
            )[0]

        return self._around(3, self._around(2, self._around(1, tgt, attend), look), self._forward)


class _Stack(Cell):
    def __init__(self, layer: Cell, num_layers: int, norm: Cell | None) -> None:
        super().__init__()
        name = type(self).__name__
        check_at_most(check_int(num_layers, name, "num_layers"), MOST_LAYERS, name, "num_layers")
        self.layers = CellList([_fresh(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


def _fresh(layer: Cell) -> Cell:
    """Return a copy of a layer with separate parameters."""
    return copy.deepcopy(layer)


class TransformerEncoder(_Stack):
    """Copies of a layer one after the other, and a normalization at the end.

    Args:
        encoder_layer: the layer to copy, a TransformerEncoderLayer; the copies have its initial values, and
            separate parameters.
        num_layers: the number of copies.
        norm: a cell applied to the last output; None for none.
    """

    def __init__(self, encoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__(encoder_layer, num_layers, norm)

    def construct(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None
    ) -> Tensor:
        """Return the output of the last layer, normalized.

        Args:
            src: the input (L, N, E), (N, L, E) with ``batch_first``, or (L, E).
            src_mask: masked positions, see ``attn_mask`` of ``MultiheadAttention``.
            src_key_padding_mask: positions to ignore (N, L), see ``key_padding_mask`` there.

        Returns:
            A Tensor of the shape of ``src``.
        """
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return x if self.norm is None else self.norm(x)


class TransformerDecoder(_Stack):
    """Copies of a layer one after the other, and a normalization at the end.

    Args:
        decoder_layer: the layer to copy, a TransformerDecoderLayer; the copies have its initial values, and
            separate parameters.
        num_layers: the number of copies.
        norm: a cell applied to the last output; None for none.
    """

    def __init__(self, decoder_layer: Cell, num_layers: int, norm: Cell | None = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the output of the last layer, normalized.

        Args:
            tgt: the input (L, N, E), (N, L, E) with ``batch_first``, or (L, E).
            memory: the encoder's output (S, N, E), (N, S, E) or (S, E).
            tgt_mask: mask of positions of ``tgt`` for each of ``tgt``: (L, L) or (N * nhead, L, L), as ``attn_mask``
                of ``MultiheadAttention``.
            memory_mask: mask of positions of ``memory`` for each of ``tgt``, (L, S) or (N * nhead, L, S).
            tgt_key_padding_mask: positions of ``tgt`` to ignore, (N, L).
            memory_key_padding_mask: positions of ``memory`` to ignore, (N, S).

        Returns:
            A Tensor of the shape of ``tgt``.
        """
        x = tgt
        for layer in self.layers:
            x = layer(x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return x if self.norm is None else self.norm(x)


@explained_by(_Layer)
class Transformer(Cell):
    """An encoder and a decoder (Vaswani et al. 2017); their weights are initialized as Xavier uniform."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        settings = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            dtype,
        )

        def norm() -> LayerNorm:
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*settings), num_encoder_layers, norm()
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*settings), num_decoder_layers, norm()
        )
        for parameter in self.get_parameters():
            if parameter.ndim > 1:
                parameter.set_data(initializer(XavierUniform(), parameter.shape, parameter.dtype))
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def construct(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the decoder's output for ``tgt``, with attention to the encoder's output for ``src``.

        Args:
            src: the encoder's input (S, N, E), (N, S, E) with ``batch_first``, or (S, E).
            tgt: the decoder's input (L, N, E), (N, L, E) or (L, E).
            src_mask: mask of positions of ``src`` for each of ``src``: (S, S) or (N * nhead, S, S), as ``attn_mask``
                of ``MultiheadAttention``.
            tgt_mask: mask of positions of ``tgt`` for each of ``tgt``, (L, L) or (N * nhead, L, L).
            memory_mask: mask of positions of the encoder's output for each of ``tgt``, (L, S) or (N * nhead, L, S).
            src_key_padding_mask: positions of ``src`` to ignore, (N, S).
            tgt_key_padding_mask: positions of ``tgt`` to ignore, (N, L).
            memory_key_padding_mask: positions of the encoder's output to ignore, (N, S).

        Returns:
            A Tensor of the shape of ``tgt``.

        Raises:
            ValueError: the batches differ, or a last length is not ``d_model``.
        """
        for argument, tensor in (("src", src), ("tgt", tgt)):
            if check_type(tensor, Tensor, "Transformer", argument).ndim not in (2, 3):
                raise ValueError(f"For 'Transformer', '{argument}' must have 2 or 3 axes, but got shape {tensor.shape}")
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise ValueError(f"For 'Transformer', 'src' and 'tgt' must have one batch size: {src.shape}, {tgt.shape}")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise ValueError(
                f"For 'Transformer', 'src' and 'tgt' must have {self.d_model} as their last length: "
                f"{src.shape}, {tgt.shape}"
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
