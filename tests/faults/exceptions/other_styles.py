"""Exceptions in scripts of other styles: training cells, functional code, loops with branches, wrapped exceptions."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

from .case import floats, integers, raises


@raises(
    ValueError,
    "network in a training cell",
    "The head of a network in TrainOneStepCell is made for the features before pooling.",
    "head",
    "head.weight",
    "(4, 6)",
    "12",
    "pooled",
)
def head_in_a_training_cell() -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(8, 12)
            self.head = nn.Dense(12, 3)

        def construct(self, x: Any) -> Any:
            wide = self.body(x)
            pooled = wide.reshape(4, 6, 2).mean(-1)
            return self.head(pooled)  # raised

    net = Net()
    with_loss = nn.WithLossCell(net, nn.CrossEntropyLoss())
    train = nn.TrainOneStepCell(with_loss, nn.SGD(net.trainable_params(), 0.1))
    train(floats(4, 8), integers(3, 4))


@raises(
    ValueError,
    "wavelet network",
    "The coarse half has one sample less than the fine half.",
    "lift",
    "sub",
    "even",
    "odd",
    "(2, 3, 5)",
    "(2, 3, 4)",
)
def halves_of_an_odd_signal() -> None:
    class Lift(nn.Cell):
        def construct(self, signal: Any) -> Any:
            even, odd = signal[:, :, 0::2], signal[:, :, 1::2]
            detail = odd - even  # raised
            return ops.cat((even, detail), -1)

    class Wavelets(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.smooth = nn.Conv1d(1, 3, 3)
            self.lift = Lift()

        def construct(self, signal: Any) -> Any:
            return self.lift(self.smooth(signal))

    Wavelets()(floats(2, 1, 9))


@raises(
    ValueError,
    "hypernetwork",
    "The generated weights are for a layer of another width.",
    "",
    "reshape",
    "generated",
    "(1, 30)",
    "30",
    "(6, 6)",
    "36",
)
def generated_weights_of_another_width() -> None:
    class Hyper(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.maker = nn.SequentialCell(nn.Dense(2, 9), nn.ReLU(), nn.Dense(9, 30))

        def construct(self, task: Any, x: Any) -> Any:
            generated = self.maker(task)
            weight = ops.reshape(input=generated, shape=(6, 6))  # raised
            return x @ weight

    net = Hyper()
    grad_fn = ms.value_and_grad(lambda t, x: net(t, x).sum(), None, net.trainable_params())
    grad_fn(floats(1, 2), floats(3, 6))


@raises(
    RuntimeError,
    "bilinear attention",
    "Keys and values are swapped in the call.",
    "read",
    "matmul",
    "weights",
    "(2, 4, 6)",
    "(2, 5, 6)",
)
def swapped_keys_and_values() -> None:
    class Read(nn.Cell):
        def construct(self, query: Any, key: Any, value: Any) -> Any:
            weights = ops.softmax(query @ key.swapaxes(1, 2), -1)
            return weights @ value  # raised

    class Memory(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.read = Read()
            self.ask = nn.Dense(3, 8)
            self.index = nn.Dense(3, 8)

        def construct(self, x: Any, notes: Any, texts: Any) -> Any:
            return self.read(self.ask(x), key=self.index(notes), value=texts)

    Memory()(floats(2, 4, 3), floats(2, 6, 3), floats(2, 5, 6))


@raises(
    ValueError,
    "progressive network",
    "A branch that is taken only for wide inputs leaves a different number of channels.",
    "merge",
    "left",
    "(3, 7)",
    "(3, 5)",
    "add",
)
def branch_that_widens() -> None:
    class Merge(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.narrow = nn.Dense(4, 5)
            self.wide = nn.Dense(4, 7)

        def construct(self, x: Any, *, is_wide: bool) -> Any:
            right = self.narrow(x)
            if is_wide:
                left = self.wide(x)
            else:
                left = self.narrow(x)
            left = left + right  # raised
            return left

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.merge = Merge()

        def construct(self, x: Any) -> Any:
            return self.merge(x, is_wide=True)

    net = Net()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(3, 4))


@raises(
    RuntimeError,
    "ensemble with an error of its own",
    "A member fails, and the ensemble wraps the exception.",
    "",
    "members.1",
    "ValueError",
    "(2, 3)",
    "members.1.weight",
    "4",
)
def ensemble_that_wraps_the_exception() -> None:
    class Ensemble(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.members = nn.CellList([nn.Dense(3, 2), nn.Dense(4, 2)])

        def construct(self, x: Any) -> Any:
            votes = []
            for number, member in enumerate(self.members):
                try:
                    votes.append(member(x))
                except ValueError as error:
                    raise RuntimeError(f"member {number} failed") from error  # raised
            return sum(votes)

    Ensemble()(floats(2, 3))


@raises(
    ValueError,
    "neural process",
    "The mean over the context keeps an axis that the targets do not have.",
    "decoder",
    "concat",
    "repeated",
    "(2, 7, 4)",
    "(2, 6, 1)",
    "targets",
)
def context_repeated_for_other_targets() -> None:
    class Decoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.out = nn.Dense(5, 2)

        def construct(self, summary: Any, targets: Any, count: int) -> Any:
            repeated = ops.tile(summary, (1, count, 1))
            return self.out(ops.cat([repeated, targets], -1))  # raised

    class Process(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.Dense(2, 4)
            self.decoder = Decoder()

        def construct(self, context: Any, targets: Any) -> Any:
            summary = self.encoder(context).mean(1, keep_dims=True)
            return self.decoder(summary, targets, context.shape[1])

    net = Process()
    grad_fn = ms.value_and_grad(lambda c, t: net(c, t).sum(), None, net.trainable_params())
    grad_fn(floats(2, 7, 2), floats(2, 6, 1))


@raises(
    ValueError,
    "recomputed block",
    "The second layer of a recomputed block does not fit the first.",
    "block.out",
    "(2, 10)",
    "block.out.weight",
    "8",
    "hidden",
)
def recomputed_block() -> None:
    class Block(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.up = nn.Dense(4, 10)
            self.out = nn.Dense(8, 4)

        def construct(self, x: Any) -> Any:
            hidden = ops.gelu(self.up(x))
            return x + self.out(hidden)  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()
            self.block.recompute()

        def construct(self, x: Any) -> Any:
            return self.block(x)

    net = Net()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(2, 4))


@raises(
    ValueError,
    "functional training step",
    "The soft labels of the teacher have another number of classes.",
    None,
    "student",
    "teacher",
    "(6, 4)",
    "(6, 5)",
)
def distillation_with_other_classes() -> None:
    net, fixed = nn.Dense(3, 4), nn.Dense(3, 5)

    def divergence(student: Any, teacher: Any) -> Any:
        return ops.kl_div(ops.log_softmax(student, -1), ops.softmax(teacher, -1))  # raised

    def step(x: Any) -> Any:
        return divergence(net(x), ops.stop_gradient(fixed(x)))

    ms.value_and_grad(step, None, net.trainable_params())(floats(6, 3))


@raises(
    ValueError,
    "bidirectional reader",
    "Both directions of the reader together are twice as wide.",
    "classify",
    "reader",
    "last",
    "(3, 12)",
    "6",
    "classify.weight",
)
def reader_in_both_directions() -> None:
    class Reader(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.reader = nn.GRU(2, 6, batch_first=True, bidirectional=True)
            self.classify = nn.Dense(6, 2)

        def construct(self, words: Any) -> Any:
            states, _ = self.reader(words)
            last = states[:, -1]
            return self.classify(last)  # raised

    Reader()(floats(3, 5, 2))


@raises(
    ValueError,
    "masked pooling",
    "The mask of the valid steps lacks the axis of the features.",
    "pool",
    "mul",
    "frames",
    "(2, 6, 3)",
    "(2, 6)",
    "mask",
)
def mask_without_an_axis_of_features() -> None:
    class Pool(nn.Cell):
        def construct(self, frames: Any, mask: Any) -> Any:
            return (frames * mask).sum(1) / mask.sum(1)  # raised

    class Audio(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.front = nn.Dense(4, 3)
            self.pool = Pool()

        def construct(self, waves: Any, mask: Any) -> Any:
            return self.pool(self.front(waves), mask)

    Audio()(floats(2, 6, 4), Tensor(np.ones((2, 6), np.float32)))


@raises(
    AttributeError,
    "equivariant network",
    "A tuple of a layer's outputs is used like one tensor.",
    "",
    "tuple",
    "flatten",
    "split",
)
def tuple_used_like_a_tensor() -> None:
    class Split(nn.Cell):
        def construct(self, x: Any) -> Any:
            return x[:, :2], x[:, 2:]

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.split = Split()

        def construct(self, x: Any) -> Any:
            parts = self.split(x)
            return parts.flatten()  # raised

    Net()(floats(3, 4))


@raises(
    ValueError,
    "quantile regression",
    "One prediction for each quantile is compared with the values without an axis.",
    None,
    "sub",
    "values",
    "(7,)",
    "forecast",
    "(7, 3)",
)
def quantiles_compared_with_flat_values() -> None:
    net = nn.SequentialCell(nn.Dense(2, 8), nn.SiLU(), nn.Dense(8, 3))
    quantiles = Tensor(np.array([0.1, 0.5, 0.9], np.float32))

    def pinball(forecast: Any, values: Any) -> Any:
        gap = values - forecast  # raised
        return ops.maximum(quantiles * gap, (quantiles - 1) * gap).mean()

    ms.value_and_grad(lambda x, y: pinball(net(x), y), None, net.trainable_params())(floats(7, 2), floats(7))


@raises(
    TypeError,
    "network that is called with a wrong keyword",
    "A keyword of the call is none of the layer's.",
    "gate",
    "temperature",
    "scale",
    "construct",
)
def keyword_of_another_layer() -> None:
    class Gate(nn.Cell):
        def construct(self, x: Any, scale: float = 1.0) -> Any:
            return ops.sigmoid(x * scale)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.gate = Gate()

        def construct(self, x: Any) -> Any:
            return x * self.gate(x, temperature=0.5)  # raised

    Net()(floats(2, 3))


@raises(
    ValueError,
    "patch embedding",
    "The image is cut into patches that do not cover it.",
    "patches",
    "reshape",
    "image",
    "(2, 3, 10, 10)",
    "600",
    "(2, 3, 2, 4, 2, 4)",
    "384",
)
def patches_that_do_not_cover_the_image() -> None:
    class Patches(nn.Cell):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.size = size
            self.embed = nn.Dense(3 * size * size, 8)

        def construct(self, image: Any) -> Any:
            n, c, h, w = image.shape
            p = self.size
            cut = image.reshape(n, c, h // p, p, w // p, p)  # raised
            return self.embed(cut.permute(0, 2, 4, 1, 3, 5).reshape(n, -1, c * p * p))

    class Vision(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.patches = Patches(4)

        def construct(self, image: Any) -> Any:
            return self.patches(image).mean(1)

    Vision()(floats(2, 3, 10, 10))
