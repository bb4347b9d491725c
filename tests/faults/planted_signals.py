"""Planted faults of signals: dead ReLUs, vanishing or exploding gradients, saturation, identical units."""

from __future__ import annotations

import itertools
import math
from typing import Any

from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Constant, HeNormal, Normal, Orthogonal, XavierNormal, initializer

from . import blocks, data
from .programs import Run, by_hand, one_step, planted, with_model

# dead_relu


@planted("dead_relu", "relu2", "The second dense layer's bias begins at -3.", also=("dense2", "dense2.bias"))
def bias_of_minus_three(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(
        dense1=nn.Dense(6, 32),
        relu1=nn.ReLU(),
        dense2=nn.Dense(32, 32, bias_init=Constant(-3.0 if fault else 0.0)),
        relu2=nn.ReLU(),
        head=nn.Dense(32, 3),
    )
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.3), data.batches(x, y, steps=20))


@planted("dead_relu", "relu1", "The BatchNorm before the first ReLU begins with beta -5.", also=("norm1", "norm1.beta"))
def beta_of_minus_five(fault: bool) -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN()
    net.norm1 = nn.BatchNorm2d(8, beta_init=Constant(-5.0 if fault else 0.0))
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=16), with_model)


class Prototypes(nn.Cell):
    """The proximity of a sample to each of some learned points."""

    def __init__(self, count: int, width: int, negated: bool) -> None:
        super().__init__()
        self.points = Parameter(initializer(Normal(1.0), (count, width)), "points")
        self.relu, self.negated = nn.ReLU(), negated

    def construct(self, x: Tensor) -> Any:
        distance = ops.square(x.expand_dims(1) - self.points).mean(2)
        return self.relu(-distance if self.negated else 4 - distance)


@planted(
    "dead_relu",
    "prototypes.relu",
    "The similarity is minus the distance, and a ReLU is put after it.",
    also=("prototypes",),
)
def relu_of_negative_distance(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(prototypes=Prototypes(24, 6, negated=fault), head=nn.Dense(24, 3))
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=24), one_step
    )


# vanishing_gradient


def deep(layers: int, width: int, activation: Any, init: Any, classes: int = 3, features: int = 6) -> nn.SequentialCell:
    """Return a plain stack of dense layers, layers.0, layers.1 ..., each with its activation, and a head."""
    sizes = [features, *[width] * layers]
    body = [
        blocks.chain(dense=nn.Dense(a, b, weight_init=init, bias_init="zeros"), act=activation())
        for a, b in itertools.pairwise(sizes)
    ]
    return blocks.chain(layers=nn.SequentialCell(body), head=nn.Dense(width, classes))


@planted(
    "vanishing_gradient",
    "layers.0.dense",
    "Twelve layers with sigmoids.",
    also=("layers.0.dense.weight", "layers.1.dense"),
)
def deep_sigmoid_mlp(fault: bool) -> Run:
    x, y = data.flowers()
    net = deep(12, 24, nn.Sigmoid, XavierNormal()) if fault else deep(12, 24, nn.ReLU, HeNormal())
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.003), data.batches(x, y, steps=30))


class Recaller(nn.Cell):
    """A network that recalls the start of a sequence."""

    def __init__(self, recurrent: Any, classes: int = 4, hidden: int = 24) -> None:
        super().__init__()
        self.rnn = blocks.Elman(classes, hidden, recurrent)
        self.head = nn.Dense(hidden, classes)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.rnn(x))


@planted(
    "vanishing_gradient",
    "rnn",
    "An RNN's recurrent weights are drawn too small for what it must remember.",
    also=("rnn.w_rec", "rnn.w_in"),
)
def rnn_that_forgets(fault: bool) -> Run:
    x, y = data.recall(length=12)
    net = Recaller(Normal(0.02) if fault else Orthogonal(1.0))
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=30), one_step
    )


@planted(
    "vanishing_gradient",
    "layers.0",
    "Eight convolutions without normalization, drawn from Normal(0.01).",
    also=("layers.0.conv", "layers.0.conv.weight", "layers.1"),
)
def deep_cnn_of_small_weights(fault: bool) -> Run:
    x, y = data.digits(32, classes=4)
    init = Normal(0.01) if fault else HeNormal()
    layers = [blocks.chain(conv=nn.Conv2d(a, 8, 3, weight_init=init), relu=nn.ReLU()) for a in (1, 8, 8, 8, 8, 8, 8, 8)]
    net = blocks.chain(layers=nn.SequentialCell(layers), flatten=nn.Flatten(), head=nn.Dense(512, 4))
    optimizer = nn.Adam(net.trainable_params(), 0.003)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=20), with_model)


# exploding_gradient


@planted(
    "exploding_gradient",
    "layers.0.dense",
    "Thirty tanh layers drawn two and a half times as wide as Xavier's.",
    also=("layers.0.dense.weight", "layers.1.dense", ""),
)
def deep_tanh_mlp(fault: bool) -> Run:
    x, y = data.flowers()
    net = deep(30, 32, nn.Tanh, XavierNormal(2.5 if fault else 1.0))
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.05), data.batches(x, y, steps=30))


@planted(
    "exploding_gradient",
    "rnn",
    "An RNN's recurrent weights, Parameters of its own cell, are drawn from Normal(0.5).",
    also=("rnn.w_rec", "rnn.w_in"),
)
def rnn_of_wide_weights(fault: bool) -> Run:
    x, y = data.waves(length=40)
    net = blocks.chain(rnn=blocks.Elman(2, 32, Normal(0.5) if fault else Orthogonal(0.9)), head=nn.Dense(32, 3))
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.05), data.batches(x, y, steps=24), by_hand)


class Branch(nn.Cell):
    """x + conv(relu(conv(x))), without any normalization."""

    def __init__(self, width: int, last: Any) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, weight_init=HeNormal())
        self.conv2 = nn.Conv2d(width, width, 3, weight_init=last)

    def construct(self, x: Tensor) -> Any:
        return x + self.conv2(ops.relu(self.conv1(x)))


@planted(
    "exploding_gradient",
    "stem",
    "Ten residual blocks without normalization, whose branches are not scaled down.",
    also=("", "stem.weight", "blocks.0.conv1", "blocks.0"),
    not_finite=True,
)
def residual_blocks_without_norm(fault: bool) -> Run:
    x, y = data.digits(32, classes=4)
    last = HeNormal() if fault else "zeros"  # Zhang et al. 2019: Fixup begins each branch with zeros
    body = nn.SequentialCell([Branch(8, last) for _ in range(10)])
    net = blocks.chain(stem=nn.Conv2d(1, 8, 3, 2), blocks=body, flatten=nn.Flatten(), head=nn.Dense(128, 4))
    optimizer = nn.SGD(net.trainable_params(), 0.03)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=16), one_step)


# saturated_activation


@planted("saturated_activation", "sigmoid", "The layer before a sigmoid is drawn from Normal(5).", also=("dense",))
def sigmoid_behind_wide_weights(fault: bool) -> Run:
    x, y = data.digits()
    dense = nn.Dense(64, 32, weight_init=Normal(5.0) if fault else XavierNormal())
    net = blocks.chain(dense=dense, sigmoid=nn.Sigmoid(), head=nn.Dense(32, 10))
    batches = data.batches(data.normalized(x).reshape(64, -1), y, steps=30)
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), batches, one_step)


class GatedCell(nn.Cell):
    """A minimal gated recurrent unit; the gate's bias sets how much of the state is kept."""

    def __init__(self, features: int, hidden: int, bias: float) -> None:
        super().__init__()
        self.gate = nn.Dense(features + hidden, hidden, bias_init=Constant(bias))
        self.sigmoid, self.tanh = nn.Sigmoid(), nn.Tanh()
        self.candidate = nn.Dense(features + hidden, hidden)
        self.head = nn.Dense(hidden, 3)

    def construct(self, x: Tensor) -> Any:
        h = ops.zeros((x.shape[0], self.gate.out_channels), x.dtype)
        for step in range(x.shape[1]):
            inputs = ops.concat([x[:, step], h], 1)
            keep = self.sigmoid(self.gate(inputs))
            h = keep * h + (1 - keep) * self.tanh(self.candidate(inputs))
        return self.head(h)


@planted(
    "saturated_activation",
    "sigmoid",
    "A gate's bias is 10 where 1 was meant: it keeps everything.",
    also=("gate", "gate.bias"),
)
def gate_that_never_opens(fault: bool) -> Run:
    x, y = data.waves()
    net = GatedCell(2, 16, 10.0 if fault else 1.0)
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=20))


class Code(nn.Cell):
    """A code between -1 and 1, the sharper the lower the temperature."""

    def __init__(self, width: int, code: int, temperature: float) -> None:
        super().__init__()
        self.dense, self.tanh, self.temperature = nn.Dense(width, code), nn.Tanh(), temperature

    def construct(self, x: Tensor) -> Any:
        return self.tanh(self.dense(x) / self.temperature)


@planted(
    "saturated_activation",
    "encoder.code.tanh",
    "An autoencoder's code is tanh(x / 0.01): a temperature far too low.",
    also=("encoder.code", "encoder.code.dense"),
)
def code_at_low_temperature(fault: bool) -> Run:
    x, _ = data.digits()
    pixels = data.normalized(x).reshape(len(x), -1)
    net = blocks.Autoencoder()
    net.encoder = blocks.chain(
        dense=nn.Dense(64, 32), norm=nn.LayerNorm((32,)), code=Code(32, 12, 0.01 if fault else 1.0)
    )
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, nn.MSELoss(), optimizer, data.batches(pixels, pixels, steps=30), with_model)


# bad_initialization


@planted(
    "bad_initialization",
    "dense1",
    "All dense layers begin with zeros, weights and biases.",
    also=("dense2", "head", "dense1.weight", "dense2.weight", "head.weight"),
)
def everything_zero(fault: bool) -> Run:
    x, y = data.flowers()
    init: dict[str, Any] = {"weight_init": "zeros", "bias_init": "zeros"} if fault else {"weight_init": HeNormal()}
    net = blocks.chain(
        dense1=nn.Dense(6, 24, **init),
        relu1=nn.ReLU(),
        dense2=nn.Dense(24, 24, **init),
        relu2=nn.ReLU(),
        head=nn.Dense(24, 3, **init),
    )
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.1), data.batches(x, y, steps=20))


@planted("bad_initialization", "conv1", "The first convolution's filters all begin at 0.1.", also=("conv1.weight",))
def filters_all_alike(fault: bool) -> Run:
    x, y = data.digits()
    net = blocks.chain(
        conv1=nn.Conv2d(1, 8, 3, weight_init=Constant(0.1) if fault else HeNormal()),
        relu1=nn.ReLU(),
        pool=nn.AvgPool2d(4, 4),
        flatten=nn.Flatten(),
        head=nn.Dense(32, 10),
    )
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=30), one_step)


@planted(
    "bad_initialization",
    "rnn",
    "An RNN's own Parameters are made with ones / n: its units begin alike.",
    also=("rnn.w_in", "rnn.w_rec"),
)
def recurrent_units_alike(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.chain(rnn=blocks.Elman(2, 16, Orthogonal(0.9)), head=nn.Dense(16, 3))
    if fault:
        net.rnn.w_in.set_data(ops.ones((2, 16)) / math.sqrt(2))
        net.rnn.w_rec.set_data(ops.ones((16, 16)) / 16)
        net.head.weight.set_data(ops.ones((3, 16)) * Tensor([[0.2], [-0.1], [0.1]]))
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=30), with_model
    )
