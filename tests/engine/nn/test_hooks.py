"""Hooks on cells and tensors: their order, what they may change, how they leave, and what their errors say."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, nn, ops

KINDS = ("forward_pre", "forward", "backward_pre", "backward")
ARGUMENTS = {
    "forward_pre": "cell, inputs",
    "forward": "cell, inputs, output",
    "backward_pre": "cell, grad_output",
    "backward": "cell, grad_input, grad_output",
}


class Square(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * x


class Outer(nn.Cell):
    """b(a(x)) with a and b squares."""

    def __init__(self) -> None:
        super().__init__()
        self.a = Square()
        self.b = Square()

    def construct(self, x: Tensor) -> Tensor:
        return self.b(self.a(x))


class Product(nn.Cell):
    def construct(self, x: Tensor, y: Any, scale: Any = 1.0) -> Tensor:
        return x * y * scale


X = Tensor([2.0, 3.0])


def register(cell: nn.Cell, kind: str, hook: Any, **how: Any) -> Any:
    return getattr(cell, f"register_{kind}_hook")(hook, **how)


def values(gradients: Any) -> list[Any]:
    return [None if g is None else g.tolist() for g in gradients]


# Order


def test_order_around_nested_cells() -> None:
    net, records = Outer(), []
    for name, cell in (("outer", net), ("a", net.a), ("b", net.b)):
        for kind in KINDS:
            register(cell, kind, lambda *_, event=f"{kind} {name}": records.append(event))
    grad(net)(X)
    assert records == [
        "forward_pre outer",
        "forward_pre a",
        "forward a",
        "forward_pre b",
        "forward b",
        "forward outer",
        "backward_pre outer",
        "backward_pre b",
        "backward b",
        "backward_pre a",
        "backward a",
        "backward outer",
    ]


@pytest.mark.parametrize("kind", ["forward_pre", "forward"])
def test_hooks_of_one_kind_run_in_the_order_of_registering_prepended_ones_first(kind: str) -> None:
    net, records = Square(), []
    register(net, kind, lambda *_: records.append(1))
    register(net, kind, lambda *_: records.append(2))
    register(net, kind, lambda *_: records.append(0), prepend=True)
    net(X)
    assert records == [0, 1, 2]


def test_operators_of_a_forward_hook_are_inside_what_backward_hooks_see_those_of_a_pre_hook_outside() -> None:
    net, records = Square(), []
    net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] * 10.0,))
    net.register_forward_hook(lambda cell, inputs, output: output * 3.0)
    net.register_backward_hook(lambda cell, into, out: records.append((values(into), values(out))))
    gradient = grad(net)(Tensor([1.0]))
    # Inside: 3 u**2 at u = 10, which is 60; outside it: u = 10 x.
    assert records == [([[60.0]], [[1.0]])]
    assert gradient.tolist() == [600.0]


# Arguments and results of hooks


def test_forward_pre_replaces_inputs_and_forward_replaces_the_output() -> None:
    net, records = Square(), []
    net.register_forward_pre_hook(lambda cell, inputs: inputs[0] + 1.0)
    net.register_forward_hook(lambda cell, inputs, output: (records.append(values(inputs)), output * 10.0)[1])
    assert net(X).tolist() == [90.0, 160.0]
    assert records == [[[3.0, 4.0]]]


def test_with_kwargs_hooks_see_and_replace_keywords() -> None:
    net = Product()
    net.register_forward_pre_hook(lambda cell, args, kwargs: (args, {"scale": 5.0}), with_kwargs=True)
    records: list[Any] = []
    net.register_forward_hook(lambda cell, args, kwargs, output: records.append(kwargs), with_kwargs=True)
    assert net(X, X, scale=2.0).tolist() == [20.0, 45.0]
    assert records == [{"scale": 5.0}]


def test_with_kwargs_hooks_get_the_cell_its_inputs_and_its_keywords() -> None:
    net, records = Product(), []
    net.register_forward_pre_hook(lambda *arguments: records.append(arguments), with_kwargs=True)
    net.register_forward_hook(lambda *arguments: records.append(arguments), with_kwargs=True)
    output = net(X, X, scale=2.0)
    assert records[0][0] is records[1][0] is net
    assert records[0][1:] == ((X, X), {"scale": 2.0})
    assert records[1][1:3] == ((X, X), {"scale": 2.0}) and records[1][3] is output and len(records[1]) == 4


def test_a_with_kwargs_pre_hook_returns_a_pair() -> None:
    net = Product()
    handle = net.register_forward_pre_hook(lambda cell, args, kwargs: args[0], with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"must return None or a pair \(args, kwargs\)"):
        net(X, X)
    handle.remove()
    net.register_forward_pre_hook(lambda cell, args, kwargs: (args, 3), with_kwargs=True)
    with pytest.raises(TypeError, match="must return a dict as kwargs, but got int"):
        net(X, X)


@pytest.mark.parametrize("kind", ["register_backward_hook", "register_backward_pre_hook"])
@pytest.mark.parametrize("returned", [Tensor([1.0, 2.0, 3.0]), Tensor(1.0), X.astype(ms.float16)])
def test_a_gradient_from_a_hook_keeps_shape_and_dtype(kind: str, returned: Tensor) -> None:
    net = nn.ReLU()
    getattr(net, kind)(lambda cell, *gradients: returned)
    with pytest.raises(ValueError, match="must return gradients of the shapes and dtypes that came"):
        grad(net)(X)


def test_a_hook_on_a_tensor_returns_a_tensor_or_none() -> None:
    def function(x: Tensor) -> Tensor:
        y = x * 2.0
        y.register_hook(lambda gradient: 3)
        return y

    with pytest.raises(RuntimeError, match="must return a Tensor or None, but got int"):
        grad(function)(X)


def test_always_call_runs_also_when_construct_raised() -> None:
    class Failing(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            raise ZeroDivisionError

    net, records = Failing(), []
    net.register_forward_hook(lambda cell, inputs, output: records.append(output), always_call=True)
    net.register_forward_hook(lambda cell, inputs, output: records.append("not this one"))
    with pytest.raises(ZeroDivisionError):
        net(X)
    assert records == [None]
    net.register_forward_hook(lambda *arguments: records.append(arguments), always_call=True, with_kwargs=True)
    with pytest.raises(ZeroDivisionError):
        net(x=X)
    assert records == [None, None, (net, (), {"x": X}, None)]


def test_backward_pre_replaces_what_arrives_and_backward_what_leaves() -> None:
    net = Square()
    net.register_backward_pre_hook(lambda cell, out: (out[0] * 10.0,))
    net.register_backward_hook(lambda cell, into, out: into[0] + out[0])
    # 2 x * 10 leaves, and the 10 that arrived is added.
    assert grad(net)(X).tolist() == [50.0, 70.0]


def test_backward_hooks_chain() -> None:
    net = Square()
    for factor in (2.0, 3.0):
        net.register_backward_hook(lambda cell, into, out, factor=factor: (into[0] * factor,))
    assert grad(net)(X).tolist() == [24.0, 36.0]


def test_grad_input_has_a_slot_for_each_tensor_and_none_for_numbers() -> None:
    net, records = Product(), []
    net.register_backward_hook(lambda cell, into, out: records.append(values(into)))
    grad(lambda x, y: net(x, y, 2.0), (0, 1))(X, X)
    grad(lambda x: net(x, 3.0))(X)
    grad(lambda x: net(x, Tensor([2.0, 3.0]), scale=Tensor([1.0, 1.0])))(X)
    assert records == [[[4.0, 6.0], [4.0, 6.0]], [[3.0, 3.0]], [[2.0, 3.0], None]]


def test_a_list_has_no_slot_and_its_gradient_passes_on() -> None:
    class Sum(nn.Cell):
        def construct(self, pair: Any, x: Tensor) -> Tensor:
            return pair[0] * pair[1] * x

    net, records = Sum(), []
    net.register_backward_hook(lambda cell, into, out: records.append(values(into)))
    assert grad(lambda x: net([x, x], x))(X).tolist() == [12.0, 27.0]
    assert records == [[[4.0, 9.0]]]


def test_unused_outputs_are_none() -> None:
    class Two(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            return x * 2.0, x * 3.0

    net, records = Two(), []
    net.register_backward_pre_hook(lambda cell, out: records.append(values(out)))
    assert grad(lambda x: net(x)[1])(X).tolist() == [3.0, 3.0]
    assert records == [[None, [1.0, 1.0]]]


def test_a_cell_called_twice_has_its_hooks_called_for_each() -> None:
    net, records = Square(), []
    net.register_backward_hook(lambda cell, into, out: records.append((values(into), values(out))))
    assert grad(lambda x: net(net(x)))(Tensor([2.0])).tolist() == [32.0]
    assert records == [([[8.0]], [[1.0]]), ([[32.0]], [[8.0]])]


def test_hooks_do_not_change_bits() -> None:
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(5, 7), nn.Tanh(), nn.Dense(7, 3))
    x = Tensor(np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32))
    plain = grad(net, 0, net.trainable_params())(x)
    for _, cell in net.cells_and_names():
        for kind in KINDS:
            register(cell, kind, lambda *_: None)
    hooked = grad(net, 0, net.trainable_params())(x)
    assert [g.asnumpy().tobytes() for g in (plain[0], *plain[1])] == [
        g.asnumpy().tobytes() for g in (hooked[0], *hooked[1])
    ]


def test_hook_backward_sends_nothing_to_a_value_that_is_not_used() -> None:
    def function(x: Any) -> Any:
        used, _ = ops.HookBackward(lambda g: records.append(values(g)))(x * 2, ops.log(x))
        return used.sum()

    records: list[Any] = []
    assert grad(function)(Tensor([0.0, 1.0])).tolist() == [2.0, 2.0]  # and not 0 / 0
    assert records == [[[1.0, 1.0], [0.0, 0.0]]]


def test_a_hook_on_a_parameterised_cell_sees_the_gradient_of_its_input_though_only_weights_are_asked_for() -> None:
    net, records = nn.Dense(2, 1, weight_init="ones"), []
    net.register_backward_hook(lambda cell, into, out: records.append(values(out)))
    grad(net, None, net.trainable_params())(Tensor([[1.0, 2.0]]))
    assert records == [[[[1.0]]]]


def test_backward_hooks_take_part_in_second_derivatives() -> None:
    net = Square()
    net.register_backward_hook(lambda cell, into, out: (into[0] * into[0],))
    # The first derivative is (2 x)**2, so the second is 8 x.
    assert grad(grad(net))(X).tolist() == [16.0, 24.0]


# Leaving


def test_remove_is_idempotent_and_ends_the_calls() -> None:
    for kind in KINDS:
        net, log = Square(), []
        handle = register(net, kind, lambda *_, log=log: log.append(1))
        grad(net)(X)
        handle.remove()
        handle.remove()
        grad(net)(X)
        assert log == [1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_may_remove_itself_while_it_runs(kind: str) -> None:
    net, records = Square(), []

    def once(*_: Any) -> None:
        records.append("once")
        handle.remove()

    handle = register(net, kind, once)
    register(net, kind, lambda *_: records.append("always"))
    for _ in range(2):
        grad(net)(X)
    assert records == ["once", "always", "always"]


@pytest.mark.parametrize("kind", KINDS)
def test_replace_takes_off_the_hook_of_the_same_name(kind: str) -> None:
    net, records = Square(), []

    def cell_of_a_notebook(version: int) -> None:
        def watch(*_: Any) -> None:
            records.append(version)

        register(net, kind, watch, replace=True)

    register(net, kind, lambda *_: records.append("other"))
    cell_of_a_notebook(1)
    cell_of_a_notebook(2)
    grad(net)(X)
    assert records == ["other", 2]


def test_a_copied_network_has_hooks_of_its_own() -> None:
    net, records = Outer(), []
    net.a.register_backward_hook(lambda cell, into, out: records.append(cell))
    copied = copy.deepcopy(net)
    grad(copied)(X)
    assert records == [copied.a]
    assert copied.a is not net.a


def test_a_handle_kept_in_a_copied_network_removes_the_copys_hook() -> None:
    class Keeping(Square):
        def __init__(self, records: list[int]) -> None:
            super().__init__()
            self.handle = self.register_forward_hook(lambda *_: records.append(1))

    records: list[int] = []
    net = Keeping(records)
    copied = copy.deepcopy(net)
    copied.handle.remove()
    copied(X)
    assert records == []
    net(X)
    assert records == [1]


# Arity and errors


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_of_the_wrong_arity_is_refused_with_the_expected_signature(kind: str) -> None:
    net = Square()

    def alone(cell: Any) -> None: ...

    count = len(ARGUMENTS[kind].split())
    expected = (
        rf"register_{kind}_hook', the hook must take {count} arguments, as hook\({ARGUMENTS[kind]}\), but got alone"
    )
    with pytest.raises(TypeError, match=expected):
        register(net, kind, alone)
    with pytest.raises(TypeError, match="expected a callable hook function"):
        register(net, kind, "no function")
    assert net(X).tolist() == [4.0, 9.0]


@pytest.mark.parametrize(("kind", "count"), [("forward_pre", 3), ("forward", 4)])
def test_with_kwargs_asks_for_one_argument_more(kind: str, count: int) -> None:
    with pytest.raises(TypeError, match=f"must take {count} arguments"):
        register(Square(), kind, lambda cell: None, with_kwargs=True)


def test_callables_of_every_kind_are_hooks() -> None:
    class Hook:
        def __call__(self, cell: Any, inputs: Any) -> None: ...

        def method(self, cell: Any, inputs: Any, optional: int = 0) -> None: ...

    net = Square()
    for hook in (Hook(), Hook().method, lambda *anything: None):
        net.register_forward_pre_hook(hook)
    net(X)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_in_a_hook_names_the_kind_the_function_and_the_cells_path(kind: str) -> None:
    net = nn.SequentialCell(Square(), Outer())

    def broken(*_: Any) -> None:
        raise ZeroDivisionError("inside")

    register(net[1].b, kind, broken)
    with pytest.raises(ZeroDivisionError, match="inside") as caught:
        grad(net)(X)
    (note,) = caught.value.__notes__
    assert note.startswith(f"raised by the {kind} hook '")
    assert "broken' of cell '1.b' (Square)" in note


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (lambda g: [g], "must return None, a tensor or a tuple of tensors, but got list"),
        (lambda g: (g, g), "must return 1 gradients, but got 2"),
        (lambda g: (None,), "must return tensors, but got NoneType as entry 0"),
        (lambda g: 3.0, "but got float"),
    ],
)
@pytest.mark.parametrize("kind", ["backward_pre", "backward"])
def test_a_backward_hook_that_returns_no_gradients_is_refused(kind: str, returned: Any, text: str) -> None:
    net = Outer()
    register(net.b, kind, lambda cell, *gradients: returned(gradients[0][0]))
    with pytest.raises(TypeError, match=f"the {kind} hook .* of cell 'b' \\(Square\\) .*{text}"):
        grad(net)(X)


# jit


@pytest.mark.filterwarnings("ignore:no plan can be made")
def test_hooks_of_cells_are_called_under_jit_as_elsewhere() -> None:
    net, records = Square(), []
    for kind in KINDS:
        register(net, kind, lambda *_: records.append(1))

    @ms.jit
    def compiled(x: Tensor) -> Tensor:
        return net(x)

    for times in (1, 2):
        assert grad(compiled)(X).tolist() == [4.0, 6.0]
        assert records == [1] * 4 * times


def test_jit_takes_options_and_wants_a_function() -> None:
    assert ms.jit(jit_level="O0")(lambda x: x * 2.0)(X).tolist() == [4.0, 6.0]
    with pytest.warns(UserWarning, match="'jit' returns int 3 as it is"):
        assert ms.jit(3) == 3  # type: ignore[arg-type]


# HookBackward


def test_hook_backward_sees_a_tuple_and_replaces_it() -> None:
    records: list[Any] = []

    def doubled(gradients: Any) -> Any:
        records.append(values(gradients))
        return gradients[0] * 2.0, gradients[1]

    hook = ops.HookBackward(doubled)

    def function(x: Tensor, y: Tensor) -> Tensor:
        x, y = hook(x, y)
        return x * y

    of_x, of_y = grad(function, (0, 1))(X, Tensor([5.0, 7.0]))
    assert records == [[[5.0, 7.0], [2.0, 3.0]]]
    assert (of_x.tolist(), of_y.tolist()) == ([10.0, 14.0], [2.0, 3.0])


def test_hook_backward_passes_values_on_outside_a_recording() -> None:
    hook = ops.HookBackward(lambda gradients: None)
    assert hook(X) is X


def test_hook_backward_refuses_what_it_cannot_use() -> None:
    with pytest.raises(TypeError, match=r"'HookBackward', the hook must take 1 arguments, as hook_fn\(grad_out\)"):
        ops.HookBackward(lambda: None)  # type: ignore[arg-type, misc]
    with pytest.raises(TypeError, match="'cell_id' must be a str, but got int"):
        ops.HookBackward(lambda g: None, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="input 0 must be a Tensor, but got float"):
        ops.HookBackward(lambda g: None)(1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the hook function of HookBackward must return 1 gradients, but got 2"):
        grad(ops.HookBackward(lambda g: (g[0], g[0])))(X)


# Tensor.register_hook


def test_a_tensor_hook_sees_the_whole_gradient_once_and_replaces_it() -> None:
    records: list[Any] = []

    def function(x: Tensor) -> Tensor:
        y = x * 2.0
        y.register_hook(lambda g: (records.append(g.tolist()), g * 10.0)[1])
        return y * y + y

    assert grad(function)(X).tolist() == [2 * 10 * 9.0, 2 * 10 * 13.0]
    assert records == [[9.0, 13.0]]


def test_tensor_hooks_chain_and_none_keeps_the_gradient() -> None:
    def function(x: Tensor) -> Tensor:
        y = x * 1.0
        y.register_hook(lambda g: None)
        y.register_hook(lambda g: g + 1.0)
        y.register_hook(lambda g: g * 2.0)
        return y

    assert grad(function)(X).tolist() == [4.0, 4.0]


def test_hooks_on_inputs_and_parameters_stay_until_removed() -> None:
    w, x = Parameter(Tensor([4.0, 6.0]), "w"), Tensor([2.0, 3.0])
    handles = [w.register_hook(lambda g: g * 10.0), x.register_hook(lambda g: g * 100.0)]
    request = grad(lambda t: t * w, 0, [w])
    for _ in range(2):
        of_x, (of_w,) = request(x)
        assert (of_x.tolist(), of_w.tolist()) == ([400.0, 600.0], [20.0, 30.0])
    for handle in handles:
        handle.remove()
    of_x, (of_w,) = request(x)
    assert (of_x.tolist(), of_w.tolist()) == ([4.0, 6.0], [2.0, 3.0])


def test_a_hook_on_a_parameter_that_is_not_reached_is_told_of_zeros() -> None:
    # As recorded from MindSpore 2.10: if its gradient is requested, and the hook's result is the gradient.
    p, q = Parameter(Tensor([2.0]), "p"), Parameter(Tensor([3.0]), "q")
    records: list[tuple[str, Any]] = []
    p.register_hook(lambda g: records.append(("p", g.tolist())))
    q.register_hook(lambda g: (records.append(("q", g.tolist())), g + 5.0)[1])
    of_x, (of_p, of_q) = grad(lambda x: x * p, 0, [p, q])(Tensor([5.0]))
    assert (of_x.tolist(), of_p.tolist(), of_q.tolist()) == ([2.0], [5.0], [5.0])
    assert records == [("p", [5.0]), ("q", [0.0])]
    records.clear()
    grad(lambda x: x * p, 0, [p])(Tensor([5.0]))
    assert records == [("p", [5.0])]


def test_a_frozen_parameter_takes_no_hook() -> None:
    frozen = Parameter(Tensor([2.0]), "p", requires_grad=False)
    with pytest.raises(RuntimeError, match="'p' must have 'requires_grad' True: otherwise it gets no gradient"):
        frozen.register_hook(lambda g: g)


@pytest.mark.parametrize("first", [False, True])
def test_a_parameter_that_is_frozen_during_the_run_has_a_gradient_of_zeros(first: bool) -> None:
    # As recorded from MindSpore 2.10, before and after the parameter was used.
    class Freezing(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w, self.b = Parameter(Tensor([2.0]), "w"), Parameter(Tensor([1.0]), "b")
            self.w.register_hook(lambda g: records.append(g.tolist()))

        def construct(self, x: Tensor) -> Tensor:
            self.w.requires_grad = not first
            y = x * self.w
            self.w.requires_grad = False
            return y + self.b

    records: list[Any] = []
    net = Freezing()
    of_x, (of_w, of_b) = grad(net, 0, [net.w, net.b])(Tensor([3.0]))
    assert (of_x.tolist(), of_w.tolist(), of_b.tolist(), records) == ([2.0], [0.0], [1.0], [])


# The first letter is requires_grad; then T and F switch it, and u is a use, with the factors 1, 10, 100, ...
# As recorded from MindSpore 2.10: the gradients of x and w at x = 3, w = 2.
SWITCHED = {
    "Tu": (2.0, 3.0),
    "TuF": (2.0, 0.0),
    "TFu": (2.0, 0.0),
    "TuFT": (2.0, 3.0),
    "TFuT": (2.0, 0.0),
    "TFuTu": (22.0, 30.0),
    "TuFuTu": (222.0, 303.0),
    "TuFuF": (22.0, 0.0),
    "FTu": (2.0, 3.0),
    "FuTu": (22.0, 30.0),
    "FTuFu": (22.0, 0.0),
    "FTuFuTu": (222.0, 303.0),
    "TFTu": (2.0, 3.0),
    "TFFuTu": (22.0, 30.0),
    "TuuFuTTu": (2222.0, 3033.0),
}


@pytest.mark.parametrize("program", SWITCHED)
def test_each_use_of_a_parameter_counts_if_requires_grad_is_on_then_and_at_the_end(program: str) -> None:
    w, records = Parameter(Tensor([2.0]), "w", requires_grad=program[0] == "T"), []
    array = w._array
    if w.requires_grad:
        w.register_hook(lambda g: records.append(g.tolist()))

    def function(x: Tensor) -> Tensor:
        total, factor = x * 0.0, 1.0
        for letter in program[1:]:
            if letter == "u":
                total, factor = total + x * w * factor, factor * 10.0
            else:
                w.requires_grad = letter == "T"
        return total

    of_x, (of_w,) = grad(function, 0, [w])(Tensor([3.0]))
    assert (of_x.item(), of_w.item()) == SWITCHED[program]
    is_notified = program[0] == "T" and w.requires_grad
    assert records == ([[of_w.item()]] if is_notified else [])
    assert w._array is array  # the same object, for checks whether it was trained


def test_a_tensor_hook_takes_one_argument() -> None:
    with pytest.raises(TypeError, match=r"must take 1 arguments, as hook\(grad\)"):
        X.register_hook(lambda: None)  # type: ignore[arg-type, misc]


def test_tensor_hooks_take_part_in_second_derivatives() -> None:
    def function(x: Tensor) -> Tensor:
        y = x * x
        y.register_hook(lambda g: g * g * 3.0)
        return y * 2.0

    # The first derivative is 3 * 2**2 * 2 x.
    assert grad(grad(function))(X).tolist() == [24.0, 24.0]


@pytest.mark.parametrize(
    ("first", "records"),  # as MindSpore 2.10
    [
        (("backward",), ["backward", "late backward"]),
        (("backward_pre",), ["backward_pre", "late backward_pre"]),
        (("backward_pre", "backward"), ["backward_pre", "late backward_pre", "backward", "late backward"]),
    ],
)
def test_a_backward_hook_that_comes_after_the_call_needs_one_of_its_kind_before(
    first: tuple[str, ...], records: list[str]
) -> None:
    class Double(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x * 2.0

    net, log = Double(), []

    def watch(kind: str, text: str) -> None:
        if kind == "backward":
            net.register_backward_hook(lambda cell, grad_input, grad_output: log.append(text))
        else:
            net.register_backward_pre_hook(lambda cell, grad_output: log.append(text))

    def forward(x: Tensor) -> Tensor:
        out = net(x)
        for kind in ("backward_pre", "backward"):
            watch(kind, f"late {kind}")
        return out

    for kind in first:
        watch(kind, kind)
    assert ms.grad(forward)(Tensor([1.0])).item() == 2.0
    assert log == records


def test_a_hook_that_calls_its_own_cell_leaves_one_note() -> None:
    net = nn.SequentialCell(nn.ReLU())
    net[0].register_forward_hook(lambda cell, inputs, output: cell(*inputs))
    with pytest.raises(RecursionError) as caught:
        net(Tensor([1.0]))
    (note,) = caught.value.__notes__
    assert note.startswith("raised by the forward hook '") and note.endswith("of cell '0' (ReLU)")


@pytest.mark.parametrize(
    "register",
    [
        nn.Cell.register_forward_pre_hook,
        nn.Cell.register_forward_hook,
        nn.Cell.register_backward_pre_hook,
        nn.Cell.register_backward_hook,
        nn.Cell.register_state_dict_pre_hook,
        nn.Cell.register_state_dict_post_hook,
        nn.Cell.register_load_state_dict_pre_hook,
        nn.Cell.register_load_state_dict_post_hook,
        nn.Cell.register_parameter_forward_hook,
        lambda cell, hook: cell.register_saved_tensors_hooks(hook, hook),
        lambda cell, hook: cell.weight.register_hook(hook),
        lambda cell, hook: Tensor([1.0]).register_hook(hook),
        lambda cell, hook: nn.cell.register_cell_buffer_registration_hook(hook),
        lambda cell, hook: ms.register_saved_tensors_hooks(hook, hook),
        lambda cell, hook: ops.HookBackward(hook),
    ],
)
def test_what_is_no_function_is_no_hook(register: Any) -> None:
    with pytest.raises(TypeError, match="got int|'hook' a function|int"):
        register(nn.Dense(1, 1), 5)


@pytest.mark.parametrize(
    ("kind", "arity"),
    [("state_dict_pre", 3), ("state_dict_post", 4), ("load_state_dict_pre", 8), ("load_state_dict_post", 2)],
)
def test_a_hook_on_saving_takes_what_it_is_called_with(kind: str, arity: int) -> None:
    register = getattr(nn.Dense(1, 1), f"register_{kind}_hook")
    register(lambda *arguments: None)
    with pytest.raises(TypeError, match=rf"register_{kind}_hook', the hook must take {arity} arguments, as hook\(cell"):
        register(lambda: None)
