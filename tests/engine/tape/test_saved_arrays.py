"""Arrays that a tape saves for the backward pass: large ones that no rule reads are released; results are unchanged."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from operator_samples import Sample
from test_operators import OF_SEVERAL_RANKS, ROWS

from hookscope.engine import Tensor, grad, nn, ops, value_and_grad, vjp
from hookscope.engine.autograd import sums
from hookscope.engine.autograd.sums import sum_of
from hookscope.engine.ops.linalg.matmul import _linear_of_layer
from hookscope.engine.tape import tape as recording
from hookscope.engine.tape import taps
from hookscope.engine.tensors import operator
from hookscope.engine.tensors.operator import OPERATORS

Array = np.ndarray[Any, Any]
SPARING = {name: entry for name, entry in OPERATORS.items() if entry.placeholders and name not in OF_SEVERAL_RANKS}


@pytest.fixture(autouse=True)
def all_arrays_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (operator, recording):
        monkeypatch.setattr(module, "LARGE", 0)


def large(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(3).standard_normal(shape).astype(np.float32))


class _Unreadable:
    """The placeholder of an array that no rule reads."""

    def __init__(self, array: Array) -> None:
        self.shape, self.dtype, self.ndim, self.size = array.shape, array.dtype, array.ndim, array.size


@pytest.mark.parametrize("name", sorted(SPARING))
def test_no_rule_reads_what_its_operator_says_is_not_read(name: str) -> None:
    entry = SPARING[name]
    for sample in ROWS[name].samples:
        _compare(entry, sample)


def test_the_product_of_a_layer_reads_no_result() -> None:
    _compare(_linear_of_layer, Sample((np.ones((2, 3)), np.ones((4, 3)), np.ones(4)), {"activation": None}))


def _compare(entry: operator.Operator, sample: Sample) -> None:
    inputs = tuple(np.asarray(x) if isinstance(x, float) else x for x in sample.operands)
    output = entry.on_arrays(*inputs, **sample.attrs)
    first = output[0] if isinstance(output, tuple) else output
    if first.dtype.kind not in "fV":
        return
    arrived: Any = np.asarray(np.random.default_rng(1).standard_normal(first.shape)).astype(first.dtype)
    if isinstance(output, tuple):
        arrived = (arrived, *[None] * (len(output) - 1))
    tracked = {id(x) for x in inputs if isinstance(x, np.ndarray) and x.dtype.kind in "fV"}
    expected = entry.gradients(operator.ARRAY_FUNCTIONS, tracked, arrived, output, inputs, sample.attrs)
    left = [
        _Unreadable(x) if i in entry.placeholders and isinstance(x, np.ndarray) else x for i, x in enumerate(inputs)
    ]
    tracked = {id(new) for old, new in zip(inputs, left, strict=True) if id(old) in tracked}
    gone: Any = _Unreadable(first) if -1 in entry.placeholders else first
    instance = (gone, *output[1:]) if isinstance(output, tuple) else gone
    result = entry.gradients(operator.ARRAY_FUNCTIONS, tracked, arrived, instance, tuple(left), sample.attrs)
    assert len(result) == len(expected)
    for (_, own), (_, its) in zip(result, expected, strict=True):
        np.testing.assert_array_equal(own, its)
        assert own.dtype == its.dtype


def test_what_no_rule_reads_is_gone_when_the_function_goes_on() -> None:
    alive = []

    def f(x: Tensor) -> Tensor:
        y = x + 1.0
        alive.append(weakref.ref(y._array))
        z = ops.relu(y)
        alive.append(weakref.ref(z._array))
        del y
        alive.append(alive[0]())
        return z * z

    x = large(3, 4)
    np.testing.assert_array_equal(grad(f)(x).asnumpy(), 2 * np.maximum(x.asnumpy() + 1, 0))
    assert alive[2] is None, "the sum"
    assert alive[1]() is None, "after the backward pass no array is alive"


def test_what_somebody_holds_is_the_same_array_on_the_way_back() -> None:
    values = []

    def f(x: Tensor) -> Tensor:
        y = x + 1.0
        y.register_hook(values.append)
        values.append(y)
        return ops.relu(y) * 3.0

    x = large(3, 4)
    expected = 3.0 * (x.asnumpy() > -1)
    np.testing.assert_array_equal(grad(f)(x).asnumpy(), expected)
    np.testing.assert_array_equal(values[1].asnumpy(), expected)


def test_a_hook_is_called_where_its_tensor_holds_another_array_by_now() -> None:
    records: list[Tensor] = []

    def f(x: Tensor) -> Tensor:
        y = x + 1.0
        y.register_hook(records.append)
        z = y + 2.0
        y.assign_value(z)
        return ops.relu(z) * 2.0

    x = large(3, 4)
    result = grad(f)(x).asnumpy()
    np.testing.assert_array_equal(result, 2.0 * (x.asnumpy() > -3))
    np.testing.assert_array_equal(records[0].asnumpy(), result)


def test_an_array_in_the_place_of_one_that_is_gone_is_not_followed() -> None:
    def f(x: Tensor, w: Tensor) -> Tensor:
        total: Any = 0.0
        for number in range(50):
            total = total + ops.relu(x + float(number))  # each sum is gone, and its place free, when the next comes
            other = Tensor(np.full(x.shape, 0.5, np.float32))
            total = total + other * other * w
        return total

    x, w = large(4, 5), large(4, 5)
    of_x, of_w = grad(f, (0, 1))(x, w)
    np.testing.assert_array_equal(of_x.asnumpy(), sum((x.asnumpy() + n > 0).astype(np.float32) for n in range(50)))
    np.testing.assert_array_equal(of_w.asnumpy(), np.full((4, 5), 12.5, np.float32))


def test_the_place_of_an_array_that_is_gone_is_free() -> None:
    x = large(3)
    with recording.Recording([x._array], uses_placeholders=True) as tape:
        y = x + 1.0
        z = ops.relu(y)
        addresses = {id(y._array), id(z._array)}
        assert addresses < tape.tracked
        (_, _, placeholder, _), (_, (argument,), _, _) = tape.nodes
        assert argument is placeholder and argument() is y._array
        del y
        assert tape.tracked & addresses == {id(z._array)} and id(placeholder) in tape.tracked and not tape.placeholders


@pytest.mark.parametrize("watched", [False, True])
def test_the_walk_lets_go_of_what_it_has_passed(watched: bool) -> None:
    results = []
    relu, tap = nn.ReLU(), taps.Tap()

    class Passing(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x * 1.0

        def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
            results.append([item() is None for item in references])
            return (dout,)

    references = []

    def f(x: Tensor) -> Tensor:
        y = Passing()(x)
        for _ in range(3):
            y = relu(y)
            references.append(weakref.ref(y._array))
        return y

    if watched:
        taps.attach(tap)
    try:
        grad(f)(large(2, 3))
    finally:
        taps.detach(tap)
    assert results == [[True, True, False]]  # the last is what the function returned


class Observer(nn.Cell):
    """Cell that returns its input and calls a function in the backward pass."""

    def __init__(self, look: Callable[[], object]) -> None:
        super().__init__()
        self.look = look

    def construct(self, x: Tensor) -> Tensor:
        return x * 1.0

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        self.look()
        return (dout,)


def test_operands_of_a_step_before_are_gone() -> None:
    alive: list[Any] = []
    results = []
    first = Observer(lambda: results.append([item() is not None for item in alive]))

    def f(x: Tensor) -> Tensor:
        y = first(x)
        left, right = ops.exp(y), ops.sin(y)
        alive.extend(weakref.ref(variant._array) for variant in (left, right))
        return (left * right).sum()

    grad(f)(large(2, 3))
    assert results == [[False, False]]


def test_an_output_that_no_rule_reads_is_gone_before_its_rule_makes_more(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[Any] = []
    results = []
    matmul = OPERATORS["matmul"]
    kernel = matmul.kernel

    def observe(*args: Any, **how: Any) -> Any:
        results.append([item() is not None for item in alive])
        return kernel(*args, **how)

    def f(x: Tensor, w: Tensor) -> Tensor:
        y = ops.matmul(x, w)
        alive.append(weakref.ref(y._array))
        return ops.gelu(y)  # its rule reads y, so the tape keeps it until then

    x, w = large(2, 3), large(3, 4)
    expected = [g.asnumpy() for g in grad(f, (0, 1))(x, w)]
    alive.clear()
    monkeypatch.setattr(matmul, "kernel", observe)
    for value, reference in zip(grad(f, (0, 1))(x, w), expected, strict=True):
        np.testing.assert_array_equal(value.asnumpy(), reference)
    assert results == [[], [False], [False]]


def test_what_a_user_holds_of_an_output_that_no_rule_reads_stays_as_it_was() -> None:
    records: list[Tensor] = []

    def f(x: Tensor, w: Tensor) -> Tensor:
        y = ops.matmul(x, w)
        records.append(y)
        return ops.gelu(y) + y

    x, w = large(70, 3), large(3, 80)
    result = grad(f, (0, 1))(x, w)
    expected = np.float64(x.asnumpy()) @ np.float64(w.asnumpy())
    np.testing.assert_allclose(records[0].asnumpy(), expected, rtol=1e-5, atol=1e-6)
    records.clear()
    for value, reference in zip(result, grad(f, (0, 1))(x, w), strict=True):
        np.testing.assert_array_equal(value.asnumpy(), reference.asnumpy())


class Branches(nn.Cell):
    """Cell that sends several gradients to its input, as code outside of it does."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x) + x * 0.5 + ops.sin(x)


class _Keeping(taps.Tap):
    """Tap that stores gradients, or copies of them, or replaces the one that leaves a cell."""

    def __init__(self, keeps: bool, factor: float | None = None) -> None:
        self.keeps = keeps
        self.factor = factor
        self.kept: list[tuple[Array, Array]] = []

    def backward_enter(self, call: Any, grad_output: Any) -> None:
        self._keep(grad_output)

    def backward_exit(self, call: Any, grad_input: Any) -> Any:
        self._keep(grad_input)
        return None if self.factor is None else tuple(Tensor(g.asnumpy() * self.factor) for g in grad_input)

    def _keep(self, gradients: Any) -> None:
        self.kept += [(g._array if self.keeps else g.asnumpy(), g.asnumpy()) for g in gradients]


@pytest.mark.parametrize("shape", [(3, 4), (70, 80)])  # the larger is summed in place
@pytest.mark.parametrize("keeps", [False, True])
def test_sums_in_place_change_no_gradient_that_a_tap_was_shown(keeps: bool, shape: tuple[int, int]) -> None:
    inner, outer = Branches(), Branches()

    def f(x: Tensor) -> Tensor:
        y = outer(x * 3.0)
        return ops.sin(inner(y)) + y * y + ops.cos(y)

    x, tap = large(*shape), _Keeping(keeps)
    expected = grad(f)(x).asnumpy()
    taps.attach(tap)
    try:
        result = grad(f)(x).asnumpy()
    finally:
        taps.detach(tap)
    np.testing.assert_array_equal(result, expected)
    assert len(tap.kept) == 4
    for array, copy in tap.kept:
        np.testing.assert_array_equal(array, copy)
    # A cell propagates its own share, whatever other gradients reached the value.
    u = np.float64(x.asnumpy()) * 3
    arrived = [np.float64(copy) for _, copy in tap.kept]
    for y, arrives, leaves in ((np.tanh(u) + u * 0.5 + np.sin(u), *arrived[:2]), (u, *arrived[2:])):
        slope = 1 - np.tanh(y) ** 2 + 0.5 + np.cos(y)
        np.testing.assert_allclose(leaves, arrives * slope, rtol=1e-4, atol=1e-5)


def test_what_replaces_the_gradients_of_a_cell_is_added_to_what_others_sent() -> None:
    cell, x, tap = Branches(), large(70, 80), _Keeping(False, 0.0)
    taps.attach(tap)
    try:
        result = grad(lambda x: cell(x) + x * 5.0 + x * 7.0)(x).asnumpy()
    finally:
        taps.detach(tap)
    np.testing.assert_array_equal(result, np.full((70, 80), 12, np.float32))


def test_within_another_recording_everything_is_kept() -> None:
    records = []

    def f(x: Tensor) -> Tensor:
        y = x + 1.0
        alive = weakref.ref(y._array)
        z = ops.relu(y)
        del y
        records.append(alive() is not None)
        return z * z

    grad(grad(f))(large(2, 3))
    assert records == [True]


def test_writing_to_part_of_what_the_tape_let_go_of_changes_no_gradient() -> None:
    def f(x: Tensor) -> Tensor:
        y = x + 1.0
        z = y * y
        y[0] = 7.0
        return z + y

    x = large(3, 4)
    expected = 2 * (x.asnumpy() + 1) + 1
    expected[0] -= 1
    np.testing.assert_allclose(grad(f)(x).asnumpy(), expected, rtol=1e-6)


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, has_bias=True, weight_init="normal")
        self.norm = nn.BatchNorm2d(4)
        self.pool = nn.MaxPool2d(2, 2)
        self.dense = nn.Dense(36, 5)
        self.layer_norm = nn.LayerNorm((5,))

    def construct(self, x: Tensor) -> Tensor:
        x = ops.relu(self.norm(self.conv(x)) + 0.1)
        x = ops.transpose(self.pool(x), (0, 2, 3, 1)).reshape(len(x), -1)
        return ops.softmax(ops.tanh(self.layer_norm(self.dense(x)))).mean(0) * ops.arange(5)


@pytest.mark.parametrize("watch", ["nobody", "a hook", "a tap", "an operator tap", "a tap from the middle on"])
def test_gradients_are_the_same_bits_as_with_everything_kept(watch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net, x = Net(), large(3, 2, 6, 6)
    messages: list[str] = []
    flags: list[bool] = []  # whether something is gone

    class Tap(taps.Tap):
        observes_operators = "operator" in watch or "middle" in watch

        def operator_backward(
            self, name: str, gradient: Any, gradients: Any, attrs: Any, inputs: tuple[Any, ...], output: Any
        ) -> None:
            messages.append(name)
            values = (*inputs, *(output if isinstance(output, tuple) else (output,)))
            assert {type(value) for value in values} <= {np.ndarray, type(None), float}
            flags.append(any(value is None for value in values))

    tap = Tap()

    def f(x: Tensor) -> Tensor:
        y = net(x)
        if "middle" in watch:
            taps.attach(tap)
        return y

    def gradients() -> list[Array]:
        if watch in ("a tap", "an operator tap"):
            taps.attach(tap)
        try:
            of_x, of_weights = value_and_grad(f, 0, net.trainable_params())(x)[1]
        finally:
            taps.detach(tap)
        return [t.asnumpy() for t in (of_x, *of_weights)]

    if watch == "a hook":
        net.norm.register_backward_hook(lambda *_: messages.append("hook"))
    result = gradients()
    monkeypatch.setattr(
        recording.Recording, "_with_placeholders", lambda self, indices, inputs, output: (inputs, output)
    )
    for actual, reference in zip(result, gradients(), strict=True):
        np.testing.assert_array_equal(actual, reference)
    assert bool(messages) == (watch not in ("nobody", "a tap"))
    assert any(flags) == ("middle" in watch)


def test_a_second_derivative_reads_what_the_first_did_not() -> None:
    x = large(2, 3)

    def f(x: Tensor) -> Tensor:
        return ops.tanh(x + 0.5) * x

    t = np.tanh(x.asnumpy().astype(np.float64) + 0.5)
    expected = 2 * (1 - t**2) - 2 * x.asnumpy() * t * (1 - t**2)
    np.testing.assert_allclose(grad(grad(f))(x).asnumpy(), expected, rtol=2e-5, atol=1e-6)


def test_what_vjp_returns_may_be_called_twice() -> None:
    x = large(2, 3)
    output, back = vjp(lambda x: ops.relu(x + 1.0), x)
    first, second = (back(ops.ones_like(output))[0].asnumpy() for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, x.asnumpy() > -1)


def test_after_an_exception_nothing_is_followed() -> None:
    def f(x: Tensor) -> Tensor:
        y = ops.relu(x + 1.0)
        raise ArithmeticError(str(y.shape))

    with pytest.raises(ArithmeticError):
        grad(f)(large(2, 3))
    gc.collect()
    assert not recording.state.recordings


def peak_of(function: Callable[[], Any]) -> int:
    import tracemalloc

    tracemalloc.start()
    function()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    function()
    result = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return result


def test_a_step_holds_an_activation_once_for_each_layer() -> None:
    net = nn.SequentialCell(*[cell for _ in range(6) for cell in (nn.Dense(64, 64), nn.ReLU())])
    x = large(1000, 64)
    step = value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    # Each layer's arrays after the ReLU; then two gradients of that size and an array computed from one.
    assert peak_of(lambda: step(x)) < (6 + 3.6) * 1000 * 64 * 4


def test_a_narrow_step_holds_the_gradients_of_its_weights_one_activation_and_the_loss() -> None:
    net = nn.SequentialCell(nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10))
    x, criterion = large(64, 784), nn.CrossEntropyLoss()
    y = Tensor(np.arange(64, dtype=np.int32) % 10)
    weights = net.trainable_params()
    step = value_and_grad(lambda x, y: criterion(net(x), y), None, weights)
    arrays = sum(w.asnumpy().nbytes for w in weights) + 64 * 512 * 4 + 4
    assert peak_of(lambda: step(x, y)) < arrays + 32_000  # of Python's objects


def test_to_the_gradient_of_a_residual_sum_is_added_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    in_place = []

    def note(held: Any, result: Any, functions: Any, sharing: int = 0) -> Any:
        total = sum_of(held, result, functions, sharing + 1)  # one more, since this function has a reference, too
        in_place.append(total is held)
        return total

    def f(x: Tensor) -> Tensor:
        for _ in range(3):
            x = x + ops.tanh(x)
        return x

    x = large(70, 80)
    expected, slopes = np.float64(x.asnumpy()), np.float64(1.0)
    for _ in range(3):
        expected, slopes = expected + np.tanh(expected), slopes * (2 - np.tanh(expected) ** 2)
    monkeypatch.setattr(sums, "sum_of", note)
    np.testing.assert_allclose(grad(f)(x).asnumpy(), slopes, rtol=1e-5, atol=1e-6)
    assert in_place == [True, True, True]
