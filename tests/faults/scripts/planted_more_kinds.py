"""Planted faults in programs of further kinds: alignment, memory, graphs, language, signals, simulators, schedules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

from .script import planted


def _float(array: Any) -> Tensor:
    return Tensor(np.asarray(array, np.float32))


def _int(array: Any) -> Tensor:
    return Tensor(np.asarray(array, np.int32))


@planted(
    "CTC alignment",
    "The network returns probabilities, but the CTC loss takes their logarithms.",
    "construct",
    "Recognizer",
    "softmax",
    "loss",
    steps=120,
)
def ctc_recognizer(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(1)
    symbols, frames, length = 6, 16, 4  # symbol 0 is the blank
    spectra = rng.normal(size=(symbols, 10))

    def utterances(count: int) -> Any:
        labels = np.stack([rng.permutation(symbols - 1)[:length] + 1 for _ in range(count)])
        x = np.zeros((count, 10, frames))
        for n in range(count):
            ends = np.cumsum(rng.integers(2, 5, size=length))
            for k, end in enumerate(ends):
                begin = ends[k - 1] if k else 0
                x[n, :, begin:end] = spectra[labels[n, k]][:, None]
        return _float(x + 0.3 * rng.normal(size=x.shape)), labels.astype(np.int32)

    class Recognizer(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv1d(10, width, 3, pad_mode="same")
            self.conv2 = nn.Conv1d(width, width, 3, pad_mode="same")
            self.head = nn.Conv1d(width, symbols, 1)

        def construct(self, x: Tensor) -> Any:
            h = ops.relu(self.conv2(ops.relu(self.conv1(x))))
            logits = self.head(h).permute(2, 0, 1)
            if fault:
                return ops.softmax(logits, axis=2)
            return ops.log_softmax(logits, axis=2)

    net = Recognizer(32)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)

    def loss_fn(x: Tensor, labels: Tensor) -> Any:
        log_probs = net(x)
        count = x.shape[0]
        loss, _ = ops.ctc_loss(log_probs, labels, _int([frames] * count), _int([length] * count), 0, "mean", True)
        return loss

    def errors(x: Tensor, labels: Any) -> float:
        best = net(x).asnumpy().argmax(axis=2).T
        total = 0.0
        for row, label in zip(best, labels, strict=True):
            decoded = [s for i, s in enumerate(row) if s and (i == 0 or s != row[i - 1])]
            table = np.arange(len(label) + 1)
            for i, s in enumerate(decoded, 1):
                previous, table = table, np.full(len(label) + 1, i)
                for j, wanted in enumerate(label, 1):
                    table[j] = min(previous[j] + 1, table[j - 1] + 1, previous[j - 1] + (s != wanted))
            total += table[-1] / len(label)
        return float(total / len(labels))

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    held_out = utterances(32)
    rates = []
    for _ in range(steps):
        x, labels = utterances(16)
        _, grads = grad_fn(x, _int(labels))
        optimizer(grads)
        rates.append(errors(*held_out))
    return rates


@planted(
    "pointer network",
    "The decoder's state is added to the encodings without a new axis; batch and length are equal, so it is broadcast "
    "along the positions of every sample.",
    "scores",
    "PointerNetwork",
    "construct",
    steps=120,
)
def pointer_network_goals(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(2)
    length, goals = 16, 3

    def batch(count: int = 16) -> Any:
        values = rng.uniform(-1, 1, size=(count, length))
        goal = rng.integers(0, goals, size=count)
        key = np.where(goal[:, None] == 0, values, np.where(goal[:, None] == 1, -values, -np.abs(values)))
        order = np.argsort(-key, axis=1)[:, :2]  # the two largest, smallest or nearest to zero
        return _float(values), _int(goal), _int(order)

    class PointerNetwork(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Dense(1, width), nn.ReLU(), nn.Dense(width, width))
            self.goal = nn.Embedding(goals, width)
            self.decoder = nn.GRUCell(width, width)
            self.key = nn.Dense(width, width, has_bias=False)
            self.query = nn.Dense(width, width)
            self.v = nn.Dense(width, 1)

        def scores(self, memory: Tensor, state: Tensor) -> Any:
            query = self.query(state)
            if not fault:
                query = query.expand_dims(1)
            return self.v(ops.tanh(self.key(memory) + query)).squeeze(-1)

        def construct(self, values: Tensor, goal: Tensor, picks: Tensor) -> Any:
            memory = self.encoder(values.expand_dims(-1))
            state = self.decoder(self.goal(goal), memory.mean(axis=1))
            first = self.scores(memory, state)
            chosen = ops.one_hot(picks[:, 0], length)
            state = self.decoder((memory * chosen.expand_dims(-1)).sum(axis=1), state)
            second = self.scores(memory, state) - 1e4 * chosen
            return first, second

    net = PointerNetwork(32)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=5e-3)

    def loss_fn(values: Tensor, goal: Tensor, picks: Tensor) -> Any:
        first, second = net(values, goal, picks)
        return ops.cross_entropy(first, picks[:, 0]) + ops.cross_entropy(second, picks[:, 1])

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*batch())
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "neural ODE",
    "The Euler step is horizon // count in integers, which is 0: the flow is the identity.",
    "dt",
    "Flow",
    "field",
    steps=80,
)
def neural_ode_circles(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(3)

    class Field(nn.Cell):
        def __init__(self, dim: int, width: int) -> None:
            super().__init__()
            self.fc1 = nn.Dense(dim + 1, width)
            self.fc2 = nn.Dense(width, dim)

        def construct(self, t: float, h: Tensor) -> Any:
            time = ops.full((h.shape[0], 1), t, dtype=ms.float32)
            return self.fc2(ops.tanh(self.fc1(ops.cat([h, time], axis=1))))

    class Flow(nn.Cell):
        def __init__(self, dim: int, horizon: int = 2, count: int = 8) -> None:
            super().__init__()
            self.field = Field(dim, 32)
            self.count = count
            self.dt = horizon // count if fault else horizon / count

        def construct(self, h: Tensor) -> Any:
            for i in range(self.count):
                h = h + self.dt * self.field(i * self.dt, h)
            return h

    class Classifier(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.flow = Flow(4)
            self.head = nn.Dense(4, 2)

        def construct(self, x: Tensor) -> Any:
            augmented = ops.cat([x, ops.zeros_like(x)], axis=1)
            return self.head(self.flow(augmented))

    def circles(count: int) -> Any:
        y = rng.integers(0, 2, size=count)
        angle, radius = rng.uniform(0, 2 * math.pi, size=count), np.where(y, 1.6, 0.7) + 0.1 * rng.normal(size=count)
        return _float(np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)), _int(y)

    net = Classifier()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*circles(64))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "mixture density network",
    "The Gaussian's log-density lacks its -log sigma, so widening every component lowers the loss.",
    "loss",
    "log_density",
    "log_sigma",
    steps=120,
)
def mixture_density_inverse(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(4)

    def batch(count: int) -> Any:
        y = rng.uniform(0, 1, size=(count, 1))
        x = y + 0.3 * np.sin(2 * math.pi * y) + 0.05 * rng.normal(size=y.shape)
        return _float(x), _float(y)

    class MixtureDensity(nn.Cell):
        def __init__(self, components: int, width: int) -> None:
            super().__init__()
            self.body = nn.SequentialCell(nn.Dense(1, width), nn.Tanh(), nn.Dense(width, width), nn.Tanh())
            self.weights = nn.Dense(width, components)
            self.mean = nn.Dense(width, components)
            self.log_sigma = nn.Dense(width, components)

        def construct(self, x: Tensor) -> Any:
            h = self.body(2 * x - 1)
            return ops.log_softmax(self.weights(h), axis=1), self.mean(h), self.log_sigma(h)

    net = MixtureDensity(5, 32)

    def log_density(y: Tensor, mean: Tensor, log_sigma: Tensor) -> Any:
        quadratic = -0.5 * ops.square((y - mean) * ops.exp(-log_sigma))
        if fault:
            return quadratic - 0.5 * math.log(2 * math.pi)
        return quadratic - log_sigma - 0.5 * math.log(2 * math.pi)

    def loss_fn(x: Tensor, y: Tensor) -> Any:
        log_weights, mean, log_sigma = net(x)
        return -ops.logsumexp(log_weights + log_density(y, mean, log_sigma), 1).mean()

    def held_out_nll(x: Any, y: Any) -> float:
        log_weights, mean, log_sigma = (v.asnumpy().astype(np.float64) for v in net(x))
        terms = log_weights - 0.5 * ((y.asnumpy() - mean) / np.exp(log_sigma)) ** 2 - log_sigma - 0.919
        return float(-np.log(np.exp(terms).sum(axis=1) + 1e-30).mean())

    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    test = batch(128)
    measures = []
    for _ in range(steps):
        _, grads = grad_fn(*batch(96))
        optimizer(grads)
        measures.append(held_out_nll(*test))
    return measures


@planted(
    "U-Net segmentation",
    "The dice coefficient itself is returned as the loss instead of one minus it, so overlap is minimized.",
    "dice_loss",
    "loss",
    steps=60,
)
def unet_dice(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(5)
    size = 16
    rows, columns = np.mgrid[:size, :size]

    def batch(count: int) -> Any:
        cy, cx = rng.uniform(4, 12, size=(2, count, 1, 1))
        ry, rx = rng.uniform(2, 5, size=(2, count, 1, 1))
        mask = ((rows - cy) / ry) ** 2 + ((columns - cx) / rx) ** 2 < 1
        image = mask * rng.uniform(0.7, 1.3, size=(count, 1, 1)) + 0.4 * rng.normal(size=mask.shape)
        return _float(image[:, None]), _float(mask[:, None])

    class Block(nn.Cell):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.conv = nn.Conv2d(inputs, outputs, 3, pad_mode="same", has_bias=True)
            self.norm = nn.GroupNorm(4, outputs)

        def construct(self, x: Tensor) -> Any:
            return ops.relu(self.norm(self.conv(x)))

    class UNet(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.down1 = Block(1, width)
            self.down2 = Block(width, 2 * width)
            self.pool = nn.MaxPool2d(2, 2)
            self.up = nn.Conv2dTranspose(2 * width, width, 2, stride=2)
            self.merge = Block(2 * width, width)
            self.out = nn.Conv2d(width, 1, 1, has_bias=True)

        def construct(self, x: Tensor) -> Any:
            skip = self.down1(x)
            h = self.up(self.down2(self.pool(skip)))
            return self.out(self.merge(ops.cat([h, skip], axis=1)))

    net = UNet(8)

    def dice_loss(logits: Tensor, mask: Tensor) -> Any:
        p = ops.sigmoid(logits)
        overlap = (p * mask).sum(axis=(1, 2, 3))
        total = p.sum(axis=(1, 2, 3)) + mask.sum(axis=(1, 2, 3))
        dice = ((2 * overlap + 1) / (total + 1)).mean()
        return dice if fault else 1 - dice

    optimizer = nn.Adam(net.trainable_params(), learning_rate=5e-3)
    grad_fn = ms.value_and_grad(lambda x, m: dice_loss(net(x), m), None, optimizer.parameters)
    image, truth = batch(16)
    measures = []  # one minus the intersection over union on held-out images
    for _ in range(steps):
        _, grads = grad_fn(*batch(8))
        optimizer(grads)
        found, wanted = net(image).asnumpy() > 0, truth.asnumpy() > 0
        measures.append(1 - float((found & wanted).sum() / max((found | wanted).sum(), 1)))
    return measures


@planted(
    "keypoint heat maps",
    "The soft-argmax normalizes each row of the heat map (last axis) instead of the whole map.",
    "SoftArgmax",
    "soft_argmax",
    "construct",
    steps=80,
)
def keypoint_heat_maps(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(6)
    size = 12
    grid = np.linspace(-1, 1, size)

    def batch(count: int) -> Any:
        points = rng.uniform(-0.8, 0.8, size=(count, 2, 2))  # two points, as (x, y)
        image = np.zeros((count, 2, size, size))
        for k, spread in enumerate((0.15, 0.35)):
            dx = grid[None, None, :] - points[:, k, 0, None, None]
            dy = grid[None, :, None] - points[:, k, 1, None, None]
            image[:, 0] += (-1) ** k * np.exp(-(dx**2 + dy**2) / (2 * spread**2))
        image[:, 1] = 0.3 * rng.normal(size=image[:, 1].shape)
        return _float(image + 0.05 * rng.normal(size=image.shape)), _float(points)

    class SoftArgmax(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.axis_x = _float(grid).reshape(1, 1, 1, size)
            self.axis_y = _float(grid).reshape(1, 1, size, 1)

        def construct(self, maps: Tensor) -> Any:
            if fault:
                p = ops.softmax(maps, axis=-1)
            else:
                p = ops.softmax(maps.reshape(maps.shape[0], maps.shape[1], -1), axis=-1).reshape(maps.shape)
            x = (p * self.axis_x).sum(axis=(2, 3))
            y = (p * self.axis_y).sum(axis=(2, 3))
            return ops.stack([x, y], axis=-1)

    class Keypoints(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(2, width, 3, has_bias=True)
            self.conv2 = nn.Conv2d(width, width, 3, has_bias=True)
            self.maps = nn.Conv2d(width, 2, 1, has_bias=True)
            self.soft_argmax = SoftArgmax()

        def construct(self, image: Tensor) -> Any:
            h = ops.relu(self.conv2(ops.relu(self.conv1(image))))
            return self.soft_argmax(5.0 * self.maps(h))

    net = Keypoints(12)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(lambda x, p: ops.mse_loss(net(x), p), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*batch(16))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "Gumbel-softmax codes",
    "The hard sample is the one-hot of an argmax without the straight-through term: no gradient reaches the encoder.",
    "sample",
    "encoder",
    "one_hot",
    steps=100,
)
def gumbel_codes(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(7)
    variables, categories, dim = 2, 5, 20
    atoms = rng.normal(size=(variables, categories, dim))

    def batch(count: int) -> Any:
        code = rng.integers(0, categories, size=(count, variables))
        return _float(sum(atoms[v, code[:, v]] for v in range(variables)) + 0.05 * rng.normal(size=(count, dim)))

    class CategoricalCoder(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(
                nn.Dense(dim, width), nn.ReLU(), nn.Dense(width, variables * categories, weight_init="xavier_uniform")
            )
            self.decoder = nn.SequentialCell(nn.Dense(variables * categories, width), nn.ReLU(), nn.Dense(width, dim))

        def sample(self, logits: Tensor, temperature: float) -> Any:
            uniform = ops.rand(*logits.shape) * 0.9998 + 1e-4
            soft = ops.softmax((logits - ops.log(-ops.log(uniform))) / temperature, axis=-1)
            hard = ops.one_hot(soft.argmax(axis=-1), categories)
            if fault:
                return hard
            return ops.stop_gradient(hard - soft) + soft

        def construct(self, x: Tensor, temperature: float) -> Any:
            logits = self.encoder(x).reshape(-1, variables, categories)
            code = self.sample(logits, temperature)
            return self.decoder(code.reshape(-1, variables * categories)), logits

    net = CategoricalCoder(64)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-2)

    def loss_fn(x: Tensor, temperature: float) -> Any:
        reconstructed, _ = net(x, temperature)
        return ops.mse_loss(reconstructed, x)

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    losses = []
    for step in range(steps):
        loss, grads = grad_fn(batch(64), max(0.4, 1.0 * 0.98**step))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "external memory",
    "The memory is not cleared at the start of a batch, so it holds the writes of all earlier batches.",
    "memory",
    "reset",
    "loop",
    steps=120,
)
def memory_recall(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(8)
    keys, values, pairs, batch_size = 8, 6, 3, 32

    def episodes() -> Any:
        key = np.stack([rng.permutation(keys)[:pairs] for _ in range(batch_size)])
        value = rng.integers(0, values, size=(batch_size, pairs))
        asked = rng.integers(0, pairs, size=batch_size)
        row = np.arange(batch_size)
        return _int(key), _int(value), _int(key[row, asked]), _int(value[row, asked])

    class MemoryNetwork(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.key = nn.Embedding(keys, width, embedding_table="xavier_uniform")
            self.value = nn.Embedding(values, width, embedding_table="xavier_uniform")
            self.write_gate = nn.Dense(2 * width, 1)
            self.read = nn.Dense(width, values)
            self.width = width
            self.reset()

        def reset(self) -> None:
            self.memory = ops.zeros((batch_size, self.width, self.width), ms.float32)

        def write(self, key: Tensor, value: Tensor) -> None:
            k, v = self.key(key), self.value(value)
            gate = ops.sigmoid(self.write_gate(ops.cat([k, v], axis=1)))
            self.memory = self.memory + ops.bmm(k.expand_dims(2), (gate * v).expand_dims(1))

        def construct(self, key: Tensor, value: Tensor, query: Tensor) -> Any:
            for t in range(pairs):
                self.write(key[:, t], value[:, t])
            recalled = ops.bmm(self.key(query).expand_dims(1), self.memory).squeeze(1)
            return self.read(recalled)

    net = MemoryNetwork(24)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-2)
    grad_fn = ms.value_and_grad(
        lambda k, v, q, wanted: ops.cross_entropy(net(k, v, q), wanted), None, optimizer.parameters
    )
    losses = []
    for _ in range(steps):
        if not fault:
            net.reset()
        loss, grads = grad_fn(*episodes())
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "state-space sequence model",
    "The minus of the decay was lost: the states grow as exp(+rate t) along the sequence.",
    "kernel",
    "log_rate",
    "StateSpace",
    steps=80,
)
def state_space_kernel(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(9)
    length = 48

    class StateSpace(nn.Cell):
        def __init__(self, width: int, states: int) -> None:
            super().__init__()
            self.log_rate = Parameter(_float(rng.uniform(-2.5, -0.5, size=(width, states))), name="log_rate")
            self.c = Parameter(_float(rng.normal(size=(width, states)) / states), name="c")
            self.skip = Parameter(ops.ones((width,), ms.float32), name="skip")
            self.time = _float(np.arange(length))
            lag = np.arange(length)[:, None] - np.arange(length)[None, :]
            self.lag, self.causal = _int(np.maximum(lag, 0)), _float(lag >= 0)

        def kernel(self) -> Any:
            exponent = ops.exp(self.log_rate).expand_dims(-1) * self.time
            if not fault:
                exponent = -exponent
            return (self.c.expand_dims(-1) * ops.exp(exponent)).sum(axis=1)

        def construct(self, x: Tensor) -> Any:
            toeplitz = self.kernel()[:, self.lag] * self.causal  # (width, length, length)
            return ops.matmul(toeplitz, x.expand_dims(-1)).squeeze(-1) + self.skip.expand_dims(-1) * x

    class Model(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.embed = nn.Dense(1, width)
            self.mix = StateSpace(width, 4)
            self.out = nn.SequentialCell(nn.Dense(width, width), nn.GELU(), nn.Dense(width, 1))

        def construct(self, x: Tensor) -> Any:
            h = self.mix(self.embed(x.expand_dims(-1)).swapaxes(1, 2))
            return self.out(h.swapaxes(1, 2)).squeeze(-1)

    def batch(count: int) -> Any:
        x = rng.normal(size=(count, length)) * (rng.random((count, length)) < 0.3)
        y = np.zeros_like(x)
        slow = np.zeros(count)
        for t in range(length):
            slow = 0.9 * slow + x[:, t]
            y[:, t] = np.tanh(slow)
        return _float(x), _float(y)

    net = Model(8)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(lambda x, y: ops.mse_loss(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*batch(16))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "graph attention",
    "The adjacency mask multiplies the attention after the softmax over all nodes, so most of the weight is lost.",
    "attention",
    "GraphAttention",
    "construct",
    steps=80,
)
def graph_attention_neighbours(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(10)
    nodes, features, classes = 150, 6, 3
    neighbours = np.stack([rng.permutation(nodes)[:3] for _ in range(nodes)])
    adjacency = np.zeros((nodes, nodes), np.float32)
    np.put_along_axis(adjacency, neighbours, 1.0, axis=1)
    x = rng.normal(size=(nodes, features))
    label = x[neighbours].mean(axis=1)[:, :classes].argmax(axis=1)

    class GraphAttention(nn.Cell):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.project = nn.Dense(inputs, outputs, has_bias=False)
            self.source = nn.Dense(outputs, 1, has_bias=False)
            self.target = nn.Dense(outputs, 1, has_bias=False)

        def attention(self, h: Tensor, mask: Tensor) -> Any:
            scores = ops.leaky_relu(self.source(h) + self.target(h).T, 0.2)
            if fault:
                return ops.softmax(scores, axis=-1) * mask
            return ops.softmax(ops.where(mask > 0, scores, ops.full_like(scores, -1e9)), axis=-1)

        def construct(self, x: Tensor, mask: Tensor) -> Any:
            h = self.project(x)
            return ops.matmul(self.attention(h, mask), h)

    class Net(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.gat = GraphAttention(features, width)
            self.head = nn.Dense(width, classes)

        def construct(self, x: Tensor, mask: Tensor) -> Any:
            return self.head(ops.elu(self.gat(x, mask)))

    net = Net(24)
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.5, momentum=0.9)
    grad_fn = ms.value_and_grad(lambda x, m, y: ops.cross_entropy(net(x, m), y), None, optimizer.parameters)
    data = _float(x), _float(adjacency), _int(label)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*data)
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "knowledge-graph embeddings",
    "Normalizing the entities puts a new Parameter into the cell each step; the optimizer keeps training the first.",
    "normalize",
    "entities",
    "optimizer",
    steps=120,
)
def translating_embeddings(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(11)
    side = 6  # entities on a grid; relations move by a cell
    moves = [(0, 1), (1, 0), (0, -1), (1, 1)]
    triples = np.array(
        [
            (r * side + c, k, (r + dr) * side + c + dc)
            for r in range(side)
            for c in range(side)
            for k, (dr, dc) in enumerate(moves)
            if 0 <= r + dr < side and 0 <= c + dc < side
        ]
    )

    class TransE(nn.Cell):
        def __init__(self, count: int, relations: int, dim: int) -> None:
            super().__init__()
            self.entities = Parameter(_float(rng.normal(size=(count, dim)) * 0.3), name="entities")
            self.relations = Parameter(_float(rng.normal(size=(relations, dim)) * 0.1), name="relations")

        def normalize(self) -> None:
            table = self.entities / ops.maximum(ops.norm(self.entities, dim=1, keepdim=True), _float(1.0))
            if fault:
                self.entities = Parameter(table, name="entities")
            else:
                ops.assign(self.entities, table)

        def distance(self, head: Tensor, relation: Tensor, tail: Tensor) -> Any:
            moved = self.entities[head] + self.relations[relation] - self.entities[tail]
            return ops.sqrt(ops.square(moved).sum(axis=-1) + 1e-8)

        def construct(self, head: Tensor, relation: Tensor, tail: Tensor, wrong: Tensor) -> Any:
            good, bad = self.distance(head, relation, tail), self.distance(head, relation, wrong)
            return ops.relu(0.3 + good - bad).mean()

    net = TransE(side * side, len(moves), 8)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-2)
    grad_fn = ms.value_and_grad(net, None, optimizer.parameters)

    def mean_rank() -> float:
        entity, relation = net.entities.asnumpy(), net.relations.asnumpy()
        moved = entity[triples[:, 0]] + relation[triples[:, 1]]
        distance = ((moved[:, None] - entity[None]) ** 2).sum(axis=2)
        own = distance[np.arange(len(triples)), triples[:, 2]]
        return float((distance < own[:, None]).sum(axis=1).mean())

    ranks = []
    for _ in range(steps):
        rows = triples[rng.integers(0, len(triples), size=64)]
        wrong = rng.integers(0, side * side, size=64)
        _, grads = grad_fn(_int(rows[:, 0]), _int(rows[:, 1]), _int(rows[:, 2]), _int(wrong))
        optimizer(grads)
        net.normalize()
        ranks.append(mean_rank())
    return ranks


@planted(
    "simulator through time",
    "The reference simulation appends one array that it changes in place, so every target frame is the last one.",
    "data",
    "trajectories",
    steps=80,
)
def pendulum_simulator(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(12)
    frames, dt = 10, 0.15

    def trajectories(count: int, *, copy: bool) -> Any:
        state = np.stack([rng.uniform(-1.5, 1.5, size=count), rng.uniform(-1, 1, size=count)], axis=1)
        start, path = state.copy(), []
        for _ in range(frames):
            state[:, 1] += dt * (-2.0 * np.sin(state[:, 0]) - 0.1 * state[:, 1])
            state[:, 0] += dt * state[:, 1]
            path.append(state.copy() if copy else state)
        return _float(start), _float(np.stack(path, axis=1))

    class Simulator(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.force = nn.SequentialCell(nn.Dense(2, width), nn.Tanh(), nn.Dense(width, 1))

        def construct(self, state: Tensor) -> Any:
            angle, velocity = state[:, :1], state[:, 1:]
            path = []
            for _ in range(frames):
                velocity = velocity + dt * self.force(ops.cat([angle, velocity], axis=1))
                angle = angle + dt * velocity
                path.append(ops.cat([angle, velocity], axis=1))
            return ops.stack(path, axis=1)

    net = Simulator(24)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-2)
    grad_fn = ms.value_and_grad(lambda s, p: ops.mse_loss(net(s), p), None, optimizer.parameters)
    start, path = trajectories(64, copy=True)
    errors = []
    for _ in range(steps):
        _, grads = grad_fn(*trajectories(32, copy=not fault))
        optimizer(grads)
        errors.append(float(ops.mse_loss(net(start), path)))
    return errors


@planted(
    "LSTM language model",
    "The cosine schedule is made with one step an epoch, so the learning rate is zero after ten steps.",
    "optimizer",
    "learning_rate",
    "schedule",
    steps=100,
)
def tied_language_model(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(13)
    vocabulary, length = 24, 12
    successor = np.stack([rng.permutation(vocabulary)[:3] for _ in range(vocabulary)])

    def text(count: int) -> Any:
        tokens = np.zeros((count, length + 1), np.int32)
        tokens[:, 0] = rng.integers(0, vocabulary, size=count)
        for t in range(length):
            choice = rng.choice(3, p=[0.8, 0.1, 0.1], size=count)
            tokens[:, t + 1] = successor[tokens[:, t], choice]
        return _int(tokens[:, :-1]), _int(tokens[:, 1:])

    class LanguageModel(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width, embedding_table="xavier_uniform")
            self.lstm = nn.LSTM(width, width, batch_first=True)
            self.bias = Parameter(ops.zeros((vocabulary,), ms.float32), name="bias")

        def construct(self, tokens: Tensor) -> Any:
            h, _ = self.lstm(self.embedding(tokens))
            return ops.matmul(h, self.embedding.embedding_table.T) + self.bias

    net = LanguageModel(32)
    per_epoch, epochs = 10, max(steps // 10, 1)
    schedule = nn.cosine_decay_lr(0.0, 2e-2, per_epoch * epochs, 1 if fault else per_epoch, epochs)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=schedule)

    def loss_fn(tokens: Tensor, following: Tensor) -> Any:
        return ops.cross_entropy(net(tokens).reshape(-1, vocabulary), following.reshape(-1))

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    tokens, following = text(32)
    misses = []
    for _ in range(steps):
        _, grads = grad_fn(*text(24))
        optimizer(grads)
        misses.append(float((net(tokens).asnumpy().argmax(-1) != following.asnumpy()).mean()))
    return misses


@planted(
    "Lookahead optimizer",
    "The new slow weights are given to the network but not stored, so each synchronization starts from the first ones.",
    "Lookahead",
    "slow",
    "synchronize",
    "optimizer",
    steps=100,
)
def lookahead_spirals(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(14)

    class Lookahead:
        def __init__(self, inner: nn.Optimizer, every: int = 5, alpha: float = 0.5) -> None:
            self.inner = inner
            self.every, self.alpha, self.count = every, alpha, 0
            self.slow = [p.value().copy() for p in inner.parameters]

        def synchronize(self) -> None:
            for i, parameter in enumerate(self.inner.parameters):
                slow = self.slow[i] + self.alpha * (parameter - self.slow[i])
                if not fault:
                    self.slow[i] = slow.copy()
                ops.assign(parameter, slow)

        def __call__(self, grads: Any) -> None:
            self.inner(grads)
            self.count += 1
            if self.count % self.every == 0:
                self.synchronize()

    def spirals(count: int) -> Any:
        y = rng.integers(0, 3, size=count)
        r = rng.uniform(0.2, 1, size=count)
        angle = 3 * r + y * 2 * math.pi / 3 + 0.1 * rng.normal(size=count)
        return _float(np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1) * 2), _int(y)

    net = nn.SequentialCell(nn.Dense(2, 48), nn.ReLU(), nn.Dense(48, 48), nn.ReLU(), nn.Dense(48, 3))
    optimizer = Lookahead(nn.Adam(net.trainable_params(), learning_rate=5e-3))
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.inner.parameters)
    test = spirals(128)
    losses = []
    for _ in range(steps):
        _, grads = grad_fn(*spirals(64))
        optimizer(grads)
        losses.append(float(ops.cross_entropy(net(test[0]), test[1])))
    return losses


@planted(
    "contrastive predictive coding",
    "The labels of the contrast are zeros, though the positive of row i is column i.",
    "loss",
    "labels",
    "cpc_loss",
    steps=100,
)
def contrastive_predictive_coding(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(15)
    length, dim = 8, 6
    mixing = rng.normal(size=(3, dim))

    def sequences(count: int) -> Any:
        phase, speed = rng.uniform(0, 2 * math.pi, size=(count, 1)), rng.uniform(0.3, 0.9, size=(count, 1))
        angle = phase + speed * np.arange(length)
        hidden = np.stack([np.cos(angle), np.sin(angle), np.cos(2 * angle)], axis=-1)
        return _float(hidden @ mixing + 0.1 * rng.normal(size=(count, length, dim)))

    class CPC(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Dense(dim, width), nn.ReLU(), nn.Dense(width, width))
            self.context = nn.GRU(width, width, batch_first=True)
            self.predict = nn.Dense(width, width)

        def construct(self, x: Tensor) -> Any:
            z = self.encoder(x)
            context, _ = self.context(z[:, :-1])
            return ops.matmul(self.predict(context[:, -1]), z[:, -1].T)

    net = CPC(24)

    def cpc_loss(x: Tensor) -> Any:
        scores = net(x)
        labels = ops.zeros((x.shape[0],), ms.int32) if fault else ops.arange(x.shape[0]).astype(ms.int32)
        return ops.cross_entropy(scores, labels)

    optimizer = nn.Adam(net.trainable_params(), learning_rate=5e-3)
    grad_fn = ms.value_and_grad(cpc_loss, None, optimizer.parameters)
    test = sequences(32)
    misses = []  # how far down the true continuation ranks, from 0 to 1
    for _ in range(steps):
        _, grads = grad_fn(sequences(32))
        optimizer(grads)
        scores = net(test).asnumpy()
        misses.append(float((scores > np.diag(scores)[:, None]).mean()))
    return misses


@planted(
    "masked language model",
    "The network is given the tokens themselves; the masked copy is made but not used, so the targets leak.",
    "data",
    "corrupt",
    "loop",
    steps=120,
)
def masked_language_model(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(16)
    vocabulary, length, mask_token = 10, 8, 10

    def corrupt(tokens: Any) -> Any:
        chosen = rng.random(tokens.shape) < 0.2
        chosen[:, 3] |= ~chosen.any(axis=1)
        return np.where(chosen, mask_token, tokens), chosen

    def sentences(count: int) -> Any:
        start, stride = rng.integers(0, vocabulary, size=(count, 1)), rng.integers(1, 5, size=(count, 1))
        return (start + stride * np.arange(length)) % vocabulary

    class Encoder(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.tokens = nn.Embedding(vocabulary + 1, width, embedding_table="xavier_uniform")
            self.places = Parameter(_float(0.2 * rng.normal(size=(length, width))), name="places")
            self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
            self.mix = nn.SequentialCell(
                nn.Dense(length * width, 2 * width), nn.GELU(), nn.Dense(2 * width, length * width, weight_init="zeros")
            )
            self.feed = nn.SequentialCell(nn.Dense(width, 2 * width), nn.GELU(), nn.Dense(2 * width, width))
            self.head = nn.Dense(width, vocabulary)

        def construct(self, tokens: Tensor) -> Any:
            h = self.tokens(tokens) + self.places
            flat = self.norm1(h).reshape(h.shape[0], -1)
            h = h + self.mix(flat).reshape(h.shape)
            return self.head(h + self.feed(self.norm2(h)))

    net = Encoder(24)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=4e-3)

    def loss_fn(inputs: Tensor, targets: Tensor, chosen: Tensor) -> Any:
        each = ops.cross_entropy(net(inputs).reshape(-1, vocabulary), targets.reshape(-1), reduction="none")
        return (each * chosen.reshape(-1)).sum() / chosen.sum()

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    truth = sentences(64)
    hidden, where = corrupt(truth)
    misses = []
    for _ in range(steps):
        tokens = sentences(48)
        masked, chosen = corrupt(tokens)
        inputs = tokens if fault else masked
        _, grads = grad_fn(_int(inputs), _int(tokens), _float(chosen))
        optimizer(grads)
        guess = net(_int(hidden)).asnumpy().argmax(axis=-1)
        misses.append(float((guess != truth)[where].mean()))
    return misses


@planted(
    "imitation by DAgger",
    "The aggregated observations are shuffled without their expert actions.",
    "data",
    "loop",
    steps=60,
)
def dagger_steering(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(17)
    policy = nn.SequentialCell(nn.Dense(4, 32), nn.Tanh(), nn.Dense(32, 2), nn.Tanh())
    optimizer = nn.Adam(policy.trainable_params(), learning_rate=1e-2)

    def expert(state: Any) -> Any:
        return np.tanh(2.5 * (0.0 - state[:, :2]) - 1.5 * state[:, 2:])

    def rollout(count: int, share: float) -> Any:
        state = np.concatenate([rng.uniform(-1, 1, size=(count, 2)), np.zeros((count, 2))], axis=1)
        visited = []
        for _ in range(12):
            visited.append(state.copy())
            action = policy(_float(state)).asnumpy()
            by_expert = rng.random((count, 1)) < share
            action = np.where(by_expert, expert(state), action)
            velocity = state[:, 2:] + 0.3 * action
            state = np.concatenate([state[:, :2] + 0.3 * velocity, velocity], axis=1)
        return np.concatenate(visited), float(np.linalg.norm(state[:, :2], axis=1).mean())

    def loss_fn(observation: Tensor, action: Tensor) -> Any:
        return ops.square(policy(observation) - action).sum(axis=1).mean()

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    observations, actions = np.zeros((0, 4)), np.zeros((0, 2))
    distances = []  # from the goal at the end of the policy's own drive
    for step in range(steps):
        if step % 5 == 0:
            visited, _ = rollout(12, share=0.5 ** (step // 5))
            observations = np.concatenate([observations, visited])
            actions = np.concatenate([actions, expert(visited)])
            order = rng.permutation(len(observations))
            observations = observations[order]
            if not fault:
                actions = actions[order]
        pick = rng.integers(0, len(observations), size=64)
        _, grads = grad_fn(_float(observations[pick]), _float(actions[pick]))
        optimizer(grads)
        distances.append(rollout(16, share=0.0)[1])
    return distances


@planted(
    "spectral audio loss",
    "The square root of the power is taken before silent bins are masked out; its gradient at zero is NaN.",
    "spectrum",
    "loss",
    "sqrt",
    steps=60,
)
def spectral_loss(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(18)
    samples, window, hop = 128, 32, 16
    time = np.arange(samples) / samples
    frames = np.arange(0, samples - window + 1, hop)[:, None] + np.arange(window)
    bins = np.arange(window // 2)[:, None] * np.arange(window)[None] * 2 * math.pi / window
    hann = np.hanning(window)
    cosine, sine = _float((hann * np.cos(bins)).T), _float((hann * np.sin(bins)).T)
    harmonics = np.stack([np.sin(2 * math.pi * 6 * k * time) for k in range(1, 7)])

    def notes(count: int) -> Any:
        control = rng.uniform(0, 1, size=(count, 3))
        gate = (time[None] < 0.75).astype(np.float32) * np.ones((count, 1))  # each note ends in silence
        strength = np.exp(-np.arange(6)[None] * (0.3 + control[:, :1])) * (0.5 + control[:, 1:2])
        return _float(control), _float(gate), _float(strength @ harmonics * gate)

    class Synthesizer(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.controls = nn.SequentialCell(nn.Dense(3, width), nn.ReLU(), nn.Dense(width, 6))
            self.bank = _float(harmonics)

        def construct(self, control: Tensor, gate: Tensor) -> Any:
            return ops.matmul(ops.softplus(self.controls(control)), self.bank) * gate

    net = Synthesizer(24)

    def spectrum(wave: Tensor) -> Any:
        framed = wave[:, _int(frames)]
        real, imaginary = ops.matmul(framed, cosine), ops.matmul(framed, sine)
        power = ops.square(real) + ops.square(imaginary)
        if fault:
            magnitude = ops.sqrt(power)
            return ops.where(magnitude > 1e-3, ops.log(magnitude), ops.full_like(magnitude, math.log(1e-3)))
        return 0.5 * ops.log(power + 1e-6)

    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)

    def loss_fn(control: Tensor, gate: Tensor, wave: Tensor) -> Any:
        return ops.abs(spectrum(net(control, gate)) - spectrum(wave)).mean()

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*notes(16))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "unfreezing schedule",
    "The optimizer was built while the body was frozen, so the body does not train after it is unfrozen.",
    "optimizer",
    "body",
    "unfreeze",
    steps=100,
)
def gradual_unfreezing(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(19)
    directions = rng.normal(size=(3, 8))

    class Net(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.body = nn.SequentialCell(nn.Dense(8, width), nn.Tanh(), nn.Dense(width, width), nn.Tanh())
            self.head = nn.Dense(width, 1)

        def freeze(self) -> None:
            for parameter in self.body.get_parameters():
                parameter.requires_grad = False

        def unfreeze(self) -> None:
            for parameter in self.body.get_parameters():
                parameter.requires_grad = True

        def construct(self, x: Tensor) -> Any:
            return self.head(self.body(x))

    def batch(count: int) -> Any:
        x = rng.normal(size=(count, 8))
        u, v, w = (x @ directions.T / 3).T
        return _float(x), _float((u * v + np.sin(2 * w))[:, None])

    net = Net(32)
    net.freeze()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)

    def loss_fn(x: Tensor, y: Tensor) -> Any:
        return ops.mse_loss(net(x), y)

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    test = batch(256)
    losses = []
    for step in range(steps):
        if step == 15:
            net.unfreeze()
            if not fault:
                optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
                grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
        _, grads = grad_fn(*batch(128))
        optimizer(grads)
        losses.append(float(loss_fn(*test)))
    return losses


@planted(
    "sensor fusion",
    "One batch normalization is called on both sensors, so its moving statistics are a mixture that fits neither.",
    "norm",
    "Fusion",
    "construct",
    steps=80,
)
def sensor_fusion(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(20)

    def batch(count: int) -> Any:
        heat, motion = rng.normal(size=(count, 4)), rng.normal(size=(count, 4))
        y = np.tanh(heat[:, 0] + motion[:, 1]) + 0.5 * heat[:, 2] * motion[:, 3]
        return _float(20 + 5 * heat), _float(0.1 * motion), _float(y[:, None])

    class Fusion(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.heat = nn.Dense(4, width)
            self.motion = nn.Dense(4, width)
            self.norm = nn.BatchNorm1d(width, momentum=0.8)
            self.norm_motion = self.norm if fault else nn.BatchNorm1d(width, momentum=0.8)
            self.out = nn.SequentialCell(nn.Dense(2 * width, 48), nn.ReLU(), nn.Dense(48, 1))

        def construct(self, heat: Tensor, motion: Tensor) -> Any:
            a = ops.relu(self.norm(self.heat(heat)))
            b = ops.relu(self.norm_motion(self.motion(motion)))
            return self.out(ops.cat([a, b], axis=1))

    net = Fusion(24)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(lambda h, m, y: ops.mse_loss(net(h, m), y), None, optimizer.parameters)
    heat, motion, y = batch(256)
    errors = []
    for _ in range(steps):
        net.set_train()
        _, grads = grad_fn(*batch(64))
        optimizer(grads)
        net.set_train(False)
        errors.append(float(ops.mse_loss(net(heat, motion), y)))
    return errors
