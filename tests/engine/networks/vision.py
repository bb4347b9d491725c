"""Networks for images, as mindcv writes them."""

from __future__ import annotations

import math
from typing import Any

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import numpy as np
from mindspore import Parameter, Tensor
from mindspore.common.initializer import Constant, HeNormal, TruncatedNormal, Uniform, XavierUniform, initializer
from networks.steps import filled, integers, program, trained, wave


def classified(net: nn.Cell, optimizer: Any, x: Tensor, classes: int = 5, **smoothing: Any) -> dict[str, Any]:
    """Return a step on the cross entropy of what the network says of images."""
    loss_fn = nn.CrossEntropyLoss(**smoothing)
    net.set_train()

    def forward(images: Tensor, labels: Tensor) -> Any:
        logits = net(images)
        return loss_fn(logits, labels), logits

    return trained(net, forward, optimizer, x, integers(x.shape[0], below=classes))


# ---- ResNet


class BasicBlock(nn.Cell):
    expansion: int = 1

    def __init__(self, in_channels: int, channels: int, stride: int = 1, down_sample: Any = None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride=stride, padding=1, pad_mode="pad")
        self.bn1 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(channels, channels, kernel_size=3, stride=1, padding=1, pad_mode="pad")
        self.bn2 = nn.BatchNorm2d(channels)
        self.down_sample = down_sample

    def construct(self, x: Tensor) -> Tensor:
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.down_sample is not None:
            identity = self.down_sample(x)
        out += identity
        return self.relu(out)


class Bottleneck(nn.Cell):
    expansion: int = 4

    def __init__(self, in_channels: int, channels: int, stride: int = 1, down_sample: Any = None) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, kernel_size=1, stride=1)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride, pad_mode="pad", padding=1, group=2)
        self.bn2 = nn.BatchNorm2d(channels)
        self.conv3 = nn.Conv2d(channels, channels * self.expansion, kernel_size=1, stride=1)
        self.bn3 = nn.BatchNorm2d(channels * self.expansion)
        self.relu = nn.ReLU()
        self.down_sample = down_sample

    def construct(self, x: Tensor) -> Tensor:
        identity = x if self.down_sample is None else self.down_sample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return self.relu(ops.add(out, identity))


class ResNet(nn.Cell):
    def __init__(self, block: Any, layers: list[int], num_classes: int = 5, width: int = 4) -> None:
        super().__init__()
        self.input_channels = width
        self.conv1 = nn.Conv2d(3, width, kernel_size=7, stride=2, pad_mode="pad", padding=3)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.feature_info = [{"chs": width, "reduction": 2, "name": "relu"}]
        self.max_pool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same")
        self.layer1 = self._make_layer(block, width, layers[0])
        self.layer2 = self._make_layer(block, width * 2, layers[1], stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.num_features = width * 2 * block.expansion
        self.classifier = nn.Dense(self.num_features, num_classes)

    def _make_layer(self, block: Any, channels: int, block_nums: int, stride: int = 1) -> nn.SequentialCell:
        down_sample = None
        if stride != 1 or self.input_channels != channels * block.expansion:
            down_sample = nn.SequentialCell(
                [
                    nn.Conv2d(self.input_channels, channels * block.expansion, kernel_size=1, stride=stride),
                    nn.BatchNorm2d(channels * block.expansion),
                ]
            )
        layers = [block(self.input_channels, channels, stride, down_sample)]
        self.input_channels = channels * block.expansion
        for _ in range(1, block_nums):
            layers.append(block(self.input_channels, channels))
        return nn.SequentialCell(layers)

    def construct(self, x: Tensor) -> Tensor:
        x = self.max_pool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.classifier(ops.flatten(self.pool(x)))


@program
def resnet_of_basic_blocks() -> dict[str, Any]:
    net = filled(ResNet(BasicBlock, [2, 1]))
    decayed = [p for p in net.trainable_params() if "beta" not in p.name and "gamma" not in p.name]
    others = [p for p in net.trainable_params() if "beta" in p.name or "gamma" in p.name]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": others}, {"order_params": net.trainable_params()}]
    schedule = nn.cosine_decay_lr(min_lr=0.0, max_lr=0.1, total_step=10, step_per_epoch=2, decay_epoch=5)
    return classified(net, nn.Momentum(groups, schedule, momentum=0.9), wave(2, 3, 32, 32))


@program
def resnext_of_bottlenecks() -> dict[str, Any]:
    net = filled(ResNet(Bottleneck, [1, 1]))
    optimizer = nn.SGD(net.trainable_params(), 0.05, momentum=0.9, weight_decay=1e-4, nesterov=True)
    return classified(net, optimizer, wave(2, 3, 32, 32), label_smoothing=0.1)


# ---- MobileNet


def depthwise_separable_conv(inp: int, oup: int, stride: int) -> nn.SequentialCell:
    return nn.SequentialCell(
        nn.Conv2d(inp, inp, 3, stride, pad_mode="pad", padding=1, group=inp, has_bias=False),
        nn.BatchNorm2d(inp),
        nn.ReLU6(),
        nn.Conv2d(inp, oup, 1, 1, pad_mode="pad", padding=0, has_bias=False),
        nn.BatchNorm2d(oup),
        nn.ReLU6(),
    )


class MobileNetV1(nn.Cell):
    def __init__(self, alpha: float = 0.25, num_classes: int = 5) -> None:
        super().__init__()
        input_channels = int(32 * alpha)
        features = [
            nn.Conv2d(3, input_channels, 3, 2, pad_mode="pad", padding=1, has_bias=False),
            nn.BatchNorm2d(input_channels, momentum=0.99, eps=1e-3),
            nn.ReLU(),
        ]
        for c, s in [(64, 1), (64, 2), (128, 1)]:
            output_channel = int(c * alpha)
            features.append(depthwise_separable_conv(input_channels, output_channel, s))
            input_channels = output_channel
        self.features = nn.SequentialCell(features)
        self.classifier = nn.Dense(input_channels, num_classes)
        self._initialize_weights()

    def _initialize_weights(self) -> None:
        for _, cell in self.cells_and_names():
            if isinstance(cell, nn.Conv2d):
                cell.weight.set_data(initializer(HeNormal(), cell.weight.shape, cell.weight.dtype))
            elif isinstance(cell, nn.BatchNorm2d):
                cell.gamma.set_data(initializer("ones", cell.gamma.shape, cell.gamma.dtype))
                cell.beta.set_data(initializer("zeros", cell.beta.shape, cell.beta.dtype))
            elif isinstance(cell, nn.Dense):
                cell.weight.set_data(initializer(TruncatedNormal(0.01), cell.weight.shape, cell.weight.dtype))

    def construct(self, x: Tensor) -> Tensor:
        return self.classifier(ops.mean(self.features(x), (2, 3)))


@program
def mobilenet_v1() -> dict[str, Any]:
    net = filled(MobileNetV1())
    schedule = nn.WarmUpLR(0.1, 4)
    optimizer = nn.RMSProp(net.trainable_params(), schedule, decay=0.9, momentum=0.9)
    return classified(net, optimizer, wave(3, 3, 16, 16))


def make_divisible(v: float, divisor: int) -> int:
    new_v = max(divisor, int(v + divisor / 2) // divisor * divisor)
    return new_v + divisor if new_v < 0.9 * v else new_v


class SqueezeExcite(nn.Cell):
    def __init__(self, in_channels: int, rd_ratio: float = 1 / 4, gate_layer: Any = nn.HSigmoid) -> None:
        super().__init__()
        rd_channels = make_divisible(in_channels * rd_ratio, 4)
        self.conv_reduce = nn.Conv2d(in_channels, rd_channels, kernel_size=1, has_bias=True)
        self.act = nn.ReLU()
        self.conv_expand = nn.Conv2d(rd_channels, in_channels, kernel_size=1, has_bias=True)
        self.gate = gate_layer()

    def construct(self, x: Tensor) -> Tensor:
        x_se = ops.ReduceMean(keep_dims=True)(x, (2, 3))
        x_se = self.gate(self.conv_expand(self.act(self.conv_reduce(x_se))))
        return x * x_se


class MobileNetV3(nn.Cell):
    class Bottleneck(nn.Cell):
        def __init__(self, inp: int, mid: int, out: int, kernel: int, stride: int, act: str, use_se: bool) -> None:
            super().__init__()
            self.use_res_connect = stride == 1 and inp == out
            activation = {"relu": nn.ReLU, "hswish": nn.HSwish}[act]
            layers = []
            if inp != mid:
                layers.extend([nn.Conv2d(inp, mid, 1, pad_mode="pad"), nn.BatchNorm2d(mid), activation()])
            layers.extend(
                [
                    nn.Conv2d(mid, mid, kernel, stride, pad_mode="same", group=mid, has_bias=False),
                    nn.BatchNorm2d(mid),
                    activation(),
                ]
            )
            if use_se:
                layers.append(SqueezeExcite(mid))
            layers.extend([nn.Conv2d(mid, out, 1), nn.BatchNorm2d(out)])
            self.layers = nn.SequentialCell(layers)

        def construct(self, x: Tensor) -> Tensor:
            return x + self.layers(x) if self.use_res_connect else self.layers(x)

    def __init__(self, num_classes: int = 5) -> None:
        super().__init__()
        self.stem = nn.SequentialCell([nn.Conv2d(3, 8, 3, 2, "pad", 1), nn.BatchNorm2d(8), nn.HSwish()])
        self.blocks = nn.CellList(
            [
                self.Bottleneck(8, 8, 8, 3, 1, "relu", True),
                self.Bottleneck(8, 16, 12, 5, 2, "hswish", False),
                self.Bottleneck(12, 24, 12, 5, 1, "hswish", True),
            ]
        )
        head = [nn.Dense(12, 16), nn.HSwish(), nn.Dropout(p=0.0), nn.Dense(16, num_classes)]
        self.classifier = nn.SequentialCell(head)

    def construct(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(ops.AdaptiveAvgPool2D(1)(x).flatten(start_dim=1))


@program
def mobilenet_v3() -> dict[str, Any]:
    net = filled(MobileNetV3())
    schedule = nn.ExponentialDecayLR(0.02, 0.9, 2, is_stair=True)
    return classified(net, nn.Adagrad(net.trainable_params(), learning_rate=schedule), wave(2, 3, 16, 16))


# ---- DenseNet


class DenseLayer(nn.Cell):
    def __init__(self, num_input_features: int, growth_rate: int, bn_size: int) -> None:
        super().__init__()
        self.norm1 = nn.BatchNorm2d(num_input_features)
        self.conv1 = nn.Conv2d(num_input_features, bn_size * growth_rate, kernel_size=1, stride=1)
        self.norm2 = nn.BatchNorm2d(bn_size * growth_rate)
        self.conv2 = nn.Conv2d(bn_size * growth_rate, growth_rate, 3, 1, pad_mode="pad", padding=1)
        self.drop_rate = 0.0
        self.dropout = nn.Dropout(p=self.drop_rate)

    def construct(self, features: Tensor) -> Tensor:
        bottleneck = self.conv1(ops.relu(self.norm1(features)))
        new_features = self.conv2(ops.relu(self.norm2(bottleneck)))
        if self.drop_rate > 0.0:
            new_features = self.dropout(new_features)
        return new_features


class DenseBlock(nn.Cell):
    def __init__(self, num_layers: int, num_input_features: int, bn_size: int, growth_rate: int) -> None:
        super().__init__()
        self.cell_list = nn.CellList()
        for i in range(num_layers):
            self.cell_list.append(DenseLayer(num_input_features + i * growth_rate, growth_rate, bn_size))
        self.concat = ops.Concat(axis=1)

    def construct(self, init_features: Tensor) -> Tensor:
        features = init_features
        for layer in self.cell_list:
            features = self.concat((features, layer(features)))
        return features


class DenseNet(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        layers: dict[str, nn.Cell] = {}
        layers["conv0"] = nn.Conv2d(3, 8, 3, stride=2, pad_mode="pad", padding=1)
        layers["norm0"] = nn.BatchNorm2d(8)
        self.stem = nn.SequentialCell(list(layers.values()))
        self.features = nn.SequentialCell()
        self.features.append(DenseBlock(2, 8, 2, 4))
        self.features.append(
            nn.SequentialCell([nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 1), nn.AvgPool2d(2, stride=2)])
        )
        self.features.append(DenseBlock(2, 8, 2, 4))
        self.norm = nn.BatchNorm2d(16)
        self.classifier = nn.Dense(16, 5)

    def construct(self, x: Tensor) -> Tensor:
        x = ops.relu(self.norm(self.features(self.stem(x))))
        return self.classifier(ops.adaptive_avg_pool2d(x, 1).view(x.shape[0], -1))


@program
def densenet() -> dict[str, Any]:
    net = filled(DenseNet())
    return classified(net, nn.Adam(net.trainable_params(), 1e-2, eps=1e-3, weight_decay=1e-3), wave(2, 3, 16, 16))


# ---- GoogLeNet


class BasicConv2d(nn.Cell):
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int = 1, padding: int = 0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(
            in_channels,
            out_channels,
            kernel_size,
            padding=padding,
            pad_mode="pad",
            weight_init=XavierUniform(),
            has_bias=True,
            bias_init="zeros",
        )
        self.relu = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        return self.relu(self.conv(x))


class Inception(nn.Cell):
    def __init__(self, in_channels: int, n1x1: int, n3x3red: int, n3x3: int, n5x5red: int, n5x5: int, pool: int):
        super().__init__()
        self.b1 = BasicConv2d(in_channels, n1x1)
        self.b2 = nn.SequentialCell([BasicConv2d(in_channels, n3x3red), BasicConv2d(n3x3red, n3x3, 3, 1)])
        self.b3 = nn.SequentialCell([BasicConv2d(in_channels, n5x5red), BasicConv2d(n5x5red, n5x5, 5, 2)])
        self.b4 = nn.SequentialCell([nn.MaxPool2d(3, stride=1, pad_mode="same"), BasicConv2d(in_channels, pool)])

    def construct(self, x: Tensor) -> Tensor:
        return ops.concat((self.b1(x), self.b2(x), self.b3(x), self.b4(x)), axis=1)


class GoogLeNet(nn.Cell):
    def __init__(self, num_classes: int = 5, aux_logits: bool = True) -> None:
        super().__init__()
        self.aux_logits = aux_logits
        self.conv1 = BasicConv2d(3, 8, 3, 1)
        self.lrn = nn.LRN(depth_radius=2, bias=1.0, alpha=1e-2, beta=0.75)
        self.maxpool = nn.MaxPool2d(2, stride=2)
        self.block3a = Inception(8, 4, 4, 6, 2, 3, 3)
        self.block3b = Inception(16, 4, 4, 6, 2, 3, 3)
        if self.aux_logits:
            self.aux = nn.SequentialCell([nn.AvgPool2d(4, 4), nn.Flatten(), nn.Dense(64, num_classes)])
        self.pool = nn.AvgPool2d(kernel_size=8, stride=1, pad_mode="valid")
        self.fc = nn.Dense(16, num_classes, weight_init=TruncatedNormal(0.02))

    def construct(self, x: Tensor) -> Any:
        x = self.block3a(self.maxpool(self.lrn(self.conv1(x))))
        out = self.fc(self.pool(self.block3b(x)).flatten(order="C").reshape(x.shape[0], -1))
        if self.training and self.aux_logits:
            return out, self.aux(x)
        return out


@program
def googlenet() -> dict[str, Any]:
    net = filled(GoogLeNet())
    net.set_train()

    def forward(images: Tensor, labels: Tensor) -> Any:
        logits, aux = net(images)
        loss = ops.cross_entropy(logits, labels) + 0.3 * ops.cross_entropy(aux, labels)
        return loss, logits, aux

    rates = nn.piecewise_constant_lr([2, 4], [0.1, 0.01])
    return trained(net, forward, nn.SGD(net.trainable_params(), rates), wave(2, 3, 16, 16), integers(2, below=5))


# ---- ShuffleNet


class ShuffleV2Block(nn.Cell):
    def __init__(self, inp: int, oup: int, stride: int) -> None:
        super().__init__()
        self.stride = stride
        mid = oup // 2
        outputs = oup - inp
        self.branch_main = nn.SequentialCell(
            [
                nn.Conv2d(inp, mid, 1),
                nn.BatchNorm2d(mid),
                nn.ReLU(),
                nn.Conv2d(mid, mid, 3, stride, pad_mode="pad", padding=1, group=mid),
                nn.BatchNorm2d(mid),
                nn.Conv2d(mid, outputs, 1),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
        )
        if stride == 2:
            self.branch_proj = nn.SequentialCell(
                [
                    nn.Conv2d(inp, inp, 3, stride, pad_mode="pad", padding=1, group=inp),
                    nn.BatchNorm2d(inp),
                    nn.Conv2d(inp, inp, 1),
                    nn.BatchNorm2d(inp),
                    nn.ReLU(),
                ]
            )
        else:
            self.branch_proj = None

    def channel_shuffle(self, x: Tensor) -> tuple[Tensor, Tensor]:
        batch_size, num_channels, height, width = x.shape
        x = ops.reshape(x, (batch_size * num_channels // 2, 2, height * width))
        x = ops.transpose(x, (1, 0, 2))
        x = ops.reshape(x, (2, -1, num_channels // 2, height, width))
        return x[0], x[1]

    def construct(self, old_x: Tensor) -> Tensor:
        if self.stride == 1:
            x_proj, x = self.channel_shuffle(old_x)
            return ops.concat((x_proj, self.branch_main(x)), axis=1)
        return ops.concat((self.branch_proj(old_x), self.branch_main(old_x)), axis=1)


class ShuffleNetV2(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.first_conv = nn.SequentialCell([nn.Conv2d(3, 8, 3, 1, "pad", 1), nn.BatchNorm2d(8), nn.ReLU()])
        self.max_pool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="pad", padding=1)
        self.features = nn.SequentialCell(ShuffleV2Block(8, 16, 2), ShuffleV2Block(8, 16, 1))
        self.shuffle = nn.ChannelShuffle(4)
        self.classifier = nn.Dense(16, 5, has_bias=False)

    def construct(self, x: Tensor) -> Tensor:
        x = self.shuffle(self.features(self.max_pool(self.first_conv(x))))
        return self.classifier(ops.ReduceMean(False)(x, [2, 3]))


@program
def shufflenet_v2() -> dict[str, Any]:
    net = filled(ShuffleNetV2())
    return classified(net, nn.AdaMax(net.trainable_params(), 1e-2, eps=1e-3), wave(2, 3, 16, 16))


# ---- EfficientNet


class DropPath(nn.Cell):
    """Random omission of a residual branch for complete examples; with the rate 0 of none."""

    def __init__(self, drop_prob: float = 0.0) -> None:
        super().__init__()
        self.keep_prob = 1 - drop_prob
        self.dropout = nn.Dropout(p=drop_prob)

    def construct(self, x: Tensor) -> Tensor:
        if self.keep_prob == 1.0 or not self.training:
            return x
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        return x * self.dropout(ops.ones(shape, x.dtype))


class MBConv(nn.Cell):
    def __init__(self, inp: int, out: int, expand: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.shortcut = stride == 1 and inp == out
        mid = inp * expand
        layers: list[nn.Cell] = []
        if expand != 1:
            layers += [nn.Conv2d(inp, mid, 1), nn.BatchNorm2d(mid, eps=1e-3), nn.SiLU()]
        layers += [
            nn.Conv2d(mid, mid, kernel, stride, group=mid, pad_mode="same"),
            nn.BatchNorm2d(mid, eps=1e-3),
            nn.SiLU(),
            SqueezeExcite(mid, 1 / 8, nn.Sigmoid),
            nn.Conv2d(mid, out, 1),
            nn.BatchNorm2d(out, eps=1e-3),
        ]
        self.block = nn.SequentialCell(layers)
        self.dropout = DropPath(0.0)

    def construct(self, x: Tensor) -> Tensor:
        result = self.block(x)
        return self.dropout(result) + x if self.shortcut else result


class EfficientNet(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(3, 8, 3, 2, pad_mode="same"),
            nn.BatchNorm2d(8, eps=1e-3),
            nn.SiLU(),
            MBConv(8, 8, 1, 3, 1),
            MBConv(8, 12, 2, 5, 2),
            MBConv(12, 12, 2, 3, 1),
        )
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.mlp_head = nn.Dense(12, 5)
        self.mlp_head.weight.set_data(initializer(Uniform(1 / math.sqrt(5)), [5, 12], ms.float32))
        self.mlp_head.bias.set_data(initializer(Constant(0.0), self.mlp_head.bias.shape))

    def construct(self, x: Tensor) -> Tensor:
        return self.mlp_head(ops.squeeze(self.avgpool(self.features(x)), (2, 3)))


@program
def efficientnet() -> dict[str, Any]:
    net = filled(EfficientNet())
    optimizer = nn.AdaFactor(net.trainable_params(), 0.01, (1e-6, 1e-3), scale_parameter=False, relative_step=False)
    return classified(net, optimizer, wave(2, 3, 16, 16))


# ---- RegNet


class YBlock(nn.Cell):
    def __init__(self, w_in: int, w_out: int, stride: int, group_w: int) -> None:
        super().__init__()
        self.proj, self.bn = None, None
        if w_in != w_out or stride != 1:
            self.proj = nn.Conv2d(w_in, w_out, 1, stride=stride, pad_mode="valid")
            self.bn = nn.BatchNorm2d(w_out)
        self.a = nn.Conv2d(w_in, w_out, 1)
        self.a_bn = nn.BatchNorm2d(w_out)
        self.b = nn.Conv2d(w_out, w_out, 3, stride=stride, pad_mode="pad", padding=1, group=w_out // group_w)
        self.b_bn = nn.BatchNorm2d(w_out)
        self.se = SqueezeExcite(w_out, 0.25, nn.Sigmoid)
        self.c = nn.Conv2d(w_out, w_out, 1)
        self.c_bn = nn.BatchNorm2d(w_out)
        self.relu = nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        x_p = self.bn(self.proj(x)) if self.proj is not None else x
        x = self.relu(self.a_bn(self.a(x)))
        x = self.se(self.relu(self.b_bn(self.b(x))))
        return self.relu(x_p + self.c_bn(self.c(x)))


def regnet_widths(w_a: float, w_0: int, w_m: float, d: int, q: int = 8) -> list[int]:
    ws_cont = np.arange(d) * w_a + w_0
    ks = np.round(np.log(ws_cont / w_0) / np.log(w_m))
    return (np.round(w_0 * np.power(w_m, ks) / q) * q).astype(int).tolist()


class RegNet(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, pad_mode="pad", padding=1)
        prev_w = 8
        self.stages = []
        for i, w in enumerate(regnet_widths(8.0, 8, 1.8, 2)):
            name = f"s{i + 1}"
            setattr(self, name, nn.SequentialCell([YBlock(prev_w, w, 1 + i, 4)]))
            self.stages.append(name)
            prev_w = w
        self.head = nn.Dense(prev_w, 5)

    def construct(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for name in self.stages:
            x = getattr(self, name)(x)
        return self.head(ops.mean(x, axis=(2, 3)))


@program
def regnet() -> dict[str, Any]:
    net = filled(RegNet())
    schedule = nn.PolynomialDecayLR(0.1, 0.001, 10, 0.5)
    return classified(net, nn.Momentum(net.trainable_params(), schedule, 0.9, loss_scale=2.0), wave(2, 3, 16, 16))


# ---- ConvNeXt


class ConvNextLayerNorm(nn.LayerNorm):
    """LayerNorm over the channels of (N, C, H, W)."""

    def __init__(self, normalized_shape: tuple[int, ...], epsilon: float, norm_axis: int = -1) -> None:
        super().__init__(normalized_shape=normalized_shape, epsilon=epsilon)
        self.norm_axis = norm_axis

    def construct(self, input_x: Tensor) -> Tensor:
        if self.norm_axis == -1:
            y, _, _ = self.layer_norm(input_x, self.gamma, self.beta)
        else:
            input_x = input_x.transpose(0, 2, 3, 1)
            y, _, _ = self.layer_norm(input_x, self.gamma, self.beta)
            y = y.transpose(0, 3, 1, 2)
        return y


class ConvNextBlock(nn.Cell):
    def __init__(self, dim: int, layer_scale_init_value: float = 1e-6) -> None:
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, group=dim, has_bias=True)
        self.norm = ConvNextLayerNorm((dim,), epsilon=1e-6)
        self.pwconv1 = nn.Dense(dim, 4 * dim)
        self.act = nn.GELU(approximate=False)
        self.pwconv2 = nn.Dense(4 * dim, dim)
        self.gamma_ = Parameter(Tensor(layer_scale_init_value * np.ones(dim), dtype=ms.float32), requires_grad=True)
        self.drop_path = DropPath()

    def construct(self, x: Tensor) -> Tensor:
        downsample = x
        x = ops.transpose(self.dwconv(x), (0, 2, 3, 1))
        x = self.pwconv2(self.act(self.pwconv1(self.norm(x))))
        x = ops.transpose(self.gamma_ * x, (0, 3, 1, 2))
        return downsample + self.drop_path(x)


class ConvNeXt(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        patches = nn.Conv2d(3, 8, 4, stride=4, has_bias=True)
        stem = nn.SequentialCell(patches, ConvNextLayerNorm((8,), 1e-6, norm_axis=1))
        down = nn.SequentialCell(
            [
                ConvNextLayerNorm((8,), epsilon=1e-6, norm_axis=1),
                nn.Conv2d(8, 12, kernel_size=2, stride=2, has_bias=True),
            ]
        )
        self.feature = nn.SequentialCell([stem, nn.SequentialCell([ConvNextBlock(8)]), down, ConvNextBlock(12)])
        self.norm = ConvNextLayerNorm((12,), epsilon=1e-6)
        self.classifier = nn.Dense(12, 5)

    def construct(self, x: Tensor) -> Tensor:
        return self.classifier(self.norm(self.feature(x).mean([-2, -1])))


@program
def convnext() -> dict[str, Any]:
    net = filled(ConvNeXt())
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 1e-2, eps=1e-4, weight_decay=0.05)
    return classified(net, optimizer, wave(2, 3, 32, 32), label_smoothing=0.1)


# ---- Vision transformers


class Attention(nn.Cell):
    def __init__(self, dim: int, num_heads: int = 2, qkv_bias: bool = True) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.scale = Tensor(self.head_dim**-0.5)
        self.qkv = nn.Dense(dim, dim * 3, has_bias=qkv_bias)
        self.attn_drop = nn.Dropout(p=0.0)
        self.proj = nn.Dense(dim, dim)
        self.mul = ops.Mul()
        self.attn_matmul_v = ops.BatchMatMul()
        self.q_matmul_k = ops.BatchMatMul(transpose_b=True)

    def construct(self, x: Tensor) -> Tensor:
        b, n, c = x.shape
        qkv = self.qkv(x)
        qkv = ops.transpose(ops.reshape(qkv, (b, n, 3, self.num_heads, self.head_dim)), (2, 0, 3, 1, 4))
        q, k, v = ops.unstack(qkv, axis=0)
        attn = self.mul(self.q_matmul_k(q, k), self.scale)
        attn = self.attn_drop(ops.softmax(attn.astype(ms.float32), axis=-1).astype(attn.dtype))
        out = self.attn_matmul_v(attn, v)
        return self.proj(ops.reshape(ops.transpose(out, (0, 2, 1, 3)), (b, n, c)))


class Mlp(nn.Cell):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Dense(dim, hidden)
        self.act = nn.GELU()
        self.fc2 = nn.Dense(hidden, dim)

    def construct(self, x: Tensor) -> Tensor:
        return self.fc2(self.act(self.fc1(x)))


class ViTBlock(nn.Cell):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm((dim,), epsilon=1e-6)
        self.attn = Attention(dim)
        self.norm2 = nn.LayerNorm([dim], epsilon=1e-6)
        self.mlp = Mlp(dim, dim * 2)

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Cell):
    def __init__(self, dim: int = 12, image: int = 16, patch: int = 4, classes: int = 5) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, kernel_size=patch, stride=patch, pad_mode="pad", has_bias=True)
        self.cls_token = Parameter(initializer(TruncatedNormal(0.02), (1, 1, dim)))
        self.pos_embed = Parameter(initializer(TruncatedNormal(0.02), (1, (image // patch) ** 2 + 1, dim), ms.float32))
        self.blocks = nn.CellList([ViTBlock(dim) for _ in range(2)])
        self.norm = nn.LayerNorm((dim,))
        self.head = nn.Dense(dim, classes)

    def construct(self, x: Tensor) -> Tensor:
        x = self.patch_embed(x)
        b, c, h, w = x.shape
        x = x.reshape(b, c, h * w).swapaxes(1, 2)
        cls_tokens = ops.broadcast_to(self.cls_token, (b, -1, -1)).astype(x.dtype)
        x = ops.concat((cls_tokens, x), axis=1) + self.pos_embed
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.norm(x)[:, 0])


@program
def vit() -> dict[str, Any]:
    net = filled(ViT())

    def decay(p: Parameter) -> bool:
        return p.ndim > 1 and not p.name.endswith(("cls_token", "pos_embed"))

    rates = [0.01 * 0.5**i for i in range(4)]
    groups = [
        {"params": list(filter(decay, net.trainable_params())), "weight_decay": 0.05, "lr": rates},
        {"params": list(filter(lambda p: not decay(p), net.trainable_params())), "weight_decay": 0.0},
    ]
    return classified(net, nn.AdamWeightDecay(groups, rates, eps=1e-3), wave(2, 3, 16, 16), label_smoothing=0.1)


def window_partition(x: Tensor, window_size: int) -> Tensor:
    b, h, w, c = x.shape
    x = x.view(b, h // window_size, window_size, w // window_size, window_size, c)
    return x.permute(0, 1, 3, 2, 4, 5).view(-1, window_size, window_size, c)


def window_reverse(windows: Tensor, window_size: int, h: int, w: int) -> Tensor:
    b = windows.shape[0] // (h // window_size * w // window_size)
    x = ops.reshape(windows, (b, h // window_size, w // window_size, window_size, window_size, -1))
    return ops.reshape(ops.transpose(x, (0, 1, 3, 2, 4, 5)), (b, h, w, -1))


def rolled(x: Tensor, by: int) -> Tensor:
    """Return (N, H, W, C) with rows and columns moved to the front."""
    x = ops.concat((x[:, by:], x[:, :by]), axis=1)
    return ops.concat((x[:, :, by:], x[:, :, :by]), axis=2)


class WindowAttention(nn.Cell):
    def __init__(self, dim: int, window: int, num_heads: int) -> None:
        super().__init__()
        self.window, self.num_heads = window, num_heads
        self.scale = Tensor((dim // num_heads) ** -0.5, ms.float32)
        zeros = np.zeros(((2 * window - 1) ** 2, num_heads))
        self.relative_position_bias_table = Parameter(Tensor(zeros, dtype=ms.float32))
        coords = np.stack(np.meshgrid(np.arange(window), np.arange(window), indexing="ij")).reshape(2, -1)
        relative_coords = (coords[:, :, None] - coords[:, None, :]).transpose(1, 2, 0) + window - 1
        relative_coords[:, :, 0] *= 2 * window - 1
        self.relative_position_index = Tensor(relative_coords.sum(-1).reshape(-1), ms.int32)
        self.q = nn.Dense(dim, dim)
        self.k = nn.Dense(dim, dim, has_bias=False)
        self.v = nn.Dense(dim, dim)
        self.proj = nn.Dense(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def construct(self, x: Tensor, mask: Any = None) -> Tensor:
        b_, n, c = x.shape
        q = ops.transpose(ops.reshape(self.q(x), (b_, n, self.num_heads, c // self.num_heads)), (0, 2, 1, 3))
        q = q * self.scale
        k = ops.transpose(ops.reshape(self.k(x), (b_, n, self.num_heads, c // self.num_heads)), (0, 2, 3, 1))
        v = self.v(x).reshape((b_, n, self.num_heads, c // self.num_heads)).transpose((0, 2, 1, 3))
        attn = ops.matmul(q, k)
        bias = ops.gather(self.relative_position_bias_table, self.relative_position_index, 0)
        bias = bias.reshape(n, n, -1).transpose(2, 0, 1)
        attn = attn + bias.expand_dims(0)
        if mask is not None:
            nw = mask.shape[0]
            attn = attn.view(b_ // nw, nw, self.num_heads, n, n) + ops.expand_dims(ops.expand_dims(mask, 1), 0)
            attn = attn.view(-1, self.num_heads, n, n)
        x = ops.matmul(self.softmax(attn), v).transpose(0, 2, 1, 3).reshape(b_, n, c)
        return self.proj(x)


class SwinBlock(nn.Cell):
    def __init__(self, dim: int, resolution: int, num_heads: int, window: int, shift: int) -> None:
        super().__init__()
        self.resolution, self.window, self.shift = resolution, window, shift
        self.norm1 = nn.LayerNorm([dim], epsilon=1e-5)
        self.attn = WindowAttention(dim, window, num_heads)
        self.norm2 = nn.LayerNorm([dim], epsilon=1e-5)
        self.mlp = Mlp(dim, dim * 2)
        self.attn_mask = None
        if shift > 0:
            img_mask = np.zeros((1, resolution, resolution, 1))
            slices = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
            cnt = 0
            for h in slices:
                for w in slices:
                    img_mask[:, h, w, :] = cnt
                    cnt += 1
            parts = img_mask.reshape(1, resolution // window, window, resolution // window, window, 1)
            parts = parts.transpose(0, 1, 3, 2, 4, 5).reshape(-1, window * window)
            attn_mask = parts[:, None] - parts[:, :, None]
            attn_mask = Tensor(np.where(attn_mask == 0, 0.0, -100.0), dtype=ms.float32)
            self.attn_mask = Parameter(attn_mask, name="attention_mask", requires_grad=False)

    def construct(self, x: Tensor) -> Tensor:
        h = w = self.resolution
        b, _, c = x.shape
        shortcut = x
        x = self.norm1(x).reshape(b, h, w, c)
        if self.shift > 0:
            x = rolled(x, self.shift)
        windows = window_partition(x, self.window).view(-1, self.window * self.window, c)
        windows = self.attn(windows, mask=self.attn_mask)
        x = window_reverse(windows.view(-1, self.window, self.window, c), self.window, h, w)
        if self.shift > 0:
            x = rolled(x, -self.shift)
        x = shortcut + x.reshape(b, h * w, c)
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Cell):
    def __init__(self, resolution: int, dim: int) -> None:
        super().__init__()
        self.resolution = resolution
        self.reduction = nn.Dense(4 * dim, 2 * dim, has_bias=False)
        self.norm = nn.LayerNorm([dim * 4])

    def construct(self, x: Tensor) -> Tensor:
        b, _, c = x.shape
        h = self.resolution // 2
        x = ops.reshape(x, (b, h, 2, h, 2, c))
        x = ops.transpose(x, (0, 1, 3, 4, 2, 5)).reshape(b, h * h, 4 * c)
        return self.reduction(self.norm(x))


class Swin(nn.Cell):
    def __init__(self, dim: int = 8) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 2, 2, pad_mode="valid", has_bias=True)
        self.layers = nn.CellList([SwinBlock(dim, 8, 2, 4, 0), SwinBlock(dim, 8, 2, 4, 2), PatchMerging(8, dim)])
        self.norm = nn.LayerNorm([dim * 2])
        self.head = nn.Dense(dim * 2, 5)

    def construct(self, x: Tensor) -> Tensor:
        x = ops.transpose(ops.flatten(self.patch_embed(x), start_dim=2), (0, 2, 1))
        for layer in self.layers:
            x = layer(x)
        return self.head(ops.mean(self.norm(x), 1))


@program
def swin() -> dict[str, Any]:
    net = Swin()
    masks = {name: p.value() for name, p in net.parameters_and_names() if name.endswith("attn_mask")}
    net = filled(net)
    for name, p in net.parameters_and_names():
        if name in masks:
            p.set_data(masks[name])
    return classified(net, nn.Adam(net.trainable_params(), 1e-2, eps=1e-2, use_amsgrad=True), wave(2, 3, 16, 16))


class MixerBlock(nn.Cell):
    def __init__(self, n_patches: int, n_channels: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm((n_channels,))
        self.token_mix = Mlp(n_patches, 8)
        self.norm2 = nn.LayerNorm((n_channels,))
        self.channel_mix = Mlp(n_channels, 16)

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.token_mix(self.norm1(x).swapaxes(-1, -2)).swapaxes(-1, -2)
        return x + self.channel_mix(self.norm2(x))


@program
def mlp_mixer() -> dict[str, Any]:
    class Mixer(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Dense(48, 10, activation="tanh")
            self.mixer_blocks = nn.SequentialCell([MixerBlock(16, 10), MixerBlock(16, 10)])
            self.layer_norm = nn.LayerNorm((10,))
            self.mlp_head = nn.Dense(10, 5)

        def construct(self, x: Tensor) -> Tensor:
            b = x.shape[0]
            x = x.reshape(b, 3, 4, 4, 4, 4).transpose(0, 2, 4, 3, 5, 1).reshape(b, 16, 48)
            x = self.mixer_blocks(self.embed(x))
            return self.mlp_head(self.layer_norm(x).mean(axis=1))

    net = filled(Mixer())
    return classified(net, nn.LazyAdam(net.trainable_params(), 1e-2, eps=1e-3), wave(2, 3, 16, 16))


# ---- Dense prediction


class UNet(nn.Cell):
    def __init__(self) -> None:
        super().__init__()

        def double(inp: int, out: int) -> nn.SequentialCell:
            return nn.SequentialCell(
                [
                    nn.Conv2d(inp, out, 3, pad_mode="same", has_bias=False),
                    nn.BatchNorm2d(out),
                    nn.LeakyReLU(0.1),
                    nn.Conv2d(out, out, 3, pad_mode="same", has_bias=False),
                    nn.GroupNorm(2, out),
                    nn.ELU(),
                ]
            )

        self.down1, self.down2, self.middle = double(1, 4), double(4, 6), double(6, 8)
        self.pool = nn.MaxPool2d(2, 2)
        self.up2 = nn.Conv2dTranspose(8, 6, 2, stride=2, pad_mode="valid", has_bias=True)
        self.conv2 = double(12, 6)
        self.conv1 = double(10, 4)
        self.out = nn.Conv2d(4, 1, 1, has_bias=True)

    def construct(self, x: Tensor) -> Tensor:
        a = self.down1(x)
        b = self.down2(self.pool(a))
        c = self.middle(self.pool(b))
        b = self.conv2(ops.cat((self.up2(c), b), axis=1))
        up = ops.ResizeBilinearV2(half_pixel_centers=True)(b, (a.shape[2], a.shape[3]))
        return self.out(self.conv1(ops.cat([up, a], 1)))


class DiceAndBCE(nn.LossBase):
    def __init__(self, smooth: float = 1.0) -> None:
        super().__init__("mean")
        self.smooth = smooth

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        bce = ops.binary_cross_entropy_with_logits(logits, labels, ops.ones_like(labels), ops.ones_like(labels))
        p = ops.sigmoid(logits)
        intersection = (p * labels).sum(axis=(1, 2, 3))
        dice = 1 - (2 * intersection + self.smooth) / (p.sum((1, 2, 3)) + labels.sum((1, 2, 3)) + self.smooth)
        return bce + self.get_loss(dice)


@program
def unet() -> dict[str, Any]:
    net = filled(UNet())
    net.set_train()
    loss_fn = DiceAndBCE()

    def forward(x: Tensor, mask: Tensor) -> Any:
        logits = net(x)
        return loss_fn(logits, mask), logits

    optimizer = nn.Adam(net.trainable_params(), nn.CosineDecayLR(1e-3, 1e-2, 10), eps=1e-3, use_nesterov=True)
    return trained(net, forward, optimizer, wave(2, 1, 16, 16), integers(2, 1, 16, 16, below=2, dtype=np.float32))


class StdConv2d(nn.Conv2d):
    """A convolution whose kernels are normalized, as BiT has it."""

    def construct(self, x: Tensor) -> Tensor:
        w = self.weight
        mean, var = ops.mean(w, (1, 2, 3), keep_dims=True), w.var((1, 2, 3), keepdims=True)
        output = self.conv2d(x, (w - mean) / ops.sqrt(var + 1e-5))
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output


class YoloHead(nn.Cell):
    """A backbone of a few convolutions, and boxes for three anchors at each place of a grid."""

    def __init__(self, classes: int = 3) -> None:
        super().__init__()
        self.anchors = Tensor(np.array([[1.0, 2.0], [3.0, 1.5], [4.0, 4.0]], np.float32) / 16)
        self.backbone = nn.SequentialCell(
            nn.Conv2d(3, 8, 3, 2, pad_mode="pad", padding=1, has_bias=False),
            nn.BatchNorm2d(8),
            nn.LeakyReLU(0.1),
            nn.Conv2d(8, 12, 3, 2, pad_mode="pad", padding=1, has_bias=False),
            nn.BatchNorm2d(12),
            nn.Mish(),
        )
        self.lateral = StdConv2d(12, 8, 1, has_bias=True)
        self.detect = nn.Conv2d(20, 3 * (5 + classes), 1, has_bias=True)

    def construct(self, x: Tensor) -> Any:
        c3 = self.backbone(x)
        p4 = ops.max_pool2d(self.lateral(c3), 2, 2)
        p3 = ops.ResizeNearestNeighbor((4, 4))(p4)
        out = self.detect(ops.cat((c3, p3), 1))
        b, _, h, w = out.shape
        out = out.view(b, 3, -1, h, w).permute(0, 1, 3, 4, 2)
        grid_y, grid_x = ops.meshgrid(ms.numpy.arange(h), ms.numpy.arange(w), indexing="ij")
        grid = ops.stack((grid_x, grid_y), axis=-1).astype(ms.float32)
        xy, wh, conf, cls = ops.split(out, [2, 2, 1, out.shape[-1] - 5], axis=-1)
        xy = (ops.sigmoid(xy) + grid) / h
        wh = ops.exp(ops.clamp(wh, -4, 4)) * self.anchors.view(1, 3, 1, 1, 2)
        return xy, wh, conf, cls


def giou(a: Tensor, b: Tensor) -> Tensor:
    """Return the generalized overlap of boxes by their corners."""
    lt, rb = ops.maximum(a[..., :2], b[..., :2]), ops.minimum(a[..., 2:], b[..., 2:])
    wh = ops.clip_by_value(rb - lt, 0.0, 1e9)
    inter = wh[..., 0] * wh[..., 1]
    area_a = (a[..., 2] - a[..., 0]) * (a[..., 3] - a[..., 1])
    area_b = (b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1])
    union = area_a + area_b - inter
    outer = ops.maximum(a[..., 2:], b[..., 2:]) - ops.minimum(a[..., :2], b[..., :2])
    hull = outer[..., 0] * outer[..., 1]
    return inter / (union + 1e-7) - (hull - union) / (hull + 1e-7)


@program
def yolo_head() -> dict[str, Any]:
    net = filled(YoloHead())
    net.set_train(True)
    has = integers(2, 3, 4, 4, below=3).equal(0).astype(ms.float32)
    target = np.abs(wave(2, 3, 4, 4, 4).asnumpy()) / 3 + 0.05
    target[..., 2:] += target[..., :2] + 0.1
    kinds = nn.OneHot(depth=3)(integers(2, 3, 4, 4, below=3, k=5))

    def forward(x: Tensor, boxes: Tensor) -> Any:
        xy, wh, conf, cls = net(x)
        result = ops.concat((xy - wh / 2, xy + wh / 2), -1)
        overlap = giou(result, boxes)
        box = ((1 - overlap) * has).sum() / ops.maximum(has.sum(), 1)
        weight = ops.stop_gradient(ops.pow(ops.abs(has - ops.sigmoid(conf.squeeze(-1))), 2))
        obj = ops.BinaryCrossEntropy("none")(ops.sigmoid(conf.squeeze(-1)), has, weight).mean()
        kind = nn.BCEWithLogitsLoss("none")(cls, kinds) * has.expand_dims(-1)
        return box + obj + kind.sum() / has.sum(), box, obj, overlap

    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.937, weight_decay=5e-4)
    return trained(net, forward, optimizer, wave(2, 3, 16, 16), Tensor(target))
