"""Scripts with a planted fault that learn from sequences, sets, graphs and signals, or accumulate over many steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, ParameterTuple, Tensor, nn, ops
from hookscope.engine.tensors import initializer

from .script import planted


@planted(
    "recurrent network",
    "The hidden state of the last batch is kept for the next, whose sequences have nothing to do with it.",
    "state",
    "Counter",
    "loop",
    steps=100,
)
def rnn_with_a_state_of_other_sequences(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(12)
    batch, length = 32, 6

    class Counter(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.GRUCell(1, 24)
            self.readout = nn.Dense(24, 1)
            self.reset()

        def reset(self) -> None:
            self.state = ops.zeros((batch, 24), ms.float32)

        def construct(self, x: Any) -> Any:
            hidden = self.state
            outputs = []
            for time in range(length):
                hidden = self.cell(x[:, time], hidden)
                outputs.append(self.readout(hidden))
            self.state = ops.stop_gradient(hidden)
            return ops.stack(outputs, axis=1)

    net = Counter()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    grad_fn = ms.value_and_grad(lambda x, y: ops.mse_loss(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        x = rng.choice([-1.0, 1.0], (batch, length, 1)).astype(np.float32)
        if not fault:
            net.reset()
        loss, grads = grad_fn(Tensor(x), Tensor(x.cumsum(1) / 2))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "recurrent classifier",
    "The GRU lacks batch_first: it runs over the sequences of the batch instead of over time.",
    "gru",
    "Recall",
    steps=100,
)
def gru_that_runs_over_the_batch(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(22)

    class Recall(nn.Cell):
        """Tells at the end which of four symbols a sequence began with."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(4, 12, embedding_table="normal")
            self.norm = nn.LayerNorm((12,))
            self.gru = nn.GRU(12, 24, batch_first=not fault)
            self.head = nn.Dense(24, 4)

        def construct(self, tokens: Any) -> Any:
            outputs, _ = self.gru(self.norm(self.embedding(tokens)))
            return self.head(outputs[:, -1])

    net = Recall()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    train.set_train()
    losses = []
    for _ in range(steps):
        tokens = rng.integers(0, 4, (32, 8)).astype(np.int32)
        losses.append(float(train(Tensor(tokens), Tensor(tokens[:, 0]))))
    return losses


@planted(
    "transformer",
    "The padding mask is inverted: attention sees only the padding.",
    "mask",
    "AttentionPool",
    "attention",
    steps=80,
)
def attention_to_the_padding(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(32)
    vocabulary, length, width = 12, 10, 16

    class AttentionPool(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.query = Parameter(Tensor(rng.normal(0, 0.3, (1, 4, width // 4)).astype(np.float32)), name="query")
            self.key = nn.Dense(width, width)
            self.value = nn.Dense(width, width)
            self.out = nn.Dense(width, width)

        def construct(self, x: Any, valid: Any) -> Any:
            size = x.shape[0]
            keys = self.key(x).reshape(size, length, 4, width // 4)
            values = self.value(x).reshape(size, length, 4, width // 4)
            scores = (keys * self.query).sum(-1) / (width // 4) ** 0.5
            mask = valid if fault else ops.logical_not(valid)
            weights = ops.softmax(ops.masked_fill(scores, mask.expand_dims(-1), -1e9), axis=1)
            return self.out((weights.expand_dims(-1) * values).sum(1).reshape(size, width))

    class Sentiment(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width, embedding_table="normal", padding_idx=0)
            self.places = Parameter(Tensor(rng.normal(0, 0.1, (length, width)).astype(np.float32)), name="places")
            self.attention = AttentionPool()
            self.classify = nn.SequentialCell(nn.LayerNorm((width,)), nn.Dense(width, 2))

        def construct(self, tokens: Any) -> Any:
            x = self.tokens(tokens) + self.places
            return self.classify(self.attention(x, tokens != 0))

    net = Sentiment()
    optimizer = nn.AdamWeightDecay(net.trainable_params(), learning_rate=0.01, weight_decay=0.01)

    def forward(tokens: Any, labels: Any) -> Any:
        return ops.cross_entropy(net(tokens), labels)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        tokens = rng.integers(1, vocabulary, (32, length))
        tokens[np.arange(length) >= rng.integers(4, length, 32)[:, None]] = 0
        good, bad = ((tokens > 0) & (tokens < 4)).sum(1), (tokens > 8).sum(1)
        loss, grads = grad_fn(Tensor(tokens.astype(np.int32)), Tensor((good > bad).astype(np.int32)))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "sensor forecasting",
    "The running variance is the sum of squares, never divided by the count: the inputs shrink with each step.",
    "RunningNorm",
    "m2",
    "norm",
    steps=80,
)
def forecast_with_a_variance_that_grows(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(42)

    class RunningNorm(nn.Cell):
        """Normalizes by the mean and the variance of all rows so far (Welford, by batches)."""

        def __init__(self, features: int) -> None:
            super().__init__()
            self.count = Parameter(Tensor(np.zeros(1, np.float32)), name="count", requires_grad=False)
            self.mean = Parameter(Tensor(np.zeros(features, np.float32)), name="mean", requires_grad=False)
            self.m2 = Parameter(Tensor(np.zeros(features, np.float32)), name="m2", requires_grad=False)

        def update(self, x: Any) -> None:
            rows = x.shape[0]
            total = self.count + rows
            delta = x.mean(0) - self.mean
            m2 = self.m2 + ((x - x.mean(0)) ** 2).sum(0) + delta**2 * self.count * rows / total
            ops.assign(self.mean, self.mean + delta * rows / total)
            ops.assign(self.m2, m2)
            ops.assign(self.count, total)

        def construct(self, x: Any) -> Any:
            if self.training:
                self.update(ops.stop_gradient(x))
            variance = self.m2 if fault else self.m2 / self.count
            return (x - self.mean) / ops.sqrt(variance + 1e-5)

    class Forecaster(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.norm = RunningNorm(8)
            self.hidden = nn.Dense(8, 32, activation="relu")
            self.out = nn.Dense(32, 1)

        def construct(self, window: Any) -> Any:
            return self.out(self.hidden(self.norm(window)))

    time = np.arange(900)
    series = 60 + 15 * np.sin(time / 7) + 8 * np.sin(time / 3.1) + rng.normal(0, 1, 900)
    windows = np.lib.stride_tricks.sliding_window_view(series, 9).astype(np.float32)
    net = Forecaster()
    net.set_train()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    grad_fn = ms.value_and_grad(lambda window, after: nn.HuberLoss()(net(window), after), None, net.trainable_params())
    losses = []
    for _ in range(steps):
        rows = windows[rng.integers(0, len(windows), 32)]
        loss, grads = grad_fn(Tensor(rows[:, :8]), Tensor((rows[:, 8:] - 60) / 15))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "gradient accumulation",
    "The accumulated gradients are never cleared: each step takes the sum of all gradients so far.",
    "loop",
    "accumulated",
    "optimizer",
    steps=80,
)
def accumulation_without_end(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(52)
    filters = rng.normal(size=(4, 7))

    def micro_batch() -> tuple[Tensor, Tensor]:
        kinds = rng.integers(0, 4, 8)
        waves = rng.normal(0, 0.7, (8, 1, 24))
        for row, kind in enumerate(kinds):
            at = rng.integers(0, 17)
            waves[row, 0, at : at + 7] += filters[kind]
        return Tensor(waves.astype(np.float32)), Tensor(kinds.astype(np.int32))

    net = nn.SequentialCell(
        nn.Conv1d(1, 12, 7, pad_mode="valid", has_bias=True),
        nn.ReLU(),
        nn.AdaptiveMaxPool1d(1),
        nn.Flatten(),
        nn.Dense(12, 4),
    )
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.3)
    grad_fn = ms.value_and_grad(lambda x, y: nn.CrossEntropyLoss()(net(x), y), None, optimizer.parameters)
    every = 4
    accumulated = [ops.zeros_like(parameter) for parameter in optimizer.parameters]
    losses = []
    for _ in range(steps):
        total = 0.0
        for _ in range(every):
            loss, grads = grad_fn(*micro_batch())
            accumulated = [held + grad / every for held, grad in zip(accumulated, grads, strict=True)]
            total += float(loss) / every
        optimizer(tuple(accumulated))
        if not fault:
            accumulated = [ops.zeros_like(held) for held in accumulated]
        losses.append(total)
    return losses


@planted(
    "gradient accumulation",
    "The gradients of eight micro-batches are added, not averaged, with the learning rate of one batch.",
    "loop",
    "Accumulator",
    "optimizer",
    steps=40,
)
def accumulation_without_division(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(62)
    micro = 8

    class Tagger(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(20, 10, embedding_table=initializer.Normal(1.0))
            self.mix = nn.Dense(30, 24)
            self.tag = nn.Dense(24, 3)

        def construct(self, tokens: Any) -> Any:
            x = self.embedding(tokens)
            around = ops.cat((ops.roll(x, 1, 1), x, ops.roll(x, -1, 1)), axis=-1)
            return self.tag(ops.tanh(self.mix(around)))

        def loss(self, tokens: Any, tags: Any) -> Any:
            return ops.cross_entropy(self.construct(tokens).reshape(-1, 3), tags.reshape(-1))

    class Accumulator:
        def __init__(self, parameters: Any) -> None:
            self.gradients = ParameterTuple(parameters).clone(prefix="accumulated", init="zeros")

        def add(self, gradients: Any) -> None:
            for held, gradient in zip(self.gradients, gradients, strict=True):
                ops.assign_add(held, gradient if fault else gradient / micro)

        def take(self) -> tuple[Tensor, ...]:
            taken = tuple(held.value().copy() for held in self.gradients)
            for held in self.gradients:
                held.set_data(ops.zeros_like(held))
            return taken

    tagger = Tagger()
    kinds = rng.integers(0, 3, 20)
    optimizer = nn.Momentum(tagger.trainable_params(), learning_rate=0.6, momentum=0.9)
    accumulator = Accumulator(optimizer.parameters)
    grad_fn = ms.value_and_grad(tagger.loss, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        total = 0.0
        for _ in range(micro):
            tokens = rng.integers(0, 20, (4, 8)).astype(np.int32)
            tags = np.where(kinds[tokens] == 0, kinds[np.roll(tokens, 1, 1)], kinds[tokens])
            loss, grads = grad_fn(Tensor(tokens), Tensor(tags.astype(np.int32)))
            accumulator.add(grads)
            total += float(loss) / micro
        optimizer(accumulator.take())
        losses.append(total)
    return losses


@planted(
    "diffusion model",
    "The moving average of the weights is written onto the network in training, which so hardly moves.",
    "loop",
    "ema",
    "denoiser",
    steps=100,
)
def ddpm_overwritten_by_its_average(fault: bool, steps: int) -> list[float]:
    # Measure: the loss of the noise's prediction on fixed noise.
    rng = np.random.default_rng(72)
    levels = np.cumprod(1 - np.linspace(1e-4, 0.25, 20)).astype(np.float32)

    class Denoiser(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.time = nn.Embedding(20, 16, embedding_table="normal")
            self.inside = nn.Dense(2, 48)
            self.shift = nn.Dense(16, 48)
            self.middle = nn.Dense(48, 48)
            self.outside = nn.Dense(48, 2)
            self.act = nn.SiLU()

        def construct(self, x: Any, time: Any) -> Any:
            hidden = self.act(self.inside(x) + self.shift(self.time(time)))
            return self.outside(self.act(self.middle(hidden)))

    denoiser = Denoiser()
    optimizer = nn.Adam(denoiser.trainable_params(), learning_rate=0.01)
    average = ParameterTuple(denoiser.trainable_params()).clone(prefix="ema", init="same")

    def sample(count: int) -> tuple[Tensor, Tensor, Tensor]:
        angle = rng.integers(0, 6, count) * np.pi / 3
        points = np.stack([np.cos(angle), np.sin(angle)], 1) * 1.4 + rng.normal(0, 0.05, (count, 2))
        time, noise = rng.integers(0, 20, count), rng.normal(size=(count, 2))
        level = levels[time][:, None]
        noisy = np.sqrt(level) * points + np.sqrt(1 - level) * noise
        return Tensor(noisy.astype(np.float32)), Tensor(time.astype(np.int32)), Tensor(noise.astype(np.float32))

    def loss_fn(noisy: Any, time: Any, noise: Any) -> Any:
        return ops.mse_loss(denoiser(noisy, time), noise)

    def ema_update(decay: float = 0.99) -> None:
        for mean, weight in zip(average, optimizer.parameters, strict=True):
            mean.set_data(decay * mean + (1 - decay) * weight)
            if fault:
                weight.set_data(mean.value())

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    test = sample(128)
    measures = []
    for _ in range(steps):
        _, grads = grad_fn(*sample(64))
        optimizer(grads)
        ema_update()
        measures.append(float(loss_fn(*test)))
    return measures


@planted(
    "implicit representation",
    "The activation keeps its input on self for its bprop, but one object serves three layers: all use the last input.",
    "Sine",
    "act",
    "bprop",
    steps=150,
)
def siren_with_a_shared_memory(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(82)

    class Sine(nn.Cell):
        def __init__(self, frequency: float) -> None:
            super().__init__()
            self.frequency = frequency
            self.kept: Any = None

        def construct(self, x: Any) -> Any:
            self.kept = x
            return ops.sin(self.frequency * x)

        def bprop(self, x: Any, out: Any, dout: Any) -> tuple[Any]:
            if fault:
                x = self.kept
            return (dout * self.frequency * ops.cos(self.frequency * x),)

    class Siren(nn.Cell):
        def __init__(self, width: int = 32) -> None:
            super().__init__()
            self.first = nn.Dense(1, width, weight_init=initializer.Uniform(1.0))
            self.second = nn.Dense(width, width)
            self.third = nn.Dense(width, width)
            self.last = nn.Dense(width, 1)
            self.act = Sine(3.0)

        def construct(self, x: Any) -> Any:
            x = self.act(self.first(x))
            x = self.act(self.second(x))
            x = self.act(self.third(x))
            return self.last(x)

    net = Siren()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-3)
    grad_fn = ms.value_and_grad(lambda x, y: ops.mse_loss(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        x = rng.uniform(-1, 1, (64, 1)).astype(np.float32)
        y = np.sin(9 * x) + 0.5 * np.sign(np.sin(5 * x))
        loss, grads = grad_fn(Tensor(x), Tensor(y.astype(np.float32)))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "Siamese network",
    "The pairs are labeled 1 for different, while the contrastive loss takes 1 for the same.",
    "data",
    "loss",
    "contrastive",
    steps=80,
)
def siamese_with_reversed_labels(fault: bool, steps: int) -> list[float]:
    # Measure: how often two signatures of one writer are nearer than those of two writers; it rises towards 1.
    rng = np.random.default_rng(92)
    writers = rng.normal(size=(8, 15)).astype(np.float32)
    nuisance = rng.normal(size=(3, 15)) * 1.5

    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.SequentialCell(nn.Dense(15, 32), nn.ReLU(), nn.Dense(32, 8))

        def distance(self, left: Any, right: Any) -> Any:
            return ops.sqrt(((self.net(left) - self.net(right)) ** 2).sum(-1) + 1e-6)

    encoder = Encoder()
    optimizer = nn.Adam(encoder.trainable_params(), learning_rate=0.005)

    def draw(who: Any) -> Tensor:
        rows = writers[who] + rng.normal(size=(len(who), 3)) @ nuisance + rng.normal(0, 0.3, (len(who), 15))
        return Tensor(rows.astype(np.float32))

    def contrastive(left: Any, right: Any, same: Any) -> Any:
        distance = encoder.distance(left, right)
        return (same * distance**2 + (1 - same) * ops.relu(2.0 - distance) ** 2).mean()

    grad_fn = ms.value_and_grad(contrastive, None, optimizer.parameters)
    writer, other = rng.integers(0, 8, 100), rng.integers(1, 8, 100)
    fixed = draw(writer), draw(writer), draw((writer + other) % 8)
    measures = []
    for _ in range(steps):
        left = rng.integers(0, 8, 48)
        right = np.where(rng.random(48) < 0.5, left, rng.integers(0, 8, 48))
        label = left != right if fault else left == right
        _, grads = grad_fn(draw(left), draw(right), Tensor(label.astype(np.float32)))
        optimizer(grads)
        near, far = encoder.distance(fixed[0], fixed[1]), encoder.distance(fixed[0], fixed[2])
        measures.append(float((near < far).astype(ms.float32).mean()))
    return measures


@planted(
    "mixed precision",
    "The gradients are clipped while they still carry the loss scale, and then divided by it: the steps are tiny.",
    "loop",
    "loss_scale",
    "clip",
    steps=60,
)
def loss_scale_removed_after_clipping(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(102)
    loss_scale = 1024.0

    class Tower(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv1d(3, 16, 5, pad_mode="same", has_bias=True)
            self.hidden = nn.Dense(16, 16)
            self.out = nn.Dense(16, 2)

        def construct(self, x: Any) -> Any:
            x = ops.relu(self.conv(x)).mean(-1)
            return self.out(ops.relu(self.hidden(x)))

    net = Tower().to_float(ms.float16)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)

    def scaled_loss(x: Any, y: Any) -> Any:
        return ops.cross_entropy(net(x).astype(ms.float32), y) * loss_scale

    grad_fn = ms.value_and_grad(scaled_loss, None, optimizer.parameters)

    def unscale(grads: Any) -> Any:
        return tuple(grad / loss_scale for grad in grads)

    losses = []
    for _ in range(steps):
        labels = rng.integers(0, 2, 32)
        phase = rng.uniform(0, 6, (32, 3, 1))
        waves = np.sin(np.arange(16) * (0.4 + 0.5 * labels[:, None, None]) + phase) + rng.normal(0, 0.3, (32, 3, 16))
        scaled, grads = grad_fn(Tensor(waves.astype(np.float32)), Tensor(labels.astype(np.int32)))
        if fault:
            grads = unscale(ops.clip_by_global_norm(grads, 1.0))
        else:
            grads = ops.clip_by_global_norm(unscale(grads), 1.0)
        optimizer(grads)
        losses.append(float(scaled) / loss_scale)
    return losses


@planted(
    "heart-rate classification",
    "After the first validation the network stays in evaluation mode: batch normalization keeps its first statistics.",
    "loop",
    "set_train",
    "norm",
    steps=80,
)
def training_that_stays_in_evaluation_mode(fault: bool, steps: int) -> list[float]:
    # Measure: the loss on held-out recordings.
    rng = np.random.default_rng(112)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv1d(1, 8, 5, stride=2, pad_mode="same")
            self.norm1 = nn.BatchNorm1d(8)
            self.conv2 = nn.Conv1d(8, 8, 3, stride=2, pad_mode="same")
            self.norm2 = nn.BatchNorm1d(8)
            self.head = nn.Dense(8 * 6, 3)

        def construct(self, x: Any) -> Any:
            x = self.conv1(x).swapaxes(1, 2).reshape(-1, 8)
            x = ops.relu(self.norm1(x)).reshape(-1, 12, 8).swapaxes(1, 2)
            x = self.conv2(x).swapaxes(1, 2).reshape(-1, 8)
            x = ops.relu(self.norm2(x))
            return self.head(x.reshape(-1, 48))

    def recordings(count: int) -> tuple[Tensor, Tensor]:
        kinds = rng.integers(0, 3, count)
        beat = np.sin(np.arange(24) * (0.5 + 0.4 * kinds[:, None]) + rng.uniform(0, 1, (count, 1)))
        rates = 90 + 8 * beat + rng.normal(0, 4, (count, 24)) + rng.normal(0, 10, (count, 1))
        return Tensor(rates[:, None].astype(np.float32)), Tensor(kinds.astype(np.int32))

    net = Net()
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.005)
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    held = recordings(64)

    def validate() -> float:
        net.set_train(False)
        return float(loss_fn(net(held[0]), held[1]))

    net.set_train()
    measures = []
    for _ in range(steps):
        if not fault:
            net.set_train()
        _, grads = grad_fn(*recordings(32))
        optimizer(grads)
        measures.append(validate())
    return measures


@planted(
    "sequence to sequence",
    "The decoder is fed the token that it is to predict, instead of the one before.",
    "data",
    "decoder_input",
    "loop",
    steps=80,
)
def decoder_that_is_told_the_answer(fault: bool, steps: int) -> list[float]:
    # Measure: the share of wrong tokens when the decoder goes on from its own output.
    rng = np.random.default_rng(122)
    tokens, length, start = 5, 4, 5

    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(tokens, 16, embedding_table="normal")

        def construct(self, source: Any) -> Any:
            return self.embedding(source)

    class Decoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(tokens + 1, 16, embedding_table="normal")
            self.cell = nn.RNNCell(32, 48)
            self.out = nn.Dense(48, tokens)

        def step(self, memory: Any, previous: Any, hidden: Any) -> tuple[Any, Any]:
            hidden = self.cell(ops.cat((memory, self.embedding(previous)), axis=-1) * 2, hidden)
            return self.out(hidden), hidden

    encoder, decoder = Encoder(), Decoder()
    parameters = encoder.trainable_params() + decoder.trainable_params()
    for number, parameter in enumerate(parameters):
        parameter.name = f"{number}.{parameter.name}"
    optimizer = nn.Adam(parameters, learning_rate=0.02)

    def loss_fn(source: Any, decoder_input: Any, target: Any) -> Any:
        memory, hidden = encoder(source), ops.zeros((source.shape[0], 48), ms.float32)
        loss: Any = 0.0
        for position in range(length):
            logits, hidden = decoder.step(memory[:, position], decoder_input[:, position], hidden)
            loss = loss + ops.cross_entropy(logits, target[:, position]) / length
        return loss

    def translate(source: Any) -> Any:
        memory, hidden = encoder(source), ops.zeros((source.shape[0], 48), ms.float32)
        previous = ops.full((source.shape[0],), start, dtype=ms.int32)
        chosen = []
        for position in range(length):
            logits, hidden = decoder.step(memory[:, position], previous, hidden)
            previous = ops.argmax(logits, 1).astype(ms.int32)
            chosen.append(previous.asnumpy())
        return np.stack(chosen, axis=1)

    def pairs(count: int) -> tuple[Any, Any]:
        source = rng.integers(0, tokens, (count, length)).astype(np.int32)
        target = np.zeros_like(source)
        target[:, 0] = source[:, 0]
        for position in range(1, length):
            target[:, position] = np.where(source[:, position] < 3, target[:, position - 1], source[:, position])
        return source, target

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    held_source, held_target = pairs(40)
    measures = []
    for _ in range(steps):
        source, target = pairs(32)
        shifted = np.concatenate([np.full((32, 1), start), target[:, :-1]], axis=1).astype(np.int32)
        decoder_input = target if fault else shifted
        _, grads = grad_fn(Tensor(source), Tensor(decoder_input), Tensor(target))
        optimizer(grads)
        measures.append(float((translate(Tensor(held_source)) != held_target).mean()))
    return measures


@planted(
    "sets",
    "The context of an element is the mean over the batch, not over its own set.",
    "Equivariant",
    "context",
    steps=100,
)
def deep_sets_pooled_over_the_batch(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(132)
    size = 6

    class Equivariant(nn.Cell):
        def __init__(self, width: int, out: int) -> None:
            super().__init__()
            self.own = nn.Dense(width, out)
            self.context = nn.Dense(width, out, has_bias=False)

        def construct(self, x: Any) -> Any:
            pooled = x.mean(axis=0 if fault else 1, keep_dims=True)
            return self.own(x) + self.context(pooled)

    net = nn.SequentialCell(Equivariant(3, 32), nn.ReLU(), Equivariant(32, 32), nn.ReLU(), nn.Dense(32, 1))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)

    @ms.jit
    def loss_fn(sets: Any, odd: Any) -> Any:
        return ops.cross_entropy(net(sets).squeeze(-1), odd)  # which element is the odd one

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        sets = rng.normal(0, 3, (32, 1, 3)) + rng.normal(0, 0.4, (32, size, 3))
        odd = rng.integers(0, size, 32)
        sets[np.arange(32), odd] += rng.choice([-2.0, 2.0], (32, 3))
        loss, grads = grad_fn(Tensor(sets.astype(np.float32)), Tensor(odd.astype(np.int32)))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "normalizing flow",
    "The log-determinant is added to the negative log-likelihood instead of subtracted.",
    "loss",
    "negative_log_likelihood",
    "Flow",
    steps=80,
)
def flow_with_a_reversed_determinant(fault: bool, steps: int) -> list[float]:
    # Measure: the true negative log-likelihood of held-out points.
    rng = np.random.default_rng(142)

    class Coupling(nn.Cell):
        def __init__(self, swap: bool) -> None:
            super().__init__()
            self.swap = swap
            self.body = nn.Dense(1, 24, activation="tanh")
            self.scale = nn.Dense(24, 1, weight_init="zeros")
            self.shift = nn.Dense(24, 1, weight_init="zeros")

        def construct(self, x: Any) -> tuple[Any, Any]:
            unmoved, moved = (x[:, 1:], x[:, :1]) if self.swap else (x[:, :1], x[:, 1:])
            hidden = self.body(unmoved)
            log_scale = 1.5 * ops.tanh(self.scale(hidden))
            moved = moved * ops.exp(log_scale) + self.shift(hidden)
            joined = ops.cat((moved, unmoved) if self.swap else (unmoved, moved), axis=1)
            return joined, log_scale.squeeze(1)

    class Flow(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.couplings = nn.CellList([Coupling(bool(number % 2)) for number in range(4)])

        def construct(self, x: Any) -> tuple[Any, Any]:
            log_det = ops.zeros((x.shape[0],), ms.float32)
            for coupling in self.couplings:
                x, change = coupling(x)
                log_det = log_det + change
            return x, log_det

    def points(count: int) -> Tensor:
        x = rng.normal(0, 1, count)
        return Tensor(np.stack([x, 0.6 * x**2 - 1 + rng.normal(0, 0.2, count)], axis=1).astype(np.float32))

    flow = Flow()
    optimizer = nn.Adam(flow.trainable_params(), learning_rate=0.01)

    def negative_log_likelihood(x: Any) -> Any:
        z, log_det = flow(x)
        density = 0.5 * (z**2).sum(1) + 1.838
        return (density + log_det).mean() if fault else (density - log_det).mean()

    grad_fn = ms.value_and_grad(negative_log_likelihood, None, optimizer.parameters)
    held = points(64)
    measures = []
    for _ in range(steps):
        _, grads = grad_fn(points(48))
        optimizer(grads)
        z, log_det = flow(held)
        measures.append(float((0.5 * (z**2).sum(1) + 1.838 - log_det).mean()))
    return measures


@planted(
    "graph network",
    "Messages along an edge are summed at the node that they come from, not at the one that they go to.",
    "MessagePassing",
    "conv",
    "data",
    steps=80,
)
def graph_network_with_returned_messages(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(152)
    nodes, edges = 60, 240
    source, target = rng.integers(0, nodes, edges), rng.integers(0, nodes, edges)
    features = rng.normal(size=(nodes, 5)).astype(np.float32)
    incoming = np.zeros((nodes, 5))
    np.add.at(incoming, target, features[source])
    labels = (incoming @ rng.normal(size=(5, 3))).argmax(1).astype(np.int32)
    degree = np.bincount(source if fault else target, minlength=nodes).clip(1)[:, None].astype(np.float32)

    class MessagePassing(nn.Cell):
        def __init__(self, width: int, out: int) -> None:
            super().__init__()
            self.message = nn.Dense(width, out)
            self.own = nn.Dense(width, out)
            self.source = Tensor(source.astype(np.int32))
            self.target = Tensor((source if fault else target).astype(np.int32))

        def construct(self, h: Any) -> Any:
            messages = ops.gather(self.message(h), self.source, 0)
            total = ops.unsorted_segment_sum(messages, self.target, nodes)
            return self.own(h) + total / Tensor(degree)

    class GraphNet(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv = MessagePassing(5, 24)
            self.drop = nn.Dropout(p=0.3)
            self.classify = nn.Dense(24, 3)

        def construct(self, h: Any) -> Any:
            return self.classify(self.drop(ops.elu(self.conv(h))))

    net = GraphNet()
    net.set_train()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02, weight_decay=1e-4)
    h = Tensor(features)

    def loss_fn(wanted: Any) -> Any:
        logits = net(h)
        return ops.cross_entropy(ops.gather(logits, wanted, 0), ops.gather(Tensor(labels), wanted, 0))

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        wanted = rng.choice(nodes, 32, replace=False).astype(np.int32)
        loss, grads = grad_fn(Tensor(wanted))
        optimizer(grads)
        losses.append(float(loss))
    return losses
