"""Graph mode on arrays of a GPU, on the strict device: bits, graph breaks, and that a plan belongs to one device."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.compile.function import CompiledFunction
from hookscope.engine.compile.graph import FusedLoop, Graph, Value
from hookscope.engine.compile.traced_array import traced_over
from hookscope.engine.cpu.array_module import array_module
from hookscope.engine.tensors import backend
from tests import strict_device
from tests.engine.compile import stale_plans
from tests.engine.compile.test_bits import trained
from tests.engine.debug.test_bits import CASES


@pytest.fixture(autouse=True)
def gpu() -> Iterator[Any]:
    """Yield CuPy's stand-in, with new tensors on it, without Triton."""
    with strict_device.device():
        yield strict_device.CUPY
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[CompiledFunction]:
    """Compile everything in a test."""
    functions: list[CompiledFunction] = []
    before = CompiledFunction.__init__

    def note(self: CompiledFunction, *args: object, **kwargs: object) -> None:
        before(self, *args, **kwargs)  # type: ignore[arg-type]
        functions.append(self)

    monkeypatch.setattr(CompiledFunction, "__init__", note)
    return functions


@pytest.mark.parametrize("case", CASES)
def test_a_training_in_graph_mode_has_the_bits_of_an_eager_one(case: str, compiled: list[CompiledFunction]) -> None:
    eager = trained(case)
    ms.set_context(mode=ms.GRAPH_MODE)
    assert trained(case) == eager
    assert any(item.counts["replayed"] for item in compiled)


@pytest.mark.parametrize("case", ["convolutions", "encoder", "bprop"])
def test_without_triton_loops_are_cupys_steps(
    case: str, compiled: list[CompiledFunction], monkeypatch: pytest.MonkeyPatch
) -> None:
    eager = trained(case)
    before = CompiledFunction.__init__

    def at_level(self: CompiledFunction, *args: object, **kwargs: object) -> None:
        before(self, *args, **kwargs)  # type: ignore[arg-type]
        self._level = "O1"

    monkeypatch.setattr(CompiledFunction, "__init__", at_level)
    ms.set_context(mode=ms.GRAPH_MODE)
    result = trained(case)
    plans = [guarded.plan for item in compiled for some in item.plans.values() for guarded in some]
    assert any(isinstance(node, FusedLoop) for plan in plans for node in plan.graph.nodes)
    assert any(item.counts["replayed"] for item in compiled)
    for actual, expected in zip(result, eager, strict=True):
        entry, other = (np.frombuffer(part, np.float32) for part in (actual, expected))
        np.testing.assert_allclose(entry, other, rtol=1e-3, atol=0.05 if case == "bprop" else 1e-4)


def call_by_plan(compiled: CompiledFunction, *tensors: Tensor) -> Any:
    """Return the result of a plan: guards inspect the stand-in's own functions at first, as they do a user's."""
    for _ in range(6):
        result = compiled(*tensors)
    assert compiled.counts["replayed"] > 1
    return result


def test_what_a_plan_gives_is_on_the_device(gpu: Any) -> None:
    compiled = CompiledFunction(lambda x: (ops.exp(x) * 2, x.sum()), "f", fullgraph=True)
    results = call_by_plan(compiled, Tensor([0.0, 0.0]))
    assert {type(result._array) for result in results} == {gpu.ndarray}
    assert [result.tolist() for result in results] == [[2.0, 2.0], 0.0]


@pytest.mark.parametrize("read", [lambda x: x.asnumpy(), lambda x: x[0].item(), lambda x: float(x[0]), repr])
def test_a_read_of_numbers_on_the_device_is_seen(read: Callable[[Tensor], Any]) -> None:
    def function(x: Tensor) -> Tensor:
        read(x)
        return x * 2

    compiled, x = CompiledFunction(function, "f"), Tensor([1.0, 2.0])
    with pytest.warns(UserWarning, match="reads the number|a tensor becomes text"):
        results = [compiled(x).tolist() for _ in range(4)]
    assert results == [[2.0, 4.0]] * 4
    assert compiled(x * 3).tolist() == [6.0, 12.0]
    assert compiled.counts["replayed"] == 0


class RecordingTracer:
    """A tracer that records its notifications."""

    def __init__(self) -> None:
        self.leaks: list[str] = []
        self.graph = Graph()

    def leak(self, why: str) -> None:
        self.leaks.append(why)

    def leak_numbers(self, what: str) -> None:
        self.leaks.append(f"the numbers of a tensor are read ({what})")


READINGS: list[Callable[[Any], Any]] = [
    lambda x: float(x[0]),
    bool,
    lambda x: x.get(),
    lambda x: x + 1,
    lambda x: 1 - x,
    lambda x: x.sum(),
    lambda x: sys.modules["cupy"].exp(x),
    lambda x: x.astype("float64"),
    lambda x: x.view("int32"),
    lambda x: -x,
    lambda x: x.reshape(1, 1),
    lambda x: x.T,
    lambda x: x == 1,
    lambda x: [float(item) for item in x],
    lambda x: 1.0 in x,
    lambda x: x.__setitem__(0, 2),
    lambda x: x.data,
    lambda x: x @ x,
    abs,
    lambda x: int(x[0]),
]


@pytest.mark.parametrize("index", range(len(READINGS)))
def test_a_traced_array_reports_reads_of_its_numbers(index: int, gpu: Any) -> None:
    array, tracer = gpu.asarray(np.float32([2])), RecordingTracer()
    over = traced_over(array, Value((1,), np.dtype(np.float32)), tracer)
    result = READINGS[index](over)
    assert tracer.leaks and all("the numbers of a tensor are read (cupy.ndarray." in why for why in tracer.leaks)
    expected = READINGS[index](gpu.asarray(np.float32([2])))
    assert type(result) is type(expected)
    if not isinstance(expected, type(array.data)):
        result, expected = (item.get() if isinstance(item, gpu.ndarray) else item for item in (result, expected))
        np.testing.assert_array_equal(result, expected)


def test_shapes_and_layout_are_no_numbers(gpu: Any) -> None:
    tracer, value = RecordingTracer(), Value((2,), np.dtype(np.float32))
    over = traced_over(gpu.asarray(np.float32([1, 2])), value, tracer)
    assert isinstance(over, gpu.ndarray) and backend.is_array(over) and array_module(over) is gpu
    assert len(over) == 2 and not hasattr(over, "_array")
    assert not tracer.graph.shape_reads
    assert over.flags.c_contiguous and over.strides == (4,) and over.device.id == 0
    assert tracer.graph.shape_reads == {value}
    tracer.graph.shape_reads.clear()
    assert (over.shape, over.ndim, over.size, over.dtype, over.nbytes) == ((2,), 1, 2, np.float32, 8)
    assert tracer.graph.shape_reads == {value}
    assert not tracer.leaks


def test_a_plan_is_of_one_device() -> None:
    weight = Parameter(Tensor([2.0, 3.0]), name="weight")
    compiled = CompiledFunction(lambda x: x * 3, "f")
    step = CompiledFunction(lambda: weight * 3, "step")
    there = Tensor([1.0, 2.0])
    for _ in range(2):
        for x in (there, there.move_to("CPU")):
            result = call_by_plan(compiled, x)
            assert type(result._array) is type(x._array)
            assert result.tolist() == [3.0, 6.0]
    assert compiled.counts["traced"] == 2
    for target in ("GPU", "CPU", "GPU"):
        weight._rebind(weight.move_to(target)._array)
        result = call_by_plan(step)
        assert type(result._array) is type(weight._array)
        assert result.tolist() == [6.0, 9.0]
    assert step.counts["traced"] == 2


def test_from_one_device_to_the_other_it_runs_eagerly() -> None:
    def function(x: Tensor) -> Tensor:
        here = x.move_to("CPU")
        return (here * here).to("GPU:0") * x

    compiled, x = CompiledFunction(function, "f"), Tensor([2.0, 3.0])
    with pytest.warns(UserWarning, match="it computes with arrays of two devices"):
        results = [compiled(x).tolist() for _ in range(4)]
    assert results == [[8.0, 27.0]] * 4
    assert compiled(x * 2).tolist() == [64.0, 216.0]


def test_an_array_of_cupys_that_the_code_reads_is_not_watched(gpu: Any) -> None:
    held = gpu.asarray(np.float32([1, 2]))
    compiled, x = CompiledFunction(lambda x: x * Tensor(held), "f"), Tensor([1.0, 1.0])
    with pytest.warns(UserWarning, match="an array of CuPy's is read, which a plan cannot watch"):
        assert compiled(x).tolist() == [1.0, 2.0]
    held[0] = 5.0
    assert compiled(x).tolist() == [5.0, 2.0]


def test_an_index_of_bools_on_the_device_makes_no_plan() -> None:
    compiled, x = CompiledFunction(lambda x: x[x > 0] * 2, "f"), Tensor([1.0, -2.0, 3.0])
    with pytest.warns(UserWarning, match="the output shape of 'getitem' depends on the numbers"):
        results = [compiled(x).tolist() for _ in range(5)]
    assert results == [[2.0, 6.0]] * 5
    assert compiled(-x).tolist() == [4.0]
    assert compiled(ops.abs(x)).tolist() == [2.0, 4.0, 6.0]


def test_no_plan_answers_for_what_is_no_longer_so() -> None:
    counts, reasons = Counter[str](), Counter[str]()
    for seed in range(12):
        with stale_plans.counting(counts, reasons):
            result = stale_plans.run(stale_plans.random_program(seed))
        assert not result, f"seed {seed}, {result}"
    assert counts["replayed"] > 25


def test_cells_random_numbers_and_gradients_go_by_plans(compiled: list[CompiledFunction]) -> None:
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Dropout(p=0.5), nn.ReLU()).set_train()
    x = Tensor(np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32))
    step = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())

    def run() -> list[Any]:
        ms.set_seed(3)
        return [item.tolist() for _ in range(4) for item in (step(x)[0], *step(x)[1])]

    eager = run()
    ms.set_context(mode=ms.GRAPH_MODE)
    assert run() == eager
    assert any(item.counts["replayed"] for item in compiled)


def test_what_a_function_makes_is_where_new_tensors_are_put(gpu: Any) -> None:
    made = CompiledFunction(lambda: ops.ones((2,), ms.float32) + 1.0, "made")
    for target, kind in (("GPU", gpu.ndarray), ("CPU", np.ndarray), ("GPU", gpu.ndarray)):
        ms.set_device(target)
        for _ in range(2):
            assert type(made()._array) is kind
