"""Checks of the GPU's loops in Triton's interpreter; test_gpu_loops.py runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import hookscope.engine as ms
from hookscope import triton_kernels
from hookscope.engine import Tensor, ops
from hookscope.engine.compile.function import CompiledFunction
from hookscope.engine.compile.graph import FusedLoop, Store, Value
from hookscope.engine.compile.loops import gpu_loops
from hookscope.engine.compile.loops.gpu_loops import loop_on_gpu
from hookscope.engine.compile.loops.scalar_programs import Program
from hookscope.engine.compile.plan import plan as plan
from hookscope.engine.tensors import backend
from hookscope.engine.tensors.operator import OPERATORS
from hookscope.triton_kernels.launch import launcher
from tests import strict_device
from tests.engine.compile import gpu_by_numpy, test_fusion, test_scalar_expressions
from tests.engine.compile.test_bits import trained
from tests.engine.compile.test_fusion import AXES, arrays, loops_in, replayed, tensor
from tests.engine.compile.test_trainings_by_loops import TOLERANCES
from tests.engine.debug.test_bits import CASES

assert gpu_by_numpy  # importing it replaces functions of the interpreter

HALVES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
by_triton: Any = loop_on_gpu
launch = triton_kernels.Planner.launch


# NumPy's arrays


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[FusedLoop]:
    """Make plans for NumPy's arrays run the GPU's loops; return the list of those that ran."""
    nodes: list[FusedLoop] = []

    def loop(node: FusedLoop, is_on_gpu: bool = False) -> Callable[..., tuple[Any, ...]]:
        nodes.append(node)
        result: Callable[..., tuple[Any, ...]] = by_triton(node)
        return result

    monkeypatch.setattr(plan, "loop", loop)
    return nodes


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("of_two", [False, True])
def test_an_expression_gives_what_the_kernel_gives(dtype: Any, of_two: bool) -> None:
    arity = test_scalar_expressions.arity
    names = [name for name in test_scalar_expressions.NAMES if (arity(OPERATORS[name]) > 1) == of_two]
    cases = test_scalar_expressions.loops_of(names, dtype)
    for (name, _, arguments, expected), actual in zip(
        cases, test_scalar_expressions.results_of(cases, by_triton), strict=True
    ):
        test_scalar_expressions.check(name, arguments, expected, actual)


def test_integers_wrap_around_as_the_kernels_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_scalar_expressions, "loop", by_triton)
    test_scalar_expressions.test_integers_wrap_around_as_the_kernels_do()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("a_chain_becomes_one_loop_that_stores_its_end_alone", ()),
        ("a_step_that_reads_a_sum_is_in_another_loop", ()),
        ("what_is_read_twice_in_two_ways_is_two_inputs", ()),
        ("views_of_what_is_broadcast_are_looked_through", ()),
        ("constants_are_numbers_where_they_are_the_same_everywhere", ()),
        ("a_view_that_is_returned_is_still_made", ()),
        ("integers_and_bools_stay_what_they_are", ()),
        ("arithmetic_has_the_bits_of_eager", ("Triton",)),
        ("every_kind_of_broadcasting", ("Triton",)),
        ("what_a_plan_gives_may_be_written_to", ("Triton",)),
        ("nan_and_infinities_are_where_they_are_eagerly", ("Triton",)),
        *[("arrays_in_another_order_of_memory", (size, "Numba")) for size in (6, 30)],
        *[("one_text_is_compiled_for_each_dtype", (dtype,)) for dtype in (np.int32, np.int64)],
        *[("random_programs_and_their_gradients", (seed,)) for seed in range(12)],
    ],
)
def test_what_loops_of_numba_s_promise_holds(name: str, arguments: tuple[Any, ...], loops: list[FusedLoop]) -> None:
    getattr(test_fusion, f"test_{name}")(*arguments)
    assert loops


@pytest.mark.parametrize("shape", [(3, 4, 5), (20, 30, 25), (5001, 1, 3), (2, 1, 5001), (1, 1, 1)])
def test_sums_over_any_axes(shape: tuple[int, ...], loops: list[FusedLoop]) -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        h = x * y + 1
        sums = [ops.mean(h, axes, True) if index % 2 else h.sum(axes) for index, axes in enumerate(AXES)]
        return (*sums, h)

    x, y = tensor(*shape), tensor(shape[-1], seed=1)
    exact = x.asnumpy().astype(np.float64) * y.asnumpy()
    *outputs, elements = arrays(replayed(function, x, y))
    assert elements.tobytes() == (x.asnumpy() * y.asnumpy() + np.float32(1)).tobytes()
    for position, (axes, actual) in enumerate(zip(AXES, outputs, strict=True)):
        add = (lambda a: a.mean(axes, keepdims=True)) if position % 2 else (lambda a: a.sum(axes))  # noqa: B023
        expected, size = add(exact + 1), add(np.abs(exact) + 1)
        assert actual.shape == expected.shape
        assert actual.dtype == np.float32
        assert (np.abs(actual - expected) <= size * 2**-20).all(), axes
    assert loops


def test_sums_of_integers_wrap_around(loops: list[FusedLoop]) -> None:
    n = Tensor(np.full((3, 7000), 2**60 + 1))
    outputs = arrays(replayed(lambda n: ((n * 3).sum(1), (n * 3).sum(0), (n * 3).sum()), n))
    exact = n.asnumpy() * 3
    for actual, axis in zip(outputs, (1, 0, None), strict=True):
        assert actual.tolist() == exact.sum(axis).tolist()
    assert loops


def test_strides_are_read_in_place(loops: list[FusedLoop]) -> None:
    base = np.random.default_rng(0).standard_normal((8, 9, 10)).astype(np.float32)
    spread = np.broadcast_to(base[:1], (4, 9, 10))

    def function(x: Tensor) -> Any:
        h = x * 2 + 1
        return h.sum(1), h, h.sum((0, 2))

    for turned in (base.T, base[::2, 1:, ::-1], base.transpose(1, 0, 2)[:, :, 3:], spread):
        x = Tensor._wrap(turned)
        compiled = CompiledFunction(lambda x: function(x), "f", fullgraph=True, level="O1")
        compiled(x)
        first, elements, other = arrays(compiled(x))
        expected = turned * np.float32(2) + np.float32(1)
        assert elements.tobytes() == np.ascontiguousarray(expected).tobytes()
        np.testing.assert_allclose(first, expected.sum(1, dtype=np.float64), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(other, expected.sum((0, 2), dtype=np.float64), rtol=1e-5, atol=1e-5)
    assert loops


def test_offsets_of_64_bits_reach_the_same_elements(loops: list[FusedLoop], monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        h = x * y + 1
        return h, h.sum(0), h.mean(1)

    x, y = tensor(70, 90), tensor(90)
    short = [array.tobytes() for array in arrays(replayed(function, x, y))]
    launched: list[Any] = []

    def longer(call: Any, *arguments: Any, **options: Any) -> None:
        launch(call, *arguments, **options)
        launched.append(arguments[4].get("LONG", True))

    monkeypatch.setattr(launcher, "FEWEST_LONG", 1)
    monkeypatch.setattr(triton_kernels.Planner, "launch", longer)
    assert [array.tobytes() for array in arrays(replayed(function, x, y))] == short
    assert launched and all(launched)


def test_where_offsets_need_them_they_have_64_bits(loops: list[FusedLoop], monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[Any] = []

    def note(call: Any, *arguments: Any, **options: Any) -> None:
        log.append(arguments[4]["LONG"])

    monkeypatch.setattr(triton_kernels.Planner, "launch", note)
    elements = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (3, 2), (2**32, 4))
    add_one = by_triton(_node((3, 2)))
    for x in (elements, np.zeros((3, 2), np.float32)):
        add_one(x)
    assert log == [True, False]


def _node(shape: tuple[int, ...]) -> FusedLoop:
    """Return a loop that adds 1 to elements of float32."""
    program, dtype = Program(), np.dtype(np.float32)
    step = program.apply("x + 1", [program.add("input", dtype, 0)], {}, dtype)
    every = (True,) * len(shape)
    return FusedLoop(
        shape, tuple(program.steps), (Value(shape, dtype),), (every,), (Value(shape, dtype),), (Store(step),)
    )


def test_a_program_of_many_steps_has_small_tiles(loops: list[FusedLoop], monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: Tensor) -> Any:
        y = x
        for index in range(60):
            y = y * (1 + index / 100) - x
        return y, y.sum()

    x = tensor(700)
    expected = [array.tobytes() for array in arrays(function(x))[:1]]
    tiles: list[int] = []

    def note(call: Any, *arguments: Any, **options: Any) -> None:
        tiles.append(arguments[4]["BLOCK_N"])
        launch(call, *arguments, **options)

    monkeypatch.setattr(triton_kernels.Planner, "launch", note)
    assert arrays(replayed(function, x))[0].tobytes() == expected[0]
    assert set(tiles) == {gpu_loops._TILE // 4}


# A GPU's arrays


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield CuPy's stand-in, with new tensors on it, and Triton, which computes loops in its memory."""
    with strict_device.device(triton=True):
        monkeypatch.setattr(backend, "_kernels", {})
        yield strict_device.CUPY
        ms.set_context(mode=ms.PYNATIVE_MODE)


def by_plan(function: Callable[..., Any], *tensors: Tensor) -> Any:
    """Return the result of a plan at O1, which has loops."""
    compiled = CompiledFunction(function, "f", fullgraph=True, level="O1")
    for _ in range(5):
        result = compiled(*tensors)
    assert compiled.counts["replayed"] > 1
    assert any(loops_in(guarded.plan.graph) for some in compiled.plans.values() for guarded in some)
    return result


@pytest.mark.parametrize("case", CASES)
def test_a_training_by_loops_is_the_eager_one_but_for_rounding(
    case: str, gpu: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes: list[CompiledFunction] = []
    before = CompiledFunction.__init__

    def note(self: CompiledFunction, *args: object, **kwargs: object) -> None:
        before(self, *args, **kwargs)  # type: ignore[arg-type]
        self._level = "O1"
        nodes.append(self)

    eager = trained(case)
    monkeypatch.setattr(CompiledFunction, "__init__", note)
    ms.set_context(mode=ms.GRAPH_MODE)
    result = trained(case)
    plans = [guarded.plan for item in nodes for some in item.plans.values() for guarded in some]
    assert any(loops_in(plan.graph) for plan in plans)
    assert any(item.counts["replayed"] for item in nodes)
    for actual, expected in zip(result, eager, strict=True):
        entry, other = (np.frombuffer(part, np.float32) for part in (actual, expected))
        np.testing.assert_allclose(entry, other, rtol=1e-3, atol=TOLERANCES.get(case, 1e-4))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_half_precision_is_rounded_where_operators_results_are(dtype: Any, gpu: Any) -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        h = ops.maximum(x * y - x * 0.1, y) / (ops.abs(y) + 1)
        return h, ops.sqrt(ops.abs(x)) * y - x, ops.where(h > 0.3, x, y), -h

    numbers = np.random.default_rng(0).standard_normal((2, 40, 30)).astype(dtype)
    x, y = Tensor(numbers[0]), Tensor(numbers[1])
    for actual, expected in zip(arrays(by_plan(function, x, y)), arrays(function(x, y)), strict=True):
        assert actual.dtype == expected.dtype == dtype
        assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_functions_of_half_precision_are_rounded_once(dtype: Any, gpu: Any) -> None:
    functions = [ops.exp, ops.tanh, ops.sigmoid, ops.silu, ops.gelu, ops.erf, ops.sin, ops.expm1]
    x = Tensor(np.linspace(-4, 4, 501).astype(dtype))
    outputs = arrays(by_plan(lambda x: tuple([function(x + 0) for function in functions]), x))
    wide = Tensor(x.asnumpy().astype(np.float64))
    for function, actual in zip(functions, outputs, strict=True):
        expected = function(wide).asnumpy()
        assert actual.dtype == dtype
        unit = np.abs(np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64))
        unit *= 2.0 ** (13 if dtype == np.float16 else 16)
        assert (np.abs(actual.astype(np.float64) - expected) <= unit * 0.51 + 2.0**-25).all(), function


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_sums_of_half_precision_add_in_float32(dtype: Any, gpu: Any) -> None:
    x = Tensor(np.random.default_rng(0).uniform(0.5, 1, (3, 1500)).astype(dtype))
    y = x.asnumpy().astype(np.float64)
    outputs = arrays(by_plan(lambda x: ((x * 1).sum(1), (x * 1).mean((0, 1)), (x * 1).mean(0)), x))
    for actual, expected in zip(outputs, (y.sum(1), y.mean(), y.mean(0)), strict=True):
        assert actual.dtype == dtype
        assert actual.tolist() == expected.astype(np.float32).astype(dtype).tolist()


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [*[((3, 5), kind) for kind in (np.float32, np.float64, *HALVES)], ((2, 4100), np.float32), ((4100, 2), HALVES[1])],
    ids=str,
)
def test_extremes_end_loops_too(shape: tuple[int, ...], dtype: Any, gpu: Any) -> None:
    def function(x: Tensor) -> Any:
        h = -x * 2
        largest = ops.amax(h, 0), ops.amax(h, -1, keepdims=True), ops.amax(h)
        return *largest, ops.amin(h, 0), ops.amin(h, 1), ops.amin(h), h.mean(1)

    numbers = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    compiled = CompiledFunction(lambda x: function(x), "f", fullgraph=True, level="O1")
    for edge in (0, 0, 0, 0, np.inf, -np.inf, np.nan):
        numbers[1, 1] = edge
        x = Tensor(numbers)
        result = compiled(x)
        for actual, expected in zip(arrays(result)[:-1], arrays(function(x))[:-1], strict=True):
            assert actual.dtype == dtype
            np.testing.assert_array_equal(actual.astype(np.float64), expected.astype(np.float64))
    assert compiled.counts["replayed"] > 3
    ((guarded,),) = compiled.plans.values()
    assert [type(node) for node in guarded.plan.graph.nodes] == [FusedLoop]


def test_gradients_pass_through_extremes(gpu: Any) -> None:
    def function(x: Tensor) -> Tensor:
        h = x * 3 - 1
        return (h - ops.amax(h, 1, keepdims=True)).exp().sum() + ops.amin(h)

    x = Tensor(np.random.default_rng(0).standard_normal((5, 7)).astype(np.float32))
    gradient = ms.value_and_grad(function)
    exact = arrays(gradient(Tensor(x.asnumpy().astype(np.float64))))
    for actual, expected in zip(arrays(by_plan(lambda x: gradient(x), x)), exact, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_gradients_of_half_precision(dtype: Any, gpu: Any) -> None:
    def function(x: Tensor, w: Tensor) -> Any:
        return (ops.tanh(x * w) * ops.cast(x, ms.float32)).sum()

    gradient = ms.value_and_grad(function, (0, 1))
    numbers = np.random.default_rng(0).standard_normal((2, 6, 50))
    arguments = [Tensor(number.astype(dtype)) for number in numbers]
    exact = arrays(gradient(*[Tensor(item.asnumpy().astype(np.float64)) for item in arguments]))
    for actual, expected in zip(arrays(by_plan(lambda x, w: gradient(x, w), *arguments)), exact, strict=True):
        np.testing.assert_allclose(actual.astype(np.float64), expected, rtol=0.05, atol=0.05)


def test_what_float32_does_not_hold_is_not_made_half_by_a_loop(gpu: Any) -> None:
    x = Tensor(np.array([1 + 2**-11 + 2**-40, 3.0]))  # a tie when computed in float32
    result = by_plan(lambda x: ops.cast(x * 1 - 0, ms.float16) * 2 + 1, x)
    assert result.asnumpy().tolist() == [2 * (1 + 2**-10) + 1, 7.0]


def test_a_loop_looks_once_at_how_its_inputs_lie(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    laid: list[Any] = []
    before = gpu_loops._GroupLayout.__init__
    monkeypatch.setattr(
        gpu_loops._GroupLayout, "__init__", lambda self, *given: (laid.append(given), before(self, *given))[1]
    )
    by_plan(lambda x: ops.exp(x) * 2 + x, Tensor(np.ones((3, 4), np.float32)))
    assert len(laid) == 1


def test_what_a_loop_gives_does_not_change_from_call_to_call(gpu: Any) -> None:
    x = Tensor(np.random.default_rng(0).standard_normal((7, 1001)).astype(np.float32))
    results = [arrays(by_plan(lambda x: ((x * x).sum(), (x * x).sum(0)), x)) for _ in range(3)]
    assert len({tuple([item.tobytes() for item in some]) for some in results}) == 1
