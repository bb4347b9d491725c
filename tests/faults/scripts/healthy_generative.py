"""Healthy generative programs: GANs, VAEs, flows, diffusion, energy models and other programs that make samples."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import nn, ops
from hookscope.engine.tensors.initializer import HeNormal, Normal, Uniform, XavierUniform

from .script import healthy


def energy_distance(samples: Any, data: Any) -> float:
    """Twice the mean distance between two sets less the mean distances within each; 0 for equal distributions."""

    def spread(a: Any, b: Any) -> float:
        return float(np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1) + 1e-12).mean())

    return 2.0 * spread(samples, data) - spread(samples, samples) - spread(data, data)


@healthy("GAN with a trunk shared by two heads", steps=80)
def infogan_with_shared_trunk(steps: int) -> list[float]:
    """InfoGAN: the discriminator and the head that guesses the code share a trunk; measure: energy distance."""
    rng = np.random.default_rng(3)
    centers = np.array([[2.6, 1.0], [0.8, 2.0], [0.8, 0.0]], np.float32)

    class Generator(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = nn.Dense(4 + 3, 32, activation="relu")
            self.fc2 = nn.Dense(32, 32, activation="relu")
            self.out = nn.Dense(32, 2)

        def construct(self, z: Any, code: Any) -> Any:
            return self.out(self.fc2(self.fc1(ops.concat((z, code), 1))))

    class Critic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.trunk = nn.SequentialCell(nn.Dense(2, 32), nn.LeakyReLU(0.2), nn.Dense(32, 32), nn.LeakyReLU(0.2))
            self.head_d = nn.Dense(32, 1)
            self.head_q = nn.Dense(32, 3)

        def judge(self, x: Any) -> Any:
            return self.head_d(self.trunk(x))

        def guess(self, x: Any) -> Any:
            return self.head_q(self.trunk(x))

    generator, critic = Generator(), Critic()
    d_params = critic.trunk.trainable_params() + critic.head_d.trainable_params()
    # The information term moves the generator and the head Q; the trunk belongs to the discriminator's optimizer.
    g_params = [*generator.trainable_params(), *critic.head_q.trainable_params()]
    opt_d = nn.Adam(d_params, 6e-3, beta1=0.5)
    opt_g = nn.Adam(g_params, 2e-3, beta1=0.5)
    bce = nn.BCEWithLogitsLoss()
    ce = nn.CrossEntropyLoss()
    batch = 48
    ones, zeros = ops.ones((batch, 1), ms.float32), ops.zeros((batch, 1), ms.float32)

    def d_forward(real: Any, fake: Any) -> Any:
        return bce(critic.judge(real), ones) + bce(critic.judge(fake), zeros)

    def g_forward(z: Any, labels: Any) -> tuple[Any, Any]:
        fake = generator(z, ops.one_hot(labels, 3))
        return bce(critic.judge(fake), ones) + 0.5 * ce(critic.guess(fake), labels), fake

    d_step = ms.value_and_grad(d_forward, None, d_params)
    g_step = ms.value_and_grad(g_forward, None, g_params, has_aux=True)
    distances = []
    for _ in range(steps):
        real_np = centers[rng.integers(0, 3, batch)] + 0.12 * rng.standard_normal((batch, 2))
        real = ms.Tensor(real_np.astype(np.float32))
        z = ms.Tensor(rng.standard_normal((batch, 4)).astype(np.float32))
        labels = ms.Tensor(rng.integers(0, 3, batch).astype(np.int32))
        _, grads = d_step(real, ops.stop_gradient(generator(z, ops.one_hot(labels, 3))))
        opt_d(grads)
        (_, fake), grads = g_step(z, labels)
        opt_g(grads)
        distances.append(energy_distance(fake.asnumpy(), real_np))
    return distances


@healthy("coupled GAN with shared layers", steps=80)
def cogan_with_tied_trunks(steps: int) -> list[float]:
    """Two generators share their first layers, two discriminators their last; measure: sum of two energy distances."""
    rng = np.random.default_rng(11)
    batch, noise = 32, 3

    class Generators(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.shared = nn.SequentialCell(
                nn.Dense(noise, 32, weight_init=HeNormal()), nn.ReLU(), nn.Dense(32, 24, weight_init=HeNormal())
            )
            self.left = nn.Dense(24, 2)
            self.right = nn.Dense(24, 2)

        def construct(self, z: Any) -> tuple[Any, Any]:
            features = ops.relu(self.shared(z))
            return self.left(features), self.right(features)

    class Discriminators(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.left = nn.Dense(2, 24)
            self.right = nn.Dense(2, 24)
            self.shared = nn.SequentialCell(nn.LeakyReLU(0.1), nn.Dense(24, 24), nn.LeakyReLU(0.1), nn.Dense(24, 1))

        def construct(self, x_left: Any, x_right: Any) -> Any:
            return ops.concat((self.shared(self.left(x_left)), self.shared(self.right(x_right))), 0)

    class DiscriminatorLoss(nn.Cell):
        def __init__(self, net: nn.Cell) -> None:
            super().__init__()
            self.net = net

        def construct(self, left: Any, right: Any, fake_left: Any, fake_right: Any) -> Any:
            return (ops.softplus(-self.net(left, right)) + ops.softplus(self.net(fake_left, fake_right))).mean()

    class GeneratorLoss(nn.Cell):
        def __init__(self, net: nn.Cell, judge: nn.Cell) -> None:
            super().__init__()
            self.net = net
            self.judge = judge

        def construct(self, z: Any) -> Any:
            return ops.softplus(-self.judge(*self.net(z))).mean()

    generators, judges = Generators(), Discriminators()
    train_d = nn.TrainOneStepCell(
        DiscriminatorLoss(judges), nn.Adam(judges.trainable_params(), learning_rate=3e-3, beta1=0.5)
    )
    generator_loss = GeneratorLoss(generators, judges)
    opt_g = nn.Adam(generators.trainable_params(), learning_rate=2e-3, beta1=0.5)
    train_g = nn.TrainOneStepCell(generator_loss, opt_g)

    def ring(count: int, radius: float) -> Any:
        angle = rng.uniform(0.0, np.pi, count)
        points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
        return (points + 0.05 * rng.standard_normal((count, 2))).astype(np.float32)

    distances = []
    for _ in range(steps):
        left, right = ring(batch, 1.0), -ring(batch, 1.0)
        z = ms.Tensor(rng.standard_normal((batch, noise)).astype(np.float32))
        fake_left, fake_right = generators(z)
        train_d(ms.Tensor(left), ms.Tensor(right), fake_left, fake_right)
        train_g(ms.Tensor(rng.standard_normal((batch, noise)).astype(np.float32)))
        distances.append(energy_distance(fake_left.asnumpy(), left) + energy_distance(fake_right.asnumpy(), right))
    return distances


@healthy("WGAN with clipped weights", steps=50)
def wgan_with_clipped_weights(steps: int) -> list[float]:
    """WGAN: RMSProp, four steps of the critic a step of the generator, weights clipped; measure: energy distance."""
    rng = np.random.default_rng(8)
    limit = 0.2

    class Critic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.SequentialCell(
                [
                    nn.Dense(2, 32, weight_init=Uniform(limit)),
                    nn.LeakyReLU(0.2),
                    nn.Dense(32, 32, weight_init=Uniform(limit)),
                    nn.LeakyReLU(0.2),
                    nn.Dense(32, 1, weight_init=Uniform(limit), has_bias=False),
                ]
            )

        def construct(self, x: Any) -> Any:
            return self.layers(x)

    critic = Critic()
    generator = nn.SequentialCell(nn.Dense(2, 32), nn.ReLU(), nn.Dense(32, 32), nn.ReLU(), nn.Dense(32, 2))
    critic_opt = nn.RMSProp(critic.trainable_params(), learning_rate=4e-3)
    generator_opt = nn.RMSProp(generator.trainable_params(), learning_rate=4e-3)

    def critic_loss(real: Any, fake: Any) -> Any:
        return critic(fake).mean() - critic(real).mean()

    def generator_loss(z: Any) -> Any:
        return -critic(generator(z)).mean()

    critic_grad = ms.value_and_grad(critic_loss, None, critic.trainable_params())
    generator_grad = ms.value_and_grad(generator_loss, None, generator.trainable_params())

    def sample_real(count: int) -> Any:
        side = rng.integers(0, 2, (count, 1)) * 2.0 - 1.0
        return (np.hstack([side, 0.5 * side]) + 1.0 + 0.2 * rng.standard_normal((count, 2))).astype(np.float32)

    distances = []
    for _ in range(steps):
        for _ in range(4):
            z = ms.Tensor(rng.standard_normal((32, 2)).astype(np.float32))
            _, grads = critic_grad(ms.Tensor(sample_real(32)), generator(z))
            critic_opt(grads)
            for p in critic.trainable_params():
                p.set_data(ops.clip_by_value(p, -limit, limit))
        z = ms.Tensor(rng.standard_normal((64, 2)).astype(np.float32))
        _, grads = generator_grad(z)
        generator_opt(grads)
        distances.append(energy_distance(generator(z).asnumpy(), sample_real(64)))
    return distances


@healthy("WGAN with a gradient penalty", steps=60)
def wgan_with_gradient_penalty(steps: int) -> list[float]:
    """WGAN-GP: the critic's loss holds a gradient by its input; measure: energy distance."""
    rng = np.random.default_rng(21)

    class Net(nn.Cell):
        def __init__(self, fan_in: int, fan_out: int, width: int = 32) -> None:
            super().__init__()
            self.hidden1 = nn.Dense(fan_in, width)
            self.hidden2 = nn.Dense(width, width)
            self.out = nn.Dense(width, fan_out)
            self.act = nn.SiLU()

        def construct(self, x: Any) -> Any:
            return self.out(self.act(self.hidden2(self.act(self.hidden1(x)))))

    critic, generator = Net(2, 1), Net(3, 2)
    slope = ms.grad(lambda x: critic(x).sum())

    def critic_loss(real: Any, fake: Any, mix: Any) -> Any:
        between = mix * real + (1.0 - mix) * fake
        norms = ops.sqrt(ops.square(slope(between)).sum(axis=1) + 1e-12)
        return critic(fake).mean() - critic(real).mean() + 10.0 * ops.square(norms - 1.0).mean()

    step_critic = ms.value_and_grad(critic_loss, None, critic.trainable_params())
    step_generator = ms.value_and_grad(lambda z: -critic(generator(z)).mean(), None, generator.trainable_params())
    opt_c = nn.Adam(critic.trainable_params(), 6e-3, beta1=0.1, beta2=0.9)
    opt_g = nn.Adam(generator.trainable_params(), 2e-3, beta1=0.1, beta2=0.9)

    def spiral(n: int) -> Any:
        t = rng.uniform(1.0, 3.0, n)
        points = np.stack([0.5 * t * np.cos(2.0 * t), 0.5 * t * np.sin(2.0 * t)], 1)
        return (points + [1.5, -1.0] + 0.03 * rng.standard_normal((n, 2))).astype(np.float32)

    def noise(n: int) -> Any:
        return ms.Tensor(rng.standard_normal((n, 3)).astype(np.float32))

    distances = []
    for _ in range(steps):
        for _ in range(3):
            fake = ops.stop_gradient(generator(noise(32)))
            mix = ms.Tensor(rng.uniform(size=(32, 1)).astype(np.float32))
            _, grads = step_critic(ms.Tensor(spiral(32)), fake, mix)
            opt_c(grads)
        _, grads = step_generator(noise(32))
        opt_g(grads)
        distances.append(energy_distance(generator(noise(64)).asnumpy(), spiral(64)))
    return distances


@healthy("LSGAN whose outputs lie in [0, 1]", steps=50)
def lsgan_with_sigmoid_outputs(steps: int) -> list[float]:
    """LSGAN of images in [0, 1] with a sigmoid at both ends, smoothed targets; measure: distance of the mean image."""
    rng = np.random.default_rng(4)
    batch = 16

    class Generator(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Dense(8, 16 * 2 * 2, has_bias=False)
            self.bn0 = nn.BatchNorm2d(16)
            self.up1 = nn.Conv2dTranspose(16, 8, 4, stride=2, pad_mode="pad", padding=1, weight_init=Normal(0.1))
            self.bn1 = nn.BatchNorm2d(8)
            self.up2 = nn.Conv2dTranspose(
                8, 1, 4, stride=2, pad_mode="pad", padding=1, has_bias=True, weight_init=Normal(0.1), bias_init="zeros"
            )

        def construct(self, z: Any) -> Any:
            h = ops.relu(self.bn0(self.project(z).reshape(-1, 16, 2, 2)))
            return ops.sigmoid(self.up2(ops.relu(self.bn1(self.up1(h)))))

    class Discriminator(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 8, 4, stride=2, pad_mode="pad", padding=1, has_bias=True, weight_init=Normal(0.1))
            self.conv2 = nn.Conv2d(
                8, 16, 4, stride=2, pad_mode="pad", padding=1, has_bias=True, weight_init=Normal(0.1)
            )
            self.flatten = nn.Flatten()
            self.fc = nn.Dense(16 * 2 * 2, 1)

        def construct(self, image: Any) -> Any:
            h = ops.leaky_relu(self.conv1(image), 0.2)
            h = ops.leaky_relu(self.conv2(h), 0.2)
            return ops.sigmoid(self.fc(self.flatten(h)))

    generator, discriminator = Generator(), Discriminator()
    generator.set_train()
    discriminator.set_train()
    mse = nn.MSELoss()
    real_target = ops.full((batch, 1), 0.9, dtype=ms.float32)
    fake_target = ops.zeros((batch, 1), ms.float32)
    fool_target = ops.ones((batch, 1), ms.float32)

    class DLoss(nn.Cell):
        def construct(self, real: Any, fake: Any) -> Any:
            return 0.5 * (mse(discriminator(real), real_target) + mse(discriminator(fake), fake_target))

    class GLoss(nn.Cell):
        def construct(self, z: Any) -> Any:
            return 0.5 * mse(discriminator(generator(z)), fool_target)

    d_weights = ms.ParameterTuple(discriminator.trainable_params())
    g_weights = ms.ParameterTuple(generator.trainable_params())
    by_list = ops.GradOperation(get_by_list=True)
    d_grads, g_grads = by_list(DLoss(), d_weights), by_list(GLoss(), g_weights)
    d_opt = nn.Adam(d_weights, learning_rate=3e-3, beta1=0.5)
    g_opt = nn.Adam(g_weights, learning_rate=5e-3, beta1=0.5)
    row, column = np.mgrid[0:8, 0:8]

    def blobs(count: int) -> Any:
        center = 3.5 + 0.7 * rng.standard_normal((count, 2, 1, 1))
        squared = (row - center[:, 0]) ** 2 + (column - center[:, 1]) ** 2
        return np.exp(-squared / 4.0)[:, None].astype(np.float32)

    mean_image = blobs(512).mean(0)
    distances = []
    for _ in range(steps):
        z = ms.Tensor(rng.standard_normal((batch, 8)).astype(np.float32))
        fake = ops.stop_gradient(generator(z))
        d_opt(d_grads(ms.Tensor(blobs(batch)), fake))
        z = ms.Tensor(rng.standard_normal((batch, 8)).astype(np.float32))
        g_opt(g_grads(z))
        distances.append(float(np.abs(fake.asnumpy().mean(0) - mean_image).mean()))
    return distances


@healthy("VAE", steps=60)
def vae_with_kl_warmup(steps: int) -> list[float]:
    """A VAE of binary images of bars; its KL's weight begins at zero; measure: the negative bound at weight one."""
    rng = np.random.default_rng(17)

    class BarsVae(nn.Cell):
        def __init__(self, pixels: int, latent: int) -> None:
            super().__init__()
            self.enc = nn.SequentialCell(nn.Dense(pixels, 48), nn.Tanh(), nn.Dense(48, 32), nn.Tanh())
            self.to_mean = nn.Dense(32, latent)
            self.to_logvar = nn.Dense(32, latent, weight_init="zeros", bias_init="zeros")
            self.dec = nn.SequentialCell(nn.Dense(latent, 48), nn.Tanh(), nn.Dense(48, pixels))

        def encode(self, x: Any) -> tuple[Any, Any]:
            h = self.enc(x)
            return self.to_mean(h), self.to_logvar(h)

        def decode(self, z: Any) -> Any:
            return self.dec(z)

        def bound(self, x: Any) -> tuple[Any, Any]:
            mean, logvar = self.encode(x)
            z = mean + ops.exp(0.5 * logvar) * ops.randn_like(mean)
            missing = ops.binary_cross_entropy_with_logits(self.decode(z), x, reduction="none").sum(1)
            kl = -0.5 * (1.0 + logvar - mean * mean - ops.exp(logvar)).sum(1)
            return missing.mean(), kl.mean()

    def bars(count: int) -> Any:
        on = rng.uniform(size=(count, 6)) < 0.3
        upright = rng.uniform(size=count) < 0.5
        image = np.repeat(on[:, None, :], 6, axis=1)
        image[upright] = image[upright].transpose(0, 2, 1)
        return ms.Tensor(image.reshape(count, 36).astype(np.float32))

    vae = BarsVae(36, 6)
    optimizer = nn.Adam(vae.trainable_params(), learning_rate=5e-3)

    def loss_fn(x: Any, weight: float) -> tuple[Any, Any, Any]:
        missing, kl = vae.bound(x)
        return missing + weight * kl, missing, kl

    grad_fn = ms.value_and_grad(loss_fn, None, vae.trainable_params(), has_aux=True)
    bounds = []
    for step in range(steps):
        (_, missing, kl), grads = grad_fn(bars(32), min(1.0, step / 30))
        optimizer(grads)
        bounds.append(float(missing) + float(kl))
    return bounds


@healthy("normalizing flow", steps=60)
def realnvp_with_zero_couplings(steps: int) -> list[float]:
    """RealNVP whose couplings begin as the identity (last layers of zeros); measure: the negative log-likelihood."""
    rng = np.random.default_rng(30)

    class Coupling(nn.Cell):
        def __init__(self, flip: bool) -> None:
            super().__init__()
            self.flip = flip
            self.hidden = nn.SequentialCell([nn.Dense(1, 24, activation="tanh"), nn.Dense(24, 24, activation="tanh")])
            self.scale_shift = nn.Dense(24, 2, weight_init="zeros", bias_init="zeros")

        def construct(self, x: Any) -> tuple[Any, Any]:
            unmoved, moved = x[:, :1], x[:, 1:]
            if self.flip:
                unmoved, moved = moved, unmoved
            scale, shift = ops.split(self.scale_shift(self.hidden(unmoved)), 1, axis=1)
            log_scale = 1.5 * ops.tanh(scale)
            moved = moved * ops.exp(log_scale) + shift
            parts = (moved, unmoved) if self.flip else (unmoved, moved)
            return ops.concat(parts, axis=1), log_scale[:, 0]

    class RealNvp(nn.Cell):
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.couplings = nn.CellList([Coupling(i % 2 == 1) for i in range(depth)])

        def log_prob(self, x: Any) -> Any:
            log_det = ops.zeros((x.shape[0],), ms.float32)
            for coupling in self.couplings:
                x, change = coupling(x)
                log_det = log_det + change
            return log_det - 0.5 * (x * x).sum(axis=1) - float(np.log(2.0 * np.pi))

    flow = RealNvp(6)
    schedule = nn.cosine_decay_lr(5e-4, 3e-3, steps, 1, steps)
    optimizer = nn.AdamWeightDecay(flow.trainable_params(), learning_rate=schedule, weight_decay=1e-4)
    step_fn = ms.value_and_grad(lambda x: -flow.log_prob(x).mean(), None, flow.trainable_params())

    def moons(count: int) -> Any:
        angle = np.pi * rng.uniform(size=count)
        lower = rng.integers(0, 2, count)
        points = np.stack([np.cos(angle) + lower - 0.5, np.sin(angle) * (1 - 2 * lower) + 0.5 * lower - 0.25], 1)
        return ms.Tensor((1.2 * points + 0.05 * rng.standard_normal((count, 2))).astype(np.float32))

    losses = []
    for _ in range(steps):
        loss, grads = step_fn(moons(64))
        optimizer(ops.clip_by_global_norm(grads, 5.0))
        losses.append(loss.item())
    return losses


@healthy("diffusion", steps=80)
def ddpm_with_averaged_weights(steps: int) -> list[float]:
    """DDPM of points on a circle, last layer of zeros, an average of the weights for sampling; measure: the loss."""
    rng = np.random.default_rng(13)
    times = 50
    beta = np.linspace(1e-3, 0.12, times)
    alpha_bar = np.cumprod(1.0 - beta)

    class Denoiser(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.frequencies = ms.Tensor(np.exp(np.linspace(0.0, -4.0, 8)).astype(np.float32))
            self.time_mlp = nn.SequentialCell(nn.Dense(16, 32), nn.SiLU())
            self.embed = nn.Dense(2, 32)
            self.block1 = nn.Dense(32, 32)
            self.block2 = nn.Dense(32, 32)
            self.norm = nn.LayerNorm((32,))
            self.out = nn.Dense(32, 2, weight_init="zeros", bias_init="zeros")

        def construct(self, x: Any, t: Any) -> Any:
            angles = t.expand_dims(1) * self.frequencies
            time = self.time_mlp(ops.cat((ops.sin(angles), ops.cos(angles)), axis=1))
            h = self.embed(x) + time
            h = h + self.block1(ops.silu(h))
            h = h + self.block2(ops.silu(h + time))
            return self.out(ops.silu(self.norm(h)))

    net, averaged = Denoiser(), Denoiser()
    for target, source in zip(averaged.get_parameters(), net.get_parameters(), strict=True):
        target.set_data(source.value())
        target.requires_grad = False
    averaged.set_train(False)
    net.set_train()
    opt = nn.Adam(net.trainable_params(), learning_rate=4e-3)

    def loss_fn(noisy: Any, t: Any, noise: Any) -> Any:
        return ops.mse_loss(net(noisy, t), noise)

    grad_fn = ms.value_and_grad(loss_fn, None, opt.parameters)

    def sample(count: int) -> Any:
        x = rng.standard_normal((count, 2))
        for t in range(times - 1, -1, -5):
            batch_t = ms.Tensor(np.full(count, t, np.float32))
            noise = averaged(ms.Tensor(x.astype(np.float32)), batch_t).asnumpy()
            clean = (x - np.sqrt(1.0 - alpha_bar[t]) * noise) / np.sqrt(alpha_bar[t])
            before = alpha_bar[t - 5] if t >= 5 else 1.0
            x = np.sqrt(before) * clean + np.sqrt(1.0 - before) * noise
        return x

    losses = []
    for step in range(steps):
        angle = rng.uniform(0, 2 * np.pi, 64)
        clean = 1.5 * np.stack([np.cos(angle), np.sin(angle)], 1)
        t = rng.integers(0, times, 64)
        noise = rng.standard_normal((64, 2))
        unmoved = alpha_bar[t][:, None]
        noisy = np.sqrt(unmoved) * clean + np.sqrt(1.0 - unmoved) * noise
        loss, grads = grad_fn(*(ms.Tensor(a.astype(np.float32)) for a in (noisy, t, noise)))
        opt(grads)
        decay = min(0.995, (1 + step) / (10 + step))
        for target, source in zip(averaged.get_parameters(), net.get_parameters(), strict=True):
            ops.assign(target, decay * target + (1.0 - decay) * source)
        if step % 40 == 39:
            assert np.isfinite(sample(16)).all()
        losses.append(float(loss))
    return losses


@healthy("conditional denoiser with zero convolutions", steps=50)
def controlnet_with_zero_convolutions(steps: int) -> list[float]:
    """A frozen denoiser gets a hint through a trained copy between two zero convolutions; measure: the loss."""
    rng = np.random.default_rng(23)

    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv_in = nn.Conv2d(1, 12, 3, has_bias=True, weight_init="he_normal")
            self.conv_mid = nn.Conv2d(12, 12, 3, has_bias=True, weight_init="he_normal")

        def construct(self, x: Any, extra: Any = None) -> Any:
            h = self.conv_in(x)
            if extra is not None:
                h = h + extra
            return ops.relu(self.conv_mid(ops.relu(h)))

    class Denoiser(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = Encoder()
            self.decoder = nn.Conv2d(12, 1, 3, has_bias=True, weight_init="xavier_uniform")

        def construct(self, noisy: Any, control: Any = None) -> Any:
            h = self.encoder(noisy)
            return self.decoder(h if control is None else h + control)

    class Control(nn.Cell):
        def __init__(self, source: Encoder) -> None:
            super().__init__()
            self.zero_in = nn.Conv2d(1, 12, 1, weight_init="zeros", has_bias=True, bias_init="zeros")
            self.trained_copy = Encoder()
            self.zero_out = nn.Conv2d(12, 12, 1, weight_init="zeros", has_bias=True, bias_init="zeros")
            for mine, theirs in zip(self.trained_copy.get_parameters(), source.get_parameters(), strict=True):
                mine.set_data(theirs.value())

        def construct(self, noisy: Any, hint: Any) -> Any:
            return self.zero_out(self.trained_copy(noisy, self.zero_in(hint)))

    row, column = np.mgrid[0:8, 0:8]

    def batch(count: int) -> tuple[Any, Any, Any]:
        y, x = rng.integers(2, 6, (2, count, 1, 1))
        clean = ((np.abs(row - y) <= 1) & (np.abs(column - x) <= 1)).astype(np.float32)[:, None]
        edge = ((np.abs(row - y) == 1) & (np.abs(column - x) == 1)).astype(np.float32)[:, None]
        noisy = clean + 0.8 * rng.standard_normal(clean.shape)
        return ms.Tensor(noisy.astype(np.float32)), ms.Tensor(edge), ms.Tensor(clean)

    base = Denoiser()
    base_opt = nn.Adam(base.trainable_params(), learning_rate=1e-2)
    pretrain = ms.value_and_grad(lambda noisy, clean: ops.mse_loss(base(noisy), clean), None, base_opt.parameters)
    for _ in range(20):
        noisy, _, clean = batch(16)
        _, grads = pretrain(noisy, clean)
        base_opt(grads)

    for p in base.get_parameters():
        p.requires_grad = False
    control = Control(base.encoder)
    control_opt = nn.Adam(control.trainable_params(), learning_rate=1e-2)

    def loss_fn(noisy: Any, hint: Any, clean: Any) -> Any:
        return ops.mse_loss(base(noisy, control(noisy, hint)), clean)

    step_fn = ms.value_and_grad(loss_fn, None, control.trainable_params())
    losses = []
    for _ in range(steps):
        loss, grads = step_fn(*batch(16))
        control_opt(grads)
        losses.append(float(loss.asnumpy()))
    return losses


@healthy("masked autoregressive density", steps=60)
def made_with_masked_layers(steps: int) -> list[float]:
    """MADE: masks make each output depend on earlier inputs only; measure: the negative log-likelihood of a string."""
    rng = np.random.default_rng(6)
    length, width = 10, 40

    class MaskedDense(nn.Dense):
        def __init__(self, fan_in: int, fan_out: int, mask: Any) -> None:
            super().__init__(fan_in, fan_out, weight_init=XavierUniform())
            self.mask = ms.Parameter(ms.Tensor(mask.astype(np.float32)), name="mask", requires_grad=False)

        def construct(self, x: Any) -> Any:
            return ops.matmul(x, (self.weight * self.mask).T) + self.bias

    class Made(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            order = np.arange(1, length + 1)
            hidden = np.arange(width) % (length - 1) + 1
            self.fc1 = MaskedDense(length, width, hidden[:, None] >= order[None])
            self.fc2 = MaskedDense(width, width, hidden[:, None] >= hidden[None])
            self.fc3 = MaskedDense(width, length, order[:, None] > hidden[None])

        def construct(self, x: Any) -> Any:
            return self.fc3(ops.elu(self.fc2(ops.elu(self.fc1(x)))))

    class StringLoss(nn.Cell):
        def __init__(self, made: nn.Cell) -> None:
            super().__init__()
            self.made = made

        def construct(self, x: Any) -> Any:
            return ops.binary_cross_entropy_with_logits(self.made(x), x, reduction="none").sum(axis=1).mean()

    def strings(count: int) -> Any:
        bits = np.zeros((count, length), np.float32)
        bits[:, 0] = rng.uniform(size=count) < 0.5
        for i in range(1, length):
            stays = rng.uniform(size=count) < 0.9
            bits[:, i] = np.where(stays, bits[:, i - 1], 1 - bits[:, i - 1])
        return ms.Tensor(bits)

    network = StringLoss(Made())
    train = nn.TrainOneStepCell(network, nn.Adam(network.trainable_params(), learning_rate=1e-2))
    train.set_train()
    return [float(train(strings(48))) for _ in range(steps)]


@healthy("energy-based model", steps=40)
def energy_model_with_langevin_chains(steps: int) -> list[float]:
    """An energy is trained with samples of its own Langevin chains; measure: energy distance of chains and data."""
    rng = np.random.default_rng(19)

    class Energy(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.layer1 = nn.Dense(2, 32, weight_init="he_uniform")
            self.layer2 = nn.Dense(32, 32, weight_init="he_uniform")
            self.readout = nn.Dense(32, 1, has_bias=False)  # a constant cancels in the loss

        def construct(self, x: Any) -> Any:
            h = ops.silu(self.layer2(ops.silu(self.layer1(x))))
            return self.readout(h)[:, 0] + 0.05 * (x * x).sum(axis=1)

    energy = Energy()
    force = ms.grad(lambda x: energy(x).sum())

    def walk(x: Any, moves: int) -> Any:
        for _ in range(moves):
            noise = ms.Tensor(rng.standard_normal(x.shape).astype(np.float32))
            x = ops.clamp(x - 0.1 * ops.clamp(force(x), -2.0, 2.0) + 0.1 * noise, -4.0, 4.0)
        return x

    def loss_fn(real: Any, negative: Any) -> Any:
        e_real, e_negative = energy(real), energy(negative)
        return (e_real - e_negative).mean() + 0.05 * (e_real**2 + e_negative**2).mean()

    opt = nn.Adam(energy.trainable_params(), learning_rate=1e-2, beta1=0.5)
    grad_fn = ms.grad(loss_fn, None, energy.trainable_params())
    chains = rng.uniform(-2.0, 2.0, (256, 2)).astype(np.float32)
    distances = []
    for _ in range(steps):
        side = np.where(rng.uniform(size=(48, 1)) < 0.5, 1.5, -1.5)
        real = (side * np.array([[1.0, 0.6]]) + 0.25 * rng.standard_normal((48, 2))).astype(np.float32)
        chosen = rng.choice(256, 48, replace=False)
        fresh = rng.uniform(size=(48, 1)) < 0.05
        start = np.where(fresh, rng.uniform(-2.0, 2.0, (48, 2)), chains[chosen]).astype(np.float32)
        negative = walk(ms.Tensor(start), 8)
        chains[chosen] = negative.asnumpy()
        opt(grad_fn(ms.Tensor(real), negative))
        distances.append(energy_distance(negative.asnumpy(), real))
    return distances


@healthy("restricted Boltzmann machine", steps=80)
def rbm_with_contrastive_divergence(steps: int) -> list[float]:
    """Contrastive divergence computes the gradients by hand and gives them to SGD; measure: the error of one turn."""
    rng = np.random.default_rng(10)
    visible, hidden = 16, 12

    class Rbm(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = ms.Parameter(ms.Tensor(rng.normal(0, 0.05, (visible, hidden)).astype(np.float32)), "weight")
            self.visible_bias = ms.Parameter(ops.zeros((visible,), ms.float32), "visible_bias")
            self.hidden_bias = ms.Parameter(ops.zeros((hidden,), ms.float32), "hidden_bias")

        def up(self, v: Any) -> Any:
            return ops.sigmoid(ops.matmul(v, self.weight) + self.hidden_bias)

        def down(self, h: Any) -> Any:
            return ops.sigmoid(ops.matmul(h, self.weight.T) + self.visible_bias)

    rbm = Rbm()
    optimizer = nn.SGD(rbm.trainable_params(), learning_rate=0.5, momentum=0.5)

    def contrastive_divergence(v0: Any) -> tuple[tuple[Any, ...], Any]:
        p0 = rbm.up(v0)
        h0 = ops.cast(p0 > ops.rand_like(p0), ms.float32)
        v1 = rbm.down(h0)
        p1 = rbm.up(v1)
        count = v0.shape[0]
        weight = (ops.matmul(v1.T, p1) - ops.matmul(v0.T, p0)) / count
        return (weight, (v1 - v0).mean(axis=0), (p1 - p0).mean(axis=0)), ops.square(v1 - v0).mean()

    prototypes = rng.uniform(size=(4, visible)) < 0.4
    errors = []
    for _ in range(steps):
        flips = rng.uniform(size=(32, visible)) < 0.03
        batch = (prototypes[rng.integers(0, 4, 32)] ^ flips).astype(np.float32)
        grads, error = contrastive_divergence(ms.Tensor(batch))
        optimizer(grads)
        errors.append(float(error))
    return errors


@healthy("style transfer", steps=50)
def style_transfer_by_pixels(steps: int) -> list[float]:
    """The only parameter is the image; a frozen random convolutional network gives content and style; measure: loss."""
    rng = np.random.default_rng(2)

    class Features(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, weight_init=HeNormal())
            self.conv2 = nn.Conv2d(8, 12, 3, stride=2, pad_mode="pad", padding=1, weight_init=HeNormal())
            self.conv3 = nn.Conv2d(12, 16, 3, pad_mode="pad", padding=1, weight_init=HeNormal())

        def construct(self, image: Any) -> tuple[Any, Any, Any]:
            low = ops.relu(self.conv1(image))
            middle = ops.relu(self.conv2(low))
            return low, middle, ops.relu(self.conv3(middle))

    def gram(features: Any) -> Any:
        flat = features.reshape(features.shape[1], -1)
        return ops.matmul(flat, flat.T) / flat.shape[1]

    def total_variation(image: Any) -> Any:
        down = ops.abs(image[:, :, 1:] - image[:, :, :-1]).mean()
        across = ops.abs(image[:, :, :, 1:] - image[:, :, :, :-1]).mean()
        return down + across

    features = Features()
    features.set_train(False)
    for p in features.get_parameters():
        p.requires_grad = False

    ramp = np.linspace(0.0, 1.0, 12, dtype=np.float32)
    content = np.stack([np.outer(ramp, ramp), np.outer(ramp, 1 - ramp), np.full((12, 12), 0.5)])[None].astype(
        np.float32
    )
    stripes = (np.arange(12) % 4 < 2).astype(np.float32)
    style = np.stack([np.tile(stripes, (12, 1)), np.tile(stripes[:, None], 12), np.zeros((12, 12))])[None]
    content_target = features(ms.Tensor(content))[2]
    style_targets = [gram(f) for f in features(ms.Tensor(style.astype(np.float32)))]

    start = content + 0.05 * rng.standard_normal(content.shape)
    image = ms.Parameter(ms.Tensor(start.astype(np.float32)), name="image")
    optimizer = nn.Adam([image], learning_rate=0.03)

    def forward() -> Any:
        outputs = features(image)
        loss = 0.3 * ops.mse_loss(outputs[2], content_target) + 0.05 * total_variation(image)
        for output, target in zip(outputs, style_targets, strict=True):
            loss = loss + ops.mse_loss(gram(output), target)
        return loss

    step_fn = ms.value_and_grad(forward, None, [image])
    losses = []
    for _ in range(steps):
        loss, grads = step_fn()
        optimizer(grads)
        losses.append(float(loss))
    return losses


@healthy("VQ-VAE", steps=60)
def vqvae_with_averaged_codebook(steps: int) -> list[float]:
    """A VQ-VAE whose codebook moves by averages, not by an optimizer; measure: the reconstruction's error."""
    rng = np.random.default_rng(14)
    codes, dim = 16, 6

    class Quantizer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            table = rng.normal(0.0, 0.5, (codes, dim)).astype(np.float32)
            self.codebook = ms.Parameter(ms.Tensor(table), name="codebook", requires_grad=False)
            self.counts = ms.Parameter(ops.ones((codes,), ms.float32), name="counts", requires_grad=False)
            self.sums = ms.Parameter(ms.Tensor(table), name="sums", requires_grad=False)

        def nearest(self, flat: Any) -> Any:
            table = self.codebook
            return ((flat * flat).sum(1, keepdims=True) - 2.0 * flat @ table.T + (table * table).sum(1)).argmin(axis=1)

        def construct(self, z: Any) -> tuple[Any, Any, Any]:
            flat = z.reshape(-1, dim)
            index = self.nearest(ops.stop_gradient(flat))
            chosen = self.codebook[index].reshape(z.shape)
            return z + ops.stop_gradient(chosen - z), index, ops.mse_loss(z, ops.stop_gradient(chosen))

        def follow(self, flat: Any, index: Any, decay: float = 0.9) -> None:
            belongs = ops.one_hot(index, codes).astype(ms.float32)
            counts = decay * self.counts + (1.0 - decay) * belongs.sum(0)
            sums = decay * self.sums + (1.0 - decay) * ops.matmul(belongs.T, flat)
            table = (sums / ops.expand_dims(counts + 1e-5, 1)).asnumpy()
            idle = counts.asnumpy() < 0.1
            if idle.any():  # a code that nothing chose for long moves to a vector of the batch
                table[idle] = flat.asnumpy()[rng.integers(0, flat.shape[0], int(idle.sum()))]
                counts = ops.where(ms.Tensor(idle), ops.ones_like(counts), counts)
                sums = ops.where(ms.Tensor(idle[:, None]), ms.Tensor(table), sums)
            self.counts.set_data(counts)
            self.sums.set_data(sums)
            self.codebook.set_data(ms.Tensor(table))

    class VqVae(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Dense(8, 24), nn.GELU(), nn.Dense(24, 2 * dim))
            self.quantizer = Quantizer()
            self.decoder = nn.SequentialCell(nn.Dense(2 * dim, 24), nn.GELU(), nn.Dense(24, 8))

        def construct(self, x: Any) -> tuple[Any, Any, Any, Any]:
            z = self.encoder(x).reshape(-1, 2, dim)
            quantized, index, commitment = self.quantizer(z)
            return self.decoder(quantized.reshape(-1, 2 * dim)), z, index, commitment

    model = VqVae()
    opt = nn.Adam(model.trainable_params(), learning_rate=5e-3)

    def forward(x: Any) -> tuple[Any, Any, Any, Any]:
        decoded, z, index, commitment = model(x)
        error = ops.mse_loss(decoded, x)
        return error + 0.25 * commitment, error, z, index

    grad_fn = ms.value_and_grad(forward, None, model.trainable_params(), has_aux=True)
    shapes = rng.standard_normal((3, 4)).astype(np.float32) * 1.5
    errors = []
    for _ in range(steps):
        halves = shapes[rng.integers(0, 3, (48, 2))] + 0.1 * rng.standard_normal((48, 2, 4))
        (_, error, z, index), grads = grad_fn(ms.Tensor(halves.reshape(48, 8).astype(np.float32)))
        opt(grads)
        model.quantizer.follow(ops.stop_gradient(z).reshape(-1, dim), index)
        errors.append(float(error))
    return errors


@healthy("auto-decoder of signed distances", steps=70)
def autodecoder_with_latent_codes(steps: int) -> list[float]:
    """DeepSDF: no encoder, a trained code for each shape, fixed random features of the place; measure: the loss."""
    rng = np.random.default_rng(27)
    shapes, code_size = 40, 6
    centers = rng.uniform(-0.4, 0.4, (shapes, 2))
    radii = rng.uniform(0.2, 0.6, shapes)

    class SdfDecoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.codes = nn.Embedding(shapes, code_size, embedding_table=Normal(0.1))
            self.bands = ms.Parameter(
                ms.Tensor(rng.normal(0, 1.0, (2, 12)).astype(np.float32)), name="bands", requires_grad=False
            )
            self.layer1 = nn.Dense(24 + 2 + code_size, 48, activation="relu", weight_init=HeNormal())
            self.layer2 = nn.Dense(48, 48, activation="relu", weight_init=HeNormal())
            self.distance = nn.Dense(48, 1)

        def construct(self, shape: Any, location: Any) -> tuple[Any, Any]:
            code = self.codes(shape)
            angles = ops.matmul(location, self.bands)
            h = ops.concat((location, ops.sin(angles), ops.cos(angles), code), axis=1)
            return self.distance(self.layer2(self.layer1(h))).squeeze(1), code

    net = SdfDecoder()
    net_params = [p for p in net.trainable_params() if "codes" not in p.name]
    groups = [
        {"params": net_params, "lr": 3e-3},
        {"params": net.codes.trainable_params(), "lr": 2e-2},
        {"order_params": net.trainable_params()},
    ]
    optimizer = nn.Adam(groups, learning_rate=3e-3)

    def loss_fn(shape: Any, location: Any, distance: Any) -> Any:
        predicted, code = net(shape, location)
        error = ops.l1_loss(ops.clamp(predicted, -0.5, 0.5), ops.clamp(distance, -0.5, 0.5))
        return error + 1e-3 * (code * code).sum(axis=1).mean()

    grad_fn = ms.value_and_grad(loss_fn, None, net.trainable_params())
    losses = []
    for _ in range(steps):
        shape = rng.integers(0, shapes, 64)
        location = rng.uniform(-1.0, 1.0, (64, 2))
        distance = np.sqrt(((location - centers[shape]) ** 2).sum(1)) - radii[shape]
        loss, grads = grad_fn(
            ms.Tensor(shape.astype(np.int32)),
            ms.Tensor(location.astype(np.float32)),
            ms.Tensor(distance.astype(np.float32)),
        )
        optimizer(grads)
        losses.append(float(loss))
    return losses
