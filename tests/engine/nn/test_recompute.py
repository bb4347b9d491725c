"""Recompute: the same bits as without it, construct twice, and nothing else twice."""

from __future__ import annotations

import contextlib
import copy
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.engine.tape.taps import Tap, attach, detach

X = Tensor(np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32))


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.fc, self.drop, self.norm = nn.Dense(4, 4), nn.Dropout(p=0.5), nn.BatchNorm1d(4)

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(self.norm(self.drop(self.fc(x)))) * x + x


def network() -> nn.SequentialCell:
    return nn.SequentialCell(Block(), Block(), Block()).set_train()  # type: ignore[return-value]


def gradients(net: nn.Cell) -> list[Any]:
    ms.set_seed(3)
    value, (of_x, of_weights) = ms.value_and_grad(net, 0, net.trainable_params())(X)
    return [t.asnumpy().tobytes() for t in (value, of_x, *of_weights, *net.get_parameters())]


@pytest.mark.parametrize("at_once", [True, False])
def test_values_gradients_and_moving_statistics_have_the_same_bits(at_once: bool) -> None:
    plain = network()
    saving = copy.deepcopy(plain)
    for block in saving:
        block.recompute()
    if at_once:
        saving.recompute()
    assert gradients(plain) == gradients(saving)


def test_watching_changes_no_bit() -> None:
    watched, alone = network(), network()
    alone.load_state_dict(watched.state_dict())
    for net in (watched, alone):
        net[1].recompute()
    expected = gradients(alone)
    tap = Tap()
    attach(tap)
    try:
        assert gradients(watched) == expected
    finally:
        detach(tap)


def test_construct_runs_twice_and_the_cells_own_hooks_once() -> None:
    log: list[str] = []

    class Once(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            log.append("construct")
            return x * x

    net = Once()
    net.recompute()
    net.register_forward_pre_hook(lambda cell, inputs: log.append("pre"))
    net.register_forward_hook(lambda cell, inputs, output: log.append("forward"))
    net.register_backward_hook(lambda cell, grad_input, grad_output: log.append("backward"))
    assert ms.grad(net)(Tensor([3.0])).item() == 6.0
    assert log == ["pre", "construct", "forward", "construct", "backward"]


class Holding(nn.Cell):
    """Cell with blocks in a list, which is not called itself, and a method that calls one of them."""

    def __init__(self, records: list[str]) -> None:
        super().__init__()
        self.blocks = nn.CellList([Noting("0", records), Noting("1", records)])
        self.alone = Noting("alone", records)

    def construct(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return self.alone(x)


class Noting(nn.Cell):
    def __init__(self, name: str, records: list[str]) -> None:
        super().__init__()
        self.name, self.seen, self.inner = name, records, nn.Dense(4, 4, weight_init="ones", bias_init="ones")

    def construct(self, x: Tensor) -> Tensor:
        self.seen.append(self.name)
        return ops.tanh(self.inner(x)) * x


def test_it_reaches_the_cells_below() -> None:
    records: list[str] = []
    plain = gradients(Holding(records))
    records.clear()
    net = Holding(records)
    net.blocks.recompute()
    assert gradients(net) == plain and records == ["0", "1", "alone", "1", "0"]
    records.clear()
    net = Holding(records)
    net.recompute()
    assert gradients(net) == plain and records == ["0", "1", "alone"] * 2  # as parts of the whole, once more each
    records.clear()
    of_one = ms.grad(net.alone)(X)
    assert records == ["alone", "alone"]  # without a request of its own
    assert of_one.asnumpy().tobytes() == ms.grad(Holding([]).alone)(X).asnumpy().tobytes()
    assert [cell.get_scope() for _, cell in net.cells_and_names()] == ["recompute_"] * 8  # as MindSpore 2.10


def test_a_shared_cell_is_a_part_of_the_one_and_computed_again_beside_it() -> None:
    records: list[str] = []

    class Shared(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.SequentialCell(Noting("shared", records))
            self.other = self.first[0]

        def construct(self, x: Tensor) -> Tensor:
            return self.other(self.first(x))

    plain = gradients(Shared())
    records.clear()
    net = Shared()
    net.first.recompute()
    assert gradients(net) == plain and records == ["shared"] * 4
    again = copy.deepcopy(net)
    assert gradients(again) == plain


class Listed(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.CellList([nn.Dense(4, 4, weight_init="ones"), nn.Tanh(), nn.Dense(4, 4, weight_init="ones")])

    def construct(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x) * x
        return x


def test_compiled_it_reaches_the_cells_below_too() -> None:
    plain, net = Listed(), Listed()
    net.load_state_dict(plain.state_dict())
    net.blocks.recompute()

    @ms.jit
    def slopes(x: Tensor) -> Any:
        return ms.grad(net, 0, net.trainable_params())(x)

    of_x, of_weights = ms.grad(plain, 0, plain.trainable_params())(X)
    expected = [t.asnumpy().tobytes() for t in (of_x, *of_weights)]
    for _ in range(3):
        of_x, of_weights = slopes(X)
        assert [t.asnumpy().tobytes() for t in (of_x, *of_weights)] == expected


def test_a_cell_of_ones_own_setting_keeps_it() -> None:
    records: list[str] = []
    net = Holding([])

    def contexts() -> tuple[Any, Any]:
        records.append("own")
        return contextlib.nullcontext(), contextlib.nullcontext()

    net.alone.recompute(use_reentrant=False, context_fn=contexts)
    net.recompute()
    ms.grad(net.alone)(X)
    assert records == ["own"]


def test_a_custom_bprop_inside_is_used() -> None:
    class Tenfold(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x * 2.0

        def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Tensor:
            return dout * 10.0

    net = nn.SequentialCell(Tenfold())
    net.recompute()
    assert ms.grad(net)(Tensor([1.0])).item() == 10.0


def test_what_is_given_back_as_it_came_keeps_its_gradient() -> None:
    class Choice(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(Tensor([5.0, 7.0]), "w")

        def construct(self, x: Tensor, y: Tensor) -> Any:
            return y, self.w

    def f(x: Tensor, y: Tensor) -> Tensor:
        of_y, of_w = net(x, y)
        return (of_y * of_y).sum() + (of_w * of_w * 10.0).sum()

    net = Choice()
    net.recompute()
    of_inputs, (of_w,) = ms.grad(f, (0, 1), net.trainable_params())(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    assert [t.tolist() for t in of_inputs] == [[0.0, 0.0], [6.0, 8.0]]  # y's as MindSpore 2.10 has them
    assert of_w.tolist() == [100.0, 140.0]  # there an error


def test_a_hook_put_on_an_input_inside_fires_once() -> None:
    records: list[float] = []

    class Hooking(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            x.register_hook(lambda g: records.append(g.item()))
            return x * 3.0

    net = Hooking()
    net.recompute()
    ms.grad(lambda x: net(x * 1.0) * 2.0)(Tensor([1.0]))
    assert records == [6.0]


def test_backward_hooks_of_a_cell_inside_see_and_change_the_gradient() -> None:
    class Square(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x * x

    net, records = nn.SequentialCell(Square()), []

    def tripled(cell: nn.Cell, grad_input: Any, grad_output: Any) -> Any:
        records.append((grad_input[0].item(), grad_output[0].item()))
        return (grad_input[0] * 3.0,)

    net[0].register_backward_hook(tripled)
    net.recompute()
    # The gradient of 5 (2x)^2 is 40 x; the hook is behind the square of 2x, whose slope is 4x.
    assert ms.grad(lambda x: net(x * 2.0) * 5.0)(Tensor([1.0])).item() == 3.0 * 40.0
    assert records == [(20.0, 5.0)]


def test_buffers_are_in_the_second_run_what_they_were_in_the_first() -> None:
    class Counting(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", Tensor([1.0]))

        def construct(self, x: Tensor) -> Tensor:
            self.count.copy_(self.count + 1.0)
            return x * self.count

    net = nn.SequentialCell(Counting(), Counting())
    net.recompute()
    slopes = [ms.grad(net)(Tensor([1.0])).item() for _ in range(3)]
    assert slopes == [4.0, 9.0, 16.0]  # both counts go up by 1 with each call
    assert [cell.count.item() for cell in net] == [4.0, 4.0]


def test_second_derivatives_pass() -> None:
    class Wave(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return ops.sin(x) * x

    net = Wave()
    net.recompute()
    x = np.array([0.3, 0.7])
    second = ms.grad(lambda v: ms.grad(net)(v).sum())(Tensor(x)).asnumpy()
    np.testing.assert_allclose(second, 2 * np.cos(x) - x * np.sin(x), rtol=1e-12)


def test_what_a_function_holds_from_outside_has_its_gradient() -> None:
    w = Parameter(Tensor([2.0]), "w")
    y = Tensor([5.0])
    of_y, (of_w,) = ms.grad(lambda y: ms.recompute(lambda q: q * w * y, Tensor([3.0]), use_reentrant=False), 0, [w])(y)
    assert (of_y.item(), of_w.item()) == (6.0, 15.0)


def test_a_parameter_that_changes_before_the_gradient_comes_by() -> None:
    class Scaled(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = Parameter(Tensor([2.0]))

        def construct(self, x: Tensor) -> Tensor:
            return x * self.w

    net = Scaled()
    net.recompute()
    _, back = ms.vjp(net, Tensor([1.0]))
    net.w.set_data(Tensor([100.0]))
    assert (back(Tensor([1.0]))[0].item(), net.w.item()) == (2.0, 100.0)


def test_a_function_needs_use_reentrant_off() -> None:
    with pytest.raises(TypeError, match="'block' must be a Cell unless use_reentrant=False, but got function"):
        ms.recompute(lambda x: x, Tensor([1.0]))
    with pytest.raises(ValueError, match="'context_fn' needs use_reentrant=False"):
        ms.recompute(nn.ReLU(), Tensor([1.0]), context_fn=lambda: None)


@pytest.mark.parametrize("how", ["cell", "method"])
def test_the_function_computes_a_cell_again_with_the_bits_of_the_first_run(how: str) -> None:
    class Through(nn.Cell):
        def __init__(self, block: nn.Cell) -> None:
            super().__init__()
            self.block = block

        def construct(self, x: Tensor) -> Tensor:
            if how == "cell":
                return ms.recompute(self.block, x, save_rng_state=True)  # which MindSpore does not pass on
            return ms.recompute(self.block.construct, x, use_reentrant=False)

    plain = network()
    again = nn.SequentialCell(*[Through(block) for block in copy.deepcopy(plain)]).set_train()
    assert gradients(again) == gradients(plain)


class Pair(nn.Cell):
    def construct(self, x: Any, y: Any = None, *, z: Any = None) -> Tensor:
        x, *rest = [x, y, z] if isinstance(x, Tensor) else x
        for item in rest:
            if item is not None:
                x = ops.sin(x) * item + item * item
        return x


@pytest.mark.parametrize(
    "call",
    [
        lambda cell, x: cell(x, x),
        lambda cell, x: cell([x, x]),
        lambda cell, x: cell(x, z=x),
        lambda cell, x: cell(x, x, z=x),
        lambda cell, x: cell(x, x[:]),
        lambda cell, x: cell(x[1:], x[:2]),
        lambda cell, x: cell(x.T, x.T),
        lambda cell, x: cell((x, x.T.T, x)),
        lambda cell, x: cell(X, X) + cell(x, X),
    ],
)
def test_one_tensor_in_several_arguments_has_the_gradient_that_it_has_without(call: Any) -> None:
    results = []
    for again in (False, True):
        cell = Pair()
        if again:
            cell.recompute()
        value = ms.value_and_grad(lambda x, cell=cell: call(cell, x * 1.5).sum(), 0)(X)
        results.append([t.asnumpy().tobytes() for t in value])
    assert results[0] == results[1]


def test_contexts_are_for_what_is_not_reentrant() -> None:
    entered: list[str] = []

    @contextlib.contextmanager
    def noting(name: str) -> Iterator[None]:
        entered.append(name)
        yield

    def contexts() -> tuple[Any, Any]:
        return noting("first"), noting("second")

    def run(block: nn.Cell, **keywords: Any) -> list[str]:
        entered.clear()
        assert ms.grad(lambda x: ms.recompute(block, x, **keywords))(Tensor([1.0, -1.0])).tolist() == [1.0, 0.0]
        return list(entered)

    for keywords in ({"use_reentrant": False}, {"output_recompute": True}):
        assert run(nn.ReLU(), context_fn=contexts, **keywords) == ["first", "second"]
        cell = nn.ReLU()
        cell.recompute(context_fn=contexts, **keywords)
        entered.clear()
        assert ms.grad(cell)(Tensor([1.0, -1.0])).tolist() == [1.0, 0.0]
        assert entered == ["first", "second"]
        assert run(nn.ReLU(), **keywords) == []
    for keywords in ({}, {"use_reentrant": True}, {"use_reentrant": True, "output_recompute": False}):
        with pytest.raises(ValueError, match="'context_fn' needs use_reentrant=False"):
            nn.ReLU().recompute(context_fn=contexts, **keywords)
        with pytest.raises(ValueError, match="'context_fn' needs use_reentrant=False"):
            run(nn.ReLU(), context_fn=contexts, **keywords)


def test_activations_are_not_kept() -> None:
    class Wide(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            for _ in range(8):
                x = ops.tanh(x)
            return x

    def peak(net: nn.Cell) -> int:
        x = Tensor(np.zeros((256, 256), np.float32))
        ms.grad(net)(x)  # memory of first loads stays allocated
        tracemalloc.start()
        try:
            ms.grad(net)(x)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    plain, saving = nn.SequentialCell(*[Wide() for _ in range(8)]), nn.SequentialCell(*[Wide() for _ in range(8)])
    for cell in saving:
        cell.recompute()
    assert peak(saving) < peak(plain) / 2


class GivesBack(nn.Cell):
    """Cell that returns its inputs and, in turns, results computed from them."""

    def __init__(self, prepared: Callable[[nn.Cell], nn.Cell], factors: list[Tensor]) -> None:
        super().__init__()
        self.same, self.factors = prepared(nn.Identity()), factors

    def construct(self, x: Tensor, y: Tensor) -> Any:
        a, b, c, d = self.factors
        return x * a + y * b + x * c + self.same(y) * d, x, y


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_values_that_are_given_back_or_given_twice_sum_their_gradients_in_the_same_order(
    order: int, watched: bool
) -> None:
    draw = np.random.default_rng(5)
    x, *factors = (Tensor(draw.normal(size=256).astype(np.float32)) for _ in range(5))

    def again(cell: nn.Cell) -> nn.Cell:
        cell.recompute()
        return cell

    def hooked(cell: nn.Cell) -> nn.Cell:
        cell.register_forward_hook(lambda cell, inputs, output: None)
        cell.register_backward_hook(lambda cell, grad_input, grad_output: None)
        return cell

    def bits(prepared: Callable[[nn.Cell], nn.Cell]) -> bytes:
        cell = prepared(GivesBack(prepared, factors))

        def loss(value: Tensor) -> Tensor:
            h = value * factors[0]
            p, q, r = cell(h, h)
            return (h * factors[1] + p * q + r * factors[2] + q * factors[3] + h * h).sum()

        gradient = ms.grad(loss) if order == 1 else ms.grad(lambda value: (ms.grad(loss)(value) * value).sum())
        with DebugSession(cell) if watched else contextlib.nullcontext():
            return gradient(x).asnumpy().tobytes()

    expected = bits(lambda cell: cell)
    for prepared in (again, hooked, lambda cell: again(hooked(cell))):
        assert bits(prepared) == expected
