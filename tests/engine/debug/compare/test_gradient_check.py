"""check_gradient: right gradients pass, wrong ones are named with their position, and the cell is left unchanged."""

from __future__ import annotations

import random as python_random
import threading
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession, GradientCheck, GradientRow, check_gradient
from hookscope.engine.tensors import random


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Tensor:
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def only(check: GradientCheck) -> GradientRow:
    (row,) = check.rows
    return row


class Scaled(nn.Cell):
    """x * 3 with a given bprop."""

    def __init__(self, factor: float = 3.0, at: tuple[int, ...] | None = None) -> None:
        super().__init__()
        self.factor, self.at = factor, at

    def construct(self, x: Any) -> Any:
        return x * 3.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        gradient = dout * (3.0 if self.at else self.factor)
        if self.at is not None:
            gradient[self.at] = dout[self.at] * self.factor
        return (gradient,)


class Dense(nn.Cell):
    """x @ w with a bprop for both; ``fault`` names its error."""

    def __init__(self, fault: str = "") -> None:
        super().__init__()
        self.fault = fault
        self.w = Parameter(normal(4, 4, seed=1), "w")
        if fault != "not listed":
            self.internal_params = [self.w]

    def construct(self, x: Any) -> Any:
        return ops.matmul(x, self.w)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        of_x = ops.matmul(dout, self.w if self.fault == "not transposed" else self.w.T)
        of_w = ops.matmul(x.T, dout) * (0.5 if self.fault == "factor" else 1.0)
        return (of_x,) if self.fault == "not listed" else ((of_x,), {self.w: of_w})


class Relu(nn.Cell):
    """A ReLU whose gradient at 0 is 1, that of ops.relu 0: both lie between the slopes to the left and to the right."""

    at_zero = 1.0

    def construct(self, x: Any) -> Any:
        return ops.relu(x)

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * ((x > 0).astype(x.dtype) + (x == 0).astype(x.dtype) * self.at_zero),)


class Applied(nn.Cell):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def construct(self, *args: Any) -> Any:
        return self.function(*args)


# Findings


def test_a_right_bprop_agrees_with_the_automatic_gradient_and_with_differences() -> None:
    check = check_gradient(Dense(), normal(3, 4))
    assert check.ok and [row.verdict for row in check.rows] == ["right", "right"]
    assert [(row.name, row.kind, row.checked) for row in check.rows] == [("x", "input", 12), ("w", "parameter", 16)]
    for row in check.rows:
        assert row.automatic is not None and row.automatic.absolute < 1e-12
        assert row.numeric is not None and row.numeric.absolute < 1e-7


@pytest.mark.parametrize(("fault", "wrong"), [("not transposed", "x"), ("factor", "w"), ("not listed", "w")])
def test_a_wrong_bprop_is_named_by_the_input_or_parameter_whose_gradient_it_is(fault: str, wrong: str) -> None:
    check = check_gradient(Dense(fault), normal(3, 4))
    assert [row.name for row in check.rows if row.verdict == "wrong"] == [wrong]
    assert not check.ok and check.worst is not None and check.worst.name == wrong
    assert check.summary == f"gradient of Dense: wrong for {wrong}"


def test_the_difference_has_its_element_and_both_values() -> None:
    sens = Tensor(np.full((3, 4), 2.0, np.float32))
    row = only(check_gradient(Scaled(-3.0, at=(1, 2)), normal(3, 4), sens=sens))
    assert row.verdict == "wrong" and row.automatic is not None and row.numeric is not None
    for item in (row.automatic, row.numeric):
        assert item.index == (1, 2) and item.value == -6
        assert item.other == pytest.approx(6) and item.absolute == pytest.approx(12)
        assert item.relative == pytest.approx(2)


def test_one_wrong_element_among_many_is_found_by_the_automatic_gradient_and_shown_to_be_wrong() -> None:
    row = only(check_gradient(Scaled(2.9, at=(150, 7)), normal(300, 20), samples=8))
    assert row.verdict == "wrong" and row.checked == 8 and row.size == 6000
    assert row.numeric is not None and row.numeric.index == (150, 7)


def test_without_a_bprop_one_wrong_element_among_many_shows_in_the_random_direction() -> None:
    def construct(x: Tensor) -> Tensor:
        detached = ops.stop_gradient(x[200, 3]) * 5.0
        return (x * 2.0).sum() + detached

    row = only(check_gradient(Applied(construct), normal(300, 20), samples=4))
    assert row.verdict == "wrong" and row.automatic is None
    assert row.numeric is not None and row.numeric.index is None


def test_a_softmax_is_wrong_although_its_gradients_add_up_to_nothing() -> None:
    class Softmax(nn.Cell):
        def construct(self, x: Any) -> Any:
            return ops.softmax(x, -1)

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (dout * 0.0,)  # with ones as the incoming gradient this would be right

    assert not check_gradient(Softmax(), normal(2, 5)).ok


def test_where_construct_is_detached_differences_bear_out_the_bprop() -> None:
    class Squared(nn.Cell):
        def construct(self, x: Any) -> Any:
            return Tensor(x.asnumpy() ** 2)

        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (2.0 * x * dout,)

    row = only(check_gradient(Squared(), normal(3)))
    assert row.verdict == "right"
    assert row.reason == "differs from the automatic gradient, which finite differences refute"


def test_bprops_of_the_cells_inside_are_checked_too() -> None:
    net = nn.SequentialCell(nn.Dense(4, 3), Scaled(2.0), nn.Dense(3, 2))
    wrong = [row.name for row in check_gradient(net, normal(5, 4)).rows if row.verdict == "wrong"]
    assert wrong == ["input_data", "0.weight", "0.bias"]


@pytest.mark.parametrize(
    "net",
    [
        nn.SequentialCell(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2, 2)).set_train(),
        nn.SequentialCell(nn.Conv2d(2, 3, 3), nn.GELU(), nn.Dropout(p=0.5), nn.Flatten(), nn.Dense(108, 2)).set_train(),
    ],
    ids=["BatchNorm in training", "Dropout in training"],
)
def test_the_engines_own_layers_are_right(net: nn.Cell) -> None:
    check = check_gradient(net, normal(4, 2, 6, 6), samples=12)
    assert check.ok and all(row.kinks == 0 for row in check.rows)
    assert {row.verdict for row in check.rows} <= {"right", "skipped"}


# Kinks


def test_a_choice_at_a_kink_is_no_error() -> None:
    x = Tensor(np.array([0.0, -1.0, 2.0, 0.0], np.float32))
    row = only(check_gradient(Relu(), x))
    assert (row.verdict, row.kinks, row.checked) == ("kink", 2, 4)
    assert "only where construct is not differentiable" in row.reason


def test_a_slope_that_neither_side_has_is_wrong_at_a_kink_too() -> None:
    cell = Relu()
    cell.at_zero = -1.0
    assert only(check_gradient(cell, Tensor(np.zeros(2, np.float32)))).verdict == "wrong"


def test_a_wrong_gradient_beside_kinks_is_still_wrong() -> None:
    class Halved(Relu):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            return (super().bprop(x, out, dout)[0] * 0.5,)

    row = only(check_gradient(Halved(), Tensor(np.array([0.0, 1.0, -1.0], np.float32))))
    assert row.verdict == "wrong" and row.numeric is not None and row.numeric.index == (1,)


@pytest.mark.parametrize(
    ("function", "at", "kinks"),
    [(ops.relu, 0.0, 1), (ops.floor, 2.0, 1), (ops.floor, 2.5, 0), (ops.sqrt, 0.0, 1), (ops.abs, 1e-7, 1)],
    ids=["a fold", "a step", "beside the step", "the edge of a domain", "a fold within the step"],
)
def test_what_has_no_slope_counts_as_a_kink(function: Any, at: float, kinks: int) -> None:
    row = only(check_gradient(Applied(function), Tensor(np.array([at, 4.3], np.float64))))
    assert row.kinks == kinks and row.verdict == "right"


def test_an_output_that_is_not_finite_is_told_as_such() -> None:
    row = only(check_gradient(Applied(ops.log), Tensor(np.array([-1.0, 2.0], np.float32))))
    assert (row.verdict, row.reason) == ("kink", "the output is not finite here")


def test_the_summary_says_where_nothing_could_be_judged() -> None:
    none = check_gradient(nn.ReLU(), Tensor(np.array([1, 2])))
    assert none.ok and none.worst is None and none.summary == "gradient of ReLU: nothing to check"
    kink = check_gradient(Applied(ops.relu), Tensor(np.zeros(3, np.float32)))
    assert kink.ok and kink.worst is None and kink.summary == "gradient of Applied: not differentiable here"


def test_a_gradient_that_is_nan_where_the_function_has_a_slope_is_wrong() -> None:
    assert only(check_gradient(Scaled(np.nan), normal(3))).verdict == "wrong"


# Inputs and dtypes


def test_what_has_no_gradient_is_skipped_with_a_reason() -> None:
    class Looked(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.frozen = Parameter(normal(3), "frozen", requires_grad=False)

        def construct(self, rows: Any, table: Any, pair: Any, times: int = 1) -> Any:
            return ops.gather(table, rows, 0) * pair[0] * self.frozen * times

    pair = (normal(3, seed=2), [Tensor(True)])
    check = check_gradient(Looked(), Tensor(np.array([1, 1, 0])), normal(2, 3), pair, 2)
    assert [(row.name, row.verdict, row.reason) for row in check.rows] == [
        ("table", "right", ""),
        ("pair[0]", "right", ""),
        ("rows", "skipped", "no floating numbers"),
        ("pair[1][0]", "skipped", "no floating numbers"),
        ("times", "skipped", "no tensor"),
        ("frozen", "skipped", "requires_grad is off"),
    ]


def test_wrt_chooses_inputs_or_parameters() -> None:
    x = normal(3, 4)
    assert [row.name for row in check_gradient(Dense(), x, wrt="inputs").rows] == ["x"]
    assert [row.name for row in check_gradient(Dense(), x, wrt="parameters").rows] == ["w"]


def test_several_outputs_and_an_integer_one() -> None:
    cell = Applied(lambda x: (x * 2.0, ops.argmax(x), {"more": [x.sum()]}))
    assert check_gradient(cell, normal(3)).ok


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda d: np.dtype(d).name)
def test_half_precision_is_checked_in_double(dtype: Any) -> None:
    check = check_gradient(nn.Tanh(), normal(4, dtype=dtype))
    row = only(check)
    assert check.ok and check.dtype == "float64" and row.dtype == np.dtype(dtype).name
    assert row.numeric is not None and row.numeric.absolute < 1e-8


def test_a_network_in_mixed_precision_is_checked_in_double() -> None:
    check = check_gradient(nn.Dense(4, 3).to_float(ms.float16), normal(2, 4))
    assert check.ok and check.dtype == "float64"


def test_complex_numbers_count_as_pairs() -> None:
    z = Tensor(np.array([1 + 2j, -3 + 0.5j], np.complex64))
    right = only(check_gradient(Applied(lambda z: ops.real(ops.conj(z)) + 3.0 * ops.imag(z)), z))
    assert (right.verdict, right.checked, right.dtype) == ("right", 2, "complex64")


class Cast(Dense):
    """``Dense`` in a narrow dtype, with gradients in that dtype."""

    def __init__(self, dtype: Any, factor: float) -> None:
        super().__init__()
        self.dtype, self.factor = dtype, factor

    def construct(self, x: Any) -> Any:
        return ops.matmul(ops.cast(x, self.dtype), ops.cast(self.w, self.dtype))

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        x, w, dout = (ops.cast(t, self.dtype) for t in (x, self.w, dout))
        return (ops.matmul(dout, w.T) * self.factor,), {self.w: ops.matmul(x.T, dout)}


@pytest.mark.parametrize("dtype", [ms.float32, ms.float16, ms.bfloat16], ids=str)
def test_code_that_casts_is_held_to_the_digits_of_its_dtype(dtype: Any) -> None:
    check = check_gradient(Cast(dtype, 1.0), normal(3, 4))
    assert check.ok and check.dtype == str(dtype).lower()
    assert not check_gradient(Cast(dtype, 1.5), normal(3, 4)).ok


def test_code_that_takes_only_its_own_dtype_is_checked_in_it() -> None:
    class Single(Scaled):
        def construct(self, x: Any) -> Any:
            if x.dtype != ms.float32:
                raise TypeError("float32 only")
            return super().construct(x)

    assert check_gradient(Single(), normal(3)).dtype == "float32"
    assert check_gradient(Single(), normal(3)).ok and not check_gradient(Single(2.5), normal(3)).ok


# The cell is left unchanged


def test_the_cell_its_mode_its_statistics_and_all_random_numbers_stay_as_they_were() -> None:
    net = nn.SequentialCell(nn.Dense(4, 4), nn.BatchNorm1d(4), nn.Dropout(p=0.5), Scaled()).set_train()
    log: list[str] = []
    net[0].register_forward_hook(lambda *_: log.append("forward"))
    net[3].register_backward_hook(lambda *_: log.append("backward"))
    arrays = [p._array for p in net.get_parameters()]
    values = [a.tobytes() for a in arrays]
    x = normal(6, 4)
    states = random.position(), np.random.get_state()[1].tobytes(), python_random.getstate()  # type: ignore[union-attr,index]
    attributes = [dict(cell.__dict__) for _, cell in net.cells_and_names()]
    assert check_gradient(net, x).ok
    assert (random.position(), np.random.get_state()[1].tobytes(), python_random.getstate()) == states  # type: ignore[union-attr,index]
    assert all(p._array is a for p, a in zip(net.get_parameters(), arrays, strict=True))
    assert [a.tobytes() for a in arrays] == values and log == []
    assert [dict(cell.__dict__) for _, cell in net.cells_and_names()] == attributes


def test_nothing_of_it_is_watched_or_recorded() -> None:
    cell = Scaled()

    def both(x: Tensor) -> Tensor:
        assert check_gradient(cell, x).ok
        return cell(x).sum()

    with DebugSession(cell) as session:
        gradient = ms.grad(both)(normal(3))
    assert gradient.asnumpy().tolist() == [3, 3, 3]
    assert [c.key for c in session.captures if c.direction == "forward"] == [
        "(root)#0 forward input[0]",
        "(root)#0 forward output",
    ]


def test_each_evaluation_has_the_same_random_numbers_and_the_same_state() -> None:
    class Noisy(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0
            self.seen = Parameter(Tensor(0.0), "seen", requires_grad=False)
            self.numbers = ms.Generator().manual_seed(3)

        def construct(self, x: Any) -> Any:
            self.calls += 1
            self.seen.set_data(self.seen + 1.0)
            own = self.numbers.draw(1)[1]
            noise = ops.standard_normal(x.shape) + np.random.rand() + python_random.random() + own
            return x * noise * self.calls + self.seen

    assert check_gradient(Noisy(), normal(4)).ok


def test_a_hook_that_cannot_be_copied_is_no_obstacle() -> None:
    cell = Scaled()
    lock = threading.Lock()
    handle = cell.register_forward_pre_hook(lambda *_: lock.locked() or None)
    bound = DebugSession(cell)
    bound.attach_hook("", "backward")
    assert check_gradient(cell, normal(2)).ok
    handle.remove()
    bound.detach_hook("", "backward")


def test_the_same_call_finds_the_same() -> None:
    net = nn.SequentialCell(nn.Dense(40, 40), nn.ReLU())
    assert str(check_gradient(net, normal(4, 40), samples=5)) == str(check_gradient(net, normal(4, 40), samples=5))


# Output, and refusals


def test_it_prints_as_a_table_and_as_html() -> None:
    check = check_gradient(Scaled(-3.0), Tensor(np.ones(2, np.float32)), sens=Tensor(np.ones(2, np.float32)))
    first, head, line = str(check).splitlines()
    assert first == "gradient of Scaled: wrong for x" and head.split()[:3] == ["of", "shape", "verdict"]
    assert line.split()[:6] == ["x", "2", "wrong", "2", "of", "2"] and "-3, expected 3" in line
    assert repr(check) == str(check)
    assert "<table>" in check._repr_html_() and "-3, expected 3" in check._repr_html_()


def test_names_of_the_users_are_escaped() -> None:
    cell = nn.Cell()
    cell.insert_param_to_cell("<b>w</b>", Parameter(normal(2), "w"))
    cell.construct = lambda x: x * cell.get_parameters().__next__()  # type: ignore[method-assign]
    assert "&lt;b&gt;w&lt;/b&gt;" in check_gradient(cell, normal(2))._repr_html_()
    assert "<b>" not in check_gradient(cell, normal(2))._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wrt": "weights"}, "wrt must be one of all, inputs, parameters, got 'weights'"),
        ({"eps": 0}, "eps must be above 0"),
        ({"rtol": -1.0}, "rtol must be a finite number from 0 on, got -1.0"),
        ({"atol": float("nan")}, "atol must be a finite number from 0 on, got nan"),
        ({"samples": 0}, "samples must be a positive integer, got 0"),
        ({"sens": Tensor(np.ones(2, np.float32))}, "sens must have the shapes of the outputs, [(3,)], got [(2,)]"),
    ],
)
def test_a_bad_option_is_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match="check_gradient: ") as raised:
        check_gradient(Scaled(), normal(3), **options)
    assert str(raised.value) == f"check_gradient: {message}"


def test_what_is_no_cell_is_refused() -> None:
    with pytest.raises(TypeError, match="cell must be a Cell, got builtin_function_or_method"):
        check_gradient(abs, normal(3))  # type: ignore[arg-type]


def test_a_cell_that_cannot_be_copied_is_refused() -> None:
    cell = Scaled()
    cell.lock = threading.Lock()
    with pytest.raises(TypeError, match=r"the cell Scaled cannot be copied: cannot pickle '_thread.lock' object"):
        check_gradient(cell, normal(3))


def test_what_the_bprop_raises_comes_out() -> None:
    class Failing(Scaled):
        def bprop(self, x: Any, out: Any, dout: Any) -> Any:
            raise ValueError("not written yet")

    with pytest.raises(ValueError, match="not written yet"):
        check_gradient(Failing(), normal(3))
