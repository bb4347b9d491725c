"""Healthy: unusual but right choices of training, weights and layers."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Constant, HeNormal, Normal, initializer
from tests.faults import blocks, data
from tests.faults import more_ways as ways
from tests.faults.programs import Run, by_hand, healthy, one_step, tensors, with_model


def flat(classes: int = 10, count: int = 64) -> tuple[Any, Any]:
    x, y = data.digits(count, classes=classes)
    return data.normalized(x).reshape(count, -1), y


def ce(net: nn.Cell, columns: Any, rate: Any = 0.01, way: Any = by_hand, steps: int = 28, loss: Any = None) -> Run:
    batches = data.batches(*columns, steps=steps)
    return Run(net, loss or nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), rate), batches, way)


def freeze(cell: nn.Cell) -> nn.Cell:
    for p in cell.get_parameters():
        p.requires_grad = False
    return cell


class Frozen(nn.Cell):
    """Features that replace pretrained ones, and a head."""

    def __init__(self, body: nn.Cell, head: nn.Cell, stop: bool = False) -> None:
        super().__init__()
        self.backbone, self.head, self.stop = freeze(body), head, stop

    def construct(self, x: Tensor) -> Any:
        x = self.backbone(x)
        return self.head(ops.stop_gradient(x) if self.stop else x)


@healthy("A backbone frozen at random, in the place of a pretrained one, and a head that learns.")
def random_backbone() -> Run:
    net = Frozen(blocks.mlp(64, 64, 48, last=nn.ReLU()), nn.Dense(48, 10))
    return ce(net, flat(), 0.02, one_step)


@healthy("A frozen backbone with stop_gradient as well, and a head of two layers by Model.train.")
def random_backbone_with_stop() -> Run:
    body = nn.SequentialCell(nn.Conv2d(1, 12, 3, 2), nn.ReLU(), nn.Flatten())
    x, y = data.digits(classes=5)
    return ce(Frozen(body, blocks.mlp(192, 24, 5), True), (data.normalized(x), y), 0.01, with_model)


class LowRank(nn.Cell):
    """Hu et al. 2021: a frozen dense layer, plus x A B with B of zeros."""

    def __init__(self, before: int, after: int, rank: int = 4) -> None:
        super().__init__()
        self.dense = freeze(nn.Dense(before, after))
        self.a = Parameter(initializer(Normal(1 / math.sqrt(before)), (before, rank)), "a")
        self.b = Parameter(initializer("zeros", (rank, after)), "b")

    def construct(self, x: Tensor) -> Any:
        return self.dense(x) + 2.0 * ops.matmul(ops.matmul(x, self.a), self.b)


@healthy("LoRA adapters: frozen layers, and low-rank parts that begin with zeros.")
def low_rank_adapters() -> Run:
    net = nn.SequentialCell(LowRank(64, 32), nn.ReLU(), LowRank(32, 32), nn.ReLU(), nn.Dense(32, 10))
    return ce(net, flat(), 0.01, ways.own_weights)


@healthy("LoRA on the queries and values of a frozen Transformer block; head and norms learn.")
def low_rank_attention() -> Run:
    class Attention(blocks.Attention):
        def __init__(self) -> None:
            super().__init__(16)
            freeze(self)
            self.query, self.value = LowRank(16, 16), LowRank(16, 16)

    net = blocks.TransformerClassifier(blocks=[blocks.Block(16, attention=Attention()) for _ in range(2)])
    for block in net.blocks:
        freeze(block.mlp)
    return ce(net, data.waves(), 0.01, one_step)


@healthy("The last layer begins with zeros, so that the first guess is even.")
def zero_head() -> Run:
    net = nn.SequentialCell(nn.Dense(64, 32), nn.ReLU(), nn.Dense(32, 10, weight_init="zeros", bias_init="zeros"))
    return ce(net, flat(), 0.01)


@healthy("A regression whose last layer begins with zeros.")
def zero_regression_head() -> Run:
    x, y = data.houses()
    net = blocks.chain(body=blocks.mlp(5, 32, 32, last=nn.Tanh()), out=nn.Dense(32, 1, weight_init="zeros"))
    batches = data.batches(data.normalized(x, 0), y[:, None], steps=28)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), batches, one_step)


@healthy("A linear softmax regression that begins with zeros in all weights, which is right for one layer.")
def softmax_regression_from_zeros() -> Run:
    return ce(nn.Dense(6, 3, weight_init="zeros", bias_init="zeros"), data.flowers(), 0.05, with_model)


@healthy("Linear warm-up from a tiny rate, then a cosine to nearly 0.")
def warmup_and_cosine() -> Run:
    rates = [0.01 * ((s + 1) / 6 if s < 6 else 0.5 * (1 + math.cos(math.pi * (s - 6) / 26))) for s in range(32)]
    return ce(blocks.LSTMClassifier(), data.waves(), [3 * r for r in rates], ways.own_weights, 32)


@healthy("One-cycle by hand: the rate is assigned each step, and ends at 1/100 of its peak.")
def one_cycle() -> Run:
    def way(run: Run) -> list[float]:
        run.net.set_train()
        step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, run.optimizer.parameters)
        losses = []
        for number, batch in enumerate(run.batches):
            t = number / len(run.batches)
            rate = 0.2 * (0.1 + 0.9 * t / 0.3 if t < 0.3 else 1 - 0.99 * (t - 0.3) / 0.7)
            ops.assign(run.optimizer.learning_rate, Tensor(rate, ms.float32))
            loss, gradients = step(*tensors(batch))
            run.optimizer(gradients)
            losses.append(float(loss))
        return losses

    net = blocks.mlp(6, 32, 3)
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.SGD(net.trainable_params(), 0.02, momentum=0.9),
        data.batches(*data.flowers(), steps=30),
        way,
    )


class Distilled(nn.Cell):
    def __init__(self, teacher: nn.Cell, student: nn.Cell) -> None:
        super().__init__()
        self.teacher, self.student = freeze(teacher), student

    def construct(self, x: Tensor) -> Any:
        return self.student(x), ops.stop_gradient(self.teacher(x))


@healthy("Distillation at temperature 2 from a trained teacher, with nn.KLDivLoss's formula by hand.")
def distillation() -> Run:
    x, y = flat()
    teacher = blocks.mlp(64, 64, 10)
    by_hand(
        Run(teacher, nn.CrossEntropyLoss(), nn.Adam(teacher.trainable_params(), 0.01), data.batches(x, y, steps=24))
    )

    def loss(net: Any, x: Tensor, y: Tensor) -> Any:
        student, target = net(x)
        p = ops.softmax(target / 2, 1)
        soft = (p * (ops.log(p + 1e-8) - ops.log_softmax(student / 2, 1))).sum(1).mean()
        return 0.5 * ops.cross_entropy(student, y) + 2.0 * soft

    net = Distilled(teacher, blocks.mlp(64, 24, 10))
    return Run(
        net, None, nn.Adam(net.student.trainable_params(), 0.01), data.batches(x, y, steps=28), ways.of_function(loss)
    )


class WithAverage(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.model = blocks.mlp(6, 24, 3)
        self.average = freeze(copy.deepcopy(self.model))

    def construct(self, x: Tensor) -> Any:
        return self.model(x) if self.training else self.average(x)


@healthy("An averaged copy of the weights is used in evaluation only.")
def averaged_copy() -> Run:
    def way(run: Run) -> list[float]:
        run.net.set_train()
        step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, run.optimizer.parameters)
        losses = []
        for batch in run.batches:
            loss, gradients = step(*tensors(batch))
            run.optimizer(gradients)
            for slow, fast in zip(run.net.average.get_parameters(), run.net.model.get_parameters(), strict=True):
                slow.set_data(0.95 * slow + 0.05 * fast)
            losses.append(float(loss))
        run.net.set_train(False)
        run.net(Tensor(run.batches[0][0]))
        return losses

    net = WithAverage()
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.model.trainable_params(), 0.02),
        data.batches(*data.flowers(), steps=28),
        way,
    )


@healthy("Label smoothing of 0.1.")
def label_smoothing() -> Run:
    return ce(blocks.mlp(6, 32, 3), data.flowers(), 0.02, with_model, loss=nn.CrossEntropyLoss(label_smoothing=0.1))


@healthy("Mixed-up samples with soft labels.")
def mixed_up() -> Run:
    x, y = flat(5)
    share = np.random.default_rng(0).beta(0.4, 0.4, (64, 1)).astype(np.float32)
    other = np.random.default_rng(1).permutation(64)
    one_hot = np.eye(5, dtype=np.float32)[y]
    mixed, soft = share * x + (1 - share) * x[other], share * one_hot + (1 - share) * one_hot[other]
    return ce(blocks.mlp(64, 48, 5), (mixed, soft.astype(np.float32)), 0.01, one_step, 32)


@healthy("Class weights for 8 to 1 in CrossEntropyLoss.")
def weighted_classes() -> Run:
    random = np.random.default_rng(0)
    y = (np.arange(128) % 8 == 0).astype(np.int32)
    x = data.normalized(random.normal(0, 1, (128, 6)) + 1.3 * y[:, None], 0)
    loss = nn.CrossEntropyLoss(weight=Tensor([0.3, 2.0], ms.float32))
    net = blocks.mlp(6, 24, 2)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, size=32, steps=28), with_model)


@healthy("Unbalanced data as they are: some small batches have no sample of the rare class.")
def rare_class_absent_from_some_batches() -> Run:
    random = np.random.default_rng(0)
    y = np.zeros(96, np.float32)
    y[[3, 9, 20, 40, 41, 75, 90]] = 1
    x = data.normalized(random.normal(0, 1, (96, 6)) + 2 * y[:, None], 0)
    net = blocks.mlp(6, 16, 1)
    return Run(
        net, nn.BCEWithLogitsLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y[:, None], steps=36)
    )


@healthy("A LayerNorm network is trained a sample at a time.")
def one_sample_at_a_time() -> Run:
    net = nn.SequentialCell(nn.Dense(6, 24), nn.LayerNorm((24,)), nn.ReLU(), nn.Dense(24, 3))
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(*data.flowers(), size=1, steps=60),
        one_step,
    )


@healthy("A reconstruction with GroupNorm, a picture at a time.")
def one_picture_with_group_norm() -> Run:
    x, _ = data.digits(24)
    x = data.normalized(x)
    net = nn.SequentialCell(nn.Conv2d(1, 8, 3, 2), nn.GroupNorm(2, 8), nn.ReLU(), nn.Conv2dTranspose(8, 1, 4, 2))
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, x, size=1, steps=48))


class Closed(nn.Cell):
    """x + tanh(g) f(x), with g at 0 (ReZero, Flamingo's gates)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = blocks.mlp(width, 2 * width, width)
        self.gate = Parameter(Tensor(0.0, ms.float32), "gate")

    def construct(self, x: Tensor) -> Any:
        return x + ops.tanh(self.gate) * self.body(x)


@healthy("ReZero: residual branches behind gates that begin at 0.")
def gates_begin_closed() -> Run:
    net = nn.SequentialCell(nn.Dense(64, 24), Closed(24), Closed(24), Closed(24), nn.Dense(24, 10))
    return ce(net, flat(), 0.01)


@healthy("LayerScale: branches are multiplied by 1e-4 at first (Touvron et al. 2021).")
def layer_scale() -> Run:
    class Scaled(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.body = nn.LayerNorm((24,)), blocks.mlp(24, 48, 24, activation=nn.GELU)
            self.gamma = Parameter(initializer(Constant(1e-4), (24,)), "gamma")

        def construct(self, x: Tensor) -> Any:
            return x + self.gamma * self.body(self.norm(x))

    return ce(nn.SequentialCell(nn.Dense(64, 24), Scaled(), Scaled(), nn.Dense(24, 10)), flat(), 0.01, one_step)


@healthy("A highway network whose gates begin at bias -2.")
def highway() -> Run:
    class Way(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.f, self.gate = nn.Dense(24, 24), nn.Dense(24, 24, bias_init=Constant(-2.0))

        def construct(self, x: Tensor) -> Any:
            t = ops.sigmoid(self.gate(x))
            return t * ops.relu(self.f(x)) + (1 - t) * x

    return ce(
        nn.SequentialCell(nn.Dense(6, 24), Way(), Way(), Way(), nn.Dense(24, 3)), data.flowers(), 0.01, with_model
    )


@healthy("Squeeze-and-excitation with hard sigmoids and hard swish.")
def hard_sigmoids() -> Run:
    class Excite(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.down, self.up, self.gate = nn.Dense(12, 6), nn.Dense(6, 12), nn.HSigmoid()

        def construct(self, x: Tensor) -> Any:
            s = self.gate(self.up(ops.relu(self.down(x.mean((2, 3))))))
            return x * s.expand_dims(-1).expand_dims(-1)

    x, y = data.textures(48)
    net = nn.SequentialCell(
        nn.Conv2d(3, 12, 3, 2),
        nn.HSwish(),
        Excite(),
        nn.Conv2d(12, 12, 3, 2),
        nn.HSwish(),
        nn.Flatten(),
        nn.Dense(192, 4),
    )
    return ce(net, (x, y), 0.005, ways.grad_operation)


class Binary(nn.Cell):
    """Weights of +-1 times their mean size, straight through (Rastegari et al. 2016)."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.weight = Parameter(initializer(HeNormal(), (before, after)), "weight")

    def construct(self, x: Tensor) -> Any:
        w = self.weight
        size = ops.stop_gradient(ops.abs(w).mean())
        return ops.matmul(x, w + ops.stop_gradient(size * ops.sign(w) - w))


@healthy("Binary weights with the straight-through gradient.")
def binary_weights() -> Run:
    net = nn.SequentialCell(
        nn.Dense(64, 48),
        nn.LayerNorm((48,)),
        nn.ReLU(),
        Binary(48, 48),
        nn.LayerNorm((48,)),
        nn.ReLU(),
        nn.Dense(48, 10),
    )
    return ce(net, flat(), 0.005, one_step)


class FakeQuantized(nn.Cell):
    """Activations in 4 bits with a learned range by clipping (PACT, Choi et al. 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.limit = Parameter(Tensor(1.0, ms.float32), "limit")

    def construct(self, x: Tensor) -> Any:
        clipped = ops.minimum(ops.relu(x), self.limit)
        steps = ops.round(clipped / self.limit * 15) / 15 * self.limit
        return clipped + ops.stop_gradient(steps - clipped)


@healthy("Activations quantized to 4 bits with a learned limit.")
def quantized_activations() -> Run:
    net = nn.SequentialCell(nn.Dense(6, 32), FakeQuantized(), nn.Dense(32, 32), FakeQuantized(), nn.Dense(32, 3))
    return ce(net, data.flowers(), 0.02, ways.own_weights)


@healthy("Blocks with recompute() for less memory.")
def recomputed_blocks() -> Run:
    net = blocks.TransformerClassifier()
    for block in net.blocks:
        block.recompute()
    return ce(net, data.waves(), 0.01, one_step)


@healthy("A validation in predict mode after each epoch, and back to training.")
def validated_between() -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN()
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Momentum(net.trainable_params(), 0.03, 0.9),
        data.batches(data.normalized(x), y, steps=20),
        ways.evaluated_between(True),
    )


@healthy("Two optimizers: SGD for the body, Adam for the embedding, both each step.")
def two_optimizers() -> Run:
    x, y = data.reviews()
    net = blocks.TextClassifier()
    table = [net.embedding.embedding_table]
    body = [p for p in net.trainable_params() if p is not table[0]]

    class Both:
        def __init__(self) -> None:
            self.sparse, self.dense = nn.Adam(table, 0.02), nn.SGD(body, 0.2)
            self.parameters = [*self.sparse.parameters, *self.dense.parameters]

    def way(run: Run) -> list[float]:
        run.net.set_train()
        both = run.optimizer
        step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, both.parameters)
        losses = []
        for batch in run.batches:
            loss, gradients = step(*tensors(batch))
            both.sparse(gradients[:1])
            both.dense(gradients[1:])
            losses.append(float(loss))
        return losses

    return Run(net, nn.CrossEntropyLoss(), Both(), data.batches(x, y, steps=24), way)


@healthy("A pretrained body at a tenth of the head's rate, weight decay on matrices.")
def groups_with_rates() -> Run:
    x, y = flat()
    body = blocks.mlp(64, 48, 24, last=nn.ReLU())
    network = nn.SequentialCell(body, nn.Dense(24, 10))
    by_hand(
        Run(network, nn.CrossEntropyLoss(), nn.Adam(network.trainable_params(), 0.01), data.batches(x, y, steps=16))
    )
    net = blocks.chain(body=body, head=nn.Dense(24, 10))
    groups = [
        {"params": net.body.trainable_params(), "lr": 0.001, "weight_decay": 0.01},
        {"params": net.head.trainable_params(), "lr": 0.02},
    ]
    return Run(net, nn.CrossEntropyLoss(), nn.AdamWeightDecay(groups, 0.02), data.batches(x, y, steps=24), one_step)


@healthy("Pixels from 0 to 1, not centered.")
def pixels_to_one() -> Run:
    x, y = data.digits()
    net = nn.SequentialCell(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dense(128, 10))
    return ce(net, (x / 255, y), 0.01, with_model)


@healthy("Large counts after log1p, not centered.")
def counts_after_log1p() -> Run:
    random = np.random.default_rng(0)
    counts = np.exp(random.normal(5, 2, (64, 6)))
    y = (np.log(counts[:, 0]) + np.log(counts[:, 1]) > 10).astype(np.int32)
    x = np.log1p(np.round(counts)).astype(np.float32)
    return ce(nn.SequentialCell(nn.Dense(6, 32), nn.ReLU(), nn.Dense(32, 2)), (x, y), 0.01, one_step, 40)


class Rescaled(nn.Cell):
    """mean + deviation * f(x), so that f works with small numbers."""

    def __init__(self, mean: float, deviation: float) -> None:
        super().__init__()
        self.body, self.mean, self.deviation = blocks.mlp(5, 32, 1), mean, deviation

    def construct(self, x: Tensor) -> Any:
        return self.mean + self.deviation * self.body(x)


@healthy("Prices in dollars as targets; the output is scaled, and the loss is divided by the variance.")
def targets_in_dollars() -> Run:
    x, y = data.houses()
    price = (250_000 + 80_000 * y).astype(np.float32)[:, None]
    net = Rescaled(250_000.0, 80_000.0)

    def loss(output: Tensor, target: Tensor) -> Any:
        return ops.square((output - target) / 80_000.0).mean()

    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), data.batches(data.normalized(x, 0), price, steps=28))


@healthy("Gradients are clipped element by element, and SGD has Nesterov's momentum.")
def clipped_by_value() -> Run:
    def way(run: Run) -> list[float]:
        run.net.set_train()
        step = ms.value_and_grad(lambda x, y: run.loss(run.net(x), y), None, run.net.trainable_params())
        losses = []
        for batch in run.batches:
            loss, gradients = step(*tensors(batch))
            run.optimizer(tuple(ops.clip_by_value(g, -0.1, 0.1) for g in gradients))
            losses.append(float(loss))
        return losses

    net = blocks.mlp(6, 32, 3)
    optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9, nesterov=True)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(*data.flowers(), steps=28), way)


@healthy("DropBlock by hand in training only, stochastic depth in a residual net.")
def stochastic_depth() -> Run:
    class Depth(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.body = blocks.mlp(width, width, width)

        def construct(self, x: Tensor) -> Any:
            if not self.training:
                return x + self.body(x)
            kept = (ops.rand((x.shape[0], 1)) < 0.8).astype(x.dtype) / 0.8
            return x + kept * self.body(x)

    return ce(nn.SequentialCell(nn.Dense(6, 24), Depth(24), Depth(24), nn.Dense(24, 3)), data.flowers(), 0.01, one_step)


@healthy("Mixed precision by amp.auto_mixed_precision O2's kind: to_float(float16) on convolutions, float32 norms.")
def half_convolutions() -> Run:
    x, y = data.digits()
    net = blocks.SmallCNN()
    net.conv1.to_float(ms.float16)
    net.conv2.to_float(ms.float16)

    class Back(nn.Cell):
        def __init__(self, net: nn.Cell) -> None:
            super().__init__()
            self.net = net

        def construct(self, x: Tensor) -> Any:
            n = self.net
            x = n.pool(n.relu1(n.norm1(n.conv1(x).astype(ms.float32))))
            return n.head(n.flatten(n.relu2(n.norm2(n.conv2(x).astype(ms.float32)))))

    return ce(Back(net), (data.normalized(x), y), 0.005, by_hand)
