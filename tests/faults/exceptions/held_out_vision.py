"""Held-out exceptions in networks for images, voxels and points, written before the rules were changed for them."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, nn, ops

from .case import floats, raises


@raises(
    ValueError,
    "capsule network",
    "The coupling of each pair of capsules lacks the axis of the votes.",
    "routing",
    "mul",
    "coupling",
    "(2, 12, 3)",
    "votes",
    "(2, 12, 3, 5)",
)
def capsules_with_a_coupling_without_an_axis() -> None:
    class Routing(nn.Cell):
        def construct(self, votes: Any) -> Any:
            coupling = ops.softmax(votes.sum(-1), 2)
            return (coupling * votes).sum(1)  # raised

    class Capsules(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.primary = nn.Dense(7, 15)
            self.routing = Routing()

        def construct(self, x: Any) -> Any:
            return self.routing(self.primary(x).reshape(2, 12, 3, 5))

    Capsules()(floats(2, 12, 7))


@raises(
    ValueError,
    "squeeze and excitation",
    "The weights of the channels lack the two axes of the image.",
    "gate",
    "mul",
    "x",
    "(2, 8, 6, 6)",
    "(2, 8)",
    "gate.excite",
)
def excitation_without_axes_of_the_image() -> None:
    class Gate(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.squeeze = nn.Dense(8, 2)
            self.excite = nn.SequentialCell(nn.Dense(2, 8), nn.Sigmoid())

        def construct(self, x: Any) -> Any:
            return x * self.excite(self.squeeze(x.mean((2, 3))))  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3)
            self.gate = Gate()

        def construct(self, image: Any) -> Any:
            return self.gate(self.conv(image))

    Net()(floats(2, 3, 6, 6))


@raises(
    ValueError,
    "squeeze network",
    "The two branches of a fire module pad differently.",
    "fire",
    "concat",
    "narrow",
    "(2, 4, 8, 8)",
    "wide",
    "(2, 4, 6, 6)",
    "axis 2",
)
def branches_that_pad_differently() -> None:
    class Fire(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.squeeze = nn.Conv2d(3, 2, 1)
            self.narrow = nn.Conv2d(2, 4, 1)
            self.wide = nn.Conv2d(2, 4, 3, pad_mode="valid")

        def construct(self, x: Any) -> Any:
            x = ops.relu(self.squeeze(x))
            return ops.cat([self.narrow(x), self.wide(x)], axis=1)  # raised

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fire = Fire()

        def construct(self, x: Any) -> Any:
            return self.fire(x).mean((2, 3))

    Net()(floats(2, 3, 8, 8))


@raises(
    ValueError,
    "PixelCNN",
    "The mask of the kernel is made for another size of kernel.",
    "first",
    "mul",
    "first.weight",
    "(8, 1, 7, 7)",
    "mask",
    "(5, 5)",
)
def mask_of_another_kernel() -> None:
    class Masked(nn.Cell):
        def __init__(self, size: int, kind: int) -> None:
            super().__init__()
            self.weight = Parameter(floats(8, 1, 7, 7), name="weight")
            mask = np.ones((size, size), np.float32)
            mask[size // 2, size // 2 + kind :] = 0
            self.mask = ms.Tensor(mask)

        def construct(self, x: Any) -> Any:
            return ops.conv2d(x, self.weight * self.mask, pad_mode="same")  # raised

    class Pixels(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = Masked(5, 0)

        def construct(self, image: Any) -> Any:
            return self.first(image)

    Pixels()(floats(2, 1, 9, 9))


@raises(
    ValueError,
    "deformable sampling",
    "The two coordinates of the grid are its axis of channels, not its last axis.",
    "sample",
    "grid_sample",
    "grid",
    "(2, 2, 6, 6)",
    "2",
    "offsets",
)
def grid_with_channels_first() -> None:
    class Sample(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.offsets = nn.Conv2d(3, 2, 3)

        def construct(self, image: Any) -> Any:
            grid = ops.tanh(self.offsets(image))
            return ops.grid_sample(image, grid)  # raised

    class Deform(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.sample = Sample()

        def construct(self, image: Any) -> Any:
            return self.sample(image)

    net = Deform()
    ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())(floats(2, 3, 6, 6))


@raises(
    ValueError,
    "voxel network",
    "The grids of voxels have no axis of channels.",
    "stem",
    "voxels",
    "(2, 8, 8, 8)",
    "4",
    "5",
)
def voxels_without_channels() -> None:
    class Voxels(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv3d(1, 4, 3)

        def construct(self, voxels: Any) -> Any:
            return self.stem(voxels)  # raised

    Voxels()(floats(2, 8, 8, 8))


@raises(
    ValueError,
    "depthwise separable network",
    "The channels cannot be divided into the groups of the depthwise convolution.",
    None,
    "Conv2d",
    "group",
    "6",
    "4",
)
def groups_that_do_not_divide_the_channels() -> None:
    class Separable(nn.Cell):
        def __init__(self, channels: int, groups: int) -> None:
            super().__init__()
            self.depth = nn.Conv2d(channels, channels, 3, group=groups)  # raised
            self.point = nn.Conv2d(channels, 8, 1)

        def construct(self, x: Any) -> Any:
            return self.point(self.depth(x))

    nn.SequentialCell(nn.Conv2d(3, 6, 3), Separable(6, 4))(floats(2, 3, 8, 8))


@raises(
    ValueError,
    "feature pyramid",
    "The coarse level has more channels than the lateral connection of the fine level.",
    "merge",
    "add",
    "top",
    "(1, 16, 8, 8)",
    "(1, 8, 8, 8)",
    "merge.lateral",
)
def pyramid_that_adds_other_channels() -> None:
    class Merge(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.lateral = nn.Conv2d(4, 8, 1)

        def construct(self, fine: Any, coarse: Any) -> Any:
            top = ops.interpolate(coarse, size=(8, 8), mode="nearest")
            return self.lateral(fine) + top  # raised

    class Pyramid(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.fine = nn.Conv2d(3, 4, 3)
            self.coarse = nn.Conv2d(4, 16, 3, stride=2)
            self.merge = Merge()

        def construct(self, image: Any) -> Any:
            fine = self.fine(image)
            return self.merge(fine, self.coarse(fine))

    Pyramid()(floats(1, 3, 8, 8))


@raises(
    ValueError,
    "set detector",
    "The table of boxes has the class as a fifth column, the predicted boxes have four numbers.",
    None,
    "sub",
    "boxes",
    "(2, 7, 4)",
    "targets",
    "(2, 3, 5)",
)
def boxes_matched_with_a_class_column() -> None:
    class Head(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.box = nn.SequentialCell(nn.Dense(6, 6), nn.ReLU(), nn.Dense(6, 4), nn.Sigmoid())

        def construct(self, queries: Any) -> Any:
            return self.box(queries)

    def costs(boxes: Any, targets: Any) -> Any:
        return ops.abs(boxes[:, :, None] - targets[:, None]).sum(-1)  # raised

    head = Head()
    costs(head(floats(2, 7, 6)), floats(2, 3, 5))


@raises(
    ValueError,
    "segmentation with dilated branches",
    "The pooled branch is not enlarged to the size of the others.",
    "context",
    "concat",
    "pooled",
    "(1, 4, 1, 1)",
    "(1, 4, 9, 9)",
)
def pooled_branch_of_another_size() -> None:
    class Context(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.rates = nn.CellList([nn.Conv2d(3, 4, 3, dilation=rate) for rate in (1, 2)])
            self.image = nn.Conv2d(3, 4, 1)

        def construct(self, x: Any) -> Any:
            branches = [rate(x) for rate in self.rates]
            pooled = self.image(x.mean((2, 3), keep_dims=True))
            branches.append(pooled)
            return ops.cat(branches, 1)  # raised

    class Segment(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.context = Context()

        def construct(self, x: Any) -> Any:
            return self.context(x)

    Segment()(floats(1, 3, 9, 9))


@raises(
    ValueError,
    "bilinear pooling",
    "The second features are not transposed.",
    "pool",
    "bmm",
    "left",
    "(2, 8, 36)",
    "right",
    "(2, 5, 36)",
    "36",
)
def pooled_features_not_transposed() -> None:
    class Pool(nn.Cell):
        def construct(self, first: Any, second: Any) -> Any:
            left = first.reshape(2, 8, 36)
            right = second.reshape(2, 5, 36)
            return ops.bmm(left, right) / 36  # raised

    class Bilinear(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.shape = nn.Conv2d(3, 8, 3)
            self.color = nn.Conv2d(3, 5, 1)
            self.pool = Pool()

        def construct(self, image: Any) -> Any:
            return self.pool(self.shape(image), self.color(image))

    Bilinear()(floats(2, 3, 6, 6))


@raises(
    ValueError,
    "adaptive instance normalization",
    "The ten numbers of a style are split into pieces of four, which are three.",
    "adapt",
    "split",
    "style",
    "(2, 10)",
    "3",
    "2",
)
def style_split_into_three() -> None:
    class Adapt(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.affine = nn.Dense(6, 10)

        def construct(self, content: Any, code: Any) -> Any:
            style = self.affine(code)
            scale, shift = ops.split(style, 4, axis=1)  # raised
            return content * scale[:, :, None] + shift[:, :, None]

    class Stylize(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.adapt = Adapt()

        def construct(self, content: Any, code: Any) -> Any:
            return self.adapt(content, code)

    Stylize()(floats(2, 5, 9), floats(2, 6))


@raises(
    ValueError,
    "feature-wise modulation",
    "The factors and the offsets are made together, and folded like the factors alone.",
    "film",
    "reshape",
    "factors",
    "(2, 12)",
    "24",
    "(2, 6, 1, 1)",
    "12",
)
def factors_folded_with_their_offsets() -> None:
    class Film(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.modulate = nn.Dense(5, 12)

        def construct(self, x: Any, condition: Any) -> Any:
            factors = self.modulate(condition)
            return x * factors.view(2, 6, 1, 1)  # raised

    class Reason(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.see = nn.Conv2d(3, 6, 3)
            self.film = Film()

        def construct(self, image: Any, question: Any) -> Any:
            return self.film(self.see(image), question)

    Reason()(floats(2, 3, 7, 7), floats(2, 5))


@raises(
    ValueError,
    "weight standardization",
    "The mean of each filter is subtracted without the axes over which it was taken.",
    "conv",
    "sub",
    "conv.weight",
    "(6, 3, 5, 5)",
    "center",
    "(6,)",
    "mean",
)
def mean_of_filters_without_axes() -> None:
    class Standardized(nn.Conv2d):
        def construct(self, x: Any) -> Any:
            center = self.weight.mean((1, 2, 3))
            weight = self.weight - center  # raised
            return ops.conv2d(x, weight)

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.conv = Standardized(3, 6, 5)

        def construct(self, x: Any) -> Any:
            return self.conv(x)

    Net()(floats(1, 3, 8, 8))


@raises(
    RuntimeError,
    "point network",
    "The nine numbers of each turn are not folded into a matrix.",
    "align",
    "matmul",
    "points",
    "(2, 30, 3)",
    "turn",
    "(2, 9)",
)
def turn_that_is_no_matrix() -> None:
    class Align(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.lift = nn.Dense(3, 8)
            self.out = nn.Dense(8, 9)

        def construct(self, points: Any) -> Any:
            turn = self.out(ops.relu(self.lift(points)).mean(1))
            return points @ turn  # raised

    class PointNet(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.align = Align()

        def construct(self, points: Any) -> Any:
            return self.align(points)

    PointNet()(floats(2, 30, 3))
