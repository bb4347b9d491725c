"""NumPy does not warn of what the engine computes, and goes on warning of what its users compute.

Warnings are errors in these tests, so a case passes only if none is given.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from operator_samples import ROWS

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, nn, ops, vjp
from hookscope.engine.base import float_warnings
from hookscope.engine.debug import DebugSession
from hookscope.engine.tape.tape import Recording
from hookscope.engine.tensors.operator import OPERATORS

HUGE = np.array([1e300, -np.inf, np.nan])
LARGEST = Tensor([3e38])


def user_divides_by_zero() -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.log(np.zeros(1))


def extremes(like: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """Return zeros, the largest and smallest numbers, Inf and NaN in the shape of another array."""
    limits = np.finfo(dtype)
    values = [0, limits.max, limits.min, np.inf, -np.inf, np.nan, limits.tiny, -1, 2]
    return np.resize(np.array(values, dtype), like.shape)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ROWS)
def test_no_operator_and_no_gradient_warns(name: str, dtype: str) -> None:
    for sample in ROWS[name].samples:
        indices = [i for i, x in enumerate(sample.operands) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]

        def function(*tensors: Tensor, sample: Any = sample, indices: list[int] = indices) -> Any:
            operands = [Tensor(x) if isinstance(x, np.ndarray) else x for x in sample.operands]
            for position, tensor in zip(indices, tensors, strict=True):
                operands[position] = tensor
            output = OPERATORS[name](*operands, **sample.attrs)
            return output[0] if isinstance(output, tuple) else output

        output, back = vjp(function, *[Tensor(extremes(sample.operands[index], dtype)) for index in indices])
        if output.dtype == ms.bool_:
            continue  # no gradient comes to it
        arriving = Tensor(extremes(output.asnumpy(), str(output.asnumpy().dtype)))
        back(arriving)
        with Recording([]):  # the same rules on tensors
            back(arriving)


@pytest.mark.parametrize(
    "make",
    [
        lambda p: Tensor(HUGE, ms.float32),
        lambda p: Tensor(HUGE, ms.int32),
        lambda p: Tensor(HUGE, ms.bfloat16),
        lambda p: Tensor([1e300]),
        lambda p: Tensor(1e300),
        lambda p: Tensor(HUGE).astype(ms.float16),
        lambda p: p.set_data(Tensor(HUGE)),
        lambda p: p.assign_value(Tensor(HUGE)),
        lambda p: p.__setitem__(0, 1e300),
        lambda p: ops.full((2,), 1e300, dtype=ms.float32),
        lambda p: ops.full_like(p, 1e300),
        lambda p: ops.arange(0, 1e300, 1e299),
        lambda p: ops.linspace(0, 1e300, 3),
        lambda p: ops.normal((3,), 1e300, 1e300),
        lambda p: ops.mean(ops.zeros((0, 2)), 0),
        lambda p: nn.BatchNorm1d(2).set_train()(ops.zeros((0, 2))),
        lambda p: nn.BatchNorm1d(2).set_train()(ops.full((3, 2), 3e38)),
    ],
)
def test_making_and_casting_tensors_does_not_warn(make: Callable[[Parameter], Any]) -> None:
    make(Parameter(Tensor(np.zeros(3, np.float32)), "p"))


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda ps: nn.SGD(ps, 10.0, 0.9, weight_decay=5.0, nesterov=True),
        lambda ps: nn.Momentum(ps, 10.0, 0.9, loss_scale=1e-3),
        lambda ps: nn.Adam(ps, 0.1, weight_decay=5.0),
        lambda ps: nn.AdamWeightDecay(ps, 0.1, weight_decay=5.0),
    ],
)
def test_no_optimizer_warns(optimizer: Any) -> None:
    p = Parameter(Tensor(np.array([3e38, 1.0, np.inf], np.float32)), "p")
    update = optimizer([p])
    for _ in range(3):
        update((Tensor(np.array([3e38, np.inf, -np.inf], np.float32)),))


def test_gradients_that_add_up_to_more_than_a_number_holds_do_not_warn() -> None:
    assert grad(lambda x: (x * 3e38 + x * 3e38).sum())(LARGEST).tolist() == [np.inf]


@pytest.fixture
def strict() -> Iterator[None]:
    with np.errstate(all="raise"):
        yield


def test_numbers_without_a_value_are_results_also_where_the_user_wants_numpy_to_raise(strict: None) -> None:
    assert ops.exp(LARGEST).tolist() == [np.inf]
    with pytest.raises(FloatingPointError):
        np.exp(np.array([1e5]))


def test_an_operator_that_fails_leaves_the_users_warnings_as_they_were() -> None:
    with pytest.raises(ValueError, match="For 'add'"):
        ops.add(Tensor([1.0, 2.0]), Tensor([1.0, 2.0, 3.0]))
    user_divides_by_zero()


def test_code_of_the_user_within_a_network_keeps_its_warnings() -> None:
    positions: list[str] = []

    def note(position: str) -> None:
        user_divides_by_zero()
        positions.append(position)

    class Own(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            note("construct")
            return x * x

        def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
            note("bprop")
            return (dout * x,)

    net = Own()
    net.register_forward_pre_hook(lambda cell, inputs: note("forward_pre"))
    net.register_backward_pre_hook(lambda cell, grad_output: note("backward_pre"))
    net.register_backward_hook(lambda cell, grad_input, grad_output: note("backward"))
    x = Tensor([2.0])
    x.register_hook(lambda gradient: note("tensor"))
    grad(lambda x: ops.log(net(ops.exp(x))))(x)
    assert positions == ["forward_pre", "construct", "backward_pre", "bprop", "backward", "tensor"]


@pytest.mark.parametrize("conditions", [[], ["nan"]])
def test_sums_of_gradients_in_a_watched_cell_do_not_warn(conditions: list[str]) -> None:
    class Opposite(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return ops.log(x) - ops.sqrt(x)

    net = Opposite()
    with DebugSession(net, conditions=conditions):
        gradient = grad(lambda x: net(x).sum())(Tensor([0.0, 1.0]))
    assert np.isnan(gradient.asnumpy()[0])
    user_divides_by_zero()


def test_threads_are_silent_too() -> None:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(ops.log(Tensor([0.0])).tolist()))
    thread.start()
    thread.join()
    assert results == [[-np.inf]]


def test_a_numpy_that_keeps_its_settings_elsewhere_is_silenced_by_its_own_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(float_warnings, "silence", functools.partial(np.seterr, all="ignore"))
    monkeypatch.setattr(float_warnings, "restore", float_warnings._restore)
    with np.errstate(all="raise", over="warn"):
        users = np.geterr()
        assert float_warnings._quietly(np.divide, [1.0, 3.0], [0.0, 2.0]).tolist() == [np.inf, 1.5]
        assert np.geterr() == users
        assert float_warnings._quietly(lambda: set(np.geterr().values())) == {"ignore"}
        with pytest.raises(ZeroDivisionError):
            float_warnings._quietly(lambda: 1 / 0)
        assert np.geterr() == users
