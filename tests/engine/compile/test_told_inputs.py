"""Inputs declared by ``set_inputs`` or ``enable_dynamic`` are checked, with MindSpore 2.10's classes of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Symbol, Tensor, nn
from hookscope.engine.compile import plans_of


def tensor(*shape: int, dtype: Any = ms.float32) -> Tensor:
    return Tensor(np.ones(shape), dtype)


def like(*shape: Any, dtype: Any = ms.float32) -> Tensor:
    return Tensor(shape=None if shape == ("any",) else list(shape), dtype=dtype)


X, D = tensor(2, 3), like(None, 3)
ERRORS = {"TypeError": TypeError, "ValueError": ValueError}


class Times(nn.Cell):
    def construct(self, x: Any, k: Any = 2) -> Any:
        return x * k


class Both(nn.Cell):
    def construct(self, x: Any, y: Any) -> Any:
        return x * y


class First(nn.Cell):
    def construct(self, xs: Any) -> Any:
        return xs[0] * xs[-1]


@pytest.fixture
def graph_mode() -> Iterator[None]:
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


# the declaration, the inputs, and MindSpore 2.10's class of error in GRAPH_MODE, "" if it computed
CALLS: list[tuple[type[nn.Cell], tuple[Any, ...], tuple[Any, ...], dict[str, Any], str]] = [
    (Times, (D,), (X,), {}, ""),
    (Times, (D,), (tensor(5, 3),), {}, ""),
    (Times, (D,), (tensor(5, 4),), {}, "ValueError"),
    (Times, (D,), (tensor(3),), {}, "ValueError"),
    (Times, (D,), (tensor(2, 3, 3),), {}, "ValueError"),
    (Times, (D,), (tensor(2, 3, dtype=ms.float16),), {}, "TypeError"),
    (Times, (D,), (3,), {}, "TypeError"),
    (Times, (D,), (np.ones((2, 3), np.float32),), {}, "TypeError"),
    (Times, (D,), (X, 3), {}, "ValueError"),
    (Times, (D,), (X,), {"k": 3}, "ValueError"),
    (Times, (D,), (), {}, "TypeError"),
    (Times, (D,), (X, 3, 4), {}, "TypeError"),
    (Times, (D,), (X,), {"z": 3}, "TypeError"),
    (Times, (D, 3), (X, 3), {}, ""),
    (Times, (D, 3), (X,), {"k": 3}, ""),
    (Times, (D, 3), (X, 3.0), {}, "ValueError"),
    (Times, (D, 3), (X,), {}, "ValueError"),
    (Times, (D, 3), (X, Tensor(3)), {}, "TypeError"),
    (Times, (D, True), (X, True), {}, ""),
    (Times, (D, True), (X, 1), {}, "ValueError"),
    (Both, (D, None), (X, X), {}, "TypeError"),
    (Both, (D, "a"), (X, X), {}, "TypeError"),
    (Both, ([D], D), (X, X), {}, "TypeError"),
    (Both, ({"a": D}, D), (X, X), {}, "TypeError"),
    (Both, (tensor(1, 3), D), (X, X), {}, "ValueError"),
    (Both, (Parameter(tensor(1, 3), name="p"), D), (X, X), {}, "ValueError"),
    (Both, (D, like(None, 1)), (), {"y": tensor(4, 1), "x": tensor(4, 3)}, ""),
    (First, ((D, D),), ((X, X),), {}, ""),  # as of a mutable tuple
    (First, ((D, D),), ([X, X],), {}, ""),
    (First, ((D, D),), ((X, tensor(2, 4)),), {}, "ValueError"),
    (First, ((D, D),), ((X, tensor(2, 3, dtype=ms.float16)),), {}, "TypeError"),
    (First, ((D, D),), ((X, X, X),), {}, "ValueError"),
    (Times, (like("any"),), (tensor(1),), {}, ""),
    (Times, (like("any"),), (tensor(1, dtype=ms.int32),), {}, "TypeError"),
]
SYMBOLS = [
    ({"max": 4}, {2: "", 4: "", 5: "is at most 4"}),
    ({"min": 3}, {2: "is at least 3", 3: ""}),
    ({"max": 3, "min": 5}, {2: "is at least 5", 6: ""}),
    ({"divisor": 4}, {4: "", 8: "", 6: r"is n \* 4 \+ 0"}),
    ({"divisor": 4, "remainder": 1}, {5: "", 9: "", 1: r"is n \* 4 \+ 1", 4: r"is n \* 4 \+ 1"}),
]


@pytest.mark.usefixtures("graph_mode")
@pytest.mark.parametrize(("kind", "declaration", "args", "kwargs", "error"), CALLS)
def test_calls_are_compared_with_what_set_inputs_told(
    kind: type[nn.Cell], declaration: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any], error: str
) -> None:
    net = kind()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net.set_inputs(*declaration)
    assert net.get_inputs() == declaration
    ms.set_context(mode=ms.GRAPH_MODE)
    if error:
        with pytest.raises(ERRORS[error], match=f"^For '{kind.__name__}', "):
            net(*args, **kwargs)
    else:
        net(*args, **kwargs)


@pytest.mark.usefixtures("graph_mode")
@pytest.mark.parametrize(("figures", "lengths"), SYMBOLS)
def test_a_symbol_says_which_lengths_may_come(figures: dict[str, int], lengths: dict[int, str]) -> None:
    net = nn.ReLU()
    net.set_inputs(like(Symbol(**figures)))
    for length, why in lengths.items():
        if why:
            with pytest.raises(ValueError, match=f"input 0 must have a length of axis 0 that {why}.*{length}"):
                net(tensor(length))
        else:
            assert net(tensor(length)).shape == (length,)


@pytest.mark.usefixtures("graph_mode")
def test_lengths_of_one_unique_symbol_are_the_same_in_a_call() -> None:
    symbol = Symbol(unique=True)
    net = Both()
    net.set_inputs(like(symbol, 3), like(symbol, 3))
    assert net(X, X).shape == (2, 3)
    assert net(tensor(1, 3), tensor(1, 3)).shape == (1, 3)
    with pytest.raises(ValueError, match="input 1 must have a length of axis 0 that is 2, as its unique Symbol was"):
        net(X, tensor(1, 3))


@pytest.mark.usefixtures("graph_mode")
def test_inputs_that_are_told_by_name_alone_are_compared() -> None:
    net = Both()
    net.set_inputs(x=D)
    for args, kwargs in (((X, X), {}), ((), {"y": X, "x": X}), ((X, tensor(1, 1)), {})):
        assert net(*args, **kwargs).shape == (2, 3)
    with pytest.raises(ValueError, match="input 0 must have the shape"):
        net(y=X, x=tensor(2, 4))
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        net(X)


@pytest.mark.parametrize("declaration", [(), (D, 3, 4)])
def test_in_graph_mode_the_number_of_inputs_is_looked_at_when_they_are_told(declaration: tuple[Any, ...]) -> None:
    net = Times()
    net.set_inputs(*declaration)  # as in MindSpore, not in PyNative mode
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        with pytest.raises(TypeError, match="For 'set_inputs', 'construct' of 'Times'"):
            Times().set_inputs(*declaration)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("call", ["compile", "compile_and_run"])
@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((X, 2, 3), {}), ((X,), {"z": 3})])
def test_compile_refuses_inputs_that_construct_does_not_take(call: str, args: Any, kwargs: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="For 'Times', (missing|too many|got an unexpected)"):
        getattr(Times(), call)(*args, **kwargs)


def test_compile_says_that_it_makes_no_plan_of_placeholders() -> None:
    net = Times()
    with pytest.warns(UserWarning, match="'Times' is not compiled yet: a plan needs values"):
        net.compile(D)
    assert not net.compiled


# enable_dynamic


def jitted(**declaration: Any) -> Callable[..., Any]:
    @ms.jit
    @ms.enable_dynamic(**declaration)
    def first(x: Any, y: Any = None, *, k: int = 1) -> Any:
        return (x[0] if isinstance(x, tuple | list) else x) * k

    made: Callable[..., Any] = first
    return made


@pytest.mark.parametrize(
    ("declaration", "error", "text"),
    [
        ({}, ValueError, "at least one argument must be declared"),
        ({"z": D}, ValueError, r"has no argument 'z', only \['x', 'y', 'k'\]"),
        ({"x": 3}, TypeError, "'x' must be a Tensor, or a tuple or list of them, but got int"),
        ({"x": None}, TypeError, "'x' must be a Tensor, or a tuple or list of them, but got NoneType"),
        ({"x": [D, 3]}, TypeError, "'x' must be a Tensor, or a tuple or list of them, but got int"),
        ({"x": X}, TypeError, "at least one length of 'x' must be None or a Symbol"),
        ({"x": []}, TypeError, "at least one length of 'x' must be None or a Symbol"),
        ({"x": D, "y": X}, TypeError, "at least one length of 'y' must be None or a Symbol"),
    ],
)
def test_what_cannot_be_told_of_an_argument_is_refused(declaration: dict[str, Any], error: type, text: str) -> None:
    with pytest.raises(error, match=f"For 'enable_dynamic', .*{text}"):
        jitted(**declaration)


@pytest.mark.parametrize("what", [nn.ReLU, 3, abs])
def test_only_functions_can_be_told_of(what: Any) -> None:
    with pytest.raises(ValueError, match="For 'enable_dynamic', a function must be decorated, but got"):
        ms.enable_dynamic(x=D)(what)


@pytest.mark.parametrize(
    ("declaration", "args", "kwargs", "error"),
    [
        ({"x": D}, (X,), {}, None),
        ({"x": D}, (tensor(5, 3),), {}, None),
        ({"x": D}, (tensor(5, 4),), {}, ValueError),
        ({"x": D}, (tensor(1),), {}, ValueError),
        ({"x": D}, (tensor(2, 3, dtype=ms.float16),), {}, TypeError),
        ({"x": D}, (3,), {}, TypeError),
        ({"x": D}, (np.ones((2, 3), np.float32),), {}, TypeError),
        ({"x": D}, (), {}, TypeError),
        ({"x": [D, D]}, (X,), {}, TypeError),
        ({"x": [D, X]}, ([tensor(7, 3), X],), {}, None),
        ({"x": [D, X]}, ([tensor(7, 3), tensor(1, 3)],), {}, ValueError),
        ({"x": D, "y": D}, (X,), {}, None),
        ({"x": D, "y": D}, (X, tensor(2, 4)), {}, ValueError),
        ({"x": D, "y": D}, (X,), {"y": tensor(2, 4)}, ValueError),
        ({"y": D}, (X, None), {}, TypeError),
        ({"x": like("any")}, (tensor(2),), {}, None),
        ({"x": like(Symbol(max=2), 3)}, (X,), {}, None),
        ({"x": like(Symbol(max=2), 3)}, (tensor(3, 3),), {}, ValueError),
    ],
)
def test_calls_of_jit_are_compared_with_what_enable_dynamic_told(
    declaration: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: type[Exception] | None
) -> None:
    function = jitted(**declaration)
    if error is None:
        function(*args, **kwargs)
    else:
        with pytest.raises(error, match="^For '.*first'"):
            function(*args, **kwargs)


def test_enable_dynamic_may_stand_on_either_side_of_jit_and_on_a_method_and_alone_it_checks_nothing() -> None:
    def double(x: Any) -> Any:
        return x * 2

    class Holder:
        @ms.jit
        @ms.enable_dynamic(x=D)
        def double(self, x: Any) -> Any:
            return x * 2

    class Net(nn.Cell):
        @ms.jit
        @ms.enable_dynamic(x=D)
        def construct(self, x: Any) -> Any:
            return x * 2

    net = Net()
    for function in (ms.enable_dynamic(x=D)(ms.jit(double)), Holder().double, net):
        assert function(X).shape == (2, 3)
        with pytest.raises(ValueError, match="argument 'x' must have the shape"):
            function(tensor(5, 4))
    assert ms.enable_dynamic(x=D)(double)(tensor(5, 4)).shape == (5, 4)
    with pytest.raises(ValueError, match="'enable_dynamic' has already declared the shapes"):
        net.set_inputs(D)


def test_what_enable_dynamic_told_holds_also_inside_another_plan() -> None:
    inner = jitted(x=D)
    outer = ms.jit(lambda x: inner(x) + 1)
    assert outer(X).shape == (2, 3)
    with pytest.raises(ValueError, match="argument 'x' must have the shape"):
        outer(tensor(2, 4))
    assert plans_of(outer)[0].counts["traced"] == 1
