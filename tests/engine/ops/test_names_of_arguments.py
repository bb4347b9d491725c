"""Arguments that MindSpore's form of a function has beside those of ``ops`` or of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, hal, mint, ops
from hookscope.engine import numpy as mnp

X = np.array([[1.0, 5.0, 2.0], [4.0, 0.0, 6.0]], np.float32)
MASK = np.array([[True, False, True], [True, True, False]])
x, kept = Tensor(X), Tensor(MASK)


def equal(result: Tensor, expected: Any) -> None:
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
    assert result.shape == np.shape(expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: ops.pow(x, exponent=2), X**2),
        (lambda: ops.true_divide(dividend=x, divisor=2), X / 2),
        (lambda: ops.floor_div(x=x, y=2), X // 2),
        (lambda: ops.floormod(x=x, y=3), X % 3),
        (lambda: ops.tensor_div(x=x, y=4), X / 4),
        (lambda: ops.mm(x, mat2=x.T), X @ X.T),
        (lambda: ops.swapdims(x, dim0=0, dim1=1), X.T),
        (lambda: ops.permute(x, axis=(1, 0)), X.T),
        (lambda: ops.unsqueeze(input=x, dim=1), X[:, None]),
        (lambda: ops.diff_ext(x, dim=0), np.diff(X, axis=0)),
        (lambda: ops.expand(x, size=(2, -1, 3)), np.broadcast_to(X, (2, 2, 3))),
        (lambda: ops.fills(x, value=7.0), np.full((2, 3), 7.0)),
        (lambda: ops.Cross()(x, x + 1), np.cross(X, X + 1)),
        (lambda: ops.Cross(dim=1)(x, x + 1), np.cross(X, X + 1)),
        (lambda: x.diagonal(offset=1, axis1=0, axis2=1), np.diagonal(X, 1)),
        (lambda: x.multiply(value=3), X * 3),
        (lambda: x.float_power(other=2), X.astype(float) ** 2),
        (lambda: mint.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist"), [[0, 50**0.5], [50**0.5, 0]]),
        (lambda: mint.count_nonzero(x, dim=None), 5),
        (lambda: Tensor(X).index_add_(dim=0, index=Tensor([1, 1]), source=x, alpha=2), [[1, 5, 2], [14, 10, 22]]),
        (lambda: Tensor(X).scatter_add_(dim=1, index=Tensor([[0], [2]]), src=x), [[2, 5, 2], [4, 0, 10]]),
    ],
)
def test_arguments_go_by_mindspores_names(call: Any, expected: Any) -> None:
    equal(call(), expected)


@pytest.mark.parametrize(
    ("item", "other"),
    [
        (lambda: ops.unsqueeze(x, axis=0), lambda: ops.unsqueeze(x, dim=0)),
        (lambda: ops.floor_div(x, other=2), lambda: ops.floor_div(x, y=2)),
        (lambda: x.swapdims(axis0=0, axis1=1), lambda: x.swapdims(dim0=0, dim1=1)),
        (lambda: x.diagonal(0, dim1=1, dim2=0), lambda: x.diagonal(0, axis1=1, axis2=0)),
        (lambda: x.approximate_equal(y=x + 1), lambda: x.approximate_equal(other=x + 1)),
    ],
)
def test_a_second_name_takes_the_functions_own_arguments_too(item: Any, other: Any) -> None:
    assert item().tolist() == other().tolist()


@pytest.mark.parametrize(("name", "beats"), [("max", np.maximum), ("min", np.minimum)])
@pytest.mark.parametrize("where", [None, MASK])
@pytest.mark.parametrize("initial", [4.5, 0, 9])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_max_and_min_take_initial_for_what_it_beats_and_for_what_is_left_out(
    name: str, beats: Any, where: Any, initial: float, axis: int | None
) -> None:
    values = beats(X, initial)
    values = values if where is None else np.where(where, values, initial)
    mask = None if where is None else Tensor(where)
    result, index = getattr(ops, name)(x, axis, initial=initial, where=mask)
    equal(result, getattr(values, name)(axis))
    equal(index, 0 if axis is None else getattr(values, f"arg{name}")(axis))
    assert result.dtype is ms.float32


def test_max_gives_no_gradient_to_what_initial_beats() -> None:
    gradient = ms.grad(lambda t: ops.max(t, 1, initial=5.5)[0].sum())(x)
    assert gradient.tolist() == [[0.0] * 3, [0.0, 0.0, 1.0]]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_numpy_puts_the_axis_of_spaced_numbers_where_it_is_told(axis: int) -> None:
    ends = [1.0, 2.0], [4.0, 32.0]
    equal(mnp.linspace(*ends, 3, axis=axis), np.linspace(*ends, 3, axis=axis))
    equal(mnp.logspace(*ends, 3, base=2.0, axis=axis), np.logspace(*ends, 3, base=2.0, axis=axis))
    equal(mnp.geomspace(*ends, 3, axis=axis), np.geomspace(*ends, 3, axis=axis))


def test_numpy_linspace_returns_its_step_when_it_is_told() -> None:
    values, step = mnp.linspace(Tensor([0.0, 1.0]), Tensor([2.0, 5.0]), 3, retstep=True)
    equal(values, [[0, 1], [1, 3], [2, 5]])
    equal(step, [1, 2])
    assert step.dtype is ms.float32 and np.isnan(mnp.linspace(0, 1, 1, retstep=True)[1].item())


def test_numpy_takes_a_shape_and_a_dtype_where_mindspore_does() -> None:
    for like in (mnp.zeros_like, mnp.empty_like):
        result = like(x, ms.int32, (4,))
        assert result.tolist() == [0] * 4 and result.dtype is ms.int32
        assert like([1, 2]).dtype is ms.int32 and like(x, shape=4).dtype is ms.float32
    for first, second in zip(mnp.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True), strict=True):
        equal(first, second)
    doubled = {
        "deg2rad": mnp.deg2rad(x, dtype=ms.float64),
        "rad2deg": mnp.rad2deg(x, dtype=ms.float64),
        "heaviside": mnp.heaviside(x, 0.5, dtype=ms.float64),
        "positive": mnp.positive(x, dtype=ms.float64),
    }
    for name, result in doubled.items():
        assert result.dtype is ms.float64
        equal(result, getattr(np, name)(*([X, 0.5] if name == "heaviside" else [X])))
    assert mnp.float_power(x, 2, dtype=ms.float32).dtype is ms.float32


def test_mint_multinomial_draws_no_index_twice_unless_it_is_told() -> None:
    weights = Tensor([0.2, 0.3, 0.5])
    result = mint.multinomial(weights, 3)
    assert sorted(result.tolist()) == [0, 1, 2] and result.dtype is ms.int64
    assert mint.multinomial(weights, 9, True).shape == (9,)
    with pytest.raises(ValueError, match="at most 3 samples can be drawn, but got 4"):
        mint.multinomial(weights, 4)


def test_mint_multinomial_draws_the_same_from_generators_of_one_seed() -> None:
    weights = ops.ones(50)
    first, second = (mint.multinomial(weights, 20, generator=ms.Generator().manual_seed(7)) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_an_embedding_that_is_frozen_is_not_trained() -> None:
    assert not mint.nn.Embedding(3, 2, _freeze=True).weight.requires_grad
    assert mint.nn.Embedding(3, 2).weight.requires_grad


def test_a_parameter_calls_the_hook_that_it_is_given_by_name() -> None:
    records: list[Any] = []
    weight = Parameter(Tensor([1.0, 2.0]), "weight")
    weight.register_hook(hook_fn=lambda gradient: records.append(gradient.tolist()))
    ms.grad(lambda: (weight * weight).sum(), None, weight)()
    assert records == [[2.0, 4.0]]


def test_hal_tells_of_the_memory_of_the_device_in_use() -> None:
    assert hal.memory_allocated("cpu") == hal.max_memory_reserved(device_target="CPU") == 0
    assert hal.memory_stats("CPU") == hal.memory_stats() == ms.runtime.memory_stats()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: hal.memory_allocated("GPU"), ValueError, "must be the device in use, 'CPU', but got 'GPU'"),
        (lambda: hal.memory_stats(3), TypeError, "For 'hal.memory_stats', 'device_target' must be a str or None"),
        (lambda: ops.max(x, 1, where=kept), ValueError, "For 'max', 'initial' must be given where 'where' is"),
        (lambda: ops.min(x, initial="a"), TypeError, "For 'min', 'initial' must be a number, but got str"),
        (lambda: ops.mm(ops.ones((2, 2, 2)), x), ValueError, r"'input' must have 2 axes, but got shape \(2, 2, 2\)"),
        (lambda: ops.transpose(x), TypeError, "missing 1 required positional argument: 'dims'"),
        (lambda: x.softmax(), TypeError, "missing 1 required positional argument: 'axis'"),
        (lambda: mint.cdist(x, x, compute_mode="x"), ValueError, "For 'mint.cdist', 'compute_mode' must be"),
        (lambda: mnp.linspace(0, 1, 5, axis=1), ValueError, r"'numpy.linspace', 'axis' must be in \[-1, 1\)"),
        (lambda: mint.nn.Embedding(3, 2, sparse=True), ValueError, "'sparse' must be False"),
        (lambda: ms.nn.Conv2d(1, 1, 1, data_format="NHWC"), ValueError, "'data_format' must be 'NCHW', but got 'NHWC'"),
        (lambda: ms.nn.Conv3d(1, 1, 1, data_format="NCHW"), ValueError, "must be 'NCDHW', but got 'NCHW'"),
    ],
)
def test_what_cannot_be_done_is_refused(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
