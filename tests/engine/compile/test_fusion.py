"""Fused loops of elementwise operators (jit level O1): their steps, their results, and that threads change no bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops
from hookscope.engine.compile.function import CompiledFunction
from hookscope.engine.compile.graph import FusedLoop, Graph, OperatorCall
from hookscope.engine.compile.loops import cpu_loops as loops
from hookscope.engine.cpu import compiling, threads


def tensor(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Tensor:
    return Tensor(np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype))


def graph_of(function: Callable[..., Any], *tensors: Tensor) -> Graph:
    """Return the graph of a plan at O1."""
    compiled = CompiledFunction(function, "f", fullgraph=True, level="O1")
    compiled(*tensors)
    ((guarded,),) = compiled.plans.values()
    graph: Graph = guarded.plan.graph
    return graph


def replayed(function: Callable[..., Any], *tensors: Tensor) -> Any:
    """Return the result of a plan at O1."""
    function(*tensors)  # kernels that are compiled on first use
    compiled = CompiledFunction(function, "f", fullgraph=True, level="O1")
    compiled(*tensors)
    result = compiled(*tensors)
    assert (compiled.counts["traced"], compiled.counts["replayed"]) == (1, 1)
    return result


def arrays(result: Any) -> list[Any]:
    if isinstance(result, tuple):
        return [array for part in result for array in arrays(part)]
    return [result.asnumpy()]


def loops_in(graph: Graph) -> list[FusedLoop]:
    return [node for node in graph.nodes if isinstance(node, FusedLoop)]


@pytest.fixture(params=["Numba", "NumPy"])
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run loops as Numba compiles them, and as NumPy does their steps."""
    if request.param == "NumPy":
        monkeypatch.setattr(loops.compiling, "is_on", lambda: False)
    elif not compiling.is_on():
        pytest.skip("nothing is compiled in this process")
    return str(request.param)


# Formation of loops


def test_a_chain_becomes_one_loop_that_stores_its_end_alone() -> None:
    graph = graph_of(lambda x, y: ops.exp(-(x * y)) + x, tensor(3, 4), tensor(3, 4))
    (node,) = graph.nodes
    assert isinstance(node, FusedLoop)
    assert node.inputs == tuple(graph.arguments)
    assert [store.axes for store in node.stores] == [None]


def test_the_walk_back_is_in_the_loop_too() -> None:
    graph = graph_of(ms.value_and_grad(lambda x, w: ops.tanh(x * w).sum(), (0, 1)), tensor(5), tensor(5))
    assert len(graph.nodes) == 1
    assert len(loops_in(graph)[0].outputs) == 3


def test_a_value_that_something_else_uses_is_stored() -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        h = x * y + x
        return ops.matmul(h, h) + ops.exp(h)

    kinds = [type(node).__name__ for node in graph_of(function, tensor(3, 3), tensor(3, 3)).nodes]
    assert kinds == ["FusedLoop", "OperatorCall", "FusedLoop"]


def test_no_loop_lies_around_what_it_needs() -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        a = x * 2 + y
        b = ops.matmul(a, a)
        return (a + 1) * b * y

    graph = graph_of(function, tensor(4, 4), tensor(4, 4))
    known = set(graph.arguments)
    for node in graph.nodes:
        inputs = node.inputs if isinstance(node, FusedLoop | OperatorCall) else ()
        assert {value for value in inputs if not value.origin} <= known | set(graph.constants)
        known |= set(node.outputs)


def test_a_step_that_reads_a_sum_is_in_another_loop() -> None:
    def softmax(x: Tensor) -> Any:
        e = ops.exp(x * 2)
        return e / e.sum(-1, keepdims=True)

    graph = graph_of(softmax, tensor(6, 5))
    assert len(loops_in(graph)[0].outputs) == 2
    x = tensor(6, 5)
    (actual,) = arrays(replayed(softmax, x))
    e = np.exp(2 * x.asnumpy().astype(np.float64))
    np.testing.assert_allclose(actual, e / e.sum(-1, keepdims=True), rtol=1e-6)


def test_what_is_read_twice_in_two_ways_is_two_inputs() -> None:
    def function(x: Tensor) -> Any:
        return x.reshape((4, 1)) * x + x.reshape((1, 4)) * 2

    x = tensor(4)
    (actual,) = arrays(replayed(function, x))
    a = x.asnumpy()
    np.testing.assert_array_equal(actual, a[:, None] * a + a * np.float32(2))


def test_views_of_what_is_broadcast_are_looked_through() -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        return ops.broadcast_to(x, (4, 3)).reshape((4, 1, 3)) * y + 1

    x, y = tensor(4, 1), tensor(2, 3)
    assert len(graph_of(function, x, y).nodes) == 1
    (actual,) = arrays(replayed(function, x, y))
    np.testing.assert_array_equal(actual, x.asnumpy().reshape(4, 1, 1) * y.asnumpy() + 1)


def test_constants_are_numbers_where_they_are_the_same_everywhere() -> None:
    def function(x: Tensor) -> Any:
        y = x * Tensor(np.float32([1, 2, 3])) + Tensor(np.float32([2, 2, 2]))
        return y * Tensor(np.float32([0.0, -0.0, 0.0]))

    x = tensor(3)
    (node,) = loops_in(graph_of(function, x))
    assert len(node.inputs) == 3
    (actual,) = arrays(replayed(function, x))
    assert actual.tobytes() == function(x).asnumpy().tobytes()


def test_ones_that_are_spread_over_a_large_shape_are_a_number() -> None:
    graph = graph_of(ms.value_and_grad(lambda x: (x * x).sum()), tensor(3000, 500))
    (node,) = graph.nodes
    assert isinstance(node, FusedLoop)
    assert node.inputs == tuple(graph.arguments)


def test_a_view_that_is_returned_is_still_made() -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        h = x * y + 1
        return h.reshape((2, 6)), ops.exp(h.reshape((3, 1, 4)) * 2)

    x, y = tensor(3, 4), tensor(3, 4)
    for actual, expected in zip(arrays(replayed(function, x, y)), arrays(function(x, y)), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_random_numbers_are_drawn_in_their_order() -> None:
    def function(x: Tensor) -> Any:
        h = x * 2 + 1
        return ops.dropout(h, 0.5), ops.dropout(x, 0.5), h * 3  # the loop of h and h * 3 comes after the second

    x = tensor(8, 8)
    compiled = CompiledFunction(lambda x: function(x), "f", level="O1")
    ms.set_seed(3)
    expected = [arrays(function(x)) for _ in range(3)]
    ms.set_seed(3)
    actual = [arrays(compiled(x)) for _ in range(3)]
    np.testing.assert_allclose(np.array(actual), np.array(expected), rtol=1e-6)


def test_integers_and_bools_stay_what_they_are() -> None:
    def function(x: Tensor, n: Tensor) -> Any:
        large = (n * 100 + n) > 0
        both = ops.logical_and(large, x > 0)
        return n * 100 + n, large, both, ops.where(large, x, -x).sum(), ops.cast(n, ms.int64) * 3

    x, n = tensor(9), Tensor(np.arange(-4, 5, dtype=np.int8))
    for actual, expected in zip(arrays(replayed(function, x, n)), arrays(function(x, n)), strict=True):
        assert actual.dtype == expected.dtype
        np.testing.assert_allclose(actual, expected, rtol=1e-6 if expected.dtype.kind == "f" else 0)


def test_half_precision_is_left_to_its_kernels() -> None:
    graph = graph_of(lambda x: ops.exp(x * 2) + x, Tensor(np.ones(4, np.float16)))
    assert not loops_in(graph)


# Results of loops


def test_arithmetic_has_the_bits_of_eager(both: str) -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        return ops.maximum(x * y - 3 * x, y) / (ops.abs(y) + 1), ops.sqrt(ops.abs(x)) * y - x

    for shape in ((7,), (64, 1000)):
        x, y = tensor(*shape), tensor(*shape, seed=1)
        for actual, expected in zip(arrays(replayed(function, x, y)), arrays(function(x, y)), strict=True):
            assert actual.tobytes() == expected.tobytes()


def test_every_kind_of_broadcasting(both: str) -> None:
    shapes = [(4, 3, 5), (5,), (3, 1), (1, 1, 1), (4, 1, 5), (), (1, 3, 1)]
    operands = [tensor(*shape, seed=index) for index, shape in enumerate(shapes)]

    def function(*parts: Tensor) -> Any:
        total = parts[0] * 1
        for index, part in enumerate(parts[1:]):
            total = total * (part + index) - part
        return total

    (actual,) = arrays(replayed(function, *operands))
    np.testing.assert_array_equal(actual, function(*operands).asnumpy())


AXES: list[Any] = [None, 0, 1, (0, 2), -1]


@pytest.mark.parametrize("shape", [(3, 4, 5), (40, 30, 50), (9001, 1, 5), (2, 1, 40001)])
def test_sums_over_any_axes(shape: tuple[int, ...], both: str) -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        h = x * y + 1
        return tuple([ops.mean(h, axes, True) if index % 2 else h.sum(axes) for index, axes in enumerate(AXES)])

    x, y = tensor(*shape), tensor(shape[-1], seed=1)
    exact = x.asnumpy().astype(np.float64) * y.asnumpy()
    for position, (axes, actual) in enumerate(zip(AXES, arrays(replayed(function, x, y)), strict=True)):
        add = (lambda a: a.mean(axes, keepdims=True)) if position % 2 else (lambda a: a.sum(axes))  # noqa: B023
        expected, size = add(exact + 1), add(np.abs(exact) + 1)
        assert actual.shape == expected.shape
        assert actual.dtype == np.float32
        # NumPy sums the first axis one after the other in float32; a loop does not.
        assert (np.abs(actual - expected) <= size * (2**-20 if both == "Numba" else 2**-12)).all(), axes


def test_threads_change_no_bit() -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        h = ops.tanh(x * y)
        return h, h.sum(), h.sum(0), h.mean(1)

    x, y = tensor(300, 1001), tensor(1001, seed=1)
    results = []
    try:
        for count in (1, 2, 3):
            threads.set_number(count)
            results.append([array.tobytes() for array in arrays(replayed(function, x, y))])
    finally:
        threads.set_number(None)
    assert results[0] == results[1] == results[2]


def test_parts_of_a_sum_have_numbers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiling.is_on():
        pytest.skip("nothing is compiled in this process")
    log: list[Any] = []
    share = loops.share

    def watched(kernel: Any, parts: int, *arguments: Any) -> None:
        share(kernel, parts, *arguments)
        log.extend([array.copy() for array in arguments[-3:]])

    def function(x: Tensor) -> Any:
        h = ops.abs(x) + 1
        return h.sum(), h.sum(0), h.sum(1)

    monkeypatch.setattr(loops, "share", watched)
    replayed(function, tensor(300, 200))
    assert [array.shape[1] for array in log] == [1, 200, 300]
    assert log[0].shape[0] == log[1].shape[0] > 1
    assert log[2].shape[0] == 1
    assert all((array > 0).all() for array in log)


def test_what_a_plan_gives_may_be_written_to(both: str) -> None:
    _, zeros = replayed(ms.value_and_grad(lambda x: (ops.floor(x) * 2).sum()), tensor(4))
    assert zeros._array.flags.writeable
    assert zeros.asnumpy().tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_one_text_is_compiled_for_each_dtype(dtype: Any) -> None:
    x, y = Tensor(np.array([1, 2, 3], dtype)), Tensor(np.array([3, 2, 1], dtype))
    (actual,) = arrays(replayed(lambda x, y: ops.where(ops.logical_and(x > y, y < x), x, y), x, y))
    assert actual.dtype == dtype
    assert actual.tolist() == [3, 2, 3]


def test_a_shape_counts_that_no_element_is_read_of() -> None:
    p = ms.Parameter(tensor(3), name="p")

    def function(x: Tensor) -> Any:
        return ops.zeros_like(p) + x * 2

    compiled, x = CompiledFunction(function, "f", level="O1"), tensor(3, 1)
    for shape in ((3,), (5,)):
        p.set_data(tensor(*shape), slice_shape=True)
        for _ in range(2):
            assert compiled(x).shape == (3, *shape)


def test_a_shape_counts_that_only_steps_without_use_read() -> None:
    p = ms.Parameter(tensor(3), name="p")
    gradient = ms.grad(lambda x: (ops.relu(p) + x).sum())
    compiled, x = CompiledFunction(lambda x: gradient(x), "f", level="O1"), tensor(3)
    for shape in ((3,), (5, 3)):
        p.set_data(tensor(*shape), slice_shape=True)
        for _ in range(2):
            assert compiled(x).asnumpy().tolist() == [1 if shape == (3,) else 5] * 3


@pytest.mark.parametrize("size", [6, 60])
def test_arrays_in_another_order_of_memory(size: int, both: str) -> None:
    def function(x: Tensor, y: Tensor, b: Tensor) -> Any:
        h = ops.exp(x * 0.5) * y + b
        return h, h.sum((0, 2)), h.sum(1, keepdims=True), ops.relu(h)

    x = Tensor._wrap(tensor(5, size, size).asnumpy().transpose(2, 0, 1))
    y = Tensor._wrap(tensor(5, size, size, seed=1).asnumpy().transpose(2, 0, 1))
    dense = np.ascontiguousarray(y._array)
    others = [Tensor._wrap(part) for part in (dense, y._array[:, ::-1], dense[::2].repeat(2, 0))]
    b = tensor(5, 1, seed=2)
    compiled = CompiledFunction(lambda x, y, b: function(x, y, b), "f", level="O1")
    function(x, y, b)
    for second in (y, *others):
        for _ in range(2):
            tensors = compiled(x, second, b)
            actual = arrays(tensors)
        if both == "Numba":
            assert [t._array.strides for t in (tensors[0], tensors[3])] == [x._array.strides] * 2
        for item, expected in zip(actual, arrays(function(x, second, b)), strict=True):
            assert item.shape == expected.shape
            np.testing.assert_allclose(item, expected, rtol=2e-5, atol=1e-5)


def test_nan_and_infinities_are_where_they_are_eagerly(both: str) -> None:
    edges = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e38, -1e38, 1e-40, 1.0, -1.0, 100.0, -100.0]
    x, y = (Tensor(part.ravel().astype(np.float32)) for part in np.meshgrid(edges, edges))

    def function(x: Tensor, y: Tensor) -> Any:
        return (
            ops.relu(x * y),
            ops.maximum(x, y) - 1,
            ops.minimum(x + y, 2),
            ops.sigmoid(x) * y,
            ops.tanh(x + y),
            ops.softplus(x * 2),
            ops.elu(x - y),
            ops.leaky_relu(x) / y,
            ops.clamp(x * 1, -1.0, 1.0),
            ops.gelu(x + 0),
            ops.hardswish(x) + y,
            ops.isnan(x * y),
            ops.silu(y) - x,
        )

    expected = arrays(function(x, y))
    for index, (actual, want) in enumerate(zip(arrays(replayed(function, x, y)), expected, strict=True)):
        np.testing.assert_array_equal(np.isnan(actual), np.isnan(want), str(index))
        np.testing.assert_array_equal(actual[np.isinf(actual)], want[np.isinf(actual)], str(index))
        np.testing.assert_allclose(actual, want, rtol=2e-6, atol=1e-6, err_msg=str(index))


# Random programs

OF_ONE: list[Callable[[Tensor], Tensor]] = [
    ops.tanh,
    ops.sigmoid,
    ops.relu,
    ops.sin,
    ops.abs,
    ops.square,
    ops.silu,
    ops.gelu,
    ops.erf,
    lambda x: -x,
    lambda x: ops.exp(-ops.abs(x)),
    lambda x: ops.sqrt(ops.abs(x) + 1),
    lambda x: ops.log(ops.square(x) + 1),
    lambda x: ops.softplus(x),
    lambda x: ops.leaky_relu(x, 0.1),
    lambda x: x * 0.5 + 1,
    lambda x: 1 - x,
    lambda x: ops.stop_gradient(x) * x,
    lambda x: x.reshape((1, *x.shape))[0] if x.ndim else x,
]
OF_TWO: list[Callable[[Tensor, Tensor], Tensor]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: ops.tanh(x) * y,
    ops.maximum,
    ops.minimum,
    lambda x, y: x / (ops.abs(y) + 1),
    lambda x, y: ops.where(x > y, x, y * 0.5),
]
REDUCED: list[Callable[[Tensor], Tensor]] = [
    lambda x: x.mean(),
    lambda x: x.mean(0, True),
    lambda x: x.mean(-1, True),
    lambda x: x.mean(tuple(range(x.ndim))),
]
SHAPES: list[tuple[int, ...]] = [(3, 4), (4,), (3, 1), (1, 4), (), (2, 3, 4)]


def program(seed: int) -> tuple[Callable[..., Tensor], list[tuple[int, ...]]]:
    """Return a random function of three tensors with a number as its result, and their shapes."""
    random = np.random.default_rng(seed)
    shapes = [SHAPES[random.integers(len(SHAPES))] for _ in range(3)]
    choices = [(random.random(), *random.integers(0, 1 << 30, 3)) for _ in range(random.integers(4, 14))]

    def run(*inputs: Tensor) -> Tensor:
        values = list(inputs)
        for share, which, first, second in choices:
            x, y = values[first % len(values)], values[second % len(values)]
            if share < 0.5:
                values.append(OF_ONE[which % len(OF_ONE)](x))
            elif share < 0.85 or not x.ndim:
                values.append(OF_TWO[which % len(OF_TWO)](x, y))
            else:
                values.append(REDUCED[which % len(REDUCED)](x))
        total = values[-1].mean()
        for value in values[3:-1]:
            total = total + value.mean()
        return total

    return run, shapes


@pytest.mark.parametrize("seed", range(5))
def test_random_programs_and_their_gradients(seed: int) -> None:
    function, shapes = program(seed)
    gradient = ms.value_and_grad(lambda x, y, z: function(x, y, z), (0, 1, 2))
    operands = [tensor(*shape, seed=seed) for shape in shapes]
    exact = arrays(gradient(*[Tensor(x.asnumpy().astype(np.float64)) for x in operands]))
    for actual, expected in zip(arrays(replayed(gradient, *operands)), exact, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("seed", range(5, 24))
def test_random_programs_by_numpy(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops.compiling, "is_on", lambda: False)
    test_random_programs_and_their_gradients(seed)
