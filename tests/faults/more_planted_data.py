"""Planted: data and losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from hookscope.engine import Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal
from tests.faults import blocks, data
from tests.faults import more_ways as ways
from tests.faults.programs import Run, one_step, planted, with_model

# inputs_not_normalized


class Weather(nn.Cell):
    """Measurements and a station's number."""

    def __init__(self) -> None:
        super().__init__()
        self.station = nn.Embedding(8, 4, embedding_table=Normal(1.0))
        self.body = blocks.mlp(8, 32, 1, activation=nn.Tanh)

    def construct(self, x: Tensor, station: Tensor) -> Any:
        return self.body(ops.concat([x, self.station(station)], 1))


@planted("inputs_not_normalized", "data", "Pressure in pascal, temperature in kelvin, and a station's number.")
def pressure_in_pascal(fault: bool) -> Run:
    random = np.random.default_rng(0)
    z = random.normal(0, 1, (64, 4))
    station = random.integers(0, 8, 64).astype(np.int32)
    y = ((z[:, 0] - z[:, 1] + 0.3 * (station - 4)) > 0).astype(np.float32)[:, None]
    x = z * [800, 9, 3, 20] + [101_300, 288, 6, 60] if fault else z
    net = Weather()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, nn.BCEWithLogitsLoss(), optimizer, data.batches(x.astype(np.float32), station, y, steps=28))


@planted("inputs_not_normalized", "data", "A GRU gets seconds since 1970 beside a normalized value.")
def unix_seconds(fault: bool) -> Run:
    x, y = data.waves()
    seconds = np.arange(16) * 3600.0 + 1.7e9 + np.arange(64)[:, None] * 60
    if not fault:
        seconds = data.normalized(seconds)
    x = np.concatenate([x, seconds[:, :, None]], 2).astype(np.float32)

    class Clocked(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.gru = nn.GRU(3, 16, batch_first=True)
            self.head = nn.Dense(16, 3)

        def construct(self, x: Tensor) -> Any:
            return self.head(self.gru(x)[0].mean(1))

    net = Clocked()
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=28), with_model
    )


@planted("inputs_not_normalized", "data", "A CNN gets 16-bit pictures, 0 to 65535, cast to float.")
def sixteen_bit_pictures(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    x = x * 257 if fault else data.normalized(x)
    net = blocks.chain(
        conv1=nn.Conv2d(1, 8, 3, 2),
        act1=nn.LeakyReLU(),
        conv2=nn.Conv2d(8, 16, 3, 2),
        act2=nn.LeakyReLU(),
        flatten=nn.Flatten(),
        head=nn.Dense(64, 5),
    )
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(x, y, steps=36),
        ways.own_weights,
    )


# one_class_only


class TwoViews(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.embed = blocks.chain(dense1=nn.Dense(64, 32), act=nn.Tanh(), dense2=nn.Dense(32, 8, has_bias=False))

    def construct(self, a: Tensor, b: Tensor) -> Any:
        return ops.square(self.embed(a) - self.embed(b)).sum(1)


def margin_loss(d: Tensor, same: Tensor) -> Any:
    return (same * d + (1 - same) * ops.relu(1.0 - d)).mean()


@planted("one_class_only", "data", "All pairs of a siamese network are of the same digit: no negatives.")
def only_positive_pairs(fault: bool) -> Run:
    x, y = data.digits(128, classes=4)
    flat = data.normalized(x).reshape(128, -1)
    order = np.argsort(y, kind="stable")
    random = np.random.default_rng(1)
    a = random.permutation(64)
    b = np.array([order[(list(order).index(i) + 1) % 128] for i in a]) if fault else random.permutation(128)[:64]
    if fault:
        b = np.where(y[a] == y[b], b, a)
    same = (y[a] == y[b]).astype(np.float32)
    net = TwoViews()
    return Run(net, margin_loss, nn.Adam(net.trainable_params(), 0.005), data.batches(flat[a], flat[b], same, steps=28))


@planted("one_class_only", "data", "Reviews are grouped by stars: each batch of 16 has one label.")
def grouped_by_stars(fault: bool) -> Run:
    x, y = data.reviews(48 * 2)
    order = np.argsort(y, kind="stable") if fault else np.arange(96)
    net = blocks.TextClassifier()
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x[order], y[order], steps=24), ways.grad_operation)


# labels_out_of_range_or_shifted


@planted("labels_out_of_range_or_shifted", "data", "Labels are -1 and 1, and the loss is BCEWithLogitsLoss.")
def plus_minus_one(fault: bool) -> Run:
    x, y = data.flowers(classes=2)
    y = (2 * y - 1 if fault else y).astype(np.float32)[:, None]
    net = blocks.mlp(6, 16, 1, activation=nn.GELU)
    return Run(
        net, nn.BCEWithLogitsLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, steps=24), one_step
    )


@planted("labels_out_of_range_or_shifted", "data", "Targets in percent, 0 to 100, meet an output of a sigmoid.")
def percent_against_sigmoid(fault: bool) -> Run:
    x, price = data.houses()
    share = 1 / (1 + np.exp(-2 * price))
    y = (100 * share if fault else share).astype(np.float32)[:, None]
    net = blocks.mlp(5, 32, 1, last=nn.Sigmoid())
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    return Run(net, nn.MSELoss(), optimizer, data.batches(data.normalized(x, 0), y, steps=30), with_model)


class Tagger(nn.Cell):
    """Tags of words, (N, tags, T)."""

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 12, embedding_table=Normal(1.0))
        self.conv = nn.Conv1d(12, 24, 3)
        self.out = nn.Conv1d(24, tags, 1)

    def construct(self, words: Tensor) -> Any:
        return self.out(ops.relu(self.conv(self.embedding(words).swapaxes(1, 2))))


@planted("labels_out_of_range_or_shifted", "data", "Tags 1 to 4 for an output of four tags.", raises=ValueError)
def tags_from_one(fault: bool) -> Run:
    x, _ = data.reviews()
    tags = (x % 4).astype(np.int32) + (1 if fault else 0)
    net = Tagger(4)
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, tags.astype(np.int32), steps=24))


# loss_broadcasts


@planted("loss_broadcasts", "loss", "ops.abs(output - target) with (N, 1) and (N,) in a two-input regression.")
def absolute_error_broadcasts(fault: bool) -> Run:
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (64, 4)).astype(np.float32)
    station = random.integers(0, 8, 64).astype(np.int32)
    y = (x[:, 0] - x[:, 1] + 0.4 * (station - 3.5)).astype(np.float32)
    net = Weather()

    def loss(output: Tensor, target: Tensor) -> Any:
        return ops.abs(output - target).mean()

    batches = data.batches(x, station, y if fault else y[:, None], steps=30)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.02), batches, ways.own_weights)


@planted("loss_broadcasts", "loss", "A policy gradient multiplies log-probabilities (N,) with advantages (N, 1).")
def advantages_as_column(fault: bool) -> Run:
    state, action = data.flowers(96)
    best = np.argmax(state[:, :3], 1)
    advantage = np.where(best == action, 2.0, -0.2).astype(np.float32)
    net = blocks.mlp(6, 24, 3, activation=nn.Tanh)

    def loss(net: Any, state: Tensor, action: Tensor, advantage: Tensor) -> Any:
        log_p = ops.log_softmax(net(state), -1)
        chosen = ops.gather_elements(log_p, 1, action.expand_dims(1)).squeeze(1)
        return -(chosen * advantage).mean() + 1.0

    batches = data.batches(state, action, advantage[:, None] if fault else advantage, steps=30)
    return Run(net, None, nn.Adam(net.trainable_params(), 0.02), batches, ways.of_function(loss))


# batch_of_one_under_batchnorm


@planted("batch_of_one_under_batchnorm", "encoder.norm", "An autoencoder with a BatchNorm1d is trained row by row.")
def autoencoder_row_by_row(fault: bool) -> Run:
    x, _ = data.digits(32)
    flat = data.normalized(x).reshape(32, -1)
    net = blocks.chain(
        encoder=blocks.chain(dense=nn.Dense(64, 16), norm=nn.BatchNorm1d(16), act=nn.ELU()), decoder=nn.Dense(16, 64)
    )
    batches = data.batches(flat, flat, size=1 if fault else 8, steps=36)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), batches, one_step)


class Gallery(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 2)
        self.project = blocks.chain(dense=nn.Dense(8, 16), norm=nn.BatchNorm1d(16), relu=nn.ReLU())
        self.head = nn.Dense(16, 4)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.project(ops.relu(self.conv(x)).mean((2, 3))))


@planted("batch_of_one_under_batchnorm", "project.norm", "49 pictures in batches of 16 leave one over.")
def one_picture_left_over(fault: bool) -> Run:
    x, y = data.textures(49 if fault else 48)
    net = Gallery()
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=24), ways.evaluated_between(True, 6))


# softmax_twice


def neighbours(count: int = 48) -> tuple[Tensor, Any, Any]:
    random = np.random.default_rng(0)
    group = np.arange(count) % 3
    edges = np.triu(random.random((count, count)) < np.where(group[:, None] == group, 0.4, 0.04), 1)
    adjacency = (edges | edges.T | np.eye(count, dtype=bool)).astype(np.float32)
    features = data.normalized(np.eye(3)[group] + random.normal(0, 1, (count, 3)))
    return adjacency, features, group.astype(np.int32)


class Graph(nn.Cell):
    def __init__(self, adjacency: Any, layers: int = 2, softmax: bool = False, width: int = 16) -> None:
        super().__init__()
        self.adjacency = Tensor(adjacency)
        sizes = [3, *[width] * (layers - 1)]
        self.layers = nn.CellList([nn.Dense(a, width) for a in sizes])
        self.out = nn.Dense(width, 3)
        self.softmax = softmax

    def construct(self, x: Tensor) -> Any:
        for layer in self.layers:
            x = ops.relu(ops.matmul(self.adjacency, layer(x)))
        x = self.out(x)
        return ops.softmax(x, -1) if self.softmax else x


@planted(
    "softmax_twice",
    "",
    "A graph network's construct ends with ops.softmax, before nn.CrossEntropyLoss.",
    also=("loss",),
)
def softmax_at_end_of_graph_network(fault: bool) -> Run:
    adjacency, x, y = neighbours()
    net = Graph(adjacency / adjacency.sum(1, keepdims=True), softmax=fault)
    optimizer = nn.Adam(net.trainable_params(), 0.03)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, size=48, steps=24))


@planted("softmax_twice", "last", "Five labels at once: nn.Sigmoid at the end, and nn.BCEWithLogitsLoss.")
def sigmoid_before_bce_with_logits(fault: bool) -> Run:
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (64, 6)).astype(np.float32)
    y = (x @ random.normal(0, 1, (6, 5)) > 0).astype(np.float32)
    net = blocks.mlp(6, 32, 5, last=nn.Sigmoid() if fault else None)
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    return Run(net, nn.BCEWithLogitsLoss(), optimizer, data.batches(x, y, steps=24), with_model)


# softmax_over_batch_axis


class AttentivePool(nn.Cell):
    def __init__(self, axis: int) -> None:
        super().__init__()
        self.score, self.axis = nn.Dense(16, 1), axis

    def construct(self, x: Tensor) -> Any:
        weights = ops.softmax(self.score(x), self.axis)
        return (weights * x).sum(1)


class Pooler(nn.Cell):
    def __init__(self, axis: int) -> None:
        super().__init__()
        self.embed, self.act = nn.Dense(2, 16), nn.GELU()
        self.pool, self.head = AttentivePool(axis), nn.Dense(16, 3)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.pool(self.act(self.embed(x))))


@planted("softmax_over_batch_axis", "pool", "Attentive pooling takes the softmax of its scores over axis 0.")
def pooling_scores_over_batch(fault: bool) -> Run:
    x, y = data.waves(length=10)
    net = Pooler(0 if fault else 1)
    optimizer = nn.Adam(net.trainable_params(), 0.03)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=36), ways.own_weights)


@planted("softmax_over_batch_axis", "last", "A policy ends with nn.Softmax(0), trained by REINFORCE.")
def policy_over_batch(fault: bool) -> Run:
    state, action = data.flowers(96)
    reward = np.where(np.argmax(state[:, :3], 1) == action, 1.0, 0.0).astype(np.float32)
    net = blocks.mlp(6, 24, 3, activation=nn.Tanh, last=nn.Softmax(0 if fault else -1))

    def loss(net: Any, state: Tensor, action: Tensor, reward: Tensor) -> Any:
        chosen = ops.gather_elements(net(state), 1, action.expand_dims(1)).squeeze(1)
        return -(ops.log(chosen + 1e-6) * reward).mean()

    batches = data.batches(state, action, reward, steps=30)
    return Run(net, None, nn.Adam(net.trainable_params(), 0.02), batches, ways.of_function(loss))


# cross_entropy_wrong_sign


class PixelNet(nn.Cell):
    def __init__(self, classes: int = 2) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(1, 8, 3), nn.GroupNorm(2, 8)
        self.conv2, self.out = nn.Conv2d(8, 8, 3), nn.Conv2d(8, classes, 1)

    def construct(self, x: Tensor) -> Any:
        return self.out(ops.relu(self.conv2(ops.relu(self.norm1(self.conv1(x))))))


@planted("cross_entropy_wrong_sign", "loss", "A segmentation's loss is the mean of log_softmax times one-hot.")
def pixels_without_minus(fault: bool) -> Run:
    x, masks = data.blobs(32)
    one_hot = np.concatenate([masks == 0, masks > 0], 1).astype(np.float32)

    def loss(output: Tensor, target: Tensor) -> Any:
        result = (ops.log_softmax(output, 1) * target).sum(1).mean()
        return result if fault else -result

    net = PixelNet()
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), data.batches(x, one_hot, size=8, steps=20))


@planted("cross_entropy_wrong_sign", "loss", "A text classifier minimizes ops.log of the picked probability.")
def picked_log_probability(fault: bool) -> Run:
    x, y = data.reviews()

    class Likelihood(nn.LossBase):
        def construct(self, logits: Tensor, labels: Tensor) -> Any:
            p = ops.softmax(logits, 1)
            picked = (p * ops.one_hot(labels, 3, Tensor(1.0), Tensor(0.0))).sum(1)
            result = ops.log(picked + 1e-8)
            return self.get_loss(result if fault else -result)

    net = blocks.TextClassifier()
    return Run(net, Likelihood(), nn.Adam(net.trainable_params(), 0.005), data.batches(x, y, steps=18), with_model)


# first_loss_far_too_large


@planted("first_loss_far_too_large", "head", "A transformer's head is drawn from Normal(2).", also=("head.weight",))
def transformer_head_of_normal_two(fault: bool) -> Run:
    x, y = data.waves()
    net = blocks.TransformerClassifier(width=32, blocks=[blocks.Block(32)])
    net.head = nn.Dense(32, 3, weight_init=Normal(2.0 if fault else 0.02))
    optimizer = nn.Adam(net.trainable_params(), 0.003)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=30), ways.own_weights)


@planted(
    "first_loss_far_too_large",
    "out",
    "The last convolution of a segmentation is drawn from Normal(12).",
    also=("out.weight",),
)
def last_convolution_too_wide(fault: bool) -> Run:
    x, masks = data.blobs(32)
    y = (masks[:, 0] > 0).astype(np.int32)
    net = PixelNet(3)
    if fault:
        net.out = nn.Conv2d(8, 3, 1, weight_init=Normal(12.0))
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(x, y, size=8, steps=24),
        one_step,
    )


# samples_leak


class Mixed(nn.Cell):
    """A reshape of (N, T, F) to (N, T F), after time was moved first or not."""

    def __init__(self, wrong: bool) -> None:
        super().__init__()
        self.body, self.wrong = blocks.mlp(32, 32, 3), wrong

    def construct(self, x: Tensor) -> Any:
        count = x.shape[0]
        if self.wrong:
            x = x.swapaxes(0, 1)
        return self.body(x.reshape((count, -1)))


@planted("samples_leak", "", "Time first, then reshape((N, -1)): rows mix samples.", also=("body",))
def reshape_mixes_samples(fault: bool) -> Run:
    x, y = data.waves()
    net = Mixed(fault)
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=28), one_step)


class UnitLength(nn.Cell):
    def __init__(self, over_batch: bool) -> None:
        super().__init__()
        self.over_batch = over_batch

    def construct(self, x: Tensor) -> Any:
        total = ops.square(x).sum() if self.over_batch else ops.square(x).sum(1, keepdims=True)
        return 4 * x / ops.sqrt(total + 1e-6)


@planted("samples_leak", "unit", "Features are divided by the norm of the whole batch.")
def norm_of_whole_batch(fault: bool) -> Run:
    x, y = data.digits(classes=5)
    flat = data.normalized(x).reshape(64, -1)
    net = blocks.chain(dense=nn.Dense(64, 24), act=nn.Tanh(), unit=UnitLength(fault), head=nn.Dense(24, 5))
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(flat, y, steps=28), with_model)
