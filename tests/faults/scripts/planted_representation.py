"""Planted faults in programs that learn representations: distillation, averaged copies, self-supervision, adapters."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, mint, nn, ops
from hookscope.engine.tensors.initializer import initializer

from .script import planted


def _tensor(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.float32))


def _labels(values: Any) -> Tensor:
    return Tensor(np.asarray(values, np.int32))


@planted(
    "distillation",
    "The teacher isn't frozen: the optimizer holds it with the student, and it moves towards the student.",
    "teacher",
    "Distiller",
    "optimizer",
    steps=80,
)
def distillation_with_learning_teacher(fault: bool, steps: int) -> list[float]:
    class Distiller(nn.Cell):
        def __init__(self, teacher: nn.Cell, student: nn.Cell, temperature: float) -> None:
            super().__init__()
            self.teacher = teacher
            self.student = student
            self.temperature = temperature

        def construct(self, x: Tensor) -> Any:
            soft_targets = ops.softmax(self.teacher(x) / self.temperature, axis=-1)
            log_probs = ops.log_softmax(self.student(x) / self.temperature, axis=-1)
            return -(soft_targets * log_probs).sum(axis=-1).mean() * self.temperature**2

    rng = np.random.default_rng(21)
    centers = rng.normal(size=(5, 10)) * 1.2

    def batch(count: int) -> tuple[Tensor, Tensor]:
        y = rng.integers(0, 5, count)
        return _tensor(centers[y] + 0.7 * rng.normal(size=(count, 10))), _labels(y)

    teacher = nn.SequentialCell(nn.Dense(10, 64), nn.ReLU(), nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 5))
    pretrain = ms.value_and_grad(lambda x, y: ops.cross_entropy(teacher(x), y), None, teacher.trainable_params())
    pretrain_optimizer = nn.Adam(teacher.trainable_params(), learning_rate=1e-2)
    for _ in range(40):
        pretrain_optimizer(pretrain(*batch(64))[1])

    student = nn.SequentialCell(nn.Dense(10, 16), nn.ReLU(), nn.Dense(16, 5))
    if not fault:
        for param in teacher.get_parameters():
            param.requires_grad = False
    distiller = Distiller(teacher, student, temperature=3.0)
    optimizer = nn.Adam(distiller.trainable_params(), learning_rate=1e-2)
    step = ms.value_and_grad(distiller, None, optimizer.parameters)
    test_x, test_y = batch(128)
    losses = []  # the student's loss on true labels falls; nobody shows it a label
    for _ in range(steps):
        _, grads = step(batch(32)[0])
        optimizer(grads)
        losses.append(float(ops.cross_entropy(student(test_x), test_y)))
    return losses


@planted(
    "detection head",
    "The box loss is in pixels and drowns the loss of the class, as gradients are clipped to a norm of 1.",
    "box_head",
    "box_loss",
    "loss",
    "data",
    steps=80,
)
def detector_with_boxes_in_pixels(fault: bool, steps: int) -> list[float]:
    class Detector(nn.Cell):
        def __init__(self, classes: int) -> None:
            super().__init__()
            self.backbone = nn.SequentialCell(
                nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.Flatten()
            )
            self.neck = nn.Dense(16 * 3 * 3, 32, activation="relu")
            self.class_head = nn.Dense(32, classes)
            self.box_head = nn.Dense(32, 4)

        def construct(self, image: Tensor) -> tuple[Any, Any]:
            h = self.neck(self.backbone(image))
            return self.class_head(h), self.box_head(h)

    rng = np.random.default_rng(22)
    unit = np.array([640.0, 480.0, 640.0, 480.0])
    shapes = np.stack([np.ones((4, 4)), 2 * np.eye(4), np.outer([1, 0, 0, 1], [1, 1, 1, 1])])

    def scenes(count: int) -> tuple[Tensor, Tensor, Tensor]:
        images = 0.1 * rng.normal(size=(count, 1, 12, 12))
        classes = rng.integers(0, 3, count)
        corners = rng.integers(0, 9, (count, 2))
        for image, kind, (x, y) in zip(images, classes, corners, strict=True):
            image[0, y : y + 4, x : x + 4] += shapes[kind]
        boxes = np.concatenate([corners, corners + 4], axis=1) / 12
        return _tensor(images), _labels(classes), _tensor(boxes * unit if fault else boxes)

    detector = Detector(3)
    params = detector.trainable_params()
    optimizer = nn.Momentum(params, learning_rate=0.1, momentum=0.9)

    def loss_fn(image: Tensor, kind: Tensor, box: Tensor) -> Any:
        logits, predicted = detector(image)
        box_loss = ops.smooth_l1_loss(predicted, box)
        return ops.cross_entropy(logits, kind) + box_loss

    grad_fn = ms.value_and_grad(loss_fn, None, params)
    test_images, test_classes, _ = scenes(64)
    losses = []  # the class loss on held-out scenes falls
    for _ in range(steps):
        _, grads = grad_fn(*scenes(16))
        optimizer(ops.clip_by_global_norm(grads, 1.0))
        losses.append(float(ops.cross_entropy(detector(test_images)[0], test_classes)))
    return losses


@planted(
    "DQN",
    "The target network is never renewed: the loop goes over the trainable parameters of a frozen network.",
    "sync_target",
    "target_net",
    "loop",
    steps=150,
)
def dqn_with_stale_target(fault: bool, steps: int) -> list[float]:
    class QNet(nn.Cell):
        def __init__(self, states: int, actions: int) -> None:
            super().__init__()
            self.hidden = nn.Dense(states, 32)
            self.out = nn.Dense(32, actions)

        def construct(self, s: Tensor) -> Any:
            return self.out(ops.tanh(self.hidden(s)))

    rng = np.random.default_rng(23)
    states, gamma = 6, 0.8
    following = np.stack([np.maximum(np.arange(states) - 1, 0), np.minimum(np.arange(states) + 1, states - 1)], axis=1)
    reward = (following == states - 1).astype(np.float64)
    exact = np.zeros((states, 2))
    for _ in range(100):
        exact = reward + gamma * exact.max(axis=1)[following]

    q_net, target_net = QNet(states, 2), QNet(states, 2)
    ms.load_param_into_net(target_net, q_net.parameters_dict())
    for param in target_net.get_parameters():
        param.requires_grad = False

    def sync_target() -> None:
        copies = target_net.trainable_params() if fault else list(target_net.get_parameters())
        for copy, source in zip(copies, q_net.trainable_params(), strict=False):
            copy.set_data(source.value())

    def td_loss(s: Tensor, a: Tensor, r: Tensor, s_next: Tensor) -> Any:
        q = ops.gather_elements(q_net(s), 1, a.expand_dims(1)).squeeze(1)
        target = r + gamma * target_net(s_next).max(axis=1)
        return ops.smooth_l1_loss(q, ops.stop_gradient(target))

    optimizer = nn.Adam(q_net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(td_loss, None, q_net.trainable_params())
    eye = np.eye(states)
    errors = []  # the distance from the exact values falls
    for i in range(steps):
        s, a = rng.integers(0, states, 32), rng.integers(0, 2, 32)
        batch = _tensor(eye[s]), _labels(a), _tensor(reward[s, a]), _tensor(eye[following[s, a]])
        _, grads = grad_fn(*batch)
        optimizer(grads)
        if i % 5 == 4:
            sync_target()
        errors.append(float(np.abs(q_net(_tensor(eye)).asnumpy() - exact).mean()))
    return errors


@planted(
    "exponential moving average of weights",
    "The average decays by 0.9999 in a run of 80 steps: the averaged copy stays near its initial weights.",
    "decay",
    "ModelEMA",
    "ema_net",
    steps=80,
)
def averaged_copy_that_hardly_moves(fault: bool, steps: int) -> list[float]:
    class ModelEMA:
        def __init__(self, net: nn.Cell, copy: nn.Cell, decay: float) -> None:
            self.decay = decay
            self.pairs = list(zip(copy.get_parameters(), net.get_parameters(), strict=True))
            for average, param in self.pairs:
                average.set_data(param.value())

        def update(self) -> None:
            for average, param in self.pairs:
                average.set_data(self.decay * average + (1 - self.decay) * param)

    def build() -> nn.SequentialCell:
        return nn.SequentialCell(
            nn.Dense(6, 32, weight_init="he_normal"), nn.GELU(), nn.LayerNorm((32,)), nn.Dense(32, 4)
        )

    rng = np.random.default_rng(24)
    directions = rng.normal(size=(6, 4))

    def batch(count: int) -> tuple[Tensor, Tensor]:
        x = rng.normal(size=(count, 6))
        return _tensor(x), _labels((x @ directions + 0.3 * rng.normal(size=(count, 4))).argmax(axis=1))

    net, ema_net = build(), build()
    ema = ModelEMA(net, ema_net, decay=0.9999 if fault else 0.9)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), learning_rate=1e-2, weight_decay=0.01)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    grad_fn = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, net.trainable_params())
    test_x, test_y = batch(128)
    losses = []  # the averaged copy's loss on held-out data falls
    for _ in range(steps):
        _, grads = grad_fn(*batch(32))
        optimizer(grads)
        ema.update()
        losses.append(float(criterion(ema_net(test_x), test_y)))
    return losses


@planted(
    "SimSiam",
    "There is no stop-gradient on the branch of the targets: all representations become one.",
    "negative_cosine",
    "SimSiam",
    "loss",
    steps=100,
)
def simsiam_without_stop_gradient(fault: bool, steps: int) -> list[float]:
    class SimSiam(nn.Cell):
        def __init__(self, features: int, width: int) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(
                nn.Dense(features, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dense(48, width), nn.ReLU()
            )
            self.projector = nn.Dense(width, width)
            self.predictor = nn.SequentialCell(nn.Dense(width, 8), nn.ReLU(), nn.Dense(8, width))

        def negative_cosine(self, p: Tensor, z: Tensor) -> Any:
            if not fault:
                z = ops.stop_gradient(z)
            return -ops.cosine_similarity(p, z, dim=1).mean()

        def construct(self, x1: Tensor, x2: Tensor) -> Any:
            z1, z2 = self.projector(self.encoder(x1)), self.projector(self.encoder(x2))
            p1, p2 = self.predictor(z1), self.predictor(z2)
            return 0.5 * self.negative_cosine(p1, z2) + 0.5 * self.negative_cosine(p2, z1)

    rng = np.random.default_rng(25)
    prototypes = rng.normal(size=(6, 20)) * 1.5

    def views(count: int) -> tuple[Tensor, Tensor]:
        x = prototypes[rng.integers(0, 6, count)] + 0.3 * rng.normal(size=(count, 20))
        return (
            _tensor(x + 0.5 * rng.normal(size=x.shape)),
            _tensor(x * (rng.random(x.shape) > 0.2) + 0.3 * rng.normal(size=x.shape)),
        )

    model = SimSiam(20, 24)
    model.set_train()
    optimizer = nn.SGD(model.trainable_params(), learning_rate=0.1, momentum=0.9, weight_decay=1e-4)
    grad_fn = ms.value_and_grad(model, None, optimizer.parameters)
    a, b = views(64)

    def contrast() -> float:
        za = ops.L2Normalize(axis=1)(model.projector(model.encoder(a))).asnumpy()
        zb = ops.L2Normalize(axis=1)(model.projector(model.encoder(b))).asnumpy()
        similarity = za @ zb.T
        return float(similarity.mean() - np.diag(similarity).mean())

    values = []  # the similarity of any two examples, less that of two views of one example: 0 means collapse
    for _ in range(steps):
        _, grads = grad_fn(*views(32))
        optimizer(grads)
        values.append(contrast())
    return values


@planted(
    "VICReg",
    "The standard deviations of the variance term are computed with NumPy, so the term has no gradient.",
    "variance_loss",
    "loss",
    steps=100,
)
def vicreg_with_numpy_deviation(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(26)
    expander = nn.SequentialCell(nn.Dense(16, 32), nn.LeakyReLU(0.1), nn.Dense(32, 32), nn.LeakyReLU(0.1))
    head = nn.Dense(32, 12)

    def embed(x: Tensor) -> Any:
        return head(expander(x))

    def variance_loss(z: Any) -> Any:
        if fault:
            std = Tensor(np.sqrt(z.asnumpy().var(axis=0) + 1e-4))
        else:
            std = ops.sqrt(z.var(axis=0) + 1e-4)
        return ops.relu(1.0 - std).mean()

    def covariance_loss(z: Any) -> Any:
        z = z - z.mean(axis=0)
        cov = ops.matmul(z.T, z) / (z.shape[0] - 1)
        return (ops.square(cov).sum() - ops.square(ops.diag(cov)).sum()) / z.shape[1]

    def loss(x1: Tensor, x2: Tensor) -> Any:
        z1, z2 = embed(x1), embed(x2)
        invariance = ops.mse_loss(z1, z2)
        return (
            25.0 * invariance
            + 25.0 * (variance_loss(z1) + variance_loss(z2))
            + 1.0 * (covariance_loss(z1) + covariance_loss(z2))
        )

    mixing = rng.normal(size=(8, 16))

    def views(count: int) -> tuple[Tensor, Tensor]:
        content = rng.normal(size=(count, 8)) @ mixing
        noise = 0.5 * rng.normal(size=(2, count, 16))
        return _tensor(content + noise[0]), _tensor(content + noise[1])

    params = expander.trainable_params() + head.trainable_params()
    optimizer = nn.Adam(params, learning_rate=3e-3)
    step = ms.value_and_grad(loss, None, params)
    test = views(64)[0]
    shrinkage = []  # how far the deviations of the embedding are from 1: falls
    for _ in range(steps):
        _, grads = step(*views(32))
        optimizer(grads)
        shrinkage.append(float(np.maximum(0, 1 - embed(test).asnumpy().std(axis=0)).mean()))
    return shrinkage


@planted(
    "regression of prices",
    "The targets are prices of some 300000 and aren't scaled: the network can't reach them.",
    "prices",
    "data",
    "loss",
    steps=80,
)
def prices_in_dollars(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(27)
    area = rng.uniform(40, 220, 400)
    rooms = np.round(area / 35 + rng.normal(size=400))
    district = rng.integers(0, 5, 400)
    prices = 1500 * area + 12000 * rooms + 45000 * district + 8000 * rng.normal(size=400)
    table = np.stack([(area - 130) / 52, (rooms - rooms.mean()) / rooms.std()], axis=1)
    mean, scale = (0.0, 1.0) if fault else (prices.mean(), prices.std())

    class PriceNet(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.district = nn.Embedding(5, 4)
            self.trunk = nn.SequentialCell(nn.Dense(6, 32), nn.ReLU(), nn.Dense(32, 16), nn.ReLU())
            self.price = nn.Dense(16, 1)

        def construct(self, numbers: Tensor, location: Tensor) -> Any:
            return self.price(self.trunk(ops.cat((numbers, self.district(location)), axis=1))).squeeze(1)

    net = PriceNet()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    criterion = nn.MSELoss()
    grad_fn = ms.value_and_grad(
        lambda numbers, location, y: criterion(net(numbers, location), y), None, net.trainable_params()
    )
    errors = []  # the relative error on the last 80 rows falls
    for _ in range(steps):
        total: Any = None
        for _ in range(2):  # accumulates over two small batches
            rows = rng.integers(0, 320, 16)
            target = _tensor((prices[rows] - mean) / scale)
            _, grads = grad_fn(_tensor(table[rows]), _labels(district[rows]), target)
            total = grads if total is None else [a + b for a, b in zip(total, grads, strict=True)]
        optimizer(tuple(g / 2 for g in total))
        predicted = net(_tensor(table[320:]), _labels(district[320:])).asnumpy() * scale + mean
        errors.append(float(np.abs(predicted / prices[320:] - 1).mean()))
    return errors


@planted(
    "text classifier",
    "The weight decay is 0.5 in place of 0.0005: the weights are pulled to zero faster than they learn.",
    "optimizer",
    "weight_decay",
    steps=100,
)
def text_classifier_with_strong_decay(fault: bool, steps: int) -> list[float]:
    class FastText(nn.Cell):
        def __init__(self, vocabulary: int, width: int, classes: int) -> None:
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width, embedding_table="normal")
            self.dense = nn.Dense(width, width, weight_init="xavier_normal")
            self.norm = nn.LayerNorm((width,))
            self.classifier = nn.Dense(width, classes)

        def construct(self, tokens: Tensor) -> Any:
            h = self.embedding(tokens).mean(axis=1)
            return self.classifier(self.norm(ops.relu(self.dense(h))))

    rng = np.random.default_rng(28)
    topics = rng.dirichlet(np.full(60, 0.15), size=4)

    def documents(count: int) -> tuple[Tensor, Tensor]:
        y = rng.integers(0, 4, count)
        return _labels([rng.choice(60, size=10, p=topics[k]) for k in y]), _labels(y)

    net = FastText(60, 16, 4)
    optimizer = nn.Momentum(
        net.trainable_params(), learning_rate=0.1, momentum=0.9, weight_decay=0.5 if fault else 0.0005
    )
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    train.set_train()
    return [float(train(*documents(16))) for _ in range(steps)]


@planted(
    "point cloud classifier",
    "The shared layers are kept in a plain list, so the optimizer never gets their parameters.",
    "mlps",
    "PointNet",
    "optimizer",
    steps=80,
)
def pointnet_with_layers_in_a_list(fault: bool, steps: int) -> list[float]:
    class PointNet(nn.Cell):
        def __init__(self, widths: tuple[int, ...], classes: int) -> None:
            super().__init__()
            mlps = [nn.Dense(i, o, weight_init="he_uniform") for i, o in itertools.pairwise(widths)]
            self.mlps: Any = mlps if fault else nn.CellList(mlps)
            self.act = nn.ReLU()
            self.head = nn.Dense(widths[-1], classes)

        def construct(self, points: Tensor) -> Any:
            h = points
            for mlp in self.mlps:
                h = self.act(mlp(h))
            return self.head(h.max(axis=1))

    rng = np.random.default_rng(29)

    def clouds(count: int) -> tuple[Tensor, Tensor]:
        y = rng.integers(0, 3, count)
        points = rng.normal(size=(count, 16, 3))
        sphere = points / np.linalg.norm(points, axis=2, keepdims=True)
        cube = points / np.abs(points).max(axis=2, keepdims=True) * 0.8
        disk = points * [1, 1, 0.05] / np.linalg.norm(points[..., :2], axis=2, keepdims=True)
        return _tensor(np.stack([sphere, cube, disk])[y, np.arange(count)]), _labels(y)

    net = PointNet((3, 32, 32, 4), 3)
    loss_net = nn.WithLossCell(net, nn.CrossEntropyLoss())
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_of = ops.GradOperation(get_by_list=True)
    weights = ms.ParameterTuple(net.trainable_params())
    losses = []
    for _ in range(steps):
        points, y = clouds(24)
        losses.append(float(loss_net(points, y)))
        optimizer(grad_of(loss_net, weights)(points, y))
    return losses


@planted(
    "LoRA",
    "Both factors of the adapters start at zero, so each one's gradient is zero for ever.",
    "lora_a",
    "lora_b",
    "LoRADense",
    steps=80,
)
def lora_with_both_factors_zero(fault: bool, steps: int) -> list[float]:
    class LoRADense(nn.Cell):
        def __init__(self, base: nn.Dense, rank: int, alpha: float) -> None:
            super().__init__()
            self.base = base
            for param in base.get_parameters():
                param.requires_grad = False
            outputs, inputs = base.weight.shape
            start = "zeros" if fault else "he_uniform"
            self.lora_a = Parameter(initializer(start, (rank, inputs)), name="lora_a")
            self.lora_b = Parameter(initializer("zeros", (outputs, rank)), name="lora_b")
            self.scaling = alpha / rank

        def construct(self, x: Tensor) -> Any:
            low = ops.matmul(ops.matmul(x, self.lora_a.T), self.lora_b.T)
            return self.base(x) + self.scaling * low

    rng = np.random.default_rng(30)
    weight = rng.normal(size=(12, 8)) / 3

    def task(count: int, change: Any) -> tuple[Tensor, Tensor]:
        x = rng.normal(size=(count, 12))
        return _tensor(x), _tensor(np.tanh(x @ (weight + change)))

    net = nn.SequentialCell(nn.Dense(12, 32), nn.Tanh(), nn.Dense(32, 8))
    pretrain = ms.value_and_grad(lambda x, y: ops.mse_loss(net(x), y), None, net.trainable_params())
    adam = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    for _ in range(60):
        adam(pretrain(*task(32, 0.0))[1])

    for index in (0, 2):
        net[index] = LoRADense(net[index], rank=2, alpha=8.0)
    change = np.outer(rng.normal(size=12), rng.normal(size=8)) / 3
    params = net.trainable_params()
    optimizer = nn.Adam(params, learning_rate=1e-2)
    finetune = ms.value_and_grad(lambda x, y: ops.mse_loss(net(x), y), None, params)
    losses = []
    for _ in range(steps):
        loss, grads = finetune(*task(32, change))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "mixture of experts",
    "The experts are chosen by argmax without a weight from the router, so the router gets no gradient.",
    "router",
    "MixtureOfExperts",
    steps=120,
)
def experts_with_hard_choice(fault: bool, steps: int) -> list[float]:
    class MixtureOfExperts(nn.Cell):
        def __init__(self, inputs: int, outputs: int, experts: int) -> None:
            super().__init__()
            self.count = experts
            self.router = nn.Dense(inputs, experts)
            self.experts = nn.CellList([nn.Dense(inputs, outputs) for _ in range(experts)])

        def construct(self, x: Tensor) -> Any:
            scores = self.router(x)
            if fault:
                gates = ops.one_hot(ops.argmax(scores, dim=-1), self.count, Tensor(1.0), Tensor(0.0))
            else:
                gates = ops.softmax(scores, axis=-1)
            outputs = ops.stack([expert(x) for expert in self.experts], axis=1)
            return (gates.expand_dims(-1) * outputs).sum(axis=1)

    rng = np.random.default_rng(31)
    centers = rng.normal(size=(3, 6)) * 1.5
    maps = rng.normal(size=(3, 6, 2))

    def batch(count: int) -> tuple[Tensor, Tensor]:
        kind = rng.integers(0, 3, count)
        x = centers[kind] + 0.5 * rng.normal(size=(count, 6))
        return _tensor(x), _tensor(np.einsum("bi,bio->bo", x - centers[kind], maps[kind]) * 2 + kind[:, None] - 1)

    moe = MixtureOfExperts(6, 2, 4)
    optimizer = nn.Adam(moe.trainable_params(), learning_rate=3e-2)
    step = ms.value_and_grad(lambda x, y: nn.HuberLoss()(moe(x), y), None, moe.trainable_params())
    losses = []
    for _ in range(steps):
        loss, grads = step(*batch(48))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "MAML",
    "The adapted weights are rebuilt through NumPy, so the gradient of the outer loss stops there.",
    "adapt",
    "loop",
    steps=60,
)
def maml_with_numpy_adaptation(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(32)
    sizes = [(16, 1), (16,), (16, 16), (16,), (1, 16), (1,)]
    weights = ms.ParameterTuple(
        [
            Parameter((rng.normal(size=size) * (0.8 / math.sqrt(size[-1]))).astype(np.float32), name=f"w{i}")
            for i, size in enumerate(sizes)
        ]
    )

    def model(x: Tensor, w: Any) -> Any:
        h = ops.tanh(ops.dense(x, w[0], w[1]))
        h = ops.tanh(ops.dense(h, w[2], w[3]))
        return ops.dense(h, w[4], w[5])

    def adapt(x: Tensor, y: Tensor, inner_lr: float = 0.2) -> list[Any]:
        inner_grad = ms.grad(lambda *w: ops.mse_loss(model(x, w), y), grad_position=tuple(range(6)))
        fast = [w - inner_lr * g for w, g in zip(weights, inner_grad(*weights), strict=True)]
        if fault:
            fast = [Tensor(w.asnumpy()) for w in fast]
        return fast

    def outer_loss(tasks: Any) -> Any:
        total: Any = 0.0
        for x_support, y_support, x_query, y_query in tasks:
            total = total + ops.mse_loss(model(x_query, adapt(x_support, y_support)), y_query)
        return total / len(tasks)

    def sinusoids(count: int) -> list[Any]:
        tasks = []
        for _ in range(count):
            amplitude, phase = rng.uniform(0.5, 2.0), rng.uniform(0, 1.5)
            x = rng.uniform(-2, 2, size=(20, 1))
            y = amplitude * np.sin(2 * x + phase)
            tasks.append((_tensor(x[:10]), _tensor(y[:10]), _tensor(x[10:]), _tensor(y[10:])))
        return tasks

    optimizer = nn.Adam(weights, learning_rate=1e-2)
    meta_grad = ms.value_and_grad(outer_loss, None, weights)
    test_tasks = sinusoids(3)
    losses = []  # the loss after adaptation to held-out tasks falls
    for _ in range(steps):
        _, grads = meta_grad(sinusoids(3))
        optimizer(grads)
        losses.append(float(outer_loss(test_tasks)))
    return losses


@planted(
    "domain adaptation (DANN)",
    "The gradient reversal layer's bprop doesn't reverse: the sign is missing.",
    "GradientReversal",
    "bprop",
    steps=120,
)
def dann_without_reversal(fault: bool, steps: int) -> list[float]:
    class GradientReversal(nn.Cell):
        def __init__(self, strength: float) -> None:
            super().__init__()
            self.strength = strength

        def construct(self, x: Tensor) -> Any:
            return x * 1.0

        def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Any]:
            sign = 1.0 if fault else -1.0
            return (sign * self.strength * dout,)

    class DANN(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.SequentialCell(nn.Dense(10, 16), nn.Tanh(), nn.Dense(16, 6))
            self.label_classifier = nn.Dense(6, 2)
            self.reversal = GradientReversal(1.0)
            self.domain_classifier = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 1))

        def construct(self, x: Tensor) -> tuple[Any, Any]:
            f = self.features(x)
            return self.label_classifier(f), self.domain_classifier(self.reversal(f)).squeeze(1)

    rng = np.random.default_rng(33)
    signal, shift = np.linalg.qr(rng.normal(size=(10, 2)))[0].T

    def samples(count: int, target: bool) -> tuple[Any, Any]:
        y = rng.integers(0, 2, count)
        side = 2.0 * y - 1
        x = 0.5 * rng.normal(size=(count, 10)) + np.outer(side, 1.2 * signal)
        x += np.outer(np.full(count, 2.5) if target else 0.8 * side, shift)
        return x, y

    net = DANN()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=3e-3)

    def loss_fn(x: Tensor, y: Tensor, domain: Tensor) -> Any:
        logits, domain_logits = net(x)
        label_loss = ops.cross_entropy(logits[: y.shape[0]], y)
        return label_loss + mint.nn.functional.binary_cross_entropy_with_logits(domain_logits, domain)

    grad_fn = ms.value_and_grad(loss_fn, None, net.trainable_params())
    domain = _tensor(np.repeat([0, 1], 32))
    x_test, y_test = samples(128, target=True)
    losses = []  # the loss on labels of the target domain, which training never sees, falls
    for _ in range(steps):
        x_source, y_source = samples(32, target=False)
        x_target, _ = samples(32, target=True)
        _, grads = grad_fn(_tensor(np.concatenate([x_source, x_target])), _labels(y_source), domain)
        optimizer(grads)
        losses.append(float(ops.cross_entropy(net(_tensor(x_test))[0], _labels(y_test))))
    return losses


@planted(
    "recurrent network",
    "The state is detached at every time step, not between batches: nothing is learned about earlier steps.",
    "Recall",
    "state",
    "cell",
    steps=120,
)
def gru_detached_every_step(fault: bool, steps: int) -> list[float]:
    class Recall(nn.Cell):
        def __init__(self, symbols: int, width: int) -> None:
            super().__init__()
            self.embed = nn.Embedding(symbols, width, embedding_table="normal")
            self.cell = nn.GRUCell(width, width)
            self.readout = nn.Dense(width, symbols)

        def construct(self, tokens: Tensor) -> Any:
            state = ops.zeros((tokens.shape[0], self.cell.hidden_size), ms.float32)
            for t in range(tokens.shape[1]):
                if fault:
                    state = ops.stop_gradient(state)
                state = self.cell(self.embed(tokens[:, t]), state)
            return self.readout(state)

    rng = np.random.default_rng(34)
    model = Recall(5, 16)
    optimizer = nn.Adam(model.trainable_params(), learning_rate=2e-2)
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(model(x), y), None, model.trainable_params())
    losses = []
    for _ in range(steps):
        tokens = rng.integers(0, 5, (32, 5))
        loss, grads = grad_fn(_labels(tokens), _labels(tokens[:, 0]))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "PPO",
    "The old log-probabilities are computed again by the new policy within the loss: the ratio is always 1 and its "
    "gradient 0.",
    "policy_loss",
    "old_log_prob",
    "loss",
    steps=60,
)
def ppo_with_ratio_of_one(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(35)
    policy = nn.SequentialCell(nn.Dense(4, 24), nn.Tanh(), nn.Dense(24, 3))
    critic = nn.SequentialCell(nn.Dense(4, 24), nn.Tanh(), nn.Dense(24, 1))
    opt_policy = nn.Adam(policy.trainable_params(), learning_rate=1e-2)
    opt_critic = nn.Adam(critic.trainable_params(), learning_rate=1e-2)
    preferences = rng.normal(size=(4, 3))

    def log_prob(observation: Tensor, action: Tensor) -> Any:
        return ops.gather_elements(ops.log_softmax(policy(observation)), 1, action.expand_dims(1)).squeeze(1)

    def policy_loss(observation: Tensor, action: Tensor, advantage: Tensor, old_log_prob: Tensor) -> Any:
        new = log_prob(observation, action)
        old = log_prob(observation, action) if fault else old_log_prob
        ratio = ops.exp(new - old)
        clipped = ops.clamp(ratio, 0.8, 1.2)
        return -ops.minimum(ratio * advantage, clipped * advantage).mean()

    def value_loss(observation: Tensor, returns: Tensor) -> Any:
        return ops.mse_loss(critic(observation).squeeze(1), returns)

    policy_grad = ms.value_and_grad(policy_loss, None, policy.trainable_params())
    critic_grad = ms.value_and_grad(value_loss, None, critic.trainable_params())
    test = rng.normal(size=(128, 4))
    regrets = []  # how much less than the best action the policy earns: falls
    for _ in range(steps):
        states = rng.normal(size=(48, 4))
        observation = _tensor(states)
        probabilities = ops.softmax(policy(observation)).asnumpy().astype(np.float64)
        actions = (probabilities.cumsum(axis=1) < rng.random((48, 1))).sum(axis=1).clip(0, 2)
        rewards = (states @ preferences)[np.arange(48), actions] + 0.1 * rng.normal(size=48)
        action, returns = _labels(actions), _tensor(rewards)
        old_log_prob = ops.stop_gradient(log_prob(observation, action))
        advantage = rewards - critic(observation).asnumpy()[:, 0]
        advantage = _tensor((advantage - advantage.mean()) / (advantage.std() + 1e-8))
        for _ in range(3):
            opt_policy(policy_grad(observation, action, advantage, old_log_prob)[1])
            opt_critic(critic_grad(observation, returns)[1])
        probabilities = ops.softmax(policy(_tensor(test))).asnumpy()
        earned = (probabilities * (test @ preferences)).sum(axis=1)
        regrets.append(float(((test @ preferences).max(axis=1) - earned).mean()))
    return regrets
