"""The operators that layers have for the ``construct`` of a subclass, as programs written for MindSpore call them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hookscope.engine import Tensor, nn, ops


def numbers(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(5).standard_normal(shape).astype(np.float32))


def test_a_convolution_of_standardized_weights_is_one_with_those_weights() -> None:
    class Standardized(nn.Conv2d):
        def construct(self, x: Tensor) -> Tensor:
            centered = self.weight - self.weight.mean((1, 2, 3), keep_dims=True)
            return self.bias_add(self.conv2d(x, centered), self.bias)

    how: Any = {"stride": 2, "pad_mode": "pad", "padding": (0, 1, 1, 2), "dilation": 2, "group": 2, "has_bias": True}
    layer: Any = Standardized(4, 6, 3, **how)
    x = numbers(2, 4, 9, 8)
    plain: Any = nn.Conv2d(4, 6, 3, **how)
    plain.weight.set_data(layer.weight - layer.weight.mean((1, 2, 3), keep_dims=True))
    plain.bias.set_data(layer.bias)
    np.testing.assert_allclose(layer(x).asnumpy(), plain(x).asnumpy(), rtol=1e-6, atol=1e-6)


def test_a_subclass_of_dense_multiplies_and_adds_by_itself() -> None:
    class Doubled(nn.Dense):
        def construct(self, x: Tensor) -> Tensor:
            return self.bias_add(self.matmul(x, self.weight * 2), self.bias)

    layer: Any = Doubled(3, 2)
    x, weight, bias = numbers(4, 3), layer.weight.asnumpy(), layer.bias.asnumpy()
    np.testing.assert_allclose(layer(x).asnumpy(), x.asnumpy() @ weight.T * 2 + bias, rtol=1e-5, atol=1e-6)


def test_a_layer_normalization_of_channels_is_one_of_moved_axes() -> None:
    class OfChannels(nn.LayerNorm):
        def construct(self, x: Tensor) -> Tensor:
            y, mean, variance = self.layer_norm(x.transpose(0, 2, 3, 1), self.gamma, self.beta)
            seen.extend([mean, variance])
            return y.transpose(0, 3, 1, 2)

    seen: list[Tensor] = []
    layer, x = OfChannels((5,), epsilon=1e-3), numbers(2, 5, 3, 4)
    given = x.asnumpy().astype(np.float64)
    mean, variance = given.mean(1, keepdims=True), given.var(1, keepdims=True)
    np.testing.assert_allclose(layer(x).asnumpy(), (given - mean) / np.sqrt(variance + 1e-3), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(seen[0].asnumpy()[..., 0], mean[:, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(seen[1].asnumpy()[..., 0], variance[:, 0], rtol=1e-5, atol=1e-6)


def test_a_subclass_may_put_its_own_operator_there() -> None:
    class Own(nn.Dense):
        def __init__(self) -> None:
            super().__init__(2, 2)
            self.matmul = ops.MatMul()

    layer = Own()
    x = numbers(3, 2)
    np.testing.assert_allclose(
        layer.matmul(x, layer.weight).asnumpy(), x.asnumpy() @ layer.weight.asnumpy(), rtol=1e-5, atol=1e-6
    )
