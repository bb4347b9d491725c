"""``_Function``: an operation with a gradient of the user's own; and ``saved_tensors_hooks``."""

from __future__ import annotations

from typing import Any

import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops
from hookscope.engine.autograd.function import _Function

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


class Scaled(_Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, factor: float = 2.0) -> Tensor:
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        return x * y * factor

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, y = ctx.saved_tensors
        assert ctx.needs_input_grad[2] is False
        return g * y * ctx.factor, g * x * ctx.factor, None


def returning(answer: Any) -> type[_Function]:
    class Given(_Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            return answer(g)

    return Given


def test_backward_gives_the_gradients() -> None:
    assert Scaled.apply(X, Y, 3.0).tolist() == [9.0, 24.0]
    of_x, of_y = ms.grad(lambda x, y: Scaled.apply(x, y, 3.0), (0, 1))(X, Y)
    assert (of_x.tolist(), of_y.tolist()) == ([9.0, 12.0], [3.0, 6.0])


def test_setup_context_keeps_forward_plain() -> None:
    class Plain(_Function):
        @staticmethod
        def forward(x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            x, y = ctx.saved_tensors
            return g * y, g * x

    assert ms.grad(lambda x: Plain.apply(x, y=Y))(X).tolist() == [3.0, 4.0]
    assert ms.grad(lambda a: ms.grad(lambda b: Plain.apply(b, b))(a).sum())(X).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("materialize", [True, False])
def test_an_output_without_gradient_gives_zeros_or_none(materialize: bool) -> None:
    records: list[Any] = []

    class Two(_Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Any:
            ctx.set_materialize_grads(materialize)
            return x * 2.0, x * 3.0

        @staticmethod
        def backward(ctx: Any, first: Tensor, second: Any) -> Any:
            records.append(second if second is None else second.tolist())
            return first * 10.0

    assert ms.grad(lambda x: Two.apply(x)[0])(X).tolist() == [10.0, 10.0]
    assert records == [[0.0, 0.0] if materialize else None]


def test_what_is_marked_non_differentiable_sends_nothing_back() -> None:
    class Marked(_Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Any:
            fixed = x * 3.0
            ctx.mark_non_differentiable(fixed)
            return x * 2.0, fixed

        @staticmethod
        def backward(ctx: Any, first: Tensor, second: Tensor) -> Any:
            return first * 10.0 + second * 1000.0

    assert ms.grad(lambda x: sum(Marked.apply(x)))(X).tolist() == [10.0, 10.0]


@pytest.mark.parametrize(
    ("answer", "expected"), [(lambda g: (g, g, g), [1.0, 1.0]), (lambda g: (None, None), [0.0, 0.0])]
)
def test_too_many_gradients_and_none_are_taken(answer: Any, expected: list[float]) -> None:
    assert ms.grad(lambda x: returning(answer).apply(x, Y))(X).tolist() == expected


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (lambda g: g, "returned 1 gradients for 2 arguments"),
        (lambda g: (3, g), "returned int as gradient 0; it must be a Tensor or None"),
        (lambda g: (Tensor([1.0, 2.0, 3.0]), g), r"gradient 0 of shape \(3,\), but the argument has shape \(2,\)"),
    ],
)
def test_gradients_that_do_not_fit_are_refused(answer: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        ms.grad(lambda x: returning(answer).apply(x, Y))(X)


def test_a_subclass_defines_forward() -> None:
    with pytest.raises(NotImplementedError, match="must define 'forward'"):
        _Function.apply(X)
    with pytest.raises(TypeError, match="takes no keyword arguments"):
        Scaled.apply(X, y=Y)


def test_what_forward_hands_back_as_it_came_has_the_gradient_of_backward() -> None:
    # As recorded from MindSpore 2.10.
    class Same(_Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            return x, y * 2

        @staticmethod
        def backward(ctx: Any, g: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
            return g * 7, h * 3

    def function(x: Tensor, y: Tensor) -> Tensor:
        same, twice = Same.apply(x, y)
        return same * 2 + twice + x

    x, y = Tensor([3.0]), Tensor([4.0])
    of_x, of_y = ms.grad(function, (0, 1))(x, y)
    assert (of_x.tolist(), of_y.tolist()) == ([15.0], [3.0])
    same, _ = Same.apply(x, y)
    assert same is not x and same.tolist() == [3.0]


# saved_tensors_hooks


def test_rules_compute_with_what_unpack_gives() -> None:
    packed: list[Any] = []

    def pack(tensor: Tensor) -> Any:
        packed.append(tensor.shape)
        return tensor.asnumpy()

    def function(x: Tensor) -> Tensor:
        with ms.saved_tensors_hooks(pack, lambda value: Tensor(value * 2.0)):
            return ops.exp(x) * 1.0

    plain = ms.grad(ops.exp)(X).asnumpy()
    assert ms.grad(function)(X).tolist() == (plain * 2).tolist()
    assert packed and set(packed) <= {(2,), ()}


# MindSpore 2.10 packs, and in the end unpacks, the arrays of the gradient's formula, an array twice if it is two
# operands.
PACKED: dict[str, tuple[Any, list[list[float]]]] = {
    "x * x": (lambda x: x * x, [[3.0], [3.0]]),
    "x * 2": (lambda x: x * 2, []),
    "x + x": (lambda x: x + x, []),
    "x / 2": (lambda x: x / 2, []),
    "x * 5": (lambda x: x * Tensor([5.0]), [[5.0]]),
    "relu": (lambda x: ops.relu(x), [[3.0]]),
    "relu of -3": (lambda x: ops.relu(-x), [[0.0]]),
    "square": (ops.square, [[3.0]]),
    "sum": (lambda x: x.sum(), []),
    "abs": (lambda x: ops.abs(-x), [[-3.0]]),
    "reshape": (lambda x: x.reshape((1, 1)), []),
}


@pytest.mark.parametrize("name", PACKED)
def test_what_a_gradient_is_computed_from_is_packed(name: str) -> None:
    function, want = PACKED[name]
    packed: list[Any] = []
    unpacked: list[Any] = []

    def hooked(x: Tensor) -> Any:
        pack = lambda t: packed.append(t.tolist()) or t  # noqa: E731
        with ms.saved_tensors_hooks(pack, lambda t: unpacked.append(t.tolist()) or t):
            return function(x)

    x = Tensor([3.0])
    assert ms.grad(hooked)(x).tolist() == ms.grad(function)(x).tolist()
    assert packed == unpacked == want


@pytest.mark.parametrize(
    ("function", "count"), [(ops.mul, 2), (ops.div, 2), (ops.add, 0), (ops.sub, 0), (ops.pow, 3), (ops.atan2, 2)]
)
def test_what_the_gradients_of_other_arguments_are_computed_from_is_packed_too(function: Any, count: int) -> None:
    # The counts are MindSpore 2.10's.
    packed: list[Any] = []

    def hooked(x: Tensor, y: Tensor) -> Any:
        with ms.saved_tensors_hooks(lambda t: packed.append(t.tolist()) or t, lambda t: t):
            return function(x, y)

    x, y = Tensor([3.0]), Tensor([2.0])
    assert ms.grad(hooked)(x, y).tolist() == ms.grad(function)(x, y).tolist()
    assert len(packed) == count


def test_a_decorated_function_runs_inside_the_hooks() -> None:
    log: list[str] = []

    @ms.register_saved_tensors_hooks(lambda t: log.append("pack") or t, lambda value: log.append("unpack") or value)
    def square(x: Tensor) -> Tensor:
        return x * x

    assert ms.grad(square)(X).tolist() == [2.0, 4.0]
    assert {"pack", "unpack"} == set(log)


def test_what_forward_changes_in_place_goes_on() -> None:
    class Shifted(_Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.mark_dirty(x)
            x[0] = 7.0
            return x

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Tensor:
            return g * 5.0

    assert ms.grad(lambda a: Shifted.apply(a * 1.0))(X).tolist() == [5.0, 5.0]


@pytest.mark.parametrize(("marked", "gradient"), [(True, 5.0), (False, 0.0)])
def test_an_argument_marked_dirty_goes_on_as_the_output_also_under_its_old_name(marked: bool, gradient: float) -> None:
    class Shifted(_Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            if marked:
                ctx.mark_dirty(x)
            x[0] = 7.0
            return x

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Tensor:
            return g * 5.0

    def function(a: Tensor) -> Tensor:
        old = a * 1.0
        Shifted.apply(old)
        return old

    value, of_a = ms.value_and_grad(function)(X)
    assert (value.tolist(), of_a.tolist()) == ([7.0, 2.0], [gradient] * 2)


def test_outside_a_gradient_nothing_is_packed() -> None:
    with ms.saved_tensors_hooks(pytest.fail, pytest.fail):
        assert (X * 2.0).tolist() == [2.0, 4.0]


def test_what_unpack_gives_is_a_tensor() -> None:
    def function(x: Tensor) -> Tensor:
        with ms.saved_tensors_hooks(lambda t: t, lambda value: 3):  # type: ignore[arg-type,return-value]
            return x * x

    with pytest.raises(RuntimeError) as raised:
        ms.grad(function)(X)
    assert str(raised.value).endswith("'unpack_hook' must return a Tensor, but got int")


def test_a_cell_has_hooks_of_its_own() -> None:
    from hookscope.engine import nn

    net, log = nn.Sigmoid(), []
    net.register_saved_tensors_hooks(lambda t: log.append("pack") or t, lambda t: log.append("unpack") or t)
    assert ms.grad(net)(Tensor([0.0])).item() == 0.25
    assert {"pack", "unpack"} == set(log)


def test_a_gradient_for_what_is_no_tensor_is_refused() -> None:
    class Doubled(_Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, factor: int) -> Tensor:
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Any:
            return g, g

    with pytest.raises(RuntimeError, match="returned Tensor as gradient 1; it must be None"):
        ms.grad(lambda x: Doubled.apply(x, 3))(X)


def test_only_tensors_and_none_are_saved_for_backward() -> None:
    context = _Function()
    context.save_for_backward(X, None)
    assert context.saved_tensors == (X, None)
    with pytest.raises(RuntimeError, match="argument 1 must be a Tensor or None, but got int; keep it as an attribute"):
        context.save_for_backward(X, 3)
