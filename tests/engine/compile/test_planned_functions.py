"""Public functions, methods of tensors, layers, losses and optimizers have plans: all but those listed here.

The calls are those of the differential tests. Each is traced, and replayed on the same numbers and on others; it must
give eager bits each time, the gradients among them.
"""

from __future__ import annotations

import contextlib
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope import triton_kernels
from hookscope.engine import Tensor, mint, nn
from hookscope.engine.compile import plans_of
from hookscope.engine.compile.function import CompiledFunction
from hookscope.engine.experimental import optim
from hookscope.engine.tensors import backend
from tests.differential import forms, layers
from tests.differential.cases import Case
from tests.differential.server import flat, floating, program, weighted

NUMBERS, SHAPES = " reads the numbers of a tensor", "the output shape of"
WITHOUT_PLANS = {
    # They give Python's bools or numbers.
    "Tensor.allclose": NUMBERS,
    "mint.allclose": NUMBERS,
    # The size of their results depends on numbers.
    "Tensor.bincount": NUMBERS,
    "mint.bincount": NUMBERS,
    "ops.bincount": NUMBERS,
    "Tensor.masked_select": SHAPES,
    "mint.masked_select": SHAPES,
    "ops.masked_select": SHAPES,
    # The size of their inputs, or a repeat count, depends on numbers.
    "Tensor.masked_scatter": NUMBERS,
    "ops.masked_scatter": NUMBERS,
    "ops.matrix_exp": NUMBERS,
    # They compute by lengths and limits that they read on the host.
    "ops.ctc_loss": NUMBERS,
    "nn.CTCLoss": NUMBERS,
    "ops.col2im": NUMBERS,
    "numpy.interp": NUMBERS,
    "numpy.histogram": NUMBERS,
    "numpy.histogram_bin_edges": NUMBERS,
}
"""Of which calls there is no plan, with words of the reason."""


def tensor(array: Any, dtype: str) -> Tensor:
    made = Tensor(array.copy())
    return made.astype(ms.bfloat16) if dtype == "bfloat16" else made


def other_numbers(array: Any) -> Any:
    """Return the same numbers in other positions."""
    return np.random.default_rng(1).permutation(array.ravel()).reshape(array.shape)


def bits(value: Any) -> Any:
    if isinstance(value, Tensor):
        array = value.asnumpy()
        return str(value.dtype), array.shape, array.tobytes()
    if isinstance(value, tuple | list):
        return type(value).__name__, [bits(part) for part in value]
    return repr(value)


class Call:
    """A case, and a function of its tensors that gives the result and gradients, if any."""

    def __init__(self, case: Case) -> None:
        names = program(case.source)
        made = [names["layer"](ms)] if "layer" in names else []
        run, gradients = names["run"], None

        def result(*inputs: Tensor) -> Any:
            return run(ms, *made, *inputs)

        def everything(*inputs: Tensor) -> Any:
            results = result(*inputs)
            return results if gradients is None else (results, gradients(*inputs))

        self.case, self.function = case, everything
        self._saved = [(parameter, parameter._array) for layer in made for parameter in layer.get_parameters()]
        inputs = self._inputs(np.asarray)
        outcome = result(*inputs)
        indices = tuple(i for i, x in enumerate(inputs) if floating(ms, x))
        weights = [parameter for layer in made for parameter in layer.trainable_params()]
        if (indices or weights) and any(floating(ms, item) for item in flat(outcome)):
            gradient = ms.value_and_grad(lambda *x: weighted(ms, result(*x)), indices or None, weights or None)
            with contextlib.suppress(TypeError, ValueError, RuntimeError):  # it has none
                gradient(*inputs)
                gradients = gradient
        self._restore()

    def _inputs(self, arranged: Callable[[Any], Any]) -> list[Tensor]:
        return [tensor(arranged(x), dtype) for x, dtype in zip(self.case.inputs, self.case.dtypes, strict=True)]

    def _restore(self) -> None:
        for parameter, array in self._saved:
            parameter._array = array

    def outcome(self, function: Callable[..., Any], arranged: Callable[[Any], Any]) -> Any:
        """Return the results of a call, and the state after it."""
        ms.set_seed(3)
        inputs = self._inputs(arranged)
        try:
            result = bits(function(*inputs))
        except Exception as error:
            result = type(error)
        left = bits([*inputs, *[parameter for parameter, _ in self._saved]])
        self._restore()
        return result, left


def calls(names: list[str], draw: Callable[[Any, str], Case], count: int) -> Iterator[tuple[str, Call]]:
    """Return for each name the first few of the drawn calls with valid arguments."""
    for name in names:
        number = 0
        for seed in range(6 * count):
            case = draw(np.random.default_rng(seed), name)
            if case.group != name:
                continue
            try:
                call = Call(case)
            except Exception:
                continue
            yield name, call
            number += 1
            if number == count:
                break


def reasons_of(some: Iterator[tuple[str, Call]]) -> dict[str, set[str]]:
    """Return the reasons of missing plans, by name; bits are compared on the way."""
    results: dict[str, set[str]] = defaultdict(set)
    for name, call in some:
        compiled = CompiledFunction(call.function, name)
        for arranged in (np.asarray, np.asarray, other_numbers):
            assert call.outcome(compiled, arranged) == call.outcome(call.function, arranged), (name, call.case.source)
        if not compiled.counts["replayed"]:
            results[name] |= compiled.warned_reasons or {"?"}
    return results


@pytest.mark.parametrize("kind", ["functions", "layers"])
def test_all_but_those_that_are_named_have_plans(kind: str) -> None:
    if kind == "functions":
        some = calls(sorted({name for name, *_ in forms.calls("")}), forms.draw, 1)
    else:
        some = calls(sorted({name for name, _ in layers.rows("")}), layers.draw, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = reasons_of(some)
    for name, reasons in result.items():
        assert all(WITHOUT_PLANS.get(name, "none") in reason for reason in reasons), (name, reasons)
    assert set(result) == {name for name in WITHOUT_PLANS if (".nn." in f".{name}") == (kind == "layers")}


def test_what_kernels_run_here_may_be_found_out_while_a_plan_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_kernels", backend._UNKNOWN)
    triton_kernels.probe.cache_clear()

    @ms.jit
    def doubled(x: Tensor) -> Tensor:
        backend.runs_triton()
        return x * 2

    for _ in range(3):
        assert bits(doubled(Tensor([1.0, 2.0]))) == bits(Tensor([2.0, 4.0]))
    assert plans_of(doubled)[0].counts["replayed"] == 2


OPTIMIZERS = [
    *[
        (nn, name)
        for name in (
            "Adam",
            "AdamWeightDecay",
            "AdamOffload",
            "LazyAdam",
            "AdaMax",
            "Lamb",
            "Adagrad",
            "Adadelta",
            "AdaFactor",
            "ASGD",
            "FTRL",
            "Momentum",
            "ProximalAdagrad",
            "RMSProp",
            "Rprop",
            "SGD",
        )
    ],
    *[(mint.optim, name) for name in ("Adam", "AdamW", "SGD", "FusedAdamW")],
    *[(optim, name) for name in optim.__all__ if name not in ("Optimizer", "lr_scheduler")],
]


class Reflecting(nn.SequentialCell):
    """An optimizer whose code may read attributes of any name, so that guards compare all of them."""

    def construct(self, x: Tensor) -> Tensor:
        return super().construct(x) if hasattr(self, "append") else x


@pytest.mark.parametrize("kind", [nn.SequentialCell, Reflecting])
@pytest.mark.parametrize(("room", "name"), OPTIMIZERS)
def test_steps_of_all_optimizers_have_plans(room: Any, name: str, kind: type[nn.SequentialCell]) -> None:
    def run(by_plans: bool) -> tuple[Any, Any]:
        ms.set_seed(1)
        net = kind(nn.Dense(4, 3), nn.Tanh(), nn.Dense(3, 2))
        settings = {"AdaFactor": (), "Momentum": (0.01, 0.9)}.get(name, (0.01,))
        optimizer = getattr(room, name)(net.trainable_params(), *settings)
        ask = ms.value_and_grad(lambda x: net(x).square().sum(), None, net.trainable_params())

        def step(x: Tensor) -> Tensor:
            value, gradients = ask(x)
            optimizer(gradients)
            return value

        call = ms.jit(step) if by_plans else step
        values = [bits(call(Tensor(np.arange(8, dtype=np.float32).reshape(2, 4) / (1 + i)))) for i in range(4)]
        return (values, bits(list(optimizer.get_parameters()))), call

    eager, _ = run(by_plans=False)
    result, call = run(by_plans=True)
    assert result == eager
    assert plans_of(call)[0].counts["replayed"] == 3
