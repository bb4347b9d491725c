"""The rows of ``training.py`` in JAX, each step one jitted function: loss, gradients and optimizer.

The networks are functions of dictionaries of arrays by PyTorch's names, so that they have the same first values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax  # type: ignore[import-not-found, unused-ignore]  # the peer's interpreter has it
import jax.numpy as jnp  # type: ignore[import-not-found, unused-ignore]
from jax import lax  # type: ignore[import-not-found, unused-ignore]
from rows_common import Step, labels, normal, weights  # type: ignore[import-not-found, unused-ignore]

Shapes = dict[str, tuple[int, ...]]


def _adam(p: Any, g: Any, state: Any, count: Any) -> Any:
    m = 0.9 * state[0] + 0.1 * g
    v = 0.999 * state[1] + 0.001 * g * g
    rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    return p - rate * m / (jnp.sqrt(v) + 1e-8), (m, v)


def _momentum(p: Any, g: Any, state: Any, _count: Any) -> Any:
    v = 0.9 * state[0] + g
    return p - 0.01 * v, (v,)


def _training(forward: Any, shapes: Shapes, inputs: Any, targets: Any, adam: bool = False) -> Step:
    """Return a training step; ``forward(parameters, x)`` returns the logits."""
    update, states = (_adam, 2) if adam else (_momentum, 1)
    x, y = jnp.asarray(inputs), jnp.asarray(targets)

    def loss_of(parameters: Any, x: Any, y: Any) -> Any:
        chances = jax.nn.log_softmax(forward(parameters, x))
        return -jnp.take_along_axis(chances, y[:, None], 1).mean()

    def step(parameters: Any, state: Any, count: Any, x: Any, y: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(parameters, x, y)
        new = {name: update(p, gradients[name], state[name], count) for name, p in parameters.items()}
        return loss, {n: each[0] for n, each in new.items()}, {n: each[1] for n, each in new.items()}, count + 1

    compiled = jax.jit(step, donate_argnums=(0, 1, 2))
    parameters = {name: jnp.asarray(weights(name, shape)) for name, shape in shapes.items()}
    state_of_training = [
        parameters,
        {n: tuple(jnp.zeros_like(p) for _ in range(states)) for n, p in parameters.items()},
    ]
    state_of_training.append(jnp.ones((), jnp.float32))

    def run() -> Any:
        loss, *state_of_training[:] = compiled(*state_of_training, x, y)
        return jax.block_until_ready(loss)

    return Step(run, float)


def add() -> Step:
    x, y = jnp.asarray(normal(4)), jnp.asarray(normal(4))
    sum_of = jax.jit(lambda x, y: x + y)
    return Step(lambda: jax.block_until_ready(sum_of(x, y)), lambda out: float(out.sum()))


def small_operators() -> Step:
    x = jnp.asarray(normal(4))
    w, b = jnp.full(4, 0.5), jnp.ones(4)

    def chain(x: Any) -> Any:
        y = x
        for _ in range(25):
            y = (y * w + b - x) * w
        return y.sum()

    gradient = jax.jit(jax.grad(chain))
    return Step(lambda: jax.block_until_ready(gradient(x)), lambda g: float(g.sum()))


def _linear(p: Any, name: str, x: Any) -> Any:
    return x @ p[f"{name}.weight"].T + p[f"{name}.bias"]


def _shapes_of_linear(name: str, inputs: int, outputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def mlp() -> Step:
    def forward(p: Any, x: Any) -> Any:
        return _linear(p, "4", jax.nn.relu(_linear(p, "2", jax.nn.relu(_linear(p, "0", x)))))

    shapes = _shapes_of_linear("0", 784, 512) | _shapes_of_linear("2", 512, 512) | _shapes_of_linear("4", 512, 10)
    return _training(forward, shapes, normal(64, 784), labels(64))


def _convolution(p: Any, name: str, x: Any, stride: int = 1, padding: int = 0) -> Any:
    y = lax.conv_general_dilated(x, p[f"{name}.weight"], (stride, stride), [(padding, padding)] * 2)
    return y + p[f"{name}.bias"][:, None, None] if f"{name}.bias" in p else y


def lenet() -> Step:
    def pooled(x: Any) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    def forward(p: Any, x: Any) -> Any:
        x = pooled(jax.nn.relu(_convolution(p, "0", x, padding=2)))
        x = pooled(jax.nn.relu(_convolution(p, "3", x))).reshape(len(x), -1)
        return _linear(p, "11", jax.nn.relu(_linear(p, "9", jax.nn.relu(_linear(p, "7", x)))))

    shapes = {"0.weight": (6, 1, 5, 5), "0.bias": (6,), "3.weight": (16, 6, 5, 5), "3.bias": (16,)}
    shapes |= _shapes_of_linear("7", 400, 120) | _shapes_of_linear("9", 120, 84) | _shapes_of_linear("11", 84, 10)
    return _training(forward, shapes, normal(64, 1, 28, 28), labels(64), adam=True)


def _batch_norm(p: Any, name: str, x: Any) -> Any:
    # As in training; the other libraries' moving averages do not affect the loss.
    mean = x.mean((0, 2, 3), keepdims=True)
    variance = jnp.square(x - mean).mean((0, 2, 3), keepdims=True)
    scale, shift = (p[f"{name}.{which}"][:, None, None] for which in ("weight", "bias"))
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift


def resnet18() -> Step:
    plan = [
        (64, 64, 1),
        (64, 64, 1),
        (64, 128, 2),
        (128, 128, 1),
        (128, 256, 2),
        (256, 256, 1),
        (256, 512, 2),
        (512, 512, 1),
    ]
    shapes: Shapes = {"conv1.weight": (64, 3, 3, 3), "bn1.weight": (64,), "bn1.bias": (64,)}
    for index, (channels, out, stride) in enumerate(plan):
        block = f"block{index}"
        shapes |= {f"{block}.conv1.weight": (out, channels, 3, 3), f"{block}.conv2.weight": (out, out, 3, 3)}
        norms = [f"{block}.bn1", f"{block}.bn2"]
        if stride != 1 or channels != out:
            shapes[f"{block}.downsample.0.weight"] = (out, channels, 1, 1)
            norms.append(f"{block}.downsample.1")
        shapes |= {f"{norm}.{which}": (out,) for norm in norms for which in ("weight", "bias")}
    shapes |= _shapes_of_linear("fc", 512, 10)

    def forward(p: Any, x: Any) -> Any:
        x = jax.nn.relu(_batch_norm(p, "bn1", _convolution(p, "conv1", x, padding=1)))
        for index, (_, _, stride) in enumerate(plan):
            block = f"block{index}"
            y = jax.nn.relu(_batch_norm(p, f"{block}.bn1", _convolution(p, f"{block}.conv1", x, stride, 1)))
            y = _batch_norm(p, f"{block}.bn2", _convolution(p, f"{block}.conv2", y, padding=1))
            if f"{block}.downsample.0.weight" in p:
                x = _batch_norm(p, f"{block}.downsample.1", _convolution(p, f"{block}.downsample.0", x, stride))
            x = jax.nn.relu(x + y)
        return _linear(p, "fc", x.mean((2, 3)))

    return _training(forward, shapes, normal(32, 3, 32, 32), labels(32))


def _layer_norm(p: Any, name: str, x: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]


def transformer() -> Step:
    shapes: Shapes = {}
    for index in range(4):
        name = f"encoder.layers.{index}"
        shapes |= {f"{name}.self_attn.in_proj_weight": (768, 256), f"{name}.self_attn.in_proj_bias": (768,)}
        shapes |= _shapes_of_linear(f"{name}.self_attn.out_proj", 256, 256)
        shapes |= _shapes_of_linear(f"{name}.linear1", 256, 1024) | _shapes_of_linear(f"{name}.linear2", 1024, 256)
        shapes |= {f"{name}.{norm}.{which}": (256,) for norm in ("norm1", "norm2") for which in ("weight", "bias")}
    shapes |= _shapes_of_linear("fc", 256, 10)

    def attended(p: Any, name: str, x: Any) -> Any:
        batch, length, width = x.shape
        joined = x @ p[f"{name}.in_proj_weight"].T + p[f"{name}.in_proj_bias"]
        q, k, v = jnp.moveaxis(joined.reshape(batch, length, 3, 4, width // 4), 2, 0)
        return _linear(p, f"{name}.out_proj", jax.nn.dot_product_attention(q, k, v).reshape(x.shape))

    def forward(p: Any, x: Any) -> Any:
        for index in range(4):
            name = f"encoder.layers.{index}"
            x = _layer_norm(p, f"{name}.norm1", x + attended(p, f"{name}.self_attn", x))
            inner = _linear(p, f"{name}.linear2", jax.nn.relu(_linear(p, f"{name}.linear1", x)))
            x = _layer_norm(p, f"{name}.norm2", x + inner)
        return _linear(p, "fc", x.mean(1))

    return _training(forward, shapes, normal(8, 128, 256), labels(8), adam=True)


def lstm() -> Step:
    shapes: Shapes = {f"lstm.weight_{which}_l0": (512, 128) for which in ("ih", "hh")}
    shapes |= {f"lstm.bias_{which}_l0": (512,) for which in ("ih", "hh")} | _shapes_of_linear("fc", 128, 10)

    def forward(p: Any, x: Any) -> Any:
        def step(state: Any, inner: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(inner + h @ p["lstm.weight_hh_l0"].T, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        inner = x @ p["lstm.weight_ih_l0"].T + (p["lstm.bias_ih_l0"] + p["lstm.bias_hh_l0"])
        first = jnp.zeros((len(x), 128), x.dtype)
        (h, _), _ = lax.scan(step, (first, first), jnp.swapaxes(inner, 0, 1))
        return _linear(p, "fc", h)

    return _training(forward, shapes, normal(32, 64, 128), labels(32), adam=True)


ROWS: dict[str, Callable[[], Step]] = {
    row.__name__: row for row in (add, small_operators, mlp, lenet, resnet18, transformer, lstm)
}
