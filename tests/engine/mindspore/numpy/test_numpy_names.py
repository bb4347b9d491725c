"""``mindspore.numpy``: every function against NumPy's own, element by element, from tensors and from lists."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
import recorded_modules
from recorded_numpy import recorded

import hookscope.engine as ms
from hookscope.engine import Tensor
from hookscope.engine import numpy as mnp
from hookscope.engine.base.surfaces import NUMPY

RNG = np.random.default_rng(0)
A = RNG.standard_normal((3, 4)).astype(np.float32)
B = RNG.standard_normal((3, 4)).astype(np.float32)
C = RNG.standard_normal((2, 3, 4)).astype(np.float32)
V = RNG.standard_normal(3).astype(np.float32)
I = np.array([[1, -2, 3], [4, 0, -6]], np.int32)  # noqa: E741
J = np.array([[2, 3, -4], [-4, 5, 6]], np.int32)
N = A.copy()
N[0, 1] = N[2, 3] = np.nan
H = A.astype(np.float16)

# name: the arguments of calls; arrays among them are given as tensors, then as lists.
CALLS: dict[str, list[tuple[Any, ...]]] = {
    **{
        key: [(A, B), (C, A), (I, J), (A, 2.0), (H, H)]
        for key in ("add", "subtract", "true_divide", "remainder", "mod", "hypot")
    },
    "power": [(np.abs(A), B), (I, 2), (A, 2), (I, np.abs(J))],
    **{key: [(A,), (C,), (I,), (H,)] for key in ("abs", "absolute", "fabs")},
    **{key: [(I,), (I[0],), (I > 0,)] for key in ("bitwise_not", "invert")},
    **{key: [(A,), (C,), (V,)] for key in ("deg2rad", "rad2deg", "sinc")},
    **{key: [(np.array([1.0, -np.inf, np.inf, np.nan], np.float32),), (A,)] for key in ("isneginf", "isposinf")},
    **{key: [(A,), (I,), (np.array([-0.0, 0.0, 2.7, -2.7], np.float32),)] for key in ("signbit", "positive", "trunc")},
    "heaviside": [(A, B), (np.array([-1.0, 0.0, 2.0], np.float32), V)],
    "lcm": [(np.abs(I), np.abs(J))],
    "float_power": [(np.abs(A), B), (np.abs(C), 2.0)],
    "clip": [(A, -0.5, 0.5), (I, -1, 2)],
    "where": [(A > 0, A, B), (I > 0, I, J), (A > 0,)],
    "dot": [(A, B.T), (V, V), (C, B.T), (C, RNG.standard_normal((2, 4, 3)).astype(np.float32))],
    "matmul": [(A, B.T), (C, B.T)],
    "tensordot": [(A, B, ([0, 1], [0, 1])), (C, B, ([2], [1])), (C, B, 2)],
    "kron": [(A, V), (I, J), (A[:2], B)],
    "cross": [(A[:, :3], B[:, :3]), (V, V[::-1].copy()), (A, B, 0, 0, 0)],
    **{key: [(A,), (A, 0), (C, (0, 2)), (I, 1), (H, 1)] for key in ("sum", "max", "min", "amax", "amin", "ptp")},
    **{key: [(A,), (A, 0), (C, (0, 2))] for key in ("mean", "average")},
    **{key: [(A,), (A, 0), (C, (0, 2)), (A, 1)] for key in ("std", "var")},
    **{key: [(N,), (N, 0), (N, 1), (A, -1)] for key in ("nansum", "nanmean", "nanmax", "nanmin")},
    **{key: [(A,), (A, 0), (C, -1), (I, 1)] for key in ("argmax", "argmin")},
    "count_nonzero": [(I,), (I, 0), (A > 0, 1)],
    "cumsum": [(A,), (A, 0), (C, -1), (I, 1)],
    "cov": [(A,), (A, B), (A, None, False), (V,), (A, None, True, True), (A, None, True, False, 0)],
    "vander": [(V,), (V, 2), (V, 4, True), (I[0], 3)],
    "diff": [(A,), (A, 2), (C, 1, 0), (I,)],
    "histogram": [(A,), (C, 5), (A, 4, (-1.0, 1.0)), (A, [-2.0, 0.0, 0.5, 2.0]), (I, [-6, 0, 3, 5])],
    "copy": [(A,), (I,)],
    "shape": [(A,), (C,)],
    "size": [(A,), (C,), (C, 1)],
    "reshape": [(A, (4, 3)), (C, -1), (I, (3, 2))],
    "transpose": [(A,), (C, (1, 0, 2)), (C,)],
    **{key: [(A,), (C,), (I,)] for key in ("fliplr", "flipud", "flip")},
    "rot90": [(A,), (A, 3), (C, 2, (1, 2)), (I, -1)],
    "moveaxis": [(C, 0, 2), (C, (0, 1), (2, 0))],
    "repeat": [(A, 2), (A, 2, 1), (I, 3, 0)],
    "diag": [(A,), (V,), (V, 1), (V, -2), (A, 1)],
    "take": [(A, np.array([0, 5])), (A, np.array([[2, 0]]), 0), (C, np.array([1, 1]), 1)],
    "split": [(A, 2, 1), (A, [1, 3], 1), (C, 2)],
    "unique": [(I,), (np.array([3, 1, 3, 2]),)],
    "zeros_like": [(A,), (I,)],
    "empty_like": [(A,), (I,)],
    "asarray": [(A,), (I,)],
    "array": [(A,), (I,)],
    "meshgrid": [(V, V), (V, A[0])],
    "atleast_1d": [(V,), (A,)],
    "atleast_2d": [(V,), (C,)],
}
# name: calls whose first argument is a tuple of arrays.
JOINING = {
    "concatenate": [((A, B),), ((A, B), 1), ((A, B), None)],
    "stack": [((A, B),), ((A, B), -1)],
    **{key: [((A, B),), ((V, V),)] for key in ("vstack", "hstack", "dstack", "column_stack")},
}
# name: calls without arrays.
MAKING: dict[str, list[tuple[Any, ...]]] = {
    "zeros": [((2, 3),), (4,)],
    "ones": [((2, 3),), (4,)],
    "empty": [(3,)],
    "full": [((2, 3), 7), (3, 0.5)],
    "arange": [(5,), (1, 6, 2), (0.0, 1.0, 0.25)],
    "linspace": [(0, 1, 5), (1, 2, 4, False)],
    "logspace": [(0, 2, 5), (0, 3, 4, True, 2.0)],
    "geomspace": [(1, 8, 4)],
    "eye": [(3,), (2, 4, 1)],
    "identity": [(3,)],
    "tri": [(3,), (2, 4, 1)],
    "indices": [((2, 3),)],
}
RENAMED = {"empty": "zeros", "empty_like": "zeros_like", "norm": "linalg.norm"}


def numpys(name: str) -> Any:
    result: Any = np
    for part in RENAMED.get(name, name).split("."):
        result = getattr(result, part)
    return result


def check(name: str, result: Any, expected: Any, loose: bool = False) -> None:
    if isinstance(expected, tuple | list) and name not in ("shape",):
        assert len(result) == len(expected)
        for first, second in zip(result, expected, strict=True):
            check(name, first, second, loose)
        return
    if isinstance(result, Tensor):
        assert result.shape == np.shape(expected), name
        result = result.asnumpy()
    tolerance = {"rtol": 4e-3, "atol": 2e-3} if loose else {"rtol": 2e-5, "atol": 1e-6}
    np.testing.assert_allclose(result, expected, **tolerance)


def argument_of(value: Any, how: str) -> Any:
    if isinstance(value, tuple) and value and isinstance(value[0], np.ndarray):
        return tuple(argument_of(item, how) for item in value)
    if not isinstance(value, np.ndarray):
        return value
    return Tensor(value) if how == "tensor" else value.tolist() if how == "list" else value


@pytest.mark.parametrize("how", ["tensor", "list", "array"])
@pytest.mark.parametrize("name", [*CALLS, *JOINING])
def test_it_is_numpys(name: str, how: str) -> None:
    for arguments in {**CALLS, **JOINING}[name]:
        arrays = [argument for argument in arguments if isinstance(argument, np.ndarray)]
        loose = any(array.dtype == np.float16 for array in arrays)
        exact = [
            argument.astype(np.float64) if isinstance(argument, np.ndarray) and loose else argument
            for argument in arguments
        ]
        with np.errstate(all="ignore"):
            expected = numpys(name)(*exact)
        if name == "average" and len(arguments) > 1:
            expected = np.mean(*exact)
        check(name, getattr(mnp, name)(*(argument_of(argument, how) for argument in arguments)), expected, loose)


@pytest.mark.parametrize("name", MAKING)
def test_what_it_makes_is_numpys(name: str) -> None:
    for arguments in MAKING[name]:
        check(name, getattr(mnp, name)(*arguments), numpys(name)(*arguments))


def test_every_function_of_the_module_is_called_above() -> None:
    functions = {
        name
        for name, value in vars(mnp).items()
        if not name.startswith("_") and inspect.isfunction(value) and value.__module__.startswith(mnp.__name__)
    }
    drawn = {"rand", "randn", "randint"}
    assert set(NUMPY) <= functions
    recorded_ones = {call.partition("(")[0] for call in recorded()}
    assert functions - {*CALLS, *JOINING, *MAKING} - recorded_ones == {*drawn, "asfarray"}


def test_all_of_mindspores_names_are_there() -> None:
    recorded = recorded_modules.recorded()["numpy"]
    assert len(recorded) == 249 and [name for name in recorded if not hasattr(mnp, name)] == []


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_grid_is_numpys_whole_or_sparse(sparse: bool, indexing: Any) -> None:
    for vectors in ((V,), (V, A[0]), (V, A[0], B[0, :2])):
        for how in ("tensor", "list"):
            result = mnp.meshgrid(*(argument_of(vector, how) for vector in vectors), sparse=sparse, indexing=indexing)
            check("meshgrid", result, np.meshgrid(*vectors, sparse=sparse, indexing=indexing))
    for kinds, text in (({"sparse": 1}, "'sparse' must be a bool, but got int"), ({"indexing": "yx"}, "'indexing'")):
        with pytest.raises(TypeError, match=f"For 'meshgrid', {text}"):
            mnp.meshgrid(V, V, **kinds)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [None, 1, 2, np.inf])
def test_norm_is_numpys(order: Any) -> None:
    for axis in (None, 0, 1):
        result = mnp.norm(Tensor(A), order, axis)
        np.testing.assert_allclose(result.asnumpy(), np.linalg.norm(A, order, axis), rtol=1e-5)
    np.testing.assert_allclose(
        mnp.norm(A.tolist(), keepdims=True).asnumpy(), np.linalg.norm(A, keepdims=True), rtol=1e-5
    )
    assert mnp.asfarray([1.0, 2.0]).dtype == ms.float32


def test_histogram_weighs_elements_and_makes_a_density() -> None:
    values, weights = A.ravel(), np.abs(B).ravel()
    for settings in ({"density": True}, {"weights": weights}, {"weights": weights, "density": True}):
        result, edges = mnp.histogram(Tensor(values), 6, **settings)
        expected = np.histogram(values, 6, **settings)
        np.testing.assert_allclose(result.asnumpy(), expected[0], rtol=1e-5)
        np.testing.assert_allclose(edges.asnumpy(), expected[1], rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError, match="bins"):
        mnp.histogram(values, "auto")


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
def test_extremes_without_nan_are_nan_where_there_is_nothing_else(name: str) -> None:
    values = np.array([[np.nan, np.nan], [1.0, np.nan]], np.float32)
    result = getattr(mnp, name)(Tensor(values), 1, keepdims=True)
    np.testing.assert_array_equal(result.asnumpy(), np.array([[np.nan], [1.0]], np.float32))
    gradient = ms.grad(lambda x: getattr(mnp, name)(x).sum())(Tensor(N)).asnumpy()
    expected = np.zeros_like(N)
    expected[np.unravel_index(getattr(np, name.replace("nan", "nanarg"))(N), N.shape)] = 1
    np.testing.assert_array_equal(gradient, expected)


def test_numbers_and_element_types() -> None:
    assert float(mnp.hypot(3, 4)) == 5
    assert mnp.add(1, 2).dtype == ms.int32
    assert mnp.add(Tensor(H), 2).dtype == ms.float16
    assert mnp.add([1, 2], [3, 4], dtype=ms.float32).dtype == ms.float32
    assert mnp.hypot(Tensor(A), Tensor(B), ms.float16).dtype == ms.float16
    with pytest.raises(TypeError, match=r"hypot\(\) got other arguments"):
        mnp.hypot(1)


def test_random_numbers_have_their_shape_and_range() -> None:
    assert mnp.rand(2, 3).shape == (2, 3) and float(mnp.rand(50).min()) >= 0 and float(mnp.rand(50).max()) < 1
    assert mnp.randn(2, 3).shape == (2, 3) and mnp.randn(2).dtype == ms.float32
    many = mnp.randn(200, 200).asnumpy().astype(np.float64)
    assert abs(many.mean()) < 5 / 200 and abs(many.std() - 1) < 5 / 200 / math.sqrt(2)
    assert set(mnp.randint(2, 5, 60).asnumpy().tolist()) == {2, 3, 4}


def test_a_cross_product_of_plane_vectors_stands_on_the_plane() -> None:
    flat, spread = A[:, :2], np.pad(A[:, :2], ((0, 0), (0, 1)))
    np.testing.assert_allclose(
        mnp.cross(flat, B[:, :2]).asnumpy(), flat[:, 0] * B[:, 1] - flat[:, 1] * B[:, 0], rtol=1e-5, atol=1e-6
    )
    result = mnp.cross(Tensor(flat), Tensor(B[:, :3])).asnumpy()
    np.testing.assert_allclose(result, np.cross(spread, B[:, :3]), rtol=1e-5, atol=1e-6)


def test_an_average_weighs() -> None:
    x, w = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]), np.array([1.0, 3.0, 2.0])
    for axis, weights in ((1, w), (None, np.abs(np.sin(x))), (0, None)):
        want, total = np.average(x, axis, weights, returned=True)
        result, sums = mnp.average(x, axis, weights, returned=True)
        np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-12)
        np.testing.assert_allclose(sums.asnumpy(), total, rtol=1e-12)
        np.testing.assert_allclose(mnp.average(x, axis, weights).asnumpy(), want, rtol=1e-12)
    assert str(mnp.average([1, 2]).dtype) == "Float32"
    with pytest.raises(ValueError, match="'weights' must have the shape"):
        mnp.average(x, None, w)


def test_asfarray_makes_floats() -> None:
    assert str(mnp.asfarray([1, 2]).dtype) == str(mnp.asfarray([1, 2], mnp.int32).dtype) == "Float32"
    assert str(mnp.asfarray([1, 2], mnp.float64).dtype) == "Float64"
    assert mnp.asfarray([[1, -2]]).tolist() == mnp.asfarray(Tensor([[1, -2]]), mnp.int32).tolist() == [[1.0, -2.0]]


def test_pieces_that_do_not_come_out_even_are_refused() -> None:
    assert [len(part) for part in mnp.split(np.arange(6), 3)] == [2, 2, 2]
    with pytest.raises(ValueError, match="'indices_or_sections' 2 must divide the length 5 of axis 0"):
        mnp.split(np.arange(5), 2)


def test_the_smallest_is_found_in_int32_and_the_largest_in_int64_as_mindspore_has_it() -> None:
    x = np.array([[3.0, 1.0], [0.0, 2.0]])
    for result, want, dtype in (
        (mnp.argmin(x), 2, "Int32"),
        (mnp.argmin(x, 0), [1, 0], "Int32"),
        (mnp.argmax(x), 0, "Int64"),
        (mnp.argmax(x, 0), [0, 1], "Int64"),
    ):
        assert result.tolist() == want
        assert str(result.dtype) == dtype


@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
def test_numbers_between_two_ends_are_of_the_type_given(name: str) -> None:
    result = getattr(mnp, name)(1, 4, 7)
    assert str(result.dtype) == "Float32"
    np.testing.assert_allclose(result.asnumpy(), getattr(np, name)(1, 4, 7), rtol=1e-6)
    for dtype in ("Float64", "Int32"):
        full = getattr(mnp, name)(1, 4, 7, dtype=getattr(ms, dtype.lower()))
        assert str(full.dtype) == dtype
        expected = getattr(np, name)(1, 4, 7).astype(dtype.lower())
        np.testing.assert_allclose(full.asnumpy(), expected, rtol=1e-12)


def test_random_ints_have_one_place_a_number_of_places_or_a_shape() -> None:
    shapes = [mnp.randint(5, shape=shape).shape for shape in (None, 3, (2, 3), [4], ())]
    assert shapes == [(1,), (3,), (2, 3), (4,), ()]
    assert set(mnp.randint(3, shape=60).asnumpy().tolist()) == {0, 1, 2}


def test_clipping_takes_numbers_tensors_and_no_bound() -> None:
    low, high = np.full((3, 4), -0.5, np.float32) + B / 4, np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    for bounds in ((-0.5, 0.25), (low, high), (None, 0.25), (-0.5, None), (low, None), (None, high)):
        inputs = [Tensor(bound) if isinstance(bound, np.ndarray) else bound for bound in bounds]
        np.testing.assert_array_equal(mnp.clip(A, *inputs).asnumpy(), np.clip(A, *bounds))
    assert mnp.clip(A, 0, 1, ms.int32).dtype == ms.int32
    small, unsigned = Tensor([1, 2], ms.int8), Tensor([1, 200], ms.uint8)  # bounds that their elements cannot be
    assert (mnp.clip(small, -1000, 1000).tolist(), mnp.clip(unsigned, -1, 300).tolist()) == ([1, 2], [1, 200])


def test_where_needs_both_or_none() -> None:
    for arguments in ({"x": A}, {"y": A}):
        with pytest.raises(TypeError, match="'x' and 'y' must both be given, or neither"):
            mnp.where(A > 0, **arguments)
    np.testing.assert_array_equal([item.asnumpy() for item in mnp.where(A > 0)], np.nonzero(A > 0))
    np.testing.assert_array_equal(mnp.where(A > 0, A, B).asnumpy(), np.where(A > 0, A, B))


@pytest.mark.parametrize(
    "shapes",
    [
        ((4,), (4,)),
        ((3, 4), (4,)),
        ((4,), (4, 2)),
        ((3, 4), (4, 2)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 3)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((2, 3, 4), (5, 4, 2)),
        ((), (3, 4)),
        ((3, 4), ()),
    ],
)
def test_dot_sums_over_the_last_axis_and_the_last_but_one(shapes: Any) -> None:
    a, b = (np.random.default_rng(i).standard_normal(shape) for i, shape in enumerate(shapes))
    np.testing.assert_allclose(mnp.dot(a, b).asnumpy(), np.dot(a, b), rtol=1e-5, atol=1e-6)


def test_a_sum_begins_at_the_number_given_and_is_of_the_type_given() -> None:
    for axis, keep in ((None, False), (1, True), (0, False)):
        result = mnp.sum(A, axis, keepdims=keep, initial=2.5).asnumpy()
        np.testing.assert_allclose(result, np.sum(A, axis, keepdims=keep, initial=2.5), rtol=1e-5)
    result = mnp.sum(I, 0, ms.float16, initial=3)
    assert result.dtype == ms.float16 and result.tolist() == np.sum(I, 0, initial=3).tolist()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"bias": True},
        {"ddof": 0},
        {"ddof": 2},
        {"fweights": np.array([1, 2, 3, 1])},
        {"aweights": np.array([0.5, 2.0, 1.0, 0.25])},
        {"fweights": np.array([1, 2, 3, 1]), "aweights": np.array([0.5, 2.0, 1.0, 0.25]), "ddof": 0},
    ],
)
def test_covariances_are_numpys(settings: dict[str, Any]) -> None:
    x, y = A.astype(np.float64), B.astype(np.float64)
    for inputs, more in (
        ((x,), {}),
        ((x, y[:1]), {}),
        ((x[0],), {}),
        ((x[0], y[0]), {}),
        ((x.T,), {"rowvar": False}),
        ((x[0],), {"rowvar": False}),
        ((x.T, y.T[:, :2]), {"rowvar": False}),
    ):
        result = mnp.cov(*inputs, **more, **settings).asnumpy()
        np.testing.assert_allclose(result, np.cov(*inputs, **more, **settings), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("axes", [1, 2])
def test_axes_are_put_around_as_many_as_there_are_not(axes: int) -> None:
    for shape in ((), (3,), (3, 4), (2, 3, 4), (2, 2, 3, 4)):
        x = np.random.default_rng(1).standard_normal(shape)
        result = getattr(mnp, f"atleast_{axes}d")(x).asnumpy()
        np.testing.assert_allclose(result, getattr(np, f"atleast_{axes}d")(x), rtol=1e-6, strict=False)
        assert result.ndim == max(axes, x.ndim)


def test_fourier_transforms_are_numpys() -> None:
    x = np.random.default_rng(0).normal(size=(3, 4))
    fft, of_ops = ms.numpy.fft, ms.ops
    for name in ("fft", "ifft", "rfft", "ihfft"):
        result = getattr(fft, name)(a=Tensor(x), n=3, axis=0, norm="ortho").asnumpy()
        np.testing.assert_allclose(result, getattr(np.fft, name)(x, n=3, axis=0, norm="ortho"), atol=1e-12)
    for name in ("irfft", "hfft"):
        np.testing.assert_allclose(getattr(fft, name)(Tensor(x)).asnumpy(), getattr(np.fft, name)(x), atol=1e-12)
    for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
        result = getattr(fft, name)(a=Tensor(x), s=(2, 4), axes=(0, 1), norm="forward").asnumpy()
        expected = getattr(np.fft, name)(x, s=(2, 4), axes=(0, 1), norm="forward")
        np.testing.assert_allclose(result, expected, atol=1e-12)
    for name in ("fftshift", "ifftshift"):
        result = getattr(fft, name)(x=Tensor(x), axes=0).asnumpy()
        np.testing.assert_array_equal(result, getattr(np.fft, name)(x, axes=0))
    for name in ("fftfreq", "rfftfreq"):
        np.testing.assert_allclose(getattr(fft, name)(n=5, d=0.5).asnumpy(), getattr(np.fft, name)(5, 0.5), rtol=1e-6)
    for name in ("hfft2", "hfftn", "ihfft2", "ihfftn"):
        result = getattr(fft, name)(a=Tensor(x), axes=(0, 1)).asnumpy()
        np.testing.assert_array_equal(result, getattr(of_ops, name)(Tensor(x), dim=(0, 1)).asnumpy())
