"""Attention and the transformer against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from recorded import check, filled, gradients, wave

import hookscope.engine as ms
from hookscope.engine import Tensor, nn


def mha(
    *settings: Any,
    q: tuple[int, ...] = (4, 2, 8),
    kv: tuple[int, ...] = (5, 2, 8),
    g: bool = False,
    call: dict[str, Any] | None = None,
    **named: Any,
) -> Any:
    """What attention gives for waves; with ``g`` the gradients of the first output by query, key and value."""
    layer, how = filled(nn.MultiheadAttention(*settings, **named), 0.4), call or {}
    inputs = (wave(*q), wave(*kv, k=1.0), wave(*kv[:-1], named.get("vdim") or kv[-1], k=2.0))
    if g:
        return ms.grad(lambda *x: (layer(*x, **how)[0] * wave(*q, k=0.3)).sum(), (0, 1, 2))(*inputs)
    return layer(*inputs, **how)


def kpm() -> Tensor:
    return Tensor(np.array([[0, 0, 0, 0, 1], [0, 1, 1, 0, 0]], bool))


def am() -> Tensor:
    return Tensor(np.triu(np.ones((4, 5), bool), 2))


def amf() -> Tensor:
    return Tensor(np.triu(np.ones((4, 5), np.float32) * -2, 1))


def sq() -> Tensor:
    return Tensor(np.triu(np.ones((4, 4), bool), 1))


def kp4() -> Tensor:
    return Tensor(np.array([[0, 0, 0, 1], [0, 1, 0, 0]], bool))


def stacked(layer: Any, stack: Any, layers: int | None) -> Any:
    norm = {"norm": nn.LayerNorm((8,))} if layers and layers > 1 else {}
    cell = filled(layer if layers is None else stack(layer, layers, **norm), 0.4)
    cell.set_train(False)
    return cell


def enc(*settings: Any, call: Any = None, layers: int | None = None, g: bool = False, **named: Any) -> Any:
    layer = nn.TransformerEncoderLayer(*settings, dropout=0.0, **named)
    cell = stacked(layer, nn.TransformerEncoder, layers)
    return gradients(cell, wave(4, 2, 8)) if g else cell(wave(4, 2, 8), **(call or {}))


def dec(
    *settings: Any,
    call: Any = None,
    layers: int | None = None,
    g: bool = False,
    x: tuple[int, ...] = (4, 2, 8),
    m: tuple[int, ...] = (5, 2, 8),
    **named: Any,
) -> Any:
    layer = nn.TransformerDecoderLayer(*settings, dropout=0.0, **named)
    cell = stacked(layer, nn.TransformerDecoder, layers)
    return gradients(cell, wave(*x), wave(*m, k=1.0)) if g else cell(wave(*x), wave(*m, k=1.0), **(call or {}))


CASES: dict[str, Callable[[], Any]] = {
    "mha": lambda: mha(8, 2),
    "mha grad": lambda: mha(8, 2, g=True),
    "mha no weights": lambda: mha(8, 2, call={"need_weights": False}),
    "mha per head": lambda: mha(8, 2, call={"average_attn_weights": False}),
    "mha key mask": lambda: mha(8, 2, call={"key_padding_mask": kpm()}),
    "mha attn mask": lambda: mha(8, 2, call={"attn_mask": am()}),
    "mha float mask": lambda: mha(8, 2, call={"attn_mask": amf()}),
    "mha both masks": lambda: mha(
        8, 2, call={"attn_mask": am(), "key_padding_mask": kpm(), "average_attn_weights": False}
    ),
    "mha mask per head": lambda: mha(8, 2, call={"attn_mask": Tensor(np.arange(80).reshape(4, 4, 5) % 3 == 0)}),
    "mha batch first": lambda: mha(8, 2, batch_first=True, q=(2, 4, 8), kv=(2, 5, 8)),
    "mha unbatched": lambda: mha(8, 2, q=(4, 8), kv=(5, 8)),
    "mha no bias": lambda: mha(8, 2, has_bias=False),
    "mha bias_kv": lambda: mha(8, 2, add_bias_kv=True),
    "mha zero_attn": lambda: mha(8, 2, add_zero_attn=True),
    "mha kdim": lambda: mha(8, 2, kdim=6, vdim=7, kv=(5, 2, 6)),
    "enc": lambda: enc(8, 2, 16),
    "enc grad": lambda: enc(8, 2, 16, g=True),
    "enc norm first": lambda: enc(8, 2, 16, norm_first=True),
    "enc gelu": lambda: enc(8, 2, 16, activation="gelu"),
    "enc batch first": lambda: enc(8, 2, 16, batch_first=True),
    "enc masks": lambda: enc(8, 2, 16, call={"src_mask": sq(), "src_key_padding_mask": kp4()}),
    "enc stack": lambda: enc(8, 2, 16, layers=1),
    "enc stack 2 norm": lambda: enc(8, 2, 16, layers=2),
    "enc stack masks": lambda: enc(8, 2, 16, layers=2, call={"src_mask": sq(), "src_key_padding_mask": kp4()}),
    "dec": lambda: dec(8, 2, 16),
    "dec grad": lambda: dec(8, 2, 16, g=True),
    "dec norm first": lambda: dec(8, 2, 16, norm_first=True),
    "dec gelu": lambda: dec(8, 2, 16, activation="gelu"),
    "dec batch first": lambda: dec(8, 2, 16, batch_first=True, x=(2, 4, 8), m=(2, 5, 8)),
    "dec masks": lambda: dec(
        8,
        2,
        16,
        call={
            "tgt_mask": sq(),
            "tgt_key_padding_mask": kp4(),
            "memory_mask": am(),
            "memory_key_padding_mask": kpm(),
        },
    ),
    "dec stack": lambda: dec(8, 2, 16, layers=2, call={"tgt_mask": sq()}),
    "transformer": lambda: filled(nn.Transformer(8, 2, 1, 1, 16, dropout=0.0), 0.4)(
        wave(4, 2, 8), wave(3, 2, 8, k=1.0)
    ),
    "transformer masks": lambda: filled(
        nn.Transformer(8, 2, 2, 2, 16, dropout=0.0, norm_first=True, batch_first=True), 0.4
    )(wave(2, 4, 8), wave(2, 4, 8, k=1.0), src_mask=sq(), tgt_mask=sq(), src_key_padding_mask=kp4()),
}
REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("mha bad heads", lambda: mha(8, 3), ValueError, "'num_heads'"),
    ("mha bad x", lambda: mha(8, 2, q=(4, 2, 7)), ValueError, "'query'"),
    (
        "mha bad mask shape",
        lambda: mha(8, 2, call={"attn_mask": Tensor(np.zeros((3, 3), bool))}),
        ValueError,
        "'attn_mask'",
    ),
    (
        "mha bad mask dtype",
        lambda: mha(8, 2, call={"attn_mask": Tensor(np.zeros((4, 5), np.int32))}),
        ValueError,
        "a mask must be",
    ),
    (
        "mha bad key mask",
        lambda: mha(8, 2, call={"key_padding_mask": Tensor(np.zeros((2, 3), bool))}),
        ValueError,
        "'key_padding_mask'",
    ),
    ("enc bad activation", lambda: enc(8, 2, 16, activation="tanhx"), ValueError, "'activation'"),
    (
        "transformer bad batch",
        lambda: nn.Transformer(8, 2, 1, 1, 16)(wave(4, 2, 8), wave(3, 3, 8)),
        ValueError,
        "'src'",
    ),
    (
        "transformer bad width",
        lambda: nn.Transformer(8, 2, 1, 1, 16)(wave(4, 2, 6), wave(3, 2, 6)),
        ValueError,
        "'src'",
    ),
]


@pytest.mark.parametrize("name", CASES)
def test_attention_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


@pytest.mark.parametrize(("make", "error", "names"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_attention_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], names: str) -> None:
    with pytest.raises(error, match=names):
        make()


def test_attention_without_weights_is_a_tuple_of_one() -> None:
    x = wave(4, 2, 8)
    net = filled(nn.MultiheadAttention(8, 2), 0.4)
    found = net(x, x, x, need_weights=False)
    assert isinstance(found, tuple) and len(found) == 1
    np.testing.assert_array_equal(found[0].asnumpy(), net(x, x, x)[0].asnumpy())
