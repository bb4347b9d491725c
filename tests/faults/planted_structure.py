"""Planted faults of the graph: unused parts, detached parts, and one part in place of two."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

from . import blocks, data
from .programs import Run, by_hand, one_step, planted, tensors, with_model

# unused_parameter


class Downsampling(nn.Cell):
    """A cell that halves the picture; the projection of the input is added, or forgotten."""

    def __init__(self, channels: int, out: int, uses_skip: bool) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(channels, out, 3, 2), nn.BatchNorm2d(out)
        self.conv2, self.norm2 = nn.Conv2d(out, out, 3), nn.BatchNorm2d(out)
        self.skip = nn.Conv2d(channels, out, 1, 2)
        self.uses_skip = uses_skip

    def construct(self, x: Tensor) -> Any:
        y = self.norm2(self.conv2(ops.relu(self.norm1(self.conv1(x)))))
        return ops.relu(y + self.skip(x)) if self.uses_skip else ops.relu(y)


@planted(
    "unused_parameter",
    "blocks.1.skip",
    "A residual block defines its projection and forgets to add it.",
    also=("blocks.1.skip.weight", "blocks.1"),
)
def projection_forgotten(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.ResNet(5)
    net.blocks = nn.SequentialCell(blocks.Residual(8), Downsampling(8, 16, uses_skip=not fault))
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=24), with_model)


class WithoutPositions(blocks.TransformerClassifier):
    """A Transformer whose construct was copied without the positions."""

    def construct(self, x: Tensor) -> Any:
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(1))


@planted("unused_parameter", "position", "A Transformer's positions are a Parameter that construct does not add.")
def positions_forgotten(fault: bool) -> Run:
    x, y = data.waves()
    net = WithoutPositions() if fault else blocks.TransformerClassifier()
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=24), by_hand)


class NormedLSTM(blocks.LSTMClassifier):
    """An LSTM whose last output is normalized, or was intended to be."""

    def __init__(self, uses_norm: bool) -> None:
        super().__init__()
        self.norm = nn.LayerNorm((16,))
        self.uses_norm = uses_norm

    def construct(self, x: Tensor) -> Any:
        last = self.lstm(x)[0][:, -1]
        return self.head(self.norm(last) if self.uses_norm else last)


@planted(
    "unused_parameter",
    "norm",
    "A LayerNorm is defined beside an LSTM; construct does not call it.",
    also=("norm.gamma", "norm.beta"),
)
def norm_forgotten(fault: bool) -> Run:
    x, y = data.waves()
    net = NormedLSTM(uses_norm=not fault)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=20), one_step
    )


# detached_graph


class FrozenFeatures(blocks.SmallCNN):
    """The small CNN, whose features may be detached from the gradient."""

    def __init__(self, cut: bool) -> None:
        super().__init__()
        self.cut = cut

    def construct(self, x: Tensor) -> Any:
        features = self.features(x)
        return self.head(ops.stop_gradient(features) if self.cut else features)


@planted(
    "detached_graph",
    "",
    "stop_gradient, from a fine-tuning notebook, is still around the features.",
    also=("conv1", "norm1", "conv2", "norm2", "relu2", "flatten", "head"),
)
def stop_gradient_left_in(fault: bool) -> Run:
    x, y = data.digits()
    net = FrozenFeatures(cut=fault)
    optimizer = nn.Momentum(net.trainable_params(), 0.03, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=16), with_model)


class ThroughNumpy(nn.Cell):
    """Tokens' outputs sorted by their mean, by NumPy or by the framework."""

    def __init__(self, numpy: bool) -> None:
        super().__init__()
        self.numpy = numpy

    def construct(self, x: Tensor) -> Any:
        if self.numpy:
            return Tensor(np.sort(x.asnumpy(), 1)[:, -4:].mean(1))
        return ops.sort(x, 1)[0][:, -4:].mean(1)


class SortedPooling(blocks.TransformerClassifier):
    """A Transformer whose head takes the mean of the four largest outputs over time."""

    def __init__(self, numpy: bool) -> None:
        super().__init__()
        self.pool = ThroughNumpy(numpy)

    def construct(self, x: Tensor) -> Any:
        x = self.embed(x) + self.position
        for block in self.blocks:
            x = block(x)
        return self.head(self.pool(self.norm(x)))


@planted(
    "detached_graph",
    "pool",
    "A pooling goes through asnumpy() and back: nothing before it gets a gradient.",
    also=("norm", "blocks.0", "blocks.1", "embed", "position"),
)
def pooling_through_numpy(fault: bool) -> Run:
    x, y = data.waves()
    net = SortedPooling(numpy=fault)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=24), one_step
    )


class Stateful(nn.Cell):
    """A GRU's last state for a head; the state is copied into a new tensor, or passed directly."""

    def __init__(self, copied: bool) -> None:
        super().__init__()
        self.cell = nn.GRUCell(2, 16)
        self.copied = copied

    def construct(self, x: Tensor) -> Any:
        h = ops.zeros((x.shape[0], 16), x.dtype)
        for step in range(x.shape[1]):
            h = self.cell(x[:, step], h)
            if self.copied:
                h = Tensor(h.asnumpy())
        return h


@planted(
    "detached_graph",
    "encoder",
    "A recurrent state is copied by Tensor(h.asnumpy()) after each step.",
    also=("encoder.cell", "encoder.cell.weight_ih", "encoder.cell.weight_hh"),
)
def state_copied_each_step(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.chain(encoder=Stateful(copied=fault), head=nn.Dense(16, 3))
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=20), by_hand)


# shared_parameter_by_mistake


def hidden() -> nn.SequentialCell:
    return nn.SequentialCell(nn.Dense(24, 24), nn.LayerNorm((24,)), nn.ReLU())


@planted(
    "shared_parameter_by_mistake",
    "body.0",
    "Three hidden layers are made by [layer] * 3: one layer thrice.",
    also=("body", "body.0.0"),
)
def one_layer_three_times(fault: bool) -> Run:
    x, y = data.flowers()
    layers = [hidden()] * 3 if fault else [hidden() for _ in range(3)]
    net = blocks.chain(first=nn.Dense(6, 24), body=nn.SequentialCell(layers), head=nn.Dense(24, 3))
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.1), data.batches(x, y, steps=20))


@planted(
    "shared_parameter_by_mistake",
    "blocks.0",
    "nn.CellList([block] * 3) holds one Transformer block three times.",
    also=("blocks",),
)
def one_block_three_times(fault: bool) -> Run:
    x, y = data.waves()
    many: list[nn.Cell] = [blocks.Block(16)] * 3 if fault else [blocks.Block(16) for _ in range(3)]
    net = blocks.TransformerClassifier(blocks=many)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.005), data.batches(x, y, steps=30), with_model
    )


class Agents(nn.Cell):
    """A network of action values, and the one that computes its targets."""

    def __init__(self, copied: bool) -> None:
        super().__init__()
        self.online = blocks.mlp(6, 32, 3)
        self.target = copy.deepcopy(self.online) if copied else self.online


def q_learning(run: Run) -> list[float]:
    """Train as Mnih et al. 2015: the target network takes the online one's weights every eighth step."""

    def loss(state: Tensor, action: Tensor, reward: Tensor, after: Tensor) -> Any:
        target = reward + 0.8 * ops.stop_gradient(run.net.target(after).max(axis=1))
        chosen = ops.gather_elements(run.net.online(state), 1, action.expand_dims(1)).squeeze(1)
        return ops.square(chosen - target).mean()

    run.net.set_train()
    step = ms.value_and_grad(loss, None, run.optimizer.parameters)
    losses = []
    for number, batch in enumerate(run.batches):
        value, gradients = step(*tensors(batch))
        run.optimizer(gradients)
        losses.append(float(value))
        if number % 8 == 7:
            pairs = zip(run.net.target.get_parameters(), run.net.online.get_parameters(), strict=True)
            for theirs, ours in pairs:
                theirs.set_data(ours.value())
    return losses


@planted(
    "shared_parameter_by_mistake",
    "online",
    "The target network is the online one: self.target = self.online, no deepcopy.",
    also=("",),
)
def target_network_not_copied(fault: bool) -> Run:
    states, action = data.flowers(classes=3)
    reward = (states[:, 0] * (action == 0) - states[:, 1] * (action == 1) + 0.5 * (action == 2)).astype(np.float32)
    net = Agents(copied=not fault)
    batches = data.batches(states, action, reward, np.roll(states, 1, 0), steps=24)
    return Run(net, None, nn.Adam(net.online.trainable_params(), 0.02), batches, q_learning)
