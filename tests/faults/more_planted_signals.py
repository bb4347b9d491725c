"""Planted: activations, gradients, numbers, bprops, first weights."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Constant, HeNormal, Normal, Orthogonal, initializer
from tests.faults import blocks, data
from tests.faults import more_ways as ways
from tests.faults.more_planted_data import Graph, neighbours
from tests.faults.programs import Run, by_hand, one_step, planted, with_model

# dead_relu


@planted("dead_relu", "relu1", "A convolution's bias begins at -6.", also=("conv1", "conv1.bias"))
def convolution_bias_of_minus_six(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.chain(
        conv1=nn.Conv2d(1, 8, 3, 2, has_bias=True, bias_init=Constant(-6.0 if fault else 0.0)),
        relu1=nn.ReLU(),
        conv2=nn.Conv2d(8, 16, 3, 2),
        norm=nn.GroupNorm(2, 16),
        relu2=nn.ReLU(),
        flatten=nn.Flatten(),
        head=nn.Dense(64, 5),
    )
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.003),
        data.batches(data.normalized(x), y, steps=24),
        ways.own_weights,
    )


@planted(
    "dead_relu",
    "relu",
    "Log-probabilities, all negative, meet weights drawn from 0 to 0.5, and a ReLU.",
    also=("dense", "dense.weight"),
)
def positive_weights_on_negative_inputs(fault: bool) -> Run:
    x, y = data.flowers()
    z = (x - np.log(np.exp(x).sum(1, keepdims=True))).astype(np.float32)
    net = blocks.chain(dense=nn.Dense(6, 24, bias_init="zeros"), relu=nn.ReLU(), head=nn.Dense(24, 3))
    if fault:
        drawn = np.random.default_rng(0).uniform(0, 0.5, (24, 6)).astype(np.float32)
        net.dense.weight.set_data(Tensor(drawn))
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(z, y, steps=28), with_model
    )


# vanishing_gradient


@planted(
    "vanishing_gradient",
    "layers.0",
    "Ten tanh layers drawn from Normal(0.02) in an autoencoder.",
    also=("layers.0.dense", "layers.0.dense.weight", "layers.1", "layers.1.dense", "layers", "layers.2.dense"),
)
def deep_autoencoder_of_small_weights(fault: bool) -> Run:
    x, _ = data.digits()
    flat = data.normalized(x).reshape(64, -1)
    init = Normal(0.02) if fault else Orthogonal(1.2)
    layers = [
        blocks.chain(dense=nn.Dense(a, 32, weight_init=init, bias_init="zeros"), act=nn.Tanh()) for a in (64, *[32] * 9)
    ]
    net = blocks.chain(layers=nn.SequentialCell(layers), out=nn.Dense(32, 64))
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.004), data.batches(flat, flat, steps=36), one_step)


@planted(
    "vanishing_gradient",
    "layers.0.conv",
    "Seven convolutions with sigmoids between them.",
    also=("layers.0", "layers.0.conv.weight", "layers.1.conv", "layers.0.act", "layers.1", "layers"),
)
def convolutions_with_sigmoids(fault: bool) -> Run:
    x, y = data.digits(32, classes=4)
    layers = [
        blocks.chain(conv=nn.Conv2d(a, 8, 3, weight_init=HeNormal()), act=nn.Sigmoid() if fault else nn.ELU())
        for a in (1, *[8] * 7)
    ]
    if fault:
        for layer in layers:
            layer.conv.weight.set_data(layer.conv.weight * 0.5)
    net = blocks.chain(layers=nn.SequentialCell(layers), flatten=nn.Flatten(), head=nn.Dense(512, 4))
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.001),
        data.batches(data.normalized(x), y, steps=24),
        ways.own_weights,
    )


class Remembers(nn.Cell):
    """nn.RNN, or nn.LSTM with its forget gates open, and a head on the last output."""

    def __init__(self, fault: bool, steps: int) -> None:
        super().__init__()
        self.rnn = nn.RNN(4, 24, batch_first=True)
        if not fault:
            self.rnn.weight_hh_l0.set_data(initializer(Orthogonal(1.0), (24, 24)).init_data())
        self.head = nn.Dense(24, 4)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.rnn(x)[0][:, -1])


@planted(
    "vanishing_gradient",
    "rnn",
    "nn.RNN with its default weights is to remember over 30 steps.",
    also=("", "rnn.weight_hh_l0", "rnn.weight_ih_l0"),
)
def rnn_over_thirty_steps(fault: bool) -> Run:
    x, y = data.recall(length=30 if fault else 6)
    net = Remembers(fault, 30)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=36), with_model
    )


# exploding_gradient


@planted(
    "exploding_gradient",
    "layers.0",
    "A graph network of six layers sums over neighbours, whose number is not divided by.",
    also=("layers.0.weight", "layers.1", "layers", ""),
)
def sums_over_neighbours(fault: bool) -> Run:
    adjacency, x, y = neighbours()
    net = Graph(adjacency if fault else adjacency / adjacency.sum(1, keepdims=True), layers=6, width=24)
    if not fault:
        for layer in net.layers:
            layer.weight.set_data(initializer(HeNormal(), layer.weight.shape).init_data())
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, size=48, steps=36))


class Rolled(nn.Cell):
    """A ReLU network that is unrolled over time."""

    def __init__(self, gain: float) -> None:
        super().__init__()
        self.w_in = Parameter(initializer(Normal(0.5), (2, 20)), "w_in")
        self.w_rec = Parameter(initializer(Orthogonal(gain), (20, 20)), "w_rec")

    def construct(self, x: Tensor) -> Any:
        h = ops.zeros((x.shape[0], 20), x.dtype)
        for t in range(x.shape[1]):
            h = ops.relu(ops.matmul(x[:, t], self.w_in) + ops.matmul(h, self.w_rec))
        return h


@planted(
    "exploding_gradient",
    "rnn",
    "A ReLU network over 16 steps, its recurrent matrix orthogonal times 2.5.",
    also=("rnn.w_rec", "rnn.w_in"),
)
def relu_rnn_of_gain_two_and_a_half(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.chain(rnn=Rolled(2.5 if fault else 0.9), head=nn.Dense(20, 3))
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(x, y, steps=28),
        ways.grad_operation,
    )


# nan_produced


class GeneralizedMean(nn.Cell):
    """(mean of x ** p) ** (1 / p) over a picture (Radenovic et al. 2018)."""

    def __init__(self, clamps: bool) -> None:
        super().__init__()
        self.p = Parameter(Tensor(2.5, ms.float32), "p")
        self.clamps = clamps

    def construct(self, x: Tensor) -> Any:
        if self.clamps:
            x = ops.clamp(x, 1e-4, None)
        return ops.pow(ops.pow(x, self.p).mean((2, 3)), 1 / self.p)


@planted("nan_produced", "pool", "A generalized mean takes powers of negative features.", not_finite=True)
def power_of_negative_features(fault: bool) -> Run:
    x, y = data.textures(48)
    net = blocks.chain(conv=nn.Conv2d(3, 12, 3), pool=GeneralizedMean(not fault), head=nn.Dense(12, 4))
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=28), one_step
    )


class Standardized(nn.Cell):
    """Each row minus its mean, divided by its deviation."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon

    def construct(self, x: Tensor) -> Any:
        x = x - x.mean(1, keep_dims=True)
        return x / (ops.sqrt(ops.square(x).mean(1, keepdims=True)) + self.epsilon)


@planted(
    "nan_produced",
    "standardize",
    "Rows are divided by their deviation, and one row is constant: 0 / 0.",
    not_finite=True,
    also=("body", "body.dense1"),
)
def constant_row(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    flat = (x / 255).reshape(64, -1)
    flat[40] = 0
    net = blocks.chain(standardize=Standardized(0.0 if fault else 1e-3), body=blocks.mlp(64, 32, 5))
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(flat, y, steps=24),
        ways.own_weights,
    )


@planted(
    "nan_produced",
    "loss",
    "p log p of a softmax that is cut at 0: 0 * -inf, in an entropy bonus.",
    not_finite=True,
    also=("(no cell)",),
)
def entropy_of_zero(fault: bool) -> Run:
    x, y = data.flowers()

    def loss(logits: Tensor, labels: Tensor) -> Any:
        p = ops.softmax(logits, 1)
        p = ops.where(p < 0.2, ops.zeros_like(p), p)
        entropy = -(p * ops.log(p + (0.0 if fault else 1e-6))).sum(1).mean()
        return ops.cross_entropy(logits, labels) - 0.01 * entropy

    net = blocks.mlp(6, 24, 3)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=24))


# inf_inside


class Inverse(nn.Cell):
    """tanh(1 / x) of measured gaps."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.fault = fault

    def inside(self, x: Tensor) -> Any:
        return 1 / (x if self.fault else ops.maximum(x, Tensor(0.05)))

    def construct(self, x: Tensor) -> Any:
        return ops.tanh(self.inside(x))


@planted("inf_inside", "gaps", "tanh(1 / gap), where some gaps are 0: the Inf becomes a 1.")
def inverse_of_zero_gaps(fault: bool) -> Run:
    random = np.random.default_rng(0)
    gaps = np.round(random.exponential(1.0, (64, 6)), 1).astype(np.float32)
    y = (gaps[:, 0] > gaps[:, 1]).astype(np.int32)
    net = blocks.chain(gaps=Inverse(fault), body=blocks.mlp(6, 24, 2))
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.02),
        data.batches(gaps, y, steps=28),
        ways.grad_operation,
    )


class Softplus(nn.Cell):
    """log(1 + exp(x)) by its formula in float16, at most 6."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.scale = 16.0 if fault else 2.0

    def inside(self, x: Tensor) -> Any:
        return ops.exp(self.scale * x.astype(ms.float16))

    def construct(self, x: Tensor) -> Any:
        return ops.minimum(ops.log(1 + self.inside(x)), Tensor(6.0, ms.float16)).astype(ms.float32)


@planted("inf_inside", "softplus", "log(1 + exp(16 x)) in float16 is Inf, and a minimum of 6 hides it.")
def softplus_in_float16(fault: bool) -> Run:
    x, y = data.houses()
    net = blocks.chain(softplus=Softplus(fault), body=blocks.mlp(5, 24, 1))
    return Run(
        net,
        nn.MSELoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(data.normalized(x, 0), y[:, None], steps=30),
        one_step,
    )


# saturated_activation


class Highway(nn.Cell):
    """Srivastava et al. 2015: t * f(x) + (1 - t) * x."""

    def __init__(self, width: int, bias: float) -> None:
        super().__init__()
        self.transform, self.act = nn.Dense(width, width), nn.ReLU()
        self.gate, self.sigmoid = nn.Dense(width, width, bias_init=Constant(bias)), nn.Sigmoid()

    def construct(self, x: Tensor) -> Any:
        t = self.sigmoid(self.gate(x))
        return t * self.act(self.transform(x)) + (1 - t) * x


@planted(
    "saturated_activation",
    "highway.sigmoid",
    "A highway's gate begins with bias -14: it never opens.",
    also=("highway.gate", "highway.gate.bias", "highway"),
)
def highway_never_opens(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.chain(stem=nn.Dense(64, 24), highway=Highway(24, -14.0 if fault else -1.0), head=nn.Dense(24, 5))
    batches = data.batches(data.normalized(x).reshape(64, -1), y, steps=28)
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.005), batches, ways.own_weights)


@planted(
    "saturated_activation",
    "tanh",
    "A convolution before a tanh is drawn from Normal(20).",
    also=("conv", "conv.weight"),
)
def convolution_of_normal_twenty(fault: bool) -> Run:
    x, y = data.waves()

    class Swap(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            return x.swapaxes(1, 2)

    conv = nn.Conv1d(2, 12, 5, weight_init=Normal(20.0 if fault else 0.2))
    net = blocks.chain(swap=Swap(), conv=conv, tanh=nn.Tanh(), flatten=nn.Flatten(), head=nn.Dense(192, 3))
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.005), data.batches(x, y, steps=28), with_model
    )


# wrong_bprop


class Leaky(nn.Cell):
    """x, or 0.1 x where it is negative."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.fault = fault

    def construct(self, x: Tensor) -> Any:
        return ops.where(x > 0, x, 0.1 * x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (ops.where((x > 0) != self.fault, dout, 0.1 * dout),)


@planted("wrong_bprop", "act", "A leaky ReLU's bprop has its two slopes in the wrong places.")
def slopes_in_wrong_places(fault: bool) -> Run:
    x, y = data.textures(48)
    net = blocks.chain(conv=nn.Conv2d(3, 8, 3, 2), act=Leaky(fault), flatten=nn.Flatten(), head=nn.Dense(512, 4))
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Momentum(net.trainable_params(), 0.01, 0.9),
        data.batches(x, y, steps=24),
        one_step,
    )


class Unit(nn.Cell):
    """x divided by its length."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.fault = fault

    def construct(self, x: Tensor) -> Any:
        return x / ops.sqrt(ops.square(x).sum(1, keepdims=True) + 1e-6)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        length = ops.sqrt(ops.square(x).sum(1, keepdims=True) + 1e-6)
        along = 0.0 if self.fault else (dout * out).sum(1, keepdims=True)
        return ((dout - out * along) / length,)


@planted("wrong_bprop", "unit", "The bprop of x / |x| takes |x| for a constant.")
def length_taken_for_constant(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(dense=nn.Dense(6, 16), unit=Unit(fault), head=nn.Dense(16, 3))
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.03),
        data.batches(x, y, steps=28),
        ways.grad_operation,
    )


class TimeMean(nn.Cell):
    """The mean over time."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.fault = fault

    def construct(self, x: Tensor) -> Any:
        return x.mean(1)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        spread = ops.broadcast_to(dout.expand_dims(1), x.shape)
        return (spread if self.fault else spread / x.shape[1],)


@planted("wrong_bprop", "pool", "The bprop of a mean over time is not divided by the number of steps.")
def mean_not_divided(fault: bool) -> Run:
    x, y = data.waves(length=12)
    net = blocks.chain(embed=nn.Dense(2, 16), act=nn.ReLU(), pool=TimeMean(fault), head=nn.Dense(16, 3))
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.03), data.batches(x, y, steps=36), by_hand)


# bad_initialization


class Adapter(nn.Cell):
    """x W + x A B, both A and B zeros or only B."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.dense = nn.Dense(64, 24)
        for parameter in self.dense.get_parameters():
            parameter.requires_grad = False
        self.a = Parameter(initializer("zeros" if fault else Normal(0.1), (64, 6)), "a")
        self.b = Parameter(initializer("zeros", (6, 24)), "b")

    def construct(self, x: Tensor) -> Any:
        return self.dense(x) + ops.matmul(ops.matmul(x, self.a), self.b)


@planted(
    "bad_initialization",
    "adapter",
    "Both matrices of a low-rank adapter begin as zeros: neither ever moves.",
    also=("adapter.a", "adapter.b"),
)
def adapter_of_zeros(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.chain(adapter=Adapter(fault), relu=nn.ReLU(), head=nn.Dense(24, 5))
    batches = data.batches(data.normalized(x).reshape(64, -1), y, steps=24)
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), batches, ways.own_weights)


@planted(
    "bad_initialization",
    "blocks.0.mlp.dense1",
    "The feed-forward layers of a Transformer begin at the constant 0.05.",
    also=("blocks.0.mlp.dense2", "blocks.0.mlp", "blocks.0.mlp.dense1.weight", "blocks.0.mlp.dense2.weight"),
)
def constant_feed_forward(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.TransformerClassifier(blocks=[blocks.Block(16)])
    if fault:
        for dense in (net.blocks[0].mlp.dense1, net.blocks[0].mlp.dense2):
            dense.weight.set_data(ops.ones(dense.weight.shape) * 0.05)
            dense.bias.set_data(ops.zeros(dense.bias.shape))
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=24), with_model
    )
