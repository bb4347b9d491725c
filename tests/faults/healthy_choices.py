"""Healthy: deliberate choices that resemble faults: frozen parts, zeros, shared weights, rate 0, -inf, float16."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import HeNormal, Normal, Orthogonal, initializer

from . import blocks, data
from .programs import Run, by_hand, healthy, one_step, tensors, with_model


def classified(net: nn.Cell, columns: tuple[data.Array, ...], rate: Any = 0.01, way: Any = by_hand) -> Run:
    batches = data.batches(*columns, steps=24)
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), rate), batches, way)


def flat_digits() -> tuple[data.Array, data.Array]:
    x, y = data.digits()
    return data.normalized(x).reshape(64, -1), y


class FineTuned(nn.Cell):
    """Trained and frozen features, with BatchNorm always in predict mode, and a new head."""

    def __init__(self, features: nn.Cell) -> None:
        super().__init__()
        self.features = features
        self.head = nn.Dense(16, 10)
        for parameter in features.get_parameters():
            parameter.requires_grad = False

    def set_train(self, mode: bool = True) -> Any:
        super().set_train(mode)
        self.features.set_train(False)
        return self

    def construct(self, x: Tensor) -> Any:
        return self.head(self.features(x))


@healthy("Fine-tuning: a frozen backbone whose BatchNorm is in predict mode, and a head that learns.")
def frozen_backbone() -> Run:
    x, y = data.digits(64)
    x = data.normalized(x)
    pretrained = nn.SequentialCell(
        nn.Conv2d(1, 12, 3),
        nn.BatchNorm2d(12),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(192, 16),
        nn.ReLU(),
        nn.Dense(16, 10),
    )
    optimizer = nn.Adam(pretrained.trainable_params(), 0.003)
    by_hand(Run(pretrained, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=30)))
    return classified(FineTuned(pretrained[:7]), (x, y), 0.02)


@healthy("The output layer of a language model is its embedding, transposed.")
def tied_weights() -> Run:
    x, y = data.text()
    net = blocks.LanguageModel(width=24)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=24), one_step
    )


class Recaller(nn.Cell):
    """An RNN with its own Parameters that recalls the start of a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = blocks.Elman(4, 24, Orthogonal(1.0))
        self.head = nn.Dense(24, 4)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.rnn(x))


def clipped(run: Run) -> list[float]:
    run.net.set_train()
    step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, run.optimizer.parameters)
    losses = []
    for batch in run.batches:
        loss, gradients = step(*tensors(batch))
        run.optimizer(ops.clip_by_global_norm(gradients, 1.0))
        losses.append(float(loss))
    return losses


@healthy("An RNN whose gradients are clipped to the norm 1.")
def clipped_gradients() -> Run:
    return classified(Recaller(), data.recall(length=8), way=clipped)


@healthy("Dropout of one half, between wide layers.")
def dropout_of_one_half() -> Run:
    net = nn.SequentialCell(nn.Dense(64, 96), nn.ReLU(), nn.Dropout(p=0.5), nn.Dense(96, 10))
    return classified(net, flat_digits(), way=with_model)


@healthy("A series with gaps: the error counts only where there is a value.")
def masked_loss() -> Run:
    x, _ = data.waves(length=12)
    known = (np.random.default_rng(0).random(x.shape) < 0.6).astype(np.float32)
    target = np.concatenate([x, known], 2)

    def loss(output: Tensor, target: Tensor) -> Any:
        values, mask = target[:, :, :2], target[:, :, 2:]
        return (ops.square(output - values) * mask).sum() / mask.sum()

    net = blocks.mlp(2, 24, 2)
    batches = data.batches(x * known, target, steps=24)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), batches)


@healthy("Bags of words: more than nine of ten inputs are zeros, and most columns of the weight rest.")
def sparse_inputs() -> Run:
    words, y = data.reviews(64, 8, 120)
    counts = np.stack([np.bincount(row, minlength=120) for row in words]).astype(np.float32)
    counts[:, 0] = 0
    return classified(blocks.mlp(120, 24, 3), (counts, y), 0.02)


@healthy("ReLUs after He's initialization, of which about half give zero.")
def half_of_the_relus_at_zero() -> Run:
    layers: list[nn.Cell] = []
    for before, after in ((64, 48), (48, 48), (48, 48)):
        layers += [nn.Dense(before, after, weight_init=HeNormal(), bias_init="zeros"), nn.ReLU()]
    return classified(nn.SequentialCell([*layers, nn.Dense(48, 10)]), flat_digits(), 0.003, one_step)


@healthy("A warmup that begins at the learning rate 0.")
def warmup_from_zero() -> Run:
    rates = [0.01 * min(1.0, step / 8) for step in range(40)]
    return classified(blocks.TransformerClassifier(), data.waves(), rates)


def accumulated(run: Run) -> list[float]:
    """Return the sum of four small batches' gradients for one step."""
    run.net.set_train()
    step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y) / 4, None, run.optimizer.parameters)
    losses: list[float] = []
    total: Any = None
    for number, batch in enumerate(run.batches):
        loss, gradients = step(*tensors(batch))
        total = gradients if total is None else tuple(a + b for a, b in zip(total, gradients, strict=True))
        losses.append(4 * float(loss))
        if number % 4 == 3:
            run.optimizer(total)
            total = None
    return losses


@healthy("Gradients of four small batches are summed for each step of the optimizer.")
def accumulated_gradients() -> Run:
    net = blocks.mlp(6, 24, 3)
    batches = data.batches(*data.flowers(), size=4, steps=40)
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.3), batches, accumulated)


class MeanTeacher(nn.Cell):
    """A student, and a teacher that follows it by a moving average and has no gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.student = blocks.mlp(6, 24, 3)
        self.teacher = copy.deepcopy(self.student)
        for parameter in self.teacher.get_parameters():
            parameter.requires_grad = False

    def construct(self, x: Tensor) -> Any:
        return self.student(x), ops.stop_gradient(self.teacher(x))


def with_moving_average(run: Run) -> list[float]:
    def loss(x: Tensor, y: Tensor) -> Any:
        student, teacher = run.net(x)
        return run.loss(student, y) + 0.1 * ops.square(student - teacher).mean()

    run.net.set_train()
    step = ms.value_and_grad(loss, None, run.optimizer.parameters)
    losses = []
    for batch in run.batches:
        value, gradients = step(*tensors(batch))
        run.optimizer(gradients)
        pairs = zip(run.net.teacher.get_parameters(), run.net.student.get_parameters(), strict=True)
        for theirs, ours in pairs:
            theirs.set_data(0.9 * theirs + 0.1 * ours)
        losses.append(float(value))
    return losses


@healthy("A mean teacher: a second network without gradients follows the first.")
def teacher_by_moving_average() -> Run:
    net = MeanTeacher()
    optimizer = nn.SGD(net.student.trainable_params(), 0.2)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(*data.flowers(), steps=24), with_moving_average)


class PaddedAttention(nn.Cell):
    """Attention with -inf in the mask for padding; each row has words."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 16, embedding_table=Normal(1.0))
        self.attention = blocks.Attention(16)
        self.pool, self.head = blocks.MaskedMean(), nn.Dense(16, 3)

    def construct(self, words: Tensor) -> Any:
        mask = ops.where(ops.equal(words, 0), Tensor(-np.inf, ms.float32), Tensor(0.0, ms.float32))
        return self.head(self.pool(self.attention(self.embedding(words), mask.expand_dims(1).expand_dims(1)), words))


@healthy("A mask of -inf before the softmax of attention, for padding tokens.")
def mask_of_minus_infinity() -> Run:
    return classified(PaddedAttention(), data.reviews(), way=one_step)


@healthy("One sample of ten is of the rare class; the loss gives it more weight.")
def one_in_ten() -> Run:
    random = np.random.default_rng(0)
    y = (np.arange(128) % 10 == 0).astype(np.float32)
    x = data.normalized(random.normal(0, 1, (128, 6)) + 1.2 * y[:, None], 0)
    net = blocks.mlp(6, 24, 1)
    loss = nn.BCEWithLogitsLoss(pos_weight=Tensor([5.0], ms.float32))
    return Run(
        net, loss, nn.Adam(net.trainable_params(), 0.02), data.batches(x, y[:, None], size=32, steps=32), with_model
    )


@healthy("Focal loss by hand on unbalanced classes.")
def focal_loss() -> Run:
    x, y = data.flowers(96)
    kept = (y != 2) | (np.arange(96) % 4 == 0)
    net = blocks.mlp(6, 24, 3)

    def loss(logits: Tensor, labels: Tensor) -> Any:
        log_p = ops.gather_elements(ops.log_softmax(logits, 1), 1, labels.expand_dims(1))
        return -(ops.square(1 - ops.exp(log_p)) * log_p).mean()

    return Run(net, loss, nn.Adam(net.trainable_params(), 0.02), data.batches(x[kept], y[kept], steps=24))


@healthy("Layer normalization after each dense layer.")
def layer_normalization() -> Run:
    net = nn.SequentialCell(nn.Dense(64, 48), nn.LayerNorm((48,)), nn.GELU(), nn.Dense(48, 10))
    return classified(net, flat_digits(), way=one_step)


@healthy("Group normalization, which makes training with a batch of one right.")
def group_normalization_with_batch_of_one() -> Run:
    x, y = data.digits(24, classes=3)
    net = nn.SequentialCell(
        nn.Conv2d(1, 12, 3, 2),
        nn.GroupNorm(3, 12),
        nn.ReLU(),
        nn.Conv2d(12, 12, 3, 2),
        nn.GroupNorm(3, 12),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dense(48, 3),
    )
    batches = data.batches(data.normalized(x), y, size=1, steps=40)
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.01), batches)


class Swish(nn.Cell):
    """x sigmoid(x) with a handwritten gradient."""

    def construct(self, x: Tensor) -> Any:
        return x * ops.sigmoid(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        gate = ops.sigmoid(x)
        return (dout * (gate + out * (1 - gate)),)


@healthy("A custom bprop that is right.")
def right_bprop() -> Run:
    return classified(nn.SequentialCell(nn.Dense(6, 24), Swish(), nn.Dense(24, 3)), data.flowers(), 0.02)


class Sign(nn.Cell):
    """The sign, with the gradient of a clipped identity instead of its own (Hubara et al. 2016)."""

    def construct(self, x: Tensor) -> Any:
        return ops.sign(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout * (ops.abs(x) < 1).astype(x.dtype),)


@healthy("A straight-through estimator: the bprop of sign is not its gradient, on purpose.")
def straight_through_bprop() -> Run:
    net = nn.SequentialCell(nn.Dense(6, 32), nn.LayerNorm((32,)), Sign(), nn.Dense(32, 3))
    return classified(net, data.flowers(), 0.02, one_step)


class Quantized(nn.Cell):
    """A dense layer whose weight is rounded to steps of 1/8; x + stop_gradient(round(x) - x)."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.weight = Parameter(initializer(HeNormal(), (before, after)), "weight")

    def construct(self, x: Tensor) -> Any:
        rounded = ops.round(self.weight * 8) / 8
        return ops.matmul(x, self.weight + ops.stop_gradient(rounded - self.weight))


@healthy("Quantized weights: stop_gradient inside an expression, on purpose.")
def straight_through_stop_gradient() -> Run:
    net = nn.SequentialCell(Quantized(6, 24), nn.ReLU(), nn.Dense(24, 3))
    return classified(net, data.flowers(), 0.02, with_model)


class Half(nn.Cell):
    """Two layers in float16 between float32."""

    def __init__(self) -> None:
        super().__init__()
        self.body = blocks.mlp(64, 32, 32)
        self.body.to_float(ms.float16)
        self.head = nn.Dense(32, 10)

    def construct(self, x: Tensor) -> Any:
        return self.head(ops.relu(self.body(x)).astype(ms.float32))


def with_loss_scaling(run: Run) -> list[float]:
    manager = nn.DynamicLossScaleUpdateCell(2**10, 2, 50)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(run.net, run.loss), run.optimizer, manager)
    step.set_train()
    return [float(step(*tensors(batch))[0]) for batch in run.batches]


@healthy("float16 in the hidden layers, with a dynamic loss scale.")
def float16_with_loss_scaling() -> Run:
    return classified(Half(), flat_digits(), 0.005, with_loss_scaling)


@healthy("Cosine decay to 0 at the very last step, and weight decay for the weights alone.")
def cosine_decay_and_groups() -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN()
    weights = [p for p in net.trainable_params() if p.ndim > 1]
    others = [p for p in net.trainable_params() if p.ndim == 1]
    groups = [{"params": weights, "weight_decay": 1e-3}, {"params": others}]
    optimizer = nn.Momentum(groups, nn.CosineDecayLR(0.0, 0.05, 24), 0.9)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=24), one_step)


class Fixup(nn.Cell):
    """x + w2 relu(w1 x), where w2 begins with zeros."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Dense(width, width, weight_init=HeNormal(), bias_init="zeros")
        self.last = nn.Dense(width, width, weight_init="zeros", bias_init="zeros")

    def construct(self, x: Tensor) -> Any:
        return x + self.last(ops.relu(self.first(x)))


@healthy("Residual branches end with a layer of zeros, so that each block begins as the identity (Zhang et al. 2019).")
def branches_begin_with_zeros() -> Run:
    net = nn.SequentialCell(nn.Dense(6, 24), Fixup(24), Fixup(24), Fixup(24), nn.Dense(24, 3))
    return classified(net, data.flowers(), 0.005)


class Recurring(nn.Cell):
    """One block applied three times, as a universal Transformer does (Dehghani et al. 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.block, self.head = nn.Dense(2, 16), blocks.Block(16), nn.Dense(16, 3)

    def construct(self, x: Tensor) -> Any:
        x = self.embed(x)
        for _ in range(3):
            x = self.block(x)
        return self.head(x.mean(1))


@healthy("One Transformer block is applied three times in a loop, on purpose.")
def one_block_in_a_loop() -> Run:
    return classified(Recurring(), data.waves(), 0.005, with_model)
