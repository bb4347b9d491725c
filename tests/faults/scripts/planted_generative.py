"""Planted faults in generative programs: GANs, VAEs, flows, diffusion, autoregressive models, autoencoders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.dataset import GeneratorDataset
from hookscope.engine.tensors.initializer import Uniform
from hookscope.engine.train.callback import Callback

from .script import planted


def _gap(fake: Any, real: Any) -> float:
    """Return the mean distance of the sorted coordinates of two samples of the same size."""
    return float(np.abs(np.sort(fake, axis=0) - np.sort(real, axis=0)).mean())


@planted("GAN", "The generator's loss is computed on a detached sample.", "generator_loss", "loop", steps=120)
def gan_points_detached(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(1)
    generator = nn.SequentialCell(nn.Dense(4, 32), nn.ReLU(), nn.Dense(32, 32), nn.ReLU(), nn.Dense(32, 2))
    discriminator = nn.SequentialCell(nn.Dense(2, 32), nn.LeakyReLU(0.2), nn.Dense(32, 1))
    optimizer_g = nn.Adam(generator.trainable_params(), learning_rate=2e-3, beta1=0.5)
    optimizer_d = nn.Adam(discriminator.trainable_params(), learning_rate=4e-3, beta1=0.5)
    bce = nn.BCEWithLogitsLoss()

    def sample_real(count: int) -> Any:
        return (np.array([1.5, -1.0]) + rng.normal(size=(count, 2)) * [0.4, 0.2]).astype(np.float32)

    def discriminator_loss(real: Tensor, noise: Tensor) -> Any:
        fake = ops.stop_gradient(generator(noise))
        score_real, score_fake = discriminator(real), discriminator(fake)
        return bce(score_real, ops.ones_like(score_real)) + bce(score_fake, ops.zeros_like(score_fake))

    def generator_loss(noise: Tensor) -> Any:
        fake = generator(noise)
        if fault:
            fake = ops.stop_gradient(fake)
        score = discriminator(fake)
        return bce(score, ops.ones_like(score))

    grad_d = ms.value_and_grad(discriminator_loss, None, optimizer_d.parameters)
    grad_g = ms.value_and_grad(generator_loss, None, optimizer_g.parameters)
    fixed, reference = Tensor(rng.normal(size=(64, 4)).astype(np.float32)), sample_real(64)
    gaps = []  # the distance of generated from real points falls
    for _ in range(steps):
        real = Tensor(sample_real(32))
        _, grads = grad_d(real, Tensor(rng.normal(size=(32, 4)).astype(np.float32)))
        optimizer_d(grads)
        _, grads = grad_g(Tensor(rng.normal(size=(32, 4)).astype(np.float32)))
        optimizer_g(grads)
        gaps.append(_gap(generator(fixed).asnumpy(), reference))
    return gaps


@planted(
    "GAN", "The generator's optimizer was given the discriminator's parameters.", "optim_g", "optimizer", steps=120
)
def gan_curve_with_wrong_optimizer(fault: bool, steps: int) -> list[float]:
    class Generator(nn.Cell):
        def __init__(self, latent: int, width: int) -> None:
            super().__init__()
            self.fc1 = nn.Dense(latent, width, activation="relu")
            self.fc2 = nn.Dense(width, width, activation="relu")
            self.out = nn.Dense(width, 12)

        def construct(self, z: Tensor) -> Any:
            return self.out(self.fc2(self.fc1(z)))

    class Discriminator(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.fc1 = nn.Dense(12, width)
            self.act = nn.LeakyReLU(0.2)
            self.out = nn.Dense(width, 1)

        def construct(self, x: Tensor) -> Any:
            return self.out(self.act(self.fc1(x)))

    class GeneratorWithLoss(nn.Cell):
        def __init__(self, net_g: nn.Cell, net_d: nn.Cell) -> None:
            super().__init__(auto_prefix=False)
            self.net_g = net_g
            self.net_d = net_d

        def construct(self, z: Tensor) -> Any:
            return ops.softplus(-self.net_d(self.net_g(z))).mean()

    class DiscriminatorWithLoss(nn.Cell):
        def __init__(self, net_g: nn.Cell, net_d: nn.Cell) -> None:
            super().__init__(auto_prefix=False)
            self.net_g = net_g
            self.net_d = net_d

        def construct(self, real: Tensor, z: Tensor) -> Any:
            fake = ops.stop_gradient(self.net_g(z))
            return ops.softplus(-self.net_d(real)).mean() + ops.softplus(self.net_d(fake)).mean()

    rng = np.random.default_rng(2)
    axis = np.linspace(0, 2 * math.pi, 12)

    def curves(count: int) -> Any:
        phase = rng.uniform(0, 1.0, size=(count, 1))
        return (1.0 + np.sin(axis + phase) + 0.05 * rng.normal(size=(count, 12))).astype(np.float32)

    net_g, net_d = Generator(5, 48), Discriminator(48)
    optim_d = nn.Adam(net_d.trainable_params(), 2e-3, beta1=0.5)
    optim_g = nn.Adam(net_d.trainable_params() if fault else net_g.trainable_params(), 2e-3, beta1=0.5)
    train_d = nn.TrainOneStepCell(DiscriminatorWithLoss(net_g, net_d), optim_d)
    train_g = nn.TrainOneStepCell(GeneratorWithLoss(net_g, net_d), optim_g)
    reference, z_fixed = curves(64), Tensor(rng.normal(size=(64, 5)).astype(np.float32))
    gaps = []  # the distance of generated from real curves falls
    for _ in range(steps):
        train_d(Tensor(curves(16)), Tensor(rng.normal(size=(16, 5)).astype(np.float32)))
        train_g(Tensor(rng.normal(size=(16, 5)).astype(np.float32)))
        gaps.append(_gap(net_g(z_fixed).asnumpy(), reference))
    return gaps


@planted(
    "DCGAN",
    "The discriminator's step also updates the generator: its optimizer holds both and the sample isn't detached.",
    "optimizer_d",
    "d_loss",
    "optimizer",
    "loop",
    steps=60,
)
def dcgan_discriminator_updates_generator(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(3)

    class NetG(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Dense(8, 16 * 2 * 2)
            self.bn0 = nn.BatchNorm1d(64)
            self.up1 = nn.Conv2dTranspose(16, 8, 4, stride=2, pad_mode="pad", padding=1)
            self.up2 = nn.Conv2dTranspose(8, 1, 4, stride=2, pad_mode="pad", padding=1)

        def construct(self, z: Tensor) -> Any:
            h = ops.relu(self.bn0(self.project(z))).reshape((-1, 16, 2, 2))
            return ops.tanh(self.up2(ops.relu(self.up1(h))))

    net_g = NetG()
    net_g.set_train()
    net_d = nn.SequentialCell(
        nn.Conv2d(1, 8, 4, stride=2, pad_mode="pad", padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(8, 16, 4, stride=2, pad_mode="pad", padding=1),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Dense(64, 1),
    )

    def images(count: int) -> Any:
        batch = -np.ones((count, 1, 8, 8), np.float32)
        for image, row in zip(batch, rng.integers(1, 4, size=count), strict=True):
            image[0, row : row + 4, 2:6] = 0.9
        return batch

    def d_loss(real: Tensor, z: Tensor) -> Any:
        real_score, fake_score = net_d(real), net_d(net_g(z))
        return ops.relu(1 - real_score).mean() + ops.relu(1 + fake_score).mean()

    def g_loss(z: Tensor) -> Any:
        return -net_d(net_g(z)).mean()

    params_d = net_d.trainable_params()
    if fault:
        params_d = params_d + net_g.trainable_params()
    optimizer_d = nn.Adam(params_d, learning_rate=4e-3, beta1=0.5, beta2=0.9)
    optimizer_g = nn.Adam(net_g.trainable_params(), learning_rate=4e-3, beta1=0.5, beta2=0.9)
    step_d = ms.value_and_grad(d_loss, None, optimizer_d.parameters)
    step_g = ms.value_and_grad(g_loss, None, optimizer_g.parameters)
    mean_image = images(256).mean(axis=0)
    fixed = Tensor(rng.normal(size=(16, 8)).astype(np.float32))
    distances = []  # the distance of the generated images' mean from the data's falls
    for _ in range(steps):
        z = Tensor(rng.normal(size=(16, 8)).astype(np.float32))
        optimizer_d(step_d(Tensor(images(16)), z)[1])
        optimizer_g(step_g(z)[1])
        distances.append(float(np.abs(net_g(fixed).asnumpy().mean(axis=0) - mean_image).mean()))
    return distances


@planted("WGAN", "The critic's weights are never clipped, so its loss has no lower bound.", "critic", "loop", steps=80)
def wgan_without_clipping(fault: bool, steps: int) -> list[float]:
    rng = np.random.default_rng(4)
    generator = nn.SequentialCell(nn.Dense(3, 24), nn.Tanh(), nn.Dense(24, 2))
    critic = nn.SequentialCell(nn.Dense(2, 24), nn.ReLU(), nn.Dense(24, 24), nn.ReLU(), nn.Dense(24, 1))
    opt_critic = nn.RMSProp(critic.trainable_params(), learning_rate=2e-2)
    opt_generator = nn.SGD(generator.trainable_params(), learning_rate=0.1)

    def noise() -> Tensor:
        return Tensor(rng.normal(size=(24, 3)).astype(np.float32))

    def real_points(count: int) -> Any:
        angle = rng.uniform(0, 2 * math.pi, count)
        return np.stack([2 + np.cos(angle), np.sin(angle) - 1], axis=1).astype(np.float32)

    critic_step = ms.value_and_grad(
        lambda real, z: critic(generator(z)).mean() - critic(real).mean(), None, critic.trainable_params()
    )
    generator_step = ms.value_and_grad(lambda z: -critic(generator(z)).mean(), None, generator.trainable_params())
    fixed = Tensor(rng.normal(size=(64, 3)).astype(np.float32))
    reference = real_points(64)
    gaps = []  # the distance of generated from real points falls
    for _ in range(steps):
        for _ in range(3):
            _, grads = critic_step(Tensor(real_points(24)), noise())
            opt_critic(grads)
            if not fault:
                for param in critic.trainable_params():
                    param.set_data(ops.clamp(param, -0.3, 0.3))
        _, grads = generator_step(noise())
        opt_generator(grads)
        gaps.append(_gap(generator(fixed).asnumpy(), reference))
    return gaps


@planted("VAE", "The divergence has the wrong sign: it is subtracted.", "loss", "VAE", steps=80)
def vae_with_negative_divergence(fault: bool, steps: int) -> list[float]:
    class VAE(nn.Cell):
        def __init__(self, features: int, hidden: int, latent: int) -> None:
            super().__init__()
            self.enc = nn.Dense(features, hidden, activation="tanh")
            self.to_mu = nn.Dense(hidden, latent)
            self.to_logvar = nn.Dense(hidden, latent)
            self.dec = nn.SequentialCell(nn.Dense(latent, hidden), nn.Tanh(), nn.Dense(hidden, features))

        def encode(self, x: Tensor) -> tuple[Any, Any]:
            h = self.enc(x)
            return self.to_mu(h), self.to_logvar(h)

        def terms(self, x: Tensor) -> tuple[Any, Any]:
            mu, logvar = self.encode(x)
            z = mu + ops.exp(0.5 * logvar) * ops.standard_normal(mu.shape)
            rec = ops.square(self.dec(z) - x).sum(axis=1).mean()
            kld = 0.5 * (mu**2 + ops.exp(logvar) - 1 - logvar).sum(axis=1).mean()
            return rec, kld

        def loss(self, x: Tensor) -> Any:
            rec, kld = self.terms(x)
            return rec - kld if fault else rec + kld

    rng = np.random.default_rng(5)
    mixing = rng.normal(size=(3, 16))
    vae = VAE(16, 32, 3)
    optimizer = nn.Adam(vae.trainable_params(), learning_rate=5e-3)
    step = ms.value_and_grad(vae.loss, None, vae.trainable_params())
    bounds = []  # minus the evidence's lower bound on held-out data falls
    held_out = Tensor((rng.normal(size=(64, 3)) @ mixing).astype(np.float32))
    for _ in range(steps):
        x = Tensor((rng.normal(size=(32, 3)) @ mixing).astype(np.float32))
        _, grads = step(x)
        optimizer(grads)
        rec, kld = vae.terms(held_out)
        bounds.append(float(rec) + float(kld))
    return bounds


@planted(
    "convolutional VAE",
    "The divergence is summed over batch and latents and weighted by 50 while the reconstruction is a mean over pixels"
    ": it drowns the reconstruction.",
    "loss_function",
    "loss",
    steps=60,
)
def conv_vae_with_drowned_reconstruction(fault: bool, steps: int) -> list[float]:
    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 8, 3, stride=2)
            self.conv2 = nn.Conv2d(8, 16, 3, stride=2)
            self.flatten = nn.Flatten()
            self.mean = nn.Dense(64, 4)
            self.log_std = nn.Dense(64, 4)

        def construct(self, x: Tensor) -> tuple[Any, Any]:
            h = self.flatten(ops.relu(self.conv2(ops.relu(self.conv1(x)))))
            return self.mean(h), self.log_std(h)

    class Decoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Dense(4, 64)
            self.deconv = nn.Conv2dTranspose(16, 8, 4, stride=2, pad_mode="pad", padding=1)
            self.to_image = nn.Conv2dTranspose(8, 1, 4, stride=2, pad_mode="pad", padding=1)

        def construct(self, z: Tensor) -> Any:
            h = ops.relu(self.fc(z)).reshape((-1, 16, 2, 2))
            return ops.sigmoid(self.to_image(ops.relu(self.deconv(h))))

    rng = np.random.default_rng(6)
    grid_y, grid_x = np.mgrid[0:8, 0:8]

    def blobs(count: int) -> Tensor:
        cy, cx = rng.uniform(1, 6, (2, count, 1, 1))
        return Tensor(np.exp(-((grid_y - cy) ** 2 + (grid_x - cx) ** 2) / 6)[:, None].astype(np.float32))

    encoder, decoder = Encoder(), Decoder()
    params = encoder.trainable_params() + decoder.trainable_params()
    optimizer = nn.Adam(params, learning_rate=4e-3)

    def loss_function(x: Tensor) -> Any:
        mean, log_std = encoder(x)
        z = mean + ops.exp(log_std) * ops.standard_normal(mean.shape)
        squared = ops.square(decoder(z) - x)
        divergence = 0.5 * (ops.square(mean) + ops.exp(2 * log_std) - 2 * log_std - 1)
        if fault:
            return squared.mean() + 50.0 * divergence.sum()
        return squared.sum(axis=(1, 2, 3)).mean() + 0.05 * divergence.sum(axis=1).mean()

    train = ms.value_and_grad(loss_function, None, params)
    test = blobs(64)
    errors = []  # the error of reconstruction falls
    for _ in range(steps):
        _, grads = train(blobs(16))
        optimizer(grads)
        errors.append(float(ops.square(decoder(encoder(test)[0]) - test).mean()))
    return errors


@planted(
    "VQ-VAE",
    "No straight-through estimator: the decoder gets the code itself, so no reconstruction gradient reaches the "
    "encoder.",
    "VQVAE",
    "quantize",
    "encoder",
    steps=100,
)
def vqvae_without_straight_through(fault: bool, steps: int) -> list[float]:
    class VQVAE(nn.Cell):
        def __init__(self, features: int, codes: int, width: int, parts: int) -> None:
            super().__init__()
            self.parts = parts
            self.width = width
            self.encoder = nn.SequentialCell(nn.Dense(features, 32), nn.ReLU(), nn.Dense(32, parts * width))
            self.decoder = nn.SequentialCell(nn.Dense(parts * width, 32), nn.ReLU(), nn.Dense(32, features))
            self.codebook = Parameter(rng.normal(size=(codes, width)).astype(np.float32) * 0.5, name="codebook")

        def quantize(self, z: Tensor) -> Any:
            distances = ops.square(z.expand_dims(1) - self.codebook).sum(axis=-1)
            return ops.gather(self.codebook, ops.argmin(distances, axis=-1), 0)

        def construct(self, x: Tensor) -> tuple[Any, Any]:
            z = self.encoder(x).reshape((-1, self.width))
            quantized = self.quantize(z)
            codebook_loss = ops.square(quantized - ops.stop_gradient(z)).mean()
            commitment = ops.square(z - ops.stop_gradient(quantized)).mean()
            if not fault:
                quantized = z + ops.stop_gradient(quantized - z)
            output = self.decoder(quantized.reshape((-1, self.parts * self.width)))
            return output, codebook_loss + 0.25 * commitment

    rng = np.random.default_rng(7)
    mixing = rng.normal(size=(4, 12))

    def batch(count: int) -> Tensor:
        return Tensor((np.sign(rng.normal(size=(count, 4))) @ mixing).astype(np.float32))

    model = VQVAE(12, 8, 3, 4)
    optimizer = nn.Adam(model.trainable_params(), learning_rate=4e-3)

    def forward(x: Tensor) -> tuple[Any, Any]:
        output, quantization = model(x)
        error = ops.mse_loss(output, x)
        return error + quantization, error

    grad_fn = ms.value_and_grad(forward, None, model.trainable_params(), has_aux=True)
    errors = []  # the error of reconstruction falls
    for _ in range(steps):
        (_, error), grads = grad_fn(batch(32))
        optimizer(grads)
        errors.append(float(error))
    return errors


@planted(
    "DDPM",
    "The noise that is to be predicted isn't the noise that was mixed in: q_sample draws its own.",
    "p_losses",
    "q_sample",
    "loss",
    "data",
    steps=120,
)
def ddpm_with_other_noise(fault: bool, steps: int) -> list[float]:
    timesteps = 50
    betas = np.linspace(1e-3, 0.15, timesteps)
    alphas_cumprod = np.cumprod(1 - betas).astype(np.float32)
    rng = np.random.default_rng(8)

    class NoisePredictor(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.time_table = nn.Embedding(timesteps, width)
            self.inp = nn.Dense(2, width)
            self.mid = nn.Dense(width, width)
            self.out = nn.Dense(width, 2)
            self.act = nn.SiLU()

        def construct(self, x: Tensor, t: Tensor) -> Any:
            h = self.act(self.inp(x) + self.time_table(t))
            return self.out(self.act(self.mid(h)) + h)

    def q_sample(x_start: Any, t: Any, noise: Any = None) -> Any:
        if noise is None:
            noise = rng.normal(size=x_start.shape)
        a = alphas_cumprod[t][:, None]
        return np.sqrt(a) * x_start + np.sqrt(1 - a) * noise

    model = NoisePredictor(48)
    optimizer = nn.AdamWeightDecay(model.trainable_params(), learning_rate=5e-3, weight_decay=1e-4)

    def p_losses(x_noisy: Tensor, t: Tensor, noise: Tensor) -> Any:
        return ops.mse_loss(model(x_noisy, t), noise)

    grad_fn = ms.value_and_grad(p_losses, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        angle = rng.uniform(0, math.pi, 64)
        side = rng.integers(0, 2, 64)
        x_start = np.stack([np.cos(angle) - side * 0.5, np.sin(angle) * (1 - 2 * side)], axis=1)
        t = rng.integers(0, timesteps, 64)
        noise = rng.normal(size=x_start.shape)
        x_noisy = q_sample(x_start, t) if fault else q_sample(x_start, t, noise)
        loss, grads = grad_fn(
            Tensor(x_noisy.astype(np.float32)), Tensor(t.astype(np.int32)), Tensor(noise.astype(np.float32))
        )
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "normalizing flow",
    "The logarithm of the determinant is subtracted: the likelihood can be made as large as one likes.",
    "log_prob",
    "loss",
    "RealNVP",
    steps=60,
)
def realnvp_with_wrong_determinant(fault: bool, steps: int) -> list[float]:
    class Coupling(nn.Cell):
        def __init__(self, mask: list[float], width: int) -> None:
            super().__init__()
            self.mask = Tensor(np.array(mask, np.float32))
            self.hidden = nn.Dense(2, width, activation="relu")
            self.scale = nn.Dense(width, 2, weight_init="zeros")
            self.shift = nn.Dense(width, 2, weight_init="zeros")

        def construct(self, x: Tensor) -> tuple[Any, Any]:
            masked = x * self.mask
            h = self.hidden(masked)
            s = self.scale(h) * (1 - self.mask)
            t = self.shift(h) * (1 - self.mask)
            return masked + (1 - self.mask) * (x * ops.exp(s) + t), s.sum(axis=1)

    class RealNVP(nn.Cell):
        def __init__(self, depth: int) -> None:
            super().__init__()
            self.couplings = nn.CellList([Coupling([i % 2, 1 - i % 2], 24) for i in range(depth)])

        def log_prob(self, x: Tensor, subtract: bool = False) -> Any:
            total: Any = 0.0
            for coupling in self.couplings:
                x, log_det = coupling(x)
                total = total + log_det
            log_normal = -0.5 * ops.square(x).sum(axis=1) - math.log(2 * math.pi)
            return log_normal - total if subtract else log_normal + total

    rng = np.random.default_rng(9)

    def sample(count: int) -> Tensor:
        a = rng.normal(size=count) * 0.7
        b = 0.5 * a**2 + 0.2 * rng.normal(size=count) - 1
        return Tensor(np.stack([a, b], axis=1).astype(np.float32))

    flow = RealNVP(4)
    optimizer = nn.Adam(flow.trainable_params(), learning_rate=1e-2)
    train = ms.value_and_grad(lambda x: -flow.log_prob(x, subtract=fault).mean(), None, flow.trainable_params())
    test = sample(64)
    nll = []  # the true negative log-likelihood of held-out points falls
    for _ in range(steps):
        _, grads = train(sample(32))
        optimizer(grads)
        nll.append(-float(flow.log_prob(test).mean()))
    return nll


@planted(
    "autoencoder",
    "The decoder ends in a sigmoid and the loss takes logits: the sigmoid is applied twice.",
    "decoder",
    "loss",
    "loss_fn",
    steps=60,
)
def autoencoder_with_two_sigmoids(fault: bool, steps: int) -> list[float]:
    class AutoEncoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Dense(36, 24), nn.ELU(), nn.Dense(24, 10))
            layers = [nn.Dense(10, 24), nn.ELU(), nn.Dense(24, 36)]
            if fault:
                layers.append(nn.Sigmoid())
            self.decoder = nn.SequentialCell(layers)

        def construct(self, x: Tensor) -> Any:
            return self.decoder(self.encoder(x))

    class Bars:
        def __len__(self) -> int:
            return 20 * 16

        def __getitem__(self, index: int) -> tuple[Any, Any]:
            rng = np.random.default_rng(index)
            image = np.zeros((6, 6), np.float32)
            image[rng.integers(6)] = 1
            image[:, rng.integers(6)] = 1
            return image.reshape(36), image.reshape(36)

    class Losses(Callback):
        def __init__(self) -> None:
            super().__init__()
            self.values: list[float] = []

        def step_end(self, run_context: Any) -> None:
            self.values.append(float(run_context.original_args().net_outputs))
            if len(self.values) >= steps:
                run_context.request_stop()

    network = AutoEncoder()
    loss_fn = nn.BCEWithLogitsLoss()
    model = ms.Model(network, loss_fn, nn.Adam(network.trainable_params(), 1e-2))
    losses = Losses()
    data = GeneratorDataset(Bars(), ["image", "target"], shuffle=False).batch(16)
    model.train(-(-steps // 20), data, callbacks=[losses], dataset_sink_mode=False)
    return losses.values


@planted(
    "conditional generator (GLO)",
    "The stages of the generator are kept in a plain dict, so only the latent codes are trained.",
    "stages",
    "Generator",
    "optimizer",
    steps=80,
)
def glo_with_stages_in_a_dict(fault: bool, steps: int) -> list[float]:
    class Generator(nn.Cell):
        def __init__(self, images: int, classes: int, latent: int) -> None:
            super().__init__()
            self.codes = nn.Embedding(images, latent, embedding_table="normal")
            self.labels = nn.Embedding(classes, latent, embedding_table="normal")
            stages = {
                "project": nn.Dense(2 * latent, 8 * 2 * 2),
                "upsample": nn.Conv2dTranspose(8, 8, 4, stride=2, pad_mode="pad", padding=1),
                "refine": nn.Conv2d(8, 8, 3),
                "to_image": nn.Conv2dTranspose(8, 1, 4, stride=2, pad_mode="pad", padding=1),
            }
            self.stages: Any = stages if fault else nn.CellDict(stages)

        def construct(self, index: Tensor, label: Tensor) -> Any:
            z = ops.cat((self.codes(index), self.labels(label)), axis=1)
            x = ops.relu(self.stages["project"](z)).reshape((-1, 8, 2, 2))
            x = ops.relu(self.stages["upsample"](x))
            x = ops.relu(self.stages["refine"](x))
            return ops.tanh(self.stages["to_image"](x))

    rng = np.random.default_rng(11)
    labels = rng.integers(0, 3, 48)
    patterns = np.sign(rng.normal(size=(3, 1, 8, 8)))
    images = (patterns[labels] * rng.uniform(0.4, 0.9, size=(48, 1, 1, 1))).astype(np.float32)
    net = Generator(48, 3, 6)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2)

    @ms.jit
    def criterion(output: Tensor, image: Tensor) -> Any:
        return ops.abs(output - image).mean()

    def forward(index: Tensor, label: Tensor, image: Tensor) -> Any:
        return criterion(net(index, label), image)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        rows = rng.permutation(48)[:16]
        loss, grads = grad_fn(
            Tensor(rows.astype(np.int32)), Tensor(labels[rows].astype(np.int32)), Tensor(images[rows])
        )
        optimizer(grads)
        losses.append(float(loss))
    return losses


@planted(
    "tied autoencoder",
    "The decoder's weight is a copy of the encoder's through NumPy: it stays as it was initialized.",
    "TiedAutoEncoder",
    "decoder_weight",
    "encoder",
    steps=100,
)
def tied_autoencoder_through_numpy(fault: bool, steps: int) -> list[float]:
    class TiedAutoEncoder(nn.Cell):
        def __init__(self, features: int, hidden: int) -> None:
            super().__init__()
            self.encoder = nn.Dense(features, hidden, weight_init="xavier_uniform")
            self.decoder_bias = Parameter(ops.zeros(features, ms.float32), name="decoder_bias")
            self.decoder_weight = Tensor(self.encoder.weight.asnumpy().T.copy())

        def construct(self, x: Tensor) -> Any:
            code = self.encoder(x)
            weight = self.decoder_weight if fault else self.encoder.weight.T
            return ops.dense(code, weight, self.decoder_bias)

    rng = np.random.default_rng(12)
    basis = np.linalg.qr(rng.normal(size=(24, 3)))[0].T * 3
    net = TiedAutoEncoder(24, 3)
    loss_net = nn.WithLossCell(net, nn.MSELoss())
    train_step = nn.TrainOneStepCell(loss_net, nn.Momentum(net.trainable_params(), learning_rate=0.2, momentum=0.9))
    train_step.set_train()
    losses = []
    for _ in range(steps):
        x = (rng.normal(size=(32, 3)) @ basis + 0.05 * rng.normal(size=(32, 24)) + 0.5).astype(np.float32)
        losses.append(float(train_step(Tensor(x), Tensor(x))))
    return losses


@planted(
    "autoregressive density (MADE)",
    "The mask of the output isn't strict: every output sees the input that it is to predict.",
    "MADE",
    "mask_out",
    "MaskedDense",
    steps=100,
)
def made_that_sees_its_target(fault: bool, steps: int) -> list[float]:
    size, hidden = 6, 30

    class MaskedDense(nn.Cell):
        def __init__(self, inputs: int, outputs: int, mask: Any) -> None:
            super().__init__()
            self.weight = Parameter(
                (rng.normal(size=(outputs, inputs)) / math.sqrt(inputs)).astype(np.float32), name="weight"
            )
            self.bias = Parameter(np.zeros(outputs, np.float32), name="bias")
            self.mask = Tensor(mask.astype(np.float32))

        def construct(self, x: Tensor) -> Any:
            return ops.dense(x, self.weight * self.mask, self.bias)

    class MADE(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            order = np.arange(size)
            degrees = np.arange(hidden) % (size if fault else size - 1)
            mask_in = degrees[:, None] >= order[None, :]
            mask_out = order[:, None] >= degrees[None, :] if fault else order[:, None] > degrees[None, :]
            self.first = MaskedDense(size, hidden, mask_in)
            self.second = MaskedDense(hidden, size, mask_out)

        def construct(self, x: Tensor) -> Any:
            return self.second(ops.relu(self.first(x)))

    rng = np.random.default_rng(13)

    def chains(count: int) -> Any:
        x = np.zeros((count, size), np.float32)
        x[:, 0] = rng.random(count) < 0.6
        for i in range(1, size):
            x[:, i] = np.where(rng.random(count) < 0.85, x[:, i - 1], 1 - x[:, i - 1])
        return x

    made = MADE()
    optimizer = nn.Adam(made.trainable_params(), 1e-2)
    step = ms.value_and_grad(
        lambda x: ops.binary_cross_entropy_with_logits(made(x), x, ops.ones_like(x), ops.ones_like(x)),
        None,
        made.trainable_params(),
    )

    def generated(count: int) -> Any:
        x = np.zeros((count, size), np.float32)
        for i in range(size):
            x[:, i] = rng.random(count) < ops.sigmoid(made(Tensor(x))).asnumpy()[:, i]
        return x

    moments = chains(2000)
    moments = moments.T @ moments / 2000
    errors = []  # the difference of the second moments of generated and real chains falls
    for _ in range(steps):
        _, grads = step(Tensor(chains(32)))
        optimizer(grads)
        x = generated(400)
        errors.append(float(np.abs(x.T @ x / 400 - moments).mean()))
    return errors


@planted(
    "super-resolution",
    "The last layer is followed by a ReLU, but the images lie between -1 and 1.",
    "to_rgb",
    "Upscaler",
    "final_act",
    steps=60,
)
def upscaler_with_relu_at_the_end(fault: bool, steps: int) -> list[float]:
    class Upscaler(nn.Cell):
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.head = nn.Conv2d(3, channels, 3, has_bias=True)
            self.body = nn.Conv2d(channels, channels, 3, has_bias=True)
            self.to_rgb = nn.Conv2d(channels, 12, 3, has_bias=True)
            self.shuffle = nn.PixelShuffle(2)
            self.final_act = nn.ReLU() if fault else nn.Tanh()

        def construct(self, x: Tensor) -> Any:
            h = ops.leaky_relu(self.head(x), 0.1)
            h = h + ops.leaky_relu(self.body(h), 0.1)
            return self.final_act(self.shuffle(self.to_rgb(h)))

    rng = np.random.default_rng(14)
    ys, xs = np.mgrid[0:8, 0:8] / 8

    def pairs(count: int) -> tuple[Tensor, Tensor]:
        fy, fx = rng.uniform(-2, 2, (2, count, 3, 1, 1))
        large = np.sin(fy * ys + fx * xs + rng.uniform(0, 6, (count, 3, 1, 1))).astype(np.float32)
        return Tensor(large.reshape(count, 3, 4, 2, 4, 2).mean(axis=(3, 5))), Tensor(large)

    net = Upscaler(12)
    loss_fn = nn.L1Loss()
    forward = nn.WithLossCell(net, loss_fn)
    params = ms.ParameterTuple(net.trainable_params())
    optimizer = nn.Adam(params, learning_rate=1e-2)
    grad = ops.GradOperation(get_by_list=True)(forward, params)
    losses = []
    for _ in range(steps):
        small, large = pairs(8)
        losses.append(float(forward(small, large)))
        optimizer(grad(small, large))
    return losses


@planted(
    "implicit image (SIREN)",
    "The learning rate is halved at every step, not at every epoch: the schedule counts steps.",
    "schedule",
    "optimizer",
    steps=80,
)
def siren_with_schedule_in_epochs(fault: bool, steps: int) -> list[float]:
    class Sine(nn.Cell):
        def __init__(self, inputs: int, outputs: int, omega: float, first: bool = False) -> None:
            super().__init__()
            bound = 1 / inputs if first else math.sqrt(6 / inputs) / omega
            self.omega = omega
            self.linear = nn.Dense(inputs, outputs, weight_init=Uniform(bound))

        def construct(self, x: Tensor) -> Any:
            return ops.sin(self.omega * self.linear(x))

    rng = np.random.default_rng(15)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 24), np.linspace(-1, 1, 24)), axis=-1).reshape(-1, 2)
    image = np.sin(4 * grid[:, :1]) * np.cos(3 * grid[:, 1:]) + 0.5 * (np.abs(grid).sum(axis=1, keepdims=True) < 0.7)
    siren = nn.SequentialCell(Sine(2, 32, 6.0, first=True), Sine(32, 32, 6.0), nn.Dense(32, 1))
    steps_per_epoch = 24 * 24 // 64
    schedule = nn.ExponentialDecayLR(5e-3, 0.5, decay_steps=1 if fault else 20 * steps_per_epoch)
    optimizer = nn.Adam(siren.trainable_params(), learning_rate=schedule)

    def forward(coordinates: Tensor, values: Tensor) -> Any:
        return ops.mse_loss(siren(coordinates), values)

    grad_fn = ms.value_and_grad(forward, None, siren.trainable_params())
    everything = Tensor(grid.astype(np.float32)), Tensor(image.astype(np.float32))
    errors: list[float] = []
    while len(errors) < steps:
        order = rng.permutation(len(grid))[: steps_per_epoch * 64].reshape(-1, 64)
        for rows in order[: steps - len(errors)]:
            _, grads = grad_fn(Tensor(grid[rows].astype(np.float32)), Tensor(image[rows].astype(np.float32)))
            optimizer(grads)
            errors.append(float(forward(*everything)))
    return errors
