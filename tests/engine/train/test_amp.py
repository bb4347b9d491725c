"""Half precision and loss scaling."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine import Tensor, amp, nn, ops

from test_model import X, Y, data, model, network  # isort: skip


@pytest.mark.parametrize("level", ["O1", "O2", "O3", "auto"])
def test_a_prepared_network_computes_in_half_and_gives_float32(level: str) -> None:
    net = network()
    prepared = amp.auto_mixed_precision(net, level)
    out = prepared(Tensor(X))
    assert out.dtype == ms.float32 and sorted(p.name for p in net.get_parameters())[0] == "0.bias"
    # MindSpore 2.10's result; in float32 the first is -0.19590...
    np.testing.assert_array_equal(out.asnumpy()[0], np.array([-0.19592285, 0.81347656], np.float32))
    assert all(p.dtype == ms.float32 for p in net.get_parameters())


def test_the_lists_are_mindspores_and_new_each_time() -> None:
    cells = "Conv1d Conv2d Conv3d Conv1dTranspose Conv2dTranspose Conv3dTranspose Dense LSTMCell RNNCell GRUCell"
    operators = "Conv2D Conv3D Conv2DTranspose Conv3DTranspose Conv2DBackpropInput MatMul BatchMatMul PReLU ReLU Ger"
    black = "BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm"
    of_operators = [getattr(ops.primitives, name) for name in operators.split()]
    assert amp.get_white_list() == [getattr(nn, name) for name in cells.split()] + of_operators
    assert amp.get_black_list() == [getattr(nn, name) for name in black.split()]
    for of in (amp.get_white_list, amp.get_black_list):
        of().clear()
        assert of()


def test_a_black_list_stays_in_float32() -> None:
    records: list[Any] = []

    class Look(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            records.append(ops.add(x, x).dtype)
            return x

    class Float(Look):
        pass

    net = nn.SequentialCell(nn.Dense(4, 4), Look(), Float())
    amp.custom_mixed_precision(net, black_list=[Float])(Tensor(X))
    assert records == [ms.float16, ms.float32]


def test_level_auto_raises_softmax_to_float32_inside_a_cell_in_half_precision() -> None:
    class Weighed(nn.Dense):
        def __init__(self) -> None:
            super().__init__(4, 4, weight_init=Tensor(np.eye(4), ms.float32), bias_init="zeros")
            self.soft = nn.Softmax()

        def construct(self, x: Tensor) -> Tensor:
            self.seen = self.soft(super().construct(x))
            return self.seen

    net = amp.auto_mixed_precision(Weighed(), "auto")
    net(Tensor(X))
    powers = np.exp(X.astype(np.float16).astype(np.float64))
    assert net.seen.dtype == ms.float32
    np.testing.assert_allclose(net.seen.asnumpy(), powers / powers.sum(1, keepdims=True), rtol=1e-6)


@pytest.mark.parametrize(("level", "loss"), [("O0", 2.3051026), ("O1", 2.3047729), ("O3", 2.3047729)])
def test_a_network_built_to_train_gives_mindspores_loss_in_float32(level: str, loss: float) -> None:
    net = network()
    step = amp.build_train_network(
        net, nn.Momentum(net.trainable_params(), 0.1, 0.9), nn.CrossEntropyLoss(), level=level
    )
    result = step(Tensor(X), Tensor(Y))
    assert result.dtype == ms.float32
    np.testing.assert_allclose(result.asnumpy(), loss, rtol=1e-6)


@pytest.mark.parametrize("level", ["O2", "O3"])
def test_training_in_half_precision_goes_down(level: str) -> None:
    subject = model(amp_level=level, loss_scale_manager=amp.FixedLossScaleManager(8.0, drop_overflow_update=False))
    before = subject.eval(data())["loss"]
    subject.train(5, data())
    assert subject.eval(data())["loss"] < before


def test_a_dynamic_scale_falls_and_rises() -> None:
    scaler = amp.DynamicLossScaler(1024, 2, 2)
    assert scaler.scale(Tensor([2.0])).asnumpy() == 2048
    unscaled = scaler.unscale((Tensor([1024.0]), Tensor([2.0], ms.float16)))
    assert unscaled[0].asnumpy() == 1 and unscaled[1].dtype == ms.float16
    results = []
    for good in (True, True, False, True):
        assert scaler.adjust(Tensor(good)) is True
        results.append((float(scaler.scale_value.asnumpy()), int(scaler.counter.asnumpy())))
    assert results == [(1024, 1), (2048, 0), (1024, 0), (1024, 1)]


def test_a_static_scale_stays() -> None:
    scaler = amp.StaticLossScaler(4)
    assert scaler.scale(Tensor([1.0])).asnumpy() == 4 and not scaler.adjust(Tensor(False))


def test_a_manager_falls_after_an_overflow_and_rises_after_its_window() -> None:
    manager = amp.DynamicLossScaleManager(16, 2, 2)
    scales = []
    for overflow in (True, False, False, False):
        manager.update_loss_scale(overflow)
        scales.append(manager.get_loss_scale())
    assert scales == [8, 8, 16, 16]


def test_a_model_tells_its_manager_of_each_step_whether_it_overflowed() -> None:
    class Told(amp.FixedLossScaleManager):
        def update_loss_scale(self, overflow: bool) -> None:
            records.append(overflow)

    records: list[bool] = []
    bad = X.copy()
    bad[5] = np.inf  # in the second of three batches
    batches = ds.NumpySlicesDataset({"x": bad, "y": Y}, shuffle=False).batch(4)
    subject = model(None, loss_scale_manager=Told(8.0))
    subject.train(1, batches)
    assert records == [False, True, False]
    plain = model(None)
    plain.train(
        1,
        ds.NumpySlicesDataset(
            {"x": bad[[0, 1, 2, 3, 8, 9, 10, 11]], "y": Y[[0, 1, 2, 3, 8, 9, 10, 11]]}, shuffle=False
        ).batch(4),
    )
    for parameter, expected in zip(subject._network.get_parameters(), plain._network.get_parameters(), strict=True):
        np.testing.assert_allclose(parameter.asnumpy(), expected.asnumpy(), rtol=1e-6)  # the bad step changed nothing
    records.clear()
    model(None, loss_scale_manager=Told(8.0, drop_overflow_update=False)).train(1, data())
    assert records == []


def test_a_models_dynamic_scale_is_the_one_that_its_manager_counts() -> None:
    manager = amp.DynamicLossScaleManager(16, 2, 2)
    model(None, loss_scale_manager=manager).train(2, data())
    assert manager.get_loss_scale() == 128  # after each second of six steps


def test_a_managers_cell_counts_as_the_manager_does() -> None:
    dynamic = amp.DynamicLossScaleManager(16, 4, 3)
    cell = dynamic.get_update_cell()
    assert isinstance(cell, nn.DynamicLossScaleUpdateCell)
    assert (cell.get_loss_scale(), cell.scale_factor, cell.scale_window) == (16, 4, 3)
    fixed = amp.FixedLossScaleManager(8.0).get_update_cell()
    assert isinstance(fixed, nn.FixedLossScaleUpdateCell) and fixed.get_loss_scale() == 8
    assert amp.FixedLossScaleManager(8.0, False).get_update_cell() is None


def test_managers_say_whether_an_update_is_dropped() -> None:
    assert amp.FixedLossScaleManager().get_drop_overflow_update() is True
    assert amp.FixedLossScaleManager(8.0, False).get_drop_overflow_update() is False
    assert amp.DynamicLossScaleManager().get_drop_overflow_update() is True


@pytest.mark.parametrize(("bad", "good"), [(np.inf, False), (np.nan, False), (1.0, True)])
def test_all_finite_looks_into_every_tensor(bad: float, good: bool) -> None:
    result = amp.all_finite((Tensor([1.0]), [Tensor([1, 2]), Tensor([bad])]))
    assert result.dtype == ms.bool_ and bool(result) is good


def test_large_numbers_are_finite_though_their_sum_is_not() -> None:
    assert bool(amp.all_finite(Tensor([3e38, 3e38])))


def test_gradients_of_a_scaled_loss_are_unscaled_to_the_same() -> None:
    net, loss, scaler = network(), nn.CrossEntropyLoss(), amp.StaticLossScaler(1024)
    plain = ms.grad(lambda x, y: loss(net(x), y), None, net.trainable_params())(Tensor(X), Tensor(Y))
    scaled = ms.grad(lambda x, y: scaler.scale(loss(net(x), y)), None, net.trainable_params())(Tensor(X), Tensor(Y))
    for first, second in zip(plain, scaler.unscale(scaled), strict=True):
        np.testing.assert_array_equal(first.asnumpy(), second.asnumpy())


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: amp.auto_mixed_precision(3), TypeError),
        (lambda: amp.auto_mixed_precision(network(), "O7"), ValueError),
        (lambda: amp.auto_mixed_precision(network(), "O1", ms.float32), ValueError),
        (lambda: amp.custom_mixed_precision(network()), ValueError),
        (lambda: amp.custom_mixed_precision(network(), white_list=3), TypeError),
        (lambda: amp.DynamicLossScaler(0, 2, 2), ValueError),
        (lambda: amp.DynamicLossScaleManager(0), ValueError),
        (lambda: amp.build_train_network(network(), 3), TypeError),
    ],
)
def test_bad_input_raises_mindspores_class(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("inputs", [np.array([np.inf]), [Tensor([1.0]), np.array([np.inf])], {"a": Tensor([1.0])}])
def test_all_finite_says_nothing_of_what_is_no_tensor(inputs: Any) -> None:
    with pytest.raises(TypeError, match="'inputs' must be tensors, but got"):
        amp.all_finite(inputs)


class Uses(nn.Cell):
    """Cell that calls an object of an operator class, in a method of its own."""

    def __init__(self, operator: Any, *more: Any) -> None:
        super().__init__()
        self.operator, self.more = operator, more

    def construct(self, x: Tensor) -> Tensor:
        return self.helper(x)

    def helper(self, x: Tensor) -> Any:
        return self.operator(x, *self.more)


class Narrower(nn.Dense):
    """A subclass that is on no list."""


ROWS = np.array([[1.0001234, -2.00043], [0.3000123, 1e-9]], np.float32)
EYE = Tensor(np.eye(2, dtype=np.float32) * np.float32(1.00043))
RELU_16 = [[1.0, 0.0], [0.300048828125, 0.0]]
RELU_32 = [[1.000123381614685, 0.0], [0.3000122904777527, 9.999999717180685e-10]]
DENSE_16 = [[1.0, -2.0], [0.300048828125, 0.0]]
DENSE_32 = [[1.0005533695220947, -2.0012903213500977], [0.300141304731369, 1.0004299610955059e-09]]
# MindSpore 2.10's results for ROWS
BY_LIST: dict[str, tuple[Any, list[type] | None, Any]] = {
    "an object of O1's list": (lambda: Uses(ops.ReLU()), None, RELU_16),
    "a layer of O1's list": (lambda: nn.SequentialCell(nn.Dense(2, 2, EYE, has_bias=False)), None, DENSE_16),
    "a subclass of such a layer": (lambda: nn.SequentialCell(Narrower(2, 2, EYE, has_bias=False)), None, DENSE_32),
    "a layer that calls such an object": (lambda: nn.SequentialCell(nn.SequentialCell(nn.ReLU())), None, RELU_16),
    "the layer itself": (lambda: nn.ReLU(), None, RELU_16),
    "another operator than O1's": (lambda: nn.SequentialCell(nn.ReLU6()), None, RELU_32),
    "what the user has set": (lambda: nn.SequentialCell(nn.ReLU().to_float(ms.float32)), None, RELU_32),
    "one operator": (lambda: Uses(ops.ReLU()), [ops.ReLU], RELU_16),
    "one operator, in a layer": (lambda: nn.SequentialCell(nn.ReLU6()), [ops.ReLU6], RELU_16),
    "a product, in a layer": (lambda: nn.Dense(2, 2, EYE, has_bias=False), [ops.MatMul], DENSE_16),
    "nothing": (lambda: Uses(ops.ReLU()), [], RELU_32),
    "a cell below": (lambda: nn.SequentialCell(Uses(ops.ReLU())), [Uses], RELU_16),
    "another operator": (lambda: Uses(ops.ReLU()), [ops.MatMul], RELU_32),
    "several outputs": (lambda: Uses(lambda x, k: ops.TopK()(x, k)[0] * 2, 1), [ops.TopK], [[2.0], [0.60009765625]]),
}


@pytest.mark.parametrize(("network", "white", "expected"), BY_LIST.values(), ids=BY_LIST)
def test_a_white_list_of_cells_and_operator_classes_decides_what_computes_in_half(
    network: Any, white: list[type] | None, expected: Any
) -> None:
    net = network()
    by_level = white is None
    prepared = amp.auto_mixed_precision(net, "O1") if by_level else amp.custom_mixed_precision(net, white_list=white)
    result = prepared(Tensor(ROWS))
    assert result.dtype == ms.float32
    np.testing.assert_array_equal(result.asnumpy(), np.array(expected, np.float32))


def test_a_listed_operator_computes_in_half_also_when_its_cell_is_recomputed_and_only_in_the_network() -> None:
    relu, subject = ops.ReLU(), Tensor(np.array([1 + 2.0**-12], np.float32))  # 1 in float16
    alone = Uses(lambda x: relu(x) * relu(x))
    for recomputed in (False, True):
        inner = Uses(lambda x: relu(x) * relu(x))
        if recomputed:
            inner.recompute()
        net = amp.custom_mixed_precision(nn.SequentialCell(inner), white_list=[ops.ReLU])
        assert ms.grad(net)(subject).asnumpy() == 2  # twice the 1 that it saw
    assert ms.grad(alone)(subject).asnumpy() == 2 + 2.0**-11


def test_a_list_of_something_else_is_refused() -> None:
    for wrong in ({"white_list": [int]}, {"black_list": [ops.MatMul]}):
        with pytest.raises(TypeError, match="_list' must hold classes of cells, but got"):
            amp.custom_mixed_precision(network(), **wrong)  # type: ignore[arg-type]


# The losses of three steps in MindSpore 2.10. In half precision the first is the same bit for bit; the others follow
# from gradients that are added up in another order.
STEPS = {
    "O0": [2.305102586746216, 1.8792635202407837, 1.2728309631347656],
    "O1": [2.3047728538513184, 1.879481315612793, 1.272741436958313],
    "O3": [2.3047728538513184, 1.879481315612793, 1.272741436958313],
    "auto": [2.3047728538513184, 1.879411220550537, 1.2726287841796875],
}


@pytest.mark.parametrize("level", STEPS)
def test_a_network_built_to_train_goes_mindspores_way_without_a_scale(level: str) -> None:
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = amp.build_train_network(net, optimizer, nn.CrossEntropyLoss(), level)
    assert type(step) is nn.TrainOneStepCell and step.training
    losses = [float(step(Tensor(X), Tensor(Y))) for _ in range(3)]
    assert losses[0] == pytest.approx(STEPS[level][0], rel=1e-6)
    assert losses == pytest.approx(STEPS[level], rel=3e-4)


def test_a_network_built_at_o2_has_a_scale_that_changes() -> None:
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = amp.build_train_network(net, optimizer, nn.CrossEntropyLoss(), "O2")
    assert type(step) is nn.TrainOneStepWithLossScaleCell
    loss, overflow, scale = step(Tensor(X), Tensor(Y))
    assert float(loss) == pytest.approx(STEPS["O3"][0], rel=1e-6)
    assert bool(overflow) and float(scale) == 2.0**23  # half of the first, 2 ** 24, since gradients overflowed


def test_a_white_cell_computes_in_half_and_gives_float32_to_what_follows() -> None:
    records: list[Any] = []

    class Look(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            records.append(x.dtype)
            return x

    for dtype in (ms.float16, ms.bfloat16):
        dense = nn.Dense(4, 4, weight_init="ones", has_bias=False)
        net = amp.custom_mixed_precision(nn.SequentialCell(Look(), dense, Look()), white_list=[nn.Dense], dtype=dtype)
        out = net(Tensor(np.full((1, 4), 1 + 2.0**-9, np.float32)))
        np.testing.assert_array_equal(out.asnumpy(), np.full((1, 4), 4.0 if dtype == ms.bfloat16 else 4 + 2.0**-7))
    assert records == [ms.float32] * 4


@pytest.mark.parametrize(
    ("level", "records"),
    [
        ("O0", [ms.float32, ms.float16]),
        ("O1", [ms.float32, ms.float16]),
        ("O2", [ms.float32, ms.float32]),
        ("O3", [ms.float32, ms.float32]),
        ("auto", [ms.float32, ms.float32]),
    ],
)
def test_the_loss_of_a_lowered_network_is_of_float32(level: str, records: list[Any]) -> None:
    results: list[Any] = []

    class Loss(nn.Cell):
        def construct(self, output: Tensor, label: Tensor) -> Tensor:
            results.extend((output.dtype, label.dtype))
            return ((output - label) ** 2).mean()

    net = network()
    step = amp.build_train_network(net, nn.SGD(net.trainable_params(), 0.0), Loss(), level)
    step(Tensor(X), Tensor(np.zeros((12, 2)), ms.float16))
    assert results[:2] == records


@pytest.mark.parametrize("loss_fn", [None, False])
def test_without_a_loss_the_network_gives_it_itself(loss_fn: Any) -> None:
    class OfItself(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.weight = ms.Parameter(Tensor([2.0, 3.0]), "weight")

        def construct(self, x: Tensor) -> Tensor:
            return (self.weight * x).sum()

    net = OfItself()
    step = amp.build_train_network(net, nn.SGD(net.trainable_params(), 0.5), loss_fn)
    assert float(step(Tensor([1.0, 10.0]))) == 32.0
    np.testing.assert_array_equal(net.weight.asnumpy(), [1.5, -2.0])


def test_what_is_no_bool_is_shown() -> None:
    net = network()
    with pytest.raises(TypeError, match="'keep_batchnorm_fp32' must be a bool, but got 'yes'"):
        amp.build_train_network(net, nn.SGD(net.trainable_params(), 0.1), keep_batchnorm_fp32="yes")


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.complex64, ms.int32, ms.bool_])
def test_what_is_empty_or_has_only_numbers_is_finite(dtype: Any) -> None:
    assert bool(amp.all_finite(Tensor(np.zeros(0), dtype))) and bool(amp.all_finite(Tensor(np.ones(3), dtype)))
    if dtype not in (ms.int32, ms.bool_):
        assert not bool(amp.all_finite(Tensor(np.array([1.0, np.inf, -np.inf]), dtype)))


def test_lars_is_an_optimizer_to_train_with() -> None:
    subject = network()
    step = amp.build_train_network(
        subject, nn.LARS(nn.Momentum(subject.trainable_params(), 0.1, 0.9)), nn.CrossEntropyLoss()
    )
    before = subject.trainable_params()[0].asnumpy().copy()
    step(Tensor(X), Tensor(Y))
    assert (subject.trainable_params()[0].asnumpy() != before).any()


def test_a_scaler_of_a_users_own_scales_and_unscales_by_its_parameter() -> None:
    from hookscope.engine.amp import _grad_scale_map, _grad_unscale_map  # the reference's example has these names

    scale = ms.Parameter(Tensor(4.0, ms.float32), name="scale_value")
    scaled = _grad_scale_map(scale, (Tensor([1.0, 2.0], ms.float16), Tensor(3.0)))
    assert scaled[0].asnumpy().tolist() == [4.0, 8.0] and scaled[0].dtype == ms.float16 and scaled[1] == 12
    assert [item.asnumpy().tolist() for item in _grad_unscale_map(scale, scaled)] == [[1.0, 2.0], 3.0]


def test_a_list_that_is_unscaled_stays_a_list() -> None:
    scaler = amp.StaticLossScaler(4.0)
    (of_list,), (of_tuple,) = unscaled = [scaler.unscale(kind([Tensor([8.0])])) for kind in (list, tuple)]
    assert [type(item) for item in unscaled] == [list, tuple] and of_list.tolist() == of_tuple.tolist() == [2.0]
