"""Gradients of functions: the structure of what comes back, nesting, sharing, changes inside a recording, errors."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, ParameterTuple, Tensor, grad, jvp, nn, ops, value_and_grad, vjp
from hookscope.engine.tape.tape import no_recording, recording_active


def numbers(*values: float) -> Tensor:
    return Tensor(list(values))


def parameter(*values: float, name: str = "w") -> Parameter:
    return Parameter(Tensor(list(values)), name)


def product(x: Tensor, y: Tensor) -> Tensor:
    return x * y


X, Y = numbers(2.0, 3.0), numbers(5.0, 7.0)


# Structure


def test_one_position_gives_a_bare_tensor() -> None:
    for position in (0, (0,)):
        assert grad(product, position)(X, Y).tolist() == [5.0, 7.0]


def test_more_positions_give_a_tuple_in_their_order() -> None:
    result = grad(product, (1, 0))(X, Y)
    assert isinstance(result, tuple)
    assert [g.tolist() for g in result] == [[2.0, 3.0], [5.0, 7.0]]


def test_one_weight_is_bare_a_list_gives_a_tuple() -> None:
    w = parameter(4.0, 4.0)
    assert grad(lambda x: x * w, None, w)(X).tolist() == [2.0, 3.0]
    for weights in ([w], (w,), ParameterTuple([w])):
        result = grad(lambda x: x * w, None, weights)(X)
        assert isinstance(result, tuple)
        assert [g.tolist() for g in result] == [[2.0, 3.0]]


def test_trainable_params_may_come_as_any_iterable() -> None:
    net = nn.Dense(2, 1)
    (of_weight, of_bias) = grad(lambda x: net(x), None, net.get_parameters())(X.reshape(1, 2))
    assert (of_weight.tolist(), of_bias.tolist()) == ([[2.0, 3.0]], [1.0])


def test_positions_and_weights_give_a_pair() -> None:
    w = parameter(4.0, 6.0)
    of_x, (of_w,) = grad(lambda x: x * w, 0, [w])(X)
    assert (of_x.tolist(), of_w.tolist()) == ([4.0, 6.0], [2.0, 3.0])


def test_value_and_grad_gives_the_whole_output_first() -> None:
    (value, extra), gradient = value_and_grad(lambda x: (x * x, x + 1))(X)
    assert (value.tolist(), extra.tolist(), gradient.tolist()) == ([4.0, 9.0], [3.0, 4.0], [5.0, 7.0])


def test_all_outputs_are_summed_lists_and_dictionaries_too() -> None:
    for outputs in (lambda x: (x, x * 2), lambda x: [x, x * 2], lambda x: {"a": x, "b": (x * 2,)}):
        assert grad(outputs)(X).tolist() == [3.0, 3.0]


def test_has_aux_takes_only_the_first_output_and_hands_the_others_on() -> None:
    def with_extras(x: Tensor) -> Any:
        return x * x, x * 100.0, "note"

    gradient, (hundredfold, note) = grad(with_extras, has_aux=True)(X)
    assert (gradient.tolist(), hundredfold.tolist(), note) == ([4.0, 6.0], [200.0, 300.0], "note")
    output, gradient = value_and_grad(with_extras, has_aux=True)(X)
    assert (len(output), gradient.tolist()) == (3, [4.0, 6.0])


def test_return_ids_names_each_gradient() -> None:
    w = parameter(4.0, 6.0, name="layer.w")
    of_inputs, of_weights = grad(lambda x, y: x * y * w, (0, 1), [w], return_ids=True)(X, Y)
    assert [index for index, _ in of_inputs] == [0, 1]
    assert [name for name, _ in of_weights] == ["layer.w"]
    both = (of_inputs, of_weights)
    assert ms.get_grad(both, 1).tolist() == [8.0, 18.0]
    assert ms.get_grad(both, w).tolist() == ms.get_grad(both, "layer.w").tolist() == [10.0, 21.0]
    with pytest.raises(RuntimeError, match="there is no gradient for 'other'"):
        ms.get_grad(both, "other")


def test_sens_param_is_the_gradient_that_arrives() -> None:
    assert grad(product, sens_param=True)(X, Y, numbers(10.0, 1.0)).tolist() == [50.0, 7.0]
    with pytest.raises(ValueError, match=r"must have the output's shape \(2,\), but got \(1,\)"):
        grad(product, sens_param=True)(X, Y, numbers(10.0))


@pytest.mark.parametrize("f", [lambda x: ops.concat((x, x)), lambda x: ops.stop_gradient(ops.concat((x, x)))])
def test_what_arrives_has_the_outputs_shape_also_where_it_goes_nowhere(f: Any) -> None:
    with pytest.raises(ValueError, match=r"must have the output's shape \(4,\), but got \(2,\)"):  # as in MindSpore
        ms.vjp(f, X)[1](X)
    with pytest.raises(ValueError, match=r"must have the output's shape \(4,\), but got \(2,\)"):
        grad(f, sens_param=True)(X, X)


def test_keyword_and_other_arguments_pass_through() -> None:
    def scaled(x: Tensor, factor: float, *, shift: Tensor) -> Tensor:
        return x * factor + shift

    assert grad(scaled)(X, 3.0, shift=Y).tolist() == [3.0, 3.0]


def test_a_gradient_has_the_dtype_of_its_input() -> None:
    half, single = Tensor([2.0], ms.float16), Tensor([3.0])
    of_half, of_single = grad(product, (0, 1))(half, single)
    assert (of_half.dtype, of_single.dtype) == (ms.float16, ms.float32)


# Valid inputs


@pytest.mark.parametrize("output", [None, 3.0, "text"])
def test_an_output_without_tensors_gives_zeros(output: Any) -> None:
    assert grad(lambda x: output)(X).tolist() == [0.0, 0.0]


def test_positions_go_on_through_keyword_arguments() -> None:
    assert grad(product, 1)(X, y=Y).tolist() == [2.0, 3.0]


def test_the_gradient_of_a_tuple_is_a_tuple() -> None:
    first, second = grad(lambda pair: pair[0] * pair[1])((X, Y))
    assert (first.tolist(), second.tolist()) == ([5.0, 7.0], [2.0, 3.0])


def test_an_input_that_is_not_used_has_zeros() -> None:
    unused = parameter(1.0, 1.0, 1.0)
    of_y, (of_unused,) = grad(lambda x, y: x * 2.0, 1, [unused])(X, Y)
    assert (of_y.tolist(), of_unused.tolist()) == ([0.0, 0.0], [0.0, 0.0, 0.0])


def test_a_weight_without_requires_grad_has_zeros() -> None:
    w = parameter(4.0, 4.0)
    w.requires_grad = False
    assert grad(lambda x: x * w, None, w)(X).tolist() == [0.0, 0.0]
    assert [g.tolist() for g in vjp(lambda x: x * w, X, weights=[w])[1](X)[1]] == [[0.0, 0.0]]


def test_a_weight_twice_has_its_whole_gradient_twice() -> None:
    w = parameter(4.0, 4.0)
    assert [g.tolist() for g in grad(lambda x: x * w, None, [w, w])(X)] == [[2.0, 3.0]] * 2


def test_the_same_tensor_at_two_places_has_a_gradient_for_each() -> None:
    of_first, of_second = grad(lambda x, y: x * x * y, (0, 1))(X, X)
    assert (of_first.tolist(), of_second.tolist()) == ([8.0, 18.0], [4.0, 9.0])


def test_a_value_used_twice_collects_both_gradients() -> None:
    def twice(x: Tensor) -> Tensor:
        y = x * x
        return y * y + y

    assert grad(twice)(X).tolist() == [4 * 8.0 + 4.0, 4 * 27.0 + 6.0]


def test_a_parameter_shared_by_two_cells_collects_both_gradients() -> None:
    class Shared(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Dense(1, 1, weight_init="ones", has_bias=False)
            self.second = nn.Dense(1, 1, has_bias=False)
            self.second.weight = self.first.weight

        def construct(self, x: Tensor) -> Tensor:
            return self.second(self.first(x))

    net = Shared()
    assert grad(net, None, net.first.weight)(Tensor([[3.0]])).tolist() == [[6.0]]


def test_nothing_passes_stop_gradient_nor_data_nor_no_recording() -> None:
    def unrecorded(x: Tensor) -> Tensor:
        with no_recording():
            return x * 5.0

    for cut in (ops.stop_gradient, lambda t: t.data, unrecorded):
        assert grad(lambda x, cut=cut: x * 2.0 + cut(x * x))(X).tolist() == [2.0, 2.0]


def test_branches_and_loops_of_python_are_followed() -> None:
    def power(x: Tensor, times: int) -> Tensor:
        result = x
        for _ in range(times):
            if bool(result.sum() > 0):
                result = result * x
        return result

    assert grad(power)(numbers(2.0), 3).tolist() == [4 * 8.0]


def test_nothing_is_recorded_outside_a_request_and_nothing_stays_after_an_error() -> None:
    assert not recording_active()

    def failing(x: Tensor) -> Tensor:
        assert recording_active()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        grad(failing)(X)
    assert not recording_active()


def test_threads_record_apart() -> None:
    records: list[Any] = []

    def outer(x: Tensor) -> Tensor:
        thread = threading.Thread(target=lambda: records.append((recording_active(), grad(product)(X, Y).tolist())))
        thread.start()
        thread.join()
        return x * 2.0

    assert grad(outer)(X).tolist() == [2.0, 2.0]
    assert records == [(False, [5.0, 7.0])]


# Changes inside a recording


BAD = Tensor(np.array([np.inf, np.nan], np.float32))
FIRST = Tensor([True, False])


@pytest.mark.parametrize(
    ("function", "of_x", "of_y"),
    [
        (lambda x, y: ops.where(FIRST, x, y), [np.inf, 0], [0, np.nan]),
        (ops.maximum, [0, np.nan], [np.inf, 0]),
        (ops.minimum, [np.inf, 0], [0, np.nan]),
        (lambda x, y: ops.clamp(x, 0.0, 1.0) + y, [0, 0], [np.inf, np.nan]),
        (lambda x, y: ops.floor(x) + y, [0, 0], [np.inf, np.nan]),
        (lambda x, y: ops.ceil(x) + y, [0, 0], [np.inf, np.nan]),
        (lambda x, y: ops.trunc(x) + y, [0, 0], [np.inf, np.nan]),
        (lambda x, y: ops.round(x) + y, [0, 0], [np.inf, np.nan]),
        (lambda x, y: ops.sign(x) + y, [0, 0], [np.inf, np.nan]),
    ],
)
def test_an_infinite_gradient_spoils_nothing_that_it_does_not_reach(function: Any, of_x: Any, of_y: Any) -> None:
    # The numbers of MindSpore 2.10.
    x, y = Tensor([-1.0, 2.0]), Tensor([3.0, 1.0])
    result = ms.grad(lambda x, y: (function(x, y) * BAD).sum(), (0, 1))(x, y)
    np.testing.assert_array_equal([g.asnumpy() for g in result], [of_x, of_y])


def test_an_infinite_gradient_of_a_part_of_complex_numbers_leaves_the_other_part() -> None:
    z = Tensor(np.array([1 + 2j, 3 - 1j], np.complex64))
    of_real = ms.grad(lambda z: (ops.real(z) * BAD).sum())(z).asnumpy()
    of_imag = ms.grad(lambda z: (ops.imag(z) * BAD).sum())(z).asnumpy()
    np.testing.assert_array_equal([of_real.real, of_real.imag], [[np.inf, np.nan], [0, 0]])
    np.testing.assert_array_equal([of_imag.real, of_imag.imag], [[0, 0], [np.inf, np.nan]])


def test_a_written_element_cuts_the_old_value_and_takes_the_new_ones_gradient() -> None:
    def assignment(x: Tensor, value: Tensor) -> Tensor:
        y = x * 2.0
        y[1] = value * value
        return y

    of_x, of_value = grad(assignment, (0, 1))(numbers(1.0, 2.0, 3.0), numbers(10.0))
    assert (of_x.tolist(), of_value.tolist()) == ([2.0, 0.0, 2.0], [20.0])


def test_an_argument_written_inside_has_the_gradient_of_its_value_at_the_start() -> None:

    def overwriting(t: Tensor) -> Tensor:
        squared = t * t
        t[0] = 100.0
        return squared + t

    assert grad(overwriting)(numbers(1.0, 2.0)).tolist() == [2.0, 5.0]
    assert vjp(overwriting, numbers(1.0, 2.0))[1](numbers(1.0, 1.0))[0].tolist() == [2.0, 5.0]
    assert jvp(overwriting, numbers(1.0, 2.0), numbers(0.0, 1.0))[1].tolist() == [0.0, 5.0]


def test_a_parameter_assigned_inside_has_the_gradient_of_its_value_at_the_start() -> None:
    w = parameter(3.0, 3.0)

    def assigning(x: Tensor) -> Tensor:
        before = x * w
        ops.assign(w, w * 2.0)
        return before + w

    assert grad(assigning, None, w)(X).tolist() == [4.0, 5.0]
    assert w.tolist() == [6.0, 6.0]


def test_set_data_is_no_operation_of_the_function() -> None:
    w = parameter(3.0, 3.0)

    def setting(x: Tensor) -> Tensor:
        y = x * w
        w.set_data(Tensor([0.0, 0.0]))
        return y

    assert grad(setting)(X).tolist() == [3.0, 3.0]


# Higher orders


def test_derivatives_of_every_order_of_a_polynomial() -> None:
    derivative: Any = lambda x: x**5  # noqa: E731  # a name that is bound again each round
    for factor, power in ((5.0, 4), (20.0, 3), (60.0, 2), (120.0, 1)):
        derivative = grad(derivative)
        np.testing.assert_allclose(derivative(X).asnumpy(), factor * np.array([2.0, 3.0]) ** power, rtol=1e-5)


def test_a_gradient_penalty_reaches_the_weights() -> None:
    w = parameter(2.0, 5.0)

    def penalty(x: Tensor) -> Tensor:
        return (grad(lambda t: (t * t * w).sum())(x) ** 2).sum()

    # d/dw of (2 x w)**2 is 8 x**2 w.
    assert grad(penalty, None, w)(X).tolist() == [8 * 4 * 2.0, 8 * 9 * 5.0]


def test_an_inner_request_sees_only_its_own_inputs() -> None:
    def outer(x: Tensor) -> Tensor:
        inner = grad(lambda y: x * y)(numbers(1.0, 1.0))
        return inner * x

    assert grad(outer)(X).tolist() == [4.0, 6.0]


def test_the_second_derivative_through_a_network_is_that_of_differences() -> None:
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(3, 4, activation="tanh", dtype=ms.float64), nn.Dense(4, 1, dtype=ms.float64))
    x = np.random.default_rng(0).standard_normal((2, 3))
    direction = np.random.default_rng(1).standard_normal((2, 3))

    def slope(at: Any) -> Any:
        return grad(net)(Tensor(at)).asnumpy()

    result = grad(lambda t: (grad(net)(t) * Tensor(direction)).sum())(Tensor(x)).asnumpy()
    want = (slope(x + 1e-6 * direction) - slope(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(result, want, rtol=1e-6, atol=1e-8)


# vjp and jvp


def test_vjp_can_be_called_more_than_once_and_always_gives_a_tuple() -> None:
    output, back = vjp(lambda x: x * x, X)
    assert output.tolist() == [4.0, 9.0]
    for factor in (1.0, 2.0):
        (gradient,) = back(numbers(factor, factor))
        assert gradient.tolist() == [4.0 * factor, 6.0 * factor]


def test_vjp_is_that_of_the_weights_at_the_start_though_they_have_been_trained_since() -> None:
    w = parameter(4.0, 6.0)
    _, back = vjp(lambda x: x * w, X, weights=w)
    w.set_data(Tensor([0.0, 0.0]))
    (of_x,), of_w = back(numbers(1.0, 1.0))
    assert (of_x.tolist(), of_w.tolist()) == ([4.0, 6.0], [2.0, 3.0])


def test_vjp_with_weights_and_has_aux() -> None:
    w = parameter(4.0, 6.0)
    value, back, extras = vjp(lambda x: (x * w, x), X, weights=[w], has_aux=True)
    assert (value.tolist(), extras.tolist()) == ([8.0, 18.0], [2.0, 3.0])
    (of_x,), (of_w,) = back(numbers(1.0, 1.0))
    assert (of_x.tolist(), of_w.tolist()) == ([4.0, 6.0], [2.0, 3.0])


def test_vjp_calls_the_hooks_of_inputs_and_weights() -> None:
    used, unused, frozen = (Parameter(Tensor([3.0, 4.0]), name=name) for name in ("used", "unused", "frozen"))
    x, messages = numbers(1.0, 2.0), {}
    for item, name in ((x, "x"), (used, "used"), (unused, "unused"), (frozen, "frozen")):
        item.register_hook(lambda g, name=name: messages.update({name: g.tolist()}) or g * 10)
    frozen.requires_grad = False
    _, back = vjp(lambda x: x * used * frozen, x, weights=[used, unused, frozen])
    assert messages == {}
    (of_x,), of_weights = back(numbers(1.0, 1.0))
    assert messages == {"x": [9.0, 16.0], "used": [3.0, 8.0], "unused": [0.0, 0.0]}
    assert [g.tolist() for g in (of_x, *of_weights)] == [[90.0, 160.0], [30.0, 80.0], [0.0, 0.0], [0.0, 0.0]]


def test_vjp_wants_one_gradient_for_each_output() -> None:
    _, back = vjp(lambda x: (x, x), X)
    with pytest.raises(RuntimeError, match="2 gradients must arrive, one for each output, but got 1"):
        back(X)


def test_jvp_is_the_derivative_in_a_direction() -> None:
    value, derivative = jvp(product, (X, Y), (numbers(1.0, 0.0), numbers(0.0, 1.0)))
    assert (value.tolist(), derivative.tolist()) == ([10.0, 21.0], [5.0, 3.0])


def test_jvp_of_several_outputs_and_with_has_aux() -> None:
    _, (first, second) = jvp(lambda x: (x * x, x * 3.0), X, numbers(1.0, 1.0))
    assert (first.tolist(), second.tolist()) == ([4.0, 6.0], [3.0, 3.0])
    _, derivative, note = jvp(lambda x: (x * x, "note"), X, numbers(1.0, 1.0), has_aux=True)
    assert (derivative.tolist(), note) == ([4.0, 6.0], "note")
    _, derivative, others = jvp(lambda x: (x * x, "first", "second"), X, numbers(1.0, 1.0), has_aux=True)
    assert (derivative.tolist(), others) == ([4.0, 6.0], ("first", "second"))
    for output in (lambda x: x, lambda x: (x,)):
        with pytest.raises(ValueError, match="For 'jvp', with 'has_aux' the function must return a tuple of more than"):
            jvp(output, X, numbers(1.0, 1.0), has_aux=True)


def test_jvp_names_what_is_no_tensor() -> None:
    with pytest.raises(TypeError, match="^For 'jvp', 'inputs' must be a Tensor, or a tuple or list .*, but got float$"):
        jvp(product, 2.0, X)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="^For 'jvp', 'v' must be a Tensor, or a tuple or list of them, but got str$"):
        jvp(product, X, "v")  # type: ignore[arg-type]


def test_jvp_leaves_an_input_that_is_no_tensor_as_it_is() -> None:
    def scaled(x: Tensor, factor: Any, dtype: Any) -> Tensor:
        return ops.cast(x * x * factor, dtype)

    value, derivative = jvp(scaled, (X, 3.0, ms.float16), (numbers(1.0, 0.0), None, X))  # type: ignore[arg-type]
    assert value.dtype == derivative.dtype == ms.float16
    assert (value.tolist(), derivative.tolist()) == ((X * X * 3.0).tolist(), [X.tolist()[0] * 6.0, 0.0])
    for arguments, kind in (((ms.float32,), "DType"), ((X, (X, X)), "tuple")):
        with pytest.raises(TypeError, match=f"^For 'jvp', 'inputs' must be a Tensor, or a .* of them, but got {kind}$"):
            jvp(product, arguments, arguments)  # type: ignore[arg-type]


def test_jvp_wants_directions_of_the_inputs_shapes() -> None:
    with pytest.raises(ValueError, match="'v' must have one tensor for each of 'inputs', of the same shape"):
        jvp(product, (X, Y), (X,))


# Errors


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((3,), TypeError, "'fn' must be a function or a Cell, but got int"),
        ((product, [0]), TypeError, r"'grad_position' must be an int or a tuple of ints, but got \[0\]"),
        ((product, True), TypeError, "'grad_position' must be an int"),
        ((product, (0, 0)), ValueError, "positions from 0 on, each once"),
        ((product, -1), ValueError, "positions from 0 on, each once"),
        ((product, ()), RuntimeError, "'grad_position' must name an input at least, but is empty"),
        ((product, None), ValueError, "'grad_position' and 'weights' must not both be None"),
        ((product, 0, X), TypeError, "'weights' must be a Parameter or a list or tuple of them, but got Tensor"),
        ((product, 0, [X]), TypeError, "entry 0 of 'weights' must be a Parameter, but got Tensor"),
        ((product, 0, 3), TypeError, "'weights' must be a Parameter or a list or tuple of them, but got int"),
    ],
)
@pytest.mark.parametrize("request_gradient", [grad, value_and_grad])
def test_a_bad_request_is_refused_at_once(request_gradient: Any, arguments: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=f"For '{request_gradient.__name__}', .*{text}"):
        request_gradient(*arguments)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "text"),
    [
        (product, (X,), RuntimeError, "position 1 is beyond the 1 arguments"),
        (product, (X, 3.0), TypeError, "argument 1 must be a Tensor to have a gradient, but got float"),
    ],
)
def test_a_call_that_has_no_gradient_is_refused(function: Any, arguments: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=f"For 'grad', .*{text}"):
        grad(function, 1)(*arguments)


def test_has_aux_needs_more_than_one_output() -> None:
    for output in (lambda x: x, lambda x: (x,)):
        with pytest.raises(ValueError, match="with 'has_aux' the function must return a tuple of more than one output"):
            grad(output, has_aux=True)(X)


# The classes of these errors are those that MindSpore 2.10 raised for the same calls.


@pytest.mark.parametrize("name", ["grad", "GradOperation", "vjp"])
@pytest.mark.parametrize(
    ("arriving", "error", "text"),
    [
        (numbers(1.0, 1.0, 1.0), ValueError, r"shape \(2,\), but got \(3,\)"),
        (Tensor([[1.0], [1.0]]), ValueError, r"shape \(2,\), but got \(2, 1\)"),
        (Tensor(1.0), RuntimeError, r"shape \(2,\), but got \(\)"),
        (Tensor([1.0, 1.0], ms.float16), TypeError, "dtype Float32, but got Float16"),
        (Tensor([1, 1], ms.int32), TypeError, "dtype Float32, but got Int32"),
        ((X, X), RuntimeError, "1 gradients must arrive, one for each output, but got 2"),
    ],
)
def test_what_arrives_must_fit_the_output(name: str, arriving: Any, error: type[Exception], text: str) -> None:
    def double(x: Tensor) -> Tensor:
        return x * 2.0

    if name == "vjp":
        back = vjp(double, X)[1]
        with pytest.raises(error, match=text):
            back(*(arriving if isinstance(arriving, tuple) else (arriving,)))
        return
    make = grad(double, sens_param=True) if name == "grad" else ops.GradOperation(sens_param=True)(double)
    with pytest.raises(error, match=text):
        make(X, arriving)


def test_a_function_without_arguments_has_an_empty_tuple_of_gradients() -> None:
    w = parameter(4.0, 6.0)

    def double() -> Tensor:
        return w * 2.0

    assert grad(double)() == grad(double, (0, 1))() == ops.GradOperation()(double)() == ()
    assert ops.GradOperation(get_all=True)(double)() == ()
    of_inputs, of_weight = grad(double, 0, w)()
    assert (of_inputs, of_weight.tolist()) == ((), [2.0, 2.0])


@pytest.mark.parametrize("make", [grad, value_and_grad, lambda f: ops.GradOperation()(f)])
def test_inside_no_grad_a_gradient_is_refused(make: Any) -> None:
    from hookscope.engine.common.api import _no_grad, _pynative_executor

    gradient = make(lambda x: x * x)
    with _no_grad():
        assert not _pynative_executor.enable_grad()
        with pytest.raises(RuntimeError, match="there are no gradients inside '_no_grad'"):
            gradient(X)
    assert _pynative_executor.enable_grad() and _pynative_executor.requires_grad() and _pynative_executor.grad_flag()
    gradient(X)


def test_the_executor_tells_when_a_gradient_of_a_gradient_is_computed() -> None:
    from hookscope.engine.common.api import _pynative_executor

    records: list[bool] = []

    def square(x: Tensor) -> Tensor:
        records.append(_pynative_executor.high_order())
        return x * x

    grad(square)(X)
    grad(grad(square))(X)
    assert records == [False, True]


@pytest.mark.parametrize("argument", ["has_aux", "return_ids"])
def test_a_flag_of_grad_is_a_bool(argument: str) -> None:
    for make in (grad, value_and_grad):
        with pytest.raises(TypeError, match=f"'{argument}' must be a bool, but got int"):
            make(lambda x: x, **{argument: 3})


def test_get_grad_takes_a_position_a_parameter_or_a_name() -> None:
    gradients = grad(lambda x: x * x, return_ids=True)(X)
    for wrong in (1.5, None, (0,)):
        with pytest.raises(TypeError, match="'identifier' must be a position, a Parameter or its name, but got"):
            ms.get_grad(gradients, wrong)  # type: ignore[arg-type]
