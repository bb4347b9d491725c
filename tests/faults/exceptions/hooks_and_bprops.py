"""Exceptions in hooks, custom bprops, in-place writes and deeply nested cells."""

from __future__ import annotations

from typing import Any

import hookscope.engine as ms
from hookscope.engine import nn, ops

from .case import floats, raises


@raises(
    RuntimeError, "quantized layer", "The bprop returns one gradient for two inputs.", "quantize", "bprop", "2", "1"
)
def bprop_with_one_gradient_for_two_inputs() -> None:
    class Quantize(nn.Cell):
        def construct(self, x: Any, scale: Any) -> Any:
            return ops.round(x / scale) * scale

        def bprop(self, x: Any, scale: Any, out: Any, dout: Any) -> Any:
            return (dout,)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(4, 3)
            self.quantize = Quantize()

        def construct(self, x: Any) -> Any:
            return self.quantize(self.fc(x), x.max())

    net = Net()
    grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    grad_fn(floats(2, 4))  # raised


@raises(
    RuntimeError,
    "linear layer with a bprop",
    "The bprop multiplies by the weight that is not transposed.",
    "linear",
    "matmul",
    "dout",
    "(2, 3)",
    "w",
    "(4, 3)",
)
def bprop_with_a_weight_that_is_not_transposed() -> None:
    class Linear(nn.Cell):
        def construct(self, x: Any, w: Any) -> Any:
            return ops.matmul(x, w)

        def bprop(self, x: Any, w: Any, out: Any, dout: Any) -> Any:
            dx = ops.matmul(dout, w)  # raised
            return dx, ops.matmul(x.T, dout)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.linear = Linear()
            self.w = ms.Parameter(floats(4, 3), name="w")

        def construct(self, x: Any) -> Any:
            return self.linear(x, self.w)

    net = Net()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(2, 4))


@raises(
    ValueError,
    "network with a steering hook",
    "A forward hook adds a direction of another length to the output.",
    "middle",
    "add",
    "(3, 6)",
    "(5,)",
    "direction",
    "output",
)
def hook_that_adds_another_length() -> None:
    direction = floats(5)

    def steer(cell: Any, inputs: Any, output: Any) -> Any:
        return output + direction  # raised

    class Steered(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.middle = nn.Dense(4, 6)
            self.last = nn.Dense(6, 2)

        def construct(self, x: Any) -> Any:
            return self.last(self.middle(x))

    steered = Steered()
    steered.middle.register_forward_hook(steer)
    steered(floats(3, 4))


@raises(
    ValueError,
    "network with a clipping hook",
    "A backward hook returns the gradient summed over the batch.",
    "bottleneck",
    "backward",
    "(5, 3)",
    "(3,)",
)
def backward_hook_that_sums_over_the_batch() -> None:
    class Bottleneck(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(3, 3)

        def construct(self, x: Any) -> Any:
            return self.fc(x)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.wide = nn.Dense(4, 3)
            self.bottleneck = Bottleneck()

        def construct(self, x: Any) -> Any:
            return self.bottleneck(self.wide(x))

    net = Net()
    net.bottleneck.register_backward_hook(lambda cell, grad_input, grad_output: grad_input[0].sum(0))
    grad_fn = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    grad_fn(floats(5, 4))  # raised


@raises(
    KeyError,
    "network with recorded activations",
    "A hook looks up a layer that it has not recorded.",
    "second",
    "second",
    "first",
    "seen",
)
def hook_that_looks_up_another_layer() -> None:
    class Pair(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Dense(3, 3)
            self.second = nn.Dense(3, 3)

        def construct(self, x: Any) -> Any:
            return self.second(self.first(x))

    seen: dict[str, Any] = {}
    net = Pair()

    def record(cell: Any, inputs: Any, output: Any) -> None:
        seen["first"] = output

    def compare(cell: Any, inputs: Any, output: Any) -> None:
        seen["gap"] = output - seen["second"]  # raised

    net.first.register_forward_hook(record)
    net.second.register_forward_hook(compare)
    net(floats(2, 3))


@raises(
    AttributeError,
    "activation with a bprop",
    "The bprop reads an attribute that construct never set.",
    "activate",
    "sign",
    "bprop",
)
def bprop_without_its_attribute() -> None:
    class Hard(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.clamp(x, -1.0, 1.0)

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * self.sign,)  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(3, 2)
            self.activate = Hard()

        def construct(self, x: Any) -> Any:
            return self.activate(self.fc(x))

    net = Net()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(4, 3))


@raises(
    ValueError,
    "averaged weights",
    "The average of one layer is written into another.",
    None,
    "(5, 4)",
    "(3, 5)",
    "1.weight",
)
def averages_written_into_another_layer() -> None:
    teacher = nn.SequentialCell(nn.Dense(4, 5), nn.Dense(5, 3))
    student = nn.SequentialCell(nn.Dense(4, 5), nn.Dense(5, 3))
    student(floats(2, 4))
    student[0].weight.copy_(0.9 * student[0].weight + 0.1 * teacher[0].weight)
    student[1].weight.copy_(teacher[0].weight)  # raised


@raises(
    ValueError,
    "nested containers",
    "The second layer of an inner container does not fit the first.",
    "body.1.2",
    "(2, 7)",
    "7",
    "6",
    "body.1.2.weight",
    "body.1.1",
)
def layer_deep_in_containers() -> None:
    class Deep(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            inner = nn.SequentialCell(nn.Dense(5, 7), nn.ReLU(), nn.Dense(6, 2))
            self.body = nn.SequentialCell(nn.Dense(3, 5), inner)

        def construct(self, x: Any) -> Any:
            return self.body(x)  # raised

    Deep()(floats(2, 3))
