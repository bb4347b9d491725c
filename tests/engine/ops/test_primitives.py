"""Primitive classes: configured when made, then the functions of the same operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hookscope.engine import Parameter, Tensor, int32, int64, ops
from hookscope.engine.base.surfaces import PRIMITIVES

X = Tensor(np.arange(6.0, dtype=np.float32).reshape(2, 3) - 2.0)
ROWS = Tensor(np.array([1, 0], np.int32))
TAKING_ANY_NUMBER = {"Meshgrid", "NPUAllocFloatStatus", "NPUClearFloatStatus", "NPUGetFloatStatus", "Print"}

# The primitive, its inputs and its result.
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[Any, ...], Any]] = [
    ("ReduceSum", (), {"keep_dims": True}, (X, 1), [[-3.0], [6.0]]),
    ("ReduceAll", (), {}, (X > -3,), True),
    ("Argmax", (), {"axis": 1}, (X,), [2, 2]),
    ("CumSum", (), {"exclusive": True}, (X, 1), [[0.0, -2.0, -3.0], [0.0, 1.0, 3.0]]),
    ("CumSum", (), {"reverse": True}, (X, 1), [[-3.0, -1.0, 0.0], [6.0, 5.0, 3.0]]),
    ("CumProd", (), {"exclusive": True}, (X, 1), [[1.0, -2.0, 2.0], [1.0, 1.0, 2.0]]),
    ("Gather", (), {}, (X, ROWS, 0), [[1.0, 2.0, 3.0], [-2.0, -1.0, 0.0]]),
    ("OneHot", (), {}, (ROWS, 2, Tensor(1.0), Tensor(0.0)), [[0.0, 1.0], [1.0, 0.0]]),
    ("Pad", (((0, 0), (1, 0)),), {}, (X,), [[0.0, -2.0, -1.0, 0.0], [0.0, 1.0, 2.0, 3.0]]),
    ("StridedSlice", (), {"shrink_axis_mask": 1}, (X, (1, 0), (2, 3), (1, 2)), [1.0, 3.0]),
    ("DivNoNan", (), {}, (Tensor([1.0, 2.0]), Tensor([0.0, 4.0])), [0.0, 0.5]),
    ("MulNoNan", (), {}, (Tensor([np.inf, 2.0]), Tensor([0.0, 4.0])), [0.0, 8.0]),
    ("InTopK", (1,), {}, (X, Tensor(np.array([2, 0], np.int32))), [True, False]),
    ("UnsortedSegmentSum", (), {}, (X, Tensor(np.array([0, 0], np.int32)), 1), [[-1.0, 1.0, 3.0]]),
    ("ScatterNd", (), {}, (Tensor([[1], [1]]), Tensor([1.0, 2.0]), (3,)), [0.0, 3.0, 0.0]),
    ("MatMul", (), {"transpose_b": True}, (X, X), [[5.0, -4.0], [-4.0, 14.0]]),
    ("AddN", (), {}, ((X, X),), [[-4.0, -2.0, 0.0], [2.0, 4.0, 6.0]]),
    ("Shape", (), {}, (X,), (2, 3)),
    ("TupleToArray", (), {}, ((1, 2),), [1, 2]),
    ("Eye", (), {}, (2, 2, int32), [[1, 0], [0, 1]]),
    ("ReduceSum", (), {"skip_mode": True}, (X,), X.tolist()),
    ("ReduceSum", (), {"skip_mode": True}, (X, 1), [-3.0, 6.0]),
    ("ReduceSum", (), {}, (X,), 3.0),
    ("LpNorm", (0,), {"epsilon": 0.5}, (Tensor([[3.0, 0.0], [4.0, 0.0]]),), [5.0, 0.5]),
    ("CumSum", (), {"exclusive": True}, (Tensor([np.inf, 1.0]), 0), [0.0, np.inf]),
    ("ConfusionMatrix", (2,), {"dtype": "float32"}, (ROWS, ROWS, Tensor([0.5, 2.0])), [[2.0, 0.0], [0.0, 0.5]]),
    ("SegmentMax", (), {}, (X - 4.0, Tensor(np.array([0, 2], np.int32))), [[-6, -5, -4], [0, 0, 0], [-3, -2, -1]]),
    ("SegmentMin", (), {}, (X + 4.0, Tensor(np.array([1, 1], np.int32))), [[0, 0, 0], [2, 3, 4]]),
    ("SegmentSum", (), {}, (X, Tensor(np.array([1, 1], np.int32))), [[0, 0, 0], [-1, 1, 3]]),
    ("SegmentProd", (), {}, (X, Tensor(np.array([1, 1], np.int32))), [[1, 1, 1], [-2, -2, 0]]),
    ("MaxPool", (2,), {}, (X.reshape(1, 1, 2, 3),), [[[[2.0, 3.0]]]]),
]


@pytest.mark.parametrize(("name", "settings", "keywords", "inputs", "want"), CASES)
def test_a_primitive_computes_with_its_settings(
    name: str, settings: tuple[Any, ...], keywords: dict[str, Any], inputs: tuple[Any, ...], want: Any
) -> None:
    result = getattr(ops, name)(*settings, **keywords)(*inputs)
    assert (result.tolist() if isinstance(result, Tensor) else result) == want


def test_every_primitive_class_can_be_told_apart_and_printed() -> None:
    results = {name: value for name, value in vars(ops.operations).items() if isinstance(value, type)}
    classes = {name: result for name, result in results.items() if issubclass(result, ops.Primitive) and result.name}
    assert set(PRIMITIVES) <= set(classes)
    classes.pop("Custom", None)  # loaded on first use; it takes functions: test_custom.py
    for name, kind in classes.items():
        primitive = kind(**{key: 1 for key, _ in kind._parameters})
        assert repr(primitive).startswith(f"Prim[{name}]") and primitive.name == name


def test_reduce_std_takes_one_axis_or_several() -> None:
    for axis in (1, (1,), [1]):
        deviation, mean = ops.ReduceStd(axis=axis)(X)
        assert (deviation.tolist(), mean.tolist()) == ([1.0, 1.0], [-1.0, 2.0])
    assert ops.ReduceStd([])(X)[1].tolist() == 0.5


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axis", [(), 0, (1,), (0, -1)])
def test_reduce_prod_multiplies_in_the_dtype_of_its_input(axis: Any, keep: bool) -> None:
    x = np.array([[2, 3, -1], [5, 1, 4]], np.int8)
    result = ops.ReduceProd(keep)(Tensor(x), axis)
    assert str(result.dtype) == "Int8"
    np.testing.assert_array_equal(result.asnumpy(), np.prod(x, None if axis == () else axis, np.int8, keepdims=keep))


def test_a_product_keeps_the_dtype_that_it_is_told() -> None:
    integers = Tensor([3, 2], int32)
    assert ops.ReduceProd()(integers).dtype == ops.prod(integers, dtype=int32).dtype == int32
    assert ops.prod(integers).dtype == int64


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
def test_a_running_logsumexp_is_the_logarithm_of_the_running_sum(exclusive: bool, reverse: bool) -> None:
    how = {"exclusive": exclusive, "reverse": reverse}
    result = ops.CumulativeLogsumexp(**how)(X, Tensor(1)).asnumpy()
    sums = ops.CumSum(**how)(X.exp(), 1).asnumpy()
    empty = sums == 0
    np.testing.assert_allclose(result[~empty], np.log(sums[~empty]), rtol=1e-6)
    assert (result[empty] == np.finfo(np.float32).min).all() and empty.any() == exclusive


def test_bernoulli_keeps_its_seed() -> None:
    x = Tensor(np.zeros(64, np.float32))
    first, second = (ops.Bernoulli(seed=3)(x).tolist() for _ in range(2))
    assert first == second and 0 < sum(first) < 64
    assert ops.Bernoulli()(x, 1.0).tolist() == [1.0] * 64
    assert ops.Bernoulli()(x).tolist() != ops.Bernoulli()(x).tolist()


def test_an_adjoint_of_complex_numbers_is_conjugated() -> None:
    a = np.array([[2.0 + 1.0j, 0.0], [1.0 - 1.0j, 1.0j]], np.complex64)
    b = np.array([[1.0], [2.0j]], np.complex64)
    want = np.linalg.solve(a.conj().T, b)
    for solve in (ops.MatrixTriangularSolve(adjoint=True), ops.MatrixSolve(adjoint=True)):
        np.testing.assert_allclose(solve(Tensor(a), Tensor(b)).asnumpy(), want, rtol=1e-6)
    upper = ops.MatrixTriangularSolve(lower=False, adjoint=True)(Tensor(a.T), Tensor(b)).asnumpy()
    np.testing.assert_allclose(upper, np.linalg.solve(a.conj(), b), rtol=1e-6)


@pytest.mark.parametrize(("name", "settings"), [("Conv2D", (1, 1)), ("MaxPool", ()), ("AvgPool", ()), ("BiasAdd", ())])
def test_another_layout_than_channels_first_is_refused(name: str, settings: tuple[int, ...]) -> None:
    x = X.reshape(1, 1, 2, 3)
    second = (x[:, :, :1, :1],) if name == "Conv2D" else (Tensor([1.0]),) if name == "BiasAdd" else ()
    assert getattr(ops, name)(*settings, data_format="NCHW")(x, *second).shape == x.shape
    with pytest.raises(ValueError, match=f"For '{name}', 'data_format' must be 'NCHW', but got 'NHWC'"):
        getattr(ops, name)(*settings, data_format="NHWC")(x, *second)


@pytest.mark.parametrize(
    ("how", "want"), [("sub", -3.3), ("mul", -0.22), ("div", -0.1 / 2.2), ("max", 2.2), ("min", -0.1)]
)
def test_a_tensor_method_of_scatter_takes_places_and_leaves_the_tensor(how: str, want: float) -> None:
    x = Parameter(Tensor([[-0.1, 0.3, 3.6], [0.4, 0.5, -3.2]]), name="x")
    before = x.tolist()
    result = getattr(x, f"scatter_{how}")(Tensor([[0, 0], [0, 0]]), Tensor([1.0, 2.2]))
    np.testing.assert_allclose(result.asnumpy(), [[want, 0.3, 3.6], [0.4, 0.5, -3.2]], rtol=1e-5)
    assert x.tolist() == before


def test_depth_moves_to_space_and_back() -> None:
    x = Tensor(np.arange(8.0, dtype=np.float32).reshape(1, 8, 1, 1))
    spread = ops.DepthToSpace(2)(x)
    assert spread.shape == (1, 2, 2, 2)
    assert ops.SpaceToDepth(2)(spread).tolist() == x.tolist()


def test_scatter_changes_the_parameter_that_it_is_given() -> None:
    weight = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")
    returned = ops.ScatterAdd()(weight, Tensor(np.array([0, 0], np.int32)), Tensor([5.0, 6.0]))
    assert weight.tolist() == [12.0, 2.0, 3.0] == returned.tolist()


def test_a_primitive_of_the_users_own_keeps_its_arguments() -> None:
    class Scale(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, factor: float, bias: float = 1.0) -> None:
            self.doubled = factor * 2

    class Bare(ops.Primitive):
        pass

    assert (Bare().name, Bare("given").name, Bare(name="named").name) == ("Bare", "given", "named")
    with pytest.raises(NotImplementedError, match="a Primitive of your own computes nothing here by itself"):
        Bare()(X)
    primitive = Scale(3.0)
    assert (primitive.name, primitive.factor, primitive.bias, primitive.doubled) == ("Scale", 3.0, 1.0, 6.0)


@pytest.mark.filterwarnings("ignore:'Primitive:UserWarning")
def test_to_shard_a_primitive_is_kept_as_in_mindspore() -> None:
    add = ops.Add()
    assert add.shard(((1, 1), (1, 1))) is add
    assert repr(add) == "Prim[Add]<in_strategy=((1, 1), (1, 1))>"  # as MindSpore 2.10 prints it
    assert repr(ops.Add().shard(((1,),), ((1,),))) == "Prim[Add]<in_strategy=((1,),), out_strategy=((1,),)>"
    with pytest.raises(TypeError, match="'in_strategy' must be a tuple or None, but got int"):
        add.shard(3)  # type: ignore[arg-type]
    for wrong in ((1, 1), ((1, "a"), (1, 1))):
        with pytest.raises(TypeError, match="'out_strategy' must be a tuple of tuples of ints, but got"):
            ops.Add().shard(((1,),), wrong)
    alone = ops.Add()
    with pytest.raises(ValueError, match=r"'out_strategy' \(\(1,\),\) needs an 'in_strategy' beside it"):
        alone.shard(None, ((1,),))
    assert alone.attrs == {}


@pytest.mark.filterwarnings("ignore:'Primitive:UserWarning")
def test_marks_of_a_cluster_are_kept_and_shown() -> None:
    add = ops.Add()
    assert repr(add.set_stage(0)) == "Prim[Add]<stage=0>"  # as MindSpore 2.10 prints it
    assert add.place("MS_WORKER", 0) is None  # type: ignore[func-returns-value]
    assert add.set_device("GPU").primitive_target == "GPU"  # type: ignore[attr-defined]
    assert repr(add) == "Prim[Add]<stage=0, ms_role=MS_WORKER, rank_id=0, primitive_target=GPU>"
    assert add.attrs == {"stage": 0, "ms_role": "MS_WORKER", "rank_id": 0, "primitive_target": "GPU"}
    assert add.check_elim(Tensor([1.0])) == (False, None)
    with pytest.raises(ValueError, match="For 'Primitive.place', 'role' must be 'MS_WORKER', but got 'x'"):
        add.place("x", 0)
    with pytest.raises(TypeError, match="For 'Primitive.place', 'rank_id' must be an int, but got str"):
        add.place("MS_WORKER", "q")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="For 'Primitive.place', 'rank_id' must be an int, but got bool"):
        add.place("MS_WORKER", True)
    with pytest.raises(ValueError, match="For 'Primitive.place', 'rank_id' must not be negative, but got -1"):
        add.place("MS_WORKER", -1)
    assert add.attrs["rank_id"] == 0


def test_names_of_inputs_and_outputs_can_be_read_back() -> None:
    relu: Any = ops.ReLU()
    relu.init_prim_io_names(["x"], ["y"])
    assert relu.input_names == ["x"] and relu.output_names == ["y"] and repr(relu) == "Prim[ReLU]"
    assert relu.attrs == {"input_names": ["x"], "output_names": ["y"]}


def test_the_mark_recompute_of_a_primitive_says_that_it_has_no_effect() -> None:
    relu = ops.ReLU()
    with pytest.warns(UserWarning, match="use Cell.recompute or mindspore.recompute"):
        assert relu.recompute() is relu
    assert relu.attrs["recompute"] is True
    with pytest.raises(TypeError, match="For 'ReLU', 'mode' must be a bool, but got int"):
        relu.recompute(3)


# ``attrs`` in MindSpore 2.10, without the settings
ATTRIBUTES: list[tuple[Any, str, str, dict[str, bool]]] = [
    (lambda: ops.Conv2D(3, 2), "x w", "output", {}),
    (lambda: ops.AddN(), "inputs", "sum", {}),
    (lambda: ops.ScatterMax(), "x indices updates", "y", {"side_effect_mem": True}),
    (
        lambda: ops.ApplyMomentum(),
        "variable accumulation learning_rate gradient momentum",
        "output",
        {"side_effect_mem": True},
    ),
    (lambda: ops.Dropout(), "", "", {"side_effect_hidden": True}),
    (lambda: ops.ReLU(), "", "", {}),
]


@pytest.mark.parametrize(("make", "inputs", "outputs", "marks"), ATTRIBUTES)
def test_an_operator_class_names_its_inputs_and_outputs_and_its_side_effects(
    make: Any, inputs: str, outputs: str, marks: dict[str, bool]
) -> None:
    primitive = make()
    names = {"input_names": inputs.split(), "output_names": outputs.split()} if inputs else {}
    assert {**primitive.attrs, **primitive._values} == {**primitive._values, **names, **marks}
    if names:
        primitive.attrs["input_names"].append("more")
        assert make().attrs["input_names"] == inputs.split()


def test_a_mark_is_printed_and_the_names_are_not() -> None:
    assert repr(ops.ScatterMax()) == "Prim[ScatterMax]<use_locking=False, side_effect_mem=True>"
    assert repr(ops.AddN()) == "Prim[AddN]"


@pytest.mark.parametrize("name", [name for name in PRIMITIVES if name not in TAKING_ANY_NUMBER])
def test_a_call_with_another_number_of_inputs_is_one_error_that_says_how_many(name: str) -> None:
    row = PRIMITIVES[name][1]
    primitive = getattr(ops.operations, name)(**{key: 1 for key, _ in row.parameters})
    with pytest.raises(TypeError, match=rf"^For '{name}', a call takes (\d+ to )?\d+ inputs?, but got 60$"):
        primitive(*[X] * 60)
    with pytest.raises(TypeError, match=rf"^For '{name}', a call takes its inputs by place, but got 'odd' by name$"):
        primitive(odd=X)


NOT_OF_A_CALL: list[tuple[Any, tuple[Any, ...], str]] = [
    (ops.Softmax(), (X, 0), "1 input, but got 2"),
    (ops.ReLU(), (X, True), "1 input, but got 2"),
    (ops.ReLU(), (), "1 input, but got 0"),
    (ops.Add(), (X,), "2 inputs, but got 1"),
    (ops.operations.ReLUV3(), (X, True), "1 input, but got 2"),
    (ops.Softplus(), (X, 2.0), "1 input, but got 2"),
    (ops.Dense(), (X, X, None, "relu"), "2 to 3 inputs, but got 4"),
    (ops.Identity(), (X, X), "1 input, but got 2"),
    (ops.SparseGatherV2(), (X, ROWS, 0, 0), "3 inputs, but got 4"),
    (ops.TensorScatterMul(), (X, ROWS[:, None], X, True), "3 inputs, but got 4"),
    (ops.operations.ScatterNonAliasingAdd(), (X, ROWS[:, None], X, True), "3 inputs, but got 4"),
]


@pytest.mark.parametrize(("primitive", "inputs", "message"), NOT_OF_A_CALL)
def test_a_call_takes_no_setting_of_the_function_behind_it(
    primitive: Any, inputs: tuple[Any, ...], message: str
) -> None:
    before = X.asnumpy().copy()
    with pytest.raises(TypeError, match=f"^For '{primitive.name}', a call takes {message}$"):
        primitive(*inputs)
    np.testing.assert_array_equal(X.asnumpy(), before)
