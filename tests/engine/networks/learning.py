"""Ways to train: reinforcement, contrast, mixtures of experts, loss scales, gradients of gradients, own bprops."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor, amp, nn, ops
from mindspore.common.initializer import initializer
from mindspore.ops import functional as F  # noqa: N812
from mindspore.ops import operations as P  # noqa: N812
from networks.steps import filled, integers, program, state, trained, wave


@program
def ppo() -> dict[str, Any]:
    class ActorCritic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.common = nn.SequentialCell([nn.Dense(4, 10), nn.Tanh()])
            self.actor = nn.SequentialCell([nn.Dense(10, 3), nn.Softmax(axis=-1)])
            self.critic = nn.Dense(10, 1)
            self.mu = nn.Dense(10, 2)
            self.log_std = Parameter(initializer(0.2, (1, 2)), name="log_std")

        def construct(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
            h = self.common(x)
            log_std = ops.broadcast_to(self.log_std, (x.shape[0], 2))
            return self.actor(h), self.critic(h).squeeze(-1), self.mu(h), log_std

    net = filled(ActorCritic())
    net.set_train()
    normal = nn.probability.distribution.Normal(dtype=ms.float32)

    def forward(obs: Tensor, action: Tensor, moves: Tensor, old: Tensor, rewards: Tensor, old_values: Tensor) -> Any:
        probs, value, mu, log_std = net(obs)
        log_prob = ops.log(ops.gather_d(probs, 1, action.expand_dims(1)).squeeze(1))
        log_prob = log_prob + normal.log_prob(moves, mu, ops.exp(log_std)).sum(1)
        returns: list[Tensor] = []
        total = Tensor(0.0, ms.float32)
        for i in range(rewards.shape[0] - 1, -1, -1):
            total = rewards[i] + 0.9 * total
            returns.insert(0, total)
        target = ops.stack(returns)
        advantage = target - old_values
        advantage = ops.stop_gradient((advantage - advantage.mean()) / (advantage.std() + 1e-8))
        ratio = ops.exp(log_prob - old)
        clipped = ops.clip_by_value(ratio, 1 - 0.2, 1 + 0.2) * advantage
        policy = -ops.minimum(ratio * advantage, clipped).mean()
        entropy = -(probs * ops.log(probs + 1e-10)).sum(-1).mean() + log_std.mean()
        return policy + 0.5 * ops.mse_loss(value, target) - 0.01 * entropy, policy, entropy, ratio, target

    rewards, old_values = wave(6, k=1.0), wave(6, k=2.0) * 0.3
    optimizer = nn.Adam(net.trainable_params(), learning_rate=nn.PolynomialDecayLR(3e-2, 1e-3, 4, 2.0), eps=1e-2)
    action, old = integers(6, below=3), wave(6) * 0.1 - 4
    return trained(net, forward, optimizer, wave(6, 4), action, wave(6, 2, k=3.0), old, rewards, old_values)


@program
def double_dqn() -> dict[str, Any]:
    """Return a target network that follows slowly, and a step on the error clipped by Huber."""

    class Dueling(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Dense(4, 8, activation="leakyrelu")
            self.value, self.advantage = nn.Dense(8, 1), nn.Dense(8, 3)

        def construct(self, x: Tensor) -> Tensor:
            h = self.body(x)
            a = self.advantage(h)
            return self.value(h) + a - a.mean(axis=1, keep_dims=True)

    policy, target = filled(Dueling()), Dueling()
    ms.load_param_into_net(target, {p.name: Parameter(p.asnumpy() * 0.5) for p in policy.get_parameters()})
    target.update_parameters_name("target.")
    for p in target.get_parameters():
        p.requires_grad = False
    done = Tensor(np.array([0, 0, 1, 0, 1], np.float32))

    def forward(obs: Tensor, action: Tensor, reward: Tensor, following: Tensor) -> Any:
        q = policy(obs).gather_elements(1, action.expand_dims(1)).squeeze(1)
        best = policy(following).argmax(axis=1)
        index = ops.stack((ops.arange(5), best.astype(ms.int64)), 1)
        value = ops.gather_nd(target(following), index)
        target_value = ops.stop_gradient(reward + 0.95 * (1 - done) * value)
        error = ops.select(ops.isnan(target_value), ops.zeros_like(q), q - target_value)
        return nn.HuberLoss(delta=0.2)(q, target_value), q, best, error

    optimizer = nn.Momentum(policy.trainable_params(), [0.2, 0.1], 0.9)
    results = trained(policy, forward, optimizer, wave(5, 4), integers(5, below=3), wave(5), wave(5, 4, k=1.0))
    for new, old in zip(policy.get_parameters(), target.get_parameters(), strict=True):
        old.set_data(new * 0.1 + old * 0.9)
    return results | {f"after {p.name}": p for p in target.get_parameters()}


@program
def simclr_and_triplets() -> dict[str, Any]:
    class Projection(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc1, self.fc2 = nn.Dense(6, 8), nn.Dense(8, 4, has_bias=False)
            self.bn = nn.BatchNorm1d(8, momentum=0.7)
            self.l2 = ops.L2Normalize(axis=-1, epsilon=1e-12)

        def construct(self, x: Tensor) -> Tensor:
            return self.l2(self.fc2(ops.relu(self.bn(self.fc1(x)))))

    net = filled(Projection())
    net.set_train()

    def nt_xent(a: Tensor, b: Tensor, temperature: float = 0.5) -> Tensor:
        n = a.shape[0]
        z = ops.vstack((a, b))
        similarity = ops.matmul(z, z.T) / temperature
        similarity = ops.masked_fill(similarity, ops.eye(2 * n, 2 * n, ms.bool_), -1e9)
        labels = ops.concat((ops.arange(n) + n, ops.arange(n))).astype(ms.int32)
        return ops.cross_entropy(similarity, labels)

    def forward(x: Tensor, y: Tensor) -> Any:
        a, b = net(x), net(y)
        near, far = ops.norm(a - b, dim=1), ops.norm(a - ops.concat((b[1:], b[:1]), 0), dim=1)
        triplet = ops.relu(near - far + 0.3).mean()
        return nt_xent(a, b) + triplet, ops.cosine_similarity(a, b, dim=1), near, far

    return trained(net, forward, nn.SGD(net.trainable_params(), 0.2, momentum=0.5), wave(4, 6), wave(4, 6, k=0.4))


@program
def mixture_of_experts() -> dict[str, Any]:
    class MoE(nn.Cell):
        def __init__(self, dim: int = 6, experts: int = 4, k: int = 2) -> None:
            super().__init__()
            self.k, self.experts_num = k, experts
            self.gate = nn.Dense(dim, experts, has_bias=False)
            self.w1 = Parameter(initializer("XavierUniform", (experts, dim, 8)), name="w1")
            self.w2 = Parameter(initializer("XavierUniform", (experts, 8, dim)), name="w2")
            self.norm = nn.LayerNorm((dim,))

        def construct(self, x: Tensor) -> Any:
            probs = ops.softmax(self.gate(x), axis=-1)
            top, index = ops.topk(probs, self.k, dim=-1)
            top = top / top.sum(-1, keepdims=True)
            chosen = ops.one_hot(index, self.experts_num, Tensor(1.0), Tensor(0.0))
            weights = (chosen * top.expand_dims(-1)).sum(1)
            h = ops.gelu(ops.bmm(ops.broadcast_to(x, (self.experts_num, *x.shape)), self.w1), approximate="tanh")
            y = ops.bmm(h, self.w2)
            y = (y.transpose(1, 0, 2) * weights.expand_dims(-1)).sum(axis=1)
            balance = self.experts_num * (chosen.sum(1).mean(0) * probs.mean(0)).sum()
            z = ops.square(ops.logsumexp(self.gate(x), -1)).mean()
            return self.norm(x + y), balance, z, index

    net = filled(MoE())

    def forward(x: Tensor, y: Tensor) -> Any:
        out, balance, z, index = net(x)
        return ops.l1_loss(out, y) + 0.1 * balance + 0.01 * z, out, balance, index

    return trained(net, forward, nn.Adam(net.trainable_params(), 1e-2, eps=1e-2), wave(5, 6), wave(5, 6, k=1.0))


class GradientReversal(nn.Cell):
    """The input, with its gradient negated, as for adversarial training across domains."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def construct(self, x: Tensor) -> Tensor:
        return x * 1.0

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (-self.scale * dout,)


class Binarized(nn.Cell):
    """A product with the signs of its weight; the gradient passes where the weight is small."""

    def __init__(self, inp: int, out: int) -> None:
        super().__init__()
        self.weight = Parameter(initializer("normal", (out, inp)), name="weight")
        self.sign = Sign()

    def construct(self, x: Tensor) -> Tensor:
        return ops.matmul(x, self.sign(self.weight).T)


class Sign(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.sign(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout * (ops.abs(x) <= 0.5).astype(dout.dtype),)


@program
def domain_adversarial_with_own_bprops() -> dict[str, Any]:
    class DANN(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.feature = nn.SequentialCell(nn.Dense(6, 8, activation="elu"), Binarized(8, 6), nn.Hardtanh())
            self.label = nn.Dense(6, 3)
            self.reverse = GradientReversal(0.7)
            self.domain = nn.SequentialCell(nn.Dense(6, 4), nn.ReLU(), nn.Dense(4, 1))

        def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
            f = self.feature(x)
            return self.label(f), self.domain(self.reverse(f)).squeeze(1)

    net = filled(DANN())
    records: list[Any] = []

    def hook(cell: nn.Cell, grad_input: Any, grad_output: Any) -> Any:
        records.append(grad_input[0])
        return (grad_input[0] * 0.5,)

    net.label.register_backward_hook(hook)

    def forward(x: Tensor, label: Tensor, domain: Tensor) -> Any:
        logits, of_domain = net(x)
        a = ops.cross_entropy(logits, label, reduction="none").mean()
        ones = ops.ones_like(domain)
        return a + ops.binary_cross_entropy_with_logits(of_domain, domain, ones, ones), logits, of_domain

    domain = integers(5, below=2, dtype=np.float32)
    results = trained(net, forward, nn.SGD(net.trainable_params(), 0.1), wave(5, 6), integers(5, below=3), domain)
    return results | {"how often heard": len(records)}


@program
def scaled_loss_and_accumulated_gradients() -> dict[str, Any]:
    net = filled(nn.SequentialCell(nn.Dense(5, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dense(6, 2)))
    net.set_train()
    loss_fn = nn.MSELoss()
    scaler = amp.DynamicLossScaler(scale_value=2**10, scale_factor=2, scale_window=1)
    weights = ParameterTuple(net.trainable_params())
    optimizer = nn.Momentum(weights, 0.1, 0.9)
    accumulated = weights.clone(prefix="accumulated", init="zeros")

    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        loss = loss_fn(net(x), y)
        return scaler.scale(loss), loss

    step = ops.value_and_grad(forward, None, weights, has_aux=True)
    results: dict[str, Any] = {}
    for i in range(2):
        (_, loss), gradients = step(wave(4, 5, k=float(i)), wave(4, 2, k=1.0 + i))
        gradients = scaler.unscale(gradients)
        finite = amp.all_finite(gradients)
        scaler.adjust(finite)
        for total, g in zip(accumulated, gradients, strict=True):
            ops.assign_add(total, g / 2)
        results |= {f"loss {i}": loss, f"finite {i}": finite, f"scale {i}": scaler.scale_value.value()}
    optimizer(accumulated)
    results |= {f"gradient {p.name}": p for p in accumulated}
    return results | state(net)


@program
def mixed_precision() -> dict[str, Any]:
    """Train with half precision inside by to_float, single around it."""

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU()).to_float(ms.float16)
            self.norm = nn.LayerNorm((8,)).to_float(ms.float32)
            self.head = nn.Dense(8, 3)

        def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
            h = self.body(x)
            return self.head(self.norm(h).astype(ms.float32)), h

    net = filled(Net())

    def forward(x: Tensor, label: Tensor) -> Any:
        logits, h = net(x)
        return ops.cross_entropy(logits, label), logits, h

    return trained(net, forward, nn.SGD(net.trainable_params(), 0.1), wave(4, 6), integers(4, below=3))


@program
def distillation() -> dict[str, Any]:
    teacher = filled(nn.SequentialCell(nn.Dense(5, 9), nn.ReLU(), nn.Dense(9, 4)))
    teacher.set_train(False)
    teacher.requires_grad = False
    student = filled(nn.SequentialCell([nn.Dense(5, 4), nn.CELU(0.5), nn.Dense(4, 4)]))
    for p in teacher.get_parameters():
        p.requires_grad = False

    def forward(x: Tensor, label: Tensor, t: float = 2.0) -> Any:
        soft = ops.softmax(ops.stop_gradient(teacher(x)) / t, axis=1)
        logits = student(x)
        kl = ops.kl_div(ops.log_softmax(logits / t, axis=1), soft, "batchmean") * t * t
        hard = nn.CrossEntropyLoss(weight=Tensor([1.0, 2.0, 1.0, 0.5], ms.float32))(logits, label)
        return 0.7 * kl + 0.3 * hard, logits, soft

    weights = [p for p in student.trainable_params() if "bias" not in p.name]
    return trained(student, forward, nn.Adam(weights, 1e-2, eps=1e-2), wave(4, 5), integers(4, below=4))


@program
def physics_informed() -> dict[str, Any]:
    """Return the residual of u'' + u = 0: second derivatives by the input inside the loss."""
    net = filled(nn.SequentialCell(nn.Dense(1, 6), nn.Tanh(), nn.Dense(6, 6), nn.Sigmoid(), nn.Dense(6, 1)))

    def u(x: Tensor) -> Tensor:
        return net(x)

    first = ops.grad(u, 0)
    second = ops.GradOperation()(first)

    def forward(x: Tensor) -> Any:
        residual = second(x) + u(x)
        start = Tensor([[0.0]], ms.float32)
        boundary = ops.square(u(start)) + ops.square(first(start) - 1)
        return (residual**2).mean() + boundary.sum(), residual

    return trained(net, forward, nn.SGD(net.trainable_params(), 0.01), wave(7, 1))


@program
def meta_learning() -> dict[str, Any]:
    """Run MAML: the gradient of a loss after a step that is itself made of gradients."""

    class Functional(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w1 = Parameter(initializer("normal", (1, 6)), name="w1")
            self.b1 = Parameter(initializer("zeros", (6,)), name="bias1")
            self.w2 = Parameter(initializer("normal", (1, 6)), name="w2")

        def construct(self, x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor) -> Tensor:
            return (ops.sin(x * w1 + b1) * w2).sum(axis=1, keepdims=True)

    net = filled(Functional())

    def inner(w1: Tensor, b1: Tensor, w2: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return ops.square(net(x, w1, b1, w2) - y).mean()

    inner_gradient = ms.grad(inner, (0, 1, 2))

    def forward(x: Tensor, y: Tensor, query: Tensor, target: Tensor) -> Any:
        weights = (net.w1 * 1, net.b1 * 1, net.w2 * 1)
        gradients = inner_gradient(*weights, x, y)
        fast = [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)]
        return inner(*fast, query, target), *fast

    inputs = wave(5, 1), wave(5, 1, k=1.0), wave(5, 1, k=2.0), wave(5, 1, k=3.0)
    return trained(net, forward, nn.Adam(net.trainable_params(), 1e-2, eps=1e-2), *inputs)


@program
def neural_ode() -> dict[str, Any]:
    """Take four steps of Runge and Kutta through the same cell; recomputed backward."""

    class Field(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc1, self.fc2 = nn.Dense(4, 7), nn.Dense(7, 3)

        def construct(self, t: Tensor, x: Tensor) -> Tensor:
            t = ops.ones((x.shape[0], 1), x.dtype) * t
            return self.fc2(ops.softplus(self.fc1(ops.cat((x, t), -1))))

    class ODE(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.f = Field()
            self.out = nn.Dense(3, 2)

        def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
            h = 0.25
            for i in range(4):
                t = Tensor(i * h, ms.float32)
                k1 = self.f(t, x)
                k2 = self.f(t + h / 2, x + h / 2 * k1)
                k3 = self.f(t + h / 2, x + h / 2 * k2)
                k4 = self.f(t + h, x + h * k3)
                x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return self.out(x), x

    net = filled(ODE())
    net.f.recompute()

    def forward(x: Tensor, y: Tensor) -> Any:
        out, last = net(x)
        return nn.SmoothL1Loss(beta=0.5, reduction="mean")(out, y), out, last

    return trained(net, forward, nn.Adagrad(net.trainable_params(), learning_rate=0.05), wave(5, 3), wave(5, 2, k=2.0))


@program
def adversarial_example() -> dict[str, Any]:
    """Return the gradient by the image, a step along its sign, and training on both."""
    net = filled(nn.SequentialCell(nn.Conv2d(1, 3, 3, has_bias=True), nn.ReLU(), nn.Flatten(), nn.Dense(48, 3)))
    loss_fn = nn.CrossEntropyLoss()
    images, labels = wave(3, 1, 4, 4), integers(3, below=3)
    by_image = ms.grad(lambda x, y: loss_fn(net(x), y), grad_position=0)(images, labels)
    attacked = ops.clamp(images + 0.1 * ops.sign(by_image), -1.0, 1.0)

    def forward(x: Tensor, y: Tensor) -> Any:
        logits = net(ops.concat((images, x), 0))
        return loss_fn(logits, ops.concat((y, y), 0)), logits

    results = trained(net, forward, nn.SGD(net.trainable_params(), 0.1), attacked, labels)
    return {"gradient by the image": by_image, "attacked": attacked} | results


lion_opt = ops.MultitypeFuncGraph("lion_opt")


@lion_opt.register("Tensor", "Tensor", "Tensor", "Tensor", "Tensor", "Tensor", "Tensor", "Bool", "Bool")
def _update_run_op(
    beta1: Tensor, beta2: Tensor, lr: Tensor, decay: Tensor, param: Tensor, m: Tensor, g: Tensor, flag: bool, used: bool
) -> Tensor:
    op_mul, op_cast = P.Mul(), P.Cast()
    if used:
        param_fp32, m_fp32 = op_cast(param, ms.float32), op_cast(m, ms.float32)
        gradient_fp32 = op_cast(g, ms.float32)
        update = P.Tanh()(op_mul(beta1, m_fp32) * 3 + op_mul(op_cast(F.tuple_to_array((1.0,)), ms.float32) - beta1, g))
        next_m = op_mul(beta2, m_fp32) + (1.0 - beta2) * gradient_fp32
        if flag:
            update = update + op_mul(decay, param_fp32)
        next_param = param_fp32 - P.Reshape()(op_mul(lr, update), P.Shape()(param_fp32))
        next_param = F.depend(next_param, F.assign(param, op_cast(next_param, F.dtype(param))))
        return F.depend(next_param, F.assign(m, op_cast(next_m, F.dtype(m))))
    return g


class Lion(nn.Optimizer):
    """An optimizer as mindcv writes its own; a smooth function stands for the sign."""

    def __init__(self, params: Any, learning_rate: Any, weight_decay: float, beta1: float = 0.9, beta2: float = 0.99):
        super().__init__(learning_rate, params, weight_decay)
        self.beta1 = Tensor(np.array([beta1]).astype(np.float32))
        self.beta2 = Tensor(np.array([beta2]).astype(np.float32))
        self.moments1 = self.parameters.clone(prefix="lion_m", init="zeros")

    @ms.jit
    def construct(self, gradients: Any) -> Any:
        weight_decay = self.get_weight_decay()
        lr = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        parts = (self._parameters, self.moments1, gradients, self.decay_flags, self.optim_filter)
        if self.is_group and self.is_group_lr:
            update = ops.partial(lion_opt, self.beta1, self.beta2)
            return self.hyper_map(update, lr, weight_decay, *parts)
        if self.is_group:
            update = ops.partial(lion_opt, self.beta1, self.beta2, lr)
            return self.hyper_map(update, weight_decay, *parts)
        update = ops.partial(lion_opt, self.beta1, self.beta2, lr, weight_decay)
        return self.map_(update, *parts)


def two_steps_of_an_own_optimizer(groups: bool) -> dict[str, Any]:
    net = filled(nn.SequentialCell(nn.Dense(5, 6, activation="tanh"), nn.Dense(6, 3)))
    params: Any = net.trainable_params()
    if groups:
        params = [
            {"params": [p for p in params if "bias" not in p.name], "weight_decay": 0.1, "lr": 0.02},
            {"params": [p for p in params if "bias" in p.name]},
        ]
    optimizer = Lion(params, learning_rate=nn.CosineDecayLR(0.01, 0.1, 4), weight_decay=0.01)
    loss_fn = nn.CrossEntropyLoss()

    def forward(x: Tensor, y: Tensor) -> Any:
        logits = net(x)
        return loss_fn(logits, y), logits

    inputs = wave(4, 5), integers(4, below=3)
    first = trained(net, forward, optimizer, *inputs)
    results = {f"first {name}": first[name] for name in ("loss", "output 0")} | trained(
        net, forward, optimizer, *inputs
    )
    results |= {f"moment {p.name}": p for p in optimizer.moments1}
    return results | {"names of the optimizer": [p.name for p in optimizer.get_parameters()]}


@program
def own_optimizer() -> dict[str, Any]:
    return two_steps_of_an_own_optimizer(groups=False)


@program
def own_optimizer_of_groups() -> dict[str, Any]:
    return two_steps_of_an_own_optimizer(groups=True)
