"""Healthy: tasks, losses and architectures."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal, XavierUniform, initializer
from tests.faults import blocks, data
from tests.faults import more_ways as ways
from tests.faults.more_healthy_choices import ce, flat, freeze
from tests.faults.more_planted_data import PixelNet, Tagger, neighbours
from tests.faults.programs import Run, by_hand, healthy, one_step, tensors, with_model


class TwoCrops(nn.Cell):
    """Both views' points, normalized."""

    def __init__(self, shift: float = 0.0) -> None:
        super().__init__()
        self.body = blocks.mlp(64, 48, 16)
        self.shift = shift

    def embed(self, x: Tensor) -> Any:
        x = self.body(x)
        return x / ops.sqrt(ops.square(x).sum(1, keepdims=True) + 1e-6)

    def construct(self, a: Tensor, b: Tensor) -> Any:
        return ops.matmul(self.embed(a), self.embed(b).T) / 0.2


def views() -> tuple[Any, Any]:
    x, _ = flat()
    random = np.random.default_rng(3)
    return tuple((x + random.normal(0, 0.5, x.shape)).astype(np.float32) for _ in range(2))


@healthy("SimCLR's InfoNCE in the batch, inside the loss.")
def info_nce() -> Run:
    def loss(net: Any, a: Tensor, b: Tensor) -> Any:
        scores = net(a, b)
        return ops.cross_entropy(scores, ops.arange(scores.shape[0]))

    net = TwoCrops()
    return Run(
        net, None, nn.Adam(net.trainable_params(), 0.01), data.batches(*views(), steps=24), ways.of_function(loss)
    )


@healthy("InfoNCE less the constant log N: a bound on the information, negative by right.", falls_to=1.5)
def info_nce_as_bound() -> Run:
    def loss(net: Any, a: Tensor, b: Tensor) -> Any:
        scores = net(a, b)
        return ops.cross_entropy(scores, ops.arange(scores.shape[0])) - math.log(scores.shape[0])

    net = TwoCrops()
    return Run(
        net, None, nn.Adam(net.trainable_params(), 0.01), data.batches(*views(), steps=24), ways.of_function(loss)
    )


@healthy("CLIP: two towers, a learned temperature, both directions of the loss; the net gives (N, N).")
def clip_pairs() -> Run:
    class Clip(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.image, self.text = blocks.mlp(64, 32, 12), nn.Embedding(10, 12, embedding_table=Normal(1.0))
            self.scale = Parameter(Tensor(math.log(8), ms.float32), "scale")

        def construct(self, x: Tensor, word: Tensor) -> Any:
            a, b = self.image(x), self.text(word)
            a, b = (v / ops.sqrt(ops.square(v).sum(1, keepdims=True) + 1e-6) for v in (a, b))
            scores = ops.exp(self.scale) * ops.matmul(a, b.T)
            where = ops.arange(scores.shape[0])
            return (ops.cross_entropy(scores, where) + ops.cross_entropy(scores.T, where)) / 2

    x, y = data.digits(60)
    ordered = np.argsort(y, kind="stable").reshape(10, 6).T.ravel()
    x, y = data.normalized(x).reshape(60, -1)[ordered], y[ordered]
    net = Clip()
    return Run(net, None, nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, size=10, steps=30))


@healthy("Barlow Twins: the correlation of features over the batch is the loss.")
def barlow_twins() -> Run:
    def loss(net: Any, a: Tensor, b: Tensor) -> Any:
        u, v = net.body(a), net.body(b)
        u, v = ((z - z.mean(0)) / (z.std(0) + 1e-4) for z in (u, v))
        c = ops.matmul(u.T, v) / a.shape[0]
        eye = ops.eye(16, 16, ms.float32)
        return (ops.square(c - eye) * (eye + 0.05 * (1 - eye))).sum()

    net = TwoCrops()
    return Run(
        net,
        None,
        nn.Adam(net.trainable_params(), 0.005),
        data.batches(*views(), size=32, steps=30),
        ways.of_function(loss),
    )


@healthy("BYOL: an online network with a predictor follows a slow target; stop_gradient on the target.")
def bootstrap() -> Run:
    class Byol(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.online, self.predictor = blocks.mlp(64, 48, 16), blocks.mlp(16, 24, 16)
            self.target = freeze(copy.deepcopy(self.online))

    def way(run: Run) -> list[float]:
        net = run.net

        def loss(a: Tensor, b: Tensor) -> Any:
            p, t = net.predictor(net.online(a)), ops.stop_gradient(net.target(b))
            return 2 - 2 * ops.cosine_similarity(p, t, 1).mean()

        net.set_train()
        step = ms.value_and_grad(loss, None, run.optimizer.parameters)
        losses = []
        for batch in run.batches:
            value, gradients = step(*tensors(batch))
            run.optimizer(gradients)
            for slow, fast in zip(net.target.get_parameters(), net.online.get_parameters(), strict=True):
                slow.set_data(0.97 * slow + 0.03 * fast)
            losses.append(float(value))
        return losses

    net = Byol()
    weights = net.online.trainable_params() + net.predictor.trainable_params()
    return Run(net, None, nn.Adam(weights, 0.005), data.batches(*views(), steps=28), way)


@healthy("A mixture density network; the log-density is above 0, so the loss ends below 0.", falls_to=0.6)
def mixture_density() -> Run:
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (96, 1)).astype(np.float32)
    y = (np.where(random.random((96, 1)) < 0.5, 1, -1) * (0.3 + 0.3 * x) + random.normal(0, 0.02, (96, 1))).astype(
        np.float32
    )

    def loss(output: Tensor, target: Tensor) -> Any:
        w, mean, log_s = ops.log_softmax(output[:, :2], 1), output[:, 2:4], ops.clamp(output[:, 4:], -4.0, 2.0)
        log_p = -0.5 * ops.square((target - mean) / ops.exp(log_s)) - log_s - 0.919
        return -ops.logsumexp(w + log_p, 1).mean()

    net = blocks.mlp(1, 32, 6, activation=nn.Tanh)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, size=32, steps=48))


@healthy("A Gaussian density of narrow data: the negative log-likelihood falls far below 0.", falls_to=0.5)
def narrow_density() -> Run:
    x, y = data.houses()
    y = (0.1 * y).astype(np.float32)[:, None]

    def loss(output: Tensor, target: Tensor) -> Any:
        log_s = output[:, 1:]
        return (log_s + 0.5 * ops.square((target - output[:, :1]) / ops.exp(log_s))).mean()

    net = blocks.mlp(5, 24, 2, activation=nn.Tanh)
    return Run(
        net,
        loss,
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(data.normalized(x, 0), y, steps=40),
        ways.own_weights,
    )


@healthy("RealNVP: affine couplings, whose last layers begin with zeros.", known="RealNVP")
def coupling_flow() -> Run:
    class Coupling(nn.Cell):
        def __init__(self, first: bool) -> None:
            super().__init__()
            self.body = nn.SequentialCell(
                nn.Dense(1, 24), nn.Tanh(), nn.Dense(24, 2, weight_init="zeros", bias_init="zeros")
            )
            self.first = first

        def construct(self, x: Tensor) -> Any:
            a, b = (x[:, :1], x[:, 1:]) if self.first else (x[:, 1:], x[:, :1])
            out = self.body(a)
            s, t = ops.tanh(out[:, :1]), out[:, 1:]
            b = b * ops.exp(s) + t
            return ops.concat([a, b] if self.first else [b, a], 1), s.squeeze(1)

    class Flow(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.steps = nn.CellList([Coupling(i % 2 == 0) for i in range(4)])

        def construct(self, x: Tensor) -> Any:
            total = 0.0
            for step in self.steps:
                x, log_det = step(x)
                total = total + log_det
            return (0.5 * ops.square(x).sum(1) - total).mean()

    random = np.random.default_rng(0)
    u = random.normal(0, 1, (128, 1))
    x = np.concatenate([u, np.square(u) + 0.3 * random.normal(0, 1, (128, 1))], 1)
    net = Flow()
    return Run(net, None, nn.Adam(net.trainable_params(), 0.02), data.batches(x.astype(np.float32), size=64, steps=40))


@healthy("REINFORCE with a baseline; the loss of the policy may have either sign.", falls_to=0.9)
def policy_gradient() -> Run:
    state, action = data.flowers(96)
    right = np.argmax(state[:, :3], 1) == action
    advantage = np.where(right, 1.0, -0.05).astype(np.float32)

    def loss(net: Any, state: Tensor, action: Tensor, advantage: Tensor) -> Any:
        log_p = ops.log_softmax(net(state), -1)
        chosen = ops.gather_elements(log_p, 1, action.expand_dims(1)).squeeze(1)
        return -(chosen * advantage).mean()

    net = blocks.mlp(6, 24, 3, activation=nn.Tanh)
    return Run(
        net,
        None,
        nn.Adam(net.trainable_params(), 0.02),
        data.batches(state, action, advantage, size=32, steps=30),
        ways.of_function(loss),
    )


@healthy("A deterministic actor: minus the value of its action, by a frozen critic, is minimized.", falls_to=1.3)
def actor_of_negative_value() -> Run:
    class Agent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.actor = blocks.mlp(6, 24, 2, last=nn.Tanh())
            self.critic = freeze(blocks.mlp(8, 24, 1))

        def construct(self, x: Tensor) -> Any:
            a = self.actor(x)
            known = 2.0 - ops.square(a - ops.tanh(x[:, :2])).sum(1, keepdims=True)
            return -(known + 0.1 * self.critic(ops.concat([x, a], 1))).mean()

    net = Agent()
    return Run(
        net, None, nn.Adam(net.actor.trainable_params(), 0.02), data.batches(data.flowers()[0], size=32, steps=30)
    )


@healthy("PPO's clipped ratio, actor and critic on one body, an entropy bonus.", falls_to=0.9)
def clipped_ratio() -> Run:
    state, action = data.flowers(96)
    reward = (np.argmax(state[:, :3], 1) == action).astype(np.float32)

    class ActorCritic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = blocks.chain(dense=nn.Dense(6, 32), act=nn.Tanh())
            self.policy, self.value = nn.Dense(32, 3), nn.Dense(32, 1)

        def construct(self, x: Tensor) -> Any:
            x = self.body(x)
            return self.policy(x), self.value(x).squeeze(1)

    def loss(net: Any, s: Tensor, a: Tensor, r: Tensor) -> Any:
        logits, value = net(s)
        log_p = ops.log_softmax(logits, -1)
        ratio = ops.exp(ops.gather_elements(log_p, 1, a.expand_dims(1)).squeeze(1) - math.log(1 / 3))
        advantage = ops.stop_gradient(r - value)
        gain = ops.minimum(ratio * advantage, ops.clamp(ratio, 0.8, 1.2) * advantage).mean()
        entropy = -(ops.exp(log_p) * log_p).sum(1).mean()
        return -gain + ops.square(r - value).mean() - 0.01 * entropy

    net = ActorCritic()
    return Run(
        net,
        None,
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(state, action, reward, size=32, steps=30),
        ways.of_function(loss),
    )


@healthy("Tagging with ignore_index -1 for padding: whole rows' ends are left out.")
def tags_with_ignored_padding() -> Run:
    words, _ = data.reviews()
    tags = np.where(words == 0, -1, words % 4).astype(np.int32)
    net = Tagger(4)
    return Run(
        net,
        nn.CrossEntropyLoss(ignore_index=-1),
        nn.Adam(net.trainable_params(), 0.02),
        data.batches(words, tags, steps=28),
    )


@healthy("Masked language model: 15 % of the words are asked for, -100 elsewhere.")
def masked_language_model() -> Run:
    x, _ = data.text()
    hidden = np.random.default_rng(0).random(x.shape) < 0.15
    hidden[:, 5] = True
    inputs, labels = np.where(hidden, 20, x).astype(np.int32), np.where(hidden, x, -100).astype(np.int32)

    class Bert(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(21, 24, embedding_table=Normal(0.3))
            self.position = Parameter(initializer(Normal(0.1), (12, 24)), "position")
            self.blocks = nn.SequentialCell(blocks.Block(24), blocks.Block(24))
            self.norm, self.out = nn.LayerNorm((24,)), nn.Dense(24, 20)

        def construct(self, x: Tensor) -> Any:
            return self.out(self.norm(self.blocks(self.embedding(x) + self.position))).swapaxes(1, 2)

    net = Bert()
    loss = nn.CrossEntropyLoss(ignore_index=-100)
    return Run(
        net, loss, nn.Adam(net.trainable_params(), 0.01), data.batches(inputs, labels, size=32, steps=32), one_step
    )


@healthy("Three tasks with learned uncertainties (Kendall et al. 2018).")
def learned_task_weights() -> Run:
    x, y = data.flowers(96)

    class Multi(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = blocks.chain(dense=nn.Dense(6, 32), act=nn.ReLU())
            self.kind, self.size, self.other = nn.Dense(32, 3), nn.Dense(32, 1), nn.Dense(32, 1)
            self.log_var = Parameter(initializer("zeros", (3,)), "log_var")

        def construct(self, x: Tensor, kind: Tensor, size: Tensor, big: Tensor) -> Any:
            x = self.body(x)
            losses = ops.stack(
                [
                    ops.cross_entropy(self.kind(x), kind),
                    ops.square(self.size(x) - size).mean(),
                    ops.binary_cross_entropy_with_logits(self.other(x), big, ops.ones_like(big), ops.ones_like(big)),
                ]
            )
            return (ops.exp(-self.log_var) * losses + 0.5 * self.log_var).sum()

    size = data.normalized(x[:, :2].sum(1))[:, None]
    net = Multi()
    return Run(
        net,
        None,
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(x, y, size, (size > 0).astype(np.float32), steps=30),
    )


@healthy("A detector's head: classes, boxes by smooth L1 where there is an object, and whether there is one.")
def little_detector() -> Run:
    random = np.random.default_rng(0)
    x, masks = data.blobs(48)
    there = random.random(48) < 0.7
    x = np.where(there[:, None, None, None], x, random.normal(0, 0.3, x.shape)).astype(np.float32)
    grid = np.arange(16)
    box = np.stack([(masks[:, 0].max(1) * grid).max(1) / 255 / 16, (masks[:, 0].max(2) * grid).max(1) / 255 / 16], 1)
    target = np.concatenate([there[:, None], box], 1).astype(np.float32)

    def loss(output: Tensor, target: Tensor) -> Any:
        is_one = target[:, :1]
        result = ops.binary_cross_entropy_with_logits(
            output[:, :1], is_one, ops.ones_like(is_one), ops.ones_like(is_one)
        )
        return result + 5 * (
            ops.smooth_l1_loss(output[:, 1:], target[:, 1:], reduction="none") * is_one
        ).sum() / ops.maximum(is_one.sum(), Tensor(1.0))

    net = nn.SequentialCell(
        nn.Conv2d(1, 8, 3, 2), nn.ReLU(), nn.Conv2d(8, 16, 3, 2), nn.ReLU(), nn.Flatten(), nn.Dense(256, 3)
    )
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.005), data.batches(x, target, steps=36))


@healthy("Segmentation by the Dice loss alone, with a sigmoid at the end.")
def dice_segmentation() -> Run:
    x, masks = data.blobs(32)

    class Dice(nn.Cell):
        def construct(self, output: Tensor, target: Tensor) -> Any:
            p = ops.sigmoid(output)
            return 1 - (2 * (p * target).sum((1, 2, 3)) + 1).mean() / ((p + target).sum((1, 2, 3)) + 1).mean()

    return Run(
        net := PixelNet(1),
        Dice(),
        nn.Adam(net.trainable_params(), 0.02),
        data.batches(x, masks / 255, size=8, steps=32),
        one_step,
    )


@healthy("Segmentation in three classes, of which the background is most.")
def mostly_background() -> Run:
    x, masks = data.blobs(32)
    inner = (masks[:, 0] > 0).astype(np.int32)
    y = inner + (inner * (np.arange(32)[:, None, None] % 2)).astype(np.int32)
    x = x * np.where(np.arange(32) % 2, 1.5, 0.8)[:, None, None, None].astype(np.float32)
    net = PixelNet(3)
    return Run(
        net,
        nn.CrossEntropyLoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(x, y.astype(np.int32), size=8, steps=28),
        with_model,
    )


@healthy("A least-squares GAN on a ring of points, two optimizers.", falls_to=10.0)
def points_gan() -> Run:
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 256)
    points = np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)
    net = blocks.Adversaries(
        blocks.mlp(4, 32, 2), blocks.chain(dense1=nn.Dense(2, 32), act=nn.LeakyReLU(), dense2=nn.Dense(32, 1))
    )
    g, d = net.generator, net.discriminator

    def way(run: Run) -> list[float]:
        run.net.set_train()
        of_d = ms.value_and_grad(
            lambda x, z: ops.square(d(x) - 1).mean() + ops.square(d(ops.stop_gradient(g(z)))).mean(),
            None,
            run.optimizer[0].parameters,
        )
        of_g = ms.value_and_grad(lambda z: ops.square(d(g(z)) - 1).mean(), None, run.optimizer[1].parameters)
        losses = []
        for x, z in run.batches:
            loss, gradients = of_d(Tensor(x), Tensor(z))
            run.optimizer[0](gradients)
            _, gradients = of_g(Tensor(z))
            run.optimizer[1](gradients)
            losses.append(float(loss))
        return losses

    optimizers = (nn.Adam(d.trainable_params(), 0.005, beta1=0.5), nn.Adam(g.trainable_params(), 0.005, beta1=0.5))
    noise = random.normal(0, 1, (256, 4)).astype(np.float32)
    return Run(net, None, optimizers, data.batches(points, noise, size=64, steps=24), way)


@healthy("Twenty-four residual blocks with LayerNorm before each branch.")
def deep_residual() -> Run:
    class Pre(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.dense = nn.LayerNorm((24,)), nn.Dense(24, 24)

        def construct(self, x: Tensor) -> Any:
            return x + ops.relu(self.dense(self.norm(x)))

    net = nn.SequentialCell(nn.Dense(6, 24), *[Pre() for _ in range(24)], nn.LayerNorm((24,)), nn.Dense(24, 3))
    return ce(net, data.flowers(), 0.003, one_step)


@healthy("Self-normalizing: SELU with LeCun's initialization, eight layers without norms.")
def self_normalizing() -> Run:
    layers: list[nn.Cell] = []
    for a, b in zip((6, *[32] * 7), [32] * 8, strict=True):
        layers += [nn.Dense(a, b, weight_init=Normal(1 / math.sqrt(a)), bias_init="zeros"), nn.SeLU()]
    return ce(nn.SequentialCell(*layers, nn.Dense(32, 3)), data.flowers(), 0.002, with_model)


@healthy("An LSTM over 60 steps whose class shows all along.")
def long_lstm() -> Run:
    x, y = data.waves(length=60)
    return ce(blocks.LSTMClassifier(), (x, y), 0.02, one_step, 30)


@healthy("A GRU over 40 steps, the mean of its outputs, clipped at 1.")
def long_gru() -> Run:
    class Mean(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.gru, self.head = nn.GRU(2, 16, batch_first=True, bidirectional=True), nn.Dense(32, 3)

        def construct(self, x: Tensor) -> Any:
            return self.head(self.gru(x)[0].mean(1))

    return ce(Mean(), data.waves(length=40), 0.02, ways.clipped(1.0), 28)


@healthy("An encoder and a decoder of LSTM cells; the decoder is given the right words.")
def sequence_to_sequence() -> Run:
    class Translate(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.source, self.target = (
                nn.Embedding(12, 16, embedding_table=Normal(1.0)),
                nn.Embedding(13, 16, embedding_table=Normal(1.0)),
            )
            self.encoder, self.decoder = nn.LSTM(16, 32, batch_first=True), nn.LSTM(16, 32, batch_first=True)
            self.out = nn.Dense(32, 12)

        def construct(self, x: Tensor, inputs: Tensor) -> Any:
            _, state = self.encoder(self.source(x))
            return self.out(self.decoder(self.target(inputs), state)[0]).swapaxes(1, 2)

    random = np.random.default_rng(0)
    x = random.integers(0, 12, (64, 5)).astype(np.int32)
    y = ((x + 3) % 12).astype(np.int32)
    y[:, 1:] = np.where(random.random((64, 4)) < 0.9, (y[:, :1] + np.arange(1, 5)) % 12, y[:, 1:])
    arrays = np.concatenate([np.full((64, 1), 12), y[:, :-1]], 1).astype(np.int32)
    net = Translate()
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, arrays, y, size=32, steps=40)
    )


@healthy("Attention over variable lengths by a -inf mask from the lengths.")
def lengths_as_mask() -> Run:
    class Read(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.score, self.head = nn.Dense(2, 16), nn.Dense(16, 1), nn.Dense(16, 3)

        def construct(self, x: Tensor, length: Tensor) -> Any:
            h = ops.tanh(self.embed(x))
            outside = ops.arange(x.shape[1]).expand_dims(0) >= length.expand_dims(1)
            scores = ops.masked_fill(self.score(h).squeeze(-1), outside, -np.inf)
            return self.head((ops.softmax(scores, 1).expand_dims(-1) * h).sum(1))

    x, y = data.waves()
    length = np.random.default_rng(0).integers(8, 17, 64).astype(np.int32)
    net = Read()
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.03), data.batches(x, length, y, steps=48))


@healthy("nn.TransformerEncoder with src_key_padding_mask, and a class token.")
def class_token() -> Run:
    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(40, 16, embedding_table=Normal(1.0), padding_idx=0)
            self.token = Parameter(initializer(Normal(0.02), (1, 1, 16)), "token")
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True), 2)
            self.head = nn.Dense(16, 3)

        def construct(self, words: Tensor) -> Any:
            x = ops.concat([ops.broadcast_to(self.token, (words.shape[0], 1, 16)), self.embedding(words)], 1)
            pad = ops.concat([ops.zeros((words.shape[0], 1), ms.bool_), ops.equal(words, 0)], 1)
            return self.head(self.encoder(x, src_key_padding_mask=pad)[:, 0])

    return ce(Encoder(), data.reviews(), 0.005, with_model, 32)


@healthy("Graph attention: scores of edges, -inf where there is none.")
def graph_attention() -> Run:
    adjacency, x, y = neighbours()
    mask = Tensor(np.where(adjacency > 0, 0, -np.inf).astype(np.float32))

    class Attend(nn.Cell):
        def __init__(self, a: int, b: int) -> None:
            super().__init__()
            self.dense, self.left, self.right = (
                nn.Dense(a, b),
                nn.Dense(b, 1, has_bias=False),
                nn.Dense(b, 1, has_bias=False),
            )

        def construct(self, x: Tensor) -> Any:
            x = self.dense(x)
            return ops.matmul(ops.softmax(ops.leaky_relu(self.left(x) + self.right(x).T, 0.2) + mask, -1), x)

    net = nn.SequentialCell(Attend(3, 16), nn.ELU(), Attend(16, 3))
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, size=48, steps=30))


@healthy("A set network (Deep Sets): sum over elements, then an MLP.")
def deep_sets() -> Run:
    class Sets(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.phi, self.rho = blocks.mlp(2, 24, 16), blocks.mlp(16, 24, 1)

        def construct(self, x: Tensor) -> Any:
            return self.rho(ops.relu(self.phi(x)).mean(1))

    x = np.random.default_rng(0).normal(0, 1, (64, 9, 2)).astype(np.float32)
    y = data.normalized(np.abs(x[:, :, 0]).mean(1))[:, None]
    return Run(
        net := Sets(), nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=36), one_step
    )


@healthy("A factorization machine with wide and deep parts for clicks.", known="DeepFM")
def wide_and_deep() -> Run:
    class DeepFM(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.wide = nn.Embedding(30, 1, embedding_table="zeros")
            self.table = nn.Embedding(30, 6, embedding_table=Normal(0.2))
            self.deep = blocks.mlp(18, 24, 1)

        def construct(self, fields: Tensor) -> Any:
            v = self.table(fields)
            pairs = 0.5 * (ops.square(v.sum(1)) - ops.square(v).sum(1)).sum(1, keepdims=True)
            return self.wide(fields).sum(1) + pairs + self.deep(v.reshape((v.shape[0], -1)))

    random = np.random.default_rng(0)
    fields = random.integers(0, 10, (96, 3)) + np.array([0, 10, 20])
    taste = random.normal(0, 1.5, 30)
    y = (taste[fields].sum(1) > 0).astype(np.float32)[:, None]
    net = DeepFM()
    return Run(
        net,
        nn.BCEWithLogitsLoss(),
        nn.Adam(net.trainable_params(), 0.02),
        data.batches(fields.astype(np.int32), y, size=32, steps=36),
        with_model,
    )


@healthy("Tied autoencoder: the decoder's weight is the encoder's, transposed.")
def tied_autoencoder() -> Run:
    class Tied(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(initializer(XavierUniform(), (64, 20)), "w")
            self.b, self.c = Parameter(initializer("zeros", (20,)), "b"), Parameter(initializer("zeros", (64,)), "c")

        def construct(self, x: Tensor) -> Any:
            return ops.matmul(ops.tanh(ops.matmul(x, self.w) + self.b), self.w.T) + self.c

    x, _ = flat()
    return Run(
        net := Tied(), nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, x, steps=28), one_step
    )


@healthy("A sparse autoencoder: ReLU code, of which most is 0 in a sample, with an L1 penalty.")
def sparse_code() -> Run:
    def loss(net: Any, x: Tensor) -> Any:
        code = ops.relu(net.encoder(x))
        return ops.square(net.decoder(code) - x).mean() + 0.01 * ops.abs(code).mean()

    class Coder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.decoder = nn.Dense(64, 96), nn.Dense(96, 64)

    x, _ = flat()
    return Run(
        net := Coder(), None, nn.Adam(net.trainable_params(), 0.005), data.batches(x, steps=28), ways.of_function(loss)
    )


@healthy("VQ-VAE: the nearest code by argmin, straight through, with both extra losses.", known="VQ-VAE")
def vector_quantized() -> Run:
    class VQ(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.decoder = blocks.mlp(64, 32, 8), blocks.mlp(8, 32, 64)
            self.codes = Parameter(initializer(Normal(0.4), (16, 8)), "codes")

        def construct(self, x: Tensor) -> Any:
            z = self.encoder(x)
            nearest = ops.square(z.expand_dims(1) - self.codes).sum(2).argmin(1)
            q = self.codes[nearest]
            extra = (
                ops.square(q - ops.stop_gradient(z)).sum(1).mean()
                + 0.25 * ops.square(z - ops.stop_gradient(q)).sum(1).mean()
            )
            return ops.square(self.decoder(z + ops.stop_gradient(q - z)) - x).mean() + extra

    x, _ = flat()
    return Run(net := VQ(), None, nn.Adam(net.trainable_params(), 0.01), data.batches(x, size=64, steps=60))


@healthy("Denoising diffusion of points: the noise is guessed from the step's embedding.")
def little_diffusion() -> Run:
    class Denoise(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.time, self.body = (
                nn.Embedding(10, 8, embedding_table=Normal(1.0)),
                blocks.mlp(10, 48, 48, 2, activation=nn.SiLU),
            )

        def construct(self, x: Tensor, t: Tensor) -> Any:
            return self.body(ops.concat([x, self.time(t)], 1))

    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 256)
    clean, t = np.stack([np.cos(angle), np.sin(angle)], 1), random.integers(0, 10, 256)
    noise = random.normal(0, 1, (256, 2))
    keep = np.cos((t + 1) / 11 * np.pi / 2)[:, None]
    x = keep * clean + np.sqrt(1 - keep**2) * noise
    net = Denoise()
    return Run(
        net,
        nn.MSELoss(),
        nn.Adam(net.trainable_params(), 0.01),
        data.batches(x.astype(np.float32), t.astype(np.int32), noise.astype(np.float32), size=64, steps=40),
    )


@healthy("ArcFace-like: cosines times a scale of 10 with a margin for the right class.")
def angular_margin() -> Run:
    class Cosines(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = blocks.mlp(64, 48, 16)
            self.points = Parameter(initializer(Normal(1.0), (10, 16)), "points")

        def construct(self, x: Tensor) -> Any:
            a, b = (v / ops.sqrt(ops.square(v).sum(1, keepdims=True) + 1e-6) for v in (self.body(x), self.points))
            return ops.matmul(a, b.T)

    def loss(cosines: Tensor, y: Tensor) -> Any:
        margin = 0.2 * ops.one_hot(y, 10, Tensor(1.0), Tensor(0.0))
        return ops.cross_entropy(10 * (cosines - margin), y)

    return ce(Cosines(), flat(), 0.01, by_hand, 28, loss)


@healthy("A survival model by Cox's partial likelihood over the batch.")
def partial_likelihood() -> Run:
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (128, 5)).astype(np.float32)
    time = random.exponential(np.exp(-(1.5 * x[:, 0] - x[:, 1])))
    order = np.concatenate([i * 32 + np.argsort(-time[i * 32 : i * 32 + 32]) for i in range(4)])
    event = (random.random(128) < 0.8).astype(np.float32)

    def loss(risk: Tensor, event: Tensor) -> Any:
        risk = risk.squeeze(1)
        return -((risk - ops.log(ops.cumsum(ops.exp(risk), 0))) * event).sum() / event.sum()

    net = blocks.mlp(5, 16, 1, activation=nn.Tanh)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.02), data.batches(x[order], event, size=32, steps=40))


@healthy("Ordinal regression: cumulated logits with thresholds that are a Parameter.")
def ordinal_thresholds() -> Run:
    class Ordinal(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(5, 1, has_bias=False)
            self.cuts = Parameter(Tensor([-1.0, 0.0, 1.0], ms.float32), "cuts")

        def construct(self, x: Tensor) -> Any:
            return self.body(x) - self.cuts

    x, price = data.houses()
    levels = (price[:, None] > np.array([-0.8, 0.0, 0.8])).astype(np.float32)
    return Run(
        net := Ordinal(),
        nn.BCEWithLogitsLoss(),
        nn.Adam(net.trainable_params(), 0.05),
        data.batches(data.normalized(x, 0), levels, steps=28),
        with_model,
    )


@healthy("A hypernetwork makes the weights of a small regression from the task's code.")
def hypernetwork() -> Run:
    class Hyper(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.maker = blocks.mlp(3, 32, 9)

        def construct(self, x: Tensor, task: Tensor) -> Any:
            w = self.maker(task).reshape((-1, 3, 3))
            return (ops.bmm(x.expand_dims(1), w).squeeze(1)).sum(1, keepdims=True)

    random = np.random.default_rng(0)
    x, task = random.normal(0, 1, (128, 3)).astype(np.float32), np.eye(3, dtype=np.float32)[np.arange(128) % 3]
    y = (x * task[:, [1, 2, 0]]).sum(1, keepdims=True).astype(np.float32)
    return Run(
        net := Hyper(), nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, task, y, size=32, steps=36)
    )
