"""An optimizer writes in place what nobody else holds, and nothing else changes under anybody's hands."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.cpu import compiling
from hookscope.engine.debug.record.capture import _figures
from hookscope.engine.experimental import optim as experimental
from hookscope.engine.mint import optim as mint
from hookscope.engine.tensors.views import is_sole_holder

SHAPES = [(64, 70), (70,), (3, 5, 7, 40), (1,), (4100,)]

# Name -> an optimizer of parameters, whose rule has a form that takes all of them in one call.
OPTIMIZERS: dict[str, Callable[[list[Parameter]], Any]] = {
    "Momentum": lambda p: nn.Momentum(p, 0.1, 0.9),
    "Momentum, nesterov": lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.01, use_nesterov=True),
    "SGD": lambda p: nn.SGD(p, 0.1, 0.8, 0.3),
    "SGD, nesterov": lambda p: nn.SGD(p, 0.1, 0.8, nesterov=True),
    "Adam": lambda p: nn.Adam(p, 0.01),
    "Adam, nesterov": lambda p: nn.Adam(p, 0.01, use_nesterov=True, weight_decay=0.1, loss_scale=2.0),
    "Adam, groups": lambda p: nn.Adam([{"params": p[:2], "lr": 0.1}, {"params": p[2:]}], 0.01),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1),
    "experimental Adam": lambda p: experimental.Adam(p, 0.01),
    "experimental AdamW": lambda p: experimental.AdamW(p, 0.01, weight_decay=0.2),
    "experimental SGD": lambda p: experimental.SGD(p, 0.1, 0.9),
    "mint AdamW": lambda p: mint.AdamW(p, 0.01, maximize=True),
    "mint SGD": lambda p: mint.SGD(p, 0.1, 0.9, nesterov=True),
}


def parameters(dtype: Any = np.float32) -> list[Parameter]:
    random = np.random.default_rng(0)
    return [Parameter(Tensor(random.normal(size=s).astype(dtype)), f"p{i}") for i, s in enumerate(SHAPES)]


def gradients(step: int, dtype: Any = np.float32) -> tuple[Tensor, ...]:
    random = np.random.default_rng(step + 1)
    return tuple(Tensor(random.normal(size=shape).astype(dtype)) for shape in SHAPES)


def states(optimizer: Any) -> dict[str, Any]:
    return {name: p.asnumpy().astype(np.float64) for name, p in optimizer.parameters_and_names()}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_many_tensors_in_one_call_take_the_steps_of_one_by_one(name: str) -> None:
    """The rules themselves, in float64, are the reference."""
    together, alone = parameters(), parameters(np.float64)
    fast, exact = OPTIMIZERS[name](together), OPTIMIZERS[name](alone)
    for step in range(4):
        fast(gradients(step))
        exact(gradients(step, np.float64))
    for own, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(own.asnumpy(), other.asnumpy(), rtol=2e-5, atol=2e-6)
    for (key, own), (other_key, other) in zip(states(fast).items(), states(exact).items(), strict=True):
        assert key == other_key
        np.testing.assert_allclose(own, other, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_writes_where_nobody_else_looks_and_only_there(name: str) -> None:
    weights = parameters()
    optimizer = OPTIMIZERS[name](weights)
    optimizer(gradients(0))
    storage, alias = weights[0]._array, Tensor(weights[1])
    copy_of_storage = storage.copy()
    arrays = [id(p._array) for p in weights]
    optimizer(gradients(1))
    np.testing.assert_array_equal(storage, copy_of_storage)
    assert weights[0]._array is not storage
    np.testing.assert_array_equal(alias.asnumpy(), weights[1].asnumpy())
    if compiling.is_on():  # NumPy's rules make new arrays
        assert [id(p._array) for p in weights[2:]] == arrays[2:]


def test_figures_of_a_parameter_are_never_those_before_the_step() -> None:
    (parameter,) = [Parameter(Tensor(np.ones(20_000, np.float32)), "p")]
    optimizer = nn.Momentum([parameter], 1.0, 0.5)
    slope = (Tensor(np.ones(20_000, np.float32)),)
    for step in range(3):
        assert _figures(parameter._array, True).mean == pytest.approx(parameter.asnumpy().mean(), abs=1e-6), step
        optimizer(slope)


def test_figures_of_a_tensor_are_never_those_before_a_write_through_a_view() -> None:
    x = ops.zeros((4, 4))
    row = x[1]
    assert _figures(x._array, True).maximum == 0.0
    row[:] = 5.0
    assert x.asnumpy().max() == 5.0 and _figures(x._array, True).maximum == 5.0


def test_figures_of_a_tensor_are_never_those_before_an_assignment() -> None:
    x = ops.zeros((4, 4))
    assert _figures(x._array, True).maximum == 0.0
    x[1, 2] = 5.0
    assert _figures(x._array, True).maximum == 5.0


def test_who_may_be_written_in_place() -> None:
    alone = Tensor(np.ones(3, np.float32) * 2)
    assert is_sole_holder(alone)
    tensor = Tensor(np.ones(3, np.float32) * 2)
    array = tensor._array
    assert not is_sole_holder(tensor)
    del array
    assert is_sole_holder(tensor)
    public = Tensor(np.ones(3, np.float32) * 2)
    reference = weakref.ref(public._array)
    assert not is_sole_holder(public) and reference() is public._array
    viewed = Tensor(np.ones(3, np.float32) * 2)
    part = viewed[1:]
    assert not is_sole_holder(viewed) and not is_sole_holder(part)
    fixed = Tensor(np.ones(3, np.float32) * 2)
    fixed._array.flags.writeable = False
    assert not is_sole_holder(fixed)
