"""Cells around a network against numbers recorded from MindSpore 2.10, and loss scaling against its rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from recorded import check, filled, flat, wave

import hookscope.engine as ms
from hookscope.engine import Parameter, ParameterTuple, Tensor, nn, ops


class Sq(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w = Parameter(wave(2, 3, k=0.5), "w")
        self.b = Parameter(wave(2, k=1.0), "b")

    def construct(self, x: Tensor) -> Tensor:
        return ops.matmul(x, self.w.T) + self.b


X, Y = wave(4, 3), wave(4, 2, k=2.0)


def state(net: nn.Cell) -> list[Tensor]:
    return [p.value() for p in net.get_parameters()]


def losses_of(sens: Any = None, steps: int = 2, **keywords: Any) -> list[Any]:
    """Return losses and parameters after steps of Momentum."""
    net = Sq()
    loss, optimizer = nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
    trainer = nn.TrainOneStepCell(loss, optimizer, *(() if sens is None else (sens,)), **keywords)
    trainer.set_train()
    results = [trainer(X, Y) for _ in range(steps)]
    if keywords.get("return_grad"):
        results = [[a, [b[name] for name in sorted(b)]] for a, b in results]
    return [*flat(results), *state(net)]


def around(loss: bool = True, by_list: bool = True, **keywords: Any) -> Any:
    """Return the results of ForwardValueAndGrad for the network, or for the network with its loss."""
    net = Sq()
    inner = nn.WithLossCell(net, nn.MSELoss()) if loss else net
    weights = ParameterTuple(net.trainable_params()) if by_list else None
    return nn.ForwardValueAndGrad(inner, weights=weights, get_by_list=by_list, **keywords)(X, Y)


def updated_parameter() -> list[Any]:
    net = Sq()
    return [nn.ParameterUpdate(net.w)(wave(2, 3, k=3.0)), net.w.value()]


def scaled(
    make: Any, steps: int = 4, bad: tuple[int, ...] = ()
) -> tuple[list[float], list[bool], list[float], list[Tensor], int]:
    """Return losses, overflows and scales of steps, of which those in ``bad`` have gradients that overflow."""
    net = Sq()
    loss, optimizer = nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
    trainer = nn.TrainOneStepWithLossScaleCell(loss, optimizer, scale_sense=make())
    trainer.set_train()
    losses, overflows, scales = [], [], []
    for step in range(steps):
        x = Tensor(np.full((4, 3), 1e30, np.float32)) if step in bad else X
        result, overflow, scale = trainer(x, Y)
        losses.append(float(result))
        overflows.append(bool(overflow))
        scales.append(float(scale.asnumpy().reshape(-1)[0]))
    return losses, overflows, scales, state(net), int(optimizer.global_step[0])


CASES: dict[str, Callable[[], Any]] = {
    "one": lambda: losses_of(),
    "one sens": lambda: losses_of(8.0),
    "one grads": lambda: losses_of(return_grad=True),
    "with loss backbone": lambda: [
        nn.WithLossCell(Sq(), nn.MSELoss())(X, Y),
        nn.WithLossCell(Sq(), nn.MSELoss()).backbone_network(X),
    ],
    "with eval": lambda: nn.WithEvalCell(Sq(), nn.MSELoss())(X, Y),
    "with eval cast": lambda: nn.WithEvalCell(Sq(), nn.MSELoss(), True)(X, Y),
    "with grad": lambda: nn.WithGradCell(Sq(), nn.MSELoss())(X, Y),
    "fvg inputs": lambda: around(by_list=False),
    "fvg all": lambda: around(by_list=False, get_all=True),
    "fvg list": lambda: around(),
    "fvg list all": lambda: around(get_all=True),
    "fvg sens": lambda: around(loss=False, sens_param=True),
    "parameter update": lambda: updated_parameter(),
    "time distributed": lambda: nn.TimeDistributed(filled(nn.Dense(3, 4)), 1, 0)(wave(2, 5, 3)),
    "time distributed 2": lambda: nn.TimeDistributed(filled(nn.Dense(3, 4)), 1)(wave(2, 5, 3)),
    "micro": lambda: nn.MicroBatchInterleaved(nn.WithLossCell(Sq(), nn.MSELoss()), 2)(X, Y),
}
REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("bad sens", lambda: losses_of(0), ValueError, "'sens'"),
    ("bad scale", lambda: scaled(lambda: 8.0), TypeError, "'scale_sense'"),
    ("bad scale shape", lambda: scaled(lambda: Tensor(np.ones((2, 2)), ms.float32)), ValueError, "'scale_sense'"),
    ("bad update", lambda: nn.ParameterUpdate(3), TypeError, "'param'"),
    ("bad update shape", lambda: nn.ParameterUpdate(Sq().w)(wave(3, 3)), ValueError, "'x'"),
    ("bad eval", lambda: nn.WithEvalCell(Sq(), nn.MSELoss(), 1), TypeError, "'add_cast_fp32'"),
    ("bad fvg", lambda: nn.ForwardValueAndGrad(3), TypeError, "'network'"),
    ("bad fvg get_all", lambda: nn.ForwardValueAndGrad(Sq(), get_all=1), TypeError, "'get_all'"),
    ("bad fvg weights", lambda: nn.ForwardValueAndGrad(Sq(), weights=3, get_by_list=True), TypeError, "'weights'"),
    ("bad time axis", lambda: nn.TimeDistributed(nn.Dense(3, 4), 1.0), TypeError, "'time_axis'"),
    ("bad time layer", lambda: nn.TimeDistributed(3, 1), TypeError, "'layer'"),
    ("bad micro", lambda: nn.MicroBatchInterleaved(Sq(), 0), ValueError, "'interleave_num'"),
]


@pytest.mark.parametrize("name", CASES)
def test_a_cell_around_a_network_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


@pytest.mark.parametrize(("make", "error", "names"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_a_cell_around_a_network_names_what_is_wrong_with_its_argument(
    make: Any, error: type[Exception], names: str
) -> None:
    with pytest.raises(error, match=names):
        make()


SCALES: list[tuple[Any, int, tuple[int, ...], list[float]]] = [
    (lambda: Tensor(np.array([16.0], np.float32)), 4, (), [16, 16, 16, 16]),
    (lambda: nn.FixedLossScaleUpdateCell(64), 4, (1,), [64, 64, 64, 64]),
    # Halved at an overflow, doubled after two steps without one.
    (lambda: nn.DynamicLossScaleUpdateCell(64, 2, 2), 6, (1,), [64, 32, 32, 64, 64, 128]),
    (lambda: nn.DynamicLossScaleUpdateCell(1024, 4, 3), 6, (0, 4), [256, 256, 256, 1024, 256, 256]),
    # Never below 1.
    (lambda: nn.DynamicLossScaleUpdateCell(1, 2, 100), 3, (0, 1), [1, 1, 1]),
]


@pytest.mark.parametrize(("make", "steps", "bad", "want"), SCALES)
def test_the_loss_scale_follows_the_overflows_and_the_update_leaves_these_steps_out(
    make: Any, steps: int, bad: tuple[int, ...], want: list[float]
) -> None:
    losses, overflows, scales, weights, counted = scaled(make, steps, bad)
    assert scales == want
    assert [i for i, overflow in enumerate(overflows) if overflow] == list(bad)
    plain = losses_of(steps=steps - len(bad))
    # The scale is a power of 2: the steps that remain are those of a training without it, bit for bit or nearly.
    finite = [loss for i, loss in enumerate(losses) if i not in bad]
    np.testing.assert_allclose(finite, [float(loss) for loss in plain[: len(finite)]], rtol=1e-6)
    for result, expected in zip(weights, plain[len(finite) :], strict=True):
        np.testing.assert_allclose(result.asnumpy(), expected.asnumpy(), rtol=1e-5)
    assert counted == steps - len(bad)


def test_a_scale_can_be_given_anew_and_must_be_a_tensor() -> None:
    net = Sq()
    loss, optimizer = nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)
    trainer = nn.TrainOneStepWithLossScaleCell(loss, optimizer, Tensor(np.float32(4.0)))
    trainer.set_sense_scale(Tensor(np.float32(8.0)))
    assert float(trainer(X, Y)[2]) == 8.0
    assert trainer.start_overflow_check(None, X) == (None, X)
    with pytest.raises(TypeError, match="'sens' must be a Tensor"):
        trainer.set_sense_scale(8.0)


def test_a_cell_around_a_network_leaves_its_names_as_they_are() -> None:
    around: dict[str, Callable[[nn.Cell, nn.Optimizer], nn.Cell]] = {
        "WithLossCell": lambda net, _: nn.WithLossCell(net, nn.MSELoss()),
        "WithGradCell": lambda net, _: nn.WithGradCell(net),
        "ForwardValueAndGrad": lambda net, _: nn.ForwardValueAndGrad(net),
        "TrainOneStepCell": lambda net, optimizer: nn.TrainOneStepCell(net, optimizer),
        "TrainOneStepWithLossScaleCell": lambda net, optimizer: nn.TrainOneStepWithLossScaleCell(
            net, optimizer, Tensor([4.0])
        ),
        "WithEvalCell": lambda net, _: nn.WithEvalCell(net, nn.MSELoss()),
        "MicroBatchInterleaved": lambda net, _: nn.MicroBatchInterleaved(net, 2),
    }
    for name, make in around.items():
        net = Sq()
        cell = make(net, nn.SGD(net.trainable_params(), 0.1))
        assert [p.name for p in net.get_parameters()] == ["w", "b"], name
        assert all(any(p is own for own in cell.get_parameters()) for p in net.get_parameters()), name


def test_the_label_comes_after_all_inputs_of_the_network() -> None:
    class Two(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(Tensor([2.0, -1.0]), "w")

        def construct(self, x: Tensor, y: Tensor) -> Tensor:
            return x * self.w + y

    x, y, label = np.array([1.0, 3.0]), np.array([0.5, 0.25]), np.array([4.0, 1.0])
    apart = x * [2.0, -1.0] + y - label
    inputs = [Tensor(variant.astype(np.float32)) for variant in (x, y, label)]
    for sens, factor in ((None, 1.0), (4.0, 4.0)):
        (result,) = nn.WithGradCell(Two(), nn.MSELoss("sum"), sens)(*inputs)
        np.testing.assert_allclose(result.asnumpy(), 2 * apart * x * factor, rtol=1e-6)
    (result,) = nn.WithGradCell(Two())(*inputs[:2])
    np.testing.assert_allclose(result.asnumpy(), x, rtol=1e-6)


@pytest.mark.parametrize("parts", [nn.PipelineCell, nn.GradAccumulationCell, nn.MicroBatchInterleaved])
def test_a_network_called_on_parts_of_the_batch_gives_the_sum_and_the_gradients_of_all(parts: Any) -> None:
    class Products(nn.Cell):
        def construct(self, x: Tensor, y: Tensor) -> Tensor:
            called.append(x.shape)
            return (x * y).sum()

    called: list[Any] = []
    x, y = (Tensor(np.arange(8, dtype=np.float32).reshape(4, 2) + n) for n in (0, 1))
    net = parts(Products(), 2)
    assert net(x, y).asnumpy() == sum(n * (n + 1) for n in range(8)) and called == [(2, 2), (2, 2)]
    np.testing.assert_array_equal(ms.grad(net)(x, y).asnumpy(), y.asnumpy())
    for arguments, error in (((Products(), 0), ValueError), ((Products(), 2.0), TypeError), ((3, 2), TypeError)):
        with pytest.raises(error, match=f"For '{parts.__name__}', "):
            parts(*arguments)
    with pytest.raises(ValueError, match="must divide the batch"):
        parts(Products(), 3)(x, y)


def test_a_pipeline_over_devices_says_that_there_is_one() -> None:
    with pytest.raises(NotImplementedError, match="'stage_config' is not covered by hookscope: there is one device"):
        nn.PipelineCell(Sq(), 2, stage_config={"0": 0})


def test_a_parameter_update_gives_the_values_that_print_as_such() -> None:
    weight = Parameter(Tensor(np.ones((1, 2), np.float32)), name="w")
    update = nn.ParameterUpdate(weight)
    first = update(Tensor(np.array([[3.0, 4.0]])))
    assert str(first) == "[[3. 4.]]" and weight.asnumpy().tolist() == [[3.0, 4.0]]
    update(Tensor(np.zeros((1, 2), np.float32)))
    assert first.asnumpy().tolist() == [[3.0, 4.0]] and weight.asnumpy().tolist() == [[0.0, 0.0]]


def test_the_gradients_of_all_inputs_are_a_tuple_also_where_there_is_one() -> None:
    x = Tensor(np.ones((1, 2), np.float32))
    _, of_inputs = nn.ForwardValueAndGrad(nn.ReLU(), get_all=True)(x)
    assert isinstance(of_inputs, tuple) and of_inputs[0].asnumpy().tolist() == [[1.0, 1.0]]
    net = nn.Dense(2, 1, weight_init=2.0, has_bias=False)
    weights = ParameterTuple(net.trainable_params())
    _, both = nn.ForwardValueAndGrad(net, weights, get_all=True, get_by_list=True)(x)
    assert [[g.asnumpy().tolist() for g in part] for part in both] == [[[[2.0, 2.0]]], [[[1.0, 1.0]]]]


def test_the_factor_on_the_gradients_is_one_unless_another_is_given() -> None:
    # As recorded from MindSpore 2.10.
    net = Sq()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    assert [nn.TrainOneStepCell(net, optimizer, *sens).sens for sens in ((), (None,), (3,))] == [1.0, 1.0, 3]
