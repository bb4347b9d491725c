"""Planted faults between the network and its loss: softmax, signs, first weights, samples that affect each other."""

from __future__ import annotations

from typing import Any

from hookscope.engine import Tensor, nn, ops
from hookscope.engine.tensors.initializer import Uniform

from . import blocks, data
from .programs import Run, by_hand, one_step, planted, with_model

# softmax_twice


@planted("softmax_twice", "last", "An MLP ends with nn.Softmax, and the loss is nn.CrossEntropyLoss.")
def softmax_layer_before_cross_entropy(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.mlp(6, 24, 3, last=nn.Softmax(-1) if fault else None)
    optimizer = nn.SGD(net.trainable_params(), 0.3)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=20), with_model)


class ProbabilityHead(nn.Cell):
    """A dense layer, and a softmax if ``softmax`` is set."""

    def __init__(self, width: int, classes: int, softmax: bool) -> None:
        super().__init__()
        self.dense = nn.Dense(width, classes)
        self.softmax = softmax

    def construct(self, x: Tensor) -> Any:
        return ops.softmax(self.dense(x), -1) if self.softmax else self.dense(x)


@planted("softmax_twice", "head", "The head of a residual net calls ops.softmax, and the loss does so again.")
def softmax_in_head_of_resnet(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.ResNet(5)
    net.head = ProbabilityHead(16, 5, fault)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), data.batches(data.normalized(x), y), one_step)


@planted(
    "softmax_twice", "loss", "The loss function of a Transformer gives the softmax of the logits to cross_entropy."
)
def softmax_in_loss_function(fault: bool) -> Run:
    x, y = data.waves()

    def loss(logits: Tensor, labels: Tensor) -> Any:
        return ops.cross_entropy(ops.softmax(logits, 1) if fault else logits, labels)

    net = blocks.TransformerClassifier()
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.005), data.batches(x, y, steps=20))


# softmax_over_batch_axis


def likelihood(probabilities: Tensor, labels: Tensor) -> Any:
    picked = ops.gather_elements(probabilities, 1, labels.expand_dims(1))
    return -ops.log(picked + 1e-7).mean()


@planted("softmax_over_batch_axis", "last", "An MLP ends with nn.Softmax(axis=0).")
def softmax_layer_over_axis_0(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.mlp(6, 24, 3, last=nn.Softmax(0 if fault else 1))
    return Run(net, likelihood, nn.SGD(net.trainable_params(), 0.3), data.batches(x, y, steps=20))


class Gate(nn.Cell):
    """The gate, whose softmax weighs the experts."""

    def __init__(self, width: int, experts: int, axis: int) -> None:
        super().__init__()
        self.dense, self.axis = nn.Dense(width, experts), axis

    def construct(self, x: Tensor) -> Any:
        return ops.softmax(self.dense(x), self.axis)


class Experts(nn.Cell):
    """A mixture of experts."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.gate = Gate(5, 3, axis)
        self.experts = nn.CellList([blocks.mlp(5, 16, 1) for _ in range(3)])

    def construct(self, x: Tensor) -> Any:
        outputs = ops.concat([expert(x) for expert in self.experts], 1)
        return (outputs * self.gate(x)).sum(1, keepdims=True)


@planted("softmax_over_batch_axis", "gate", "The gate of a mixture of experts takes its softmax over axis 0.")
def gate_over_batch(fault: bool) -> Run:
    x, y = data.houses()
    net = Experts(0 if fault else -1)
    batches = data.batches(data.normalized(x, 0), y[:, None], steps=24)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), batches, one_step)


@planted("softmax_over_batch_axis", "head.softmax", "An LSTM's nn.LogSoftmax has axis 0, before nn.NLLLoss.")
def log_softmax_over_batch(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.LSTMClassifier()
    net.head = blocks.chain(dense=nn.Dense(16, 3), softmax=nn.LogSoftmax(0 if fault else -1))
    return Run(net, nn.NLLLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=24), with_model)


# cross_entropy_wrong_sign


@planted("cross_entropy_wrong_sign", "loss", "The mean log-probability of the labels is minimized, not its negative.")
def log_likelihood_minimized(fault: bool) -> Run:
    x, y = data.digits(classes=5)

    def loss(logits: Tensor, labels: Tensor) -> Any:
        picked = ops.gather_elements(ops.log_softmax(logits, 1), 1, labels.expand_dims(1)).mean()
        return picked if fault else -picked

    net = blocks.SmallCNN(5)
    return Run(net, loss, nn.SGD(net.trainable_params(), 0.05), data.batches(data.normalized(x), y, steps=12))


class OneHotCrossEntropy(nn.Cell):
    """The cross-entropy by its formula."""

    def __init__(self, sign: float) -> None:
        super().__init__()
        self.log_softmax, self.sign = nn.LogSoftmax(), sign

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        one_hot = ops.one_hot(labels, logits.shape[1], Tensor(1.0), Tensor(0.0))
        return self.sign * (one_hot * self.log_softmax(logits)).sum(1).mean()


@planted("cross_entropy_wrong_sign", "loss", "A loss cell sums one-hot times log-softmax and forgets the minus.")
def one_hot_loss_without_minus(fault: bool) -> Run:
    x, y = data.reviews()
    net = blocks.TextClassifier()
    loss = OneHotCrossEntropy(1.0 if fault else -1.0)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=16), one_step)


@planted("cross_entropy_wrong_sign", "loss", "An autoencoder's binary cross-entropy is written without its minus.")
def autoencoder_without_minus(fault: bool) -> Run:
    x, _ = data.digits()
    pixels = (x / 255).reshape(len(x), -1)

    def loss(output: Tensor, target: Tensor) -> Any:
        p = ops.clamp(output, 1e-6, 1 - 1e-6)
        result = (target * ops.log(p) + (1 - target) * ops.log(1 - p)).mean()
        return result if fault else -result

    net = blocks.Autoencoder(last=nn.Sigmoid())
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), data.batches(pixels * 2 - 1, pixels, steps=24))


# first_loss_far_too_large


@planted(
    "first_loss_far_too_large", "head", "The last layer is drawn from randn without a scale.", also=("head.weight",)
)
def head_from_randn(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(dense=nn.Dense(6, 64), norm=nn.LayerNorm((64,)), relu=nn.ReLU(), head=nn.Dense(64, 3))
    if fault:
        net.head.weight.set_data(ops.randn(3, 64))
    optimizer = nn.Adam(net.trainable_params(), 0.003)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=20), one_step)


@planted(
    "first_loss_far_too_large",
    "embedding",
    "A GPT's output is tied to an embedding drawn with deviation 1.",
    also=("embedding.embedding_table",),
)
def tied_embedding_too_wide(fault: bool) -> Run:
    x, y = data.text()
    net = blocks.LanguageModel(width=32, scale=1.0 if fault else 0.02)
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=20))


@planted(
    "first_loss_far_too_large", "head", "A CNN's head is drawn from Uniform(1) at 512 inputs.", also=("head.weight",)
)
def head_too_wide(fault: bool) -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN(width=16)
    if fault:
        net.head = nn.Dense(512, 10, weight_init=Uniform(1.0))
    optimizer = nn.Momentum(net.trainable_params(), 0.003, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=20), with_model)


# samples_leak


class Center(nn.Cell):
    """The features without their mean."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Any:
        return x - x.mean(self.axis, keep_dims=True)


@planted("samples_leak", "center", "A layer centers the features over axis 0, the batch, also when it predicts.")
def centered_over_batch(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(
        dense=nn.Dense(6, 24, has_bias=False), center=Center(0 if fault else 1), relu=nn.ReLU(), head=nn.Dense(24, 3)
    )
    return Run(
        net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.3), data.batches(x, y, steps=20), with_model
    )


class Attend(nn.Cell):
    """nn.MultiheadAttention instead of the block's own attention."""

    def __init__(self, batch_first: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, 2, batch_first=batch_first)

    def construct(self, x: Tensor, mask: Tensor | None = None) -> Any:
        return self.attention(x, x, x, need_weights=False)[0]


@planted(
    "samples_leak",
    "blocks.0.attention.attention",
    "nn.MultiheadAttention gets (N, T, E) without batch_first.",
    also=("blocks.0.attention", "blocks.0"),
)
def attention_over_batch(fault: bool) -> Run:
    x, y = data.waves()
    block = blocks.Block(16, attention=Attend(batch_first=not fault))
    net = blocks.TransformerClassifier(blocks=[block])
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.005), data.batches(x, y, steps=20), by_hand
    )


@planted("samples_leak", "lstm", "An nn.LSTM without batch_first gets (N, T, features) and runs over the batch.")
def lstm_over_batch(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.LSTMClassifier()
    net.lstm = nn.LSTM(2, 16, batch_first=not fault)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=24), one_step
    )
