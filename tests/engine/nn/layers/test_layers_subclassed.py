"""Subclasses of the package's own layers, with a ``construct`` of their own on the operators that the layer holds.

Programs for MindSpore do so: ConvNeXt's LayerNorm over channels, convolutions with standardized kernels, losses that
end in ``get_loss``, training steps that clip gradients.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops


def wave(*shape: int, k: float = 0.0) -> Tensor:
    return Tensor(np.sin(0.7 * np.arange(int(np.prod(shape))) + k).astype(np.float32).reshape(shape))


def test_a_dense_layer_has_its_product_and_its_bias() -> None:
    layer = nn.Dense(3, 4)
    x = wave(2, 3)
    y = layer.bias_add(layer.matmul(x, layer.weight), layer.bias)
    want = x.asnumpy() @ layer.weight.asnumpy().T + layer.bias.asnumpy()
    np.testing.assert_allclose(y.asnumpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(4, 6, 3, stride=2, pad_mode="pad", padding=1, group=2, has_bias=True),
        nn.Conv2d(4, 6, (3, 2), dilation=2, has_bias=True),
        nn.Conv1d(4, 6, 3, stride=2, has_bias=True),
        nn.Conv1d(4, 6, 3, pad_mode="pad", padding=2, has_bias=True),
        nn.Conv3d(4, 6, 2, pad_mode="valid", has_bias=True),
    ],
    ids=lambda layer: f"{type(layer).__name__} {layer.pad_mode}",
)
def test_a_convolution_has_its_operator_with_its_settings(layer: Any) -> None:
    axes = {nn.Conv1d: 1, nn.Conv2d: 2, nn.Conv3d: 3}[type(layer)]
    x = wave(2, 4, *(6,) * axes)
    if axes == 1:
        y = layer.bias_add(layer.conv2d(ops.expand_dims(x, 2), layer.weight), layer.bias).squeeze(2)
    else:
        y = layer.bias_add((layer.conv2d if axes == 2 else layer.conv3d)(x, layer.weight), layer.bias)
    np.testing.assert_allclose(y.asnumpy(), layer(x).asnumpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["same", "valid"])
def test_a_transposed_convolution_has_its_operator(mode: str) -> None:
    layer = nn.Conv2dTranspose(4, 3, 3, stride=2, pad_mode=mode)
    x = wave(2, 4, 5, 5)
    want = layer(x)
    y = layer.conv2d_transpose(x, layer.weight, want.shape)
    np.testing.assert_allclose(y.asnumpy(), want.asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_layer_norm_has_its_operator_with_three_results() -> None:
    layer = nn.LayerNorm((5,), epsilon=1e-3)
    x = wave(3, 5)
    y, mean, variance = layer.layer_norm(x, layer.gamma, layer.beta)
    a = x.asnumpy().astype(np.float64)
    want = (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + 1e-3)
    np.testing.assert_allclose(y.asnumpy(), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mean.asnumpy().ravel(), a.mean(1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance.asnumpy().ravel(), a.var(1), rtol=1e-5, atol=1e-6)


def test_a_subclass_may_set_an_operator_of_its_own_by_such_a_name() -> None:
    class Twice(nn.Dense):
        def __init__(self) -> None:
            super().__init__(3, 3, has_bias=False)
            self.matmul = lambda x, w: ops.MatMul(transpose_b=True)(x, w) * 2

        def construct(self, x: Tensor) -> Tensor:
            return self.matmul(x, self.weight)

    net = Twice()
    x = wave(2, 3)
    np.testing.assert_allclose(net(x).asnumpy(), 2 * x.asnumpy() @ net.weight.asnumpy().T, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("reduction", "average", "reduce"), [("mean", True, True), ("sum", False, True), ("none", True, False)]
)
def test_a_loss_has_the_operators_of_its_base(reduction: str, average: bool, reduce: bool) -> None:
    class Cubic(nn.LossBase):
        def construct(self, x: Tensor) -> Tensor:
            x = self.mul(self.cast(x, ms.float32), x * x)
            if self.reduce and self.average:
                return self.reduce_mean(x, self.get_axis(x))
            return self.reduce_sum(x, self.get_axis(x)) if self.reduce else x

    loss = Cubic(reduction)
    assert (loss.average, loss.reduce) == (average, reduce)
    x = wave(2, 3)
    want = {"mean": np.mean, "sum": np.sum, "none": np.asarray}[reduction](x.asnumpy() ** 3)
    np.testing.assert_allclose(loss(x).asnumpy(), want, rtol=1e-5)


class _ZooStep(nn.TrainOneStepCell):
    """Training step as the model zoo writes it."""

    def construct(self, x: Tensor) -> Tensor:
        loss = self.network(x)
        sens = ops.fill(loss.dtype, loss.shape, self.sens)
        grads = self.grad(self.network, self.weights)(x, sens)
        grads = self.grad_reducer(grads)
        return ops.depend(loss, self.optimizer(grads))


@pytest.mark.parametrize(("sens", "factor"), [(None, 1.0), (8.0, 8.0)])
def test_a_training_step_has_the_gradient_with_and_without_a_factor(sens: float | None, factor: float) -> None:
    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = ms.Parameter(Tensor([1.0, 2.0]), "w")

        def construct(self, x: Tensor) -> Tensor:
            return (self.w * x).sum()

    net = Net()
    step = _ZooStep(net, nn.SGD(net.trainable_params(), 0.5), sens)
    assert (step.sens, step.sense_flag, step.reducer_flag) == (factor, sens is not None, False)
    assert step(Tensor([1.0, 3.0])).asnumpy() == 7
    assert net.w.asnumpy().tolist() == [1 - 0.5 * factor, 2 - 1.5 * factor]
    (gradient,) = step.grad_no_sens(net, step.weights)(Tensor([1.0, 3.0]))
    assert gradient.asnumpy().tolist() == [1, 3]


def test_what_takes_the_place_of_the_reducer_is_called() -> None:
    class Halved(nn.Cell):
        def construct(self, gradients: Any) -> Any:
            return tuple(g / 2 for g in gradients)

    net = nn.Dense(2, 1, has_bias=False, weight_init="zeros")
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1.0))
    assert [name for name, _ in step.cells_and_names()] == ["", "network", "optimizer", "grad_reducer"]
    step.grad_reducer = Halved()
    step(Tensor([[2.0, 4.0]]))
    assert net.weight.asnumpy().tolist() == [[-1, -2]]


def test_a_step_that_returns_gradients_names_them() -> None:
    net = nn.Dense(2, 1)
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1.0), return_grad=True)
    assert step.weights_name == ["weight", "bias"]
    _, gradients = step(Tensor([[2.0, 4.0]]))
    assert {name: g.asnumpy().tolist() for name, g in gradients.items()} == {"weight": [[2, 4]], "bias": [1]}


def test_a_batch_norm_has_its_operators_which_move_the_running_statistics() -> None:
    layer, twin = nn.BatchNorm2d(3, momentum=0.8), nn.BatchNorm2d(3, momentum=0.8).set_train()
    assert abs(layer.momentum - 0.2) < 1e-12 and "momentum=0.8" in repr(layer)  # as in MindSpore
    x = wave(2, 3, 4, 4)
    y = layer.bn_train(x, layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance)[0]
    np.testing.assert_allclose(y.asnumpy(), twin(x).asnumpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), twin.moving_mean.asnumpy(), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(layer.moving_variance.asnumpy(), twin.moving_variance.asnumpy(), rtol=1e-5)
    y = layer.bn_infer(x, layer.gamma, layer.beta, layer.moving_mean, layer.moving_variance)[0]
    np.testing.assert_allclose(y.asnumpy(), twin.set_train(False)(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert layer.reshape(x, (6, 16)).shape == (6, 16) and layer.shape(x) == (2, 3, 4, 4) and layer.format == "NCHW"


def test_an_embedding_has_what_its_construct_is_made_of() -> None:
    class Own(nn.Embedding):
        def construct(self, ids: Tensor) -> Any:
            flat = self.reshape_flat(ids, self.shp_flat)
            rows = self.gather(self.embedding_table, flat, 0)
            hot = self.one_hot(flat, self.vocab_size, self.on_value, self.off_value)
            hot = self.array_mul(hot, self.embedding_table)
            shape = (*self.get_shp(ids), self.embedding_size)
            return self.reshape(self.concat((rows, hot))[: len(flat)], shape), hot - rows, self.expand(ids, 0).shape

    layer = Own(5, 3)
    ids = Tensor([[1, 4], [0, 1]], ms.int32)
    rows, apart, shape = layer(ids)
    np.testing.assert_array_equal(rows.asnumpy(), layer.embedding_table.asnumpy()[ids.asnumpy()])
    assert not apart.asnumpy().any() and shape == (1, 2, 2)


def test_a_recurrent_layer_lists_its_weights() -> None:
    layer = nn.LSTM(3, 4, num_layers=2, bidirectional=True)
    assert [p.name for p in layer.w_ih_list] == [
        "weight_ih_l0",
        "weight_ih_l0_reverse",
        "weight_ih_l1",
        "weight_ih_l1_reverse",
    ]
    assert layer.b_hh_list[1] is layer.bias_hh_l0_reverse and layer.w_hh_list[2] is layer.weight_hh_l1
    assert layer.is_lstm and not nn.GRU(3, 4).is_lstm and len(nn.RNN(3, 4, has_bias=False).b_ih_list) == 0
    assert len(layer.trainable_params()) == 16
    x = wave(3, 2, 1)
    np.testing.assert_array_equal(layer.reverse(x).asnumpy(), x.asnumpy()[::-1])
    assert layer.reverse_sequence(x, Tensor([2, 3])).asnumpy()[0, 0] == x.asnumpy()[1, 0]


def test_pooling_of_images_has_its_operator_where_nothing_is_padded_by_hand() -> None:
    x = wave(2, 3, 6, 6)
    for layer, operator in (
        (nn.MaxPool2d(3, 2, "same"), "max_pool"),
        (nn.MaxPool2d(2, 2), "max_pool"),
        (nn.AvgPool2d(3, 2, "same"), "avg_pool"),
        (nn.AvgPool2d(2, 1), "avg_pool"),
    ):
        np.testing.assert_allclose(getattr(layer, operator)(x).asnumpy(), layer(x).asnumpy(), rtol=1e-6)
    with pytest.raises(AttributeError, match="has no operator with pad_mode 'pad'"):
        _ = nn.MaxPool2d(3, 2, "pad", 1).max_pool


def test_a_loss_by_class_numbers_has_its_operators() -> None:
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    x, labels = wave(3, 4), Tensor([0, 3, 1], ms.int32)
    rows = loss.one_hot(labels, 4, loss.on_value, loss.off_value)
    np.testing.assert_allclose(loss.softmax_cross_entropy(x, rows)[0].asnumpy(), loss(x, labels).asnumpy(), rtol=1e-5)
    np.testing.assert_allclose(
        loss.sparse_softmax_cross_entropy(x, labels).asnumpy(), loss(x, labels).asnumpy().mean(), rtol=1e-5
    )


def test_a_step_with_loss_scale_and_an_optimizer_have_what_own_constructs_use() -> None:
    network = nn.Dense(2, 1)
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(network, nn.MSELoss()), optimizer, Tensor(1.0, ms.float32))
    result = step.less_equal(step.base, step.reduce_sum(Tensor([0.0, 2.0])))
    assert bool(result) and not bool(step.logic_not(result)) and bool(step.equal(step.base0, Tensor(0, ms.int32)))
    assert not step.is_distributed and not optimizer.use_parallel and not optimizer.is_group_params_ordered
    assert optimizer.hyper_map_reverse(lambda x: x + 1, (1, (2, 3))) == (2, (3, 4))
    assert optimizer.map_reverse(lambda x: x + 1, (1, 2)) == (2, 3)
    dense = nn.Dense(2, 3)
    assert dense.shape_op(dense.reshape(wave(4), (2, 2))) == (2, 2)
