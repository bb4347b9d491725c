"""Converters of gradient operators that networks also use by name: each is its formula."""

from __future__ import annotations

import math

from .draft import Draft, Edge, converts
from .reductions import reduced

__all__: list[str] = []


@converts("relu_grad")
def _relu_grad(d: Draft, g: Edge, y: Edge) -> Edge:
    return d.where(y > 0, g, 0)


@converts("sigmoid_grad")
def _sigmoid_grad(d: Draft, g: Edge, y: Edge) -> Edge:
    g, y = g.wide(), y.wide()
    return g * y * (1.0 - y)


@converts("tanh_grad")
def _tanh_grad(d: Draft, g: Edge, y: Edge) -> Edge:
    g, y = g.wide(), y.wide()
    return g * (1.0 - y * y)


@converts("silu_grad")
def _silu_grad(d: Draft, g: Edge, x: Edge) -> Edge:
    g, x = g.wide(), x.wide()
    gate = d.each("Sigmoid", x)
    return g * gate * (1.0 + x * (1.0 - gate))


@converts("gelu_grad")
def _gelu_grad(d: Draft, g: Edge, x: Edge, approximate: str) -> Edge:
    g, x = g.wide(), x.wide()
    if approximate == "tanh":
        slope, cubic = math.sqrt(2 / math.pi), 0.044715
        bend = d.each("Tanh", x * slope * (1.0 + x * x * cubic))
        return g * ((bend + 1.0) * 0.5 + x * 0.5 * (1.0 - bend * bend) * ((x * x * (3 * cubic) + 1.0) * slope))
    below = (d.each("Erf", x * math.sqrt(0.5)) + 1.0) * 0.5
    return g * (below + x * d.each("Exp", x * x * -0.5) * (1 / math.sqrt(2 * math.pi)))


@converts("softmax_grad")
def _softmax_grad(d: Draft, g: Edge, y: Edge, axis: int) -> Edge:
    g, y = g.wide(), y.wide()
    product = g * y
    return product - y * reduced(d, "ReduceSum", product, axis, True)


@converts("log_softmax_grad")
def _log_softmax_grad(d: Draft, g: Edge, y: Edge, axis: int) -> Edge:
    g, y = g.wide(), y.wide()
    return g - d.each("Exp", y) * reduced(d, "ReduceSum", g, axis, True)
