"""Attention and the transformer against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from function_cases import agrees
from recorded import check, filled, gradients, wave
from scipy import special

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.ops.neural.attention import attention, attention_weights


def mha(
    *settings: Any,
    q: tuple[int, ...] = (4, 2, 8),
    kv: tuple[int, ...] = (5, 2, 8),
    g: bool = False,
    call: dict[str, Any] | None = None,
    **keywords: Any,
) -> Any:
    """Return attention for waves; with ``g`` the gradients of the first output by query, key and value."""
    layer, how = filled(nn.MultiheadAttention(*settings, **keywords), 0.4), call or {}
    inputs = (wave(*q), wave(*kv, k=1.0), wave(*kv[:-1], keywords.get("vdim") or kv[-1], k=2.0))
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


def enc(*settings: Any, call: Any = None, layers: int | None = None, g: bool = False, **keywords: Any) -> Any:
    layer = nn.TransformerEncoderLayer(*settings, dropout=0.0, **keywords)
    cell = stacked(layer, nn.TransformerEncoder, layers)
    return gradients(cell, wave(4, 2, 8)) if g else cell(wave(4, 2, 8), **(call or {}))


def dec(
    *settings: Any,
    call: Any = None,
    layers: int | None = None,
    g: bool = False,
    x: tuple[int, ...] = (4, 2, 8),
    m: tuple[int, ...] = (5, 2, 8),
    **keywords: Any,
) -> Any:
    layer = nn.TransformerDecoderLayer(*settings, dropout=0.0, **keywords)
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
        call={"tgt_mask": sq(), "tgt_key_padding_mask": kp4(), "memory_mask": am(), "memory_key_padding_mask": kpm()},
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


def attended(layer: Any, q: Any, k: Any, v: Any, added: Any) -> tuple[Any, Any]:
    """Return attention of (N, L, E) in float64 by its formula, with an additive mask (N, heads, L, S)."""
    n, heads, e = q.shape[0], layer.num_heads, q.shape[-1]
    weights, biases = (np.split(variant.asnumpy(), 3) for variant in (layer.in_proj_weight, layer.in_proj_bias))
    q, k, v = (x @ w.T + b for x, w, b in zip((q, k, v), weights, biases, strict=True))
    extra = [variant for variant in (layer.bias_k, layer.bias_v) if variant is not None]
    if extra:
        k, v = (
            np.concatenate([x, np.tile(item.asnumpy(), (n, 1, 1))], 1) for x, item in zip((k, v), extra, strict=True)
        )
    if layer.add_zero_attn:
        k, v = (np.concatenate([x, np.zeros((n, 1, e))], 1) for x in (k, v))
    q, k, v = (x.reshape(n, -1, heads, e // heads).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(e // heads)
    scores[..., : added.shape[-1]] += added  # what was put behind the keys may always be looked at
    shares = special.softmax(scores, -1)
    joined = (shares @ v).transpose(0, 2, 1, 3).reshape(n, -1, e)
    return joined @ layer.out_proj.weight.asnumpy().T + layer.out_proj.bias.asnumpy(), shares


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("which", ["none", "keys", "pairs", "pairs of each head", "both"])
def test_masks_are_for_the_keys_that_were_given(biases: bool, zeros: bool, which: str) -> None:
    numbers = np.random.default_rng(6)
    how = {"add_bias_kv": biases, "add_zero_attn": zeros}
    layer: Any = nn.MultiheadAttention(8, 2, batch_first=True, **how, dtype=ms.float64)
    for parameter in layer.get_parameters():
        parameter.set_data(Tensor(numbers.standard_normal(parameter.shape) / 2))
    q, k, v = (numbers.standard_normal((2, length, 8)) for length in (4, 5, 5))
    pairs = numbers.standard_normal((2 * 2, 4, 5) if "each" in which else (4, 5))
    keys = np.array([[0, 0, 0, 0, 1], [0, 1, 1, 0, 0]], bool)
    call, added = {}, np.zeros((2, 2, 4, 5))
    if "pairs" in which or which == "both":
        call["attn_mask"] = Tensor(pairs)
        added = added + (pairs.reshape(2, 2, 4, 5) if pairs.ndim == 3 else pairs)
    if which in ("keys", "both"):
        call["key_padding_mask"] = Tensor(keys)
        added = added + np.where(keys, -np.inf, 0)[:, None, None]
    result, shares = layer(Tensor(q), Tensor(k), Tensor(v), average_attn_weights=False, **call)
    want, want_shares = attended(layer, q, k, v, added)
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(shares.asnumpy(), want_shares, rtol=1e-9, atol=1e-12)
    (output,) = layer(Tensor(q), Tensor(k), Tensor(v), need_weights=False, **call)
    np.testing.assert_array_equal(output.asnumpy(), result.asnumpy())
    for name, shape in (("attn_mask", (4, 6)), ("attn_mask", (3, 4, 5)), ("key_padding_mask", (2, 6))):
        with pytest.raises(ValueError, match=f"'{name}' must have the shape"):
            layer(Tensor(q), Tensor(k), Tensor(v), **{name: Tensor(np.zeros(shape, bool))})


def test_attention_drops_weights_while_training_alone() -> None:
    plain, dropping = (filled(nn.MultiheadAttention(8, 2, dropout=p), 0.4) for p in (0.0, 0.5))
    inputs = wave(4, 2, 8), wave(5, 2, 8, k=1.0), wave(5, 2, 8, k=2.0)

    def ends(layer: Any, training: bool) -> tuple[Any, Any]:
        output, weights = layer.set_train(training)(*inputs, average_attn_weights=False)
        return output.asnumpy(), weights.asnumpy()

    expected = ends(plain, False)
    for result in (ends(plain, True), ends(dropping, False)):
        np.testing.assert_array_equal(result[0], expected[0])
        np.testing.assert_array_equal(result[1], expected[1])
    output, weights = ends(dropping, True)
    mask = weights != 0
    assert 0.25 < mask.mean() < 0.75
    np.testing.assert_allclose(weights[mask], 2 * expected[1][mask], rtol=1e-6)
    assert abs(output - expected[0]).max() > 1e-4


def of_large(masked: bool, double: bool = False) -> tuple[Any, Any, Any]:
    """Return a layer, inputs and a mask, large enough for compiled kernels; in Float64 with ``double``."""
    numbers = np.random.default_rng(7)
    layer: Any = nn.MultiheadAttention(16, 2, batch_first=True, dtype=ms.float64 if double else ms.float32)
    for parameter in layer.get_parameters():
        drawn = (numbers.standard_normal(parameter.shape) / 4).astype(np.float32)
        parameter.set_data(Tensor(drawn, parameter.dtype))
    dtype = np.float64 if double else np.float32
    inputs = [Tensor(numbers.standard_normal((2, 70, 16)).astype(np.float32).astype(dtype)) for _ in range(3)]
    mask = numbers.standard_normal((70, 70)).astype(np.float32).astype(dtype)
    return layer, inputs, Tensor(mask) if masked else None


@pytest.mark.parametrize("masked", [False, True])
def test_large_attention_agrees_with_float64_and_has_the_same_bits_without_its_weights(masked: bool) -> None:
    results = []
    for double in (True, False):
        layer, inputs, mask = of_large(masked, double)

        def loss(*arguments: Any, layer: Any = layer, mask: Any = mask) -> Any:
            output = layer(*arguments, attn_mask=mask, need_weights=False)[0]
            return (output * output).sum(), output

        (_, output), (of_inputs, of_weights) = ms.value_and_grad(
            loss, (0, 1, 2), layer.trainable_params(), has_aux=True
        )(*inputs)
        results.append([output, *of_inputs, *of_weights])
        np.testing.assert_array_equal(layer(*inputs, attn_mask=mask)[0].asnumpy(), output.asnumpy())
    for value, reference in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(
            value.asnumpy(), reference.asnumpy(), rtol=1e-4, atol=1e-5 * abs(reference.asnumpy()).max()
        )


def test_gradients_of_large_attention_for_masks_and_weights_and_of_second_order() -> None:
    """Cases that the kernels leave to the table of operators agree with Float64."""
    numbers, results = np.random.default_rng(8), []
    drawn = [numbers.standard_normal(shape) for shape in ((2, 130, 4), (2, 130, 4), (2, 130, 3), (130, 130))]
    for dtype in (np.float64, np.float32):
        inputs = [Tensor(x.astype(dtype)) for x in drawn]

        def all_of(q: Any, k: Any, v: Any, mask: Any) -> Any:
            y = attention(q, k, v, mask)
            return (y * y * y).sum() + (attention_weights(q, k, mask) ** 2.0).sum()

        def slope(*inputs: Any) -> Any:
            return (ms.grad(lambda q: (attention(q, *inputs[1:]) ** 2.0).sum())(inputs[0]) ** 2.0).sum()

        results.append([*ms.grad(all_of, (0, 1, 2, 3))(*inputs), *ms.grad(slope, (0, 1, 2, 3))(*inputs)])
    for reference, value in zip(*results, strict=True):
        np.testing.assert_allclose(
            value.asnumpy(), reference.asnumpy(), rtol=1e-3, atol=1e-5 * abs(reference.asnumpy()).max()
        )


def test_the_settings_of_a_transformer_reach_all_its_parts() -> None:
    net = nn.Transformer(8, 2, 2, 3, 16, 0.25, "gelu", None, None, 0.5, True, True, ms.float16)
    cells = [cell for _, cell in net.cells_and_names()]

    def settings(kind: Any, name: str) -> list[Any]:
        return [getattr(cell, name) for cell in cells if isinstance(cell, kind)]

    assert len(net.encoder.layers) == 2 and len(net.decoder.layers) == 3
    assert settings(nn.LayerNorm, "epsilon") == [0.5] * (2 * 2 + 3 * 3 + 2)
    assert settings(nn.Dropout, "p") == [0.25] * (2 * 3 + 3 * 4)
    assert settings(nn.MultiheadAttention, "dropout") == [0.25] * (2 + 3 * 2)
    assert set(settings(nn.MultiheadAttention, "batch_first")) == {True}
    assert set(settings((nn.TransformerEncoderLayer, nn.TransformerDecoderLayer), "norm_first")) == {True}
    assert len(settings(nn.GELU, "training")) == 5
    assert {p.dtype for p in net.get_parameters()} == {ms.float16}


def test_the_two_inputs_of_a_transformer_differ_in_length_but_not_in_their_batch() -> None:
    for batch_first in (False, True):
        net = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=batch_first)
        assert net(wave(4, 2, 8), wave(4, 2, 8)).shape == (4, 2, 8)
        first, two, second = ((2, 4, 8), (2, 3, 8), (3, 4, 8)) if batch_first else ((4, 2, 8), (3, 2, 8), (4, 3, 8))
        assert net(wave(*first), wave(*two)).shape == two
        with pytest.raises(ValueError, match="'src' and 'tgt' must have one batch size"):
            net(wave(*first), wave(*second))
        assert net(wave(4, 8), wave(3, 8)).shape == (3, 8)


@pytest.mark.parametrize("name", CASES)
def test_attention_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


@pytest.mark.parametrize(("make", "error", "names"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_attention_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], names: str) -> None:
    with pytest.raises(error, match=names):
        make()


@pytest.mark.parametrize(("masked", "heads"), [(False, 2), (True, 2), (True, 1)])
def test_attention_has_second_derivatives_through_its_result_and_its_weights(masked: bool, heads: int) -> None:
    rng = np.random.default_rng(3)
    q, k, v, mask = (rng.standard_normal(shape) for shape in ((2, 3, 2), (heads, 4, 2), (heads, 4, 3), (3, 4)))

    def loss(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        output, weights = attention(q, k, v, mask, 0.7), attention_weights(q, k, mask, 0.7)
        return (output * output).sum() + (weights * weights * weights).sum()

    inputs = [q, k, v, mask] if masked else [q, k, v]
    for index in range(len(inputs)):
        agrees(ms.grad(loss, index), *inputs)


def test_attention_without_weights_is_a_tuple_of_one() -> None:
    x = wave(4, 2, 8)
    net = filled(nn.MultiheadAttention(8, 2), 0.4)
    result = net(x, x, x, need_weights=False)
    assert isinstance(result, tuple) and len(result) == 1
    np.testing.assert_array_equal(result[0].asnumpy(), net(x, x, x)[0].asnumpy())
