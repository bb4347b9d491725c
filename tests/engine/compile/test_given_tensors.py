"""Identities of a plan's results are the eager ones: arguments, the same tensor twice, views; and writes to them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.compile import plans_of


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(4, 4)
        self.w = Parameter(Tensor([1.0, 2.0, 3.0, 4.0]), name="w")
        self.kept = Tensor([4.0, 3.0, 2.0, 1.0])

    def construct(self, x: Tensor) -> Tensor:
        result: Tensor = self.dense(x * self.w)
        return result


def itself(net: Net, x: Tensor) -> Any:
    return x


def among_others(net: Net, x: Tensor) -> Any:
    return {"x": x, "y": [x * 2, (net.w, net.kept)]}


def twice(net: Net, x: Tensor) -> Any:
    y = x * 2
    return y, [y, x * 3], y


def reshaped(net: Net, x: Tensor) -> Any:
    return x.reshape((2, 2)).T


def element(net: Net, x: Tensor) -> Any:
    return x[0], x[1:], x[1:][1]


def parts_of_what_is_made(net: Net, x: Tensor) -> Any:
    return ops.chunk(x * 2, 2)


def made_and_its_parts(net: Net, x: Tensor) -> Any:
    y = x * 2
    return y[:3], y, y.reshape((2, 2))[0]


def parts_that_overlap(net: Net, x: Tensor) -> Any:
    y = x * 2
    return y[:3], y[1:]


def parts_from_elsewhere(net: Net, x: Tensor) -> Any:
    return net.kept[:2], net.w.reshape((2, 2)), net.w * x


def picked(net: Net, x: Tensor) -> Any:
    return x[[0, 2]], net.kept[x.astype(ms.int32) % 4]


def picked_before_a_change(net: Net, x: Tensor) -> Any:
    y = x * 2
    z = y[[0, 2]]
    y.add_(1.0)
    return z, y


def picked_of_a_part(net: Net, x: Tensor) -> Any:
    return x[1:][[0, 2]] * 1, x.reshape((2, 2)).diagonal()


def other_names(net: Net, x: Tensor) -> Any:
    return ops.stop_gradient(x), Tensor(x)


def written(net: Net, x: Tensor) -> Any:
    x[0] = 5.0
    return x


def added_to(net: Net, x: Tensor) -> Any:
    x.add_(net.w)
    net.kept.mul_(2.0)
    return x * 2


def changed_parameter(net: Net, x: Tensor) -> Any:
    ops.assign(net.w, net.w * 0.5 + x)
    return net.w, net.w * 2


FUNCTIONS: list[Callable[[Net, Tensor], Any]] = [
    itself,
    among_others,
    twice,
    reshaped,
    element,
    parts_of_what_is_made,
    made_and_its_parts,
    parts_that_overlap,
    parts_from_elsewhere,
    picked,
    picked_before_a_change,
    picked_of_a_part,
    other_names,
    written,
    added_to,
    changed_parameter,
]


def tensors_in(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [tensor for part in parts for tensor in tensors_in(part)]


def outcome(function: Callable[[Net, Tensor], Any], by_plans: bool) -> tuple[list[Any], int]:
    """Return the results of four calls, their identities, and the effect of a write to each tensor; and the replays."""
    ms.set_seed(1)
    net = Net()

    def called(x: Tensor) -> Any:
        return function(net, x)

    call = ms.jit(called) if by_plans else called
    results = []
    for number in range(4):
        x = Tensor(np.arange(4, dtype=np.float32) + number)
        argument = x
        if number == 3:  # a part of another one
            x = Tensor(np.arange(8, dtype=np.float32))
            argument = x[2:6]
        result = call(argument)
        objects = [*tensors_in(result), argument, x, net.w, net.kept]
        results.append([type(result), [item.asnumpy().tolist() for item in objects]])
        results.append([[item is other for other in objects] for item in objects])
        for index, entry in enumerate(objects):
            if entry.ndim:
                entry[...] = 10.0 * number + index
                results.append([other.asnumpy().tolist() for other in objects])
        net.w.set_data(Tensor([1.0, 2.0, 3.0, 4.0]))
    return results, plans_of(call)[0].counts["replayed"] if by_plans else 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_identities_and_the_effects_of_writes_are_the_eager_ones(function: Callable[[Net, Tensor], Any]) -> None:
    eager, _ = outcome(function, by_plans=False)
    result, replayed = outcome(function, by_plans=True)
    assert result == eager
    assert replayed >= 2


def test_a_tensor_that_has_views_is_changed_eagerly() -> None:
    @ms.jit
    def doubled(x: Tensor) -> Tensor:
        x.mul_(2.0)
        return x + 1

    for _ in range(2):
        doubled(Tensor([1.0, 2.0]))
    x = Tensor([1.0, 2.0])
    part = x[1:]
    assert doubled(x).asnumpy().tolist() == [3, 5]
    assert part.asnumpy().tolist() == [4]
    assert plans_of(doubled)[0].counts == {"traced": 1, "replayed": 1, "eager": 1, "refused": 0}


def test_a_part_of_a_tensor_that_is_changed_changes_with_it() -> None:
    captured = Tensor([1.0, 2.0, 3.0])

    @ms.jit
    def added(x: Tensor) -> Tensor:
        captured.mul_(2.0)
        return x + 1

    for _ in range(3):
        assert added(Tensor([1.0, 2.0])).asnumpy().tolist() == [2, 3]
    assert added(captured[1:]).asnumpy().tolist() == [33, 49]
    assert plans_of(added)[0].counts == {"traced": 1, "replayed": 2, "eager": 1, "refused": 0}


def test_an_optimizer_steps_from_what_was_assigned_before() -> None:
    def run(by_plans: bool) -> list[Any]:
        ms.set_seed(1)
        net = Net()
        optimizer = nn.Adam(net.trainable_params(), 0.1)
        gradient = ms.grad(lambda x: net(x).sum(), None, net.trainable_params())

        def step(x: Tensor) -> Tensor:
            for _ in range(2):
                ops.assign(net.w, net.w * 0.5)
                optimizer(gradient(x))
            return net(x)

        call = ms.jit(step) if by_plans else step
        results = [call(Tensor(np.ones((1, 4), np.float32))).asnumpy().tolist() for _ in range(4)]
        if by_plans:
            assert plans_of(call)[0].counts["replayed"] == 3
        return [results, [p.asnumpy().tolist() for p in optimizer.get_parameters()]]

    assert run(by_plans=True) == run(by_plans=False)


def test_keywords_are_no_positional_arguments() -> None:
    @ms.jit
    def added(x: Tensor, y: float | None = None) -> Tensor:
        return x * 1 if y is None else x + y

    assert [added(Tensor([1.0]), y=1.5).item() for _ in range(3)] == [2.5] * 3
    assert added(Tensor([1.0])).item() == 1


def test_one_tensor_twice_is_not_two() -> None:
    @ms.jit
    def apart(x: Tensor, y: Tensor) -> Tensor:
        return x - y

    x = Tensor([3.0])
    assert [apart(x, x).item() for _ in range(3)] == [0] * 3
    assert [apart(x, Tensor([1.0])).item() for _ in range(3)] == [2] * 3


def test_two_tensors_of_one_array_are_neither_one_tensor_nor_two_arrays() -> None:
    pair = ms.jit(lambda x: (lambda y: (y, copy.copy(y)))(x * 2))
    pair(Tensor([1.0]))  # from now on by a plan, whose result has one array twice

    def apart(x: Tensor, y: Tensor) -> Tensor:
        return x - y + (1.0 if x is y else 0.0)

    makes: list[Callable[[], Any]] = [
        lambda: pair(Tensor([1.0])),
        lambda: (Tensor([5.0]), Tensor([2.0])),
        lambda: (Tensor([5.0]),) * 2,
    ]
    for first, then in itertools.permutations(makes, 2):
        compiled = ms.jit(apart)
        for make in (first, first, first, then, first, then):
            assert compiled(*make()).item() == apart(*make()).item()


def test_a_tensor_with_a_hook_is_not_one_without() -> None:
    gradient = ms.jit(ms.grad(lambda x: (x * x).sum()))
    hooked = Tensor([3.0])
    hooked.register_hook(lambda g: g * 10)
    assert [gradient(hooked).item() for _ in range(3)] == [60] * 3
    assert [gradient(Tensor([3.0])).item() for _ in range(3)] == [6] * 3


def test_a_plan_is_not_for_another_object_with_the_identity_of_one_that_is_gone() -> None:
    @ms.jit
    def times(x: Tensor, by: np.float32) -> Tensor:
        return x * float(by)

    results = []
    for number in range(8):
        results.append(times(Tensor([1.0]), np.float32(number)).item())
    assert results == list(range(8))


def test_an_argument_that_is_read_from_elsewhere_leaves_plans_to_other_calls() -> None:
    captured = Tensor([1.0, 2.0])

    @ms.jit
    def added(x: Tensor) -> Tensor:
        return x + captured

    with pytest.warns(UserWarning, match="an argument is one of the tensors that it reads from elsewhere"):
        assert added(captured).asnumpy().tolist() == [2, 4]
    for _ in range(3):
        assert added(Tensor([1.0, 1.0])).asnumpy().tolist() == [2, 3]
    assert added(captured).asnumpy().tolist() == [2, 4]
    assert plans_of(added)[0].counts == {"traced": 1, "replayed": 2, "eager": 2, "refused": 0}


@pytest.mark.parametrize("is_argument", [True, False])
@pytest.mark.filterwarnings("ignore:no plan can be made")
def test_a_run_that_is_undone_leaves_what_shares_elements_as_it_was(is_argument: bool) -> None:
    class Writes(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            target = x if is_argument else part
            target[0] = 9.0
            return target * 2

    root = Tensor([1.0, 2.0, 3.0])
    part, other = root[:2], root[:1]
    Writes().compile(part if is_argument else Tensor([1.0]))
    assert [item.asnumpy().tolist() for item in (root, part, other)] == [[1, 2, 3], [1, 2], [1]]
    other[0] = 5.0
    assert [item.asnumpy().tolist() for item in (root, part, other)] == [[5, 2, 3], [5, 2], [5]]


def test_a_gradient_reaches_what_was_written_to_a_view_that_a_function_returns() -> None:
    def written(captured: Tensor) -> Callable[[Tensor], Any]:
        def write(x: Tensor) -> tuple[Tensor, Tensor]:
            view = captured[1:3]
            view[0] = x[0]
            return captured * 1, view

        return write

    plain, compiled = [written(Tensor([1.0, 2.0, 3.0])) for _ in range(2)]
    compiled = ms.jit(compiled)
    for number in range(1, 5):
        x = Tensor([float(number)])
        gradient, expected = [
            ms.grad(lambda x, f=f: sum((y * y).sum() for y in f(x)))(x).item() for f in (compiled, plain)
        ]
        assert gradient == expected == 4.0 * number


def test_of_many_arguments_one_that_is_read_from_elsewhere_too_is_seen() -> None:
    captured = Tensor([1.0, 2.0])

    @ms.jit
    def added(*argument: Tensor) -> Tensor:
        return sum(argument[1:], argument[0]) + captured * (100 if any(item is captured for item in argument) else 1)

    others = [Tensor([1.0, 1.0]) for _ in range(5)]
    for _ in range(4):
        assert added(*others).asnumpy().tolist() == [6, 7]
    with pytest.warns(UserWarning, match="an argument is one of the tensors that it reads from elsewhere"):
        assert added(*others[1:], captured).asnumpy().tolist() == [105, 206]
