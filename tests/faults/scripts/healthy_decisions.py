"""Healthy programs that learn to decide: reinforcement learning, routing, choices, preferences, plans."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import dataset, mint, nn, ops
from hookscope.engine.mindspore.experimental import optim
from hookscope.engine.tensors.initializer import Normal
from hookscope.engine.train import Callback, Model

from .script import healthy


@healthy("REINFORCE", steps=60)
def reinforce_in_a_corridor(steps: int) -> list[float]:
    # The measure is the mean return of the batch's episodes: it rises.
    rng = np.random.default_rng(11)
    length, episodes, moves = 9, 16, 14
    policy = nn.SequentialCell(nn.Dense(length, 24), nn.Tanh(), nn.Dense(24, 2))
    optimizer = nn.Adam(policy.trainable_params(), learning_rate=0.02)
    baseline = np.zeros(moves, np.float32)

    def surrogate(states: Any, actions: Any, advantages: Any, alive: Any) -> Any:
        log_probs = ops.log_softmax(policy(states), -1)
        chosen = ops.gather_elements(log_probs, 1, actions.expand_dims(1)).squeeze(1)
        return -(chosen * advantages * alive).sum() / episodes

    train = ms.value_and_grad(surrogate, None, policy.trainable_params())
    returns_of_steps = []
    for _ in range(steps):
        location = rng.integers(1, 5, episodes)
        done = np.zeros(episodes, bool)
        states, actions, rewards, alive = [], [], [], []
        for _ in range(moves):
            state = np.eye(length, dtype=np.float32)[location]
            probs = ops.softmax(policy(ms.Tensor(state)), -1).asnumpy()
            action = (rng.random(episodes) < probs[:, 1]).astype(np.int32)
            alive.append(~done)
            location = np.where(done, location, np.clip(location + 2 * action - 1, 0, length - 1))
            arrived = (location == length - 1) & ~done
            rewards.append(arrived * 1.0 - 0.05 * ~done)
            done |= arrived
            states.append(state)
            actions.append(action)
        gain = np.zeros((moves, episodes), np.float32)
        later = np.zeros(episodes)
        for t in reversed(range(moves)):
            later = rewards[t] + 0.97 * later
            gain[t] = later
        mask = np.array(alive, np.float32)
        advantage = gain - baseline[:, None]
        baseline += 0.1 * ((gain * mask).sum(1) / np.maximum(mask.sum(1), 1) - baseline)
        _, gradients = train(
            ms.Tensor(np.concatenate(states)),
            ms.Tensor(np.concatenate(actions)),
            ms.Tensor(advantage.reshape(-1)),
            ms.Tensor(mask.reshape(-1)),
        )
        optimizer(gradients)
        returns_of_steps.append(float(gain[0].mean()))
    return returns_of_steps


@healthy("actor-critic", steps=60)
def actor_critic_with_a_shared_trunk(steps: int) -> list[float]:
    # The measure is the mean reward of a rollout of 8 moves in 32 worlds: it rises.
    class ActorCritic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.trunk = nn.SequentialCell(nn.Dense(2, 32), nn.Tanh(), nn.Dense(32, 32), nn.Tanh())
            self.actor = nn.Dense(32, 3, weight_init=Normal(0.1))
            self.critic = nn.Dense(32, 1)

        def construct(self, state: Any) -> Any:
            hidden = self.trunk(state)
            return self.actor(hidden), self.critic(hidden).squeeze(-1)

        def act(self, state: Any) -> Any:
            return ops.softmax(self.actor(self.trunk(state)), -1)

        def value(self, state: Any) -> Any:
            return self.critic(self.trunk(state)).squeeze(-1)

    rng = np.random.default_rng(5)
    worlds, horizon, discount = 32, 8, 0.9
    agent = ActorCritic()
    optimizer = nn.Adam(agent.trainable_params(), learning_rate=0.01)

    def loss(states: Any, actions: Any, targets: Any) -> Any:
        logits, values = agent(states)
        log_probs = ops.log_softmax(logits, -1)
        advantage = ops.stop_gradient(targets - values)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        chosen = (log_probs * ops.one_hot(actions, 3)).sum(-1)
        entropy = -(log_probs * ops.exp(log_probs)).sum(-1).mean()
        return -(chosen * advantage).mean() + 0.5 * ops.mse_loss(values, targets) - 0.01 * entropy

    train = ms.value_and_grad(loss, None, agent.trainable_params())
    location = rng.uniform(-1, 1, (worlds, 2)).astype(np.float32)
    measures = []
    for _ in range(steps):
        states, actions, rewards, restarts = [], [], [], []
        for _ in range(horizon):
            probs = agent.act(ms.Tensor(location)).asnumpy()
            action = (probs.cumsum(1) < rng.random((worlds, 1))).sum(1).clip(0, 2)
            states.append(location)
            actions.append(action)
            speed = 0.8 * location[:, 1] + 0.3 * (action - 1)
            location = np.stack([location[:, 0] + 0.5 * speed, speed], 1).astype(np.float32)
            rewards.append(np.exp(-2 * location[:, 0] ** 2))
            restart = (np.abs(location[:, 0]) > 2) | (rng.random(worlds) < 0.05)
            restarts.append(restart)
            fresh = rng.uniform(-1, 1, (worlds, 2)).astype(np.float32)
            location = np.where(restart[:, None], fresh, location)
        later = agent.value(ms.Tensor(location)).asnumpy()
        targets = np.zeros((horizon, worlds), np.float32)
        for t in reversed(range(horizon)):
            later = rewards[t] + discount * later * ~restarts[t]
            targets[t] = later
        _, gradients = train(
            ms.Tensor(np.concatenate(states)),
            ms.Tensor(np.concatenate(actions).astype(np.int32)),
            ms.Tensor(targets.reshape(-1)),
        )
        optimizer(ops.clip_by_global_norm(gradients, 0.5))
        measures.append(float(np.mean(rewards)))
    return measures


@healthy("DQN", steps=120)
def dqn_with_a_target_network(steps: int) -> list[float]:
    # The measure is the mean distance of the learned values from the true ones, which value iteration gives.
    rng = np.random.default_rng(2)
    side, discount = 5, 0.8
    goal = np.array([4, 3])
    cells = np.array([(i, j) for i in range(side) for j in range(side) if (i, j) != (4, 3)])
    moves = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])

    def encoded(location: Any) -> Any:
        rows, columns = np.eye(side)[location[:, 0]], np.eye(side)[location[:, 1]]
        return np.concatenate([rows, columns], 1).astype(np.float32)

    distance = np.abs(cells - goal).sum(1)
    true_values = discount ** (distance - 1.0)

    class QNetwork(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = nn.Dense(2 * side, 48, activation="relu")
            self.fc2 = nn.Dense(48, 48, activation="relu")
            self.q = nn.Dense(48, 4)

        def construct(self, x: Any) -> Any:
            return self.q(self.fc2(self.fc1(x)))

    online, target = QNetwork(), QNetwork()
    ms.load_param_into_net(target, online.parameters_dict())
    for parameter in target.get_parameters():
        parameter.requires_grad = False
    optimizer = nn.Adam(online.trainable_params(), learning_rate=3e-3)

    def td_loss(states: Any, actions: Any, rewards: Any, following: Any, ends: Any) -> Any:
        q = ops.gather_elements(online(states), 1, actions).squeeze(1)
        bootstrap = target(following).max(axis=1)
        return ops.huber_loss(q, ops.stop_gradient(rewards + discount * bootstrap * (1 - ends)))

    train = ms.value_and_grad(td_loss, None, online.trainable_params())
    buffer: list[Any] = []
    location = cells[rng.integers(0, len(cells), 8)]
    measures = []
    for step in range(steps):
        epsilon = max(0.2, 1 - step / 60)
        greedy = online(ms.Tensor(encoded(location))).asnumpy().argmax(1)
        action = np.where(rng.random(8) < epsilon, rng.integers(0, 4, 8), greedy)
        following = np.clip(location + moves[action], 0, side - 1)
        end = (following == goal).all(1)
        buffer.extend(zip(location, action, end, following, strict=True))
        location = np.where(end[:, None] | (rng.random((8, 1)) < 0.1), cells[rng.integers(0, len(cells), 8)], following)
        del buffer[:-1000]
        picked = [buffer[i] for i in rng.integers(0, len(buffer), 32)]
        before, taken, ends, after = (np.array(part) for part in zip(*picked, strict=True))
        _, gradients = train(
            ms.Tensor(encoded(before)),
            ms.Tensor(taken[:, None].astype(np.int32)),
            ms.Tensor(ends.astype(np.float32)),
            ms.Tensor(encoded(after)),
            ms.Tensor(ends.astype(np.float32)),
        )
        optimizer(gradients)
        if step % 8 == 7:
            ms.load_param_into_net(target, online.parameters_dict())
        values = online(ms.Tensor(encoded(cells))).asnumpy().max(1)
        measures.append(float(np.abs(values - true_values).mean()))
    return measures


@healthy("PPO", steps=80)
def ppo_with_clipped_ratios(steps: int) -> list[float]:
    # The measure is the mean reward of the last rollout, which serves four steps: it rises towards 0.
    class GaussianPolicy(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.mean = nn.SequentialCell(nn.Dense(2, 32), nn.Tanh(), nn.Dense(32, 1))
            self.log_std = ms.Parameter(ms.Tensor(np.full(1, -0.5, np.float32)), name="log_std")

        def log_prob(self, state: Any, action: Any) -> Any:
            z = (action - self.mean(state)) / ops.exp(self.log_std)
            return (-0.5 * z * z - self.log_std - 0.919).sum(-1)

        def sample(self, state: Any) -> Any:
            mean = self.mean(state)
            return mean + ops.exp(self.log_std) * ops.randn_like(mean)

    rng = np.random.default_rng(8)
    worlds, horizon = 16, 10
    policy = GaussianPolicy()
    value = nn.SequentialCell(nn.Dense(2, 32), nn.Tanh(), nn.Dense(32, 1))
    weights = policy.trainable_params() + value.trainable_params()
    for index, weight in enumerate(weights):
        weight.name = f"ppo{index}.{weight.name}"
    optimizer = nn.Adam(weights, learning_rate=6e-3, eps=1e-5)

    def loss(state: Any, action: Any, old: Any, advantage: Any, target: Any) -> Any:
        ratio = ops.exp(policy.log_prob(state, action) - old)
        clipped = ops.clamp(ratio, 0.8, 1.2)
        surrogate = ops.minimum(ratio * advantage, clipped * advantage).mean()
        return -surrogate + 0.5 * ops.square(value(state).squeeze(-1) - target).mean() - 0.001 * policy.log_std.sum()

    train = ms.value_and_grad(loss, None, weights)

    def rollout() -> Any:
        location = rng.uniform(-1, 1, (worlds, 2)).astype(np.float32)
        states, actions, rewards = [], [], []
        for _ in range(horizon):
            action = policy.sample(ms.Tensor(location)).asnumpy()
            states.append(location)
            actions.append(action)
            push = np.clip(action[:, 0], -1, 1)
            speed = 0.7 * location[:, 1] + 0.5 * push
            location = np.stack([location[:, 0] + 0.5 * speed, speed], 1).astype(np.float32)
            rewards.append(-(location[:, 0] ** 2) - 0.01 * push**2)
        reward = np.array(rewards, np.float32)
        values = value(ms.Tensor(np.array([*states, location]))).asnumpy()[..., 0]
        deltas = reward + 0.9 * values[1:] - values[:-1]
        advantages = np.zeros_like(deltas)
        carried = np.zeros(worlds, np.float32)
        for t in reversed(range(horizon)):
            carried = deltas[t] + 0.9 * 0.95 * carried
            advantages[t] = carried
        targets = advantages + values[:-1]
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        state, action = ms.Tensor(np.concatenate(states)), ms.Tensor(np.concatenate(actions))
        old = ops.stop_gradient(policy.log_prob(state, action))
        batch = (state, action, old, ms.Tensor(advantages.reshape(-1)), ms.Tensor(targets.reshape(-1)))
        return batch, float(reward.mean())

    measures = []
    for step in range(steps):
        if step % 4 == 0:
            batch, reward = rollout()
        _, gradients = train(*batch)
        optimizer(ops.clip_by_global_norm(gradients, 0.5))
        measures.append(reward)
    return measures


@healthy("mixture of experts", steps=60)
def mixture_of_experts_with_idle_experts(steps: int) -> list[float]:
    class Expert(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.up = nn.Dense(6, 16)
            self.down = nn.Dense(16, 1)

        def construct(self, x: Any) -> Any:
            return self.down(ops.gelu(self.up(x)))

    class Mixture(nn.Cell):
        def __init__(self, count: int) -> None:
            super().__init__()
            self.router = nn.Dense(6, count, has_bias=False)
            self.experts = nn.CellList([Expert() for _ in range(count)])

        def construct(self, x: Any) -> Any:
            gates = ops.softmax(self.router(x), -1)
            best, chosen = ops.topk(gates, 2)
            best = best / best.sum(-1, keepdims=True)
            out = ops.zeros((x.shape[0], 1), ms.float32)
            picked = chosen.asnumpy()
            for index, expert in enumerate(self.experts):
                rows, slots = np.nonzero(picked == index)
                if len(rows) == 0:  # nothing was routed here in this batch
                    continue
                location = ms.Tensor(rows.astype(np.int32))
                weight = ops.gather(best, location, 0) * ops.one_hot(ms.Tensor(slots.astype(np.int32)), 2)
                part = expert(ops.gather(x, location, 0)) * weight.sum(-1, keepdims=True)
                out = ops.index_add(out, location, part, 0)
            load = np.bincount(picked.reshape(-1), minlength=len(self.experts)) / picked.size
            balance = len(self.experts) * (gates.mean(0) * ms.Tensor(load.astype(np.float32))).sum()
            return out, balance

    rng = np.random.default_rng(21)
    centers = rng.normal(0, 1.2, (4, 6)).astype(np.float32)
    slopes = rng.normal(0, 1, (4, 6)).astype(np.float32)

    def draw(regions: Any, size: int) -> Any:
        region = rng.choice(regions, size)
        offset = rng.normal(0, 0.5, (size, 6)).astype(np.float32)
        return ms.Tensor(centers[region] + offset), ms.Tensor(np.tanh((offset * slopes[region]).sum(1, keepdims=True)))

    net = Mixture(5)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.02)

    def loss(x: Any, y: Any) -> Any:
        out, balance = net(x)
        return ops.mse_loss(out, y) + 0.01 * balance

    train = ms.value_and_grad(loss, None, net.trainable_params())
    held_out = draw(np.arange(4), 64)
    measures = []
    for _ in range(steps):
        _, gradients = train(*draw(rng.choice(4, 2, replace=False), 24))  # each batch comes from two regions
        optimizer(gradients)
        measures.append(float(ops.mse_loss(net(held_out[0])[0], held_out[1]).asnumpy()))
    return measures


@healthy("soft actor-critic", steps=50)
def soft_actor_critic_with_a_temperature(steps: int) -> list[float]:
    # The measure is the distance of the policy's mean actions from the best ones: it falls.
    def mlp(inputs: int, outputs: int) -> nn.SequentialCell:
        return nn.SequentialCell(nn.Dense(inputs, 32), nn.ReLU(), nn.Dense(32, 32), nn.ReLU(), nn.Dense(32, outputs))

    class Actor(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = mlp(1, 2)

        def construct(self, state: Any) -> Any:
            mean, log_std = ops.split(self.body(state), 1, axis=1)
            log_std = ops.clamp(log_std, -4.0, 1.0)
            noise = ops.randn_like(mean)
            raw = mean + ops.exp(log_std) * noise
            action = ops.tanh(raw)
            log_prob = -0.5 * ops.square(noise) - log_std - 0.919 - 2 * (0.6931 - raw - ops.softplus(-2 * raw))
            return action, log_prob

        def best(self, state: Any) -> Any:
            return ops.tanh(self.body(state)[:, :1])

    class TwinCritic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.q1 = mlp(2, 1)
            self.q2 = mlp(2, 1)

        def construct(self, state: Any, action: Any) -> Any:
            both = ops.cat((state, action), 1)
            return self.q1(both), self.q2(both)

    rng = np.random.default_rng(14)
    actor, critic = Actor(), TwinCritic()
    averaged = copy.deepcopy(critic)
    averaged.set_train(False)
    log_alpha = ms.Parameter(ms.Tensor(np.array([-1.5], np.float32)), name="log_alpha")
    actor_optimizer = optim.Adam(actor.trainable_params(), lr=1e-2)
    critic_optimizer = optim.Adam(critic.trainable_params(), lr=1e-2)
    alpha_optimizer = optim.Adam([log_alpha], lr=5e-3)
    discount, target_entropy = 0.5, -1.0

    def critic_loss(state: Any, action: Any, target: Any) -> Any:
        first, second = critic(state, action)
        return ops.mse_loss(first, target) + ops.mse_loss(second, target)

    def actor_loss(state: Any, alpha: Any) -> Any:
        action, log_prob = actor(state)
        return (alpha * log_prob - ops.minimum(*critic(state, action))).mean(), log_prob

    def alpha_loss(log_prob: Any) -> Any:
        return -(log_alpha * (log_prob + target_entropy)).mean()

    critic_step = ms.value_and_grad(critic_loss, None, critic.trainable_params())
    actor_step = ms.value_and_grad(actor_loss, None, actor.trainable_params(), has_aux=True)
    alpha_step = ms.value_and_grad(alpha_loss, None, [log_alpha])
    grid = np.linspace(-1, 1, 21, dtype=np.float32)[:, None]
    measures = []
    for _ in range(steps):
        state = rng.uniform(-1, 1, (32, 1)).astype(np.float32)
        action = actor(ms.Tensor(state))[0].asnumpy()
        after = np.clip(state + action, -1.5, 1.5)
        reward = -4 * (after - 0.25) ** 2
        following = ms.Tensor(after)
        next_action, next_log_prob = actor(following)
        alpha = ops.exp(log_alpha.value())
        soft_value = ops.minimum(*averaged(following, next_action)) - alpha * next_log_prob
        target = ops.stop_gradient(ms.Tensor(reward) + discount * soft_value)
        _, gradients = critic_step(ms.Tensor(state), ms.Tensor(action), target)
        critic_optimizer(gradients)
        (_, log_prob), gradients = actor_step(ms.Tensor(state), alpha)
        actor_optimizer(gradients)
        _, gradients = alpha_step(ops.stop_gradient(log_prob))
        alpha_optimizer(gradients)
        for slow, fast in zip(averaged.get_parameters(), critic.get_parameters(), strict=True):
            slow.set_data(0.9 * slow + 0.1 * fast)
        wanted = np.clip(0.25 - grid, -1, 1)
        measures.append(float(np.abs(actor.best(ms.Tensor(grid)).asnumpy() - wanted).mean()))
    return measures


@healthy("regression to probabilities", steps=80)
def chances_to_win_from_few_games(steps: int) -> list[float]:
    # Targets are shares of won games in [0, 1], many of them 0 or 1: the loss falls to their entropy, not to 0.
    rng = np.random.default_rng(33)
    direction = rng.normal(0, 1, 10)

    def batches() -> Any:
        for _ in range(steps):
            positions = rng.normal(0, 1, (32, 10)).astype(np.float32)
            chance = 1 / (1 + np.exp(-1.5 * positions @ direction))
            yield positions, (rng.binomial(4, chance) / 4).astype(np.float32)[:, None]

    class Evaluation(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.board = nn.Dense(10, 24, activation=nn.LeakyReLU(0.1))
            self.outcome = nn.Dense(24, 1)

        def construct(self, x: Any) -> Any:
            return self.outcome(self.board(x))

    class Losses(Callback):
        def __init__(self) -> None:
            super().__init__()
            self.values: list[float] = []

        def on_train_step_end(self, run_context: Any) -> None:
            self.values.append(float(run_context.original_args().net_outputs.asnumpy()))

    net = Evaluation()
    losses = Losses()
    data = dataset.GeneratorDataset(list(batches()), ["position", "share"], shuffle=False)
    Model(net, nn.BCEWithLogitsLoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9)).train(1, data, callbacks=[losses])
    return losses.values


@healthy("learning from preferences", steps=80)
def rewards_from_preferences(steps: int) -> list[float]:
    # Only differences of scores are compared, so the last bias has no gradient, as in any Bradley-Terry model.
    class RewardModel(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(30, 12)
            self.encoder = nn.Dense(12, 24)
            self.reward = nn.Dense(24, 1)

        def score(self, tokens: Any) -> Any:
            words = ops.silu(self.encoder(self.embedding(tokens)))
            return self.reward(words.mean(1)).squeeze(-1)

        def construct(self, chosen: Any, rejected: Any) -> Any:
            return -ops.logsigmoid(self.score(chosen) - self.score(rejected)).mean()

    rng = np.random.default_rng(41)
    quality = rng.normal(0, 1, 30)
    model = RewardModel()
    optimizer = nn.AdamWeightDecay(model.trainable_params(), learning_rate=0.01, weight_decay=0.01)
    step_cell = nn.TrainOneStepCell(model, optimizer)
    step_cell.set_train()
    losses = []
    for _ in range(steps):
        answers = rng.integers(0, 30, (2, 32, 6))
        means = quality[answers].mean(-1)
        first_wins = rng.random(32) < 1 / (1 + np.exp(-4 * (means[0] - means[1])))
        chosen = np.where(first_wins[:, None], answers[0], answers[1]).astype(np.int32)
        rejected = np.where(first_wins[:, None], answers[1], answers[0]).astype(np.int32)
        losses.append(float(step_cell(ms.Tensor(chosen), ms.Tensor(rejected)).asnumpy()))
    return losses


@healthy("learning from logged decisions", steps=80)
def policy_from_logs_with_propensities(steps: int) -> list[float]:
    # The loss is minus an estimated reward and has no floor at 0; the measure is the true regret, which falls.
    rng = np.random.default_rng(9)
    arms, features = 5, 6
    worth = rng.normal(0, 1, (features, arms))
    logger = rng.normal(0, 0.5, (features, arms))

    class Policy(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.context = nn.Dense(features, 20, weight_init="XavierUniform")
            self.arms = nn.Dense(20, arms, weight_init="XavierUniform")

        def construct(self, x: Any) -> Any:
            return ops.softmax(self.arms(ops.elu(self.context(x))), -1)

    policy = Policy()
    weights = policy.trainable_params()
    optimizer = nn.Adam(weights, learning_rate=0.01)

    @ms.jit
    def estimate(x: Any, arm: Any, propensity: Any, reward: Any) -> Any:
        probability = (policy(x) * ops.one_hot(arm, arms)).sum(-1)
        importance = ops.minimum(probability / propensity, ms.Tensor(20.0))
        return -(importance * reward).sum() / importance.sum()  # self-normalized

    gradient = ms.grad(estimate, None, weights)
    test = rng.normal(0, 1, (64, features)).astype(np.float32)
    test_means = 1 / (1 + np.exp(-test @ worth))
    measures = []
    for _ in range(steps):
        x = rng.normal(0, 1, (64, features)).astype(np.float32)
        logits = x @ logger
        propensities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        arm = (propensities.cumsum(1) < rng.random((64, 1))).sum(1).clip(0, arms - 1)
        rows = np.arange(64)
        reward = rng.random(64) < 1 / (1 + np.exp(-(x @ worth)[rows, arm]))
        gradients = gradient(
            ms.Tensor(x),
            ms.Tensor(arm.astype(np.int32)),
            ms.Tensor(propensities[rows, arm].astype(np.float32)),
            ms.Tensor(reward.astype(np.float32)),
        )
        optimizer(gradients)
        expected = (policy(ms.Tensor(test)).asnumpy() * test_means).sum(1)
        measures.append(float((test_means.max(1) - expected).mean()))
    return measures


@healthy("evolution strategy", steps=40)
def evolution_strategy_without_gradients(steps: int) -> list[float]:
    # No derivative is taken: Adam is given an estimate from pairs of perturbed networks.
    rng = np.random.default_rng(4)
    controller = nn.SequentialCell(nn.Dense(3, 8), nn.Tanh(), nn.Dense(8, 1))
    controller.set_train(False)
    weights = controller.trainable_params()
    optimizer = nn.Adam(weights, learning_rate=0.03)
    sigma, pairs = 0.1, 6

    def cost(start: Any) -> float:
        location, speed, total = start[:, 0], start[:, 1], 0.0
        for t in range(5):
            observed = np.stack([location, speed, np.full_like(location, t / 5)], 1)
            push = np.clip(controller(ms.Tensor(observed)).asnumpy()[:, 0], -1, 1)
            speed = speed + 0.4 * push
            location = location + 0.4 * speed
            total += float((location**2).mean() + 0.05 * (push**2).mean())
        return total / 5

    measures = []
    test = rng.normal(0, 0.7, (32, 2)).astype(np.float32)
    for _ in range(steps):
        start = rng.normal(0, 0.7, (16, 2)).astype(np.float32)
        center = [weight.asnumpy().copy() for weight in weights]
        estimate = [np.zeros_like(value) for value in center]
        for _ in range(pairs):
            noise = [rng.normal(0, 1, value.shape).astype(np.float32) for value in center]
            costs = []
            for sign in (1, -1):
                for weight, value, direction in zip(weights, center, noise, strict=True):
                    weight.set_data(ms.Tensor(value + sign * sigma * direction))
                costs.append(cost(start))
            for total, direction in zip(estimate, noise, strict=True):
                total += (costs[0] - costs[1]) / (2 * sigma * pairs) * direction
        for weight, value in zip(weights, center, strict=True):
            weight.set_data(ms.Tensor(value))
        optimizer(tuple(ms.Tensor(part) for part in estimate))
        measures.append(cost(test))
    return measures


@healthy("soft decision tree", steps=100)
def soft_decision_tree(steps: int) -> list[float]:
    # A Cell without layers: inner nodes split softly, leaves hold distributions.
    class Tree(nn.Cell):
        def __init__(self, inputs: int, depth: int, classes: int) -> None:
            super().__init__()
            rng = np.random.default_rng(0)
            inner, leaves = 2**depth - 1, 2**depth
            self.depth = depth
            self.split_weight = ms.Parameter(
                rng.normal(0, 0.3, (inputs, inner)).astype(np.float32), name="split_weight"
            )
            self.split_bias = ms.Parameter(np.zeros(inner, np.float32), name="split_bias")
            self.leaves = ms.Parameter(rng.normal(0, 0.1, (leaves, classes)).astype(np.float32), name="leaves")

        def paths(self, x: Any) -> Any:
            right = ops.sigmoid(2.0 * (ops.matmul(x, self.split_weight) + self.split_bias))
            reach = ops.ones((x.shape[0], 1), ms.float32)
            for level in range(self.depth):
                here = right[:, 2**level - 1 : 2 ** (level + 1) - 1]
                reach = ops.stack((reach * (1 - here), reach * here), 2).reshape(x.shape[0], -1)
            return reach

        def loss(self, x: Any, label: Any) -> Any:
            reach = self.paths(x)
            log_leaf = ops.gather(ops.log_softmax(self.leaves, -1).T, label, 0)
            usage = reach.mean(0)
            return -(reach * log_leaf).sum(1).mean() + 0.05 * (usage * ops.log(usage + 1e-8)).sum()

    rng = np.random.default_rng(6)
    tree = Tree(2, 3, 2)
    optimizer = nn.Adam(tree.trainable_params(), learning_rate=0.05)
    train = ms.value_and_grad(tree.loss, None, tree.trainable_params())
    losses = []
    for _ in range(steps):
        x = rng.uniform(-2, 2, (64, 2)).astype(np.float32)
        label = ((x[:, 0] > 0) ^ (x[:, 1] > 0.3)).astype(np.int32)
        loss, gradients = train(ms.Tensor(x), ms.Tensor(label))
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("planning through a learned model", steps=60)
def planning_through_a_learned_model(steps: int) -> list[float]:
    # The measure is the policy's cost in the true world, which the policy's loss never sees.
    class World(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.hidden = nn.Dense(3, 32, weight_init="HeUniform")
            self.change = nn.Dense(32, 2)

        def construct(self, state: Any, action: Any) -> Any:
            return state + self.change(mint.nn.functional.silu(self.hidden(ops.cat((state, action), -1))))

    class Planner(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(2, 16)
            self.action = nn.Dense(16, 1)

        def construct(self, state: Any) -> Any:
            return ops.tanh(self.action(ops.tanh(self.fc(state))))

    rng = np.random.default_rng(17)
    world, planner = World(), Planner()
    world_optimizer = nn.Adam(world.trainable_params(), 0.01)
    planner_optimizer = nn.Adam(planner.trainable_params(), 0.01)

    def true_step(state: Any, action: Any) -> Any:
        speed = 0.9 * state[:, 1:] + 0.4 * action - 0.1 * np.sin(state[:, :1])
        return np.concatenate([state[:, :1] + 0.4 * speed, speed], 1).astype(np.float32)

    def fit(state: Any, action: Any, after: Any) -> Any:
        return ops.mse_loss(world(state, action), after)

    def imagine(state: Any) -> Any:
        cost: Any = 0.0
        for _ in range(5):
            action = planner(state)
            state = world(state, action)
            cost = cost + ops.square(state[:, 0]).mean() + 0.01 * ops.square(action).mean()
        return cost / 5

    fit_step = ms.value_and_grad(fit, None, world.trainable_params())
    plan_step = ms.value_and_grad(imagine, None, planner.trainable_params())
    test = rng.uniform(-1, 1, (32, 2)).astype(np.float32)
    measures = []
    for step in range(steps):
        state = rng.uniform(-1.5, 1.5, (32, 2)).astype(np.float32)
        action = rng.uniform(-1, 1, (32, 1)).astype(np.float32)
        _, gradients = fit_step(ms.Tensor(state), ms.Tensor(action), ms.Tensor(true_step(state, action)))
        world_optimizer(gradients)
        if step >= 10:  # a planner is of use once the model is
            _, gradients = plan_step(ms.Tensor(rng.uniform(-1, 1, (32, 2)).astype(np.float32)))
            planner_optimizer(gradients)
        state, cost = test, 0.0
        for _ in range(8):
            state = true_step(state, planner(ms.Tensor(state)).asnumpy())
            cost += float((state[:, 0] ** 2).mean())
        measures.append(cost / 8)
    return measures


@healthy("adaptive computation time", steps=80)
def pondering_network_that_halts(steps: int) -> list[float]:
    # The loss is an expectation over the number of rounds, plus the distance of that from a geometric prior.
    class Ponder(nn.Cell):
        def __init__(self, rounds: int) -> None:
            super().__init__()
            self.rounds = rounds
            self.cell = nn.GRUCell(4, 20)
            self.halt = nn.Dense(20, 1)
            self.answer = nn.Dense(20, 2)

        def construct(self, x: Any) -> Any:
            state = ops.zeros((x.shape[0], 20), ms.float32)
            remaining = ops.ones((x.shape[0],), ms.float32)
            probabilities, answers = [], []
            for round_ in range(self.rounds):
                state = self.cell(x, state)
                stop = ops.sigmoid(self.halt(state)).squeeze(-1)
                last = round_ == self.rounds - 1
                probabilities.append(remaining if last else remaining * stop)
                remaining = remaining * (1 - stop)
                answers.append(self.answer(state))
            return ops.stack(probabilities), ops.stack(answers)

    rounds = 4
    rng = np.random.default_rng(27)
    net = Ponder(rounds)
    optimizer = nn.Adam(net.trainable_params(), 0.02)
    prior = 0.4 * 0.6 ** np.arange(rounds)
    prior[-1] = 1 - prior[:-1].sum()
    log_prior = ms.Tensor(np.log(prior).astype(np.float32)[:, None])

    def loss_fn(x: Any, label: Any) -> Any:
        probability, answers = net(x)
        log_likelihood = ops.log_softmax(answers, -1)
        picked = (log_likelihood * ops.one_hot(label, 2)).sum(-1)
        divergence = (probability * (ops.log(probability + 1e-8) - log_prior)).sum(0).mean()
        return -(probability * picked).sum(0).mean() + 0.01 * divergence

    train = ms.value_and_grad(loss_fn, None, net.trainable_params())
    losses = []
    for _ in range(steps):
        x = rng.normal(0, 1, (32, 4)).astype(np.float32)
        loss, gradients = train(ms.Tensor(x), ms.Tensor((x[:, 0] * x[:, 1] > 0).astype(np.int32)))
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("learned sorting", steps=60)
def sorting_by_sinkhorn(steps: int) -> list[float]:
    # Rows and columns are normalized in turn, so a constant added to a column of scores changes nothing in the limit.
    class Sorter(nn.Cell):
        def __init__(self, places: int) -> None:
            super().__init__()
            self.lift = nn.Dense(1, 32)
            self.places = nn.Dense(32, places)

        def construct(self, numbers: Any) -> Any:
            scores = self.places(ops.relu(self.lift(numbers.expand_dims(-1)))) / 0.3
            for _ in range(6):
                scores = scores - ops.logsumexp(scores, 2, keepdim=True)
                scores = scores - ops.logsumexp(scores, 1, keepdim=True)
            return ops.exp(scores)

    rng = np.random.default_rng(10)
    sorter = Sorter(5)
    weights = sorter.trainable_params()
    optimizer = nn.Adam(weights, learning_rate=0.02)

    def distance(numbers: Any, ordered: Any) -> Any:
        permutation = sorter(numbers)
        return ops.mse_loss(ops.matmul(permutation.swapaxes(1, 2), numbers.expand_dims(-1)).squeeze(-1), ordered)

    train = ms.value_and_grad(distance, None, weights)
    losses = []
    for _ in range(steps):
        numbers = rng.uniform(0, 1, (24, 5)).astype(np.float32)
        loss, gradients = train(ms.Tensor(numbers), ms.Tensor(np.sort(numbers, 1)))
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("binary hidden units", steps=80)
def binary_units_with_a_straight_through_gradient(steps: int) -> list[float]:
    # The step function has no useful derivative: its bprop lets the gradient pass near the threshold instead.
    class Binary(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.sign(x)

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * (ops.abs(x) <= 1.5).astype(ms.float32),)

    class BinaryNetwork(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.input_layer = nn.Dense(12, 40)
            self.norm = nn.LayerNorm((40,))
            self.binary = Binary()
            self.output_layer = nn.Dense(40, 3)

        def construct(self, x: Any) -> Any:
            return self.output_layer(self.binary(self.norm(self.input_layer(x))))

    rng = np.random.default_rng(31)
    prototypes = rng.choice([-1.0, 1.0], (3, 12))
    net = BinaryNetwork()
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05, momentum=0.9)

    def forward(x: Any, label: Any) -> Any:
        return criterion(net(x), label)

    grad_fn = ops.value_and_grad(forward, None, net.trainable_params())
    losses = []
    for _ in range(steps):
        label = rng.integers(0, 3, 32)
        x = (prototypes[label] + rng.normal(0, 1.2, (32, 12))).astype(np.float32)
        loss, gradients = grad_fn(ms.Tensor(x), ms.Tensor(label.astype(np.int32)))
        optimizer(gradients)
        losses.append(float(loss.asnumpy()))
    return losses
