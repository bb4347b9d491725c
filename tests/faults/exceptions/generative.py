"""Exceptions in generative networks: GAN, autoencoders, diffusion, flows."""

from __future__ import annotations

from typing import Any

import hookscope.engine as ms
from hookscope.engine import nn, ops

from .case import floats, integers, raises


@raises(
    ValueError,
    "GAN",
    "The discriminator reads another number of coordinates than the generator makes.",
    "SequentialCell.0",
    "(8, 6)",
    "6",
    "9",
    "SequentialCell.0.weight",
)
def gan_with_points_of_other_length() -> None:
    generator = nn.SequentialCell(nn.Dense(4, 16), nn.Tanh(), nn.Dense(16, 6))
    discriminator = nn.SequentialCell(nn.Dense(9, 16), nn.LeakyReLU(), nn.Dense(16, 1))

    def generator_loss(noise: Any) -> Any:
        fake = generator(noise)
        judged = discriminator(fake)  # raised
        return ops.relu(1.0 - judged).mean()

    ms.value_and_grad(generator_loss, None, generator.trainable_params())(floats(8, 4))


@raises(
    ValueError,
    "variational autoencoder",
    "The decoder begins with the mean and the variance together.",
    "decode.0",
    "latent",
    "(5, 3)",
    "3",
    "6",
    "decode.0.weight",
)
def vae_that_decodes_half_of_its_code() -> None:
    class Vae(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encode = nn.Dense(20, 6)
            self.decode = nn.SequentialCell(nn.Dense(6, 12), nn.ReLU(), nn.Dense(12, 20))

        def construct(self, x: Any) -> Any:
            mean, log_variance = ops.chunk(self.encode(x), 2, axis=1)
            latent = mean + ops.exp(0.5 * log_variance) * floats(5, 3)
            return self.decode(latent), mean, log_variance  # raised

    Vae()(floats(5, 20))


@raises(
    ValueError,
    "image autoencoder",
    "The reconstruction is flat, the image is not.",
    None,
    "(3, 16)",
    "(3, 1, 4, 4)",
    "reconstruction",
    "image",
)
def autoencoder_compared_with_an_image() -> None:
    net = nn.SequentialCell(nn.Flatten(), nn.Dense(16, 5), nn.Dense(5, 16), nn.Sigmoid())
    image = ops.sigmoid(floats(3, 1, 4, 4))
    reconstruction = net(image)
    loss = ops.binary_cross_entropy(reconstruction, image)  # raised
    print(loss)


@raises(
    ValueError,
    "diffusion model",
    "The embedding of the time lacks the two axes of the image.",
    "denoise",
    "add",
    "(4, 8)",
    "(4, 8, 6, 6)",
    "denoise.conv",
    "denoise.time",
)
def diffusion_step_without_axes() -> None:
    class Denoise(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3)
            self.time = nn.Dense(5, 8)
            self.out = nn.Conv2d(8, 3, 3)

        def construct(self, noisy: Any, moment: Any) -> Any:
            features = self.conv(noisy)
            shift = self.time(moment)
            return self.out(ops.silu(features + shift))  # raised

    class Diffusion(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.denoise = Denoise()

        def construct(self, image: Any, noise: Any, moment: Any) -> Any:
            return ((self.denoise(image + noise, moment) - noise) ** 2).mean()

    net = Diffusion()
    grad_fn = ms.value_and_grad(net, None, net.trainable_params())
    grad_fn(floats(4, 3, 6, 6), floats(4, 3, 6, 6), floats(4, 5))


@raises(
    ValueError,
    "normalizing flow",
    "Five coordinates are split into two and three, but the scale is made for two.",
    "couplings.0",
    "mul",
    "(7, 3)",
    "(7, 2)",
    "scale",
)
def flow_of_an_odd_number_of_coordinates() -> None:
    class Coupling(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Dense(2, 2)

        def construct(self, x: Any) -> Any:
            kept, changed = x[:, :2], x[:, 2:]
            factor = ops.exp(ops.tanh(self.scale(kept)))
            changed = changed * factor  # raised
            return ops.cat((changed, kept), 1)

    class Flow(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.couplings = nn.SequentialCell(Coupling(), Coupling())

        def construct(self, x: Any) -> Any:
            return self.couplings(x)

    net = Flow()
    ms.value_and_grad(lambda x: (net(x) ** 2).sum(), None, net.trainable_params())(floats(7, 5))


@raises(
    ValueError,
    "convolutional autoencoder",
    "The transposed convolution takes as many channels as it is to make.",
    "decoder.0",
    "(2, 12, 4, 4)",
    "12",
    "6",
    "encoder",
)
def autoencoder_with_swapped_channels() -> None:
    class Autoencoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = nn.SequentialCell(nn.Conv2d(1, 6, 3, stride=2), nn.ReLU(), nn.Conv2d(6, 12, 3))
            self.decoder = nn.SequentialCell(nn.Conv2dTranspose(6, 12, 3), nn.Sigmoid())

        def construct(self, x: Any) -> Any:
            return self.decoder(self.encoder(x))  # raised

    Autoencoder()(floats(2, 1, 8, 8))


@raises(
    ValueError,
    "style transfer",
    "The style has one factor too few for the channels of the content.",
    "style",
    "mul",
    "(2, 6, 5, 5)",
    "(2, 5, 1, 1)",
    "axis 1",
    "affine",
)
def style_with_too_few_factors() -> None:
    class Style(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.affine = nn.Dense(3, 5)

        def construct(self, content: Any, style: Any) -> Any:
            factors = self.affine(style).reshape(2, 5, 1, 1)
            centered = content - content.mean((2, 3), keep_dims=True)
            return ops.mul(centered, factors)  # raised

    class Transfer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.content = nn.Conv2d(3, 6, 3)
            self.style = Style()

        def construct(self, image: Any, style: Any) -> Any:
            return self.style(self.content(image), style)

    Transfer()(floats(2, 3, 5, 5), floats(2, 3))


@raises(
    RuntimeError, "vector quantization", "The codes are counted from one.", "", "codebook", "(16, 4)", "16", "codes"
)
def codebook_counted_from_one() -> None:
    class Codebook(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.codebook = ms.Parameter(floats(16, 4), name="codebook")

        def construct(self, codes: Any) -> Any:
            codes = codes + 1
            return ops.gather(self.codebook, codes, 0)  # raised

    Codebook()(integers(16, 5))
