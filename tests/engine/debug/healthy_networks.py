"""Small training scripts without faults, many of them unusual: the debugger must find nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from training_scripts import Script, blobs, cross_entropy, images, mlp, sentences, sequences, train

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, amp, nn, ops
from hookscope.engine.tensors.initializer import Normal, Orthogonal

__all__ = ["HEALTHY", "Healthy"]


class Healthy(NamedTuple):
    """One script."""

    name: str
    script: Callable[[], Script]


HEALTHY: list[Healthy] = []


def healthy(script: Callable[[], Script]) -> Callable[[], Script]:
    """Add a script to the suite."""
    HEALTHY.append(Healthy(script.__name__, script))
    return script


@healthy
def a_classifier() -> Script:
    net = mlp()
    return Script(net, lambda: train(net, cross_entropy(), blobs(40)))


@healthy
def a_linear_regression_with_large_targets() -> Script:
    net = nn.Dense(8, 1)
    direction = np.random.default_rng(0).standard_normal((8, 1)).astype(np.float32)
    batches = [(x, ops.matmul(x, Tensor(direction)) * 1000.0 + 5000.0) for x, _ in blobs(40)]
    return Script(net, lambda: train(net, nn.MSELoss(), batches, nn.SGD(net.trainable_params(), 1e-2)))


class LeNet(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(1, 8, 3, pad_mode="same"),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(8, 16, 3, pad_mode="same"),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
        )
        self.dropout = nn.Dropout(p=0.3)
        self.head = nn.SequentialCell(nn.Dense(144, 32), nn.ReLU(), nn.Dense(32, 4))

    def construct(self, x: Any) -> Any:
        return self.head(self.dropout(self.features(x)))


@healthy
def a_convolutional_net_that_is_trained_and_evaluated() -> Script:
    net = LeNet()

    def script() -> None:
        for _ in range(2):
            train(net, cross_entropy(), images(12), nn.Momentum(net.trainable_params(), 2e-2, 0.9))
            net.set_train(False)
            for x, y in images(3):
                (net(x).argmax(1) == y).astype(ms.float32).mean()

    return Script(net, script)


class Residual(nn.Cell):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(channels, channels, 3, pad_mode="same") for _ in range(2))
        # As usual, a block begins as the identity.
        self.bn1, self.bn2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels, gamma_init="zeros")
        self.relu = nn.ReLU()

    def construct(self, x: Any) -> Any:
        return self.relu(x + self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x))))))


@healthy
def a_residual_net_whose_blocks_begin_as_the_identity() -> Script:
    net = nn.SequentialCell(
        nn.Conv2d(1, 8, 3, pad_mode="same"),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        Residual(8),
        Residual(8),
        nn.AvgPool2d(12),
        nn.Flatten(),
        nn.Dense(8, 4),
    )
    return Script(net, lambda: train(net, cross_entropy(), images(15), nn.Momentum(net.trainable_params(), 1e-2, 0.9)))


class LastOfSequence(nn.Cell):
    def __init__(self, layer: nn.Cell, size: int) -> None:
        super().__init__()
        self.layer, self.head = layer, nn.Dense(size, 1)

    def construct(self, x: Any) -> Any:
        return self.head(self.layer(x)[0][:, -1])


@healthy
def an_lstm() -> Script:
    net = LastOfSequence(nn.LSTM(4, 12, batch_first=True), 12)
    return Script(net, lambda: train(net, nn.MSELoss(), sequences(25)))


class HandmadeRecurrence(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.enter, self.leave = nn.Dense(4, 12), nn.Dense(12, 1)
        self.again = nn.Dense(12, 12, weight_init=Orthogonal())

    def construct(self, x: Any) -> Any:
        state = ops.zeros((x.shape[0], 12), ms.float32)
        for k in range(x.shape[1]):
            state = ops.tanh(self.enter(x[:, k]) + self.again(state))
        return self.leave(state)


@healthy
def a_recurrent_net_by_hand() -> Script:
    net = HandmadeRecurrence()
    return Script(net, lambda: train(net, nn.MSELoss(), sequences(25, length=16)))


class LanguageModel(nn.Cell):
    """One Transformer layer; a causal mask of -inf."""

    def __init__(self, words: int = 20, size: int = 16, length: int = 10) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, size)
        positions = np.random.default_rng(0).standard_normal((length, size)) * 0.02
        self.places = Parameter(Tensor(positions.astype(np.float32)), "places")
        self.layer = nn.TransformerEncoderLayer(size, 4, 32, dropout=0.1, batch_first=True)
        self.head = nn.Dense(size, words)
        self.mask = Tensor(np.triu(np.full((length, length), -np.inf, np.float32), 1))

    def construct(self, x: Any) -> Any:
        return self.head(self.layer(self.embed(x) + self.places, src_mask=self.mask))


def next_word(out: Any, y: Any) -> Any:
    """Return the loss of a language model."""
    return cross_entropy()(out.reshape((-1, out.shape[-1])), y.reshape((-1,)))


@healthy
def a_transformer_layer_with_a_causal_mask_of_infinities() -> Script:
    net = LanguageModel()
    return Script(net, lambda: train(net, next_word, sentences(20), nn.Adam(net.trainable_params(), 3e-3)))


class HandmadeAttention(nn.Cell):
    """One head; forbidden scores are filled with -inf, and in a second one with the lowest float."""

    def __init__(self, size: int, fill: float) -> None:
        super().__init__()
        self.query, self.key, self.value = (nn.Dense(size, size) for _ in range(3))
        self.norm = nn.LayerNorm((size,))
        self.fill = fill

    def construct(self, x: Any) -> Any:
        scores = ops.matmul(self.query(x), self.key(x).swapaxes(-1, -2)) / x.shape[-1] ** 0.5
        future = ops.triu(ops.ones(scores.shape[-2:], ms.float32), 1).astype(ms.bool_)
        scores = ops.masked_fill(scores, future, self.fill)
        return self.norm(x + ops.matmul(ops.softmax(scores, -1), self.value(x)))


@healthy
def attention_by_hand_with_two_kinds_of_masks() -> Script:
    net = nn.SequentialCell(
        nn.Embedding(20, 16),
        HandmadeAttention(16, float("-inf")),
        HandmadeAttention(16, float(np.finfo(np.float32).min)),
        nn.Dense(16, 20),
    )
    return Script(net, lambda: train(net, next_word, sentences(20)))


@healthy
def an_autoencoder() -> Script:
    net = nn.SequentialCell(
        nn.Flatten(),
        nn.Dense(144, 32),
        nn.ReLU(),
        nn.Dense(32, 4),
        nn.Tanh(),
        nn.Dense(4, 32),
        nn.ReLU(),
        nn.Dense(32, 144),
        nn.Sigmoid(),
    )
    batches = [(x, ops.sigmoid(x).reshape((16, 144))) for x, _ in images(25)]
    return Script(net, lambda: train(net, nn.MSELoss(), batches))


class VariationalAutoencoder(nn.Cell):
    """An autoencoder that returns its loss: reconstruction and Kullback-Leibler divergence."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU())
        self.mean, self.log_variance = nn.Dense(16, 3), nn.Dense(16, 3)
        self.decode = nn.SequentialCell(nn.Dense(3, 16), nn.ReLU(), nn.Dense(16, 8))

    def construct(self, x: Any) -> Any:
        hidden = self.encode(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + ops.exp(0.5 * log_variance) * ops.standard_normal(mean.shape)
        divergence = -0.5 * (1 + log_variance - mean * mean - ops.exp(log_variance)).sum(-1).mean()
        difference = self.decode(z) - x
        return (difference * difference).sum(-1).mean() + 0.1 * divergence


@healthy
def a_variational_autoencoder() -> Script:
    net = VariationalAutoencoder()
    return Script(net, lambda: train(net, lambda loss, _: loss, blobs(30)))


class Swish(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * ops.sigmoid(x)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        s = ops.sigmoid(x)
        return (dout * (s + x * s * (1.0 - s)),)


class SquareDense(nn.Cell):
    def __init__(self, size: int) -> None:
        super().__init__()
        random = np.random.default_rng(0)
        self.w = Parameter(Tensor((random.standard_normal((size, size)) / np.sqrt(size)).astype(np.float32)), "w")
        self.internal_params = [self.w]

    def construct(self, x: Any) -> Any:
        return ops.matmul(x, self.w)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (ops.matmul(dout, self.w.T),), {self.w: ops.matmul(x.T, dout)}


class HardReLU(nn.Cell):
    """A hard ReLU whose gradient at 0 is 1, where the automatic one is 0."""

    def construct(self, x: Any) -> Any:
        return ops.relu(x)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * (x >= 0).astype(x.dtype),)


@healthy
def bprops_of_ones_own_that_are_right() -> Script:
    # The bias begins at 0 and some inputs are 0: the last one is differentiated at its kink.
    net = nn.SequentialCell(nn.Dense(8, 16, bias_init="zeros"), HardReLU(), SquareDense(16), Swish(), nn.Dense(16, 4))
    batches = []
    for x, y in blobs(25):
        points = x.asnumpy().copy()
        points[::5] = 0.0
        batches.append((Tensor(points), y))
    return Script(net, lambda: train(net, cross_entropy(), batches))


@healthy
def half_precision_with_a_loss_scale() -> Script:
    net = mlp().to_float(ms.float16)
    loss = cross_entropy()
    scaler = amp.StaticLossScaler(1024.0)
    weights = net.trainable_params()
    optimizer = nn.Adam(weights, 1e-2)

    def script() -> None:
        net.set_train()
        step = ms.value_and_grad(lambda x, y: scaler.scale(loss(net(x).astype(ms.float32), y)), None, weights)
        for x, y in blobs(25):
            optimizer(scaler.unscale(step(x, y)[1]))

    return Script(net, script)


class BagOfWords(nn.Cell):
    """A bag of 500 words, of which a batch has a few; word 0 is padding and has a row of zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(500, 8, padding_idx=0)
        self.head = nn.Dense(8, 2)

    def construct(self, words: Any) -> Any:
        mask = (words != 0).astype(ms.float32).expand_dims(-1)
        return self.head((self.embed(words) * mask).sum(1) / (mask.sum(1) + 1e-6))


@healthy
def an_embedding_of_which_each_batch_uses_little() -> Script:
    net = BagOfWords()
    random = np.random.default_rng(6)
    batches = []
    for _ in range(25):
        words = random.integers(1, 500, (16, 6)).astype(np.int32)
        words[:, 4:] = 0
        batches.append((Tensor(words), Tensor((words[:, 0] % 2).astype(np.int32))))
    return Script(net, lambda: train(net, cross_entropy(), batches[:5] * 5))


class Adversaries(nn.Cell):
    """A generator and a discriminator in one cell, so that both are watched."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = nn.SequentialCell(nn.Dense(4, 16), nn.LeakyReLU(0.2), nn.Dense(16, 2))
        self.discriminator = nn.SequentialCell(nn.Dense(2, 16), nn.LeakyReLU(0.2), nn.Dense(16, 1))

    def construct(self, noise: Any) -> Any:
        return self.discriminator(self.generator(noise))


@healthy
def two_nets_against_each_other() -> Script:
    net = Adversaries()
    generator, discriminator = net.generator, net.discriminator
    loss = nn.BCEWithLogitsLoss()
    of_g, of_d = generator.trainable_params(), discriminator.trainable_params()
    step_g, step_d = nn.Adam(of_g, 2e-3, beta1=0.5), nn.Adam(of_d, 2e-3, beta1=0.5)
    ones, zeros = ops.ones((32, 1), ms.float32), ops.zeros((32, 1), ms.float32)

    def of_real_and_made(real: Any, noise: Any) -> Any:
        return loss(discriminator(real), ones) + loss(discriminator(ops.stop_gradient(generator(noise))), zeros)

    def script() -> None:
        net.set_train()
        train_d = ms.value_and_grad(of_real_and_made, None, of_d)
        train_g = ms.value_and_grad(lambda noise: loss(net(noise), ones), None, of_g)
        random = np.random.default_rng(7)
        for _ in range(40):
            real = Tensor((random.standard_normal((32, 2)) * 0.5 + 2.0).astype(np.float32))
            noise = Tensor(random.standard_normal((32, 4)).astype(np.float32))
            step_d(train_d(real, noise)[1])
            step_g(train_g(noise)[1])

    return Script(net, script)


@healthy
def a_new_head_on_a_frozen_backbone_whose_batch_norm_predicts() -> Script:
    net = LeNet()
    train(net, cross_entropy(), images(10))
    net.head = nn.Dense(144, 4)
    for parameter in net.features.get_parameters():
        parameter.requires_grad = False

    def script() -> None:
        weights = net.trainable_params()
        optimizer = nn.Adam(weights, 1e-2)
        step = ms.value_and_grad(lambda x, y: cross_entropy()(net(x), y), None, weights)
        for x, y in images(25):
            net.set_train()
            net.features.set_train(False)
            optimizer(step(x, y)[1])

    return Script(net, script)


@healthy
def fine_tuning_with_a_small_learning_rate() -> Script:
    net = mlp()
    train(net, cross_entropy(), blobs(15))
    return Script(net, lambda: train(net, cross_entropy(), blobs(30), nn.Adam(net.trainable_params(), 1e-5)))


class Adapted(nn.Cell):
    """A frozen layer and a correction of rank 2, of which one factor begins at zero."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen = nn.Dense(8, 16)
        self.down = nn.Dense(8, 2, has_bias=False)
        self.up = nn.Dense(2, 16, has_bias=False, weight_init="zeros")
        self.head = nn.Dense(16, 4)
        for parameter in self.frozen.get_parameters():
            parameter.requires_grad = False

    def construct(self, x: Any) -> Any:
        return self.head(ops.relu(self.frozen(x) + self.up(self.down(x))))


@healthy
def an_adapter_that_begins_at_zero() -> Script:
    net = Adapted()
    return Script(net, lambda: train(net, cross_entropy(), blobs(25)))


@healthy
def a_head_that_begins_at_zero() -> Script:
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4, weight_init="zeros", bias_init="zeros"))
    return Script(net, lambda: train(net, cross_entropy(), blobs(25)))


@healthy
def a_head_that_begins_near_zero() -> Script:
    # Heads of detectors and of policies begin with a deviation of 1e-3 to 1e-2.
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4, weight_init=Normal(1e-3), bias_init="zeros"))
    return Script(net, lambda: train(net, cross_entropy(), blobs(25)))


@healthy
def a_warm_up_from_a_rate_of_zero() -> Script:
    net = mlp()
    rates = [1e-2 * min(k / 10, 1.0) for k in range(25)]
    return Script(net, lambda: train(net, cross_entropy(), blobs(25), nn.Adam(net.trainable_params(), rates)))


@healthy
def gradients_of_five_batches_added_up_before_a_step() -> Script:
    net = mlp()
    weights = net.trainable_params()
    optimizer = nn.SGD(weights, 5e-2)
    step = ms.value_and_grad(lambda x, y: cross_entropy()(net(x), y) / 5, None, weights)

    def script() -> None:
        net.set_train()
        batches = iter(blobs(40))
        for _ in range(8):
            total = [ops.zeros_like(w) for w in weights]
            for _ in range(5):
                total = [t + g for t, g in zip(total, step(*next(batches))[1], strict=True)]
            optimizer(tuple(total))

    return Script(net, script)


@healthy
def gradients_clipped_by_their_norm_with_weight_decay() -> Script:
    net = mlp(hidden=32, activation=nn.GELU)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 2e-3, weight_decay=1e-2)
    return Script(
        net,
        lambda: train(
            net, cross_entropy(), blobs(30), lambda gradients: optimizer(ops.clip_by_global_norm(gradients, 1.0))
        ),
    )


class TiedAutoencoder(nn.Cell):
    """Encoder and decoder with one weight; the encoder is called on two views of the same sample."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(8, 4)

    def construct(self, x: Any) -> Any:
        one, other = ops.tanh(self.dense(x)), ops.tanh(self.dense(-x))
        return ops.matmul(one - other, self.dense.weight)


@healthy
def a_weight_that_is_used_three_times() -> Script:
    net = TiedAutoencoder()
    return Script(net, lambda: train(net, nn.MSELoss(), [(x, x) for x, _ in blobs(30)]))


@healthy
def the_ready_made_training_loop() -> Script:
    net = mlp()
    data = blobs(25)

    def script() -> None:
        dataset = ms.dataset.GeneratorDataset([(x.asnumpy(), y.asnumpy()) for x, y in data], ["x", "y"], shuffle=False)
        optimizer = nn.Adam(net.trainable_params(), 1e-2)
        model = ms.train.Model(net, nn.CrossEntropyLoss(), optimizer, metrics={"accuracy"})
        model.train(1, dataset, dataset_sink_mode=False)
        model.eval(dataset, dataset_sink_mode=False)

    return Script(net, script)


@healthy
def a_binary_classifier_that_becomes_sure() -> Script:
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 1), nn.Sigmoid())
    batches = [(x, (y == 0).astype(ms.float32).reshape((-1, 1))) for x, y in blobs(60)]
    return Script(net, lambda: train(net, nn.BCELoss(reduction="mean"), batches, nn.Adam(net.trainable_params(), 5e-2)))


@healthy
def pixels_that_are_not_scaled_behind_batch_norm() -> Script:
    net = nn.SequentialCell(
        nn.BatchNorm2d(1),
        nn.Conv2d(1, 8, 3, stride=2, pad_mode="same", has_bias=True),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dense(288, 4),
    )
    batches = [(ops.clamp(x * 64.0 + 96.0, 0.0, 255.0), y) for x, y in images(20)]
    return Script(net, lambda: train(net, cross_entropy(), batches))


class Normalized(nn.Cell):
    """x + W relu(V LayerNorm(x))."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm((size,))
        self.enter, self.act, self.leave = nn.Dense(size, 2 * size), nn.ReLU(), nn.Dense(2 * size, size)

    def construct(self, x: Any) -> Any:
        return x + self.leave(self.act(self.enter(self.norm(x))))


@healthy
def a_deep_residual_net_with_layer_norm() -> Script:
    net = nn.SequentialCell(*[Normalized(8) for _ in range(12)], nn.LayerNorm((8,)), nn.Dense(8, 4))
    return Script(net, lambda: train(net, cross_entropy(), blobs(15), nn.Adam(net.trainable_params(), 1e-3)))


class TwoTasks(nn.Cell):
    """One trunk and two heads, of which a batch trains one."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU())
        self.heads = nn.CellList([nn.Dense(16, 4), nn.Dense(16, 4)])

    def construct(self, x: Any, task: int) -> Any:
        return self.heads[task](self.trunk(x))


@healthy
def two_tasks_in_turn() -> Script:
    net = TwoTasks()
    batches = [(x, k % 2, y if k % 2 else 3 - y) for k, (x, y) in enumerate(blobs(30))]
    return Script(net, lambda: train(net, cross_entropy(), batches))


@healthy
def a_policy_gradient_whose_loss_means_little() -> Script:
    net = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 4))
    random = np.random.default_rng(8)
    optimizer = nn.Adam(net.trainable_params(), 1e-2)

    def loss(logits: Any, actions: Any, advantages: Any) -> Any:
        chosen = ops.gather_elements(ops.log_softmax(logits, -1), 1, actions)
        return -(chosen.reshape((-1,)) * advantages).mean()

    def script() -> None:
        net.set_train()
        step = ms.value_and_grad(lambda x, a, r: loss(net(x), a, r), None, net.trainable_params())
        for x, best in blobs(15):
            chances = ops.softmax(net(x), -1).asnumpy().astype(np.float64)
            actions = np.array([random.choice(4, p=row / row.sum()) for row in chances])
            rewards = (actions == best.asnumpy()).astype(np.float32)
            advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
            optimizer(step(x, Tensor(actions.reshape(-1, 1)), Tensor(advantages))[1])

    return Script(net, script)


class Contrast(nn.Cell):
    """Contrastive loss: two views of a sample should be nearer to one another than to all others (InfoNCE)."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 8))

    def construct(self, first: Any, other: Any) -> Any:
        a, b = ops.L2Normalize(axis=-1)(self.embed(first)), ops.L2Normalize(axis=-1)(self.embed(other))
        return ops.matmul(a, b.T) / 0.1


@healthy
def two_views_of_one_sample() -> Script:
    net = Contrast()
    random = np.random.default_rng(9)
    batches = []
    for x, _ in blobs(25):
        noise = Tensor((random.standard_normal(x.shape) * 0.1).astype(np.float32))
        batches.append((x, x + noise, Tensor(np.arange(32, dtype=np.int32))))
    return Script(net, lambda: train(net, cross_entropy(), batches))
