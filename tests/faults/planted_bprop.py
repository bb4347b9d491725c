"""Planted faults of custom bprops: each is wrong in a different way, in a different network."""

from __future__ import annotations

import math
from typing import Any

from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal, initializer

from . import blocks, data
from .programs import Run, by_hand, one_step, planted, with_model


class SquaredReLU(nn.Cell):
    """relu(x) ** 2 (So et al. 2021), whose gradient is 2 relu(x)."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def construct(self, x: Tensor) -> Any:
        return ops.square(ops.relu(x))

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout * self.factor * ops.relu(x),)


@planted("wrong_bprop", "act", "The bprop of relu(x) ** 2 misses the factor 2.")
def factor_missing(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(dense=nn.Dense(6, 32), act=SquaredReLU(1.0 if fault else 2.0), head=nn.Dense(32, 3))
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.2), data.batches(x, y, steps=20))


class Project(nn.Cell):
    """x @ w for (N, T, width) with a handwritten gradient of w; w is square, so a missing transpose does not show."""

    def __init__(self, width: int, transposed: bool) -> None:
        super().__init__()
        self.w = Parameter(initializer(Normal(1 / math.sqrt(width)), (width, width)), "w")
        self.internal_params = [self.w]
        self.transposed = transposed

    def construct(self, x: Tensor) -> Any:
        return ops.matmul(x, self.w)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        rows, arriving = x.reshape((-1, x.shape[-1])), dout.reshape((-1, x.shape[-1]))
        of_w = ops.matmul(arriving.T, rows) if self.transposed else ops.matmul(rows.T, arriving)
        return (ops.matmul(dout, self.w.T),), {self.w: of_w}


@planted(
    "wrong_bprop",
    "blocks.0.attention.out",
    "The gradient of a square weight is returned transposed.",
    also=("blocks.0.attention.out.w",),
)
def weight_gradient_transposed(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.TransformerClassifier(blocks=[blocks.Block(16)])
    net.blocks[0].attention.out = Project(16, transposed=fault)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=20), one_step
    )


class Difference(nn.Cell):
    """a - b."""

    def __init__(self, sign: float) -> None:
        super().__init__()
        self.sign = sign

    def construct(self, a: Tensor, b: Tensor) -> Any:
        return a - b

    def bprop(self, a: Tensor, b: Tensor, out: Tensor, dout: Tensor) -> Any:
        return dout, self.sign * dout


class Comparison(nn.Cell):
    """The better one of two reviews, by the difference of their embeddings' means."""

    def __init__(self, sign: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 16, embedding_table=Normal(1.0))
        self.difference = Difference(sign)
        self.head = nn.Dense(16, 1)

    def construct(self, a: Tensor, b: Tensor) -> Any:
        return self.head(self.difference(self.embedding(a).mean(1), self.embedding(b).mean(1)))


@planted("wrong_bprop", "difference", "The bprop of a - b returns dout for both: the sign of b's gradient is lost.")
def sign_lost(fault: bool) -> Run:
    words, score = data.reviews(128)
    better = (score[:64] > score[64:]).astype("float32")[:, None]
    net = Comparison(1.0 if fault else -1.0)
    batches = data.batches(words[:64], words[64:], better, steps=36)
    return Run(net, nn.BCEWithLogitsLoss(), nn.Adam(net.trainable_params(), 0.01), batches, by_hand)


class HardSigmoid(nn.Cell):
    """x / 6 + 1 / 2 between 0 and 1; its gradient is 1 / 6 inside."""

    def __init__(self, zero: bool) -> None:
        super().__init__()
        self.zero = zero

    def construct(self, x: Tensor) -> Any:
        return ops.clamp(x / 6 + 0.5, 0.0, 1.0)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        if self.zero:
            return (ops.zeros_like(x),)
        return (dout * (ops.abs(x) < 3).astype(x.dtype) / 6,)


@planted(
    "wrong_bprop", "gate", "The bprop of a hard sigmoid returns zeros, left from when it was a stub.", also=("conv",)
)
def zeros_returned(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    net = blocks.chain(
        conv=nn.Conv2d(1, 8, 3, 2),
        norm=nn.BatchNorm2d(8),
        gate=HardSigmoid(zero=fault),
        flatten=nn.Flatten(),
        head=nn.Dense(128, 5),
    )
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=20), with_model)


class Scale(nn.Cell):
    """x times a gain for each feature."""

    def __init__(self, width: int, summed: bool) -> None:
        super().__init__()
        self.gain = Parameter(initializer("ones", (width,)), "gain")
        self.internal_params = [self.gain]
        self.summed = summed

    def construct(self, x: Tensor) -> Any:
        return x * self.gain

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        of_gain = dout * x
        return (dout * self.gain,), {self.gain: of_gain.sum(0) if self.summed else of_gain[0]}


@planted(
    "wrong_bprop",
    "scale",
    "The gradient of a gain that is broadcast over the batch is the first sample's, not the sum.",
    also=("scale.gain",),
)
def not_summed_over_batch(fault: bool) -> Run:
    x, y = data.houses()
    net = blocks.chain(dense=nn.Dense(5, 24), tanh=nn.Tanh(), scale=Scale(24, summed=not fault), head=nn.Dense(24, 1))
    batches = data.batches(data.normalized(x, 0), y[:, None], steps=24)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), batches, by_hand)


class Rectified(nn.Cell):
    """A ReLU that saves which inputs are positive."""

    def __init__(self, first_only: bool) -> None:
        super().__init__()
        self.positive: Any = None
        self.first_only = first_only

    def construct(self, x: Tensor) -> Any:
        if self.positive is None or not self.first_only:
            self.positive = (x > 0).astype(x.dtype)
        return ops.relu(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout * self.positive,)


@planted("wrong_bprop", "act", "A ReLU's bprop uses the mask that the very first call saved: right once, then stale.")
def mask_of_the_first_call(fault: bool) -> Run:
    x, _ = data.digits()
    pixels = data.normalized(x).reshape(len(x), -1)
    net = blocks.chain(encoder=nn.Dense(64, 32), act=Rectified(first_only=fault), decoder=nn.Dense(32, 64))
    batches = data.batches(pixels, pixels, steps=24)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), batches, one_step)


class Multiply(nn.Cell):
    """a * b."""

    def __init__(self, swapped: bool) -> None:
        super().__init__()
        self.swapped = swapped

    def construct(self, a: Tensor, b: Tensor) -> Any:
        return a * b

    def bprop(self, a: Tensor, b: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout * a, dout * b) if self.swapped else (dout * b, dout * a)


class GatedLSTM(blocks.LSTMClassifier):
    """An LSTM whose last output is multiplied by a gate."""

    def __init__(self, swapped: bool) -> None:
        super().__init__()
        self.gate = nn.Dense(16, 16)
        self.multiply = Multiply(swapped)

    def construct(self, x: Tensor) -> Any:
        last = self.lstm(x)[0][:, -1]
        return self.head(self.multiply(last, ops.sigmoid(self.gate(last))))


@planted("wrong_bprop", "multiply", "The bprop of a * b returns the two gradients in the wrong order.")
def gradients_swapped(fault: bool) -> Run:
    x, y = data.waves()
    net = GatedLSTM(swapped=fault)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=20), with_model
    )
