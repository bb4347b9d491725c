"""Threads that trace, replay and compute gradients of the same tensors at once give the same as each alone."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.compile import plans_of
from hookscope.engine.compile.graph import Value
from hookscope.engine.compile.trace import tracer
from hookscope.engine.compile.traced_array import TracedArray
from hookscope.engine.debug import DebugSession
from hookscope.engine.tensors.operator import OPERATORS

X = Tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4))


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    ms.set_seed(4)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert not tracer._turn


def network() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(4, 5), nn.Tanh(), nn.Dense(5, 2))


def bits(value: Any) -> Any:
    if isinstance(value, Tensor):
        return type(value._array).__name__, np.array(value._array).tobytes()
    return [bits(item) for item in value]


class BackgroundCall:
    """A function that runs in another thread, and its result."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._results: list[Any] = []
        self.waits = threading.Event()  # for the other one, or has done its part
        self._function = function
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            self._results.append(self._function())
        except BaseException as error:
            self._results.append(error)

    def result(self) -> Any:
        self._thread.join(60)
        assert self._results, "deadlock: the threads wait for each other"
        if isinstance(self._results[0], BaseException):
            raise self._results[0]
        return self._results[0]


@pytest.fixture
def amid_a_trace(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], BackgroundCall]:
    """Run a function in another thread amid the next trace; the trace continues when that thread waits."""

    def arrange(function: Callable[[], Any]) -> BackgroundCall:
        worker, started = BackgroundCall(function), list[bool]()
        kernel, begin = OPERATORS["tanh"].kernel, tracer.Tracer.__init__

        def tanh(x: Any) -> Any:
            if not started:
                started.append(True)
                worker.start()
                assert worker.waits.wait(60)
            return kernel(x)

        class Noticing(threading.Event):
            def wait(self, timeout: float | None = None) -> bool:
                worker.waits.set()
                return super().wait(timeout)

        def begun(self: tracer.Tracer, *args: Any) -> None:
            begin(self, *args)
            self._is_over = Noticing()

        monkeypatch.setattr(OPERATORS["tanh"], "kernel", tanh)
        monkeypatch.setattr(tracer.Tracer, "__init__", begun)
        return worker

    return arrange


def gradients_of(net: nn.Cell, way: Callable[..., Any] = lambda function: function) -> Any:
    function = ms.value_and_grad(lambda x: (net(x) ** 2).sum(), 0, net.trainable_params())
    return way(lambda x: function(x))


@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_gradient_amid_the_trace_of_another_thread_is_whole(is_compiled: bool, amid_a_trace: Any) -> None:
    net = network()
    expected = bits(gradients_of(net)(X))
    traced, other = gradients_of(net, ms.jit), gradients_of(net, ms.jit if is_compiled else lambda function: function)
    worker = amid_a_trace(lambda: bits(other(X)))
    assert bits(traced(X)) == expected
    assert worker.result() == expected
    assert bits(traced(X)) == bits(other(X)) == expected
    # A change by the other thread's run, such as a class registered with an abstract one, may cost a trace.
    assert bits(traced(X)) == expected
    counts = plans_of(traced)[0].counts
    assert (counts["eager"], counts["refused"]) == (0, 0)
    assert counts["replayed"] >= 1


def test_a_trace_does_not_begin_amid_a_gradient_of_another_thread() -> None:
    net = network()
    expected = bits(gradients_of(net)(X))
    inside, go_on = threading.Event(), threading.Event()

    def halted(x: Any) -> Any:
        inside.set()
        assert go_on.wait(60)
        return (net(x) ** 2).sum()

    worker = BackgroundCall(lambda: bits(ms.value_and_grad(halted, 0, net.trainable_params())(X)))
    worker.start()
    assert inside.wait(60)
    traced = gradients_of(net, ms.jit)
    assert bits(traced(X)) == expected
    assert plans_of(traced)[0].counts["eager"] == 1
    go_on.set()
    assert worker.result() == expected
    for _ in range(2):
        assert bits(traced(X)) == expected
    assert plans_of(traced)[0].counts == {"traced": 1, "replayed": 1, "eager": 1, "refused": 0}


def test_a_function_may_wait_for_a_thread_that_calls_compiled_functions() -> None:
    net = network()
    inner = ms.jit(lambda x: net(x) * 2.0)
    expected = bits(net(X) * 2.0 + 1.0)

    @ms.jit
    def outer(x: Any) -> Any:
        result = list[Any]()
        thread = threading.Thread(target=lambda: result.append(inner(x)))
        thread.start()
        thread.join(60)
        return result[0] + 1.0

    with pytest.warns(UserWarning, match="no plan can be made"):
        assert bits(outer(X)) == expected
    assert bits(outer(X)) == expected
    assert all(type(p._array) is np.ndarray for p in net.get_parameters())


def test_a_session_that_begins_to_watch_amid_a_trace_changes_no_bit(amid_a_trace: Any) -> None:
    net = network()
    expected = bits(gradients_of(net)(X))
    traced = gradients_of(net, ms.jit)
    session = DebugSession(net, watch=["*"])

    def watch() -> None:
        session.attach()
        worker.waits.set()

    worker = amid_a_trace(watch)
    assert bits(traced(X)) == expected
    worker.result()
    results = [capture.statistics() for capture in session.captures]
    assert results and all(result.mean == result.mean for result in results)
    assert bits(traced(X)) == expected
    session.detach()
    assert not plans_of(traced)[0].warned_reasons
    for _ in range(2):
        assert bits(traced(X)) == expected


def test_many_threads_get_what_one_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    net, table = network(), Parameter(Tensor(np.arange(4, dtype=np.float32)), name="table")
    inputs = [X * (number + 1.0) for number in range(3)]
    jobs: list[Callable[[Any], Any]] = [
        net,
        gradients_of(net),
        lambda x: ops.softmax(x * table, -1),
        lambda x: net(x)[:1] + table[:2],
    ]
    expected = [[bits(job(x)) for x in inputs] for job in jobs]
    wrong, gate = list[Any](), threading.Barrier(len(jobs) * 2)
    ms.set_context(mode=ms.GRAPH_MODE)

    def work(number: int) -> None:
        job, expected_bits = jobs[number % len(jobs)], expected[number % len(jobs)]
        gate.wait(60)
        for turn in range(6):
            index = (turn + number) % len(inputs)
            try:
                if bits(job(inputs[index])) != expected_bits[index]:
                    wrong.append((number, turn))
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(jobs) * 2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with warnings.catch_warnings(record=True) as records:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
    finally:
        sys.setswitchinterval(interval)
    assert not wrong
    assert [str(item.message) for item in records if "no plan" in str(item.message)] == []


def test_an_array_of_a_trace_may_be_read_while_another_thread_ends_the_trace() -> None:
    notified = SimpleNamespace(graph=SimpleNamespace(shape_reads=set()), inner=set(), lengths=None)
    array = TracedArray.over(np.zeros((3, 4), np.float32), Value((3, 4), np.dtype(np.float32)), notified)
    is_over = threading.Event()

    def end_and_begin() -> None:
        while not is_over.is_set():  # threads may take turns at each call
            array.tracer = None if array.tracer is notified else notified

    thread = threading.Thread(target=end_and_begin, daemon=True)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        for _ in range(20_000):
            assert (array.shape, array.strides) == ((3, 4), (16, 4))
    finally:
        is_over.set()
        thread.join()
        sys.setswitchinterval(interval)
