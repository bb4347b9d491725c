"""The names that MindSpore programs use most and that no other test calls: each does what its name says."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops

X = Tensor(np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32))
Y = Tensor(np.array([[2.0, 1.0, -1.0], [4.0, 0.5, 2.0]], np.float32))
x, y = X.asnumpy(), Y.asnumpy()

PRIMITIVES = {
    "BatchMatMul": (lambda: ops.BatchMatMul(transpose_b=True)(X.reshape(1, 2, 3), Y.reshape(1, 2, 3)), (x @ y.T)[None]),
    "Cast": (lambda: ops.Cast()(X, ms.int32), x.astype(np.int32)),
    "BiasAdd": (lambda: ops.BiasAdd()(X, Tensor([1.0, 2.0, 3.0])), x + np.array([1, 2, 3], np.float32)),
    "ReduceMean": (lambda: ops.ReduceMean(keep_dims=True)(X, 1), x.mean(1, keepdims=True)),
    "Transpose": (lambda: ops.Transpose()(X, (1, 0)), x.T),
    "Reshape": (lambda: ops.Reshape()(X, (3, 2)), x.reshape(3, 2)),
    "Sub": (lambda: ops.Sub()(X, Y), x - y),
    "ExpandDims": (lambda: ops.ExpandDims()(X, 1), x[:, None]),
    "Abs": (lambda: ops.Abs()(X), np.abs(x)),
    "Concat": (lambda: ops.Concat(axis=1)((X, Y)), np.concatenate([x, y], 1)),
    "Sin": (lambda: ops.Sin()(X), np.sin(x)),
    "Cos": (lambda: ops.Cos()(X), np.cos(x)),
    "RealDiv": (lambda: ops.RealDiv()(X, Y), x / y),
    "Neg": (lambda: ops.Neg()(X), -x),
    "ones_like": (lambda: ops.ones_like(X), np.ones_like(x)),
    "clip_by_value": (lambda: ops.clip_by_value(X, -1.0, 2.0), np.clip(x, -1, 2)),
    "tuple_to_array": (lambda: ops.tuple_to_array((1, 2, 3)), np.array([1, 2, 3])),
}
METHODS = {
    "tile": (lambda: X.tile((2, 1)), np.tile(x, (2, 1))),
    "bmm": (lambda: X.reshape(1, 2, 3).bmm(Y.reshape(1, 3, 2)), (x @ y.reshape(3, 2))[None]),
    "repeat_interleave": (lambda: X.repeat_interleave(2, 1), np.repeat(x, 2, 1)),
    "diagonal": (lambda: X.diagonal(), np.diagonal(x)),
    "trace": (lambda: X.trace(), np.trace(x)),
    "ptp": (lambda: X.ptp(axis=1), np.ptp(x, axis=1)),
    "nonzero": (lambda: (X > 2).nonzero(), np.argwhere(x > 2)),
    "itemset": (lambda: Tensor([1.0, 2.0]).itemset(1, 5.0), np.array([1.0, 5.0], np.float32)),
}


@pytest.mark.parametrize("name", [*PRIMITIVES, *METHODS])
def test_it_computes_what_numpy_computes(name: str) -> None:
    call, expected = {**PRIMITIVES, **METHODS}[name]
    result = call().asnumpy()
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_numel_counts_elements() -> None:
    assert X.numel() == 6


def test_set_dtype_changes_the_tensor_and_returns_the_dtype() -> None:
    tensor = Tensor([1.0, 2.5])
    assert tensor.set_dtype(ms.int32) == ms.int32
    assert tensor.asnumpy().tolist() == [1, 2]


def test_assign_changes_the_parameter() -> None:
    parameter = Parameter(Tensor([1.0, 2.0]), name="p")
    for value, want in ((Tensor([3.0, 4.0]), [3.0, 4.0]), (Tensor([5, 6]), [5.0, 6.0])):
        ops.Assign()(parameter, value)
        assert (parameter.dtype, parameter.asnumpy().tolist()) == (ms.float32, want)


def test_print_prints_its_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    ops.Print()("value", Tensor([1.0, 2.0]))
    printed = capsys.readouterr().out
    assert "value" in printed
    assert "1." in printed


def test_what_is_printed_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream(io.StringIO):
        text = ""

        def flush(self) -> None:
            self.shown = self.getvalue()

    stream = Stream()
    monkeypatch.setattr(sys, "stdout", stream)
    ops.print_("first", 2)
    assert stream.shown == "first\n2\n"


def test_float_status_is_there_for_old_loss_scaling() -> None:
    status = ops.NPUAllocFloatStatus()()
    assert ops.NPUGetFloatStatus()(status).asnumpy().sum() == 0
    assert ops.NPUClearFloatStatus()(status).asnumpy().sum() == 0


def test_graph_mode_is_kept_and_runs_eagerly() -> None:
    before = ms.get_context("mode")
    try:
        ms.set_context(mode=ms.GRAPH_MODE)
        assert ms.get_context("mode") == ms.GRAPH_MODE
        assert nn.ReLU()(Tensor([-1.0, 2.0])).asnumpy().tolist() == [0.0, 2.0]
    finally:
        ms.set_context(mode=before)


def test_int16_is_a_dtype() -> None:
    assert Tensor([1, 2], ms.int16).asnumpy().dtype == np.int16


def test_cell_names() -> None:
    net = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
    assert net[0].cls_name == "Dense"
    net.update_parameters_name("old.")
    assert [p.name for p in net.get_parameters()] == ["old.0.weight", "old.0.bias"]


def test_parameters_without_initial_values() -> None:
    with nn.utils.no_init_parameters():
        net = nn.Dense(3, 2)
    assert net.weight.shape == (2, 3)
    assert net(Tensor(np.ones((1, 3), np.float32))).shape == (1, 2)


def test_a_loss_of_ones_own_from_loss_base() -> None:
    class Squares(nn.LossBase):
        def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
            return self.get_loss(ops.square(logits - labels))

    assert float(Squares("sum")(X, Y)) == pytest.approx(float(((x - y) ** 2).sum()))
    assert float(nn.MAELoss()(X, Y)) == pytest.approx(float(np.abs(x - y).mean()))


def test_batch_norm_of_volumes_normalizes_each_channel() -> None:
    volume = np.random.RandomState(0).randn(4, 2, 3, 3, 3).astype(np.float32) * 5 + 1
    net = nn.BatchNorm3d(2)
    net.set_train()
    result = net(Tensor(volume)).asnumpy()
    np.testing.assert_allclose(result.mean((0, 2, 3, 4)), 0, atol=1e-5)
    np.testing.assert_allclose(result.std((0, 2, 3, 4)), 1, atol=1e-3)


def test_an_optimizer_of_ones_own() -> None:
    class Plain(nn.Optimizer):
        @nn.opt_init_args_register
        def __init__(self, params: list[Parameter], learning_rate: float = 0.5) -> None:
            super().__init__(learning_rate, params)

        def construct(self, gradients: tuple[Tensor, ...]) -> bool:
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                ops.assign(parameter, parameter - self.get_lr() * gradient)
            return True

    weight = Parameter(Tensor([1.0, 2.0]), name="w")
    Plain([weight])((Tensor([1.0, 1.0]),))
    assert weight.asnumpy().tolist() == [0.5, 1.5]


def test_a_metric_of_ones_own() -> None:
    class Count(ms.train.Metric):
        def clear(self) -> None:
            self.seen = 0

        def update(self, *inputs: Tensor) -> None:
            self.seen += inputs[0].shape[0]

        def eval(self) -> int:
            return self.seen

    metric = Count()
    metric.clear()
    metric.update(X)
    assert metric.eval() == 2


def test_the_gradient_reducer_of_one_process_passes_gradients_on() -> None:
    gradients = (Tensor([1.0]), Tensor([2.0]))
    reduced = nn.DistributedGradReducer([Parameter(Tensor([1.0]), name="a"), Parameter(Tensor([1.0]), name="b")])(
        gradients
    )
    assert [float(g) for g in reduced] == [1.0, 2.0]
