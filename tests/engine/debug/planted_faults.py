"""Small training scripts with one fault each, and the finding that the debugger should report first.

``@fault(condition, path)`` names the finding that must come first. Where several findings of the first step are one
fault seen from several sides, ``among`` says why their order does not matter; if a fault is in several cells alike,
``path`` is a pattern.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from training_scripts import Script, blobs, cross_entropy, images, mlp, sentences, sequences, train

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Constant, Normal

__all__ = ["FAULTS", "Fault"]


class Fault(NamedTuple):
    """One script and its expected first finding.

    ``says`` is a part of its message; ``among`` is the reason why the finding may be any of those of the first
    step with findings.
    """

    name: str
    script: Callable[[], Script]
    condition: str
    path: str
    says: str = ""
    among: str = ""


FAULTS: list[Fault] = []


def fault(condition: str, path: str, says: str = "", among: str = "") -> Callable[[Callable[[], Script]], Any]:
    """Add a script to the suite."""

    def add(script: Callable[[], Script]) -> Callable[[], Script]:
        FAULTS.append(Fault(script.__name__, script, condition, path, says, among))
        return script

    return add


def dense_relu(*sizes: int, **options: Any) -> nn.SequentialCell:
    """Return dense layers with ReLU between them."""
    cells: list[nn.Cell] = []
    for wide, narrow in itertools.pairwise(sizes):
        cells += [nn.Dense(wide, narrow, **options), nn.ReLU()]
    return nn.SequentialCell(*cells[:-1])


class Net(nn.Cell):
    """A network of named parts, one after the other."""

    def __init__(self, **parts: nn.Cell) -> None:
        super().__init__()
        self.order = list(parts)
        for name, part in parts.items():
            setattr(self, name, part)

    def construct(self, x: Any) -> Any:
        for name in self.order:
            x = getattr(self, name)(x)
        return x


# Wrong custom bprops


class Swish(nn.Cell):
    """x * sigmoid(x); the bprop has the wrong sign before its second term."""

    def construct(self, x: Any) -> Any:
        return x * ops.sigmoid(x)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        s = ops.sigmoid(x)
        return (dout * (s - x * s * (1.0 - s)),)


@fault("wrong_bprop", "act")
def a_bprop_with_a_wrong_sign() -> Script:
    net = Net(hidden=nn.Dense(8, 16), act=Swish(), head=nn.Dense(16, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


class MeanSquare(nn.Cell):
    """The mean of the squares of each row; the bprop forgets to divide."""

    def construct(self, x: Any) -> Any:
        return (x * x).mean(-1, keep_dims=True)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (2.0 * x * dout,)


@fault("wrong_bprop", "energy", says="; 6 times the automatic gradient everywhere: a missing factor, or summed over 6")
def a_bprop_without_a_factor() -> Script:
    net = Net(hidden=nn.Dense(4, 6), energy=MeanSquare(), head=nn.Dense(1, 1))
    batches = [(x[:, 0], y) for x, y in sequences(8)]
    return Script(net, lambda: train(net, nn.MSELoss(), batches))


class SquareDense(nn.Cell):
    """x @ w for as many outputs as inputs; the bprop does not transpose w, which the shapes allow."""

    def __init__(self, size: int) -> None:
        super().__init__()
        random = np.random.default_rng(0)
        self.w = Parameter(Tensor((random.standard_normal((size, size)) / np.sqrt(size)).astype(np.float32)), "w")
        self.internal_params = [self.w]

    def construct(self, x: Any) -> Any:
        return ops.matmul(x, self.w)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (ops.matmul(dout, self.w),), {self.w: ops.matmul(x.T, dout)}


@fault("wrong_bprop", "mixing", says="; right with w transposed")
def a_bprop_that_does_not_transpose() -> Script:
    net = Net(hidden=nn.Dense(8, 16), mixing=SquareDense(16), act=nn.Tanh(), head=nn.Dense(16, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


class Gate(nn.Cell):
    """x * w with a bprop that gives no gradient for the weight, which internal_params does not list."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.w = Parameter(ops.ones((size,), ms.float32), "w")

    def construct(self, x: Any) -> Any:
        return x * self.w

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * self.w,)


@fault("wrong_bprop", "gate", says="and from the automatic gradient; zero everywhere")
def a_bprop_that_forgets_a_parameter() -> Script:
    net = Net(hidden=nn.Dense(8, 16), gate=Gate(16), act=nn.ReLU(), head=nn.Dense(16, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


# NaN and Inf


class NegativeLogLikelihood(nn.Cell):
    """-log of the probability of the class; it takes its input for probabilities."""

    def construct(self, probabilities: Any, labels: Any) -> Any:
        picked = ops.gather_elements(probabilities, 1, labels.reshape((-1, 1)).astype(ms.int64))
        return -ops.log(picked).mean()


class WithLoss(nn.Cell):
    """A network and its loss in one cell, so that both are watched."""

    def __init__(self, network: nn.Cell, loss: nn.Cell) -> None:
        super().__init__()
        self.network, self.loss = network, loss

    def construct(self, *batch: Any) -> Any:
        return self.loss(self.network(*batch[:-1]), batch[-1])


def train_with_loss(net: WithLoss, batches: Any, optimizer: Any = None) -> None:
    """Train a network that returns its loss."""
    train(net, lambda loss, _: loss, [(*batch, batch[-1]) for batch in batches], optimizer)


@fault("nan", "loss", says="return -ops.log(picked).mean()")
def log_of_scores_that_are_no_probabilities() -> Script:
    net = WithLoss(mlp(), NegativeLogLikelihood())
    return Script(net, lambda: train_with_loss(net, blobs(5)))


@fault("inf", "loss", says="log in loss#0 made")
def log_of_a_probability_that_underflowed() -> Script:
    # Scores of a few hundred: softmax gives exact zeros.
    class Sharp(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.softmax(x * 200.0, -1)

    network = Net(hidden=nn.Dense(8, 16), act=nn.ReLU(), head=nn.Dense(16, 4), softmax=Sharp())
    net = WithLoss(network, NegativeLogLikelihood())
    return Script(net, lambda: train_with_loss(net, blobs(5)))


class Distance(nn.Cell):
    """The distance between two rows by the textbook formula."""

    def construct(self, a: Any, b: Any) -> Any:
        return ops.sqrt(((a - b) * (a - b)).sum(-1))


class Siamese(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.embed = dense_relu(8, 16, 4)
        self.distance = Distance()

    def construct(self, a: Any, b: Any) -> Any:
        return self.distance(self.embed(a), self.embed(b))


@fault("nan", "distance", says="the gradient of sqrt in distance#0 made 1 Inf")
def sqrt_of_the_distance_of_a_pair_of_equals() -> Script:
    net = Siamese()
    batches = []
    for step, (x, _) in enumerate(blobs(6)):
        other = x.asnumpy()[::-1].copy()
        if step == 2:
            other[5] = x.asnumpy()[5]
        batches.append((x, Tensor(other), ops.ones((32,), ms.float32)))
    return Script(net, lambda: train(net, nn.MSELoss(), batches))


class Shares(nn.Cell):
    """Each row divided by its sum."""

    def construct(self, x: Any) -> Any:
        return x / x.sum(-1, keepdims=True)


@fault("nan", "shares", says="div in shares#0 made 8 NaN")
def shares_of_a_row_of_zeros() -> Script:
    net = Net(shares=Shares(), hidden=nn.Dense(8, 16), act=nn.ReLU(), head=nn.Dense(16, 4))
    batches = [(ops.abs(x), y) for x, y in blobs(6)]
    counts = batches[3][0].asnumpy().copy()
    counts[7] = 0.0
    batches[3] = (Tensor(counts), batches[3][1])
    return Script(net, lambda: train(net, cross_entropy(), batches))


class Standardise(nn.Cell):
    """Each feature with mean 0 and deviation 1 over the batch, without an epsilon."""

    def construct(self, x: Any) -> Any:
        centered = x - x.mean(0)
        return centered / ops.sqrt((centered * centered).mean(0))


@fault("nan", "standardize", says="div in standardize#0 made 32 NaN")
def standardizing_a_feature_that_is_constant() -> Script:
    net = Net(standardize=Standardise(), hidden=nn.Dense(8, 16), act=nn.ReLU(), head=nn.Dense(16, 4))
    batches = []
    for x, y in blobs(5):
        points = x.asnumpy().copy()
        points[:, 3] = 2.0
        batches.append((Tensor(points), y))
    return Script(net, lambda: train(net, cross_entropy(), batches))


class Exponential(nn.Cell):
    def construct(self, x: Any) -> Any:
        return ops.exp(x)


@fault("inf", "rate", says="exp in rate#0 made", among="it overflows since the inputs are large, too")
def exp_overflows_in_half_precision() -> Script:
    net = Net(hidden=nn.Dense(8, 16), rate=Exponential(), head=nn.Dense(16, 4)).to_float(ms.float16)
    batches = blobs(5, scale=12.0)
    return Script(net, lambda: train(net, lambda out, y: cross_entropy()(out.astype(ms.float32), y), batches))


class HandmadeSoftmax(nn.Cell):
    """Softmax without subtracting the largest score first."""

    def construct(self, scores: Any) -> Any:
        e = ops.exp(scores)
        return e / e.sum(-1, keepdims=True)


class Attention(nn.Cell):
    """One head over (batch, length, features); the scores are not scaled."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.query, self.key = nn.Dense(features, features), nn.Dense(features, features)
        self.softmax = HandmadeSoftmax()

    def construct(self, x: Any) -> Any:
        scores = ops.matmul(self.query(x), self.key(x).swapaxes(-1, -2))
        return ops.matmul(self.softmax(scores), x).mean(1)


@fault("nan", "attention.softmax", says="e = ops.exp(scores)", among="it overflows since the inputs are large, too")
def softmax_by_hand_overflows() -> Script:
    net = Net(attention=Attention(4), head=nn.Dense(4, 1))
    batches = [(x * 20.0, y) for x, y in sequences(5)]
    return Script(net, lambda: train(net, nn.MSELoss(), batches))


class Angle(nn.Cell):
    """The angle between a row and a learned direction; rounding takes the cosine above 1."""

    def __init__(self) -> None:
        super().__init__()
        self.direction = Parameter(Tensor(np.linspace(0.3, 1.1, 8).astype(np.float32)), "direction")

    def construct(self, x: Any) -> Any:
        length = ops.sqrt((x * x).sum(-1) * (self.direction * self.direction).sum()) * 0.999
        return ops.acos((x * self.direction).sum(-1) / length)


@fault("nan", "angle", says="acos in angle#0 made 1 NaN")
def acos_of_a_cosine_above_one() -> Script:
    net = Angle()
    root = Net(angle=net)
    batches = []
    for step, (x, _) in enumerate(blobs(5)):
        rows = x.asnumpy().copy()
        if step == 1:
            rows[4] = 2.0 * net.direction.asnumpy()
        batches.append((Tensor(rows), ops.ones((32,), ms.float32)))
    return Script(root, lambda: train(root, nn.MSELoss(), batches, nn.SGD(root.trainable_params(), 1e-4)))


class SafeLog(nn.Cell):
    """log where the value is positive, else 0: right going forward, 0 * Inf going back."""

    def construct(self, x: Any) -> Any:
        return ops.where(x > 0, ops.log(x), ops.zeros_like(x))


@fault("nan", "log", says="log in log#0 made")
def a_mask_after_log_hides_nothing_from_the_gradient() -> Script:
    net = Net(hidden=nn.Dense(8, 16), act=nn.ReLU(), log=SafeLog(), head=nn.Dense(16, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(5)))


class Power(nn.Cell):
    """x ** p with a learned p."""

    def __init__(self) -> None:
        super().__init__()
        self.p = Parameter(Tensor(np.float32(1.5)), "p")

    def construct(self, x: Any) -> Any:
        return ops.pow(x, self.p)


@fault("nan", "power", says="pow in power#0 made")
def a_fractional_power_of_a_negative_number() -> Script:
    net = Net(hidden=nn.Dense(8, 16), power=Power(), head=nn.Dense(16, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(5)))


@fault("inf", "0", says="it came in as input[0] of 0#0")
def an_infinity_in_the_data() -> Script:
    net = mlp()
    batches = blobs(6)
    points = batches[2][0].asnumpy().copy()
    points[4, 5] = np.inf
    batches[2] = (Tensor(points), batches[2][1])
    return Script(net, lambda: train(net, cross_entropy(), batches))


@fault("nan", "0", says="forward input[0] (1 of 256 elements)")
def a_missing_value_in_the_data() -> Script:
    net = mlp()
    batches = blobs(6)
    points = batches[3][0].asnumpy().copy()
    points[0, 0] = np.nan
    batches[3] = (Tensor(points), batches[3][1])
    return Script(net, lambda: train(net, cross_entropy(), batches))


class NormalizedDescent:
    """A handwritten optimizer: each weight moves by gradient / its running size, with no epsilon."""

    def __init__(self, weights: Any, rate: float) -> None:
        self.weights, self.rate = list(weights), rate
        self.squares = [ops.zeros_like(w) for w in self.weights]

    def __call__(self, gradients: Any) -> None:
        for k, (w, g) in enumerate(zip(self.weights, gradients, strict=True)):
            self.squares[k] = 0.9 * self.squares[k] + 0.1 * g * g
            w.set_data(w - self.rate * g / ops.sqrt(self.squares[k]))


@fault("nan", "embed", says="embed.embedding_table after its update")
def an_optimizer_that_divides_by_zero() -> Script:
    # Words that the batch does not have get a gradient of exactly 0.
    net = Net(embed=nn.Embedding(200, 8), head=nn.Dense(8, 20))
    loss = cross_entropy()
    optimizer = NormalizedDescent(net.trainable_params(), 1e-2)

    def script() -> None:
        train(net, lambda out, y: loss(out.reshape((-1, 20)), y.reshape((-1,))), sentences(5), optimizer)

    return Script(net, script)


# Half precision


@fault(
    "inf",
    "(no cell)",
    says="the gradient of cast outside the cells made",
    among="where finite gradients near the end of the range are left beside the infinite ones, that is told too",
)
def a_loss_scale_that_half_precision_cannot_hold() -> Script:
    net = Net(hidden=nn.Dense(8, 16), act=nn.ReLU(), head=nn.Dense(16, 4)).to_float(ms.float16)
    loss = cross_entropy()
    optimizer = nn.SGD(net.trainable_params(), 1e-2, loss_scale=2.0**24)
    return Script(
        net, lambda: train(net, lambda out, y: loss(out.astype(ms.float32), y) * 2.0**24, blobs(5), optimizer)
    )


@fault("all_zero", "head")
def a_gradient_that_underflows_in_half_precision_without_a_loss_scale() -> Script:
    net = Net(hidden=nn.Dense(8, 16), act=nn.ReLU(), head=nn.Dense(16, 4)).to_float(ms.float16)

    def loss(out: Any, y: Any) -> Any:
        # A mean over all pixels of a large picture, of which these are a few.
        return cross_entropy()(out.astype(ms.float32), y) / 1e8

    return Script(net, lambda: train(net, loss, blobs(8), nn.SGD(net.trainable_params(), 1.0)))


# Activations


@fault("dead_relu", "1")
def a_bias_that_keeps_nearly_all_of_a_relu_shut() -> Script:
    net = mlp(hidden=64)
    net[0].bias.set_data(ops.full((64,), -2.0, dtype=ms.float32))
    return Script(net, lambda: train(net, cross_entropy(), blobs(10), nn.SGD(net.trainable_params(), 1e-2)))


@fault("dead_relu", "act2")
def a_relu_that_is_dead_altogether() -> Script:
    net = Net(first=nn.Dense(8, 16), act1=nn.ReLU(), second=nn.Dense(16, 16), act2=nn.ReLU(), head=nn.Dense(16, 4))
    net.second.bias.set_data(ops.full((16,), -100.0, dtype=ms.float32))
    return Script(net, lambda: train(net, cross_entropy(), blobs(10), nn.SGD(net.trainable_params(), 1e-2)))


@fault("inputs_not_normalized", "")
def a_sigmoid_behind_pixels_that_were_not_scaled() -> Script:
    net = mlp(activation=nn.Sigmoid)
    return Script(net, lambda: train(net, cross_entropy(), blobs(10, scale=100.0)))


@fault("inputs_not_normalized", "")
def a_tanh_behind_features_of_very_different_units() -> Script:
    net = Net(hidden=nn.Dense(8, 16), act=nn.Tanh(), head=nn.Dense(16, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(10, scale=200.0)))


class PaddingMask(nn.Cell):
    """A mask that should hide the padding (word 0), and by mistake hides everything else."""

    def construct(self, x: Any, words: Any) -> Any:
        return x * (words == 0).astype(ms.float32).expand_dims(-1)


class MeanOfWords(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.mask = PaddingMask()
        self.head = nn.Dense(8, 2)

    def construct(self, words: Any) -> Any:
        return self.head(self.mask(self.embed(words), words).mean(1))


@fault("all_zero", "mask")
def a_mask_the_wrong_way_round() -> Script:
    net = MeanOfWords()
    batches = [(ops.maximum(x, Tensor(1, ms.int32)), (x[:, 0] > 9).astype(ms.int32)) for x, _ in sentences(8)]
    return Script(net, lambda: train(net, cross_entropy(), batches))


# Exploding and vanishing gradients


class Recurrence(nn.Cell):
    """A handwritten recurrent net; ``gain`` scales the recurrent weights."""

    def __init__(self, gain: float) -> None:
        super().__init__()
        random = np.random.default_rng(5)
        q, _ = np.linalg.qr(random.standard_normal((12, 12)))
        self.enter, self.again, self.leave = nn.Dense(4, 12), nn.Dense(12, 12), nn.Dense(12, 1)
        self.again.weight.set_data(Tensor((q * gain).astype(np.float32)))

    def construct(self, x: Any) -> Any:
        state = self.enter(x[:, 0])
        for k in range(1, x.shape[1]):
            state = self.enter(x[:, k]) + self.again(state)
        return self.leave(state)


@fault("exploding_gradient", "*")
def a_recurrent_net_whose_weights_are_above_one() -> Script:
    net = Recurrence(gain=1.8)
    batches = [(x * 1e-3, y) for x, y in sequences(5, length=20)]
    return Script(net, lambda: train(net, nn.MSELoss(), batches, nn.SGD(net.trainable_params(), 1e-12)))


@fault("exploding_gradient", "*", among="the loss is far above that of guessing, too")
def a_deep_net_with_a_gain_at_each_layer() -> Script:
    # Each layer by itself is within what initializers give; twelve of them are not.
    net = dense_relu(*[16] * 13, 4, weight_init=Normal(0.9))
    batches = [(x * 1e-6, y) for x, y in blobs(5, features=16)]
    return Script(net, lambda: train(net, cross_entropy(), batches, nn.SGD(net.trainable_params(), 1e-12)))


@fault("vanishing_gradient", "*")
def a_deep_net_of_sigmoids() -> Script:
    cells: list[nn.Cell] = [nn.Dense(8, 16)]
    for _ in range(14):
        cells += [nn.Sigmoid(), nn.Dense(16, 16, weight_init="xavier_uniform")]
    net = nn.SequentialCell(*cells, nn.Sigmoid(), nn.Dense(16, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


# Gradients that do not reach the parameters, or parameters outside the optimizer


class Classifier(nn.Cell):
    """A backbone and a head; ``between`` changes the features."""

    def __init__(self, between: Callable[[Any], Any] = lambda x: x) -> None:
        super().__init__()
        self.backbone = dense_relu(8, 16, 16)
        self.act = nn.ReLU()
        self.head = nn.Dense(16, 4)
        self.between = between

    def construct(self, x: Any) -> Any:
        return self.head(self.between(self.act(self.backbone(x))))


@fault("no_gradient", "backbone.2")
def a_stop_gradient_that_was_left_in() -> Script:
    net = Classifier(ops.stop_gradient)
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


@fault("no_gradient", "backbone.2")
def features_that_went_through_numpy() -> Script:
    net = Classifier(lambda x: Tensor(np.clip(x.asnumpy(), -3.0, 3.0)))
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


class TwoTowers(nn.Cell):
    """Two towers; the second one's output is computed and not used."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Dense(8, 8), nn.Dense(8, 8)
        self.head = nn.Dense(8, 4)

    def construct(self, x: Any) -> Any:
        towers = self.left(x), self.right(x)
        return self.head(ops.relu(towers[0]) + ops.relu(towers[0]))


@fault("no_gradient", "right")
def a_branch_that_is_not_used() -> Script:
    net = TwoTowers()
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


@fault("unchanged_weight", "head")
def a_layer_that_the_optimizer_was_not_given() -> Script:
    net = Classifier()
    weights = net.trainable_params()
    optimizer = nn.Adam(net.backbone.trainable_params(), 1e-2)
    count = len(net.backbone.trainable_params())
    return Script(net, lambda: train(net, cross_entropy(), blobs(8), lambda g: optimizer(g[:count]), weights))


@fault("optimizer_other_parameters", "")
def a_layer_that_was_added_after_the_optimizer_was_made() -> Script:
    net = Classifier()
    optimizer = nn.Momentum(net.trainable_params(), 5e-2, 0.9)
    net.head = nn.Dense(16, 4)
    return Script(net, lambda: train(net, cross_entropy(), blobs(10), optimizer, optimizer.parameters))


# First weights


@fault("initial_weights", "0")
def weights_that_begin_at_zero() -> Script:
    net = nn.SequentialCell(
        nn.Dense(8, 16, weight_init="zeros"),
        nn.Tanh(),
        nn.Dense(16, 16, weight_init="zeros"),
        nn.Tanh(),
        nn.Dense(16, 4),
    )
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


@fault("initial_weights", "hidden")
def weights_that_begin_all_alike() -> Script:
    net = Net(
        hidden=nn.Dense(8, 16, weight_init=Constant(0.1), bias_init="zeros"),
        act=nn.Tanh(),
        head=nn.Dense(16, 4, weight_init=Constant(0.1), bias_init="zeros"),
    )
    return Script(net, lambda: train(net, cross_entropy(), blobs(8)))


@fault("initial_weights", "hidden")
def weights_that_begin_far_too_large() -> Script:
    net = Net(hidden=nn.Dense(8, 16, weight_init=Normal(10.0)), act=nn.ReLU(), head=nn.Dense(16, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(8), nn.SGD(net.trainable_params(), 1e-4)))


# Modes


def small_convnet() -> nn.Cell:
    return Net(
        conv=nn.Conv2d(1, 6, 3, pad_mode="same", has_bias=True),
        bn=nn.BatchNorm2d(6),
        act=nn.ReLU(),
        pool=nn.MaxPool2d(2, 2),
        flatten=nn.Flatten(),
        dropout=nn.Dropout(p=0.3),
        head=nn.Dense(216, 4),
    )


@fault("wrong_mode", "bn")
def batch_norm_in_prediction_mode_while_training() -> Script:
    net = small_convnet()
    step = ms.value_and_grad(lambda x, y: cross_entropy()(net(x), y), None, net.trainable_params())
    optimizer = nn.Adam(net.trainable_params(), 1e-2)

    def script() -> None:
        net.set_train()
        net.bn.set_train(False)
        for x, y in images(8):
            optimizer(step(x, y)[1])

    return Script(net, script)


@fault("wrong_mode", "bn")
def a_network_that_was_never_set_to_training() -> Script:
    net = small_convnet()
    step = ms.value_and_grad(lambda x, y: cross_entropy()(net(x), y), None, net.trainable_params())
    optimizer = nn.Adam(net.trainable_params(), 1e-2)

    def script() -> None:
        for x, y in images(8):
            optimizer(step(x, y)[1])

    return Script(net, script)


@fault("wrong_mode", "dropout")
def dropout_still_active_in_evaluation() -> Script:
    net = Net(hidden=nn.Dense(8, 32), act=nn.ReLU(), dropout=nn.Dropout(p=0.5), head=nn.Dense(32, 4))

    def script() -> None:
        train(net, cross_entropy(), blobs(8))
        for x, y in blobs(4):
            (net(x).argmax(1) == y).astype(ms.float32).mean()

    return Script(net, script)


# The step


@fault("learning_rate_too_large", "")
def a_learning_rate_that_is_far_too_large() -> Script:
    net = mlp()
    return Script(net, lambda: train(net, cross_entropy(), blobs(6), nn.SGD(net.trainable_params(), 300.0)))


@fault("learning_rate_too_large", "")
def adam_with_the_learning_rate_of_sgd() -> Script:
    net = mlp()
    return Script(net, lambda: train(net, cross_entropy(), blobs(6), nn.Adam(net.trainable_params(), 1.0)))


@fault("learning_rate_too_small", "")
def a_learning_rate_that_is_far_too_small() -> Script:
    net = mlp()
    return Script(net, lambda: train(net, cross_entropy(), blobs(10), nn.SGD(net.trainable_params(), 1e-8)))


@fault("loss_not_decreasing", "")
def a_step_uphill() -> Script:
    net = mlp()
    optimizer = nn.SGD(net.trainable_params(), 2e-2)
    return Script(net, lambda: train(net, cross_entropy(), blobs(40), optimizer, sign=-1.0))


@fault("loss_not_decreasing", "")
def an_optimizer_that_is_never_called() -> Script:
    net = mlp()
    return Script(net, lambda: train(net, cross_entropy(), blobs(1) * 30, lambda gradients: None))


@fault("loss_not_decreasing", "")
def labels_that_belong_to_other_samples() -> Script:
    net = Net(hidden=nn.Dense(8, 16), act=nn.Tanh(), head=nn.Dense(16, 4, weight_init=Normal(1e-3)))
    batches = blobs(60, batch=64)
    shuffled = [(x, batches[k - 1][1]) for k, (x, _) in enumerate(batches)]
    return Script(net, lambda: train(net, cross_entropy(), shuffled, nn.SGD(net.trainable_params(), 1e-3)))
