"""Exceptions in networks for images: classifiers, U-Net, residual blocks, detection, super-resolution."""

from __future__ import annotations

from typing import Any

import hookscope.engine as ms
from hookscope.engine import nn, ops

from .case import floats, integers, raises


@raises(
    ValueError,
    "convolutional classifier",
    "The first layer after the flatten is made for images of another size.",
    "fc1",
    "(4, 108)",
    "flatten",
    "pool",
    "(4, 12, 3, 3)",
    "192",
    "fc1.weight",
)
def digits_with_a_wrong_flatten() -> None:
    class Digits(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 6, 3)
            self.conv2 = nn.Conv2d(6, 12, 3, pad_mode="valid")
            self.pool = nn.MaxPool2d(2, 2)
            self.fc1 = nn.Dense(12 * 4 * 4, 20)
            self.fc2 = nn.Dense(20, 10)

        def construct(self, x: Any) -> Any:
            x = self.pool(ops.relu(self.conv1(x)))
            x = self.pool(ops.relu(self.conv2(x)))
            x = ops.flatten(x)
            x = ops.relu(self.fc1(x))  # raised
            return self.fc2(x)

    Digits()(floats(4, 1, 16, 16))


@raises(
    ValueError,
    "U-Net",
    "An image of odd size is halved and doubled, and no longer has the size of the skip connection.",
    "",
    "concat",
    "up",
    "down",
    "(2, 4, 9, 9)",
    "(2, 4, 8, 8)",
)
def unet_of_odd_images() -> None:
    class UNet(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.down = nn.Conv2d(1, 4, 3)
            self.pool = nn.MaxPool2d(2, 2)
            self.bottom = nn.Conv2d(4, 8, 3)
            self.up = nn.Conv2dTranspose(8, 4, 2, stride=2)
            self.mask = nn.Conv2d(8, 1, 1)

        def construct(self, image: Any) -> Any:
            skip = self.down(image)
            coarse = self.bottom(self.pool(skip))
            fine = self.up(coarse)
            joined = ops.cat((skip, fine), 1)  # raised
            return ops.sigmoid(self.mask(joined))

    net = UNet()
    grad_fn = ms.value_and_grad(lambda x: net(x).mean(), None, net.trainable_params())
    grad_fn(floats(2, 1, 9, 9))


@raises(
    ValueError,
    "residual network",
    "A block that changes the number of channels adds its input without a projection.",
    "blocks.1",
    "add",
    "(2, 8, 6, 6)",
    "(2, 4, 6, 6)",
    "blocks.1.norm",
    "blocks.0",
    "axis 1",
)
def residual_blocks_without_projection() -> None:
    class Block(nn.Cell):
        def __init__(self, inner: int, outer: int) -> None:
            super().__init__()
            self.conv = nn.Conv2d(inner, outer, 3)
            self.norm = nn.BatchNorm2d(outer)

        def construct(self, x: Any) -> Any:
            y = self.norm(self.conv(x))
            return y + x  # raised

    class Trunk(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.SequentialCell(Block(4, 4), Block(4, 8), Block(8, 8))
            self.head = nn.Dense(8, 3)

        def construct(self, x: Any) -> Any:
            return self.head(self.blocks(x).mean((2, 3)))

    net = Trunk()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(2, 4, 6, 6))


@raises(
    RuntimeError,
    "image encoder",
    "The images have their channels last.",
    "stem",
    "(4, 16, 16, 3)",
    "pixels",
    "axis 1",
    "16",
    "3",
    "stem.weight",
)
def encoder_of_images_with_channels_last() -> None:
    class Encoder(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv2d(3, 8, 3, stride=2)
            self.out = nn.Dense(8, 5)

        def construct(self, pixels: Any) -> Any:
            features = self.stem(pixels)  # raised
            return self.out(features.mean((2, 3)))

    Encoder()(floats(4, 16, 16, 3))


@raises(
    ValueError,
    "depthwise network",
    "A single image is passed, without the axis of the batch.",
    "features.0",
    "(3, 12, 12)",
    "4",
    "batch",
)
def one_image_without_a_batch() -> None:
    features = nn.SequentialCell(nn.Conv2d(3, 6, 3, group=3), nn.ReLU(), nn.Conv2d(6, 12, 1))

    class Tagger(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.features = features

        def construct(self, picture: Any) -> Any:
            return self.features(picture).max(axis=-1)  # raised

    Tagger()(floats(3, 12, 12))


@raises(
    ValueError,
    "convolutional critic",
    "The image is smaller than the window of the fourth convolution after three halvings.",
    "conv4",
    "(5, 5)",
    "(2, 8, 2, 2)",
    "conv3",
)
def critic_of_small_images() -> None:
    class Critic(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 4, stride=2)
            self.conv2 = nn.Conv2d(4, 8, 4, stride=2)
            self.conv3 = nn.Conv2d(8, 8, 4, stride=2)
            self.conv4 = nn.Conv2d(8, 1, 5, pad_mode="valid")

        def construct(self, x: Any) -> Any:
            for layer in (self.conv1, self.conv2, self.conv3):
                x = layer(x)
            return self.conv4(x)  # raised

    Critic()(floats(2, 3, 16, 16))


@raises(
    ValueError,
    "normalized convolutions",
    "The normalization is made for the input's channels of the convolution before it.",
    "norm2",
    "conv2",
    "(2, 32, 8, 8)",
    "16",
    "32",
    "axis 1",
)
def normalization_of_other_channels() -> None:
    class Stages(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(1, 16, 3)
            self.norm1 = nn.BatchNorm2d(16)
            self.conv2 = nn.Conv2d(16, 32, 3)
            self.norm2 = nn.BatchNorm2d(16)

        def construct(self, x: Any) -> Any:
            x = self.norm1(self.conv1(x))
            return self.norm2(self.conv2(x))  # raised

    Stages()(floats(2, 1, 8, 8))


@raises(
    ValueError,
    "segmentation",
    "The mask still has an axis for its single channel.",
    None,
    "(2, 5, 8, 8)",
    "(2, 1, 8, 8)",
    "mask",
    "(2, 8, 8)",
)
def segmentation_with_a_mask_of_one_channel() -> None:
    net = nn.SequentialCell(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 5, 1))
    mask = integers(5, 2, 1, 8, 8)

    def loss_of(image: Any) -> Any:
        scores = net(image)
        return ops.cross_entropy(scores, mask)  # raised

    ms.value_and_grad(loss_of, None, net.trainable_params())(floats(2, 3, 8, 8))


@raises(
    ValueError,
    "detector",
    "Four numbers a box are written into a slice of three columns.",
    "head",
    "boxes",
    "(6, 4)",
    "(6, 3)",
    "regress",
)
def detector_that_writes_boxes_in_place() -> None:
    class Head(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.regress = nn.Dense(10, 4)

        def construct(self, regions: Any) -> Any:
            boxes = ops.zeros((6, 5), ms.float32)
            boxes[:, 1:4] = self.regress(regions)  # raised
            return boxes

    class Detector(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.neck = nn.Dense(12, 10)
            self.head = Head()

        def construct(self, regions: Any) -> Any:
            return self.head(ops.gelu(self.neck(regions)))

    Detector()(floats(6, 12))


@raises(
    ValueError,
    "super-resolution",
    "The last convolution has no four channels for each color.",
    "enlarge",
    "expand",
    "(1, 6, 5, 5)",
    "4",
)
def upscaler_with_six_channels() -> None:
    class Upscaler(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.expand = nn.Conv2d(3, 6, 3)
            self.enlarge = nn.PixelShuffle(2)

        def construct(self, low: Any) -> Any:
            high = self.enlarge(self.expand(low))  # raised
            return ops.clamp(high, 0.0, 1.0)

    Upscaler()(floats(1, 3, 5, 5))
