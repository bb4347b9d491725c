"""Healthy: well-known networks for pictures, scaled down, with their structure kept."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import HeNormal, Normal, initializer

from . import blocks, data
from .programs import Run, healthy, one_step, tensors, with_model


def conv(before: int, after: int, kernel: int = 3, stride: int = 1, group: int = 1, act: Any = nn.ReLU) -> nn.Cell:
    """Return a convolution, batch normalization and, unless None, an activation."""
    layers: list[nn.Cell] = [nn.Conv2d(before, after, kernel, stride, group=group), nn.BatchNorm2d(after)]
    return nn.SequentialCell([*layers, act()] if act else layers)


class GlobalMean(nn.Cell):
    """The mean over the picture."""

    def construct(self, x: Tensor) -> Any:
        return x.mean((2, 3))


def on_digits(net: nn.Cell, rate: float = 0.003, steps: int = 16, way: Any = one_step, decay: float = 0.0) -> Run:
    x, y = data.digits(64, 16)
    optimizer = nn.Adam(net.trainable_params(), rate, weight_decay=decay)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(data.normalized(x), y, steps=steps), way)


def on_textures(net: nn.Cell, rate: float = 0.003, steps: int = 14, way: Any = with_model) -> Run:
    x, y = data.textures(64)
    optimizer = nn.Adam(net.trainable_params(), rate)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(x, y, steps=steps), way)


@healthy("LeCun et al. 1998: two convolutions, tanh and average pooling, three dense layers.", known="LeNet-5")
def lenet5() -> Run:
    net = nn.SequentialCell(
        nn.Conv2d(1, 6, 5, has_bias=True),
        nn.Tanh(),
        nn.AvgPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True),
        nn.Tanh(),
        nn.AvgPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(64, 120),
        nn.Tanh(),
        nn.Dense(120, 84),
        nn.Tanh(),
        nn.Dense(84, 10),
    )
    return on_digits(net)


@healthy("Krizhevsky et al. 2012: five convolutions, local response normalization, dropout.", known="AlexNet")
def alexnet() -> Run:
    def layer(before: int, after: int, kernel: int = 3) -> list[nn.Cell]:
        return [nn.Conv2d(before, after, kernel, has_bias=True, weight_init=HeNormal()), nn.ReLU()]

    net = nn.SequentialCell(
        *layer(3, 12, 5),
        nn.LRN(),
        nn.MaxPool2d(3, 2),
        *layer(12, 24),
        nn.LRN(),
        nn.MaxPool2d(3, 2),
        *layer(24, 32),
        *layer(32, 32),
        *layer(32, 24),
        nn.MaxPool2d(3, 2),
        nn.Flatten(),
        nn.Dropout(p=0.5),
        nn.Dense(24, 64),
        nn.ReLU(),
        nn.Dropout(p=0.5),
        nn.Dense(64, 64),
        nn.ReLU(),
        nn.Dense(64, 4),
    )
    return on_textures(net, steps=24)


@healthy("Simonyan and Zisserman 2014: eight 3 x 3 convolutions in five stages, here normalized.", known="VGG-11")
def vgg11() -> Run:
    stages = [(conv(3, 8),), (conv(8, 16),), (conv(16, 24), conv(24, 24)), (conv(24, 32), conv(32, 32))]
    net = nn.SequentialCell(
        *[cell for stage in stages for cell in (*stage, nn.MaxPool2d(2, 2))],
        conv(32, 32),
        conv(32, 32),
        nn.Flatten(),
        nn.Dense(32, 64),
        nn.ReLU(),
        nn.Dropout(p=0.5),
        nn.Dense(64, 64),
        nn.ReLU(),
        nn.Dropout(p=0.5),
        nn.Dense(64, 4),
    )
    return on_textures(net, 0.005, steps=24)


class Inception(nn.Cell):
    """1 x 1, 3 x 3, 5 x 5 and pooled branches side by side."""

    def __init__(self, before: int, width: int) -> None:
        super().__init__()
        self.one = conv(before, width, 1)
        self.three = nn.SequentialCell(conv(before, width, 1), conv(width, width, 3))
        self.five = nn.SequentialCell(conv(before, width // 2, 1), conv(width // 2, width // 2, 5))
        self.pooled = nn.SequentialCell(nn.MaxPool2d(3, 1, "same"), conv(before, width // 2, 1))

    def construct(self, x: Tensor) -> Any:
        return ops.concat([self.one(x), self.three(x), self.five(x), self.pooled(x)], 1)


@healthy("Szegedy et al. 2014: Inception blocks, global mean, dropout 0.4.", known="GoogLeNet")
def googlenet() -> Run:
    net = nn.SequentialCell(
        conv(3, 8),
        nn.MaxPool2d(2, 2),
        Inception(8, 8),
        Inception(24, 8),
        nn.MaxPool2d(2, 2),
        Inception(24, 12),
        GlobalMean(),
        nn.Dropout(p=0.4),
        nn.Dense(36, 4),
    )
    return on_textures(net)


@healthy("He et al. 2015: four stages of two basic blocks.", known="ResNet-18")
def resnet18() -> Run:
    stages = [(6, 6, 1), (6, 6, 1), (6, 8, 2), (8, 8, 1), (8, 12, 2), (12, 12, 1), (12, 16, 2), (16, 16, 1)]
    body = nn.SequentialCell([blocks.Residual(a, b, stride) for a, b, stride in stages])
    return on_textures(blocks.chain(stem=conv(3, 6), body=body, mean=GlobalMean(), head=nn.Dense(16, 4)), steps=10)


class Bottleneck(nn.Cell):
    """1 x 1 down, 3 x 3, 1 x 1 up to four times the width, around a shortcut."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = nn.SequentialCell(conv(before, width, 1), conv(width, width, 3, stride))
        self.last = conv(width, 4 * width, 1, act=None)
        same = before == 4 * width and stride == 1
        self.shortcut = nn.Identity() if same else conv(before, 4 * width, 1, stride, act=None)

    def construct(self, x: Tensor) -> Any:
        return ops.relu(self.last(self.body(x)) + self.shortcut(x))


@healthy("He et al. 2015: bottleneck blocks.", known="ResNet-50")
def resnet50() -> Run:
    stages = [(8, 4, 1), (16, 4, 1), (16, 6, 2), (24, 6, 1), (24, 8, 2), (32, 8, 1)]
    body = nn.SequentialCell([Bottleneck(*stage) for stage in stages])
    return on_textures(blocks.chain(stem=conv(3, 8), body=body, mean=GlobalMean(), head=nn.Dense(32, 4)), steps=10)


class DenseLayer(nn.Cell):
    """Norm, ReLU, convolution; the output is concatenated with the input."""

    def __init__(self, before: int, growth: int) -> None:
        super().__init__()
        self.norm, self.relu, self.conv = nn.BatchNorm2d(before), nn.ReLU(), nn.Conv2d(before, growth, 3)

    def construct(self, x: Tensor) -> Any:
        return ops.concat([x, self.conv(self.relu(self.norm(x)))], 1)


@healthy("Huang et al. 2016: dense blocks and transitions.", known="DenseNet")
def densenet() -> Run:
    def transition(before: int, after: int) -> list[nn.Cell]:
        return [nn.BatchNorm2d(before), nn.ReLU(), nn.Conv2d(before, after, 1), nn.AvgPool2d(2, 2)]

    net = nn.SequentialCell(
        nn.Conv2d(3, 8, 3),
        *[DenseLayer(8 + 6 * i, 6) for i in range(3)],
        *transition(26, 12),
        *[DenseLayer(12 + 6 * i, 6) for i in range(3)],
        *transition(30, 16),
        *[DenseLayer(16 + 6 * i, 6) for i in range(2)],
        nn.BatchNorm2d(28),
        nn.ReLU(),
        GlobalMean(),
        nn.Dense(28, 4),
    )
    return on_textures(net)


class Squeeze(nn.Cell):
    """Squeeze-and-excitation (Hu et al. 2017)."""

    def __init__(self, width: int, squeezed: int) -> None:
        super().__init__()
        self.down, self.up = nn.Dense(width, squeezed), nn.Dense(squeezed, width)

    def construct(self, x: Tensor) -> Any:
        gate = ops.sigmoid(self.up(ops.silu(self.down(x.mean((2, 3))))))
        return x * gate.expand_dims(-1).expand_dims(-1)


class Inverted(nn.Cell):
    """Wide inside, narrow at its ends, depthwise between: of MobileNetV2, and with a squeeze of EfficientNet."""

    def __init__(self, before: int, after: int, stride: int, act: Any, squeeze: bool) -> None:
        super().__init__()
        wide = 4 * before
        middle = [conv(before, wide, 1, act=act), conv(wide, wide, 3, stride, wide, act)]
        squeezed: list[nn.Cell] = [Squeeze(wide, max(1, before // 4))] if squeeze else []
        self.body = nn.SequentialCell([*middle, *squeezed, conv(wide, after, 1, act=None)])
        self.added = stride == 1 and before == after

    def construct(self, x: Tensor) -> Any:
        return x + self.body(x) if self.added else self.body(x)


def of_inverted(act: Any, squeeze: bool) -> nn.Cell:
    stages = [(6, 6, 1), (6, 8, 2), (8, 8, 1), (8, 12, 2), (12, 12, 1)]
    body = nn.SequentialCell([Inverted(a, b, stride, act, squeeze) for a, b, stride in stages])
    last = conv(12, 32, 1, act=act)
    return blocks.chain(stem=conv(3, 6, act=act), body=body, last=last, mean=GlobalMean(), head=nn.Dense(32, 4))


@healthy("Sandler et al. 2018: inverted residuals, depthwise convolutions, ReLU6.", known="MobileNetV2")
def mobilenet_v2() -> Run:
    return on_textures(of_inverted(nn.ReLU6, False), 0.005)


@healthy("Tan and Le 2019: MBConv with squeeze-and-excitation and SiLU.", known="EfficientNet")
def efficientnet() -> Run:
    return on_textures(of_inverted(nn.SiLU, True), 0.005)


class Fire(nn.Cell):
    """A 1 x 1 squeeze, then 1 x 1 and 3 x 3 side by side."""

    def __init__(self, before: int, squeezed: int, width: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(before, squeezed, 1, has_bias=True, weight_init=HeNormal())
        self.one = nn.Conv2d(squeezed, width, 1, has_bias=True, weight_init=HeNormal())
        self.three = nn.Conv2d(squeezed, width, 3, has_bias=True, weight_init=HeNormal())

    def construct(self, x: Tensor) -> Any:
        x = ops.relu(self.squeeze(x))
        return ops.relu(ops.concat([self.one(x), self.three(x)], 1))


@healthy("Iandola et al. 2016: fire modules, and a convolution for a head.", known="SqueezeNet")
def squeezenet() -> Run:
    net = nn.SequentialCell(
        nn.Conv2d(3, 12, 3, has_bias=True, weight_init=HeNormal()),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        Fire(12, 6, 8),
        Fire(16, 6, 8),
        nn.MaxPool2d(2, 2),
        Fire(16, 8, 12),
        Fire(24, 8, 12),
        nn.Dropout(p=0.5),
        nn.Conv2d(24, 4, 1, has_bias=True),
        GlobalMean(),
    )
    return on_textures(net, 0.01, steps=20)


class Shuffle(nn.Cell):
    """Grouped 1 x 1 convolutions around a channel shuffle and a depthwise convolution."""

    def __init__(self, width: int, groups: int) -> None:
        super().__init__()
        self.first = conv(width, width // 2, 1, group=groups)
        self.shuffle = nn.ChannelShuffle(groups)
        self.depthwise = conv(width // 2, width // 2, 3, group=width // 2, act=None)
        self.last = conv(width // 2, width, 1, group=groups, act=None)

    def construct(self, x: Tensor) -> Any:
        return ops.relu(x + self.last(self.depthwise(self.shuffle(self.first(x)))))


@healthy("Zhang et al. 2017: grouped convolutions and channel shuffle.", known="ShuffleNet")
def shufflenet() -> Run:
    body = nn.SequentialCell(Shuffle(12, 2), nn.AvgPool2d(2, 2), Shuffle(12, 2), Shuffle(12, 2))
    return on_textures(blocks.chain(stem=conv(3, 12, 3, 2), body=body, mean=GlobalMean(), head=nn.Dense(12, 4)), 0.01)


class UNet(nn.Cell):
    """Two levels down and up, with the pictures on the way down concatenated to those on the way up."""

    def __init__(self) -> None:
        super().__init__()
        self.down1, self.down2, self.bottom = conv(1, 6), conv(6, 12), conv(12, 16)
        self.up2, self.up1 = nn.Conv2dTranspose(16, 12, 2, 2), nn.Conv2dTranspose(12, 6, 2, 2)
        self.join2, self.join1 = conv(24, 12), conv(12, 6)
        self.pool, self.head = nn.MaxPool2d(2, 2), nn.Conv2d(6, 1, 1, has_bias=True)

    def construct(self, x: Tensor) -> Any:
        first = self.down1(x)
        second = self.down2(self.pool(first))
        x = self.join2(ops.concat([second, self.up2(self.bottom(self.pool(second)))], 1))
        return self.head(self.join1(ops.concat([first, self.up1(x)], 1)))


@healthy("Ronneberger et al. 2015: segmentation with skipped levels.", known="U-Net")
def unet() -> Run:
    x, masks = data.blobs(32)
    net = UNet()
    batches = data.batches(x, masks / 255, size=8, steps=14)
    return Run(net, nn.BCEWithLogitsLoss(), nn.Adam(net.trainable_params(), 0.01), batches, one_step)


class VAE(nn.Cell):
    """The negative evidence lower bound of flat pictures between 0 and 1, a pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.SequentialCell(nn.Dense(64, 48), nn.ReLU())
        self.mean, self.log_variance = nn.Dense(48, 6), nn.Dense(48, 6)
        self.decoder = blocks.mlp(6, 48, 64)

    def construct(self, x: Tensor) -> Any:
        h = self.encoder(x * 2 - 1)
        mean, log_variance = self.mean(h), self.log_variance(h)
        code = mean + ops.exp(log_variance / 2) * ops.randn_like(mean)
        likelihood = ops.binary_cross_entropy_with_logits(self.decoder(code), x, reduction="sum")
        apart = -0.5 * (1 + log_variance - ops.square(mean) - ops.exp(log_variance)).sum()
        return (likelihood + apart) / x.size


@healthy("Kingma and Welling 2013: a variational autoencoder that gives its own loss.", known="VAE")
def vae() -> Run:
    x, _ = data.digits()
    net = VAE()
    batches = data.batches((x / 255).reshape(len(x), -1), steps=40)
    return Run(net, None, nn.Adam(net.trainable_params(), 0.01), batches, one_step)


def adversarial(run: Run) -> list[float]:
    """Train as Goodfellow et al. 2014, non-saturating; return the distance between the mean fake and real pictures."""
    net, loss = run.net, nn.BCEWithLogitsLoss()
    of_generator, of_discriminator = run.optimizer

    def judged(real: Tensor, noise: Tensor) -> Any:
        fake = ops.stop_gradient(net.generator(noise))
        right, wrong = net.discriminator(real), net.discriminator(fake)
        return loss(right, ops.ones_like(right)) + loss(wrong, ops.zeros_like(wrong))

    def fooled(noise: Tensor) -> Any:
        fakes = net.discriminator(net.generator(noise))
        return loss(fakes, ops.ones_like(fakes))

    net.set_train()
    learn_to_judge = ms.value_and_grad(judged, None, of_discriminator.parameters)
    learn_to_fool = ms.value_and_grad(fooled, None, of_generator.parameters)
    apart = []
    for batch in run.batches:
        real, noise = tensors(batch)
        of_discriminator(learn_to_judge(real, noise)[1])
        of_generator(learn_to_fool(noise)[1])
        made = net.generator(noise)
        apart.append(float(ops.square(made.mean(0) - real.mean(0)).mean()))
    return apart


@healthy("Radford et al. 2015: transposed convolutions against strided ones.", known="DCGAN", falls_to=0.7)
def dcgan() -> Run:
    x, _ = data.digits(64, 16, classes=1)
    noise = np.random.default_rng(0).normal(0, 1, (64, 12, 1, 1)).astype(np.float32)
    generator = nn.SequentialCell(
        nn.Conv2dTranspose(12, 16, 4, 1, pad_mode="valid"),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Conv2dTranspose(16, 8, 4, 2),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2dTranspose(8, 1, 4, 2),
        nn.Tanh(),
    )
    discriminator = nn.SequentialCell(
        nn.Conv2d(1, 8, 4, 2),
        nn.LeakyReLU(0.2),
        nn.Conv2d(8, 16, 4, 2),
        nn.BatchNorm2d(16),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Dense(256, 1),
    )
    net = blocks.Adversaries(generator, discriminator)
    optimizers = tuple(nn.Adam(item.trainable_params(), 0.004, 0.5) for item in (generator, discriminator))
    return Run(net, None, optimizers, data.batches(x / 127.5 - 1, noise, size=32, steps=40), adversarial)


class ViT(nn.Cell):
    """Patches, a class token, learned positions, blocks, and a head on the class token."""

    def __init__(self, size: int = 16, patch: int = 4, width: int = 16, classes: int = 4) -> None:
        super().__init__()
        count = (size // patch) ** 2
        self.patches = nn.Conv2d(3, width, patch, patch, "valid", has_bias=True)
        self.token = Parameter(initializer(Normal(0.02), (1, 1, width)), "token")
        self.position = Parameter(initializer(Normal(0.02), (count + 1, width)), "position")
        self.blocks = nn.SequentialCell([blocks.Block(width), blocks.Block(width)])
        self.norm, self.head = nn.LayerNorm((width,)), nn.Dense(width, classes)

    def construct(self, x: Tensor) -> Any:
        patches = self.patches(x)
        patches = patches.reshape((*patches.shape[:2], -1)).swapaxes(1, 2)
        token = ops.broadcast_to(self.token, (x.shape[0], 1, patches.shape[2]))
        return self.head(self.norm(self.blocks(ops.concat([token, patches], 1) + self.position))[:, 0])


@healthy("Dosovitskiy et al. 2020: a Transformer over patches.", known="ViT")
def vit() -> Run:
    return on_textures(ViT(), 0.005, steps=20)
