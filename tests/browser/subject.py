"""The network of the tests by view: a convolution, a ReLU that can be made to die, and a custom bprop."""

from __future__ import annotations

NETWORK = """\
import mindspore as ms
import numpy as np
from mindspore import nn, ops

def doubled(x):
    return 2 * x

class Double(nn.Cell):
    def construct(self, x):
        return doubled(x)

    def bprop(self, x, out, dout):
        slope = doubled(ops.ones_like(x))
        gradient = dout * slope
        return (gradient,)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, has_bias=True)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(144, 5)
        self.double = Double()

    def construct(self, x):
        return self.double(self.dense(self.flatten(self.relu(self.conv(x)))))

ms.set_seed(1)
net = Net().set_train()
images = ms.Tensor(np.random.RandomState(0).rand(2, 1, 6, 6).astype(np.float32))
wanted = ms.Tensor(np.eye(2, 5, dtype=np.float32))
optimizer = nn.SGD(net.trainable_params(), 0.01)
step = ms.value_and_grad(lambda: ((net(images) - wanted) ** 2).mean(), None, optimizer.parameters)

def train(steps):
    for _ in range(steps):
        loss, gradients = step()
        optimizer(gradients)

def kill_relu():
    net.conv.bias.set_data(ms.Tensor(np.full(4, -20, np.float32)))
"""
