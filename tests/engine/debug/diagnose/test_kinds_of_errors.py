"""Explanations of each kind of error: calls, names, values of Python, settings, results of reductions, hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.shape_errors import explain_error


def ones(*shape: int) -> Tensor:
    return ops.ones(shape, ms.float32)


def explained(function: Callable[[], object]) -> str:
    """Return the explanation of what a function raises in a session; "" if there is none."""
    session = DebugSession(None)
    with pytest.raises(Exception), session:  # noqa: B017, PT011  # each test has its own
        function()
    return session.explanation or ""


class Layer(nn.Cell):
    """A layer that runs a function.

    Args:
        function: takes the layer and the input.
        parts: attributes of the layer.
    """

    def __init__(self, function: Callable[[Any, Any], Any], **parts: Any) -> None:
        super().__init__()
        self.function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def construct(self, x: Any) -> Any:
        return self.function(self, x)


# Calls


def test_an_unknown_keyword_of_a_class_is_compared_with_its_arguments() -> None:
    make: Any = nn.Dense
    text = explained(lambda: make(4, 8, bias=False))
    assert "Dense takes in_channels, out_channels, " in text
    assert "and has no argument bias." in text
    assert text.endswith("Did you mean 'has_bias'?")


def test_an_unknown_keyword_of_a_function_is_compared_with_its_arguments() -> None:
    def scaled(x: Any, *, factor: float = 1.0) -> Any:
        return x * factor

    call: Any = scaled
    assert "scaled takes x, factor, and has no argument factors." in explained(lambda: call(ones(2), factors=2.0))


def test_a_list_of_layers_that_is_called_is_described() -> None:
    text = explained(lambda: Layer(lambda layer, x: layer.layers(x), layers=[nn.ReLU(), nn.Tanh()])(ones(2)))
    assert "layer.layers is a list of 2 layers, which cannot be called; it holds ReLU, Tanh." in text
    assert "nn.SequentialCell makes a layer of them" in text


def test_a_tensor_that_is_called_is_described() -> None:
    x: Any = ones(2, 3)
    assert "x is a Tensor (2, 3), which cannot be called." in explained(lambda: x(1))


def test_none_from_a_function_names_the_function_and_its_open_path() -> None:
    def mask_for(count: int) -> Any:
        if count > 3:
            return ones(count)
        return None if count < 0 else no_value()

    def no_value() -> Any:
        count = 1
        if count > 3:
            return ones(count)

    def run() -> Any:
        mask = no_value()
        return ones(2) + mask

    def run_both() -> Any:
        mask = mask_for(2)
        return ones(2) + mask

    text = explained(run)
    assert "add takes a Tensor or a number, and mask is None, which no_value returned." in text
    assert text.endswith("no_value has a path that ends without a return statement.")
    assert "path that ends" not in explained(run_both)


def test_an_entry_of_a_returned_tuple_is_not_what_the_function_returned() -> None:
    def pair() -> Any:
        return ones(2), None

    def run() -> Any:
        values, mask = pair()
        return values + mask

    text = explained(run)
    assert "mask is None" in text
    assert "returned" not in text


def test_a_decorated_function_is_not_named_by_the_function_inside() -> None:
    net = nn.Dense(2, 1)

    def loss(x: Any) -> Any:
        return net(x).sum()

    def run() -> Any:
        result = ms.value_and_grad(loss, None, net.trainable_params())
        values = result(ones(3, 2))
        return values * 0.5

    text = explained(run)
    assert "values is a tuple of 2 entries" in text
    assert "loss returned" not in text


def test_outputs_with_a_tuple_among_them_are_counted_as_values() -> None:
    def run(layer: Any, x: Any) -> Any:
        lstm = layer.lstm
        states, hidden, memory = lstm(x)
        return states, hidden, memory

    text = explained(lambda: Layer(run, lstm=nn.LSTM(3, 4, batch_first=True))(ones(2, 5, 3)))
    assert "lstm returned 2 values, which hold 3 tensors, (2, 5, 4), (1, 2, 4), (1, 2, 4)" in text
    assert "into 3 names, states, hidden, memory." in text
    assert text.endswith("A value that is a tuple itself is unpacked in parentheses.")


@pytest.mark.parametrize(
    ("cut", "count"),
    [
        (lambda x: ops.split(x, 4, 1), "split cuts it into pieces of 4, which are 3"),
        (lambda x: x.split(4, axis=-1), "split cuts it into pieces of 4, which are 3"),
        (lambda x: ops.chunk(x, 3, axis=1), "chunk cuts it into at most 3 pieces, which are 3"),
    ],
)
def test_the_pieces_of_a_tensor_are_counted(cut: Callable[[Tensor], tuple[Tensor, ...]], count: str) -> None:
    x = ones(2, 10)
    number = len(cut(x))
    assert count.endswith(str(number))

    def run_split() -> Any:
        first, second = ops.split(x, 4, 1)
        return first, second

    def run_method() -> Any:
        first, second = x.split(4, axis=-1)
        return first, second

    def run_chunk() -> Any:
        first, second = ops.chunk(x, 3, axis=1)
        return first, second

    texts = [explained(run) for run in (run_split, run_method, run_chunk)]
    sentence = f"Axis 1 of x has the length 10, and {count}, and the line unpacks them into 2 names, first, second."
    assert any(sentence in text for text in texts)


def test_a_tensor_that_is_unpacked_is_cut_along_its_first_axis() -> None:
    def run() -> Any:
        x = ones(3, 2)
        first, second = x
        return first, second

    assert "axis 0 of x has the length 3, which makes as many pieces" in explained(run).lower()


def test_values_of_another_function_are_counted_as_python_does() -> None:
    def run() -> Any:
        first, second, third = [ones(1), ones(2)]
        return first, second, third

    assert "There are 2 values, and the line unpacks them into 3 names, first, second, third." in explained(run)


def test_an_error_inside_a_library_is_not_explained_by_the_line_that_called_it() -> None:
    source = "def divided(a, b):\n    first, second = [a]\n    return first / 0\n"
    library: dict[str, Any] = {}
    exec(compile(source, "<string>", "exec"), library)  # no user code: it has no file

    def run() -> Any:
        zero = 0
        first, second = library["divided"](1, zero)
        return first, second

    assert "unpacks" not in explained(run)


# Names


def test_a_misspelled_method_of_a_tensor_has_a_suggestion() -> None:
    x: Any = ones(2, 6)
    text = explained(lambda: (x + 1.0).reshpae(3, 4))
    assert "x + 1.0 is a Tensor, which has no attribute reshpae." in text
    assert text.endswith("Did you mean 'reshape'?")


def test_a_cell_without_its_base_is_told_to_begin_with_it() -> None:
    class Bare(nn.Cell):
        def __init__(self) -> None:
            self.scale = nn.ReLU()

    text = explained(Bare)
    assert "Bare gets scale in __init__ before the constructor of its base has run." in text
    assert text.endswith("The __init__ of Bare must begin with super().__init__().")


def test_a_variable_of_a_branch_that_did_not_run_has_its_line() -> None:
    def run(is_deep: bool) -> Any:
        x = ones(2)
        if is_deep:
            extra = x * 2.0
        else:
            for _ in range(0):
                extra = x
        return x + extra

    text = explained(lambda: run(False))
    assert "extra is only assigned in line " in text
    assert "(extra = x * 2.0) under line " in text
    assert "(if is_deep:) and line " in text
    assert "(extra = x) under line " in text
    assert "which have not run in this call." in text


def test_a_variable_that_was_deleted_has_no_line() -> None:
    def run() -> Any:
        x, extra = ones(2), 1.0
        del extra
        return x + extra  # noqa: F821  # deleted on purpose

    def run_handler() -> Any:
        x = ones(2)
        try:
            raise ValueError
        except ValueError:
            x = x * 2.0
        return x + extra  # noqa: F821  # a handler unbinds its variable

    assert "only assigned" not in explained(run)
    assert "only assigned" not in explained(run_handler)


def test_a_name_that_nothing_assigns_has_a_suggestion() -> None:
    def run() -> Any:
        features = ones(2)
        return features + featuers  # type: ignore[name-defined]  # noqa: F821

    text = explained(run)
    assert "No line has assigned featuers." in text
    assert text.endswith("Did you mean 'features'?")


# Values of Python


def test_a_tuple_of_gradients_in_a_product_is_described() -> None:
    gradients: Any = (ones(2), ones(3))
    text = explained(lambda: 0.1 * gradients)
    assert "0.1 is a float and gradients is a tuple of 2 tensors; * does not take the two." in text
    assert "gradients[1]: (3,) Float32" in text


def test_a_list_and_a_tuple_are_not_added() -> None:
    total: Any = [ones(2)]
    more = (ones(2), ones(3))
    assert "total is a list of 1 tensor and more is a tuple of 2 tensors; + does not take the two." in explained(
        lambda: total + more
    )


def test_a_divisor_of_zero_has_the_line_that_computed_it() -> None:
    def run() -> Any:
        x = ones(2, 6)
        heads = x.shape[-1] // 8
        return x.shape[-1] // heads

    text = explained(run)
    assert "heads is 0, and // divides by it; it was assigned in line " in text
    assert "heads = x.shape[-1] // 8." in text


def test_a_float_at_the_end_of_a_slice_is_named() -> None:
    x, half = ones(2, 8), 4.0
    ends: Any = half
    assert "ends is the float 4.0, and the ends of a slice must be integers." in explained(lambda: x[:, :ends])
    text = explained(lambda: x[:, : x.shape[1] / 2])
    assert "x.shape[1] / 2 is the float 4.0, and the ends of a slice must be integers." in text
    assert text.endswith("// divides without a remainder.")


def test_an_index_of_floats_is_named() -> None:
    x, chosen = ones(4, 3), ones(2)
    assert "chosen holds Float32, and an index must hold integers or bools." in explained(lambda: x[chosen])


def test_elements_of_another_kind_are_named_with_a_cast() -> None:
    x, actions = ones(4, 3), ones(4, 1)
    text = explained(lambda: ops.gather_elements(x, 1, actions))
    assert "actions holds Float32, and index of gather_elements must hold integers." in text
    assert text.endswith("actions.astype(mindspore.int32) holds integers.")
    assert "mask of masked_fill must hold bools." in explained(lambda: x.masked_fill(x, 0.0))


def test_a_condition_on_several_elements_is_described() -> None:
    losses = ones(6)

    def run() -> Any:
        if losses < 1.0:
            return losses
        return None

    assert "losses < 1.0: the truth value of a tensor of shape (6,) is ambiguous" in explained(run)


# Shapes


def test_a_product_that_fits_transposed_says_so() -> None:
    images, texts = ones(6, 8), ones(5, 8)
    assert "With its last two axes swapped, texts would fit." in explained(lambda: images @ texts)
    left, right = ones(2, 8, 36), ones(2, 5, 36)
    text = explained(lambda: ops.bmm(left, right))
    assert "Axis 2 of left has the length 36, but axis 1 of right has 5; bmm needs the two to be equal." in text
    assert "would fit" not in explained(lambda: images @ ones(5, 4))


def test_an_axis_of_a_batch_is_not_suggested_for_a_product() -> None:
    points, turn = ones(2, 30, 3), ones(2, 9)
    assert "Axis 0 of points" not in explained(lambda: points @ turn)


def test_a_reduction_that_lost_its_axes_is_named_with_its_shape() -> None:
    x, weight = ones(5, 3), ones(6, 3, 5, 5)

    def run() -> Any:
        center = weight.mean((1, 2, 3))
        return weight - center

    assert "x.mean(1) is a mean along axis 1; with the shape (5, 1), its axes kept, it would broadcast." in explained(
        lambda: x - x.mean(1)
    )
    assert "center is a mean along the axes 1, 2, 3; with the shape (6, 1, 1, 1)" in explained(run)


def test_a_reduction_of_what_the_variable_was_before_is_not_named() -> None:
    def run() -> Any:
        x = ones(4, 3)
        center = x.mean(1)
        x = ones(4, 5)
        return x - center

    assert "is a mean" not in explained(run)


def test_an_axis_of_length_1_too_many_is_named() -> None:
    weights, nodes = ones(2, 5, 1, 1), ones(2, 5, 6)
    text = explained(lambda: weights * nodes)
    assert text.endswith("Without its last axis, which has the length 1, weights would broadcast.")


def test_an_expression_names_the_variable_that_it_is_computed_from() -> None:
    def run() -> Any:
        weights = ops.exp(ones(2, 5))
        return weights[:, :, None] * ones(2, 4, 3)

    text = explained(run)
    assert "weights[:, :, None]: (2, 5, 1) Float32, computed from weights (2, 5); weights in line " in text


def test_an_entry_of_a_list_has_the_variable_that_holds_it_too() -> None:
    def run() -> Any:
        pooled = ops.exp(ones(1, 4))
        return ops.cat([*[ones(2, 3)], pooled], 1) if pooled is None else ops.cat(joined(pooled), 1)

    def joined(pooled: Any) -> Any:
        return [ones(2, 3), pooled]

    def run_list() -> Any:
        pooled = ops.exp(ones(1, 4))
        parts = [ones(2, 3)]
        parts.append(pooled)
        return ops.cat(parts, 1)

    assert "entry 1 of parts: (1, 4) Float32, the value of pooled" in explained(run_list)
    assert "the value of" not in explained(lambda: ops.cat(joined(ones(1, 4)), 1))
    assert "entry 1 of joined(pooled): (1, 4) Float32, the value of pooled" in explained(run)


def test_an_argument_has_the_expression_that_its_caller_passed() -> None:
    class Write(nn.Cell):
        def construct(self, focus: Any, erase: Any) -> Any:
            return focus * erase

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.write = Write()

        def construct(self, x: Any, wide: Any) -> Any:
            return self.write(ops.softmax(x, -1), erase=ops.sigmoid(wide))

    net = Net()
    text = explained(lambda: net(ones(2, 3), ones(2, 4)))
    assert "focus: (2, 3) Float32, passed in line " in text
    assert "as ops.softmax(x, -1)" in text
    assert "as ops.sigmoid(wide)" in text


def test_a_plain_function_has_the_expression_that_its_caller_passed() -> None:
    def product(focus: Any, erase: Any) -> Any:
        focus = focus + 0.0
        return focus * erase

    text = explained(lambda: product(ops.exp(ones(2, 3)), ops.exp(ones(2, 4))))
    assert "erase: (2, 4) Float32, passed in line " in text
    assert "focus: (2, 3) Float32, passed" not in text  # it has been assigned since


def test_an_argument_that_a_hook_replaced_has_no_expression() -> None:
    net = Layer(lambda layer, x: layer.inner(ops.exp(x)), inner=Layer(lambda layer, x: x + ones(5)))
    net.inner.register_forward_pre_hook(lambda cell, inputs: (ones(3),))
    assert "as ops.exp(x)" not in explained(lambda: net(ones(4)))


def test_a_window_that_does_not_fit_is_that_of_the_layer() -> None:
    layer = nn.Conv1d(4, 4, 3, pad_mode="pad", padding=1)

    def run() -> Any:
        x = ones(2, 4, 2)[:, :, 2:]
        return layer(x)

    text = explained(run)
    assert "The window (3,) of Conv1d does not fit into the axes (0,) of x, with padding (1, 1)." in text
    assert text.endswith("x is empty: its axis 2 has the length 0.")


def test_a_missing_axis_is_that_of_the_channels_if_there_is_only_one() -> None:
    text = explained(lambda: nn.Conv3d(1, 4, 3)(ones(2, 8, 8, 8)))
    assert text.endswith("The axis of the single channel is missing if (2, 8, 8, 8) is a batch.")
    text = explained(lambda: nn.Conv2d(3, 4, 3)(ones(3, 8, 8)))
    assert text.endswith("The axis of the batch is missing if (3, 8, 8) is a single sample.")
    assert "missing" not in explained(lambda: nn.Conv2d(3, 4, 3)(ones(2, 8, 8)))


def test_a_grid_needs_the_coordinates_last() -> None:
    image, grid = ones(2, 3, 6, 6), ones(2, 2, 6, 6)
    text = explained(lambda: ops.grid_sample(image, grid))
    assert "Axis 3 of grid has the length 6 and must have 2, a point's coordinates." in text
    assert text.endswith("Axis 1 of grid has the length 2.")
    flat = ones(2, 6, 2)
    assert "flat has 3 axes, and image has 4 axes" in explained(lambda: ops.grid_sample(image, flat))


def test_a_number_that_is_more_than_an_axis_has_is_compared_with_it() -> None:
    scores, most = ones(5, 3), 4
    text = explained(lambda: ops.topk(scores, most))
    assert "Axis 1 of scores has the length 3, and k of topk is 4 (most)." in text


def test_the_lengths_of_a_ctc_loss_are_compared_with_the_batch() -> None:
    scores, labels = ones(9, 2, 5), Tensor(np.ones((2, 3), np.int32))
    lengths, counts = Tensor(np.full(3, 9, np.int32)), Tensor(np.full(2, 3, np.int32))
    text = explained(lambda: ops.ctc_loss(scores, labels, lengths, counts))
    assert "Axis 0 of lengths has the length 3 and must have 2, as in (2,)." in text


# Settings, data, gradients


def test_a_message_on_settings_has_the_expressions_that_were_passed() -> None:
    channels, groups = 6, 4
    text = explained(lambda: nn.Conv2d(channels, 8, 3, group=groups))
    assert "Conv2d: 'group' 4 must divide 'in_channels' 6 and 'out_channels' 8." in text
    assert text.endswith("The line passes groups as group and channels as in_channels.")


def test_a_message_on_data_is_the_explanation() -> None:
    rows = [np.arange(length, dtype=np.int32) for length in (4, 6)]
    batches = ms.dataset.GeneratorDataset(rows, ["tokens"], shuffle=False).batch(2)
    text = explained(lambda: list(batches.create_tuple_iterator()))
    assert "the rows of a batch must have one shape, but column 'tokens' has [(4,), (6,)]" in text


def test_a_bprop_with_a_gradient_of_another_shape_names_the_input() -> None:
    class Sign(nn.Cell):
        def construct(self, scale: Any, x: Any) -> Any:
            return ops.sign(x) * scale

        def bprop(self, scale: Any, x: Any, out: Any, dout: Any) -> Any:
            return dout, dout.mean(0)

    net = Sign()
    weight = Parameter(ones(3, 4), name="weight")
    text = explained(lambda: ms.value_and_grad(lambda x: net(x, x * weight).sum(), None, [weight])(ones(3, 4)))
    assert "the returned gradient: (4,) Float32" in text
    assert "the input x of Sign: (3, 4) Float32" in text


# The user's code


class Touchy:
    """Notes whenever something is done with it."""

    touched: list[str] = []  # noqa: RUF012  # shared on purpose

    def __getattribute__(self, name: str) -> Any:
        Touchy.touched.append(name)
        raise RuntimeError(name)

    def __iter__(self) -> Iterator[Any]:
        Touchy.touched.append("iter")
        raise RuntimeError("iter")

    def __repr__(self) -> str:
        Touchy.touched.append("repr")
        raise RuntimeError("repr")

    def __len__(self) -> int:
        Touchy.touched.append("len")
        raise RuntimeError("len")

    def __bool__(self) -> bool:
        Touchy.touched.append("bool")
        raise RuntimeError("bool")

    def __eq__(self, other: object) -> bool:
        Touchy.touched.append("eq")
        raise RuntimeError("eq")

    __hash__ = object.__hash__


TOUCHY: Any = Touchy()
TOUCHY_LIST: Any = [TOUCHY]


def with_default(x: Any, extra: Any = TOUCHY) -> Any:
    return x if extra is TOUCHY else None


class Defaults(nn.Cell):
    """A cell with a touchy default."""

    def construct(self, x: Any, extra: Any = TOUCHY) -> Any:
        return x if extra is TOUCHY else None


def unpacked_from_a_list_of_touchy() -> Any:
    first, second = [TOUCHY]
    return first, second


WRONG: tuple[Callable[[], Any], ...] = (
    lambda: 0.5 * TOUCHY_LIST,
    lambda: (1,) + TOUCHY_LIST,  # noqa: RUF005  # what fails
    lambda: ones(2) + TOUCHY,
    lambda: ones(2) + TOUCHY_LIST,
    lambda: ones(2)[: TOUCHY if TOUCHY is None else 0.5],
    lambda: TOUCHY(1),
    lambda: TOUCHY_LIST(1),
    lambda: with_default(1, extras=2),  # type: ignore[call-arg]
    lambda: Defaults()(1, extras=2),
    lambda: ones(2).reshpae(TOUCHY),  # type: ignore[attr-defined]
    unpacked_from_a_list_of_touchy,
    lambda: nn.Dense(TOUCHY, 2),
)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_no_rule_runs_code_of_the_user(number: int) -> None:
    caught: list[Exception] = []
    try:
        WRONG[number]()
    except Exception as error:
        caught.append(error)
    Touchy.touched.clear()
    explain_error(caught[0])
    assert Touchy.touched == []
