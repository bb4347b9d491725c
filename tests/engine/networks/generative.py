"""Networks that generate: their random numbers come in as inputs, so that a step can be compared."""

from __future__ import annotations

import math
from typing import Any

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore.common.initializer import Normal, initializer
from networks.steps import filled, integers, program, trained, wave


@program
def vae() -> dict[str, Any]:
    class VAE(nn.Cell):
        def __init__(self, dim: int = 48, hidden: int = 12, latent: int = 4) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Dense(dim, hidden), nn.Tanh())
            self.mu = nn.Dense(hidden, latent)
            self.log_var = nn.Dense(hidden, latent)
            self.decoder = nn.SequentialCell(nn.Dense(latent, hidden, activation=nn.Softsign()), nn.Dense(hidden, dim))
            self.exp = ops.Exp()

        def construct(self, x: Tensor, eps: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            h = self.encoder(x)
            mu, log_var = self.mu(h), self.log_var(h)
            z = mu + self.exp(0.5 * log_var) * eps
            return self.decoder(z), mu, log_var

    net = filled(VAE())
    net.set_train()

    def forward(x: Tensor, eps: Tensor) -> Any:
        logits, mu, log_var = net(x, eps)
        weight = ops.OnesLike()(logits)
        recon = ops.binary_cross_entropy_with_logits(logits, x, weight, weight, reduction="sum")
        kl = -0.5 * ops.ReduceSum()(1 + log_var - ops.Square()(mu) - ops.Exp()(log_var))
        return (recon + kl) / x.shape[0], recon, kl, ops.Sigmoid()(logits)

    optimizer = nn.Adam(net.trainable_params(), learning_rate=nn.NaturalExpDecayLR(1e-2, 0.9, 4, True), eps=1e-2)
    return trained(net, forward, optimizer, integers(3, 48, below=2, dtype=np.float32), wave(3, 4))


@program
def gan() -> dict[str, Any]:
    class Generator(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.project = nn.Dense(6, 8 * 2 * 2)
            self.net = nn.SequentialCell(
                nn.BatchNorm2d(8, momentum=0.8),
                nn.ReLU(),
                nn.Conv2dTranspose(8, 4, 4, stride=2, padding=1, pad_mode="pad"),
                nn.BatchNorm2d(4, 1e-3),
                nn.ReLU(),
                nn.Conv2dTranspose(4, 1, 3, 2, pad_mode="same", has_bias=True),
                nn.Tanh(),
            )

        def construct(self, z: Tensor) -> Tensor:
            return self.net(ops.reshape(self.project(z), (-1, 8, 2, 2)))

    class Discriminator(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.model = nn.SequentialCell(
                [
                    nn.Conv2d(1, 4, 3, 2, pad_mode="pad", padding=1, has_bias=True),
                    nn.LeakyReLU(0.2),
                    nn.Conv2d(4, 8, 3, 2, pad_mode="pad", padding=(1, 1, 0, 0)),
                    nn.BatchNorm2d(8),
                    nn.LeakyReLU(0.2),
                    nn.Flatten(),
                    nn.Dense(16, 1),
                    nn.Sigmoid(),
                ]
            )

        def construct(self, x: Tensor) -> Tensor:
            return self.model(x)

    generator, discriminator = filled(Generator()), filled(Discriminator())
    generator.update_parameters_name("generator.")
    discriminator.update_parameters_name("discriminator.")
    generator.set_train()
    discriminator.set_train()
    loss = nn.BCELoss(reduction="mean")
    optimizer_g = nn.Adam(generator.trainable_params(), 2e-3, beta1=0.5, eps=1e-3)
    optimizer_d = nn.RMSProp(discriminator.trainable_params(), 2e-3, centered=True, epsilon=1e-2)
    optimizer_g.update_parameters_name("optim_g.")
    optimizer_d.update_parameters_name("optim_d.")

    def generator_forward(z: Tensor, valid: Tensor) -> Any:
        images = generator(z)
        return loss(discriminator(images), valid), images

    def discriminator_forward(real: Tensor, images: Tensor, valid: Tensor, fake: Tensor) -> Tensor:
        real_loss = loss(discriminator(real), valid)
        fake_loss = loss(discriminator(ops.stop_gradient(images)), fake)
        return (real_loss + fake_loss) / 2

    step_g = ms.value_and_grad(generator_forward, None, optimizer_g.parameters, has_aux=True)
    step_d = ms.value_and_grad(discriminator_forward, None, optimizer_d.parameters)
    results: dict[str, Any] = {}
    valid, fake = ops.ones((2, 1), ms.float32), ops.zeros((2, 1), ms.float32)
    (loss_g, images), gradients = step_g(wave(2, 6), valid)
    results |= {"loss of the generator": loss_g, "images": images}
    results |= {f"gradient {p.name}": g for p, g in zip(optimizer_g.parameters, gradients, strict=True)}
    optimizer_g(gradients)
    loss_d, gradients = step_d(wave(2, 1, 8, 8), images, valid, fake)
    results |= {"loss of the discriminator": loss_d}
    results |= {f"gradient {p.name}": g for p, g in zip(optimizer_d.parameters, gradients, strict=True)}
    optimizer_d(gradients)
    results |= {f"after {p.name}": p for p in (*generator.get_parameters(), *discriminator.get_parameters())}
    return results | {"names of the optimizer": [p.name for p in optimizer_d.get_parameters()]}


class SinusoidalPosEmb(nn.Cell):
    def __init__(self, dim: int) -> None:
        super().__init__()
        half_dim = dim // 2
        emb = np.exp(np.arange(half_dim) * -(math.log(10000) / (half_dim - 1)))
        self.emb = Tensor(emb, ms.float32)
        self.concat = ops.Concat(-1)

    def construct(self, x: Tensor) -> Tensor:
        emb = x[:, None] * self.emb[None, :]
        return self.concat((ops.sin(emb), ops.cos(emb)))


class ResnetBlock(nn.Cell):
    def __init__(self, dim: int, dim_out: int, time_emb_dim: int) -> None:
        super().__init__()
        self.mlp = nn.SequentialCell(nn.SiLU(), nn.Dense(time_emb_dim, dim_out * 2))
        self.block1 = nn.Conv2d(dim, dim_out, 3, padding=1, pad_mode="pad", has_bias=False)
        self.norm = nn.GroupNorm(2, dim_out)
        self.act = nn.SiLU()
        self.block2 = nn.Conv2d(dim_out, dim_out, 3, padding=(1, 1, 1, 1), pad_mode="pad", has_bias=True)
        self.res_conv = nn.Conv2d(dim, dim_out, 1, pad_mode="valid", has_bias=True) if dim != dim_out else nn.Identity()

    def construct(self, x: Tensor, t: Tensor) -> Tensor:
        scale, shift = self.mlp(t).expand_dims(2).expand_dims(3).split(self.norm.num_channels, axis=1)
        h = self.act(self.norm(self.block1(x)) * (scale + 1) + shift)
        return self.block2(h) + self.res_conv(x)


class LinearAttention(nn.Cell):
    def __init__(self, dim: int, heads: int, dim_head: int) -> None:
        super().__init__()
        self.scale, self.heads, self.dim_head = dim_head**-0.5, heads, dim_head
        self.to_qkv = nn.Conv2d(dim, heads * dim_head * 3, 1, pad_mode="valid", has_bias=False)
        self.to_out = nn.SequentialCell(nn.Conv2d(heads * dim_head, dim, 1, has_bias=True), nn.GroupNorm(1, dim))
        self.map = ops.Map()
        self.partial = ops.Partial()

    def rearranged(self, x: Tensor) -> Tensor:
        b = x.shape[0]
        return x.reshape(b, self.heads, self.dim_head, -1)

    def construct(self, x: Tensor) -> Tensor:
        b, _, h, w = x.shape
        q, k, v = self.map(self.rearranged, ops.split(self.to_qkv(x), self.heads * self.dim_head, 1))
        q = ops.softmax(q, -2) * self.scale
        k = ops.softmax(k, -1)
        v = v / (h * w)
        context = ops.bmm(k, v.swapaxes(2, 3))
        out = ops.bmm(context.swapaxes(2, 3), q)
        return self.to_out(out.reshape((b, -1, h, w)))


class DiffusionUnet(nn.Cell):
    def __init__(self, dim: int = 4) -> None:
        super().__init__()
        self.time_mlp = nn.SequentialCell(SinusoidalPosEmb(dim), nn.Dense(dim, 8), nn.GELU(), nn.Dense(8, 8))
        self.init_conv = nn.Conv2d(1, dim, 7, padding=3, pad_mode="pad", has_bias=True)
        self.down = ResnetBlock(dim, dim * 2, 8)
        self.downsample = nn.Conv2d(dim * 2, dim * 2, 4, 2, pad_mode="pad", padding=1)
        self.mid_attn = LinearAttention(dim * 2, 2, 4)
        self.up = ResnetBlock(dim * 3, dim, 8)
        self.final_conv = nn.Conv2d(dim, 1, 1, has_bias=True)

    def construct(self, x: Tensor, t: Tensor) -> Tensor:
        t = self.time_mlp(t)
        r = self.init_conv(x)
        x = self.downsample(self.down(r, t))
        x = self.mid_attn(x) + x
        x = ops.ResizeNearestNeighbor((r.shape[-2], r.shape[-1]))(x)
        return self.final_conv(self.up(ops.concat((x, r), axis=1), t))


@program
def ddpm() -> dict[str, Any]:
    net = filled(DiffusionUnet())
    net.set_train()
    betas = np.linspace(1e-4, 0.02, 20, dtype=np.float64)
    alphas_cumprod = np.cumprod(1 - betas)
    sqrt_alphas = Tensor(np.sqrt(alphas_cumprod), ms.float32)
    sqrt_rest = Tensor(np.sqrt(1 - alphas_cumprod), ms.float32)
    p2_weight = Tensor((1 + alphas_cumprod / (1 - alphas_cumprod)) ** -0.5, ms.float32)

    def extract(a: Tensor, t: Tensor, x_shape: tuple[int, ...]) -> Tensor:
        return ops.gather(a, t, 0).reshape(t.shape[0], *((1,) * (len(x_shape) - 1)))

    def forward(x_start: Tensor, noise: Tensor, t: Tensor) -> Any:
        x = extract(sqrt_alphas, t, x_start.shape) * x_start + extract(sqrt_rest, t, x_start.shape) * noise
        out = net(x, t.astype(ms.float32))
        loss = ops.smooth_l1_loss(out, noise, beta=0.5, reduction="none").reshape(x.shape[0], -1)
        loss = loss.mean(axis=1) * extract(p2_weight, t, loss.shape[:1])
        return loss.mean(), out

    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-2, beta1=0.9, beta2=0.99, eps=1e-2)
    averages = ParameterTuple([Parameter(p.value(), name=f"ema.{p.name}") for p in net.trainable_params()])
    results = trained(net, forward, optimizer, wave(2, 1, 8, 8), wave(2, 1, 8, 8, k=2.0), Tensor([3, 17], ms.int32))
    for average, weight in zip(averages, net.trainable_params(), strict=True):
        ops.assign(average, average * 0.9 + weight * 0.1)
    return results | {f"average {p.name}": p for p in averages[:4]}


@program
def realnvp() -> dict[str, Any]:
    """Return a flow of affine couplings: the density of what comes in."""

    class Coupling(nn.Cell):
        def __init__(self, dim: int, hidden: int, mask: np.ndarray) -> None:
            super().__init__()
            self.mask = Tensor(mask, ms.float32)
            self.s = nn.SequentialCell([nn.Dense(dim, hidden), nn.Tanh(), nn.Dense(hidden, dim), nn.Tanh()])
            self.t = nn.SequentialCell([nn.Dense(dim, hidden), nn.ReLU(), nn.Dense(hidden, dim)])

        def construct(self, x: Tensor, log_det: Tensor) -> tuple[Tensor, Tensor]:
            masked = x * self.mask
            s, t = self.s(masked) * (1 - self.mask), self.t(masked) * (1 - self.mask)
            return masked + (1 - self.mask) * (x * ops.exp(s) + t), log_det + s.sum(-1)

    class Flow(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            masks = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0]]
            self.layers = nn.CellList([Coupling(4, 6, np.array(m)) for m in masks])
            self.mix = Parameter(initializer(Normal(0.1), (4, 4)), name="mix")

        def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
            log_det = ops.zeros(x.shape[0], ms.float32)
            for layer in self.layers:
                x, log_det = layer(x, log_det)
            weight = self.mix + 2 * ops.eye(4, 4, ms.float32)
            return ops.matmul(x, weight), log_det + ops.log(ops.abs(ops.MatrixDeterminant()(weight)))

    net = filled(Flow())

    def forward(x: Tensor) -> Any:
        z, log_det = net(x)
        log_prob = -0.5 * (z**2 + math.log(2 * math.pi)).sum(axis=1)
        return -(log_prob + log_det).mean(), z, log_det

    return trained(net, forward, nn.Rprop(net.trainable_params(), 1e-2), wave(5, 4))


@program
def vq_vae() -> dict[str, Any]:
    class VectorQuantizer(nn.Cell):
        def __init__(self, n: int, dim: int, commitment: float = 0.25) -> None:
            super().__init__()
            self.n, self.commitment = n, commitment
            self.codebook = Parameter(initializer("uniform", (n, dim), ms.float32), name="codebook")
            self.usage = Parameter(Tensor(np.zeros(n), ms.float32), name="usage", requires_grad=False)

        def construct(self, z: Tensor) -> Any:
            flat = z.permute(0, 2, 3, 1).reshape(-1, z.shape[1])
            distances = (
                ops.square(flat).sum(1, keepdims=True)
                + ops.square(self.codebook).sum(1)
                - 2 * ops.matmul(flat, self.codebook.T)
            )
            indices = ops.argmin(distances, axis=1)
            self.usage += ops.one_hot(indices.astype(ms.int32), self.n, Tensor(1.0), Tensor(0.0)).sum(0)
            q = ops.gather(self.codebook, indices, 0)
            loss = ((q - ops.stop_gradient(flat)) ** 2).mean()
            loss = loss + self.commitment * ((ops.stop_gradient(q) - flat) ** 2).mean()
            q = flat + ops.stop_gradient(q - flat)
            return q.reshape(z.shape[0], z.shape[2], z.shape[3], -1).transpose(0, 3, 1, 2), loss, indices

    class VQVAE(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell([nn.Conv2d(1, 4, 4, 2, "pad", 1), nn.ReLU(), nn.Conv2d(4, 3, 3)])
            self.quantizer = VectorQuantizer(8, 3)
            self.decoder = nn.SequentialCell(
                [nn.Conv2d(3, 16, 3, has_bias=True), nn.PReLU(16, 0.1), nn.PixelShuffle(2), nn.Conv2d(4, 1, 3)]
            )

        def construct(self, x: Tensor) -> Any:
            q, loss, indices = self.quantizer(self.encoder(x))
            return self.decoder(q), loss, indices

    net = filled(VQVAE())

    def forward(x: Tensor) -> Any:
        x_hat, vq, indices = net(x)
        return nn.MSELoss()(x_hat, x) + vq, x_hat, indices

    return trained(net, forward, nn.Adam(net.trainable_params(), 1e-2, eps=1e-2), wave(2, 1, 8, 8))


@program
def pixelcnn() -> dict[str, Any]:
    class MaskedConv2d(nn.Conv2d):
        def __init__(self, kind: str, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            mask = np.ones(self.weight.shape, np.float32)
            _, _, h, w = mask.shape
            mask[:, :, h // 2, w // 2 + (kind == "B") :] = 0
            mask[:, :, h // 2 + 1 :] = 0
            self.mask = Tensor(mask)

        def construct(self, x: Tensor) -> Tensor:
            return self.conv2d(x, self.weight * self.mask)

    class PixelCNN(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = MaskedConv2d("A", 1, 8, 5, pad_mode="same")
            self.gated = nn.CellList([MaskedConv2d("B", 8, 16, 3, pad_mode="same") for _ in range(2)])
            self.out = nn.Conv2d(8, 4, 1, has_bias=True)

        def construct(self, x: Tensor) -> Tensor:
            x = self.first(x)
            for conv in self.gated:
                a, b = ops.Split(1, 2)(conv(x))
                x = x + ops.tanh(a) * ops.sigmoid(b)
            return self.out(ops.elu(x))

    net = filled(PixelCNN())
    levels = integers(2, 6, 6, below=4)

    def forward(levels: Tensor) -> Any:
        x = (levels.astype(ms.float32) / 3 - 0.5).expand_dims(1)
        logits = net(x)
        return ops.cross_entropy(logits, levels), logits

    return trained(net, forward, nn.AdaMax(net.trainable_params(), 1e-2, eps=1e-3), levels)
