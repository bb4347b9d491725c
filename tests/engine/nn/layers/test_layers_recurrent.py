"""Recurrent layers against numbers recorded from MindSpore 2.10, against a loop in float64, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, filled, gradients, wave

import hookscope.engine as ms
from hookscope.engine import Tensor, nn

Array = np.ndarray[Any, Any]


def run(kind: str, x: tuple[int, ...] = (5, 2, 3), hx: Any = None, seq: Any = None, **keywords: Any) -> Any:
    layer = filled(getattr(nn, kind)(3, 4, **keywords))
    return layer(wave(*x), hx, None if seq is None else Tensor(np.array(seq, np.int32)))


def state(kind: str, *shape: int) -> Any:
    """Return one state, or two for an LSTM."""
    return (wave(*shape, k=1.0), wave(*shape, k=2.0)) if kind == "LSTM" else wave(*shape, k=1.0)


def step(kind: str, x: tuple[int, ...] = (2, 3), h: int = 4, g: bool = False, **keywords: Any) -> Any:
    cell, hx = filled(getattr(nn, kind)(3, 4, **keywords)), wave(x[0], h, k=2.0)
    argument: Any = (hx, wave(x[0], h, k=3.0)) if kind == "LSTMCell" else hx
    return gradients(cell, wave(*x), argument) if g else cell(wave(*x), argument)


KINDS: dict[str, Callable[[str], Any]] = {
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
CASES: dict[str, Callable[[], Any]] = {
    f"{kind} {name}": partial(make, kind)
    for kind in ("RNN", "LSTM", "GRU")
    for name, make in KINDS.items()
    if kind == "RNN" or "relu" not in name
}


@pytest.mark.parametrize("name", CASES)
def test_a_recurrent_layer_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


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
        inputs = [weights[f"{name}_l0{ending}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        want, h, c = loop(kind, x[:: -1 if side else 1], first[0, side], first[1, side], *inputs)
        result = out.asnumpy()[..., 4 * side : 4 * side + 4]
        np.testing.assert_allclose(result, want[:: -1 if side else 1], rtol=1e-10)
        for end, expected in zip(ends if kind == "LSTM" else [ends], (h, c), strict=False):
            np.testing.assert_allclose(end.asnumpy()[side], expected, rtol=1e-10)


@pytest.mark.parametrize("count", [2, 0])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_no_steps_leave_the_state_and_the_gradient_passes_to_it(kind: str, both: bool, count: int) -> None:
    layer = getattr(nn, kind)(3, 4, bidirectional=both)
    random = np.random.default_rng(2)
    first, by = random.standard_normal((2, 2, 1 + both, count, 4)).astype(np.float32)

    def states(x: Tensor, h: Tensor, c: Tensor) -> list[Tensor]:
        out, ends = layer(x, (h, c) if kind == "LSTM" else h)
        assert out.shape == (0, count, 4 * (1 + both))
        return list(ends) if kind == "LSTM" else [ends]

    def weighed(*inputs: Tensor) -> Tensor:
        return sum((end * Tensor(w)).sum() for end, w in zip(states(*inputs), by, strict=False))  # type: ignore[return-value]

    inputs = [Tensor(np.zeros((0, count, 3), np.float32)), *map(Tensor, first)]
    for end, start in zip(states(*inputs), first, strict=False):
        np.testing.assert_array_equal(end.asnumpy(), start)
    of_inputs, of_weights = ms.grad(weighed, (0, 1, 2), layer.trainable_params())(*inputs)
    assert of_inputs[0].shape == (0, count, 3)
    np.testing.assert_array_equal(of_inputs[1].asnumpy(), by[0])
    np.testing.assert_array_equal(of_inputs[2].asnumpy(), by[1] if kind == "LSTM" else 0 * by[1])
    for weight, result in zip(layer.trainable_params(), of_weights, strict=True):
        np.testing.assert_array_equal(result.asnumpy(), np.zeros(weight.shape))


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


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_dropout_is_between_the_layers_while_training(kind: str) -> None:
    def ends(layers: int, p: float, training: bool) -> tuple[Array, Array]:
        layer = filled(getattr(nn, kind)(3, 4, layers, dropout=p))
        ms.set_seed(4)
        output, states = layer.set_train(training)(wave(5, 2, 3))
        return output.asnumpy(), (states[0] if kind == "LSTM" else states).asnumpy()

    for layers, training in ((1, True), (1, False), (3, False)):
        for end, want in zip(ends(layers, 0.5, training), ends(layers, 0.0, training), strict=True):
            np.testing.assert_array_equal(end, want)
    (output, end), (plain, want) = ends(3, 0.5, True), ends(3, 0.0, True)
    np.testing.assert_array_equal(end[0], want[0])  # the first layer sees the whole input
    assert abs(end[1:] - want[1:]).max((1, 2)).min() > 1e-4
    np.testing.assert_array_equal(output[-1], end[-1])  # and the last output is whole
    assert abs(output - plain).max() > 1e-4


@pytest.mark.parametrize("layer", [nn.RNN, nn.RNNCell])
def test_a_nonlinearity_is_tanh_or_relu(layer: Any) -> None:
    with pytest.raises(ValueError, match="'nonlinearity' must be 'tanh' or 'relu', but got 'gelu'"):
        layer(3, 4, nonlinearity="gelu")
