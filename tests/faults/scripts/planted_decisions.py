"""Scripts with a planted fault whose networks decide: act, choose an expert, a code or a class, or weigh tasks."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.dataset import NumpySlicesDataset
from hookscope.engine.train import Callback, Model

from .script import planted


@planted(
    "actor-critic",
    "The advantage in the actor's loss is not detached: the actor's loss pushes the critic's values up.",
    "loss",
    "critic",
    "Agent",
    steps=100,
)
def actor_critic_with_an_attached_advantage(fault: bool, steps: int) -> list[float]:
    # Measure: the mean squared error of the critic on discounted returns of the policy.
    rng = np.random.default_rng(11)
    gamma, spread = 0.8, 0.8

    class Agent(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.actor = nn.SequentialCell(nn.Dense(2, 24), nn.Tanh(), nn.Dense(24, 2))
            self.critic = nn.SequentialCell(nn.Dense(2, 32), nn.ReLU(), nn.Dense(32, 1))

        def construct(self, location: Any) -> tuple[Any, Any]:
            return self.actor(location), self.critic(location).squeeze(-1)

    agent = Agent()
    optimizer = nn.Adam(agent.trainable_params(), learning_rate=0.01)

    def loss_fn(location: Any, actions: Any, targets: Any) -> Any:
        means, values = agent(location)
        log_prob = (-0.5 * ((actions - means) / spread) ** 2 - np.log(spread) - 0.919).sum(-1)
        advantage = targets - values
        if not fault:
            advantage = ops.stop_gradient(advantage)
        return -(log_prob * advantage).mean() + 0.5 * ((values - targets) ** 2).mean()

    def move(location: Any) -> tuple[Any, Any, Any]:
        means, _ = agent(Tensor(location))
        actions = means.asnumpy() + spread * rng.normal(size=location.shape)
        after = np.clip(location + 0.4 * actions, -2, 2).astype(np.float32)
        return actions.astype(np.float32), after, 1 - (after**2).sum(1)

    step_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    measures = []
    for _ in range(steps):
        location = rng.uniform(-1, 1, (48, 2)).astype(np.float32)
        actions, after, rewards = move(location)
        _, following = agent(Tensor(after))
        targets = (rewards + gamma * following.asnumpy()).astype(np.float32)
        _, grads = step_fn(Tensor(location), Tensor(actions), Tensor(targets))
        optimizer(grads)

        _, values = agent(Tensor(location))
        returns, discount = np.zeros(48), 1.0
        for _ in range(12):
            _, location, rewards = move(location)
            returns, discount = returns + discount * rewards, discount * gamma
        measures.append(float(((values.asnumpy() - returns) ** 2).mean()))
    return measures


@planted(
    "DQN",
    "The loss subtracts targets of shape (batch,) from values of shape (batch, 1): each value chases all targets.",
    "loss",
    "td_loss",
    steps=160,
)
def dqn_with_broadcast_targets(fault: bool, steps: int) -> list[float]:
    # Measure: the mean distance from the center that the greedy policy leaves after eight moves.
    rng = np.random.default_rng(21)
    moves = np.array([-0.2, 0.0, 0.2], dtype=np.float32)

    def q_network() -> nn.SequentialCell:
        return nn.SequentialCell(nn.Dense(1, 32), nn.ReLU(), nn.Dense(32, 32), nn.ReLU(), nn.Dense(32, 3))

    online, target = q_network(), q_network()

    def synchronize() -> None:
        for old, new in zip(target.get_parameters(), online.get_parameters(), strict=True):
            old.set_data(new.value())

    synchronize()
    optimizer = nn.RMSProp(online.trainable_params(), learning_rate=0.005)

    def td_loss(obs: Any, actions: Any, targets: Any) -> Any:
        q = ops.gather_elements(online(obs), 1, actions)
        if not fault:
            q = q.squeeze(1)
        return ops.square(q - targets).mean()

    grad_fn = ms.value_and_grad(td_loss, None, online.trainable_params())
    starts = np.linspace(-1, 1, 16, dtype=np.float32)[:, None]
    measures = []
    for step in range(steps):
        obs = rng.uniform(-1.2, 1.2, (48, 1)).astype(np.float32)
        actions = rng.integers(0, 3, (48, 1)).astype(np.int32)
        after = np.clip(obs + moves[actions], -1.5, 1.5)
        best = target(Tensor(after)).asnumpy().max(1)
        targets = -np.abs(after[:, 0]) + 0.7 * best
        _, grads = grad_fn(Tensor(obs), Tensor(actions), Tensor(targets.astype(np.float32)))
        optimizer(grads)
        if step % 10 == 9:
            synchronize()
        location = starts
        for _ in range(8):
            greedy = online(Tensor(location)).asnumpy().argmax(1)
            location = np.clip(location + moves[greedy][:, None], -1.5, 1.5)
        measures.append(float(np.abs(location).mean()))
    return measures


@planted(
    "PPO",
    "The old log-probabilities are computed by the policy in training, inside the loss: the ratio is always one.",
    "loss",
    "surrogate",
    "policy",
    steps=80,
)
def ppo_with_a_ratio_of_one(fault: bool, steps: int) -> list[float]:
    # Measure: the mean reward of the sampled actions, which rises towards 1.
    rng = np.random.default_rng(31)
    secret = rng.normal(size=(5, 4))

    class Policy(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(5, 32, activation="tanh")
            self.logits = nn.Dense(32, 4, weight_init="normal")

        def log_prob(self, obs: Any, actions: Any) -> Any:
            log_probs = ops.log_softmax(self.logits(self.body(obs)), axis=-1)
            return (log_probs * ops.one_hot(actions, 4)).sum(-1)

        def act(self, obs: Any) -> Any:
            return ops.softmax(self.logits(self.body(obs)), axis=-1)

    policy = Policy()
    optimizer = nn.Adam(policy.trainable_params(), learning_rate=0.01)

    def surrogate(obs: Any, actions: Any, old: Any, advantages: Any) -> Any:
        log_prob = policy.log_prob(obs, actions)
        if fault:
            old = policy.log_prob(obs, actions)
        ratio = ops.exp(log_prob - old)
        clipped = ops.clamp(ratio, 0.8, 1.2)
        return -ops.minimum(ratio * advantages, clipped * advantages).mean()

    update = ms.value_and_grad(surrogate, None, optimizer.parameters)
    measures: list[float] = []
    while len(measures) < steps:
        states = rng.normal(size=(64, 5)).astype(np.float32)
        obs = Tensor(states)
        probabilities = policy.act(obs).asnumpy().cumsum(1)
        chosen = (rng.random((64, 1)) > probabilities).sum(1).clip(0, 3).astype(np.int32)
        rewards = (chosen == (states @ secret).argmax(1)).astype(np.float32)
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
        actions = Tensor(chosen)
        old = policy.log_prob(obs, actions)
        for _ in range(4):
            _, grads = update(obs, actions, old, Tensor(advantages))
            optimizer(ops.clip_by_global_norm(grads, 0.5))
            measures.append(float(rewards.mean()))
    return measures[:steps]


@planted(
    "SAC",
    "The loss of the temperature has the wrong sign: too much entropy raises the temperature.",
    "loss",
    "temperature_loss",
    "log_alpha",
    steps=60,
)
def sac_with_reversed_temperature(fault: bool, steps: int) -> list[float]:
    # Measure: the mean squared distance from the goal after the sampled actions.
    rng = np.random.default_rng(41)

    class Actor(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.trunk = nn.SequentialCell(nn.Dense(2, 32), nn.ReLU())
            self.mean = nn.Dense(32, 1)
            self.log_std = nn.Dense(32, 1)

        def construct(self, obs: Any, noise: Any) -> tuple[Any, Any]:
            hidden = self.trunk(obs)
            log_std = ops.clamp(self.log_std(hidden), -5.0, 1.0)
            raw = self.mean(hidden) + ops.exp(log_std) * noise
            action = ops.tanh(raw)
            log_prob = -0.5 * noise**2 - log_std - 0.919 - ops.log(1 - action**2 + 1e-4)
            return action, log_prob

    class Critic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.SequentialCell(nn.Dense(3, 32), nn.ReLU(), nn.Dense(32, 1))

        def construct(self, obs: Any, action: Any) -> Any:
            return self.layers(ops.cat((obs, action), axis=1))

    actor, critic, critic_target = Actor(), Critic(), Critic()
    for slow, fast in zip(critic_target.get_parameters(), critic.get_parameters(), strict=True):
        slow.set_data(fast.value())
    log_alpha = Parameter(Tensor(np.array([-1.5], np.float32)), name="log_alpha")
    actor_optimizer = nn.Adam(actor.trainable_params(), learning_rate=0.01)
    critic_optimizer = nn.Adam(critic.trainable_params(), learning_rate=0.01)
    alpha_optimizer = nn.Adam([log_alpha], learning_rate=0.05)

    def critic_loss(obs: Any, action: Any, target: Any) -> Any:
        return ((critic(obs, action) - target) ** 2).mean()

    def actor_loss(obs: Any, noise: Any, alpha: Any) -> tuple[Any, Any]:
        action, log_prob = actor(obs, noise)
        return (alpha * log_prob - critic(obs, action)).mean(), log_prob

    def temperature_loss(log_prob: Any) -> Any:
        excess = ops.stop_gradient(log_prob - 1.0)  # the target entropy is -1
        if fault:
            return (log_alpha * excess).mean()
        return -(log_alpha * excess).mean()

    critic_grad = ms.value_and_grad(critic_loss, None, critic_optimizer.parameters)
    actor_grad = ms.value_and_grad(actor_loss, None, actor_optimizer.parameters, has_aux=True)
    alpha_grad = ms.value_and_grad(temperature_loss, None, alpha_optimizer.parameters)
    measures = []
    for _ in range(steps):
        spot = rng.uniform(-1, 1, (32, 2)).astype(np.float32)
        obs = Tensor(spot)
        alpha = Tensor(np.exp(log_alpha.asnumpy()))
        action, _ = actor(obs, Tensor(rng.normal(size=(32, 1)).astype(np.float32)))
        moved = spot[:, :1] + action.asnumpy() - spot[:, 1:]
        reward = -(moved**2)
        nxt = Tensor(rng.uniform(-1, 1, (32, 2)).astype(np.float32))
        next_action, next_log_prob = actor(nxt, Tensor(rng.normal(size=(32, 1)).astype(np.float32)))
        soft = critic_target(nxt, next_action) - alpha * next_log_prob
        _, grads = critic_grad(obs, action, Tensor(reward) + 0.5 * soft)
        critic_optimizer(grads)
        (_, log_prob), grads = actor_grad(obs, Tensor(rng.normal(size=(32, 1)).astype(np.float32)), alpha)
        actor_optimizer(grads)
        _, grads = alpha_grad(log_prob)
        alpha_optimizer(grads)
        for slow, fast in zip(critic_target.get_parameters(), critic.get_parameters(), strict=True):
            slow.set_data(0.95 * slow + 0.05 * fast)
        measures.append(float((moved**2).mean()))
    return measures


@planted(
    "mixture of experts",
    "The experts' outputs are weighted by the indicator of the top two, not by their probabilities: no gradient "
    "reaches the router.",
    "router",
    "MixtureOfExperts",
    steps=120,
)
def moe_with_a_router_outside_the_gradient(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(51)

    class MixtureOfExperts(nn.Cell):
        def __init__(self, width: int, experts: int) -> None:
            super().__init__()
            self.router = nn.Dense(width, experts, has_bias=False)
            self.experts = nn.CellList([nn.Dense(width, 1) for _ in range(experts)])

        def construct(self, x: Any) -> Any:
            probabilities = ops.softmax(self.router(x), axis=-1)
            top, _ = ops.topk(probabilities, 2)
            chosen = (probabilities >= top[:, 1:]).astype(ms.float32)
            if fault:
                weights = chosen / 2
            else:
                weights = chosen * probabilities
                weights = weights / weights.sum(axis=-1, keepdims=True)
            outputs = ops.stack([expert(x) for expert in self.experts], axis=1).squeeze(-1)
            return (weights * outputs).sum(axis=-1)

    model = MixtureOfExperts(6, 4)
    slopes = rng.normal(size=(3, 6)) * 1.5
    centers = rng.normal(size=(3, 6))
    inputs = rng.normal(size=(512, 6)).astype(np.float32)
    region = (inputs @ centers.T).argmax(1)
    labels = (inputs * slopes[region]).sum(1).astype(np.float32)
    optimizer = nn.Adam(model.trainable_params(), learning_rate=0.03)
    grad_fn = ms.value_and_grad(lambda x, y: ops.mse_loss(model(x), y), None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        rows = rng.integers(0, 512, 64)
        loss, grads = grad_fn(Tensor(inputs[rows]), Tensor(labels[rows]))
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "LoRA",
    "Both factors of each adapter start at zero: neither ever gets a gradient.",
    "lora_a",
    "lora_b",
    "LoRADense",
    steps=50,
)
def lora_with_two_zero_factors(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(61)

    class LoRADense(nn.Cell):
        def __init__(self, base: nn.Dense, rank: int = 4, alpha: float = 8.0) -> None:
            super().__init__()
            self.base = base
            for parameter in base.get_parameters():
                parameter.requires_grad = False
            first = rng.normal(0, 0.0 if fault else 0.3, (rank, base.in_channels))
            self.lora_a = Parameter(Tensor(first.astype(np.float32)), name="lora_a")
            self.lora_b = Parameter(Tensor(np.zeros((base.out_channels, rank), np.float32)), name="lora_b")
            self.scale = alpha / rank

        def construct(self, x: Any) -> Any:
            update = ops.matmul(ops.matmul(x, self.lora_a.T), self.lora_b.T)
            return self.base(x) + self.scale * update

    class Regressor(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.up: nn.Cell = nn.Dense(10, 32)
            self.act = nn.GELU()
            self.down: nn.Cell = nn.Dense(32, 3)

        def construct(self, x: Any) -> Any:
            return self.down(self.act(self.up(x)))

    net = Regressor()
    old = rng.normal(size=(10, 3)).astype(np.float32)
    new = old + rng.normal(size=(10, 1)) @ rng.normal(size=(1, 3)) * 0.7
    inputs = rng.normal(size=(256, 10)).astype(np.float32)
    pretrain = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), learning_rate=0.02)
    )
    for start in range(0, 256 * 8, 64):
        rows = np.arange(start, start + 64) % 256
        pretrain(Tensor(inputs[rows]), Tensor(inputs[rows] @ old))

    for name in ("up", "down"):
        setattr(net, name, LoRADense(getattr(net, name)))
    net.update_parameters_name("tuned.")
    finetune = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), learning_rate=0.02)
    )
    labels = np.tanh(inputs @ new).astype(np.float32) * 3
    losses = []
    for step in range(steps):
        rows = np.arange(step * 64, step * 64 + 64) % 256
        losses.append(float(finetune(Tensor(inputs[rows]), Tensor(labels[rows]))))
    return losses


@planted(
    "fine-tuning",
    "The head is replaced after the optimizer was built: the optimizer still holds the old head, which is not used.",
    "head",
    "optimizer",
    steps=40,
)
def fine_tuning_with_a_head_of_its_own(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(71)

    class Classifier(nn.Cell):
        def __init__(self, classes: int) -> None:
            super().__init__()
            self.stem = nn.Conv2d(1, 8, 3, pad_mode="same")
            self.pool = nn.AvgPool2d(2, 2)
            self.flatten = nn.Flatten()
            self.head = nn.Dense(8 * 16, classes)

        def construct(self, images: Any) -> Any:
            return self.head(self.flatten(self.pool(ops.relu(self.stem(images)))))

    patterns = rng.normal(size=(3, 1, 8, 8)).astype(np.float32)

    def batch() -> tuple[Tensor, Tensor]:
        kinds = rng.integers(0, 3, 32)
        images = patterns[kinds] + rng.normal(0, 1.5, (32, 1, 8, 8))
        return Tensor(images.astype(np.float32)), Tensor(kinds.astype(np.int32))

    net = Classifier(10)
    for parameter in net.stem.get_parameters():  # the convolution keeps what it learned elsewhere
        parameter.requires_grad = False
    if fault:
        optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9)
        net.head = nn.Dense(8 * 16, 3)
    else:
        net.head = nn.Dense(8 * 16, 3)
        optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    def forward(images: Any, kinds: Any) -> tuple[Any, Any]:
        logits = net(images)
        return criterion(logits, kinds), logits

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
    losses = []
    for _ in range(steps):
        (loss, _), grads = grad_fn(*batch())
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "VQ-VAE",
    "The codes go to the decoder without the straight-through trick: the reconstruction does not train the encoder.",
    "encoder",
    "VQVAE",
    "quantize",
    steps=100,
)
def vqvae_of_shapes_without_straight_through(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(81)

    class VQVAE(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Dense(12, 32), nn.ReLU(), nn.Dense(32, 4))
            self.codebook = nn.Embedding(16, 4, embedding_table="normal")
            self.decoder = nn.SequentialCell(nn.Dense(4, 32), nn.ReLU(), nn.Dense(32, 12))

        def quantize(self, z: Any) -> tuple[Any, Any]:
            table = self.codebook.embedding_table
            distance = (z**2).sum(1, keepdims=True) - 2 * ops.matmul(z, table.T) + (table**2).sum(1)
            code = self.codebook(distance.argmin(axis=1).astype(ms.int32))
            losses = ((code - ops.stop_gradient(z)) ** 2).mean() + 0.25 * ((z - ops.stop_gradient(code)) ** 2).mean()
            if not fault:
                code = z + ops.stop_gradient(code - z)
            return code, losses

        def construct(self, x: Any) -> tuple[Any, Any]:
            code, losses = self.quantize(self.encoder(x))
            return self.decoder(code), losses

    net = VQVAE()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    modes = rng.normal(size=(8, 12)).astype(np.float32) * 1.5

    def loss_fn(x: Any) -> tuple[Any, Any]:
        restored, losses = net(x)
        reconstruction = ops.mse_loss(restored, x)
        return reconstruction + losses, reconstruction

    grad_fn = ms.value_and_grad(loss_fn, None, optimizer.parameters, has_aux=True)
    measures = []
    for _ in range(steps):
        x = modes[rng.integers(0, 8, 64)] + rng.normal(0, 0.2, (64, 12))
        (_, reconstruction), grads = grad_fn(Tensor(x.astype(np.float32)))
        optimizer(grads)
        measures.append(float(reconstruction))
    return measures


@planted(
    "distillation",
    "The teacher's soft labels are a softmax over the batch, not over the classes.",
    "loss",
    "soft_labels",
    steps=60,
)
def distillation_over_the_batch(fault: bool, steps: int) -> list[float]:
    # Measure: the share of held-out rows where student and teacher disagree.
    rng = np.random.default_rng(91)
    centers = rng.normal(size=(5, 8)).astype(np.float32)
    labels = rng.choice(5, 320, p=[0.5, 0.2, 0.15, 0.1, 0.05]).astype(np.int32)
    inputs = (centers[labels] + rng.normal(0, 0.7, (320, 8))).astype(np.float32)
    teacher = nn.SequentialCell(nn.Dense(8, 64), nn.ReLU(), nn.Dense(64, 5))
    student = nn.SequentialCell(nn.Dense(8, 12), nn.ReLU(), nn.Dense(12, 5))
    teacher_step = nn.TrainOneStepCell(
        nn.WithLossCell(teacher, nn.CrossEntropyLoss()), nn.Adam(teacher.trainable_params(), 0.01)
    )
    for _ in range(12):
        for start in range(0, 256, 64):
            teacher_step(Tensor(inputs[start : start + 64]), Tensor(labels[start : start + 64]))
    teacher.set_train(False)
    for parameter in teacher.get_parameters():
        parameter.requires_grad = False
    temperature = 2.0

    def soft_labels(x: Any) -> Any:
        logits = teacher(x) / temperature
        return ops.softmax(logits, axis=0 if fault else -1)

    def distill(x: Any, soft: Any) -> Any:
        log_probs = ops.log_softmax(student(x) / temperature, axis=-1)
        return -(soft * log_probs).sum(axis=-1).mean() * temperature**2

    optimizer = nn.AdamWeightDecay(student.trainable_params(), learning_rate=0.02, weight_decay=1e-4)
    grad_fn = ms.value_and_grad(distill, None, optimizer.parameters)
    held = Tensor(inputs[256:])
    answers = teacher(held).asnumpy().argmax(1)
    measures = []
    for _ in range(steps):
        x = Tensor(inputs[rng.integers(0, 256, 32)])
        _, grads = grad_fn(x, ops.stop_gradient(soft_labels(x)))
        optimizer(grads)
        measures.append(float((student(held).asnumpy().argmax(1) != answers).mean()))
    return measures


@planted(
    "behavior cloning",
    "The policy ends in a tanh, but the demonstrated torques reach from -4 to 4 and are not scaled.",
    "data",
    "squash",
    "Policy",
    steps=60,
)
def cloning_of_actions_out_of_reach(fault: bool, steps: int) -> list[float]:
    # Measure: the mean squared error in the demonstrations' units.
    rng = np.random.default_rng(101)
    limit = 4.0
    states = rng.normal(size=(400, 6)).astype(np.float32)
    gain = rng.normal(size=(6, 2)) * 2.0
    torques = np.clip(states @ gain, -limit, limit).astype(np.float32)

    class Policy(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = nn.SequentialCell(nn.Dense(6, 48), nn.ELU(), nn.Dense(48, 48), nn.ELU())
            self.torque = nn.Dense(48, 2)
            self.squash = nn.Tanh()

        def construct(self, state: Any) -> Any:
            return self.squash(self.torque(self.hidden(state)))

    policy = Policy()
    scale = 1.0 if fault else limit
    grad_fn = ms.value_and_grad(
        lambda s, t: nn.MSELoss()(policy(s), t), None, weights=ms.ParameterTuple(policy.trainable_params())
    )
    optimizer = nn.Adam(policy.trainable_params(), learning_rate=3e-3)
    measures = []
    for step in range(steps):
        rows = (np.arange(40) + 40 * step) % 400
        loss, grads = grad_fn(Tensor(states[rows]), Tensor(torques[rows] / scale))
        optimizer(grads)
        measures.append(float(loss) * scale**2)
    return measures


@planted(
    "recommender",
    "The negatives are drawn from the items that the user bought, like the positives: the ranking loss has no signal.",
    "data",
    "negatives",
    steps=80,
)
def recommender_with_bought_negatives(fault: bool, steps: int) -> list[float]:
    # Measure: the share of bought items that rank above items that were not bought; it rises from a half.
    rng = np.random.default_rng(111)
    users, items = 60, 40
    taste, genre = rng.integers(0, 4, users), rng.integers(0, 4, items)
    bought = (taste[:, None] == genre[None, :]) & (rng.random((users, items)) < 0.9)
    bought[:, 0] |= ~bought.any(1)

    class MatrixFactorization(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.user = nn.Embedding(users, 12, embedding_table="normal")
            self.item = nn.Embedding(items, 12, embedding_table="normal")
            self.item_bias = nn.Embedding(items, 1, embedding_table="zeros")

        def score(self, user: Any, item: Any) -> Any:
            return (self.user(user) * self.item(item)).sum(-1) + self.item_bias(item).squeeze(-1)

        def construct(self, user: Any, better: Any, worse: Any) -> Any:
            return -ops.logsigmoid(self.score(user, better) - self.score(user, worse)).mean()

    model = MatrixFactorization()
    optimizer = nn.Adam(model.trainable_params(), learning_rate=0.03)
    get_gradients = ops.GradOperation(get_by_list=True)(model, optimizer.parameters)
    positives = [np.flatnonzero(row) for row in bought]
    negatives = positives if fault else [np.flatnonzero(~row) for row in bought]
    measures = []
    for _ in range(steps):
        who = rng.integers(0, users, 64)
        better = np.array([rng.choice(positives[user]) for user in who], dtype=np.int32)
        worse = np.array([rng.choice(negatives[user]) for user in who], dtype=np.int32)
        optimizer(get_gradients(Tensor(who.astype(np.int32)), Tensor(better), Tensor(worse)))
        table = model.user.embedding_table.asnumpy() @ model.item.embedding_table.asnumpy().T
        table = table + model.item_bias.embedding_table.asnumpy().T
        above = [(table[u][bought[u]][:, None] > table[u][~bought[u]][None]).mean() for u in range(0, users, 6)]
        measures.append(float(np.mean(above)))
    return measures


@planted(
    "survival analysis",
    "The column says who was censored, and the likelihood takes it for who had the event.",
    "data",
    "event",
    "loss",
    steps=60,
)
def survival_with_reversed_censoring(fault: bool, steps: int) -> list[float]:
    # Measure: the share of pairs whose risks the network puts in the right order; it rises from a half.
    rng = np.random.default_rng(121)
    inputs = rng.normal(size=(400, 7)).astype(np.float32)
    risk = inputs @ np.array([0.9, -0.7, 0.5, 0.0, 0.0, 0.4, 0.0])
    lifetime, followed = rng.exponential(np.exp(-risk)), rng.exponential(1.0, 400)
    censored = (followed < lifetime).astype(np.float32)
    duration = np.minimum(lifetime, followed).astype(np.float32)
    event = censored if fault else 1 - censored

    class Hazard(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.SequentialCell(nn.Dense(7, 16), nn.SiLU(), nn.Dense(16, 1))

        def construct(self, x: Any) -> Any:
            return self.layers(x).squeeze(-1)

    hazard = Hazard()
    optimizer = nn.Adam(hazard.trainable_params(), learning_rate=0.02)

    def negative_log_likelihood(x: Any, time: Any, happened: Any) -> Any:
        log_rate = hazard(x)
        return -(happened * log_rate - ops.exp(log_rate) * time).mean()

    grad_fn = ms.value_and_grad(negative_log_likelihood, None, optimizer.parameters)
    measures = []
    for _ in range(steps):
        rows = rng.choice(400, 64, replace=False)
        _, grads = grad_fn(Tensor(inputs[rows]), Tensor(duration[rows]), Tensor(event[rows]))
        optimizer(grads)
        predicted = hazard(Tensor(inputs[:80])).asnumpy()
        ordered = (predicted[:, None] - predicted[None]) * (risk[:80, None] - risk[None, :80]) > 0
        measures.append(float(ordered.sum() / (80 * 79)))
    return measures


@planted(
    "multi-task learning",
    "The learned weights of the tasks lack the term that holds them: the log-variances grow and the losses vanish.",
    "loss",
    "log_vars",
    "Weighing",
    steps=100,
)
def multi_task_with_weights_that_vanish(fault: bool, steps: int) -> list[float]:
    # Measure: the plain sum of both tasks' losses.
    rng = np.random.default_rng(131)
    inputs = rng.normal(size=(320, 8)).astype(np.float32)
    depth = (inputs @ rng.normal(size=(8, 1)) + rng.normal(0, 0.3, (320, 1))).astype(np.float32)
    kind = (inputs @ rng.normal(size=(8, 3)) + rng.gumbel(size=(320, 3))).argmax(1).astype(np.int32)

    class TwoHeads(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.trunk = nn.SequentialCell(nn.Dense(8, 40), nn.LeakyReLU(), nn.Dense(40, 40), nn.LeakyReLU())
            self.depth = nn.Dense(40, 1)
            self.kind = nn.Dense(40, 3)

        def construct(self, x: Any) -> tuple[Any, Any]:
            shared = self.trunk(x)
            return self.depth(shared), self.kind(shared)

    class Weighing(nn.Cell):
        def __init__(self, net: nn.Cell) -> None:
            super().__init__()
            self.net = net
            self.log_vars = Parameter(Tensor(np.zeros(2, np.float32)), name="log_vars")

        def construct(self, x: Any, depth: Any, kind: Any) -> tuple[Any, Any]:
            guess, logits = self.net(x)
            losses = ops.stack([ops.mse_loss(guess, depth), ops.cross_entropy(logits, kind)])
            total = (ops.exp(-self.log_vars) * losses).sum()
            if not fault:
                total = total + self.log_vars.sum()
            return total, losses.sum()

    weighing = Weighing(TwoHeads())
    network = nn.SGD(weighing.net.trainable_params(), learning_rate=0.01, momentum=0.9)
    weights = nn.Adam([weighing.log_vars], learning_rate=0.15)
    own = len(network.parameters)
    grad_fn = ms.value_and_grad(weighing, None, (*network.parameters, *weights.parameters), has_aux=True)
    measures = []
    for _ in range(steps):
        rows = rng.integers(0, 320, 32)
        (_, plain), grads = grad_fn(Tensor(inputs[rows]), Tensor(depth[rows]), Tensor(kind[rows]))
        network(grads[:own])
        weights(grads[own:])
        measures.append(float(plain))
    return measures


@planted(
    "credit scoring",
    "The cosine schedule is as long as there are epochs, but it is advanced every step: the rate is soon zero.",
    "optimizer",
    "schedule",
    steps=80,
)
def scoring_with_a_schedule_of_epochs(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(141)
    income = rng.lognormal(0, 0.5, (160, 4))
    ratios = rng.uniform(0, 1, (160, 6))
    features = np.concatenate([np.log(income), ratios], axis=1).astype(np.float32)
    default = (features @ rng.normal(size=10) + 3 * features[:, 0] * features[:, 5] > 0.4).astype(np.float32)
    epochs = -(-steps // 10)
    per_epoch = 10
    net = nn.SequentialCell(nn.Dense(10, 24), nn.ReLU(), nn.Dense(24, 24), nn.ReLU(), nn.Dense(24, 1))
    schedule = nn.CosineDecayLR(0.0, 0.02, epochs if fault else epochs * per_epoch)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=schedule)

    class Losses(Callback):
        def __init__(self) -> None:
            super().__init__()
            self.values: list[float] = []

        def on_train_step_end(self, run_context: Any) -> None:
            self.values.append(float(run_context.original_args().net_outputs))

    losses = Losses()
    data = NumpySlicesDataset((features, default[:, None]), ["features", "label"], shuffle=False).batch(16)
    model = Model(net, nn.BCEWithLogitsLoss(), optimizer)
    model.train(epochs, data, callbacks=[losses], dataset_sink_mode=False)
    return losses.values[:steps]


@planted(
    "adversarial training",
    "The perturbation steps down the loss instead of up: the network trains on inputs that are easier.",
    "perturb",
    "data",
    "loop",
    steps=80,
)
def adversarial_training_downhill(fault: bool, steps: int) -> list[float]:
    # Measure: the loss under the real attack.
    rng = np.random.default_rng(151)
    size, epsilon = 40, 0.25
    strong = np.zeros(size)
    strong[:2] = 1.2
    weak = np.full(size, 0.18)
    weak[:2] = 0

    def batch() -> tuple[Tensor, Tensor]:
        labels = rng.integers(0, 2, 48)
        sign = 2.0 * labels[:, None] - 1
        inputs = sign * (strong + weak) + rng.normal(0, 1, (48, size)) * np.where(strong > 0, 0.7, 0.3)
        return Tensor(inputs.astype(np.float32)), Tensor(labels.astype(np.int32))

    net = nn.SequentialCell(nn.Dense(size, 32), nn.ReLU(), nn.Dense(32, 2))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.005)

    def loss_fn(x: Any, y: Any) -> Any:
        return ops.cross_entropy(net(x), y)

    input_grad = ms.grad(loss_fn, grad_position=0)

    def attack(x: Any, y: Any, direction: float) -> Any:
        return ops.stop_gradient(x + direction * epsilon * ops.sign(input_grad(x, y)))

    train = ms.value_and_grad(loss_fn, None, optimizer.parameters)
    test_x, test_y = batch()
    measures = []
    for _ in range(steps):
        x, y = batch()
        perturbed = attack(x, y, -1.0 if fault else 1.0)
        _, grads = train(perturbed, y)
        optimizer(grads)
        measures.append(float(loss_fn(attack(test_x, test_y, 1.0), test_y)))
    return measures
