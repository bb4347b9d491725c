"""Planted: optimizers, modes, trainable parameters."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal, XavierUniform, initializer
from tests.faults import blocks, data
from tests.faults import more_ways as ways
from tests.faults.more_planted_data import Gallery, Graph, neighbours
from tests.faults.programs import Run, by_hand, one_step, planted, with_model

# learning_rate_zero


@planted("learning_rate_zero", "optimizer", "A polynomial decay to 0 ends after 8 of 28 steps.")
def polynomial_decay_ends_early(fault: bool) -> Run:
    x, _ = data.digits()
    flat = data.normalized(x).reshape(64, -1)
    net = blocks.Autoencoder()
    rate = nn.PolynomialDecayLR(0.01, 0.0 if fault else 1e-4, 8 if fault else 28, 1.0)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), rate)
    return Run(net, nn.MSELoss(), optimizer, data.batches(flat, flat, steps=28), with_model)


def halved_by_hand(fault: bool) -> Any:
    def way(run: Run) -> list[float]:
        run.net.set_train()
        step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, run.optimizer.parameters)
        losses = []
        for number, (x, y) in enumerate(run.batches):
            epoch = number // 4
            factor = max(0, 1 - epoch // 2) if fault else max(0.1, 1 - epoch / 10)
            ops.assign(run.optimizer.learning_rate, Tensor(0.3 * factor, ms.float32))
            loss, gradients = step(Tensor(x), Tensor(y))
            run.optimizer(gradients)
            losses.append(float(loss))
        return losses

    return way


@planted("learning_rate_zero", "optimizer", "The rate is set by hand to 0.3 * (1 - epoch // 2): 0 from epoch 2 on.")
def assigned_rate_is_zero(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.mlp(6, 24, 3, activation=nn.Tanh)
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.SGD(net.trainable_params(), 0.3),
        data.batches(x, y, steps=24),
        halved_by_hand(fault),
    )


@planted(
    "learning_rate_zero",
    "optimizer",
    "The group of the encoder gets lr * decay ** depth, rounded to 0.0.",
    also=("embed", "embed.weight", "embed.bias", "position"),
)
def layerwise_decay_rounded_to_zero(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.TransformerClassifier()
    first = [p for p in net.trainable_params() if p.name.startswith(("embed", "position"))]
    rest = [p for p in net.trainable_params() if not p.name.startswith(("embed", "position"))]
    rate = round(0.01 * 0.5**5, 2) if fault else 0.01 * 0.5
    optimizer = nn.AdamWeightDecay([{"params": first, "lr": rate}, {"params": rest, "lr": 0.01}], 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=24), one_step)


# optimizer_other_parameters


@planted(
    "optimizer_other_parameters",
    "optimizer",
    "The network is deep-copied for the training, the optimizer has the first.",
)
def network_copied_after_optimizer(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.LSTMClassifier()
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    if fault:
        net = copy.deepcopy(net)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=24), ways.own_weights)


@planted(
    "optimizer_other_parameters",
    "optimizer",
    "Only net.decoder's parameters are given to the optimizer.",
    also=("encoder", "encoder.dense1", "encoder.dense2", "encoder.dense1.weight"),
)
def decoder_alone_in_optimizer(fault: bool) -> Run:
    x, _ = data.digits()
    flat = data.normalized(x).reshape(64, -1)
    net = blocks.Autoencoder()
    chosen = (net.decoder if fault else net).trainable_params()
    return Run(net, nn.MSELoss(), nn.Adam(chosen, 0.01), data.batches(flat, flat, steps=24), one_step)


# predict_mode_with_stale_statistics


def accuracy_first(fault: bool) -> Any:
    def way(run: Run) -> list[float]:
        run.net.set_train(False)
        for batch in run.batches[:2]:
            run.net(Tensor(batch[0]))
        if not fault:
            run.net.set_train(True)
        step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, run.net.trainable_params())
        losses = []
        for x, y in run.batches:
            loss, gradients = step(Tensor(x), Tensor(y))
            run.optimizer(gradients)
            losses.append(float(loss))
        return losses

    return way


@planted(
    "predict_mode_with_stale_statistics",
    "project.norm",
    "The accuracy before training leaves the net in predict mode.",
    also=("",),
)
def accuracy_before_training(fault: bool) -> Run:
    x, y = data.textures(48)
    net = Gallery()
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.02),
        data.batches(x, y, steps=24),
        accuracy_first(fault),
    )


class Ranked(nn.Cell):
    """The class of a signal; set_train leaves its encoder in predict mode for good, as in a fine-tuning notebook."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.encoder = blocks.chain(
            conv=nn.Conv1d(2, 16, 3), norm=nn.BatchNorm1d(16) if False else Norm1(16), relu=nn.ReLU()
        )
        self.head, self.fault = nn.Dense(16, 3), fault

    def set_train(self, mode: bool = True) -> Any:
        super().set_train(mode)
        if self.fault:
            self.encoder.set_train(False)
        return self

    def construct(self, x: Tensor) -> Any:
        return self.head(self.encoder(x.swapaxes(1, 2)).max(axis=2))


class Norm1(nn.Cell):
    """BatchNorm over (N, C, T)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(width)

    def construct(self, x: Tensor) -> Any:
        return self.norm(x.expand_dims(-1)).squeeze(-1)


@planted(
    "predict_mode_with_stale_statistics",
    "encoder.norm.norm",
    "encoder.set_train(False) from a fine-tuning notebook, though the encoder learns.",
    also=("encoder", "encoder.norm", ""),
)
def encoder_kept_in_predict_mode(fault: bool) -> Run:
    x, y = data.waves()
    net = Ranked(fault)
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=24), by_hand)


# wrong_mode


@planted("wrong_mode", "project.norm", "The validation after each epoch runs in training mode.", also=("",))
def validation_in_training_mode(fault: bool) -> Run:
    x, y = data.textures(48)
    net = Gallery()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=24), ways.evaluated_between(not fault))


class Noise(nn.Cell):
    """Noise on the features, in training only; or always."""

    def __init__(self, always: bool) -> None:
        super().__init__()
        self.always = always

    def construct(self, x: Tensor) -> Any:
        return x + 0.2 * ops.randn_like(x) if self.always or self.training else x


def then_predicted(run: Run) -> list[float]:
    losses = ways.own_weights(run)
    run.net.set_train(False)
    for batch in run.batches[:4]:
        run.net(Tensor(batch[0]))
    return losses


@planted("wrong_mode", "noise", "Noise is added to the features in evaluation too.")
def noise_in_evaluation(fault: bool) -> Run:
    x, y = data.houses()
    net = blocks.chain(dense=nn.Dense(5, 32), act=nn.Tanh(), noise=Noise(fault), head=nn.Dense(32, 1))
    batches = data.batches(data.normalized(x, 0), y[:, None], steps=28)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), batches, then_predicted)


# learning_rate_too_large


@planted("learning_rate_too_large", "optimizer", "RMSProp with 0.3 on a small CNN.")
def rmsprop_too_large(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.chain(
        conv=nn.Conv2d(1, 8, 3, 2), norm=nn.GroupNorm(2, 8), relu=nn.ReLU(), flatten=nn.Flatten(), head=nn.Dense(128, 5)
    )
    optimizer = nn.RMSProp(net.trainable_params(), 0.3 if fault else 0.01)
    return Run(
        net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=28), ways.grad_operation
    )


@planted("learning_rate_too_large", "optimizer", "SGD with 30 on an LSTM.")
def sgd_too_large_for_lstm(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.LSTMClassifier()
    optimizer = nn.SGD(net.trainable_params(), 30.0 if fault else 1.0)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=30), ways.own_weights)


# learning_rate_too_small


@planted("learning_rate_too_small", "optimizer", "AdamWeightDecay with 1e-8 on a language model.")
def adamw_too_small(fault: bool) -> Run:
    x, y = data.text()
    net = blocks.LanguageModel()
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-8 if fault else 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, size=32, steps=24), one_step)


@planted("learning_rate_too_small", "optimizer", "A rate list is in percent and divided by 100 three times.")
def rates_divided_too_often(fault: bool) -> Run:
    adjacency, x, y = neighbours()
    net = Graph(adjacency / adjacency.sum(1, keepdims=True))
    rates = [(5 - 0.1 * i) / (100**4 if fault else 10) for i in range(30)]
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.SGD(net.trainable_params(), rates),
        data.batches(x, y, size=48, steps=30),
        with_model,
    )


# frozen_parameter


@planted(
    "frozen_parameter",
    "blocks.1.attention.value.weight",
    "A loop over names with 'value' froze a value projection.",
    also=(
        "blocks.1.attention.value",
        "blocks.1.attention.value.bias",
        "blocks.0.attention.value",
        "blocks.0.attention.value.weight",
        "blocks.0.attention.value.bias",
    ),
)
def value_projections_frozen(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.TransformerClassifier()
    for parameter in net.get_parameters():
        if "value" in parameter.name and fault:
            parameter.requires_grad = False
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=24), with_model
    )


@planted(
    "frozen_parameter",
    "decoder.dense2.weight",
    "The last weight of an autoencoder's decoder is frozen.",
    also=("decoder.dense2",),
)
def last_decoder_weight_frozen(fault: bool) -> Run:
    x, _ = data.digits()
    flat = data.normalized(x).reshape(64, -1)
    net = blocks.Autoencoder()
    net.decoder.dense2.weight.requires_grad = not fault
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(flat, flat, steps=24), by_hand)


class Scored(nn.Cell):
    """A bilinear score of two towers."""

    def __init__(self, learns: bool) -> None:
        super().__init__()
        self.left, self.right = nn.Dense(6, 12), nn.Dense(6, 12)
        self.mix = Parameter(initializer(XavierUniform(), (12, 12)), "mix", requires_grad=learns)

    def construct(self, a: Tensor, b: Tensor) -> Any:
        return (ops.matmul(ops.tanh(self.left(a)), self.mix) * ops.tanh(self.right(b))).sum(1)


@planted("frozen_parameter", "mix", "A bilinear form's matrix is a Parameter with requires_grad=False.")
def bilinear_matrix_frozen(fault: bool) -> Run:
    x, y = data.flowers(128)
    same = (y[:64] == y[64:]).astype(np.float32)
    net = Scored(not fault)
    return Run(
        net,
        nn.BCEWithLogitsLoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(x[:64], x[64:], same, steps=36),
        by_hand,
    )


# unused_parameter


class TwoTowers(nn.Cell):
    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.left, self.right = nn.Dense(6, 12), nn.Dense(6, 12)
        self.head, self.fault = blocks.mlp(24, 16, 1), fault

    def construct(self, a: Tensor, b: Tensor) -> Any:
        right = self.left if self.fault else self.right
        return self.head(ops.concat([ops.relu(self.left(a)), ops.relu(right(b))], 1))


@planted(
    "unused_parameter",
    "right",
    "Two towers: construct calls the left one for both inputs.",
    also=("right.weight", "right.bias"),
)
def right_tower_unused(fault: bool) -> Run:
    x, y = data.flowers(128)
    same = (y[:64] == y[64:]).astype(np.float32)[:, None]
    net = TwoTowers(fault)
    return Run(
        net,
        nn.BCEWithLogitsLoss(),
        nn.Adam(net.trainable_params(), 0.02),
        data.batches(x[:64], x[64:], same, steps=36),
        ways.own_weights,
    )


class Blocks(nn.Cell):
    """Residual blocks in a CellList; the loop skips the last."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.stem = nn.Dense(5, 24)
        self.blocks = nn.CellList([blocks.mlp(24, 24, 24) for _ in range(3)])
        self.head, self.fault = nn.Dense(24, 1), fault

    def construct(self, x: Tensor) -> Any:
        x = self.stem(x)
        for i in range(len(self.blocks) - (1 if self.fault else 0)):
            x = x + self.blocks[i](x)
        return self.head(x)


@planted(
    "unused_parameter",
    "blocks.2",
    "range(len(blocks) - 1) leaves the last block of three out.",
    also=("blocks.2.dense1", "blocks.2.dense2", "blocks.2.dense1.weight"),
)
def last_block_left_out(fault: bool) -> Run:
    x, y = data.houses()
    net = Blocks(fault)
    batches = data.batches(data.normalized(x, 0), y[:, None], steps=28)
    return Run(net, nn.L1Loss(), nn.Adam(net.trainable_params(), 0.005), batches, one_step)


class Scaled(nn.Cell):
    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.dense = nn.Dense(64, 24, has_bias=False)
        self.gain = Parameter(initializer("ones", (24,)), "gain")
        self.shift = Parameter(initializer("zeros", (24,)), "shift")
        self.head, self.fault = nn.Dense(24, 5), fault

    def construct(self, x: Tensor) -> Any:
        x = self.dense(x)
        x = (x - x.mean(1, keep_dims=True)) / (x.std(1, keepdims=True) + 1e-5) * self.gain
        return self.head(ops.relu(x if self.fault else x + self.shift))


@planted("unused_parameter", "shift", "A normalization by hand has a shift that is not added.")
def shift_not_added(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = Scaled(fault)
    batches = data.batches(data.normalized(x).reshape(64, -1), y, steps=24)
    return Run(net, nn.CrossEntropyLoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9), batches, with_model)


# detached_graph


class HardCode(nn.Cell):
    """A code rounded to whole numbers; with a straight-through gradient, or without."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.fault = fault

    def construct(self, x: Tensor) -> Any:
        return ops.round(x) if self.fault else x + ops.stop_gradient(ops.round(x) - x)


@planted(
    "detached_graph",
    "round",
    "ops.round in a bottleneck: its gradient is zero, and the encoder rests.",
    also=("encoder", "encoder.dense1", "encoder.dense2", ""),
)
def rounded_code(fault: bool) -> Run:
    x, _ = data.digits()
    flat = data.normalized(x).reshape(64, -1)
    net = blocks.chain(encoder=blocks.mlp(64, 32, 16), round=HardCode(fault), decoder=blocks.mlp(16, 32, 64))
    for p in net.encoder.dense2.get_parameters():
        p.set_data(3 * p)
    return Run(
        net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(flat, flat, steps=30), ways.own_weights
    )


class Linked(nn.Cell):
    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.left, self.right = blocks.mlp(6, 16, 12), blocks.mlp(6, 16, 12)
        self.head, self.fault = blocks.mlp(24, 16, 1), fault

    def construct(self, a: Tensor, b: Tensor) -> Any:
        left, right = self.left(a), self.right(b)
        if self.fault:
            right = Tensor(right.asnumpy())
        return self.head(ops.concat([left, right], 1))


@planted(
    "detached_graph",
    "right",
    "One tower of two goes through asnumpy().",
    also=("", "right.dense1", "right.dense2", "right.dense1.weight", "right.dense2.weight"),
)
def one_tower_through_numpy(fault: bool) -> Run:
    x, y = data.flowers(128)
    same = (y[:64] == y[64:]).astype(np.float32)[:, None]
    net = Linked(fault)
    return Run(
        net,
        nn.BCEWithLogitsLoss(),
        nn.Adam(net.trainable_params(), 0.02),
        data.batches(x[:64], x[64:], same, steps=36),
        by_hand,
    )


class Looked(nn.Cell):
    """The nearest learned code, chosen by argmax, or a mixture by softmax."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.score = nn.Dense(16, 8)
        self.codes = Parameter(initializer(Normal(1.0), (8, 16)), "codes")
        self.fault = fault

    def construct(self, x: Tensor) -> Any:
        score = self.score(x)
        return self.codes[score.argmax(1)] if self.fault else ops.matmul(ops.softmax(score, 1), self.codes)


@planted(
    "detached_graph",
    "lookup",
    "A code is picked by argmax, which has no gradient.",
    also=("lookup.score", "dense", "lookup.score.weight", "act", ""),
)
def code_picked_by_argmax(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(dense=nn.Dense(6, 16), act=nn.Tanh(), lookup=Looked(fault), head=nn.Dense(16, 3))
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=30))


# shared_parameter_by_mistake


class Inception(nn.Cell):
    def __init__(self, fault: bool) -> None:
        super().__init__()
        branch = nn.Conv2d(1, 6, 3, 2)
        self.branches = nn.CellList([branch if fault else nn.Conv2d(1, 6, 3, 2) for _ in range(3)])
        self.flatten, self.head = nn.Flatten(), nn.Dense(18 * 16, 5)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.flatten(ops.relu(ops.concat([b(x) for b in self.branches], 1))))


@planted(
    "shared_parameter_by_mistake",
    "branches.0",
    "Three branches of an Inception block are one convolution.",
    also=("branches",),
)
def branches_are_one(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = Inception(fault)
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(data.normalized(x), y, steps=20),
        ways.grad_operation,
    )


class Actor(nn.Cell):
    """Mean and log-deviation of an action."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.body = blocks.chain(dense=nn.Dense(6, 24), act=nn.Tanh())
        self.mean = nn.Dense(24, 1)
        self.deviation = self.mean if fault else nn.Dense(24, 1)

    def construct(self, x: Tensor) -> Any:
        x = self.body(x)
        return ops.concat([self.mean(x), self.deviation(x)], 1)


@planted(
    "shared_parameter_by_mistake",
    "mean",
    "self.deviation = self.mean: both outputs of a Gaussian are one layer.",
    also=("",),
)
def mean_and_deviation_are_one(fault: bool) -> Run:
    x, _ = data.flowers(96)
    target = (x[:, :1] * 0.5 + 2 + 0.3 * np.random.default_rng(1).normal(0, 1, (96, 1))).astype(np.float32)

    def loss(output: Tensor, target: Tensor) -> Any:
        mean, log_s = output[:, :1], ops.clamp(output[:, 1:], -4.0, 4.0)
        return (log_s + 0.5 * ops.square((target - mean) / ops.exp(log_s))).mean() + 1.5

    net = Actor(fault)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), data.batches(x, target, steps=36))
