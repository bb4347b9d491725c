"""Healthy programs whose training loops are unusual: scaled, accumulated, nested, projected, pruned, local steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import mint, nn, ops
from hookscope.engine.mindspore.experimental import optim
from hookscope.engine.tensors.initializer import Normal

from .script import healthy


@healthy("dynamic loss scaling", steps=60)
def half_precision_with_a_dynamic_loss_scale(steps: int) -> list[float]:
    # The scale begins far too high: the first steps overflow and are skipped, as is one now and then later on.
    class HalfNetwork(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = nn.Dense(10, 32).to_float(ms.float16)
            self.fc2 = nn.Dense(32, 32).to_float(ms.float16)
            self.head = nn.Dense(32, 4).to_float(ms.float16)

        def construct(self, x: Any) -> Any:
            x = ops.relu(self.fc1(x))
            x = ops.relu(self.fc2(x))
            return self.head(x).astype(ms.float32)

    rng = np.random.default_rng(1)
    centers = rng.normal(0, 1, (4, 10))
    net = HalfNetwork()
    scaler = ms.amp.DynamicLossScaler(scale_value=2.0**22, scale_factor=2, scale_window=15)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9)

    def forward(x: Any, label: Any) -> Any:
        loss = ops.cross_entropy(net(x), label)
        return scaler.scale(loss), loss

    train = ms.value_and_grad(forward, None, net.trainable_params(), has_aux=True)
    losses = []
    for _ in range(steps):
        label = rng.integers(0, 4, 32)
        x = (centers[label] + rng.normal(0, 0.8, (32, 10))).astype(np.float32)
        (_, loss), gradients = train(ms.Tensor(x), ms.Tensor(label.astype(np.int32)))
        finite = ms.amp.all_finite(gradients)
        if finite:
            optimizer(scaler.unscale(gradients))
        scaler.adjust(finite)
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("gradient accumulation", steps=80)
def accumulated_gradients_and_evaluation(steps: int) -> list[float]:
    # The optimizer steps after every fourth small batch; the measure is the loss of held-out data, in evaluation mode.
    class Accumulator:
        def __init__(self, optimizer: Any, every: int) -> None:
            self.optimizer, self.every, self.count = optimizer, every, 0
            self.sums = optimizer.parameters.clone(prefix="accumulated", init="zeros")

        def add(self, gradients: Any) -> None:
            for total, gradient in zip(self.sums, gradients, strict=True):
                ops.assign_add(total, gradient / self.every)
            self.count += 1
            if self.count % self.every == 0:
                self.optimizer(tuple(total.value() for total in self.sums))
                for total in self.sums:
                    ops.assign(total, ops.zeros_like(total))

    rng = np.random.default_rng(3)
    net = nn.SequentialCell(nn.Dense(8, 48), nn.ReLU(), nn.Dropout(p=0.1), nn.Dense(48, 1))
    loss_fn = nn.SmoothL1Loss(reduction="mean")
    accumulator = Accumulator(nn.Adam(net.trainable_params(), learning_rate=0.02), every=4)

    def draw(size: int) -> Any:
        x = rng.normal(0, 1, (size, 8)).astype(np.float32)
        return ms.Tensor(x), ms.Tensor((np.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3]).astype(np.float32))

    train = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, net.trainable_params())
    held_out = draw(64)
    losses = []
    for _ in range(steps):
        net.set_train()
        _, gradients = train(*draw(16))
        accumulator.add(gradients)
        net.set_train(False)
        losses.append(float(loss_fn(net(held_out[0]), held_out[1]).asnumpy()))
    return losses


@healthy("Transformer with warm-up", steps=100)
def transformer_with_warm_up_from_zero(steps: int) -> list[float]:
    # The first step has learning rate 0 and changes nothing.
    class Warmup(nn.LearningRateSchedule):
        def __init__(self, peak: float, warmup: int) -> None:
            super().__init__()
            self.peak, self.warmup = peak, warmup

        def construct(self, global_step: Any) -> Any:
            step = global_step.astype(ms.float32)
            return self.peak * ops.minimum(step / self.warmup, ops.sqrt(self.warmup / (step + 1e-6)))

    class Block(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.query = nn.Dense(width, width, has_bias=False)
            self.key = nn.Dense(width, width, has_bias=False)
            self.value = nn.Dense(width, width, has_bias=False)
            self.project = nn.Dense(width, width)
            self.norm1 = nn.LayerNorm((width,))
            self.norm2 = nn.LayerNorm((width,))
            self.mlp = nn.SequentialCell(nn.Dense(width, 2 * width), nn.GELU(), nn.Dense(2 * width, width))
            self.scale = width**-0.5

        def construct(self, x: Any) -> Any:
            scores = ops.matmul(self.query(x), self.key(x).swapaxes(1, 2)) * self.scale
            mixed = ops.matmul(ops.softmax(scores, -1), self.value(x))
            x = self.norm1(x + self.project(mixed))
            return self.norm2(x + self.mlp(x))

    class Tagger(nn.Cell):
        def __init__(self, words: int, length: int, width: int) -> None:
            super().__init__()
            self.words = nn.Embedding(words, width, embedding_table=Normal(0.5))
            self.positions = ms.Parameter(ops.randn((length, width)) * 0.5, name="positions")
            self.block = Block(width)
            self.tags = nn.Dense(width, words)

        def construct(self, tokens: Any) -> Any:
            return self.tags(self.block(self.words(tokens) + self.positions))

    rng = np.random.default_rng(12)
    net = Tagger(8, 6, 24)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), learning_rate=Warmup(0.01, 12), weight_decay=0.01)

    def loss_fn(tokens: Any, tags: Any) -> Any:
        return ops.cross_entropy(net(tokens).reshape(-1, 8), tags.reshape(-1))

    train = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        tokens = rng.integers(0, 8, (24, 6)).astype(np.int32)
        loss, gradients = train(ms.Tensor(tokens), ms.Tensor(np.roll(tokens, 1, 1)))  # each place tags its neighbor
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("projected gradients", steps=80)
def convex_network_with_projected_weights(steps: int) -> list[float]:
    # An input-convex network: after each step negative weights of the convex path are set to 0, and many stay there.
    # Targets have outliers, so gradients are clipped.
    class ConvexNetwork(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.from_input = nn.CellList([nn.Dense(3, 24), nn.Dense(3, 24), nn.Dense(3, 1)])
            self.convex = nn.CellList([nn.Dense(24, 24, has_bias=False), nn.Dense(24, 1, has_bias=False)])

        def construct(self, x: Any) -> Any:
            z = ops.softplus(self.from_input[0](x))
            z = ops.softplus(self.convex[0](z) + self.from_input[1](x))
            return self.convex[1](z) + self.from_input[2](x)

        def project(self) -> None:
            for layer in self.convex:
                layer.weight.set_data(ops.relu(layer.weight))

    rng = np.random.default_rng(15)
    net = ConvexNetwork()
    net.project()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)
    huber = nn.HuberLoss(delta=1.0)
    train = ms.value_and_grad(lambda x, y: huber(net(x), y), None, net.trainable_params())
    mix = rng.normal(0, 0.7, (3, 3))

    def target(x: Any) -> Any:
        return (np.abs(x @ mix).sum(1, keepdims=True) + 0.3 * x[:, :1]).astype(np.float32)

    test = rng.normal(0, 1, (64, 3)).astype(np.float32)
    losses = []
    for _ in range(steps):
        x = rng.normal(0, 1, (32, 3)).astype(np.float32)
        y = target(x) + rng.standard_t(2, (32, 1)).astype(np.float32) * 0.1
        _, gradients = train(ms.Tensor(x), ms.Tensor(y))
        optimizer(ops.clip_by_global_norm(gradients, 1.0))
        net.project()
        losses.append(float(ops.mse_loss(net(ms.Tensor(test)), ms.Tensor(target(test))).asnumpy()))
    return losses


@healthy("multi-task learning", steps=100)
def tasks_whose_losses_differ_in_size(steps: int) -> list[float]:
    # Prices of hundreds, rates of hundredths and a class: learned log-variances weigh the losses. The measure is the
    # mean of the losses, each relative to its first.
    class Tasks(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.shared = nn.Dense(6, 32, activation="tanh")
            self.price = nn.Dense(32, 1)
            self.rate = nn.Dense(32, 1)
            self.kind = nn.Dense(32, 3)
            first = np.log(np.array([3e3, 1e-3, 1.0], np.float32))
            self.log_var = ms.Parameter(ms.Tensor(first), name="log_var")

        def losses(self, x: Any, price: Any, rate: Any, kind: Any) -> Any:
            shared = self.shared(x)
            return ops.stack(
                (
                    ops.mse_loss(100.0 * self.price(shared), price),
                    ops.mse_loss(0.01 * self.rate(shared), rate),
                    ops.cross_entropy(self.kind(shared), kind),
                )
            )

        def construct(self, *batch: Any) -> Any:
            losses = self.losses(*batch)
            return (ops.exp(-self.log_var) * losses + self.log_var).sum(), losses

    rng = np.random.default_rng(18)
    mix = rng.normal(0, 0.5, (6, 5))
    net = Tasks()
    layers = [weight for weight in net.trainable_params() if weight is not net.log_var]
    groups = [{"params": layers}, {"params": [net.log_var], "lr": 0.02}]
    optimizer = nn.Adam(groups, learning_rate=0.01)
    train = ms.value_and_grad(net, None, optimizer.parameters, has_aux=True)
    history: list[Any] = []
    for _ in range(steps):
        x = rng.normal(0, 1, (32, 6)).astype(np.float32)
        hidden = np.tanh(x @ mix)
        price = 60 * hidden[:, :1] + rng.normal(0, 5, (32, 1))
        rate = 0.03 * hidden[:, 1:2] + rng.normal(0, 0.003, (32, 1))
        kind = hidden[:, 2:].argmax(1)
        floats = [ms.Tensor(values.astype(np.float32)) for values in (x, price, rate)]
        (_, losses), gradients = train(*floats, ms.Tensor(kind.astype(np.int32)))
        optimizer(gradients)
        history.append(losses.asnumpy())
    return [float((losses / history[0]).mean()) for losses in history]


@healthy("MAML", steps=60)
def maml_on_sine_waves(steps: int) -> list[float]:
    # The gradient goes through an inner gradient step; the measure is the mean loss after it over some tasks.
    class Regressor(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w1 = ms.Parameter(ops.randn((1, 32)), name="w1")
            self.b1 = ms.Parameter(ops.randn((32,)), name="b1")
            self.w2 = ms.Parameter(ops.randn((32, 32)) * 0.18, name="w2")
            self.b2 = ms.Parameter(ops.zeros((32,), ms.float32), name="b2")
            self.w3 = ms.Parameter(ops.randn((32, 1)) * 0.18, name="w3")

        def construct(self, x: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any) -> Any:
            return ops.matmul(ops.tanh(ops.matmul(ops.tanh(ops.matmul(x, w1) + b1), w2) + b2), w3)

    rng = np.random.default_rng(23)
    net = Regressor()
    weights = [net.w1, net.b1, net.w2, net.b2, net.w3]
    optimizer = nn.Adam(weights, learning_rate=5e-3)

    def task_loss(x: Any, y: Any, *fast: Any) -> Any:
        return ops.mse_loss(net(x, *fast), y)

    inner = ms.grad(task_loss, (2, 3, 4, 5, 6))

    def outer(support_x: Any, support_y: Any, query_x: Any, query_y: Any) -> Any:
        total: Any = 0.0
        for task in range(support_x.shape[0]):
            gradients = inner(support_x[task], support_y[task], *weights)
            fast = [weight - 0.05 * gradient for weight, gradient in zip(weights, gradients, strict=True)]
            total = total + task_loss(query_x[task], query_y[task], *fast)
        return total / support_x.shape[0]

    meta_step = ms.value_and_grad(outer, None, weights)

    def tasks(count: int) -> Any:
        x = rng.uniform(-2, 2, (count, 20, 1)).astype(np.float32)
        y = (rng.uniform(0.5, 2, (count, 1, 1)) * np.sin(1.5 * x + rng.choice([0, np.pi], (count, 1, 1)))).astype(
            np.float32
        )
        return ms.Tensor(x[:, :10]), ms.Tensor(y[:, :10]), ms.Tensor(x[:, 10:]), ms.Tensor(y[:, 10:])

    losses = []
    for _ in range(steps):
        loss, gradients = meta_step(*tasks(4))
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("biases without gradients", steps=60)
def biases_that_normalization_removes(steps: int) -> list[float]:
    # The convolutions' biases are subtracted again by the normalization, the keys' bias cancels in the softmax.
    class Patches(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 8, 3, has_bias=True, weight_init="HeNormal")
            self.bn1 = nn.BatchNorm2d(8)
            self.conv2 = nn.Conv2d(8, 12, 3, stride=2, has_bias=True, weight_init="HeNormal")
            self.bn2 = nn.BatchNorm2d(12)
            self.query = ms.Parameter(ops.randn((12,)) * 0.3, name="query")
            self.key = nn.Dense(12, 12)
            self.classifier = nn.Dense(12, 3)

        def construct(self, image: Any) -> Any:
            x = ops.relu(self.bn1(self.conv1(image)))
            x = ops.relu(self.bn2(self.conv2(x)))
            places = x.reshape(x.shape[0], 12, -1).swapaxes(1, 2)
            attention = ops.softmax(ops.matmul(self.key(places), self.query), 1)
            return self.classifier((places * attention.expand_dims(2)).sum(1))

    rng = np.random.default_rng(25)
    net = Patches()
    with_loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    train_step = nn.TrainOneStepCell(with_loss, nn.Momentum(net.trainable_params(), 0.05, 0.9))
    train_step.set_train()
    stripes = np.zeros((3, 8, 8))
    stripes[0, ::2] = 1
    stripes[1, :, ::2] = 1
    stripes[2] = np.indices((8, 8)).sum(0) % 2
    losses = []
    for _ in range(steps):
        label = rng.integers(0, 3, 16)
        image = stripes[label] + rng.normal(0, 1.0, (16, 8, 8))
        loss = train_step(ms.Tensor(image[:, None].astype(np.float32)), ms.Tensor(label.astype(np.int32)))
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("recommendation", steps=100)
def recommender_with_rarely_used_rows(steps: int) -> list[float]:
    # A batch of 48 ratings touches a fraction of the rows of tables of 300 and 200; popular items come up most often.
    class Factors(nn.Cell):
        def __init__(self, users: int, items: int, width: int) -> None:
            super().__init__()
            self.users = nn.Embedding(users, width, embedding_table=Normal(0.3))
            self.items = nn.Embedding(items, width, embedding_table=Normal(0.3))
            self.item_bias = nn.Embedding(items, 1, embedding_table="zeros")
            self.offset = ms.Parameter(ms.Tensor([3.5], ms.float32), name="offset")

        def construct(self, user: Any, item: Any) -> Any:
            return (self.users(user) * self.items(item)).sum(-1) + self.item_bias(item).squeeze(-1) + self.offset

    rng = np.random.default_rng(28)
    tastes, traits = rng.normal(0, 1, (300, 2)), rng.normal(0, 1, (200, 2))
    popular = rng.normal(0, 0.7, 200)
    frequency = 1 / np.arange(1, 201)
    net = Factors(300, 200, 6)
    optimizer = nn.LazyAdam(net.trainable_params(), learning_rate=0.05)
    grad_op = ops.GradOperation(get_by_list=True)

    class Ratings(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.net = net

        def construct(self, user: Any, item: Any, rating: Any) -> Any:
            return ops.mse_loss(self.net(user, item), rating)

    ratings = Ratings()
    gradient = grad_op(ratings, optimizer.parameters)
    losses = []
    for _ in range(steps):
        user = rng.integers(0, 300, 48)
        item = rng.choice(200, 48, p=frequency / frequency.sum())
        rating = 3.5 + popular[item] + (tastes[user] * traits[item]).sum(1) * 0.3 + rng.normal(0, 0.2, 48)
        batch = (
            ms.Tensor(user.astype(np.int32)),
            ms.Tensor(item.astype(np.int32)),
            ms.Tensor(rating.astype(np.float32)),
        )
        losses.append(float(ratings(*batch).asnumpy()))
        optimizer(gradient(*batch))
    return losses


@healthy("truncated backpropagation", steps=80)
def character_model_with_carried_state(steps: int) -> list[float]:
    class CharacterModel(nn.Cell):
        def __init__(self, letters: int, hidden: int) -> None:
            super().__init__()
            self.embed = nn.Embedding(letters, 12, embedding_table="XavierUniform")
            self.lstm = nn.LSTMCell(12, hidden)
            self.decode = nn.Dense(hidden, letters)

        def construct(self, window: Any, h: Any, c: Any) -> Any:
            logits = []
            for t in range(window.shape[1]):
                h, c = self.lstm(self.embed(window[:, t]), (h, c))
                logits.append(self.decode(h))
            return ops.stack(logits, 1), h, c

    rng = np.random.default_rng(30)
    sentences = [
        "the cat sat on the mat. ",
        "a rat ran to the hat. ",
        "ten men met the hen. ",
        "the den is in the fen. ",
    ]
    text = "".join(sentences[i] for i in rng.integers(0, 4, 60))
    letters = sorted(set(text))
    codes = np.array([letters.index(letter) for letter in text], np.int32)
    streams, window, hidden = 8, 6, 32
    starts = np.arange(streams) * (len(codes) // streams)
    net = CharacterModel(len(letters), hidden)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    criterion = nn.CrossEntropyLoss()

    def forward(inputs: Any, targets: Any, h: Any, c: Any) -> Any:
        logits, h, c = net(inputs, h, c)
        return criterion(logits.reshape(-1, len(letters)), targets.reshape(-1)), h, c

    train = ms.value_and_grad(forward, None, net.trainable_params(), has_aux=True)
    h = c = ops.zeros((streams, hidden), ms.float32)
    losses = []
    for step in range(steps):
        places = (starts[:, None] + step * window + np.arange(window + 1)) % len(codes)
        chunk = codes[places]
        (loss, h, c), gradients = train(ms.Tensor(chunk[:, :-1]), ms.Tensor(chunk[:, 1:]), h, c)
        h, c = ops.stop_gradient(h), ops.stop_gradient(c)  # the state goes on, its history does not
        optimizer(ops.clip_by_global_norm(gradients, 1.0))
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("physics-informed network", steps=100)
def pinn_of_a_damped_oscillator(steps: int) -> list[float]:
    # The measure is the mean squared distance from the exact solution, of which the training knows the start alone.
    class Displacement(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layer1 = nn.Dense(1, 24, weight_init="XavierNormal", activation="tanh")
            self.layer2 = nn.Dense(24, 24, weight_init="XavierNormal", activation="tanh")
            self.out = nn.Dense(24, 1, weight_init="XavierNormal")

        def construct(self, t: Any) -> Any:
            return 1.0 + t * t * self.out(self.layer2(self.layer1(t)))  # u(0) = 1 and u'(0) = 0 by construction

    rng = np.random.default_rng(35)
    net = Displacement()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=nn.ExponentialDecayLR(0.01, 0.5, 400))
    damping, stiffness = 0.4, 4.0
    velocity = ms.grad(net)
    acceleration = ms.grad(lambda t: velocity(t))

    def residual(t: Any) -> Any:
        return ops.square(acceleration(t) + damping * velocity(t) + stiffness * net(t)).mean()

    train = ms.value_and_grad(residual, None, net.trainable_params())
    grid = np.linspace(0, 2, 41, dtype=np.float32)[:, None]
    omega = np.sqrt(stiffness - damping**2 / 4)
    exact = np.exp(-damping / 2 * grid) * (np.cos(omega * grid) + damping / 2 / omega * np.sin(omega * grid))
    measures = []
    for _ in range(steps):
        _, gradients = train(ms.Tensor(rng.uniform(0, 2, (32, 1)).astype(np.float32)))
        optimizer(gradients)
        measures.append(float(((net(ms.Tensor(grid)).asnumpy() - exact) ** 2).mean()))
    return measures


@healthy("teacher forcing", steps=80)
def translation_with_teacher_forcing(steps: int) -> list[float]:
    # Trained on true prefixes; every tenth step it runs freely and samples, in evaluation mode.
    class Translator(nn.Cell):
        def __init__(self, words: int, width: int) -> None:
            super().__init__()
            self.words = words
            self.source = nn.Embedding(words, width)
            self.target = nn.Embedding(words + 1, width)
            self.encoder = nn.GRUCell(width, 32)
            self.decoder = nn.GRUCell(width, 32)
            self.dropout = nn.Dropout(p=0.1)
            self.vocabulary = nn.Dense(32, words)

        def encode(self, sentence: Any) -> Any:
            state = ops.zeros((sentence.shape[0], 32), ms.float32)
            for t in range(sentence.shape[1]):
                state = self.encoder(self.source(sentence[:, t]), state)
            return state

        def decode_step(self, word: Any, state: Any) -> Any:
            state = self.decoder(self.target(word), state)
            return self.vocabulary(self.dropout(state)), state

        def loss(self, sentence: Any, translation: Any) -> Any:
            state, total = self.encode(sentence), []
            word = ops.full((sentence.shape[0],), self.words, dtype=ms.int32)
            for t in range(translation.shape[1]):
                logits, state = self.decode_step(word, state)
                word = translation[:, t]
                total.append(ops.cross_entropy(logits, word))
            return ops.stack(total).mean()

        def sample(self, sentence: Any, length: int) -> Any:
            state, words = self.encode(sentence), []
            word = ops.full((sentence.shape[0],), self.words, dtype=ms.int32)
            for _ in range(length):
                logits, state = self.decode_step(word, state)
                word = ops.multinomial(ops.softmax(logits / 0.5, -1), 1).squeeze(1).astype(ms.int32)
                words.append(word.asnumpy())
            return np.stack(words, 1)

    rng = np.random.default_rng(37)
    dictionary = rng.permutation(8)

    def draw(size: int) -> Any:
        sentence = rng.integers(0, 8, (size, 3))
        return sentence.astype(np.int32), dictionary[sentence[:, ::-1]].astype(np.int32)

    net = Translator(8, 16)
    optimizer = optim.AdamW(net.trainable_params(), lr=0.02)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=60, gamma=0.7)
    train = ms.value_and_grad(net.loss, None, net.trainable_params())
    losses, accuracies = [], []
    for step in range(steps):
        net.set_train()
        sentence, translation = draw(32)
        loss, gradients = train(ms.Tensor(sentence), ms.Tensor(translation))
        optimizer(gradients)
        scheduler.step()
        losses.append(float(loss.asnumpy()))
        if step % 10 == 9:
            net.set_train(False)
            sentence, translation = draw(16)
            accuracies.append(float((net.sample(ms.Tensor(sentence), 3) == translation).mean()))
    return losses


@healthy("sharpness-aware minimization", steps=80)
def sharpness_aware_minimization(steps: int) -> list[float]:
    # Two gradients a step: the first moves the weights uphill, the second is taken there and applied from before.
    rng = np.random.default_rng(43)
    net = nn.SequentialCell(
        nn.Dense(5, 32, weight_init="HeUniform"),
        nn.ReLU(),
        nn.Dense(32, 32, weight_init="HeUniform"),
        nn.ReLU(),
        nn.Dense(32, 2),
    )
    weights = net.trainable_params()
    optimizer = nn.SGD(weights, learning_rate=0.1, momentum=0.9, weight_decay=1e-4)
    train = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y, label_smoothing=0.05), None, weights)
    direction = rng.normal(0, 1, (5, 5))
    losses = []
    for _ in range(steps):
        x = rng.normal(0, 1, (32, 5)).astype(np.float32)
        label = ms.Tensor(((x @ direction * x).sum(1) > 0).astype(np.int32))
        loss, gradients = train(ms.Tensor(x), label)
        norm = ops.sqrt(ops.stack([ops.square(gradient).sum() for gradient in gradients]).sum()) + 1e-12
        before = [weight.value().copy() for weight in weights]
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.set_data(weight + 0.05 * gradient / norm)
        _, gradients = train(ms.Tensor(x), label)
        for weight, value in zip(weights, before, strict=True):
            weight.set_data(value)
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("forward-forward algorithm", steps=80)
def forward_forward_layers_with_local_losses(steps: int) -> list[float]:
    # No gradient passes between layers: each tells real pairs of image and label from wrong ones by its own loss.
    # The measure is the share of wrongly classified test data: the label with the most goodness is the answer.
    class LocalLayer(nn.Cell):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.dense = nn.Dense(inputs, outputs, weight_init="HeUniform")
            self.threshold = 1.0

        def construct(self, x: Any) -> Any:
            x = x / (ops.norm(x, dim=1, keepdim=True) + 1e-4) * x.shape[1] ** 0.5
            return ops.leaky_relu(self.dense(x), 0.01)

        def local_loss(self, positive: Any, negative: Any) -> Any:
            good = ops.square(self(positive)).mean(1) - self.threshold
            bad = ops.square(self(negative)).mean(1) - self.threshold
            return (ops.softplus(-4 * good) + ops.softplus(4 * bad)).mean()

    rng = np.random.default_rng(45)
    layers = [LocalLayer(15, 32), LocalLayer(32, 32)]
    optimizers = [nn.Adam(layer.dense.trainable_params(), learning_rate=0.01) for layer in layers]
    steppers = [ms.value_and_grad(layer.local_loss, None, layer.dense.trainable_params()) for layer in layers]
    centers = rng.normal(0, 1, (3, 12))

    def draw(size: int) -> Any:
        label = rng.integers(0, 3, size)
        return (centers[label] + rng.normal(0, 1, (size, 12))).astype(np.float32), label

    def paired(x: Any, label: Any) -> Any:
        return ms.Tensor(np.concatenate([x, 2 * np.eye(3)[label]], 1).astype(np.float32))

    test_x, test_label = draw(64)
    measures = []
    for _ in range(steps):
        x, label = draw(32)
        positive, negative = paired(x, label), paired(x, (label + rng.integers(1, 3, 32)) % 3)
        for layer, stepper, optimizer in zip(layers, steppers, optimizers, strict=True):
            _, gradients = stepper(positive, negative)
            optimizer(gradients)
            positive, negative = ops.stop_gradient(layer(positive)), ops.stop_gradient(layer(negative))
        goodness = []
        for guess in range(3):
            state, total = paired(test_x, np.full(64, guess)), np.zeros(64)
            for layer in layers:
                state = layer(state)
                total += ops.square(state).mean(1).asnumpy()
            goodness.append(total)
        measures.append(float((np.argmax(goodness, 0) != test_label).mean()))
    return measures


@healthy("pruning", steps=100)
def pruning_by_magnitude_with_masks(steps: int) -> list[float]:
    # Every 15 steps the smallest weights are set to 0 for good, until a fifth is left; the loss rises and recovers.
    rng = np.random.default_rng(47)
    net = nn.SequentialCell(nn.Dense(16, 40), nn.Tanh(), nn.Dense(40, 40), nn.Tanh(), nn.Dense(40, 1))
    pruned = [weight for weight in net.trainable_params() if weight.ndim == 2 and weight.shape[0] > 1]
    masks = {weight.name: ops.ones_like(weight) for weight in pruned}

    def masked(name: str) -> Any:
        return lambda gradient: gradient * masks[name]

    for weight in pruned:
        weight.register_hook(masked(weight.name))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    loss_fn = nn.MSELoss()
    train = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, net.trainable_params())
    density = 1.0
    losses = []
    for step in range(steps):
        x = rng.normal(0, 1, (48, 16)).astype(np.float32)
        y = np.tanh(x[:, :1] - x[:, 1:2]) + 0.5 * x[:, 2:3]
        loss, gradients = train(ms.Tensor(x), ms.Tensor(y.astype(np.float32)))
        optimizer(gradients)
        if step % 15 == 14 and density > 0.2:
            density *= 0.7
            for weight in pruned:
                size = np.abs(weight.asnumpy())
                masks[weight.name] = ms.Tensor((size >= np.quantile(size, 1 - density)).astype(np.float32))
        for weight in pruned:
            weight.set_data(weight * masks[weight.name])
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("deep equilibrium network", steps=80)
def equilibrium_with_the_gradient_of_one_step(steps: int) -> list[float]:
    # The state is iterated to a fixed point outside the gradient; one more application at the point carries it. The
    # recurrent weight is scaled so that the iteration contracts.
    class Equilibrium(nn.Cell):
        def __init__(self, inputs: int, width: int) -> None:
            super().__init__()
            self.inject = mint.nn.Linear(inputs, width)
            self.recurrent = ms.Parameter(ops.randn((width, width)) * 0.05, name="recurrent")
            self.readout = mint.nn.Linear(width, 1)

        def apply_once(self, state: Any, injected: Any) -> Any:
            size = ops.sqrt(ops.square(self.recurrent).sum())
            weight = self.recurrent * (0.95 / ops.maximum(size, ms.Tensor(0.95)))
            return mint.tanh(mint.matmul(state, weight) + injected)

        def solve(self, injected: Any) -> Any:
            state = ops.zeros_like(injected)
            for _ in range(30):
                following = self.apply_once(state, injected)
                change = float(np.abs((following - state).asnumpy()).max())
                state = following
                if change < 1e-4:
                    break
            return state

        def construct(self, x: Any) -> Any:
            injected = self.inject(x)
            point = ops.stop_gradient(self.solve(ops.stop_gradient(injected)))
            return self.readout(self.apply_once(point, injected))

    rng = np.random.default_rng(49)
    net = Equilibrium(3, 24)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02, use_amsgrad=True)
    train = ms.value_and_grad(lambda x, y: mint.nn.functional.mse_loss(net(x), y), None, net.trainable_params())
    losses = []
    for _ in range(steps):
        x = rng.uniform(-1.5, 1.5, (32, 3)).astype(np.float32)
        y = np.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]
        loss, gradients = train(ms.Tensor(x), ms.Tensor(y.astype(np.float32)))
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses
