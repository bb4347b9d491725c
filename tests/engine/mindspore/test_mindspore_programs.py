"""Edge cases of operators, gradients and imports from MindSpore's own programs and tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, mint, nn, ops
from hookscope.engine.autograd.function import _Function
from hookscope.engine.common import c_expression
from hookscope.engine.common import initializer as initializers

X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("axis", [Tensor([1]), Tensor(1), Tensor([1], ms.int32), (Tensor(1),)], ids=str)
def test_a_reduction_takes_its_axis_as_a_tensor(axis: Any) -> None:
    x = Tensor(X)
    reductions = {
        "sum": (ops.ReduceSum(), ops.sum, mint.sum),
        "mean": (ops.ReduceMean(), ops.mean),
        "prod": (ops.ReduceProd(), ops.prod),
        "max": (ops.ReduceMax(), ops.amax),
        "min": (ops.ReduceMin(), ops.amin),
    }
    for name, functions in reductions.items():
        for function in functions:
            np.testing.assert_array_equal(function(x, axis).asnumpy(), getattr(X, name)(1))
    np.testing.assert_array_equal(ops.ReduceAll()(x > 1, axis).asnumpy(), (X > 1).all(1))


def test_several_axes_or_none_may_be_in_a_tensor() -> None:
    x = Tensor(X)
    assert float(ops.ReduceSum()(x, Tensor([0, 1]))) == 15.0
    assert float(ops.ReduceSum()(x, Tensor(np.zeros(0, np.int64)))) == 15.0
    np.testing.assert_array_equal(ops.argmax(x, Tensor(1)).asnumpy(), [2, 2])
    np.testing.assert_array_equal(ops.concat((x, x), Tensor(1)).asnumpy(), np.concatenate((X, X), 1))


@pytest.mark.parametrize("axis", [Tensor([True]), Tensor([1.0]), Tensor([[1]])], ids=str)
def test_a_tensor_that_names_no_axes_is_refused(axis: Tensor) -> None:
    with pytest.raises(TypeError, match="'axis' must be an int or a tuple of ints, but got Tensor"):
        ops.sum(Tensor(X), axis)


def test_mish_of_half_precision_is_rounded_once() -> None:
    x = np.linspace(-12, 12, 4801).astype(np.float16)
    wide = x.astype(np.float64)
    expected = (wide * np.tanh(np.log1p(np.exp(wide)))).astype(np.float16)
    for function in (ops.mish, mint.nn.functional.mish, ops.Mish()):
        result = function(Tensor(x)).asnumpy()
        assert result.dtype == np.float16
        assert (np.abs(result.astype(np.float64) - expected) <= np.abs(np.spacing(expected))).all()
        assert (result != expected).sum() < 10  # where Float32 lies next to the middle of two halves


def test_dense_computes_complex_numbers() -> None:
    x, b = (X + 1j).astype(np.complex64), np.array([1j, 2.0], np.complex64)
    result = ops.dense(Tensor(x), Tensor(x), Tensor(b))
    np.testing.assert_allclose(result.asnumpy(), x @ x.T + b, rtol=1e-6)
    np.testing.assert_allclose(mint.nn.functional.linear(Tensor(x), Tensor(x)).asnumpy(), x @ x.T, rtol=1e-6)
    of_x, of_b = ms.grad(lambda x, w, b: ops.dense(x, w, b), (0, 2))(Tensor(x), Tensor(x.copy()), Tensor(b))
    np.testing.assert_allclose(of_x.asnumpy(), np.broadcast_to(x.conj().sum(0), x.shape), rtol=1e-6)
    np.testing.assert_allclose(of_b.asnumpy(), [2, 2], rtol=1e-6)


def test_prelu_keeps_the_shape_of_a_tensor_without_axes() -> None:
    x, weight = Tensor(-2.0), Tensor([0.25])
    for function in (ops.prelu, mint.nn.functional.prelu, ops.PReLU()):
        assert function(x, weight).shape == () and float(function(x, weight)) == -0.5
    of_x, of_weight = ms.grad(ops.prelu, (0, 1))(x, weight)
    assert of_x.shape == () and float(of_x) == 0.25
    np.testing.assert_array_equal(of_weight.asnumpy(), [-2.0])


@pytest.mark.parametrize("init", ["One", "Zero", "Normal", "Uniform", "XavierUniform", "HeNormal"])
def test_an_initializer_fills_a_tensor_without_elements(init: str) -> None:
    output = Tensor(shape=(1, 0, 3), dtype=ms.float32, init=getattr(ms.common.initializer, init)())
    assert output.shape == (1, 0, 3) and output.init_data().shape == (1, 0, 3)
    with pytest.raises(ValueError, match="'shape' must be axes above 0"):
        initializers.initializer("ones", (1, 0, 3))


def test_an_argument_without_tensors_is_left_out_of_several_positions() -> None:
    x = Tensor([1.0])
    for other in (ms.float32, "a", None, 3):
        assert float(ms.grad(lambda x, _: x * 2.0, (0, 1))(x, other)[0]) == 2.0
    assert float(ms.grad(lambda x, d: x.astype(d) * 2.0)(x, ms.float32)[0]) == 2.0
    assert [index for index, _ in [ms.grad(lambda x, _: x * 2.0, (0, 1), return_ids=True)(x, ms.float32)]] == [0]
    with pytest.raises(TypeError, match="argument 0 must be a Tensor to have a gradient, but got DType"):
        ms.grad(lambda d, x: x.astype(d))(ms.float32, x)


REFUSED = {"add": "bc", "sub": "bc", "mul": "bc", "div": "bc", "max": "bc", "min": "bc", "update": ""}


@pytest.mark.parametrize("how", REFUSED)
def test_scatter_refuses_the_dtypes_that_mindspore_refuses(how: str) -> None:
    kinds = (ms.bool_, ms.int8, ms.uint8, ms.int32, ms.float16, ms.float32, ms.complex64)
    index = Tensor([[0, 0]], ms.int32)
    for kind in kinds:
        x, update = Tensor([[1, 2]]).astype(kind), Tensor([3]).astype(kind)
        scatter = getattr(ops, f"TensorScatter{how.capitalize()}")()
        if np.dtype(kind.numpy).kind in REFUSED[how] or (how == "div" and kind in (ms.int8, ms.uint8)):
            with pytest.raises(TypeError, match=rf"'tensor_scatter_{how}', 'input_x' must hold real numbers"):
                scatter(x, index, update)
        else:
            assert scatter(x, index, update).dtype == kind


@pytest.mark.parametrize("how", ["Add", "Sub", "Mul", "Div", "Max", "Min", "Update"])
@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_vmap_maps_a_parameter_that_an_operator_changes_in_place(how: str, mode: int) -> None:
    start = np.full((2, 2, 3), 6.0, np.float32)

    class Changed(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.operator = getattr(ops, f"ScatterNd{how}")()

        def construct(self, x: Tensor, index: Tensor, update: Tensor) -> Tensor:
            self.operator(x, index, update)
            return x

    class Mapped(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.p = Parameter(Tensor(start), name="p")
            self.changed = Changed()

        def construct(self, index: Tensor, update: Tensor) -> Tensor:
            return ms.vmap(self.changed, (0, None, 0), 0)(self.p, index, update)

    try:
        ms.set_context(mode=mode)
        net = Mapped()
        result = net(Tensor([[0, 0], [1, 1]], ms.int32), Tensor([[1.0, 2.0], [3.0, 4.0]]))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    combine: Any = {
        "Add": np.add,
        "Sub": np.subtract,
        "Mul": np.multiply,
        "Div": np.divide,
        "Max": np.maximum,
        "Min": np.minimum,
        "Update": lambda x, u: u,
    }[how]
    expected = start.copy()
    for sample, updates in enumerate(((1.0, 2.0), (3.0, 4.0))):
        for position, update in enumerate(updates):
            expected[sample, position, position] = combine(expected[sample, position, position], update)
    np.testing.assert_array_equal(result.asnumpy(), expected)
    np.testing.assert_array_equal(net.p.asnumpy(), expected)


def function(forward: Any, backward: Any = lambda ctx, *gradients: (gradients[0], gradients[0])) -> Any:
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Own", (_Function,), members)


def gradients(own: Any) -> Any:
    return ops.GradOperation(get_all=True)(own)(Tensor([2.0]), Tensor([3.0]))


def test_backward_gets_none_for_outputs_that_are_not_tensors() -> None:
    came: list[Any] = []

    def backward(ctx: Any, *args: Any) -> Any:
        came.append([type(argument).__name__ for argument in args])
        return args[0], args[2]

    own = function(lambda ctx, x, y: (x * x, 1, y * 2, "a"), backward)
    gradients(own.apply)
    assert came == [["Tensor", "NoneType", "Tensor", "NoneType"]]


def changing(returned: Any) -> Any:
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Any:
        x.add_(1)
        ctx.mark_dirty(x)
        return returned(x, y)

    return function(forward)


def test_misuse_of_mark_dirty_raises() -> None:
    with pytest.raises(RuntimeError, match=r"'Own.forward' must return each Tensor that it marks as dirty"):
        gradients(lambda x, y: changing(lambda x, y: x + y).apply(x * 1, y))
    with pytest.raises(RuntimeError, match=r"'Own.forward' changes a Tensor in place whose gradient is requested"):
        gradients(changing(lambda x, y: x).apply)
    of_x, of_y = gradients(lambda x, y: changing(lambda x, y: x).apply(x * 2, y))
    assert (float(of_x[0]), float(of_y[0])) == (2.0, 1.0)
    for name in ("mark_dirty", "mark_non_differentiable"):
        marking = function(lambda ctx, x, y, name=name: getattr(ctx, name)(5))
        with pytest.raises(RuntimeError, match=rf"For '{name}', argument 0 must be a Tensor, but got int"):
            marking.apply(Tensor([1.0]), Tensor([1.0]))
    with pytest.raises(RuntimeError, match="'value' must be a bool, but got int"):
        function(lambda ctx, x, y: ctx.set_materialize_grads(1)).apply(Tensor([1.0]), Tensor([1.0]))


def test_names_of_the_compiled_core_can_be_imported_and_say_what_they_are_when_used() -> None:
    assert c_expression.TensorPy is Tensor and c_expression.typing is ms.common.dtype
    assert c_expression.security.enable_security() is False
    context = c_expression.MSContext
    uses: list[Any] = [
        lambda: context(),
        lambda: context.get_instance(),
        lambda: isinstance(1, context),
        lambda: context[0],
        lambda: [*context],
        lambda: exec("class Own(context): pass", {"context": context}),
    ]
    for use in uses:
        with pytest.raises(
            NotImplementedError, match=r"mindspore\._c_expression\.MSContext is not covered by hookscope"
        ):
            use()
    for kept in ("pyboost_add", "AddPrim_", "_where_instance", "_tree_map", "HookType"):
        assert hasattr(c_expression, kept)
    for name in ("__path__", "_nope", "Nope", "pyboost", "jit_nope"):
        assert not hasattr(c_expression, name)


def pooled(images: Any, regions: Any, scale: float, size: int, channels: int) -> Any:
    """Return what ``PSROIPooling`` computes, bin by bin."""
    height, width = images.shape[2:]
    result = np.zeros((len(regions), channels, size, size))
    for row, (image, *corners) in enumerate(regions.tolist()):
        x0, y0, x1, y1 = [np.sign(v) * np.floor(abs(np.float32(v) * np.float32(scale)) + 0.5) for v in corners]
        wide, high = max(x1 - x0, 0.1) / size, max(y1 - y0, 0.1) / size
        for channel, i, j in np.ndindex(channels, size, size):
            top, bottom = [
                int(np.clip(n, 0, height - 1)) for n in (np.floor(i * high + y0), np.ceil((i + 1) * high + y0))
            ]
            left, right = [
                int(np.clip(n, 0, width - 1)) for n in (np.floor(j * wide + x0), np.ceil((j + 1) * wide + x0))
            ]
            if bottom > top and right > left:
                part = images[int(image), (channel * size + i) * size + j, top:bottom, left:right]
                result[row, channel, i, j] = part.astype(np.float64).mean()
    return result


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.25])
def test_psroi_pooling_means_the_pixels_of_each_bin(scale: float) -> None:
    random = np.random.RandomState(1)
    images = random.rand(2, 12, 6, 7).astype(np.float32)
    begin, side = random.randint(-4, 20, (6, 2)) / 4, random.randint(0, 24, (6, 2)) / 4
    regions = np.concatenate((random.randint(0, 2, (6, 1)), begin, begin + side), 1).astype(np.float32)
    argument = Tensor(regions.reshape(2, 3, 5).transpose(0, 2, 1))
    operator = ops.PSROIPooling(spatial_scale=scale, group_size=2, output_dim=3)
    np.testing.assert_allclose(
        operator(Tensor(images), argument).asnumpy(), pooled(images, regions, scale, 2, 3), atol=1e-6
    )
    gradient = ms.grad(lambda x: operator(x, argument))(Tensor(images)).asnumpy()
    moved = random.rand(*images.shape).astype(np.float32)
    difference = pooled(images + moved, regions, scale, 2, 3).sum() - pooled(images, regions, scale, 2, 3).sum()
    assert (gradient * moved).sum() == pytest.approx(difference, rel=1e-4, abs=1e-4)


def test_psroi_pooling_says_what_does_not_fit() -> None:
    images, regions = Tensor(np.zeros((1, 12, 4, 4), np.float32)), Tensor(np.zeros((1, 5, 2), np.float32))
    with pytest.raises(ValueError, match=r"'features' must have the shape \(N, 16, H, W\)"):
        ops.PSROIPooling(1.0, 2, 4)(images, regions)
    with pytest.raises(ValueError, match=r"'rois' must have the shape \(1, 5, R\)"):
        ops.PSROIPooling(1.0, 2, 3)(images, Tensor(np.zeros((5, 2), np.float32)))
    with pytest.raises(ValueError, match=r"'rois' must name images in \[0, 1\)"):
        ops.PSROIPooling(1.0, 2, 3)(images, regions + 1.0)
    with pytest.raises(ValueError, match="'spatial_scale' must be above 0"):
        ops.PSROIPooling(-1.0, 2, 3)(images, regions)


def test_seeds_may_be_tensors() -> None:
    x = Tensor([[1.0, 9.0, 2.0]])
    drawn = [ops.multinomial_with_replacement(x, *seeds, 20, True) for seeds in ((Tensor(2), Tensor(5)), (2, 5))]
    np.testing.assert_array_equal(drawn[0].asnumpy(), drawn[1].asnumpy())


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_a_function_is_computed_in_mixed_precision(dtype: Any) -> None:
    def function(x: Tensor, w: Tensor) -> Any:
        product = ops.matmul(x, w)
        return product, ops.softmax(product, -1), product + product, ops.exp(product), x + 1.0

    x, w = Tensor([[1.5, 2.0], [0.25, 1.0]]), Tensor([[1.0, 0.5], [0.1, 2.0]])
    mixed = ms.amp.auto_mixed_precision(function, "auto", dtype)
    assert [item.dtype for item in mixed(x, w)] == [dtype, ms.float32, dtype, ms.float32, ms.float32]
    np.testing.assert_array_equal(
        mixed(x, w)[0].float().asnumpy(), ops.matmul(x.astype(dtype), w.astype(dtype)).float().asnumpy()
    )
    assert [item.dtype for item in function(x, w)] == [ms.float32] * 5
    gradient = ms.grad(lambda x, w: mixed(x, w)[1][:, 0].sum())(x, w)
    expected = ms.grad(lambda x, w: function(x, w)[1][:, 0].sum())(x, w)
    np.testing.assert_allclose(gradient.asnumpy(), expected.asnumpy(), atol=0.02)
    compiled = ms.jit(mixed)
    for _ in range(3):
        assert [item.dtype for item in compiled(x, w)] == [dtype, ms.float32, dtype, ms.float32, ms.float32]


def test_only_level_auto_takes_a_function() -> None:
    for level in ("O0", "O1", "O2", "O3"):
        with pytest.raises(TypeError, match="'network' must be a Cell, but got function"):
            ms.amp.auto_mixed_precision(lambda x: x, level)
    with pytest.raises(TypeError, match="'network' must be a Cell or a function, but got int"):
        ms.amp.auto_mixed_precision(5, "auto")
