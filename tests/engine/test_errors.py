"""Bad input to operators: one clear error that names the operator and the argument, and no NumPy text alone."""

from __future__ import annotations

import copy
import re
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, nn, ops

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
V = Tensor([1.0, 2.0])

CALLS: list[tuple[Any, type[Exception], str]] = [
    # Elementwise.
    (lambda: ops.add(X, "a"), TypeError, "For 'add', 'other' must be a Tensor or a number, but got str"),
    (lambda: None + X, TypeError, "For 'add', 'input' must be a Tensor or a number, but got NoneType"),
    (lambda: ops.exp(None), TypeError, "For 'exp', 'input' must be a Tensor, but got NoneType"),
    (lambda: X + V, ValueError, r"For 'add', the inputs \(float32\[2, 3\], float32\[2\]\) do not fit"),
    (lambda: ops.select(V > 1, "a", 2.0), TypeError, "For 'where', 'input' must be a Tensor or a number, but got str"),
    (lambda: ops.clamp(X), ValueError, "at least one of 'min' and 'max' must be given"),
    (lambda: ops.gelu(X, "fast"), ValueError, "'approximate' must be 'none' or 'tanh', but got 'fast'"),
    (lambda: ops.relu([1.0]), TypeError, "For 'relu', 'input' must be a Tensor, but got list"),
    (lambda: X & X, TypeError, r"For 'bitwise_and', the inputs .* do not fit"),
    # Shape.
    (lambda: ops.reshape(X, (4,)), ValueError, r"For 'reshape', 6 elements of shape \(2, 3\) do not fit into \(4,\)"),
    (lambda: ops.reshape(X, (-1, -1)), ValueError, "do not fit into"),
    (lambda: ops.reshape(X, "a"), TypeError, "'shape' must be an int or a tuple of ints, but got 'a'"),
    (lambda: ops.transpose(X, (0, 0)), ValueError, r"'dims' must order the 2 axes of 'input', but got \(0, 0\)"),
    (lambda: ops.squeeze(X, 2), ValueError, r"For 'squeeze', 'axis' must be in \[-2, 2\), but got 2"),
    (lambda: ops.expand_dims(X, 4), ValueError, r"For 'expand_dims', 'axis' must be in \[-3, 3\), but got 4"),
    (lambda: ops.broadcast_to(X, (2, 4)), ValueError, r"For 'broadcast_to', the inputs \(float32\[2, 3\]\) do not fit"),
    (lambda: ops.flatten(X, "A"), ValueError, "'order' must be 'C' or 'F', but got 'A'"),
    (lambda: ops.flatten(X, start_dim=1, end_dim=0), ValueError, "'start_dim' 1 must not come after 'end_dim' 0"),
    (lambda: ops.concat([]), ValueError, "For 'concat', 'tensors' must not be empty"),
    (lambda: copy.deepcopy(X).__setitem__(0, None), TypeError, "the value must be a number, a list or a Tensor"),
    (lambda: ops.chunk(X, "a"), TypeError, "For 'chunk', 'chunks' must be an int, but got 'a'"),
    (lambda: ops.topk(X, "a"), TypeError, "For 'topk', 'k' must be an int, but got 'a'"),
    (lambda: ops.bucketize(X, 3), ValueError, "'boundaries' must have one axis, but got 3"),
    (lambda: ops.addn([X, V]), ValueError, r"the shapes in 'x' must be equal, but got \(2, 3\) and \(2,\)"),
    (lambda: ops.AddN()((V, Tensor([1, 2]))), TypeError, "dtypes in 'x' must be equal, but got Float32 and Int64"),
    (lambda: Tensor([True, False]).mean(), RuntimeError, "for the mean of bools give 'dtype'"),
    (lambda: ms.common.initializer.initializer("ones", (2.0,)), ValueError, "'shape' must hold ints"),
    (lambda: ms.Model(nn.ReLU(), amp_level=3), TypeError, "For 'Model', 'amp_level' must be a str, but got int"),
    (lambda: ms.CheckpointConfig(async_save=3), TypeError, "'async_save' must be a bool or a str, but got int"),
    (lambda: nn.Metric(), TypeError, "abstract class Metric with abstract methods clear, eval, update"),
    (lambda: ops.concat(X), TypeError, "'tensors' must be a list or tuple of Tensors, but got Tensor"),
    (lambda: ops.concat([X, 3]), TypeError, r"'tensors\[1\]' must be a Tensor, but got int"),
    (lambda: ops.concat([X, V.reshape(1, 2)]), ValueError, "For 'concat', the inputs .* do not fit"),
    (lambda: ops.stack([V, V.int()]), TypeError, r"must be Float32, but entry 1 is Int32; cast them first"),
    (lambda: ops.Stack()([V.half(), V]), TypeError, r"must be Float16, but entry 1 is Float32"),
    (lambda: ops.stack([X, V]), ValueError, r"must have the shape \(2, 3\), but entry 1 has \(2,\)"),
    (lambda: ops.split(X, 0), ValueError, "the size of a part must be positive, but got 0"),
    (lambda: ops.split(X, [1, 3]), ValueError, r"the sizes \[1, 3\] must add up to 2, the length of axis 0"),
    (lambda: ops.chunk(X, 0), ValueError, "'chunks' must be above 0, but got 0"),
    (lambda: ops.pad(X, (1,)), ValueError, "'padding' must be pairs for at most 2 axes"),
    (lambda: ops.cast(X, "no such"), TypeError, "must be a MindSpore dtype such as .*, but got 'no such'"),
    (lambda: ops.flip(X, 2), ValueError, r"For 'flip', 'axis' must be in \[-2, 2\), but got 2"),
    # Reductions.
    (lambda: X.sum(axis=2), ValueError, r"For 'sum', 'axis' must be in \[-2, 2\), but got 2"),
    (lambda: ops.mean(X, (0, 0)), ValueError, r"For 'mean', 'axis' names an axis twice: \(0, 0\)"),
    (lambda: ops.mean(X, (0, "a")), TypeError, "'axis' must be an int or a tuple of ints, but got str"),
    (lambda: ops.argmax([1.0]), TypeError, "For 'argmax', 'input' must be a Tensor, but got list"),
    (lambda: ops.norm(X, 3), ValueError, "'ord' must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, but got 3"),
    (lambda: Tensor(np.zeros(0)).max(), ValueError, r"For 'amax', the inputs \(float64\[0\]\) do not fit"),
    # Products and layers.
    (lambda: ops.matmul(X, X), RuntimeError, r"For 'matmul', .* but got shapes \(2, 3\) and \(2, 3\)"),
    (lambda: ops.matmul(X, 3.0), TypeError, "For 'matmul', 'other' must be a Tensor, but got float"),
    (lambda: ops.matmul(X, Tensor(1.0)), RuntimeError, "For 'matmul'"),
    (lambda: ops.bias_add(X, V), ValueError, r"'bias' must have one number for each of the \(3,\) channels"),
    (lambda: ops.dropout(X, 1.5), ValueError, r"For 'dropout', 'p' must be in \[0, 1\], but got 1.5"),
    (lambda: ops.dropout(X, "a"), TypeError, "For 'dropout', 'p' must be a number, but got str"),
    # New tensors.
    (lambda: ops.zeros((-1,)), ValueError, r"For 'zeros', 'size' must not be negative, but got \(-1,\)"),
    (lambda: ops.ones("a"), TypeError, "For 'ones', 'size' must be an int or a tuple of ints, but got 'a'"),
    (lambda: ops.arange(0, 3, 0), ValueError, "For 'arange', 'step' must not be 0"),
    (lambda: ops.zeros_like(3), TypeError, "For 'zeros_like', 'input' must be a Tensor, but got int"),
    (lambda: ops.one_hot(3, 4), TypeError, "For 'one_hot', 'indices' must be a Tensor, but got int"),
    (lambda: ops.assign(3, X), TypeError, "For 'assign', 'variable' must be a Parameter or Tensor, but got int"),
    (
        lambda: ops.assign(ms.Parameter(V, "p"), X),
        ValueError,
        r"For 'assign', 'value' must have the shape \(2,\), but got \(2, 3\)",
    ),
    # Primitive classes.
    (lambda: ops.Conv2D(3), TypeError, r"For 'Conv2D', the arguments \['kernel_size'\] are missing"),
    (lambda: ops.ReduceSum(True, False, 1), TypeError, "For 'ReduceSum', at most 2 arguments are allowed, but got 3"),
    (lambda: ops.Softmax(axes=1), TypeError, r"there is no argument 'axes'; allowed are \['axis'\]"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_bad_input_is_refused_by_name(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_the_same_inside_a_recording_and_nothing_stays_open(call: Any, error: type[Exception], text: str) -> None:
    def function(x: Tensor) -> Tensor:
        call()
        return x

    with pytest.raises(error, match=text):
        grad(function)(V)


def test_primitives_print_their_settings_and_run() -> None:
    assert repr(ops.ReduceSum(keep_dims=True)) == "Prim[ReduceSum]<keep_dims=True, skip_mode=False>"
    assert repr(ops.Add()) == "Prim[Add]"
    assert ops.ReduceSum(keep_dims=True)(X, 1).shape == (2, 1)
    assert ops.MatMul(transpose_b=True)(X, X).shape == (2, 2)
    assert copy.deepcopy(ops.Softmax(axis=0))(X).shape == (2, 3)


def test_numbers_that_overflow_or_have_no_value_are_results_not_errors() -> None:
    assert ops.log(Tensor([0.0, -1.0])).tolist()[0] == -np.inf
    assert np.isnan((Tensor([0.0]) / 0.0).asnumpy()).all()
    assert ops.exp(Tensor([1000.0])).tolist() == [np.inf]


def test_an_error_in_construct_passes_through_with_hooks_and_taps_in_order() -> None:
    net = nn.SequentialCell(nn.Dense(3, 2), nn.Dense(3, 2))
    net[0].register_backward_hook(lambda *_: None)
    with pytest.raises(ValueError, match="For 'Dense', the last axis of the input must be 3, but got shape"):
        grad(net)(X)
    assert grad(net[0])(X).shape == (2, 3)


def test_fold_names_the_shape_that_it_was_given() -> None:
    for shape in ((8, 3), (1, 8, 3)):
        text = f"For 'fold', 'input' must have the shape (N, C * 4, 4), but got {shape}"
        with pytest.raises(ValueError, match=re.escape(text)):
            ops.fold(ops.ones(shape), (3, 3), 2)


def test_two_ways_to_update_in_adam_exclude_each_other() -> None:
    weights = [ms.Parameter(V, name="w")]
    with pytest.raises(ValueError, match="'use_lazy' and 'use_offload' cannot both be True"):
        nn.Adam(weights, use_lazy=True, use_offload=True)
    with pytest.raises(TypeError, match="For 'AdaFactor', 'eps' must be a tuple or list, but got int"):
        nn.AdaFactor(weights, eps=3)  # type: ignore[arg-type]


def test_a_learning_rate_of_a_step_that_is_a_python_int() -> None:
    rate = nn.ExponentialDecayLR(0.1, 0.9, 4)
    assert rate(2).dtype == ms.float32
    np.testing.assert_allclose(rate(2).asnumpy(), 0.1 * 0.9**0.5, rtol=1e-6)


def test_kinds_of_values_that_a_multitype_function_tells_apart() -> None:
    from hookscope.engine.ops.primitives import _primexpr

    told = ops.MultitypeFuncGraph("told")

    @_primexpr
    def name_of(kind: str) -> str:
        return kind.lower()

    for kind in ("Dictionary", "Slice", "Ellipsis", "Keyword", "MapTensor"):
        told.register(kind)(lambda value, kind=kind: name_of(kind))
    assert [told(value) for value in ({"a": 1}, slice(2), ...)] == ["dictionary", "slice", "ellipsis"]
