"""Healthy programs that learn representations: self-supervision, distillation, adapters, shared and frozen parts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine import mint, nn, ops
from hookscope.engine.tensors.initializer import HeNormal, Normal, TruncatedNormal, XavierUniform
from hookscope.engine.train import Callback, Model

from .script import healthy


def spread_ratio(features: Any, labels: Any) -> float:
    """The mean squared distance to the class's center over that to the common center; small where classes separate."""
    within = np.concatenate([features[labels == c] - features[labels == c].mean(0) for c in np.unique(labels)])
    return float((within**2).mean() / ((features - features.mean(0)) ** 2).mean())


@healthy("autoencoder with tied weights", steps=60)
def autoencoder_with_tied_weights(steps: int) -> list[float]:
    """The decoder is the encoder transposed, with biases of its own; measure: the reconstruction's error."""
    rng = np.random.default_rng(5)

    class TiedAutoencoder(nn.Cell):
        def __init__(self, sizes: tuple[int, ...]) -> None:
            super().__init__()
            pairs = list(pairwise(sizes))
            self.encoder = nn.CellList([nn.Dense(a, b, weight_init=XavierUniform()) for a, b in pairs])
            self.decoder_bias = ms.ParameterTuple(
                [ms.Parameter(ops.zeros((a,), ms.float32), name=f"decoder_bias{i}") for i, (a, _) in enumerate(pairs)]
            )

        def encode(self, x: Any) -> Any:
            for layer in self.encoder[:-1]:
                x = ops.tanh(layer(x))
            return self.encoder[-1](x)

        def construct(self, x: Any) -> Any:
            h = self.encode(x)
            for i in range(len(self.encoder) - 1, -1, -1):
                h = ops.matmul(h, self.encoder[i].weight) + self.decoder_bias[i]
                if i > 0:
                    h = ops.tanh(h)
            return h

    net = TiedAutoencoder((20, 14, 4))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    train.set_train()
    mix = rng.standard_normal((4, 20)) / 2.0

    errors = []
    for _ in range(steps):
        x = np.tanh(rng.standard_normal((32, 4)) @ mix) + 0.05 * rng.standard_normal((32, 20))
        batch = ms.Tensor(x.astype(np.float32))
        errors.append(float(train(batch, batch)))
    return errors


@healthy("distillation", steps=60)
def distillation_from_frozen_teacher(steps: int) -> list[float]:
    """A student learns from a frozen teacher in prediction mode, soft targets and labels; measure: the loss."""
    rng = np.random.default_rng(15)
    angle = rng.uniform(0.5, 3.0, 360)
    labels = np.arange(360) % 3
    turn = angle + labels * 2 * np.pi / 3
    inputs = np.stack([angle * np.cos(turn), angle * np.sin(turn)], 1) + 0.08 * rng.standard_normal((360, 2))
    inputs, labels = inputs.astype(np.float32), labels.astype(np.int32)

    class Teacher(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = nn.Dense(2, 64, weight_init=HeNormal())
            self.bn1 = nn.BatchNorm1d(64)
            self.fc2 = nn.Dense(64, 64, weight_init=HeNormal())
            self.bn2 = nn.BatchNorm1d(64)
            self.dropout = nn.Dropout(p=0.1)
            self.fc3 = nn.Dense(64, 3)

        def construct(self, x: Any) -> Any:
            x = ops.relu(self.bn1(self.fc1(x)))
            x = ops.relu(self.bn2(self.fc2(x)))
            return self.fc3(self.dropout(x))

    teacher = Teacher()
    data = ds.NumpySlicesDataset((inputs, labels), shuffle=True).batch(40, drop_remainder=True)
    model = Model(teacher, nn.CrossEntropyLoss(), nn.Adam(teacher.trainable_params(), 1e-2))
    model.train(5, data, dataset_sink_mode=False)
    teacher.set_train(False)
    for p in teacher.get_parameters():
        p.requires_grad = False

    student = nn.SequentialCell(nn.Dense(2, 24), nn.Tanh(), nn.Dense(24, 24), nn.Tanh(), nn.Dense(24, 3))
    student.set_train()
    optimizer = nn.Adam(student.trainable_params(), learning_rate=1e-2)
    temperature = 3.0

    def distill(x: Any, y: Any) -> Any:
        logits = student(x)
        targets = ops.softmax(teacher(x) / temperature, axis=1)
        log_probabilities = ops.log_softmax(logits / temperature, axis=1)
        soft = ops.kl_div(log_probabilities, targets, reduction="batchmean") * temperature**2
        return 0.7 * soft + 0.3 * ops.cross_entropy(logits, y)

    grad_fn = ms.value_and_grad(distill, None, student.trainable_params())
    losses = []
    for _ in range(steps):
        chosen = rng.choice(360, 40, replace=False)
        loss, grads = grad_fn(ms.Tensor(inputs[chosen]), ms.Tensor(labels[chosen]))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("BYOL", steps=70)
def byol_with_averaged_target(steps: int) -> list[float]:
    """BYOL: an online network predicts the output of its own average, which nothing trains; measure: the loss."""
    rng = np.random.default_rng(22)
    prototypes = rng.standard_normal((4, 24)).astype(np.float32)

    class Branch(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(
                nn.Dense(24, 48, has_bias=False), nn.BatchNorm1d(48), nn.ReLU(), nn.Dense(48, 24)
            )
            self.projector = nn.SequentialCell(
                nn.Dense(24, 32, has_bias=False), nn.BatchNorm1d(32), nn.ReLU(), nn.Dense(32, 12)
            )

        def construct(self, x: Any) -> Any:
            return self.projector(self.encoder(x))

    class Byol(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.online = Branch()
            self.predictor = nn.SequentialCell(
                nn.Dense(12, 24, has_bias=False), nn.BatchNorm1d(24), nn.ReLU(), nn.Dense(24, 12)
            )
            self.target = Branch()
            for slow, fast in zip(self.target.get_parameters(), self.online.get_parameters(), strict=True):
                slow.set_data(fast.value())
                slow.requires_grad = False

        def construct(self, a: Any, b: Any) -> Any:
            to_b = self.regression(self.predictor(self.online(a)), ops.stop_gradient(self.target(b)))
            to_a = self.regression(self.predictor(self.online(b)), ops.stop_gradient(self.target(a)))
            return (to_a + to_b).mean()

        def regression(self, p: Any, z: Any) -> Any:
            return 2.0 - 2.0 * ops.cosine_similarity(p, z, dim=1)

    net = Byol()
    net.set_train()
    pairs = list(zip(net.target.get_parameters(), net.online.get_parameters(), strict=True))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=3e-3)
    grad_fn = ms.value_and_grad(net, None, net.trainable_params())

    def augment(x: Any) -> Any:
        x = x * rng.uniform(0.7, 1.3, (len(x), 1)) + 0.3 * rng.standard_normal(x.shape)
        return ms.Tensor((x * (rng.uniform(size=x.shape) > 0.1)).astype(np.float32))

    losses = []
    for _ in range(steps):
        x = prototypes[rng.integers(0, 4, 48)] + 0.5 * rng.standard_normal((48, 24))
        loss, grads = grad_fn(augment(x), augment(x))
        optimizer(grads)
        for slow, fast in pairs:
            if fast.requires_grad:  # the target's batch norms keep moving statistics of their own
                slow.set_data(0.95 * slow + 0.05 * fast)
        losses.append(float(loss))
    return losses


@healthy("SimCLR", steps=60)
def simclr_with_hooked_features(steps: int) -> list[float]:
    """SimCLR with the NT-Xent loss; a hook keeps the features before the projection; measure: the loss."""
    rng = np.random.default_rng(28)
    styles = rng.standard_normal((40, 1, 8, 8)).astype(np.float32)

    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 8, 3, stride=2, weight_init=HeNormal(), has_bias=True)
            self.conv2 = nn.Conv2d(8, 16, 3, stride=2, weight_init=HeNormal(), has_bias=True)

        def construct(self, x: Any) -> Any:
            return ops.relu(self.conv2(ops.relu(self.conv1(x)))).flatten(start_dim=1)

    class SimClr(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = Encoder()
            self.projection = nn.SequentialCell(nn.Dense(64, 32), nn.ReLU(), nn.Dense(32, 16))

        def construct(self, x: Any) -> Any:
            z = self.projection(self.encoder(x))
            return z / ops.sqrt((z * z).sum(axis=1, keepdims=True) + 1e-8)

    net = SimClr()
    captured: list[Any] = []
    handle = net.encoder.register_forward_hook(lambda cell, inputs, output: captured.append(ops.stop_gradient(output)))
    n = 24
    partner = ms.Tensor(np.concatenate([np.arange(n, 2 * n), np.arange(n)]).astype(np.int32))
    itself = ms.Tensor(np.eye(2 * n, dtype=bool))

    def nt_xent(a: Any, b: Any) -> Any:
        z = net(ops.concat((a, b), axis=0))
        similarity = (ops.matmul(z, z.T) / 0.2).masked_fill(itself, -1e9)
        return ops.cross_entropy(similarity, partner)

    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(nt_xent, None, net.trainable_params())

    def view(images: Any) -> Any:
        images = np.stack([np.roll(image, rng.integers(-1, 2, 2), (1, 2)) for image in images])
        return ms.Tensor((images + 0.2 * rng.standard_normal(images.shape)).astype(np.float32))

    losses = []
    for step in range(steps):
        labels = rng.integers(0, 40, n)
        images = styles[labels] + 0.2 * rng.standard_normal((n, 1, 8, 8))
        loss, grads = grad_fn(view(images), view(images))
        optimizer(grads)
        if step % 10 == 9:
            features = captured[-1].asnumpy()
            assert 0.0 < spread_ratio(features, np.tile(labels, 2)) < 1.0
        captured.clear()
        losses.append(float(loss))
    handle.remove()
    return losses


@healthy("LoRA", steps=50)
def lora_on_frozen_base(steps: int) -> list[float]:
    """A frozen network gets adapters whose second factors begin as zeros; measure: the loss of the new task."""
    rng = np.random.default_rng(33)
    direction = rng.standard_normal((12, 3)).astype(np.float32) / 3.0
    other = direction + rng.standard_normal((12, 1)).astype(np.float32) @ rng.standard_normal((1, 3)) / 3.0

    class LoraDense(nn.Cell):
        def __init__(self, dense: nn.Dense, rank: int = 2, alpha: float = 4.0) -> None:
            super().__init__()
            self.dense = dense
            fan_out, fan_in = dense.weight.shape
            start = rng.normal(0.0, 1.0 / np.sqrt(fan_in), (rank, fan_in)).astype(np.float32)
            self.lora_a = ms.Parameter(ms.Tensor(start), name="lora_a")
            self.lora_b = ms.Parameter(ops.zeros((fan_out, rank), ms.float32), name="lora_b")
            self.scaling = alpha / rank

        def construct(self, x: Any) -> Any:
            return self.dense(x) + mint.matmul(mint.matmul(x, self.lora_a.T), self.lora_b.T) * self.scaling

    class Mlp(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.up = nn.Dense(12, 32)
            self.mid = nn.Dense(32, 32)
            self.down = nn.Dense(32, 3)

        def construct(self, x: Any) -> Any:
            return self.down(mint.nn.functional.gelu(self.mid(mint.nn.functional.gelu(self.up(x)))))

    def batch(task: Any) -> tuple[Any, Any]:
        x = rng.standard_normal((32, 12)).astype(np.float32)
        return ms.Tensor(x), ms.Tensor(np.sin(x @ task).astype(np.float32))

    net = Mlp()
    pre_opt = nn.Adam(net.trainable_params(), learning_rate=5e-3)
    pre_grad = ms.value_and_grad(lambda x, y: ops.mse_loss(net(x), y), None, net.trainable_params())
    for _ in range(60):
        _, grads = pre_grad(*batch(direction))
        pre_opt(grads)

    for p in net.get_parameters():
        p.requires_grad = False
    for name in ("up", "mid", "down"):
        setattr(net, name, LoraDense(getattr(net, name)))
    adapters = net.trainable_params()
    assert all("lora" in p.name for p in adapters)
    optimizer = nn.AdamWeightDecay(adapters, learning_rate=1e-2, weight_decay=0.01)
    grad_fn = ms.value_and_grad(lambda x, y: ops.mse_loss(net(x), y), None, adapters)
    losses = []
    for _ in range(steps):
        total, summed = 0.0, None
        for _ in range(2):  # gradients of two small batches a step
            loss, grads = grad_fn(*batch(other))
            total += float(loss) / 2
            summed = grads if summed is None else tuple(a + b for a, b in zip(summed, grads, strict=True))
        assert summed is not None
        optimizer(tuple(g / 2 for g in summed))
        losses.append(total)
    return losses


@healthy("residual network with zero branches", steps=40)
def resnet_with_zero_gammas(steps: int) -> list[float]:
    """Each residual branch ends in a batch norm whose gamma begins as zero; Model.train; measure: the loss."""
    rng = np.random.default_rng(40)
    labels = np.arange(160) % 4
    patterns = rng.standard_normal((4, 2, 8, 8))
    images = (patterns[labels] + 1.2 * rng.standard_normal((160, 2, 8, 8))).astype(np.float32)

    class BasicBlock(nn.Cell):
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(channels, channels, 3, weight_init="he_normal")
            self.bn1 = nn.BatchNorm2d(channels)
            self.conv2 = nn.Conv2d(channels, channels, 3, weight_init="he_normal")
            self.bn2 = nn.BatchNorm2d(channels, gamma_init="zeros")
            self.relu = nn.ReLU()

        def construct(self, x: Any) -> Any:
            out = self.relu(self.bn1(self.conv1(x)))
            return self.relu(x + self.bn2(self.conv2(out)))

    class TinyResNet(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.SequentialCell(nn.Conv2d(2, 12, 3, stride=2), nn.BatchNorm2d(12), nn.ReLU())
            self.layer1 = BasicBlock(12)
            self.layer2 = BasicBlock(12)
            self.head = nn.Dense(12, 4)

        def construct(self, x: Any) -> Any:
            x = self.layer2(self.layer1(self.stem(x)))
            return self.head(ops.mean(x, (2, 3)))

    class Losses(Callback):
        def __init__(self) -> None:
            super().__init__()
            self.values: list[float] = []

        def on_train_step_end(self, run_context: Any) -> None:
            self.values.append(float(run_context.original_args().net_outputs))
            if len(self.values) == steps:
                run_context.request_stop()

    net = TinyResNet()
    data = ds.NumpySlicesDataset({"image": images, "label": labels.astype(np.int32)}, shuffle=True).batch(20)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9, weight_decay=1e-4)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    losses = Losses()
    Model(net, loss_fn=loss, optimizer=optimizer).train(steps // 8 + 1, data, callbacks=[losses])
    return losses.values


@healthy("Siamese network", steps=60)
def siamese_with_contrastive_margin(steps: int) -> list[float]:
    """One embedding, called for both items of a pair; distant pairs beyond the margin count nothing; measure: loss."""
    rng = np.random.default_rng(44)
    identities = rng.standard_normal((8, 16)).astype(np.float32)

    class Siamese(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.SequentialCell(
                nn.Dense(16, 32, activation="relu", weight_init="he_uniform"), nn.Dense(32, 4)
            )

        def construct(self, left: Any, right: Any) -> Any:
            difference = self.embedding(left) - self.embedding(right)
            return ops.sqrt((difference**2).sum(axis=1) + 1e-6)

    class ContrastiveLoss(nn.LossBase):
        def __init__(self, margin: float) -> None:
            super().__init__("mean")
            self.margin = margin

        def construct(self, distance: Any, same: Any) -> Any:
            apart = ops.relu(self.margin - distance)
            return self.get_loss(same * distance**2 + (1.0 - same) * apart**2)

    net, criterion = Siamese(), ContrastiveLoss(1.5)
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05, momentum=0.9, nesterov=True)

    def forward(left: Any, right: Any, same: Any) -> Any:
        return criterion(net(left, right), same)

    grad_fn = ms.value_and_grad(forward, None, net.trainable_params())
    losses = []
    for _ in range(steps):
        who = rng.integers(0, 8, 32)
        same = rng.uniform(size=32) < 0.5
        whom = np.where(same, who, (who + rng.integers(1, 8, 32)) % 8)
        left, right = (identities[w] + 0.3 * rng.standard_normal((32, 16)) for w in (who, whom))
        loss, grads = grad_fn(*(ms.Tensor(a.astype(np.float32)) for a in (left, right, same)))
        optimizer(grads)
        losses.append(loss.item())
    return losses


@healthy("transformer with weights shared over depth", steps=50)
def albert_with_fixed_embeddings(steps: int) -> list[float]:
    """One block runs four times; the embeddings are random, fixed on purpose; measure: the loss of counting groups."""
    rng = np.random.default_rng(50)
    vocabulary, length, width, heads = 15, 9, 24, 3

    class Block(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.norm1 = nn.LayerNorm((width,), epsilon=1e-5)
            self.qkv = nn.Dense(width, 3 * width, weight_init=TruncatedNormal(0.1))
            self.proj = nn.Dense(width, width, weight_init=TruncatedNormal(0.1))
            self.norm2 = nn.LayerNorm((width,), epsilon=1e-5)
            self.mlp = nn.SequentialCell(nn.Dense(width, 2 * width), nn.GELU(), nn.Dense(2 * width, width))

        def construct(self, x: Any) -> Any:
            b, t, _ = x.shape
            qkv = self.qkv(self.norm1(x)).reshape(b, t, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
            q, k, v = qkv[0], qkv[1], qkv[2]
            scores = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) / (width // heads) ** 0.5, axis=-1)
            x = x + self.proj(ops.matmul(scores, v).transpose(0, 2, 1, 3).reshape(b, t, width))
            return x + self.mlp(self.norm2(x))

    class SharedTransformer(nn.Cell):
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.tokens = nn.Embedding(vocabulary, width, embedding_table=Normal(1.0))
            self.tokens.embedding_table.requires_grad = False
            angle = np.arange(length)[:, None] / 100.0 ** (np.arange(0, width, 2) / width)
            places = np.concatenate([np.sin(angle), np.cos(angle)], 1).astype(np.float32)
            self.places = ms.Tensor(places)
            self.block = Block()
            self.depth = depth
            self.final_norm = nn.LayerNorm((width,), epsilon=1e-5)
            self.classifier = nn.Dense(width, 3)

        def construct(self, ids: Any) -> Any:
            x = self.tokens(ids) + self.places
            for _ in range(self.depth):
                x = self.block(x)
            return self.classifier(self.final_norm(x).mean(axis=1))

    net = SharedTransformer(4)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=3e-3)
    grad_fn = ms.value_and_grad(lambda ids, y: ops.cross_entropy(net(ids), y), None, net.trainable_params())
    losses = []
    for _ in range(steps):
        ids = rng.integers(0, vocabulary, (32, length))
        counts = np.stack([(ids % 3 == group).sum(1) for group in range(3)], 1)
        loss, grads = grad_fn(ms.Tensor(ids.astype(np.int32)), ms.Tensor(counts.argmax(1).astype(np.int32)))
        optimizer(ops.clip_by_global_norm(grads, 1.0))
        losses.append(float(loss))
    return losses


@healthy("fine-tuning with a frozen body", steps=60)
def finetuning_with_frozen_body(steps: int) -> list[float]:
    """A trained body stays frozen with its batch norms in prediction mode; a new head learns; measure: the loss."""
    rng = np.random.default_rng(60)
    bases = rng.standard_normal((6, 1, 8, 8)).astype(np.float32)

    class Body(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 8, 3, stride=2)
            self.bn1 = nn.BatchNorm2d(8)
            self.conv2 = nn.Conv2d(8, 24, 3, stride=2)
            self.bn2 = nn.BatchNorm2d(24)
            self.flatten = nn.Flatten()

        def construct(self, x: Any) -> Any:
            x = ops.relu(self.bn1(self.conv1(x)))
            return self.flatten(ops.relu(self.bn2(self.conv2(x))))

    def images(count: int, classes: list[int]) -> tuple[Any, Any]:
        y = rng.integers(0, len(classes), count)
        x = bases[np.array(classes)[y]] + 1.5 * rng.standard_normal((count, 1, 8, 8))
        return ms.Tensor(x.astype(np.float32)), ms.Tensor(y.astype(np.int32))

    body, old_head = Body(), nn.Dense(96, 6)
    pretrained = nn.SequentialCell(body, old_head)
    pretrained.set_train()
    criterion = nn.CrossEntropyLoss()
    pre_opt = nn.Adam(pretrained.trainable_params(), learning_rate=5e-3)
    pre_step = nn.TrainOneStepCell(nn.WithLossCell(pretrained, criterion), pre_opt)
    for _ in range(25):
        pre_step(*images(32, [0, 1, 2, 3, 4, 5]))

    class Finetuned(nn.Cell):
        def __init__(self, body: nn.Cell) -> None:
            super().__init__()
            self.body = body
            self.dropout = nn.Dropout(p=0.2)
            self.new_head = nn.Dense(96, 3, weight_init="normal", bias_init="zeros")

        def construct(self, x: Any) -> Any:
            return self.new_head(self.dropout(self.body(x)))

    net = Finetuned(body)
    for p in body.get_parameters():
        p.requires_grad = False
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=5e-3, momentum=0.9, weight_decay=1e-3)
    # The new task: three of the old classes under other numbers.
    grad_fn = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, net.trainable_params())
    test_x, test_y = images(32, [4, 1, 3])
    losses = []
    for step in range(steps):
        net.set_train()
        body.set_train(False)
        loss, grads = grad_fn(*images(16, [4, 1, 3]))
        optimizer(grads)
        losses.append(float(loss))
        if step % 20 == 19:
            net.set_train(False)
            assert float((net(test_x).argmax(axis=1) == test_y).astype(ms.float32).mean()) > 0.4
    return losses


@healthy("forward-forward algorithm", steps=60)
def forward_forward_with_local_losses(steps: int) -> list[float]:
    """Hinton's forward-forward: every layer has its own loss and optimizer and a detached input; measure: mean loss."""
    rng = np.random.default_rng(70)
    classes, features = 4, 12
    centers = rng.standard_normal((classes, features))

    class GoodnessLayer(nn.Cell):
        def __init__(self, fan_in: int, fan_out: int) -> None:
            super().__init__()
            self.dense = nn.Dense(fan_in, fan_out, weight_init=HeNormal())
            self.threshold = 1.0

        def construct(self, x: Any) -> Any:
            x = x / (ops.sqrt((x * x).mean(axis=1, keep_dims=True)) + 1e-4)
            return ops.leaky_relu(self.dense(x), 0.05)

        def local_loss(self, positive: Any, negative: Any) -> Any:
            good = ops.square(self(positive)).mean(axis=1) - self.threshold
            bad = ops.square(self(negative)).mean(axis=1) - self.threshold
            return ops.softplus(-good).mean() + ops.softplus(bad).mean()

    layers = [GoodnessLayer(features + classes, 40), GoodnessLayer(40, 40), GoodnessLayer(40, 40)]
    optimizers = [nn.Adam(layer.trainable_params(), learning_rate=1e-2) for layer in layers]
    steps_of_layers = [ms.value_and_grad(layer.local_loss, None, layer.trainable_params()) for layer in layers]

    def with_label(x: Any, y: Any) -> Any:
        return ms.Tensor(np.hstack([x, 2.0 * np.eye(classes)[y]]).astype(np.float32))

    def predict(x: Any) -> Any:
        scores = []
        for label in range(classes):
            h = with_label(x, np.full(len(x), label))
            score = 0.0
            for layer in layers:
                h = layer(h)
                score = score + (h * h).mean(axis=1).asnumpy()
            scores.append(score)
        return np.argmax(scores, axis=0)

    losses = []
    for step in range(steps):
        y = rng.integers(0, classes, 32)
        x = centers[y] + 0.3 * rng.standard_normal((32, features))
        positive, negative = with_label(x, y), with_label(x, (y + rng.integers(1, classes, 32)) % classes)
        total = 0.0
        for layer, optimizer, step_of_layer in zip(layers, optimizers, steps_of_layers, strict=True):
            loss, grads = step_of_layer(positive, negative)
            optimizer(grads)
            total += float(loss) / len(layers)
            positive, negative = ops.stop_gradient(layer(positive)), ops.stop_gradient(layer(negative))
        if step == 50:
            assert (predict(x) == y).mean() > 0.3
        losses.append(total)
    return losses


@healthy("domain-adversarial training", steps=80)
def dann_with_reversed_gradient(steps: int) -> list[float]:
    """A custom bprop reverses the gradient of the domain's head; measure: the label's loss in the target's domain."""
    rng = np.random.default_rng(77)

    class GradientReversal(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.strength = 0.0

        def construct(self, x: Any) -> Any:
            return x * 1.0

        def bprop(self, x: Any, out: Any, dout: Any) -> tuple[Any]:
            return (-self.strength * dout,)

    class Dann(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.SequentialCell(nn.Dense(6, 24), nn.Tanh(), nn.Dense(24, 12), nn.Tanh())
            self.label_head = nn.Dense(12, 2)
            self.reversal = GradientReversal()
            self.domain_head = nn.SequentialCell(nn.Dense(12, 16), nn.ReLU(), nn.Dense(16, 1))

        def construct(self, x: Any) -> tuple[Any, Any]:
            h = self.features(x)
            return self.label_head(h), self.domain_head(self.reversal(h))

    def draw(count: int, target: bool) -> tuple[Any, Any]:
        y = rng.integers(0, 2, count)
        x = rng.standard_normal((count, 6))
        x[:, :2] += (2 * y - 1)[:, None] * 1.2
        x[:, 2] += 1.5 if target else (2 * y - 1) * 0.5  # a hint that exists in the source's domain alone
        return x.astype(np.float32), y.astype(np.int32)

    net = Dann()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=4e-3)
    domain = ms.Tensor(np.repeat([[0.0], [1.0]], 32, axis=0).astype(np.float32))

    def forward(x: Any, y: Any) -> Any:
        label_logits, domain_logits = net(x)
        wrong_domain = ops.binary_cross_entropy_with_logits(domain_logits, domain)
        return ops.cross_entropy(label_logits[:32], y) + wrong_domain

    grad_fn = ms.grad(forward, None, net.trainable_params())
    held_x, held_y = (ms.Tensor(a) for a in draw(128, True))
    losses = []
    for step in range(steps):
        net.reversal.strength = 0.3 * float(2.0 / (1.0 + np.exp(-10.0 * min(1.0, step / 60))) - 1.0)
        source_x, source_y = draw(32, False)
        target_x, _ = draw(32, True)
        optimizer(grad_fn(ms.Tensor(np.concatenate([source_x, target_x])), ms.Tensor(source_y)))
        losses.append(float(ops.cross_entropy(net(held_x)[0], held_y)))
    return losses


@healthy("hypernetwork", steps=70)
def hypernetwork_of_small_regressors(steps: int) -> list[float]:
    """A network writes the weights of a regressor that has no parameters of its own; measure: the queries' loss."""
    rng = np.random.default_rng(81)
    hidden = 12
    sizes = [hidden, hidden, hidden, 1]  # first weights and biases, second weights and bias

    class HyperNetwork(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.point_encoder = nn.SequentialCell(nn.Dense(2, 32, activation="relu"), nn.Dense(32, 32))
            self.summary = nn.SequentialCell(nn.ReLU(), nn.Dense(32, 32, activation="relu"))
            self.writer = nn.Dense(32, sum(sizes), weight_init=Normal(0.05))
            self.base = ms.Parameter(ms.Tensor(rng.normal(0, 0.7, sum(sizes)).astype(np.float32)), name="base")

        def write(self, context: Any) -> list[Any]:
            pooled = self.point_encoder(context).mean(axis=1)
            flat = self.base + self.writer(self.summary(pooled))
            ends = np.cumsum(sizes)
            return [flat[:, int(e) - s : int(e)] for e, s in zip(ends, sizes, strict=True)]

        def construct(self, context: Any, x: Any) -> Any:
            w1, b1, w2, b2 = self.write(context)
            h = ops.tanh(ops.bmm(x, w1.expand_dims(1)) + b1.expand_dims(1))
            return ops.bmm(h, w2.expand_dims(2)) + b2.expand_dims(1)

    def tasks(count: int) -> tuple[Any, ...]:
        amplitude = rng.uniform(0.5, 2.0, (count, 1, 1))
        phase = rng.uniform(-0.8, 0.8, (count, 1, 1))
        x = rng.uniform(-2.0, 2.0, (count, 16, 1))
        y = amplitude * np.sin(1.5 * x + phase)
        context = np.concatenate([x[:, :8], y[:, :8]], axis=2)
        return tuple(ms.Tensor(a.astype(np.float32)) for a in (context, x[:, 8:], y[:, 8:]))

    net = HyperNetwork()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=8e-3)

    @ms.jit
    def forward(context: Any, x: Any, y: Any) -> Any:
        return ops.smooth_l1_loss(net(context, x), y, reduction="mean")

    grad_fn = ms.value_and_grad(forward, None, net.trainable_params())
    losses = []
    for _ in range(steps):
        loss, grads = grad_fn(*tasks(24))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("word2vec", steps=80)
def word2vec_with_zero_output_table(steps: int) -> list[float]:
    """Skip-gram with negative samples; as in word2vec.c the output's table begins as zeros; measure: the loss."""
    rng = np.random.default_rng(90)
    words, topics, size, negatives = 30, 3, 10, 4
    frequency = 1.0 / (1.0 + np.arange(words) // topics)
    unigram = frequency**0.75 / (frequency**0.75).sum()

    class SkipGram(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.inputs = nn.Embedding(words, size, embedding_table=Normal(0.5))
            self.outputs = nn.Embedding(words, size, embedding_table="zeros")

        def loss(self, center: Any, context: Any, noise: Any) -> Any:
            v = self.inputs(center)
            positive = (v * self.outputs(context)).sum(axis=1)
            negative = ops.bmm(self.outputs(noise), v.expand_dims(2)).squeeze(2)
            return -(ops.logsigmoid(positive) + ops.logsigmoid(-negative).sum(axis=1)).mean()

    net = SkipGram()
    optimizer = nn.LazyAdam(net.trainable_params(), learning_rate=2e-2)
    grad_fn = ms.value_and_grad(net.loss, None, net.trainable_params())

    def pairs(count: int) -> tuple[Any, Any]:
        topic = rng.integers(0, topics, (count, 1))
        share = frequency[::topics] / frequency[::topics].sum()
        both = rng.choice(words // topics, (count, 2), p=share) * topics + topic
        return both[:, 0].astype(np.int32), both[:, 1].astype(np.int32)

    losses = []
    for _ in range(steps):
        center, context = pairs(64)
        noise = rng.choice(words, (64, negatives), p=unigram).astype(np.int32)
        loss, grads = grad_fn(ms.Tensor(center), ms.Tensor(context), ms.Tensor(noise))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("iterative magnitude pruning", steps=80)
def lottery_ticket_with_masks(steps: int) -> list[float]:
    """Small weights are pruned twice and held at zero by masks; measure: the loss, higher for a while after pruning."""
    rng = np.random.default_rng(95)
    teacher = rng.standard_normal((16, 3))

    class Mlp(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = nn.Dense(16, 40, weight_init="he_normal")
            self.fc2 = nn.Dense(40, 40, weight_init="he_normal")
            self.classifier = nn.Dense(40, 3)
            self.prelu = nn.PReLU(1, 0.1)

        def construct(self, x: Any) -> Any:
            x = self.prelu(self.fc1(x))
            x = self.prelu(self.fc2(x))
            return self.classifier(x)

    net = Mlp()
    params = net.trainable_params()
    prunable = [net.fc1.weight, net.fc2.weight]
    masks = {p.name: ops.ones_like(p) for p in prunable}
    optimizer = nn.RMSProp(params, learning_rate=1e-2, decay=0.9)
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(net(x), y), None, params)

    def prune(share: float) -> None:
        for p in prunable:
            size = np.abs(p.asnumpy())
            masks[p.name] = ms.Tensor((size > np.quantile(size, share)).astype(np.float32))

    losses = []
    for step in range(steps):
        if step in (30, 55):
            prune(0.5 if step == 30 else 0.8)
        x = rng.standard_normal((48, 16)).astype(np.float32)
        y = (x @ teacher).argmax(1).astype(np.int32)
        loss, grads = grad_fn(ms.Tensor(x), ms.Tensor(y))
        optimizer(tuple(g * masks[p.name] if p.name in masks else g for p, g in zip(params, grads, strict=True)))
        for p in prunable:
            p.set_data(p * masks[p.name])
        losses.append(float(loss))
    return losses


@healthy("deep equilibrium model", steps=60)
def equilibrium_with_last_step_gradient(steps: int) -> list[float]:
    """A layer runs to its fixed point without gradients; only one more step is differentiated; measure: the loss."""
    rng = np.random.default_rng(99)
    width = 24

    class Equilibrium(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            start = 0.4 * np.linalg.qr(rng.standard_normal((width, width)))[0]
            self.recur = nn.Dense(width, width, weight_init=ms.Tensor(start.astype(np.float32)), has_bias=False)
            self.inject = nn.Dense(8, width)

        def step(self, z: Any, injected: Any) -> Any:
            return ops.tanh(self.recur(z) + injected)

        def construct(self, x: Any) -> Any:
            injected = self.inject(x)
            still = ops.stop_gradient(injected)
            z = ops.zeros_like(still)
            for _ in range(12):
                z = ops.stop_gradient(self.step(z, still))
            return self.step(z, injected)

    class EquilibriumRegressor(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.equilibrium = Equilibrium()
            self.readout = nn.Dense(width, 1)

        def construct(self, x: Any) -> Any:
            return self.readout(self.equilibrium(x)).squeeze(-1)

    net = EquilibriumRegressor()
    optimizer = nn.AdaMax(net.trainable_params(), learning_rate=2e-2)
    huber = nn.HuberLoss(delta=1.0)
    grad_fn = ms.value_and_grad(lambda x, y: huber(net(x), y), None, net.trainable_params())
    a, b = rng.standard_normal((2, 8)) / 2.0
    losses = []
    for _ in range(steps):
        x = rng.standard_normal((48, 8))
        y = np.sin(x @ a) + 0.5 * (x @ b)
        loss, grads = grad_fn(ms.Tensor(x.astype(np.float32)), ms.Tensor(y.astype(np.float32)))
        optimizer(grads)
        recur = net.equilibrium.recur.weight
        norm = float(np.linalg.norm(recur.asnumpy(), 2))
        if norm > 0.9:  # stay a contraction
            recur.set_data(recur * (0.9 / norm))
        losses.append(float(loss))
    return losses
