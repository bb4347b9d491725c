"""Healthy programs of further kinds: capsules, slots, spectral bounds, schedules, memories of weights, bandits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

from .script import healthy


def _float(array: Any) -> Tensor:
    return Tensor(np.asarray(array, np.float32))


def _int(array: Any) -> Tensor:
    return Tensor(np.asarray(array, np.int32))


@healthy("capsules with routing", steps=100)
def capsule_routing(steps: int) -> list[float]:
    rng = np.random.default_rng(1)
    glyphs = np.array(
        [[[1, 1, 1], [1, 0, 1], [1, 1, 1]], [[0, 1, 0], [1, 1, 1], [0, 1, 0]], [[1, 0, 1], [0, 1, 0], [1, 0, 1]]]
    )

    def batch(count: int) -> Any:
        y = rng.integers(0, 3, size=count)
        x = 0.2 * rng.normal(size=(count, 1, 7, 7))
        for n in range(count):
            r, c = rng.integers(0, 5, size=2)
            x[n, 0, r : r + 3, c : c + 3] += glyphs[y[n]]
        return _float(x), _int(y)

    def squash(s: Tensor) -> Any:
        squared = ops.square(s).sum(axis=-1, keepdims=True)
        return s * ops.sqrt(squared + 1e-8) / (1 + squared)

    class CapsuleNet(nn.Cell):
        def __init__(self, width: int = 4, classes: int = 3, out: int = 6) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 24, 3, pad_mode="valid", has_bias=True)
            self.primary = nn.Conv2d(24, 4 * width, 3, stride=2, pad_mode="valid", has_bias=True)
            self.width, self.classes, self.out = width, classes, out
            self.votes = Parameter(_float(rng.normal(size=(16, classes, width, out))), name="votes")

        def construct(self, x: Tensor) -> Any:
            h = self.primary(ops.relu(self.conv(x)))
            u = squash(h.reshape(x.shape[0], 4, self.width, -1).permute(0, 1, 3, 2).reshape(x.shape[0], -1, self.width))
            votes = (u.reshape(x.shape[0], 16, 1, self.width, 1) * self.votes).sum(axis=3)
            fixed = ops.stop_gradient(votes)
            agreement = ops.zeros(votes.shape[:3], ms.float32)
            for _ in range(2):
                c = ops.softmax(agreement, axis=2).expand_dims(-1)
                v = squash((c * fixed).sum(axis=1, keepdims=True))
                agreement = agreement + (v * fixed).sum(axis=-1)
            c = ops.softmax(agreement, axis=2).expand_dims(-1)
            return squash((c * votes).sum(axis=1))

    net = CapsuleNet()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)

    def margin_loss(x: Tensor, y: Tensor) -> Any:
        length = ops.sqrt(ops.square(net(x)).sum(axis=-1) + 1e-8)
        truth = ops.one_hot(y, 3)
        present = truth * ops.square(ops.relu(0.9 - length))
        absent = 0.5 * (1 - truth) * ops.square(ops.relu(length - 0.1))
        return (present + absent).sum(axis=1).mean()

    grad_fn = ms.value_and_grad(margin_loss, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*batch(32))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("quantile regression", steps=100)
def quantile_prices(steps: int) -> list[float]:
    rng = np.random.default_rng(2)
    levels = _float([0.1, 0.5, 0.9])

    def houses(count: int) -> Any:
        area, age = rng.uniform(30, 200, size=count), rng.uniform(0, 60, size=count)
        price = 4000 * area - 2500 * age + 60000 + area * 400 * rng.normal(size=count)
        return _float(np.stack([area, age], axis=1)), _float(price[:, None])

    x, y = houses(512)

    class Quantiles(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.mean_x, self.std_x = x.mean(axis=0), x.std(axis=0)
            self.mean_y, self.std_y = y.mean(), y.std()
            self.body = nn.SequentialCell(nn.Dense(2, width), nn.ReLU(), nn.Dense(width, width), nn.ReLU())
            self.middle = nn.Dense(width, 1)
            self.spread = nn.Dense(width, 2, weight_init="zeros", bias_init="zeros")

        def construct(self, features: Tensor) -> Any:
            h = self.body((features - self.mean_x) / self.std_x)
            middle, gaps = self.middle(h), ops.softplus(self.spread(h))
            quantiles = ops.cat([middle - gaps[:, :1], middle, middle + gaps[:, 1:]], axis=1)
            return quantiles * self.std_y + self.mean_y

    net = Quantiles(32)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=5e-3)

    def pinball(features: Tensor, price: Tensor) -> Any:
        error = price - net(features)
        return ops.maximum(levels * error, (levels - 1) * error).mean()

    grad_fn = ms.value_and_grad(pinball, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        pick = _int(rng.integers(0, 512, size=128))
        loss, grads = grad_fn(x[pick], y[pick])
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("triplet mining", steps=100)
def triplet_hard_mining(steps: int) -> list[float]:
    rng = np.random.default_rng(3)
    people, shots, dim = 8, 4, 12
    faces = rng.normal(size=(people, dim))
    nuisance = 2.0 * rng.normal(size=(3, dim))

    def album() -> Any:
        who = np.repeat(np.arange(people), shots)
        x = faces[who] + rng.normal(size=(len(who), 3)) @ nuisance + 0.2 * rng.normal(size=(len(who), dim))
        return _float(x), _int(who)

    class Embedder(nn.Cell):
        def __init__(self, width: int, size: int) -> None:
            super().__init__()
            self.fc1 = nn.Dense(dim, width)
            self.fc2 = nn.Dense(width, size)

        def construct(self, x: Tensor) -> Any:
            e = self.fc2(ops.relu(self.fc1(x)))
            return e / ops.sqrt(ops.square(e).sum(axis=1, keepdims=True) + 1e-8)

    net = Embedder(48, 8)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=5e-3)

    def mining_loss(x: Tensor, who: Tensor) -> Any:
        e = net(x)
        distance = ops.sqrt(ops.relu(2 - 2 * ops.matmul(e, e.T)) + 1e-6)
        same = who.expand_dims(0) == who.expand_dims(1)
        hardest_same = ops.where(same, distance, ops.zeros_like(distance)).max(axis=1)
        hardest_other = ops.where(same, ops.full_like(distance, 10.0), distance).min(axis=1)
        return ops.relu(0.3 + hardest_same - hardest_other).mean()

    grad_fn = ms.value_and_grad(mining_loss, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*album())
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("mixup with label smoothing", steps=100)
def mixup_smoothing(steps: int) -> list[float]:
    rng = np.random.default_rng(4)
    classes, dim = 5, 10
    centres = 1.2 * rng.normal(size=(classes, 2, dim))

    def batch(count: int) -> Any:
        y = rng.integers(0, classes, size=count)
        x = centres[y, rng.integers(0, 2, size=count)] + 0.8 * rng.normal(size=(count, dim))
        return x.astype(np.float32), y

    net = nn.SequentialCell(
        nn.Dense(dim, 64), nn.ReLU(), nn.Dropout(p=0.1), nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, classes)
    )
    optimizer = nn.AdamWeightDecay(net.trainable_params(), learning_rate=5e-3, weight_decay=1e-3)

    def loss_fn(x: Tensor, soft: Tensor) -> Any:
        return -(soft * ops.log_softmax(net(x), axis=1)).sum(axis=1).mean()

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    test_x, test_y = batch(256)
    errors = []
    for _ in range(steps):
        net.set_train()
        x, y = batch(64)
        smooth = 0.9 * np.eye(classes)[y] + 0.1 / classes
        share, order = rng.beta(0.4, 0.4), rng.permutation(64)
        x, soft = share * x + (1 - share) * x[order], share * smooth + (1 - share) * smooth[order]
        _, grads = grad_fn(_float(x), _float(soft))
        optimizer(grads)
        net.set_train(False)
        errors.append(float((net(Tensor(test_x)).asnumpy().argmax(axis=1) != test_y).mean()))
    return errors


@healthy("slot attention", steps=120)
def slot_attention_points(steps: int) -> list[float]:
    rng = np.random.default_rng(5)
    slots, points = 3, 18

    def scenes(count: int) -> Any:
        centres = rng.uniform(-1, 1, size=(count, slots, 2))
        owner = np.repeat(np.arange(slots), points // slots)
        return _float(centres[:, owner] + 0.08 * rng.normal(size=(count, points, 2))), _float(centres)

    class SlotAttention(nn.Cell):
        def __init__(self, width: int, iterations: int = 3) -> None:
            super().__init__()
            self.embed = nn.SequentialCell(nn.Dense(2, width), nn.ReLU(), nn.Dense(width, width))
            self.start = Parameter(_float(rng.normal(size=(1, slots, width))), name="start")
            self.norm_inputs, self.norm_slots = nn.LayerNorm((width,)), nn.LayerNorm((width,))
            self.query = nn.Dense(width, width, has_bias=False)
            self.key = nn.Dense(width, width, has_bias=False)
            self.value = nn.Dense(width, width, has_bias=False)
            self.update = nn.GRUCell(width, width)
            self.centre = nn.Dense(width, 2)
            self.width, self.iterations = width, iterations

        def construct(self, x: Tensor) -> Any:
            inputs = self.norm_inputs(self.embed(x))
            key, value = self.key(inputs), self.value(inputs)
            state = ops.broadcast_to(self.start, (x.shape[0], slots, self.width))
            for _ in range(self.iterations):
                query = self.query(self.norm_slots(state))
                scores = ops.bmm(key, query.swapaxes(1, 2)) / math.sqrt(self.width)
                attention = ops.softmax(scores, axis=-1) + 1e-6  # the slots compete for each point
                attention = attention / attention.sum(axis=1, keepdims=True)
                gathered = ops.bmm(attention.swapaxes(1, 2), value)
                state = self.update(gathered.reshape(-1, self.width), state.reshape(-1, self.width))
                state = state.reshape(-1, slots, self.width)
            return self.centre(state)

    net = SlotAttention(32)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=4e-3)

    def chamfer(x: Tensor, centres: Tensor) -> Any:
        found = net(x)
        distance = ops.square(found.expand_dims(2) - centres.expand_dims(1)).sum(axis=-1)
        return distance.min(axis=1).mean() + distance.min(axis=2).mean()

    grad_fn = ms.value_and_grad(chamfer, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*scenes(32))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("Wasserstein distance by spectral normalization", steps=100)
def spectral_wasserstein(steps: int) -> list[float]:
    rng = np.random.default_rng(6)

    class SpectralDense(nn.Cell):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.weight = Parameter(_float(rng.normal(size=(outputs, inputs))), name="weight")
            self.bias = Parameter(ops.zeros((outputs,), ms.float32), name="bias")
            self.u = Parameter(_float(rng.normal(size=(outputs,))), name="u", requires_grad=False)

        def power_iteration(self) -> None:
            for _ in range(2):
                v = ops.matmul(self.weight.T, self.u)
                v = v / ops.norm(v)
                u = ops.matmul(self.weight, v)
                ops.assign(self.u, u / ops.norm(u))

        def construct(self, x: Tensor) -> Any:
            v = ops.stop_gradient(ops.matmul(self.weight.T, self.u))
            v = v / ops.norm(v)
            sigma = (self.u * ops.matmul(self.weight, v)).sum()
            return ops.matmul(x, (self.weight / sigma).T) + self.bias

    class Critic(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.fc1, self.fc2, self.fc3 = SpectralDense(2, width), SpectralDense(width, width), SpectralDense(width, 1)

        def group_sort(self, h: Tensor) -> Any:
            a, b = ops.chunk(h, 2, axis=1)
            return ops.cat([ops.maximum(a, b), ops.minimum(a, b)], axis=1)

        def construct(self, x: Tensor) -> Any:
            return self.fc3(self.group_sort(self.fc2(self.group_sort(self.fc1(x)))))

    critic = Critic(24)
    optimizer = nn.Adam(critic.trainable_params(), learning_rate=5e-3, beta1=0.5)

    def negative_distance(a: Tensor, b: Tensor) -> Any:
        return critic(b).mean() - critic(a).mean()

    grad_fn = ms.value_and_grad(negative_distance, None, optimizer.parameters)
    losses = []  # falls to minus the distance of the two clouds, 5
    for _ in range(steps):
        for layer in (critic.fc1, critic.fc2, critic.fc3):
            layer.power_iteration()
        a, b = rng.normal(size=(64, 2)), np.array([3.0, 4.0]) + rng.normal(size=(64, 2))
        loss, grads = grad_fn(_float(a), _float(b))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("Monte-Carlo dropout", steps=100)
def monte_carlo_dropout(steps: int) -> list[float]:
    rng = np.random.default_rng(7)
    x = np.concatenate([rng.uniform(-2, -0.5, size=80), rng.uniform(0.5, 2, size=80)])[:, None]
    y = np.sin(2 * x) + 0.3 * x + 0.05 * rng.normal(size=x.shape)
    inputs, targets = _float(x), _float(y)

    class Regressor(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.fc1, self.fc2, self.out = nn.Dense(1, width), nn.Dense(width, width), nn.Dense(width, 1)
            self.dropout = nn.Dropout(p=0.1)

        def construct(self, x: Tensor) -> Any:
            h = self.dropout(ops.tanh(self.fc1(x)))
            return self.out(self.dropout(ops.tanh(self.fc2(h))))

        def predict(self, x: Tensor, samples: int = 8) -> Any:
            self.set_train()  # dropout stays on: the spread of the samples is the uncertainty
            draws = ops.stack([self(x) for _ in range(samples)])
            return draws.mean(axis=0), draws.std(axis=0)

    net = Regressor(64)
    net.set_train()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=5e-3, weight_decay=1e-5)
    grad_fn = ms.value_and_grad(lambda a, b: ops.mse_loss(net(a), b), None, optimizer.parameters)
    errors = []
    for _ in range(steps):
        _, grads = grad_fn(inputs, targets)
        optimizer(grads)
        mean, _ = net.predict(inputs)
        errors.append(float(ops.square(mean - targets).mean()))
    return errors


@healthy("Bayesian last layer", steps=60)
def bayesian_last_layer(steps: int) -> list[float]:
    rng = np.random.default_rng(8)
    features = 64

    class RandomFeatures(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Dense(2, features)
            self.project.weight.set_data(_float(1.5 * rng.normal(size=(features, 2))))
            self.project.bias.set_data(_float(rng.uniform(0, 2 * math.pi, size=features)))
            for parameter in self.get_parameters():
                parameter.requires_grad = False

        def construct(self, x: Tensor) -> Any:
            return math.sqrt(2 / features) * ops.cos(self.project(x))

    class Posterior(nn.Cell):
        def __init__(self, body: nn.Cell, noise: float = 0.05) -> None:
            super().__init__()
            self.body = body
            self.mean = Parameter(ops.zeros((features, 1), ms.float32), name="mean", requires_grad=False)
            self.covariance = Parameter(_float(np.eye(features)), name="covariance", requires_grad=False)
            self.noise = noise

        def observe(self, x: Tensor, y: Tensor) -> None:
            phi = self.body(x)
            spread = ops.matmul(self.covariance, phi.T)
            total = ops.matmul(phi, spread) + self.noise * ops.eye(x.shape[0], x.shape[0], ms.float32)
            gain = ops.matmul(spread, ops.inverse(total))
            ops.assign_add(self.mean, ops.matmul(gain, y - ops.matmul(phi, self.mean)))
            ops.assign_sub(self.covariance, ops.matmul(gain, spread.T))

        def construct(self, x: Tensor) -> Any:
            phi = self.body(x)
            return ops.matmul(phi, self.mean), (ops.matmul(phi, self.covariance) * phi).sum(axis=1, keepdims=True)

    def batch(count: int) -> Any:
        x = rng.uniform(-1.5, 1.5, size=(count, 2))
        return _float(x), _float(np.sin(2 * x[:, :1]) * x[:, 1:] + 0.1 * rng.normal(size=(count, 1)))

    model = Posterior(RandomFeatures())
    test_x, test_y = batch(200)
    errors = []
    for _ in range(steps):
        model.observe(*batch(8))
        mean, _ = model(test_x)
        errors.append(float(ops.mse_loss(mean, test_y)))
    return errors


@healthy("stochastic weight averaging", steps=100)
def weight_averaging(steps: int) -> list[float]:
    rng = np.random.default_rng(9)

    def make() -> nn.Cell:
        return nn.SequentialCell(nn.Dense(4, 32), nn.Tanh(), nn.Dense(32, 1))

    net, average = make(), make()
    for parameter in average.get_parameters():
        parameter.requires_grad = False
    truth = rng.normal(size=(4, 3))

    def batch(count: int) -> Any:
        x = rng.normal(size=(count, 4))
        return _float(x), _float(np.tanh(x @ truth).sum(axis=1, keepdims=True) + 0.5 * rng.normal(size=(count, 1)))

    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    grad_fn = ms.value_and_grad(lambda x, y: ops.mse_loss(net(x), y), None, optimizer.parameters)
    test_x = rng.normal(size=(256, 4))
    test_y = _float(np.tanh(test_x @ truth).sum(axis=1, keepdims=True))
    count, errors = 0, []
    for step in range(steps):
        _, grads = grad_fn(*batch(8))
        optimizer(grads)
        if step < steps // 4:
            for kept, new in zip(average.get_parameters(), net.get_parameters(), strict=True):
                ops.assign(kept, new)
        else:
            count += 1
            for kept, new in zip(average.get_parameters(), net.get_parameters(), strict=True):
                ops.assign_add(kept, (new - kept) / (count + 1))
        errors.append(float(ops.mse_loss(average(_float(test_x)), test_y)))
    return errors


@healthy("snapshot ensemble", steps=120)
def snapshot_ensemble(steps: int) -> list[float]:
    rng = np.random.default_rng(10)
    cycle = 30

    def make() -> nn.Cell:
        return nn.SequentialCell(nn.Dense(2, 32), nn.ReLU(), nn.Dense(32, 32), nn.ReLU(), nn.Dense(32, 2))

    def moons(count: int) -> Any:
        y = rng.integers(0, 2, size=count)
        angle = rng.uniform(0, math.pi, size=count)
        x = np.stack([np.cos(angle) - 0.5, np.sin(angle) - 0.25], axis=1) * np.where(y, -1, 1)[:, None]
        return _float(2 * x + 0.2 * rng.normal(size=x.shape)), y.astype(np.int32)

    rates = [0.3 * 0.5 * (1 + math.cos(math.pi * (i % cycle) / cycle)) for i in range(steps)]
    net = make()
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=rates, momentum=0.9)
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)
    x, y = moons(400)
    test_x, test_y = moons(200)
    members: list[nn.Cell] = []
    errors = []
    for step in range(steps):
        pick = rng.integers(0, 400, size=100)
        _, grads = grad_fn(x[_int(pick)], _int(y[pick]))
        optimizer(grads)
        if (step + 1) % cycle == 0:
            member = make()
            for kept, new in zip(member.get_parameters(), net.get_parameters(), strict=True):
                kept.set_data(new.value().copy())
            members.append(member)
        votes = sum(ops.softmax(m(test_x), axis=1).asnumpy() for m in [net, *members])
        errors.append(float((votes.argmax(axis=1) != test_y).mean()))
    return errors


@healthy("gradual unfreezing", steps=100)
def unfreeze_layer_by_layer(steps: int) -> list[float]:
    rng = np.random.default_rng(11)
    source = rng.normal(size=(6, 4))
    target = source @ (np.eye(4) + 0.5 * rng.normal(size=(4, 4)))

    class Net(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.layer1 = nn.SequentialCell(nn.Dense(6, width), nn.Tanh())
            self.layer2 = nn.SequentialCell(nn.Dense(width, width), nn.Tanh())
            self.head = nn.Dense(width, 1)

        def construct(self, x: Tensor) -> Any:
            return self.head(self.layer2(self.layer1(x)))

    def batch(weights: Any, count: int = 64) -> Any:
        x = rng.normal(size=(count, 6))
        return _float(x), _float(np.sin(x @ weights * 0.3).sum(axis=1, keepdims=True))

    net = Net(48)

    def loss_fn(x: Tensor, y: Tensor) -> Any:
        return ops.mse_loss(net(x), y)

    def trainer(learning_rate: float) -> Any:
        optimizer = nn.Adam(net.trainable_params(), learning_rate=learning_rate)
        return optimizer, ms.value_and_grad(loss_fn, None, optimizer.parameters)

    optimizer, grad_fn = trainer(1e-2)
    for _ in range(40):
        _, grads = grad_fn(*batch(source))
        optimizer(grads)
    net.head = nn.Dense(48, 1, weight_init="zeros")
    for parameter in net.get_parameters():
        parameter.requires_grad = parameter.name.startswith("head")
    optimizer, grad_fn = trainer(1e-2)
    test = batch(target, 256)
    losses = []
    for step in range(steps):
        for start, layer in ((20, net.layer2), (40, net.layer1)):
            if step == start:
                for parameter in layer.get_parameters():
                    parameter.requires_grad = True
                optimizer, grad_fn = trainer(5e-3)
        _, grads = grad_fn(*batch(target))
        optimizer(grads)
        losses.append(float(loss_fn(*test)))
    return losses


@healthy("two learning rates", steps=80)
def discriminative_learning_rates(steps: int) -> list[float]:
    rng = np.random.default_rng(12)

    class Detector(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.backbone = nn.Conv1d(1, width, 9, pad_mode="same", has_bias=True)
            bank = np.stack([np.cos(np.arange(-4, 5) * w + p) for w in (0.3, 0.8, 1.5, 2.2) for p in (0, math.pi / 2)])
            self.backbone.weight.set_data(_float(bank.reshape(self.backbone.weight.shape) / 4))
            self.head = nn.SequentialCell(nn.Dense(width, 32), nn.ReLU(), nn.Dense(32, 3))

        def construct(self, x: Tensor) -> Any:
            return self.head(ops.square(self.backbone(x)).mean(axis=-1))

    def batch(count: int) -> Any:
        y = rng.integers(0, 3, size=count)
        phase = rng.uniform(0, 2 * math.pi, size=(count, 1))
        x = np.sin(np.array([0.3, 0.8, 1.5])[y, None] * np.arange(40) + phase) + 0.7 * rng.normal(size=(count, 40))
        return _float(x[:, None]), _int(y)

    net = Detector(8)
    groups = [
        {"params": net.backbone.trainable_params(), "lr": 1e-6, "weight_decay": 0.0},
        {"params": net.head.trainable_params(), "lr": 1e-2},
    ]
    optimizer = nn.Adam(groups, learning_rate=1e-2, weight_decay=1e-4)
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*batch(64))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("curriculum", steps=120)
def curriculum_running_parity(steps: int) -> list[float]:
    rng = np.random.default_rng(13)

    def batch(length: int, count: int = 64) -> Any:
        bits = rng.integers(0, 2, size=(count, length))
        return _float(bits[..., None] * 2 - 1), _int(np.cumsum(bits, axis=1) % 2)

    class Counter(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.cell = nn.GRUCell(1, width)
            self.head = nn.Dense(width, 2)
            self.width = width

        def construct(self, x: Tensor) -> Any:
            h = ops.zeros((x.shape[0], self.width), ms.float32)
            outputs = []
            for t in range(x.shape[1]):
                h = self.cell(x[:, t], h)
                outputs.append(self.head(h))
            return ops.stack(outputs, axis=1)

    net = Counter(24)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)

    def loss_fn(x: Tensor, y: Tensor) -> Any:
        return ops.cross_entropy(net(x).reshape(-1, 2), y.reshape(-1))

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    length = 1
    test_x, test_y = batch(8, 128)
    misses = []  # on sequences of full length
    for _ in range(steps):
        loss, grads = grad_fn(*batch(length))
        optimizer(grads)
        if float(loss) < 0.1 and length < 8:
            length += 1  # the loss rises as the task gets harder
        misses.append(float((net(test_x).asnumpy().argmax(axis=-1) != test_y.asnumpy()).mean()))
    return misses


@healthy("neural cellular automaton", steps=60)
def cellular_automaton(steps: int) -> list[float]:
    size, channels = 9, 8
    rows, columns = np.mgrid[:size, :size] - size // 2
    ring = ((np.hypot(rows, columns) > 1.5) & (np.hypot(rows, columns) < 3.5)).astype(np.float32)
    target = _float(ring)

    class Automaton(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            sobel = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / 8
            identity = np.zeros((3, 3))
            identity[1, 1] = 1
            bank = np.tile(np.stack([identity, sobel, sobel.T]), (channels, 1, 1))[:, None]
            self.perceive = nn.Conv2d(channels, 3 * channels, 3, group=channels, pad_mode="same")
            self.perceive.weight.set_data(_float(bank))
            self.perceive.weight.requires_grad = False
            self.hidden = nn.Conv2d(3 * channels, width, 1, has_bias=True)
            self.update = nn.Conv2d(width, channels, 1, weight_init="zeros", has_bias=False)

        def construct(self, grid: Tensor) -> Any:
            change = self.update(ops.relu(self.hidden(self.perceive(grid))))
            fires = (ops.rand(grid.shape[0], 1, size, size) < 0.7).astype(ms.float32)
            return grid + change * fires

    net = Automaton(32)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=4e-3)
    seed = np.zeros((4, channels, size, size), np.float32)
    seed[:, :, size // 2, size // 2] = 1.0

    def loss_fn(grid: Tensor) -> Any:
        for _ in range(10):
            grid = net(grid)
        return ops.square(grid[:, 0] - target).mean()

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(Tensor(seed))
        optimizer(tuple(g / (ops.norm(g) + 1e-8) for g in grads))
        losses.append(float(loss))
    return losses


@healthy("learned optimizer", steps=100)
def learned_optimizer(steps: int) -> list[float]:
    rng = np.random.default_rng(15)
    dim, unroll = 6, 10

    class UpdateRule(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.fc1 = nn.Dense(2, width)
            self.fc2 = nn.Dense(width, 1, weight_init="zeros")

        def construct(self, grad: Tensor, momentum: Tensor) -> Any:
            seen = ops.stack([grad, momentum], axis=-1)
            return self.fc2(ops.tanh(self.fc1(seen))).squeeze(-1)

    def problems(count: int) -> Any:
        basis = np.linalg.qr(rng.normal(size=(count, dim, dim)))[0]
        scales = rng.uniform(0.3, 2.0, size=(count, dim))
        matrix = np.einsum("nij,nj,nkj->nik", basis, scales, basis)
        return _float(matrix), _float(rng.normal(size=(count, dim)))

    rule = UpdateRule(20)
    meta = nn.Adam(rule.trainable_params(), learning_rate=1e-2)

    def meta_loss(matrix: Tensor, start: Tensor) -> Any:
        theta, momentum, total = start, ops.zeros_like(start), 0.0
        for _ in range(unroll):
            grad = ops.bmm(matrix, theta.expand_dims(-1)).squeeze(-1)
            seen = ops.stop_gradient(grad)  # no second derivatives
            momentum = 0.8 * momentum + 0.2 * seen
            theta = theta + rule(seen, momentum)
            total = total + 0.5 * (ops.bmm(matrix, theta.expand_dims(-1)).squeeze(-1) * theta).sum(axis=1).mean()
        return total / unroll

    grad_fn = ms.value_and_grad(meta_loss, None, meta.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*problems(32))
        meta(grads)
        losses.append(float(loss))
    return losses


@healthy("distributional dueling RL", steps=120)
def quantile_dueling_gridworld(steps: int) -> list[float]:
    rng = np.random.default_rng(16)
    cells, actions, quantiles, gamma = 6, 2, 8, 0.9

    class Dueling(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.body = nn.SequentialCell(nn.Dense(cells, width), nn.ReLU())
            self.value = nn.Dense(width, quantiles)
            self.advantage = nn.Dense(width, actions * quantiles)

        def construct(self, x: Tensor) -> Any:
            h = self.body(x)
            advantage = self.advantage(h).reshape(-1, actions, quantiles)
            return self.value(h).expand_dims(1) + advantage - advantage.mean(axis=1, keepdims=True)

    online, target = Dueling(32), Dueling(32)

    def copy_weights() -> None:
        for kept, new in zip(target.get_parameters(), online.get_parameters(), strict=True):
            ops.assign(kept, new)

    copy_weights()
    optimizer = nn.Adam(online.trainable_params(), learning_rate=1e-2)
    levels = _float((np.arange(quantiles) + 0.5) / quantiles).reshape(1, quantiles, 1)
    one_hot = np.eye(cells, dtype=np.float32)

    def transitions(count: int) -> Any:
        state, action = rng.integers(0, cells, size=count), rng.integers(0, actions, size=count)
        slipped = np.where(rng.random(count) < 0.1, 1 - action, action)
        following = np.clip(state + np.where(slipped == 1, 1, -1), 0, cells - 1)
        done = following == cells - 1
        return state, action, done * (1.0 + 0.2 * rng.normal(size=count)), following, done

    def loss_fn(state: Tensor, action: Tensor, wanted: Tensor) -> Any:
        chosen = (online(state) * ops.one_hot(action, actions).expand_dims(-1)).sum(axis=1)
        error = ops.stop_gradient(wanted).expand_dims(1) - chosen.expand_dims(2)
        size = ops.abs(error)
        huber = ops.where(size < 0.1, 5 * ops.square(error), size - 0.05)
        return (ops.abs(levels - (ops.stop_gradient(error) < 0).astype(ms.float32)) * huber).sum(axis=1).mean()

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    ideal = np.zeros(cells - 1)
    for _ in range(200):  # the optimal values, by iteration
        ahead = np.append(ideal[1:], 0) * gamma
        ahead[-1] = 1
        behind = gamma * ideal[np.maximum(np.arange(cells - 1) - 1, 0)]
        ideal = 0.9 * ahead + 0.1 * behind
    gaps = []
    for step in range(steps):
        state, action, reward, following, done = transitions(64)
        ahead = target(Tensor(one_hot[following])).asnumpy()
        best = ahead.mean(axis=2).argmax(axis=1)
        wanted = reward[:, None] + gamma * (1 - done[:, None]) * ahead[np.arange(64), best]
        _, grads = grad_fn(Tensor(one_hot[state]), _int(action), _float(wanted))
        optimizer(grads)
        if step % 5 == 4:
            copy_weights()
        values = online(Tensor(one_hot[:-1])).asnumpy().mean(axis=2).max(axis=1)
        gaps.append(float(np.abs(values - ideal).mean()))
    return gaps


@healthy("contextual bandit", steps=120)
def neural_bandit(steps: int) -> list[float]:
    rng = np.random.default_rng(17)
    arms, dim = 4, 5
    tastes = rng.normal(size=(dim, arms))

    class ArmHeads(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.body = nn.SequentialCell(nn.Dense(dim, width), nn.ReLU())
            self.heads = nn.CellList([nn.Dense(width, 1, weight_init="zeros") for _ in range(arms)])

        def construct(self, x: Tensor) -> Any:
            h = self.body(x)
            return ops.cat([head(h) for head in self.heads], axis=1)

    net = ArmHeads(32)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)

    def loss_fn(x: Tensor, arm: Tensor, reward: Tensor) -> Any:
        chosen = ops.gather_elements(net(x), 1, arm.expand_dims(1)).squeeze(1)
        return ops.square(chosen - reward).mean()

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    regrets = []
    for step in range(steps):
        x = rng.normal(size=(8, dim))
        expected = np.tanh(x @ tastes)
        greedy = net(_float(x)).asnumpy().argmax(axis=1)
        explore = rng.random(8) < max(0.05, 0.5 * 0.97**step)
        arm = np.where(explore, rng.integers(0, arms, size=8), greedy)
        row = np.arange(8)
        reward = expected[row, arm] + 0.1 * rng.normal(size=8)
        _, grads = grad_fn(_float(x), _int(arm), _float(reward))
        optimizer(grads)
        probe = rng.normal(size=(64, dim))
        value, pick = np.tanh(probe @ tastes), net(_float(probe)).asnumpy().argmax(axis=1)
        regrets.append(float((value.max(axis=1) - value[np.arange(64), pick]).mean()))
    return regrets


@healthy("personalized propagation on a graph", steps=60)
def graph_propagation(steps: int) -> list[float]:
    rng = np.random.default_rng(18)
    nodes, classes, dim = 90, 3, 8
    label = np.arange(nodes) % classes
    same = label[:, None] == label[None, :]
    edge = rng.random((nodes, nodes)) < np.where(same, 0.12, 0.015)
    edge = edge | edge.T | np.eye(nodes, dtype=bool)
    degree = edge.sum(axis=1)
    propagate = _float(edge / np.sqrt(degree[:, None] * degree[None, :]))
    x = _float(0.5 * np.eye(classes)[label] @ rng.normal(size=(classes, dim)) + rng.normal(size=(nodes, dim)))
    known = np.concatenate([np.flatnonzero(label == c)[:5] for c in range(classes)])
    hidden = np.setdiff1d(np.arange(nodes), known)

    class Propagation(nn.Cell):
        def __init__(self, width: int, count: int = 8, restart: float = 0.15) -> None:
            super().__init__()
            self.predict = nn.SequentialCell(
                nn.Dense(dim, width), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(width, classes)
            )
            self.count, self.restart = count, restart

        def construct(self, features: Tensor) -> Any:
            own = self.predict(features)
            h = own
            for _ in range(self.count):
                h = (1 - self.restart) * ops.matmul(propagate, h) + self.restart * own
            return h

    net = Propagation(24)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2, weight_decay=1e-3)
    index, wanted = _int(known), _int(label[known])
    grad_fn = ms.value_and_grad(lambda f: ops.cross_entropy(net(f)[index], wanted), None, optimizer.parameters)
    errors = []
    for _ in range(steps):
        net.set_train()
        _, grads = grad_fn(x)
        optimizer(grads)
        net.set_train(False)
        guess = net(x).asnumpy().argmax(axis=1)
        errors.append(float((guess != label)[hidden].mean()))
    return errors


@healthy("matrix factorization with biases", steps=120)
def factorization_with_biases(steps: int) -> list[float]:
    rng = np.random.default_rng(19)
    users, items, rank = 60, 40, 3
    p, q = rng.normal(size=(users, rank)), rng.normal(size=(items, rank))
    scores = 70 + 10 * rng.normal(size=(users, 1)) + 8 * rng.normal(size=(1, items)) + 6 * p @ q.T
    seen = np.argwhere(rng.random((users, items)) < 0.7)
    rng.shuffle(seen)
    train, test = seen[:-200], seen[-200:]

    class Factorization(nn.Cell):
        def __init__(self, mean: float, scale: float) -> None:
            super().__init__()
            self.users = nn.Embedding(users, rank, embedding_table=_float(0.3 * rng.normal(size=(users, rank))))
            self.items = nn.Embedding(items, rank, embedding_table=_float(0.3 * rng.normal(size=(items, rank))))
            self.user_bias = nn.Embedding(users, 1, embedding_table="zeros")
            self.item_bias = nn.Embedding(items, 1, embedding_table="zeros")
            self.mean, self.scale = mean, scale

        def construct(self, user: Tensor, item: Tensor) -> Any:
            taste = (self.users(user) * self.items(item)).sum(axis=1)
            bias = self.user_bias(user).squeeze(1) + self.item_bias(item).squeeze(1)
            return self.mean + self.scale * (taste + bias)

    values = scores[train[:, 0], train[:, 1]]
    net = Factorization(float(values.mean()), float(values.std()))
    optimizer = nn.LazyAdam(net.trainable_params(), learning_rate=4e-2)

    def loss_fn(user: Tensor, item: Tensor, score: Tensor) -> Any:
        error = ops.square((net(user, item) - score) / net.scale).mean()
        return error + 1e-3 * (ops.square(net.users(user)).mean() + ops.square(net.items(item)).mean())

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    errors = []
    for _ in range(steps):
        pick = train[rng.integers(0, len(train), size=128)]
        _, grads = grad_fn(_int(pick[:, 0]), _int(pick[:, 1]), _float(scores[pick[:, 0], pick[:, 1]]))
        optimizer(grads)
        guess = net(_int(test[:, 0]), _int(test[:, 1])).asnumpy()
        errors.append(float(np.sqrt(((guess - scores[test[:, 0], test[:, 1]]) ** 2).mean())))
    return errors


@healthy("LSTM with gradients clipped by value", steps=120)
def clipped_adding_problem(steps: int) -> list[float]:
    rng = np.random.default_rng(20)
    length = 6

    def batch(count: int) -> Any:
        amount = rng.uniform(0, 100, size=(count, length))
        marked = np.zeros((count, length))
        for row in marked:
            row[rng.permutation(length)[:2]] = 1
        return _float(np.stack([amount / 100, marked], axis=-1)), _float((amount * marked).sum(axis=1, keepdims=True))

    class Adder(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.lstm = nn.LSTM(2, width, batch_first=True)
            self.out = nn.Dense(width, 1)

        def construct(self, x: Tensor) -> Any:
            h, _ = self.lstm(x)
            return 100 * (1 + self.out(h[:, -1]))

    net = Adder(24)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=2e-2)
    grad_fn = ms.value_and_grad(lambda x, y: ops.square(net(x) - y).mean(), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*batch(64))
        optimizer(tuple(ops.clip_by_value(g, -50.0, 50.0) for g in grads))
        losses.append(float(loss))
    return losses


@healthy("binary weights and activations", steps=100)
def binarized_network(steps: int) -> list[float]:
    rng = np.random.default_rng(21)
    dim, classes = 16, 4
    centres = np.sign(rng.normal(size=(classes, dim)))

    def batch(count: int) -> Any:
        y = rng.integers(0, classes, size=count)
        return _float(centres[y] + 0.9 * rng.normal(size=(count, dim))), _int(y)

    class Binarize(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            return ops.where(x >= 0, ops.ones_like(x), -ops.ones_like(x))

        def bprop(self, x: Tensor, _out: Tensor, dout: Tensor) -> Any:
            return (dout * (ops.abs(x) <= 1).astype(dout.dtype),)

    class BinaryDense(nn.Cell):
        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.weight = Parameter(_float(rng.uniform(-0.5, 0.5, size=(outputs, inputs))), name="weight")
            self.binarize = Binarize()

        def construct(self, x: Tensor) -> Any:
            return ops.matmul(x, self.binarize(self.weight).T) / math.sqrt(x.shape[1])

    class BinaryNet(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.fc1, self.fc2 = BinaryDense(dim, width), BinaryDense(width, classes)
            self.binarize = Binarize()

        def construct(self, x: Tensor) -> Any:
            return self.fc2(self.binarize(self.fc1(x)))

    net = BinaryNet(64)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*batch(64))
        optimizer(grads)
        for layer in (net.fc1, net.fc2):
            ops.assign(layer.weight, ops.clip_by_value(layer.weight, -1.0, 1.0))
        losses.append(float(loss))
    return losses


@healthy("evidential regression", steps=120)
def evidential_regression(steps: int) -> list[float]:
    rng = np.random.default_rng(22)

    def batch(count: int) -> Any:
        x = rng.uniform(-2, 2, size=(count, 1))
        noise = 0.02 + 0.04 * (x > 0)
        return _float(x), _float(0.3 * np.sin(2 * x) + noise * rng.normal(size=x.shape))

    class Evidential(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.body = nn.SequentialCell(nn.Dense(1, width), nn.Tanh(), nn.Dense(width, width), nn.Tanh())
            self.out = nn.Dense(width, 4)

        def construct(self, x: Tensor) -> Any:
            o = self.out(self.body(x))
            positive = ops.softplus(o[:, 1:]) + 1e-4
            return o[:, :1], positive[:, :1], 1 + positive[:, 1:2], positive[:, 2:]

    net = Evidential(32)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)

    def loss_fn(x: Tensor, y: Tensor) -> Any:
        gamma, nu, alpha, beta = net(x)
        omega = 2 * beta * (1 + nu)
        error = y - gamma
        nll = (
            0.5 * ops.log(math.pi / nu)
            - alpha * ops.log(omega)
            + (alpha + 0.5) * ops.log(nu * ops.square(error) + omega)
            + ops.lgamma(alpha)
            - ops.lgamma(alpha + 0.5)
        )
        evidence = ops.abs(error) * (2 * nu + alpha)
        return (nll + 0.02 * evidence).mean()

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    losses = []  # turns negative: the densities exceed one
    for _ in range(steps):
        loss, grads = grad_fn(*batch(96))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("Hebbian principal components", steps=80)
def generalized_hebbian(steps: int) -> list[float]:
    rng = np.random.default_rng(23)
    dim, kept = 10, 3
    basis = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    scales = np.array([3, 2, 1.4] + [0.3] * (dim - kept))

    class Sanger(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = Parameter(_float(0.1 * rng.normal(size=(kept, dim))), name="weight", requires_grad=False)

        def construct(self, x: Tensor) -> Any:
            return ops.matmul(x, self.weight.T)

        def adapt(self, x: Tensor, rate: float) -> None:
            y = self(x)
            lower = ops.tril(ops.matmul(y.T, y)) / x.shape[0]
            ops.assign_add(self.weight, rate * (ops.matmul(y.T, x) / x.shape[0] - ops.matmul(lower, self.weight)))

    net = Sanger()
    residuals = []  # the share of the wanted subspace that is not yet covered
    for step in range(steps):
        net.adapt(_float(rng.normal(size=(64, dim)) * scales @ basis.T), 0.08 / (1 + step / 80))
        found = np.linalg.qr(net.weight.asnumpy().T)[0]
        residuals.append(float(1 - (np.square(found.T @ basis[:, :kept])).sum() / kept))
    return residuals


@healthy("adversarial training", steps=100)
def adversarial_training(steps: int) -> list[float]:
    rng = np.random.default_rng(24)
    dim = 12
    strong, weak = np.zeros(dim), np.zeros(dim)
    strong[:3], weak[3:] = 1.5, 0.25

    def batch(count: int) -> Any:
        y = rng.integers(0, 2, size=count)
        noise = rng.normal(size=(count, dim)) * np.where(strong > 0, 0.8, 0.2)
        return _float((2 * y[:, None] - 1) * (strong + weak) + noise), _int(y)

    net = nn.SequentialCell(nn.Dense(dim, 48), nn.ReLU(), nn.Dense(48, 2))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=3e-3)

    def loss_fn(x: Tensor, y: Tensor) -> Any:
        return ops.cross_entropy(net(x), y)

    input_grad = ms.grad(loss_fn, 0)
    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)

    def attack(x: Tensor, y: Tensor, size: float) -> Any:
        return ops.stop_gradient(x + size * ops.sign(input_grad(x, y)))

    test_x, test_y = batch(256)
    losses = []  # under attack, on held-out data
    for step in range(steps):
        x, y = batch(64)
        hard = attack(x, y, 0.4 * min(1.0, (step + 1) / 40))
        _, grads = grad_fn(ops.cat([x, hard], axis=0), ops.cat([y, y], axis=0))
        optimizer(grads)
        losses.append(float(loss_fn(attack(test_x, test_y, 0.4), test_y)))
    return losses
