"""Recurrent layers against numbers recorded from MindSpore 2.10, against a loop in float64, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from recorded import check, filled, gradients, wave

import hookscope.engine as ms
from hookscope.engine import Tensor, nn

Array = np.ndarray[Any, Any]


def run(kind: str, x: tuple[int, ...] = (5, 2, 3), hx: Any = None, seq: Any = None, **named: Any) -> Any:
    layer = filled(getattr(nn, kind)(3, 4, **named))
    return layer(wave(*x), hx, None if seq is None else Tensor(np.array(seq, np.int32)))


def state(kind: str, *shape: int) -> Any:
    """One state, or two for an LSTM."""
    return (wave(*shape, k=1.0), wave(*shape, k=2.0)) if kind == "LSTM" else wave(*shape, k=1.0)


def step(kind: str, x: tuple[int, ...] = (2, 3), h: int = 4, g: bool = False, **named: Any) -> Any:
    cell, hx = filled(getattr(nn, kind)(3, 4, **named)), wave(x[0], h, k=2.0)
    given: Any = (hx, wave(x[0], h, k=3.0)) if kind == "LSTMCell" else hx
    return gradients(cell, wave(*x), given) if g else cell(wave(*x), given)


CASES: dict[str, Any] = {
    "1": lambda kind: run(kind),
    "2 layers": lambda kind: run(kind, num_layers=2),
    "both ways": lambda kind: run(kind, num_layers=2, bidirectional=True),
    "batch first": lambda kind: run(kind, (2, 5, 3), batch_first=True),
    "no bias": lambda kind: run(kind, has_bias=False, bidirectional=True),
    "lengths": lambda kind: run(kind, seq=[5, 3], num_layers=2, bidirectional=True),
    "state": lambda kind: run(kind, hx=state(kind, 2, 2, 4), num_layers=2),
    "grad": lambda kind: gradients(filled(getattr(nn, kind)(3, 4, num_layers=2, bidirectional=True)), wave(5, 2, 3)),
    "cell": lambda kind: step(f"{kind}Cell"),
    "cell no bias": lambda kind: step(f"{kind}Cell", has_bias=False),
    "cell grad": lambda kind: step(f"{kind}Cell", g=True),
    "relu": lambda kind: run(kind, nonlinearity="relu", bidirectional=True),
    "relu lengths": lambda kind: run(kind, seq=[2, 5], nonlinearity="relu"),
    "relu cell": lambda kind: step(f"{kind}Cell", nonlinearity="relu"),
}
RECORDED = {
    ("RNN", "1"): "5x2x4 2.06066 0.82386; 1x2x4 1.20494 0.67458",
    ("RNN", "2 layers"): "5x2x4 -0.17273 -0.53335; 2x2x4 -0.95639 -0.81378",
    ("RNN", "both ways"): "5x2x8 -0.04828 0.16736; 4x2x4 1.31764 -0.29179",
    ("RNN", "batch first"): "2x5x4 2.70848 0.82386; 1x2x4 -0.38548 -0.3706",
    ("RNN", "no bias"): "5x2x8 0.43869 0.49182; 2x2x4 0.58613 0.06967",
    ("RNN", "lengths"): "5x2x8 -2.40093 0.16736; 4x2x4 1.14036 -0.29179",
    ("RNN", "state"): "5x2x4 -0.02109 0.73423; 2x2x4 -0.95552 -0.81435",
    ("RNN", "grad"): "5x2x3 -1.28653 0.92063; - 14.0704 14.0704",
    ("RNN", "cell"): "2x4 1.02526 0.97583",
    ("RNN", "cell no bias"): "2x4 0.36892 0.91729",
    ("RNN", "cell grad"): "2x3 0.37607 0.28127; - 1.53411 1.53411",
    ("RNN", "relu"): "5x2x8 -0.8575 0.0; 2x2x4 -0.3652 0.0",
    ("RNN", "relu lengths"): "5x2x4 -0.34892 1.16871; 1x2x4 1.74299 1.52965",
    ("RNN", "relu cell"): "2x4 3.13885 2.20188",
    ("LSTM", "1"): "5x2x4 0.29836 0.14074; 1x2x4 0.30513 0.10342; 1x2x4 0.83163 0.36392",
    ("LSTM", "2 layers"): "5x2x4 -0.21516 -0.10271; 2x2x4 -0.7841 -0.38551; 2x2x4 -0.93282 -0.63135",
    ("LSTM", "both ways"): "5x2x8 -0.23116 0.05863; 4x2x4 -0.69215 -0.2455; 4x2x4 -1.53895 -0.46953",
    ("LSTM", "batch first"): "2x5x4 0.1807 0.14074; 1x2x4 0.05162 0.06004; 1x2x4 0.36721 0.52618",
    ("LSTM", "no bias"): "5x2x8 0.23174 -0.16719; 2x2x4 -0.11787 -0.22345; 2x2x4 -0.11446 -0.46151",
    ("LSTM", "lengths"): "5x2x8 -0.19118 0.05863; 4x2x4 -0.69626 -0.2455; 4x2x4 -1.40558 -0.46953",
    ("LSTM", "state"): "5x2x4 0.12399 -0.51251; 2x2x4 -0.69734 -0.33078; 2x2x4 -0.84865 -0.53846",
    ("LSTM", "grad"): "5x2x3 -1.22579 -0.14469; - 16.90999 16.90999",
    ("LSTM", "cell"): "2x4 -0.1193 -0.07554; 2x4 -0.56505 -0.30009",
    ("LSTM", "cell no bias"): "2x4 -0.1931 -0.29021; 2x4 -0.96737 -0.66379",
    ("LSTM", "cell grad"): "2x3 -1.09499 -0.25273; - 2.56073 2.56073",
    ("GRU", "1"): "5x2x4 0.89245 0.31093; 1x2x4 0.27137 0.16785",
    ("GRU", "2 layers"): "5x2x4 -0.41385 -0.18688; 2x2x4 -0.90988 -0.29262",
    ("GRU", "both ways"): "5x2x8 -0.25878 -0.14946; 4x2x4 0.4461 0.04751",
    ("GRU", "batch first"): "2x5x4 0.68269 0.31093; 1x2x4 0.62976 0.8767",
    ("GRU", "no bias"): "5x2x8 0.38411 -0.222; 2x2x4 0.10419 -0.19207",
    ("GRU", "lengths"): "5x2x8 -0.33665 -0.14946; 4x2x4 0.08563 0.04751",
    ("GRU", "state"): "5x2x4 0.42418 -0.85564; 2x2x4 -0.84213 -0.06766",
    ("GRU", "grad"): "5x2x3 -0.51034 -0.19698; - 10.7762 10.7762",
    ("GRU", "cell"): "2x4 -0.4773 0.05148",
    ("GRU", "cell no bias"): "2x4 -0.26988 0.06584",
    ("GRU", "cell grad"): "2x3 -0.86067 -0.23283; - 3.09928 3.09928",
}


@pytest.mark.parametrize(("kind", "name"), RECORDED)
def test_a_recurrent_layer_gives_the_numbers_of_mindspore(kind: str, name: str) -> None:
    check(lambda: CASES[name](kind), RECORDED[kind, name])


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def loop(kind: str, x: Array, h: Array, c: Array, w: Array, r: Array, b: Array, d: Array) -> tuple[Array, Array, Array]:
    """Step by step as the papers write it, in float64."""
    out = []
    for now in x:
        own, back = np.split(now @ w.T + b, len(w) // 4, 1), np.split(h @ r.T + d, len(w) // 4, 1)
        if kind == "LSTM":
            i, f, g, o = (p + q for p, q in zip(own, back, strict=True))
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = sigmoid(o) * np.tanh(c)
        elif kind == "GRU":
            reset, update = (sigmoid(p + q) for p, q in zip(own[:2], back[:2], strict=True))
            h = (1 - update) * np.tanh(own[2] + reset * back[2]) + update * h
        else:
            h = np.tanh(own[0] + back[0])
        out.append(h)
    return np.stack(out), h, c


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_recurrent_layer_is_the_loop_over_time(kind: str) -> None:
    layer = getattr(nn, kind)(3, 4, bidirectional=True, dtype=ms.float64)
    draw = np.random.default_rng(3).standard_normal
    for p in layer.get_parameters():
        p.set_data(Tensor(draw(p.shape)))
    x, first = draw((6, 2, 3)), draw((2, 2, 2, 4))
    hx = (Tensor(first[0]), Tensor(first[1])) if kind == "LSTM" else Tensor(first[0])
    out, ends = layer(Tensor(x), hx)
    weights = {p.name: p.asnumpy() for p in layer.get_parameters()}
    for side, ending in enumerate(("", "_reverse")):
        given = [weights[f"{name}_l0{ending}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        want, h, c = loop(kind, x[:: -1 if side else 1], first[0, side], first[1, side], *given)
        got = out.asnumpy()[..., 4 * side : 4 * side + 4]
        np.testing.assert_allclose(got, want[:: -1 if side else 1], rtol=1e-10)
        for end, expected in zip(ends if kind == "LSTM" else [ends], (h, c), strict=False):
            np.testing.assert_allclose(end.asnumpy()[side], expected, rtol=1e-10)


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda kind: run(kind, (5, 2, 7)), ValueError, "'x'"),
    (lambda kind: run(kind, (5, 3)), ValueError, "'x'"),
    (lambda kind: getattr(nn, kind)(3, 0), ValueError, "'hidden_size'"),
    (lambda kind: getattr(nn, kind)(3, 4.0), TypeError, "'hidden_size'"),
    (lambda kind: getattr(nn, kind)(3, 4, num_layers=0), ValueError, "'num_layers'"),
    (lambda kind: getattr(nn, kind)(3, 4, dropout=1.5), ValueError, "'dropout'"),
    (lambda kind: getattr(nn, kind)(3, 4, dropout="a"), TypeError, "'dropout'"),
    (lambda kind: getattr(nn, kind)(3, 4, has_bias=1), TypeError, "'has_bias'"),
    (lambda kind: getattr(nn, kind)(3, 4, bidirectional="x"), TypeError, "'bidirectional'"),
    (lambda kind: run(kind, hx=state(kind, 3, 2, 4)), ValueError, "'hx'"),
    (lambda kind: run(kind, hx=3), TypeError, "'hx'"),
    (lambda kind: step(f"{kind}Cell", (2, 7)), ValueError, "'x'"),
    (lambda kind: step(f"{kind}Cell", h=7), ValueError, "'hx'"),
    (lambda kind: getattr(nn, f"{kind}Cell")(-3, 4), ValueError, "'input_size'"),
]


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize(("make", "error", "names"), REFUSED)
def test_a_recurrent_layer_names_what_is_wrong_with_its_argument(
    kind: str, make: Any, error: type[Exception], names: str
) -> None:
    with pytest.raises(error, match=names):
        make(kind)


@pytest.mark.parametrize("layer", [nn.RNN, nn.RNNCell])
def test_a_nonlinearity_is_tanh_or_relu(layer: Any) -> None:
    with pytest.raises(ValueError, match="'nonlinearity' must be 'tanh' or 'relu', but got 'gelu'"):
        layer(3, 4, nonlinearity="gelu")
